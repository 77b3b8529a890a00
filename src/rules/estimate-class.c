/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The assumption that work varies as that of a reference class (estimate-class.h). Must not touch a
 * piece that rests on runs of its own study, nor give a value to what has no run.
 */
#include "rules/estimate-class.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/strbuf.h"
#include "forecast/class-retries.h"
#include "forecast/condition.h"
#include "rules/estimate-parts.h"

#include <math.h>
#include <string.h>

const char *estimate_class_sources(const struct forecast_class *class, struct arena *arena) {
    const char *all = NULL;
    const struct class_source *source;
    for (size_t i = 0; (source = forecast_class_source(class, i)); i++)
        all = piece_join(arena, all, arena_printf(arena, "%s, %s", source->name, source->licence));
    return all ? all : "";
}

/* ---- while the estimate with the class is made ---- */

void estimate_class_begin(struct estimate_maker *maker, const struct forecast_class *class) {
    maker->class = class;
    if (!class)
        return;
    struct history *history = arena_alloc(maker->arena, sizeof *history);
    *history = forecast_class_history(class, NULL, maker->arena);
    maker->class_model = condition_model_new(history, maker->arena);
}

static const char *variation_text(const struct estimate_maker *maker) {
    return arena_printf(maker->arena, _("assumed: as conditions of the class '%s' vary (%s)"),
                        forecast_class_name(maker->class),
                        estimate_class_sources(maker->class, maker->arena));
}

/* Oldest first; NULL: one of them has no logarithm. */
static double *walls_in_order(const struct condition_work *c, struct arena *arena) {
    double *walls = arena_alloc(arena, c->count_used * sizeof *walls);
    for (size_t i = 0; i < c->count_used; i++) {
        walls[i] = c->walls[c->count_used - 1 - i];
        if (!isfinite(walls[i]) || walls[i] <= 0.0)
            return NULL;
    }
    return walls;
}

void estimate_class_project(const struct block_work *work, const struct condition_work *c,
                            uint64_t repeats, const char *own, struct piece *piece) {
    const struct estimate_maker *maker = work->maker;
    bool lacks = piece->futures.kind == FUTURES_VALUE && !piece->futures.is_fixed;
    if (!maker->class || !lacks || repeats == 0 || c->count_used == 0)
        return;
    const double *walls = walls_in_order(c, work->draws);
    const char *family = work->study->block->id ? work->study->block->id : "";
    if (!walls)
        return;
    const struct condition_own runs = {
        .family = family, .itself = SPREAD_NOBODY, .seconds = walls, .count = c->count_used};
    struct condition_forecast forecast;
    condition_forecast_make(maker->class_model, &runs, repeats, work->draws, &forecast);
    forecast_class_widen(&forecast, c->count_used);
    piece->futures = simulate_condition(
        &forecast, family, estimate_stream(work, estimate_condition_key(c->study->condition), own),
        maker->draws, work->draws);
    piece->quantity.state = QUANTITY_ASSUMED;
    piece->quantity.method = CONDITION_METHOD;
    piece->quantity.basis = ESTIMATE_BASIS_CLASS;
    piece->quantity.detail = variation_text(maker);
    piece_take_futures(piece);
}

/* Did an attempt of the study fail? Then its own failures say more than those of strangers. */
static bool has_failure(const struct study *study) {
    for (size_t i = 0; i < study->run_count; i++)
        if (study->runs[i].is_attempt && study->runs[i].run->outcome != OUTCOME_OK)
            return true;
    return false;
}

static const char *failing_text(const struct estimate_maker *maker) {
    const struct class_failures *failures = forecast_class_failures(maker->class);
    return arena_printf(maker->arena,
                        _("assumed: as attempts of the class '%s' fail (%s: %zu of %zu after a "
                          "success, %zu of %zu after a failure)"),
                        forecast_class_name(maker->class), failures->sources,
                        failures->after_success.failures, failures->after_success.attempts,
                        failures->after_failure.failures, failures->after_failure.attempts);
}

void estimate_class_retries(const struct block_work *work, const struct condition_work *c,
                            int64_t retry_max, struct quantity *count, struct piece *piece) {
    const struct estimate_maker *maker = work->maker;
    if (!maker->class || quantity_is_known(&piece->quantity) || !c->has_remaining ||
        c->is_unsupported || c->count_used == 0 || has_failure(maker->study))
        return;
    const char *stream =
        arena_printf(maker->arena, "class retries %s", estimate_condition_key(c->study->condition));
    double left = 0.0;
    double failed = 0.0;
    struct futures futures = class_retries(
        forecast_class_failures(maker->class), predict_median(c->walls, c->count_used),
        c->remaining, retry_max, estimate_stream(work, stream, work->study->block->id),
        maker->draws, work->draws, &left, &failed);
    if (futures.kind == FUTURES_OPEN)
        return;
    piece->futures = futures;
    piece->quantity = (struct quantity){.state = QUANTITY_ASSUMED,
                                        .bound = left > 0.0 ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                                        .unit = UNIT_SECOND,
                                        .method = "class-retries/1",
                                        .detail = failing_text(maker),
                                        .n = c->count_used,
                                        .basis = ESTIMATE_BASIS_CLASS};
    piece_take_futures(piece);
    piece_add_sources(&piece->quantity, c->sources, c->count_used, maker->arena);
    *count = (struct quantity){.state = QUANTITY_ASSUMED,
                               .value = failed,
                               .unit = UNIT_COUNT,
                               .method = "class-retries/1",
                               .detail = piece->quantity.detail};
}

/* ---- beside the estimate ---- */

static bool is_by_class(const struct quantity *q) {
    return q->basis && strcmp(q->basis, ESTIMATE_BASIS_CLASS) == 0;
}

/* parts NULL: only counts. */
static size_t list_parts(const struct estimate *with, struct estimate_class_part *parts) {
    size_t count = 0;
    for (size_t b = 0; b < with->block_count; b++)
        for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
            const struct estimate_component *component = &with->blocks[b].components[k];
            for (size_t i = 0; i < component->item_count; i++) {
                const struct estimate_item *item = &component->items[i];
                if (!is_by_class(&item->time))
                    continue;
                if (parts)
                    parts[count] = (struct estimate_class_part){with->blocks[b].block->block, k,
                                                                item->name, item->time};
                count++;
            }
        }
    return count;
}

int estimate_class_make(const struct estimate_options *options, const struct forecast_class *class,
                        struct arena *arena, struct estimate *estimate, struct err *err) {
    struct estimate *with = arena_alloc(arena, sizeof *with);
    struct estimate_options as_class = *options;
    as_class.class = class;
    int rc = estimate_make(estimate->study, &as_class, arena, with, err);
    if (rc < 0)
        return rc;
    size_t count = list_parts(with, NULL);
    struct estimate_class_part *parts = arena_alloc(arena, (count + 1) * sizeof *parts);
    list_parts(with, parts);
    struct estimate_class *made = arena_alloc(arena, sizeof *made);
    *made = (struct estimate_class){.class = class,
                                    .sources = estimate_class_sources(class, arena),
                                    .with = with,
                                    .parts = parts,
                                    .part_count = count};
    estimate->by_class = made;
    return 0;
}
