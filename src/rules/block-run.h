/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `block run` would run, and what has come of it: plain data between those who run
 * (work/block-run.h) and those who show it. docs/block-run.md. */
#pragma once

#include "rules/remaining.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum block_run_why {                     /* why nothing more is started */
                     BLOCK_RUN_DONE = 0, /* every condition has its planned valid runs */
                     BLOCK_RUN_STOPPED,  /* open facts, data protection, a gate: nothing was run */
                     BLOCK_RUN_FAILED,   /* something failed for a reason that a repeat does not
                                            cure, or what was run does not count */
                     BLOCK_RUN_BUDGET,
                     BLOCK_RUN_INTERRUPTED,
                     BLOCK_RUN_DISK, /* no space for the output of one more run */
                     BLOCK_RUN_WHY_COUNT_
};
const char *block_run_why_name(enum block_run_why why); /* "done", "stopped", … */

struct block_run_item { /* one thing to be run, in the order in which it is */
    struct remaining_item of;
    const char *command; /* as typed, in arena */
};

struct block_run_plan { /* of --dry-run, and of the live overview */
    const struct study_block *block;
    struct block_run_item *items;
    size_t count;
    uint64_t planned, valid, failed; /* runs of the block; conditions that failed */
    uint64_t retry;
    size_t lanes;
    const char *const *lane_gpus;  /* per lane; NULL: nothing is set */
    const char *const *stopped_by; /* translated lines: why it may not start; none: it may */
    size_t stopped_count;
    struct quantity left; /* of all that is left, over the lanes; at least where a part is open */
};

struct block_run_result {
    enum block_run_why why;
    int signal; /* of INTERRUPTED */
    uint64_t started, planned, valid, failed;
    const char *const *lines; /* translated: what failed and why, what to do */
    size_t line_count;
};
