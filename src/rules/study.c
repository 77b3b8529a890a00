/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plan and records of a study joined: blocks with what they have come to, freezes, open facts, and
 * the time that the runs took. Runs and conditions are joined in study-join.c, results are judged
 * in claims.c. Pure: all it knows is its input.
 */
#include "rules/study.h"
#include "rules/claims.h"
#include "rules/comparable-parts.h"
#include "rules/evidence-parts.h"
#include "rules/study-parts.h"

#include "base/msg.h"
#include "plan/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_ID 8u /* characters at the end of a run's id, which name it to people */

const char *study_state_name(enum study_state state) {
    static const char *const names[STUDY_STATE_COUNT_] = {
        [STUDY_PLANNED] = "planned",
        [STUDY_TRIED] = "tried",
        [STUDY_UNDERWAY] = "underway",
        [STUDY_DONE] = "done",
    };

    assert(state < STUDY_STATE_COUNT_);
    return names[state];
}

const char *study_verdict_name(enum study_verdict verdict) {
    static const char *const names[STUDY_VERDICT_COUNT_] = {
        [STUDY_OPEN] = "open",
        [STUDY_REPRODUCED] = "reproduced",
        [STUDY_NOT_REPRODUCED] = "not-reproduced",
    };

    assert(verdict < STUDY_VERDICT_COUNT_);
    return names[verdict];
}

/* ---- what is laid out before the runs are joined ---- */

/* The clocks of two machines are never the same. */
#define FREEZE_SLACK_NS (INT64_C(300) * 1000000000) /* no two clocks are the same */

/* Made when the clock was wrong, or brought here by somebody whose clock is. */
static bool is_of_the_future(const struct study_input *input,
                             const struct evidence_freeze *freeze) {
    return input->now_utc_ns > 0 && freeze->utc_ns > input->now_utc_ns + FREEZE_SLACK_NS;
}

static bool names(const json_t *ids, const char *id) {
    for (size_t i = 0; id && i < json_array_size(ids); i++) {
        const char *named = json_string_value(json_array_get(ids, i));
        if (named && strcmp(named, id) == 0)
            return true;
    }
    return false;
}

/* What was there when another was made is older than that, whatever the clocks say. */
static bool is_replaced(const struct study_input *input, const struct evidence_freeze *freeze) {
    for (size_t i = 0; i < input->freeze_count; i++) {
        const struct evidence_freeze *other = &input->freezes[i];
        if (other != freeze && other->block && strcmp(other->block, freeze->block) == 0 &&
            names(other->replaces, freeze->id) && !is_of_the_future(input, other))
            return true;
    }
    return false;
}

static void find_freeze(const struct study_input *input, struct study_block *block) {
    const struct evidence_freeze *newest = NULL;

    for (size_t i = 0; i < input->freeze_count; i++) {
        const struct evidence_freeze *freeze = &input->freezes[i];
        if (!freeze->block || strcmp(freeze->block, block->block->id) != 0)
            continue;
        bool replaced = is_replaced(input, freeze);
        if (is_of_the_future(input, freeze)) {
            if (!replaced && !block->freeze_ignored)
                block->freeze_ignored = freeze;
            continue;
        }
        newest = newest ? newest : freeze;
        if (!replaced && !block->freeze)
            block->freeze = freeze;
    }
    if (!block->freeze)
        block->freeze = newest; /* they replace each other: nobody made them so */
}

static void lay_out(struct study *study, struct arena *arena) {
    const struct plan *plan = study->input->plan;

    study->blocks = arena_alloc(arena, (plan->block_count + 1) * sizeof *study->blocks);
    study->block_count = plan->block_count;
    for (size_t i = 0; i < plan->block_count; i++) {
        const struct plan_block *planned = &plan->blocks[i];
        struct study_block *block = &study->blocks[i];
        uint64_t runs =
            planned->runs.given && planned->runs.value > 0 ? (uint64_t)planned->runs.value : 0;
        block->block = planned;
        find_freeze(study->input, block);
        block->has_planned = planned->runs.given;
        block->planned = runs * planned->condition_count;
        block->condition_count = planned->condition_count;
        block->conditions =
            arena_alloc(arena, (planned->condition_count + 1) * sizeof *block->conditions);
        for (size_t k = 0; k < planned->condition_count; k++)
            block->conditions[k] = (struct study_condition){.condition = &planned->conditions[k],
                                                            .has_planned = block->has_planned,
                                                            .planned = runs};
    }
}

