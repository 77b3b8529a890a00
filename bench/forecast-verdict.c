/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The demands of issue 6 as numbers. All limits stand here. */
#include "forecast-verdict.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define COVERAGE_POINTS  0.05
#define CELLS_OFF_MOST   2.0
#define CLASS_COVERAGE   0.85
#define MDAPE_MEAN_MOST  1.05
#define MDAPE_WORST_MOST 1.5
/* Of the interval score to the best single baseline's, at k = 1, 2, 3. */
static const double score_ratio_most[FORECAST_K_MAX] = {0.85, 0.85, 1.0};

const char *forecast_method_name(size_t method) {
    return method == FORECAST_METHOD_OURS
               ? "forecast"
               : forecast_baseline_name((enum forecast_baseline)(method - 1));
}

const char *forecast_matrix_method_name(size_t method) {
    return method == FORECAST_METHOD_OURS
               ? "forecast"
               : forecast_matrix_baseline_name((enum forecast_matrix_baseline)(method - 1));
}

size_t forecast_best_baseline(const struct forecast_result *result, size_t k) {
    size_t best = FORECAST_METHOD_COUNT;
    double lowest = HUGE_VAL;

    for (size_t method = 1; method <= FORECAST_BASELINE_FIRST_NAIVE; method++) {
        double score =
            forecast_table_summary(result->groups, result->groups, k, method, result->least).score;
        if (score < lowest) {
            lowest = score;
            best = method;
        }
    }
    return best;
}

static bool counts(const struct forecast_result *result, size_t source, size_t k) {
    size_t cases = forecast_table_cases(result->groups, source, k);
    return cases > 0 && cases >= result->least;
}

static double mdape(const struct forecast_result *result, size_t source, size_t k, size_t method) {
    return forecast_table_score(result->groups, source, k, method).mdape;
}

double forecast_mean_mdape(const struct forecast_result *result, size_t method) {
    double sum = 0.0, cells = 0.0;

    for (size_t s = 0; s < forecast_table_sources(result->groups); s++)
        for (size_t k = 1; k <= FORECAST_K_MAX; k++)
            if (counts(result, s, k)) {
                sum += log(mdape(result, s, k, method));
                cells += 1.0;
            }
    return exp(sum / cells);
}

size_t forecast_best_naive(const struct forecast_result *result) {
    size_t best = FORECAST_METHOD_COUNT;
    double lowest = HUGE_VAL;

    for (size_t method = 1 + FORECAST_BASELINE_FIRST_NAIVE;
         method <= 1 + FORECAST_BASELINE_LAST_NAIVE; method++) {
        double mean = forecast_mean_mdape(result, method);
        if (mean < lowest) {
            lowest = mean;
            best = method;
        }
    }
    return best;
}

/* The lowest MdAPE of the naive columns in the cell; or that of the one column. */
static double naive_mdape(const struct forecast_result *result, size_t source, size_t k,
                          size_t column) {
    double lowest = HUGE_VAL;
    if (column < FORECAST_METHOD_COUNT)
        return mdape(result, source, k, column);
    for (size_t m = 1 + FORECAST_BASELINE_FIRST_NAIVE; m <= 1 + FORECAST_BASELINE_LAST_NAIVE; m++)
        lowest = fmin(lowest, mdape(result, source, k, m));
    return lowest;
}

/* Our MdAPE to that of `column` (FORECAST_METHOD_COUNT: of the best one in the cell itself), over
 * all counting cells: the geometric mean, and the largest. NAN: not known in one of them. */
static void compare_mdape(const struct forecast_result *result, size_t column, double *ret_mean,
                          double *ret_worst) {
    double sum = 0.0, cells = 0.0, worst = 0.0;

    for (size_t s = 0; s < forecast_table_sources(result->groups); s++)
        for (size_t k = 1; k <= FORECAST_K_MAX; k++) {
            if (!counts(result, s, k))
                continue;
            double ratio =
                mdape(result, s, k, FORECAST_METHOD_OURS) / naive_mdape(result, s, k, column);
            sum += log(ratio);
            cells += 1.0;
            worst = ratio > worst ? ratio : worst;
        }
    *ret_mean = exp(sum / cells);
    *ret_worst = isnan(*ret_mean) ? NAN : worst;
}

bool forecast_cell_is_near(const struct forecast_result *result, size_t source, size_t k) {
    struct forecast_score score =
        forecast_table_score(result->groups, source, k, FORECAST_METHOD_OURS);
    /* a hair more, so that 85.0 % is within 5 points in binary, too */
    double most = fmax(COVERAGE_POINTS, forecast_coverage_error(score.cases)) + 1e-9;
    return fabs(score.coverage - FORECAST_LEVEL) <= most;
}

static double cells_off(const struct forecast_result *result) {
    double off = 0.0, cells = 0.0;

    for (size_t s = 0; s < forecast_table_sources(result->groups); s++)
        for (size_t k = 1; k <= FORECAST_K_MAX; k++)
            if (counts(result, s, k)) {
                cells += 1.0;
                off += !forecast_cell_is_near(result, s, k);
            }
    return cells > 0.0 ? off : NAN;
}

/* ---- the list ---- */

struct list {
    struct forecast_verdict *verdicts;
    size_t count;
};

