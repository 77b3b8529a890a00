/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results out of files that the command wrote. Files are read when the command has ended, by a
 * process of its own with a time limit: a file system that hangs or a huge document must not keep
 * the last record back. What this run did not write is no result of it.
 */
#include "exec/recorder-parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/helper.h"
#include "text/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT     ((size_t)64 << 20)
#define ANSWER_LIMIT   ((size_t)8 << 20)
#define READ_NS        (3 * NS_PER_S) /* below the time that the monitor waits for the last record */
#define TIMESTAMP_NS   (20 * NS_PER_MS) /* files are stamped with the time of the last tick */
#define REASON_LATE    N_("the file could not be read within 3 s")
#define REASON_ENDED   N_("the process that read the file ended early")
#define REASON_NOT_OUR N_("the file was not written by this run")

/* A file before the command started. */
struct result_before {
    bool known, existed;
    ino_t inode;
    off_t size;
    int64_t mtime_ns, ctime_ns;
};

static int64_t ns_of(const struct timespec *time) {
    return (int64_t)time->tv_sec * NS_PER_S + time->tv_nsec;
}

static void look(const char *path, struct result_before *ret) {
    struct stat status;
    *ret = (struct result_before){.known = true};
    if (stat(path, &status) < 0) {
        ret->known = errno == ENOENT || errno == ENOTDIR;
        return;
    }
    ret->existed = true;
    ret->inode = status.st_ino;
    ret->size = status.st_size;
    ret->mtime_ns = ns_of(&status.st_mtim);
    ret->ctime_ns = ns_of(&status.st_ctim);
}

/* A recorder that takes over, or was slow to start, comes too late to know. */
void results_begin(struct recorder *recorder, bool resumed) {
    const struct exec_options *options = recorder->options;
    if (options->result_count == 0)
        return;
    recorder->results_before = mem_alloc(options->result_count * sizeof *recorder->results_before);
    bool too_late = resumed || atomic_load(&recorder->shared->started);
    for (size_t i = 0; i < options->result_count && !too_late; i++)
        look(options->results[i].file, &recorder->results_before[i]);
}

void results_done(struct recorder *recorder) {
    mem_free_ptr(&recorder->results_before);
}

/* Coarse file systems may show a file older than it is; a file that was there before and has not
 * changed since is not this run's, however young it is. */
static bool is_ours(const struct stat *now, const struct result_before *before,
                    int64_t start_utc_ns) {
    int64_t mtime_ns = ns_of(&now->st_mtim);
    if (!before->known)
        return mtime_ns >= start_utc_ns - TIMESTAMP_NS;
    bool changed = !before->existed || before->inode != now->st_ino ||
                   before->size != now->st_size || before->mtime_ns != mtime_ns ||
                   before->ctime_ns != ns_of(&now->st_ctim);
    return changed && mtime_ns >= start_utc_ns - EXPECT_COARSE_TIME_NS;
}

static bool is_changed(const struct stat *before, const struct stat *after, size_t length) {
    return before->st_size != after->st_size || (size_t)after->st_size != length ||
           ns_of(&before->st_mtim) != ns_of(&after->st_mtim);
}

/* ---- in the reading process ---- */

struct reading {
    const struct recorder *recorder;
    int out_fd;
};

/* NULL: its text is in `text`. *ret_detail, where there is more to say, is English as well. */
static const char *read_file(const char *path, const struct result_before *before,
                             int64_t start_utc_ns, struct strbuf *text, const char **ret_detail) {
    struct stat status;
    if (stat(path, &status) < 0) {
        int error = errno;
        *ret_detail = error == ENOENT ? NULL : strerrordesc_np(error);
        return error == ENOENT ? N_("there is no such file") : N_("the file cannot be read");
    }
    if (!S_ISREG(status.st_mode))
        return N_("it is no regular file");
    if (!is_ours(&status, before, start_utc_ns))
        return REASON_NOT_OUR;
    /* Not the file that was looked at? The open file decides; a FIFO does not hold us up. */
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    int rc = fd < 0 || fstat(fd, &status) < 0 ? -errno : 0;
    if (rc == 0 && !S_ISREG(status.st_mode))
        return N_("it is no regular file");
    if (rc == 0 && !is_ours(&status, before, start_utc_ns))
        return REASON_NOT_OUR;
    if (rc == 0)
        rc = fd_read_all(fd, FILE_LIMIT, text);
    if (rc == -EFBIG)
        return N_("the file is larger than 64 MiB");
    /* A process that was left behind may still write it: half of it is no result. */
    struct stat after;
    if (rc == 0 && fstat(fd, &after) == 0 && is_changed(&status, &after, text->length))
        return N_("the file changed while it was read");
    *ret_detail = rc < 0 ? strerrordesc_np(-rc) : NULL;
    return rc < 0 ? N_("the file cannot be read") : NULL;
}

