/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory, CPU and phases over the time of a run, drawn with characters: one column is one slice of
 * time. A slice without a reading is drawn as a gap, never as 0; a slice's memory is the largest
 * reading in it, its CPU the mean rate. One pass over the samples, however many there are.
 */
#include "report/report.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "model/gpu-series.h"
#include "report/facts.h"
#include "report/layout.h"

#include <math.h>
#include <string.h>

#define LABEL_COLUMNS 13 /* what stands left of the drawing */
#define MIN_PLOT      8
#define MAX_PLOT      400
#define LEVELS        8 /* of one character */
#define HOLD_TICKS \
    4.0 /* a reading holds for so many mean distances of ticks, then there is a gap */

/* A way of drawing: what fills a cell to 1/8 … 8/8, what stands for "no reading". */
struct brush {
    const char *level[LEVELS + 1];
    const char *gap;
    const char *axis, *tick;
};

static const struct brush brush_unicode = {
    .level = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
    .gap = "┈",
    .axis = "─",
    .tick = "┴",
};

static const struct brush brush_ascii = {
    .level = {" ", "_", "_", ".", ".", ":", ":", "|", "#"},
    .gap = "?",
    .axis = "-",
    .tick = "+",
};

struct plot {
    size_t columns;
    double duration_s;
    double *value;  /* per column; NaN: no reading */
    double *weight; /* per column: seconds covered, for rates */
    bool has_gap;   /* a column without a reading was drawn */
};

static char phase_letter(enum phase phase) {
    switch (phase) {
    case PHASE_SETUP:
        return 's';
    case PHASE_TRANSFER:
        return 't';
    case PHASE_DATA:
        return 'd';
    case PHASE_LOAD:
        return 'l';
    case PHASE_PREPROCESS:
        return 'p';
    case PHASE_COMPUTE:
        return 'c';
    case PHASE_WRITE:
        return 'w';
    case PHASE_EVALUATE:
        return 'e';
    case PHASE_FIX:
        return 'f';
    case PHASE_TEARDOWN:
        return 'x';
    case PHASE_UNATTRIBUTED:
    case PHASE_COUNT_:
        return '-';
    }
    return '-';
}

static bool is_time(double seconds) {
    return isfinite(seconds) && seconds >= 0.0;
}

static size_t column_of(const struct plot *plot, double time_s) {
    double position = time_s / plot->duration_s * (double)plot->columns;
    if (!(position > 0.0))
        return 0;
    return position >= (double)plot->columns ? plot->columns - 1 : (size_t)position;
}

static void plot_clear(struct plot *plot) {
    for (size_t i = 0; i < plot->columns; i++) {
        plot->value[i] = (double)NAN;
        plot->weight[i] = 0.0;
    }
}

static void raise_to(double *value, double candidate) {
    if (isnan(*value) || candidate > *value)
        *value = candidate;
}

static double mean_distance(const struct run_series *series) {
    if (series->count < 2)
        return 0.0;
    double span = series->time_s[series->count - 1] - series->time_s[0];
    return is_time(span) ? span / (double)(series->count - 1) : 0.0;
}

/* Columns between two readings that are near each other show the first: it held until the next was
 * taken. */
static void plot_gauge(struct plot *plot, const struct run_series *series) {
    double hold_s = mean_distance(series) * HOLD_TICKS;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < series->count; i++) {
        double time_s = series->time_s[i], value = series->value[i];
        if (!is_time(time_s))
            continue;
        if (!isfinite(value)) {
            last = SIZE_MAX;
            continue;
        }
        size_t column = column_of(plot, time_s);
        if (last != SIZE_MAX && time_s - series->time_s[last] <= hold_s)
            for (size_t c = column_of(plot, series->time_s[last]) + 1; c < column; c++)
                raise_to(&plot->value[c], series->value[last]);
        raise_to(&plot->value[column], value);
        last = i;
    }
}

/* Spreads what a counter rose between two ticks over the columns of that time. */
static void spread(struct plot *plot, double from_s, double to_s, double rise) {
    double slice_s = plot->duration_s / (double)plot->columns;
    size_t last = column_of(plot, to_s);
    for (size_t c = column_of(plot, from_s); c <= last; c++) {
        double begin = fmax(from_s, (double)c * slice_s);
        double end = c + 1 == plot->columns ? to_s : fmin(to_s, (double)(c + 1) * slice_s);
        if (end <= begin)
            continue;
        if (isnan(plot->value[c]))
            plot->value[c] = 0.0;
        plot->value[c] += rise * (end - begin) / (to_s - from_s);
        plot->weight[c] += end - begin;
    }
}

