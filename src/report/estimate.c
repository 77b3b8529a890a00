/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The estimate of a plan for people: what is still to do in all, a table of all blocks and
 * subtotals, each block's parts, and beside every total what is not in it. Must not print a total
 * alone (D7), nor "hours" that do not say whose.
 */
#include "report/study.h"

#include "base/msg.h"
#include "report/calibration.h"
#include "report/classes.h"
#include "report/cost.h"
#include "report/estimate-open.h"
#include "report/estimate-text.h"
#include "report/layout.h"
#include "report/precision.h"
#include "report/run-text.h"
#include "report/study-words.h"

#include <string.h>

#define SECTIONS_SHOWN 4u /* blocks that get a section of their own without -v */

static void plain_row(struct strbuf *out, struct report_style style, const char *label,
                      const char *value, const char *note) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    AUTO_STRBUF struct strbuf plain_note = STRBUF_INIT;
    layout_add_plain(&plain, value, style.ascii);
    layout_add_plain(&plain_note, note, style.ascii);
    layout_row(out, style, label, strbuf_str(&plain), LAYOUT_PLAIN, strbuf_str(&plain_note));
}

/* ---- what it is about ---- */

static void environment_row(const struct estimate *estimate, struct report_style style,
                            struct strbuf *out) {
    const struct plan_environment *environment = estimate->study->input->environment;
    if (!environment) {
        plain_row(out, style, _("environment"), _("open"), _("the plan names none"));
        return;
    }
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    if (!estimate->has_gpus)
        strbuf_add_str(&note, _("the number of its GPUs is open"));
    else if (estimate->reserved_gpus == 0)
        strbuf_add_str(&note, _("no GPU"));
    else
        strbuf_printf(&note,
                      msg_plural((unsigned long)estimate->reserved_gpus, "%zu GPU", "%zu GPUs"),
                      estimate->reserved_gpus);
    if (environment->gpu)
        strbuf_printf(&note, ", %s", environment->gpu);
    plain_row(out, style, _("environment"), environment->id, strbuf_str(&note));
}

static void spent_row(const char *label, const struct study_times *of, struct report_style style,
                      struct strbuf *out) {
    AUTO_STRBUF struct strbuf spent = STRBUF_INIT;
    if (study_words_is_nothing(&of->spent))
        strbuf_add_str(&spent, _("nothing yet: no run"));
    else
        layout_add_quantity(&spent, &of->spent, style.ascii, true);
    AUTO_STRBUF struct strbuf lost = STRBUF_INIT;
    if (quantity_is_known(&of->failed_time) && of->failed_time.value > 0) {
        strbuf_add_str(&lost, _("of it in failed attempts: "));
        layout_add_quantity(&lost, &of->failed_time, style.ascii, true);
    }
    layout_row(out, style, label, strbuf_str(&spent), LAYOUT_PLAIN, strbuf_str(&lost));
}

static void header(const struct estimate *estimate, struct report_style style, struct strbuf *out) {
    const struct study *study = estimate->study;
    const struct plan_study *plan = &study->input->plan->study;
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    strbuf_add_str(&title, _("Still to do"));
    if (plan->title) {
        strbuf_add_str(&title, ": ");
        layout_add_plain(&title, plan->title, style.ascii);
    }
    AUTO_STRBUF struct strbuf wrapped = STRBUF_INIT;
    layout_wrap(&wrapped, strbuf_str(&title), 0, 2, layout_columns(style));
    layout_add_colored(out, style, LAYOUT_BOLD, strbuf_str(&wrapped));
    strbuf_add_char(out, '\n');
    if (estimate->provisional) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;
        AUTO_ARENA struct arena *arena = arena_new();
        strbuf_printf(&text, _("PROVISIONAL: %s; rent only to clear this up, book no full block"),
                      open_provisional(estimate, arena));
        layout_add_plain(&line, strbuf_str(&text), style.ascii);
        AUTO_STRBUF struct strbuf warning = STRBUF_INIT;
        layout_wrap(&warning, strbuf_str(&line), 2, 2, layout_columns(style));
        strbuf_add_str(out, "  ");
        layout_add_colored(out, style, LAYOUT_BAD, strbuf_str(&warning));
        strbuf_add_char(out, '\n');
    }
    plain_row(out, style, _("paper version"), plan->paper_version ? plan->paper_version : _("open"),
              NULL);
    environment_row(estimate, style, out);
    spent_row(_("spent so far"), &study->here, style, out);
    if (study_words_is_of_several(study)) /* all else here is about one of them */
        spent_row(_("spent elsewhere"), &study->elsewhere, style, out);
}

/* ---- the total ---- */

