/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads of a kept estimate (probelauf.estimate/1) what the review holds reality against. Never
 * trusts the document: what does not hold together is open. Judges nothing.
 */
#include "rules/review-parts.h"

#include "base/mem.h"
#include "model/quantity-read.h"

#include <string.h>

static struct quantity figure(const json_t *object, const char *key, const char *unit,
                              struct arena *arena) {
    return quantity_from_json(json_object_get(object, key), unit, arena);
}

static void read_component(const json_t *json, struct arena *arena, struct kept_component *ret) {
    const json_t *items = json_get_array(json, "items");
    ret->time = figure(json, "time", UNIT_SECOND, arena);
    ret->item_count = json_array_size(items);
    ret->items = arena_alloc(arena, (ret->item_count + 1) * sizeof *ret->items);
    for (size_t i = 0; i < ret->item_count; i++) {
        const json_t *item = json_array_get(items, i);
        ret->items[i] = (struct kept_item){
            .name = arena_strdup(arena, json_get_text(item, "name", "")),
            .count = figure(item, "count", UNIT_COUNT, arena),
            .unit = figure(item, "unit", UNIT_SECOND, arena),
            .time = figure(item, "time", UNIT_SECOND, arena),
        };
    }
}

static struct kept_memory read_memory(const json_t *json, struct arena *arena) {
    return (struct kept_memory){
        .name = arena_strdup(arena, json_get_text(json, "quantity", "")),
        .need = figure(json, "need", UNIT_BYTE, arena),
    };
}

static const json_t *find_block(const json_t *estimate, const char *id) {
    const json_t *blocks = json_get_array(estimate, "blocks");
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        const json_t *block = json_array_get(blocks, i);
        if (strcmp(json_get_text(block, "id", ""), id) == 0)
            return block;
    }
    return NULL;
}

bool review_kept_is_of(const struct review_kept *kept, const char *environment) {
    const char *of =
        json_get_text(json_get_object(kept->estimate, "snapshot"), "environment", NULL);
    return of && environment ? strcmp(of, environment) == 0 : of == environment;
}

bool review_kept_read(const struct review_kept *kept, const char *block, struct arena *arena,
                      struct kept_block *ret) {
    const json_t *json = find_block(kept->estimate, block);
    int64_t remaining = json_get_int(json, "remaining", -1);
    if (!json || remaining == 0)
        return false;
    *ret = (struct kept_block){
        .kept = kept,
        .has_remaining = remaining > 0,
        .remaining = remaining > 0 ? (uint64_t)remaining : 0,
        .reserved = figure(json_get_object(json, "figures"), "reserved", UNIT_SECOND, arena),
        .host = read_memory(json_get_object(json, "host_memory"), arena),
        .gpu = read_memory(json_get_object(json, "gpu_memory"), arena),
    };
    const json_t *components = json_get_object(json, "components");
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        read_component(json_get_object(components, component_name(k)), arena, &ret->components[k]);
    return true;
}
