/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ledger in one SQLite file: opening. Private folder and file whatever the umask, write-ahead
 * log except on network file systems, every commit synced. A file that is not ours, newer or
 * damaged is refused and never written.
 */
#include "store/store-sqlite.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sqlite_store *sqlite_of(struct store *store) {
    assert(store->ops == &store_sqlite_ops);
    return (struct sqlite_store *)(void *)store; /* its first member */
}

void sqlite_close(struct store *store) {
    struct sqlite_store *self = sqlite_of(store);
    if (self->batch)
        store_rollback(store);
    /* Statements are finalized by scope, so nothing is busy. */
    int code = sqlite3_close(self->db);
    assert(code == SQLITE_OK);
    mem_free_ptr(&self->path);
    mem_free_ptr(&self);
}

static void close_ptr(struct sqlite_store **store) {
    if (*store)
        sqlite_close(&(*store)->store);
    *store = NULL;
}
#define AUTO_SQLITE __attribute__((cleanup(close_ptr)))

/* ---- places ---- */

int sqlite_absolute_path(const char *place, char **ret_path, struct err *err) {
    if (!*place)
        return err_set(err, -EINVAL, "ledger-url", "'sqlite:' names no file: write sqlite:PATH");
    if (place[0] == '~')
        return err_set(err, -EINVAL, "ledger-url",
                       "'~' is not expanded in '%s': write \"$HOME\" or the whole path", place);
    if (str_starts_with(place, "//") && place[2] != '/')
        return err_set(err, -EINVAL, "ledger-url",
                       "'sqlite:%s' names no file: write sqlite:PATH with one slash or none",
                       place);
    if (place[0] == '/') {
        *ret_path = mem_strdup(place);
        return 0;
    }
    AUTO_FREE char *folder = mem_alloc(PATH_MAX);
    if (!getcwd(folder, PATH_MAX))
        return err_set(err, -errno, "ledger-unavailable",
                       "the current folder has no path (%s), so '%s' names no place",
                       strerror(errno), place);
    *ret_path = mem_printf("%s/%s", folder, place);
    return 0;
}

static char *folder_of(const char *path) {
    assert(path && path[0] == '/');
    const char *slash = strrchr(path, '/');
    return slash == path ? mem_strdup("/") : mem_strndup(path, (size_t)(slash - path));
}

/* A folder that somebody else made where everybody may (/tmp, /var/tmp) is a trap; one that a group
 * lead made is not. */
static int check_folder_owner(const char *folder, const struct stat *status, struct err *err) {
    if (status->st_uid == geteuid() || status->st_uid == 0)
        return 0;
    AUTO_FREE char *above = folder_of(folder);
    struct stat parent;
    if (stat(above, &parent) == 0 && !(parent.st_mode & S_IWOTH))
        return 0;
    return err_set(err, -EPERM, "ledger-unavailable",
                   "the folder '%s' belongs to user %lu; name another ledger with --ledger", folder,
                   (unsigned long)status->st_uid);
}

static int make_folder(const char *folder, struct err *err) {
    struct stat status;
    if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode))
        return check_folder_owner(folder, &status, err);
    struct err why = ERR_INIT;
    int rc = dir_make_private(folder, &why);
    if (rc < 0)
        return err_set(err, rc, "ledger-unavailable",
                       "the ledger's folder cannot be made (%s); name another with --ledger",
                       why.text);
    return 0;
}

/* Makes an empty file of mode 0600. An existing one is never opened here: closing it would drop the
 * locks that another connection of this process holds on it (fcntl(2), "closes any file
 * descriptor"). */
