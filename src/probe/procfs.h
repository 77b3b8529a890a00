/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc of processes. Fit for the monitor's loop: no allocation, bounded reads of files that cannot
 * hang (stat, status, io, children; NOT smaps_rollup, cmdline or maps, which take the target's
 * memory lock: those are for the slow reader). Sources: proc(5), kernel
 * Documentation/filesystems/proc.rst.
 */
#pragma once

#include "base/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
    pid_t pid, ppid;
    char comm[64];
    char state; /* R S D Z T … */
    bool is_kernel_thread;
    uint64_t start; /* field 22: clock ticks since boot; with the pid it names a process */
    uint64_t utime_ns, stime_ns;
    uint64_t cutime_ns, cstime_ns; /* reaped children */
    uint64_t rss_bytes;
    uint64_t blkio_ticks; /* field 42: time waiting for block I/O */
};
struct proc_status {
    bool has_hwm, has_rss, has_sigign;
    uint64_t hwm_bytes, rss_bytes; /* VmHWM, VmRSS */
    uint64_t sigign;               /* bit n-1: signal n is ignored */
};
struct proc_io {
    uint64_t read_chars, written_chars; /* rchar, wchar */
    uint64_t read_bytes, written_bytes; /* storage; cancelled_write_bytes is not subtracted */
};
struct proc_pss {
    uint64_t pss_bytes, anon_bytes, file_bytes, shmem_bytes;
    bool has_parts; /* Pss_Anon, Pss_File, Pss_Shmem need Linux 5.10+ */
};

/* All return 0 or a negative errno (-ESRCH / -ENOENT: gone; normal). */
int procfs_stat(const struct root *root, pid_t pid, struct proc_stat *ret);
int procfs_status(const struct root *root, pid_t pid, struct proc_status *ret);
int procfs_io(const struct root *root, pid_t pid, struct proc_io *ret);
int procfs_thread_io(const struct root *root, pid_t pid, pid_t tid, struct proc_io *ret);
int procfs_pss(const struct root *root, pid_t pid,
               struct proc_pss *ret); /* may take long: slow reader only */

/* Direct children of all threads of pid; count beyond `capacity` is in *ret_total. */
int procfs_children(const struct root *root, pid_t pid, pid_t *ret_pids, size_t capacity,
                    size_t *ret_total);

/* All descendants of pid (not itself), skipping the subtrees of the pids in skip[]. Depth first,
 * bounded by capacity. Returns the number, sets *ret_truncated. */
size_t procfs_tree(const struct root *root, pid_t pid, const pid_t *skip, size_t skip_count,
                   pid_t *ret_pids, size_t capacity, bool *ret_truncated);
