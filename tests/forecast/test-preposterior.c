/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worth of one more trial: held against the same computed outcome by outcome, and what has to
 * hold whatever the model is. */
#include "base/mem.h"
#include "forecast/preposterior.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST     4u
#define FUTURES  800u
#define OUTCOMES 16u

static const double wide[] = {100.0, 130.0, 82.0, 95.0};
static const double tight[] = {100.0, 101.0, 99.0, 100.5};
static const struct simulate_spread nothing = {0.0, 0.0};

static struct preposterior_part part(const char *name, const double *values, size_t count,
                                     uint64_t remaining) {
    return (struct preposterior_part){.name = name,
                                      .values = values,
                                      .count = count,
                                      .remaining = remaining,
                                      .is_offered = true,
                                      .uses_one = true,
                                      .may_borrow = true};
}

struct ranked {
    struct preposterior_total total;
    struct preposterior_trial trials[MOST];
};

static struct ranked rank_with(const struct preposterior_part *parts, size_t count,
                               const struct preposterior_model *model, struct simulate_spread pool,
                               uint64_t seed) {
    const struct preposterior_options options = {
        .pool = pool, .seed = seed, .futures = FUTURES, .outcomes = OUTCOMES};
    struct ranked ranked;
    memset(&ranked, 0, sizeof ranked);
    preposterior_rank(parts, count, model, &options, &ranked.total, ranked.trials);
    return ranked;
}

static struct ranked rank(const struct preposterior_part *parts, size_t count) {
    return rank_with(parts, count, &preposterior_usual_model, nothing, 7);
}

/* ---- the same, outcome by outcome ---- */

