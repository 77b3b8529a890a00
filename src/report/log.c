/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of runs from the ledger's index: a table for people, schema probelauf.log/1 for machines.
 * Events are not runs. */
#include "report/report.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/uuid.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/run-json.h"
#include "report/run-text.h"
#include "report/words.h"

#include <string.h>

static bool is_run(const struct store_entry *entry) {
    return !entry->type || strcmp(entry->type, "run") == 0;
}

struct quantity report_entry_wall(const struct store_entry *entry) {
    const char *outcome = entry->outcome ? entry->outcome : "";
    if (!entry->has_wall) {
        if (strcmp(outcome, outcome_name(OUTCOME_RUNNING)) == 0)
            return quantity_open(UNIT_SECOND, QUANTITY_RUNNING, NULL);
        if (strcmp(outcome, outcome_name(OUTCOME_LOST)) == 0)
            return quantity_open(UNIT_SECOND, QUANTITY_MONITOR_LOST, NULL);
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_IN_RECORD, NULL);
    }
    const char *bound = entry->wall_bound ? entry->wall_bound : "";
    bool at_least = strcmp(bound, quantity_bound_name(QUANTITY_AT_LEAST)) == 0;
    return quantity_bounded(UNIT_SECOND, entry->wall_s,
                            at_least ? QUANTITY_AT_LEAST : QUANTITY_EXACT, "CLOCK_MONOTONIC");
}

static json_t *entry_json(const struct store_entry *entry) {
    struct quantity wall = report_entry_wall(entry);
    json_t *json = json_object();
    json_put_text(json, "run", entry->run);
    json_put_text(json, "part", entry->part);
    json_put_text(json, "study", entry->study);
    run_json_put_utc(json, "started_utc", entry->started_utc_ns);
    run_json_put_utc(json, "ended_utc", entry->ended_utc_ns);
    json_put_text(json, "outcome", entry->outcome);
    json_put_text(json, "purpose", entry->purpose);
    json_put_text(json, "command", entry->command);
    run_json_put_quantity(json, "wall", &wall);
    return json;
}

json_t *report_log_json(const struct store_entry *entries, size_t count, const char *next) {
    json_t *runs = json_array();
    for (size_t i = 0; i < count; i++)
        if (is_run(&entries[i]))
            json_array_append_new(runs, entry_json(&entries[i]));
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.log/1");
    json_put(json, "runs", runs);
    json_put_text(json, "next", next);
    return json;
}

static enum layout_color outcome_color(const char *name) {
    enum outcome_class outcome = OUTCOME_RUNNING;
    if (!name || !outcome_from_name(name, &outcome))
        return LAYOUT_PLAIN;
    return run_text_outcome_color(outcome);
}

/* "2026-11-30 12:34" */
static void add_minute(struct strbuf *out, int64_t utc_ns) {
    AUTO_STRBUF struct strbuf date = STRBUF_INIT;
    run_text_add_date(&date, utc_ns);
    strbuf_add(out, strbuf_str(&date), date.length > 3 ? date.length - 3 : 0);
}

void report_log_text(const struct store_entry *entries, size_t count, struct report_style style,
                     struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("run")},
        {.title = _("started, UTC"), .optional = 60},
        {.title = _("outcome")},
        {.title = _("wall"), .right = true},
        {.title = _("purpose"), .optional = 100},
        {.title = _("command"), .elastic = 6},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        const struct store_entry *entry = &entries[i];
        if (!is_run(entry))
            continue;
        AUTO_STRBUF struct strbuf when = STRBUF_INIT;
        AUTO_STRBUF struct strbuf wall = STRBUF_INIT;
        struct quantity q = report_entry_wall(entry);
        if (entry->started_utc_ns != 0)
            add_minute(&when, entry->started_utc_ns);
        if (quantity_is_known(&q))
            layout_add_quantity(&wall, &q, style.ascii, true);
        else /* the outcome beside it says why */
            strbuf_add_str(&wall, _("open"));
        layout_table_cell(table, style.verbose ? entry->run : uuid_tail(entry->run), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&when), LAYOUT_PLAIN);
        layout_table_cell(table, entry->outcome ? words_shown(entry->outcome) : _("open"),
                          outcome_color(entry->outcome));
        layout_table_cell(table, strbuf_str(&wall), LAYOUT_PLAIN);
        layout_table_cell(table, entry->purpose ? words_shown(entry->purpose) : NULL, LAYOUT_PLAIN);
        layout_table_cell(table, entry->command, LAYOUT_PLAIN);
        rows++;
    }
    if (rows == 0)
        layout_paragraph(out, style, _("no run is recorded here yet (`probelauf run -- COMMAND`)"));
    else
        layout_table_print(table, 0, out);
}
