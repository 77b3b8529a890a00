/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Studies for the tests of the estimate, made by hand: a plan and what its runs have come to, with
 * every field as a test needs it. */
#pragma once

#include "rules/cost.h"
#include "rules/estimate.h"

#include "build.h"

#include <stdio.h>

#define STUDY_RUNS 640u

struct built {
    struct arena *arena;
    struct plan plan;
    struct plan_environment environment;
    struct study_input input;
    struct study study;
    struct study_run seen[STUDY_RUNS];
    struct run *runs[STUDY_RUNS];
    uint32_t line; /* the next one of the plan */
    struct estimate_setting settings[8];
    size_t setting_count, draws;
    uint64_t seed;
    struct estimate estimate;
};

static inline struct plan_at built_at(struct built *b) {
    return (struct plan_at){.line = ++b->line, .column = 3};
}

static inline struct built *built_new(void) {
    struct built *b = mem_alloc(sizeof *b);
    b->arena = arena_new();
    b->plan.arena = b->arena;
    b->plan.name = "probelauf.yaml";
    b->environment = (struct plan_environment){.at = built_at(b), .id = "here"};
    b->environment.gpus = (struct plan_whole){.given = true, .value = 0, .at = built_at(b)};
    b->plan.environments = &b->environment;
    b->plan.environment_count = 1;
    b->input = (struct study_input){.plan = &b->plan,
                                    .environment = &b->environment,
                                    .now_utc_ns = INT64_C(1796000000000000000)};
    b->study.input = &b->input;
    b->study.runs = b->seen;
    b->seed = 7;
    b->draws = 500;
    return b;
}

static inline struct built *built_free(struct built *b) {
    for (size_t i = 0; i < b->study.run_count; i++)
        run_free(b->runs[i]);
    arena_free(b->arena);
    mem_free_ptr(&b);
    return NULL;
}

/* Room for the blocks of a study; before the first block. */
static inline void built_room(struct built *b, size_t blocks) {
    b->plan.blocks = arena_alloc(b->arena, blocks * sizeof *b->plan.blocks);
    b->study.blocks = arena_alloc(b->arena, blocks * sizeof *b->study.blocks);
}

/* runs < 0: the plan leaves the number open. Conditions are called "a=0", "a=1", … and are others
 * in every block. */
static inline struct study_block *built_block(struct built *b, const char *id, size_t conditions,
                                              int64_t runs) {
    struct plan_block *block = &b->plan.blocks[b->plan.block_count++];
    struct study_block *study = &b->study.blocks[b->study.block_count++];

    *block = (struct plan_block){.at = built_at(b), .id = id, .kind = PLAN_COMPARE};
    if (runs >= 0)
        block->runs = (struct plan_whole){.given = true, .value = runs, .at = built_at(b)};
    block->conditions = arena_alloc(b->arena, (conditions + 1) * sizeof *block->conditions);
    block->condition_count = conditions;
    *study = (struct study_block){.block = block};
    study->conditions = arena_alloc(b->arena, (conditions + 1) * sizeof *study->conditions);
    study->condition_count = conditions;
    for (size_t i = 0; i < conditions; i++) {
        struct plan_condition *c = &block->conditions[i];
        c->at = block->at;
        c->block = block;
        c->label = arena_printf(b->arena, "a=%zu", i);
        c->axes = arena_alloc(b->arena, sizeof *c->axes);
        c->axes[0].name = "a";
        c->axes[0].value = arena_printf(b->arena, "%zu", i);
        c->axis_count = 1;
        AUTO_FREE char *name = mem_printf("%s/%zu", id, i);
        digest_sha256(name, strlen(name), c->id);
        study->conditions[i] = (struct study_condition){
            .condition = c,
            .why = "no run of it was made",
            .planned = runs >= 0 ? (uint64_t)runs : 0,
            .has_planned = runs >= 0,
            .runs = arena_alloc(b->arena, STUDY_RUNS * sizeof(struct study_run *)),
        };
    }
    return study;
}

