/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plots as static SVG, written by the program: they are complete without a script, print well, and
 * carry <title>/<desc> for who cannot see them. Pure: numbers and words in, SVG text out. Colours
 * are CSS classes (web/style.css), never the only carrier of a meaning. What is open is drawn as
 * open (hatched, with its word), never as 0.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/run.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- decimation: at most `columns` columns, each the least and the largest value of its time ----
 */
struct plot_column {
    double time_s;   /* begin of the column */
    double min, max; /* NaN: nothing was read in it */
};
/* Peaks are kept exactly. A counter is turned into its rate per second first. Fills at most
 * `columns` entries over [start_s, end_s); returns how many. O(series->count). */
size_t plot_decimate(const struct run_series *series, double start_s, double end_s, size_t columns,
                     struct plot_column *ret);

/* ---- ticks: 1, 2, 5 x 10^n; bytes by powers of 1024; time by 1, 2, 5, 10, 15, 30 s, min, h ----
 */
enum plot_unit { PLOT_NUMBER = 0, PLOT_BYTES, PLOT_SECONDS, PLOT_SHARE, PLOT_BYTES_PER_SECOND };
size_t plot_ticks(double low, double high, enum plot_unit unit, size_t at_most, double *ret);
/* "1.5 GiB", "2 h 30 min" in the language of base/msg.h. In arena. */
const char *plot_tick_text(double value, enum plot_unit unit, double step, struct arena *arena);

/* ---- a run's timeline ---- */

/* A <figure class="timeline" id="timeline-RUN"> for a run with its series: GPU memory quantities,
 * utilisation, host memory, CPU, I/O as panels over one time axis, phase bands and idle causes,
 * gaps hatched with their reason. Within it, when `zoom`, the data of the same curves (at most 2000
 * columns) as <script type="application/json" class="chart-data"> (docs/report.md, "Data of a
 * chart"). A run without series: a sentence. */
void plot_timeline(const struct run *run, bool zoom, struct strbuf *out);

/* ---- rows of intervals: the estimate's components, planned against actual ---- */
struct plot_interval {
    const char *label;
    bool is_open;          /* nothing below is known; `note` says why */
    double low, mid, high; /* low, high NaN: no interval */
    double actual;         /* NaN: not known (yet) */
    const char *note;      /* beside the row: "[e] 2 h 10 min to 3 h"; never NULL */
};
/* One axis for all, from 0. title and description are for screen readers, too. */
void plot_intervals(const char *title, const char *description, enum plot_unit unit,
                    const struct plot_interval *rows, size_t count, struct strbuf *out);

/* The distribution of futures: quantiles (ascending, probabilities beside) as a density strip with
 * p05, p50, p95 named. */
void plot_distribution(const char *title, enum plot_unit unit, const double *probability,
                       const double *value, size_t count, struct strbuf *out);
