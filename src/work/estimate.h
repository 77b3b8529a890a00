/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The use case of `probelauf estimate --repeat N [RUN…]`: which runs are looked at, then the rule
 * (rules/repeat.h). */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "rules/repeat.h"
#include "work/runs.h"

#include <stddef.h>
#include <stdint.h>

/* A group's newest runs are looked at, older ones beyond this number are not (and `older` says that
 * there are any). */
#define WORK_ESTIMATE_RUNS_MAX 200u

struct work_estimate {
    struct arena *arena; /* owns the texts and arrays of `repeat` */
    struct run **runs; /* owned: all that were looked at, newest first; `repeat` points into them */
    size_t run_count;
    bool older;             /* the group holds older runs that were not looked at */
    const char *unreadable; /* "" or one translated line about records of the group that could not
                               be read */
    struct repeat_estimate repeat;
};

/* refs: as in work/runs.h; the same run named twice counts once. None given: the latest finished
 * run and all runs of its group (same command, condition, folder, step). Errors: those of
 * runs_load, "run-not-found" when nothing is recorded, "estimate-repeats" unless 1 <= repeats <=
 * REPEAT_MAX. Call work_estimate_done also after a failure. */
int work_estimate_make(struct runs *runs, const char *const *refs, size_t ref_count,
                       uint64_t repeats, uint64_t seed, struct work_estimate *ret, struct err *err);
void work_estimate_done(struct work_estimate *estimate);
#define AUTO_WORK_ESTIMATE __attribute__((cleanup(work_estimate_done)))
