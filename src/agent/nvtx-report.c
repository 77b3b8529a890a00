/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of the marks file. Each is one write() to a descriptor that lives no longer than that: a
 * program may close, or use again, any that we kept. Ranges that come and go faster than a file
 * should grow are joined where their gaps are short, and in the end no longer told, which is said.
 */
#include "agent/nvtx-parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES  4096u
#define LINES_FIRST 2000 /* a process may write so many at once ... */
#define LINES_PER_S 10   /* ... and so many a second */
#define NS_IN_S     1000000000
/* Where there are many lines, a gap this short between two ranges of a phase is not told. */
#define JOINED_NS 2000000

static char marks_path[4096];
static int64_t first_ns;
static _Atomic int owner;  /* the process whose state this is: a child of fork begins anew */
static _Atomic int forked; /* the child of fork that has the state of its parent; 0: none */
static _Atomic int lines;
static _Atomic bool is_limited;
static _Atomic int open_ranges[NVTX_MAPPINGS];  /* by phase */
static _Atomic int64_t ended_ns[NVTX_MAPPINGS]; /* by phase; an end not written yet; 0: none */
static _Atomic int last_mark;                   /* phase + 1 */

/* ---- a line ---- */

struct line {
    size_t length;
    char text[LINE_BYTES];
};

static void add(struct line *line, const char *text) {
    size_t length = strlen(text);
    if (line->length + length >= LINE_BYTES)
        return;
    memcpy(line->text + line->length, text, length);
    line->length += length;
}

static void add_number(struct line *line, uint64_t value) {
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    add(line, digits + at);
}

