/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values out of result files: JSON pointers, CSV columns, regular expressions; and what is refused
 * rather than guessed. */
#include "../base/testing.h"

#include "text/extract.h"
#include "text/pattern.h"

#include <errno.h>

static struct arena *arena;

static int setup(void **state) {
    (void)state;
    arena = arena_new();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena = arena_free(arena);
    return 0;
}

static int take(enum extract_kind kind, const char *what, const char *row, const char *text,
                struct extract_value *ret, struct err *err) {
    struct extract_spec spec = {.kind = kind, .what = what, .row = row};
    *err = ERR_INIT;
    *ret = (struct extract_value){0};
    return extract_value(&spec, text, strlen(text), arena, ret, err);
}

static void is_number(enum extract_kind kind, const char *what, const char *row, const char *text,
                      double number) {
    struct extract_value value;
    struct err err;
    if (take(kind, what, row, text, &value, &err) < 0)
        fail_msg("%s: %s", what, err.text);
    if (!value.is_number)
        fail_msg("'%s' is no number: '%s'", what, value.text);
    assert_true(memcmp(&value.number, &number, sizeof number) == 0);
    assert_non_null(value.text);
}

static void is_text(enum extract_kind kind, const char *what, const char *row, const char *text,
                    const char *expected) {
    struct extract_value value;
    struct err err;
    if (take(kind, what, row, text, &value, &err) < 0)
        fail_msg("%s: %s", what, err.text);
    assert_false(value.is_number);
    assert_string_equal(value.text, expected);
}

