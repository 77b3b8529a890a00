/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Busy and idle time and its causes. */
#include "gpu-support.h"

static void near(double a, double b, double slack) {
    if (!(fabs(a - b) <= slack)) {
        fail_msg("%g is not %g", a, b);
    }
}

/* 20 s of windows of 1 s that end at 0.7 s and so on: 5 s without work while the host computes
 * (from 4 s on), and 5 s while it waits for its disk (from 12 s on). */
static void add_two_stretches(struct strbuf *bytes) {
    CURVE(bytes, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 700, 1000, 0, 0, 80, 80, 24, 0, 0, 0, 0, 56,
          80, 80, 24, 0, 0, 0, 0, 56, 80, 80);
    CURVE(bytes, 2, "tree.cpu", NULL, "counter", 1000, 1000, 1000, 100, 200, 300, 400, 1400, 2400,
          3400, 4400, 5400, 5500, 5600, 5700, 5710, 5720, 5730, 5740, 5750, 5850, 5950, 6050);
    CURVE(bytes, 3, "io.read", NULL, "counter", 1, 1000, 1000, 10, 10, 10, 10, 10, 10, 10, 10, 10,
          10, 10, 10, 900000, 1900000, 2900000, 3900000, 4900000, 4900000, 4900000, 4900000);
    CURVE(bytes, 4, "tree.disk_sleep", NULL, "gauge", 1, 1000, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
          0, 0, 1, 1, 0, 1, 1, 0, 0, 0);
    add(bytes, JOURNAL_END, "{'t_ns':20000000000,'command_t_ns':20000000000,'exit_code':0}");
}

static void names_two_stretches_and_their_causes(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    add_two_stretches(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    const struct run_gpu *gpu = &run->gpus[0];
    /* work began within the third window's second, nobody knows when: after its 0.7 s or before */
    near(gpu->idle_by[GPU_IDLE_HOST_BUSY].value, 5, 0.1);
    near(gpu->idle_by[GPU_IDLE_DISK_WAIT].value, 5, 0.1);
    near(gpu->idle_by[GPU_IDLE_BEFORE_FIRST_USE].value, 1.7, 0.01);
    near(gpu->idle_by[GPU_IDLE_AFTER_LAST_USE].value, 0, 0);
    near(gpu->idle_by[GPU_IDLE_NETWORK].value, 0, 0);
    near(gpu->idle_by[GPU_IDLE_UNKNOWN].value, 0, 0.1);
    near(gpu->idle.value, 11.7, 0.1);
    assert_string_equal(gpu->idle.method, "the gpu.busy curve, whole device");
    near(gpu->busy.value, (6 * 0.8 + 2 * 0.24 + 2 * 0.56) / 19.7, 0.05);
    assert_int_equal(gpu->busy.n, 20);
    near(gpu->unseen.value, 0.3, 1e-9);
    assert_quantity(gpu->idle_by[GPU_IDLE_NETWORK], ">= 0 s"); /* 0.3 s were not seen */
}

/* The parts of a run by phases are the whole. */
static void splits_by_phase(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    CURVE(&bytes, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 500, 500, 0, 0, 0, 0, 0, 0, 0, 0, 100, 100,
          100, 100, 0, 0, 100, 100, 100, 100, 0, 0);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    const struct run_gpu *gpu = &run->gpus[0];
    assert_quantity(gpu->busy, "= 0.4 1");
    assert_quantity(gpu->idle, "= 6 s");
    assert_quantity(gpu->by_phase[PHASE_LOAD].busy, "= 0 1");
    assert_quantity(gpu->by_phase[PHASE_LOAD].idle, "= 4 s");
    assert_quantity(gpu->by_phase[PHASE_LOAD].idle_by[GPU_IDLE_BEFORE_FIRST_USE], "= 4 s");
    assert_quantity(gpu->by_phase[PHASE_COMPUTE].busy, "= 0.8 1");
    assert_quantity(gpu->by_phase[PHASE_COMPUTE].idle, "= 1 s");
    assert_quantity(gpu->by_phase[PHASE_COMPUTE].idle_by[GPU_IDLE_UNKNOWN], "= 1 s");
    assert_quantity(gpu->by_phase[PHASE_UNATTRIBUTED].idle_by[GPU_IDLE_AFTER_LAST_USE], "= 1 s");
    assert_false(gpu->by_phase[PHASE_WRITE].entered);
    double idle = 0;
    for (enum phase phase = 0; phase < PHASE_COUNT_; phase++) {
        idle += gpu->by_phase[phase].entered ? gpu->by_phase[phase].idle.value : 0;
    }
    near(idle, gpu->idle.value, 1e-9);
}

static void what_nobody_saw_is_neither(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    CURVE(&bytes, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 1000, 1000, 100, 0, ABSENT, ABSENT, ABSENT,
          ABSENT, ABSENT, ABSENT, 0, 100);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    const struct run_gpu *gpu = &run->gpus[0];
    assert_quantity(gpu->idle, ">= 2 s");
    assert_quantity(gpu->unseen, "= 6 s");
    assert_string_equal(gpu->idle.detail, "6.0 s of 10.0 s were not seen");
    assert_quantity(gpu->busy, ">= 0.2 1"); /* the six seconds may have been idle, or not */
    assert_quantity(gpu->by_phase[PHASE_COMPUTE].idle, ">= 1 s");
}

/* … and of what others may have done as well, it is the most that is known. */
static void unseen_time_beside_others_may_be_work(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    add_device(&bytes, 1, "b", MINE);
    add(&bytes, JOURNAL_COUNTERS, "{'t_ns':1,'gpu':[{'device':0,'others':true}]}");
    CURVE(&bytes, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 1000, 1000, 100, 0, 0, 0, 100, ABSENT,
          ABSENT, ABSENT, ABSENT, ABSENT);
    CURVE(&bytes, 2, GPU_SERIES_BUSY, "b", "gauge", 100, 1000, 1000, 50, 50, 50, 50, 50, 50, 50, 50,
          50, ABSENT);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].busy, "<= 0.7 1");
    assert_quantity(run->gpus[1].busy, "= 0.5 1"); /* a tenth is still the rest of a window */
}

