/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The three levels of spread.h. The two deviations between the levels and the middle are fitted by
 * expectation and maximisation; with little history they stay near those of the public records
 * (bench/forecast), which count as much as FITTED_AS observations.
 */
#include "forecast/spread.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Between families and between the conditions of a family, on the logarithm of the deviation:
 * rounded from the public records (docs/estimate.md). */
#define BETWEEN_FAMILIES   1.0
#define BETWEEN_CONDITIONS 0.7
#define FITTED_AS          4.0
#define ROUNDS             8
/* Rare slow runs: beyond so many degrees of freedom runs say no more about the tight core. */
#define MOST_FREEDOM 8.0
/* No program repeats better than that, nor does a clock read better; relative. */
#define LEAST_SPREAD 1e-4
#define LEAST_WEIGHT 1e-300
#define IMPOSSIBLE   1e-40 /* likelihood, of 1 in all: too little to add to anything */

struct spread_model {
    size_t count, family_count;
    const char **families; /* sorted */
    size_t *family;        /* of each condition */
    double middle, between_families, between_conditions;
    double (*likelihood)[SPREAD_GRID]; /* of a condition's runs, by its deviation; sum 1 */
    double (*by_family)[SPREAD_GRID];  /* its logarithm, by the family's typical value */
    double (*of_family)[SPREAD_GRID];  /* logarithm: what all conditions of a family say of it */
    double unknown[SPREAD_GRID];       /* the same of a family without conditions */
    double (*kernel)[SPREAD_GRID]; /* weight of a deviation (second) in a family with that value */
    double (*kernel_turned)[SPREAD_GRID]; /* the same, by the deviation first */
};

static double grid_log(size_t i) {
    return SPREAD_LEAST_LOG + SPREAD_STEP_LOG * (double)i;
}

double spread_at(size_t i) {
    return exp(grid_log(i));
}

double spread_typical_log(const struct spread_weights *w) {
    double mean = 0.0;
    for (size_t i = 0; i < SPREAD_GRID; i++)
        mean += w->of[i] * grid_log(i);
    return mean;
}

/* From logarithms to weights of sum 1. */
static void normalise(const double *logs, double *ret) {
    double largest = -HUGE_VAL;
    double sum = 0.0;
    for (size_t i = 0; i < SPREAD_GRID; i++)
        largest = fmax(largest, logs[i]);
    for (size_t i = 0; i < SPREAD_GRID; i++)
        sum += ret[i] = exp(logs[i] - largest);
    for (size_t i = 0; i < SPREAD_GRID; i++)
        ret[i] /= sum;
}

/* What rounding to a step of the clock adds to the variance of the logarithms. Finer steps than
 * predict_resolution_s knows are looked for: records are not bound to our own clock. */
static double rounding_variance(const double *seconds, size_t count, double log_mean) {
    for (double step = 1.0; step > 1e-6; step /= 10.0) {
        size_t whole = 0;
        for (size_t i = 0; i < count; i++) {
            double ratio = seconds[i] / step;
            whole +=
                fabs(ratio - nearbyint(ratio)) < 1e-6 && ratio > 0.5; /* 0 steps tell nothing */
        }
        if (whole == count) {
            double relative = step / exp(log_mean);
            return relative * relative / 12.0; /* of a uniform error */
        }
    }
    return 0.0;
}

/* Logarithm of the likelihood of the runs, their unknown mean integrated out, added to `logs`. */
static void add_likelihood(const double *seconds, size_t count, double *logs) {
    if (count < 2)
        return;
    double mean = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < count; i++)
        mean += log(seconds[i]) / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (log(seconds[i]) - mean) * (log(seconds[i]) - mean);
    double variance = squares / (double)(count - 1) + LEAST_SPREAD * LEAST_SPREAD +
                      rounding_variance(seconds, count, mean);
    double freedom = fmin((double)(count - 1), MOST_FREEDOM);
    for (size_t i = 0; i < SPREAD_GRID; i++)
        logs[i] -= freedom * (grid_log(i) + 0.5 * variance * exp(-2.0 * grid_log(i)));
}

