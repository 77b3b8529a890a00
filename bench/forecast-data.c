/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the records, and draws halves and matrices from them. Rows are sorted by source, group and
 * run_index, so nothing depends on the order of files or lines. It computes no forecast.
 */
#include "forecast-data.h"

#include "base/digest.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "csv.h"

#include <dirent.h>
#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_INDEX_MOST = 1000000000, SECONDS_LEAST_EXPONENT = -300 };

enum column { SOURCE, GROUP, RUN_INDEX, SECONDS, OUTCOME, SIZE, PEAK, NOTES, FAMILY };

static const char *const outcome_words[] = {"ok", "fail", "oom", "timeout", "unknown"};
_Static_assert(ARRAY_LENGTH(outcome_words) == FORECAST_OUTCOME_COUNT_, "a word for each outcome");

/* A line of a file with the place it came from, for complaints after sorting. */
struct row {
    struct forecast_attempt attempt;
    const char *source, *group, *family;
    const char *path;
    size_t line;
};

struct rows {
    struct row *list;
    size_t count, capacity;
};

/* ---- one row ---- */

/* A positive number behind `key=` among `a;key=1.5;b`, else NAN: notes are free text. */
static double number_of_note(const char *notes, const char *key) {
    size_t length = strlen(key);

    for (const char *at = notes; at != NULL;) {
        const char *end = strchr(at, ';');
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            const char *text = at + length + 1;
            AUTO_FREE char *number =
                end != NULL ? mem_strndup(text, (size_t)(end - text)) : mem_strdup(text);
            double value;
            return str_to_double(number, &value) == 0 && value >= 0.0 ? value : NAN;
        }
        at = end != NULL ? end + 1 : NULL;
    }
    return NAN;
}

static double work_of_notes(const char *notes) {
    double work = number_of_note(notes, "work");
    if (!(work > 0.0))
        work = number_of_note(notes, "steps");
    return work > 0.0 ? work : NAN;
}

static double number_or_open(const char *text) {
    double value;
    return str_to_double(text, &value) == 0 && value >= 0.0 ? value : NAN;
}

/* Sources become names of files. */
static bool is_source_name(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return *name != '\0' && *name != '.' && *name != '-' && strlen(name) <= 100 &&
           strspn(name, letters) == strlen(name);
}

static int read_outcome(const struct csv *csv, const struct csv_row *row,
                        enum forecast_outcome *ret_outcome, struct err *err) {
    for (size_t i = 0; i < ARRAY_LENGTH(outcome_words); i++)
        if (strcmp(row->field[OUTCOME], outcome_words[i]) == 0) {
            *ret_outcome = (enum forecast_outcome)i;
            return 0;
        }
    return csv_fail(csv, row, OUTCOME, err, "expected ok, fail, oom, timeout or unknown");
}

static const char *join_fields(struct arena *arena, const struct csv_row *row) {
    AUTO_STRBUF struct strbuf record = STRBUF_INIT;
    for (size_t i = 0; i < row->count; i++) {
        strbuf_add_str(&record, i > 0 ? "," : "");
        strbuf_add_str(&record, row->field[i]);
    }
    return arena_strdup(arena, strbuf_str(&record));
}

static int read_row(const struct csv *csv, const struct csv_row *row, struct arena *arena,
                    struct row *ret_row, struct err *err) {
    struct forecast_attempt attempt = {.size = number_or_open(row->field[SIZE])};
    int rc;

    if (!is_source_name(row->field[SOURCE]))
        return csv_fail(csv, row, SOURCE, err,
                        "expected a source (letters, digits, '_', '-', '.')");
    if (*row->field[GROUP] == '\0')
        return csv_fail(csv, row, GROUP, err, "expected a group");
    if ((rc = csv_count(csv, row, RUN_INDEX, 0, RUN_INDEX_MOST, &attempt.run_index, err)) < 0)
        return rc;
    if ((rc = csv_number(csv, row, SECONDS, ldexp(1.0, SECONDS_LEAST_EXPONENT), true,
                         &attempt.seconds, err)) < 0)
        return rc;
    if ((rc = read_outcome(csv, row, &attempt.outcome, err)) < 0)
        return rc;
    if ((rc = csv_number(csv, row, PEAK, 0.0, true, &attempt.peak_gpu_mem_mib, err)) < 0)
        return rc;
    attempt.record = join_fields(arena, row);
    attempt.notes = arena_strdup(arena, row->field[NOTES]);
    attempt.work = work_of_notes(attempt.notes);
    attempt.init_s = number_of_note(attempt.notes, "init_s");
    *ret_row = (struct row){.attempt = attempt,
                            .source = arena_strdup(arena, row->field[SOURCE]),
                            .group = arena_strdup(arena, row->field[GROUP]),
                            .family = arena_strdup(arena, row->field[FAMILY]),
                            .line = row->line};
    return 0;
}

