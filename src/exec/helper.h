/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one mechanism behind recorder, copier and slow reader: a forked process with nothing of ours
 * but the descriptors it needs, deaf to what a terminal or a group-wide kill sends, named so that
 * `ps` shows what it is.
 */
#pragma once

#include "exec/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct helper_spec {
    const char *name; /* at most 15 bytes (comm) */
    const int *keep;  /* descriptors it keeps; all others are closed, 0-2 are /dev/null; negative
                         ones are skipped */
    size_t keep_count;
    int keep_too;          /* one more, of one that writes; 0 or negative: none */
    bool own_session;      /* recorder and copiers: their sessions tell helpers from the tree */
    bool dies_with_parent; /* SIGKILL when the forking process ends */
    int (*main)(void *context); /* returns the exit code */
    void *context;
};

/* Returns the pid or a negative errno. The process is registered as a helper in `shared`. */
pid_t helper_start(struct shared *shared, const struct helper_spec *spec);

/* The same for one that writes into a pipe: *out_fd (in its context) becomes its end, which is all
 * that it keeps; *ret_fd ours, which does not block. Both are untouched on failure. */
pid_t helper_start_writing(struct shared *shared, struct helper_spec *spec, int *out_fd,
                           int *ret_fd);

/* Ends the process at once without flushing what was buffered before a fork; keeps coverage data of
 * instrumented builds. */
void helper_exit(int code) __attribute__((noreturn));

/* A connected pair of close-on-exec SOCK_SEQPACKET sockets, both non-blocking: a doorbell, and a
 * notice of death. */
int helper_pair(int ret_fds[2]);
/* One byte; a full or closed socket is no error: the other side looks at the shared memory anyway.
 */
void helper_ring(int fd);
/* Takes all bells that wait. False: the other side is gone. */
bool helper_take_bells(int fd);
