/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf.run/1: its keys, what is open, what is never printed, records of the wrong types. */
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

static struct run *(*const builders[])(void) = {
    build_empty, build_ok, build_plain, build_failed, build_lost, build_running, build_wide};

/* Number of quantity objects below json that hold a number anywhere but in "n" of a known one. */
static size_t numbers_in_quantities(const json_t *json) {
    size_t found = 0, index;
    const char *key;
    json_t *value;
    if (json_is_object(json)) {
        bool quantity = json_object_get(json, "state") && json_object_get(json, "unit");
        json_object_foreach ((json_t *)(uintptr_t)json, key, value)
            found += quantity && json_is_number(value) ? 1 : numbers_in_quantities(value);
    }
    json_array_foreach (json, index, value)
        found += numbers_in_quantities(value);
    return found;
}

static size_t count_quantities(const json_t *json) {
    size_t found = 0, index;
    const char *key;
    json_t *value;
    if (json_is_object(json)) {
        found += json_object_get(json, "state") && json_object_get(json, "unit");
        json_object_foreach ((json_t *)(uintptr_t)json, key, value)
            found += count_quantities(value);
    }
    json_array_foreach (json, index, value)
        found += count_quantities(value);
    return found;
}

static void nothing_read_means_no_number(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_empty();
    AUTO_JSON json_t *json = report_run_json(run);
    assert_true(count_quantities(json) > 30);
    assert_int_equal(numbers_in_quantities(json), 0);
    /* the same walk finds numbers where there are some: it is not blind */
    AUTO_RUN struct run *other = build_ok();
    AUTO_JSON json_t *full = report_run_json(other);
    assert_true(numbers_in_quantities(full) > 20);
}

static void open_quantities_have_a_reason(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_running();
    AUTO_JSON json_t *json = report_run_json(run);
    json_t *wall = json_object_get(json_object_get(json, "time"), "wall");
    assert_string_equal(json_get_text(wall, "state", ""), "open");
    assert_string_equal(json_get_text(wall, "reason", ""), "running");
    assert_true(json_is_null(json_object_get(wall, "value")));
    json_t *suspended = json_object_get(json_object_get(json, "clock"), "suspended");
    assert_string_equal(json_get_text(suspended, "reason", ""), "running");
    json_t *outcome = json_object_get(json, "outcome");
    assert_true(json_is_null(json_object_get(outcome, "exit_code")));
    assert_true(json_is_null(json_object_get(outcome, "signal")));
    assert_true(json_is_null(json_object_get(json, "ended_utc")));
    json_t *gpu = json_array_get(json_object_get(json, "gpus"), 0);
    assert_true(json_is_null(json_object_get(gpu, "index")));
    assert_true(json_is_null(json_object_get(gpu, "preallocated")));
}

static void keys_are_the_design(void **state) {
    (void)state;
    static const char *const keys[] = {
        "schema",       "run",     "part",        "study",       "environment_id", "block",
        "condition",    "step",    "purpose",     "attempt",     "retry_of",       "command",
        "note",         "changes", "disposition", "started_utc", "ended_utc",      "session",
        "launch",       "clock",   "streams",     "outcome",     "validity",       "verified",
        "expectations", "time",    "host",        "gpus",        "input",          "output",
        "work",         "results", "code",        "environment", "cache",          "monitor"};
    for (size_t i = 0; i < ARRAY_LENGTH(builders); i++) {
        AUTO_RUN struct run *run = builders[i]();
        AUTO_JSON json_t *json = report_run_json(run);
        assert_int_equal(json_object_size(json), ARRAY_LENGTH(keys));
        for (size_t k = 0; k < ARRAY_LENGTH(keys); k++)
            assert_non_null(json_object_get(json, keys[k]));
    }
}

static double value_at(const json_t *json, const char *a, const char *b, const char *c) {
    const json_t *q = json_object_get(json_object_get(json, a), b);
    return json_get_real(c ? json_object_get(q, c) : q, "value", (double)NAN);
}

