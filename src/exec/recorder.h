/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorder: the one process that writes the journal. It may be late, stopped or killed; what it
 * has not written yet waits in the shared memory for it or its successor. When the monitor is gone
 * it writes the last record itself.
 */
#pragma once

#include "exec/exec.h"
#include "exec/expect.h"
#include "exec/shared.h"
#include "exec/streams.h"
#include "text/pattern.h"

#include <stdbool.h>
#include <sys/types.h>

/* Everything a recorder needs; in the monitor's memory, so that each new one finds it after the
 * fork. */
struct recorder_context {
    const struct exec_options *options;
    const struct streams *streams;
    const struct pattern_set *patterns; /* NULL: none */
    const struct expectations *expectations;
    struct shared *shared;
    pid_t monitor;
    char *const *environment; /* variables of what is measured; NULL: not readable */
    const char *cwd;          /* its folder where that is not ours; NULL: ours, or (with
                                 options->attach) not readable */
    int bell;                 /* socket to the monitor */
};

/* Starts one; returns its pid or a negative errno. *ret_bell is the monitor's end of the socket. */
pid_t recorder_start(const struct recorder_context *context, int *ret_bell);
