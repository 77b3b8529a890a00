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

/* GPU fields of one device; every one is open until probing is built in. */
struct run_gpu {
    const char *uuid, *name;
    int index;
    struct quantity total, device_used, process_used, allocated, reserved, busy, idle, energy;
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
    bool lines_came_together; /* output patterns told nothing, because the output was buffered */

    /* host */
    struct quantity cpu, largest_process_rss, tree_pss, cgroup_charged;
    struct quantity io_read, io_written, io_read_chars, io_written_chars, processes;

    struct run_gpu *gpus; /* at least one open entry: "GPU probing not built in" */
    size_t gpu_count;

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

/* An empty run: an arena, empty objects, every quantity open. Replace an owned json_t with
 * json_decref() first. */
struct run *run_new(void) __attribute__((returns_nonnull));
struct run *run_free(struct run *run); /* accepts NULL; returns NULL */
void run_free_ptr(struct run **run);
#define AUTO_RUN __attribute__((cleanup(run_free_ptr)))
