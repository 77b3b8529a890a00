/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is left to do in a block, item by item: planned runs, split by the phases that were seen,
 * the steps it needs, retries, assumptions. A duration is only ever taken from runs of the same
 * condition (or step) in the target environment; what no run showed is open.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"

#include <math.h>
#include <string.h>

enum component estimate_component_of(enum phase phase) {
    switch (phase) {
    case PHASE_SETUP:
        return COMPONENT_PREPARE;
    case PHASE_TRANSFER:
        return COMPONENT_TRANSFER;
    case PHASE_DATA:
        return COMPONENT_DATA;
    case PHASE_EVALUATE:
        return COMPONENT_CHECKING;
    case PHASE_FIX:
        return COMPONENT_FIXING;
    case PHASE_TEARDOWN:
        return COMPONENT_TEARDOWN;
    case PHASE_LOAD:
    case PHASE_PREPROCESS:
    case PHASE_COMPUTE:
    case PHASE_WRITE:
    case PHASE_UNATTRIBUTED:
    case PHASE_COUNT_:
        break;
    }
    return COMPONENT_RUNS;
}

void estimate_item_add(struct estimate_component *component, size_t *room,
                       const struct estimate_item *item, struct arena *arena) {
    if (component->item_count == *room) {
        size_t more = *room ? 2 * *room : 4;
        struct estimate_item *items = arena_alloc(arena, more * sizeof *items);
        if (component->item_count > 0)
            memcpy(items, component->items, component->item_count * sizeof *items);
        component->items = items;
        *room = more;
    }
    component->items[component->item_count++] = *item;
}

/* ---- adding one ---- */

static void add_to_view(struct block_work *work, enum estimate_view view, enum component k,
                        const char *name, const struct piece *piece) {
    tally_add(&work->tally[view][k], name, piece, work->maker->arena, work->scratch);
}

void estimate_work_add(struct block_work *work, enum component k, struct estimate_item item,
                       const struct piece *piece, bool side_by_side) {
    if (work->replaced[k])
        return;
    item.time = piece->quantity;
    estimate_item_add(&work->ret->components[k], &work->item_room[k], &item, work->maker->arena);
    add_to_view(work, VIEW_ALL, k, item.name, piece);
    add_to_view(work, item.needs_machine == PLAN_NO ? VIEW_EFFORT : VIEW_MACHINE, k, item.name,
                piece);
    if (side_by_side)
        estimate_rule_note(work->lanes_rule,
                           quantity_is_known(&piece->quantity) &&
                               piece->quantity.state != QUANTITY_MEASURED,
                           _("no time of runs or repeats is known that lanes would divide"));
    if (item.needs_machine != PLAN_NO)
        estimate_precision_add(work, k, &item, piece);
    if (side_by_side && estimate_lanes_several(work))
        estimate_lanes_add(work, k, &item, piece);
    else
        add_to_view(work, VIEW_CALENDAR, k, item.name, piece);
}

/* ---- conditions: how many, and what was seen ---- */

size_t estimate_counting_runs(const struct study_condition *condition, struct arena *arena,
                              const struct run ***ret_runs, double **ret_walls) {
    const struct run **runs = arena_alloc(arena, (condition->run_count + 1) * sizeof *runs);
    double *walls = arena_alloc(arena, (condition->run_count + 1) * sizeof *walls);
    size_t count = 0;

    for (size_t i = 0; i < condition->run_count; i++) {
        const struct run *run = condition->runs[i]->run;
        if (condition->runs[i]->evidence.level != EVIDENCE_MEASURED ||
            run->wall.state != QUANTITY_MEASURED || run->wall.bound != QUANTITY_EXACT ||
            !isfinite(run->wall.value) || run->wall.value < 0.0)
            continue;
        runs[count] = run;
        walls[count++] = run->wall.value;
    }
    *ret_runs = runs;
    *ret_walls = walls;
    return count;
}

const char *estimate_block_source(const struct block_work *work, struct plan_at at) {
    const struct estimate_maker *maker = work->maker;
    return plan_source(maker->plan, at.line > 0 ? at : work->study->block->at, maker->arena);
}

