/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phase names, and the life of struct run. Must not read records (journal/fold does). */
#include "model/run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const phase_names[PHASE_COUNT_] = {
    [PHASE_SETUP] = "setup",
    [PHASE_TRANSFER] = "transfer",
    [PHASE_DATA] = "data",
    [PHASE_LOAD] = "load",
    [PHASE_PREPROCESS] = "preprocess",
    [PHASE_COMPUTE] = "compute",
    [PHASE_WRITE] = "write",
    [PHASE_EVALUATE] = "evaluate",
    [PHASE_FIX] = "fix",
    [PHASE_TEARDOWN] = "teardown",
    [PHASE_UNATTRIBUTED] = "unattributed",
};

const char *phase_name(enum phase phase) {
    assert(phase < PHASE_COUNT_);
    return phase_names[phase];
}

bool phase_from_name(const char *name, enum phase *ret_phase) {
    for (enum phase i = 0; i < PHASE_UNATTRIBUTED; i++) {
        size_t length = strlen(phase_names[i]);
        if (strncmp(name, phase_names[i], length) != 0)
            continue;
        /* "compute", or "compute/" with a detail that is not empty */
        if (name[length] == '\0' || (name[length] == '/' && name[length + 1] != '\0')) {
            *ret_phase = i;
            return true;
        }
    }
    return false;
}

const char *gpu_idle_name(enum gpu_idle cause) {
    static const char *const names[GPU_IDLE_COUNT_] = {
        [GPU_IDLE_BEFORE_FIRST_USE] = "before-first-use",
        [GPU_IDLE_AFTER_LAST_USE] = "after-last-use",
        [GPU_IDLE_HOST_BUSY] = "host-busy",
        [GPU_IDLE_DISK_WAIT] = "disk-wait",
        [GPU_IDLE_NETWORK] = "network",
        [GPU_IDLE_UNKNOWN] = "unknown",
    };
    assert(cause < GPU_IDLE_COUNT_);
    return names[cause];
}

struct run *run_new(void) {
    struct run *run = mem_alloc(sizeof *run);
    run->arena = arena_new();
    run->header = json_object();
    run->start = json_object();
    run->environment = json_object();
    run->end = json_object();
    run->changes = json_array();
    return run;
}

struct run *run_free(struct run *run) {
    if (run == NULL)
        return NULL;
    json_decref(run->header);
    json_decref(run->start);
    json_decref(run->environment);
    json_decref(run->end);
    json_decref(run->kept);
    json_decref(run->changes);
    arena_free(run->arena);
    free(run);
    return NULL;
}

void run_free_ptr(struct run **run) {
    *run = run_free(*run);
}

bool run_gpu_counts(const struct run *run, const struct run_gpu *gpu) {
    return gpu->mine == RUN_YES || run->gpu_count == 1;
}
