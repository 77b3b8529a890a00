/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The estimate of a whole plan (estimate.h): block by block, then totals, subtotals, and what is
 * missing. The parts are in estimate-*.c. Must not print a total without its open parts, and must
 * not look at anything but the study it is given.
 */
#include "rules/estimate.h"

#include "base/mem.h"
#include "base/msg.h"
#include "rules/estimate-parts.h"

#include <math.h>
#include <string.h>

#define MANY_CONDITIONS 50u   /* beyond, fewer futures are drawn for each */
#define LEAST_DRAWS     2000u /* the 5 % and 95 % quantiles are still those of 100 draws */
#define DRAWS_MAX       10000000u

/* ---- totals while they are added up ---- */

enum subtotal_kind { BY_EXTENT = 0, BY_RECURRENCE, BY_COUNT_ };
#define GROUPS_MOST 3u /* of one kind; the last is what the plan does not say */

struct group {
    size_t block_count;
    bool used;
    struct figure_tallies tallies;
};
struct totals {
    struct estimate_maker *maker;
    struct arena *scratch; /* holds the sums */
    struct tally components[COMPONENT_COUNT_];
    size_t item_room[COMPONENT_COUNT_];
    struct figure_tallies figures;
    struct group groups[BY_COUNT_][GROUPS_MOST];
    struct estimate_openings task_open;
};

static void add_to_group(struct totals *totals, struct group *group, const char *name,
                         const struct figure_pieces *pieces) {
    group->used = true;
    estimate_figures_add(&group->tallies, name, pieces, totals->maker->arena, totals->scratch);
}

static size_t extent_group(enum plan_extent extent) {
    return extent == PLAN_VALIDATION ? 0 : extent == PLAN_FULL ? 1 : 2;
}

static size_t recurrence_group(enum plan_recurrence recurrence) {
    return recurrence == PLAN_ONE_OFF ? 0 : recurrence == PLAN_RECURRING ? 1 : 2;
}

static void add_block(struct totals *totals, struct block_work *work,
                      const struct figure_pieces *pieces) {
    struct estimate_maker *maker = totals->maker;
    const struct plan_block *block = work->study->block;
    struct quantity count = work->ret->has_remaining
                                ? quantity_measured(UNIT_COUNT, (double)work->ret->remaining,
                                                    "runs of the plan less those done")
                                : quantity_open(UNIT_COUNT, QUANTITY_NOT_ENTERED,
                                                _("the plan does not say how many runs"));
    const char *source = estimate_block_source(work, block->runs.at);

    piece_add_sources(&count, &source, 1, maker->arena);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        struct estimate_item item = {
            .name = block->id,
            .count = count,
            .unit = quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE,
                                  _("see the items of the block")),
            .time = work->piece[VIEW_ALL][k].quantity,
            .needs_machine = work->empty[VIEW_EFFORT][k]    ? PLAN_YES
                             : work->empty[VIEW_MACHINE][k] ? PLAN_NO
                                                            : PLAN_UNSAID,
        };
        estimate_item_add(&maker->ret->components[k], &totals->item_room[k], &item, maker->arena);
        tally_add(&totals->components[k], block->id, &work->piece[VIEW_ALL][k], maker->arena,
                  totals->scratch);
    }
    estimate_figures_add(&totals->figures, block->id, pieces, maker->arena, totals->scratch);
    struct group *groups[] = {
        &totals->groups[BY_EXTENT][extent_group(block->extent)],
        &totals->groups[BY_RECURRENCE][recurrence_group(block->recurrence)],
    };
    for (size_t i = 0; i < ARRAY_LENGTH(groups); i++) {
        groups[i]->block_count++;
        add_to_group(totals, groups[i], block->id, pieces);
    }
}

