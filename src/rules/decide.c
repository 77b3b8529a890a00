/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decision put together: every rule asked for every block in every candidate environment, in
 * the order of REQUIREMENTS E; the most cautious one that fires stands. Must not weigh one rule
 * against another, nor carry anything from one environment to another.
 */
#include "rules/decide.h"

#include "base/msg.h"
#include "plan/plan.h"
#include "rules/decide-parts.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

/* ---- names ---- */

const char *decide_answer_name(enum decide_answer answer) {
    static const char *const names[DECIDE_ANSWER_COUNT_] = {
        [DECIDE_CANNOT_TELL] = "cannot-tell", [DECIDE_YES] = "yes", [DECIDE_NO] = "no"};
    assert(answer < DECIDE_ANSWER_COUNT_);
    return names[answer];
}

const char *decide_verdict_name(enum decide_verdict verdict) {
    static const char *const names[DECIDE_VERDICT_COUNT_] = {
        [DECIDE_NONE] = "none",
        [DECIDE_NOT_YET] = "not-yet",
        [DECIDE_VALIDATE_FIRST] = "validate-first",
        [DECIDE_RENT_STAGED] = "rent-staged",
        [DECIDE_RENT_BLOCKS] = "rent-blocks",
    };
    assert(verdict < DECIDE_VERDICT_COUNT_);
    return names[verdict];
}

/* One row of REQUIREMENTS E. */
static const struct {
    const char *name, *when, *then;
    void (*answer)(struct ruling *ruling);
} rows[DECIDE_ID_COUNT_] = {
    [DECIDE_E5] = {"E5",
                   N_("data or models may not be moved, or personal or sensitive data are "
                      "unsettled"),
                   N_("settle storage location, access and data protection before booking"),
                   decide_e5},
    [DECIDE_E7] = {"E7", N_("the required software stack is not met by the environment"),
                   N_("choose a compatible environment; never replace it by a Mac without a "
                      "validation there"),
                   decide_e7},
    [DECIDE_E7B] = {"E7b",
                    N_("a Mac, or another machine that is there, matches code and dependencies"),
                    N_("an option for limited development and validation before anything is "
                       "bought; it proves nothing for other work"),
                    decide_e7b},
    [DECIDE_E1] = {"E1",
                   N_("code, weights or data are not shown to work in the target environment"),
                   N_("software validation first: a short rental with a cap, a stop condition and "
                      "a result to be shown, all set by the team; it is no estimate"),
                   decide_e1},
    [DECIDE_E8] = {"E8", N_("environment, amount of work or memory peak are not settled"),
                   N_("no long-term decision; plan only the trial stage"), decide_e8},
    [DECIDE_E10] = {"E10", N_("a measured peak or running out of memory exceeds the device"),
                    N_("narrow the scope or change the environment before going on; do not extend"),
                    decide_e10},
    [DECIDE_E6] = {"E6", N_("memory or run time vary strongly between runs of one condition"),
                   N_("do not book the largest size as a precaution; measure a representative run "
                      "and compare the options that are really needed"),
                   decide_e6},
    [DECIDE_E2] = {"E2",
                   N_("a representative run works and the memory peak is measured in the target "
                      "environment"),
                   N_("rent by blocks that match the planned experiments"), decide_e2},
    [DECIDE_E3A] = {"E3a", N_("demand is unstable and limited to a short campaign"),
                    N_("rent rather than buy"), decide_e3a},
    [DECIDE_E3B] = {"E3b", N_("peaks only in single blocks and no continuous load outside them"),
                    N_("compare renting with the true cost of an own system, set-up and operation "
                       "included"),
                    decide_e3b},
    [DECIDE_E3C] = {"E3c", N_("the peak exceeds own resources for a limited time"),
                    N_("rent the overflow"), decide_e3c},
    [DECIDE_E9] = {"E9", N_("separate rentals save idle time"),
                   N_("count restoring the environment as used time in each of them"), decide_e9},
    [DECIDE_E4] = {"E4", N_("the same load runs continuously and predictably"),
                   N_("compare with owning, existing or institute machines and long-term rental: "
                      "utilisation, administration and maintenance, idle capital, and the outlay "
                      "before the protocol is validated"),
                   decide_e4},
    [DECIDE_E11] = {"E11",
                    N_("local interfaces, attached devices, full control, specific hardware or "
                       "permanent availability are needed"),
                    N_("permanent operation may fit better whatever the load"), decide_e11},
};

