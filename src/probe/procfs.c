/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc of processes, see procfs.h. Runs in the monitor's loop: no allocation, no file that can
 * hang (but for procfs_pss, which the slow reader calls). What does not look like the kernel's text
 * is refused (-EBADMSG), never guessed at. A process that has gone is normal: -ENOENT (its folder)
 * or -ESRCH (while reading).
 */
#include "probe/procfs.h"

#include "base/clock.h"
#include "base/fd.h"
#include "probe/lines.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE      96
#define STAT_SIZE      2048
#define STATUS_LIMIT   ((size_t)1 << 20) /* "Groups:" alone may take 700 KB: 65,536 ids */
#define IO_LIMIT       4096
#define ROLLUP_LIMIT   8192
#define SMAPS_LIMIT    ((size_t)64 << 20)
#define CHILDREN_LIMIT ((size_t)8 << 20)

/* Ticks of /proc/PID/stat are in USER_HZ, which sysconf tells (100 nearly everywhere). */
static bool ticks_to_ns(uint64_t ticks, uint64_t *ret_ns) {
    long hz = sysconf(_SC_CLK_TCK);
    uint64_t ns_per_tick = (uint64_t)NS_PER_S / (uint64_t)(hz > 0 ? hz : 100);
    return !__builtin_mul_overflow(ticks, ns_per_tick, ret_ns);
}

/* The numbers behind the state, by their number in proc(5): fields[4] is the parent. Negative ones
 * (tty_nr, tpgid, priority, nice can be) are stored as the magnitude, for nothing here uses them.
 */
#define STAT_FIRST 4
#define STAT_LAST  42
#define PF_KTHREAD 0x00200000u /* of field 9, the flags (include/linux/sched.h) */
static bool stat_fields(const char *at, uint64_t fields[STAT_LAST + 1]) {
    for (int i = STAT_FIRST; i <= STAT_LAST; i++) {
        if (*at != ' ') {
            return false;
        }
        at++;
        bool may_be_negative = i == 7 || i == 8 || i == 18 || i == 19 || i == 38;
        if (*at == '-' && may_be_negative) {
            at++;
        }
        if (*at == ' ' || !field_u64(&at, &fields[i])) {
            return false;
        }
    }
    return *at == ' ' || *at == '\n' || *at == '\0';
}

static int stat_parse(const char *text, size_t length, pid_t pid, struct proc_stat *ret) {
    /* comm may hold blanks, parentheses and newlines; numbers follow, so the last ')' ends it
     * (proc(5)). */
    const char *open = memchr(text, '(', length);
    const char *close = memrchr(text, ')', length);
    const char *at = text;
    uint64_t number;
    if (open == NULL || close == NULL || close < open || !field_u64(&at, &number) ||
        at + 1 != open || *at != ' ' || number != (uint64_t)pid) {
        return -EBADMSG;
    }
    struct proc_stat out = {.pid = pid};
    size_t comm_length = (size_t)(close - open) - 1;
    if (comm_length >= sizeof out.comm) {
        comm_length = sizeof out.comm - 1;
    }
    memcpy(out.comm, open + 1, comm_length);
    if (close[1] != ' ' || close[2] == '\0') {
        return -EBADMSG;
    }
    out.state = close[2];
    uint64_t fields[STAT_LAST + 1] = {0};
    if (!stat_fields(close + 3, fields) || fields[4] > INT_MAX) {
        return -EBADMSG;
    }
    out.ppid = (pid_t)fields[4];
    out.is_kernel_thread = (fields[9] & PF_KTHREAD) != 0;
    out.start = fields[22];
    out.blkio_ticks = fields[42];
    if (!ticks_to_ns(fields[14], &out.utime_ns) || !ticks_to_ns(fields[15], &out.stime_ns) ||
        !ticks_to_ns(fields[16], &out.cutime_ns) || !ticks_to_ns(fields[17], &out.cstime_ns) ||
        __builtin_mul_overflow(fields[24], (uint64_t)sysconf(_SC_PAGESIZE), &out.rss_bytes)) {
        return -EBADMSG;
    }
    *ret = out;
    return 0;
}

