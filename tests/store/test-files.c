/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger as a file: modes, journal modes, versions, files that are not ours, damaged, moved or
 * read-only. */
#include "support.h"

#include "base/fd.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

static mode_t mode_of(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static int try_open(const char *url, enum store_mode mode, struct store **ret_store,
                    const char *expected_id) {
    struct err err = ERR_INIT;
    int rc = store_open(url, mode, ret_store, &err);
    if (expected_id ? rc >= 0 || strcmp(err.id, expected_id) != 0 : rc < 0)
        fail_msg("%d: %s: %s", rc, err.id, err.text);
    return rc;
}

static size_t count_runs(struct store *store) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    size_t count;
    struct err err = ERR_INIT;
    must(store_list(store, &(struct store_query){0}, arena, &entries, &count, &err), &err);
    return count;
}

/* ---- modes ---- */

static void private_whatever_the_umask(void **state) {
    struct folder *folder = *state;
    const mode_t masks[] = {0, 022, 0177, 0777};
    for (unsigned i = 0; i < ARRAY_LENGTH(masks); i++) {
        char dir[700], url[800], name[800];
        snprintf(dir, sizeof(dir), "%s/%u", folder->path, i);
        /* a umask of 0177 would take the folder's own x as well */
        assert_int_equal(i < 2 ? 0 : mkdir(dir, 0700), 0);
        snprintf(url, sizeof(url), "sqlite:%s/ledger.db", dir);
        mode_t before = umask(masks[i]);
        AUTO_STORE struct store *store = must_open(url);
        struct made made;
        make_run(1, &made);
        must_put(store, &made);
        umask(before);
        assert_int_equal(mode_of(dir), 0700);
        const char *const suffixes[] = {"", "-wal", "-shm"};
        for (unsigned k = 0; k < ARRAY_LENGTH(suffixes); k++) {
            snprintf(name, sizeof(name), "%s/ledger.db%s", dir, suffixes[k]);
            assert_int_equal(mode_of(name), 0600);
        }
    }
}

static void refuses_a_trap(void **state) {
    struct folder *folder = *state;
    if (geteuid() != 0)
        skip();
    /* somebody else's folder where everybody may write, as in /var/tmp */
    char open_dir[600], trap[700], url[800];
    snprintf(open_dir, sizeof(open_dir), "%s/tmp", folder->path);
    snprintf(trap, sizeof(trap), "%s/probelauf-0", open_dir);
    snprintf(url, sizeof(url), "sqlite:%s/ledger.db", trap);
    assert_int_equal(mkdir(open_dir, 0755) | mkdir(trap, 0777) | chown(trap, 4711, 4711), 0);
    assert_int_equal(chmod(open_dir, 01777), 0);
    struct store *store;
    try_open(url, STORE_READ_WRITE, &store, "ledger-unavailable");
    /* the same below a folder of their own is a shared folder */
    assert_int_equal(chmod(open_dir, 0755), 0);
    try_open(url, STORE_READ_WRITE, &store, NULL);
    store_close(store);
}

/* ---- journal modes ---- */

static struct store *open_as(const struct folder *folder, bool network, int64_t patience_ns) {
    struct sqlite_open_options options = {.network = network, .patience_ns = patience_ns};
    struct err err = ERR_INIT;
    struct sqlite_store *store;
    must(sqlite_open_path(folder->ledger, &options, &store, &err), &err);
    return &store->store;
}

static void assert_journal_mode(struct store *store, const char *mode, bool network) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_info info;
    struct err err = ERR_INIT;
    must(store_info(store, arena, &info, &err), &err);
    assert_string_equal(info.journal_mode, mode);
    assert_int_equal(info.network_file_system, network);
    assert_int_equal(info.schema_version, sqlite_migrations[sqlite_migration_count - 1].version);
    assert_string_equal(info.backend, "sqlite");
    int64_t mode_now = -1;
    must(sql_get_int(sqlite_of(store), "PRAGMA synchronous", &mode_now, &err), &err);
    assert_int_equal(mode_now, 2); /* FULL */
    must(sql_get_int(sqlite_of(store), "PRAGMA foreign_keys", &mode_now, &err), &err);
    assert_int_equal(mode_now, 1);
}

