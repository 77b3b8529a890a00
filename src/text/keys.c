/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The word finder behind the incident table: a trie with failure links, turned into a dense
 * transition table over the byte classes that occur in the words. Knows nothing about what the
 * words mean.
 */
#include "text/keys.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* Marks a transition to a state where a word ends, so that a byte that ends none costs one look-up.
 */
#define REPORTS 0x8000u

struct keys {
    char *words[KEYS_MAX]; /* owned */
    size_t word_count;
    uint8_t class_of[256]; /* 0: a byte that no word holds */
    size_t class_count;
    uint16_t *next; /* [state * class_count + class], with REPORTS once built */
    size_t state_count;
    uint16_t *output; /* per state: word that ends here + 1, 0: none */
    uint16_t
        *output_link; /* per state: nearest state along the failure links with an output, 0: none */
};

struct keys *keys_new(void) {
    return mem_alloc(sizeof(struct keys));
}

struct keys *keys_free(struct keys *keys) {
    if (!keys)
        return NULL;
    for (size_t i = 0; i < keys->word_count; i++)
        mem_free_ptr(&keys->words[i]);
    mem_free_ptr(&keys->next);
    mem_free_ptr(&keys->output);
    mem_free_ptr(&keys->output_link);
    mem_free_ptr(&keys);
    return NULL;
}

size_t keys_add(struct keys *keys, const char *word) {
    assert(*word && !keys->next);
    for (size_t i = 0; i < keys->word_count; i++)
        if (strcmp(keys->words[i], word) == 0)
            return i;
    assert(keys->word_count < KEYS_MAX);
    keys->words[keys->word_count] = mem_strdup(word);
    return keys->word_count++;
}

static size_t add_classes(struct keys *keys) {
    size_t states = 1;

    keys->class_count = 1;
    for (size_t i = 0; i < keys->word_count; i++) {
        for (const char *c = keys->words[i]; *c; c++) {
            uint8_t *class = &keys->class_of[(uint8_t)*c];
            if (*class == 0) {
                assert(keys->class_count < UINT8_MAX);
                *class = (uint8_t)keys->class_count++;
            }
            states++;
        }
    }
    return states;
}

/* Letter by letter over all words, so that the states near the root, which most bytes lead to,
 * stand together and each stands behind those that are less deep. */
static void add_trie(struct keys *keys) {
    AUTO_FREE uint16_t *state_of = mem_alloc((keys->word_count + 1) * sizeof *state_of);
    bool any = true;

    keys->state_count = 1;
    for (size_t depth = 0; any; depth++) {
        any = false;
        for (size_t i = 0; i < keys->word_count; i++) {
            if (state_of[i] == UINT16_MAX)
                continue; /* complete */
            char c = keys->words[i][depth];
            if (c == '\0') {
                keys->output[state_of[i]] = (uint16_t)(i + 1);
                state_of[i] = UINT16_MAX;
                continue;
            }
            uint16_t *to =
                &keys->next[state_of[i] * keys->class_count + keys->class_of[(uint8_t)c]];
            if (*to == 0)
                *to = (uint16_t)keys->state_count++;
            state_of[i] = *to;
            any = true;
        }
    }
}

void keys_build(struct keys *keys) {
    assert(!keys->next);
    size_t most = add_classes(keys);
    assert(most < REPORTS);

    keys->next = mem_alloc(most * keys->class_count * sizeof *keys->next);
    keys->output = mem_alloc(most * sizeof *keys->output);
    keys->output_link = mem_alloc(most * sizeof *keys->output_link);
    add_trie(keys);

    /* A state's failure state is less deep: its number is smaller, its transitions are complete. */
    AUTO_FREE uint16_t *failure = mem_alloc(keys->state_count * sizeof *failure);
    for (size_t state = 0; state < keys->state_count; state++) {
        const uint16_t *by_failure = &keys->next[failure[state] * keys->class_count];
        uint16_t *next = &keys->next[state * keys->class_count];
        for (size_t class = 1; class < keys->class_count; class ++) {
            uint16_t to = next[class];
            if (to == 0) {
                next[class] = state == 0 ? 0 : by_failure[class];
                continue;
            }
            uint16_t link = state == 0 ? 0 : by_failure[class] & (uint16_t)~REPORTS;
            failure[to] = link;
            keys->output_link[to] = keys->output[link] ? link : keys->output_link[link];
            if (keys->output[to] || keys->output_link[to])
                next[class] = to | REPORTS;
        }
    }
}

bool keys_scan(const struct keys *keys, const char *line, size_t length,
               struct keys_seen *ret_seen) {
    size_t state = 0;
    bool any = false;

    assert(keys->next);
    *ret_seen = (struct keys_seen){0};
    for (size_t i = 0; i < length; i++) {
        size_t to = keys->next[state * keys->class_count + keys->class_of[(uint8_t)line[i]]];
        state = to & ~(size_t)REPORTS;
        if ((to & REPORTS) == 0)
            continue;
        size_t at = keys->output[state] ? state : keys->output_link[state];
        for (; at; at = keys->output_link[at]) {
            size_t number = keys->output[at] - 1u;
            ret_seen->word[number / 64] |= UINT64_C(1) << (number % 64);
            any = true;
        }
    }
    return any;
}