static int make_file(const char *path, const char *folder, struct err *err) {
    AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        if (errno == EEXIST)
            return 0;
        int code = errno == EACCES || errno == EPERM ? EROFS : errno;
        return err_set(err, -code, "ledger-unavailable",
                       "the ledger '%s' cannot be created (%s); make its folder writable or name "
                       "another with --ledger",
                       path, strerror(errno));
    }
    if (fchmod(fd, 0600) < 0) /* the umask may have taken bits away */
        return err_set(err, -errno, "ledger-unavailable",
                       "the mode of the ledger '%s' cannot be set (%s)", path, strerror(errno));
    /* The name must last as well as what is written into the file. Not every file system can sync a
     * folder. */
    AUTO_CLOSE int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd >= 0)
        (void)fsync(folder_fd);
    return 0;
}

static int check_is_file(const char *path, struct err *err) {
    struct stat status;
    if (stat(path, &status) < 0) {
        int code = errno;
        if (code == ENOENT || code == ENOTDIR)
            return err_set(err, -ENOENT, "ledger-missing", "there is no ledger '%s' yet", path);
        return err_set(err, -code, "ledger-unavailable", "the ledger '%s' cannot be read (%s)",
                       path, strerror(code));
    }
    if (!S_ISREG(status.st_mode))
        return err_set(err, -EINVAL, "ledger-url",
                       "'%s' is no ordinary file: name another ledger with --ledger", path);
    return 0;
}

/* ---- connections ---- */

static struct sqlite_store *store_new(const char *path, const struct sqlite_open_options *options) {
    struct sqlite_store *store = mem_alloc(sizeof(*store));
    store->store.ops = &store_sqlite_ops;
    store->path = mem_strdup(path);
    store->mode = options->mode;
    store->patience_ns = options->patience_ns;
    store->journal_mode = "delete";
    store->jitter = ((uint64_t)clock_mono_ns() << 16) ^ (uint64_t)getpid() ^ 1;
    if (store->jitter == 0)
        store->jitter = 1;
    return store;
}

static void add_uri_path(struct strbuf *out, const char *path) {
    for (const char *c = path; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || strchr("/-_.", *c);
        if (plain)
            strbuf_add_char(out, *c);
        else
            strbuf_printf(out, "%%%02x", (unsigned)(unsigned char)*c);
    }
}

/* (Re)connects as store->mode and store->immutable say. */
static int connect_file(struct sqlite_store *store, struct err *err) {
    sqlite3_close(store->db);
    store->db = NULL;
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    flags |= store->mode == STORE_READ_ONLY ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    AUTO_STRBUF struct strbuf name = STRBUF_INIT;
    if (store->immutable) {
        flags |= SQLITE_OPEN_URI;
        strbuf_add_str(&name, "file:");
        add_uri_path(&name, store->path);
        strbuf_add_str(&name, "?immutable=1");
    } else {
        strbuf_add_str(&name, store->path);
    }
    int code = sqlite3_open_v2(strbuf_str(&name), &store->db, flags, NULL);
    if (code != SQLITE_OK)
        return sql_error(store, code, err);
    sql_set_busy_handler(store);
    /* The file may come from anywhere: no writable schema, no functions with side effects in it,
     * checked cells. */
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return 0;
}

/* The first statements: they read the file, so that one which cannot be read fails here. */
static int first_look(struct sqlite_store *store, int *ret_version, struct err *err) {
    int rc = sql_exec(store,
                      "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;"
                      "PRAGMA temp_store = MEMORY; PRAGMA synchronous = FULL",
                      err);
    return rc < 0 ? rc : sqlite_read_version(store, ret_version, err);
}

static int read_journal_mode(struct sqlite_store *store, const char *pragma, struct err *err) {
    AUTO_STMT sqlite3_stmt *statement = NULL;
    int rc = sql_prepare(store, pragma, &statement, err);
    if (rc < 0)
        return rc;
    rc = sql_next(store, statement, err);
    if (rc < 0)
        return rc;
    const char *mode = rc > 0 ? sql_text(statement, 0) : NULL;
    store->journal_mode = mode && strcmp(mode, "wal") == 0 ? "wal" : "delete";
    return 0;
}

