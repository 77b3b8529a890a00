/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a helper program and captures what it says. The helper gets a process group of its own,
 * default signal handling, no inherited descriptors and a deadline; must not leave a zombie, must
 * not wait longer.
 */
#include "base/spawn.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Without pidfd_open (before Linux 5.3, or filtered) the end of the child is looked for this often.
 */
#define CHECK_INTERVAL_MS 10

static bool is_replaced(const char *entry, const char *const env_extra[]) {
    size_t name_length = strcspn(entry, "=");
    for (size_t i = 0; env_extra != NULL && env_extra[i] != NULL; i++)
        if (strncmp(entry, env_extra[i], name_length) == 0 && env_extra[i][name_length] == '=')
            return true;
    return false;
}

/* Our environment with env_extra over it; only the list is allocated, the texts are borrowed. */
static const char **merge_environment(const char *const env_extra[]) {
    size_t ours = 0, extra = 0;
    while (environ != NULL && environ[ours] != NULL)
        ours++;
    while (env_extra != NULL && env_extra[extra] != NULL)
        extra++;
    const char **merged = mem_alloc((ours + extra + 1) * sizeof *merged);
    size_t count = 0;
    for (size_t i = 0; i < ours; i++)
        if (!is_replaced(environ[i], env_extra))
            merged[count++] = environ[i];
    for (size_t i = 0; i < extra; i++)
        merged[count++] = env_extra[i];
    return merged;
}

/* posix_spawn functions return an errno value, positive. */
static int set_actions(posix_spawn_file_actions_t *actions, int write_fd, int cwd_fd) {
    /* In this order: any of our two descriptors may be 0, 1 or 2, where we were started without
     * them. */
    int rc = cwd_fd >= 0 ? posix_spawn_file_actions_addfchdir_np(actions, cwd_fd) : 0;
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, write_fd, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    return rc;
}

static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &all);
    if (rc == 0)
        rc = posix_spawnattr_setpgroup(attributes, 0);
    if (rc == 0)
        rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                      POSIX_SPAWN_SETPGROUP);
    return rc;
}