/* Runs per condition: --set, else the plan, else an assumption. */
static void find_remaining(struct block_work *work, struct condition_work *c) {
    struct estimate_maker *maker = work->maker;
    const struct plan_block *block = work->study->block;
    struct estimate_rule *rule =
        estimate_rule_find(maker, block->id, ESTIMATE_RUNS, COMPONENT_RUNS, c->study->has_planned);
    uint64_t planned = rule ? (uint64_t)rule->number : c->study->planned;

    c->has_remaining = rule || c->study->has_planned;
    if (!c->has_remaining) {
        c->count = quantity_open(UNIT_COUNT, QUANTITY_NOT_ENTERED,
                                 _("the plan does not say how many runs"));
        return;
    }
    c->remaining = planned > c->study->done ? planned - c->study->done : 0;
    if (rule) {
        estimate_rule_note(rule, true, NULL);
        c->count = estimate_rule_quantity(maker, rule, UNIT_COUNT, (double)c->remaining);
        return;
    }
    const char *source = estimate_block_source(work, block->runs.at);
    c->count =
        quantity_measured(UNIT_COUNT, (double)c->remaining, "runs of the plan less those done");
    piece_add_sources(&c->count, &source, 1, maker->arena);
}

static void find_conditions(struct block_work *work) {
    struct arena *arena = work->maker->arena;
    const struct study_block *block = work->study;

    work->conditions = arena_alloc(arena, (block->condition_count + 1) * sizeof *work->conditions);
    work->condition_count = block->condition_count;
    work->ret->has_remaining = block->condition_count > 0;
    for (size_t i = 0; i < block->condition_count; i++) {
        struct condition_work *c = &work->conditions[i];
        c->study = &block->conditions[i];
        c->count_used = estimate_counting_runs(c->study, arena, &c->runs, &c->walls);
        c->is_unsupported = /* what ran and counts can run */
            c->study->condition->supported == PLAN_NO && c->study->level != EVIDENCE_MEASURED &&
            c->count_used == 0;
        c->sources = arena_alloc(arena, (c->count_used + 1) * sizeof *c->sources);
        for (size_t r = 0; r < c->count_used; r++)
            c->sources[r] = arena_strdup(arena, c->runs[r]->id ? c->runs[r]->id : "");
        find_remaining(work, c);
        work->ret->has_remaining &= c->has_remaining;
        work->ret->remaining += c->remaining;
    }
    work->nothing_left = work->ret->has_remaining && work->ret->remaining == 0;
}

static void find_lanes(struct block_work *work) {
    const struct plan_block *block = work->study->block;
    bool given = block->lanes.given && block->lanes.value >= 1;
    struct estimate_rule *rule =
        estimate_rule_find(work->maker, block->id, ESTIMATE_LANES, COMPONENT_RUNS, given);

    work->lanes = given ? (uint64_t)block->lanes.value : 1;
    if (rule) {
        work->lanes = (uint64_t)rule->number;
        work->lanes_rule = rule;
    }
}

void estimate_block_begin(struct block_work *work) {
    find_conditions(work);
    find_lanes(work);
}

/* ---- planned runs ---- */

struct simulate_stream estimate_stream(const struct block_work *work, const char *shared,
                                       const char *own) {
    return (struct simulate_stream){
        .seed = work->maker->seed, .shared = shared, .own = own, .common = work->maker->common};
}

const char *estimate_condition_key(const struct plan_condition *condition) {
    return condition->id[0] ? condition->id : condition->label ? condition->label : "";
}

const char *estimate_condition_name(const struct condition_work *c) {
    return c->study->condition->label ? c->study->condition->label : "";
}

const char *estimate_why_unsupported(void) {
    return _("the plan says that the code does not support it");
}

/* "probelauf.yaml:52, generate.py:120": the value that is not supported, else the condition. */
const char *estimate_unsupported_at(const struct plan *plan, const struct plan_condition *condition,
                                    struct arena *arena) {
    const struct plan_block *block = condition->block;
    for (size_t a = 0; a < condition->axis_count; a++)
        for (size_t i = 0; block && i < block->axis_count; i++)
            for (size_t v = 0; v < block->axes[i].value_count; v++) {
                const struct plan_value *value = &block->axes[i].values[v];
                if (value->supported != PLAN_NO ||
                    strcmp(block->axes[i].name, condition->axes[a].name) != 0 ||
                    strcmp(value->text, condition->axes[a].value) != 0)
                    continue;
                const char *line =
                    plan_source(plan, value->at.line > 0 ? value->at : block->axes[i].at, arena);
                return value->supported_source
                           ? arena_printf(arena, "%s, %s", line, value->supported_source)
                           : line;
            }
    return plan_source(plan, condition->at, arena);
}

