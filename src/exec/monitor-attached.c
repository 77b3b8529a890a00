/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The target that was there before us: an existing process. It is looked at and nothing else: no
 * signal goes to it, whatever comes to us ends the watching alone. Its end is seen, not its status.
 */
#include "exec/monitor.h"

#include "base/clock.h"
#include "exec/helper.h"
#include "exec/monitor-parts.h"
#include "exec/process.h"

#include <fcntl.h>
#include <signal.h>

/* Nothing tells of an end where there is no descriptor of the process, nor of one that it has left
 * behind. */
#define CHECK_INTERVAL_NS (100 * NS_PER_MS)

static int start_watching(struct monitor *monitor) {
    const struct exec_process *process = monitor->options->process;
    struct shared *shared = monitor->shared;
    atomic_store(&shared->rss_floor_bytes, SHARED_ABSENT);
    monitor->command_pidfd = process->pidfd >= 0 ? fcntl(process->pidfd, F_DUPFD_CLOEXEC, 3) : -1;
    shared->start = clock_now();
    monitor->start_ns = shared->start.mono_ns;
    tree_attach(monitor->tree, process->pid, process->start, shared->start.boot_ns);
    monitor->command = process->pid;
    atomic_store(&shared->command_pid, process->pid);
    atomic_store(&shared->started, true);
    atomic_store(&shared->launched, true);
    helper_ring(monitor->recorder_bell);
    return 0;
}

static bool is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void stop_ourselves(struct monitor *monitor) {
    int64_t from_ns = clock_mono_ns();
    signals_stop_with(0, SIGTSTP); /* no child of ours: nobody who goes on already */
    monitor_tell_gap(monitor, GAP_STOPPED, from_ns);
}

/* nohup and the shell's background jobs ignore some: those are not meant for us either. */
static void take_signal(struct monitor *monitor, const struct signalfd_siginfo *info, bool early) {
    int signal = (int)info->ssi_signo;
    (void)early;
    if (is_ignored(signal))
        return;
    if (signal == SIGTSTP)
        stop_ourselves(monitor);
    if (!monitor_is_asked_to_leave(signal))
        return;
    monitor->interrupt_seen = monitor->interrupt_seen || signal == SIGINT;
    monitor->stop_watching = monitor->leave_now = true;
}

static void out_of_time(struct monitor *monitor, int64_t now_ns) {
    (void)now_ns;
    if (!monitor->command_ended)
        monitor->out_of_time = true;
    monitor->stop_watching = true;
}

static void check(struct monitor *monitor) {
    const struct exec_process *process = monitor->options->process;
    if (!monitor->command_ended) {
        if (!exec_process_has_ended(process))
            return;
        monitor->command_ended = true;
        monitor->command_end_ns = monitor->last_reap_ns = clock_mono_ns();
    }
    if (!tree_is_empty(monitor->tree))
        monitor->last_reap_ns = clock_mono_ns();
}

static int64_t check_time(const struct monitor *monitor) {
    bool is_told = monitor->command_pidfd >= 0 && !monitor->command_ended;
    return is_told ? 0 : clock_mono_ns() + CHECK_INTERVAL_NS;
}

const struct monitor_target monitor_target_attached = {.start = start_watching,
                                                       .take_signal = take_signal,
                                                       .out_of_time = out_of_time,
                                                       .check = check,
                                                       .check_time = check_time,
                                                       .looks_at_once = true};