static void no_log_on_network(void **state) {
    struct folder *folder = *state;
    char wal[700];
    snprintf(wal, sizeof(wal), "%s-wal", folder->ledger);
    struct made made;
    {
        AUTO_STORE struct store *store = open_as(folder, false, NS_PER_S);
        assert_journal_mode(store, "wal", false);
        make_run(1, &made);
        must_put(store, &made);
        assert_int_equal(access(wal, F_OK), 0);
    }
    { /* the folder moved to a network file system */
        AUTO_STORE struct store *store = open_as(folder, true, NS_PER_S);
        assert_journal_mode(store, "delete", true);
        make_run(2, &made);
        must_put(store, &made);
        assert_int_equal(access(wal, F_OK), -1);
        assert_int_equal(count_runs(store), 2);
    }
    AUTO_STORE struct store *store = open_as(folder, false, NS_PER_S);
    assert_journal_mode(store, "wal", false);
    assert_int_equal(count_runs(store), 2);
    /* while somebody has it open with a log, it cannot be had without */
    struct sqlite_open_options options = {.network = true, .patience_ns = 50 * NS_PER_MS};
    struct err err = ERR_INIT;
    struct sqlite_store *second;
    assert_int_equal(sqlite_open_path(folder->ledger, &options, &second, &err), -EAGAIN);
    assert_string_equal(err.id, "ledger-unavailable");
}

/* ---- files of others ---- */

static void write_file(const char *path, const void *bytes, size_t length) {
    struct err err = ERR_INIT;
    must(file_write_atomic(path, bytes, length, 0600, &err), &err);
}

static void assert_file_is(const char *path, const void *bytes, size_t length) {
    AUTO_STRBUF struct strbuf now = STRBUF_INIT;
    assert_int_equal(file_read(path, 1 << 20, &now), 0);
    assert_int_equal(now.length, length);
    assert_memory_equal(now.data, bytes, length);
}

static void never_overwrites(void **state) {
    struct folder *folder = *state;
    struct store *store;
    const char text[] =
        "My thesis, chapter 1. It has nothing to do with any database at all, but it is "
        "longer than the hundred bytes that the header of one has.";
    write_file(folder->ledger, text, sizeof(text));
    try_open(folder->url, STORE_READ_WRITE, &store, "ledger-damaged");
    try_open(folder->url, STORE_READ_ONLY, &store, "ledger-damaged");
    assert_file_is(folder->ledger, text, sizeof(text));

    write_file(folder->ledger, "short", 5);
    try_open(folder->url, STORE_READ_WRITE, &store, "ledger-damaged");
    assert_file_is(folder->ledger, "short", 5);

    unlink(folder->ledger);
    raw_sql(folder->ledger, "CREATE TABLE journal (mine)");
    AUTO_STRBUF struct strbuf before = STRBUF_INIT;
    assert_int_equal(file_read(folder->ledger, 1 << 20, &before), 0);
    try_open(folder->url, STORE_READ_WRITE, &store, "ledger-foreign");
    try_open(folder->url, STORE_READ_ONLY, &store, "ledger-foreign");
    assert_file_is(folder->ledger, before.data, before.length);
}

static void refuses_newer(void **state) {
    struct folder *folder = *state;
    store_close(must_open(folder->url));
    raw_sql(folder->ledger, "PRAGMA user_version = 99; CREATE TABLE future (x)");
    struct store *store;
    try_open(folder->url, STORE_READ_WRITE, &store, "ledger-newer");
    try_open(folder->url, STORE_READ_ONLY, &store, "ledger-newer");
    raw_sql(folder->ledger, "PRAGMA user_version = 0");
    try_open(folder->url, STORE_READ_WRITE, &store, "ledger-damaged");
    raw_sql(folder->ledger, "INSERT INTO future VALUES (1)"); /* still there */
}

static void reading_never_creates(void **state) {
    struct folder *folder = *state;
    struct store *store;
    try_open(folder->url, STORE_READ_ONLY, &store, "ledger-missing");
    assert_int_equal(access(folder->ledger, F_OK), -1);
    write_file(folder->ledger, "", 0); /* made, but not yet filled, by another process */
    try_open(folder->url, STORE_READ_ONLY, &store, "ledger-missing");
    try_open(folder->url, STORE_READ_WRITE, &store, NULL);
    store_close(store);
    try_open(folder->url, STORE_READ_ONLY, &store, NULL);
    assert_int_equal(count_runs(store), 0);
    struct made made;
    make_run(1, &made);
    struct err err = ERR_INIT;
    bool changed;
    assert_int_equal(store_put(store, &made.entry, "x", 1, &changed, &err), -EROFS);
    assert_string_equal(err.id, "ledger-unavailable");
    store_close(store);
}

