/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many samples into few columns, peaks kept (plot.h). */
#include "report/plot/plot.h"

#include "model/gpu-series.h"

#include <math.h>
#include <string.h>

#define HOLD_TICKS 4.0 /* a reading holds for so many mean distances, then nothing was read */
#define WINDOW_MAX_S \
    1.25 /* the longest window of a driver (docs/measurement.md, "Busy and idle") */

static size_t column_of(double time_s, double end_s, size_t columns) {
    double at = time_s / end_s * (double)columns;
    if (!(at > 0.0))
        return 0;
    return at >= (double)columns ? columns - 1 : (size_t)at;
}

static bool is_time(double seconds) {
    return isfinite(seconds) && seconds >= 0.0;
}

static void widen(struct plot_column *column, double value) {
    if (isnan(column->min) || value < column->min)
        column->min = value;
    if (isnan(column->max) || value > column->max)
        column->max = value;
}

/* The columns of [from_s, to_s): one that begins at to_s holds nothing of it. */
static void hold(struct plot_column *ret, double end_s, size_t columns, double from_s, double to_s,
                 double value) {
    size_t first = column_of(from_s, end_s, columns), last = column_of(to_s, end_s, columns);
    if (last > first && (double)last * end_s / (double)columns >= to_s)
        last--;
    for (size_t c = first; c <= last; c++)
        widen(&ret[c], value);
}

static double mean_distance(const struct run_series *series) {
    if (series->count < 2)
        return 0.0;
    double span = series->time_s[series->count - 1] - series->time_s[0];
    return is_time(span) ? span / (double)(series->count - 1) : 0.0;
}

static bool gauge(const struct run_series *series, double end_s, size_t columns,
                  struct plot_column *ret) {
    double longest = HOLD_TICKS * mean_distance(series);
    bool any = false;
    for (size_t i = 0; i < series->count; i++) {
        double time_s = series->time_s[i], value = series->value[i];
        if (!is_time(time_s) || !isfinite(value))
            continue;
        double next_s = i + 1 < series->count ? series->time_s[i + 1] : time_s;
        bool holds = is_time(next_s) && next_s > time_s && next_s - time_s <= longest;
        widen(&ret[column_of(time_s, end_s, columns)], value);
        size_t last = column_of(holds ? next_s : time_s, end_s, columns);
        /* what comes next has its own column: only those between are filled */
        for (size_t c = column_of(time_s, end_s, columns) + 1; c < last; c++)
            widen(&ret[c], value);
        any = true;
    }
    return any;
}

static bool counter(const struct run_series *series, double end_s, size_t columns,
                    struct plot_column *ret) {
    bool any = false;
    for (size_t i = 1; i < series->count; i++) {
        double from_s = series->time_s[i - 1], to_s = series->time_s[i];
        double rise = series->value[i] - series->value[i - 1];
        /* one that fell belongs to another process: no rate between the two */
        if (!is_time(from_s) || !is_time(to_s) || !(to_s > from_s) || !isfinite(rise) || rise < 0.0)
            continue;
        hold(ret, end_s, columns, from_s, to_s, rise / (to_s - from_s));
        any = true;
    }
    return any;
}

/* A share of the time before its tick, which is the end of a window. What is farther from the tick
 * before than a driver's window lasts was not seen, and the first one's begin is not told. */
static bool windows(const struct run_series *series, double end_s, size_t columns,
                    struct plot_column *ret) {
    bool any = false;
    for (size_t i = 1; i < series->count; i++) {
        double from_s = series->time_s[i - 1], to_s = series->time_s[i], value = series->value[i];
        if (!is_time(from_s) || !is_time(to_s) || !(to_s > from_s) ||
            to_s - from_s > WINDOW_MAX_S || !isfinite(value))
            continue;
        hold(ret, end_s, columns, from_s, to_s, value);
        any = true;
    }
    return any;
}

bool plot_decimate(const struct run_series *series, double end_s, size_t columns,
                   struct plot_column *ret) {
    for (size_t c = 0; c < columns; c++)
        ret[c] = (struct plot_column){NAN, NAN};
    if (series->name && strcmp(series->name, GPU_SERIES_BUSY) == 0)
        return windows(series, end_s, columns, ret);
    return series->is_counter ? counter(series, end_s, columns, ret)
                              : gauge(series, end_s, columns, ret);
}
