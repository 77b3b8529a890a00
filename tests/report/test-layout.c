/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cutting, wrapping and columns by terminal width; what is hostile never gets through. */
#include "base/str.h"
#include "build-run.h"
#include "report/layout.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void check_cut(const char *text, size_t columns, bool ascii, const char *expected) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    layout_cut(&out, text, columns, ascii);
    assert_string_equal(strbuf_str(&out), expected);
    assert_true(str_width(strbuf_str(&out)) <= columns);
}

static void cutting_keeps_characters_whole(void **state) {
    (void)state;
    check_cut("abcdef", 6, false, "abcdef");
    check_cut("abcdef", 5, false, "abcd…");
    check_cut("abcdef", 5, true, "ab...");
    check_cut("재현 연구", 9, false, "재현 연구");
    check_cut("재현 연구", 8, false, "재현 연…");
    check_cut("재현 연구", 7, false, "재현 …"); /* a wide character does not fit into one column */
    check_cut("재현", 1, false, "");
    check_cut("", 0, false, "");
    check_cut("für alle", 4, true, "f...");
    check_cut("für", 4, true, "f?r");
    check_cut("재현", 4, true, "????");
    check_cut(NULL, 4, true, "");
    check_cut("e\xcc\x81te\xcc\x81", 3, false, "e\xcc\x81te\xcc\x81"); /* combining: no column */
}

static void control_characters_are_shown(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    layout_add_plain(&out, "a\033[31mb\nc\td\007\xff", false);
    for (const char *p = strbuf_str(&out); *p; p++)
        assert_true((unsigned char)*p >= 0x20 && (unsigned char)*p != 0x7f);
    assert_true(str_is_utf8(out.data, out.length));
    strbuf_clear(&out);
    layout_add_plain(&out, "per hour … ≥ 재", true);
    assert_string_equal(strbuf_str(&out), "per hour ... ? ??");
}

static void check_wrap(const char *text, size_t column, size_t indent, size_t columns,
                       const char *expected) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    layout_wrap(&out, text, column, indent, columns);
    assert_string_equal(strbuf_str(&out), expected);
}

static void wrapping(void **state) {
    (void)state;
    check_wrap("one two three", 0, 0, 7, "one two\nthree");
    check_wrap("one two three", 4, 2, 8, "one\n  two\n  three");
    check_wrap("abcdefghij", 0, 2, 6, "abcdef\n  ghij");
    check_wrap("재현연구", 0, 0, 5, "재현\n연구");
    check_wrap("  a  b ", 0, 0, 10, "a  b"); /* blanks inside a line are kept */
    check_wrap("재", 0, 0, 1, "재");         /* ends although nothing fits */
    check_wrap("abc", 10, 12, 4, "abc");
    check_wrap("took 12 min", 0, 0, 8, "took\n12 min"); /* a number stays with its unit */
    check_wrap("peak ≥ 3 GiB", 0, 0, 9, "peak\n≥ 3 GiB");
    check_wrap("wall [m] 3 s", 0, 0, 9, "wall\n[m] 3 s");
    check_wrap("1 2 3", 0, 0, 3, "1 2\n3");
}

static void columns_line_up(void **state) {
    (void)state;
    const struct layout_column columns[] = {{.title = "name"}, {.title = "n", .right = true}};
    AUTO_TABLE struct layout_table *table = layout_table_new((struct report_style){0}, columns, 2);
    layout_table_cell(table, "größe", LAYOUT_PLAIN);
    layout_table_cell(table, "1", LAYOUT_PLAIN);
    layout_table_cell(table, "재현 연구", LAYOUT_PLAIN);
    layout_table_cell(table, "22", LAYOUT_PLAIN);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    layout_table_print(table, 0, &out);
    assert_string_equal(strbuf_str(&out), "name        n\n"
                                          "größe       1\n"
                                          "재현 연구  22\n");
}

