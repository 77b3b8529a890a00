/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one more trial is expected to teach: how much narrower the interval of a total becomes, by
 * preposterior simulation (Raiffa and Schlaifer, Applied Statistical Decision Theory, 1961). An
 * outcome of the trial is imagined, the forecast made anew as if it had been observed, and the
 * result averaged over imagined outcomes. Knows nothing of the model behind a forecast but its two
 * hooks. Pure and deterministic for a seed; docs/next.md.
 */
#pragma once

#include "forecast/simulate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define PREPOSTERIOR_FUTURES  1000u
#define PREPOSTERIOR_OUTCOMES 16u

/* A part of the total: further runs of one condition (or step), alike and independent but for what
 * is not known of them. */
struct preposterior_part {
    const char *name;     /* of its random stream; parts of other names have other draws */
    const double *values; /* observed durations, seconds; count 0: nothing is known of it */
    size_t count;
    uint64_t remaining; /* runs of it in the total */
    bool is_offered;    /* a trial of it could be made */
    bool uses_one;      /* the trial is one of the remaining runs */
    bool may_borrow;    /* its runs enter the common spread, and it may borrow from it */
    double extra_cost;  /* seconds that one trial costs beside itself: failed attempts; >= 0 */
    const void *own;    /* for the model's hooks: family and the like; may be NULL */
};

/* The model, as two hooks. context: passed on unchanged. */
struct preposterior_model {
    /* `repeats` further runs of the part, had these values been observed of it (its own, and maybe
     * one more): as simulate_runs. What it draws must rest on the stream alone, so that the same
     * future is as lucky whatever was observed. */
    struct futures (*predict)(const void *context, const struct preposterior_part *part,
                              const double *values, size_t count, uint64_t repeats,
                              struct simulate_spread borrow, struct simulate_stream stream,
                              size_t draws, struct arena *arena, bool *ret_borrowed);
    /* The common spread, once the part has this value more. That adds the same freedom whatever the
     * part is. NULL: one more value changes nothing for the others. */
    struct simulate_spread (*pool_with)(const void *context, struct simulate_spread pool,
                                        const struct preposterior_part *part, double value);
    const void *context;
};
/* simulate_runs and simulate_pool; needs no context. */
extern const struct preposterior_model preposterior_usual_model;

struct preposterior_options {
    struct simulate_spread pool; /* what the parts may borrow now */
    uint64_t seed;
    size_t futures, outcomes; /* 0: the usual number */
};

enum preposterior_kind {
    PREPOSTERIOR_NONE = 0, /* not offered, or nothing of it is left */
    PREPOSTERIOR_FIRST,    /* nothing is known of it: the total lacks it, and nothing else helps */
    PREPOSTERIOR_REPEAT,   /* gives a spread, where the total has no interval for want of one */
    PREPOSTERIOR_NARROW,   /* narrows the total's interval (narrowing may be 0 or negative) */
};

struct preposterior_trial {
    enum preposterior_kind kind;
    double cost;           /* expected seconds, with extra_cost; NAN: not known */
    size_t gives_interval; /* REPEAT: parts without an interval that get one */
    double narrowing;      /* NARROW: expected decrease of the log width ln(p95/p05) by this run */
    /* NARROW: the best expected decrease a second, of this run alone or with all that are left of
     * the part: where one run teaches too little, several may be worth their time. */
    double rate;
    uint64_t rate_runs;  /* over so many runs */
    double reserve_drop; /* NARROW: expected decrease of p95 - p50, seconds */
    double share;  /* of the total's variance that is this part's own, 0 … 1; NAN: unknown */
    bool borrowed; /* its spread is borrowed today */
};

struct preposterior_total {
    bool is_nothing;      /* no run is left */
    bool has_interval;    /* false: some part has a value without a spread, or none is known */
    bool too_wide;        /* has one, but too few runs lie behind it to be shown (simulate.h) */
    size_t unknown;       /* parts of which nothing is known: not in the figures */
    double p05, p50, p95; /* seconds; without an interval p50 alone; NAN where there is none */
};

/* trials: room for `count`. Parts without remaining runs add nothing. Values must be finite and
 * not negative. */
void preposterior_rank(const struct preposterior_part *parts, size_t count,
                       const struct preposterior_model *model,
                       const struct preposterior_options *options,
                       struct preposterior_total *ret_total, struct preposterior_trial *ret_trials);

/* Which of two trials goes first: < 0: a. FIRST before REPEAT before NARROW before NONE; FIRST as
 * equals; REPEAT by intervals given a second; NARROW by rate. 0: equal. */
int preposterior_compare(const struct preposterior_trial *a, const struct preposterior_trial *b);

/* Is the interval at most `within` (0.2: a fifth) of its median? Nothing left: yes. */
bool preposterior_is_within(const struct preposterior_total *total, double within);
