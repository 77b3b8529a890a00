/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An interval out of a forecast's weights. Its ends are quantiles; where its width is to be judged
 * against what really happens (bench/forecast-replay), large ratios count for less by LEAN, which
 * makes it shorter at the same weight inside. How much weight must be inside for 90 % of the
 * outcomes is checked on the history itself: each condition is forecast from all others.
 */
#pragma once

#include "forecast/condition.h"

#define INTERVAL_LEVEL 0.9
#define INTERVAL_LEAN  0.7 /* weight e^(-lean x logarithm of the ratio) */

struct interval {
    double lo, middle, hi; /* logarithms of seconds, of all repeats together */
};

/* half: 0 to 0.5, the weight on each side of the middle (0.45: 90 %). lean 0: plain quantiles;
 * the middle is always the plain median. */
void interval_of(const struct condition_forecast *forecast, double half, double lean,
                 struct interval *ret);

/* The half that held 90 % of what followed the first k runs in the history, each condition
 * forecast from the others; drawn towards 0.45 where it has few of them. k: 1 to
 * CONDITION_FIRST_MOST; beyond that, and without a history: 0.45. */
double interval_half(const struct condition_model *model, size_t k, double lean);
