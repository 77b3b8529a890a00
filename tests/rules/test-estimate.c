/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate of a plan, rule by rule. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forecast/predict.h"

#include "estimate-asserts.h"

static int setup(void **state) {
    struct built *b = built_new();
    built_room(b, 4);
    *state = b;
    return 0;
}

static int teardown(void **state) {
    *state = built_free(*state);
    return 0;
}

/* ---- runs ---- */

static void test_nothing_known(void **state) {
    struct built *b = *state;
    built_block(b, "compare", 2, 3);
    const struct estimate *e = built_estimate(b);
    assert_int_equal(e->blocks[0].remaining, 6);
    assert_open(time_of(b, 0, COMPONENT_RUNS), QUANTITY_NO_EVIDENCE, "no run of it was made");
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        assert_int_equal(time_of(b, 0, k)->state, QUANTITY_OPEN);
    assert_int_equal(e->total.computing.state, QUANTITY_OPEN);
    assert_int_equal(e->total.reserved.state, QUANTITY_OPEN);
    assert_int_equal(e->total.calendar.state, QUANTITY_OPEN);
    assert_int_equal(e->total.effort.state, QUANTITY_OPEN);
    assert_open(&e->total.gpu, QUANTITY_NOT_APPLICABLE, "no GPU");
    const struct estimate_open *runs =
        assert_remedy(e, "compare", COMPONENT_RUNS, "no run of it was made",
                      "probelauf run --block compare -c a=0 -- COMMAND");
    assert_int_equal(runs->item_count, 2);
    assert_string_equal(runs->items[1]->name, "a=1");
    assert_says(runs->remedy, "and 1 more run");
    assert_remedy(e, "compare", COMPONENT_RETRIES, "no run of it was made", "-c a=0");
    assert_remedy(e, "compare", COMPONENT_IDLE, "no session was recorded",
                  "--set compare.idle=TIME");
    assert_remedy(e, "compare", COMPONENT_CHECKING, "not seen",
                  "mark phase 'evaluate' in the runs, give the block a step for it, or assume it "
                  "with --set compare.checking=TIME");
    assert_int_equal(e->open_count, COMPONENT_COUNT_);
    assert_ptr_equal(e->blocks[0].open, e->open);
    assert_says(e->blocks[0].weakness, "2 conditions have no run that counts");
}

static void test_own_runs(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 13);
    three_runs(b, &block->conditions[0]);
    b->draws = 20000;
    const struct estimate *e = built_estimate(b);
    const struct quantity *runs = time_of(b, 0, COMPONENT_RUNS);
    struct predict_total expected;
    const double walls[] = {100.0, 104.0, 97.0};
    assert_int_equal(predict_total(walls, 3, 10, 1, 20000, &expected), 0);
    assert_int_equal(runs->state, QUANTITY_ESTIMATED);
    assert_true(runs->has_interval && runs->bound == QUANTITY_EXACT);
    assert_true(fabs(runs->value / expected.p50 - 1.0) < 0.01);
    assert_true(fabs(runs->p95 / expected.p95 - 1.0) < 0.02);
    assert_string_equal(runs->basis, "own-runs");
    assert_int_equal(runs->n, 3);
    assert_int_equal(runs->source_count, 4); /* three runs, one line of the plan */
    const struct estimate_item *item = &e->blocks[0].components[COMPONENT_RUNS].items[0];
    assert_true(item->count.value == 10.0 && fabs(item->unit.value - 100.0) < 1.0);
    assert_int_equal(item->unit.source_count, 3);
    /* the figures: computing is exact, the others hold what is open */
    assert_true(e->total.computing.value == runs->value);
    assert_true(e->total.reserved.value == runs->value);
    assert_int_equal(e->total.reserved.bound, QUANTITY_AT_LEAST);
    assert_true(e->total.reserved.has_interval);
}

static void test_done_runs_are_not_planned_again(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 3);
    three_runs(b, &block->conditions[0]);
    const struct estimate *e = built_estimate(b);
    assert_true(e->blocks[0].has_remaining && e->blocks[0].remaining == 0);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        assert_int_equal(time_of(b, 0, k)->state, QUANTITY_MEASURED);
        assert_true(time_of(b, 0, k)->value == 0.0);
        assert_string_equal(time_of(b, 0, k)->method, "nothing left to run");
        assert_true(time_of(b, 0, k)->source_count > 0);
    }
    assert_true(e->total.reserved.value == 0.0 && e->total.reserved.bound == QUANTITY_EXACT);
    assert_int_equal(e->open_count, 0);
    assert_true(e->blocks[0].bytes_in.value == 0.0 && quantity_is_known(&e->blocks[0].bytes_in));
}

