/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The target that we start: a command. It is forked, gets its signals from us, and is ended when
 * its time is over. */
#include "exec/monitor.h"

#include "base/clock.h"
#include "base/fd.h"
#include "exec/agents.h"
#include "exec/command.h"
#include "exec/monitor-parts.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define KILL_INTERVAL_NS (20 * NS_PER_MS)
#define KILL_PATIENCE_NS \
    (10 * NS_PER_S) /* a process in uninterruptible sleep dies when the kernel lets it */

/* How the command gets into its own control group, where there is one. */
static void open_group(const struct shared *shared, int *ret_join_fd, int *ret_group_fd) {
    const struct cgroup_place *place = &shared->group_place;
    char tasks[sizeof place->path + sizeof "/tasks"];
    if (atomic_load(&shared->recorder_state) < RECORDER_READY || !atomic_load(&shared->own_group))
        return;
    snprintf(tasks, sizeof tasks, "%s/tasks", place->path);
    if (place->version == 1)
        *ret_join_fd = open(tasks, O_WRONLY | O_CLOEXEC);
    else
        *ret_group_fd = open(place->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int start_command(struct monitor *monitor) {
    struct shared *shared = monitor->shared;
    const struct exec_options *options = monitor->options;
    bool has_marks =
        atomic_load(&shared->recorder_state) >= RECORDER_READY && shared->marks_path[0] != '\0';
    char **agents = agents_variables(options, shared, environ);
    char **environment =
        command_environment(environ, options->run, has_marks ? shared->marks_path : NULL, agents);
    AUTO_CLOSE int join_fd = -1;
    AUTO_CLOSE int group_fd = -1;
    open_group(shared, &join_fd, &group_fd);
    struct command_spec spec = {.argv = options->argv,
                                .environment = environment,
                                .child_fd = monitor->streams->child_fd,
                                .join_fd = join_fd,
                                .group_fd = group_fd,
                                .signals = monitor->signals,
                                .rss_floor_bytes = &shared->rss_floor_bytes,
                                .setup_chars = &shared->setup_chars};
    atomic_store(&shared->rss_floor_bytes, SHARED_ABSENT);
    monitor_read_signals(monitor); /* what comes from here on reaches the command by itself */
    shared->start = clock_now();
    monitor->start_ns = shared->start.mono_ns;
    atomic_store(&shared->started, true);
    pid_t pid = command_fork(&spec, &monitor->exec_fd);
    command_environment_free(environment);
    agents_variables_free(agents);
    if (pid < 0) {
        atomic_store(&shared->started, false);
        return pid;
    }
    monitor->command = pid;
    atomic_store(&shared->command_pid, pid);
    streams_close_child_ends(monitor->streams);
    monitor->command_pidfd = pidfd_open(pid, 0);
    int flags = fcntl(monitor->exec_fd, F_GETFL);
    fcntl(monitor->exec_fd, F_SETFL, flags | O_NONBLOCK);
    return 0;
}

/* Where /proc shows no tree (not mounted, hidden) the command itself is known all the same. */
static void signal_tree(struct monitor *monitor, int signal) {
    if (tree_signal(monitor->tree, signal) == 0 && !monitor->command_ended &&
        monitor->command_pidfd >= 0)
        pidfd_send_signal(monitor->command_pidfd, signal, NULL, 0);
}

static void out_of_time(struct monitor *monitor, int64_t now_ns) {
    if (!monitor->budget_hit) {
        monitor->budget_hit = true;
        monitor->grace_end_ns = now_ns + monitor->options->grace_ns;
        if (monitor->options->grace_ns > 0)
            signal_tree(monitor, SIGTERM);
    }
    if (now_ns >= monitor->grace_end_ns) {
        if (!monitor->killing)
            monitor->give_up_ns = now_ns + KILL_PATIENCE_NS;
        monitor->killing = true;
        signal_tree(monitor, SIGKILL); /* again and again: somebody may have forked meanwhile */
        monitor->grace_end_ns = now_ns + KILL_INTERVAL_NS;
    }
}

const struct monitor_target monitor_target_command = {
    .start = start_command, .take_signal = monitor_pass_signal, .out_of_time = out_of_time};
