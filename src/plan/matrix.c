/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Matrices to conditions: the product of the axes in the order of the file, without what `exclude`
 * names, with what `include` adds. Work and memory are bounded before anything is expanded. Must
 * not judge what a condition is good for.
 */
#include "plan/conditions.h"
#include "plan/reading.h"

#include "base/digest.h"
#include "base/msg.h"
#include "base/str.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* Pairs of all conditions together: 64 parameters for each of the most conditions there may be. */
#define PAIRS_MAX (64u * PLAN_CONDITIONS_MAX)

struct expansion {
    struct plan_reading *reading;
    struct plan *plan;
    size_t conditions_left, pairs_left;
    bool said_huge; /* once is enough: what follows does not fit either */
};

/* ---- ids ---- */

static void add_part(struct strbuf *out, const char *part) {
    if (part == NULL) {
        strbuf_add_str(out, "-\n");
        return;
    }
    strbuf_printf(out, "%zu:%s\n", strlen(part), part);
}

void plan_condition_id(const struct plan_pair *parameters, size_t count, const char *paper_version,
                       const char *template_id, char ret_id[SHA256_HEX_SIZE]) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "probelauf.condition/1\n%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        add_part(&text, parameters[i].name);
        add_part(&text, parameters[i].value);
    }
    add_part(&text, paper_version);
    add_part(&text, template_id);
    digest_sha256(strbuf_str(&text), text.length, ret_id);
}

const char *plan_template_id(const struct plan_block *block, struct arena *arena) {
    if (block->command.count == 0)
        return NULL;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "probelauf.template/1\n%s\n", block->shell ? "shell" : "argv");
    for (size_t i = 0; i < block->command.count; i++)
        add_part(&text, block->command.items[i].text);
    char hex[SHA256_HEX_SIZE];
    digest_sha256(strbuf_str(&text), text.length, hex);
    return arena_strdup(arena, hex);
}

/* ---- names ---- */

/* A block without id was complained of, and is still looked at. */
static const char *block_name(const struct plan_block *block) {
    return block->id != NULL ? block->id : "?";
}

static const struct plan_axis *axis_find(const struct plan_block *block, const char *name) {
    for (size_t i = 0; i < block->axis_count; i++)
        if (strcmp(block->axes[i].name, name) == 0)
            return &block->axes[i];
    return NULL;
}

static const struct plan_pair *pair_find(const struct plan_pairs *pairs, const char *name) {
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->items[i].name, name) == 0)
            return &pairs->items[i];
    return NULL;
}

static const struct plan_value *value_find(const struct plan_axis *axis, const char *text) {
    for (size_t i = 0; i < axis->value_count; i++)
        if (strcmp(axis->values[i].text, text) == 0)
            return &axis->values[i];
    return NULL;
}

static int compare_value_texts(const void *a, const void *b) {
    const struct plan_value *const *left = a, *const *right = b;
    int order = strcmp((*left)->text, (*right)->text);
    if (order != 0)
        return order;
    return *left < *right ? -1 : *left > *right;
}

static void check_repeated_values(struct expansion *x, const struct plan_axis *axis) {
    AUTO_FREE const struct plan_value **sorted =
        mem_alloc((axis->value_count + 1) * sizeof(const struct plan_value *));
    for (size_t i = 0; i < axis->value_count; i++)
        sorted[i] = &axis->values[i];
    qsort(sorted, axis->value_count, sizeof *sorted, compare_value_texts);
    for (size_t i = 1; i < axis->value_count; i++)
        if (strcmp(sorted[i]->text, sorted[i - 1]->text) == 0)
            plan_complain(x->reading, sorted[i]->at, "plan-axis",
                          "value '%s' of axis '%s' stands here a second time; the first is in line "
                          "%u",
                          plan_quote(x->reading, sorted[i]->text), axis->name,
                          (unsigned)sorted[i - 1]->at.line);
}

