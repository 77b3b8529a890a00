/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well a total is known, in words and as JSON. */
#include "report/precision.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;
static struct estimate estimate;
static const struct plan_block block = {.id = "grid"};

static int setup(void **state) {
    (void)state;
    arena = arena_new();
    estimate = (struct estimate){.seed = 7};
    estimate.total.computing = (struct quantity){.state = QUANTITY_ESTIMATED,
                                                 .value = 100.0,
                                                 .has_interval = true,
                                                 .p05 = 80.0,
                                                 .p95 = 200.0};
    estimate.total.reserved = estimate.total.computing;
    estimate.total.reserved.p05 = 50.0;
    estimate.total_errors.computing = (struct estimate_error){true, 0.2, 0.1, 1.0};
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena = arena_free(arena);
    return 0;
}

static void test_ends(void **state) {
    (void)state;
    assert_string_equal(report_precision_words(&estimate, true, arena),
                        "the ends of the interval are known to +-1 %"); /* two of 1.0 in 200 */
    estimate.total_errors.reserved = (struct estimate_error){true, 1.0, 0.1, 1.0};
    assert_string_equal(report_precision_words(&estimate, false, arena),
                        "the ends of the interval are known to ±4 %"); /* of 50, reserved */
    estimate.total_errors = (struct estimate_errors){0};
    assert_null(report_precision_words(&estimate, false, arena));
}

static void test_lines(void **state) {
    const char *const *lines;
    (void)state;
    assert_int_equal(report_precision_lines(&estimate, true, arena, &lines), 1);
    assert_string_equal(lines[0],
                        "computing: by simulation the lower end is known to +-0.5 %, the median to "
                        "+-0.2 %, the upper end to +-1 %");
}

static void test_dominating(void **state) {
    (void)state;
    assert_null(report_dominating_words(&estimate, arena));
    estimate.dominating = (struct estimate_dominating){"a=1", &block, COMPONENT_RUNS, 0.704};
    assert_string_equal(report_dominating_words(&estimate, arena),
                        "'a=1' (block grid) makes up 70 % of the uncertainty of the total");
    estimate.dominating.component = COMPONENT_RETRIES;
    assert_string_equal(
        report_dominating_words(&estimate, arena),
        "failed attempts of 'a=1' (block grid) make up 70 % of the uncertainty of the total");
    estimate.dominating.component = COMPONENT_IDLE;
    assert_string_equal(report_dominating_words(&estimate, arena),
                        "idle time of block grid makes up 70 % of the uncertainty of the total");
}

static void test_json(void **state) {
    (void)state;
    AUTO_JSON json_t *errors = report_precision_json(&estimate);
    AUTO_JSON json_t *none = report_dominating_json(&estimate);
    assert_true(json_is_null(json_object_get(errors, "effort")));
    const json_t *computing = json_object_get(errors, "computing");
    assert_true(json_real_value(json_object_get(computing, "p95")) == 1.0);
    assert_true(json_is_null(none));
    estimate.dominating = (struct estimate_dominating){"a=1", &block, COMPONENT_RETRIES, 0.7};
    AUTO_JSON json_t *json = report_dominating_json(&estimate);
    assert_string_equal(json_get_text(json, "component", ""), "retries");
    assert_string_equal(json_get_text(json, "item", ""), "a=1");
    assert_string_equal(json_get_text(json, "block", ""), "grid");
    assert_true(json_real_value(json_object_get(json, "share")) == 0.7);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_ends),
        TEST(test_lines),
        TEST(test_dominating),
        TEST(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