const char *decide_id_name(enum decide_id id) {
    assert(id < DECIDE_ID_COUNT_);
    return rows[id].name;
}

/* Rules whose answer is another one for each block; all others are about the place or the demand.
 */
bool decide_is_of_block(enum decide_id id) {
    switch (id) {
    case DECIDE_E1:
    case DECIDE_E8:
    case DECIDE_E10:
    case DECIDE_E6:
    case DECIDE_E2:
        return true;
    case DECIDE_E5:
    case DECIDE_E7:
    case DECIDE_E7B:
    case DECIDE_E3A:
    case DECIDE_E3B:
    case DECIDE_E3C:
    case DECIDE_E9:
    case DECIDE_E4:
    case DECIDE_E11:
    case DECIDE_ID_COUNT_:
        break;
    }
    return false;
}

bool decide_is_rented(const struct plan_environment *environment) {
    return environment == NULL ||
           (environment->kind != PLAN_OWN && environment->kind != PLAN_MACOS);
}

/* ---- one rule ---- */

static void *grow(const void *items, size_t count, size_t *room, size_t size, struct arena *arena) {
    if (count < *room)
        return NULL;
    *room = *room > 0 ? 2 * *room : 4;
    char *more = arena_alloc(arena, *room * size);
    if (count > 0)
        memcpy(more, items, count * size);
    return more;
}

static struct decide_ground *add_ground(struct ruling *ruling) {
    struct decide_rule *rule = ruling->rule;
    struct decide_ground *more = grow(ruling->grounds, rule->ground_count, &ruling->ground_room,
                                      sizeof *more, ruling->arena);
    if (more != NULL)
        ruling->grounds = more;
    rule->grounds = ruling->grounds;
    struct decide_ground *ground = &ruling->grounds[rule->ground_count++];
    *ground = (struct decide_ground){0};
    return ground;
}

static const char *in_arena(struct arena *arena, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));
static const char *in_arena(struct arena *arena, const char *fmt, va_list args) {
    AUTO_FREE char *text = mem_vprintf(fmt, args);
    return arena_strdup(arena, text);
}

void ruling_ground(struct ruling *ruling, const char *source, const char *fmt, ...) {
    va_list args;
    struct decide_ground *ground = add_ground(ruling);
    va_start(args, fmt);
    ground->text = in_arena(ruling->arena, fmt, args);
    va_end(args);
    ground->source = source;
}

void ruling_figure(struct ruling *ruling, const char *source, const char *name,
                   const struct quantity *figure, const char *fmt, ...) {
    va_list args;
    struct decide_ground *ground = add_ground(ruling);
    va_start(args, fmt);
    ground->text = in_arena(ruling->arena, fmt, args);
    va_end(args);
    ground->source = source;
    ground->name = name;
    ground->figure = *figure;
    if (source && figure->source_count == 0) { /* every known figure leads to what shows it */
        const char **sources = arena_alloc(ruling->arena, sizeof *sources);
        sources[0] = source;
        ground->figure.sources = sources;
        ground->figure.source_count = 1;
    }
}

void ruling_open(struct ruling *ruling, const char *source, const char *command, const char *fmt,
                 ...) {
    struct decide_rule *rule = ruling->rule;
    va_list args;
    va_start(args, fmt);
    const char *what = in_arena(ruling->arena, fmt, args);
    va_end(args);
    struct decide_change *more =
        grow(ruling->opens, rule->open_count, &ruling->open_room, sizeof *more, ruling->arena);
    if (more != NULL)
        ruling->opens = more;
    rule->opens = ruling->opens;
    ruling->opens[rule->open_count++] = (struct decide_change){
        .what = what, .rules = rows[rule->id].name, .source = source, .command = command};
}

