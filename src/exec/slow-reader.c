/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One round a second: the network's counters; the sum of PSS over the processes that the monitor
 * saw last, and files of weights, each of which may cost half a percent of the time until the next
 * one. Must not touch anything but /proc, the control group's files, stat and statfs.
 */
#include "exec/slow-reader.h"

#include "base/clock.h"
#include "base/fd.h"
#include "exec/helper.h"
#include "probe/net-dev.h"
#include "probe/procfs.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#define ROUND_NS        NS_PER_S
#define PERIOD_MIN_NS   (2 * NS_PER_S)
#define PERIOD_MAX_NS   (300 * NS_PER_S)
#define COST_FACTOR     200
#define PLACES_EVERY_NS (10 * NS_PER_S)
/* Little is left: below both. A full disk ends runs; this tells it before. */
#define LOW_BYTES   (INT64_C(256) << 20)
#define LOW_DIVISOR 50 /* 2 % */

static_assert(sizeof(struct slow_sample) <= PIPE_BUF, "a sample comes whole or not at all");

struct slow_reader {
    const struct slow_context *context;
    int64_t places_time_ns;
    bool told[SLOW_PLACES_MAX];
    struct slow_files files;
};

static void add(int64_t *sum, uint64_t bytes) {
    *sum = (*sum == SHARED_ABSENT ? 0 : *sum) + (int64_t)bytes;
}

static void add_process(struct slow_sample *sample, pid_t pid, bool *all_parts) {
    struct proc_pss pss;
    int rc = procfs_pss(&root_real, pid, &pss);
    if (rc < 0) {
        if (rc == -EACCES || rc == -EPERM)
            sample->denied++;
        return; /* gone meanwhile, or a zombie: nothing to add */
    }
    sample->processes++;
    add(&sample->value[SLOW_PSS], pss.pss_bytes);
    if (!pss.has_parts) {
        *all_parts = false;
        return;
    }
    add(&sample->value[SLOW_PSS_ANON], pss.anon_bytes);
    add(&sample->value[SLOW_PSS_FILE], pss.file_bytes);
    add(&sample->value[SLOW_PSS_SHMEM], pss.shmem_bytes);
}

static void read_memory(const struct slow_context *context, struct slow_sample *sample) {
    const struct shared *shared = context->shared;
    uint32_t count = atomic_load(&shared->pid_count);
    bool all_parts = true;
    for (uint32_t i = 0; i < count && i < SHARED_PIDS; i++)
        add_process(sample, atomic_load(&shared->pids[i]), &all_parts);
    if (!all_parts) /* a sum over some of the processes is no sum */
        sample->value[SLOW_PSS_ANON] = sample->value[SLOW_PSS_FILE] =
            sample->value[SLOW_PSS_SHMEM] = SHARED_ABSENT;
    struct cgroup_memory memory;
    if (context->group.version != 0 &&
        cgroup_memory_read(&root_real, &context->group, &memory) == 0 && memory.has_current)
        sample->value[SLOW_CHARGED] = (int64_t)memory.current_bytes;
}

/* The first file system that has little left and was not told yet. */
static void look_at_places(struct slow_reader *reader, struct slow_sample *sample) {
    if (clock_mono_ns() < reader->places_time_ns)
        return;
    reader->places_time_ns = clock_mono_ns() + PLACES_EVERY_NS;
    for (size_t i = 0; i < SLOW_PLACES_MAX && reader->context->places[i] != NULL; i++) {
        struct statfs system;
        const char *path = reader->context->places[i];
        if (reader->told[i] || statfs(path, &system) < 0 || system.f_blocks == 0 ||
            system.f_bsize <= 0)
            continue;
        int64_t block = system.f_bsize;
        int64_t free_bytes = (int64_t)system.f_bavail * block;
        int64_t total_bytes = (int64_t)system.f_blocks * block;
        if (free_bytes >= LOW_BYTES || free_bytes >= total_bytes / LOW_DIVISOR)
            continue;
        reader->told[i] = true;
        snprintf(sample->low_path, sizeof sample->low_path, "%s", path);
        sample->low_free_bytes = free_bytes;
        sample->low_total_bytes = total_bytes;
        return;
    }
}

