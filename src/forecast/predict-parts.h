/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The model behind every forecast, internal to forecast/: fitting a condition, drawing what its
 * future may be, drawing the sum of its runs. One implementation for predict.c and simulate.c.
 */
#pragma once

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was observed of the logarithms: their mean over `count` values, their standard deviation and
 * the degrees of freedom behind it. */
struct predict_fit {
    double mean, spread, freedom, count;
};
/* One possible future: the parameters that all its runs share. */
struct predict_future {
    double mean, spread; /* of the logarithm */
};

/* All finite and above 0? */
bool predict_is_positive(const double *values, size_t count);
/* count >= 2, all positive. The spread is at least one step of the clock. */
struct predict_fit predict_fit(const double *values, size_t count);
/* One step of the clock as a spread of the logarithms; of a clock that shows no coarser step than
 * 0.001 s never more than half the shortest value. count >= 1, all positive. */
double predict_least_spread(const double *values, size_t count, double log_mean);

gsl_rng *predict_random_new(uint64_t seed); /* free with gsl_rng_free */
struct predict_future predict_draw_future(gsl_rng *random, const struct predict_fit *fit);
/* Logarithm of the sum of `repeats` (>= 1) runs; logs: room for PREDICT_EXACT_REPEATS. */
double predict_draw_sum(gsl_rng *random, struct predict_future future, uint64_t repeats,
                        double *logs);

void predict_sort(double *values, size_t count);
/* Quantile of sorted values (count >= 1), interpolated between order statistics. */
double predict_quantile(const double *sorted, size_t count, double p);
/* The same of values in any order, which it leaves in another: much faster than sorting where a few
 * quantiles are wanted. */
double predict_select(double *values, size_t count, double p);
