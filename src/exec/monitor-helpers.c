/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The monitor keeps its helpers: a recorder or copier that died is replaced at once, again and
 * again but never in a storm. */
#include "exec/monitor-parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "exec/copier.h"
#include "exec/helper.h"

#include <sys/wait.h>

#define RETRY_NS        NS_PER_S
#define RETRY_COPIER_NS (100 * NS_PER_MS)
#define QUICK_FAILURES  3u /* replaced at once so many times in a row, then once a second */
#define COPIER_FAILURES \
    20u /* of its own, not kills: then the stream is given up as if its reader had gone */
#define CHILDREN_TOLD 256u

/* ---- recorder ---- */

static bool recorder_is_wanted(const struct monitor *monitor) {
    int state = atomic_load(&monitor->shared->recorder_state);
    return state != RECORDER_NO_PLACE && state != RECORDER_ENDED && state != RECORDER_UNSYNCED;
}

static void keep_recorder(struct monitor *monitor, int64_t now_ns) {
    if (monitor->recorder != 0 || now_ns < monitor->recorder_retry_ns ||
        !recorder_is_wanted(monitor))
        return;
    fd_close_ptr(&monitor->recorder_bell);
    pid_t pid = recorder_start(monitor->recorder_context, &monitor->recorder_bell);
    if (pid > 0)
        monitor->recorder = pid;
    else
        monitor->recorder_retry_ns = now_ns + RETRY_NS;
}

static void recorder_ended(struct monitor *monitor) {
    int64_t now_ns = clock_mono_ns();
    fd_close_ptr(&monitor->recorder_bell);
    monitor->recorder = 0;
    atomic_store(&monitor->shared->cpu_live_ns[ROLE_RECORDER][0], 0);
    atomic_store(&monitor->shared->cpu_live_ns[ROLE_SLOW_READER][0], 0);
    atomic_store(&monitor->shared->cpu_live_ns[ROLE_GPU][0], 0);
    if (!recorder_is_wanted(monitor))
        return;
    monitor->recorder_failures++;
    monitor->recorder_retry_ns =
        monitor->recorder_failures < QUICK_FAILURES ? now_ns : now_ns + RETRY_NS;
    if (now_ns - monitor->recorder_ended_ns > 10 * RETRY_NS)
        monitor->recorder_failures = 0;
    monitor->recorder_ended_ns = now_ns;
    if (monitor->start_ns == 0)
        return;
    struct shared_message message = {.kind = MESSAGE_GAP};
    message.of.gap = (struct shared_gap){.what = GAP_RECORDER,
                                         .from_t_ns = now_ns - monitor->start_ns,
                                         .to_t_ns = monitor->recorder_retry_ns - monitor->start_ns,
                                         .count = 1};
    shared_push_message(monitor->shared, &message);
}

/* ---- copiers ---- */

static void keep_copier(struct monitor *monitor, size_t index, int64_t now_ns) {
    struct channel *channel = &monitor->streams->channel[index];
    if (!channel->open || channel->copier != 0 || now_ns < channel->retry_mono_ns)
        return;
    pid_t pid = copier_start(monitor->shared, monitor->streams, index);
    if (pid > 0)
        channel->copier = pid;
    else
        channel->retry_mono_ns =
            now_ns + RETRY_COPIER_NS; /* the command waits meanwhile, its bytes are in the pipe */
}

static void copier_ended(struct monitor *monitor, size_t index, int status) {
    struct channel *channel = &monitor->streams->channel[index];
    channel->copier = 0;
    atomic_store(&monitor->shared->cpu_live_ns[ROLE_COPIER][index], 0);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == COPIER_FAILED)
        channel->failures++;
    if (code == COPIER_END_OF_FILE || code == COPIER_READER_GONE ||
        channel->failures > COPIER_FAILURES) {
        /* The last read ends go with it: a command that still writes gets SIGPIPE, as without us.
         */
        streams_close_channel(channel);
        return;
    }
    if (code == COPIER_FAILED)
        channel->retry_mono_ns = clock_mono_ns() + RETRY_COPIER_NS;
    atomic_fetch_add(&monitor->shared->text[index].restarts, 1);
}