/* GPU-hours; wall hours where the target has no GPU. */
static void gpu_row(const struct estimate_figures *figures, struct report_style style,
                    struct strbuf *out) {
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    bool none = !quantity_is_known(&figures->gpu) && figures->gpu.reason == QUANTITY_NOT_APPLICABLE;
    struct quantity hours = study_words_hours(none ? &figures->reserved : &figures->gpu, !none);
    layout_add_quantity(&value, &hours, style.ascii, true);
    layout_row(out, style, none ? _("machine time") : _("GPU time"), strbuf_str(&value),
               layout_state_color(hours.state),
               none ? _("reserved; no GPU in the target") : _("reserved GPUs x reserved time"));
}

/* Why a total is open stands in the list of its parts, once. */
static void figure_row(const char *label, const struct quantity *q, struct report_style style,
                       struct strbuf *out) {
    struct quantity alone = study_words_alone(q);
    if (!quantity_is_known(q))
        alone.detail = alone.method = NULL;
    estimate_text_quantity(label, &alone, NULL, style, out);
}

/* Beside what is stated, never in its place. */
static void calibrated(const struct estimate *estimate, struct report_style style,
                       struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *const *lines = NULL;
    size_t count =
        report_calibrated_lines(estimate->calibrated, false, style.verbose, arena, &lines);
    for (size_t i = 0; i < count; i++)
        layout_bullet(out, style, lines[i]);
}

/* What makes up most of it, and with -v how exact the simulation is. */
static void precision(const struct estimate *estimate, struct report_style style,
                      struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *dominating = report_dominating_words(estimate, arena);
    const char *const *lines = NULL;
    size_t count = style.verbose ? report_precision_lines(estimate, style.ascii, arena, &lines) : 0;
    if (dominating)
        layout_bullet(out, style, dominating);
    for (size_t i = 0; i < count; i++)
        layout_bullet(out, style, lines[i]);
}

static void total(const struct estimate *estimate, struct report_style style, struct strbuf *out) {
    layout_heading(out, style, _("In all"));
    figure_row(_("computing"), &estimate->total.computing, style, out);
    figure_row(_("reserved (paid)"), &estimate->total.reserved, style, out);
    figure_row(_("calendar"), &estimate->total.calendar, style, out);
    figure_row(_("effort"), &estimate->total.effort, style, out);
    gpu_row(&estimate->total, style, out);
    size_t count = estimate->open_count;
    if (count > 0) {
        AUTO_STRBUF struct strbuf open = STRBUF_INIT;
        strbuf_printf(&open,
                      msg_plural((unsigned long)count,
                                 "%zu part is not in these figures; it is named below",
                                 "%zu parts are not in these figures; they are named below"),
                      count);
        layout_row(out, style, _("open"), strbuf_str(&open), LAYOUT_BAD, NULL);
    }
    precision(estimate, style, out);
    calibrated(estimate, style, out);
    if (study_words_has_partial_interval(estimate))
        layout_paragraph(out, style,
                         style.ascii ? _("With 'at least', the interval is that of the parts that "
                                         "are in it.")
                                     : _("With ≥, the interval is that of the parts that are in "
                                         "it."));
}

/* ---- the table ---- */

/* Bounds by sign in every style: words would make the table too wide for its page. */
static void figure_cell(struct layout_table *table, struct report_style style,
                        const struct quantity *q) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf cell = STRBUF_INIT;
    const size_t mark = strlen("[e] ");
    struct quantity alone = study_words_alone(q);
    alone.has_interval = false;
    alone.bound = QUANTITY_EXACT;
    if (quantity_is_known(&alone)) {
        layout_add_quantity(&text, &alone, style.ascii, true);
        strbuf_add(&cell, strbuf_str(&text), mark);
        if (q->bound == QUANTITY_AT_LEAST)
            strbuf_add_str(&cell, style.ascii ? ">= " : "≥ ");
        if (q->bound == QUANTITY_AT_MOST)
            strbuf_add_str(&cell, style.ascii ? "<= " : "≤ ");
        strbuf_add_str(&cell, strbuf_str(&text) + mark);
    } else {
        strbuf_add_str(&cell, "[?]");
    }
    layout_table_cell(table, strbuf_str(&cell), layout_state_color(q->state));
}

struct table_row {
    const char *name;
    bool has_remaining;
    uint64_t remaining;
    size_t open;
    const struct estimate_figures *figures;
};

