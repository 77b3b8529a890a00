/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the code requires against environments: nothing fits that is not said, CUDA-only code never
 * fits a Mac, and of machine code what NVIDIA's rules say. */
#include "with-plan.h"

#include "plan/fit.h"

/* The answers for the first environment, a letter each: y, n, ? */
static void expect(void **state, const char *text, const char *answers) {
    AUTO_FREE char *whole = mem_printf("%s%s", HEAD, text);
    AUTO_WITH_PLAN struct with_plan with = plan_of(state, whole);
    struct fit_part *parts = NULL;
    char seen[16] = "";
    size_t count = plan_fit(with.plan, &with.plan->environments[0], with.plan->arena, &parts);
    assert_true(count < sizeof seen);
    for (size_t i = 0; i < count; i++) {
        seen[i] = parts[i].answer == FIT_YES ? 'y' : parts[i].answer == FIT_NO ? 'n' : '?';
        assert_true(parts[i].answer == FIT_OPEN || (parts[i].wanted && parts[i].has));
    }
    if (strcmp(seen, answers) != 0)
        fail_msg("'%s' in place of '%s': %s", seen, answers, text);
}

static void nothing_said(void **state) {
    expect(state, "environments: [{id: a}]\n", "?");
    expect(state, "environments: [{id: a, accelerator: cuda}]\n", "?");
    expect(state,
           "environments: [{id: a, gpu: Something}]\n"
           "code: {requires: {accelerators: [cuda]}}\n",
           "?");
}

static void accelerators(void **state) {
    expect(state,
           "environments: [{id: a, kind: macos}]\ncode: {requires: {accelerators: [cuda]}}\n", "n");
    expect(state,
           "environments: [{id: a, kind: macos}]\n"
           "code: {requires: {accelerators: [cuda, metal]}}\n",
           "y");
    expect(state,
           "environments: [{id: a, gpu: NVIDIA L4}]\ncode: {requires: {accelerators: [cuda]}}\n",
           "y");
    expect(state,
           "environments: [{id: a, gpu: AMD Instinct MI300X}]\n"
           "code: {requires: {accelerators: [cuda]}}\n",
           "n");
    expect(state, "environments: [{id: a, gpus: 0}]\ncode: {requires: {accelerators: [cuda]}}\n",
           "n");
}

static void packages(void **state) {
    expect(state,
           "environments: [{id: a, accelerator: cuda, stack: {Flash_Attn: 2.8.3, torch: 2.7.1}}]\n"
           "code: {requires: {accelerators: [cuda], stack: {flash-attn: \">=2.8\", torch: "
           "\"2.6.0\", triton: \">=3\"}}}\n",
           "yyn?");
}

static void architectures(void **state) {
    static const struct {
        const char *wanted, *capability;
        enum fit_answer answer;
    } cases[] = {
        {"8.0", "8.0", FIT_YES},        {"8.0", "8.6", FIT_YES},
        {"8.6", "8.0", FIT_NO},         {"8.0", "9.0", FIT_NO},
        {"8.0+PTX", "9.0", FIT_YES},    {"9.0+PTX", "8.9", FIT_NO},
        {"sm_90", "9.0", FIT_YES},      {"90", "9.0", FIT_YES},
        {"9.0a", "9.0", FIT_YES},       {"9.0a", "9.1", FIT_NO},
        {"100", "10.0", FIT_YES},       {"compute_80", "12.0", FIT_YES},
        {"80-virtual", "8.6", FIT_YES}, {"80-real", "9.0", FIT_NO},
        {"all", "9.0", FIT_OPEN},       {"8.0", "Hopper", FIT_OPEN},
        {"8.0", NULL, FIT_OPEN},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct plan_text_item item = {.text = cases[i].wanted};
        struct plan_texts wanted = {.items = &item, .count = 1};
        if (fit_architecture(&wanted, cases[i].capability) != cases[i].answer)
            fail_msg("%s on %s", cases[i].wanted, cases[i].capability);
    }
    expect(state,
           "environments: [{id: a, accelerator: cuda, compute_capability: \"8.9\"}]\n"
           "code: {requires: {accelerators: [cuda], architectures: [\"8.0\", \"9.0\"]}}\n",
           "yy");
    expect(state,
           "environments: [{id: a, accelerator: metal}]\n"
           "code: {requires: {accelerators: [cuda], architectures: [\"8.0\", \"9.0\"]}}\n",
           "n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_said, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(accelerators, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(packages, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(architectures, folder_setup, folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