/* Write-ahead log on local file systems; the rollback journal where processes of several machines
 * may meet (sqlite.org/wal.html: "does not work over a network filesystem") and where the log's
 * shared memory cannot be had. */
static int choose_journal_mode(struct sqlite_store *store, struct err *err) {
    const char *wanted = store->network ? "delete" : "wal";
    for (int waits = 0;;) {
        int rc = read_journal_mode(store, "PRAGMA journal_mode", err);
        if (rc < 0)
            return rc;
        if (strcmp(store->journal_mode, wanted) == 0)
            return 0;
        rc = read_journal_mode(
            store, store->network ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL",
            err);
        if (rc == 0 && (strcmp(store->journal_mode, wanted) == 0 || !store->network))
            return 0;
        /* The change needs the file alone, and SQLite does not ask the busy handler for it. */
        bool locked = rc == 0 || rc == -EAGAIN;
        if (locked && sql_pause(store, &waits)) {
            err_clear(err);
            continue;
        }
        if (store->network)
            return rc < 0 ? rc : sql_error(store, SQLITE_BUSY, err);
        err_clear(err);
        store->journal_mode = "delete";
        return 0;
    }
}

static int set_up_for_writing(struct sqlite_store *store, struct err *err) {
    /* SQLite has fallen back to reading by itself. */
    if (sqlite3_db_readonly(store->db, "main") == 1)
        return err_set(err, -EROFS, "ledger-unavailable",
                       "the ledger '%s' is read-only; make it and its folder writable or name "
                       "another with --ledger",
                       store->path);
    int version = 0;
    int rc = first_look(store, &version, err);
    if (rc < 0)
        return rc;
    if (version == 0) { /* only before the first table; lets purge give space back */
        rc = sql_exec(store, "PRAGMA auto_vacuum = INCREMENTAL", err);
        if (rc < 0)
            return rc;
    }
    if (version <= sqlite_migrations[sqlite_migration_count - 1].version) {
        rc = choose_journal_mode(store, err);
        if (rc < 0)
            return rc;
    }
    return sqlite_migrate(store, sqlite_migrations, sqlite_migration_count, err);
}

static bool has_wal(const struct sqlite_store *store) {
    AUTO_FREE char *wal = mem_printf("%s-wal", store->path);
    struct stat status;
    return stat(wal, &status) == 0 && status.st_size > 0;
}

/* A write-ahead-log database in a folder we cannot write has no shared memory; without a log there
 * is nothing to share. */
static int set_up_for_reading(struct sqlite_store *store, struct err *err) {
    int version = 0;
    int rc = first_look(store, &version, err);
    if (rc < 0 && strcmp(err->id, "ledger-unavailable") == 0 && rc != -EAGAIN &&
        !store->immutable && !has_wal(store)) {
        AUTO_FREE char *folder = folder_of(store->path);
        if (access(folder, W_OK) == 0)
            return rc;
        err_clear(err);
        store->immutable = true;
        rc = connect_file(store, err);
        if (rc == 0)
            rc = first_look(store, &version, err);
    }
    if (rc < 0)
        return rc;
    if (version == 0)
        return err_set(err, -ENOENT, "ledger-missing", "there is no ledger '%s' yet", store->path);
    rc = sqlite_migrate(store, sqlite_migrations, sqlite_migration_count, err);
    return rc < 0 ? rc : read_journal_mode(store, "PRAGMA journal_mode", err);
}

