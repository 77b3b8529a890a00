/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking at a process before it is watched. What is asked for by name (its command line, its
 * environment) takes the process's memory lock and is read here, before the first helper starts,
 * and never again.
 */
#include "exec/process.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/root.h"
#include "base/strbuf.h"
#include "probe/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define ANCESTORS_MAX 64
#define TEXTS_LIMIT   ((size_t)8 << 20)
#define STATUS_BYTES  8192

/* ---- who may be watched ---- */

static int no_process(pid_t pid, struct err *err) {
    return err_set(err, -ESRCH, "attach-no-process",
                   "there is no process %d here (or it is hidden from this user); `ps` lists them",
                   (int)pid);
}

/* "Tgid:" and the second number (effective) of "Uid:". */
static bool read_status(pid_t pid, long *ret_group, long *ret_uid) {
    char path[64], text[STATUS_BYTES];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (root_read_buf(&root_real, path, text, sizeof text) <= 0)
        return false;
    const char *group = strstr(text, "\nTgid:");
    const char *uid = strstr(text, "\nUid:");
    return group != NULL && uid != NULL && sscanf(group, "\nTgid: %ld", ret_group) == 1 &&
           sscanf(uid, "\nUid: %*d %ld", ret_uid) == 1;
}

/* We, and those who wait for us: what we cost would be counted as theirs, and our end with them. */
static bool is_own_ancestor(pid_t pid) {
    pid_t at = getpid();
    for (int i = 0; i < ANCESTORS_MAX && at > 0; i++) {
        struct proc_stat stat;
        if (at == pid)
            return true;
        if (procfs_stat(&root_real, at, &stat) < 0)
            return false;
        at = stat.ppid;
    }
    return false;
}

static int check_permission(pid_t pid, long uid, struct err *err) {
    struct proc_io io;
    int rc = procfs_io(&root_real, pid, &io);
    if ((rc != -EACCES && rc != -EPERM) || uid == (long)geteuid())
        return 0; /* one's own that hides itself: what cannot be read of it stays open */
    return err_set(err, -EPERM, "attach-not-permitted",
                   "the process %d belongs to user %ld and must not be looked at by user %ld; "
                   "attach as that user or as root",
                   (int)pid, uid, (long)geteuid());
}

static int check(const struct exec_process *process, const struct proc_stat *stat,
                 struct err *err) {
    pid_t pid = process->pid;
    long group = pid, uid = (long)geteuid();
    if (!read_status(pid, &group, &uid))
        return no_process(pid, err);
    if (group != (long)pid)
        return err_set(err, -EINVAL, "attach-thread",
                       "%d is a thread of the process %ld; attach to %ld", (int)pid, group, group);
    if (stat->is_kernel_thread)
        return err_set(err, -EINVAL, "attach-kernel-thread",
                       "%d (%s) is a thread of the kernel: it uses nothing that could be measured",
                       (int)pid, stat->comm);
    if (exec_process_has_ended(process))
        return err_set(err, -ESRCH, "attach-ended",
                       "the process %d (%s) has ended; only its parent has not noticed", (int)pid,
                       stat->comm);
    return check_permission(pid, uid, err);
}

/* ---- what is read of it ---- */

/* Texts that end with NUL, as cmdline and environ have them; NULL: not readable. */
static char **read_texts(pid_t pid, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    if (file_read(path, TEXTS_LIMIT, &bytes) < 0)
        return NULL;
    size_t count = 0;
    for (size_t i = 0; i < bytes.length; i++)
        count += bytes.data[i] == '\0' || i + 1 == bytes.length;
    char **texts = mem_alloc((count + 1) * sizeof *texts);
    const char *at = bytes.data;
    for (size_t i = 0; i < count; i++) {
        size_t length = strnlen(at, (size_t)(bytes.data + bytes.length - at));
        texts[i] = mem_strndup(at, length);
        at += length + 1;
    }
    return texts;
}

/* A program that overwrote its arguments may show only empty ones. */
static void read_command(struct exec_process *process, const char *comm) {
    process->argv = read_texts(process->pid, "cmdline");
    size_t count = 0;
    while (process->argv != NULL && process->argv[count] != NULL)
        count++;
    while (count > 1 && process->argv[count - 1][0] == '\0')
        mem_free_ptr(&process->argv[--count]);
    if (count > 0 && process->argv[0][0] != '\0')
        return;
    for (size_t i = 0; i < count; i++)
        free(process->argv[i]);
    free(process->argv);
    process->argv = mem_alloc(2 * sizeof *process->argv);
    process->argv[0] = mem_printf("[%s]", comm);
}

