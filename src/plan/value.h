/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single values of a plan from their text. 0; -EINVAL: it is something else; -ERANGE: it is one,
 * but too large. For plan/, and for rules/ that read the same values elsewhere.
 */
#pragma once

#include "base/mem.h"
#include "model/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* "90 min", "1d 4h": as str_to_duration_ns, with blanks between number, unit and the next part. */
int value_duration_ns(const char *text, int64_t *ret_ns);
/* "80 GiB", "1.5 TB", "4096": units of 1000 or 1024 by their names; "80G" is neither. */
int value_bytes(const char *text, uint64_t *ret_bytes);
/* "2.49": exact; at most six decimals, no sign, no exponent. */
int value_micros(const char *text, int64_t *ret_micros);
/* "2026-11-30": a day that there is, not before 1970. */
int value_date_ns(const char *text, int64_t *ret_utc_ns);
int value_tolerance(const char *text, double *ret_value, bool *ret_relative);
int value_threshold(const char *text, enum plan_relation *ret_relation, double *ret_value);

bool value_is_id(const char *text);
bool value_is_parameter(const char *text); /* a name that {name} and -c name=value can hold */

/*
 * A command line cut into words as a shell would, with quotes and backslash and nothing else.
 * false, with *ret_why (translated, in arena): a quote is not closed, or something stands there
 * that only a shell understands.
 */
bool value_command_words(const char *text, struct plan_at at, struct arena *arena,
                         struct plan_texts *ret_words, const char **ret_why);
