/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Failed attempts after a class: their number against the chain worked out by hand, their cost,
 * limits, and that what a class does not tell stays open. */
#include "base/mem.h"
#include "forecast/class-retries.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define DRAWS 4000

static void assert_near(double a, double b, double within) {
    if (!(fabs(a - b) <= within))
        fail_msg("%.15g and not %.15g", a, b);
}

/* So many attempts that the chances are known: 0.1, and 0.6 after a failure. */
static const struct class_failures known = {
    .attempts = 2000000,
    .failures = 200000,
    .after_success = {100000, 1000000},
    .after_failure = {600000, 1000000},
    .cost_count = 10,
    .cost_median = 0.5,
    .cost_p90 = 0.5,
    .sources = "somewhere",
};

static struct futures make(const struct class_failures *failures, uint64_t successes,
                           int64_t retry_max, struct arena *arena, double *ret_left,
                           double *ret_failures) {
    struct simulate_stream stream = {3, "retries a", "b", NULL};
    return class_retries(failures, 100.0, successes, retry_max, stream, DRAWS, arena, ret_left,
                         ret_failures);
}

static double mean_of(const struct futures *futures) {
    double mean = 0.0;
    for (size_t i = 0; i < futures->count; i++)
        mean += futures->draws[i] / (double)futures->count;
    return mean;
}

/* 400 runs: 40 fail at first, each of these 1/(1 - 0.6) times: 100 failures of 50 s. */
static void test_number(void **state) {
    AUTO_ARENA struct arena *arena = arena_new();
    double left = 1.0;
    double failures = 0.0;
    struct futures futures = make(&known, 400, -1, arena, &left, &failures);
    (void)state;
    assert_int_equal(futures.kind, FUTURES_DRAWN);
    assert_near(mean_of(&futures), 5000.0, 60.0);
    assert_near(failures, 100.0, 4.0);
    assert_near(left, 0.0, 0.0);
    assert_true(futures.p05 > 3000.0 && futures.p95 < 7500.0);
    struct futures again = make(&known, 400, -1, arena, NULL, NULL);
    for (size_t i = 0; i < DRAWS; i++)
        assert_near(again.draws[i], futures.draws[i], 0.0);
}

/* One repeat: 10 of 100 fail, 6 of them again, which stay unfinished; in a single run 6 of 100. */
static void test_limit(void **state) {
    AUTO_ARENA struct arena *arena = arena_new();
    double left = 0.0;
    struct futures futures = make(&known, 100, 1, arena, NULL, NULL);
    (void)state;
    assert_near(mean_of(&futures), 50.0 * (10.0 + 6.0), 25.0);
    (void)make(&known, 1, 1, arena, &left, NULL);
    assert_near(left, 0.06, 0.015);
    (void)make(&known, 1, 0, arena, &left, NULL);
    assert_near(left, 0.10, 0.02);
}

static void test_cost(void **state) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct class_failures dear = known;
    dear.cost_p90 = 2.0;
    struct futures plain = make(&known, 10000, -1, arena, NULL, NULL);
    struct futures spread = make(&dear, 10000, -1, arena, NULL, NULL);
    (void)state;
    assert_near(spread.value / plain.value, 1.0, 0.05); /* the same median */
    size_t above = 0;
    for (size_t i = 0; i < DRAWS; i++)
        above += spread.draws[i] > 4.0 * plain.value;
    assert_near((double)above / DRAWS, 0.1, 0.02);
}

static void test_open(void **state) {
    AUTO_ARENA struct arena *arena = arena_new();
    const struct class_failures *steps =
        forecast_class_failures(forecast_class_find("training-steps"));
    struct class_failures no_cost = known, no_chain = known;
    no_cost.cost_count = 0;
    no_chain.after_failure = (struct class_share){0, 0};
    (void)state;
    assert_false(class_retries_known(steps));
    assert_true(class_retries_known(forecast_class_failures(forecast_class_find("training-goal"))));
    assert_int_equal(make(steps, 5, -1, arena, NULL, NULL).kind, FUTURES_OPEN);
    assert_int_equal(make(&no_cost, 5, -1, arena, NULL, NULL).kind, FUTURES_OPEN);
    assert_int_equal(make(&no_chain, 5, -1, arena, NULL, NULL).kind, FUTURES_OPEN);
    struct futures nothing = make(&known, 0, -1, arena, NULL, NULL);
    assert_int_equal(nothing.kind, FUTURES_VALUE);
    assert_near(nothing.value, 0.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
