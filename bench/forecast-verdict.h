/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of a scoring, and what issue 6 ("Shows") asks of it: each demand as a number, its
 * limits and whether it is met. A number that could not be computed meets nothing.
 */
#pragma once

#include "forecast-table.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    FORECAST_METHOD_OURS = 0, /* of both tables; the baselines follow in their order */
    FORECAST_METHOD_COUNT = 1 + FORECAST_BASELINE_COUNT_,
    FORECAST_MATRIX_METHOD_COUNT = 1 + FORECAST_MATRIX_BASELINE_COUNT_,
    FORECAST_VERDICTS_MAX = 24,
};

struct forecast_result {
    struct forecast_table *groups;    /* methods: ours, enum forecast_baseline */
    struct forecast_table *matrices;  /* methods: ours, enum forecast_matrix_baseline */
    size_t missing, missing_matrices; /* cases without a forecast of ours */
    size_t least;                     /* cases that a source needs to count at a k */
    bool has_ours;
    bool has_matrices; /* of ours */
    bool class_only;   /* no history: judged as leave-one-source-out */
};

const char *forecast_method_name(size_t method);
const char *forecast_matrix_method_name(size_t method);

/* The baseline whose interval score (naive: whose MdAPE over all k) has the lowest geometric mean;
 * a method number; FORECAST_METHOD_COUNT: there is none. */
size_t forecast_best_baseline(const struct forecast_result *result, size_t k);
size_t forecast_best_naive(const struct forecast_result *result);
/* Geometric mean over all counting sources and k; NAN: of nothing. */
double forecast_mean_mdape(const struct forecast_result *result, size_t method);
/* Is the coverage of ours in the cell as near to 90 % as the larger of 5 points and 2.6 SE? */
bool forecast_cell_is_near(const struct forecast_result *result, size_t source, size_t k);

struct forecast_verdict {
    char text[160];
    double value; /* NAN: open */
    double least, most;
    bool ok;
};
/* Nothing where there is no forecast of ours. Returns how many. */
size_t forecast_verdicts(const struct forecast_result *result,
                         struct forecast_verdict ret_verdicts[FORECAST_VERDICTS_MAX]);
