/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside the SQLite backend: the connection, thin wrappers that turn SQLite's result codes into
 * struct err, and the migrations. Only store-sqlite*.c and the tests of this layer include it.
 */
#pragma once

#include "base/strbuf.h"
#include "store/store-ops.h"

#include <sqlite3.h>

#define SQLITE_LEDGER_APPLICATION_ID 0x504c4447 /* "PLDG" in the header of the file */
#define SQLITE_LEDGER_PATIENCE_NS    (INT64_C(10) * 1000000000)
#define SQLITE_LOOK_PATIENCE_NS      (NS_PER_S / 20)

struct sqlite_store {
    struct store store;
    sqlite3 *db;
    char *path; /* absolute */
    enum store_mode mode;
    bool network;             /* path_is_on_network: rollback journal instead of WAL */
    bool immutable;           /* read-only folder: opened without any locking */
    bool batch;               /* between store_begin and store_commit */
    const char *journal_mode; /* "wal" or "delete" */
    int64_t patience_ns;
    int64_t waiting_since_ns; /* of the lock being waited for */
    uint64_t jitter;
};

/* ---- store-sqlite-sql.c: wrappers ---- */

void sql_finalize_ptr(sqlite3_stmt **statement);
#define AUTO_STMT __attribute__((cleanup(sql_finalize_ptr)))

/* The one place that turns a result code of SQLite into an error of ours. */
int sql_error(struct sqlite_store *store, int sqlite_code, struct err *err);
/* Statements without parameters. */
int sql_exec(struct sqlite_store *store, const char *sql, struct err *err);
int sql_prepare(struct sqlite_store *store, const char *sql, sqlite3_stmt **ret_statement,
                struct err *err);
/* Parameters count from 1. NULL text binds NULL. Bound bytes must live until the statement is
 * finalized or bound anew. */
void sql_bind_text(sqlite3_stmt *statement, int index, const char *text);
void sql_bind_int(sqlite3_stmt *statement, int index, int64_t value);
void sql_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t length);
/* 1: a row; 0: no further row; negative: error. */
int sql_next(struct sqlite_store *store, sqlite3_stmt *statement, struct err *err);
/* First column of the first row as integer. */
int sql_get_int(struct sqlite_store *store, const char *sql, int64_t *ret_value, struct err *err);
const char *sql_text(sqlite3_stmt *statement, int column); /* borrowed; NULL for NULL */

/* A change: its own transaction, or a savepoint inside a batch. sql_change_end commits when rc is 0
 * and takes back otherwise; it returns rc or the commit's error. */
int sql_change_begin(struct sqlite_store *store, struct err *err);
int sql_change_end(struct sqlite_store *store, int rc, struct err *err);
/* The file at our path is still the one we have open. */
int sql_check_place(struct sqlite_store *store, struct err *err);

void sql_set_busy_handler(struct sqlite_store *store);
/* For what SQLite's own handler is not asked about: true (after a pause) as long as the patience
 * lasts. */
bool sql_pause(struct sqlite_store *store, int *inout_count);

/* ---- store-sqlite-schema.c: migrations ---- */

struct sqlite_migration {
    int version; /* 1, 2, … without holes */
    const char *sql;
};
extern const struct sqlite_migration sqlite_migrations[];
extern const size_t sqlite_migration_count;

/* Brings an empty or older database to the newest version, in one transaction; refuses a newer or
 * foreign one. */
int sqlite_migrate(struct sqlite_store *store, const struct sqlite_migration *migrations,
                   size_t count, struct err *err);
int sqlite_read_version(struct sqlite_store *store, int *ret_version, struct err *err);
/* Calls back for each table or index that differs from what the migrations make. */
int sqlite_check_schema(struct sqlite_store *store, store_problem_fn each, void *context,
                        size_t *inout_problems, struct err *err);

/* ---- store-sqlite.c: opening ---- */

struct sqlite_open_options {
    enum store_mode mode;
    bool network; /* treat the folder as one on a network file system, whatever it is */
    int64_t patience_ns;
};
int sqlite_open_path(const char *path, const struct sqlite_open_options *options,
                     struct sqlite_store **ret_store, struct err *err);
/* A bare connection for reading, without migration or schema test (salvage). */
int sqlite_open_raw(const char *path, struct sqlite_store **ret_store, struct err *err);
void sqlite_close(struct store *store);
struct sqlite_store *sqlite_of(struct store *store);
int sqlite_absolute_path(const char *place, char **ret_path, struct err *err);

/* ---- store-sqlite-rows.c: journals and index rows ---- */

int sqlite_put(struct store *store, const struct store_entry *entry, const void *journal,
               size_t length, bool *ret_changed, struct err *err);
int sqlite_get(struct store *store, const char *run, const char *part, void **ret_bytes,
               size_t *ret_length, struct err *err);
int sqlite_each_journal(struct store *store, store_journal_fn each, void *context, struct err *err);
int sqlite_get_derivation(struct store *store, int *ret_derivation, struct err *err);
int sqlite_set_derivation(struct store *store, struct err *err);
int sqlite_clear_entries(struct store *store, struct err *err);
int sqlite_replace_entry(struct store *store, const struct store_entry *entry, struct err *err);
int sqlite_purge(struct store *store, const char *const *runs, size_t count, size_t *ret_deleted,
                 struct err *err);
/* Unpacks the journal of a row whose columns `first`… are length, sha256, encoding, content.
 * -EBADMSG: it does not fit. */
int sqlite_unpack(struct sqlite_store *store, sqlite3_stmt *row, int first, void **ret_bytes,
                  size_t *ret_length, struct err *err);

/* ---- store-sqlite-list.c: the index ---- */

int sqlite_list(struct store *store, const struct store_query *query, struct arena *arena,
                struct store_entry **ret_entries, size_t *ret_count, struct err *err);
/* The statement for a query; tests ask SQLite for its plan. */
void sqlite_list_sql(const struct store_query *query, struct strbuf *out);
int sqlite_info(struct store *store, struct arena *arena, struct store_info *ret_info,
                struct err *err);

/* ---- store-sqlite-check.c: verifying and saving ---- */

int sqlite_check(struct store *store, store_problem_fn each, store_journal_fn sound, void *context,
                 size_t *ret_problems, struct err *err);
int sqlite_salvage(const char *place, store_journal_fn each, void *context, size_t *ret_unreadable,
                   struct err *err);
int sqlite_replace_file(const char *place, const char *new_place, char **ret_aside,
                        struct err *err);
int sqlite_spare_place(const char *place, char **ret_place, struct err *err);
void sqlite_discard_spare(const char *spare_place);
