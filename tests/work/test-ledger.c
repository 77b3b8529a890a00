/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Check, rebuild, purge; journals as a stream: the same ledger on the other side, whatever is cut,
 * repeated or damaged. */
#include "support.h"

#include "base/digest.h"
#include "base/uuid.h"
#include "work/annotate.h"
#include "work/intake.h"
#include "work/ledger.h"
#include "work/runs.h"

#include <sqlite3.h>

static void raw_sql(const struct home *home, const char *sql) {
    AUTO_FREE char *path = mem_printf("%s/ledger.db", home->path);
    sqlite3 *db;
    char *why = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s", why);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void remember(const char *run, const char *part, const char *what, void *context) {
    (void)part;
    if (context)
        strbuf_printf(context, "%s: %s\n", run ? run : "-", what);
}

static size_t check(const struct home *home, struct strbuf *what) {
    AUTO_STORE struct store *store = open_ledger(home);
    struct err err = ERR_INIT;
    size_t problems = 999;
    must(ledger_check(store, remember, what, &problems, &err), &err);
    return problems;
}

/* Runs 1…count, every third one lost, every fourth one of study "s4"; one annotation about run 1.
 */
static void fill(const struct home *home, unsigned count) {
    AUTO_STORE struct store *store = open_ledger(home);
    struct err err = ERR_INIT;
    for (unsigned n = 1; n <= count; n++) {
        struct made made = {.n = n, .unfinished = n % 3 == 0, .study = n % 4 == 0 ? "s4" : NULL};
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        bool changed = false;
        make_journal(&made, &bytes);
        must(intake_bytes(store, bytes.data, bytes.length, &changed, &err), &err);
        assert_true(changed);
    }
    char id[ID_SIZE], event[UUID_TEXT_SIZE];
    struct annotation annotation = {.invalid = true, .why = "x"};
    must(annotate_run(&home->place, store, run_id(1, id), &annotation, event, &err), &err);
    assert_int_equal(count_entries(store), count + 1);
}

/* Everything the index and the journals say, as text: equal ledgers have equal texts. */
static void describe(const struct home *home, struct strbuf *out) {
    AUTO_STORE struct store *store = open_ledger(home);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    size_t count = list_all(store, arena, &entries);
    struct err err = ERR_INIT;
    for (size_t i = 0; i < count; i++) {
        const struct store_entry *e = &entries[i];
        AUTO_FREE void *bytes = NULL;
        size_t length;
        char digest[SHA256_HEX_SIZE];
        must(store_get(store, e->run, e->part, &bytes, &length, &err), &err);
        digest_sha256(bytes, length, digest);
        strbuf_printf(out, "%s %s %s %s %s %lld %lld %s %s %s %s %d %.17g %s %s\n", e->run, e->part,
                      e->type, e->about ? e->about : "-", e->study ? e->study : "-",
                      (long long)e->started_utc_ns, (long long)e->ended_utc_ns,
                      e->outcome ? e->outcome : "-", e->purpose ? e->purpose : "-",
                      e->command ? e->command : "-", e->group_key ? e->group_key : "-", e->has_wall,
                      e->wall_s, e->wall_bound ? e->wall_bound : "-", digest);
    }
}

/* ---- check and rebuild ---- */

