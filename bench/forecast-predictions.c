/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes forecasts; the target's data decides what may stand in them. */
#include "forecast-predictions.h"

#include "base/mem.h"
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct prediction {
    const char *source, *name; /* in the arena */
    size_t k;
    size_t line;
    struct forecast_answer answer;
};

struct forecast_predictions {
    struct arena *arena;
    struct prediction *list; /* sorted */
    size_t count, capacity;
    uint64_t seed; /* of matrices, where count > 0 */
};

/* While a file is read: the matrices of the source and k that the last row was of. */
struct compositions {
    const struct forecast_source *source;
    size_t k;
    uint64_t seed;
    size_t count;
    struct forecast_matrix matrices[FORECAST_MATRICES];
};

static int compare(const void *a, const void *b) {
    const struct prediction *x = a, *y = b;
    int order = strcmp(x->source, y->source);
    if (order == 0)
        order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->k > y->k) - (x->k < y->k);
}

static struct prediction *add(struct forecast_predictions *list, const struct csv_row *row,
                              const char *source, const char *name, size_t k) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity > 0 ? 2 * list->capacity : 256;
        list->list = mem_realloc(list->list, list->capacity, sizeof *list->list);
    }
    struct prediction *one = &list->list[list->count++];
    *one = (struct prediction){.source = arena_strdup(list->arena, source),
                               .name = arena_strdup(list->arena, name),
                               .k = k,
                               .line = row->line};
    return one;
}

/* pred, lo and hi in three columns from `column` on. */
static int read_answer(const struct csv *csv, const struct csv_row *row, size_t column,
                       struct forecast_answer *ret_answer, struct err *err) {
    struct forecast_answer answer;
    int rc = csv_number(csv, row, column, 0.0, false, &answer.pred, err);
    if (rc == 0)
        rc = csv_number(csv, row, column + 1, 0.0, true, &answer.lo, err);
    if (rc == 0)
        rc = csv_number(csv, row, column + 2, 0.0, true, &answer.hi, err);
    if (rc < 0)
        return rc;
    if (isnan(answer.lo) != isnan(answer.hi))
        return csv_fail(csv, row, column + 2, err, "expected lo and hi, or none of them");
    if (answer.lo > answer.hi)
        return csv_fail(csv, row, column + 2, err, "expected hi, not below lo");
    *ret_answer = answer;
    return 0;
}

static int read_group(const struct csv *csv, const struct csv_row *row,
                      const struct forecast_data *target, struct forecast_predictions *list,
                      struct err *err) {
    const struct forecast_source *source = forecast_data_source(target, row->field[0]);
    size_t k = 0;

    if (source == NULL)
        return csv_fail(csv, row, 0, err, "the target has no such source");
    const struct forecast_group *group = forecast_source_group(source, row->field[1]);
    if (group == NULL)
        return csv_fail(csv, row, 1, err, "the target has no such group");
    int rc = csv_count(csv, row, 2, 1, FORECAST_K_MAX, &k, err);
    if (rc < 0)
        return rc;
    if (!forecast_group_is_scored(group, k))
        return csv_fail(csv, row, 2, err, "the group has no ok run behind its first k");
    return read_answer(csv, row, 3, &add(list, row, row->field[0], row->field[1], k)->answer, err);
}

static void compose(struct compositions *made, const struct forecast_source *source, size_t k,
                    uint64_t seed) {
    if (made->source == source && made->k == k && made->seed == seed)
        return;
    made->source = source;
    made->k = k;
    made->seed = seed;
    made->count = forecast_data_matrices(source, k, seed, made->matrices);
}

static int read_matrix(const struct csv *csv, const struct csv_row *row,
                       const struct forecast_data *target, struct compositions *made,
                       struct forecast_predictions *list, struct err *err) {
    const struct forecast_source *source = forecast_data_source(target, row->field[0]);
    uint64_t seed = 0;
    size_t number = 0, k = 0, conditions = 0;

    if (source == NULL)
        return csv_fail(csv, row, 0, err, "the target has no such source");
    if (!forecast_matrix_parse_name(row->field[1], &seed, &number))
        return csv_fail(csv, row, 1, err, "expected SEED-NUMBER of a matrix");
    if (list->count > 0 && seed != list->seed)
        return csv_fail(csv, row, 1, err, "another seed than the matrices before");
    list->seed = seed;
    int rc = csv_count(csv, row, 2, 1, FORECAST_K_MAX, &k, err);
    if (rc == 0)
        rc = csv_count(csv, row, 3, FORECAST_MATRIX_LEAST, FORECAST_MATRIX_MOST, &conditions, err);
    if (rc < 0)
        return rc;
    compose(made, source, k, seed);
    if (made->count == 0)
        return csv_fail(csv, row, 2, err, "the source has too few groups for a matrix at this k");
    if (made->matrices[number].count != conditions)
        return csv_fail(csv, row, 3, err, "the matrix has another number of conditions");
    return read_answer(csv, row, 4, &add(list, row, row->field[0], row->field[1], k)->answer, err);
}

