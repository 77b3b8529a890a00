/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kept estimates of several studies and their sums. Every sum keeps its state and its open
 * parts; a study whose estimate is outdated, or could not be checked, is marked.
 */
#include "report/studies.h"

#include "base/msg.h"
#include "report/cost.h"
#include "report/layout.h"
#include "report/run-json.h"
#include "report/run-text.h"
#include "report/study-words.h"

#include <string.h>

#define OPEN_SHOWN 3u /* of each study, without -v */

/* ---- for programs ---- */

static json_t *figures_json(const struct quantity figures[STUDIES_FIGURE_COUNT_]) {
    json_t *json = json_object();
    for (int i = 0; i < STUDIES_FIGURE_COUNT_; i++)
        run_json_put_quantity(json, studies_figure_name((enum studies_figure)i), &figures[i]);
    return json;
}

static json_t *money_json(const struct studies_money *money, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, amount_to_json(&money[i].amount));
    return list;
}

static json_t *row_json(const struct studies_row *row) {
    json_t *json = json_object();
    json_put_text(json, "id", row->input->study);
    json_put_text(json, "title", row->input->title);
    json_put_text(json, "name", row->input->name);
    json_put_text(json, "event", row->input->event);
    json_put_text(json, "environment", row->input->environment);
    run_json_put_utc(json, "kept_utc", row->input->utc_ns);
    json_put_text(json, "state", studies_state_name(row->input->state));
    json_put_text(json, "outdated", row->input->outdated);
    json_put(json, "figures", figures_json(row->figures));
    json_put(json, "amount", amount_to_json(&row->amount));
    return json;
}

static json_t *subtotals_json(const struct studies_subtotal *subtotals, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object();
        json_put_text(json, "name", subtotals[i].name);
        json_put_int(json, "studies", (int64_t)subtotals[i].study_count);
        json_put_int(json, "blocks", (int64_t)subtotals[i].block_count);
        json_put(json, "figures", figures_json(subtotals[i].figures));
        json_put(json, "amounts", money_json(subtotals[i].money, subtotals[i].money_count));
        json_put_int(json, "without_amount", (int64_t)subtotals[i].without_amount);
        json_array_append_new(list, json);
    }
    return list;
}

json_t *report_studies_json(const struct studies *studies, size_t without) {
    json_t *json = json_object(), *rows = json_array();
    json_put_text(json, "schema", "probelauf.estimate-studies/1");
    for (size_t i = 0; i < studies->row_count; i++)
        json_array_append_new(rows, row_json(&studies->rows[i]));
    json_put(json, "studies", rows);
    json_put_int(json, "without_estimate", (int64_t)without);
    json_put_int(json, "not_current", (int64_t)studies->not_current);
    json_put(json, "total", figures_json(studies->total));
    json_put(json, "amounts", money_json(studies->money, studies->money_count));
    json_put_int(json, "without_amount", (int64_t)studies->without_amount);
    json_put(json, "by_extent", subtotals_json(studies->by_extent, studies->by_extent_count));
    json_put(json, "by_recurrence",
             subtotals_json(studies->by_recurrence, studies->by_recurrence_count));
    return json;
}

/* ---- for people ---- */

/* In a table an open figure is its mark alone; the open parts stand below it. */
static void add_figure(struct strbuf *out, struct report_style style, const struct quantity *q) {
    if (quantity_is_known(q))
        layout_add_quantity(out, q, style.ascii, true);
    else
        strbuf_add_str(out, q->reason == QUANTITY_NOT_APPLICABLE ? "-" : "[?]");
}

static void figure_cells(struct layout_table *table, struct report_style style,
                         const struct quantity figures[STUDIES_FIGURE_COUNT_]) {
    for (int i = 0; i < STUDIES_FIGURE_COUNT_; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        add_figure(&text, style, &figures[i]);
        layout_table_cell(table, strbuf_str(&text), LAYOUT_PLAIN);
    }
}

static const char *state_text(const struct studies_input *input) {
    switch (input->state) {
    case STUDIES_NOT_CHECKED:
        return _("not checked: its plan is not here");
    case STUDIES_CURRENT:
        return _("current");
    case STUDIES_OUTDATED:
        return input->outdated ? input->outdated : _("outdated");
    case STUDIES_STATE_COUNT_:
        break;
    }
    return "";
}