void ruling_key(struct ruling *ruling, const char *key, const char *part, const char *name) {
    struct decide_change *last = &ruling->opens[ruling->rule->open_count - 1];
    assert(ruling->rule->open_count > 0);
    last->key = key;
    last->part = part;
    last->name = name;
}

void ruling_fact(struct ruling *ruling, const struct plan_fact *fact) {
    const char *id = fact->id != NULL ? fact->id : "";
    ruling_open(ruling, ruling_source(ruling, fact->at), "probelauf check",
                _("the open fact %s: %s"), id,
                fact->question != NULL ? fact->question : _("no question is given"));
    if (strncmp(id, "privacy/", strlen("privacy/")) == 0)
        ruling_key(ruling, id + strlen("privacy/"), "privacy", NULL);
    else
        ruling_key(ruling, "facts", NULL, id);
}

void ruling_answer(struct ruling *ruling, enum decide_answer answer, bool fires,
                   enum decide_verdict verdict) {
    ruling->rule->answer = answer;
    ruling->rule->fires = fires;
    ruling->rule->verdict = fires ? verdict : DECIDE_NONE;
}

const char *ruling_source(const struct ruling *ruling, struct plan_at at) {
    return plan_source(ruling->plan, at, ruling->arena);
}

const char *ruling_quantity(const struct quantity *q, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct quantity alone = *q;
    alone.has_interval = false; /* a spread of runs says more here */
    alone.parts = NULL;
    alone.part_count = 0;
    quantity_format(&alone, (struct quantity_style){.ascii = true, .mark = true}, &text);
    return arena_strdup(arena, strbuf_str(&text));
}

/* ---- what several rules look at ---- */

bool ruling_is_here(const struct ruling *ruling, const struct plan_fact *fact) {
    return fact->environment == NULL || ruling->environment == NULL ||
           strcmp(fact->environment, ruling->environment->id) == 0;
}

bool ruling_stops(const struct ruling *ruling, const struct plan_fact *fact) {
    unsigned stops = PLAN_STOPS_BOOKING;
    if (ruling->block != NULL)
        stops |= (unsigned)plan_stop_of(ruling->block->block->kind);
    return fact->state == PLAN_FACT_OPEN && ruling_is_here(ruling, fact) &&
           (fact->stops & stops) != 0;
}

static bool is_about(const struct plan_fact *fact, const char *about) {
    return fact->about != NULL && strcmp(fact->about, about) == 0;
}

bool ruling_is_base(const struct plan_fact *fact) {
    return is_about(fact, "code") || is_about(fact, "weights") || is_about(fact, "data") ||
           is_about(fact, "environment");
}

bool ruling_is_privacy(const struct plan_fact *fact) {
    return is_about(fact, "privacy");
}

const struct study_run *ruling_counting(const struct study_block *block, bool checked) {
    const struct study_run *newest = NULL;
    for (size_t i = 0; i < block->condition_count; i++)
        for (size_t r = 0; r < block->conditions[i].run_count; r++) {
            const struct study_run *run = block->conditions[i].runs[r];
            if (run->evidence.level == EVIDENCE_MEASURED && (run->evidence.verified || !checked) &&
                (newest == NULL || run->run->started_utc_ns > newest->run->started_utc_ns))
                newest = run;
        }
    return newest;
}

const char *ruling_run_command(const struct ruling *ruling) {
    const struct study_block *block = ruling->block;
    if (block == NULL || block->condition_count == 0)
        return NULL;
    size_t which = 0;
    for (size_t i = 0; i < block->condition_count; i++)
        if (block->conditions[i].level != EVIDENCE_MEASURED) {
            which = i;
            break;
        }
    return plan_command_in(
        estimate_condition_command(block->block, block->conditions[which].condition, ruling->arena),
        ruling->plan, ruling->environment, ruling->arena);
}

