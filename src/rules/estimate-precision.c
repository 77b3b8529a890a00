/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How well the total is known: what the number of futures leaves uncertain of its quantiles, and
 * which item makes up most of its variance. Must not change a figure.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "forecast/dominance.h"

#include <math.h>
#include <string.h>

#define DOMINATES 0.5

struct remembered_item {
    const char *name;
    const struct plan_block *block;
    enum component component;
    float *draws;
};
struct estimate_remembered {
    struct arena *arena;
    struct remembered_item *items;
    size_t count, room, draws;
};

static struct estimate_remembered *remembered_of(struct estimate_maker *maker) {
    if (!maker->remembered) {
        struct arena *arena = arena_new();
        maker->remembered = arena_alloc(arena, sizeof *maker->remembered);
        maker->remembered->arena = arena;
        maker->remembered->draws = maker->draws < DOMINANCE_DRAWS ? maker->draws : DOMINANCE_DRAWS;
    }
    return maker->remembered;
}

/* The phases of one condition's runs are one item; they come one after the other. */
static struct remembered_item *item_for(struct estimate_remembered *all, const char *name,
                                        const struct plan_block *block, enum component component) {
    struct remembered_item *last = all->count > 0 ? &all->items[all->count - 1] : NULL;
    if (last && last->name == name && last->block == block && last->component == component)
        return last;
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 16;
        struct remembered_item *items = arena_alloc(all->arena, room * sizeof *items);
        if (all->count > 0)
            memcpy(items, all->items, all->count * sizeof *items);
        all->items = items;
        all->room = room;
    }
    all->items[all->count] = (struct remembered_item){
        name, block, component, arena_alloc(all->arena, all->draws * sizeof(float))};
    return &all->items[all->count++];
}

void estimate_precision_add(struct block_work *work, enum component k,
                            const struct estimate_item *item, const struct piece *piece) {
    if (piece->futures.kind != FUTURES_DRAWN)
        return;
    struct estimate_remembered *all = remembered_of(work->maker);
    if (item->condition && k != COMPONENT_RETRIES)
        k = COMPONENT_RUNS;
    float *draws = item_for(all, item->name, work->study->block, k)->draws;
    for (size_t i = 0; i < all->draws; i++)
        draws[i] += (float)piece->futures.draws[i];
}

static struct estimate_error error_of(const struct tally *tally, const struct quantity *figure) {
    struct futures sum = tally->sum;
    if (!figure->has_interval || sum.kind != FUTURES_DRAWN)
        return (struct estimate_error){.known = false};
    simulate_settle(&sum);
    return (struct estimate_error){true, sum.error05, sum.error50, sum.error95};
}

static void find_dominating(const struct estimate_remembered *all, struct futures total,
                            struct estimate_dominating *ret) {
    if (total.kind != FUTURES_DRAWN)
        return;
    simulate_settle(&total);
    for (size_t i = 0; i < all->count; i++) {
        const struct remembered_item *item = &all->items[i];
        double share = dominance_share(item->draws, total.draws, all->draws, total.p05, total.p95);
        if (share > DOMINATES && share > ret->share)
            *ret = (struct estimate_dominating){item->name, item->block, item->component,
                                                fmin(share, 1.0)};
    }
}

void estimate_precision_find(struct estimate_maker *maker, const struct figure_tallies *total) {
    struct estimate *ret = maker->ret;
    ret->total_errors = (struct estimate_errors){
        .computing = error_of(&total->computing, &ret->total.computing),
        .reserved = error_of(&total->reserved, &ret->total.reserved),
        .calendar = error_of(&total->calendar, &ret->total.calendar),
        .effort = error_of(&total->effort, &ret->total.effort),
    };
    if (!maker->remembered)
        return;
    find_dominating(maker->remembered, total->reserved.sum, &ret->dominating);
    struct arena *arena = maker->remembered->arena;
    maker->remembered = NULL;
    arena_free(arena);
}
