/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is left of a study, part by part, and which of it can be run now (next-parts.h). Gates,
 * support and failures that a repeat does not cure are asked of the rules that `block run` asks.
 */
#include "rules/next-parts.h"

#include "base/msg.h"
#include "rules/comparable.h"
#include "rules/estimate-parts.h"
#include "rules/gate.h"
#include "rules/remaining.h"

#include <math.h>
#include <string.h>

static void *grown(struct arena *arena, void *items, size_t size, size_t count, size_t *room) {
    if (count < *room)
        return items;
    *room = *room ? 2 * *room : 16;
    void *more = arena_alloc(arena, *room * size);
    if (count > 0)
        memcpy(more, items, count * size);
    return more;
}

static void refuse(struct next_parts *parts, struct next_refused refused) {
    parts->refused = grown(parts->arena, parts->refused, sizeof *parts->refused,
                           parts->refused_count, &parts->refused_room);
    parts->refused[parts->refused_count++] = refused;
}

static void refuse_one(struct next_parts *parts, struct next_refused refused, const char *why) {
    const char **lines = arena_alloc(parts->arena, sizeof *lines);
    lines[0] = why;
    refused.why = lines;
    refused.why_count = 1;
    refuse(parts, refused);
}

/* ---- of one block ---- */

struct looked { /* at a block */
    struct next_parts *parts;
    const struct estimate_block *block;
    bool is_stopped; /* its gate is closed */
    struct remaining left;
};

static const struct remaining_item *left_of(const struct looked *at,
                                            const struct plan_condition *condition,
                                            const struct plan_step *step) {
    for (size_t i = 0; i < at->left.count; i++) {
        const struct remaining_item *item = &at->left.items[i];
        if (condition ? item->condition && item->condition->condition == condition
                      : item->step == step)
            return item;
    }
    return NULL;
}

static const char *name_of(const struct looked *at, const struct estimate_item *item) {
    const char *block = at->block->block->block->id;
    if (item->step)
        return item->name;
    return item->condition->axis_count > 0
               ? arena_printf(at->parts->arena, "%s %s", block, item->name)
               : block;
}

/* Can it be run now? Where not, the reason is listed; a closed gate once, for the whole block. */
static bool can_run(const struct looked *at, const struct estimate_item *item, const char *name) {
    const struct remaining_item *left = left_of(at, item->condition, item->step);
    struct next_refused refused = {.block = at->block->block->block,
                                   .condition = item->condition,
                                   .step = item->step,
                                   .name = name};
    if (item->remedy == ESTIMATE_SUPPORT && item->condition) {
        refuse_one(at->parts, refused,
                   arena_printf(at->parts->arena,
                                _("the plan says that the code does not support it (%s)"),
                                estimate_unsupported_at(at->parts->estimate->study->input->plan,
                                                        item->condition, at->parts->arena)));
        return false;
    }
    if (at->is_stopped)
        return false;
    if (left && left->is_failed) {
        refuse_one(at->parts, refused, left->note);
        return false;
    }
    if (left && item->condition && left->left == 0 && quantity_is_known(&item->count)) {
        refuse_one(at->parts, refused,
                   left->running > 0
                       ? _("what is left of it is running now")
                       : _("as many runs as planned count, but they are not verified: a further "
                           "run would not change that"));
        return false;
    }
    if (item->step && item->step->component == COMPONENT_TEARDOWN &&
        item->step->repeats != PLAN_PER_RUN) {
        refuse_one(at->parts, refused,
                   _("it may take away what comes after: run it when the machine is given back"));
        return false;
    }
    return true;
}

static struct next_part *find_part(struct next_parts *parts, const struct estimate_item *item) {
    for (size_t i = 0; i < parts->count; i++) {
        struct next_part *part = &parts->items[i];
        if (item->step ? part->step == item->step
                       : part->condition && item->condition->id[0] &&
                             strcmp(part->condition->id, item->condition->id) == 0)
            return part;
    }
    return NULL;
}

/* From newest first to oldest first: the forecast knows first runs from later ones. */
static void turn(double *values, size_t count) {
    for (size_t i = 0; i + i + 1 < count; i++) {
        double value = values[i];
        values[i] = values[count - 1 - i];
        values[count - 1 - i] = value;
    }
}

