/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sections of a Markdown report about what is still to do: figures, parts, what is open in
 * them, assumptions, memory, and why there is no amount of money.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "report/calibration.h"
#include "report/cost.h"
#include "report/estimate-open.h"
#include "report/markdown.h"
#include "report/precision.h"
#include "report/run-text.h"
#include "report/study-words.h"

#include <string.h>

#define FOOTNOTES_MAX 20u

/* Columns that would say the same in each row are said once, below the table. */
struct columns {
    bool effort, gpu;
};

static bool has_no_gpu(const struct estimate_figures *figures) {
    return !quantity_is_known(&figures->gpu) && figures->gpu.reason == QUANTITY_NOT_APPLICABLE;
}

static struct columns columns_of(const struct estimate *estimate) {
    struct columns columns = {.effort = quantity_is_known(&estimate->total.effort),
                              .gpu = !has_no_gpu(&estimate->total)};
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_figures *figures = &estimate->blocks[i].figures;
        columns.effort = columns.effort || quantity_is_known(&figures->effort);
        columns.gpu = columns.gpu || !has_no_gpu(figures);
    }
    return columns;
}

static void figures_row(const char *name, bool has_remaining, uint64_t remaining,
                        const struct estimate_figures *figures, struct columns columns, bool brief,
                        struct strbuf *out) {
    struct quantity alone[] = {
        study_words_alone(&figures->computing), study_words_alone(&figures->reserved),
        study_words_alone(&figures->calendar), study_words_alone(&figures->effort)};
    markdown_cell(out, name);
    markdown_cell_count(out, has_remaining, remaining);
    for (size_t i = 0; i < ARRAY_LENGTH(alone) - (columns.effort ? 0 : 1); i++)
        markdown_cell_quantity(out, &alone[i], brief);
    if (!columns.gpu)
        return;
    bool none = has_no_gpu(figures);
    struct quantity hours = study_words_hours(none ? &figures->reserved : &figures->gpu, !none);
    markdown_cell_quantity(out, &hours, true);
}

static bool belongs(const struct estimate_block *block, bool by_extent, const char *name) {
    const char *own = by_extent ? plan_extent_name(block->block->block->extent)
                                : plan_recurrence_name(block->block->block->recurrence);
    return strcmp(own && *own ? own : "not said", name) == 0;
}

static void subtotals(const struct estimate *estimate, struct columns columns, bool by_extent,
                      struct strbuf *out) {
    size_t count = by_extent ? estimate->by_extent_count : estimate->by_recurrence_count;
    for (size_t i = 0; i < count; i++) {
        const struct estimate_subtotal *subtotal =
            by_extent ? &estimate->by_extent[i] : &estimate->by_recurrence[i];
        if (subtotal->block_count == 0)
            continue;
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        bool has_remaining = true;
        uint64_t remaining = 0;
        size_t open = 0;
        for (size_t b = 0; b < estimate->block_count; b++) {
            const struct estimate_block *block = &estimate->blocks[b];
            if (!belongs(block, by_extent, subtotal->name))
                continue;
            has_remaining = has_remaining && block->has_remaining;
            remaining += block->remaining;
            open += block->open_count;
        }
        strbuf_printf(&name, _("subtotal: %s"), study_words_subtotal(subtotal->name));
        figures_row(strbuf_str(&name), has_remaining, remaining, &subtotal->figures, columns, true,
                    out);
        markdown_cell_count(out, true, open);
        markdown_end_row(out);
    }
}

/* "- **effort:** [?] open …", for a column that is not there. */
static void said_once(const char *label, const struct quantity *q, const char *more,
                      struct strbuf *out) {
    struct quantity alone = study_words_alone(q);
    strbuf_add_str(out, "- **");
    markdown_add(out, label);
    strbuf_add_str(out, ":** ");
    markdown_add_quantity(out, &alone, true);
    if (more) {
        strbuf_add_str(out, ", ");
        markdown_add(out, more);
    }
    strbuf_add_char(out, '\n');
}

static void dominating(const struct estimate *estimate, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *words = report_dominating_words(estimate, arena);
    if (!words)
        return;
    markdown_item(out, _("in all"), words);
    strbuf_add_char(out, '\n');
}

