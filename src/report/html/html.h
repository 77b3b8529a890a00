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

struct html_frame; /* below */
struct report_html_options {
    report_html_series_fn *series; /* NULL: no timelines, and the page says so */
    void *context;
    size_t timelines;               /* of the newest runs shown at most so many in full; 0: 50 */
    const struct html_frame *frame; /* of the page; its contents are filled in; may be NULL */
};

/* A whole page: verdict and notes; facts; scope; blocks; runs with timelines; estimate; planned and
 * actual; cost; decision path; calibration; method and blind spots. */
void report_document_html(const struct report_document *document,
                          const struct report_html_options *options, struct strbuf *out);
/* The document of report_for_markdown as a page. */
void report_for_html(const struct report_document *document, const char *name, struct strbuf *out);
/* ---- what pages are made of; for report/html, report/plot and serve ---- */

/* Text between tags, and within a quoted attribute. Control characters and whatever turns the
 * direction of text are shown as visible escapes (layout_add_plain). NULL adds nothing. */
void html_add_text(struct strbuf *out, const char *text);
/* The same, cut behind `most` characters with "…" and how many are missing. */
void html_add_text_most(struct strbuf *out, const char *text, size_t most);
/* JSON within <script type="application/json">: "<", ">" and "&" are escaped as \u00xx. */
void html_add_json(struct strbuf *out, const json_t *json);
/* Marks of states get an element of their own: "[m]" is a mark wherever it stands. */
void html_add_marked(struct strbuf *out, const char *text);

struct html_contents; /* headings of a page, for its table of contents */
struct html_contents *html_contents_new(struct arena *arena);
/* Adds a heading (level 2 or 3, plain text) and returns its id; in the arena. */
const char *html_contents_add(struct html_contents *contents, unsigned level, const char *text);

/*
 * Markdown of report/markdown.h as HTML: sections by headings of level 2, tables that can be
 * scrolled on their own, marks of states. Nothing in it becomes a link, and raw HTML is text.
 * Closes every section it opens. figure: HTML for the end of the first section; may be NULL.
 */
void html_add_markdown(struct html_contents *contents, const char *markdown, size_t length,
                       const char *figure, struct strbuf *out);

struct html_frame {
    const struct html_contents *contents; /* headings of the page as links; NULL: none */
    /* Answered by `serve`: links to its pages stand above, and its forms may be sent. */
    bool served;
    unsigned again_s; /* the page is asked for again after so many seconds; 0: it is not */
};
/* From the doctype to <main>, and from there to the end. title: plain text, may be anything. frame
 * NULL: a file of its own without contents. */
void html_begin_page(const char *title, const struct html_frame *frame, struct strbuf *out);
void html_end_page(struct strbuf *out);

/* The rows of the index as a table, runs as links to "/runs/ID". */
void html_add_run_list(const struct store_entry *entries, size_t count, struct strbuf *out);

/* <section> of one run: quantities, phases, timeline, incidents. place: what it was for, or NULL.
 */
void html_add_run(const struct run *run, const char *place, struct html_contents *contents,
                  const struct report_html_options *options, struct strbuf *out);
