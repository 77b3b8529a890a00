/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan leaves open: its facts, and what of data protection is not settled (A8). */
#include "with-plan.h"

/* "ID@LINE stops", a line each. */
static void assert_open(void **state, const char *below, const char *expected) {
    AUTO_WITH_PLAN struct with_plan with = sound_plan(state, below);
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf got = STRBUF_INIT;
    const struct plan_fact **facts = NULL;
    size_t count = plan_open_facts(with.plan, arena, &facts);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(facts[i]->state, PLAN_FACT_OPEN);
        assert_non_null(facts[i]->question);
        strbuf_printf(&got, "%s@%u ", facts[i]->id, facts[i]->at.line);
        plan_stops_text(facts[i]->stops, &got);
        strbuf_add_char(&got, '\n');
    }
    assert_string_equal(strbuf_str(&got), expected);
}

#define CLASS      "privacy/class@"
#define TRANSFER   "privacy/may_transfer@"
#define PROVIDER   "privacy/provider_statement@"
#define ASSESSMENT "privacy/assessment@"
#define STORAGE    "privacy/storage@"
#define READERS    "privacy/readers@"
#define RETENTION  "privacy/retention@"
#define KEEPING    "storage: here, readers: the team, retention: a year"
#define BOOKING    " booking\n"

static void test_nothing_said(void **state) {
    assert_open(state, "", CLASS "0" BOOKING TRANSFER "0" BOOKING ASSESSMENT "0" BOOKING);
    assert_open(state, "privacy: {may_transfer: open}\n",
                CLASS "3" BOOKING TRANSFER "3" BOOKING ASSESSMENT "3" BOOKING);
}

static void test_settled(void **state) {
    assert_open(state, "privacy: {class: none, may_transfer: yes, assessment: public prompts}\n",
                "");
    assert_open(state,
                "privacy:\n"
                "  class: personal\n"
                "  may_transfer: yes\n"
                "  provider_statement: {value: stays in the EU, source: DPA 4, seen: 2026-11-30}\n"
                "  assessment: enough for these\n"
                "  storage: eu-central\n"
                "  readers: the team\n"
                "  retention: deleted with the machine\n",
                "");
    /* what does not leave the house is in no provider's hands */
    assert_open(
        state,
        "privacy: {class: sensitive, may_transfer: no, assessment: stays here, " KEEPING "}\n", "");
}

static void test_half_settled(void **state) {
    assert_open(state, "privacy: {class: none, may_transfer: yes}\n", ASSESSMENT "3" BOOKING);
    assert_open(state, "privacy: {class: none, assessment: a}\n", TRANSFER "3" BOOKING);
    assert_open(state,
                "privacy: {class: personal, may_transfer: yes, assessment: a, " KEEPING "}\n",
                PROVIDER "3" BOOKING);
    assert_open(state, "privacy: {class: sensitive, assessment: a, " KEEPING "}\n",
                TRANSFER "3" BOOKING PROVIDER "3" BOOKING);
    /* a statement without its source, or without its date, is none */
    static const char *const halves[] = {"value: v, source: s", "value: v, seen: 2026-11-30"};
    for (size_t i = 0; i < ARRAY_LENGTH(halves); i++) {
        AUTO_FREE char *plan = mem_printf("privacy:\n"
                                          "  class: personal\n"
                                          "  may_transfer: yes\n"
                                          "  assessment: a\n"
                                          "  storage: here\n"
                                          "  readers: the team\n"
                                          "  retention: a year\n"
                                          "  provider_statement: {%s}\n",
                                          halves[i]);
        assert_open(state, plan, PROVIDER "4" BOOKING);
    }
}

/* Where such data lie, who reads them and how long they stay: of data of no class nobody asks. */
static void test_keeping(void **state) {
    assert_open(state, "privacy: {class: personal, may_transfer: no, assessment: a}\n",
                STORAGE "3" BOOKING READERS "3" BOOKING RETENTION "3" BOOKING);
    assert_open(state,
                "privacy: {class: sensitive, may_transfer: no, assessment: a, readers: us}\n",
                STORAGE "3" BOOKING RETENTION "3" BOOKING);
    assert_open(state, "privacy: {class: none, may_transfer: no, assessment: a}\n", "");
    /* the fact of the starter asks for readers and retention, too */
    assert_open(state,
                "facts:\n"
                "  - {id: privacy.transfer, state: open, question: q, stops: booking}\n"
                "privacy: {class: personal, may_transfer: no, assessment: a}\n",
                "privacy.transfer@4 booking\n" STORAGE "5" BOOKING);
}

/* What an open fact asks is not asked a second time; what it says when it is known does not fill
 * the part. */
static void test_facts_that_ask(void **state) {
    assert_open(state,
                "facts:\n"
                "  - {id: a, state: open, question: q, stops: validate}\n"
                "  - {id: b, state: not-applicable}\n"
                "  - {id: privacy.class, state: open, question: q, stops: [validate, booking]}\n"
                "  - {id: privacy.provider, state: open, question: q, stops: booking}\n"
                "  - {id: privacy.transfer, state: not-applicable}\n",
                "a@4 validate\nprivacy.class@6 validate, booking\n"
                "privacy.provider@7 booking\n" TRANSFER "0" BOOKING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_said, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_settled, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_half_settled, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_keeping, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_facts_that_ask, folder_setup, folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