/* ---- blocks ---- */

static enum study_state state_of(const struct study_block *block, size_t run_count) {
    if (run_count == 0)
        return STUDY_PLANNED;
    if (block->done == 0)
        return STUDY_TRIED;
    return block->has_planned && block->done >= block->planned ? STUDY_DONE : STUDY_UNDERWAY;
}

static const char *why_weakest(const struct study_block *block,
                               const struct study_condition *weakest, size_t without,
                               struct arena *arena) {
    if (block->condition_count == 1)
        return weakest->why;
    return arena_printf(
        arena,
        msg_plural((unsigned long)without,
                   "%zu of %zu conditions has no measured run; the first is %s: %s",
                   "%zu of %zu conditions have no measured run; the first is %s: %s"),
        without, block->condition_count, evidence_shown(weakest->condition->label, arena),
        weakest->why);
}

static void sum_block(struct study_block *block, struct arena *arena) {
    const struct study_condition *weakest = NULL;
    size_t run_count = 0;
    size_t without = 0;

    for (size_t i = 0; i < block->condition_count; i++) {
        const struct study_condition *condition = &block->conditions[i];
        block->done += condition->done;
        block->valid += condition->valid;
        for (size_t k = 0; k < condition->run_count; k++)
            run_count += !condition->runs[k]->is_elsewhere;
        without += condition->level != EVIDENCE_MEASURED;
        if (!weakest || condition->level < weakest->level)
            weakest = condition;
    }
    block->state = state_of(block, run_count);
    block->level = weakest ? weakest->level : EVIDENCE_NONE;
    if (!weakest)
        block->why = _("it has no conditions");
    else if (block->level != EVIDENCE_MEASURED)
        block->why = why_weakest(block, weakest, without, arena);
}

/* ---- freezes ---- */

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_missing(const char *const *ids, size_t count, const char *const *sorted,
                            size_t sorted_count) {
    size_t missing = 0;

    for (size_t i = 0; i < count; i++)
        missing += !bsearch(&ids[i], sorted, sorted_count, sizeof *sorted, compare_texts);
    return missing;
}

/* Conditions of the plan that were not frozen, and frozen ones that the plan no longer has. */
static void compare_conditions(const struct study_block *block, size_t *ret_added,
                               size_t *ret_removed) {
    size_t frozen_count = json_array_size(block->freeze->conditions);
    const char **planned = mem_alloc((block->condition_count + 1) * sizeof(const char *));
    const char **frozen = mem_alloc((frozen_count + 1) * sizeof(const char *));

    for (size_t i = 0; i < block->condition_count; i++)
        planned[i] = block->conditions[i].condition->id;
    for (size_t i = 0; i < frozen_count; i++) {
        const char *id = json_string_value(json_array_get(block->freeze->conditions, i));
        frozen[i] = id ? id : "";
    }
    qsort(planned, block->condition_count, sizeof *planned, compare_texts);
    qsort(frozen, frozen_count, sizeof *frozen, compare_texts);
    *ret_added = count_missing(planned, block->condition_count, frozen, frozen_count);
    *ret_removed = count_missing(frozen, frozen_count, planned, block->condition_count);
    mem_free_ptr(&planned);
    mem_free_ptr(&frozen);
}

static const char *why_outdated(const struct study_block *block, const struct study_input *input,
                                struct arena *arena) {
    const char *code = block->freeze->code_digest;
    const char *why = NULL;
    size_t added = 0;
    size_t removed = 0;

    if (block->freeze->conditions)
        compare_conditions(block, &added, &removed);
    if (added > 0)
        why = arena_printf(arena,
                           msg_plural((unsigned long)added,
                                      "%zu condition of the plan is not among the frozen ones",
                                      "%zu conditions of the plan are not among the frozen ones"),
                           added);
    if (removed > 0)
        why = evidence_joined(
            why,
            arena_printf(arena,
                         msg_plural((unsigned long)removed,
                                    "%zu frozen condition is no longer in the plan",
                                    "%zu frozen conditions are no longer in the plan"),
                         removed),
            arena);
    if (code && input->code_digest && strcmp(code, input->code_digest) != 0)
        why = evidence_joined(why, _("the code is not the frozen one any more"), arena);
    return why;
}

/* ---- open facts ---- */

