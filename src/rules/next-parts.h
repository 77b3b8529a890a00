/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the advisor share; internal to rules/. A part is what is left of one condition
 * or step, wherever in the plan it is named: the unit that is simulated. */
#pragma once

#include "forecast/preposterior.h"
#include "rules/next.h"

struct next_part {
    const struct plan_block *block;         /* in which it is run; NULL: it cannot be run now */
    const struct plan_condition *condition; /* or a step */
    const struct plan_step *step;
    const char *name;
    double *values;     /* seconds, of the runs that count, oldest first */
    const char *family; /* its block, as conditions borrow; only of a condition */
    const char *const *sources;
    size_t count;
    uint64_t remaining;   /* 0: the plan does not say how many */
    const char *why;      /* without runs: why there is none; NULL: nothing to say */
    struct quantity lost; /* by failed attempts, of one run */
};

struct next_parts { /* growing, in the arena */
    const struct estimate *estimate;
    struct arena *arena;
    struct next_part *items;
    size_t count, room;
    struct next_refused *refused;
    size_t refused_count, refused_room;
};

/* next-parts.c: everything that is left, validation blocks first, then as in the plan. */
void next_parts_find(struct next_parts *parts);

/* next-words.c: of a filled trial, and of a verdict. borrowed: its spread is; gives: how many parts
 * of the total get an interval by it. */
const char *next_reason(const struct next_trial *trial, const struct next_part *part, bool borrowed,
                        size_t gives, struct arena *arena);
const char *next_verdict_text(const struct next_advice *advice, struct arena *arena);
