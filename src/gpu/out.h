/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The helper's way out: whole messages into the pipe. */
#pragma once

#include "gpu/wire.h"

#include <stdbool.h>
#include <sys/types.h>

struct out {
    int fd;
    pid_t parent; /* that started the helper */
    int hurry_fd; /* readable: the last round is asked for; -1: nobody will */
    bool hurried; /* it was */
    bool closed;  /* nobody reads any more, or the parent is gone: the helper's end */
};

/* fd is the writing end of a pipe. */
void out_begin(struct out *out, int fd, int hurry_fd);
/* Writes one message in one piece, waiting while the pipe is full. head.kind is set by the caller,
 * head.size here. */
void out_send(struct out *out, void *message, uint32_t size);
/* Waits until the given moment of CLOCK_MONOTONIC, or until nobody reads, or the last round is
 * asked for. */
void out_wait_until(struct out *out, int64_t mono_ns);

int64_t mono_ns(void);
