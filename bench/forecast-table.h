/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scores of several methods, by source and k. A method that said nothing about a case is scored for
 * it all the same: no interval is an interval that does not hold, with the largest score.
 */
#pragma once

#include "forecast-baselines.h"

#include <stdbool.h>
#include <stddef.h>

#define FORECAST_SCORE_MOST 20.0
#define FORECAST_LEVEL      0.9

enum { FORECAST_METHODS_MAX = 12 };

/* Interval score of one case: (hi - lo + 20 x how far the actual lies outside) / actual, at most
 * FORECAST_SCORE_MOST; without an interval that. */
double forecast_interval_score(double actual, struct forecast_answer answer);

struct forecast_score {
    size_t cases;       /* 0: the method does not apply here, all else is NAN or 0 */
    size_t points;      /* cases with a point */
    size_t no_interval; /* cases without an interval */
    size_t covered;
    double mdape;    /* median of |pred - actual| / actual; a case without a point counts as
                      * infinitely off; NAN: that is the median */
    double coverage; /* share of all cases */
    double width;    /* mean of (hi - lo) / actual over the cases with an interval; NAN: none */
    double score;    /* mean over all cases */
};

struct forecast_table;

struct forecast_table *forecast_table_new(size_t method_count);
struct forecast_table *forecast_table_free(struct forecast_table *table);

/* source: borrowed, must stay. answers: one for each method. */
void forecast_table_add(struct forecast_table *table, const char *source, size_t k, double actual,
                        const struct forecast_answer *answers);

/* Sources in order of name. */
size_t forecast_table_sources(const struct forecast_table *table);
const char *forecast_table_source(const struct forecast_table *table, size_t source);
size_t forecast_table_cases(const struct forecast_table *table, size_t source, size_t k);
/* A method without a point in any case of the cell has no score in it (cases 0). */
struct forecast_score forecast_table_score(const struct forecast_table *table, size_t source,
                                           size_t k, size_t method);

/* Over the sources that have at least `least` cases (and one) at k in the table `counted`, each
 * counted once. NAN where there is no such source, or the method has no score in one of them. */
struct forecast_summary {
    size_t sources;
    double coverage; /* mean */
    double score;    /* geometric mean */
    double width;    /* geometric mean */
    double mdape;    /* geometric mean */
};
struct forecast_summary forecast_table_summary(const struct forecast_table *table,
                                               const struct forecast_table *counted, size_t k,
                                               size_t method, size_t least);

/* 2.6 binomial standard errors of a share of FORECAST_LEVEL among `cases`. */
double forecast_coverage_error(size_t cases);
