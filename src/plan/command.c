/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a condition to its command, and from name=value pairs back to the condition. Must not start
 * anything, and must not guess: too little said is no condition.
 */
#include "plan/conditions.h"
#include "plan/plan.h"

#include "base/msg.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

enum plan_piece plan_piece_next(const char **text, const char **ret_start, size_t *ret_length) {
    const char *p = *text;
    *ret_start = p;
    *ret_length = 1;
    if (*p == '\0')
        return PLAN_PIECE_END;
    size_t plain = strcspn(p, "{}");
    if (plain > 0) {
        *ret_length = plain;
        *text = p + plain;
        return PLAN_PIECE_TEXT;
    }
    if (p[1] == p[0]) {
        *text = p + 2;
        return PLAN_PIECE_TEXT;
    }
    size_t name = strcspn(p + 1, "{}");
    if (p[0] == '{' && name > 0 && p[1 + name] == '}') {
        *ret_start = p + 1;
        *ret_length = name;
        *text = p + name + 2;
        return PLAN_PIECE_NAME;
    }
    *text = p + 1;
    return PLAN_PIECE_BRACE;
}

/* In single quotes where the shell could take it for anything but one word of text. */
static void add_quoted(struct strbuf *out, const char *value) {
    static const char safe[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    if (*value != '\0' && value[strspn(value, safe)] == '\0') {
        strbuf_add_str(out, value);
        return;
    }
    strbuf_add_char(out, '\'');
    for (const char *p = value; *p != '\0'; p++) {
        if (*p == '\'')
            strbuf_add_str(out, "'\\''");
        else
            strbuf_add_char(out, *p);
    }
    strbuf_add_char(out, '\'');
}

static const char *parameter(const struct plan_condition *condition, const char *name,
                             size_t length) {
    for (size_t i = 0; i < condition->parameter_count; i++) {
        const struct plan_pair *pair = &condition->parameters[i];
        if (strncmp(pair->name, name, length) == 0 && pair->name[length] == '\0')
            return pair->value;
    }
    return NULL;
}

static const char *fill(const struct plan_condition *condition, const char *text, bool quote,
                        struct arena *arena) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    const char *start = NULL;
    size_t length = 0;
    enum plan_piece piece = PLAN_PIECE_END;
    while ((piece = plan_piece_next(&text, &start, &length)) != PLAN_PIECE_END) {
        const char *value = piece == PLAN_PIECE_NAME ? parameter(condition, start, length) : NULL;
        if (value != NULL && quote)
            add_quoted(&out, value);
        else if (value != NULL)
            strbuf_add_str(&out, value);
        else if (piece == PLAN_PIECE_NAME) /* plan_check complained of it */
            strbuf_add(&out, start - 1, length + 2);
        else
            strbuf_add(&out, start, length);
    }
    return arena_strdup(arena, strbuf_str(&out));
}

const char *plan_fill(const struct plan_condition *condition, const char *text,
                      struct arena *arena) {
    return fill(condition, text, false, arena);
}

const char *const *plan_command(const struct plan_condition *condition, struct arena *arena) {
    const struct plan_block *block = condition->block;
    size_t count = block->command.count;
    if (count == 0)
        return NULL;
    const char **argv = arena_alloc(arena, (count + 3) * sizeof *argv);
    size_t n = 0;
    if (block->shell) {
        argv[n++] = "sh";
        argv[n++] = "-c";
    }
    for (size_t i = 0; i < count; i++)
        argv[n++] = fill(condition, block->command.items[i].text, block->shell, arena);
    return argv;
}

/* ---- matching ---- */

struct search {
    const struct plan *plan;
    const struct plan_block *block; /* NULL: any */
    const struct plan_pair *given;
    size_t count;
    struct arena *arena;
};

static bool is_searched(const struct search *s, const struct plan_block *block) {
    return s->block == NULL || s->block == block;
}

static const char *value_of(const struct plan_condition *condition, const char *name) {
    return parameter(condition, name, strlen(name));
}

/* All given pairs but the one with this number; SIZE_MAX: all. */
static bool has_but(const struct search *s, const struct plan_condition *condition, size_t but) {
    for (size_t i = 0; i < s->count; i++) {
        if (i == but)
            continue;
        const char *value = value_of(condition, s->given[i].name);
        if (value == NULL || strcmp(value, s->given[i].value) != 0)
            return false;
    }
    return true;
}

static bool has_all(const struct search *s, const struct plan_condition *condition) {
    return has_but(s, condition, SIZE_MAX);
}