/* ---- families ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t spread_family(const struct spread_model *model, const char *family) {
    const char **found = model->family_count == 0
                             ? NULL
                             : bsearch(&family, model->families, model->family_count,
                                       sizeof *model->families, compare_names);
    return found ? (size_t)(found - model->families) : SPREAD_NOBODY;
}

size_t spread_family_of(const struct spread_model *model, size_t condition) {
    return model->family[condition];
}

static void find_families(struct spread_model *model, const struct history *history,
                          struct arena *arena) {
    model->families = arena_alloc(arena, (history->count + 1) * sizeof *model->families);
    model->family = arena_alloc(arena, (history->count + 1) * sizeof *model->family);
    for (size_t i = 0; i < history->count; i++)
        model->families[i] = history->conditions[i].family;
    qsort(model->families, history->count, sizeof *model->families, compare_names);
    for (size_t i = 0; i < history->count; i++)
        if (model->family_count == 0 ||
            strcmp(model->families[model->family_count - 1], model->families[i]) != 0)
            model->families[model->family_count++] = model->families[i];
    for (size_t i = 0; i < history->count; i++)
        model->family[i] = spread_family(model, history->conditions[i].family);
}

/* ---- fitting ---- */

struct fit {
    double (*squares)[SPREAD_GRID];  /* of a condition: expected squared distance from the family's
                                        value, by that value */
    struct spread_weights *families; /* of the families' values */
    double *middles;                 /* their means */
};

static void make_kernel(struct spread_model *model) {
    for (size_t m = 0; m < SPREAD_GRID; m++) {
        double logs[SPREAD_GRID];
        for (size_t i = 0; i < SPREAD_GRID; i++) {
            double z = (grid_log(i) - grid_log(m)) / model->between_conditions;
            logs[i] = -0.5 * z * z;
        }
        normalise(logs, model->kernel[m]);
        for (size_t i = 0; i < SPREAD_GRID; i++)
            model->kernel_turned[i][m] = model->kernel[m][i];
    }
}

/* What each condition says of its family's value; squares may be NULL. The inner loop is over that
 * value, since it then runs through memory in order (kernel_turned). */
static void look_up(struct spread_model *model, double (*squares)[SPREAD_GRID]) {
    for (size_t c = 0; c < model->count; c++) {
        double sum[SPREAD_GRID] = {0.0};
        double square[SPREAD_GRID] = {0.0};
        for (size_t i = 0; i < SPREAD_GRID; i++) {
            double likelihood = model->likelihood[c][i];
            if (likelihood < IMPOSSIBLE)
                continue;
            for (size_t m = 0; m < SPREAD_GRID; m++) {
                double weight = model->kernel_turned[i][m] * likelihood;
                double distance = SPREAD_STEP_LOG * ((double)i - (double)m);
                sum[m] += weight;
                square[m] += weight * distance * distance;
            }
        }
        for (size_t m = 0; m < SPREAD_GRID; m++) {
            model->by_family[c][m] = log(fmax(sum[m], LEAST_WEIGHT));
            if (squares)
                squares[c][m] = square[m] / fmax(sum[m], LEAST_WEIGHT);
        }
    }
}

/* Families around the middle, which is itself only known from family_count of them. */
static void make_families(struct spread_model *model, bool finally) {
    double known = (double)(model->family_count > 0 ? model->family_count : 1);
    double deviation = model->between_families * (finally ? sqrt(1.0 + 1.0 / known) : 1.0);
    for (size_t m = 0; m < SPREAD_GRID; m++) {
        double z = (grid_log(m) - model->middle) / deviation;
        model->unknown[m] = -0.5 * z * z;
    }
    for (size_t f = 0; f < model->family_count; f++)
        memcpy(model->of_family[f], model->unknown, sizeof model->unknown);
    for (size_t c = 0; c < model->count; c++)
        for (size_t m = 0; m < SPREAD_GRID; m++)
            model->of_family[model->family[c]][m] += model->by_family[c][m];
}

