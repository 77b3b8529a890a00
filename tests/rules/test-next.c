/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trial to run next: what is offered and in which order, what is not and why, when it is
 * enough. The statistics beneath have their own test (tests/forecast/test-preposterior.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "rules/next.h"

#include "build-study.h"

/* Data settled, so that no gate is closed for their sake. */
static struct built *settled(size_t blocks) {
    struct built *b = built_new();
    built_room(b, blocks);
    b->plan.privacy = (struct plan_privacy){.at = built_at(b),
                                            .data_class = "none",
                                            .may_transfer = PLAN_YES,
                                            .assessment = "nothing personal"};
    return b;
}

static struct next_advice advise(struct built *b, double within) {
    const struct next_options options = {
        .within = within, .seed = 7, .futures = 400, .outcomes = 8};
    struct next_advice advice;
    next_make(built_estimate(b), &options, b->arena, &advice);
    built_check(b, &advice.total);
    for (size_t i = 0; i < advice.trial_count; i++) {
        const struct next_trial *t = &advice.trials[i];
        built_check(b, &t->lost);
        assert_true(quantity_is_valid(&t->time) && quantity_is_valid(&t->cost));
        assert_true(quantity_is_valid(&t->narrowing) && quantity_is_valid(&t->reserve_drop));
        assert_true(t->reason && t->reason[0] && t->command && t->command[0]);
        assert_true((t->condition != NULL) != (t->step != NULL));
    }
    for (size_t i = 0; i < advice.refused_count; i++)
        assert_true(advice.refused[i].why_count > 0 && advice.refused[i].why[0][0]);
    assert_true(advice.why && advice.why[0]);
    return advice;
}

static void counts(struct built *b, struct study_condition *c, const double *walls, size_t count) {
    for (size_t i = 0; i < count; i++)
        built_counts(b, c, walls[i]);
}

static const double wide[] = {100.0, 130.0, 82.0};
static const double tight[] = {100.0, 101.0, 99.0};

static void test_widest_first(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 2, 90);
    counts(b, &block->conditions[0], tight, 3);
    counts(b, &block->conditions[1], wide, 3);
    struct next_advice a = advise(b, 0.0);
    assert_int_equal(a.verdict, NEXT_RUN);
    assert_int_equal(a.trial_count, 2);
    assert_string_equal(a.trials[0].name, "main a=1");
    assert_non_null(strstr(a.trials[0].reason, "repeats `main a=1` (1 min"));
    assert_non_null(strstr(a.trials[0].reason, "rests on 3 runs"));
    assert_true(a.trials[0].share > 0.9 && a.trials[0].pays && a.trials[0].rate > 0.0);
    assert_int_equal(a.trials[0].seen, 3);
    assert_int_equal(a.trials[0].left, 87);
    assert_string_equal(a.trials[0].command, "probelauf run --block main -c a=1 -- COMMAND");
    assert_true(a.total.has_interval && a.total.p05 < a.total.value && a.total.n == 6);
    assert_true(fabs(a.width_ratio - (a.total.p95 - a.total.p05) / a.total.value) < 1e-12);
    built_free(b);
}

/* Costs are GPU time where there are GPUs; the order is not touched by it. */
static void test_gpus(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 1, 30);
    counts(b, &block->conditions[0], wide, 3);
    struct next_advice none = advise(b, 0.0);
    b->environment.gpus.value = 4;
    struct next_advice four = advise(b, 0.0);
    assert_false(none.has_gpus);
    assert_true(four.has_gpus);
    assert_true(fabs(four.trials[0].cost.value - 4.0 * none.trials[0].cost.value) < 1e-6);
    assert_true(fabs(four.trials[0].rate - none.trials[0].rate / 4.0) < 1e-12);
    assert_true(four.trials[0].time.value == none.trials[0].time.value);
    built_free(b);
}

static void test_unknown_first_validation_before(void **state) {
    (void)state;
    struct built *b = settled(2);
    struct study_block *main = built_block(b, "main", 2, 5);
    struct study_block *check = built_block(b, "check", 1, 2);
    built_plan_block(b, check)->kind = PLAN_VALIDATE;
    counts(b, &main->conditions[0], wide, 3);
    struct next_advice a = advise(b, 10.0);
    assert_int_equal(a.verdict, NEXT_RUN); /* not narrow enough while something was never seen */
    assert_int_equal(a.unknown, 2);
    assert_string_equal(a.trials[0].name, "check a=0");
    assert_int_equal(a.trials[0].kind, NEXT_FIRST);
    assert_string_equal(a.trials[1].name, "main a=1");
    assert_non_null(strstr(a.trials[1].reason, "no run of it was made"));
    assert_int_equal(a.trials[2].kind, NEXT_NARROW);
    assert_false(quantity_is_known(&a.trials[0].time));
    assert_int_equal(a.total.bound, QUANTITY_AT_LEAST);
    built_free(b);
}

