/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ledger when the machine fails under it: the n-th write, sync or truncate of SQLite for n = 1,
 * 2, …; file systems that refuse locks; locks that others hold. After every failure the ledger is
 * as before or as after, never between.
 */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* ---- SQLite's system calls, replaced (sqlite3.h, xSetSystemCall) ---- */

static long fail_at; /* the n-th call fails; 0: none */
static long calls;
static int fail_with;

static int fails(void) {
    if (fail_at != 0 &&
        ++calls >= fail_at) { /* and all later ones: a full or broken disk stays so */
        errno = fail_with;
        return 1;
    }
    return 0;
}

static ssize_t failing_pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    return fails() ? -1 : pwrite(fd, bytes, length, offset);
}

static ssize_t failing_write(int fd, const void *bytes, size_t length) {
    return fails() ? -1 : write(fd, bytes, length);
}

static int failing_ftruncate(int fd, off_t length) {
    return fails() ? -1 : ftruncate(fd, length);
}

static int failing_fallocate(int fd, off_t offset, off_t length) {
    return fails() ? fail_with : posix_fallocate(fd, offset, length);
}

/* SQLite's table has no sync; these stand before libc's for the whole test program. No power is cut
 * here, so they need not wait for the disk. */
int fsync(int fd) {
    (void)fd;
    return fails() ? -1 : 0;
}

int fdatasync(int fd) {
    (void)fd;
    return fails() ? -1 : 0;
}

static int lock_errno; /* what locks answer; 0: they work */

static int failing_fcntl(int fd, int command, void *argument) {
    if (lock_errno != 0 && (command == F_SETLK || command == F_SETLKW)) {
        errno = lock_errno;
        return -1;
    }
    return fcntl(fd, command, argument);
}

static void replace_call(const char *name, sqlite3_syscall_ptr with) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    assert_int_equal(vfs->xSetSystemCall(vfs, name, with), SQLITE_OK);
}

#define REPLACE(name, with) replace_call(name, (sqlite3_syscall_ptr)(void (*)(void))(with))

static int faults_setup(void **state) {
    fail_at = calls = 0;
    lock_errno = 0;
    REPLACE("pwrite", failing_pwrite);
    REPLACE("pwrite64", failing_pwrite);
    REPLACE("write", failing_write);
    REPLACE("ftruncate", failing_ftruncate);
    REPLACE("fallocate", failing_fallocate);
    REPLACE("fcntl", failing_fcntl);
    return folder_setup(state);
}

static int faults_teardown(void **state) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, NULL, NULL); /* all back to their defaults */
    return folder_teardown(state);
}

#define FAULT_TEST(name) cmocka_unit_test_setup_teardown(name, faults_setup, faults_teardown)

static size_t count_runs(struct store *store) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    size_t count;
    struct err err = ERR_INIT;
    must(store_list(store, &(struct store_query){0}, arena, &entries, &count, &err), &err);
    return count;
}

static void one_put_with_fault(const struct folder *folder, bool network, long n,
                               bool *ret_failed) {
    struct sqlite_open_options options = {.network = network, .patience_ns = NS_PER_S};
    struct err err = ERR_INIT;
    struct sqlite_store *store = NULL;
    struct made made;
    bool changed = false;
    fail_at = n;
    calls = 0;
    int rc = sqlite_open_path(folder->ledger, &options, &store, &err);
    if (rc == 0) {
        make_run(1, &made);
        rc = store_put(&store->store, &made.entry, made.journal, made.length, &changed, &err);
        store_close(&store->store);
    }
    *ret_failed = calls >= n;
    fail_at = 0;
    if (rc < 0) {
        assert_string_equal(err.id, "ledger-unavailable");
        assert_false(changed);
    }
    AUTO_STORE struct store *after = must_open(folder->url);
    size_t count = count_runs(after);
    /* 0 promised that it is there; an error promises nothing but that the ledger is sound */
    assert_true(rc < 0 ? count <= 1 : count == 1);
    assert_int_equal(problems_of(after, NULL), 0);
    make_run(1, &made);
    must(store_put(after, &made.entry, made.journal, made.length, &changed, &err), &err);
    assert_int_equal(count_runs(after), 1);
}

