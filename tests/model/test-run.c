/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of outcomes and phases, and the life of struct run. */
#include "../base/testing.h"

#include "model/run.h"

static void test_outcomes(void **state) {
    (void)state;
    /* DESIGN section 3, and whether a repeat can cure it */
    static const struct {
        const char *name;
        bool can_retry;
    } classes[] = {{"running", false},       {"ok", false},        {"failed", true},
                   {"start_failed", false},  {"gpu_oom", false},   {"host_oom", false},
                   {"shm_exhausted", false}, {"disk_full", false}, {"access_denied", false},
                   {"dependency", false},    {"gpu_fault", true},  {"budget", false},
                   {"interrupted", false},   {"killed", true},     {"preempted", true},
                   {"ended", false},         {"lost", true}};
    assert_int_equal(ARRAY_LENGTH(classes), OUTCOME_COUNT_);
    for (size_t i = 0; i < ARRAY_LENGTH(classes); i++) {
        enum outcome_class outcome = OUTCOME_COUNT_;
        assert_true(outcome_from_name(classes[i].name, &outcome));
        assert_string_equal(outcome_name(outcome), classes[i].name);
        assert_int_equal(outcome_can_retry(outcome), classes[i].can_retry);
    }
    enum outcome_class outcome = OUTCOME_LOST;
    assert_false(outcome_from_name("OK", &outcome));
    assert_false(outcome_from_name("", &outcome));
    assert_int_equal(outcome, OUTCOME_LOST);
}

static void test_phases(void **state) {
    (void)state;
    static const char *const names[] = {"setup",   "transfer", "data",     "load", "preprocess",
                                        "compute", "write",    "evaluate", "fix",  "teardown"};
    assert_int_equal(ARRAY_LENGTH(names), PHASE_UNATTRIBUTED);
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        enum phase phase = PHASE_COUNT_;
        assert_true(phase_from_name(names[i], &phase));
        assert_int_equal(phase, i);
        assert_string_equal(phase_name(phase), names[i]);
    }
    assert_string_equal(phase_name(PHASE_UNATTRIBUTED), "unattributed");
    enum phase phase = PHASE_FIX;
    assert_true(phase_from_name("compute/decode", &phase));
    assert_int_equal(phase, PHASE_COMPUTE);
    static const char *const bad[] = {"",        "unattributed", "Load",  "load/",
                                      "loading", "loa",          "/load", " load"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        assert_false(phase_from_name(bad[i], &phase));
    assert_int_equal(phase, PHASE_COMPUTE);
}

static void test_an_empty_run_is_open_everywhere(void **state) {
    (void)state;
    AUTO_RUN struct run *run = run_new();
    assert_non_null(run->arena);
    assert_true(json_is_object(run->header) && json_is_object(run->start) &&
                json_is_object(run->environment) && json_is_object(run->end) &&
                json_is_array(run->changes));
    assert_false(quantity_is_known(&run->wall));
    assert_false(quantity_is_known(&run->tree_pss));
    for (size_t i = 0; i < PHASE_COUNT_; i++)
        assert_false(quantity_is_known(&run->phase[i]));
    run->id = arena_strdup(run->arena, "id");
    json_put_text(run->header, "run", "id"); /* what it owns goes with it: the sanitizer counts */
}

static void test_free_accepts_half_built_runs(void **state) {
    (void)state;
    assert_null(run_free(NULL));
    struct run *run = run_new();
    json_decref(run->start);
    run->start = NULL;
    run->arena = arena_free(run->arena);
    assert_null(run_free(run));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_an_empty_run_is_open_everywhere),
        cmocka_unit_test(test_free_accepts_half_built_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