static void test_first_repeat(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 2, 5);
    built_counts(b, &block->conditions[0], 500.0);
    built_counts(b, &block->conditions[1], 60.0);
    struct next_advice a = advise(b, 0.0);
    assert_int_equal(a.trials[0].kind, NEXT_REPEAT);
    assert_string_equal(a.trials[0].name, "main a=1");
    assert_non_null(strstr(a.trials[0].reason, "gives 2 parts of the total an interval"));
    assert_false(a.total.has_interval);
    assert_true(isnan(a.width_ratio));
    built_free(b);
}

static void test_borrowed_is_said(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 2, 40);
    counts(b, &block->conditions[0], wide, 3);
    built_counts(b, &block->conditions[1], 100.0);
    struct next_advice a = advise(b, 0.0);
    assert_string_equal(a.total.basis, "borrowed-spread");
    for (size_t i = 0; i < 2; i++) {
        bool borrows = strcmp(a.trials[i].name, "main a=1") == 0;
        assert_int_equal(strstr(a.trials[i].reason, "its spread is borrowed") != NULL, borrows);
    }
    built_free(b);
}

/* A condition that is done has no part in the total, and lends its spread all the same. */
static void test_done_lends(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 2, 3);
    counts(b, &block->conditions[0], wide, 3);
    built_counts(b, &block->conditions[1], 100.0);
    struct next_advice a = advise(b, 0.0);
    assert_int_equal(a.trial_count, 1);
    assert_int_equal(a.trials[0].kind, NEXT_NARROW);
    assert_true(a.total.has_interval);
    /* its own value, but for what first runs do to later ones there */
    assert_true(a.total.n == 1 && fabs(a.total.value / 200.0 - 1.0) < 0.15);
    built_free(b);
}

static void test_gate_forbids(void **state) {
    (void)state;
    struct built *b = settled(2);
    struct study_block *first = built_block(b, "first", 1, 5);
    struct study_block *second = built_block(b, "second", 1, 5);
    struct plan_text_item need = {"first", built_at(b)};
    built_plan_block(b, second)->needs = (struct plan_texts){.items = &need, .count = 1};
    counts(b, &first->conditions[0], tight, 3);
    counts(b, &second->conditions[0], wide, 3);
    struct next_advice a = advise(b, 0.01);
    assert_int_equal(a.trial_count, 1);
    assert_string_equal(a.trials[0].name, "first a=0");
    assert_int_equal(a.refused_count, 1);
    assert_string_equal(a.refused[0].name, "second");
    assert_non_null(strstr(a.refused[0].why[0], "block 'first' comes first"));
    assert_true(a.total.n == 6); /* what may not be run is left all the same */

    const struct gate open = {.id = "g", .block = "first", .answer = GATE_GO_ON};
    b->input.gates = &open;
    b->input.gate_count = 1;
    a = advise(b, 0.01);
    assert_int_equal(a.trial_count, 2);
    assert_int_equal(a.refused_count, 0);
    built_free(b);
}

static void test_not_supported(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 2, 30);
    struct plan_condition *c = &built_plan_block(b, block)->conditions[1];
    c->supported = PLAN_NO;
    counts(b, &block->conditions[0], tight, 3);
    struct next_advice a = advise(b, 0.5);
    assert_int_equal(a.trial_count, 1);
    assert_int_equal(a.refused_count, 1);
    assert_ptr_equal(a.refused[0].condition, c);
    assert_non_null(strstr(a.refused[0].why[0], "does not support it"));
    assert_int_equal(a.unknown, 1);
    assert_int_equal(a.total.bound, QUANTITY_AT_LEAST);
    assert_int_equal(a.verdict, NEXT_WITHIN_TARGET); /* no run closes the other */
    built_free(b);
}

/* What a repeat does not cure is not offered again. */
static void test_incurable(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 2, 5);
    struct run *run = built_fails(b, &block->conditions[0], 20.0);
    run->outcome = OUTCOME_GPU_OOM;
    struct next_advice a = advise(b, 0.0);
    assert_int_equal(a.trial_count, 1);
    assert_string_equal(a.trials[0].name, "main a=1");
    assert_int_equal(a.refused_count, 1);
    assert_non_null(strstr(a.refused[0].why[0], "a repeat does not cure"));
    built_free(b);
}

static void test_steps(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 1, 30);
    struct plan_step *once = built_step(b, "install", COMPONENT_PREPARE, PLAN_ONCE, PLAN_YES);
    built_step(b, "clear", COMPONENT_TEARDOWN, PLAN_PER_RENTAL, PLAN_YES);
    built_needs(b, block, "install");
    built_needs(b, block, "clear");
    counts(b, &block->conditions[0], wide, 3);
    struct next_advice a = advise(b, 0.0);
    assert_ptr_equal(a.trials[0].step, once);
    assert_int_equal(a.trials[0].kind, NEXT_FIRST);
    assert_string_equal(a.trials[0].command, "probelauf run --step install -- COMMAND");
    assert_int_equal(a.refused_count, 1);
    assert_non_null(strstr(a.refused[0].why[0], "take away what comes after"));

    built_step_run(b, once, 40.0); /* done: it is left no more */
    a = advise(b, 0.0);
    assert_int_equal(a.trial_count, 1);
    assert_non_null(a.trials[0].condition);
    built_free(b);
}

