/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of weights that processes have open or mapped: names and sizes, found in /proc/PID/fd and
 * /proc/PID/maps. The files are not opened. Reading maps takes the process's memory lock for a
 * moment, and a dead network mount may hang: for the slow reader only.
 */
#pragma once

#include "exec/shared.h"
#include "probe/storage.h"

#include <stdint.h>
#include <sys/types.h>

#define SLOW_FILE_PATH_SIZE 1024u
#define SLOW_FILES_MAX      256u /* of a run; more are not told */

struct slow_file {
    char path[SLOW_FILE_PATH_SIZE]; /* "" : none */
    char storage[STORAGE_SIZE];
    int64_t bytes;
};

/* Zeroed: none told yet. */
struct slow_files {
    dev_t device[SLOW_FILES_MAX];
    ino_t inode[SLOW_FILES_MAX];
    size_t count;
    uint32_t next; /* process at which the next look goes on */
};

/* Looks at a few processes of the tree and calls back for each file that was not told before. */
typedef void (*slow_file_fn)(const struct slow_file *file, void *context);
void slow_files_look(struct slow_files *files, const _Atomic int *pids, uint32_t pid_count,
                     slow_file_fn each, void *context);