static void figures_arrive(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_ok();
    AUTO_JSON json_t *json = report_run_json(run);
    assert_float_equal(value_at(json, "time", "wall", NULL), 252.4, 1e-9);
    json_t *phases = json_object_get(json_object_get(json, "time"), "phases");
    double sum = 0;
    const char *key;
    json_t *phase;
    json_object_foreach (phases, key, phase)
        sum += json_get_real(phase, "value", (double)NAN);
    assert_int_equal(json_object_size(phases), PHASE_COUNT_);
    assert_float_equal(sum, 252.4, 1e-9);
    assert_float_equal(value_at(json, "host", "memory", "largest_process_rss"), 1460288880, 0.1);
    json_t *pss =
        json_object_get(json_object_get(json_object_get(json, "host"), "memory"), "tree_pss");
    assert_string_equal(json_get_text(pss, "bound", ""), "at-least");
    assert_float_equal(value_at(json, "host", "limits", "memory"), 8589934592.0, 0.1);
    assert_true(isnan(value_at(json, "host", "limits", "swap")));
    assert_float_equal(value_at(json, "host", "totals", "cpu"), 4, 0.1);
    assert_float_equal(value_at(json, "host", "limits", "shm"), 67108864, 0.1);
    json_t *limits = json_object_get(json_object_get(json, "host"), "limits");
    assert_null(json_object_get(limits, "comment"));
    assert_string_equal(json_get_text(json_object_get(limits, "pids"), "reason", ""),
                        "not-applicable");
    assert_float_equal(value_at(json, "clock", "suspended", NULL), 0, 1e-12);
    assert_float_equal(value_at(json, "results", "tokens_per_s", NULL), 812.5, 1e-9);
    assert_int_equal(json_get_int(json_object_get(json, "outcome"), "exit_code", -1), 0);
    json_t *interval =
        json_object_get(json_object_get(json_object_get(json, "monitor"), "intervals"), "tree.pss");
    assert_float_equal(json_get_real(interval, "value", 0), 1.0, 1e-9);
}

static void files_and_identity(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_ok();
    AUTO_JSON json_t *json = report_run_json(run);
    json_t *weights = json_array_get(json_object_get(json, "input"), 0);
    assert_string_equal(json_get_text(weights, "identity", ""),
                        "mtime:1790000000000000000,inode:77");
    assert_int_equal(json_get_int(json_object_get(weights, "bytes"), "value", 0), 3491712);
    json_t *missing = json_object_get(json_array_get(json_object_get(json, "input"), 1), "bytes");
    assert_string_equal(json_get_text(missing, "state", ""), "open");
    assert_string_equal(json_get_text(missing, "reason", ""), "failed");
    json_t *out = json_array_get(json_object_get(json, "output"), 0);
    assert_int_equal(json_get_int(json_object_get(out, "bytes"), "value", 0), 20480);
}

static void suspended_time_is_the_difference_of_two_clocks(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_failed(); /* 72.3 s by boot time, 12.3 s by monotonic time */
    AUTO_JSON json_t *json = report_run_json(run);
    assert_float_equal(value_at(json, "clock", "suspended", NULL), 60.0, 1e-9);
    assert_float_equal(value_at(json, "time", "stopped", NULL), 4.0, 1e-9);
}

static void clocks_that_contradict_each_other_are_open(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        build_ok(); /* by boot time the run took less than by the other clock */
    json_object_set_new(run->end, "end_boottime_ns", json_integer(2000000000));
    AUTO_JSON json_t *json = report_run_json(run);
    json_t *suspended = json_object_get(json_object_get(json, "clock"), "suspended");
    assert_string_equal(json_get_text(suspended, "state", ""), "open");
    assert_string_equal(json_get_text(suspended, "reason", ""), "failed");
}

static void bytes_of_an_inherited_stream_are_not_visible(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_plain();
    json_t *streams = json_object_get(run->start, "streams");
    json_object_set_new(json_object_get(streams, "stdout"), "tee", json_string("inherited"));
    AUTO_JSON json_t *json = report_run_json(run);
    json_t *shown = json_object_get(json_object_get(json, "streams"), "stdout");
    json_t *bytes = json_object_get(shown, "bytes");
    assert_string_equal(json_get_text(bytes, "reason", ""), "not-visible");
    json_t *other = json_object_get(json_object_get(json, "streams"), "stderr");
    assert_string_equal(json_get_text(json_object_get(other, "bytes"), "reason", ""),
                        "not-in-record");
}

