/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In what two runs differ (differences.h). Reads records as they are and trusts none of their
 * types. */
#include "report/differences.h"

#include "report/facts.h"

#include <string.h>

struct collector {
    struct arena *arena;
    struct difference *items;
    size_t count, capacity;
};

static bool same(const char *a, const char *b) {
    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0;
}

static void collect(struct collector *c, const char *what, const char *a, const char *b) {
    if (same(a, b))
        return;
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? c->capacity * 2 : 32;
        struct difference *grown = arena_alloc(c->arena, capacity * sizeof(*grown));
        if (c->count > 0)
            memcpy(grown, c->items, c->count * sizeof(*grown));
        c->items = grown;
        c->capacity = capacity;
    }
    c->items[c->count++] = (struct difference){.what = what, .a = a, .b = b};
}

/* "8589934592 byte", "at-least 3 count", "open": the same in every language. */
static const char *quantity_text(struct collector *c, const struct quantity *q) {
    if (!quantity_is_known(q))
        return quantity_state_name(q->state);
    const char *bound = q->bound == QUANTITY_EXACT ? "" : quantity_bound_name(q->bound);
    return arena_printf(c->arena, "%s%s%.15g %s", bound, *bound ? " " : "", q->value,
                        q->unit ? q->unit : UNIT_RATIO);
}

/* A plain value as text: what is neither text, number, truth nor quantity is compared as compact
 * JSON. */
static const char *value_text(struct collector *c, const json_t *value) {
    if (!value || json_is_null(value))
        return NULL;
    if (json_is_string(value))
        return json_string_value(value);
    if (json_get_text(value, "state", NULL)) {
        struct quantity q = facts_quantity(value, NULL, NULL, QUANTITY_NOT_IN_RECORD, NULL);
        return quantity_text(c, &q);
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, value);
    return arena_strdup(c->arena, strbuf_str(&text));
}

static void collect_key(struct collector *c, const char *what, const json_t *a, const json_t *b,
                        const char *key) {
    const json_t *in_a = json_is_object(a) ? json_object_get(a, key) : NULL;
    const json_t *in_b = json_is_object(b) ? json_object_get(b, key) : NULL;
    if (in_a && in_b && json_equal(in_a, in_b))
        return;
    collect(c, what, value_text(c, in_a), value_text(c, in_b));
}

static void collect_keys(struct collector *c, const char *prefix, const json_t *a, const json_t *b,
                         const char *const *keys) {
    for (; *keys; keys++)
        collect_key(c, *prefix ? arena_printf(c->arena, "%s.%s", prefix, *keys) : *keys, a, b,
                    *keys);
}

/* Lists (free space of file systems, say) differ from minute to minute and say nothing about the
 * runs. */
static bool is_plain(const json_t *value) {
    return !json_is_array(value) && (!json_is_object(value) || json_get_text(value, "state", NULL));
}

/* Every key of one object, then those that only the other has. */
static void collect_object(struct collector *c, const char *prefix, json_t *a, json_t *b) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (a, key, value)
        if (is_plain(value))
            collect_key(c, arena_printf(c->arena, "%s.%s", prefix, key), a, b, key);
    json_object_foreach (b, key, value)
        if (is_plain(value) && (!a || !json_object_get(a, key)))
            collect_key(c, arena_printf(c->arena, "%s.%s", prefix, key), a, b, key);
}

static void collect_command(struct collector *c, const struct run *a, const struct run *b) {
    AUTO_STRBUF struct strbuf in_a = STRBUF_INIT;
    AUTO_STRBUF struct strbuf in_b = STRBUF_INIT;
    facts_command_line(a, &in_a);
    facts_command_line(b, &in_b);
    collect(c, "command", arena_strdup(c->arena, strbuf_str(&in_a)),
            arena_strdup(c->arena, strbuf_str(&in_b)));
}

/* Packages as {"interpreter name": version}, so that order does not matter. */
static json_t *packages_by_name(const struct run *run) {
    const json_t *packages = json_get_array(run->environment, "packages");
    json_t *by_name = json_object();
    for (size_t i = 0; i < json_array_size(packages); i++) {
        const json_t *package = json_array_get(packages, i);
        const char *name = json_get_text(package, "name", NULL);
        if (!name)
            continue;
        const char *version = json_get_text(package, "version", "");
        const char *known = json_get_text(by_name, name, NULL);
        if (!known) {
            json_put_text(by_name, name, version);
        } else if (strcmp(known, version) != 0) { /* two interpreters, two versions */
            AUTO_FREE char *both = mem_printf("%s, %s", known, version);
            json_put_text(by_name, name, both);
        }
    }
    return by_name;
}

