/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Futures of parts and of sums: what is open stays open, streams do not touch one another, and an
 * interval with a borrowed spread covers what it says. */
#include "base/mem.h"
#include "forecast/simulate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#define DRAWS 4000u

static const double three[] = {100.0, 104.0, 97.0};
static const double other[] = {30.0, 33.0, 28.0};
static const struct simulate_spread nothing = {0.0, 0.0};

static struct arena *arena;

static int setup(void **state) {
    (void)state;
    arena = arena_new();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena = arena_free(arena);
    return 0;
}

static struct simulate_stream stream(const char *shared, const char *own) {
    return (struct simulate_stream){.seed = 7, .shared = shared, .own = own};
}

static struct futures runs(const double *values, size_t count, uint64_t repeats, const char *name) {
    return simulate_runs(values, count, repeats, nothing, stream(name, "b"), DRAWS, arena, NULL);
}

/* The sum of all of them; *ret_open: one of them is open. */
static struct futures sum_of(const struct futures *parts, size_t count, bool *ret_open) {
    struct futures sum = {.kind = FUTURES_OPEN};
    *ret_open = false;
    for (size_t i = 0; i < count; i++) {
        *ret_open |= parts[i].kind == FUTURES_OPEN;
        simulate_add(&sum, &parts[i], arena);
    }
    simulate_settle(&sum);
    return sum;
}

static void assert_same(const struct futures *a, const struct futures *b) {
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->draws, b->draws, a->count * sizeof *a->draws);
}

static double correlation(const struct futures *a, const struct futures *b) {
    double sa = 0.0, sb = 0.0, saa = 0.0, sbb = 0.0, sab = 0.0;
    double n = (double)a->count;
    for (size_t i = 0; i < a->count; i++) {
        double x = log(a->draws[i]), y = log(b->draws[i]);
        sa += x / n;
        sb += y / n;
        saa += x * x / n;
        sbb += y * y / n;
        sab += x * y / n;
    }
    return (sab - sa * sb) / sqrt((saa - sa * sa) * (sbb - sb * sb));
}

/* ---- runs ---- */

static void test_open_and_values(void **state) {
    const double zeros[] = {0.0, 0.0}, mixed[] = {0.0, 4.0}, negative[] = {1.0, -1.0};
    const double nan[] = {NAN, 1.0}, infinite[] = {1.0, INFINITY};
    double p05, p50, p95;
    (void)state;
    assert_int_equal(runs(NULL, 0, 5, "x").kind, FUTURES_OPEN);
    assert_int_equal(runs(negative, 2, 5, "x").kind, FUTURES_OPEN);
    assert_int_equal(runs(nan, 2, 5, "x").kind, FUTURES_OPEN);
    assert_int_equal(runs(infinite, 2, 5, "x").kind, FUTURES_OPEN);
    struct futures none = runs(three, 3, 0, "x");
    assert_true(none.kind == FUTURES_VALUE && none.value == 0.0);
    struct futures one = runs(three, 1, 5, "x");
    assert_true(one.kind == FUTURES_VALUE && one.value == 500.0);
    assert_false(simulate_interval(&one, &p05, &p50, &p95));
    struct futures still = runs(zeros, 2, 5, "x");
    assert_true(still.kind == FUTURES_VALUE && still.value == 0.0);
    struct futures some = runs(mixed, 2, 5, "x");
    assert_true(some.kind == FUTURES_VALUE && some.value == 10.0);
}

static void test_like_the_forecast(void **state) {
    struct predict_total total;
    double p05, p50, p95;
    (void)state;
    for (uint64_t repeats = 1; repeats < 100000; repeats *= 9) {
        struct futures f =
            simulate_runs(three, 3, repeats, nothing, stream("c", "b"), PREDICT_DRAWS, arena, NULL);
        assert_int_equal(predict_total(three, 3, repeats, 1, PREDICT_DRAWS, &total), 0);
        assert_true(simulate_interval(&f, &p05, &p50, &p95));
        assert_true(fabs(p05 / total.p05 - 1.0) < 0.02 && fabs(p50 / total.p50 - 1.0) < 0.01 &&
                    fabs(p95 / total.p95 - 1.0) < 0.02);
        assert_true(p50 == f.value);
    }
}

