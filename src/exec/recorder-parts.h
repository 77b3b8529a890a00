/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorder's state and the files it is spread over. Shared by recorder*.c, start.c, finish.c,
 * evidence.c only. */
#pragma once

#include "exec/expect.h"
#include "exec/recorder.h"
#include "exec/slow-reader.h"
#include "exec/text-channel.h"
#include "journal/chunk.h"
#include "journal/journal.h"
#include "probe/cgroup.h"

#include <stdbool.h>
#include <stdint.h>

#define SLOW_SAMPLES_MAX 10u

struct slow_samples {
    size_t count;
    int64_t time_ns[SLOW_SAMPLES_MAX];
    int64_t value[SLOW_COUNT_][SLOW_SAMPLES_MAX];
    bool looked[SLOW_SAMPLES_MAX]; /* at memory, too */
};

/* What a journal already holds when a new recorder goes on with it. */
struct recorder_past {
    bool has_start, has_environment, has_end;
    bool has_host_series, has_slow_series;
    bool has_gpu_probe;                     /* a DEVICE record of what can be watched */
    uint32_t gpu_series[SHARED_GPUS];       /* bit by item: the series of this device is defined */
    bool has_ready_load, has_ready_compute; /* PHASE records of --ready */
    long marks_offset;
    json_t *incidents; /* names with their source, so that none is written twice; owned */
};

struct recorder {
    const struct recorder_context *context;
    const struct exec_options *options;
    struct shared *shared;
    struct journal_writer writer;
    struct chunk_coder coder; /* of the CHUNKs in writer */
    struct recorder_past past;

    int marks_fd;
    int marks_watch;       /* inotify: somebody wrote a mark; -1: looked at once a second */
    int64_t marks_wait_ns; /* CLOCK_MONOTONIC: not woken by marks before */
    struct text_channel *channel[SHARED_CHANNELS]; /* NULL: nothing to read there */
    const struct expectations *expectations;

    /* memory control group */
    bool has_own_group;
    struct cgroup_place group; /* version 0: none */
    struct cgroup_memory group_before;
    bool has_group_end; /* read once for all last records */
    struct cgroup_memory group_end;
    int kernel_log_fd; /* /dev/kmsg, behind its last line at the start; -1: not readable */

    /* helpers of ours */
    pid_t slow_reader;
    int slow_fd;
    unsigned slow_starts;
    int64_t slow_last_ns;         /* t_ns of its last sample; -1: none */
    struct slow_samples *samples; /* not written yet */
    bool pss_denied;
    pid_t environment_reader;
    int environment_fd;
    struct strbuf environment;
    struct gpu_watch *gpu;                /* NULL: not begun; owned */
    struct result_before *results_before; /* as options->results; NULL: none; owned */
    struct ready *ready;                  /* NULL: nothing is waited for; owned */
    json_t *diff;                         /* DIFF payload for the very end; NULL: none; owned */

    int64_t next_second_ns, next_ten_ns, next_counters_ns; /* CLOCK_MONOTONIC */
    int64_t children_cpu_ns;                               /* of ended environment readers */
    unsigned killed, killed_workers;                       /* SIGKILL from somebody else than us */
    pid_t killed_pid;                                      /* the last of them */
    uint64_t lost_records;                                 /* that did not fit on the disk */
    int64_t lost_from_t_ns;
};

/* ---- recorder.c ---- */
int64_t recorder_t_ns(const struct recorder *recorder); /* now, since the run's start */
/* Appends a record; without room it is counted and becomes a GAP. Takes the object. */
bool recorder_write(struct recorder *recorder, enum journal_kind kind, json_t *take_payload,
                    bool last);
/* reason: English, looked up when it is shown (N_); count: how many were lost, 0: cannot be
 * counted. */
void recorder_write_gap(struct recorder *recorder, const char *what, int64_t from_t_ns,
                        int64_t to_t_ns, const char *reason, uint64_t count);
void recorder_write_incident(struct recorder *recorder, const char *name, const char *source,
                             const char *line, json_t *take_figures, bool survived);

/* Begins a journal in the first folder that takes one; false: none, shared->trouble says why. */
bool recorder_find_place(struct recorder *recorder);

/* ---- recorder-rescue.c ---- */
/* The journal still has its name, or was written again where there is a place. False: what is
 * written is lost. */
bool recorder_keep_place(struct recorder *recorder);

/* ---- recorder-rings.c: what the monitor left in the shared memory ---- */
void recorder_take_messages(struct recorder *recorder);
/* Ticks become CHUNKs of ten; all: what is left, too. */
void recorder_take_ticks(struct recorder *recorder, bool all);
/* First id of the series of the slow reader; those of the monitor have lower ones. */
extern const unsigned recorder_slow_id;
/* Of the series of GPUs, so many a device; below are the others. */
#define RECORDER_GPU_ID  64u
#define RECORDER_GPU_IDS 16u
/* False: it could not be written. */
bool recorder_write_chunk(struct recorder *recorder, const struct chunk *chunk);
void recorder_write_samples(struct recorder *recorder, const struct slow_samples *samples);
void recorder_take_marks(struct recorder *recorder, bool rest);
void recorder_write_counters(struct recorder *recorder, bool last);

/* ---- recorder-helpers.c ---- */
void recorder_start_slow_reader(struct recorder *recorder);
void recorder_read_samples(struct recorder *recorder, bool all);
void recorder_stop_slow_reader(struct recorder *recorder);
void recorder_start_environment(struct recorder *recorder);
/* True: it is complete (or given up) and its record is written. */
bool recorder_read_environment(struct recorder *recorder);
void recorder_reap(struct recorder *recorder);

/* ---- start.c ---- */
json_t *start_header(const struct recorder_context *context);
json_t *start_payload(const struct recorder *recorder);
/* A variable of what is measured (of a process that is attached to: its own); NULL: not set, or not
 * readable. */
const char *recorder_variable(const struct recorder *recorder, const char *name);

/* ---- evidence.c ---- */
/* Control group and kernel log as they are before the command starts. */
void evidence_begin(struct recorder *recorder, bool resumed);
json_t *evidence_cgroup_start(const struct recorder *recorder);
/* Adds the group's figures to a COUNTERS payload. */
void evidence_cgroup_now(const struct recorder *recorder, json_t *counters);
/* Incidents that control group, kernel log and wait status show. */
void evidence_finish(struct recorder *recorder);
void evidence_done(struct recorder *recorder);

/* ---- results.c: results out of files ---- */
/* How the files are before the command starts. */
void results_begin(struct recorder *recorder, bool resumed);
/* The command has ended: a MARK for each result that is there; the others as END's
 * `results_absent`. NULL: none were asked for. Takes 3 s at most. */
json_t *results_take(struct recorder *recorder);
void results_done(struct recorder *recorder);
json_t *results_to_start(const struct exec_options *options);

/* ---- finish.c ---- */
/* Everything that belongs before END, END, sync. `lost`: the monitor is gone without having said
 * how it ended. */
void finish_write(struct recorder *recorder, bool lost);
