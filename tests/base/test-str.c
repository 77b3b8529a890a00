/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text helpers and numbers: tables of what is accepted, what is refused, what is made harmless. */
#include "testing.h"

#include "base/str.h"

#include <errno.h>
#include <math.h>

static void test_prefix_suffix(void **state) {
    (void)state;
    assert_true(str_starts_with("abc", ""));
    assert_true(str_starts_with("abc", "ab"));
    assert_false(str_starts_with("a", "ab"));
    assert_true(str_ends_with("abc", "bc"));
    assert_true(str_ends_with("abc", ""));
    assert_false(str_ends_with("c", "bc"));
}

static const struct {
    const char *bytes;
    size_t length;
    bool valid;
} utf8_cases[] = {
    {"", 0, true},
    {"abc\0d", 5, true},
    {"\xc3\xa9", 2, true},
    {"\xed\x95\x9c", 3, true},
    {"\xf0\x9f\x98\x80", 4, true},
    {"\xf4\x8f\xbf\xbf", 4, true},  /* U+10FFFF */
    {"\xf4\x90\x80\x80", 4, false}, /* beyond it */
    {"\xc3", 1, false},
    {"\xe2\x82", 2, false},
    {"\xf0\x9f\x98", 3, false},
    {"\xc0\x80", 2, false},         /* overlong NUL */
    {"\xc1\xbf", 2, false},         /* overlong */
    {"\xe0\x9f\xbf", 3, false},     /* overlong */
    {"\xf0\x8f\xbf\xbf", 4, false}, /* overlong */
    {"\xed\xa0\x80", 3, false},     /* surrogate */
    {"\xed\xbf\xbf", 3, false},     /* surrogate */
    {"\x80", 1, false},
    {"a\xff", 2, false},
    {"\xc3(", 2, false},
    {"\xe2(\xa1", 3, false},
    {"\xf5\x80\x80\x80", 4, false},
};

static void test_utf8(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(utf8_cases); i++)
        assert_int_equal(str_is_utf8(utf8_cases[i].bytes, utf8_cases[i].length),
                         utf8_cases[i].valid);
}

static void test_printable(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *text;
    } cases[] = {
        {"plain é 한", 12, "plain é 한"},
        {"a\nb\tc\\n", 7, "a\\nb\\tc\\n"},
        {"\x1b[31mred", 8, "\\x1b[31mred"},
        {"nul\0x", 5, "nul\\x00x"},
        {"\x7f", 1, "\\x7f"},
        {"\xc2\x9b", 2, "\\xc2\\x9b"},          /* the one-character CSI */
        {"\xe2\x80\xae", 3, "\\xe2\\x80\\xae"}, /* right-to-left override */
        {"\xff\xc3", 2, "\\xff\\xc3"},
        {"\r\n", 2, "\\x0d\\n"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        str_add_printable(&out, cases[i].bytes, cases[i].length);
        assert_string_equal(strbuf_str(&out), cases[i].text);
    }
}

static void test_whatever_comes_in_printable_utf8_comes_out(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 2000; round++) {
        unsigned char bytes[64];
        size_t length = (size_t)(next_random(&random) % sizeof bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (unsigned char)next_random(&random);
        AUTO_STRBUF struct strbuf shown = STRBUF_INIT;
        AUTO_STRBUF struct strbuf stored = STRBUF_INIT;
        str_add_printable(&shown, bytes, length);
        str_add_utf8(&stored, bytes, length);
        assert_true(str_is_utf8(strbuf_str(&shown), shown.length));
        assert_true(str_is_utf8(strbuf_str(&stored), stored.length));
        assert_int_equal(strlen(strbuf_str(&stored)), stored.length); /* no NUL inside */
        for (size_t i = 0; i < shown.length; i++)
            assert_true((unsigned char)shown.data[i] >= 0x20 && shown.data[i] != 0x7f);
    }
}