static void make_block(struct totals *totals, struct estimate_block *block) {
    struct estimate_maker *maker = totals->maker;
    AUTO_ARENA struct arena *scratch = arena_new();
    struct block_work *work = arena_alloc(scratch, sizeof *work);
    struct figure_pieces pieces;

    *work = (struct block_work){
        .maker = maker, .study = block->block, .ret = block, .scratch = scratch};
    estimate_block_begin(work);
    estimate_block_items(work);
    estimate_figures_of_block(work, &pieces);
    estimate_figures_of_pieces(maker, &pieces, &block->figures);
    estimate_figures_keep(work, &pieces);
    estimate_block_memory(work);
    estimate_block_volume(work);
    estimate_block_open(work);
    estimate_block_weakness(work);
    add_block(totals, work, &pieces);
}

/* ---- tasks: work by people, of no block ---- */

static struct piece task_piece(struct estimate_maker *maker, const struct plan_task *task) {
    if (!task->time.given)
        return piece_open(QUANTITY_NOT_ENTERED, _("the plan does not say how long it takes"));
    double seconds = (double)task->time.ns / 1e9;
    const char *source = plan_source(maker->plan, task->time.at, maker->arena);
    struct piece piece = {
        .quantity = {.state = QUANTITY_ASSUMED,
                     .value = seconds,
                     .unit = UNIT_SECOND,
                     .method = "assumption",
                     .detail = arena_printf(maker->arena, _("assumed by %s on %s: %s"),
                                            task->who ? task->who : _("nobody named"),
                                            task->when.given && task->when.text ? task->when.text
                                                                                : _("no date"),
                                            task->why ? task->why : _("no reason given"))},
        .futures = simulate_fixed(seconds)};
    piece_add_sources(&piece.quantity, &source, 1, maker->arena);
    return piece;
}

static void add_task(struct totals *totals, const struct plan_task *task) {
    struct estimate_maker *maker = totals->maker;
    enum component k = task->has_component ? task->component : COMPONENT_PREPARE;
    const char *name = arena_printf(maker->arena, "task %s", task->id ? task->id : "");
    struct piece piece = task_piece(maker, task);
    struct estimate_item item = {.name = name,
                                 .task = task,
                                 .remedy = ESTIMATE_ENTER,
                                 .count = quantity_measured(UNIT_COUNT, 1.0, "task of the plan"),
                                 .unit = piece.quantity,
                                 .time = piece.quantity,
                                 .needs_machine = task->needs_machine};
    const char *source = plan_source(maker->plan, task->at, maker->arena);
    bool effort = task->needs_machine == PLAN_NO;

    piece_add_sources(&item.count, &source, 1, maker->arena);
    estimate_item_add(&maker->ret->components[k], &totals->item_room[k], &item, maker->arena);
    tally_add(&totals->components[k], name, &piece, maker->arena, totals->scratch);
    struct figure_tallies *tallies[] = {
        &totals->figures,
        &totals->groups[BY_EXTENT][GROUPS_MOST - 1].tallies,
        &totals->groups[BY_RECURRENCE][GROUPS_MOST - 1].tallies,
    };
    for (size_t i = 0; i < ARRAY_LENGTH(tallies); i++) {
        tally_add(effort ? &tallies[i]->effort : &tallies[i]->reserved, name, &piece, maker->arena,
                  totals->scratch);
        tally_add(&tallies[i]->calendar, name, &piece, maker->arena, totals->scratch);
    }
    for (size_t i = 0; i < BY_COUNT_; i++)
        totals->groups[i][GROUPS_MOST - 1].used = true;
    const struct estimate_component *of = &maker->ret->components[k];
    estimate_task_open(maker, &totals->task_open, &of->items[of->item_count - 1]);
}

/* ---- finishing ---- */

static struct estimate_subtotal *list_groups(struct totals *totals, enum subtotal_kind kind,
                                             const char *const *names, size_t *ret_count) {
    struct estimate_maker *maker = totals->maker;
    struct estimate_subtotal *subtotals =
        arena_alloc(maker->arena, GROUPS_MOST * sizeof *subtotals);

    *ret_count = 0;
    for (size_t i = 0; i < GROUPS_MOST; i++) {
        struct group *group = &totals->groups[kind][i];
        if (!group->used)
            continue;
        struct estimate_subtotal *subtotal = &subtotals[(*ret_count)++];
        subtotal->name = names[i];
        subtotal->block_count = group->block_count;
        estimate_figures_finish(maker, &group->tallies, &subtotal->figures);
    }
    return subtotals;
}