/* A fact about another environment than the one that is looked at stops nothing here. */
static bool is_of_target(const struct plan_fact *fact, const struct study_input *input) {
    return !fact->environment || !input->environment ||
           strcmp(fact->environment, input->environment->id) == 0;
}

static void find_open_facts(struct study *study, struct arena *arena) {
    study->open_fact_count = plan_open_facts(study->input->plan, arena, &study->open_facts);
    size_t room = study->open_fact_count + 1;
    for (size_t b = 0; b < study->block_count; b++) {
        struct study_block *block = &study->blocks[b];
        unsigned stop = (unsigned)plan_stop_of(block->block->kind);
        block->stopped_by = arena_alloc(arena, room * sizeof(const struct plan_fact *));
        for (size_t i = 0; i < study->open_fact_count; i++)
            if ((study->open_facts[i]->stops & stop) != 0 &&
                is_of_target(study->open_facts[i], study->input))
                block->stopped_by[block->stopped_by_count++] = study->open_facts[i];
    }
}

/* ---- times ---- */

enum of_runs { OF_ALL, OF_UNPLANNED, OF_FAILED };
enum of_place { ANYWHERE, HERE, ELSEWHERE };

static bool is_meant(const struct study *study, const struct study_run *run, enum of_runs of,
                     enum of_place place) {
    bool is_here = run->environment == study->input->environment;
    if ((place == HERE && !is_here) || (place == ELSEWHERE && is_here))
        return false;
    switch (of) {
    case OF_ALL:
        return true;
    case OF_UNPLANNED:
        return !run->planned;
    case OF_FAILED:
        return comparable_is_attempt(run->run) && run->run->outcome != OUTCOME_OK;
    }
    return false;
}

/* The wall times of the runs that are meant, each a part named by its run. None is 0 s: the runs
 * were looked at. */
static struct quantity sum_of(const struct study *study, enum of_runs of, enum of_place place,
                              struct arena *arena) {
    struct quantity_part *parts = arena_alloc(arena, (study->run_count + 1) * sizeof *parts);
    size_t count = 0;

    for (size_t i = 0; i < study->run_count; i++) {
        const struct run *run = study->runs[i].run;
        if (!is_meant(study, &study->runs[i], of, place))
            continue;
        struct quantity wall = run->wall;
        const char **source = arena_alloc(arena, sizeof *source);
        *source = run->id ? run->id : "";
        if (!quantity_is_known(&wall) || !wall.unit || strcmp(wall.unit, UNIT_SECOND) != 0)
            wall = quantity_open(UNIT_SECOND, wall.reason, wall.detail);
        wall.sources = source;
        wall.source_count = 1;
        parts[count++] = (struct quantity_part){*source, wall};
    }
    if (count == 0) {
        const struct plan *plan = study->input->plan;
        const char **source = arena_alloc(arena, sizeof *source);
        *source = plan_source(plan, plan->study.at, arena);
        struct quantity none = quantity_measured(UNIT_SECOND, 0.0, "there is no such run");
        none.sources = source; /* no run: the study that has none */
        none.source_count = plan->study.at.line > 0;
        return none;
    }
    struct quantity sum = quantity_sum(arena, UNIT_SECOND, parts, count);
    sum.n = count;
    return sum;
}

/* From the start of the first run to the end of the first that counts (F5), by the UTC labels of
 * the records. */
static struct quantity first_success(const struct study *study, struct arena *arena) {
    const struct run *first = NULL;
    const struct run *success = NULL;

    for (size_t i = 0; i < study->run_count; i++) {
        const struct run *run = study->runs[i].run;
        if (run->started_utc_ns > 0 && (!first || run->started_utc_ns < first->started_utc_ns))
            first = run;
        if (study->runs[i].evidence.level == EVIDENCE_MEASURED && run->ended_utc_ns > 0 &&
            (!success || run->ended_utc_ns < success->ended_utc_ns))
            success = run;
    }
    if (!success || !first)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, _("no run counts yet"));
    if (success->ended_utc_ns < first->started_utc_ns ||
        success->ended_utc_ns < success->started_utc_ns ||
        (study->input->now_utc_ns > 0 && success->ended_utc_ns > study->input->now_utc_ns))
        return quantity_open(UNIT_SECOND, QUANTITY_FAILED, _("the clocks contradict each other"));
    struct quantity time = quantity_measured(
        UNIT_SECOND, (double)(success->ended_utc_ns - first->started_utc_ns) / 1e9,
        "difference of UTC clocks");
    const char **sources = arena_alloc(arena, 2 * sizeof *sources);
    sources[0] = first->id ? first->id : "";
    sources[1] = success->id ? success->id : "";
    time.sources = sources;
    time.source_count = success == first ? 1 : 2;
    time.n = 1;
    time.detail = _("from the start of the first run to the end of the first that counts");
    return time;
}

