/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes of the GPU helper's pipe as messages that can be used: whole, of the size of their kind,
 * texts ended, impossible figures and times gone. For the watch of a run and for a single look.
 */
#pragma once

#include "gpu/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

union gpu_message {
    struct gpu_head head;
    struct gpu_library_message library;
    struct gpu_device_message device;
    struct gpu_sample_message sample;
    struct gpu_processes_message processes;
    struct gpu_windows_message windows;
    struct gpu_event_message event;
    struct gpu_accounting_message accounting;
    struct gpu_late_message late;
    struct gpu_done_message done;
};
_Static_assert(sizeof(union gpu_message) <= GPU_MESSAGE_MAX, "one write each");

#define GPU_STREAM_BYTES 65536u
/* What came through the pipe and is not taken yet. All 0: nothing. */
struct gpu_stream {
    size_t held;
    unsigned char bytes[GPU_STREAM_BYTES];
};

/* One read(2): bytes that came, 0 at the end, or a negative errno (-EAGAIN: nothing is there). */
ssize_t gpu_stream_read(struct gpu_stream *stream, int fd);
/* Hands on every whole message. start_ns: CLOCK_MONOTONIC of what they belong to; a message of
 * another time is left out. False: the stream holds something that is no message. */
typedef void (*gpu_message_fn)(const union gpu_message *message, void *context);
bool gpu_stream_take(struct gpu_stream *stream, int64_t start_ns, gpu_message_fn take,
                     void *context);

/* Of a message of the right size: figures that cannot be become GPU_ABSENT. False: it cannot be of
 * this run. */
bool gpu_check_message(union gpu_message *message, int64_t start_ns);
