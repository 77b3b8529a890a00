/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a message of the helper may hold. A library can do to the helper what it likes, so nothing
 * in a message is believed: an impossible figure was not read, an impossible time makes the whole
 * message one that never came. Behind this no sum or difference of what is left overflows.
 */
#include "exec/gpu-messages.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BEFORE_NS    (3600 * NS_PER_S)  /* of the run's start */
#define AHEAD_NS     NS_PER_S           /* of now */
#define BYTES_MAX    (INT64_C(1) << 50) /* a million GiB */
#define MW_MAX       INT64_C(100000000) /* 100 kW */
#define MJ_MAX       (INT64_C(1) << 50) /* 35000 years at 1 kW */
#define MHZ_MAX      INT64_C(100000)
#define CUDA_MAX     INT64_C(1000000)
#define DEVICES_SANE (1u << 20)

struct times {
    int64_t from_ns, to_ns;
};

static bool is_time(const struct times *times, int64_t t_ns) {
    return t_ns >= times->from_ns && t_ns <= times->to_ns;
}

/* False: it was a figure and cannot be one. */
static bool keep_within(int64_t *value, int64_t max) {
    if (*value == GPU_ABSENT || (*value >= 0 && *value <= max))
        return true;
    *value = GPU_ABSENT;
    return false;
}

static void keep_figure(int64_t *value, int64_t max, int32_t *why) {
    if (!keep_within(value, max) && *why == GPU_READ)
        *why = GPU_SENTINEL;
}

static void keep_why(int32_t *why) {
    if (*why < 0 || *why >= GPU_WHY_COUNT_)
        *why = GPU_FAILED;
}

static void keep_switch(int32_t *value) {
    if (*value != 0 && *value != 1)
        *value = -1;
}

static void keep_memory(int64_t *used, int64_t *total, int32_t *why) {
    keep_figure(total, BYTES_MAX, why);
    keep_figure(used, BYTES_MAX, why);
    if (*used != GPU_ABSENT && *total != GPU_ABSENT && *used > *total)
        keep_figure(used, -1, why);
}

static bool check_library(struct gpu_library_message *message, const struct times *times) {
    if (message->cuda <= 0 || message->cuda > CUDA_MAX)
        message->cuda = GPU_ABSENT;
    if (message->unwatched > DEVICES_SANE)
        message->unwatched = DEVICES_SANE;
    return message->state >= 0 && message->state < GPU_LIBRARY_COUNT_ &&
           is_time(times, message->t_ns);
}

static bool check_device(struct gpu_device_message *message, const struct times *times) {
    int64_t *const numbers[] = {&message->index,           &message->minor,
                                &message->gpu_instance,    &message->compute_instance,
                                &message->ecc_enabled,     &message->capability_major,
                                &message->capability_minor};
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        keep_within(numbers[i], INT32_MAX);
    for (size_t i = 0; i < GPU_ITEM_COUNT_; i++)
        keep_why(&message->why[i]);
    keep_memory(&message->used_bytes, &message->total_bytes, &message->why[GPU_ITEM_MEMORY]);
    keep_within(&message->reserved_bytes, BYTES_MAX);
    keep_within(&message->power_limit_mw, MW_MAX);
    keep_switch(&message->unified);
    keep_switch(&message->mig_mode);
    keep_switch(&message->persistence);
    if (message->kind != GPU_KIND_MIG)
        message->kind = GPU_KIND_BOARD;
    if (message->parent < 0 || message->parent >= (int32_t)GPU_DEVICES_MAX)
        message->parent = -1;
    if (message->virtual_mode < 0 || message->virtual_mode > GPU_VIRTUAL_WSL)
        message->virtual_mode = GPU_VIRTUAL_UNKNOWN;
    return is_time(times, message->t_ns);
}

static bool check_sample(struct gpu_sample_message *message, const struct times *times) {
    int32_t *const whys[] = {&message->memory_why, &message->power_why,  &message->energy_why,
                             &message->clock_why,  &message->events_why, &message->ecc_why};
    for (size_t i = 0; i < ARRAY_LENGTH(whys); i++)
        keep_why(whys[i]);
    keep_memory(&message->used_bytes, &message->total_bytes, &message->memory_why);
    keep_figure(&message->power_mw, MW_MAX, &message->power_why);
    keep_figure(&message->energy_mj, MJ_MAX, &message->energy_why);
    keep_figure(&message->clock_sm_mhz, MHZ_MAX, &message->clock_why);
    keep_within(&message->clock_memory_mhz, MHZ_MAX);
    keep_figure(&message->event_reasons, INT64_MAX, &message->events_why);
    keep_figure(&message->ecc_uncorrected, INT64_MAX, &message->ecc_why);
    return is_time(times, message->asked_ns) && is_time(times, message->answered_ns);
}

