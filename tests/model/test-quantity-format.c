/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities as people read them: tables of values with their boundaries, bounds, marks, sums. */
#include "../base/testing.h"

#include "base/msg.h"
#include "base/str.h"
#include "model/quantity.h"

#include <math.h>

struct value_case {
    double value;
    const char *text;
};

static void check_values(const char *unit, const struct value_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        quantity_format_value(cases[i].value, unit, &out);
        assert_string_equal(strbuf_str(&out), cases[i].text);
    }
}

static void test_seconds(void **state) {
    (void)state;
    static const struct value_case cases[] = {
        {0, "0 s"},
        {1e-9, "1 ns"},
        {8.5e-7, "850 ns"},
        {9.9996e-7, "0.001 ms"},
        {0.00041, "0.41 ms"},
        {0.041, "41 ms"},
        {0.0412, "41.2 ms"},
        {0.9994, "999 ms"},
        {0.9996, "1 s"},
        {1, "1 s"},
        {12.34, "12.3 s"},
        {59.94, "59.9 s"},
        {59.96, "1 min 00 s"},
        {60, "1 min 00 s"},
        {125, "2 min 05 s"},
        {3599.4, "59 min 59 s"},
        {3599.6, "1 h 00 min"},
        {3720, "1 h 02 min"},
        {18120, "5 h 02 min"},
        {86369, "23 h 59 min"},
        {86370, "1 d 00 h"},
        {86400, "1 d 00 h"},
        {273600, "3 d 04 h"},
        {3.2e7, "370 d 09 h"},
        {1e12, "11574074 d"},
        {1e300, "1.16e+295 d"},
        {-125, "-2 min 05 s"},
        {-0.0, "0 s"},
    };
    check_values("s", cases, ARRAY_LENGTH(cases));
}

static void test_bytes(void **state) {
    (void)state;
    static const struct value_case cases[] = {
        {0, "0 B"},
        {1, "1 B"},
        {999, "999 B"},
        {1000, "1000 B"},
        {1023, "1023 B"},
        {1024, "1 KiB"},
        {1536, "1.5 KiB"},
        {1047552, "1023 KiB"},
        {1048064, "1 MiB"}, /* 1023.5 KiB */
        {1048576, "1 MiB"},
        {1460288880, "1.36 GiB"},
        {43889197056, "40.9 GiB"},
        {1.5e12, "1.36 TiB"},
        {2e15, "1.78 PiB"},
        {1e21, "888178 PiB"},
        {512.5, "512 B"},
        {0.25, "0.25 B"},
        {-2048, "-2 KiB"},
    };
    check_values("byte", cases, ARRAY_LENGTH(cases));
}

static void test_other_units(void **state) {
    (void)state;
    static const struct value_case joules[] = {
        {0, "0 J"}, {999, "999 J"}, {999.6, "1 kJ"}, {1234567, "1.23 MJ"}, {5e12, "5000 GJ"}};
    check_values("J", joules, ARRAY_LENGTH(joules));
    static const struct value_case cores[] = {{0, "0 core s"},          {0.000558, "0.558 core ms"},
                                              {0.1, "100 core ms"},     {0.99996, "1 core s"},
                                              {12.34, "12.3 core s"},   {119.4, "119 core s"},
                                              {119.6, "1.99 core min"}, {7000, "117 core min"},
                                              {7200, "2 core h"},       {3.6e6, "1000 core h"}};
    check_values("core.s", cores, ARRAY_LENGTH(cores));
    static const struct value_case plain[] = {
        {0, "0"},          {0.83, "0.83"},   {0.123456, "0.1235"}, {1234567, "1234567"},
        {999.94, "999.9"}, {999.96, "1000"}, {1e-5, "1e-05"},      {-3, "-3"},
        {1e15, "1e+15"}};
    check_values("count", plain, ARRAY_LENGTH(plain));
    check_values("1", plain, ARRAY_LENGTH(plain));
    check_values(NULL, plain, ARRAY_LENGTH(plain));
    check_values("", plain, ARRAY_LENGTH(plain));
    static const struct value_case rates[] = {{123456.7, "123457 token/s"}, {1.5, "1.5 token/s"}};
    check_values("token/s", rates, ARRAY_LENGTH(rates));
    static const struct value_case watts[] = {{312.34, "312.3 W"}};
    check_values("W", watts, ARRAY_LENGTH(watts));
    static const struct value_case hostile[] = {{2, "2 x\\x1b[31m\\n"}};
    check_values("x\x1b[31m\n", hostile, ARRAY_LENGTH(hostile));
}

/* Longer times never read as shorter ones: each unit is left at the right place. */
static void test_seconds_never_show_a_full_unit(void **state) {
    (void)state;
    static const char *const full[] = {"1000 ms", "60 s",    "60 min", "24 h",  "1000 ns",
                                       " 60 s",   " 60 min", " 24 h",  "1e+03", "100 ms s"};
    for (double value = 1e-9; value < 4e5; value *= 1.00037) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        quantity_format_value(value, "s", &out);
        for (size_t i = 0; i < ARRAY_LENGTH(full); i++) {
            assert_string_not_equal(strbuf_str(&out), full[i]);
            assert_true(full[i][0] != ' ' || !str_ends_with(strbuf_str(&out), full[i]));
        }
        assert_null(strchr(strbuf_str(&out), 'e'));
    }
}

static void format_infinity(const void *argument) {
    (void)argument;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    quantity_format_value((double)INFINITY, "s", &out);
}

