/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is a journal still being written? The lock of the open file answers first; where it cannot, or
 * where a recorder died and its monitor is about to start another, the process that HEADER names
 * does. Must not take a lock itself.
 */
#include "journal/live.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/root.h"
#include "base/str.h"
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static json_t *read_header(const void *bytes, size_t length) {
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    if (journal_reader_init(&reader, bytes, length, &err) < 0 ||
        !journal_reader_next(&reader, &record) || record.kind != JOURNAL_HEADER) {
        return NULL;
    }
    return journal_record_json(&record);
}

/* Field 22 of /proc/PID/stat, start time in clock ticks since boot; false when there is no such
 * living process. The name in field 2 may hold anything, so fields are counted from its last ')'
 * (proc(5)). */
static bool process_start(int64_t pid, int64_t *ret_start) {
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (root_read_buf(&root_real, path, text, sizeof text) <= 0) {
        return false;
    }
    char *at = strrchr(text, ')');
    if (at == NULL) {
        return false;
    }
    char *rest = NULL;
    char *field = strtok_r(at + 1, " ", &rest);
    if (field == NULL || *field == 'Z' || *field == 'X') {
        return false; /* dead, only not reaped yet */
    }
    for (unsigned number = 3; number < 22 && field != NULL; number++) {
        field = strtok_r(NULL, " ", &rest);
    }
    return field != NULL && str_to_i64(field, ret_start) == 0;
}

bool journal_process_lives(const void *bytes, size_t length) {
    AUTO_JSON json_t *header = read_header(bytes, length);
    char boot[CLOCK_BOOT_ID_SIZE];
    int64_t pid = json_get_int(header, "pid", 0);
    int64_t start = json_get_int(header, "pid_start", -1);
    int64_t now_start;
    return pid > 0 && clock_boot_id(boot) == 0 &&
           strcmp(json_get_text(header, "boot_id", ""), boot) == 0 &&
           process_start(pid, &now_start) && now_start == start;
}

bool journal_process_is_ours(const void *bytes, size_t length) {
    AUTO_JSON json_t *header = read_header(bytes, length);
    int64_t pid = json_get_int(header, "pid", 0);
    return pid > 0 && (pid == getpid() || pid == getppid());
}

/* A run with END, and an event at all, needs no writer any more. */
static bool is_finished(const void *bytes, size_t length) {
    AUTO_JSON json_t *header = read_header(bytes, length);
    if (strcmp(json_get_text(header, "type", ""), "run") != 0) {
        return true;
    }
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    if (journal_reader_init(&reader, bytes, length, &err) < 0) {
        return true;
    }
    while (journal_reader_next(&reader, &record)) {
        if (record.kind == JOURNAL_END) {
            return true;
        }
    }
    return false;
}

/* 1: held by somebody, 0: free, negative: the file system does not say. */
static int lock_state(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_GETLK, &lock) < 0) {
        return -errno;
    }
    return lock.l_type != F_UNLCK;
}

int journal_read_fd(int fd, struct strbuf *out) {
    char magic[sizeof JOURNAL_MAGIC - 1];
    struct stat status;
    if (fstat(fd, &status) < 0) {
        return -errno;
    }
    ssize_t got = pread(fd, magic, sizeof magic, 0);
    if (got < 0) {
        return -errno;
    }
    if ((size_t)got < sizeof magic || memcmp(magic, JOURNAL_MAGIC, sizeof magic) != 0) {
        strbuf_add(out, magic, (size_t)got);
        return 0;
    }
    if (lseek(fd, 0, SEEK_SET) < 0) {
        return -errno;
    }
    return (uint64_t)status.st_size > JOURNAL_FILE_MAX ? -EFBIG
                                                       : fd_read_all(fd, JOURNAL_FILE_MAX, out);
}

bool journal_is_live(const char *path) {
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    if (lock_state(fd) == 1) {
        return true;
    }
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    if (journal_read_fd(fd, &bytes) < 0) {
        return false;
    }
    return journal_process_lives(strbuf_str(&bytes), bytes.length) &&
           !is_finished(strbuf_str(&bytes), bytes.length);
}
