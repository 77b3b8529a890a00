/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two estimates as JSON documents, one of them perhaps frozen long ago: which figures changed, from
 * what to what, and why as far as their snapshots, settings and sources tell. Never trusts the
 * documents: what is of another type than schema/estimate.schema.json says is absent. Names no
 * cause that the documents do not show.
 */
#include "report/study.h"

#include "base/msg.h"
#include "model/quantity-read.h"
#include "report/layout.h"
#include "report/study-words.h"

#include <math.h>
#include <string.h>

#define CHANGED_SHOWN 40u

/* ---- what differs in their origins ---- */

static void add_reason(json_t *reasons, const char *what, const char *key, const char *before,
                       const char *after) {
    json_t *json = json_object();
    json_put_text(json, "what", what);
    json_put_text(json, "key", key);
    json_put_text(json, "before", before);
    json_put_text(json, "after", after);
    json_array_append_new(reasons, json);
}

static bool is_same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void compare_snapshots(const json_t *before, const json_t *after, json_t *reasons) {
    static const struct {
        const char *key, *what;
    } parts[] = {{"plan_digest", "plan"},
                 {"code_digest", "code"},
                 {"environment", "environment"},
                 {"method", "method"},
                 {"seed", "seed"}};
    const json_t *a = json_get_object(before, "snapshot"), *b = json_get_object(after, "snapshot");
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        const char *was = json_get_text(a, parts[i].key, NULL);
        const char *is = json_get_text(b, parts[i].key, NULL);
        if (!is_same(was, is))
            add_reason(reasons, parts[i].what, NULL, was, is);
    }
    int64_t was = json_get_int(a, "draws", 0), is = json_get_int(b, "draws", 0);
    if (was != is) {
        AUTO_FREE char *was_text = mem_printf("%lld", (long long)was);
        AUTO_FREE char *is_text = mem_printf("%lld", (long long)is);
        add_reason(reasons, "draws", NULL, was_text, is_text);
    }
}

static bool has_text(const json_t *list, const char *text) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (is_same(json_string_value(json_array_get(list, i)), text))
            return true;
    return false;
}

/* Texts in `list` that are not in `others`. */
static size_t count_missing(const json_t *list, const json_t *others) {
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        count += text && !has_text(others, text);
    }
    return count;
}

static void compare_runs(const json_t *before, const json_t *after, json_t *reasons) {
    const json_t *a = json_get_array(json_get_object(before, "snapshot"), "runs");
    const json_t *b = json_get_array(json_get_object(after, "snapshot"), "runs");
    size_t gone = count_missing(a, b), added = count_missing(b, a);
    if (gone == 0 && added == 0)
        return;
    AUTO_FREE char *was = mem_printf("%zu", json_array_size(a));
    AUTO_FREE char *is = mem_printf("%zu", json_array_size(b));
    add_reason(reasons, "runs", NULL, was, is);
}

static const json_t *find_by(const json_t *list, const char *key, const char *value) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *text = json_get_text(entry, key, NULL);
        if (text && is_same(text, value))
            return entry;
    }
    return NULL;
}

static void compare_settings(const json_t *before, const json_t *after, json_t *reasons) {
    const json_t *a = json_get_array(before, "assumed"), *b = json_get_array(after, "assumed");
    for (size_t i = 0; i < json_array_size(a); i++) {
        const char *key = json_get_text(json_array_get(a, i), "key", NULL);
        const char *was = json_get_text(json_array_get(a, i), "value", NULL);
        const json_t *other = key ? find_by(b, "key", key) : NULL;
        const char *is = json_get_text(other, "value", NULL);
        if (key && !is_same(was, is))
            add_reason(reasons, "setting", key, was, is);
    }
    for (size_t i = 0; i < json_array_size(b); i++) {
        const char *key = json_get_text(json_array_get(b, i), "key", NULL);
        if (key && !find_by(a, "key", key))
            add_reason(reasons, "setting", key, NULL,
                       json_get_text(json_array_get(b, i), "value", NULL));
    }
}

/* ---- figures ---- */

/* Which figure: block NULL: of the total; component NULL: one of the five. */
struct figure {
    const char *section, *block, *name;
};

struct comparison {
    const json_t *reasons;
    json_t *changed;
    size_t unchanged;
};

