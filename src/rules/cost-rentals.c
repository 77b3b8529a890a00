/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a plan and its estimate say of renting (REQUIREMENTS D6, E9), whatever the offer: in each
 * future what a block takes as a rental of its own, what all take as one that waits between them,
 * and what is restored. An estimate counts every block as a rental of its own (steps that are
 * repeated per rental stand in each), so the one rental is that less the repetitions, and with the
 * waiting. Must not know a price.
 */
#include "rules/cost-parts.h"

#include "base/clock.h"
#include "base/msg.h"

#include <assert.h>
#include <string.h>

bool cost_is_left(const struct estimate_block *block) {
    return !(block->has_remaining && block->remaining == 0);
}

/* ---- restoring and tasks ---- */

static bool is_per_rental(const struct estimate_item *item) {
    return item->step && item->step->repeats == PLAN_PER_RENTAL && item->needs_machine != PLAN_NO;
}

/* Is the step in an earlier block that has something left? */
static bool is_in_earlier(const struct estimate *estimate, size_t before,
                          const struct plan_step *step) {
    for (size_t b = 0; b < before; b++) {
        const struct estimate_block *block = &estimate->blocks[b];
        for (int k = 0; k < COMPONENT_COUNT_ && cost_is_left(block); k++)
            for (size_t i = 0; i < block->components[k].item_count; i++)
                if (block->components[k].items[i].step == step)
                    return true;
    }
    return false;
}

static void look_at_item(struct cost_rentals *rentals, size_t index,
                         const struct estimate_item *item, bool *any_repeated) {
    if (!is_per_rental(item))
        return;
    if (!quantity_is_known(&item->time)) {
        rentals->is_restore_open = true;
        return;
    }
    if (!is_in_earlier(rentals->estimate, index, item->step))
        return;
    *any_repeated = *any_repeated || item->time.value > 0.0;
    if (item->time.state < rentals->repeated_state)
        rentals->repeated_state = item->time.state;
}

/* How what is restored is known; how long it takes is in the futures. */
static void find_restore(struct cost_rentals *rentals) {
    bool any_repeated = false;
    rentals->repeated_state = QUANTITY_MEASURED;
    for (size_t b = 0; b < rentals->estimate->block_count; b++) {
        const struct estimate_block *block = &rentals->estimate->blocks[b];
        if (!cost_is_left(block))
            continue;
        rentals->left++;
        for (int k = 0; k < COMPONENT_COUNT_; k++)
            for (size_t i = 0; i < block->components[k].item_count; i++)
                look_at_item(rentals, b, &block->components[k].items[i], &any_repeated);
    }
    if (!any_repeated || rentals->is_stopped)
        rentals->repeated_state = QUANTITY_ASSUMED;
}

/* Of tasks that need the machine, or do not say: seconds. */
static double find_tasks(struct cost_rentals *rentals) {
    double seconds = 0.0;
    for (int k = 0; k < COMPONENT_COUNT_; k++) {
        const struct estimate_component *component = &rentals->estimate->components[k];
        for (size_t i = 0; i < component->item_count; i++) {
            const struct estimate_item *item = &component->items[i];
            if (!item->task || item->needs_machine == PLAN_NO)
                continue;
            if (quantity_is_known(&item->time))
                seconds += item->time.value;
            else
                rentals->is_task_open = true;
        }
    }
    return seconds;
}

/* ---- waiting ---- */

static const struct plan_planned_date *dates_of(const struct plan *plan, const char *block) {
    for (size_t i = 0; i < plan->calendar_count; i++)
        if (plan->calendar[i].block && strcmp(plan->calendar[i].block, block) == 0)
            return &plan->calendar[i];
    return NULL;
}