static void test_width(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t width;
    } cases[] = {
        {"", 0},
        {"abc", 3},
        {"é", 1},
        {"e\xcc\x81", 1}, /* combining acute */
        {"한국어", 6},
        {"日本", 4},
        {"ＡＢ", 4},
        {"가\xe1\x86\xa8", 2}, /* final Jamo */
        {"😀", 2},
        {"≥ 12 s", 6},
        {"a\xe2\x80\x8d", 1}, /* ZWJ */
        {"❤\xef\xb8\x8f", 1}, /* variation selector */
        {"\xff"
         "a",
         2},
        {"\x1b", 0},
        {"│▁█", 3},
        {"、", 2},
        {"\xf0\xa0\x80\x80", 2},
        {"\xc2\xad", 1},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_int_equal(str_width(cases[i].text), cases[i].width);
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int rc;
        int64_t value;
    } cases[] = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"+7", 0, 7},
        {"007", 0, 7},
        {"9223372036854775807", 0, INT64_MAX},
        {"-9223372036854775808", 0, INT64_MIN},
        {"9223372036854775808", -ERANGE, 0},
        {"-9223372036854775809", -ERANGE, 0},
        {"99999999999999999999", -ERANGE, 0},
        {"99999999999999999999x", -EINVAL, 0},
        {"", -EINVAL, 0},
        {"-", -EINVAL, 0},
        {"--1", -EINVAL, 0},
        {"+-1", -EINVAL, 0},
        {" 1", -EINVAL, 0},
        {"1 ", -EINVAL, 0},
        {"1.0", -EINVAL, 0},
        {"0x10", -EINVAL, 0},
        {"1e3", -EINVAL, 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        int64_t value = 12345;
        assert_int_equal(str_to_i64(cases[i].text, &value), cases[i].rc);
        assert_int_equal(value, cases[i].rc == 0 ? cases[i].value : 12345); /* untouched */
    }
    uint64_t value = 1;
    assert_int_equal(str_to_u64("18446744073709551615", &value), 0);
    assert_true(value == UINT64_MAX);
    assert_int_equal(str_to_u64("18446744073709551616", &value), -ERANGE);
    assert_int_equal(str_to_u64("-1", &value), -EINVAL);
    assert_int_equal(str_to_u64("+1", &value), -EINVAL);
}

static void test_doubles(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0},
        {"-0.0", 0},
        {"1.5", 1.5},
        {".5", 0.5},
        {"5.", 5},
        {"1e3", 1000},
        {"1E+3", 1000},
        {"-2e-2", -0.02},
        {"+3", 3},
        {"0.000e5", 0},
        {"0.1", 0.1},
        {"1e308", 1e308},
        {"4.9406564584124654e-324", 0x1p-1074},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
        double value = 99;
        assert_int_equal(str_to_double(good[i].text, &value), 0);
        assert_true(value >= good[i].value && value <= good[i].value);
    }
    static const char *const bad[] = {"",     " 1",       "1 ",     "1,5",   "nan",   "inf",
                                      "-inf", "infinity", "0x10",   "0x1p3", "1e",    "1e+",
                                      "e5",   ".",        "-",      "+.e1",  "1.2.3", "1_000",
                                      "1f",   "--1",      "NaN(1)", "1e5x",  "\t1"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        double value = 99;
        assert_int_equal(str_to_double(bad[i], &value), -EINVAL);
        assert_true(value >= 99 && value <= 99);
    }
    double value = 99;
    assert_int_equal(str_to_double("1e309", &value), -ERANGE);
    assert_int_equal(str_to_double("-1e999999999", &value), -ERANGE);
    assert_int_equal(str_to_double("1e-400", &value), -ERANGE); /* would read as 0 */
    assert_true(value >= 99 && value <= 99);
}

static void test_kept_whole(void **state) {
    static const char *const kept[] = {"0",
                                       "-12",
                                       "123456789012345",
                                       "1e300",
                                       "0.12345678901234567",
                                       "000000000000000012",
                                       "-120000000000000000000"};
    static const char *const not_kept[] = {"1234567890123456", "-9007199254740993",
                                           "+1234567890123456789"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(kept); i++)
        assert_true(str_is_kept_whole(kept[i]));
    for (size_t i = 0; i < ARRAY_LENGTH(not_kept); i++)
        assert_false(str_is_kept_whole(not_kept[i]));
}

