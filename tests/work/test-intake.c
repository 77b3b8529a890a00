/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Journals → ledger: whatever happens, a record is in the ledger or still in its file, and nothing
 * of anybody else is touched. */
#include "support.h"

#include "base/str.h"
#include "work/intake.h"

static void taken_once_and_gone(void **state) {
    struct home *home = *state;
    struct made made = {.n = 1, .study = "s1"};
    AUTO_FREE char *path = leave_journal(home, &made);
    AUTO_STORE struct store *store = open_ledger(home);
    struct err err = ERR_INIT;
    must(intake_file(store, path, &err), &err);
    assert_false(is_there(path));
    assert_int_equal(count_files(home->dir), 0);

    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list_all(store, arena, &entries), 1);
    char run[ID_SIZE], part[ID_SIZE];
    assert_string_equal(entries[0].run, run_id(1, run));
    assert_string_equal(entries[0].part, part_id(1, part));
    assert_string_equal(entries[0].type, "run");
    assert_string_equal(entries[0].study, "s1");
    assert_int_equal(entries[0].started_utc_ns, UTC_BASE + NS_PER_S);
    assert_int_equal(entries[0].ended_utc_ns, UTC_BASE + NS_PER_S + 2500000000);
    assert_string_equal(entries[0].outcome, "ok");
    assert_string_equal(entries[0].purpose, "trial");
    assert_string_equal(entries[0].command, "python3 train.py --seed 1");
    assert_int_equal(strlen(entries[0].group_key), 64);
    assert_true(entries[0].has_wall && entries[0].wall_s == 2.5);
    assert_string_equal(entries[0].wall_bound, "exact");

    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    make_journal(&made, &bytes);
    AUTO_FREE void *stored = NULL;
    size_t length;
    must(store_get(store, run, part, &stored, &length, &err), &err);
    assert_int_equal(length, bytes.length);
    assert_memory_equal(stored, bytes.data, length);

    /* again, from a file and as bytes: nothing changes, the file goes */
    AUTO_FREE char *again = leave_journal(home, &made);
    must(intake_file(store, again, &err), &err);
    assert_false(is_there(again));
    bool changed = true;
    must(intake_bytes(store, bytes.data, bytes.length, &changed, &err), &err);
    assert_false(changed);
    assert_int_equal(count_entries(store), 1);
}

static void lost_runs_say_so(void **state) {
    struct home *home = *state;
    struct made made = {.n = 1, .unfinished = true};
    AUTO_FREE char *path = leave_journal(home, &made);
    AUTO_STORE struct store *store = open_ledger(home);
    struct err err = ERR_INIT;
    must(intake_file(store, path, &err), &err);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list_all(store, arena, &entries), 1);
    assert_string_equal(entries[0].outcome, "lost");
    assert_int_equal(entries[0].ended_utc_ns, 0);
    /* it ended after all: the longer journal replaces the shorter one */
    made.unfinished = false;
    AUTO_FREE char *longer = leave_journal(home, &made);
    must(intake_file(store, longer, &err), &err);
    assert_int_equal(list_all(store, arena, &entries), 1);
    assert_string_equal(entries[0].outcome, "ok");
}

static void commands_become_one_line(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf journal = STRBUF_INIT;
    strbuf_add_str(&journal, JOURNAL_MAGIC);
    char run[ID_SIZE];
    AUTO_FREE char *header =
        mem_printf("{'format':1,'type':'run','run':'%s','part':'%s'}", run_id(1, run), run);
    add(&journal, JOURNAL_HEADER, header);
    AUTO_STRBUF struct strbuf start = STRBUF_INIT;
    strbuf_add_str(&start, "{\"command\":[\"sh\",\"-c\",\"a\\nb \\u001b[31m\",\"\",\"");
    for (int i = 0; i < 3000; i++)
        strbuf_add_str(&start, "é");
    strbuf_add_str(&start, "\"]}");
    add_bytes(&journal, JOURNAL_START, start.data, start.length);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry entry;
    size_t sound;
    struct err err = ERR_INIT;
    must(intake_entry(journal.data, journal.length, false, arena, &entry, &sound, &err), &err);
    assert_int_equal(sound, journal.length);
    assert_non_null(strstr(entry.command, "sh -c 'a\\nb \\x1b[31m' '' éé"));
    assert_true(strlen(entry.command) <= 4096 && strlen(entry.command) > 4000);
    assert_true(str_is_utf8(entry.command, strlen(entry.command)));
    assert_null(entry.purpose);
    assert_null(entry.study);
}