static void any_write_may_fail(void **state) {
    struct folder *folder = *state;
    const int errors[] = {ENOSPC, EIO};
    size_t tried = 0;
    for (unsigned i = 0; i < 2 * ARRAY_LENGTH(errors); i++) {
        fail_with = errors[i / 2];
        bool failed = true;
        for (long n = 1; failed; n++, tried++) {
            assert_true(n < 1000);
            one_put_with_fault(folder, i % 2, n, &failed);
            const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
            for (unsigned k = 0; k < ARRAY_LENGTH(suffixes); k++) {
                char name[700];
                snprintf(name, sizeof(name), "%s%s", folder->ledger, suffixes[k]);
                unlink(name);
            }
        }
    }
    assert_true(tried > 40); /* the faults did happen */
}

/* ---- locks ---- */

static void refused_locks(void **state) {
    struct folder *folder = *state;
    const int errors[] = {ENOLCK, EACCES, EIO, ENOSYS, EPERM};
    for (unsigned i = 0; i < 2 * ARRAY_LENGTH(errors); i++) {
        struct sqlite_open_options options = {.network = i % 2, .patience_ns = 20 * NS_PER_MS};
        struct sqlite_store *store;
        struct err err = ERR_INIT;
        lock_errno = errors[i / 2];
        assert_true(sqlite_open_path(folder->ledger, &options, &store, &err) < 0);
        assert_string_equal(err.id, "ledger-unavailable");
        lock_errno = 0;
    }
    /* Gone while it is open. Without a log: with one, SQLite itself waits ten seconds before it
     * gives up. */
    struct sqlite_open_options options = {.network = true, .patience_ns = 20 * NS_PER_MS};
    struct sqlite_store *opened;
    struct err err = ERR_INIT;
    must(sqlite_open_path(folder->ledger, &options, &opened, &err), &err);
    AUTO_STORE struct store *store = &opened->store;
    struct made made;
    make_run(1, &made);
    lock_errno = ENOLCK;
    bool changed = false;
    assert_true(store_put(store, &made.entry, made.journal, made.length, &changed, &err) < 0);
    assert_string_equal(err.id, "ledger-unavailable");
    lock_errno = 0;
    must_put(store, &made);
}

/* A child that holds the write lock until its pipe is closed. */
static pid_t hold_lock(const struct folder *folder, int *ret_fd) {
    int ready[2], release[2];
    assert_int_equal(pipe(ready) | pipe(release), 0);
    pid_t child = fork();
    if (child == 0) {
        close(release[1]);
        sqlite3 *db;
        char byte = 1;
        if (sqlite3_open(folder->ledger, &db) != SQLITE_OK ||
            sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
            write(ready[1], &byte, 1) != 1)
            _exit(1);
        _exit(read(release[0], &byte, 1) < 0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    close(release[0]);
    *ret_fd = release[1];
    return child;
}

static void a_lock_held_too_long_is_an_error(void **state) {
    struct folder *folder = *state;
    store_close(must_open(folder->url));
    int fd;
    pid_t child = hold_lock(folder, &fd);
    /* opening and reading go on beside a writer */
    AUTO_STORE struct store *store = must_open(folder->url);
    assert_int_equal(count_runs(store), 0);
    store_set_patience(store, 100 * NS_PER_MS);
    struct made made;
    make_run(1, &made);
    struct err err = ERR_INIT;
    bool changed = false;
    assert_int_equal(store_put(store, &made.entry, made.journal, made.length, &changed, &err),
                     -EAGAIN);
    assert_string_equal(err.id, "ledger-unavailable");
    assert_non_null(strstr(err.text, "locked"));
    assert_int_equal(store_begin(store, &err), -EAGAIN);
    close(fd); /* released while the next one waits */
    store_set_patience(store, 60 * NS_PER_S);
    must_put(store, &made);
    assert_int_equal(count_runs(store), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* With a rollback journal a writer that is killed leaves one behind; the next one cleans up. */
static void a_killed_holder_blocks_nobody(void **state) {
    struct folder *folder = *state;
    store_close(must_open(folder->url));
    int fd;
    pid_t child = hold_lock(folder, &fd);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(fd);
    AUTO_STORE struct store *store = must_open(folder->url);
    store_set_patience(store, 0);
    struct made made;
    make_run(1, &made);
    must_put(store, &made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FAULT_TEST(any_write_may_fail),
        FAULT_TEST(refused_locks),
        FAULT_TEST(a_lock_held_too_long_is_an_error),
        FAULT_TEST(a_killed_holder_blocks_nobody),
    };
    return cmocka_run_group_tests_name("store faults", tests, NULL, NULL);
}