static void table_row(struct layout_table *table, struct report_style style,
                      const struct table_row *row, enum layout_color color) {
    AUTO_STRBUF struct strbuf left = STRBUF_INIT;
    AUTO_STRBUF struct strbuf open = STRBUF_INIT;
    study_words_add_count(&left, row->has_remaining, row->remaining);
    strbuf_printf(&open, "%zu", row->open);
    layout_table_cell(table, row->name, color);
    layout_table_cell(table, strbuf_str(&left), row->has_remaining ? LAYOUT_PLAIN : LAYOUT_BAD);
    figure_cell(table, style, &row->figures->computing);
    figure_cell(table, style, &row->figures->reserved);
    figure_cell(table, style, &row->figures->calendar);
    figure_cell(table, style, &row->figures->effort);
    layout_table_cell(table, strbuf_str(&open), row->open > 0 ? LAYOUT_BAD : LAYOUT_PLAIN);
}

/* Of a subtotal's blocks: those whose name (extent or recurrence) is this one; NULL: all. */
static void add_up(const struct estimate *estimate, const char *name, bool by_extent,
                   struct table_row *row) {
    row->has_remaining = true;
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        const char *own = by_extent ? plan_extent_name(block->block->block->extent)
                                    : plan_recurrence_name(block->block->block->recurrence);
        if (name && strcmp(own && *own ? own : "not said", name) != 0)
            continue;
        row->has_remaining = row->has_remaining && block->has_remaining;
        row->remaining += block->remaining;
        row->open += block->open_count;
    }
}

static void subtotal_rows(struct layout_table *table, struct report_style style,
                          const struct estimate *estimate, bool by_extent) {
    size_t count = by_extent ? estimate->by_extent_count : estimate->by_recurrence_count;
    for (size_t i = 0; i < count; i++) {
        const struct estimate_subtotal *subtotal =
            by_extent ? &estimate->by_extent[i] : &estimate->by_recurrence[i];
        if (subtotal->block_count == 0)
            continue;
        struct table_row row = {.figures = &subtotal->figures};
        add_up(estimate, subtotal->name, by_extent, &row);
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        strbuf_printf(&name, style.ascii ? "- %s" : "∑ %s", study_words_subtotal(subtotal->name));
        row.name = strbuf_str(&name);
        table_row(table, style, &row, LAYOUT_DIM);
    }
}

static void overview(const struct estimate *estimate, struct report_style style,
                     struct strbuf *out) {
    if (estimate->block_count == 0)
        return;
    layout_heading(out, style, _("Blocks"));
    const struct layout_column columns[] = {
        {.title = "", .elastic = 8, .wraps = true},
        {.title = _("left"), .right = true},
        {.title = _("computing")},
        {.title = _("reserved")},
        {.title = _("calendar")},
        {.title = _("effort"), .optional = 96},
        {.title = _("open"), .right = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        struct table_row row = {.name = block->block->block->id,
                                .has_remaining = block->has_remaining,
                                .remaining = block->remaining,
                                .open = block->open_count,
                                .figures = &block->figures};
        table_row(table, style, &row, LAYOUT_PLAIN);
    }
    subtotal_rows(table, style, estimate, true);
    subtotal_rows(table, style, estimate, false);
    struct table_row all = {.name = _("in all"), .figures = &estimate->total};
    add_up(estimate, NULL, false, &all);
    all.open = estimate->open_count; /* tasks, too, which belong to no block */
    table_row(table, style, &all, LAYOUT_BOLD);
    layout_table_print(table, 0, out);
    if (style.ascii)
        layout_paragraph(out, style, _(">=: at least; <=: at most."));
    layout_paragraph(out, style,
                     _("left: runs still to do; open: parts that are not in the figures. Medians: "
                       "they do not add up."));
}

/* ---- what is not in it ---- */

static void remedy(struct strbuf *out, struct report_style style, const char *text) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, style.ascii);
    strbuf_add_str(out, "    > ");
    layout_wrap(out, strbuf_str(&plain), 6, 6, layout_columns(style));
    strbuf_add_char(out, '\n');
}

static void open_parts(const struct estimate *estimate, struct report_style style,
                       struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct open_line *lines = NULL;
    size_t count = open_lines(estimate, style.verbose ? OPEN_ALL : OPEN_BRIEF, arena, &lines);
    if (count == 0)
        return;
    layout_heading(out, style, _("Open: not in these figures"));
    for (size_t i = 0; i < count; i++) {
        layout_bullet(out, style, lines[i].text);
        if (i + 1 < count && lines[i + 1].remedy == lines[i].remedy)
            continue;
        for (size_t k = 0; k < lines[i].command_count; k++)
            remedy(out, style, lines[i].commands[k]);
        if (lines[i].command_count == 0 && lines[i].remedy[0])
            remedy(out, style, lines[i].remedy);
    }
}

