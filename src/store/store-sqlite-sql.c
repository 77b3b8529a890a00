/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thin wrappers over SQLite: result codes become struct err in one place, statements are finalized
 * by scope, changes are transactions, a lock that somebody else holds is waited for with jitter and
 * a limit. Knows no table.
 */
#include "store/store-sqlite.h"

#include "base/clock.h"
#include "base/msg.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#define PAUSE_MAX_NS (50 * NS_PER_MS)

void sql_finalize_ptr(sqlite3_stmt **statement) {
    sqlite3_finalize(*statement); /* accepts NULL; its code repeats an error already reported */
    *statement = NULL;
}

/* ---- errors ---- */

/* The file system's own error behind an SQLite one, or the fallback. */
static int system_errno(const struct sqlite_store *store, int fallback) {
    int number = store->db ? sqlite3_system_errno(store->db) : 0;
    return number > 0 ? number : fallback;
}

/* Codes: sqlite3.h, "Result Codes"; the low byte is the primary code. */
int sql_error(struct sqlite_store *store, int sqlite_code, struct err *err) {
    const char *path = store->path;
    const char *words = store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(sqlite_code);
    switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return err_set(err, -EAGAIN, "ledger-unavailable",
                       "the ledger '%s' stayed locked by another process; try again, or move it "
                       "off a network file system",
                       path);
    case SQLITE_FULL:
        return err_set(err, -ENOSPC, "ledger-unavailable",
                       "no space left for the ledger '%s'; free some and run any command again",
                       path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return err_set(err, -EROFS, "ledger-unavailable",
                       "the ledger '%s' cannot be written (%s); make it and its folder writable "
                       "or name another with --ledger",
                       path, words);
    case SQLITE_CANTOPEN:
        return err_set(err, -system_errno(store, ENOENT), "ledger-unavailable",
                       "the ledger '%s' cannot be opened (%s); check the permissions of its "
                       "folder or name another with --ledger",
                       path, strerror(system_errno(store, ENOENT)));
    case SQLITE_IOERR:
        return err_set(err, -system_errno(store, EIO), "ledger-unavailable",
                       "reading or writing the ledger '%s' failed (%s: %s); check the disk", path,
                       words, strerror(system_errno(store, EIO)));
    case SQLITE_ERROR: /* our statements are constant: one that does not compile met another schema
                        */
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
        return err_set(err, -EBADMSG, "ledger-damaged",
                       "the ledger '%s' is damaged (%s); nothing was changed: 'probelauf ledger "
                       "rebuild' saves what can be read",
                       path, words);
    case SQLITE_NOTADB:
        return err_set(err, -EBADMSG, "ledger-damaged",
                       "'%s' is no ledger or a damaged one (%s); nothing was changed: name "
                       "another with --ledger, or move it away",
                       path, words);
    case SQLITE_TOOBIG:
        return err_set(err, -EFBIG, "journal-too-large",
                       "a record is too large for the ledger '%s' (%s)", path, words);
    case SQLITE_NOMEM:
        return err_set(err, -ENOMEM, "ledger-unavailable", "not enough memory for the ledger '%s'",
                       path);
    default:
        return err_set(err, -EIO, "ledger-unavailable", "the ledger '%s' failed: %s (code %d)",
                       path, words, sqlite_code);
    }
}

/* ---- statements ---- */

int sql_exec(struct sqlite_store *store, const char *sql, struct err *err) {
    int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : sql_error(store, code, err);
}

int sql_prepare(struct sqlite_store *store, const char *sql, sqlite3_stmt **ret_statement,
                struct err *err) {
    int code = sqlite3_prepare_v2(store->db, sql, -1, ret_statement, NULL);
    return code == SQLITE_OK ? 0 : sql_error(store, code, err);
}

/* Binding fails only for a wrong index, a lack of memory, or a value beyond SQLite's limits, which
 * callers test before. */
void sql_bind_text(sqlite3_stmt *statement, int index, const char *text) {
    int code = text ? sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC)
                    : sqlite3_bind_null(statement, index);
    assert(code == SQLITE_OK);
}