static int compare_pair_names(const void *a, const void *b) {
    const struct plan_pair *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static void check_names(struct expansion *x, const struct plan_block *block) {
    if (block->fixed.count == 0)
        return;
    AUTO_FREE struct plan_pair *fixed = mem_alloc(block->fixed.count * sizeof *fixed);
    memcpy(fixed, block->fixed.items, block->fixed.count * sizeof *fixed);
    qsort(fixed, block->fixed.count, sizeof *fixed, compare_pair_names);
    for (size_t i = 0; i < block->axis_count; i++) {
        const struct plan_axis *axis = &block->axes[i];
        const struct plan_pair wanted = {.name = axis->name};
        const struct plan_pair *same =
            bsearch(&wanted, fixed, block->fixed.count, sizeof *fixed, compare_pair_names);
        if (same != NULL)
            plan_complain(
                x->reading, axis->at, "plan-axis",
                "'%s' is an axis here and fixed in line %u of the same block; keep one of "
                "them",
                axis->name, (unsigned)same->at.line);
    }
}

/* ---- size ---- */

static struct plan_at matrix_at(const struct plan_block *block) {
    return block->axis_count > 0 ? block->axes[0].at : block->at;
}

static void say_huge(struct expansion *x, struct plan_at at, const char *block) {
    if (x->said_huge)
        return;
    x->said_huge = true;
    plan_complain(x->reading, at, "plan-matrix-huge",
                  "with block '%s' the plan has more than %u conditions; take values out, or split "
                  "the plan",
                  block, PLAN_CONDITIONS_MAX);
}

/* Cells of the matrix before `exclude`; limit + 1 for everything above. */
static size_t count_cells(const struct plan_block *block, size_t limit) {
    if (block->axis_count == 0)
        return block->include_count > 0 ? 0 : 1; /* a list of conditions, or one */
    size_t cells = 1;
    for (size_t i = 0; i < block->axis_count; i++) {
        if (block->axes[i].value_count > limit / cells)
            return limit + 1;
        cells *= block->axes[i].value_count;
    }
    return cells;
}

/* Takes the block's share of what may be expanded; false: too much. */
static bool take_room(struct expansion *x, const struct plan_block *block, size_t *ret_cells) {
    size_t cells = count_cells(block, PLAN_CONDITIONS_MAX);
    if (cells > x->conditions_left || block->include_count > x->conditions_left - cells ||
        block->exclude_count > PLAN_CONDITIONS_MAX)
        return false;
    size_t pairs = cells * (2 * block->axis_count + block->fixed.count);
    /* cells <= 10^4 and counts of a file of 4 MiB: no overflow */
    for (size_t i = 0; i < block->include_count; i++)
        pairs += 2 * (block->axis_count + block->include[i].count) + block->fixed.count;
    if (pairs > x->pairs_left)
        return false;
    x->conditions_left -= cells + block->include_count;
    x->pairs_left -= pairs;
    *ret_cells = cells;
    return true;
}

/* ---- exclude ---- */

struct choice { /* a value of an axis, by their numbers */
    size_t axis, value;
};
struct exclusion {
    struct choice *choices;
    size_t count; /* 0: says nothing that exists */
    bool removed;
};

static void complain_no_axis(struct expansion *x, const struct plan_block *block,
                             const struct plan_pair *pair) {
    AUTO_FREE const char **names = mem_alloc((block->axis_count + 1) * sizeof(const char *));
    for (size_t i = 0; i < block->axis_count; i++)
        names[i] = block->axes[i].name;
    const char *near = str_nearest(pair->name, names, block->axis_count);
    if (near != NULL)
        plan_complain(x->reading, pair->at, "plan-exclude",
                      "block '%s' has no axis '%s'; did you mean '%s'?", block_name(block),
                      pair->name, near);
    else
        plan_complain(x->reading, pair->at, "plan-exclude", "block '%s' has no axis '%s'",
                      block_name(block), pair->name);
}

static void complain_no_value(struct expansion *x, const struct plan_axis *axis,
                              const struct plan_pair *pair) {
    double wanted = 0, number = 0;
    bool is_number = str_to_double(pair->value, &wanted) == 0;
    AUTO_FREE const char **texts = mem_alloc((axis->value_count + 1) * sizeof(const char *));
    const char *near = NULL;
    for (size_t i = 0; i < axis->value_count; i++) {
        texts[i] = axis->values[i].text;
        if (is_number && near == NULL && str_to_double(texts[i], &number) == 0 && number == wanted)
            near = texts[i];
    }
    if (near == NULL)
        near = str_nearest(pair->value, texts, axis->value_count);
    if (near != NULL)
        plan_complain(x->reading, pair->at, "plan-exclude",
                      "axis '%s' has no value '%s'; did you mean '%s'? Values are compared as "
                      "written",
                      axis->name, plan_quote(x->reading, pair->value),
                      plan_quote(x->reading, near));
    else
        plan_complain(x->reading, pair->at, "plan-exclude",
                      "axis '%s' has no value '%s', so this excludes nothing", axis->name,
                      plan_quote(x->reading, pair->value));
}

static void resolve_exclusion(struct expansion *x, const struct plan_block *block,
                              const struct plan_pairs *pairs, struct exclusion *ret) {
    *ret = (struct exclusion){.choices = mem_alloc((pairs->count + 1) * sizeof *ret->choices)};
    if (pairs->count == 0)
        plan_complain(x->reading, pairs->at, "plan-exclude",
                      "an entry of exclude that names no axis would exclude everything");
    for (size_t i = 0; i < pairs->count; i++) {
        const struct plan_pair *pair = &pairs->items[i];
        const struct plan_axis *axis = axis_find(block, pair->name);
        const struct plan_value *value = axis != NULL ? value_find(axis, pair->value) : NULL;
        if (value == NULL) {
            if (axis == NULL)
                complain_no_axis(x, block, pair);
            else
                complain_no_value(x, axis, pair);
            ret->count = 0;
            return;
        }
        ret->choices[ret->count++] = (struct choice){.axis = (size_t)(axis - block->axes),
                                                     .value = (size_t)(value - axis->values)};
    }
}

static bool excludes(const struct exclusion *exclusion, const size_t *cell) {
    for (size_t i = 0; i < exclusion->count; i++)
        if (cell[exclusion->choices[i].axis] != exclusion->choices[i].value)
            return false;
    return exclusion->count > 0;
}

/* ---- conditions ---- */

/* Parameters, id and label, once axes, state and support are there. */
static void finish_condition(const struct expansion *x, const struct plan_block *block,
                             struct plan_condition *condition) {
    struct arena *arena = x->plan->arena;
    size_t count = condition->axis_count + block->fixed.count;
    condition->block = block;
    condition->parameters = arena_alloc(arena, (count + 1) * sizeof *condition->parameters);
    for (size_t i = 0; i < condition->axis_count; i++)
        condition->parameters[i] = condition->axes[i];
    for (size_t i = 0; i < block->fixed.count; i++)
        condition->parameters[condition->axis_count + i] = block->fixed.items[i];
    condition->parameter_count = count;
    qsort(condition->parameters, count, sizeof *condition->parameters, compare_pair_names);
    plan_condition_id(condition->parameters, count, x->plan->study.paper_version,
                      block->template_id, condition->id);
    AUTO_STRBUF struct strbuf label = STRBUF_INIT;
    for (size_t i = 0; i < condition->axis_count; i++)
        strbuf_printf(&label, "%s%s=%s", i > 0 ? " " : "", condition->axes[i].name,
                      condition->axes[i].value);
    condition->label =
        arena_strdup(arena, label.length > 0 ? strbuf_str(&label) : block_name(block));
}

/* A condition is as weak as the weakest of its values, and as supported as the least. */
static void add_backing(struct plan_condition *condition, enum plan_backing state,
                        enum plan_answer supported) {
    if (state < condition->state)
        condition->state = state;
    if (supported == PLAN_NO || condition->supported == PLAN_NO)
        condition->supported = PLAN_NO;
    else if (supported == PLAN_UNSAID)
        condition->supported = PLAN_UNSAID;
}

static struct plan_condition *condition_add(struct expansion *x, struct plan_block *block,
                                            struct plan_at at, size_t most_axes) {
    struct plan_condition *condition = &block->conditions[block->condition_count++];
    condition->at = at;
    condition->axes = arena_alloc(x->plan->arena, (most_axes + 1) * sizeof *condition->axes);
    condition->state = PLAN_CONFIRMED; /* until a value says less */
    condition->supported = PLAN_YES;
    return condition;
}

static void add_cell(struct expansion *x, struct plan_block *block, const size_t *cell) {
    struct plan_condition *condition = condition_add(x, block, matrix_at(block), block->axis_count);
    for (size_t i = 0; i < block->axis_count; i++) {
        const struct plan_axis *axis = &block->axes[i];
        const struct plan_value *value = &axis->values[cell[i]];
        condition->axes[condition->axis_count++] =
            (struct plan_pair){.name = axis->name, .value = value->text, .at = value->at};
        add_backing(condition, value->state, value->supported);
    }
    if (block->axis_count == 0)
        add_backing(condition, block->state, PLAN_UNSAID);
    finish_condition(x, block, condition);
}

/* The next cell, the last axis fastest; false behind the last. */
static bool next_cell(const struct plan_block *block, size_t *cell) {
    for (size_t i = block->axis_count; i > 0; i--) {
        if (++cell[i - 1] < block->axes[i - 1].value_count)
            return true;
        cell[i - 1] = 0;
    }
    return false;
}

static void expand_cells(struct expansion *x, struct plan_block *block, size_t cells) {
    AUTO_FREE struct exclusion *exclusions =
        mem_alloc((block->exclude_count + 1) * sizeof *exclusions);
    for (size_t i = 0; i < block->exclude_count; i++)
        resolve_exclusion(x, block, &block->exclude[i], &exclusions[i]);
    AUTO_FREE size_t *cell = mem_alloc((block->axis_count + 1) * sizeof *cell);
    for (size_t n = 0; n < cells; n++) {
        bool excluded = false;
        for (size_t i = 0; i < block->exclude_count && !excluded; i++) {
            excluded = excludes(&exclusions[i], cell);
            exclusions[i].removed |= excluded;
        }
        if (!excluded)
            add_cell(x, block, cell);
        (void)next_cell(block, cell);
    }
    for (size_t i = 0; i < block->exclude_count; i++) {
        if (exclusions[i].count > 0 && !exclusions[i].removed)
            plan_warn(x->reading, block->exclude[i].at, "plan-exclude",
                      "this excludes nothing that the entries before it have left");
        mem_free_ptr(&exclusions[i].choices);
    }
}

/* ---- include ---- */

static const struct plan_condition *find_same(const struct plan_block *block,
                                              const struct plan_condition *condition) {
    for (size_t i = 0; i < block->condition_count; i++)
        if (&block->conditions[i] != condition &&
            memcmp(block->conditions[i].id, condition->id, SHA256_HEX_SIZE) == 0)
            return &block->conditions[i];
    return NULL;
}

static void include_pair(struct plan_condition *condition, const struct plan_block *block,
                         const struct plan_axis *axis, const struct plan_pair *pair) {
    const struct plan_value *value = axis != NULL ? value_find(axis, pair->value) : NULL;
    condition->axes[condition->axis_count++] = *pair;
    /* What no axis holds is backed by the block as a whole. */
    if (value != NULL)
        add_backing(condition, value->state, value->supported);
    else
        add_backing(condition, block->state, PLAN_UNSAID);
}

/* The axes in the order of the matrix; false: one is not said. */
static bool include_axes(struct expansion *x, const struct plan_block *block,
                         const struct plan_pairs *pairs, struct plan_condition *condition) {
    for (size_t i = 0; i < block->axis_count; i++) {
        const struct plan_axis *axis = &block->axes[i];
        const struct plan_pair *pair = pair_find(pairs, axis->name);
        struct plan_pair only = {.name = axis->name, .at = pairs->at};
        if (pair == NULL && axis->value_count == 1) {
            only.value = axis->values[0].text;
            pair = &only;
        }
        if (pair == NULL) {
            plan_complain(x->reading, pairs->at, "plan-include",
                          "this entry of include does not say '%s', which has several values",
                          axis->name);
            return false;
        }
        include_pair(condition, block, axis, pair);
    }
    return true;
}

static bool include_others(struct expansion *x, const struct plan_block *block,
                           const struct plan_pairs *pairs, struct plan_condition *condition) {
    for (size_t i = 0; i < pairs->count; i++) {
        const struct plan_pair *pair = &pairs->items[i];
        if (axis_find(block, pair->name) != NULL)
            continue;
        const struct plan_pair *fixed = pair_find(&block->fixed, pair->name);
        if (fixed != NULL) {
            plan_complain(x->reading, pair->at, "plan-include",
                          "'%s' is fixed for the whole block in line %u; make it an axis if it "
                          "varies",
                          pair->name, (unsigned)fixed->at.line);
            return false;
        }
        include_pair(condition, block, NULL, pair);
    }
    return true;
}

static void expand_include(struct expansion *x, struct plan_block *block,
                           const struct plan_pairs *pairs) {
    if (pairs->count == 0) {
        plan_complain(x->reading, pairs->at, "plan-include", "this entry of include says nothing");
        return;
    }
    struct plan_condition *condition =
        condition_add(x, block, pairs->at, block->axis_count + pairs->count);
    if (!include_axes(x, block, pairs, condition) || !include_others(x, block, pairs, condition)) {
        *condition = (struct plan_condition){0};
        block->condition_count--;
        return;
    }
    finish_condition(x, block, condition);
    const struct plan_condition *same = find_same(block, condition);
    if (same != NULL) {
        plan_warn(x->reading, pairs->at, "plan-include",
                  "condition '%s' is there already (line %u); this entry adds nothing",
                  plan_quote(x->reading, condition->label), (unsigned)same->at.line);
        *condition = (struct plan_condition){0};
        block->condition_count--;
    }
}

/* ---- a block ---- */

/* An axis without values would leave nothing of the whole matrix. */
static bool check_axes_filled(struct expansion *x, const struct plan_block *block) {
    bool filled = true;
    for (size_t i = 0; i < block->axis_count; i++)
        if (block->axes[i].value_count == 0) {
            plan_complain(x->reading, block->axes[i].at, "plan-matrix-empty",
                          "axis '%s' has no values", block->axes[i].name);
            filled = false;
        }
    return filled;
}

/* What is not written at a value is as its axis says. Values that could not be read were complained
 * of, and go. */
static void inherit(struct plan_axis *axis) {
    size_t read = axis->value_count;
    axis->value_count = 0;
    for (size_t i = 0; i < read; i++) {
        if (axis->values[i].text == NULL)
            continue;
        struct plan_value *value = &axis->values[axis->value_count++];
        *value = axis->values[i];
        if (!value->has_state && value->state == PLAN_UNDETERMINED)
            value->state = axis->state;
        if (value->source == NULL)
            value->source = axis->source;
        if (!value->has_supported && value->supported == PLAN_UNSAID) {
            value->supported = axis->supported;
            if (value->supported_source == NULL)
                value->supported_source = axis->supported_source;
        }
    }
}

static void expand_block(struct expansion *x, struct plan_block *block) {
    if (block->template_id == NULL)
        block->template_id = plan_template_id(block, x->plan->arena);
    size_t cells = 0;
    for (size_t i = 0; i < block->axis_count; i++)
        inherit(&block->axes[i]);
    check_names(x, block);
    if (!check_axes_filled(x, block))
        return;
    if (!take_room(x, block, &cells)) {
        say_huge(x, matrix_at(block), block_name(block));
        return;
    }
    for (size_t i = 0; i < block->axis_count; i++)
        check_repeated_values(x, &block->axes[i]);
    block->conditions =
        arena_alloc(x->plan->arena, (cells + block->include_count + 1) * sizeof *block->conditions);
    expand_cells(x, block, cells);
    bool all_excluded = cells > 0 && block->condition_count == 0;
    for (size_t i = 0; i < block->include_count; i++)
        expand_include(x, block, &block->include[i]);
    if (block->condition_count == 0 && all_excluded)
        plan_complain(x->reading, matrix_at(block), "plan-matrix-empty",
                      "block '%s' excludes all of its conditions", block_name(block));
}

/* ---- spellings ---- */

struct spelling { /* of a number that is the value of a parameter */
    const char *name, *text;
    double number;
    struct plan_at at;
};
struct spellings {
    struct spelling *items;
    size_t count, room;
};

static void spelling_add(struct spellings *all, const char *name, const char *text,
                         struct plan_at at) {
    double number = 0;
    if (str_to_double(text, &number) != 0)
        return;
    if (all->count == all->room) {
        all->room = all->room > 0 ? 2 * all->room : 64;
        all->items = mem_realloc(all->items, all->room, sizeof *all->items);
    }
    all->items[all->count++] =
        (struct spelling){.name = name, .text = text, .number = number, .at = at};
}

static void spellings_add_pairs(struct spellings *all, const struct plan_pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++)
        spelling_add(all, pairs->items[i].name, pairs->items[i].value, pairs->items[i].at);
}

