/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the forecast of many conditions costs, with the model of the product (src/forecast):
 * a history of CONDITIONS conditions with RUNS runs each, made by chance (fixed seed) with the
 * spreads that public records have; every one of them is forecast from all others, its total drawn
 * in DRAWS futures, and all totals added up. Nothing here is a measurement of work.
 *
 *     estimate-speed [--conditions N] [--runs N] [--draws N] [--rounds N] [--data FILE]
 *
 * --data: writes the times as CSV (family, then a column per run), so that a peer works on the
 * same. Writes one JSON line: medians over the rounds of the CPU time of each stage and of all, in
 * ns, and the least of all (what else the machine does makes rounds longer); and the total that
 * came out, in seconds. Exit: 0 done; 2 usage, or FILE cannot be written.
 */
#include "base/mem.h"
#include "base/str.h"
#include "forecast/condition.h"
#include "forecast/predict-parts.h"
#include "forecast/simulate.h"

#include <errno.h>
#include <getopt.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DONE = 0, UNUSABLE = 2, IN_A_FAMILY = 10, REPEATS = 10 };
#define DATA_SEED   UINT64_C(20261201)
#define TYPICAL_LOG (-4.6) /* a hundredth */
#define FREEDOM     4.0

enum stage { STAGE_MODEL = 0, STAGE_FORECASTS, STAGE_FUTURES, STAGE_ALL, STAGE_COUNT_ };
static const char *const stage_names[STAGE_COUNT_] = {"model", "forecasts", "futures", "all"};

struct options {
    uint64_t conditions, runs, draws, rounds;
    const char *data;
};

/* Families differ in their typical spread as in BETWEEN_FAMILIES of forecast/spread.c, the
 * conditions in them as in BETWEEN_CONDITIONS. */
static struct history made_history(const struct options *options, struct arena *arena) {
    struct history_condition *conditions =
        arena_alloc(arena, options->conditions * sizeof *conditions);
    gsl_rng *random = predict_random_new(DATA_SEED);
    double family = 0.0;
    for (size_t i = 0; i < options->conditions; i++) {
        if (i % IN_A_FAMILY == 0)
            family = TYPICAL_LOG + gsl_ran_gaussian_ziggurat(random, 1.0);
        double spread = exp(family + 0.7 * gsl_ran_gaussian_ziggurat(random, 1.0));
        double middle = log(1000.0) * gsl_rng_uniform(random);
        double *seconds = arena_alloc(arena, options->runs * sizeof *seconds);
        for (size_t run = 0; run < options->runs; run++)
            seconds[run] = exp(middle + spread * gsl_ran_tdist(random, FREEDOM));
        conditions[i] = (struct history_condition){
            .name = arena_printf(arena, "condition %zu", i),
            .family = arena_printf(arena, "family %zu", i / IN_A_FAMILY),
            .seconds = seconds,
            .count = options->runs,
        };
    }
    gsl_rng_free(random);
    return (struct history){conditions, options->conditions};
}