static void put_masked(json_t *object, const char *key, const char *text) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(text, strlen(text), &safe);
    json_put_text(object, key, strbuf_str(&safe));
}

static json_t *answer(const struct exec_output_result *result, const struct result_before *before,
                      int64_t start_utc_ns) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_ARENA struct arena *arena = arena_new();
    struct extract_value value;
    struct err err = ERR_INIT;
    const char *detail = NULL;
    json_t *json = json_object();
    const char *reason = read_file(result->file, before, start_utc_ns, &text, &detail);
    if (reason == NULL &&
        extract_value(&result->spec, strbuf_str(&text), text.length, arena, &value, &err) < 0) {
        reason = strcmp(err.id, "extract-absent") == 0 ? N_("it is not in the file")
                                                       : N_("the file cannot be understood");
        detail = err.text;
    }
    if (reason != NULL) {
        json_put_text(json, "reason", reason);
        if (detail != NULL)
            put_masked(json, "detail", detail);
    } else if (value.is_number) {
        json_put_real(json, "value", value.number);
    } else {
        put_masked(json, "text", value.text);
    }
    return json;
}

/* A document takes many times its size: where memory runs out, it is us whom the kernel ends
 * (proc_pid_oom_score_adj(5)). */
static void go_first(void) {
    AUTO_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)fd_write_full(fd, "1000", 4);
}

/* One line a result, in their order: what is done counts, whatever holds the rest up. */
static int reading_main(void *argument) {
    const struct reading *reading = argument;
    const struct recorder *recorder = reading->recorder;
    msg_set_language("en"); /* what is kept in a record */
    go_first();
    for (size_t i = 0; i < recorder->options->result_count; i++) {
        AUTO_JSON json_t *json =
            answer(&recorder->options->results[i], &recorder->results_before[i],
                   recorder->shared->start.utc_ns);
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;
        json_add_compact(&line, json);
        strbuf_add_char(&line, '\n');
        if (fd_write_full(reading->out_fd, line.data, line.length) < 0)
            return 1;
    }
    return 0;
}

/* ---- in the recorder ---- */

/* Why what is missing at the end is missing. */
static const char *read_answers(int fd, struct strbuf *answers) {
    int64_t deadline_ns = clock_mono_ns() + READ_NS;
    char piece[16384];
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got > 0 && answers->length + (size_t)got <= ANSWER_LIMIT) {
            strbuf_add(answers, piece, (size_t)got);
            continue;
        }
        int64_t rest_ms = (deadline_ns - clock_mono_ns()) / NS_PER_MS;
        bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
        if (!waits || rest_ms <= 0)
            return waits ? REASON_LATE : REASON_ENDED;
        struct pollfd watched = {fd, POLLIN, 0};
        poll(&watched, 1, (int)rest_ms);
    }
}

/* "file:PATH#WHAT" */
static json_t *source_of(const struct exec_output_result *result) {
    AUTO_FREE char *source = mem_printf("file:%s#%s", result->file, result->spec.what);
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(source, strlen(source), &safe);
    return json_text(strbuf_str(&safe));
}

static const char *kind_name(enum extract_kind kind) {
    static const char *const names[] = {
        [EXTRACT_JSON] = "json", [EXTRACT_CSV] = "csv", [EXTRACT_REGEX] = "regex"};
    return names[kind];
}

/* "json /loss of out.json": the file as its plan names it, so that runs of different conditions
 * have the same method. */
