/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plan and runs joined: what belongs where, what is done, what is unplanned, freezes, facts, times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "rules/study.h"

#include "build-records.h"

#define TOKENS "tokens=96"

/* The newest run is the first. */
static const struct study_run *nth(const struct study *study, size_t index) {
    assert_true(index < study->run_count);
    return &study->runs[index];
}

/* ---- conditions and blocks ---- */

static void test_nothing(void **state) {
    struct build_study *s = *state;
    const struct study *study = build_derive(s);

    assert_int_equal(study->block_count, 0);
    assert_int_equal(study->run_count, 0);
    assert_true(quantity_is_known(&study->spent)); /* the runs were looked at: there is none */
    assert_float_equal(study->spent.value, 0.0, 0.0);
    assert_int_equal(study->spent.n, 0);
    assert_int_equal(study->first_success.state, QUANTITY_OPEN);
}

static void test_block_without_runs(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "compare", 3, TOKENS);
    build_condition(s, block, "policy=evict keep=0.5");
    build_condition(s, block, "policy=full keep=1");
    struct plan_block *bare = build_block(s, "bare", 1, TOKENS);
    const struct study *study = build_derive(s);

    assert_ptr_equal(study->blocks[0].block, block);
    assert_int_equal(study->blocks[0].state, STUDY_PLANNED);
    assert_int_equal(study->blocks[0].planned, 6);
    assert_true(study->blocks[0].has_planned);
    assert_int_equal(study->blocks[0].level, EVIDENCE_NONE);
    assert_says(study->blocks[0].why,
                "2 of 2 conditions have no measured run; the first is policy=evict keep=0.5: no "
                "run yet");
    assert_ptr_equal(study->blocks[1].block, bare);
    assert_says(study->blocks[1].why, "it has no conditions");
}

/* What became of the last attempt must not hide why the good ones do not count any more. */
static void test_reason_is_of_a_usable_run(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "compare", 2, TOKENS);
    struct plan_condition *condition = build_condition(s, block, "keep=0.5");
    json_put_text(build_study_run(s, condition, 10.0)->start, "paper_version", "v0");
    build_study_run(s, condition, 11.0)->outcome = OUTCOME_FAILED;
    struct run *invalid = build_study_run(s, condition, 12.0);
    invalid->validity = RUN_INVALID;
    const struct study *study = build_derive(s);

    assert_says(study->blocks[0].conditions[0].why,
                "the newest usable run: the paper version was 'v0'");
    json_put_text(invalid->start, "purpose", "function-test"); /* invalid is still said first */
    study = build_derive(s);
    assert_says(study->blocks[0].conditions[0].why, "the newest usable run: the paper version");
}

static void test_states(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "compare", 2, TOKENS);
    struct plan_condition *condition = build_condition(s, block, "keep=0.5");
    struct run *run = build_study_run(s, condition, 10.0);

    run->outcome = OUTCOME_FAILED;
    const struct study *study = build_derive(s);
    assert_int_equal(study->blocks[0].state, STUDY_TRIED);
    assert_int_equal(study->blocks[0].conditions[0].attempts, 1);
    assert_int_equal(study->blocks[0].conditions[0].failures, 1);
    assert_says(study->blocks[0].why, "the newest: it failed");

    run = build_study_run(s, condition, 11.0);
    json_put_text(run->start, "purpose", "function-test");
    study = build_derive(s);
    assert_int_equal(study->blocks[0].state, STUDY_TRIED);
    assert_int_equal(study->blocks[0].level, EVIDENCE_FUNCTION_TEST);
    assert_says(study->blocks[0].why, "the newest: it is a function test");
    assert_int_equal(study->blocks[0].conditions[0].attempts, 1); /* it says nothing of failing */

    run = build_study_run(s, condition, 12.0);
    run->verified = "not-checked";
    study = build_derive(s);
    assert_int_equal(study->blocks[0].state, STUDY_TRIED); /* counts for time, is not done */
    assert_int_equal(study->blocks[0].level, EVIDENCE_MEASURED);
    assert_null(study->blocks[0].why);
    assert_int_equal(study->blocks[0].valid, 1);
    assert_int_equal(study->blocks[0].done, 0);

    run->validity = RUN_VALID;
    study = build_derive(s);
    assert_int_equal(study->blocks[0].state, STUDY_UNDERWAY);
    assert_int_equal(study->blocks[0].done, 1);
    build_study_run(s, condition, 12.0);
    build_study_run(s, condition, 13.0);
    study = build_derive(s);
    assert_int_equal(study->blocks[0].state, STUDY_DONE);
    assert_int_equal(study->blocks[0].done, 2); /* never more than planned */
    assert_int_equal(study->blocks[0].valid, 3);
    assert_int_equal(study->blocks[0].conditions[0].run_count, 5);
    assert_ptr_equal(study->blocks[0].conditions[0].runs[0]->run, s->runs[4]);

    block->runs.given = false; /* how many are meant is open: it is never done */
    study = build_derive(s);
    assert_false(study->blocks[0].has_planned);
    assert_int_equal(study->blocks[0].done, 3);
    assert_int_equal(study->blocks[0].state, STUDY_UNDERWAY);
}