int procfs_stat(const struct root *root, pid_t pid, struct proc_stat *ret) {
    char path[PATH_SIZE], text[STAT_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    ssize_t length = root_read_buf(root, path, text, sizeof text);
    if (length < 0) {
        return (int)length;
    }
    return length == 0 ? -ESRCH : stat_parse(text, (size_t)length, pid, ret);
}

static bool hex_u64(const char *at, uint64_t *ret_value) {
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    uint64_t value = 0;
    int digits = 0;
    for (; *at != '\0'; at++, digits++) {
        int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                                               : -1;
        if (digit < 0 || digits == 16) {
            return false;
        }
        value = value << 4 | (uint64_t)digit;
    }
    *ret_value = value;
    return digits > 0;
}

int procfs_status(const struct root *root, pid_t pid, struct proc_status *ret) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    struct lines lines AUTO_LINES;
    int rc = lines_open(root, path, STATUS_LIMIT, &lines);
    if (rc < 0) {
        return rc;
    }
    struct proc_status out = {0};
    bool is_status = false;
    char *line;
    while ((rc = lines_next(&lines, &line)) == 1) {
        uint64_t number;
        if (line_value(line, "Pid:", &number)) {
            is_status = number == (uint64_t)pid;
        } else if (line_value(line, "VmHWM:", &out.hwm_bytes)) {
            out.has_hwm = true;
        } else if (line_value(line, "VmRSS:", &out.rss_bytes)) {
            out.has_rss = true;
        } else if (strncmp(line, "SigIgn:", 7) == 0 && hex_u64(line + 7, &out.sigign)) {
            out.has_sigign = true;
            break; /* it follows the memory lines; what comes after it is not wanted */
        }
    }
    if (rc < 0) {
        return rc;
    }
    if (!is_status) {
        return -EBADMSG;
    }
    *ret = out;
    return 0;
}

static int io_read(const struct root *root, const char *path, struct proc_io *ret) {
    struct lines lines AUTO_LINES;
    int rc = lines_open(root, path, IO_LIMIT, &lines);
    if (rc < 0) {
        return rc;
    }
    struct proc_io out = {0};
    unsigned seen = 0;
    char *line;
    while ((rc = lines_next(&lines, &line)) == 1) {
        seen |= (line_value(line, "rchar:", &out.read_chars) ? 1u : 0u) |
                (line_value(line, "wchar:", &out.written_chars) ? 2u : 0u) |
                (line_value(line, "read_bytes:", &out.read_bytes) ? 4u : 0u) |
                (line_value(line, "write_bytes:", &out.written_bytes) ? 8u : 0u);
    }
    if (rc < 0) {
        return rc;
    }
    if (seen != 15u) {
        return -EBADMSG; /* one missing figure would read as 0 */
    }
    *ret = out;
    return 0;
}

int procfs_io(const struct root *root, pid_t pid, struct proc_io *ret) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    return io_read(root, path, ret);
}

int procfs_thread_io(const struct root *root, pid_t pid, pid_t tid, struct proc_io *ret) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/io", (int)pid, (int)tid);
    return io_read(root, path, ret);
}

/* Sums the Pss lines of path: one in smaps_rollup, one per mapping in smaps. Mapping names stand on
 * lines that begin with an address, so none can pass for a Pss line. */
static int pss_read(const struct root *root, const char *path, size_t limit, struct proc_pss *ret) {
    struct lines lines AUTO_LINES;
    int rc = lines_open(root, path, limit, &lines);
    if (rc < 0) {
        return rc;
    }
    struct proc_pss out = {0};
    size_t seen = 0;
    unsigned parts = 0;
    char *line;
    while ((rc = lines_next(&lines, &line)) == 1) {
        uint64_t bytes;
        if (line_value(line, "Pss:", &bytes)) {
            if (__builtin_add_overflow(out.pss_bytes, bytes, &out.pss_bytes)) {
                return -EBADMSG;
            }
            seen++;
        }
        parts |= (line_value(line, "Pss_Anon:", &out.anon_bytes) ? 1u : 0u) |
                 (line_value(line, "Pss_File:", &out.file_bytes) ? 2u : 0u) |
                 (line_value(line, "Pss_Shmem:", &out.shmem_bytes) ? 4u : 0u);
    }
    if (rc < 0) {
        return rc;
    }
    if (seen == 0) {
        return -ESRCH; /* a zombie or a kernel thread has no memory of its own */
    }
    if (lines.left == 0) {
        return -EFBIG; /* a sum over a part of the mappings is no sum */
    }
    out.has_parts = parts == 7u;
    *ret = out;
    return 0;
}

