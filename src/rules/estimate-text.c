/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is not in the figures, in words: open parts with what would close them, what weakens the
 * base, and whether the whole is provisional. Must leave out no open part.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/strbuf.h"

#include <stdarg.h>
#include <string.h>

#define NAMED_MOST 3u /* items named in one line; the others are counted */

void estimate_lines_add(struct estimate_lines *lines, const char *text, struct arena *arena) {
    if (lines->count == lines->room) {
        size_t room = lines->room ? 2 * lines->room : 16;
        const char **items = arena_alloc(arena, room * sizeof *items);
        if (lines->count > 0)
            memcpy(items, lines->items, lines->count * sizeof *items);
        lines->items = items;
        lines->room = room;
    }
    lines->items[lines->count++] = text;
}

/* ---- open parts of a block ---- */

/* What would close an open component. */
static const char *how_to_close(enum component k, enum quantity_reason reason) {
    if (reason == QUANTITY_NOT_ENTERED)
        return _("enter it in the plan");
    switch (k) {
    case COMPONENT_PREPARE:
    case COMPONENT_DATA:
    case COMPONENT_TRANSFER:
    case COMPONENT_FIXING:
    case COMPONENT_CHECKING:
    case COMPONENT_TEARDOWN:
        return _("measure it as a step of the plan with 'probelauf run --step NAME -- …', mark the "
                 "phase in the runs, or assume it");
    case COMPONENT_RUNS:
        return _("make a run of it with 'probelauf run -c NAME=VALUE -- …'");
    case COMPONENT_RETRIES:
        return _("further attempts show it, or assume BLOCK.lost-time and BLOCK.failure-rate");
    case COMPONENT_IDLE:
        return _("assume BLOCK.idle");
    case COMPONENT_COUNT_:
        break;
    }
    return NULL;
}

struct group { /* items with the same text */
    const char *detail;
    enum quantity_reason reason;
    const char *names[NAMED_MOST];
    size_t count;
};
struct groups {
    struct group *items;
    size_t count, room;
};

static void group_add(struct groups *groups, const char *name, const char *detail,
                      enum quantity_reason reason, struct arena *arena) {
    size_t at = 0;
    while (at < groups->count &&
           (strcmp(groups->items[at].detail, detail) != 0 || groups->items[at].reason != reason))
        at++;
    if (at == groups->count) {
        if (groups->count == groups->room) {
            size_t room = groups->room ? 2 * groups->room : 4;
            struct group *items = arena_alloc(arena, room * sizeof *items);
            if (groups->count > 0)
                memcpy(items, groups->items, groups->count * sizeof *items);
            groups->items = items;
            groups->room = room;
        }
        groups->items[groups->count++] = (struct group){.detail = detail, .reason = reason};
    }
    struct group *group = &groups->items[at];
    if (group->count < NAMED_MOST)
        group->names[group->count] = name;
    group->count++;
}

static const char *group_names(const struct group *group, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < group->count && i < NAMED_MOST; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", group->names[i]);
    if (group->count > NAMED_MOST) {
        size_t more = group->count - NAMED_MOST;
        strbuf_printf(&text, msg_plural((unsigned long)more, " and %zu more", " and %zu more"),
                      more);
    }
    return arena_strdup(arena, strbuf_str(&text));
}