static void test_attempts(void **state) {
    struct build_study *s = *state;
    struct plan_condition *condition =
        build_condition(s, build_block(s, "compare", 9, TOKENS), "keep=0.5");
    static const enum outcome_class outcomes[] = {
        OUTCOME_OK,          OUTCOME_GPU_OOM, OUTCOME_PREEMPTED, OUTCOME_BUDGET,
        OUTCOME_INTERRUPTED, OUTCOME_ENDED,   OUTCOME_RUNNING};

    for (size_t i = 0; i < ARRAY_LENGTH(outcomes); i++)
        build_study_run(s, condition, 10.0)->outcome = outcomes[i];
    build_environment(s, "b");
    for (size_t i = 0; i < s->run_count; i++)
        json_put_text(s->runs[i]->start, "environment_id", "here");
    struct run *elsewhere = build_study_run(s, condition, 10.0);
    elsewhere->outcome = OUTCOME_FAILED;
    json_put_text(elsewhere->start, "environment_id", "b");
    const struct study *study = build_derive(s);
    /* ended on purpose, not ended, or in another environment: says nothing of failing here */
    assert_int_equal(study->blocks[0].conditions[0].attempts, 3);
    assert_int_equal(study->blocks[0].conditions[0].failures, 2);
    assert_ptr_equal(nth(study, 0)->environment, &s->plan.environments[1]);
    /* seven of 10 s here; one of 10 s there, which failed */
    assert_float_equal(study->here.spent.value, 70.0, 1e-9);
    assert_int_equal(study->here.spent.n, 7);
    assert_float_equal(study->here.failed_time.value, (float)study->here.failed_time.n * 10.0f,
                       1e-9);
    assert_float_equal(study->elsewhere.spent.value, 10.0, 1e-9);
    assert_int_equal(study->elsewhere.failed_time.n, 1);
    assert_int_equal(study->here.failed_time.n + 1, study->failed_time.n);
    s->input.environment = &s->plan.environments[1];
    study = build_derive(s);
    assert_float_equal(study->here.spent.value, 10.0, 1e-9);
    assert_float_equal(study->elsewhere.spent.value, 70.0, 1e-9);
}

/* What was run with the condition's words, but was not it, says nothing about how often it fails.
 */
static void test_foreign_attempts(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "compare", 9, TOKENS);
    struct plan_condition *condition = build_condition(s, block, "keep=0.5");
    build_condition(s, build_block(s, "verify", 1, TOKENS), "keep=0.5");

    build_study_run(s, condition, 10.0)->outcome = OUTCOME_FAILED;
    build_study_run(s, condition, 10.0);
    for (int i = 0; i < 3; i++) {
        struct run *other = build_study_run(s, condition, 1.0);
        build_put(other->start, "command", "[\"true\"]");
        other->outcome = i == 0 ? OUTCOME_FAILED : OUTCOME_OK;
    }
    const struct study *study = build_derive(s);
    for (size_t b = 0; b < 2; b++) { /* as its own block sees it, and as the one that shares it */
        const struct study_condition *seen = &study->blocks[b].conditions[0];
        assert_int_equal(seen->attempts, 2);
        assert_int_equal(seen->failures, 1);
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(seen->runs[i]->is_attempt, i >= 3);
    }
}

#define DATA(time) "[{\"path\":\"data.txt\",\"kind\":\"file\",\"bytes\":5,\"mtime_ns\":" time "}]"

/* Runs that ended well and do not count are not lost without a word. */
static void test_uncounted(void **state) {
    struct build_study *s = *state;
    struct plan_condition *condition =
        build_condition(s, build_block(s, "compare", 3, TOKENS), "keep=0.5");
    for (int i = 0; i < 4; i++) {
        /* touched before the last */
        build_put(build_study_run(s, condition, 10.0)->start, "inputs",
                  i < 3 ? DATA("1") : DATA("2"));
    }
    build_study_run(s, condition, 10.0)->outcome = OUTCOME_FAILED;
    build_study_run(s, condition, 10.0)->validity = RUN_INVALID;
    json_put_text(build_study_run(s, condition, 10.0)->start, "purpose", "function-test");
    const struct study_condition *seen = &build_derive(s)->blocks[0].conditions[0];
    assert_int_equal(seen->valid, 1);
    assert_int_equal(seen->uncounted, 3); /* not those that failed or that people took out */
    assert_says(seen->uncounted_why, "an input changed: data.txt (same size, written at another");

    for (int i = 0; i < 3; i++)
        build_put(s->runs[i]->start, "inputs", DATA("2"));
    seen = &build_derive(s)->blocks[0].conditions[0];
    assert_int_equal(seen->uncounted, 0);
    assert_null(seen->uncounted_why);
}

