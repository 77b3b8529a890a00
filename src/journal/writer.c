/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Appending records. What was acknowledged stays, what was not leaves no trace: one write() a
 * record, a short one is cut back. Must never overwrite, must never block on another process, must
 * not lose the last records to a full disk. Sources: fcntl(2) "Open file description locks",
 * fallocate(2), link(2).
 */
#include "journal/journal.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"
#include "journal/live.h"
#include "journal/record.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The reserve is topped up in steps, so that not every record costs a system call. */
#define RESERVE_STEP UINT64_C(65536)

/* ---- lock ---- */

/* 0: locked, or the file system knows no locks (ret_locked false); -EWOULDBLOCK: somebody else
 * holds it. */
static int take_lock(int fd, bool *ret_locked) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *ret_locked = true;
    while (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
        if (errno == EAGAIN || errno == EACCES) {
            return -EWOULDBLOCK;
        }
        if (errno != EINTR) {
            /* ENOLCK, EOPNOTSUPP, EINVAL, EIO: NFS without a lock daemon, FUSE, old kernels. A
             * refused lock must not stop a run; the pid in HEADER then says who is alive. */
            *ret_locked = false;
            return 0;
        }
    }
    return 0;
}

/* ---- reserve ---- */

static int promise(struct journal_writer *writer, uint64_t until) {
    uint64_t from = writer->reserved > writer->end ? writer->reserved : writer->end;
    int rc;
    do {
        rc = fallocate(writer->fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(until - from));
    } while (rc < 0 && errno == EINTR);
    if (rc == 0) {
        writer->reserved = until;
        return 0;
    }
    if (errno == ENOSPC || errno == EDQUOT) {
        return -errno;
    }
    writer->can_reserve =
        false; /* EOPNOTSUPP, ENOSYS and others: there is no promise to be had here */
    writer->reserved = 0;
    return 0;
}

/* Makes sure that JOURNAL_RESERVE bytes are free behind the next `length` bytes. */
static int keep_reserve(struct journal_writer *writer, size_t length) {
    uint64_t need = writer->end + length + JOURNAL_RESERVE;
    if (!writer->can_reserve || writer->reserved >= need) {
        return 0;
    }
    int rc = promise(writer, need + RESERVE_STEP);
    return rc < 0 ? promise(writer, need) : 0;
}

/* Cuts what a failed write left. Truncating gives the promised blocks back (fallocate(2)), so they
 * are asked for again. */
static void cut_back(struct journal_writer *writer) {
    struct stat status;
    if (fstat(writer->fd, &status) == 0 && (uint64_t)status.st_size <= writer->end) {
        return;
    }
    int rc;
    do {
        rc = ftruncate(writer->fd, (off_t)writer->end);
    } while (rc < 0 && errno == EINTR);
    if (writer->can_reserve) {
        writer->reserved = 0;
        (void)keep_reserve(writer,
                           0); /* a full disk: then there is none, and the next append says so */
    }
}

/* ---- append ---- */

static int full(const struct journal_writer *writer, int code, struct err *err) {
    return err_set(err, code, "journal-full",
                   "no space left for the journal '%s'; free some or name another folder with "
                   "--journal-dir",
                   writer->path);
}

int journal_append(struct journal_writer *writer, enum journal_kind kind, uint16_t version,
                   const void *payload, size_t length, bool last, struct err *err) {
    assert(writer->fd >= 0);
    if (length > JOURNAL_PAYLOAD_MAX) {
        return err_set(err, -EMSGSIZE, "journal-record-size",
                       "a record of %zu bytes is larger than a journal may hold", length);
    }
    size_t total = JOURNAL_RECORD_HEAD + length;
    int rc = last ? 0 : keep_reserve(writer, total);
    if (rc < 0) {
        return full(writer, rc, err);
    }
    uint8_t head[JOURNAL_RECORD_HEAD];
    record_head_put(head, (uint32_t)kind, version, payload, length);
    struct iovec pieces[2] = {{head, sizeof head}, {NULL, length}};
    memcpy(&pieces[1].iov_base, &payload,
           sizeof payload); /* writev only reads; its type cannot say so */
    ssize_t written;
    do {
        written = writev(writer->fd, pieces, length > 0 ? 2 : 1);
    } while (written < 0 && errno == EINTR);
    if (written == (ssize_t)total) {
        writer->end += total;
        return 0;
    }
    rc = written < 0
             ? -errno
             : -ENOSPC; /* a short write to a file: the disk or the quota is full (write(2)) */
    cut_back(writer);
    if (rc == -ENOSPC || rc == -EDQUOT) {
        return full(writer, rc, err);
    }
    return err_set(err, rc, "journal-write", "cannot write to the journal '%s': %s", writer->path,
                   strerror(-rc));
}