int procfs_pss(const struct root *root, pid_t pid, struct proc_pss *ret) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    int rc = pss_read(root, path, ROLLUP_LIMIT, ret);
    if (rc != -ENOENT) {
        return rc;
    }
    /* Linux before 4.14 has no rollup: add the mappings up ourselves. */
    (void)snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    return pss_read(root, path, SMAPS_LIMIT, ret);
}

/* ---- folders of numbers: /proc and /proc/PID/task ---- */

struct numbers {
    int fd;
    size_t position, length;
    char buffer[4096] __attribute__((aligned(__alignof__(struct dirent64))));
};

static void numbers_close(struct numbers *numbers) {
    if (numbers->fd >= 0) {
        (void)close(numbers->fd);
    }
}
#define AUTO_NUMBERS __attribute__((cleanup(numbers_close)))

static int numbers_open(const struct root *root, const char *path, struct numbers *ret) {
    ret->position = ret->length = 0;
    ret->fd = root_open(root, path, O_RDONLY | O_DIRECTORY);
    return ret->fd < 0 ? ret->fd : 0;
}

/* 1: the next entry whose whole name is a process number; 0: end; negative errno. getdents64
 * instead of readdir, for opendir allocates. */
static int numbers_next(struct numbers *numbers, pid_t *ret_pid) {
    for (;;) {
        if (numbers->position >= numbers->length) {
            ssize_t got = getdents64(numbers->fd, numbers->buffer, sizeof numbers->buffer);
            if (got <= 0) {
                return got < 0 ? -errno : 0;
            }
            numbers->length = (size_t)got;
            numbers->position = 0;
        }
        const struct dirent64 *entry = (const void *)(numbers->buffer + numbers->position);
        numbers->position += entry->d_reclen;
        const char *at = entry->d_name;
        uint64_t value;
        if (*at >= '1' && *at <= '9' && field_u64(&at, &value) && *at == '\0' && value <= INT_MAX) {
            *ret_pid = (pid_t)value;
            return 1;
        }
    }
}

/* Appends the numbers of one children file. The list is one line of any length, so it is read in
 * pieces. */
static int children_of_thread(const struct root *root, const char *path, pid_t *ret_pids,
                              size_t capacity, size_t *total) {
    int fd AUTO_CLOSE = root_open(root, path, O_RDONLY);
    if (fd < 0) {
        return fd;
    }
    char buffer[4096];
    uint64_t value = 0;
    bool inside = false;
    for (size_t done = 0; done < CHILDREN_LIMIT;) {
        ssize_t got = read(fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -errno;
        }
        for (ssize_t i = 0; i <= got; i++) {
            bool ends = i == got ? got == 0 : buffer[i] == ' ' || buffer[i] == '\n';
            if (ends && inside) {
                if (*total < capacity) {
                    ret_pids[*total] = (pid_t)value;
                }
                (*total)++;
                value = 0;
                inside = false;
            }
            if (i == got || ends) {
                continue;
            }
            if (buffer[i] < '0' || buffer[i] > '9') {
                return -EBADMSG;
            }
            value = value * 10 + (uint64_t)(buffer[i] - '0');
            inside = true;
            if (value == 0 || value > INT_MAX) {
                return -EBADMSG;
            }
        }
        if (got == 0) {
            return 0;
        }
        done += (size_t)got;
    }
    return -EFBIG;
}

/* Kernels without CONFIG_PROC_CHILDREN: look at the parent of every process. */
static int children_by_scan(const struct root *root, pid_t pid, pid_t *ret_pids, size_t capacity,
                            size_t *ret_total) {
    struct numbers all AUTO_NUMBERS;
    int rc = numbers_open(root, "/proc", &all);
    size_t total = 0;
    pid_t other = 0;
    while (rc == 0 && (rc = numbers_next(&all, &other)) == 1) {
        struct proc_stat stat;
        rc = 0;
        if (procfs_stat(root, other, &stat) == 0 && stat.ppid == pid) {
            if (total < capacity) {
                ret_pids[total] = other;
            }
            total++;
        }
    }
    if (rc == 0) {
        *ret_total = total;
    }
    return rc;
}

