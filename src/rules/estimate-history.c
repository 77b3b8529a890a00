/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the conditions of an estimate may borrow from each other and from earlier studies: how far
 * runs of one condition lie apart, never how long they take (D4). A condition's own name stands in
 * the history, too, so that it is never its own example. Blocks are the families.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "forecast/condition.h"
#include "forecast/predict-parts.h"

#include <math.h>
#include <string.h>

#define NAMED_MOST   3u
#define COLD_PERCENT 2.0 /* slower first runs than that are worth a word */

struct estimate_history {
    struct history all; /* this study's conditions first */
    size_t own_count;
    const struct condition_model *model;
};

/* Oldest first: what a first run does to the later ones is part of what is learned. */
static double *in_order(const double *newest_first, size_t count, struct arena *arena) {
    double *seconds = arena_alloc(arena, (count + 1) * sizeof *seconds);
    for (size_t i = 0; i < count; i++)
        seconds[i] = newest_first[count - 1 - i];
    return seconds;
}

/* The same condition in two blocks has the same runs, and stands there once. */
static bool is_known(const struct history_condition *conditions, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(conditions[i].name, name) == 0)
            return true;
    return false;
}

static size_t add_own(const struct estimate_maker *maker, struct history_condition *conditions) {
    const struct study *study = maker->study;
    size_t count = 0;
    for (size_t b = 0; b < study->block_count; b++)
        for (size_t c = 0; c < study->blocks[b].condition_count; c++) {
            const struct study_condition *condition = &study->blocks[b].conditions[c];
            const struct run **runs;
            double *walls;
            size_t seen = estimate_counting_runs(condition, maker->arena, &runs, &walls);
            if (seen < 2 || !predict_is_positive(walls, seen) ||
                is_known(conditions, count, estimate_condition_key(condition->condition)))
                continue;
            conditions[count++] = (struct history_condition){
                .name = estimate_condition_key(condition->condition),
                .label = condition->condition->label,
                .family = study->blocks[b].block->id ? study->blocks[b].block->id : "",
                .seconds = in_order(walls, seen, maker->arena),
                .count = seen,
            };
        }
    return count;
}

void estimate_history_begin(struct estimate_maker *maker) {
    const struct study_input *input = maker->study->input;
    size_t most = input->past_count + 1;
    for (size_t b = 0; b < maker->study->block_count; b++)
        most += maker->study->blocks[b].condition_count;
    struct history_condition *conditions = arena_alloc(maker->arena, most * sizeof *conditions);
    struct estimate_history *history = arena_alloc(maker->arena, sizeof *history);

    history->own_count = add_own(maker, conditions);
    if (input->past_count > 0)
        memcpy(conditions + history->own_count, input->past,
               input->past_count * sizeof *conditions);
    history->all = (struct history){conditions, history->own_count + input->past_count};
    history->model = condition_model_new(&history->all, maker->arena);
    maker->ret->history = history;
}

/* ---- one condition ---- */

static size_t itself(const struct estimate_history *history, const char *key) {
    for (size_t i = 0; i < history->own_count; i++)
        if (strcmp(history->all.conditions[i].name, key) == 0)
            return i;
    return SPREAD_NOBODY;
}

bool estimate_history_lends(const struct estimate_history *history) {
    return history && history->model;
}

bool estimate_history_forecast(const struct estimate_history *history, const char *key,
                               const char *family, const double *seconds, size_t count,
                               const double *at_least, size_t at_least_count, uint64_t repeats,
                               struct arena *arena, struct condition_forecast *ret) {
    if (!history || !history->model || count == 0 || !predict_is_positive(seconds, count))
        return false;
    struct condition_own own = {.family = family,
                                .itself = itself(history, key),
                                .seconds = seconds,
                                .count = count,
                                .at_least = at_least,
                                .at_least_count = at_least_count};
    if (history->all.count < 2 && own.itself != SPREAD_NOBODY)
        return false; /* there is no other one */
    condition_forecast_make(history->model, &own, repeats, arena, ret);
    return true;
}

/* Runs that were stopped before they were done: each says that it would have taken longer. Those of
 * before the first run that counts may have been of other code. */
