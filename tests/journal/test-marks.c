/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of the marks file: what they become, what is wrong with the others, and that nothing stops
 * at them. */
#include "support.h"

#include "journal/marks.h"

/* ---- a file and what is read of it ---- */

struct marks {
    int fd;
    json_t *list;
};

static int marks_setup(void **state) {
    struct marks *marks = mem_alloc(sizeof *marks);
    char path[] = "/tmp/probelauf-marks-XXXXXX";
    marks->fd = mkostemp(path, O_CLOEXEC | O_APPEND);
    marks->list = json_array();
    *state = marks;
    return marks->fd < 0 || unlink(path) < 0;
}

static int marks_teardown(void **state) {
    struct marks *marks = *state;
    close(marks->fd);
    json_decref(marks->list);
    free(marks);
    return 0;
}

static void each(json_t *take_mark, void *context) {
    json_array_append_new(((struct marks *)context)->list, take_mark);
}

static void put(struct marks *marks, const void *bytes, size_t length) {
    assert_int_equal(fd_write_full(marks->fd, bytes, length), 0);
}

static void put_text(struct marks *marks, const char *text) {
    put(marks, text, strlen(text));
}

static const json_t *last(const struct marks *marks) {
    size_t count = json_array_size(marks->list);
    assert_true(count > 0);
    return json_array_get(marks->list, count - 1);
}

/* Reads one line; returns its payload without file_offset. */
static json_t *read_line(struct marks *marks, const char *line) {
    long from = (long)lseek(marks->fd, 0, SEEK_END);
    size_t before = json_array_size(marks->list);
    put_text(marks, line);
    put_text(marks, "\n");
    long end = marks_read(marks->fd, from, each, marks);
    assert_int_equal(end, from + (long)strlen(line) + 1);
    assert_int_equal(json_array_size(marks->list), before + 1);
    json_t *mark = json_deep_copy(last(marks));
    assert_int_equal(json_get_int(mark, "file_offset", -1), end);
    json_object_del(mark, "file_offset");
    return mark;
}

/* ---- lines ---- */

