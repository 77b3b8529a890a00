/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Planned and actual", the review as a section of the Markdown report. Judges nothing. */
#include "report/review.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/calibration.h"
#include "report/markdown.h"
#include "report/study-words.h"

#include <math.h>
#include <string.h>

static void difference_cell(struct strbuf *out, const struct review_line *line) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    const struct quantity *q = &line->difference;
    if (quantity_is_known(q)) {
        report_review_add_sign(q, &text);
        quantity_format_value(fabs(q->value), q->unit, &text);
    }
    markdown_cell(out, strbuf_str(&text));
}

static void lines(const struct review_block *block, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *const titles[] = {_("part"),       _("planned"),  _("actual"),
                                  _("difference"), _("interval"), _("cause")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < block->line_count; i++) {
        const struct review_line *line = &block->lines[i];
        bool is_part = strncmp(line->name, "runs/", strlen("runs/")) == 0;
        markdown_cell(out, is_part ? arena_printf(arena, _("runs: %s"), line->label) : line->label);
        markdown_cell_quantity(out, &line->planned, true);
        markdown_cell_quantity(out, &line->actual, true);
        difference_cell(out, line);
        markdown_cell(out, report_review_hit(line->hit));
        markdown_cell(out, review_is_worth(line)
                               ? arena_printf(arena, "%s: %s", report_review_cause(line->cause),
                                              line->why ? line->why : "")
                               : report_review_cause(line->cause));
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
}

static void questions(const struct review_block *block, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *lacks = report_review_lacks(block, arena);
    if (lacks)
        markdown_bullet(out, lacks);
    for (size_t i = 0; i < block->line_count; i++)
        if (block->lines[i].question)
            markdown_item(out, block->lines[i].label, block->lines[i].question);
        else if (block->lines[i].answer)
            markdown_item(out, block->lines[i].answer->who, block->lines[i].answer->why);
    for (size_t i = 0; i < block->line_count; i++)
        if (block->lines[i].quantity)
            markdown_item(out, block->lines[i].label, msg_get(block->lines[i].quantity));
    for (size_t i = 0; i < block->check_count; i++)
        markdown_bullet(out, block->checks[i]);
}

static void after(const struct review_block *block, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    if (block->repeated_count > 0) {
        AUTO_STRBUF struct strbuf total = STRBUF_INIT;
        quantity_format(&block->repeated_preparation, (struct quantity_style){.mark = true},
                        &total);
        markdown_bullet(out,
                        arena_printf(arena,
                                     msg_plural((unsigned long)block->repeated_count,
                                                "preparation was made again %zu time: %s in all",
                                                "preparation was made again %zu times: %s in all"),
                                     block->repeated_count, strbuf_str(&total)));
    }
    for (size_t i = 0; i < block->repeat_count; i++)
        markdown_bullet(out, arena_printf(arena, _("to be made again, run %s: %s (%s)"),
                                          uuid_tail(block->repeats[i].run->run->id),
                                          block->repeats[i].why, block->repeats[i].command));
    for (size_t i = 0; i < block->next_count; i++)
        markdown_bullet(out, report_review_next(&block->next[i], arena));
    const char *note = report_review_next_note(block);
    if (note)
        markdown_bullet(out, note);
    strbuf_add_char(out, '\n');
}

static void one_block(const struct review_block *block, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    if (!block->kept || block->skipped)
        return;
    markdown_heading(out, 3, block->block->block->id);
    markdown_paragraph(out, report_review_lead(block, arena));
    if (block->outdated)
        markdown_paragraph(out, arena_printf(arena, _("since it was kept: %s"), block->outdated));
    lines(block, out);
    questions(block, out);
    after(block, out);
}

static void calibration_lines(const struct calibration *calibration, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *const *lines = NULL;
    size_t count = calibration ? report_calibration_lines(calibration, arena, &lines) : 0;
    for (size_t i = 0; i < count; i++)
        markdown_bullet(out, lines[i]);
    strbuf_add_char(out, '\n');
}

void report_review_markdown(const struct review *review, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    bool any = false;
    for (size_t i = 0; i < review->block_count; i++)
        any |= review->blocks[i].kept && !review->blocks[i].skipped;
    if (!any)
        return;
    markdown_heading(out, 2, _("Planned and actual"));
    markdown_paragraph(out, report_review_hits(review, arena));
    calibration_lines(review->calibration, out);
    for (size_t i = 0; i < review->block_count; i++)
        one_block(&review->blocks[i], out);
}
