/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every JSON of report/ against schema/, by Python's jsonschema (exit status 77 where there is
 * none). Documents that break a rule must be refused, so that a schema which accepts everything
 * fails here.
 */
#include "build-estimate.h"
#include "build-run.h"
#include "checks.h"
#include "forecast/predict.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct run *(*build_fn)(void);
static const build_fn builders[] = {build_empty, build_ok,      build_plain, build_failed,
                                    build_lost,  build_running, build_wide};

static void runs_and_what_is_made_of_them(void **state) {
    (void)state;
    AUTO_RUN struct run *ok = build_ok();
    for (size_t i = 0; i < ARRAY_LENGTH(builders); i++) {
        AUTO_RUN struct run *run = builders[i]();
        AUTO_FREE char *run_name = mem_printf("run-%zu", i);
        AUTO_FREE char *compare_name = mem_printf("compare-%zu", i);
        AUTO_FREE char *explain_name = mem_printf("explain-%zu", i);
        schema_put(run_name, report_run_json(run));
        schema_put(compare_name, report_compare_json(ok, run));
        schema_put(explain_name, report_run_explain_json(run));
    }
    struct report_explain text = {0};
    schema_put("explain-text", report_explain_json(&text));
    schema_put("log", report_log_json(build_entries, build_entry_count, build_entries[4].run));
    schema_put("log-none", report_log_json(NULL, 0, NULL));
    for (int kind = 0; kind < BUILD_ESTIMATE_COUNT_; kind++) {
        AUTO_ARENA struct arena *arena = arena_new();
        AUTO_RUN struct run *failed = build_failed();
        struct repeat_estimate estimate =
            build_estimate((enum build_estimate)kind, ok, failed, arena);
        AUTO_FREE char *name = mem_printf("repeat-%d", kind);
        schema_put(name, report_repeat_json(&estimate));
    }
    assert_int_equal(schema_check(), 0);
}

/* What rules/ really makes of runs, not only what was built by hand. */
static void a_real_estimate(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUN struct run *a = build_ok();
    AUTO_RUN struct run *b = build_ok();
    AUTO_RUN struct run *c = build_failed();
    b->id = "019d0c5a-7e3b-7a41-9c2e-1f6000000b0b";
    b->wall.value = 260.0;
    const struct run *runs[] = {a, b, c};
    for (size_t count = 0; count <= ARRAY_LENGTH(runs); count++) {
        struct repeat_estimate estimate;
        repeat_estimate(runs, count, 24, PREDICT_SEED, arena, &estimate);
        AUTO_FREE char *name = mem_printf("real-%zu", count);
        schema_put(name, report_repeat_json(&estimate));
        AUTO_STRBUF struct strbuf page = STRBUF_INIT;
        report_repeat_text(&estimate, (struct report_style){.width = 80}, &page);
        assert_non_null(strstr(strbuf_str(&page), "24 further runs"));
        assert_non_null(strstr(strbuf_str(&page), "No amount yet"));
    }
    assert_int_equal(schema_check(), 0);
}

/* Records whose keys hold other types than the format says. */
static void hostile_records(void **state) {
    (void)state;
    static const char *const nonsense[] = {
        "7",    "\"x\"", "[]", "{}", "[[1],\"y\",{\"path\":5}]", "{\"a\":{\"b\":1},\"stdin\":3}",
        "true", "null"};
    AUTO_RUN struct run *model = build_ok();
    for (size_t i = 0; i < ARRAY_LENGTH(nonsense); i++) {
        AUTO_RUN struct run *run = build_ok();
        json_t *records[] = {run->start, run->environment, run->end};
        json_t *const keys[] = {model->start, model->environment, model->end};
        for (size_t r = 0; r < ARRAY_LENGTH(records); r++) {
            const char *key;
            json_t *value;
            json_object_foreach (keys[r], key, value)
                json_object_set_new(records[r], key, build_json(nonsense[i]));
        }
        AUTO_FREE char *name = mem_printf("hostile-%zu", i);
        schema_put(name, report_run_json(run));
    }
    assert_int_equal(schema_check(), 0);
}

static json_t *time_wall(json_t *json) {
    return json_object_get(json_object_get(json, "time"), "wall");
}

static void broken_documents_are_refused(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_ok();
    AUTO_JSON json_t *good = report_run_json(run);
    json_t *bad = json_deep_copy(good);
    json_object_set_new(bad, "surprise", json_integer(1));
    schema_put("bad-extra-key", bad);
    bad = json_deep_copy(good);
    json_object_del(bad, "verified");
    schema_put("bad-missing-key", bad);
    bad = json_deep_copy(good);
    json_object_set_new(time_wall(bad), "state", json_string("open")); /* open, and yet a value */
    schema_put("bad-open-with-value", bad);
    bad = json_deep_copy(good);
    json_object_set_new(json_object_get(bad, "time"), "wall", json_real(1.5)); /* a bare number */
    schema_put("bad-bare-number", bad);
    bad = json_deep_copy(good);
    json_object_set_new(json_object_get(bad, "outcome"), "class", json_string("fine"));
    schema_put("bad-class", bad);
    bad = json_deep_copy(good);
    json_object_del(json_object_get(json_object_get(bad, "time"), "phases"), "fix");
    schema_put("bad-phases", bad);
    bad = json_deep_copy(good);
    json_object_set_new(json_object_get(bad, "code"), "diff_zstd_base64", json_string("KLUv"));
    schema_put("bad-diff", bad);
    assert_int_equal(schema_check(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_what_is_made_of_them),
        cmocka_unit_test(a_real_estimate),
        cmocka_unit_test(hostile_records),
        cmocka_unit_test(broken_documents_are_refused),
    };
    if (!schema_can_check()) /* no Python, or one without jsonschema */
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
