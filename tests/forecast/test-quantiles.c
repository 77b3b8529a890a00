/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantiles by selection are those of the sorted values, and another seed moves them as far as
 * their error says. */
#include "base/mem.h"
#include "forecast/predict-parts.h"
#include "forecast/quantiles.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static void check(gsl_rng *random, size_t count, bool coarse) {
    AUTO_FREE double *values = mem_alloc(count * sizeof *values);
    AUTO_FREE double *sorted = mem_alloc(count * sizeof *sorted);
    struct quantiles q;
    for (size_t i = 0; i < count; i++) {
        values[i] = exp(gsl_ran_gaussian(random, 1.0));
        if (coarse)
            values[i] = floor(values[i]);
    }
    memcpy(sorted, values, count * sizeof *sorted);
    predict_sort(sorted, count);
    quantiles_find(values, count, &q);
    assert_true(q.p05.value == predict_quantile(sorted, count, 0.05));
    assert_true(q.p50.value == predict_quantile(sorted, count, 0.50));
    assert_true(q.p95.value == predict_quantile(sorted, count, 0.95));
    assert_true(q.p05.error >= 0.0 && q.p50.error >= 0.0 && q.p95.error >= 0.0);
}

static void test_like_sorted(void **state) {
    gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd1);
    (void)state;
    for (size_t count = 1; count < 300; count++) {
        check(random, count, false);
        check(random, count, true);
    }
    check(random, 20000, false);
    gsl_rng_free(random);
}

static void test_equal(void **state) {
    double values[500];
    struct quantiles q;
    (void)state;
    for (size_t i = 0; i < 500; i++)
        values[i] = 3.0;
    quantiles_find(values, 500, &q);
    assert_true(q.p05.value == 3.0 && q.p95.value == 3.0 && q.p50.error == 0.0);
}

/* 1000 simulations of 2000 draws: the spread of each quantile over them is its error. */
static void test_error_is_true(void **state) {
    gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd1);
    const size_t times = 1000;
    double sums[3] = {0}, squares[3] = {0}, errors[3] = {0};
    (void)state;
    for (size_t t = 0; t < times; t++) {
        double values[2000];
        struct quantiles q;
        for (size_t i = 0; i < 2000; i++)
            values[i] = exp(gsl_ran_gaussian(random, 0.3));
        quantiles_find(values, 2000, &q);
        const struct quantile *all[] = {&q.p05, &q.p50, &q.p95};
        for (size_t i = 0; i < 3; i++) {
            sums[i] += all[i]->value / (double)times;
            squares[i] += all[i]->value * all[i]->value / (double)times;
            errors[i] += all[i]->error / (double)times;
        }
    }
    gsl_rng_free(random);
    for (size_t i = 0; i < 3; i++) {
        double spread = sqrt(squares[i] - sums[i] * sums[i]);
        assert_true(fabs(errors[i] / spread - 1.0) < 0.1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_sorted),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_error_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
