/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may be subtracted and what not (B11), and the list of what differs. */
#include "base/msg.h"
#include "build-run.h"
#include "report/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const json_t *value_named(const json_t *json, const char *name) {
    size_t index;
    json_t *value;
    json_array_foreach (json_object_get(json, "values"), index, value)
        if (strcmp(json_get_text(value, "name", ""), name) == 0)
            return value;
    fail_msg("no value '%s'", name);
    return NULL;
}

static void check(const struct run *a, const struct run *b, const char *name, const char *flag,
                  const char *bound, double expected) {
    AUTO_JSON json_t *json = report_compare_json(a, b);
    const json_t *value = value_named(json, name);
    const json_t *difference = json_object_get(value, "difference");
    assert_string_equal(json_get_text(value, "flag", "none"), flag);
    if (isnan(expected)) {
        assert_string_equal(json_get_text(difference, "state", ""), "open");
        assert_true(json_is_false(json_object_get(value, "comparable")));
        return;
    }
    assert_true(json_is_true(json_object_get(value, "comparable")));
    assert_float_equal(json_get_real(difference, "value", (double)NAN), expected, 1e-9);
    assert_string_equal(json_get_text(difference, "bound", "exact"), bound);
}

static void exact_values_are_subtracted(void **state) {
    (void)state;
    AUTO_RUN struct run *a = build_ok();
    AUTO_RUN struct run *b = build_ok();
    b->wall.value = 250.0;
    check(a, b, "wall", "none", "exact", -2.4);
    check(b, a, "wall", "none", "exact", 2.4);
    check(a, b, "result.tokens_per_s", "none", "exact", 0.0);
}

/* The driver's old call counts its own reserve as used. */
static void two_calls_of_a_driver_are_two_methods(void **state) {
    (void)state;
    AUTO_RUN struct run *a = build_ok();
    AUTO_RUN struct run *b = build_ok();
    a->gpus[0].device_used = quantity_bounded(UNIT_BYTE, 5e9, QUANTITY_AT_LEAST,
                                              "driver, all processes (nvmlDeviceGetMemoryInfo)");
    b->gpus[0].device_used = quantity_bounded(UNIT_BYTE, 4e9, QUANTITY_AT_LEAST,
                                              "driver, all processes (nvmlDeviceGetMemoryInfo_v2)");
    check(a, b, "gpu.device_used", "different-methods", "", (double)NAN);
    a->gpus[0].allocated = quantity_measured(UNIT_BYTE, 3e9, "torch allocator");
    check(a, b, "gpu.allocated", "one-open", "", (double)NAN);
}

static void bounds_stay_bounds(void **state) {
    (void)state;
    AUTO_RUN struct run *a = build_ok();
    AUTO_RUN struct run *b = build_ok();
    b->wall.bound = QUANTITY_AT_LEAST; /* b was cut off: the difference may be larger */
    b->wall.value = 10.0;
    check(a, b, "wall", "none", "at-least", -242.4);
    check(b, a, "wall", "none", "at-most", 242.4);
    a->wall.bound = QUANTITY_AT_LEAST;
    check(a, b, "wall", "both-bounds", "", (double)NAN);
    a->wall.bound = QUANTITY_EXACT;
    b->wall.bound = QUANTITY_AT_MOST;
    check(a, b, "wall", "none", "at-most", -242.4);
}

static void different_methods_are_flagged(void **state) {
    (void)state;
    AUTO_RUN struct run *a = build_ok();
    AUTO_RUN struct run *b = build_ok();
    b->largest_process_rss.method = "/proc/PID/status VmHWM, sampled";
    check(a, b, "memory.largest_process_rss", "different-methods", "", (double)NAN);
    b->results[0].quantity.unit = "request/s";
    check(a, b, "result.tokens_per_s", "different-units", "", (double)NAN);
    b->cpu.state = QUANTITY_ESTIMATED;
    check(a, b, "cpu", "different-states", "exact", 0.0);
    AUTO_JSON json_t *json = report_compare_json(a, b);
    const json_t *difference = json_object_get(value_named(json, "cpu"), "difference");
    assert_string_equal(json_get_text(difference, "state", ""), "estimated"); /* the weaker one */
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_compare_text(a, b, (struct report_style){.width = 120}, &text);
    assert_non_null(strstr(strbuf_str(&text), "different methods"));
    assert_non_null(strstr(strbuf_str(&text), "different states"));
}

