/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expected narrowing by preposterior simulation (preposterior.h). All forecasts of one ranking draw
 * from the same streams, so that two of them differ by what was observed and not by chance. Must
 * not look into the model: it is asked through its hooks.
 */
#include "forecast/preposterior.h"

#include "base/mem.h"
#include "forecast/predict-parts.h"

#include <math.h>
#include <string.h>

#define GRID 9u /* common spreads that the borrowing parts are forecast with */
#define SETTLED \
    60.0 /* degrees of freedom: one more changes what is borrowed by under a hundredth */
#define PROBE     1.01 /* an outcome near what was seen: enough to ask whether a spread results */
#define FEW_DRAWS 100u /* likewise */

/* What the total is made of today. */
struct ranking {
    const struct preposterior_part *parts;
    size_t count;
    const struct preposterior_model *model;
    struct simulate_spread pool;
    uint64_t seed;
    size_t futures, outcomes;
    struct arena *arena;
    struct futures *now; /* of each part; open: nothing known or nothing left */
    bool *borrows;       /* of each part, today */
    double *all;         /* the total, a value per future */
    size_t lacking;      /* parts with a value without a spread */
    double log_width, reserve;
    /* The parts that borrow, forecast with GRID spreads instead of today's. */
    size_t borrowing;
    double grid_low, grid_step; /* logarithm of the standard deviation */
    double **grid;              /* of each part: GRID x futures; NULL: it does not borrow */
    double *grid_all;           /* all of them together */
    double *kept;               /* the total without those that borrow */
};

/* ---- the usual model ---- */

static struct futures usual_predict(const void *context, const struct preposterior_part *part,
                                    const double *values, size_t count, uint64_t repeats,
                                    struct simulate_spread borrow, struct simulate_stream stream,
                                    size_t draws, struct arena *arena, bool *ret_borrowed) {
    (void)context;
    (void)part;
    return simulate_runs(values, count, repeats, borrow, stream, draws, arena, ret_borrowed);
}

/* Squares add up, and so do degrees of freedom: the part as it is now comes out, the part with the
 * value goes in. */
static struct simulate_spread usual_pool_with(const void *context, struct simulate_spread pool,
                                              const struct preposterior_part *part, double value) {
    const double *values = part->values;
    size_t count = part->count;
    (void)context;
    AUTO_FREE double *more = mem_alloc((count + 1) * sizeof *more);
    if (count > 0)
        memcpy(more, values, count * sizeof *more);
    more[count] = value;
    const double *const before[] = {values};
    const double *const after[] = {more};
    const size_t counts[] = {count, count + 1};
    struct simulate_spread out = simulate_pool(before, &counts[0], 1);
    struct simulate_spread in = simulate_pool(after, &counts[1], 1);
    double freedom = pool.freedom - out.freedom + in.freedom;
    double squares =
        pool.freedom * pool.variance - out.freedom * out.variance + in.freedom * in.variance;
    if (!(freedom > 0.0))
        return (struct simulate_spread){0.0, 0.0};
    return (struct simulate_spread){.variance = fmax(squares, 0.0) / freedom, .freedom = freedom};
}

const struct preposterior_model preposterior_usual_model = {.predict = usual_predict,
                                                            .pool_with = usual_pool_with};

/* ---- forecasts ---- */

static struct futures predict(const struct ranking *r, size_t part, const double *values,
                              size_t count, uint64_t repeats, struct simulate_spread pool,
                              size_t draws, struct arena *arena, bool *ret_borrowed) {
    const struct preposterior_part *p = &r->parts[part];
    const struct simulate_stream stream = {
        .seed = r->seed, .shared = p->name, .own = repeats == 1 ? NULL : "left"};
    const struct simulate_spread none = {0.0, 0.0};
    return r->model->predict(r->model->context, p, values, count, repeats,
                             p->may_borrow ? pool : none, stream, draws, arena, ret_borrowed);
}

static struct simulate_spread pool_with(const struct ranking *r, size_t part, double value) {
    const struct preposterior_part *p = &r->parts[part];
    return p->may_borrow && r->model->pool_with
               ? r->model->pool_with(r->model->context, r->pool, p, value)
               : r->pool;
}

