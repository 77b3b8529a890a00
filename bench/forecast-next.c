/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `next` saves: studies drawn from recorded runs spend trials until their total is known well
 * enough, by three policies: the ranking of forecast/preposterior.h, one more run of each condition
 * in turn, the condition with the largest rest first. What a study looks like: docs/next.md.
 *
 *     forecast-next [--data DIR] [--studies N] [--within SHARE] [--seed N] [--csv] [--check]
 *
 * Exit: 0 done; 1 --check, and a demand is not met; 2 usage, or input that cannot be used. A
 * trial's cost is its recorded duration; nobody looks into a condition's record beyond the runs
 * that the policy has paid for.
 */
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "forecast-data.h"
#include "forecast/condition.h"
#include "forecast/preposterior.h"

#include <errno.h>
#include <getopt.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    CONDITIONS_LEAST = 4,
    CONDITIONS_MOST = 8,
    RUNS_LEAST = 4, /* in the record of a condition: the first, and three that are left */
    FUTURES = 400,  /* of one ranking: there are thousands of them */
    OUTCOMES = 8,
    DONE = 0,
    NOT_MET = 1,
    UNUSABLE = 2,
};

static const char default_data[] = "../shared/data/forecast";
static const double least_saving = 0.25, least_coverage = 0.85;

enum policy { NEXT = 0, IN_ORDER, LARGEST, POLICY_COUNT_ };
static const char *const policy_names[] = {
    [NEXT] = "next", [IN_ORDER] = "in-order", [LARGEST] = "largest-first"};

struct study {
    const struct forecast_source *source;
    const struct forecast_group *conditions[CONDITIONS_MOST];
    size_t count;
    struct arena *arena;
    const struct condition_model *model; /* of the source's other groups */
};

/* A study under way. */
struct state {
    const struct study *study;
    size_t used[CONDITIONS_MOST]; /* runs of each record that were seen */
    size_t turn;
    double seconds; /* spent on trials */
};

struct result {
    double minutes, share; /* spent; of all runs that were left at the start */
    size_t trials;
    bool reached; /* the target, with runs left */
    bool covered; /* the true total of these lies in the interval */
};

struct options {
    const char *data;
    size_t studies;
    double within;
    uint64_t seed;
    bool csv, check;
};

/* ---- studies ---- */

static bool is_usable(const struct forecast_group *group) {
    return group->ok_count >= RUNS_LEAST;
}

static size_t usable_groups(const struct forecast_source *source, const char *family,
                            const struct forecast_group **ret) {
    size_t count = 0;
    for (size_t i = 0; i < source->group_count; i++) {
        const struct forecast_group *group = &source->groups[i];
        if (is_usable(group) && (family == NULL || strcmp(group->family, family) == 0))
            ret[count++] = group;
    }
    return count;
}

static bool is_condition(const struct study *study, const struct forecast_group *group) {
    for (size_t i = 0; i < study->count; i++)
        if (study->conditions[i] == group)
            return true;
    return false;
}

static void learn(struct study *study) {
    const struct forecast_source *source = study->source;
    struct history *history = arena_alloc(study->arena, sizeof *history);
    struct history_condition *list =
        arena_alloc(study->arena, (source->group_count + 1) * sizeof *list);
    for (size_t i = 0; i < source->group_count; i++) {
        const struct forecast_group *group = &source->groups[i];
        if (is_condition(study, group))
            continue;
        list[history->count++] = (struct history_condition){.name = group->name,
                                                            .family = group->family,
                                                            .seconds = group->ok_seconds,
                                                            .count = group->ok_count};
    }
    history->conditions = list;
    study->model = condition_model_new(history, study->arena);
}

static struct futures predict(const void *context, const struct preposterior_part *part,
                              const double *values, size_t count, uint64_t repeats,
                              struct simulate_spread borrow, struct simulate_stream stream,
                              size_t draws, struct arena *arena, bool *ret_borrowed) {
    const struct study *study = context;
    const struct forecast_group *group = part->own;
    if (study->model == NULL || repeats == 0)
        return simulate_runs(values, count, repeats, borrow, stream, draws, arena, ret_borrowed);
    const struct condition_own own = {
        .family = group->family, .itself = SPREAD_NOBODY, .seconds = values, .count = count};
    struct condition_forecast forecast;
    condition_forecast_make(study->model, &own, repeats, arena, &forecast);
    if (ret_borrowed)
        *ret_borrowed = true;
    return simulate_condition(&forecast, group->family, stream, draws, arena);
}

/* A usable group by chance, then four to eight of its family, or where that has fewer than four, of
 * the source. */