/* A run that counts but was not verified counts for time, not as done. */
static void test_unverified(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 3);
    three_runs(b, &block->conditions[0]);
    block->conditions[0].done = 1;
    const struct estimate *e = built_estimate(b);
    assert_int_equal(e->blocks[0].remaining, 2);
    assert_true(fabs(time_of(b, 0, COMPONENT_RUNS)->value - 200.0) < 5.0);
}

static void test_single_run(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 4);
    built_counts(b, &block->conditions[0], 50.0);
    const struct estimate *e = built_estimate(b);
    const struct quantity *runs = time_of(b, 0, COMPONENT_RUNS);
    assert_true(runs->value == 150.0 && !runs->has_interval);
    assert_says(runs->detail, "repeat once to get one");
    assert_string_equal(runs->basis, "own-runs");
    assert_false(e->total.computing.has_interval);
    assert_says(e->blocks[0].weakness, "1 condition rests on a single run");
}

static void test_borrowed(void **state) {
    struct built *b = *state;
    struct study_block *compare = built_block(b, "compare", 2, 4);
    three_runs(b, &compare->conditions[0]);
    built_counts(b, &compare->conditions[1], 500.0);
    built_estimate(b);
    const struct quantity *runs = time_of(b, 0, COMPONENT_RUNS);
    const struct estimate_item *items = b->estimate.blocks[0].components[COMPONENT_RUNS].items;
    assert_string_equal(items[0].time.basis, "own-runs");
    assert_string_equal(items[1].time.basis, "borrowed-spread");
    assert_true(items[1].time.has_interval && runs->has_interval);
    assert_says(items[1].time.detail, "repeat once to see its own spread");
    assert_string_equal(runs->basis, "borrowed-spread");
    assert_int_equal(items[1].time.n, 1);
    assert_int_equal(runs->n, 4);
    assert_null(runs->detail); /* it has an interval, and that medians do not add up is known */
}

/* The runs of a condition that stands in two blocks are pooled once. */
static void test_pooled_once(void **state) {
    struct built *b = *state;
    struct study_block *one = built_block(b, "one", 1, 5);
    struct study_block *two = built_block(b, "two", 1, 5);
    struct study_block *three = built_block(b, "three", 1, 5);
    three_runs(b, &one->conditions[0]);
    built_counts(b, &three->conditions[0], 10.0);
    struct quantity alone = built_estimate(b)->blocks[2].components[COMPONENT_RUNS].time;
    three_runs(b, &two->conditions[0]);
    struct quantity apart = built_estimate(b)->blocks[2].components[COMPONENT_RUNS].time;
    memcpy(built_plan_block(b, two)->conditions[0].id, built_plan_block(b, one)->conditions[0].id,
           SHA256_HEX_SIZE);
    const struct quantity *same = &built_estimate(b)->blocks[2].components[COMPONENT_RUNS].time;
    assert_true(same->has_interval && same->p95 == alone.p95 && same->p95 != apart.p95);
}

static void test_function_tests_are_never_projected(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 2, 4);
    three_runs(b, &block->conditions[0]);
    struct study_run *seen = built_seen(b, 3.0);
    built_attempt(&block->conditions[1], seen);
    seen->evidence = (struct evidence){.level = EVIDENCE_FUNCTION_TEST, .why = "smaller inputs"};
    block->conditions[1].level = EVIDENCE_FUNCTION_TEST;
    block->conditions[1].why = "smaller inputs";
    const struct estimate *e = built_estimate(b);
    const struct estimate_item *item = &e->blocks[0].components[COMPONENT_RUNS].items[1];
    assert_open(&item->time, QUANTITY_NO_EVIDENCE, "never projected from; smaller inputs");
    assert_open(&item->unit, QUANTITY_NO_EVIDENCE, "never projected from");
    const struct quantity *runs = time_of(b, 0, COMPONENT_RUNS);
    assert_true(quantity_is_known(runs) && runs->bound == QUANTITY_AT_LEAST);
    assert_int_equal(runs->part_count, 2);
    assert_says(e->blocks[0].weakness, "1 condition has only function tests");
    const struct estimate_open *open =
        assert_remedy(e, "compare", COMPONENT_RUNS, "only function tests", "-c a=1");
    assert_true(open->item_count == 1 && strstr(open->items[0]->name, "a=1"));
    for (size_t i = 0; i < runs->source_count; i++)
        assert_string_not_equal(runs->sources[i], seen->run->id);
}