/* The weakest condition decides what a block rests on. */
static void test_weakest(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "compare", 1, TOKENS);
    struct plan_condition *one = build_condition(s, block, "keep=1");
    struct plan_condition *half = build_condition(s, block, "keep=0.5");
    struct run *run;

    build_study_run(s, one, 10.0);
    run = build_study_run(s, half, 10.0);
    build_put(run->environment, "gpu", "{\"count\":2,\"devices\":[]}");
    const struct study *study = build_derive(s);
    assert_int_equal(study->blocks[0].level, EVIDENCE_FUNCTION_TEST);
    assert_says(study->blocks[0].why, "1 of 2 conditions has no measured run; the first is "
                                      "keep=0.5: the newest: it ran on 2 "
                                      "GPUs, the plan says 1");
}

/* ---- the reference ---- */

/* A newer run that does not fit anyway does not decide what the others are compared with. */
static void test_reference_fits(void **state) {
    struct build_study *s = *state;
    struct plan_condition *condition =
        build_condition(s, build_block(s, "compare", 3, TOKENS), "keep=0.5");
    struct run *old, *newer;

    build_study_run(s, condition, 10.0);
    old = build_study_run(s, condition, 10.0);
    newer = build_study_run(s, condition, 10.0);
    build_put(newer->start, "inputs", "[]");
    const struct study *study = build_derive(s);
    assert_int_equal(nth(study, 0)->evidence.level, EVIDENCE_MEASURED); /* the newest inputs hold */
    assert_says(nth(study, 1)->evidence.why, "the newest run that fits does not have");
    build_put(newer->environment, "code", "{\"digest\":\"d0\"}");
    study = build_derive(s);
    assert_int_equal(nth(study, 0)->evidence.level, EVIDENCE_NONE);
    assert_int_equal(nth(study, 1)->evidence.level, EVIDENCE_MEASURED);
    assert_ptr_equal(nth(study, 1)->run, old);
    assert_int_equal(nth(study, 2)->evidence.level, EVIDENCE_MEASURED);
}

/* ---- a condition that two blocks share ---- */

static void test_shared_condition(void **state) {
    struct build_study *s = *state;
    struct plan_block *compare = build_block(s, "compare", 2, TOKENS);
    struct plan_block *verify = build_block(s, "verify", 1, TOKENS);
    struct plan_condition *a = build_condition(s, compare, "keep=0.5");
    struct plan_condition *b = build_condition(s, verify, "keep=0.5");

    assert_string_equal(a->id, b->id);
    build_study_run(s, a, 10.0);
    const struct study *study = build_derive(s);
    assert_int_equal(study->blocks[1].valid, 1);
    assert_int_equal(study->blocks[1].state, STUDY_PLANNED); /* nobody has begun it */
    for (int i = 0; i < 3; i++)
        build_study_run(s, a, 10.0);
    study = build_derive(s);
    assert_int_equal(study->blocks[0].valid, 4); /* evidence in both … */
    assert_int_equal(study->blocks[1].valid, 4);
    assert_int_equal(study->blocks[0].done, 2); /* … done in one: two, then one, then none */
    assert_int_equal(study->blocks[1].done, 1);
    assert_ptr_equal(nth(study, 3)->block, compare);
    assert_ptr_equal(nth(study, 2)->block, compare);
    assert_ptr_equal(nth(study, 1)->block, verify);
    assert_ptr_equal(nth(study, 0)->block, compare);
    assert_int_equal(study->blocks[1].conditions[0].run_count, 4);
    assert_int_equal(study->blocks[1].state, STUDY_DONE);
    for (size_t i = 0; i < 4; i++) {
        const struct study_run *seen = study->blocks[1].conditions[0].runs[i];
        assert_ptr_equal(seen->block, verify);
        assert_ptr_equal(seen->condition, b);
        assert_int_equal(seen->is_elsewhere, i != 1);
    }
    /* what a run says of its block goes before the order of the plan */
    json_put_text(s->runs[0]->start, "block", "verify");
    study = build_derive(s);
    assert_ptr_equal(nth(study, 3)->block, verify);
    assert_int_equal(study->blocks[0].done, 2);
    assert_int_equal(study->blocks[1].done, 1);
    assert_ptr_equal(nth(study, 2)->block, compare);
    json_put_text(s->runs[1]->start, "block", "verify"); /* that one is done already */
    json_put_text(s->runs[2]->start, "block", "of an earlier plan");
    study = build_derive(s);
    assert_int_equal(study->blocks[0].done, 2);
    assert_int_equal(study->blocks[1].done, 1);
    assert_ptr_equal(nth(study, 2)->block, verify);
    assert_ptr_equal(nth(study, 1)->block, compare);
}

