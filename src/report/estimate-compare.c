/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two estimates as JSON documents, one of them perhaps frozen long ago: which figures changed, from
 * what to what, and why as far as their snapshots, settings and sources tell. Never trusts the
 * documents: what is of another type than schema/estimate.schema.json says is absent. Names no
 * cause that the documents do not show.
 */
#include "report/study.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "model/quantity-read.h"
#include "report/estimate-compare-money.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/study-words.h"

#include <math.h>
#include <stdlib.h>
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

/* An object with the texts of the list as its keys. */
static void add_to_set(json_t *set, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text)
            json_put(set, text, json_true());
    }
}

/* Of the form "probelauf.yaml:30", or the id of a run. */
static bool is_run_id(const char *source) {
    return !strchr(source, ':');
}

/* Runs first, the newest of them first: their ids begin with the time. */
static int compare_sources(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    bool run_x = is_run_id(x), run_y = is_run_id(y);
    if (run_x != run_y)
        return run_x ? -1 : 1;
    return run_x ? strcmp(y, x) : strcmp(x, y);
}

/* What is in `set` and not in `other`, sorted. */
static json_t *missing_in(const json_t *set, const json_t *other) {
    json_t *list = json_array();
    size_t count = 0;
    AUTO_FREE const char **texts = mem_alloc((json_object_size(set) + 1) * sizeof *texts);
    const char *text;
    json_t *ignored;
    json_object_foreach ((json_t *)(uintptr_t)set, text, ignored)
        if (!json_object_get(other, text))
            texts[count++] = text;
    if (count > 1)
        qsort(texts, count, sizeof *texts, compare_sources);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_text(texts[i]));
    return list;
}

