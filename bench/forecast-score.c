/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scores forecasts of repeated runs beside baselines that it computes itself.
 *
 *     forecast-score {--target DIR [--history DIR] [--matrices MATRICES.csv] [PREDICTIONS.csv]}…
 *                    [--json] [--check] [--class] [--min-groups N] [--seed N]
 *     forecast-score --write-baseline NAME --target DIR [--history DIR] [--seed N]
 *     forecast-score --split OUT_A --split OUT_B --target DIR [--seed N]
 *
 * Each --target begins a part; the cases of all parts are scored together (the two directions of a
 * split). Without PREDICTIONS only the baselines are. Exit: 0 done; 1 --check, and a demand is not
 * met; 2 usage, or input that cannot be used. This file reads options and files and counts; what is
 * computed is in forecast-table and forecast-baselines.
 */
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "forecast-baselines.h"
#include "forecast-data.h"
#include "forecast-predictions.h"
#include "forecast-print.h"
#include "forecast-table.h"
#include "forecast-verdict.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PARTS_MAX = 64, LEAST = 100, LEAST_CLASS = 20, DONE = 0, NOT_MET = 1, UNUSABLE = 2 };

/* What of one target is scored; paths are borrowed from argv. */
struct part {
    const char *target_path, *history_path, *matrices_path, *predictions_path;
    struct forecast_data *target, *history; /* history: NULL without a path */
    struct forecast_predictions *predictions, *matrices;
};

struct options {
    struct part parts[PARTS_MAX];
    size_t part_count;
    const char *split[2];
    size_t split_count;
    const char *baseline;
    uint64_t seed;
    size_t least; /* 0: not given */
    bool json, check, class_only;
};

/* ---- options ---- */

static int usage(struct err *err, const char *why) {
    return err_set(err, -EINVAL, "usage", "%s; see the head of bench/forecast-score.c", why);
}

static int begin_part(struct options *options, const char *path, struct err *err) {
    if (options->part_count == PARTS_MAX)
        return usage(err, "too many --target");
    options->parts[options->part_count++] = (struct part){.target_path = path};
    return 0;
}

static int set_once(struct options *options, size_t member, const char *path, struct err *err) {
    if (options->part_count == 0)
        return usage(err, "--target must come first");
    struct part *part = &options->parts[options->part_count - 1];
    const char **slots[] = {&part->history_path, &part->matrices_path, &part->predictions_path};
    if (*slots[member] != NULL)
        return usage(err, "a --target has one --history, one --matrices and one PREDICTIONS");
    *slots[member] = path;
    return 0;
}

static int set_number(const char *text, uint64_t least, uint64_t *ret_value, struct err *err) {
    if (str_to_u64(text, ret_value) < 0 || *ret_value < least)
        return usage(err, "--seed and --min-groups need a whole number");
    return 0;
}

static int take_option(struct options *options, int letter, const char *value, struct err *err) {
    uint64_t number = 0;
    int rc = 0;

    switch (letter) {
    case 't':
        return begin_part(options, value, err);
    case 'h':
        return set_once(options, 0, value, err);
    case 'm':
        return set_once(options, 1, value, err);
    case 1: /* no option */
        return set_once(options, 2, value, err);
    case 'j':
        options->json = true;
        return 0;
    case 'c':
        options->check = true;
        return 0;
    case 'l':
        options->class_only = true;
        return 0;
    case 'b':
        options->baseline = value;
        return 0;
    case 's':
        return set_number(value, 0, &options->seed, err);
    case 'g':
        rc = set_number(value, 1, &number, err);
        options->least = (size_t)number;
        return rc;
    case 'p':
        if (options->split_count == ARRAY_LENGTH(options->split))
            return usage(err, "--split twice, for the two halves");
        options->split[options->split_count++] = value;
        return 0;
    default:
        return usage(err, "unknown option, or one without its value");
    }
}

static int read_options(int argc, char **argv, struct options *options, struct err *err) {
    static const struct option table[] = {{"target", required_argument, NULL, 't'},
                                          {"history", required_argument, NULL, 'h'},
                                          {"matrices", required_argument, NULL, 'm'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"check", no_argument, NULL, 'c'},
                                          {"class", no_argument, NULL, 'l'},
                                          {"min-groups", required_argument, NULL, 'g'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"split", required_argument, NULL, 'p'},
                                          {"write-baseline", required_argument, NULL, 'b'},
                                          {NULL, 0, NULL, 0}};
    int letter;

    opterr = 0;
    while ((letter = getopt_long(argc, argv, "-", table, NULL)) != -1) {
        int rc = take_option(options, letter, optarg, err);
        if (rc < 0)
            return rc;
    }
    if (options->part_count == 0)
        return usage(err, "--target DIR is needed");
    if (options->split_count == 1)
        return usage(err, "--split twice, for the two halves");
    if ((options->split_count > 0 || options->baseline != NULL) && options->part_count != 1)
        return usage(err, "--split and --write-baseline take one --target");
    if (options->least == 0)
        options->least = options->class_only ? LEAST_CLASS : LEAST;
    return 0;
}