static json_t *method_of(const struct exec_output_result *result) {
    AUTO_STRBUF struct strbuf method = STRBUF_INIT;
    strbuf_printf(&method, "%s %s", kind_name(result->spec.kind), result->spec.what);
    if (result->spec.kind == EXTRACT_CSV)
        strbuf_printf(&method, " (row %s)", result->spec.row != NULL ? result->spec.row : "last");
    strbuf_printf(&method, " of %s", result->label != NULL ? result->label : result->file);
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(strbuf_str(&method), method.length, &safe);
    return json_text(strbuf_str(&safe));
}

static void write_mark(struct recorder *recorder, const struct exec_output_result *result,
                       const json_t *answered) {
    json_t *mark = json_object();
    json_put_int(mark, "t_ns", recorder->shared->end.t_ns);
    json_put_text(mark, "verb", "result");
    put_masked(mark, "name", result->name);
    json_t *value = json_object_get(answered, "value");
    if (json_is_number(value))
        json_put(mark, "value", json_incref(value));
    else
        json_put_text(mark, "text", json_get_text(answered, "text", ""));
    if (result->unit != NULL)
        put_masked(mark, "unit", result->unit);
    json_put(mark, "source", source_of(result));
    json_put(mark, "method", method_of(result));
    recorder_write(recorder, JOURNAL_MARK, mark, true);
}

static void add_absent(json_t *absent, const struct exec_output_result *result,
                       const json_t *answered, const char *missing) {
    json_t *entry = json_object();
    put_masked(entry, "name", result->name);
    if (result->unit != NULL)
        put_masked(entry, "unit", result->unit);
    json_put(entry, "source", source_of(result));
    json_put_text(entry, "reason", json_get_text(answered, "reason", missing));
    const char *detail = json_get_text(answered, "detail", NULL);
    if (detail != NULL)
        json_put_text(entry, "detail", detail);
    json_array_append_new(absent, entry);
}

static void take_answers(struct recorder *recorder, const struct strbuf *answers,
                         const char *missing, json_t *absent) {
    const char *at = strbuf_str(answers), *end;
    for (size_t i = 0; i < recorder->options->result_count; i++) {
        const struct exec_output_result *result = &recorder->options->results[i];
        char why[160];
        end = strchr(at, '\n');
        AUTO_JSON json_t *answered = end != NULL ? json_parse(at, (size_t)(end - at), why) : NULL;
        at = end != NULL ? end + 1 : at + strlen(at);
        if (json_object_get(answered, "value") != NULL || json_object_get(answered, "text") != NULL)
            write_mark(recorder, result, answered);
        else
            add_absent(absent, result, answered, missing);
    }
}

json_t *results_take(struct recorder *recorder) {
    if (recorder->options->result_count == 0)
        return NULL;
    AUTO_STRBUF struct strbuf answers = STRBUF_INIT;
    struct reading reading = {.recorder = recorder};
    struct helper_spec spec = {
        .name = "pl-results", .dies_with_parent = true, .main = reading_main, .context = &reading};
    const char *missing = REASON_ENDED;
    int fd = -1;
    pid_t pid = helper_start_writing(recorder->shared, &spec, &reading.out_fd, &fd);
    if (pid > 0) {
        missing = read_answers(fd, &answers);
        kill(pid, SIGKILL); /* it is done, or late; what cannot be killed is not waited for */
        fd_close_ptr(&fd);
        recorder_reap(recorder);
    }
    json_t *absent = json_array();
    take_answers(recorder, &answers, missing, absent);
    return absent;
}

/* ---- START ---- */

json_t *results_to_start(const struct exec_options *options) {
    json_t *list = json_array();
    for (size_t i = 0; i < options->result_count; i++) {
        const struct exec_output_result *result = &options->results[i];
        json_t *entry = json_object();
        put_masked(entry, "name", result->name);
        if (result->unit != NULL)
            put_masked(entry, "unit", result->unit);
        put_masked(entry, "file", result->file);
        put_masked(entry, kind_name(result->spec.kind), result->spec.what);
        if (result->spec.kind == EXTRACT_CSV)
            json_put_text(entry, "row", result->spec.row != NULL ? result->spec.row : "last");
        json_array_append_new(list, entry);
    }
    return list;
}
