/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results held against claims and against repeats: every form, every verdict, ties and mixed ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "rules/study.h"

#include "build-records.h"

struct fixture {
    struct build_study s;
    struct plan_block *compare;
    struct plan_condition *evict, *recent, *full;
    struct plan_claim *claim;
};

static int begin(void **state) {
    struct fixture *f = mem_alloc(sizeof *f);
    build_study_start(&f->s);
    f->compare = build_block(&f->s, "compare", 3, "tokens=96");
    f->evict = build_condition(&f->s, f->compare, "policy=evict keep=0.5");
    f->recent = build_condition(&f->s, f->compare, "policy=recent keep=0.5");
    f->full = build_condition(&f->s, f->compare, "policy=full keep=1");
    f->claim = &f->s.plan.claims[f->s.plan.claim_count++];
    *f->claim = (struct plan_claim){.id = "claim",
                                    .text = "it is so",
                                    .result = "agreement",
                                    .where = build_pairs(f->s.arena, "policy=evict keep=0.5")};
    *state = f;
    return 0;
}

static int end(void **state) {
    struct fixture *f = *state;
    build_study_end(&f->s);
    mem_free_ptr(&f);
    return 0;
}

static struct run *add(struct fixture *f, const struct plan_condition *condition, double value) {
    struct run *run = build_study_run(&f->s, condition, 10.0);
    build_result(run, "agreement", value, "1");
    return run;
}

static const struct study_claim *assert_claim(struct fixture *f, enum study_verdict verdict,
                                              const char *why) {
    const struct study *study = build_derive(&f->s);
    assert_int_equal(study->claim_count, f->s.plan.claim_count);
    const struct study_claim *claim = &study->claims[0];
    assert_ptr_equal(claim->claim, f->claim);
    if (claim->verdict != verdict)
        fail_msg("%s, not %s: %s", study_verdict_name(claim->verdict), study_verdict_name(verdict),
                 claim->why ? claim->why : "(null)");
    assert_says(claim->why, why);
    for (size_t i = 0; i < claim->observed_count; i++)
        assert_true(quantity_is_valid(&claim->observed[i].value));
    return claim;
}

static void set_threshold(struct fixture *f, enum plan_relation relation, double value) {
    f->claim->threshold =
        (struct plan_threshold){.given = true, .relation = relation, .value = value};
}

static void set_paper_value(struct fixture *f, double value, double tolerance, bool relative) {
    f->claim->paper_value = (struct plan_number){.given = true, .value = value};
    f->claim->tolerance =
        (struct plan_tolerance){.given = true, .value = tolerance, .relative = relative};
}

static void set_ordering(struct fixture *f, const char *first, const char *second,
                         const char *third) {
    const char *const texts[] = {first, second, third};
    f->claim->where.count = 0;
    f->claim->better = PLAN_HIGHER;
    f->claim->ordering = arena_alloc(f->s.arena, 3 * sizeof(struct plan_pairs));
    f->claim->ordering_count = 0;
    for (size_t i = 0; i < 3 && texts[i]; i++)
        f->claim->ordering[f->claim->ordering_count++] = build_pairs(f->s.arena, texts[i]);
}

/* ---- what a claim lacks ---- */

static void test_text_only(void **state) {
    struct fixture *f = *state;
    add(f, f->evict, 0.9);
    const struct study_claim *claim = assert_claim(
        f, STUDY_OPEN, "the claim has no value, threshold or ordering to hold it against");
    assert_int_equal(claim->observed_count, 1); /* what was seen is shown all the same */
    assert_float_equal(claim->observed[0].value.value, 0.9, 1e-12);
    f->claim->result = NULL;
    claim = assert_claim(f, STUDY_OPEN, "does not name the result");
    assert_int_equal(claim->observed_count, 0);
}

