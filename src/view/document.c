/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gathers what a report borrows from (document.h). Decides and says nothing. */
#include "view/document.h"

#include "base/clock.h"
#include "base/msg.h"
#include "forecast/predict.h"
#include "work/calibration.h"
#include "work/decide.h"
#include "work/review.h"

void view_document_done(struct view_document *document) {
    work_study_done(&document->work);
    for (size_t i = 0; i < document->loaded_count; i++)
        document->loaded[i] = run_free(document->loaded[i]);
    mem_free_ptr(&document->loaded);
    mem_free_ptr(&document->warnings);
    document->arena = arena_free(document->arena);
}

static void warn(struct view_document *document, const char *text) {
    if (!text || *text == '\0')
        return;
    document->warnings =
        mem_room(document->warnings, document->warning_count, sizeof *document->warnings);
    document->warnings[document->warning_count++] = text;
}

size_t view_study_frozen(const struct work_study *work, struct arena *arena,
                         struct report_frozen **ret_lines) {
    struct work_frozen *frozen;
    size_t count = work_estimate_frozen(work, &frozen);
    struct report_frozen *lines = arena_alloc(arena, (count + 1) * sizeof *lines);
    for (size_t i = 0; i < count; i++)
        lines[i] = (struct report_frozen){
            .name = frozen[i].name, .outdated = frozen[i].outdated, .utc_ns = frozen[i].utc_ns};
    *ret_lines = lines;
    return count;
}

/* ---- with a plan ---- */

static int derive(struct view_document *document, const char *environment, struct err *err) {
    const struct estimate_options how = {.seed = PREDICT_SEED};
    const struct work_review_options of_all = {.name = NULL};
    struct work_study *work = &document->work;
    int rc = estimate_make(&work->study, &how, document->arena, &document->estimate, err);
    rc = rc < 0 ? rc
                : work_review_make(work, &document->estimate, &of_all, document->arena,
                                   &document->review, err);
    return rc < 0 ? rc
                  : work_decide_make(work, environment != NULL, document->arena,
                                     &document->decision, err);
}

static void fill_report(struct view_document *document, const struct plan_complaints *complaints) {
    struct report_document *report = &document->report;
    struct report_frozen *frozen = NULL;
    report->frozen_count = view_study_frozen(&document->work, document->arena, &frozen);
    report->frozen = frozen;
    report->study = &document->work.study;
    report->estimate = &document->estimate;
    report->cost = &document->cost;
    report->decision = &document->decision;
    report->review = &document->review;
    report->complaints = complaints;
    report->runs = document->work.input.runs;
    report->run_count = document->work.input.run_count;
}

static int take_study(struct plan *take_plan, const struct plan_complaints *complaints,
                      const char *environment, struct runs *runs, struct view_document *document,
                      struct err *err) {
    const struct work_study_options options = {
        .environment = environment, .look_at_code = true, .look_at_past = true};
    int rc = work_study_open(take_plan, &options, runs, &document->work, err);
    rc = rc < 0 ? rc : derive(document, environment, err);
    if (rc < 0)
        return rc;
    work_calibration_of_review(runs, &document->work, document->arena, &document->review);
    work_calibration_of_estimate(runs, &document->work, document->arena, &document->estimate);
    cost_make(&document->estimate, NULL, document->arena, &document->cost);
    warn(document, document->work.unreadable);
    fill_report(document, complaints);
    return 0;
}

/* ---- without one ---- */

/* A run that cannot be read is left out with a warning. */
static void load(struct runs *runs, const struct store_entry *entry,
                 struct view_document *document) {
    struct err unreadable = ERR_INIT;
    struct run *run = NULL;
    if (runs_load_entry(runs, entry, false, &run, &unreadable) == 0) {
        document->loaded[document->loaded_count++] = run;
        return;
    }
    warn(document,
         arena_printf(document->arena, _("skipping run %s: %s"), entry->run, unreadable.text));
    err_clear(&unreadable);
}

static int take_runs(struct runs *runs, size_t limit, struct view_document *document,
                     struct err *err) {
    const struct store_query query = {.type = "run"}; /* all: a report says how many there are */
    struct store_entry *entries = NULL;
    size_t count = 0;
    int rc = runs_need_ledger(runs, err);
    rc = rc < 0 ? rc : runs_list(runs, &query, document->arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    document->report.run_total = count;
    if (limit > 0 && count > limit)
        count = limit;
    document->loaded = mem_realloc(NULL, count + 1, sizeof(struct run *));
    for (size_t i = 0; i < count; i++)
        load(runs, &entries[i], document);
    document->report.runs = (const struct run *const *)document->loaded;
    document->report.run_count = document->loaded_count;
    return 0;
}

int view_document_gather(struct plan *take_plan, const struct plan_complaints *complaints,
                         const struct view_document_options *options, struct runs *runs,
                         struct view_document *ret, struct err *err) {
    *ret = (struct view_document){.arena = arena_new()};
    ret->report.now_utc_ns = clock_utc_ns();
    ret->report.program = "probelauf " PROBELAUF_VERSION;
    ret->report.runs_shown = options->limit > 0 ? options->limit : SIZE_MAX;
    return take_plan ? take_study(take_plan, complaints, options->environment, runs, ret, err)
                     : take_runs(runs, options->limit, ret, err);
}

int view_run_series(void *context, const struct run *run, struct run **ret_run, struct err *err) {
    return runs_load(context, run->id, true, ret_run, err);
}
