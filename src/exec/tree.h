/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The measured processes: every descendant of the monitor that is no helper and was not there
 * before; or an existing process that is attached to, and its descendants. Exact where the kernel
 * accounts (what is reaped, our own io minus our own), sampled where it does not; what could not be
 * read is absent. Used in the monitor's loop: allocates only in tree_new().
 */
#pragma once

#include "base/root.h"
#include "exec/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct tree;
struct tree *tree_new(struct shared *shared);
struct tree *tree_free(struct tree *tree); /* accepts NULL; returns NULL */

/* Before the first fork: children that are there already, and their sessions, are not ours; what
 * our own io says now is the zero. earlier: such a child that is known by other means; 0: none. */
void tree_begin(struct tree *tree, pid_t earlier);

/* Instead of tree_begin(): an existing process and its descendants; nobody of them is reaped here.
 * boot_ns: CLOCK_BOOTTIME now; what older processes had used until then does not count. */
void tree_attach(struct tree *tree, pid_t pid, uint64_t start, int64_t boot_ns);

/* Reads all processes; t_ns is the time since the run's start. Updates the shared counters and the
 * list of pids. */
void tree_look(struct tree *tree, int64_t t_ns, struct shared_tick *ret_tick);
/* The processes of the last look by index; the comm, or NULL for one that has ended. */
size_t tree_count(const struct tree *tree);
const char *tree_process(const struct tree *tree, size_t index, pid_t *ret_pid,
                         uint64_t *ret_start);

/* Is somebody left besides helpers and what was there before? Cheap. */
bool tree_is_empty(struct tree *tree);
bool tree_is_hidden(const struct tree *tree); /* /proc did not show our children */
/* Is this process one of the tree (or was at the last look)? */
bool tree_contains(const struct tree *tree, pid_t pid);

/* What can be read of a child of ours that has ended and is not reaped yet. */
struct tree_zombie {
    pid_t pid;
    bool is_helper, is_foreign;
    bool has_start, has_comm, ignored_sigchld, has_io;
    uint64_t start;
    char comm[SHARED_COMM_SIZE];
    struct shared_io io;
};
void tree_zombie(const struct tree *tree, pid_t pid, struct tree_zombie *ret);
void tree_reaped(struct tree *tree, const struct tree_zombie *zombie, const struct rusage *usage);

/* Signals every process of the tree by pidfd, each checked against its start time. Returns how many
 * were there. */
size_t tree_signal(struct tree *tree, int signal);
