/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Journals in the ledger: taken in verbatim (packed, with the digest of the raw bytes), given back
 * byte for byte, deleted. Never interprets a journal; what the index says about it is brought by
 * the caller.
 */
#include "store/store-sqlite.h"

#include "base/digest.h"
#include "base/msg.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <zstd.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

/* ---- packing ---- */

/* Small journals get the strongest level, since a process spends less than a tenth of a second on
 * them; large ones would keep the ledger's user waiting. Figures: docs/ledger-schema.md. */
static int level_for(size_t length) {
    if (length <= 256 * KIB)
        return 19;
    if (length <= 4 * MIB)
        return 12;
    return length <= 64 * MIB ? 6 : 3;
}

struct packed {
    void *owned; /* NULL when the raw bytes are used */
    const void *bytes;
    size_t length;
    const char *encoding;
    char sha256[SHA256_HEX_SIZE];
};

static void packed_done(struct packed *packed) {
    mem_free_ptr(&packed->owned);
}
#define AUTO_PACKED __attribute__((cleanup(packed_done)))

static void pack(const void *journal, size_t length, struct packed *ret_packed) {
    struct packed packed = {.bytes = journal, .length = length, .encoding = "raw"};
    digest_sha256(journal, length, packed.sha256);
    size_t bound = ZSTD_compressBound(length);
    AUTO_FREE void *room = mem_alloc(bound);
    size_t size = ZSTD_compress(room, bound, journal, length, level_for(length));
    if (!ZSTD_isError(size) && size < length) {
        packed.owned = mem_realloc(steal(room), size, 1);
        packed.bytes = packed.owned;
        packed.length = size;
        packed.encoding = "zstd";
    }
    *ret_packed = packed;
}

static int damaged_journal(struct sqlite_store *store, const char *why, struct err *err) {
    return err_set(err, -EBADMSG, "ledger-damaged",
                   "a journal in the ledger '%s' is damaged (%s): 'probelauf ledger check' lists "
                   "them, 'probelauf ledger rebuild' saves the others",
                   store->path, why);
}

int sqlite_unpack(struct sqlite_store *store, sqlite3_stmt *row, int first, void **ret_bytes,
                  size_t *ret_length, struct err *err) {
    int64_t length = sqlite3_column_int64(row, first);
    const char *sha256 = sql_text(row, first + 1), *encoding = sql_text(row, first + 2);
    const void *content = sqlite3_column_blob(row, first + 3);
    size_t stored = (size_t)sqlite3_column_bytes(row, first + 3);
    if (length <= 0 || (uint64_t)length > STORE_JOURNAL_MAX || !content || !sha256 || !encoding)
        return damaged_journal(store, _("impossible length"), err);
    AUTO_FREE void *bytes = NULL;
    if (strcmp(encoding, "zstd") == 0) {
        /* The frame must promise what the row says before memory is spent on it. */
        if (ZSTD_getFrameContentSize(content, stored) != (unsigned long long)length)
            return damaged_journal(store, _("its packed form is damaged"), err);
        bytes = mem_alloc((size_t)length);
        size_t size = ZSTD_decompress(bytes, (size_t)length, content, stored);
        if (ZSTD_isError(size) || size != (size_t)length)
            return damaged_journal(store, _("its packed form is damaged"), err);
    } else {
        if (stored != (size_t)length)
            return damaged_journal(store, _("impossible length"), err);
        bytes = mem_alloc(stored);
        memcpy(bytes, content, stored);
    }
    char found[SHA256_HEX_SIZE];
    digest_sha256(bytes, (size_t)length, found);
    if (strcmp(found, sha256) != 0)
        return damaged_journal(store, _("its digest does not fit"), err);
    *ret_bytes = steal(bytes);
    *ret_length = (size_t)length;
    return 0;
}

/* ---- writing ---- */

