/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals of the monitor: blocked and read from a descriptor, so that the loop alone decides. What
 * the terminal sends reaches the command by itself and is not sent twice; everything else is passed
 * on (DESIGN section 3, Signals).
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

struct signals {
    int fd; /* signalfd; -1: closed */
    sigset_t original_mask;
    struct sigaction original_chld;
    bool chld_changed; /* SIGCHLD was ignored: the kernel would have reaped our children unseen */
};

int signals_take_over(struct signals *signals);
/* Async-signal-safe: in the child between fork and exec. */
void signals_restore_in_child(const struct signals *signals);
void signals_give_back(struct signals *signals);

/* 1: *ret is the next one; 0: none waits. */
int signals_next(const struct signals *signals, struct signalfd_siginfo *ret);
/* Must this one be passed on to the command? sender_is_ours: it came from the command's own tree.
 */
bool signals_must_forward(const struct signalfd_siginfo *info, bool sender_is_ours);

/* Sends by pidfd where there is one (>= 0), else by pid, which the caller knows to be unreaped. */
int signals_send(int pidfd, pid_t pid, int signal);

/* Stops ourselves as `signal` (TSTP, TTIN, TTOU) would have, had we not blocked it, because it
 * stopped `child`; returns when continued. Does nothing where the child goes on already, and in an
 * orphaned process group, where nobody could continue us. */
void signals_stop_with(pid_t child, int signal);
