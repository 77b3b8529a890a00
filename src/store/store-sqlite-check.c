/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is the ledger sound, and what can be saved if not. Checking and saving only read; the one change
 * here is the exchange of a damaged file for a rebuilt one, which renames and never overwrites.
 */
#include "store/store-sqlite.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/msg.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct checking {
    struct sqlite_store *store;
    store_problem_fn each;
    store_journal_fn sound;
    void *context;
    size_t problems;
};

static void found(struct checking *checking, const char *run, const char *part, const char *what) {
    checking->each(run, part, what, checking->context);
    checking->problems++;
}

/* Damage that stops a step is what the check is there to find; anything else (lock, disk) stops the
 * check. */
static int note_damage(struct checking *checking, int rc, struct err *err) {
    if (rc != -EBADMSG)
        return rc;
    found(checking, NULL, NULL, err->text);
    err_clear(err);
    return 0;
}

static int check_database(struct checking *checking, struct err *err) {
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(checking->store, "PRAGMA integrity_check(100)", &row, err);
    while (rc >= 0 && (rc = sql_next(checking->store, row, err)) > 0) {
        const char *text = sql_text(row, 0);
        if (text && strcmp(text, "ok") != 0)
            found(checking, NULL, NULL, text);
    }
    return note_damage(checking, rc, err);
}

/* One problem per row of a query for (run, part). */
static int check_query(struct checking *checking, const char *sql, const char *what,
                       struct err *err) {
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(checking->store, sql, &row, err);
    while (rc >= 0 && (rc = sql_next(checking->store, row, err)) > 0)
        found(checking, sql_text(row, 0), sql_text(row, 1), what);
    return note_damage(checking, rc, err);
}

/* The first journal behind id: 1 if there is one. */
static int check_journal(struct checking *checking, int64_t *inout_id, struct err *err) {
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(checking->store,
                         "SELECT id, run, part, length, sha256, encoding, content FROM journal"
                         " WHERE id > ?1 ORDER BY id LIMIT 1",
                         &row, err);
    if (rc < 0)
        return rc;
    sql_bind_int(row, 1, *inout_id);
    rc = sql_next(checking->store, row, err);
    if (rc <= 0)
        return rc;
    *inout_id = sqlite3_column_int64(row, 0);
    AUTO_FREE void *bytes = NULL;
    size_t length = 0;
    rc = sqlite_unpack(checking->store, row, 3, &bytes, &length, err);
    if (rc == -EBADMSG) {
        found(checking, sql_text(row, 1), sql_text(row, 2), err->text);
        err_clear(err);
        return 1;
    }
    AUTO_FREE char *run = mem_strdup(sql_text(row, 1));
    AUTO_FREE char *part = mem_strdup(sql_text(row, 2));
    sql_finalize_ptr(&row); /* the callback may be slow */
    if (rc == 0 && checking->sound)
        rc = checking->sound(run, part, bytes, length, checking->context, err);
    return rc < 0 ? rc : 1;
}

static int check_journals(struct checking *checking, struct err *err) {
    int64_t id = 0;
    int rc;
    do
        rc = check_journal(checking, &id, err);
    while (rc > 0);
    return note_damage(checking, rc, err);
}

int sqlite_check(struct store *store, store_problem_fn each, store_journal_fn sound, void *context,
                 size_t *ret_problems, struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    struct checking checking = {.store = self, .each = each, .sound = sound, .context = context};
    int rc = check_database(&checking, err);
    if (rc == 0)
        rc = sqlite_check_schema(self, each, context, &checking.problems, err);
    if (rc == 0)
        rc = check_journals(&checking, err);
    /* NOT INDEXED: the tables are asked themselves, a damaged index is integrity_check's to report.
     */
    if (rc == 0)
        rc = check_query(&checking,
                         "SELECT j.run, j.part FROM journal AS j NOT INDEXED"
                         " LEFT JOIN entry AS e ON e.journal = j.id WHERE e.journal IS NULL",
                         _("the index has no row for this journal: run 'probelauf ledger rebuild'"),
                         err);
    if (rc == 0)
        rc = check_query(&checking,
                         "SELECT e.run, e.part FROM entry AS e NOT INDEXED"
                         " LEFT JOIN journal AS j ON j.id = e.journal"
                         " WHERE j.id IS NULL OR j.run <> e.run OR j.part <> e.part",
                         _("the index has a row without its journal: run 'probelauf ledger "
                           "rebuild'"),
                         err);
    if (rc < 0)
        return rc;
    *ret_problems = checking.problems;
    return 0;
}

/* ---- saving ---- */

/* Beyond the last readable row of a damaged table, ids are tried this far. */
#define SALVAGE_REACH 100000

struct salvaging {
    struct sqlite_store *store;
    store_journal_fn each;
    void *context;
    size_t unreadable;
};

/* 1: there is a row with this id, given to `each` if sound; 0: none; negative: reading failed.
 * *ret_stop: `each` said stop. */
static int salvage_one(struct salvaging *salvaging, int64_t id, bool *ret_stop, struct err *err) {
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(salvaging->store,
                         "SELECT run, part, length, sha256, encoding, content FROM journal"
                         " NOT INDEXED WHERE id = ?1",
                         &row, err);
    if (rc < 0)
        return rc;
    sql_bind_int(row, 1, id);
    rc = sql_next(salvaging->store, row, err);
    if (rc <= 0)
        return rc;
    AUTO_FREE void *bytes = NULL;
    size_t length;
    rc = sqlite_unpack(salvaging->store, row, 2, &bytes, &length, err);
    const char *run = sql_text(row, 0), *part = sql_text(row, 1);
    if (rc < 0 || !run || !part)
        return rc < 0 ? rc : -EBADMSG;
    rc = salvaging->each(run, part, bytes, length, salvaging->context, err);
    *ret_stop = rc < 0;
    return rc < 0 ? rc : 1;
}

