/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is left of a block: counts, what is in progress, the order, retries, steps. Runs are added
 * newest first, as a study has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/uuid.h"
#include "rules/block-run.h"

#include "build-study.h"

struct left {
    struct remaining_input input;
    struct remaining remaining;
};

static const struct remaining *left(struct built *b, struct left *of) {
    of->input.study = &b->study;
    of->input.block = &b->study.blocks[0];
    remaining_of_block(&of->input, b->arena, &of->remaining);
    return &of->remaining;
}

static const struct remaining_item *labelled(const struct remaining *r, const char *label) {
    for (size_t i = 0; i < r->count; i++) {
        const struct remaining_item *item = &r->items[i];
        if (strcmp(item->step ? item->step->name : item->condition->condition->label, label) == 0)
            return item;
    }
    fail_msg("no item '%s'", label);
    return r->items; /* not reached */
}

static void test_counts_and_order(void **state) {
    struct built *b = built_new();
    struct left l = {0};
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 4, 2);
    built_counts(b, &block->conditions[1], 5.0);
    built_counts(b, &block->conditions[2], 50.0);
    built_counts(b, &block->conditions[2], 70.0);
    built_counts(b, &block->conditions[3], 20.0);
    const struct remaining *r = left(b, &l);

    assert_int_equal(r->planned, 8);
    assert_int_equal(r->valid, 4);
    assert_int_equal(r->count, 4);
    /* what is not known first, then the longest */
    assert_string_equal(r->items[0].condition->condition->label, "a=0");
    assert_int_equal(r->items[0].left, 2);
    assert_int_equal(r->items[0].each.state, QUANTITY_OPEN);
    assert_int_equal(r->items[0].each.reason, QUANTITY_NO_EVIDENCE);
    assert_string_equal(r->items[1].condition->condition->label, "a=2");
    assert_int_equal(r->items[1].left, 0);
    assert_float_equal(r->items[1].each.value, 60.0, 1e-9);
    assert_int_equal(r->items[1].each.n, 2);
    assert_true(quantity_is_valid(&r->items[1].each));
    assert_string_equal(r->items[2].condition->condition->label, "a=3");
    assert_string_equal(r->items[3].condition->condition->label, "a=1");
    assert_int_equal(r->items[3].left, 1);
    built_free(b);
}

/* A lane, its run in the journals, and a record that is still written are one and the same. */
static void test_in_progress_is_counted_once(void **state) {
    struct built *b = built_new();
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 1, 3);
    const char *id = block->conditions[0].condition->id;
    const struct remaining_lane lanes[] = {{.condition = id, .pid = 41}, {.condition = id}};
    struct left l = {.input = {.lanes = lanes, .lane_count = 2}};

    assert_int_equal(left(b, &l)->items[0].running, 2); /* without records yet */
    assert_int_equal(l.remaining.items[0].left, 1);
    /* the first has one now */
    struct study_run *seen = built_seen(b, 1.0);
    struct run *run = b->runs[0];
    built_attempt(&block->conditions[0], seen);
    seen->is_attempt = false;
    run->running = true;
    json_put_text(run->start, "condition_id", id);
    json_put_int(run->header, "pid", 41);
    assert_int_equal(left(b, &l)->items[0].running, 2);
    assert_int_equal(l.remaining.items[0].left, 1);
    /* it has ended, and its record is still written */
    const char *open[] = {run->id};
    run->running = false;
    l.input.open_records = open;
    l.input.open_record_count = 1;
    l.input.lane_count = 0;
    assert_int_equal(left(b, &l)->items[0].running, 1);
    assert_int_equal(l.remaining.items[0].left, 2);
    /* and counts already */
    seen->evidence.level = EVIDENCE_MEASURED;
    assert_int_equal(left(b, &l)->items[0].running, 0);
    assert_int_equal(l.remaining.items[0].left, 2);
    assert_int_equal(l.remaining.valid, 1);
    built_free(b);
}

/* The output file of a lane is ours: its full disk neither counts as a failure nor ends a row of
 * them; a full disk of the command's own is one that a repeat does not cure. */
static void test_full_output_is_no_failure(void **state) {
    struct built *b = built_new();
    struct left l = {0};
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 1, 1);
    json_t *figures = json_object();
    struct run_incident incident = {.name = "disk_full", .figures = figures};
    built_attempt(&block->conditions[0], built_seen(b, 1.0));
    b->runs[0]->outcome = OUTCOME_DISK_FULL;
    b->runs[0]->incidents = &incident;
    b->runs[0]->incident_count = 1;
    assert_true(left(b, &l)->items[0].is_failed);
    json_put_text(figures, "kind", "lane-output");
    assert_false(left(b, &l)->items[0].is_failed);
    assert_int_equal(l.remaining.items[0].failed, 0);
    assert_int_equal(l.remaining.items[0].left, 1);
    /* it ended well, and what was to be found in its output is not there */
    b->runs[0]->outcome = OUTCOME_OK;
    b->runs[0]->verified = "no";
    assert_false(left(b, &l)->items[0].is_failed);
    incident.figures = NULL;
    assert_true(left(b, &l)->items[0].is_failed);
    b->runs[0]->incidents = NULL;
    b->runs[0]->incident_count = 0;
    json_decref(figures);
    built_free(b);
}

