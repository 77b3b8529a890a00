/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small plan and records of runs of it, for the tests of evidence, study and claims: one
 * environment with a GPU, blocks and conditions as the test adds them, runs that fit until the test
 * changes them. */
#pragma once

#include "build.h"

#include "model/plan.h"
#include "plan/conditions.h"
#include "plan/plan.h"
#include "rules/study.h"

#include <stdlib.h>

#define BUILD_BLOCKS     6u
#define BUILD_CONDITIONS 12u
#define BUILD_RUNS       64u

struct build_study {
    struct arena *arena;
    struct plan plan;
    struct run *runs[BUILD_RUNS];         /* oldest first, owned */
    const struct run *newest[BUILD_RUNS]; /* the same, newest first */
    size_t run_count;
    struct study_input input;
    struct study study;
};

/* "a=1 b=2" */
static inline struct plan_pairs build_pairs(struct arena *arena, const char *text) {
    struct plan_pairs pairs = {.items =
                                   arena_alloc(arena, (strlen(text) + 1) * sizeof *pairs.items)};
    char *rest = arena_strdup(arena, text);
    char *word;

    while ((word = strsep(&rest, " ")))
        if (*word) {
            char *value = strchr(word, '=');
            assert_non_null(value);
            *value++ = '\0';
            pairs.items[pairs.count++] = (struct plan_pair){.name = word, .value = value};
        }
    return pairs;
}

static inline struct plan_texts build_texts(struct arena *arena, const char *text) {
    struct plan_texts texts = {.items =
                                   arena_alloc(arena, (strlen(text) + 1) * sizeof *texts.items)};
    char *rest = arena_strdup(arena, text);
    char *word;

    while ((word = strsep(&rest, " ")))
        if (*word)
            texts.items[texts.count++] = (struct plan_text_item){.text = word};
    return texts;
}

static inline struct plan_whole build_whole(int64_t value) {
    return (struct plan_whole){.given = true, .value = value};
}

static inline struct plan_environment *build_environment(struct build_study *s, const char *id) {
    struct plan_environment *environment = &s->plan.environments[s->plan.environment_count++];
    *environment = (struct plan_environment){
        .id = id,
        .gpu = "NVIDIA H100 80GB HBM3",
        .gpus = build_whole(1),
        .driver = "550.54.15",
        .stack = build_pairs(s->arena, "torch=2.3.1"),
        .match = build_texts(s->arena, "torch"),
    };
    return environment;
}

static inline void build_study_start(struct build_study *s) {
    memset(s, 0, sizeof *s);
    s->arena = arena_new();
    s->plan = (struct plan){
        .arena = s->arena,
        .path = "probelauf.yaml",
        .name = "probelauf.yaml",
        .folder = "/x",
        .study = {.id = "study-1", .title = "t", .paper_version = "v2"},
        .blocks = arena_alloc(s->arena, BUILD_BLOCKS * sizeof(struct plan_block)),
        .environments = arena_alloc(s->arena, 4 * sizeof(struct plan_environment)),
        .claims = arena_alloc(s->arena, 8 * sizeof(struct plan_claim)),
        .facts = arena_alloc(s->arena, 8 * sizeof(struct plan_fact)),
        .steps = arena_alloc(s->arena, 4 * sizeof(struct plan_step)),
    };
    build_environment(s, "here");
    s->input = (struct study_input){
        .plan = &s->plan, .environment = &s->plan.environments[0], .code_digest = "d1"};
}

static inline void build_study_end(struct build_study *s) {
    for (size_t i = 0; i < s->run_count; i++)
        run_free(s->runs[i]);
    arena_free(s->arena);
}

static inline struct plan_block *build_block(struct build_study *s, const char *id, int64_t runs,
                                             const char *fixed) {
    struct plan_block *block = &s->plan.blocks[s->plan.block_count++];
    assert_true(s->plan.block_count <= BUILD_BLOCKS);
    *block = (struct plan_block){
        .id = id,
        .kind = PLAN_COMPARE,
        .runs = build_whole(runs),
        .fixed = build_pairs(s->arena, fixed),
        .command = build_texts(s->arena, "python gen.py --keep {keep} --tokens {tokens}"),
        .conditions = arena_alloc(s->arena, BUILD_CONDITIONS * sizeof(struct plan_condition)),
    };
    return block;
}

static inline int build_compare_pairs(const void *a, const void *b) {
    const struct plan_pair *x = a;
    const struct plan_pair *y = b;
    return strcmp(x->name, y->name);
}

