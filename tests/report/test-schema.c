/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every JSON of report/ against schema/, by Python's jsonschema (exit status 77 where there is
 * none). Documents that break a rule must be refused, so that a schema which accepts everything
 * fails here.
 */
#include "base/fd.h"
#include "base/spawn.h"
#include "build-estimate.h"
#include "build-run.h"
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

#define PYTHON   "/usr/bin/python3"
#define FILE_MAX 64

static char folder[] = "/tmp/probelauf-schema-XXXXXX";
static char *files[FILE_MAX];
static size_t file_count;

static void put(const char *name, json_t *take_json) {
    AUTO_JSON json_t *json = take_json;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_pretty(&text, json);
    assert_true(file_count < FILE_MAX);
    char *path = mem_printf("%s/%s.json", folder, name);
    struct err err = ERR_INIT;
    assert_int_equal(file_write_atomic(path, strbuf_str(&text), text.length, 0600, &err), 0);
    files[file_count++] = path;
}

/* Runs validate.py over the files and forgets them; returns its exit status. */
static int validate(void) {
    const char *fixtures = getenv("PROBELAUF_TEST_FIXTURES");
    assert_non_null(fixtures);
    int length = (int)(strrchr(fixtures, '/') - fixtures);
    AUTO_FREE char *script = mem_printf("%.*s/report/validate.py", length, fixtures);
    AUTO_FREE char *schemas = mem_printf("%.*s/../schema", length, fixtures);
    const char *argv[FILE_MAX + 4] = {PYTHON, script, schemas};
    for (size_t i = 0; i < file_count; i++)
        argv[3 + i] = files[i];
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    struct spawn_result result = {0};
    struct err err = ERR_INIT;
    int rc = spawn_capture(argv, NULL, NULL, INT64_C(120000000000), 1 << 20, &out, &result, &err);
    printf("%s", strbuf_str(&out));
    for (size_t i = 0; i < file_count; i++) {
        (void)unlink(files[i]);
        mem_free_ptr(&files[i]);
    }
    file_count = 0;
    return rc != 0 ? 77 : result.status;
}

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
        put(run_name, report_run_json(run));
        put(compare_name, report_compare_json(ok, run));
        put(explain_name, report_run_explain_json(run));
    }
    struct report_explain text = {0};
    put("explain-text", report_explain_json(&text));
    put("log", report_log_json(build_entries, build_entry_count, build_entries[4].run));
    put("log-none", report_log_json(NULL, 0, NULL));
    for (int kind = 0; kind < BUILD_ESTIMATE_COUNT_; kind++) {
        AUTO_ARENA struct arena *arena = arena_new();
        AUTO_RUN struct run *failed = build_failed();
        struct repeat_estimate estimate =
            build_estimate((enum build_estimate)kind, ok, failed, arena);
        AUTO_FREE char *name = mem_printf("repeat-%d", kind);
        put(name, report_repeat_json(&estimate));
    }
    assert_int_equal(validate(), 0);
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
        put(name, report_run_json(run));
    }
    assert_int_equal(validate(), 0);
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
    put("bad-extra-key", bad);
    bad = json_deep_copy(good);
    json_object_del(bad, "verified");
    put("bad-missing-key", bad);
    bad = json_deep_copy(good);
    json_object_set_new(time_wall(bad), "state", json_string("open")); /* open, and yet a value */
    put("bad-open-with-value", bad);
    bad = json_deep_copy(good);
    json_object_set_new(json_object_get(bad, "time"), "wall", json_real(1.5)); /* a bare number */
    put("bad-bare-number", bad);
    bad = json_deep_copy(good);
    json_object_set_new(json_object_get(bad, "outcome"), "class", json_string("fine"));
    put("bad-class", bad);
    bad = json_deep_copy(good);
    json_object_del(json_object_get(json_object_get(bad, "time"), "phases"), "fix");
    put("bad-phases", bad);
    bad = json_deep_copy(good);
    json_object_set_new(json_object_get(bad, "code"), "diff_zstd_base64", json_string("KLUv"));
    put("bad-diff", bad);
    assert_int_equal(validate(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_what_is_made_of_them),
        cmocka_unit_test(hostile_records),
        cmocka_unit_test(broken_documents_are_refused),
    };
    if (!mkdtemp(folder))
        return 99;
    if (validate() == 77) { /* no Python, or one without jsonschema */
        (void)rmdir(folder);
        return 77;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)rmdir(folder);
    return failed;
}
