/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Renderers of what a plan and its records have come to: check, blocks, estimate, and the document
 * that one hands over. One model (rules/study.h, rules/estimate.h), many forms; every figure keeps
 * its state mark, a total its open parts.
 */
#pragma once

#include "plan/plan.h"
#include "report/report.h"
#include "rules/cost.h"
#include "rules/decide.h"
#include "rules/estimate.h"
#include "rules/review.h"
#include "rules/study.h"

/* ---- check: complaints and open facts (probelauf.check/1) ---- */
json_t *report_check_json(const struct plan *plan, const struct plan_complaints *complaints);
void report_check_text(const struct plan *plan, const struct plan_complaints *complaints,
                       struct report_style style, struct strbuf *out);
/* Whether open facts stand in the way: exit code 3 of `check`. */
bool report_check_is_stopped(const struct plan *plan);

/* ---- block list (probelauf.blocks/1) ---- */
json_t *report_blocks_json(const struct study *study);
void report_blocks_text(const struct study *study, struct report_style style, struct strbuf *out);

/* ---- estimate (probelauf.estimate/1) ---- */
struct report_frozen {           /* a frozen estimate, as a line */
    const char *name, *outdated; /* NULL: still holds */
    int64_t utc_ns;
};
/* cost: of this estimate (cost_make); NULL: money was not looked at, its amount is open. */
json_t *report_estimate_json(const struct estimate *estimate, const struct cost *cost);
void report_estimate_text(const struct estimate *estimate, const struct cost *cost,
                          const struct report_frozen *frozen, size_t frozen_count,
                          struct report_style style, struct strbuf *out);

/* Two estimates as JSON documents (one of them may be a frozen one): which figures changed, from
 * what to what, and why as far as their snapshots and sources tell (plan, code, environment,
 * method, which runs, a --set). study: of `after`, says why a run is under no figure any more;
 * NULL: not known. probelauf.estimate-compare/1, with `after` as `estimate`. */
json_t *report_estimate_compare_json(const json_t *before, const json_t *after,
                                     const struct study *study);
void report_estimate_compare_text(const json_t *compare, struct report_style style,
                                  struct strbuf *out);

/* ---- the report ---- */
struct report_document {
    const struct study *study;                /* NULL: no plan */
    const struct estimate *estimate;          /* NULL: no plan */
    const struct cost *cost;                  /* of the estimate; NULL: no plan */
    const struct decision *decision;          /* NULL: no plan */
    const struct review *review;              /* NULL: none was made */
    const struct plan_complaints *complaints; /* warnings of the plan */
    const struct report_frozen *frozen;
    size_t frozen_count;
    const struct run *const *runs; /* newest first: of the study, or without a plan of the ledger */
    size_t run_count;
    size_t run_total;  /* how many there are, of which `runs` are the newest; 0: as run_count */
    size_t runs_shown; /* in Markdown at most so many, the newest; 0: 50 */
    int64_t now_utc_ns;
    const char *program; /* "probelauf 0.1.0" */
};
void report_document_markdown(const struct report_document *document, struct strbuf *out);
json_t *report_document_json(const struct report_document *document); /* probelauf.report/1 */
void report_document_csv(const struct report_document *document, struct strbuf *out);

/* At most five, the most important first: finding, evidence, what to do, the command. Translated.
 */
#define REPORT_NOTES_MAX 5u
struct report_note {
    const char *finding, *evidence, *todo, *command; /* evidence, command may be NULL */
};
size_t report_document_notes(const struct report_document *document, struct arena *arena,
                             struct report_note ret_notes[REPORT_NOTES_MAX]);
/* The decision in a sentence or two, translated; without a plan why there is none. */
const char *report_document_verdict(const struct report_document *document, struct arena *arena);

/* ---- for those who decide about machines (docs/report.md) ---- */
/* "generic", "rental", "neurips", "nairr", …; NULL behind the last. */
const char *report_for_name(size_t index);
/* The document needs a study, its estimate and, for units of account, its cost. name: one of the
 * above. */
void report_for_markdown(const struct report_document *document, const char *name,
                         struct strbuf *out);
/* The generic table, whoever it is for: probelauf.justification/1. */
json_t *report_for_json(const struct report_document *document, const char *name);
/* The keys of offers[] that the rental brief asks for; NULL behind the last. */
const char *report_for_offer_key(size_t index);