static char *read_link(pid_t pid, const char *name) {
    char path[64], target[4096];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    ssize_t length = root_readlink(&root_real, path, target, sizeof target);
    return length < 0 ? NULL : mem_strndup(target, strnlen(target, sizeof target));
}

static void describe(struct exec_process *process, const char *comm) {
    static const char *const streams[] = {"fd/0", "fd/1", "fd/2"};
    read_command(process, comm);
    process->cwd = read_link(process->pid, "cwd");
    process->environment = read_texts(process->pid, "environ");
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)process->pid);
    DIR *folder = opendir(path);
    process->has_streams = folder != NULL;
    if (folder != NULL)
        closedir(folder);
    for (size_t i = 0; i < ARRAY_LENGTH(streams); i++)
        process->stream[i] = read_link(process->pid, streams[i]);
}

static enum stream_was kind_of(const char *target) {
    static const struct {
        const char *prefix;
        enum stream_was was;
    } kinds[] = {{"pipe:", STREAM_PIPE},        {"socket:", STREAM_SOCKET},
                 {"/dev/null", STREAM_NULL},    {"/dev/pts/", STREAM_TERMINAL},
                 {"/dev/tty", STREAM_TERMINAL}, {"/dev/console", STREAM_TERMINAL},
                 {"/dev/shm/", STREAM_FILE},    {"/dev/", STREAM_DEVICE},
                 {"/memfd:", STREAM_FILE},      {"/", STREAM_FILE}};
    for (size_t i = 0; target != NULL && i < ARRAY_LENGTH(kinds); i++)
        if (strncmp(target, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            return kinds[i].was;
    return target == NULL ? STREAM_CLOSED : STREAM_DEVICE;
}

void exec_process_streams(const struct exec_process *process, struct stream_facts facts[3]) {
    for (size_t i = 0; i < ARRAY_LENGTH(process->stream); i++)
        facts[i] = (struct stream_facts){
            .was = kind_of(process->stream[i]), .tee = TEE_INHERITED, .shared_with = -1};
}

bool exec_process_has_ended(const struct exec_process *process) {
    struct pollfd watched = {process->pidfd, POLLIN, 0};
    if (process->pidfd >= 0)
        return poll(&watched, 1, 0) > 0;
    struct proc_stat stat;
    int rc = procfs_stat(&root_real, process->pid, &stat);
    if (rc < 0)
        return rc == -ENOENT || rc == -ESRCH;
    return stat.start != process->start || stat.state == 'Z' || stat.state == 'X';
}

static int open_process(struct exec_process *process, struct err *err) {
    struct proc_stat stat, again;
    process->pidfd = pidfd_open(process->pid, 0);
    if (process->pidfd < 0 && errno == ESRCH)
        return no_process(process->pid, err);
    if (procfs_stat(&root_real, process->pid, &stat) < 0)
        return no_process(process->pid, err);
    process->start = stat.start;
    int rc = check(process, &stat, err);
    if (rc < 0)
        return rc;
    describe(process, stat.comm);
    /* What was read is of the process that the descriptor holds only if the number is still its. */
    if (procfs_stat(&root_real, process->pid, &again) < 0 || again.start != stat.start)
        return no_process(process->pid, err);
    return 0;
}

int exec_process_open(pid_t pid, struct exec_process **ret_process, struct err *err) {
    if (pid == 1)
        return err_set(err, -EINVAL, "attach-init",
                       "process 1 is the parent of whatever lost its own: attach to the process "
                       "that does the work");
    if (pid == getpid())
        return err_set(err, -EINVAL, "attach-ancestor",
                       "process %d is this one, which would measure itself; attach to another, or "
                       "from another shell",
                       (int)pid);
    if (is_own_ancestor(pid))
        return err_set(err, -EINVAL, "attach-ancestor",
                       "the process %d has started this one, which would measure itself; attach "
                       "from another shell",
                       (int)pid);
    struct exec_process *process = mem_alloc(sizeof *process);
    process->pid = pid;
    process->pidfd = -1;
    int rc = open_process(process, err);
    if (rc < 0) {
        exec_process_free(process);
        return rc;
    }
    *ret_process = process;
    return 0;
}

const char *const *exec_process_argv(const struct exec_process *process) {
    return (const char *const *)process->argv;
}

const char *exec_process_cwd(const struct exec_process *process) {
    return process->cwd;
}

static void free_texts(char **texts) {
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++)
        free(texts[i]);
    free(texts);
}

struct exec_process *exec_process_free(struct exec_process *process) {
    if (process == NULL)
        return NULL;
    fd_close_ptr(&process->pidfd);
    free_texts(process->argv);
    free_texts(process->environment);
    free(process->cwd);
    for (size_t i = 0; i < ARRAY_LENGTH(process->stream); i++)
        free(process->stream[i]);
    free(process);
    return NULL;
}
