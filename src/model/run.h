/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run as a reader sees it: what the records of one journal say, folded (journal/fold.h).
 * Nothing here is stored; it is derived anew whenever it is read. Plain facts (ids, names, the
 * command) stay the JSON the record holds; everything a reader may take for a measured fact is a
 * quantity.
 */
#pragma once

#include "model/outcome.h"
#include "model/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Phases in the order of DESIGN section 1. Details ("compute/decode") belong to the phase before
 * the slash. */
enum phase {
    PHASE_SETUP = 0,
    PHASE_TRANSFER,
    PHASE_DATA,
    PHASE_LOAD,
    PHASE_PREPROCESS,
    PHASE_COMPUTE,
    PHASE_WRITE,
    PHASE_EVALUATE,
    PHASE_FIX,
    PHASE_TEARDOWN,
    PHASE_UNATTRIBUTED, /* time no rule explains */
    PHASE_COUNT_
};
const char *phase_name(enum phase phase);
/* Accepts "load" and "compute/decode"; false for anything else and for "unattributed". */
bool phase_from_name(const char *name, enum phase *ret_phase);

/* One stretch of time in which exactly one phase holds; start and end are seconds since the start
 * of the run. */
struct run_phase {
    enum phase phase;
    const char *name;   /* with detail: "compute/decode" */
    const char *source; /* "mark", "pattern", "option", "none" */
    double start_s, end_s;
};

struct run_incident {
    const char *name; /* of text/incident.h */
    const char *line; /* the line that shows it, masked; may be NULL */
    json_t *figures; /* borrowed object (requested, free, capacity, limit, path …), may be NULL */
    bool survived;
};

struct run_gap {
    const char *what;   /* "samples", "text", "recorder", … */
    const char *reason; /* one sentence */
    double start_s, end_s;
};

/* A sampled curve, times in seconds since the start of the run. */
struct run_series {
    const char *name; /* "tree.pss", "tree.cpu", "io.read", … (docs/measurement.md) */
    const char *unit;
    const char *device; /* GPU UUID or NULL */
    bool is_counter;    /* cumulative; gauge otherwise */
    const double *time_s;
    const double *value; /* NaN where a tick has no value */
    size_t count;
};

struct run_result {
    const char *name;
    struct quantity quantity; /* method "mark" */
};

enum run_validity { RUN_UNCHECKED = 0, RUN_VALID, RUN_INVALID };

/* What a record tells by yes or no, where it tells it. */
enum run_known { RUN_NOT_KNOWN = 0, RUN_YES, RUN_NO };

/* Why a GPU had nothing to do (docs/measurement.md, "Busy and idle"); names in the JSON. */
enum gpu_idle {
    GPU_IDLE_BEFORE_FIRST_USE = 0, /* "before-first-use" */
    GPU_IDLE_AFTER_LAST_USE,       /* "after-last-use" */
    GPU_IDLE_HOST_BUSY,            /* "host-busy" */
    GPU_IDLE_DISK_WAIT,            /* "disk-wait" */
    GPU_IDLE_NETWORK,              /* "network" */
    GPU_IDLE_UNKNOWN,              /* "unknown" */
    GPU_IDLE_COUNT_
};
const char *gpu_idle_name(enum gpu_idle cause);

/* The memory quantities of a GPU. They are different things and are never added, subtracted or put
 * in each other's place. */
struct gpu_memory {
    struct quantity device_used;  /* all processes, as the driver counts it */
    struct quantity process_used; /* sum over the run's processes, as the driver counts it */
    struct quantity allocated;    /* by tensors, as the framework's allocator counts it */
    struct quantity reserved;     /* held by the framework's allocator */
};

/* One device in one phase; idle_by[cause] is a measured 0 where idle was seen without that cause,
 * and open where busy and idle are. */
struct run_gpu_phase {
    bool entered; /* the run was in this phase; false: nothing below says anything */
    struct gpu_memory memory;
    struct quantity busy, idle, idle_by[GPU_IDLE_COUNT_];
};

/* What held the clocks of a GPU down: shares of the samples. */
struct run_gpu_held {
    const char *name; /* "power-cap", "thermal", … in the JSON */
    struct quantity share;
};
#define RUN_GPU_HELD_MAX 5

/* One device that was the run's, or may have been; or one entry without a uuid that says why there
 * is none. */
