/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The baselines, each as plain as its users know it. Pure: all numbers come from the groups handed
 * in; the draws of the lognormal have the product's seed.
 */
#include "forecast-baselines.h"

#include "base/mem.h"
#include "forecast/predict.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_psi.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UPPER           0.95
#define LOGNORMAL_DRAWS 4000
#define NONE            ((struct forecast_answer){NAN, NAN, NAN})

static const char *const names[] = {
    "t-interval", "lognormal", "pooled-empirical", "shrunk-source", "shrunk-family", "mean",
    "median",     "last",      "minimum",          "hindsight"};
_Static_assert(ARRAY_LENGTH(names) == FORECAST_BASELINE_COUNT_, "a name for each baseline");
static const char *const matrix_names[] = {"plain-sum", "quadrature"};
_Static_assert(ARRAY_LENGTH(matrix_names) == FORECAST_MATRIX_BASELINE_COUNT_, "a name for each");

/* What one group of the history says of the spread. */
struct group_spread {
    const char *family;
    double variance; /* of the logs of its ok runs */
    double freedom;
};

struct forecast_history {
    /* Quantiles of actual / forecast at k - 1; NAN: too few groups. */
    double ratio_low[FORECAST_K_MAX], ratio_high[FORECAST_K_MAX];
    struct group_spread *groups; /* those with two ok runs */
    size_t group_count;
};

/* ---- names ---- */

const char *forecast_baseline_name(enum forecast_baseline baseline) {
    return names[baseline];
}

bool forecast_baseline_from_name(const char *name, enum forecast_baseline *ret_baseline) {
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *ret_baseline = (enum forecast_baseline)i;
            return true;
        }
    return false;
}

const char *forecast_matrix_baseline_name(enum forecast_matrix_baseline baseline) {
    return matrix_names[baseline];
}

bool forecast_matrix_baseline_from_name(const char *name,
                                        enum forecast_matrix_baseline *ret_baseline) {
    for (size_t i = 0; i < ARRAY_LENGTH(matrix_names); i++)
        if (strcmp(name, matrix_names[i]) == 0) {
            *ret_baseline = (enum forecast_matrix_baseline)i;
            return true;
        }
    return false;
}

/* ---- what groups show ---- */

static double mean_of_logs(const double *seconds, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += log(seconds[i]);
    return sum / (double)count;
}

/* Sum of squared deviations of the logs from their mean, never below what rounding to the clock's
 * step makes of equal times. */
static double squares_of_logs(const double *seconds, size_t count) {
    double mean = mean_of_logs(seconds, count);
    double step = predict_resolution_s(seconds, count) / exp(mean);
    double squares = 0.0;

    for (size_t i = 0; i < count; i++)
        squares += (log(seconds[i]) - mean) * (log(seconds[i]) - mean);
    return fmax(squares, (double)(count - 1) * step * step / 12.0);
}

static double point(const struct forecast_group *group, size_t k) {
    return gsl_stats_mean(group->ok_seconds, 1, k) * (double)forecast_group_later_count(group, k);
}

static void learn_ratios(struct forecast_history *history, const struct forecast_source *source,
                         size_t k) {
    size_t count = 0;
    AUTO_FREE double *ratios = mem_alloc((source->group_count + 1) * sizeof *ratios);

    for (size_t g = 0; g < source->group_count; g++) {
        const struct forecast_group *group = &source->groups[g];
        if (forecast_group_is_scored(group, k))
            ratios[count++] = forecast_group_later_sum(group, k) / point(group, k);
    }
    if (count < FORECAST_POOLED_LEAST)
        return;
    gsl_sort(ratios, 1, count);
    history->ratio_low[k - 1] = gsl_stats_quantile_from_sorted_data(ratios, 1, count, 1.0 - UPPER);
    history->ratio_high[k - 1] = gsl_stats_quantile_from_sorted_data(ratios, 1, count, UPPER);
}

static void learn_groups(struct forecast_history *history, const struct forecast_source *source) {
    history->groups = mem_alloc((source->group_count + 1) * sizeof *history->groups);
    for (size_t g = 0; g < source->group_count; g++) {
        const struct forecast_group *group = &source->groups[g];
        size_t count = group->ok_count;
        if (count < 2)
            continue;
        history->groups[history->group_count++] = (struct group_spread){
            group->family, squares_of_logs(group->ok_seconds, count) / (double)(count - 1),
            (double)(count - 1)};
    }
}

