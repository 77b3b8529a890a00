/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The driver's lists of processes: which are the run's, which are others'. The driver knows the
 * host's process ids. Where ours are not the host's (a container) the same number can be somebody
 * else, so nothing is said of processes until one of the run's has been recognised for sure.
 */
#include "exec/gpu-watch-parts.h"

#include "base/clock.h"
#include "probe/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_PID_NAMESPACE "pid:[4026531836]" /* PROC_PID_INIT_INO of the kernel */
#define ANCESTORS_MAX       64
#define OTHERS_FOR_NS       (60 * NS_PER_S)
#define BASELINE_NS         (5 * NS_PER_S)
#define DEVICE_FILES        "/dev/nvidia"

void gpu_processes_begin(struct gpu_watch *watch) {
    char name[64];
    ssize_t length = readlink("/proc/self/ns/pid", name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    watch->pids = strcmp(name, FIRST_PID_NAMESPACE) == 0 ? GPU_PIDS_OURS : GPU_PIDS_UNKNOWN;
}

static bool is_known(const _Atomic int *pids, uint32_t count, int64_t pid) {
    for (uint32_t i = 0; i < count && i < SHARED_PIDS; i++)
        if (atomic_load(&pids[i]) == pid)
            return true;
    return false;
}

/* The monitor looks once a second: a process that has just started is found by its parents. */
static bool descends(const struct gpu_watch *watch, pid_t pid) {
    struct proc_stat stat;
    pid_t monitor = watch->recorder->context->monitor;
    pid_t command = atomic_load(&watch->shared->command_pid);
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        if (pid == command || pid == monitor)
            return true;
        if (procfs_stat(&root_real, pid, &stat) < 0)
            return false;
        pid = stat.ppid;
    }
    return false;
}

bool gpu_process_is_ours(struct gpu_watch *watch, int64_t pid) {
    const struct shared *shared = watch->shared;
    if (pid <= 1 || pid > INT32_MAX)
        return false;
    if (is_known(shared->pids, atomic_load(&shared->pid_count), pid) ||
        is_known(shared->seen, atomic_load(&shared->seen_count), pid))
        return true;
    int64_t now_ns = clock_mono_ns();
    if (now_ns > watch->others_until_ns) {
        watch->others_until_ns = now_ns + OTHERS_FOR_NS;
        memset(watch->others, 0, sizeof watch->others);
    }
    pid_t *other = &watch->others[(size_t)pid % GPU_OTHERS_KEPT];
    if (*other == pid)
        return false;
    if (descends(watch, (pid_t)pid))
        return true;
    *other = (pid_t)pid;
    return false;
}

