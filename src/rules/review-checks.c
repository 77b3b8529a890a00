/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Are planned and actual the same work (F3)? What the records of both sides hold is laid beside
 * each other: inputs, batching, software, steps, outputs. And which runs should be made again,
 * because an error, a deviation or an incomplete output changes what they say (C7).
 */
#include "rules/review-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/strbuf.h"
#include "forecast/predict.h"
#include "rules/comparable-parts.h"
#include "rules/comparable.h"
#include "rules/estimate-parts.h"

#include <math.h>
#include <string.h>

/* ---- what differs ---- */

struct list { /* "batch: 4, now 8; …" */
    struct strbuf text;
    size_t count;
};
#define LIST_MAX 6u /* what is beyond it says no more */

static void list_add(struct list *list, const char *item) {
    if (strstr(strbuf_str(&list->text), item) || list->count >= LIST_MAX)
        return;
    strbuf_printf(&list->text, "%s%s", list->count > 0 ? "; " : "", item);
    list->count++;
}

static void differ(struct list *list, const char *what, const char *then, const char *now) {
    AUTO_FREE char *item = mem_printf(_("%s: %s, now %s"), what, then, now);
    list_add(list, item);
}

static void amount(struct list *list, const char *what, const struct quantity *then,
                   const struct quantity *now) {
    AUTO_STRBUF struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
    if (!quantity_is_known(then) || !quantity_is_known(now) || then->value == now->value)
        return;
    quantity_format(then, (struct quantity_style){.mark = true}, &before);
    quantity_format(now, (struct quantity_style){.mark = true}, &after);
    differ(list, what, strbuf_str(&before), strbuf_str(&after));
}

static void inputs(struct list *list, const struct run *then, const struct run *now) {
    const json_t *a = json_get_array(then->start, "inputs"),
                 *b = json_get_array(now->start, "inputs");
    for (size_t i = 0; i < json_array_size(a); i++) {
        const json_t *was = json_array_get(a, i);
        const char *path = json_get_text(was, "path", "");
        for (size_t k = 0; k < json_array_size(b); k++) {
            const json_t *is = json_array_get(b, k);
            if (strcmp(json_get_text(is, "path", ""), path) != 0)
                continue;
            enum comparable_input same = comparable_input(was, is);
            AUTO_FREE char *item = mem_printf(_("input '%s' is another"), path);
            if (same != COMPARABLE_INPUT_SAME && same != COMPARABLE_INPUT_MTIME &&
                same != COMPARABLE_INPUT_IDENTITY_OF_ONE)
                list_add(list, item);
        }
    }
    if (json_array_size(a) != json_array_size(b))
        list_add(list, _("another number of inputs"));
}

static void parameters(struct list *list, const struct run *then, const struct run *now) {
    json_t *a = json_get_object(then->start, "parameters");
    const json_t *b = json_get_object(now->start, "parameters");
    const char *name;
    json_t *value;
    json_object_foreach (a, name, value) {
        const char *is = json_get_text(b, name, NULL);
        if (is && json_is_string(value) && strcmp(is, json_string_value(value)) != 0)
            differ(list, name, json_string_value(value), is);
    }
}

static void variables(struct list *list, const struct run *then, const struct run *now) {
    json_t *a = json_get_object(now->start, "variables");
    const json_t *b = json_get_object(then->start, "variables");
    const char *name;
    json_t *value;
    if (!b)
        return;
    json_object_foreach (a, name, value) {
        const char *was = json_get_text(b, name, NULL);
        if (json_is_string(value) && (!was || strcmp(was, json_string_value(value)) != 0))
            differ(list, name, was ? was : _("not set"), json_string_value(value));
    }
}

static void software(struct list *list, const struct run *then, const struct run *now) {
    const char *why = NULL;
    if (comparable_code(now, then) == COMPARABLE_DIFFERENT)
        list_add(list, _("the code is another"));
    if (comparable_environment_differs(now, then, &why) && why)
        list_add(list, why);
    variables(list, then, now);
}

static void compare_runs(struct list *list, const struct run *then, const struct run *now,
                         bool only_inputs) {
    parameters(list, then, now);
    inputs(list, then, now);
    amount(list, _("items"), &then->work_items, &now->work_items);
    amount(list, _("length"), &then->work_length, &now->work_length);
    amount(list, _("batch"), &then->work_batch, &now->work_batch);
    amount(list, _("weights"), &then->cache.bytes, &now->cache.bytes);
    if (then->work_shape && now->work_shape && strcmp(then->work_shape, now->work_shape) != 0)
        differ(list, _("shape"), then->work_shape, now->work_shape);
    if (!only_inputs)
        software(list, then, now);
}

