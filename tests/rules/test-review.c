/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which estimate, lines, intervals, memory, repeats, consequences, attempts. Causes:
 * test-review-cause.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build-review.h"

/* ---- which estimate ---- */

static void test_none_kept(void **state) {
    struct scene *s = *state;
    scene_run(s);
    scene_review(s);
    s->input.kept_count = 0;
    review_make(&s->input, s->b->arena, &s->review);
    assert_non_null(s->review.blocks[0].skipped);
    assert_null(s->review.blocks[0].kept);
    assert_int_equal(s->review.blocks[0].line_count, 0);
}

static void test_of_another_environment(void **state) {
    struct scene *s = *state;
    scene_run(s);
    s->environment = "there";
    assert_null(scene_review(s)->kept);
}

static void test_unreadable(void **state) {
    static const char *const documents[] = {
        "{}", "{\"blocks\":7}", "{\"snapshot\":{\"environment\":\"here\"},\"blocks\":[{\"id\":7}]}",
        "{\"snapshot\":{\"environment\":\"here\"},\"blocks\":[{\"id\":\"compare\",\"remaining\":2,"
        "\"components\":{\"runs\":{\"time\":\"x\",\"items\":[7,{\"name\":3,\"count\":{\"state\":"
        "\"measured\",\"value\":-4,\"unit\":\"count\"}}]}}}]}"};
    struct scene *s = *state;
    scene_run(s);
    scene_review(s);
    for (size_t i = 0; i < ARRAY_LENGTH(documents); i++) {
        json_t *document = build_object(documents[i]);
        s->kept.estimate = document;
        review_make(&s->input, s->b->arena, &s->review);
        const struct review_block *block = &s->review.blocks[0];
        if (block->kept)
            assert_int_equal(scene_line(block, "runs")->planned.state, QUANTITY_OPEN);
        json_decref(document);
    }
}

/* A trial counts as well: the newest before the first run of the purpose work is meant. */
static void test_choice(void **state) {
    struct scene *s = *state;
    struct review_kept kept[3];
    scene_run(s);
    struct run *work = scene_run(s);
    scene_kept(s);
    for (size_t i = 0; i < 3; i++)
        kept[i] = (struct review_kept){.name = i == 0   ? "one"
                                               : i == 1 ? "two"
                                                        : "three",
                                       .utc_ns = KEPT_NS + (int64_t)i * SECOND_NS,
                                       .estimate = s->estimate};
    s->input = (struct review_input){.study = &s->b->study, .kept = kept, .kept_count = 3};
    review_make(&s->input, s->b->arena, &s->review);
    assert_string_equal(s->review.blocks[0].kept, "one"); /* the first that knows the time */
    json_put_text(work->start, "purpose", "work");
    review_make(&s->input, s->b->arena, &s->review);
    assert_string_equal(s->review.blocks[0].kept, "three");
    kept[2].utc_ns = work->started_utc_ns + 1;
    review_make(&s->input, s->b->arena, &s->review);
    assert_string_equal(s->review.blocks[0].kept, "two");
    s->input.name = "one";
    review_make(&s->input, s->b->arena, &s->review);
    assert_string_equal(s->review.blocks[0].kept, "one");
    assert_string_equal(s->review.name, "one");
}

/* ---- lines ---- */

static void test_before_is_not_since(void **state) {
    struct scene *s = *state;
    const struct review_block *block = scene_review(s);
    assert_non_null(block->skipped);
    assert_int_equal(block->made, 0);
}

static void test_unfinished(void **state) {
    struct scene *s = *state;
    scene_run(s);
    s->block->state = STUDY_UNDERWAY;
    const struct review_block *block = scene_review(s);
    assert_false(block->finished);
    assert_float_equal(scene_line(block, "runs")->planned.value, 52.0, 1e-9);
    assert_false(scene_line(block, "runs")->planned.has_interval);
    assert_int_equal(scene_line(block, "runs")->hit, REVIEW_NO_INTERVAL);
    assert_int_equal(s->review.hits.hit + s->review.hits.missed + s->review.hits.without, 0);
}

static void test_hits(void **state) {
    struct scene *s = *state;
    scene_run(s);
    struct run *run = scene_run(s);
    scene_review(s);
    assert_int_equal(s->review.hits.hit, 1);
    assert_int_equal(s->review.hits.missed, 0);
    scene_phase(run, PHASE_COMPUTE, 60.0);
    scene_review(s);
    assert_int_equal(s->review.hits.hit, 0);
    assert_int_equal(s->review.hits.missed, 1);
    mem_free_ptr(&s->item);
    s->item = mem_printf("\"value\":104,");
    scene_review(s);
    assert_int_equal(s->review.hits.missed, 0);
    assert_int_equal(s->review.hits.without, 1);
}