static void attempts_begin_at_one(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_plain();
    json_object_set_new(run->start, "attempt", json_integer(0));
    AUTO_JSON json_t *json = report_run_json(run);
    assert_true(json_is_null(json_object_get(json, "attempt")));
    json_object_set_new(run->start, "attempt", json_integer(2));
    AUTO_JSON json_t *again = report_run_json(run);
    assert_int_equal(json_get_int(again, "attempt", 0), 2);
}

/* "…figures" stand beside the name, and never instead of it. */
static void figures_of_an_incident_replace_nothing(void **state) {
    (void)state;
    AUTO_JSON json_t *figures = build_json("{\"name\":\"liar\",\"line\":7,\"free_bytes\":4096}");
    struct report_explain_item item = {
        .name = "disk_full", .text = "x", .line_number = 3, .figures = figures};
    struct report_explain explain = {.items = &item, .count = 1};
    AUTO_JSON json_t *json = report_explain_json(&explain);
    json_t *shown = json_array_get(json_object_get(json, "incidents"), 0);
    assert_string_equal(json_get_text(shown, "name", ""), "disk_full");
    assert_int_equal(json_get_int(shown, "line", 0), 3);
    assert_int_equal(json_get_int(shown, "free_bytes", 0), 4096);
    assert_int_equal(json_object_size(figures), 3); /* the record itself is untouched */
}

static void the_diff_is_never_printed(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_ok();
    AUTO_JSON json_t *json = report_run_json(run);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, json);
    assert_null(strstr(strbuf_str(&text), "SECRETDIFF"));
    assert_null(strstr(strbuf_str(&text), "zstd"));
    assert_non_null(strstr(strbuf_str(&text), "bb22"));
}

static void wrong_types_become_null(void **state) {
    (void)state;
    static const char *const nonsense[] = {
        "7", "\"x\"", "[]", "{}", "[[1]]", "{\"a\":{\"b\":1}}", "true", "null", "-1.5"};
    AUTO_RUN struct run *model = build_ok();
    for (size_t i = 0; i < ARRAY_LENGTH(nonsense); i++) {
        AUTO_RUN struct run *run = build_ok();
        json_t *records[] = {run->start, run->environment, run->end};
        json_t *keys[] = {model->start, model->environment, model->end};
        for (size_t r = 0; r < ARRAY_LENGTH(records); r++) {
            const char *key;
            json_t *value;
            json_object_foreach (keys[r], key, value)
                json_object_set_new(records[r], key, build_json(nonsense[i]));
        }
        AUTO_JSON json_t *json = report_run_json(run);
        json_t *purpose = json_object_get(json, "purpose");
        assert_true(json_is_null(purpose));
        json_t *attempt = json_object_get(json, "attempt");
        assert_true(json_is_null(attempt) || json_integer_value(attempt) >= 1);
        assert_true(json_is_array(json_object_get(json, "command")));
        assert_true(json_is_object(json_object_get(json, "condition")));
        /* and no renderer stumbles over it */
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        report_run_text(run, (struct report_style){.verbose = true}, &text);
        report_run_summary(run, (struct report_style){0}, &text);
        report_run_csv((const struct run *const[]){run}, 1, &text);
        report_compare_text(run, model, (struct report_style){.verbose = true}, &text);
        report_run_explain_text(run, (struct report_style){0}, &text);
        AUTO_JSON json_t *compared = report_compare_json(run, model);
        assert_non_null(compared);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_read_means_no_number),
        cmocka_unit_test(open_quantities_have_a_reason),
        cmocka_unit_test(keys_are_the_design),
        cmocka_unit_test(figures_arrive),
        cmocka_unit_test(files_and_identity),
        cmocka_unit_test(suspended_time_is_the_difference_of_two_clocks),
        cmocka_unit_test(clocks_that_contradict_each_other_are_open),
        cmocka_unit_test(bytes_of_an_inherited_stream_are_not_visible),
        cmocka_unit_test(attempts_begin_at_one),
        cmocka_unit_test(figures_of_an_incident_replace_nothing),
        cmocka_unit_test(the_diff_is_never_printed),
        cmocka_unit_test(wrong_types_become_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