static bool is_given(const struct search *s, const char *name) {
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->given[i].name, name) == 0)
            return true;
    return false;
}

/* Has the name more than one value within the block, or is it only in some of its conditions? */
static bool varies(const struct plan_block *block, const char *name) {
    const char *first = value_of(&block->conditions[0], name);
    for (size_t i = 1; i < block->condition_count; i++) {
        const char *value = value_of(&block->conditions[i], name);
        if (value == NULL || first == NULL) {
            if (value != first)
                return true;
        } else if (strcmp(value, first) != 0) {
            return true;
        }
    }
    return false;
}

/* The first axis of the condition that must be said and was not, or NULL. varying: of the block's
 * axes, which every condition has first and in their order. */
static const char *missing_axis(const struct search *s, const struct plan_condition *condition,
                                const bool *varying) {
    for (size_t i = 0; i < condition->axis_count; i++) {
        const char *name = condition->axes[i].name;
        if (is_given(s, name))
            continue;
        if (i < condition->block->axis_count ? varying[i] : varies(condition->block, name))
            return name;
    }
    return NULL;
}

/* ---- reasons ---- */

#define WORDS_SHOWN 8u

/* Distinct words in the order in which they came. */
struct words {
    const char **items; /* owned */
    size_t count, room;
};

static void words_add(struct words *words, const char *word) {
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->items[i], word) == 0)
            return;
    if (words->count == words->room) {
        words->room = words->room > 0 ? 2 * words->room : 16;
        words->items = mem_realloc(words->items, words->room, sizeof *words->items);
    }
    words->items[words->count++] = word;
}

static void words_done(struct words *words) {
    mem_free_ptr(&words->items);
}
#define AUTO_WORDS __attribute__((cleanup(words_done)))

/* "full, evict, …" */
static const char *words_text(const struct words *words, struct arena *arena) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    for (size_t i = 0; i < words->count && i < WORDS_SHOWN; i++)
        strbuf_printf(&out, "%s%s", i > 0 ? ", " : "", words->items[i]);
    if (words->count > WORDS_SHOWN)
        strbuf_add_str(&out, ", …");
    return arena_strdup(arena, strbuf_str(&out));
}

/* Names of all parameters, or the values of the one with this name. */
static void add_words(const struct search *s, const char *of, struct words *out) {
    for (size_t b = 0; b < s->plan->block_count; b++) {
        const struct plan_block *block = &s->plan->blocks[b];
        if (!is_searched(s, block))
            continue;
        for (size_t c = 0; c < block->condition_count; c++) {
            const struct plan_condition *condition = &block->conditions[c];
            for (size_t i = 0; i < condition->parameter_count; i++) {
                const struct plan_pair *pair = &condition->parameters[i];
                if (of == NULL)
                    words_add(out, pair->name);
                else if (strcmp(pair->name, of) == 0)
                    words_add(out, pair->value);
            }
        }
    }
}

static const char *pairs_text(const struct plan_pair *pairs, size_t count, struct arena *arena) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    for (size_t i = 0; i < count; i++)
        strbuf_printf(&out, "%s%s=%s", i > 0 ? " " : "", pairs[i].name, pairs[i].value);
    return arena_strdup(arena, strbuf_str(&out));
}

/* "the plan", "block 'compare'" */
static const char *scope_text(const struct search *s) {
    return s->block != NULL ? arena_printf(s->arena, _("block '%s'"), s->block->id) : _("the plan");
}

static const char *why_no_name(const struct search *s, const struct plan_pair *pair,
                               const struct words *names) {
    const char *near = str_nearest(pair->name, names->items, names->count);
    if (near != NULL)
        return arena_printf(s->arena, _("%s has no parameter '%s'; did you mean '%s'?"),
                            scope_text(s), pair->name, near);
    if (names->count == 0)
        return arena_printf(s->arena, _("%s has no parameter '%s', and no other"), scope_text(s),
                            pair->name);
    return arena_printf(s->arena, _("%s has no parameter '%s'; it has: %s"), scope_text(s),
                        pair->name, words_text(names, s->arena));
}

