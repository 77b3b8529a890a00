/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers at gates, and what stands in the way of running a block: each thing where it does and
 * where it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "plan/plan.h"
#include "rules/gate.h"

#include "build-study.h"

/* A study of two blocks in which nothing stands in the way. */
static struct built *settled(void) {
    struct built *b = built_new();
    built_room(b, 2);
    built_block(b, "first", 1, 1);
    built_block(b, "main", 1, 1);
    b->environment.kind = PLAN_RENTED;
    b->plan.privacy = (struct plan_privacy){.at = built_at(b),
                                            .data_class = "none",
                                            .may_transfer = PLAN_YES,
                                            .assessment = "nothing personal"};
    return b;
}

static size_t obstacles(struct built *b, const char *const **ret_lines) {
    b->study.open_fact_count = plan_open_facts(&b->plan, b->arena, &b->study.open_facts);
    return gate_obstacles(&b->study, &b->plan.blocks[1], b->arena, ret_lines);
}

static void assert_stops(struct built *b, const char *text) {
    const char *const *lines;
    size_t count = obstacles(b, &lines);
    assert_int_equal(count, 1);
    if (!strstr(lines[0], text))
        fail_msg("'%s' is not in: %s", text, lines[0]);
    assert_non_null(strstr(lines[0], "probelauf.yaml:")); /* the place */
}

static void assert_free(struct built *b) {
    const char *const *lines;
    if (obstacles(b, &lines) > 0)
        fail_msg("stopped: %s", lines[0]);
}

static void test_names(void **state) {
    enum gate_answer answer = GATE_NONE;
    (void)state;
    for (enum gate_answer a = GATE_GO_ON; a < GATE_ANSWER_COUNT_; a++) {
        assert_true(gate_answer_from_name(gate_answer_name(a), &answer));
        assert_int_equal(answer, a);
    }
    assert_false(gate_answer_from_name("", &answer));
    assert_false(gate_answer_from_name("go", &answer));
    assert_false(gate_answer_from_name(NULL, &answer));
}

static void test_newest_answer_holds(void **state) {
    const struct gate gates[] = {{.block = "a", .answer = GATE_LIMIT},
                                 {.block = "b", .answer = GATE_GO_ON},
                                 {.block = "a", .answer = GATE_GO_ON}};
    (void)state;
    assert_ptr_equal(gate_of(gates, 3, "a"), &gates[0]);
    assert_ptr_equal(gate_of(gates, 3, "b"), &gates[1]);
    assert_null(gate_of(gates, 3, "c"));
    assert_null(gate_of(NULL, 0, "a"));
}

static void test_nothing_in_the_way(void **state) {
    struct built *b = settled();
    (void)state;
    assert_free(b);
    built_free(b);
}

static void test_open_fact(void **state) {
    struct built *b = settled();
    struct plan_fact fact = {.at = built_at(b), .id = "weights.access", .question = "who?"};
    const struct plan_fact *stops[] = {&fact};
    (void)state;
    b->study.blocks[1].stopped_by = stops;
    b->study.blocks[1].stopped_by_count = 1;
    assert_stops(b, "the fact 'weights.access' is open: who?");
    built_free(b);
}

static void test_privacy(void **state) {
    struct built *b = settled();
    struct plan_privacy *privacy = &b->plan.privacy;
    (void)state;
    privacy->data_class = NULL;
    assert_stops(b, "privacy/class");
    privacy->data_class = "none";
    privacy->may_transfer = PLAN_UNSAID;
    assert_stops(b, "privacy/may_transfer");
    privacy->may_transfer = PLAN_YES;
    privacy->assessment = NULL;
    assert_stops(b, "privacy/assessment");
    privacy->assessment = "done";
    privacy->data_class = "personal";
    privacy->storage = "eu";
    privacy->readers = "the team";
    privacy->retention = "a year";
    assert_stops(b, "privacy/provider_statement");
    privacy->provider_statement = (struct plan_sourced){
        .value = "in the EU", .source = "letter", .seen = {.given = true, .text = "2026-11-30"}};
    assert_free(b);
    privacy->storage = NULL;
    assert_stops(b, "privacy/storage");
    privacy->storage = "eu";
    privacy->readers = NULL;
    assert_stops(b, "privacy/readers");
    privacy->readers = "the team";
    privacy->retention = NULL;
    assert_stops(b, "privacy/retention");
    privacy->retention = "a year";
    privacy->may_transfer = PLAN_NO;
    assert_stops(b, "may not be moved to a rented machine");
    built_free(b);
}

/* On a machine of one's own nothing is in a provider's hands; the class and the assessment are
 * still to be settled. */
static void test_privacy_in_the_house(void **state) {
    struct built *b = settled();
    struct plan_privacy *privacy = &b->plan.privacy;
    (void)state;
    b->environment.kind = PLAN_OWN;
    privacy->data_class = "sensitive";
    privacy->may_transfer = PLAN_UNSAID;
    privacy->storage = "here";
    privacy->readers = "the team";
    privacy->retention = "a year";
    assert_free(b);
    privacy->may_transfer = PLAN_NO;
    assert_free(b);
    privacy->assessment = NULL;
    assert_stops(b, "privacy/assessment");
    /* an open fact of the plan that asks for provider and assessment in one hides neither */
    struct plan_fact fact = {.at = built_at(b), .id = "privacy.provider", .about = "privacy"};
    b->plan.facts = &fact;
    b->plan.fact_count = 1;
    assert_stops(b, "privacy/assessment");
    privacy->assessment = "done";
    assert_free(b);
    fact.id = "privacy.transfer"; /* who reads them, how long they stay */
    privacy->readers = NULL;
    assert_stops(b, "privacy/readers");
    privacy->readers = "the team";
    privacy->retention = NULL;
    assert_stops(b, "privacy/retention");
    privacy->retention = "a year";
    assert_free(b);
    fact.id = "privacy.provider";
    b->environment.kind = PLAN_RENTED;
    privacy->may_transfer = PLAN_YES;
    privacy->data_class = "none";
    assert_stops(b, "privacy.provider");
    built_free(b);
}

static void test_needed_gate(void **state) {
    struct built *b = settled();
    struct plan_text_item need = {.text = "first", .at = built_at(b)};
    struct gate gate = {.block = "first", .why = "too slow", .who = "Kim", .answer = GATE_LIMIT};
    (void)state;
    b->plan.blocks[1].needs = (struct plan_texts){.items = &need, .count = 1};
    assert_stops(b, "nobody has answered at its gate");
    b->input.gates = &gate;
    b->input.gate_count = 1;
    assert_stops(b, "'limit' (Kim): too slow");
    gate.answer = GATE_CHANGE_ENVIRONMENT;
    assert_stops(b, "'change-environment'");
    gate.answer = GATE_GO_ON;
    assert_free(b);
    gate.block = "main"; /* of another block */
    assert_stops(b, "nobody has answered at its gate");
    built_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_newest_answer_holds),
        cmocka_unit_test(test_nothing_in_the_way),
        cmocka_unit_test(test_open_fact),
        cmocka_unit_test(test_privacy),
        cmocka_unit_test(test_privacy_in_the_house),
        cmocka_unit_test(test_needed_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
