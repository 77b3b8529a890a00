/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assumptions and --set: which keys there are, which of several holds, and that each changes only
 * what depends on it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "estimate-asserts.h"

static int setup(void **state) {
    struct built *b = built_new();
    built_room(b, 2);
    struct study_block *one = built_block(b, "one", 2, 5);
    built_block(b, "two", 1, 3);
    built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_needs(b, one, "install");
    built_counts(b, &one->conditions[0], 100.0);
    built_counts(b, &one->conditions[0], 104.0);
    built_counts(b, &one->conditions[0], 97.0);
    *state = b;
    return 0;
}

static int teardown(void **state) {
    *state = built_free(*state);
    return 0;
}

static void test_keys(void **state) {
    struct built *b = *state;
    const char *why = NULL;
    static const char *const good[][2] = {
        {"one.prepare", "90"},    {"*.idle", "2h30m"},        {"one.retries", "0"},
        {"one.run-time", "1.5h"}, {"two.runs", "0"},          {"*.failure-rate", "0.25"},
        {"*.failure-rate", "1"},  {"one.lost-time", "250ms"}, {"one.retry-max", "0"},
        {"one.lanes", "4"},       {"step.install", "3d"},     {"one.idle", "10 min"},
        {"one.idle", "1d 4h"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++)
        if (!estimate_setting_check(&b->plan, good[i][0], good[i][1], b->arena, &why))
            fail_msg("%s=%s: %s", good[i][0], good[i][1], why);
    static const char *const bad[][3] = {
        {"one", "90", "is no key"},
        {"one.", "90", "is no key"},
        {".runs", "90", "is no key"},
        {"", "90", "is no key"},
        {"onee.runs", "3", "no block 'onee', did you mean 'one'?"},
        {"elsewhere.runs", "3", "no block 'elsewhere'"},
        {"one.prepar", "3", "did you mean 'prepare'?"},
        {"one.failurerate", "3", "did you mean 'failure-rate'?"},
        {"step.instal", "3", "no step 'instal', did you mean 'install'?"},
        {"one.prepare", "soon", "no duration"},
        {"one.prepare", "-3s", "no duration"},
        {"one.runs", "3.5", "no whole number"},
        {"one.runs", "-1", "no whole number"},
        {"one.runs", "1e3", "no whole number"},
        {"one.runs", "2000000000", "no whole number"},
        {"one.lanes", "0", "no whole number"},
        {"one.failure-rate", "1.01", "no share"},
        {"one.failure-rate", "nan", "no share"},
        {"one.failure-rate", "", "no share"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        if (estimate_setting_check(&b->plan, bad[i][0], bad[i][1], b->arena, &why))
            fail_msg("%s=%s was taken", bad[i][0], bad[i][1]);
        assert_says(why, bad[i][2]);
    }
}

static void test_refused(void **state) {
    struct built *b = *state;
    struct err err = ERR_INIT;
    built_set(b, "one.rnus", "3");
    assert_true(built_make(b, &err) < 0);
    assert_string_equal(err.id, "estimate-setting");
    assert_says(err.text, "--set one.rnus=3");
    b->setting_count = 0;
    err_clear(&err);
    built_assume(b, "three.runs", "3");
    assert_true(built_make(b, &err) < 0);
    assert_string_equal(err.id, "plan-assumption"); /* the plan is wrong, not the command */
    assert_says(err.text, "probelauf.yaml:");
}

static void test_component(void **state) {
    struct built *b = *state;
    built_assume(b, "one.idle", "1h");
    b->plan.assumptions[0].when = (struct plan_date){.given = true, .text = "2026-11-01"};
    const struct estimate *e = built_estimate(b);
    const struct quantity *idle = time_of(b, 0, COMPONENT_IDLE);
    assert_true(idle->state == QUANTITY_ASSUMED && idle->value == 3600.0);
    assert_says(idle->detail, "one.idle=1h by Kim on 2026-11-01: own guess");
    assert_true(built_is_source(b, idle->sources[0]) && idle->source_count == 1);
    assert_int_equal(time_of(b, 1, COMPONENT_IDLE)->state, QUANTITY_OPEN);
    assert_int_equal(e->total.reserved.state, QUANTITY_ASSUMED); /* the weakest of the known */
    /* it is taken as it is; what is drawn beside it keeps its interval */
    const struct quantity *reserved = &e->total.reserved;
    assert_true(reserved->has_interval && e->total.computing.has_interval);
    assert_near(reserved->p05, 3600.0 + e->total.computing.p05);
    assert_near(reserved->p95, 3600.0 + e->total.computing.p95);
    assert_string_equal(reserved->basis, "own-runs");
    assert_says(reserved->detail, "taken as it is");
    assert_int_equal(e->assumed_count, 1);
    assert_false(e->assumed[0].is_set);
    /* --set of every block goes before it */
    built_set(b, "*.idle", "10");
    e = built_estimate(b);
    assert_true(time_of(b, 0, COMPONENT_IDLE)->value == 10.0);
    assert_true(time_of(b, 1, COMPONENT_IDLE)->value == 10.0);
    assert_says(time_of(b, 0, COMPONENT_IDLE)->detail, "command line: *.idle=10");
    assert_int_equal(e->assumed_count, 1);
    assert_true(e->assumed[0].is_set);
    /* the block's own goes before that of every block, the last one before the first */
    built_set(b, "one.idle", "20");
    built_set(b, "one.idle", "30");
    built_estimate(b);
    assert_true(time_of(b, 0, COMPONENT_IDLE)->value == 30.0);
    assert_true(time_of(b, 1, COMPONENT_IDLE)->value == 10.0);
}

/* An assumption never before a measurement; a --set does. */
static void test_before_a_measurement(void **state) {
    struct built *b = *state;
    built_assume(b, "one.prepare", "1h");
    built_assume(b, "step.install", "2h");
    const struct estimate *e = built_estimate(b);
    assert_true(time_of(b, 0, COMPONENT_PREPARE)->value == 7200.0); /* the step is known, then */
    assert_int_equal(e->assumed_count, 1);
    built_step_run(b, &b->plan.steps[0], 60.0);
    e = built_estimate(b);
    assert_true(time_of(b, 0, COMPONENT_PREPARE)->value == 60.0);
    assert_int_equal(time_of(b, 0, COMPONENT_PREPARE)->state, QUANTITY_ESTIMATED);
    assert_int_equal(e->assumed_count, 0);
    built_set(b, "step.install", "30");
    e = built_estimate(b);
    assert_true(time_of(b, 0, COMPONENT_PREPARE)->value == 30.0);
    assert_int_equal(time_of(b, 0, COMPONENT_PREPARE)->state, QUANTITY_ASSUMED);
    built_set(b, "one.prepare", "40");
    e = built_estimate(b);
    assert_true(time_of(b, 0, COMPONENT_PREPARE)->value == 40.0);
    assert_int_equal(e->blocks[0].components[COMPONENT_PREPARE].item_count, 1);
    assert_int_equal(e->assumed_count, 1); /* the step's took no effect */
}

static void test_run_time(void **state) {
    struct built *b = *state;
    built_assume(b, "one.run-time", "200");
    const struct estimate *e = built_estimate(b);
    const struct estimate_item *items = e->blocks[0].components[COMPONENT_RUNS].items;
    assert_int_equal(items[0].time.state, QUANTITY_ESTIMATED); /* it has evidence */
    assert_int_equal(items[1].time.state, QUANTITY_ASSUMED);
    assert_true(items[1].time.value == 1000.0 && items[1].unit.value == 200.0);
    assert_int_equal(e->total.computing.state, QUANTITY_ASSUMED);
    built_set(b, "one.run-time", "10");
    e = built_estimate(b);
    items = e->blocks[0].components[COMPONENT_RUNS].items;
    assert_true(items[0].time.value == 20.0 && items[1].time.value == 50.0);
    assert_int_equal(items[0].time.state, QUANTITY_ASSUMED);
    /* --set of every block goes before the plan's assumption for this one */
    b->setting_count = 0;
    built_set(b, "*.run-time", "7");
    built_estimate(b);
    items = b->estimate.blocks[0].components[COMPONENT_RUNS].items;
    assert_true(items[1].unit.value == 7.0);
}

static void test_runs(void **state) {
    struct built *b = *state;
    built_assume(b, "one.runs", "7"); /* the plan says 5: no effect */
    const struct estimate *e = built_estimate(b);
    assert_int_equal(e->blocks[0].remaining, 7);
    assert_int_equal(e->assumed_count, 0);
    built_set(b, "one.runs", "103");
    e = built_estimate(b);
    assert_int_equal(e->blocks[0].remaining, 203);
    const struct estimate_item *items = e->blocks[0].components[COMPONENT_RUNS].items;
    assert_int_equal(items[0].count.state, QUANTITY_ASSUMED);
    assert_int_equal(items[0].time.state, QUANTITY_ASSUMED);
    assert_true(fabs(items[0].time.value - 10000.0) < 500.0);
    /* what is drawn in it keeps its interval */
    assert_true(items[0].time.has_interval && items[0].time.p05 < 10000.0);
    assert_string_equal(items[0].time.basis, "own-runs");
    assert_says(items[0].time.detail, "set on the command line: one.runs=103");
    assert_int_equal(items[0].unit.state, QUANTITY_ESTIMATED);
    b->setting_count = 0;
    b->study.blocks[0].conditions[1].has_planned = false; /* now the plan does not say */
    e = built_estimate(b);
    assert_int_equal(e->blocks[0].remaining, 9);
    assert_int_equal(e->assumed_count, 1);
}

static void test_nothing_left_by_setting(void **state) {
    struct built *b = *state;
    built_set(b, "*.runs", "0");
    const struct estimate *e = built_estimate(b);
    assert_true(e->total.reserved.value == 0.0 && e->open_count == 0);
}

static void test_failures(void **state) {
    struct built *b = *state;
    /* attempts without a failure, what one costs is assumed: drawn, but assumed */
    built_assume(b, "one.lost-time", "10");
    built_estimate(b);
    const struct quantity *retries = time_of(b, 0, COMPONENT_RETRIES);
    assert_int_equal(retries->state, QUANTITY_ASSUMED);
    assert_int_equal(retries->bound, QUANTITY_AT_LEAST); /* the other condition is open */
    /* the share assumed, too: for the condition without attempts only */
    built_assume(b, "one.failure-rate", "0.5");
    built_estimate(b);
    const struct estimate_item *items = b->estimate.blocks[0].components[COMPONENT_RETRIES].items;
    assert_true(fabs(items[1].time.value - 5.0 * 10.0) < 1e-9); /* one failure per success */
    assert_true(items[0].time.value < 10.0);
    /* --set for both, with a limit: 1/2 + 1/4 failures per run */
    built_set(b, "one.failure-rate", "0.5");
    built_set(b, "one.retry-max", "1");
    built_estimate(b);
    items = b->estimate.blocks[0].components[COMPONENT_RETRIES].items;
    assert_true(fabs(items[0].time.value - 2.0 * 0.75 * 10.0) < 1e-9);
    assert_true(fabs(items[1].time.value - 5.0 * 0.75 * 10.0) < 1e-9);
    assert_int_equal(items[0].time.bound, QUANTITY_AT_LEAST);
    assert_says(items[0].time.detail, "not finished after 1 repeat");
    /* a share of 1 without a limit never ends */
    b->setting_count = 0;
    built_set(b, "one.failure-rate", "1");
    built_estimate(b);
    assert_int_equal(time_of(b, 0, COMPONENT_RETRIES)->reason, QUANTITY_FAILED);
    assert_remedy(&b->estimate, "one", COMPONENT_RETRIES, "no run is ever done",
                  "one.retry-max=COUNT");
    /* 0 is a share, too: then nothing is lost */
    b->setting_count = 0;
    built_set(b, "one.failure-rate", "0");
    built_estimate(b);
    assert_true(time_of(b, 0, COMPONENT_RETRIES)->value == 0.0);
    assert_int_equal(time_of(b, 0, COMPONENT_RETRIES)->state, QUANTITY_ASSUMED);
}

static void test_rate_without_cost(void **state) {
    struct built *b = *state;
    built_set(b, "one.failure-rate", "0.5");
    built_estimate(b);
    assert_int_equal(time_of(b, 0, COMPONENT_RETRIES)->state, QUANTITY_OPEN);
    assert_says(time_of(b, 0, COMPONENT_RETRIES)->detail, "was not seen");
    assert_remedy(&b->estimate, "one", COMPONENT_RETRIES, "costs is not known",
                  "one.lost-time=TIME");
}

static void test_lanes(void **state) {
    struct built *b = *state;
    built_set(b, "one.lanes", "4");
    const struct estimate *e = built_estimate(b);
    const struct estimate_figures *f = &e->blocks[0].figures;
    /* two runs are left: the longer one of them */
    assert_true(f->calendar.value > f->computing.value / 2.0);
    assert_true(f->calendar.value < 0.55 * f->computing.value);
    assert_int_equal(f->calendar.state, QUANTITY_ASSUMED);
    assert_int_equal(f->reserved.state, QUANTITY_ESTIMATED);
    /* where all else is known it is no bound */
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        if (k != COMPONENT_RUNS)
            built_assume(b, arena_printf(b->arena, "one.%s", component_name(k)), "1");
    built_assume(b, "one.run-time", "100");
    built_assume(b, "step.install", "1");
    e = built_estimate(b);
    f = &e->blocks[0].figures;
    assert_int_equal(f->reserved.bound, QUANTITY_EXACT);
    assert_int_equal(f->calendar.bound, QUANTITY_EXACT);
}

/* ---- what changes no figure says why, and is not among the assumptions in the figures ---- */

static void assert_no_effect(struct built *b, const char *key, const char *why) {
    const struct estimate *e = built_estimate(b);
    for (size_t i = 0; i < e->assumed_count; i++)
        if (strcmp(e->assumed[i].key, key) == 0)
            fail_msg("%s is among the assumptions in the figures", key);
    for (size_t i = 0; i < e->without_effect_count; i++)
        if (strcmp(e->without_effect[i].key, key) == 0) {
            assert_says(e->without_effect[i].no_effect, why);
            return;
        }
    fail_msg("%s is not named", key);
}

static void test_no_effect(void **state) {
    struct built *b = *state;
    built_set(b, "one.retry-max", "3");
    assert_no_effect(b, "one.retry-max", "retries are open: ");
    b->setting_count = 0;
    built_set(b, "one.failure-rate", "0.5");
    assert_no_effect(b, "one.failure-rate", "what a failed attempt costs is not known");
    b->setting_count = 0;
    built_set(b, "two.lost-time", "5");
    assert_no_effect(b, "two.lost-time", "retries are open: ");
    b->setting_count = 0;
    built_set(b, "two.lanes", "5");
    assert_no_effect(b, "two.lanes", "no time of runs");
    b->setting_count = 0;
    /* how often the step is repeated is open: what one takes changes nothing */
    b->plan.steps[0].repeats = PLAN_REPEATS_UNSAID;
    built_assume(b, "step.install", "28h");
    assert_no_effect(b, "step.install", "how often");
    assert_int_equal(time_of(b, 0, COMPONENT_PREPARE)->state, QUANTITY_OPEN);
    b->plan.steps[0].repeats = PLAN_ONCE;
    built_set(b, "one.prepare", "40");
    assert_no_effect(b, "step.install", "one.prepare=40 goes before it");
    b->setting_count = 0;
    built_step_run(b, &b->plan.steps[0], 60.0);
    assert_no_effect(b, "step.install", "runs of the step that were seen");
    built_assume(b, "one.runs", "7");
    b->study.blocks[0].conditions[0].has_planned = true;
    b->study.blocks[0].conditions[1].has_planned = true;
    assert_no_effect(b, "one.runs", "the plan itself says");
    built_assume(b, "one.idle", "7");
    built_set(b, "*.idle", "9");
    assert_no_effect(b, "one.idle", "*.idle=9 goes before it");
    built_set(b, "one.runs", "0");
    built_set(b, "one.checking", "5");
    assert_no_effect(b, "one.checking", "nothing is left");
    /* a value that took effect is not said to have none */
    assert_int_equal(b->estimate.assumed_count, 2);
    for (size_t i = 0; i < b->estimate.assumed_count; i++)
        assert_null(b->estimate.assumed[i].no_effect);
}

/* ---- a setting changes what depends on its key, and nothing else ---- */

static bool is_same(const struct quantity *a, const struct quantity *b) {
    return a->state == b->state && a->bound == b->bound && a->reason == b->reason &&
           a->value == b->value && a->has_interval == b->has_interval && a->p05 == b->p05 &&
           a->p95 == b->p95;
}

static void test_only_what_depends(void **state) {
    struct built *b = *state;
    static const struct {
        const char *key, *value;
        unsigned components[2]; /* bits, per block */
    } cases[] = {
        {"one.idle", "5", {1 << COMPONENT_IDLE, 0}},
        {"*.checking", "5", {1 << COMPONENT_CHECKING, 1 << COMPONENT_CHECKING}},
        {"two.fixing", "5", {0, 1 << COMPONENT_FIXING}},
        {"step.install", "5", {1 << COMPONENT_PREPARE, 0}},
        {"one.run-time", "5", {1 << COMPONENT_RUNS, 0}},
        {"two.run-time", "5", {0, 1 << COMPONENT_RUNS}},
        {"one.lost-time", "5", {1 << COMPONENT_RETRIES, 0}},
        {"one.runs", "50", {1 << COMPONENT_RUNS, 0}},
        {"one.lanes", "3", {0, 0}},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        b->setting_count = 0;
        struct estimate before = *built_estimate(b);
        built_set(b, cases[i].key, cases[i].value);
        const struct estimate *after = built_estimate(b);
        for (size_t block = 0; block < 2; block++)
            for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
                bool same = is_same(&before.blocks[block].components[k].time,
                                    &after->blocks[block].components[k].time);
                bool expected = !(cases[i].components[block] & 1u << k);
                if (same != expected)
                    fail_msg("%s: %s of block %zu %s", cases[i].key, component_name(k), block,
                             same ? "did not change" : "changed");
            }
        assert_int_equal(after->assumed_count, 1);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_keys),
        TEST(test_refused),
        TEST(test_component),
        TEST(test_before_a_measurement),
        TEST(test_run_time),
        TEST(test_runs),
        TEST(test_nothing_left_by_setting),
        TEST(test_failures),
        TEST(test_rate_without_cost),
        TEST(test_lanes),
        TEST(test_no_effect),
        TEST(test_only_what_depends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