static void assumed(const struct estimate *estimate, struct report_style style,
                    struct strbuf *out) {
    const struct plan *plan = estimate->study->input->plan;
    size_t tasks = 0;
    for (size_t i = 0; i < plan->task_count; i++)
        tasks += study_words_is_assumed(&plan->tasks[i]);
    if (estimate->assumed_count + tasks == 0)
        return;
    layout_heading(out, style, _("Assumptions in these figures"));
    for (size_t i = 0; i < plan->task_count; i++) {
        if (!study_words_is_assumed(&plan->tasks[i]))
            continue;
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        study_words_add_task(&text, plan, &plan->tasks[i]);
        layout_bullet(out, style, strbuf_str(&text));
    }
    for (size_t i = 0; i < estimate->assumed_count; i++) {
        const struct estimate_setting *setting = &estimate->assumed[i];
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        study_words_add_setting(&text, estimate->study->input->plan, setting);
        layout_bullet(out, style, strbuf_str(&text));
    }
}

static void without_effect(const struct estimate *estimate, struct report_style style,
                           struct strbuf *out) {
    if (estimate->without_effect_count == 0)
        return;
    layout_heading(out, style, _("Assumptions without effect"));
    for (size_t i = 0; i < estimate->without_effect_count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        study_words_add_no_effect(&text, &estimate->without_effect[i]);
        layout_bullet(out, style, strbuf_str(&text));
    }
}

static void frozen_ones(const struct report_frozen *frozen, size_t count, struct report_style style,
                        struct strbuf *out) {
    if (count == 0)
        return;
    layout_heading(out, style, _("Frozen estimates"));
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text, "%s, ", frozen[i].name);
        run_text_add_date(&text, frozen[i].utc_ns);
        strbuf_add_str(&text, " UTC");
        if (frozen[i].outdated)
            strbuf_printf(&text, _("; OUTDATED: %s"), frozen[i].outdated);
        layout_bullet(out, style, strbuf_str(&text));
    }
}

/* Is an estimate shown without an interval? */
static bool lacks_interval(const struct estimate *estimate) {
    const struct quantity *totals[] = {&estimate->total.computing, &estimate->total.reserved,
                                       &estimate->total.calendar, &estimate->total.effort};
    bool lacks = false;
    for (size_t i = 0; i < ARRAY_LENGTH(totals); i++)
        lacks = lacks || (totals[i]->state == QUANTITY_ESTIMATED && !totals[i]->has_interval);
    return lacks;
}

static void method(const struct estimate *estimate, struct report_style style, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(
        &line, _("medians with 90 %% intervals from %zu simulated futures; method %s, seed %llu"),
        estimate->draws, ESTIMATE_METHOD, (unsigned long long)estimate->seed);
    const char *known = report_precision_words(estimate, style.ascii, arena);
    if (known)
        strbuf_printf(&line, "; %s", known);
    if (lacks_interval(estimate))
        strbuf_add_str(&line, _("; where there is no interval, a part rests on a single run or on "
                                "runs too far apart: one more run gives one (-v names it)"));
    strbuf_add_char(out, '\n');
    layout_wrap(out, strbuf_str(&line), 0, 0, layout_columns(style));
    strbuf_add_char(out, '\n');
}

static void sections(const struct estimate *estimate, struct report_style style,
                     struct strbuf *out) {
    if (style.verbose || estimate->block_count <= SECTIONS_SHOWN) {
        for (size_t i = 0; i < estimate->block_count; i++)
            estimate_text_block(&estimate->blocks[i], style, out);
        return;
    }
    layout_heading(out, style, _("Parts of all blocks (-v: of each)"));
    estimate_text_components(estimate->components, style, out);
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        AUTO_STRBUF struct strbuf label = STRBUF_INIT;
        strbuf_printf(&label, _("memory, %s"), block->block->block->id);
        AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
        layout_cut(&plain, strbuf_str(&label), 30, style.ascii);
        if (quantity_is_known(&block->host_memory.need))
            estimate_text_memory(strbuf_str(&plain), &block->host_memory, true, style, out);
        if (quantity_is_known(&block->gpu_memory.need))
            estimate_text_memory(strbuf_str(&plain), &block->gpu_memory, true, style, out);
    }
}

void report_estimate_text(const struct estimate *estimate, const struct cost *cost,
                          const struct report_frozen *frozen, size_t frozen_count,
                          struct report_style style, struct strbuf *out) {
    header(estimate, style, out);
    total(estimate, style, out);
    assumed(estimate, style, out);
    without_effect(estimate, style, out);
    overview(estimate, style, out);
    sections(estimate, style, out);
    open_parts(estimate, style, out);
    cost_text(cost, style, out);
    report_by_class_text(estimate, style, out);
    frozen_ones(frozen, frozen_count, style, out);
    method(estimate, style, out);
    layout_legend(out, style);
}
