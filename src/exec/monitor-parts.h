/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What monitor.c's loop calls: the target (monitor-command.c, monitor-attached.c), children
 * (monitor-children.c), helpers and what is told to the recorder (monitor-helpers.c). */
#pragma once

#include "exec/monitor.h"

/* The command's exec succeeded (end of file) or not (an errno). */
void monitor_read_exec(struct monitor *monitor);
void monitor_read_signals(struct monitor *monitor);
/* Reaps all that have ended; notes stops. */
void monitor_reap(struct monitor *monitor);
void monitor_copy_size(struct monitor *monitor);

/* Starts recorder and copiers that are missing and due. */
void monitor_keep_helpers(struct monitor *monitor);
/* When a helper is due that could not be started yet (CLOCK_MONOTONIC); 0: none. */
int64_t monitor_helper_time(const struct monitor *monitor);
/* A helper was reaped. */
void monitor_helper_ended(struct monitor *monitor, pid_t pid, int status, int64_t cpu_ns);

/* Somebody asks us, not the command, to end: the rest of --linger is not waited for. */
bool monitor_is_asked_to_leave(int signal);
/* Passes a signal on to the command where it must be. */
void monitor_pass_signal(struct monitor *monitor, const struct signalfd_siginfo *info, bool early);

void monitor_tell_tick(struct monitor *monitor, const struct shared_tick *tick);
void monitor_tell_child(struct monitor *monitor, const struct shared_child *child);
void monitor_tell_gap(struct monitor *monitor, enum gap_what what, int64_t from_ns);
/* Gaps of what did not fit into the rings. */
void monitor_tell_losses(struct monitor *monitor);
