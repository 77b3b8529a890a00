/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of `check` that have a file of their own. Internal to report/. */
#pragma once

#include "plan/plan.h"
#include "report/report.h"

/* Candidate environments side by side: what is known and open of each, does the code fit it, its
 * offers and open facts. Nothing without any. Nothing crosses from one to another (A11). */
void check_add_environments(const struct plan *plan, struct report_style style, struct strbuf *out);
json_t *check_environments_json(const struct plan *plan);

/* Tasks that need no rented machine and are not done (A7). */
void check_add_before_booking(const struct plan *plan, struct report_style style,
                              struct strbuf *out);
json_t *check_before_booking_json(const struct plan *plan);
