/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which processes use a device, out of the driver's lists (compute, graphics, MPS), and their peaks
 * out of its accounting. A pid is the driver's: whether it is one of ours is the recorder's
 * business.
 */
#include "gpu/watch.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_BEGIN = 256, LIST_MAX = 65536 };

/* The versions of one list, newest first. */
struct list {
    int (*v3)(nvml_device, unsigned *, void *);
    int (*v2)(nvml_device, unsigned *, void *);
    int (*v1)(nvml_device, unsigned *, void *);
    const char *name;
};

static bool reserve(struct watch *watch, unsigned entries) {
    if (entries <= watch->processes_max) {
        return true;
    }
    void *more = entries > LIST_MAX
                     ? NULL
                     : realloc(watch->processes, entries * sizeof(struct nvml_process_long));
    if (more != NULL) {
        watch->processes = more;
        watch->processes_max = entries;
    }
    return more != NULL;
}

/* Calls one version; *count entries are in watch->processes afterwards. */
static int take_list(struct watch *watch, struct device *device, const char *name,
                     int (*call)(nvml_device, unsigned *, void *), unsigned *count) {
    int code = NVML_INSUFFICIENT_SIZE;
    unsigned room = LIST_BEGIN;
    /* The list may grow between two calls, but not for ever. */
    for (int tries = 0; tries < 3 && code == NVML_INSUFFICIENT_SIZE; tries++) {
        if (!reserve(watch, room)) {
            return NVML_MEMORY;
        }
        *count = watch->processes_max;
        memset(watch->processes, GPU_ROOM_FILL,
               watch->processes_max * sizeof(struct nvml_process_long));
        watch_asking(watch);
        code = watch_answered(watch, device, name, call(device->handle, count, watch->processes));
        room = *count > LIST_MAX - LIST_BEGIN ? LIST_MAX + 1u : *count + LIST_BEGIN;
    }
    if (code == NVML_SUCCESS && *count > watch->processes_max) {
        return NVML_UNKNOWN;
    }
    return code;
}

/* Newest version first; *api tells which answered. */
static int ask_list(struct watch *watch, struct device *device, const struct list *list, int *api,
                    unsigned *count) {
    int (*const versions[])(nvml_device, unsigned *, void *) = {list->v3, list->v2, list->v1};
    int code = NVML_FUNCTION_NOT_FOUND;
    *count = 0;
    for (int i = 0; i < 3 && code == NVML_FUNCTION_NOT_FOUND; i++) {
        if (versions[i] != NULL) {
            code = take_list(watch, device, list->name, versions[i], count);
            *api = 3 - i;
        }
    }
    return code;
}

static void add_process(struct watch *watch, struct processes *list,
                        const struct gpu_process *process) {
    for (uint32_t i = 0; i < list->count; i++) {
        struct gpu_process *known = &watch->process[i];
        if (known->pid == process->pid && known->gpu_instance == process->gpu_instance) {
            /* One process in two lists: the same memory, not twice as much. */
            known->bytes = process->bytes > known->bytes ? process->bytes : known->bytes;
            return;
        }
    }
    list->total++;
    if (list->count < GPU_PROCESSES_ALL) {
        watch->process[list->count++] = *process;
    }
}

