/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The predictive distribution under estimate --repeat. The logarithms of the durations are taken as
 * normal with unknown mean and variance under the reference prior (density proportional to
 * 1/variance), for which the interval of one further value has exactly its nominal coverage. It
 * must not look at clocks, files or any state but its arguments.
 */
#include "forecast/predict.h"

#include "base/mem.h"
#include "forecast/predict-parts.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_erf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_SPREAD \
    0.5 /* of the logarithm: up to here a sum of hundreds is lognormal to a thousandth */
#define OUTLIER_LEAST_VALUES 5u
#define OUTLIER_SCORE        3.5
#define LONGEST_DRAWN        40u
#define FINEST_STEP          0.001 /* s; a finer clock shows no step among some readings */
#define LARGEST_SPREAD       1e4   /* e^10000 is no duration; keeps the arithmetic finite */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double predict_resolution_s(const double *values, size_t count) {
    static const double steps[] = {1.0, 0.1, 0.01};

    for (size_t s = 0; s < ARRAY_LENGTH(steps); s++) {
        size_t whole = 0;
        for (size_t i = 0; i < count; i++) {
            double ratio = values[i] / steps[s];
            whole += fabs(ratio - nearbyint(ratio)) < 1e-6 && ratio > 0.5;
        }
        if (count > 0 && whole == count)
            return steps[s];
    }
    return FINEST_STEP;
}

bool predict_is_positive(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]) || values[i] <= 0.0)
            return false;
    return true;
}

double predict_least_spread(const double *values, size_t count, double log_mean) {
    double step = predict_resolution_s(values, count);
    double shortest = values[0];

    for (size_t i = 1; i < count; i++)
        shortest = fmin(shortest, values[i]);
    /* Whoever reads a time that short reads finer: a whole millisecond beside it would be a spread
     * of thousands, and the sum of three runs of ten microseconds an eternity. */
    if (step <= FINEST_STEP)
        step = fmin(step, shortest / 2.0);
    return step / exp(log_mean);
}

struct predict_fit predict_fit(const double *values, size_t count) {
    double mean = 0.0;
    double squares = 0.0;

    for (size_t i = 0; i < count; i++)
        mean += log(values[i]) / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (log(values[i]) - mean) * (log(values[i]) - mean);
    double spread = sqrt(squares / (double)(count - 1));
    double least = predict_least_spread(values, count, mean);
    return (struct predict_fit){.mean = mean,
                                .spread = spread > least ? spread : least,
                                .freedom = (double)(count - 1),
                                .count = (double)count};
}

gsl_rng *predict_random_new(uint64_t seed) {
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, (uint32_t)(seed ^ (seed >> 32))); /* the generator takes 32 bits */
    return random;
}

struct predict_future predict_draw_future(gsl_rng *random, const struct predict_fit *fit) {
    struct predict_future future;
    future.spread = fmin(fit->spread * sqrt(fit->freedom / gsl_ran_chisq(random, fit->freedom)),
                         LARGEST_SPREAD);
    future.mean =
        fit->mean + future.spread / sqrt(fit->count) * gsl_ran_gaussian_ziggurat(random, 1.0);
    return future;
}

/* Logarithm of the sum of `repeats` lognormal durations, drawn one by one; scaled by the largest so
 * that none overflows. */
static double draw_each(gsl_rng *random, struct predict_future future, size_t repeats,
                        double *logs) {
    double largest = -HUGE_VAL;
    double sum = 0.0;

    for (size_t i = 0; i < repeats; i++) {
        logs[i] = future.spread * gsl_ran_gaussian_ziggurat(random, 1.0);
        largest = logs[i] > largest ? logs[i] : largest;
    }
    for (size_t i = 0; i < repeats; i++)
        sum += exp(logs[i] - largest);
    return future.mean + largest + log(sum);
}

/* Logarithm of the normal distribution function; exact where the function itself underflows. */
static double log_normal_below(double z) {
    return gsl_sf_log_erfc(-z / M_SQRT2) - M_LN2;
}

/* One lognormal variable with the mean and the second moment of a sum of `count` independent terms
 * (Fenton, IRE Trans. Commun. Syst. 8, 1960), from the logarithms of the moments of a term: these
 * themselves overflow. */
static double draw_by_moments(gsl_rng *random, double log_mean, double log_square, double count) {
    double log_ratio =
        log_square - 2.0 * log_mean; /* of the second moment to the squared mean: >= 0 */
    double log_excess = log_ratio > 30.0 ? log_ratio : log(expm1(fmax(log_ratio, 0.0)));
    double x = log_excess - log(count);
    double variance = x > 30.0 ? x : log1p(exp(x));
    return log(count) + log_mean - 0.5 * variance +
           sqrt(variance) * gsl_ran_gaussian_ziggurat(random, 1.0);
}