/* Whole days between the planned days of the blocks that are left; false: not all have dates. */
static bool calendar_wait(struct cost_rentals *rentals, struct arena *arena) {
    const struct estimate *estimate = rentals->estimate;
    int64_t last = INT64_MIN, used = 0;
    size_t count = 0;
    const struct plan_planned_date **dates =
        arena_alloc(arena, (estimate->block_count + 1) * sizeof(*dates));
    for (size_t b = 0; b < estimate->block_count; b++) {
        const struct plan_planned_date *date =
            dates_of(rentals->plan, estimate->blocks[b].block->block->id);
        if (!cost_is_left(&estimate->blocks[b]))
            continue;
        if (!date || !date->start.given || !date->end.given ||
            date->end.utc_ns < date->start.utc_ns)
            return false;
        size_t at = count++;
        for (; at > 0 && dates[at - 1]->start.utc_ns > date->start.utc_ns; at--)
            dates[at] = dates[at - 1];
        dates[at] = date;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t start = dates[i]->start.utc_ns, end = dates[i]->end.utc_ns + NS_PER_DAY;
        if (i > 0 && start > last)
            used += start - last;
        last = end > last ? end : last;
    }
    if (count == 0)
        return false;
    rentals->wait_s = (double)used / 1e9;
    rentals->wait_source = plan_source(rentals->plan, dates[0]->at, arena);
    return true;
}

static void find_wait(struct cost_rentals *rentals, struct arena *arena) {
    const struct plan_rental *rental = &rentals->plan->rental;
    rentals->is_wait_known = rentals->left < 2 || calendar_wait(rentals, arena);
    if (rentals->is_wait_known || !rental->wait_between.given)
        return;
    rentals->is_wait_known = rentals->is_wait_assumed = true;
    rentals->wait_s = (double)rental->wait_between.ns / 1e9 * (double)(rentals->left - 1);
    rentals->wait_source =
        plan_source(rentals->plan,
                    rental->wait_between.at.line > 0 ? rental->wait_between.at : rental->at, arena);
}

/* ---- futures ---- */

static double future_at(const struct futures *futures, size_t i) {
    switch (futures->kind) {
    case FUTURES_VALUE:
        return futures->value;
    case FUTURES_DRAWN:
        return futures->draws[i];
    case FUTURES_OPEN:
        break;
    }
    return 0.0; /* adds nothing: who asks knows that it is open */
}

static size_t count_of(const struct futures *futures) {
    return futures->kind == FUTURES_DRAWN ? futures->count : 1;
}

/* Seconds of all blocks that are left, in one future. */
struct all_blocks {
    double reserved, per_rental, repeated;
};

static struct all_blocks all_at(const struct cost_rentals *rentals, size_t i) {
    struct all_blocks all = {0.0, 0.0, 0.0};
    for (size_t b = 0; b < rentals->estimate->block_count; b++) {
        const struct estimate_rented *rented = &rentals->estimate->blocks[b].rented;
        if (!cost_is_left(&rentals->estimate->blocks[b]))
            continue;
        all.reserved += future_at(&rented->reserved, i);
        all.per_rental += future_at(&rented->per_rental, i);
        all.repeated += future_at(&rented->repeated, i);
    }
    return all;
}

static void find_whole(struct cost_rentals *rentals, double tasks_s, struct arena *scratch) {
    rentals->whole = cost_futures_new(rentals->count, scratch);
    rentals->whole_restore = cost_futures_new(rentals->count, scratch);
    rentals->repeated = cost_futures_new(rentals->count, scratch);
    for (size_t i = 0; i < rentals->count; i++) {
        const struct all_blocks all = all_at(rentals, i);
        rentals->whole.values[i] =
            cost_ns(all.reserved + tasks_s + (rentals->wait_s - all.repeated));
        rentals->whole_restore.values[i] =
            cost_ns(rentals->is_stopped ? 0.0 : all.per_rental - all.repeated);
        rentals->repeated.values[i] = cost_ns(rentals->is_stopped ? 0.0 : all.repeated);
    }
    cost_futures_settle(&rentals->whole);
    cost_futures_settle(&rentals->repeated);
}

/* One block: `with` seconds more, less what is repeated where that is not wanted. */
static struct cost_futures rental_of(const struct estimate_rented *rented, double with,
                                     bool is_repeated, struct arena *scratch) {
    struct cost_futures times = cost_futures_new(count_of(&rented->reserved), scratch);
    for (size_t i = 0; i < times.count; i++)
        times.values[i] = cost_ns(future_at(&rented->reserved, i) + with -
                                  (is_repeated ? 0.0 : future_at(&rented->repeated, i)));
    cost_futures_settle(&times);
    return times;
}

static struct cost_futures restore_of(const struct cost_rentals *rentals,
                                      const struct estimate_rented *rented, struct arena *scratch) {
    struct cost_futures times = cost_futures_new(count_of(&rented->per_rental), scratch);
    for (size_t i = 0; i < times.count; i++)
        times.values[i] = cost_ns(rentals->is_stopped ? 0.0 : future_at(&rented->per_rental, i));
    return times;
}

