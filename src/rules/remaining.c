/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is left to run of a block (remaining.h). Counts what the records hold; keeps nothing and
 * starts nothing. What may be running counts as running: a run too few is made later, one too many
 * cannot be taken back.
 */
#include "rules/remaining.h"
#include "rules/block-run.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "plan/plan.h"
#include "rules/comparable-parts.h"
#include "rules/comparable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A lost run is no failure of the command: the machine or the monitor died under it. */
#define LOST_MAX 3u

const char *block_run_why_name(enum block_run_why why) {
    static const char *const names[BLOCK_RUN_WHY_COUNT_] = {
        [BLOCK_RUN_DONE] = "done",
        [BLOCK_RUN_STOPPED] = "stopped",
        [BLOCK_RUN_FAILED] = "failed",
        [BLOCK_RUN_BUDGET] = "budget",
        [BLOCK_RUN_INTERRUPTED] = "interrupted",
        [BLOCK_RUN_DISK] = "disk",
    };
    assert(why < BLOCK_RUN_WHY_COUNT_);
    return names[why];
}

static bool is_same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

bool remaining_is_before_each(const struct plan_step *step) {
    return step->repeats == PLAN_PER_RUN && step->component != COMPONENT_CHECKING &&
           step->component != COMPONENT_TEARDOWN;
}

bool remaining_is_going_on(const struct remaining_input *input, const struct run *run) {
    if (run->running)
        return true;
    for (size_t i = 0; i < input->open_record_count; i++)
        if (is_same(input->open_records[i], run->id))
            return true;
    return false;
}

static bool is_in_target(const struct remaining_input *input, const struct study_run *run) {
    const struct plan_environment *target = input->study->input->environment;
    return !target || run->environment == target;
}

/* ---- expected times ---- */

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct quantity median_of(double *walls, const char *const *sources, size_t count) {
    if (count == 0)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, _("no run of it counts yet"));
    qsort(walls, count, sizeof *walls, compare_numbers);
    double middle =
        count % 2 == 1 ? walls[count / 2] : 0.5 * (walls[count / 2 - 1] + walls[count / 2]);
    return (struct quantity){
        .state = QUANTITY_ESTIMATED,
        .unit = UNIT_SECOND,
        .value = middle,
        .method = "median of the runs that count",
        .basis = "own-runs",
        .n = count,
        .sources = sources,
        .source_count = count,
    };
}

static bool has_wall(const struct run *run) {
    const char *why;
    return !run->running && comparable_is_usable(run, &why) && quantity_is_known(&run->wall);
}

static struct quantity condition_time(const struct study_condition *condition,
                                      struct arena *arena) {
    double *walls = arena_alloc(arena, (condition->run_count + 1) * sizeof *walls);
    const char **sources = arena_alloc(arena, (condition->run_count + 1) * sizeof *sources);
    size_t count = 0;
    for (size_t i = 0; i < condition->run_count; i++) {
        const struct study_run *run = condition->runs[i];
        if (run->evidence.level != EVIDENCE_MEASURED || !has_wall(run->run))
            continue;
        sources[count] = run->run->id;
        walls[count++] = run->run->wall.value;
    }
    return median_of(walls, sources, count);
}

static struct quantity step_time(const struct remaining_input *input, const struct plan_step *step,
                                 struct arena *arena) {
    const struct study *study = input->study;
    double *walls = arena_alloc(arena, (study->run_count + 1) * sizeof *walls);
    const char **sources = arena_alloc(arena, (study->run_count + 1) * sizeof *sources);
    size_t count = 0;
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *run = &study->runs[i];
        if (run->step != step || !is_in_target(input, run) || !has_wall(run->run))
            continue;
        sources[count] = run->run->id;
        walls[count++] = run->run->wall.value;
    }
    return median_of(walls, sources, count);
}

/* ---- what failed ---- */

/* Somebody has dealt with it: what failed then says nothing about the next attempt. */
static bool is_settled(const struct run *run) {
    return run->validity == RUN_INVALID ||
           (run->disposition && strncmp(run->disposition, "fixed", strlen("fixed")) == 0);
}

