/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stand-in's script: what README.md describes, read into arrays, and its values at a moment. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { DEVICES_MAX = 96, TEXT_MAX = 96 };

enum trace_item {
    ITEM_USED,
    ITEM_UTIL,
    ITEM_POWER,
    ITEM_ENERGY,
    ITEM_SM_CLOCK,
    ITEM_MEMORY_CLOCK,
    ITEM_REASONS,
    ITEM_ECC,
    ITEM_COUNT_
};

/* From `from` on; between `from` and `to` on the way from a to b. */
struct trace_point {
    int device;
    enum trace_item item;
    double from, to;
    uint64_t a, b;
    bool plus_processes; /* and what the processes use */
};

enum process_kind { PROCESS_COMPUTE, PROCESS_GRAPHICS, PROCESS_MPS };
struct trace_process {
    int device;
    double from, to; /* to: HUGE_VAL without an end */
    int64_t pid;     /* negative: line -pid of the file of pids */
    uint64_t used;   /* UINT64_MAX: not told */
    enum process_kind kind;
    uint32_t gpu_instance;
};

struct trace_event {
    int device;
    double at;
    uint64_t type, data;
};

struct trace_accounted {
    int device;
    double from;
    int64_t pid;
    uint64_t peak;
    uint32_t percent;
    uint64_t time_ms;
    bool running;
};

/* An error, or a delay: of functions whose name begins so, of a device (-1: any), in a window. */
struct trace_fault {
    char function[TEXT_MAX];
    int device, code;
    double from, to, delay_s;
};

struct trace_device {
    int parent;   /* -1: a board */
    int position; /* NVML's index, or the slice's on its board */
    char name[TEXT_MAX], uuid[TEXT_MAX], bus[32];
    uint64_t total, reserved;
    int minor, major_capability, minor_capability;
    int virtual_mode, persistence, ecc, mig, accounting; /* -1: not supported */
    unsigned power_limit_mw;                             /* 0: not supported */
    uint32_t gpu_instance, compute_instance;
    double window_s;
    bool rates_only;  /* no buffer of windows */
    bool dry;         /* the buffer holds no windows in which nothing ran */
    bool boot_stamps; /* its time stamps count from the boot */
};

struct trace {
    char driver[TEXT_MAX], nvml[TEXT_MAX];
    int cuda;
    int entry_bytes;                   /* of a list of processes of version 3; 0: as it should be */
    double exchange_from, exchange_to; /* the driver is exchanged; HUGE_VAL: it is not */
    char exchanged[TEXT_MAX];
    struct trace_device *device;
    struct trace_point *point;
    struct trace_process *process;
    struct trace_event *event;
    struct trace_accounted *accounted;
    struct trace_fault *fault;
    int devices, points, processes, events, accounteds, faults;
};

/* NULL: it cannot be read, or is not what README.md says; what is wrong goes to standard error. */
struct trace *trace_read(const char *path);
struct trace *trace_free(struct trace *trace);

/* False: the script says nothing of this item (then the function is not supported). */
bool trace_value(const struct trace *trace, int device, enum trace_item item, double t,
                 uint64_t *ret_value, bool *ret_plus_processes);