static void test_too_wide(void **state) {
    const double wide[] = {1.0, 60.0};
    double p05, p50, p95;
    bool open;
    (void)state;
    struct futures f = runs(wide, 2, 3, "x");
    assert_true(f.kind == FUTURES_DRAWN && f.no_interval && f.too_wide);
    assert_true(isfinite(f.value) && f.value > 0.0);
    assert_false(simulate_interval(&f, &p05, &p50, &p95));
    struct futures parts[] = {f, runs(three, 3, 1000, "y")};
    struct futures sum = sum_of(parts, 2, &open);
    assert_true(sum.no_interval && sum.too_wide); /* however small its share */
}

static void test_deterministic(void **state) {
    (void)state;
    struct futures a = runs(three, 3, 24, "x"), b = runs(three, 3, 24, "x");
    assert_same(&a, &b);
    struct futures c = runs(three, 3, 24, "y");
    assert_true(memcmp(a.draws, c.draws, a.count * sizeof *a.draws) != 0);
    struct futures d = simulate_runs(
        three, 3, 24, nothing, (struct simulate_stream){8, "x", "b", NULL}, DRAWS, arena, NULL);
    assert_true(memcmp(a.draws, d.draws, a.count * sizeof *a.draws) != 0);
    assert_true(fabs(correlation(&a, &c)) < 0.06 && fabs(correlation(&a, &d)) < 0.06);
}

/* One condition in two blocks: what is not known about it is the same in each future; its runs are
 * others. */
static void test_shared_parameters(void **state) {
    (void)state;
    struct futures a = simulate_runs(three, 3, 50, nothing, stream("c", "b1"), DRAWS, arena, NULL);
    struct futures b = simulate_runs(three, 3, 50, nothing, stream("c", "b2"), DRAWS, arena, NULL);
    double r = correlation(&a, &b);
    assert_true(r > 0.8 && r < 0.9999);
    struct futures one = simulate_runs(three, 3, 1, nothing, stream("c", "b1"), DRAWS, arena, NULL);
    struct futures two = simulate_runs(three, 3, 1, nothing, stream("c", "b2"), DRAWS, arena, NULL);
    assert_true(correlation(&one, &two) < 0.7); /* single runs differ far more */
}

/* ---- sums ---- */

static void test_sum_future_by_future(void **state) {
    double a05, a50, a95, b05, b50, b95, s05, s50, s95;
    bool open = true;
    (void)state;
    struct futures parts[] = {runs(three, 3, 3, "a"), runs(other, 3, 10, "b")};
    struct futures sum = sum_of(parts, 2, &open);
    assert_false(open);
    for (size_t i = 0; i < sum.count; i++)
        assert_true(sum.draws[i] == parts[0].draws[i] + parts[1].draws[i]);
    assert_true(simulate_interval(&parts[0], &a05, &a50, &a95));
    assert_true(simulate_interval(&parts[1], &b05, &b50, &b95));
    assert_true(simulate_interval(&sum, &s05, &s50, &s95));
    assert_true(s05 > a05 + b05 && s95 < a95 + b95); /* narrower than adding the ends */
    struct futures again = {.kind = FUTURES_OPEN};
    simulate_add(&again, &parts[0], arena);
    simulate_add(&again, &parts[1], arena);
    simulate_settle(&again);
    assert_same(&again, &sum);
}

static void test_independent(void **state) {
    const double changed[] = {10.0, 10.4, 9.7, 55.0};
    (void)state;
    struct futures before[] = {runs(three, 3, 3, "a"), runs(other, 3, 10, "b")};
    struct futures after[] = {runs(changed, 4, 7, "a"), runs(other, 3, 10, "b")};
    assert_same(&before[1], &after[1]);
    assert_true(memcmp(before[0].draws, after[0].draws, DRAWS * sizeof(double)) != 0);
}

