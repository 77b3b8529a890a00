/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of REQUIREMENTS E about the demand and how it is rented: for each a study in which it
 * fires, one in which it does not, and one that cannot tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#include "build-decide.h"

#define COMPARE 1u
#define DAY_NS  (INT64_C(86400) * NS_PER_S)

static struct plan_duration days(int64_t count) {
    return (struct plan_duration){.given = true, .ns = count * DAY_NS, .at = decided_at(71)};
}

static struct plan_demand *demand_of(struct decided *d, const char *pattern) {
    d->s.plan.demand = (struct plan_demand){.at = decided_at(70), .pattern = pattern};
    return &d->s.plan.demand;
}

static void nothing_said(void **state) {
    struct decided *d = *state;
    static const enum decide_id ids[] = {DECIDE_E3A, DECIDE_E3B, DECIDE_E3C,
                                         DECIDE_E9,  DECIDE_E4,  DECIDE_E11};
    for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
        expect_rule(d, COMPARE, ids[i], DECIDE_CANNOT_TELL, false);
    assert_false(d->decision.compare_owning);
}

static void e3a_campaign(void **state) {
    struct decided *d = *state;
    struct plan_demand *demand = demand_of(d, "campaign");
    expect_rule(d, COMPARE, DECIDE_E3A, DECIDE_CANNOT_TELL, false); /* how long? */
    demand->lasts = days(DECIDE_CAMPAIGN_DAYS);
    expect_rule(d, COMPARE, DECIDE_E3A, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E3A, "[a]");
    expect_verdict(d, DECIDE_RENT_STAGED, DECIDE_E3A); /* more cautious than E2 */
    assert_false(d->decision.compare_owning);
    demand->lasts = days(DECIDE_CAMPAIGN_DAYS + 1);
    expect_rule(d, COMPARE, DECIDE_E3A, DECIDE_NO, false);
    demand_of(d, "continuous");
    expect_rule(d, COMPARE, DECIDE_E3A, DECIDE_NO, false);
}

static void e3b_peaks(void **state) {
    struct decided *d = *state;
    demand_of(d, "peaks");
    expect_rule(d, COMPARE, DECIDE_E3B, DECIDE_YES, true);
    expect_verdict(d, DECIDE_RENT_BLOCKS, DECIDE_E2); /* owning stands beside it */
    assert_true(d->decision.compare_owning);
    assert_says(decided_rule(&d->decision, COMPARE, DECIDE_E3B)->opens[0].what, "true cost");
    demand_of(d, "continuous");
    expect_rule(d, COMPARE, DECIDE_E3B, DECIDE_NO, false);
}

static void e3c_overflow(void **state) {
    struct decided *d = *state;
    struct plan_demand *demand = demand_of(d, NULL);
    demand->own = (struct plan_sourced){.value = "2 GPUs of the group"};
    demand->exceeds_own = PLAN_YES;
    expect_rule(d, COMPARE, DECIDE_E3C, DECIDE_CANNOT_TELL, false); /* no source: no fact */
    demand->own.source = "inventory of 2026";
    expect_rule(d, COMPARE, DECIDE_E3C, DECIDE_YES, true);
    assert_int_equal(decided_rule(&d->decision, COMPARE, DECIDE_E3C)->verdict, DECIDE_RENT_BLOCKS);
    demand->exceeds_own = PLAN_NO;
    expect_rule(d, COMPARE, DECIDE_E3C, DECIDE_NO, false);
    demand->exceeds_own = PLAN_UNSAID;
    expect_rule(d, COMPARE, DECIDE_E3C, DECIDE_CANNOT_TELL, false);
}

static void e4_continuous(void **state) {
    struct decided *d = *state;
    struct plan_owning *owning = &d->s.plan.owning;
    demand_of(d, "continuous");
    expect_rule(d, COMPARE, DECIDE_E4, DECIDE_YES, true);
    expect_verdict(d, DECIDE_RENT_BLOCKS, DECIDE_E2);
    assert_true(d->decision.compare_owning);
    owning->at = decided_at(80);
    owning->currency = "EUR";
    owning->gpus = build_whole(1);
    owning->purchase = (struct plan_sourced){
        .at = decided_at(81), .value = "18000", .source = "quote 12", .seen = {.given = true}};
    owning->can_administer = PLAN_NO;
    expect_rule(d, COMPARE, DECIDE_E4, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E4, "cannot take administration and maintenance on");
    assert_true(decided_rule(&d->decision, COMPARE, DECIDE_E4)->open_count >
                0); /* what is missing */
    d->base_run->outcome = OUTCOME_FAILED;
    expect_rule(d, COMPARE, DECIDE_E4, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E4, "nothing is validated yet");
    demand_of(d, "peaks");
    expect_rule(d, COMPARE, DECIDE_E4, DECIDE_NO, false);
}

