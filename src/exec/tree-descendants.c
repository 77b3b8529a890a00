/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tree that we have started: descendants of ours, whom we reap, so that the kernel's accounts of
 * the ended ones come to us. What was there before the run, and helpers, are no part of it.
 */
#include "exec/tree-parts.h"

#include "exec/cpu-time.h"
#include "exec/signals.h"

#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define SIGCHLD_BIT (UINT64_C(1) << (SIGCHLD - 1))

/* What our reaped children had done, ever: our process's account minus that of our one thread. */
static bool reaped_io(const struct tree *tree, struct shared_io *ret) {
    struct proc_io thread, process;
    /* The thread first: our own reading in between then counts for the process alone and can be
     * taken off by nobody; it is a few bytes of read_chars. */
    if (procfs_io(&root_real, tree->self, &process) < 0 ||
        procfs_thread_io(&root_real, tree->self, tree->self, &thread) < 0)
        return false;
    struct shared_io own = tree_io_from_proc(&thread);
    *ret = tree_io_from_proc(&process);
    tree_io_add(ret, &own, -1);
    return true;
}

static void forget_foreign(struct tree *tree, pid_t pid) {
    for (size_t i = 0; i < tree->foreign_count; i++)
        if (tree->foreign[i] == pid)
            tree->foreign[i] = tree->foreign[--tree->foreign_count];
}

static bool is_foreign(const struct tree *tree, pid_t pid) {
    for (size_t i = 0; i < tree->foreign_count; i++)
        if (tree->foreign[i] == pid)
            return true;
    pid_t session = tree->foreign_session_count > 0 ? getsid(pid) : -1;
    for (size_t i = 0; i < tree->foreign_session_count; i++)
        if (tree->foreign_sessions[i] == session)
            return true;
    return false;
}

/* Nobody joins a session that is there already (setsid(2)): its members are foreign as well. */
static void note_foreign_session(struct tree *tree, pid_t pid) {
    if (getsid(pid) == pid && pid != getsid(0) && tree->foreign_session_count < FOREIGN_MAX)
        tree->foreign_sessions[tree->foreign_session_count++] = pid;
}

void tree_begin(struct tree *tree, pid_t earlier) {
    size_t total = 0;
    if (procfs_children(&root_real, tree->self, tree->foreign, FOREIGN_MAX, &total) == 0)
        tree->foreign_count = total < FOREIGN_MAX ? total : FOREIGN_MAX;
    /* The list of children may lack one while another one ends (proc_pid_task_children(5)). */
    if (earlier > 0 && tree->foreign_count < FOREIGN_MAX && !is_foreign(tree, earlier))
        tree->foreign[tree->foreign_count++] = earlier;
    for (size_t i = 0; i < tree->foreign_count; i++)
        note_foreign_session(tree, tree->foreign[i]);
    tree->has_io = reaped_io(tree, &tree->io_zero);
}

/* All descendants that are ours. Helpers' children that lost their parent are known by their
 * session. */
static size_t walk_descendants(struct tree *tree, struct process *known, size_t known_count,
                               bool *ret_truncated) {
    (void)known;
    (void)known_count;
    pid_t skip[FOREIGN_MAX + SHARED_HELPER_PIDS];
    size_t skip_count = 0;
    for (size_t i = 0; i < SHARED_HELPER_PIDS; i++) {
        pid_t pid = atomic_load(&tree->shared->helper_pids[i]);
        if (pid != 0)
            skip[skip_count++] = pid;
    }
    for (size_t i = 0; i < tree->foreign_count; i++)
        skip[skip_count++] = tree->foreign[i];
    size_t count =
        procfs_tree(&root_real, tree->self, skip, skip_count, tree->walk, TREE_MAX, ret_truncated);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!shared_is_helper(tree->shared, tree->walk[i]) && !is_foreign(tree, tree->walk[i]))
            tree->walk[kept++] = tree->walk[i];
    return kept;
}