int journal_append_json(struct journal_writer *writer, enum journal_kind kind,
                        const json_t *payload, bool last, struct err *err) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, payload);
    return journal_append(writer, kind, JOURNAL_VERSION, text.data, text.length, last, err);
}

int journal_sync(struct journal_writer *writer, struct err *err) {
    if (fdatasync(writer->fd) == 0 || errno == EINVAL || errno == ENOTSUP) {
        return 0; /* some file systems have nothing to sync */
    }
    int rc = -errno;
    return err_set(err, rc, "journal-write", "cannot sync the journal '%s': %s", writer->path,
                   strerror(-rc));
}

void journal_close(struct journal_writer *writer) {
    if (writer->fd >= 0 && writer->reserved > writer->end) {
        int rc;
        do { /* gives the promised blocks back; they would go with the file at the latest */
            rc = ftruncate(writer->fd, (off_t)writer->end);
        } while (rc < 0 && errno == EINTR);
    }
    journal_forget(writer);
}

void journal_forget(struct journal_writer *writer) {
    fd_close_ptr(&writer->fd);
    writer->end = writer->reserved = 0;
    writer->locked = writer->can_reserve = false;
}

/* ---- create ---- */

static int set_path(struct journal_writer *writer, const char *path, struct err *err) {
    int length = snprintf(writer->path, sizeof writer->path, "%s", path);
    if (length < 0 || (size_t)length >= sizeof writer->path) {
        return err_set(err, -ENAMETOOLONG, "journal-open",
                       "the journal's name '%.80s…' is too long", path);
    }
    return 0;
}

static int write_beginning(struct journal_writer *writer, const json_t *header, struct err *err) {
    int rc = keep_reserve(writer, JOURNAL_MAGIC_SIZE);
    if (rc < 0) {
        return full(writer, rc, err);
    }
    rc = fd_write_full(writer->fd, JOURNAL_MAGIC, JOURNAL_MAGIC_SIZE);
    if (rc < 0) {
        return err_set(err, rc, rc == -ENOSPC || rc == -EDQUOT ? "journal-full" : "journal-write",
                       "cannot write to the journal '%s': %s", writer->path, strerror(-rc));
    }
    writer->end = JOURNAL_MAGIC_SIZE;
    return journal_append_json(writer, JOURNAL_HEADER, header, false, err);
}

/* Gives the finished beginning its name, never over another file. Hard links are not known
 * everywhere (vfat, some FUSE), renameat2 neither; the last resort has a gap that only a second run
 * of the same id could fall into. */
static int publish(const char *from, const char *to) {
    if (link(from, to) == 0) {
        unlink(from);
        return 0;
    }
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno == EEXIST) {
        return -EEXIST;
    }
    struct stat status;
    if (lstat(to, &status) == 0) {
        return -EEXIST;
    }
    return rename(from, to) < 0 ? -errno : 0;
}

/* O_EXCL; a left-over of a creator that died has no HEADER under its final name and is of no use to
 * anybody. */
static int open_new(const char *path) {
    int flags = O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(path, flags, 0600);
    if (fd < 0 && errno == EEXIST && unlink(path) == 0) {
        fd = open(path, flags, 0600);
    }
    if (fd < 0) {
        return -errno;
    }
    if (fchmod(fd, 0600) < 0) { /* whatever the umask took away */
        int rc = -errno;
        close(fd);
        unlink(path);
        return rc;
    }
    return fd;
}

int journal_create(const char *dir, const char *name, const json_t *header,
                   struct journal_writer *ret_writer, struct err *err) {
    AUTO_FREE char *path = mem_printf("%s/%s" JOURNAL_SUFFIX, dir, name);
    AUTO_FREE char *beginning = mem_printf("%s" JOURNAL_NEW_SUFFIX, path);
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    int rc = set_path(&writer, path, err);
    if (rc < 0) {
        return rc;
    }
    if (access(path, F_OK) == 0) {
        return journal_open_append(path, ret_writer, err);
    }
    writer.fd = open_new(beginning);
    writer.can_reserve = true;
    if (writer.fd < 0) {
        rc = writer.fd;
        return err_set(err, rc, rc == -ENOSPC || rc == -EDQUOT ? "journal-full" : "journal-open",
                       "cannot create the journal '%s': %s", path, strerror(-rc));
    }
    rc = take_lock(writer.fd, &writer.locked);
    if (rc < 0) {
        rc = err_set(err, rc, "journal-locked", "another process writes the journal '%s'", path);
    } else {
        rc = write_beginning(&writer, header, err);
    }
    if (rc == 0) {
        rc = publish(beginning, path);
        if (rc == -EEXIST) {
            journal_forget(&writer);
            unlink(beginning);
            return journal_open_append(path, ret_writer, err);
        }
        if (rc < 0) {
            err_set(err, rc, "journal-open", "cannot create the journal '%s': %s", path,
                    strerror(-rc));
        }
    }
    if (rc < 0) {
        journal_forget(&writer);
        unlink(beginning);
        return rc;
    }
    *ret_writer = writer;
    return 0;
}

