/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reference classes, and estimates with one (classes.h). */
#include "report/classes.h"

#include "base/msg.h"
#include "report/estimate-text.h"
#include "report/layout.h"
#include "report/run-json.h"
#include "report/study-json.h"
#include "report/study-words.h"

#include <math.h>
#include <string.h>

/* ---- the list, for people ---- */

static void row(struct strbuf *out, struct report_style style, const char *label,
                const char *value) {
    layout_row(out, style, label, value, LAYOUT_PLAIN, NULL);
}

static const char *percent(char buffer[MSG_DECIMAL_SIZE], double share) {
    return msg_decimal(buffer, "%.2g", 100.0 * share);
}

static void spread_row(const struct class_figures *figures, struct report_style style,
                       struct strbuf *out) {
    char low[MSG_DECIMAL_SIZE], middle[MSG_DECIMAL_SIZE], high[MSG_DECIMAL_SIZE];
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, _("%s %% (a quarter below %s %%, a quarter above %s %%)"),
                  percent(middle, figures->spread_middle), percent(low, figures->spread_low),
                  percent(high, figures->spread_high));
    row(out, style, _("spread of runs"), strbuf_str(&text));
}

static void first_row(const struct class_figures *figures, struct report_style style,
                      struct strbuf *out) {
    char middle[MSG_DECIMAL_SIZE], p90[MSG_DECIMAL_SIZE];
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, _("%s times the later ones (in one of ten conditions above %s)"),
                  msg_decimal(middle, "%.2f", figures->first_middle),
                  msg_decimal(p90, "%.2f", figures->first_p90));
    row(out, style, _("first run"), strbuf_str(&text));
}

static void failures_rows(const struct class_failures *failures, struct report_style style,
                          struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf cost = STRBUF_INIT;
    char median[MSG_DECIMAL_SIZE], p90[MSG_DECIMAL_SIZE];
    if (failures->attempts == 0) {
        row(out, style, _("failures"), _("open: only runs that ended well were published"));
        return;
    }
    strbuf_printf(&text,
                  _("%zu of %zu attempts (%s): after a success %zu of %zu, after a failure of the "
                    "same condition %zu of %zu"),
                  failures->failures, failures->attempts, failures->sources,
                  failures->after_success.failures, failures->after_success.attempts,
                  failures->after_failure.failures, failures->after_failure.attempts);
    row(out, style, _("failures"), strbuf_str(&text));
    if (failures->cost_count == 0)
        return;
    strbuf_printf(&cost, _("%s of a good run, in one of ten above %s (of %zu failed attempts)"),
                  msg_decimal(median, "%.2g", failures->cost_median),
                  msg_decimal(p90, "%.2g", failures->cost_p90), failures->cost_count);
    row(out, style, _("a failure costs"), strbuf_str(&cost));
}

static void class_text(const struct forecast_class *class, struct report_style style,
                       struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf of = STRBUF_INIT;
    struct class_figures figures;
    forecast_class_figures(class, &figures);
    layout_heading(out, style, forecast_class_name(class));
    strbuf_printf(&of, _("%zu conditions with %zu runs (%s)"), figures.conditions, figures.runs,
                  estimate_class_sources(class, arena));
    row(out, style, _("made of"), strbuf_str(&of));
    if (figures.shown > 0) {
        spread_row(&figures, style, out);
        first_row(&figures, style, out);
    }
    failures_rows(forecast_class_failures(class), style, out);
}

void report_classes_text(struct report_style style, struct strbuf *out) {
    layout_paragraph(out, style,
                     _("Reference classes, from public records of 2026 and before: how work of a "
                       "kind varied elsewhere. With '--assume-class NAME' an estimate shows apart "
                       "what it would be if yours did, too; no figure that is used for deciding "
                       "has it in."));
    for (size_t i = 0; i < forecast_class_count(); i++)
        class_text(forecast_class_at(i), style, out);
}

/* ---- the list, for machines ---- */

static json_t *sources_json(const struct forecast_class *class) {
    json_t *list = json_array();
    const struct class_source *source;
    for (size_t i = 0; (source = forecast_class_source(class, i)); i++) {
        json_t *json = json_object();
        json_put_text(json, "name", source->name);
        json_put_text(json, "repository", source->repository);
        json_put_text(json, "licence", source->licence);
        json_array_append_new(list, json);
    }
    return list;
}

static void put_number(json_t *json, const char *key, double value) {
    if (isnan(value))
        json_put(json, key, json_null());
    else
        json_put_real(json, key, value);
}

static json_t *share_json(const struct class_share *share) {
    json_t *json = json_object();
    json_put(json, "failures", study_json_count(share->attempts > 0, share->failures));
    json_put(json, "attempts", study_json_count(true, share->attempts));
    return json;
}

static json_t *failures_json(const struct class_failures *failures) {
    if (failures->attempts == 0)
        return json_null();
    json_t *json = json_object(), *cost = json_object();
    json_put_text(json, "sources", failures->sources);
    json_put(json, "attempts", study_json_count(true, failures->attempts));
    json_put(json, "failures", study_json_count(true, failures->failures));
    json_put(json, "after_success", share_json(&failures->after_success));
    json_put(json, "after_failure", share_json(&failures->after_failure));
    json_put(cost, "count", study_json_count(true, failures->cost_count));
    put_number(cost, "median", failures->cost_median);
    put_number(cost, "p90", failures->cost_p90);
    json_put(json, "cost", cost);
    return json;
}

