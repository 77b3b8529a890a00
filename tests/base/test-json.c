/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON glue: round trips, hostile bytes, limits, garbage. */
#include "testing.h"

#include "base/json.h"
#include "base/str.h"

#include <math.h>

static json_t *parse(const char *text) {
    char why[160];
    return json_parse(text, strlen(text), why);
}

static void test_build_and_print(void **state) {
    (void)state;
    AUTO_JSON json_t *object = json_object();
    json_put_text(object, "z", "last letter first");
    json_put_int(object, "a", INT64_MIN);
    json_put_real(object, "r", 0.1);
    json_put_real(object, "whole", 3);
    json_put_bool(object, "yes", 7);
    json_put_text(object, "none", NULL);
    json_put(object, "list", json_pack("[i,s]", 1, "two"));
    AUTO_STRBUF struct strbuf compact = STRBUF_INIT;
    json_add_compact(&compact, object);
    assert_string_equal(
        strbuf_str(&compact),
        "{\"z\":\"last letter first\",\"a\":-9223372036854775808,\"r\":0.1,\"whole\":3.0,"
        "\"yes\":true,\"none\":null,\"list\":[1,\"two\"]}");
    AUTO_STRBUF struct strbuf pretty = STRBUF_INIT;
    AUTO_JSON json_t *small = json_pack("{s:i,s:[]}", "k", 1, "e");
    json_add_pretty(&pretty, small);
    assert_string_equal(strbuf_str(&pretty), "{\n  \"k\": 1,\n  \"e\": []\n}\n");
}

static void test_reals_come_back(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < 5000; i++) {
        int exponent = (int)(next_random(&random) % 400) - 250;
        double value = ldexp((double)(next_random(&random) >> 11), exponent);
        AUTO_JSON json_t *list = json_array();
        json_array_append_new(list, json_real(value));
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        json_add_compact(&out, list);
        AUTO_JSON json_t *back = parse(strbuf_str(&out));
        assert_non_null(back);
        double read = json_number_value(json_array_get(back, 0));
        assert_true(fabs(read - value) <= fabs(value) * 6e-15);
        AUTO_STRBUF struct strbuf again = STRBUF_INIT; /* printing is a fixed point */
        json_add_compact(&again, back);
        assert_string_equal(strbuf_str(&again), strbuf_str(&out));
    }
}

static void put_nan(const void *argument) {
    (void)argument;
    AUTO_JSON json_t *object = json_object();
    json_put_real(object, "x", (double)NAN);
}

static void put_infinity(const void *argument) {
    (void)argument;
    AUTO_JSON json_t *object = json_object();
    json_put_real(object, "x", -(double)INFINITY);
}

static void test_what_is_no_number_is_a_programming_error(void **state) {
    (void)state;
    assert_aborts(put_nan, NULL);
    assert_aborts(put_infinity, NULL);
}

static void test_bytes_that_are_no_utf8(void **state) {
    (void)state;
    AUTO_JSON json_t *object = json_object();
    json_put_text(object, "t", "a\xff\xc3\xa9");
    json_put(object, "n", json_text_n("x\0y", 3));
    json_put_int(object, "key\xfe", 1); /* a key by a hostile name */
    json_put(object, "control", json_text_n("\x1b\n", 2));
    assert_string_equal(json_get_text(object, "t", ""), "a\\xffé");
    assert_string_equal(json_get_text(object, "n", ""), "x\\x00y");
    assert_int_equal(json_get_int(object, "key\\xfe", 0), 1);
    assert_string_equal(json_get_text(object, "control", ""),
                        "\x1b\n"); /* JSON escapes it itself */
    assert_true(json_is_null(json_object_get(object, "none")) == 0);
    AUTO_JSON json_t *nothing = json_text(NULL);
    assert_true(json_is_null(nothing));
}

static void test_getters_do_not_trust(void **state) {
    (void)state;
    AUTO_JSON json_t *o =
        parse("{\"s\":\"t\",\"i\":5,\"r\":1.5,\"b\":true,\"o\":{},\"a\":[],\"n\":null}");
    assert_non_null(o);
    assert_string_equal(json_get_text(o, "s", "?"), "t");
    assert_string_equal(json_get_text(o, "i", "?"), "?");
    assert_null(json_get_text(o, "missing", NULL));
    assert_int_equal(json_get_int(o, "i", -1), 5);
    assert_int_equal(json_get_int(o, "r", -1), -1);
    assert_int_equal(json_get_int(o, "n", -1), -1);
    assert_true(json_get_real(o, "i", -1) >= 5);
    assert_true(json_get_real(o, "r", -1) >= 1.5);
    assert_true(json_get_real(o, "s", -1) <= -1);
    assert_int_equal(json_get_bool(o, "b", 0), 1);
    assert_int_equal(json_get_bool(o, "i", 0), 0);
    assert_non_null(json_get_object(o, "o"));
    assert_null(json_get_object(o, "a"));
    assert_non_null(json_get_array(o, "a"));
    assert_null(json_get_array(o, "o"));
    /* not even that there is an object */
    assert_string_equal(json_get_text(NULL, "s", "?"), "?");
    assert_int_equal(json_get_int(json_object_get(o, "a"), "i", 3), 3);
    assert_null(json_get_object(NULL, "o"));
}

