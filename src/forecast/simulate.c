/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Futures of parts and of their sums (simulate.h), from the model of predict-parts.h. Must not let
 * one part's draws depend on another's, and must not make a number of a part that is open.
 */
#include "forecast/simulate.h"

#include "base/mem.h"
#include "forecast/predict-parts.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#define LARGEST_LOG   600.0 /* e^600 s is no duration; sums and differences of such stay finite */
#define LARGEST_COUNT 1e15  /* failures: beyond, a double does not count */
#define LARGEST_DRAWN 1e7   /* events: beyond, their number varies by less than a thousandth */
#define REPEATS_DRAWN 100   /* of one run, one after the other; the rest by their mean */
#define LEAST_CHANCE  1e-12

/* ---- streams ---- */

static uint64_t mix(uint64_t x) { /* the finalizer of splitmix64: every bit moves every other */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t hash_text(uint64_t hash,
                          const char *text) { /* FNV-1a over the bytes and their end */
    for (const char *at = text ? text : "";; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
        if (!*at)
            return hash;
    }
}

static gsl_rng *stream_new(uint64_t seed, const char *shared, const char *own) {
    uint64_t hash = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    hash = hash_text(hash, shared);
    if (own)
        hash = hash_text(mix(hash), own);
    return predict_random_new(mix(hash));
}

/* ---- values and sums ---- */

struct futures simulate_value(double value) {
    return (struct futures){.kind = FUTURES_VALUE, .value = value};
}

struct futures simulate_fixed(double value) {
    return (struct futures){.kind = FUTURES_VALUE, .value = value, .is_fixed = true};
}

static bool has_no_interval(const struct futures *part) {
    return part->kind == FUTURES_VALUE ? part->value != 0.0 && !part->is_fixed
                                       : part->kind == FUTURES_DRAWN && part->no_interval;
}

void simulate_settle(struct futures *sum) {
    if (sum->kind != FUTURES_DRAWN)
        return;
    AUTO_FREE double *sorted = mem_alloc(sum->count * sizeof *sorted);
    memcpy(sorted, sum->draws, sum->count * sizeof *sorted);
    predict_sort(sorted, sum->count);
    sum->p05 = predict_quantile(sorted, sum->count, 0.05);
    sum->value = predict_quantile(sorted, sum->count, 0.50);
    sum->p95 = predict_quantile(sorted, sum->count, 0.95);
    if (sum->value > 0.0 && !(sum->p95 <= PREDICT_WIDEST_RATIO * sum->value))
        sum->no_interval = sum->too_wide = true;
}

static struct futures drawn(size_t draws, struct arena *arena) {
    return (struct futures){
        .kind = FUTURES_DRAWN, .draws = arena_alloc(arena, draws * sizeof(double)), .count = draws};
}

void simulate_add(struct futures *sum, const struct futures *part, struct arena *arena) {
    if (part->kind == FUTURES_OPEN)
        return;
    bool without = has_no_interval(sum) || has_no_interval(part);
    if (sum->kind == FUTURES_OPEN)
        *sum = simulate_fixed(0.0);
    if (part->kind == FUTURES_VALUE && sum->kind == FUTURES_VALUE) {
        sum->value += part->value;
        sum->is_fixed = !without;
        return;
    }
    if (sum->kind == FUTURES_VALUE) {
        double value = sum->value;
        *sum = drawn(part->count, arena);
        for (size_t i = 0; i < sum->count; i++)
            sum->draws[i] = value;
    }
    assert(part->kind == FUTURES_VALUE || part->count == sum->count);
    for (size_t i = 0; i < sum->count; i++)
        sum->draws[i] += part->kind == FUTURES_VALUE ? part->value : part->draws[i];
    sum->no_interval = without;
    sum->too_wide |= part->too_wide;
}

struct futures simulate_scale(struct futures part, double factor, struct arena *arena) {
    assert(isfinite(factor) && factor >= 0.0);
    if (part.kind == FUTURES_OPEN)
        return part;
    if (part.kind == FUTURES_VALUE || factor == 0.0) {
        struct futures value = simulate_value(part.value * factor);
        value.is_fixed = part.is_fixed;
        return value;
    }
    struct futures scaled = part;
    scaled.draws = arena_alloc(arena, part.count * sizeof *scaled.draws);
    for (size_t i = 0; i < part.count; i++)
        scaled.draws[i] = part.draws[i] * factor;
    scaled.value *= factor;
    scaled.p05 *= factor;
    scaled.p95 *= factor;
    return scaled;
}

static double future_at(const struct futures *futures, size_t i) {
    return futures->kind == FUTURES_DRAWN ? futures->draws[i] : futures->value;
}

struct futures simulate_surplus(const struct futures *base, const struct futures *factor,
                                struct arena *arena) {
    if (base->kind == FUTURES_OPEN || factor->kind == FUTURES_OPEN)
        return (struct futures){.kind = FUTURES_OPEN};
    if (base->kind == FUTURES_VALUE && factor->kind == FUTURES_VALUE) {
        struct futures value = simulate_value(base->value * fmax(0.0, factor->value - 1.0));
        value.is_fixed = base->is_fixed && factor->is_fixed;
        return value;
    }
    assert(base->kind != factor->kind || base->count == factor->count);
    struct futures surplus =
        drawn(base->kind == FUTURES_DRAWN ? base->count : factor->count, arena);
    for (size_t i = 0; i < surplus.count; i++)
        surplus.draws[i] = future_at(base, i) * fmax(0.0, future_at(factor, i) - 1.0);
    surplus.no_interval = has_no_interval(base) || has_no_interval(factor);
    surplus.too_wide = base->too_wide || factor->too_wide;
    simulate_settle(&surplus);
    return surplus;
}

bool simulate_interval(const struct futures *futures, double *ret_p05, double *ret_p50,
                       double *ret_p95) {
    if (futures->kind != FUTURES_DRAWN || futures->no_interval)
        return false;
    *ret_p05 = futures->p05;
    *ret_p50 = futures->value;
    *ret_p95 = futures->p95;
    return true;
}

/* ---- runs ---- */

struct simulate_spread simulate_pool(const double *const *groups, const size_t *counts,
                                     size_t group_count) {
    struct simulate_spread pool = {0.0, 0.0};
    double squares = 0.0;

    for (size_t i = 0; i < group_count; i++) {
        if (counts[i] < 2 || !predict_is_positive(groups[i], counts[i]))
            continue;
        struct predict_fit fit = predict_fit(groups[i], counts[i]);
        squares += fit.freedom * fit.spread * fit.spread;
        pool.freedom += fit.freedom;
    }
    if (pool.freedom > 0.0)
        pool.variance = squares / pool.freedom;
    return pool;
}

struct futures simulate_runs(const double *values, size_t count, uint64_t repeats,
                             struct simulate_spread borrow, struct simulate_stream stream,
                             size_t draws, struct arena *arena, bool *ret_borrowed) {
    if (ret_borrowed)
        *ret_borrowed = false;
    if (repeats == 0)
        return simulate_value(0.0);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]) || values[i] < 0.0)
            return (struct futures){.kind = FUTURES_OPEN};
    if (count == 0)
        return (struct futures){.kind = FUTURES_OPEN};
    bool borrows = count == 1 && borrow.freedom > 0.0;
    if (!predict_is_positive(values, count) || (count == 1 && !borrows))
        return simulate_value((double)repeats * predict_median(values, count));

    struct predict_fit fit;
    if (borrows) {
        double mean = log(values[0]);
        double least = predict_least_spread(values, 1, mean);
        fit = (struct predict_fit){.mean = mean,
                                   .spread = fmax(sqrt(borrow.variance), least),
                                   .freedom = borrow.freedom,
                                   .count = 1.0};
    } else {
        fit = predict_fit(values, count);
    }
    struct futures futures = drawn(draws, arena);
    AUTO_FREE struct predict_future *shared = mem_alloc(draws * sizeof *shared);
    AUTO_FREE double *logs = mem_alloc(PREDICT_EXACT_REPEATS * sizeof *logs);
    gsl_rng *random = stream_new(stream.seed, stream.shared, NULL);
    for (size_t i = 0; i < draws; i++)
        shared[i] = predict_draw_future(random, &fit);
    gsl_rng_free(random);
    random = stream_new(stream.seed, stream.shared, stream.own);
    for (size_t i = 0; i < draws; i++)
        futures.draws[i] =
            exp(fmin(predict_draw_sum(random, shared[i], repeats, logs), LARGEST_LOG));
    gsl_rng_free(random);
    simulate_settle(&futures);
    if (ret_borrowed)
        *ret_borrowed = borrows;
    return futures;
}