/* ---- migrations ---- */

static const struct sqlite_migration future[] = {
    {.version = 1, .sql = "not run: the file has it"},
    {.version = 2, .sql = "ALTER TABLE entry ADD COLUMN color TEXT;"},
    {.version = 3, .sql = "CREATE TABLE extra (x); UPDATE entry SET color = 'blue';"},
};
static const struct sqlite_migration broken[] = {
    {.version = 1, .sql = "not run"},
    {.version = 2, .sql = "ALTER TABLE entry ADD COLUMN color TEXT;"},
    {.version = 3, .sql = "CREATE TABLE extra (x); INSERT INTO nowhere VALUES (1);"},
};

static void migrates_or_leaves_alone(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    struct sqlite_store *self = sqlite_of(store);
    struct made made;
    make_run(1, &made);
    must_put(store, &made);
    struct err err = ERR_INIT;
    int version = 0;
    int64_t count;
    assert_true(sqlite_migrate(self, broken, ARRAY_LENGTH(broken), &err) < 0);
    assert_non_null(strstr(err.text, "version 3"));
    must(sqlite_read_version(self, &version, &err), &err);
    assert_int_equal(version, 1);
    assert_int_equal(problems_of(store, NULL), 0); /* not half migrated */

    must(sqlite_migrate(self, future, ARRAY_LENGTH(future), &err), &err);
    must(sqlite_read_version(self, &version, &err), &err);
    assert_int_equal(version, 3);
    must(sql_get_int(self, "SELECT count(*) FROM entry WHERE color = 'blue'", &count, &err), &err);
    assert_int_equal(count, 1);
    must(sqlite_migrate(self, future, ARRAY_LENGTH(future), &err), &err); /* nothing to do */
    store = store_close(store);
    try_open(folder->url, STORE_READ_WRITE, &store, "ledger-newer");
    store = NULL;
}

struct race {
    const struct folder *folder;
    const char *at;
    bool happened;
};

/* Another process makes the ledger at the worst moment: just before the statement `at` of ours. */
static int make_ledger_meanwhile(unsigned event, void *context, void *statement, void *text) {
    struct race *race = context;
    (void)event;
    (void)statement;
    if (!race->happened && strcmp(text, race->at) == 0) {
        race->happened = true;
        store_close(must_open(race->folder->url));
    }
    return 0;
}

static void made_while_we_look(void **state) {
    struct folder *folder = *state;
    const char *const moments[] = {"SELECT count(*) FROM sqlite_schema", "PRAGMA application_id",
                                   "PRAGMA user_version"};
    for (unsigned i = 0; i < ARRAY_LENGTH(moments); i++) {
        unlink(folder->ledger);
        raw_sql(folder->ledger, "PRAGMA journal_mode = WAL");
        struct err err = ERR_INIT;
        struct sqlite_store *self;
        must(sqlite_open_raw(folder->ledger, &self, &err), &err);
        struct race race = {.folder = folder, .at = moments[i]};
        sqlite3_trace_v2(self->db, SQLITE_TRACE_STMT, make_ledger_meanwhile, &race);
        int version = -1;
        must(sqlite_read_version(self, &version, &err), &err);
        assert_true(race.happened);
        assert_true(version == 0 || version == 1); /* before or after, not between */
        sqlite_close(&self->store);
    }
}

static void reads_version_1(void **state) {
    struct folder *folder = *state;
    AUTO_FREE char *fixture = mem_printf("%s/ledger-v1.sql", getenv("PROBELAUF_TEST_FIXTURES"));
    AUTO_STRBUF struct strbuf sql = STRBUF_INIT;
    assert_int_equal(file_read(fixture, 1 << 20, &sql), 0);
    raw_sql(folder->ledger, strbuf_str(&sql));
    AUTO_STORE struct store *store = must_open(folder->url);
    assert_int_equal(count_runs(store), 4);
    assert_int_equal(problems_of(store, NULL), 0);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    size_t count;
    struct err err = ERR_INIT;
    struct store_query query = {.type = "run", .outcome = "ok"};
    must(store_list(store, &query, arena, &entries, &count, &err), &err);
    assert_int_equal(count, 2);
    AUTO_FREE void *bytes = NULL;
    size_t length;
    must(store_get(store, entries[0].run, entries[0].part, &bytes, &length, &err), &err);
    assert_memory_equal(bytes, "PLJOURN1", 8);
}

