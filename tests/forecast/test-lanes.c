/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs on lanes: what each future's longest lane is, against schedules made by hand. */
#include "base/mem.h"
#include "forecast/lanes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define DRAWS 1000u

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

static struct futures calendar(const struct lanes_item *items, size_t count, uint64_t lanes) {
    bool at_least = true;
    struct futures f = lanes_calendar(items, count, lanes, 7, DRAWS, arena, NULL, &at_least);
    assert_false(at_least);
    return f;
}

static void assert_near(double a, double b) {
    assert_true(fabs(a - b) <= 1e-9 * (1.0 + fabs(b)));
}

static double mean_of(const struct futures *f) {
    double mean = 0.0;
    for (size_t i = 0; i < f->count; i++)
        mean += f->draws[i] / (double)f->count;
    return mean;
}

static void test_equal_runs(void **state) {
    const struct futures nine = simulate_fixed(900.0);
    const struct lanes_item item = {.name = "a", .total = &nine, .runs = 9};
    const double expected[] = {900.0, 500.0, 300.0, 300.0, 200.0, 200.0, 200.0, 200.0, 100.0};
    (void)state;
    for (uint64_t lanes = 1; lanes <= 9; lanes++) {
        struct futures f = calendar(&item, 1, lanes);
        assert_int_equal(f.kind, FUTURES_VALUE);
        assert_true(f.is_fixed);
        assert_near(f.value, expected[lanes - 1]);
    }
    assert_near(calendar(&item, 1, 1000000).value, 100.0); /* no more lanes than runs */
}

/* In the order given, each to the next free lane: 4, 4 | 3 3 3 on two lanes is 4+3+3 and 4+3. */
static void test_order(void **state) {
    const struct futures a = simulate_fixed(8.0), b = simulate_fixed(9.0);
    const struct lanes_item long_first[] = {{.name = "a", .total = &a, .runs = 2},
                                            {.name = "b", .total = &b, .runs = 3}};
    const struct lanes_item short_first[] = {long_first[1], long_first[0]};
    (void)state;
    assert_near(calendar(long_first, 2, 2).value, 10.0);
    assert_near(calendar(short_first, 2, 2).value, 10.0); /* 3 3 | 3+4, 3+... */
    const struct futures one = simulate_fixed(6.0);
    const struct lanes_item with_one[] = {long_first[1], {.name = "c", .total = &one, .runs = 1}};
    const struct lanes_item one_first[] = {with_one[1], long_first[1]};
    assert_near(calendar(with_one, 2, 2).value, 9.0);  /* 3+3, 3+6 */
    assert_near(calendar(one_first, 2, 2).value, 9.0); /* 6+3, 3+3 */
    assert_near(calendar(one_first, 2, 3).value, 6.0); /* 6 beside 3+3 and 3 */
    assert_near(calendar(with_one, 2, 3).value, 9.0);  /* 3 3 3, then 6 */
}

static void test_lost_time_stays_with_its_run(void **state) {
    const struct futures a = simulate_fixed(40.0), lost = simulate_fixed(8.0);
    double hits[] = {1.0};
    struct lanes_item item = {.name = "a", .total = &a, .runs = 4, .lost = &lost, .hit_runs = hits};
    (void)state;
    assert_near(calendar(&item, 1, 4).value, 18.0); /* one run of 10 with all of it */
    hits[0] = 2.0;
    assert_near(calendar(&item, 1, 4).value, 14.0);
    hits[0] = 99.0;
    assert_near(calendar(&item, 1, 4).value, 12.0);
    item.hit_runs = NULL;
    assert_near(calendar(&item, 1, 4).value, 12.0);
    assert_near(calendar(&item, 1, 1).value, 48.0);
    const struct futures open = {.kind = FUTURES_OPEN};
    item.lost = &open;
    assert_near(calendar(&item, 1, 4).value, 10.0);
    item.total = &open;
    assert_int_equal(calendar(&item, 1, 4).kind, FUTURES_OPEN);
}

/* Very many runs are put on lanes as one by one. */
static void test_many(void **state) {
    (void)state;
    for (uint64_t lanes = 1; lanes <= 7; lanes++) {
        const struct futures few = simulate_fixed(50.0), many = simulate_fixed(3.0 * 1001.0);
        struct futures one[1001], each = simulate_fixed(3.0);
        struct lanes_item items[1002] = {{.name = "few", .total = &few, .runs = 1},
                                         {.name = "many", .total = &many, .runs = 1001}};
        double at_once = calendar(items, 2, lanes).value;
        for (size_t i = 0; i < 1001; i++) {
            one[i] = each;
            items[i + 1] = (struct lanes_item){.name = "one", .total = &one[i], .runs = 1};
        }
        assert_near(at_once, calendar(items, 1002, lanes).value);
    }
}

/* ---- drawn ---- */

static struct futures drawn(double value) {
    struct futures f = {.kind = FUTURES_DRAWN, .count = DRAWS};
    f.draws = arena_alloc(arena, DRAWS * sizeof *f.draws);
    for (size_t i = 0; i < DRAWS; i++)
        f.draws[i] = value * (1.0 + (double)i / DRAWS);
    simulate_settle(&f);
    return f;
}