/* ---- files ---- */

static int read_file(const char *path, struct arena *arena, struct rows *rows, struct err *err) {
    AUTO_CSV struct csv csv = {0};
    struct csv_row fields;
    const char *kept_path = arena_strdup(arena, path);
    int rc = csv_open(&csv, path, FORECAST_DATA_HEADER, err);

    if (rc < 0)
        return rc;
    while ((rc = csv_next(&csv, &fields, err)) > 0) {
        if (rows->count == rows->capacity) {
            rows->capacity = rows->capacity > 0 ? rows->capacity * 2 : 1024;
            rows->list = mem_realloc(rows->list, rows->capacity, sizeof *rows->list);
        }
        rc = read_row(&csv, &fields, arena, &rows->list[rows->count], err);
        if (rc < 0)
            return rc;
        rows->list[rows->count++].path = kept_path;
    }
    return rc;
}

static int is_csv(const struct dirent *entry) {
    return entry->d_name[0] != '.' && str_ends_with(entry->d_name, ".csv");
}

static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_folder(const char *folder, struct arena *arena, struct rows *rows,
                       struct err *err) {
    struct dirent **names = NULL;
    int count = scandir(folder, &names, is_csv, compare_names);
    int rc = 0;

    if (count < 0)
        return err_set(err, -errno, "forecast-folder", "cannot read the folder '%s': %s", folder,
                       strerror(errno));
    for (int i = 0; i < count; i++) {
        if (rc == 0) {
            AUTO_FREE char *path = mem_printf("%s/%s", folder, names[i]->d_name);
            rc = read_file(path, arena, rows, err);
        }
        free(names[i]);
    }
    free(names);
    return rc;
}

/* ---- rows to groups and sources ---- */

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    int order = strcmp(x->source, y->source);
    if (order == 0)
        order = strcmp(x->group, y->group);
    if (order == 0)
        order = (x->attempt.run_index > y->attempt.run_index) -
                (x->attempt.run_index < y->attempt.run_index);
    return order;
}

static bool is_same_group(const struct row *a, const struct row *b) {
    return strcmp(a->source, b->source) == 0 && strcmp(a->group, b->group) == 0;
}

static int check_neighbours(const struct rows *rows, struct err *err) {
    for (size_t i = 1; i < rows->count; i++) {
        const struct row *a = &rows->list[i - 1], *b = &rows->list[i];
        if (!is_same_group(a, b))
            continue;
        if (a->attempt.run_index == b->attempt.run_index)
            return err_set(err, -EINVAL, "csv-bad",
                           "%s:%zu:1: the group has run_index %zu twice; the other is %s:%zu",
                           b->path, b->line, b->attempt.run_index, a->path, a->line);
        if (strcmp(a->family, b->family) != 0)
            return err_set(err, -EINVAL, "csv-bad",
                           "%s:%zu:1: the group has another family in %s:%zu", b->path, b->line,
                           a->path, a->line);
    }
    return 0;
}

static void fill_group(struct arena *arena, const struct row *rows, size_t count,
                       struct forecast_group *ret_group) {
    struct forecast_attempt *attempts = arena_alloc(arena, count * sizeof *attempts);
    double *seconds = arena_alloc(arena, count * sizeof *seconds);
    size_t *which = arena_alloc(arena, count * sizeof *which);
    size_t ok = 0;

    for (size_t i = 0; i < count; i++) {
        attempts[i] = rows[i].attempt;
        if (attempts[i].outcome != FORECAST_OK || isnan(attempts[i].seconds))
            continue;
        seconds[ok] = attempts[i].seconds;
        which[ok++] = i;
    }
    *ret_group = (struct forecast_group){.source = rows->source,
                                         .name = rows->group,
                                         .family = rows->family,
                                         .attempts = attempts,
                                         .attempt_count = count,
                                         .ok_seconds = seconds,
                                         .ok_attempt = which,
                                         .ok_count = ok};
}

