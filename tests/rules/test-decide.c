/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of REQUIREMENTS E about a place and what was shown there: for each a study in which it
 * fires, one in which it does not, and one that cannot tell; and the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build-decide.h"

#define VALIDATE 0u
#define COMPARE  1u

static struct plan_fact *add_fact(struct decided *d, const char *id, const char *about,
                                  unsigned stops) {
    struct plan_fact *fact = &d->s.plan.facts[d->s.plan.fact_count++];
    *fact = (struct plan_fact){.at = decided_at(50 + (uint32_t)d->s.plan.fact_count),
                               .id = id,
                               .about = about,
                               .question = "is it so?",
                               .stops = stops};
    return fact;
}

static void nothing_in_the_way(void **state) {
    struct decided *d = *state;
    expect_verdict(d, DECIDE_RENT_BLOCKS, DECIDE_E2);
    decided_sound(&d->decision);
    assert_int_equal(d->decision.change_count, 0);
    assert_true(d->decision.environments[0].blocks[VALIDATE].nothing_left);
    assert_int_equal(d->decision.environments[0].blocks[VALIDATE].verdict, DECIDE_NONE);
}

/* ---- E5 ---- */

static void e5_data(void **state) {
    struct decided *d = *state;
    struct plan_privacy *privacy = &d->s.plan.privacy;
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_NO, false);
    privacy->data_class = NULL;
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_CANNOT_TELL, true);
    expect_verdict(d, DECIDE_NOT_YET, DECIDE_E5);
    privacy->data_class = "personal";
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_CANNOT_TELL, true);
    assert_says(decided_rule(&d->decision, COMPARE, DECIDE_E5)->opens[0].what, "statement");
    privacy->provider_statement = (struct plan_sourced){.value = "stays in the EU"};
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_CANNOT_TELL, true); /* a word without a source */
    privacy->provider_statement.source = "DPA 4.1";
    privacy->provider_statement.seen = (struct plan_date){.given = true, .text = "2026-11-30"};
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_CANNOT_TELL, true);
    assert_says(decided_rule(&d->decision, COMPARE, DECIDE_E5)->opens[0].what, "privacy.storage");
    privacy->storage = "eu-central";
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_CANNOT_TELL, true);
    assert_says(decided_rule(&d->decision, COMPARE, DECIDE_E5)->opens[0].what, "privacy.readers");
    privacy->readers = "the team";
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_CANNOT_TELL, true);
    assert_says(decided_rule(&d->decision, COMPARE, DECIDE_E5)->opens[0].what, "privacy.retention");
    privacy->retention = "a year";
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_NO, false);
    expect_ground(d, COMPARE, DECIDE_E5, "stays in the EU");
    privacy->assessment = NULL;
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_CANNOT_TELL, true);
    privacy->assessment = "discussed with the officer";
    privacy->may_transfer = PLAN_UNSAID;
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_CANNOT_TELL, true);
    privacy->may_transfer = PLAN_NO;
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_YES, true);
    d->here->kind = PLAN_OWN; /* nothing leaves the house */
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_NO, false);
}

/* Whatever class: what is not to be moved is not moved. */
static void e5_transfer(void **state) {
    struct decided *d = *state;
    d->s.plan.privacy.may_transfer = PLAN_NO;
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_YES, true);
    d->s.plan.privacy.data_class = NULL;
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_YES, true);
}

/* An open fact about personal data is not settled by the part `privacy`. */
static void e5_facts(void **state) {
    struct decided *d = *state;
    struct plan_privacy *privacy = &d->s.plan.privacy;
    add_fact(d, "privacy.readers", "privacy", PLAN_STOPS_BOOKING);
    privacy->provider_statement =
        (struct plan_sourced){.value = "v", .source = "s", .seen = {.given = true}};
    privacy->storage = privacy->readers = privacy->retention = "said";
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_NO, false);
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_CANNOT_TELL,
                true); /* it stops booking all the same */
    privacy->data_class = "sensitive";
    expect_rule(d, COMPARE, DECIDE_E5, DECIDE_CANNOT_TELL, true);
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_NO, false);
}

/* ---- E7, E7b ---- */