static void test_count_left_open(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "scale", 1, -1);
    three_runs(b, &block->conditions[0]);
    const struct estimate *e = built_estimate(b);
    assert_false(e->blocks[0].has_remaining);
    assert_open(time_of(b, 0, COMPONENT_RUNS), QUANTITY_NOT_ENTERED, "how many runs");
    const struct estimate_item *item = &e->blocks[0].components[COMPONENT_RUNS].items[0];
    assert_open(&item->count, QUANTITY_NOT_ENTERED, "how many runs");
    assert_true(item->unit.has_interval); /* one run is known all the same */
    assert_open(&e->blocks[0].bytes_in, QUANTITY_NOT_ENTERED, "how many runs");
    assert_remedy(e, "scale", COMPONENT_RUNS, "how many runs",
                  "enter in the plan: runs of block 'scale'");
}

static void test_other_environment_is_nothing(void **state) {
    struct built *b = *state;
    struct plan_environment away = {.id = "away"};
    struct study_block *block = built_block(b, "compare", 1, 4);
    struct plan_step *step = built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_needs(b, block, "install");
    built_fails(b, &block->conditions[0], 9.0);
    b->seen[0].environment = &away;
    b->seen[0].is_attempt = false;
    block->conditions[0].attempts = block->conditions[0].failures = 0;
    built_step_run(b, step, 60.0);
    b->seen[1].environment = &away;
    built_estimate(b);
    assert_open(time_of(b, 0, COMPONENT_PREPARE), QUANTITY_NO_EVIDENCE, "was not seen");
    assert_open(time_of(b, 0, COMPONENT_RETRIES), QUANTITY_NO_EVIDENCE, "no attempt");
}

/* What is advised can be typed as it stands. */
static void test_commands(void **state) {
    struct built *b = *state;
    static struct plan_text_item words[] = {{.text = "true"}};
    struct study_block *block = built_block(b, "it's", 1, 4);
    struct plan_step *step = built_step(b, "get it", COMPONENT_DATA, PLAN_ONCE, PLAN_YES);
    built_needs(b, block, "get it");
    block->conditions[0].condition->axes[0].value = "one two";
    built_plan_block(b, block)->command = (struct plan_texts){.items = words, .count = 1};
    step->run = (struct plan_texts){.items = words, .count = 1};
    const struct estimate *e = built_estimate(b);
    const struct estimate_open *runs =
        assert_remedy(e, "it's", COMPONENT_RUNS, "no run of it was made", "probelauf");
    assert_string_equal(runs->remedy, "probelauf run --block 'it'\\''s' -c 'a=one two'");
    const struct estimate_open *data =
        assert_remedy(e, "it's", COMPONENT_DATA, "not seen", "probelauf");
    assert_string_equal(data->remedy, "probelauf run --step 'get it'");
}

/* ---- phases ---- */

static void phases(struct run *run, double setup_s, double evaluate_s) {
    build_phases(run, 10.0, run->wall.value - 10.0 - setup_s - evaluate_s);
    run->phase[PHASE_SETUP] = quantity_measured(UNIT_SECOND, setup_s, "mark");
    run->phase[PHASE_EVALUATE] = quantity_measured(UNIT_SECOND, evaluate_s, "mark");
    run->phase[PHASE_UNATTRIBUTED] = quantity_measured(UNIT_SECOND, 0.0, "none");
}

static void test_phases_split_the_wall(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 6);
    phases(built_counts(b, &block->conditions[0], 100.0), 20.0, 5.0);
    phases(built_counts(b, &block->conditions[0], 110.0), 22.0, 5.5);
    const struct estimate *e = built_estimate(b);
    double prepare = time_of(b, 0, COMPONENT_PREPARE)->value;
    double checking = time_of(b, 0, COMPONENT_CHECKING)->value;
    double runs = time_of(b, 0, COMPONENT_RUNS)->value;
    double all = e->total.reserved.value;
    assert_near(prepare / all, 0.2);
    assert_near(checking / all, 0.05);
    assert_near(runs / all, 0.75);
    assert_near(e->total.computing.value, runs);
    assert_int_equal(time_of(b, 0, COMPONENT_DATA)->state, QUANTITY_OPEN);
    assert_false(e->blocks[0].weakness && strstr(e->blocks[0].weakness, "phases"));
    assert_true(e->total.reserved.has_interval);
    /* one draw of the wall: its parts do not vary against each other */
    assert_near(e->total.reserved.p95, time_of(b, 0, COMPONENT_RUNS)->p95 / 0.75);
}

