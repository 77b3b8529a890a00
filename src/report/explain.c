/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why something failed: class, incidents with the lines and figures that show them, what to check.
 * For a run or for any text. Says only what a rule of text/incident found; an unknown cause stays
 * open.
 */
#include "report/report.h"

#include "base/msg.h"
#include "base/str.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/run-json.h"
#include "report/run-text.h"
#include "report/words.h"
#include "text/incident.h"

#include <string.h>

static bool advice_given_before(const struct report_explain *explain, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (strcmp(explain->items[i].name, explain->items[index].name) == 0)
            return true;
    return false;
}

/* In English: machine output is the same in every language. */
static const char *advice_of(const struct report_explain *explain, size_t index) {
    const struct incident_info *info = incident_info(explain->items[index].name);
    if (!info || !info->advice || advice_given_before(explain, index))
        return NULL;
    return info->advice;
}

static json_t *item_json(const struct report_explain_item *item) {
    static const char *const own[] = {"name", "line", "lines", "text", "survived"};
    json_t *json = json_object();
    json_put_text(json, "name", item->name);
    json_put(json, "line",
             item->line_number > 0 && item->line_number <= INT64_MAX
                 ? json_integer((json_int_t)item->line_number)
                 : json_null());
    json_put_text(json, "text", item->text);
    json_put_bool(json, "survived", item->survived);
    if (item->lines > 0 && item->lines <= INT64_MAX)
        json_put_int(json, "lines", (int64_t)item->lines);
    AUTO_JSON json_t *figures = run_json_copy_object(item->figures);
    for (size_t i = 0; i < ARRAY_LENGTH(own); i++)
        json_object_del(figures, own[i]); /* a figure never replaces one of these */
    json_object_update(json, figures);
    return json;
}

static const char *const start_advice = N_(
    "check that the name is right and in PATH, that the file may be executed (chmod +x), and that "
    "its first line names an interpreter that exists (#!/usr/bin/env python3)");

static bool start_failed(const struct report_explain *explain) {
    return explain->has_outcome && explain->outcome == OUTCOME_START_FAILED;
}

/* Where no rule knows the cause the last lines are the best witness: of a run that failed, and of a
 * text that says nothing. */
static size_t tail_count(const struct report_explain *explain) {
    bool is_text = !explain->run && !explain->has_outcome;
    bool unknown = is_text || (explain->has_outcome && explain->outcome == OUTCOME_FAILED);
    for (size_t i = 0; i < explain->count && unknown; i++)
        unknown = explain->items[i].survived;
    return unknown ? explain->tail_count : 0;
}

json_t *report_explain_json(const struct report_explain *explain) {
    json_t *incidents = json_array(), *advice = json_array();
    for (size_t i = 0; i < explain->count; i++) {
        json_array_append_new(incidents, item_json(&explain->items[i]));
        const char *text = advice_of(explain, i);
        if (text)
            json_array_append_new(advice, json_text(text));
    }
    if (start_failed(explain))
        json_array_append_new(advice, json_text(start_advice));
    json_t *tail = json_array();
    for (size_t i = 0; i < tail_count(explain); i++)
        json_array_append_new(tail, json_text(explain->tail[i]));
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.explain/1");
    json_put_text(json, "run", explain->run);
    json_put_text(json, "class", explain->has_outcome ? outcome_name(explain->outcome) : NULL);
    json_put(json, "incidents", incidents);
    json_put(json, "advice", advice);
    json_put(json, "tail", tail);
    return json;
}

/* "requested 2 GiB, free 512 MiB": the unit in a name goes with the value; "at 2.0 s". */
static void add_figures(struct strbuf *out, json_t *figures) {
    static const char bytes[] = "_bytes", seconds[] = "_s";
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (figures, key, value) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        size_t length = strlen(key);
        if (strcmp(key, "t_ns") == 0 && json_is_integer(value)) {
            quantity_format_value(json_number_value(value) / 1e9, UNIT_SECOND, &text);
            strbuf_add_str(out, out->length > 0 ? ", " : "");
            strbuf_printf(out, _("at %s"), strbuf_str(&text));
            continue;
        }
        if (json_is_string(value)) {
            strbuf_add_str(&text, json_string_value(value));
        } else if (str_ends_with(key, bytes) && json_is_number(value)) {
            quantity_format_value(json_number_value(value), UNIT_BYTE, &text);
            length -= strlen(bytes);
        } else if (str_ends_with(key, seconds) && json_is_number(value)) {
            quantity_format_value(json_number_value(value), UNIT_SECOND, &text);
            length -= strlen(seconds);
        } else if (json_is_number(value)) {
            json_add_compact(&text, value);
        } else {
            continue;
        }
        strbuf_add_str(out, out->length > 0 ? ", " : "");
        for (size_t i = 0; i < length; i++)
            strbuf_add_char(out, key[i] == '_' ? ' ' : key[i]);
        strbuf_printf(out, " %s", strbuf_str(&text));
    }
}

