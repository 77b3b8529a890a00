/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums of uncertain durations by simulated futures. Each part is open, a single value, or one value
 * per future; sums are made future by future, so that quantiles of a total are never sums of
 * quantiles. A part's futures come from a stream of its own (seed and name), so that changing one
 * part changes no other. Pure; docs/estimate.md.
 */
#pragma once

#include "forecast/predict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum futures_kind {
    FUTURES_OPEN = 0, /* nothing is known: never 0 */
    FUTURES_VALUE,    /* one value, no interval of its own */
    FUTURES_DRAWN,    /* a value per future */
};
struct futures {
    enum futures_kind kind;
    double value;  /* the median of the draws, or the one value */
    double *draws; /* count of them; NULL unless DRAWN */
    size_t count;
    bool is_fixed;    /* of a VALUE: assumed, so taken as it is; it leaves a sum its interval */
    bool no_interval; /* drawn, but a part without interval is in it: no p05, p95 */
    bool too_wide;    /* the reason of no_interval: it, or a part of it, is (too-few-runs) */
    double p05, p95;  /* of the draws; only without no_interval */
    /* Of a settled one: standard errors of p05, value and p95 by the number of draws. */
    double error05, error50, error95;
};

/* Which stream a part draws from. Parts of the same `shared` name have the same unknown parameters
 * in each future (one condition in two blocks), their own runs differ by `own`. */
struct simulate_common;
struct simulate_stream {
    uint64_t seed;
    const char *shared, *own;
    struct simulate_common *common; /* what parts have in common is kept here; NULL: drawn anew for
                                       each, which takes longer and gives the same */
};
/* For parts of one seed and number of draws; others are as with NULL. Names of families must live
 * as long as the arena. */
struct simulate_common *simulate_common_new(uint64_t seed, size_t draws, struct arena *arena);

/* Where the spread of a condition with too few own runs comes from. */
struct simulate_spread {
    double variance; /* of the logarithms, pooled; only with freedom > 0 */
    double freedom;  /* degrees of freedom behind it */
};
/* Pools the spread within several groups (D4): groups of fewer than two values add nothing. */
struct simulate_spread simulate_pool(const double *const *groups, const size_t *counts,
                                     size_t group_count);

/* `repeats` further runs like these. count 0: open. One value and nothing to borrow: a value
 * without interval; so do values of which some are 0 (no logarithm). 0 repeats: the value 0. A
 * value that is negative or not finite: open. *ret_borrowed (may be NULL): the interval rests on
 * borrowed spread. */
struct futures simulate_runs(const double *values, size_t count, uint64_t repeats,
                             struct simulate_spread borrow, struct simulate_stream stream,
                             size_t draws, struct arena *arena, bool *ret_borrowed);

/* All repeats of a forecast, future by future. Part of what is uncertain is common to the
 * conditions of a family and part to all of a study (docs/estimate.md says how much, and where
 * from), so errors neither cancel nor add up wholly; the unknown mean is common to all runs of
 * stream.shared. */
struct condition_forecast;
struct futures simulate_condition(const struct condition_forecast *forecast, const char *family,
                                  struct simulate_stream stream, size_t draws, struct arena *arena);

struct futures simulate_value(double value); /* seen, and may come out otherwise */
struct futures simulate_fixed(double value); /* assumed */
/* Sums, future by future: add part by part to a zeroed sum (its draws live in arena), then settle
 * it, which finds its quantiles. An open part adds nothing; all open: open. A part may be freed
 * once it is added. */
void simulate_add(struct futures *sum, const struct futures *part, struct arena *arena);
void simulate_settle(struct futures *sum);
/* factor: finite, not negative. */
struct futures simulate_scale(struct futures part, double factor, struct arena *arena);
/* What a factor of at least 1 adds to a duration, future by future: base x (factor - 1), where the
 * factor falls below 1 nothing. Both settled, and so is the result; open where one is. */
struct futures simulate_surplus(const struct futures *base, const struct futures *factor,
                                struct arena *arena);
/* p05, p50, p95 of settled futures; false: no interval (a single value, a part without one that is
 * neither 0 nor fixed, or too wide: p95 over ten times p50; a median of 0 has no ratio and is not
 * too wide). */
bool simulate_interval(const struct futures *futures, double *ret_p05, double *ret_p50,
                       double *ret_p95);
