/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger as its callers see it: put, get, lists, pages, prefixes, check, purge. */
#include "support.h"

#include <errno.h>

/* ---- URLs ---- */

static void refuses_urls(void **state) {
    (void)state;
    const struct {
        const char *url, *id;
    } cases[] = {
        {"postgresql://host/db", "ledger-unsupported"},
        {"mysql:x", "ledger-url"},
        {"ledger.db", "ledger-url"},
        {"", "ledger-url"},
        {"sqlite:", "ledger-url"},
        {"sqlite:~/ledger.db", "ledger-url"},
        {"sqlite://ledger.db", "ledger-url"},
        {"sqlite:/dev/null", "ledger-url"},
        {"sqlite:/proc/nowhere/ledger.db", "ledger-unavailable"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct err err = ERR_INIT;
        struct store *store;
        assert_true(store_open(cases[i].url, STORE_READ_WRITE, &store, &err) < 0);
        assert_string_equal(err.id, cases[i].id);
        assert_null(strchr(err.text, '\n'));
    }
}

static void backend_is_complete(void **state) {
    (void)state;
    assert_true(store_ops_are_complete(&store_sqlite_ops));
    struct store_ops partial = store_sqlite_ops;
    partial.purge = NULL;
    assert_false(store_ops_are_complete(&partial));
    partial = store_sqlite_ops;
    partial.scheme = "a:b";
    assert_false(store_ops_are_complete(&partial));
}

/* ---- put and get ---- */

static void gives_back_what_it_got(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    struct made made;
    make_run(1, &made);
    must_put(store, &made);
    struct err err = ERR_INIT;
    AUTO_FREE void *bytes = NULL;
    size_t length = 0;
    must(store_get(store, made.run, "p1", &bytes, &length, &err), &err);
    assert_int_equal(length, made.length);
    assert_memory_equal(bytes, made.journal, length);
    assert_int_equal(store_get(store, made.run, "p2", &bytes, &length, &err), -ENOENT);
    assert_string_equal(err.id, "journal-not-found");
}

/* Random bytes do not shrink: kept as they are. Large ones take the other levels. */
static void keeps_any_bytes(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    const size_t sizes[] = {1, 4096, 300 << 10, 5 << 20};
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++) {
        AUTO_FREE uint8_t *bytes = mem_alloc(sizes[i]);
        uint64_t x = 88172645463325252u + i;
        for (size_t k = 0; k < sizes[i]; k++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            bytes[k] = i % 2 ? (uint8_t)x : (uint8_t)(x & 3);
        }
        struct made made;
        make_run(i, &made);
        struct err err = ERR_INIT;
        bool changed = false;
        must(store_put(store, &made.entry, bytes, sizes[i], &changed, &err), &err);
        AUTO_FREE void *back = NULL;
        size_t length;
        must(store_get(store, made.run, "p1", &back, &length, &err), &err);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(back, bytes, length);
    }
    struct err err = ERR_INIT;
    struct store_info info;
    AUTO_ARENA struct arena *arena = arena_new();
    must(store_info(store, arena, &info, &err), &err);
    assert_int_equal(info.journal_bytes, 1 + 4096 + (300 << 10) + (5 << 20));
    assert_true(info.stored_bytes < info.journal_bytes);
    assert_int_equal(problems_of(store, NULL), 0);
}

static void put_bytes(struct store *store, const struct made *made, const char *text, int expect_rc,
                      bool expect_changed) {
    struct err err = ERR_INIT;
    bool changed = !expect_changed;
    int rc = store_put(store, &made->entry, text, strlen(text), &changed, &err);
    assert_int_equal(rc, expect_rc);
    if (rc == 0)
        assert_int_equal(changed, expect_changed);
    else
        assert_string_equal(err.id, "journal-conflict");
}

static void assert_stored(struct store *store, const struct made *made, const char *text) {
    struct err err = ERR_INIT;
    AUTO_FREE void *bytes = NULL;
    size_t length;
    must(store_get(store, made->run, "p1", &bytes, &length, &err), &err);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(bytes, text, length);
}