/* what: "runs" or "sessions". */
static void compare_records(const json_t *before, const json_t *after, const char *what,
                            json_t *reasons) {
    const json_t *a = json_get_array(json_get_object(before, "snapshot"), what);
    const json_t *b = json_get_array(json_get_object(after, "snapshot"), what);
    AUTO_JSON json_t *was_there = json_object(), *is_there = json_object();
    add_to_set(was_there, a);
    add_to_set(is_there, b);
    if (json_equal(was_there, is_there))
        return;
    AUTO_FREE char *was = mem_printf("%zu", json_array_size(a));
    AUTO_FREE char *is = mem_printf("%zu", json_array_size(b));
    add_reason(reasons, what, NULL, was, is);
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

/* Runs and plan lines that only one of the two figures rests on; false: none. */
static bool put_other_sources(json_t *json, const json_t *a, const json_t *b) {
    AUTO_JSON json_t *x = json_object(), *y = json_object();
    add_to_set(x, json_get_array(a, "sources"));
    add_to_set(y, json_get_array(b, "sources"));
    AUTO_JSON json_t *gone = missing_in(x, y), *added = missing_in(y, x);
    if (json_array_size(gone) + json_array_size(added) == 0)
        return false;
    json_put(json, "gone", json_incref(gone));
    json_put(json, "added", json_incref(added));
    return true;
}

/* Settings first: whoever changed one wants to see it. Other runs are named where no setting chose
 * them. */
static json_t *causes_of(const struct comparison *of, const struct figure *figure,
                         const json_t *before, const json_t *after, json_t *json) {
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
    else if (!by_setting && put_other_sources(json, before, after))
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
    json_put(json, "why", causes_of(of, figure, before, after, json));
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
    static const char *const volumes[] = {"bytes_in", "bytes_out"};
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
    figure.section = "volume";
    for (size_t i = 0; i < ARRAY_LENGTH(volumes); i++) {
        figure.name = volumes[i];
        compare_figure(of, &figure, json_get_object(before, volumes[i]),
                       json_get_object(after, volumes[i]));
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

/* ---- the runs that they rest on ---- */

static void add_sources_of(json_t *set, const json_t *quantity) {
    const json_t *sources = json_get_array(quantity, "sources");
    for (size_t i = 0; i < json_array_size(sources); i++) {
        const char *text = json_string_value(json_array_get(sources, i));
        if (text && is_run_id(text))
            json_put(set, text, json_true());
    }
}

/* The runs under all figures of an estimate. */
static json_t *used_runs(const json_t *estimate) {
    json_t *set = json_object();
    const json_t *sessions = json_get_array(json_get_object(estimate, "snapshot"), "sessions");
    const json_t *blocks = json_get_array(estimate, "blocks");
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        const json_t *block = json_array_get(blocks, i);
        const json_t *components = json_get_object(block, "components");
        for (int k = 0; k < COMPONENT_COUNT_; k++)
            add_sources_of(
                set, json_get_object(json_get_object(components, component_name((enum component)k)),
                                     "time"));
        add_sources_of(set, json_get_object(json_get_object(block, "host_memory"), "need"));
        add_sources_of(set, json_get_object(json_get_object(block, "gpu_memory"), "need"));
    }
    for (size_t i = 0; i < json_array_size(sessions); i++) {
        const char *id = json_string_value(json_array_get(sessions, i));
        if (id)
            json_object_del(set, id);
    }
    return set;
}

static const struct study_run *find_run(const struct study *study, const char *id) {
    for (size_t i = 0; study && i < study->run_count; i++)
        if (strcmp(study->runs[i].run->id, id) == 0)
            return &study->runs[i];
    return NULL;
}

/* Why a run that one estimate rested on is under no figure of the other; NULL: nobody knows. */
static const char *why_gone(const struct study *study, const char *id) {
    if (!study)
        return NULL;
    const struct study_run *found = find_run(study, id);
    if (!found)
        return _("it is not among the runs of the study any more");
    if (found->run->validity == RUN_INVALID)
        return _("it was declared invalid");
    return found->evidence.why ? found->evidence.why : found->unplanned_why;
}

static json_t *used_json(const json_t *ids, const struct study *study) {
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        json_t *json = json_object();
        json_put_text(json, "run", id);
        json_put_text(json, "why", why_gone(study, id));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *runs_json(const json_t *before, const json_t *after, const struct study *study) {
    AUTO_JSON json_t *was = used_runs(before), *is = used_runs(after);
    AUTO_JSON json_t *gone = missing_in(was, is), *added = missing_in(is, was);
    json_t *json = json_object();
    json_put(json, "gone", used_json(gone, study));
    json_put(json, "added", used_json(added, NULL));
    return json;
}

json_t *report_estimate_compare_json(const json_t *before, const json_t *after,
                                     const struct study *study) {
    json_t *json = json_object(), *reasons = json_array();
    compare_snapshots(before, after, reasons);
    compare_records(before, after, "runs", reasons);
    compare_records(before, after, "sessions", reasons);
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
    json_put(json, "runs", runs_json(before, after, study));
    json_put(json, "changed", comparison.changed);
    json_put_int(json, "unchanged", (int64_t)comparison.unchanged);
    json_put(json, "money", compare_money_json(before, after));
    json_put(json, "estimate", json_is_object(after) ? json_deep_copy(after) : json_null());
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
        {"sessions", N_("other sessions were there")},
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
        {"plan", N_("plan")},
        {"code", N_("code")},
        {"environment", N_("environment")},
        {"method", N_("method")},
        {"seed", N_("seed")},
        {"draws", N_("number of futures")},
        {"runs", N_("runs")},
        {"sessions", N_("sessions")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (strcmp(cause, known[i].cause) == 0)
            return msg_get(known[i].words);
    return cause;
}

#define SOURCES_SHOWN 3u

/* "run a1b2c3d4, run b2c3d4e5 and 4 more" */
static bool has_text(const json_t *list, const char *text) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *one = json_string_value(json_array_get(list, i));
        if (one && is_same(one, text))
            return true;
    }
    return false;
}

/* sessions: ids that are of no run. */
static void add_sources(struct strbuf *out, const json_t *list, const json_t *sessions) {
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i < SOURCES_SHOWN; i++) {
        const char *source = json_string_value(json_array_get(list, i));
        strbuf_add_str(out, i > 0 ? ", " : "");
        if (source && has_text(sessions, source))
            strbuf_printf(out, _("session %s"), uuid_tail(source));
        else if (source && is_run_id(source))
            strbuf_printf(out, _("run %s"), uuid_tail(source));
        else
            strbuf_add_str(out, source ? source : "");
    }
    if (count > SOURCES_SHOWN)
        strbuf_printf(out, _(" and %zu more"), count - SOURCES_SHOWN);
}

/* "without run a1b2c3d4, with run b2c3d4e5" */
static void add_other_sources(struct strbuf *out, const json_t *changed, const json_t *sessions) {
    const json_t *gone = json_get_array(changed, "gone"), *added = json_get_array(changed, "added");
    if (json_array_size(gone) > 0) {
        strbuf_add_str(out, _("without "));
        add_sources(out, gone, sessions);
    }
    if (json_array_size(added) > 0) {
        strbuf_add_str(out, json_array_size(gone) > 0 ? "; " : "");
        strbuf_add_str(out, _("with "));
        add_sources(out, added, sessions);
    }
}

/* That there are other runs says less than which. */
static void add_causes(struct strbuf *out, const json_t *changed, const json_t *sessions) {
    const json_t *why = json_get_array(changed, "why");
    bool named = false;
    for (size_t i = 0; i < json_array_size(why); i++) {
        const char *cause = json_string_value(json_array_get(why, i));
        if (!cause || (named && strcmp(cause, "runs") == 0))
            continue;
        strbuf_add_str(out, out->length > 0 ? ", " : "");
        if (strcmp(cause, "sources") == 0) {
            named = true;
            add_other_sources(out, changed, sessions);
        } else {
            strbuf_add_str(out, cause_words(cause));
        }
    }
    if (out->length == 0)
        strbuf_add_str(out, _("open: nothing that the estimates name differs"));
}

/* "[e] ≥ 4 min 12 s" out of a quantity object. */
static void add_json_quantity(struct strbuf *out, const json_t *json, bool interval, bool ascii) {
    if (!json_is_object(json)) {
        strbuf_add_char(out, '-');
        return;
    }
    AUTO_ARENA struct arena *arena = arena_new();
    struct quantity q = quantity_from_json(json, NULL, arena);
    struct quantity alone = study_words_alone(&q);
    alone.has_interval = alone.has_interval && interval;
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
    else if (strcmp(name, "bytes_in") == 0)
        strbuf_add_str(out, _("transferred in"));
    else if (strcmp(name, "bytes_out") == 0)
        strbuf_add_str(out, _("transferred out"));
    else if (strcmp(json_get_text(changed, "section", ""), "component") == 0 &&
             component_from_name(name, &component))
        strbuf_add_str(out, study_words_component(component));
    else
        strbuf_add_str(out, msg_get(name));
}

/* A change that is smaller than what is printed is none for a reader. */
static bool prints_the_same(const json_t *changed) {
    const json_t *before = json_get_object(changed, "before");
    const json_t *after = json_get_object(changed, "after");
    bool is_total = !json_get_text(changed, "block", NULL); /* these show their intervals as well */
    AUTO_STRBUF struct strbuf was = STRBUF_INIT;
    AUTO_STRBUF struct strbuf is = STRBUF_INIT;
    if (!before || !after)
        return false;
    add_json_quantity(&was, before, is_total, false);
    add_json_quantity(&is, after, is_total, false);
    return strcmp(strbuf_str(&was), strbuf_str(&is)) == 0;
}

static json_t *visible(const json_t *changed) {
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(changed); i++)
        if (!prints_the_same(json_array_get(changed, i)))
            json_array_append_new(list, json_incref(json_array_get(changed, i)));
    return list;
}

