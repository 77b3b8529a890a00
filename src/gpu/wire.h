/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the GPU helper tells the recorder. The helper (`pl-gpu`) is a small dynamic program of its
 * own: it opens the vendor's library at run time, asks, and writes fixed-size messages into a pipe.
 * It may hang in the driver for as long as it likes: nobody waits for it; a message that is late is
 * a gap. Every message is at most PIPE_BUF bytes and one write(2), so it arrives whole or not at
 * all (pipe(7)). Both sides are of one build: no byte order, no versions but GPU_WIRE_VERSION.
 *
 * Units: bytes, nanoseconds of CLOCK_MONOTONIC (absolute), milliwatts, millijoules, MHz, percent.
 * GPU_ABSENT is a value that was not read; the reason stands in the message's `why` of that item.
 * Texts are NUL-terminated, "" where not read.
 */
#pragma once

#include <stdint.h>

#define GPU_WIRE_VERSION  1u
#define GPU_ABSENT        INT64_MIN
#define GPU_DEVICES_MAX   64u /* boards and slices */
#define GPU_TEXT          96u
#define GPU_PROCESSES_MAX 150u  /* in one message: a longer list comes in several ... */
#define GPU_PROCESSES_ALL 4096u /* ... up to so many; `total` tells how many there are */
#define GPU_WINDOWS_MAX   200u

/* Why something was not read. Names in the record: reasons of schema/quantity.schema.json. */
enum gpu_why {
    GPU_READ = 0,        /* it was read */
    GPU_NOT_SUPPORTED,   /* the device or driver does not have it (MIG, vGPU, GeForce, Jetson) */
    GPU_NOT_PERMITTED,   /* no permission */
    GPU_NOT_VISIBLE,     /* hidden: container, WSL, other PID namespace */
    GPU_NOT_IN_LIBRARY,  /* the library has no such function (old driver) */
    GPU_SENTINEL,        /* the driver answered with a blank or an impossible value */
    GPU_UNIFIED,         /* device memory is the host's: no figure of its own (GB10, Jetson) */
    GPU_LOST,            /* the board has fallen off the bus or needs a reset */
    GPU_DRIVER_MISMATCH, /* the driver was exchanged under the running library */
    GPU_FAILED,          /* any other error; detail says which */
    GPU_WHY_COUNT_
};

/* State of the library as a whole. */
enum gpu_library {
    GPU_LIBRARY_READY = 0,
    GPU_LIBRARY_ABSENT,        /* no such library on this machine */
    GPU_LIBRARY_NO_DRIVER,     /* library there, driver not loaded */
    GPU_LIBRARY_MISMATCH,      /* library and kernel module are of different versions */
    GPU_LIBRARY_NO_PERMISSION, /* device nodes not accessible */
    GPU_LIBRARY_UNUSABLE,      /* opened, but a needed function is missing, or it failed */
    GPU_LIBRARY_COUNT_
};

enum gpu_message_kind {
    GPU_MESSAGE_LIBRARY = 1, /* first, and again whenever the state changes */
    GPU_MESSAGE_DEVICE,      /* once a device; again when a fact changed (lost, MIG mode) */
    GPU_MESSAGE_SAMPLE,      /* memory at 10 Hz; power, clocks, counters at 1 Hz in the same */
    GPU_MESSAGE_PROCESSES,   /* at 1 Hz */
    GPU_MESSAGE_WINDOWS,     /* utilisation windows out of the driver's buffer, at 1 Hz */
    GPU_MESSAGE_EVENT,       /* Xid, ECC, lost */
    GPU_MESSAGE_ACCOUNTING,  /* a process's peak out of the driver's accounting, where enabled */
    GPU_MESSAGE_LATE,        /* a query took long: nothing was seen meanwhile */
    GPU_MESSAGE_DONE,        /* the round that was asked for is over: nothing comes any more */
};

struct gpu_head {
    uint32_t kind, size; /* size: of the whole message */
};

struct gpu_library_message {
    struct gpu_head head;
    uint32_t version;      /* GPU_WIRE_VERSION */
    int32_t state;         /* enum gpu_library */
    int32_t code;          /* the library's own code; 0: none */
    uint32_t device_count; /* boards, that failed ones included; with READY only */
    uint32_t unwatched;    /* boards and slices beyond GPU_DEVICES_MAX: not told of */
    uint32_t pad;
    int64_t t_ns;
    int64_t helper_pid;
    int64_t cuda;                             /* 12040 is 12.4; GPU_ABSENT */
    char driver[GPU_TEXT], library[GPU_TEXT]; /* "550.54.15", NVML's own version */
    char path[256];                           /* of the library that was opened */
    char detail[256];                         /* English: what the library said */
};