/* What reviewed blocks taught, beside what is stated: of the total, then of each block. */
static void calibrated(const struct estimate *estimate, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *const *lines = NULL;
    size_t count = report_calibrated_lines(estimate->calibrated, false, false, arena, &lines);
    for (size_t i = 0; i < count; i++)
        markdown_item(out, _("in all"), lines[i]);
    for (size_t b = 0; b < estimate->block_count; b++) {
        const struct estimate_block *block = &estimate->blocks[b];
        size_t of_block = report_calibrated_lines(block->calibrated, true, false, arena, &lines);
        for (size_t i = 0; i < of_block; i++)
            markdown_item(out, block->block->block->id, lines[i]);
        count += of_block;
    }
    if (count > 0)
        strbuf_add_char(out, '\n');
}

static void figures(const struct estimate *estimate, struct strbuf *out) {
    const struct columns columns = columns_of(estimate);
    const char *titles[8] = {"", _("runs left"), _("computing"), _("reserved (paid)"),
                             _("calendar")};
    size_t count = 5;
    if (columns.effort)
        titles[count++] = _("effort");
    if (columns.gpu)
        titles[count++] = _("GPU-hours or wall hours");
    titles[count++] = _("open parts");
    markdown_table(out, titles, count);
    bool has_remaining = true;
    uint64_t remaining = 0;
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        has_remaining = has_remaining && block->has_remaining;
        remaining += block->remaining;
        figures_row(block->block->block->id, block->has_remaining, block->remaining,
                    &block->figures, columns, false, out);
        markdown_cell_count(out, true, block->open_count);
        markdown_end_row(out);
    }
    subtotals(estimate, columns, true, out);
    subtotals(estimate, columns, false, out);
    figures_row(_("in all"), has_remaining && estimate->block_count > 0, remaining,
                &estimate->total, columns, false, out);
    markdown_cell_count(out, true, estimate->open_count);
    markdown_end_row(out);
    strbuf_add_char(out, '\n');
    if (!columns.effort)
        said_once(_("effort, in all blocks"), &estimate->total.effort,
                  estimate->total.effort.detail, out);
    if (!columns.gpu) {
        struct quantity hours = study_words_hours(&estimate->total.reserved, false);
        said_once(_("machine time"), &hours, _("reserved; no GPU in the target"), out);
    }
    strbuf_add_char(out, '\n');
    dominating(estimate, out);
    calibrated(estimate, out);
    if (study_words_has_partial_interval(estimate))
        markdown_paragraph(out, _("With ≥, the interval is that of the parts that are in it."));
}

/* Sentences that stand once below a table, by number in its cells. */
struct footnotes {
    const char *items[FOOTNOTES_MAX];
    size_t count;
};

/* "from 3 runs (1)" */
static void add_reason(struct strbuf *out, const struct quantity *q, struct footnotes *notes) {
    study_words_add_rests(out, q);
    if (out->length == 0 && q->state == QUANTITY_ASSUMED)
        strbuf_add_str(out, _("an assumption, above"));
    if (!q->detail)
        return;
    size_t at = 0;
    while (at < notes->count && strcmp(notes->items[at], q->detail) != 0)
        at++;
    if (at == FOOTNOTES_MAX) {
        strbuf_add_next(out, "; ", q->detail);
        return;
    }
    if (at == notes->count)
        notes->items[notes->count++] = q->detail;
    strbuf_printf(out, "%s(%zu)", out->length > 0 ? " " : "", at + 1);
}

/* The parts that share one row: open, or nothing left. */
static void shared_row(const struct estimate_block *block, const char *parts, const char *mark,
                       const char *text, const char *reason, struct strbuf *out) {
    if (*parts == '\0')
        return;
    markdown_cell(out, block->block->block->id);
    markdown_cell(out, parts);
    strbuf_printf(out, "| %s ", mark);
    markdown_add(out, text);
    strbuf_add_char(out, ' ');
    markdown_cell(out, reason);
    markdown_end_row(out);
}

