/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results out of files: what is read, what is refused and why, and that nothing holds us up. */
#include "recorder-fixture.h"

#include "base/clock.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <utime.h>

#define RESULTS_MAX 8

/* One run with results: its files are looked at, then the command "runs", then they are read. */
struct asked {
    struct exec_output_result results[RESULTS_MAX];
    char *paths[RESULTS_MAX];
    json_t *absent; /* owned */
};

static void asked_done(struct asked *asked) {
    for (size_t i = 0; i < RESULTS_MAX; i++)
        free(asked->paths[i]);
    json_decref(asked->absent);
}
#define AUTO_ASKED __attribute__((cleanup(asked_done)))

static void ask(struct fixture *fixture, struct asked *asked, const char *name, const char *file,
                enum extract_kind kind, const char *what) {
    size_t i = fixture->options.result_count++;
    assert_true(i < RESULTS_MAX);
    asked->paths[i] =
        file[0] == '/' ? mem_strdup(file) : mem_printf("%s/%s", fixture->folder, file);
    asked->results[i] = (struct exec_output_result){.name = name,
                                                    .unit = "1",
                                                    .file = asked->paths[i],
                                                    .label = file,
                                                    .spec = {.kind = kind, .what = what}};
    fixture->options.results = asked->results;
}

static void write_file(const struct fixture *fixture, const char *name, const char *text) {
    AUTO_FREE char *path = mem_printf("%s/%s", fixture->folder, name);
    struct err err = ERR_INIT;
    assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, &err), 0);
}

static void start(struct fixture *fixture) {
    results_begin(&fixture->recorder, false);
    fixture->recorder.shared->start = clock_now();
}

static void end(struct fixture *fixture, struct asked *asked) {
    fixture->recorder.shared->end.t_ns = 5000;
    asked->absent = results_take(&fixture->recorder);
    assert_non_null(asked->absent);
    results_done(&fixture->recorder);
}

/* The MARK of a result; NULL: none. Caller decrefs. */
static json_t *mark_of(const struct fixture *fixture, const char *name) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    assert_int_equal(file_read(fixture->recorder.writer.path, SIZE_MAX, &bytes), 0);
    assert_int_equal(journal_reader_init(&reader, bytes.data, bytes.length, &err), 0);
    while (journal_reader_next(&reader, &record) > 0) {
        json_t *json = record.kind == JOURNAL_MARK ? journal_record_json(&record) : NULL;
        if (json != NULL && strcmp(json_get_text(json, "name", ""), name) == 0)
            return json;
        json_decref(json);
    }
    return NULL;
}

static void is_absent(const struct fixture *fixture, const struct asked *asked, const char *name,
                      const char *says) {
    AUTO_JSON json_t *mark = mark_of(fixture, name);
    assert_null(mark);
    for (size_t i = 0; i < json_array_size(asked->absent); i++) {
        const json_t *entry = json_array_get(asked->absent, i);
        if (strcmp(json_get_text(entry, "name", ""), name) != 0)
            continue;
        AUTO_FREE char *text = mem_printf("%s: %s", json_get_text(entry, "reason", ""),
                                          json_get_text(entry, "detail", ""));
        if (strstr(text, says) == NULL)
            fail_msg("%s: '%s' does not say '%s'", name, text, says);
        assert_true(strncmp(json_get_text(entry, "source", ""), "file:/", 6) == 0);
        return;
    }
    fail_msg("'%s' is not among the absent ones", name);
}

static void is_number(const struct fixture *fixture, const char *name, double value) {
    AUTO_JSON json_t *mark = mark_of(fixture, name);
    assert_non_null(mark);
    double got = json_get_real(mark, "value", -1);
    assert_memory_equal(&got, &value, sizeof got);
}

/* ---- what is there ---- */