/* ---- blocks and environments ---- */

static bool is_bolder(enum decide_verdict a, enum decide_verdict b) {
    return a > b;
}

static void decide_block(const struct decide_environment *environment, size_t number,
                         struct arena *arena, struct decide_block *ret) {
    const struct study *study = environment->study;
    bool has_block = number < study->block_count;
    const struct study_block *of = has_block ? &study->blocks[number] : NULL;
    *ret =
        (struct decide_block){.block = of, .nothing_left = of != NULL && of->state == STUDY_DONE};
    for (enum decide_id id = DECIDE_E5; id < DECIDE_ID_COUNT_; id++) {
        struct decide_rule *rule = &ret->rules[id];
        struct ruling ruling = {.arena = arena,
                                .plan = study->input->plan,
                                .environment = environment->environment,
                                .study = study,
                                .estimate = environment->estimate,
                                .cost = environment->cost,
                                .block = ret->block,
                                .left = has_block && number < environment->estimate->block_count
                                            ? &environment->estimate->blocks[number]
                                            : NULL,
                                .rule = rule};
        *rule = (struct decide_rule){.id = id, .when = _(rows[id].when), .then = _(rows[id].then)};
        rows[id].answer(&ruling);
        if (!rule->fires || ret->nothing_left)
            continue;
        ret->compare_owning |= rule->compare_owning;
        if (rule->verdict != DECIDE_NONE &&
            (ret->by == NULL || is_bolder(ret->verdict, rule->verdict))) {
            ret->verdict = rule->verdict;
            ret->by = rule;
        }
    }
}

static void decide_environment(const struct decide_input *input, struct arena *arena,
                               struct decide_environment *ret) {
    *ret = (struct decide_environment){.environment = input->study->input->environment,
                                       .study = input->study,
                                       .estimate = input->estimate,
                                       .cost = input->cost,
                                       .nothing_left = input->study->block_count > 0};
    ret->block_count = input->study->block_count > 0 ? input->study->block_count : 1;
    ret->blocks = arena_alloc(arena, ret->block_count * sizeof *ret->blocks);
    for (size_t i = 0; i < ret->block_count; i++) {
        struct decide_block *block = &ret->blocks[i];
        decide_block(ret, i, arena, block);
        ret->nothing_left &= block->nothing_left;
        ret->compare_owning |= block->compare_owning;
        if (block->by != NULL && (ret->by == NULL || is_bolder(ret->verdict, block->verdict))) {
            ret->verdict = block->verdict;
            ret->by = block->by;
        }
    }
    if (ret->blocks[0].rules[DECIDE_E7B].fires)
        ret->option = ret->blocks[0].rules[DECIDE_E7B].then;
}

/* ---- overall ---- */

static bool is_mac(const struct decide_environment *environment) {
    return environment->environment != NULL && environment->environment->kind == PLAN_MACOS;
}

static bool is_better(const struct decide_environment *a, const struct decide_environment *b) {
    if (is_mac(a) != is_mac(b))
        return is_mac(b);
    if (a->nothing_left != b->nothing_left)
        return a->nothing_left;
    return is_bolder(a->verdict, b->verdict);
}

static void find_best(struct decision *decision) {
    decision->best = &decision->environments[0];
    for (size_t i = 1; i < decision->environment_count; i++)
        if (is_better(&decision->environments[i], decision->best))
            decision->best = &decision->environments[i];
    decision->verdict = decision->best->verdict;
    decision->compare_owning = decision->best->compare_owning;
}

struct changes {
    struct decide_change *items;
    size_t count, room;
};

