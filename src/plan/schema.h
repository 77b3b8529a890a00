/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every key of a plan, once: what it holds, where it goes in model/plan.h, what it means. Reading,
 * the JSON schema and docs/plan-format.md all follow this table; internal to plan/. It
 * holds no code, and nothing that only several parts together show (check.c).
 */
#pragma once

#include "model/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_FORMAT 1 /* "probelauf: 1" */

enum schema_type {
    SCHEMA_VERSION = 0, /* of the format: not stored */
    SCHEMA_TEXT,        /* const char * */
    SCHEMA_ID,          /* const char *: [a-z0-9][a-z0-9._-]* */
    SCHEMA_UUID,        /* const char * */
    SCHEMA_PHASE,       /* const char *: "load", "compute/prefill" */
    SCHEMA_REGEX,       /* const char *: POSIX extended, for one value of a text */
    SCHEMA_PATTERN,     /* const char *: POSIX extended, on lines of output */
    SCHEMA_POINTER,     /* const char *: JSON pointer */
    SCHEMA_ROW,         /* const char *: "first", "last", number from 1 */
    SCHEMA_CURRENCY,    /* const char *: three capitals */
    SCHEMA_CHOICE,      /* const char *, one of words */
    SCHEMA_WORD,        /* an enum, one of words; flag: a bool that says whether it was given */
    SCHEMA_WORDS,       /* unsigned: bits of words */
    SCHEMA_FLAG,        /* bool: true, false, yes, no */
    SCHEMA_WHOLE,       /* struct plan_whole, minimum to maximum */
    SCHEMA_NUMBER,      /* struct plan_number */
    SCHEMA_DURATION,    /* struct plan_duration */
    SCHEMA_BYTES,       /* struct plan_bytes */
    SCHEMA_AMOUNT,      /* struct plan_amount */
    SCHEMA_DATE,        /* struct plan_date */
    SCHEMA_TOLERANCE,   /* struct plan_tolerance */
    SCHEMA_THRESHOLD,   /* struct plan_threshold */
    SCHEMA_TEXTS,       /* struct plan_texts: one text or a list */
    SCHEMA_IDS,         /* struct plan_texts, each an id */
    SCHEMA_MATCH,       /* struct plan_texts: packages and "machine.KEY" */
    SCHEMA_COMMAND,     /* struct plan_texts: argv, or one text with `shell` beside it */
    SCHEMA_PAIRS,       /* struct plan_pairs, any names; no value: left out */
    SCHEMA_PHASES,      /* struct plan_pairs, the values are phases */
    SCHEMA_PARAMETERS,  /* struct plan_pairs, names that {name} and -c can hold */
    SCHEMA_CONDITIONS,  /* struct plan_pairs *, and a count: a list of the former */
    SCHEMA_PART,        /* a part in place */
    SCHEMA_PARTS,       /* an array of parts, and a count: a list */
    SCHEMA_NAMED_PARTS, /* the same from a map: the key is the part's text at name_offset */
    SCHEMA_VALUES,      /* struct plan_value *, and a count: a list of texts or parts */
    SCHEMA_SOURCED,     /* struct plan_sourced: a text, or the part */
    SCHEMA_TYPE_COUNT_,
};

struct schema_word {
    const char *name;
    int value; /* of the enum or the bit; unused for SCHEMA_CHOICE */
    const char *help;
};
struct schema_words {
    const struct schema_word *items;
    size_t count;
};

/* What keys of one part need of one another. */
struct schema_rule {
    const char *key;      /* where this is given ... */
    bool one_of;          /* ... exactly one of the others must be, else each */
    const char *needs[4]; /* ends with NULL */
};

struct schema_part;
struct schema_key {
    const char *name;
    enum schema_type type;
    bool required;
    size_t offset; /* in the struct of the part */
    size_t count;  /* offset of a list's count */
    size_t flag;   /* SCHEMA_WORD: offset of the bool; 0: none, since `at` stands first */
    const struct schema_words *words;
    int64_t minimum, maximum;
    const struct schema_part *part;
    const char *unsaid;  /* what holds without the key; NULL: open */
    const char *help;    /* a sentence without the stop */
    const char *example; /* as YAML on one line; NULL: a part */
};

struct schema_part {
    const char *name; /* as people find it: "blocks[].verify" */
    const struct schema_key *keys;
    size_t key_count;
    size_t size;            /* of the struct of an array's element or a named part */
    bool has_at;            /* a struct plan_at at offset 0 */
    size_t name_offset;     /* SCHEMA_NAMED_PARTS */
    bool name_is_parameter; /* else the id of a block */
    const char *short_key;  /* the key that stands for the whole part where no map does */
    const struct schema_rule *rules;
    size_t rule_count;
    const char *help;
};

extern const struct schema_part schema_plan; /* of a whole file */
/* Is the word true or false? They are taken for yes and no, but not advised. */
bool schema_is_spelling(const struct schema_word *word);
/* The parts in the order of the document; each once. */
const struct schema_part *schema_part_at(size_t index); /* NULL behind the last */
