/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forecast: bad input, known limits, same seed same numbers, order, width, and the sum of many
 * runs against the exact one. */
#include "base/mem.h"
#include "forecast/predict.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const double three[] = {100.0, 104.0, 97.0};

static struct predict_total predict(const double *values, size_t count, uint64_t repeats,
                                    uint64_t seed) {
    struct predict_total total;
    assert_int_equal(predict_total(values, count, repeats, seed, PREDICT_DRAWS, &total), 0);
    assert_true(isfinite(total.p05) && isfinite(total.p95));
    assert_true(0.0 < total.p05 && total.p05 <= total.p50 && total.p50 <= total.p95);
    return total;
}

static void test_bad_input(void **state) {
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    struct predict_total total;
    (void)state;
    assert_int_equal(predict_total(three, 1, 1, 1, PREDICT_DRAWS, &total), -EINVAL);
    assert_int_equal(predict_total(three, 0, 1, 1, PREDICT_DRAWS, &total), -EINVAL);
    assert_int_equal(predict_total(three, 3, 0, 1, PREDICT_DRAWS, &total), -EINVAL);
    assert_int_equal(predict_total(three, 3, 1, 1, 10, &total), -EINVAL);
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        const double values[] = {100.0, bad[i], 101.0};
        assert_int_equal(predict_total(values, 3, 1, 1, PREDICT_DRAWS, &total), -EINVAL);
        assert_true(isnan(total.p05) && isnan(total.p50) && isnan(total.p95));
    }
}

static void test_deterministic(void **state) {
    (void)state;
    for (uint64_t repeats = 1; repeats < 100000; repeats *= 7) {
        struct predict_total a = predict(three, 3, repeats, 42);
        struct predict_total b = predict(three, 3, repeats, 42);
        struct predict_total c = predict(three, 3, repeats, 43);
        struct predict_total d = predict(three, 3, repeats, UINT64_C(42) << 32);
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(a.p95 != c.p95 && c.p95 != d.p95);
        assert_true(fabs(a.p95 / c.p95 - 1.0) < 0.02); /* another seed, nearly the same answer */
    }
}

/* The numbers themselves, so that a change of the method or of a library does not go unnoticed. */
static void test_frozen(void **state) {
    (void)state;
    struct predict_total total = predict(three, 3, 24, PREDICT_SEED);
    const struct predict_total frozen = {2275.5690678558558, 2409.9787671338272,
                                         2583.4268992608077};
    assert_true(fabs(total.p05 / frozen.p05 - 1.0) < 1e-9);
    assert_true(fabs(total.p50 / frozen.p50 - 1.0) < 1e-9);
    assert_true(fabs(total.p95 / frozen.p95 - 1.0) < 1e-9);
}

/* One further run: the interval is Student's t on the log scale, known in closed form. */
static void test_one_run_is_students_t(void **state) {
    const double values[] = {90.0, 100.0, 111.0};
    double logs[3];
    double mean = 0.0;
    double squares = 0.0;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        logs[i] = log(values[i]);
        mean += logs[i] / 3.0;
    }
    for (size_t i = 0; i < 3; i++)
        squares += (logs[i] - mean) * (logs[i] - mean);
    double scale = sqrt(squares / 2.0) * sqrt(1.0 + 1.0 / 3.0);
    double t95 = 2.91998558; /* 2 degrees of freedom */
    struct predict_total total;
    assert_int_equal(predict_total(values, 3, 1, 5, 400000, &total), 0);
    assert_true(fabs(log(total.p95) - (mean + t95 * scale)) < 0.01 * t95 * scale);
    assert_true(fabs(log(total.p05) - (mean - t95 * scale)) < 0.01 * t95 * scale);
    assert_true(fabs(log(total.p50) - mean) < 0.01 * scale);
}

static void test_order(void **state) {
    const double wider[] = {100.0, 108.0, 94.0};
    const double more[] = {100.0, 104.0, 97.0, 100.0, 104.0, 97.0};
    (void)state;
    struct predict_total one = predict(three, 3, 1, 1);
    struct predict_total ten = predict(three, 3, 10, 1);
    struct predict_total wide = predict(wider, 3, 10, 1);
    struct predict_total sure = predict(more, 6, 10, 1);
    assert_true(fabs(ten.p50 / one.p50 - 10.0) < 0.1);
    assert_true(ten.p95 / ten.p05 < one.p95 / one.p05);   /* many runs even out */
    assert_true(wide.p95 / wide.p05 > ten.p95 / ten.p05); /* a wider spread widens */
    assert_true(sure.p95 / sure.p05 < ten.p95 / ten.p05); /* more runs narrow */
    double before = 0.0;
    for (uint64_t repeats = 1; repeats <= 1000000; repeats *= 2) {
        struct predict_total total = predict(three, 3, repeats, 1);
        assert_true(total.p50 > before);
        before = total.p50;
        /* what the runs share does not even out, however many there are */
        assert_true(log(total.p95 / total.p50) > 0.05);
    }
    /* a scale is a scale */
    const double hours[] = {360000.0, 374400.0, 349200.0};
    struct predict_total scaled = predict(hours, 3, 10, 1);
    assert_true(fabs(scaled.p95 / (3600.0 * ten.p95) - 1.0) < 1e-9);
}

