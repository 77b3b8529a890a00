/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A decision in few lines: what would change it, one line for each key to write or kind of run to
 * make, and the blocks of an environment with the same verdict in one row. Leaves out no block and
 * decides nothing.
 */
#include "report/decide.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"

#include <string.h>

#define NAMES_SHOWN 5u
#define RUN_COMMAND "probelauf run "

struct names {
    struct strbuf text;
    size_t count;
};

static void add_name(struct names *names, const char *name) {
    if (name == NULL)
        return;
    if (names->count < NAMES_SHOWN)
        strbuf_add_next(&names->text, ", ", name);
    names->count++;
}

/* "a, b, ... (11)" */
static const char *names_text(const struct names *names, struct arena *arena) {
    return names->count > NAMES_SHOWN
               ? arena_printf(arena, "%s, ... (%zu)", strbuf_str(&names->text), names->count)
               : arena_strdup(arena, strbuf_str(&names->text));
}

/* ---- what would change it ---- */

static bool is_run(const struct decide_change *change) {
    return change->command != NULL && str_starts_with(change->command, RUN_COMMAND);
}

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Are both settled by the same key, or by runs? */
static bool is_same_kind(const struct decide_change *a, const struct decide_change *b) {
    if (a->key != NULL || b->key != NULL)
        return is_same_text(a->key, b->key) && is_same_text(a->part, b->part);
    return is_run(a) && is_run(b);
}

/* "E1, E8" has "E8". */
static bool has_rule(const char *rules, const char *name, size_t length) {
    for (const char *at = rules; *at != '\0'; at += strspn(at, ", ")) {
        size_t own = strcspn(at, ",");
        if (own == length && strncmp(at, name, length) == 0)
            return true;
        at += own;
    }
    return false;
}

static const char *join_rules(const char *rules, const char *more, struct arena *arena) {
    for (const char *at = more; *at != '\0'; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ",");
        if (!has_rule(rules, at, length))
            rules = arena_printf(arena, "%s, %.*s", rules, (int)length, at);
        at += length;
    }
    return rules;
}

static const char *short_source(const char *source) {
    return uuid_is_valid(source) ? uuid_tail(source) : source;
}

static const char *what_text(const struct decide_change *first, const struct names *names,
                             size_t count, struct arena *arena) {
    const char *named = names_text(names, arena);
    const char *text = first->what;
    if (first->key != NULL && first->part == NULL && count > 1)
        text = arena_printf(arena, _("to be answered in the plan under %s: %s"), first->key, named);
    else if (first->key != NULL && count > 1 && names->count > 0)
        text = arena_printf(arena, _("to be written in the plan under %s: %s, of %s"), first->part,
                            first->key, named);
    else if (count > 1)
        text = arena_printf(arena, _("%s; %zu more of this kind"), first->what, count - 1);
    if (first->source != NULL)
        text = arena_printf(arena, "%s (%s)", text, short_source(first->source));
    return text;
}

const char *report_change_todo(const struct decide_change *change, struct arena *arena) {
    if (change->key == NULL)
        return change->command;
    if (change->part == NULL)
        return arena_printf(arena, "%s: %s", change->key, change->name);
    return change->name != NULL
               ? arena_printf(arena, _("%s: under %s: %s"), change->key, change->part, change->name)
               : arena_printf(arena, _("%s: under %s"), change->key, change->part);
}

size_t report_decide_changes(const struct decision *decision, struct arena *arena,
                             struct report_change **ret_changes) {
    size_t count = decision->change_count, found = 0;
    struct report_change *list = arena_alloc(arena, (count + 1) * sizeof *list);
    bool *done = arena_alloc(arena, (count + 1) * sizeof *done);
    memset(done, 0, (count + 1) * sizeof *done);
    for (size_t i = 0; i < count; i++) {
        const struct decide_change *first = &decision->changes[i];
        struct names names = {.text = STRBUF_INIT};
        size_t same = 0;
        const char *rules = first->rules;
        for (size_t k = i; !done[i] && k < count; k++) {
            const struct decide_change *other = &decision->changes[k];
            if (k != i && (done[k] || !is_same_kind(first, other)))
                continue;
            rules = join_rules(rules, other->rules, arena);
            add_name(&names, other->name);
            same++;
            done[k] = k != i;
        }
        if (!done[i])
            list[found++] = (struct report_change){
                .rules = rules,
                .what = what_text(first, &names, same, arena),
                .todo = first->part == NULL && first->key != NULL ? NULL
                        : same > 1 && first->key != NULL          ? NULL
                                                         : report_change_todo(first, arena)};
        strbuf_done(&names.text);
    }
    *ret_changes = list;
    return found;
}

/* ---- blocks ---- */

static const char *first_ground(const struct decide_block *block) {
    return block->by != NULL && block->by->ground_count > 0 ? block->by->grounds[0].text : NULL;
}

static bool is_same_row(const struct decide_block *a, const struct decide_block *b, bool with_why) {
    if (a->verdict != b->verdict || a->nothing_left != b->nothing_left ||
        (a->by == NULL) != (b->by == NULL) || (a->by != NULL && a->by->id != b->by->id))
        return false;
    return !with_why || is_same_text(first_ground(a), first_ground(b));
}

static const char *blocks_text(const struct decide_environment *environment,
                               const struct names *names, struct arena *arena) {
    if (environment->blocks[0].block == NULL)
        return _("none");
    if (names->count < environment->block_count || names->count == 1)
        return names_text(names, arena);
    return arena_printf(arena,
                        msg_plural((unsigned long)names->count, "all %zu block", "all %zu blocks"),
                        names->count);
}

size_t report_decide_rows(const struct decide_environment *environment, bool with_why,
                          struct arena *arena, struct report_decide_row **ret_rows) {
    size_t count = environment->block_count, found = 0;
    struct report_decide_row *rows = arena_alloc(arena, (count + 1) * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        const struct decide_block *first = &environment->blocks[i];
        struct names names = {.text = STRBUF_INIT};
        bool is_listed = false;
        for (size_t k = 0; k < i && !is_listed; k++)
            is_listed = is_same_row(&environment->blocks[k], first, with_why);
        for (size_t k = i; !is_listed && k < count; k++)
            if (is_same_row(first, &environment->blocks[k], with_why))
                add_name(&names, environment->blocks[k].block != NULL
                                     ? environment->blocks[k].block->block->id
                                     : NULL);
        if (!is_listed)
            rows[found++] = (struct report_decide_row){
                .block = first, .blocks = blocks_text(environment, &names, arena)};
        strbuf_done(&names.text);
    }
    *ret_rows = rows;
    return found;
}
