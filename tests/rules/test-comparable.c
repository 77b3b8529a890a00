/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which runs are observations of the same condition, and the reason where one is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rules/comparable.h"

#include "build.h"

static void assert_reason(const struct run *run, const struct run *reference, const char *part) {
    const char *why = "unset";
    if (comparable_counts(run, reference, &why))
        fail_msg("counts, although: %s", part);
    if (!why || !strstr(why, part))
        fail_msg("'%s' does not say '%s'", why ? why : "(null)", part);
}

static void assert_counts(const struct run *run, const struct run *reference) {
    const char *why = "unset";
    if (!comparable_counts(run, reference, &why))
        fail_msg("does not count: %s", why);
    assert_null(why);
}

static void test_stand_in(void **state) {
    AUTO_RUN struct run *a = build_run(1, 10.0);
    AUTO_RUN struct run *b = build_run(2, 11.0);
    struct run_gpu gpus[2] = {{.uuid = "GPU-1"}, {.uuid = "GPU-2"}};
    const char *why = NULL;

    (void)state;
    b->gpus = gpus;
    b->gpu_count = 2;
    assert_counts(b, b);
    gpus[1].stand_in = true;
    assert_reason(b, a, "the GPU was a stand-in");
    assert_false(comparable_is_usable(b, &why));
    assert_string_equal(why, "the GPU was a stand-in");
}

static void test_group(void **state) {
    AUTO_RUN struct run *a = build_run(1, 10.0);
    AUTO_RUN struct run *b = build_run(2, 11.0);
    char first[SHA256_HEX_SIZE];
    char second[SHA256_HEX_SIZE];

    (void)state;
    comparable_group_key(a, first);
    assert_int_equal(strlen(first), 64);
    build_put(b->start, "condition",
              "{\"a\":\"1\",\"b\":\"2\"}"); /* the order of -c does not matter */
    assert_true(comparable_same_group(a, b));
    json_put_text(b->start, "note", "another note");
    b->outcome = OUTCOME_FAILED;
    assert_true(comparable_same_group(a, b));
    build_put(b->start, "condition", "{\"a\":\"2\",\"b\":\"1\"}");
    assert_false(comparable_same_group(a, b));
    build_put(b->start, "condition", "{\"a\":\"1\",\"b\":\"2\"}");
    json_put_text(b->start, "cwd", "/y");
    assert_false(comparable_same_group(a, b));
    json_put_text(b->start, "cwd", "/x");
    json_put_text(b->start, "step", "setup");
    assert_false(comparable_same_group(a, b));
    json_object_del(b->start, "step");
    build_put(b->start, "command", "[\"python\",\"x.py\",\"\"]");
    assert_false(comparable_same_group(a, b));

    AUTO_RUN struct run *empty = run_new(); /* a record with nothing in it has a key too */
    comparable_group_key(empty, second);
    assert_string_not_equal(first, second);
}

/* The index stores the key: it must not change unnoticed. */
static void test_group_key_is_frozen(void **state) {
    AUTO_RUN struct run *run = build_run(1, 10.0);
    char key[SHA256_HEX_SIZE];
    char expected[SHA256_HEX_SIZE];
    static const char text[] =
        "{\"command\":[\"python\",\"x.py\"],\"command_base64\":null,"
        "\"condition\":{\"a\":\"1\",\"b\":\"2\"},\"cwd\":\"/x\",\"step\":null}";
    (void)state;
    comparable_group_key(run, key);
    digest_sha256(text, sizeof text - 1, expected);
    assert_string_equal(key, expected);
}

