/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forecasts recorded runs as if they were still to come, with the model of the product
 * (src/forecast), for forecast-score.
 *
 *     forecast-replay --history DIR --target DIR [--matrices FILE] [--places FILE] [--seed N]
 *
 * Of a target group its first k good runs are read (k = 1, 2, 3), of the history everything, of the
 * source of the group only. A source that the history does not have is forecast from the reference
 * class `any`, of which records of the same source are left out. Writes
 * `source,group,k,pred,lo,hi` to stdout: seconds of all later good runs together; lo and hi are
 * empty where there is no interval. --matrices: the totals of 4 to 8 conditions, simulated.
 * --places: `source,group,k,place`, the share of the forecast (0 to 1) below what came.
 * Exit: 0 done; 2 usage, or input that cannot be used.
 */
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "forecast-data.h"
#include "forecast/classes.h"
#include "forecast/condition.h"
#include "forecast/interval.h"
#include "forecast/predict-parts.h"
#include "forecast/simulate.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, UNUSABLE = 2, LEAST_HISTORY = 2 };
#define MATRIX_DRAWS 4000

struct options {
    const char *history, *target, *matrices, *places;
    uint64_t seed;
};

/* What the groups of one source are forecast from. */
struct basis {
    const struct condition_model *model;
    bool is_class;                   /* made from the reference class */
    double half[FORECAST_K_MAX + 1]; /* by k */
};

/* ---- history ---- */

static struct history history_of(const struct forecast_source *source, struct arena *arena) {
    struct history_condition *conditions =
        arena_alloc(arena, (source->group_count + 1) * sizeof *conditions);
    size_t count = 0;
    for (size_t i = 0; i < source->group_count; i++) {
        const struct forecast_group *group = &source->groups[i];
        if (group->ok_count > 1)
            conditions[count++] = (struct history_condition){.name = group->name,
                                                             .family = group->family,
                                                             .seconds = group->ok_seconds,
                                                             .count = group->ok_count};
    }
    return (struct history){conditions, count};
}

static struct basis basis_of(const struct forecast_data *history,
                             const struct forecast_source *target, struct arena *arena) {
    const struct forecast_source *same = forecast_data_source(history, target->name);
    struct history *known = arena_alloc(arena, sizeof *known);
    struct basis basis = {0};

    if (same)
        *known = history_of(same, arena);
    basis.is_class = known->count < LEAST_HISTORY;
    if (basis.is_class)
        *known = forecast_class_history(forecast_class_find("any"), target->name, arena);
    basis.model = condition_model_new(known, arena);
    for (size_t k = 1; k <= FORECAST_K_MAX; k++)
        basis.half[k] = interval_half(basis.is_class ? NULL : basis.model, k, INTERVAL_LEAN);
    return basis;
}

static void forecast_group_at(const struct basis *basis, const struct forecast_group *group,
                              size_t k, struct arena *arena, struct condition_forecast *ret) {
    struct condition_own own = {
        .family = group->family, .itself = SPREAD_NOBODY, .seconds = group->ok_seconds, .count = k};
    condition_forecast_make(basis->model, &own, forecast_group_later_count(group, k), arena, ret);
    if (basis->is_class)
        forecast_class_widen(ret, k);
}

/* ---- groups ---- */

/* Where in the forecast the later runs came out; equal to a value of it: in the middle of that. */
static double place_of(const struct condition_forecast *forecast, double later_log) {
    double ratio = later_log - forecast->centre - log((double)forecast->repeats);
    double below = 0.0;
    for (size_t i = 0; i < forecast->count && forecast->ratio[i] <= ratio; i++)
        below += forecast->weight[i] * (forecast->ratio[i] < ratio ? 1.0 : 0.5);
    return below;
}

/* places may be NULL. */
static void replay_source(const struct basis *basis, const struct forecast_source *source,
                          FILE *places) {
    for (size_t g = 0; g < source->group_count; g++)
        for (size_t k = 1; k <= FORECAST_K_MAX; k++) {
            const struct forecast_group *group = &source->groups[g];
            if (!forecast_group_is_scored(group, k))
                continue;
            AUTO_ARENA struct arena *arena = arena_new();
            struct condition_forecast forecast;
            struct interval interval;
            forecast_group_at(basis, group, k, arena, &forecast);
            interval_of(&forecast, basis->half[k], INTERVAL_LEAN, &interval);
            printf("%s,%s,%zu,%.9g,%.9g,%.9g\n", source->name, group->name, k, exp(interval.middle),
                   exp(interval.lo), exp(interval.hi));
            if (places)
                fprintf(places, "%s,%s,%zu,%.6f\n", source->name, group->name, k,
                        place_of(&forecast, log(forecast_group_later_sum(group, k))));
        }
}

/* ---- matrices ---- */

/* Simulated futures as the weights of a forecast, so that a total's interval is chosen as that of a
 * single condition. */
static void as_forecast(const struct futures *total, struct arena *arena,
                        struct condition_forecast *ret) {
    double weight = 1.0 / (double)total->count;
    *ret = (struct condition_forecast){.centre = log(total->value),
                                       .ratio = arena_alloc(arena, total->count * sizeof(double)),
                                       .weight = arena_alloc(arena, total->count * sizeof(double)),
                                       .below = arena_alloc(arena, total->count * sizeof(double)),
                                       .count = total->count,
                                       .repeats = 1};
    for (size_t i = 0; i < total->count; i++) {
        ret->ratio[i] = log(total->draws[i] / total->value);
        ret->weight[i] = weight;
        ret->below[i] = ((double)i + 0.5) * weight;
    }
    predict_sort(ret->ratio, ret->count);
}

