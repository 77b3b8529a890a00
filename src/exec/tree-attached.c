/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tree that was there before us: a process and its descendants, as far as /proc shows them.
 * Nobody of it is reaped by us: what one has used that ends unseen between two looks is lost, and
 * said to be. Whoever was seen in it stays in it, also when it loses its parent.
 */
#include "exec/tree-parts.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define GENERATIONS_MAX 64

void tree_attach(struct tree *tree, pid_t pid, uint64_t start, int64_t boot_ns) {
    tree->kind = &tree_attached;
    tree->root = pid;
    tree->root_start = start;
    tree->attached_boot_ns = boot_ns;
    tree->has_io = true;
}

/* ---- finding them ---- */

static int compare_pids(const void *a, const void *b) {
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

static bool is_still(pid_t pid, uint64_t start) {
    struct proc_stat stat;
    return procfs_stat(&root_real, pid, &stat) == 0 && stat.start == start;
}

static bool add(struct tree *tree, size_t *count, pid_t pid) {
    if (*count == TREE_MAX)
        return false;
    tree->walk[(*count)++] = pid;
    return true;
}

static bool add_children(struct tree *tree, struct process *known, size_t known_count,
                         size_t *count, pid_t parent) {
    size_t total = 0, room = TREE_MAX - *count;
    pid_t *children = tree->walk + *count;
    if (procfs_children(&root_real, parent, children, room, &total) < 0)
        return true; /* it has ended, or a kernel without that list: those seen are known */
    size_t kept = 0;
    for (size_t i = 0; i < total && i < room; i++) {
        const struct process *old = tree_find(known, known_count, children[i]);
        bool is_there = (old != NULL && old->listed) || children[i] == tree->root;
        if (!is_there && !shared_is_helper(tree->shared, children[i]))
            children[kept++] = children[i];
    }
    *count += kept;
    return total <= room;
}

/* One that was adopted by another one of the tree while we went from one to the other is there
 * twice. */
static size_t once(pid_t *pids, size_t count) {
    size_t kept = 0;
    qsort(pids, count, sizeof *pids, compare_pids);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || pids[kept - 1] != pids[i])
            pids[kept++] = pids[i];
    return kept;
}

static size_t walk_attached(struct tree *tree, struct process *known, size_t known_count,
                            bool *ret_truncated) {
    size_t count = 0;
    bool fits = true;
    if (is_still(tree->root, tree->root_start))
        fits = add(tree, &count, tree->root);
    for (size_t i = 0; i < known_count; i++) {
        known[i].listed = is_still(known[i].pid, known[i].start);
        if (known[i].listed && known[i].pid != tree->root)
            fits = add(tree, &count, known[i].pid) && fits;
    }
    for (size_t i = 0; i < count; i++)
        fits = add_children(tree, known, known_count, &count, tree->walk[i]) && fits;
    *ret_truncated = !fits;
    return once(tree->walk, count);
}

static bool is_empty(struct tree *tree) {
    bool truncated = false;
    size_t count = walk_attached(tree, tree->now, tree->now_count, &truncated);
    for (size_t i = 0; i < count; i++) {
        struct proc_stat stat;
        if (procfs_stat(&root_real, tree->walk[i], &stat) == 0 && stat.state != 'Z' &&
            stat.state != 'X')
            return false;
    }
    return true;
}

/* ---- accounting ---- */

/* Older than our watching? start counts ticks since the boot, as CLOCK_BOOTTIME does. */
static bool was_there_before(const struct tree *tree, const struct process *process) {
    int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    return (int64_t)process->start <= tree->attached_boot_ns / tick_ns;
}

/* What it had used before we came is taken off for good: wherever it arrives later, in its own
 * account or in that of one that reaps it, it is there in full. */
static void seen(struct tree *tree, const struct process *process, const struct process *old) {
    if (old == NULL && was_there_before(tree, process)) {
        tree->ended_cpu_ns -= process->times_ns;
        tree->ended_disk_wait_ns -= process->disk_wait_ns;
        if (process->has_io)
            tree_io_add(&tree->io_zero, &process->io, 1);
    } else if (old != NULL && !old->has_io && process->has_io) {
        /* Readable only now: what it did till now is not known to be of our time. */
        tree_io_add(&tree->io_zero, &process->io, 1);
        tree->counters.unreaped = true;
    }
}

/* Is there one in the tree that may have waited for it, or for the one that waited for it? */
static bool may_have_arrived(struct tree *tree, const struct process *gone) {
    pid_t parent = gone->ppid;
    for (int i = 0; i < GENERATIONS_MAX; i++) {
        const struct process *above = tree_find(tree->now, tree->now_count, parent);
        if (above != NULL)
            return true;
        above = tree_find(tree->before, tree->before_count, parent);
        if (above == NULL)
            return false;
        tree->counters.unreaped = true; /* both have gone: whoever took it over is not known */
        parent = above->ppid;
    }
    return false;
}

static void vanished(struct tree *tree, const struct process *gone) {
    if (may_have_arrived(tree, gone))
        return;
    /* Its account went to somebody who is none of us: what it had when it was last seen. */
    tree->counters.unreaped = true;
    tree->ended_cpu_ns += gone->times_ns;
    if (gone->has_io)
        tree_io_add(&tree->io_ended, &gone->io, 1);
}

static bool ended_io(const struct tree *tree, struct shared_io *ret) {
    bool any = false;
    for (size_t i = 0; i < tree->now_count; i++)
        any = any || tree->now[i].has_io;
    if (!any && tree->counters.io.read_chars == SHARED_ABSENT)
        return false; /* nobody's could be read, ever */
    *ret = tree->io_ended;
    tree_io_add(ret, &tree->io_zero, -1);
    return true;
}

const struct tree_kind tree_attached = {.walk = walk_attached,
                                        .seen = seen,
                                        .vanished = vanished,
                                        .ended_io = ended_io,
                                        .is_empty = is_empty};
