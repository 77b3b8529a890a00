/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocking, reading and passing on of signals. Must not install handlers: the command inherits what
 * we were given. */
#include "exec/signals.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Faults of our own (SEGV, BUS, ...) and SIGPIPE keep their meaning; KILL and STOP cannot be taken.
 */
static const int taken[] = {SIGHUP,  SIGINT,    SIGQUIT,  SIGTERM, SIGUSR1, SIGUSR2,
                            SIGALRM, SIGVTALRM, SIGPROF,  SIGCONT, SIGTSTP, SIGTTIN,
                            SIGTTOU, SIGCHLD,   SIGWINCH, SIGIO,   SIGPWR,  SIGURG};

int signals_take_over(struct signals *signals) {
    *signals = (struct signals){.fd = -1};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        sigaddset(&set, taken[i]);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
        sigaddset(&set, signal);
    if (sigprocmask(SIG_BLOCK, &set, &signals->original_mask) < 0)
        return -errno;
    signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals->fd < 0) {
        int rc = -errno;
        sigprocmask(SIG_SETMASK, &signals->original_mask, NULL);
        return rc;
    }
    /* wait(2): with SIGCHLD ignored, or SA_NOCLDWAIT, children leave no status behind. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    if (sigaction(SIGCHLD, NULL, &signals->original_chld) == 0 &&
        (signals->original_chld.sa_handler == SIG_IGN ||
         (signals->original_chld.sa_flags & (SA_NOCLDWAIT | SA_NOCLDSTOP)) != 0))
        signals->chld_changed = sigaction(SIGCHLD, &action, NULL) == 0;
    return 0;
}

void signals_restore_in_child(const struct signals *signals) {
    if (signals->chld_changed)
        sigaction(SIGCHLD, &signals->original_chld, NULL);
    sigprocmask(SIG_SETMASK, &signals->original_mask, NULL);
}

void signals_give_back(struct signals *signals) {
    if (signals->fd < 0)
        return;
    close(signals->fd);
    signals->fd = -1;
    signals_restore_in_child(signals);
}

int signals_next(const struct signals *signals, struct signalfd_siginfo *ret) {
    ssize_t got;
    do
        got = read(signals->fd, ret, sizeof *ret);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *ret;
}

bool signals_must_forward(const struct signalfd_siginfo *info, bool sender_is_ours) {
    int signal = (int)info->ssi_signo;
    if (signal == SIGCHLD || signal == SIGWINCH || signal == SIGTTIN || signal == SIGTTOU)
        return false;
    if (sender_is_ours)
        return false; /* a kill of the whole group from inside, or a signal to "the parent" */
    if (info->ssi_code != SI_KERNEL)
        return true;
    /* From the kernel: the terminal's keys go to the whole foreground group, a hang-up to the
     * session's leader alone (drivers/tty/tty_jobctrl.c); timers set before our start hit us
     * instead of the command. */
    if (signal == SIGHUP)
        return getsid(0) == getpid();
    return signal != SIGINT && signal != SIGQUIT && signal != SIGTSTP && signal != SIGCONT;
}

int signals_send(int pidfd, pid_t pid, int signal) {
    if (pidfd >= 0 && pidfd_send_signal(pidfd, signal, NULL, 0) == 0)
        return 0;
    if (pidfd >= 0 && errno != ENOSYS && errno != EBADF)
        return -errno;
    return kill(pid, signal) < 0 ? -errno : 0;
}

/* Has it been continued since it stopped, or ended? Seen as soon as the signal was sent; nothing is
 * taken away. */
static bool goes_on(pid_t pid) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    return waitid(P_PID, (id_t)pid, &info, WCONTINUED | WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

void signals_stop_with(pid_t child, int signal) {
    struct sigaction action = {.sa_handler = SIG_DFL}, before;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    if (sigaction(signal, &action, &before) < 0)
        return;
    /* A SIGCONT to us both that comes after this takes it back (POSIX, Signal Generation), and one
     * that came before shows at the child. */
    raise(signal);
    if (goes_on(child)) {
        struct timespec at_once = {0};
        sigtimedwait(&set, NULL, &at_once);
    } else {
        sigprocmask(SIG_UNBLOCK, &set, NULL); /* stops here */
        sigprocmask(SIG_BLOCK, &set, NULL);
    }
    sigaction(signal, &before, NULL);
}
