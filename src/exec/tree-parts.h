/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the two kinds of trees share: descendants of ours (tree-descendants.c), which we reap, and
 * those of a process that was there before (tree-attached.c), of which we only see what /proc
 * shows. For tree*.c only.
 */
#pragma once

#include "exec/tree.h"
#include "probe/procfs.h"

#define TREE_MAX    8192u
#define FOREIGN_MAX 256u

struct process {
    pid_t pid, ppid;
    uint64_t start;
    char comm[SHARED_COMM_SIZE];
    int64_t times_ns;           /* own, and of children that it reaped */
    int64_t children_ns;        /* of children that it reaped */
    int64_t parent_children_ns; /* the parent's children_ns when this one was last seen; -1: parent
                                   unknown */
    int64_t disk_wait_ns;
    struct shared_io io; /* own, and of children that it reaped */
    bool has_io;
    bool listed; /* in the walk of the current look */
    bool gone;   /* ended while we looked: the line of the look before */
    bool zombie;
};

/* How the processes of a tree are found, and what is known of those that are no more. */
struct tree_kind {
    /* Into tree->walk; `known` (sorted by pid) are those of an earlier look. */
    size_t (*walk)(struct tree *tree, struct process *known, size_t known_count,
                   bool *ret_truncated);
    /* One was looked at; old: its line of the look before, NULL: it is new. NULL: nothing that it
     * had done comes from before the run. */
    void (*seen)(struct tree *tree, const struct process *process, const struct process *old);
    /* One of the look before is not there any more. NULL: reaping tells what it had done. */
    void (*vanished)(struct tree *tree, const struct process *process);
    /* I/O of those that are no more, as far as no living one has it in its own account. False: not
     * readable. */
    bool (*ended_io)(const struct tree *tree, struct shared_io *ret);
    bool (*is_empty)(struct tree *tree);
};
extern const struct tree_kind tree_descendants, tree_attached;

struct tree {
    const struct tree_kind *kind;
    struct shared *shared;
    pid_t self;
    pid_t foreign[FOREIGN_MAX]; /* children that were there before the run */
    size_t foreign_count;
    pid_t foreign_sessions[FOREIGN_MAX]; /* that foreign children lead: what these leave behind */
    size_t foreign_session_count;
    pid_t root; /* attached: the process whose tree it is */
    uint64_t root_start;
    int64_t attached_boot_ns; /* CLOCK_BOOTTIME when that began */
    bool has_io, is_hidden;
    struct shared_io io_zero, io_helpers, io_ended;
    int64_t ended_cpu_ns, ended_disk_wait_ns; /* of those that are no more; less what came before */
    bool has_disk_wait;
    int64_t highest[TICK_COUNT_]; /* counters never fall */
    struct shared_counters counters;
    pid_t walk[TREE_MAX];
    struct process tables[2][TREE_MAX];
    struct process *now, *before; /* sorted by pid */
    size_t now_count, before_count;
};

struct shared_io tree_io_from_proc(const struct proc_io *io);
void tree_io_add(struct shared_io *sum, const struct shared_io *io, int sign);
struct process *tree_find(struct process *table, size_t count, pid_t pid);
/* Counts it, and keeps its number for those who ask whether a process was ours. */
void tree_add_seen(struct tree *tree, pid_t pid);
