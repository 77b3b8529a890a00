/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the compiler of po/ files writes and msg.c reads: tables of one language each, sorted by the
 * English text (byte order), so that a lookup is a binary search without any start-up work.
 */
#pragma once

#include <stddef.h>

enum msg_plural_rule {
    MSG_PLURAL_NOT_ONE = 0, /* en, de: 1 is singular, all else (0, too) plural */
    MSG_PLURAL_ABOVE_ONE,   /* fr: 0 and 1 are singular */
    MSG_PLURAL_NONE,        /* ko: one form */
};

struct msg_entry {
    const char *english;  /* the key; of a plural message: its singular */
    const char *forms[2]; /* [0] the text, or singular; [1] plural, NULL: same as [0] */
};

struct msg_catalog {
    const char *language; /* "de" */
    enum msg_plural_rule plural;
    char decimal;     /* sign between the whole and the fraction */
    const char *date; /* y, m, d stand for the parts, all else for itself: "d.m.y" */
    const struct msg_entry *entries;
    size_t count; /* 0: not translated yet, English is in force */
};

/* Every language the program knows, English first. */
extern const struct msg_catalog msg_catalogs[];
extern const size_t msg_catalog_count;

/* 0: singular, 1: plural. */
size_t msg_plural_form(enum msg_plural_rule rule, unsigned long n);
/* The entry of an English text or NULL. */
const struct msg_entry *msg_catalog_find(const struct msg_catalog *catalog, const char *english);
/* The catalogue of "de", "de_DE.UTF-8", "de-AT"; NULL for an unknown language. */
const struct msg_catalog *msg_catalog_of(const char *language);
