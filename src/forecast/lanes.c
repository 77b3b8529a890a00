/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * List scheduling of drawn runs (lanes.h). The loads of the lanes are a heap, the next free one on
 * top. Must not let one condition's split depend on another's.
 */
#include "forecast/lanes.h"

#include "base/mem.h"
#include "forecast/simulate-parts.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

#define SHARES 256u /* points of the normal distribution that runs are drawn from */

double lanes_run_spread(const double *values, size_t count) {
    if (count < 2 || !predict_is_positive(values, count))
        return 0.0;
    return predict_fit(values, count).spread;
}

/* ---- a generator per condition and future: it needs no state between futures ---- */

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double next_uniform(uint64_t *state) { /* 0 <= u < 1 */
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* ---- lanes ---- */

struct lane_loads {
    double *heap; /* no load is smaller than that of its parent, (i - 1) / 2 */
    size_t count;
    double longest;
};

static void loads_reset(struct lane_loads *loads) {
    for (size_t i = 0; i < loads->count; i++)
        loads->heap[i] = 0.0;
    loads->longest = 0.0;
}

static void sift_down(struct lane_loads *loads, size_t at) {
    double load = loads->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= loads->count)
            break;
        child += child + 1 < loads->count && loads->heap[child + 1] < loads->heap[child];
        if (!(loads->heap[child] < load))
            break;
        loads->heap[at] = loads->heap[child];
        at = child;
    }
    loads->heap[at] = load;
}

static void put_run(struct lane_loads *loads, double seconds) {
    loads->heap[0] += seconds;
    loads->longest = fmax(loads->longest, loads->heap[0]);
    sift_down(loads, 0);
}

/* Up to where lanes would fill if runs could be divided. sorted: the loads, ascending. */
static double fill_level(const double *sorted, size_t count, double seconds) {
    double below = 0.0;
    for (size_t i = 0; i < count; i++) {
        below += sorted[i];
        double level = (below + seconds) / (double)(i + 1);
        if (i + 1 == count || level <= sorted[i + 1])
            return level;
    }
    return sorted[0];
}

/* Very many equal runs, as put_run would, one by one: those that begin early enough are certain to
 * be taken; the few others are put. */
static void put_equal(struct lane_loads *loads, double seconds, double runs) {
    double left = runs;
    if (!(seconds > 0.0))
        return;
    predict_sort(loads->heap, loads->count); /* which is a heap, too */
    double level = fill_level(loads->heap, loads->count, runs * seconds);
    for (size_t i = 0; i < loads->count; i++) {
        double here = fmin(fmax(floor((level - loads->heap[i]) / seconds), 0.0), left);
        loads->heap[i] += here * seconds;
        loads->longest = fmax(loads->longest, loads->heap[i]);
        left -= here;
    }
    predict_sort(loads->heap, loads->count);
    for (; left >= 1.0; left -= 1.0)
        put_run(loads, seconds);
}

/* ---- one condition ---- */

struct item_split {
    const struct lanes_item *item;
    uint64_t seed;
    double *shares; /* SHARES equally likely ratios to the middle; NULL: all runs are equal */
};

static double future_at(const struct futures *futures, size_t i) {
    return !futures || futures->kind == FUTURES_OPEN ? 0.0
           : futures->kind == FUTURES_DRAWN          ? futures->draws[i]
                                                     : futures->value;
}

static struct item_split split_new(const struct lanes_item *item, const double *normal,
                                   uint64_t seed) {
    struct item_split split = {.item = item};
    gsl_rng *random = simulate_stream_new(seed, "lanes", item->name);
    split.seed = gsl_rng_get(random) << 32;
    split.seed |= gsl_rng_get(random);
    gsl_rng_free(random);
    if (item->run_spread > 0.0 && item->runs > 1 && item->runs <= LANES_RUNS_DRAWN) {
        split.shares = mem_alloc(SHARES * sizeof *split.shares);
        for (size_t i = 0; i < SHARES; i++)
            split.shares[i] = exp(item->run_spread * normal[i]);
    }
    return split;
}

/* Every run's part of the total, of which they are all. */
static void draw_runs(const struct item_split *split, double total, uint64_t *state,
                      double *ret_runs) {
    size_t count = split->item->runs;
    double sum = 0.0;
    for (size_t r = 0; r < count; r++) {
        ret_runs[r] = split->shares ? split->shares[next_random(state) % SHARES] : 1.0;
        sum += ret_runs[r];
    }
    for (size_t r = 0; r < count; r++)
        ret_runs[r] *= total / sum;
}