static void test_sum_of_kinds(void **state) {
    double p05 = 0.0, p50 = 0.0, p95 = 0.0;
    bool open = false;
    (void)state;
    struct futures drawn = runs(three, 3, 3, "a");
    struct futures parts[] = {drawn, simulate_value(0.0), {.kind = FUTURES_OPEN}};
    struct futures sum = sum_of(parts, 3, &open);
    assert_true(open && simulate_interval(&sum, &p05, &p50, &p95));
    assert_true(p05 == drawn.p05 && p50 == drawn.value && p95 == drawn.p95);
    parts[1] = simulate_value(60.0); /* a value without interval leaves the sum without one */
    sum = sum_of(parts, 2, &open);
    assert_true(!open && !simulate_interval(&sum, &p05, &p50, &p95));
    assert_true(fabs(sum.value - drawn.value - 60.0) < 1e-9 && !sum.too_wide);
    struct futures values[] = {simulate_value(60.0), drawn}; /* in whatever order */
    struct futures turned = sum_of(values, 2, &open);
    assert_true(turned.no_interval);
    assert_same(&turned, &sum);
    /* what is assumed is taken as it is, alone or scaled, and moves the interval */
    values[0] = simulate_scale(simulate_fixed(30.0), 2.0, arena);
    for (size_t i = 0; i < 2; i++) {
        struct futures moved = sum_of(values, 2, &open);
        assert_true(simulate_interval(&moved, &p05, &p50, &p95));
        assert_true(fabs(p05 - drawn.p05 - 60.0) < 1e-9 && fabs(p95 - drawn.p95 - 60.0) < 1e-9);
        values[1] = values[0];
        values[0] = drawn;
    }
    /* but not where something seen without an interval is in it, in whatever order */
    struct futures mixed[] = {simulate_fixed(1.0), simulate_value(2.0), drawn};
    struct futures unknown = sum_of(mixed, 3, &open);
    assert_false(simulate_interval(&unknown, &p05, &p50, &p95));
    assert_false(sum_of(mixed, 2, &open).is_fixed);
    assert_true(sum_of(mixed, 1, &open).is_fixed);
    struct futures none[] = {{.kind = FUTURES_OPEN}, {.kind = FUTURES_OPEN}};
    assert_true(sum_of(none, 2, &open).kind == FUTURES_OPEN && open);
    assert_true(sum_of(none, 0, &open).kind == FUTURES_OPEN && !open);
}

static void test_scale(void **state) {
    (void)state;
    struct futures f = runs(three, 3, 3, "a");
    struct futures half = simulate_scale(f, 0.5, arena);
    for (size_t i = 0; i < f.count; i++)
        assert_true(half.draws[i] == 0.5 * f.draws[i]);
    assert_true(half.value == 0.5 * f.value && half.p95 == 0.5 * f.p95);
    assert_true(f.error05 > 0.0 && f.error50 > 0.0 && f.error95 > f.error50);
    assert_true(half.error95 == 0.5 * f.error95 && half.error50 == 0.5 * f.error50);
    struct futures zero = simulate_scale(f, 0.0, arena);
    assert_true(zero.kind == FUTURES_VALUE && zero.value == 0.0);
    assert_int_equal(simulate_scale((struct futures){.kind = FUTURES_OPEN}, 2.0, arena).kind,
                     FUTURES_OPEN);
}

/* ---- borrowed spread ---- */

