/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs as CSV, header first, one line per run. Each quantity has two columns: the value in base
 * units, empty where it is open, and its state ("measured", "measured at-least", "open
 * not-separated").
 */
#include "report/report.h"

#include "report/csv-cells.h"
#include "report/facts.h"
#include "report/measures.h"

#include <stdlib.h>
#include <string.h>

/* Names that only some runs have (conditions, results): the union over all runs, sorted. */
struct names {
    const char **items; /* borrowed texts */
    size_t count, capacity;
};

static void names_add(struct names *names, const char *name) {
    if (names->count == names->capacity) {
        names->capacity = names->capacity ? names->capacity * 2 : 16;
        names->items = mem_realloc(names->items, names->capacity, sizeof(*names->items));
    }
    names->items[names->count++] = name;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void names_sort_unique(struct names *names) {
    if (names->count == 0)
        return;
    qsort(names->items, names->count, sizeof(*names->items), compare_names);
    size_t kept = 1;
    for (size_t i = 1; i < names->count; i++)
        if (strcmp(names->items[i], names->items[kept - 1]) != 0)
            names->items[kept++] = names->items[i];
    names->count = kept;
}

static void add_quantity(struct strbuf *out, const struct quantity *q) {
    csv_add_number(out, quantity_is_known(q), q->value);
    strbuf_add_str(out, quantity_state_name(q->state));
    if (!quantity_is_known(q))
        strbuf_printf(out, " %s",
                      quantity_reason_name(q->reason == QUANTITY_NO_REASON ? QUANTITY_NOT_SAMPLED
                                                                           : q->reason));
    else if (q->bound != QUANTITY_EXACT)
        strbuf_printf(out, " %s", quantity_bound_name(q->bound));
    csv_end_cell(out);
}

static const char *const plain_columns[] = {
    "run",       "part",   "study",    "started_utc", "ended_utc", "outcome",
    "exit_code", "signal", "validity", "verified",    "purpose",   "attempt",
    "retry_of",  "block",  "step",     "command",     "note",      "disposition",
    "host",      "commit", "dirty",    "fingerprint",
};

static void add_header(struct strbuf *out, const struct names *conditions,
                       const struct names *results) {
    for (size_t i = 0; i < ARRAY_LENGTH(plain_columns); i++)
        csv_add_text(out, plain_columns[i]);
    for (size_t i = 0; i < conditions->count; i++) {
        AUTO_FREE char *title = mem_printf("condition.%s", conditions->items[i]);
        csv_add_text(out, title);
    }
    for (size_t i = 0; i < measures_count(); i++) {
        AUTO_FREE char *state = mem_printf("%s.state", measures_at(i)->name);
        csv_add_text(out, measures_at(i)->name);
        csv_add_text(out, state);
    }
    for (size_t i = 0; i < results->count; i++) {
        AUTO_FREE char *title = mem_printf("result.%s", results->items[i]);
        AUTO_FREE char *state = mem_printf("result.%s.state", results->items[i]);
        AUTO_FREE char *unit = mem_printf("result.%s.unit", results->items[i]);
        csv_add_text(out, title);
        csv_add_text(out, state);
        csv_add_text(out, unit);
    }
    csv_end_line(out);
}

static void add_plain(struct strbuf *out, const struct run *run) {
    const json_t *start = run->start, *code = json_get_object(run->environment, "code");
    const json_t *dirty = json_object_get(code, "dirty");
    AUTO_STRBUF struct strbuf command = STRBUF_INIT;
    facts_command_line(run, &command);
    csv_add_text(out, run->id);
    csv_add_text(out, run->part);
    csv_add_text(out, run->study);
    csv_add_utc(out, run->started_utc_ns);
    csv_add_utc(out, run->ended_utc_ns);
    csv_add_text(out, outcome_name(run->outcome));
    csv_add_integer(out, run->has_exit_code, run->exit_code);
    csv_add_integer(out, run->signal > 0, run->signal);
    csv_add_text(out, facts_validity_name(run->validity));
    csv_add_text(out, run->verified ? run->verified : "not-checked");
    csv_add_text(out, json_get_text(start, "purpose", NULL));
    int64_t attempt = json_get_int(start, "attempt", 0);
    csv_add_integer(out, attempt > 0, (long long)attempt);
    csv_add_text(out, json_get_text(start, "retry_of", NULL));
    csv_add_text(out, json_get_text(start, "block", NULL));
    csv_add_text(out, json_get_text(start, "step", NULL));
    csv_add_text(out, strbuf_str(&command));
    csv_add_text(out, run->note ? run->note : json_get_text(start, "note", NULL));
    csv_add_text(out, run->disposition);
    csv_add_text(out, json_get_text(start, "host", NULL));
    csv_add_text(out, json_get_text(code, "commit", NULL));
    csv_add_text(out, json_is_true(dirty) ? "yes" : json_is_false(dirty) ? "no" : NULL);
    csv_add_text(out, json_get_text(run->environment, "fingerprint", NULL));
}

static void add_result(struct strbuf *out, const struct run *run, const char *name) {
    for (size_t i = run->result_count; i-- > 0;) { /* the later one of a name holds */
        const struct run_result *result = &run->results[i];
        if (!result->name || strcmp(result->name, name) != 0)
            continue;
        add_quantity(out, &result->quantity);
        csv_add_text(out, result->quantity.unit);
        return;
    }
    struct quantity none = quantity_open(NULL, QUANTITY_NOT_IN_RECORD, NULL);
    add_quantity(out, &none);
    csv_end_cell(out);
}

static void add_line(struct strbuf *out, const struct run *run, const struct names *conditions,
                     const struct names *results) {
    const json_t *condition = json_get_object(run->start, "condition");
    add_plain(out, run);
    for (size_t i = 0; i < conditions->count; i++)
        csv_add_text(out, json_get_text(condition, conditions->items[i], NULL));
    for (size_t i = 0; i < measures_count(); i++) {
        struct quantity q = measures_get(run, i);
        add_quantity(out, &q);
    }
    for (size_t i = 0; i < results->count; i++)
        add_result(out, run, results->items[i]);
    csv_end_line(out);
}

void report_run_csv(const struct run *const *runs, size_t count, struct strbuf *out) {
    struct names conditions = {0}, results = {0};
    for (size_t i = 0; i < count; i++) {
        const char *key = NULL;
        json_t *value = NULL;
        json_object_foreach (json_get_object(runs[i]->start, "condition"), key, value)
            if (json_is_string(value))
                names_add(&conditions, key);
        for (size_t j = 0; j < runs[i]->result_count; j++)
            if (runs[i]->results[j].name)
                names_add(&results, runs[i]->results[j].name);
    }
    names_sort_unique(&conditions);
    names_sort_unique(&results);
    add_header(out, &conditions, &results);
    for (size_t i = 0; i < count; i++)
        add_line(out, runs[i], &conditions, &results);
    mem_free_ptr(&conditions.items);
    mem_free_ptr(&results.items);
}