static void changed_table(const json_t *changed, const json_t *sessions, struct report_style style,
                          struct strbuf *out) {
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
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        AUTO_STRBUF struct strbuf before = STRBUF_INIT;
        AUTO_STRBUF struct strbuf after = STRBUF_INIT;
        AUTO_STRBUF struct strbuf causes = STRBUF_INIT;
        figure_name(&name, entry);
        add_json_quantity(&before, json_object_get(entry, "before"), false, style.ascii);
        add_json_quantity(&after, json_object_get(entry, "after"), false, style.ascii);
        add_causes(&causes, entry, sessions);
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

/* "no figure rests on them any more: run a1b2c3d4 (it was declared invalid) and 4 more" */
static void used_runs_text(struct strbuf *out, struct report_style style, const json_t *runs,
                           const char *words) {
    size_t count = json_array_size(runs);
    size_t shown = style.verbose || count < SOURCES_SHOWN ? count : SOURCES_SHOWN;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (count == 0)
        return;
    strbuf_add_str(&text, words);
    for (size_t i = 0; i < shown; i++) {
        const json_t *run = json_array_get(runs, i);
        const char *why = json_get_text(run, "why", NULL);
        strbuf_add_str(&text, i > 0 ? ", " : "");
        strbuf_printf(&text, _("run %s"), uuid_tail(json_get_text(run, "run", "")));
        if (why)
            strbuf_printf(&text, " (%s)", why);
    }
    if (shown < count)
        strbuf_printf(&text, _(" and %zu more"), count - shown);
    layout_bullet(out, style, strbuf_str(&text));
}

/* What was asked with --set and changes nothing: "0 figures changed" alone explains nothing. */
static void without_effect(const json_t *compare, struct report_style style, struct strbuf *out) {
    const json_t *list = json_get_array(json_get_object(compare, "estimate"), "without_effect");
    bool any = false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const struct estimate_setting setting = {
            .key = json_get_text(entry, "key", "?"),
            .value = json_get_text(entry, "value", "?"),
            .source = json_get_text(entry, "source", NULL),
            .no_effect = json_get_text(entry, "no_effect", NULL),
        };
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        if (!json_is_true(json_object_get(entry, "set")))
            continue;
        if (!any)
            layout_heading(out, style, _("Without effect"));
        any = true;
        study_words_add_no_effect(&text, &setting);
        layout_bullet(out, style, strbuf_str(&text));
    }
}

