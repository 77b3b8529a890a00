/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors as values. */
#include "testing.h"

#include "base/err.h"
#include "base/str.h"

#include <errno.h>

static void test_set_and_add(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    assert_int_equal(err_set(&err, -ENOENT, "no-file", "no file '%s'", "x"), -ENOENT);
    assert_int_equal(err.code, -ENOENT);
    assert_string_equal(err.id, "no-file");
    assert_string_equal(err.text, "no file 'x'");
    assert_int_equal(err_add(&err, -EIO, "opening ledger '%s'", "l"), -EIO);
    assert_string_equal(err.text, "opening ledger 'l': no file 'x'");
    assert_string_equal(err.id, "no-file");
    assert_int_equal(err.code, -EIO);
    err_clear(&err);
    assert_int_equal(err.code, 0);
    assert_string_equal(err.text, "");
}

static void test_arguments_may_be_the_old_text(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    err_set(&err, -EIO, "first", "one");
    err_set(&err, -EIO, err.id, "again: %s", err.text);
    assert_string_equal(err.text, "again: one");
    assert_string_equal(err.id, "first");
}

static void test_long_text_is_cut_at_a_character(void **state) {
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        for (size_t i = 0; i < shift; i++)
            strbuf_add_char(&text, 'a');
        while (text.length < 3000)
            strbuf_add_str(&text, "한");
        struct err err = ERR_INIT;
        err_set(&err, -EIO, "long", "%s", strbuf_str(&text));
        size_t length = strlen(err.text);
        assert_in_range(length, sizeof err.text - 4, sizeof err.text - 1);
        assert_true(str_is_utf8(err.text, length));
        err_add(&err, -EIO, "%s", "와");
        assert_true(str_is_utf8(err.text, strlen(err.text)));
        assert_true(str_starts_with(err.text, "와: "));
    }
}

static void set_positive(const void *argument) {
    (void)argument;
    struct err err = ERR_INIT;
    err_set(&err, 5, "wrong", "a positive code");
}

static void test_a_positive_code_is_a_programming_error(void **state) {
    (void)state;
    assert_aborts(set_positive, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_and_add),
        cmocka_unit_test(test_arguments_may_be_the_old_text),
        cmocka_unit_test(test_long_text_is_cut_at_a_character),
        cmocka_unit_test(test_a_positive_code_is_a_programming_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
