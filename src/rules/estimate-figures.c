/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three figures of one block and their sums: computing, reserved, calendar; beside them effort and
 * GPU time. Each is added up by futures from the same pieces, so that they agree with one another.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"

#include <string.h>

/* The figure of one view: all components that have an item in it, and those that nobody has seen,
 * because they may belong to it. */
static struct piece figure_of(struct block_work *work, enum estimate_view view) {
    struct estimate_maker *maker = work->maker;
    struct tally tally = {.count = 0};
    struct piece empty = piece_open(
        QUANTITY_NO_EVIDENCE, _("no step or task of the plan is said to need no rented machine"));
    bool any = false;

    if (work->nothing_left) /* each component is 0, and so is their sum */
        return work->piece[VIEW_ALL][COMPONENT_RUNS];
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        any |= !work->empty[view][k];
    if (view == VIEW_EFFORT && !any)
        return empty;
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        bool never_seen = work->empty[VIEW_ALL][k];
        if (view == VIEW_EFFORT && (k == COMPONENT_RETRIES || k == COMPONENT_IDLE))
            never_seen = false; /* these need the machine by their nature */
        if (!work->empty[view][k] || never_seen)
            tally_add(&tally, component_name(k), &work->piece[view][k], maker->arena,
                      work->scratch);
    }
    return tally_piece(&tally, &empty, maker);
}

void estimate_figures_of_block(struct block_work *work, struct figure_pieces *ret_pieces) {
    *ret_pieces = (struct figure_pieces){
        .computing = work->piece[VIEW_ALL][COMPONENT_RUNS],
        .reserved = figure_of(work, VIEW_MACHINE),
        .calendar = figure_of(work, VIEW_CALENDAR),
        .effort = figure_of(work, VIEW_EFFORT),
    };
}

static struct futures kept(const struct futures *futures, struct arena *arena) {
    struct futures copy = {
        .kind = futures->kind, .value = futures->value, .is_fixed = futures->is_fixed};
    if (futures->kind != FUTURES_DRAWN)
        return copy;
    copy.count = futures->count;
    copy.draws = arena_alloc(arena, copy.count * sizeof *copy.draws);
    memcpy(copy.draws, futures->draws, copy.count * sizeof *copy.draws);
    return copy;
}

void estimate_figures_keep(struct block_work *work, const struct figure_pieces *pieces) {
    struct arena *arena = work->maker->arena;
    work->ret->rented = (struct estimate_rented){
        .reserved = kept(&pieces->reserved.futures, arena),
        .per_rental = kept(&work->per_rental, arena),
        .repeated = kept(&work->repeated, arena),
    };
}

void estimate_figures_add(struct figure_tallies *tallies, const char *name,
                          const struct figure_pieces *pieces, struct arena *arena,
                          struct arena *scratch) {
    tally_add(&tallies->computing, name, &pieces->computing, arena, scratch);
    tally_add(&tallies->reserved, name, &pieces->reserved, arena, scratch);
    tally_add(&tallies->calendar, name, &pieces->calendar, arena, scratch);
    tally_add(&tallies->effort, name, &pieces->effort, arena, scratch);
}

/* Reserved time x reserved GPUs. */
static struct quantity gpu_time(struct estimate_maker *maker, const struct piece *reserved,
                                struct arena *scratch) {
    const struct plan_environment *environment = maker->environment;

    if (!environment)
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_ENTERED, _("the plan names no environment"));
    if (!environment->gpus.given)
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_ENTERED,
                             arena_printf(maker->arena,
                                          _("the plan leaves the GPUs of environment '%s' open"),
                                          environment->id));
    if (environment->gpus.value <= 0)
        return quantity_open(
            UNIT_SECOND, QUANTITY_NOT_APPLICABLE,
            arena_printf(maker->arena, _("environment '%s' has no GPU"), environment->id));
    if (!quantity_is_known(&reserved->quantity)) {
        struct quantity open =
            quantity_open(UNIT_SECOND, reserved->quantity.reason, reserved->quantity.detail);
        open.open_parts = reserved->quantity.open_parts;
        open.open_part_count = reserved->quantity.open_part_count;
        return open;
    }
    struct piece gpu = piece_scale(reserved, (double)environment->gpus.value, scratch);
    const char *source = plan_source(maker->plan, environment->gpus.at, maker->arena);
    piece_add_sources(&gpu.quantity, &source, 1, maker->arena);
    gpu.quantity.detail = arena_printf(maker->arena,
                                       msg_plural((unsigned long)environment->gpus.value,
                                                  "reserved time of %lld GPU, used or not",
                                                  "reserved time of %lld GPUs, used or not"),
                                       (long long)environment->gpus.value);
    return gpu.quantity;
}

static struct piece empty_figure(void) {
    return piece_open(QUANTITY_NO_EVIDENCE, _("the plan has no block or task"));
}

void estimate_figures_finish(struct estimate_maker *maker, struct figure_tallies *tallies,
                             struct estimate_figures *ret_figures) {
    struct piece empty = empty_figure();
    AUTO_ARENA struct arena *scratch = arena_new();
    struct piece reserved = tally_piece(&tallies->reserved, &empty, maker);
    *ret_figures = (struct estimate_figures){
        .computing = tally_piece(&tallies->computing, &empty, maker).quantity,
        .reserved = reserved.quantity,
        .calendar = tally_piece(&tallies->calendar, &empty, maker).quantity,
        .effort = tally_piece(&tallies->effort, &empty, maker).quantity,
        .gpu = gpu_time(maker, &reserved, scratch),
    };
}

void estimate_figures_of_pieces(struct estimate_maker *maker, const struct figure_pieces *pieces,
                                struct estimate_figures *ret_figures) {
    AUTO_ARENA struct arena *scratch = arena_new();
    *ret_figures = (struct estimate_figures){
        .computing = pieces->computing.quantity,
        .reserved = pieces->reserved.quantity,
        .calendar = pieces->calendar.quantity,
        .effort = pieces->effort.quantity,
        .gpu = gpu_time(maker, &pieces->reserved, scratch),
    };
}
