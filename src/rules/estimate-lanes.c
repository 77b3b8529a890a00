/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calendar time of a block with several lanes: its runs and their failed attempts are put on lanes
 * as `block run` does it (rules/remaining.c: what is unknown first, then the longest conditions,
 * between equals in the plan's order). Everything that goes along with runs (their phases, idle
 * time) shortens in proportion, so that the components still add up, future by future.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "forecast/lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_DEVIATIONS 3.29 /* from the 5 % to the 95 % quantile of a normal distribution */

struct lane_condition { /* what of one condition goes on lanes */
    const struct condition_work *work;
    struct futures total, lost;
    double *hit_runs; /* NULL: not known */
    double run_spread;
};
struct estimate_lanes {
    struct lane_condition *conditions; /* as those of the block */
    struct futures parts[COMPONENT_COUNT_];
    bool known[COMPONENT_COUNT_];
};

bool estimate_lanes_several(const struct block_work *work) {
    return work->lanes > 1;
}

static struct estimate_lanes *lanes_of(struct block_work *work) {
    if (work->side_by_side)
        return work->side_by_side;
    struct estimate_lanes *lanes = arena_alloc(work->scratch, sizeof *lanes);
    lanes->conditions =
        arena_alloc(work->scratch, (work->condition_count + 1) * sizeof *lanes->conditions);
    for (size_t i = 0; i < work->condition_count; i++)
        lanes->conditions[i].work = &work->conditions[i];
    work->side_by_side = lanes;
    return lanes;
}

static struct lane_condition *condition_of(struct block_work *work,
                                           const struct plan_condition *condition) {
    struct estimate_lanes *lanes = lanes_of(work);
    const struct plan_condition *first =
        work->condition_count > 0 ? work->conditions[0].study->condition : NULL;
    if (!condition)
        return NULL;
    size_t likely = first && condition >= first ? (size_t)(condition - first) : 0;
    if (likely < work->condition_count && work->conditions[likely].study->condition == condition)
        return &lanes->conditions[likely];
    for (size_t i = 0; i < work->condition_count; i++)
        if (work->conditions[i].study->condition == condition)
            return &lanes->conditions[i];
    return NULL;
}

/* Log-sd of a run within its condition: from its own, else from what is said of a single run, of
 * whose variance half is that the condition's mean is known by one run. */
static double run_spread(const struct condition_work *c, const struct quantity *unit) {
    double own = lanes_run_spread(c->walls, c->count_used);
    if (own > 0.0 || c->count_used != 1 || !unit->has_interval || !(unit->p05 > 0.0))
        return own;
    return log(unit->p95 / unit->p05) / INTERVAL_DEVIATIONS / sqrt(2.0);
}

void estimate_lanes_add(struct block_work *work, enum component k, const struct estimate_item *item,
                        const struct piece *piece) {
    struct estimate_lanes *lanes = lanes_of(work);
    struct lane_condition *condition = condition_of(work, item->condition);
    struct piece part = *piece;

    if (quantity_is_known(&part.quantity) && work->lanes_rule) {
        part.quantity.state = QUANTITY_ASSUMED;
        piece_take_futures(&part);
    }
    tally_add_named(&work->tally[VIEW_CALENDAR][k], item->name, &part, work->maker->arena);
    simulate_add(&lanes->parts[k], &piece->futures, work->scratch);
    if (!condition)
        return;
    simulate_add(k == COMPONENT_RETRIES ? &condition->lost : &condition->total, &piece->futures,
                 work->scratch);
    if (k == COMPONENT_RUNS)
        condition->run_spread = run_spread(condition->work, &item->unit);
}

void estimate_lanes_hits(struct block_work *work, const struct condition_work *c,
                         const double *hit_runs) {
    if (!estimate_lanes_several(work))
        return;
    struct lane_condition *condition = &lanes_of(work)->conditions[c - work->conditions];
    size_t size = work->maker->draws * sizeof *hit_runs;
    condition->hit_runs = memcpy(arena_alloc(work->scratch, size), hit_runs, size);
}

static double time_of(const struct condition_work *c) {
    return c->count_used > 0 ? predict_median(c->walls, c->count_used) : INFINITY;
}

static int compare_order(const void *a, const void *b) {
    const struct condition_work *x = (*(const struct lane_condition *const *)a)->work;
    const struct condition_work *y = (*(const struct lane_condition *const *)b)->work;
    double x_s = time_of(x);
    double y_s = time_of(y);
    if (x_s != y_s)
        return x_s > y_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

static size_t list_items(struct block_work *work, struct lanes_item *items) {
    struct estimate_lanes *lanes = lanes_of(work);
    const char *block = work->study->block->id;
    struct arena *arena = work->scratch;
    size_t count = 0;
    const struct lane_condition **order =
        arena_alloc(arena, (work->condition_count + 1) * sizeof *order);
    for (size_t i = 0; i < work->condition_count; i++)
        if (work->conditions[i].has_remaining && work->conditions[i].remaining > 0)
            order[count++] = &lanes->conditions[i];
    if (count > 0)
        qsort(order, count, sizeof *order, compare_order);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct lanes_item){
            .name = arena_printf(arena, "%s %s", block,
                                 estimate_condition_key(order[i]->work->study->condition)),
            .total = &order[i]->total,
            .runs = order[i]->work->remaining,
            .run_spread = order[i]->run_spread,
            .lost = &order[i]->lost,
            .hit_runs = order[i]->hit_runs};
    return count;
}

void estimate_lanes_finish(struct block_work *work) {
    struct estimate_lanes *lanes = work->side_by_side;
    struct futures sum;
    bool at_least = false;
    if (!lanes)
        return;
    struct lanes_item *items =
        arena_alloc(work->scratch, (work->condition_count + 1) * sizeof *items);
    size_t count = list_items(work, items);
    struct futures calendar = lanes_calendar(items, count, work->lanes, work->maker->seed,
                                             work->maker->draws, work->scratch, &sum, &at_least);
    if (sum.kind == FUTURES_OPEN) { /* no run is known: a lane's share of what else there is */
        sum = simulate_fixed((double)work->lanes);
        calendar = simulate_fixed(1.0);
        at_least = true;
    }
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        struct tally *tally = &work->tally[VIEW_CALENDAR][k];
        struct futures part = lanes_part(&lanes->parts[k], &calendar, &sum, work->scratch);
        simulate_add(&tally->sum, &part, work->scratch);
        for (size_t i = 0; at_least && part.kind != FUTURES_OPEN && i < tally->count; i++)
            if (quantity_is_known(&tally->parts[i].quantity))
                tally->parts[i].quantity.bound = QUANTITY_AT_LEAST;
    }
    work->lanes_at_least = at_least;
}

void estimate_lanes_keep_open(struct block_work *work, enum component k) {
    struct tally *tally = &work->tally[VIEW_CALENDAR][k];
    struct quantity *sum = &work->piece[VIEW_CALENDAR][k].quantity;
    size_t kept = 0;
    if (sum->part_count == 0)
        return;
    for (size_t i = 0; i < tally->count; i++)
        if (!quantity_is_known(&tally->parts[i].quantity))
            tally->parts[kept++] = tally->parts[i];
    sum->part_count = kept; /* of tally->parts */
}
