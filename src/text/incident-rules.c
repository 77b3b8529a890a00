/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names of incidents: the outcome class each stands for, what it means, what to do, and the
 * list of the rule groups (one file per topic). The first matching rule wins, so groups and rules
 * that are narrower stand first. Must not know any wording itself.
 */
#include "text/incident-rules.h"

#include "base/mem.h"
#include "base/msg.h"

#include <string.h>

/* Memory of GPUs before that of the host, and both before errors and ends that only follow. */
static const struct incident_rules *const groups[] = {
    &incident_rules_memory, &incident_rules_device, &incident_rules_host,
    &incident_rules_access, &incident_rules_end,
};

size_t incident_rule_count(void) {
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(groups); i++)
        count += groups[i]->count;
    return count;
}

const struct incident_rule *incident_rule_at(size_t index) {
    for (size_t i = 0; i < ARRAY_LENGTH(groups); i++) {
        if (index < groups[i]->count)
            return &groups[i]->rules[index];
        index -= groups[i]->count;
    }
    return NULL;
}

/* ---- the names ---- */

static const struct incident_info infos[] = {
    {"gpu_oom", OUTCOME_GPU_OOM,
     N_("An allocation on the GPU was refused because its memory did not suffice at that moment."),
     N_("Compare the peak and what other processes held with the capacity; use smaller batches or "
        "lengths, or a device with more memory. Requested plus allocated is a lower bound of the "
        "need at one moment, never the need."),
     "gpu_oom_detail"},
    {"gpu_oom_detail", OUTCOME_FAILED,
     N_("Statistics of an allocator on the GPU as it prints them when an allocation fails; the "
        "line that says so is not there."),
     N_("Look for the error above or below; the figures belong to the moment of the failure."),
     NULL},
    {"gpu_budget", OUTCOME_FAILED,
     N_("A serving engine reckoned that the share of GPU memory it may use does not hold what was "
        "asked for. The device itself was not full."),
     N_("Give the engine a larger share, shorten the maximum length, or use more or larger "
        "devices; how much it lacks stands in the figures where it was printed."),
     NULL},
    {"gpu_busy", OUTCOME_FAILED,
     N_("Something else held the GPU or its memory when the program started."),
     N_("See with nvidia-smi who is on the device; wait, end leftovers, or take another device. "
        "This says nothing about the memory the program needs."),
     NULL},
    {"kernel_resource", OUTCOME_FAILED,
     N_("One kernel asked for more shared memory, registers or threads than this GPU model gives "
        "to one block. GPU memory was not the limit."),
     N_("Use smaller blocks or fewer stages, or another GPU model; more GPU memory does not help."),
     NULL},
    {"gpu_error", OUTCOME_GPU_FAULT,
     N_("CUDA, HIP or one of their libraries reported an error without a sign of memory. Whether "
        "the program or the device is at fault is not shown."),
     N_("Repeat with CUDA_LAUNCH_BLOCKING=1 to find the call; look for Xid lines in the kernel "
        "log before blaming the device."),
     NULL},
    {"gpu_lost", OUTCOME_GPU_FAULT,
     N_("A GPU no longer answers: it fell off the bus or cannot be opened. Not a fault of the "
        "program."),
     N_("Have the machine reset or replaced; the time since then is lost rental time. Ask the "
        "provider for a credit."),
     "gpu_xid"},
    {"gpu_xid", OUTCOME_GPU_FAULT,
     N_("The GPU's driver reported an Xid event. Some (13, 31, 43, 45) come from programs, others "
        "mean that the device needs a reset."),
     N_("Look the number up in NVIDIA's list of Xid errors; after 48, 63, 64, 74, 79, 94, 95, 119, "
        "120 or 154 have the device reset or replaced before going on."),
     NULL},
    {"nccl_timeout", OUTCOME_FAILED,
     N_("A collective operation did not end, or not in time: the others waited for a process or a "
        "connection that was gone, stuck or slow. The waiting time was idle."),
     N_("Look for what happened first on the other ranks; count the waiting as idle time."), NULL},
    {"nvml_mismatch", OUTCOME_FAILED,
     N_("The driver in the kernel and its libraries are of different versions, usually after an "
        "upgrade under a running system. Figures of the GPU cannot be read."),
     N_("Reboot or reload the driver before the next run; what the monitor did not see is open, "
        "not zero."),
     NULL},
    {"nvml_permission", OUTCOME_FAILED,
     N_("The GPU's management library may not be used here, or lost its access."),
     N_("Give the container or user access to the device files again (in a container, restart "
        "it); what was not seen is open, not zero."),
     NULL},
    {"no_driver", OUTCOME_FAILED,
     N_("No driver for the GPU is loaded, or it is too old for what the program was built with."),
     N_("Install or load a driver that fits the CUDA version of the program, or start the "
        "container with access to the GPU."),
     NULL},
    {"no_gpu", OUTCOME_FAILED, N_("No GPU is visible to the program."),
     N_("Check CUDA_VISIBLE_DEVICES, the job's request for GPUs and the container's options."),
     NULL},
    {"host_oom", OUTCOME_HOST_OOM,
     N_("The memory of the machine, or what the container or job may use of it, was used up: the "
        "kernel or the scheduler "
        "says so, or an allocation of the program was refused."),
     N_("Compare the largest process and the tree's memory with the limit; load less at once, or "
        "rent more host memory. "
        "A refused size is a lower bound of the need."),
     NULL},
    {"host_oom_suspected", OUTCOME_KILLED,
     N_("A worker of the program was killed, and nobody who would know says why. Host memory is "
        "the usual cause, but it "
        "is not shown."),
     N_("Look for an oom-kill line in the kernel log, the oom_kill counter of the cgroup or the "
        "scheduler's record; "
        "compare the memory curve with the limit."),
     NULL},
    {"shm_full", OUTCOME_SHM_EXHAUSTED,
     N_("Shared memory (/dev/shm) was full. Host and GPU memory may still have been free."),
     N_("Check the size of /dev/shm with 'df -h /dev/shm'; give the container more with --shm-size "
        "or --ipc=host, or use "
        "fewer data loader workers."),
     "crash"},
    {"disk_full", OUTCOME_DISK_FULL,
     N_("A file system had no space or no inodes left, or a quota was used up."),
     N_("Check the mount that holds the path, its inodes and the quota ('df -h', 'df -i', "
        "'quota'): a full small mount "
        "beside a large empty disk is usual."),
     NULL},
    {"disk_low", OUTCOME_FAILED,
     N_("A warning that a file will not fit on the disk; the run may fail later."),
     N_("Free space or point the cache to a larger mount before the run."), NULL},
    {"storage_lost", OUTCOME_FAILED,
     N_("A file system that the run used went away or answered with an error."),
     N_("Check whether the mount is there again; network storage that went away once can do so "
        "again: keep results on a local disk until the end. Error 5 without a path can also be a "
        "terminal that went away."),
     NULL},
    {"access_gated", OUTCOME_ACCESS_DENIED,
     N_("Weights or data are gated: an account must be logged in (401) or approved by their owners "
        "(403)."),
     N_("401: log in on this machine; 403: ask for access on the page of the repository and wait "
        "for a person. Both are "
        "time to plan for."),
     "access_unknown"},
    {"access_unknown", OUTCOME_ACCESS_DENIED,
     N_("Access was refused; whether the address is wrong, a login is missing or a permission, "
        "cannot be told from the "
        "message."),
     N_("Check the name first, then the login on this machine, then whether the account was given "
        "access."),
     NULL},
    {"dependency_missing", OUTCOME_DEPENDENCY,
     N_("A module, library, symbol or program that the run needs is not there or does not fit the "
        "others."),
     N_("Install what is named, in the environment that ran; compare versions with the lock file "
        "of the repository. "
        "A repeat without a change fails again."),
     NULL},
    {"slurm_timeout", OUTCOME_KILLED,
     N_("Slurm ended the job at its time limit; the elapsed time is a lower bound of the need."),
     N_("Ask for more time, or cut the work; the run is no measurement of the full duration."),
     NULL},
    {"slurm_preempted", OUTCOME_PREEMPTED,
     N_("Slurm gave the resources to another job. The time is lost effort unless a checkpoint was "
        "written."),
     N_("Repeat it, or use a partition without preemption; count the lost time."), NULL},
    {"slurm_node_fail", OUTCOME_LOST,
     N_("The node failed under the job: not a failure of the program."),
     N_("Repeat it on another node; the time is lost effort."), NULL},
    {"slurm_unkillable", OUTCOME_KILLED,
     N_("A process of the job did not end on SIGKILL, usually because of a stuck file system or "
        "GPU."),
     N_("Have the node checked before using it again."), NULL},
    {"slurm_abort", OUTCOME_FAILED,
     N_("Slurm ended the other tasks because one had ended badly: a consequence, the cause stands "
        "elsewhere."),
     N_("Look for the first error before this line, in the output of each rank."), NULL},
    {"crash", OUTCOME_FAILED,
     N_("The program died of a fault of its own (invalid memory access, failed check, unsupported "
        "instruction)."),
     N_("Repeat once; if it recurs, suspect native libraries that do not fit each other or the "
        "processor."),
     NULL},
    {"killed", OUTCOME_KILLED,
     N_("SIGKILL ended a process; who sent it is not shown by this line. It is not necessarily a "
        "lack of memory."),
     N_("Look in the kernel log, the cgroup's oom_kill counter or the scheduler's record before "
        "blaming memory."),
     NULL},
    {"terminated", OUTCOME_KILLED,
     N_("SIGTERM, or SIGHUP, ended a process: somebody or something outside asked it to stop "
        "(scheduler, container stop, time limit, a closed terminal)."),
     N_("Ask who ended it: the scheduler's record, a time limit, a container stop."), NULL},
};

const struct incident_info *incident_info(const char *name) {
    for (size_t i = 0; i < ARRAY_LENGTH(infos); i++)
        if (strcmp(infos[i].name, name) == 0)
            return &infos[i];
    return NULL;
}

size_t incident_info_count(void) {
    return ARRAY_LENGTH(infos);
}

const struct incident_info *incident_info_at(size_t index) {
    return index < ARRAY_LENGTH(infos) ? &infos[index] : NULL;
}