static void test_no_run(void **state) {
    struct fixture *f = *state;
    set_threshold(f, PLAN_AT_LEAST, 0.9);
    const struct study_claim *claim =
        assert_claim(f, STUDY_OPEN,
                     "no run counts yet for policy=evict keep=0.5: probelauf run --block compare "
                     "-c policy=evict -c keep=0.5");
    assert_int_equal(claim->observed[0].value.state, QUANTITY_OPEN);
    assert_int_equal(claim->observed[0].value.reason, QUANTITY_NO_EVIDENCE);
    f->claim->where = build_pairs(f->s.arena, "policy=evict keep=0.7");
    assert_claim(f, STUDY_OPEN, "no condition of the plan has policy=evict keep=0.7");
}

/* ---- which runs count ---- */

static void test_what_counts(void **state) {
    struct fixture *f = *state;
    set_threshold(f, PLAN_AT_LEAST, 0.9);
    add(f, f->evict, 0.1)->verified = "no";
    add(f, f->evict, 0.2)->validity = RUN_INVALID;
    add(f, f->evict, 0.3)->outcome = OUTCOME_FAILED;
    json_put_text(add(f, f->evict, 0.4)->start, "purpose", "function-test");
    build_put(add(f, f->evict, 0.5)->environment, "code", "{\"digest\":\"d0\"}");
    add(f, f->recent, 0.6);
    build_study_run(&f->s, f->evict, 10.0);
    assert_claim(f, STUDY_OPEN,
                 "no run that counts gives it: run " PIN "000000000007 has no result 'agreement'");
    add(f, f->evict, 0.95)->verified = "not-checked";
    const struct study_claim *claim = assert_claim(
        f, STUDY_REPRODUCED, "agreement was 0.95 (1 run); at least 0.9 was asked for; run ");
    assert_says(claim->why, "has no result 'agreement'"); /* it is not passed over in silence */
    assert_int_equal(claim->observed[0].value.n, 1);
    assert_string_equal(claim->observed[0].value.method, "mark");
    assert_string_equal(claim->observed[0].value.sources[0], f->s.runs[7]->id);
}

static void test_unknown_results(void **state) {
    struct fixture *f = *state;
    set_threshold(f, PLAN_AT_LEAST, 0.9);
    struct run *run = add(f, f->evict, 0.95);
    run->results[0].quantity = quantity_open("1", QUANTITY_FAILED, "the command reported 'nan'");
    assert_claim(f, STUDY_OPEN, "is not known: the command reported 'nan'");
    run->results[0].quantity = quantity_bounded("1", 0.95, QUANTITY_AT_LEAST, "mark");
    assert_claim(f, STUDY_OPEN, "is not known");
}

static void test_units(void **state) {
    struct fixture *f = *state;
    set_threshold(f, PLAN_AT_LEAST, 0.9);
    f->compare->results = arena_alloc(f->s.arena, sizeof(struct plan_result));
    f->compare->result_count = 1;
    f->compare->results[0] = (struct plan_result){.name = "agreement", .unit = "1"};
    struct run *run = add(f, f->evict, 95.0);
    run->results[0].quantity.unit = NULL; /* no unit is the unit 1 */
    assert_claim(f, STUDY_REPRODUCED, "agreement was 95");
    run->results[0].quantity.unit = "%";
    assert_claim(f, STUDY_OPEN, "gives 'agreement' in '%', the plan in '1'");
    f->compare->result_count = 0; /* the plan leaves the unit open: the runs must agree */
    add(f, f->evict, 0.95);
    const struct study_claim *claim =
        assert_claim(f, STUDY_REPRODUCED, "gives 'agreement' in '%', another one in '1'");
    assert_int_equal(claim->observed[0].value.n, 1);
}

/* A run of a condition that two blocks share counts once; a block that names the claim goes before
 * one that only has a fitting condition. */