static void component_lines(const struct estimate_component *component, struct arena *arena,
                            struct estimate_lines *lines) {
    const char *name = component_name(component->component);
    struct groups open = {NULL, 0, 0};
    struct groups least = {NULL, 0, 0};
    struct groups unsaid = {NULL, 0, 0};

    if (component->item_count == 0 && !quantity_is_known(&component->time))
        estimate_lines_add(lines,
                           arena_printf(arena, "%s: %s; %s", name,
                                        component->time.detail ? component->time.detail : "",
                                        how_to_close(component->component, component->time.reason)),
                           arena);
    for (size_t i = 0; i < component->item_count; i++) {
        const struct estimate_item *item = &component->items[i];
        const char *detail = item->time.detail ? item->time.detail : "";
        if (!quantity_is_known(&item->time))
            group_add(&open, item->name, detail, item->time.reason, arena);
        else if (item->time.bound == QUANTITY_AT_LEAST)
            group_add(&least, item->name, detail, QUANTITY_NO_REASON, arena);
        if (item->needs_machine == PLAN_UNSAID)
            group_add(&unsaid, item->name, "", QUANTITY_NO_REASON, arena);
    }
    for (size_t i = 0; i < open.count; i++)
        estimate_lines_add(lines,
                           arena_printf(arena, "%s: %s: %s; %s", name,
                                        group_names(&open.items[i], arena), open.items[i].detail,
                                        how_to_close(component->component, open.items[i].reason)),
                           arena);
    for (size_t i = 0; i < least.count; i++)
        estimate_lines_add(lines,
                           arena_printf(arena, _("%s: %s: at least: %s; %s"), name,
                                        group_names(&least.items[i], arena), least.items[i].detail,
                                        how_to_close(component->component, QUANTITY_NO_REASON)),
                           arena);
    for (size_t i = 0; i < unsaid.count; i++)
        estimate_lines_add(
            lines,
            arena_printf(arena,
                         _("%s: %s: whether it needs the rented machine is not said; it is counted "
                           "as if it did; enter needs_machine"),
                         name, group_names(&unsaid.items[i], arena)),
            arena);
}

void estimate_block_open(struct block_work *work) {
    struct arena *arena = work->maker->arena;
    struct estimate_lines lines = {NULL, 0, 0};

    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        component_lines(&work->ret->components[k], arena, &lines);
    if (work->lanes > 1 && !work->nothing_left)
        estimate_lines_add(
            &lines,
            arena_printf(arena,
                         _("calendar: %llu lanes side by side: the time is at least the share of "
                           "one lane, since a run cannot be divided; runs in one lane have no such "
                           "bound"),
                         (unsigned long long)work->lanes),
            arena);
    const struct quantity *gpu = &work->ret->figures.gpu;
    if (!quantity_is_known(gpu) && gpu->reason == QUANTITY_NOT_ENTERED &&
        quantity_is_known(&work->ret->figures.reserved))
        estimate_lines_add(&lines,
                           arena_printf(arena, _("GPU time: %s; enter gpus of the environment"),
                                        gpu->detail ? gpu->detail : ""),
                           arena);
    work->ret->open = lines.items;
    work->ret->open_count = lines.count;
}

/* ---- over all blocks ---- */

struct said { /* one line and the blocks that say it */
    const char *text;
    struct estimate_lines blocks;
};

static const char *blocks_text(const struct estimate_lines *blocks, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < blocks->count; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", blocks->items[i]);
    return arena_strdup(arena, strbuf_str(&text));
}

void estimate_open(struct estimate_maker *maker, const struct estimate_lines *tasks) {
    struct estimate *ret = maker->ret;
    size_t most = 0;
    size_t count = 0;

    for (size_t b = 0; b < ret->block_count; b++)
        most += ret->blocks[b].open_count;
    struct said *said = arena_alloc(maker->arena, (most + 1) * sizeof *said);
    for (size_t b = 0; b < ret->block_count; b++)
        for (size_t i = 0; i < ret->blocks[b].open_count; i++) {
            const char *text = ret->blocks[b].open[i];
            size_t at = 0;
            while (at < count && strcmp(said[at].text, text) != 0)
                at++;
            if (at == count)
                said[count++].text = text;
            estimate_lines_add(&said[at].blocks, ret->blocks[b].block->block->id, maker->arena);
        }
    const char **open = arena_alloc(maker->arena, (count + tasks->count + 1) * sizeof *open);
    for (size_t i = 0; i < count; i++)
        open[i] = arena_printf(maker->arena, "%s: %s", blocks_text(&said[i].blocks, maker->arena),
                               said[i].text);
    for (size_t i = 0; i < tasks->count; i++)
        open[count++] = tasks->items[i];
    ret->open = open;
    ret->open_count = count;
}

/* ---- how good the base is (D4) ---- */

struct base {
    size_t none, function_tests, single, outliers, different, not_separated, counted;
};

/* Did the runs of the condition process the same amount, as far as they say? */
static bool is_work_different(const struct condition_work *c) {
    for (size_t i = 1; i < c->count_used; i++) {
        const struct run *a = c->runs[0];
        const struct run *b = c->runs[i];
        const struct quantity *pairs[][2] = {{&a->work_items, &b->work_items},
                                             {&a->work_length, &b->work_length},
                                             {&a->work_batch, &b->work_batch}};
        for (size_t p = 0; p < ARRAY_LENGTH(pairs); p++)
            if (quantity_is_known(pairs[p][0]) && quantity_is_known(pairs[p][1]) &&
                pairs[p][0]->value != pairs[p][1]->value)
                return true;
    }
    return false;
}

