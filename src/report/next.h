/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renderers of the advice which trial to run next (rules/next.h): text and JSON. The verdict comes
 * first, then the trials, then what is not offered and what no trial closes. They decide nothing.
 */
#pragma once

#include "report/report.h"
#include "rules/next.h"

/* limit: at most so many trials are listed; 0: all. */
json_t *report_next_json(const struct next_advice *advice, size_t limit); /* probelauf.next/1 */
void report_next_text(const struct next_advice *advice, size_t limit, struct report_style style,
                      struct strbuf *out);