bool remaining_is_for_full_output(const struct run *run) {
    bool is_missed = run->outcome == OUTCOME_OK && is_same(run->verified, "no");
    for (size_t i = 0; i < run->incident_count; i++)
        if (is_same(run->incidents[i].name, "disk_full") &&
            is_same(json_get_text(run->incidents[i].figures, "kind", NULL), "lane-output"))
            return is_missed || run->outcome == OUTCOME_DISK_FULL;
    return false;
}

static bool is_other_code(const struct remaining_input *input, const struct run *run) {
    const char *now = input->study->input->code_digest;
    const char *then = json_get_text(json_get_object(run->environment, "code"), "digest", NULL);
    return now && then && strcmp(now, then) != 0;
}

struct chain { /* attempts in a row, the newest first */
    uint64_t failed, lost;
    const struct run *last_lost;
    const struct run *incurable;
    bool unmet; /* incurable: not for its outcome, a check of its result was not met */
};

/* false: the chain ends here. */
static bool chain_add(struct chain *chain, const struct remaining_input *input,
                      const struct run *run) {
    if (is_settled(run) || is_other_code(input, run))
        return false;
    if (remaining_is_for_full_output(run))
        return true; /* neither for nor against the command */
    if (run->outcome == OUTCOME_OK) {
        if (is_same(run->verified, "no")) {
            chain->incurable = run;
            chain->unmet = true;
        }
        return false;
    }
    if (run->outcome == OUTCOME_LOST || run->outcome == OUTCOME_PREEMPTED) {
        if (chain->lost++ == 0)
            chain->last_lost = run;
        return true;
    }
    if (!outcome_can_retry(run->outcome)) {
        chain->incurable = run;
        return false;
    }
    chain->failed++;
    return true;
}

static void chain_judge(const struct chain *chain, const struct remaining_input *input,
                        struct remaining_item *item, struct arena *arena) {
    item->failed = chain->failed;
    item->is_failed = true;
    if (chain->unmet)
        item->note = arena_printf(
            arena,
            _("the result of run %s is not what was expected: look at it ('probelauf show %s'); "
              "'probelauf annotate %s --invalid --why TEXT' has it made again"),
            uuid_tail(chain->incurable->id), uuid_tail(chain->incurable->id),
            uuid_tail(chain->incurable->id));
    else if (chain->incurable)
        item->note = arena_printf(
            arena,
            _("run %s ended as %s, which a repeat does not cure: 'probelauf explain %s'; once that "
              "is settled, 'probelauf annotate %s --disposition fixed'"),
            uuid_tail(chain->incurable->id), outcome_name(chain->incurable->outcome),
            uuid_tail(chain->incurable->id), uuid_tail(chain->incurable->id));
    else if (chain->failed > input->retry)
        item->note = arena_printf(
            arena,
            msg_plural((unsigned long)chain->failed,
                       "%llu attempt failed, and of repeats %llu are allowed: 'probelauf log'; "
                       "--retry allows more",
                       "%llu attempts failed in a row, and of repeats %llu are allowed: "
                       "'probelauf log'; --retry allows more"),
            (unsigned long long)chain->failed, (unsigned long long)input->retry);
    else if (chain->lost > LOST_MAX)
        item->note = arena_printf(arena,
                                  msg_plural((unsigned long)chain->lost,
                                             "%llu run was lost ('probelauf log'): once the cause "
                                             "is settled, 'probelauf annotate %s --disposition "
                                             "fixed'",
                                             "%llu runs in a row were lost ('probelauf log'): once "
                                             "the cause is settled, 'probelauf annotate %s "
                                             "--disposition fixed'"),
                                  (unsigned long long)chain->lost, uuid_tail(chain->last_lost->id));
    else
        item->is_failed = false;
}

/* ---- conditions ---- */

/* Lanes whose run is not among those that are seen to run; a lane that runs a step before a
 * condition is that condition's. */
static uint64_t unseen_lanes(const struct remaining_input *input, const char *condition,
                             const char *step) {
    const struct study *study = input->study;
    uint64_t count = 0;
    for (size_t i = 0; i < input->lane_count; i++) {
        const struct remaining_lane *lane = &input->lanes[i];
        bool seen = false;
        if (condition ? !is_same(lane->condition, condition)
                      : lane->condition || !is_same(lane->step, step))
            continue;
        for (size_t k = 0; k < study->run_count && lane->pid > 0 && !seen; k++) {
            const struct run *run = study->runs[k].run;
            const char *of = json_get_text(run->start, condition ? "condition_id" : "step", NULL);
            seen = remaining_is_going_on(input, run) && is_same(of, condition ? condition : step) &&
                   json_get_int(run->header, "pid", 0) == lane->pid;
        }
        count += !seen;
    }
    return count;
}