static struct piece unsupported(const struct block_work *work, const struct condition_work *c) {
    struct arena *arena = work->maker->arena;
    return piece_open(
        QUANTITY_NOT_SUPPORTED,
        arena_printf(arena, _("the plan says that the code does not support it (%s)"),
                     estimate_unsupported_at(work->maker->plan, c->study->condition, arena)));
}

static const char *why_no_evidence(const struct condition_work *c) {
    if (c->is_unsupported)
        return estimate_why_unsupported();
    if (c->study->level == EVIDENCE_FUNCTION_TEST)
        return _("only function tests");
    return c->study->why ? c->study->why : _("no run counts");
}

/* Why there is nothing to project from, and what would change it. */
static struct piece no_evidence(const struct block_work *work, const struct condition_work *c) {
    struct arena *arena = work->maker->arena;
    if (c->is_unsupported)
        return unsupported(work, c);
    const char *what = c->study->level == EVIDENCE_FUNCTION_TEST
                           ? _("only function tests: they are never projected from")
                           : _("no run counts for it");
    return piece_open(QUANTITY_NO_EVIDENCE, piece_join(arena, what, c->study->why));
}

const char *estimate_runs_detail(size_t count, const struct futures *futures) {
    if (count == 1)
        return _("one run is no promise: there is no interval; repeat once to get one");
    if (futures->kind == FUTURES_VALUE)
        return _("in some of the runs it took no time that the clock shows: there is no interval");
    if (futures->too_wide)
        return _("the interval is open (too-few-runs): these runs lie so far apart that its upper "
                 "end would exceed ten times the median; a further run narrows it");
    return NULL;
}

/* From its own runs alone. */
static struct piece project_alone(const struct block_work *work, const struct condition_work *c,
                                  uint64_t repeats, const char *own) {
    const struct estimate_maker *maker = work->maker;
    struct piece piece = {
        .futures =
            simulate_runs(c->walls, c->count_used, repeats, (struct simulate_spread){0.0, 0.0},
                          estimate_stream(work, estimate_condition_key(c->study->condition), own),
                          maker->draws, work->draws, NULL)};
    piece.quantity = (struct quantity){
        .state = QUANTITY_ESTIMATED,
        .unit = UNIT_SECOND,
        .method = piece.futures.kind == FUTURES_DRAWN ? PREDICT_METHOD : "observed wall time",
        .detail = estimate_runs_detail(c->count_used, &piece.futures),
        .n = c->count_used,
        .basis = "own-runs",
    };
    return piece;
}

/* `repeats` runs of the condition: its own value, and where there is one the history's spread. */
static struct piece project(const struct block_work *work, const struct condition_work *c,
                            uint64_t repeats, const char *own) {
    const struct estimate_maker *maker = work->maker;
    struct piece piece;
    if (c->count_used == 0)
        return no_evidence(work, c);
    if (!estimate_history_project(work, c, repeats, own, &piece))
        piece = project_alone(work, c, repeats, own);
    if (piece.futures.kind == FUTURES_OPEN)
        return no_evidence(work, c);
    piece_take_futures(&piece);
    piece_add_sources(&piece.quantity, c->sources, c->count_used, maker->arena);
    estimate_class_project(work, c, repeats, own, &piece);
    return piece;
}

/* A piece made of `count` units: an assumed count makes the whole assumed. */
void estimate_take_count(const struct block_work *work, struct piece *piece,
                         const struct quantity *count) {
    struct quantity *q = &piece->quantity;
    if (!quantity_is_known(q))
        return;
    piece_add_sources(q, count->sources, count->source_count, work->maker->arena);
    if (count->state != QUANTITY_ASSUMED)
        return;
    q->detail = q->state == QUANTITY_ASSUMED
                    ? piece_join(work->maker->arena, q->detail, count->detail)
                    : count->detail;
    q->state = QUANTITY_ASSUMED;
    piece_take_futures(piece);
}

bool estimate_is_separated(const struct run *run) {
    for (enum phase phase = PHASE_SETUP; phase < PHASE_UNATTRIBUTED; phase++)
        if (quantity_is_known(&run->phase[phase]))
            return true;
    return false;
}

/* Shares of the wall time by component, over the runs that tell their phases apart; without any of
 * them all of it is runs. */
