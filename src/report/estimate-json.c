/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The estimate of a plan as JSON, probelauf.estimate/1: everything of struct estimate, with the
 * snapshot that tells later what it was made from. Every key is always there; no total without its
 * open parts.
 */
#include "report/study.h"

#include "forecast/condition.h"
#include "report/calibration.h"
#include "report/classes.h"
#include "report/cost.h"
#include "report/precision.h"
#include "report/run-json.h"
#include "report/study-json.h"
#include "report/study-words.h"

#include <string.h>

static json_t *item_json(const struct estimate_item *item) {
    json_t *json = json_object();
    json_put_text(json, "name", item->name);
    run_json_put_quantity(json, "count", &item->count);
    run_json_put_quantity(json, "unit", &item->unit);
    run_json_put_quantity(json, "time", &item->time);
    json_put(json, "needs_machine", study_json_answer(item->needs_machine));
    return json;
}

static json_t *components_json(const struct estimate_component components[COMPONENT_COUNT_]) {
    json_t *json = json_object();
    for (int i = 0; i < COMPONENT_COUNT_; i++) {
        const struct estimate_component *component = &components[i];
        json_t *entry = json_object(), *items = json_array();
        struct quantity time = study_words_alone(&component->time); /* its parts are the items */
        run_json_put_quantity(entry, "time", &time);
        for (size_t j = 0; j < component->item_count; j++)
            json_array_append_new(items, item_json(&component->items[j]));
        json_put(entry, "items", items);
        json_put(json, component_name((enum component)i), entry);
    }
    return json;
}

static json_t *memory_json(const struct estimate_memory *memory) {
    json_t *json = json_object();
    json_put_text(json, "quantity", memory->quantity_name);
    run_json_put_quantity(json, "need", &memory->need);
    run_json_put_quantity(json, "capacity", &memory->capacity);
    json_put_text(json, "verdict", memory->verdict);
    return json;
}

