/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A study as JSON (study-json.h) and the list of its blocks, probelauf.blocks/1. Every key is
 * always there; what the plan does not say is null, whatever can be measured is a quantity object.
 */
#include "report/study-json.h"
#include "report/block-run.h"

#include "report/run-json.h"
#include "report/study.h"

json_t *study_json_texts(const char *const *texts, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_text(texts[i]));
    return list;
}

json_t *study_json_count(bool known, uint64_t count) {
    if (!known)
        return json_null();
    return json_integer(count > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)count);
}

json_t *study_json_answer(enum plan_answer answer) {
    return json_text(plan_answer_name(answer));
}

json_t *study_json_named(const char *name) {
    return name && *name ? json_text(name) : json_null();
}

json_t *study_json_pairs(const struct plan_pair *pairs, size_t count) {
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++)
        json_put_text(json, pairs[i].name, pairs[i].value);
    return json;
}

json_t *study_json_source(const struct plan *plan, struct plan_at at) {
    if (at.line == 0 || !plan->name)
        return json_null();
    AUTO_FREE char *source = mem_printf("%s:%u", plan->name, at.line);
    return json_text(source);
}

static json_t *plan_texts(const struct plan_texts *texts) {
    json_t *list = json_array();
    for (size_t i = 0; i < texts->count; i++)
        json_array_append_new(list, json_text(texts->items[i].text));
    return list;
}

json_t *study_json_study(const struct study *study) {
    const struct study_input *input = study->input;
    const struct plan *plan = input->plan;
    json_t *json = json_object();
    json_put_text(json, "id", plan->study.id);
    json_put_text(json, "title", plan->study.title);
    json_put_text(json, "paper_title", plan->study.paper_title);
    json_put_text(json, "paper_version", plan->study.paper_version);
    json_put_text(json, "environment", input->environment ? input->environment->id : NULL);
    json_put_text(json, "plan", plan->name);
    json_put(json, "plan_digest", study_json_named(plan->digest));
    json_put_text(json, "code_digest", input->code_digest);
    json_put_text(json, "code_why", input->code_digest ? NULL : input->code_why);
    run_json_put_utc(json, "now_utc", input->now_utc_ns);
    return json;
}

static json_t *condition_json(const struct study *study, const struct study_condition *of) {
    const struct plan_condition *condition = of->condition;
    json_t *json = json_object();
    json_put_text(json, "id", condition->id);
    json_put_text(json, "label", condition->label);
    json_put(json, "axes", study_json_pairs(condition->axes, condition->axis_count));
    json_put(json, "parameters",
             study_json_pairs(condition->parameters, condition->parameter_count));
    json_put_text(json, "backing", plan_backing_name(condition->state));
    json_put(json, "supported", study_json_answer(condition->supported));
    json_put_text(json, "level", evidence_level_name(of->level));
    json_put_text(json, "why", of->why);
    json_put(json, "planned", study_json_count(of->has_planned, of->planned));
    json_put(json, "done", study_json_count(true, of->done));
    json_put(json, "valid", study_json_count(true, of->valid));
    json_put(json, "uncounted", study_json_count(true, of->uncounted));
    json_put_text(json, "uncounted_why", of->uncounted_why);
    json_put(json, "attempts", study_json_count(true, of->attempts));
    json_put(json, "failures", study_json_count(true, of->failures));
    json_t *runs = json_array();
    for (size_t i = 0; i < of->run_count; i++) {
        const struct study_run *run = of->runs[i];
        json_t *entry = json_object();
        json_put_text(entry, "run", run->run->id);
        json_put_text(entry, "level", evidence_level_name(run->evidence.level));
        json_put_text(entry, "why", run->evidence.why);
        json_put_bool(entry, "verified", run->evidence.verified);
        json_array_append_new(runs, entry);
    }
    json_put(json, "runs", runs);
    json_put(json, "source", study_json_source(study->input->plan, condition->at));
    return json;
}

