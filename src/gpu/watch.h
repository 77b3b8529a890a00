/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The helper's state, and its parts: devices.c finds boards and slices and tells their facts;
 * samples.c asks what changes; events.c what the driver reports by itself. Each query may hang; one
 * that took long is told as LATE. An error of one item, or of one board, stays there.
 */
#pragma once

#include "gpu/library.h"
#include "gpu/out.h"
#include "gpu/values.h"

enum { ACCOUNTED_MAX = 256 };

/* One thing that is asked of a device. */
struct item {
    enum gpu_why why;
    int64_t ask_ns; /* not before: it said something lasting */
};

struct accounted {
    uint32_t pid;
    bool ended;
    int64_t peak_bytes, percent, time_ms;
};

struct device {
    nvml_device handle; /* NULL: not to be had */
    struct gpu_device_message facts, sent;
    struct item item[GPU_ITEM_COUNT_];
    bool told;          /* DEVICE was sent */
    bool seen;          /* in this look at what there is */
    bool asked;         /* it has answered: the facts that do not change were read */
    bool rates;         /* no buffer of samples: utilization by single readings */
    bool has_events;    /* registered for Xid and ECC events */
    int process_api;    /* suffix that answered; 0: none yet */
    int64_t memory_ns;  /* not before: next query of a lost board */
    int64_t slow_ns;    /* next query of what is read once a second */
    uint64_t window_us; /* the driver's time stamp of the newest window seen; 0: none yet */
    int64_t windows_ns; /* when one was seen last, or the first look */
    struct accounted accounted[ACCOUNTED_MAX];
    uint32_t accounted_count;
    bool accounting_begun;
};

struct watch {
    struct out out;
    struct nvml nvml;
    int64_t interval_ns;
    int64_t asked_ns;      /* when the query began that runs now, or ran last */
    enum gpu_library lost; /* not READY: an answer said that the library is of no use any more */
    int lost_code;
    enum gpu_virtual around; /* WSL; else UNKNOWN: the board knows */
    struct device device[GPU_DEVICES_MAX];
    uint32_t count;
    uint32_t unwatched, unwatched_told; /* beyond the table */
    int64_t refresh_ns;
    nvml_event_set events;
    int64_t events_ns;
    unsigned char *processes;                      /* room for the driver's list */
    uint32_t processes_max;                        /* entries of the longest layout */
    struct gpu_process process[GPU_PROCESSES_ALL]; /* of the list that was read last */
};

#define SECOND_NS 1000000000LL

/* Around each call: notes how long it took and what the code says of the library as a whole. */
void watch_asking(struct watch *watch);
int watch_answered(struct watch *watch, const struct device *device, const char *what, int code);
/* The code of a call; NVML_FUNCTION_NOT_FOUND where the library does not have it. */
#define ASK(watch, device, function, ...)                                            \
    ((watch)->nvml.call.function == NULL                                             \
         ? NVML_FUNCTION_NOT_FOUND                                                   \
         : (watch_asking(watch), watch_answered((watch), (device), "nvml" #function, \
                                                (watch)->nvml.call.function(__VA_ARGS__))))

/* Finds boards and slices, keeping the numbers of those that were known by their UUID; again:
 * handles are of a library that was opened anew. Tells what is new or has changed. */
void devices_find(struct watch *watch, bool again);
void device_tell(struct watch *watch, struct device *device);
void device_is_lost(struct watch *watch, struct device *device, int code);
void device_is_back(struct watch *watch, struct device *device);
uint32_t device_number(const struct watch *watch, const struct device *device);

/* True: the item may be asked now. */
bool item_due(const struct device *device, enum gpu_device_item item);
/* Notes the answer of an item and returns its reason. */
enum gpu_why item_answered(struct device *device, enum gpu_device_item item, int code);

struct memory {
    enum gpu_why why;
    int code;
    int64_t asked_ns, answered_ns, total_bytes, used_bytes, reserved_bytes;
};
void memory_read(struct watch *watch, struct device *device, struct memory *ret);
/* Asks what is due of one device and tells it, DEVICE first where it has changed. */
void device_sample(struct watch *watch, struct device *device);

/* One look at the running processes with their memory, which are in watch->process. */
struct processes {
    enum gpu_why why;
    int api;
    uint32_t count, total; /* count: that were kept */
    int64_t t_ns;
};
void processes_read(struct watch *watch, struct device *device, struct processes *ret);
void processes_tell(struct watch *watch, const struct device *device,
                    const struct processes *processes);
/* Peaks out of the driver's accounting, where it is enabled; those that are new are told. */
void accounting_sample(struct watch *watch, struct device *device);

void events_open(struct watch *watch);
void events_register(struct watch *watch, struct device *device);
void events_take(struct watch *watch);
void events_forget(struct watch *watch);
void event_tell(struct watch *watch, struct device *device, enum gpu_event event, int64_t data,
                const char *detail);
