/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The child side of the launch: own streams, own cgroup, the signal state we were given, exec. Must
 * not allocate there. */
#include "exec/command.h"

#include "base/mem.h"
#include "exec/exec.h"
#include "exec/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Pages that are still touched on the way to exec: some 0.1 to 0.8 MB were seen, and a file system
 * with large folios may map more at once. */
#define FLOOR_MARGIN_BYTES (2 << 20)
#define OWN_VARIABLES      3 /* that command_environment() puts first */

static void run_child(const struct command_spec *spec, int exec_fd) __attribute__((noreturn));

/* A process that executes keeps the mark of what it was before (Linux fs/exec.c, exec_mmap:
 * setmax_mm_hiwater_rss), so ru_maxrss says something only above this. Some pages are still touched
 * on the way to exec. */
static void tell_floor(const struct command_spec *spec) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        atomic_store(spec->rss_floor_bytes, (int64_t)usage.ru_maxrss * 1024 + FLOOR_MARGIN_BYTES);
}

static void run_child(const struct command_spec *spec, int exec_fd) {
    /* "0" names the writing thread, and we have but one. Through `tasks` the kernel needs no lock
     * over all processes, which costs some 10 ms through cgroup.procs (kernel/cgroup/cgroup.c,
     * cgroup_procs_write_start). A refusal leaves us in the enclosing group. */
    if (spec->join_fd >= 0 && write(spec->join_fd, "0", 1) == 1)
        atomic_store(spec->setup_chars, 1);
    for (int fd = 0; fd < 3; fd++)
        if (spec->child_fd[fd] >= 0)
            dup2(spec->child_fd[fd], fd);
    signals_restore_in_child(spec->signals);
    tell_floor(spec);
    /* execvpe(3) as env(1) and time(1) do: PATH, and /bin/sh for a script without an interpreter
     * line. The prototype wants char *const[]; it does not write to the texts. */
    execvpe(spec->argv[0], (char *const *)(uintptr_t)spec->argv, spec->environment);
    int error = errno;
    ssize_t told = write(exec_fd, &error, sizeof error);
    (void)told;
    helper_exit(error == ENOENT ? 127 : 126);
}

/* Into the v2 group at birth (clone3(2), CLONE_INTO_CGROUP, Linux 5.7): joining it afterwards would
 * need the lock, too. */
static pid_t fork_into(int group_fd) {
    struct clone_args args = {
        .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned long long)group_fd};
    long pid = group_fd >= 0 ? syscall(SYS_clone3, &args, sizeof args) : -1;
    return pid >= 0 ? (pid_t)pid : fork();
}

pid_t command_fork(const struct command_spec *spec, int *ret_exec_fd) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    pid_t pid = fork_into(spec->group_fd);
    if (pid < 0) {
        int rc = -errno;
        close(ends[0]);
        close(ends[1]);
        return rc;
    }
    if (pid == 0)
        run_child(spec, ends[1]);
    close(ends[1]);
    *ret_exec_fd = ends[0];
    return pid;
}

/* NAME=VALUE with the path of this program, so that a command can mark its phases where we are not
 * in PATH. */
static char *own_program(void) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0 || (size_t)length >= sizeof path)
        return mem_printf("%s=probelauf", EXEC_PROGRAM_VARIABLE);
    return mem_printf("%s=%.*s", EXEC_PROGRAM_VARIABLE, (int)length, path);
}

static size_t count_of(char *const *list) {
    size_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    return count;
}

/* `entry` sets a variable that one of `list` sets, too. */
static bool is_set_by(const char *entry, char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t name = strcspn(list[i], "=");
        if (strncmp(entry, list[i], name) == 0 && entry[name] == '=')
            return true;
    }
    return false;
}

char **command_environment(char *const *environment, const char *run, const char *marks_path,
                           char *const *more) {
    size_t count = count_of(environment), more_count = count_of(more);
    char **list = mem_alloc((count + more_count + OWN_VARIABLES + 1) * sizeof *list);
    /* Owned texts come first: command_environment_free() knows them by their place. */
    list[0] = mem_printf("%s=%s", EXEC_RUN_VARIABLE, run);
    /* Without a place for marks an outer run's variable would take them: it is emptied. */
    list[1] = mem_printf("%s=%s", EXEC_MARKS_VARIABLE, marks_path != NULL ? marks_path : "");
    list[2] = own_program();
    size_t at = OWN_VARIABLES;
    for (size_t i = 0; i < more_count; i++)
        list[at++] = more[i];
    size_t set = at;
    for (size_t i = 0; i < count; i++)
        if (!is_set_by(environment[i], list, set))
            list[at++] = environment[i];
    return list;
}

void command_environment_free(char **environment) {
    if (environment == NULL)
        return;
    for (size_t i = 0; i < OWN_VARIABLES; i++)
        free(environment[i]);
    free(environment);
}
