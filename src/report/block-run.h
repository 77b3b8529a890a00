/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `block run` and `block gate` for people and for programs (probelauf.block-run/1,
 * probelauf.gate/1). */
#pragma once

#include "report/report.h"
#include "rules/block-run.h"
#include "rules/estimate.h"
#include "rules/study.h"

/* What would be run: in order, with expected times and commands; what stands in the way. */
void report_block_plan_text(const struct block_run_plan *plan, struct report_style style,
                            struct strbuf *out);
/* result NULL: nothing was run (--dry-run). estimate: of what is left, NULL: none. */
json_t *report_block_run_json(const struct study *study, const struct block_run_plan *plan,
                              const struct block_run_result *result,
                              const struct estimate *estimate);

/* The gate: what the block has come to, what is left of the whole plan, the criteria, the question
 * and how to answer. estimate may be NULL. */
void report_gate_text(const struct study *study, const struct study_block *block,
                      const struct estimate *estimate, struct report_style style,
                      struct strbuf *out);
json_t *report_gate_json(const struct study *study, const struct study_block *block,
                         const struct estimate *estimate);
/* The last answer of the block in a line: "go-on, 2026-11-30 12:00 UTC (name): why"; false: none.
 */
bool report_gate_line(const struct study *study, const struct plan_block *block,
                      struct strbuf *out);
/* The same as an object; null: none. */
json_t *report_gate_answer_json(const struct study *study, const struct plan_block *block);