/* The largest id, or a guess where even that cannot be read. */
static int64_t last_id(struct sqlite_store *store, bool *ret_certain) {
    struct err ignored = ERR_INIT;
    int64_t id = 0;
    *ret_certain = sql_get_int(store, "SELECT coalesce(max(id), 0) FROM journal NOT INDEXED", &id,
                               &ignored) == 0;
    return *ret_certain ? id : SALVAGE_REACH;
}

int sqlite_salvage(const char *place, store_journal_fn each, void *context, size_t *ret_unreadable,
                   struct err *err) {
    AUTO_FREE char *path = NULL;
    int rc = sqlite_absolute_path(place, &path, err);
    if (rc < 0)
        return rc;
    struct sqlite_store *store;
    rc = sqlite_open_raw(path, &store, err);
    if (rc < 0)
        return rc;
    struct salvaging salvaging = {.store = store, .each = each, .context = context};
    bool certain, stop = false;
    size_t pending = 0; /* failures since the last row that was found */
    int64_t last = last_id(store, &certain);
    /* A file that does not even hold the table has nothing to save. */
    int64_t id = 0;
    rc = sql_get_int(store, "SELECT count(*) FROM sqlite_schema WHERE name = 'journal'", &id, err);
    if (rc == 0 && id == 0)
        rc = err_set(err, -EBADMSG, "ledger-damaged",
                     "'%s' holds no journals that could be saved; nothing was changed", path);
    for (id = 1; rc == 0 && id <= last; id++) {
        struct err one = ERR_INIT;
        int one_rc = salvage_one(&salvaging, id, &stop, &one);
        if (stop) {
            *err = one;
            rc = one_rc;
        } else if (one_rc < 0) {
            pending++;
        } else if (one_rc > 0) {
            salvaging.unreadable += pending;
            pending = 0;
            if (!certain && id + SALVAGE_REACH > last)
                last = id + SALVAGE_REACH;
        }
    }
    sqlite_close(&store->store);
    if (rc < 0)
        return rc;
    /* Where the table's end cannot be read nobody knows how many rows the failures stand for. */
    *ret_unreadable =
        pending > 0 && !certain ? STORE_UNKNOWN_COUNT : salvaging.unreadable + pending;
    return 0;
}

/* ---- exchanging files ---- */

static bool exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

/* PATH.WORD, or with a number where that is taken. */
static char *free_name(const char *path, const char *word) {
    for (unsigned n = 1;; n++) {
        AUTO_FREE char *name =
            n == 1 ? mem_printf("%s.%s", path, word) : mem_printf("%s.%s-%u", path, word, n);
        AUTO_FREE char *wal = mem_printf("%s-wal", name);
        if (!exists(name) && !exists(wal))
            return steal(name);
    }
}

int sqlite_spare_place(const char *place, char **ret_place, struct err *err) {
    AUTO_FREE char *path = NULL;
    int rc = sqlite_absolute_path(place, &path, err);
    if (rc < 0)
        return rc;
    *ret_place = free_name(path, "rebuilt");
    return 0;
}

void sqlite_discard_spare(const char *spare_place) {
    static const char *const suffixes[] = {"-wal", "-shm", "-journal", ""};
    assert(strstr(spare_place, ".rebuilt")); /* never a ledger that somebody uses */
    for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++) {
        AUTO_FREE char *name = mem_printf("%s%s", spare_place, suffixes[i]);
        unlink(name);
    }
}

static int move(const char *from, const char *to, struct err *err) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    /* Not every file system knows the flag; the name was free a moment ago. */
    if (errno == EINVAL && !exists(to) && rename(from, to) == 0)
        return 0;
    return err_set(err, -errno, "ledger-unavailable", "moving '%s' to '%s' failed (%s)", from, to,
                   strerror(errno));
}

static int move_if_there(const char *path, const char *aside, const char *suffix, struct err *err) {
    AUTO_FREE char *from = mem_printf("%s%s", path, suffix);
    AUTO_FREE char *to = mem_printf("%s%s", aside, suffix);
    return exists(from) ? move(from, to, err) : 0;
}

int sqlite_replace_file(const char *place, const char *new_place, char **ret_aside,
                        struct err *err) {
    AUTO_FREE char *path = NULL;
    AUTO_FREE char *new_path = NULL;
    int rc = sqlite_absolute_path(place, &path, err);
    if (rc == 0)
        rc = sqlite_absolute_path(new_place, &new_path, err);
    if (rc < 0)
        return rc;
    /* The log must be in the file before only the file is moved. */
    AUTO_FREE char *new_wal = mem_printf("%s-wal", new_path);
    if (exists(new_wal))
        return err_set(err, -EBUSY, "ledger-unavailable",
                       "the new ledger '%s' is still in use; run the command again", new_path);
    AUTO_FREE char *aside = free_name(path, "damaged");
    /* Log first: a log without its file is ignored, a foreign log beside a new file would not be.
     */
    rc = move_if_there(path, aside, "-wal", err);
    if (rc == 0)
        rc = move_if_there(path, aside, "-journal", err);
    if (rc == 0)
        rc = move_if_there(path, aside, "-shm", err);
    if (rc == 0)
        rc = move_if_there(path, aside, "", err);
    if (rc == 0)
        rc = move(new_path, path, err);
    if (rc < 0)
        return rc;
    *ret_aside = steal(aside);
    return 0;
}
