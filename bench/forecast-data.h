/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of repeated runs for the forecast's benches: a folder of CSV files, columns as in
 * shared/data/forecast/README.md, read into sources, groups (one condition each) and attempts.
 * Which groups make which half, and which a matrix, is decided here alone, so that replay and score
 * agree. Numbers come from the files; what a file leaves empty is NAN (open), never 0.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORECAST_DATA_HEADER \
    "source,group,run_index,seconds,outcome,size,peak_gpu_mem_mib,notes,family"
#define FORECAST_DATA_SEED UINT64_C(20261201)

enum {
    FORECAST_K_MAX = 3, /* a group is scored after its first 1, 2, 3 ok runs */
    FORECAST_MATRIX_LEAST = 4,
    FORECAST_MATRIX_MOST = 8,
    FORECAST_MATRICES = 100, /* per source and k */
};

enum forecast_outcome {
    FORECAST_OK,
    FORECAST_FAIL,
    FORECAST_OOM,
    FORECAST_TIMEOUT,
    FORECAST_UNKNOWN,
    FORECAST_OUTCOME_COUNT_,
};

struct forecast_attempt {
    size_t run_index; /* order of the attempts of its group; may have gaps */
    double seconds;   /* > 0, or NAN */
    double size;      /* meaning by source; NAN where empty or no number */
    double work;      /* of the run: `work=` or else `steps=` in its notes; NAN */
    double init_s;    /* `init_s=` in its notes: before the work began; NAN */
    double peak_gpu_mem_mib;
    enum forecast_outcome outcome;
    const char *notes;
    const char *record; /* the line of the file */
};

struct forecast_group {
    const char *source; /* name */
    const char *name;
    const char *family;
    const struct forecast_attempt *attempts; /* by run_index */
    size_t attempt_count;
    /* The ok runs whose seconds are known, in order: what is forecast and scored. */
    const double *ok_seconds;
    const size_t *ok_attempt; /* which of attempts it is */
    size_t ok_count;
};

struct forecast_source {
    const char *name;
    const struct forecast_group *groups; /* by name (bytes) */
    size_t group_count;
};

struct forecast_data {
    struct arena *arena;                   /* owns all of it */
    const struct forecast_source *sources; /* by name (bytes) */
    size_t source_count;
};

/* All *.csv of the folder; one without any is data without sources. Rows of a source may stand in
 * several files. Two attempts of a group with one run_index, or two families of one group, are
 * errors. */
int forecast_data_read(const char *folder, struct forecast_data **ret_data, struct err *err);
struct forecast_data *forecast_data_free(struct forecast_data *data);
void forecast_data_free_ptr(struct forecast_data **data);
#define AUTO_FORECAST_DATA __attribute__((cleanup(forecast_data_free_ptr)))

/* NULL: none of that name. */
const struct forecast_source *forecast_data_source(const struct forecast_data *data,
                                                   const char *name);
const struct forecast_group *forecast_source_group(const struct forecast_source *source,
                                                   const char *name);

/* A group is scored at k when it has more than k ok runs. */
bool forecast_group_is_scored(const struct forecast_group *group, size_t k);
/* Ok runs behind the first k: how many, and their seconds together. The group must be scored. */
size_t forecast_group_later_count(const struct forecast_group *group, size_t k);
double forecast_group_later_sum(const struct forecast_group *group, size_t k);
/* Groups of the source that are scored at k. */
size_t forecast_source_scored(const struct forecast_source *source, size_t k);

/* Halves of a source: shuffled by seed and the source's name; the first half (the smaller one) is
 * false. ret_second has group_count elements. The same whatever else is in the folder. */
void forecast_source_halves(const struct forecast_source *source, uint64_t seed, bool *ret_second);
/* Writes the groups of one half as folder/SOURCE.csv, lines as they were read. The folder must be
 * there. */
int forecast_data_write_half(const struct forecast_data *data, uint64_t seed, bool second,
                             const char *folder, struct err *err);

struct forecast_matrix {
    char name[32]; /* SEED-NUMBER: tells its composition, given source and k */
    size_t k;
    size_t count;                                              /* of groups */
    const struct forecast_group *groups[FORECAST_MATRIX_MOST]; /* different ones, scored at k */
};

/* The matrices of a source at k: 4 to 8 groups by chance; the even ones begin with the groups of
 * one family. Returns FORECAST_MATRICES, or 0 where fewer than four groups are scored at k. */
size_t forecast_data_matrices(const struct forecast_source *source, size_t k, uint64_t seed,
                              struct forecast_matrix ret_matrices[FORECAST_MATRICES]);
double forecast_matrix_later_sum(const struct forecast_matrix *matrix);
/* Seed and number of a matrix's name; false: it is none. */
bool forecast_matrix_parse_name(const char *name, uint64_t *ret_seed, size_t *ret_number);
