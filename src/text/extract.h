/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One value out of the text of a result file: by JSON pointer, CSV column, or regular expression.
 * Pure: the caller read the file. A number is returned only if the text holds one there.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

enum extract_kind { EXTRACT_JSON = 0, EXTRACT_CSV, EXTRACT_REGEX };

struct extract_spec {
    enum extract_kind kind;
    const char *what; /* JSON pointer (RFC 6901), column name, extended regular expression */
    const char *row;  /* CSV: "last" (NULL means it), "first", or a number from 1 */
};

struct extract_value {
    bool is_number;
    double number;
    const char *text; /* as it stands there, in arena; at most 4096 bytes */
};

/* Is the spec itself sound (pointer syntax, regex compiles with at most one group used)? */
int extract_check(const struct extract_spec *spec, struct err *err);
/* "extract-absent" (-ENOENT: nothing there), "extract-syntax" (-EINVAL: the text is no JSON, no CSV
 * …). Regex: the last line that matches; its first group, or the whole match without a group. */
int extract_value(const struct extract_spec *spec, const char *text, size_t length,
                  struct arena *arena, struct extract_value *ret_value, struct err *err);
