/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is kept of a review, what of it holds, how many intervals held, and what nine and nineteen
 * outcomes make of a stated interval. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rules/calibration.h"

#include "build-review.h"

static void assert_near(double a, double b) {
    if (!(fabs(a - b) <= 1e-9 * fmax(1.0, fabs(b))))
        fail_msg("%.15g and not %.15g", a, b);
}

/* ---- out of a review ---- */

static const struct calibration_part *outcome_part(const struct calibration_record *record,
                                                   const char *name) {
    for (size_t i = 0; i < record->part_count; i++)
        if (strcmp(record->parts[i].part, name) == 0)
            return &record->parts[i];
    return NULL;
}

static void test_of_review(void **state) {
    struct scene *s = *state;
    s->b->plan.study = (struct plan_study){.id = "study-1", .paper_version = "v2"};
    scene_run(s);
    scene_run(s);
    scene_review(s);
    assert_int_equal(s->review.outcome_count, 1);
    const struct calibration_record *record = &s->review.outcomes[0];
    assert_string_equal(record->study, "study-1");
    assert_string_equal(record->block, "compare");
    assert_string_equal(record->environment, "here");
    assert_string_equal(record->version, "v2");
    assert_string_equal(record->kind, "compare");
    assert_string_equal(record->estimate, "first");
    assert_true(record->kept_utc_ns == KEPT_NS);
    assert_int_equal(record->conditions, 1);
    assert_int_equal(record->made, 2);
    const struct calibration_part *part = outcome_part(record, "runs");
    assert_non_null(part);
    assert_near(part->planned, 104.0);
    assert_near(part->p05, 94.0);
    assert_near(part->p95, 114.0);
    assert_near(part->actual, 104.0);
    assert_string_equal(part->basis, "own-runs");
    assert_int_equal(part->hit, REVIEW_HIT);
    /* the sum was planned without an interval: it is kept for the outside view */
    assert_int_equal(outcome_part(record, "reserved")->hit, REVIEW_NO_INTERVAL);
    assert_null(outcome_part(record, "runs/load"));
    assert_null(outcome_part(record, "memory/host"));
}

static void test_of_unfinished(void **state) {
    struct scene *s = *state;
    s->b->plan.study.id = "study-1";
    scene_phase(scene_run(s), PHASE_COMPUTE, 900.0);
    s->block->state = STUDY_UNDERWAY;
    scene_review(s);
    assert_int_equal(s->review.outcome_count, 1);
    assert_int_equal(s->review.outcomes[0].part_count, 0);
}

static void test_of_none(void **state) {
    struct scene *s = *state;
    s->b->plan.study.id = "study-1";
    scene_review(s); /* no run since */
    assert_int_equal(s->review.outcome_count, 0);
    scene_run(s);
    scene_run(s);
    s->name = "first";
    scene_review(s);
    assert_int_equal(s->review.outcome_count, 0);
    s->name = NULL;
    mem_free_ptr(&s->item);
    s->item = mem_printf("\"value\":50,\"bound\":\"at-least\",\"level\":0.9,\"p05\":45,\"p95\":55,"
                         "\"open_parts\":[\"x\"],");
    scene_review(s);
    assert_int_equal(s->review.outcome_count, 1);
    assert_null(outcome_part(&s->review.outcomes[0], "runs"));
    mem_free_ptr(&s->item); /* nor for the outside view, without an interval */
    s->item = mem_printf("\"value\":50,\"bound\":\"at-least\",\"open_parts\":[\"x\"],");
    scene_review(s);
    assert_int_equal(scene_line(&s->review.blocks[0], "runs")->hit, REVIEW_NO_INTERVAL);
    assert_null(outcome_part(&s->review.outcomes[0], "runs"));
}

/* ---- to JSON and back ---- */

static json_t *event_of(const struct calibration_record *record) {
    json_t *event = json_object();
    json_put_text(event, "study", record->study);
    json_put_text(event, "block", record->block);
    if (record->environment)
        json_put_text(event, "environment", record->environment);
    if (record->version)
        json_put_text(event, "paper_version", record->version);
    json_put_int(event, "utc_ns", 77);
    json_put(event, "outcome", calibration_to_json(record));
    return event;
}