static void fill_data(struct forecast_data *data, const struct rows *rows) {
    struct forecast_group *groups = arena_alloc(data->arena, (rows->count + 1) * sizeof *groups);
    struct forecast_source *sources = arena_alloc(data->arena, (rows->count + 1) * sizeof *sources);
    size_t group_count = 0;

    for (size_t i = 0; i < rows->count;) {
        size_t end = i + 1;
        while (end < rows->count && is_same_group(&rows->list[i], &rows->list[end]))
            end++;
        fill_group(data->arena, &rows->list[i], end - i, &groups[group_count]);
        if (i == 0 || strcmp(rows->list[i].source, rows->list[i - 1].source) != 0)
            sources[data->source_count++] = (struct forecast_source){
                .name = rows->list[i].source, .groups = &groups[group_count]};
        sources[data->source_count - 1].group_count++;
        group_count++;
        i = end;
    }
    data->sources = sources;
}

int forecast_data_read(const char *folder, struct forecast_data **ret_data, struct err *err) {
    AUTO_FORECAST_DATA struct forecast_data *data = mem_alloc(sizeof *data);
    struct rows rows = {0};

    data->arena = arena_new();
    int rc = read_folder(folder, data->arena, &rows, err);
    if (rc == 0 && rows.count > 0) {
        qsort(rows.list, rows.count, sizeof *rows.list, compare_rows);
        rc = check_neighbours(&rows, err);
    }
    if (rc == 0) {
        fill_data(data, &rows);
        *ret_data = steal(data);
    }
    mem_free_ptr(&rows.list);
    return rc;
}

struct forecast_data *forecast_data_free(struct forecast_data *data) {
    if (data != NULL)
        arena_free(data->arena);
    mem_free_ptr(&data);
    return NULL;
}

void forecast_data_free_ptr(struct forecast_data **data) {
    *data = forecast_data_free(*data);
}

/* ---- looking up ---- */

static int compare_source_name(const void *name, const void *source) {
    return strcmp(name, ((const struct forecast_source *)source)->name);
}

const struct forecast_source *forecast_data_source(const struct forecast_data *data,
                                                   const char *name) {
    return bsearch(name, data->sources, data->source_count, sizeof *data->sources,
                   compare_source_name);
}

static int compare_group_name(const void *name, const void *group) {
    return strcmp(name, ((const struct forecast_group *)group)->name);
}

const struct forecast_group *forecast_source_group(const struct forecast_source *source,
                                                   const char *name) {
    return bsearch(name, source->groups, source->group_count, sizeof *source->groups,
                   compare_group_name);
}

bool forecast_group_is_scored(const struct forecast_group *group, size_t k) {
    return k > 0 && group->ok_count > k;
}

size_t forecast_group_later_count(const struct forecast_group *group, size_t k) {
    return group->ok_count - k;
}

double forecast_group_later_sum(const struct forecast_group *group, size_t k) {
    double sum = 0.0;
    for (size_t i = k; i < group->ok_count; i++)
        sum += group->ok_seconds[i];
    return sum;
}

size_t forecast_source_scored(const struct forecast_source *source, size_t k) {
    size_t count = 0;
    for (size_t i = 0; i < source->group_count; i++)
        count += forecast_group_is_scored(&source->groups[i], k);
    return count;
}

/* ---- chance ---- */

/* One stream for each (seed, purpose, source): adding a source changes no other's. */
static gsl_rng *stream(uint64_t seed, const char *purpose, const char *source, size_t k) {
    AUTO_FREE char *key = mem_printf("%" PRIu64 "/%s/%s/%zu", seed, purpose, source, k);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, digest_crc32c(0, key, strlen(key)));
    return random;
}