/* A value, and no spread: an interval cannot be made with it. */
static bool lacks_interval(const struct futures *futures) {
    return futures->kind == FUTURES_VALUE && futures->value != 0.0 && !futures->is_fixed;
}

static void add(double *sum, const struct futures *part, size_t futures, double factor) {
    for (size_t f = 0; f < futures && part->kind != FUTURES_OPEN; f++)
        sum[f] += factor * (part->kind == FUTURES_DRAWN ? part->draws[f] : part->value);
}

struct width {
    double p05, p50, p95;
};

static struct width width_of(const double *total, size_t count, double *scratch) {
    memcpy(scratch, total, count * sizeof *scratch);
    return (struct width){.p05 = predict_select(scratch, count, 0.05),
                          .p50 = predict_select(scratch, count, 0.50),
                          .p95 = predict_select(scratch, count, 0.95)};
}

/* A total of nothing is certain. */
static double log_width(struct width width) {
    return width.p05 > 0.0 && width.p95 > width.p05 ? log(width.p95 / width.p05) : 0.0;
}

/* ---- today ---- */

static void forecast_today(struct ranking *r, struct preposterior_total *total) {
    bool any = false;
    bool drawn = false;
    double value = 0.0;

    *total = (struct preposterior_total){.is_nothing = true, .p05 = NAN, .p50 = NAN, .p95 = NAN};
    r->now = arena_alloc(r->arena, (r->count + 1) * sizeof *r->now);
    r->borrows = arena_alloc(r->arena, (r->count + 1) * sizeof *r->borrows);
    r->all = arena_alloc(r->arena, r->futures * sizeof *r->all);
    for (size_t i = 0; i < r->count; i++) {
        const struct preposterior_part *p = &r->parts[i];
        if (p->remaining == 0)
            continue;
        total->is_nothing = false;
        if (p->count > 0)
            r->now[i] = predict(r, i, p->values, p->count, p->remaining, r->pool, r->futures,
                                r->arena, &r->borrows[i]);
        total->unknown += r->now[i].kind == FUTURES_OPEN;
        any |= r->now[i].kind != FUTURES_OPEN;
        drawn |= r->now[i].kind == FUTURES_DRAWN;
        r->lacking += lacks_interval(&r->now[i]);
        r->borrowing += r->borrows[i];
        value += r->now[i].kind == FUTURES_VALUE ? r->now[i].value : 0.0;
        add(r->all, &r->now[i], r->futures, 1.0);
    }
    if (!any)
        return;
    if (!drawn) {
        total->p50 = value;
        return;
    }
    AUTO_FREE double *scratch = mem_alloc(r->futures * sizeof *scratch);
    struct width width = width_of(r->all, r->futures, scratch);
    total->p50 = width.p50;
    r->log_width = log_width(width);
    r->reserve = width.p95 - width.p50;
    total->has_interval = r->lacking == 0;
    if (!total->has_interval)
        return;
    total->p05 = width.p05;
    total->p95 = width.p95;
    total->too_wide = width.p95 > PREDICT_WIDEST_RATIO * width.p50;
}

/* The part's own share of the uncertainty, by squared widths: what is not shared adds up so. */
static void find_shares(const struct ranking *r, struct preposterior_trial *trials) {
    double sum = 0.0;
    for (size_t i = 0; i < r->count; i++) {
        double width = r->now[i].kind == FUTURES_DRAWN ? r->now[i].p95 - r->now[i].p05 : 0.0;
        trials[i].share = width * width;
        sum += width * width;
    }
    for (size_t i = 0; i < r->count; i++)
        trials[i].share = sum > 0.0 && r->lacking == 0 ? trials[i].share / sum : NAN;
}

/* ---- what one more value changes for those that borrow ---- */

