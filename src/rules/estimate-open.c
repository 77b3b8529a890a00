/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is not in the figures: each open part with its block, component and items, why it is open,
 * and what would close it, in the plan's own names. Must leave out no open part; how many of them
 * stand on one line is for those who print them.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/strbuf.h"
#include "plan/plan.h"

#include <ctype.h>
#include <string.h>

#define KEYS_NAMED 3u /* of assumptions; beyond, the others are counted */

/* ---- names ---- */

/* A word of a command line; quoted where a shell would read it otherwise. */
static void add_word(struct strbuf *out, const char *text) {
    bool plain = text[0] != '\0';
    for (const char *c = text; *c; c++)
        plain = plain && (isalnum((unsigned char)*c) || strchr("-_=./,:+@%^", *c));
    if (plain) {
        strbuf_add_str(out, text);
        return;
    }
    strbuf_add_char(out, '\'');
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            strbuf_add_str(out, "'\\''");
        else
            strbuf_add_char(out, *c);
    strbuf_add_char(out, '\'');
}

const char *estimate_step_command(const struct plan_step *step, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "probelauf run --step ");
    add_word(&text, step->name);
    if (step->run.count == 0)
        strbuf_add_str(&text, " -- COMMAND");
    return arena_strdup(arena, strbuf_str(&text));
}

const char *estimate_command_in(const struct study *study, const char *command,
                                struct arena *arena) {
    const struct study_input *input = study->input;
    return input == NULL || input->plan == NULL
               ? command
               : plan_command_in(command, input->plan, input->environment, arena);
}

const char *estimate_condition_command(const struct plan_block *block,
                                       const struct plan_condition *condition,
                                       struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "probelauf run --block ");
    add_word(&text, block->id);
    for (size_t i = 0; i < condition->axis_count; i++) {
        AUTO_FREE char *pair =
            mem_printf("%s=%s", condition->axes[i].name, condition->axes[i].value);
        strbuf_add_str(&text, " -c ");
        add_word(&text, pair);
    }
    if (block->command.count == 0)
        strbuf_add_str(&text, " -- COMMAND");
    return arena_strdup(arena, strbuf_str(&text));
}

/* ---- lists of words, each once ---- */

struct words {
    const char **items;
    size_t count;
};

static void words_add(struct words *words, const char *text) {
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->items[i], text) == 0)
            return;
    words->items[words->count++] = text;
}

static struct words words_new(size_t most, struct arena *arena) {
    return (struct words){arena_alloc(arena, (most + 1) * sizeof(char *)), 0};
}

/* "a, b, c"; beyond `most` the others are counted. */
static const char *words_text(const struct words *words, size_t most, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < words->count && i < most; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", words->items[i]);
    if (words->count > most) {
        size_t more = words->count - most;
        strbuf_printf(&text, msg_plural((unsigned long)more, " and %zu more", " and %zu more"),
                      more);
    }
    return arena_strdup(arena, strbuf_str(&text));
}

/* ---- what closes parts of one kind ---- */

struct remedy {
    const struct estimate *estimate;
    const struct estimate_open *const *parts;
    size_t count;
    bool whole;
    struct arena *arena;
};

/* The components among the parts. */
static unsigned components_of(const struct remedy *remedy) {
    unsigned mask = 0;
    for (size_t i = 0; i < remedy->count; i++)
        if (remedy->parts[i]->has_component)
            mask |= 1U << remedy->parts[i]->component;
    return mask;
}

/* Is the component open in every block of several? Then one key stands for all. */
static bool is_everywhere(const struct remedy *remedy, enum component k) {
    const struct estimate *estimate = remedy->estimate;
    size_t found = 0;
    for (size_t b = 0; b < estimate->block_count; b++)
        for (size_t i = 0; i < remedy->count; i++)
            if (remedy->parts[i]->block == estimate->blocks[b].block->block &&
                remedy->parts[i]->has_component && remedy->parts[i]->component == k) {
                found++;
                break;
            }
    return found > 1 && found == estimate->block_count;
}

/* "compare.lost-time=TIME", "'*.idle=TIME'". name NULL: that of each part's component. */
static void add_keys(const struct remedy *remedy, const char *name, const char *value,
                     bool everywhere, struct words *keys) {
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        const char *last = name ? name : component_name(k);
        if (is_everywhere(remedy, k) != everywhere)
            continue;
        for (size_t i = 0; i < remedy->count; i++) {
            const struct estimate_open *part = remedy->parts[i];
            if (!part->has_component || part->component != k || !part->block)
                continue;
            words_add(keys, everywhere ? arena_printf(remedy->arena, "'*.%s=%s'", last, value)
                                       : arena_printf(remedy->arena, "%s.%s=%s", part->block->id,
                                                      last, value));
        }
    }
}