/* ---- both ---- */

void monitor_keep_helpers(struct monitor *monitor) {
    int64_t now_ns = clock_mono_ns();
    keep_recorder(monitor, now_ns);
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        keep_copier(monitor, i, now_ns);
}

int64_t monitor_helper_time(const struct monitor *monitor) {
    int64_t time_ns = 0;
    if (monitor->recorder == 0 && recorder_is_wanted(monitor))
        time_ns = monitor->recorder_retry_ns;
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        const struct channel *channel = &monitor->streams->channel[i];
        if (channel->open && channel->copier == 0 &&
            (time_ns == 0 || channel->retry_mono_ns < time_ns))
            time_ns = channel->retry_mono_ns;
    }
    return time_ns;
}

void monitor_helper_ended(struct monitor *monitor, pid_t pid, int status, int64_t cpu_ns) {
    enum shared_role role = ROLE_SLOW_READER; /* an orphan of a recorder that died */
    if (pid == monitor->recorder)
        role = ROLE_RECORDER;
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        if (pid == monitor->streams->channel[i].copier)
            role = ROLE_COPIER;
    atomic_fetch_add(&monitor->shared->cpu_reaped_ns[role], cpu_ns);
    shared_remove_helper(monitor->shared, pid);
    if (role == ROLE_RECORDER)
        recorder_ended(monitor);
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        if (pid == monitor->streams->channel[i].copier)
            copier_ended(monitor, i, status);
}

/* ---- what is told ---- */

static bool tell_gap(struct monitor *monitor, enum gap_what what, int64_t from_ns, uint64_t count) {
    struct shared_message message = {.kind = MESSAGE_GAP};
    message.of.gap = (struct shared_gap){.what = what,
                                         .from_t_ns = from_ns - monitor->start_ns,
                                         .to_t_ns = clock_mono_ns() - monitor->start_ns,
                                         .count = count};
    return shared_push_message(monitor->shared, &message);
}

void monitor_tell_gap(struct monitor *monitor, enum gap_what what, int64_t from_ns) {
    tell_gap(monitor, what, from_ns, 0);
}

void monitor_tell_losses(struct monitor *monitor) {
    if (monitor->lost_ticks > 0 &&
        tell_gap(monitor, GAP_SAMPLES, monitor->lost_ticks_from_ns, monitor->lost_ticks))
        monitor->lost_ticks = 0;
    if (monitor->lost_children > 0 &&
        tell_gap(monitor, GAP_CHILDREN, monitor->lost_children_from_ns, monitor->lost_children))
        monitor->lost_children = 0;
}

void monitor_tell_tick(struct monitor *monitor, const struct shared_tick *tick) {
    if (shared_push_tick(monitor->shared, tick)) {
        if (monitor->lost_ticks > 0 &&
            tell_gap(monitor, GAP_SAMPLES, monitor->lost_ticks_from_ns, monitor->lost_ticks))
            monitor->lost_ticks = 0;
        return;
    }
    if (monitor->lost_ticks == 0)
        monitor->lost_ticks_from_ns = clock_mono_ns();
    monitor->lost_ticks++;
}

void monitor_tell_child(struct monitor *monitor, const struct shared_child *child) {
    /* A command may leave us thousands of orphans: beyond the first ones only those that tell
     * something are recorded. */
    bool telling = child->is_command || child->signal != 0 ||
                   child->maxrss_bytes > monitor->largest_told_bytes;
    struct shared_message message = {.kind = MESSAGE_CHILD, .of.child = *child};
    if ((monitor->children_told < CHILDREN_TOLD || telling) &&
        shared_push_message(monitor->shared, &message)) {
        monitor->children_told++;
        if (child->maxrss_bytes > monitor->largest_told_bytes)
            monitor->largest_told_bytes = child->maxrss_bytes;
        return;
    }
    if (monitor->lost_children == 0)
        monitor->lost_children_from_ns = clock_mono_ns();
    monitor->lost_children++;
}
