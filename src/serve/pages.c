/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages (answer.h): the report, the list of runs, one run. What is wrong with the plan or the
 * ledger is said on a page, and is gone with the next request once it is mended. */
#include "serve/answer.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "report/html/html.h"
#include "view/document.h"
#include "work/find-plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIMELINES 10u /* on the page of a study; every run has a page of its own */
#define ROWS      100u
#define AGAIN_S   5u /* a run that goes on is looked at again */

/* ---- the report ---- */

static void say_complaints(const char *path, const struct plan_complaints *complaints,
                           struct serve_answer *ret) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < complaints->count; i++)
        if (!complaints->items[i].warning)
            strbuf_printf(&text, "%s%s:%u:%u: %s", text.length > 0 ? "; " : "", path,
                          complaints->items[i].at.line, complaints->items[i].at.column,
                          complaints->items[i].text);
    serve_complain(500, strbuf_str(&text), ret);
}

/* False: what is wrong is said. *ret_plan NULL: there is none. */
static bool read_plan(const struct serve_options *options, struct arena *arena,
                      struct plan **ret_plan, struct plan_complaints *complaints,
                      struct serve_answer *ret) {
    struct err err = ERR_INIT;
    const char *path = NULL;
    int rc = work_find_plan(options->plan, arena, &path, &err);
    if (rc == 0 && path)
        rc = plan_read(path, ret_plan, complaints, &err);
    if (rc < 0 && complaints->errors > 0)
        say_complaints(path, complaints, ret);
    else if (rc < 0)
        serve_complain(500, err.text, ret);
    err_clear(&err);
    return rc == 0;
}

static void report_page(const struct serve_options *options, struct serve_answer *ret) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_VIEW_DOCUMENT struct view_document document = {0};
    AUTO_PLAN struct plan *plan = NULL;
    struct plan_complaints complaints = {0};
    struct err err = ERR_INIT;
    const struct view_document_options how = {.environment = options->environment, .limit = ROWS};
    if (!read_plan(options, arena, &plan, &complaints, ret))
        return;
    int rc = runs_open(options->place, &runs, &err);
    rc = rc < 0 ? rc : view_document_gather(steal(plan), &complaints, &how, runs, &document, &err);
    if (rc < 0) {
        serve_complain(500, err.text, ret);
        err_clear(&err);
        return;
    }
    const struct html_frame frame = {.served = true};
    const struct report_html_options page = {
        .series = view_run_series, .context = runs, .timelines = TIMELINES, .frame = &frame};
    report_document_html(&document.report, &page, &ret->body);
}

/* ---- the list ---- */

static void add_field(const struct serve_request *request, const char *name, const char *label,
                      struct strbuf *out) {
    const char *value = serve_parameter(request, name);
    strbuf_add_str(out, "<label>");
    html_add_text(out, label);
    strbuf_printf(out, " <input name=\"%s\" value=\"", name);
    html_add_text(out, value);
    strbuf_add_str(out, "\"></label>\n");
}

static void add_filters(const struct serve_request *request, struct strbuf *out) {
    const char *chosen = serve_parameter(request, "outcome");
    strbuf_add_str(out, "<form class=\"filters\" action=\"/runs\" method=\"get\">\n<label>");
    html_add_text(out, _("how it ended"));
    strbuf_add_str(out, " <select name=\"outcome\">\n<option value=\"\"></option>\n");
    for (int i = 0; i < OUTCOME_COUNT_; i++) {
        const char *name = outcome_name((enum outcome_class)i);
        strbuf_printf(out, "<option%s>%s</option>\n",
                      chosen && strcmp(chosen, name) == 0 ? " selected" : "", name);
    }
    strbuf_add_str(out, "</select></label>\n");
    add_field(request, "text", _("command"), out);
    add_field(request, "study", _("study"), out);
    strbuf_add_str(out, "<button>");
    html_add_text(out, _("Show"));
    strbuf_add_str(out, "</button>\n</form>\n");
}

/* Within a query: what is no letter, digit, '-', '_' or '.' as %XX. */
static void add_encoded(struct strbuf *out, const char *text) {
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            (c != '\0' && strchr("-_.", c)))
            strbuf_add_char(out, (char)c);
        else
            strbuf_printf(out, "%%%02X", c);
    }
}

