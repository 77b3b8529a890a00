/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The monitor's loop: fork, wait, timers, reads of stat and status, doorbells. Nothing in it can
 * hang, nothing in it allocates. It starts the command and returns when the run is over and its end
 * lies in the shared memory.
 */
#pragma once

#include "exec/exec.h"
#include "exec/recorder.h"
#include "exec/shared.h"
#include "exec/signals.h"
#include "exec/streams.h"
#include "exec/tree.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

#define MONITOR_EARLY_MAX 16u

struct monitor;

/* What is watched: a command that we start (monitor-command.c), or a process that was there before
 * (monitor-attached.c). Nothing here may hang or allocate, but for start. */
struct monitor_target {
    /* Negative errno: nothing was started, and nothing is to be recorded. */
    int (*start)(struct monitor *monitor);
    /* early: it came before there was a target. */
    void (*take_signal)(struct monitor *monitor, const struct signalfd_siginfo *info, bool early);
    /* --max-time is over, or was before; called again and again. */
    void (*out_of_time)(struct monitor *monitor, int64_t now_ns);
    /* After each wait: has it ended? NULL: SIGCHLD tells. */
    void (*check)(struct monitor *monitor);
    /* When `check` is wanted at the latest (CLOCK_MONOTONIC); 0: it need not be waited for. */
    int64_t (*check_time)(const struct monitor *monitor);
    bool looks_at_once; /* the first look is the zero of what is counted */
};
extern const struct monitor_target monitor_target_command, monitor_target_attached;

struct monitor {
    const struct exec_options *options;
    const struct monitor_target *target;
    struct shared *shared;
    struct streams *streams;
    struct signals *signals;
    struct tree *tree;
    struct recorder_context *recorder_context;

    pid_t recorder; /* 0: none runs */
    int recorder_bell;
    int64_t recorder_retry_ns; /* CLOCK_MONOTONIC: a new one not before */
    int64_t recorder_ended_ns;
    unsigned recorder_failures; /* quick ends in a row */

    struct signalfd_siginfo
        early[MONITOR_EARLY_MAX]; /* came before there was a command to pass them to */
    size_t early_count;

    pid_t command; /* what is watched */
    int command_pidfd, exec_fd;
    bool command_ended;
    bool has_exit_code;
    int exit_code, signal, start_errno;
    int64_t start_ns, command_end_ns;
    int64_t last_reap_ns;                 /* attached: when somebody of the tree was last there */
    int64_t stopped_since_ns, stopped_ns; /* stopped_since 0: not stopped */
    bool continue_sent;                   /* to a stopped command, by us */
    bool continued_by_others;             /* just now: a SIGCONT that we get, too, has reached it */

    int64_t next_look_ns;
    unsigned looks;
    int64_t lost_ticks_from_ns, lost_children_from_ns;
    uint64_t lost_ticks, lost_children, children_told;
    int64_t largest_told_bytes;

    int64_t budget_ns, grace_end_ns, linger_end_ns, give_up_ns; /* CLOCK_MONOTONIC; 0: none */
    bool budget_hit, killing, leave_now, interrupt_seen;
    bool stop_watching; /* what goes on goes on without us */
    bool out_of_time;   /* --max-time is why */
    int64_t cpu_zero_ns;
};

void monitor_init(struct monitor *monitor);
/* A recorder and the copiers; waits (bounded) until the journal's place is known. */
void monitor_start_helpers(struct monitor *monitor);
/* Starts the command, or the watching. Negative errno: nothing was started. */
int monitor_start_target(struct monitor *monitor);
/* Until the command and its descendants are gone, or left behind. */
void monitor_watch(struct monitor *monitor);
/* Lets the streams flow out, writes the end, waits (bounded) for the recorder. True: the end is on
 * disk. */
bool monitor_finish(struct monitor *monitor);
