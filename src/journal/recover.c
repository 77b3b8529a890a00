/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A journal whose writer died: its tail is cut by opening it, its marks file is read to the end.
 * What cannot be known any more (the moment of reading, the command's status) is not made up. Ended
 * anywhere, it goes on where it stopped.
 */
#include "journal/recover.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the journal says about its marks. */
struct known {
    int64_t start_mono_ns; /* -1: no START */
    bool this_boot;
    long file_offset; /* of the last MARK */
};

static int read_known(const char *path, struct known *ret, struct err *err) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int rc = fd < 0 ? -errno : journal_read_fd(fd, &bytes);
    if (rc < 0) {
        return err_set(err, rc, "journal-read", "cannot read the journal '%s': %s", path,
                       strerror(-rc));
    }
    struct journal_reader reader;
    struct journal_record record;
    rc = journal_reader_init(&reader, strbuf_str(&bytes), bytes.length, err);
    if (rc < 0) {
        return rc;
    }
    *ret = (struct known){.start_mono_ns = -1};
    while (journal_reader_next(&reader, &record)) {
        if (record.kind != JOURNAL_HEADER && record.kind != JOURNAL_START &&
            record.kind != JOURNAL_MARK) {
            continue;
        }
        AUTO_JSON json_t *json = journal_record_json(&record);
        char boot[CLOCK_BOOT_ID_SIZE];
        if (record.kind == JOURNAL_HEADER) {
            ret->this_boot =
                clock_boot_id(boot) == 0 && strcmp(json_get_text(json, "boot_id", ""), boot) == 0;
        } else if (record.kind == JOURNAL_START && ret->start_mono_ns < 0) {
            ret->start_mono_ns = json_get_int(json_get_object(json, "clock"), "start_mono_ns", -1);
        } else if (record.kind == JOURNAL_MARK) {
            int64_t offset = json_get_int(json, "file_offset", ret->file_offset);
            ret->file_offset = offset >= 0 ? (long)offset : ret->file_offset;
        }
    }
    return 0;
}

struct adding {
    struct journal_writer *writer;
    const struct known *known;
    int rc;
    struct err *err;
};

static void add_mark(json_t *take_mark, void *context) {
    struct adding *adding = context;
    AUTO_JSON json_t *mark = take_mark;
    if (adding->rc < 0) {
        return;
    }
    if (adding->known->start_mono_ns < 0) {
        json_object_del(mark, "mono_ns"); /* no START: the time has no zero */
    } else {
        marks_place(mark, adding->known->start_mono_ns, -1);
    }
    adding->rc = journal_append_json(adding->writer, JOURNAL_MARK, mark, false, adding->err);
}

/* Ours or root's, a plain file, never through a link: the folder may be one in /var/tmp. */
static int open_marks(const char *path) {
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return -errno;
    }
    if (!S_ISREG(status.st_mode) || (status.st_uid != geteuid() && geteuid() != 0)) {
        return -EPERM;
    }
    int opened = fd;
    fd = -1;
    return opened;
}

static int take_marks(struct journal_writer *writer, const char *marks_path, struct err *err) {
    AUTO_CLOSE int fd = open_marks(marks_path);
    if (fd == -ENOENT) {
        return 0;
    }
    if (fd < 0) {
        return err_set(err, fd, "marks-read", "cannot read the marks file '%s': %s", marks_path,
                       strerror(-fd));
    }
    struct known known;
    int rc = read_known(writer->path, &known, err);
    if (rc < 0) {
        return rc;
    }
    struct adding adding = {.writer = writer, .known = &known, .err = err};
    long end = marks_read_rest(fd, known.file_offset, add_mark, &adding);
    if (adding.rc == 0 && end < 0) {
        adding.rc = err_set(err, (int)end, "marks-read", "cannot read the marks file '%s': %s",
                            marks_path, strerror((int)-end));
    }
    if (adding.rc == 0) {
        adding.rc = journal_sync(writer, err);
    }
    if (adding.rc == 0 && unlink(marks_path) < 0 && errno != ENOENT) {
        adding.rc = err_set(err, -errno, "marks-remove", "cannot remove the marks file '%s': %s",
                            marks_path, strerror(errno));
    }
    return adding.rc;
}

int journal_recover(const char *path, struct err *err) {
    size_t length = strlen(path), suffix = strlen(JOURNAL_SUFFIX);
    size_t stem = length >= suffix && strcmp(path + length - suffix, JOURNAL_SUFFIX) == 0
                      ? length - suffix
                      : length;
    AUTO_FREE char *marks_path = mem_printf("%.*s" JOURNAL_MARKS_SUFFIX, (int)stem, path);
    if (journal_is_live(path)) {
        return err_set(err, -EBUSY, "journal-live", "the journal '%s' is still being written",
                       path);
    }
    /* Nobody can come to life between that look and this lock: a new writer comes from a living
     * one. */
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    int rc = journal_open_append(path, &writer, err);
    if (rc == -EWOULDBLOCK) {
        return err_set(err, -EBUSY, "journal-live", "the journal '%s' is still being written",
                       path);
    }
    if (rc < 0) {
        return rc;
    }
    rc = take_marks(&writer, marks_path, err);
    journal_close(&writer);
    return rc;
}