static void rows_text(const struct studies *studies, struct report_style style,
                      struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("study")},
        {.title = _("environment"), .optional = 100},
        {.title = _("kept (UTC)"), .optional = 80},
        {.title = _("reserved"), .right = true},
        {.title = _("does it still hold?"), .elastic = 16, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < studies->row_count; i++) {
        const struct studies_row *row = &studies->rows[i];
        AUTO_STRBUF struct strbuf date = STRBUF_INIT;
        AUTO_STRBUF struct strbuf label = STRBUF_INIT;
        AUTO_STRBUF struct strbuf reserved = STRBUF_INIT;
        AUTO_STRBUF struct strbuf state = STRBUF_INIT;
        run_text_add_date(&date, row->input->utc_ns);
        layout_cut(&label, row->label, 28, style.ascii);
        add_figure(&reserved, style, &row->figures[STUDIES_RESERVED]);
        if (row->input->state == STUDIES_OUTDATED)
            strbuf_printf(&state, _("OUTDATED: %s"), state_text(row->input));
        else
            strbuf_add_str(&state, state_text(row->input));
        layout_table_cell(table, strbuf_str(&label), LAYOUT_BOLD);
        layout_table_cell(table, row->input->environment ? row->input->environment : "-",
                          LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&date), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&reserved), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&state),
                          row->input->state == STUDIES_CURRENT ? LAYOUT_GOOD : LAYOUT_WARN);
    }
    layout_table_print(table, 0, out);
}

static void sum_row(struct layout_table *table, struct report_style style, const char *name,
                    size_t study_count, const struct quantity figures[STUDIES_FIGURE_COUNT_]) {
    AUTO_FREE char *count = mem_printf("%zu", study_count);
    layout_table_cell(table, name, LAYOUT_BOLD);
    layout_table_cell(table, count, LAYOUT_PLAIN);
    figure_cells(table, style, figures);
}

static void sums_text(const struct studies *studies, struct report_style style,
                      struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("blocks")},
        {.title = _("studies"), .right = true},
        {.title = _("computing"), .right = true, .optional = 70},
        {.title = _("reserved"), .right = true},
        {.title = _("effort"), .right = true, .optional = 90},
        {.title = _("GPU time"), .right = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < studies->by_extent_count; i++)
        sum_row(table, style, study_words_subtotal(studies->by_extent[i].name),
                studies->by_extent[i].study_count, studies->by_extent[i].figures);
    for (size_t i = 0; i < studies->by_recurrence_count; i++)
        sum_row(table, style, study_words_subtotal(studies->by_recurrence[i].name),
                studies->by_recurrence[i].study_count, studies->by_recurrence[i].figures);
    sum_row(table, style, _("all"), studies->row_count, studies->total);
    layout_heading(out, style, _("By extent, by recurrence, and all"));
    layout_table_print(table, 0, out);
}

/* "validation: [e] 12.30 EUR; [e] 20.00 NAIRR SU; 1 study has no amount": never one number. */
static void money_line(struct strbuf *out, struct report_style style, const char *name,
                       const struct studies_money *money, size_t count, size_t without) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT, plain = STRBUF_INIT, sums = STRBUF_INIT;
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf sum = STRBUF_INIT;
        amount_format(&money[i].amount, (struct quantity_style){.ascii = style.ascii, .mark = true},
                      &sum);
        strbuf_add_next(&sums, "; ", strbuf_str(&sum));
        if (money[i].amount.lack_count > 0) {
            strbuf_add_str(&sums, ", ");
            cost_add_lacks(&sums, &money[i].amount);
        }
    }
    if (without > 0) {
        AUTO_FREE char *rest =
            mem_printf(msg_plural((unsigned long)without, "%zu study has no amount",
                                  "%zu studies have no "
                                  "amount"),
                       without);
        strbuf_add_next(&sums, "; ", rest);
    }
    strbuf_printf(&line, "%s: %s", name, strbuf_str(&sums));
    layout_add_plain(&plain, strbuf_str(&line), style.ascii);
    strbuf_add_str(out, "  ");
    layout_wrap(out, strbuf_str(&plain), 2, 4, layout_columns(style));
    strbuf_add_char(out, '\n');
}