/* A lower bound was planned: that more came is no miss. */
static void test_planned_at_least(void **state) {
    struct scene *s = *state;
    mem_free_ptr(&s->item);
    s->item = mem_printf("\"value\":50,\"bound\":\"at-least\",\"level\":0.9,\"p05\":45,\"p95\":55,"
                         "\"open_parts\":[\"x\"],");
    scene_run(s);
    scene_run(s);
    const struct review_line *line = scene_line(scene_review(s), "runs");
    assert_int_equal(line->hit, REVIEW_CANNOT_TELL);
    assert_int_equal(line->difference.bound, QUANTITY_AT_MOST);
    assert_false(review_is_worth(line));
}

static void test_sources_gone(void **state) {
    struct scene *s = *state;
    scene_phase(scene_run(s), PHASE_LOAD, 90.0);
    scene_run(s);
    scene_review(s);
    json_t *blocks = json_get_array(s->estimate, "blocks");
    json_t *runs =
        json_get_object(json_get_object(json_array_get(blocks, 0), "components"), "runs");
    json_t *item = json_array_get(json_get_array(runs, "items"), 0);
    json_array_append_new(json_get_array(json_get_object(item, "unit"), "sources"),
                          json_text("11111111-2222-7333-8444-999999999999"));
    review_make(&s->input, s->b->arena, &s->review);
    const struct review_block *block = &s->review.blocks[0];
    assert_int_equal(scene_line(block, "runs/load")->planned.state, QUANTITY_OPEN);
    assert_cause(block, "runs", REVIEW_OPEN);
}

/* Idle time goes with the rental: where nothing that counts was made no share of it is 0 s. */
static void test_idle_without_runs(void **state) {
    struct scene *s = *state;
    scene_more(s, "\"idle\":{\"time\":{\"state\":\"estimated\",\"value\":687,\"unit\":\"s\"},"
                  "\"items\":[{\"name\":\"between runs\",\"time\":{\"state\":\"estimated\","
                  "\"value\":687,\"unit\":\"s\"}}]}");
    s->block->state = STUDY_UNDERWAY;
    scene_failure(s, OUTCOME_FAILED);
    const struct review_block *block = scene_review(s);
    const struct review_line *line = scene_line(block, "idle");
    assert_int_equal(line->planned.state, QUANTITY_OPEN);
    assert_non_null(strstr(line->planned.detail, "[e] 11 min 27 s"));
    /* one of two planned: half of it, as before */
    scene_run(s);
    line = scene_line(scene_review(s), "idle");
    assert_float_equal(line->planned.value, 687.0 / 2.0, 1e-9);
}

static void test_uncounted(void **state) {
    struct scene *s = *state;
    scene_run(s);
    scene_run(s);
    struct study_run *other = &s->b->seen[2];
    other->evidence.level = EVIDENCE_FUNCTION_TEST;
    const struct review_block *block = scene_review(s);
    assert_float_equal(scene_line(block, "uncounted")->actual.value, 52.0, 1e-9);
    assert_float_equal(scene_line(block, "runs")->actual.value, 52.0, 1e-9);
    assert_float_equal(scene_line(block, "reserved")->actual.value, 104.0, 1e-9);
    other->run = s->b->runs[2];
    s->b->runs[2]->validity = RUN_INVALID; /* its time was effort */
    block = scene_review(s);
    assert_float_equal(scene_line(block, "retries")->actual.value, 52.0, 1e-9);
}

/* ---- memory ---- */

static void test_memory(void **state) {
    struct scene *s = *state;
    scene_run(s);
    struct run *run = scene_run(s);
    run->largest_process_rss.value = 2e9;
    const struct review_block *block = scene_review(s);
    assert_float_equal(scene_line(block, "memory/host")->difference.value, 1e9, 0.0);
    assert_cause(block, "memory/host", REVIEW_OPEN);
    assert_int_equal(block->check_count, 1);
    run->work_length = quantity_measured(UNIT_COUNT, 2048, "mark");
    s->trial->work_length = quantity_measured(UNIT_COUNT, 1024, "mark");
    block = scene_review(s);
    assert_cause(block, "memory/host", REVIEW_OTHER_INPUT);
    assert_non_null(strstr(block->checks[0], "length: [m] 1024, now [m] 2048"));
    run->largest_process_rss.method = "/proc/PID/status VmHWM, sampled";
    block = scene_review(s);
    assert_int_equal(scene_line(block, "memory/host")->difference.state, QUANTITY_OPEN); /* B11 */
    assert_int_equal(block->check_count, 0);
}

