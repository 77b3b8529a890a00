/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed words of records (outcomes, purposes, members of the machine) as people read them. */
#pragma once

/* The word in the language; the English one is the word itself ("gpu_oom"), as options and JSON
 * have it. One that is not known is returned as it is. */
const char *words_shown(const char *word) __attribute__((nonnull, returns_nonnull));
