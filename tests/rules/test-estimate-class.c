/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a reference class adds beside an estimate: only to what has runs and no spread, always
 * assumed, and never to the estimate itself. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forecast/condition.h"
#include "forecast/spread.h"
#include "rules/estimate-class.h"

#include "estimate-asserts.h"

static int setup(void **state) {
    struct built *b = built_new();
    built_room(b, 4);
    *state = b;
    return 0;
}

static int teardown(void **state) {
    *state = built_free(*state);
    return 0;
}

static const struct estimate_class *by_class(struct built *b, const char *name) {
    const struct estimate_options options = {.settings = b->settings,
                                             .setting_count = b->setting_count,
                                             .seed = b->seed,
                                             .draws = b->draws};
    const struct forecast_class *class = forecast_class_find(name);
    struct err err = ERR_INIT;
    built_estimate(b);
    assert_null(b->estimate.by_class);
    if (estimate_class_make(&options, class, b->arena, &b->estimate, &err) < 0)
        fail_msg("%s", err.text);
    assert_ptr_equal(b->estimate.by_class->class, class);
    /* the rules of every estimate hold for the other one, too */
    struct estimate stated = b->estimate;
    b->estimate = *stated.by_class->with;
    built_check_all(b);
    b->estimate = stated;
    return b->estimate.by_class;
}

static void assert_assumed(const struct quantity *q, double near) {
    assert_int_equal(q->state, QUANTITY_ASSUMED);
    assert_true(q->has_interval);
    assert_string_equal(q->basis, ESTIMATE_BASIS_CLASS);
    assert_true(q->p05 < near && near < q->p95);
    assert_true(fabs(q->value / near - 1.0) < 0.1);
}

/* One run, nothing to borrow: no interval, but one by the class, beside it. */
static void test_single_run(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 2, 5);
    built_counts(b, &block->conditions[0], 100.0);
    const struct estimate_class *by = by_class(b, "inference");
    const struct quantity *stated = time_of(b, 0, COMPONENT_RUNS);
    assert_int_equal(stated->state, QUANTITY_ESTIMATED);
    assert_false(stated->has_interval);
    assert_true(b->estimate.total.computing.value == 400.0);
    assert_false(b->estimate.total.computing.has_interval);
    assert_int_equal(by->part_count, 1);
    assert_string_equal(by->parts[0].name, "a=0");
    assert_string_equal(by->parts[0].block->id, "compare");
    assert_int_equal(by->parts[0].component, COMPONENT_RUNS);
    assert_assumed(&by->parts[0].time, 400.0);
    assert_says(by->parts[0].time.detail, "inference");
    assert_says(by->parts[0].time.detail, "llama_bench, Apache-2.0");
    assert_int_equal(by->parts[0].time.n, 1);
    const struct quantity *total = &by->with->total.computing;
    assert_assumed(total, 400.0);
    /* the condition without a run stays open: no class says how long it takes */
    assert_int_equal(total->bound, QUANTITY_AT_LEAST);
    assert_int_equal(by->with->open_count, b->estimate.open_count);
}

/* What the estimate says does not depend on whether a class was asked for. */
static void test_stays_apart(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 5);
    built_counts(b, &block->conditions[0], 100.0);
    const struct estimate alone = *built_estimate(b);
    (void)by_class(b, "training-goal");
    const struct quantity *figures[][2] = {
        {&alone.total.computing, &b->estimate.total.computing},
        {&alone.total.reserved, &b->estimate.total.reserved},
        {&alone.total.calendar, &b->estimate.total.calendar},
        {&alone.components[COMPONENT_RETRIES].time,
         &b->estimate.components[COMPONENT_RETRIES].time},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(figures); i++) {
        const struct quantity *was = figures[i][0];
        const struct quantity *is = figures[i][1];
        assert_int_equal(was->state, is->state);
        assert_int_equal(was->bound, is->bound);
        assert_true(was->value == is->value);
        assert_false(is->has_interval);
        assert_true(!is->basis || strcmp(is->basis, ESTIMATE_BASIS_CLASS) != 0);
    }
    assert_int_equal(alone.open_count, b->estimate.open_count);
    assert_int_equal(b->estimate.assumed_count, 0);
}

