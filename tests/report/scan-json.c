/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan-json.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRONG_MOST 3000u /* bytes of what is told */

/* Plain numbers, and why they need no state. */
static const struct {
    const char *key, *why;
} plain[] = {
    {"seed", "a parameter of the method"},
    {"draws", "a parameter of the method"},
    {"planned", "a count, exact or null"},
    {"done", "a count, exact or null"},
    {"valid", "a count, exact"},
    {"uncounted", "a count, exact"},
    {"attempts", "a count, exact"},
    {"failures", "a count, exact"},
    {"remaining", "a count, exact or null"},
    {"blocks", "a count, exact"},
    {"count", "a count, exact"},
    {"total", "a count, exact"},
    {"restarts", "a count, exact"},
    {"runs", "a count, exact"},
    {"conditions", "a count, exact"},
    {"made", "a count, exact"},
    {"left", "a count, exact or null"},
    {"repeated_count", "a count, exact"},
    {"hit", "a count, exact"},
    {"missed", "a count, exact"},
    {"without_interval", "a count, exact"},
    {"units", "a count, exact or null"},
    {"rentals", "a count, exact or null"},
    {"lanes", "a parameter of the plan"},
    {"gpus", "a parameter: what the plan says of a machine, or a session's start"},
    {"reserved_gpus", "a parameter: what the plan says of a machine"},
    {"gpu_memory",
     "a parameter: what the plan says of a machine; the block's capacity has a state"},
    {"host_memory", "the same"},
    {"least", "of the runs whose median is the quantity beside it"},
    {"most", "of the runs whose median is the quantity beside it"},
    {"share", "of the variance of the simulated futures: a property of the draws"},
};

static bool is_plain(const char *key) {
    for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
        if (strcmp(plain[i].key, key) == 0)
            return true;
    return false;
}

bool scan_json_is_money(const char *unit) {
    return strcmp(unit, "EUR") == 0 || strcmp(unit, "NAIRR SU") == 0;
}

struct path { /* from the value up to the document */
    const struct path *above;
    const char *key;
};

static void add_path(const struct path *path, struct strbuf *out) {
    if (!path)
        return;
    add_path(path->above, out);
    strbuf_printf(out, "/%s", path->key);
}

static bool is_below(const struct path *path, const char *key) {
    while (path && strcmp(path->key, key) != 0)
        path = path->above;
    return path != NULL;
}

static void add_wrong(struct scan_json *scan, const struct path *path, const char *what) {
    if (scan->wrong.length > WRONG_MOST)
        return;
    strbuf_add_str(&scan->wrong, "\n  ");
    add_path(path, &scan->wrong);
    strbuf_printf(&scan->wrong, ": %s", what);
}

static int state_rank(const json_t *quantity) {
    static const char *const states[] = {"open", "assumed", "estimated", "measured"};
    const char *state = json_get_text(quantity, "state", "");
    for (int i = 0; i < (int)ARRAY_LENGTH(states); i++)
        if (strcmp(states[i], state) == 0)
            return i;
    return -1;
}

/* ---- sources ---- */

static const struct generated_offer *offer_of_source(const struct generated *g,
                                                     const char *source) {
    const char *line = strrchr(source, ':');
    for (size_t i = 0; i < g->plan->offer_count; i++) {
        const struct plan_offer *offer = &g->plan->offers[i];
        if (strcmp(source, offer->id) == 0 ||
            (line && strncmp(source, g->plan->name, strlen(g->plan->name)) == 0 &&
             strtoul(line + 1, NULL, 10) == offer->at.line))
            return generated_offer(g, offer->id);
    }
    return NULL;
}

/* What has been done in other environments, or is told of all together, and says so. */
const char *const scan_json_past[SCAN_JSON_PAST] = {"spent_elsewhere", "failed_time_elsewhere",
                                                    "unplanned_time", "first_success"};

static bool is_past(const struct path *path) {
    for (size_t i = 0; i < SCAN_JSON_PAST; i++)
        if (is_below(path, scan_json_past[i]))
            return true;
    return false;
}

/* The id of the environment that the run or session was made in; NULL: it is neither. */
static const char *made_in(const struct generated *g, const char *source) {
    for (size_t i = 0; i < g->run_count; i++)
        if (strcmp(g->runs[i]->id, source) == 0)
            return g->plan->environments[g->made_in[i]].id;
    for (size_t i = 0; i < g->sessions.count; i++)
        if (strcmp(g->sessions.items[i].id, source) == 0)
            return g->sessions.items[i].environment;
    return NULL;
}