struct forecast_history *forecast_history_new(const struct forecast_source *source) {
    struct forecast_history *history = mem_alloc(sizeof *history);

    for (size_t k = 1; k <= FORECAST_K_MAX; k++)
        history->ratio_low[k - 1] = history->ratio_high[k - 1] = NAN;
    if (source == NULL)
        return history;
    for (size_t k = 1; k <= FORECAST_K_MAX; k++)
        learn_ratios(history, source, k);
    learn_groups(history, source);
    return history;
}

struct forecast_history *forecast_history_free(struct forecast_history *history) {
    if (history != NULL)
        mem_free_ptr(&history->groups);
    mem_free_ptr(&history);
    return NULL;
}

/* Median variance of the groups of the family (NULL: of all); NAN: too few. */
static double median_variance(const struct forecast_history *history, const char *family) {
    AUTO_FREE double *variances = mem_alloc((history->group_count + 1) * sizeof *variances);
    size_t count = 0;

    for (size_t i = 0; i < history->group_count; i++)
        if (family == NULL || strcmp(history->groups[i].family, family) == 0)
            variances[count++] = history->groups[i].variance;
    return count < FORECAST_SHRUNK_LEAST ? NAN : gsl_stats_median(variances, 1, count);
}

struct prior {
    double variance; /* NaN: too few groups */
    double freedom;  /* infinite: the groups differ no more than by chance */
};

/* The x whose trigamma is y, by Newton on 1 / trigamma, which is nearly straight (Smyth 2004). */
static double trigamma_inverse(double y) {
    double x = 0.5 + 1.0 / y;
    for (int i = 0; i < 50; i++) {
        double at = gsl_sf_psi_1(x);
        double step = at * (1.0 - at / y) / gsl_sf_psi_n(2, x);
        x += step;
        if (fabs(step) < 1e-10 * x)
            break;
    }
    return x;
}

/* Of the groups of the family (NULL: of all), by mean and variance of the logarithms of their
 * variances. */
static struct prior fit_prior(const struct forecast_history *history, const char *family) {
    AUTO_FREE double *logs = mem_alloc((history->group_count + 1) * sizeof *logs);
    double by_chance = 0.0;
    size_t count = 0;

    for (size_t i = 0; i < history->group_count; i++) {
        const struct group_spread *group = &history->groups[i];
        double half = 0.5 * group->freedom;
        if (family != NULL && strcmp(group->family, family) != 0)
            continue;
        logs[count++] = log(group->variance) - gsl_sf_psi(half) + log(half);
        by_chance += gsl_sf_psi_1(half);
    }
    if (count < FORECAST_SHRUNK_LEAST)
        return (struct prior){NAN, NAN};
    double mean = gsl_stats_mean(logs, 1, count);
    double beyond = gsl_stats_variance(logs, 1, count) - by_chance / (double)count;
    if (!(beyond > 0.0))
        return (struct prior){exp(mean), INFINITY};
    double half = trigamma_inverse(beyond);
    return (struct prior){exp(mean + gsl_sf_psi(half) - log(half)), 2.0 * half};
}

static struct prior family_prior(const struct forecast_history *history, const char *family) {
    struct prior prior = fit_prior(history, family);
    return isnan(prior.variance) ? fit_prior(history, NULL) : prior;
}

static struct prior hindsight(const struct forecast_history *history, const char *family) {
    double variance = median_variance(history, family);
    return (struct prior){isnan(variance) ? median_variance(history, NULL) : variance,
                          FORECAST_SHRINKAGE_FREEDOM};
}

/* ---- the baselines ---- */

static struct forecast_answer t_interval(const struct forecast_group *group, size_t k) {
    double m = (double)forecast_group_later_count(group, k);
    if (k < 2)
        return NONE;
    double pred = point(group, k);
    double sd = gsl_stats_sd(group->ok_seconds, 1, k);
    double half = gsl_cdf_tdist_Pinv(UPPER, (double)(k - 1)) * sd * sqrt(m + m * m / (double)k);
    return (struct forecast_answer){pred, fmax(pred - half, 0.0), pred + half};
}

