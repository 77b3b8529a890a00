/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate for N further runs: what it says, from which runs, and what it refuses to say. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forecast/predict.h"
#include "rules/repeat.h"

#include "build.h"

struct fixture {
    struct arena *arena;
    struct run *runs[16];
    size_t count;
    struct repeat_estimate estimate;
};

static int setup(void **state) {
    struct fixture *f = mem_alloc(sizeof *f);
    f->arena = arena_new();
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < f->count; i++)
        run_free(f->runs[i]);
    arena_free(f->arena);
    mem_free_ptr(&f);
    return 0;
}

static struct run *add(struct fixture *f, double wall_s) {
    f->runs[f->count] = build_run((int)f->count + 1, wall_s);
    return f->runs[f->count++];
}

static void check(const struct quantity *q) {
    assert_true(quantity_is_valid(q));
    json_decref(quantity_to_json(q));
}

/* Every quantity of every estimate keeps the invariants. */
static const struct repeat_estimate *estimate(struct fixture *f, uint64_t repeats) {
    const struct run *runs[16];
    struct repeat_estimate *ret = &f->estimate;
    for (size_t i = 0; i < f->count; i++)
        runs[i] = f->runs[i];
    repeat_estimate(runs, f->count, repeats, 7, f->arena, ret);
    check(&ret->per_run);
    check(&ret->runs);
    check(&ret->total);
    check(&ret->load);
    check(&ret->compute);
    check(&ret->other);
    check(&ret->retries);
    check(&ret->lost);
    check(&ret->memory);
    check(&ret->amount);
    assert_int_equal(ret->used_count + ret->excluded_count, f->count);
    for (size_t i = 0; i < ret->excluded_count; i++)
        assert_true(strlen(ret->excluded[i].reason) > 5);
    assert_int_equal(ret->amount.state, QUANTITY_OPEN);
    assert_int_equal(ret->amount.reason, QUANTITY_NO_OFFER);
    assert_true(ret->missing_count >= 8 && ret->open_count >= 8);
    return ret;
}

static void assert_open(const struct quantity *q, enum quantity_reason reason, const char *detail) {
    assert_int_equal(q->state, QUANTITY_OPEN);
    assert_int_equal(q->reason, reason);
    if (!q->detail || !strstr(q->detail, detail))
        fail_msg("'%s' does not say '%s'", q->detail ? q->detail : "(null)", detail);
}

static void test_nothing(void **state) {
    struct fixture *f = *state;
    const struct repeat_estimate *e = estimate(f, 10);
    assert_int_equal(e->used_count, 0);
    assert_open(&e->total, QUANTITY_NO_EVIDENCE, "no run counts");
    assert_open(&e->load, QUANTITY_NO_EVIDENCE, "no run counts");
    assert_open(&e->memory, QUANTITY_NO_EVIDENCE, "no run counts");
    assert_open(&e->retries, QUANTITY_NO_EVIDENCE, "no attempt");
}

static void test_one_run(void **state) {
    struct fixture *f = *state;
    add(f, 12.5);
    const struct repeat_estimate *e = estimate(f, 10);
    assert_int_equal(e->per_run.state, QUANTITY_ESTIMATED);
    assert_true(e->per_run.value == 12.5 && !e->per_run.has_interval);
    assert_true(e->runs.value == 125.0 && !e->runs.has_interval);
    assert_true(e->total.value == 125.0 && !e->total.has_interval);
    assert_int_equal(e->total.bound, QUANTITY_AT_LEAST);
    assert_non_null(strstr(e->total.detail, "repeat once to get one"));
    assert_int_equal(e->total.n, 1);
    assert_string_equal(e->total.basis, "own-runs");
    assert_string_equal(e->total.sources[0], f->runs[0]->id);
    assert_open(&e->load, QUANTITY_NOT_SEPARATED, "probelauf mark load");
}

static void test_three_runs(void **state) {
    struct fixture *f = *state;
    const double walls[] = {100.0, 104.0, 97.0};
    struct predict_total expected;

    for (size_t i = 0; i < 3; i++)
        build_phases(add(f, walls[i]), 10.0 + (double)i, 80.0 - (double)i);
    const struct repeat_estimate *e = estimate(f, 24);
    assert_int_equal(predict_total(walls, 3, 24, 7, PREDICT_DRAWS, &expected), 0);
    assert_true(e->runs.value == expected.p50 && e->runs.p05 == expected.p05 &&
                e->runs.p95 == expected.p95);
    assert_true(e->total.value == expected.p50 &&
                e->total.p95 == expected.p95); /* from the wall itself */
    assert_true(e->total.has_interval && e->total.level == 0.9);
    assert_string_equal(e->total.method, PREDICT_METHOD);
    assert_int_equal(e->total.n, 3);
    assert_int_equal(e->total.source_count, 3);
    assert_int_equal(e->total.bound, QUANTITY_AT_LEAST); /* retries are open */
    assert_int_equal(e->total.part_count, 2);
    assert_string_equal(e->total.parts[1].name, "retries");
    assert_int_equal(e->total.parts[1].quantity.state, QUANTITY_OPEN);
    assert_int_equal(e->runs.bound, QUANTITY_EXACT);
    assert_int_equal(e->runs.part_count, 3);
    assert_non_null(strstr(e->runs.detail, "medians of parts"));
    assert_int_equal(predict_total(walls, 3, 1, 7, PREDICT_DRAWS, &expected), 0);
    assert_true(e->per_run.value == expected.p50);
    assert_true(e->load.has_interval && fabs(e->load.value / (24 * 11.0) - 1.0) < 0.05);
    assert_true(e->compute.has_interval && fabs(e->compute.value / (24 * 79.0) - 1.0) < 0.05);
    assert_true(e->other.has_interval && e->other.value > 0.0);
    assert_int_equal(e->attempts, 3);
    assert_int_equal(e->failures, 0);
    assert_open(&e->retries, QUANTITY_NO_EVIDENCE, "no proof");
    /* the same call, the same bytes */
    struct quantity before = e->total;
    e = estimate(f, 24);
    assert_true(before.value == e->total.value && before.p05 == e->total.p05);
}