/* ---- retries ---- */

static double draw_binomial(gsl_rng *random, double chance, double count) {
    if (count > LARGEST_DRAWN)
        return nearbyint(chance * count);
    return (double)gsl_ran_binomial(random, chance, (unsigned)count);
}

/* Failures on the way to `successes` runs. Attempt by attempt: of those that failed, how many fail
 * again; *ret_unfinished: runs that failed retry_max + 1 times. */
static double draw_limited(gsl_rng *random, double chance, double successes, int64_t retry_max,
                           double *ret_unfinished) {
    double failing = successes;
    double failures = 0.0;
    int64_t attempts = retry_max < INT64_MAX ? retry_max + 1 : retry_max;
    int64_t drawn_ones = attempts < REPEATS_DRAWN ? attempts : REPEATS_DRAWN;

    for (int64_t i = 0; i < drawn_ones && failing > 0.0; i++) {
        failing = draw_binomial(random, chance, failing);
        failures += failing;
    }
    if (attempts > drawn_ones && failing > 0.0) {
        double rest = (double)(attempts - drawn_ones);
        double again = exp(rest * log(chance)); /* chance^rest */
        failures += failing * chance * (1.0 - again) / fmax(1.0 - chance, LEAST_CHANCE);
        failing *= again;
    }
    *ret_unfinished = failing;
    return fmin(failures, LARGEST_COUNT);
}

