/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calendar time of runs side by side. In every future the runs of all conditions, each with its
 * failed attempts, go to the next free lane in the order in which `block run` starts them (all runs
 * of a condition, then those of the next); calendar time is the longest lane. Pure and
 * deterministic for a seed; docs/estimate.md, "Lanes".
 */
#pragma once

#include "forecast/simulate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The runs of one condition are drawn one by one up to here, beyond it they are equally long:
 * bounded work. */
#define LANES_RUNS_DRAWN 200u
/* With more lanes than these in use nothing is put on lanes: bounded work. */
#define LANES_MOST 1000u

struct lanes_item {              /* runs of one condition, in the order in which they are started */
    const char *name;            /* of its random stream */
    const struct futures *total; /* of all of them together; FUTURES_OPEN: passed over */
    uint64_t runs;               /* >= 1 */
    double run_spread;           /* log-sd of a run within its condition; 0: all equally long */
    /* Time of failed attempts on the way to them, in the lane of the run; FUTURES_OPEN: none. */
    const struct futures *lost;
    const double *hit_runs; /* per future: how many runs share it; NULL: all of them */
};

/* Log-sd of one run, from its own; 0: fewer than two, or some are not positive. */
double lanes_run_spread(const double *values, size_t count);

/* Of all items, in order. lanes >= 1. *ret_sum (may be NULL): the time of all of them one after the
 * other. Open where every item is. *ret_at_least: there are too many lanes, and the time is only
 * no shorter than this: the share of a lane, and the longest item's mean run. All settled. */
struct futures lanes_calendar(const struct lanes_item *items, size_t count, uint64_t lanes,
                              uint64_t seed, size_t draws, struct arena *arena,
                              struct futures *ret_sum, bool *ret_at_least);

/* What a part of the sum takes of the calendar, future by future: part x calendar / sum; where the
 * sum is 0, nothing. Settled; open where one of them is. */
struct futures lanes_part(const struct futures *part, const struct futures *calendar,
                          const struct futures *sum, struct arena *arena);
