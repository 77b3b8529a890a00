/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections of `show` that come from the records, and what other renderers of runs share with
 * it. Internal to report/. */
#pragma once

#include "base/strbuf.h"
#include "model/run.h"
#include "report/layout.h"
#include "report/report.h"

#include <stdint.h>

void run_text_phase_list(struct strbuf *out, struct report_style style, const struct run *run);
void run_text_work(struct strbuf *out, struct report_style style, const struct run *run);
void run_text_files(struct strbuf *out, struct report_style style, const struct run *run);
void run_text_code(struct strbuf *out, struct report_style style, const struct run *run);
void run_text_environment(struct strbuf *out, struct report_style style, const struct run *run);
void run_text_incidents(struct strbuf *out, struct report_style style, const struct run *run);
void run_text_changes(struct strbuf *out, struct report_style style, const struct run *run);
void run_text_monitor(struct strbuf *out, struct report_style style, const struct run *run);

/* A row whose value is foreign text; nothing for NULL or "". */
void run_text_row(struct strbuf *out, struct report_style style, const char *label,
                  const char *foreign);
/* "2026-11-30 12:34:56", UTC without saying so. */
void run_text_add_date(struct strbuf *out, int64_t utc_ns);
/* ", but 2 of 3 checks of the result were not met", or nothing. */
void run_text_add_unmet(struct strbuf *out, const struct run *run);
/* "cache=on size=3": the condition given with -c. May hold anything: print it plain. */
void run_text_add_condition(struct strbuf *out, const struct run *run);
/* A result as the command reported it: a figure that others may quote is not rounded. */
void run_text_add_result(struct strbuf *out, const struct quantity *q, bool ascii, bool mark);
enum layout_color run_text_outcome_color(enum outcome_class outcome);
/* The incident that stands for how the run ended, or NULL. */
const struct run_incident *run_text_cause(const struct run *run);