static void values_become_marks(void **state) {
    struct fixture *fixture = *state;
    struct asked asked AUTO_ASKED = {0};
    ask(fixture, &asked, "loss", "out.json", EXTRACT_JSON, "/loss");
    ask(fixture, &asked, "word", "out.json", EXTRACT_JSON, "/word");
    ask(fixture, &asked, "step", "log.csv", EXTRACT_CSV, "step");
    ask(fixture, &asked, "speed", "log.txt", EXTRACT_REGEX, "speed=([0-9.]+)");
    start(fixture);
    write_file(fixture, "out.json", "{\"loss\": 0.25, \"word\": \"nan\"}");
    write_file(fixture, "log.csv", "step,x\n1,2\n7,3\n");
    write_file(fixture, "log.txt", "speed=12.5 token/s\n");
    end(fixture, &asked);
    assert_int_equal(json_array_size(asked.absent), 0);
    is_number(fixture, "loss", 0.25);
    is_number(fixture, "step", 7);
    is_number(fixture, "speed", 12.5);
    AUTO_JSON json_t *word = mark_of(fixture, "word");
    assert_null(json_object_get(word, "value"));
    assert_string_equal(json_get_text(word, "text", ""), "nan");
    AUTO_JSON json_t *loss = mark_of(fixture, "loss");
    assert_string_equal(json_get_text(loss, "verb", ""), "result");
    assert_string_equal(json_get_text(loss, "unit", ""), "1");
    assert_string_equal(json_get_text(loss, "method", ""), "json /loss of out.json");
    AUTO_FREE char *source = mem_printf("file:%s/out.json#/loss", fixture->folder);
    assert_string_equal(json_get_text(loss, "source", ""), source);
    assert_int_equal(json_get_int(loss, "t_ns", -1), 5000);
    AUTO_JSON json_t *step = mark_of(fixture, "step");
    assert_string_equal(json_get_text(step, "method", ""), "csv step (row last) of log.csv");
}

static void nothing_asked_nothing_done(void **state) {
    struct fixture *fixture = *state;
    start(fixture);
    assert_null(results_take(&fixture->recorder));
    assert_null(fixture->recorder.results_before);
}

/* ---- what is not ---- */

static void only_what_this_run_wrote(void **state) {
    struct fixture *fixture = *state;
    struct asked asked AUTO_ASKED = {0};
    ask(fixture, &asked, "missing", "missing.json", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "young", "young.json", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "old", "old.json", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "restored", "restored.json", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "again", "again.json", EXTRACT_JSON, "/x");
    write_file(fixture, "young.json", "{\"x\": 1}"); /* by the run before, a moment ago */
    write_file(fixture, "old.json", "{\"x\": 1}");
    write_file(fixture, "again.json", "{\"x\": 1}");
    const struct utimbuf long_ago = {1000000, 1000000};
    assert_int_equal(utime(asked.paths[2], &long_ago), 0);
    start(fixture);
    write_file(fixture, "restored.json", "{\"x\": 1}");
    assert_int_equal(utime(asked.paths[3], &long_ago), 0); /* out of an archive */
    write_file(fixture, "again.json", "{\"x\": 2}");
    end(fixture, &asked);
    is_absent(fixture, &asked, "missing", "there is no such file");
    is_absent(fixture, &asked, "young", "not written by this run");
    is_absent(fixture, &asked, "old", "not written by this run");
    is_absent(fixture, &asked, "restored", "not written by this run");
    is_number(fixture, "again", 2);
}

/* Of a file that is still written only a part would be read. One whose size is not that of its
 * content is the same to the reader, and needs no luck with the time. */
static void what_changes_while_it_is_read(void **state) {
    struct fixture *fixture = *state;
    struct asked asked AUTO_ASKED = {0};
    ask(fixture, &asked, "changing", "/proc/self/status", EXTRACT_REGEX, "Pid:\\s+([0-9]+)");
    start(fixture);
    end(fixture, &asked);
    is_absent(fixture, &asked, "changing", "the file changed while it was read");
}

/* A recorder that takes over does not know how the files were: then only the time decides. */
static void only_the_time_is_known(struct fixture *fixture, bool resumed) {
    struct asked asked AUTO_ASKED = {0};
    ask(fixture, &asked, "before", "before.json", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "after", "after.json", EXTRACT_JSON, "/x");
    write_file(fixture, "before.json", "{\"x\": 1}");
    time_t now = time(NULL);
    const struct utimbuf just_before = {now - 1, now - 1};
    assert_int_equal(utime(asked.paths[0], &just_before), 0);
    fixture->recorder.shared->start = clock_now();
    write_file(fixture, "after.json", "{\"x\": 3}");
    results_begin(&fixture->recorder, resumed);
    end(fixture, &asked);
    is_absent(fixture, &asked, "before", "not written by this run");
    is_number(fixture, "after", 3);
}

