/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan says of environments, of what the code needs there, and of offers that replace one
 * another: words that mean nothing, sources that are missing, contradictions. */
#include "with-plan.h"

static void test_accelerators(void **state) {
    assert_complaints(
        state, "code: {requires: {accelerators: [cuda, metl, graphcore, CUDA], source: a.py:1}}\n",
        "3:40 error[plan-word] 'accelerators' holds cuda, rocm, metal and cpu, not "
        "'metl'; did you mean 'metal'?\n"
        "3:46 error[plan-word] 'accelerators' holds cuda, rocm, metal and cpu, not "
        "'graphcore'\n"
        "3:57 error[plan-word] 'accelerators' holds cuda, rocm, metal and cpu, not "
        "'CUDA'; did you mean 'cuda'?\n");
}

static void test_capabilities(void **state) {
    assert_complaints(state,
                      "code: {requires: {architectures: [\"8.0\", sm_90, 9.0a, 9.0+PTX, Hopper], "
                      "source: a.py:1}}\n"
                      "environments:\n"
                      "  - {id: a, compute_capability: \"9.0\"}\n"
                      "  - {id: b, compute_capability: H100}\n",
                      "3:64 warning[plan-environment] 'Hopper' is no compute capability as 8.0, "
                      "9.0a, 9.0+PTX or sm_90; it is compared with nothing\n"
                      "6:5 warning[plan-environment] 'H100' is no compute capability as 9.0; it is "
                      "compared with nothing\n");
}

static void test_sources(void **state) {
    assert_complaints(state, "code: {requires: {stack: {torch: \"2.7\"}}}\n",
                      "3:34 warning[plan-source] say under 'source' which file and line show what "
                      "the code needs\n");
    assert_complaints(state, "demand: {exceeds_own: yes, own: 2 GPUs}\n",
                      "3:9 warning[plan-source] 'exceeds_own' needs 'own' with value and source: "
                      "what is there is a fact\n");
    assert_complaints(state, "demand: {exceeds_own: yes, own: {value: 2 GPUs, source: list}}\n",
                      "");
}

static void test_a_mac_has_no_cuda(void **state) {
    assert_complaints(state,
                      "environments:\n"
                      "  - {id: a, kind: macos, accelerator: cuda}\n"
                      "  - {id: b, kind: macos, accelerator: cpu}\n",
                      "4:5 warning[plan-environment] a Mac has no 'cuda'; code for it does not run "
                      "there\n");
}

static void test_offers(void **state) {
    assert_complaints(state,
                      "offers:\n"
                      "  - {id: old}\n"
                      "  - {id: new, replaces: olt}\n"
                      "  - {id: other, replaces: other}\n"
                      "  - {id: good, replaces: old}\n",
                      "5:5 error[plan-reference] there is no 'olt' under 'offers'; did you mean "
                      "'old'?\n"
                      "6:5 error[plan-reference] offer 'other' replaces itself\n");
}

static void test_offers_in_a_ring(void **state) {
    assert_complaints(state,
                      "offers:\n"
                      "  - {id: a, replaces: b}\n"
                      "  - {id: b, replaces: a}\n"
                      "  - {id: outside, replaces: a}\n"
                      "  - {id: x, replaces: y}\n"
                      "  - {id: y, replaces: z}\n"
                      "  - {id: z, replaces: x}\n",
                      "4:5 error[plan-reference] offer 'a' replaces 'b', and is itself replaced by "
                      "it or by one that is: which of them is the newest?\n"
                      "7:5 error[plan-reference] offer 'x' replaces 'y', and is itself replaced by "
                      "it or by one that is: which of them is the newest?\n");
}

static void test_terms_of_offers(void **state) {
    assert_complaints(state,
                      "offers:\n"
                      "  - {id: a, minimum: 2h, maximum: 1h, increment: 3h}\n"
                      "  - {id: b, minimum: 2h, maximum: 0s}\n"
                      "  - {id: c, minimum: 0s, increment: 0s, maximum: 1h}\n"
                      "  - {id: d, seen: 2026-11-30, valid_until: 2026-11-29}\n",
                      "4:22 warning[plan-offer] 'minimum' is longer than 'maximum': the offer is "
                      "not used\n"
                      "4:50 warning[plan-offer] 'increment' is longer than 'maximum': the offer is "
                      "not used\n"
                      "5:35 warning[plan-offer] the longest term is 0: nothing can be rented, and "
                      "the offer is not used\n"
                      "7:44 warning[plan-offer] 'valid_until' is before 'seen': the offer is not "
                      "used\n");
}

/* Too early is not too large. */
static void test_dates_before_all(void **state) {
    assert_complaints(
        state, "offers: [{id: a, seen: 0001-01-01}]\n",
        "3:24 error[plan-value] 'seen' takes a date such as 2026-11-30, not '0001-01-01'\n");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_accelerators),     IN_FOLDER(test_capabilities),
        IN_FOLDER(test_sources),          IN_FOLDER(test_offers),
        IN_FOLDER(test_offers_in_a_ring), IN_FOLDER(test_terms_of_offers),
        IN_FOLDER(test_dates_before_all), IN_FOLDER(test_a_mac_has_no_cuda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
