/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What failed attempts say of what is left, and what they do not say; what the code cannot run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "estimate-asserts.h"
#include "rules/comparable.h"

static int setup(void **state) {
    struct built *b = built_new();
    built_room(b, 2);
    *state = b;
    return 0;
}

static int teardown(void **state) {
    *state = built_free(*state);
    return 0;
}

static const struct estimate_item *item_of(const struct built *b, enum component k, size_t i) {
    const struct estimate_component *c = &b->estimate.blocks[0].components[k];
    assert_true(i < c->item_count);
    return &c->items[i];
}

static void assert_same(const struct quantity *a, const struct quantity *b) {
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->n, b->n);
    assert_true(a->value == b->value && a->p05 == b->p05 && a->p95 == b->p95);
}

/* ---- B10: a trial that failed before computing is never projected ---- */

static void test_b10_failed_before_computing_is_never_projected(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    struct study_condition *c = &block->conditions[0];
    const char *why = NULL;

    struct run *trial = built_fails(b, c, 2.0); /* it loaded for 2 s and computed nothing */
    trial->phase[PHASE_LOAD] = quantity_measured(UNIT_SECOND, 2.0, "mark");
    assert_false(comparable_is_usable(trial, &why));
    built_estimate(b);
    assert_open(time_of(b, 0, COMPONENT_RUNS), QUANTITY_NO_EVIDENCE, "no run counts");
    assert_int_equal(b->estimate.total.computing.state, QUANTITY_OPEN);
    assert_int_equal(item_of(b, COMPONENT_RUNS, 0)->unit.state, QUANTITY_OPEN);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        if (k != COMPONENT_RETRIES) /* it did cost its 2 s, as a failure */
            assert_int_equal(time_of(b, 0, k)->state, QUANTITY_OPEN);
    assert_int_equal(b->estimate.blocks[0].host_memory.need.state, QUANTITY_OPEN);
    /* nor does it move what is projected from runs that count */
    c->run_count = 0;
    c->attempts = c->failures = 0;
    three_runs(b, c);
    built_estimate(b);
    struct quantity before = *time_of(b, 0, COMPONENT_RUNS);
    struct run *again = built_fails(b, c, 2.0);
    again->phase[PHASE_LOAD] = quantity_measured(UNIT_SECOND, 2.0, "mark");
    built_estimate(b);
    assert_same(&before, time_of(b, 0, COMPONENT_RUNS));
    for (size_t i = 0; i < time_of(b, 0, COMPONENT_RUNS)->source_count; i++)
        assert_string_not_equal(time_of(b, 0, COMPONENT_RUNS)->sources[i], again->id);
}

/* ---- what repeating does not cure ---- */

static void test_incurable(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    struct study_condition *c = &block->conditions[0];

    three_runs(b, c);
    built_fails(b, c, 50.0);
    built_estimate(b);
    struct quantity before = *time_of(b, 0, COMPONENT_RETRIES);
    assert_int_equal(before.state, QUANTITY_ESTIMATED);
    assert_null(strstr(b->estimate.blocks[0].weakness, "does not cure"));
    built_fails(b, c, 500.0)->outcome = OUTCOME_GPU_OOM;
    built_fails(b, c, 500.0)->outcome = OUTCOME_GPU_OOM;
    built_fails(b, c, 500.0)->outcome = OUTCOME_DEPENDENCY;
    built_estimate(b);
    assert_same(&before, time_of(b, 0, COMPONENT_RETRIES)); /* no part of the rate or the losses */
    assert_says(time_of(b, 0, COMPONENT_RETRIES)->detail, "1 of 4 attempts failed");
    assert_says(b->estimate.blocks[0].weakness,
                "2 attempts ended with gpu_oom, which repeating does not cure");
    assert_says(b->estimate.blocks[0].weakness,
                "1 attempt ended with dependency, which repeating does not cure");
}

static void test_only_incurable(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    built_fails(b, &block->conditions[0], 5.0)->outcome = OUTCOME_GPU_OOM;
    built_estimate(b);
    assert_open(time_of(b, 0, COMPONENT_RETRIES), QUANTITY_NO_EVIDENCE, "does not cure");
    assert_remedy(&b->estimate, "one", COMPONENT_RETRIES, "repeating does not cure", "run --block");
}

/* ---- how many retries: a number with the state of what it rests on ---- */

