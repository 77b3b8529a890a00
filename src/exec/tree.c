/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampling and accounting of a tree of either kind (tree-parts.h). A process is pid + start time,
 * never a bare pid. Must not block: only stat, status, io and children files are read (proc(5)).
 *
 * CPU   = rusage of what we reaped (it includes what those had reaped) + times of the living (with
 * their reaped children). I/O   = /proc/self/io - our own thread's - reaped helpers' (a reaped
 * child's io is added to the reaper's, Linux kernel/exit.c wait_task_zombie) + io of the living.
 */
#include "exec/tree.h"

#include "base/mem.h"
#include "exec/cpu-time.h"
#include "exec/tree-parts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIGCHLD_BIT (UINT64_C(1) << (SIGCHLD - 1))
/* Times of stat are counted in ticks of 10 ms: a child whose parent did not gain at least what it
 * had used, beyond this, was not waited for. */
#define VANISHED_TOLERANCE_NS (50 * NS_PER_MS)

struct tree *tree_new(struct shared *shared) {
    struct tree *tree = mem_alloc(sizeof *tree);
    tree->shared = shared;
    tree->self = getpid();
    tree->kind = &tree_descendants;
    tree->now = tree->tables[0];
    tree->before = tree->tables[1];
    tree->counters.cpu_ns = tree->counters.vmhwm_bytes = tree->counters.maxrss_bytes =
        SHARED_ABSENT;
    tree->counters.io =
        (struct shared_io){SHARED_ABSENT, SHARED_ABSENT, SHARED_ABSENT, SHARED_ABSENT};
    /* delayacct: off by default since Linux 5.14; field 42 of stat is then 0 and says nothing
     * (kernel/delayacct.c). */
    char text[16];
    tree->has_disk_wait =
        root_read_buf(&root_real, "/proc/sys/kernel/task_delayacct", text, sizeof text) > 0 &&
        text[0] == '1';
    return tree;
}

struct tree *tree_free(struct tree *tree) {
    free(tree);
    return NULL;
}

/* ---- io ---- */

struct shared_io tree_io_from_proc(const struct proc_io *io) {
    return (struct shared_io){.read = (int64_t)io->read_bytes,
                              .written = (int64_t)io->written_bytes,
                              .read_chars = (int64_t)io->read_chars,
                              .written_chars = (int64_t)io->written_chars};
}

void tree_io_add(struct shared_io *sum, const struct shared_io *io, int sign) {
    sum->read += sign * io->read;
    sum->written += sign * io->written;
    sum->read_chars += sign * io->read_chars;
    sum->written_chars += sign * io->written_chars;
}

/* ---- the table ---- */

static int compare_processes(const void *a, const void *b) {
    pid_t x = ((const struct process *)a)->pid, y = ((const struct process *)b)->pid;
    return (x > y) - (x < y);
}

struct process *tree_find(struct process *table, size_t count, pid_t pid) {
    struct process key = {.pid = pid};
    return count == 0 ? NULL : bsearch(&key, table, count, sizeof key, compare_processes);
}

void tree_add_seen(struct tree *tree, pid_t pid) {
    tree->counters.processes_seen++;
    uint32_t at = atomic_load(&tree->shared->seen_count);
    atomic_store(&tree->shared->seen[at % SHARED_PIDS], pid);
    atomic_store(&tree->shared->seen_count, at + 1);
}

static void read_stat(struct process *process, const struct proc_stat *stat) {
    process->pid = stat->pid;
    process->ppid = stat->ppid;
    process->start = stat->start;
    process->children_ns = (int64_t)(stat->cutime_ns + stat->cstime_ns);
    process->times_ns = (int64_t)(stat->utime_ns + stat->stime_ns) + process->children_ns;
    process->disk_wait_ns = (int64_t)stat->blkio_ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));
    memcpy(process->comm, stat->comm, sizeof process->comm);
}

