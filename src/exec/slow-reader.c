/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One sample: the sum of PSS over the processes that the monitor saw last. A sample may cost half a
 * percent of the time until the next one. Must not touch anything but /proc, the control group's
 * files and statfs.
 */
#include "exec/slow-reader.h"

#include "base/clock.h"
#include "base/fd.h"
#include "exec/helper.h"
#include "probe/procfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MIN_NS   (2 * NS_PER_S)
#define PERIOD_MAX_NS   (300 * NS_PER_S)
#define COST_FACTOR     200
#define PLACES_EVERY_NS (10 * NS_PER_S)
/* Little is left: below both. A full disk ends runs; this tells it before. */
#define LOW_BYTES   (INT64_C(256) << 20)
#define LOW_DIVISOR 50 /* 2 % */

struct slow_reader {
    const struct slow_context *context;
    int64_t places_time_ns;
    bool told[SLOW_PLACES_MAX];
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

static int slow_reader_main(void *argument) {
    struct slow_reader reader = {.context = argument};
    const struct slow_context *context = reader.context;
    for (;;) {
        struct slow_sample sample = {.t_ns = clock_mono_ns() - context->shared->start.mono_ns};
        for (size_t i = 0; i < SLOW_COUNT_; i++)
            sample.value[i] = SHARED_ABSENT;
        int64_t cost_ns = -clock_process_cpu_ns();
        read_memory(context, &sample);
        look_at_places(&reader, &sample);
        cost_ns += clock_process_cpu_ns();
        atomic_store(&context->shared->cpu_live_ns[ROLE_SLOW_READER][0], clock_process_cpu_ns());
        if (fd_write_full(context->out_fd, &sample, sizeof sample) < 0)
            return 0; /* nobody reads any more */
        int64_t period_ns = cost_ns * COST_FACTOR;
        if (period_ns < PERIOD_MIN_NS)
            period_ns = PERIOD_MIN_NS;
        if (period_ns > PERIOD_MAX_NS)
            period_ns = PERIOD_MAX_NS;
        struct timespec pause = {.tv_sec = period_ns / NS_PER_S, .tv_nsec = period_ns % NS_PER_S};
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