static void plot_counter(struct plot *plot, const struct run_series *series) {
    for (size_t i = 1; i < series->count; i++) {
        double from_s = series->time_s[i - 1], to_s = series->time_s[i];
        double rise = series->value[i] - series->value[i - 1];
        /* a counter that fell belongs to another process: there is no rate between the two */
        if (is_time(from_s) && is_time(to_s) && to_s > from_s && isfinite(rise) && rise >= 0.0)
            spread(plot, from_s, to_s, rise);
    }
    for (size_t c = 0; c < plot->columns; c++)
        if (plot->weight[c] > 0.0)
            plot->value[c] /= plot->weight[c];
}

#define WINDOW_MAX_S 1.25 /* of a driver; what is farther from the one before was not seen */

/* A value that holds from the tick before on: the mean of each slice. */
static void plot_windows(struct plot *plot, const struct run_series *series) {
    for (size_t i = 1; i < series->count; i++) {
        double from_s = series->time_s[i - 1], to_s = series->time_s[i], value = series->value[i];
        if (is_time(from_s) && is_time(to_s) && to_s > from_s && to_s - from_s <= WINDOW_MAX_S &&
            isfinite(value))
            spread(plot, from_s, to_s, value * (to_s - from_s));
    }
    for (size_t c = 0; c < plot->columns; c++)
        if (plot->weight[c] > 0.0)
            plot->value[c] /= plot->weight[c];
}

static double plot_top(const struct plot *plot) {
    double top = 0.0;
    for (size_t c = 0; c < plot->columns; c++)
        if (!isnan(plot->value[c]))
            top = fmax(top, plot->value[c]);
    return top;
}

static void add_label(struct strbuf *out, const char *label, bool ascii) {
    AUTO_STRBUF struct strbuf cut = STRBUF_INIT;
    layout_cut(&cut, label, LABEL_COLUMNS - 1, ascii);
    size_t width = str_width(strbuf_str(&cut));
    layout_add_blanks(out, LABEL_COLUMNS - 1 - width);
    strbuf_add_str(out, strbuf_str(&cut));
    strbuf_add_char(out, ' ');
}

/* One line of a drawing that is `rows` lines high; row 0 is the lowest. */
static void add_plot_row(struct strbuf *out, const struct plot *plot, double top, size_t row,
                         size_t rows, const struct brush *brush) {
    for (size_t c = 0; c < plot->columns; c++) {
        if (isnan(plot->value[c])) {
            strbuf_add_str(out, row == 0 ? brush->gap : brush->level[0]);
            continue;
        }
        double share = top > 0.0 ? plot->value[c] / top : 0.0;
        long level = lround(share * (double)(rows * LEVELS)) - (long)(row * LEVELS);
        if (row == 0 && level < 1)
            level = 1; /* a reading is always seen, also one of 0 */
        strbuf_add_str(out, brush->level[level < 0 ? 0 : level > LEVELS ? LEVELS : level]);
    }
}

/* Bytes as people read them; cores with one digit, which is more than a drawing can show. */
static void add_top(struct strbuf *out, double top, const char *unit) {
    if (unit)
        quantity_format_value(top, unit, out);
    else
        strbuf_printf(out, "%.*f", top < 10.0 ? 1 : 0, top);
}

static void draw(struct strbuf *out, struct plot *plot, struct report_style style, const char *name,
                 const char *unit, size_t rows) {
    const struct brush *brush = style.ascii ? &brush_ascii : &brush_unicode;
    double top = plot_top(plot);
    for (size_t c = 0; c < plot->columns; c++)
        plot->has_gap = plot->has_gap || isnan(plot->value[c]);
    for (size_t row = rows; row-- > 0;) {
        AUTO_STRBUF struct strbuf label = STRBUF_INIT;
        if (row + 1 == rows)
            add_top(&label, top, unit);
        else if (row + 2 == rows)
            strbuf_add_str(&label, name);
        else if (row == 0)
            strbuf_add_char(&label, '0');
        add_label(out, strbuf_str(&label), style.ascii);
        add_plot_row(out, plot, top, row, rows, brush);
        layout_trim(out);
        strbuf_add_char(out, '\n');
    }
}

static const struct run_series *find_series(const struct run *run, const char *const *names) {
    for (; *names; names++)
        for (size_t i = 0; i < run->series_count; i++) {
            const struct run_series *series = &run->series[i];
            if (series->name && strcmp(series->name, *names) == 0 && series->count > 0)
                return series;
        }
    return NULL;
}

/* CPU time is a counter of core seconds, whatever its unit is called: its rate is in cores. */
static double seconds_per_unit(const char *unit) {
    if (unit && strcmp(unit, "ns") == 0)
        return 1e-9;
    return 1.0;
}

