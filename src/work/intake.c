/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Journals → ledger: one function for all ways in. A journal file goes only after the commit that
 * holds it is durable; while it is taken in, its lock is held, so that nobody writes more into a
 * file that is about to go. Never deletes what it could not take in.
 */
#include "work/intake.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"
#include "journal/journal.h"
#include "journal/recover.h"
#include "work/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- bytes ---- */

int intake_bytes(struct store *store, const void *bytes, size_t length, bool *ret_changed,
                 struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry entry;
    size_t sound = 0;
    /* What is taken in has no writer any more, as far as this ledger knows. */
    int rc = intake_entry(bytes, length, false, arena, &entry, &sound, err);
    if (rc < 0)
        return rc;
    return store_put(store, &entry, bytes, sound, ret_changed, err);
}

/* ---- one file ---- */

/* Renames to NAME.SUFFIX, or NAME.SUFFIX-2, …: nothing is overwritten, nothing is tried again for
 * ever. */
static void move_aside(const char *path, const char *suffix) {
    for (unsigned n = 1; n < 1000; n++) {
        AUTO_FREE char *aside =
            n == 1 ? mem_printf("%s%s", path, suffix) : mem_printf("%s%s-%u", path, suffix, n);
        if (renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) == 0)
            return;
        /* Some file systems do not know the flag. */
        if (errno == EINVAL && access(aside, F_OK) < 0 && rename(path, aside) == 0)
            return;
        if (errno != EEXIST && errno != EINVAL)
            return; /* a read-only folder: it stays and is reported again */
    }
}

int intake_read_file(const char *path, struct strbuf *out, struct err *err) {
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    int rc = fd < 0 ? -errno : 0;
    if (rc == 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)))
        rc = -EINVAL;
    if (rc == 0)
        rc = journal_read_fd(fd, out);
    if (rc < 0)
        return err_set(err, rc, "journal-read", "cannot read the journal '%s': %s", path,
                       strerror(-rc));
    return 0;
}

/* Cannot be changed here (a folder of somebody else, a read-only disk): then it can still be read.
 */
static bool is_read_only(int rc) {
    return rc == -EROFS || rc == -EACCES || rc == -EPERM;
}

static void remove_taken(const char *path) {
    unlink(path); /* if it stays, it is taken in again and changes nothing */
    if (!str_ends_with(path, JOURNAL_SUFFIX))
        return;
    size_t stem = strlen(path) - strlen(JOURNAL_SUFFIX);
    AUTO_FREE char *marks = mem_printf("%.*s" JOURNAL_MARKS_SUFFIX, (int)stem, path);
    unlink(marks);
}

/* The run's own control group, where its recorder could not remove it (killed). Only an empty
 * folder of that very name goes. */
static void remove_group(const struct strbuf *bytes) {
    struct err ignored = ERR_INIT;
    struct journal_reader reader;
    struct journal_record record;
    if (journal_reader_init(&reader, strbuf_str(bytes), bytes->length, &ignored) < 0)
        return;
    AUTO_FREE char *name = NULL;
    while (journal_reader_next(&reader, &record) > 0) {
        if (record.kind != JOURNAL_HEADER && record.kind != JOURNAL_START)
            continue;
        AUTO_JSON json_t *json = journal_record_json(&record);
        if (record.kind == JOURNAL_HEADER && name == NULL) {
            name = mem_printf("/probelauf-%s", json_get_text(json, "run", "?"));
            continue;
        }
        const json_t *group = json_get_object(json, "cgroup");
        const char *path = json_get_text(group, "path", "");
        if (strcmp(json_get_text(group, "memory", ""), "own") == 0 && name != NULL &&
            str_ends_with(path, name))
            (void)rmdir(path);
        return;
    }
}

static int take_file(struct store *store, const char *path, bool *ret_changed, struct err *err) {
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    int rc = journal_recover(path, err);
    if (rc == 0)
        rc = journal_open_append(path, &writer, err);
    bool removable = rc == 0;
    if (rc == -EWOULDBLOCK)
        return err_set(err, -EBUSY, "journal-live", "the journal '%s' is being written or taken in",
                       path);
    if (is_read_only(rc)) {
        err_clear(err);
        rc = 0;
    }
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    if (rc == 0)
        rc = intake_read_file(path, &bytes, err);
    if (rc == 0)
        rc = intake_bytes(store, strbuf_str(&bytes), bytes.length, ret_changed, err);
    if (rc == 0 && removable) {
        remove_group(&bytes);
        remove_taken(path);
    }
    journal_close(&writer);
    return rc;
}

static int take_or_move(struct store *store, const char *path, bool *ret_changed, struct err *err) {
    int rc = take_file(store, path, ret_changed, err);
    /* The ledger's own troubles have ids of their own; a newer version's journal waits for a newer
     * probelauf. */
    if (rc == -EBADMSG && str_starts_with(err->id, "journal-") &&
        strcmp(err->id, "journal-newer") != 0)
        move_aside(path, ".damaged");
    else if (rc == -EEXIST && strcmp(err->id, "journal-conflict") == 0)
        move_aside(path, ".conflict");
    return rc;
}

int intake_file(struct store *store, const char *path, struct err *err) {
    bool changed;
    int rc = take_or_move(store, path, &changed, err);
    /* Another process was faster between our look and our lock. */
    if (rc == -ENOENT && access(path, F_OK) < 0) {
        err_clear(err);
        return 0;
    }
    return rc < 0 ? err_add(err, rc, "taking in '%s'", path) : 0;
}

/* ---- all that wait ---- */

static void count_result(struct intake_count *count, const char *path, int rc, bool changed,
                         struct err *err, struct err *err_first) {
    if (rc == 0 && changed)
        count->taken++;
    else if (rc == 0)
        count->unchanged++;
    else if (rc == -EBUSY)
        count->live++;
    else if (rc == -ENOENT && access(path, F_OK) < 0)
        count->unchanged++; /* somebody else took it in meanwhile */
    else {
        count->damaged++;
        if (err_first->code == 0) {
            *err_first = *err;
            err_add(err_first, rc, "taking in '%s'", path);
        }
    }
}

void intake_all(struct store *store, const struct place *place, int64_t limit_ns,
                struct intake_count *ret_count, struct err *err_first) {
    AUTO_WAITING struct waiting waiting = {0};
    waiting_find(place, &waiting);
    struct intake_count count = {0};
    int64_t start_ns = clock_mono_ns();
    for (size_t i = 0; i < waiting.count; i++) {
        if (limit_ns > 0 && clock_mono_ns() - start_ns > limit_ns) {
            count.left = waiting.count - i;
            break;
        }
        struct err err = ERR_INIT;
        bool changed = false;
        int rc = take_or_move(store, waiting.paths[i], &changed, &err);
        if (rc < 0 && str_starts_with(err.id, "ledger-")) { /* the others would fare no better */
            count.left = waiting.count - i;
            if (err_first->code == 0)
                *err_first = err;
            break;
        }
        count_result(&count, waiting.paths[i], rc, changed, &err, err_first);
    }
    *ret_count = count;
}