static double *cut_off(const struct block_work *work, const struct condition_work *c,
                       size_t *ret_count) {
    double *seconds = arena_alloc(work->draws, (c->study->run_count + 1) * sizeof *seconds);
    *ret_count = 0;
    for (size_t i = 0; i < c->study->run_count && c->count_used > 0; i++) {
        const struct run *run = c->study->runs[i]->run;
        bool stopped = run->outcome == OUTCOME_BUDGET || run->outcome == OUTCOME_INTERRUPTED ||
                       run->outcome == OUTCOME_PREEMPTED;
        if (stopped && c->study->runs[i]->planned &&
            c->study->runs[i]->environment == work->maker->environment &&
            run->validity != RUN_INVALID &&
            run->started_utc_ns > c->runs[c->count_used - 1]->started_utc_ns &&
            run->wall.state == QUANTITY_MEASURED && run->wall.bound != QUANTITY_AT_MOST &&
            isfinite(run->wall.value) && run->wall.value > 0.0)
            seconds[(*ret_count)++] = run->wall.value;
    }
    return seconds;
}

/* "prefill/length=4096, study 'first': size=2 and 5 others": where other studies lend, one of the
 * names is of them. */
static const char *whom(const struct estimate_history *history, size_t except,
                        struct arena *arena) {
    const char *text = NULL;
    size_t named = 0;
    size_t others = 0;
    bool is_past = history->all.count > history->own_count;
    for (size_t i = 0; i < history->all.count; i++) {
        const struct history_condition *condition = &history->all.conditions[i];
        const char *label = condition->label ? condition->label : condition->name;
        if (i == except || condition->count < 2)
            continue;
        if (named == NAMED_MOST - (is_past && i < history->own_count)) {
            others++;
            continue;
        }
        named++;
        text = text ? arena_printf(arena, "%s, %s", text, label) : label;
    }
    if (others > 0)
        text = arena_printf(
            arena, msg_plural((unsigned long)others, "%s and %zu other", "%s and %zu others"), text,
            others);
    return text ? text : "";
}

/* How the first run of conditions like these compares to the later ones, where it matters. */
static const char *first_run_text(const struct condition_forecast *forecast, struct arena *arena) {
    char percent[MSG_DECIMAL_SIZE];
    double over = 100.0 * (forecast->first_ratio - 1.0);
    if (forecast->first_left_out)
        return arena_printf(arena,
                            _("the first run is left out: it was slower than all others, as in "
                              "the other conditions (by %s %%)"),
                            msg_decimal(percent, "%.2g", over));
    if (!(over > COLD_PERCENT))
        return NULL;
    return arena_printf(arena,
                        _("first runs of the other conditions took %s %% longer than their later "
                          "ones: the forecast follows them"),
                        msg_decimal(percent, "%.2g", over));
}

static const char *detail_of(const struct condition_work *c, const struct estimate_history *history,
                             const struct condition_forecast *forecast, size_t at_least_count,
                             struct arena *arena) {
    size_t self = itself(history, estimate_condition_key(c->study->condition));
    const char *text =
        arena_printf(arena,
                     c->count_used == 1 ? _("one run of its own: how far its runs lie apart is "
                                            "borrowed from %s; repeat once to see its own spread")
                                        : _("how far its runs lie apart rests on %s, too"),
                     whom(history, self, arena));
    text = piece_join(arena, text, first_run_text(forecast, arena));
    if (at_least_count > 0)
        text = piece_join(
            arena, text,
            arena_printf(arena,
                         msg_plural((unsigned long)at_least_count,
                                    "%zu run that was stopped counts as at least its time",
                                    "%zu runs that were stopped count as at least their time"),
                         at_least_count));
    return text;
}

bool estimate_history_project(const struct block_work *work, const struct condition_work *c,
                              uint64_t repeats, const char *own, struct piece *ret) {
    const struct estimate_maker *maker = work->maker;
    const struct estimate_history *history = maker->ret->history;
    const char *key = estimate_condition_key(c->study->condition);
    const char *family = work->study->block->id ? work->study->block->id : "";
    struct condition_forecast forecast;
    size_t stopped = 0;

    if (repeats == 0)
        return false;
    double *at_least = cut_off(work, c, &stopped);
    if (!estimate_history_forecast(history, key, family,
                                   in_order(c->walls, c->count_used, work->draws), c->count_used,
                                   at_least, stopped, repeats, work->draws, &forecast))
        return false;
    ret->futures = simulate_condition(&forecast, family, estimate_stream(work, key, own),
                                      maker->draws, work->draws);
    ret->quantity = (struct quantity){
        .state = QUANTITY_ESTIMATED,
        .unit = UNIT_SECOND,
        .method = CONDITION_METHOD,
        .detail = ret->futures.too_wide ? estimate_runs_detail(c->count_used, &ret->futures)
                                        : detail_of(c, history, &forecast, stopped, maker->arena),
        .n = c->count_used,
        .basis = c->count_used == 1 ? "borrowed-spread" : "own-runs",
    };
    return true;
}
