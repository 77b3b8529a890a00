/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The monitor's children and signals: look at the zombie, then reap it; pass on what must be passed
 * on. */
#include "exec/monitor-parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "exec/cpu-time.h"
#include "exec/helper.h"
#include "probe/procfs.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANCESTORS_MAX 32

void monitor_read_exec(struct monitor *monitor) {
    int error = 0;
    ssize_t got = read(monitor->exec_fd, &error, sizeof error);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got == (ssize_t)sizeof error)
        monitor->start_errno = error;
    fd_close_ptr(&monitor->exec_fd);
    atomic_store(&monitor->shared->launched, true);
    helper_ring(monitor->recorder_bell);
}

/* ---- signals ---- */

/* Did the command, or one of its descendants, send it? */
static bool is_ours(const struct monitor *monitor, pid_t sender) {
    if (sender <= 0)
        return false;
    pid_t self = getpid();
    for (int i = 0; i < ANCESTORS_MAX && sender > 1; i++) {
        if (sender == monitor->command)
            return true;
        if (sender == self)
            return i > 0; /* a descendant; i = 0: we ourselves */
        struct proc_stat stat;
        if (procfs_stat(&root_real, sender, &stat) < 0)
            return tree_contains(monitor->tree,
                                 sender); /* it has gone: was it there at the last look? */
        sender = stat.ppid;
    }
    return false;
}

void monitor_copy_size(struct monitor *monitor) {
    /* The terminal's own SIGWINCH may have come before the size was copied: one more, now that it
     * is right. */
    if (streams_copy_size(monitor->streams) && !monitor->command_ended && monitor->command > 0)
        signals_send(monitor->command_pidfd, monitor->command, SIGWINCH);
}

/* ---- stopped and continued ---- */

static void command_stopped(struct monitor *monitor) {
    if (monitor->stopped_since_ns == 0)
        monitor->stopped_since_ns = clock_mono_ns();
    monitor->continue_sent = false;
    monitor->continued_by_others = false;
}

static void command_continued(struct monitor *monitor) {
    if (monitor->stopped_since_ns != 0)
        monitor->stopped_ns += clock_mono_ns() - monitor->stopped_since_ns;
    monitor->stopped_since_ns = 0;
}

/* Takes the command's stops and continuations. The signal of a stop that lasts, or 0. */
static int take_stops(struct monitor *monitor) {
    int stopped_by = 0;
    for (;;) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        int rc = waitid(P_PID, (id_t)monitor->command, &info, WSTOPPED | WCONTINUED | WNOHANG);
        if (rc < 0 && errno == EINTR)
            continue;
        if (rc < 0 || info.si_pid == 0)
            return stopped_by;
        if (info.si_code == CLD_CONTINUED) {
            command_continued(monitor);
            monitor->continued_by_others = !monitor->continue_sent;
            monitor->continue_sent = false;
            stopped_by = 0;
        } else {
            command_stopped(monitor);
            stopped_by = info.si_status;
        }
    }
}

/* A shell continues the whole process group, somebody else perhaps only us. What has continued the
 * command by itself is not sent again: late as we are it would go to a command that has gone on,
 * and undo a stop that others have sent it since. */
static void pass_continue(struct monitor *monitor) {
    if (!monitor->continued_by_others)
        take_stops(monitor); /* it is to go on: we need not stop with it */
    if (!monitor->continued_by_others) {
        monitor->continue_sent = monitor->stopped_since_ns != 0;
        signals_send(monitor->command_pidfd, monitor->command, SIGCONT);
    }
    monitor->continued_by_others = false;
}

/* ---- signals passed on ---- */

/* It came before there was a command, so that has not seen even one of the terminal. */
static void pass_early(struct monitor *monitor, int signal) {
    monitor->interrupt_seen = monitor->interrupt_seen || signal == SIGINT;
    if (signal != SIGWINCH && !monitor->command_ended)
        signals_send(monitor->command_pidfd, monitor->command, signal);
}

