/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many processes at once, killed at any moment; many runs. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define PROCESSES 50

static size_t count_runs(struct store *store) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    size_t count;
    struct err err = ERR_INIT;
    must(store_list(store, &(struct store_query){0}, arena, &entries, &count, &err), &err);
    return count;
}

/* Opens, takes in runs first…first+count-1, closes. Writes a byte per durable run. */
static void put_in_child(const struct folder *folder, bool network, unsigned first, unsigned count,
                         int report_fd) {
    struct sqlite_open_options options = {.network = network, .patience_ns = 60 * NS_PER_S};
    struct err err = ERR_INIT;
    struct sqlite_store *store;
    if (sqlite_open_path(folder->ledger, &options, &store, &err) < 0) {
        fprintf(stderr, "open: %s\n", err.text);
        _exit(1);
    }
    for (unsigned n = first; n < first + count; n++) {
        struct made made;
        make_run(n, &made);
        bool changed;
        char byte = 1;
        if (store_put(&store->store, &made.entry, made.journal, made.length, &changed, &err) < 0) {
            fprintf(stderr, "put: %s\n", err.text);
            _exit(2);
        }
        if (write(report_fd, &byte, 1) != 1)
            _exit(3);
    }
    store_close(&store->store);
    _exit(0);
}

static void all_at_once(const struct folder *folder, bool network) {
    int report[2];
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    pid_t children[PROCESSES];
    for (unsigned i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            put_in_child(folder, network, 10 * i, 2, report[1]);
        assert_true(children[i] > 0);
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    close(report[0]);
    close(report[1]);
    AUTO_STORE struct store *store = must_open(folder->url);
    assert_int_equal(count_runs(store), 2 * PROCESSES);
    assert_int_equal(problems_of(store, NULL), 0);
}

/* The ledger does not exist yet: all of them create it. */
static void fifty_with_log(void **state) {
    all_at_once(*state, false);
}

static void fifty_without_log(void **state) {
    all_at_once(*state, true);
}

static void the_same_run_from_many(void **state) {
    struct folder *folder = *state;
    int report[2];
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    pid_t children[10];
    for (unsigned i = 0; i < ARRAY_LENGTH(children); i++)
        if ((children[i] = fork()) == 0)
            put_in_child(folder, false, 1, 5, report[1]);
    for (unsigned i = 0; i < ARRAY_LENGTH(children); i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    close(report[0]);
    close(report[1]);
    AUTO_STORE struct store *store = must_open(folder->url);
    assert_int_equal(count_runs(store), 5);
}

/* A writer killed at a random moment: every run it was told is durable is there, the ledger is
 * sound, the next writer works. */
static void killed_at_any_moment(const struct folder *folder, bool network) {
    uint64_t seed = 0x9e3779b97f4a7c15u;
    size_t promised = 0;
    for (unsigned round = 0; round < 40; round++) {
        int report[2];
        assert_int_equal(pipe2(report, O_CLOEXEC), 0);
        pid_t child = fork();
        if (child == 0)
            put_in_child(folder, network, 1000 * round, 500, report[1]);
        close(report[1]);
        /* after some puts, and at any point of the next one; in one of four while it still opens */
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        char bytes[600];
        for (unsigned wanted = (unsigned)(seed >> 60) % 4; wanted > 0; wanted--) {
            assert_int_equal(read(report[0], bytes, 1), 1);
            promised++;
        }
        struct timespec pause = {.tv_nsec = (long)(seed >> 33) % (5 * NS_PER_MS)};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        for (ssize_t got; (got = read(report[0], bytes, sizeof(bytes))) > 0;)
            promised += (size_t)got;
        close(report[0]);
    }
    AUTO_STORE struct store *store = must_open(folder->url);
    assert_true(count_runs(store) >= promised);
    assert_true(promised > 10);
    assert_int_equal(problems_of(store, NULL), 0);
    struct made made;
    make_run(999999, &made);
    must_put(store, &made);
}

static void kills_with_log(void **state) {
    killed_at_any_moment(*state, false);
}

static void kills_without_log(void **state) {
    killed_at_any_moment(*state, true);
}

static void ten_thousand(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    struct err err = ERR_INIT;
    must(store_begin(store, &err), &err);
    for (unsigned n = 1; n <= 10000; n++) {
        struct made made;
        make_run(n, &made);
        made.entry.outcome = n % 100 ? "ok" : "gpu_oom";
        must_put(store, &made);
    }
    must(store_commit(store, &err), &err);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    size_t count;
    const struct {
        struct store_query query;
        size_t count;
    } cases[] = {
        {{.type = "run", .limit = 100}, 100},
        {{.outcome = "gpu_oom"}, 100},
        {{.id_tail = "000000001234"}, 1},
        {{0}, 10000},
    };
    for (unsigned i = 0; i < ARRAY_LENGTH(cases); i++) {
        must(store_list(store, &cases[i].query, arena, &entries, &count, &err), &err);
        assert_int_equal(count, cases[i].count);
    }
    struct store_info info;
    must(store_info(store, arena, &info, &err), &err);
    assert_int_equal(info.runs, 10000);
}

/* The work of SQLite for one page must not grow with the ledger: virtual machine steps are counted,
 * not time. */
static int steps_for_page(unsigned runs) {
    void *own = NULL;
    assert_int_equal(folder_setup(&own), 0);
    struct folder *folder = own;
    AUTO_STORE struct store *store = must_open(folder->url);
    struct err err = ERR_INIT;
    must(store_begin(store, &err), &err);
    for (unsigned n = 1; n <= runs; n++) {
        struct made made;
        make_run(n, &made);
        must_put(store, &made);
    }
    must(store_commit(store, &err), &err);
    struct store_query query = {
        .type = "run", .limit = 50, .after = "x", .after_utc_ns = UTC_BASE + 60 * NS_PER_S};
    AUTO_STRBUF struct strbuf sql = STRBUF_INIT;
    sqlite_list_sql(&query, &sql);
    AUTO_STMT sqlite3_stmt *row = NULL;
    must(sql_prepare(sqlite_of(store), strbuf_str(&sql), &row, &err), &err);
    sql_bind_text(row, 1, "run");
    sql_bind_int(row, 12, query.after_utc_ns);
    sql_bind_text(row, 13, "x");
    sql_bind_int(row, 15, 50);
    unsigned got = 0;
    while (sql_next(sqlite_of(store), row, &err) > 0)
        got++;
    assert_int_equal(got, 50);
    int steps = sqlite3_stmt_status(row, SQLITE_STMTSTATUS_VM_STEP, 0);
    sql_finalize_ptr(&row);
    store = store_close(store);
    folder_teardown(&own);
    return steps;
}

static void a_page_costs_the_same(void **state) {
    (void)state;
    int small = steps_for_page(200), large = steps_for_page(5000);
    assert_true(small > 0);
    assert_true(large <= small + small / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(fifty_with_log),
        FOLDER_TEST(fifty_without_log),
        FOLDER_TEST(the_same_run_from_many),
        FOLDER_TEST(kills_with_log),
        FOLDER_TEST(kills_without_log),
        FOLDER_TEST(ten_thousand),
        cmocka_unit_test(a_page_costs_the_same),
    };
    return cmocka_run_group_tests_name("store many", tests, NULL, NULL);
}