static void part_rows(const struct estimate_block *block, struct footnotes *notes,
                      struct strbuf *out) {
    AUTO_STRBUF struct strbuf open = STRBUF_INIT, nothing = STRBUF_INIT;
    for (int c = 0; c < COMPONENT_COUNT_; c++) {
        const struct quantity *time = &block->components[c].time;
        bool is_open = !quantity_is_known(time);
        if (is_open || estimate_is_nothing_left(&block->components[c])) {
            strbuf_add_next(is_open ? &open : &nothing, ", ",
                            study_words_component((enum component)c));
            continue;
        }
        AUTO_STRBUF struct strbuf reason = STRBUF_INIT;
        struct quantity alone = study_words_alone(time);
        add_reason(&reason, time, notes);
        markdown_cell(out, block->block->block->id);
        markdown_cell(out, study_words_component((enum component)c));
        markdown_cell_quantity(out, &alone, false);
        markdown_cell(out, strbuf_str(&reason));
        markdown_end_row(out);
    }
    shared_row(block, strbuf_str(&nothing), "[m]", "0 s", _("nothing left to run"), out);
    shared_row(block, strbuf_str(&open), "[?]", _("open"), _("see below"), out);
}

static void parts(const struct estimate *estimate, struct strbuf *out) {
    struct footnotes notes = {0};
    markdown_heading(out, 3, _("What the figures are made of"));
    const char *const titles[] = {_("block"), _("part"), _("time"), _("it rests on")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < estimate->block_count; i++)
        part_rows(&estimate->blocks[i], &notes, out);
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < notes.count; i++) {
        AUTO_STRBUF struct strbuf note = STRBUF_INIT;
        strbuf_printf(&note, "(%zu) %s", i + 1, notes.items[i]);
        markdown_bullet(out, strbuf_str(&note));
    }
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        AUTO_STRBUF struct strbuf weak = STRBUF_INIT;
        if (!block->weakness)
            continue;
        strbuf_printf(&weak, _("weak base of %s: %s"), block->block->block->id, block->weakness);
        markdown_bullet(out, strbuf_str(&weak));
    }
}

/* One line per reason, with the blocks that it holds for, under what would close it. */
static void open_parts(const struct estimate *estimate, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct open_line *lines = NULL;
    size_t count = open_lines(estimate, OPEN_ITEMS, arena, &lines);
    if (count == 0)
        return;
    markdown_heading(out, 3, _("Open: not in these figures"));
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || lines[i].remedy != lines[i - 1].remedy) {
            AUTO_STRBUF struct strbuf remedy = STRBUF_INIT;
            strbuf_printf(&remedy, _("To close what follows: %s"), lines[i].remedy);
            if (i > 0)
                strbuf_add_char(out, '\n');
            markdown_paragraph(out, strbuf_str(&remedy));
        }
        markdown_bullet(out, lines[i].text);
    }
}

static void assumed_row(const char *what, const char *value, const char *who, const char *when,
                        const char *why, const char *source, struct strbuf *out) {
    markdown_cell(out, what);
    strbuf_add_str(out, "| [a] ");
    markdown_add(out, value);
    strbuf_add_char(out, ' ');
    markdown_cell(out, who);
    markdown_cell(out, when);
    markdown_cell(out, why);
    markdown_cell(out, source);
    markdown_end_row(out);
}

static void assumed_task(const struct plan *plan, const struct plan_task *task,
                         struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf time = STRBUF_INIT;
    char when[MSG_DATE_SIZE];
    quantity_format_value((double)task->time.ns / 1e9, UNIT_SECOND, &time);
    assumed_row(arena_printf(arena, _("task %s"), task->id ? task->id : "?"), strbuf_str(&time),
                task->who, task->when.given ? msg_date(when, task->when.text) : NULL, task->why,
                plan_source(plan, task->time.at.line > 0 ? task->time.at : task->at, arena), out);
}

/* A total that an assumption is in never stands without who made it, when and why. */
static void assumed(const struct estimate *estimate, struct strbuf *out) {
    const struct plan *plan = estimate->study->input->plan;
    size_t tasks = 0;
    for (size_t i = 0; i < plan->task_count; i++)
        tasks += study_words_is_assumed(&plan->tasks[i]);
    if (estimate->assumed_count + tasks == 0)
        return;
    markdown_heading(out, 3, _("Assumptions in these figures"));
    const char *const titles[] = {_("what"), _("value"), _("who"),
                                  _("when"), _("why"),   _("source")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < plan->task_count; i++)
        if (study_words_is_assumed(&plan->tasks[i]))
            assumed_task(plan, &plan->tasks[i], out);
    for (size_t i = 0; i < estimate->assumed_count; i++) {
        const struct estimate_setting *setting = &estimate->assumed[i];
        const struct plan_assumption *assumption = study_words_assumption(plan, setting);
        char when[MSG_DATE_SIZE];
        assumed_row(setting->key, setting->value, setting->who,
                    assumption && assumption->when.given ? msg_date(when, assumption->when.text)
                                                         : NULL,
                    setting->why      ? setting->why
                    : setting->is_set ? _("set for this report")
                                      : NULL,
                    setting->source, out);
    }
}

