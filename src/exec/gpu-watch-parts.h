/* SPDX-License-Identifier: GPL-3.0-or-later */
/* State of the recorder's side of the GPU helper. Shared by gpu-watch*.c only. What must outlive a
 * killed recorder is not here but in struct shared_gpu. */
#pragma once

#include "exec/gpu-facts.h"
#include "exec/gpu-messages.h"
#include "exec/gpu-watch.h"
#include "exec/recorder-parts.h"
#include "gpu/wire.h"
#include "probe/gpu-visible.h"
#include "probe/probe.h"

#define GPU_TICKS_MAX    128u
#define GPU_WINDOWS_KEPT 256u
#define GPU_EVENTS_MAX   32u
#define GPU_OTHERS_KEPT  8192u /* a power of two, above GPU_PROCESSES_ALL */
#define GPU_NAMES_KEPT   64u
#define GPU_CONTROL_FILE "/dev/nvidiactl"

#define GPU_ROWS_MAX    32u
#define GPU_ROW_COLUMNS 6u

/* Series of a device, in the order of their ids; those of one table or of the same rows have the
 * same ticks. */
enum gpu_item {
    GPU_USED = 0,
    GPU_USED_MIN,
    GPU_USED_MEAN,
    GPU_USED_MAX,
    GPU_POWER,
    GPU_ENERGY,
    GPU_CLOCK_SM,
    GPU_CLOCK_MEMORY,
    GPU_EVENTS,
    GPU_ECC,
    GPU_PROCESS_USED,
    GPU_OTHERS_USED,
    GPU_BUSY,
    GPU_ITEMS_
};
enum gpu_table_name { GPU_TABLE_USED = 0, GPU_TABLE_REDUCED, GPU_TABLES_ };
enum gpu_rows_name { GPU_ROWS_SECOND = 0, GPU_ROWS_PROCESSES, GPU_ROWS_ };

/* What one device was asked once a second, not written yet: the helper asks them one after the
 * other, so each has times of its own. */
struct gpu_rows {
    size_t ticks;
    int64_t time_ns[GPU_ROWS_MAX];
    int64_t value[GPU_ROW_COLUMNS][GPU_ROWS_MAX];
};

/* Memory of all devices, not written yet. A tick is one round over the devices. */
struct gpu_table {
    size_t ticks;
    int64_t time_ns[GPU_TICKS_MAX];
    bool told[GPU_DEVICES_MAX]; /* has its values in the last tick */
    int64_t *value;             /* [tick][device][column]; owned */
};

struct gpu_list { /* the driver's last list of processes */
    int64_t t_ns; /* SHARED_ABSENT: none */
    int64_t bytes;
    uint32_t count;
    int pids[SHARED_LEFT_PIDS]; /* of the run */
};

/* What one look at the processes has told so far: it may come in several messages. */
struct gpu_sums {
    int64_t t_ns;
    uint32_t taken;
    bool ours, others, foreign;
    bool ours_told, others_told; /* the sums are complete */
    int64_t ours_bytes, others_bytes;
    struct gpu_list list;
};

/* Zeroed until the helper tells of it: a run without GPUs shall not touch the memory of sixty-four.
 */
struct gpu_device {
    bool begun;
    bool told;              /* by the helper that runs now */
    bool dirty;             /* its DEVICE record must be written (again) ... */
    int64_t dirty_since_ns; /* ... soon */
    struct gpu_device_message message;
    struct gpu_visible_verdict said, written; /* by variables and the like; in the last record */
    int32_t why[GPU_ITEM_COUNT_];             /* of the last answers; GPU_READ: it was read */
    unsigned lists;
    int64_t first_list_t_ns;
    struct gpu_list list;
    struct gpu_sums sums; /* of the look that is being told */
    /* of the current second, after the first ten minutes; count 0: none */
    int64_t second, second_time_ns, min_bytes, max_bytes, sum_bytes, count;
    int64_t lost_t_ns;           /* SHARED_ABSENT: it is there */
    int64_t ecc_first, ecc_last; /* uncorrected errors as told; GPU_ABSENT: not yet */
    struct gpu_rows rows[GPU_ROWS_];
    /* windows of use, not written yet */
    size_t windows;
    int64_t window_t_ns[GPU_WINDOWS_KEPT], window_percent[GPU_WINDOWS_KEPT];
    int64_t window_last_t_ns;
    bool from_rates;
    int api; /* of the list of processes */
};

struct gpu_seen_event {
    uint32_t device;
    int32_t event;
    int64_t t_ns, data;
    char detail[256];
};

/* Are the driver's process ids ours? */
enum gpu_pids { GPU_PIDS_UNKNOWN = 0, GPU_PIDS_OURS, GPU_PIDS_FOREIGN };

