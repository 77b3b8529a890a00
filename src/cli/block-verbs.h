/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verbs of `probelauf block` that have files of their own, and the values of its options. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct block_opts {
    const char *env, *gpus, *why, *max_cost, *offer;
    int64_t lanes, retry, max_time_ns;
    bool dry_run;
};
extern struct block_opts block_opts; /* cmd-block.c */

int block_run(int argc, char **argv);  /* cmd-block-run.c */
int block_gate(int argc, char **argv); /* cmd-block-gate.c */