static void finds_and_repairs(void **state) {
    (void)state;
    const struct {
        const char *sql, *word;
        size_t problems;
        bool new_file;
    } cases[] = {
        {"UPDATE entry SET outcome = 'ok' WHERE outcome = 'lost'", "differs from its journal", 2,
         false},
        {"UPDATE entry SET wall_s = wall_s + 1e-9 WHERE run LIKE '%00005'", "differs", 1, false},
        {"UPDATE entry SET ended_utc_ns = 1 WHERE run LIKE '%00003'", "differs", 1, false},
        {"UPDATE entry SET about = NULL WHERE type = 'event'", "differs", 1, false},
        {"UPDATE entry SET command = 'rm' WHERE run LIKE '%00005'", "differs", 1, false},
        {"DELETE FROM entry", "no row", 9, false},
        {"PRAGMA foreign_keys = OFF; UPDATE entry SET part = 'x' WHERE run LIKE '%00005'",
         "without its journal", 1, false},
        {"UPDATE meta SET value = 0; UPDATE entry SET outcome = 'ok'", "older version", 1, false},
        {"DELETE FROM meta", "older version", 1, false},
        {"DROP TABLE meta", "meta", 1, true},
        {"DROP INDEX entry_by_tail", "entry_by_tail", 1, true},
        {"DROP TABLE entry", "entry", 9, true},
        {"CREATE VIEW guest AS SELECT 1", "guest", 1, true},
        /* a journal under another's ids */
        {"UPDATE journal SET part = part || 'x' WHERE run LIKE '%00005';"
         "UPDATE entry SET part = part || 'x' WHERE run LIKE '%00005'",
         "belongs to another run", 1, true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        void *own = NULL;
        assert_int_equal(home_setup(&own), 0);
        struct home *home = own;
        AUTO_STRBUF struct strbuf before = STRBUF_INIT, after = STRBUF_INIT, what = STRBUF_INIT;
        fill(home, 8);
        describe(home, &before);
        assert_int_equal(check(home, NULL), 0);
        raw_sql(home, cases[i].sql);
        size_t problems = check(home, &what);
        if (problems < cases[i].problems || !strstr(strbuf_str(&what), cases[i].word))
            fail_msg("case %zu: %zu: %s", i, problems, strbuf_str(&what));
        struct ledger_rebuilt rebuilt;
        struct err err = ERR_INIT;
        must(ledger_rebuild(home->url, &rebuilt, &err), &err);
        assert_int_equal(rebuilt.journals, 9);
        assert_int_equal(rebuilt.unreadable, 0);
        if ((rebuilt.aside != NULL) != cases[i].new_file)
            fail_msg("case %zu: %s", i, rebuilt.aside ? "a new file" : "no new file");
        free(rebuilt.aside);
        what.length = 0;
        if (check(home, &what) != 0)
            fail_msg("case %zu: after the rebuild: %s", i, strbuf_str(&what));
        describe(home, &after);
        assert_string_equal(strbuf_str(&after), strbuf_str(&before));
        home_teardown(&own);
    }
}

static void rows_without_journal_go(void **state) {
    struct home *home = *state;
    fill(home, 8);
    raw_sql(home, "PRAGMA foreign_keys = OFF; DELETE FROM journal WHERE run LIKE '%00005'");
    assert_true(check(home, NULL) > 0);
    struct ledger_rebuilt rebuilt;
    struct err err = ERR_INIT;
    must(ledger_rebuild(home->url, &rebuilt, &err), &err);
    assert_null(rebuilt.aside);
    assert_int_equal(rebuilt.journals, 8);
    assert_int_equal(check(home, NULL), 0);
    AUTO_STORE struct store *store = open_ledger(home);
    assert_int_equal(count_entries(store), 8);
}

static void damaged_journals_are_left_behind(void **state) {
    struct home *home = *state;
    fill(home, 8);
    raw_sql(home, "UPDATE journal SET content = zeroblob(stored_length) WHERE run LIKE '%00005'");
    AUTO_STRBUF struct strbuf what = STRBUF_INIT;
    assert_int_equal(check(home, &what), 1);
    char id[ID_SIZE];
    assert_non_null(strstr(strbuf_str(&what), run_id(5, id)));
    struct ledger_rebuilt rebuilt;
    struct err err = ERR_INIT;
    must(ledger_rebuild(home->url, &rebuilt, &err), &err);
    assert_int_equal(rebuilt.journals, 8);
    assert_int_equal(rebuilt.unreadable, 1);
    assert_true(is_there(rebuilt.aside));
    free(rebuilt.aside);
    assert_int_equal(check(home, NULL), 0);
}

/* A page of the index destroyed on disk: opening may work, the rows are gone, the journals are not.
 */
static void a_destroyed_index_is_rebuilt(void **state) {
    struct home *home = *state;
    fill(home, 60);
    AUTO_STRBUF struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
    describe(home, &before);
    AUTO_FREE char *path = mem_printf("%s/ledger.db", home->path);
    sqlite3 *db;
    sqlite3_stmt *row;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT rootpage FROM sqlite_schema WHERE name ="
                                        " 'entry_by_time'",
                                        -1, &row, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    long page = sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
    char garbage[4096];
    memset(garbage, 0x5a, sizeof(garbage));
    assert_int_equal(pwrite(fd, garbage, sizeof(garbage), (page - 1) * 4096), 4096);
    assert_true(check(home, NULL) > 0);
    struct ledger_rebuilt rebuilt;
    struct err err = ERR_INIT;
    must(ledger_rebuild(home->url, &rebuilt, &err), &err);
    assert_int_equal(rebuilt.journals, 61);
    free(rebuilt.aside);
    assert_int_equal(check(home, NULL), 0);
    describe(home, &after);
    assert_string_equal(strbuf_str(&after), strbuf_str(&before));
}

static void rebuild_never_makes_things_worse(void **state) {
    struct home *home = *state;
    AUTO_FREE char *path = mem_printf("%s/ledger.db", home->path);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (unsigned i = 0; i < 20; i++)
        strbuf_add_str(&text, "chapter one of my thesis ");
    write_bytes_to(path, &text);
    struct ledger_rebuilt rebuilt = {0};
    struct err err = ERR_INIT;
    assert_true(ledger_rebuild(home->url, &rebuilt, &err) < 0);
    assert_string_equal(err.id, "ledger-damaged");
    AUTO_STRBUF struct strbuf now = STRBUF_INIT;
    assert_int_equal(file_read(path, 1 << 20, &now), 0);
    assert_string_equal(strbuf_str(&now), strbuf_str(&text));
    assert_int_equal(count_files(home->path), 2); /* and the journal folder: nothing else is left */
}

/* Rows of an older version are derived anew by the next command that reads; those of a newer one
 * are left alone, until this program adds one of its own. */
static void follows_the_rules_of_its_time(void **state) {
    struct home *home = *state;
    fill(home, 8);
    AUTO_STRBUF struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
    describe(home, &before);
    raw_sql(home, "UPDATE meta SET value = 0; UPDATE entry SET outcome = 'old'");
    struct runs *runs = NULL;
    struct err err = ERR_INIT;
    must(runs_open(&home->place, &runs, &err), &err);
    assert_string_equal(runs_warning(runs), "");
    runs_close(runs);
    describe(home, &after);
    assert_string_equal(strbuf_str(&after), strbuf_str(&before));
    assert_int_equal(check(home, NULL), 0);

    raw_sql(home, "UPDATE meta SET value = 99; UPDATE entry SET outcome = 'new'");
    must(runs_open(&home->place, &runs, &err), &err);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    int derivation = 0;
    assert_int_equal(list_all(runs_store(runs), arena, &entries), 9);
    assert_string_equal(entries[0].outcome, "new");
    runs_close(runs);
    assert_int_equal(check(home, NULL), 0);
    struct made made = {.n = 50};
    AUTO_FREE char *path = leave_journal(home, &made);
    AUTO_STORE struct store *store = open_ledger(home);
    must(store_get_derivation(store, &derivation, &err), &err);
    assert_int_equal(derivation, 99);
    must(intake_file(store, path, &err), &err);
    must(store_get_derivation(store, &derivation, &err), &err);
    assert_int_equal(derivation, STORE_DERIVATION);
}

/* ---- purge ---- */

static void chooses_what_to_purge(void **state) {
    struct home *home = *state;
    fill(home, 12);
    AUTO_STORE struct store *store = open_ledger(home);
    AUTO_ARENA struct arena *arena = arena_new();
    char one[ID_SIZE], four[ID_SIZE], none[ID_SIZE];
    const char *const named[] = {run_id(1, one), run_id(4, four), run_id(99, none), one};
    int64_t fifth = UTC_BASE + 5 * NS_PER_S;
    const struct {
        struct ledger_purge what;
        size_t count;
    } cases[] = {
        {{0}, 0},
        {{.study = "s4"}, 3},
        {{.study = "none"}, 0},
        {{.older_than_utc_ns = fifth}, 4},
        {{.study = "s4", .older_than_utc_ns = fifth}, 1},
        {{.runs = named, .run_count = 4}, 2},
        {{.runs = named, .run_count = 4, .study = "s4"}, 1},
        {{.runs = named, .run_count = 1, .study = "s4"}, 0},
        {{.older_than_utc_ns = INT64_MAX}, 12},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const char *const *runs = NULL;
        size_t count = 99;
        struct err err = ERR_INIT;
        must(ledger_purge_choose(store, &cases[i].what, arena, &runs, &count, &err), &err);
        if (count != cases[i].count)
            fail_msg("case %zu: %zu", i, count);
    }
    assert_int_equal(count_entries(store), 13); /* chosen is not deleted */
    struct err err = ERR_INIT;
    size_t deleted;
    must(store_purge(store, named, 1, &deleted, &err), &err);
    assert_int_equal(deleted, 2); /* with what was said about it */
}

/* ---- streams ---- */

static void export_to(const struct home *home, const char *path, size_t expected) {
    AUTO_STORE struct store *store = open_ledger(home);
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct err err = ERR_INIT;
    size_t count = 0;
    must(ledger_export(store, fd, &count, &err), &err);
    assert_int_equal(count, expected);
}

static int import_from(const struct home *home, const char *path, struct ledger_imported *imported,
                       struct err *err) {
    AUTO_STORE struct store *store = open_ledger(home);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    return ledger_import(store, fd, imported, err);
}

static void the_same_ledger_on_the_other_side(void **state) {
    struct home *home = *state;
    void *own = NULL;
    assert_int_equal(home_setup(&own), 0);
    struct home *away = own;
    fill(home, 700); /* more than one batch */
    AUTO_FREE char *stream = mem_printf("%s/stream", home->path);
    export_to(home, stream, 701);
    struct ledger_imported imported;
    struct err err = ERR_INIT;
    must(import_from(away, stream, &imported, &err), &err);
    assert_int_equal(imported.taken, 701);
    assert_int_equal(imported.unchanged + imported.damaged, 0);
    AUTO_STRBUF struct strbuf here = STRBUF_INIT, there = STRBUF_INIT;
    describe(home, &here);
    describe(away, &there);
    assert_string_equal(strbuf_str(&here), strbuf_str(&there));
    must(import_from(away, stream, &imported, &err), &err);
    assert_int_equal(imported.taken, 0);
    assert_int_equal(imported.unchanged, 701);
    there.length = 0;
    describe(away, &there);
    assert_string_equal(strbuf_str(&here), strbuf_str(&there));
    assert_int_equal(check(away, NULL), 0);
    home_teardown(&own);
}

/* Through a pipe, several streams in a row, a single journal file. */
static void any_descriptor(void **state) {
    struct home *home = *state;
    fill(home, 3);
    AUTO_FREE char *stream = mem_printf("%s/stream", home->path);
    export_to(home, stream, 4);
    AUTO_FREE char *command = mem_printf("cat '%s' '%s'", stream, stream);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    struct ledger_imported imported;
    struct err err = ERR_INIT;
    {
        AUTO_STORE struct store *store = open_ledger(home);
        must(ledger_import(store, fileno(pipe), &imported, &err), &err);
    }
    pclose(pipe);
    assert_int_equal(imported.unchanged, 8);
    struct made made = {.n = 77};
    AUTO_FREE char *single = leave_journal(home, &made);
    must(import_from(home, single, &imported, &err), &err);
    assert_int_equal(imported.taken, 1);
    assert_true(is_there(single));
}

/* A stream cut anywhere: every journal that came whole is taken in, and the cut is told, at every
 * single byte. */
static void cut_anywhere(void **state) {
    struct home *home = *state;
    fill(home, 3);
    AUTO_FREE char *path = mem_printf("%s/stream", home->path);
    AUTO_FREE char *cut = mem_printf("%s/cut", home->path);
    export_to(home, path, 4);
    AUTO_STRBUF struct strbuf stream = STRBUF_INIT;
    assert_int_equal(file_read(path, 1 << 20, &stream), 0);
    /* where each journal ends */
    size_t ends[4], at = 10;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t length;
        memcpy(&length, stream.data + at, 8);
        ends[i] = at += 8 + (size_t)length;
    }
    assert_int_equal(at + 16, stream.length);
    raw_sql(home, "DELETE FROM journal");
    for (size_t length = 1; length < stream.length; length += length < 30 ? 1 : 13) {
        struct strbuf piece = {.data = stream.data, .length = length};
        write_bytes_to(cut, &piece);
        struct ledger_imported imported;
        struct err err = ERR_INIT;
        int rc = import_from(home, cut, &imported, &err);
        size_t whole = 0;
        while (whole < 4 && ends[whole] <= length)
            whole++;
        assert_int_equal(imported.taken + imported.unchanged, whole);
        assert_true(rc < 0);
        assert_string_equal(err.id, length < 8 ? "not-a-journal" : "stream-cut");
    }
    assert_int_equal(check(home, NULL), 0);
    AUTO_STORE struct store *store = open_ledger(home);
    assert_int_equal(count_entries(store), 4);
}