static void test_gpu_memory(void **state) {
    struct scene *s = *state;
    mem_free_ptr(&s->memory);
    s->memory = mem_printf("{\"quantity\":\"GPU memory reserved by the framework\",\"need\":"
                           "{\"state\":\"measured\",\"value\":100,\"unit\":\"byte\",\"bound\":"
                           "\"at-least\",\"method\":\"torch\"}}");
    struct run *run = scene_run(s);
    struct run_gpu gpu = {.uuid = "GPU-1",
                          .mine = RUN_YES,
                          .reserved = quantity_measured(UNIT_BYTE, 150, "torch"),
                          .process_used = quantity_measured(UNIT_BYTE, 900, "torch")};
    run->gpus = &gpu;
    run->gpu_count = 1;
    const struct review_line *line = scene_line(scene_review(s), "memory/gpu");
    assert_float_equal(line->actual.value, 150.0, 0.0); /* the same quantity, and no other */
    assert_float_equal(line->difference.value, 50.0, 0.0);
    gpu.preallocated = RUN_YES;
    line = scene_line(scene_review(s), "memory/gpu");
    assert_int_equal(line->actual.state, QUANTITY_OPEN); /* an allowance is no need */
}

/* ---- to be made again ---- */

/* A result that nothing rests on is no reason to repeat a run whose checks are met. */
static void test_missing_result(void **state) {
    struct scene *s = *state;
    struct plan_result result = {.name = "score"};
    struct plan_claim claim = {.id = "c", .result = "score"};
    scene_run(s);
    built_plan_block(s->b, s->block)->results = &result;
    built_plan_block(s->b, s->block)->result_count = 1;
    assert_int_equal(scene_review(s)->repeat_count, 0);
    s->b->plan.claims = &claim;
    s->b->plan.claim_count = 1;
    assert_int_equal(scene_review(s)->repeat_count, 1);
    s->b->plan.claims = NULL;
    s->b->plan.claim_count = 0;
    built_plan_block(s->b, s->block)->results = NULL;
    built_plan_block(s->b, s->block)->result_count = 0;
}

/* What the user or the budget stopped did not fail. */
static void test_stopped(void **state) {
    struct scene *s = *state;
    scene_run(s);
    scene_failure(s, OUTCOME_INTERRUPTED);
    scene_failure(s, OUTCOME_BUDGET);
    const struct review_line *line = scene_line(scene_review(s), "retries/count");
    assert_true(line->actual.value == 0.0);
    assert_non_null(strstr(line->actual.detail, "2 more attempts were stopped"));
    scene_failure(s, OUTCOME_GPU_FAULT);
    assert_true(scene_line(scene_review(s), "retries/count")->actual.value == 1.0);
}

static void test_repeats(void **state) {
    struct scene *s = *state;
    struct run_incident survived = {.name = "gpu_busy", .survived = true};
    scene_run(s);
    struct run *run = scene_run(s);
    assert_int_equal(scene_review(s)->repeat_count, 0);
    run->verified = "no";
    const struct review_block *block = scene_review(s);
    assert_int_equal(block->repeat_count, 1);
    assert_ptr_equal(block->repeats[0].run->run, run);
    assert_string_equal(block->repeats[0].command,
                        "probelauf run --block compare -c a=0 -- COMMAND");
    run->verified = "yes";
    run->incidents = &survived;
    run->incident_count = 1;
    assert_non_null(strstr(scene_review(s)->repeats[0].why, "gpu_busy"));
    run->incident_count = 0;
    scene_phase(run, PHASE_COMPUTE, 90.0); /* 102 s; the others took 52 s */
    assert_non_null(strstr(scene_review(s)->repeats[0].why, "[m] 2 times"));
    scene_phase(run, PHASE_COMPUTE, 41.0);
    struct plan_result result = {.name = "acc"};
    built_plan_block(s->b, s->block)->results = &result;
    built_plan_block(s->b, s->block)->result_count = 1;
    assert_int_equal(scene_review(s)->repeat_count, 0); /* their checks are met */
    for (size_t i = 0; i < s->b->study.run_count; i++)
        s->b->study.runs[i].evidence.verified = false;
    assert_int_equal(scene_review(s)->repeat_count, 2); /* both lack it */
}

/* ---- what follows ---- */

/* A later block with the same condition, and one with another. */
static void later(struct scene *s) {
    struct study_block *same = built_block(s->b, "confirm", 1, 5);
    built_block(s->b, "scale", 1, 2);
    struct plan_condition *c = &built_plan_block(s->b, same)->conditions[0];
    memcpy(c->id, s->c->condition->id, sizeof c->id);
}