static bool exists(int64_t pid) {
    return pid > 0 && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* The process of that number here has the driver's files open. Where this machine has no such
 * files (WSL) nothing can be said against it. */
static bool uses_driver(int64_t pid) {
    char path[64], target[sizeof DEVICE_FILES];
    if (access(GPU_CONTROL_FILE, F_OK) < 0)
        return true;
    snprintf(path, sizeof path, "/proc/%lld/fd", (long long)pid);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool found = false;
    while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target);
        found = length >= (ssize_t)strlen(DEVICE_FILES) &&
                memcmp(target, DEVICE_FILES, strlen(DEVICE_FILES)) == 0;
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

static void add(int64_t bytes, int64_t *sum, bool *told) {
    if (bytes == GPU_ABSENT || bytes < 0)
        *told = false;
    else
        *sum += bytes;
}

static void add_up(struct gpu_watch *watch, const struct gpu_processes_message *message,
                   struct gpu_sums *sums) {
    for (uint32_t i = 0; i < message->count; i++) {
        const struct gpu_process *process = &message->process[i];
        if (gpu_process_is_ours(watch, process->pid) &&
            (watch->pids == GPU_PIDS_OURS || uses_driver(process->pid))) {
            sums->ours = true;
            add(process->bytes, &sums->ours_bytes, &sums->ours_told);
            if (sums->list.count < SHARED_LEFT_PIDS)
                sums->list.pids[sums->list.count++] = (int)process->pid;
            continue;
        }
        sums->others = true;
        sums->foreign = sums->foreign || (watch->pids != GPU_PIDS_OURS && !exists(process->pid));
        add(process->bytes, &sums->others_bytes, &sums->others_told);
    }
    sums->taken += message->count;
}

/* Takes one part of a look. False: it is not the last one, or none that fits to what came before.
 * *ret_complete: all that the driver listed was told. */
static bool take_part(struct gpu_watch *watch, struct gpu_device *device,
                      const struct gpu_processes_message *message, bool *ret_complete) {
    struct gpu_sums *sums = &device->sums;
    if (message->first == 0)
        *sums = (struct gpu_sums){.t_ns = message->t_ns, .ours_told = true, .others_told = true};
    else if (message->first != sums->taken || message->t_ns != sums->t_ns)
        return false;
    add_up(watch, message, sums);
    *ret_complete = sums->taken >= message->total;
    return *ret_complete || sums->taken >= GPU_PROCESSES_ALL || message->count == 0;
}

/* A process may end between the driver's look and ours: once is no sign. */
static void learn_pids(struct gpu_watch *watch, const struct gpu_sums *sums) {
    if (watch->pids == GPU_PIDS_OURS)
        return;
    if (sums->ours)
        watch->pids = GPU_PIDS_OURS;
    else if (sums->foreign && ++watch->foreign_lists >= 2)
        watch->pids = GPU_PIDS_FOREIGN;
}

/* Of a list that was cut the sum over those of the run is less than they have: for a peak that is
 * at least so much it will do, if there is one. */
static void count_up(struct shared_gpu *gpu, const struct gpu_sums *sums, bool complete) {
    gpu->list_cut = gpu->list_cut || !complete;
    if (sums->ours_told && (complete || sums->ours)) {
        gpu->process_samples = gpu->process_samples == SHARED_ABSENT ? 1 : gpu->process_samples + 1;
        if (sums->ours_bytes > gpu->process_peak_bytes)
            gpu->process_peak_bytes = sums->ours_bytes;
    }
    gpu->used_by_run = gpu->used_by_run || sums->ours;
    if (sums->others)
        gpu->others = OTHERS_PRESENT;
    else if (complete && gpu->others == OTHERS_NOT_SEEN)
        gpu->others = OTHERS_NONE;
}

void gpu_processes_take(struct gpu_watch *watch, struct gpu_device *device,
                        const struct gpu_processes_message *message) {
    size_t slot = gpu_device_slot(watch, device);
    struct shared_gpu *gpu = &watch->shared->gpu[slot];
    int64_t t_ns = message->t_ns - watch->shared->start.mono_ns;
    device->why[GPU_ITEM_PROCESSES] = message->why;
    if (message->why != GPU_READ)
        return;
    device->api = message->api;
    bool complete;
    if (!take_part(watch, device, message, &complete))
        return;
    const struct gpu_sums sums = device->sums;
    learn_pids(watch, &sums);
    if (device->lists++ == 0)
        device->first_list_t_ns = t_ns;
    /* Windows' driver has ids of its own. */
    if (watch->pids != GPU_PIDS_OURS || device->message.virtual_mode == GPU_VIRTUAL_WSL) {
        device->why[GPU_ITEM_PROCESSES] = GPU_NOT_VISIBLE;
        return;
    }
    if (!sums.ours_told)
        device->why[GPU_ITEM_PROCESSES] = GPU_NOT_SUPPORTED;
    /* What was in use when the driver showed none of the run's yet was there before it. */
    if (gpu->baseline_bytes == SHARED_ABSENT && device->lists == 1 && t_ns < BASELINE_NS &&
        complete && !sums.ours && !gpu->used_by_run && device->message.used_bytes != GPU_ABSENT)
        gpu->baseline_bytes = device->message.used_bytes;
    device->list = sums.list;
    device->list.t_ns = t_ns;
    device->list.bytes = sums.ours_told && complete ? sums.ours_bytes : SHARED_ABSENT;
    if (t_ns < 0 || (atomic_load(&watch->shared->ended) && t_ns > watch->shared->end.t_ns))
        return;
    count_up(gpu, &sums, complete);
    int64_t values[] = {sums.ours_told && complete ? sums.ours_bytes : CHUNK_ABSENT,
                        sums.others_told && complete ? sums.others_bytes : CHUNK_ABSENT};
    gpu_rows_add(watch, GPU_ROWS_PROCESSES, slot, t_ns, values);
}

/* ---- after the end ---- */

static bool is_alive(int pid) {
    struct proc_stat stat;
    return procfs_stat(&root_real, pid, &stat) == 0 && stat.state != 'Z' && stat.state != 'X';
}

/* Only of what the driver showed last: a process that has ended holds nothing. */
bool gpu_processes_are_left(const struct gpu_watch *watch) {
    const struct shared_end *end = &watch->shared->end;
    size_t slots = atomic_load(&watch->shared->gpu_count);
    for (size_t s = 0; s < slots; s++) {
        const struct gpu_list *list = &watch->device[s].list;
        if (list->count == 0 || end->command_t_ns == SHARED_ABSENT ||
            list->t_ns >= end->command_t_ns)
            continue;
        for (uint32_t i = 0; i < list->count; i++)
            if (is_alive(list->pids[i]))
                return true;
    }
    return false;
}

void gpu_processes_finish(struct gpu_watch *watch) {
    const struct shared_end *end = &watch->shared->end;
    size_t slots = atomic_load(&watch->shared->gpu_count);
    for (size_t s = 0; s < slots; s++) {
        const struct gpu_list *list = &watch->device[s].list;
        struct shared_gpu *gpu = &watch->shared->gpu[s];
        if (list->t_ns == SHARED_ABSENT || end->command_t_ns == SHARED_ABSENT ||
            list->t_ns < end->command_t_ns)
            continue;
        gpu->left_bytes = list->bytes;
        gpu->left_count = list->count;
        memcpy(gpu->left_pids, list->pids, sizeof gpu->left_pids);
    }
}
