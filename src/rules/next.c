/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The advice (next.h): the parts that are left, ranked by forecast/preposterior.h. Must not offer
 * what the plan's gates forbid, and must not call a total narrow that lacks a part one could run.
 */
#include "rules/next.h"

#include "base/msg.h"
#include "forecast/condition.h"
#include "rules/estimate-parts.h"
#include "rules/next-parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY_PARTS    40u /* beyond, fewer futures: the work grows with the parts */
#define LEAST_FUTURES 200u
#define MINUTE_S      60.0

const char *next_verdict_name(enum next_verdict verdict) {
    static const char *const names[NEXT_VERDICT_COUNT_] = {
        [NEXT_RUN] = "run",
        [NEXT_WITHIN_TARGET] = "within-target",
        [NEXT_NOT_WORTH] = "not-worth-it",
        [NEXT_BLOCKED] = "blocked",
        [NEXT_NOTHING_LEFT] = "nothing-left",
    };
    assert(verdict < NEXT_VERDICT_COUNT_);
    return names[verdict];
}

const char *next_kind_name(enum next_kind kind) {
    static const char *const names[NEXT_KIND_COUNT_] = {
        [NEXT_FIRST] = "first", [NEXT_REPEAT] = "repeat", [NEXT_NARROW] = "narrow"};
    assert(kind < NEXT_KIND_COUNT_);
    return names[kind];
}

struct made {
    struct next_advice *ret;
    struct arena *arena;
    struct next_parts found;
    const struct next_part **parts;   /* those that are simulated */
    struct preposterior_part *models; /* of each */
    size_t count, cannot;             /* cannot: of no known time, and no run would tell */
    struct preposterior_total total;
    struct preposterior_trial *trials; /* of each */
    size_t *order;                     /* of the offered ones */
};

/* ---- what is simulated ---- */

static void choose_parts(struct made *m) {
    m->parts = arena_alloc(m->arena, (m->found.count + 1) * sizeof(const struct next_part *));
    m->models = arena_alloc(m->arena, (m->found.count + 1) * sizeof *m->models);
    for (size_t i = 0; i < m->found.count; i++) {
        const struct next_part *part = &m->found.items[i];
        bool is_open = part->remaining == 0; /* and then only a first run is worth a word */
        if ((part->count == 0 && !part->block) || (part->count > 0 && is_open)) {
            m->cannot++;
            continue;
        }
        bool once = part->step && part->step->repeats == PLAN_ONCE;
        m->models[m->count] = (struct preposterior_part){
            .name = part->condition && part->condition->id[0] ? part->condition->id : part->name,
            .values = part->values,
            .count = part->count,
            .remaining = is_open ? 1 : part->remaining,
            .is_offered = part->block != NULL,
            .uses_one = part->condition || once,
            .may_borrow = part->condition != NULL,
            .extra_cost = quantity_is_known(&part->lost) ? part->lost.value : 0.0,
            .own = part,
        };
        m->parts[m->count++] = part;
    }
}

/* ---- the model ---- */

/* As the estimate forecasts a condition (rules/estimate-history.c); steps, and studies without
 * anything to borrow, by their own runs. */
static struct futures predict(const void *context, const struct preposterior_part *part,
                              const double *values, size_t count, uint64_t repeats,
                              struct simulate_spread borrow, struct simulate_stream stream,
                              size_t draws, struct arena *arena, bool *ret_borrowed) {
    const struct estimate *estimate = context;
    const struct next_part *own = part->own;
    struct condition_forecast forecast;

    if (repeats == 0 || !own->condition ||
        !estimate_history_forecast(estimate->history, part->name, own->family, values, count, NULL,
                                   0, repeats, arena, &forecast))
        return simulate_runs(values, count, repeats, borrow, stream, draws, arena, ret_borrowed);
    if (ret_borrowed)
        *ret_borrowed = count == 1;
    return simulate_condition(&forecast, own->family, stream, draws, arena);
}

static size_t usual_futures(size_t parts) {
    size_t futures = PREPOSTERIOR_FUTURES;
    if (parts > MANY_PARTS)
        futures = PREPOSTERIOR_FUTURES * (size_t)MANY_PARTS / parts;
    return futures > LEAST_FUTURES ? futures : LEAST_FUTURES;
}

