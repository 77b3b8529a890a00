/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The baselines against values worked out by hand. */
#include "forecast-baselines.h"

#include "base/mem.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

enum { RUNS_MAX = 8, GROUPS_MAX = 256 };

/* Groups made here; what the baselines read of them. */
struct made {
    struct forecast_group groups[GROUPS_MAX];
    double seconds[GROUPS_MAX][RUNS_MAX];
    struct forecast_source source;
};

static void put_group(struct made *made, const char *family, const double *seconds, size_t count) {
    size_t at = made->source.group_count++;
    memcpy(made->seconds[at], seconds, count * sizeof *seconds);
    made->groups[at] = (struct forecast_group){.source = "s",
                                               .name = "g",
                                               .family = family,
                                               .ok_seconds = made->seconds[at],
                                               .ok_count = count};
    made->source.name = "s";
    made->source.groups = made->groups;
}

static struct forecast_group group_of(const double *seconds, size_t count) {
    return (struct forecast_group){
        .source = "s", .name = "g", .family = "f", .ok_seconds = seconds, .ok_count = count};
}

static struct forecast_answer answer_of(enum forecast_baseline baseline,
                                        const struct forecast_source *source,
                                        const struct forecast_group *group, size_t k) {
    struct forecast_history *history = forecast_history_new(source);
    struct forecast_answer answer = forecast_baseline_answer(baseline, history, group, k);
    forecast_history_free(history);
    return answer;
}

static void test_t_interval(void **state) {
    (void)state;
    static const double seconds[] = {10.0, 12.0, 11.0, 11.0, 30.0};
    struct forecast_group group = group_of(seconds, 3);

    /* t(0.95, 1) = 6.3138; sd = 1.4142; sqrt(1 + 1/2) */
    struct forecast_answer answer = answer_of(FORECAST_BASELINE_T, NULL, &group, 2);
    assert_near(answer.pred, 11.0, 1e-9);
    assert_near(answer.hi, 11.0 + 6.313752 * 1.414214 * 1.224745, 1e-4);
    assert_near(answer.lo, 11.0 - 6.313752 * 1.414214 * 1.224745, 1e-4);
    /* three further runs: sqrt(3 + 9/2); the lower end is cut at 0 */
    group = group_of(seconds, 5);
    answer = answer_of(FORECAST_BASELINE_T, NULL, &group, 2);
    assert_near(answer.hi, 33.0 + 6.313752 * 1.414214 * sqrt(7.5), 1e-4);
    assert_near(answer.lo, 33.0 - 6.313752 * 1.414214 * sqrt(7.5), 1e-4);
    static const double apart[] = {10.0, 20.0, 15.0};
    group = group_of(apart, 3);
    answer = answer_of(FORECAST_BASELINE_T, NULL, &group, 2);
    assert_near(answer.lo, 0.0, 0.0);
    assert_true(isnan(answer_of(FORECAST_BASELINE_T, NULL, &group, 1).pred));
}

static void test_lognormal(void **state) {
    (void)state;
    static const double seconds[] = {100.0, 104.0, 102.0, 101.0};
    static const double wild[] = {1.0, 50.0, 3.0};
    struct forecast_group group = group_of(seconds, 4);
    struct forecast_answer answer = answer_of(FORECAST_BASELINE_LOGNORMAL, NULL, &group, 3);
    double mean = (log(100.0) + log(104.0) + log(102.0)) / 3.0;

    assert_true(answer.lo < 98.0 && answer.lo > 90.0 && answer.hi > 106.0 && answer.hi < 114.0);
    assert_near(answer.pred, exp(mean), 0.2);
    group = group_of(wild, 3);
    answer = answer_of(FORECAST_BASELINE_LOGNORMAL, NULL, &group, 2);
    assert_true(!isnan(answer.pred));
    assert_true(isnan(answer.lo) && isnan(answer.hi)); /* too few runs */
    assert_true(isnan(answer_of(FORECAST_BASELINE_LOGNORMAL, NULL, &group, 1).pred));
}

static void test_pooled(void **state) {
    (void)state;
    static struct made made;
    static const double target[] = {10.0, 10.0, 10.0};
    struct forecast_group group = group_of(target, 3);

    for (int i = 0; i < FORECAST_POOLED_LEAST; i++) { /* actual to forecast: 1.00 to 1.19 */
        assert_true(isnan(answer_of(FORECAST_BASELINE_POOLED, &made.source, &group, 1).lo));
        put_group(&made, "f", (double[]){4.0, 4.0 + 0.04 * i}, 2);
    }
    struct forecast_answer answer = answer_of(FORECAST_BASELINE_POOLED, &made.source, &group, 1);
    assert_near(answer.pred, 20.0, 1e-9);
    assert_near(answer.lo, 20.0 * (1.0 + 0.01 * 0.95), 1e-9); /* 19 steps x 5 % */
    assert_near(answer.hi, 20.0 * (1.0 + 0.01 * 18.05), 1e-9);
    /* the history has no group with more than two runs */
    assert_true(isnan(answer_of(FORECAST_BASELINE_POOLED, &made.source, &group, 2).pred));
}

