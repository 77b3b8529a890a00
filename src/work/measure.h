/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The use case of `probelauf run`: one or more attempts of a command, each a record of its own. */
#pragma once

#include "base/err.h"
#include "exec/exec.h"
#include "model/run.h"
#include "work/place.h"

#include <stdint.h>

struct measure_options {
    struct exec_options exec; /* run, part, start_extra's attempt keys, journal_dirs and recorded
                                 are filled in per attempt */
    int64_t retries;          /* further attempts at most */
};

/* `attempt_done` is called after each attempt with its run (NULL when there is no record): the
 * summary. */
typedef void (*measure_fn)(const struct run *run, const struct exec_result *result, bool will_retry,
                           void *context);
int measure_run(const struct measure_options *options, const struct place *place,
                measure_fn attempt_done, void *context, struct exec_result *ret_result,
                struct err *err);
