/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as JSON, probelauf.report/1: the same model as its other forms, whole (every run,
 * every condition). Every key is always there; without a plan what belongs to one is null.
 */
#include "report/document-parts.h"

#include "report/decide.h"
#include "report/facts.h"
#include "report/review.h"
#include "report/run-json.h"
#include "report/study-json.h"
#include "report/study-words.h"

#include <string.h>

static json_t *notes_json(const struct report_document *document) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct report_note notes[REPORT_NOTES_MAX];
    size_t count = report_document_notes(document, arena, notes);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object();
        json_put_text(json, "finding", notes[i].finding);
        json_put_text(json, "evidence", notes[i].evidence);
        json_put_text(json, "todo", notes[i].todo);
        json_put_text(json, "command", notes[i].command);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *scope_json(const struct plan *plan) {
    json_t *json = json_object(), *parts = json_array(), *deviations = json_array();
    json_put(json, "scope", study_json_named(plan_scope_name(plan->study.scope)));
    json_put_text(json, "note", plan->study.scope_note);
    for (size_t i = 0; i < plan->paper_part_count; i++) {
        const struct plan_paper_part *part = &plan->paper_parts[i];
        json_t *entry = json_object();
        json_put_text(entry, "part", part->part);
        json_put_text(entry, "role", part->role);
        json_put(entry, "included", study_json_answer(part->included));
        json_put_text(entry, "why", part->why);
        json_put_text(entry, "from", part->source);
        json_put(entry, "source", study_json_source(plan, part->at));
        json_array_append_new(parts, entry);
    }
    for (size_t i = 0; i < plan->deviation_count; i++) {
        const struct plan_deviation *deviation = &plan->deviations[i];
        json_t *entry = json_object();
        json_put_text(entry, "what", deviation->what);
        json_put_text(entry, "why", deviation->why);
        json_put_text(entry, "from", deviation->source);
        json_put(entry, "source", study_json_source(plan, deviation->at));
        json_array_append_new(deviations, entry);
    }
    json_put(json, "parts", parts);
    json_put(json, "deviations", deviations);
    return json;
}

static json_t *stops_json(unsigned stops) {
    static const struct {
        enum plan_stop stop;
        const char *name;
    } all[] = {{PLAN_STOPS_VALIDATE, "validate"},
               {PLAN_STOPS_COMPARE, "compare"},
               {PLAN_STOPS_SCALE, "scale"},
               {PLAN_STOPS_VERIFY, "verify"},
               {PLAN_STOPS_BOOKING, "booking"}};
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
        if ((stops & (unsigned)all[i].stop) != 0)
            json_array_append_new(list, json_text(all[i].name));
    return list;
}