static void test_one_run(void **state) {
    AUTO_RUN struct run *run = build_run(1, 10.0);
    const char *why;

    (void)state;
    assert_counts(run, run);
    for (enum outcome_class outcome = OUTCOME_RUNNING; outcome < OUTCOME_COUNT_; outcome++) {
        run->outcome = outcome;
        assert_int_equal(comparable_is_usable(run, &why), outcome == OUTCOME_OK);
        assert_true((why == NULL) == (outcome == OUTCOME_OK));
    }
    run->outcome = OUTCOME_OK;
    run->running = true;
    assert_reason(run, run, "still running");
    run->running = false;
    run->validity = RUN_INVALID;
    assert_reason(run, run, "declared invalid");
    run->validity = RUN_VALID;
    json_put_text(run->start, "purpose", "function-test");
    assert_reason(run, run, "function test");
    json_put_text(run->start, "purpose", "work");
    assert_counts(run, run);
    run->wall = quantity_open(UNIT_SECOND, QUANTITY_MONITOR_LOST, NULL);
    assert_reason(run, run, "not known");
    run->wall = quantity_bounded(UNIT_SECOND, 10.0, QUANTITY_AT_LEAST, "survivors");
    assert_reason(run, run, "cut off");
    run->wall = quantity_measured(UNIT_SECOND, 0.0, "clock");
    assert_reason(run, run, "not known");
    run->wall = quantity_measured(UNIT_SECOND, 10.0, "clock");
    run->wall.state = QUANTITY_ASSUMED;
    assert_reason(run, run, "not measured");
    run->wall.state = QUANTITY_MEASURED;
    run->verified = "no";
    assert_reason(run, run, "a check of its result was not met");
    run->verified = "not-checked";
    assert_counts(run, run);
    json_put_int(run->end, "stopped_ns", 100000000); /* 1 % */
    assert_counts(run, run);
    json_put_int(run->end, "stopped_ns", 100000001);
    assert_reason(run, run, "stopped for a while (Ctrl-Z)");
}

static void test_two_runs(void **state) {
    AUTO_RUN struct run *a = build_run(1, 10.0);
    AUTO_RUN struct run *b = build_run(2, 11.0);

    (void)state;
    assert_counts(b, a);
    json_put_text(b->start, "purpose", "work"); /* what the user asked for: trial or work */
    assert_counts(b, a);
    build_put(b->start, "command", "[\"python\",\"y.py\"]");
    assert_reason(b, a, "command differs");
    build_put(b->start, "command", "[\"python\",\"x.py\"]");
    json_put_text(b->start, "cwd", "/y");
    assert_reason(b, a, "another folder");
    json_put_text(b->start, "cwd", "/x");
    build_put(b->start, "condition", "{\"a\":\"1\"}");
    assert_reason(b, a, "condition differs");
    build_put(b->start, "condition", "{\"a\":\"1\",\"b\":\"2\"}");
    json_put_text(b->start, "phase", "setup");
    assert_reason(b, a, "--phase");
    json_object_del(b->start, "phase");
    assert_counts(b, a);
}

static void test_code(void **state) {
    AUTO_RUN struct run *a = build_run(1, 10.0);
    AUTO_RUN struct run *b = build_run(2, 11.0);

    (void)state;
    build_put(b->environment, "code", "{\"commit\":\"c2\",\"dirty\":true,\"digest\":\"d1\"}");
    assert_counts(b, a); /* the tracked files are the same, whatever the commit */
    build_put(b->environment, "code", "{\"commit\":\"c1\",\"digest\":\"d2\"}");
    assert_reason(b, a, "code changed");
    build_put(b->environment, "code", "{\"reason\":\"git took too long\"}");
    assert_reason(b, a, "only one of them");
    build_put(a->environment, "code", "{\"reason\":\"no repository\"}");
    assert_counts(b, a);
    json_object_del(a->environment, "code");
    assert_counts(b, a);
    build_put(a->environment, "code", "{\"commit\":\"c1\",\"dirty\":true,\"diff_digest\":\"x\"}");
    build_put(b->environment, "code", "{\"commit\":\"c1\",\"dirty\":true,\"diff_digest\":\"x\"}");
    assert_counts(b, a);
    build_put(b->environment, "code", "{\"commit\":\"c1\",\"dirty\":true,\"diff_digest\":\"y\"}");
    assert_reason(b, a, "code changed");
    build_put(b->environment, "code", "{\"commit\":\"c1\",\"dirty\":false}");
    assert_reason(b, a, "code changed");
    build_put(b->environment, "code", "{\"commit\":\"c2\",\"dirty\":true,\"diff_digest\":\"x\"}");
    assert_reason(b, a, "code changed");
}