/* Who has a spread, of its own or borrowed, needs no class; who has no run gets nothing from it. */
static void test_own_spread(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 3, 5);
    three_runs(b, &block->conditions[0]);
    built_counts(b, &block->conditions[1], 50.0);
    const struct estimate_class *by = by_class(b, "inference");
    assert_int_equal(by->part_count, 0);
    assert_true(by->with->total.computing.value == b->estimate.total.computing.value);
    assert_true(by->with->total.computing.p95 == b->estimate.total.computing.p95);
    assert_int_equal(by->with->total.computing.state, QUANTITY_ESTIMATED);
}

static void test_no_run(void **state) {
    struct built *b = *state;
    built_block(b, "compare", 2, 5);
    const struct estimate_class *by = by_class(b, "any");
    assert_int_equal(by->part_count, 0);
    assert_int_equal(by->with->total.computing.state, QUANTITY_OPEN);
}

/* A --set is taken as it is, and no class varies it. */
static void test_set(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 5);
    built_counts(b, &block->conditions[0], 100.0);
    built_set(b, "compare.run-time", "90s");
    const struct estimate_class *by = by_class(b, "inference");
    assert_int_equal(by->part_count, 0);
    assert_true(by->with->total.computing.value == 360.0);
}

static const struct estimate_class_part *retries_of(const struct estimate_class *by) {
    for (size_t i = 0; i < by->part_count; i++)
        if (by->parts[i].component == COMPONENT_RETRIES)
            return &by->parts[i];
    return NULL;
}

/* Failures: only of a class whose records keep them, and where no attempt of the study failed. */
static void test_retries(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 2, 401);
    built_counts(b, &block->conditions[0], 100.0);
    assert_null(retries_of(by_class(b, "inference")));
    const struct estimate_class_part *part = retries_of(by_class(b, "training-goal"));
    assert_non_null(part);
    assert_string_equal(part->name, "a=0");
    assert_int_equal(part->time.state, QUANTITY_ASSUMED);
    assert_true(part->time.has_interval);
    /* 400 runs: 1.1 % fail at first, 2.2 times each, at 1.06 runs of 100 s: about 1000 s */
    assert_true(part->time.value > 500.0 && part->time.value < 2000.0);
    assert_says(part->time.detail, "73 of 6540 after a success, 85 of 159 after a failure");
    assert_int_equal(time_of(b, 0, COMPONENT_RETRIES)->state, QUANTITY_OPEN);
    built_fails(b, &block->conditions[1], 7.0);
    assert_null(retries_of(by_class(b, "training-goal")));
}

static void test_limited(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 401);
    built_counts(b, &block->conditions[0], 100.0);
    built_plan_block(b, block)->retry_max =
        (struct plan_whole){.given = true, .value = 0, .at = built_at(b)};
    const struct estimate_class_part *part = retries_of(by_class(b, "training-goal"));
    assert_non_null(part);
    assert_int_equal(part->time.bound, QUANTITY_AT_LEAST); /* some run is not finished */
}

/* The interval is that of the class made wider, since this work is none of the class. */
static void test_wider(void **state) {
    static const double wall[] = {100.0};
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 5);
    built_counts(b, &block->conditions[0], wall[0]);
    b->draws = 20000;
    const struct quantity *total = &by_class(b, "training-goal")->with->total.computing;
    struct history history =
        forecast_class_history(forecast_class_find("training-goal"), NULL, b->arena);
    const struct condition_own own = {
        .family = "compare", .itself = SPREAD_NOBODY, .seconds = wall, .count = 1};
    struct condition_forecast forecast;
    condition_forecast_make(condition_model_new(&history, b->arena), &own, 4, b->arena, &forecast);
    forecast_class_widen(&forecast, 1);
    double expected = condition_quantile(&forecast, 0.95) - condition_quantile(&forecast, 0.05);
    assert_true(fabs(log(total->p95 / total->p05) / expected - 1.0) < 0.05);
}

/* Work until a goal varies more than fixed work, and the class says so. */
static void test_kinds_differ(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 5);
    built_counts(b, &block->conditions[0], 100.0);
    const struct quantity *fixed = &by_class(b, "inference")->with->total.computing;
    const struct quantity *goal = &by_class(b, "training-goal")->with->total.computing;
    assert_true(goal->p95 - goal->p05 > 2.0 * (fixed->p95 - fixed->p05));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_single_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stays_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_own_spread, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_set, setup, teardown),
        cmocka_unit_test_setup_teardown(test_retries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wider, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kinds_differ, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