static void fit_round(struct spread_model *model, struct fit *fit) {
    double within = 0.0;
    double between = 0.0;

    make_kernel(model);
    look_up(model, fit->squares);
    make_families(model, false);
    model->middle = 0.0;
    for (size_t f = 0; f < model->family_count; f++) {
        normalise(model->of_family[f], fit->families[f].of);
        fit->middles[f] = spread_typical_log(&fit->families[f]);
        model->middle += fit->middles[f] / (double)model->family_count;
    }
    for (size_t f = 0; f < model->family_count; f++)
        for (size_t m = 0; m < SPREAD_GRID; m++) {
            double distance = grid_log(m) - model->middle;
            between += fit->families[f].of[m] * distance * distance;
        }
    for (size_t c = 0; c < model->count; c++)
        for (size_t m = 0; m < SPREAD_GRID; m++)
            within += fit->families[model->family[c]].of[m] * fit->squares[c][m];
    model->between_families = sqrt((FITTED_AS * BETWEEN_FAMILIES * BETWEEN_FAMILIES + between) /
                                   (FITTED_AS + (double)model->family_count));
    model->between_conditions =
        sqrt((FITTED_AS * BETWEEN_CONDITIONS * BETWEEN_CONDITIONS + within) /
             (FITTED_AS + (double)model->count));
}

const struct spread_model *spread_model_new(const struct history *history, struct arena *arena) {
    size_t shown = 0;
    for (size_t i = 0; i < history->count; i++)
        shown += history->conditions[i].count > 1;
    if (shown == 0)
        return NULL;

    struct spread_model *model = arena_alloc(arena, sizeof *model);
    model->count = history->count;
    find_families(model, history, arena);
    model->likelihood = arena_alloc(arena, model->count * sizeof *model->likelihood);
    model->by_family = arena_alloc(arena, model->count * sizeof *model->by_family);
    model->of_family = arena_alloc(arena, model->family_count * sizeof *model->of_family);
    model->kernel = arena_alloc(arena, SPREAD_GRID * sizeof *model->kernel);
    model->kernel_turned = arena_alloc(arena, SPREAD_GRID * sizeof *model->kernel_turned);
    for (size_t c = 0; c < model->count; c++) {
        double logs[SPREAD_GRID] = {0.0};
        add_likelihood(history->conditions[c].seconds, history->conditions[c].count, logs);
        normalise(logs, model->likelihood[c]);
        if (history->conditions[c].count < 2)
            continue;
        struct spread_weights w;
        memcpy(w.of, model->likelihood[c], sizeof w.of);
        model->middle += spread_typical_log(&w) / (double)shown;
    }
    model->between_families = BETWEEN_FAMILIES;
    model->between_conditions = BETWEEN_CONDITIONS;

    AUTO_FREE double *squares = mem_alloc(model->count * SPREAD_GRID * sizeof *squares);
    AUTO_FREE struct spread_weights *families = mem_alloc(model->family_count * sizeof *families);
    AUTO_FREE double *middles = mem_alloc(model->family_count * sizeof *middles);
    struct fit fit = {(double(*)[SPREAD_GRID])(void *)squares, families, middles};
    for (size_t round = 0; round < ROUNDS; round++)
        fit_round(model, &fit);
    make_kernel(model);
    look_up(model, NULL);
    make_families(model, true);
    return model;
}

void spread_posterior(const struct spread_model *model, size_t family, size_t itself,
                      const double *seconds, size_t count, struct spread_weights *ret) {
    double logs[SPREAD_GRID];
    double typical[SPREAD_GRID];

    memcpy(logs, family == SPREAD_NOBODY ? model->unknown : model->of_family[family], sizeof logs);
    for (size_t m = 0; itself != SPREAD_NOBODY && m < SPREAD_GRID; m++)
        logs[m] -= model->by_family[itself][m];
    normalise(logs, typical);
    double sums[SPREAD_GRID] = {0.0};
    for (size_t m = 0; m < SPREAD_GRID; m++)
        for (size_t i = 0; i < SPREAD_GRID && typical[m] >= IMPOSSIBLE; i++)
            sums[i] += typical[m] * model->kernel[m][i];
    for (size_t i = 0; i < SPREAD_GRID; i++)
        logs[i] = log(fmax(sums[i], LEAST_WEIGHT));
    add_likelihood(seconds, count, logs);
    normalise(logs, ret->of);
}
