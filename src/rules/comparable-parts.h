/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The single comparisons under comparable.h and evidence.h, so that both mean the same by "the same
 * code". Internal to rules/. Reasons are English sentences marked for translation; the caller
 * translates them.
 */
#pragma once

#include "base/json.h"
#include "model/run.h"

#include <stdbool.h>

enum comparable_sameness {
    COMPARABLE_SAME = 0,
    COMPARABLE_DIFFERENT,
    COMPARABLE_ONE_UNKNOWN, /* only one of the two is known */
};
/* Two JSON values, NULL for one that is not known; two unknown ones are the same. */
enum comparable_sameness comparable_values(const json_t *a, const json_t *b);
/* The text of a key, as a value; NULL where it is none or empty. */
const json_t *comparable_known_text(const json_t *object, const char *key);

/* The run alone, in the order of comparable_is_usable; NULL: usable. for_estimate: a function test
 * is not. */
const char *comparable_why_unusable(const struct run *run, bool for_estimate);
bool comparable_is_function_test(const struct run *run);

/* The digest of the tracked files decides; without it commit and uncommitted changes do. */
enum comparable_sameness comparable_code(const struct run *a, const struct run *b);

/* Which fact tells two entries of `inputs` apart; the first of them. */
enum comparable_input {
    COMPARABLE_INPUT_SAME = 0,
    COMPARABLE_INPUT_PATH,
    COMPARABLE_INPUT_KIND,
    COMPARABLE_INPUT_BYTES,
    COMPARABLE_INPUT_ITEMS,
    COMPARABLE_INPUT_IDENTITY,
    COMPARABLE_INPUT_IDENTITY_OF_ONE, /* only one of them has an identity */
    COMPARABLE_INPUT_MTIME,
};
enum comparable_input comparable_input(const json_t *a, const json_t *b);
/* Files only: a folder changes its time whenever something is written beside. */
bool comparable_input_mtime_is_same(const json_t *a, const json_t *b);

/* Fingerprints; which part of the environment differs is said by comparable_why_environment. */
enum comparable_sameness comparable_environment(const struct run *a, const struct run *b);
const char *comparable_why_environment(const struct run *run, const struct run *reference);

/* Attempts that say something about failing: ended, and not on purpose (budget, Ctrl-C). */
bool comparable_is_attempt(const struct run *run);