static void test_without_phases_all_is_runs(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 6);
    three_runs(b, &block->conditions[0]);
    phases(built_counts(b, &block->conditions[0], 100.0), 20.0, 5.0); /* the only one that tells */
    const struct estimate *e = built_estimate(b);
    assert_near(time_of(b, 0, COMPONENT_PREPARE)->value / e->total.reserved.value, 0.2);
    block->conditions[0].run_count = 3;
    e = built_estimate(b);
    assert_int_equal(time_of(b, 0, COMPONENT_PREPARE)->state, QUANTITY_OPEN);
    assert_true(e->total.computing.value == e->total.reserved.value);
    assert_says(e->blocks[0].weakness, "tells its phases apart");
}

static void test_phase_components(void **state) {
    (void)state;
    static const enum component expected[PHASE_COUNT_] = {
        [PHASE_SETUP] = COMPONENT_PREPARE,     [PHASE_TRANSFER] = COMPONENT_TRANSFER,
        [PHASE_DATA] = COMPONENT_DATA,         [PHASE_LOAD] = COMPONENT_RUNS,
        [PHASE_PREPROCESS] = COMPONENT_RUNS,   [PHASE_COMPUTE] = COMPONENT_RUNS,
        [PHASE_WRITE] = COMPONENT_RUNS,        [PHASE_EVALUATE] = COMPONENT_CHECKING,
        [PHASE_FIX] = COMPONENT_FIXING,        [PHASE_TEARDOWN] = COMPONENT_TEARDOWN,
        [PHASE_UNATTRIBUTED] = COMPONENT_RUNS,
    };
    struct built *b = *state;
    struct study_block *block = built_block(b, "compare", 1, 6);
    struct run *run = built_counts(b, &block->conditions[0], 1100.0);
    for (enum phase phase = PHASE_SETUP; phase < PHASE_COUNT_; phase++)
        run->phase[phase] = quantity_measured(UNIT_SECOND, 100.0, "mark");
    const struct estimate *e = built_estimate(b);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        double phases_here = 0.0;
        for (enum phase phase = PHASE_SETUP; phase < PHASE_COUNT_; phase++)
            phases_here += expected[phase] == k;
        if (phases_here > 0.0)
            assert_near(e->blocks[0].components[k].time.value, 500.0 * phases_here);
        else
            assert_int_equal(e->blocks[0].components[k].time.state, QUANTITY_OPEN);
    }
}

/* ---- steps and tasks ---- */

static void test_steps(void **state) {
    struct built *b = *state;
    struct study_block *one = built_block(b, "one", 1, 4);
    struct study_block *two = built_block(b, "two", 1, 5);
    struct plan_step *steps[] = {
        built_step(b, "weights", COMPONENT_DATA, PLAN_ONCE, PLAN_YES),
        built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_UNSAID),
        built_step(b, "copy", COMPONENT_TRANSFER, PLAN_PER_RUN, PLAN_NO),
        built_step(b, "clean", COMPONENT_TEARDOWN, PLAN_REPEATS_UNSAID, PLAN_YES),
    };
    for (size_t i = 0; i < 4; i++) {
        built_needs(b, one, steps[i]->name);
        built_needs(b, two, steps[i]->name);
    }
    built_step_run(b, steps[1], 60.0);
    built_step_run(b, steps[2], 7.0);
    built_step_run(b, steps[3], 5.0);
    const struct estimate *e = built_estimate(b);
    /* once: the first block; never seen: open */
    assert_open(time_of(b, 0, COMPONENT_DATA), QUANTITY_NO_EVIDENCE, "--step weights");
    assert_int_equal(e->blocks[0].components[COMPONENT_DATA].item_count, 1);
    assert_int_equal(e->blocks[1].components[COMPONENT_DATA].item_count, 0);
    /* per rental: each block */
    assert_true(time_of(b, 0, COMPONENT_PREPARE)->value == 60.0);
    assert_true(time_of(b, 1, COMPONENT_PREPARE)->value == 60.0);
    assert_true(e->components[COMPONENT_PREPARE].time.value == 120.0);
    const char *const ids[] = {"one", "two"};
    for (size_t i = 0; i < 2; i++) {
        assert_remedy(e, ids[i], COMPONENT_PREPARE, "which is not said",
                      "needs_machine of step 'install'");
        assert_remedy(e, ids[i], COMPONENT_TEARDOWN, "how often", "repeats of step 'clean'");
    }
    /* the plan names the step, and nothing else is advised */
    const struct estimate_open *weights =
        assert_remedy(e, "one", COMPONENT_DATA, "not seen", "probelauf run --step weights");
    assert_string_equal(weights->items[0]->name, "step weights");
    assert_null(strstr(weights->remedy, "assume"));
    /* per run, without the machine: effort, not reserved */
    assert_true(time_of(b, 0, COMPONENT_TRANSFER)->value == 28.0);
    assert_true(time_of(b, 1, COMPONENT_TRANSFER)->value == 35.0);
    assert_true(e->total.effort.value == 63.0 && e->total.effort.bound == QUANTITY_AT_LEAST);
    assert_true(e->total.reserved.value == 120.0);
    assert_true(e->total.calendar.value == 183.0);
    /* how often: not said */
    assert_open(time_of(b, 0, COMPONENT_TEARDOWN), QUANTITY_NOT_ENTERED, "how often");
}

