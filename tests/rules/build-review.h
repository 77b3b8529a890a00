/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block with one trial and the estimate that was kept after it, for the tests of the review; what
 * happened since is what each test adds. */
#pragma once

#include "rules/review.h"

#include "build-study.h"

#define KEPT_NS    INT64_C(1795000000000000000)
#define BEFORE_NS  (KEPT_NS - INT64_C(3600000000000))
#define SINCE_NS   (KEPT_NS + INT64_C(3600000000000))
#define SECOND_NS  INT64_C(1000000000)
#define LAST_BLOCK 3u

struct scene {
    struct built *b;
    struct study_block *block;
    struct study_condition *c;
    struct run *trial;
    char *item;   /* of component runs in the kept estimate; owned */
    char *more;   /* further components of it; owned */
    char *memory; /* of its GPU; owned */
    json_t *estimate;
    const char *name, *environment;
    int64_t clock_ns;
    struct review_answer answers[4];
    size_t answer_count;
    struct session sessions[2];
    struct review_input input;
    struct review_kept kept;
    struct review review;
};

static inline void scene_phase(struct run *run, enum phase phase, double seconds) {
    run->phase[phase] = quantity_measured(UNIT_SECOND, seconds, "mark");
}

/* 10 s loading, 40 s computing, 2 s writing, and what a record usually tells. */
static inline void scene_usual(struct run *run) {
    scene_phase(run, PHASE_LOAD, 10.0);
    scene_phase(run, PHASE_COMPUTE, 40.0);
    scene_phase(run, PHASE_WRITE, 2.0);
    scene_phase(run, PHASE_UNATTRIBUTED, 0.0);
    run->cpu = quantity_measured(UNIT_CORE_SECOND, 26.0, "wait4");
    run->io_read = quantity_measured(UNIT_BYTE, 1e6, "io");
    run->largest_process_rss = quantity_measured(UNIT_BYTE, 1e9, "wait4 ru_maxrss");
    run->verified = "yes";
}

static inline void scene_start(void **state) {
    struct scene *s = mem_alloc(sizeof *s);
    s->b = built_new();
    built_room(s->b, LAST_BLOCK);
    s->block = built_block(s->b, "compare", 1, 3);
    s->block->state = STUDY_DONE;
    s->c = &s->block->conditions[0];
    s->trial = built_counts(s->b, s->c, 52.0);
    s->trial->started_utc_ns = BEFORE_NS;
    s->trial->ended_utc_ns = BEFORE_NS + 52 * SECOND_NS;
    scene_usual(s->trial);
    s->clock_ns = SINCE_NS;
    s->environment = "here";
    s->item = mem_printf("%s", "\"value\":104,\"level\":0.9,\"p05\":94,\"p95\":114,\"basis\":"
                               "\"own-runs\",");
    s->more = mem_printf("%s", "");
    s->memory = mem_printf("%s", "{\"quantity\":\"\",\"need\":null}");
    *state = s;
}

static inline int scene_setup(void **state) {
    scene_start(state);
    return 0;
}

static inline int scene_teardown(void **state) {
    struct scene *s = *state;
    built_free(s->b);
    json_decref(s->estimate);
    mem_free_ptr(&s->item);
    mem_free_ptr(&s->more);
    mem_free_ptr(&s->memory);
    mem_free_ptr(&s);
    return 0;
}

/* The next run of the condition since, like the trial until the test changes it; its wall time is
 * made the sum of its phases by scene_review. */
static inline struct run *scene_run(struct scene *s) {
    struct run *run = built_counts(s->b, s->c, 52.0);
    scene_usual(run);
    run->started_utc_ns = s->clock_ns;
    run->ended_utc_ns = s->clock_ns + 52 * SECOND_NS;
    s->clock_ns += 100 * SECOND_NS;
    return run;
}

static inline struct run *scene_failure(struct scene *s, enum outcome_class outcome) {
    struct run *run = built_fails(s->b, s->c, 5.0);
    run->outcome = outcome;
    run->started_utc_ns = s->clock_ns;
    s->clock_ns += 100 * SECOND_NS;
    return run;
}

static inline void scene_more(struct scene *s, const char *components) {
    mem_free_ptr(&s->more);
    s->more = mem_printf(",%s", components);
}

static inline void scene_kept(struct scene *s) {
    AUTO_FREE char *text = mem_printf(
        "{\"schema\":\"probelauf.estimate/1\",\"snapshot\":{\"environment\":\"%s\"},\"blocks\":[{"
        "\"id\":\"compare\",\"remaining\":2,\"components\":{\"runs\":{\"time\":{\"state\":"
        "\"estimated\",%s\"unit\":\"s\"},\"items\":[{\"name\":\"a=0\",\"count\":{\"state\":"
        "\"measured\",\"value\":2,\"unit\":\"count\"},\"unit\":{\"state\":\"estimated\",\"value\":"
        "52,\"unit\":\"s\",\"sources\":[\"%s\"]},\"time\":{\"state\":\"estimated\",\"value\":104,"
        "\"unit\":\"s\"}}]}%s},\"figures\":{\"reserved\":{\"state\":\"estimated\",\"value\":104,"
        "\"unit\":\"s\"}},\"host_memory\":{\"quantity\":\"largest process, peak resident set\","
        "\"need\":{\"state\":\"measured\",\"value\":1000000000,\"unit\":\"byte\",\"bound\":"
        "\"at-least\",\"method\":\"wait4 ru_maxrss\"}},\"gpu_memory\":%s}]}",
        s->environment, s->item, s->trial->id, s->more, s->memory);
    json_decref(s->estimate);
    s->estimate = build_object(text);
    s->kept = (struct review_kept){.name = "first", .utc_ns = KEPT_NS, .estimate = s->estimate};
}

static inline const struct review_block *scene_review(struct scene *s) {
    for (size_t i = 0; i < s->b->study.run_count; i++) {
        struct run *run = s->b->runs[i];
        double sum = 0.0;
        for (enum phase phase = PHASE_SETUP; phase < PHASE_COUNT_; phase++)
            sum += quantity_is_known(&run->phase[phase]) ? run->phase[phase].value : 0.0;
        if (sum > 0.0)
            run->wall.value = sum;
    }
    scene_kept(s);
    s->input = (struct review_input){.study = &s->b->study,
                                     .kept = &s->kept,
                                     .kept_count = 1,
                                     .name = s->name,
                                     .answers = s->answers,
                                     .answer_count = s->answer_count};
    review_make(&s->input, s->b->arena, &s->review);
    return &s->review.blocks[0];
}

static inline const struct review_line *scene_line(const struct review_block *block,
                                                   const char *name) {
    for (size_t i = 0; i < block->line_count; i++)
        if (strcmp(block->lines[i].name, name) == 0)
            return &block->lines[i];
    fail_msg("there is no line '%s'%s%s", name, block->skipped ? ": " : "",
             block->skipped ? block->skipped : "");
    return NULL;
}

static inline void assert_cause(const struct review_block *block, const char *name,
                                enum review_cause cause) {
    const struct review_line *line = scene_line(block, name);
    if (line->cause != cause)
        fail_msg("%s: '%s' and not '%s' (%s)", name, review_cause_name(line->cause),
                 review_cause_name(cause), line->why ? line->why : "-");
    if (cause == REVIEW_OPEN && quantity_is_known(&line->difference))
        assert_non_null(line->question);
}

#define scene_test(f) cmocka_unit_test_setup_teardown(f, scene_setup, scene_teardown)