static void money_text(const struct studies *studies, struct report_style style,
                       struct strbuf *out) {
    const struct studies_subtotal *lists[] = {studies->by_extent, studies->by_recurrence};
    const size_t counts[] = {studies->by_extent_count, studies->by_recurrence_count};
    if (studies->money_count == 0)
        return;
    layout_heading(out, style, _("Amounts, each currency on its own"));
    for (size_t l = 0; l < ARRAY_LENGTH(lists); l++)
        for (size_t i = 0; i < counts[l]; i++)
            money_line(out, style, study_words_subtotal(lists[l][i].name), lists[l][i].money,
                       lists[l][i].money_count, lists[l][i].without_amount);
    money_line(out, style, _("all"), studies->money, studies->money_count, studies->without_amount);
    layout_paragraph(
        out, style,
        _("By extent and recurrence each block is a rental of its own; all: each study "
          "as its estimate rents it."));
}

static void open_line(struct strbuf *out, struct report_style style, const char *text) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    if (style.verbose) {
        layout_add_plain(&line, text, style.ascii);
        strbuf_add_str(out, "    ");
        layout_wrap(out, strbuf_str(&line), 4, 6, layout_columns(style));
    } else {
        strbuf_add_str(out, "    ");
        layout_cut(out, text, layout_columns(style) - 4, style.ascii);
    }
    strbuf_add_char(out, '\n');
}

/* "main: retries/keep=0.5: why"; older documents have texts. */
static void open_part(struct strbuf *out, struct report_style style, const json_t *part) {
    const char *const names[] = {"block", "component"};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (json_is_string(part))
        strbuf_add_str(&text, msg_get(json_string_value(part)));
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *name = json_get_text(part, names[i], NULL);
        if (!name)
            continue;
        strbuf_add_str(&text, text.length > 0 ? ": " : "");
        if (i == 0)
            strbuf_add_str(&text, name);
        else
            quantity_add_part(&text, name);
    }
    const char *what = json_get_text(part, "what", NULL);
    if (what)
        strbuf_add_next(&text, ": ", msg_get(what)); /* kept in English */
    open_line(out, style, text.length > 0 ? strbuf_str(&text) : _("open"));
}

/* A sum that leaves something out says what (D7). */
static void open_text(const struct studies *studies, struct report_style style,
                      struct strbuf *out) {
    bool headed = false;
    for (size_t i = 0; i < studies->row_count; i++) {
        const json_t *open = json_get_array(studies->rows[i].input->estimate, "open");
        size_t count = json_array_size(open);
        size_t shown = style.verbose || count <= OPEN_SHOWN ? count : OPEN_SHOWN;
        if (count == 0)
            continue;
        if (!headed)
            layout_heading(out, style, _("Open, and in no sum"));
        headed = true;
        AUTO_FREE char *title = mem_printf("%s: %zu", studies->rows[i].label, count);
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;
        layout_add_plain(&line, title, style.ascii);
        layout_paragraph(out, style, strbuf_str(&line));
        for (size_t k = 0; k < shown; k++)
            open_part(out, style, json_array_get(open, k));
        if (shown < count)
            open_line(out, style, _("... -v shows all"));
    }
}

void report_studies_text(const struct studies *studies, size_t without, struct report_style style,
                         struct strbuf *out) {
    if (studies->row_count == 0)
        layout_paragraph(out, style,
                         _("no estimate was kept yet: 'probelauf estimate --freeze NAME' in the "
                           "folder of a plan keeps one"));
    else {
        rows_text(studies, style, out);
        sums_text(studies, style, out);
        money_text(studies, style, out);
        open_text(studies, style, out);
    }
    if (without > 0) {
        AUTO_FREE char *text = mem_printf(
            msg_plural((unsigned long)without,
                       "%zu study has records but no kept estimate: it is in no sum",
                       "%zu studies have records but no kept estimate: they are in no sum"),
            without);
        strbuf_add_char(out, '\n');
        layout_paragraph(out, style, text);
    }
    if (studies->row_count > 0) {
        strbuf_add_char(out, '\n');
        layout_paragraph(out, style,
                         _("Sums of kept estimates: medians do not add up to the median of the "
                           "sum, so none has an interval."));
        layout_legend(out, style);
    }
}
