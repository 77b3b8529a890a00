/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The message lookup: every text a user can see goes through it, from the first day. English is the
 * source text and the key; catalogues (po/) are compiled into tables and looked up by our own code,
 * so the program never calls setlocale and works in an empty root.
 */
#pragma once

#include "strbuf.h"

#include <stdint.h>

/* The translation of an English text in the current language, or the text itself. Never NULL; never
 * freed. */
const char *msg_get(const char *english) __attribute__((format_arg(1), nonnull, returns_nonnull));

/* Plural by the language's own rule; n is not printed here, the text holds the conversion. */
const char *msg_plural(unsigned long n, const char *one, const char *many)
    __attribute__((format_arg(2), format_arg(3), nonnull, returns_nonnull));

/* "en", "de", "fr", "ko" or anything that starts so ("de_DE.UTF-8"); unknown ones mean English.
 * Returns the language in force. Machine output never depends on it. */
const char *msg_set_language(const char *language);
const char *msg_language(void); /* "en", "de", ... */

/*
 * Numbers and dates in texts for people. Commands, values of the plan, file names and everything
 * that programs read keep the point and 2026-11-30.
 */
#define MSG_DECIMAL_SIZE 48
/* printf of a number ("%.3g") into out, with the decimal sign of the language: 1.36 or 1,36. There
 * are no thousands separators in any language. Returns out. */
const char *msg_decimal(char out[MSG_DECIMAL_SIZE], const char *fmt, ...)
    __attribute__((format(printf, 2, 3), nonnull(1, 2), returns_nonnull));
/* The same for a number that is a text already ("1.36", "12.50 CHF"): each point between digits. */
void msg_add_decimal(struct strbuf *out, const char *number) __attribute__((nonnull));
/* "2026-11-30", or a text that begins so ("2026-11-30 12:34"), as the language writes dates. What
 * is no date is added as it is. */
void msg_add_date(struct strbuf *out, const char *iso) __attribute__((nonnull));
#define MSG_DATE_SIZE 32
/* The same of a date alone, into out, which it returns. */
const char *msg_date(char out[MSG_DATE_SIZE], const char *iso)
    __attribute__((nonnull, returns_nonnull));
/* Date and time of day of UTC, to the second. */
void msg_add_time(struct strbuf *out, int64_t utc_ns) __attribute__((nonnull));
/* Time of day of UTC alone: "12:34:56" in every language. */
void msg_add_clock(struct strbuf *out, int64_t utc_ns) __attribute__((nonnull));

#define _(text)  msg_get(text)
#define N_(text) (text) /* marks a text for extraction that is looked up later */