static uint32_t word_at(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t bytes_at(const unsigned char *entry) {
    uint64_t value;
    memcpy(&value, entry + offsetof(struct nvml_process_v1, used), sizeof value);
    return value;
}

/* Takes what the list holds. False: it cannot be a list of processes (a layout that nobody knows,
 * or pids that no system has). The length of an entry is looked at, not believed: drivers 535
 * changed it within one version of the call. */
static bool take_entries(struct watch *watch, const struct device *device, int api, unsigned count,
                         struct processes *list) {
    size_t expected = api == 1 ? sizeof(struct nvml_process_v1) : sizeof(struct nvml_process_v2);
    size_t room = watch->processes_max * sizeof(struct nvml_process_long);
    size_t seen = gpu_entry_bytes(watch->processes, room, count);
    size_t length = seen != 0 ? seen : expected; /* a library may write more than it has */
    int64_t total = device->facts.total_bytes;
    uint64_t most = total == GPU_ABSENT ? GPU_BYTES_BELIEVED : (uint64_t)total;
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *entry = watch->processes + i * length;
        uint64_t used = bytes_at(entry);
        if (word_at(entry) > GPU_PID_BELIEVED ||
            (seen == 0 && used > most && used != NVML_VALUE_NOT_AVAILABLE)) {
            return false;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *entry = watch->processes + i * length;
        enum gpu_why why = GPU_READ;
        uint32_t slice = length == sizeof(struct nvml_process_v1)
                             ? NVML_INSTANCE_NONE
                             : word_at(entry + offsetof(struct nvml_process_v2, gpu_instance));
        struct gpu_process process = {
            .pid = word_at(entry),
            .bytes = gpu_checked(bytes_at(entry), most, &why),
            .gpu_instance = slice == NVML_INSTANCE_NONE ? GPU_ABSENT : (int64_t)slice,
        };
        add_process(watch, list, &process);
    }
    return true;
}

void processes_tell(struct watch *watch, const struct device *device,
                    const struct processes *processes) {
    struct gpu_processes_message message;
    memset(&message, 0, sizeof message);
    message.head.kind = GPU_MESSAGE_PROCESSES;
    message.device = device_number(watch, device);
    message.total = processes->total;
    message.why = (int32_t)processes->why;
    message.api = processes->api;
    message.t_ns = processes->t_ns;
    do {
        uint32_t left = processes->count - message.first;
        message.count = left < GPU_PROCESSES_MAX ? left : GPU_PROCESSES_MAX;
        memcpy(message.process, &watch->process[message.first],
               message.count * sizeof message.process[0]);
        out_send(&watch->out, &message,
                 (uint32_t)(offsetof(struct gpu_processes_message, process) +
                            message.count * sizeof message.process[0]));
        message.first += message.count;
    } while (message.first < processes->count && !watch->out.closed);
}

void processes_read(struct watch *watch, struct device *device, struct processes *ret) {
    const struct nvml_functions *call = &watch->nvml.call;
    const struct list lists[] = {
        {call->DeviceGetComputeRunningProcesses_v3, call->DeviceGetComputeRunningProcesses_v2,
         call->DeviceGetComputeRunningProcesses, "nvmlDeviceGetComputeRunningProcesses"},
        {call->DeviceGetGraphicsRunningProcesses_v3, call->DeviceGetGraphicsRunningProcesses_v2,
         call->DeviceGetGraphicsRunningProcesses, "nvmlDeviceGetGraphicsRunningProcesses"},
        {call->DeviceGetMPSComputeRunningProcesses_v3, call->DeviceGetMPSComputeRunningProcesses_v2,
         call->DeviceGetMPSComputeRunningProcesses, "nvmlDeviceGetMPSComputeRunningProcesses"},
    };
    *ret = (struct processes){.t_ns = mono_ns()};
    bool impossible = false;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        int api = 0;
        unsigned count = 0;
        int code = ask_list(watch, device, &lists[i], &api, &count);
        if (i == 0) { /* the list that says whether anything is told */
            item_answered(device, GPU_ITEM_PROCESSES, code);
            ret->api = api;
        }
        if (code == NVML_SUCCESS) {
            impossible = !take_entries(watch, device, api, count, ret) || impossible;
        } else if (i == 0) {
            break;
        }
    }
    enum gpu_why *why = &device->item[GPU_ITEM_PROCESSES].why;
    if (*why == GPU_NOT_SUPPORTED && watch->around == GPU_VIRTUAL_WSL) {
        *why = GPU_NOT_VISIBLE; /* they run under Windows' driver */
    }
    if (*why == GPU_READ && impossible) {
        *why = GPU_SENTINEL;
        ret->count = ret->total = 0;
    }
    ret->why = *why;
}