struct run_gpu {
    const char *uuid, *name; /* NULL: not told */
    int index;               /* of the driver; -1: none */
    struct quantity total, device_used, process_used, allocated, reserved, busy, idle, energy;
    const char *kind;                      /* "gpu", "mig"; NULL: no device */
    const char *bus_id, *parent, *mine_by; /* parent: uuid of a slice's board; NULL: not told */
    bool stand_in;                         /* no real device: never evidence */
    enum run_known mine;                   /* RUN_NOT_KNOWN or RUN_YES: others' are not listed */
    enum run_known preallocated; /* RUN_YES: its memory is a plateau from the start: an allowance of
                                    the program, and no need */
    enum run_known others;       /* other users of the device during the run */
    struct quantity baseline;    /* in use before the command started */
    struct quantity left;        /* still held by the run's processes after its end */
    struct quantity unseen;      /* time of the run in which nobody knows busy from idle */
    enum run_known unified;      /* its memory is the host's */
    const char *virtual_mode;    /* "passthrough", "vgpu", "wsl"; NULL: a board, or not told */
    struct quantity ecc;         /* uncorrected memory errors during the run */
    struct run_gpu_held held[RUN_GPU_HELD_MAX]; /* only those that did */
    size_t held_count;
    struct quantity idle_by[GPU_IDLE_COUNT_];
    struct run_gpu_phase by_phase[PHASE_COUNT_];
};

/* A file of weights that was seen in use, or that was named as input. */
struct run_weight_file {
    const char *path, *storage; /* storage: kind of it ("nvme", "rotational", "nfs", …) or NULL */
    double bytes;               /* below 0: not told */
    const char *source;         /* "python-hook", "slow-reader", "input" */
};

enum run_weights { RUN_WEIGHTS_UNKNOWN = 0, RUN_WEIGHTS_COLD, RUN_WEIGHTS_WARM };
/* Did the weights come from storage (cold) or from memory (warm). */
struct run_cache {
    enum run_weights weights;
    const char *why;        /* one sentence, translated: the rule's figures, or why it is unknown */
    const char *storage;    /* that holds the weights; NULL: not known, or of several kinds */
    struct quantity bytes;  /* size of the files below */
    struct quantity loaded; /* bytes read from storage during load */
    const struct run_weight_file *files;
    size_t file_count;
};

struct run {
    struct arena *arena; /* owns everything below */
    /* the records' JSON, owned (json_decref in run_free); objects never NULL, maybe empty */
    json_t *header, *start, *environment, *end;
    json_t *kept; /* array, owned (json_decref in run_free): records that figures of incidents
                     borrow from; may be NULL */

    const char *id, *part, *study;        /* study NULL without a plan */
    int64_t started_utc_ns, ended_utc_ns; /* ended 0: not known */
    bool running;

    enum outcome_class outcome;
    bool has_exit_code;
    int exit_code; /* of the command; only with has_exit_code */
    int signal;    /* that ended the command; 0: none known */
    struct run_incident *incidents;
    size_t incident_count;

    const char *const *tail; /* the last lines of its output, masked; of standard error if it wrote
                                there */
    size_t tail_count;

    enum run_validity validity; /* by annotations */
    const char *validity_who, *validity_why;
    const char *verified; /* "yes", "no", "not-checked" */
    const char *disposition;
    const char *note; /* the latest annotation's, else the start record's; NULL: none */
    json_t *changes;  /* array of texts: start record's and annotations', owned */

    /* time */
    struct quantity wall, command, result_complete;
    struct quantity
        phase[PHASE_COUNT_]; /* sums; open (not-separated) without any rule; parts add up to wall */
    struct run_phase *phases;
    size_t phase_count;
    /* where nothing told the phases apart: what is known of the reason, and what to do about just
     * that; translated, NULL: nothing more than that */
    const char *apart_why, *apart_remedy;
    bool lines_came_together; /* output patterns told nothing, because the output was buffered */

    /* host */
    struct quantity cpu, largest_process_rss, tree_pss, cgroup_charged;
    struct quantity io_read, io_written, io_read_chars, io_written_chars, processes;

    struct run_gpu *gpus; /* the run's own, at least one entry: without a device it says why */
    size_t gpu_count;
    size_t gpu_others; /* further devices of the machine that are not the run's */
    /* names of --gpu that no device has, and that several have; and a sentence that says so, with
     * what is there, translated; NULL: none */
    const char *const *gpu_not_found, *const *gpu_ambiguous;
    size_t gpu_not_found_count, gpu_ambiguous_count;
    const char *gpu_names_why;
    struct run_cache cache;

    struct quantity work_items, work_length, work_batch; /* by marks */
    const char *work_shape;
    struct run_result *results;
    size_t result_count;

    struct quantity monitor_cpu;
    struct run_gap *gaps;
    size_t gap_count;
    struct run_series *series;
    size_t series_count;
};

/* Its figures speak of the run: it is the run's, or the only one that can be. Where whose it is was
 * not told among several, they may be anybody's. */
bool run_gpu_counts(const struct run *run, const struct run_gpu *gpu);

/* An empty run: an arena, empty objects, every quantity open. Replace an owned json_t with
 * json_decref() first. */
struct run *run_new(void) __attribute__((returns_nonnull));
struct run *run_free(struct run *run); /* accepts NULL; returns NULL */
void run_free_ptr(struct run **run);
#define AUTO_RUN __attribute__((cleanup(run_free_ptr)))
