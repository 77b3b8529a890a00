/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What failed attempts would cost if they were as frequent, as clustered and as dear as those of a
 * reference class (classes.h). An assumption, never evidence. Pure and deterministic for a seed.
 */
#pragma once

#include "forecast/classes.h"
#include "forecast/simulate.h"

/* Does the class tell how often attempts fail, fail again, and what one costs? */
bool class_retries_known(const struct class_failures *failures);

/* Time lost on the way to `successes` good runs of about run_seconds (> 0) each. The first attempt
 * of a run fails with the chance after a success, the next ones with the chance after a failure;
 * both unknown, drawn once per future (Beta(1/2 + failures, 1/2 + rest)). A failed attempt costs a
 * lognormal share of a good run, with the median and p90 of the class, one share per future: one
 * condition fails in one way. retry_max < 0: no limit. *ret_unfinished, *ret_failures (may be
 * NULL): as simulate_retries. Open where the class does not tell; 0 successes: the value 0. */
struct futures class_retries(const struct class_failures *failures, double run_seconds,
                             uint64_t successes, int64_t retry_max, struct simulate_stream stream,
                             size_t draws, struct arena *arena, double *ret_unfinished,
                             double *ret_failures);
