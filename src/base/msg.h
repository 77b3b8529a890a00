/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The message lookup: every text a user can see goes through it, from the first day. English is the
 * source text and the key; catalogues (po/) are compiled into tables and looked up by our own code,
 * so the program never calls setlocale and works in an empty root.
 */
#pragma once

/* The translation of an English text in the current language, or the text itself. Never NULL; never
 * freed. */
const char *msg_get(const char *english) __attribute__((format_arg(1), nonnull, returns_nonnull));

/* Plural by the language's own rule; n is not printed here, the text holds the conversion. */
const char *msg_plural(unsigned long n, const char *one, const char *many)
    __attribute__((format_arg(2), format_arg(3), nonnull, returns_nonnull));

/* "en", "de", "fr", "ko" or anything that starts so ("de_DE.UTF-8"); unknown ones mean English.
 * Returns the language in force. Machine output never depends on it. */
const char *msg_set_language(const char *language);

#define _(text)  msg_get(text)
#define N_(text) (text) /* marks a text for extraction that is looked up later */
