/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Money as JSON: the offers of an environment, what is wrong with each, both ways of renting, and
 * owning. Every key is always there. */
#include "report/cost.h"

#include "report/run-json.h"
#include "report/study-json.h"

#include <string.h>

struct amount cost_amount(const struct cost *cost) {
    return cost ? cost->amount : amount_open(QUANTITY_NO_OFFER, NULL);
}

struct amount cost_block_amount(const struct cost *cost, size_t block) {
    return cost ? cost->by_block[block] : amount_open(QUANTITY_NO_OFFER, NULL);
}

struct amount cost_subtotal_amount(const struct cost *cost, bool by_extent, size_t index) {
    if (!cost)
        return amount_open(QUANTITY_NO_OFFER, NULL);
    return by_extent ? cost->by_extent[index].amount : cost->by_recurrence[index].amount;
}

json_t *cost_missing_json(const struct cost *cost) {
    return cost ? study_json_texts(cost->missing, cost->missing_count) : json_array();
}

static json_t *way_json(const struct cost_way *way, bool usable) {
    json_t *json = json_object();
    const struct quantity none =
        quantity_open(UNIT_SECOND, usable ? QUANTITY_NOT_APPLICABLE : QUANTITY_NO_OFFER, way->why);
    const struct amount no_amount =
        amount_open(usable ? QUANTITY_NOT_APPLICABLE : QUANTITY_NO_OFFER, way->why);
    json_put_text(json, "why", way->has ? NULL : way->why);
    json_put(json, "rentals", way->has ? json_integer((json_int_t)way->rentals) : json_null());
    run_json_put_quantity(json, "reserved", way->has ? &way->reserved : &none);
    run_json_put_quantity(json, "billed", way->has ? &way->billed : &none);
    json_put(json, "amount", amount_to_json(way->has ? &way->amount : &no_amount));
    return json;
}

static json_t *terms_json(const struct plan_offer *offer) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct cost_term *terms;
    json_t *json = json_object();
    size_t count = cost_offer_terms(offer, arena, &terms);
    for (size_t i = 0; i < count; i++)
        json_put_text(json, terms[i].key, terms[i].text);
    return json;
}

static json_t *changes_json(const struct cost_offer *offer) {
    json_t *list = json_array();
    for (size_t i = 0; i < offer->change_count; i++) {
        json_t *json = json_object();
        json_put_text(json, "term", offer->changes[i].key);
        json_put_text(json, "before", offer->changes[i].before);
        json_put_text(json, "after", offer->changes[i].after);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *offer_json(const struct cost *cost, const struct cost_offer *offer) {
    const struct plan *plan = cost->estimate->study->input->plan;
    json_t *json = json_object();
    json_put_text(json, "id", offer->offer->id);
    json_put(json, "source", study_json_source(plan, offer->offer->at));
    json_put_bool(json, "usable", offer->usable);
    json_put(json, "wrong", study_json_texts(offer->wrong, offer->wrong_count));
    json_put(json, "unpriced", study_json_texts(offer->unpriced, offer->unpriced_count));
    json_put(json, "verify", study_json_texts(offer->verify, offer->verify_count));
    json_put(json, "units", study_json_count(offer->units > 0, offer->units));
    json_put(json, "terms", terms_json(offer->offer));
    json_put_text(json, "replaces", offer->offer->replaces);
    json_put(json, "changes", changes_json(offer));
    json_put(json, "continuous", way_json(&offer->continuous, offer->usable));
    json_put(json, "separate", way_json(&offer->separate, offer->usable));
    json_put_text(json, "cheaper", offer->cheaper);
    const struct quantity no_share = quantity_open(UNIT_RATIO, QUANTITY_NO_OFFER, NULL);
    run_json_put_quantity(json, "cheaper_share", offer->usable ? &offer->cheaper_share : &no_share);
    json_put_text(json, "way",
                  !offer->way                        ? NULL
                  : offer->way == &offer->continuous ? "continuous"
                                                     : "separate");
    return json;
}

static json_t *owning_json(const struct cost_owning *owning) {
    json_t *json = json_object();
    json_put_bool(json, "entered", owning->entered);
    json_put(json, "missing", study_json_texts(owning->missing, owning->missing_count));
    json_put(json, "yearly", amount_to_json(&owning->yearly));
    json_put(json, "per_gpu_hour", amount_to_json(&owning->per_gpu_hour));
    run_json_put_quantity(json, "break_even", &owning->break_even);
    json_put(json, "initial_outlay", amount_to_json(&owning->initial_outlay));
    run_json_put_quantity(json, "lead_time", &owning->lead_time);
    json_put(json, "beside", study_json_texts(owning->beside, owning->beside_count));
    return json;
}

json_t *cost_json(const struct cost *cost) {
    json_t *json = json_object(), *offers = json_array();
    if (!cost) {
        json_decref(json);
        json_decref(offers);
        return json_null();
    }
    for (size_t i = 0; i < cost->offer_count; i++)
        json_array_append_new(offers, offer_json(cost, &cost->offers[i]));
    json_put(json, "offers", offers);
    json_put_text(json, "chosen", cost->chosen ? cost->chosen->offer->id : NULL);
    json_put(json, "owning", owning_json(&cost->owning));
    return json;
}
