/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which run belongs to which condition, what it is evidence for, and for which block it counts as
 * done. A condition that several blocks share is one: a run is evidence in each of them, and done
 * in one. Conditions are found by their id, so that thousands of runs and conditions are no work.
 */
#include "rules/comparable-parts.h"
#include "rules/evidence-parts.h"
#include "rules/study-parts.h"

#include "base/msg.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#define NO_ENTRY SIZE_MAX /* one below 0: entry + 1 is 0 for none */

/* One condition of one block; those with the same id lie side by side, in the plan's order. */
struct entry {
    struct study_block *block;
    struct study_condition *condition;
    size_t *runs; /* indexes into study->runs, newest first */
    size_t run_count;
    struct evidence *evidence; /* of runs */
};

struct joining {
    struct study *study;
    struct arena *arena;
    struct entry *entries;
    size_t entry_count;
    size_t *first, *last; /* per run: the entries it belongs to; NO_ENTRY: none */
};

/* ---- the index of conditions ---- */

static const char *id_of(const struct entry *entry) {
    return entry->condition->condition->id;
}

static bool is_before(const struct entry *a, const struct entry *b) {
    return a->block != b->block ? a->block < b->block : a->condition < b->condition;
}

static int compare_entries(const void *a, const void *b) {
    int order = strcmp(id_of(a), id_of(b));

    if (order != 0)
        return order;
    return is_before(a, b) ? -1 : is_before(b, a);
}

static void index_conditions(struct joining *joining) {
    struct study *study = joining->study;
    size_t count = 0;

    for (size_t i = 0; i < study->block_count; i++)
        count += study->blocks[i].condition_count;
    joining->entries = arena_alloc(joining->arena, (count + 1) * sizeof *joining->entries);
    for (size_t i = 0; i < study->block_count; i++)
        for (size_t k = 0; k < study->blocks[i].condition_count; k++)
            joining->entries[joining->entry_count++] = (struct entry){
                .block = &study->blocks[i], .condition = &study->blocks[i].conditions[k]};
    qsort(joining->entries, count, sizeof *joining->entries, compare_entries);
}