static void draw_study(gsl_rng *random, const struct forecast_source *source, struct study *ret) {
    AUTO_FREE const struct forecast_group **groups =
        mem_alloc((source->group_count + 1) * sizeof *groups);
    size_t all = usable_groups(source, NULL, groups);
    const char *family = groups[gsl_rng_uniform_int(random, all)]->family;
    size_t count = usable_groups(source, family, groups);
    if (count < CONDITIONS_LEAST)
        count = usable_groups(source, NULL, groups);
    size_t most = count < CONDITIONS_MOST ? count : CONDITIONS_MOST;
    *ret = (struct study){.source = source,
                          .count = CONDITIONS_LEAST +
                                   gsl_rng_uniform_int(random, most - CONDITIONS_LEAST + 1)};
    gsl_ran_choose(random, ret->conditions, ret->count, groups, count, sizeof(groups[0]));
    gsl_ran_shuffle(random, ret->conditions, ret->count, sizeof(ret->conditions[0]));
    ret->arena = arena_new();
    learn(ret);
}

/* ---- one study, one policy ---- */

static uint64_t left_of(const struct state *state, size_t i) {
    return state->study->conditions[i]->ok_count - state->used[i];
}

static void rank(const struct state *state, bool offered, struct preposterior_total *ret_total,
                 struct preposterior_trial ret_trials[CONDITIONS_MOST]) {
    struct preposterior_part parts[CONDITIONS_MOST];
    for (size_t i = 0; i < state->study->count; i++) {
        const struct forecast_group *group = state->study->conditions[i];
        parts[i] = (struct preposterior_part){
            .name = group->name,
            .values = group->ok_seconds,
            .count = state->used[i],
            .remaining = left_of(state, i),
            .is_offered = offered,
            .uses_one = true,
            .own = group,
        };
    }
    const struct preposterior_options options = {
        .seed = 1, .futures = FUTURES, .outcomes = OUTCOMES};
    const struct preposterior_model model = {.predict = predict, .context = state->study};
    preposterior_rank(parts, state->study->count, &model, &options, ret_total, ret_trials);
}

static size_t choose_next(const struct preposterior_trial *trials, size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (preposterior_compare(&trials[i], &trials[best]) < 0)
            best = i;
    return best;
}

static size_t choose_in_order(struct state *state) {
    size_t at = state->turn;
    while (left_of(state, at) == 0)
        at = (at + 1) % state->study->count;
    state->turn = (at + 1) % state->study->count;
    return at;
}

/* By the median of what was seen, times the runs that are left. */
static size_t choose_largest(const struct state *state) {
    size_t best = 0;
    double largest = -1.0;
    for (size_t i = 0; i < state->study->count; i++) {
        double rest = (double)left_of(state, i) *
                      predict_median(state->study->conditions[i]->ok_seconds, state->used[i]);
        if (left_of(state, i) > 0 && rest > largest) {
            largest = rest;
            best = i;
        }
    }
    return best;
}

static double true_rest(const struct state *state) {
    double rest = 0.0;
    for (size_t i = 0; i < state->study->count; i++)
        rest += forecast_group_later_sum(state->study->conditions[i], state->used[i]);
    return rest;
}

static struct result play(const struct study *study, enum policy policy, double within) {
    struct state state = {.study = study};
    struct preposterior_total total;
    struct preposterior_trial trials[CONDITIONS_MOST];
    struct result result = {0};

    for (size_t i = 0; i < study->count; i++)
        state.used[i] = 1;
    double all = true_rest(&state);
    for (;;) {
        rank(&state, policy == NEXT, &total, trials);
        if (preposterior_is_within(&total, within))
            break;
        size_t at = policy == NEXT       ? choose_next(trials, study->count)
                    : policy == IN_ORDER ? choose_in_order(&state)
                                         : choose_largest(&state);
        state.seconds += study->conditions[at]->ok_seconds[state.used[at]++];
        result.trials++;
    }
    double rest = true_rest(&state);
    result.minutes = state.seconds / 60.0;
    result.share = state.seconds / all;
    result.reached = !total.is_nothing;
    result.covered = result.reached && total.p05 <= rest && rest <= total.p95;
    return result;
}

/* ---- all of them ---- */

struct sums {
    double minutes, share;
    size_t studies, trials, reached, covered;
};

static void add_result(struct sums *sums, const struct result *result) {
    sums->minutes += result->minutes;
    sums->share += result->share;
    sums->studies++;
    sums->trials += result->trials;
    sums->reached += result->reached;
    sums->covered += result->covered;
}

