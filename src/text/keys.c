/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The word finder behind the incident table: a trie with failure links. Each run that prints a line
 * builds one, so building must be cheap: only states near the root and those where words part have
 * a row of transitions, the others know their one next byte. Knows nothing about what the words
 * mean.
 */
#include "text/keys.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* Marks a transition to a state where a word ends, so that a byte that ends none costs one look-up.
 */
#define REPORTS     0x8000u
#define ROWS_DEPTH  2u /* most bytes of a text lead to states no deeper: these have rows */
#define WORD_SLOTS  (4 * KEYS_MAX)
#define HASH_FACTOR 31u

/* Those with a row come first: a state's number is its row's. */
struct state {
    uint16_t failure;
    uint16_t only_to;     /* without a row: where only_class leads, with REPORTS */
    uint16_t output;      /* word that ends here + 1, 0: none */
    uint16_t output_link; /* nearest state along the failure links with an output, 0: none */
    uint8_t only_class;   /* 0: no word goes on here */
};

/* The trie while it is built: children of a state as a list. */
struct node {
    uint16_t child, sibling; /* 0: none */
    uint16_t depth;
    uint16_t state; /* its number */
    uint8_t class;  /* of the byte that leads here */
};

struct keys {
    char *words[KEYS_MAX]; /* owned */
    size_t word_count;
    uint16_t slots[WORD_SLOTS]; /* word + 1 by its hash, 0: free */
    uint8_t class_of[256];      /* 0: a byte that no word holds */
    size_t class_count;
    struct state *states;
    size_t row_count;
    uint16_t *rows; /* [state * class_count + class], with REPORTS */
};

struct keys *keys_new(void) {
    return mem_alloc(sizeof(struct keys));
}

struct keys *keys_free(struct keys *keys) {
    if (!keys)
        return NULL;
    for (size_t i = 0; i < keys->word_count; i++)
        mem_free_ptr(&keys->words[i]);
    mem_free_ptr(&keys->states);
    mem_free_ptr(&keys->rows);
    mem_free_ptr(&keys);
    return NULL;
}

/* Where the word stands, or would. */
static uint16_t *find_slot(struct keys *keys, const char *word) {
    size_t hash = 0;
    for (const char *c = word; *c; c++)
        hash = hash * HASH_FACTOR + (uint8_t)*c;
    size_t at = hash % WORD_SLOTS;
    while (keys->slots[at] != 0 && strcmp(keys->words[keys->slots[at] - 1], word) != 0)
        at = (at + 1) % WORD_SLOTS;
    return &keys->slots[at];
}