static void item_text(const struct report_explain *explain, size_t index, struct report_style style,
                      struct strbuf *out) {
    const struct report_explain_item *item = &explain->items[index];
    const struct incident_info *info = incident_info(item->name);
    AUTO_STRBUF struct strbuf name = STRBUF_INIT;
    layout_add_plain(&name, item->name, style.ascii);
    layout_heading(out, style, strbuf_str(&name));
    if (info && info->meaning)
        layout_paragraph(out, style, msg_get(info->meaning));
    AUTO_STRBUF struct strbuf place = STRBUF_INIT;
    if (item->line_number > 0)
        strbuf_printf(&place, _("line %llu"), (unsigned long long)item->line_number);
    else
        strbuf_add_str(&place, _("shown by"));
    run_text_row(out, style, strbuf_str(&place), item->text);
    AUTO_STRBUF struct strbuf figures = STRBUF_INIT;
    add_figures(&figures, item->figures);
    run_text_row(out, style, _("figures"), strbuf_str(&figures));
    if (item->lines > 1) {
        AUTO_STRBUF struct strbuf lines = STRBUF_INIT;
        strbuf_printf(&lines, "%llu", (unsigned long long)item->lines);
        run_text_row(out, style, _("lines about it"), strbuf_str(&lines));
    }
    if (item->survived)
        run_text_row(out, style, _("survived"), _("yes: it alone did not end the run"));
    const char *advice = advice_of(explain, index);
    run_text_row(out, style, _("what to do"), advice ? msg_get(advice) : NULL);
}

/* What is said where there is no incident; NULL: nothing is left to say. */
static const char *without_incident(const struct report_explain *explain) {
    if (explain->count > 0)
        return NULL;
    if (explain->is_empty)
        return _("the text is empty");
    if (explain->is_unfinished)
        return _("there is nothing to explain: no end was seen");
    if (explain->meaning)
        return explain->meaning;
    const char *meaning = explain->has_outcome ? facts_outcome_meaning(explain->outcome) : NULL;
    if (meaning)
        return meaning;
    if (explain->has_outcome && explain->outcome == OUTCOME_OK)
        return _("it did not fail");
    return tail_count(explain) > 0 ? _("no line that a rule knows; the last lines of the output "
                                       "are the best witness")
                                   : _("no line that a rule knows");
}

void report_explain_text(const struct report_explain *explain, struct report_style style,
                         struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (explain->ending)
        layout_add_plain(&text, explain->ending, style.ascii);
    if (explain->is_unfinished) { /* a class would name an end that there was not */
        strbuf_printf(out, "%s", strbuf_str(&text));
    } else {
        strbuf_add_str(out, _("class: "));
        layout_add_colored(
            out, style,
            explain->has_outcome ? run_text_outcome_color(explain->outcome) : LAYOUT_PLAIN,
            explain->has_outcome ? words_shown(outcome_name(explain->outcome)) : _("open"));
        if (text.length > 0)
            strbuf_printf(out, " (%s)", strbuf_str(&text));
    }
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < explain->count; i++)
        item_text(explain, i, style, out);
    const char *meaning = without_incident(explain);
    if (meaning)
        layout_paragraph(out, style, meaning);
    if (start_failed(explain))
        run_text_row(out, style, _("what to do"), msg_get(start_advice));
    if (tail_count(explain) > 0)
        layout_heading(out, style, _("Last output"));
    for (size_t i = 0; i < tail_count(explain); i++) {
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;
        layout_add_plain(&line, explain->tail[i], style.ascii);
        strbuf_printf(out, "  %s\n", strbuf_str(&line)); /* as it was, to be compared and copied */
    }
}

/* The items of a run's incidents; caller frees. */
static struct report_explain_item *items_of(const struct run *run) {
    struct report_explain_item *items = mem_realloc(NULL, run->incident_count + 1, sizeof(*items));
    for (size_t i = 0; i < run->incident_count; i++) {
        const struct run_incident *incident = &run->incidents[i];
        items[i] = (struct report_explain_item){.name = incident->name ? incident->name : "?",
                                                .text = incident->line,
                                                .figures = incident->figures,
                                                .survived = incident->survived};
    }
    return items;
}

static struct report_explain explain_of(const struct run *run,
                                        const struct report_explain_item *items) {
    return (struct report_explain){.run = run->id,
                                   .has_outcome = true,
                                   .outcome = run->outcome,
                                   .items = items,
                                   .count = run->incident_count,
                                   .tail = run->tail,
                                   .tail_count = run->tail_count};
}

json_t *report_run_explain_json(const struct run *run) {
    AUTO_FREE struct report_explain_item *items = items_of(run);
    struct report_explain explain = explain_of(run, items);
    return report_explain_json(&explain);
}

void report_run_explain_text(const struct run *run, struct report_style style, struct strbuf *out) {
    AUTO_FREE struct report_explain_item *items = items_of(run);
    AUTO_STRBUF struct strbuf ending = STRBUF_INIT;
    facts_ending(run, &ending);
    const char *start_error = json_get_text(run->end, "start_error", NULL);
    if (start_error)
        strbuf_printf(&ending, "; %s", start_error);
    struct report_explain explain = explain_of(run, items);
    explain.ending = strbuf_str(&ending);
    explain.is_unfinished = facts_goes_on(run);
    explain.meaning = facts_is_attached(run) && run->outcome == OUTCOME_ENDED
                          ? _("how a process ends that ran before is told to its parent alone")
                          : facts_run_meaning(run);
    report_explain_text(&explain, style, out);
}
