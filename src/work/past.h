/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What other studies of the ledger did: their conditions that ran well at least twice, so that a
 * study with few runs of its own can borrow how far runs lie apart (never how long they take).
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "rules/study.h"
#include "work/runs.h"

#include <stddef.h>

#define WORK_PAST_ROWS_MAX 2000u /* newest rows of runs that ended well, of whichever study */
#define WORK_PAST_EACH_MAX 8u    /* of one command, condition and folder the first that are read, */
#define WORK_PAST_RUNS_MAX 128u  /* and of all: a run takes a third of a millisecond */
#define WORK_PAST_TITLES   3u    /* studies whose title is looked up */

struct work_past {
    const struct history_condition *conditions; /* that of the newest run first; seconds are the
                                                   wall times of the records, oldest first */
    const struct study_past *of;                /* who each of them is */
    size_t count;
};

/*
 * A run is taken that belongs to another study than `study` (NULL: to any), names block and
 * condition, and is an observation (comparable_is_usable: ended well, not declared invalid, no
 * function test, no check unmet, measured to its end). Runs are of one condition when study,
 * block, condition, environment and the environment's fingerprint are the same and they count
 * beside the newest of them (comparable_counts: command, code, inputs); others are left out.
 * Records that cannot be read are passed over. Everything in arena. Errors of runs_list.
 */
int work_past_find(struct runs *runs, const char *study, struct arena *arena, struct work_past *ret,
                   struct err *err);