static void add_change(struct changes *changes, const struct decide_change *change,
                       struct arena *arena) {
    for (size_t i = 0; i < changes->count; i++) {
        struct decide_change *old = &changes->items[i];
        if (strcmp(old->what, change->what) != 0)
            continue;
        /* names of rules are no parts of one another where they stand behind a comma */
        const char *name = strstr(old->rules, change->rules);
        size_t length = strlen(change->rules);
        while (name != NULL && name[length] != '\0' && name[length] != ',')
            name = strstr(name + 1, change->rules);
        if (name == NULL)
            old->rules = arena_printf(arena, "%s, %s", old->rules, change->rules);
        return;
    }
    struct decide_change *more =
        grow(changes->items, changes->count, &changes->room, sizeof *more, arena);
    if (more != NULL)
        changes->items = more;
    changes->items[changes->count++] = *change;
}

/* Those of rules that fire in the best environment: the most cautious verdict first, since nothing
 * changes before that is settled. */
static void find_changes(struct decision *decision, struct arena *arena) {
    const struct decide_environment *best = decision->best;
    struct changes changes = {0};
    for (enum decide_verdict verdict = DECIDE_NOT_YET; verdict < DECIDE_RENT_BLOCKS; verdict++)
        for (enum decide_id id = DECIDE_E5; id < DECIDE_ID_COUNT_; id++)
            for (size_t b = 0; b < best->block_count; b++) {
                const struct decide_rule *rule = &best->blocks[b].rules[id];
                if (!rule->fires || rule->verdict != verdict || best->blocks[b].nothing_left)
                    continue;
                for (size_t i = 0; i < rule->open_count; i++)
                    add_change(&changes, &rule->opens[i], arena);
            }
    decision->changes = changes.items;
    decision->change_count = changes.count;
}

static void find_validation(struct decision *decision, const struct plan *plan,
                            struct arena *arena) {
    const struct plan_validation *validation = &plan->validation;
    const char **lacks = arena_alloc(arena, 4 * sizeof *lacks);
    size_t count = 0;
    if (!validation->max_time.given && !validation->max_cost.given)
        lacks[count++] = _("a cap in time or money (max_time, max_cost)");
    if (validation->max_cost.given && validation->currency == NULL)
        lacks[count++] = _("the currency of the cap (currency)");
    if (validation->stop_condition == NULL)
        lacks[count++] = _("when it is given up (stop_condition)");
    if (validation->result == NULL)
        lacks[count++] = _("what it has to show (result)");
    decision->validation = validation;
    decision->validation_lacks = lacks;
    decision->validation_lack_count = count;
}

static void find_before_booking(struct decision *decision, const struct plan *plan,
                                struct arena *arena) {
    const struct plan_task **tasks;
    size_t count = plan_before_booking(plan, arena, &tasks);
    const char **lines = arena_alloc(arena, (count + 1) * sizeof *lines);
    for (size_t i = 0; i < count; i++)
        lines[i] =
            arena_printf(arena, "%s (%s)", tasks[i]->what, plan_source(plan, tasks[i]->at, arena));
    decision->before_booking = lines;
    decision->before_booking_count = count;
}

void decide_make(const struct decide_input *inputs, size_t count, struct arena *arena,
                 struct decision *ret) {
    const struct plan *plan = inputs[0].study->input->plan;
    assert(count > 0);
    *ret = (struct decision){.environment_count = count};
    ret->environments = arena_alloc(arena, count * sizeof *ret->environments);
    for (size_t i = 0; i < count; i++)
        decide_environment(&inputs[i], arena, &ret->environments[i]);
    find_best(ret);
    find_changes(ret, arena);
    find_validation(ret, plan, arena);
    find_before_booking(ret, plan, arena);
}

bool decide_is_not_yet(const struct decision *decision) {
    switch (decision->verdict) {
    case DECIDE_RENT_STAGED:
    case DECIDE_RENT_BLOCKS:
        return false;
    case DECIDE_NONE:
        return !decision->best->nothing_left;
    case DECIDE_NOT_YET:
    case DECIDE_VALIDATE_FIRST:
    case DECIDE_VERDICT_COUNT_:
        break;
    }
    return true;
}