/* Bytes of the UTF-8 character at text, 0: it is none. */
static size_t character(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80 ? 1 : c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : c[0] >= 0xC2 ? 2 : 0;
    if (c[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    bool is_overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    bool is_beyond = (c[0] == 0xED && c[1] >= 0xA0) || (c[0] == 0xF4 && c[1] >= 0x90);
    return is_overlong || is_beyond ? 0 : length;
}

static void add_json_text(struct line *line, const char *text) {
    static const char hex[] = "0123456789abcdef";
    add(line, "\"");
    while (*text != '\0') {
        char piece[8] = {0};
        size_t length = character(text);
        unsigned char c = (unsigned char)*text;
        if (length == 0) {
            piece[0] = '?';
        } else if (c < 0x20 || c == 0x7F) {
            memcpy(piece, "\\u00", 4);
            piece[4] = hex[c >> 4];
            piece[5] = hex[c & 15];
        } else if (c == '"' || c == '\\') {
            piece[0] = '\\';
            piece[1] = (char)c;
        } else {
            memcpy(piece, text, length);
        }
        add(line, piece);
        text += length > 0 ? length : 1;
    }
    add(line, "\"");
}

static void begin_line(struct line *line, int64_t t_ns, const char *event) {
    line->length = 0;
    add_number(line, (uint64_t)t_ns);
    add(line, "@");
    add_number(line, (uint64_t)getpid());
    add(line, " agent nvtx {\"event\":\"");
    add(line, event);
    add(line, "\"");
}

/* Beyond RLIMIT_FSIZE a write would be a signal that ends the program. */
static bool may_grow(int fd, size_t length) {
    struct rlimit limit;
    if (syscall(SYS_getrlimit, RLIMIT_FSIZE, &limit) < 0)
        return false;
    if (limit.rlim_cur == RLIM_INFINITY)
        return true;
    long end = syscall(SYS_lseek, fd, 0L, SEEK_END);
    return end >= 0 && (uint64_t)end + length <= limit.rlim_cur;
}

/* Calls to the kernel without the C library's wrappers: those are points where a thread may be
 * cancelled. */
static void write_line(struct line *line) {
    int saved_errno = errno;
    add(line, "}\n");
    long fd = syscall(SYS_openat, AT_FDCWD, marks_path,
                      O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd >= 0 && line->text[line->length - 1] == '\n' && may_grow((int)fd, line->length))
        syscall(SYS_write, fd, line->text, line->length);
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved_errno;
}

static int64_t now_ns(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_IN_S + now.tv_nsec;
}

static void say(const char *event, const char *reason) {
    struct line line;
    begin_line(&line, now_ns(), event);
    add(&line, ",\"reason\":");
    add_json_text(&line, reason);
    write_line(&line);
}

static void in_child(void) {
    atomic_store(&forked, (int)getpid());
}

bool nvtx_report_init(void) {
    const char *path = getenv("PROBELAUF_MARKS");
    size_t length = path != NULL ? strlen(path) : 0;
    if (length == 0 || length >= sizeof marks_path || path[0] != '/')
        return false;
    memcpy(marks_path, path, length + 1);
    first_ns = now_ns();
    atomic_store(&owner, getpid());
    return pthread_atfork(NULL, NULL, in_child) == 0;
}

void nvtx_report_hello(void) {
    struct line line;
    begin_line(&line, now_ns(), "hello");
    add(&line, ",\"version\":1");
    write_line(&line);
}

void nvtx_report_trouble(const char *reason) {
    say("trouble", reason);
}

/* ---- begin and end ---- */

/* What the parent of fork had open is the parent's. A child of vfork lives in its parent's memory,
 * as far as can be told a child of a bare clone too: they change nothing there and tell nothing. */
bool nvtx_report_is_here(void) {
    int pid = getpid();
    if (atomic_load_explicit(&owner, memory_order_relaxed) == pid)
        return true;
    if (atomic_load(&forked) != pid)
        return false;
    for (size_t i = 0; i < NVTX_MAPPINGS; i++) {
        atomic_store(&open_ranges[i], 0);
        atomic_store(&ended_ns[i], 0);
    }
    atomic_store(&lines, 0);
    atomic_store(&is_limited, false);
    atomic_store(&last_mark, 0);
    first_ns = now_ns();
    atomic_store(&owner, pid);
    nvtx_report_hello();
    return true;
}

static int allowance(int64_t t_ns) {
    int64_t since_s = (t_ns - first_ns) / NS_IN_S;
    return LINES_FIRST + (int)(since_s < 1000000 ? since_s : 1000000) * LINES_PER_S;
}

static void write_event(int64_t t_ns, const char *event, unsigned phase, const char *what) {
    if (atomic_load(&is_limited))
        return;
    if (atomic_fetch_add(&lines, 1) >= allowance(t_ns)) {
        if (!atomic_exchange(&is_limited, true))
            say("limit", "ranges come faster than they can be recorded");
        return;
    }
    struct line line;
    begin_line(&line, t_ns, event);
    add(&line, ",\"phase\":");
    add_json_text(&line, nvtx_phase_name(phase));
    if (what != NULL) {
        add(&line, ",\"what\":");
        add_json_text(&line, what);
    }
    write_line(&line);
}

static void write_ended(unsigned phase) {
    int64_t ended = atomic_exchange(&ended_ns[phase], 0);
    if (ended != 0)
        write_event(ended, "end", phase, NULL);
}

static void begin_phase(unsigned phase, const char *what) {
    int64_t t_ns = now_ns();
    for (unsigned i = 0; i < nvtx_phase_count(); i++)
        if (i != phase)
            write_ended(i);
    int64_t ended = atomic_load(&ended_ns[phase]);
    if (ended != 0 && t_ns - ended < JOINED_NS &&
        atomic_compare_exchange_strong(&ended_ns[phase], &ended, 0))
        return;
    write_ended(phase);
    write_event(t_ns, "begin", phase, what);
}

void nvtx_report_begin(int mapping) {
    const struct nvtx_mapping *mapped = nvtx_mapping_at((size_t)mapping);
    if (atomic_fetch_add(&open_ranges[mapped->phase], 1) == 0)
        begin_phase(mapped->phase, mapped->name);
}

void nvtx_report_end(int mapping) {
    unsigned phase = nvtx_mapping_at((size_t)mapping)->phase;
    int open = atomic_load(&open_ranges[phase]);
    do {
        if (open <= 0)
            return; /* the parent's */
    } while (!atomic_compare_exchange_weak(&open_ranges[phase], &open, open - 1));
    if (open > 1)
        return;
    int64_t t_ns = now_ns();
    if (2 * atomic_load(&lines) < allowance(t_ns))
        write_event(t_ns, "end", phase, NULL);
    else
        atomic_store(&ended_ns[phase], t_ns);
}

void nvtx_report_mark(int mapping) {
    const struct nvtx_mapping *mapped = nvtx_mapping_at((size_t)mapping);
    if (atomic_exchange(&last_mark, (int)mapped->phase + 1) != (int)mapped->phase + 1)
        write_event(now_ns(), "begin", mapped->phase, mapped->name);
}

/* ---- what was seen ---- */

void nvtx_report_ranges(uint64_t seen) {
    struct line line;
    begin_line(&line, now_ns(), "ranges");
    add(&line, ",\"seen\":");
    add_number(&line, seen);
    add(&line, ",\"names\":[");
    const char *separator = "";
    for (unsigned i = 0; i < NVTX_NAMES; i++) {
        const char *name = nvtx_noted_name(i);
        if (*name == '\0' || line.length + 6 * NVTX_SHOWN_BYTES + 8 > LINE_BYTES)
            continue;
        add(&line, separator);
        add_json_text(&line, name);
        separator = ",";
    }
    add(&line, "]");
    write_line(&line);
}

void nvtx_report_finish(uint64_t seen) {
    if (atomic_load(&owner) != getpid())
        return;
    for (unsigned i = 0; i < nvtx_phase_count(); i++)
        write_ended(i);
    nvtx_report_ranges(seen);
}
