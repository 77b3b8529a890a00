/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan needs beside time, and how good the base is: memory, volume, money, provisional,
 * weakness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

/* ---- memory and volume ---- */

static json_t *files(const char *text) {
    return build_object(text);
}

static void test_memory(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 2, 9);
    struct run *small = built_counts(b, &block->conditions[0], 100.0);
    struct run *large = built_counts(b, &block->conditions[0], 100.0);
    const struct estimate *e = built_estimate(b);
    assert_int_equal(e->blocks[0].host_memory.need.state, QUANTITY_OPEN);
    assert_says(e->blocks[0].host_memory.verdict, "cannot be told");
    small->largest_process_rss = quantity_measured(UNIT_BYTE, 1e9, "wait4 ru_maxrss");
    large->largest_process_rss =
        quantity_measured(UNIT_BYTE, 3e9, "wait4 ru_maxrss"); /* exact for the run alone */
    e = built_estimate(b);
    const struct estimate_memory *host = &e->blocks[0].host_memory;
    assert_true(host->need.value == 3e9 && host->need.n == 2);
    assert_int_equal(host->need.bound, QUANTITY_AT_LEAST);
    assert_string_equal(host->need.sources[0], large->id);
    assert_says(host->quantity_name, "largest process");
    assert_says(host->verdict, "capacity is not known");
    build_put(small->environment, "totals",
              "{\"memory\":{\"state\":\"measured\",\"value\":8000000000,\"unit\":\"byte\","
              "\"method\":\"/proc/meminfo MemTotal\"}}");
    build_put(large->environment, "limits",
              "{\"memory\":{\"state\":\"measured\",\"value\":4000000000,\"unit\":\"byte\","
              "\"method\":\"memory.max\"}}");
    e = built_estimate(b);
    host = &e->blocks[0].host_memory;
    assert_true(host->capacity.value == 4e9); /* the smallest that a run was given */
    assert_string_equal(host->capacity.sources[0], large->id);
    assert_says(host->verdict, "1 condition was not measured");
    b->environment.host_memory =
        (struct plan_bytes){.given = true, .bytes = 2000000000, .at = built_at(b)};
    e = built_estimate(b);
    host = &e->blocks[0].host_memory;
    assert_true(host->capacity.state == QUANTITY_ASSUMED && host->capacity.value == 2e9);
    assert_says(host->verdict, "exceeds");
    assert_open(&e->blocks[0].gpu_memory.need, QUANTITY_NOT_APPLICABLE, "no GPU");
}

static void test_gpu_memory(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 9);
    struct run *run = built_counts(b, &block->conditions[0], 100.0);
    struct run_gpu gpu = {0};
    b->environment.gpus.value = 1;
    const struct estimate *e = built_estimate(b);
    assert_open(&e->blocks[0].gpu_memory.need, QUANTITY_NOT_SUPPORTED, "no run told");
    run->gpus = &gpu;
    run->gpu_count = 1;
    gpu.process_used = quantity_open(UNIT_BYTE, QUANTITY_NOT_VISIBLE, "hidden by the container");
    e = built_estimate(b);
    assert_open(&e->blocks[0].gpu_memory.need, QUANTITY_NOT_VISIBLE, "container");
    gpu.device_used = quantity_measured(UNIT_BYTE, 5e9, "nvml");
    gpu.total = quantity_measured(UNIT_BYTE, 8e10, "nvml");
    e = built_estimate(b);
    assert_true(e->blocks[0].gpu_memory.need.value == 5e9);
    assert_says(e->blocks[0].gpu_memory.quantity_name, "all processes");
    assert_says(e->blocks[0].gpu_memory.verdict, "fits");
    gpu.process_used = quantity_measured(UNIT_BYTE, 4e9, "nvml"); /* nearer to the need */
    e = built_estimate(b);
    assert_true(e->blocks[0].gpu_memory.need.value == 4e9);
}

/* What a program takes whatever it needs is no need. */
static void test_gpu_allowance(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 2, 9);
    struct run *served = built_counts(b, &block->conditions[0], 100.0);
    struct run_gpu gpu = {.preallocated = RUN_YES}, other = {.preallocated = RUN_NO};
    gpu.device_used = quantity_measured(UNIT_BYTE, 7.2e10, "nvml");
    gpu.process_used = quantity_measured(UNIT_BYTE, 7e10, "nvml");
    gpu.total = quantity_measured(UNIT_BYTE, 8e10, "nvml");
    b->environment.gpus.value = 1;
    served->gpus = &gpu;
    served->gpu_count = 1;
    const struct estimate *e = built_estimate(b);
    assert_open(&e->blocks[0].gpu_memory.need, QUANTITY_NOT_SEPARATED, "an allowance");
    assert_says(e->blocks[0].gpu_memory.verdict, "an allowance is no need");
    struct run *trained = built_counts(b, &block->conditions[1], 100.0);
    other.process_used = quantity_measured(UNIT_BYTE, 4e9, "nvml");
    trained->gpus = &other;
    trained->gpu_count = 1;
    e = built_estimate(b);
    assert_true(e->blocks[0].gpu_memory.need.value == 4e9);
    assert_int_equal(e->blocks[0].gpu_memory.need.bound, QUANTITY_AT_LEAST);
}