static void live_ones_stay(void **state) {
    struct home *home = *state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct made made = {.n = 1};
    make_journal(&made, &bytes);
    AUTO_FREE char *path = leave_journal(home, &made);
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    struct err err = ERR_INIT;
    must(journal_open_append(path, &writer, &err), &err);
    AUTO_STORE struct store *store = open_ledger(home);
    assert_int_equal(intake_file(store, path, &err), -EBUSY);
    assert_true(is_there(path));
    struct intake_count count;
    err_clear(&err);
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count.live, 1);
    assert_int_equal(count.taken + count.damaged + count.left + count.unchanged, 0);
    assert_int_equal(err.code, 0);
    journal_close(&writer);
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count.taken, 1);
    assert_false(is_there(path));
}

static void marks_come_along(void **state) {
    struct home *home = *state;
    struct made made = {.n = 1, .unfinished = true};
    AUTO_FREE char *path = leave_journal(home, &made);
    AUTO_FREE char *marks =
        mem_printf("%.*s.marks", (int)(strlen(path) - strlen(JOURNAL_SUFFIX)), path);
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_add_str(&line, "no line that anybody wrote\n");
    write_bytes_to(marks, &line);
    AUTO_STORE struct store *store = open_ledger(home);
    struct err err = ERR_INIT;
    must(intake_file(store, path, &err), &err);
    assert_int_equal(count_files(home->dir), 0);
    AUTO_FREE void *stored = NULL;
    size_t length;
    char run[ID_SIZE], part[ID_SIZE];
    must(store_get(store, run_id(1, run), part_id(1, part), &stored, &length, &err), &err);
    assert_non_null(memmem(stored, length, "no line that anybody wrote", 26));
}

/* ---- damage ---- */

static void torn_tails_are_cut(void **state) {
    struct home *home = *state;
    struct made made = {.n = 1};
    AUTO_STRBUF struct strbuf whole = STRBUF_INIT, torn = STRBUF_INIT;
    make_journal(&made, &whole);
    strbuf_add(&torn, whole.data, whole.length - 7);
    AUTO_FREE char *path = journal_path(home, &made);
    write_bytes_to(path, &torn);
    AUTO_STORE struct store *store = open_ledger(home);
    struct err err = ERR_INIT;
    must(intake_file(store, path, &err), &err);
    assert_false(is_there(path));
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list_all(store, arena, &entries), 1);
    assert_string_equal(entries[0].outcome, "lost");
    /* bytes from elsewhere: only the sound part is kept */
    bool changed = false;
    made.n = 2;
    strbuf_clear(&whole);
    make_journal(&made, &whole);
    size_t sound = whole.length;
    strbuf_add_str(&whole, "garbage behind the last record");
    must(intake_bytes(store, whole.data, whole.length, &changed, &err), &err);
    AUTO_FREE void *stored = NULL;
    size_t length;
    char run[ID_SIZE], part[ID_SIZE];
    must(store_get(store, run_id(2, run), part_id(2, part), &stored, &length, &err), &err);
    assert_int_equal(length, sound);
}

static void hopeless_files_are_moved_aside(void **state) {
    struct home *home = *state;
    AUTO_STORE struct store *store = open_ledger(home);
    char run[ID_SIZE];
    AUTO_FREE char *wrong_ids =
        mem_printf("{'format':1,'type':'run','run':'../../etc','part':'%s'}", run_id(1, run));
    AUTO_FREE char *wrong_type =
        mem_printf("{'format':1,'type':'cat','run':'%s','part':'%s'}", run, run);
    const char *const headers[] = {wrong_ids, wrong_type, "{'format':1}", "{}", NULL};
    for (unsigned i = 0; i < ARRAY_LENGTH(headers); i++) {
        struct made made = {.n = i + 1};
        AUTO_FREE char *path = journal_path(home, &made);
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        strbuf_add_str(&bytes, headers[i] ? JOURNAL_MAGIC : "no journal at all");
        if (headers[i])
            add(&bytes, JOURNAL_HEADER, headers[i]);
        write_bytes_to(path, &bytes);
        struct intake_count count;
        struct err err = ERR_INIT;
        intake_all(store, &home->place, 0, &count, &err);
        assert_int_equal(count.damaged, 1);
        assert_int_equal(err.code, -EBADMSG);
        assert_non_null(strstr(err.text, path));
        assert_false(is_there(path));
        AUTO_FREE char *aside = mem_printf("%s.damaged", path);
        assert_true(is_there(aside));
        /* the same name once more: both are kept */
        write_bytes_to(path, &bytes);
        err_clear(&err);
        assert_int_equal(intake_file(store, path, &err), -EBADMSG);
        AUTO_FREE char *aside2 = mem_printf("%s.damaged-2", path);
        assert_true(is_there(aside2));
        intake_all(store, &home->place, 0, &count, &err);
        assert_int_equal(count.damaged, 0);
    }
    assert_int_equal(count_entries(store), 0);
}

