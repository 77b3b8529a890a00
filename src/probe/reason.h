/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a part of the ENVIRONMENT record is open. Records keep the English sentence (mark it N_), so
 * that what is stored does not depend on anybody's language; whoever shows it looks it up.
 */
#pragma once

#include "base/json.h"
#include "model/quantity.h"

/* key: the part of the record, "code.diff". */
static inline void reason_put(json_t *reasons, const char *key, const char *english) {
    json_put_text(reasons, key, english);
}

static inline void quantity_put(json_t *object, const char *key, struct quantity q) {
    json_put(object, key, quantity_to_json(&q));
}