static inline struct plan_condition *build_condition(struct build_study *s,
                                                     struct plan_block *block, const char *axes) {
    struct plan_condition *condition = &block->conditions[block->condition_count++];
    struct plan_pairs varied = build_pairs(s->arena, axes);

    assert_true(block->condition_count <= BUILD_CONDITIONS);
    *condition = (struct plan_condition){.block = block,
                                         .axes = varied.items,
                                         .axis_count = varied.count,
                                         .label = *axes ? axes : block->id};
    condition->parameters = arena_alloc(s->arena, (varied.count + block->fixed.count + 1) *
                                                      sizeof *condition->parameters);
    for (size_t i = 0; i < varied.count; i++)
        condition->parameters[condition->parameter_count++] = varied.items[i];
    for (size_t i = 0; i < block->fixed.count; i++)
        condition->parameters[condition->parameter_count++] = block->fixed.items[i];
    qsort(condition->parameters, condition->parameter_count, sizeof *condition->parameters,
          build_compare_pairs);
    plan_condition_id(condition->parameters, condition->parameter_count,
                      s->plan.study.paper_version, plan_template_id(block, s->arena),
                      condition->id);
    return condition;
}

static inline void build_put_pairs(json_t *object, const char *key, const struct plan_pair *pairs,
                                   size_t count) {
    json_t *to = json_object();
    for (size_t i = 0; i < count; i++)
        json_put_text(to, pairs[i].name, pairs[i].value);
    json_put(object, key, to);
}

/* A further run, newer than all others; it says its block only if the test adds that. */
static inline struct run *build_study_run(struct build_study *s,
                                          const struct plan_condition *condition, double wall_s) {
    struct run *run = build_run((int)s->run_count + 1, wall_s);
    const char *const *argv = plan_command(condition, s->arena);
    json_t *command = json_array();

    assert_true(s->run_count < BUILD_RUNS);
    run->started_utc_ns = (int64_t)(s->run_count + 1) * 100 * INT64_C(1000000000);
    run->ended_utc_ns = run->started_utc_ns + (int64_t)(wall_s * 1e9);
    run->study = "study-1";
    run->verified = "yes";
    for (size_t i = 0; argv && argv[i]; i++)
        json_array_append_new(command, json_text(argv[i]));
    json_put(run->start, "command", command);
    build_put_pairs(run->start, "condition", condition->axes, condition->axis_count);
    build_put_pairs(run->start, "parameters", condition->parameters, condition->parameter_count);
    json_put_text(run->start, "condition_id", condition->id);
    json_put_text(run->start, "plan_folder", ".");
    if (s->plan.study.paper_version)
        json_put_text(run->start, "paper_version", s->plan.study.paper_version);
    build_put(run->environment, "gpu",
              "{\"count\":1,\"devices\":[{\"name\":\"NVIDIA H100 80GB HBM3\"}],"
              "\"driver\":\"550.90.07\"}");
    build_put(run->environment, "interpreters", "[{\"prefix\":\"/venv\",\"version\":\"3.11.2\"}]");
    build_put(run->environment, "packages",
              "[{\"name\":\"numpy\",\"version\":\"1.26.4\",\"interpreter\":\"/venv\"},"
              "{\"name\":\"torch\",\"version\":\"2.3.1+cu121\",\"interpreter\":\"/venv\"}]");
    s->runs[s->run_count++] = run;
    return run;
}

static inline void build_result(struct run *run, const char *name, double value, const char *unit) {
    struct run_result *results =
        arena_alloc(run->arena, (run->result_count + 1) * sizeof *run->results);
    for (size_t i = 0; i < run->result_count; i++)
        results[i] = run->results[i];
    results[run->result_count++] =
        (struct run_result){name, quantity_measured(unit, value, "mark")};
    run->results = results;
}

static inline const struct study *build_derive(struct build_study *s) {
    for (size_t i = 0; i < s->run_count; i++)
        s->newest[i] = s->runs[s->run_count - 1 - i];
    s->input.runs = s->newest;
    s->input.run_count = s->run_count;
    study_derive(&s->input, s->arena, &s->study);
    return &s->study;
}

/* Setup and teardown of a test that gets a study as its state. */
static inline int build_study_begin(void **state) {
    struct build_study *s = mem_alloc(sizeof *s);
    build_study_start(s);
    *state = s;
    return 0;
}

static inline int build_study_done(void **state) {
    struct build_study *s = *state;
    build_study_end(s);
    mem_free_ptr(&s);
    return 0;
}

static inline void assert_says(const char *text, const char *part) {
    if (!text || !strstr(text, part))
        fail_msg("'%s' does not say '%s'", text ? text : "(null)", part);
}
