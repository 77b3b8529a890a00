/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The advice for machines (report/next.h). Texts are English whatever the language, which the
 * caller sees to. */
#include "report/next.h"

#include "report/study-json.h"

#include <math.h>

/* null for what is not known. */
static json_t *number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *parameters(const struct plan_condition *condition) {
    return condition ? study_json_pairs(condition->parameters, condition->parameter_count)
                     : json_null();
}

static void put_place(json_t *json, const struct plan_block *block,
                      const struct plan_condition *condition, const struct plan_step *step,
                      const char *name) {
    json_put_text(json, "name", name);
    json_put_text(json, "block", block->id);
    json_put(json, "condition", parameters(condition));
    json_put_text(json, "step", step ? step->name : NULL);
}

static json_t *trial_json(const struct next_trial *trial) {
    json_t *json = json_object();
    json_put_text(json, "kind", next_kind_name(trial->kind));
    put_place(json, trial->block, trial->condition, trial->step, trial->name);
    json_put_text(json, "command", trial->command);
    json_put_int(json, "seen", (int64_t)trial->seen);
    json_put_int(json, "left", (int64_t)trial->left);
    json_put(json, "time", quantity_to_json(&trial->time));
    json_put(json, "lost", quantity_to_json(&trial->lost));
    json_put(json, "cost", quantity_to_json(&trial->cost));
    json_put(json, "narrowing", quantity_to_json(&trial->narrowing));
    json_put(json, "reserve_drop", quantity_to_json(&trial->reserve_drop));
    json_put(json, "rate_per_minute", number(trial->rate));
    json_put_int(json, "rate_runs", (int64_t)trial->rate_runs);
    json_put(json, "share", number(trial->share));
    json_put_bool(json, "pays", trial->pays);
    json_put_text(json, "reason", trial->reason);
    return json;
}

static json_t *refused_json(const struct next_refused *refused) {
    json_t *json = json_object();
    put_place(json, refused->block, refused->condition, refused->step, refused->name);
    json_put(json, "why", study_json_texts(refused->why, refused->why_count));
    return json;
}

static json_t *open_json(const struct estimate_open *open) {
    json_t *json = json_object();
    json_put_text(json, "block", open->block ? open->block->id : NULL);
    json_put_text(json, "component", open->has_component ? component_name(open->component) : NULL);
    json_put_text(json, "what", open->what);
    json_put_text(json, "remedy", open->remedy);
    return json;
}

json_t *report_next_json(const struct next_advice *advice, size_t limit) {
    const struct study *study = advice->estimate->study;
    const struct plan_environment *environment = study->input->environment;
    size_t shown = limit > 0 && limit < advice->trial_count ? limit : advice->trial_count;
    json_t *json = json_object();
    json_t *trials = json_array();
    json_t *refused = json_array();
    json_t *not_counted = json_array();

    json_put_text(json, "schema", "probelauf.next/1");
    json_put(json, "study", study_json_study(study));
    json_put_text(json, "environment", environment ? environment->id : NULL);
    json_put(json, "gpus",
             study_json_count(advice->estimate->has_gpus, advice->estimate->reserved_gpus));
    json_put_text(json, "verdict", next_verdict_name(advice->verdict));
    json_put_text(json, "why", advice->why);
    json_put_bool(json, "run", advice->verdict == NEXT_RUN);
    json_put(json, "within", json_real(advice->within));
    json_put_text(json, "method", NEXT_METHOD);
    json_put_int(json, "seed", (int64_t)advice->seed);
    json_put_int(json, "futures", (int64_t)advice->futures);
    json_put_int(json, "outcomes", (int64_t)advice->outcomes);
    json_put(json, "total", quantity_to_json(&advice->total));
    json_put(json, "width_ratio", number(advice->width_ratio));
    json_put_int(json, "unknown", (int64_t)advice->unknown);
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(trials, trial_json(&advice->trials[i]));
    json_put(json, "trials", trials);
    json_put_int(json, "trial_count", (int64_t)advice->trial_count);
    for (size_t i = 0; i < advice->refused_count; i++)
        json_array_append_new(refused, refused_json(&advice->refused[i]));
    json_put(json, "not_offered", refused);
    for (size_t i = 0; i < advice->not_counted_count; i++)
        json_array_append_new(not_counted, open_json(advice->not_counted[i]));
    json_put(json, "not_counted", not_counted);
    return json;
}