static void test_pool(void **state) {
    const double tight[] = {100.0, 101.0}, zero[] = {0.0, 1.0};
    const double *groups[] = {three, other, tight, zero, three};
    const size_t counts[] = {3, 3, 2, 2, 1};
    (void)state;
    struct simulate_spread pool = simulate_pool(groups, counts, 5);
    assert_true(pool.freedom == 5.0); /* 2 + 2 + 1; zeros and single values add nothing */
    double squares = 0.0;
    for (size_t g = 0; g < 3; g++) {
        double mean = 0.0;
        for (size_t i = 0; i < counts[g]; i++)
            mean += log(groups[g][i]) / (double)counts[g];
        double own = 0.0;
        for (size_t i = 0; i < counts[g]; i++)
            own += pow(log(groups[g][i]) - mean, 2.0);
        /* not below one step of the clock, here 1 s */
        double least = 1.0 / exp(mean);
        double freedom = (double)counts[g] - 1.0;
        squares += fmax(own, freedom * least * least);
    }
    assert_true(fabs(pool.variance - squares / 5.0) < 1e-12);
    assert_true(simulate_pool(groups, counts, 0).freedom == 0.0);
}

static void test_who_borrows(void **state) {
    const struct simulate_spread pool = {0.04, 8.0};
    bool borrowed = false;
    (void)state;
    struct futures one =
        simulate_runs(three, 1, 3, pool, stream("c", "b"), DRAWS, arena, &borrowed);
    assert_true(borrowed && one.kind == FUTURES_DRAWN && !one.no_interval);
    struct futures own =
        simulate_runs(three, 3, 3, pool, stream("c", "b"), DRAWS, arena, &borrowed);
    struct futures alone = runs(three, 3, 3, "c");
    assert_false(borrowed);
    assert_same(&own, &alone);
    struct futures none =
        simulate_runs(three, 0, 3, pool, stream("c", "b"), DRAWS, arena, &borrowed);
    assert_true(!borrowed && none.kind == FUTURES_OPEN); /* only a spread can be borrowed */
}

/* Studies of five conditions: three runs of four of them, one of the fifth; then further runs of
 * the fifth. */
static double borrowed_coverage(double log_sd, double drift) {
    gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd1); /* not the generator of the forecast */
    size_t inside = 0, given = 0;
    double values[4][3];
    const double *groups[] = {values[0], values[1], values[2], values[3]};
    const size_t counts[] = {3, 3, 3, 3};

    gsl_rng_set(random, 20261130);
    for (uint64_t study = 0; study < 3000; study++) {
        AUTO_ARENA struct arena *own = arena_new();
        double p05, p50, p95, total = 0.0;
        for (size_t g = 0; g < 4; g++) {
            double mean = gsl_ran_flat(random, log(20.0), log(20000.0));
            for (size_t i = 0; i < 3; i++)
                values[g][i] = exp(mean + gsl_ran_gaussian(random, log_sd));
        }
        double mean = gsl_ran_flat(random, log(20.0), log(20000.0));
        double one = exp(mean + gsl_ran_gaussian(random, log_sd));
        for (size_t i = 0; i < 10; i++)
            total += (1.0 + drift) * exp(mean + gsl_ran_gaussian(random, log_sd));
        struct futures f =
            simulate_runs(&one, 1, 10, simulate_pool(groups, counts, 4),
                          (struct simulate_stream){study, "c", "b", NULL}, 500, own, NULL);
        if (!simulate_interval(&f, &p05, &p50, &p95))
            continue;
        given++;
        inside += total >= p05 && total <= p95;
    }
    gsl_rng_free(random);
    print_message("borrowed spread, log-sd %.2f: %.1f %% inside of %zu\n", log_sd,
                  100.0 * (double)inside / (double)given, given);
    assert_true(given > 2900);
    return (double)inside / (double)given;
}

static void test_borrowed_coverage(void **state) {
    (void)state;
    double narrow = borrowed_coverage(0.05, 0.0);
    double wide = borrowed_coverage(0.2, 0.0);
    assert_true(narrow >= 0.88 && narrow <= 0.92);
    assert_true(wide >= 0.88 && wide <= 0.92);
    assert_true(borrowed_coverage(0.05, 0.15) < 0.8); /* the test can fail */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_open_and_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_like_the_forecast, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_wide, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deterministic, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared_parameters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sum_future_by_future, setup, teardown),
        cmocka_unit_test_setup_teardown(test_independent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sum_of_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scale, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pool, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_borrows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_borrowed_coverage, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
