/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What renderers share of money; internal to report/. An amount never stands without its state and
 * what it lacks; a price of an offer that is not usable is not shown. */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"
#include "report/report.h"
#include "report/study.h"
#include "rules/cost.h"

/* Of the whole, of a block, of a subtotal; cost NULL: open. */
struct amount cost_amount(const struct cost *cost);
struct amount cost_block_amount(const struct cost *cost, size_t block);
struct amount cost_subtotal_amount(const struct cost *cost, bool by_extent, size_t index);

json_t *cost_json(const struct cost *cost); /* the key `cost` of an estimate; null for NULL */
json_t *cost_missing_json(const struct cost *cost);
void cost_text(const struct cost *cost, struct report_style style, struct strbuf *out);
void cost_markdown(const struct cost *cost, struct strbuf *out);

/* The lines below an amount: "not in it: a; b". Nothing where it lacks nothing. */
void cost_add_lacks(struct strbuf *out, const struct amount *amount);
/* "offer 'a', 2.49 EUR per hour, valid until 2027-01-31 (probelauf.yaml:80)": of a usable one. */
const char *cost_offer_line(const struct cost *cost, const struct cost_offer *offer,
                            struct arena *arena);
/* "one rental: [e] 12.30 EUR, reserved …" */
const char *cost_way_line(const struct cost_way *way, bool separate, bool ascii,
                          struct arena *arena);
/* "rate: 2.490000, before 2.190000" */
const char *cost_change_line(const struct cost_change *change, struct arena *arena);
