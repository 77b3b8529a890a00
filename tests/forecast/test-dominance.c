/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of the variance of a sum: they add up, and far outliers do not decide them. */
#include "forecast/dominance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#define DRAWS DOMINANCE_DRAWS

static float parts[3][DRAWS];
static double sum[DRAWS];

/* Two independent parts of deviation 3 and 4, and one that does not vary. */
static void draw(double outlier) {
    gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd1);
    for (size_t i = 0; i < DRAWS; i++) {
        parts[0][i] = (float)(1000.0 + gsl_ran_gaussian(random, 3.0));
        parts[1][i] = (float)(2000.0 + gsl_ran_gaussian(random, 4.0));
        parts[2][i] = 5000.0f;
    }
    gsl_rng_free(random);
    parts[0][7] += (float)outlier;
    for (size_t i = 0; i < DRAWS; i++)
        sum[i] = (double)parts[0][i] + (double)parts[1][i] + (double)parts[2][i];
}

static void test_shares(void **state) {
    (void)state;
    draw(0.0);
    double a = dominance_share(parts[0], sum, DRAWS, -INFINITY, INFINITY);
    double b = dominance_share(parts[1], sum, DRAWS, -INFINITY, INFINITY);
    double c = dominance_share(parts[2], sum, DRAWS, -INFINITY, INFINITY);
    assert_true(fabs(a - 9.0 / 25.0) < 0.03 && fabs(b - 16.0 / 25.0) < 0.03);
    assert_true(c == 0.0 && fabs(a + b + c - 1.0) < 1e-4);
    double within = dominance_share(parts[1], sum, DRAWS, 7992.0, 8008.0);
    assert_true(fabs(within - 16.0 / 25.0) < 0.04); /* the same within the interval */
}

static void test_outlier(void **state) {
    (void)state;
    draw(1e5);
    assert_true(dominance_share(parts[0], sum, DRAWS, -INFINITY, INFINITY) > 0.99);
    assert_true(dominance_share(parts[0], sum, DRAWS, 7992.0, 8008.0) < 0.41);
}

static void test_nothing_varies(void **state) {
    (void)state;
    draw(0.0);
    assert_true(isnan(dominance_share(parts[0], sum, DRAWS, 1.0, 2.0)));
    assert_true(isnan(dominance_share(parts[0], sum, 0, -INFINITY, INFINITY)));
    for (size_t i = 0; i < DRAWS; i++)
        sum[i] = 3.0;
    assert_true(isnan(dominance_share(parts[0], sum, DRAWS, -INFINITY, INFINITY)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_outlier),
        cmocka_unit_test(test_nothing_varies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
