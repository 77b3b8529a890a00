/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Documents for those who decide about machines: the justification of a request, the brief for a
 * provider, the answer to a checklist. One set of parts over study, estimate and cost; a body is a
 * table of headings with their parts. Internal to report/.
 */
#pragma once

#include "base/mem.h"
#include "base/strbuf.h"
#include "report/study.h"

#include <stdbool.h>
#include <stddef.h>

struct for_view {
    const struct report_document *document;
    const struct study *study;
    const struct plan *plan;
    const struct estimate *estimate;
    const struct cost *cost;                    /* NULL: money was not looked at */
    const struct plan_environment *environment; /* NULL: the plan names none */
    struct arena *arena;
};

typedef void for_part(const struct for_view *view, struct strbuf *out);

struct for_section {
    const char *heading, *lead; /* N_ texts; lead: one paragraph, NULL: none */
    for_part *part;             /* NULL: to be written by people, the lead says so */
};
struct for_body {
    const char *name;  /* "nairr" */
    const char *title; /* N_ text */
    const struct for_section *sections;
    size_t count;
};
extern const struct for_body for_bodies[]; /* ends with name NULL */

for_part for_request, for_scope, for_software, for_workloads, for_evidence, for_formula, for_memory,
    for_units, for_storage, for_calendar, for_scaling, for_limits, for_privacy, for_cloud, for_open;
for_part for_workers, for_run_times, for_spent;           /* of the records */
for_part for_needs, for_period, for_questions, for_table; /* rental */

/* ---- what the parts and the JSON share ---- */

struct for_view for_view_of(const struct report_document *document, struct arena *arena);

/* The storage that the plan enters: assumed; open where it does not. */
struct quantity for_storage_need(const struct for_view *view);
/* Transferred volume of all blocks. */
struct quantity for_bytes(const struct for_view *view, bool in);
/* Reserved time of a machine in hours of one node. */
struct quantity for_node_hours(const struct quantity *reserved);
/* Of the run's devices the one of which most memory was used, or the first; NULL: none. */
const struct run_gpu *for_gpu(const struct run *run);
/* The run counts for a condition of the block that it belongs to. */
bool for_counts(const struct study_run *run);
/* An offer in a unit of account. */
bool for_is_service(const struct plan_offer *offer);

/* "- **label:** [e] 3 h, more"; more NULL: nothing. */
void for_item(struct strbuf *out, const char *label, const struct quantity *q, const char *more);
/* "- [?] open: text". */
void for_open_item(struct strbuf *out, const char *text);
/* Sources of a quantity, the first ones: tails of run ids, lines of the plan. */
void for_add_sources(struct strbuf *out, const struct quantity *q);