static void test_phases_of_some_runs(void **state) {
    struct fixture *f = *state;
    build_phases(add(f, 100.0), 10.0, 80.0);
    add(f, 101.0);
    const struct repeat_estimate *e = estimate(f, 2);
    assert_true(e->total.has_interval);
    assert_open(&e->load, QUANTITY_NOT_SEPARATED, "mark");
    assert_open(&e->compute, QUANTITY_NOT_SEPARATED, "mark");
    assert_open(&e->other, QUANTITY_NOT_SEPARATED, "mark");
    assert_int_equal(e->runs.part_count, 0);
    f->runs[1]->phase[PHASE_LOAD] = quantity_bounded(UNIT_SECOND, 9.0, QUANTITY_AT_LEAST, "mark");
    f->runs[1]->phase[PHASE_COMPUTE] = quantity_measured(UNIT_SECOND, 80.0, "mark");
    e = estimate(f, 2);
    assert_open(&e->load, QUANTITY_NOT_SEPARATED,
                "--pattern");                               /* a lower bound separates nothing */
    assert_int_equal(e->compute.state, QUANTITY_ESTIMATED); /* known in all of them */
    assert_true(fabs(e->compute.value - 160.0) < 1.0);
    assert_open(&e->other, QUANTITY_NOT_SEPARATED, "--phase");
    assert_int_equal(e->runs.part_count, 0);
}

static void test_part_without_time(void **state) {
    struct fixture *f = *state;
    build_phases(add(f, 100.0), 20.0, 80.0); /* nothing left */
    build_phases(add(f, 101.0), 20.0, 81.0);
    const struct repeat_estimate *e = estimate(f, 5);
    assert_int_equal(e->other.state, QUANTITY_ESTIMATED);
    assert_true(e->other.value == 0.0 && !e->other.has_interval);
    assert_non_null(strstr(e->other.detail, "no time"));
    assert_true(e->total.has_interval);
}

static void test_excluded(void **state) {
    struct fixture *f = *state;
    add(f, 5.0)->outcome = OUTCOME_HOST_OOM; /* the newest failed */
    add(f, 100.0);
    add(f, 101.0);
    struct run *budget = add(f, 60.0);
    budget->outcome = OUTCOME_BUDGET;
    budget->wall.bound = QUANTITY_AT_LEAST;
    add(f, 102.0)->wall.bound = QUANTITY_AT_LEAST;
    json_put_text(add(f, 300.0)->start, "cwd", "/other");
    json_put_text(add(f, 1.0)->start, "purpose", "function-test");
    add(f, 99.0)->validity = RUN_INVALID;
    const struct repeat_estimate *e = estimate(f, 10);

    assert_int_equal(e->used_count, 2);
    assert_ptr_equal(e->used[0], f->runs[1]);
    assert_int_equal(e->total.n, 2);
    assert_true(e->total.p95 < 1300.0); /* 60 s and 300 s are not in it */
    const char *const reasons[] = {"host memory",    "budget",        "cut off",
                                   "another folder", "function test", "invalid"};
    assert_int_equal(e->excluded_count, ARRAY_LENGTH(reasons));
    for (size_t i = 0; i < ARRAY_LENGTH(reasons); i++)
        if (!strstr(e->excluded[i].reason, reasons[i]))
            fail_msg("'%s' does not say '%s'", e->excluded[i].reason, reasons[i]);
    /* attempts of this condition: 1 oom, 2 used, 1 cut off, 1 function test, 1 invalid; stopped by
     * its budget on purpose */
    assert_int_equal(e->attempts, 6);
    assert_int_equal(e->failures, 1);
    assert_true(e->lost.state == QUANTITY_MEASURED && e->lost.value == 5.0);
    assert_open(&e->retries, QUANTITY_TOO_FEW_RUNS, "1 of 6 attempts failed");
}