static struct remaining_item condition_item(const struct remaining_input *input,
                                            const struct study_condition *condition,
                                            struct arena *arena, uint64_t *ret_valid) {
    struct remaining_item item = {
        .part = REMAINING_RUN,
        .condition = condition,
        .each = condition_time(condition, arena),
        .running = unseen_lanes(input, condition->condition->id, NULL),
    };
    struct chain chain = {0};
    bool in_chain = true;
    uint64_t valid = 0;
    for (size_t i = 0; i < condition->run_count; i++) {
        const struct study_run *run = condition->runs[i];
        if (run->is_elsewhere)
            continue;
        if (run->evidence.level == EVIDENCE_MEASURED) {
            valid++;
            in_chain = false;
        } else if (remaining_is_going_on(input, run->run)) {
            item.running++;
        } else if (run->is_attempt && in_chain) {
            in_chain = chain_add(&chain, input, run->run);
        }
    }
    uint64_t settled = valid + item.running;
    item.left = condition->planned > settled ? condition->planned - settled : 0;
    *ret_valid = valid < condition->planned ? valid : condition->planned;
    if (valid >= condition->planned)
        return item;
    chain_judge(&chain, input, &item, arena);
    if (condition->condition->supported == PLAN_NO) {
        item.is_failed = false;
        item.note = _("the code does not support it");
        item.left = 0;
    } else if (item.is_failed) {
        item.left = 0;
    }
    return item;
}

/* Unknown first: what takes longest must not be found out last. Between equals the plan's order. */
static int compare_items(const void *a, const void *b) {
    const struct remaining_item *x = a;
    const struct remaining_item *y = b;
    bool x_known = quantity_is_known(&x->each);
    bool y_known = quantity_is_known(&y->each);
    if (x_known != y_known)
        return x_known ? 1 : -1;
    if (x_known && x->each.value != y->each.value)
        return x->each.value > y->each.value ? -1 : 1;
    return x->condition < y->condition ? -1 : x->condition > y->condition;
}

/* ---- steps ---- */

static bool names_step(const struct plan_block *block, const struct plan_step *step) {
    for (size_t i = 0; i < block->steps.count; i++)
        if (is_same(block->steps.items[i].text, step->name))
            return true;
    return false;
}

static const char *session_of(const struct run *run) {
    return json_get_text(run->start, "session", NULL);
}

static const char *host_of(const struct run *run) {
    return json_get_text(json_get_object(run->environment, "machine"), "host", NULL);
}

/* Does a sound run of the step still hold here? */
static bool still_holds(const struct remaining_input *input, const struct plan_step *step,
                        const struct run *run) {
    if (step->repeats == PLAN_ONCE)
        return true;
    if (input->session)
        return is_same(session_of(run), input->session);
    const char *there = host_of(run);
    return !input->host || !there || strcmp(input->host, there) == 0;
}

static const char *why_not_again(const struct remaining_input *input, const struct plan_step *step,
                                 const struct run *run, struct arena *arena) {
    if (step->repeats == PLAN_ONCE)
        return arena_printf(arena, _("not repeated: run %s was sound, and the plan wants it once"),
                            uuid_tail(run->id));
    if (input->session)
        return arena_printf(arena, _("not repeated: run %s was sound in this session"),
                            uuid_tail(run->id));
    return arena_printf(arena, _("not repeated: run %s was sound on this machine"),
                        uuid_tail(run->id));
}

static uint64_t valid_runs_of(const struct study_block *block) {
    uint64_t valid = 0;
    for (size_t i = 0; i < block->condition_count; i++)
        for (size_t k = 0; k < block->conditions[i].run_count; k++) {
            const struct study_run *run = block->conditions[i].runs[k];
            valid += !run->is_elsewhere && run->evidence.level == EVIDENCE_MEASURED;
        }
    return valid;
}

