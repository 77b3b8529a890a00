/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which trial to run next (H3, docs/next.md): of every run that could be made now in the target
 * environment, how much narrower the 90 % interval of what is left becomes by it, for its time; and
 * when none is worth its time. What may not or cannot be run is listed with its reason, what no run
 * closes is named. Pure and deterministic for a seed.
 */
#pragma once

#include "base/mem.h"
#include "model/plan.h"
#include "model/quantity.h"
#include "rules/estimate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEXT_METHOD "preposterior/1"
#define NEXT_WITHIN 0.2 /* of its median: an interval as narrow as that is narrow enough */

enum next_verdict {
    NEXT_RUN = 0, /* the first trial */
    NEXT_WITHIN_TARGET,
    NEXT_NOT_WORTH, /* each takes longer than what it takes off the reserve */
    NEXT_BLOCKED,   /* something is left, and nothing of it can be run now */
    NEXT_NOTHING_LEFT,
    NEXT_VERDICT_COUNT_
};
const char *next_verdict_name(enum next_verdict verdict); /* "run", "within-target", … */

enum next_kind {
    NEXT_FIRST = 0, /* nothing is known of it */
    NEXT_REPEAT,    /* gives a spread, where there is none to make an interval with */
    NEXT_NARROW,
    NEXT_KIND_COUNT_
};
const char *next_kind_name(enum next_kind kind); /* "first", "repeat", "narrow" */

struct next_trial {
    enum next_kind kind;
    const struct plan_block *block;
    const struct plan_condition *condition; /* NULL: a step */
    const struct plan_step *step;           /* NULL: a condition */
    const char *name;                       /* "compare policy=evict", "step install" */
    const char *command;                    /* to type */
    uint64_t seen, left;  /* runs that count; runs (executions) in what is left, 0: the
                         plan does not say how many */
    struct quantity time; /* expected, seconds; open (no-evidence) for a first run */
    struct quantity lost; /* by failed attempts on the way to it; open where not known */
    struct quantity cost; /* time and loss x GPUs; without a GPU the time itself */
    /* Of kind NARROW, else open: expected decrease of the log width ln(p95/p05), unit "1"; of the
     * reserve p95 - p50, seconds (may be negative: an increase). */
    struct quantity narrowing, reserve_drop;
    double rate;        /* narrowing a GPU-minute that it is ranked by; NAN: none */
    uint64_t rate_runs; /* over so many runs of it */
    double share;       /* of the interval's squared width; NAN: unknown */
    bool pays;          /* it takes more off the reserve than it takes itself, or nothing else
                           gives an interval */
    const char *reason; /* translated, one sentence without a full stop */
};

struct next_refused { /* not offered */
    const struct plan_block *block;
    const struct plan_condition *condition; /* both NULL: the whole block */
    const struct plan_step *step;
    const char *name;       /* "compare", "compare policy=evict" */
    const char *const *why; /* translated lines */
    size_t why_count;
};

struct next_options {
    double within; /* 0: NEXT_WITHIN */
    uint64_t seed;
    size_t futures, outcomes; /* 0: the usual number */
};

struct next_advice {
    const struct estimate *estimate;
    enum next_verdict verdict;
    const char *why; /* translated: the verdict in a sentence */
    double within;
    uint64_t seed;
    size_t futures, outcomes;
    struct quantity total;           /* of runs and steps that are left, seconds */
    double width_ratio;              /* (p95 - p05) / p50 of it; NAN: it has no interval */
    size_t unknown;                  /* parts of it of which nothing is known */
    const struct next_trial *trials; /* the best first */
    size_t trial_count;
    const struct next_refused *refused;
    size_t refused_count;
    /* What no trial closes, and is in no figure here: open parts of the estimate but its runs and
     * steps (retries, idle time, tasks …). */
    const struct estimate_open *const *not_counted;
    size_t not_counted_count;
    bool has_gpus; /* the target has GPUs: costs are GPU-minutes */
};

/* Everything lives in arena and points into the estimate and its study. */
void next_make(const struct estimate *estimate, const struct next_options *options,
               struct arena *arena, struct next_advice *ret);