static void print_sums(const struct sums sums[POLICY_COUNT_]) {
    printf("%-14s %12s %9s %9s %9s %9s %9s\n", "policy", "GPU-minutes", "saving", "share", "saving",
           "trials", "coverage");
    for (enum policy p = NEXT; p < POLICY_COUNT_; p++) {
        double n = (double)sums[p].studies;
        printf("%-14s %12.3f %8.1f%% %8.1f%% %8.1f%% %9.2f %8.1f%% of %zu\n", policy_names[p],
               sums[p].minutes / n, 100.0 * (1.0 - sums[NEXT].minutes / sums[p].minutes),
               100.0 * sums[p].share / n, 100.0 * (1.0 - sums[NEXT].share / sums[p].share),
               (double)sums[p].trials / n,
               100.0 * (double)sums[p].covered / (double)sums[p].reached, sums[p].reached);
    }
}

static int run(const struct options *options, struct err *err) {
    AUTO_FORECAST_DATA struct forecast_data *data = NULL;
    struct sums sums[POLICY_COUNT_] = {0};
    int rc = forecast_data_read(options->data, &data, err);
    if (rc < 0)
        return rc;
    AUTO_FREE const struct forecast_source **sources =
        mem_alloc((data->source_count + 1) * sizeof *sources);
    size_t count = 0;
    for (size_t s = 0; s < data->source_count; s++) {
        size_t usable = 0;
        for (size_t i = 0; i < data->sources[s].group_count; i++)
            usable += is_usable(&data->sources[s].groups[i]);
        if (usable >= CONDITIONS_LEAST)
            sources[count++] = &data->sources[s];
    }
    if (count == 0)
        return err_set(err, -ENOENT, "next-data", "no source of '%s' has %d conditions of %d runs",
                       options->data, CONDITIONS_LEAST, RUNS_LEAST);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, options->seed);
    if (options->csv)
        printf("study,source,conditions,policy,minutes,share,trials,reached,covered\n");
    for (size_t s = 0; s < options->studies; s++) {
        struct study study;
        draw_study(random, sources[s % count], &study);
        for (enum policy p = NEXT; p < POLICY_COUNT_; p++) {
            struct result result = play(&study, p, options->within);
            add_result(&sums[p], &result);
            if (options->csv)
                printf("%zu,%s,%zu,%s,%.6f,%.6f,%zu,%d,%d\n", s, study.source->name, study.count,
                       policy_names[p], result.minutes, result.share, result.trials, result.reached,
                       result.covered);
        }
        study.arena = arena_free(study.arena);
    }
    gsl_rng_free(random);
    if (!options->csv)
        print_sums(sums);
    bool met = (double)sums[NEXT].covered >= least_coverage * (double)sums[NEXT].reached;
    for (enum policy p = IN_ORDER; p < POLICY_COUNT_; p++)
        met &= sums[NEXT].minutes <= (1.0 - least_saving) * sums[p].minutes;
    return options->check && !met ? NOT_MET : DONE;
}

static int read_options(int argc, char **argv, struct options *ret, struct err *err) {
    static const struct option names[] = {
        {"data", required_argument, NULL, 'd'},
        {"studies", required_argument, NULL, 'n'},
        {"within", required_argument, NULL, 'w'},
        {"seed", required_argument, NULL, 's'},
        {"csv", no_argument, NULL, 'c'},
        {"check", no_argument, NULL, 'k'},
        {NULL, 0, NULL, 0},
    };
    int option;
    double number = 0.0;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        bool is_number = option == 'n' || option == 'w' || option == 's';
        if (option == '?' || (is_number && (str_to_double(optarg, &number) < 0 || number <= 0.0)))
            return err_set(err, -EINVAL, "usage", "see the head of bench/forecast-next.c");
        if (option == 'd')
            ret->data = optarg;
        else if (option == 'n')
            ret->studies = (size_t)number;
        else if (option == 'w')
            ret->within = number;
        else if (option == 's')
            ret->seed = (uint64_t)number;
        ret->csv |= option == 'c';
        ret->check |= option == 'k';
    }
    return optind == argc ? 0 : err_set(err, -EINVAL, "usage", "it takes no operands");
}

int main(int argc, char **argv) {
    struct err err = ERR_INIT;
    struct options options = {
        .data = default_data, .studies = 200, .within = 0.2, .seed = FORECAST_DATA_SEED};
    int rc = read_options(argc, argv, &options, &err);
    rc = rc < 0 ? rc : run(&options, &err);
    if (rc >= 0 && (fflush(stdout) != 0 || ferror(stdout)))
        rc = err_set(&err, -EIO, "output", "cannot write the result");
    if (rc < 0)
        fprintf(stderr, "forecast-next: error[%s]: %s\n", err.id, err.text);
    return rc < 0 ? UNUSABLE : rc;
}
