/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of many fixed words occur in a line, in one pass over it (Aho and Corasick, CACM 18(6),
 * 1975). A run may print gigabytes, so the cost of a line must not grow with the number of words.
 * Built once, then read-only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYS_MAX 1024u /* distinct words */

struct keys_seen {
    uint64_t word[KEYS_MAX / 64];
};

struct keys;
struct keys *keys_new(void);
struct keys *keys_free(struct keys *keys); /* accepts NULL, returns NULL */

/* Number of the word in the set; the same word has the same number. Only before keys_build(). */
size_t keys_add(struct keys *keys, const char *word);
void keys_build(struct keys *keys);

/* Sets the bits of the words that occur; returns false when none does (then ret_seen is all zero).
 */
bool keys_scan(const struct keys *keys, const char *line, size_t length,
               struct keys_seen *ret_seen);

static inline bool keys_has(const struct keys_seen *seen, size_t number) {
    return (seen->word[number / 64] >> (number % 64)) & 1u;
}