/* At the border to the sum of many runs nothing jumps, whatever the spread. */
static void test_border(void **state) {
    static const double sets[][3] = {{100, 105, 95}, {100, 120, 85}, {100, 150, 70}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(sets); i++) {
        struct predict_total low;
        struct predict_total high;
        assert_int_equal(predict_total(sets[i], 3, PREDICT_EXACT_REPEATS, 3, 100000, &low), 0);
        assert_int_equal(predict_total(sets[i], 3, PREDICT_EXACT_REPEATS + 1, 3, 100000, &high), 0);
        double runs = (double)(PREDICT_EXACT_REPEATS + 1) / PREDICT_EXACT_REPEATS;
        assert_true(fabs(high.p50 / (low.p50 * runs) - 1.0) < 0.01);
        assert_true(fabs(log(high.p95 / high.p50) / log(low.p95 / low.p50) - 1.0) < 0.03);
        assert_true(fabs(log(high.p05 / high.p50) / log(low.p05 / low.p50) - 1.0) < 0.03);
    }
}

static void test_too_few(void **state) {
    const double apart[] = {10.0, 300.0};
    const double extreme[] = {1e-300, 1e300};
    const double huge[] = {1e308, 1.1e308};
    struct predict_total total;
    (void)state;
    for (uint64_t repeats = 1; repeats <= 100000; repeats *= 100) {
        assert_int_equal(predict_total(apart, 2, repeats, 1, PREDICT_DRAWS, &total), -ERANGE);
        assert_true(isnan(total.p05) && isnan(total.p95) && total.p50 > 0.0);
        assert_int_equal(predict_total(extreme, 2, repeats, 1, PREDICT_DRAWS, &total), -ERANGE);
    }
    assert_int_equal(predict_total(huge, 2, 100, 1, PREDICT_DRAWS, &total), -ERANGE);
}

static void test_equal_readings(void **state) {
    const double seconds[] = {10.0, 10.0, 10.0};
    const double centiseconds[] = {10.01, 10.01, 10.01};
    const double fine[] = {10.012345, 10.012345, 10.012345};
    (void)state;
    assert_true(predict_resolution_s(seconds, 3) == 1.0);
    assert_true(predict_resolution_s(centiseconds, 3) == 0.01);
    assert_true(predict_resolution_s(fine, 3) == 0.001);
    assert_true(predict_resolution_s((const double[]){0.3, 1.2}, 2) == 0.1);
    assert_true(predict_resolution_s((const double[]){0.0001, 0.0002}, 2) == 0.001);
    assert_true(predict_resolution_s(NULL, 0) == 0.001);
    struct predict_total coarse = predict(seconds, 3, 1, 1);
    struct predict_total middle = predict(centiseconds, 3, 1, 1);
    struct predict_total narrow = predict(fine, 3, 1, 1);
    assert_true(coarse.p95 - coarse.p05 >= 1.0); /* at least one step of the clock */
    assert_true(middle.p95 - middle.p05 >= 0.01 && middle.p95 - middle.p05 < 1.0);
    assert_true(narrow.p95 - narrow.p05 >= 0.001 && narrow.p95 - narrow.p05 < 0.01);
}

/* A step of the clock is never larger than what was read with it: the sum of a few runs shorter
 * than a millisecond is a few times one of them. */
static void test_short(void **state) {
    const double lengths[] = {1e-9, 1e-5, 5e-5, 3e-4, 9e-4};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
        double values[] = {lengths[i], 1.04 * lengths[i], 1.08 * lengths[i]};
        struct predict_total total = predict(values, 3, 3, 1);
        assert_true(total.p50 > 2.8 * lengths[i] && total.p50 < 4.2 * lengths[i]);
        assert_true(total.p05 > 0.5 * lengths[i] && total.p95 < 42.0 * lengths[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_input), cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_frozen),    cmocka_unit_test(test_one_run_is_students_t),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_border),
        cmocka_unit_test(test_too_few),   cmocka_unit_test(test_equal_readings),
        cmocka_unit_test(test_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
