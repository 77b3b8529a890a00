/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantities: what zeroed memory is, which combinations hold, and the properties of sums over all
 * combinations of states and bounds (Req: open never becomes 0, weakest state, bounds).
 */
#include "../base/testing.h"

#include "model/quantity.h"

#include <math.h>

/* One of each kind of part a sum can meet. */
static const struct quantity kinds[] = {
    {.state = QUANTITY_OPEN, .unit = "s", .reason = QUANTITY_STALE},
    {.state = QUANTITY_OPEN, .unit = "s", .reason = QUANTITY_NOT_APPLICABLE},
    {.state = QUANTITY_MEASURED, .unit = "s", .value = 2},
    {.state = QUANTITY_MEASURED, .unit = "s", .value = 3, .bound = QUANTITY_AT_LEAST},
    {.state = QUANTITY_MEASURED, .unit = "s", .value = 5, .bound = QUANTITY_AT_MOST},
    {.state = QUANTITY_ASSUMED, .unit = "s", .value = 7},
    {.state = QUANTITY_ASSUMED, .unit = "s", .value = 11, .bound = QUANTITY_AT_MOST},
    {.state = QUANTITY_ESTIMATED, .unit = "s", .value = 13},
    {.state = QUANTITY_ESTIMATED, .unit = "s", .value = 17, .bound = QUANTITY_AT_LEAST},
    {.state = QUANTITY_ESTIMATED,
     .unit = "s",
     .value = 19,
     .has_interval = true,
     .level = 0.9,
     .p05 = 10,
     .p95 = 40,
     .basis = "own-runs"},
    {.state = QUANTITY_ASSUMED, /* what is drawn in it has an interval */
     .unit = "s",
     .value = 23,
     .has_interval = true,
     .level = 0.9,
     .p05 = 20,
     .p95 = 30,
     .basis = "borrowed-spread"},
};
#define KINDS ARRAY_LENGTH(kinds)

static bool is_same(double a, double b) {
    return a >= b && a <= b;
}

static void test_zeroed_memory_is_open(void **state) {
    (void)state;
    struct quantity zero;
    memset(&zero, 0, sizeof zero);
    assert_false(quantity_is_known(&zero));
    assert_true(quantity_is_valid(&zero));
    AUTO_JSON json_t *json = quantity_to_json(&zero);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    json_add_compact(&out, json);
    assert_string_equal(
        strbuf_str(&out),
        "{\"state\":\"open\",\"value\":null,\"unit\":\"1\",\"reason\":\"not-sampled\"}");
}

static void test_constructors(void **state) {
    (void)state;
    struct quantity q = quantity_open("s", QUANTITY_NOT_SUPPORTED, "why");
    assert_int_equal(q.state, QUANTITY_OPEN);
    assert_int_equal(q.reason, QUANTITY_NOT_SUPPORTED);
    assert_string_equal(q.detail, "why");
    q = quantity_measured("byte", 0, "read");
    assert_int_equal(q.state, QUANTITY_MEASURED);
    assert_int_equal(q.bound, QUANTITY_EXACT);
    assert_true(quantity_is_known(&q)); /* a 0 that was read is a value */
    q = quantity_bounded("byte", 5, QUANTITY_AT_LEAST, "sampled 1 Hz");
    assert_int_equal(q.bound, QUANTITY_AT_LEAST);
    assert_string_equal(q.method, "sampled 1 Hz");
    assert_true(quantity_is_valid(&q));
}

