/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores by hand, and the verdicts on forecasts that are made to be good or bad. */
#include "forecast-verdict.h"

#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

#define NONE ((struct forecast_answer){NAN, NAN, NAN})

static void test_interval_score(void **state) {
    (void)state;
    static const struct {
        double lo, hi, score;
    } cases[] = {
        {90.0, 110.0, 0.2},   {100.0, 100.0, 0.0}, {90.0, 95.0, 0.05 + 20.0 * 0.05},
        {105.0, 110.0, 1.05}, {1.0, 2.0, 19.61},   {300.0, 400.0, 20.0},
        {NAN, NAN, 20.0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_near(forecast_interval_score(
                        100.0, (struct forecast_answer){100.0, cases[i].lo, cases[i].hi}),
                    cases[i].score, 1e-9);
    assert_near(forecast_coverage_error(100), 0.078, 1e-9);
}

static void test_scores_of_a_cell(void **state) {
    (void)state;
    struct forecast_table *table = forecast_table_new(2);

    forecast_table_add(table, "s", 2, 100.0, (struct forecast_answer[]){{90.0, 80.0, 100.0}, NONE});
    forecast_table_add(table, "s", 2, 100.0, (struct forecast_answer[]){{130.0, NAN, NAN}, NONE});
    forecast_table_add(table, "s", 2, 100.0,
                       (struct forecast_answer[]){{104.0, 102.0, 106.0}, NONE});
    assert_int_equal(forecast_table_cases(table, 0, 2), 3);
    struct forecast_score score = forecast_table_score(table, 0, 2, 0);
    assert_int_equal(score.cases, 3);
    assert_int_equal(score.no_interval, 1);
    assert_near(score.coverage, 1.0 / 3.0, 1e-12); /* the end of an interval is inside */
    assert_near(score.mdape, 0.1, 1e-12);
    assert_near(score.width, (0.2 + 0.04) / 2.0, 1e-12);
    assert_near(score.score, (0.2 + 20.0 + 0.04 + 20.0 * 0.02) / 3.0, 1e-12);
    assert_int_equal(forecast_table_score(table, 0, 2, 1).cases, 0);
    assert_true(isnan(forecast_table_score(table, 0, 2, 1).score));
    /* a missing forecast is off without end: two of five leave a median, three do not */
    forecast_table_add(table, "s", 2, 100.0, (struct forecast_answer[]){NONE, NONE});
    forecast_table_add(table, "s", 2, 100.0, (struct forecast_answer[]){NONE, NONE});
    assert_near(forecast_table_score(table, 0, 2, 0).mdape, 0.3, 1e-12);
    forecast_table_add(table, "s", 2, 100.0, (struct forecast_answer[]){NONE, NONE});
    assert_true(isnan(forecast_table_score(table, 0, 2, 0).mdape));
    forecast_table_free(table);
}

static void test_summary_is_over_the_large_sources(void **state) {
    (void)state;
    struct forecast_table *table = forecast_table_new(1);
    struct forecast_answer sharp = {100.0, 95.0, 105.0}, blunt = {100.0, 80.0, 120.0};

    for (int i = 0; i < 2; i++) {
        forecast_table_add(table, "b", 1, 100.0, &sharp);
        forecast_table_add(table, "a", 1, 100.0, &blunt);
    }
    forecast_table_add(table, "c", 1, 100.0, (struct forecast_answer[]){{100.0, 0.0, 1.0}});
    assert_string_equal(forecast_table_source(table, 0), "a");
    assert_string_equal(forecast_table_source(table, 2), "c");
    struct forecast_summary sum = forecast_table_summary(table, table, 1, 0, 2);
    assert_int_equal(sum.sources, 2);
    assert_near(sum.score, 0.2, 1e-12); /* of 0.1 and 0.4 */
    assert_near(sum.coverage, 1.0, 0.0);
    sum = forecast_table_summary(table, table, 1, 0, 1);
    assert_int_equal(sum.sources, 3);
    assert_near(sum.coverage, 2.0 / 3.0, 1e-12);
    assert_true(isnan(forecast_table_summary(table, table, 1, 0, 3).score));
    assert_true(isnan(forecast_table_summary(table, table, 2, 0, 1).score));
    /* another table may say which sources are large */
    struct forecast_table *counted = forecast_table_new(1);
    forecast_table_add(counted, "c", 1, 100.0, &sharp);
    forecast_table_add(counted, "z", 1, 100.0, &sharp);
    sum = forecast_table_summary(table, counted, 1, 0, 1);
    assert_int_equal(sum.sources, 1);
    assert_near(sum.score, 19.81, 1e-12);
    forecast_table_free(counted);
    forecast_table_free(table);
}

/* 20 groups of one source; of 20, `inside` actuals lie in our interval of +-10 %, the baselines are
 * all +-40 % and cover; our points are off by `error`, the naive ones by 1 %. */
static struct forecast_result make_result(size_t inside, double error) {
    struct forecast_result result = {.groups = forecast_table_new(FORECAST_METHOD_COUNT),
                                     .matrices = forecast_table_new(FORECAST_MATRIX_METHOD_COUNT),
                                     .least = 20,
                                     .has_ours = true};
    for (size_t k = 1; k <= FORECAST_K_MAX; k++)
        for (size_t i = 0; i < 20; i++) {
            struct forecast_answer answers[FORECAST_METHOD_COUNT];
            bool in = i < inside;
            for (size_t m = 1; m < FORECAST_METHOD_COUNT; m++)
                answers[m] = m <= FORECAST_BASELINE_FIRST_NAIVE
                                 ? (struct forecast_answer){101.0, 60.0, 140.0}
                                 : (struct forecast_answer){101.0, NAN, NAN};
            answers[0] = (struct forecast_answer){100.0 * (1.0 + error), in ? 90.0 : 101.0,
                                                  in ? 110.0 : 121.0};
            forecast_table_add(result.groups, "s", k, 100.0, answers);
        }
    return result;
}

static size_t count_not_ok(const struct forecast_result *result) {
    struct forecast_verdict verdicts[FORECAST_VERDICTS_MAX];
    size_t count = forecast_verdicts(result, verdicts), bad = 0;
    for (size_t i = 0; i < count; i++)
        bad += !verdicts[i].ok;
    return bad;
}

static void free_result(struct forecast_result *result) {
    forecast_table_free(result->groups);
    forecast_table_free(result->matrices);
}

static void test_verdicts(void **state) {
    (void)state;
    static const struct {
        size_t inside;
        double error;
        size_t not_ok;
    } cases[] = {
        {18, 0.01, 0},
        {20, 0.01, 3},   /* 100 % covered: the means; no cell is off, 20 cases show little */
        {14, 0.01, 4},   /* 70 %: the means, the cells; still narrower than theirs */
        {18, 0.0102, 0}, /* 1.02 x the naive error */
        {18, 0.012, 2},  /* 1.2 x: the means of both readings */
        {18, 0.02, 4},   /* 2 x: and the worst cells */
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct forecast_result result = make_result(cases[i].inside, cases[i].error);
        size_t bad = count_not_ok(&result);
        if (bad != cases[i].not_ok)
            fail_msg("case %zu: %zu not ok", i, bad);
        result.missing = 1;
        assert_int_equal(count_not_ok(&result), bad + 1);
        result.has_ours = false;
        struct forecast_verdict verdicts[FORECAST_VERDICTS_MAX];
        assert_int_equal(forecast_verdicts(&result, verdicts), 0);
        free_result(&result);
    }
}

static void test_what_is_not_known_meets_nothing(void **state) {
    (void)state;
    struct forecast_result result = make_result(18, 0.01);
    struct forecast_verdict verdicts[FORECAST_VERDICTS_MAX];

    result.least = 21; /* no source counts */
    size_t count = forecast_verdicts(&result, verdicts);
    for (size_t i = 0; i + 1 < count; i++)
        assert_false(verdicts[i].ok);
    result.least = 20;
    result.class_only = true;
    assert_int_equal(count_not_ok(&result), 0);
    free_result(&result);
    result = make_result(16, 0.01);
    result.class_only = true;
    assert_int_equal(count_not_ok(&result), 1); /* 80 % at k = 1; one source of one may be below */
    free_result(&result);
}

static void test_verdicts_on_matrices(void **state) {
    (void)state;
    static const struct {
        size_t inside;
        double half;
        size_t not_ok;
    } cases[] = {{18, 10.0, 0}, {20, 10.0, 1}, {16, 10.0, 1}, {18, 50.0, 3}};

    for (size_t c = 0; c < ARRAY_LENGTH(cases); c++) {
        struct forecast_result result = make_result(18, 0.01);
        result.has_matrices = true;
        for (size_t k = 1; k <= FORECAST_K_MAX; k++)
            for (size_t i = 0; i < 20; i++) {
                double lo = i < cases[c].inside ? 100.0 - cases[c].half : 101.0;
                forecast_table_add(result.matrices, "s", k, 100.0,
                                   (struct forecast_answer[]){{100.0, lo, lo + 2 * cases[c].half},
                                                              {100.0, 60.0, 140.0},
                                                              {100.0, 60.0, 140.0}});
            }
        size_t bad = count_not_ok(&result);
        if (bad != cases[c].not_ok)
            fail_msg("case %zu: %zu not ok", c, bad);
        /* without history there is no plain sum to be narrower than */
        result.class_only = true;
        assert_int_equal(count_not_ok(&result), cases[c].inside == 18 ? 0 : 1);
        result.missing_matrices = 1;
        assert_int_equal(count_not_ok(&result), cases[c].inside == 18 ? 1 : 2);
        free_result(&result);
    }
}

static void test_best_baseline(void **state) {
    (void)state;
    struct forecast_result result = {.groups = forecast_table_new(FORECAST_METHOD_COUNT),
                                     .least = 1};
    struct forecast_answer answers[FORECAST_METHOD_COUNT];

    for (size_t m = 0; m < FORECAST_METHOD_COUNT; m++)
        answers[m] = (struct forecast_answer){90.0 + (double)m, 0.0, 200.0};
    answers[1 + FORECAST_BASELINE_POOLED].lo = 90.0;
    answers[1 + FORECAST_BASELINE_LAST].lo = 99.0; /* a naive one is no candidate */
    answers[1 + FORECAST_BASELINE_LAST].pred = 100.5;
    forecast_table_add(result.groups, "s", 1, 100.0, answers);
    assert_int_equal(forecast_best_baseline(&result, 1), 1 + FORECAST_BASELINE_POOLED);
    assert_int_equal(forecast_best_baseline(&result, 2), FORECAST_METHOD_COUNT);
    assert_int_equal(forecast_best_naive(&result), 1 + FORECAST_BASELINE_LAST);
    forecast_table_free(result.groups);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval_score),
        cmocka_unit_test(test_scores_of_a_cell),
        cmocka_unit_test(test_summary_is_over_the_large_sources),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_what_is_not_known_meets_nothing),
        cmocka_unit_test(test_verdicts_on_matrices),
        cmocka_unit_test(test_best_baseline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
