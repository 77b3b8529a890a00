/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conformal correction: hand-computed scores, ranks and ends, the boundaries 8/9 and 18/19,
 * coverage whatever the stated interval was, and the Jeffreys interval of a share. */
#include "base/mem.h"
#include "forecast/conformal.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka's own compares floats. */
static void assert_near(double a, double b, double within) {
    if (!(fabs(a - b) <= within))
        fail_msg("%.15g and not %.15g", a, b);
}

/* ---- by hand ---- */

/* 10 to 40: middle 20, half-width ln 2. */
static void test_score(void **state) {
    static const struct {
        double actual, below, above;
    } cases[] = {{20.0, -1.0, -1.0}, {10.0, 0.0, -2.0},  {40.0, -2.0, 0.0},
                 {80.0, -3.0, 1.0},  {160.0, -4.0, 2.0}, {5.0, 1.0, -3.0}};
    struct conformal_score score;
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        assert_true(conformal_score(10.0, 40.0, cases[i].actual, &score));
        assert_near(score.below, cases[i].below, 1e-12);
        assert_near(score.above, cases[i].above, 1e-12);
        assert_near(score.two_sided, fmax(cases[i].below, cases[i].above), 1e-12);
    }
    /* a study a thousand times as long says the same */
    assert_true(conformal_score(1e4, 4e4, 8e4, &score));
    assert_near(score.two_sided, 1.0, 1e-12);
}

static void test_no_score(void **state) {
    static const double bad[][3] = {{0.0, 1.0, 1.0},      {2.0, 2.0, 2.0},  {3.0, 2.0, 2.0},
                                    {1.0, 2.0, 0.0},      {1.0, 2.0, -1.0}, {NAN, 2.0, 1.0},
                                    {1.0, INFINITY, 1.0}, {1.0, 2.0, NAN}};
    struct conformal_score score = {7.0, 7.0, 7.0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        assert_false(conformal_score(bad[i][0], bad[i][1], bad[i][2], &score));
    assert_near(score.two_sided, 7.0, 0.0);
}

static void test_rank(void **state) {
    (void)state;
    assert_int_equal(conformal_rank(0, 90), 0);
    assert_int_equal(conformal_rank(8, 90), 0); /* ceil(8.1) = 9 of 8 */
    assert_int_equal(conformal_rank(9, 90), 9);
    assert_int_equal(conformal_rank(10, 90), 10); /* ceil(9.9) */
    assert_int_equal(conformal_rank(18, 90), 18); /* ceil(17.1) */
    assert_int_equal(conformal_rank(19, 90), 18);
    assert_int_equal(conformal_rank(99, 90), 90);
    assert_int_equal(conformal_rank(18, 95), 0); /* ceil(18.05) = 19 of 18 */
    assert_int_equal(conformal_rank(19, 95), 19);
    assert_int_equal(conformal_rank(39, 95), 38);
    assert_int_equal(conformal_rank(CONFORMAL_TWO_SIDED_LEAST - 1, CONFORMAL_TWO_SIDED), 0);
    assert_int_not_equal(conformal_rank(CONFORMAL_TWO_SIDED_LEAST, CONFORMAL_TWO_SIDED), 0);
    assert_int_equal(conformal_rank(CONFORMAL_ONE_SIDED_LEAST - 1, CONFORMAL_ONE_SIDED), 0);
    assert_int_not_equal(conformal_rank(CONFORMAL_ONE_SIDED_LEAST, CONFORMAL_ONE_SIDED), 0);
}

static void test_quantile(void **state) {
    double scores[19], score = 7.0;
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(scores); i++)
        scores[i] = (double)((i * 7) % ARRAY_LENGTH(scores)); /* 0 … 18, shuffled */
    assert_true(conformal_quantile(scores, 19, 90, &score));
    assert_near(score, 17.0, 0.0); /* the 18th smallest */
    assert_true(conformal_quantile(scores, 19, 95, &score));
    assert_near(score, 18.0, 0.0);
    assert_near(scores[1], 7.0, 0.0); /* they stay as they were */
    assert_false(conformal_quantile(scores, 18, 95, &score));
    assert_false(conformal_quantile(scores, 8, 90, &score));
    assert_false(conformal_quantile(scores, 0, 90, &score));
    scores[3] = INFINITY;
    assert_true(conformal_quantile(scores, 19, 90, &score));
    assert_near(score, 18.0, 0.0); /* one that was cut off stands above them all */
    assert_true(conformal_quantile(scores, 19, 95, &score));
    assert_true(isinf(score));
    scores[4] = NAN;
    assert_false(conformal_quantile(scores, 19, 90, &score));
}

static void test_widen(void **state) {
    double low = 7.0, high = 7.0;
    (void)state;
    assert_true(conformal_widen(10.0, 40.0, 0.0, &low, &high));
    assert_near(low, 10.0, 1e-9);
    assert_near(high, 40.0, 1e-9);
    assert_true(conformal_widen(10.0, 40.0, 1.0, &low, &high)); /* twice the half-width */
    assert_near(low, 5.0, 1e-9);
    assert_near(high, 80.0, 1e-9);
    assert_true(conformal_widen(10.0, 40.0, -0.5, &low, &high));
    assert_near(low, 10.0 * sqrt(2.0), 1e-9);
    assert_near(high, 20.0 * sqrt(2.0), 1e-9);
    assert_true(conformal_widen(10.0, 40.0, -1.0, &low, &high));
    assert_near(low, 20.0, 1e-9);
    assert_near(high, 20.0, 1e-9);
    low = 7.0;
    assert_false(conformal_widen(10.0, 40.0, INFINITY, &low, &high));
    assert_false(conformal_widen(10.0, 40.0, NAN, &low, &high));
    assert_false(conformal_widen(10.0, 10.0, 1.0, &low, &high));
    assert_false(conformal_widen(1e-300, 1e300, 1e6, &low, &high));
    assert_near(low, 7.0, 0.0);
}

