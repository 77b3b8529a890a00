/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An existing process that is watched (run --attach): what can be read of it once, and hold of it
 * by number, start time and descriptor, so that a number that is given to somebody else is never
 * taken for it. Nothing is ever written into it, and no signal sent.
 */
#pragma once

#include "exec/exec.h"
#include "exec/shared.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct exec_process {
    pid_t pid;
    uint64_t start;     /* field 22 of stat */
    int pidfd;          /* becomes readable when it ends; -1: the kernel gives none */
    char **argv;        /* its command line, or [name] where it shows none; owned, as all below */
    char *cwd;          /* NULL: not readable */
    char **environment; /* as it was when its program started; NULL: not readable */
    bool has_streams;
    char *stream[3]; /* what /proc/PID/fd/0, 1, 2 point to; NULL: closed, or not readable */
};

/* What its standard streams are; none of them is read. */
void exec_process_streams(const struct exec_process *process, struct stream_facts facts[3]);
/* Has it ended (or is nobody left to end: a zombie)? Cheap. */
bool exec_process_has_ended(const struct exec_process *process);
