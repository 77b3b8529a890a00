/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reference classes: how runs of a kind of work differ, for who has no runs of their own to tell
 * it. A class is a shipped history of real conditions from public records; its figures and times
 * come from there and nowhere else (tools/derive-classes; docs/estimate.md, "Reference classes").
 * Whoever uses one assumes that the work at hand is of that kind: nothing here is evidence. Pure.
 */
#pragma once

#include "forecast/history.h"

#include <stddef.h>

struct arena;
struct condition_forecast;

struct class_source {
    const char *name;       /* "llama_bench" */
    const char *repository; /* sources with the same one are the same records in another form */
    const char *licence;
    const char *taken; /* what of it is in the table; English, translate to show */
};

struct class_share {
    size_t failures, attempts; /* no attempt: the records do not tell */
};
struct class_failures {
    size_t attempts, failures;
    /* Attempts whose predecessor of the same condition failed, or ended well. */
    struct class_share after_failure, after_success;
    /* What a failed attempt took, over a good run of its condition. count 0: NAN, not known. */
    size_t cost_count;
    double cost_median, cost_p90;
    const char *sources; /* "algoperf, mlperf_training"; NULL: no source keeps failed attempts */
};

struct forecast_class;

size_t forecast_class_count(void);
const struct forecast_class *forecast_class_at(size_t index); /* index < forecast_class_count() */
const struct forecast_class *forecast_class_find(const char *name); /* NULL: there is none */
const char *forecast_class_name(const struct forecast_class *class);
const struct class_failures *forecast_class_failures(const struct forecast_class *class);

/* The i-th source that a condition of the class comes from; NULL: there are no more. */
const struct class_source *forecast_class_source(const struct forecast_class *class, size_t i);

/* The conditions of the class, names and families "SOURCE:NAME". without_source: those of the same
 * repository are left out, so that a record is never forecast from itself; NULL, or a source that
 * the class does not have: all. In the arena; the times stay in the table. */
struct history forecast_class_history(const struct forecast_class *class,
                                      const char *without_source, struct arena *arena);

/* Work that is in no class varies otherwise than that in it: the forecast is made wider about its
 * median, on the log scale by 1 + 2 / own_runs. Of the public records, each source forecast from
 * the others alone, the 90 % interval then holds 87 % after one own run (docs/estimate.md). */
void forecast_class_widen(struct condition_forecast *forecast, size_t own_runs);

/* What the class shows, over its conditions with three runs and more. */
struct class_figures {
    size_t conditions, runs;
    size_t shown; /* conditions with three runs and more; 0: what follows is NAN */
    /* Standard deviation of the logarithms of the runs after the first one. */
    double spread_low, spread_middle, spread_high; /* quartiles */
    /* First run over the median of the later ones. */
    double first_middle, first_p90;
};
void forecast_class_figures(const struct forecast_class *class, struct class_figures *ret);