static struct accounted *accounted_find(struct device *device, uint32_t pid) {
    for (uint32_t i = 0; i < device->accounted_count; i++) {
        if (device->accounted[i].pid == pid) {
            return &device->accounted[i];
        }
    }
    if (device->accounted_count == ACCOUNTED_MAX) { /* the oldest that has ended gives way */
        uint32_t i = 0;
        while (i < ACCOUNTED_MAX && !device->accounted[i].ended) {
            i++;
        }
        if (i == ACCOUNTED_MAX) {
            return NULL;
        }
        memmove(&device->accounted[i], &device->accounted[i + 1],
                (ACCOUNTED_MAX - 1 - i) * sizeof device->accounted[0]);
        device->accounted_count--;
    }
    struct accounted *new = &device->accounted[device->accounted_count++];
    *new = (struct accounted){
        .pid = pid, .peak_bytes = GPU_ABSENT, .percent = GPU_ABSENT, .time_ms = GPU_ABSENT};
    return new;
}

static void accounting_of(struct watch *watch, struct device *device, uint32_t pid, bool tell) {
    struct accounted *known = accounted_find(device, pid);
    struct nvml_accounting stats = {0};
    if (known == NULL || known->ended ||
        ASK(watch, device, DeviceGetAccountingStats, device->handle, pid, &stats) != NVML_SUCCESS) {
        return;
    }
    enum gpu_why peak = GPU_READ, percent = GPU_READ, time = GPU_READ;
    struct accounted now = {
        .pid = pid,
        .ended = stats.running == 0,
        .peak_bytes = gpu_checked(stats.peak_bytes, GPU_BYTES_BELIEVED, &peak),
        .percent = gpu_checked(stats.gpu_percent, GPU_PERCENT_BELIEVED, &percent),
        /* 0 while the process runs: not counted yet */
        .time_ms = stats.running != 0 && stats.time_ms == 0
                       ? GPU_ABSENT
                       : gpu_checked(stats.time_ms, INT64_MAX, &time),
    };
    bool news = now.peak_bytes != known->peak_bytes || now.ended != known->ended;
    /* At the first look what has ended is of other runs, and what runs will be told at the next. */
    *known = now;
    known->peak_bytes = tell || now.ended ? now.peak_bytes : GPU_ABSENT;
    if (tell && news) {
        struct gpu_accounting_message message = {.head.kind = GPU_MESSAGE_ACCOUNTING,
                                                 .device = device_number(watch, device),
                                                 .pid = pid,
                                                 .peak_bytes = now.peak_bytes,
                                                 .gpu_percent = now.percent,
                                                 .time_ms = now.time_ms};
        out_send(&watch->out, &message, sizeof message);
    }
}

void accounting_sample(struct watch *watch, struct device *device) {
    if (device->facts.kind != GPU_KIND_BOARD || !item_due(device, GPU_ITEM_ACCOUNTING)) {
        return;
    }
    unsigned mode = 0, count = LIST_BEGIN;
    struct item *item = &device->item[GPU_ITEM_ACCOUNTING];
    item_answered(device, GPU_ITEM_ACCOUNTING,
                  ASK(watch, device, DeviceGetAccountingMode, device->handle, &mode));
    if (item->why == GPU_READ && mode == 0) { /* an administrator has not switched it on */
        item->why = GPU_NOT_SUPPORTED;
        item->ask_ns = mono_ns() + 60 * SECOND_NS;
    }
    if (item->why != GPU_READ) {
        return;
    }
    unsigned pids[LIST_BEGIN * 16]; /* the driver's buffer holds 4000 */
    count = sizeof pids / sizeof pids[0];
    if (ASK(watch, device, DeviceGetAccountingPids, device->handle, &count, pids) != NVML_SUCCESS) {
        return;
    }
    bool tell = device->accounting_begun;
    device->accounting_begun = true;
    for (unsigned i = 0; i < count && i < sizeof pids / sizeof pids[0] && !watch->out.closed; i++) {
        if (pids[i] != 0 && pids[i] <= GPU_PID_BELIEVED) {
            accounting_of(watch, device, pids[i], tell);
        }
    }
}
