/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A study in which nothing stands in the way, for the tests of the decision: data settled, code
 * that fits, a validation and a comparison with checked runs whose peak was measured. Each test
 * takes something away. */
#pragma once

#include "rules/decide.h"

#include "build-records.h"

#define GIB   (1024.0 * 1024.0 * 1024.0)
#define DRAWS 120u

struct decided {
    struct build_study s;
    struct plan_environment *here;
    struct plan_block *validate, *compare;
    struct plan_condition *base, *evict, *full;
    struct run *base_run, *evict_run, *evict_again;
    struct study_input inputs[4];
    struct study studies[4];
    struct estimate estimates[4];
    struct cost costs[4];
    struct decision decision;
};

static inline struct plan_at decided_at(uint32_t line) {
    return (struct plan_at){.line = line, .column = 3};
}

/* The run used so much of its GPU, as the driver says for its processes. */
static inline void decided_gpu(struct run *run, double gib) {
    run->gpus = arena_alloc(run->arena, sizeof *run->gpus);
    run->gpu_count = 1;
    run->gpus[0] = (struct run_gpu){
        .uuid = "GPU-1",
        .name = "NVIDIA H100 80GB HBM3",
        .kind = "gpu",
        .mine = RUN_YES,
        .preallocated = RUN_NO,
        .others = RUN_NO,
        .total = quantity_measured(UNIT_BYTE, 80.0 * GIB, "nvml"),
        .process_used =
            quantity_bounded(UNIT_BYTE, gib * GIB, QUANTITY_AT_LEAST, "nvml, sampled 10 Hz"),
    };
    run->largest_process_rss = quantity_measured(UNIT_BYTE, 4.0 * GIB, "wait4 ru_maxrss");
}

static inline struct run *decided_run(struct decided *d, const struct plan_condition *condition,
                                      double wall_s, double gib) {
    struct run *run = build_study_run(&d->s, condition, wall_s);
    json_put_text(run->start, "block", condition->block->id);
    json_put_text(run->start, "environment_id", d->here->id);
    decided_gpu(run, gib);
    return run;
}

static inline int decided_begin(void **state) {
    struct decided *d = mem_alloc(sizeof *d);
    struct plan *plan = &d->s.plan;
    build_study_start(&d->s);
    plan->tasks = arena_alloc(d->s.arena, 4 * sizeof *plan->tasks);
    plan->offers = arena_alloc(d->s.arena, 4 * sizeof *plan->offers);
    d->here = &plan->environments[0];
    d->here->at = decided_at(10);
    d->here->kind = PLAN_RENTED;
    d->here->gpu_memory = (struct plan_bytes){.given = true, .bytes = (uint64_t)(80.0 * GIB)};
    d->here->host_memory = (struct plan_bytes){.given = true, .bytes = (uint64_t)(64.0 * GIB)};
    d->here->capacity_source = "nvidia-smi there";
    plan->privacy = (struct plan_privacy){.at = decided_at(20),
                                          .data_class = "none",
                                          .may_transfer = PLAN_YES,
                                          .assessment = "public prompts"};
    plan->code.at = decided_at(30);
    plan->code.accelerators = build_texts(d->s.arena, "cuda");
    d->validate = build_block(&d->s, "validate", 1, "tokens=8");
    d->validate->kind = PLAN_VALIDATE;
    d->compare = build_block(&d->s, "compare", 3, "tokens=96");
    d->base = build_condition(&d->s, d->validate, "keep=1");
    d->evict = build_condition(&d->s, d->compare, "keep=0.5");
    d->full = build_condition(&d->s, d->compare, "keep=1");
    d->validate->state = d->compare->state = PLAN_CHOSEN;
    d->base->state = d->evict->state = d->full->state = PLAN_CHOSEN;
    d->base_run = decided_run(d, d->base, 60.0, 20.0);
    d->evict_run = decided_run(d, d->evict, 300.0, 40.0);
    d->evict_again = decided_run(d, d->evict, 310.0, 40.5);
    *state = d;
    return 0;
}

static inline int decided_end(void **state) {
    struct decided *d = *state;
    build_study_end(&d->s);
    mem_free_ptr(&d);
    return 0;
}

