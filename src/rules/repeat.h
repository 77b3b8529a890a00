/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate for N further runs like the given ones (estimate --repeat). Pure; the seed is passed in. */
#pragma once

#include "model/run.h"

#include <stddef.h>
#include <stdint.h>

struct repeat_excluded {
    const struct run *run;
    const char *reason; /* translated */
};

struct repeat_estimate {
    uint64_t repeats, seed;
    const struct run *const *used;
    size_t used_count;
    const struct repeat_excluded *excluded;
    size_t excluded_count;
    struct quantity per_run;  /* median of one further run */
    struct quantity total;    /* of all; parts: load, compute, other …; at-least + open parts where something is open */
    struct quantity load, compute, other; /* each for all N runs; open where not separated */
    struct quantity retries;  /* lost time: open unless attempts failed */
    uint64_t attempts, failures; /* of the same condition */
    struct quantity memory;   /* largest process, largest measured peak */
    struct quantity amount;   /* always open (no-offer) */
    const char *const *missing; /* what an amount needs: translated sentences */
    size_t missing_count;
    const char *const *open; /* what else is not in the total: translated */
    size_t open_count;
};

/* runs: newest first; runs[0] is the reference. Texts and arrays live in arena. */
void repeat_estimate(const struct run *const *runs, size_t count, uint64_t repeats, uint64_t seed, struct arena *arena, struct repeat_estimate *ret);