static void finish_totals(struct totals *totals) {
    struct estimate_maker *maker = totals->maker;
    struct estimate *ret = maker->ret;
    const char *extents[] = {plan_extent_name(PLAN_VALIDATION), plan_extent_name(PLAN_FULL),
                             "not said"};
    const char *recurrences[] = {plan_recurrence_name(PLAN_ONE_OFF),
                                 plan_recurrence_name(PLAN_RECURRING), "not said"};
    struct piece empty = piece_open(QUANTITY_NO_EVIDENCE, _("the plan has no block or task"));

    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        ret->components[k].component = k;
        ret->components[k].time = tally_piece(&totals->components[k], &empty, maker).quantity;
    }
    estimate_figures_finish(maker, &totals->figures, &ret->total);
    estimate_precision_find(maker, &totals->figures);
    ret->by_extent = list_groups(totals, BY_EXTENT, extents, &ret->by_extent_count);
    ret->by_recurrence = list_groups(totals, BY_RECURRENCE, recurrences, &ret->by_recurrence_count);
    estimate_open_all(maker, &totals->task_open);
}

/* ---- the whole ---- */

static size_t count_conditions(const struct study *study) {
    size_t count = 0;
    for (size_t i = 0; i < study->block_count; i++)
        count += study->blocks[i].condition_count;
    return count;
}

/* Fewer futures where there are very many conditions: their number rests on the plan alone, so that
 * no setting changes it. */
static size_t usual_draws(size_t conditions) {
    if (conditions <= MANY_CONDITIONS)
        return PREDICT_DRAWS;
    size_t draws = PREDICT_DRAWS * (size_t)MANY_CONDITIONS / conditions;
    return draws > LEAST_DRAWS ? draws : LEAST_DRAWS;
}

int estimate_make(const struct study *study, const struct estimate_options *options,
                  struct arena *arena, struct estimate *ret_estimate, struct err *err) {
    struct estimate_maker maker = {
        .study = study,
        .plan = study->input->plan,
        .environment = study->input->environment,
        .arena = arena,
        .ret = ret_estimate,
        .seed = options->seed,
        .draws = options->draws > 0 ? options->draws : usual_draws(count_conditions(study)),
    };
    const struct plan_environment *environment = maker.environment;

    *ret_estimate = (struct estimate){.study = study};
    maker.draws = maker.draws < DRAWS_MAX ? maker.draws : DRAWS_MAX;
    maker.common = simulate_common_new(maker.seed, maker.draws, arena);
    int rc = estimate_rules_read(&maker, options, err);
    if (rc < 0)
        return rc;
    ret_estimate->seed = maker.seed;
    ret_estimate->draws = maker.draws;
    ret_estimate->has_gpus = environment && environment->gpus.given && environment->gpus.value >= 0;
    if (ret_estimate->has_gpus)
        ret_estimate->reserved_gpus = (size_t)environment->gpus.value;
    estimate_history_begin(&maker);
    estimate_class_begin(&maker, options->class);

    ret_estimate->block_count = study->block_count;
    ret_estimate->blocks =
        arena_alloc(arena, (study->block_count + 1) * sizeof *ret_estimate->blocks);
    for (size_t i = 0; i < study->block_count; i++)
        ret_estimate->blocks[i].block = &study->blocks[i];
    AUTO_ARENA struct arena *scratch = arena_new();
    struct totals *totals = arena_alloc(scratch, sizeof *totals);
    totals->maker = &maker;
    totals->scratch = scratch;
    for (size_t i = 0; i < study->block_count; i++)
        make_block(totals, &ret_estimate->blocks[i]);
    for (size_t i = 0; i < maker.plan->task_count; i++)
        if (maker.plan->tasks[i].done != PLAN_YES)
            add_task(totals, &maker.plan->tasks[i]);
    finish_totals(totals);
    estimate_provisional(&maker);
    estimate_rules_list(&maker);
    return 0;
}