static json_t *class_json(const struct forecast_class *class) {
    struct class_figures figures;
    json_t *json = json_object(), *spread = json_object(), *first = json_object();
    forecast_class_figures(class, &figures);
    json_put_text(json, "name", forecast_class_name(class));
    json_put(json, "sources", sources_json(class));
    json_put(json, "conditions", study_json_count(true, figures.conditions));
    json_put(json, "runs", study_json_count(true, figures.runs));
    json_put(json, "shown", study_json_count(true, figures.shown));
    put_number(spread, "low", figures.spread_low);
    put_number(spread, "middle", figures.spread_middle);
    put_number(spread, "high", figures.spread_high);
    json_put(json, "spread", spread);
    put_number(first, "middle", figures.first_middle);
    put_number(first, "p90", figures.first_p90);
    json_put(json, "first_run", first);
    json_put(json, "failures", failures_json(forecast_class_failures(class)));
    return json;
}

json_t *report_classes_json(void) {
    json_t *json = json_object(), *list = json_array();
    json_put_text(json, "schema", "probelauf.classes/1");
    for (size_t i = 0; i < forecast_class_count(); i++)
        json_array_append_new(list, class_json(forecast_class_at(i)));
    json_put(json, "classes", list);
    return json;
}

/* ---- beside an estimate ---- */

static bool is_by_class(const struct quantity *q) {
    return q->basis && strcmp(q->basis, ESTIMATE_BASIS_CLASS) == 0;
}

static void figure_row(const char *label, const struct quantity *q, struct report_style style,
                       struct strbuf *out) {
    if (is_by_class(q))
        estimate_text_quantity(label, q, NULL, style, out);
}

static void part_line(const struct estimate_class_part *part, struct report_style style,
                      struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct quantity time = study_words_alone(&part->time);
    strbuf_printf(&text, "%s, ", part->block->id);
    quantity_add_part(&text, component_name(part->component));
    strbuf_add_str(&text, ", ");
    study_words_add_item(&text, part->name);
    strbuf_add_str(&text, ": ");
    layout_add_quantity(&text, &time, style.ascii, true);
    layout_bullet(out, style, strbuf_str(&text));
}

static bool has_retries(const struct estimate_class *by) {
    for (size_t i = 0; i < by->part_count; i++)
        if (by->parts[i].component == COMPONENT_RETRIES)
            return true;
    return false;
}

void report_by_class_text(const struct estimate *estimate, struct report_style style,
                          struct strbuf *out) {
    const struct estimate_class *by = estimate->by_class;
    if (!by)
        return;
    AUTO_STRBUF struct strbuf heading = STRBUF_INIT;
    AUTO_STRBUF struct strbuf rests = STRBUF_INIT;
    strbuf_printf(&heading, _("Assumed by the class '%s': in no figure above"),
                  forecast_class_name(by->class));
    layout_heading(out, style, strbuf_str(&heading));
    if (by->part_count == 0) {
        layout_paragraph(out, style,
                         _("The class changes nothing: what has runs shows its own spread, or "
                           "borrows it from the study, and what has none stays open."));
        return;
    }
    figure_row(_("computing"), &by->with->total.computing, style, out);
    figure_row(_("reserved (paid)"), &by->with->total.reserved, style, out);
    figure_row(_("calendar"), &by->with->total.calendar, style, out);
    for (size_t i = 0; i < by->part_count; i++)
        part_line(&by->parts[i], style, out);
    strbuf_printf(&rests,
                  has_retries(by)
                      ? _("As conditions of this class varied and failed elsewhere (%s), "
                          "made wider, since yours is none of them. Nothing here shows "
                          "that yours does: it is for orientation, never for booking.")
                      : _("As conditions of this class varied elsewhere (%s), made "
                          "wider, since yours is none of them. Nothing here shows that "
                          "yours does: it is for orientation, never for booking."),
                  by->sources);
    layout_paragraph(out, style, strbuf_str(&rests));
}

json_t *report_by_class_json(const struct estimate *estimate) {
    const struct estimate_class *by = estimate->by_class;
    if (!by)
        return json_null();
    json_t *json = json_object(), *blocks = json_array(), *parts = json_array();
    json_put_text(json, "class", forecast_class_name(by->class));
    json_put(json, "sources", sources_json(by->class));
    json_put(json, "total", study_json_figures(&by->with->total));
    for (size_t i = 0; i < by->with->block_count; i++) {
        const struct estimate_block *block = &by->with->blocks[i];
        json_t *entry = json_object();
        json_put_text(entry, "id", block->block->block->id);
        json_put(entry, "figures", study_json_figures(&block->figures));
        json_array_append_new(blocks, entry);
    }
    json_put(json, "blocks", blocks);
    for (size_t i = 0; i < by->part_count; i++) {
        json_t *entry = json_object();
        json_put_text(entry, "block", by->parts[i].block->id);
        json_put_text(entry, "component", component_name(by->parts[i].component));
        json_put_text(entry, "name", by->parts[i].name);
        run_json_put_quantity(entry, "time", &by->parts[i].time);
        json_array_append_new(parts, entry);
    }
    json_put(json, "parts", parts);
    return json;
}
