/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open parts in few lines (estimate-open.h). Must leave out none: every part is in some line. */
#include "report/estimate-open.h"

#include "base/msg.h"
#include "base/strbuf.h"
#include "report/study-words.h"

#include <string.h>

#define ITEMS_NAMED 3u

/* What is open for the same reason: in each of these blocks each of these components. */
struct group {
    const struct estimate_open *first;
    const struct plan_block **blocks; /* NULL among them: of no block */
    size_t block_count;
    unsigned components; /* a bit each; 0: a figure */
    bool in_use;
};

struct grouping {
    const struct estimate *estimate;
    struct arena *arena;
    enum open_detail detail;
    struct group *groups;
    size_t count;
};

/* All conditions of a block need no names. */
static bool is_whole_block(const struct estimate_open *part) {
    if (!part->block || part->item_count != part->block->condition_count)
        return false;
    for (size_t i = 0; i < part->item_count; i++)
        if (!part->items[i]->condition)
            return false;
    return true;
}

static size_t names_of(const struct estimate_open *part) {
    return is_whole_block(part) ? 0 : part->item_count;
}

static bool is_same(const struct estimate_open *a, const struct estimate_open *b) {
    if (a->kind != b->kind || strcmp(a->what, b->what) != 0 || names_of(a) != names_of(b))
        return false;
    for (size_t i = 0; i < names_of(a); i++)
        if (strcmp(a->items[i]->name, b->items[i]->name) != 0)
            return false;
    return true;
}

static unsigned bit_of(const struct estimate_open *part) {
    return part->has_component ? 1U << part->component : 0;
}

/* First the blocks of each component. */
static void take_part(struct grouping *grouping, const struct estimate_open *part) {
    for (size_t i = 0; i < grouping->count; i++) {
        struct group *group = &grouping->groups[i];
        if (group->components == bit_of(part) && is_same(group->first, part)) {
            if (group->blocks[group->block_count - 1] != part->block)
                group->blocks[group->block_count++] = part->block;
            return;
        }
    }
    struct group *group = &grouping->groups[grouping->count++];
    *group = (struct group){.first = part, .components = bit_of(part), .in_use = true};
    group->blocks = arena_alloc(grouping->arena,
                                (grouping->estimate->block_count + 1) * sizeof(*group->blocks));
    group->blocks[group->block_count++] = part->block;
}

static bool has_same_blocks(const struct group *a, const struct group *b) {
    if (a->block_count != b->block_count)
        return false;
    for (size_t i = 0; i < a->block_count; i++)
        if (a->blocks[i] != b->blocks[i])
            return false;
    return true;
}

/* Then the components of the same blocks. */
static void unite(struct grouping *grouping) {
    for (size_t i = 0; i < grouping->count; i++)
        for (size_t k = i + 1; grouping->groups[i].in_use && k < grouping->count; k++) {
            struct group *a = &grouping->groups[i], *b = &grouping->groups[k];
            if (!b->in_use || a->components == 0 || b->components == 0 ||
                !is_same(a->first, b->first) || !has_same_blocks(a, b))
                continue;
            a->components |= b->components;
            b->in_use = false;
        }
}

/* ---- words ---- */

static void add_blocks(const struct grouping *grouping, const struct group *group,
                       struct strbuf *out) {
    if (group->block_count == grouping->estimate->block_count && group->block_count > 1) {
        strbuf_printf(out, "%s: ", _("all blocks"));
        return;
    }
    for (size_t i = 0; i < group->block_count; i++)
        if (group->blocks[i])
            strbuf_printf(out, "%s%s", group->blocks[i]->id,
                          i + 1 < group->block_count ? ", " : ": ");
}

static void add_components(const struct group *group, struct strbuf *out) {
    size_t begin = out->length;
    for (int i = 0; i < COMPONENT_COUNT_; i++)
        if (group->components & (1U << i))
            strbuf_printf(out, "%s%s", out->length > begin ? ", " : "",
                          study_words_component((enum component)i));
    if (out->length > begin)
        strbuf_add_str(out, ": ");
}

static void add_items(const struct grouping *grouping, const struct estimate_open *part,
                      struct strbuf *out) {
    size_t count = names_of(part);
    size_t shown = grouping->detail != OPEN_BRIEF || count <= ITEMS_NAMED + 1 ? count : ITEMS_NAMED;
    for (size_t i = 0; i < shown; i++) {
        strbuf_add_str(out, i > 0 ? ", " : "");
        study_words_add_item(out, part->items[i]->name);
    }
    if (shown < count)
        strbuf_printf(out,
                      msg_plural((unsigned long)(count - shown), " and %zu more", " and %zu more"),
                      count - shown);
    if (count > 0)
        strbuf_add_str(out, ": ");
}

static const char *line_text(const struct grouping *grouping, const struct group *group) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    add_blocks(grouping, group, &text);
    add_components(group, &text);
    add_items(grouping, group->first, &text);
    strbuf_add_str(&text, group->first->what);
    return arena_strdup(grouping->arena, strbuf_str(&text));
}

static struct open_line remedy_of(const struct grouping *grouping, enum estimate_remedy kind) {
    const struct estimate *estimate = grouping->estimate;
    const struct estimate_open **parts =
        arena_alloc(grouping->arena, (estimate->open_count + 1) * sizeof(*parts));
    size_t count = 0;
    for (size_t i = 0; i < estimate->open_count; i++)
        if (estimate->open[i].kind == kind)
            parts[count++] = &estimate->open[i];
    struct open_line line = {.remedy = estimate_remedy_text(estimate, parts, count,
                                                            grouping->detail == OPEN_ALL,
                                                            grouping->arena)};
    if (grouping->detail == OPEN_ALL)
        line.command_count =
            estimate_remedy_commands(estimate, parts, count, grouping->arena, &line.commands);
    return line;
}

size_t open_lines(const struct estimate *estimate, enum open_detail detail, struct arena *arena,
                  struct open_line **ret_lines) {
    struct grouping grouping = {.estimate = estimate, .arena = arena, .detail = detail};
    size_t count = 0;
    grouping.groups = arena_alloc(arena, (estimate->open_count + 1) * sizeof(*grouping.groups));
    *ret_lines = arena_alloc(arena, (estimate->open_count + 1) * sizeof(**ret_lines));
    for (size_t i = 0; i < estimate->open_count; i++)
        take_part(&grouping, &estimate->open[i]);
    unite(&grouping);
    for (int kind = 0; kind < ESTIMATE_REMEDY_COUNT_; kind++) {
        struct open_line line = remedy_of(&grouping, (enum estimate_remedy)kind);
        for (size_t i = 0; i < grouping.count; i++) {
            const struct group *group = &grouping.groups[i];
            if (!group->in_use || (int)group->first->kind != kind)
                continue;
            line.text = line_text(&grouping, group);
            (*ret_lines)[count++] = line;
        }
    }
    return count;
}

const char *open_provisional(const struct estimate *estimate, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < estimate->provisional_count; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? "; " : "", estimate->provisional_reasons[i]);
    return arena_strdup(arena, strbuf_str(&text));
}