static void test_only_failures(void **state) {
    struct fixture *f = *state;
    add(f, 5.0)->outcome = OUTCOME_FAILED;
    add(f, 6.0)->outcome = OUTCOME_KILLED;
    f->runs[1]->wall = quantity_open(UNIT_SECOND, QUANTITY_MONITOR_LOST, NULL);
    const struct repeat_estimate *e = estimate(f, 3);
    assert_open(&e->total, QUANTITY_NO_EVIDENCE,
                "ends well"); /* a failed trial is never projected */
    assert_int_equal(e->failures, 2);
    assert_true(e->lost.state == QUANTITY_MEASURED && e->lost.value == 5.0);
    assert_int_equal(e->lost.bound, QUANTITY_AT_LEAST); /* the other one's time is not known */
}

static void test_memory(void **state) {
    struct fixture *f = *state;
    add(f, 100.0)->largest_process_rss = quantity_measured(UNIT_BYTE, 5e9, "wait4 ru_maxrss");
    add(f, 101.0)->largest_process_rss =
        quantity_bounded(UNIT_BYTE, 7e9, QUANTITY_AT_LEAST, "VmHWM, sampled");
    add(f, 102.0);
    const struct repeat_estimate *e = estimate(f, 3);
    assert_true(e->memory.state == QUANTITY_MEASURED && e->memory.value == 7e9);
    assert_int_equal(e->memory.bound, QUANTITY_AT_LEAST);
    assert_string_equal(e->memory.method, "VmHWM, sampled");
    assert_string_equal(e->memory.sources[0], f->runs[1]->id);
    assert_int_equal(e->memory.n, 2);
    /* what only a run that does not count had is not taken */
    f->runs[1]->outcome = OUTCOME_FAILED;
    e = estimate(f, 3);
    assert_true(e->memory.value == 5e9);
    f->runs[0]->largest_process_rss = quantity_open(UNIT_BYTE, QUANTITY_NOT_PERMITTED, "hidden");
    e = estimate(f, 3);
    assert_open(&e->memory, QUANTITY_NOT_PERMITTED, "hidden");
}

static void test_too_far_apart(void **state) {
    struct fixture *f = *state;
    add(f, 10.0);
    add(f, 300.0);
    const struct repeat_estimate *e = estimate(f, 10);
    assert_int_equal(e->total.state, QUANTITY_ESTIMATED);
    assert_false(e->total.has_interval);
    assert_non_null(strstr(e->total.detail, "too-few-runs"));
}

static void test_outliers(void **state) {
    struct fixture *f = *state;
    const double walls[] = {100.0, 101.0, 99.0, 400.0, 100.5, 99.5};
    for (size_t i = 0; i < 4; i++)
        add(f, walls[i]);
    const struct repeat_estimate *e = estimate(f, 10);
    assert_false(e->outlier[3]); /* four runs: nobody can tell */
    for (size_t i = 4; i < 6; i++)
        add(f, walls[i]);
    e = estimate(f, 10);
    assert_int_equal(e->used_count, 6); /* marked, never dropped */
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(e->outlier[i], i == 3);
    double with = e->total.p95;
    f->runs[3]->outcome = OUTCOME_FAILED;
    e = estimate(f, 10);
    assert_true(with > e->total.p95);
    for (size_t i = 0; i < e->used_count; i++)
        f->runs[i]->wall.value = 100.0; /* equal readings: nothing stands apart */
    e = estimate(f, 10);
    assert_false(e->outlier[0]);
}

static bool lists(const struct repeat_estimate *e, const char *part) {
    for (size_t i = 0; i < e->open_count; i++)
        if (strstr(e->open[i], part))
            return true;
    return false;
}

static void test_open_list(void **state) {
    struct fixture *f = *state;
    struct run *run = add(f, 100.0);
    const struct repeat_estimate *e = estimate(f, 10);
    assert_true(lists(e, "retries") && lists(e, "idle") && lists(e, "transfer") &&
                lists(e, "checking"));
    assert_false(lists(e, "code state") || lists(e, "was not recorded") ||
                 lists(e, "inside the runs"));
    json_object_clear(run->environment);
    run->phase[PHASE_DATA] = quantity_measured(UNIT_SECOND, 3.0, "mark");
    e = estimate(f, 10);
    assert_true(lists(e, "code state") && lists(e, "was not recorded") &&
                lists(e, "inside the runs"));
}

static void test_most_repeats(void **state) {
    struct fixture *f = *state;
    add(f, 1e15);
    add(f, 1.1e15);
    const struct repeat_estimate *e = estimate(f, REPEAT_MAX);
    assert_true(e->total.has_interval && isfinite(e->total.p95));
    f->runs[0]->wall.value = 1e305;
    f->runs[1]->wall.value = 1.1e305;
    e = estimate(f, REPEAT_MAX);
    assert_open(&e->total, QUANTITY_TOO_FEW_RUNS, "beyond");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing),           TEST(test_one_run),
        TEST(test_three_runs),        TEST(test_phases_of_some_runs),
        TEST(test_part_without_time), TEST(test_excluded),
        TEST(test_only_failures),     TEST(test_memory),
        TEST(test_too_far_apart),     TEST(test_outliers),
        TEST(test_open_list),         TEST(test_most_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