static void check_sources(struct scan_json *scan, const json_t *json, const struct path *path) {
    const json_t *sources = json_get_array(json, "sources");
    if (!scan->only_here || !scan->environment || !is_below(path, scan->only_here) || is_past(path))
        return;
    for (size_t i = 0; i < json_array_size(sources); i++) {
        const char *source = json_string_value(json_array_get(sources, i));
        const char *where = made_in(scan->generated, source ? source : "");
        if (where && strcmp(where, scan->environment) != 0)
            add_wrong(scan, path, "rests on a run or session of another environment");
        const struct generated_offer *offer =
            offer_of_source(scan->generated, source ? source : "");
        if (offer && strcmp(offer->environment, scan->environment) != 0)
            add_wrong(scan, path, "rests on an offer for another environment");
    }
}

/* ---- quantities and amounts ---- */

static void check_quantity(struct scan_json *scan, const json_t *json, const struct path *path) {
    int rank = state_rank(json);
    const json_t *value = json_object_get(json, "value");
    scan->figures++;
    if (rank < 0)
        add_wrong(scan, path, "a value without a state");
    else if (rank == 0 && (!json_is_null(value) || !json_get_text(json, "reason", NULL)))
        add_wrong(scan, path, "open, and yet a value, or no reason");
    else if (rank > 0 && (!json_is_number(value) || json_get_text(json, "reason", NULL)))
        add_wrong(scan, path, "known, and yet no number, or a reason why not");
    check_sources(scan, json, path);
}

/* What one's own machine costs, and the cap of a validation, rest on what people entered about
 * them, and on no offer. */
static bool is_entered(const struct path *path) {
    return is_below(path, "owning") || is_below(path, "validation");
}

static void check_amount(struct scan_json *scan, const json_t *json, const struct path *path) {
    int rank = state_rank(json);
    bool known = json_is_number(json_object_get(json, "micros"));
    const json_t *sources = json_get_array(json, "sources");
    bool usable = false;
    scan->figures++;
    if (rank < 0)
        add_wrong(scan, path, "an amount without a state");
    if (known != (rank > 0))
        add_wrong(scan, path, "an open amount with a figure, or a known one without");
    if (!known && !json_get_text(json, "reason", NULL))
        add_wrong(scan, path, "an open amount without a reason");
    for (size_t i = 0; i < json_array_size(sources); i++) {
        const char *source = json_string_value(json_array_get(sources, i));
        const struct generated_offer *offer =
            offer_of_source(scan->generated, source ? source : "");
        const char *flaw = offer ? offer->flaw : NULL;
        /* what a session took was paid while the offer still held */
        if (flaw && is_below(path, "sessions") && strcmp(flaw, "expired") == 0)
            flaw = NULL;
        if (flaw)
            add_wrong(scan, path, flaw);
        usable |= offer && !flaw;
    }
    if (known && !is_entered(path) && !usable)
        add_wrong(scan, path, "an amount without an offer that can be used");
    if (known && is_entered(path) && json_array_size(sources) == 0)
        add_wrong(scan, path, "an amount that people entered, without a source");
    check_sources(scan, json, path);
}

/* ---- the walk ---- */

static void walk(struct scan_json *scan, const json_t *json, const char *key,
                 const struct path *path);