static void make_grid(struct ranking *r, double low, double high, double freedom) {
    r->grid_low = low;
    r->grid_step = (high - low) / (double)(GRID - 1);
    r->grid = arena_alloc(r->arena, r->count * sizeof *r->grid);
    r->grid_all = arena_alloc(r->arena, GRID * r->futures * sizeof *r->grid_all);
    r->kept = arena_alloc(r->arena, r->futures * sizeof *r->kept);
    memcpy(r->kept, r->all, r->futures * sizeof *r->kept);
    for (size_t i = 0; i < r->count; i++) {
        if (!r->borrows[i])
            continue;
        add(r->kept, &r->now[i], r->futures, -1.0);
        r->grid[i] = arena_alloc(r->arena, GRID * r->futures * sizeof **r->grid);
        for (size_t g = 0; g < GRID; g++) {
            const struct preposterior_part *p = &r->parts[i];
            double deviation = exp(low + (double)g * r->grid_step);
            struct simulate_spread pool = {.variance = deviation * deviation, .freedom = freedom};
            AUTO_ARENA struct arena *arena = arena_new();
            struct futures made =
                predict(r, i, p->values, p->count, p->remaining, pool, r->futures, arena, NULL);
            add(&r->grid[i][g * r->futures], &made, r->futures, 1.0);
            add(&r->grid_all[g * r->futures], &made, r->futures, 1.0);
        }
    }
}

/* The total without the part, once the common spread is this. */
static void rest_with(const struct ranking *r, size_t part, struct simulate_spread pool,
                      double *ret_rest) {
    size_t n = r->futures;
    if (!r->grid || !(pool.variance > 0.0)) {
        memcpy(ret_rest, r->all, n * sizeof *ret_rest);
        add(ret_rest, &r->now[part], n, -1.0);
        return;
    }
    double at = r->grid_step > 0.0 ? (0.5 * log(pool.variance) - r->grid_low) / r->grid_step : 0.0;
    at = fmin(fmax(at, 0.0), (double)(GRID - 1));
    size_t low = at < (double)(GRID - 1) ? (size_t)at : GRID - 2u;
    double t = at - (double)low;
    const double *a = &r->grid_all[low * n];
    const double *b = &r->grid_all[(low + 1) * n];
    for (size_t f = 0; f < n; f++)
        ret_rest[f] = r->kept[f] + (1.0 - t) * a[f] + t * b[f];
    if (!r->grid[part]) {
        add(ret_rest, &r->now[part], n, -1.0);
        return;
    }
    a = &r->grid[part][low * n];
    b = &r->grid[part][(low + 1) * n];
    for (size_t f = 0; f < n; f++)
        ret_rest[f] -= (1.0 - t) * a[f] + t * b[f];
}

/* ---- imagined outcomes ---- */

struct imagined {
    double *outcomes;              /* seconds, NULL: none can be imagined */
    struct simulate_spread *pools; /* after each of them */
};

/* Equally likely ones: the middles of as many slices of the forecast of one run. */
static void imagine(struct ranking *r, size_t part, struct imagined *ret,
                    struct preposterior_trial *trial) {
    const struct preposterior_part *p = &r->parts[part];
    AUTO_ARENA struct arena *arena = arena_new();
    struct futures one =
        predict(r, part, p->values, p->count, 1, r->pool, r->futures, arena, &trial->borrowed);
    trial->cost = one.kind == FUTURES_OPEN ? NAN : one.value + p->extra_cost;
    if (one.kind != FUTURES_DRAWN)
        return;
    ret->outcomes = arena_alloc(r->arena, r->outcomes * sizeof *ret->outcomes);
    ret->pools = arena_alloc(r->arena, r->outcomes * sizeof *ret->pools);
    for (size_t k = 0; k < r->outcomes; k++) {
        ret->outcomes[k] =
            predict_select(one.draws, one.count, ((double)k + 0.5) / (double)r->outcomes);
        ret->pools[k] = pool_with(r, part, ret->outcomes[k]);
    }
}