static void e11_needs(void **state) {
    struct decided *d = *state;
    struct plan_demand *demand = demand_of(d, "peaks");
    expect_rule(d, COMPARE, DECIDE_E11, DECIDE_NO, false);
    demand->needs = build_texts(d->s.arena, "attached-device");
    d->here->physical_access = PLAN_NO;
    expect_rule(d, COMPARE, DECIDE_E11, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E11, "attached-device");
    expect_ground(d, COMPARE, DECIDE_E11, "nobody can touch the machine");
    assert_true(d->decision.compare_owning);
}

/* An offer with all that an amount needs. */
static struct plan_offer *add_offer(struct decided *d) {
    struct plan_offer *offer = &d->s.plan.offers[d->s.plan.offer_count++];
    struct plan_amount none = {.given = true};
    *offer = (struct plan_offer){
        .at = decided_at(90),
        .id = "offer-a",
        .environment = "here",
        .device = d->here->gpu,
        .gpus_per_unit = build_whole(1),
        .rate = {.given = true, .micros = 2 * MONEY_MICROS},
        .currency = "EUR",
        .per = "hour",
        .increment = {.given = true, .ns = NS_PER_S},
        .minimum = {.given = true, .ns = NS_PER_S},
        .setup_fee = none,
        .storage_running = none,
        .storage_stopped = none,
        .transfer_in = none,
        .transfer_out = none,
        .taxes = "included",
        .tax_included = PLAN_YES,
        .interruptible = PLAN_NO,
        .source = "quote 1",
        .seen = {.given = true, .utc_ns = INT64_C(1795900000000000000), .text = "2026-11-28"},
        .valid_until = {.given = true,
                        .utc_ns = INT64_C(1798900000000000000),
                        .text = "2027-01-02"},
    };
    return offer;
}

/* Two blocks that are left, with people between them. */
static void e9_rentals(void **state) {
    struct decided *d = *state;
    struct plan_rental *rental = &d->s.plan.rental;
    d->validate->runs.value = 2;
    d->compare->needs = build_texts(d->s.arena, "validate");
    expect_rule(d, COMPARE, DECIDE_E9, DECIDE_CANNOT_TELL, false);
    add_offer(d);
    *rental = (struct plan_rental){.at = decided_at(95),
                                   .between = "deleted",
                                   .storage = {.given = true, .bytes = 1000000000},
                                   .wait_between = days(2),
                                   .who = "Kim",
                                   .why = "weekly meeting",
                                   .when = {.given = true, .text = "2026-11-30"}};
    decided_run(d, d->full, 200.0, 60.0);
    const struct decide_rule *rule = decided_rule(decided_make(d), COMPARE, DECIDE_E9);
    if (rule->answer != DECIDE_YES)
        fail_msg("%s: %s", decide_answer_name(rule->answer), rule->grounds[0].text);
    assert_true(rule->fires);
    assert_int_equal(rule->verdict, DECIDE_NONE);
    expect_ground(d, COMPARE, DECIDE_E9, "restoring included");
    decided_sound(&d->decision);
    rental->wait_between.ns = 1; /* nobody waits: one rental is no dearer */
    d->s.plan.offers[0].setup_fee.micros = 50 * MONEY_MICROS;
    expect_rule(d, COMPARE, DECIDE_E9, DECIDE_NO, false);
    d->s.plan.offers[0].source = NULL;
    expect_rule(d, COMPARE, DECIDE_E9, DECIDE_CANNOT_TELL, false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, decided_begin, decided_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nothing_said),  TEST(e3a_campaign), TEST(e3b_peaks),  TEST(e3c_overflow),
        TEST(e4_continuous), TEST(e11_needs),    TEST(e9_rentals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