static json_t *freeze_json(const struct study_block *block) {
    if (!block->freeze)
        return json_null();
    json_t *json = json_object();
    json_put_text(json, "event", block->freeze->id);
    run_json_put_utc(json, "utc", block->freeze->utc_ns);
    json_put_text(json, "code_digest", block->freeze->code_digest);
    json_put_text(json, "plan_digest", block->freeze->plan_digest);
    json_put_text(json, "outdated", block->freeze_outdated);
    return json;
}

static json_t *freeze_ignored_json(const struct study_block *block) {
    if (!block->freeze_ignored)
        return json_null();
    json_t *json = json_object();
    json_put_text(json, "event", block->freeze_ignored->id);
    run_json_put_utc(json, "utc", block->freeze_ignored->utc_ns);
    return json;
}

static json_t *stopped_by_json(const struct study *study, const struct study_block *block) {
    json_t *list = json_array();
    for (size_t i = 0; i < block->stopped_by_count; i++) {
        const struct plan_fact *fact = block->stopped_by[i];
        json_t *json = json_object();
        json_put_text(json, "fact", fact->id);
        json_put_text(json, "question", fact->question);
        json_put(json, "source", study_json_source(study->input->plan, fact->at));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *block_json(const struct study *study, const struct study_block *of) {
    const struct plan_block *block = of->block;
    json_t *json = json_object();
    json_put_text(json, "id", block->id);
    json_put_text(json, "title", block->title);
    json_put(json, "kind", study_json_named(plan_kind_name(block->kind)));
    json_put(json, "extent", study_json_named(plan_extent_name(block->extent)));
    json_put(json, "recurrence", study_json_named(plan_recurrence_name(block->recurrence)));
    json_put_text(json, "backing", plan_backing_name(block->state));
    json_put_text(json, "question", block->question);
    json_put_text(json, "gate", block->gate);
    json_put(json, "claims", plan_texts(&block->claims));
    json_put(json, "needs", plan_texts(&block->needs));
    json_put_text(json, "state", study_state_name(of->state));
    json_put_text(json, "level", evidence_level_name(of->level));
    json_put_text(json, "why", of->why);
    json_put(json, "planned", study_json_count(of->has_planned, of->planned));
    json_put(json, "done", study_json_count(true, of->done));
    json_put(json, "valid", study_json_count(true, of->valid));
    json_t *conditions = json_array();
    for (size_t i = 0; i < of->condition_count; i++)
        json_array_append_new(conditions, condition_json(study, &of->conditions[i]));
    json_put(json, "conditions", conditions);
    json_put(json, "frozen", freeze_json(of));
    json_put(json, "freeze_ignored", freeze_ignored_json(of));
    json_put(json, "gate_answer", report_gate_answer_json(study, block));
    json_put(json, "stopped_by", stopped_by_json(study, of));
    json_put(json, "source", study_json_source(study->input->plan, block->at));
    return json;
}

json_t *study_json_blocks(const struct study *study) {
    json_t *list = json_array();
    for (size_t i = 0; i < study->block_count; i++)
        json_array_append_new(list, block_json(study, &study->blocks[i]));
    return list;
}

json_t *study_json_claims(const struct study *study) {
    json_t *list = json_array();
    for (size_t i = 0; i < study->claim_count; i++) {
        const struct study_claim *claim = &study->claims[i];
        json_t *json = json_object(), *observed = json_array();
        json_put_text(json, "id", claim->claim->id);
        json_put_text(json, "text", claim->claim->text);
        json_put_text(json, "result", claim->claim->result);
        json_put_text(json, "verdict", study_verdict_name(claim->verdict));
        json_put_text(json, "why", claim->why);
        for (size_t j = 0; j < claim->observed_count; j++) {
            const struct study_observed *group = &claim->observed[j];
            bool known = quantity_is_known(&group->value);
            json_t *entry = json_object();
            json_put(entry, "where",
                     study_json_pairs(group->where ? group->where->items : NULL,
                                      group->where ? group->where->count : 0));
            run_json_put_quantity(entry, "value", &group->value);
            json_put(entry, "least", known ? json_real(group->least) : json_null());
            json_put(entry, "most", known ? json_real(group->most) : json_null());
            json_array_append_new(observed, entry);
        }
        json_put(json, "observed", observed);
        json_put(json, "source", study_json_source(study->input->plan, claim->claim->at));
        json_array_append_new(list, json);
    }
    return list;
}

json_t *study_json_repeat_checks(const struct study *study) {
    json_t *list = json_array();
    for (size_t i = 0; i < study->repeat_check_count; i++) {
        const struct study_repeat_check *check = &study->repeat_checks[i];
        json_t *json = json_object();
        json_put_text(json, "block", check->block->id);
        json_put_text(json, "condition", check->condition->label);
        json_put_text(json, "verdict", study_verdict_name(check->verdict));
        json_put_text(json, "why", check->why);
        run_json_put_quantity(json, "first", &check->first);
        run_json_put_quantity(json, "repeat", &check->repeat);
        json_array_append_new(list, json);
    }
    return list;
}

void study_json_put_of_run(json_t *object, const char *key, const struct quantity *q,
                           const struct run *run) {
    const char *source = run->id ? run->id : "";
    struct quantity own = *q;
    if (quantity_is_known(q) && q->source_count == 0 && *source) {
        own.sources = &source;
        own.source_count = 1;
    }
    run_json_put_quantity(object, key, &own);
}

json_t *study_json_unplanned(const struct study *study) {
    json_t *json = json_object(), *runs = json_array();
    run_json_put_quantity(json, "time", &study->unplanned_time);
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *run = &study->runs[i];
        if (run->planned)
            continue;
        json_t *entry = json_object();
        json_put_text(entry, "run", run->run->id);
        run_json_put_utc(entry, "started_utc", run->run->started_utc_ns);
        json_put_text(entry, "outcome", outcome_name(run->run->outcome));
        study_json_put_of_run(entry, "wall", &run->run->wall, run->run);
        json_put_text(entry, "why", run->unplanned_why);
        json_array_append_new(runs, entry);
    }
    json_put(json, "runs", runs);
    return json;
}

/* With its parts by name, without theirs: those stand with the blocks and components themselves,
 * and every sum would hold all of them again. */
static void put_sum(json_t *object, const char *key, const struct quantity *q,
                    struct arena *arena) {
    struct quantity sum = *q;
    struct quantity_part *parts = arena_alloc(arena, (q->part_count + 1) * sizeof(*parts));
    for (size_t i = 0; i < q->part_count; i++) {
        parts[i] = q->parts[i];
        parts[i].quantity.parts = NULL;
        parts[i].quantity.part_count = 0;
    }
    sum.parts = parts;
    run_json_put_quantity(object, key, &sum);
}

json_t *study_json_figures(const struct estimate_figures *figures) {
    AUTO_ARENA struct arena *arena = arena_new();
    json_t *json = json_object();
    put_sum(json, "computing", &figures->computing, arena);
    put_sum(json, "reserved", &figures->reserved, arena);
    put_sum(json, "calendar", &figures->calendar, arena);
    put_sum(json, "effort", &figures->effort, arena);
    put_sum(json, "gpu", &figures->gpu, arena);
    return json;
}

json_t *report_blocks_json(const struct study *study) {
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.blocks/1");
    json_put(json, "study", study_json_study(study));
    json_put(json, "blocks", study_json_blocks(study));
    json_put(json, "claims", study_json_claims(study));
    json_put(json, "repeat_checks", study_json_repeat_checks(study));
    json_put(json, "unplanned", study_json_unplanned(study));
    return json;
}