static void test_count_of_retries(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 29);
    struct study_condition *c = &block->conditions[0];

    built_estimate(b);
    assert_int_equal(item_of(b, COMPONENT_RETRIES, 0)->count.state, QUANTITY_OPEN);
    three_runs(b, c);
    for (size_t i = 0; i < 3; i++)
        built_fails(b, c, 50.0);
    built_estimate(b);
    const struct estimate_item *item = item_of(b, COMPONENT_RETRIES, 0);
    assert_int_equal(item->count.state, QUANTITY_ESTIMATED);
    assert_int_equal(item->count.n, 6);
    assert_true(item->count.source_count > 0);
    assert_true(item->count.value > 13.0 && item->count.value < 52.0); /* half of them fail */
    assert_near(item->count.value * 50.0, item->time.value);
    built_set(b, "one.failure-rate", "0.5");
    built_estimate(b);
    item = item_of(b, COMPONENT_RETRIES, 0);
    assert_int_equal(item->count.state, QUANTITY_ASSUMED);
    assert_near(item->count.value, 26.0);
}

/* ---- what other conditions' failures say ---- */

static bool is_source(const struct quantity *q, const struct run *run) {
    for (size_t i = 0; i < q->source_count; i++)
        if (strcmp(q->sources[i], run->id) == 0)
            return true;
    return false;
}

static void test_borrowed_losses(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 3, 9);
    struct study_condition *c = block->conditions;

    three_runs(b, &c[0]);
    for (size_t i = 0; i < 4; i++)
        built_counts(b, &c[1], 2000.0);
    built_estimate(b);
    assert_int_equal(item_of(b, COMPONENT_RETRIES, 1)->time.state, QUANTITY_OPEN);
    struct run *failed = built_fails(b, &c[0], 50.0); /* half of a good run of 100 s */
    built_estimate(b);
    const struct estimate_item *item = item_of(b, COMPONENT_RETRIES, 1);
    assert_int_equal(item->time.state, QUANTITY_ESTIMATED);
    assert_string_equal(item->time.basis, "borrowed-failures");
    assert_int_equal(item->time.n, 4); /* its own attempts */
    assert_near(item->unit.value, 1000.0);
    assert_string_equal(item->unit.basis, "borrowed-failures");
    assert_says(item->time.detail,
                "4 attempts were seen and none failed; of other conditions 1 of 4");
    assert_true(is_source(&item->time, failed) && is_source(&item->unit, failed));
    /* no attempt of its own: open */
    assert_open(&item_of(b, COMPONENT_RETRIES, 2)->time, QUANTITY_NO_EVIDENCE, "no attempt");
    assert_string_equal(time_of(b, 0, COMPONENT_RETRIES)->basis, "borrowed-failures");
    /* what people assume of this block goes before it */
    built_assume(b, "one.lost-time", "7s");
    built_estimate(b);
    assert_near(item_of(b, COMPONENT_RETRIES, 1)->unit.value, 7.0);
    assert_near(item_of(b, COMPONENT_RETRIES, 0)->unit.value, 50.0); /* never before a loss seen */
}

/* A share of a good run needs a good run, of either condition. */
static void test_nothing_to_borrow(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 2, 9);
    struct study_condition *c = block->conditions;

    built_fails(b, &c[0], 50.0); /* what would be good there is not known */
    three_runs(b, &c[1]);
    built_estimate(b);
    assert_open(&item_of(b, COMPONENT_RETRIES, 1)->time, QUANTITY_NO_EVIDENCE, "no proof");
    assert_int_equal(item_of(b, COMPONENT_RETRIES, 0)->time.state, QUANTITY_ESTIMATED);
}

/* The condition that has just failed goes on as one that fails. */
static void test_fails_now(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    struct study_condition *c = &block->conditions[0];
    const struct study_run *kept[8];

    built_plan_block(b, block)->retry_max =
        (struct plan_whole){.given = true, .value = 3, .at = built_at(b)};
    three_runs(b, c);
    for (size_t i = 0; i < 2; i++)
        built_fails(b, c, 50.0);
    built_estimate(b);
    double before = item_of(b, COMPONENT_RETRIES, 0)->count.value; /* it failed long ago */
    memcpy(kept, c->runs, 5 * sizeof *kept);
    for (size_t i = 0; i < 5; i++)
        c->runs[i] = kept[4 - i]; /* newest first: now the newest ones failed */
    built_estimate(b);
    assert_true(item_of(b, COMPONENT_RETRIES, 0)->count.value > before);
}