/* Only where one more value moves what is borrowed, and somebody borrows. */
static void prepare_grid(struct ranking *r, const struct imagined *imagined) {
    double low = INFINITY;
    double high = -INFINITY;
    double freedom = 0.0;

    if (r->borrowing == 0 || r->pool.freedom >= SETTLED)
        return;
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; imagined[i].outcomes && k < r->outcomes; k++) {
            struct simulate_spread pool = imagined[i].pools[k];
            if (!r->parts[i].may_borrow || !(pool.variance > 0.0))
                continue;
            low = fmin(low, 0.5 * log(pool.variance));
            high = fmax(high, 0.5 * log(pool.variance));
            freedom = freedom > 0.0 ? freedom : pool.freedom;
        }
    if (freedom > 0.0)
        make_grid(r, low, high, freedom);
}

/* With all runs of the part made nothing of it is uncertain, whatever came out: the value of
 * information need not be concave (Frazier and Powell, Decision Analysis 7, 2010), and one run of a
 * spread that is borrowed may well widen the interval. */
static void judge_all(const struct ranking *r, size_t part, struct preposterior_trial *trial,
                      double *total, double *scratch) {
    uint64_t runs = r->parts[part].remaining;
    memcpy(total, r->all, r->futures * sizeof *total);
    add(total, &r->now[part], r->futures, -1.0);
    double narrowing = r->log_width - log_width(width_of(total, r->futures, scratch));
    double rate = narrowing / ((double)runs * trial->cost);
    if (rate > trial->rate) {
        trial->rate = rate;
        trial->rate_runs = runs;
    }
}

static void judge(const struct ranking *r, size_t part, const struct imagined *imagined,
                  struct preposterior_trial *trial) {
    const struct preposterior_part *p = &r->parts[part];
    uint64_t left = p->remaining - (p->uses_one ? 1 : 0);
    AUTO_FREE double *values = mem_alloc((p->count + 1) * sizeof *values);
    AUTO_FREE double *total = mem_alloc(r->futures * sizeof *total);
    AUTO_FREE double *scratch = mem_alloc(r->futures * sizeof *scratch);
    double widths = 0.0;
    double reserves = 0.0;

    memcpy(values, p->values, p->count * sizeof *values);
    for (size_t k = 0; k < r->outcomes; k++) {
        AUTO_ARENA struct arena *arena = arena_new();
        values[p->count] = imagined->outcomes[k];
        struct futures after = predict(r, part, values, p->count + 1, left, imagined->pools[k],
                                       r->futures, arena, NULL);
        rest_with(r, part, p->may_borrow ? imagined->pools[k] : (struct simulate_spread){0.0, 0.0},
                  total);
        add(total, &after, r->futures, 1.0);
        struct width width = width_of(total, r->futures, scratch);
        widths += log_width(width);
        reserves += width.p95 - width.p50;
    }
    trial->narrowing = r->log_width - widths / (double)r->outcomes;
    trial->reserve_drop = r->reserve - reserves / (double)r->outcomes;
    trial->rate = trial->narrowing / trial->cost;
    trial->rate_runs = 1;
    if (p->uses_one && p->remaining > 1)
        judge_all(r, part, trial, total, scratch);
}

/* ---- where an interval is missing ---- */

/* Would the part have a spread with this value more, or this common spread? */
static bool would_have(const struct ranking *r, size_t part, double value,
                       struct simulate_spread pool) {
    const struct preposterior_part *p = &r->parts[part];
    AUTO_FREE double *values = mem_alloc((p->count + 1) * sizeof *values);
    AUTO_ARENA struct arena *arena = arena_new();
    memcpy(values, p->values, p->count * sizeof *values);
    values[p->count] = value;
    struct futures made = predict(r, part, values, p->count + (value > 0.0), p->remaining, pool,
                                  FEW_DRAWS, arena, NULL);
    return !lacks_interval(&made);
}

/* How many other parts would borrow where there is something to borrow. */
static size_t count_waiting(const struct ranking *r, struct simulate_spread pool) {
    size_t waiting = 0;
    for (size_t i = 0; i < r->count; i++)
        waiting += lacks_interval(&r->now[i]) && r->parts[i].may_borrow && pool.freedom > 0.0 &&
                   would_have(r, i, 0.0, pool);
    return waiting;
}