static void test_json(void **state) {
    const struct calibration_part parts[] = {
        {.part = "runs",
         .state = QUANTITY_ESTIMATED,
         .planned = 100.5,
         .has_interval = true,
         .level = 0.9,
         .p05 = 90.25,
         .p95 = 120.125,
         .basis = "borrowed-spread",
         .n = 4,
         .actual = 130.0,
         .bound = QUANTITY_AT_LEAST,
         .hit = REVIEW_MISS},
        {.part = "reserved",
         .state = QUANTITY_ASSUMED,
         .planned = 0.0,
         .actual = 7.0,
         .hit = REVIEW_NO_INTERVAL},
    };
    const struct calibration_record record = {.study = "s",
                                              .block = "b",
                                              .kind = "compare",
                                              .estimate = "first",
                                              .method = "m/1",
                                              .kept_utc_ns = 5,
                                              .conditions = 3,
                                              .made = 9,
                                              .parts = parts,
                                              .part_count = 2};
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_JSON json_t *event = event_of(&record);
    struct calibration_record read;
    (void)state;
    assert_true(calibration_from_json(event, arena, &read));
    assert_true(calibration_is_same(&record, &read));
    assert_true(read.reviewed_utc_ns == 77);
    assert_int_equal(read.made, 9);
    assert_int_equal(read.part_count, 2);
    assert_int_equal(read.parts[0].hit, REVIEW_MISS);
    assert_int_equal(read.parts[0].bound, QUANTITY_AT_LEAST);
    assert_int_equal(read.parts[0].n, 4);
    assert_near(read.parts[0].p95, 120.125);
    assert_string_equal(read.parts[0].basis, "borrowed-spread");
    assert_int_equal(read.parts[1].state, QUANTITY_ASSUMED);
    assert_false(read.parts[1].has_interval);
    AUTO_JSON json_t *again = calibration_to_json(&read);
    assert_true(json_equal(again, json_get_object(event, "outcome")));
}

/* What does not hold together is not counted: "hit" outside of its own interval, a part twice, a
 * negative time, an interval upside down, an unknown part. */
static void test_json_untrusted(void **state) {
    static const char runs[] = "{\"part\":\"runs\",\"state\":\"estimated\",\"planned\":10,";
    static const char *const bad[] = {
        "\"level\":0.9,\"p05\":9,\"p95\":11,\"actual\":12,\"interval\":\"hit\"}",
        "\"level\":0.9,\"p05\":9,\"p95\":11,\"actual\":10,\"interval\":\"miss\"}",
        ("\"level\":0.9,\"p05\":9,\"p95\":11,\"actual\":9,\"bound\":\"at-least\","
         "\"interval\":\"hit\"}"),
        "\"level\":0.9,\"p05\":11,\"p95\":9,\"actual\":10,\"interval\":\"miss\"}",
        "\"level\":7,\"p05\":9,\"p95\":11,\"actual\":10,\"interval\":\"hit\"}",
        "\"level\":0.9,\"p05\":9,\"p95\":11,\"actual\":-1,\"interval\":\"miss\"}",
        "\"level\":0.9,\"p05\":9,\"p95\":11,\"actual\":\"x\",\"interval\":\"hit\"}",
        "\"level\":0.9,\"p05\":9,\"p95\":11,\"actual\":10}",
        "\"state\":\"measured\",\"actual\":10,\"interval\":\"no-interval\"}",
        "\"part\":\"runs/load\",\"actual\":10,\"interval\":\"no-interval\"}",
    };
    AUTO_ARENA struct arena *arena = arena_new();
    struct calibration_record read;
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        const char *head = strstr(bad[i], "\"part\"") ? "{\"state\":\"estimated\",\"planned\":10,"
                           : strstr(bad[i], "\"state\"") ? "{\"part\":\"runs\",\"planned\":10,"
                                                         : runs;
        AUTO_FREE char *text = mem_printf(
            "{\"study\":\"s\",\"block\":\"b\",\"outcome\":{\"parts\":[%s%s]}}", head, bad[i]);
        AUTO_JSON json_t *event = build_object(text);
        assert_true(calibration_from_json(event, arena, &read));
        if (read.part_count != 0)
            fail_msg("kept: %s", bad[i]);
    }
    AUTO_FREE char *twice =
        mem_printf("{\"study\":\"s\",\"block\":\"b\",\"outcome\":{\"parts\":[7,%s%s,%s%s]}}", runs,
                   "\"actual\":10,\"interval\":\"no-interval\"}", runs,
                   "\"actual\":11,\"interval\":\"no-interval\"}");
    AUTO_JSON json_t *event = build_object(twice);
    assert_true(calibration_from_json(event, arena, &read));
    assert_int_equal(read.part_count, 1);
    AUTO_JSON json_t *nobody = build_object("{\"study\":\"s\",\"outcome\":{\"parts\":[]}}");
    AUTO_JSON json_t *nothing = build_object("{\"study\":\"s\",\"block\":\"b\"}");
    assert_false(calibration_from_json(nobody, arena, &read));
    assert_false(calibration_from_json(nothing, arena, &read));
}

