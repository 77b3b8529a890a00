/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The monitor's way from the first helper to the last acknowledgement; see monitor.h. Must not hang
 * and must not allocate. */
#include "exec/monitor.h"

#include "base/clock.h"
#include "base/fd.h"
#include "exec/copier.h"
#include "exec/cpu-time.h"
#include "exec/helper.h"
#include "exec/monitor-parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#define READY_DEADLINE_NS    (3 * NS_PER_S) /* then the command starts whatever the recorder does */
#define DRAIN_PATIENCE_NS    (2 * NS_PER_S) /* without a byte moved: the copier goes on alone */
#define LOOK_INTERVAL_NS     NS_PER_S
#define LOOK_INTERVAL_MAX_NS (60 * NS_PER_S)
/* A look may cost at most 0.3 % of the time until the next one. */
#define LOOK_COST_FACTOR 333

/* The first looks come early: short runs have a curve too. Since the start, then one a second. */
static const int64_t early_looks_ns[] = {20 * NS_PER_MS, 50 * NS_PER_MS, 100 * NS_PER_MS,
                                         200 * NS_PER_MS, 500 * NS_PER_MS};

void monitor_init(struct monitor *monitor) {
    monitor->recorder_bell = monitor->command_pidfd = monitor->exec_fd = -1;
    monitor->cpu_zero_ns = clock_process_cpu_ns();
}

/* ---- one step of the loop ---- */

/* Of a process that is no child of ours; it stays readable once it has ended. */
static int watched_pidfd(const struct monitor *monitor) {
    return monitor->target->check != NULL && !monitor->command_ended ? monitor->command_pidfd : -1;
}

/* Waits until something happened or until_ns has come (CLOCK_MONOTONIC), and deals with it. */
static void step(struct monitor *monitor, int64_t until_ns) {
    int64_t now_ns = clock_mono_ns();
    int64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec wait = {.tv_sec = wait_ns / NS_PER_S, .tv_nsec = wait_ns % NS_PER_S};
    /* Negative descriptors are skipped (poll(2)). */
    struct pollfd watched[] = {{monitor->signals->fd, POLLIN, 0},
                               {monitor->exec_fd, POLLIN, 0},
                               {monitor->recorder_bell, POLLIN, 0},
                               {watched_pidfd(monitor), POLLIN, 0}};
    if (ppoll(watched, sizeof watched / sizeof watched[0], &wait, NULL) < 0 && errno != EINTR)
        return; /* ENOMEM: the next step tries again after its own time */
    if (watched[1].revents != 0)
        monitor_read_exec(monitor);
    if (watched[2].revents != 0 && !helper_take_bells(monitor->recorder_bell))
        fd_close_ptr(&monitor->recorder_bell); /* it is dying: SIGCHLD follows */
    monitor_read_signals(monitor);
    monitor_reap(monitor);
    if (monitor->target->check != NULL && monitor->command != 0)
        monitor->target->check(monitor);
    monitor_keep_helpers(monitor);
}

/* ---- looks at the tree ---- */

static void look(struct monitor *monitor) {
    int64_t cost_ns = -cpu_time_thread_ns();
    struct shared_tick tick;
    tree_look(monitor->tree, clock_mono_ns() - monitor->start_ns, &tick);
    streams_check_modes(monitor->streams, monitor->shared);
    monitor_copy_size(monitor);
    monitor_tell_tick(monitor, &tick);
    atomic_store(&monitor->shared->cpu_live_ns[ROLE_MONITOR][0],
                 clock_process_cpu_ns() - monitor->cpu_zero_ns);
    cost_ns += cpu_time_thread_ns();
    size_t early = sizeof early_looks_ns / sizeof early_looks_ns[0];
    monitor->looks++;
    if (monitor->looks < early) {
        monitor->next_look_ns = monitor->start_ns + early_looks_ns[monitor->looks];
        return;
    }
    int64_t interval_ns = cost_ns * LOOK_COST_FACTOR;
    if (interval_ns < LOOK_INTERVAL_NS)
        interval_ns = LOOK_INTERVAL_NS;
    if (interval_ns > LOOK_INTERVAL_MAX_NS)
        interval_ns = LOOK_INTERVAL_MAX_NS;
    /* On whole intervals since the start, so that late looks do not drift. */
    int64_t since_ns = clock_mono_ns() - monitor->start_ns;
    monitor->next_look_ns =
        monitor->start_ns + (since_ns / LOOK_INTERVAL_NS) * LOOK_INTERVAL_NS + interval_ns;
}

