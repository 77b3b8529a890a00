/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folders as a plan means them, by their names alone: a record must say the same in every checkout,
 * and what it says must be comparable without a file system. Follows no links.
 */
#include "plan/plan.h"

#include "base/str.h"

#include <string.h>

/* The parts of a path, without empty ones and ".", and with ".." worked in. */
struct parts {
    const char **items;
    size_t count;
};

static void add_parts(struct parts *parts, const char *path, struct arena *arena) {
    char *rest = arena_strdup(arena, path), *state = NULL;
    const char **items =
        arena_alloc(arena, (parts->count + strlen(path) + 1) * sizeof *parts->items);
    for (size_t i = 0; i < parts->count; i++)
        items[i] = parts->items[i];
    parts->items = items;
    for (char *part = strtok_r(rest, "/", &state); part; part = strtok_r(NULL, "/", &state)) {
        if (strcmp(part, "..") == 0)
            parts->count -= parts->count > 0; /* above the root there is the root */
        else if (strcmp(part, ".") != 0)
            parts->items[parts->count++] = part;
    }
}

static const char *joined(const struct parts *parts, size_t from, const char *front,
                          struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, front);
    for (size_t i = from; i < parts->count; i++)
        strbuf_printf(&text, "%s%s", i > from ? "/" : "", parts->items[i]);
    return arena_strdup(arena, strbuf_str(&text));
}

static struct parts parts_of_plan(const struct plan *plan, struct arena *arena) {
    struct parts parts = {0};
    add_parts(&parts, plan->folder ? plan->folder : "/", arena);
    return parts;
}

static size_t count_shared(const struct parts *a, const struct parts *b) {
    size_t shared = 0;
    while (shared < a->count && shared < b->count &&
           strcmp(a->items[shared], b->items[shared]) == 0)
        shared++;
    return shared;
}

static const char *from(const struct parts *here, const struct parts *there, struct arena *arena) {
    AUTO_STRBUF struct strbuf up = STRBUF_INIT;
    size_t shared = count_shared(here, there);
    if (shared == here->count && shared == there->count)
        return ".";
    for (size_t i = shared; i < here->count; i++)
        strbuf_add_str(&up, i + 1 < here->count || shared < there->count ? "../" : "..");
    return joined(there, shared, strbuf_str(&up), arena);
}

const char *plan_folder_of(const struct plan *plan, const char *path, struct arena *arena) {
    struct parts here = parts_of_plan(plan, arena), there = {0};
    add_parts(&there, path, arena);
    return from(&here, &there, arena);
}

const char *plan_folder_text(const struct plan *plan, const char *folder, struct arena *arena) {
    struct parts here = parts_of_plan(plan, arena);
    struct parts there = {0};
    bool is_absolute = folder && folder[0] == '/';
    if (!is_absolute)
        there = here;
    if (folder)
        add_parts(&there, folder, arena);
    return is_absolute && count_shared(&here, &there) < here.count ? joined(&there, 0, "/", arena)
                                                                   : from(&here, &there, arena);
}