static void find_blocks(struct cost_rentals *rentals, double tasks_s, struct arena *scratch) {
    const struct estimate *estimate = rentals->estimate;
    size_t room = estimate->block_count + 1;
    rentals->tasks_block = estimate->block_count;
    for (size_t b = estimate->block_count; b-- > 0 && tasks_s > 0.0;)
        if (cost_is_left(&estimate->blocks[b]) &&
            quantity_is_known(&estimate->blocks[b].figures.reserved))
            rentals->tasks_block = b;
    rentals->own = arena_alloc(scratch, room * sizeof *rentals->own);
    rentals->separate = arena_alloc(scratch, room * sizeof *rentals->separate);
    rentals->restore = arena_alloc(scratch, room * sizeof *rentals->restore);
    for (size_t b = 0; b < estimate->block_count; b++) {
        const struct estimate_rented *rented = &estimate->blocks[b].rented;
        bool has_tasks = b == rentals->tasks_block;
        bool is_same =
            !has_tasks && !(rentals->is_stopped && rented->repeated.kind != FUTURES_OPEN);
        rentals->own[b] = rental_of(rented, 0.0, true, scratch);
        rentals->restore[b] = restore_of(rentals, rented, scratch);
        rentals->separate[b] =
            is_same ? rentals->own[b]
                    : rental_of(rented, has_tasks ? tasks_s : 0.0, !rentals->is_stopped, scratch);
    }
}

struct cost_rentals cost_rentals_of(const struct estimate *estimate, struct arena *arena,
                                    struct arena *scratch) {
    struct cost_rentals rentals = {
        .estimate = estimate, .plan = estimate->study->input->plan, .count = 1};
    const char *between = rentals.plan->rental.between;
    rentals.is_stopped = between && strcmp(between, "stopped") == 0;
    for (size_t b = 0; b < estimate->block_count; b++) {
        const struct estimate_block *block = &estimate->blocks[b];
        size_t count = count_of(&block->rented.reserved);
        assert(quantity_is_known(&block->figures.reserved) ==
               (block->rented.reserved.kind != FUTURES_OPEN));
        assert(count == 1 || rentals.count == 1 || count == rentals.count);
        rentals.count = count > rentals.count ? count : rentals.count;
    }
    find_restore(&rentals);
    double tasks_s = find_tasks(&rentals);
    find_wait(&rentals, arena);
    find_whole(&rentals, tasks_s, scratch);
    find_blocks(&rentals, tasks_s, scratch);
    return rentals;
}

/* ---- terms ---- */

const char *cost_why_too_short(void) {
    return _("the longest term of the offer is shorter than restoring the environment");
}

#define RENTALS_MOST 1000000 /* one after the other */

/* Every rental but the first begins with restoring, and each but the last is full. */
static int64_t in_terms(int64_t ns, int64_t restore_ns, int64_t maximum_ns) {
    int64_t more = 0;
    if (ns <= maximum_ns || ns == COST_BEYOND)
        return ns;
    if (restore_ns >= maximum_ns)
        return COST_BEYOND;
    int64_t each = maximum_ns - restore_ns, rest = ns - restore_ns;
    int64_t rentals = rest / each + (rest % each > 0);
    if (rentals > RENTALS_MOST || __builtin_mul_overflow(rentals - 1, restore_ns, &more) ||
        __builtin_add_overflow(ns, more, &ns))
        return COST_BEYOND;
    return ns;
}

static bool is_longer(const struct cost_futures *times, int64_t ns) {
    for (size_t i = 0; i < times->count; i++)
        if (times->values[i] > ns)
            return true;
    return false;
}

struct cost_futures cost_in_terms(const struct cost_futures *times,
                                  const struct cost_futures *restore,
                                  const struct plan_offer *offer, struct arena *scratch) {
    int64_t maximum = cost_given_ns(&offer->maximum);
    if (maximum == 0 || !is_longer(times, maximum))
        return *times;
    size_t count = times->count > restore->count ? times->count : restore->count;
    struct cost_futures cut = cost_futures_new(count, scratch);
    for (size_t i = 0; i < count; i++)
        cut.values[i] = in_terms(cost_futures_at(times, i), cost_futures_at(restore, i), maximum);
    cost_futures_settle(&cut);
    return cut;
}