/* ---- helpers and start ---- */

void monitor_start_helpers(struct monitor *monitor) {
    monitor_keep_helpers(monitor);
    int64_t deadline_ns = clock_mono_ns() + READY_DEADLINE_NS;
    while (atomic_load(&monitor->shared->recorder_state) == RECORDER_STARTING &&
           clock_mono_ns() < deadline_ns)
        step(monitor, deadline_ns);
}

int monitor_start_target(struct monitor *monitor) {
    int rc = monitor->target->start(monitor);
    if (rc < 0)
        return rc;
    monitor->next_look_ns =
        monitor->start_ns + (monitor->target->looks_at_once ? 0 : early_looks_ns[0]);
    if (monitor->options->max_time_ns > 0)
        monitor->budget_ns = monitor->start_ns + monitor->options->max_time_ns;
    return 0;
}

/* ---- the run ---- */

static bool is_over(struct monitor *monitor, int64_t now_ns) {
    if (monitor->stop_watching)
        return true;
    if (monitor->killing && now_ns >= monitor->give_up_ns)
        return true;
    if (!monitor->command_ended)
        return false;
    if (monitor->linger_end_ns == 0)
        monitor->linger_end_ns = monitor->command_end_ns + monitor->options->linger_ns;
    if (tree_is_empty(monitor->tree) || monitor->leave_now)
        return true;
    return now_ns >= monitor->linger_end_ns && !monitor->budget_hit;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns) {
    return b_ns != 0 && b_ns < a_ns ? b_ns : a_ns;
}

void monitor_watch(struct monitor *monitor) {
    for (;;) {
        int64_t now_ns = clock_mono_ns();
        if (monitor->budget_ns != 0 && now_ns >= monitor->budget_ns)
            monitor->target->out_of_time(monitor, now_ns);
        if (now_ns >= monitor->next_look_ns)
            look(monitor);
        if (is_over(monitor, now_ns))
            return;
        int64_t until_ns = monitor->next_look_ns;
        until_ns = earlier(until_ns, monitor->linger_end_ns);
        until_ns =
            earlier(until_ns, monitor->budget_hit ? monitor->grace_end_ns : monitor->budget_ns);
        until_ns = earlier(until_ns, monitor_helper_time(monitor));
        if (monitor->target->check_time != NULL)
            until_ns = earlier(until_ns, monitor->target->check_time(monitor));
        step(monitor, until_ns);
    }
}

/* ---- the end ---- */

static bool any_open(const struct monitor *monitor) {
    return monitor->streams->channel[0].open || monitor->streams->channel[1].open;
}

static bool all_drained(const struct monitor *monitor) {
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        if (monitor->streams->channel[i].open && !streams_is_drained(&monitor->streams->channel[i]))
            return false;
    return true;
}

static uint64_t bytes_moved(const struct monitor *monitor) {
    return atomic_load(&monitor->shared->text[0].moved) +
           atomic_load(&monitor->shared->text[1].moved);
}

/* All that the command wrote is to be where it belongs before `run` returns, as without us. Whoever
 * is left holds the stream open: then what waits is enough. A reader that takes nothing is not
 * waited for: the copier outlives us. */
static void let_streams_flow(struct monitor *monitor, bool someone_left) {
    int64_t deadline_ns = clock_mono_ns() + DRAIN_PATIENCE_NS;
    uint64_t moved = bytes_moved(monitor);
    while (any_open(monitor) && !monitor->leave_now && clock_mono_ns() < deadline_ns) {
        if (someone_left && all_drained(monitor))
            return;
        step(monitor, earlier(deadline_ns, clock_mono_ns() + (someone_left ? 5 : 200) * NS_PER_MS));
        if (bytes_moved(monitor) != moved) {
            moved = bytes_moved(monitor);
            deadline_ns = clock_mono_ns() + DRAIN_PATIENCE_NS;
        }
    }
}