/* Without a limit: negative binomial, drawn as a Poisson number with a gamma mean. */
static double draw_unlimited(gsl_rng *random, double chance, double successes) {
    double odds = chance / fmax(1.0 - chance, LEAST_CHANCE);
    double mean = gsl_ran_gamma(random, successes, odds);
    if (mean > LARGEST_DRAWN)
        return fmin(nearbyint(mean), LARGEST_COUNT);
    return (double)gsl_ran_poisson(random, mean);
}

/* What `failures` of them cost: each is one of the seen losses, whose shares hold for the future.
 */
static double draw_losses(gsl_rng *random, const double *lost, const double *shares, size_t count,
                          double failures) {
    double left = failures;
    double share_left = 1.0;
    double sum = 0.0;

    for (size_t i = 0; i < count && left > 0.0; i++) {
        double chance = share_left > 0.0 ? fmin(shares[i] / share_left, 1.0) : 1.0;
        double here = i + 1 < count ? draw_binomial(random, chance, left) : left;
        sum += here * lost[i];
        left -= here;
        share_left -= shares[i];
    }
    return sum;
}

/* Weights of the Bayesian bootstrap: exponentials, normalised. */
static void draw_shares(gsl_rng *random, size_t count, double *shares) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        shares[i] = gsl_ran_exponential(random, 1.0);
        sum += shares[i];
    }
    for (size_t i = 0; i < count; i++)
        shares[i] = sum > 0.0 ? shares[i] / sum : 1.0 / (double)count;
}

struct futures simulate_retries(uint64_t attempts, uint64_t failures, const double *lost,
                                size_t lost_count, uint64_t successes, int64_t retry_max,
                                struct simulate_stream stream, size_t draws, struct arena *arena,
                                double *ret_unfinished, double *ret_failures) {
    double without_end = 0.0;

    if (ret_unfinished)
        *ret_unfinished = 0.0;
    if (ret_failures)
        *ret_failures = 0.0;
    if (successes == 0)
        return simulate_value(0.0);
    if (attempts == 0 || failures > attempts || lost_count == 0)
        return (struct futures){.kind = FUTURES_OPEN};
    for (size_t i = 0; i < lost_count; i++)
        if (!isfinite(lost[i]) || lost[i] < 0.0)
            return (struct futures){.kind = FUTURES_OPEN};

    struct futures futures = drawn(draws, arena);
    AUTO_FREE double *shares = mem_alloc(lost_count * sizeof *shares);
    AUTO_FREE double *counts = mem_alloc(draws * sizeof *counts);
    gsl_rng *shared = stream_new(stream.seed, stream.shared, NULL);
    gsl_rng *random = stream_new(stream.seed, stream.shared, stream.own);
    for (size_t i = 0; i < draws; i++) {
        double unfinished = 0.0;
        double chance =
            gsl_ran_beta(shared, 0.5 + (double)failures, 0.5 + (double)(attempts - failures));
        chance = fmin(fmax(chance, LEAST_CHANCE), 1.0 - LEAST_CHANCE);
        draw_shares(shared, lost_count, shares);
        double count =
            retry_max < 0 ? draw_unlimited(random, chance, (double)successes)
                          : draw_limited(random, chance, (double)successes, retry_max, &unfinished);
        without_end += unfinished >= 0.5;
        counts[i] = count;
        futures.draws[i] = draw_losses(random, lost, shares, lost_count, count);
    }
    gsl_rng_free(shared);
    gsl_rng_free(random);
    simulate_settle(&futures);
    if (ret_unfinished)
        *ret_unfinished = without_end / (double)draws;
    predict_sort(counts, draws);
    if (ret_failures)
        *ret_failures = predict_quantile(counts, draws, 0.50);
    return futures;
}