/* ---- input ---- */

static int load_part(struct part *part, struct err *err) {
    int rc = forecast_data_read(part->target_path, &part->target, err);
    if (rc == 0 && part->history_path != NULL)
        rc = forecast_data_read(part->history_path, &part->history, err);
    if (rc == 0 && part->predictions_path != NULL)
        rc = forecast_predictions_read(part->predictions_path, part->target, &part->predictions,
                                       err);
    if (rc == 0 && part->matrices_path != NULL)
        rc = forecast_predictions_read_matrices(part->matrices_path, part->target, &part->matrices,
                                                err);
    return rc;
}

static struct forecast_history *history_of(const struct part *part, const char *source) {
    return forecast_history_new(part->history != NULL ? forecast_data_source(part->history, source)
                                                      : NULL);
}

/* ---- scoring ---- */

static void score_group(struct forecast_result *result, const struct part *part,
                        const struct forecast_history *history, const struct forecast_group *group,
                        size_t k) {
    struct forecast_answer answers[FORECAST_METHOD_COUNT];

    answers[FORECAST_METHOD_OURS] =
        forecast_predictions_find(part->predictions, group->source, group->name, k);
    result->missing += isnan(answers[FORECAST_METHOD_OURS].pred) ? 1 : 0;
    for (size_t b = 0; b < FORECAST_BASELINE_COUNT_; b++)
        answers[1 + b] = forecast_baseline_answer((enum forecast_baseline)b, history, group, k);
    forecast_table_add(result->groups, group->source, k, forecast_group_later_sum(group, k),
                       answers);
}

static void score_matrices(struct forecast_result *result, const struct part *part,
                           const struct forecast_history *history,
                           const struct forecast_source *source, size_t k, uint64_t seed) {
    AUTO_FREE struct forecast_matrix *matrices = mem_alloc(FORECAST_MATRICES * sizeof *matrices);
    size_t count = forecast_data_matrices(
        source, k, forecast_predictions_seed(part->matrices, seed), matrices);

    for (size_t i = 0; i < count; i++) {
        struct forecast_answer answers[FORECAST_MATRIX_METHOD_COUNT];
        answers[FORECAST_METHOD_OURS] =
            forecast_predictions_find(part->matrices, source->name, matrices[i].name, k);
        result->missing_matrices += isnan(answers[FORECAST_METHOD_OURS].pred) ? 1 : 0;
        for (size_t b = 0; b < FORECAST_MATRIX_BASELINE_COUNT_; b++)
            answers[1 + b] = forecast_matrix_baseline_answer((enum forecast_matrix_baseline)b,
                                                             history, &matrices[i]);
        forecast_table_add(result->matrices, source->name, k,
                           forecast_matrix_later_sum(&matrices[i]), answers);
    }
}

static void score_part(struct forecast_result *result, const struct part *part, uint64_t seed) {
    bool has_matrices = part->matrices != NULL || part->predictions == NULL;

    for (size_t s = 0; s < part->target->source_count; s++) {
        const struct forecast_source *source = &part->target->sources[s];
        struct forecast_history *history = history_of(part, source->name);
        for (size_t k = 1; k <= FORECAST_K_MAX; k++) {
            for (size_t g = 0; g < source->group_count; g++)
                if (forecast_group_is_scored(&source->groups[g], k))
                    score_group(result, part, history, &source->groups[g], k);
            if (has_matrices)
                score_matrices(result, part, history, source, k, seed);
        }
        forecast_history_free(history);
    }
}

static int score(const struct options *options, struct err *err) {
    struct forecast_result result = {
        .groups = forecast_table_new(FORECAST_METHOD_COUNT),
        .matrices = forecast_table_new(FORECAST_MATRIX_METHOD_COUNT),
        .least = options->least,
        .class_only = options->class_only,
    };
    struct forecast_verdict verdicts[FORECAST_VERDICTS_MAX];
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    int status = DONE;

    for (size_t i = 0; i < options->part_count; i++) {
        result.has_ours |= options->parts[i].predictions != NULL;
        result.has_matrices |= options->parts[i].matrices != NULL;
        score_part(&result, &options->parts[i], options->seed);
    }
    if (options->json)
        forecast_print_json(&result, &out);
    else
        forecast_print_text(&result, &out);
    size_t count = forecast_verdicts(&result, verdicts);
    for (size_t i = 0; i < count && options->check; i++)
        status = verdicts[i].ok ? status : NOT_MET;
    if (options->check && count == 0)
        status = usage(err, "--check needs PREDICTIONS");
    else
        fwrite(out.data, 1, out.length, stdout);
    forecast_table_free(result.groups);
    forecast_table_free(result.matrices);
    return status;
}

