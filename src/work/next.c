/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joins estimate and advice (work/next.h); the same seed serves both. */
#include "work/next.h"

int work_next_make(const struct work_study *study, const struct next_options *options,
                   struct arena *arena, struct next_advice *ret, struct err *err) {
    const struct estimate_options how = {.seed = options->seed};
    struct estimate *estimate = arena_alloc(arena, sizeof *estimate);
    int rc = estimate_make(&study->study, &how, arena, estimate, err);
    if (rc < 0)
        return rc;
    next_make(estimate, options, arena, ret);
    return 0;
}
