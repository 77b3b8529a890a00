/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two runs side by side: figures with their states, and everything in which the runs differ.
 * Figures recorded by different methods are shown and flagged, never subtracted (B11); nor are two
 * bounds, whose difference has none.
 */
#include "report/report.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "report/differences.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/measures.h"
#include "report/run-json.h"
#include "report/run-text.h"
#include "report/words.h"

#include <math.h>
#include <string.h>

#define WITH_REASONS 100 /* columns that a page needs for the reasons of open figures */

/* Why two figures do not compare, or what to mind where they do. */
enum flag {
    FLAG_NONE = 0,
    FLAG_ONE_OPEN,
    FLAG_UNITS,
    FLAG_METHODS,
    FLAG_BOUNDS,
    FLAG_STATES,
    FLAG_COUNT_
};

static const struct {
    const char *id, *text; /* for machines; for people, look up with msg_get */
} flags[FLAG_COUNT_] = {
    [FLAG_NONE] = {NULL, ""},
    [FLAG_ONE_OPEN] = {"one-open", ""} /* plain to see */,
    [FLAG_UNITS] = {"different-units", N_("different units")},
    [FLAG_METHODS] = {"different-methods", N_("different methods")},
    [FLAG_BOUNDS] = {"both-bounds", N_("both are bounds")},
    [FLAG_STATES] = {"different-states", N_("different states")},
};

struct comparison {
    const char *name, *label; /* name for machines, label for people (a result has one for both) */
    struct quantity a, b, difference;
    enum flag flag;
};

static bool same_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static const char *unit_of(const struct quantity *q) {
    return q->unit ? q->unit : UNIT_RATIO;
}

/* Why two known quantities must not be subtracted, if they must not. */
static enum flag obstacle(const struct quantity *a, const struct quantity *b) {
    if (!same_text(unit_of(a), unit_of(b)))
        return FLAG_UNITS;
    if (!same_text(a->method, b->method))
        return FLAG_METHODS;
    if (a->bound != QUANTITY_EXACT && b->bound != QUANTITY_EXACT)
        return FLAG_BOUNDS;
    return FLAG_NONE;
}

/* b - a. An exact value less a lower bound is an upper bound, and the other way round. */
static struct quantity subtract(const struct quantity *a, const struct quantity *b) {
    struct quantity difference = quantity_measured(unit_of(b), b->value - a->value, "b - a");
    difference.state = a->state < b->state ? a->state : b->state;
    if (b->bound != QUANTITY_EXACT)
        difference.bound = b->bound;
    else if (a->bound != QUANTITY_EXACT)
        difference.bound = a->bound == QUANTITY_AT_LEAST ? QUANTITY_AT_MOST : QUANTITY_AT_LEAST;
    return difference;
}

static struct comparison compare_values(const char *name, const char *label,
                                        const struct quantity *a, const struct quantity *b) {
    struct comparison c = {.name = name, .label = label, .a = *a, .b = *b};
    if (!quantity_is_known(a) || !quantity_is_known(b)) {
        const struct quantity *open = quantity_is_known(a) ? b : a;
        c.difference = quantity_open(unit_of(open), open->reason, NULL);
        if (quantity_is_known(a) || quantity_is_known(b))
            c.flag = FLAG_ONE_OPEN;
        return c;
    }
    c.flag = obstacle(a, b);
    c.difference =
        c.flag ? quantity_open(unit_of(b), QUANTITY_NOT_APPLICABLE, NULL) : subtract(a, b);
    if (!c.flag && a->state != b->state)
        c.flag = FLAG_STATES;
    return c;
}

static const struct quantity *find_result(const struct run *run, const char *name) {
    for (size_t i = run->result_count; i-- > 0;)
        if (run->results[i].name && strcmp(run->results[i].name, name) == 0)
            return &run->results[i].quantity;
    return NULL;
}

static bool result_seen_before(const struct run *run, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (run->results[i].name && same_text(run->results[i].name, run->results[index].name))
            return true;
    return false;
}

struct comparisons {
    struct comparison *items;
    size_t count;
};

static void compare_results(const struct run *from, const struct run *a, const struct run *b,
                            struct comparisons *list) {
    struct quantity none = quantity_open(NULL, QUANTITY_NOT_IN_RECORD, NULL);
    for (size_t i = 0; i < from->result_count; i++) {
        const char *name = from->results[i].name;
        if (!name || result_seen_before(from, i) || (from == b && find_result(a, name)))
            continue;
        const struct quantity *qa = find_result(a, name), *qb = find_result(b, name);
        list->items[list->count++] = compare_values(name, NULL, qa ? qa : &none, qb ? qb : &none);
    }
}