static int finish(struct forecast_predictions *list, const struct csv *csv, struct err *err) {
    if (list->count > 0)
        qsort(list->list, list->count, sizeof *list->list, compare);
    for (size_t i = 1; i < list->count; i++) {
        size_t a = list->list[i - 1].line, b = list->list[i].line;
        if (compare(&list->list[i - 1], &list->list[i]) == 0)
            return err_set(err, -EINVAL, "csv-bad", "%s:%zu:1: forecast before, in line %zu",
                           csv->path, a > b ? a : b, a > b ? b : a);
    }
    return 0;
}

static int read_all(const char *path, const struct forecast_data *target, bool matrices,
                    struct forecast_predictions *list, struct err *err) {
    AUTO_CSV struct csv csv = {0};
    AUTO_FREE struct compositions *made = mem_alloc(sizeof *made);
    struct csv_row row;
    int rc = csv_open(&csv, path, matrices ? FORECAST_MATRICES_HEADER : FORECAST_PREDICTIONS_HEADER,
                      err);
    if (rc < 0)
        return rc;
    while ((rc = csv_next(&csv, &row, err)) > 0) {
        rc = matrices ? read_matrix(&csv, &row, target, made, list, err)
                      : read_group(&csv, &row, target, list, err);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? rc : finish(list, &csv, err);
}

static int read_kind(const char *path, const struct forecast_data *target, bool matrices,
                     struct forecast_predictions **ret_predictions, struct err *err) {
    struct forecast_predictions *list = mem_alloc(sizeof *list);
    list->arena = arena_new();
    int rc = read_all(path, target, matrices, list, err);
    if (rc < 0) {
        forecast_predictions_free(list);
        return rc;
    }
    *ret_predictions = list;
    return 0;
}

int forecast_predictions_read(const char *path, const struct forecast_data *target,
                              struct forecast_predictions **ret_predictions, struct err *err) {
    return read_kind(path, target, false, ret_predictions, err);
}

int forecast_predictions_read_matrices(const char *path, const struct forecast_data *target,
                                       struct forecast_predictions **ret_predictions,
                                       struct err *err) {
    return read_kind(path, target, true, ret_predictions, err);
}

struct forecast_predictions *forecast_predictions_free(struct forecast_predictions *predictions) {
    if (predictions != NULL) {
        mem_free_ptr(&predictions->list);
        arena_free(predictions->arena);
    }
    mem_free_ptr(&predictions);
    return NULL;
}

struct forecast_answer forecast_predictions_find(const struct forecast_predictions *predictions,
                                                 const char *source, const char *name, size_t k) {
    struct prediction key = {.source = source, .name = name, .k = k};
    const struct prediction *found =
        predictions == NULL || predictions->count == 0
            ? NULL
            : bsearch(&key, predictions->list, predictions->count, sizeof key, compare);
    return found != NULL ? found->answer : (struct forecast_answer){NAN, NAN, NAN};
}

uint64_t forecast_predictions_seed(const struct forecast_predictions *predictions,
                                   uint64_t fallback) {
    return predictions != NULL && predictions->count > 0 ? predictions->seed : fallback;
}

static void write_answer(FILE *out, struct forecast_answer answer) {
    if (isnan(answer.lo) || isnan(answer.hi))
        fprintf(out, "%.17g,,\n", answer.pred);
    else
        fprintf(out, "%.17g,%.17g,%.17g\n", answer.pred, answer.lo, answer.hi);
}

void forecast_predictions_write(FILE *out, const struct forecast_group *group, size_t k,
                                struct forecast_answer answer) {
    fprintf(out, "%s,%s,%zu,", group->source, group->name, k);
    write_answer(out, answer);
}

void forecast_predictions_write_matrix(FILE *out, const struct forecast_matrix *matrix,
                                       struct forecast_answer answer) {
    fprintf(out, "%s,%s,%zu,%zu,", matrix->groups[0]->source, matrix->name, matrix->k,
            matrix->count);
    write_answer(out, answer);
}