static void test_volume(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 4);
    struct run *run = built_counts(b, &block->conditions[0], 100.0);
    const struct estimate *e = built_estimate(b);
    assert_true(e->blocks[0].bytes_in.value == 30.0); /* 10 bytes, three runs left */
    assert_int_equal(e->blocks[0].bytes_in.bound, QUANTITY_EXACT);
    assert_open(&e->blocks[0].bytes_out, QUANTITY_NOT_IN_RECORD, "outputs of the block");
    json_put(run->start, "inputs",
             files("[{\"path\":\"a\",\"bytes\":7},{\"path\":\"d\",\"kind\":\"folder\"}]"));
    json_put(run->end, "outputs", files("[{\"path\":\"o\",\"bytes\":2}]"));
    e = built_estimate(b);
    assert_true(e->blocks[0].bytes_in.value == 21.0);
    assert_int_equal(e->blocks[0].bytes_in.bound, QUANTITY_AT_LEAST);
    assert_true(e->blocks[0].bytes_out.value == 6.0);
}

/* ---- money, provisional, weakness ---- */

static void test_offers(void **state) {
    struct built *b = *state;
    struct plan_offer offers[] = {
        {.at = {70, 3},
         .id = "cheap",
         .environment = "here",
         .device = "H200",
         .valid_until = {.given = true,
                         .utc_ns = INT64_C(1795000000000000000),
                         .text = "2026-11-18"}},
        {.at = {80, 3}, .id = "far", .environment = "away"},
    };
    built_block(b, "one", 1, 4);
    struct cost cost;
    cost_make(built_estimate(b), NULL, b->arena, &cost);
    assert_says(cost.amount.detail, "no offer was entered");
    assert_line(cost.missing, cost.missing_count, "a rate and its currency");
    b->plan.offers = offers;
    b->plan.offer_count = 2;
    b->environment.gpu = "H100";
    b->environment.gpus.value = 1;
    cost_make(built_estimate(b), NULL, b->arena, &cost);
    assert_line(cost.missing, cost.missing_count,
                "offer 'cheap' (probelauf.yaml:70): missing: its source");
    assert_line(cost.missing, cost.missing_count, "expired");
    assert_line(cost.missing, cost.missing_count, "device 'H200' is not the 'H100'");
    assert_false(has_line(cost.missing, cost.missing_count, "'far'"));
    /* valid today, but not when the runs are planned */
    struct plan_planned_date planned = {
        .block = "one",
        .end = {.given = true, .utc_ns = INT64_C(1799000000000000000), .text = "2027-01-03"}};
    offers[0].valid_until.utc_ns = INT64_C(1797000000000000000);
    b->plan.calendar = &planned;
    b->plan.calendar_count = 1;
    cost_make(built_estimate(b), NULL, b->arena, &cost);
    assert_line(cost.missing, cost.missing_count, "but runs are planned on 2027-01-03");
    assert_false(has_line(cost.missing, cost.missing_count, "expired"));
}

static void test_provisional(void **state) {
    struct built *b = *state;
    struct plan_fact fact = {.id = "weights.access", .about = "weights"};
    const struct plan_fact code = {.id = "code.exists", .about = "code"};
    const struct plan_fact *open[] = {&fact, &code};
    struct study_block *block = built_block(b, "one", 1, 4);
    assert_false(built_estimate(b)->provisional);
    built_plan_block(b, block)->kind = PLAN_VALIDATE;
    const struct estimate *e = built_estimate(b);
    assert_true(e->provisional);
    assert_int_equal(e->provisional_count, 1);
    assert_string_equal(e->provisional_reasons[0], "no run counts for block 'one' yet");
    built_counts(b, &block->conditions[0], 5.0);
    assert_false(built_estimate(b)->provisional);
    b->study.open_facts = open;
    b->study.open_fact_count = 1;
    e = built_estimate(b);
    assert_int_equal(e->provisional_count, 1);
    assert_string_equal(e->provisional_reasons[0], "fact 'weights.access' is open");
    b->study.open_fact_count = 2;
    e = built_estimate(b);
    assert_int_equal(e->provisional_count, 1);
    assert_string_equal(e->provisional_reasons[0],
                        "facts 'weights.access', 'code.exists' are open");
    b->study.open_fact_count = 1;
    fact.about = "resource";
    assert_false(built_estimate(b)->provisional);
}

static void test_weakness(void **state) {
    struct built *b = *state;
    struct study_block *block = built_block(b, "one", 1, 14);
    const double walls[] = {100.0, 101.0, 99.0, 100.5, 99.5, 300.0};
    for (size_t i = 0; i < 6; i++) {
        struct run *run = built_counts(b, &block->conditions[0], walls[i]);
        build_phases(run, 1.0, 5.0);
        run->work_items = quantity_measured(UNIT_COUNT, 8.0, "mark");
    }
    const struct estimate *e = built_estimate(b);
    assert_string_equal(e->blocks[0].weakness,
                        "1 run stands apart from the others of its condition");
    b->runs[0]->work_items.value = 9.0;
    e = built_estimate(b);
    assert_says(e->blocks[0].weakness, "processed different amounts");
    block->conditions[0].run_count = 5;
    b->runs[0]->work_items.value = 8.0;
    assert_null(built_estimate(b)->blocks[0].weakness);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_memory), TEST(test_gpu_memory),  TEST(test_volume),   TEST(test_gpu_allowance),
        TEST(test_offers), TEST(test_provisional), TEST(test_weakness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