static void draw_memory(struct strbuf *out, const struct run *run, struct plot *plot,
                        struct report_style style) {
    static const char *const names[] = {"tree.pss", "tree.rss_max", NULL};
    const struct run_series *series = find_series(run, names);
    if (!series)
        return;
    plot_clear(plot);
    plot_gauge(plot, series);
    bool pss = strcmp(series->name, names[0]) == 0;
    draw(out, plot, style, pss ? _("tree, PSS") : _("largest RSS"), UNIT_BYTE, 4);
}

static void draw_cpu(struct strbuf *out, const struct run *run, struct plot *plot,
                     struct report_style style) {
    static const char *const names[] = {"tree.cpu", NULL};
    const struct run_series *series = find_series(run, names);
    if (!series || !series->is_counter)
        return;
    plot_clear(plot);
    plot_counter(plot, series);
    for (size_t c = 0; c < plot->columns; c++)
        plot->value[c] *= seconds_per_unit(series->unit);
    draw(out, plot, style, _("CPU cores"), NULL, 3);
}

/* Of the first GPU that has samples; behind the tenth minute of a run they are those of a second.
 */
static const struct run_series *gpu_series(const struct run *run, const char *name) {
    for (size_t g = 0; g < run->gpu_count; g++)
        for (size_t i = 0; i < run->series_count; i++) {
            const struct run_series *series = &run->series[i];
            const char *uuid = run->gpus[g].uuid;
            bool is_its = series->device && (!uuid || strcmp(series->device, uuid) == 0);
            if (is_its && series->name && strcmp(series->name, name) == 0 && series->count > 0)
                return series;
        }
    return NULL;
}

static void draw_gpu(struct strbuf *out, const struct run *run, struct plot *plot,
                     struct report_style style) {
    const struct run_series *used = gpu_series(run, GPU_SERIES_USED),
                            *most = gpu_series(run, GPU_SERIES_USED_MAX),
                            *busy = gpu_series(run, GPU_SERIES_BUSY);
    if (used || most) {
        plot_clear(plot);
        if (used)
            plot_gauge(plot, used);
        if (most)
            plot_gauge(plot, most);
        draw(out, plot, style, _("GPU memory"), UNIT_BYTE, 4);
    }
    if (busy) {
        plot_clear(plot);
        plot_windows(plot, busy);
        draw(out, plot, style, _("GPU busy"), NULL, 3);
    }
}

/* Which phase holds most of each slice. Phases do not overlap, so a pass over them is enough. */
static void band_phases(const struct run *run, const struct plot *plot, enum phase *ret_phase,
                        double *weight) {
    double slice_s = plot->duration_s / (double)plot->columns;
    for (size_t c = 0; c < plot->columns; c++) {
        ret_phase[c] = PHASE_UNATTRIBUTED;
        weight[c] = 0.0;
    }
    for (size_t i = 0; i < run->phase_count; i++) {
        const struct run_phase *phase = &run->phases[i];
        if (!is_time(phase->start_s) || !is_time(phase->end_s) || phase->end_s <= phase->start_s)
            continue;
        size_t last = column_of(plot, phase->end_s);
        for (size_t c = column_of(plot, phase->start_s); c <= last; c++) {
            double begin = fmax(phase->start_s, (double)c * slice_s);
            double held = fmin(phase->end_s, (double)(c + 1) * slice_s) - begin;
            if (held > weight[c]) {
                weight[c] = held;
                ret_phase[c] = phase->phase;
            }
        }
    }
}

static enum layout_color phase_color(enum phase phase) {
    if (phase == PHASE_COMPUTE)
        return LAYOUT_GOOD;
    return phase == PHASE_UNATTRIBUTED ? LAYOUT_DIM : LAYOUT_WARN;
}

static void draw_band(struct strbuf *out, const enum phase *phases, size_t columns,
                      struct report_style style) {
    for (size_t c = 0; c < columns;) {
        AUTO_STRBUF struct strbuf stretch = STRBUF_INIT;
        enum phase phase = phases[c];
        for (; c < columns && phases[c] == phase; c++)
            strbuf_add_char(&stretch, phase_letter(phase));
        layout_add_colored(out, style, phase_color(phase), strbuf_str(&stretch));
    }
    strbuf_add_char(out, '\n');
}