/* Every environment of the plan, each on its own; one without any. */
static inline const struct decision *decided_make(struct decided *d) {
    const struct estimate_options how = {.seed = 7, .draws = DRAWS};
    struct decide_input inputs[4];
    size_t count = d->s.plan.environment_count > 0 ? d->s.plan.environment_count : 1;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < d->s.run_count; i++)
        d->s.newest[i] = d->s.runs[d->s.run_count - 1 - i];
    assert_true(count <= ARRAY_LENGTH(inputs));
    for (size_t i = 0; i < count; i++) {
        d->inputs[i] = d->s.input;
        d->inputs[i].environment =
            d->s.plan.environment_count > 0 ? &d->s.plan.environments[i] : NULL;
        d->inputs[i].runs = d->s.newest;
        d->inputs[i].run_count = d->s.run_count;
        d->inputs[i].now_utc_ns = INT64_C(1796000000000000000);
        study_derive(&d->inputs[i], d->s.arena, &d->studies[i]);
        if (estimate_make(&d->studies[i], &how, d->s.arena, &d->estimates[i], &err) < 0)
            fail_msg("%s: %s", err.id, err.text);
        cost_make(&d->estimates[i], NULL, d->s.arena, &d->costs[i]);
        inputs[i] = (struct decide_input){&d->studies[i], &d->estimates[i], &d->costs[i]};
    }
    decide_make(inputs, count, d->s.arena, &d->decision);
    return &d->decision;
}

static inline const struct decide_rule *decided_rule(const struct decision *decision, size_t block,
                                                     enum decide_id id) {
    return &decision->environments[0].blocks[block].rules[id];
}

/* What holds for every answer: it has a condition, a consequence and a ground, and what fires leads
 * to something. */
static inline void decided_sound(const struct decision *decision) {
    for (size_t e = 0; e < decision->environment_count; e++)
        for (size_t b = 0; b < decision->environments[e].block_count; b++)
            for (enum decide_id id = DECIDE_E5; id < DECIDE_ID_COUNT_; id++) {
                const struct decide_rule *rule = &decision->environments[e].blocks[b].rules[id];
                const char *name = decide_id_name(id);
                assert_int_equal(rule->id, id);
                assert_true(rule->when[0] != '\0' && rule->then[0] != '\0');
                if (rule->ground_count == 0)
                    fail_msg("%s has no ground", name);
                if (rule->answer == DECIDE_CANNOT_TELL && rule->change == NULL && id != DECIDE_E7B)
                    fail_msg("%s cannot tell and does not say what would change that", name);
                if (!rule->fires && rule->verdict != DECIDE_NONE)
                    fail_msg("%s does not fire and has a verdict", name);
                if (rule->fires &&
                    (rule->verdict == DECIDE_NOT_YET || rule->verdict == DECIDE_VALIDATE_FIRST) &&
                    (rule->open_count == 0 || rule->change == NULL))
                    fail_msg("%s stops and does not say what would change that", name);
                for (size_t i = 0; i < rule->ground_count; i++)
                    if (rule->grounds[i].name != NULL)
                        assert_true(quantity_is_valid(&rule->grounds[i].figure));
            }
}

static inline void expect_rule(struct decided *d, size_t block, enum decide_id id,
                               enum decide_answer answer, bool fires) {
    const struct decision *decision = decided_make(d);
    const struct decide_rule *rule = decided_rule(decision, block, id);
    decided_sound(decision);
    if (rule->answer != answer || rule->fires != fires)
        fail_msg("%s: %s%s: %s", decide_id_name(id), decide_answer_name(rule->answer),
                 rule->fires ? ", fires" : "", rule->grounds[0].text);
}

/* One of the rule's grounds says so. */
static inline void expect_ground(const struct decided *d, size_t block, enum decide_id id,
                                 const char *text) {
    const struct decide_rule *rule = decided_rule(&d->decision, block, id);
    for (size_t i = 0; i < rule->ground_count; i++)
        if (strstr(rule->grounds[i].text, text) != NULL)
            return;
    fail_msg("%s does not say '%s' but '%s'", decide_id_name(id), text,
             rule->ground_count > 0 ? rule->grounds[0].text : "");
}

static inline void expect_verdict(struct decided *d, enum decide_verdict verdict,
                                  enum decide_id by) {
    const struct decision *decision = decided_make(d);
    if (decision->verdict != verdict || decision->best->by == NULL || decision->best->by->id != by)
        fail_msg("%s by %s", decide_verdict_name(decision->verdict),
                 decision->best->by != NULL ? decide_id_name(decision->best->by->id) : "none");
    assert_int_equal(decide_is_not_yet(decision),
                     verdict == DECIDE_NOT_YET || verdict == DECIDE_VALIDATE_FIRST);
}