/* ---- coverage ---- */

#define STUDIES 4000u

/* Of outcomes with log-sd 1 times their stated size, n past ones and the next: does the corrected
 * interval hold the next? Stated half-widths of 1.645 x `wrong`, off the middle by `shift`, and of
 * another size in each: the score is in their units. */
static double coverage(size_t n, double wrong, double shift, double *ret_above) {
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t inside = 0, under = 0;
    double scores[64], above[64];
    gsl_rng_set(rng, 20261201);
    for (size_t s = 0; s < STUDIES; s++) {
        double low = 0.0, high = 0.0, actual = 0.0, q, unused;
        for (size_t i = 0; i <= n; i++) {
            struct conformal_score score;
            double sd = exp(gsl_ran_gaussian(rng, 1.0)), size = exp(gsl_ran_gaussian(rng, 3.0));
            low = size * exp(sd * (shift - 1.645 * wrong));
            high = size * exp(sd * (shift + 1.645 * wrong));
            actual = size * exp(sd * gsl_ran_gaussian(rng, 1.0));
            if (i == n)
                break;
            assert_true(conformal_score(low, high, actual, &score));
            scores[i] = score.two_sided;
            above[i] = score.above;
        }
        double p05, p95, bound;
        assert_true(conformal_quantile(scores, n, CONFORMAL_TWO_SIDED, &q));
        assert_true(conformal_widen(low, high, q, &p05, &p95));
        inside += p05 <= actual && actual <= p95;
        if (ret_above && conformal_quantile(above, n, CONFORMAL_ONE_SIDED, &q) &&
            conformal_widen(low, high, q, &unused, &bound))
            under += actual <= bound;
    }
    gsl_rng_free(rng);
    if (ret_above)
        *ret_above = (double)under / STUDIES;
    return (double)inside / STUDIES;
}

/* The share that is expected is rank / (n + 1), so it is not far above the level either. */
static void test_coverage(void **state) {
    static const size_t counts[] = {9, 12, 19, 40};
    static const double wrong[] = {0.1, 0.5, 1.0, 3.0};
    const double error = 3.0 * sqrt(0.09 / STUDIES);
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(counts); i++)
        for (size_t k = 0; k < ARRAY_LENGTH(wrong); k++)
            for (int shifted = 0; shifted < 2; shifted++) {
                double share = coverage(counts[i], wrong[k], shifted ? 0.7 : 0.0, NULL);
                double expected = (double)conformal_rank(counts[i], CONFORMAL_TWO_SIDED) /
                                  (double)(counts[i] + 1);
                assert_true(expected >= 0.9);
                if (fabs(share - expected) > error)
                    fail_msg("%zu outcomes, stated %.1f times as wide: %.3f and not %.3f",
                             counts[i], wrong[k], share, expected);
            }
}

static void test_coverage_one_sided(void **state) {
    double under = 0.0;
    (void)state;
    for (double wrong = 0.25; wrong < 3.0; wrong *= 4.0) {
        coverage(19, wrong, 0.4, &under);
        assert_true(fabs(under - 0.95) < 3.0 * sqrt(0.0475 / STUDIES));
    }
}

/* ---- how sure a share is ---- */

/* Distribution function of Beta(a, b) by Simpson's rule in t, x = sin(t)^2, which has no pole for
 * a, b >= 1/2: what gsl's inverse is held against. */
static double beta_below(double x, double a, double b) {
    const size_t steps = 20000;
    double top = asin(sqrt(x)), part = 0.0, all = 0.0;
    for (int whole = 0; whole < 2; whole++) {
        double end = whole ? acos(-1.0) / 2.0 : top, width = end / (double)steps, sum = 0.0;
        for (size_t i = 0; i <= steps; i++) {
            double t = width * (double)i;
            double value = pow(sin(t), 2.0 * a - 1.0) * pow(cos(t), 2.0 * b - 1.0);
            sum += value * (i == 0 || i == steps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0);
        }
        *(whole ? &all : &part) = sum * width / 3.0;
    }
    return part / all;
}

static void test_share(void **state) {
    double low, high;
    (void)state;
    assert_true(conformal_share(7, 9, 0.95, &low, &high));
    assert_near(beta_below(low, 7.5, 2.5), 0.025, 1e-6);
    assert_near(beta_below(high, 7.5, 2.5), 0.975, 1e-6);
    assert_true(conformal_share(9, 9, 0.95, &low, &high));
    assert_near(beta_below(low, 9.5, 0.5), 0.025, 1e-6);
    assert_near(high, 1.0, 0.0);
    assert_true(conformal_share(0, 9, 0.95, &low, &high));
    assert_near(low, 0.0, 0.0);
    assert_near(beta_below(high, 0.5, 9.5), 0.975, 1e-6);
    assert_false(conformal_share(0, 0, 0.95, &low, &high));
    assert_false(conformal_share(3, 2, 0.95, &low, &high));
    assert_false(conformal_share(1, 2, 1.0, &low, &high));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_no_score),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_quantile),
        cmocka_unit_test(test_widen),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_coverage_one_sided),
        cmocka_unit_test(test_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