void forecast_source_halves(const struct forecast_source *source, uint64_t seed, bool *ret_second) {
    size_t count = source->group_count;
    if (count == 0)
        return;
    AUTO_FREE size_t *order = mem_alloc(count * sizeof *order);
    gsl_rng *random = stream(seed, "halves", source->name, 0);

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    gsl_ran_shuffle(random, order, count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        ret_second[order[i]] = i >= count / 2;
    gsl_rng_free(random);
}

int forecast_data_write_half(const struct forecast_data *data, uint64_t seed, bool second,
                             const char *folder, struct err *err) {
    for (size_t s = 0; s < data->source_count; s++) {
        const struct forecast_source *source = &data->sources[s];
        AUTO_FREE bool *halves = mem_alloc((source->group_count + 1) * sizeof *halves);
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        AUTO_FREE char *path = mem_printf("%s/%s.csv", folder, source->name);

        forecast_source_halves(source, seed, halves);
        strbuf_add_str(&text, FORECAST_DATA_HEADER "\n");
        for (size_t g = 0; g < source->group_count; g++)
            for (size_t a = 0; halves[g] == second && a < source->groups[g].attempt_count; a++) {
                strbuf_add_str(&text, source->groups[g].attempts[a].record);
                strbuf_add_char(&text, '\n');
            }
        int rc = file_write_atomic(path, text.data, text.length, 0600, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Moves what is of the first one's family to the front, order kept. */
static void family_first(const struct forecast_group **order, size_t count) {
    AUTO_FREE const struct forecast_group **others = mem_alloc(count * sizeof *others);
    const char *family = order[0]->family;
    size_t same = 0, other = 0;

    for (size_t i = 0; i < count; i++)
        if (strcmp(order[i]->family, family) == 0)
            order[same++] = order[i];
        else
            others[other++] = order[i];
    memcpy(order + same, others, other * sizeof *others);
}

size_t forecast_data_matrices(const struct forecast_source *source, size_t k, uint64_t seed,
                              struct forecast_matrix ret_matrices[FORECAST_MATRICES]) {
    size_t count = 0;
    if (forecast_source_scored(source, k) < FORECAST_MATRIX_LEAST)
        return 0;
    AUTO_FREE const struct forecast_group **order = mem_alloc(source->group_count * sizeof *order);
    gsl_rng *random = stream(seed, "matrices", source->name, k);

    for (size_t g = 0; g < source->group_count; g++)
        if (forecast_group_is_scored(&source->groups[g], k))
            order[count++] = &source->groups[g];
    for (size_t number = 0; number < FORECAST_MATRICES; number++) {
        struct forecast_matrix *matrix = &ret_matrices[number];
        size_t most = count < FORECAST_MATRIX_MOST ? count : FORECAST_MATRIX_MOST;

        *matrix = (struct forecast_matrix){.k = k};
        snprintf(matrix->name, sizeof matrix->name, "%" PRIu64 "-%zu", seed, number);
        matrix->count =
            FORECAST_MATRIX_LEAST + gsl_rng_uniform_int(random, most - FORECAST_MATRIX_LEAST + 1);
        gsl_ran_shuffle(random, order, count, sizeof *order);
        if (number % 2 == 0)
            family_first(order, count);
        memcpy(matrix->groups, order, matrix->count * sizeof *order);
    }
    gsl_rng_free(random);
    return FORECAST_MATRICES;
}

double forecast_matrix_later_sum(const struct forecast_matrix *matrix) {
    double sum = 0.0;
    for (size_t i = 0; i < matrix->count; i++)
        sum += forecast_group_later_sum(matrix->groups[i], matrix->k);
    return sum;
}

bool forecast_matrix_parse_name(const char *name, uint64_t *ret_seed, size_t *ret_number) {
    const char *dash = strchr(name, '-');
    uint64_t number;

    if (dash == NULL)
        return false;
    AUTO_FREE char *seed = mem_strndup(name, (size_t)(dash - name));
    if (str_to_u64(seed, ret_seed) < 0 || str_to_u64(dash + 1, &number) < 0 ||
        number >= FORECAST_MATRICES)
        return false;
    *ret_number = (size_t)number;
    return true;
}