static void add_word(struct strbuf *out, uint64_t value) {
    for (unsigned i = 0; i < 8; i++)
        strbuf_add_char(out, (char)(value >> (8 * i)));
}

static void damaged_streams(void **state) {
    struct home *home = *state;
    struct made made = {.n = 1};
    AUTO_STRBUF struct strbuf journal = STRBUF_INIT;
    make_journal(&made, &journal);
    AUTO_FREE char *path = mem_printf("%s/stream", home->path);
    const struct {
        const char *before; /* magic */
        int garbage;        /* 1: a garbage journal first */
        uint64_t huge;      /* a length that cannot be */
        uint64_t count;     /* of the end mark */
        const char *behind;
        const char *id;
        size_t taken, damaged;
    } cases[] = {
        {"PLSTREAM1\n", 0, 0, 1, "", NULL, 1, 0},
        {"PLSTREAM1\n", 1, 0, 2, "", NULL, 1, 1},
        {"PLSTREAM1\n", 0, 0, 7, "", "stream-cut", 1, 0},
        {"PLSTREAM1\n", 0, UINT64_MAX, 1, "", "stream-damaged", 1, 0},
        {"PLSTREAM1\n", 0, 900000000, 1, "", "stream-cut", 1, 0},
        {"PLSTREAM1\n", 0, 0, 1, "and more text", "not-a-journal", 1, 0},
        {"PLSTREAM2\n", 0, 0, 1, "", "stream-newer", 0, 0},
        {"some text\n", 0, 0, 1, "", "not-a-journal", 0, 0},
        {"PLJOURN1", 0, 0, 1, "", NULL, 0, 1}, /* a journal, but none that can be used */
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf stream = STRBUF_INIT;
        strbuf_add_str(&stream, cases[i].before);
        if (cases[i].garbage) {
            add_word(&stream, 7);
            strbuf_add_str(&stream, "garbage");
        }
        add_word(&stream, journal.length);
        strbuf_add(&stream, journal.data, journal.length);
        if (cases[i].huge)
            add_word(&stream, cases[i].huge);
        add_word(&stream, 0);
        add_word(&stream, cases[i].count);
        strbuf_add_str(&stream, cases[i].behind);
        write_bytes_to(path, &stream);
        struct ledger_imported imported;
        struct err err = ERR_INIT;
        import_from(home, path, &imported, &err);
        const char *id = cases[i].id ? cases[i].id : "";
        if (strcmp(err.id, id) != 0 || imported.taken + imported.unchanged != cases[i].taken ||
            imported.damaged != cases[i].damaged)
            fail_msg("case %zu: '%s' %s, %zu taken, %zu damaged", i, err.id, err.text,
                     imported.taken, imported.damaged);
        if (cases[i].damaged)
            assert_true(imported.first_problem[0]);
    }
    AUTO_STRBUF struct strbuf nothing = STRBUF_INIT;
    write_bytes_to(path, &nothing);
    struct ledger_imported imported;
    struct err err = ERR_INIT;
    assert_true(import_from(home, path, &imported, &err) < 0);
    assert_string_equal(err.id, "not-a-journal");
}