static json_t *facts_json(const struct plan *plan) {
    json_t *list = json_array();
    for (size_t i = 0; i < plan->fact_count; i++) {
        const struct plan_fact *fact = &plan->facts[i];
        json_t *json = json_object();
        json_put_text(json, "id", fact->id);
        json_put_text(json, "state", plan_fact_state_name(fact->state));
        json_put_text(json, "about", fact->about);
        json_put_text(json, "environment", fact->environment);
        json_put_text(json, "value", fact->value);
        json_put_text(json, "from", fact->source);
        json_put_text(json, "source_kind", fact->source_kind);
        json_put_text(json, "seen", fact->seen.given ? fact->seen.text : NULL);
        json_put_text(json, "question", fact->question);
        json_put(json, "stops", stops_json(fact->stops));
        json_put(json, "source", study_json_source(plan, fact->at));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *tasks_json(const struct plan *plan) {
    AUTO_ARENA struct arena *arena = arena_new();
    json_t *list = json_array();
    for (size_t i = 0; i < plan->task_count; i++) {
        const struct plan_task *task = &plan->tasks[i];
        const char *line = plan_source(plan, task->at, arena);
        struct quantity time = task->time.given
                                   ? (struct quantity){.state = QUANTITY_ASSUMED,
                                                       .unit = UNIT_SECOND,
                                                       .value = (double)task->time.ns / 1e9,
                                                       .sources = &line,
                                                       .source_count = 1}
                                   : quantity_open(UNIT_SECOND, QUANTITY_NOT_ENTERED, NULL);
        json_t *json = json_object();
        json_put_text(json, "id", task->id);
        json_put_text(json, "what", task->what);
        json_put_text(json, "component",
                      task->has_component ? component_name(task->component) : NULL);
        json_put(json, "needs_machine", study_json_answer(task->needs_machine));
        json_put(json, "done", study_json_answer(task->done));
        run_json_put_quantity(json, "time", &time);
        json_put_text(json, "who", task->who);
        json_put_text(json, "why", task->why);
        json_put_text(json, "when", task->when.given ? task->when.text : NULL);
        json_put(json, "source", study_json_source(plan, task->at));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *privacy_json(const struct study *study) {
    const struct plan_privacy *privacy = &study->input->plan->privacy;
    const struct plan_sourced *said = &privacy->provider_statement;
    json_t *json = json_object();
    json_put_text(json, "class", privacy->data_class);
    json_put(json, "may_transfer", study_json_answer(privacy->may_transfer));
    json_put_text(json, "provider_statement", said->value);
    json_put_text(json, "provider_statement_from", said->source);
    json_put_text(json, "provider_statement_seen", said->seen.given ? said->seen.text : NULL);
    json_put_text(json, "assessment", privacy->assessment);
    json_put_text(json, "retention", privacy->retention);
    json_put_text(json, "readers", privacy->readers);
    json_put_text(json, "storage", privacy->storage);
    json_t *open = json_array();
    for (size_t i = 0; i < study->open_fact_count; i++)
        if (document_is_privacy(study->open_facts[i]))
            json_array_append_new(open, json_text(study->open_facts[i]->question
                                                      ? study->open_facts[i]->question
                                                      : study->open_facts[i]->id));
    json_put(json, "open", open);
    return json;
}

static json_t *bytes_json(const struct plan_bytes *bytes) {
    return study_json_count(bytes->given, bytes->bytes);
}

static json_t *environments_json(const struct plan *plan) {
    json_t *list = json_array();
    for (size_t i = 0; i < plan->environment_count; i++) {
        const struct plan_environment *environment = &plan->environments[i];
        json_t *json = json_object(), *match = json_array();
        for (size_t k = 0; k < environment->match.count; k++)
            json_array_append_new(match, json_text(environment->match.items[k].text));
        json_put_text(json, "id", environment->id);
        json_put_text(json, "kind", plan_environment_kind_name(environment->kind));
        json_put_text(json, "gpu", environment->gpu);
        json_put(json, "gpus",
                 environment->gpus.given ? json_integer(environment->gpus.value) : json_null());
        json_put_text(json, "driver", environment->driver);
        json_put(json, "stack",
                 study_json_pairs(environment->stack.items, environment->stack.count));
        json_put(json, "match", match);
        json_put(json, "gpu_memory", bytes_json(&environment->gpu_memory));
        json_put(json, "host_memory", bytes_json(&environment->host_memory));
        json_put(json, "source", study_json_source(plan, environment->at));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *run_json(const struct report_document *document, const struct run *run) {
    const struct study_run *of = document_study_run(document, run);
    json_t *json = json_object();
    json_put_text(json, "run", run->id);
    run_json_put_utc(json, "started_utc", run->started_utc_ns);
    run_json_put_utc(json, "ended_utc", run->ended_utc_ns);
    json_put_text(json, "block", of && of->block ? of->block->id : NULL);
    json_put_text(json, "condition", of && of->condition ? of->condition->label : NULL);
    json_put_text(json, "condition_id", of && of->condition ? of->condition->id : NULL);
    json_put_text(json, "step", of && of->step ? of->step->name : NULL);
    json_put_text(json, "environment", of && of->environment ? of->environment->id : NULL);
    json_put(json, "planned", of ? json_boolean(of->planned) : json_null());
    json_put_text(json, "unplanned_why", of ? of->unplanned_why : NULL);
    json_put_text(json, "level", of ? evidence_level_name(of->evidence.level) : NULL);
    json_put_text(json, "why", of ? of->evidence.why : NULL);
    json_put(json, "verified", of ? json_boolean(of->evidence.verified) : json_null());
    json_put_text(json, "outcome", outcome_name(run->outcome));
    AUTO_STRBUF struct strbuf cause = STRBUF_INIT;
    if (document_is_failure(run))
        document_add_cause(&cause, run);
    json_put_text(json, "cause", cause.length > 0 ? strbuf_str(&cause) : NULL);
    json_put(json, "changes",
             run_json_texts(json_is_array(run->changes) ? run->changes
                                                        : json_get_array(run->start, "changes")));
    json_put_text(json, "disposition", run->disposition);
    json_put_text(json, "validity", facts_validity_name(run->validity));
    json_put(json, "command", run_json_texts(json_get_array(run->start, "command")));
    study_json_put_of_run(json, "wall", &run->wall, run);
    study_json_put_of_run(json, "largest_process_rss", &run->largest_process_rss, run);
    return json;
}

static json_t *runs_json(const struct report_document *document) {
    json_t *list = json_array();
    for (size_t i = 0; i < document->run_count; i++)
        json_array_append_new(list, run_json(document, document->runs[i]));
    return list;
}

/* Which of how many runs are in the document. */
static json_t *runs_in_json(const struct report_document *document) {
    json_t *json = json_object();
    json_put_text(json, "of", document->study ? "study" : "ledger");
    json_put(json, "count", json_integer((json_int_t)document->run_count));
    json_put(json, "total", json_integer((json_int_t)document_run_total(document)));
    json_put_bool(json, "all", document->run_count == document_run_total(document));
    return json;
}

static json_t *frozen_json(const struct report_document *document) {
    json_t *list = json_array();
    for (size_t i = 0; i < document->frozen_count; i++) {
        json_t *json = json_object();
        json_put_text(json, "name", document->frozen[i].name);
        run_json_put_utc(json, "utc", document->frozen[i].utc_ns);
        json_put_text(json, "outdated", document->frozen[i].outdated);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *complaints_json(const struct report_document *document) {
    json_t *list = json_array();
    const struct plan_complaints *complaints = document->complaints;
    for (size_t i = 0; complaints && document->study && i < complaints->count; i++) {
        const struct plan_complaint *complaint = &complaints->items[i];
        json_t *json = json_object();
        json_put_text(json, "id", complaint->id);
        json_put_bool(json, "warning", complaint->warning);
        json_put_text(json, "text", complaint->text);
        json_put(json, "source", study_json_source(document->study->input->plan, complaint->at));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *results_json(const struct study *study) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct document_result *results = NULL;
    size_t count = document_results(study, arena, &results);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct document_result *result = &results[i];
        bool known = quantity_is_known(&result->value);
        json_t *json = json_object(), *blocks = json_array();
        for (size_t b = 0; b < study->block_count; b++)
            for (size_t c = 0; c < study->blocks[b].condition_count; c++)
                if (strcmp(study->blocks[b].conditions[c].condition->id, result->condition->id) ==
                    0)
                    json_array_append_new(blocks, json_text(study->blocks[b].block->id));
        json_put(json, "blocks", blocks);
        json_put_text(json, "condition", result->condition->label);
        json_put_text(json, "condition_id", result->condition->id);
        json_put_text(json, "name", result->name);
        run_json_put_quantity(json, "value", &result->value);
        json_put(json, "least", known ? json_real(result->least) : json_null());
        json_put(json, "most", known ? json_real(result->most) : json_null());
        json_put_text(json, "obtained", result->obtained);
        json_array_append_new(list, json);
    }
    return list;
}

json_t *report_document_json(const struct report_document *document) {
    AUTO_ARENA struct arena *arena = arena_new();
    const struct study *study = document->study;
    const struct plan *plan = study ? study->input->plan : NULL;
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.report/1");
    json_put_text(json, "program", document->program);
    run_json_put_utc(json, "made_utc", document->now_utc_ns);
    json_put_text(json, "verdict", report_document_verdict(document, arena));
    json_put(json, "notes", notes_json(document));
    json_put(json, "decision",
             document->decision ? report_decide_json(document->decision) : json_null());
    json_put(json, "study", study ? study_json_study(study) : json_null());
    json_put(json, "claims", study ? study_json_claims(study) : json_null());
    json_put(json, "results", study ? results_json(study) : json_null());
    json_put(json, "repeat_checks", study ? study_json_repeat_checks(study) : json_null());
    json_put(json, "scope", plan ? scope_json(plan) : json_null());
    json_put(json, "facts", plan ? facts_json(plan) : json_null());
    json_put(json, "privacy", study ? privacy_json(study) : json_null());
    json_put(json, "tasks", plan ? tasks_json(plan) : json_null());
    json_put(json, "environments", plan ? environments_json(plan) : json_null());
    json_put(json, "blocks", study ? study_json_blocks(study) : json_null());
    json_put(json, "unplanned", study ? study_json_unplanned(study) : json_null());
    json_put(json, "runs_in", runs_in_json(document));
    json_put(json, "runs", runs_json(document));
    json_put(json, "estimate",
             document->estimate ? report_estimate_json(document->estimate, document->cost)
                                : json_null());
    json_put(json, "review", document->review ? report_review_json(document->review) : json_null());
    json_put(json, "sessions", study ? document_sessions_json(study) : json_null());
    json_put(json, "frozen", frozen_json(document));
    json_put(json, "complaints", complaints_json(document));
    return json;
}
