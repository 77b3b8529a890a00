/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starting one `probelauf run` in a lane. The child holds the lane's lock from the moment it
 * exists, and writes its own pid into the lane's file: a runner that is killed at any moment loses
 * nothing. Between fork and exec only what a signal handler may do.
 */
#include "work/block-parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/msg.h"
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define OUTPUT_FOLDER "output"
#define LABEL_MAX     60u
#define DISK_MIN      ((uint64_t)8 << 20) /* for a record, and some output */

extern char **environ;

/* ---- the command ---- */

static size_t add_condition(const struct block_child *child, const char **argv, size_t count,
                            struct arena *arena) {
    const struct plan_condition *condition = child->condition;
    argv[count++] = "--block";
    argv[count++] = child->block->id;
    for (size_t i = 0; i < condition->axis_count && child->block->condition_count > 1; i++) {
        argv[count++] = "-c";
        argv[count++] =
            arena_printf(arena, "%s=%s", condition->axes[i].name, condition->axes[i].value);
    }
    return count;
}

const char *const *block_child_argv(const struct block_child *child, struct arena *arena) {
    size_t axes = child->condition ? child->condition->axis_count : 0;
    const char **argv =
        arena_alloc(arena, (2 * axes + child->options->pass_count + 16) * sizeof *argv);
    size_t count = 0;
    argv[count++] = "run";
    for (size_t i = 0; i < child->options->pass_count; i++)
        argv[count++] = child->options->pass[i];
    if (child->retry > 0) {
        argv[count++] = "--retry";
        argv[count++] = arena_printf(arena, "%llu", (unsigned long long)child->retry);
    }
    if (child->max_time_ns > 0) {
        argv[count++] = "--max-time";
        argv[count++] =
            arena_printf(arena, "%lld.%03llds", (long long)(child->max_time_ns / NS_PER_S),
                         (long long)(child->max_time_ns % NS_PER_S / NS_PER_MS));
    }
    if (child->step) {
        argv[count++] = "--step";
        argv[count++] = child->step->name;
        return argv;
    }
    (void)add_condition(child, argv, count, arena);
    return argv;
}

/* ---- its output ---- */

static const char *label_of(const struct block_child *child) {
    if (child->step)
        return child->step->name;
    return child->condition ? child->condition->label : "";
}