/* ---- damage ---- */

static void put_many(const char *url, unsigned count) {
    AUTO_STORE struct store *store = must_open(url);
    for (unsigned n = 1; n <= count; n++) {
        struct made made;
        make_run(n, &made);
        must_put(store, &made);
    }
}

static void flip(const char *path, long from, size_t length) {
    AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
    AUTO_FREE uint8_t *bytes = mem_alloc(length);
    assert_true(fd >= 0 && pread(fd, bytes, length, from) == (ssize_t)length);
    for (size_t i = 0; i < length; i++)
        bytes[i] ^= 0x5a;
    assert_int_equal(pwrite(fd, bytes, length, from), length);
}

/* Where a text is in the file; -1: nowhere. */
static long find_in_file(const char *path, const char *text) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    assert_int_equal(file_read(path, 64 << 20, &bytes), 0);
    char *at = memmem(bytes.data, bytes.length, text, strlen(text));
    return at ? at - bytes.data : -1;
}

static int save_journal(const char *run, const char *part, const void *bytes, size_t length,
                        void *context, struct err *err) {
    struct store_entry entry = {.run = run, .part = part, .type = "run", .started_utc_ns = 1};
    bool changed;
    return store_put(context, &entry, bytes, length, &changed, err);
}

/* One flipped byte in one journal: found, and all others are saved into a new file that takes its
 * place. */
static void saves_the_others(void **state) {
    struct folder *folder = *state;
    put_many(folder->url, 9);
    long at = find_in_file(folder->ledger, "for run 4");
    if (at < 0) { /* packed: any byte of the blob will do */
        raw_sql(folder->ledger,
                "UPDATE journal SET content = zeroblob(stored_length) WHERE id = 4");
    } else {
        flip(folder->ledger, at, 1);
    }
    struct err err = ERR_INIT;
    AUTO_FREE char *spare = NULL;
    AUTO_FREE char *aside = NULL;
    size_t unreadable = 0;
    must(store_spare_url(folder->url, &spare, &err), &err);
    {
        AUTO_STORE struct store *damaged = must_open(folder->url);
        assert_int_equal(problems_of(damaged, NULL), 1);
        AUTO_STORE struct store *saved = must_open(spare);
        must(store_salvage(folder->url, save_journal, saved, &unreadable, &err), &err);
        assert_int_equal(unreadable, 1);
        assert_int_equal(store_replace_file(folder->url, spare, &aside, &err), -EBUSY);
    }
    must(store_replace_file(folder->url, spare, &aside, &err), &err);
    assert_int_equal(access(aside, F_OK), 0);
    AUTO_STORE struct store *store = must_open(folder->url);
    assert_int_equal(count_runs(store), 8);
    assert_int_equal(problems_of(store, NULL), 0);
    AUTO_FREE char *aside_url = mem_printf("sqlite:%s", aside);
    AUTO_STORE struct store *old = must_open(aside_url);
    assert_int_equal(count_runs(old), 9);
    /* a second exchange takes another name */
    AUTO_FREE char *spare2 = NULL;
    AUTO_FREE char *aside2 = NULL;
    must(store_spare_url(folder->url, &spare2, &err), &err);
    store_close(must_open(spare2));
    must(store_replace_file(folder->url, spare2, &aside2, &err), &err);
    assert_string_not_equal(aside, aside2);
}

/* Wherever a page of the file is destroyed: one clear error or a counted problem, no crash, nothing
 * written; what is not on that page can be saved. */
