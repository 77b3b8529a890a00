/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps every case of every method, and computes scores when asked. No files, no printing. */
#include "forecast-table.h"

#include "base/mem.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <string.h>

#define STANDARD_ERRORS 2.6
#define MISS_WEIGHT     20.0 /* 2 / (1 - 0.9): the interval score of a 90 % interval */

struct cell {
    double *actual;                  /* count */
    struct forecast_answer *answers; /* count x methods */
    size_t count, capacity;
};

struct source {
    const char *name;
    struct cell cells[FORECAST_K_MAX];
};

struct forecast_table {
    size_t method_count;
    struct source *sources; /* by name */
    size_t source_count;
};

double forecast_interval_score(double actual, struct forecast_answer answer) {
    if (isnan(answer.lo) || isnan(answer.hi))
        return FORECAST_SCORE_MOST;
    double miss = fmax(0.0, fmax(answer.lo - actual, actual - answer.hi));
    return fmin(FORECAST_SCORE_MOST, (answer.hi - answer.lo + MISS_WEIGHT * miss) / actual);
}

double forecast_coverage_error(size_t cases) {
    return STANDARD_ERRORS * sqrt(FORECAST_LEVEL * (1.0 - FORECAST_LEVEL) / (double)cases);
}

struct forecast_table *forecast_table_new(size_t method_count) {
    struct forecast_table *table = mem_alloc(sizeof *table);
    table->method_count = method_count;
    return table;
}

struct forecast_table *forecast_table_free(struct forecast_table *table) {
    for (size_t s = 0; table != NULL && s < table->source_count; s++)
        for (size_t k = 0; k < FORECAST_K_MAX; k++) {
            mem_free_ptr(&table->sources[s].cells[k].actual);
            mem_free_ptr(&table->sources[s].cells[k].answers);
        }
    if (table != NULL)
        mem_free_ptr(&table->sources);
    mem_free_ptr(&table);
    return NULL;
}

/* The source of that name, made where it belongs. */
static struct source *source_of(struct forecast_table *table, const char *name) {
    size_t at = 0;
    while (at < table->source_count && strcmp(table->sources[at].name, name) < 0)
        at++;
    if (at < table->source_count && strcmp(table->sources[at].name, name) == 0)
        return &table->sources[at];
    table->sources = mem_realloc(table->sources, table->source_count + 1, sizeof *table->sources);
    memmove(&table->sources[at + 1], &table->sources[at],
            (table->source_count - at) * sizeof *table->sources);
    table->sources[at] = (struct source){.name = name};
    table->source_count++;
    return &table->sources[at];
}

void forecast_table_add(struct forecast_table *table, const char *source, size_t k, double actual,
                        const struct forecast_answer *answers) {
    struct cell *cell = &source_of(table, source)->cells[k - 1];
    size_t methods = table->method_count;

    if (cell->count == cell->capacity) {
        cell->capacity = cell->capacity > 0 ? 2 * cell->capacity : 64;
        cell->actual = mem_realloc(cell->actual, cell->capacity, sizeof *cell->actual);
        cell->answers = mem_realloc(cell->answers, cell->capacity * methods, sizeof *cell->answers);
    }
    cell->actual[cell->count] = actual;
    memcpy(&cell->answers[cell->count * methods], answers, methods * sizeof *answers);
    cell->count++;
}

size_t forecast_table_sources(const struct forecast_table *table) {
    return table->source_count;
}

const char *forecast_table_source(const struct forecast_table *table, size_t source) {
    return table->sources[source].name;
}

size_t forecast_table_cases(const struct forecast_table *table, size_t source, size_t k) {
    return table->sources[source].cells[k - 1].count;
}

static double median_of(double *values, size_t count) {
    gsl_sort(values, 1, count);
    double median = gsl_stats_median_from_sorted_data(values, 1, count);
    return isfinite(median) ? median : NAN;
}

struct forecast_score forecast_table_score(const struct forecast_table *table, size_t source,
                                           size_t k, size_t method) {
    const struct cell *cell = &table->sources[source].cells[k - 1];
    struct forecast_score result = {.mdape = NAN, .coverage = NAN, .width = NAN, .score = NAN};
    double width = 0.0, score = 0.0;
    size_t intervals = 0;
    AUTO_FREE double *errors = mem_alloc((cell->count + 1) * sizeof *errors);

    for (size_t i = 0; i < cell->count; i++) {
        struct forecast_answer answer = cell->answers[i * table->method_count + method];
        double actual = cell->actual[i];
        bool has_interval = !isnan(answer.lo) && !isnan(answer.hi);

        errors[i] = isnan(answer.pred) ? HUGE_VAL : fabs(answer.pred - actual) / actual;
        score += forecast_interval_score(actual, answer);
        result.points += isnan(answer.pred) ? 0 : 1;
        if (!has_interval)
            continue;
        intervals++;
        result.covered += answer.lo <= actual && actual <= answer.hi;
        width += (answer.hi - answer.lo) / actual;
    }
    if (result.points == 0)
        return result;
    result.cases = cell->count;
    result.no_interval = cell->count - intervals;
    result.mdape = median_of(errors, cell->count);
    result.coverage = (double)result.covered / (double)cell->count;
    result.score = score / (double)cell->count;
    if (intervals > 0)
        result.width = width / (double)intervals;
    return result;
}

/* Cases of the source of that name at k. */
static size_t cases_of(const struct forecast_table *table, const char *source, size_t k) {
    for (size_t s = 0; s < table->source_count; s++)
        if (strcmp(table->sources[s].name, source) == 0)
            return forecast_table_cases(table, s, k);
    return 0;
}

struct forecast_summary forecast_table_summary(const struct forecast_table *table,
                                               const struct forecast_table *counted, size_t k,
                                               size_t method, size_t least) {
    struct forecast_summary sum = {0};
    double coverage = 0.0, score = 0.0, width = 0.0, mdape = 0.0;

    for (size_t s = 0; s < table->source_count; s++) {
        size_t cases = cases_of(counted, table->sources[s].name, k);
        if (cases < least || cases == 0 || forecast_table_cases(table, s, k) == 0)
            continue;
        struct forecast_score one = forecast_table_score(table, s, k, method);
        sum.sources++;
        coverage += one.coverage;
        score += log(one.score);
        width += log(one.width);
        mdape += log(one.mdape);
    }
    double n = (double)sum.sources; /* 0 gives NAN */
    sum.coverage = coverage / n;
    sum.score = exp(score / n);
    sum.width = exp(width / n);
    sum.mdape = exp(mdape / n);
    return sum;
}
