/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate for N further runs like the given ones (estimate --repeat). Pure; the seed is passed
 * in. docs/estimate.md. */
#pragma once

#include "model/run.h"

#include <stddef.h>
#include <stdint.h>

#define REPEAT_MAX UINT64_C(1000000000)

struct repeat_excluded {
    const struct run *run;
    const char *reason; /* translated */
};

struct repeat_estimate {
    uint64_t repeats, seed;
    const struct run *const
        *used; /* newest first; used[0] is the one the others are compared with */
    size_t used_count;
    const bool *outlier; /* per used run: its wall time stands apart from the others; it counts all
                            the same */
    const struct repeat_excluded *excluded;
    size_t excluded_count;
    struct quantity per_run; /* one further run: median and interval */
    struct quantity runs;  /* wall time of the N runs themselves; parts: load, compute, other where
                              they are separated */
    struct quantity total; /* the same as a lower bound, since what `open` lists is not in it;
                              parts: runs, retries */
    struct quantity load, compute, other; /* each for all N runs; open where not separated */
    struct quantity
        retries; /* lost time of the N runs: open, from a few attempts it is not extrapolated */
    struct quantity lost; /* wall time of the failed attempts that were seen; open (no-evidence)
                             when none was */
    uint64_t attempts, failures; /* of the same command and condition, seen; stopped on purpose
                                    (budget, Ctrl-C) not counted */
    struct quantity memory;      /* largest process: largest measured peak of the used runs */
    struct quantity amount;      /* always open (no-offer) */
    const char *const *missing;  /* what an amount needs: translated sentences */
    size_t missing_count;
    const char *const *open; /* what else is not in the total: translated */
    size_t open_count;
};

/* runs: newest first. The first one that is an observation at all is what the others are compared
 * with. None may stand twice. repeats: 1 … REPEAT_MAX. Texts and arrays live in arena; `used` and
 * `excluded` point to the given runs. */
void repeat_estimate(const struct run *const *runs, size_t count, uint64_t repeats, uint64_t seed,
                     struct arena *arena, struct repeat_estimate *ret);