static void survives_any_page(void **state) {
    struct folder *folder = *state;
    put_many(folder->url, 60);
    struct stat status;
    assert_int_equal(stat(folder->ledger, &status), 0);
    AUTO_STRBUF struct strbuf sound = STRBUF_INIT;
    assert_int_equal(file_read(folder->ledger, 1 << 24, &sound), 0);
    size_t best = 0;
    for (long page = 0; page < status.st_size / 4096; page++) {
        write_file(folder->ledger, sound.data, sound.length);
        flip(folder->ledger, page * 4096, 4096);
        AUTO_STRBUF struct strbuf damaged = STRBUF_INIT;
        assert_int_equal(file_read(folder->ledger, 1 << 24, &damaged), 0);
        struct err err = ERR_INIT;
        struct store *store = NULL;
        if (store_open(folder->url, STORE_READ_ONLY, &store, &err) < 0) {
            assert_string_equal(err.id, "ledger-damaged");
        } else {
            assert_true(problems_of(store, NULL) > 0);
            store_close(store);
        }
        char spare[700];
        snprintf(spare, sizeof(spare), "sqlite:%s/saved-%ld.db", folder->path, page);
        AUTO_STORE struct store *saved = must_open(spare);
        size_t unreadable = 0;
        err_clear(&err);
        if (store_salvage(folder->url, save_journal, saved, &unreadable, &err) == 0 &&
            count_runs(saved) > best)
            best = count_runs(saved);
        assert_file_is(folder->ledger, damaged.data, damaged.length);
    }
    assert_int_equal(best, 60); /* an index page: all journals are saved */
}

static void cut_short(void **state) {
    struct folder *folder = *state;
    put_many(folder->url, 60);
    assert_int_equal(truncate(folder->ledger, 3 * 4096 + 100), 0);
    struct store *store;
    try_open(folder->url, STORE_READ_WRITE, &store, "ledger-damaged");
}

/* ---- moved, read-only, full ---- */

static void a_commit_into_nowhere_is_an_error(void **state) {
    struct folder *folder = *state;
    AUTO_STORE struct store *store = must_open(folder->url);
    struct made made;
    make_run(1, &made);
    must_put(store, &made);
    char other[700];
    snprintf(other, sizeof(other), "%s/other.db", folder->path);
    assert_int_equal(rename(folder->ledger, other), 0);
    make_run(2, &made);
    struct err err = ERR_INIT;
    bool changed = false;
    assert_true(store_put(store, &made.entry, made.journal, made.length, &changed, &err) < 0);
    assert_string_equal(err.id, "ledger-unavailable");
    assert_false(changed);
}

/* Runs in a child with its own mounts, so that nothing stays behind; 77: not permitted here. */
static void in_own_mounts(const struct folder *folder, const char *mount_options,
                          void (*test)(const struct folder *folder)) {
    if (geteuid() != 0)
        skip();
    pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("tmpfs", folder->path, "tmpfs", 0, mount_options) < 0)
            _exit(77);
        test(folder);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                       \
        }                                                                   \
    } while (0)

/* A child's view of a read-only file system: writing fails with the cause, reading works, even of a
 * file with a log's mode. */