static void e7_stack(void **state) {
    struct decided *d = *state;
    struct plan_code *code = &d->s.plan.code;
    expect_rule(d, COMPARE, DECIDE_E7, DECIDE_NO, false);
    code->requires_stack = build_pairs(d->s.arena, "triton=3.1");
    expect_rule(d, COMPARE, DECIDE_E7, DECIDE_CANNOT_TELL,
                false); /* the environment does not say */
    code->requires_stack = build_pairs(d->s.arena, "torch=2.7.0");
    expect_rule(d, COMPARE, DECIDE_E7, DECIDE_YES, true); /* torch 2.3.1 is there */
    expect_ground(d, COMPARE, DECIDE_E7, "torch 2.7.0");
    expect_ground(d, COMPARE, DECIDE_E7, "a run that counts was made there all the same");
    expect_verdict(d, DECIDE_NOT_YET, DECIDE_E7);
    code->requires_stack = build_pairs(d->s.arena, "torch=2.3.1");
    expect_rule(d, COMPARE, DECIDE_E7, DECIDE_NO, false);
    code->architectures = build_texts(d->s.arena, "8.0");
    expect_rule(d, COMPARE, DECIDE_E7, DECIDE_CANNOT_TELL, false);
    d->here->compute_capability = "9.0";
    expect_rule(d, COMPARE, DECIDE_E7, DECIDE_YES, true);
    code->accelerators.count = code->architectures.count = 0;
    expect_rule(d, COMPARE, DECIDE_E7, DECIDE_CANNOT_TELL, false);
}

/* CUDA-only code is never "fits" on a Mac or on another accelerator. */
static void e7_mac(void **state) {
    struct decided *d = *state;
    struct plan_environment *mac = build_environment(&d->s, "mac");
    *mac = (struct plan_environment){.at = decided_at(12),
                                     .id = "mac",
                                     .kind = PLAN_MACOS,
                                     .gpus = build_whole(1),
                                     .gpu = "Apple M3"};
    const struct decision *decision = decided_make(d);
    const struct decide_environment *there = &decision->environments[1];
    assert_int_equal(there->blocks[COMPARE].rules[DECIDE_E7].answer, DECIDE_YES);
    assert_int_equal(there->verdict, DECIDE_NOT_YET);
    assert_int_equal(there->blocks[COMPARE].rules[DECIDE_E7B].answer, DECIDE_NO);
    assert_null(there->option);
    assert_ptr_equal(decision->best, &decision->environments[0]);
    assert_int_equal(decision->verdict, DECIDE_RENT_BLOCKS);
    mac->gpu = "AMD Instinct MI300X";
    mac->kind = PLAN_INSTITUTE;
    decision = decided_make(d);
    assert_int_equal(decision->environments[1].blocks[COMPARE].rules[DECIDE_E7].answer, DECIDE_YES);
}

static void e7b_option(void **state) {
    struct decided *d = *state;
    struct plan_environment *mac = build_environment(&d->s, "mac");
    *mac = (struct plan_environment){.at = decided_at(12), .id = "mac", .kind = PLAN_MACOS};
    d->s.plan.code.accelerators = build_texts(d->s.arena, "cuda metal");
    const struct decision *decision = decided_make(d);
    const struct decide_environment *there = &decision->environments[1];
    assert_int_equal(there->blocks[COMPARE].rules[DECIDE_E7B].answer, DECIDE_YES);
    assert_true(there->blocks[COMPARE].rules[DECIDE_E7B].fires);
    assert_int_equal(there->blocks[COMPARE].rules[DECIDE_E7B].verdict, DECIDE_NONE);
    assert_says(there->option, "proves nothing for other work");
    assert_int_equal(there->verdict, DECIDE_VALIDATE_FIRST); /* nothing ran there */
    assert_ptr_equal(decision->best, &decision->environments[0]);
    d->s.plan.code.requires_stack = build_pairs(d->s.arena, "torch=2.3.1");
    decision = decided_make(d);
    there = &decision->environments[1];
    assert_int_equal(there->blocks[COMPARE].rules[DECIDE_E7B].answer, DECIDE_CANNOT_TELL);
    assert_null(there->option);
    /* a rented machine is no option beside */
    assert_int_equal(decided_rule(decision, COMPARE, DECIDE_E7B)->answer, DECIDE_NO);
}