static void without_effect(const struct estimate *estimate, struct strbuf *out) {
    if (estimate->without_effect_count == 0)
        return;
    markdown_heading(out, 3, _("Assumptions without effect"));
    for (size_t i = 0; i < estimate->without_effect_count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        study_words_add_no_effect(&text, &estimate->without_effect[i]);
        markdown_bullet(out, strbuf_str(&text));
    }
}

static void frozen(const struct report_document *document, struct strbuf *out) {
    if (document->frozen_count == 0)
        return;
    markdown_heading(out, 3, _("Frozen estimates"));
    const char *const titles[] = {_("name"), _("frozen (UTC)"), _("outdated")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < document->frozen_count; i++) {
        AUTO_STRBUF struct strbuf date = STRBUF_INIT;
        run_text_add_date(&date, document->frozen[i].utc_ns);
        markdown_cell(out, document->frozen[i].name);
        markdown_cell(out, strbuf_str(&date));
        markdown_cell(out, document->frozen[i].outdated ? document->frozen[i].outdated : _("no"));
        markdown_end_row(out);
    }
}

void document_markdown_memory(const char *block, const struct estimate_memory *memory,
                              struct strbuf *out) {
    if (!quantity_is_known(&memory->need) && memory->need.reason == QUANTITY_NOT_APPLICABLE)
        return;
    markdown_cell(out, block);
    markdown_cell(out, memory->quantity_name);
    markdown_cell_quantity(out, &memory->need, true);
    markdown_cell_quantity(out, &memory->capacity, true);
    markdown_cell(out, memory->verdict);
    markdown_end_row(out);
}

static void memory(const struct estimate *estimate, struct strbuf *out) {
    markdown_heading(out, 2, _("Memory"));
    markdown_paragraph(out, _("The need of a block is the largest peak that was measured, without "
                              "any margin; what was not measured is open."));
    const char *const titles[] = {_("block"), _("which quantity"), _("largest peak"), _("capacity"),
                                  _("verdict")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < estimate->block_count; i++) {
        const char *id = estimate->blocks[i].block->block->id;
        document_markdown_memory(id, &estimate->blocks[i].host_memory, out);
        document_markdown_memory(id, &estimate->blocks[i].gpu_memory, out);
    }
}

static void money(const struct report_document *document, struct strbuf *out) {
    markdown_heading(out, 2, _("Cost"));
    markdown_paragraph(out, _("An amount of money is named only under an offer that was verified "
                              "for this machine and period."));
    cost_markdown(document->cost, out);
}

void document_markdown_estimate(const struct report_document *document, struct strbuf *out) {
    const struct estimate *estimate = document->estimate;
    markdown_heading(out, 2, _("Estimate of what is still to do"));
    if (estimate->provisional) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        AUTO_ARENA struct arena *arena = arena_new();
        strbuf_printf(&text,
                      _("This estimate is provisional: %s. Rent only to clear this up, and book no "
                        "full block."),
                      open_provisional(estimate, arena));
        markdown_paragraph(out, strbuf_str(&text));
    }
    markdown_paragraph(
        out,
        _("Computing is the time of the runs alone. Reserved is all that needs the machine and "
          "is usually paid. Calendar is from start to end, with what needs no machine. Effort "
          "is what needs no rented machine. A figure with open parts is at least what is "
          "shown: the open parts are not in it, and they are named below."));
    figures(estimate, out);
    assumed(estimate, out);
    without_effect(estimate, out);
    if (estimate->block_count > 0)
        parts(estimate, out);
    open_parts(estimate, out);
    frozen(document, out);
    if (estimate->block_count > 0)
        memory(estimate, out);
    money(document, out);
}