/* An ordinary finished run of the study, evidence for nothing. */
static inline struct study_run *built_seen(struct built *b, double wall_s) {
    size_t at = b->study.run_count++;
    b->runs[at] = build_run((int)at + 1, wall_s);
    b->seen[at] = (struct study_run){.run = b->runs[at], .environment = &b->environment};
    return &b->seen[at];
}

static inline void built_attempt(struct study_condition *c, struct study_run *seen) {
    seen->condition = c->condition;
    seen->block = c->condition->block;
    seen->planned = true;
    seen->is_attempt = true;
    c->runs[c->run_count++] = seen;
    c->attempts++;
}

/* A run that counts and is done. */
static inline struct run *built_counts(struct built *b, struct study_condition *c, double wall_s) {
    struct study_run *seen = built_seen(b, wall_s);
    built_attempt(c, seen);
    seen->evidence = (struct evidence){.level = EVIDENCE_MEASURED, .verified = true};
    c->level = EVIDENCE_MEASURED;
    c->why = NULL;
    c->valid++;
    c->done += !c->has_planned || c->done < c->planned;
    return b->runs[b->study.run_count - 1];
}

static inline struct run *built_fails(struct built *b, struct study_condition *c, double wall_s) {
    struct study_run *seen = built_seen(b, wall_s);
    struct run *run = b->runs[b->study.run_count - 1];
    built_attempt(c, seen);
    run->outcome = OUTCOME_FAILED;
    seen->evidence.why = "it failed";
    c->failures++;
    return run;
}

static inline struct plan_step *built_step(struct built *b, const char *name,
                                           enum component component, enum plan_repeats repeats,
                                           enum plan_answer needs_machine) {
    if (!b->plan.steps)
        b->plan.steps = arena_alloc(b->arena, 8 * sizeof *b->plan.steps);
    struct plan_step *step = &b->plan.steps[b->plan.step_count++];
    *step = (struct plan_step){.at = built_at(b),
                               .name = name,
                               .component = component,
                               .repeats = repeats,
                               .needs_machine = needs_machine};
    return step;
}

static inline void built_needs(struct built *b, struct study_block *study, const char *step) {
    struct plan_block *block = &b->plan.blocks[study - b->study.blocks];
    if (!block->steps.items)
        block->steps.items = arena_alloc(b->arena, 8 * sizeof *block->steps.items);
    block->steps.items[block->steps.count++] = (struct plan_text_item){step, built_at(b)};
}

static inline struct run *built_step_run(struct built *b, const struct plan_step *step,
                                         double wall_s) {
    struct study_run *seen = built_seen(b, wall_s);
    seen->step = step;
    seen->planned = true;
    return b->runs[b->study.run_count - 1];
}

static inline struct plan_block *built_plan_block(struct built *b, struct study_block *study) {
    return &b->plan.blocks[study - b->study.blocks];
}

static inline void built_assume(struct built *b, const char *key, const char *value) {
    if (!b->plan.assumptions)
        b->plan.assumptions = arena_alloc(b->arena, 16 * sizeof *b->plan.assumptions);
    b->plan.assumptions[b->plan.assumption_count++] = (struct plan_assumption){
        .at = built_at(b), .key = key, .value = value, .who = "Kim", .why = "own guess"};
}

static inline void built_set(struct built *b, const char *key, const char *value) {
    b->settings[b->setting_count++] = (struct estimate_setting){.key = key, .value = value};
}

static inline int built_make(struct built *b, struct err *err) {
    const struct estimate_options options = {.settings = b->settings,
                                             .setting_count = b->setting_count,
                                             .seed = b->seed,
                                             .draws = b->draws};
    return estimate_make(&b->study, &options, b->arena, &b->estimate, err);
}

/* ---- what holds for every estimate ---- */

static inline bool built_is_source(const struct built *b, const char *source) {
    unsigned line = 0;
    char end;
    if (sscanf(source, "probelauf.yaml:%u%c", &line, &end) == 1)
        return line >= 1 && line <= b->line;
    for (size_t i = 0; i < b->study.run_count; i++)
        if (strcmp(b->runs[i]->id, source) == 0)
            return true;
    return false;
}