/* A Mac on which all works is no reason to rent: the environment that is meant decides. */
static void a_mac_is_never_best(void **state) {
    struct decided *d = *state;
    struct plan_environment *other = build_environment(&d->s, "other");
    d->here->kind = PLAN_MACOS;
    d->here->accelerator = "cuda"; /* whatever: that nothing else speaks */
    other->at = decided_at(12);
    other->kind = PLAN_RENTED;
    const struct decision *decision = decided_make(d);
    assert_int_equal(decision->environments[0].verdict, DECIDE_RENT_BLOCKS);
    assert_ptr_equal(decision->best, &decision->environments[1]);
    assert_int_equal(decision->verdict, DECIDE_VALIDATE_FIRST);
}

/* ---- E1 ---- */

static void e1_not_shown(void **state) {
    struct decided *d = *state;
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_NO, false);
    d->base_run->verified = d->evict_run->verified = d->evict_again->verified = "not-checked";
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_CANNOT_TELL, true);
    expect_ground(d, COMPARE, DECIDE_E1, "nobody checked its result");
    expect_verdict(d, DECIDE_VALIDATE_FIRST, DECIDE_E1);
    for (size_t i = 0; i < d->s.run_count; i++)
        d->s.runs[i]->outcome = OUTCOME_FAILED;
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E1, "no run counts");
}

static void e1_function_test(void **state) {
    struct decided *d = *state;
    for (size_t i = 0; i < d->s.run_count; i++)
        json_put_text(d->s.runs[i]->start, "purpose", "function-test");
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E1, "only a function test");
    expect_verdict(d, DECIDE_VALIDATE_FIRST, DECIDE_E1);
}

/* A10: where a central question is open, no full block is planned; one about elsewhere is none. */
static void e1_open_facts(void **state) {
    struct decided *d = *state;
    struct plan_fact *fact = add_fact(d, "weights.access", "weights", 0);
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_CANNOT_TELL, true);
    assert_says(decided_rule(&d->decision, COMPARE, DECIDE_E1)->then, "no full block is planned");
    assert_says(d->decision.changes[0].what, "weights.access");
    assert_string_equal(d->decision.changes[0].rules, "E1");
    fact->environment = "elsewhere";
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_NO, false);
    fact->environment = "here";
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_CANNOT_TELL, true);
    fact->about = "environment"; /* may wait, unless it stops something */
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_NO, false);
    fact->stops = PLAN_STOPS_COMPARE;
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_CANNOT_TELL, true);
    fact->stops = PLAN_STOPS_SCALE;
    expect_rule(d, COMPARE, DECIDE_E1, DECIDE_NO, false);
}

/* Set by the team, never an estimate; what it lacks is named. */
static void e1_validation(void **state) {
    struct decided *d = *state;
    struct plan_validation *validation = &d->s.plan.validation;
    d->s.run_count = 0;
    const struct decision *decision = decided_make(d);
    assert_int_equal(decision->validation_lack_count, 3);
    validation->max_cost = (struct plan_amount){.given = true, .micros = 20 * MONEY_MICROS};
    decision = decided_make(d);
    assert_int_equal(decision->validation_lack_count, 3);
    assert_says(decision->validation_lacks[0], "currency");
    validation->currency = "EUR";
    validation->stop_condition = "two failed imports";
    validation->result = "one answer";
    decision = decided_make(d);
    assert_int_equal(decision->validation_lack_count, 0);
    assert_ptr_equal(decision->validation, validation);
    d->s.run_count = 3; /* for the end */
}

/* ---- E8 ---- */

static void e8_unsettled(void **state) {
    struct decided *d = *state;
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_NO, false);
    expect_ground(d, COMPARE, DECIDE_E8, "the memory peak is measured");
    d->compare->runs.given = false;
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_YES, true);
    expect_verdict(d, DECIDE_VALIDATE_FIRST, DECIDE_E8);
    d->compare->runs.given = true;
    d->full->state = PLAN_UNDETERMINED;
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_YES, true);
    d->full->state = PLAN_CHOSEN;
    d->compare->state = PLAN_UNDETERMINED;
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_YES, true);
    d->compare->state = PLAN_CONFIRMED;
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_NO, false);
    d->evict_run->gpus[0].process_used = d->evict_again->gpus[0].process_used =
        quantity_open(UNIT_BYTE, QUANTITY_NOT_PERMITTED, "the driver does not tell");
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E8, "is not measured: the driver does not tell");
}

/* What a program takes from the start is no need: the peak is not settled. */
static void e8_allowance(void **state) {
    struct decided *d = *state;
    d->evict_run->gpus[0].preallocated = d->evict_again->gpus[0].preallocated = RUN_YES;
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E8, "allowance");
    expect_rule(d, COMPARE, DECIDE_E2, DECIDE_CANNOT_TELL, false);
}

