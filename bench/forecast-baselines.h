/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What people use today to say how long further runs take, for comparison with our forecast: five
 * intervals and four naive points, and one that knows the outcome. Each forecasts the sum of the m
 * ok runs of a group behind its first k, from these k and, where said, from other groups of the
 * source (the history). Which runs of the target are used: the first k ok ones, nothing else.
 * Seconds; what a method cannot say is NAN.
 */
#pragma once

#include "forecast-data.h"

#include <stdbool.h>
#include <stddef.h>

struct forecast_answer {
    double pred;   /* seconds of the sum; NAN: the method has none here */
    double lo, hi; /* 90 % interval; both NAN: the method has none here */
};

enum forecast_baseline {
    /* Student's t prediction interval of the sum on the raw scale, cut at 0; from k = 2. */
    FORECAST_BASELINE_T,
    /* The same on the log scale: predict_total of src/forecast/predict.h; from k = 2. */
    FORECAST_BASELINE_LOGNORMAL,
    /* m times the mean of the first k, times the 5 and 95 % quantile of actual / forecast among the
     * history's groups at the same k; from FORECAST_POOLED_LEAST such groups on. */
    FORECAST_BASELINE_POOLED,
    /* Student's t on the log scale around the mean of the first k logs; their variance is pooled
     * with that of the source's groups: a scaled inverse chi-square fitted to their variances by
     * moments of their logarithms (Smyth 2004, "Linear models and empirical Bayes methods"); from
     * k = 1, and three groups with two runs. */
    FORECAST_BASELINE_SHRUNK_SOURCE,
    /* The same with the groups of its family; where they are fewer than three, the source's. */
    FORECAST_BASELINE_SHRUNK_FAMILY,
    /* m times mean, median, last, minimum of the first k; no interval. */
    FORECAST_BASELINE_MEAN,
    FORECAST_BASELINE_MEDIAN,
    FORECAST_BASELINE_LAST,
    FORECAST_BASELINE_MINIMUM,
    /* As shrunk to the family, but the prior is the median variance and counts as
     * FORECAST_SHRINKAGE_FREEDOM degrees of freedom: chosen by looking at the scores on the records
     * that it is scored on, which nobody can do beforehand. Shown, and no peer. */
    FORECAST_BASELINE_HINDSIGHT,
    FORECAST_BASELINE_COUNT_,
};
enum {
    FORECAST_BASELINE_FIRST_NAIVE = FORECAST_BASELINE_MEAN, /* those before it have intervals */
    FORECAST_BASELINE_LAST_NAIVE = FORECAST_BASELINE_MINIMUM,
    FORECAST_POOLED_LEAST = 20, /* fewer groups show no 5 % quantile */
    FORECAST_SHRUNK_LEAST = 3,
    FORECAST_SHRINKAGE_FREEDOM = 4, /* of 2, 4, 8: the strongest at k = 2 and 3 on our data */
};

/* "t-interval", "lognormal", "pooled-empirical", … */
const char *forecast_baseline_name(enum forecast_baseline baseline);
bool forecast_baseline_from_name(const char *name, enum forecast_baseline *ret_baseline);

/* What the groups of one source teach. */
struct forecast_history;

/* source: borrowed, must stay; NULL: a source without history. */
struct forecast_history *forecast_history_new(const struct forecast_source *source);
struct forecast_history *forecast_history_free(struct forecast_history *history);

/* group must be scored at k, k from 1 to FORECAST_K_MAX. */
struct forecast_answer forecast_baseline_answer(enum forecast_baseline baseline,
                                                const struct forecast_history *history,
                                                const struct forecast_group *group, size_t k);

enum forecast_matrix_baseline {
    FORECAST_MATRIX_PLAIN_SUM,  /* points and bounds of the groups' pooled-empirical added up */
    FORECAST_MATRIX_QUADRATURE, /* their middles added up, their half widths in quadrature */
    FORECAST_MATRIX_BASELINE_COUNT_,
};
const char *forecast_matrix_baseline_name(enum forecast_matrix_baseline baseline);
bool forecast_matrix_baseline_from_name(const char *name,
                                        enum forecast_matrix_baseline *ret_baseline);
/* No interval where one of the groups has none. */
struct forecast_answer forecast_matrix_baseline_answer(enum forecast_matrix_baseline baseline,
                                                       const struct forecast_history *history,
                                                       const struct forecast_matrix *matrix);
