/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact money: no number wraps, no digit is lost, no two currencies meet. */
#include "../base/testing.h"

#include "model/money.h"

static void integers_do_not_wrap(void **state) {
    (void)state;
    int64_t value = 0;
    assert_true(money_add(1, 2, &value) && value == 3);
    assert_false(money_add(INT64_MAX, 1, &value));
    assert_true(money_scale_up(10, 1, 3, &value) && value == 4); /* up, always */
    assert_true(money_scale_up(9, 1, 3, &value) && value == 3);
    assert_true(money_scale_up(0, UINT64_MAX, 1, &value) && value == 0);
    assert_true(money_scale_up(INT64_MAX, UINT64_MAX, UINT64_MAX, &value) && value == INT64_MAX);
    assert_false(money_scale_up(INT64_MAX, 2, 1, &value));
    assert_false(money_scale_up(INT64_MAX, UINT64_MAX, 1, &value));
    assert_false(money_scale_up(-1, 1, 1, &value));
    assert_false(money_scale_up(1, 1, 0, &value));
    assert_true(money_scale_twice(3, 5, 7, 2, 4, &value) && value == 14); /* 13.125 */
    assert_true(money_scale_twice(1, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, &value) &&
                value == 1);
    assert_false(money_scale_twice(2, UINT64_MAX, UINT64_MAX, 1, 1, &value));
    assert_false(money_scale_twice(INT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 1, &value));
    assert_false(money_scale_twice(1, 1, 1, 0, 1, &value));
}

static void check_text(int64_t micros, const char *exact, const char *text) {
    AUTO_STRBUF struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
    money_add_exact(&a, micros);
    money_add_text(&b, micros, "EUR");
    assert_string_equal(strbuf_str(&a), exact);
    assert_string_equal(strbuf_str(&b), text);
}

static void no_digit_is_lost(void **state) {
    (void)state;
    check_text(0, "0.000000", "0.00 EUR");
    check_text(12345600, "12.345600", "12.3456 EUR");
    check_text(12350000, "12.350000", "12.35 EUR");
    check_text(12000000, "12.000000", "12.00 EUR");
    check_text(1, "0.000001", "0.000001 EUR");
    check_text(-1500000, "-1.500000", "-1.50 EUR");
    check_text(INT64_MAX, "9223372036854.775807", "9223372036854.775807 EUR");
    check_text(INT64_MIN, "-9223372036854.775808", "-9223372036854.775808 EUR");
}

static struct amount euros(int64_t micros) {
    return (struct amount){.state = QUANTITY_ESTIMATED, .micros = micros, .currency = "EUR"};
}

static void sums(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct amount a = euros(3), b = euros(4), dollars = euros(5), units = euros(6);
    struct amount open = amount_open(QUANTITY_NO_EVIDENCE, "no run");
    static const char *const names[] = {"a", "b"};
    dollars.currency = "USD";
    units.is_service_unit = true;
    a.has_interval = true;
    a.level = 0.9;
    a.p05 = 2;
    a.p95 = 9;
    struct amount sum = amount_sum((const struct amount *[]){&a, &b}, names, 2, arena);
    assert_true(sum.micros == 7 && sum.bound == QUANTITY_EXACT && !sum.has_interval);
    sum = amount_sum((const struct amount *[]){&a}, names, 1, arena);
    assert_true(sum.micros == 3 && sum.has_interval && sum.p95 == 9);
    sum = amount_sum((const struct amount *[]){&a, &dollars}, names, 2, arena);
    assert_int_equal(sum.reason, QUANTITY_NOT_SEPARATED);
    sum = amount_sum((const struct amount *[]){&a, &units}, names, 2, arena);
    assert_int_equal(sum.reason, QUANTITY_NOT_SEPARATED);
    sum = amount_sum((const struct amount *[]){&open, &b}, names, 2, arena);
    assert_true(sum.micros == 4 && sum.bound == QUANTITY_AT_LEAST);
    assert_int_equal(sum.lack_count, 1);
    assert_string_equal(sum.lacks[0], "a: no run");
    sum = amount_sum((const struct amount *[]){&open, &open}, names, 2, arena);
    assert_int_equal(sum.state, QUANTITY_OPEN);
    assert_int_equal(sum.reason, QUANTITY_NO_EVIDENCE);
    b.bound = QUANTITY_AT_MOST;
    sum = amount_sum((const struct amount *[]){&open, &b}, names, 2, arena);
    assert_int_equal(sum.reason, QUANTITY_NOT_SEPARATED);
    b = euros(INT64_MAX);
    sum = amount_sum((const struct amount *[]){&a, &b}, names, 2, arena);
    assert_int_equal(sum.state, QUANTITY_OPEN);
    a.state = QUANTITY_ASSUMED;
    b = euros(1);
    sum = amount_sum((const struct amount *[]){&b, &a}, names, 2, arena);
    assert_int_equal(sum.state, QUANTITY_ASSUMED); /* the weakest */
}

static void json_and_back(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    static const char *const lacks[] = {"taxes"};
    struct amount a = euros(12345678);
    a.bound = QUANTITY_AT_LEAST;
    a.lacks = lacks;
    a.lack_count = 1;
    a.has_interval = true;
    a.level = 0.9;
    a.p05 = 12000001;
    a.p95 = 13000000;
    AUTO_JSON json_t *json = amount_to_json(&a);
    assert_string_equal(json_get_text(json, "text", ""), "12.345678");
    struct amount back = amount_from_json(json, arena);
    assert_true(back.micros == a.micros && back.p95 == a.p95 && back.bound == a.bound);
    assert_string_equal(back.lacks[0], "taxes");
    AUTO_STRBUF struct strbuf text = STRBUF_INIT, ascii = STRBUF_INIT, none = STRBUF_INIT;
    amount_format(&back, (struct quantity_style){.mark = true}, &text);
    assert_string_equal(strbuf_str(&text), "[e] ≥ 12.35 EUR (12.01 to 13.00, 90 %)");
    strbuf_clear(&text);
    amount_format_exact(&back, (struct quantity_style){.mark = true}, &text);
    assert_string_equal(strbuf_str(&text), "[e] ≥ 12.345678 EUR (12.000001 to 13.00, 90 %)");
    amount_format(&back, (struct quantity_style){.ascii = true}, &ascii);
    assert_string_equal(strbuf_str(&ascii), "at least 12.35 EUR (12.01 to 13.00, 90 %)");
    struct amount open = amount_open(QUANTITY_NO_OFFER, NULL);
    amount_format(&open, (struct quantity_style){.mark = true}, &none);
    assert_string_equal(strbuf_str(&none), "[?] open (no offer)");
    struct amount nonsense = amount_from_json(NULL, arena);
    assert_false(amount_is_known(&nonsense));
}

/* Never cheaper than it is, and nothing only where it is nothing. */
static void rounded_up(void **state) {
    (void)state;
    static const int64_t pairs[][2] = {{0, 0},
                                       {1, 10000},
                                       {10000, 10000},
                                       {387072684, 387080000},
                                       {-1, 0},
                                       {-12345, -10000},
                                       {INT64_MAX, INT64_MAX},
                                       {INT64_MIN, INT64_MIN - INT64_MIN % 10000}};
    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++)
        assert_true(money_shown(pairs[i][0]) == pairs[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounded_up),       cmocka_unit_test(integers_do_not_wrap),
        cmocka_unit_test(no_digit_is_lost), cmocka_unit_test(sums),
        cmocka_unit_test(json_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