static void test_unequal_runs(void **state) {
    const struct futures total = drawn(1000.0);
    struct lanes_item item = {.name = "a", .total = &total, .runs = 10};
    (void)state;
    struct futures equal = calendar(&item, 1, 10);
    for (size_t i = 0; i < DRAWS; i++)
        assert_near(equal.draws[i], total.draws[i] / 10.0);
    item.run_spread = 0.2;
    struct futures unequal = calendar(&item, 1, 10);
    /* the largest of ten normal values lies 1.54 deviations up in the mean */
    double ratio = mean_of(&unequal) / mean_of(&equal);
    assert_true(ratio > exp(0.2 * 1.54 - 0.05) && ratio < exp(0.2 * 1.54 + 0.05));
    struct futures again = calendar(&item, 1, 10);
    assert_memory_equal(unequal.draws, again.draws, DRAWS * sizeof(double));
    struct futures alone = calendar(&item, 1, 1);
    for (size_t i = 0; i < DRAWS; i++) /* however it is split, it is all of it */
        assert_near(alone.draws[i], total.draws[i]);
}

static void test_bounds(void **state) {
    const struct futures a = drawn(500.0), b = drawn(90.0), lost = drawn(10.0);
    const struct lanes_item items[] = {
        {.name = "a", .total = &a, .runs = 7, .run_spread = 0.3, .lost = &lost},
        {.name = "b", .total = &b, .runs = 5, .run_spread = 0.1}};
    (void)state;
    for (uint64_t lanes = 1; lanes < 14; lanes++) {
        bool at_least;
        struct futures sum;
        struct futures f = lanes_calendar(items, 2, lanes, 7, DRAWS, arena, &sum, &at_least);
        for (size_t i = 0; i < DRAWS; i++) {
            assert_near(sum.draws[i], a.draws[i] + b.draws[i] + lost.draws[i]);
            assert_true(f.draws[i] >= sum.draws[i] / (double)lanes - 1e-9);
            assert_true(f.draws[i] <= sum.draws[i] + 1e-9);
        }
        struct futures part = lanes_part(&a, &f, &sum, arena);
        struct futures rest = lanes_part(&b, &f, &sum, arena);
        struct futures more = lanes_part(&lost, &f, &sum, arena);
        for (size_t i = 0; i < DRAWS; i++)
            assert_near(part.draws[i] + rest.draws[i] + more.draws[i], f.draws[i]);
    }
}

static void test_parts(void **state) {
    const struct futures open = {.kind = FUTURES_OPEN}, ten = simulate_value(10.0);
    const struct futures fixed = simulate_fixed(4.0), whole = drawn(20.0),
                         none = simulate_value(0.0);
    (void)state;
    assert_int_equal(lanes_part(&open, &ten, &ten, arena).kind, FUTURES_OPEN);
    assert_int_equal(lanes_part(&ten, &open, &open, arena).kind, FUTURES_OPEN);
    assert_near(lanes_part(&fixed, &ten, &fixed, arena).value, 10.0);
    assert_near(lanes_part(&fixed, &none, &none, arena).value, 0.0);
    assert_false(lanes_part(&fixed, &whole, &whole, arena).no_interval);
    assert_true(lanes_part(&ten, &whole, &whole, arena).no_interval);
}

/* The split of one condition is its own: another one beside it changes nothing in it. */
static void test_independent(void **state) {
    const struct futures a = drawn(1000.0), nothing = simulate_fixed(0.0);
    const struct lanes_item alone = {.name = "a", .total = &a, .runs = 10, .run_spread = 0.2};
    const struct lanes_item both[] = {{.name = "z", .total = &nothing, .runs = 3}, alone};
    (void)state;
    struct futures f = calendar(&alone, 1, 4), g = calendar(both, 2, 4);
    for (size_t i = 0; i < DRAWS; i++)
        assert_near(f.draws[i], g.draws[i]);
}

static void test_too_many_lanes(void **state) {
    const struct futures a = simulate_fixed(5000.0), b = simulate_fixed(40.0);
    const struct lanes_item items[] = {{.name = "a", .total = &a, .runs = 5000},
                                       {.name = "b", .total = &b, .runs = 2}};
    bool at_least = false;
    (void)state;
    struct futures f = lanes_calendar(items, 2, 2000, 7, DRAWS, arena, NULL, &at_least);
    assert_true(at_least);
    assert_near(f.value, 20.0); /* one run of b; the share of a lane is 2.52 */
}

static void test_run_spread(void **state) {
    const double values[] = {100.0, 110.0, 121.0}, zero[] = {0.0, 1.0};
    (void)state;
    assert_true(fabs(lanes_run_spread(values, 3) - log(1.1)) < 1e-9);
    assert_true(lanes_run_spread(values, 1) == 0.0 && lanes_run_spread(zero, 2) == 0.0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_equal_runs), TEST(test_order),        TEST(test_lost_time_stays_with_its_run),
        TEST(test_many),       TEST(test_unequal_runs), TEST(test_bounds),
        TEST(test_parts),      TEST(test_independent),  TEST(test_too_many_lanes),
        TEST(test_run_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