static void test_step_once_was_done(void **state) {
    struct built *b = *state;
    struct study_block *one = built_block(b, "one", 1, 4);
    struct plan_step *step = built_step(b, "weights", COMPONENT_DATA, PLAN_ONCE, PLAN_YES);
    built_needs(b, one, "weights");
    struct run *run = built_step_run(b, step, 300.0);
    built_estimate(b);
    const struct quantity *data = time_of(b, 0, COMPONENT_DATA);
    assert_true(data->state == QUANTITY_MEASURED && data->value == 0.0);
    assert_string_equal(data->sources[0], run->id);
    run->outcome = OUTCOME_FAILED; /* then it was not */
    built_estimate(b);
    assert_open(time_of(b, 0, COMPONENT_DATA), QUANTITY_NO_EVIDENCE, "was not seen");
}

/* A block that is done does not count a step that a later one needs. */
static void test_step_of_a_done_block(void **state) {
    struct built *b = *state;
    struct study_block *one = built_block(b, "one", 1, 1);
    struct study_block *two = built_block(b, "two", 1, 4);
    built_step(b, "weights", COMPONENT_DATA, PLAN_ONCE, PLAN_YES);
    built_needs(b, one, "weights");
    built_needs(b, two, "weights");
    built_counts(b, &one->conditions[0], 9.0);
    const struct estimate *e = built_estimate(b);
    assert_true(time_of(b, 0, COMPONENT_DATA)->value == 0.0);
    assert_int_equal(e->blocks[1].components[COMPONENT_DATA].item_count, 1);
}

static void test_tasks(void **state) {
    struct built *b = *state;
    struct plan_task tasks[] = {
        {.at = {90, 1},
         .id = "read",
         .has_component = true,
         .component = COMPONENT_CHECKING,
         .needs_machine = PLAN_NO,
         .time = {.given = true, .ns = INT64_C(3600) * 1000000000, .at = {91, 1}},
         .who = "Kim",
         .why = "last time"},
        {.at = {92, 1}, .id = "ask", .has_component = true, .component = COMPONENT_FIXING},
        {.at = {93, 1},
         .id = "old",
         .has_component = true,
         .component = COMPONENT_FIXING,
         .done = PLAN_YES},
    };
    built_block(b, "one", 1, 4);
    b->line = 100;
    b->plan.tasks = tasks;
    b->plan.task_count = 3;
    const struct estimate *e = built_estimate(b);
    assert_true(e->total.effort.value == 3600.0 && e->total.effort.state == QUANTITY_ASSUMED);
    const struct estimate_component *checking = &e->components[COMPONENT_CHECKING];
    const struct estimate_item *item = &checking->items[checking->item_count - 1];
    assert_string_equal(item->name, "task read");
    assert_says(item->time.detail, "Kim");
    assert_string_equal(item->time.sources[0], "probelauf.yaml:91");
    const struct estimate_open *ask = assert_remedy(e, NULL, COMPONENT_FIXING, "how long it takes",
                                                    "time of task 'ask' (with who, when");
    assert_string_equal(ask->items[0]->name, "task ask");
    assert_remedy(e, NULL, COMPONENT_FIXING, "which is not said", "needs_machine of task 'ask'");
    assert_int_equal(e->open_count, e->blocks[0].open_count + 2); /* none of the one that is done */
    assert_int_equal(e->by_extent_count, 1); /* the block says no extent, the tasks have none */
    assert_string_equal(e->by_extent[0].name, "not said");
    assert_true(e->by_extent[0].figures.effort.value == 3600.0);
}