/* ---- counted ---- */

#define RECORDS_MOST 24u

struct memory {
    struct arena *arena;
    struct calibration_record records[RECORDS_MOST];
    struct calibration_part parts[RECORDS_MOST];
    size_t count;
    struct calibration made;
};

/* Planned 10 to 40 s with 20 s in the middle: half-width ln 2, so that 20 x 2^(1 + score) has that
 * score. */
static struct calibration_part *remember(struct memory *m, const char *study, double actual) {
    struct calibration_part *part = &m->parts[m->count];
    struct calibration_record *record = &m->records[m->count];
    *part = (struct calibration_part){
        .part = "runs",
        .state = QUANTITY_ESTIMATED,
        .planned = 20.0,
        .has_interval = true,
        .level = 0.9,
        .p05 = 10.0,
        .p95 = 40.0,
        .basis = "own-runs",
        .actual = actual,
        .hit = actual >= 10.0 && actual <= 40.0 ? REVIEW_HIT : REVIEW_MISS,
    };
    *record = (struct calibration_record){.study = study,
                                          .block = arena_printf(m->arena, "b%zu", m->count),
                                          .environment = "here",
                                          .method = ESTIMATE_METHOD,
                                          .reviewed_utc_ns = 1000,
                                          .parts = part,
                                          .part_count = 1};
    m->count++;
    return part;
}

static const struct calibration *count_all(struct memory *m) {
    calibration_make(m->records, m->count, NULL, 0, "one", m->arena, &m->made);
    return &m->made;
}

static int memory_setup(void **state) {
    struct memory *m = mem_alloc(sizeof *m);
    m->arena = arena_new();
    *state = m;
    return 0;
}

static int memory_teardown(void **state) {
    struct memory *m = *state;
    arena_free(m->arena);
    mem_free_ptr(&m);
    return 0;
}

static void test_share(void **state) {
    struct memory *m = *state;
    for (size_t i = 0; i < 3; i++)
        remember(m, "one", 20.0);
    remember(m, "one", 50.0);
    const struct calibration *made = count_all(m);
    assert_int_equal(made->study.held, 3);
    assert_int_equal(made->study.count, 4);
    assert_false(made->study.is_told); /* four are too few */
    remember(m, "other", 5.0)->basis = "borrowed-spread";
    made = count_all(m);
    assert_false(made->study.is_told);
    assert_true(made->ledger.is_told);
    assert_int_equal(made->ledger.held, 3);
    assert_int_equal(made->ledger.count, 5);
    assert_near(made->ledger.share, 0.6);
    assert_true(made->ledger.low > 0.2 && made->ledger.low < 0.6);
    assert_true(made->ledger.high > 0.6 && made->ledger.high < 0.95);
    assert_int_equal(made->studies, 2);
    assert_int_equal(made->basis_count, 2);
    assert_string_equal(made->bases[1].basis, "borrowed-spread");
    assert_int_equal(made->bases[1].share.count, 1);
    assert_int_equal(made->bases[1].share.held, 0);
}

/* The sum of a block, what people assumed, what had no interval or another level: not counted. */
static void test_share_of_what(void **state) {
    struct memory *m = *state;
    remember(m, "one", 20.0)->part = "reserved";
    remember(m, "one", 20.0)->state = QUANTITY_ASSUMED;
    remember(m, "one", 20.0)->has_interval = false;
    remember(m, "one", 20.0)->level = 0.8;
    remember(m, "one", 20.0)->part = "idle";
    assert_int_equal(count_all(m)->study.count, 1);
}

/* However often it is reviewed: the last about a block holds, also one that takes it back. */
static void test_last_holds(void **state) {
    struct memory *m = *state;
    for (size_t i = 0; i < 4; i++) {
        remember(m, "one", i < 3 ? 20.0 : 50.0);
        m->records[i].block = "same";
    }
    const struct calibration *made = count_all(m);
    assert_int_equal(made->count, 1);
    assert_int_equal(made->study.count, 1);
    assert_int_equal(made->study.held, 0);
    m->records[3].part_count = 0;
    made = count_all(m);
    assert_int_equal(made->study.count, 0);
    assert_int_equal(made->studies, 0);
    m->records[2].environment = "there";
    m->records[1].version = "v2";
    m->records[0].study = "other";
    made = count_all(m);
    assert_int_equal(made->count, 4);
    assert_int_equal(made->ledger.count, 3);
    assert_int_equal(made->study.count, 2);
}