static inline void built_check(const struct built *b, const struct quantity *q) {
    size_t runs = 0;
    if (!quantity_is_valid(q))
        fail_msg("invalid quantity: %s %s", quantity_state_name(q->state),
                 q->detail ? q->detail : "");
    json_decref(quantity_to_json(q)); /* aborts on nan and inf */
    for (size_t i = 0; i < q->source_count; i++) {
        if (!built_is_source(b, q->sources[i]))
            fail_msg("'%s' is no source", q->sources[i]);
        runs += strchr(q->sources[i], ':') == NULL;
    }
    /* what a figure lacks is named, and only that; each name leads to something open */
    struct quantity again = *q;
    if (q->part_count > 0 && !q->open_parts)
        fail_msg("its open parts are not named: %s", q->detail ? q->detail : "");
    if (q->part_count > 0) {
        quantity_name_open_parts(&again, b->arena);
        assert_int_equal(again.open_part_count, q->open_part_count);
    }
    bool open_part = false;
    for (size_t i = 0; i < q->part_count; i++)
        open_part |= !quantity_is_known(&q->parts[i].quantity) ||
                     q->parts[i].quantity.bound == QUANTITY_AT_LEAST;
    if (open_part && quantity_is_known(q))
        assert_int_equal(q->bound, QUANTITY_AT_LEAST);
    if (quantity_is_known(q)) {
        assert_true(q->value >= 0.0);
        if (strcmp(q->unit, UNIT_SECOND) == 0) /* a peak is one of many */
            assert_true(q->n <= runs);
    } else {
        assert_int_not_equal(q->reason, QUANTITY_NO_REASON);
    }
}

static inline void built_check_figures(const struct built *b, const struct estimate_figures *f) {
    built_check(b, &f->computing);
    built_check(b, &f->reserved);
    built_check(b, &f->calendar);
    built_check(b, &f->effort);
    built_check(b, &f->gpu);
}

static inline void built_check_memory(const struct built *b, const struct estimate_memory *m) {
    built_check(b, &m->need);
    built_check(b, &m->capacity);
    assert_true(m->verdict && m->verdict[0] && m->quantity_name && m->quantity_name[0]);
}

static inline void built_check_components(const struct built *b,
                                          const struct estimate_component *components) {
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        const struct estimate_component *c = &components[k];
        assert_int_equal(c->component, k);
        built_check(b, &c->time);
        for (size_t i = 0; i < c->item_count; i++) {
            built_check(b, &c->items[i].count);
            built_check(b, &c->items[i].unit);
            built_check(b, &c->items[i].time);
            assert_non_null(c->items[i].name);
        }
    }
}

static inline void built_check_all(const struct built *b) {
    const struct estimate *e = &b->estimate;
    for (size_t i = 0; i < e->block_count; i++) {
        const struct estimate_block *block = &e->blocks[i];
        built_check_components(b, block->components);
        built_check_figures(b, &block->figures);
        built_check_memory(b, &block->host_memory);
        built_check_memory(b, &block->gpu_memory);
        built_check(b, &block->bytes_in);
        built_check(b, &block->bytes_out);
    }
    built_check_components(b, e->components);
    built_check_figures(b, &e->total);
    for (size_t i = 0; i < e->by_extent_count; i++)
        built_check_figures(b, &e->by_extent[i].figures);
    for (size_t i = 0; i < e->by_recurrence_count; i++)
        built_check_figures(b, &e->by_recurrence[i].figures);
    struct cost cost;
    cost_make(e, NULL, b->arena, &cost);
    if (!amount_is_known(&cost.amount))
        assert_true(cost.amount.reason != QUANTITY_NO_REASON);
    assert_true(cost.chosen || cost.missing_count > 0);
}

static inline const struct estimate *built_estimate(struct built *b) {
    struct err err = ERR_INIT;
    if (built_make(b, &err) < 0)
        fail_msg("%s: %s", err.id, err.text);
    built_check_all(b);
    return &b->estimate;
}