/* ---- retries ---- */

static void test_retries_need_a_failure(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    three_runs(b, &block->conditions[0]);
    built_estimate(b);
    assert_open(time_of(b, 0, COMPONENT_RETRIES), QUANTITY_NO_EVIDENCE,
                "3 attempts were seen and none failed; that is no proof");
    assert_remedy(&b->estimate, "one", COMPONENT_RETRIES, "no failure was seen",
                  "--set one.lost-time=TIME");
    struct run *failed = built_fails(b, &block->conditions[0], 12.0);
    const struct estimate *e = built_estimate(b);
    const struct quantity *retries = time_of(b, 0, COMPONENT_RETRIES);
    assert_int_equal(retries->state, QUANTITY_ESTIMATED);
    assert_int_equal(retries->n, 4); /* the attempts */
    assert_says(retries->detail, "1 of 4 attempts failed");
    const struct estimate_item *item = &e->blocks[0].components[COMPONENT_RETRIES].items[0];
    assert_true(item->unit.value == 12.0);
    assert_true(e->total.reserved.value > e->total.computing.value);
    failed->wall = quantity_open(UNIT_SECOND, QUANTITY_MONITOR_LOST, NULL);
    built_estimate(b);
    assert_open(time_of(b, 0, COMPONENT_RETRIES), QUANTITY_NO_EVIDENCE, "is not known");
    failed->wall = quantity_bounded(UNIT_SECOND, 12.0, QUANTITY_AT_LEAST, "last record");
    built_estimate(b);
    assert_int_equal(time_of(b, 0, COMPONENT_RETRIES)->bound, QUANTITY_AT_LEAST);
}

static void test_retry_max(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    built_plan_block(b, block)->retry_max =
        (struct plan_whole){.given = true, .value = 0, .at = built_at(b)};
    three_runs(b, &block->conditions[0]);
    built_fails(b, &block->conditions[0], 12.0);
    const struct estimate *e = built_estimate(b);
    const struct quantity *retries = time_of(b, 0, COMPONENT_RETRIES);
    assert_int_equal(retries->bound, QUANTITY_AT_LEAST);
    assert_says(retries->detail, "not finished after 0 repeats");
    assert_int_equal(e->total.reserved.bound, QUANTITY_AT_LEAST);
    assert_remedy(e, "one", COMPONENT_RETRIES, "at least: 1 of 4", "one.lost-time=TIME");
}

/* ---- figures ---- */

static void test_lanes(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    struct plan_step *step = built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_needs(b, block, "install");
    built_step_run(b, step, 60.0);
    three_runs(b, &block->conditions[0]);
    built_plan_block(b, block)->lanes = (struct plan_whole){.given = true, .value = 2};
    const struct estimate *e = built_estimate(b);
    const struct estimate_figures *f = &e->blocks[0].figures;
    assert_near(f->reserved.value, f->computing.value + 60.0);
    /* three of six runs on each lane, and these are not equally long */
    assert_true(f->calendar.value > f->computing.value / 2.0 + 60.0);
    assert_true(f->calendar.value < 1.1 * f->computing.value / 2.0 + 60.0);
    /* at least for what is open, and not for the lanes */
    assert_int_equal(f->calendar.bound, QUANTITY_AT_LEAST);
    assert_true(f->calendar.open_part_count > 0);
    for (size_t i = 0; i < e->open_count; i++)
        assert_null(strstr(e->open[i].what, "lanes"));
    assert_int_equal(f->computing.bound, QUANTITY_EXACT);
    built_plan_block(b, block)->lanes.value = 6;
    e = built_estimate(b);
    assert_true(e->blocks[0].figures.calendar.value > e->blocks[0].figures.computing.value / 6.0);
    for (enum component k = COMPONENT_DATA; k < COMPONENT_COUNT_; k++)
        if (k != COMPONENT_RUNS)
            built_assume(b, arena_printf(b->arena, "one.%s", component_name(k)), "1");
    e = built_estimate(b);
    assert_int_equal(e->blocks[0].figures.calendar.bound, QUANTITY_EXACT);
}

