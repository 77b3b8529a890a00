/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One write(2) a message, each smaller than PIPE_BUF: whole or not at all. A reader that is slow
 * makes the helper wait, which shows in the times of its samples; one that is gone ends it.
 */
#include "gpu/out.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct gpu_processes_message) <= GPU_MESSAGE_MAX, "one write");
_Static_assert(sizeof(struct gpu_windows_message) <= GPU_MESSAGE_MAX, "one write");
_Static_assert(sizeof(struct gpu_device_message) <= GPU_MESSAGE_MAX, "one write");

int64_t mono_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* False: nobody reads any more. timeout_ms -1: however long it takes. */
static bool poll_out(struct out *out, short events, int timeout_ms) {
    struct pollfd pipe = {.fd = out->fd, .events = events};
    int ready = poll(&pipe, 1, timeout_ms);
    if (ready > 0 && (pipe.revents & (POLLERR | POLLNVAL)) != 0) {
        out->closed = true;
    }
    return !out->closed;
}

void out_send(struct out *out, void *message, uint32_t size) {
    struct gpu_head *head = message;
    head->size = size;
    while (!out->closed) {
        ssize_t written = write(out->fd, message, size);
        if (written == (ssize_t)size) {
            return;
        }
        if (written >= 0) {
            out->closed = true; /* not a pipe: nothing that is read as messages any more */
        } else if (errno == EAGAIN) {
            poll_out(out, POLLOUT, -1);
        } else if (errno != EINTR) {
            out->closed = true;
        }
    }
}

void out_wait_until(struct out *out, int64_t until_ns) {
    for (;;) {
        int64_t left_ns = until_ns - mono_ns();
        if (left_ns <= 0 || !poll_out(out, 0, (int)((left_ns + 999999) / 1000000))) {
            return;
        }
    }
}
