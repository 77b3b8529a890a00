/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors as values, and the message lookup below them. */
#include "testing.h"

#include "base/err.h"
#include "base/msg-catalog.h"
#include "base/msg.h"
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

static void test_english_is_the_identity(void **state) {
    (void)state;
    assert_string_equal(_("some text"), "some text");
    assert_string_equal(msg_plural(0, "%lu run", "%lu runs"), "%lu runs");
    assert_string_equal(msg_plural(1, "%lu run", "%lu runs"), "%lu run");
    assert_string_equal(msg_plural(2, "%lu run", "%lu runs"), "%lu runs");
}

static void test_language_selection(void **state) {
    (void)state;
    static const struct {
        const char *asked, *found;
    } cases[] = {
        {"en", "en"},      {"de", "de"},       {"de_DE.UTF-8", "de"}, {"de-AT", "de"},
        {"fr@euro", "fr"}, {"ko.UTF-8", "ko"}, {"den", NULL},         {"", NULL},
        {"C", NULL},       {"POSIX", NULL},    {"d", NULL},           {"DE_DE", NULL},
        {"korean", NULL},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const struct msg_catalog *found = msg_catalog_of(cases[i].asked);
        if (cases[i].found == NULL)
            assert_null(found);
        else
            assert_string_equal(found->language, cases[i].found);
    }
    assert_string_equal(msg_set_language("xx"), "en");
    assert_string_equal(msg_set_language("de_DE.UTF-8"),
                        msg_catalog_of("de")->count > 0 ? "de" : "en");
    assert_string_equal(msg_set_language("en"), "en");
}

static void test_plural_rules(void **state) {
    (void)state;
    static const size_t not_one[] = {1, 0, 1, 1}, above_one[] = {0, 0, 1, 1}, none[] = {0, 0, 0, 0};
    for (unsigned long n = 0; n < 4; n++) {
        assert_int_equal(msg_plural_form(MSG_PLURAL_NOT_ONE, n), not_one[n]);
        assert_int_equal(msg_plural_form(MSG_PLURAL_ABOVE_ONE, n), above_one[n]);
        assert_int_equal(msg_plural_form(MSG_PLURAL_NONE, n), none[n]);
    }
}

static void test_catalogue_lookup(void **state) {
    (void)state;
    static const struct msg_entry entries[] = {
        {"a", {"A", NULL}}, {"b run", {"b Lauf", "b Läufe"}}, {"z", {"Z", NULL}}};
    for (size_t count = 0; count <= ARRAY_LENGTH(entries); count++) {
        const struct msg_catalog catalog = {"xx", MSG_PLURAL_NOT_ONE, entries, count};
        for (size_t i = 0; i < ARRAY_LENGTH(entries); i++) {
            const struct msg_entry *found = msg_catalog_find(&catalog, entries[i].english);
            assert_ptr_equal(found, i < count ? &entries[i] : NULL);
        }
        assert_null(msg_catalog_find(&catalog, ""));
        assert_null(msg_catalog_find(&catalog, "c"));
        assert_null(msg_catalog_find(&catalog, "zz"));
    }
    /* what is compiled in is sorted, or the search would miss texts */
    for (size_t i = 0; i < msg_catalog_count; i++)
        for (size_t k = 1; k < msg_catalogs[i].count; k++)
            assert_true(strcmp(msg_catalogs[i].entries[k - 1].english,
                               msg_catalogs[i].entries[k].english) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_and_add),
        cmocka_unit_test(test_arguments_may_be_the_old_text),
        cmocka_unit_test(test_long_text_is_cut_at_a_character),
        cmocka_unit_test(test_a_positive_code_is_a_programming_error),
        cmocka_unit_test(test_english_is_the_identity),
        cmocka_unit_test(test_language_selection),
        cmocka_unit_test(test_plural_rules),
        cmocka_unit_test(test_catalogue_lookup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
