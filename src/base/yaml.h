/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One YAML document as a tree of nodes with line and column, over libyaml's events. Refuses what
 * makes a file mean something else than it seems to: anchors, aliases, tags, merge keys, repeated
 * keys, keys that are no text, several documents, tabs as indentation, control characters, text
 * that is no UTF-8, more than YAML_DEPTH_MAX levels, files over YAML_FILE_MAX. Knows nothing of
 * what the document is about.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YAML_FILE_MAX  ((size_t)4 << 20)
#define YAML_DEPTH_MAX 64u

enum yaml_kind {
    YAML_SCALAR = 0,
    YAML_MAP,
    YAML_LIST,
};

struct yaml_node {
    enum yaml_kind kind;
    uint32_t line, column; /* from 1; columns count characters, not bytes */
    const char *text;      /* of a scalar, as written without its quotes; no NUL inside */
    bool plain;            /* a scalar without quotes: "" then means that nothing was written */
    struct yaml_entry *entries; /* of a map, in the order of the file */
    struct yaml_node **items;   /* of a list */
    size_t count;               /* of entries or items */
};

struct yaml_entry {
    struct yaml_node *key; /* a scalar */
    struct yaml_node *value;
};

struct yaml_problem {
    uint32_t line, column; /* 0: of the file as a whole */
    const char *text;      /* translated, in the arena */
};

/* Everything lives in arena. *ret_root NULL: an empty document. -EINVAL with *ret_problem: the
 * first thing that is wrong. */
int yaml_parse(const char *bytes, size_t length, struct arena *arena, struct yaml_node **ret_root,
               struct yaml_problem *ret_problem);
/* Reads the file (at most YAML_FILE_MAX) and parses it. -EINVAL with *ret_problem as above; any
 * other error ("file-unreadable") in err. *ret_bytes, *ret_length (may be NULL): its bytes. */
int yaml_read(const char *path, struct arena *arena, struct yaml_node **ret_root,
              const char **ret_bytes, size_t *ret_length, struct yaml_problem *ret_problem,
              struct err *err);

/* The value behind a key, or NULL. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
/* Was nothing written there (NULL, an empty text, a plain ~ or null)? */
bool yaml_is_unsaid(const struct yaml_node *node);
