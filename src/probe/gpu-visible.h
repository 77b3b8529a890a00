/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of a machine's GPUs a command may use, by what was said to it: the option, CUDA's, AMD's
 * and Slurm's variables, the container runtime's, the control group. Pure but for the one reader of
 * the control group. What cannot be told for sure stays unknown; nothing is guessed from an order
 * that another program makes. What the driver shows of the run's processes is for the caller, and
 * goes before all of this.
 */
#pragma once

#include "base/root.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpu_mine { GPU_MINE_UNKNOWN = 0, GPU_MINE_YES, GPU_MINE_NO };

struct gpu_visible_device {
    bool is_slice;                          /* a MIG slice; else a board */
    bool is_divided;                        /* a board with MIG on: programs get its slices only */
    bool is_amd;                            /* listed in the order of the kernel's nodes */
    int parent;                             /* of a slice: its board in the list; -1: not known */
    int64_t index;                          /* the driver's; below 0: not known */
    int64_t minor;                          /* /dev/nvidiaMINOR; below 0: not known */
    int64_t gpu_instance, compute_instance; /* of a slice; below 0: not known */
    const char *uuid, *name;                /* NULL or "": not known */
    int allowed; /* by the control group: 1 yes, 0 no, -1 it does not say */
};

/* NULL: not set, which is not the same as "". */
struct gpu_visible_variables {
    const char *cuda_visible, *cuda_order; /* CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER */
    const char *nvidia_visible;            /* NVIDIA_VISIBLE_DEVICES */
    const char *rocr_visible, *hip_visible;
    const char *slurm_step, *slurm_job; /* SLURM_STEP_GPUS, SLURM_JOB_GPUS */
};

struct gpu_visible_verdict {
    enum gpu_mine mine;
    const char *by; /* what says so, for the record (English); NULL: nothing does. With UNKNOWN the
                       option: it was asked for by a name that nothing has, or several have */
};

/* option: NULL-terminated list of --gpu, or NULL. One verdict a device. */
void gpu_visible(const struct gpu_visible_device *devices, size_t count,
                 const struct gpu_visible_variables *variables, const char *const *option,
                 struct gpu_visible_verdict *ret_verdicts);

/* What a name of --gpu stands for among these devices. */
enum gpu_named { GPU_NAMED_NONE = 0, GPU_NAMED_ONE, GPU_NAMED_SEVERAL };
enum gpu_named gpu_visible_named(const struct gpu_visible_device *devices, size_t count,
                                 const char *name);

/* Does devices.list of a control group (v1) let /dev/nvidiaMINOR be read and written? */
bool gpu_visible_allows(const char *devices_list, int64_t minor);
/* Reads that list for the calling process. -ENOENT: no such group to be seen from here (in v2 the
 * kernel keeps the rules where nobody can read them). */
int gpu_visible_read_group(const struct root *root, struct strbuf *out);