static const struct review_next *next_of(const struct review_block *block, const char *of,
                                         const char *part) {
    for (size_t i = 0; i < block->next_count; i++)
        if (strcmp(block->next[i].block->id, of) == 0 && strcmp(block->next[i].part, part) == 0)
            return &block->next[i];
    fail_msg("nothing is said of %s, %s", of, part);
    return NULL;
}

static void test_only_the_part_concerned(void **state) {
    struct scene *s = *state;
    later(s);
    scene_phase(scene_run(s), PHASE_LOAD, 30.0);
    scene_phase(scene_run(s), PHASE_LOAD, 32.0);
    const struct review_block *block = scene_review(s);
    const struct review_next *load = next_of(block, "confirm", "load");
    assert_true(load->changed);
    assert_float_equal(load->before.value, 50.0, 1e-9);
    assert_float_equal(load->after.value, 155.0, 1e-9);
    const struct review_next *compute = next_of(block, "confirm", "compute");
    assert_false(compute->changed);
    assert_float_equal(compute->after.value, 200.0, 1e-9);
    assert_false(next_of(block, "scale", "runs")->changed);
    for (size_t i = 0; i < block->next_count; i++)
        assert_string_not_equal(block->next[i].block->id, "compare"); /* nothing is left there */
}

/* Of a later block what is done there already is not planned again. */
static void test_nothing_left_there(void **state) {
    struct scene *s = *state;
    struct study_block *same = built_block(s->b, "confirm", 2, 5);
    struct plan_condition *c = &built_plan_block(s->b, same)->conditions[0];
    memcpy(c->id, s->c->condition->id, sizeof c->id);
    same->conditions[0].done = 5;
    scene_phase(scene_run(s), PHASE_LOAD, 30.0);
    scene_phase(scene_run(s), PHASE_LOAD, 32.0);
    const struct review_block *block = scene_review(s);
    assert_int_equal(block->next_count, 1);
    assert_string_equal(block->next[0].part, "runs"); /* of the other condition, untouched */
    assert_false(block->next[0].changed);
}

/* Neither what is open nor what lacks steps cuts or raises anything. */
static void test_no_blind_cut(void **state) {
    struct scene *s = *state;
    struct run_result result = {.name = "acc",
                                .quantity = quantity_measured(UNIT_RATIO, 0.5, "mark")};
    later(s);
    s->trial->results = &result;
    s->trial->result_count = 1;
    for (int i = 0; i < 2; i++)
        scene_phase(scene_run(s), PHASE_COMPUTE, 10.0);
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs", REVIEW_FEWER_STEPS);
    for (size_t i = 0; i < block->next_count; i++)
        assert_false(block->next[i].changed);
}

/* ---- attempts ---- */

static void test_attempts(void **state) {
    struct scene *s = *state;
    scene_failure(s, OUTCOME_FAILED);
    scene_phase(scene_run(s), PHASE_LOAD, 30.0);
    scene_review(s);
    assert_int_equal(s->review.attempt_count, 3);
    bool seen = false;
    for (size_t i = 0; i < 3; i++) {
        const struct review_attempt *attempt = &s->review.attempts[i];
        if (attempt->run->run == s->trial) {
            assert_int_equal(attempt->planned.state, QUANTITY_OPEN); /* made before */
            assert_int_equal(llround(attempt->first_success.value),
                             (s->trial->ended_utc_ns - s->trial->started_utc_ns) / SECOND_NS);
        } else if (attempt->run->run->outcome == OUTCOME_OK) {
            seen = true;
            assert_float_equal(attempt->deviation.value, 20.0, 1e-9);
            assert_int_equal(attempt->first_success.state, QUANTITY_OPEN);
        }
    }
    assert_true(seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        scene_test(test_none_kept),
        scene_test(test_of_another_environment),
        scene_test(test_unreadable),
        scene_test(test_choice),
        scene_test(test_before_is_not_since),
        scene_test(test_unfinished),
        scene_test(test_hits),
        scene_test(test_planned_at_least),
        scene_test(test_sources_gone),
        scene_test(test_idle_without_runs),
        scene_test(test_uncounted),
        scene_test(test_memory),
        scene_test(test_gpu_memory),
        scene_test(test_repeats),
        scene_test(test_missing_result),
        scene_test(test_stopped),
        scene_test(test_only_the_part_concerned),
        scene_test(test_nothing_left_there),
        scene_test(test_no_blind_cut),
        scene_test(test_attempts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