/* Each block looks at the run with its own freeze. */
static void test_shared_condition_frozen(void **state) {
    struct build_study *s = *state;
    struct plan_condition *a = build_condition(s, build_block(s, "compare", 1, TOKENS), "keep=0.5");
    build_condition(s, build_block(s, "verify", 1, TOKENS), "keep=0.5");
    const struct evidence_freeze freezes[] = {
        {.id = "new", .block = "compare", .code_digest = "d0"},
        {.id = "old", .block = "compare", .code_digest = "d1"}};

    build_study_run(s, a, 10.0);
    s->input.freezes = freezes;
    s->input.freeze_count = 2;
    const struct study *study = build_derive(s);
    assert_ptr_equal(study->blocks[0].freeze, &freezes[0]);
    assert_null(study->blocks[1].freeze);
    assert_int_equal(study->blocks[0].level, EVIDENCE_NONE);
    assert_int_equal(study->blocks[1].level, EVIDENCE_MEASURED);
    assert_int_equal(study->blocks[0].done, 0);
    assert_int_equal(study->blocks[1].done, 1);
    assert_string_equal(nth(study, 0)->block->id, "verify");
    assert_int_equal(nth(study, 0)->evidence.level, EVIDENCE_MEASURED);
    assert_says(study->blocks[0].conditions[0].runs[0]->evidence.why, "frozen for block 'compare'");
}

/* ---- unplanned runs and steps ---- */

static void test_unplanned(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "compare", 1, TOKENS);
    struct plan_condition *condition = build_condition(s, block, "keep=0.5");
    s->plan.steps[s->plan.step_count++] =
        (struct plan_step){.name = "install", .component = COMPONENT_PREPARE};

    struct run *none = build_study_run(s, condition, 1.0);
    json_object_del(none->start, "condition_id");
    build_put(none->start, "condition", "{}");
    struct run *given = build_study_run(s, condition, 2.0);
    json_object_del(given->start, "condition_id");
    build_put(given->start, "condition", "{\"keep\":\"0.4\"}");
    struct run *step = build_study_run(s, condition, 4.0);
    json_object_del(step->start, "condition_id");
    json_put_text(step->start, "step", "install");
    struct run *strange = build_study_run(s, condition, 8.0);
    json_object_del(strange->start, "condition_id");
    json_put_text(strange->start, "step", "instal");
    build_study_run(s, condition, 16.0);
    struct run *running = build_study_run(s, condition, 32.0);
    json_object_del(running->start, "condition_id");
    build_put(running->start, "condition", "{}");
    running->running = true;
    running->outcome = OUTCOME_RUNNING;
    running->wall = quantity_open(NULL, QUANTITY_RUNNING, NULL);

    const struct study *study = build_derive(s);
    assert_false(nth(study, 5)->planned);
    assert_says(nth(study, 5)->unplanned_why, "without a condition of the plan (-c)");
    assert_says(nth(study, 4)->unplanned_why, "the plan has no condition for keep=0.4");
    assert_true(nth(study, 3)->planned);
    assert_null(nth(study, 3)->unplanned_why);
    assert_ptr_equal(nth(study, 3)->step, &s->plan.steps[0]);
    assert_int_equal(nth(study, 3)->evidence.level, EVIDENCE_NONE);
    assert_says(nth(study, 2)->unplanned_why, "the plan has no step 'instal'");
    assert_true(nth(study, 1)->planned);
    /* their time, with each run as a part; the running one is an open part */
    assert_int_equal(study->unplanned_time.n, 4);
    assert_int_equal(study->unplanned_time.part_count, 4);
    assert_float_equal(study->unplanned_time.value, 11.0, 1e-9);
    assert_int_equal(study->unplanned_time.bound, QUANTITY_AT_LEAST);
    assert_string_equal(study->unplanned_time.parts[3].name, none->id);
    assert_int_equal(study->unplanned_time.source_count, 4);
    assert_float_equal(study->spent.value, 31.0, 1e-9);
    assert_int_equal(study->spent.n, 6);
}