static void test_inputs(void **state) {
    AUTO_RUN struct run *a = build_run(1, 10.0);
    AUTO_RUN struct run *b = build_run(2, 11.0);

    (void)state;
    build_put(b->start, "inputs",
              "[{\"path\":\"in\",\"kind\":\"file\",\"bytes\":11,\"mtime_ns\":5}]");
    assert_reason(b, a, "input changed");
    build_put(b->start, "inputs",
              "[{\"path\":\"in\",\"kind\":\"file\",\"bytes\":10,\"mtime_ns\":6}]");
    assert_reason(b, a, "input changed");
    build_put(b->start, "inputs",
              "[{\"path\":\"in\",\"kind\":\"file\",\"bytes\":10,\"mtime_ns\":5,\"inode\":8}]");
    assert_counts(b, a); /* another copy of the same file */
    build_put(b->start, "inputs", "[]");
    assert_reason(b, a, "input changed");
    build_put(
        a->start, "inputs",
        "[{\"path\":\"in\",\"kind\":\"file\",\"bytes\":10,\"mtime_ns\":5,\"identity\":\"blob\"}]");
    build_put(
        b->start, "inputs",
        "[{\"path\":\"in\",\"kind\":\"file\",\"bytes\":10,\"mtime_ns\":9,\"identity\":\"blob\"}]");
    assert_counts(b, a); /* the blob's name is its content */
    build_put(
        b->start, "inputs",
        "[{\"path\":\"in\",\"kind\":\"file\",\"bytes\":10,\"mtime_ns\":5,\"identity\":\"other\"}]");
    assert_reason(b, a, "input changed");
    build_put(a->start, "inputs",
              "[{\"path\":\"in\",\"kind\":\"folder\",\"bytes\":10,\"items\":2,\"mtime_ns\":5}]");
    build_put(b->start, "inputs",
              "[{\"path\":\"in\",\"kind\":\"folder\",\"bytes\":10,\"items\":2,\"mtime_ns\":6}]");
    assert_counts(b, a);
    build_put(b->start, "inputs",
              "[{\"path\":\"in\",\"kind\":\"folder\",\"bytes\":10,\"items\":3,\"mtime_ns\":6}]");
    assert_reason(b, a, "input changed");
}

static void test_environment(void **state) {
    AUTO_RUN struct run *a = build_run(1, 10.0);
    AUTO_RUN struct run *b = build_run(2, 11.0);

    (void)state;
    json_put_text(b->environment, "fingerprint", "f2");
    assert_reason(b, a, "environment changed");
    build_put(b->environment, "fingerprint_parts", "{\"cpus\":\"8\",\"packages\":\"p2\"}");
    assert_reason(b, a, "packages differ");
    build_put(b->environment, "fingerprint_parts", "{\"cpus\":\"16\",\"packages\":\"p2\"}");
    assert_reason(b, a, "number of processors");
    build_put(b->environment, "fingerprint_parts", "{\"cpus\":\"8\",\"packages\":null}");
    assert_reason(b, a, "environment changed");
    json_object_del(b->environment, "fingerprint");
    assert_reason(b, a, "only one of them");
    json_object_del(a->environment, "fingerprint");
    assert_counts(b, a);
}

/* Only what both of them know can differ. */
static void test_what_of_the_environment_differs(void **state) {
    AUTO_RUN struct run *a = build_run(1, 10.0);
    AUTO_RUN struct run *b = build_run(2, 11.0);
    const char *why = "";

    (void)state;
    assert_false(comparable_environment_differs(b, a, &why));
    assert_null(why);
    json_put_text(b->environment, "fingerprint", "f2");
    build_put(a->environment, "fingerprint_parts", "{\"cpus\":\"8\",\"packages\":\"p1\"}");
    build_put(b->environment, "fingerprint_parts", "{\"cpus\":\"8\",\"packages\":null}");
    assert_false(comparable_environment_differs(b, a, &why));
    assert_null(why);
    build_put(b->environment, "fingerprint_parts", "{\"cpus\":\"8\",\"packages\":\"p2\"}");
    assert_true(comparable_environment_differs(b, a, &why));
    assert_string_equal(why, "its Python packages differ");
    build_put(a->environment, "fingerprint_parts", "{\"gpu\":\"2x A\",\"gpu_driver\":\"550\"}");
    build_put(b->environment, "fingerprint_parts", "{\"gpu\":\"2x A\",\"gpu_driver\":\"560\"}");
    assert_true(comparable_environment_differs(b, a, &why));
    assert_string_equal(why, "its GPU driver differs");
    assert_reason(b, a, "its GPU driver differs");
    build_put(b->environment, "fingerprint_parts", "{\"gpu\":\"1x B\",\"gpu_driver\":\"560\"}");
    assert_true(comparable_environment_differs(b, a, &why));
    assert_string_equal(why, "it ran on other GPUs");
    json_put_text(b->environment, "fingerprint", json_get_text(a->environment, "fingerprint", ""));
    assert_false(comparable_environment_differs(b, a, &why));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_group_key_is_frozen),
        cmocka_unit_test(test_stand_in),
        cmocka_unit_test(test_one_run),
        cmocka_unit_test(test_two_runs),
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_what_of_the_environment_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