/* ---- a result that is not what was expected ---- */

static void test_missed(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 29);
    struct study_condition *c = &block->conditions[0];

    three_runs(b, c);
    struct run *missed = built_fails(b, c, 90.0);
    missed->outcome = OUTCOME_OK;
    missed->verified = "no";
    built_estimate(b);
    const struct estimate_item *item = item_of(b, COMPONENT_RETRIES, 0);
    assert_int_equal(item->time.state, QUANTITY_ESTIMATED);
    assert_near(item->unit.value, 90.0);
    assert_says(item->time.detail, "1 of 4 attempts failed");
    /* what an attempt that fails would cost is still not known */
    assert_int_equal(item->time.bound, QUANTITY_AT_LEAST);
    missed->verified = "yes";
    built_estimate(b);
    assert_open(time_of(b, 0, COMPONENT_RETRIES), QUANTITY_NO_EVIDENCE, "none failed");
}

/* ---- what the code cannot run, as the plan says ---- */

static void make_unsupported(struct built *b, struct study_block *block, size_t condition) {
    struct plan_block *plan = built_plan_block(b, block);
    struct plan_condition *c = &plan->conditions[condition];
    c->supported = PLAN_NO;
    plan->axes = arena_alloc(b->arena, sizeof *plan->axes);
    plan->axis_count = 1;
    plan->axes[0] = (struct plan_axis){.at = built_at(b), .name = "a"};
    plan->axes[0].values = arena_alloc(b->arena, sizeof *plan->axes[0].values);
    plan->axes[0].value_count = 1;
    plan->axes[0].values[0] = (struct plan_value){.at = built_at(b),
                                                  .text = c->axes[0].value,
                                                  .supported = PLAN_NO,
                                                  .supported_source = "generate.py:120"};
}

static void test_unsupported(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 2, 4);
    make_unsupported(b, block, 1);
    three_runs(b, &block->conditions[0]);
    const char *at = arena_printf(b->arena, "probelauf.yaml:%u, generate.py:120", b->line);
    built_assume(b, "one.run-time", "5s"); /* does not make it runnable */
    const struct estimate *e = built_estimate(b);
    const struct estimate_item *runs = item_of(b, COMPONENT_RUNS, 1);
    assert_open(&runs->time, QUANTITY_NOT_SUPPORTED, "the code does not support it");
    assert_says(runs->time.detail, at);
    assert_open(&item_of(b, COMPONENT_RETRIES, 1)->time, QUANTITY_NOT_SUPPORTED, "not support");
    const struct estimate_open *part = assert_remedy(
        e, "one", COMPONENT_RUNS, "the plan says that the code does not support it", at);
    assert_says(part->remedy, "change the code");
    assert_null(strstr(part->remedy, "probelauf run"));
    assert_says(e->blocks[0].weakness, "does not support 1 condition");
    assert_null(strstr(e->blocks[0].weakness, "no run that counts"));
    assert_int_equal(e->without_effect_count, 1);
    assert_says(e->without_effect[0].no_effect, "does not support it");
    /* a comparison with such a condition is provisional, a study of scale is not */
    assert_true(e->provisional);
    assert_says(e->provisional_reasons[0], "1 condition of block 'one'");
    built_plan_block(b, block)->kind = PLAN_SCALE;
    assert_false(built_estimate(b)->provisional);
    /* the place is the condition's where no value says it */
    built_plan_block(b, block)->axis_count = 0;
    built_estimate(b);
    assert_says(item_of(b, COMPONENT_RUNS, 1)->time.detail,
                plan_source(&b->plan, block->conditions[1].condition->at, b->arena));
}

static void test_unsupported_that_ran(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    make_unsupported(b, block, 0);
    three_runs(b, &block->conditions[0]);
    const struct estimate *e = built_estimate(b);
    assert_int_equal(time_of(b, 0, COMPONENT_RUNS)->state, QUANTITY_ESTIMATED);
    assert_false(e->provisional);
    assert_says(e->blocks[0].weakness, "1 condition ran, although the plan says");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_b10_failed_before_computing_is_never_projected),
        TEST(test_incurable),
        TEST(test_only_incurable),
        TEST(test_count_of_retries),
        TEST(test_borrowed_losses),
        TEST(test_nothing_to_borrow),
        TEST(test_fails_now),
        TEST(test_missed),
        TEST(test_unsupported),
        TEST(test_unsupported_that_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