/* Too little was said: the plan has conditions for it, and which one is not guessed. */
static void test_several_conditions(void **state) {
    struct build_study *s = *state;
    build_condition(s, build_block(s, "compare", 1, TOKENS), "keep=0.5 policy=evict");
    struct plan_block *block = build_block(s, "scale", 1, "tokens=96 context=64");
    struct run *run = build_study_run(s, build_condition(s, block, "keep=0.5 policy=evict"), 1.0);
    struct run *again = build_study_run(s, &block->conditions[0], 1.0);

    json_object_del(run->start, "condition_id");
    json_object_del(run->start, "block");
    build_put(run->start, "condition", "{\"keep\":\"0.5\"}");
    json_object_del(again->start, "condition_id");
    json_object_del(again->start, "block");
    build_put(again->start, "condition", "{\"keep\":\"0.5\"}");
    const struct study *study = build_derive(s);
    for (size_t i = 0; i < 2; i++) {
        assert_false(nth(study, i)->planned);
        assert_says(nth(study, i)->unplanned_why,
                    "keep=0.5 does not tell its condition: it could be");
        assert_says(nth(study, i)->unplanned_why, "of block 'scale'");
    }
}

/* Runs of a plan that was changed since are shown where they were meant, and are unplanned now. */
static void test_changed_plan(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "compare", 1, "seed=1 tokens=96");
    struct plan_condition *old = build_condition(s, block, "keep=0.5 policy=evict");
    struct run *run = build_study_run(s, old, 10.0);
    struct run *gone = build_study_run(s, old, 10.0);

    json_put_text(gone->start, "condition_id", "of keep=0.4");
    build_put(gone->start, "condition", "{\"keep\":\"0.4\",\"policy\":\"evict\"}");
    block->condition_count = 0;
    block->fixed = build_pairs(s->arena, "seed=1 tokens=128");
    build_condition(s, block, "keep=1 policy=full");
    struct plan_condition *now = build_condition(s, block, "keep=0.5 policy=evict");
    const struct study *study = build_derive(s);
    assert_false(nth(study, 1)->planned);
    assert_ptr_equal(nth(study, 1)->condition, now);
    assert_string_equal(nth(study, 1)->unplanned_why, "tokens was 96, the plan says 128");
    assert_int_equal(study->blocks[0].conditions[1].run_count, 1);
    assert_int_equal(study->blocks[0].conditions[1].attempts, 0); /* of another condition */
    assert_int_equal(study->blocks[0].state, STUDY_TRIED);
    assert_says(study->blocks[0].conditions[1].why, "tokens was 96, the plan says 128");
    assert_ptr_equal(nth(study, 1)->run, run);
    assert_null(nth(study, 0)->condition);
    assert_says(nth(study, 0)->unplanned_why,
                "the plan has no condition for keep=0.4 policy=evict");

    s->plan.study.paper_version = "v3"; /* ids change with it */
    block->condition_count = 0;
    block->fixed = build_pairs(s->arena, "seed=1 tokens=96");
    build_condition(s, block, "keep=0.5 policy=evict");
    study = build_derive(s);
    assert_says(nth(study, 1)->unplanned_why, "the paper version was 'v2', the plan says 'v3'");

    json_put_text(run->start, "block", "verify"); /* it was not meant for this block */
    study = build_derive(s);
    assert_null(nth(study, 1)->condition);
    build_put(run->start, "condition", "{}");
    json_put_text(run->start, "block", "compare");
    study = build_derive(s);
    assert_non_null(nth(study, 1)->condition);
    json_object_del(run->start, "block");
    study = build_derive(s);
    assert_null(nth(study, 1)->condition);
    assert_says(nth(study, 1)->unplanned_why, "does not have its condition any more");
}

/* Of several conditions that a run could have been meant for, the one that differs least. */
static void test_nearest(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "scale", 1, TOKENS);
    struct plan_condition *old = build_condition(s, block, "keep=0.5 context=64 seed=1");
    struct run *run = build_study_run(s, old, 10.0);

    build_put(run->start, "condition", "{\"keep\":\"0.5\"}");
    block->condition_count = 0;
    block->fixed = build_pairs(s->arena, "tokens=97");
    build_condition(s, block, "keep=0.5 context=96 seed=2");
    build_condition(s, block, "keep=0.5 context=64 seed=2");
    struct plan_condition *nearest = build_condition(s, block, "keep=0.5 context=64 seed=1");
    build_condition(s, block, "keep=0.5 context=64 seed=3");
    const struct study *study = build_derive(s);
    assert_ptr_equal(nth(study, 0)->condition, nearest);
    assert_string_equal(nth(study, 0)->unplanned_why, "tokens was 96, the plan says 97");

    /* of equals, the first of the plan */
    block->condition_count = 0;
    for (int i = 0; i < 8; i++)
        build_condition(s, block, arena_printf(s->arena, "keep=0.5 context=64 seed=%d", i + 10));
    study = build_derive(s);
    assert_ptr_equal(nth(study, 0)->condition, &block->conditions[0]);
    assert_string_equal(nth(study, 0)->unplanned_why, "seed was 1, the plan says 10");
}

