/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forking helpers. What runs here between fork and the helper's main must not fail: every step has
 * a lesser substitute. */
#include "exec/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEEP_MAX 32

/* gcov's writer of coverage data; absent in ordinary builds. _exit() would skip it. */
extern void __gcov_dump(void) __attribute__((weak));

void helper_exit(int code) {
    if (__gcov_dump != NULL)
        __gcov_dump();
    _exit(code);
}

static int compare_ints(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* close_range(2) needs Linux 5.9; before it every number up to the limit is tried. */
static void close_between(unsigned first, unsigned last) {
    if (first > last || close_range(first, last, 0) == 0)
        return;
    long limit = sysconf(_SC_OPEN_MAX);
    unsigned highest = limit > 0 && limit < 65536 ? (unsigned)limit : 65536;
    for (unsigned fd = first; fd <= last && fd < highest; fd++)
        close((int)fd);
}

static void close_others(const struct helper_spec *spec) {
    int keep[KEEP_MAX];
    size_t count = 0;
    for (size_t i = 0; i < spec->keep_count && count < KEEP_MAX; i++)
        if (spec->keep[i] > STDERR_FILENO)
            keep[count++] = spec->keep[i];
    qsort(keep, count, sizeof keep[0], compare_ints);
    unsigned next = STDERR_FILENO + 1;
    for (size_t i = 0; i < count; i++) {
        if ((unsigned)keep[i] > next)
            close_between(next, (unsigned)keep[i] - 1);
        next = (unsigned)keep[i] + 1;
    }
    close_between(next, UINT_MAX);
}

/* In an empty root there is no /dev/null: then a descriptor on "/" takes the place, so that nothing
 * that is opened later gets a number that libraries write to. */
static void silence_standard_streams(void) {
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        fd = open("/", O_PATH | O_CLOEXEC);
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (fd >= 0 && fd != i)
            dup2(fd, i);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* A helper ends when its work ends, not when a group is signalled; limits of the user's shell show
 * as errors, not as death. */
static void ignore_signals(void) {
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP,   SIGTTIN,
                                  SIGTTOU, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF};
    struct sigaction action = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        sigaction(ignored[i], &action, NULL);
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

pid_t helper_start(struct shared *shared, const struct helper_spec *spec) {
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid > 0) {
        shared_add_helper(shared, pid);
        if (spec->own_session)
            shared_add_session(shared, pid);
        return pid;
    }
    if (spec->dies_with_parent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            helper_exit(1); /* it died before the line above */
    }
    ignore_signals();
    if (spec->own_session)
        setsid();
    prctl(PR_SET_NAME, spec->name);
    silence_standard_streams();
    close_others(spec);
    helper_exit(spec->main(spec->context));
}

pid_t helper_start_writing(struct shared *shared, struct helper_spec *spec, int *out_fd,
                           int *ret_fd) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    int keep[] = {ends[1], spec->keep_too};
    *out_fd = ends[1];
    spec->keep = keep;
    spec->keep_count = 2;
    pid_t pid = helper_start(shared, spec);
    spec->keep = NULL;
    spec->keep_count = 0;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return pid;
    }
    int flags = fcntl(ends[0], F_GETFL);
    fcntl(ends[0], F_SETFL, flags | O_NONBLOCK);
    *ret_fd = ends[0];
    return pid;
}

int helper_pair(int ret_fds[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ret_fds) < 0
               ? -errno
               : 0;
}

void helper_ring(int fd) {
    ssize_t sent;
    do
        sent = send(fd, "!", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
}

bool helper_take_bells(int fd) {
    char bell[16];
    for (;;) {
        ssize_t got = recv(fd, bell, sizeof bell, MSG_DONTWAIT);
        if (got > 0)
            continue;
        if (got < 0 && errno == EINTR)
            continue;
        /* End of file: the other side is gone. ECONNRESET: gone with bells of ours unread. */
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
}