static char *readable(const char *label) {
    char *name = mem_strndup(label, strnlen(label, LABEL_MAX));
    for (char *at = name; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=-", *at))
            *at = '_';
    return name;
}

const char *block_output_folder(const struct lane_folder *folder, struct arena *arena) {
    return arena_printf(arena, "%s/%s/%s", folder->path, OUTPUT_FOLDER, folder->prefix);
}

bool block_disk_is_full(const struct lane_folder *folder, struct arena *arena,
                        const char **ret_folder, uint64_t *ret_free) {
    struct statvfs disk;
    const char *paths[] = {block_output_folder(folder, arena), folder->path};
    for (size_t i = 0; i < ARRAY_LENGTH(paths); i++) {
        if (statvfs(paths[i], &disk) < 0)
            continue; /* it is made later, or cannot be: that is said then */
        uint64_t bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
        /* f_files is 0 where the file system has no fixed number of files */
        if (bytes >= DISK_MIN && (disk.f_files == 0 || disk.f_favail > 0))
            continue;
        *ret_folder = paths[i];
        *ret_free = bytes;
        return true;
    }
    return false;
}

/* output/STUDY-BLOCK/TIME-LANE-LABEL.log below the folder of the lanes. */
static int open_output(const struct block_child *child, const struct lane_folder *folder,
                       size_t lane, struct arena *arena, const char **ret_path, struct err *err) {
    AUTO_FREE char *label = readable(label_of(child));
    AUTO_STRBUF struct strbuf time = STRBUF_INIT;
    clock_format_utc(clock_utc_ns(), &time);
    const char *dir = block_output_folder(folder, arena);
    int rc = dir_make_private(dir, err);
    if (rc < 0)
        return rc;
    *ret_path = arena_printf(arena, "%s/%s-%zu-%s.log", dir, strbuf_str(&time), lane, label);
    int fd = open(*ret_path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 ? fd
                   : err_set(err, -errno, "block-output", "the file '%s' cannot be made: %s",
                             *ret_path, strerror(errno));
}

/* ---- the child ---- */

static char **make_environment(const char *gpus, const char *output, struct arena *arena) {
    static const char name[] = "CUDA_VISIBLE_DEVICES=", own[] = EXEC_LANE_OUTPUT_VARIABLE "=";
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **made = arena_alloc(arena, (count + 3) * sizeof *made);
    for (size_t i = 0; i < count; i++)
        if ((!gpus || strncmp(environ[i], name, sizeof name - 1) != 0) &&
            strncmp(environ[i], own, sizeof own - 1) != 0)
            made[kept++] = environ[i];
    made[kept++] = arena_printf(arena, "%s%s", own, output);
    if (gpus)
        made[kept] = arena_printf(arena, "%s%s", name, gpus);
    return made;
}

static void write_pid(int fd) {
    char text[32] = "pid ", digits[24];
    size_t at = 4, count = 0;
    for (long pid = getpid(); pid > 0; pid /= 10)
        digits[count++] = (char)('0' + pid % 10);
    while (count > 0)
        text[at++] = digits[--count];
    text[at++] = '\n';
    (void)!write(fd, text, at);
}

struct start { /* all that is needed between fork and exec */
    const char *program;
    char *const *argv;
    char **environment;
    int lane_fd, output_fd, null_fd;
};

__attribute__((noreturn)) static void become(const struct start *start) {
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGPIPE};
    sigset_t none;
    (void)setpgid(0, 0);
    for (size_t i = 0; i < ARRAY_LENGTH(usual); i++)
        (void)signal(usual[i], SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    write_pid(start->lane_fd);
    if (dup2(start->null_fd, STDIN_FILENO) >= 0 && dup2(start->output_fd, STDOUT_FILENO) >= 0 &&
        dup2(start->output_fd, STDERR_FILENO) >= 0 &&
        fcntl(start->lane_fd, F_SETFD, 0) == 0) /* inherited: it holds the lock */
        (void)execve(start->program, start->argv, start->environment);
    _exit(125);
}

pid_t block_child_start(const struct block_child *child, const struct lane_folder *folder,
                        size_t lane, struct arena *arena, const char **ret_output,
                        struct err *err) {
    const char *const *words = block_child_argv(child, arena);
    size_t count = 0;
    while (words[count])
        count++;
    char **argv = arena_alloc(arena, (count + 2) * sizeof *argv);
    argv[0] = arena_strdup(arena, "probelauf");
    for (size_t i = 0; i < count; i++)
        argv[i + 1] = arena_strdup(arena, words[i]);
    AUTO_CLOSE int output = open_output(child, folder, lane, arena, ret_output, err);
    if (output < 0)
        return output;
    AUTO_CLOSE int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_fd < 0)
        return err_set(err, -errno, "block-output", "/dev/null cannot be opened: %s",
                       strerror(errno));
    const struct lane_content content = {
        .condition = child->condition ? child->condition->id : NULL,
        .step = child->step ? child->step->name : NULL,
        .what = label_of(child),
        .gpus = child->gpus,
        .output = *ret_output,
        .utc_ns = clock_utc_ns(),
    };
    AUTO_CLOSE int lane_fd = -1;
    int rc = lane_take(folder, lane, &content, &lane_fd, err);
    if (rc < 0)
        return rc;
    const struct start start = {
        .program = child->options->program,
        .argv = argv,
        .environment = make_environment(child->gpus, *ret_output, arena),
        .lane_fd = lane_fd,
        .output_fd = output,
        .null_fd = null_fd,
    };
    pid_t pid = fork();
    if (pid == 0)
        become(&start);
    return pid > 0 ? pid
                   : err_set(err, -errno, "block-output", "no process can be started: %s",
                             strerror(errno));
}