/* The journal of a run that was exported while it ran, and again later: the longer one holds, in
 * either order. */
static void longer_journals_win(void **state) {
    struct home *home = *state;
    struct made made = {.n = 1, .unfinished = true};
    AUTO_FREE char *shorter = leave_journal(home, &made);
    AUTO_FREE char *kept = mem_printf("%s/kept", home->path);
    assert_int_equal(rename(shorter, kept), 0);
    made.unfinished = false;
    AUTO_FREE char *longer = leave_journal(home, &made);
    struct ledger_imported imported;
    struct err err = ERR_INIT;
    must(import_from(home, kept, &imported, &err), &err);
    must(import_from(home, longer, &imported, &err), &err);
    assert_int_equal(imported.taken, 1);
    must(import_from(home, kept, &imported, &err), &err);
    assert_int_equal(imported.unchanged, 1);
    AUTO_STORE struct store *store = open_ledger(home);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list_all(store, arena, &entries), 1);
    assert_string_equal(entries[0].outcome, "ok");
}

static void a_reader_that_goes(void **state) {
    struct home *home = *state;
    fill(home, 3);
    AUTO_STORE struct store *store = open_ledger(home);
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    close(fds[0]);
    signal(SIGPIPE, SIG_IGN);
    struct err err = ERR_INIT;
    size_t count;
    assert_int_equal(ledger_export(store, fds[1], &count, &err), -EPIPE);
    assert_string_equal(err.id, "stream-write");
    close(fds[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_and_repairs),
        HOME_TEST(rows_without_journal_go),
        HOME_TEST(damaged_journals_are_left_behind),
        HOME_TEST(a_destroyed_index_is_rebuilt),
        HOME_TEST(rebuild_never_makes_things_worse),
        HOME_TEST(follows_the_rules_of_its_time),
        HOME_TEST(chooses_what_to_purge),
        HOME_TEST(the_same_ledger_on_the_other_side),
        HOME_TEST(any_descriptor),
        HOME_TEST(cut_anywhere),
        HOME_TEST(damaged_streams),
        HOME_TEST(longer_journals_win),
        HOME_TEST(a_reader_that_goes),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