static enum remaining_part part_of(const struct plan_step *step) {
    bool is_after = step->component == COMPONENT_CHECKING || step->component == COMPONENT_TEARDOWN;
    if (step->repeats == PLAN_PER_RUN)
        return is_after ? REMAINING_PER_RUN : REMAINING_BEFORE;
    return is_after ? REMAINING_AFTER : REMAINING_BEFORE;
}

/* How many sound runs of the step are wanted in all; those of other blocks that name it count. */
static uint64_t wanted_runs(const struct remaining_input *input, const struct plan_step *step) {
    uint64_t wanted = 0;
    for (size_t i = 0; i < input->study->block_count; i++)
        if (names_step(input->study->blocks[i].block, step))
            wanted += valid_runs_of(&input->study->blocks[i]);
    return wanted;
}

static struct remaining_item step_item(const struct remaining_input *input,
                                       const struct plan_step *step, struct arena *arena) {
    const struct study *study = input->study;
    struct remaining_item item = {.part = part_of(step),
                                  .step = step,
                                  .each = step_time(input, step, arena),
                                  .running = unseen_lanes(input, NULL, step->name)};
    struct chain chain = {0};
    bool in_chain = true;
    const struct run *sound = NULL;
    uint64_t sound_count = 0;
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *run = &study->runs[i];
        const char *why;
        if (run->step != step || !is_in_target(input, run))
            continue;
        if (remaining_is_going_on(input, run->run)) {
            item.running++;
        } else if (comparable_is_usable(run->run, &why)) {
            in_chain = false;
            sound_count++;
            if (!sound && still_holds(input, step, run->run))
                sound = run->run;
        } else if (in_chain && comparable_is_attempt(run->run)) {
            in_chain = chain_add(&chain, input, run->run);
        }
    }
    uint64_t wanted = 1;
    if (step->repeats == PLAN_PER_RUN) {
        wanted = item.part == REMAINING_PER_RUN ? wanted_runs(input, step) : 0;
    } else if (sound) {
        item.note = why_not_again(input, step, sound, arena);
        wanted = 0;
        sound_count = 0;
    } else {
        sound_count = 0; /* those there are do not hold here */
    }
    uint64_t settled = sound_count + item.running;
    item.left = wanted > settled ? wanted - settled : 0;
    if (item.left > 0)
        chain_judge(&chain, input, &item, arena);
    if (item.is_failed)
        item.left = 0;
    if (remaining_is_before_each(step))
        item.note = _("before each run");
    if (step->component == COMPONENT_TEARDOWN && step->repeats != PLAN_PER_RUN) {
        item.left = 0;
        item.note = _("not run by itself, since it may take away what comes after: run it when the "
                      "machine is given back");
    }
    return item;
}

/* ---- the block ---- */

static void add_steps(const struct remaining_input *input, enum remaining_part part,
                      struct arena *arena, struct remaining *ret) {
    const struct plan *plan = input->study->input->plan;
    const struct plan_texts *steps = &input->block->block->steps;
    for (size_t i = 0; i < steps->count; i++) {
        const struct plan_step *step = plan_step_find(plan, steps->items[i].text);
        if (step && part_of(step) == part)
            ret->items[ret->count++] = step_item(input, step, arena);
    }
}

void remaining_of_block(const struct remaining_input *input, struct arena *arena,
                        struct remaining *ret) {
    const struct study_block *block = input->block;
    size_t room = block->condition_count + block->block->steps.count + 1;
    *ret = (struct remaining){.items = arena_alloc(arena, room * sizeof *ret->items)};
    add_steps(input, REMAINING_BEFORE, arena, ret);
    add_steps(input, REMAINING_PER_RUN, arena, ret);
    size_t first = ret->count;
    for (size_t i = 0; i < block->condition_count; i++) {
        uint64_t valid;
        struct remaining_item *item = &ret->items[ret->count++];
        *item = condition_item(input, &block->conditions[i], arena, &valid);
        ret->planned += block->conditions[i].planned;
        ret->valid += valid;
        ret->failed_conditions += item->is_failed;
    }
    qsort(&ret->items[first], ret->count - first, sizeof *ret->items, compare_items);
    add_steps(input, REMAINING_AFTER, arena, ret);
}