static const char *keys_text(const struct remedy *remedy, const char *name, const char *value) {
    struct words keys =
        words_new(remedy->count * (size_t)COMPONENT_COUNT_ + remedy->count, remedy->arena);
    add_keys(remedy, name, value, true, &keys);
    add_keys(remedy, name, value, false, &keys);
    return words_text(&keys, remedy->whole ? keys.count : KEYS_NAMED, remedy->arena);
}

size_t estimate_remedy_commands(const struct estimate *estimate,
                                const struct estimate_open *const *parts, size_t count,
                                struct arena *arena, const char *const **ret_commands) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most += parts[i]->item_count;
    struct words commands = words_new(most, arena);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < parts[i]->item_count; k++) {
            const struct estimate_item *item = parts[i]->items[k];
            const char *command = NULL;
            if (parts[i]->kind == ESTIMATE_RUN_STEP && item->step)
                command = estimate_step_command(item->step, arena);
            else if (parts[i]->kind == ESTIMATE_MAKE_RUN && item->condition && parts[i]->block)
                command = estimate_condition_command(parts[i]->block, item->condition, arena);
            if (command != NULL)
                words_add(&commands, estimate_command_in(estimate->study, command, arena));
        }
    *ret_commands = commands.items;
    return commands.count;
}

/* The first one, so that it can be typed at once, and how many others there are. */
static const char *commands_text(const struct remedy *remedy) {
    const char *const *commands;
    size_t count = estimate_remedy_commands(remedy->estimate, remedy->parts, remedy->count,
                                            remedy->arena, &commands);
    if (count == 0)
        return "";
    if (count == 1)
        return commands[0];
    size_t more = count - 1;
    return arena_printf(
        remedy->arena,
        remedy->parts[0]->kind == ESTIMATE_RUN_STEP
            ? msg_plural((unsigned long)more, "%s, and %zu more step", "%s, and %zu more steps")
            : msg_plural((unsigned long)more, "%s, and %zu more run of another condition or block",
                         "%s, and %zu more runs of other conditions or blocks"),
        commands[0], more);
}

static const char *phase_of(enum component k) {
    for (enum phase phase = PHASE_SETUP; phase < PHASE_UNATTRIBUTED; phase++)
        if (estimate_component_of(phase) == k)
            return phase_name(phase);
    return "";
}

static const char *let_see_text(const struct remedy *remedy) {
    const char *keys = keys_text(remedy, NULL, "TIME");
    unsigned mask = components_of(remedy);
    if ((mask & (mask - 1)) == 0)
        return arena_printf(remedy->arena,
                            _("mark phase '%s' in the runs, give the block a step for it, or "
                              "assume it with --set %s"),
                            phase_of(remedy->parts[0]->component), keys);
    return arena_printf(remedy->arena,
                        _("mark their phases in the runs, give the blocks steps for them, or "
                          "assume them with --set %s"),
                        keys);
}

/* What is to be entered, or the places that are to be changed. */
static const char *places_text(const struct remedy *remedy, size_t most) {
    struct words words = words_new(remedy->count, remedy->arena);
    for (size_t i = 0; i < remedy->count; i++)
        if (remedy->parts[i]->enter)
            words_add(&words, remedy->parts[i]->enter);
    return words_text(&words, most > 0 ? most : words.count, remedy->arena);
}