static void test_now_goes_before(void **state) {
    struct memory *m = *state;
    remember(m, "one", 20.0);
    remember(m, "one", 50.0);
    m->records[1].block = m->records[0].block;
    calibration_make(m->records, 1, &m->records[1], 1, "one", m->arena, &m->made);
    assert_int_equal(m->made.study.count, 1);
    assert_int_equal(m->made.study.held, 0);
}

/* ---- beside an estimate ---- */

struct stated {
    struct memory *m;
    struct plan plan;
    struct plan_environment environment;
    struct study_input input;
    struct study study;
    struct estimate_block block;
    struct study_block study_block;
    struct plan_block plan_block;
    struct estimate estimate;
};

/* In all 100 to 400 s; the block 1 to 4 s. */
static const struct calibrated_figure *beside(struct stated *s, struct memory *m) {
    s->input.plan = &s->plan;
    s->input.now_utc_ns = 2000;
    s->study.input = &s->input;
    s->plan_block.id = "b0";
    s->study_block.block = &s->plan_block;
    s->study_block.state = STUDY_DONE;
    s->study.blocks = &s->study_block;
    s->study.block_count = 1;
    s->estimate.study = &s->study;
    s->estimate.blocks = &s->block;
    s->estimate.block_count = 1;
    s->estimate.total.computing = (struct quantity){.state = QUANTITY_ESTIMATED,
                                                    .value = 200.0,
                                                    .unit = UNIT_SECOND,
                                                    .has_interval = true,
                                                    .level = 0.9,
                                                    .p05 = 100.0,
                                                    .p95 = 400.0};
    s->block.figures.computing = s->estimate.total.computing;
    s->block.figures.computing.p05 = 1.0;
    s->block.figures.computing.value = 2.0;
    s->block.figures.computing.p95 = 4.0;
    calibration_apply(count_all(m), &s->estimate, m->arena);
    return &s->estimate.calibrated->computing;
}

/* An actual that lies `score` half-widths above the stated interval. */
static double above(double score) {
    return 40.0 * pow(2.0, score);
}

static void test_eight_and_nine(void **state) {
    struct memory *m = *state;
    struct stated s = {0};
    for (int i = 0; i < 8; i++)
        remember(m, "other", above(0.25 * i - 1.0)); /* -1 … 0.75 */
    const struct calibrated_figure *figure = beside(&s, m);
    assert_int_equal(figure->outcomes, 8);
    assert_non_null(figure->why);
    assert_string_equal(figure->why, "8 reviewed blocks so far, and it takes 9");
    remember(m, "other", above(1.0));
    figure = beside(&s, m);
    assert_int_equal(figure->outcomes, 9);
    assert_null(figure->why);
    assert_near(figure->factor, 2.0); /* the ninth smallest of nine: 1 */
    assert_near(figure->p05, 50.0);   /* 100 / 2^1 */
    assert_near(figure->p95, 800.0);
    assert_false(figure->has_bounds);
    const struct calibrated_figure *block = &s.block.calibrated->computing;
    assert_near(block->p05, 0.5);
    assert_near(block->p95, 8.0);
    /* what is stated stays */
    assert_near(s.estimate.total.computing.p95, 400.0);
    /* nothing was kept of the sum */
    assert_int_equal(s.estimate.calibrated->reserved.outcomes, 0);
    assert_non_null(s.estimate.calibrated->reserved.why);
}

/* Where all came out near the middle the interval is narrowed. */
static void test_narrowed(void **state) {
    struct memory *m = *state;
    struct stated s = {0};
    for (int i = 0; i < 9; i++)
        remember(m, "other", 20.0 * pow(2.0, 0.5 * i / 8.0));
    const struct calibrated_figure *figure = beside(&s, m);
    assert_near(figure->factor, 0.5);
    assert_near(figure->p05, 200.0 / sqrt(2.0));
    assert_near(figure->p95, 200.0 * sqrt(2.0));
}

static void test_eighteen_and_nineteen(void **state) {
    struct memory *m = *state;
    struct stated s = {0};
    for (int i = 0; i < 18; i++)
        remember(m, "other", above(0.1 * i));
    const struct calibrated_figure *figure = beside(&s, m);
    assert_near(figure->factor, 2.7); /* ceil(19 x 0.9) = 18th: 1.7 */
    assert_false(figure->has_bounds);
    remember(m, "other", above(3.0));
    figure = beside(&s, m);
    assert_near(figure->factor, 2.7); /* still the 18th, of 19 */
    assert_true(figure->has_bounds);
    assert_near(figure->high, 400.0 * pow(2.0, 3.0)); /* the 19th */
    /* all lie above: the one that lies least below is that with score 0, two widths inside */
    assert_near(figure->low, 400.0);
}