static void fails(enum extract_kind kind, const char *what, const char *row, const char *text,
                  const char *id, const char *says) {
    struct extract_value value;
    struct err err;
    int rc = take(kind, what, row, text, &value, &err);
    assert_true(rc < 0);
    assert_int_equal(rc, strcmp(id, "extract-absent") == 0 ? -ENOENT : -EINVAL);
    assert_string_equal(err.id, id);
    if (strstr(err.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, says);
    assert_null(value.text);
}

/* ---- JSON ---- */

static const char document[] = "{\"a/b\": 1, \"m~n\": 2.5, \"\": 3, \"~1\": 4,\n"
                               " \"list\": [10, {\"x\": -0.25e1}, \"0.5\", true, null],\n"
                               " \"name\": \"M\u00fcnchen\", \"big\": 9007199254740993}";

static void json_pointers_lead_to_values(void **state) {
    (void)state;
    is_number(EXTRACT_JSON, "/a~1b", NULL, document, 1);
    is_number(EXTRACT_JSON, "/m~0n", NULL, document, 2.5);
    is_number(EXTRACT_JSON, "/", NULL, document, 3); /* the empty name */
    is_number(EXTRACT_JSON, "/~01", NULL, document, 4);
    is_number(EXTRACT_JSON, "/list/0", NULL, document, 10);
    is_number(EXTRACT_JSON, "/list/1/x", NULL, document, -2.5);
    is_text(EXTRACT_JSON, "/big", NULL, document, "9007199254740993");
    is_text(EXTRACT_JSON, "/list/2", NULL, document, "0.5"); /* a text stays one */
    is_text(EXTRACT_JSON, "/list/3", NULL, document, "true");
    is_text(EXTRACT_JSON, "/list/4", NULL, document, "null");
    is_text(EXTRACT_JSON, "/name", NULL, document, "M\u00fcnchen");
    is_number(EXTRACT_JSON, "", NULL, " 42\n", 42);
    is_number(EXTRACT_JSON, "/x", NULL, "\xef\xbb\xbf{\"x\": 7}", 7);
}

static void json_that_is_not_there(void **state) {
    (void)state;
    fails(EXTRACT_JSON, "/nothing", NULL, document, "extract-absent", "/nothing");
    fails(EXTRACT_JSON, "/list/5", NULL, document, "extract-absent", "/list/5");
    fails(EXTRACT_JSON, "/list/-", NULL, document, "extract-absent", "");
    fails(EXTRACT_JSON, "/list/00", NULL, document, "extract-absent", "");
    fails(EXTRACT_JSON, "/list/x", NULL, document, "extract-absent", "");
    fails(EXTRACT_JSON, "/name/x", NULL, document, "extract-absent", "");
    fails(EXTRACT_JSON, "/list", NULL, document, "extract-absent", "no single value");
    fails(EXTRACT_JSON, "", NULL, document, "extract-absent", "no single value");
    fails(EXTRACT_JSON, "/a", NULL, "", "extract-syntax", "no JSON");
    fails(EXTRACT_JSON, "/a", NULL, "{\"a\": NaN}", "extract-syntax", "1:");
    fails(EXTRACT_JSON, "/a", NULL, "{\"a\": 1e999}", "extract-syntax", "1:");
    fails(EXTRACT_JSON, "/a", NULL, "{\"a\": 1, \"a\": 2}", "extract-syntax", "");
    fails(EXTRACT_JSON, "/a", NULL, "{\"a\": 1", "extract-syntax", "");
    char deep[400];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    fails(EXTRACT_JSON, "/0", NULL, deep, "extract-syntax", "64 levels");
}

/* A record keeps 15 digits: two checksums must not become one number. */
static void integers_are_whole_or_no_numbers(void **state) {
    (void)state;
    is_text(EXTRACT_JSON, "", NULL, "1234567890123456789", "1234567890123456789");
    is_text(EXTRACT_JSON, "", NULL, "-1234567890123456", "-1234567890123456");
    is_number(EXTRACT_JSON, "", NULL, "123456789012345", 123456789012345.0);
    is_number(EXTRACT_JSON, "", NULL, "1200000000000000000", 1.2e18);
    is_number(EXTRACT_JSON, "", NULL, "0", 0);
    is_text(EXTRACT_CSV, "a", NULL, "a\n1234567890123456\n", "1234567890123456");
    is_text(EXTRACT_REGEX, "=(.*)", NULL, "a=1234567890123456", "1234567890123456");
    is_number(EXTRACT_REGEX, "=(.*)", NULL, "a=000000000000000012", 12);
    is_number(EXTRACT_REGEX, "=(.*)", NULL, "a=0.1234567890123456789", 0.1234567890123456789);
}

/* 1e-400 is no 0, and the parser does not tell them apart. */
static void json_that_would_read_as_zero(void **state) {
    (void)state;
    fails(EXTRACT_JSON, "/p", NULL, "{\"p\": 1e-400}", "extract-syntax", "read as 0");
    fails(EXTRACT_JSON, "/p", NULL, "{\"p\": -0.03E-900, \"q\": 1}", "extract-syntax", "read as 0");
    is_number(EXTRACT_JSON, "/p", NULL, "{\"p\": 0.0, \"q\": \"a\\\"1e-400\"}", 0.0);
    is_number(EXTRACT_JSON, "/p", NULL, "{\"p\": 0e-400}", 0.0);
    is_number(EXTRACT_JSON, "/p", NULL, "{\"p\": 1e-300, \"q\": 1e-400}", 1e-300);
}

static void json_lines_count_by_their_last(void **state) {
    (void)state;
    const char *lines = "{\"step\": 1, \"loss\": 2.5}\r\n\n{\"step\": 2, \"loss\": 1.25}\n  \n";
    is_number(EXTRACT_JSON, "/loss", NULL, lines, 1.25);
    is_number(EXTRACT_JSON, "/loss", NULL, "{\"loss\": 3}\n{\"loss\": 4}", 4);
    fails(EXTRACT_JSON, "/loss", NULL, "{\"loss\": 3}\n{\"other\": 4}", "extract-absent", "/loss");
    /* every line must be one: a torn last line, or a log in between, is not passed over */
    fails(EXTRACT_JSON, "/loss", NULL, "{\"loss\": 3}\n{\"loss\": ", "extract-syntax", "no JSON");
    fails(EXTRACT_JSON, "/loss", NULL, "{\"loss\": 3}\nhello\n{\"loss\": 4}", "extract-syntax", "");
}

/* ---- CSV ---- */

static void csv_columns_and_rows(void **state) {
    (void)state;
    const char *text = "name,loss, score \r\na,0.5,1\r\nb,0.25,2\r\n\r\nc,0.125,3\r\n";
    is_number(EXTRACT_CSV, "loss", NULL, text, 0.125);
    is_number(EXTRACT_CSV, "loss", "last", text, 0.125);
    is_number(EXTRACT_CSV, "loss", "first", text, 0.5);
    is_number(EXTRACT_CSV, "loss", "2", text, 0.25);
    is_number(EXTRACT_CSV, "score", "3", text, 3);
    is_text(EXTRACT_CSV, "name", NULL, text, "c");
    fails(EXTRACT_CSV, "loss", "4", text, "extract-absent", "3 rows");
    fails(EXTRACT_CSV, "Loss", NULL, text, "extract-absent", "'Loss'");
    is_number(EXTRACT_CSV, "b", NULL, "a;b\n1,5;2\n", 2);
    is_text(EXTRACT_CSV, "a", NULL, "a;b\n1,5;2\n", "1,5"); /* no number in any locale but one */
    is_number(EXTRACT_CSV, "b", NULL, "a\tb\n1\t 2 \n", 2);
    is_number(EXTRACT_CSV, "only", NULL, "only\n7", 7);
    is_number(EXTRACT_CSV, "a", NULL,
              "\xef\xbb\xbf"
              "a,b\n1,2\n",
              1);
    is_number(EXTRACT_CSV, "b", NULL, "a,b\r1,2\r3,4\r", 4);
}

static void csv_quotes(void **state) {
    (void)state;
    const char *text = "\"a,b\",\"say \"\"x\"\"\",c\n\"1\n2\",\"y \"\"z\"\", w\",\"3\"\n";
    is_number(EXTRACT_CSV, "c", NULL, text, 3);
    is_text(EXTRACT_CSV, "say \"x\"", NULL, text, "y \"z\", w");
    is_text(EXTRACT_CSV, "a,b", NULL, text, "1\n2");
    is_number(EXTRACT_CSV, "b", NULL, "a,b\n\"1\" ,2\n", 2);
    fails(EXTRACT_CSV, "b", NULL, "a,b\n\"1,2\n", "extract-syntax", "quoted");
    fails(EXTRACT_CSV, "b", NULL, "a,b\n\"1\"x,2\n", "extract-syntax", "quoted");
    fails(EXTRACT_CSV, "b", NULL, "\"a,b\n1,2\n", "extract-syntax", "header");
}

static void csv_that_is_not_there(void **state) {
    (void)state;
    fails(EXTRACT_CSV, "a", NULL, "", "extract-absent", "no column");
    fails(EXTRACT_CSV, "a", NULL, "a,b\n", "extract-absent", "0 rows");
    fails(EXTRACT_CSV, "b", NULL, "a,b\n1\n", "extract-absent", "empty");
    fails(EXTRACT_CSV, "b", NULL, "a,b\n1,\n", "extract-absent", "empty");
    fails(EXTRACT_CSV, "b", NULL, "a,b\n1,  \n", "extract-absent", "empty");
    /* the row before has one, but it is not the last */
    fails(EXTRACT_CSV, "b", NULL, "a,b\n1,2\n3\n", "extract-absent", "empty");
    fails(EXTRACT_CSV, "a", NULL, "a,b,a\n1,2,3\n", "extract-absent", "2 columns");
    struct extract_spec spec = {.kind = EXTRACT_CSV, .what = "a"};
    struct extract_value value;
    struct err err = ERR_INIT;
    assert_int_equal(extract_value(&spec, "a\n\0001\n", 5, arena, &value, &err), -EINVAL);
}

/* ---- regular expressions ---- */

static void the_last_line_that_matches_counts(void **state) {
    (void)state;
    const char *log = "step 1 loss=0.9\nstep 2 loss=0.5\ndone\n";
    is_number(EXTRACT_REGEX, "loss=([0-9.]+)", NULL, log, 0.5);
    is_text(EXTRACT_REGEX, "loss=[0-9.]+", NULL, log, "loss=0.5");
    is_text(EXTRACT_REGEX, "^(done)$", NULL, log, "done");
    is_number(EXTRACT_REGEX, "loss=([0-9.]+)", NULL, "loss=0.75", 0.75);
    is_number(EXTRACT_REGEX, "([0-9]+)%", NULL, "10%\r20%\r30%", 30); /* one line, overwritten */
    is_number(EXTRACT_REGEX, "^x: (.*)$", NULL, "x: 1e3 \nx\n", 1000);
    is_text(EXTRACT_REGEX, "^x: (.*)$", NULL, "x: nan\n", "nan");
    is_text(EXTRACT_REGEX, "^x: (.*)$", NULL, "x: inf\n", "inf");
    is_text(EXTRACT_REGEX, "^x: (.*)$", NULL, "x: 0x10\n", "0x10");
    is_text(EXTRACT_REGEX, "^x: (.*)$", NULL, "x: 1,5\n", "1,5");
    is_text(EXTRACT_REGEX, "^x: (.*)$", NULL, "x: 1e999\n", "1e999");
    /* a line in which the group takes no part says nothing */
    is_text(EXTRACT_REGEX, "^x(=[0-9]+)?", NULL, "x=4\nx\n", "=4");
    fails(EXTRACT_REGEX, "^x(=[0-9]+)?", NULL, "x\n", "extract-absent", "");
}

static void regex_that_does_not_match(void **state) {
    (void)state;
    fails(EXTRACT_REGEX, "loss=([0-9.]+)", NULL, "", "extract-absent", "loss=");
    fails(EXTRACT_REGEX, "loss=([0-9.]+)", NULL, "LOSS=1\n", "extract-absent", "loss=");
    fails(EXTRACT_REGEX, "^b", NULL, "a\n\n\nab\n", "extract-absent", "matches '^b'");
}

/* Of a line only its first bytes are looked at; what touches their end may go on behind it. */
static void a_cut_line_gives_no_cut_number(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "r=7\n");
    for (size_t i = 0; i < LINE_MAX_BYTES - 7; i++)
        strbuf_add_char(&text, 'x');
    strbuf_add_str(&text, "r=0.123456789\n");
    fails(EXTRACT_REGEX, "r=([0-9.]+)", NULL, strbuf_str(&text), "extract-syntax", "4096");
    fails(EXTRACT_REGEX, "^x+r=([0-9.]+)$", NULL, strbuf_str(&text), "extract-absent",
          "of long lines the first 4096 bytes were looked at");
    strbuf_clear(&text);
    strbuf_add_str(&text, "r=0.125 ");
    for (size_t i = 0; i < LINE_MAX_BYTES; i++)
        strbuf_add_char(&text, 'x');
    is_number(EXTRACT_REGEX, "r=([0-9.]+)", NULL, strbuf_str(&text), 0.125);
}