size_t keys_add(struct keys *keys, const char *word) {
    assert(*word && !keys->states);
    uint16_t *slot = find_slot(keys, word);
    if (*slot == 0) {
        assert(keys->word_count < KEYS_MAX);
        keys->words[keys->word_count++] = mem_strdup(word);
        *slot = (uint16_t)keys->word_count;
    }
    return *slot - 1u;
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

static uint16_t child_of(struct node *nodes, size_t *count, uint16_t at, uint8_t class) {
    uint16_t child = nodes[at].child;
    while (child != 0 && nodes[child].class != class)
        child = nodes[child].sibling;
    if (child != 0)
        return child;
    child = (uint16_t)(*count)++;
    nodes[child] = (struct node){
        .sibling = nodes[at].child, .depth = (uint16_t)(nodes[at].depth + 1), .class = class};
    nodes[at].child = child;
    return child;
}

/* Letter by letter over all words, so that each node stands behind those that are less deep.
 * end_of: per word the node where it ends. Returns the number of nodes. */
static size_t add_trie(const struct keys *keys, struct node *nodes, uint16_t *end_of) {
    const char *rest[KEYS_MAX];
    size_t count = 1;
    bool any = true;

    for (size_t i = 0; i < keys->word_count; i++)
        rest[i] = keys->words[i];
    while (any) {
        any = false;
        for (size_t i = 0; i < keys->word_count; i++) {
            if (*rest[i] == '\0')
                continue; /* complete */
            uint8_t class = keys->class_of[(uint8_t)*rest[i]++];
            end_of[i] = child_of(nodes, &count, end_of[i], class);
            any = true;
        }
    }
    return count;
}

static bool wants_row(const struct node *nodes, const struct node *node) {
    return node->depth <= ROWS_DEPTH || (node->child != 0 && nodes[node->child].sibling != 0);
}

static void number_states(struct keys *keys, struct node *nodes, size_t count) {
    size_t others = 0;

    for (size_t i = 0; i < count; i++)
        if (wants_row(nodes, &nodes[i]))
            nodes[i].state = (uint16_t)keys->row_count++;
    for (size_t i = 0; i < count; i++)
        if (!wants_row(nodes, &nodes[i]))
            nodes[i].state = (uint16_t)(keys->row_count + others++);
}

/* A state without a row asks those along its failure links; the root has one. */
static inline uint16_t step(const struct keys *keys, size_t state, uint8_t class) {
    while (state >= keys->row_count) {
        const struct state *at = &keys->states[state];
        if (at->only_class == class && class != 0)
            return at->only_to;
        state = at->failure;
    }
    return keys->rows[state * keys->class_count + class];
}

/* Failure and output links of a child of `state`; the transition to it. */
static uint16_t link_child(struct keys *keys, size_t state, uint16_t child, uint8_t class) {
    struct state *states = keys->states;
    uint16_t link = state == 0 ? 0 : step(keys, states[state].failure, class) & (uint16_t)~REPORTS;
    states[child].failure = link;
    states[child].output_link = states[link].output ? link : states[link].output_link;
    return states[child].output || states[child].output_link ? (uint16_t)(child | REPORTS) : child;
}

/* The nodes above and those less deep are done: failure states among them. */
static void add_transitions(struct keys *keys, const struct node *nodes, const struct node *node) {
    struct state *at = &keys->states[node->state];
    bool has_row = node->state < keys->row_count;
    uint16_t *row = has_row ? &keys->rows[node->state * keys->class_count] : NULL;

    for (size_t class = 1; has_row && node->state != 0 && class < keys->class_count; class ++)
        row[class] = step(keys, at->failure, (uint8_t) class);
    for (uint16_t child = node->child; child != 0; child = nodes[child].sibling) {
        uint8_t class = nodes[child].class;
        uint16_t to = link_child(keys, node->state, nodes[child].state, class);
        if (has_row) {
            row[class] = to;
        } else {
            at->only_class = class;
            at->only_to = to;
        }
    }
}

void keys_build(struct keys *keys) {
    assert(!keys->states);
    size_t most = add_classes(keys);
    assert(most < REPORTS);
    AUTO_FREE struct node *nodes = mem_alloc(most * sizeof *nodes);
    AUTO_FREE uint16_t *end_of = mem_alloc((keys->word_count + 1) * sizeof *end_of);
    size_t count = add_trie(keys, nodes, end_of);
    number_states(keys, nodes, count);
    keys->states = mem_alloc(count * sizeof *keys->states);
    keys->rows = mem_alloc(keys->row_count * keys->class_count * sizeof *keys->rows);
    for (size_t i = 0; i < keys->word_count; i++)
        keys->states[nodes[end_of[i]].state].output = (uint16_t)(i + 1);
    for (size_t i = 0; i < count; i++)
        add_transitions(keys, nodes, &nodes[i]);
}

bool keys_scan(const struct keys *keys, const char *line, size_t length,
               struct keys_seen *ret_seen) {
    const struct state *states = keys->states;
    size_t state = 0;
    bool any = false;

    assert(states);
    *ret_seen = (struct keys_seen){0};
    for (size_t i = 0; i < length; i++) {
        size_t to = step(keys, state, keys->class_of[(uint8_t)line[i]]);
        state = to & ~(size_t)REPORTS;
        if ((to & REPORTS) == 0)
            continue;
        size_t at = states[state].output ? state : states[state].output_link;
        for (; at; at = states[at].output_link) {
            size_t number = states[at].output - 1u;
            ret_seen->word[number / 64] |= UINT64_C(1) << (number % 64);
            any = true;
        }
    }
    return any;
}