static bool is_near(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static bool is_equal_number(const json_t *a, const json_t *b, const char *key) {
    const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
    if (json_is_number(x) != json_is_number(y))
        return false;
    return !json_is_number(x) || is_near(json_number_value(x), json_number_value(y));
}

/* Value, state, bound, interval and reason: what a reader sees of it. */
static bool is_equal(const json_t *a, const json_t *b) {
    static const char *const texts[] = {"state", "unit", "bound", "reason"};
    static const char *const numbers[] = {"value", "p05", "p95"};
    if (json_is_object(a) != json_is_object(b))
        return false;
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        if (!is_same(json_get_text(a, texts[i], NULL), json_get_text(b, texts[i], NULL)))
            return false;
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        if (!is_equal_number(a, b, numbers[i]))
            return false;
    return true;
}

/* Has the setting to do with the figure? "scale.runs" with block scale, "*" with all; of a step
 * nobody can tell from the documents. */
static bool concerns(const char *key, const struct figure *figure) {
    if (!key || !figure->block || *key == '*' || strncmp(key, "step.", strlen("step.")) == 0)
        return true;
    size_t length = strlen(figure->block);
    return strncmp(key, figure->block, length) == 0 && key[length] == '.';
}

/* Runs named by one of the two figures alone. A figure may rest on many: only whether there are
 * any matters. */
static bool has_other_sources(const json_t *a, const json_t *b) {
    const json_t *x = json_get_array(a, "sources"), *y = json_get_array(b, "sources");
    return count_missing(x, y) > 0 || count_missing(y, x) > 0;
}

/* Settings first: whoever changed one wants to see it. Other runs are named where no setting chose
 * them. */
static json_t *causes_of(const struct comparison *of, const struct figure *figure,
                         const json_t *before, const json_t *after) {
    json_t *list = json_array(), *others = json_array();
    bool was_there = json_is_object(before), is_there = json_is_object(after);
    for (size_t i = 0; i < json_array_size(of->reasons); i++) {
        const json_t *reason = json_array_get(of->reasons, i);
        const char *what = json_get_text(reason, "what", "");
        const char *key = json_get_text(reason, "key", NULL);
        if (strcmp(what, "setting") != 0)
            json_array_append_new(others, json_text(what));
        else if (concerns(key, figure))
            json_array_append_new(list, json_text(key));
    }
    bool by_setting = json_array_size(list) > 0;
    if (!was_there || !is_there)
        json_array_append_new(list, json_text(is_there ? "new-block" : "removed-block"));
    else if (!by_setting && has_other_sources(before, after))
        json_array_append_new(list, json_text("sources"));
    json_array_extend(list, others);
    json_decref(others);
    return list;
}

static void compare_figure(struct comparison *of, const struct figure *figure, json_t *before,
                           json_t *after) {
    if (!json_is_object(before) && !json_is_object(after))
        return;
    if (is_equal(before, after)) {
        of->unchanged++;
        return;
    }
    json_t *json = json_object();
    json_put_text(json, "section", figure->section);
    json_put_text(json, "block", figure->block);
    json_put_text(json, "figure", figure->name);
    json_put(json, "before", json_is_object(before) ? json_deep_copy(before) : json_null());
    json_put(json, "after", json_is_object(after) ? json_deep_copy(after) : json_null());
    json_put(json, "why", causes_of(of, figure, before, after));
    json_array_append_new(of->changed, json);
}

static void compare_figures(struct comparison *of, struct figure figure, const json_t *before,
                            const json_t *after) {
    static const char *const names[] = {"computing", "reserved", "calendar", "effort", "gpu"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        figure.name = names[i];
        compare_figure(of, &figure, json_get_object(before, names[i]),
                       json_get_object(after, names[i]));
    }
}

static void compare_block(struct comparison *of, const char *id, const json_t *before,
                          const json_t *after) {
    static const char *const memories[] = {"host_memory", "gpu_memory"};
    struct figure figure = {.section = "component", .block = id};
    const json_t *a = json_get_object(before, "components");
    const json_t *b = json_get_object(after, "components");
    for (int i = 0; i < COMPONENT_COUNT_; i++) {
        figure.name = component_name((enum component)i);
        compare_figure(of, &figure, json_get_object(json_get_object(a, figure.name), "time"),
                       json_get_object(json_get_object(b, figure.name), "time"));
    }
    figure.section = "block";
    compare_figures(of, figure, json_get_object(before, "figures"),
                    json_get_object(after, "figures"));
    figure.section = "memory";
    for (size_t i = 0; i < ARRAY_LENGTH(memories); i++) {
        figure.name = memories[i];
        compare_figure(of, &figure, json_get_object(json_get_object(before, memories[i]), "need"),
                       json_get_object(json_get_object(after, memories[i]), "need"));
    }
}

static void compare_blocks(struct comparison *of, const json_t *before, const json_t *after) {
    const json_t *a = json_get_array(before, "blocks"), *b = json_get_array(after, "blocks");
    for (size_t i = 0; i < json_array_size(b); i++) {
        const json_t *block = json_array_get(b, i);
        const char *id = json_get_text(block, "id", NULL);
        if (id)
            compare_block(of, id, find_by(a, "id", id), block);
    }
    for (size_t i = 0; i < json_array_size(a); i++) {
        const json_t *block = json_array_get(a, i);
        const char *id = json_get_text(block, "id", NULL);
        if (id && !find_by(b, "id", id))
            compare_block(of, id, block, NULL);
    }
}

static json_t *side_json(const json_t *estimate) {
    static const char *const keys[] = {"plan_digest", "code_digest", "environment",
                                       "method",      "seed",        "made_utc"};
    const json_t *snapshot = json_get_object(estimate, "snapshot");
    json_t *json = json_object();
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        json_put_text(json, keys[i], json_get_text(snapshot, keys[i], NULL));
    return json;
}

json_t *report_estimate_compare_json(const json_t *before, const json_t *after) {
    json_t *json = json_object(), *reasons = json_array();
    compare_snapshots(before, after, reasons);
    compare_runs(before, after, reasons);
    compare_settings(before, after, reasons);
    struct comparison comparison = {.reasons = reasons, .changed = json_array()};
    struct figure total = {.section = "total"};
    compare_figures(&comparison, total, json_get_object(before, "total"),
                    json_get_object(after, "total"));
    compare_blocks(&comparison, before, after);
    json_put_text(json, "schema", "probelauf.estimate-compare/1");
    json_put(json, "before", side_json(before));
    json_put(json, "after", side_json(after));
    json_put(json, "reasons", reasons);
    json_put(json, "changed", comparison.changed);
    json_put_int(json, "unchanged", (int64_t)comparison.unchanged);
    return json;
}

/* ---- for people ---- */

static void add_reason_text(struct strbuf *out, const json_t *reason) {
    static const struct {
        const char *what, *words;
    } known[] = {
        {"plan", N_("the plan changed")},
        {"code", N_("the code changed")},
        {"environment", N_("another environment")},
        {"method", N_("another method")},
        {"seed", N_("another seed")},
        {"draws", N_("another number of simulated futures")},
        {"runs", N_("other runs were there")},
    };
    const char *what = json_get_text(reason, "what", "");
    const char *before = json_get_text(reason, "before", NULL);
    const char *after = json_get_text(reason, "after", NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (strcmp(what, known[i].what) == 0)
            strbuf_add_str(out, msg_get(known[i].words));
    bool is_digest = strcmp(what, "plan") == 0 || strcmp(what, "code") == 0;
    if (strcmp(what, "setting") == 0)
        strbuf_printf(out, _("the assumption %s"), json_get_text(reason, "key", "?"));
    strbuf_printf(out, is_digest ? ": %.8s -> %.8s" : ": %s -> %s", before ? before : _("none"),
                  after ? after : _("none"));
}

static const char *cause_words(const char *cause) {
    static const struct {
        const char *cause, *words;
    } known[] = {
        {"new-block", N_("new block")},
        {"removed-block", N_("the block is gone")},
        {"sources", N_("rests on other runs or plan lines")},
        {"plan", N_("plan")},
        {"code", N_("code")},
        {"environment", N_("environment")},
        {"method", N_("method")},
        {"seed", N_("seed")},
        {"draws", N_("number of futures")},
        {"runs", N_("runs")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (strcmp(cause, known[i].cause) == 0)
            return msg_get(known[i].words);
    return cause;
}

/* "[e] ≥ 4 min 12 s" out of a quantity object. */
static void add_json_quantity(struct strbuf *out, const json_t *json, bool ascii) {
    if (!json_is_object(json)) {
        strbuf_add_char(out, '-');
        return;
    }
    AUTO_ARENA struct arena *arena = arena_new();
    struct quantity q = quantity_from_json(json, NULL, arena);
    struct quantity alone = study_words_alone(&q);
    alone.has_interval = false;
    if (quantity_is_known(&q))
        layout_add_quantity(out, &alone, ascii, true);
    else
        strbuf_add_str(out, "[?]");
}

static void figure_name(struct strbuf *out, const json_t *changed) {
    const char *block = json_get_text(changed, "block", NULL);
    const char *name = json_get_text(changed, "figure", "");
    enum component component;
    strbuf_printf(out, "%s, ", block ? block : _("in all"));
    if (strcmp(name, "reserved") == 0)
        strbuf_add_str(out, _("reserved"));
    else if (strcmp(name, "gpu") == 0)
        strbuf_add_str(out, _("GPU time"));
    else if (strcmp(name, "host_memory") == 0)
        strbuf_add_str(out, _("memory"));
    else if (strcmp(name, "gpu_memory") == 0)
        strbuf_add_str(out, _("GPU memory"));
    else if (strcmp(json_get_text(changed, "section", ""), "component") == 0 &&
             component_from_name(name, &component))
        strbuf_add_str(out, study_words_component(component));
    else
        strbuf_add_str(out, msg_get(name));
}

static void changed_table(const json_t *changed, struct report_style style, struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("figure")},
        {.title = _("before")},
        {.title = _("after")},
        {.title = _("why"), .elastic = 12, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    size_t count = json_array_size(changed);
    for (size_t i = 0; i < count && (style.verbose || i < CHANGED_SHOWN); i++) {
        const json_t *entry = json_array_get(changed, i);
        const json_t *why = json_get_array(entry, "why");
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        AUTO_STRBUF struct strbuf before = STRBUF_INIT;
        AUTO_STRBUF struct strbuf after = STRBUF_INIT;
        AUTO_STRBUF struct strbuf causes = STRBUF_INIT;
        figure_name(&name, entry);
        add_json_quantity(&before, json_object_get(entry, "before"), style.ascii);
        add_json_quantity(&after, json_object_get(entry, "after"), style.ascii);
        for (size_t k = 0; k < json_array_size(why); k++) {
            const char *cause = json_string_value(json_array_get(why, k));
            strbuf_printf(&causes, "%s%s", k > 0 ? ", " : "", cause ? cause_words(cause) : "");
        }
        if (causes.length == 0)
            strbuf_add_str(&causes, _("open: nothing that the estimates name differs"));
        layout_table_cell(table, strbuf_str(&name), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&before), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&after), LAYOUT_BOLD);
        layout_table_cell(table, strbuf_str(&causes), LAYOUT_PLAIN);
    }
    layout_table_print(table, 2, out);
    if (!style.verbose && count > CHANGED_SHOWN) {
        AUTO_STRBUF struct strbuf more = STRBUF_INIT;
        strbuf_printf(&more, _("%zu more; -v shows all"), count - CHANGED_SHOWN);
        layout_paragraph(out, style, strbuf_str(&more));
    }
}

/* The totals of now with their intervals, for which the table has no room. */
static void changed_totals(const json_t *changed, struct report_style style, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    bool any = false;
    for (size_t i = 0; i < json_array_size(changed); i++) {
        const json_t *entry = json_array_get(changed, i);
        struct quantity q = quantity_from_json(json_object_get(entry, "after"), NULL, arena);
        if (json_get_text(entry, "block", NULL) || !q.has_interval)
            continue;
        if (!any)
            layout_heading(out, style, _("Changed totals, with their intervals"));
        any = true;
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        AUTO_STRBUF struct strbuf value = STRBUF_INIT;
        struct quantity alone = study_words_alone(&q);
        figure_name(&name, entry);
        layout_add_quantity(&value, &alone, style.ascii, true);
        layout_row(out, style, strbuf_str(&name), strbuf_str(&value), layout_state_color(q.state),
                   NULL);
    }
}

void report_estimate_compare_text(const json_t *compare, struct report_style style,
                                  struct strbuf *out) {
    const json_t *changed = json_get_array(compare, "changed");
    const json_t *reasons = json_get_array(compare, "reasons");
    size_t count = json_array_size(changed);
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line,
                  msg_plural((unsigned long)count, "%zu figure changed", "%zu figures changed"),
                  count);
    strbuf_printf(&line, _(", %lld are the same"),
                  (long long)json_get_int(compare, "unchanged", 0));
    layout_wrap(out, strbuf_str(&line), 0, 2, layout_columns(style));
    strbuf_add_char(out, '\n');
    if (json_array_size(reasons) > 0)
        layout_heading(out, style, _("What differs in what they were made from"));
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
        add_reason_text(&text, json_array_get(reasons, i));
        layout_add_plain(&plain, strbuf_str(&text), style.ascii);
        strbuf_add_str(out, "  - ");
        layout_wrap(out, strbuf_str(&plain), 4, 4, layout_columns(style));
        strbuf_add_char(out, '\n');
    }
    if (count == 0)
        return;
    layout_heading(out, style, _("Changed figures"));
    changed_table(changed, style, out);
    changed_totals(changed, style, out);
    layout_legend(out, style);
}
