/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything that a report borrows from, gathered: the plan's study with estimate, cost, decision,
 * review and calibration, or without a plan the newest runs of the ledger. What `report` and
 * `serve` show. Says nothing by itself: warnings are lines for the caller.
 */
#pragma once

#include "report/html/html.h"
#include "report/study.h"
#include "work/runs.h"
#include "work/study.h"

struct view_document {
    struct arena *arena;
    struct work_study work; /* with a plan */
    struct run **loaded;    /* without a plan; owned */
    size_t loaded_count;
    const char **warnings; /* translated lines; texts borrowed */
    size_t warning_count;
    struct estimate estimate;
    struct cost cost;
    struct decision decision;
    struct review review;
    struct report_document report;
};

struct view_document_options {
    const char *environment; /* --env; NULL: the plan's first */
    size_t limit;            /* newest runs; 0: all */
};

/* take_plan NULL: no plan; owned by the document from here on, also after a failure. complaints: of
 * the plan, borrowed. runs: borrowed, open. Call view_document_done also after a failure. Errors as
 * work_study_open and runs_list. */
int view_document_gather(struct plan *take_plan, const struct plan_complaints *complaints,
                         const struct view_document_options *options, struct runs *runs,
                         struct view_document *ret, struct err *err);
void view_document_done(struct view_document *document);
#define AUTO_VIEW_DOCUMENT __attribute__((cleanup(view_document_done)))

/* The kept estimates of the study as lines of a report, newest first, in arena. */
size_t view_study_frozen(const struct work_study *work, struct arena *arena,
                         struct report_frozen **ret_lines);

/* A report_html_series_fn: the run once more, with its series; context: struct runs. */
int view_run_series(void *context, const struct run *run, struct run **ret_run, struct err *err);