static size_t list(struct store *store, struct arena *arena, const struct store_query *query,
                   struct store_entry **ret_entries) {
    struct err err = ERR_INIT;
    size_t count = 0;
    must(store_list(store, query, arena, ret_entries, &count, &err), &err);
    return count;
}

static void prefix_decides(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    struct made made;
    make_run(1, &made);
    made.entry.outcome = "lost";
    put_bytes(store, &made, "PLJOURN1 start", 0, true);
    put_bytes(store, &made, "PLJOURN1 start", 0, false);
    put_bytes(store, &made, "PLJOURN1", 0, false);
    assert_stored(store, &made, "PLJOURN1 start");
    made.entry.outcome = "ok";
    put_bytes(store, &made, "PLJOURN1 start end", 0, true);
    assert_stored(store, &made, "PLJOURN1 start end");
    put_bytes(store, &made, "PLJOURN1 other", -EEXIST, false);
    put_bytes(store, &made, "PLJOURN1 other that is much longer", -EEXIST, false);
    assert_stored(store, &made, "PLJOURN1 start end");

    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list(store, arena, &(struct store_query){0}, &entries), 1);
    assert_string_equal(entries[0].outcome, "ok"); /* the index followed the longer one */
    assert_int_equal(problems_of(store, NULL), 0);
}

static void other_parts_are_other_journals(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    struct made made;
    make_run(1, &made);
    must_put(store, &made);
    made.entry.part = "p2";
    strcpy(made.journal, "something else");
    made.length = strlen(made.journal);
    must_put(store, &made);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list(store, arena, &(struct store_query){0}, &entries), 2);
}

/* ---- lists ---- */

static void entry_survives(void **state) {
    struct folder *folder = *state;
    struct made made;
    make_run(7, &made);
    made.entry.study = "s1";
    made.entry.command = "sh -c 'é \\n'";
    made.entry.wall_s = 0.1;
    made.entry.wall_bound = "at-least";
    {
        AUTO_STORE struct store *store = must_open(folder->url);
        must_put(store, &made);
        struct store_entry event = {
            .run = "e", .part = "e", .type = "event", .about = made.run, .started_utc_ns = 5};
        struct err err = ERR_INIT;
        bool changed;
        must(store_put(store, &event, "x", 1, &changed, &err), &err);
    }
    AUTO_STORE struct store *store = must_open(folder->url);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list(store, arena, &(struct store_query){0}, &entries), 2);
    const struct store_entry *run = &entries[0], *event = &entries[1];
    assert_string_equal(run->run, made.run);
    assert_string_equal(run->part, "p1");
    assert_string_equal(run->type, "run");
    assert_null(run->about);
    assert_string_equal(run->study, "s1");
    assert_int_equal(run->started_utc_ns, made.entry.started_utc_ns);
    assert_int_equal(run->ended_utc_ns, made.entry.ended_utc_ns);
    assert_string_equal(run->outcome, "ok");
    assert_string_equal(run->purpose, "trial");
    assert_string_equal(run->command, made.entry.command);
    assert_string_equal(run->group_key, "g1");
    assert_true(run->has_wall);
    assert_true(run->wall_s == 0.1);
    assert_string_equal(run->wall_bound, "at-least");
    assert_string_equal(event->type, "event");
    assert_string_equal(event->about, made.run);
    assert_null(event->study);
    assert_null(event->outcome);
    assert_null(event->command);
    assert_false(event->has_wall);
    assert_int_equal(event->ended_utc_ns, 0);
}