static void find_shares(const struct condition_work *c, double *ret_shares) {
    double walls = 0.0;
    double rest = 1.0;

    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        ret_shares[k] = 0.0;
    for (size_t i = 0; i < c->count_used; i++)
        walls += estimate_is_separated(c->runs[i]) ? c->walls[i] : 0.0;
    for (size_t i = 0; i < c->count_used && walls > 0.0; i++)
        for (enum phase phase = PHASE_SETUP; phase < PHASE_UNATTRIBUTED; phase++) {
            const struct quantity *q = &c->runs[i]->phase[phase];
            if (q->state == QUANTITY_MEASURED && isfinite(q->value) && q->value > 0.0)
                ret_shares[estimate_component_of(phase)] += q->value / walls;
        }
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        if (k == COMPONENT_RUNS)
            continue;
        ret_shares[k] = fmin(ret_shares[k], rest); /* a record cannot say more than all of it */
        rest -= ret_shares[k];
    }
    ret_shares[COMPONENT_RUNS] = rest;
}

/* The assumed duration of one run, if it holds here: a --set always, the plan's only without
 * evidence. */
static struct estimate_rule *run_time_rule(const struct block_work *work,
                                           const struct condition_work *c) {
    return estimate_rule_find(work->maker, work->study->block->id, ESTIMATE_RUN_TIME,
                              COMPONENT_RUNS, c->count_used > 0);
}

static void add_runs_alone(struct block_work *work, struct estimate_item item, struct piece piece) {
    estimate_take_count(work, &piece, &item.count);
    estimate_work_add(work, COMPONENT_RUNS, item, &piece, true);
}

static void add_runs(struct block_work *work, const struct condition_work *c) {
    struct estimate_maker *maker = work->maker;
    struct estimate_item item = {
        .name = estimate_condition_name(c),
        .condition = c->study->condition,
        .why = c->has_remaining ? why_no_evidence(c) : c->count.detail,
        .remedy = !c->has_remaining   ? ESTIMATE_ENTER
                  : c->is_unsupported ? ESTIMATE_SUPPORT
                                      : ESTIMATE_MAKE_RUN,
        .count = c->count,
        .needs_machine = PLAN_YES,
    };
    struct estimate_rule *rule = run_time_rule(work, c);
    bool is_done = c->has_remaining && c->remaining == 0;
    if (c->is_unsupported && !is_done) {
        estimate_rule_note(rule, false, estimate_why_unsupported());
        rule = NULL;
    }
    struct piece unit =
        rule && !is_done ? piece_open(QUANTITY_NO_EVIDENCE, NULL) : project(work, c, 1, NULL);

    item.unit = unit.quantity;
    if (is_done)
        estimate_rule_note(rule, false, _("nothing is left to do there"));
    else
        estimate_rule_note(rule, c->has_remaining, c->count.detail);
    if (is_done) {
        add_runs_alone(work, item, piece_nothing(maker->arena, NULL));
        return;
    }
    if (rule) {
        item.unit = estimate_rule_quantity(maker, rule, UNIT_SECOND, rule->number);
        if (c->has_remaining)
            add_runs_alone(work, item,
                           estimate_rule_piece(maker, rule, rule->number * (double)c->remaining));
    }
    if (!c->has_remaining) {
        add_runs_alone(work, item, piece_open(QUANTITY_NOT_ENTERED, c->count.detail));
        return;
    }
    if (rule)
        return;
    if (c->count_used == 0) {
        add_runs_alone(work, item, no_evidence(work, c));
        return;
    }
    double shares[COMPONENT_COUNT_];
    find_shares(c, shares);
    struct piece wall = project(work, c, c->remaining, work->study->block->id);
    estimate_take_count(work, &wall, &c->count);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        if (k != COMPONENT_RUNS && shares[k] <= 0.0)
            continue;
        struct piece part = shares[k] < 1.0 ? piece_scale(&wall, shares[k], work->draws) : wall;
        struct piece one = shares[k] < 1.0 ? piece_scale(&unit, shares[k], work->draws) : unit;
        item.unit = one.quantity;
        estimate_work_add(work, k, item, &part, true);
    }
}

/* ---- the block ---- */