static void newer_journals_wait(void **state) {
    struct home *home = *state;
    struct made made = {.n = 1};
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    make_journal(&made, &bytes);
    bytes.data[7] = '2'; /* PLJOURN2 */
    AUTO_FREE char *path = journal_path(home, &made);
    write_bytes_to(path, &bytes);
    AUTO_STORE struct store *store = open_ledger(home);
    struct intake_count count;
    struct err err = ERR_INIT;
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count.damaged, 1);
    assert_string_equal(err.id, "journal-newer");
    assert_true(is_there(path));
    made.n = 2;
    strbuf_clear(&bytes);
    strbuf_add_str(&bytes, JOURNAL_MAGIC);
    char run[ID_SIZE];
    AUTO_FREE char *header =
        mem_printf("{'format':2,'type':'run','run':'%s','part':'%s'}", run_id(2, run), run);
    add(&bytes, JOURNAL_HEADER, header);
    AUTO_FREE char *path2 = journal_path(home, &made);
    write_bytes_to(path2, &bytes);
    err_clear(&err);
    assert_int_equal(intake_file(store, path2, &err), -EBADMSG);
    assert_string_equal(err.id, "journal-newer");
    assert_true(is_there(path2));
}

static void contradictions_are_kept(void **state) {
    struct home *home = *state;
    AUTO_STORE struct store *store = open_ledger(home);
    struct made made = {.n = 1};
    AUTO_FREE char *path = leave_journal(home, &made);
    struct err err = ERR_INIT;
    must(intake_file(store, path, &err), &err);
    made.start_more = ",'note':'somebody else'";
    AUTO_FREE char *other = leave_journal(home, &made);
    assert_int_equal(intake_file(store, other, &err), -EEXIST);
    assert_string_equal(err.id, "journal-conflict");
    assert_false(is_there(other));
    AUTO_FREE char *aside = mem_printf("%s.conflict", other);
    assert_true(is_there(aside));
    assert_int_equal(count_entries(store), 1);
}

static void others_files_are_not_touched(void **state) {
    struct home *home = *state;
    const char *const names[] = {"system.journal", "x.journal", "notes.txt", ".journal",
                                 "0192-not-an-id-but-long-enough-to-be-one.journal"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        AUTO_FREE char *path = mem_printf("%s/%s", home->dir, names[i]);
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        strbuf_add_str(&bytes, "LPKSHHRH");
        write_bytes_to(path, &bytes);
    }
    /* a link and a folder with our kind of name */
    struct made made = {.n = 1};
    AUTO_FREE char *path = journal_path(home, &made);
    AUTO_FREE char *target = mem_printf("%s/notes.txt", home->dir);
    assert_int_equal(symlink(target, path), 0);
    made.n = 2;
    AUTO_FREE char *folder = journal_path(home, &made);
    assert_int_equal(mkdir(folder, 0700), 0);
    AUTO_STORE struct store *store = open_ledger(home);
    struct intake_count count;
    struct err err = ERR_INIT;
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count.taken + count.unchanged, 0);
    assert_int_equal(count_files(home->dir), ARRAY_LENGTH(names) + 2);
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        AUTO_FREE char *name = mem_printf("%s/%s", home->dir, names[i]);
        assert_true(is_there(name));
    }
}

static void strangers_folders_are_left_alone(void **state) {
    struct home *home = *state;
    if (geteuid() != 0)
        skip();
    struct made made = {.n = 1};
    AUTO_FREE char *path = leave_journal(home, &made);
    assert_int_equal(chown(home->dir, 4711, 4711), 0);
    AUTO_STORE struct store *store = open_ledger(home);
    struct intake_count count;
    struct err err = ERR_INIT;
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count.taken, 0);
    assert_true(is_there(path));
    assert_int_equal(chown(home->dir, 0, 0), 0);
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count.taken, 1);
}

/* ---- a ledger in trouble ---- */

static void a_locked_ledger_loses_nothing(void **state) {
    struct home *home = *state;
    for (unsigned n = 1; n <= 3; n++) {
        struct made made = {.n = n};
        AUTO_FREE char *path = leave_journal(home, &made);
        assert_true(is_there(path));
    }
    AUTO_STORE struct store *store = open_ledger(home);
    AUTO_STORE struct store *other = open_ledger(home);
    struct err err = ERR_INIT;
    must(store_begin(other, &err), &err);
    store_set_patience(store, 20 * NS_PER_MS);
    struct intake_count count;
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count.left, 3);
    assert_string_equal(err.id, "ledger-unavailable");
    assert_int_equal(count_files(home->dir), 3);
    store_rollback(other);
    err_clear(&err);
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count.taken, 3);
    assert_int_equal(count_files(home->dir), 0);
}

