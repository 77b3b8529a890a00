/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ledger's schema as numbered migrations. A migration that was released is never edited: a
 * change is a new one. Tables and columns: docs/ledger-schema.md. The file says by application_id
 * that it is ours and by user_version how old it is.
 */
#include "store/store-sqlite.h"

#include "base/clock.h"
#include "base/msg.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* Journals are rows of their own so that no list ever touches a blob; `tail` is the run id
 * backwards, so that "any unique tail" is a range of an index. */
static const char version_1[] =
    "CREATE TABLE journal ("
    " id INTEGER PRIMARY KEY CHECK (id > 0),"
    " run TEXT NOT NULL,"
    " part TEXT NOT NULL,"
    " length INTEGER NOT NULL CHECK (length > 0),"
    " stored_length INTEGER NOT NULL CHECK (stored_length = length(content)),"
    " sha256 TEXT NOT NULL CHECK (length(sha256) = 64),"
    " encoding TEXT NOT NULL CHECK (encoding IN ('raw', 'zstd')),"
    " content BLOB NOT NULL,"
    " UNIQUE (run, part)"
    ") STRICT;"
    "CREATE TABLE entry ("
    " journal INTEGER PRIMARY KEY REFERENCES journal (id) ON DELETE CASCADE,"
    " run TEXT NOT NULL,"
    " part TEXT NOT NULL,"
    " tail TEXT NOT NULL,"
    " type TEXT NOT NULL CHECK (type IN ('run', 'event')),"
    " about TEXT,"
    " study TEXT,"
    " started_utc_ns INTEGER NOT NULL,"
    " ended_utc_ns INTEGER,"
    " outcome TEXT,"
    " purpose TEXT,"
    " command TEXT,"
    " group_key TEXT,"
    " wall_s REAL,"
    " wall_bound TEXT CHECK (wall_bound IN ('exact', 'at-least', 'at-most')),"
    " CHECK ((wall_s IS NULL) = (wall_bound IS NULL)),"
    " UNIQUE (run, part)"
    ") STRICT;"
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE INDEX journal_by_size ON journal (length, stored_length);"
    "CREATE INDEX entry_by_time ON entry (started_utc_ns, run, part, type);"
    "CREATE INDEX entry_by_tail ON entry (tail);"
    "CREATE INDEX entry_by_about ON entry (about, started_utc_ns) WHERE about IS NOT NULL;"
    "CREATE INDEX entry_by_study ON entry (study, started_utc_ns, run, part)"
    " WHERE study IS NOT NULL;"
    "CREATE INDEX entry_by_group ON entry (group_key, started_utc_ns, run, part)"
    " WHERE group_key IS NOT NULL;"
    "CREATE INDEX entry_by_outcome ON entry (outcome, started_utc_ns, run, part)"
    " WHERE outcome IS NOT NULL;";

const struct sqlite_migration sqlite_migrations[] = {
    {.version = 1, .sql = version_1},
};
const size_t sqlite_migration_count = ARRAY_LENGTH(sqlite_migrations);

/* ---- what kind of database is it ---- */

struct identity {
    int64_t application_id, version, objects;
};

/* All from one snapshot: another process may be making the tables at this moment. */
static int read_identity(struct sqlite_store *store, struct identity *ret, struct err *err) {
    bool own = sqlite3_get_autocommit(store->db);
    int rc = own ? sql_exec(store, "BEGIN", err) : 0;
    if (rc < 0)
        return rc;
    rc = sql_get_int(store, "SELECT count(*) FROM sqlite_schema", &ret->objects, err);
    if (rc == 0)
        rc = sql_get_int(store, "PRAGMA application_id", &ret->application_id, err);
    if (rc == 0)
        rc = sql_get_int(store, "PRAGMA user_version", &ret->version, err);
    struct err ignored = ERR_INIT;
    if (own && !sqlite3_get_autocommit(store->db))
        (void)sql_exec(store, "ROLLBACK", &ignored); /* nothing was changed */
    return rc;
}

/* 0: an empty database. */
int sqlite_read_version(struct sqlite_store *store, int *ret_version, struct err *err) {
    struct identity found = {0};
    int rc = read_identity(store, &found, err);
    if (rc < 0)
        return rc;
    bool empty = found.application_id == 0 && found.version == 0 && found.objects == 0;
    if (!empty && found.application_id != SQLITE_LEDGER_APPLICATION_ID)
        return err_set(err, -EMEDIUMTYPE, "ledger-foreign",
                       "'%s' is a database of another program; nothing was changed: name another "
                       "file with --ledger",
                       store->path);
    if (!empty && (found.version < 1 || found.version > INT32_MAX))
        return err_set(err, -EBADMSG, "ledger-damaged",
                       "the ledger '%s' is damaged (it has no schema version); nothing was "
                       "changed: 'probelauf ledger rebuild' saves what can be read",
                       store->path);
    *ret_version = (int)found.version;
    return 0;
}