static struct simulate_stream stream(const char *name, uint64_t repeats) {
    return (struct simulate_stream){.seed = 7, .shared = name, .own = repeats == 1 ? NULL : "left"};
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_width(const double *draws, size_t count) {
    double sorted[FUTURES];
    memcpy(sorted, draws, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    double at = 0.05 * (double)(count - 1), to = 0.95 * (double)(count - 1);
    size_t a = (size_t)at, b = (size_t)to;
    double low = sorted[a] + (at - (double)a) * (sorted[a + 1] - sorted[a]);
    double high = sorted[b] + (to - (double)b) * (sorted[b + 1] - sorted[b]);
    return log(high / low);
}

/* Of the first part; `borrowed_now` and the spread after an outcome reach the others. */
static double by_hand(const struct preposterior_part *parts, size_t count,
                      struct simulate_spread pool) {
    AUTO_ARENA struct arena *arena = arena_new();
    double now[FUTURES] = {0.0}, sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        struct futures f =
            simulate_runs(parts[i].values, parts[i].count, parts[i].remaining, pool,
                          stream(parts[i].name, parts[i].remaining), FUTURES, arena, NULL);
        for (size_t k = 0; k < FUTURES; k++)
            now[k] += f.draws[k];
    }
    struct futures one = simulate_runs(parts[0].values, parts[0].count, 1, pool,
                                       stream(parts[0].name, 1), FUTURES, arena, NULL);
    qsort(one.draws, FUTURES, sizeof *one.draws, compare);
    for (size_t o = 0; o < OUTCOMES; o++) {
        double at = ((double)o + 0.5) / OUTCOMES * (double)(FUTURES - 1);
        size_t low = (size_t)at;
        double values[8], after[FUTURES] = {0.0};
        memcpy(values, parts[0].values, parts[0].count * sizeof *values);
        values[parts[0].count] =
            one.draws[low] + (at - (double)low) * (one.draws[low + 1] - one.draws[low]);
        struct simulate_spread then =
            preposterior_usual_model.pool_with(NULL, pool, &parts[0], values[parts[0].count]);
        for (size_t i = 0; i < count; i++) {
            uint64_t left = parts[i].remaining - (i == 0);
            struct futures f =
                simulate_runs(i == 0 ? values : parts[i].values, parts[i].count + (i == 0), left,
                              then, stream(parts[i].name, left), FUTURES, arena, NULL);
            for (size_t k = 0; k < FUTURES; k++)
                after[k] += f.kind == FUTURES_DRAWN ? f.draws[k] : f.value;
        }
        sum += sorted_width(after, FUTURES) / OUTCOMES;
    }
    return sorted_width(now, FUTURES) - sum;
}

static void test_as_by_hand(void **state) {
    (void)state;
    const struct preposterior_part parts[] = {part("a", wide, 3, 5), part("b", tight, 4, 7),
                                              part("c", wide, 4, 2)};
    struct ranked ranked = rank(parts, 3);
    assert_true(ranked.total.has_interval);
    assert_int_equal(ranked.trials[0].kind, PREPOSTERIOR_NARROW);
    assert_true(fabs(ranked.trials[0].narrowing - by_hand(parts, 3, nothing)) < 1e-9);
}

/* What others borrow changes with the outcome: between the nodes of the grid by a straight line. */
static void test_others_borrow(void **state) {
    (void)state;
    const struct preposterior_part parts[] = {part("a", wide, 4, 3), part("b", wide + 1, 1, 20)};
    const double *values[] = {wide};
    const size_t counts[] = {4};
    struct simulate_spread pool = simulate_pool(values, counts, 1);
    struct ranked ranked = rank_with(parts, 2, &preposterior_usual_model, pool, 7);
    double exact = by_hand(parts, 2, pool);
    assert_true(ranked.trials[1].borrowed && !ranked.trials[0].borrowed);
    assert_true(fabs(ranked.trials[0].narrowing - exact) < 0.05 * fabs(exact));

    struct preposterior_model deaf = preposterior_usual_model;
    deaf.pool_with = NULL;
    struct ranked without = rank_with(parts, 2, &deaf, pool, 7);
    assert_true(fabs(without.trials[0].narrowing - exact) > 0.2 * fabs(exact));
}

/* ---- what holds whatever the model is ---- */

static void test_deterministic(void **state) {
    (void)state;
    const struct preposterior_part parts[] = {part("a", wide, 3, 5), part("b", tight, 1, 7)};
    const struct simulate_spread pool = {.variance = 0.01, .freedom = 5.0};
    struct ranked a = rank_with(parts, 2, &preposterior_usual_model, pool, 7);
    struct ranked b = rank_with(parts, 2, &preposterior_usual_model, pool, 7);
    struct ranked c = rank_with(parts, 2, &preposterior_usual_model, pool, 8);
    for (size_t i = 0; i < 2; i++) {
        assert_true(a.trials[i].narrowing == b.trials[i].narrowing);
        assert_true(a.trials[i].narrowing != c.trials[i].narrowing);
    }
}

static void test_dominating_part_first(void **state) {
    (void)state;
    const struct preposterior_part parts[] = {part("a", tight, 3, 5), part("b", wide, 3, 5)};
    struct ranked ranked = rank(parts, 2);
    assert_true(preposterior_compare(&ranked.trials[1], &ranked.trials[0]) < 0);
    assert_true(ranked.trials[1].share > 0.9);
    assert_true(fabs(ranked.trials[0].share + ranked.trials[1].share - 1.0) < 1e-9);
    assert_true(ranked.trials[1].narrowing > 0.0 && ranked.trials[1].reserve_drop > 0.0);
}

static void test_time_counts(void **state) {
    (void)state;
    struct preposterior_part parts[] = {part("a", wide, 3, 5), part("b", tight, 3, 5)};
    double rate = rank(parts, 2).trials[0].rate;
    parts[0].extra_cost = 3.0 * rank(parts, 2).trials[0].cost;
    struct ranked dear = rank(parts, 2);
    assert_true(fabs(dear.trials[0].rate - rate / 4.0) < 1e-9 * rate);
    parts[0].extra_cost = 1e7;
    parts[1].values = wide + 1; /* 130, 82, 95: both are worth something */
    dear = rank(parts, 2);
    assert_true(preposterior_compare(&dear.trials[1], &dear.trials[0]) < 0);
}

static void test_last_run_leaves_nothing(void **state) {
    (void)state;
    const struct preposterior_part parts[] = {part("a", wide, 3, 1)};
    struct ranked ranked = rank(parts, 1);
    double width = log(ranked.total.p95 / ranked.total.p05);
    assert_true(fabs(ranked.trials[0].narrowing - width) < 1e-9);
    assert_true(fabs(ranked.trials[0].reserve_drop - (ranked.total.p95 - ranked.total.p50)) < 1e-9);
}

static void test_unknown_first(void **state) {
    (void)state;
    const struct preposterior_part parts[] = {part("a", wide, 3, 5), part("b", NULL, 0, 5),
                                              part("c", tight, 1, 5)};
    struct ranked ranked = rank(parts, 3);
    assert_int_equal(ranked.trials[1].kind, PREPOSTERIOR_FIRST);
    assert_true(isnan(ranked.trials[1].cost));
    assert_int_equal(ranked.total.unknown, 1);
    for (size_t i = 0; i < 3; i += 2)
        assert_true(preposterior_compare(&ranked.trials[1], &ranked.trials[i]) < 0);
    assert_false(preposterior_is_within(&ranked.total, 1e6));
}

/* Nothing to borrow, one run each: the first repeat of any gives all of them an interval, so the
 * cheapest goes first. */
static void test_first_repeat(void **state) {
    (void)state;
    static const double small[] = {10.0}, large[] = {50.0};
    const struct preposterior_part parts[] = {part("a", large, 1, 5), part("b", small, 1, 5)};
    struct ranked ranked = rank(parts, 2);
    assert_false(ranked.total.has_interval);
    assert_true(ranked.total.p50 == 300.0 && isnan(ranked.total.p95));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ranked.trials[i].kind, PREPOSTERIOR_REPEAT);
        assert_int_equal(ranked.trials[i].gives_interval, 2);
    }
    assert_true(preposterior_compare(&ranked.trials[1], &ranked.trials[0]) < 0);

    /* what does not lend gives one to itself alone */
    struct preposterior_part alone[] = {parts[0], parts[1]};
    alone[1].may_borrow = false;
    ranked = rank(alone, 2);
    assert_int_equal(ranked.trials[0].gives_interval, 1);
    assert_int_equal(ranked.trials[1].gives_interval, 1);
}

