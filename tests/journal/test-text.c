/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text view: every record, decoded samples, no control character. */
#include "support.h"

#include "journal/chunk.h"

static void shows_every_record(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf samples = STRBUF_INIT;
    AUTO_STRBUF struct strbuf more = STRBUF_INIT;
    struct err err = ERR_INIT;
    struct chunk_coder coder = {0};
    uint32_t ids[2] = {1, 2};
    int64_t times[2] = {1500 * NS_PER_MS, -1}, values[4] = {5, 6, CHUNK_ABSENT, -7};
    const struct chunk chunk = {ids, 2, times, 2, values};
    strbuf_add_str(&bytes, JOURNAL_MAGIC);
    add(&bytes, JOURNAL_HEADER, "{'run':'r'}");
    add(&bytes, JOURNAL_SERIES, "{'id':1,'name':'tree.\\u001b[2Jcpu'}");
    chunk_encode_next(&coder, &chunk, &samples);
    add_bytes(&bytes, JOURNAL_CHUNK, samples.data, samples.length);
    chunk_encode_next(&coder, &chunk, &more);
    add_bytes(&bytes, JOURNAL_CHUNK, more.data, more.length);
    add_bytes(&bytes, JOURNAL_CHUNK, "?", 1);
    add_bytes(&bytes, 99, "\x1b]0;x\a", 6);
    strbuf_add_str(&bytes, "torn");
    must(journal_to_text(bytes.data, bytes.length, &text, &err), &err);
    static const char expected[] = "8 HEADER {\"run\":\"r\"}\n"
                                   "35 SERIES {\"id\":1,\"name\":\"tree.\\u001B[2Jcpu\"}\n"
                                   "86 CHUNK {\"series\":2,\"ticks\":2,\"bytes\":15}\n"
                                   "    t=1.500 tree.\\x1b[2Jcpu=5\n"
                                   "    t=-0.001 tree.\\x1b[2Jcpu=6 #2=-7\n"
                                   "117 CHUNK {\"series\":2,\"ticks\":2,\"bytes\":16}\n"
                                   "    t=1.500 tree.\\x1b[2Jcpu=5\n"
                                   "    t=-0.001 tree.\\x1b[2Jcpu=6 #2=-7\n"
                                   "149 CHUNK (the samples are not readable near byte 1)\n"
                                   "166 UNKNOWN \\x1b]0;x\\x07\n"
                                   "# the record at byte 188 is cut off after 4 bytes\n";
    assert_string_equal(strbuf_str(&text), expected);
    chunk_coder_done(&coder);
}

/* DEL, C1 and characters that turn the direction of writing: still JSON, but nothing a terminal
 * acts on. */
static void shows_no_control_character(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;
    strbuf_add_str(&bytes, JOURNAL_MAGIC);
    add(&bytes, JOURNAL_TEXT, "{'text':'a\x7f\xc2\x9b\xe2\x80\xae\xc3\xa4\xed\x95\x9c'}");
    must(journal_to_text(bytes.data, bytes.length, &text, &err), &err);
    assert_string_equal(strbuf_str(&text),
                        "8 TEXT {\"text\":\"a\\u007F\\u009B\\u202E\xc3\xa4\xed\x95\x9c\"}\n");
}

static void refuses_other_files(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;
    assert_int_equal(journal_to_text("hello", 5, &text, &err), -EBADMSG);
    assert_int_equal(text.length, 0);
}

/* A small file must not become a large text. */
static void is_bounded(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;
    strbuf_add_str(&bytes, JOURNAL_MAGIC);
    const uint8_t bomb[] = {1, 1, 0x80, 0x80, 4, 0, 0, 0, 0, 0, 0}; /* 65536 equal ticks */
    for (int i = 0; i < 1000; i++) {
        add_bytes(&bytes, JOURNAL_CHUNK, bomb, sizeof bomb);
    }
    must(journal_to_text(bytes.data, bytes.length, &text, &err), &err);
    assert_true(text.length < ((size_t)300 << 20));
    assert_non_null(strstr(text.data + text.length - 200, "not shown"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_every_record),
        cmocka_unit_test(shows_no_control_character),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