static void add_next(const struct serve_request *request, const char *run, struct strbuf *out) {
    static const char *const kept[] = {"outcome", "text", "study"};
    strbuf_add_str(out, "<p><a rel=\"next\" href=\"/runs?after=");
    add_encoded(out, run);
    for (size_t i = 0; i < ARRAY_LENGTH(kept); i++)
        if (serve_parameter(request, kept[i])) {
            strbuf_printf(out, "&amp;%s=", kept[i]);
            add_encoded(out, serve_parameter(request, kept[i]));
        }
    strbuf_add_str(out, "\">");
    html_add_text(out, _("Older runs"));
    strbuf_add_str(out, "</a></p>\n");
}

static void list_page(const struct serve_options *options, const struct serve_request *request,
                      struct serve_answer *ret) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    struct err err = ERR_INIT;
    struct store_entry *entries = NULL;
    size_t count = 0;
    const struct store_query query = {.type = "run",
                                      .outcome = serve_parameter(request, "outcome"),
                                      .study = serve_parameter(request, "study"),
                                      .text = serve_parameter(request, "text"),
                                      .after = serve_parameter(request, "after"),
                                      .limit = ROWS + 1}; /* one more tells of a next page */
    int rc = runs_open(options->place, &runs, &err);
    rc = rc < 0 ? rc : runs_need_ledger(runs, &err);
    rc = rc < 0 ? rc : runs_list(runs, &query, arena, &entries, &count, &err);
    if (rc < 0) {
        serve_complain(rc == -ENOENT ? 404 : 500, err.text, ret);
        err_clear(&err);
        return;
    }
    const struct html_frame frame = {.served = true};
    size_t shown = count > ROWS ? ROWS : count;
    html_begin_page(_("Runs"), &frame, &ret->body);
    strbuf_add_str(&ret->body, "<h1>");
    html_add_text(&ret->body, _("Runs"));
    strbuf_add_str(&ret->body, "</h1>\n");
    add_filters(request, &ret->body);
    if (shown == 0) {
        strbuf_add_str(&ret->body, "<p>");
        html_add_text(&ret->body, _("No run matches."));
        strbuf_add_str(&ret->body, "</p>\n");
    } else {
        html_add_run_list(entries, shown, &ret->body);
    }
    if (count > shown)
        add_next(request, entries[shown - 1].run, &ret->body);
    html_end_page(&ret->body);
}

/* ---- one run ---- */

static void run_page(const struct serve_options *options, const char *ref,
                     struct serve_answer *ret) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_RUN struct run *run = NULL;
    struct err err = ERR_INIT, unseen = ERR_INIT;
    int rc = runs_open(options->place, &runs, &err);
    rc = rc < 0 ? rc : runs_load(runs, ref, true, &run, &err);
    if (rc == -ENOENT && runs_need_ledger(runs, &unseen) < 0) { /* it may be there all the same */
        err_clear(&err);
        err = unseen;
        rc = -EIO;
    }
    if (rc < 0) {
        serve_complain(rc == -ENOENT ? 404 : 500, err.text, ret);
        err_clear(&err);
        return;
    }
    const struct html_frame frame = {.served = true, .again_s = run->running ? AGAIN_S : 0};
    const struct report_html_options page = {.series = NULL};
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    strbuf_printf(&title, _("Run %s"), uuid_tail(run->id));
    html_begin_page(strbuf_str(&title), &frame, &ret->body);
    strbuf_add_str(&ret->body, "<h1>");
    html_add_text(&ret->body, run->running ? _("A run that goes on") : _("A run"));
    strbuf_add_str(&ret->body, "</h1>\n");
    html_add_run(run, NULL, html_contents_new(arena), &page, &ret->body);
    html_end_page(&ret->body);
}

void serve_page(const struct serve_options *options, const struct serve_request *request,
                struct serve_answer *ret) {
    if (strcmp(request->path, "/") == 0)
        report_page(options, ret);
    else if (strcmp(request->path, "/runs") == 0)
        list_page(options, request, ret);
    else
        run_page(options, request->path + strlen("/runs/"), ret);
}