static void time_is_up(void **state) {
    struct home *home = *state;
    for (unsigned n = 1; n <= 5; n++) {
        struct made made = {.n = n};
        AUTO_FREE char *path = leave_journal(home, &made);
        assert_true(is_there(path));
    }
    AUTO_STORE struct store *store = open_ledger(home);
    struct intake_count count;
    struct err err = ERR_INIT;
    intake_all(store, &home->place, 1, &count, &err); /* a nanosecond */
    assert_int_equal(count.taken + count.left, 5);
    assert_true(count.left >= 4);
    assert_int_equal(err.code, 0);
    intake_all(store, &home->place, 600 * NS_PER_S, &count, &err);
    assert_int_equal(count.left, 0);
    assert_int_equal(count_entries(store), 5);
}

/* ---- many at once ---- */

static void take_all_in_child(const struct home *home) {
    struct err err = ERR_INIT;
    struct store *store = NULL;
    if (store_open(home->url, STORE_READ_WRITE, &store, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    struct intake_count count;
    intake_all(store, &home->place, 0, &count, &err);
    if (err.code != 0)
        fprintf(stderr, "%s: %s\n", err.id, err.text);
    store_close(store);
    _exit(err.code != 0 || count.damaged > 0);
}

static void ten_take_the_same_files(void **state) {
    struct home *home = *state;
    for (unsigned n = 1; n <= 40; n++) {
        struct made made = {.n = n, .unfinished = n % 3 == 0};
        AUTO_FREE char *path = leave_journal(home, &made);
        assert_true(is_there(path));
    }
    pid_t children[10];
    for (size_t i = 0; i < ARRAY_LENGTH(children); i++)
        if ((children[i] = fork()) == 0)
            take_all_in_child(home);
    for (size_t i = 0; i < ARRAY_LENGTH(children); i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    AUTO_STORE struct store *store = open_ledger(home);
    struct intake_count count;
    struct err err = ERR_INIT;
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count_entries(store), 40);
    assert_int_equal(count_files(home->dir), 0);
}

/* Killed anywhere: every record is in the ledger or in its file. */
static void killed_in_the_middle(void **state) {
    struct home *home = *state;
    uint64_t seed = 20261130;
    unsigned n = 0, killed = 0;
    for (unsigned round = 0; round < 40; round++) {
        char *paths[20];
        for (unsigned i = 0; i < ARRAY_LENGTH(paths); i++) {
            struct made made = {.n = ++n};
            paths[i] = leave_journal(home, &made);
        }
        pid_t child = fork();
        if (child == 0)
            take_all_in_child(home);
        /* when some are gone (the oldest go first), and at any point of the next one */
        const char *awaited = paths[next_random(&seed) % ARRAY_LENGTH(paths)];
        int status;
        pid_t ended = 0;
        while (is_there(awaited) && (ended = waitpid(child, &status, WNOHANG)) == 0)
            usleep(100);
        usleep((useconds_t)(next_random(&seed) % 3000));
        kill(child, SIGKILL);
        if (ended == 0)
            assert_int_equal(waitpid(child, &status, 0), child);
        killed += WIFSIGNALED(status) != 0;
        for (unsigned i = 0; i < ARRAY_LENGTH(paths); i++)
            free(paths[i]);
    }
    assert_true(killed > 0);
    AUTO_STORE struct store *store = open_ledger(home);
    struct intake_count count;
    struct err err = ERR_INIT;
    intake_all(store, &home->place, 0, &count, &err);
    assert_int_equal(count.damaged, 0);
    assert_int_equal(count_entries(store), n);
    assert_int_equal(count_files(home->dir), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HOME_TEST(taken_once_and_gone),
        HOME_TEST(lost_runs_say_so),
        cmocka_unit_test(commands_become_one_line),
        HOME_TEST(live_ones_stay),
        HOME_TEST(marks_come_along),
        HOME_TEST(torn_tails_are_cut),
        HOME_TEST(hopeless_files_are_moved_aside),
        HOME_TEST(newer_journals_wait),
        HOME_TEST(contradictions_are_kept),
        HOME_TEST(others_files_are_not_touched),
        HOME_TEST(strangers_folders_are_left_alone),
        HOME_TEST(a_locked_ledger_loses_nothing),
        HOME_TEST(time_is_up),
        HOME_TEST(ten_take_the_same_files),
        HOME_TEST(killed_in_the_middle),
    };
    return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}