static void wrong_specs_are_refused(void **state) {
    (void)state;
    fails(EXTRACT_JSON, "a/b", NULL, "{}", "extract-spec", "'/'");
    fails(EXTRACT_JSON, "/a~2", NULL, "{}", "extract-spec", "~0");
    fails(EXTRACT_JSON, "/a~", NULL, "{}", "extract-spec", "~0");
    fails(EXTRACT_CSV, "", NULL, "a\n1\n", "extract-spec", "empty");
    fails(EXTRACT_CSV, "a", "0", "a\n1\n", "extract-spec", "'0'");
    fails(EXTRACT_CSV, "a", "-1", "a\n1\n", "extract-spec", "'-1'");
    fails(EXTRACT_CSV, "a", "99999999999999999999", "a\n1\n", "extract-spec", "row");
    fails(EXTRACT_REGEX, "(", NULL, "a", "extract-spec", "'('");
    fails(EXTRACT_REGEX, "", NULL, "a", "extract-spec", "empty");
    fails(EXTRACT_REGEX, "(a)(b)", NULL, "ab", "extract-spec", "2 groups");
    fails(EXTRACT_REGEX, "(a+)\\1", NULL, "aa", "extract-spec", "back-reference");
}

/* ---- anything ---- */

static void long_values_are_cut_between_characters(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "\"a");
    for (size_t i = 0; i < 3000; i++)
        strbuf_add_str(&text, "\u00fc");
    strbuf_add_char(&text, '"');
    struct extract_value value;
    struct err err;
    assert_int_equal(take(EXTRACT_JSON, "", NULL, strbuf_str(&text), &value, &err), 0);
    assert_int_equal(strlen(value.text), 4095); /* 1 + 2047 times 2 */
    assert_false(value.is_number);
}

