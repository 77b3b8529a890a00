/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The slow reader: what may hang or cost the measured processes something is read in a process of
 * its own, a child of the recorder: PSS (takes a process's memory lock), the control group's
 * charge, free space, the network's counters, files of weights. Started after the first second.
 */
#pragma once

#include "exec/shared.h"
#include "exec/slow-files.h"
#include "probe/cgroup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SLOW_PATH_SIZE  512
#define SLOW_PLACES_MAX 16

enum slow_value {
    SLOW_PSS = 0,
    SLOW_PSS_ANON,
    SLOW_PSS_FILE,
    SLOW_PSS_SHMEM,
    SLOW_CHARGED,
    SLOW_RECEIVED, /* of the network namespace of the command */
    SLOW_SENT,
    SLOW_COUNT_
};

struct slow_sample {
    int64_t t_ns;
    int64_t value[SLOW_COUNT_]; /* bytes; SHARED_ABSENT: not read */
    uint32_t processes, denied;
    bool looked; /* at memory; what is absent then could not be read */
    /* a file system that has little left; low_path "" : none */
    char low_path[SLOW_PATH_SIZE];
    int64_t low_free_bytes, low_total_bytes;
    struct slow_file file; /* that was not told yet; path "": none */
};

struct slow_context {
    struct shared *shared;
    struct cgroup_place group;               /* version 0: none */
    const char *places[SLOW_PLACES_MAX + 1]; /* NULL-terminated: where the run may write */
    int out_fd;                              /* pipe: one sample per write */
};

/* Returns its pid or a negative errno; *ret_fd is the reading end. */
pid_t slow_reader_start(const struct slow_context *context, int *ret_fd);
