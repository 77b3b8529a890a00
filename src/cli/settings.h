/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a user can set once instead of on every command line, and where each value comes from:
 * option > PROBELAUF_* variable > configuration file > built-in.
 */
#pragma once

#include "base/err.h"
#include "exec/exec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting {
    SETTING_LEDGER = 0,
    SETTING_JOURNAL_DIR,
    SETTING_LANG,
    SETTING_COLOR,
    SETTING_LINGER,
    SETTING_GRACE,
    SETTING_RECORD_WAIT,
    SETTING_TEE,
    SETTING_PLAN, /* these two by option or variable only: a file of settings holds for every study
                   */
    SETTING_ENV,
    SETTING_COUNT_
};

enum setting_origin {
    SETTING_BUILT_IN = 0,
    SETTING_FILE,
    SETTING_VARIABLE,
    SETTING_OPTION,
};

struct setting_value {
    const char *text; /* NULL: built-in and computed elsewhere (places, language) */
    enum setting_origin origin;
    size_t line; /* of the file, with SETTING_FILE */
};

const char *setting_key(enum setting setting);      /* "journal-dir" */
const char *setting_variable(enum setting setting); /* "PROBELAUF_JOURNAL_DIR" */

const char *setting_built_in(enum setting setting); /* NULL: computed (places, language) */

/* Reads the configuration file if there is one and checks every value. Call once, after the
 * options. */
int settings_load(struct err *err);

/* "" when no folder for it is known (no HOME). */
const char *settings_path(void);

struct setting_value settings_get(enum setting setting);
const char *settings_from_file(enum setting setting); /* the file's value or NULL */

int64_t settings_linger_ns(void);
int64_t settings_grace_ns(void);
int64_t settings_record_wait_ns(void);
enum exec_tee settings_tee(void);

/* Language by PROBELAUF_LANG, else the locale's variables; before options and file are read. */
void settings_language_early(void);
bool settings_says_utf8(void); /* the locale's characters are UTF-8 */