/* An outcome that was cut off lies so far out at least: with nine it is the one that would count.
 */
static void test_cut_off(void **state) {
    struct memory *m = *state;
    struct stated s = {0};
    for (int i = 0; i < 10; i++)
        remember(m, "other", 20.0);
    m->parts[4].actual = 41.0;
    m->parts[4].hit = REVIEW_MISS;
    m->parts[4].bound = QUANTITY_AT_LEAST;
    assert_non_null(beside(&s, m)->why);
    for (int i = 0; i < 9; i++)
        remember(m, "other", 20.0);
    const struct calibrated_figure *figure = beside(&s, m);
    assert_null(figure->why); /* the 18th of 19 is whole */
    assert_near(figure->factor, 0.0);
    assert_false(figure->has_bounds);
}

/* Outcomes that may not teach: of another method, later than the estimate, of a block that has runs
 * to do again, assumed, without an interval. */
static void test_which_teach(void **state) {
    struct memory *m = *state;
    struct stated s = {0};
    for (int i = 0; i < 14; i++)
        remember(m, "one", 20.0);
    m->records[1].method = "plan-simulation/0";
    m->records[2].method = NULL;
    m->records[3].reviewed_utc_ns = 2000;
    m->parts[4].state = QUANTITY_ASSUMED;
    m->parts[5].has_interval = false;
    m->parts[5].hit = REVIEW_NO_INTERVAL;
    assert_int_equal(beside(&s, m)->outcomes, 9);
    s.plan.study.id = "one";
    s.environment.id = "here";
    s.input.environment = &s.environment;
    assert_int_equal(beside(&s, m)->outcomes, 9);
    s.study_block.state = STUDY_UNDERWAY;
    calibration_apply(&m->made, &s.estimate, m->arena);
    assert_int_equal(s.estimate.calibrated->computing.outcomes, 8);
    assert_non_null(s.estimate.calibrated->computing.why);
    s.environment.id = "there"; /* then it is about another one */
    calibration_apply(&m->made, &s.estimate, m->arena);
    assert_int_equal(s.estimate.calibrated->computing.outcomes, 9);
}

/* What is assumed in a figure, or a figure without interval, is not corrected. */
static void test_which_are_taught(void **state) {
    struct memory *m = *state;
    struct stated s = {0};
    for (int i = 0; i < 9; i++)
        remember(m, "other", 20.0);
    beside(&s, m);
    s.estimate.total.computing.state = QUANTITY_ASSUMED;
    s.block.figures.computing.has_interval = false;
    calibration_apply(&m->made, &s.estimate, m->arena);
    assert_non_null(s.estimate.calibrated->computing.why);
    assert_non_null(s.block.calibrated->computing.why);
    assert_int_equal(s.estimate.calibrated->computing.outcomes, 9);
}

static void test_outside_view(void **state) {
    struct memory *m = *state;
    struct stated s = {0};
    for (int i = 0; i < 8; i++)
        remember(m, "other", 10.0 * (i + 1));
    assert_int_equal(beside(&s, m)->ratio.count, 8);
    assert_false(beside(&s, m)->ratio.is_told);
    struct calibration_part *part = remember(m, "other", 90.0);
    part->has_interval = false; /* a planned time is enough */
    part->hit = REVIEW_NO_INTERVAL;
    const struct calibrated_ratio ratio = beside(&s, m)->ratio;
    assert_true(ratio.is_told);
    assert_near(ratio.median, 2.5); /* 50 / 20 */
    assert_near(ratio.least, 0.5);
    assert_near(ratio.most, 4.5);
    part->bound = QUANTITY_AT_LEAST;
    assert_int_equal(beside(&s, m)->ratio.count, 8);
}

#define memory_test(f) cmocka_unit_test_setup_teardown(f, memory_setup, memory_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        scene_test(test_of_review),
        scene_test(test_of_unfinished),
        scene_test(test_of_none),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_untrusted),
        memory_test(test_share),
        memory_test(test_share_of_what),
        memory_test(test_last_holds),
        memory_test(test_now_goes_before),
        memory_test(test_eight_and_nine),
        memory_test(test_narrowed),
        memory_test(test_eighteen_and_nineteen),
        memory_test(test_cut_off),
        memory_test(test_which_teach),
        memory_test(test_which_are_taught),
        memory_test(test_outside_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
