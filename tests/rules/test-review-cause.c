/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each cause where the records show it, and where they cannot tell (F2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build-review.h"

static void test_as_planned(void **state) {
    struct scene *s = *state;
    scene_run(s);
    scene_run(s);
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs", REVIEW_NONE);
    assert_int_equal(scene_line(block, "runs")->hit, REVIEW_HIT);
    assert_cause(block, "runs/load", REVIEW_NONE);
    assert_cause(block, "memory/host", REVIEW_NONE);
}

/* ---- loading ---- */

static void test_loading(void **state) {
    struct scene *s = *state;
    scene_phase(scene_run(s), PHASE_LOAD, 30.0);
    scene_phase(scene_run(s), PHASE_LOAD, 31.0);
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/load", REVIEW_LOADING);
    assert_cause(block, "runs/compute", REVIEW_NONE);
    assert_cause(block, "runs", REVIEW_LOADING);
    assert_int_equal(scene_line(block, "runs")->hit, REVIEW_MISS);
    assert_float_equal(scene_line(block, "runs/load")->difference.value, 41.0, 1e-9);
}

static void test_loading_cold(void **state) {
    struct scene *s = *state;
    s->trial->cache.weights = RUN_WEIGHTS_WARM;
    for (int i = 0; i < 2; i++) {
        struct run *run = scene_run(s);
        scene_phase(run, PHASE_LOAD, 30.0);
        run->cache.weights = RUN_WEIGHTS_COLD;
    }
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/load", REVIEW_LOADING);
    assert_non_null(strstr(scene_line(block, "runs/load")->why, "from storage in 2 of these"));
}

/* ---- computing, and what keeps it from being named ---- */

static void two_slow(struct scene *s, double cpu) {
    for (int i = 0; i < 2; i++) {
        struct run *run = scene_run(s);
        scene_phase(run, PHASE_COMPUTE, 80.0);
        run->cpu.value = cpu;
    }
}

static void test_computing(void **state) {
    struct scene *s = *state;
    two_slow(s, 46.0); /* as busy as in the trial */
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/compute", REVIEW_COMPUTING);
    assert_cause(block, "runs", REVIEW_COMPUTING);
}

static void test_not_computing_unless_busy(void **state) {
    struct scene *s = *state;
    two_slow(s, 26.0); /* the processors waited, nobody knows for what */
    assert_cause(scene_review(s), "runs/compute", REVIEW_OPEN);
}

static void test_not_computing_without_load(void **state) {
    struct scene *s = *state;
    two_slow(s, 46.0);
    s->b->runs[1]->phase[PHASE_LOAD] = quantity_open(UNIT_SECOND, QUANTITY_NOT_SEPARATED, NULL);
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/compute", REVIEW_OPEN);
    assert_non_null(strstr(scene_line(block, "runs/compute")->why, "loading is not excluded"));
}

static void test_not_computing_after_an_error(void **state) {
    struct scene *s = *state;
    struct run_incident survived = {.name = "gpu_busy", .survived = true};
    two_slow(s, 46.0);
    s->b->runs[2]->incidents = &survived;
    s->b->runs[2]->incident_count = 1;
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/compute", REVIEW_OPEN);
    assert_non_null(strstr(scene_line(block, "runs/compute")->why, "gpu_busy"));
}

static void test_not_computing_while_writing_differs(void **state) {
    struct scene *s = *state;
    two_slow(s, 60.0);
    scene_phase(s->b->runs[1], PHASE_WRITE, 20.0);
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/compute", REVIEW_OPEN);
    assert_non_null(strstr(scene_line(block, "runs/compute")->why, "storage is not excluded"));
}

static void give_gpu(struct scene *s, struct run *run, double disk_s, double network_s) {
    struct run_gpu *gpu = arena_alloc(s->b->arena, sizeof *gpu);
    *gpu = (struct run_gpu){.uuid = "GPU-1", .kind = "gpu", .mine = RUN_YES};
    gpu->by_phase[PHASE_COMPUTE].entered = true;
    gpu->by_phase[PHASE_COMPUTE].idle_by[GPU_IDLE_DISK_WAIT] =
        quantity_measured(UNIT_SECOND, disk_s, "driver");
    gpu->by_phase[PHASE_COMPUTE].idle_by[GPU_IDLE_NETWORK] =
        quantity_measured(UNIT_SECOND, network_s, "driver");
    run->gpus = gpu;
    run->gpu_count = 1;
}

static void test_gpu_waits_for_data(void **state) {
    struct scene *s = *state;
    two_slow(s, 46.0);
    give_gpu(s, s->trial, 1.0, 0.0);
    give_gpu(s, s->b->runs[1], 21.0, 20.0);
    give_gpu(s, s->b->runs[2], 41.0, 0.0);
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/compute", REVIEW_DATA_ACCESS);
    assert_cause(block, "runs", REVIEW_DATA_ACCESS);
}

static void test_gpu_computes(void **state) {
    struct scene *s = *state;
    two_slow(s, 26.0); /* with a GPU the processors say nothing */
    give_gpu(s, s->trial, 1.0, 0.0);
    give_gpu(s, s->b->runs[1], 1.0, 0.0);
    give_gpu(s, s->b->runs[2], 2.0, 0.0);
    assert_cause(scene_review(s), "runs/compute", REVIEW_COMPUTING);
    s->b->runs[2]->gpus[0].others = RUN_YES;
    assert_cause(scene_review(s), "runs/compute", REVIEW_OPEN);
    s->b->runs[2]->gpus[0].others = RUN_NOT_KNOWN;
    s->b->runs[2]->gpus[0].by_phase[PHASE_COMPUTE].idle_by[GPU_IDLE_NETWORK].state = QUANTITY_OPEN;
    s->b->runs[2]->gpus[0].by_phase[PHASE_COMPUTE].idle_by[GPU_IDLE_NETWORK].reason =
        QUANTITY_NOT_SAMPLED;
    assert_cause(scene_review(s), "runs/compute", REVIEW_OPEN);
}

static void test_cold_inputs_without_gpu(void **state) {
    struct scene *s = *state;
    two_slow(s, 26.0);
    s->b->runs[1]->io_read.value = 5e9;
    assert_cause(scene_review(s), "runs/compute", REVIEW_DATA_ACCESS);
}

/* ---- the other phases ---- */

static void test_writing_and_preprocessing(void **state) {
    struct scene *s = *state;
    scene_phase(s->trial, PHASE_PREPROCESS, 3.0);
    for (int i = 0; i < 2; i++) {
        struct run *run = scene_run(s);
        scene_phase(run, PHASE_WRITE, 20.0);
        scene_phase(run, PHASE_PREPROCESS, 6.0);
    }
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/write", REVIEW_STORAGE);
    assert_cause(block, "runs", REVIEW_STORAGE);
    assert_cause(block, "runs/preprocess", REVIEW_OPEN);
    s->b->runs[1]->io_read.value = 5e9;
    assert_cause(scene_review(s), "runs/preprocess", REVIEW_DATA_ACCESS);
}

static void test_unattributed(void **state) {
    struct scene *s = *state;
    scene_phase(scene_run(s), PHASE_UNATTRIBUTED, 60.0);
    scene_run(s);
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/unattributed", REVIEW_OPEN);
    assert_cause(block, "runs", REVIEW_OPEN);
}

static void test_no_phases(void **state) {
    struct scene *s = *state;
    for (int i = 0; i < 2; i++) {
        struct run *run = scene_run(s);
        for (enum phase phase = PHASE_SETUP; phase < PHASE_COUNT_; phase++)
            run->phase[phase] = quantity_open(UNIT_SECOND, QUANTITY_NOT_SEPARATED, NULL);
        run->wall.value = 90.0;
    }
    const struct review_block *block = scene_review(s);
    assert_float_equal(scene_line(block, "runs")->actual.value, 180.0, 1e-9);
    assert_cause(block, "runs", REVIEW_OPEN);
    assert_int_equal(scene_line(block, "runs/load")->actual.state, QUANTITY_OPEN);
}

/* ---- another input, other steps ---- */

static void test_other_batch(void **state) {
    struct scene *s = *state;
    s->trial->work_batch = quantity_measured(UNIT_COUNT, 4.0, "mark");
    two_slow(s, 46.0);
    s->b->runs[2]->work_batch = quantity_measured(UNIT_COUNT, 8.0, "mark");
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs", REVIEW_OTHER_INPUT);
    assert_cause(block, "runs/compute", REVIEW_OTHER_INPUT);
    assert_non_null(strstr(scene_line(block, "runs")->why, "batch: [m] 4, now [m] 8"));
    assert_int_equal(block->next_count, 0);
}

static void test_other_input_and_software(void **state) {
    struct scene *s = *state;
    two_slow(s, 46.0);
    build_put(s->b->runs[1]->start, "inputs",
              "[{\"path\":\"in\",\"kind\":\"file\",\"bytes\":11,\"mtime_ns\":5,\"inode\":7}]");
    build_put(s->b->runs[2]->environment, "code", "{\"commit\":\"c2\",\"digest\":\"d2\"}");
    const char *why = scene_line(scene_review(s), "runs")->why;
    assert_non_null(strstr(why, "input 'in' is another"));
    assert_non_null(strstr(why, "the code is another"));
}

static void test_fewer_steps(void **state) {
    struct scene *s = *state;
    struct run_result result = {.name = "acc",
                                .quantity = quantity_measured(UNIT_RATIO, 0.5, "mark")};
    s->trial->results = &result;
    s->trial->result_count = 1;
    for (int i = 0; i < 2; i++)
        scene_phase(scene_run(s), PHASE_COMPUTE, 10.0);
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs", REVIEW_FEWER_STEPS);
    assert_int_equal(block->check_count, 1);
    assert_non_null(strstr(block->checks[0], "result 'acc'"));
}

/* ---- what is not of runs ---- */

static void test_failures(void **state) {
    struct scene *s = *state;
    scene_run(s);
    scene_run(s);
    scene_failure(s, OUTCOME_GPU_FAULT);
    const struct review_block *block = scene_review(s);
    assert_cause(block, "retries", REVIEW_FAILURES);
    assert_float_equal(scene_line(block, "retries/count")->actual.value, 1.0, 0.0);
    scene_failure(s, OUTCOME_DEPENDENCY);
    scene_failure(s, OUTCOME_DEPENDENCY);
    assert_cause(scene_review(s), "retries", REVIEW_DEPENDENCY);
    for (int i = 0; i < 4; i++)
        scene_failure(s, OUTCOME_DISK_FULL);
    assert_cause(scene_review(s), "retries", REVIEW_STORAGE);
    for (int i = 0; i < 5; i++) /* each kind is now less than half */
        scene_failure(s, OUTCOME_FAILED);
    assert_cause(scene_review(s), "retries", REVIEW_FAILURES);
}

static void test_no_failure_is_no_cause(void **state) {
    struct scene *s = *state;
    scene_run(s);
    scene_run(s);
    const struct review_block *block = scene_review(s);
    assert_float_equal(scene_line(block, "retries")->actual.value, 0.0, 0.0);
    assert_int_equal(scene_line(block, "retries")->actual.state, QUANTITY_MEASURED);
    assert_null(scene_line(block, "retries")->question);
}

static void test_preparation(void **state) {
    struct scene *s = *state;
    const struct plan_step *step =
        built_step(s->b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_needs(s->b, s->block, "install");
    scene_more(s, "\"prepare\":{\"time\":{\"state\":\"estimated\",\"value\":60,\"unit\":\"s\"},"
                  "\"items\":[{\"name\":\"step install\",\"unit\":{\"state\":\"estimated\","
                  "\"value\":60,\"unit\":\"s\"},\"time\":{\"state\":\"estimated\",\"value\":60,"
                  "\"unit\":\"s\"}}]}");
    scene_run(s);
    scene_run(s);
    built_step_run(s->b, step, 55.0)->started_utc_ns = SINCE_NS - SECOND_NS;
    assert_cause(scene_review(s), "prepare", REVIEW_NONE);
    built_step_run(s->b, step, 55.0)->started_utc_ns = s->clock_ns;
    const struct review_block *block = scene_review(s);
    assert_cause(block, "prepare", REVIEW_PREPARATION);
    assert_int_equal(block->repeated_count, 1);
    assert_float_equal(block->repeated_preparation.value, 55.0, 1e-9);
    scene_failure(s, OUTCOME_DEPENDENCY);
    assert_cause(scene_review(s), "prepare", REVIEW_DEPENDENCY);
}

static void give_gap(struct scene *s, enum session_reason reason) {
    static struct session_gap gap;
    gap = (struct session_gap){.number = 1,
                               .start_utc_ns = SINCE_NS,
                               .end_utc_ns = SINCE_NS + 50 * SECOND_NS,
                               .length = quantity_measured(UNIT_SECOND, 50.0, "boottime"),
                               .reason = reason,
                               .before_run = s->b->runs[1]->id};
    s->sessions[0] =
        (struct session){.id = "s", .environment = "here", .gaps = &gap, .gap_count = 1};
    s->b->input.sessions = s->sessions;
    s->b->input.session_count = 1;
}

static void test_idle(void **state) {
    static const struct {
        enum session_reason reason;
        enum review_cause cause;
    } rows[] = {
        {SESSION_UNKNOWN, REVIEW_OPEN},
        {SESSION_APPROVAL, REVIEW_WAITING},
        {SESSION_DECISION, REVIEW_WAITING},
        {SESSION_CORRECTION, REVIEW_FAILURES},
        {SESSION_DATA_MISSING, REVIEW_DATA_ACCESS},
        {SESSION_FILE_MISSING, REVIEW_DATA_ACCESS},
        {SESSION_WAITING_FOR_AUTHORS, REVIEW_WAITING},
        {SESSION_MANUAL_ACTION, REVIEW_PREPARATION},
        {SESSION_PREPARING_NEXT, REVIEW_PREPARATION},
        {SESSION_FAILURE_HANDLING, REVIEW_FAILURES},
    };
    struct scene *s = *state;
    scene_run(s);
    scene_run(s);
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        give_gap(s, rows[i].reason);
        const struct review_block *block = scene_review(s);
        assert_float_equal(scene_line(block, "idle")->actual.value, 50.0, 1e-9);
        assert_cause(block, "idle", rows[i].cause);
    }
    s->sessions[0].environment = "there"; /* says nothing here */
    const struct review_block *block = scene_review(s);
    for (size_t i = 0; i < block->line_count; i++)
        assert_string_not_equal(block->lines[i].name, "idle");
}

/* ---- answers ---- */

static void test_answers(void **state) {
    struct scene *s = *state;
    two_slow(s, 26.0);
    s->answers[0] = (struct review_answer){"compare", "runs/compute", "a slow disk",
                                           "Kim",     REVIEW_STORAGE, SINCE_NS + SECOND_NS};
    s->answers[1] = (struct review_answer){"compare", "runs/compute", "before",
                                           "Kim",     REVIEW_WAITING, SINCE_NS};
    s->answers[2] = (struct review_answer){"other", "runs/compute", "elsewhere",
                                           "Kim",   REVIEW_WAITING, SINCE_NS + 2 * SECOND_NS};
    s->answer_count = 3;
    const struct review_block *block = scene_review(s);
    assert_cause(block, "runs/compute", REVIEW_STORAGE);
    assert_string_equal(scene_line(block, "runs/compute")->answer->why, "a slow disk");
    assert_null(scene_line(block, "runs/compute")->question);
    s->b->runs[1]->cpu.value = s->b->runs[2]->cpu.value = 46.0; /* data tell: nobody overrules */
    block = scene_review(s);
    assert_cause(block, "runs/compute", REVIEW_COMPUTING);
    assert_non_null(scene_line(block, "runs/compute")->answer);
    s->answers[0].utc_ns = s->answers[1].utc_ns = KEPT_NS - 1; /* of an earlier review */
    assert_null(scene_line(scene_review(s), "runs/compute")->answer);
}

static void test_names(void **state) {
    (void)state;
    enum review_cause cause;
    for (int i = 0; i < REVIEW_CAUSE_COUNT_; i++) {
        assert_true(review_cause_from_name(review_cause_name((enum review_cause)i), &cause));
        assert_int_equal(cause, i);
    }
    assert_false(review_cause_from_name("load", &cause));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        scene_test(test_as_planned),
        scene_test(test_loading),
        scene_test(test_loading_cold),
        scene_test(test_computing),
        scene_test(test_not_computing_unless_busy),
        scene_test(test_not_computing_without_load),
        scene_test(test_not_computing_after_an_error),
        scene_test(test_not_computing_while_writing_differs),
        scene_test(test_gpu_waits_for_data),
        scene_test(test_gpu_computes),
        scene_test(test_cold_inputs_without_gpu),
        scene_test(test_writing_and_preprocessing),
        scene_test(test_unattributed),
        scene_test(test_no_phases),
        scene_test(test_other_batch),
        scene_test(test_other_input_and_software),
        scene_test(test_fewer_steps),
        scene_test(test_failures),
        scene_test(test_no_failure_is_no_cause),
        scene_test(test_preparation),
        scene_test(test_idle),
        scene_test(test_answers),
        scene_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