/* Why nobody looks any more at a process that was there before us. */
static enum shared_watching watching(const struct monitor *monitor) {
    if (monitor->options->attach == 0)
        return WATCHING_NONE;
    if (monitor->command_ended)
        return WATCHING_PROCESS_ENDED;
    return monitor->out_of_time ? WATCHING_OUT_OF_TIME : WATCHING_STOPPED;
}

static void fill_end(struct monitor *monitor, const struct clock_stamp *stamp) {
    struct shared_end *end = &monitor->shared->end;
    *end = (struct shared_end){.t_ns = stamp->mono_ns - monitor->start_ns,
                               .command_t_ns = monitor->command_ended
                                                   ? monitor->command_end_ns - monitor->start_ns
                                                   : SHARED_ABSENT,
                               .boot_ns = stamp->boot_ns,
                               .utc_ns = stamp->utc_ns,
                               .has_exit_code = monitor->has_exit_code && monitor->start_errno == 0,
                               .exit_code = monitor->exit_code,
                               .signal = monitor->signal,
                               .start_errno = monitor->start_errno,
                               .budget = monitor->budget_hit,
                               .stopped_ns = monitor->stopped_ns,
                               .watching = watching(monitor)};
    end->interrupted =
        monitor->signal == SIGINT ||
        (monitor->interrupt_seen && monitor->has_exit_code && monitor->exit_code == 128 + SIGINT);
    for (size_t i = 0; i < tree_count(monitor->tree); i++) {
        struct shared_survivor survivor = {0};
        const char *comm = tree_process(monitor->tree, i, &survivor.pid, &survivor.start);
        if (comm == NULL)
            continue;
        memcpy(survivor.comm, comm, sizeof survivor.comm);
        if (end->survivor_count < SHARED_SURVIVORS)
            end->survivors[end->survivor_count] = survivor;
        end->survivor_count++;
    }
    end->wall_is_at_least = tree_is_hidden(monitor->tree) || end->survivor_count > 0 ||
                            !monitor->command_ended || monitor->budget_hit ||
                            end->watching == WATCHING_OUT_OF_TIME ||
                            end->watching == WATCHING_STOPPED;
}

bool monitor_finish(struct monitor *monitor) {
    struct shared *shared = monitor->shared;
    struct clock_stamp stamp = clock_now();
    look(monitor);
    fill_end(monitor, &stamp);
    /* Where nobody is left the run ended with the last one that we reaped, not when we noticed. */
    if (shared->end.survivor_count == 0 && monitor->command_ended) {
        int64_t late_ns = stamp.mono_ns - monitor->last_reap_ns;
        shared->end.t_ns -= late_ns;
        shared->end.boot_ns -= late_ns;
        shared->end.utc_ns -= late_ns;
    }
    let_streams_flow(monitor, shared->end.survivor_count > 0);
    monitor_tell_losses(monitor);
    atomic_store(&shared->cpu_live_ns[ROLE_MONITOR][0],
                 clock_process_cpu_ns() - monitor->cpu_zero_ns);
    atomic_store(&shared->ended, true);
    helper_ring(monitor->recorder_bell);
    int64_t deadline_ns = clock_mono_ns() + monitor->options->record_wait_ns;
    for (;;) {
        int state = atomic_load(&shared->recorder_state);
        if (state == RECORDER_ENDED || state == RECORDER_UNSYNCED || state == RECORDER_NO_PLACE)
            break;
        if (clock_mono_ns() >= deadline_ns)
            break;
        step(monitor, deadline_ns);
    }
    fd_close_ptr(&monitor->command_pidfd);
    fd_close_ptr(&monitor->exec_fd);
    return atomic_load(&shared->recorder_state) == RECORDER_ENDED;
}