static void e8_facts(void **state) {
    struct decided *d = *state;
    struct plan_fact *fact = add_fact(d, "licence.use", "licence", PLAN_STOPS_BOOKING);
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_CANNOT_TELL, true);
    expect_verdict(d, DECIDE_VALIDATE_FIRST, DECIDE_E8);
    fact->stops = PLAN_STOPS_SCALE;
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_NO, false);
    fact->stops = 0;
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_NO, false);
}

static void e8_environment(void **state) {
    struct decided *d = *state;
    d->here->gpus.given = false;
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E8, "how many GPUs");
    d->here->gpus.given = true;
    d->here->gpu = NULL;
    d->here->accelerator = "cuda";
    expect_rule(d, COMPARE, DECIDE_E8, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E8, "which GPU");
}

/* ---- E10 ---- */

static void e10_exceeds(void **state) {
    struct decided *d = *state;
    expect_rule(d, COMPARE, DECIDE_E10, DECIDE_NO, false);
    d->here->gpu_memory.bytes = (uint64_t)(40.0 * GIB);
    expect_rule(d, COMPARE, DECIDE_E10, DECIDE_YES, true);
    expect_verdict(d, DECIDE_NOT_YET, DECIDE_E10);
    d->here->gpu_memory.given = false;
    d->evict_run->gpus[0].total = d->evict_again->gpus[0].total =
        quantity_open(UNIT_BYTE, QUANTITY_NOT_VISIBLE, NULL);
    expect_rule(d, COMPARE, DECIDE_E10, DECIDE_CANNOT_TELL, false);
    d->here->gpu_memory.given = true;
    d->here->gpu_memory.bytes = (uint64_t)(80.0 * GIB);
    d->here->host_memory.bytes = (uint64_t)(2.0 * GIB);
    expect_rule(d, COMPARE, DECIDE_E10, DECIDE_YES, true);
}

static void e10_out_of_memory(void **state) {
    struct decided *d = *state;
    struct run *oom = decided_run(d, d->full, 20.0, 79.0);
    oom->outcome = OUTCOME_GPU_OOM;
    expect_rule(d, COMPARE, DECIDE_E10, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E10, "ran out of GPU memory");
    oom->gpus[0].others = RUN_YES; /* somebody else had some of it */
    expect_rule(d, COMPARE, DECIDE_E10, DECIDE_CANNOT_TELL, false);
    oom->gpus[0].others = RUN_NO;
    decided_run(d, d->full, 200.0, 60.0); /* a later one worked */
    expect_rule(d, COMPARE, DECIDE_E10, DECIDE_NO, false);
    struct run *host = decided_run(d, d->full, 20.0, 60.0);
    host->outcome = OUTCOME_FAILED;
    host->incidents = arena_alloc(host->arena, sizeof *host->incidents);
    host->incidents[0] = (struct run_incident){.name = "host_oom", .survived = true};
    host->incident_count = 1;
    expect_rule(d, COMPARE, DECIDE_E10, DECIDE_NO, false);
    host->incidents[0].survived = false;
    expect_rule(d, COMPARE, DECIDE_E10, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E10, "the machine's memory");
}

/* ---- E6 ---- */

static void e6_variation(void **state) {
    struct decided *d = *state;
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_NO, false);
    d->evict_again->wall.value = 449.0; /* 300 x 1.5 is the limit */
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_NO, false);
    d->evict_again->wall.value = 450.0;
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E6, "keep=0.5: 2 runs: from");
    expect_verdict(d, DECIDE_RENT_STAGED, DECIDE_E6);
    d->evict_run->wall.value = 0.2; /* what starting takes, not what the work does */
    d->evict_again->wall.value = 0.6;
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_NO, false);
    d->evict_again->verified = "not-checked"; /* it counts for time */
    d->evict_again->wall.value = 60.0;
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_YES, true);
    d->evict_again->validity = RUN_INVALID;
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_CANNOT_TELL, false);
}

static void e6_memory(void **state) {
    struct decided *d = *state;
    d->evict_again->gpus[0].process_used.value = 49.9 * GIB;
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_NO, false);
    d->evict_again->gpus[0].process_used.value = 50.0 * GIB;
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_YES, true);
    d->evict_again->gpus[0].process_used.method = "another way"; /* not held against each other */
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_NO, false);
}