static void test_depth(void **state) {
    (void)state;
    for (size_t depth = 60; depth <= 70; depth++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_add_str(&text, "[\"[[[[[[[[[[\\\"[[[[[[[[[{{{{\",\n"); /* these do not count */
        for (size_t i = 1; i < depth; i++)
            strbuf_add_str(&text, i % 2 == 0 ? "[" : "{\"k\":");
        strbuf_add_str(&text, "1");
        for (size_t i = depth; i > 1; i--)
            strbuf_add_str(&text, (i - 1) % 2 == 0 ? "]" : "}");
        strbuf_add_str(&text, "]");
        char why[160];
        AUTO_JSON json_t *json = json_parse(strbuf_str(&text), text.length, why);
        assert_int_equal(json != NULL, depth <= 64);
        if (depth > 64)
            assert_true(str_starts_with(why, "2:") && strstr(why, "64") != NULL);
    }
    AUTO_FREE char *deep = mem_alloc(1000000);
    memset(deep, '[', 1000000);
    char why[160];
    assert_null(json_parse(deep, 1000000, why));
}

static void test_what_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      " ",
                                      "{",
                                      "[1,]",
                                      "{\"a\":1,\"a\":2}",
                                      "nan",
                                      "{a:1}",
                                      "[1] x",
                                      "'s'",
                                      "[01]",
                                      "[1e999]",
                                      "[\"\xff\"]",
                                      "\"\\u0000\"",
                                      "\"\\ud800\"",
                                      "[\"\n\"]",
                                      "]",
                                      "}{",
                                      "[}",
                                      "[99999999999999999999]",
                                      "\xef\xbb\xbf[]",
                                      "[\"",
                                      "\"\\"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        char why[160] = "";
        assert_null(json_parse(bad[i], strlen(bad[i]), why));
        int line, column;
        assert_int_equal(sscanf(why, "%d:%d: ", &line, &column), 2);
        assert_true(str_is_utf8(why, strlen(why)));
    }
    char why[160];
    assert_null(json_parse("[\x7f\xc2\x9b]", 5, why)); /* what it quotes is harmless */
    assert_non_null(strstr(why, "\\x7f"));
    assert_null(strchr(why, 0x7f));
    assert_null(json_parse("[]\0", 3, why)); /* a NUL is not the end */
    AUTO_JSON json_t *scalar = parse("5");
    assert_true(json_is_integer(scalar));
}

static void test_garbage_never_crashes(void **state) {
    (void)state;
    static const char seed[] =
        "{\"a\":[1,2.5,\"\\u00e9\\\"x\",{\"b\":null,\"c\":true}],\"d\":-1e-5}";
    uint64_t random = 99;
    size_t accepted = 0;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof seed];
        memcpy(text, seed, sizeof seed);
        size_t length = (size_t)(next_random(&random) % sizeof seed);
        for (uint64_t edits = next_random(&random) % 4; edits > 0; edits--)
            text[next_random(&random) % (sizeof seed - 1)] =
                round % 2 == 0 ? (char)next_random(&random)
                               : "[]{}\",:\\0e-"[next_random(&random) % 11];
        if (round % 4 == 0)
            length = sizeof seed - 1;
        AUTO_FREE char *exact =
            mem_alloc(length); /* a read behind the end is seen by a sanitizer */
        memcpy(exact, text, length);
        char why[160];
        AUTO_JSON json_t *json = json_parse(exact, length, why);
        accepted += json != NULL;
        assert_true(json != NULL || why[0] != '\0');
        assert_true(str_is_utf8(why, strlen(why)));
    }
    assert_true(accepted > 100); /* the unedited ones at least */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_and_print),
        cmocka_unit_test(test_reals_come_back),
        cmocka_unit_test(test_what_is_no_number_is_a_programming_error),
        cmocka_unit_test(test_bytes_that_are_no_utf8),
        cmocka_unit_test(test_getters_do_not_trust),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_garbage_never_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
