/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Steps of the plan that a block needs: how often still, and how long, from runs of the step in the
 * target environment. A step never seen is open.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "rules/comparable.h"

#include <string.h>

static bool is_named(const struct plan_block *block, const char *step) {
    for (size_t i = 0; i < block->steps.count; i++)
        if (strcmp(block->steps.items[i].text, step) == 0)
            return true;
    return false;
}

static size_t step_runs(const struct estimate_maker *maker, const struct plan_step *step,
                        double **ret_walls, const char ***ret_sources) {
    const struct study *study = maker->study;
    double *walls = arena_alloc(maker->arena, (study->run_count + 1) * sizeof *walls);
    const char **sources = arena_alloc(maker->arena, (study->run_count + 1) * sizeof *sources);
    size_t count = 0;
    const char *why;

    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *seen = &study->runs[i];
        if (seen->step != step || seen->environment != maker->environment ||
            !comparable_is_usable(seen->run, &why))
            continue;
        sources[count] = arena_strdup(maker->arena, seen->run->id ? seen->run->id : "");
        walls[count++] = seen->run->wall.value;
    }
    *ret_walls = walls;
    *ret_sources = sources;
    return count;
}

/* Does an earlier block that is not done name the step, too? */
static bool is_named_before(const struct block_work *work, const char *step) {
    const struct estimate *ret = work->maker->ret;
    for (const struct estimate_block *b = ret->blocks; b < work->ret; b++)
        if (is_named(b->block->block, step) && !(b->has_remaining && b->remaining == 0))
            return true;
    return false;
}

/* Is it an item of an earlier block? */
static bool is_in_earlier(const struct block_work *work, const struct plan_step *step) {
    for (const struct estimate_block *b = work->maker->ret->blocks; b < work->ret; b++)
        for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
            for (size_t i = 0; i < b->components[k].item_count; i++)
                if (b->components[k].items[i].step == step)
                    return true;
    return false;
}

/* What a rental does again, and of it what one rental for all blocks would not. */
static void count_per_rental(struct block_work *work, const struct plan_step *step,
                             const struct piece *piece) {
    if (step->repeats != PLAN_PER_RENTAL || step->needs_machine == PLAN_NO)
        return;
    simulate_add(&work->per_rental, &piece->futures, work->scratch);
    if (is_in_earlier(work, step))
        simulate_add(&work->repeated, &piece->futures, work->scratch);
}

/* How often the step is still to be done for this block; false: not at all, another block counts
 * it. */
static bool step_count(const struct block_work *work, const struct plan_step *step,
                       const char *const *done, size_t done_count, struct quantity *ret_count) {
    struct estimate_maker *maker = work->maker;
    const char *source = estimate_block_source(work, step->at);
    struct quantity count = quantity_measured(UNIT_COUNT, 1.0, "the plan's repeats");

    switch (step->repeats) {
    case PLAN_ONCE:
        if (is_named_before(work, step->name))
            return false;
        if (done_count > 0) {
            count.value = 0.0;
            piece_add_sources(&count, done, done_count, maker->arena);
        }
        break;
    case PLAN_PER_RENTAL:
        break;
    case PLAN_PER_RUN:
        if (!work->ret->has_remaining)
            count = quantity_open(UNIT_COUNT, QUANTITY_NOT_ENTERED,
                                  _("the plan does not say how many runs"));
        count.value = (double)work->ret->remaining;
        for (size_t i = 0; i < work->condition_count && quantity_is_known(&count); i++)
            if (work->conditions[i].count.state == QUANTITY_ASSUMED)
                count = work->conditions[i].count;
        count.value = (double)work->ret->remaining;
        break;
    case PLAN_REPEATS_UNSAID:
        count = quantity_open(UNIT_COUNT, QUANTITY_NOT_ENTERED,
                              _("the plan does not say how often it is repeated"));
        break;
    }
    if (quantity_is_known(&count))
        piece_add_sources(&count, &source, 1, maker->arena);
    else
        count.value = 0.0;
    *ret_count = count;
    return true;
}

static struct piece step_piece(const struct block_work *work, const struct plan_step *step,
                               const double *walls, const char *const *sources, size_t seen,
                               uint64_t repeats, const char *own) {
    const struct estimate_maker *maker = work->maker;
    struct piece piece = {
        .futures = simulate_runs(
            walls, seen, repeats, (struct simulate_spread){0.0, 0.0},
            estimate_stream(work, arena_printf(maker->arena, "step %s", step->name), own),
            maker->draws, work->draws, NULL)};
    if (piece.futures.kind == FUTURES_OPEN)
        return piece_open(
            QUANTITY_NO_EVIDENCE,
            arena_printf(
                maker->arena, _("step '%s' was not seen in this environment: measure it with '%s'"),
                step->name,
                estimate_command_in(maker->study, estimate_step_command(step, maker->arena),
                                    maker->arena)));
    piece.quantity = (struct quantity){
        .state = QUANTITY_ESTIMATED,
        .unit = UNIT_SECOND,
        .method = piece.futures.kind == FUTURES_DRAWN ? PREDICT_METHOD : "observed wall time",
        .detail = estimate_runs_detail(seen, &piece.futures),
        .n = seen,
        .basis = "own-runs",
    };
    piece_take_futures(&piece);
    piece_add_sources(&piece.quantity, sources, seen, maker->arena);
    return piece;
}

void estimate_add_step(struct block_work *work, const struct plan_step *step) {
    struct estimate_maker *maker = work->maker;
    double *walls;
    const char **sources;
    size_t seen = step_runs(maker, step, &walls, &sources);
    struct estimate_item item = {.name = arena_printf(maker->arena, "step %s", step->name),
                                 .step = step,
                                 .why = _("not seen in this environment"),
                                 .remedy = ESTIMATE_RUN_STEP,
                                 .needs_machine = step->needs_machine};
    struct piece piece;

    if (!step_count(work, step, sources, seen, &item.count))
        return;
    if (!quantity_is_known(&item.count)) {
        item.why = item.count.detail;
        item.remedy = ESTIMATE_ENTER;
    }
    uint64_t repeats = quantity_is_known(&item.count) ? (uint64_t)item.count.value : 0;
    struct estimate_rule *rule = estimate_rule_step(maker, step->name, seen > 0);
    if (rule) {
        item.unit = estimate_rule_quantity(maker, rule, UNIT_SECOND, rule->number);
        piece = estimate_rule_piece(maker, rule, rule->number * (double)repeats);
    } else {
        item.unit = step_piece(work, step, walls, sources, seen, 1, NULL).quantity;
        piece = step_piece(work, step, walls, sources, seen, repeats, work->study->block->id);
    }
    estimate_rule_note(rule, repeats > 0,
                       quantity_is_known(&item.count) ? _("the step is done already")
                                                      : item.count.detail);
    if (!quantity_is_known(&item.count))
        piece = piece_open(QUANTITY_NOT_ENTERED, item.count.detail);
    else if (repeats == 0)
        piece = piece_nothing(maker->arena, NULL);
    estimate_take_count(work, &piece, &item.count);
    count_per_rental(work, step, &piece);
    estimate_work_add(work, step->component, item, &piece, false);
}