struct gpu_watch {
    struct recorder *recorder;
    struct shared *shared;
    bool excluded; /* --gpu none */
    enum gpu_devices_shown shown;

    /* the helper */
    pid_t helper; /* 0: none runs */
    int fd, hurry_fd;
    int64_t hurried_ns; /* when it was asked for its last round; 0: not yet */
    bool done;          /* ... which is over */
    unsigned starts;
    int exit_status; /* of the last one; -1: none ended */
    int64_t retry_ns;
    bool given_up;
    struct gpu_stream stream;

    bool has_library, was_ready, probe_written;
    struct gpu_library_message library;
    int slot_of[GPU_DEVICES_MAX]; /* by the helper's number; -1: not told */
    struct gpu_device device[GPU_DEVICES_MAX];
    bool decide; /* devices have changed */
    /* names of --gpu, by place: what they stand for among the devices told so far */
    enum gpu_named named[GPU_NAMES_KEPT];
    bool names_known;

    /* from when on nothing was seen; SHARED_ABSENT: it is seen */
    int64_t unseen_t_ns;
    const char *unseen_reason;
    int64_t sample_t_ns, arrival_ns; /* of the last sample; arrival on CLOCK_MONOTONIC */
    /* late queries one after the other are one gap; from SHARED_ABSENT: none */
    int64_t late_from_t_ns, late_to_t_ns;
    int late_device;
    uint64_t late_count;

    enum gpu_pids pids;
    unsigned foreign_lists;
    pid_t others[GPU_OTHERS_KEPT]; /* not the run's, as found lately; by pid modulo length */
    int64_t others_until_ns;

    struct gpu_seen_event events[GPU_EVENTS_MAX];
    size_t event_count;
    struct gpu_table table[GPU_TABLES_];
    int64_t flush_ns; /* CLOCK_MONOTONIC */
};

/* ---- gpu-watch-start.c ---- */
/* Is there anything that a helper could open? A few system calls. */
bool gpu_start_is_worth_it(enum gpu_devices_shown shown);
/* Returns its pid or a negative errno; *ret_fd: our end of its pipe, not blocking. beside: a path
 * whose folder takes the program where it cannot run from memory; "": nowhere. *ret_hurry: what is
 * written there asks for a last round; -1: it cannot be asked. NULL: it will not be. */
pid_t gpu_start_helper(struct shared *shared, const char *beside, int *ret_fd, int *ret_hurry);
/* What the vendor's library has left behind must not stay, nor count as the run's: processes that
 * lost their parent come to us, and are ended as soon as the helper is gone. */
void gpu_orphans_adopt(void);
void gpu_orphans_end(struct gpu_watch *watch, int64_t patience_ns);
#define GPU_EXIT_NOT_STARTED 127

/* ---- gpu-watch-device.c ---- */
/* The entry for a device of the helper's; NULL: there is no room. */
struct gpu_device *gpu_device_take(struct gpu_watch *watch,
                                   const struct gpu_device_message *message);
/* By the helper's number; NULL: it has not told of it. */
struct gpu_device *gpu_device_find(struct gpu_watch *watch, uint32_t number);
size_t gpu_device_slot(const struct gpu_watch *watch, const struct gpu_device *device);
const char *gpu_device_name(const struct gpu_watch *watch, size_t slot, char ret_text[24]);
struct gpu_visible_verdict gpu_device_mine(const struct gpu_watch *watch, size_t slot);
void gpu_device_changed(struct gpu_device *device);
/* Whose the devices are, and the DEVICE records that are due; all: those that wait for more, too.
 */
void gpu_device_write(struct gpu_watch *watch, bool all);
void gpu_device_write_probe(struct gpu_watch *watch, bool last);

/* ---- gpu-watch-series.c ---- */
/* One row: a value for each column. */
void gpu_rows_add(struct gpu_watch *watch, enum gpu_rows_name name, size_t slot, int64_t t_ns,
                  const int64_t *values);
void gpu_series_used(struct gpu_watch *watch, size_t slot, int64_t t_ns, int64_t bytes);
void gpu_series_windows(struct gpu_watch *watch, size_t slot,
                        const struct gpu_windows_message *message);
void gpu_series_write(struct gpu_watch *watch, bool all);
void gpu_series_done(struct gpu_watch *watch);

/* ---- gpu-watch-processes.c ---- */
void gpu_processes_begin(struct gpu_watch *watch);
void gpu_processes_take(struct gpu_watch *watch, struct gpu_device *device,
                        const struct gpu_processes_message *message);
bool gpu_process_is_ours(struct gpu_watch *watch, int64_t pid);
/* A process of the run that the driver showed is still there. */
bool gpu_processes_are_left(const struct gpu_watch *watch);
void gpu_processes_finish(struct gpu_watch *watch);