static void add(struct list *list, double value, double least, double most, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static void add(struct list *list, double value, double least, double most, const char *fmt, ...) {
    assert(list->count < FORECAST_VERDICTS_MAX);
    struct forecast_verdict *one = &list->verdicts[list->count++];
    va_list args;

    *one = (struct forecast_verdict){.value = value, .least = least, .most = most};
    one->ok = value >= least - 1e-9 && value <= most + 1e-9; /* NAN is neither */
    va_start(args, fmt);
    vsnprintf(one->text, sizeof one->text, fmt, args);
    va_end(args);
}

/* The "best naive column" may be read as one column for all cells, or as the best one of
 * each cell: both are judged. */
static void judge_mdape(const struct forecast_result *result, struct list *list) {
    size_t naive = forecast_best_naive(result);
    const char *name = naive < FORECAST_METHOD_COUNT ? forecast_method_name(naive) : "none";
    double mean = NAN, worst = NAN;

    if (naive < FORECAST_METHOD_COUNT)
        compare_mdape(result, naive, &mean, &worst);
    add(list, mean, 0.0, MDAPE_MEAN_MOST, "MdAPE to the best naive column's (%s), geometric mean",
        name);
    add(list, worst, 0.0, MDAPE_WORST_MOST, "MdAPE to the best naive column's (%s), worst cell",
        name);
    compare_mdape(result, FORECAST_METHOD_COUNT, &mean, &worst);
    add(list, mean, 0.0, MDAPE_MEAN_MOST, "MdAPE to each cell's best naive one, geometric mean");
    add(list, worst, 0.0, MDAPE_WORST_MOST, "MdAPE to each cell's best naive one, worst cell");
}

static double score_of(const struct forecast_result *result, size_t k, size_t method) {
    return forecast_table_summary(result->groups, result->groups, k, method, result->least).score;
}

static void judge_halves(const struct forecast_result *result, struct list *list) {
    for (size_t k = 1; k <= FORECAST_K_MAX; k++) {
        struct forecast_summary ours = forecast_table_summary(result->groups, result->groups, k,
                                                              FORECAST_METHOD_OURS, result->least);
        add(list, 100.0 * ours.coverage, 87.0, 93.0, "k=%zu: mean coverage of %zu sources, %%", k,
            ours.sources);
    }
    add(list, cells_off(result), 0.0, CELLS_OFF_MOST,
        "cells of source and k off 90 %% by more than 5 points and 2.6 SE");
    for (size_t k = 1; k <= FORECAST_K_MAX; k++) {
        size_t best = forecast_best_baseline(result, k);
        bool any = best < FORECAST_METHOD_COUNT;
        double theirs = any ? score_of(result, k, best) : NAN;
        add(list, score_of(result, k, FORECAST_METHOD_OURS) / theirs, 0.0, score_ratio_most[k - 1],
            "k=%zu: interval score to that of the best baseline (%s, %.3f)", k,
            any ? forecast_method_name(best) : "none", theirs);
    }
    for (size_t k = 1; k <= FORECAST_K_MAX; k++)
        add(list,
            score_of(result, k, FORECAST_METHOD_OURS) /
                score_of(result, k, 1 + FORECAST_BASELINE_HINDSIGHT),
            0.0, 100.0, "k=%zu: interval score to that of a prior chosen in hindsight; no demand",
            k);
    judge_mdape(result, list);
}

static void judge_class(const struct forecast_result *result, struct list *list) {
    double sources = 0.0, good = 0.0;

    add(list,
        100.0 * forecast_table_summary(result->groups, result->groups, 1, FORECAST_METHOD_OURS,
                                       result->least)
                    .coverage,
        100.0 * CLASS_COVERAGE, 100.0, "k=1: mean coverage without history, %%");
    for (size_t s = 0; s < forecast_table_sources(result->groups); s++)
        if (counts(result, s, FORECAST_K_MAX)) {
            sources += 1.0;
            good += forecast_table_score(result->groups, s, FORECAST_K_MAX, FORECAST_METHOD_OURS)
                        .coverage >= CLASS_COVERAGE;
        }
    add(list, sources > 0.0 ? sources - good : NAN, 0.0, 2.0,
        "k=3: sources of %.0f whose coverage without history is below 85 %%", sources);
}

/* Of our matrices, over the sources with `least` groups; the mean of all k that have any. */
static double matrix_coverage(const struct forecast_result *result, size_t least) {
    double sum = 0.0, count = 0.0;

    for (size_t k = 1; k <= FORECAST_K_MAX; k++) {
        struct forecast_summary ours = forecast_table_summary(result->matrices, result->groups, k,
                                                              FORECAST_METHOD_OURS, least);
        if (ours.sources == 0)
            continue;
        sum += ours.coverage;
        count += 1.0;
    }
    return sum / count;
}

static void judge_matrices(const struct forecast_result *result, struct list *list) {
    add(list, 100.0 * matrix_coverage(result, result->least), 85.0, 95.0,
        "matrices: mean coverage over k and sources with %zu groups, %%", result->least);
    for (size_t k = 1; k <= FORECAST_K_MAX && !result->class_only; k++) {
        struct forecast_summary ours = forecast_table_summary(result->matrices, result->groups, k,
                                                              FORECAST_METHOD_OURS, result->least);
        struct forecast_summary plain = forecast_table_summary(
            result->matrices, result->groups, k, 1 + FORECAST_MATRIX_PLAIN_SUM, result->least);
        add(list, ours.width / plain.width, 0.0, 1.0,
            "matrices, k=%zu: width to that of the plain sum, %zu sources", k, ours.sources);
    }
    add(list, (double)result->missing_matrices, 0.0, 0.0, "matrices without a forecast");
}

size_t forecast_verdicts(const struct forecast_result *result,
                         struct forecast_verdict ret_verdicts[FORECAST_VERDICTS_MAX]) {
    struct list list = {.verdicts = ret_verdicts};

    if (!result->has_ours)
        return 0;
    if (result->class_only)
        judge_class(result, &list);
    else
        judge_halves(result, &list);
    add(&list, (double)result->missing, 0.0, 0.0, "groups without a forecast");
    if (result->has_matrices)
        judge_matrices(result, &list);
    return list.count;
}