bool monitor_is_asked_to_leave(int signal) {
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

void monitor_pass_signal(struct monitor *monitor, const struct signalfd_siginfo *info, bool early) {
    int signal = (int)info->ssi_signo;
    if (early) {
        pass_early(monitor, signal);
        return;
    }
    if (signal == SIGINT)
        monitor->interrupt_seen = true;
    if (signal == SIGWINCH)
        monitor_copy_size(monitor);
    bool from_kernel = info->ssi_code == SI_KERNEL;
    if (monitor->command_ended) {
        /* Nothing is left to pass it to: whoever wants us gone does not wait for the linger time.
         */
        monitor->leave_now = monitor->leave_now || monitor_is_asked_to_leave(signal);
        return;
    }
    bool ours = !from_kernel && is_ours(monitor, (pid_t)info->ssi_pid);
    if (monitor->command <= 0 || !signals_must_forward(info, ours))
        return;
    if (signal == SIGCONT)
        pass_continue(monitor);
    else
        signals_send(monitor->command_pidfd, monitor->command, signal);
}

void monitor_read_signals(struct monitor *monitor) {
    struct signalfd_siginfo info;
    /* A SIGCONT to the group reaches us in the same moment as the command: it waits here, or there
     * is none. */
    bool was_continued = monitor->continued_by_others;
    for (size_t i = 0; monitor->command != 0 && i < monitor->early_count; i++)
        monitor->target->take_signal(monitor, &monitor->early[i], true);
    monitor->early_count = monitor->command != 0 ? 0 : monitor->early_count;
    while (signals_next(monitor->signals, &info) > 0) {
        if (monitor->command != 0)
            monitor->target->take_signal(monitor, &info, false);
        else if (info.ssi_signo != SIGCHLD && monitor->early_count < MONITOR_EARLY_MAX)
            monitor->early[monitor->early_count++] = info;
    }
    if (was_continued)
        monitor->continued_by_others = false;
}

/* ---- children ---- */

static void note_status(struct monitor *monitor, int status, int64_t now_ns) {
    command_continued(monitor);
    if (monitor->exec_fd >= 0)
        monitor_read_exec(monitor);
    monitor->command_ended = true;
    monitor->command_end_ns = now_ns;
    monitor->has_exit_code = WIFEXITED(status);
    if (WIFEXITED(status))
        monitor->exit_code = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
        monitor->signal = WTERMSIG(status);
}

static void tell_child(struct monitor *monitor, const struct tree_zombie *zombie, int status,
                       const struct rusage *usage, int64_t now_ns) {
    struct shared_child child = {.pid = zombie->pid,
                                 .start = zombie->start,
                                 .has_start = zombie->has_start,
                                 .is_command = zombie->pid == monitor->command,
                                 .has_exit_code = WIFEXITED(status),
                                 .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                                 .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                                 .ignored_sigchld = zombie->ignored_sigchld,
                                 .ended_by_us = monitor->budget_hit,
                                 .maxrss_bytes = (int64_t)usage->ru_maxrss * 1024,
                                 .utime_ns = cpu_time_user_ns(usage),
                                 .stime_ns = cpu_time_system_ns(usage),
                                 .t_ns = now_ns - monitor->start_ns};
    memcpy(child.comm, zombie->comm, sizeof child.comm);
    monitor_tell_child(monitor, &child);
}

static void reap_one(struct monitor *monitor, pid_t pid) {
    int64_t now_ns = clock_mono_ns();
    struct tree_zombie zombie;
    tree_zombie(monitor->tree, pid, &zombie);
    int status = 0;
    struct rusage usage;
    memset(&usage, 0, sizeof usage);
    pid_t reaped;
    do
        reaped = wait4(pid, &status, WNOHANG, &usage);
    while (reaped < 0 && errno == EINTR);
    if (reaped != pid)
        return;
    tree_reaped(monitor->tree, &zombie, &usage);
    if (zombie.is_foreign)
        return;
    if (zombie.is_helper) {
        monitor_helper_ended(monitor, pid, status, cpu_time_usage_ns(&usage));
        return;
    }
    monitor->last_reap_ns = now_ns;
    if (pid == monitor->command)
        note_status(monitor, status, now_ns);
    tell_child(monitor, &zombie, status, &usage, now_ns);
}

void monitor_reap(struct monitor *monitor) {
    for (;;) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        /* WNOWAIT: what /proc still shows of the zombie is read before it is reaped. */
        if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) < 0) {
            if (errno == EINTR)
                continue;
            return;
        }
        if (info.si_pid == 0)
            return;
        pid_t pid = info.si_pid;
        int code = info.si_code;
        if (code == CLD_EXITED || code == CLD_KILLED || code == CLD_DUMPED) {
            reap_one(monitor, pid);
            continue;
        }
        if (pid == monitor->command) {
            int signal = take_stops(monitor);
            /* So that the shell sees its job stop. Somebody's bare SIGSTOP is between him and the
             * command. */
            if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
                signals_stop_with(monitor->command, signal);
            continue;
        }
        siginfo_t consumed;
        memset(&consumed, 0, sizeof consumed);
        waitid(P_PID, (id_t)pid, &consumed, WSTOPPED | WCONTINUED | WNOHANG);
    }
}