enum gpu_kind { GPU_KIND_BOARD = 0, GPU_KIND_MIG };
enum gpu_virtual {
    GPU_VIRTUAL_UNKNOWN = 0,
    GPU_VIRTUAL_NONE,
    GPU_VIRTUAL_PASSTHROUGH,
    GPU_VIRTUAL_VGPU,
    GPU_VIRTUAL_WSL
};
enum gpu_device_item {
    GPU_ITEM_MEMORY = 0, /* total and used */
    GPU_ITEM_PROCESSES,
    GPU_ITEM_UTILIZATION,
    GPU_ITEM_POWER,
    GPU_ITEM_ENERGY,
    GPU_ITEM_CLOCKS,
    GPU_ITEM_EVENTS, /* event (throttle) reasons */
    GPU_ITEM_ECC,
    GPU_ITEM_ACCOUNTING,
    GPU_ITEM_NAME,
    GPU_ITEM_UUID,
    GPU_ITEM_COUNT_
};

struct gpu_device_message {
    struct gpu_head head;
    uint32_t device; /* number within this run: 0, 1, … boards in NVML's order, then slices */
    int32_t kind;    /* enum gpu_kind */
    int32_t parent;  /* number of a slice's board; -1: a board */
    int32_t virtual_mode; /* enum gpu_virtual */
    int32_t unified;      /* 1: memory shared with the host; 0: own; -1: not known */
    int32_t mig_mode;     /* 1 on, 0 off, -1 not known */
    int32_t memory_api;   /* 2: nvmlDeviceGetMemoryInfo_v2; 1: the old call, whose used holds the
                             driver's reserve */
    int32_t persistence;  /* 1, 0, -1 */
    int32_t lost;         /* 1: it does not answer any more */
    int64_t t_ns;
    int64_t index,
        minor; /* NVML's index (of its board for a slice); /dev/nvidiaMINOR; GPU_ABSENT */
    int64_t gpu_instance, compute_instance; /* of a slice; GPU_ABSENT */
    int64_t total_bytes, reserved_bytes,
        used_bytes; /* used: before anything of the run is seen, where it was read then */
    int64_t power_limit_mw;
    int64_t capability_major, capability_minor; /* CUDA compute capability */
    int64_t ecc_enabled;                        /* 1, 0, GPU_ABSENT */
    int32_t why[GPU_ITEM_COUNT_];               /* enum gpu_why of each item */
    char uuid[GPU_TEXT], name[GPU_TEXT], bus_id[GPU_TEXT];
    char detail[256];
};

struct gpu_sample_message {
    struct gpu_head head;
    uint32_t device;
    int32_t memory_why, power_why, energy_why, clock_why, events_why, ecc_why; /* enum gpu_why */
    int64_t asked_ns, answered_ns; /* around the memory query */
    int64_t used_bytes, total_bytes;
    /* GPU_ABSENT in the samples between the seconds, too (with why GPU_READ) */
    int64_t power_mw, energy_mj;
    int64_t clock_sm_mhz, clock_memory_mhz;
    int64_t event_reasons;   /* bits of nvml.h, nvmlClocksEventReason* */
    int64_t ecc_uncorrected; /* volatile, since the driver was loaded */
};

struct gpu_process {
    int64_t pid;          /* as the driver says it: the host's, maybe not of our PID namespace */
    int64_t bytes;        /* GPU_ABSENT: the driver does not tell it */
    int64_t gpu_instance; /* GPU_ABSENT: no slice */
};
struct gpu_processes_message {
    struct gpu_head head;
    uint32_t device, count, total; /* count entries here, total there are */
    int32_t why;
    int32_t api; /* 3, 2, 1: suffix of nvmlDeviceGetComputeRunningProcesses; 0: of another call */
    uint32_t first; /* so many of the same look were in the messages before */
    int64_t t_ns;   /* of the look: the same in all its messages */
    struct gpu_process process[GPU_PROCESSES_MAX];
};

struct gpu_window {
    int64_t end_ns;  /* CLOCK_MONOTONIC: the end of the window, from the driver's time stamp */
    int32_t percent; /* of the window in which at least one kernel ran */
    int32_t pad;
};
struct gpu_windows_message {
    struct gpu_head head;
    uint32_t device, count;
    int32_t why;
    int32_t from_rates; /* 1: one reading of nvmlDeviceGetUtilizationRates, no buffer */
    int64_t asked_ns;
    struct gpu_window window[GPU_WINDOWS_MAX];
};

enum gpu_event { GPU_EVENT_XID = 1, GPU_EVENT_ECC_DOUBLE, GPU_EVENT_LOST, GPU_EVENT_BACK };
struct gpu_event_message {
    struct gpu_head head;
    uint32_t device;
    int32_t event;      /* enum gpu_event */
    int64_t t_ns, data; /* Xid number */
    char detail[256];
};

struct gpu_accounting_message {
    struct gpu_head head;
    uint32_t device, pad;
    int64_t pid, peak_bytes, gpu_percent, time_ms; /* GPU_ABSENT where not read */
};

struct gpu_late_message {
    struct gpu_head head;
    int32_t device; /* -1: the library as a whole */
    int32_t pad;
    int64_t from_ns, to_ns;
    char what[GPU_TEXT]; /* the call */
};

struct gpu_done_message {
    struct gpu_head head;
};

#define GPU_MESSAGE_MAX 4096u
