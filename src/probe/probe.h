/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be read once about the place of a run, behind one ops table: machine, limits, code
 * (git), Python interpreters and packages. Each collector writes its part of the ENVIRONMENT record
 * (docs/journal-format.md) and names in `reasons` what it could not read. Runs in a helper process,
 * never in the monitor: it may take seconds.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/root.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct probe_context {
    const struct root *root;
    const char *cwd;         /* of the command */
    const char *const *argv; /* of the command */
    size_t argc;
    char *const *environment; /* of the command */
    pid_t process;     /* whose limits hold; 0: the calling one's, which the command inherits */
    const pid_t *pids; /* processes of the tree seen so far (for interpreters); may be empty */
    size_t pid_count;
    int64_t budget_ns; /* for the code and for the packages, each; 0: the usual 2 s */
    /* What counts as the code, where a plan says it. */
    const char *code_folder; /* absolute, of the plan: its repository is looked at; NULL: cwd's */
    const char *const *code_paths; /* git path specs relative to code_folder (NULL: to cwd),
                                      NULL-terminated; NULL or empty: all but what does not run */
    const char *code_except; /* name of the plan file in code_folder: it is no code; may be NULL */
};

struct probe_ops {
    const char *name; /* key in `reasons` */
    /* Required. Adds its keys to environment; absence is a reason, not an error. Negative: the
     * probe itself broke. */
    int (*collect)(const struct probe_context *context, json_t *environment, json_t *reasons,
                   struct err *err);
};

extern const struct probe_ops probe_machine, probe_limits, probe_git, probe_python, probe_gpu;

/* What the kernel's files say of GPUs, in a few system calls. NONE is said only where they could
 * have shown one. */
enum gpu_devices_shown {
    GPU_DEVICES_NONE = 0,
    GPU_DEVICES_AMD, /* and no sign of NVIDIA's */
    GPU_DEVICES_MAYBE,
};
enum gpu_devices_shown gpu_devices_look(const struct root *root);

/* `code` alone, as it stands in the record, at this moment (root, cwd or code_folder and what
 * follows it are looked at): what a run was made with is held against it. Never NULL; `reason` says
 * why something is not known. */
json_t *probe_code(const struct probe_context *context);

/* All collectors in order; a broken one becomes a reason. Adds `fingerprint` (SHA-256 over what
 * decides comparability). */
json_t *probe_environment(const struct probe_context *context);