/* The parts of a quantity that are numbers are told by its state. */
static bool is_part_of_figure(const char *key) {
    static const char *const keys[] = {"value", "level",  "p05",        "p50",       "p95",
                                       "n",     "micros", "p05_micros", "p95_micros"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void walk_object(struct scan_json *scan, const json_t *json, const struct path *path) {
    const json_t *value = json_object_get(json, "value");
    bool quantity =
        value && (json_is_number(value) || json_is_string(json_object_get(json, "unit")));
    bool amount = json_object_get(json, "micros") && json_object_get(json, "state");
    if (quantity)
        check_quantity(scan, json, path);
    if (amount)
        check_amount(scan, json, path);
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach ((json_t *)(uintptr_t)json, key, member) {
        if (json_is_number(member) && (quantity || amount) && is_part_of_figure(key))
            continue;
        walk(scan, member, key, &(struct path){.above = path, .key = key});
    }
}

static void walk(struct scan_json *scan, const json_t *json, const char *key,
                 const struct path *path) {
    if (json_is_object(json)) {
        walk_object(scan, json, path);
        return;
    }
    for (size_t i = 0; json_is_array(json) && i < json_array_size(json); i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        walk(scan, json_array_get(json, i), key, &(struct path){.above = path, .key = number});
    }
    /* how well the draws tell a figure is told beside the figure */
    if (json_is_number(json) && !is_plain(key) && !is_below(path, "simulation_error"))
        add_wrong(scan, path, "a plain number");
}

void scan_json(struct scan_json *scan, const json_t *json) {
    walk(scan, json, "", NULL);
}

/* ---- totals ---- */

static const char *const figures[] = {"computing", "reserved", "calendar", "effort", "gpu"};

static bool is_lower_bound(const json_t *quantity) {
    return state_rank(quantity) == 0 ||
           strcmp(json_get_text(quantity, "bound", "exact"), "at-least") == 0;
}

/* Something is open: then a figure says that it is not all. */
static void check_bound(const json_t *of, const json_t *open, const char *name,
                        struct strbuf *wrong) {
    bool any = json_array_size(open) == 0;
    for (size_t i = 0; i < ARRAY_LENGTH(figures); i++)
        any |= is_lower_bound(json_object_get(of, figures[i]));
    if (!any)
        strbuf_printf(wrong, "\n  %s: parts are open, and no figure is a lower bound", name);
}

static bool is_listed(const json_t *open, const char *component) {
    for (size_t i = 0; i < json_array_size(open); i++) {
        const char *named = json_get_text(json_array_get(open, i), "component", NULL);
        if (!named || strcmp(named, component) == 0)
            return true;
    }
    return false;
}

static bool is_zero(const json_t *quantity) {
    return !(json_get_real(quantity, "value", 0) > 0);
}

/* An open component is listed; the sum of components is no better known than each that is in it. */
static void check_block(const json_t *block, struct strbuf *wrong) {
    const char *id = json_get_text(block, "id", "?"), *name = NULL;
    const json_t *open = json_get_array(block, "open");
    const json_t *calendar = json_object_get(json_get_object(block, "figures"), "calendar");
    json_t *component = NULL;
    check_bound(json_get_object(block, "figures"), open, id, wrong);
    json_object_foreach (json_get_object(block, "components"), name, component) {
        const json_t *time = json_object_get(component, "time");
        int rank = state_rank(time);
        if (rank == 0 && !is_listed(open, name) &&
            strcmp(json_get_text(time, "reason", ""), "not-applicable") != 0)
            strbuf_printf(wrong, "\n  %s: %s is open and not listed", id, name);
        if (rank > 0 && !is_zero(time) && state_rank(calendar) > rank)
            strbuf_printf(wrong, "\n  %s: calendar is called %s, %s only %s", id,
                          json_get_text(calendar, "state", ""), name,
                          json_get_text(time, "state", ""));
        if (rank > 0 && !is_zero(time) && state_rank(calendar) == 0)
            strbuf_printf(wrong, "\n  %s: %s is known, and calendar open", id, name);
    }
}

void scan_totals(const json_t *estimate, struct strbuf *wrong) {
    const json_t *blocks = json_get_array(estimate, "blocks");
    const json_t *open = json_get_array(estimate, "open");
    const json_t *total = json_get_object(estimate, "total");
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        const json_t *block = json_array_get(blocks, i);
        check_block(block, wrong);
        for (size_t f = 0; f < ARRAY_LENGTH(figures); f++) {
            const json_t *part = json_object_get(json_get_object(block, "figures"), figures[f]);
            const json_t *all = json_object_get(total, figures[f]);
            if (state_rank(part) > 0 && !is_zero(part) && state_rank(all) > state_rank(part))
                strbuf_printf(wrong, "\n  total: %s is called %s, a block's only %s", figures[f],
                              json_get_text(all, "state", ""), json_get_text(part, "state", ""));
        }
    }
    check_bound(total, open, "total", wrong);
}

bool scan_has_setting(const json_t *estimate, const char *list, const char *key) {
    const json_t *settings = json_get_array(estimate, list);
    for (size_t i = 0; i < json_array_size(settings); i++)
        if (strcmp(json_get_text(json_array_get(settings, i), "key", ""), key) == 0)
            return true;
    return false;
}