static void test_invariants(void **state) {
    (void)state;
    for (size_t i = 0; i < KINDS; i++)
        assert_true(quantity_is_valid(&kinds[i]));
    const struct quantity bad[] = {
        {.state = QUANTITY_STATE_COUNT_},
        {.state = QUANTITY_MEASURED, .bound = QUANTITY_BOUND_COUNT_},
        {.reason = QUANTITY_REASON_COUNT_},
        {.state = QUANTITY_OPEN, .bound = QUANTITY_AT_LEAST},
        {.state = QUANTITY_OPEN, .has_interval = true, .level = 0.9},
        {.state = QUANTITY_OPEN, .basis = "own-runs"},
        {.state = QUANTITY_MEASURED, .reason = QUANTITY_STALE},
        {.state = QUANTITY_MEASURED, .value = (double)NAN},
        {.state = QUANTITY_ASSUMED, .value = (double)INFINITY},
        {.state = QUANTITY_MEASURED, .basis = "own-runs"},
        {.state = QUANTITY_MEASURED, .has_interval = true, .level = 0.9},
        {.state = QUANTITY_ASSUMED, .has_interval = true, .level = 0},
        {.state = QUANTITY_ASSUMED, .has_interval = true, .level = 0.9, .value = 8, .p95 = 7},
        {.state = QUANTITY_ESTIMATED, .has_interval = true, .level = 0},
        {.state = QUANTITY_ESTIMATED, .has_interval = true, .level = 1},
        {.state = QUANTITY_ESTIMATED,
         .has_interval = true,
         .level = 0.9,
         .value = 5,
         .p05 = 6,
         .p95 = 7},
        {.state = QUANTITY_ESTIMATED,
         .has_interval = true,
         .level = 0.9,
         .value = 8,
         .p05 = 6,
         .p95 = 7},
        {.state = QUANTITY_ESTIMATED, .has_interval = true, .level = 0.9, .p95 = (double)INFINITY},
        {.state = QUANTITY_ESTIMATED, .has_interval = true, .level = (double)NAN},
        {.source_count = 1},
        {.part_count = 1},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        assert_false(quantity_is_valid(&bad[i]));
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(quantity_state_name(QUANTITY_OPEN), "open");
    assert_string_equal(quantity_state_name(QUANTITY_MEASURED), "measured");
    assert_string_equal(quantity_bound_name(QUANTITY_AT_MOST), "at-most");
    /* every reason of DESIGN section 2, there and back */
    static const char *const reasons[] = {
        "not-supported", "not-permitted", "not-visible",  "not-sampled",  "not-separated",
        "stale",         "failed",        "monitor-lost", "running",      "not-entered",
        "not-in-record", "no-offer",      "no-evidence",  "too-few-runs", "not-applicable"};
    assert_int_equal(ARRAY_LENGTH(reasons), QUANTITY_REASON_COUNT_ - 1);
    for (size_t i = 0; i < ARRAY_LENGTH(reasons); i++) {
        enum quantity_reason reason = QUANTITY_NO_REASON;
        assert_true(quantity_reason_from_name(reasons[i], &reason));
        assert_int_not_equal(reason, QUANTITY_NO_REASON);
        assert_string_equal(quantity_reason_name(reason), reasons[i]);
    }
    enum quantity_reason reason = QUANTITY_STALE;
    assert_false(quantity_reason_from_name("Stale", &reason));
    assert_false(quantity_reason_from_name("", &reason));
    assert_int_equal(reason, QUANTITY_STALE);
}

/* What must hold for the sum of any parts; computed here in another way than in the code. */
static void check_sum(const struct quantity *sum, const struct quantity_part *parts, size_t count) {
    enum quantity_state weakest = QUANTITY_STATE_COUNT_;
    double value = 0;
    bool open = false, known = false, at_least = false, at_most = false;
    for (size_t i = 0; i < count; i++) {
        const struct quantity *part = &parts[i].quantity;
        open |= part->state == QUANTITY_OPEN;
        if (part->state == QUANTITY_OPEN)
            continue;
        known = true;
        at_least |= part->bound == QUANTITY_AT_LEAST;
        at_most |= part->bound == QUANTITY_AT_MOST;
        value += part->value;
        weakest = part->state < weakest ? part->state : weakest;
    }
    assert_true(quantity_is_valid(sum));
    assert_int_equal(sum->part_count, count);
    assert_false(sum->has_interval);
    if (!known) {
        assert_int_equal(sum->state, QUANTITY_OPEN);
        if (count > 0)
            assert_int_equal(sum->reason, parts[0].quantity.reason);
    } else if ((open || at_least) && at_most) {
        assert_int_equal(sum->state, QUANTITY_OPEN);
        assert_int_equal(sum->reason, QUANTITY_NOT_SEPARATED);
    } else {
        assert_int_equal(sum->state, weakest);
        assert_true(is_same(sum->value, value));
        assert_int_equal(sum->bound, open || at_least ? QUANTITY_AT_LEAST
                                     : at_most        ? QUANTITY_AT_MOST
                                                      : QUANTITY_EXACT);
    }
}

static void test_sums_of_all_pairs_and_triples(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    for (size_t a = 0; a < KINDS; a++)
        for (size_t b = 0; b < KINDS; b++)
            for (size_t c = 0; c < KINDS; c++) {
                const struct quantity_part parts[] = {
                    {"a", kinds[a]}, {"b", kinds[b]}, {"c", kinds[c]}};
                for (size_t count = 0; count <= 3; count++) {
                    struct quantity sum = quantity_sum(arena, "s", parts, count);
                    check_sum(&sum, parts, count);
                }
            }
}

static void test_sums_do_not_depend_on_order_and_nest(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    uint64_t random = 5;
    for (int round = 0; round < 3000; round++) {
        struct quantity_part parts[8] = {0};
        size_t count = 1 + (size_t)(next_random(&random) % 8);
        for (size_t i = 0; i < count; i++)
            parts[i] = (struct quantity_part){"p", kinds[next_random(&random) % KINDS]};
        struct quantity sum = quantity_sum(arena, "s", parts, count);
        check_sum(&sum, parts, count);
        struct quantity_part turned[8];
        for (size_t i = 0; i < count; i++)
            turned[i] = parts[count - 1 - i];
        struct quantity back = quantity_sum(arena, "s", turned, count);
        assert_int_equal(back.state, sum.state);
        assert_int_equal(back.bound, sum.bound);
        assert_true(!quantity_is_known(&sum) || is_same(back.value, sum.value));
        /* a sum of sums says no more than the sum of all parts */
        size_t half = count / 2;
        const struct quantity_part halves[] = {
            {"first", quantity_sum(arena, "s", parts, half)},
            {"second", quantity_sum(arena, "s", parts + half, count - half)}};
        struct quantity nested =
            quantity_sum(arena, "s", half == 0 ? halves + 1 : halves, half == 0 ? 1 : 2);
        if (quantity_is_known(&nested) && quantity_is_known(&sum)) {
            assert_true(nested.value <= sum.value);
            if (sum.bound != QUANTITY_EXACT)
                assert_int_equal(nested.bound, sum.bound);
        }
        if (!quantity_is_known(&sum) && quantity_is_known(&nested))
            assert_int_equal(nested.bound, QUANTITY_AT_LEAST); /* the hopeless half is open in it */
    }
}

static void test_sum_says_that_medians_do_not_add_up(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const struct quantity_part parts[] = {{"a", kinds[9]}, {"b", kinds[2]}};
    struct quantity sum = quantity_sum(arena, "s", parts, 2);
    assert_non_null(strstr(sum.detail, "medians"));
    sum = quantity_sum(arena, "s", parts + 1, 1);
    assert_null(sum.detail);
}

static void test_sum_unites_sources(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    static const char *const one[] = {"r1", "r2"}, *const two[] = {"r2", "r3"};
    struct quantity_part parts[] = {{"a", kinds[2]}, {"b", kinds[2]}, {"c", kinds[2]}};
    parts[0].quantity.sources = one;
    parts[0].quantity.source_count = 2;
    parts[2].quantity.sources = two;
    parts[2].quantity.source_count = 2;
    struct quantity sum = quantity_sum(arena, "s", parts, 3);
    assert_int_equal(sum.source_count, 3);
    assert_string_equal(sum.sources[0], "r1");
    assert_string_equal(sum.sources[1], "r2");
    assert_string_equal(sum.sources[2], "r3");
    /* the parts are the sum's own: the caller's may go */
    memset(parts, 0, sizeof parts);
    assert_string_equal(sum.parts[0].name, "a");
}

static void test_sum_beyond_all_numbers_is_open(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const struct quantity_part parts[] = {{"a", quantity_measured("s", 1.7e308, NULL)},
                                          {"b", quantity_measured("s", 1.7e308, NULL)}};
    struct quantity sum = quantity_sum(arena, "s", parts, 2);
    assert_false(quantity_is_known(&sum));
    assert_int_equal(sum.reason, QUANTITY_FAILED);
    assert_true(quantity_is_valid(&sum));
}

static void sum_of_two_units(const void *argument) {
    (void)argument;
    AUTO_ARENA struct arena *arena = arena_new();
    const struct quantity_part parts[] = {{"a", quantity_measured("s", 1, NULL)},
                                          {"b", quantity_measured("byte", 1, NULL)}};
    quantity_sum(arena, "s", parts, 2);
}

static void json_of_an_invalid_one(const void *argument) {
    (void)argument;
    const struct quantity bad = {.state = QUANTITY_MEASURED, .value = (double)NAN};
    json_decref(quantity_to_json(&bad));
}

static void measured_nothing(const void *argument) {
    (void)argument;
    quantity_measured("s", (double)INFINITY, NULL);
}

static void test_programming_errors(void **state) {
    (void)state;
    assert_aborts(sum_of_two_units, NULL);
    assert_aborts(json_of_an_invalid_one, NULL);
    assert_aborts(measured_nothing, NULL);
}

static void assert_json(const struct quantity *q, const char *expected) {
    AUTO_JSON json_t *json = quantity_to_json(q);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    json_add_compact(&out, json);
    assert_string_equal(strbuf_str(&out), expected);
}

static void test_json(void **state) {
    (void)state;
    struct quantity q = quantity_bounded("byte", 43889197056, QUANTITY_AT_LEAST, "sampled 10 Hz");
    static const char *const sources[] = {"0192", "plan:3\xff"};
    q.n = 1;
    q.sources = sources;
    q.source_count = 2;
    q.at_utc_ns = INT64_C(1796042096789000000);
    q.detail = "never in machine output";
    assert_json(
        &q,
        "{\"state\":\"measured\",\"value\":43889197056,\"unit\":\"byte\",\"bound\":\"at-least\","
        "\"method\":\"sampled 10 Hz\",\"n\":1,\"at_utc\":\"2026-11-30T12:34:56.789Z\","
        "\"sources\":[\"0192\",\"plan:3\\\\xff\"]}");
    q = (struct quantity){.state = QUANTITY_ESTIMATED,
                          .unit = "s",
                          .value = 18120,
                          .has_interval = true,
                          .level = 0.9,
                          .p05 = 16900,
                          .p95 = 20800,
                          .basis = "own-runs",
                          .n = 3};
    assert_json(
        &q,
        "{\"state\":\"estimated\",\"value\":18120.0,\"unit\":\"s\",\"level\":0.9,\"p05\":16900.0,"
        "\"p50\":18120.0,\"p95\":20800.0,\"basis\":\"own-runs\",\"n\":3}");
    q.state = QUANTITY_ASSUMED;
    assert_json(
        &q, "{\"state\":\"assumed\",\"value\":18120.0,\"unit\":\"s\",\"level\":0.9,\"p05\":16900.0,"
            "\"p50\":18120.0,\"p95\":20800.0,\"basis\":\"own-runs\",\"n\":3}");
    q = quantity_open("s", QUANTITY_NOT_SEPARATED, "a detail");
    q.value = 17; /* leftovers in an open quantity stay there */
    q.n = 3;
    assert_json(&q,
                "{\"state\":\"open\",\"value\":null,\"unit\":\"s\",\"reason\":\"not-separated\"}");
    /* whole bytes and counts are integers, what is not whole or beyond 2^53 is not made one */
    q = quantity_measured("byte", 1.5, NULL);
    assert_json(&q, "{\"state\":\"measured\",\"value\":1.5,\"unit\":\"byte\"}");
    q = quantity_measured("count", 9007199254740992.0, NULL);
    assert_json(&q, "{\"state\":\"measured\",\"value\":9007199254740992,\"unit\":\"count\"}");
    q = quantity_measured("count", 1e17, NULL);
    assert_json(&q, "{\"state\":\"measured\",\"value\":1e17,\"unit\":\"count\"}");
    q = quantity_measured("s", 3, "");
    assert_json(&q, "{\"state\":\"measured\",\"value\":3.0,\"unit\":\"s\"}");
}

static void test_json_of_a_sum(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const struct quantity_part parts[] = {{"load", kinds[2]}, {"compute", kinds[0]}};
    struct quantity sum = quantity_sum(arena, "s", parts, 2);
    assert_json(
        &sum,
        "{\"state\":\"measured\",\"value\":2.0,\"unit\":\"s\",\"bound\":\"at-least\","
        "\"method\":\"sum of parts\",\"parts\":["
        "{\"name\":\"load\",\"quantity\":{\"state\":\"measured\",\"value\":2.0,\"unit\":\"s\"}},"
        "{\"name\":\"compute\",\"quantity\":{\"state\":\"open\",\"value\":null,\"unit\":\"s\","
        "\"reason\":\"stale\"}}],\"open_parts\":[\"compute\"]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed_memory_is_open),
        cmocka_unit_test(test_constructors),
        cmocka_unit_test(test_invariants),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_sums_of_all_pairs_and_triples),
        cmocka_unit_test(test_sums_do_not_depend_on_order_and_nest),
        cmocka_unit_test(test_sum_says_that_medians_do_not_add_up),
        cmocka_unit_test(test_sum_unites_sources),
        cmocka_unit_test(test_sum_beyond_all_numbers_is_open),
        cmocka_unit_test(test_programming_errors),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_of_a_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