const char *estimate_remedy_text(const struct estimate *estimate,
                                 const struct estimate_open *const *parts, size_t count, bool whole,
                                 struct arena *arena) {
    const struct remedy remedy = {estimate, parts, count, whole, arena};
    if (count == 0)
        return "";
    switch (parts[0]->kind) {
    case ESTIMATE_MAKE_RUN:
    case ESTIMATE_RUN_STEP:
        return commands_text(&remedy);
    case ESTIMATE_LET_SEE:
        return let_see_text(&remedy);
    case ESTIMATE_SEE_ATTEMPTS:
        return arena_printf(arena,
                            _("further attempts show it, or assume what a failed one costs, "
                              "with --set %s"),
                            keys_text(&remedy, "lost-time", "TIME"));
    case ESTIMATE_LIMIT_REPEATS:
        return arena_printf(arena, _("set another limit of repeats: --set %s"),
                            keys_text(&remedy, "retry-max", "COUNT"));
    case ESTIMATE_ASSUME:
        return arena_printf(arena, _("assume it with --set %s"), keys_text(&remedy, NULL, "TIME"));
    case ESTIMATE_RECORD_SESSION:
        return arena_printf(arena,
                            _("record sessions ('probelauf session start'), or assume it with "
                              "--set %s"),
                            keys_text(&remedy, NULL, "TIME"));
    case ESTIMATE_ONE_LANE: {
        struct words keys = words_new(count, arena);
        for (size_t i = 0; i < count; i++)
            words_add(&keys, arena_printf(arena, "%s.lanes=1", parts[i]->block->id));
        return arena_printf(arena, _("one lane has no such bound: --set %s"),
                            words_text(&keys, whole ? keys.count : KEYS_NAMED, arena));
    }
    case ESTIMATE_ENTER:
        return arena_printf(arena, _("enter in the plan: %s"), places_text(&remedy, 0));
    case ESTIMATE_SUPPORT:
        return arena_printf(arena, _("change the code, or take it out of the plan: %s"),
                            places_text(&remedy, whole ? 0 : KEYS_NAMED));
    case ESTIMATE_REMEDY_COUNT_:
        break;
    }
    return "";
}

/* ---- finding them ---- */

static struct estimate_open *open_add(struct estimate_openings *list, struct estimate_open part,
                                      struct arena *arena) {
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        struct estimate_open *items = arena_alloc(arena, room * sizeof *items);
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->room = room;
    }
    list->items[list->count] = part;
    return &list->items[list->count++];
}

static void take_item(struct estimate_open *part, const struct estimate_item *item, size_t most,
                      struct arena *arena) {
    if (!part->items)
        part->items = arena_alloc(arena, most * sizeof(*part->items));
    part->items[part->item_count++] = item;
}

static bool is_equal(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

struct finder {
    const struct plan *plan;
    struct estimate_openings *list;
    struct arena *arena;
    size_t first; /* of the component at hand */
    const struct estimate_component *of;
};

/* With the part of the component that is open for the same reason, or as one of its own. */
static void find_item(const struct finder *finder, struct estimate_open part,
                      const struct estimate_item *item) {
    struct estimate_openings *list = finder->list;
    for (size_t i = finder->first; i < list->count; i++)
        if (list->items[i].kind == part.kind && strcmp(list->items[i].what, part.what) == 0 &&
            is_equal(list->items[i].enter, part.enter)) {
            take_item(&list->items[i], item, finder->of->item_count, finder->arena);
            return;
        }
    take_item(open_add(list, part, finder->arena), item, finder->of->item_count, finder->arena);
}

/* What the plan would have to say of an item that it leaves open. */
static const char *what_to_enter(const struct estimate_open *part, const struct estimate_item *item,
                                 struct arena *arena) {
    const char *block = part->block ? part->block->id : "";
    if (item->task)
        return arena_printf(arena, _("time of task '%s' (with who, when and why)"), item->task->id);
    if (item->step && item->step->repeats == PLAN_REPEATS_UNSAID)
        return arena_printf(arena, _("repeats of step '%s'"), item->step->name);
    return arena_printf(arena, _("runs of block '%s'"), block);
}

static const char *machine_to_enter(const struct estimate_item *item, struct arena *arena) {
    if (item->step)
        return arena_printf(arena, _("needs_machine of step '%s'"), item->step->name);
    if (item->task)
        return arena_printf(arena, _("needs_machine of task '%s'"), item->task->id);
    return arena_printf(arena, _("a step or task with needs_machine in place of %s"), item->name);
}

static void find_of_item(const struct finder *finder, struct estimate_open part,
                         const struct estimate_item *item) {
    struct arena *arena = finder->arena;
    const char *detail = item->time.detail ? item->time.detail : "";
    struct estimate_open machine = part;

    part.kind = item->remedy;
    if (!quantity_is_known(&item->time)) {
        part.what = item->why ? item->why : detail;
        if (item->remedy == ESTIMATE_ENTER)
            part.enter = what_to_enter(&part, item, arena);
        if (item->remedy == ESTIMATE_SUPPORT)
            part.enter = estimate_unsupported_at(finder->plan, item->condition, arena);
        find_item(finder, part, item);
    } else if (item->time.bound == QUANTITY_AT_LEAST) {
        part.what = arena_printf(arena, _("at least: %s"), detail);
        find_item(finder, part, item);
    }
    if (item->needs_machine != PLAN_UNSAID)
        return;
    machine.kind = ESTIMATE_ENTER;
    machine.what = _("counted as if it needed the rented machine, which is not said");
    machine.enter = machine_to_enter(item, arena);
    find_item(finder, machine, item);
}

/* A component without any item. */
static struct estimate_open empty_part(const struct block_work *work, struct estimate_open part) {
    const struct plan_block *block = work->study->block;
    part.kind = ESTIMATE_LET_SEE;
    part.what = _("not seen");
    if (part.component == COMPONENT_IDLE) {
        part.kind = ESTIMATE_RECORD_SESSION;
        part.what = _("no session was recorded in this environment");
    } else if (part.component == COMPONENT_RUNS || part.component == COMPONENT_RETRIES) {
        part.kind = ESTIMATE_ENTER;
        part.what = _("the block has no condition");
        part.enter = arena_printf(work->maker->arena, _("matrix of block '%s'"), block->id);
    }
    return part;
}

static void find_figures(struct block_work *work, struct estimate_openings *list) {
    struct arena *arena = work->maker->arena;
    const struct plan_environment *environment = work->maker->environment;
    const struct quantity *gpu = &work->ret->figures.gpu;
    struct estimate_open part = {.block = work->study->block};

    if (work->lanes_at_least && !work->nothing_left) {
        part.kind = ESTIMATE_ONE_LANE;
        part.what = arena_printf(
            arena,
            _("calendar: %llu lanes side by side: at least the share of one lane, since a run "
              "cannot be divided"),
            (unsigned long long)work->lanes);
        open_add(list, part, arena);
    }
    if (quantity_is_known(gpu) || gpu->reason != QUANTITY_NOT_ENTERED ||
        !quantity_is_known(&work->ret->figures.reserved))
        return;
    part.kind = ESTIMATE_ENTER;
    part.what = arena_printf(arena, _("GPU time: %s"), gpu->detail ? gpu->detail : "");
    part.enter = environment ? arena_printf(arena, _("gpus of environment '%s'"), environment->id)
                             : _("an environment");
    open_add(list, part, arena);
}

void estimate_block_open(struct block_work *work) {
    struct estimate_openings list = {NULL, 0, 0};

    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        const struct estimate_component *of = &work->ret->components[k];
        const struct finder finder = {work->maker->plan, &list, work->maker->arena, list.count, of};
        const struct estimate_open part = {
            .block = work->study->block, .has_component = true, .component = k};
        if (of->item_count == 0 && !quantity_is_known(&of->time))
            open_add(&list, empty_part(work, part), finder.arena);
        for (size_t i = 0; i < of->item_count; i++)
            find_of_item(&finder, part, &of->items[i]);
    }
    find_figures(work, &list);
    work->ret->open = list.items;
    work->ret->open_count = list.count;
}

