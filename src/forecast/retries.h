/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What failed attempts on the way to the runs that are left will cost, one value per future.
 * Failures cluster: after a failure an attempt fails with another chance than after a success, so
 * a condition is a chain of two states; only a result that misses its check is independent of what
 * was before. A loss is one that was seen, by its kind. Pure; docs/estimate.md, "Retries".
 */
#pragma once

#include "forecast/simulate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RETRIES_METHOD "chained-failures/1"
/* Of other conditions so many attempts count at most, in each state: how alike conditions fail is
 * not known beforehand. Beta-binomials fitted to the failures of four public sources have a
 * strength (sum of both parameters) of 0.25 to 32 attempts, geometric mean 3.4 (docs/estimate.md).
 */
#define RETRIES_BORROW_MOST 3.0

enum retries_end { /* of an attempt */
                   RETRIES_GOOD = 0,
                   RETRIES_MISSED, /* it ended well, but a check of its result is unmet: to be made
                                      again */
                   RETRIES_FAILED,
};

struct retries_share {
    uint64_t failures, attempts;
};
struct retries_seen {                   /* counts, of one condition or added up over several */
    struct retries_share after_success; /* a first attempt is one of these */
    struct retries_share after_failure;
    struct retries_share missed; /* of the attempts that did not fail: those that missed */
};
/* Adds the attempts of one condition, oldest first. */
void retries_see(struct retries_seen *seen, const enum retries_end *ends, size_t count);
void retries_add(struct retries_seen *seen, const struct retries_seen *more);
/* part: one of the conditions that were added. */
void retries_take_away(struct retries_seen *seen, const struct retries_seen *part);
bool retries_has_attempt(const struct retries_seen *seen);

/* What failed attempts of one kind cost. Kinds are drawn by how often they were seen. */
struct retries_kind {
    uint64_t seen;      /* failures of this kind, at least `count` */
    const double *lost; /* seconds of each one whose loss is known; finite, >= 0 */
    size_t count;       /* 0: nobody knows what one costs, so it adds nothing: at least */
};

struct retries_input {
    struct retries_seen own;          /* attempts of the condition itself */
    struct retries_seen others;       /* of the study's other conditions, borrowed; zero: none */
    bool fails_now;                   /* its newest attempt failed */
    uint64_t repeats_used;            /* of the limit, by the failures that it has just had */
    const struct retries_kind *kinds; /* of failures */
    size_t kind_count;
    struct retries_kind missed; /* of results that missed their check; seen 0: not in it */
    uint64_t successes;         /* good runs that are still wanted */
    int64_t retry_max;          /* repeats of each run; < 0: no limit */
};

struct retries_result {
    double unfinished; /* share of the futures in which some run is not finished within the limit */
    double failures;   /* how many attempts fail or miss, the median */
    double *hit_runs;  /* per future, in the arena: how many of the runs fail at least once */
};

/* The chances have posteriors Beta(1/2 + failures, 1/2 + rest) of own attempts and at most
 * RETRIES_BORROW_MOST borrowed ones, drawn once per future with the shares of the losses (Rubin's
 * Bayesian bootstrap, over kinds, then within each). Open without an own attempt, and where no loss
 * is known; 0 successes: the value 0. ret may be NULL. */
struct futures retries_simulate(const struct retries_input *input, struct simulate_stream stream,
                                size_t draws, struct arena *arena, struct retries_result *ret);