static void test_runs_of_another_block_do_not_count(void **state) {
    struct built *b = built_new();
    struct left l = {0};
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 1, 1);
    built_counts(b, &block->conditions[0], 3.0);
    b->seen[0].is_elsewhere = true;
    assert_int_equal(left(b, &l)->items[0].left, 1);
    assert_int_equal(l.remaining.valid, 0);
    assert_float_equal(l.remaining.items[0].each.value, 3.0,
                       1e-9); /* its time is known all the same */
    built_free(b);
}

static void test_retries(void **state) {
    struct built *b = built_new();
    struct left l = {.input = {.retry = 1}};
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 1, 2);
    struct run *newest = built_fails(b, &block->conditions[0], 1.0);
    const struct remaining_item *item = &left(b, &l)->items[0];
    assert_int_equal(item->failed, 1);
    assert_int_equal(item->left, 2);
    assert_false(item->is_failed);

    struct run *older = built_fails(b, &block->conditions[0], 1.0);
    item = &left(b, &l)->items[0];
    assert_int_equal(item->failed, 2);
    assert_true(item->is_failed);
    assert_int_equal(item->left, 0);
    assert_non_null(strstr(item->note, "2 attempts failed in a row, and of repeats 1 are allowed"));
    assert_int_equal(l.remaining.failed_conditions, 1);

    l.input.retry = 2;
    assert_false(left(b, &l)->items[0].is_failed);
    l.input.retry = 0;
    /* with other code it says nothing about the next one */
    b->input.code_digest = "d2";
    assert_false(left(b, &l)->items[0].is_failed);
    b->input.code_digest = "d1";
    assert_true(left(b, &l)->items[0].is_failed);
    b->input.code_digest = NULL;
    /* dealt with */
    newest->disposition = "fixed";
    assert_false(left(b, &l)->items[0].is_failed);
    newest->disposition = "authors to ask";
    assert_true(left(b, &l)->items[0].is_failed);
    newest->disposition = NULL;
    /* out of memory: never again by itself */
    l.input.retry = 9;
    older->outcome = OUTCOME_GPU_OOM;
    item = &left(b, &l)->items[0];
    assert_true(item->is_failed);
    assert_non_null(strstr(item->note, "gpu_oom"));
    built_free(b);
}

static void test_lost_runs_are_no_failures(void **state) {
    struct built *b = built_new();
    struct left l = {0};
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 1, 1);
    for (int i = 0; i < 3; i++)
        built_fails(b, &block->conditions[0], 1.0)->outcome = OUTCOME_LOST;
    assert_int_equal(left(b, &l)->items[0].left, 1);
    built_fails(b, &block->conditions[0], 1.0)->outcome = OUTCOME_LOST;
    assert_true(left(b, &l)->items[0].is_failed);
    AUTO_FREE char *cure =
        mem_printf("'probelauf annotate %s --disposition fixed'", uuid_tail(b->runs[0]->id));
    assert_non_null(strstr(l.remaining.items[0].note, cure)); /* of the newest */
    b->runs[0]->disposition = "fixed";
    assert_int_equal(left(b, &l)->items[0].left, 1);
    built_free(b);
}

static void test_success_ends_a_row_of_failures(void **state) {
    struct built *b = built_new();
    struct left l = {0};
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 1, 3);
    built_counts(b, &block->conditions[0], 1.0);
    built_fails(b, &block->conditions[0], 1.0);
    assert_false(left(b, &l)->items[0].is_failed);
    assert_int_equal(l.remaining.items[0].failed, 0);
    assert_int_equal(l.remaining.items[0].left, 2);
    built_free(b);
}

static void test_unmet_check_waits_for_people(void **state) {
    struct built *b = built_new();
    struct left l = {.input = {.retry = 5}};
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 1, 1);
    struct run *run = built_fails(b, &block->conditions[0], 1.0);
    run->outcome = OUTCOME_OK;
    run->verified = "no";
    assert_true(left(b, &l)->items[0].is_failed);
    assert_non_null(strstr(l.remaining.items[0].note, "not what was expected"));
    run->validity = RUN_INVALID;
    assert_int_equal(left(b, &l)->items[0].left, 1);
    assert_null(l.remaining.items[0].note);
    built_free(b);
}

static void test_unsupported_is_left_out(void **state) {
    struct built *b = built_new();
    struct left l = {0};
    (void)state;
    built_room(b, 1);
    built_block(b, "main", 2, 1);
    b->plan.blocks[0].conditions[1].supported = PLAN_NO;
    const struct remaining_item *item = labelled(left(b, &l), "a=1");
    assert_int_equal(item->left, 0);
    assert_false(item->is_failed);
    assert_string_equal(item->note, "the code does not support it");
    built_free(b);
}

