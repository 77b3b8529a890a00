/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the forms of a report share, and the parts of its Markdown. Internal to report/. */
#pragma once

#include "report/study.h"

#include <stdbool.h>
#include <stddef.h>

#define DOCUMENT_RUNS_SHOWN       50u
#define DOCUMENT_CONDITIONS_SHOWN 100u /* per block */

/* Which runs are in: "7 runs, all of the study", "the 50 newest of 80 runs of the ledger". */
const char *document_runs_text(const struct report_document *document, struct arena *arena);
size_t document_run_total(const struct report_document *document);
/* An open question about data protection, of the plan or of what its part about it leaves out. */
bool document_is_privacy(const struct plan_fact *fact);
/* The run as the study sees it, or NULL. */
const struct study_run *document_study_run(const struct report_document *document,
                                           const struct run *run);
/* Ended, and not well; Ctrl-C and the budget included. */
bool document_is_failure(const struct run *run);
/* "disk_full: No space left on device", "killed: ended by a signal …". May hold anything. */
void document_add_cause(struct strbuf *out, const struct run *run);
/* The name of the incident that stands for it, else of the class. */
const char *document_cause_name(const struct run *run);
/* "evidence", "not evidence: …", "unplanned: …"; NULL without a plan. */
const char *document_standing(const struct report_document *document, const struct run *run,
                              struct arena *arena);
/* What changed before this attempt, joined by "; ". */
void document_add_changes(struct strbuf *out, const struct run *run);
/* "validate: policy=full", "step install", or the condition given with -c. */
void document_add_place(struct strbuf *out, const struct report_document *document,
                        const struct run *run);

/* One metric of one condition, from all its runs that count in whichever block. Open, with the
 * reason, where the plan names it and no such run gave it. */
struct document_result {
    const struct plan_condition *condition; /* of the first block that has it */
    const char *blocks;                     /* all that have it: "validate, compare" */
    const char *name;
    struct quantity value; /* median; n and sources set */
    double least, most;    /* only where value is known */
    const char *obtained;  /* "mark", or which part of which file; NULL: not said */
};
/* Of blocks that share a condition the first alone speaks for it: for each condition of each block,
 * in their order. */
const bool *document_firsts(const struct study *study, struct arena *arena);
size_t document_results(const struct study *study, struct arena *arena,
                        struct document_result **ret_results);

/* The whole, in this order: what comes before the estimate, the estimate (below), the review, what
 * it stands on, the runs (below), method and marks. A part that a document does not have adds
 * nothing. */
void document_markdown_front(const struct report_document *document, struct strbuf *out);
void document_markdown_review(const struct report_document *document, struct strbuf *out);
void document_markdown_middle(const struct report_document *document, struct strbuf *out);
void document_markdown_back(const struct report_document *document, struct strbuf *out);

void document_markdown_results(const struct report_document *document, struct strbuf *out);
/* The decision, and further below all its rules; nothing without a plan. */
void document_markdown_decision(const struct report_document *document, struct strbuf *out);
void document_markdown_rules(const struct report_document *document, struct strbuf *out);
/* The study, its claims, results and repetitions. */
void document_markdown_study(const struct report_document *document, struct strbuf *out);
/* What it stands on: facts, data protection, tasks, scope, environments. */
void document_markdown_ground(const struct report_document *document, struct strbuf *out);
/* What a reader must know who reads no further. */
void document_markdown_short(const struct report_document *document, struct strbuf *out);
void document_markdown_blocks(const struct report_document *document, struct strbuf *out);
/* Reserved time; nothing where no session was recorded. */
void document_markdown_sessions(const struct report_document *document, struct strbuf *out);
json_t *document_sessions_json(const struct study *study);
void document_markdown_runs(const struct report_document *document, struct strbuf *out);
void document_markdown_estimate(const struct report_document *document, struct strbuf *out);
/* A row: block, which quantity, need, capacity, verdict; none where it does not apply. */
void document_markdown_memory(const char *block, const struct estimate_memory *memory,
                              struct strbuf *out);
void document_markdown_method(const struct report_document *document, struct strbuf *out);