static void replay_matrix(const struct basis *basis, const struct forecast_matrix *matrix,
                          const char *source, uint64_t seed, FILE *file) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct futures total = {.kind = FUTURES_OPEN};
    for (size_t i = 0; i < matrix->count; i++) {
        const struct forecast_group *group = matrix->groups[i];
        struct condition_forecast forecast;
        forecast_group_at(basis, group, matrix->k, arena, &forecast);
        struct futures part = simulate_condition(
            &forecast, group->family,
            (struct simulate_stream){.seed = seed, .shared = group->name, .own = matrix->name},
            MATRIX_DRAWS, arena);
        simulate_add(&total, &part, arena);
    }
    simulate_settle(&total);
    struct condition_forecast whole;
    struct interval interval;
    as_forecast(&total, arena, &whole);
    interval_of(&whole, basis->half[matrix->k], INTERVAL_LEAN, &interval);
    fprintf(file, "%s,%s,%zu,%zu,%.9g,%.9g,%.9g\n", source, matrix->name, matrix->k, matrix->count,
            total.value, exp(interval.lo), exp(interval.hi));
}

static void replay_matrices(const struct basis *basis, const struct forecast_source *source,
                            uint64_t seed, FILE *file) {
    AUTO_FREE struct forecast_matrix *matrices = mem_alloc(FORECAST_MATRICES * sizeof *matrices);
    for (size_t k = 1; k <= FORECAST_K_MAX; k++) {
        size_t count = forecast_data_matrices(source, k, seed, matrices);
        for (size_t i = 0; i < count; i++)
            replay_matrix(basis, &matrices[i], source->name, seed, file);
    }
}

/* ---- the whole ---- */

/* NULL without an error: none is wanted. */
static int open_file(const char *path, const char *header, FILE **ret, struct err *err) {
    *ret = NULL;
    if (!path)
        return 0;
    *ret = fopen(path, "we");
    if (!*ret)
        return err_set(err, -errno, "open", "%s: %s", path, strerror(errno));
    fprintf(*ret, "%s\n", header);
    return 0;
}

static int close_file(const char *path, FILE *file, struct err *err) {
    if (file && fclose(file) != 0)
        return err_set(err, -errno, "write", "%s: %s", path, strerror(errno));
    return 0;
}

static int replay(const struct options *options, struct err *err) {
    AUTO_FORECAST_DATA struct forecast_data *history = NULL;
    AUTO_FORECAST_DATA struct forecast_data *target = NULL;
    int r = forecast_data_read(options->history, &history, err);
    if (r >= 0)
        r = forecast_data_read(options->target, &target, err);
    if (r < 0)
        return r;
    FILE *matrices = NULL;
    FILE *places = NULL;
    r = open_file(options->matrices, "source,matrix,k,conditions,pred,lo,hi", &matrices, err);
    if (r >= 0)
        r = open_file(options->places, "source,group,k,place", &places, err);
    if (r >= 0)
        printf("source,group,k,pred,lo,hi\n");
    for (size_t s = 0; r >= 0 && s < target->source_count; s++) {
        AUTO_ARENA struct arena *arena = arena_new();
        struct basis basis = basis_of(history, &target->sources[s], arena);
        replay_source(&basis, &target->sources[s], places);
        if (matrices)
            replay_matrices(&basis, &target->sources[s], options->seed, matrices);
    }
    int closed = close_file(options->matrices, matrices, err);
    int closed_too = close_file(options->places, places, err);
    if (r < 0 || closed < 0 || closed_too < 0)
        return r < 0 ? r : closed < 0 ? closed : closed_too;
    if (fflush(stdout) != 0)
        return err_set(err, -errno, "write", "stdout: %s", strerror(errno));
    return 0;
}

static int usage(const char *why) {
    fprintf(stderr, "forecast-replay: %s; see the head of bench/forecast-replay.c\n", why);
    return UNUSABLE;
}

int main(int argc, char **argv) {
    static const struct option longs[] = {
        {"history", required_argument, NULL, 'h'},  {"target", required_argument, NULL, 't'},
        {"matrices", required_argument, NULL, 'm'}, {"places", required_argument, NULL, 'p'},
        {"seed", required_argument, NULL, 's'},     {NULL, 0, NULL, 0}};
    struct options options = {.seed = FORECAST_DATA_SEED};
    struct err err = ERR_INIT;
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (c == 'h')
            options.history = optarg;
        else if (c == 't')
            options.target = optarg;
        else if (c == 'm')
            options.matrices = optarg;
        else if (c == 'p')
            options.places = optarg;
        else if (c != 's' || str_to_u64(optarg, &options.seed) < 0)
            return usage("an option is not known, or its value is none");
    }
    if (!options.history || !options.target || optind < argc)
        return usage("--history DIR and --target DIR are needed");
    if (replay(&options, &err) < 0) {
        fprintf(stderr, "forecast-replay: %s\n", err.text);
        return UNUSABLE;
    }
    return DONE;
}
