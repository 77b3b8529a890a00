/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is made of a journal whose writer died, any number of times and from any point on. */
#include "support.h"

#include "journal/recover.h"

#define START_MONO 1000000000

struct left {
    char *folder, *journal, *marks;
};

static int left_setup(void **state) {
    void *folder = NULL;
    if (folder_setup(&folder) != 0) {
        return -1;
    }
    struct left *left = mem_alloc(sizeof *left);
    left->folder = folder;
    left->journal = mem_printf("%s/a-b.journal", left->folder);
    left->marks = mem_printf("%s/a-b.marks", left->folder);
    *state = left;
    return 0;
}

static int left_teardown(void **state) {
    struct left *left = *state;
    void *folder = left->folder;
    free(left->journal);
    free(left->marks);
    free(left);
    return folder_teardown(&folder);
}

static void put(const char *path, const void *bytes, size_t length) {
    struct err err = ERR_INIT;
    must(file_write_atomic(path, bytes, length, 0600, &err), &err);
}

static void put_text(const char *path, const char *text) {
    put(path, text, strlen(text));
}

/* All MARKs as one array, without file_offset. */
static json_t *marks_of(const struct left *left) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    json_t *marks = json_array();
    assert_int_equal(file_read(left->journal, SIZE_MAX, &bytes), 0);
    must(journal_reader_init(&reader, bytes.data, bytes.length, &err), &err);
    while (journal_reader_next(&reader, &record)) {
        if (record.kind == JOURNAL_MARK) {
            json_t *mark = journal_record_json(&record);
            json_object_del(mark, "file_offset");
            json_array_append_new(marks, mark);
        }
    }
    assert_string_equal(reader.damage, "");
    return marks;
}

static const char three[] = "1000000005 phase load\n- items 3\n1000000009@4 phase compute\n";

static void takes_the_marks_in_once(void **state) {
    struct left *left = *state;
    struct err err = ERR_INIT;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    put(left->journal, bytes.data, bytes.length);
    put_text(left->marks, three);
    for (int i = 0; i < 3; i++) {
        must(journal_recover(left->journal, &err), &err);
        assert_int_equal(access(left->marks, F_OK), -1);
        AUTO_JSON json_t *marks = marks_of(left);
        assert_json(marks, "[{'verb':'phase','name':'load','t_ns':5},{'verb':'items','value':3},"
                           "{'pid':4,'verb':'phase','name':'compute','t_ns':9}]");
    }
}

/* The recorder had read one line; a recovery was itself killed anywhere after that. */
static void goes_on_where_it_was_ended(void **state) {
    struct left *left = *state;
    struct err err = ERR_INIT;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add(&bytes, JOURNAL_MARK, "{'t_ns':5,'verb':'phase','name':'load','file_offset':22}");
    size_t sound = bytes.length;
    put(left->journal, bytes.data, bytes.length);
    put_text(left->marks, three);
    must(journal_recover(left->journal, &err), &err);
    strbuf_clear(&bytes);
    assert_int_equal(file_read(left->journal, SIZE_MAX, &bytes), 0);
    for (size_t cut = sound; cut <= bytes.length; cut++) {
        put(left->journal, bytes.data, cut);
        put_text(left->marks, three);
        must(journal_recover(left->journal, &err), &err);
        AUTO_JSON json_t *marks = marks_of(left);
        assert_int_equal(json_array_size(marks), 3);
        assert_int_equal(json_get_int(json_array_get(marks, 2), "pid", 0), 4);
    }
}

static void leaves_the_living_alone(void **state) {
    struct left *left = *state;
    struct err err = ERR_INIT;
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    put(left->journal, bytes.data, bytes.length);
    put_text(left->marks, three);
    must(journal_open_append(left->journal, &writer, &err), &err);
    assert_int_equal(journal_recover(left->journal, &err), -EBUSY);
    assert_string_equal(err.id, "journal-live");
    assert_int_equal(access(left->marks, F_OK), 0);
    journal_close(&writer);
    must(journal_recover(left->journal, &err), &err);
}

/* No lock is held, but the monitor that HEADER names lives and may start another recorder. */
static void leaves_those_alone_whose_monitor_lives(void **state) {
    struct left *left = *state;
    struct err err = ERR_INIT;
    char boot[CLOCK_BOOT_ID_SIZE];
    clock_boot_id(boot);
    AUTO_FREE char *header = mem_printf("{'format':1,'type':'run','run':'r','boot_id':'%s',"
                                        "'pid':%d,'pid_start':%lld}",
                                        boot, (int)getpid(), (long long)start_ticks(getpid()));
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    strbuf_add_str(&bytes, JOURNAL_MAGIC);
    add(&bytes, JOURNAL_HEADER, header);
    put(left->journal, bytes.data, bytes.length);
    put_text(left->marks, three);
    assert_int_equal(journal_recover(left->journal, &err), -EBUSY);
    add(&bytes, JOURNAL_END, "{'t_ns':1}");
    put(left->journal, bytes.data, bytes.length);
    must(journal_recover(left->journal, &err), &err);
}

static void keeps_what_cannot_be_read(void **state) {
    struct left *left = *state;
    struct err err = ERR_INIT;
    put_text(left->marks, three);
    assert_int_equal(journal_recover(left->journal, &err), -ENOENT);
    put_text(left->journal, "PLJOURN1");
    assert_int_equal(journal_recover(left->journal, &err), -EBADMSG);
    assert_int_equal(access(left->marks, F_OK), 0);
    /* a link is not followed: the folder may be one that others can write to */
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    put(left->journal, bytes.data, bytes.length);
    unlink(left->marks);
    assert_int_equal(symlink("/etc/hostname", left->marks), 0);
    assert_int_equal(journal_recover(left->journal, &err), -ELOOP);
    assert_string_equal(err.id, "marks-read");
}

static void tells_bad_and_cut_off_lines(void **state) {
    struct left *left = *state;
    struct err err = ERR_INIT;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    strbuf_add(&bytes, "\7\0\0\0\1", 5); /* and the journal's own tail is torn */
    put(left->journal, bytes.data, bytes.length);
    put_text(left->marks, "- end\nwrong\n- phase lo");
    must(journal_recover(left->journal, &err), &err);
    AUTO_JSON json_t *marks = marks_of(left);
    assert_int_equal(json_array_size(marks), 3);
    assert_json(json_array_get(marks, 2), "{'bad':'the last line is cut off','line':3,"
                                          "'text':'- phase lo'}");
}

/* Without START there is no zero of time; nothing is made up. */
static void makes_up_no_time(void **state) {
    struct left *left = *state;
    struct err err = ERR_INIT;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    strbuf_add_str(&bytes, JOURNAL_MAGIC);
    add(&bytes, JOURNAL_HEADER, "{'format':1,'type':'run','run':'r'}");
    put(left->journal, bytes.data, bytes.length);
    put_text(left->marks, "1000000005 phase load\n");
    must(journal_recover(left->journal, &err), &err);
    AUTO_JSON json_t *marks = marks_of(left);
    assert_json(marks, "[{'verb':'phase','name':'load'}]");
}

int main(void) {
#define LEFT(test) cmocka_unit_test_setup_teardown(test, left_setup, left_teardown)
    const struct CMUnitTest tests[] = {
        LEFT(takes_the_marks_in_once),   LEFT(goes_on_where_it_was_ended),
        LEFT(leaves_the_living_alone),   LEFT(leaves_those_alone_whose_monitor_lives),
        LEFT(keeps_what_cannot_be_read), LEFT(tells_bad_and_cut_off_lines),
        LEFT(makes_up_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