void study_derive(const struct study_input *input, struct arena *arena, struct study *ret_study) {
    *ret_study = (struct study){.input = input};
    lay_out(ret_study, arena);
    study_join(ret_study, arena);
    for (size_t i = 0; i < ret_study->block_count; i++) {
        struct study_block *block = &ret_study->blocks[i];
        sum_block(block, arena);
        if (block->freeze)
            block->freeze_outdated = why_outdated(block, input, arena);
    }
    find_open_facts(ret_study, arena);
    claims_derive(ret_study, arena);
    ret_study->unplanned_time = sum_of(ret_study, OF_UNPLANNED, ANYWHERE, arena);
    ret_study->spent = sum_of(ret_study, OF_ALL, ANYWHERE, arena);
    ret_study->failed_time = sum_of(ret_study, OF_FAILED, ANYWHERE, arena);
    ret_study->here.spent = sum_of(ret_study, OF_ALL, HERE, arena);
    ret_study->here.failed_time = sum_of(ret_study, OF_FAILED, HERE, arena);
    ret_study->elsewhere.spent = sum_of(ret_study, OF_ALL, ELSEWHERE, arena);
    ret_study->elsewhere.failed_time = sum_of(ret_study, OF_FAILED, ELSEWHERE, arena);
    ret_study->first_success = first_success(ret_study, arena);
}

/* ---- one run in a sentence ---- */

static const struct study_condition *condition_of(const struct study *study,
                                                  const struct study_run *run) {
    for (size_t b = 0; run->condition && b < study->block_count; b++)
        for (size_t i = 0; i < study->blocks[b].condition_count; i++)
            if (study->blocks[b].conditions[i].condition == run->condition)
                return &study->blocks[b].conditions[i];
    return NULL;
}

static const char *measured_sentence(const struct study *study, const struct study_run *run,
                                     const char *what, struct arena *arena) {
    const struct study_condition *condition = condition_of(study, run);
    const char *done = "";

    if (condition && condition->has_planned)
        done = arena_printf(arena, _("%llu of %llu runs done"), (unsigned long long)condition->done,
                            (unsigned long long)condition->planned);
    else if (condition)
        done = arena_printf(arena,
                            msg_plural((unsigned long)condition->done,
                                       "%llu run done, the plan leaves their number open",
                                       "%llu runs done, the plan leaves their number open"),
                            (unsigned long long)condition->done);
    if (run->evidence.verified)
        return arena_printf(arena, _("evidence for %s; %s"), what, done);
    const char *id = run->run->id ? run->run->id : "RUN";
    size_t length = strlen(id);
    return arena_printf(arena,
                        _("evidence for the time of %s, but not done: its result was not checked; "
                          "look at it and say 'probelauf annotate %s --valid', or let 'expect' of "
                          "the plan check it; %s"),
                        what, id + (length > SHORT_ID ? length - SHORT_ID : 0), done);
}

const char *study_run_sentence(const struct study *study, const struct study_run *run,
                               struct arena *arena) {
    const char *why = comparable_why_unusable(run->run, false);

    if (!run->planned)
        return arena_printf(arena, _("unplanned: %s"),
                            run->unplanned_why ? run->unplanned_why : "");
    if (!run->condition) {
        const char *step = evidence_shown(run->step ? run->step->name : "", arena);
        return why ? arena_printf(arena, _("no observation of step '%s': %s"), step, _(why))
                   : arena_printf(arena, _("an observation of step '%s'"), step);
    }
    const char *what =
        arena_printf(arena, _("%s of block '%s'"), evidence_shown(run->condition->label, arena),
                     evidence_shown(run->block->id, arena));
    switch (run->evidence.level) {
    case EVIDENCE_NONE:
        return arena_printf(arena, _("no evidence for %s: %s"), what, run->evidence.why);
    case EVIDENCE_FUNCTION_TEST:
        return arena_printf(arena, _("a function test for %s: %s"), what, run->evidence.why);
    case EVIDENCE_MEASURED:
        return measured_sentence(study, run, what, arena);
    case EVIDENCE_LEVEL_COUNT_:
        break;
    }
    return "";
}
