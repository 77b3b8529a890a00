/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/meminfo: the machine's memory, or what a container's file system says it is (lxcfs). Absent
 * figures stay absent. */
#pragma once

#include "base/root.h"

#include <stdbool.h>
#include <stdint.h>

struct meminfo {
    bool has_total, has_available, has_swap_total;
    uint64_t total_bytes, available_bytes, swap_total_bytes;
};
/* 0 or a negative errno; then everything is absent. No allocation. */
int meminfo_read(const struct root *root, struct meminfo *ret);