/* Whatever stands in the file: an answer, within the text, and a number only with its text. */
static void garbage_is_survived(void **state) {
    (void)state;
    static const char alphabet[] = "a1,;\t\"\n\r{}[]:. /~\0\xff\xef\xbb\xbf-e";
    static const struct extract_spec specs[] = {{EXTRACT_JSON, "/a", NULL},
                                                {EXTRACT_JSON, "", NULL},
                                                {EXTRACT_CSV, "a", NULL},
                                                {EXTRACT_CSV, "a", "2"},
                                                {EXTRACT_REGEX, "a([0-9]*)", NULL}};
    uint64_t random = 7;
    size_t found = 0;
    for (size_t round = 0; round < 20000; round++) {
        size_t length = next_random(&random) % 24;
        AUTO_FREE char *text = mem_alloc(length + 1); /* sanitizers see what lies behind */
        for (size_t i = 0; i < length; i++)
            text[i] = alphabet[next_random(&random) % (sizeof alphabet - 1)];
        struct extract_value value = {0};
        struct err err = ERR_INIT;
        int rc = extract_value(&specs[round % 5], text, length, arena, &value, &err);
        assert_true((rc == 0) == (value.text != NULL));
        assert_true((rc < 0) == (err.code < 0));
        found += rc == 0;
    }
    assert_true(found > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(json_pointers_lead_to_values, setup, teardown),
        cmocka_unit_test_setup_teardown(json_that_is_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(integers_are_whole_or_no_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(json_that_would_read_as_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(json_lines_count_by_their_last, setup, teardown),
        cmocka_unit_test_setup_teardown(csv_columns_and_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(csv_quotes, setup, teardown),
        cmocka_unit_test_setup_teardown(csv_that_is_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_line_that_matches_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(regex_that_does_not_match, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cut_line_gives_no_cut_number, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_specs_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(long_values_are_cut_between_characters, setup, teardown),
        cmocka_unit_test_setup_teardown(garbage_is_survived, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