static int write_entry(struct sqlite_store *store, int64_t journal_id,
                       const struct store_entry *entry, struct err *err) {
    AUTO_STMT sqlite3_stmt *statement = NULL;
    int rc = sql_prepare(store,
                         "INSERT OR REPLACE INTO entry (journal, run, part, tail, type, about,"
                         " study, started_utc_ns, ended_utc_ns, outcome, purpose, command,"
                         " group_key, wall_s, wall_bound)"
                         " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
                         " ?15)",
                         &statement, err);
    if (rc < 0)
        return rc;
    AUTO_FREE char *tail = mem_strdup(entry->run);
    for (size_t i = 0, j = strlen(tail); i + 1 < j; i++) {
        char c = tail[i];
        tail[i] = tail[--j];
        tail[j] = c;
    }
    sql_bind_int(statement, 1, journal_id);
    sql_bind_text(statement, 2, entry->run);
    sql_bind_text(statement, 3, entry->part);
    sql_bind_text(statement, 4, tail);
    sql_bind_text(statement, 5, entry->type);
    sql_bind_text(statement, 6, entry->about);
    sql_bind_text(statement, 7, entry->study);
    sql_bind_int(statement, 8, entry->started_utc_ns);
    if (entry->ended_utc_ns != 0) /* 0: not known, which is NULL and not 1970 */
        sql_bind_int(statement, 9, entry->ended_utc_ns);
    sql_bind_text(statement, 10, entry->outcome);
    sql_bind_text(statement, 11, entry->purpose);
    sql_bind_text(statement, 12, entry->command);
    sql_bind_text(statement, 13, entry->group_key);
    if (entry->has_wall) {
        int code = sqlite3_bind_double(statement, 14, entry->wall_s);
        assert(code == SQLITE_OK);
        sql_bind_text(statement, 15, entry->wall_bound ? entry->wall_bound : "exact");
    }
    return sql_next(store, statement, err);
}

static int write_journal(struct sqlite_store *store, int64_t id, const struct store_entry *entry,
                         const struct packed *packed, size_t length, struct err *err) {
    AUTO_STMT sqlite3_stmt *statement = NULL;
    const char *sql = id == 0 ? "INSERT INTO journal (run, part, length, stored_length, sha256,"
                                " encoding, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
                              : "UPDATE journal SET length = ?3, stored_length = ?4, sha256 = ?5,"
                                " encoding = ?6, content = ?7 WHERE id = ?8 AND run = ?1"
                                " AND part = ?2";
    int rc = sql_prepare(store, sql, &statement, err);
    if (rc < 0)
        return rc;
    sql_bind_text(statement, 1, entry->run);
    sql_bind_text(statement, 2, entry->part);
    sql_bind_int(statement, 3, (int64_t)length);
    sql_bind_int(statement, 4, (int64_t)packed->length);
    sql_bind_text(statement, 5, packed->sha256);
    sql_bind_text(statement, 6, packed->encoding);
    sql_bind_blob(statement, 7, packed->bytes, packed->length);
    if (id != 0)
        sql_bind_int(statement, 8, id);
    rc = sql_next(store, statement, err);
    if (rc < 0)
        return rc;
    return write_entry(store, id != 0 ? id : sqlite3_last_insert_rowid(store->db), entry, err);
}

enum prefix { PREFIX_NEW, PREFIX_SAME_OR_SHORTER, PREFIX_LONGER, PREFIX_CONFLICT };

/* How the bytes stand to what is stored under the same ids. */
static int compare_stored(struct sqlite_store *store, const struct store_entry *entry,
                          const void *journal, size_t length, enum prefix *ret_prefix,
                          int64_t *ret_id, struct err *err) {
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(store,
                         "SELECT id, length, sha256, encoding, content FROM journal"
                         " WHERE run = ?1 AND part = ?2",
                         &row, err);
    if (rc < 0)
        return rc;
    sql_bind_text(row, 1, entry->run);
    sql_bind_text(row, 2, entry->part);
    *ret_prefix = PREFIX_NEW;
    *ret_id = 0;
    rc = sql_next(store, row, err);
    if (rc <= 0)
        return rc;
    *ret_id = sqlite3_column_int64(row, 0);
    AUTO_FREE void *stored = NULL;
    size_t stored_length = 0;
    rc = sqlite_unpack(store, row, 1, &stored, &stored_length, err);
    if (rc < 0)
        return rc;
    assert(stored);
    size_t common = length < stored_length ? length : stored_length;
    if (memcmp(stored, journal, common) != 0)
        *ret_prefix = PREFIX_CONFLICT;
    else
        *ret_prefix = length > stored_length ? PREFIX_LONGER : PREFIX_SAME_OR_SHORTER;
    return 0;
}

