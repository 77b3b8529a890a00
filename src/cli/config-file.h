/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The user's configuration file: one flat YAML mapping "key: scalar". Anchors, aliases, tags,
 * nesting, repeated keys, second documents and files over 64 KiB are refused with file:line:column.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

#include <stddef.h>

#define CONFIG_FILE_MAX (64u << 10)

struct config_entry {
    const char *key, *value; /* in the arena; value not empty */
    size_t line;             /* 1… */
    size_t column;           /* of the value, 1… */
};

/* A file that does not exist gives 0 entries. known: the keys there are. Errors:
 * "config-unreadable", "config-syntax", "config-unknown-key". */
int config_file_read(const char *path, const char *const *known, size_t known_count,
                     struct arena *arena, struct config_entry **ret_entries, size_t *ret_count,
                     struct err *err);
