/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of a process's network namespace, as /proc/PID/net/dev counts them. */
#pragma once

#include "base/root.h"

#include <stdint.h>
#include <sys/types.h>

struct net_bytes {
    uint64_t received, sent; /* since the interfaces were made; all but lo */
};

/* 0 or a negative errno (-EBADMSG: not the kernel's table). */
int net_dev_read(const struct root *root, pid_t pid, struct net_bytes *ret);