static void read_only_mount(const struct folder *folder) {
    put_many(folder->url, 3);
    CHECK(mount(NULL, folder->path, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    struct err err = ERR_INIT;
    struct store *store;
    CHECK(store_open(folder->url, STORE_READ_WRITE, &store, &err) == -EROFS);
    CHECK(strcmp(err.id, "ledger-unavailable") == 0);
    err_clear(&err);
    CHECK(store_open(folder->url, STORE_READ_ONLY, &store, &err) == 0);
    CHECK(sqlite_of(store)->immutable);
    CHECK(count_runs(store) == 3);
    store_close(store);
    AUTO_FREE char *url = mem_printf("sqlite:%s/new.db", folder->path);
    CHECK(store_open(url, STORE_READ_WRITE, &store, &err) == -EROFS);
    AUTO_FREE char *deep = mem_printf("sqlite:%s/a/b/new.db", folder->path);
    CHECK(store_open(deep, STORE_READ_WRITE, &store, &err) < 0);
    CHECK(strcmp(err.id, "ledger-unavailable") == 0);
}

static void reads_a_read_only_ledger(void **state) {
    in_own_mounts(*state, "size=4m", read_only_mount);
}

/* The same by permission: a ledger of somebody else in a folder where only reading is allowed. */
static void read_by_permission(const struct folder *folder) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
        _exit(77);
    struct err err = ERR_INIT;
    struct store *store;
    CHECK(store_open(folder->url, STORE_READ_WRITE, &store, &err) < 0);
    CHECK(strcmp(err.id, "ledger-unavailable") == 0);
    err_clear(&err);
    CHECK(store_open(folder->url, STORE_READ_ONLY, &store, &err) == 0);
    CHECK(count_runs(store) == 3);
    store_close(store);
}

static void reads_what_it_may_only_read(void **state) {
    struct folder *folder = *state;
    put_many(folder->url, 3);
    assert_int_equal(chmod(folder->ledger, 0444) | chmod(folder->path, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        read_by_permission(folder);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(folder->path, 0700), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* With a log left behind by a killed writer, ignoring the log would show old rows: refused. */
static void read_only_with_log(const struct folder *folder) {
    pid_t child = fork();
    if (child == 0) {
        put_many(folder->url, 2);
        struct store *store = must_open(folder->url);
        struct made made;
        make_run(9, &made);
        must_put(store, &made);
        _exit(0); /* without closing */
    }
    CHECK(waitpid(child, NULL, 0) == child);
    AUTO_FREE char *shm = mem_printf("%s-shm", folder->ledger);
    CHECK(unlink(shm) == 0);
    CHECK(mount(NULL, folder->path, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    struct err err = ERR_INIT;
    struct store *store;
    CHECK(store_open(folder->url, STORE_READ_ONLY, &store, &err) < 0);
    CHECK(strcmp(err.id, "ledger-unavailable") == 0);
}

static void does_not_ignore_a_log(void **state) {
    in_own_mounts(*state, "size=4m", read_only_with_log);
}

static void full_mount(const struct folder *folder) {
    AUTO_STORE struct store *store = must_open(folder->url);
    AUTO_FREE uint8_t *bytes = mem_alloc(50000);
    uint64_t x = 88172645463325252u;
    for (size_t k = 0; k < 50000; k++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        bytes[k] = (uint8_t)x;
    }
    unsigned n = 0;
    int rc = 0;
    struct err err = ERR_INIT;
    while (rc == 0 && n < 100) {
        struct made made;
        bool changed = false;
        make_run(++n, &made);
        rc = store_put(store, &made.entry, bytes, 50000, &changed, &err);
    }
    CHECK(rc < 0);
    CHECK(strcmp(err.id, "ledger-unavailable") == 0);
    CHECK(strstr(err.text, "space"));
    CHECK(count_runs(store) == n - 1);
    CHECK(problems_of(store, NULL) == 0);
    CHECK(mount(NULL, folder->path, NULL, MS_REMOUNT, "size=4m") == 0);
    struct made made;
    make_run(n, &made);
    must_put(store, &made);
    CHECK(count_runs(store) == n);
}

static void a_full_disk_loses_nothing(void **state) {
    in_own_mounts(*state, "size=600k", full_mount);
}

/* Not even the first page fits. */
static void no_room_at_all(const struct folder *folder) {
    AUTO_FREE char *filler = mem_printf("%s/filler", folder->path);
    int fd = open(filler, O_CREAT | O_WRONLY, 0600);
    char page[4096] = "x";
    while (write(fd, page, sizeof(page)) > 0)
        ;
    close(fd);
    struct err err = ERR_INIT;
    struct store *store;
    CHECK(store_open(folder->url, STORE_READ_WRITE, &store, &err) < 0);
    CHECK(strcmp(err.id, "ledger-unavailable") == 0);
    CHECK(unlink(filler) == 0);
    put_many(folder->url, 3);
}

static void a_full_disk_refuses_to_open(void **state) {
    in_own_mounts(*state, "size=1m", no_room_at_all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(private_whatever_the_umask),
        FOLDER_TEST(refuses_a_trap),
        FOLDER_TEST(no_log_on_network),
        FOLDER_TEST(never_overwrites),
        FOLDER_TEST(refuses_newer),
        FOLDER_TEST(reading_never_creates),
        FOLDER_TEST(migrates_or_leaves_alone),
        FOLDER_TEST(made_while_we_look),
        FOLDER_TEST(reads_version_1),
        FOLDER_TEST(saves_the_others),
        FOLDER_TEST(survives_any_page),
        FOLDER_TEST(cut_short),
        FOLDER_TEST(a_commit_into_nowhere_is_an_error),
        FOLDER_TEST(reads_a_read_only_ledger),
        FOLDER_TEST(reads_what_it_may_only_read),
        FOLDER_TEST(does_not_ignore_a_log),
        FOLDER_TEST(a_full_disk_loses_nothing),
        FOLDER_TEST(a_full_disk_refuses_to_open),
    };
    return cmocka_run_group_tests_name("store files", tests, NULL, NULL);
}
