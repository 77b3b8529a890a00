/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control groups v1, v2 and hybrid: where the process is, its limits, its memory events and peak.
 * Limits are the smallest along the path to the root; a limit at or above MemTotal, "max" and v1's
 * PAGE_COUNTER_MAX are no limit. Source: kernel Documentation/admin-guide/cgroup-v2.rst,
 * cgroup-v1/memory.rst. Nothing here allocates but cgroup_make_own's error text.
 */
#pragma once

#include "base/err.h"
#include "base/root.h"
#include "model/quantity.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_place {
    int version;     /* 0: no group of that controller found, 1, 2 */
    bool is_top;     /* mount is the true root of the hierarchy: no group above it, none hidden by a
                        container */
    char path[1024]; /* absolute folder below the root prefix, e.g. /sys/fs/cgroup/memory/foo */
    char mount[512]; /* its mount point: limits are read up to here */
    enum quantity_reason reason; /* why version is 0 */
};
/* pid 0: the calling process ("self"). 0 with version 0 when there is no such controller or its
 * folder is not visible from here; negative only when /proc itself cannot be read. In v2 the path
 * is the nearest group in which the controller is on. */
int cgroup_find_memory(const struct root *root, pid_t pid, struct cgroup_place *ret);
int cgroup_find_cpu(const struct root *root, pid_t pid, struct cgroup_place *ret);
int cgroup_find_pids(const struct root *root, pid_t pid, struct cgroup_place *ret);
int cgroup_find_devices(const struct root *root, pid_t pid, struct cgroup_place *ret); /* v1 only */

#define UNIT_CORE "core"

struct cgroup_limits {
    /* Open with reason where none is readable; not-applicable: no limit set; not-visible: none up
     * to the top that a container shows, what is above cannot be read. */
    struct quantity memory_limit, swap_limit, cpu_limit, pids_limit;
    struct quantity memory_and_swap_limit; /* v1 counts both together, v2 apart: one of the two is
                                              always open */
};
void cgroup_limits(const struct root *root, pid_t pid, struct cgroup_limits *ret);

/* Counters now; absent ones have has_ = false. A peak includes file cache. v1's oom_kill counts
 * this group alone, v2's also the groups below it. file includes shmem in both versions. */
struct cgroup_memory {
    bool has_peak, has_current, has_oom_kill, has_oom, has_file, has_anon, has_shmem, has_failcnt;
    uint64_t peak_bytes, current_bytes, oom_kill, oom, file_bytes, anon_bytes, shmem_bytes, failcnt;
};
/* -ENOENT: the place has version 0 or is gone. */
int cgroup_memory_read(const struct root *root, const struct cgroup_place *place,
                       struct cgroup_memory *ret);

/* Makes a folder "probelauf-<name>" below the place for one run and enables nothing: -EPERM,
 * -EROFS, -ENOTSUP (v2 without the memory controller in the parent's subtree_control; v1 without
 * hierarchy, where the parent's limit would not bind) are normal; then the enclosing group is
 * observed. Real root only. Never beside the place: that would leave a limit behind. */
int cgroup_make_own(const struct cgroup_place *parent, const char *name, struct cgroup_place *ret,
                    struct err *err);
/* Async-signal-safe: moves the calling process in (open fd of cgroup.procs made before the fork).
 */
int cgroup_join_fd(int procs_fd);
int cgroup_remove(const struct cgroup_place *own); /* -EBUSY while a process is inside */
