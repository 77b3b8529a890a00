/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plan while it is read; internal to plan/. The order: yaml_read (base/yaml.h), plan_fill_from
 * (the table of plan/schema.c validates the tree and fills the structs), plan_expand (matrices to
 * conditions), plan_check (what only several parts together show). Each complains and goes on.
 */
#pragma once

#include "base/yaml.h"
#include "model/plan.h"
#include "plan/plan.h"

struct plan_reading {
    struct plan *plan;
    struct plan_complaint
        *complaints; /* owned, grown; moved into the arena and sorted at the end */
    size_t complaint_count, complaint_room;
    size_t warning_count; /* of them */
};

/* fmt is looked up in the message catalogue. At most PLAN_COMPLAINTS_MAX are kept, warnings among
 * them PLAN_WARNINGS_MAX; the last says that there are more. A full list holds errors. */
#define PLAN_COMPLAINTS_MAX 200u
#define PLAN_WARNINGS_MAX   100u
void plan_complain(struct plan_reading *reading, struct plan_at at, const char *id, const char *fmt,
                   ...) __attribute__((format(printf, 4, 5)));
void plan_warn(struct plan_reading *reading, struct plan_at at, const char *id, const char *fmt,
               ...) __attribute__((format(printf, 4, 5)));

/* A text of the plan for a complaint: printable, on one line, cut where it is long. In the arena.
 */
const char *plan_quote(struct plan_reading *reading, const char *text);

/* read.c */
void plan_fill_from(struct plan_reading *reading, const struct yaml_node *root);
/* matrix.c: fills block->conditions; "plan-matrix-huge", "plan-matrix-empty", "plan-axis", … */
void plan_expand(struct plan_reading *reading);
/* check.c: repeated ids, references to nothing, missing sources, forbidden kinds of source,
 * numerically equal spellings (a warning), unsettled combinations. */
void plan_check(struct plan_reading *reading);