void sql_bind_int(sqlite3_stmt *statement, int index, int64_t value) {
    int code = sqlite3_bind_int64(statement, index, value);
    assert(code == SQLITE_OK);
}

void sql_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t length) {
    int code = sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_STATIC);
    assert(code == SQLITE_OK);
}

int sql_next(struct sqlite_store *store, sqlite3_stmt *statement, struct err *err) {
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return 1;
    return code == SQLITE_DONE ? 0 : sql_error(store, code, err);
}

int sql_get_int(struct sqlite_store *store, const char *sql, int64_t *ret_value, struct err *err) {
    AUTO_STMT sqlite3_stmt *statement = NULL;
    int rc = sql_prepare(store, sql, &statement, err);
    if (rc < 0)
        return rc;
    rc = sql_next(store, statement, err);
    if (rc < 0)
        return rc;
    assert(rc == 1); /* aggregates and pragmas always answer */
    *ret_value = sqlite3_column_int64(statement, 0);
    return 0;
}

const char *sql_text(sqlite3_stmt *statement, int column) {
    return (const char *)sqlite3_column_text(statement, column);
}

/* ---- transactions ---- */

int sql_check_place(struct sqlite_store *store, struct err *err) {
    int moved = 0;
    int code = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (code == SQLITE_OK && !moved)
        return 0;
    return err_set(err, -ESTALE, "ledger-unavailable",
                   "the ledger '%s' was moved or deleted meanwhile; run the command again",
                   store->path);
}

int sql_change_begin(struct sqlite_store *store, struct err *err) {
    return sql_exec(store, store->batch ? "SAVEPOINT change" : "BEGIN IMMEDIATE", err);
}

/* Takes back what was changed. Some failures (no space, no memory) make SQLite take back the whole
 * transaction by itself. */
static void take_back(struct sqlite_store *store) {
    struct err ignored = ERR_INIT;
    if (sqlite3_get_autocommit(store->db))
        return;
    if (!store->batch)
        (void)sql_exec(store, "ROLLBACK", &ignored);
    else if (sql_exec(store, "ROLLBACK TO change", &ignored) == 0)
        (void)sql_exec(store, "RELEASE change", &ignored);
}

int sql_change_end(struct sqlite_store *store, int rc, struct err *err) {
    if (rc == 0)
        rc = sql_exec(store, store->batch ? "RELEASE change" : "COMMIT", err);
    if (rc < 0) {
        take_back(store);
        return rc;
    }
    /* A commit into a file that nobody finds again is none: the caller would delete the journal. */
    return store->batch ? 0 : sql_check_place(store, err);
}

/* ---- waiting for locks ---- */

static uint64_t next_jitter(struct sqlite_store *store) { /* xorshift64: spread, not secrecy */
    store->jitter ^= store->jitter << 13;
    store->jitter ^= store->jitter >> 7;
    store->jitter ^= store->jitter << 17;
    return store->jitter;
}

bool sql_pause(struct sqlite_store *store, int *inout_count) {
    int64_t now_ns = clock_mono_ns();
    int count = (*inout_count)++;
    if (count == 0)
        store->waiting_since_ns = now_ns;
    int64_t left_ns = store->patience_ns - (now_ns - store->waiting_since_ns);
    if (left_ns <= 0)
        return false;
    int64_t pause_ns = count < 6 ? NS_PER_MS << count : PAUSE_MAX_NS;
    if (pause_ns > PAUSE_MAX_NS)
        pause_ns = PAUSE_MAX_NS;
    pause_ns = pause_ns / 2 + (int64_t)(next_jitter(store) % (uint64_t)pause_ns);
    if (pause_ns > left_ns)
        pause_ns = left_ns;
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)pause_ns};
    nanosleep(&pause, NULL); /* a signal only shortens it */
    return true;
}

static int on_busy(void *context, int count) {
    struct sqlite_store *store = context;
    return sql_pause(store, &count);
}

void sql_set_busy_handler(struct sqlite_store *store) {
    sqlite3_busy_handler(store->db, on_busy, store);
}