/* The sum of many runs at once. With a small spread their moments decide. With a large one the
 * longest of them do: these are drawn as order statistics (from the longest down), the others as
 * one sum by their moments below the last one drawn. */
static double draw_many(gsl_rng *random, struct predict_future future, uint64_t repeats,
                        double *logs) {
    double spread = future.spread;
    double variance = spread * spread;

    if (spread <= SMALL_SPREAD)
        return future.mean +
               draw_by_moments(random, 0.5 * variance, 2.0 * variance, (double)repeats);

    double log_rank = 0.0; /* of the uniform order statistic */
    double z = 0.0;
    for (size_t i = 0; i < LONGEST_DRAWN; i++) {
        log_rank += log(gsl_rng_uniform_pos(random)) / (double)(repeats - i);
        z = gsl_cdf_ugaussian_Qinv(-expm1(log_rank));
        logs[i] = spread * z;
    }
    double below = log_normal_below(z);
    double log_mean = 0.5 * variance + log_normal_below(z - spread) - below;
    double log_square = 2.0 * variance + log_normal_below(z - 2.0 * spread) - below;
    double rest = draw_by_moments(random, log_mean, log_square, (double)(repeats - LONGEST_DRAWN));
    double largest = fmax(rest, logs[0]);
    double sum = exp(rest - largest);
    for (size_t i = 0; i < LONGEST_DRAWN; i++)
        sum += exp(logs[i] - largest);
    return future.mean + largest + log(sum);
}

double predict_draw_sum(gsl_rng *random, struct predict_future future, uint64_t repeats,
                        double *logs) {
    return repeats <= PREDICT_EXACT_REPEATS ? draw_each(random, future, (size_t)repeats, logs)
                                            : draw_many(random, future, repeats, logs);
}

void predict_sort(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
}

double predict_quantile(const double *sorted, size_t count, double p) {
    double at = p * (double)(count - 1);
    size_t low = (size_t)at;
    if (low + 1 >= count)
        return sorted[count - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

double predict_select(double *values, size_t count, double p) {
    double at = p * (double)(count - 1);
    size_t low = (size_t)at;
    double below = gsl_stats_select(values, 1, count, low);
    if (low + 1 >= count)
        return below;
    double above = values[low + 1]; /* behind the selected one stand those above it */
    for (size_t i = low + 2; i < count; i++)
        above = values[i] < above ? values[i] : above;
    return below + (at - (double)low) * (above - below);
}

int predict_total(const double *values, size_t count, uint64_t repeats, uint64_t seed, size_t draws,
                  struct predict_total *ret) {
    *ret = (struct predict_total){NAN, NAN, NAN};
    if (count < 2 || repeats < 1 || draws < 100 || !predict_is_positive(values, count))
        return -EINVAL;
    struct predict_fit fit = predict_fit(values, count);

    AUTO_FREE double *totals = mem_alloc(draws * sizeof *totals);
    AUTO_FREE struct predict_future *futures = mem_alloc(draws * sizeof *futures);
    AUTO_FREE double *logs = mem_alloc(PREDICT_EXACT_REPEATS * sizeof *logs);
    gsl_rng *random = predict_random_new(seed);

    /* All futures first: they are the same however many runs are asked for. */
    for (size_t i = 0; i < draws; i++)
        futures[i] = predict_draw_future(random, &fit);
    for (size_t i = 0; i < draws; i++)
        totals[i] = predict_draw_sum(random, futures[i], repeats, logs);
    gsl_rng_free(random);

    predict_sort(totals, draws);
    double p50 = predict_quantile(totals, draws, 0.50);
    double p95 = predict_quantile(totals, draws, 0.95);
    ret->p50 = exp(p50);
    if (!(p95 - p50 <= log(PREDICT_WIDEST_RATIO)) || !isfinite(exp(p95)))
        return -ERANGE;
    ret->p05 = exp(predict_quantile(totals, draws, 0.05));
    ret->p95 = exp(p95);
    return 0;
}

void predict_mark_outliers(const double *values, size_t count, bool *ret_outlier) {
    for (size_t i = 0; i < count; i++)
        ret_outlier[i] = false;
    if (count < OUTLIER_LEAST_VALUES || !predict_is_positive(values, count))
        return;
    AUTO_FREE double *sorted = mem_alloc(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = log(values[i]);
    predict_sort(sorted, count);
    double middle = predict_quantile(sorted, count, 0.5);
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(log(values[i]) - middle);
    predict_sort(sorted, count);
    double spread =
        fmax(predict_quantile(sorted, count, 0.5), predict_least_spread(values, count, middle));
    for (size_t i = 0; i < count; i++)
        ret_outlier[i] = 0.6745 * fabs(log(values[i]) - middle) / spread > OUTLIER_SCORE;
}

double predict_median(const double *values, size_t count) {
    AUTO_FREE double *sorted = mem_alloc(count * sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    predict_sort(sorted, count);
    return predict_quantile(sorted, count, 0.5);
}
