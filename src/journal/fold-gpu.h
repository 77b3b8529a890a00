/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the fold of GPUs, shared by fold-gpu*.c only. Rules: docs/measurement.md, "GPU
 * memory" and "Busy and idle". */
#pragma once

#include "journal/fold-parts.h"

struct gpu_fold {
    struct fold *fold;
    struct fold_curves curves; /* of the GPUs and of the host, as far as causes need them */
    bool has_phases;           /* some phase of the run is known */
};

/* The curve of that name, of a device (by uuid, or number as text) or of the host (NULL); NULL:
 * none. Its ticks are in the order of time. */
struct fold_curve *fold_gpu_curve(const struct gpu_fold *gpus, const char *name,
                                  const char *device);
bool fold_gpu_wants(const char *name); /* is a curve of that name needed here */

/* Calls back for each part of [from_s, to_s) with the phase that holds in it. */
typedef void (*fold_part_fn)(enum phase phase, double from_s, double to_s, void *context);
void fold_each_phase(const struct run *run, double from_s, double to_s, fold_part_fn each,
                     void *context);

/* Why a part of a device's record ("memory", "utilization", …) is open: what DEVICE says, else what
 * the state of the record says. */
struct quantity fold_gpu_open(const struct gpu_fold *gpus, const json_t *device, const char *item,
                              const char *unit);

/* busy, idle, idle_by, unseen, and by_phase the same */
void fold_gpu_busy(struct gpu_fold *gpus, const json_t *device, const char *key,
                   struct run_gpu *gpu);
/* allocated and reserved of all devices; `devices` as run->gpus. */
void fold_gpu_agents(struct gpu_fold *gpus);
/* ecc, held */
void fold_gpu_condition(const struct gpu_fold *gpus, const json_t *device, const char *key,
                        struct run_gpu *gpu);
/* preallocated; after everything else */
void fold_gpu_plateau(const struct gpu_fold *gpus, const char *key, struct run_gpu *gpu);