static int compare_places(struct plan_at a, struct plan_at b) {
    if (a.line != b.line)
        return a.line < b.line ? -1 : 1;
    return a.column < b.column ? -1 : a.column > b.column;
}

/* By name and number, in the order of the file. */
static int compare_spellings(const void *a, const void *b) {
    const struct spelling *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    if (order != 0)
        return order;
    if (left->number < right->number)
        return -1;
    return left->number > right->number ? 1 : compare_places(left->at, right->at);
}

static bool is_same_number(const struct spelling *a, const struct spelling *b) {
    return a->number == b->number && strcmp(a->name, b->name) == 0;
}

/* 0.5 and 0.50 are two conditions: texts are compared as written. */
static void warn_spellings(struct plan_reading *reading) {
    struct plan *plan = reading->plan;
    struct spellings all = {0};
    for (size_t i = 0; i < plan->block_count; i++) {
        const struct plan_block *block = &plan->blocks[i];
        for (size_t j = 0; j < block->axis_count; j++)
            for (size_t k = 0; k < block->axes[j].value_count; k++)
                spelling_add(&all, block->axes[j].name, block->axes[j].values[k].text,
                             block->axes[j].values[k].at);
        spellings_add_pairs(&all, &block->fixed);
        for (size_t j = 0; j < block->include_count; j++)
            spellings_add_pairs(&all, &block->include[j]);
    }
    if (all.count > 0)
        qsort(all.items, all.count, sizeof *all.items, compare_spellings);
    const struct spelling *first = NULL;
    for (size_t i = 0; i < all.count; i++) {
        const struct spelling *one = &all.items[i];
        if (first == NULL || !is_same_number(first, one))
            first = one;
        else if (strcmp(first->text, one->text) != 0)
            plan_warn(reading, one->at, "plan-spelling",
                      "'%s' is '%s' here and '%s' in line %u: the same number, but two "
                      "conditions, since texts are compared as written",
                      one->name, plan_quote(reading, one->text), plan_quote(reading, first->text),
                      (unsigned)first->at.line);
    }
    mem_free_ptr(&all.items);
}

void plan_expand(struct plan_reading *reading) {
    struct expansion x = {.reading = reading,
                          .plan = reading->plan,
                          .conditions_left = PLAN_CONDITIONS_MAX,
                          .pairs_left = PAIRS_MAX};
    for (size_t i = 0; i < x.plan->block_count; i++)
        expand_block(&x, &x.plan->blocks[i]);
    warn_spellings(reading);
}