static void put_item(struct lane_loads *loads, const struct item_split *split, size_t future) {
    const struct lanes_item *item = split->item;
    double total = future_at(item->total, future);
    double lost = future_at(item->lost, future);
    double runs = (double)item->runs;
    double times[LANES_RUNS_DRAWN];
    uint64_t state = split->seed + future * UINT64_C(0xd1342543de82ef95);

    if (item->runs > LANES_RUNS_DRAWN) {
        put_equal(loads, (total + lost) / runs, runs);
        return;
    }
    draw_runs(split, total, &state, times);
    double hits = item->hit_runs ? fmin(fmax(item->hit_runs[future], 1.0), runs) : runs;
    double each = lost / hits;
    for (size_t r = 0; r < item->runs; r++) {
        bool is_hit = lost > 0.0 && hits > 0.0 && next_uniform(&state) * (runs - (double)r) < hits;
        hits -= is_hit;
        put_run(loads, times[r] + (is_hit ? each : 0.0));
    }
}

/* ---- all of them ---- */

static void add_up(struct futures *sum, const struct futures *part, struct arena *arena) {
    if (part)
        simulate_add(sum, part, arena);
}

/* Too many lanes: what no schedule can be shorter than. */
static double least_calendar(const struct lanes_item *items, size_t count, double lanes, double sum,
                             size_t future) {
    double least = sum / lanes;
    for (size_t i = 0; i < count; i++)
        least = fmax(least, future_at(items[i].total, future) / (double)items[i].runs);
    return least;
}

static double one_calendar(struct lane_loads *loads, const struct item_split *splits, size_t count,
                           size_t future) {
    loads_reset(loads);
    for (size_t i = 0; i < count; i++)
        put_item(loads, &splits[i], future);
    return loads->longest;
}

struct futures lanes_calendar(const struct lanes_item *items, size_t count, uint64_t lanes,
                              uint64_t seed, size_t draws, struct arena *arena,
                              struct futures *ret_sum, bool *ret_at_least) {
    struct futures sum = {.kind = FUTURES_OPEN};
    double runs = 0.0;
    double normal[SHARES];
    size_t used = 0;

    assert(lanes >= 1);
    for (size_t i = 0; i < SHARES; i++)
        normal[i] = gsl_cdf_ugaussian_Pinv(((double)i + 0.5) / SHARES);
    struct item_split *splits = mem_alloc((count + 1) * sizeof *splits);
    for (size_t i = 0; i < count; i++) {
        add_up(&sum, items[i].total, arena);
        add_up(&sum, items[i].lost, arena);
        bool is_open = items[i].total->kind == FUTURES_OPEN &&
                       (!items[i].lost || items[i].lost->kind == FUTURES_OPEN);
        if (is_open || items[i].runs == 0)
            continue;
        runs += (double)items[i].runs;
        splits[used++] = split_new(&items[i], normal, seed);
    }
    simulate_settle(&sum);
    double used_lanes = fmin((double)lanes, fmax(runs, 1.0));
    *ret_at_least = used_lanes > LANES_MOST;
    struct lane_loads loads = {.count = *ret_at_least ? 1 : (size_t)used_lanes};
    loads.heap = mem_alloc(loads.count * sizeof *loads.heap);
    struct futures calendar = sum;
    if (sum.kind == FUTURES_DRAWN)
        calendar.draws = arena_alloc(arena, draws * sizeof *calendar.draws);
    for (size_t i = 0; i < (sum.kind == FUTURES_DRAWN ? sum.count : 1); i++) {
        double time = *ret_at_least
                          ? least_calendar(items, count, used_lanes, future_at(&sum, i), i)
                          : one_calendar(&loads, splits, used, i);
        if (sum.kind == FUTURES_DRAWN)
            calendar.draws[i] = time;
        else
            calendar.value = time;
    }
    simulate_settle(&calendar);
    mem_free_ptr(&loads.heap);
    for (size_t i = 0; i < used; i++)
        mem_free_ptr(&splits[i].shares);
    mem_free_ptr(&splits);
    if (ret_sum)
        *ret_sum = sum;
    return calendar;
}

static double part_of(double part, double calendar, double sum) {
    return sum > 0.0 ? part * (calendar / sum) : 0.0;
}

struct futures lanes_part(const struct futures *part, const struct futures *calendar,
                          const struct futures *sum, struct arena *arena) {
    struct futures none = {.kind = FUTURES_OPEN};
    if (part->kind == FUTURES_OPEN || calendar->kind == FUTURES_OPEN || sum->kind == FUTURES_OPEN)
        return none;
    if (part->kind == FUTURES_VALUE && calendar->kind == FUTURES_VALUE) {
        struct futures value = *part;
        value.value = part_of(part->value, calendar->value, sum->value);
        return value;
    }
    size_t draws = part->kind == FUTURES_DRAWN ? part->count : calendar->count;
    struct futures scaled = simulate_drawn(draws, arena);
    for (size_t i = 0; i < draws; i++)
        scaled.draws[i] = part_of(future_at(part, i), future_at(calendar, i), future_at(sum, i));
    scaled.no_interval = (part->kind == FUTURES_VALUE && part->value != 0.0 && !part->is_fixed) ||
                         part->no_interval || calendar->no_interval;
    scaled.too_wide = part->too_wide || calendar->too_wide;
    simulate_settle(&scaled);
    return scaled;
}