static bool has_no_descendants(struct tree *tree) {
    pid_t children[64];
    size_t total = 0;
    /* As subreaper we are parent of every orphan: a tree without a child of ours has nobody in it.
     */
    if (procfs_children(&root_real, tree->self, children, 64, &total) < 0) {
        /* Nobody can be waited for who cannot be seen; what was found is then a lower bound. */
        tree->is_hidden = true;
        tree->counters.unreaped = true;
        return true;
    }
    if (total > 64)
        return false;
    for (size_t i = 0; i < total; i++)
        if (!is_foreign(tree, children[i]) && !shared_is_helper(tree->shared, children[i]))
            return false;
    return true;
}

/* ---- reaping ---- */

void tree_zombie(const struct tree *tree, pid_t pid, struct tree_zombie *ret) {
    *ret = (struct tree_zombie){.pid = pid,
                                .is_helper = shared_is_helper(tree->shared, pid),
                                .is_foreign = is_foreign(tree, pid)};
    struct proc_stat stat;
    if (procfs_stat(&root_real, pid, &stat) == 0) {
        ret->has_start = ret->has_comm = true;
        ret->start = stat.start;
        memcpy(ret->comm, stat.comm, sizeof ret->comm);
    }
    struct proc_status status;
    if (procfs_status(&root_real, pid, &status) == 0 && status.has_sigign)
        ret->ignored_sigchld = (status.sigign & SIGCHLD_BIT) != 0;
    struct proc_io io;
    if ((ret->is_helper || ret->is_foreign) && procfs_io(&root_real, pid, &io) == 0) {
        ret->has_io = true;
        ret->io = tree_io_from_proc(&io);
    }
}

void tree_reaped(struct tree *tree, const struct tree_zombie *zombie, const struct rusage *usage) {
    if (zombie->is_helper || zombie->is_foreign) {
        if (zombie->has_io)
            tree_io_add(&tree->io_helpers, &zombie->io, 1);
        forget_foreign(tree, zombie->pid);
        return;
    }
    tree->ended_cpu_ns += cpu_time_usage_ns(usage);
    int64_t maxrss_bytes = (int64_t)usage->ru_maxrss * 1024; /* getrusage(2): kilobytes */
    if (maxrss_bytes > tree->counters.maxrss_bytes)
        tree->counters.maxrss_bytes = maxrss_bytes;
    if (zombie->ignored_sigchld)
        tree->counters.unreaped = true;
    const struct process *known = tree_find(tree->now, tree->now_count, zombie->pid);
    if (known == NULL || !zombie->has_start || known->start != zombie->start)
        tree_add_seen(tree, zombie->pid);
}

/* ---- signalling ---- */

static bool in_walk(const struct tree *tree, size_t count, pid_t pid) {
    if (pid == tree->self)
        return true;
    for (size_t i = 0; i < count; i++)
        if (tree->walk[i] == pid)
            return true;
    return false;
}

/* The descriptor is opened between two looks at the start time: what it names is then the process
 * that both looks saw. */
static void signal_one(const struct tree *tree, size_t count, pid_t pid, int signal) {
    struct proc_stat first, second;
    if (procfs_stat(&root_real, pid, &first) < 0 || !in_walk(tree, count, first.ppid) ||
        first.state == 'Z' || first.state == 'X')
        return;
    int pidfd = pidfd_open(pid, 0);
    if (procfs_stat(&root_real, pid, &second) == 0 && second.start == first.start) {
        signals_send(pidfd, pid, signal);
        if (signal == SIGTERM && second.state == 'T')
            signals_send(pidfd, pid, SIGCONT); /* a stopped process cannot act on it */
    }
    if (pidfd >= 0)
        close(pidfd);
}

size_t tree_signal(struct tree *tree, int signal) {
    bool truncated = false;
    size_t count = tree->kind->walk(tree, tree->now, tree->now_count, &truncated);
    for (size_t i = 0; i < count; i++)
        signal_one(tree, count, tree->walk[i], signal);
    return count;
}

/* In each look the living are added; see tree.c. */
static bool ended_io(const struct tree *tree, struct shared_io *ret) {
    if (!tree->has_io || !reaped_io(tree, ret))
        return false;
    tree_io_add(ret, &tree->io_zero, -1);
    tree_io_add(ret, &tree->io_helpers, -1);
    ret->written_chars -= atomic_load(&tree->shared->setup_chars);
    return true;
}

const struct tree_kind tree_descendants = {
    .walk = walk_descendants, .ended_io = ended_io, .is_empty = has_no_descendants};