static bool has_children_files(const struct root *root, pid_t pid) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    return root_exists(root, path);
}

int procfs_children(const struct root *root, pid_t pid, pid_t *ret_pids, size_t capacity,
                    size_t *ret_total) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    struct numbers threads AUTO_NUMBERS;
    int rc = numbers_open(root, path, &threads);
    if (rc < 0) {
        return rc;
    }
    if (!has_children_files(root, pid)) {
        return children_by_scan(root, pid, ret_pids, capacity, ret_total);
    }
    size_t total = 0;
    pid_t tid = 0;
    while ((rc = numbers_next(&threads, &tid)) == 1) {
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tid);
        rc = children_of_thread(root, path, ret_pids, capacity, &total);
        if (rc < 0 && rc != -ENOENT && rc != -ESRCH) { /* a thread that ended meanwhile is normal */
            return rc;
        }
    }
    if (rc < 0) {
        return rc;
    }
    *ret_total = total;
    return 0;
}

static bool contains(const pid_t *pids, size_t count, pid_t pid) {
    for (size_t i = 0; i < count; i++) {
        if (pids[i] == pid) {
            return true;
        }
    }
    return false;
}

/* Keeps of the `added` numbers behind `count` those that are new and not to be skipped; returns the
 * new count. A process can turn up twice when it changes its parent while we look. */
static size_t keep_new(pid_t pid, const pid_t *skip, size_t skip_count, pid_t *pids, size_t count,
                       size_t added) {
    size_t kept = count;
    for (size_t i = count; i < count + added; i++) {
        if (pids[i] != pid && !contains(skip, skip_count, pids[i]) &&
            !contains(pids, kept, pids[i])) {
            pids[kept++] = pids[i];
        }
    }
    return kept;
}

/* Without children files: whole passes over /proc until a pass finds nobody new. Numbers mostly
 * grow from parent to child, so two passes are usual. */
static size_t tree_by_scan(const struct root *root, pid_t pid, const pid_t *skip, size_t skip_count,
                           pid_t *ret_pids, size_t capacity, bool *ret_truncated) {
    size_t count = 0;
    for (bool grew = true; grew;) {
        grew = false;
        struct numbers all AUTO_NUMBERS;
        pid_t other = 0;
        if (numbers_open(root, "/proc", &all) < 0) {
            break;
        }
        while (numbers_next(&all, &other) == 1) {
            struct proc_stat stat;
            if (procfs_stat(root, other, &stat) < 0 || other == pid ||
                contains(ret_pids, count, other) || contains(skip, skip_count, other) ||
                (stat.ppid != pid && !contains(ret_pids, count, stat.ppid))) {
                continue;
            }
            if (count == capacity) {
                *ret_truncated = true;
                return count;
            }
            ret_pids[count++] = other;
            grew = true;
        }
    }
    return count;
}

size_t procfs_tree(const struct root *root, pid_t pid, const pid_t *skip, size_t skip_count,
                   pid_t *ret_pids, size_t capacity, bool *ret_truncated) {
    *ret_truncated = false;
    if (!has_children_files(root, pid)) {
        return tree_by_scan(root, pid, skip, skip_count, ret_pids, capacity, ret_truncated);
    }
    /* The result is its own queue: everybody in it is visited once. */
    size_t count = 0;
    for (size_t next = 0; next <= count; next++) {
        pid_t parent = next == 0 ? pid : ret_pids[next - 1];
        size_t total = 0, room = capacity - count;
        if (procfs_children(root, parent, ret_pids + count, room, &total) < 0) {
            continue; /* gone, or not ours to see: its children are adopted and seen there */
        }
        if (total > room) {
            *ret_truncated = true;
            total = room;
        }
        count = keep_new(pid, skip, skip_count, ret_pids, count, total);
    }
    return count;
}