/* Failed attempts on the way to a run cost time, too. */
static void test_losses_cost(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 1, 40);
    counts(b, &block->conditions[0], wide, 3);
    struct next_advice before = advise(b, 0.0);
    assert_false(quantity_is_known(&before.trials[0].lost));
    for (int i = 0; i < 3; i++)
        built_fails(b, &block->conditions[0], 90.0);
    struct next_advice after = advise(b, 0.0);
    assert_true(after.trials[0].lost.value > 30.0 && after.trials[0].lost.value < 300.0);
    assert_true(fabs(after.trials[0].cost.value - before.trials[0].cost.value -
                     after.trials[0].lost.value) < 1e-6);
    assert_true(after.trials[0].rate < before.trials[0].rate);
    built_free(b);
}

static void test_enough(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 1, 30);
    counts(b, &block->conditions[0], tight, 3);
    struct next_advice a = advise(b, 0.0);
    assert_int_equal(a.verdict, NEXT_WITHIN_TARGET);
    assert_true(a.width_ratio <= NEXT_WITHIN);
    double just_below = 0.99 * a.width_ratio;
    a = advise(b, just_below);
    assert_int_not_equal(a.verdict, NEXT_WITHIN_TARGET);
    built_free(b);
}

/* A trial takes longer than all that is uncertain. */
static void test_not_worth_it(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 1, 5);
    counts(b, &block->conditions[0], tight, 3);
    struct next_advice a = advise(b, 0.001);
    assert_int_equal(a.verdict, NEXT_NOT_WORTH);
    assert_false(a.trials[0].pays);
    assert_true(a.trials[0].reserve_drop.value < a.trials[0].cost.value);
    built_free(b);
}

static void test_nothing_left(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 1, 3);
    counts(b, &block->conditions[0], wide, 3);
    struct next_advice a = advise(b, 0.0);
    assert_int_equal(a.verdict, NEXT_NOTHING_LEFT);
    assert_int_equal(a.trial_count, 0);
    assert_true(a.total.state == QUANTITY_MEASURED && a.total.value == 0.0);
    built_free(b);
}

/* How many runs are left is open: a first run tells something all the same, a further one of
 * nobody knows how many does not. */
static void test_number_open(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 1, -1);
    struct next_advice a = advise(b, 0.0);
    assert_int_equal(a.verdict, NEXT_RUN);
    assert_int_equal(a.trials[0].kind, NEXT_FIRST);
    assert_int_equal(a.trials[0].left, 0);
    counts(b, &block->conditions[0], wide, 3);
    a = advise(b, 0.0);
    assert_int_equal(a.verdict, NEXT_BLOCKED);
    assert_int_equal(a.trial_count, 0);
    assert_false(quantity_is_known(&a.total));
    assert_non_null(strstr(a.why, "does not say how many"));
    built_free(b);
}

static void test_all_forbidden(void **state) {
    (void)state;
    struct built *b = settled(2);
    built_block(b, "first", 1, 0);
    struct study_block *second = built_block(b, "second", 1, 5);
    struct plan_text_item need = {"first", built_at(b)};
    built_plan_block(b, second)->needs = (struct plan_texts){.items = &need, .count = 1};
    struct next_advice a = advise(b, 0.0);
    assert_int_equal(a.verdict, NEXT_BLOCKED);
    assert_false(quantity_is_known(&a.total));
    built_free(b);
}

/* What no trial closes is named. */
static void test_not_counted(void **state) {
    (void)state;
    struct built *b = settled(1);
    struct study_block *block = built_block(b, "main", 1, 30);
    counts(b, &block->conditions[0], wide, 3);
    struct next_advice a = advise(b, 0.0);
    bool idle = false, retries = false;
    for (size_t i = 0; i < a.not_counted_count; i++) {
        const struct estimate_open *open = a.not_counted[i];
        idle |= open->has_component && open->component == COMPONENT_IDLE;
        retries |= open->has_component && open->component == COMPONENT_RETRIES;
        assert_int_not_equal(open->kind, ESTIMATE_MAKE_RUN);
    }
    assert_true(idle && retries);
    assert_int_equal(a.total.bound, QUANTITY_AT_LEAST);
    built_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widest_first),
        cmocka_unit_test(test_gpus),
        cmocka_unit_test(test_unknown_first_validation_before),
        cmocka_unit_test(test_first_repeat),
        cmocka_unit_test(test_borrowed_is_said),
        cmocka_unit_test(test_done_lends),
        cmocka_unit_test(test_gate_forbids),
        cmocka_unit_test(test_not_supported),
        cmocka_unit_test(test_incurable),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_losses_cost),
        cmocka_unit_test(test_enough),
        cmocka_unit_test(test_not_worth_it),
        cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_number_open),
        cmocka_unit_test(test_all_forbidden),
        cmocka_unit_test(test_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