static size_t count_given(const struct ranking *r, size_t part, size_t waiting) {
    const struct futures *now = &r->now[part];
    double value = PROBE * now->value / (double)r->parts[part].remaining;
    struct simulate_spread pool = pool_with(r, part, value);
    bool own = lacks_interval(now) && value > 0.0 && would_have(r, part, value, pool);
    bool lends = r->parts[part].may_borrow && pool.freedom > 0.0 && !(r->pool.freedom > 0.0);
    size_t others = lends ? waiting : 0;
    if (others > 0 && lacks_interval(now) && own)
        others--; /* it is one of those that wait */
    return (size_t)own + others;
}

static void find_missing(const struct ranking *r, struct preposterior_trial *trials) {
    const struct simulate_spread some = {.variance = (PROBE - 1.0) * (PROBE - 1.0), .freedom = 1.0};
    size_t waiting = r->pool.freedom > 0.0 ? 0 : count_waiting(r, some);
    for (size_t i = 0; i < r->count; i++) {
        if (trials[i].kind != PREPOSTERIOR_NARROW)
            continue;
        trials[i].gives_interval = count_given(r, i, waiting);
        if (trials[i].gives_interval > 0)
            trials[i].kind = PREPOSTERIOR_REPEAT;
    }
}

/* ---- the whole ---- */

void preposterior_rank(const struct preposterior_part *parts, size_t count,
                       const struct preposterior_model *model,
                       const struct preposterior_options *options,
                       struct preposterior_total *ret_total,
                       struct preposterior_trial *ret_trials) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct ranking r = {
        .parts = parts,
        .count = count,
        .model = model,
        .pool = options->pool,
        .seed = options->seed,
        .futures = options->futures > 0 ? options->futures : PREPOSTERIOR_FUTURES,
        .outcomes = options->outcomes > 0 ? options->outcomes : PREPOSTERIOR_OUTCOMES,
        .arena = arena,
    };
    struct imagined *imagined = arena_alloc(arena, (count + 1) * sizeof *imagined);

    forecast_today(&r, ret_total);
    for (size_t i = 0; i < count; i++) {
        struct preposterior_trial *trial = &ret_trials[i];
        *trial = (struct preposterior_trial){
            .cost = NAN, .narrowing = NAN, .rate = NAN, .reserve_drop = NAN, .share = NAN};
        if (!parts[i].is_offered || parts[i].remaining == 0)
            continue;
        trial->kind = r.now[i].kind == FUTURES_OPEN ? PREPOSTERIOR_FIRST : PREPOSTERIOR_NARROW;
        if (trial->kind == PREPOSTERIOR_NARROW)
            imagine(&r, i, &imagined[i], trial);
    }
    find_shares(&r, ret_trials);
    if (r.lacking > 0) {
        find_missing(&r, ret_trials);
        return;
    }
    prepare_grid(&r, imagined);
    for (size_t i = 0; i < count; i++)
        if (imagined[i].outcomes)
            judge(&r, i, &imagined[i], &ret_trials[i]);
}

static int compare_descending(double a, double b) {
    bool a_known = isfinite(a);
    bool b_known = isfinite(b);
    if (!a_known || !b_known)
        return (int)b_known - (int)a_known;
    return (a < b) - (a > b);
}

int preposterior_compare(const struct preposterior_trial *a, const struct preposterior_trial *b) {
    static const int places[] = {[PREPOSTERIOR_FIRST] = 0,
                                 [PREPOSTERIOR_REPEAT] = 1,
                                 [PREPOSTERIOR_NARROW] = 2,
                                 [PREPOSTERIOR_NONE] = 3};
    if (a->kind != b->kind)
        return places[a->kind] - places[b->kind];
    if (a->kind == PREPOSTERIOR_REPEAT)
        return compare_descending((double)a->gives_interval / a->cost,
                                  (double)b->gives_interval / b->cost);
    if (a->kind == PREPOSTERIOR_NARROW)
        return compare_descending(a->rate, b->rate);
    return 0;
}

bool preposterior_is_within(const struct preposterior_total *total, double within) {
    return total->is_nothing || (total->has_interval && total->unknown == 0 &&
                                 total->p95 - total->p05 <= within * total->p50);
}