/* The namespace of the command; when that has ended, of a descendant. */
static void read_network(const struct slow_context *context, struct slow_sample *sample) {
    const struct shared *shared = context->shared;
    struct net_bytes bytes;
    pid_t command = atomic_load(&shared->command_pid);
    int rc = command > 0 ? net_dev_read(&root_real, command, &bytes) : -ESRCH;
    if (rc < 0 && atomic_load(&shared->pid_count) > 0)
        rc = net_dev_read(&root_real, atomic_load(&shared->pids[0]), &bytes);
    if (rc < 0 || bytes.received > INT64_MAX || bytes.sent > INT64_MAX)
        return;
    sample->value[SLOW_RECEIVED] = (int64_t)bytes.received;
    sample->value[SLOW_SENT] = (int64_t)bytes.sent;
}

static struct slow_sample new_sample(const struct slow_context *context) {
    struct slow_sample sample = {.t_ns = clock_mono_ns() - context->shared->start.mono_ns};
    for (size_t i = 0; i < SLOW_COUNT_; i++)
        sample.value[i] = SHARED_ABSENT;
    return sample;
}

/* Each kind of reading has a pace of its own: the dearer it is, the rarer. */
struct pace {
    int64_t next_ns, least_ns;
};

static bool is_due(const struct pace *pace) {
    return clock_mono_ns() >= pace->next_ns;
}

static void set_pace(struct pace *pace, int64_t cost_ns) {
    int64_t period_ns = cost_ns * COST_FACTOR;
    if (period_ns < pace->least_ns)
        period_ns = pace->least_ns;
    if (period_ns > PERIOD_MAX_NS)
        period_ns = PERIOD_MAX_NS;
    /* half a round of slack: the rounds are not exact */
    pace->next_ns = clock_mono_ns() + period_ns - ROUND_NS / 2;
}

struct telling {
    const struct slow_context *context;
    bool failed;
};

static void tell_file(const struct slow_file *file, void *context) {
    struct telling *telling = context;
    struct slow_sample sample = new_sample(telling->context);
    sample.file = *file;
    telling->failed =
        telling->failed || fd_write_full(telling->context->out_fd, &sample, sizeof sample) < 0;
}

static bool look_for_files(struct slow_reader *reader, struct pace *pace) {
    const struct shared *shared = reader->context->shared;
    struct telling telling = {.context = reader->context};
    if (!is_due(pace))
        return true;
    int64_t cost_ns = -clock_process_cpu_ns();
    slow_files_look(&reader->files, shared->pids, atomic_load(&shared->pid_count), tell_file,
                    &telling);
    set_pace(pace, cost_ns + clock_process_cpu_ns());
    return !telling.failed;
}

static int slow_reader_main(void *argument) {
    struct slow_reader reader = {.context = argument};
    const struct slow_context *context = reader.context;
    struct pace memory = {.least_ns = PERIOD_MIN_NS}, files = {.least_ns = ROUND_NS};
    for (;;) {
        struct slow_sample sample = new_sample(context);
        read_network(context, &sample);
        if (is_due(&memory)) {
            int64_t cost_ns = -clock_process_cpu_ns();
            sample.looked = true;
            read_memory(context, &sample);
            set_pace(&memory, cost_ns + clock_process_cpu_ns());
        }
        look_at_places(&reader, &sample);
        atomic_store(&context->shared->cpu_live_ns[ROLE_SLOW_READER][0], clock_process_cpu_ns());
        if (fd_write_full(context->out_fd, &sample, sizeof sample) < 0 ||
            !look_for_files(&reader, &files))
            return 0; /* nobody reads any more */
        struct timespec pause = {.tv_sec = ROUND_NS / NS_PER_S, .tv_nsec = ROUND_NS % NS_PER_S};
        nanosleep(&pause, NULL);
    }
}

pid_t slow_reader_start(const struct slow_context *context, int *ret_fd) {
    struct slow_context own = *context;
    struct helper_spec spec = {.name = "pl-slow-reader",
                               .dies_with_parent = true,
                               .main = slow_reader_main,
                               .context = &own};
    return helper_start_writing(context->shared, &spec, &own.out_fd, ret_fd);
}