static json_t *open_json(const struct estimate_open *open, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object(), *items = json_array();
        json_put_text(json, "block", open[i].block ? open[i].block->id : NULL);
        json_put_text(json, "component",
                      open[i].has_component ? component_name(open[i].component) : NULL);
        for (size_t k = 0; k < open[i].item_count; k++)
            json_array_append_new(items, json_text(open[i].items[k]->name));
        json_put(json, "items", items);
        json_put_text(json, "what", open[i].what);
        json_put_text(json, "remedy", open[i].remedy);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *block_json(const struct estimate *estimate, const struct cost *cost, size_t index) {
    const struct estimate_block *block = &estimate->blocks[index];
    struct amount amount = cost_block_amount(cost, index);
    const struct plan_block *of = block->block->block;
    json_t *json = json_object();
    json_put_text(json, "id", of->id);
    json_put(json, "kind", study_json_named(plan_kind_name(of->kind)));
    json_put(json, "extent", study_json_named(plan_extent_name(of->extent)));
    json_put(json, "recurrence", study_json_named(plan_recurrence_name(of->recurrence)));
    json_put_text(json, "level", evidence_level_name(block->block->level));
    json_put(json, "remaining", study_json_count(block->has_remaining, block->remaining));
    json_put(json, "components", components_json(block->components));
    json_put(json, "figures", study_json_figures(&block->figures));
    json_put(json, "calibrated", report_calibrated_json(block->calibrated));
    json_put(json, "amount", amount_to_json(&amount));
    json_put(json, "host_memory", memory_json(&block->host_memory));
    json_put(json, "gpu_memory", memory_json(&block->gpu_memory));
    run_json_put_quantity(json, "bytes_in", &block->bytes_in);
    run_json_put_quantity(json, "bytes_out", &block->bytes_out);
    json_put(json, "open", open_json(block->open, block->open_count));
    json_put_text(json, "weakness", block->weakness);
    json_put(json, "source", study_json_source(estimate->study->input->plan, of->at));
    return json;
}

static json_t *subtotals_json(const struct estimate *estimate, const struct cost *cost,
                              bool by_extent) {
    const struct estimate_subtotal *subtotals =
        by_extent ? estimate->by_extent : estimate->by_recurrence;
    size_t count = by_extent ? estimate->by_extent_count : estimate->by_recurrence_count;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object();
        struct amount amount = cost_subtotal_amount(cost, by_extent, i);
        json_put_text(json, "name", subtotals[i].name);
        json_put(json, "blocks", study_json_count(true, subtotals[i].block_count));
        json_put(json, "figures", study_json_figures(&subtotals[i].figures));
        json_put(json, "amount", amount_to_json(&amount));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *settings_json(const struct estimate *estimate,
                             const struct estimate_setting *settings, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct estimate_setting *setting = &settings[i];
        const struct plan_assumption *assumption =
            study_words_assumption(estimate->study->input->plan, setting);
        json_t *json = json_object();
        json_put_text(json, "key", setting->key);
        json_put_text(json, "value", setting->value);
        json_put_text(json, "who", setting->who);
        json_put_text(json, "when",
                      assumption && assumption->when.given ? assumption->when.text : NULL);
        json_put_text(json, "why", setting->why);
        json_put_text(json, "source", setting->source);
        json_put_bool(json, "set", setting->is_set);
        json_put_text(json, "no_effect", setting->no_effect);
        json_array_append_new(list, json);
    }
    return list;
}

/* Does the time of any part follow what other conditions did? */
static bool has_borrowed(const struct estimate *estimate) {
    for (size_t b = 0; b < estimate->block_count; b++)
        for (int k = 0; k < COMPONENT_COUNT_; k++) {
            const struct estimate_component *component = &estimate->blocks[b].components[k];
            for (size_t i = 0; i < component->item_count; i++) {
                const char *method = component->items[i].time.method;
                if (method && strcmp(method, CONDITION_METHOD) == 0)
                    return true;
            }
        }
    return false;
}

/* Conditions of other studies: a part that borrows does so from all of them. */
static json_t *borrowed_json(const struct estimate *estimate) {
    const struct study_input *input = estimate->study->input;
    json_t *list = json_array();
    for (size_t i = 0; i < input->past_count && has_borrowed(estimate); i++) {
        const struct study_past *of = &input->past_of[i];
        json_t *json = json_object();
        json_put_text(json, "study", of->study);
        json_put_text(json, "block", of->block);
        json_put_text(json, "condition", of->condition);
        json_put_text(json, "environment", of->environment);
        json_put(json, "runs", study_json_count(true, input->past[i].count));
        json_array_append_new(list, json);
    }
    return list;
}

/* What the figures were made from: equal snapshots and equal runs give equal figures. */
static json_t *snapshot_json(const struct estimate *estimate) {
    const struct study_input *input = estimate->study->input;
    json_t *json = json_object();
    json_put(json, "plan_digest", study_json_named(input->plan->digest));
    json_put_text(json, "code_digest", input->code_digest);
    json_put_text(json, "environment", input->environment ? input->environment->id : NULL);
    json_put_text(json, "method", ESTIMATE_METHOD);
    /* a seed is 64 bits without a sign, which JSON numbers do not carry safely */
    AUTO_FREE char *seed = mem_printf("%llu", (unsigned long long)estimate->seed);
    json_put_text(json, "seed", seed);
    json_put(json, "draws", study_json_count(true, estimate->draws));
    run_json_put_utc(json, "made_utc", input->now_utc_ns);
    json_t *runs = json_array();
    for (size_t i = 0; i < estimate->study->run_count; i++)
        json_array_append_new(runs, json_text(estimate->study->runs[i].run->id));
    json_put(json, "runs", runs);
    json_t *sessions = json_array();
    for (size_t i = 0; i < input->session_count; i++)
        json_array_append_new(sessions, json_text(input->sessions[i].id));
    json_put(json, "sessions", sessions);
    return json;
}

json_t *report_estimate_json(const struct estimate *estimate, const struct cost *cost) {
    const struct study *study = estimate->study;
    json_t *json = json_object(), *blocks = json_array();
    json_put_text(json, "schema", "probelauf.estimate/1");
    json_put(json, "snapshot", snapshot_json(estimate));
    json_put(json, "study", study_json_study(study));
    json_put_bool(json, "provisional", estimate->provisional);
    json_put(json, "provisional_why",
             study_json_texts(estimate->provisional_reasons, estimate->provisional_count));
    for (size_t i = 0; i < estimate->block_count; i++)
        json_array_append_new(blocks, block_json(estimate, cost, i));
    json_put(json, "blocks", blocks);
    json_put(json, "components", components_json(estimate->components));
    json_put(json, "total", study_json_figures(&estimate->total));
    json_put(json, "simulation_error", report_precision_json(estimate));
    json_put(json, "dominating", report_dominating_json(estimate));
    json_put(json, "calibrated", report_calibrated_json(estimate->calibrated));
    json_put(json, "assumed_class", report_by_class_json(estimate));
    json_put(json, "open", open_json(estimate->open, estimate->open_count));
    json_put(json, "by_extent", subtotals_json(estimate, cost, true));
    json_put(json, "by_recurrence", subtotals_json(estimate, cost, false));
    json_put(json, "reserved_gpus", study_json_count(estimate->has_gpus, estimate->reserved_gpus));
    struct amount amount = cost_amount(cost);
    json_put(json, "amount", amount_to_json(&amount));
    json_put(json, "missing", cost_missing_json(cost));
    json_put(json, "borrowed_from", borrowed_json(estimate));
    json_put(json, "cost", cost_json(cost));
    json_put(json, "assumed", settings_json(estimate, estimate->assumed, estimate->assumed_count));
    json_put(json, "without_effect",
             settings_json(estimate, estimate->without_effect, estimate->without_effect_count));
    run_json_put_quantity(json, "spent", &study->here.spent);
    run_json_put_quantity(json, "failed_time", &study->here.failed_time);
    run_json_put_quantity(json, "spent_elsewhere", &study->elsewhere.spent);
    run_json_put_quantity(json, "failed_time_elsewhere", &study->elsewhere.failed_time);
    run_json_put_quantity(json, "unplanned_time", &study->unplanned_time);
    run_json_put_quantity(json, "first_success", &study->first_success);
    return json;
}