/* ---- by which rules rows were derived ---- */

int sqlite_get_derivation(struct store *store, int *ret_derivation, struct err *err) {
    int64_t value = 0;
    int rc = sql_get_int(sqlite_of(store),
                         "SELECT coalesce(max(value), 0) FROM meta WHERE name = 'derivation'",
                         &value, err);
    if (rc < 0)
        return rc;
    *ret_derivation = value > INT32_MAX ? INT32_MAX : (int)value;
    return 0;
}

int sqlite_set_derivation(struct store *store, struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    AUTO_STMT sqlite3_stmt *statement = NULL;
    int rc =
        sql_prepare(self, "INSERT OR REPLACE INTO meta VALUES ('derivation', ?1)", &statement, err);
    if (rc < 0)
        return rc;
    sql_bind_int(statement, 1, STORE_DERIVATION);
    return sql_next(self, statement, err);
}

/* A row of this program among rows of a newer one: the newer one shall derive all anew. */
static int lower_derivation(struct sqlite_store *store, struct err *err) {
    int derivation = 0;
    int rc = sqlite_get_derivation(&store->store, &derivation, err);
    if (rc < 0 || derivation <= STORE_DERIVATION)
        return rc;
    return sqlite_set_derivation(&store->store, err);
}

/* ---- taking in ---- */

static int put_locked(struct sqlite_store *store, const struct store_entry *entry,
                      const void *journal, size_t length, const struct packed *packed,
                      bool *ret_changed, struct err *err) {
    enum prefix prefix;
    int64_t id;
    int rc = compare_stored(store, entry, journal, length, &prefix, &id, err);
    if (rc < 0)
        return rc;
    switch (prefix) {
    case PREFIX_SAME_OR_SHORTER:
        *ret_changed = false;
        return 0;
    case PREFIX_CONFLICT:
        return err_set(err, -EEXIST, "journal-conflict",
                       "the ledger already holds another journal of run %s (part %s); it stays, "
                       "this one is not taken in",
                       entry->run, entry->part);
    case PREFIX_NEW:
    case PREFIX_LONGER:
        break;
    }
    rc = write_journal(store, id, entry, packed, length, err);
    if (rc == 0)
        rc = lower_derivation(store, err);
    if (rc < 0)
        return rc;
    *ret_changed = true;
    return 0;
}

int sqlite_put(struct store *store, const struct store_entry *entry, const void *journal,
               size_t length, bool *ret_changed, struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    if (length > STORE_JOURNAL_MAX)
        return err_set(err, -EFBIG, "journal-too-large",
                       "the journal of run %s has %zu bytes, more than the ledger takes",
                       entry->run, length);
    AUTO_PACKED struct packed packed = {0};
    pack(journal, length, &packed); /* before the lock */
    bool changed = false;
    int rc = sql_change_begin(self, err);
    if (rc < 0)
        return rc;
    rc = put_locked(self, entry, journal, length, &packed, &changed, err);
    rc = sql_change_end(self, rc, err);
    if (rc < 0)
        return rc;
    *ret_changed = changed;
    return 0;
}

