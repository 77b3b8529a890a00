/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reference classes (classes.h): looking them up, and what they show. */
#include "forecast/classes.h"

#include "base/mem.h"
#include "forecast/class-table.h"
#include "forecast/condition.h"
#include "forecast/predict-parts.h"
#include "forecast/predict.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SHOWN_FROM = 3 }; /* runs of a condition: a first one, and two that can differ */

size_t forecast_class_count(void) {
    return class_table_count;
}

const struct forecast_class *forecast_class_at(size_t index) {
    return &class_table[index];
}

const struct forecast_class *forecast_class_find(const char *name) {
    for (size_t i = 0; i < class_table_count; i++)
        if (strcmp(class_table[i].name, name) == 0)
            return &class_table[i];
    return NULL;
}

const char *forecast_class_name(const struct forecast_class *class) {
    return class->name;
}

const struct class_failures *forecast_class_failures(const struct forecast_class *class) {
    return &class->failures;
}

static bool is_of(const struct forecast_class *class, const struct class_condition *condition) {
    return (class->kinds & 1u << condition->kind) != 0;
}

static bool has_source(const struct forecast_class *class, size_t source) {
    for (size_t c = 0; c < class_condition_count; c++)
        if (class_conditions[c].source == source && is_of(class, &class_conditions[c]))
            return true;
    return false;
}

const struct class_source *forecast_class_source(const struct forecast_class *class, size_t i) {
    for (size_t source = 0; source < class_source_count; source++)
        if (has_source(class, source) && i-- == 0)
            return &class_sources[source];
    return NULL;
}

static const char *repository_of(const char *source) {
    for (size_t i = 0; source && i < class_source_count; i++)
        if (strcmp(class_sources[i].name, source) == 0)
            return class_sources[i].repository;
    return NULL;
}

struct history forecast_class_history(const struct forecast_class *class,
                                      const char *without_source, struct arena *arena) {
    const char *left_out = repository_of(without_source);
    struct history_condition *conditions =
        arena_alloc(arena, class_condition_count * sizeof *conditions);
    size_t count = 0;
    for (size_t c = 0; c < class_condition_count; c++) {
        const struct class_condition *condition = &class_conditions[c];
        const struct class_source *source = &class_sources[condition->source];
        if (!is_of(class, condition) || (left_out && strcmp(source->repository, left_out) == 0))
            continue;
        conditions[count++] = (struct history_condition){
            .name = arena_printf(arena, "%s:%s", source->name, condition->name),
            .family = arena_printf(arena, "%s:%s", source->name, condition->family),
            .seconds = condition->seconds,
            .count = condition->count,
        };
    }
    return (struct history){conditions, count};
}

void forecast_class_widen(struct condition_forecast *forecast, size_t own_runs) {
    double base = forecast->centre + log((double)forecast->repeats);
    double middle = condition_quantile(forecast, 0.5) - base;
    double wider = 1.0 + 2.0 / (double)own_runs;
    for (size_t i = 0; i < forecast->count; i++)
        forecast->ratio[i] = middle + wider * (forecast->ratio[i] - middle);
}

static double spread_of(const struct class_condition *condition) {
    double logs[CLASS_RUNS_MOST];
    for (size_t i = 1; i < condition->count; i++)
        logs[i - 1] = log(condition->seconds[i]);
    return gsl_stats_sd(logs, 1, condition->count - 1);
}

void forecast_class_figures(const struct forecast_class *class, struct class_figures *ret) {
    AUTO_FREE double *spreads = mem_alloc(class_condition_count * sizeof *spreads);
    AUTO_FREE double *firsts = mem_alloc(class_condition_count * sizeof *firsts);
    *ret = (struct class_figures){.spread_low = NAN,
                                  .spread_middle = NAN,
                                  .spread_high = NAN,
                                  .first_middle = NAN,
                                  .first_p90 = NAN};
    for (size_t c = 0; c < class_condition_count; c++) {
        const struct class_condition *condition = &class_conditions[c];
        if (!is_of(class, condition))
            continue;
        ret->conditions++;
        ret->runs += condition->count;
        if (condition->count < SHOWN_FROM)
            continue;
        spreads[ret->shown] = spread_of(condition);
        firsts[ret->shown++] =
            condition->seconds[0] / predict_median(condition->seconds + 1, condition->count - 1);
    }
    if (ret->shown == 0)
        return;
    predict_sort(spreads, ret->shown);
    predict_sort(firsts, ret->shown);
    ret->spread_low = predict_quantile(spreads, ret->shown, 0.25);
    ret->spread_middle = predict_quantile(spreads, ret->shown, 0.5);
    ret->spread_high = predict_quantile(spreads, ret->shown, 0.75);
    ret->first_middle = predict_quantile(firsts, ret->shown, 0.5);
    ret->first_p90 = predict_quantile(firsts, ret->shown, 0.9);
}