/* Largest memory, ignored SIGCHLD. A zombie has neither. */
static void look_at_status(struct tree *tree, const struct process *process,
                           struct shared_tick *tick) {
    /* Before its exec the command is a copy of us, and what it takes is ours. */
    if (process->pid == atomic_load(&tree->shared->command_pid) &&
        !atomic_load(&tree->shared->launched))
        return;
    struct proc_status status;
    if (procfs_status(&root_real, process->pid, &status) < 0)
        return;
    if (status.has_sigign && (status.sigign & SIGCHLD_BIT) != 0)
        tree->counters.unreaped = true;
    if (status.has_rss && (int64_t)status.rss_bytes > tick->value[TICK_RSS_MAX_BYTES])
        tick->value[TICK_RSS_MAX_BYTES] = (int64_t)status.rss_bytes;
    if (status.has_hwm && (int64_t)status.hwm_bytes > tree->counters.vmhwm_bytes) {
        tree->counters.vmhwm_bytes = (int64_t)status.hwm_bytes;
        tree->counters.vmhwm_pid = process->pid;
    }
}

struct look {
    int64_t cpu_ns, disk_wait_ns;
    struct shared_io io;
    int64_t alive, disk_sleep;
    bool io_partial, io_denied;
};

static void look_at_io(struct process *process, struct look *look) {
    struct proc_io io;
    int rc = procfs_io(&root_real, process->pid, &io);
    if (rc == 0) {
        process->has_io = true;
        process->io = tree_io_from_proc(&io);
        tree_io_add(&look->io, &process->io, 1);
    } else if (rc != -ENOENT && rc != -ESRCH) {
        look->io_partial = true;
        look->io_denied = look->io_denied || rc == -EACCES || rc == -EPERM;
    }
}

/* Fills the new table. A process that ends while we look keeps its old line for one more look (its
 * parent's gain is compared only once the walk no longer lists it). */
static void look_at_processes(struct tree *tree, size_t walked, struct look *look,
                              struct shared_tick *tick) {
    for (size_t i = 0; i < walked; i++) {
        struct proc_stat stat;
        struct process *old = tree_find(tree->before, tree->before_count, tree->walk[i]);
        if (old != NULL)
            old->listed = true;
        if (procfs_stat(&root_real, tree->walk[i], &stat) < 0) {
            if (old != NULL) {
                tree->now[tree->now_count] = *old;
                tree->now[tree->now_count++].gone = true;
            }
            continue;
        }
        struct process *process = &tree->now[tree->now_count++];
        *process = (struct process){.parent_children_ns = -1};
        read_stat(process, &stat);
        if (old == NULL || old->start != process->start) {
            if (old != NULL)
                old->listed = false; /* its number was given to another one */
            old = NULL;
            tree_add_seen(tree, process->pid);
        }
        look->cpu_ns += process->times_ns;
        look->disk_wait_ns += process->disk_wait_ns;
        process->zombie = stat.state == 'Z' || stat.state == 'X';
        if (!process->zombie)
            look->alive++;
        if (stat.state == 'D')
            look->disk_sleep++;
        look_at_status(tree, process, tick);
        look_at_io(process, look);
        if (tree->kind->seen != NULL)
            tree->kind->seen(tree, process, old);
    }
    qsort(tree->now, tree->now_count, sizeof *tree->now, compare_processes);
}

/* Did the vanished ones' times arrive at their parents? If not, nobody waited for them (SIGCHLD
 * ignored, SA_NOCLDWAIT) and their memory and io are lost as well. */
static void check_vanished(struct tree *tree) {
    for (size_t i = 0; i < tree->before_count; i++) {
        const struct process *gone = &tree->before[i];
        if (gone->listed)
            continue;
        tree->ended_disk_wait_ns += gone->disk_wait_ns;
        if (tree->kind->vanished != NULL)
            tree->kind->vanished(tree, gone);
        const struct process *parent = tree_find(tree->now, tree->now_count, gone->ppid);
        if (parent == NULL || gone->parent_children_ns < 0)
            continue;
        int64_t gained_ns = parent->children_ns - gone->parent_children_ns;
        if (gone->times_ns > VANISHED_TOLERANCE_NS &&
            gained_ns < gone->times_ns - VANISHED_TOLERANCE_NS)
            tree->counters.unreaped = true;
    }
    for (size_t i = 0; i < tree->now_count; i++) {
        struct process *process = &tree->now[i];
        if (process->gone)
            continue; /* compared with what its parent had when it was last seen alive */
        const struct process *parent = tree_find(tree->now, tree->now_count, process->ppid);
        process->parent_children_ns = parent != NULL ? parent->children_ns : -1;
    }
}