/* All figures of both runs; measures_count() of them come first. Caller frees items. */
static struct comparisons compare_all(const struct run *a, const struct run *b) {
    struct comparisons list = {0};
    list.items = mem_realloc(NULL, measures_count() + a->result_count + b->result_count,
                             sizeof(*list.items));
    for (size_t i = 0; i < measures_count(); i++) {
        struct quantity qa = measures_get(a, i), qb = measures_get(b, i);
        const struct measure *measure = measures_at(i);
        list.items[list.count++] = compare_values(measure->name, msg_get(measure->label), &qa, &qb);
    }
    compare_results(a, a, b, &list);
    compare_results(b, a, b, &list);
    return list;
}

/* ---- JSON ---- */

static json_t *side_json(const struct run *run) {
    json_t *json = json_object();
    json_put_text(json, "run", run->id);
    json_put_text(json, "part", run->part);
    run_json_put_utc(json, "started_utc", run->started_utc_ns);
    json_put_text(json, "outcome", outcome_name(run->outcome));
    json_put_text(json, "validity", facts_validity_name(run->validity));
    json_put(json, "purpose", run_json_plain_text(run->start, "purpose"));
    return json;
}

static json_t *comparison_json(const struct comparison *c, bool result) {
    json_t *json = json_object();
    AUTO_FREE char *name = mem_printf("%s%s", result ? "result." : "", c->name);
    json_put_text(json, "name", name);
    run_json_put_quantity(json, "a", &c->a);
    run_json_put_quantity(json, "b", &c->b);
    run_json_put_quantity(json, "difference", &c->difference);
    json_put_bool(json, "comparable", quantity_is_known(&c->difference));
    json_put_text(json, "flag", flags[c->flag].id);
    return json;
}

static json_t *difference_json(const struct difference *difference) {
    json_t *json = json_object();
    json_put_text(json, "what", difference->what);
    json_put_text(json, "a", difference->a);
    json_put_text(json, "b", difference->b);
    return json;
}

json_t *report_compare_json(const struct run *a, const struct run *b) {
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.compare/1");
    json_put(json, "a", side_json(a));
    json_put(json, "b", side_json(b));
    struct comparisons list = compare_all(a, b);
    json_t *values = json_array();
    for (size_t i = 0; i < list.count; i++)
        json_array_append_new(values, comparison_json(&list.items[i], i >= measures_count()));
    json_put(json, "values", values);
    mem_free_ptr(&list.items);
    AUTO_ARENA struct arena *arena = arena_new();
    struct difference *differences = NULL;
    size_t count = differences_collect(a, b, arena, &differences);
    json_t *found = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(found, difference_json(&differences[i]));
    json_put(json, "differences", found);
    return json;
}

/* ---- text ---- */

/* Two figures that are shown alike: what lies between them is below what is shown of them. */
static bool looks_equal(const struct comparison *c) {
    AUTO_STRBUF struct strbuf a = STRBUF_INIT;
    AUTO_STRBUF struct strbuf b = STRBUF_INIT;
    quantity_format_value(c->a.value, c->a.unit, &a);
    quantity_format_value(c->b.value, c->b.unit, &b);
    return strcmp(strbuf_str(&a), strbuf_str(&b)) == 0;
}

