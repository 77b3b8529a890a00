/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reverse of quantity_to_json, for documents that may come from elsewhere. Invents nothing. */
#include "model/quantity-read.h"

#include <math.h>
#include <string.h>

static const char *text_of(const json_t *json, const char *key, struct arena *arena) {
    const char *text = json_get_text(json, key, NULL);
    return text ? arena_strdup(arena, text) : NULL;
}

static bool number_of(const json_t *json, const char *key, double *ret_value) {
    const json_t *value = json_object_get(json, key);
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return false;
    *ret_value = json_number_value(value);
    return true;
}

enum quantity_state quantity_state_of_json(const json_t *json) {
    const char *name = json_get_text(json, "state", "");
    for (int i = QUANTITY_ASSUMED; i < QUANTITY_STATE_COUNT_; i++)
        if (strcmp(quantity_state_name((enum quantity_state)i), name) == 0)
            return (enum quantity_state)i;
    return QUANTITY_OPEN;
}

enum quantity_bound quantity_bound_of_json(const json_t *json) {
    const char *name = json_get_text(json, "bound", "");
    for (int i = 0; i < QUANTITY_BOUND_COUNT_; i++)
        if (strcmp(quantity_bound_name((enum quantity_bound)i), name) == 0)
            return (enum quantity_bound)i;
    return QUANTITY_EXACT;
}

const char *const *quantity_texts_of_json(const json_t *json, const char *key, struct arena *arena,
                                          size_t *ret_count) {
    const json_t *list = json_get_array(json, key);
    const char **texts = arena_alloc(arena, (json_array_size(list) + 1) * sizeof(*texts));
    *ret_count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text)
            texts[(*ret_count)++] = arena_strdup(arena, text);
    }
    return texts;
}

/* What is exact lacks nothing; none named: they are told from the parts. */
static void read_open_parts(const json_t *json, struct arena *arena, struct quantity *q) {
    if (quantity_is_known(q) && q->bound != QUANTITY_AT_LEAST)
        return;
    const char *const *names =
        quantity_texts_of_json(json, "open_parts", arena, &q->open_part_count);
    q->open_parts = q->open_part_count > 0 ? names : NULL;
}

static struct quantity read_flat(const json_t *json, const char *unit, struct arena *arena) {
    const char *said = text_of(json, "unit", arena);
    struct quantity q = quantity_open(said ? said : unit, QUANTITY_NOT_IN_RECORD, NULL);
    enum quantity_state state = quantity_state_of_json(json);
    q.detail = text_of(json, "detail", arena);
    q.method = text_of(json, "method", arena);
    q.sources = quantity_texts_of_json(json, "sources", arena, &q.source_count);
    if (state == QUANTITY_OPEN || !number_of(json, "value", &q.value)) {
        enum quantity_reason reason;
        if (quantity_reason_from_name(json_get_text(json, "reason", ""), &reason) &&
            reason != QUANTITY_NO_REASON)
            q.reason = reason;
        read_open_parts(json, arena, &q);
        return q;
    }
    q.state = state;
    q.reason = QUANTITY_NO_REASON;
    q.bound = quantity_bound_of_json(json);
    int64_t n = json_get_int(json, "n", 0);
    q.n = n > 0 ? (uint64_t)n : 0;
    q.has_interval = state != QUANTITY_MEASURED && number_of(json, "p05", &q.p05) &&
                     number_of(json, "p95", &q.p95) && number_of(json, "level", &q.level);
    q.basis = state != QUANTITY_MEASURED ? text_of(json, "basis", arena) : NULL;
    read_open_parts(json, arena, &q);
    return q;
}

struct quantity quantity_from_json(const json_t *json, const char *unit, struct arena *arena) {
    struct quantity q = read_flat(json, unit, arena);
    if (unit && strcmp(q.unit ? q.unit : UNIT_RATIO, unit) != 0)
        return quantity_open(unit, QUANTITY_NOT_IN_RECORD, NULL);
    const json_t *list = json_get_array(json, "parts");
    struct quantity_part *parts = arena_alloc(arena, (json_array_size(list) + 1) * sizeof(*parts));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *part = json_array_get(list, i);
        const char *name = text_of(part, "name", arena);
        const json_t *of = json_get_object(part, "quantity");
        if (name)
            parts[q.part_count++] = (struct quantity_part){
                .name = name, .quantity = read_flat(of ? of : part, NULL, arena)};
    }
    q.parts = q.part_count > 0 ? parts : NULL;
    if (!quantity_is_valid(&q))
        return quantity_open(unit, QUANTITY_NOT_IN_RECORD, NULL);
    return q;
}