static void test_durations(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {
        {"0", 0},
        {"90", INT64_C(90000000000)},
        {"90s", INT64_C(90000000000)},
        {"1.5h", INT64_C(5400000000000)},
        {"2h30m", INT64_C(9000000000000)},
        {"2h30min", INT64_C(9000000000000)},
        {"1d2h3m4s5ms6us7ns", INT64_C(93784005006007)},
        {"250ms", INT64_C(250000000)},
        {"3d", INT64_C(259200000000000)},
        {"1.5", INT64_C(1500000000)},
        {"0.1", INT64_C(100000000)},
        {"2h1.5m", INT64_C(7290000000000)},
        {"0.000000001s", 1},
        {"0.0000000019s", 1},
        {"106751d", INT64_C(9223286400000000000)},
        {"9223372036.854775807s", INT64_MAX},
        {"0.1000000000000000000000000000000d", INT64_C(8640000000000)},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
        struct err err = ERR_INIT;
        int64_t ns = -1;
        assert_int_equal(str_to_duration_ns(good[i].text, &ns, &err), 0);
        assert_int_equal(ns, good[i].ns);
    }
    static const char *const bad[] = {"",      "-1",   "-1s",    "+1s",  "s",       "h30m", "2h30",
                                      "30m2h", "1h1h", "1 h",    " 1h",  "1h ",     "1.h",  ".5h",
                                      "1,5h",  "1e3",  "2H",     "1w",   "1.5h30m", "5mm",  "1h30x",
                                      "0x10",  "inf",  "5m5min", "1..5", "h",       "1h-3m"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        struct err err = ERR_INIT;
        int64_t ns = -1;
        assert_int_equal(str_to_duration_ns(bad[i], &ns, &err), -EINVAL);
        assert_int_equal(ns, -1);
        assert_string_equal(err.id, "duration-syntax");
        assert_non_null(strstr(err.text, "2h30m")); /* tells the accepted forms */
    }
    static const char *const large[] = {"106752d", "9223372036.854775808s", "99999999999999999999",
                                        "106751d24h", "18446744073709551616ns"};
    for (size_t i = 0; i < ARRAY_LENGTH(large); i++) {
        struct err err = ERR_INIT;
        int64_t ns = -1;
        assert_int_equal(str_to_duration_ns(large[i], &ns, &err), -ERANGE);
        assert_int_equal(ns, -1);
    }
}

static void test_nearest(void **state) {
    (void)state;
    static const char *const words[] = {"run", "show", "compare", "estimate", "explain"};
    size_t count = ARRAY_LENGTH(words);
    assert_string_equal(str_nearest("compaer", words, count), "compare");
    assert_string_equal(str_nearest("estimat", words, count), "estimate");
    assert_string_equal(str_nearest("shw", words, count), "show");
    assert_string_equal(str_nearest("exlpian", words, count), "explain");
    assert_string_equal(str_nearest("run", words, count), "run");
    assert_null(str_nearest("xyzzy", words, count));
    assert_null(str_nearest("runner", words, count)); /* 3 of 6 letters away */
    assert_null(str_nearest("", words, count));
    assert_null(str_nearest("r", words, count)); /* a third of one letter is nothing */
    char long_word[200];
    memset(long_word, 'r', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    assert_null(str_nearest(long_word, words, count));
    assert_null(str_nearest("run", words, 0));
}

static void test_base64(void **state) {
    (void)state;
    /* RFC 4648 section 10 */
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xfb\xff\xfe", "+//+"}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        str_add_base64(&out, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(strbuf_str(&out), cases[i][1]);
    }
}

static void test_from_base64(void **state) {
    (void)state;
    for (size_t length = 0; length < 40; length++) {
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT, text = STRBUF_INIT, back = STRBUF_INIT;
        for (size_t i = 0; i < length; i++)
            strbuf_add_char(&bytes, (char)(i * 37 + length * 11));
        str_add_base64(&text, strbuf_str(&bytes), length);
        assert_int_equal(str_from_base64(strbuf_str(&text), text.length, &back), 0);
        assert_int_equal(back.length, length);
        assert_memory_equal(strbuf_str(&back), strbuf_str(&bytes), length);
    }
    static const char *const bad[] = {"A",    "AA",   "AAA",  "AA=A",  "====", "A===", "AA==AAAA",
                                      "AB==", "AAB=", "AA A", "AA\nA", "AA-A", "AAAAA"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        assert_int_equal(str_from_base64(bad[i], strlen(bad[i]), &out), -EINVAL);
    }
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    assert_int_equal(str_from_base64("AA\0A", 4, &out), -EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefix_suffix),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_printable),
        cmocka_unit_test(test_whatever_comes_in_printable_utf8_comes_out),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_kept_whole),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_from_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