/* Two conditions that differ are what the block is about: no variation. */
static void e6_other_condition(void **state) {
    struct decided *d = *state;
    decided_run(d, d->full, 3000.0, 70.0);
    expect_rule(d, COMPARE, DECIDE_E6, DECIDE_NO, false);
}

/* ---- E2 ---- */

static void e2_representative(void **state) {
    struct decided *d = *state;
    expect_rule(d, COMPARE, DECIDE_E2, DECIDE_YES, true);
    expect_ground(d, COMPARE, DECIDE_E2, "[m]");
    d->evict_run->verified = d->evict_again->verified = "not-checked";
    expect_rule(d, COMPARE, DECIDE_E2, DECIDE_CANNOT_TELL, false);
    d->evict_run->validity = d->evict_again->validity = RUN_INVALID;
    expect_rule(d, COMPARE, DECIDE_E2, DECIDE_NO, false);
    expect_verdict(d, DECIDE_VALIDATE_FIRST, DECIDE_E8); /* its peak is not measured any more */
}

static void own_machine_is_not_rented(void **state) {
    struct decided *d = *state;
    d->here->kind = PLAN_OWN;
    expect_verdict(d, DECIDE_RENT_BLOCKS, DECIDE_E2);
    assert_says(d->decision.best->by->then, "nothing has to be rented");
}

static void all_done(void **state) {
    struct decided *d = *state;
    d->compare->runs.value = 2;
    decided_run(d, d->full, 200.0, 60.0);
    decided_run(d, d->full, 201.0, 60.0);
    const struct decision *decision = decided_make(d);
    assert_int_equal(decision->verdict, DECIDE_NONE);
    assert_true(decision->best->nothing_left);
    assert_false(decide_is_not_yet(decision));
}

/* ---- the order, and several places ---- */

static void order(void **state) {
    struct decided *d = *state;
    /* all fire at once: the most cautious stands, of equals the first */
    d->evict_again->wall.value = 900.0;
    expect_verdict(d, DECIDE_RENT_STAGED, DECIDE_E6);
    d->compare->runs.given = false;
    expect_verdict(d, DECIDE_VALIDATE_FIRST, DECIDE_E8);
    add_fact(d, "code.commit", "code", 0);
    expect_verdict(d, DECIDE_VALIDATE_FIRST, DECIDE_E1);
    d->here->gpu_memory.bytes = (uint64_t)GIB;
    expect_verdict(d, DECIDE_NOT_YET, DECIDE_E10);
    d->s.plan.code.accelerators = build_texts(d->s.arena, "rocm");
    expect_verdict(d, DECIDE_NOT_YET, DECIDE_E7);
    d->s.plan.privacy.data_class = NULL;
    expect_verdict(d, DECIDE_NOT_YET, DECIDE_E5);
    /* what would change it: the most cautious first */
    const struct decision *decision = &d->decision;
    assert_true(decision->change_count >= 6);
    assert_string_equal(decision->changes[0].rules, "E5");
    assert_string_equal(decision->changes[1].rules, "E7");
    assert_string_equal(decision->changes[decision->change_count - 1].rules, "E6");
}

/* The most cautious block stands for the environment. */
static void most_cautious_block(void **state) {
    struct decided *d = *state;
    struct plan_block *more = build_block(&d->s, "scale", 1, "tokens=4096");
    struct plan_condition *long_one = build_condition(&d->s, more, "keep=1");
    more->state = long_one->state = PLAN_CHOSEN;
    expect_verdict(d, DECIDE_VALIDATE_FIRST, DECIDE_E8);
    assert_int_equal(d->decision.environments[0].blocks[COMPARE].verdict, DECIDE_RENT_BLOCKS);
    assert_int_equal(d->decision.environments[0].blocks[2].verdict, DECIDE_VALIDATE_FIRST);
}

