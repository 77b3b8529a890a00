/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A quantity out of a JSON document that was kept. Never trusts the document: what does not hold
 * together is open. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "model/quantity.h"

/* json: what quantity_to_json wrote, or anything. Texts are copied into arena; parts are read one
 * level deep. unit: what is expected, any for NULL; a quantity of another one is open. */
struct quantity quantity_from_json(const json_t *json, const char *unit, struct arena *arena);

/* What other kinds of values have as well: `state` (open where it is none), `bound` (exact where it
 * is none), a list of texts (what is no text is left out). */
enum quantity_state quantity_state_of_json(const json_t *json);
enum quantity_bound quantity_bound_of_json(const json_t *json);
const char *const *quantity_texts_of_json(const json_t *json, const char *key, struct arena *arena,
                                          size_t *ret_count);