static void test_what_is_no_number_is_a_programming_error(void **state) {
    (void)state;
    assert_aborts(format_infinity, NULL);
}

static void check(const struct quantity *q, bool ascii, bool mark, const char *expected) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    quantity_format(q, (struct quantity_style){.ascii = ascii, .mark = mark}, &out);
    assert_string_equal(strbuf_str(&out), expected);
    for (size_t i = 0; ascii && i < out.length; i++)
        assert_true((unsigned char)out.data[i] < 0x80);
}

/* Names that documents keep are words for people; ids are not touched. */
static void test_words_of_the_language(void **state) {
    (void)state;
    struct quantity_part parts[] = {
        {"compare", quantity_measured(UNIT_SECOND, 10, "sampled")},
        {"retries/keep=1", quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, NULL)},
        {"mine", quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, NULL)},
    };
    AUTO_ARENA struct arena *arena = arena_new();
    struct quantity sum = quantity_sum(arena, UNIT_SECOND, parts, ARRAY_LENGTH(parts));
    struct quantity hours = quantity_measured("GPU-hours", 1.5, "sampled");
    struct quantity own = quantity_measured("tokens", 2, "sampled");
    AUTO_STRBUF struct strbuf basis = STRBUF_INIT;
    msg_set_language("de");
    check(&sum, false, false, "mindestens 10 s + offen: Wiederholungen/keep=1, mine");
    check(&hours, false, true, "[m] 1,5 GPU-Stunden");
    check(&own, false, true, "[m] 2 tokens");
    quantity_add_basis(&basis, "own-runs");
    msg_set_language("en");
    assert_string_equal(strbuf_str(&basis), "eigene Läufe");
    check(&hours, false, true, "[m] 1.5 GPU-hours");
}

static void test_bounds_and_marks(void **state) {
    (void)state;
    struct quantity q = quantity_measured("s", 12.34, NULL);
    check(&q, false, false, "12.3 s");
    check(&q, false, true, "[m] 12.3 s");
    q.bound = QUANTITY_AT_LEAST;
    check(&q, false, false, "≥ 12.3 s");
    check(&q, true, true, "[m] at least 12.3 s");
    q.bound = QUANTITY_AT_MOST;
    q.state = QUANTITY_ASSUMED;
    check(&q, false, true, "[a] ≤ 12.3 s");
    check(&q, true, false, "at most 12.3 s");
    q = quantity_open("s", QUANTITY_NOT_SEPARATED, NULL);
    check(&q, false, false, "open (not separated)");
    check(&q, true, true, "[?] open (not separated)");
    memset(&q, 0, sizeof q);
    check(&q, false, false, "open (not sampled)");
}

static void test_every_reason_has_words(void **state) {
    (void)state;
    for (enum quantity_reason i = QUANTITY_NO_REASON; i < QUANTITY_REASON_COUNT_; i++) {
        struct quantity q = quantity_open("s", i, NULL);
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        quantity_format(&q, (struct quantity_style){0}, &out);
        assert_true(str_starts_with(strbuf_str(&out), "open ("));
        assert_true(out.length > strlen("open (x)"));
        for (size_t k = 0; k < out.length; k++) /* an open quantity shows no digit */
            assert_false(out.data[k] >= '0' && out.data[k] <= '9');
    }
}

static void test_intervals(void **state) {
    (void)state;
    struct quantity q = {.state = QUANTITY_ESTIMATED,
                         .unit = "s",
                         .value = 18120,
                         .has_interval = true,
                         .level = 0.9,
                         .p05 = 16860,
                         .p95 = 20820};
    check(&q, false, false, "5 h 02 min (4 h 41 min to 5 h 47 min, 90 %)");
    q.bound = QUANTITY_AT_LEAST;
    check(&q, true, true, "[e] at least 5 h 02 min (4 h 41 min to 5 h 47 min, 90 %)");
    q.state = QUANTITY_ASSUMED;
    check(&q, false, true, "[a] ≥ 5 h 02 min (4 h 41 min to 5 h 47 min, 90 %)");
    q.level = 0.995;
    q.bound = QUANTITY_EXACT;
    check(&q, false, false, "5 h 02 min (4 h 41 min to 5 h 47 min, 99.5 %)");
}

static void test_sums_name_their_open_parts(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const struct quantity_part parts[] = {
        {"load", quantity_measured("s", 10, NULL)},
        {"compute", quantity_open("s", QUANTITY_STALE, NULL)},
        {"data\n", quantity_open("s", QUANTITY_FAILED, NULL)},
        {"write", quantity_bounded("s", 5, QUANTITY_AT_MOST, NULL)}};
    struct quantity sum = quantity_sum(arena, "s", parts, 3);
    check(&sum, false, false, "at least 10 s + open: computing, data\\n");
    check(&sum, true, true, "[m] at least 10 s + open: computing, data\\n");
    sum = quantity_sum(arena, "s", parts, 4);
    check(&sum, false, true, "[?] open (not separated)");
    sum = quantity_sum(arena, "s", parts + 1, 2);
    check(&sum, false, false, "open (out of date)");
    sum = quantity_sum(arena, "s", parts, 1);
    check(&sum, false, false, "10 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_other_units),
        cmocka_unit_test(test_seconds_never_show_a_full_unit),
        cmocka_unit_test(test_what_is_no_number_is_a_programming_error),
        cmocka_unit_test(test_bounds_and_marks),
        cmocka_unit_test(test_words_of_the_language),
        cmocka_unit_test(test_every_reason_has_words),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_sums_name_their_open_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