static void add_assumed_component(struct block_work *work, enum component k,
                                  struct estimate_rule *rule) {
    struct estimate_maker *maker = work->maker;
    struct estimate_item item = {
        .name = rule->setting.key,
        .count = estimate_rule_quantity(maker, rule, UNIT_COUNT, 1.0),
        .unit = estimate_rule_quantity(maker, rule, UNIT_SECOND, rule->number),
        .needs_machine = k == COMPONENT_RETRIES || k == COMPONENT_IDLE ? PLAN_YES : PLAN_UNSAID,
    };
    struct piece piece = estimate_rule_piece(maker, rule, rule->number);
    estimate_rule_note(rule, true, NULL);
    work->replaced[k] = false;
    work->ret->components[k].item_count = 0;
    for (enum estimate_view view = VIEW_ALL; view < VIEW_COUNT_; view++)
        work->tally[view][k] = (struct tally){.count = 0};
    estimate_work_add(work, k, item, &piece, k == COMPONENT_RETRIES);
}

static bool has_known(const struct tally *tally) {
    return tally->sum.kind != FUTURES_OPEN;
}

static const char *why_empty(enum component k) {
    switch (k) {
    case COMPONENT_PREPARE:
        return _("preparing the environment was not seen: no step, phase or assumption says how "
                 "long it takes");
    case COMPONENT_DATA:
        return _("fetching and preparing data was not seen: no step, phase or assumption says how "
                 "long it takes");
    case COMPONENT_TRANSFER:
        return _("transfer of inputs and results was not seen: no step, phase or assumption says "
                 "how long it takes");
    case COMPONENT_RUNS:
        return _("the block has no condition");
    case COMPONENT_RETRIES:
        return _("no attempt was seen");
    case COMPONENT_FIXING:
        return _("fixing and work by hand was not seen: no step, phase or assumption says how "
                 "long it takes");
    case COMPONENT_CHECKING:
        return _("checking the results was not seen: no step, phase or assumption says how long "
                 "it takes");
    case COMPONENT_TEARDOWN:
        return _("cleaning up was not seen: no step, phase or assumption says how long it takes");
    case COMPONENT_IDLE:
        return _("no session of the study was recorded to its end in this environment");
    case COMPONENT_COUNT_:
        break;
    }
    return NULL;
}

static void finish_component(struct block_work *work, enum component k) {
    struct estimate_maker *maker = work->maker;
    struct piece empty = piece_open(QUANTITY_NO_EVIDENCE, why_empty(k));
    if (work->nothing_left)
        empty =
            piece_nothing(maker->arena, estimate_block_source(work, work->study->block->runs.at));
    work->ret->components[k].component = k;
    for (enum estimate_view view = VIEW_ALL; view < VIEW_COUNT_; view++) {
        work->empty[view][k] = work->tally[view][k].count == 0;
        work->piece[view][k] = tally_piece(&work->tally[view][k], &empty, maker);
    }
    if (estimate_lanes_several(work))
        estimate_lanes_keep_open(work, k);
    work->ret->components[k].time = work->piece[VIEW_ALL][k].quantity;
}

static void add_condition(struct block_work *work, const struct condition_work *c) {
    work->draws = arena_new();
    add_runs(work, c);
    if (!work->nothing_left && !work->replaced[COMPONENT_RETRIES])
        estimate_add_retries(work, c);
    work->draws = arena_free(work->draws);
}

void estimate_block_items(struct block_work *work) {
    struct estimate_maker *maker = work->maker;
    const struct plan_block *block = work->study->block;

    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_ && !work->nothing_left; k++)
        work->replaced[k] = k != COMPONENT_RUNS &&
                            estimate_rule_find(maker, block->id, ESTIMATE_COMPONENT, k, true);
    for (size_t i = 0; i < work->condition_count; i++)
        add_condition(work, &work->conditions[i]);
    for (size_t i = 0; i < block->steps.count && !work->nothing_left; i++) {
        const struct plan_step *step = plan_step_find(maker->plan, block->steps.items[i].text);
        if (!step || work->replaced[step->component])
            continue;
        work->draws = arena_new();
        estimate_add_step(work, step);
        work->draws = arena_free(work->draws);
    }
    work->draws = work->scratch;
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_ && !work->nothing_left; k++) {
        if (k == COMPONENT_IDLE && !work->replaced[k])
            estimate_add_idle(work);
        struct estimate_rule *rule =
            k == COMPONENT_RUNS
                ? NULL
                : estimate_rule_find(maker, block->id, ESTIMATE_COMPONENT, k, work->replaced[k]);
        if (rule && (work->replaced[k] || !has_known(&work->tally[VIEW_ALL][k])))
            add_assumed_component(work, k, rule);
    }
    estimate_lanes_finish(work);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        finish_component(work, k);
}
