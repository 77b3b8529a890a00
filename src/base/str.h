/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text helpers: UTF-8, terminal width, escaping, locale-free parsing of numbers, sizes, durations.
 */
#pragma once

#include "err.h"
#include "strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool str_starts_with(const char *text, const char *prefix);
bool str_ends_with(const char *text, const char *suffix);
bool str_is_utf8(const void *bytes, size_t length);

/* Decodes the first character: its bytes (1 to 4), or 0 if they are no UTF-8 (RFC 3629) or nothing
 * is there. */
size_t str_decode_utf8(const void *bytes, size_t length, uint32_t *ret_code);

/* Adds bytes so that the result is UTF-8 without NUL, all else as it is: what does not fit becomes
 * \xNN. */
void str_add_utf8(struct strbuf *buf, const void *bytes, size_t length);

/* Adds bytes so that the result is printable UTF-8 on one line: control characters and invalid
 * bytes become \n, \t, \xNN; a backslash stays as it is. What a hostile name contains never reaches
 * a terminal. */
void str_add_printable(struct strbuf *buf, const void *bytes, size_t length);

/* Columns a UTF-8 text takes on a terminal (own width table: Hangul, CJK and emoji are 2, combining
 * 0). */
size_t str_width(const char *utf8);

/* The whole text must be the number; "C" syntax whatever the locale. Return 0 or -EINVAL / -ERANGE.
 */
int str_to_i64(const char *text, int64_t *ret_value);
int str_to_u64(const char *text, uint64_t *ret_value);
int str_to_double(const char *text, double *ret_value); /* refuses nan, inf, hex, "1,5" */

/* Records keep 15 digits of a number (json.h). Of a fraction the rest is nothing, but an integer of
 * more may be a checksum, and would be another one: false. */
bool str_is_kept_whole(const char *number);

/* Digits, and digits behind a point, at *at, which is moved behind them. false: none there, or no
 * digit on one side of the point. */
struct str_decimal {
    const char *whole, *fraction; /* within the text */
    size_t whole_length, fraction_length;
};
bool str_take_decimal(const char **at, struct str_decimal *ret_decimal);
/* decimal x unit, exact and cut to a whole number; -ERANGE: too large. */
int str_scale_decimal(const struct str_decimal *decimal, uint64_t unit, uint64_t *ret_value);

/* "90", "90s", "1.5h", "2h30m", "250ms", "3d" → nanoseconds; plain numbers are seconds. Never
 * negative. */
int str_to_duration_ns(const char *text, int64_t *ret_ns, struct err *err);

/* Edit distance for did-you-mean; returns the nearest of `count` words within 1/3 of its length, or
 * NULL. */
const char *str_nearest(const char *word, const char *const *words, size_t count);

/* Encodes bytes as base64 (RFC 4648, padded). */
void str_add_base64(struct strbuf *buf, const void *bytes, size_t length);
/* The reverse; -EINVAL for anything that str_add_base64 would not have written. */
int str_from_base64(const char *text, size_t length, struct strbuf *out);