static int start(const char *const argv[], const char *const env[], int cwd_fd, int write_fd,
                 pid_t *ret_pid) {
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return -rc;
    posix_spawnattr_t attributes;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        rc = set_actions(&actions, write_fd, cwd_fd);
        if (rc == 0)
            rc = set_attributes(&attributes);
        /* The prototype wants char *const[]; posix_spawn(3p) promises not to write to them. */
        if (rc == 0)
            rc = posix_spawnp(ret_pid, argv[0], &actions, &attributes,
                              (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -rc;
}

/* One read of what is there. 1: something came, 0: nothing now, -1: end of file or an error. */
static int take_output(int fd, size_t limit, struct strbuf *out, size_t *taken, int *truncated) {
    char piece[16384];
    ssize_t got = read(fd, piece, sizeof piece);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (got == 0)
        return -1;
    size_t fits = (size_t)got < limit - *taken ? (size_t)got : limit - *taken;
    strbuf_add(out, piece, fits);
    *taken += fits;
    if (fits < (size_t)got)
        *truncated = 1;
    return 1;
}

/* True when the child has ended (it stays a zombie, so that its process group id stays ours). */
static bool has_ended(pid_t pid) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return errno == ECHILD; /* SIGCHLD is ignored here: the kernel has reaped it */
    return info.si_pid == pid;
}

static int remaining_ms(int64_t deadline_ns) {
    int64_t rest_ns = deadline_ns - clock_mono_ns();
    if (rest_ns <= 0)
        return 0;
    int64_t rest_ms = rest_ns / NS_PER_MS + 1;
    return rest_ms < 60000 ? (int)rest_ms : 60000;
}

/* Waits for the child a little after it was killed. One that hangs in the kernel (a dead file
 * server) cannot be waited for: it is left to whoever reaps our orphans. Returns its exit status or
 * -1. */
#define REAP_NS (NS_PER_S / 2)
static int reap(pid_t pid, bool killed) {
    int64_t deadline_ns = clock_mono_ns() + REAP_NS;
    for (;;) {
        int status = 0;
        pid_t reaped = waitpid(pid, &status, WNOHANG);
        if (reaped == pid)
            return WIFEXITED(status) && !killed ? WEXITSTATUS(status) : -1;
        if ((reaped < 0 && errno != EINTR) || remaining_ms(deadline_ns) == 0)
            return -1; /* ECHILD: SIGCHLD is ignored here, the status is lost */
        int slept = poll(NULL, 0, 1);
        (void)slept;
    }
}

/* Reads until the child has ended or the deadline has come; returns true at the deadline. A
 * grandchild that keeps the pipe open after the child's end is not waited for. */
static bool follow(pid_t pid, int fd, int64_t deadline_ns, size_t limit, struct strbuf *out,
                   int *truncated) {
    AUTO_CLOSE int pid_fd = pidfd_open(pid, 0);
    size_t taken = 0;
    bool open = true;
    for (;;) {
        int wait_ms = remaining_ms(deadline_ns);
        if (wait_ms == 0)
            return true;
        if (pid_fd < 0 && wait_ms > CHECK_INTERVAL_MS)
            wait_ms = CHECK_INTERVAL_MS;
        struct pollfd watched[2] = {{open ? fd : -1, POLLIN, 0}, {pid_fd, POLLIN, 0}};
        int ready = poll(watched, 2, wait_ms); /* ignores negative descriptors (poll(2)) */
        if (ready < 0 && errno != EINTR)
            return true;
        bool ended = has_ended(pid);
        if (open && take_output(fd, limit, out, &taken, truncated) < 0)
            open = false;
        if (!ended)
            continue;
        while (open && remaining_ms(deadline_ns) > 0 &&
               take_output(fd, limit, out, &taken, truncated) > 0)
            ;
        return false;
    }
}

static int open_folder(const char *path, int *ret_fd, struct err *err) {
    *ret_fd = -1;
    if (path == NULL)
        return 0;
    *ret_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*ret_fd >= 0)
        return 0;
    /* -ENOENT would say that the program is not installed */
    int rc = errno == ENOENT ? -ENOTDIR : -errno;
    return err_set(err, rc, "program-folder", "cannot enter the folder '%s': %s", path,
                   strerror(-rc));
}

int spawn_capture(const char *const argv[], const char *const env_extra[], const char *cwd,
                  int64_t timeout_ns, size_t limit, struct strbuf *out,
                  struct spawn_result *ret_result, struct err *err) {
    AUTO_CLOSE int cwd_fd = -1;
    int rc = open_folder(cwd, &cwd_fd, err);
    if (rc < 0)
        return rc;
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return err_set(err, -errno, "program-start", "cannot make a pipe for '%s': %s", argv[0],
                       strerror(errno));
    AUTO_CLOSE int read_fd = pipe_fds[0];
    AUTO_CLOSE int write_fd = pipe_fds[1];
    AUTO_FREE const char **env = merge_environment(env_extra);
    int64_t now_ns = clock_mono_ns();
    int64_t deadline_ns = timeout_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + timeout_ns;
    pid_t pid = -1; /* set by posix_spawn; the analyzer cannot know */
    rc = start(argv, env, cwd_fd, write_fd, &pid);
    if (rc < 0)
        return err_set(err, rc, "program-start", "cannot start '%s': %s", argv[0], strerror(-rc));
    fd_close_ptr(&write_fd);
    struct spawn_result result = {.status = -1};
    int flags =
        fcntl(read_fd, F_GETFL); /* of our end only: a pipe's two ends are two descriptions */
    if (flags < 0 || fcntl(read_fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
        follow(pid, read_fd, deadline_ns, limit, out, &result.truncated)) {
        result.timed_out = 1;
        kill(-pid, SIGKILL); /* not reaped yet: the group is still the child's */
        kill(pid, SIGKILL);  /* if it left its group */
    }
    result.status = reap(pid, result.timed_out);
    *ret_result = result;
    return 0;
}
