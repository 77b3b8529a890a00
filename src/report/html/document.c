/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as a page (html.h). Its words are those of the Markdown report, part by part; the
 * page adds drawings and single runs.
 */
#include "report/html/html.h"

#include "base/msg.h"
#include "report/document-parts.h"
#include "report/markdown.h"
#include "report/plot/plot.h"
#include "report/study-words.h"

#include <math.h>
#include <string.h>

#define TIMELINES 50u

struct page {
    const struct report_document *document;
    const struct report_html_options *options;
    struct html_contents *contents;
    struct arena *arena;
    struct strbuf *out;
};

typedef void part_fn(const struct report_document *document, struct strbuf *out);

typedef void figure_fn(const struct page *page, struct strbuf *out);

/* figure: what is drawn at the end of the part's first section; may be NULL. */
static void add_part(const struct page *page, part_fn *part, figure_fn *figure) {
    AUTO_STRBUF struct strbuf raw = STRBUF_INIT, markdown = STRBUF_INIT, drawn = STRBUF_INIT;
    part(page->document, &raw);
    markdown_finish(&raw, &markdown);
    if (figure)
        figure(page, &drawn);
    html_add_markdown(page->contents, strbuf_str(&markdown), markdown.length, strbuf_str(&drawn),
                      page->out);
}

static const char *words_of(const struct quantity *q, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    quantity_format(q, (struct quantity_style){.mark = true}, &text);
    return arena_strdup(arena, strbuf_str(&text));
}

static struct plot_interval interval_of(const char *label, const struct quantity *q,
                                        struct arena *arena) {
    bool known = quantity_is_known(q);
    return (struct plot_interval){.label = label,
                                  .is_open = !known,
                                  .low = known && q->has_interval ? q->p05 : NAN,
                                  .mid = known ? q->value : NAN,
                                  .high = known && q->has_interval ? q->p95 : NAN,
                                  .actual = NAN,
                                  .note = words_of(q, arena)};
}

/* Components that do not apply are no rows. */
static void draw_components(const struct page *page, struct strbuf *out) {
    const struct estimate *estimate = page->document->estimate;
    struct plot_interval rows[COMPONENT_COUNT_ + 1];
    size_t count = 0;
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        const struct quantity *time = &estimate->components[k].time;
        if (!quantity_is_known(time) && time->reason == QUANTITY_NOT_APPLICABLE)
            continue;
        rows[count++] = interval_of(study_words_component(k), time, page->arena);
    }
    rows[count++] = interval_of(_("reserved in all"), &estimate->total.reserved, page->arena);
    plot_intervals(_("What is still to do, by component"), PLOT_SECONDS, rows, count, out);
}

static bool is_time(const struct review_line *line) {
    const char *unit = line->planned.unit ? line->planned.unit : line->actual.unit;
    return !line->quantity && unit && strcmp(unit, UNIT_SECOND) == 0 &&
           (quantity_is_known(&line->planned) || quantity_is_known(&line->actual));
}

/* Planned against actual, block by block. */
static void draw_reviewed(const struct page *page, struct strbuf *out) {
    const struct review *review = page->document->review;
    for (size_t b = 0; b < review->block_count; b++) {
        const struct review_block *block = &review->blocks[b];
        struct plot_interval *rows =
            arena_alloc(page->arena, (block->line_count + 1) * sizeof *rows);
        size_t count = 0;
        for (size_t i = 0; i < block->line_count; i++) {
            const struct review_line *line = &block->lines[i];
            if (!is_time(line))
                continue;
            struct plot_interval row = interval_of(line->label, &line->planned, page->arena);
            row.actual = quantity_is_known(&line->actual) ? line->actual.value : NAN;
            row.note = arena_printf(page->arena, "%s → %s", row.note,
                                    words_of(&line->actual, page->arena));
            rows[count++] = row;
        }
        const char *id = block->block->block->id;
        plot_intervals(
            arena_printf(page->arena, _("Block %s: planned, and what happened"), id ? id : ""),
            PLOT_SECONDS, rows, count, out);
    }
}

static void add_runs(const struct page *page) {
    const struct report_document *document = page->document;
    size_t most = page->options->timelines > 0 ? page->options->timelines : TIMELINES;
    size_t shown = document->run_count < most ? document->run_count : most;
    if (shown == 0)
        return;
    const char *title = _("Runs one by one");
    const char *id = html_contents_add(page->contents, 2, title);
    strbuf_printf(page->out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">", id, id);
    html_add_text(page->out, title);
    strbuf_add_str(page->out, "</h2>\n");
    for (size_t i = 0; i < shown; i++) {
        AUTO_STRBUF struct strbuf place = STRBUF_INIT;
        document_add_place(&place, document, document->runs[i]);
        html_add_run(document->runs[i], strbuf_str(&place), page->contents, page->options,
                     page->out);
    }
    if (shown < document->run_count) {
        AUTO_FREE char *rest =
            mem_printf(_("These are the %zu newest of %zu."), shown, document->run_count);
        strbuf_add_str(page->out, "<p>");
        html_add_text(page->out, rest);
        strbuf_add_str(page->out, "</p>\n");
    }
    strbuf_add_str(page->out, "</section>\n");
}

void report_document_html(const struct report_document *document,
                          const struct report_html_options *options, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf body = STRBUF_INIT;
    struct page page = {.document = document,
                        .options = options,
                        .contents = html_contents_new(arena),
                        .arena = arena,
                        .out = &body};
    add_part(&page, document_markdown_front, NULL);
    if (document->estimate)
        add_part(&page, document_markdown_estimate, draw_components);
    if (document->review)
        add_part(&page, document_markdown_review, draw_reviewed);
    add_part(&page, document_markdown_middle, NULL);
    add_part(&page, document_markdown_runs, NULL);
    add_runs(&page);
    add_part(&page, document_markdown_back, NULL);
    const char *title = document->study ? document->study->input->plan->study.title : NULL;
    struct html_frame frame = options->frame ? *options->frame : (struct html_frame){0};
    frame.contents = page.contents;
    html_begin_page(title ? title : _("Report"), &frame, out);
    strbuf_add(out, strbuf_str(&body), body.length);
    html_end_page(out);
}

void report_for_html(const struct report_document *document, const char *name, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf markdown = STRBUF_INIT;
    const char *title = document->study ? document->study->input->plan->study.title : NULL;
    report_for_markdown(document, name, &markdown);
    html_begin_page(title ? title : _("Report"), NULL, out);
    html_add_markdown(html_contents_new(arena), strbuf_str(&markdown), markdown.length, NULL, out);
    html_end_page(out);
}