static void filters(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    for (unsigned n = 1; n <= 40; n++) {
        struct made made;
        make_run(n, &made);
        made.entry.outcome = n % 4 == 0 ? "failed" : "ok";
        made.entry.study = n % 2 == 0 ? "even" : NULL;
        made.entry.purpose = n % 5 == 0 ? "work" : "trial";
        made.entry.group_key = n <= 10 ? "g1" : "g2";
        made.entry.command = n == 3 ? "python3 100%_done.py" : "python3 train.py";
        must_put(store, &made);
    }
    struct store_entry event = {.run = "0192ffff-0000-7000-8000-000000000001",
                                .part = "e",
                                .type = "event",
                                .about = "about-me",
                                .started_utc_ns = 1};
    struct err err = ERR_INIT;
    bool changed;
    must(store_put(store, &event, "x", 1, &changed, &err), &err);

    const struct {
        struct store_query query;
        size_t count;
    } cases[] = {
        {{0}, 41},
        {{.type = "run"}, 40},
        {{.type = "event"}, 1},
        {{.about = "about-me"}, 1},
        {{.about = "nobody"}, 0},
        {{.outcome = "failed"}, 10},
        {{.outcome = "failed", .study = "even", .purpose = "work"}, 2},
        {{.study = "even"}, 20},
        {{.group_key = "g1"}, 10},
        {{.text = "100%_"}, 1},
        {{.text = "train"}, 39},
        {{.id_tail = "1"}, 4}, /* 1, 0x11, 0x21 and the event */
        {{.id_tail = "1", .type = "run"}, 3},
        {{.id_tail = "000000000003"}, 1},
        {{.id_tail = "01920000-0003-7000-8000-000000000003"}, 1},
        {{.id_tail = "x01920000-0003-7000-8000-000000000003"}, 0},
        {{.id_tail = "%"}, 0},
        {{.since_utc_ns = UTC_BASE + 31 * NS_PER_S}, 10},
        {{.until_utc_ns = UTC_BASE + 31 * NS_PER_S, .type = "run"}, 30},
        {{.limit = 7}, 7},
        {{.limit = SIZE_MAX}, 41},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_ARENA struct arena *arena = arena_new();
        struct store_entry *entries;
        size_t count = list(store, arena, &cases[i].query, &entries);
        if (count != cases[i].count)
            fail_msg("case %zu: %zu entries, not %zu", i, count, cases[i].count);
        for (size_t k = 1; k < count; k++)
            assert_true(entries[k - 1].started_utc_ns >= entries[k].started_utc_ns);
    }
}

static void pages_meet(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    /* Several runs start at the same moment, and one has three parts. */
    for (unsigned n = 1; n <= 25; n++) {
        struct made made;
        make_run(n, &made);
        made.entry.started_utc_ns = UTC_BASE + n / 4;
        must_put(store, &made);
        for (unsigned part = 0; n == 9 && part < 2; part++) {
            made.entry.part = part ? "p0" : "p2";
            must_put(store, &made);
        }
    }
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *all, *page;
    size_t count = list(store, arena, &(struct store_query){0}, &all), seen = 0;
    assert_int_equal(count, 27);
    struct store_query query = {.limit = 4};
    for (size_t got; (got = list(store, arena, &query, &page)) > 0; seen += got) {
        for (size_t i = 0; i < got; i++) {
            assert_string_equal(page[i].run, all[seen + i].run);
            assert_string_equal(page[i].part, all[seen + i].part);
        }
        query.after = page[got - 1].run;
        query.after_part = page[got - 1].part;
        query.after_utc_ns = seen % 8 ? page[got - 1].started_utc_ns : 0;
    }
    assert_int_equal(seen, count);
    /* without a part: behind all of them */
    char run[UUID_TEXT_SIZE];
    query = (struct store_query){.after = id_of(9, run), .limit = 1};
    assert_int_equal(list(store, arena, &query, &page), 1);
    assert_string_equal(page[0].run, id_of(8, run));
    query = (struct store_query){.after = "nobody"};
    struct err err = ERR_INIT;
    assert_int_equal(store_list(store, &query, arena, &page, &count, &err), -ENOENT);
    assert_string_equal(err.id, "run-not-found");
}

/* No list may read the table from end to end for a filter that has an index, and none may touch
 * journals. */