static void reads_each_verb(void **state) {
    static const struct {
        const char *line, *mark;
    } cases[] = {
        {"123 phase load", "{'mono_ns':123,'verb':'phase','name':'load'}"},
        {"123@7 phase compute/decode",
         "{'pid':7,'mono_ns':123,'verb':'phase','name':'compute/decode'}"},
        {"- phase load", "{'verb':'phase','name':'load'}"},
        {"-@9 end", "{'pid':9,'verb':'end'}"},
        {"- end load", "{'verb':'end','name':'load'}"},
        {"- items 12", "{'verb':'items','value':12}"},
        {"- items 1e3", "{'verb':'items','value':1000}"},
        {"- items 0", "{'verb':'items','value':0}"},
        {"- length 0.5", "{'verb':'length','value':0.5}"},
        {"  -\t batch   8  \r", "{'verb':'batch','value':8}"},
        {"- shape [8, 2048]", "{'verb':'shape','text':'[8, 2048]'}"},
        {"- note it took 50% of%20the %zz", "{'verb':'note','text':'it took 50% of the %zz'}"},
        {"- result speed 31.25 token/s",
         "{'verb':'result','name':'speed','value':31.25,'unit':'token/s'}"},
        {"- result my%20loss -1", "{'verb':'result','name':'my loss','value':-1}"},
        {"- result sum 123456789012345", "{'verb':'result','name':'sum','value':123456789012345}"},
        {"- result sum 1234567890123456789 1",
         "{'verb':'result','name':'sum','text':'1234567890123456789','unit':'1'}"},
        {"- result sum 3000000000000000000000", "{'verb':'result','name':'sum','value':3e21}"},
        {"- result loss NaN", "{'verb':'result','name':'loss','text':'NaN'}"},
        {"- result loss -inf x", "{'verb':'result','name':'loss','text':'-inf','unit':'x'}"},
        {"5@7 agent nvtx {\"event\":\"begin\",\"phase\":\"load\",\"what\":\"a%20b \\u00e9\"}",
         "{'pid':7,'mono_ns':5,'verb':'agent','name':'nvtx','data':{'event':'begin','phase':'load',"
         "'what':'a%20b é'}}"},
        {"- agent  python-hook   { \"event\": \"file\", \"n\": [1, 2.5, null, true] } ",
         "{'verb':'agent','name':'python-hook','data':{'event':'file','n':[1,2.5,null,true]}}"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_JSON json_t *mark = read_line(*state, cases[i].line);
        assert_json(mark, cases[i].mark);
    }
}

static void says_what_is_wrong(void **state) {
    static const struct {
        const char *line, *wrong;
    } cases[] = {
        {"phase load", "does not begin with a time"},
        {"-5 phase load", "does not begin with a time"},
        {"1.5 phase load", "does not begin with a time"},
        {"99999999999999999999 phase load", "does not begin with a time"},
        {"-@x phase load", "process id"},
        {"-@0 phase load", "process id"},
        {"-", "no such verb"},
        {"- begin load", "no such verb"},
        {"- phase", "missing"},
        {"- phase lode", "no such phase"},
        {"- phase unattributed", "no such phase"},
        {"- end lode", "no such phase"},
        {"- phase load now", "too many fields"},
        {"- items", "missing"},
        {"- items many", "not a number"},
        {"- items 1,5", "not a number"},
        {"- items nan", "not a number"},
        {"- items -1", "negative"},
        {"- result speed", "missing"},
        {"- result", "missing"},
        {"- result speed fast", "not a number"},
        {"- result speed 1 a b", "too many fields"},
        {"- note", "the text is missing"},
        {"- note a%00b", "%00"},
        {"- result a%00b 1", "%00"},
        {"- agent", "no such agent"},
        {"- agent slow-reader {\"event\":\"file\"}", "no such agent"},
        {"- agent nvtx", "no JSON object"},
        {"- agent nvtx [1]", "no JSON object"},
        {"- agent nvtx {\"event\":\"hello\"", "no JSON object"},
        {"- agent nvtx {\"event\":\"hello\"} x", "no JSON object"},
        {"- agent nvtx {\"event\":\"a\",\"event\":\"b\"}", "no JSON object"},
        {"- agent nvtx {\"event\":1e999}", "no JSON object"},
        {"- agent nvtx {\"event\":\"a\",\"x\":\"\\u0000\"}", "no JSON object"},
        {"- agent nvtx {\"event\":1}", "no 'event'"},
        {"- agent nvtx {}", "no 'event'"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_JSON json_t *mark = read_line(*state, cases[i].line);
        if (strstr(json_get_text(mark, "bad", ""), cases[i].wrong) == NULL) {
            fail_msg("'%s': %s", cases[i].line, json_get_text(mark, "bad", "read as a mark"));
        }
        assert_int_equal(json_get_int(mark, "line", -1), i + 1);
        assert_null(json_object_get(mark, "verb"));
        assert_string_equal(json_get_text(mark, "text", ""), cases[i].line);
    }
}

static void masks_what_an_agent_says(void **state) {
    AUTO_JSON json_t *mark =
        read_line(*state, "- agent python-hook {\"event\":\"hello\",\"password\":\"hunter2x\","
                          "\"in\":[{\"path\":\"https://me:pw1234@host/x\"}],"
                          "\"t\":\"hf_abcdefghijklmnopqrstuvwxyzABCDEFGH\"}");
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, mark);
    assert_null(strstr(strbuf_str(&text), "hunter2x"));
    assert_null(strstr(strbuf_str(&text), "pw1234"));
    assert_null(strstr(strbuf_str(&text), "hf_abc"));
    assert_non_null(strstr(strbuf_str(&text), "hello"));
}

/* Nesting costs stack: the reader of JSON stops it. */
static void bounds_what_an_agent_says(void **state) {
    char line[MARKS_LINE_MAX + 64] = "- agent nvtx {\"event\":\"a\",\"x\":";
    size_t length = strlen(line);
    memset(line + length, '[', 1500);
    AUTO_JSON json_t *deep = read_line(*state, line);
    assert_non_null(strstr(json_get_text(deep, "bad", ""), "no JSON object"));
    memset(line + length, ']', 3000);
    memset(line + length, '[', 1500);
    line[length + 3000] = '}';
    AUTO_JSON json_t *whole = read_line(*state, line);
    assert_non_null(strstr(json_get_text(whole, "bad", ""), "no JSON object"));
}

static void skips_empty_lines(void **state) {
    struct marks *marks = *state;
    put_text(marks, "\n\r\n  \n\t\n- end\n");
    assert_int_equal(marks_read(marks->fd, 0, each, marks), 14);
    assert_int_equal(json_array_size(marks->list), 1);
}

static void survives_bytes_of_any_kind(void **state) {
    struct marks *marks = *state;
    put(marks, "- note a\0b\n", 11);
    put(marks, "- note \xff\xfe\x80\n", 11);
    put(marks, "- result \xff 1\n", 13);
    marks_read(marks->fd, 0, each, marks);
    assert_int_equal(json_array_size(marks->list), 3);
    assert_non_null(strstr(json_get_text(json_array_get(marks->list, 0), "bad", ""), "NUL"));
    assert_string_equal(json_get_text(json_array_get(marks->list, 1), "text", ""),
                        "\\xff\\xfe\\x80");
    assert_string_equal(json_get_text(json_array_get(marks->list, 2), "name", ""), "\\xff");
    uint64_t random = 4;
    for (int i = 0; i < 20000; i++) {
        char line[24] = "- ";
        static const char *const starts[] = {"",       "note ",  "result ",
                                             "items ", "phase ", "agent nvtx {"};
        strcat(line, starts[next_random(&random) % ARRAY_LENGTH(starts)]);
        for (size_t k = strlen(line); k < sizeof line; k++) {
            line[k] = (char)(next_random(&random) >> 30);
        }
        put(marks, line, 1 + next_random(&random) % sizeof line);
    }
    assert_true(marks_read_rest(marks->fd, 0, each, marks) > 0);
}

/* ---- pieces ---- */

static void waits_for_the_rest_of_a_line(void **state) {
    struct marks *marks = *state;
    put_text(marks, "- phase load\n- items 1");
    long end = marks_read(marks->fd, 0, each, marks);
    assert_int_equal(end, 13);
    assert_int_equal(marks_read(marks->fd, end, each, marks), 13);
    assert_int_equal(json_array_size(marks->list), 1);
    put_text(marks, "2\n");
    assert_int_equal(marks_read(marks->fd, end, each, marks), 24);
    assert_int_equal(json_get_int(last(marks), "value", -1), 12);
}

static void says_that_the_last_line_is_cut_off(void **state) {
    struct marks *marks = *state;
    put_text(marks, "- phase load\n- items 1");
    assert_int_equal(marks_read_rest(marks->fd, 0, each, marks), 22);
    assert_int_equal(json_array_size(marks->list), 2);
    AUTO_JSON json_t *mark = json_deep_copy(last(marks));
    assert_json(mark, "{'bad':'the last line is cut off','line':2,'text':'- items 1',"
                      "'file_offset':22}");
}

static void reads_much(void **state) {
    struct marks *marks = *state;
    AUTO_STRBUF struct strbuf lines = STRBUF_INIT;
    for (int i = 0; i < 20000; i++) { /* across many pieces of the reader */
        strbuf_printf(&lines, "%d items %d\n", i, i);
    }
    put(marks, lines.data, lines.length);
    assert_int_equal(marks_read(marks->fd, 0, each, marks), lines.length);
    assert_int_equal(json_array_size(marks->list), 20000);
    for (int i = 0; i < 20000; i++) {
        const json_t *mark = json_array_get(marks->list, (size_t)i);
        assert_int_equal(json_get_int(mark, "value", -1), i);
    }
    put_text(marks, "bad\n");
    marks_read(marks->fd, (long)lines.length, each, marks);
    assert_int_equal(json_get_int(last(marks), "line", -1), 20001);
}

static void skips_long_lines(void **state) {
    struct marks *marks = *state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "- note ");
    while (text.length < MARKS_LINE_MAX) {
        strbuf_add_char(&text, 'a');
    }
    put(marks, text.data, text.length); /* just fits */
    put_text(marks, "\n");
    long from = marks_read(marks->fd, 0, each, marks);
    assert_int_equal(from, MARKS_LINE_MAX + 1);
    assert_string_equal(json_get_text(last(marks), "verb", ""), "note");

    put(marks, text.data, text.length);
    put_text(marks, "b\n- end\n");
    from = marks_read(marks->fd, from, each, marks);
    assert_int_equal(json_array_size(marks->list), 3);
    assert_non_null(json_object_get(json_array_get(marks->list, 1), "bad"));
    assert_string_equal(json_get_text(last(marks), "verb", ""), "end");

    /* one that never ends is told once, and its rest is skipped whenever it comes */
    for (int i = 0; i < 50; i++) {
        put(marks, text.data, text.length);
        from = marks_read(marks->fd, from, each, marks);
    }
    assert_int_equal(json_array_size(marks->list), 4);
    put_text(marks, "\n- items 3\n");
    marks_read(marks->fd, from, each, marks);
    assert_int_equal(json_array_size(marks->list), 5);
    assert_int_equal(json_get_int(last(marks), "value", -1), 3);
}

