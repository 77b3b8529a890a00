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

void out_begin(struct out *out, int fd, int hurry_fd) {
    *out = (struct out){.fd = fd, .hurry_fd = hurry_fd, .parent = getppid()};
}

/* Waits for the events, timeout_ms at most. False: nobody is there any more. */
static bool poll_out(struct out *out, short events, int timeout_ms) {
    struct pollfd watched[] = {{.fd = out->fd, .events = events},
                               {.fd = out->hurried ? -1 : out->hurry_fd, .events = POLLIN}};
    int ready = poll(watched, 2, timeout_ms);
    if ((ready > 0 && (watched[0].revents & (POLLERR | POLLNVAL)) != 0) ||
        getppid() != out->parent) {
        out->closed = true;
    }
    out->hurried = out->hurried || (ready > 0 && watched[1].revents != 0);
    return !out->closed;
}

void out_send(struct out *out, void *message, uint32_t size) {
    struct gpu_head *head = message;
    head->size = size;
    while (!out->closed) {
        /* Ready means room for PIPE_BUF (pipe(7)): the write does not wait, and a full pipe cannot
         * hide that the parent is gone. (fcntl(2) has a symbol version of glibc 2.28.) */
        struct pollfd pipe = {.fd = out->fd, .events = POLLOUT};
        if (poll(&pipe, 1, 0) <= 0 || pipe.revents != POLLOUT) {
            poll_out(out, POLLOUT, 1000);
            continue;
        }
        ssize_t written = write(out->fd, message, size);
        if (written == (ssize_t)size) {
            return;
        }
        /* Less than all: not a pipe. */
        out->closed = written >= 0 || (errno != EAGAIN && errno != EINTR);
    }
}

void out_wait_until(struct out *out, int64_t until_ns) {
    for (;;) {
        int64_t left_ns = until_ns - mono_ns();
        if (left_ns <= 0 || !poll_out(out, 0, (int)((left_ns + 999999) / 1000000)) ||
            out->hurried) {
            return;
        }
    }
}