/* Longest first, as `block run` does it: 100 beside 3 x 30, or 2 x 30 + 100 after these. */
static void test_order_on_lanes(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 2, 4);
    for (size_t i = 0; i < 3; i++)
        built_counts(b, &block->conditions[1], 100.0); /* the last one in the plan; one is left */
    built_counts(b, &block->conditions[0], 30.0);      /* three are left */
    built_plan_block(b, block)->lanes = (struct plan_whole){.given = true, .value = 2};
    const struct estimate *e = built_estimate(b);
    assert_true(fabs(e->blocks[0].figures.calendar.value - 100.0) < 3.0);
    assert_true(fabs(e->blocks[0].figures.computing.value - 190.0) < 3.0);
}

/* ---- how well the total is known ---- */

static void test_dominating(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 4, 9);
    struct plan_step *step = built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_NO);
    built_needs(b, block, "install");
    built_step_run(b, step, 90000.0); /* needs no machine: no part of the reserved total */
    built_step_run(b, step, 60000.0);
    for (size_t i = 0; i < 3; i++)
        three_runs(b, &block->conditions[i]);
    const struct estimate *e = built_estimate(b);
    assert_null(e->dominating.item); /* a third each */
    const double far[] = {2000.0, 2300.0, 1800.0};
    for (size_t i = 0; i < ARRAY_LENGTH(far); i++) {
        struct run *run = built_counts(b, &block->conditions[3], far[i]);
        phases(run, 100.0, 500.0); /* all phases of a run are one item */
    }
    e = built_estimate(b);
    assert_string_equal(e->dominating.item, "a=3");
    assert_int_equal(e->dominating.component, COMPONENT_RUNS);
    assert_ptr_equal(e->dominating.block, built_plan_block(b, block));
    assert_true(e->dominating.share > 0.9 && e->dominating.share <= 1.0);
    const struct estimate_error *error = &e->total_errors.reserved;
    assert_true(error->known && error->p05 > 0.0 && error->p95 > 0.0);
    assert_true(error->p95 < e->total.reserved.p95 - e->total.reserved.p05);
}

static void test_too_many_lanes(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 5003);
    three_runs(b, &block->conditions[0]);
    built_plan_block(b, block)->lanes = (struct plan_whole){.given = true, .value = 2000};
    const struct estimate *e = built_estimate(b);
    const struct estimate_open *open =
        assert_remedy(e, "one", COMPONENT_IDLE, "calendar: 2000 lanes", "--set one.lanes=1");
    assert_false(open->has_component);
    assert_int_equal(e->blocks[0].figures.calendar.bound, QUANTITY_AT_LEAST);
}

static void test_gpu_time(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    three_runs(b, &block->conditions[0]);
    b->environment.gpus.value = 4;
    const struct estimate *e = built_estimate(b);
    assert_near(e->total.gpu.value, 4.0 * e->total.reserved.value);
    assert_near(e->total.gpu.p95, 4.0 * e->total.reserved.p95);
    assert_int_equal(e->total.gpu.bound, QUANTITY_AT_LEAST);
    assert_true(e->has_gpus && e->reserved_gpus == 4);
    b->environment.gpus.given = false;
    e = built_estimate(b);
    assert_open(&e->total.gpu, QUANTITY_NOT_ENTERED, "leaves the GPUs");
    assert_false(e->has_gpus);
    assert_remedy(e, "one", COMPONENT_IDLE, "GPU time", "gpus of environment 'here'");
    b->input.environment = NULL;
    for (size_t i = 0; i < b->study.run_count; i++)
        b->seen[i].environment = NULL;
    e = built_estimate(b);
    assert_open(&e->total.gpu, QUANTITY_NOT_ENTERED, "names no environment");
    assert_true(quantity_is_known(&e->total.reserved));
}