static void tells_a_shortened_file(void **state) {
    struct marks *marks = *state;
    put_text(marks, "- phase load\n- phase compute\n");
    long from = marks_read(marks->fd, 0, each, marks);
    assert_int_equal(ftruncate(marks->fd, 0), 0);
    put_text(marks, "- end\n");
    from = marks_read(marks->fd, from, each, marks);
    assert_int_equal(from, 6);
    assert_int_equal(json_array_size(marks->list), 4);
    assert_non_null(strstr(json_get_text(json_array_get(marks->list, 2), "bad", ""), "shortened"));
    assert_string_equal(json_get_text(last(marks), "verb", ""), "end");
    close(marks->fd);
    assert_int_equal(marks_read(marks->fd, 0, each, marks), -EBADF);
    marks->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void masks_secrets(void **state) {
    AUTO_JSON json_t *note =
        read_line(*state, "- note with --token=hf_abcdefghijklmnopqrstuvwxyz0123456789");
    AUTO_JSON json_t *bad = read_line(*state, "token hf_abcdefghijklmnopqrstuvwxyz0123456789");
    assert_null(strstr(json_get_text(note, "text", "hf_abc"), "hf_abc"));
    assert_null(strstr(json_get_text(bad, "text", "hf_abc"), "hf_abc"));
}

/* ---- times ---- */

static void places_marks_in_time(void **state) {
    (void)state;
    static const struct {
        const char *mark;
        int64_t now;
        const char *placed;
    } cases[] = {
        {"{'mono_ns':150,'verb':'end'}", 200, "{'verb':'end','t_ns':50}"},
        {"{'verb':'end'}", 200, "{'verb':'end','t_ns':100,'clock':'reading'}"},
        {"{'mono_ns':99,'verb':'end'}", 200, "{'verb':'end','t_ns':100,'clock':'reading'}"},
        {"{'mono_ns':201,'verb':'end'}", 200, "{'verb':'end','t_ns':100,'clock':'reading'}"},
        {"{'mono_ns':201,'verb':'end'}", -1, "{'verb':'end','t_ns':101}"},
        {"{'mono_ns':99,'verb':'end'}", -1, "{'verb':'end'}"},
        {"{'verb':'end'}", -1, "{'verb':'end'}"},
        {"{'bad':'x','line':1}", 200, "{'bad':'x','line':1}"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_JSON json_t *mark = parse(cases[i].mark);
        marks_place(mark, 100, cases[i].now);
        assert_json(mark, cases[i].placed);
    }
}

/* ---- senders ---- */

static void writes_lines_that_are_read(void **state) {
    struct marks *marks = *state;
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    struct err err = ERR_INIT;
    must(marks_add_line(&line, 5, 7, "result", "my loss %20", "1e-3", "per 100%", &err), &err);
    must(marks_add_line(&line, -1, 0, "note", " two\nlines  and 50%41 ", NULL, NULL, &err), &err);
    must(marks_add_line(&line, -1, 0, "end", NULL, NULL, NULL, &err), &err);
    put(marks, line.data, line.length);
    marks_read_rest(marks->fd, 0, each, marks);
    assert_int_equal(json_array_size(marks->list), 3);
    const json_t *result = json_array_get(marks->list, 0);
    assert_string_equal(json_get_text(result, "name", ""), "my loss %20");
    assert_string_equal(json_get_text(result, "unit", ""), "per 100%");
    assert_int_equal(json_get_int(result, "mono_ns", -1), 5);
    assert_int_equal(json_get_int(result, "pid", -1), 7);
    assert_string_equal(json_get_text(json_array_get(marks->list, 1), "text", ""),
                        " two\nlines  and 50%41 ");
}

static void refuses_marks_that_are_none(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    struct err err = ERR_INIT;
    static const char *const cases[][4] = {
        {"phase", "lode", NULL, NULL}, {"phase", NULL, NULL, NULL}, {"begin", "load", NULL, NULL},
        {"items", "x", NULL, NULL},    {"result", "a", NULL, NULL}, {"result", "", "1", NULL},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        assert_int_equal(
            marks_add_line(&line, -1, 0, cases[i][0], cases[i][1], cases[i][2], cases[i][3], &err),
            -EINVAL);
        assert_string_equal(err.id, "mark-invalid");
    }
    AUTO_FREE char *large = mem_alloc(MARKS_LINE_MAX + 1);
    memset(large, 'a', MARKS_LINE_MAX);
    assert_int_equal(marks_add_line(&line, -1, 0, "note", large, NULL, NULL, &err), -EINVAL);
    assert_int_equal(line.length, 0);
}

/* A flood of an agent's lines is cut off and said; marks of the user in between are all there. */
static void bounds_the_lines_of_agents(void **state) {
    struct marks *marks = *state;
    for (int i = 0; i < 25000; i++) {
        put_text(marks, "1@7 agent nvtx {\"event\":\"begin\",\"phase\":\"load\"}\n");
        if (i % 5000 == 0) {
            put_text(marks, "- phase load\n");
        }
    }
    long end = marks_read(marks->fd, 0, each, marks);
    assert_int_equal(end, lseek(marks->fd, 0, SEEK_END));
    size_t of_agent = 0, of_user = 0, bad = 0;
    for (size_t i = 0; i < json_array_size(marks->list); i++) {
        const json_t *mark = json_array_get(marks->list, i);
        of_agent += strcmp(json_get_text(mark, "verb", ""), "agent") == 0;
        of_user += strcmp(json_get_text(mark, "verb", ""), "phase") == 0;
        bad += json_object_get(mark, "bad") != NULL;
    }
    assert_int_equal(of_agent, 20000);
    assert_int_equal(of_user, 5);
    assert_int_equal(bad, 1);
    put_text(marks, "1@7 agent nvtx {\"event\":\"hello\"}\n"); /* the next reading begins anew */
    size_t before = json_array_size(marks->list);
    (void)marks_read(marks->fd, end, each, marks);
    assert_int_equal(json_array_size(marks->list), before + 1);
    assert_string_equal(json_get_text(last(marks), "verb", ""), "agent");
}

int main(void) {
#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, marks_setup, marks_teardown)
    const struct CMUnitTest tests[] = {
        WITH_FILE(reads_each_verb),
        WITH_FILE(says_what_is_wrong),
        WITH_FILE(masks_what_an_agent_says),
        WITH_FILE(bounds_what_an_agent_says),
        WITH_FILE(skips_empty_lines),
        WITH_FILE(survives_bytes_of_any_kind),
        WITH_FILE(waits_for_the_rest_of_a_line),
        WITH_FILE(says_that_the_last_line_is_cut_off),
        WITH_FILE(reads_much),
        WITH_FILE(bounds_the_lines_of_agents),
        WITH_FILE(skips_long_lines),
        WITH_FILE(tells_a_shortened_file),
        WITH_FILE(masks_secrets),
        cmocka_unit_test(places_marks_in_time),
        WITH_FILE(writes_lines_that_are_read),
        cmocka_unit_test(refuses_marks_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