/* Shown in every block that has the condition now, in the plan's order. */
static void test_nearest_is_shared(void **state) {
    struct build_study *s = *state;
    struct plan_block *compare = build_block(s, "compare", 1, TOKENS);
    struct plan_block *verify = build_block(s, "verify", 1, TOKENS);
    struct plan_condition *old = build_condition(s, compare, "keep=0.5");
    struct run *run = build_study_run(s, old, 10.0);

    compare->condition_count = 0;
    compare->fixed = verify->fixed = build_pairs(s->arena, "tokens=97");
    build_condition(s, compare, "keep=0.5");
    build_condition(s, verify, "keep=0.5");
    const struct study *study = build_derive(s);
    assert_ptr_equal(nth(study, 0)->block, compare);
    assert_false(nth(study, 0)->planned);
    assert_int_equal(study->blocks[1].conditions[0].run_count, 1);
    assert_true(study->blocks[1].conditions[0].runs[0]->is_elsewhere);
    json_put_text(run->start, "block", "verify");
    study = build_derive(s);
    assert_ptr_equal(nth(study, 0)->block, verify);
    assert_int_equal(study->blocks[0].conditions[0].run_count, 1);
    assert_true(study->blocks[0].conditions[0].runs[0]->is_elsewhere);
}

/* ---- open facts ---- */

static void test_facts(void **state) {
    struct build_study *s = *state;
    build_block(s, "compare", 1, TOKENS);
    build_block(s, "verify", 1, TOKENS)->kind = PLAN_VERIFY;
    build_environment(s, "b");
    const struct plan_fact facts[] = {
        {.id = "open", .stops = PLAN_STOPS_COMPARE | PLAN_STOPS_BOOKING},
        {.id = "known", .state = PLAN_FACT_KNOWN, .stops = PLAN_STOPS_COMPARE},
        {.id = "not", .state = PLAN_FACT_NOT_APPLICABLE, .stops = PLAN_STOPS_COMPARE},
        {.id = "booking", .stops = PLAN_STOPS_BOOKING},
        {.id = "there", .environment = "b", .stops = PLAN_STOPS_COMPARE},
        {.id = "here", .environment = "here", .stops = PLAN_STOPS_COMPARE | PLAN_STOPS_VERIFY},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(facts); i++)
        s->plan.facts[s->plan.fact_count++] = facts[i];
    const struct study *study = build_derive(s);
    assert_int_equal(study->open_fact_count, 4 + 3); /* what data protection leaves open, too */
    assert_string_equal(study->open_facts[4]->id, "privacy/class");
    assert_int_equal(study->blocks[0].stopped_by_count, 2);
    assert_string_equal(study->blocks[0].stopped_by[0]->id, "open");
    assert_string_equal(study->blocks[0].stopped_by[1]->id, "here");
    assert_int_equal(study->blocks[1].stopped_by_count, 1);
    s->input.environment = &s->plan.environments[1];
    study = build_derive(s);
    assert_string_equal(study->blocks[0].stopped_by[1]->id, "there");
    assert_int_equal(study->blocks[1].stopped_by_count, 0);
}

/* ---- times ---- */