static void test_subtotals(void **state) {
    struct built *b = *state;
    struct study_block *blocks[3];
    const enum plan_extent extents[] = {PLAN_VALIDATION, PLAN_FULL, PLAN_EXTENT_UNSAID};
    const char *ids[] = {"one", "two", "three"};
    for (size_t i = 0; i < 3; i++) {
        blocks[i] = built_block(b, ids[i], 1, 9);
        three_runs(b, &blocks[i]->conditions[0]);
        built_plan_block(b, blocks[i])->extent = extents[i];
        built_plan_block(b, blocks[i])->recurrence = i == 0 ? PLAN_ONE_OFF : PLAN_RECURRING;
    }
    const struct estimate *e = built_estimate(b);
    assert_int_equal(e->by_extent_count, 3);
    assert_string_equal(e->by_extent[0].name, "validation");
    assert_string_equal(e->by_extent[1].name, "full");
    assert_string_equal(e->by_extent[2].name, "not said");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(e->by_extent[i].block_count, 1);
        assert_near(e->by_extent[i].figures.computing.value, e->blocks[i].figures.computing.value);
    }
    assert_int_equal(e->by_recurrence_count, 2);
    assert_int_equal(e->by_recurrence[1].block_count, 2);
    /* the interval of a sum is narrower than the sum of the intervals: conditions are apart */
    double width = 0.0;
    for (size_t i = 0; i < 3; i++)
        width += e->blocks[i].figures.computing.p95 - e->blocks[i].figures.computing.p05;
    assert_true(e->total.computing.p95 - e->total.computing.p05 < 0.8 * width);
}

/* The same condition in two blocks is one: what is not known about it does not average out. */
static void test_condition_in_two_blocks(void **state) {
    struct built *b = *state;
    struct study_block *one = built_block(b, "one", 1, 103);
    struct study_block *two = built_block(b, "two", 1, 103);
    three_runs(b, &one->conditions[0]);
    three_runs(b, &two->conditions[0]);
    /* others to borrow from, so that both estimates are made the same way */
    struct study_block *done = built_block(b, "done", 4, 3);
    for (size_t i = 0; i < 4; i++)
        three_runs(b, &done->conditions[i]);
    const struct estimate *e = built_estimate(b);
    double apart = e->total.computing.p95 - e->total.computing.p05;
    memcpy(built_plan_block(b, two)->conditions[0].id, built_plan_block(b, one)->conditions[0].id,
           SHA256_HEX_SIZE);
    e = built_estimate(b);
    assert_true(e->total.computing.p95 - e->total.computing.p05 > 1.15 * apart);
}

/* ---- odd records ---- */

static void test_zero_length(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 2, 9);
    built_counts(b, &block->conditions[0], 0.0);
    built_counts(b, &block->conditions[0], 0.0);
    phases(built_counts(b, &block->conditions[1], 50.0), 0.0, 0.0);
    b->runs[2]->phase[PHASE_DATA] = quantity_measured(UNIT_SECOND, 900.0, "nonsense");
    const struct estimate *e = built_estimate(b);
    assert_true(e->total.reserved.value >= 0.0 && isfinite(e->total.reserved.value));
    assert_near(e->total.reserved.value, 8.0 * 50.0);
}

static void test_many_conditions(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 300, 9);
    b->draws = 0;
    for (size_t i = 0; i < 100; i++)
        three_runs(b, &block->conditions[i]);
    const struct estimate *e = built_estimate(b);
    assert_int_equal(e->draws, 20000 * 50 / 300);
    assert_true(e->total.computing.has_interval && e->total.computing.n == 300);
    const struct estimate_open *open =
        assert_remedy(e, "one", COMPONENT_RUNS, "no run of it was made", "-c a=100");
    assert_int_equal(open->item_count, 200);
    assert_string_equal(open->items[199]->name, "a=299");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_known),
        TEST(test_own_runs),
        TEST(test_done_runs_are_not_planned_again),
        TEST(test_unverified),
        TEST(test_single_run),
        TEST(test_borrowed),
        TEST(test_pooled_once),
        TEST(test_function_tests_are_never_projected),
        TEST(test_count_left_open),
        TEST(test_other_environment_is_nothing),
        TEST(test_commands),
        TEST(test_phases_split_the_wall),
        TEST(test_without_phases_all_is_runs),
        TEST(test_phase_components),
        TEST(test_steps),
        TEST(test_step_once_was_done),
        TEST(test_step_of_a_done_block),
        TEST(test_tasks),
        TEST(test_retries_need_a_failure),
        TEST(test_retry_max),
        TEST(test_lanes),
        TEST(test_order_on_lanes),
        TEST(test_too_many_lanes),
        TEST(test_dominating),
        TEST(test_gpu_time),
        TEST(test_subtotals),
        TEST(test_condition_in_two_blocks),
        TEST(test_zero_length),
        TEST(test_many_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
