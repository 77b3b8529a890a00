/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plots as static SVG, written by the program: complete without a script, printable, with <title>
 * and <desc> for who cannot see them. Pure: numbers and words in, SVG text out. What it looks like
 * is said by classes (web/style.css); colour is never the only carrier of a meaning. What was not
 * read is hatched, never drawn as 0.
 */
#pragma once

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/run.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- decimation: each column holds the least and the largest value of its time ---- */

struct plot_column {
    double min, max; /* NaN: nothing was read in it */
};
/* Peaks are kept exactly. A gauge holds until its next reading, where that is no more than four
 * mean distances away; a counter becomes a rate per second, and one that falls gives none there;
 * a share of busy time holds in the window before its tick, and windows too long were not seen.
 * Fills `columns` entries over [0, end_s); returns whether any holds a value. end_s > 0. */
bool plot_decimate(const struct run_series *series, double end_s, size_t columns,
                   struct plot_column *ret);

/* ---- ticks ---- */

enum plot_unit { PLOT_NUMBER = 0, PLOT_BYTES, PLOT_SECONDS, PLOT_SHARE, PLOT_RATE /* byte/s */ };
#define PLOT_TICKS_MAX 12u
/* From 0 to at least `high`, at most `most` steps (<= PLOT_TICKS_MAX - 1): 1, 2, 5 x 10^n; bytes by
 * powers of two; time by what divides minutes and hours. Returns how many; 0 for high <= 0. */
size_t plot_ticks(double high, enum plot_unit unit, size_t most, double ret[PLOT_TICKS_MAX]);
void plot_add_value(struct strbuf *out, double value, enum plot_unit unit); /* "1.5 GiB" */

/* ---- a run's timeline ---- */

/* A <figure> for a run with its series: memory of GPUs (each quantity a curve of its own, they are
 * never added), their use, memory, CPU, input and output, network, as panels over one axis of
 * time, with the phases above. Without any sample a sentence. */
void plot_timeline(const struct run *run, struct strbuf *out);

/* ---- rows of intervals: the estimate's components, planned against actual ---- */

struct plot_interval {
    const char *label;
    bool is_open;          /* nothing below is known */
    double low, mid, high; /* low, high NaN: no interval */
    double actual;         /* NaN: not known */
    const char *note;      /* the figure in words: "[e] 2 h (1.8 h to 3 h)"; never NULL */
};
/* A <figure>, one axis for all rows, from 0. Nothing without a known row. */
void plot_intervals(const char *title, enum plot_unit unit, const struct plot_interval *rows,
                    size_t count, struct strbuf *out);