static void people_read_it_in_their_language(void **state) {
    (void)state;
    AUTO_RUN struct run *a = build_ok();
    AUTO_RUN struct run *b = build_ok();
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    a->wall.value = 250.0;
    b->wall.value = 249.0;
    b->outcome = OUTCOME_GPU_OOM;
    msg_set_language("de");
    report_compare_text(a, b, (struct report_style){.width = 120}, &text);
    msg_set_language("en");
    assert_non_null(strstr(strbuf_str(&text), "(-0,4 %)"));
    assert_non_null(strstr(strbuf_str(&text), "GPU-Speicher erschöpft"));
}

static void open_is_not_zero(void **state) {
    (void)state;
    AUTO_RUN struct run *a = build_ok();
    AUTO_RUN struct run *b = build_running();
    check(a, b, "wall", "one-open", "", (double)NAN);
    check(b, b, "wall", "none", "", (double)NAN);
}

static const json_t *difference_named(const json_t *json, const char *what) {
    size_t index;
    json_t *difference;
    json_array_foreach (json_object_get(json, "differences"), index, difference)
        if (strcmp(json_get_text(difference, "what", ""), what) == 0)
            return difference;
    return NULL;
}

static void what_differs_is_listed(void **state) {
    (void)state;
    AUTO_RUN struct run *a = build_ok();
    AUTO_RUN struct run *b = build_ok();
    AUTO_JSON json_t *same = report_compare_json(a, b);
    assert_int_equal(json_array_size(json_object_get(same, "differences")), 0);
    json_object_set_new(b->start, "condition", build_json("{\"cache\":\"half\",\"seed\":\"1\"}"));
    json_object_set_new(b->start, "command", build_json("[\"python3\",\"other.py\"]"));
    json_object_set_new(b->environment, "packages",
                        build_json("[{\"name\":\"numpy\",\"version\":\"1.24\"},"
                                   "{\"name\":\"torch\",\"version\":\"2.0\"}]"));
    json_object_set_new(json_object_get(b->environment, "code"), "commit", json_string("ff"));
    AUTO_JSON json_t *json = report_compare_json(a, b);
    const json_t *cache = difference_named(json, "condition.cache");
    assert_string_equal(json_get_text(cache, "a", ""), "full");
    assert_string_equal(json_get_text(cache, "b", ""), "half");
    assert_true(json_is_null(json_object_get(difference_named(json, "condition.seed"), "a")));
    assert_non_null(difference_named(json, "command"));
    assert_non_null(difference_named(json, "code.commit"));
    assert_string_equal(json_get_text(difference_named(json, "package.torch"), "b", ""), "2.0");
    assert_non_null(difference_named(json, "package.numpy"));
    assert_null(difference_named(json, "code.digest"));
    assert_null(difference_named(json, "cwd"));
}

static void the_order_of_packages_does_not_matter(void **state) {
    (void)state;
    AUTO_RUN struct run *a = build_ok();
    AUTO_RUN struct run *b = build_ok();
    json_object_set_new(a->environment, "packages",
                        build_json("[{\"name\":\"x\",\"version\":\"1\"},"
                                   "{\"name\":\"y\",\"version\":\"2\"}]"));
    json_object_set_new(b->environment, "packages",
                        build_json("[{\"name\":\"y\",\"version\":\"2\"},"
                                   "{\"name\":\"x\",\"version\":\"1\"}]"));
    AUTO_JSON json_t *json = report_compare_json(a, b);
    assert_int_equal(json_array_size(json_object_get(json, "differences")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_values_are_subtracted),
        cmocka_unit_test(two_calls_of_a_driver_are_two_methods),
        cmocka_unit_test(bounds_stay_bounds),
        cmocka_unit_test(different_methods_are_flagged),
        cmocka_unit_test(people_read_it_in_their_language),
        cmocka_unit_test(open_is_not_zero),
        cmocka_unit_test(what_differs_is_listed),
        cmocka_unit_test(the_order_of_packages_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