static int64_t rising(struct tree *tree, enum tick_value value, int64_t read) {
    if (read > tree->highest[value])
        tree->highest[value] = read;
    return tree->highest[value];
}

static void sum_io(struct tree *tree, const struct look *look, struct shared_tick *tick) {
    struct shared_io io;
    tree->counters.io_partial = look->io_partial;
    tree->counters.io_denied = look->io_denied;
    if (!tree->kind->ended_io(tree, &io))
        return;
    tree_io_add(&io, &look->io, 1);
    tick->value[TICK_IO_READ] = tree->counters.io.read = rising(tree, TICK_IO_READ, io.read);
    tick->value[TICK_IO_WRITTEN] = tree->counters.io.written =
        rising(tree, TICK_IO_WRITTEN, io.written);
    tick->value[TICK_IO_READ_CHARS] = tree->counters.io.read_chars =
        rising(tree, TICK_IO_READ_CHARS, io.read_chars);
    tick->value[TICK_IO_WRITTEN_CHARS] = tree->counters.io.written_chars =
        rising(tree, TICK_IO_WRITTEN_CHARS, io.written_chars);
}

static void publish_pids(struct tree *tree) {
    uint32_t count = tree->now_count < SHARED_PIDS ? (uint32_t)tree->now_count : SHARED_PIDS;
    for (uint32_t i = 0; i < count; i++)
        atomic_store(&tree->shared->pids[i], tree->now[i].pid);
    atomic_store(&tree->shared->pid_count, count);
}

void tree_look(struct tree *tree, int64_t t_ns, struct shared_tick *ret_tick) {
    struct shared_tick tick = {.t_ns = t_ns};
    for (size_t i = 0; i < TICK_COUNT_; i++)
        tick.value[i] = SHARED_ABSENT;
    struct process *spare = tree->before;
    tree->before = tree->now;
    tree->before_count = tree->now_count;
    tree->now = spare;
    tree->now_count = 0;
    for (size_t i = 0; i < tree->before_count; i++)
        tree->before[i].listed = false;
    bool truncated = false;
    size_t walked = tree->kind->walk(tree, tree->before, tree->before_count, &truncated);
    struct look look = {0};
    look_at_processes(tree, walked, &look, &tick);
    check_vanished(tree);
    tree->counters.truncated = tree->counters.truncated || truncated;
    tree->counters.t_ns = t_ns;
    tree->counters.cpu_ns = rising(tree, TICK_CPU_NS, tree->ended_cpu_ns + look.cpu_ns);
    tick.value[TICK_CPU_NS] = tree->counters.cpu_ns;
    tick.value[TICK_PROCESSES] = look.alive;
    tick.value[TICK_DISK_SLEEP] = look.disk_sleep;
    if (tree->has_disk_wait)
        tick.value[TICK_DISK_WAIT_NS] =
            rising(tree, TICK_DISK_WAIT_NS, tree->ended_disk_wait_ns + look.disk_wait_ns);
    sum_io(tree, &look, &tick);
    publish_pids(tree);
    shared_set_counters(tree->shared, &tree->counters);
    *ret_tick = tick;
}

size_t tree_count(const struct tree *tree) {
    return tree->now_count;
}

const char *tree_process(const struct tree *tree, size_t index, pid_t *ret_pid,
                         uint64_t *ret_start) {
    const struct process *process = &tree->now[index];
    if (process->gone || process->zombie)
        return NULL;
    *ret_pid = process->pid;
    *ret_start = process->start;
    return process->comm;
}

bool tree_is_empty(struct tree *tree) {
    return tree->kind->is_empty(tree);
}

bool tree_is_hidden(const struct tree *tree) {
    return tree->is_hidden;
}

bool tree_contains(const struct tree *tree, pid_t pid) {
    struct process key = {.pid = pid};
    return tree->now_count > 0 &&
           bsearch(&key, tree->now, tree->now_count, sizeof key, compare_processes) != NULL;
}
