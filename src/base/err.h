/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors as values. A function that can fail returns 0 or a negative errno-style code and fills the
 * caller's struct err (last argument, never NULL). Only err_set() and err_add() write it, and both
 * return the code, so text and code cannot differ. Nothing below cli/ prints or exits.
 */
#pragma once

#include <stdbool.h>

struct err {
    int code;    /* negative errno-style code; 0: no error */
    char id[40]; /* stable id that users can search for, e.g. "journal-damaged"; never translated */
    char text[1024]; /* one translated line without a trailing stop: what, where, what to do next */
};

#define ERR_INIT ((struct err){0})

/* First report of a failure. fmt is looked up in the message catalogue (mark it with nothing else:
 * the extraction tool knows err_set's 4th argument). Returns code, which must be negative. */
int err_set(struct err *err, int code, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), nonnull(1, 3, 4)));

/* Adds context in front ("opening ledger 'x': " + text). Keeps id and code; returns code. */
int err_add(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), nonnull(1, 3)));

/* Forgets an error that was handled. */
void err_clear(struct err *err) __attribute__((nonnull));