static void add_difference(struct strbuf *out, struct report_style style,
                           const struct comparison *c) {
    if (!quantity_is_known(&c->difference)) {
        if (*flags[c->flag].text)
            strbuf_add_str(out, msg_get(flags[c->flag].text));
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct quantity size = c->difference;
    size.value = fabs(size.value);
    if (size.bound == QUANTITY_EXACT && !(size.value > 0.0) && !c->flag) {
        strbuf_add_str(out, _("equal"));
        return;
    }
    if (c->label && size.bound == QUANTITY_EXACT && !c->flag && looks_equal(c)) {
        strbuf_add_str(out, _("equal as far as shown"));
        return;
    }
    if (size.bound == QUANTITY_AT_LEAST)
        strbuf_add_str(&text, style.ascii ? _("at least ") : "≥ ");
    else if (size.bound == QUANTITY_AT_MOST)
        strbuf_add_str(&text, style.ascii ? _("at most ") : "≤ ");
    if (size.value > 0.0)
        strbuf_add_char(&text, c->difference.value < 0.0 ? '-' : '+');
    quantity_format_value(size.value, size.unit, &text);
    double percent = c->a.value > 0.0 ? c->difference.value / c->a.value * 100.0 : 0.0;
    char share[MSG_DECIMAL_SIZE];
    if (fabs(percent) >= 0.05 && size.bound == QUANTITY_EXACT)
        strbuf_printf(&text, " (%s %%)", msg_decimal(share, "%+.1f", percent));
    if (c->flag)
        strbuf_printf(&text, "; %s", msg_get(flags[c->flag].text));
    layout_add_plain(out, strbuf_str(&text), style.ascii);
}

static bool says_something(const struct comparison *c, const struct quantity *q) {
    /* that a phase took no time says little */
    return quantity_is_known(q) && (q->value > 0.0 || !str_starts_with(c->name, "phase."));
}

static bool worth_a_row(const struct comparison *c, bool result, struct report_style style) {
    bool main_figure = strcmp(c->name, "wall") == 0 || strcmp(c->name, "phase.load") == 0 ||
                       strcmp(c->name, "phase.compute") == 0;
    return result || main_figure || style.verbose || says_something(c, &c->a) ||
           says_something(c, &c->b);
}

static void value_cell(struct layout_table *table, const struct quantity *q, bool result,
                       struct report_style style) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (!quantity_is_known(q) && layout_columns(style) < WITH_REASONS)
        strbuf_printf(&text, "[?] %s", _("open")); /* `show` says why */
    else if (result)
        run_text_add_result(&text, q, style.ascii, true);
    else
        layout_add_quantity(&text, q, style.ascii, true);
    layout_table_cell(table, strbuf_str(&text), layout_state_color(q->state));
}

static void values_text(const struct run *a, const struct run *b, struct report_style style,
                        struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = ""},
        {.title = "a"},
        {.title = "b"},
        {.title = _("b - a"), .elastic = 12, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    struct comparisons list = compare_all(a, b);
    for (size_t i = 0; i < list.count; i++) {
        const struct comparison *c = &list.items[i];
        if (!worth_a_row(c, i >= measures_count(), style))
            continue;
        AUTO_STRBUF struct strbuf difference = STRBUF_INIT;
        add_difference(&difference, style, c);
        layout_table_cell(table, c->label ? c->label : c->name, LAYOUT_PLAIN);
        value_cell(table, &c->a, !c->label, style);
        value_cell(table, &c->b, !c->label, style);
        layout_table_cell(table, strbuf_str(&difference), LAYOUT_PLAIN);
    }
    layout_table_print(table, 2, out);
    mem_free_ptr(&list.items);
}

static void side_text(const char *name, const struct run *run, struct report_style style,
                      struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "%s  %s", uuid_tail(run->id), words_shown(outcome_name(run->outcome)));
    if (run->validity == RUN_INVALID)
        strbuf_printf(&text, " (%s)", _("declared invalid"));
    if (run->started_utc_ns != 0) {
        strbuf_add_str(&text, "  ");
        run_text_add_date(&text, run->started_utc_ns);
        strbuf_add_str(&text, " UTC");
    }
    AUTO_STRBUF struct strbuf command = STRBUF_INIT;
    facts_command_line(run, &command);
    strbuf_printf(&text, "  %s", strbuf_str(&command));
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_colored(out, style, LAYOUT_BOLD, name);
    strbuf_add_str(out, "  ");
    layout_cut(&plain, strbuf_str(&text), layout_columns(style) - 3, style.ascii);
    strbuf_printf(out, "%s\n", strbuf_str(&plain));
}

static void differences_text(const struct run *a, const struct run *b, struct report_style style,
                             struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct difference *differences = NULL;
    size_t count = differences_collect(a, b, arena, &differences);
    layout_heading(out, style, _("What differs between the runs"));
    if (count == 0)
        layout_paragraph(out, style, _("nothing that the records show"));
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        layout_add_plain(&text, differences[i].a ? differences[i].a : _("not in the record"),
                         style.ascii);
        strbuf_add_str(&text, style.ascii ? " -> " : " → ");
        layout_add_plain(&text, differences[i].b ? differences[i].b : _("not in the record"),
                         style.ascii);
        AUTO_STRBUF struct strbuf what = STRBUF_INIT;
        layout_add_plain(&what, differences[i].what, style.ascii);
        layout_row(out, style, strbuf_str(&what), strbuf_str(&text), LAYOUT_PLAIN, NULL);
    }
}

void report_compare_text(const struct run *a, const struct run *b, struct report_style style,
                         struct strbuf *out) {
    side_text("a", a, style, out);
    side_text("b", b, style, out);
    strbuf_add_char(out, '\n');
    values_text(a, b, style, out);
    differences_text(a, b, style, out);
    layout_legend(out, style);
}