static void take_condition_runs(struct next_parts *parts, const struct estimate_block *block,
                                struct next_part *part) {
    const struct study_block *study = block->block;
    const struct run **runs;
    for (size_t i = 0; i < study->condition_count; i++) {
        if (study->conditions[i].condition != part->condition)
            continue;
        part->count =
            estimate_counting_runs(&study->conditions[i], parts->arena, &runs, &part->values);
        const char **sources = arena_alloc(parts->arena, (part->count + 1) * sizeof *sources);
        for (size_t r = 0; r < part->count; r++)
            sources[r] = runs[r]->id ? runs[r]->id : "";
        part->sources = sources;
        part->family = study->block->id ? study->block->id : "";
        turn(part->values, part->count);
        part->why = part->count == 0 ? study->conditions[i].why : NULL;
    }
}

static void take_step_runs(struct next_parts *parts, struct next_part *part) {
    const struct study *study = parts->estimate->study;
    const char **sources = arena_alloc(parts->arena, (study->run_count + 1) * sizeof *sources);
    const char *why;
    part->values = arena_alloc(parts->arena, (study->run_count + 1) * sizeof *part->values);
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *seen = &study->runs[i];
        if (seen->step != part->step || seen->environment != study->input->environment ||
            !comparable_is_usable(seen->run, &why))
            continue;
        sources[part->count] = seen->run->id ? seen->run->id : "";
        part->values[part->count++] = seen->run->wall.value;
    }
    part->sources = sources;
    turn(part->values, part->count);
}

/* What the estimate says of failed attempts on the way to the condition's runs, of one run. */
static struct quantity loss_of(const struct estimate_block *block,
                               const struct estimate_item *item) {
    const struct estimate_component *retries = &block->components[COMPONENT_RETRIES];
    double runs = item->count.value;
    for (size_t i = 0; i < retries->item_count; i++) {
        struct quantity lost = retries->items[i].time;
        if (retries->items[i].condition != item->condition || !quantity_is_known(&lost) ||
            !(runs > 0.0))
            continue;
        lost.value /= runs;
        lost.has_interval = false; /* of all of them, not of one */
        lost.level = lost.p05 = lost.p95 = 0.0;
        lost.parts = NULL;
        lost.part_count = lost.open_part_count = 0;
        lost.open_parts = NULL;
        return lost;
    }
    return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE,
                         _("what failed attempts cost is not known"));
}

static void add_item(const struct looked *at, const struct estimate_item *item) {
    struct next_parts *parts = at->parts;
    bool is_unknown = !quantity_is_known(&item->count);
    uint64_t remaining = is_unknown ? 0 : (uint64_t)item->count.value;
    const char *name = name_of(at, item);

    if (remaining == 0 && !is_unknown)
        return;
    bool runs = can_run(at, item, name);
    struct next_part *part = find_part(parts, item);
    if (!part) {
        parts->items =
            grown(parts->arena, parts->items, sizeof *parts->items, parts->count, &parts->room);
        part = &parts->items[parts->count++];
        *part = (struct next_part){.condition = item->condition, .step = item->step, .name = name};
        if (item->condition)
            take_condition_runs(parts, at->block, part);
        else
            take_step_runs(parts, part);
        part->lost = item->condition ? loss_of(at->block, item)
                                     : quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE,
                                                     _("what failed attempts cost is not known"));
    }
    part->remaining += remaining;
    if (runs && !part->block) {
        part->block = at->block->block->block;
        part->condition = item->condition;
        part->name = name;
    }
}

static bool has_left(const struct estimate_block *block) {
    return !(block->has_remaining && block->remaining == 0);
}

static void look_at(struct next_parts *parts, const struct estimate_block *block) {
    const struct study *study = parts->estimate->study;
    const struct plan_block *plan = block->block->block;
    struct looked at = {.parts = parts, .block = block};
    const char *const *lines;
    size_t obstacles = gate_obstacles(study, plan, parts->arena, &lines);

    if (!has_left(block))
        return;
    if (obstacles > 0)
        refuse(parts, (struct next_refused){
                          .block = plan, .name = plan->id, .why = lines, .why_count = obstacles});
    at.is_stopped = obstacles > 0;
    const struct remaining_input input = {
        .study = study, .block = block->block, .retry = UINT64_MAX};
    remaining_of_block(&input, parts->arena, &at.left);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        for (size_t i = 0; i < block->components[k].item_count; i++) {
            const struct estimate_item *item = &block->components[k].items[i];
            if (k == COMPONENT_RUNS ? item->condition != NULL : item->step != NULL)
                add_item(&at, item);
        }
}

static bool is_validation(const struct plan_block *block) {
    return block->kind == PLAN_VALIDATE || block->extent == PLAN_VALIDATION;
}

void next_parts_find(struct next_parts *parts) {
    const struct estimate *estimate = parts->estimate;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < estimate->block_count; i++)
            if (is_validation(estimate->blocks[i].block->block) == (pass == 0))
                look_at(parts, &estimate->blocks[i]);
}