static void lists_use_indexes(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    const struct {
        struct store_query query;
        const char *index;
        bool sorted; /* comes in order from the index */
    } cases[] = {
        {{.limit = 100}, "entry_by_time", true},
        {{.type = "run", .limit = 100}, "entry_by_time", true},
        {{.type = "run", .after = "x", .after_utc_ns = 5, .limit = 100}, "entry_by_time", true},
        {{.since_utc_ns = 4, .type = "run"}, "entry_by_time", true},
        {{.id_tail = "abc", .type = "run"}, "entry_by_tail", false},
        {{.id_tail = "abc", .type = "run", .limit = 200}, "entry_by_tail", false},
        {{.about = "x", .type = "event"}, "entry_by_about", false},
        {{.study = "x", .type = "run", .limit = 100}, "entry_by_study", true},
        {{.group_key = "x", .type = "run", .limit = 100}, "entry_by_group", true},
        {{.outcome = "x", .type = "run", .limit = 100}, "entry_by_outcome", true},
    };
    struct sqlite_store *self = sqlite_of(store);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf sql = STRBUF_INIT, plan = STRBUF_INIT;
        strbuf_add_str(&sql, "EXPLAIN QUERY PLAN ");
        sqlite_list_sql(&cases[i].query, &sql);
        AUTO_STMT sqlite3_stmt *row = NULL;
        struct err err = ERR_INIT;
        must(sql_prepare(self, strbuf_str(&sql), &row, &err), &err);
        while (sql_next(self, row, &err) > 0)
            strbuf_printf(&plan, "%s\n", sql_text(row, 3));
        bool whole_table = strstr(strbuf_str(&plan), "SCAN entry\n") != NULL;
        if (!strstr(strbuf_str(&plan), cases[i].index) || whole_table ||
            strstr(strbuf_str(&plan), "journal") ||
            (cases[i].sorted && strstr(strbuf_str(&plan), "TEMP B-TREE")))
            fail_msg("case %zu: %s", i, strbuf_str(&plan));
    }
}

/* ---- rebuilding and deleting ---- */

static int count_journal(const char *run, const char *part, const void *bytes, size_t length,
                         void *context, struct err *err) {
    size_t *count = context;
    assert_non_null(run);
    assert_non_null(part);
    assert_true(memcmp(bytes, "PLJOURN1", 8) == 0 && length > 8);
    if (*count == 3)
        return err_set(err, -ECANCELED, "enough", "enough");
    ++*count;
    return 0;
}

static void each_journal_can_stop(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    struct err err = ERR_INIT;
    size_t count = 0;
    must(store_each_journal(store, count_journal, &count, &err), &err);
    assert_int_equal(count, 0);
    for (unsigned n = 1; n <= 3; n++) {
        struct made made;
        make_run(n, &made);
        must_put(store, &made);
    }
    must(store_each_journal(store, count_journal, &count, &err), &err);
    assert_int_equal(count, 3);
    assert_int_equal(store_each_journal(store, count_journal, &count, &err), -ECANCELED);
    assert_string_equal(err.id, "enough");
}

static void entries_are_replaced(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    struct made made;
    make_run(1, &made);
    must_put(store, &made);
    struct err err = ERR_INIT;
    made.entry.outcome = "disk_full";
    made.entry.has_wall = false;
    must(store_replace_entry(store, &made.entry, &err), &err);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list(store, arena, &(struct store_query){0}, &entries), 1);
    assert_string_equal(entries[0].outcome, "disk_full");
    assert_false(entries[0].has_wall);
    made.entry.part = "none";
    assert_int_equal(store_replace_entry(store, &made.entry, &err), -ENOENT);
}

static void batches(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    struct err err = ERR_INIT;
    struct made made;
    make_run(1, &made);
    must(store_begin(store, &err), &err);
    must_put(store, &made);
    store_rollback(store);
    assert_int_equal(list(store, arena, &(struct store_query){0}, &entries), 0);

    must(store_begin(store, &err), &err);
    must_put(store, &made);
    put_bytes(store, &made, "PLJOURN1 conflict", -EEXIST, false); /* takes back only itself */
    make_run(2, &made);
    must_put(store, &made);
    must(store_commit(store, &err), &err);
    assert_int_equal(list(store, arena, &(struct store_query){0}, &entries), 2);
    store_rollback(store); /* harmless without a batch */
    make_run(3, &made);
    must_put(store, &made);
    assert_int_equal(problems_of(store, NULL), 0);
}