int sqlite_open_path(const char *path, const struct sqlite_open_options *options,
                     struct sqlite_store **ret_store, struct err *err) {
    int rc = 0;
    AUTO_FREE char *folder = folder_of(path);
    if (options->mode == STORE_READ_WRITE) {
        rc = make_folder(folder, err);
        if (rc == 0)
            rc = make_file(path, folder, err);
    }
    if (rc == 0)
        rc = check_is_file(path, err);
    if (rc < 0)
        return rc;
    AUTO_SQLITE struct sqlite_store *store = store_new(path, options);
    store->network = options->network || path_is_on_network(folder);
    if (options->mode == STORE_LOOK) {
        store->mode = STORE_READ_ONLY;
        store->immutable = !has_wal(store); /* else its files are there already */
    }
    rc = connect_file(store, err);
    if (rc == 0)
        rc = store->mode == STORE_READ_ONLY ? set_up_for_reading(store, err)
                                            : set_up_for_writing(store, err);
    if (rc < 0)
        return rc;
    *ret_store = steal(store);
    return 0;
}

int sqlite_open_raw(const char *path, struct sqlite_store **ret_store, struct err *err) {
    int rc = check_is_file(path, err);
    if (rc < 0)
        return rc;
    struct sqlite_open_options options = {.mode = STORE_READ_ONLY,
                                          .patience_ns = SQLITE_LEDGER_PATIENCE_NS};
    AUTO_SQLITE struct sqlite_store *store = store_new(path, &options);
    rc = connect_file(store, err);
    if (rc < 0)
        return rc;
    *ret_store = steal(store);
    return 0;
}

/* ---- the interface ---- */

static int sqlite_open(const char *place, enum store_mode mode, struct store **ret_store,
                       struct err *err) {
    AUTO_FREE char *path = NULL;
    int rc = sqlite_absolute_path(place, &path, err);
    if (rc < 0)
        return rc;
    struct sqlite_open_options options = {
        .mode = mode,
        .patience_ns = mode == STORE_LOOK ? SQLITE_LOOK_PATIENCE_NS : SQLITE_LEDGER_PATIENCE_NS,
    };
    struct sqlite_store *store;
    rc = sqlite_open_path(path, &options, &store, err);
    if (rc < 0)
        return rc;
    *ret_store = &store->store;
    return 0;
}

static void sqlite_set_patience(struct store *store, int64_t patience_ns) {
    sqlite_of(store)->patience_ns = patience_ns;
}

static int sqlite_begin(struct store *store, struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    assert(!self->batch);
    int rc = sql_exec(self, "BEGIN IMMEDIATE", err);
    if (rc < 0)
        return rc;
    self->batch = true;
    return 0;
}

static void sqlite_rollback(struct store *store) {
    struct sqlite_store *self = sqlite_of(store);
    struct err ignored = ERR_INIT;
    self->batch = false;
    if (!sqlite3_get_autocommit(self->db))
        (void)sql_exec(self, "ROLLBACK", &ignored);
}

static int sqlite_commit(struct store *store, struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    assert(self->batch);
    int rc = 0;
    if (sqlite3_get_autocommit(self->db)) /* a failure inside took everything back */
        rc = err_set(err, -EIO, "ledger-unavailable",
                     "the ledger '%s' took a step back after an earlier failure", self->path);
    if (rc == 0)
        rc = sql_exec(self, "COMMIT", err);
    if (rc == 0)
        rc = sql_check_place(self, err);
    sqlite_rollback(store);
    return rc;
}

const struct store_ops store_sqlite_ops = {
    .scheme = "sqlite",
    .open = sqlite_open,
    .close = sqlite_close,
    .set_patience = sqlite_set_patience,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .put = sqlite_put,
    .get = sqlite_get,
    .list = sqlite_list,
    .info = sqlite_info,
    .check = sqlite_check,
    .each_journal = sqlite_each_journal,
    .get_derivation = sqlite_get_derivation,
    .set_derivation = sqlite_set_derivation,
    .clear_entries = sqlite_clear_entries,
    .replace_entry = sqlite_replace_entry,
    .purge = sqlite_purge,
    .salvage = sqlite_salvage,
    .replace_file = sqlite_replace_file,
    .spare_place = sqlite_spare_place,
    .discard_spare = sqlite_discard_spare,
};