static int refuse_newer(struct sqlite_store *store, int version, int newest, struct err *err) {
    return err_set(err, -ENOTSUP, "ledger-newer",
                   "the ledger '%s' has schema version %d and this program knows versions up to "
                   "%d; nothing was changed: use a newer probelauf",
                   store->path, version, newest);
}

/* ---- migrating ---- */

static int apply(struct sqlite_store *store, const struct sqlite_migration *migrations,
                 size_t count, struct err *err) {
    int version;
    /* Again, now under the lock: another process may have migrated meanwhile. */
    int rc = sqlite_read_version(store, &version, err);
    if (rc < 0)
        return rc;
    bool fresh = version == 0;
    for (size_t i = 0; i < count; i++) {
        assert(migrations[i].version == (int)i + 1);
        if (migrations[i].version <= version)
            continue;
        rc = sql_exec(store, migrations[i].sql, err);
        if (rc < 0)
            return err_add(err, rc, "bringing the ledger to schema version %d",
                           migrations[i].version);
    }
    if (version >= migrations[count - 1].version)
        return 0;
    /* Pragmas take no parameters; both values are ours. Both are part of the transaction (they live
     * in page 1). */
    AUTO_STRBUF struct strbuf sql = STRBUF_INIT;
    strbuf_printf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                  SQLITE_LEDGER_APPLICATION_ID, migrations[count - 1].version);
    rc = sql_exec(store, strbuf_str(&sql), err);
    if (rc < 0 || !fresh)
        return rc;
    return sqlite_set_derivation(&store->store, err); /* no row yet that is older */
}

int sqlite_migrate(struct sqlite_store *store, const struct sqlite_migration *migrations,
                   size_t count, struct err *err) {
    assert(count > 0);
    int newest = migrations[count - 1].version, version;
    int rc = sqlite_read_version(store, &version, err);
    if (rc < 0)
        return rc;
    if (version > newest)
        return refuse_newer(store, version, newest, err);
    if (version == newest)
        return 0;
    if (store->mode == STORE_READ_ONLY)
        return err_set(err, -EROFS, "ledger-unavailable",
                       "the ledger '%s' was written by an older probelauf and must be brought up "
                       "to date first, but it cannot be written; make it and its folder writable",
                       store->path);
    rc = sql_change_begin(store, err);
    if (rc < 0)
        return rc;
    return sql_change_end(store, apply(store, migrations, count, err), err);
}

/* ---- is the schema what the migrations make ---- */

/* The text that made a table or index; "" when there is none of that name. */
static int schema_text(struct sqlite_store *store, const char *name, struct strbuf *out,
                       struct err *err) {
    AUTO_STMT sqlite3_stmt *statement = NULL;
    int rc = sql_prepare(store, "SELECT sql FROM sqlite_schema WHERE name = ?1 AND sql IS NOT NULL",
                         &statement, err);
    if (rc < 0)
        return rc;
    sql_bind_text(statement, 1, name);
    rc = sql_next(store, statement, err);
    if (rc > 0)
        strbuf_add_str(out, sql_text(statement, 0));
    return rc < 0 ? rc : 0;
}

/* Each name of `a` that is not in `b`, or whose text differs there. */
static int compare_schema(struct sqlite_store *a, struct sqlite_store *b, const char *what,
                          bool same_text, store_problem_fn each, void *context,
                          size_t *inout_problems, struct err *err) {
    AUTO_STMT sqlite3_stmt *names = NULL;
    int rc =
        sql_prepare(a, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL", &names, err);
    if (rc < 0)
        return rc;
    while ((rc = sql_next(a, names, err)) > 0) {
        AUTO_STRBUF struct strbuf other = STRBUF_INIT;
        rc = schema_text(b, sql_text(names, 0), &other, err);
        if (rc < 0)
            return rc;
        if (other.length == 0 ||
            (same_text && strcmp(strbuf_str(&other), sql_text(names, 1)) != 0)) {
            AUTO_FREE char *text = mem_printf("%s: %s", what, sql_text(names, 0));
            each(NULL, NULL, text, context);
            (*inout_problems)++;
        }
    }
    return rc;
}

int sqlite_check_schema(struct sqlite_store *store, store_problem_fn each, void *context,
                        size_t *inout_problems, struct err *err) {
    struct sqlite_store model = {.path = store->path, .mode = STORE_READ_WRITE};
    int code = sqlite3_open(":memory:", &model.db);
    int rc = code == SQLITE_OK ? 0 : sql_error(&model, code, err);
    for (size_t i = 0; rc == 0 && i < sqlite_migration_count; i++)
        rc = sql_exec(&model, sqlite_migrations[i].sql, err);
    if (rc == 0)
        rc = compare_schema(&model, store, _("missing or different in the schema"), true, each,
                            context, inout_problems, err);
    if (rc == 0)
        rc = compare_schema(store, &model, _("not part of the schema"), false, each, context,
                            inout_problems, err);
    sqlite3_close(model.db);
    return rc;
}