static void test_blocks(void **state) {
    struct fixture *f = *state;
    struct plan_block *verify = build_block(&f->s, "verify", 1, "tokens=96");
    struct plan_block *scale = build_block(&f->s, "scale", 1, "tokens=512");
    build_condition(&f->s, verify, "policy=evict keep=0.5");
    struct plan_condition *longer = build_condition(&f->s, scale, "policy=evict keep=0.5");
    set_threshold(f, PLAN_AT_LEAST, 0.9);
    add(f, f->evict, 0.95);
    add(f, longer, 0.5);
    const struct study_claim *claim =
        assert_claim(f, STUDY_OPEN,
                     "the repeats disagree: agreement was 0.5 to 0.95 (2 runs), and "
                     "1 of these 2 fit: at least 0.9 was asked for");
    assert_int_equal(claim->observed[0].value.n, 2);
    f->compare->claims = build_texts(f->s.arena, "other claim");
    claim = assert_claim(f, STUDY_REPRODUCED, "agreement was 0.95 (1 run)");
    scale->claims = build_texts(f->s.arena, "claim");
    assert_claim(f, STUDY_OPEN, "the repeats disagree");
    f->claim->id = "nobody's";
    assert_claim(f, STUDY_OPEN, "the repeats disagree");
}

/* Results obtained in different ways are named (B11). */
static void test_methods(void **state) {
    struct fixture *f = *state;
    set_threshold(f, PLAN_AT_LEAST, 0.9);
    add(f, f->evict, 0.95);
    add(f, f->evict, 0.96)->results[0].quantity.method = "out.json /agreement";
    assert_claim(f, STUDY_REPRODUCED, "obtained in different ways (out.json /agreement; mark)");
}

/* ---- forms ---- */