static const char *why_no_value(const struct search *s, const struct plan_pair *pair,
                                const struct words *values) {
    double wanted = 0, number = 0;
    bool is_number = str_to_double(pair->value, &wanted) == 0;
    for (size_t i = 0; is_number && i < values->count; i++)
        if (str_to_double(values->items[i], &number) == 0 && number == wanted)
            return arena_printf(
                s->arena,
                _("'%s' is written '%s' in the plan, not '%s'; values are compared as written"),
                pair->name, values->items[i], pair->value);
    const char *near = str_nearest(pair->value, values->items, values->count);
    if (near != NULL)
        return arena_printf(s->arena, _("'%s' is never '%s' in %s; did you mean '%s'?"), pair->name,
                            pair->value, scope_text(s), near);
    return arena_printf(s->arena, _("'%s' is never '%s' in %s; it is one of: %s"), pair->name,
                        pair->value, scope_text(s), words_text(values, s->arena));
}

/* Every pair exists, but not together: which of them could be otherwise, and how. */
static const char *why_not_together(const struct search *s) {
    const char *said = pairs_text(s->given, s->count, s->arena);
    for (size_t but = s->count; but > 0; but--) { /* the last said first: it is the likely one */
        AUTO_WORDS struct words values = {0};
        const char *name = s->given[but - 1].name;
        for (size_t b = 0; b < s->plan->block_count; b++) {
            const struct plan_block *block = &s->plan->blocks[b];
            for (size_t c = 0; is_searched(s, block) && c < block->condition_count; c++) {
                const char *value = value_of(&block->conditions[c], name);
                if (value != NULL && has_but(s, &block->conditions[c], but - 1))
                    words_add(&values, value);
            }
        }
        if (values.count > 0)
            return arena_printf(s->arena,
                                _("no condition of %s is '%s'; with the rest as said, '%s' is: %s"),
                                scope_text(s), said, name, words_text(&values, s->arena));
    }
    return arena_printf(s->arena, _("no condition of %s is '%s'; see 'probelauf block list'"),
                        scope_text(s), said);
}

static const char *why_none(const struct search *s) {
    AUTO_WORDS struct words names = {0};
    add_words(s, NULL, &names);
    for (size_t i = 0; i < s->count; i++) {
        AUTO_WORDS struct words values = {0};
        const struct plan_pair *pair = &s->given[i];
        add_words(s, pair->name, &values);
        if (values.count == 0)
            return why_no_name(s, pair, &names);
        bool is_value = false;
        for (size_t v = 0; v < values.count; v++)
            is_value |= strcmp(values.items[v], pair->value) == 0;
        if (!is_value)
            return why_no_value(s, pair, &values);
    }
    return why_not_together(s);
}

/* Which axis was left out, and what it can be given the rest. */
static const char *why_too_little(const struct search *s, const struct plan_block *block,
                                  const char *axis) {
    AUTO_WORDS struct words values = {0};
    for (size_t c = 0; c < block->condition_count; c++) {
        const char *value = value_of(&block->conditions[c], axis);
        if (value != NULL && has_all(s, &block->conditions[c]))
            words_add(&values, value);
    }
    return arena_printf(s->arena, _("block '%s' also varies '%s': say which (%s)"), block->id, axis,
                        words_text(&values, s->arena));
}

/* Two conditions have all that was said: a parameter that tells them apart, or the block. */
static const char *why_several(const struct search *s, const struct plan_condition *a,
                               const struct plan_condition *b) {
    for (size_t i = 0; i < a->parameter_count; i++) {
        const char *name = a->parameters[i].name, *other = value_of(b, name);
        if (other != NULL && strcmp(a->parameters[i].value, other) != 0)
            return arena_printf(
                s->arena,
                _("it could be block '%s' (%s=%s) or block '%s' (%s=%s): say '%s', or the block"),
                a->block->id, name, a->parameters[i].value, b->block->id, name, other, name);
    }
    return arena_printf(s->arena,
                        _("it could be '%s' of block '%s' or '%s' of block '%s': say "
                          "which block"),
                        a->label, a->block->id, b->label, b->block->id);
}

/* ---- search ---- */

struct found {
    const struct plan_condition *one, *other; /* fully said, of different ids */
    const struct plan_condition *partial;     /* has all that was said, but more must be said */
    const char *missing;
};

static void search_block(const struct search *s, const struct plan_block *block,
                         struct found *found) {
    AUTO_FREE bool *varying = NULL; /* only if a condition fits: most blocks have none */
    for (size_t c = 0; c < block->condition_count && found->other == NULL; c++) {
        const struct plan_condition *condition = &block->conditions[c];
        if (!has_all(s, condition))
            continue;
        if (varying == NULL) {
            varying = mem_alloc(block->axis_count + 1);
            for (size_t i = 0; i < block->axis_count; i++)
                varying[i] = varies(block, block->axes[i].name);
        }
        const char *missing = missing_axis(s, condition, varying);
        if (missing != NULL && found->partial == NULL) {
            found->partial = condition;
            found->missing = missing;
        }
        if (missing != NULL)
            continue;
        if (found->one == NULL)
            found->one = condition;
        else if (strcmp(found->one->id, condition->id) != 0)
            found->other = condition;
    }
}