/* ---- steps ---- */

static void test_step_once_and_per_rental(void **state) {
    struct built *b = built_new();
    struct left l = {.input = {.host = "here"}};
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 1, 1);
    const struct plan_step *once = built_step(b, "fetch", COMPONENT_TRANSFER, PLAN_ONCE, PLAN_YES);
    const struct plan_step *rental =
        built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_needs(b, block, "fetch");
    built_needs(b, block, "install");
    assert_int_equal(left(b, &l)->items[0].left, 1);
    assert_int_equal(l.remaining.items[1].left, 1);
    assert_int_equal(l.remaining.items[0].part, REMAINING_BEFORE);

    struct run *fetched = built_step_run(b, once, 3.0);
    struct run *installed = built_step_run(b, rental, 4.0);
    build_put(installed->environment, "machine", "{\"host\":\"there\"}");
    build_put(fetched->environment, "machine", "{\"host\":\"there\"}");
    assert_int_equal(labelled(left(b, &l), "fetch")->left, 0);
    assert_non_null(strstr(labelled(&l.remaining, "fetch")->note, "the plan wants it once"));
    assert_int_equal(labelled(&l.remaining, "install")->left, 1); /* on another machine */
    assert_float_equal(labelled(&l.remaining, "install")->each.value, 4.0, 1e-9);
    build_put(installed->environment, "machine", "{\"host\":\"here\"}");
    assert_int_equal(labelled(left(b, &l), "install")->left, 0);
    assert_non_null(strstr(labelled(&l.remaining, "install")->note, "on this machine"));
    /* in a session it is that session that counts */
    l.input.session = "s1";
    assert_int_equal(labelled(left(b, &l), "install")->left, 1);
    json_put_text(installed->start, "session", "s1");
    assert_int_equal(labelled(left(b, &l), "install")->left, 0);
    /* one that was not sound does not count */
    fetched->outcome = OUTCOME_FAILED;
    l.input.retry = 1;
    assert_int_equal(labelled(left(b, &l), "fetch")->left, 1);
    built_free(b);
}

static void test_step_after_each_run(void **state) {
    struct built *b = built_new();
    struct left l = {0};
    (void)state;
    built_room(b, 1);
    struct study_block *block = built_block(b, "main", 2, 2);
    const struct plan_step *look = built_step(b, "look", COMPONENT_CHECKING, PLAN_PER_RUN, PLAN_NO);
    built_step(b, "warm", COMPONENT_PREPARE, PLAN_PER_RUN, PLAN_YES);
    built_step(b, "clean", COMPONENT_TEARDOWN, PLAN_PER_RENTAL, PLAN_YES);
    built_step(b, "judge", COMPONENT_CHECKING, PLAN_ONCE, PLAN_NO);
    built_needs(b, block, "clean");
    built_needs(b, block, "judge");
    built_needs(b, block, "look");
    built_needs(b, block, "warm");
    built_counts(b, &block->conditions[0], 1.0);
    built_counts(b, &block->conditions[1], 1.0);
    built_counts(b, &block->conditions[1], 1.0);
    built_step_run(b, look, 1.0);
    const struct remaining *r = left(b, &l);
    assert_int_equal(labelled(r, "look")->left, 2);
    assert_int_equal(labelled(r, "look")->part, REMAINING_PER_RUN);
    assert_int_equal(labelled(r, "warm")->left, 0); /* a run brings it along */
    assert_true(remaining_is_before_each(labelled(r, "warm")->step));
    assert_int_equal(labelled(r, "clean")->left, 0); /* for people */
    assert_int_equal(labelled(r, "judge")->left, 1);
    assert_int_equal(labelled(r, "judge")->part, REMAINING_AFTER);
    assert_string_equal(r->items[0].step->name, "warm"); /* before, after each, runs, at the end */
    assert_string_equal(r->items[1].step->name, "look");
    assert_string_equal(r->items[r->count - 1].step->name, "judge");
    built_free(b);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(block_run_why_name(BLOCK_RUN_DONE), "done");
    assert_string_equal(block_run_why_name(BLOCK_RUN_INTERRUPTED), "interrupted");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_and_order),
        cmocka_unit_test(test_in_progress_is_counted_once),
        cmocka_unit_test(test_full_output_is_no_failure),
        cmocka_unit_test(test_runs_of_another_block_do_not_count),
        cmocka_unit_test(test_retries),
        cmocka_unit_test(test_lost_runs_are_no_failures),
        cmocka_unit_test(test_success_ends_a_row_of_failures),
        cmocka_unit_test(test_unmet_check_waits_for_people),
        cmocka_unit_test(test_unsupported_is_left_out),
        cmocka_unit_test(test_step_once_and_per_rental),
        cmocka_unit_test(test_step_after_each_run),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
