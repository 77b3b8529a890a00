/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --expect: what a correct run shows. marker=TEXT: a line of output holds the text, or matches it
 * as an extended regular expression; file=PATH: the file is there, not empty, and was written by
 * this run; count=N: the marked items are N.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPECT_MARKERS_MAX 64u
/* File systems with coarse times (2 s on FAT, 1 s on old NFS) may show a file older than it is. */
#define EXPECT_COARSE_TIME_NS (INT64_C(2000000000))

enum expect_kind { EXPECT_MARKER, EXPECT_FILE, EXPECT_COUNT };

struct expectations;
/* list: NULL-terminated or NULL. -EINVAL ("expect-invalid"). */
int expectations_new(const char *const *list, struct expectations **ret, struct err *err);
struct expectations *
expectations_free(struct expectations *expectations); /* accepts NULL; returns NULL */
bool expectations_has_markers(const struct expectations *expectations);
/* Bits of the markers that this line shows. */
uint64_t expectations_match(const struct expectations *expectations, const char *line);

json_t *expectations_to_start(const struct expectations *expectations);

/* What the end knows. */
struct expect_facts {
    uint64_t markers_seen;
    bool output_complete;  /* every byte of output was looked at */
    const char *no_output; /* a stream that could not be looked at at all; NULL: all could */
    bool has_items;
    double items;
    int64_t start_utc_ns;
};
json_t *expectations_to_end(const struct expectations *expectations,
                            const struct expect_facts *facts);