static void test_thresholds(void **state) {
    struct fixture *f = *state;
    add(f, f->evict, 0.9);
    add(f, f->evict, 0.9);
    static const struct {
        enum plan_relation relation;
        double value;
        enum study_verdict verdict;
        const char *why;
    } cases[] = {
        {PLAN_AT_LEAST, 0.9, STUDY_REPRODUCED, "0.9 (2 runs); at least 0.9 was asked for"},
        {PLAN_GREATER, 0.9, STUDY_NOT_REPRODUCED, "more than 0.9 was asked for"},
        {PLAN_AT_MOST, 0.9, STUDY_REPRODUCED, "at most 0.9 was asked for"},
        {PLAN_LESS, 0.9, STUDY_NOT_REPRODUCED, "less than 0.9 was asked for"},
        {PLAN_LESS, 0.91, STUDY_REPRODUCED, "less than 0.91 was asked for"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        set_threshold(f, cases[i].relation, cases[i].value);
        assert_claim(f, cases[i].verdict, cases[i].why);
    }
    add(f, f->evict, 0.8);
    set_threshold(f, PLAN_AT_LEAST, 0.9);
    const struct study_claim *claim =
        assert_claim(f, STUDY_OPEN,
                     "the repeats disagree: agreement was 0.8 to 0.9 (3 runs), and "
                     "2 of these 3 fit");
    assert_float_equal(claim->observed[0].value.value, 0.9, 1e-12); /* the median, shown only */
    assert_float_equal(claim->observed[0].least, 0.8, 1e-12);
    assert_float_equal(claim->observed[0].most, 0.9, 1e-12);
}

static void test_paper_value(void **state) {
    struct fixture *f = *state;
    struct run *run = add(f, f->evict, 0.92);
    set_paper_value(f, 0.9, 0.02, false);
    assert_claim(f, STUDY_REPRODUCED,
                 "agreement was 0.92 (1 run); the paper says 0.9, 0.02 more or less is allowed");
    run->results[0].quantity.value = 0.88; /* in binary, 0.9 - 0.88 is more than 0.02 */
    assert_claim(f, STUDY_REPRODUCED, "0.88");
    run->results[0].quantity.value = 0.9201;
    assert_claim(f, STUDY_NOT_REPRODUCED, "0.9201");
    set_paper_value(f, 0.9, 0.03, true);
    assert_claim(f, STUDY_REPRODUCED, "3 % more or less is allowed");
    run->results[0].quantity.value = -0.95;
    set_paper_value(f, -1.0, 0.05, true); /* a share of its size, whatever its sign */
    assert_claim(f, STUDY_REPRODUCED, "-0.95");
    set_paper_value(f, -0.95, 0.0, false);
    assert_claim(f, STUDY_REPRODUCED, "-0.95");
    add(f, f->evict, 0.5);
    assert_claim(f, STUDY_OPEN, "the repeats disagree");
    f->claim->tolerance.given = false; /* nobody said how near is near */
    assert_claim(f, STUDY_OPEN, "the paper says -0.95; the claim gives no tolerance");
}

static void test_value_and_threshold(void **state) {
    struct fixture *f = *state;
    add(f, f->evict, 0.92);
    set_paper_value(f, 0.9, 0.05, false);
    set_threshold(f, PLAN_AT_LEAST, 0.93);
    assert_claim(f, STUDY_NOT_REPRODUCED, "at least 0.93 was asked for");
    set_threshold(f, PLAN_AT_LEAST, 0.9);
    assert_claim(f, STUDY_REPRODUCED, "the paper says 0.9");
    f->claim->tolerance.given = false;
    assert_claim(f, STUDY_OPEN, "no tolerance; agreement was 0.92 (1 run); at least 0.9");
}

static void test_ordering(void **state) {
    struct fixture *f = *state;
    set_ordering(f, "policy=evict keep=0.5", "policy=recent keep=0.5", NULL);
    assert_claim(f, STUDY_OPEN, "no run counts yet for policy=evict keep=0.5");
    add(f, f->evict, 0.9);
    add(f, f->evict, 0.92);
    assert_claim(f, STUDY_OPEN, "no run counts yet for policy=recent keep=0.5");
    struct run *recent = add(f, f->recent, 0.8);
    const struct study_claim *claim =
        assert_claim(f, STUDY_REPRODUCED,
                     "agreement was 0.9 to 0.92 (2 runs) with policy=evict keep=0.5 and 0.8 (1 "
                     "run) with policy=recent keep=0.5; higher is better");
    assert_int_equal(claim->observed_count, 2);
    assert_ptr_equal(claim->observed[1].where, &f->claim->ordering[1]);
    assert_float_equal(claim->observed[0].value.value, 0.91, 1e-12);
    recent->results[0].quantity.value = 0.91;
    assert_claim(f, STUDY_OPEN, "the repeats overlap");
    recent->results[0].quantity.value = 0.9; /* as good as the worse of the two */
    assert_claim(f, STUDY_OPEN, "the repeats overlap");
    recent->results[0].quantity.value = 0.92; /* none of the better side is beyond it */
    assert_claim(f, STUDY_NOT_REPRODUCED, "0.92");
    f->claim->better = PLAN_LOWER;
    assert_claim(f, STUDY_OPEN, "overlap");
    recent->results[0].quantity.value = 0.93;
    assert_claim(f, STUDY_REPRODUCED, "lower is better");
    f->claim->better = PLAN_BETTER_UNSAID;
    assert_claim(f, STUDY_OPEN, "does not say whether higher or lower is better");
    f->claim->better = PLAN_HIGHER;
    f->claim->ordering_count = 1;
    assert_claim(f, STUDY_OPEN, "an ordering needs two conditions");
}

static void test_tie(void **state) {
    struct fixture *f = *state;
    set_ordering(f, "policy=evict keep=0.5", "policy=recent keep=0.5", NULL);
    add(f, f->evict, 0.9);
    add(f, f->recent, 0.9);
    assert_claim(f, STUDY_NOT_REPRODUCED, "0.9 (1 run)"); /* equal is not better */
}

static void test_ordering_of_three(void **state) {
    struct fixture *f = *state;
    set_ordering(f, "policy=full", "policy=evict keep=0.5", "policy=recent");
    add(f, f->full, 1.0);
    add(f, f->evict, 0.9);
    assert_claim(f, STUDY_OPEN, "no run counts yet for policy=recent");
    struct run *recent = add(f, f->recent, 0.8);
    assert_claim(f, STUDY_REPRODUCED, "1 (1 run) with policy=full");
    recent->results[0].quantity.value = 0.95;
    assert_claim(f, STUDY_NOT_REPRODUCED, "0.95 (1 run) with policy=recent");
    recent->results[0].quantity.unit = "%";
    assert_claim(f, STUDY_OPEN, "'1' cannot be compared with '%'");
    f->claim->where = build_pairs(f->s.arena, "keep=0.5"); /* holds for every entry */
    assert_claim(f, STUDY_OPEN, "no condition of the plan has policy=full");
}

/* One side that is clearly the wrong way round decides, whatever else is missing. */
static void test_ordering_reversed_and_missing(void **state) {
    struct fixture *f = *state;
    set_ordering(f, "policy=full", "policy=evict keep=0.5", "policy=recent");
    add(f, f->full, 0.8);
    add(f, f->evict, 0.9);
    assert_claim(f, STUDY_NOT_REPRODUCED, "no run counts yet for policy=recent");
}

static void test_ordering_and_threshold(void **state) {
    struct fixture *f = *state;
    set_ordering(f, "policy=evict", "policy=recent", NULL);
    f->claim->where = build_pairs(f->s.arena, "keep=0.5");
    set_threshold(f, PLAN_AT_LEAST, 0.7);
    add(f, f->evict, 0.9);
    add(f, f->recent, 0.8);
    const struct study_claim *claim = assert_claim(f, STUDY_REPRODUCED, "at least 0.7");
    assert_int_equal(claim->observed_count, 3);
    assert_ptr_equal(claim->observed[2].where, &f->claim->where);
    assert_int_equal(claim->observed[2].value.n, 2);
}

/* ---- verify ---- */

static struct plan_block *add_verify(struct fixture *f, const char *fixed, double tolerance) {
    struct plan_block *verify = build_block(&f->s, "verify", 2, fixed);
    verify->kind = PLAN_VERIFY;
    verify->verify_of = "compare";
    verify->verify_result = "agreement";
    verify->verify_tolerance = (struct plan_tolerance){.given = true, .value = tolerance};
    return verify;
}

static const struct study_repeat_check *assert_repeat(struct fixture *f, enum study_verdict verdict,
                                                      const char *why) {
    const struct study *study = build_derive(&f->s);
    assert_int_equal(study->repeat_check_count, 1);
    const struct study_repeat_check *check = &study->repeat_checks[0];
    if (check->verdict != verdict)
        fail_msg("%s, not %s: %s", study_verdict_name(check->verdict), study_verdict_name(verdict),
                 check->why);
    assert_says(check->why, why);
    assert_true(quantity_is_valid(&check->first));
    assert_true(quantity_is_valid(&check->repeat));
    return check;
}

/* The repeat is the same condition: runs are told apart by the block that they are done in. */
static void test_repeat(void **state) {
    struct fixture *f = *state;
    struct plan_block *verify = add_verify(f, "tokens=96", 0.0);
    struct plan_condition *again = build_condition(&f->s, verify, "policy=evict keep=0.5");
    const struct study_repeat_check *check =
        assert_repeat(f, STUDY_OPEN,
                      "no run counts yet for policy=evict keep=0.5: probelauf run --block compare");
    assert_ptr_equal(check->condition, f->evict);
    assert_ptr_equal(check->block, verify);
    for (int i = 0; i < 3; i++)
        add(f, f->evict, 0.9);
    check = assert_repeat(f, STUDY_OPEN, "probelauf run --block verify");
    assert_int_equal(check->first.n, 3);
    struct run *repeat = add(f, again, 0.9); /* the fourth: compare has its three */
    check = assert_repeat(f, STUDY_REPRODUCED,
                          "agreement was 0.9 (1 run); before, the median was 0.9 (0.9 (3 runs)), 0 "
                          "more or less is allowed");
    assert_float_equal(check->repeat.value, 0.9, 1e-12);
    assert_int_equal(check->repeat.n, 1);
    repeat->results[0].quantity.value = 0.91;
    assert_repeat(f, STUDY_NOT_REPRODUCED, "0.91");
    verify->verify_tolerance.value = 0.01;
    assert_repeat(f, STUDY_REPRODUCED, "0.01 more or less");
    add(f, again, 0.5);
    assert_repeat(f, STUDY_OPEN, "the repeats disagree");
    verify->verify_tolerance.given = false;
    assert_repeat(f, STUDY_OPEN, "no tolerance is given");
}

static void test_repeat_of_other_condition(void **state) {
    struct fixture *f = *state;
    struct plan_block *verify = add_verify(f, "tokens=96 seed=2", 0.05);
    verify->verify_tolerance.relative = true;
    struct plan_condition *again = build_condition(&f->s, verify, "policy=evict keep=0.5");
    add(f, f->evict, 0.9);
    struct run *run = add(f, again, 0.94);
    const struct study_repeat_check *check =
        assert_repeat(f, STUDY_REPRODUCED, "5 % more or less is allowed");
    assert_ptr_equal(check->condition, f->evict); /* differs in a fixed parameter only */
    run->results[0].quantity.method = "file";
    assert_repeat(f, STUDY_REPRODUCED, "obtained in different ways (mark; file)");
    run->results[0].quantity.unit = "%";
    assert_repeat(f, STUDY_OPEN, "'%' cannot be compared with '1'");
    run->result_count = 0;
    assert_repeat(f, STUDY_OPEN, "has no result 'agreement'");
}

/* The very same condition goes before one that agrees in what varies, and what varied there counts
 * also where it is fixed here. */
static void test_repeated_condition(void **state) {
    struct fixture *f = *state;
    build_condition(&f->s, f->compare, "policy=window");
    struct plan_condition *same = build_condition(&f->s, f->compare, "policy=window seed=2");
    struct plan_block *verify = add_verify(f, "tokens=96 seed=2", 0.0);
    build_condition(&f->s, verify, "policy=window");
    assert_ptr_equal(assert_repeat(f, STUDY_OPEN, "no run")->condition, same);
    verify->condition_count = 0;
    verify->fixed = build_pairs(f->s.arena, "tokens=97 keep=0.5");
    build_condition(&f->s, verify, "policy=recent");
    assert_ptr_equal(assert_repeat(f, STUDY_OPEN, "no run")->condition, f->recent);
    verify->condition_count = 0;
    verify->fixed = build_pairs(f->s.arena, "tokens=97 keep=0.7");
    build_condition(&f->s, verify, "policy=recent");
    assert_repeat(f, STUDY_OPEN, "block 'compare' has no condition policy=recent");
}

static void test_repeat_of_nothing(void **state) {
    struct fixture *f = *state;
    struct plan_block *verify = add_verify(f, "tokens=96", 0.0);
    struct plan_condition *again = build_condition(&f->s, verify, "policy=evict keep=0.3");
    const struct study_repeat_check *check =
        assert_repeat(f, STUDY_OPEN, "block 'compare' has no condition policy=evict keep=0.3");
    assert_ptr_equal(check->condition, again);
    verify->verify_of = "nowhere";
    assert_repeat(f, STUDY_OPEN, "the plan has no block 'nowhere'");
    verify->verify_of = "compare";
    verify->condition_count = 0;
    build_condition(&f->s, verify, "policy=evict keep=0.5");
    verify->verify_result = NULL;
    assert_repeat(f, STUDY_OPEN, "does not name the result");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_text_only),
        TEST(test_no_run),
        TEST(test_what_counts),
        TEST(test_unknown_results),
        TEST(test_units),
        TEST(test_blocks),
        TEST(test_methods),
        TEST(test_thresholds),
        TEST(test_paper_value),
        TEST(test_value_and_threshold),
        TEST(test_ordering),
        TEST(test_tie),
        TEST(test_ordering_of_three),
        TEST(test_ordering_reversed_and_missing),
        TEST(test_ordering_and_threshold),
        TEST(test_repeat),
        TEST(test_repeat_of_other_condition),
        TEST(test_repeated_condition),
        TEST(test_repeat_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