/* `groups` groups of two runs whose logs are `spread` apart, or twice, or half as much, by turns:
 * the median variance is spread squared, halved. */
static void make_law(struct made *made, size_t groups, double spread, const char *family) {
    for (size_t g = 0; g < groups; g++)
        put_group(
            made, family,
            (double[]){100.0, 100.0 * exp(spread *
                                          (double[]){1.0, 2.0, 0.5}[made->source.group_count % 3])},
            2);
}

static void test_hindsight_has_the_median_variance(void **state) {
    (void)state;
    static struct made made;
    static const double seconds[] = {100.0, 110.0, 100.0, 100.0};
    struct forecast_group group = group_of(seconds, 2);

    for (int i = 0; i < FORECAST_SHRUNK_LEAST; i++) {
        assert_true(isnan(answer_of(FORECAST_BASELINE_HINDSIGHT, &made.source, &group, 1).pred));
        make_law(&made, 1, 0.05, "f");
    }
    for (int i = 0; i < 4; i++)
        put_group(&made, "f", seconds, 1); /* one run has no spread */
    struct forecast_answer answer = answer_of(FORECAST_BASELINE_HINDSIGHT, &made.source, &group, 1);
    /* one run before, one after: the variances of both */
    double half = gsl_cdf_tdist_Pinv(0.95, 4.0) * sqrt(0.05 * 0.05 / 2.0) * sqrt(2.0);
    assert_near(answer.pred, 100.0, 1e-9);
    assert_near(log(answer.hi / answer.pred), half, 1e-9);
    assert_near(log(answer.pred / answer.lo), half, 1e-9);
    /* two before, two after; the own squares join the history's */
    group = group_of(seconds, 4);
    answer = answer_of(FORECAST_BASELINE_HINDSIGHT, &made.source, &group, 2);
    double own = log(1.1) * log(1.1) / 2.0;
    half = gsl_cdf_tdist_Pinv(0.95, 5.0) * sqrt((4.0 * 0.05 * 0.05 / 2.0 + own) / 5.0);
    assert_near(answer.pred, 2.0 * sqrt(100.0 * 110.0), 1e-9);
    assert_near(log(answer.hi / answer.pred), half, 1e-9);
    assert_true(isnan(answer_of(FORECAST_BASELINE_HINDSIGHT, NULL, &group, 1).pred));
}

/* Groups whose variance is drawn as the prior says it: the fit finds its location and freedom. */
static void test_shrunk_finds_the_prior(void **state) {
    (void)state;
    enum { RUNS = 6 };
    const double freedom = 8.0, variance = 0.04;
    static struct made made;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t g = 0; g < 250; g++) {
        double sd = sqrt(variance * freedom / gsl_ran_chisq(random, freedom));
        double seconds[RUNS];
        for (size_t i = 0; i < RUNS; i++)
            seconds[i] = 1e6 * exp(sd * gsl_ran_gaussian(random, 1.0));
        put_group(&made, "f", seconds, RUNS);
    }
    gsl_rng_free(random);
    static const double seconds[] = {100.0, 110.0};
    struct forecast_group group = group_of(seconds, 2);
    struct forecast_answer answer = answer_of(FORECAST_BASELINE_HINDSIGHT, &made.source, &group, 1);
    double half = gsl_cdf_tdist_Pinv(0.95, freedom) * sqrt(2.0 * variance);
    assert_near(log(answer.hi / answer.pred) / half, 1.0, 0.15);
    answer = answer_of(FORECAST_BASELINE_SHRUNK_FAMILY, &made.source, &group, 1);
    assert_near(log(answer.hi / answer.pred) / half, 1.0, 0.15);
    assert_true(isnan(answer_of(FORECAST_BASELINE_HINDSIGHT, NULL, &group, 1).pred));
}

static void test_equal_readings_are_not_certainty(void **state) {
    (void)state;
    static struct made made;
    static const double seconds[] = {10.0, 10.0};
    struct forecast_group group = group_of(seconds, 2);

    for (int i = 0; i < FORECAST_SHRUNK_LEAST; i++)
        put_group(&made, "f", seconds, 2); /* read in whole seconds: a step of 1 in 10 */
    struct forecast_answer answer = answer_of(FORECAST_BASELINE_HINDSIGHT, &made.source, &group, 1);
    double half = gsl_cdf_tdist_Pinv(0.95, 4.0) * 0.1 / sqrt(12.0) * sqrt(2.0);
    assert_near(log(answer.hi / answer.pred), half, 1e-9);
}

