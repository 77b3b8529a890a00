/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Futures of parts and of their sums (simulate.h), from the model of predict-parts.h. Must not let
 * one part's draws depend on another's, and must not make a number of a part that is open.
 */
#include "forecast/simulate.h"

#include "base/mem.h"
#include "forecast/condition.h"
#include "forecast/quantiles.h"
#include "forecast/simulate-parts.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#define LARGEST_LOG 600.0 /* e^600 s is no duration; sums and differences of such stay finite */
/* Shares of the variance of a forecast's error (as a normal score): in the public records about a
 * tenth is common to a family whose history is known, a hundredth to a whole source; a study knows
 * less of its own. */
#define COMMON_FAMILY 0.2
#define COMMON_STUDY  0.05

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

gsl_rng *simulate_stream_new(uint64_t seed, const char *shared, const char *own) {
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
    AUTO_FREE double *copy = mem_alloc(sum->count * sizeof *copy);
    memcpy(copy, sum->draws, sum->count * sizeof *copy);
    struct quantiles quantiles;
    quantiles_find(copy, sum->count, &quantiles);
    sum->p05 = quantiles.p05.value;
    sum->value = quantiles.p50.value;
    sum->p95 = quantiles.p95.value;
    sum->error05 = quantiles.p05.error;
    sum->error50 = quantiles.p50.error;
    sum->error95 = quantiles.p95.error;
    if (sum->value > 0.0 && !(sum->p95 <= PREDICT_WIDEST_RATIO * sum->value))
        sum->no_interval = sum->too_wide = true;
}

struct futures simulate_drawn(size_t draws, struct arena *arena) {
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
        *sum = simulate_drawn(part->count, arena);
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
    scaled.error05 *= factor;
    scaled.error50 *= factor;
    scaled.error95 *= factor;
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
        simulate_drawn(base->kind == FUTURES_DRAWN ? base->count : factor->count, arena);
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
    struct futures futures = simulate_drawn(draws, arena);
    AUTO_FREE struct predict_future *shared = mem_alloc(draws * sizeof *shared);
    AUTO_FREE double *logs = mem_alloc(PREDICT_EXACT_REPEATS * sizeof *logs);
    gsl_rng *random = simulate_stream_new(stream.seed, stream.shared, NULL);
    for (size_t i = 0; i < draws; i++)
        shared[i] = predict_draw_future(random, &fit);
    gsl_rng_free(random);
    random = simulate_stream_new(stream.seed, stream.shared, stream.own);
    for (size_t i = 0; i < draws; i++)
        futures.draws[i] =
            exp(fmin(predict_draw_sum(random, shared[i], repeats, logs), LARGEST_LOG));
    gsl_rng_free(random);
    simulate_settle(&futures);
    if (ret_borrowed)
        *ret_borrowed = borrows;
    return futures;
}

/* Adds weight x a standard normal value per future, from the stream of that name. */
static void add_normal(double *sums, size_t draws, double weight, uint64_t seed, const char *shared,
                       const char *own) {
    if (!(weight > 0.0))
        return;
    gsl_rng *random = simulate_stream_new(seed, shared, own);
    for (size_t i = 0; i < draws; i++)
        sums[i] += weight * gsl_ran_gaussian_ziggurat(random, 1.0);
    gsl_rng_free(random);
}

struct common_family {
    const char *name;
    const double *z; /* the study's term and the family's, a value per future */
    const struct common_family *next;
};
struct simulate_common {
    struct arena *arena;
    uint64_t seed;
    size_t draws;
    const struct common_family *families;
};

struct simulate_common *simulate_common_new(uint64_t seed, size_t draws, struct arena *arena) {
    struct simulate_common *common = arena_alloc(arena, sizeof *common);
    *common = (struct simulate_common){.arena = arena, .seed = seed, .draws = draws};
    return common;
}

static void add_common(double *z, size_t draws, uint64_t seed, const char *family) {
    add_normal(z, draws, sqrt(COMMON_STUDY), seed, "common to the study", "");
    add_normal(z, draws, sqrt(COMMON_FAMILY), seed, "common to the family", family);
}

static const double *kept_common(struct simulate_common *common, const char *family) {
    for (const struct common_family *known = common->families; known; known = known->next)
        if (strcmp(known->name, family) == 0)
            return known->z;
    double *z = arena_alloc(common->arena, common->draws * sizeof *z);
    add_common(z, common->draws, common->seed, family);
    struct common_family *added = arena_alloc(common->arena, sizeof *added);
    *added = (struct common_family){.name = family, .z = z, .next = common->families};
    common->families = added;
    return z;
}

struct futures simulate_condition(const struct condition_forecast *forecast, const char *family,
                                  struct simulate_stream stream, size_t draws,
                                  struct arena *arena) {
    double alone = 1.0 - COMMON_STUDY - COMMON_FAMILY;
    struct futures futures = simulate_drawn(draws, arena);
    double *z = futures.draws;
    struct simulate_common *common = stream.common;

    if (common && common->seed == stream.seed && common->draws == draws)
        memcpy(z, kept_common(common, family), draws * sizeof *z);
    else
        add_common(z, draws, stream.seed, family);
    add_normal(z, draws, sqrt(alone * forecast->shared), stream.seed, stream.shared, NULL);
    add_normal(z, draws, sqrt(alone * (1.0 - forecast->shared)), stream.seed, stream.shared,
               stream.own ? stream.own : "");
    for (size_t i = 0; i < draws; i++)
        z[i] = exp(fmin(condition_quantile(forecast, gsl_cdf_ugaussian_P(z[i])), LARGEST_LOG));
    simulate_settle(&futures);
    return futures;
}