/* One with a trial and one with only a function test: no figure of the one under the other. */
static void environments_do_not_cross(void **state) {
    struct decided *d = *state;
    struct plan_environment *there = build_environment(&d->s, "there");
    there->at = decided_at(12);
    there->kind = PLAN_RENTED;
    struct run *test = decided_run(d, d->evict, 77.0, 33.0);
    json_put_text(test->start, "environment_id", "there");
    json_put_text(test->start, "purpose", "function-test");
    const struct decision *decision = decided_make(d);
    decided_sound(decision);
    assert_int_equal(decision->environments[0].verdict, DECIDE_RENT_BLOCKS);
    assert_int_equal(decision->environments[1].verdict, DECIDE_VALIDATE_FIRST);
    assert_ptr_equal(decision->best, &decision->environments[0]);
    for (size_t e = 0; e < 2; e++)
        for (size_t b = 0; b < decision->environments[e].block_count; b++)
            for (enum decide_id id = DECIDE_E5; id < DECIDE_ID_COUNT_; id++) {
                const struct decide_rule *rule = &decision->environments[e].blocks[b].rules[id];
                for (size_t i = 0; i < rule->ground_count; i++) {
                    const struct decide_ground *ground = &rule->grounds[i];
                    bool is_known = ground->name != NULL && quantity_is_known(&ground->figure);
                    if (e == 1 && is_known) /* nothing was measured there that counts */
                        fail_msg("%s: %s", decide_id_name(id), ground->text);
                    if (ground->source != NULL && strcmp(ground->source, test->id) == 0)
                        fail_msg("%s rests on a function test", decide_id_name(id));
                }
            }
    assert_int_equal(decision->environments[1].blocks[COMPARE].rules[DECIDE_E1].answer, DECIDE_YES);
}

/* ---- plans that say little ---- */

static void nothing_at_all(void **state) {
    struct decided *d = *state;
    size_t runs = d->s.run_count;
    d->s.plan.block_count = d->s.plan.environment_count = d->s.run_count = 0;
    memset(&d->s.plan.code, 0, sizeof d->s.plan.code);
    const struct decision *decision = decided_make(d);
    decided_sound(decision);
    assert_int_equal(decision->environment_count, 1);
    assert_null(decision->environments[0].environment);
    assert_int_equal(decision->environments[0].block_count, 1);
    assert_null(decision->environments[0].blocks[0].block);
    assert_int_equal(decision->verdict, DECIDE_VALIDATE_FIRST);
    assert_int_equal(decision->best->by->id, DECIDE_E1);
    assert_true(decide_is_not_yet(decision));
    memset(&d->s.plan.privacy, 0, sizeof d->s.plan.privacy); /* not even the data */
    decision = decided_make(d);
    assert_int_equal(decision->verdict, DECIDE_NOT_YET);
    assert_int_equal(decision->best->by->id, DECIDE_E5);
    d->s.run_count = runs;
}

static void before_booking(void **state) {
    struct decided *d = *state;
    struct plan_task *tasks = d->s.plan.tasks;
    tasks[0] = (struct plan_task){
        .at = decided_at(60), .id = "a", .what = "ask the authors", .needs_machine = PLAN_NO};
    tasks[1] =
        (struct plan_task){.id = "b", .what = "look", .needs_machine = PLAN_NO, .done = PLAN_YES};
    tasks[2] = (struct plan_task){.id = "c", .what = "there", .needs_machine = PLAN_YES};
    tasks[3] = (struct plan_task){.id = "e",
                                  .what = "look at the texts",
                                  .has_component = true,
                                  .component = COMPONENT_CHECKING, /* comes behind the runs */
                                  .needs_machine = PLAN_NO};
    d->s.plan.task_count = 4;
    const struct decision *decision = decided_make(d);
    assert_int_equal(decision->before_booking_count, 1);
    assert_string_equal(decision->before_booking[0], "ask the authors (probelauf.yaml:60)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, decided_begin, decided_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nothing_in_the_way),
        TEST(e5_data),
        TEST(e5_transfer),
        TEST(e5_facts),
        TEST(e7_stack),
        TEST(e7_mac),
        TEST(e7b_option),
        TEST(a_mac_is_never_best),
        TEST(e1_not_shown),
        TEST(e1_function_test),
        TEST(e1_open_facts),
        TEST(e1_validation),
        TEST(e8_unsettled),
        TEST(e8_allowance),
        TEST(e8_facts),
        TEST(e8_environment),
        TEST(e10_exceeds),
        TEST(e10_out_of_memory),
        TEST(e6_variation),
        TEST(e6_memory),
        TEST(e6_other_condition),
        TEST(e2_representative),
        TEST(own_machine_is_not_rented),
        TEST(all_done),
        TEST(order),
        TEST(most_cautious_block),
        TEST(environments_do_not_cross),
        TEST(nothing_at_all),
        TEST(before_booking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