/* ---- the total ---- */

static void take_total(struct made *m) {
    struct next_advice *ret = m->ret;
    struct quantity *q = &ret->total;
    bool borrowed = false;

    ret->unknown = m->total.unknown + m->cannot;
    ret->width_ratio = NAN;
    if (m->found.count == 0) {
        *q = quantity_measured(UNIT_SECOND, 0.0, "nothing left to run");
        return;
    }
    if (!isfinite(m->total.p50)) {
        *q = quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE,
                           _("no run of what is left counts yet"));
        return;
    }
    *q = (struct quantity){.state = QUANTITY_ESTIMATED,
                           .unit = UNIT_SECOND,
                           .value = m->total.p50,
                           .method = NEXT_METHOD};
    q->bound = ret->unknown > 0 || ret->not_counted_count > 0 ? QUANTITY_AT_LEAST : QUANTITY_EXACT;
    for (size_t i = 0; i < m->count; i++) {
        piece_add_sources(q, m->parts[i]->sources, m->parts[i]->count, m->arena);
        q->n += m->parts[i]->count;
        borrowed |= m->trials[i].borrowed;
    }
    q->basis = borrowed ? "borrowed-spread" : "own-runs";
    if (m->total.has_interval)
        ret->width_ratio = (m->total.p95 - m->total.p05) / m->total.p50;
    if (m->total.too_wide || !m->total.has_interval) {
        q->detail = m->total.too_wide
                        ? _("the interval is open (too-few-runs): runs of a part lie too far "
                            "apart to say how long further ones may take")
                        : _("it has no interval, because a part of it has none");
        return;
    }
    q->has_interval = true;
    q->level = PREDICT_LEVEL;
    q->p05 = m->total.p05;
    q->p95 = m->total.p95;
}

/* ---- one trial ---- */

static struct quantity figure(const struct next_part *part, const char *unit, double value,
                              struct arena *arena) {
    if (!isfinite(value))
        return quantity_open(unit, QUANTITY_NO_EVIDENCE, NULL);
    struct quantity q = {.state = QUANTITY_ESTIMATED,
                         .unit = unit,
                         .value = value,
                         .method = NEXT_METHOD,
                         .n = part->count};
    piece_add_sources(&q, part->sources, part->count, arena);
    return q;
}

static double gpus_of(const struct estimate *estimate) {
    return estimate->has_gpus && estimate->reserved_gpus > 0 ? (double)estimate->reserved_gpus
                                                             : 1.0;
}

static const char *command_of(const struct made *m, const struct next_part *part) {
    const char *command = part->step
                              ? estimate_step_command(part->step, m->arena)
                              : estimate_condition_command(part->block, part->condition, m->arena);
    return estimate_command_in(m->ret->estimate->study, command, m->arena);
}

static enum next_kind kind_of(enum preposterior_kind kind) {
    return kind == PREPOSTERIOR_FIRST    ? NEXT_FIRST
           : kind == PREPOSTERIOR_REPEAT ? NEXT_REPEAT
                                         : NEXT_NARROW;
}

static void fill(const struct made *m, size_t i, struct next_trial *ret) {
    const struct next_part *part = m->parts[i];
    const struct preposterior_trial *trial = &m->trials[i];
    double gpus = gpus_of(m->ret->estimate);
    double alone = trial->cost - m->models[i].extra_cost;

    *ret = (struct next_trial){
        .kind = kind_of(trial->kind),
        .block = part->block,
        .condition = part->condition,
        .step = part->step,
        .name = part->name,
        .command = command_of(m, part),
        .seen = part->count,
        .left = part->remaining,
        .time = figure(part, UNIT_SECOND, alone, m->arena),
        .lost = part->lost,
        .cost = figure(part, UNIT_SECOND, trial->cost * gpus, m->arena),
        .narrowing = figure(part, UNIT_RATIO, trial->narrowing, m->arena),
        .reserve_drop = figure(part, UNIT_SECOND, trial->reserve_drop, m->arena),
        .rate = trial->rate * MINUTE_S / gpus,
        .rate_runs = trial->rate_runs,
        .share = trial->share,
        .pays = trial->kind != PREPOSTERIOR_NARROW || trial->reserve_drop > trial->cost,
    };
    ret->reason = next_reason(ret, part, trial->borrowed, trial->gives_interval, m->arena);
}