static struct base look_at_base(const struct block_work *work) {
    struct base base = {0};
    for (size_t i = 0; i < work->condition_count; i++) {
        const struct condition_work *c = &work->conditions[i];
        AUTO_FREE bool *outlier = mem_alloc((c->count_used + 1) * sizeof *outlier);
        bool separated = false;
        base.counted += c->count_used > 0;
        base.single += c->count_used == 1;
        base.function_tests += c->count_used == 0 && c->study->level == EVIDENCE_FUNCTION_TEST;
        base.none += c->count_used == 0 && c->study->level != EVIDENCE_FUNCTION_TEST;
        base.different += is_work_different(c);
        predict_mark_outliers(c->walls, c->count_used, outlier);
        for (size_t r = 0; r < c->count_used; r++) {
            base.outliers += outlier[r];
            separated |= estimate_is_separated(c->runs[r]);
        }
        base.not_separated += c->count_used > 0 && !separated;
    }
    return base;
}

/* fmt prints the count. */
__attribute__((format(printf, 4, 5))) static void
add_finding(struct block_work *work, const char **text, size_t count, const char *fmt, ...) {
    va_list args;
    if (count == 0)
        return;
    va_start(args, fmt);
    AUTO_FREE char *finding = mem_vprintf(fmt, args);
    va_end(args);
    struct arena *arena = work->maker->arena;
    *text = piece_join(arena, *text, arena_strdup(arena, finding));
}

void estimate_block_weakness(struct block_work *work) {
    struct base base = look_at_base(work);
    const char *text = NULL;
    size_t n = base.none;

    add_finding(work, &text, n,
                msg_plural((unsigned long)n, "%zu condition has no run that counts",
                           "%zu conditions have no run that counts"),
                n);
    n = base.function_tests;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n, "%zu condition has only function tests",
                           "%zu conditions have only function tests"),
                n);
    n = base.single;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n, "%zu condition rests on a single run",
                           "%zu conditions rest on a single run each"),
                n);
    n = base.different;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n,
                           "the runs of %zu condition processed different amounts",
                           "the runs of %zu conditions processed different amounts"),
                n);
    n = base.outliers;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n,
                           "%zu run stands apart from the others of its condition",
                           "%zu runs stand apart from the others of their condition"),
                n);
    n = base.not_separated;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n, "no run of %zu condition tells its phases apart",
                           "no run of %zu conditions tells its phases apart"),
                n);
    work->ret->weakness = text;
}

/* ---- provisional (A10) ---- */

static bool is_about_base(const struct plan_fact *fact) {
    static const char *const about[] = {"weights", "data", "code"};
    for (size_t i = 0; i < ARRAY_LENGTH(about); i++)
        if (fact->about && strcmp(fact->about, about[i]) == 0)
            return true;
    return false;
}

static bool has_no_evidence(const struct study_block *block) {
    for (size_t i = 0; i < block->condition_count; i++)
        if (block->conditions[i].level == EVIDENCE_MEASURED)
            return false;
    return true;
}

void estimate_provisional(struct estimate_maker *maker) {
    const struct study *study = maker->study;
    struct arena *arena = maker->arena;
    const char *why = NULL;

    for (size_t i = 0; i < study->open_fact_count; i++)
        if (is_about_base(study->open_facts[i]))
            why =
                piece_join(arena, why,
                           arena_printf(arena, _("fact '%s' is open"),
                                        study->open_facts[i]->id ? study->open_facts[i]->id : ""));
    for (size_t i = 0; i < study->block_count; i++) {
        const struct study_block *block = &study->blocks[i];
        if (block->block->kind == PLAN_VALIDATE && has_no_evidence(block))
            why = piece_join(
                arena, why,
                arena_printf(arena, _("no run counts for block '%s' yet"), block->block->id));
    }
    maker->ret->provisional = why != NULL;
    if (why)
        maker->ret->provisional_why = arena_printf(
            arena, _("provisional: %s; rent only to clear this up; plan no full block"), why);
}