const char *review_what_differs(const struct review_work *work, bool only_inputs) {
    struct list list = {.text = STRBUF_INIT};
    for (size_t i = 0; i < work->pair_count; i++) {
        const struct review_pair *pair = &work->pairs[i];
        for (size_t r = 0; r < pair->since_count && pair->source_count > 0; r++)
            compare_runs(&list, pair->sources[0], pair->since[r]->run, only_inputs);
    }
    const char *text = list.count > 0 ? arena_strdup(work->arena, strbuf_str(&list.text)) : NULL;
    strbuf_done(&list.text);
    return text;
}

/* ---- which steps ---- */

static bool has_phase(const struct run *run, enum phase phase) {
    return quantity_is_known(&run->phase[phase]) && run->phase[phase].value > 0.0;
}

static bool has_result(const struct run *run, const char *name) {
    for (size_t i = 0; i < run->result_count; i++)
        if (strcmp(run->results[i].name, name) == 0 && quantity_is_known(&run->results[i].quantity))
            return true;
    return false;
}

static size_t present_outputs(const struct run *run) {
    const json_t *outputs = json_get_array(run->end, "outputs");
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(outputs); i++)
        count += strcmp(json_get_text(json_array_get(outputs, i), "kind", ""), "absent") != 0;
    return count;
}

static void lacks(struct list *list, bool now, const char *what, const char *name) {
    AUTO_FREE char *item =
        now ? mem_printf(_("what the runs planned from had, these do not: %s '%s'"), what, name)
            : mem_printf(_("what these runs have, those planned from had not: %s '%s'"), what,
                         name);
    list_add(list, item);
}

/* a has it and b lacks it; now: b is what was made since. */
static void lacking(struct list *list, const struct run *a, const struct run *b, bool now) {
    static const enum phase phases[] = {PHASE_DATA, PHASE_PREPROCESS, PHASE_WRITE, PHASE_EVALUATE};
    for (size_t i = 0; i < ARRAY_LENGTH(phases); i++)
        if (estimate_is_separated(b) && has_phase(a, phases[i]) && !has_phase(b, phases[i]))
            lacks(list, now, _("phase"), phase_name(phases[i]));
    for (size_t i = 0; i < a->result_count; i++)
        if (quantity_is_known(&a->results[i].quantity) && !has_result(b, a->results[i].name))
            lacks(list, now, _("result"), a->results[i].name);
    if (present_outputs(a) > present_outputs(b)) {
        AUTO_FREE char *count = mem_printf("%zu/%zu", present_outputs(b), present_outputs(a));
        lacks(list, now, _("outputs"), count);
    }
}

const char *review_missing_steps(const struct review_work *work) {
    struct list list = {.text = STRBUF_INIT};
    for (size_t i = 0; i < work->pair_count; i++) {
        const struct review_pair *pair = &work->pairs[i];
        for (size_t r = 0; r < pair->since_count && pair->source_count > 0; r++) {
            lacking(&list, pair->sources[0], pair->since[r]->run, true);
            lacking(&list, pair->since[r]->run, pair->sources[0], false);
        }
    }
    const char *text = list.count > 0 ? arena_strdup(work->arena, strbuf_str(&list.text)) : NULL;
    strbuf_done(&list.text);
    return text;
}

/* ---- what to check ---- */

static void add_check(struct review_work *work, const char **checks, const char *text) {
    checks[work->ret->check_count++] = text;
}

static bool is_more(const struct review_line *line) {
    return line && review_is_worth(line) && line->difference.value > 0.0;
}

static bool is_less(const struct review_line *line) {
    return line && review_is_worth(line) && line->difference.value < 0.0;
}

static void check_memory(struct review_work *work, const char **checks) {
    const char *differs = review_what_differs(work, false);
    if (!is_more(review_line_find(work->ret, "memory/gpu")) &&
        !is_more(review_line_find(work->ret, "memory/host")))
        return;
    if (differs)
        add_check(work, checks,
                  arena_printf(work->arena,
                               _("more memory than expected; inputs, batching or software differ: "
                                 "%s"),
                               differs));
    else
        add_check(work, checks,
                  _("more memory than expected, and the records show the same inputs, batching and "
                    "software: ask what else was changed before it is taken as the new need"));
}

static void check_faster(struct review_work *work, const char **checks) {
    const char *missing = review_missing_steps(work);
    if (!is_less(review_line_find(work->ret, "runs")))
        return;
    if (missing)
        add_check(work, checks,
                  arena_printf(work->arena,
                               _("faster than planned, but not the same steps: %s; nothing is cut "
                                 "from later blocks for that"),
                               missing));
    else
        add_check(work, checks,
                  _("faster than planned, with the same phases, results and outputs as the runs "
                    "planned from, as far as the records tell"));
}

