/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The generic table of a resource justification as JSON, probelauf.justification/1: the same
 * figures as the Markdown, all of them, in base units. Every key is always there.
 */
#include "report/for.h"

#include "report/run-json.h"
#include "report/study-json.h"
#include "report/study-words.h"

#include <string.h>

static json_t *service_json(const struct for_view *view) {
    json_t *list = json_array();
    for (size_t i = 0; view->cost && i < view->cost->offer_count; i++) {
        const struct cost_offer *offer = &view->cost->offers[i];
        if (!for_is_service(offer->offer))
            continue;
        struct amount none = amount_open(QUANTITY_NO_OFFER, NULL);
        bool has = offer->usable && offer->way;
        json_t *json = json_object();
        json_put_text(json, "offer", offer->offer->id);
        json_put_text(json, "unit", offer->offer->service_unit);
        json_put(json, "amount", amount_to_json(has ? &offer->way->amount : &none));
        json_put(json, "wrong", study_json_texts(offer->wrong, offer->wrong_count));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *request_json(const struct for_view *view) {
    json_t *json = study_json_figures(&view->estimate->total);
    struct quantity storage = for_storage_need(view);
    struct quantity in = for_bytes(view, true), written = for_bytes(view, false);
    run_json_put_quantity(json, "node", &view->estimate->total.reserved);
    run_json_put_quantity(json, "storage", &storage);
    run_json_put_quantity(json, "bytes_in", &in);
    run_json_put_quantity(json, "bytes_out", &written);
    return json;
}

static json_t *memory_json(const struct estimate_memory *memory) {
    json_t *json = json_object();
    json_put_text(json, "quantity", memory->quantity_name);
    run_json_put_quantity(json, "need", &memory->need);
    run_json_put_quantity(json, "capacity", &memory->capacity);
    return json;
}

static json_t *workloads_json(const struct for_view *view) {
    json_t *list = json_array();
    for (size_t i = 0; i < view->study->block_count; i++) {
        const struct study_block *block = &view->study->blocks[i];
        const struct estimate_block *left = &view->estimate->blocks[i];
        const struct plan_block *of = block->block;
        const struct plan_planned_date *dates = NULL;
        for (size_t k = 0; k < view->plan->calendar_count; k++)
            if (strcmp(view->plan->calendar[k].block, of->id) == 0)
                dates = &view->plan->calendar[k];
        json_t *json = json_object();
        json_put_text(json, "block", of->id);
        json_put(json, "kind", study_json_named(plan_kind_name(of->kind)));
        json_put(json, "extent", study_json_named(plan_extent_name(of->extent)));
        json_put(json, "recurrence", study_json_named(plan_recurrence_name(of->recurrence)));
        json_put_text(json, "backing", plan_backing_name(of->state));
        json_put_text(json, "question", of->question);
        json_put(json, "conditions", study_json_count(true, block->condition_count));
        json_put(json, "planned", study_json_count(block->has_planned, block->planned));
        json_put(json, "done", study_json_count(true, block->done));
        json_put(json, "left", study_json_count(left->has_remaining, left->remaining));
        json_put(
            json, "lanes",
            study_json_count(of->lanes.given, of->lanes.given ? (uint64_t)of->lanes.value : 0));
        json_put_text(json, "start", dates && dates->start.given ? dates->start.text : NULL);
        json_put_text(json, "end", dates && dates->end.given ? dates->end.text : NULL);
        json_put(json, "figures", study_json_figures(&left->figures));
        json_put(json, "gpu_memory", memory_json(&left->gpu_memory));
        json_put(json, "host_memory", memory_json(&left->host_memory));
        json_put_text(json, "weakness", left->weakness);
        json_put(json, "source", study_json_source(view->plan, of->at));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *evidence_json(const struct for_view *view) {
    json_t *list = json_array();
    for (size_t i = 0; i < view->study->run_count; i++) {
        const struct study_run *run = &view->study->runs[i];
        if (!for_counts(run))
            continue;
        const struct run_gpu *gpu = for_gpu(run->run);
        struct quantity none = quantity_open(UNIT_BYTE, QUANTITY_NOT_APPLICABLE, NULL);
        json_t *json = json_object();
        json_put_text(json, "run", run->run->id);
        json_put_text(json, "block", run->block ? run->block->id : run->condition->block->id);
        json_put_text(json, "condition", run->condition->label);
        json_put_bool(json, "verified", run->evidence.verified);
        study_json_put_of_run(json, "wall", &run->run->wall, run->run);
        study_json_put_of_run(json, "host_largest_process", &run->run->largest_process_rss,
                              run->run);
        study_json_put_of_run(json, "gpu_device_used", gpu ? &gpu->device_used : &none, run->run);
        study_json_put_of_run(json, "gpu_allocated", gpu ? &gpu->allocated : &none, run->run);
        study_json_put_of_run(json, "gpu_reserved", gpu ? &gpu->reserved : &none, run->run);
        json_put_bool(json, "gpu_preallocated", gpu && gpu->preallocated == RUN_YES);
        json_array_append_new(list, json);
    }
    return list;
}

static void formula_entry(json_t *list, const char *block, enum component component,
                          const struct estimate_item *item, const struct quantity *time) {
    struct quantity none = quantity_open(UNIT_COUNT, QUANTITY_NOT_APPLICABLE, NULL);
    struct quantity no_time = quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE, NULL);
    struct quantity alone = study_words_alone(time);
    json_t *json = json_object();
    json_put_text(json, "block", block);
    json_put_text(json, "component", component_name(component));
    json_put_text(json, "name", item ? item->name : NULL);
    run_json_put_quantity(json, "count", item ? &item->count : &none);
    run_json_put_quantity(json, "unit", item ? &item->unit : &no_time);
    run_json_put_quantity(json, "time", &alone);
    json_put(json, "needs_machine", study_json_answer(item ? item->needs_machine : PLAN_UNSAID));
    json_array_append_new(list, json);
}

static json_t *formula_json(const struct for_view *view) {
    json_t *list = json_array();
    for (size_t i = 0; i < view->estimate->block_count; i++) {
        const struct estimate_block *block = &view->estimate->blocks[i];
        for (int k = 0; k < COMPONENT_COUNT_; k++) {
            const struct estimate_component *component = &block->components[k];
            const char *id = block->block->block->id;
            for (size_t n = 0; n < component->item_count; n++)
                formula_entry(list, id, (enum component)k, &component->items[n],
                              &component->items[n].time);
            if (component->item_count == 0)
                formula_entry(list, id, (enum component)k, NULL, &component->time);
        }
    }
    return list;
}

static json_t *settings_json(const struct for_view *view) {
    json_t *list = json_array();
    const struct estimate *estimate = view->estimate;
    for (size_t i = 0; i < estimate->assumed_count + estimate->without_effect_count; i++) {
        const struct estimate_setting *setting =
            i < estimate->assumed_count ? &estimate->assumed[i]
                                        : &estimate->without_effect[i - estimate->assumed_count];
        json_t *json = json_object();
        json_put_text(json, "key", setting->key);
        json_put_text(json, "value", setting->value);
        json_put_text(json, "who", setting->who);
        json_put_text(json, "why", setting->why);
        json_put_text(json, "source", setting->source);
        json_put_text(json, "no_effect", setting->no_effect);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *limits_json(const struct for_view *view) {
    json_t *list = json_array();
    for (size_t i = 0; view->environment && i < view->plan->offer_count; i++) {
        const struct plan_offer *offer = &view->plan->offers[i];
        if (!offer->environment || strcmp(offer->environment, view->environment->id) != 0)
            continue;
        const char *line = plan_source(view->plan, offer->maximum.at, view->arena);
        struct quantity longest = offer->maximum.given
                                      ? (struct quantity){.state = QUANTITY_ASSUMED,
                                                          .unit = UNIT_SECOND,
                                                          .value = (double)offer->maximum.ns / 1e9,
                                                          .method = "plan",
                                                          .sources = &line,
                                                          .source_count = 1}
                                      : quantity_open(UNIT_SECOND, QUANTITY_NOT_ENTERED, NULL);
        json_t *json = json_object();
        json_put_text(json, "offer", offer->id);
        run_json_put_quantity(json, "longest", &longest);
        json_put(json, "units",
                 study_json_count(
                     offer->units_available.given,
                     offer->units_available.given ? (uint64_t)offer->units_available.value : 0));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *open_json(const struct for_view *view) {
    json_t *list = json_array();
    for (size_t i = 0; i < view->estimate->open_count; i++) {
        const struct estimate_open *open = &view->estimate->open[i];
        json_t *json = json_object();
        json_put_text(json, "block", open->block ? open->block->id : NULL);
        json_put_text(json, "component",
                      open->has_component ? component_name(open->component) : NULL);
        json_put_text(json, "what", open->what);
        json_put_text(json, "remedy", open->remedy);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *facts_json(const struct for_view *view) {
    json_t *list = json_array();
    for (size_t i = 0; i < view->study->open_fact_count; i++) {
        const struct plan_fact *fact = view->study->open_facts[i];
        AUTO_STRBUF struct strbuf stops = STRBUF_INIT;
        plan_stops_text(fact->stops, &stops);
        json_t *json = json_object();
        json_put_text(json, "id", fact->id);
        json_put_text(json, "question", fact->question);
        json_put_text(json, "stops", strbuf_str(&stops));
        json_put(json, "source", study_json_source(view->plan, fact->at));
        json_array_append_new(list, json);
    }
    return list;
}

json_t *report_for_json(const struct report_document *document, const char *name) {
    AUTO_ARENA struct arena *arena = arena_new();
    const struct for_view view = for_view_of(document, arena);
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.justification/1");
    json_put_text(json, "for", name);
    json_put_text(json, "program", document->program);
    run_json_put_utc(json, "made_utc", document->now_utc_ns);
    json_put(json, "study", study_json_study(view.study));
    json_put_bool(json, "provisional", view.estimate->provisional);
    json_put(
        json, "provisional_why",
        study_json_texts(view.estimate->provisional_reasons, view.estimate->provisional_count));
    json_put(json, "request", request_json(&view));
    json_put(json, "service_units", service_json(&view));
    json_put(json, "workloads", workloads_json(&view));
    json_put(json, "evidence", evidence_json(&view));
    json_put(json, "formula", formula_json(&view));
    json_put(json, "limits", limits_json(&view));
    json_put(json, "assumptions", settings_json(&view));
    json_put(json, "open", open_json(&view));
    json_put(json, "open_facts", facts_json(&view));
    return json;
}