/* While a part lacks an interval nobody can say what the others would narrow. */
static void test_waits_for_an_interval(void **state) {
    (void)state;
    struct preposterior_part parts[] = {part("a", wide, 3, 5), part("b", wide, 1, 5)};
    parts[1].may_borrow = false;
    struct ranked ranked = rank(parts, 2);
    assert_int_equal(ranked.trials[0].kind, PREPOSTERIOR_NARROW);
    assert_true(isnan(ranked.trials[0].narrowing) && isnan(ranked.trials[0].share));
    assert_true(!ranked.total.has_interval && isnan(ranked.total.p95) && ranked.total.p50 > 0.0);
    assert_int_equal(ranked.trials[1].kind, PREPOSTERIOR_REPEAT);
}

static void test_not_offered_counts_all_the_same(void **state) {
    (void)state;
    struct preposterior_part parts[] = {part("a", wide, 3, 5), part("b", tight, 3, 5)};
    struct ranked both = rank(parts, 2);
    parts[1].is_offered = false;
    struct ranked one = rank(parts, 2);
    assert_int_equal(one.trials[1].kind, PREPOSTERIOR_NONE);
    assert_true(one.total.p95 == both.total.p95);
    assert_true(one.trials[0].narrowing == both.trials[0].narrowing);
    assert_true(preposterior_compare(&one.trials[0], &one.trials[1]) < 0);
}

static void test_nothing_left(void **state) {
    (void)state;
    const struct preposterior_part parts[] = {part("a", wide, 3, 0), part("b", NULL, 0, 0)};
    struct ranked ranked = rank(parts, 2);
    assert_true(ranked.total.is_nothing);
    assert_int_equal(ranked.trials[0].kind, PREPOSTERIOR_NONE);
    assert_true(preposterior_is_within(&ranked.total, 0.01));
}

static void test_within(void **state) {
    (void)state;
    struct preposterior_total total = {.has_interval = true, .p05 = 90, .p50 = 100, .p95 = 110};
    assert_true(preposterior_is_within(&total, 0.2));
    assert_false(preposterior_is_within(&total, 0.19));
    total.unknown = 1;
    assert_false(preposterior_is_within(&total, 0.2));
    total.unknown = 0;
    total.has_interval = false;
    assert_false(preposterior_is_within(&total, 1.0));
}

/* One run of a spread that is borrowed may widen the interval; that all of them end it is worth
 * something, and the ranking goes by that. */
static void test_all_runs_together(void **state) {
    (void)state;
    struct preposterior_part parts[] = {part("a", wide, 1, 3), part("b", tight, 3, 50)};
    parts[0].extra_cost = 0.0;
    const struct simulate_spread pool = {.variance = 0.04, .freedom = 500.0};
    struct ranked ranked = rank_with(parts, 2, &preposterior_usual_model, pool, 7);
    assert_true(ranked.trials[0].narrowing < 0.0);
    assert_true(ranked.trials[0].rate > 0.0);
    assert_int_equal(ranked.trials[0].rate_runs, 3);
    assert_true(preposterior_compare(&ranked.trials[0], &ranked.trials[1]) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_by_hand),
        cmocka_unit_test(test_others_borrow),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_dominating_part_first),
        cmocka_unit_test(test_time_counts),
        cmocka_unit_test(test_last_run_leaves_nothing),
        cmocka_unit_test(test_unknown_first),
        cmocka_unit_test(test_first_repeat),
        cmocka_unit_test(test_waits_for_an_interval),
        cmocka_unit_test(test_not_offered_counts_all_the_same),
        cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_all_runs_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