static void test_times(void **state) {
    struct build_study *s = *state;
    struct plan_condition *condition =
        build_condition(s, build_block(s, "compare", 3, TOKENS), "keep=0.5");
    build_study_run(s, condition, 10.0)->outcome = OUTCOME_FAILED;
    struct run *stopped = build_study_run(s, condition, 20.0);
    stopped->outcome = OUTCOME_INTERRUPTED;
    stopped->wall.bound = QUANTITY_AT_LEAST;
    build_study_run(s, condition, 30.0);
    build_study_run(s, condition, 40.0);
    const struct study *study = build_derive(s);
    assert_float_equal(study->spent.value, 100.0, 1e-9);
    assert_int_equal(study->spent.bound, QUANTITY_AT_LEAST);
    assert_int_equal(study->spent.state, QUANTITY_MEASURED);
    assert_float_equal(study->failed_time.value, 10.0, 1e-9);
    assert_int_equal(study->failed_time.n, 1);
    assert_int_equal(study->unplanned_time.n, 0);
    /* starts at 100 s, 200 s …; the third counts first and ends at 330 s */
    assert_float_equal(study->first_success.value, 230.0, 1e-9);
    assert_int_equal(study->first_success.source_count, 2);
    assert_string_equal(study->first_success.sources[1], s->runs[2]->id);
    assert_true(quantity_is_valid(&study->first_success));
    s->input.now_utc_ns = INT64_C(329) * 1000000000; /* before it ended */
    assert_int_equal(build_derive(s)->first_success.reason, QUANTITY_FAILED);
    s->input.now_utc_ns = INT64_C(330) * 1000000000;
    assert_int_equal(build_derive(s)->first_success.state, QUANTITY_MEASURED);
    s->runs[2]->ended_utc_ns = INT64_C(299) * 1000000000; /* before it began */
    assert_int_equal(build_derive(s)->first_success.reason, QUANTITY_FAILED);
    s->runs[2]->ended_utc_ns = 1;
    assert_int_equal(build_derive(s)->first_success.reason, QUANTITY_FAILED);
    s->input.now_utc_ns = 0;
    s->runs[2]->ended_utc_ns = 0; /* its end is not known */
    assert_float_equal(build_derive(s)->first_success.value, 340.0, 1e-9);
}

/* ---- one run in a sentence ---- */

static void assert_sentence(struct build_study *s, const char *part) {
    const struct study *study = build_derive(s);
    assert_says(study_run_sentence(study, nth(study, 0), s->arena), part);
}

static void test_sentence(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "compare", 3, TOKENS);
    struct plan_condition *condition = build_condition(s, block, "keep=0.5");
    s->plan.steps[s->plan.step_count++] = (struct plan_step){.name = "install"};
    struct run *run = build_study_run(s, condition, 10.0);

    assert_sentence(s, "evidence for keep=0.5 of block 'compare'; 1 of 3 runs done");
    block->runs.given = false;
    assert_sentence(s, "1 run done, the plan leaves their number open");
    run->verified = "not-checked";
    assert_sentence(s, "evidence for the time of keep=0.5 of block 'compare', but not done");
    assert_sentence(s, "'probelauf annotate 00000001 --valid'");
    run->outcome = OUTCOME_FAILED;
    assert_sentence(s, "no evidence for keep=0.5 of block 'compare': it failed");
    run->outcome = OUTCOME_OK;
    json_put_text(run->start, "purpose", "function-test");
    assert_sentence(s, "a function test for keep=0.5 of block 'compare': it is");
    json_object_del(run->start, "condition_id");
    assert_sentence(s, "unplanned: when it was started, keep=0.5 did not lead to one condition");
    json_put_text(run->start, "step", "install");
    assert_sentence(s, "an observation of step 'install'");
    run->outcome = OUTCOME_FAILED;
    assert_sentence(s, "no observation of step 'install': it failed");
}

/* ---- records that are not what they should be ---- */

/* Any value in any place: every run gets an answer, and only a whole record is evidence. */
static void test_strange_records(void **state) {
    struct build_study *s = *state;
    static const char *const start[] = {
        "study",   "paper_version", "condition", "condition_id", "parameters",    "command",
        "purpose", "step",          "block",     "inputs",       "environment_id"};
    static const char *const environment[] = {"code",     "gpu",     "interpreters",
                                              "packages", "reasons", "fingerprint_parts"};
    static const char *const values[] = {"null",
                                         "true",
                                         "-7",
                                         "\"\"",
                                         "\"x\"",
                                         "[]",
                                         "[1,null]",
                                         "[{}]",
                                         "{}",
                                         "{\"keep\":7}",
                                         "{\"count\":-1,\"devices\":{}}",
                                         "{\"devices\":[7]}",
                                         "{\"digest\":7,\"paths\":7}",
                                         "[{\"path\":7}]",
                                         "[{\"name\":\"torch\"}]"};
    struct plan_condition *condition =
        build_condition(s, build_block(s, "compare", 1, TOKENS), "keep=0.5");
    struct run *good = build_study_run(s, condition, 10.0);
    struct run *strange = build_study_run(s, condition, 11.0);

    build_environment(s, "b");
    json_put_text(good->start, "environment_id", "here");
    json_put_text(strange->start, "environment_id", "here");
    s->plan.environments[0].match = build_texts(s->arena, "torch machine.memory");
    for (size_t k = 0; k < ARRAY_LENGTH(start) + ARRAY_LENGTH(environment); k++) {
        bool is_start = k < ARRAY_LENGTH(start);
        json_t *record = is_start ? strange->start : strange->environment;
        const char *key = is_start ? start[k] : environment[k - ARRAY_LENGTH(start)];
        AUTO_JSON json_t *before = json_incref(json_object_get(record, key));
        for (size_t v = 0; v < ARRAY_LENGTH(values); v++) {
            json_t *value = json_loads(values[v], JSON_DECODE_ANY, NULL);
            assert_non_null(value);
            json_put(record, key, value);
            const struct study *study = build_derive(s);
            const struct study_run *seen = nth(study, 0);
            assert_true(strlen(study_run_sentence(study, seen, s->arena)) > 0);
            assert_true(seen->planned || seen->unplanned_why);
            assert_true((seen->evidence.level == EVIDENCE_MEASURED) == !seen->evidence.why ||
                        !seen->condition);
        }
        if (before)
            json_put(record, key, json_incref(before));
        else
            json_object_del(record, key);
    }
    assert_int_equal(nth(build_derive(s), 1)->evidence.level, EVIDENCE_MEASURED);
}

