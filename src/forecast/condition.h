/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What further runs of one condition will take, from its own runs and from what followed the first
 * runs of other conditions. The value is the condition's own; borrowed is only how far the runs to
 * come may lie from the first ones: spread, slow outliers, slow first runs. Method
 * CONDITION_METHOD; pure; the reasoning and what it was tested on: docs/estimate.md.
 */
#pragma once

#include "forecast/history.h"
#include "forecast/spread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONDITION_METHOD "like-conditions/1"
/* Other conditions are looked at after so many first runs at most. */
#define CONDITION_FIRST_MOST 3u

struct condition_model;

/* In the arena; keeps pointers into the history. NULL: it shows nothing that could be borrowed. */
const struct condition_model *condition_model_new(const struct history *history,
                                                  struct arena *arena);

struct condition_forecast;
/* How many conditions of the history had more than k good runs (k: 1 to CONDITION_FIRST_MOST). */
size_t condition_model_seen(const struct condition_model *model, size_t k);
/* Forecasts the i-th of them from its first k runs and all others, and returns what really followed
 * as the same logarithm of a ratio. */
double condition_model_look_back(const struct condition_model *model, size_t k, size_t i,
                                 struct arena *arena, struct condition_forecast *ret);

struct condition_own {
    const char *family;
    size_t itself;         /* where it stands in the history itself; SPREAD_NOBODY: nowhere */
    const double *seconds; /* of its good runs, in order; finite, > 0 */
    size_t count;          /* >= 1 */
    /* Runs that were cut off: none of them was done after so many seconds. */
    const double *at_least;
    size_t at_least_count;
};

struct condition_forecast {
    /* Logarithm of the seconds of one run: the mean over its own runs, or the last or the middle
     * one where like conditions show that it tells more. */
    double centre;
    /* What may come: logarithm of (mean of the runs to come / e^centre), ascending, and the weight
     * of each; sum 1. */
    double *ratio, *weight;
    double *below; /* weight of what is smaller, and half of its own */
    size_t count;
    uint64_t repeats;
    double spread; /* of the logarithm of one run: its typical value */
    double shared; /* 0 to 1: how much of the variance is the unknown mean, the same for all runs */
    double likes;  /* how many conditions of the history it rests on, by weight */
    /* First run over the later ones in these conditions (median); NAN: none tells. */
    double first_ratio;
    bool first_left_out; /* its own first run was slower like theirs, and is not in the centre */
};

/* repeats >= 1. Everything in the arena. */
void condition_forecast_make(const struct condition_model *model, const struct condition_own *own,
                             uint64_t repeats, struct arena *arena, struct condition_forecast *ret);
/* Logarithm of the seconds of all repeats together; u: 0 to 1. */
double condition_quantile(const struct condition_forecast *forecast, double u);