void report_estimate_compare_text(const json_t *compare, struct report_style style,
                                  struct strbuf *out) {
    AUTO_JSON json_t *changed = visible(json_get_array(compare, "changed"));
    const json_t *reasons = json_get_array(compare, "reasons");
    const json_t *runs = json_get_object(compare, "runs");
    const json_t *gone = json_get_array(runs, "gone"), *added = json_get_array(runs, "added");
    size_t count = json_array_size(changed);
    size_t hidden = json_array_size(json_get_array(compare, "changed")) - count;
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line,
                  msg_plural((unsigned long)count, "%zu figure changed", "%zu figures changed"),
                  count);
    long long same = (long long)json_get_int(compare, "unchanged", 0) + (long long)hidden;
    strbuf_printf(
        &line, msg_plural((unsigned long)same, ", %lld is the same", ", %lld are the same"), same);
    layout_wrap(out, strbuf_str(&line), 0, 2, layout_columns(style));
    strbuf_add_char(out, '\n');
    if (json_array_size(reasons) + json_array_size(gone) + json_array_size(added) > 0)
        layout_heading(out, style, _("What differs in what they were made from"));
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        add_reason_text(&text, json_array_get(reasons, i));
        layout_bullet(out, style, strbuf_str(&text));
    }
    used_runs_text(out, style, gone, _("no figure rests any more on "));
    used_runs_text(out, style, added, _("figures rest now also on "));
    without_effect(compare, style, out);
    compare_money_text(json_get_object(compare, "money"), style, out);
    if (count == 0)
        return;
    layout_heading(out, style, _("Changed figures"));
    changed_table(changed,
                  json_get_array(json_get_object(json_get_object(compare, "estimate"), "snapshot"),
                                 "sessions"),
                  style, out);
    changed_totals(changed, style, out);
    layout_legend(out, style);
}