/* A name that was said with two values. */
static const struct plan_pair *contradiction(const struct plan_pair *given, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(given[i].name, given[j].name) == 0 &&
                strcmp(given[i].value, given[j].value) != 0)
                return &given[i];
    return NULL;
}

static const char *why_no_block(const struct plan *plan, const char *block, struct arena *arena) {
    AUTO_WORDS struct words ids = {0};
    for (size_t i = 0; i < plan->block_count; i++)
        words_add(&ids, plan->blocks[i].id);
    const char *near = str_nearest(block, ids.items, ids.count);
    if (near != NULL)
        return arena_printf(arena, _("the plan has no block '%s'; did you mean '%s'?"), block,
                            near);
    if (ids.count == 0)
        return arena_printf(arena, _("the plan has no block '%s', and no other yet"), block);
    return arena_printf(arena, _("the plan has no block '%s'; it has: %s"), block,
                        words_text(&ids, arena));
}

/* What can be told before anything is searched; NULL: go on. */
static const char *why_not_searched(const struct search *s, const char *block) {
    if (block != NULL && s->block == NULL)
        return why_no_block(s->plan, block, s->arena);
    const struct plan_pair *twice = contradiction(s->given, s->count);
    if (twice != NULL)
        return arena_printf(s->arena, _("'%s' was said twice, with different values"), twice->name);
    if (s->block == NULL && s->count == 0)
        return _("nothing was said about the condition; name it by -c NAME=VALUE or --block");
    return NULL;
}

enum plan_match plan_match(const struct plan *plan, const char *block,
                           const struct plan_pair *given, size_t count, struct arena *arena,
                           const struct plan_condition **ret_condition, const char **ret_why) {
    struct search s = {.plan = plan, .given = given, .count = count, .arena = arena};
    s.block = block != NULL ? plan_block_find(plan, block) : NULL;
    *ret_condition = NULL;
    *ret_why = why_not_searched(&s, block);
    if (*ret_why != NULL)
        return PLAN_MATCH_NONE;
    struct found found = {0};
    for (size_t b = 0; b < plan->block_count; b++)
        if (is_searched(&s, &plan->blocks[b]))
            search_block(&s, &plan->blocks[b], &found);
    if (found.other != NULL) {
        *ret_why = why_several(&s, found.one, found.other);
        return PLAN_MATCH_SEVERAL;
    }
    if (found.one != NULL) {
        *ret_condition = found.one;
        return PLAN_MATCH_ONE;
    }
    if (found.partial != NULL) {
        *ret_why = why_too_little(&s, found.partial->block, found.missing);
        return PLAN_MATCH_SEVERAL;
    }
    *ret_why = why_none(&s);
    return PLAN_MATCH_NONE;
}

const char *plan_run_line(const struct plan_condition *condition, struct arena *arena) {
    const struct plan_block *block = condition->block;
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_add_str(&line, "probelauf run --block ");
    add_quoted(&line, block->id);
    /* an axis with one value need not be named */
    for (size_t i = 0; i < condition->axis_count && block->condition_count > 1; i++) {
        AUTO_FREE char *pair =
            mem_printf("%s=%s", condition->axes[i].name, condition->axes[i].value);
        strbuf_add_str(&line, " -c ");
        add_quoted(&line, pair);
    }
    if (block->command.count == 0)
        strbuf_add_str(&line, " -- COMMAND");
    return arena_strdup(arena, strbuf_str(&line));
}

const char *plan_command_in(const char *command, const struct plan *plan,
                            const struct plan_environment *environment, struct arena *arena) {
    static const char run[] = "probelauf run ";
    if (environment == NULL || environment->id == NULL || plan->environment_count < 2 ||
        !str_starts_with(command, run))
        return command;
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    /* in front: wherever the command ends in one of its own */
    strbuf_printf(&line, "%s--env ", run);
    add_quoted(&line, environment->id);
    strbuf_printf(&line, " %s", command + sizeof run - 1);
    return arena_strdup(arena, strbuf_str(&line));
}