static void draw_band_legend(struct strbuf *out, const enum phase *phases, size_t columns,
                             struct report_style style) {
    bool seen[PHASE_COUNT_] = {false};
    for (size_t c = 0; c < columns; c++)
        seen[phases[c]] = true;
    AUTO_STRBUF struct strbuf legend = STRBUF_INIT;
    for (int i = 0; i < PHASE_COUNT_; i++) {
        if (!seen[i])
            continue;
        if (legend.length > 0)
            strbuf_add_str(&legend, "  ");
        strbuf_printf(&legend, "%c ", phase_letter((enum phase)i));
        strbuf_add_str(&legend,
                       i == PHASE_UNATTRIBUTED ? _("no phase known") : phase_name((enum phase)i));
    }
    layout_add_blanks(out, LABEL_COLUMNS);
    layout_wrap(out, strbuf_str(&legend), LABEL_COLUMNS, LABEL_COLUMNS, layout_columns(style));
    strbuf_add_char(out, '\n');
}

static void draw_phases(struct strbuf *out, const struct run *run, const struct plot *plot,
                        struct report_style style) {
    enum phase *phases = mem_realloc(NULL, plot->columns, sizeof(*phases));
    band_phases(run, plot, phases, plot->weight);
    add_label(out, _("phase"), style.ascii);
    draw_band(out, phases, plot->columns, style);
    draw_band_legend(out, phases, plot->columns, style);
    mem_free_ptr(&phases);
}

/* "0 s", the middle and the end under ticks; on narrow pages without the middle. */
static void draw_axis(struct strbuf *out, const struct plot *plot, struct report_style style) {
    const struct brush *brush = style.ascii ? &brush_ascii : &brush_unicode;
    size_t middle = plot->columns / 2;
    bool with_middle = plot->columns >= 40;
    layout_add_blanks(out, LABEL_COLUMNS);
    for (size_t c = 0; c < plot->columns; c++) {
        bool tick = c == 0 || c + 1 == plot->columns || (with_middle && c == middle);
        strbuf_add_str(out, tick ? brush->tick : brush->axis);
    }
    strbuf_add_char(out, '\n');
    AUTO_STRBUF struct strbuf centre = STRBUF_INIT;
    AUTO_STRBUF struct strbuf end = STRBUF_INIT;
    quantity_format_value(plot->duration_s / 2.0, UNIT_SECOND, &centre);
    quantity_format_value(plot->duration_s, UNIT_SECOND, &end);
    layout_add_blanks(out, LABEL_COLUMNS);
    size_t column = 3; /* "0 s" */
    strbuf_add_str(out, "0 s");
    if (with_middle) {
        size_t width = str_width(strbuf_str(&centre));
        size_t start = middle > width / 2 ? middle - width / 2 : 0;
        layout_add_blanks(out, start > column ? start - column : 1);
        strbuf_add_str(out, strbuf_str(&centre));
        column = (start > column ? start : column + 1) + width;
    }
    size_t width = str_width(strbuf_str(&end));
    size_t start = plot->columns > width ? plot->columns - width : 0;
    layout_add_blanks(out, start > column ? start - column : 1);
    strbuf_add_str(out, strbuf_str(&end));
    strbuf_add_char(out, '\n');
}

static bool has_known_phase(const struct run *run) {
    for (size_t i = 0; i < run->phase_count; i++)
        if (run->phases[i].phase != PHASE_UNATTRIBUTED)
            return true;
    return false;
}

void report_timeline(const struct run *run, struct report_style style, struct strbuf *out) {
    double duration_s = facts_duration(run);
    if (!(duration_s > 0.0)) {
        layout_paragraph(out, style, _("no timeline: nothing was sampled"));
        return;
    }
    size_t width = layout_columns(style);
    size_t columns = width > LABEL_COLUMNS + MIN_PLOT ? width - LABEL_COLUMNS : MIN_PLOT;
    struct plot plot = {.columns = columns > MAX_PLOT ? MAX_PLOT : columns,
                        .duration_s = duration_s};
    plot.value = mem_realloc(NULL, plot.columns, sizeof(*plot.value));
    plot.weight = mem_realloc(NULL, plot.columns, sizeof(*plot.weight));
    AUTO_STRBUF struct strbuf drawing = STRBUF_INIT;
    draw_memory(&drawing, run, &plot, style);
    draw_cpu(&drawing, run, &plot, style);
    draw_gpu(&drawing, run, &plot, style);
    if (drawing.length == 0)
        layout_paragraph(out, style, _("memory and CPU: no sample was taken"));
    bool shown = drawing.length > 0 || has_known_phase(run);
    if (shown) {
        strbuf_add(out, strbuf_str(&drawing), drawing.length);
        draw_axis(out, &plot, style);
        draw_phases(out, run, &plot, style);
    }
    if (plot.has_gap) {
        layout_add_blanks(out, LABEL_COLUMNS);
        strbuf_printf(out, "%s %s\n", style.ascii ? brush_ascii.gap : brush_unicode.gap,
                      _("no reading"));
    }
    mem_free_ptr(&plot.value);
    mem_free_ptr(&plot.weight);
}