static void test_family_has_its_own_spread(void **state) {
    (void)state;
    static struct made made;
    static const double seconds[] = {100.0, 100.0};
    struct forecast_group group = group_of(seconds, 2);
    struct forecast_answer family[2], source;

    make_law(&made, 3, 0.01, "calm");
    make_law(&made, 3, 0.1, "wild");
    make_law(&made, 2, 0.4, "few");
    source = answer_of(FORECAST_BASELINE_SHRUNK_SOURCE, &made.source, &group, 1);
    group.family = "calm";
    family[0] = answer_of(FORECAST_BASELINE_SHRUNK_FAMILY, &made.source, &group, 1);
    group.family = "wild";
    family[1] = answer_of(FORECAST_BASELINE_SHRUNK_FAMILY, &made.source, &group, 1);
    assert_true(family[0].hi < source.hi && source.hi > 100.0);
    assert_near(log(family[1].hi / 100.0) / log(family[0].hi / 100.0), 10.0, 1e-9);
    /* a family of which the history knows too little has the source's */
    group.family = "few";
    family[0] = answer_of(FORECAST_BASELINE_SHRUNK_FAMILY, &made.source, &group, 1);
    assert_near(family[0].hi, source.hi, 1e-12);
}

static void test_naive(void **state) {
    (void)state;
    static const double seconds[] = {9.0, 4.0, 5.0, 1.0, 1.0};
    struct forecast_group group = group_of(seconds, 5);

    assert_near(answer_of(FORECAST_BASELINE_MEAN, NULL, &group, 3).pred, 12.0, 1e-9);
    assert_near(answer_of(FORECAST_BASELINE_MEDIAN, NULL, &group, 3).pred, 10.0, 1e-9);
    assert_near(answer_of(FORECAST_BASELINE_LAST, NULL, &group, 2).pred, 12.0, 1e-9);
    assert_near(answer_of(FORECAST_BASELINE_MINIMUM, NULL, &group, 3).pred, 8.0, 1e-9);
    assert_true(isnan(answer_of(FORECAST_BASELINE_MEAN, NULL, &group, 3).lo));
}

static void test_matrix_baselines(void **state) {
    (void)state;
    static struct made made;
    static const double one[] = {10.0, 10.0}, two[] = {20.0, 20.0};
    struct forecast_group groups[] = {group_of(one, 2), group_of(two, 2)};
    struct forecast_matrix matrix = {.k = 1, .count = 2, .groups = {&groups[0], &groups[1]}};

    for (int i = 0; i < FORECAST_POOLED_LEAST; i++)
        put_group(&made, "f", (double[]){4.0, i < 10 ? 2.0 : 8.0}, 2); /* half or twice */
    struct forecast_history *history = forecast_history_new(&made.source);
    struct forecast_answer sum =
        forecast_matrix_baseline_answer(FORECAST_MATRIX_PLAIN_SUM, history, &matrix);
    struct forecast_answer root =
        forecast_matrix_baseline_answer(FORECAST_MATRIX_QUADRATURE, history, &matrix);
    forecast_history_free(history);
    assert_near(sum.pred, 30.0, 1e-9);
    assert_near(sum.lo, 15.0, 1e-9);
    assert_near(sum.hi, 60.0, 1e-9);
    /* middles 12.5 + 25, half widths 7.5 and 15 */
    assert_near(root.lo, 37.5 - sqrt(7.5 * 7.5 + 225.0), 1e-9);
    assert_near(root.hi, 37.5 + sqrt(7.5 * 7.5 + 225.0), 1e-9);
    history = forecast_history_new(NULL);
    sum = forecast_matrix_baseline_answer(FORECAST_MATRIX_PLAIN_SUM, history, &matrix);
    forecast_history_free(history);
    assert_true(isnan(sum.pred) && isnan(sum.lo));
}

static void test_names(void **state) {
    (void)state;
    for (size_t i = 0; i < FORECAST_BASELINE_COUNT_; i++) {
        enum forecast_baseline back = FORECAST_BASELINE_COUNT_;
        assert_true(
            forecast_baseline_from_name(forecast_baseline_name((enum forecast_baseline)i), &back));
        assert_int_equal(back, i);
    }
    enum forecast_baseline none;
    assert_false(forecast_baseline_from_name("oracle", &none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t_interval),
        cmocka_unit_test(test_lognormal),
        cmocka_unit_test(test_pooled),
        cmocka_unit_test(test_hindsight_has_the_median_variance),
        cmocka_unit_test(test_shrunk_finds_the_prior),
        cmocka_unit_test(test_equal_readings_are_not_certainty),
        cmocka_unit_test(test_family_has_its_own_spread),
        cmocka_unit_test(test_naive),
        cmocka_unit_test(test_matrix_baselines),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
