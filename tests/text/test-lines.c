/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line splitter: the same lines however the stream was cut, constant memory, nothing of a
 * terminal left in them. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "text/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Lines as "offset:text|". */
static void note_line(const char *line, size_t length, uint64_t offset, void *context) {
    assert_int_equal(strlen(line), length);
    assert_true(length > 0 && length <= LINE_MAX_BYTES);
    strbuf_printf(context, "%llu:%s|", (unsigned long long)offset, line);
}

static void split(const char *bytes, size_t length, size_t step, struct strbuf *out) {
    struct line_splitter *splitter = line_splitter_new(note_line, out);
    for (size_t at = 0; at < length; at += step)
        line_splitter_feed(splitter, bytes + at, length - at < step ? length - at : step);
    line_splitter_finish(splitter);
    line_splitter_free(splitter);
}

static void test_lines(void **state) {
    static const struct {
        const char *bytes, *expected;
    } cases[] = {
        {"one\ntwo\n", "0:one|4:two|"},
        {"no end", "0:no end|"},
        {"crlf\r\nx", "0:crlf|6:x|"},
        {"\n\n\r\nx\n", "4:x|"},
        {" 10%|#  |\r 20%|## |\r100%|###|\n", "0: 10%|#  ||10: 20%|## ||20:100%|###||"},
        {"\x1b[31mred\x1b[0m and \x1b[1;38;5;12mblue\x1b[K\n", "0:red and blue|"},
        {"\x1b]0;title\x07text\n", "0:text|"},
        {"\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\\n", "0:link|"},
        {"\x1bPdevice control\x1b\\a\x1b_app\x1b\\b\x1b^pm\x1b\\c\n", "0:abc|"},
        {"\x1b(Bascii\x1b)0\x1b=x\x1b>\n", "0:asciix|"},
        {"\x1b]never ended\nnext line\n", "14:next line|"},
        {"\x1b[1;2\nnext\n", "6:next|"},
        {"\x1b[12\x1b[31mx\n", "0:x|"},
        {"\x1b]0;cut\x1b[32mx\n", "0:x|"},
        {"a\tb\x08\x08\x07\x01"
         "c\x7f"
         "d\n",
         "0:a\tbcd|"},
        {"\x1b[2J\n\x1b[H", ""},
        {"caf\xc3\xa9 \xed\x95\x9c\n", "0:caf\xc3\xa9 \xed\x95\x9c|"},
        {"x\x1b\x1b[0my\n", "0:xy|"},
        {"\x1b[3\xc3\xa9!\n", "0:\xc3\xa9!|"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        for (size_t step = 1; step <= strlen(cases[i].bytes); step++) {
            AUTO_STRBUF struct strbuf out = STRBUF_INIT;
            split(cases[i].bytes, strlen(cases[i].bytes), step, &out);
            assert_string_equal(strbuf_str(&out), cases[i].expected);
        }
    }
}

static void test_nul_bytes(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    split("a\0b\nc\0\0\n\0\n", 10, 3, &out);
    assert_string_equal(strbuf_str(&out), "0:ab|4:c|");
}

static void test_long_line(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    AUTO_STRBUF struct strbuf expected = STRBUF_INIT;
    for (int i = 0; i < 50000; i++)
        strbuf_add_char(&bytes, (char)('a' + i % 26));
    strbuf_add_str(&bytes, "\nnext\n");
    split(bytes.data, bytes.length, 4095, &out);
    strbuf_add_str(&expected, "0:");
    strbuf_add(&expected, bytes.data, LINE_MAX_BYTES);
    strbuf_add_str(&expected, "|50001:next|");
    assert_string_equal(strbuf_str(&out), strbuf_str(&expected));
}

static void test_tells_what_it_cut(void **state) {
    (void)state;
    char bytes[LINE_MAX_BYTES + 1];
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    memset(bytes, 'x', sizeof bytes);
    static const struct {
        size_t length, step;
        bool cut;
    } cases[] = {
        {LINE_MAX_BYTES, 1, false},
        {LINE_MAX_BYTES, 4096, false},
        {LINE_MAX_BYTES + 1, 1, true},
        {LINE_MAX_BYTES + 1, LINE_MAX_BYTES + 1, true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct line_splitter *splitter = line_splitter_new(note_line, &out);
        for (size_t at = 0; at < cases[i].length; at += cases[i].step) {
            size_t left = cases[i].length - at;
            line_splitter_feed(splitter, bytes + at, left < cases[i].step ? left : cases[i].step);
        }
        assert_int_equal(line_splitter_has_cut(splitter), cases[i].cut);
        line_splitter_feed(splitter, "\n", 1);
        assert_int_equal(line_splitter_has_cut(splitter), cases[i].cut);
        (void)line_splitter_free(splitter);
    }
}

static void test_hole(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    struct line_splitter *splitter = line_splitter_new(note_line, &out);
    line_splitter_feed(splitter, "one\ntw", 6);
    line_splitter_skip(splitter, 0); /* no hole */
    line_splitter_skip(splitter, 1000);
    line_splitter_feed(splitter, "rest\x1b[0m\nthree\n", 15);
    line_splitter_feed(splitter, "\x1b]0;", 4);
    line_splitter_skip(splitter, 10);
    line_splitter_finish(splitter);
    line_splitter_free(splitter);
    assert_string_equal(strbuf_str(&out), "0:one|1015:three|");
}

/* Random pieces of terminal output: cutting anywhere changes nothing. */
static void test_any_cut(void **state) {
    static const char alphabet[] = "ab \x1b\x1b[]0;m\\\x07\r\n\tP(\x9b\xc3";
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        char bytes[64];
        AUTO_STRBUF struct strbuf whole = STRBUF_INIT;
        AUTO_STRBUF struct strbuf cut = STRBUF_INIT;
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            bytes[i] = alphabet[(seed >> 33) % (sizeof alphabet - 1)];
        }
        split(bytes, sizeof bytes, sizeof bytes, &whole);
        split(bytes, sizeof bytes, 1 + (size_t)round % 7, &cut);
        assert_string_equal(strbuf_str(&whole), strbuf_str(&cut));
        assert_null(strchr(strbuf_str(&whole), '\x1b'));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_long_line), cmocka_unit_test(test_tells_what_it_cut),
        cmocka_unit_test(test_hole),      cmocka_unit_test(test_any_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