static void others_take_part_in_the_share(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    add(&bytes, JOURNAL_COUNTERS, "{'t_ns':1,'gpu':[{'device':0,'others':true}]}");
    CURVE(&bytes, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 1000, 1000, 100, 0, 0, 100, 100, 100, 100,
          100, 100, 100);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].busy, "<= 0.8 1");
    assert_quantity(run->gpus[0].idle, ">= 2 s");
}

static void a_device_that_was_never_used_is_before_use(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    CURVE(&bytes, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 1000, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CURVE(&bytes, 2, NET_SERIES_RECEIVED, NULL, "counter", 1, 0, 1000, 5000000, 5000000, 7000000,
          9000000, 9000000, 9000000, 9000000, 9000000, 9000000, 9000000, 9000000);
    CURVE(&bytes, 3, "tree.cpu", NULL, "counter", 1000, 1000, 1000, 10, 20, 30, 40, 50, 60, 70, 80,
          90, 100);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].busy, "= 0 1");
    assert_quantity(run->gpus[0].idle_by[GPU_IDLE_NETWORK], "= 2 s");
    assert_quantity(run->gpus[0].idle_by[GPU_IDLE_BEFORE_FIRST_USE], "= 8 s");
}

/* What ran before may have used it before it was attached to. */
static void nobody_knows_the_first_use_of_what_ran_before(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, ",'attach':7");
    add_device(&bytes, 0, U0, MINE);
    CURVE(&bytes, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 1000, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].idle_by[GPU_IDLE_BEFORE_FIRST_USE], "= 0 s");
    assert_quantity(run->gpus[0].idle_by[GPU_IDLE_UNKNOWN], "= 10 s");
}

/* A short burst between two stretches: what it lacks goes to both. */
static void edges_are_cut_by_their_share(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    CURVE(&bytes, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 1000, 1000, 0, 20, 0, 0, 50, 50, 50, 25, 0,
          0);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].idle, "= 6.3 s"); /* 5 whole ones, 0.8, 0 and 0.5 */
    assert_quantity(run->gpus[0].idle_by[GPU_IDLE_BEFORE_FIRST_USE], "= 1.4 s");
    assert_quantity(run->gpus[0].idle_by[GPU_IDLE_AFTER_LAST_USE], "= 2.5 s");
    assert_quantity(run->gpus[0].idle_by[GPU_IDLE_UNKNOWN], "= 2.4 s");
}

static void nonsense_is_not_read(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    CURVE(&bytes, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 1000, 0, 0, 0); /* twice the same moment */
    CURVE(&bytes, 2, "tree.cpu", NULL, "counter", 1000, 1000, 0, 5, 5);
    add(&bytes, JOURNAL_END, "{'t_ns':0}");
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].busy, "open not-sampled 1");
    AUTO_STRBUF struct strbuf more = STRBUF_INIT;
    begin(&more, "");
    add_device(&more, 0, U0, MINE);
    CURVE(&more, 1, GPU_SERIES_BUSY, U0, "gauge", 100, 1000, 1000, 4000, -5, 101);
    add(&more, JOURNAL_END, "{'t_ns':5000000000}");
    AUTO_RUN struct run *run_more = fold_bytes(&more, false, false);
    assert_quantity(run_more->gpus[0].busy, "open not-sampled 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_two_stretches_and_their_causes),
        cmocka_unit_test(splits_by_phase),
        cmocka_unit_test(what_nobody_saw_is_neither),
        cmocka_unit_test(unseen_time_beside_others_may_be_work),
        cmocka_unit_test(others_take_part_in_the_share),
        cmocka_unit_test(a_device_that_was_never_used_is_before_use),
        cmocka_unit_test(nobody_knows_the_first_use_of_what_ran_before),
        cmocka_unit_test(edges_are_cut_by_their_share),
        cmocka_unit_test(nonsense_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