static int find_journal(struct sqlite_store *store, const char *run, const char *part,
                        int64_t *ret_id, struct err *err) {
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(store, "SELECT id FROM journal WHERE run = ?1 AND part = ?2", &row, err);
    if (rc < 0)
        return rc;
    sql_bind_text(row, 1, run);
    sql_bind_text(row, 2, part);
    rc = sql_next(store, row, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return err_set(err, -ENOENT, "journal-not-found",
                       "the ledger holds no journal of run %s (part %s)", run, part);
    *ret_id = sqlite3_column_int64(row, 0);
    return 0;
}

int sqlite_clear_entries(struct store *store, struct err *err) {
    return sql_exec(sqlite_of(store), "DELETE FROM entry", err);
}

int sqlite_replace_entry(struct store *store, const struct store_entry *entry, struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    int rc = sql_change_begin(self, err);
    if (rc < 0)
        return rc;
    int64_t id = 0;
    rc = find_journal(self, entry->run, entry->part, &id, err);
    if (rc == 0)
        rc = write_entry(self, id, entry, err);
    return sql_change_end(self, rc, err);
}

/* ---- reading ---- */

int sqlite_get(struct store *store, const char *run, const char *part, void **ret_bytes,
               size_t *ret_length, struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(self,
                         "SELECT length, sha256, encoding, content FROM journal"
                         " WHERE run = ?1 AND part = ?2",
                         &row, err);
    if (rc < 0)
        return rc;
    sql_bind_text(row, 1, run);
    sql_bind_text(row, 2, part);
    rc = sql_next(self, row, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return err_set(err, -ENOENT, "journal-not-found",
                       "the ledger holds no journal of run %s (part %s)", run, part);
    return sqlite_unpack(self, row, 0, ret_bytes, ret_length, err);
}

/* One statement per journal, finished before the callback: a slow reader of an export must not hold
 * a lock. */
static int next_journal(struct sqlite_store *store, int64_t *inout_id, char **ret_run,
                        char **ret_part, void **ret_bytes, size_t *ret_length, struct err *err) {
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(store,
                         "SELECT id, run, part, length, sha256, encoding, content FROM journal"
                         " WHERE id > ?1 ORDER BY id LIMIT 1",
                         &row, err);
    if (rc < 0)
        return rc;
    sql_bind_int(row, 1, *inout_id);
    rc = sql_next(store, row, err);
    if (rc <= 0)
        return rc;
    rc = sqlite_unpack(store, row, 3, ret_bytes, ret_length, err);
    if (rc < 0)
        return err_add(err, rc, "run %s", sql_text(row, 1));
    *inout_id = sqlite3_column_int64(row, 0);
    *ret_run = mem_strdup(sql_text(row, 1));
    *ret_part = mem_strdup(sql_text(row, 2));
    return 1;
}

int sqlite_each_journal(struct store *store, store_journal_fn each, void *context,
                        struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    for (int64_t id = 0;;) {
        AUTO_FREE char *run = NULL;
        AUTO_FREE char *part = NULL;
        AUTO_FREE void *bytes = NULL;
        size_t length = 0;
        int rc = next_journal(self, &id, &run, &part, &bytes, &length, err);
        if (rc <= 0)
            return rc;
        rc = each(run, part, bytes, length, context, err);
        if (rc < 0)
            return rc;
    }
}

/* ---- deleting ---- */

static int purge_locked(struct sqlite_store *store, const char *const *runs, size_t count,
                        size_t *ret_deleted, struct err *err) {
    AUTO_STMT sqlite3_stmt *statement = NULL;
    /* The index row goes with its journal (ON DELETE CASCADE). */
    int rc = sql_prepare(store,
                         "DELETE FROM journal WHERE run = ?1 OR id IN"
                         " (SELECT journal FROM entry WHERE about = ?1)",
                         &statement, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++) {
        sql_bind_text(statement, 1, runs[i]);
        rc = sql_next(store, statement, err);
        if (rc < 0)
            return rc;
        *ret_deleted += (size_t)sqlite3_changes64(store->db);
        sqlite3_reset(statement);
    }
    return 0;
}

int sqlite_purge(struct store *store, const char *const *runs, size_t count, size_t *ret_deleted,
                 struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    /* What is purged shall be gone from the file too, not only from its tables. */
    int rc = sql_exec(self, "PRAGMA secure_delete = ON", err);
    if (rc == 0)
        rc = sql_change_begin(self, err);
    if (rc < 0)
        return rc;
    size_t deleted = 0;
    rc = purge_locked(self, runs, count, &deleted, err);
    rc = sql_change_end(self, rc, err);
    if (rc < 0)
        return rc;
    *ret_deleted = deleted;
    if (deleted == 0 || self->batch)
        return 0;
    /* Space back and old pages out of the log; a reader in the way only delays that. */
    struct err later = ERR_INIT;
    (void)sql_exec(self, "PRAGMA incremental_vacuum", &later);
    (void)sql_exec(self, "PRAGMA wal_checkpoint(TRUNCATE)", &later);
    return 0;
}