static struct forecast_answer lognormal(const struct forecast_group *group, size_t k) {
    struct predict_total total;
    if (k < 2)
        return NONE;
    int rc = predict_total(group->ok_seconds, k, forecast_group_later_count(group, k), PREDICT_SEED,
                           LOGNORMAL_DRAWS, &total);
    if (rc == -ERANGE) /* the product's rule: a median, too few runs for an interval */
        return (struct forecast_answer){total.p50, NAN, NAN};
    return rc == 0 ? (struct forecast_answer){total.p50, total.p05, total.p95} : NONE;
}

static struct forecast_answer pooled(const struct forecast_history *history,
                                     const struct forecast_group *group, size_t k) {
    double pred = point(group, k);
    if (isnan(history->ratio_low[k - 1]))
        return NONE;
    return (struct forecast_answer){pred, pred * history->ratio_low[k - 1],
                                    pred * history->ratio_high[k - 1]};
}

static struct forecast_answer shrunk(struct prior prior, const struct forecast_group *group,
                                     size_t k) {
    double m = (double)forecast_group_later_count(group, k);
    if (isnan(prior.variance))
        return NONE;
    double freedom = prior.freedom + (double)(k - 1);
    double own = k > 1 ? squares_of_logs(group->ok_seconds, k) : 0.0;
    bool is_known = isinf(freedom);
    double variance = is_known ? prior.variance : (prior.freedom * prior.variance + own) / freedom;
    double factor = is_known ? gsl_cdf_ugaussian_Pinv(UPPER) : gsl_cdf_tdist_Pinv(UPPER, freedom);
    double half = factor * sqrt(variance * (1.0 / (double)k + 1.0 / m));
    double pred = m * exp(mean_of_logs(group->ok_seconds, k));
    if (!isfinite(pred * exp(half))) /* a prior of less than one degree of freedom */
        return (struct forecast_answer){pred, NAN, NAN};
    return (struct forecast_answer){pred, pred * exp(-half), pred * exp(half)};
}

static struct forecast_answer naive(double one_run, const struct forecast_group *group, size_t k) {
    return (struct forecast_answer){one_run * (double)forecast_group_later_count(group, k), NAN,
                                    NAN};
}

struct forecast_answer forecast_baseline_answer(enum forecast_baseline baseline,
                                                const struct forecast_history *history,
                                                const struct forecast_group *group, size_t k) {
    switch (baseline) {
    case FORECAST_BASELINE_T:
        return t_interval(group, k);
    case FORECAST_BASELINE_LOGNORMAL:
        return lognormal(group, k);
    case FORECAST_BASELINE_POOLED:
        return pooled(history, group, k);
    case FORECAST_BASELINE_SHRUNK_SOURCE:
        return shrunk(fit_prior(history, NULL), group, k);
    case FORECAST_BASELINE_SHRUNK_FAMILY:
        return shrunk(family_prior(history, group->family), group, k);
    case FORECAST_BASELINE_MEAN:
        return naive(gsl_stats_mean(group->ok_seconds, 1, k), group, k);
    case FORECAST_BASELINE_MEDIAN:
        return naive(predict_median(group->ok_seconds, k), group, k);
    case FORECAST_BASELINE_LAST:
        return naive(group->ok_seconds[k - 1], group, k);
    case FORECAST_BASELINE_MINIMUM:
        return naive(gsl_stats_min(group->ok_seconds, 1, k), group, k);
    case FORECAST_BASELINE_HINDSIGHT:
        return shrunk(hindsight(history, group->family), group, k);
    case FORECAST_BASELINE_COUNT_:
        break;
    }
    return NONE;
}

struct forecast_answer forecast_matrix_baseline_answer(enum forecast_matrix_baseline baseline,
                                                       const struct forecast_history *history,
                                                       const struct forecast_matrix *matrix) {
    struct forecast_answer sum = {0.0, 0.0, 0.0};
    double middle = 0.0, squares = 0.0;

    for (size_t i = 0; i < matrix->count; i++) {
        struct forecast_answer one = pooled(history, matrix->groups[i], matrix->k);
        double half = (one.hi - one.lo) / 2.0;
        sum.pred += one.pred;
        sum.lo += one.lo;
        sum.hi += one.hi;
        middle += (one.lo + one.hi) / 2.0;
        squares += half * half;
    }
    if (isnan(sum.pred))
        return NONE;
    if (baseline == FORECAST_MATRIX_QUADRATURE) {
        sum.lo = fmax(middle - sqrt(squares), 0.0);
        sum.hi = middle + sqrt(squares);
    }
    return sum;
}
