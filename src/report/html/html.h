/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as one self-contained HTML page: no request leaves it, a strict
 * Content-Security-Policy inside, complete without JavaScript, printable. The language is that of
 * base/msg.h. The same sections are what `serve` shows live. Every text of a record, a plan or a
 * path is hostile: it goes through html_add_text/html_add_attribute and nothing else.
 */
#pragma once

#include "report/study.h"

/* Loads `run` once more, with its series, for its timeline; the page frees it before it asks for
 * the next one. < 0 with err: the timeline is open, and the page says why. */
typedef int report_html_series_fn(void *context, const struct run *run, struct run **ret_run,
                                  struct err *err);

struct report_html_options {
    report_html_series_fn *series; /* NULL: no timelines, and the page says so */
    void *context;
    /* NULL: a file of its own, with style and script inside. Else the page is one that `serve`
     * answers with: style and script come from the server, runs are links below this path ("/"). */
    const char *live;
};

/* A whole page: verdict and notes; facts; scope; blocks; runs with timelines; estimate; planned and
 * actual; cost; decision path; calibration; method and blind spots. */
void report_document_html(const struct report_document *document,
                          const struct report_html_options *options, struct strbuf *out);
/* A whole page of one run that was loaded with its series. */
void report_run_html(const struct run *run, const struct report_html_options *options,
                     struct strbuf *out);

/* ---- what pages are made of; for report/html and serve ---- */

enum html_nav { HTML_NAV_STUDY = 0, HTML_NAV_RUNS, HTML_NAV_RUN };
/* From the doctype to the begin of <main>, and from its end. title: plain text. */
void html_begin_page(const char *title, enum html_nav nav,
                     const struct report_html_options *options, struct strbuf *out);
void html_end_page(const struct report_html_options *options, struct strbuf *out);

/* Text between tags, and within a quoted attribute. Control characters and whatever turns the
 * direction of text are shown as visible escapes, invalid UTF-8 as U+FFFD; beyond `max` characters
 * (0: no limit) it ends with "…" and how many are missing. */
void html_add_text(struct strbuf *out, const char *text);
void html_add_text_max(struct strbuf *out, const char *text, size_t max);
void html_add_attribute(struct strbuf *out, const char *text);
/* JSON within <script type="application/json">: "<", ">" and "&" are escaped as \u00xx. */
void html_add_json(struct strbuf *out, const json_t *json);

/* <section id=… class=run>: facts, quantities, phases, timeline, incidents, notes of one run. */
void html_add_run(const struct run *run, const struct report_html_options *options,
                  struct strbuf *out);