static void collect_packages(struct collector *c, const struct run *a, const struct run *b) {
    if (!json_get_array(a->environment, "packages") && !json_get_array(b->environment, "packages"))
        return;
    AUTO_JSON json_t *in_a = packages_by_name(a);
    AUTO_JSON json_t *in_b = packages_by_name(b);
    size_t before = c->count;
    collect_object(c, "package", in_a, in_b);
    for (size_t i = before; i < c->count; i++) { /* the texts must outlive the two objects */
        struct difference *d = &c->items[i];
        d->a = d->a ? arena_strdup(c->arena, d->a) : NULL;
        d->b = d->b ? arena_strdup(c->arena, d->b) : NULL;
    }
}

/* "/usr/bin/python3 3.11.2, …" */
static const char *interpreters_text(struct collector *c, const struct run *run) {
    const json_t *list = json_get_array(run->environment, "interpreters");
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        strbuf_printf(&text, "%s%s %s", text.length > 0 ? ", " : "",
                      json_get_text(entry, "path", "?"), json_get_text(entry, "version", "?"));
    }
    return text.length > 0 ? arena_strdup(c->arena, strbuf_str(&text)) : NULL;
}

/* What was free at a moment is no property of the machine. */
static void collect_totals(struct collector *c, const struct run *a, const struct run *b) {
    static const char *const totals[] = {"memory", "swap", "cpu", "pids", NULL};
    collect_keys(c, "total", json_get_object(a->environment, "totals"),
                 json_get_object(b->environment, "totals"), totals);
}

static const char *input_text(struct collector *c, const struct facts_file *file) {
    const char *bytes = quantity_text(c, &file->bytes);
    return file->identity ? arena_printf(c->arena, "%s, %s", bytes, file->identity) : bytes;
}

static const struct facts_file *find_file(const struct facts_file *files, size_t count,
                                          const char *path) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].path, path) == 0)
            return &files[i];
    return NULL;
}

static void collect_inputs(struct collector *c, const struct run *a, const struct run *b) {
    struct facts_file *in_a = NULL, *in_b = NULL;
    size_t count_a = facts_inputs(a, c->arena, &in_a);
    size_t count_b = facts_inputs(b, c->arena, &in_b);
    for (size_t i = 0; i < count_a; i++) {
        const struct facts_file *other = find_file(in_b, count_b, in_a[i].path);
        collect(c, arena_printf(c->arena, "input.%s", in_a[i].path), input_text(c, &in_a[i]),
                other ? input_text(c, other) : NULL);
    }
    for (size_t i = 0; i < count_b; i++)
        if (!find_file(in_a, count_a, in_b[i].path))
            collect(c, arena_printf(c->arena, "input.%s", in_b[i].path), NULL,
                    input_text(c, &in_b[i]));
}

size_t differences_collect(const struct run *a, const struct run *b, struct arena *arena,
                           struct difference **ret_differences) {
    static const char *const start_keys[] = {"purpose", "block", "step", "phase",
                                             "cwd",     "host",  NULL};
    static const char *const code_keys[] = {"repo",   "commit",      "dirty",
                                            "digest", "diff_digest", NULL};
    static const char *const environment_keys[] = {"container", "cuda", NULL};
    struct collector c = {.arena = arena};
    collect(&c, "outcome", outcome_name(a->outcome), outcome_name(b->outcome));
    collect_command(&c, a, b);
    collect_object(&c, "condition", json_get_object(a->start, "condition"),
                   json_get_object(b->start, "condition"));
    collect_keys(&c, "", a->start, b->start, start_keys);
    collect_inputs(&c, a, b);
    collect_keys(&c, "code", json_get_object(a->environment, "code"),
                 json_get_object(b->environment, "code"), code_keys);
    collect_object(&c, "machine", json_get_object(a->environment, "machine"),
                   json_get_object(b->environment, "machine"));
    collect_keys(&c, "", a->environment, b->environment, environment_keys);
    collect(&c, "driver", facts_gpu_driver(a), facts_gpu_driver(b));
    collect(&c, "gpu", facts_gpus(a, arena), facts_gpus(b, arena));
    collect_object(&c, "limit", json_get_object(a->environment, "limits"),
                   json_get_object(b->environment, "limits"));
    collect_totals(&c, a, b);
    collect(&c, "interpreters", interpreters_text(&c, a), interpreters_text(&c, b));
    collect_packages(&c, a, b);
    collect_object(&c, "variable", json_get_object(a->start, "variables"),
                   json_get_object(b->start, "variables"));
    *ret_differences = c.items;
    return c.count;
}