void estimate_task_open(struct estimate_maker *maker, struct estimate_openings *list,
                        const struct estimate_item *item) {
    const struct plan_task *task = item->task;
    const struct estimate_component of = {.item_count = 1};
    const struct finder finder = {maker->plan, list, maker->arena, list->count, &of};
    struct estimate_open part = {
        .has_component = true,
        .component = task->has_component ? task->component : COMPONENT_PREPARE,
    };

    find_of_item(&finder, part, item);
    if (task->has_component)
        return;
    part.kind = ESTIMATE_ENTER;
    part.what = _("its component is not said; it is counted as preparation");
    part.enter = arena_printf(maker->arena, _("component of task '%s'"), task->id);
    find_item(&finder, part, item);
}

/* The remedies name other blocks, too, and are therefore worded once all are known. */
static void word_remedies(struct estimate_maker *maker, struct estimate_open *open, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct estimate_open *part = &open[i];
        open[i].remedy = estimate_remedy_text(maker->ret, &part, 1, false, maker->arena);
    }
}

void estimate_open_all(struct estimate_maker *maker, const struct estimate_openings *tasks) {
    struct estimate *ret = maker->ret;
    struct estimate_openings all = {NULL, 0, 0};

    for (size_t b = 0; b < ret->block_count; b++)
        for (size_t i = 0; i < ret->blocks[b].open_count; i++)
            open_add(&all, ret->blocks[b].open[i], maker->arena);
    for (size_t i = 0; i < tasks->count; i++)
        open_add(&all, tasks->items[i], maker->arena);
    word_remedies(maker, all.items, all.count);
    size_t first = 0;
    for (size_t b = 0; b < ret->block_count; b++) { /* those of a block stand together */
        ret->blocks[b].open = ret->blocks[b].open_count > 0 ? all.items + first : NULL;
        first += ret->blocks[b].open_count;
    }
    ret->open = all.items;
    ret->open_count = all.count;
}