void review_checks(struct review_work *work) {
    const char **checks = arena_alloc(work->arena, 2 * sizeof *checks);
    work->ret->checks = checks;
    check_memory(work, checks);
    check_faster(work, checks);
}

/* ---- what to make again ---- */

#define FAR 1.5 /* times the median of its condition, or below its inverse */

static const char *far_from_others(const struct review_work *work, const struct review_pair *pair,
                                   const struct run *run) {
    double *walls =
        arena_alloc(work->arena, (pair->since_count + pair->source_count + 1) * sizeof *walls);
    size_t count = 0;
    for (size_t i = 0; i < pair->since_count; i++)
        if (pair->since[i]->run != run && quantity_is_known(&pair->since[i]->run->wall))
            walls[count++] = pair->since[i]->run->wall.value;
    for (size_t i = 0; i < pair->source_count; i++)
        if (quantity_is_known(&pair->sources[i]->wall))
            walls[count++] = pair->sources[i]->wall.value;
    if (count < 2 || !quantity_is_known(&run->wall))
        return NULL;
    double median = predict_median(walls, count);
    if (!(median > 0.0) || (run->wall.value <= FAR * median && run->wall.value >= median / FAR))
        return NULL;
    return arena_printf(work->arena,
                        _("it took [m] %.2g times as long as the %zu other runs of its condition"),
                        run->wall.value / median, count);
}

/* A claim, or the comparison with another block, rests on that result. */
static bool is_needed(const struct review_work *work, const char *result) {
    const struct plan_block *block = work->block->block;
    const struct plan *plan = work->input->study->input->plan;
    if (block->verify_result && strcmp(block->verify_result, result) == 0)
        return true;
    for (size_t i = 0; i < plan->block_count; i++) {
        const struct plan_block *other = &plan->blocks[i];
        if (other->verify_of && other->verify_result && strcmp(other->verify_of, block->id) == 0 &&
            strcmp(other->verify_result, result) == 0)
            return true;
    }
    for (size_t i = 0; i < plan->claim_count; i++)
        if (plan->claims[i].result && strcmp(plan->claims[i].result, result) == 0)
            return true;
    return false;
}

/* Where its checks are met, a result that nothing rests on is no reason to make a run again. */
static const char *missing_result(const struct review_work *work, const struct study_run *seen) {
    const struct plan_block *block = work->block->block;
    for (size_t i = 0; i < block->result_count; i++) {
        const char *name = block->results[i].name;
        if (!has_result(seen->run, name) && (!seen->evidence.verified || is_needed(work, name)))
            return arena_printf(work->arena, _("its output is incomplete: no result '%s'"), name);
    }
    return NULL;
}

static const char *why_again(const struct review_work *work, const struct review_pair *pair,
                             const struct study_run *seen) {
    const struct run *run = seen->run;
    if (run->verified && strcmp(run->verified, "no") == 0)
        return _("its output did not pass its checks");
    if (run->incident_count > 0)
        return arena_printf(work->arena, _("an error occurred that it survived: %s"),
                            run->incidents[0].name);
    const char *why = missing_result(work, seen);
    return why ? why : far_from_others(work, pair, run);
}

static void add_repeat(struct review_work *work, const struct study_run *seen, const char *why) {
    work->ret->repeats[work->ret->repeat_count++] = (struct review_repeat){
        .run = seen,
        .why = why,
        .command = estimate_command_in(
            work->study,
            estimate_condition_command(work->block->block, seen->condition, work->arena),
            work->arena),
    };
}

/* Of runs that do not count those whose output is incomplete; what failed is made again anyway. */
void review_repeats(struct review_work *work) {
    size_t room = work->attempt_count + (size_t)work->made + 1;
    work->ret->repeats = arena_alloc(work->arena, room * sizeof *work->ret->repeats);
    for (size_t i = 0; i < work->pair_count; i++)
        for (size_t r = 0; r < work->pairs[i].since_count; r++) {
            const struct study_run *seen = work->pairs[i].since[r];
            const char *why = why_again(work, &work->pairs[i], seen);
            if (why)
                add_repeat(work, seen, why);
        }
    for (size_t i = 0; i < work->attempt_count; i++) {
        const struct study_run *seen = work->attempts[i];
        if (review_is_uncounted(seen) && seen->condition && seen->run->verified &&
            strcmp(seen->run->verified, "no") == 0)
            add_repeat(work, seen, _("its output did not pass its checks"));
    }
}
