/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lanes of `block run` as files (docs/decisions/0013, docs/block-run.md): what a lane runs, and
 * whether that still lives, told by a lock that is inherited. Internal to work/. Starts nothing.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "work/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_LANES_MAX 64u

struct lane_folder {
    char *path;   /* absolute; owned */
    char *prefix; /* of the files' names: the study and the block; owned */
};
/* Beside the ledger, else in the first journal folder; created. "block-lanes". */
int lane_folder_open(const struct place *place, const char *study, const char *block,
                     struct lane_folder *ret, struct err *err);
void lane_folder_done(struct lane_folder *folder);

/* What stands in the file of a lane. */
struct lane_content {
    const char *condition; /* id; NULL: a step */
    const char *step;
    const char *what;   /* for people */
    const char *gpus;   /* NULL: nothing was set */
    const char *output; /* file */
    int64_t utc_ns;
    int64_t pid; /* written by the child itself; 0: not there yet */
};
struct lane_locked {
    size_t number; /* from 1 */
    struct lane_content content;
};
/* The lanes that are locked, by number; texts in arena. What cannot be read counts as locked by
 * something unknown only where it is locked. Fails where locks do not work ("block-lanes"). */
int lanes_find_locked(const struct lane_folder *folder, struct arena *arena,
                      struct lane_locked **ret_lanes, size_t *ret_count, struct err *err);

/* Locks the file of a lane and writes the content. *ret_fd: close-on-exec; whoever inherits it
 * holds the lock. -EAGAIN: it is locked. "block-lanes". */
int lane_take(const struct lane_folder *folder, size_t number, const struct lane_content *content,
              int *ret_fd, struct err *err);
/* What ran in it is over, with its record: whatever it left behind no longer holds the lane. */
void lane_drop(const struct lane_folder *folder, size_t number);

/* Of several runners of one block one gets this; the others wait a moment and are refused
 * ("block-running"). *ret_fd: to be kept until the end. */
int lanes_lock_block(const struct lane_folder *folder, int *ret_fd, struct err *err);