static bool check_processes(struct gpu_processes_message *message, const struct times *times) {
    keep_why(&message->why);
    if (message->first > GPU_PROCESSES_ALL)
        return false;
    if (message->total < message->first + message->count)
        message->total = message->first + message->count;
    for (uint32_t i = 0; i < message->count; i++) {
        keep_within(&message->process[i].pid, INT32_MAX);
        keep_within(&message->process[i].bytes, BYTES_MAX);
        keep_within(&message->process[i].gpu_instance, INT32_MAX);
    }
    return is_time(times, message->t_ns);
}

/* A window that cannot be is one of no share, which nobody takes. */
static bool check_windows(struct gpu_windows_message *message, const struct times *times) {
    keep_why(&message->why);
    for (uint32_t i = 0; i < message->count; i++)
        if (!is_time(times, message->window[i].end_ns))
            message->window[i] = (struct gpu_window){.end_ns = times->from_ns, .percent = -1};
    return is_time(times, message->asked_ns);
}

bool gpu_check_message(union gpu_message *message, int64_t start_ns) {
    struct times times = {start_ns - BEFORE_NS, clock_mono_ns() + AHEAD_NS};
    switch ((enum gpu_message_kind)message->head.kind) {
    case GPU_MESSAGE_LIBRARY:
        return check_library(&message->library, &times);
    case GPU_MESSAGE_DEVICE:
        return check_device(&message->device, &times);
    case GPU_MESSAGE_SAMPLE:
        return check_sample(&message->sample, &times);
    case GPU_MESSAGE_PROCESSES:
        return check_processes(&message->processes, &times);
    case GPU_MESSAGE_WINDOWS:
        return check_windows(&message->windows, &times);
    case GPU_MESSAGE_EVENT:
        return message->event.event >= GPU_EVENT_XID && message->event.event <= GPU_EVENT_BACK &&
               is_time(&times, message->event.t_ns);
    case GPU_MESSAGE_ACCOUNTING:
        keep_within(&message->accounting.peak_bytes, BYTES_MAX);
        keep_within(&message->accounting.pid, INT32_MAX);
        return true;
    case GPU_MESSAGE_LATE:
        return is_time(&times, message->late.from_ns) && is_time(&times, message->late.to_ns);
    case GPU_MESSAGE_DONE:
        return true;
    }
    return false;
}

/* ---- bytes to messages ---- */

#define END_TEXT(text) ((text)[sizeof(text) - 1] = '\0')

/* Does it have the size of its kind? Texts end. */
static bool is_whole(union gpu_message *any) {
    uint32_t size = any->head.size;
    size_t processes = offsetof(struct gpu_processes_message, process);
    size_t windows = offsetof(struct gpu_windows_message, window);
    switch ((enum gpu_message_kind)any->head.kind) {
    case GPU_MESSAGE_LIBRARY:
        END_TEXT(any->library.driver);
        END_TEXT(any->library.library);
        END_TEXT(any->library.path);
        END_TEXT(any->library.detail);
        return size == sizeof any->library && any->library.version == GPU_WIRE_VERSION;
    case GPU_MESSAGE_DEVICE:
        END_TEXT(any->device.uuid);
        END_TEXT(any->device.name);
        END_TEXT(any->device.bus_id);
        END_TEXT(any->device.detail);
        return size == sizeof any->device;
    case GPU_MESSAGE_SAMPLE:
        return size == sizeof any->sample;
    case GPU_MESSAGE_PROCESSES:
        return size >= processes && any->processes.count <= GPU_PROCESSES_MAX &&
               any->processes.count <= (size - processes) / sizeof any->processes.process[0];
    case GPU_MESSAGE_WINDOWS:
        return size >= windows && any->windows.count <= GPU_WINDOWS_MAX &&
               any->windows.count <= (size - windows) / sizeof any->windows.window[0];
    case GPU_MESSAGE_EVENT:
        END_TEXT(any->event.detail);
        return size == sizeof any->event;
    case GPU_MESSAGE_ACCOUNTING:
        return size == sizeof any->accounting;
    case GPU_MESSAGE_LATE:
        return size == sizeof any->late;
    case GPU_MESSAGE_DONE:
        return size == sizeof any->done;
    }
    return false;
}

ssize_t gpu_stream_read(struct gpu_stream *stream, int fd) {
    ssize_t got;
    do
        got = read(fd, stream->bytes + stream->held, sizeof stream->bytes - stream->held);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    stream->held += (size_t)got;
    return got;
}

bool gpu_stream_take(struct gpu_stream *stream, int64_t start_ns, gpu_message_fn take,
                     void *context) {
    size_t at = 0;
    while (stream->held - at >= sizeof(struct gpu_head)) {
        union gpu_message any = {0};
        memcpy(&any.head, stream->bytes + at, sizeof any.head);
        if (any.head.size < sizeof any.head || any.head.size > sizeof any)
            return false;
        if (any.head.size > stream->held - at)
            break;
        memcpy(&any, stream->bytes + at, any.head.size);
        if (!is_whole(&any))
            return false;
        if (gpu_check_message(&any, start_ns))
            take(&any, context);
        at += any.head.size;
    }
    stream->held -= at;
    memmove(stream->bytes, stream->bytes + at, stream->held);
    return true;
}