/* The first entry whose id is not below. */
static size_t lower_bound(const struct joining *joining, const char *id) {
    size_t low = 0;
    size_t high = joining->entry_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(id_of(&joining->entries[middle]), id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_id(const struct joining *joining, size_t entry, const char *id) {
    return entry < joining->entry_count && strcmp(id_of(&joining->entries[entry]), id) == 0;
}

/* ---- a run whose condition the plan no longer has ---- */

static const char *parameter_text(const struct plan_condition *condition, const char *name) {
    for (size_t i = 0; i < condition->parameter_count; i++)
        if (strcmp(condition->parameters[i].name, name) == 0)
            return condition->parameters[i].value;
    return NULL;
}

/* Has the condition all that the run was started with on the command line (-c)? */
static bool has_given(const struct plan_condition *condition, const struct plan_pairs *given) {
    for (size_t i = 0; i < given->count; i++) {
        const char *value = parameter_text(condition, given->items[i].name);
        if (!value ||
            !evidence_is_recorded_value(given->items[i].name, value, given->items[i].value))
            return false;
    }
    return true;
}

static size_t count_differences(const struct plan_condition *condition, const json_t *parameters) {
    size_t differences = 0;
    size_t same_names = 0;

    for (size_t i = 0; i < condition->parameter_count; i++) {
        const struct plan_pair *pair = &condition->parameters[i];
        const char *was = json_get_text(parameters, pair->name, NULL);
        same_names += was != NULL;
        differences += !was || !evidence_is_recorded_value(pair->name, pair->value, was);
    }
    return differences + json_object_size(parameters) - same_names;
}

static struct plan_pairs given_pairs(json_t *object, struct arena *arena) {
    struct plan_pairs pairs = {
        .items = arena_alloc(arena, (json_object_size(object) + 1) * sizeof *pairs.items)};
    const char *name;
    json_t *value;

    json_object_foreach (object, name, value) {
        if (json_is_string(value))
            pairs.items[pairs.count++] =
                (struct plan_pair){.name = name, .value = json_string_value(value)};
    }
    return pairs;
}

/* The condition that the run was meant for, to say what differs: the one with all its -c pairs that
 * has the fewest other parameters. NO_ENTRY: none, or nothing was said that could tell. */
static size_t find_nearest(const struct joining *joining, const struct run *run) {
    const char *block = json_get_text(run->start, "block", NULL);
    const json_t *parameters = json_get_object(run->start, "parameters");
    struct plan_pairs given = given_pairs(json_get_object(run->start, "condition"), joining->arena);
    size_t nearest = NO_ENTRY;
    size_t fewest = SIZE_MAX;

    if (given.count == 0 && !block)
        return NO_ENTRY;
    for (size_t i = 0; i < joining->entry_count; i++) {
        const struct plan_condition *condition = joining->entries[i].condition->condition;
        if ((block && strcmp(joining->entries[i].block->block->id, block) != 0) ||
            !has_given(condition, &given))
            continue;
        size_t differences = count_differences(condition, parameters);
        /* The index is in the order of ids; between equals the plan's order decides. */
        if (differences < fewest || (differences == fewest &&
                                     is_before(&joining->entries[i], &joining->entries[nearest]))) {
            fewest = differences;
            nearest = i;
        }
    }
    return nearest;
}

/* ---- runs to entries ---- */

/* Why what was said with -c led to no condition. The plan may have it: with too little said, it is
 * still nobody's to guess. */
static const char *why_no_condition(const struct joining *joining, const struct run *run,
                                    const struct plan_pairs *given) {
    struct arena *arena = joining->arena;
    const char *text = evidence_pairs_text(given, arena);
    const struct plan_condition *condition = NULL;
    const char *why = NULL;

    switch (plan_match(joining->study->input->plan, json_get_text(run->start, "block", NULL),
                       given->items, given->count, arena, &condition, &why)) {
    case PLAN_MATCH_NONE:
        break;
    case PLAN_MATCH_ONE:
        return arena_printf(arena, _("when it was started, %s did not lead to one condition"),
                            text);
    case PLAN_MATCH_SEVERAL:
        return arena_printf(arena, _("%s does not tell its condition: %s"), text, why);
    }
    return arena_printf(arena, _("the plan has no condition for %s"), text);
}

/* Why a run that belongs to no condition of the plan and to no step of it is unplanned (C9). known:
 * the reasons of what was said before, since many runs may be started with the same words. */
static const char *why_unplanned(const struct joining *joining, const struct run *run,
                                 json_t *known) {
    struct arena *arena = joining->arena;
    const char *step = json_get_text(run->start, "step", NULL);
    struct plan_pairs given = given_pairs(json_get_object(run->start, "condition"), arena);

    if (step)
        return arena_printf(arena, _("the plan has no step '%s'"), evidence_shown(step, arena));
    if (given.count > 0) {
        AUTO_FREE char *said = mem_printf("%s\n%s", json_get_text(run->start, "block", ""),
                                          evidence_pairs_text(&given, arena));
        const char *why = json_get_text(known, said, NULL);
        if (why)
            return arena_strdup(arena, why);
        why = why_no_condition(joining, run, &given);
        json_put_text(known, said, why);
        return why;
    }
    if (json_get_text(run->start, "condition_id", NULL))
        return _("the plan does not have its condition any more");
    return _("it was started without a condition of the plan (-c) and without a step (--step)");
}

/* The entries of the run's condition; where the plan does not have it any more, those of the one
 * that it was meant for. nearest: what was found before (0: none, else the entry + 1), since many
 * runs may be of few conditions that are gone. */
static bool find_entries(struct joining *joining, size_t i, const char *id, json_t *nearest) {
    size_t entry = lower_bound(joining, id);
    bool is_planned = has_id(joining, entry, id);

    if (!is_planned) {
        int64_t known = json_get_int(nearest, id, -1);
        if (known < 0) {
            known = (int64_t)(find_nearest(joining, joining->study->runs[i].run) + 1);
            json_put_int(nearest, id, known);
        }
        if (known == 0)
            return false;
        id = id_of(&joining->entries[known - 1]);
        entry = lower_bound(joining, id);
    }
    joining->first[i] = joining->last[i] = entry;
    while (has_id(joining, joining->last[i] + 1, id))
        joining->last[i]++;
    return is_planned;
}

static void place_run(struct joining *joining, size_t i, json_t *nearest, json_t *known) {
    struct study_run *study_run = &joining->study->runs[i];
    const struct run *run = study_run->run;
    const char *id = json_get_text(run->start, "condition_id", NULL);
    const char *step = json_get_text(run->start, "step", NULL);

    joining->first[i] = joining->last[i] = NO_ENTRY;
    if (step)
        study_run->step = plan_step_find(joining->study->input->plan, step);
    bool is_planned = id && find_entries(joining, i, id, nearest);
    study_run->planned = is_planned || study_run->step != NULL;
    if (!study_run->planned && joining->first[i] == NO_ENTRY)
        study_run->unplanned_why = why_unplanned(joining, run, known);
}

static void place_runs(struct joining *joining) {
    struct study *study = joining->study;
    AUTO_JSON json_t *nearest = json_object();
    AUTO_JSON json_t *known = json_object();

    joining->first = arena_alloc(joining->arena, (study->run_count + 1) * sizeof(size_t));
    joining->last = arena_alloc(joining->arena, (study->run_count + 1) * sizeof(size_t));
    for (size_t i = 0; i < study->run_count; i++) {
        place_run(joining, i, nearest, known);
        for (size_t e = joining->first[i]; e != NO_ENTRY && e <= joining->last[i]; e++)
            joining->entries[e].run_count++;
    }
    for (size_t e = 0; e < joining->entry_count; e++) {
        struct entry *entry = &joining->entries[e];
        entry->runs = arena_alloc(joining->arena, (entry->run_count + 1) * sizeof *entry->runs);
        entry->evidence =
            arena_alloc(joining->arena, (entry->run_count + 1) * sizeof *entry->evidence);
        entry->run_count = 0;
    }
    for (size_t i = 0; i < study->run_count; i++)
        for (size_t e = joining->first[i]; e != NO_ENTRY && e <= joining->last[i]; e++)
            joining->entries[e].runs[joining->entries[e].run_count++] = i;
}

/* ---- evidence ---- */

/* The reference is the newest run that fits all that the target states; what the target leaves open
 * is compared with it. A run that does not fit anyway must not decide what the others are compared
 * with. */
static void judge_entry(const struct joining *joining, struct entry *entry) {
    const struct study_input *input = joining->study->input;
    struct evidence_target target = {
        .plan = input->plan,
        .environment = input->environment,
        .code_digest = input->code_digest,
        .code_paths = input->code_paths,
        .freeze = entry->block->freeze,
    };

    for (size_t i = 0; i < entry->run_count; i++)
        evidence_judge(joining->study->runs[entry->runs[i]].run, entry->condition->condition,
                       &target, joining->arena, &entry->evidence[i]);
    for (size_t i = 0; i < entry->run_count && !target.reference; i++)
        if (entry->evidence[i].level == EVIDENCE_MEASURED)
            target.reference = joining->study->runs[entry->runs[i]].run;
    for (size_t i = 0; i < entry->run_count && target.reference; i++)
        evidence_judge(joining->study->runs[entry->runs[i]].run, entry->condition->condition,
                       &target, joining->arena, &entry->evidence[i]);
}

static bool needs_runs(const struct study_condition *condition) {
    return !condition->has_planned || condition->done < condition->planned;
}

/* A run is done in the block it was started for, else in the first that needs it; it is shown there
 * too. Without being done: in its block, else in the first where it is evidence. */
static void settle_run(const struct joining *joining, size_t i, size_t *positions) {
    struct study_run *run = &joining->study->runs[i];
    const char *said = json_get_text(run->run->start, "block", NULL);
    size_t first = joining->first[i], last = joining->last[i];
    size_t home = NO_ENTRY, evident = NO_ENTRY;

    for (size_t e = first; said && e <= last; e++)
        if (strcmp(joining->entries[e].block->block->id, said) == 0)
            first = last = e;
    for (size_t e = first; e <= last; e++) {
        struct entry *entry = &joining->entries[e];
        const struct evidence *evidence = &entry->evidence[positions[e]];
        if (evidence->level != EVIDENCE_MEASURED)
            continue;
        evident = evident == NO_ENTRY ? e : evident;
        if (home == NO_ENTRY && evidence->verified && needs_runs(entry->condition)) {
            entry->condition->done++;
            home = e;
        }
    }
    if (home == NO_ENTRY)
        home = evident != NO_ENTRY ? evident : first;
    struct entry *entry = &joining->entries[home];
    run->block = entry->block->block;
    run->condition = entry->condition->condition;
    run->evidence = entry->evidence[positions[home]];
    if (!run->planned) /* the plan has changed since; its reason says in what */
        run->unplanned_why = run->evidence.why;
}

/* Oldest first, so that what is done does not change when a run is added. */
static void settle_runs(const struct joining *joining) {
    const struct study *study = joining->study;
    AUTO_FREE size_t *positions = mem_alloc((joining->entry_count + 1) * sizeof *positions);

    for (size_t e = 0; e < joining->entry_count; e++)
        positions[e] = joining->entries[e].run_count;
    for (size_t i = study->run_count; i-- > 0;) {
        if (joining->first[i] == NO_ENTRY)
            continue;
        for (size_t e = joining->first[i]; e <= joining->last[i]; e++)
            positions[e]--;
        settle_run(joining, i, positions);
    }
}

/* ---- conditions ---- */

static bool is_in_target(const struct joining *joining, const struct study_run *run) {
    const struct study_input *input = joining->study->input;
    return !input->environment || run->environment == input->environment;
}

/* Another command with the words of the condition says nothing about how often this one fails. */
static bool is_attempt(const struct joining *joining, const struct study_run *run,
                       const struct plan_condition *condition) {
    const char *id = json_get_text(run->run->start, "condition_id", "");

    return comparable_is_attempt(run->run) && !comparable_is_function_test(run->run) &&
           is_in_target(joining, run) && strcmp(id, condition->id) == 0 &&
           evidence_why_other_condition(run->run, joining->study->input->plan, condition,
                                        joining->arena) == NULL;
}

/* Ended well, and was neither meant as a function test nor declared invalid: whoever made it
 * expects it to count. */
static bool should_count(const struct run *run) {
    return !run->running && run->outcome == OUTCOME_OK && run->validity != RUN_INVALID &&
           !comparable_is_function_test(run);
}

/* Runs come newest first. */
static void count_run(struct study_condition *condition, const struct study_run *run,
                      const struct evidence *evidence) {
    if (evidence->level == EVIDENCE_MEASURED) {
        condition->valid++;
    } else if (should_count(run->run)) {
        condition->uncounted++;
        if (!condition->uncounted_why)
            condition->uncounted_why = evidence->why;
    }
    condition->attempts += run->is_attempt;
    condition->failures += run->is_attempt && run->run->outcome != OUTCOME_OK;
}

/* The newest run that ended well says what stands in the way now; a newer one that failed or was
 * declared invalid would hide it. */
static const char *why_no_better(const struct joining *joining, const struct entry *entry) {
    const struct study_condition *condition = entry->condition;
    const char *why = NULL;

    if (condition->level == EVIDENCE_MEASURED)
        return NULL;
    if (entry->run_count == 0)
        return _("no run yet");
    for (size_t i = 0; i < entry->run_count; i++) {
        const struct run *run = joining->study->runs[entry->runs[i]].run;
        if (entry->evidence[i].level != condition->level)
            continue;
        if (comparable_why_unusable(run, false) == NULL)
            return arena_printf(joining->arena,
                                why ? _("the newest usable run: %s") : _("the newest: %s"),
                                entry->evidence[i].why);
        if (!why)
            why = entry->evidence[i].why;
    }
    return why ? arena_printf(joining->arena, _("the newest: %s"), why) : NULL;
}

/* In a block that is not the run's own it is shown as that block sees it. */
static const struct study_run *as_seen_by(const struct joining *joining, const struct entry *entry,
                                          size_t position) {
    const struct study_run *own = &joining->study->runs[entry->runs[position]];

    if (own->condition == entry->condition->condition)
        return own;
    struct study_run *copy = arena_alloc(joining->arena, sizeof *copy);
    *copy = *own;
    copy->block = entry->block->block;
    copy->condition = entry->condition->condition;
    copy->evidence = entry->evidence[position];
    copy->is_elsewhere = true;
    return copy;
}

static void fill_condition(const struct joining *joining, const struct entry *entry) {
    struct study_condition *condition = entry->condition;

    condition->runs =
        arena_alloc(joining->arena, (entry->run_count + 1) * sizeof(const struct study_run *));
    condition->run_count = entry->run_count;
    for (size_t i = 0; i < entry->run_count; i++) {
        condition->runs[i] = as_seen_by(joining, entry, i);
        count_run(condition, condition->runs[i], &entry->evidence[i]);
        if (entry->evidence[i].level > condition->level)
            condition->level = entry->evidence[i].level;
    }
    condition->why = why_no_better(joining, entry);
}

void study_join(struct study *study, struct arena *arena) {
    const struct study_input *input = study->input;
    struct joining joining = {.study = study, .arena = arena};
    const char *why;

    study->runs = arena_alloc(arena, (input->run_count + 1) * sizeof *study->runs);
    study->run_count = input->run_count;
    for (size_t i = 0; i < input->run_count; i++)
        study->runs[i] = (struct study_run){
            .run = input->runs[i],
            .environment = evidence_environment(input->plan, input->runs[i], arena, &why),
        };
    index_conditions(&joining);
    place_runs(&joining);
    for (size_t e = 0; e < joining.entry_count; e++)
        judge_entry(&joining, &joining.entries[e]);
    settle_runs(&joining);
    for (size_t i = 0; i < study->run_count; i++)
        if (study->runs[i].condition)
            study->runs[i].is_attempt =
                is_attempt(&joining, &study->runs[i], study->runs[i].condition);
    for (size_t e = 0; e < joining.entry_count; e++)
        fill_condition(&joining, &joining.entries[e]);
}