static int write_data(const struct history *history, const char *path) {
    FILE *file = fopen(path, "we");
    if (!file)
        return -errno;
    for (size_t i = 0; i < history->count; i++) {
        const struct history_condition *condition = &history->conditions[i];
        fprintf(file, "%s", condition->family);
        for (size_t run = 0; run < condition->count; run++)
            fprintf(file, ",%.17g", condition->seconds[run]);
        fputc('\n', file);
    }
    return fclose(file) == 0 ? 0 : -errno;
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* One whole estimate, with giving its memory back; what each stage took. */
static struct futures estimate_once(const struct options *options, const struct history *history,
                                    double took[STAGE_COUNT_]) {
    double begin = cpu_ns();
    struct arena *arena = arena_new();
    const struct condition_model *model = condition_model_new(history, arena);
    double modelled = cpu_ns();
    struct condition_forecast *forecasts = arena_alloc(arena, history->count * sizeof *forecasts);
    for (size_t i = 0; i < history->count; i++) {
        const struct history_condition *condition = &history->conditions[i];
        struct condition_own own = {.family = condition->family,
                                    .itself = i,
                                    .seconds = condition->seconds,
                                    .count = condition->count};
        condition_forecast_make(model, &own, REPEATS, arena, &forecasts[i]);
    }
    double forecast = cpu_ns();
    struct futures total = {.kind = FUTURES_OPEN};
    struct simulate_common *common = simulate_common_new(DATA_SEED, options->draws, arena);
    for (size_t i = 0; i < history->count; i++) {
        struct simulate_stream stream = {.seed = DATA_SEED,
                                         .shared = history->conditions[i].name,
                                         .own = "block",
                                         .common = common};
        AUTO_ARENA struct arena *scratch = arena_new(); /* a part may be freed once it is added */
        struct futures part = simulate_condition(&forecasts[i], history->conditions[i].family,
                                                 stream, options->draws, scratch);
        simulate_add(&total, &part, arena);
    }
    simulate_settle(&total);
    double simulated = cpu_ns();
    arena_free(arena);
    took[STAGE_MODEL] = modelled - begin;
    took[STAGE_FORECASTS] = forecast - modelled;
    took[STAGE_FUTURES] = simulated - forecast;
    took[STAGE_ALL] = cpu_ns() - begin;
    total.draws = NULL;
    return total;
}

static void measure(const struct options *options, const struct history *history) {
    AUTO_FREE double *took = mem_alloc(options->rounds * STAGE_COUNT_ * sizeof *took);
    AUTO_FREE double *one = mem_alloc(options->rounds * sizeof *one);
    double p05 = NAN;
    double p50 = NAN;
    double p95 = NAN;
    for (size_t round = 0; round < options->rounds; round++) {
        struct futures total = estimate_once(options, history, took + round * STAGE_COUNT_);
        p05 = total.p05;
        p50 = total.value;
        p95 = total.p95;
    }
    printf("{\"name\": \"probelauf\", \"conditions\": %zu, \"runs\": %zu, \"draws\": %zu, "
           "\"rounds\": %zu",
           history->count, (size_t)options->runs, (size_t)options->draws, (size_t)options->rounds);
    for (enum stage stage = STAGE_MODEL; stage < STAGE_COUNT_; stage++) {
        for (size_t round = 0; round < options->rounds; round++)
            one[round] = took[round * STAGE_COUNT_ + stage];
        printf(", \"%s_ns\": %.0f", stage_names[stage], predict_median(one, options->rounds));
    }
    predict_sort(one, options->rounds); /* of the last stage: all */
    printf(", \"all_least_ns\": %.0f", one[0]);
    printf(", \"p05\": %.9g, \"p50\": %.9g, \"p95\": %.9g}\n", p05, p50, p95);
}

static int usage(const char *why) {
    fprintf(stderr, "estimate-speed: %s; see the head of bench/estimate-speed.c\n", why);
    return UNUSABLE;
}

int main(int argc, char **argv) {
    static const struct option longs[] = {
        {"conditions", required_argument, NULL, 'c'}, {"runs", required_argument, NULL, 'r'},
        {"draws", required_argument, NULL, 'd'},      {"rounds", required_argument, NULL, 'o'},
        {"data", required_argument, NULL, 'f'},       {NULL, 0, NULL, 0}};
    struct options options = {.conditions = 1000, .runs = 10, .draws = 1000, .rounds = 3};
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        uint64_t *number = c == 'c'   ? &options.conditions
                           : c == 'r' ? &options.runs
                           : c == 'd' ? &options.draws
                           : c == 'o' ? &options.rounds
                                      : NULL;
        if (c == 'f')
            options.data = optarg;
        else if (!number || str_to_u64(optarg, number) < 0)
            return usage("an option is not known, or its value is none");
    }
    if (options.conditions < 2 || options.runs < 2 || options.draws < 100 || options.rounds < 1 ||
        optind < argc)
        return usage("too few of something, or an argument too many");

    AUTO_ARENA struct arena *arena = arena_new();
    struct history history = made_history(&options, arena);
    if (options.data) {
        int r = write_data(&history, options.data);
        if (r < 0) {
            fprintf(stderr, "estimate-speed: %s: %s\n", options.data, strerror(-r));
            return UNUSABLE;
        }
    }
    measure(&options, &history);
    return DONE;
}