/* ---- size ---- */

/* 2000 runs of 10000 conditions in two blocks that share them all, and as many runs of conditions
 * that the plan no longer has. */
static void test_many(void **state) {
    struct build_study *s = *state;
    enum { CONDITIONS = 5000, RUNS = 2000 };
    struct plan_block *blocks[] = {build_block(s, "a", 1, TOKENS), build_block(s, "b", 1, TOKENS)};
    struct run **runs = mem_alloc(RUNS * sizeof(struct run *));
    const struct run **list = mem_alloc(RUNS * sizeof(const struct run *));

    for (size_t b = 0; b < 2; b++) {
        blocks[b]->conditions = arena_alloc(s->arena, CONDITIONS * sizeof(struct plan_condition));
        for (int i = 0; i < CONDITIONS; i++) {
            blocks[b]->condition_count = 0; /* the helper has room for few: filled one by one */
            struct plan_condition *all = blocks[b]->conditions;
            blocks[b]->conditions = &all[i];
            build_condition(s, blocks[b], arena_printf(s->arena, "keep=%d seed=%d", i % 100, i));
            blocks[b]->conditions = all;
        }
        blocks[b]->condition_count = CONDITIONS;
    }
    for (int i = 0; i < RUNS; i++) {
        runs[i] = build_study_run(s, &blocks[0]->conditions[i], 10.0);
        if (i % 2) {
            json_put_text(runs[i]->start, "condition_id", runs[i]->id);
            json_put_text(json_get_object(runs[i]->start, "parameters"), "tokens", "95");
        }
        list[RUNS - 1 - i] = runs[i];
        s->run_count = 0; /* kept here */
    }
    s->input.runs = list;
    s->input.run_count = RUNS;
    study_derive(&s->input, s->arena, &s->study);
    assert_int_equal(s->study.blocks[0].valid, RUNS / 2);
    assert_int_equal(s->study.blocks[1].valid, RUNS / 2);
    assert_int_equal(s->study.blocks[0].done, RUNS / 2);
    assert_int_equal(s->study.blocks[1].done, 0);
    assert_int_equal(s->study.unplanned_time.n, RUNS / 2);
    assert_string_equal(nth(&s->study, 0)->unplanned_why, "tokens was 95, the plan says 96");
    assert_int_equal(s->study.spent.part_count, RUNS);
    for (size_t i = 0; i < RUNS; i++)
        run_free(runs[i]);
    mem_free_ptr(&runs);
    mem_free_ptr(&list);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(study_state_name(STUDY_UNDERWAY), "underway");
    assert_string_equal(study_state_name(STUDY_DONE), "done");
    assert_string_equal(study_state_name(STUDY_TRIED), "tried");
    assert_string_equal(study_state_name(STUDY_PLANNED), "planned");
    assert_string_equal(study_verdict_name(STUDY_OPEN), "open");
    assert_string_equal(study_verdict_name(STUDY_REPRODUCED), "reproduced");
    assert_string_equal(study_verdict_name(STUDY_NOT_REPRODUCED), "not-reproduced");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, build_study_begin, build_study_done)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_nothing),
        TEST(test_block_without_runs),
        TEST(test_reason_is_of_a_usable_run),
        TEST(test_states),
        TEST(test_attempts),
        TEST(test_weakest),
        TEST(test_reference_fits),
        TEST(test_shared_condition),
        TEST(test_shared_condition_frozen),
        TEST(test_unplanned),
        TEST(test_several_conditions),
        TEST(test_foreign_attempts),
        TEST(test_uncounted),
        TEST(test_changed_plan),
        TEST(test_nearest),
        TEST(test_nearest_is_shared),
        TEST(test_facts),
        TEST(test_times),
        TEST(test_sentence),
        TEST(test_strange_records),
        TEST(test_many),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
