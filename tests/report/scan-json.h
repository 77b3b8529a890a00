/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Properties of JSON documents about a study: every number is a quantity or an amount with its
 * state, or stands under a key that is named in scan-json.c with the reason why it is plain; what
 * is open has no value but a reason; money comes from an offer that can be used.
 */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"
#include "generate-study.h"

#include <stdbool.h>
#include <stddef.h>

struct scan_json {
    const struct generated *generated;
    const char *environment; /* of the document; NULL: none */
    const char *only_here;   /* below this key every source is of the environment; NULL: nowhere */
    size_t figures;
    struct strbuf wrong; /* a line each */
};
/* Keys whose figures belong to no environment alone. */
#define SCAN_JSON_PAST 4u
extern const char *const scan_json_past[SCAN_JSON_PAST];
void scan_json(struct scan_json *scan, const json_t *json);
bool scan_json_is_money(const char *unit);

/* Of probelauf.estimate/1: a figure with an open part is a lower bound or open itself, no total is
 * better known than its parts, what is open is listed. */
void scan_totals(const json_t *estimate, struct strbuf *wrong);
/* Is there an assumption with this key in the list? */
bool scan_has_setting(const json_t *estimate, const char *list, const char *key);
