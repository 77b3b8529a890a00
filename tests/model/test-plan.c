/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of the plan, finding its parts, places as sources. */
#include "../base/testing.h"

#include "model/plan.h"

static void test_words(void **state) {
    (void)state;
    assert_string_equal(plan_kind_name(PLAN_KIND_UNSAID), "");
    assert_string_equal(plan_kind_name(PLAN_VALIDATE), "validate");
    assert_string_equal(plan_kind_name(PLAN_COMPARE), "compare");
    assert_string_equal(plan_kind_name(PLAN_SCALE), "scale");
    assert_string_equal(plan_kind_name(PLAN_VERIFY), "verify");
    assert_string_equal(plan_extent_name(PLAN_EXTENT_UNSAID), "");
    assert_string_equal(plan_extent_name(PLAN_VALIDATION), "validation");
    assert_string_equal(plan_extent_name(PLAN_FULL), "full");
    assert_string_equal(plan_recurrence_name(PLAN_RECURRENCE_UNSAID), "");
    assert_string_equal(plan_recurrence_name(PLAN_ONE_OFF), "one-off");
    assert_string_equal(plan_recurrence_name(PLAN_RECURRING), "recurring");
    assert_string_equal(plan_backing_name(PLAN_UNDETERMINED), "undetermined");
    assert_string_equal(plan_backing_name(PLAN_CHOSEN), "chosen");
    assert_string_equal(plan_backing_name(PLAN_CONFIRMED), "confirmed");
    assert_string_equal(plan_fact_state_name(PLAN_FACT_OPEN), "open");
    assert_string_equal(plan_fact_state_name(PLAN_FACT_KNOWN), "known");
    assert_string_equal(plan_fact_state_name(PLAN_FACT_NOT_APPLICABLE), "not-applicable");
    assert_string_equal(plan_answer_name(PLAN_UNSAID), "open");
    assert_string_equal(plan_answer_name(PLAN_YES), "yes");
    assert_string_equal(plan_answer_name(PLAN_NO), "no");
    assert_string_equal(plan_scope_name(PLAN_SCOPE_OPEN), "open");
    assert_string_equal(plan_scope_name(PLAN_SCOPE_FUNCTION_TEST), "function-test");
    assert_string_equal(plan_scope_name(PLAN_SCOPE_MAIN_RESULT), "main-result");
    assert_string_equal(plan_scope_name(PLAN_SCOPE_FULL_BENCHMARK), "full-benchmark");
}

/* What was not said is the enums' 0: zeroed memory never claims anything. */
static void test_zero_is_not_said(void **state) {
    (void)state;
    assert_int_equal(PLAN_KIND_UNSAID, 0);
    assert_int_equal(PLAN_UNDETERMINED, 0);
    assert_int_equal(PLAN_FACT_OPEN, 0);
    assert_int_equal(PLAN_UNSAID, 0);
    assert_int_equal(PLAN_SCOPE_OPEN, 0);
    assert_true(PLAN_UNDETERMINED < PLAN_CHOSEN && PLAN_CHOSEN < PLAN_CONFIRMED);
}

static void test_components(void **state) {
    (void)state;
    static const char *const names[] = {"prepare", "data",     "transfer", "runs", "retries",
                                        "fixing",  "checking", "teardown", "idle"};
    assert_int_equal(ARRAY_LENGTH(names), COMPONENT_COUNT_);
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        enum component component = COMPONENT_COUNT_;
        assert_true(component_from_name(names[i], &component));
        assert_int_equal(component, i);
        assert_string_equal(component_name(component), names[i]);
    }
    enum component component = COMPONENT_IDLE;
    assert_false(component_from_name("run", &component));
    assert_false(component_from_name("", &component));
    assert_int_equal(component, COMPONENT_IDLE);
}

static void test_finding(void **state) {
    (void)state;
    struct plan_block blocks[] = {{.id = NULL}, {.id = "a"}, {.id = "b"}, {.id = "a"}};
    struct plan_environment environments[] = {{.id = "here"}};
    struct plan_step steps[] = {{.name = "install"}};
    const struct plan plan = {.blocks = blocks,
                              .block_count = 4,
                              .environments = environments,
                              .environment_count = 1,
                              .steps = steps,
                              .step_count = 1};
    assert_ptr_equal(plan_block_find(&plan, "a"), &blocks[1]); /* the first one */
    assert_ptr_equal(plan_block_find(&plan, "b"), &blocks[2]);
    assert_null(plan_block_find(&plan, ""));
    assert_ptr_equal(plan_environment_find(&plan, "here"), &environments[0]);
    assert_null(plan_environment_find(&plan, "her"));
    assert_ptr_equal(plan_step_find(&plan, "install"), &steps[0]);
    assert_null(plan_step_find(&plan, "a"));
    const struct plan empty = {0};
    assert_null(plan_block_find(&empty, "a"));
}

static void test_source(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const struct plan plan = {.name = "probelauf.yaml"};
    assert_string_equal(plan_source(&plan, (struct plan_at){31, 5}, arena), "probelauf.yaml:31");
    assert_string_equal(plan_source(&plan, (struct plan_at){0}, arena), "probelauf.yaml");
}

static void test_condition_has(void **state) {
    (void)state;
    struct plan_pair own[] = {{.name = "keep", .value = "0.5"}, {.name = "policy", .value = "x"}};
    const struct plan_condition condition = {.parameters = own, .parameter_count = 2};
    struct plan_pair asked[] = {{.name = "policy", .value = "x"}, {.name = "keep", .value = "0.5"}};
    struct plan_pairs pairs = {.items = asked, .count = 0};
    assert_true(plan_condition_has(&condition, &pairs)); /* nothing is asked */
    pairs.count = 2;
    assert_true(plan_condition_has(&condition, &pairs));
    asked[1].value = "0.50"; /* texts, not numbers */
    assert_false(plan_condition_has(&condition, &pairs));
    asked[1] = (struct plan_pair){.name = "other", .value = "0.5"};
    assert_false(plan_condition_has(&condition, &pairs));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),      cmocka_unit_test(test_zero_is_not_said),
        cmocka_unit_test(test_components), cmocka_unit_test(test_finding),
        cmocka_unit_test(test_source),     cmocka_unit_test(test_condition_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
