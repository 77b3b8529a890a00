/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The message lookup: languages, plural forms, the compiled tables, numbers and dates. */
#include "testing.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/msg-catalog.h"
#include "base/msg.h"

#include <errno.h>

static const char *const languages[] = {"en", "de", "fr", "ko"};

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
    assert_string_equal(msg_set_language("de_DE.UTF-8"), "de");
    assert_string_equal(msg_language(), "de");
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
        const struct msg_catalog catalog = {"xx", MSG_PLURAL_NOT_ONE, '.', "y-m-d", entries, count};
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

static void test_every_language_has_texts(void **state) {
    (void)state;
    assert_int_equal(msg_catalog_count, ARRAY_LENGTH(languages));
    for (size_t i = 0; i < ARRAY_LENGTH(languages); i++) {
        assert_string_equal(msg_catalogs[i].language, languages[i]);
        assert_string_equal(msg_set_language(languages[i]), languages[i]);
        assert_true(i == 0 || msg_catalogs[i].count > 2000);
    }
    assert_string_equal(msg_set_language("de"), "de");
    assert_string_equal(_("not sampled"), "keine Stichprobe");
    struct err err = ERR_INIT; /* a format is looked up before it is filled */
    (void)err_set(&err, -EINVAL, "usage-unknown-option", "unknown option '%s'", "--x");
    assert_string_equal(err.text, "unbekannte Option '--x'");
    assert_string_equal(_("no such text"), "no such text");
    assert_string_equal(msg_set_language("en"), "en");
    assert_string_equal(_("not sampled"), "not sampled");
}

/* The same count, the rule of each language; and of a text without translation the English one. */
static void test_plurals_by_language(void **state) {
    (void)state;
    static const struct {
        const char *language, *none, *one, *two;
    } cases[] = {
        {"en", "0 records written", "1 record written", "2 records written"},
        {"de", "0 Aufzeichnungen geschrieben", "1 Aufzeichnung geschrieben",
         "2 Aufzeichnungen geschrieben"},
        {"fr", "0 enregistrement écrit", "1 enregistrement écrit", "2 enregistrements écrits"},
        {"ko", "기록 0개를 썼습니다", "기록 1개를 썼습니다", "기록 2개를 썼습니다"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        msg_set_language(cases[i].language);
        const char *const wanted[] = {cases[i].none, cases[i].one, cases[i].two};
        for (unsigned long n = 0; n < ARRAY_LENGTH(wanted); n++) {
            AUTO_STRBUF struct strbuf text = STRBUF_INIT;
            strbuf_printf(&text, msg_plural(n, "%zu record written", "%zu records written"),
                          (size_t)n);
            assert_string_equal(strbuf_str(&text), wanted[n]);
        }
        assert_string_equal(msg_plural(0, "%lu zzz", "%lu zzzs"), "%lu zzzs");
        assert_string_equal(msg_plural(1, "%lu zzz", "%lu zzzs"), "%lu zzz");
    }
    msg_set_language("en");
}

static void test_decimals(void **state) {
    (void)state;
    static const struct {
        const char *text, *comma;
    } cases[] = {
        {"1.36", "1,36"},
        {"0.5 to 1.25", "0,5 to 1,25"},
        {"12", "12"},
        {"1e-05", "1e-05"},
        {"-1.5e+20", "-1,5e+20"},
        {"", ""},
        {".", "."},
        {"1.", "1."},
        {".5", ".5"},
        {"a.b", "a.b"},
        {"ends. 5", "ends. 5"},
    };
    for (size_t l = 0; l < ARRAY_LENGTH(languages); l++) {
        msg_set_language(languages[l]);
        bool comma = strcmp(languages[l], "de") == 0 || strcmp(languages[l], "fr") == 0;
        for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
            AUTO_STRBUF struct strbuf text = STRBUF_INIT;
            strbuf_add_str(&text, "3.");
            msg_add_decimal(&text, cases[i].text);
            assert_string_equal(strbuf_str(&text) + 2, comma ? cases[i].comma : cases[i].text);
            assert_memory_equal(strbuf_str(&text), "3.", 2); /* what stood there is not ours */
        }
        char number[MSG_DECIMAL_SIZE];
        assert_string_equal(msg_decimal(number, "%.3g", 1.355), comma ? "1,35" : "1.35");
        assert_string_equal(msg_decimal(number, "%.0f", 1048576.0), "1048576");
        (void)msg_decimal(number, "%.99f", 1.0); /* cut, not overrun */
        assert_int_equal(strlen(number), MSG_DECIMAL_SIZE - 1);
    }
    msg_set_language("en");
}

static void test_dates(void **state) {
    (void)state;
    static const char *const dates[] = {"2026-11-30", "30.11.2026", "30/11/2026", "2026. 11. 30."};
    static const char *const none[] = {"",         "2026-11",     "2026-11-3",  "20261130",
                                       "tomorrow", "2026-11-301", "2026/11/30", " 2026-11-30"};
    for (size_t l = 0; l < ARRAY_LENGTH(languages); l++) {
        msg_set_language(languages[l]);
        char out[MSG_DATE_SIZE];
        assert_string_equal(msg_date(out, "2026-11-30"), dates[l]);
        for (size_t i = 0; i < ARRAY_LENGTH(none); i++)
            assert_string_equal(msg_date(out, none[i]), none[i]);
        AUTO_STRBUF struct strbuf text = STRBUF_INIT, wanted = STRBUF_INIT;
        int64_t utc_ns = 0;
        assert_int_equal(clock_parse_utc("2026-11-30T23:59:59.999Z", &utc_ns), 0);
        msg_add_time(&text, utc_ns);
        strbuf_printf(&wanted, "%s 23:59:59", dates[l]);
        assert_string_equal(strbuf_str(&text), strbuf_str(&wanted));
        strbuf_clear(&text);
        msg_add_clock(&text, utc_ns);
        assert_string_equal(strbuf_str(&text), "23:59:59");
    }
    msg_set_language("en");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_english_is_the_identity),
        cmocka_unit_test(test_language_selection),
        cmocka_unit_test(test_plural_rules),
        cmocka_unit_test(test_catalogue_lookup),
        cmocka_unit_test(test_every_language_has_texts),
        cmocka_unit_test(test_plurals_by_language),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