static void a_successor_knows_the_time_only(void **state) {
    only_the_time_is_known(*state, true);
}

/* The command was not held up by a recorder that was slow to start. */
static void a_late_recorder_knows_the_time_only(void **state) {
    struct fixture *fixture = *state;
    atomic_store(&fixture->recorder.shared->started, true);
    only_the_time_is_known(fixture, false);
}

static void what_cannot_be_read_has_its_reason(void **state) {
    struct fixture *fixture = *state;
    struct asked asked AUTO_ASKED = {0};
    ask(fixture, &asked, "fifo", "fifo", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "folder", "", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "device", "/dev/zero", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "huge", "huge", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "garbage", "garbage", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "elsewhere", "good.json", EXTRACT_JSON, "/y");
    ask(fixture, &asked, "loop", "loop", EXTRACT_JSON, "/x");
    ask(fixture, &asked, "good", "good.json", EXTRACT_JSON, "/x"); /* the rest does not harm it */
    start(fixture);
    assert_int_equal(mkfifo(asked.paths[0], 0600), 0);
    write_file(fixture, "huge", "[");
    assert_int_equal(truncate(asked.paths[3], (off_t)65 << 20), 0);
    write_file(fixture, "garbage",
               "\x7f"
               "ELF\x01");
    write_file(fixture, "good.json", "{\"x\": 4}");
    assert_int_equal(symlink("loop", asked.paths[6]), 0);
    end(fixture, &asked);
    is_absent(fixture, &asked, "fifo", "no regular file");
    is_absent(fixture, &asked, "folder", "no regular file");
    is_absent(fixture, &asked, "device", "no regular file");
    is_absent(fixture, &asked, "huge", "64 MiB");
    is_absent(fixture, &asked, "garbage", "cannot be understood: the text is no JSON");
    is_absent(fixture, &asked, "elsewhere", "not in the file: nothing stands at '/y'");
    is_absent(fixture, &asked, "loop", "cannot be read");
    is_number(fixture, "good", 4);
}

static void secrets_are_masked(void **state) {
    struct fixture *fixture = *state;
    struct asked asked AUTO_ASKED = {0};
    ask(fixture, &asked, "token", "out.txt", EXTRACT_REGEX, "^token (.*)$");
    start(fixture);
    write_file(fixture, "out.txt",
               "token hf_"
               "abcdefghijklmnopqrstuvwxyzabcdefgh\n");
    end(fixture, &asked);
    AUTO_JSON json_t *mark = mark_of(fixture, "token");
    assert_non_null(mark);
    assert_null(strstr(json_get_text(mark, "text", ""), "abcdefghijkl"));
}

static void start_says_what_is_asked(void **state) {
    struct fixture *fixture = *state;
    struct asked asked AUTO_ASKED = {0};
    ask(fixture, &asked, "loss", "out.csv", EXTRACT_CSV, "loss");
    AUTO_JSON json_t *list = results_to_start(&fixture->options);
    const json_t *entry = json_array_get(list, 0);
    assert_string_equal(json_get_text(entry, "name", ""), "loss");
    assert_string_equal(json_get_text(entry, "csv", ""), "loss");
    assert_string_equal(json_get_text(entry, "row", ""), "last");
    assert_string_equal(json_get_text(entry, "file", ""), asked.paths[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, recorder_setup, recorder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(values_become_marks),
        TEST(nothing_asked_nothing_done),
        TEST(only_what_this_run_wrote),
        TEST(what_changes_while_it_is_read),
        TEST(a_successor_knows_the_time_only),
        TEST(a_late_recorder_knows_the_time_only),
        TEST(what_cannot_be_read_has_its_reason),
        TEST(secrets_are_masked),
        TEST(start_says_what_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