/* ---- open for more ---- */

/* Copies what will be cut beside the journal. Only a torn write may be lost without a copy. */
static int keep_tail(const char *path, const struct strbuf *bytes, uint64_t from, bool torn,
                     struct err *err) {
    bool all_zero = true;
    for (uint64_t i = from; i < bytes->length && all_zero; i++) {
        all_zero = bytes->data[i] == 0;
    }
    if (all_zero) {
        return 0;
    }
    AUTO_FREE char *beside = mem_printf("%s" JOURNAL_BAD_SUFFIX, path);
    AUTO_CLOSE int fd = open(beside, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = fd < 0 ? -errno : fd_write_full(fd, bytes->data + from, bytes->length - (size_t)from);
    if (rc == 0 && fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP) {
        rc = -errno;
    }
    if (rc < 0 && !torn) {
        return err_set(err, rc, "journal-damaged",
                       "the journal '%s' is damaged from byte %zu on and the damaged part "
                       "cannot be kept in '%s': %s",
                       path, (size_t)from, beside, strerror(-rc));
    }
    return 0;
}

/* Finds the end of the sound records and cuts the rest. */
static int find_end(struct journal_writer *writer, struct err *err) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    int rc = journal_read_fd(writer->fd, &bytes);
    if (rc < 0) {
        return err_set(err, rc, "journal-read", "cannot read the journal '%s': %s", writer->path,
                       strerror(-rc));
    }
    struct journal_reader reader;
    rc = journal_reader_init(&reader, strbuf_str(&bytes), bytes.length, err);
    if (rc < 0) {
        return err_add(err, rc, "opening the journal '%s'", writer->path);
    }
    struct journal_record record;
    if (!journal_reader_next(&reader, &record) || record.kind != JOURNAL_HEADER) {
        return err_set(err, -EBADMSG, "journal-damaged", "the journal '%s' has no sound header",
                       writer->path);
    }
    if (!writer->locked && journal_process_lives(bytes.data, bytes.length) &&
        !journal_process_is_ours(bytes.data, bytes.length)) {
        return err_set(err, -EWOULDBLOCK, "journal-locked",
                       "another process writes the journal '%s'", writer->path);
    }
    while (journal_reader_next(&reader, &record)) {
    }
    writer->end = reader.good;
    if (reader.good < bytes.length) {
        rc = keep_tail(writer->path, &bytes, reader.good, reader.torn, err);
        if (rc < 0) {
            return rc;
        }
        if (ftruncate(writer->fd, (off_t)writer->end) < 0) {
            rc = -errno;
            return err_set(err, rc, "journal-write", "cannot shorten the journal '%s': %s",
                           writer->path, strerror(-rc));
        }
    }
    (void)keep_reserve(writer, 0); /* a full disk is told by the first append */
    return 0;
}

int journal_open_append(const char *path, struct journal_writer *ret_writer, struct err *err) {
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    int rc = set_path(&writer, path, err);
    if (rc < 0) {
        return rc;
    }
    writer.can_reserve = true;
    writer.fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    if (writer.fd < 0 || fstat(writer.fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        rc = writer.fd < 0 ? -errno : -EINVAL;
        journal_forget(&writer);
        return err_set(err, rc, "journal-open", "cannot open the journal '%s': %s", path,
                       strerror(-rc));
    }
    rc = take_lock(writer.fd, &writer.locked);
    if (rc < 0) {
        journal_forget(&writer);
        return err_set(err, rc, "journal-locked", "another process writes the journal '%s'", path);
    }
    rc = find_end(&writer, err);
    if (rc < 0) {
        journal_forget(&writer);
        return rc;
    }
    *ret_writer = writer;
    return 0;
}
