/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the fold, shared by fold*.c only: what one pass over the records gathers, and who
 * makes what of it. */
#pragma once

#include "journal/fold.h"
#include "journal/journal.h"
#include "model/run.h"

struct fold {
    struct run *run;
    struct fold_shared *shared; /* NULL: none */
    bool live;
    bool ended;        /* there is an END and the monitor itself wrote it */
    bool has_end;      /* there is an END, maybe of a recorder whose monitor had died */
    int64_t last_t_ns; /* latest time in any record; -1: none */

    json_t *marks, *phases, *children; /* arrays of records, owned by fold_run */
    json_t *devices;  /* the last DEVICE of each accelerator, array owned by fold_run */
    json_t *probe;    /* the last DEVICE that says what can be watched, owned by fold_run; NULL */
    json_t *counters; /* latest value of each key of the COUNTERS, owned by fold_run */
    json_t *last_counters; /* the last COUNTERS alone, owned by fold_run; NULL: none */
    bool has_error_tail;   /* the run's tail is that of standard error, or of both */
    bool unreaped;         /* said by any COUNTERS */
    int64_t counters_t_ns; /* of the last COUNTERS; -1: none */

    /* from fold_time on */
    bool has_wall, wall_is_at_least;
    bool is_attached;     /* it had run before: what began at 0 began earlier */
    bool end_is_at_least; /* it may have gone on behind the end of the wall time */
    int64_t horizon_ns;   /* wall, or for a running run the time that is known so far */
};

/* Times beyond this (146 years) are damage or a lie. */
#define FOLD_T_LIMIT_NS (INT64_MAX / 2)

/* Non-negative integers only: what a garbled record claims is not read. ret is untouched when
 * false. */
bool fold_get_i64(const json_t *object, const char *key, int64_t *ret_value);
bool fold_has_survivors(const struct fold *fold);
double fold_seconds(int64_t ns);
const char *fold_text(struct fold *fold, const json_t *object,
                      const char *key); /* in the arena, or NULL */
void fold_add_gap(struct fold *fold, const char *what, const char *reason, int64_t from_ns,
                  int64_t to_ns);
/* Why a value that a finished record would hold is not there. */
enum quantity_reason fold_absence(const struct fold *fold);

extern const char *const fold_since_attached; /* to translate */
void fold_time(struct fold *fold);            /* wall, command */
void fold_phases(struct fold *fold);          /* phases, result_complete; after fold_time */
void fold_host(struct fold *fold);            /* cpu, memory, io, processes, monitor */
void fold_work(struct fold *fold);            /* items, length, batch, shape, results, bad marks */
void fold_series(struct fold *fold, const void *bytes, size_t length);
/* Latest tick of all CHUNKs; -1: none. */
int64_t fold_last_tick(const void *bytes, size_t length);

void fold_gpus(struct fold *fold, const void *bytes, size_t length);  /* after fold_phases */
void fold_cache(struct fold *fold, const void *bytes, size_t length); /* after fold_phases */

/* Curves outside the run's arena, in the order of definition (fold-series.c). */
struct fold_curve {
    uint32_t id;
    const char *name, *unit, *device, *method; /* in the run's arena; device, method may be NULL */
    bool is_counter;
    double per_unit, interval_s; /* interval_s 0: not told */
    double *time_s, *value;      /* NaN: no value */
    size_t count, capacity;
};
struct fold_curves {
    struct fold_curve *items;
    size_t count;
    uint64_t points;
    bool is_full; /* there was more than is read */
};
void fold_curves_done(struct fold_curves *curves);
#define AUTO_CURVES __attribute__((cleanup(fold_curves_done)))
typedef bool (*fold_wanted_fn)(const char *name);
/* wanted NULL: all. */
void fold_curves_read(struct fold *fold, const void *bytes, size_t length, fold_wanted_fn wanted,
                      struct fold_curves *ret_curves);

/* As journal_record_json; what other runs say as well is taken from `shared`, NULL: nothing. */
json_t *fold_shared_json(struct fold_shared *shared, const struct journal_record *record);