/* ---- the other tasks ---- */

static void write_matrices(const struct forecast_source *source,
                           const struct forecast_history *history,
                           enum forecast_matrix_baseline baseline, size_t k, uint64_t seed) {
    AUTO_FREE struct forecast_matrix *matrices = mem_alloc(FORECAST_MATRICES * sizeof *matrices);
    size_t count = forecast_data_matrices(source, k, seed, matrices);

    for (size_t i = 0; i < count; i++) {
        struct forecast_answer answer =
            forecast_matrix_baseline_answer(baseline, history, &matrices[i]);
        if (!isnan(answer.pred))
            forecast_predictions_write_matrix(stdout, &matrices[i], answer);
    }
}

static void write_groups(const struct forecast_source *source,
                         const struct forecast_history *history, enum forecast_baseline baseline,
                         size_t k) {
    for (size_t g = 0; g < source->group_count; g++) {
        const struct forecast_group *group = &source->groups[g];
        if (!forecast_group_is_scored(group, k))
            continue;
        struct forecast_answer answer = forecast_baseline_answer(baseline, history, group, k);
        if (!isnan(answer.pred))
            forecast_predictions_write(stdout, group, k, answer);
    }
}

static int write_baseline(const struct options *options, struct err *err) {
    const struct part *part = &options->parts[0];
    enum forecast_baseline baseline = FORECAST_BASELINE_COUNT_;
    enum forecast_matrix_baseline of_matrix = FORECAST_MATRIX_BASELINE_COUNT_;
    bool is_matrix = forecast_matrix_baseline_from_name(options->baseline, &of_matrix);

    if (!is_matrix && !forecast_baseline_from_name(options->baseline, &baseline))
        return usage(err, "--write-baseline: there is no such baseline");
    puts(is_matrix ? FORECAST_MATRICES_HEADER : FORECAST_PREDICTIONS_HEADER);
    for (size_t s = 0; s < part->target->source_count; s++) {
        const struct forecast_source *source = &part->target->sources[s];
        struct forecast_history *history = history_of(part, source->name);
        for (size_t k = 1; k <= FORECAST_K_MAX; k++)
            if (is_matrix)
                write_matrices(source, history, of_matrix, k, options->seed);
            else
                write_groups(source, history, baseline, k);
        forecast_history_free(history);
    }
    return DONE;
}

static int split(const struct options *options, struct err *err) {
    for (size_t half = 0; half < ARRAY_LENGTH(options->split); half++) {
        const char *folder = options->split[half];
        if (mkdir(folder, 0700) < 0)
            return err_set(err, -errno, "forecast-folder", "cannot make the folder '%s': %s",
                           folder, strerror(errno));
        int rc = forecast_data_write_half(options->parts[0].target, options->seed, half == 1,
                                          folder, err);
        if (rc < 0)
            return rc;
    }
    return DONE;
}

static int work(struct options *options, struct err *err) {
    for (size_t i = 0; i < options->part_count; i++) {
        int rc = load_part(&options->parts[i], err);
        if (rc < 0)
            return rc;
    }
    if (options->split_count > 0)
        return split(options, err);
    return options->baseline != NULL ? write_baseline(options, err) : score(options, err);
}

int main(int argc, char **argv) {
    struct err err = ERR_INIT;
    AUTO_FREE struct options *options = mem_alloc(sizeof *options);

    options->seed = FORECAST_DATA_SEED;
    int rc = read_options(argc, argv, options, &err);
    if (rc == 0)
        rc = work(options, &err);
    for (size_t i = 0; i < options->part_count; i++) {
        struct part *part = &options->parts[i];
        forecast_predictions_free(part->predictions);
        forecast_predictions_free(part->matrices);
        forecast_data_free(part->target);
        forecast_data_free(part->history);
    }
    if (rc >= 0 && (fflush(stdout) != 0 || ferror(stdout)))
        rc = err_set(&err, -EIO, "output", "cannot write the result");
    if (rc < 0)
        fprintf(stderr, "forecast-score: error[%s]: %s\n", err.id, err.text);
    return rc < 0 ? UNUSABLE : rc;
}
