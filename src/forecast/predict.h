/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Predictive distribution of the total of further runs of one condition. Durations are positive and
 * skewed: log scale; the unknown mean and spread are drawn once per simulated future and shared by
 * its runs (method "lognormal-shared/1"). Pure and deterministic for a seed. The reasoning:
 * docs/estimate.md.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREDICT_METHOD "lognormal-shared/1"
#define PREDICT_SEED   UINT64_C(20261130)
#define PREDICT_DRAWS  20000
#define PREDICT_LEVEL  0.9

/* Up to here the runs of a future are drawn one by one, beyond it their sum is (bounded work;
 * docs/estimate.md). */
#define PREDICT_EXACT_REPEATS 200
/* An interval that reaches further than this over its median is none. */
#define PREDICT_WIDEST_RATIO 10.0

struct predict_total {
    double p05, p50, p95; /* seconds; of the sum over `repeats` further runs */
};

/* values: observed durations > 0 (finite), count >= 2. repeats >= 1, draws >= 100. Returns 0;
 * -EINVAL for bad input; -ERANGE when p95/p50 exceeds 10 (too few runs to say): then p50 is set,
 * p05 and p95 are NaN. */
int predict_total(const double *values, size_t count, uint64_t repeats, uint64_t seed, size_t draws,
                  struct predict_total *ret);

/* The step in which the values were read, as far as they show it: the largest of 1 s, 0.1 s, 0.01 s
 * and 0.001 s that divides all of them, else 0.001 s. No spread below it is believed: equal
 * readings of a coarse clock are not certainty. */
double predict_resolution_s(const double *values, size_t count);

/* Which values (positive, finite) stand apart from the others: modified z-score of their logarithms
 * above 3.5 (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993). With fewer than five
 * nobody can tell: all false. */
void predict_mark_outliers(const double *values, size_t count, bool *ret_outlier);

/* count >= 1; the mean of the two in the middle of an even number. */
double predict_median(const double *values, size_t count);
