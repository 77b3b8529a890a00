/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part about money of a comparison of estimates. Internal to report/. */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"
#include "report/report.h"

/* Estimates as documents, any JSON. {before, after: amount, offers: [{id, state: new, gone or
 * changed, terms: [{term, before, after}]}]} */
json_t *compare_money_json(const json_t *before, const json_t *after);
/* Nothing where nothing changed. */
void compare_money_text(const json_t *money, struct report_style style, struct strbuf *out);