/* ---- ranking ---- */

/* Of equals the order of the parts holds. */
static void sort_trials(struct made *m, size_t *ret_count) {
    size_t count = 0;
    m->order = arena_alloc(m->arena, (m->count + 1) * sizeof *m->order);
    for (size_t i = 0; i < m->count; i++) {
        if (m->trials[i].kind == PREPOSTERIOR_NONE)
            continue;
        size_t at = count++;
        while (at > 0 && preposterior_compare(&m->trials[i], &m->trials[m->order[at - 1]]) < 0) {
            m->order[at] = m->order[at - 1];
            at--;
        }
        m->order[at] = i;
    }
    *ret_count = count;
}

static void list_not_counted(struct made *m) {
    const struct estimate *estimate = m->ret->estimate;
    const struct estimate_open **list =
        arena_alloc(m->arena, (estimate->open_count + 1) * sizeof(const struct estimate_open *));
    for (size_t i = 0; i < estimate->open_count; i++) {
        const struct estimate_open *open = &estimate->open[i];
        if (open->kind != ESTIMATE_MAKE_RUN && open->kind != ESTIMATE_RUN_STEP &&
            open->kind != ESTIMATE_SUPPORT) /* these stand among what is not offered */
            list[m->ret->not_counted_count++] = open;
    }
    m->ret->not_counted = list;
}

static enum next_verdict judge(const struct made *m) {
    const struct next_advice *ret = m->ret;
    bool any_pays = false;
    if (m->found.count == 0)
        return ret->refused_count > 0 ? NEXT_BLOCKED : NEXT_NOTHING_LEFT;
    for (size_t i = 0; i < ret->trial_count; i++)
        any_pays |= ret->trials[i].pays;
    if (m->count == 0)
        return NEXT_BLOCKED;
    if (preposterior_is_within(&m->total, ret->within))
        return NEXT_WITHIN_TARGET;
    if (ret->trial_count == 0)
        return NEXT_BLOCKED;
    return any_pays ? NEXT_RUN : NEXT_NOT_WORTH;
}

void next_make(const struct estimate *estimate, const struct next_options *options,
               struct arena *arena, struct next_advice *ret) {
    struct made m = {.ret = ret, .arena = arena, .found = {.estimate = estimate, .arena = arena}};

    next_parts_find(&m.found);
    choose_parts(&m);
    *ret = (struct next_advice){
        .estimate = estimate,
        .within = options->within > 0.0 ? options->within : NEXT_WITHIN,
        .seed = options->seed,
        .futures = options->futures > 0 ? options->futures : usual_futures(m.count),
        .outcomes = options->outcomes > 0 ? options->outcomes : PREPOSTERIOR_OUTCOMES,
        .refused = m.found.refused,
        .refused_count = m.found.refused_count,
        .has_gpus = estimate->has_gpus && estimate->reserved_gpus > 0,
    };
    m.trials = arena_alloc(arena, (m.count + 1) * sizeof *m.trials);
    const struct preposterior_options how = {
        .seed = ret->seed, .futures = ret->futures, .outcomes = ret->outcomes};
    /* where nothing can be borrowed yet, a second run of one condition lends to the others */
    const struct preposterior_model model = {.predict = predict,
                                             .pool_with = estimate_history_lends(estimate->history)
                                                              ? NULL
                                                              : preposterior_usual_model.pool_with,
                                             .context = estimate};
    preposterior_rank(m.models, m.count, &model, &how, &m.total, m.trials);
    list_not_counted(&m);
    take_total(&m);
    size_t count;
    sort_trials(&m, &count);
    struct next_trial *trials = arena_alloc(arena, (count + 1) * sizeof *trials);
    for (size_t i = 0; i < count; i++)
        fill(&m, m.order[i], &trials[i]);
    ret->trials = trials;
    ret->trial_count = count;
    ret->verdict = judge(&m);
    ret->why = next_verdict_text(ret, arena);
}