static void a_last_column_can_wrap(void **state) {
    (void)state;
    const struct layout_column columns[] = {{.title = "a"},
                                            {.title = "b", .elastic = 6, .wraps = true}};
    AUTO_TABLE struct layout_table *table =
        layout_table_new((struct report_style){.width = 20}, columns, 2);
    layout_table_cell(table, "12345678", LAYOUT_PLAIN);
    layout_table_cell(table, "one two three four", LAYOUT_PLAIN);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    layout_table_print(table, 0, &out);
    assert_string_equal(strbuf_str(&out), "a         b\n"
                                          "12345678  one two\n"
                                          "          three four\n");
}

static void color_never_changes_the_columns(void **state) {
    (void)state;
    const struct layout_column columns[] = {{.title = "a"}, {.title = "b", .elastic = 8}};
    struct report_style style = {.color = true, .width = 20};
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, 2);
    layout_table_cell(table, "failed", LAYOUT_BAD);
    layout_table_cell(table, "0123456789012345", LAYOUT_PLAIN);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    layout_table_print(table, 0, &out);
    assert_non_null(strstr(strbuf_str(&out), "\033[31mfailed\033[0m  01234567890…\n"));
}

/* ---- every page at every width ---- */

typedef struct run *(*build_fn)(void);
static const build_fn builders[] = {build_empty, build_ok,      build_plain, build_failed,
                                    build_lost,  build_running, build_wide};

static void add_all(const struct run *run, struct report_style style, struct strbuf *out) {
    report_run_text(run, style, out);
    report_run_summary(run, style, out);
    report_timeline(run, style, out);
    report_compare_text(run, run, style, out);
    report_run_explain_text(run, style, out);
}

static void check_page(const char *page, struct report_style style) {
    for (const char *p = page; *p; p++) {
        unsigned char c = (unsigned char)*p;
        assert_true(c == '\n' || c >= 0x20);
        assert_true(c != 0x7f);
        if (style.ascii)
            assert_true(c < 0x80);
    }
    assert_true(str_is_utf8(page, strlen(page)));
    while (*page) {
        size_t length = strcspn(page, "\n");
        AUTO_FREE char *line = mem_strndup(page, length);
        if (str_width(line) > (size_t)style.width)
            fail_msg("wider than %d columns: '%s'", style.width, line);
        page += length + (page[length] == '\n');
    }
}

static void no_page_is_wider_than_the_terminal(void **state) {
    (void)state;
    static const int widths[] = {40, 41, 63, 64, 65, 80, 120, 200};
    for (size_t b = 0; b < ARRAY_LENGTH(builders); b++) {
        AUTO_RUN struct run *run = builders[b]();
        for (size_t w = 0; w < ARRAY_LENGTH(widths); w++)
            for (int variant = 0; variant < 4; variant++) {
                struct report_style style = {
                    .width = widths[w], .ascii = (variant & 1) != 0, .verbose = (variant & 2) != 0};
                AUTO_STRBUF struct strbuf out = STRBUF_INIT;
                add_all(run, style, &out);
                check_page(strbuf_str(&out), style);
            }
    }
}

/* Colour adds escape sequences of our own and nothing else: without them the page is the same. */
static void color_stands_beside_the_text(void **state) {
    (void)state;
    for (size_t b = 0; b < ARRAY_LENGTH(builders); b++) {
        AUTO_RUN struct run *run = builders[b]();
        AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
        AUTO_STRBUF struct strbuf colored = STRBUF_INIT;
        AUTO_STRBUF struct strbuf stripped = STRBUF_INIT;
        add_all(run, (struct report_style){.width = 120}, &plain);
        add_all(run, (struct report_style){.width = 120, .color = true}, &colored);
        size_t escapes = 0;
        for (const char *p = strbuf_str(&colored); *p; p++) {
            if (*p == '\033') {
                escapes++;
                p += strcspn(p, "m");
                continue;
            }
            strbuf_add_char(&stripped, *p);
        }
        assert_true(escapes > 0);
        assert_string_equal(strbuf_str(&stripped), strbuf_str(&plain));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cutting_keeps_characters_whole),
        cmocka_unit_test(control_characters_are_shown),
        cmocka_unit_test(wrapping),
        cmocka_unit_test(columns_line_up),
        cmocka_unit_test(a_last_column_can_wrap),
        cmocka_unit_test(color_never_changes_the_columns),
        cmocka_unit_test(no_page_is_wider_than_the_terminal),
        cmocka_unit_test(color_stands_beside_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