static void purges(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    for (unsigned n = 1; n <= 4; n++) {
        struct made made;
        make_run(n, &made);
        must_put(store, &made);
    }
    char first[UUID_TEXT_SIZE], third[UUID_TEXT_SIZE];
    struct store_entry event = {
        .run = "e1", .part = "e1", .type = "event", .about = id_of(1, first)};
    struct err err = ERR_INIT;
    bool changed;
    must(store_put(store, &event, "needle-of-the-event", 19, &changed, &err), &err);
    event.run = "e2";
    event.about = "somebody else";
    must(store_put(store, &event, "another event", 13, &changed, &err), &err);

    size_t deleted = 0;
    const char *const runs[] = {first, id_of(3, third), "nobody"};
    must(store_purge(store, runs, 3, &deleted, &err), &err);
    assert_int_equal(deleted, 3);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list(store, arena, &(struct store_query){.type = "run"}, &entries), 2);
    assert_int_equal(list(store, arena, &(struct store_query){.type = "event"}, &entries), 1);
    assert_string_equal(entries[0].run, "e2");
    assert_int_equal(problems_of(store, NULL), 0);
    store = store_close(store);
    /* nothing of it is left in the file */
    AUTO_STRBUF struct strbuf command = STRBUF_INIT;
    strbuf_printf(&command, "cat '%s'/ledger.db* | grep -q needle-of-the-event", folder->path);
    assert_int_not_equal(system(strbuf_str(&command)), 0);
    strbuf_clear(&command);
    strbuf_printf(&command, "cat '%s'/ledger.db* | grep -q 'another event'", folder->path);
    assert_int_equal(system(strbuf_str(&command)), 0); /* the search itself works */
}

/* ---- check ---- */

static void put_three(const char *url) {
    AUTO_STORE struct store *store = must_open(url);
    for (unsigned n = 1; n <= 3; n++) {
        struct made made;
        make_run(n, &made);
        must_put(store, &made);
    }
    assert_int_equal(problems_of(store, NULL), 0);
}

/* Damage that SQL can do; what the check must say about it. */
static void check_finds(void **state) {
    (void)state;
    const struct {
        const char *sql, *word;
    } cases[] = {
        {"DELETE FROM entry WHERE run LIKE '%2'", "no row"},
        {"PRAGMA foreign_keys = OFF; DELETE FROM journal WHERE run LIKE '%2'", "without its"},
        {"PRAGMA foreign_keys = OFF; UPDATE entry SET part = 'p9' WHERE run LIKE '%2'",
         "without its"},
        {"UPDATE journal SET sha256 = replace(sha256, substr(sha256, 1, 1), 'x')"
         " WHERE run LIKE '%2'",
         "digest"},
        {"UPDATE journal SET content = zeroblob(stored_length) WHERE run LIKE '%2'", "damaged"},
        {"UPDATE journal SET length = length + 1 WHERE run LIKE '%2'", "damaged"},
        {"UPDATE journal SET length = 1 << 50 WHERE run LIKE '%2'", "damaged"},
        {"UPDATE journal SET encoding = 'raw' WHERE run LIKE '%2'", "impossible length"},
        {"DROP INDEX entry_by_tail", "entry_by_tail"},
        {"DROP INDEX entry_by_tail; CREATE INDEX entry_by_tail ON entry (run)", "entry_by_tail"},
        {"CREATE TABLE guest (x)", "guest"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        void *own = NULL;
        assert_int_equal(folder_setup(&own), 0);
        struct folder *folder = own;
        put_three(folder->url);
        raw_sql(folder->ledger, cases[i].sql);
        AUTO_STORE struct store *store = must_open(folder->url);
        char what[500] = "";
        size_t problems = problems_of(store, what);
        if (problems != 1 || !strstr(what, cases[i].word))
            fail_msg("case %zu: %zu problems: %s", i, problems, what);
        folder_teardown(&own);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_urls),
        cmocka_unit_test(backend_is_complete),
        FOLDER_TEST(gives_back_what_it_got),
        FOLDER_TEST(keeps_any_bytes),
        FOLDER_TEST(prefix_decides),
        FOLDER_TEST(other_parts_are_other_journals),
        FOLDER_TEST(entry_survives),
        FOLDER_TEST(filters),
        FOLDER_TEST(pages_meet),
        FOLDER_TEST(lists_use_indexes),
        FOLDER_TEST(each_journal_can_stop),
        FOLDER_TEST(entries_are_replaced),
        FOLDER_TEST(batches),
        FOLDER_TEST(purges),
        cmocka_unit_test(check_finds),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
