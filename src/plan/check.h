/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ids of the lists of a plan, and what checks share; internal to plan/. */
#pragma once

#include "plan/reading.h"

#include <stdbool.h>
#include <stddef.h>

struct check_id {
    const char *text;
    struct plan_at at;
    size_t number; /* in the list */
};
struct check_ids {          /* sorted; the first of equal ones is the one in front in the file */
    const char *key;        /* of the list: "blocks" */
    struct check_id *items; /* owned */
    size_t count;
};

struct check {
    struct plan_reading *reading;
    struct plan *plan;
    struct check_ids claims, environments, blocks, steps;
    size_t looks_left; /* at conditions, for claims: then what is left is not looked at */
};

/* parts: structs that begin with their place and hold their id at id_offset. Complains of ids that
 * stand twice. The items are the caller's. */
struct check_ids check_ids_of(struct plan_reading *reading, const char *key, const void *parts,
                              size_t count, size_t size, size_t id_offset);

/* The entry of that id, or NULL. */
const struct check_id *check_id_find(const struct check_ids *ids, const char *text);
/* The same; complains ("plan-reference") of one that is not there. NULL text: not said. */
const struct check_id *check_refer(struct check *check, const struct check_ids *ids,
                                   const char *text, struct plan_at at);

/* check-needs.c */
void check_needs(struct check *check);
void check_offers(struct check *check, const struct check_ids *offers);

/* check-blocks.c */
void check_blocks(struct check *check);
void check_claims(struct check *check);
