/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The curves of a run over one axis of time (plot.h). Each panel has a unit of its own; quantities
 * of GPU memory are curves of their own, never added.
 */
#include "report/plot/svg.h"

#include "base/msg.h"
#include "base/str.h"
#include "model/gpu-series.h"
#include "report/facts.h"
#include "report/html/html.h"

#include <math.h>
#include <string.h>

#define BAND       44 /* phases */
#define HEAD       40 /* title and legend of a panel */
#define PANEL      150
#define SPACE      18
#define AXIS       52
#define CURVES_MAX 64u /* of a panel: four of each of sixteen GPUs */
#define STYLES     8u  /* classes curve-0 … curve-7: colour and dashes */

/* ---- what is drawn ---- */

/* What several series say of one quantity: each column holds the least and largest of all. */
#define SERIES_MAX 3u
struct curve {
    const char *name; /* for the legend */
    const struct run_series *series[SERIES_MAX];
    size_t count;
};
struct panel {
    const char *title;
    enum plot_unit unit;
    struct curve curves[CURVES_MAX];
    size_t count;
};

static const struct run_series *find(const struct run *run, const char *name, const char *device) {
    for (size_t i = 0; i < run->series_count; i++) {
        const struct run_series *series = &run->series[i];
        bool is_its =
            device ? series->device && strcmp(series->device, device) == 0 : series->device == NULL;
        if (is_its && series->name && strcmp(series->name, name) == 0 && series->count > 0)
            return series;
    }
    return NULL;
}

/* names end with NULL; nothing where none of them is there. */
static void add_curve(struct panel *panel, const struct run *run, const char *label,
                      const char *device, const char *const *names) {
    struct curve curve = {.name = label};
    for (; *names && curve.count < SERIES_MAX; names++) {
        const struct run_series *series = find(run, *names, device);
        if (series)
            curve.series[curve.count++] = series;
    }
    if (curve.count > 0 && panel->count < CURVES_MAX)
        panel->curves[panel->count++] = curve;
}

static void add_host(struct panel *panel, const struct run *run, const char *series,
                     const char *label) {
    add_curve(panel, run, label, NULL, (const char *const[]){series, NULL});
}

/* Every device that has a series of that name, in the order of their first one. */
static size_t devices_of(const struct run *run, const char *ret[CURVES_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < run->series_count; i++) {
        const char *device = run->series[i].device;
        bool known =
            !device || !run->series[i].name || strncmp(run->series[i].name, "gpu.", 4) != 0;
        for (size_t k = 0; k < count && !known; k++)
            known = strcmp(ret[k], device) == 0;
        if (!known && count < CURVES_MAX)
            ret[count++] = device;
    }
    return count;
}

/* "GPU 3", as the driver numbers it where that is told. */
static const char *device_name(const struct run *run, const char *device, size_t index,
                               struct arena *arena) {
    int number = (int)index;
    for (size_t g = 0; g < run->gpu_count; g++)
        if (run->gpus[g].uuid && strcmp(run->gpus[g].uuid, device) == 0 && run->gpus[g].index >= 0)
            number = run->gpus[g].index;
    return arena_printf(arena, "GPU %d", number);
}

/* A panel for each quantity, a curve for each device. Behind the tenth minute the samples of a
 * second are its least, mean and largest. */
static void gpu_panels(const struct run *run, struct panel panels[3], struct arena *arena) {
    static const char *const used[] = {GPU_SERIES_USED, GPU_SERIES_USED_MIN, GPU_SERIES_USED_MAX,
                                       NULL};
    static const char *const own[] = {GPU_SERIES_PROCESS_USED, NULL};
    static const char *const busy[] = {GPU_SERIES_BUSY, NULL};
    const char *devices[CURVES_MAX];
    size_t count = devices_of(run, devices);
    panels[0] = (struct panel){.title = _("GPU memory in use"), .unit = PLOT_BYTES};
    panels[1] = (struct panel){.title = _("GPU memory of the run"), .unit = PLOT_BYTES};
    panels[2] = (struct panel){.title = _("GPU busy"), .unit = PLOT_SHARE};
    for (size_t i = 0; i < count; i++) {
        const char *name = device_name(run, devices[i], i, arena);
        add_curve(&panels[0], run, name, devices[i], used);
        add_curve(&panels[1], run, name, devices[i], own);
        add_curve(&panels[2], run, name, devices[i], busy);
    }
}

#define PANELS 7u

static size_t make_panels(const struct run *run, struct panel panels[PANELS], struct arena *arena) {
    gpu_panels(run, panels, arena);
    panels[3] = (struct panel){.title = _("host memory"), .unit = PLOT_BYTES};
    add_host(&panels[3], run, "tree.pss", _("all processes (PSS)"));
    add_host(&panels[3], run, "tree.rss_max", _("largest process (RSS)"));
    add_host(&panels[3], run, "cgroup.charged", _("charged to the control group"));
    panels[4] = (struct panel){.title = _("CPU cores"), .unit = PLOT_NUMBER};
    add_host(&panels[4], run, "tree.cpu", _("in use"));
    panels[5] = (struct panel){.title = _("input and output"), .unit = PLOT_RATE};
    add_host(&panels[5], run, "io.read", _("read from storage"));
    add_host(&panels[5], run, "io.written", _("written to storage"));
    panels[6] = (struct panel){.title = _("network"), .unit = PLOT_RATE};
    add_host(&panels[6], run, NET_SERIES_RECEIVED, _("received"));
    add_host(&panels[6], run, NET_SERIES_SENT, _("sent"));
    size_t count = 0;
    for (size_t i = 0; i < PANELS; i++)
        if (panels[i].count > 0)
            panels[count++] = panels[i];
    return count;
}

/* ---- drawing ---- */

struct drawing {
    struct strbuf *out;
    const struct run *run;
    double end_s;
    struct plot_column *columns; /* CURVES_MAX x PLOT_COLUMNS */
};

static int column_x(size_t column) {
    return PLOT_LEFT + (int)lround((double)column * PLOT_ACROSS / PLOT_COLUMNS);
}

/* Returns the largest value; NaN: nothing was read. */
static double decimate_curve(const struct drawing *d, const struct curve *curve,
                             struct plot_column *columns) {
    struct plot_column more[PLOT_COLUMNS];
    double top = NAN;
    plot_decimate(curve->series[0], d->end_s, PLOT_COLUMNS, columns);
    for (size_t i = 1; i < curve->count; i++) {
        plot_decimate(curve->series[i], d->end_s, PLOT_COLUMNS, more);
        for (size_t c = 0; c < PLOT_COLUMNS; c++) { /* of a NaN and a number: the number */
            columns[c].min = fmin(columns[c].min, more[c].min);
            columns[c].max = fmax(columns[c].max, more[c].max);
        }
    }
    for (size_t c = 0; c < PLOT_COLUMNS; c++)
        top = fmax(top, columns[c].max);
    return top;
}

static int value_y(double value, double top, int y) {
    return y + PANEL - (int)lround(top > 0.0 ? fmin(value / top, 1.0) * PANEL : 0.0);
}

/* From column to column: its least and its largest value, so that a peak of one sample is seen. */
static void add_path(const struct drawing *d, const struct plot_column *columns, double top, int y,
                     size_t style) {
    AUTO_STRBUF struct strbuf path = STRBUF_INIT;
    bool draws = false;
    int at_x = 0, at_y = 0;
    for (size_t c = 0; c < PLOT_COLUMNS; c++) {
        if (isnan(columns[c].max)) {
            draws = false;
            continue;
        }
        int x = column_x(c), high = value_y(columns[c].max, top, y),
            low = value_y(columns[c].min, top, y);
        if (!draws)
            strbuf_printf(&path, "M%d %d", x, low);
        else
            strbuf_printf(&path, "l%d %d", x - at_x, low - at_y);
        at_y = low;
        if (high != low)
            strbuf_printf(&path, "v%d", high - low);
        at_y = high;
        at_x = x;
        if (!draws && (c + 1 == PLOT_COLUMNS || isnan(columns[c + 1].max)))
            strbuf_add_str(&path, "h2"); /* alone: a line needs an end */
        draws = true;
    }
    if (path.length > 0)
        strbuf_printf(d->out, "<path class=\"curve curve-%zu\" d=\"%s\"/>\n", style % STYLES,
                      strbuf_str(&path));
}

/* Where no curve of the panel has a value. */
static void add_unread(const struct drawing *d, const struct panel *panel, int y) {
    size_t begin = SIZE_MAX;
    for (size_t c = 0; c <= PLOT_COLUMNS; c++) {
        bool unread = c < PLOT_COLUMNS;
        for (size_t i = 0; i < panel->count && unread; i++)
            unread = isnan(d->columns[i * PLOT_COLUMNS + c].max);
        if (unread && begin == SIZE_MAX)
            begin = c;
        if (unread || begin == SIZE_MAX)
            continue;
        svg_hatch(d->out, column_x(begin), y, column_x(c) - column_x(begin), PANEL);
        begin = SIZE_MAX;
    }
}

static void add_values(const struct drawing *d, const double *ticks, size_t count,
                       enum plot_unit unit, int y) {
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        int at = value_y(ticks[i], ticks[count - 1], y);
        plot_add_value(&text, ticks[i], unit);
        svg_line(d->out, "grid", PLOT_LEFT, at, PLOT_WIDTH - PLOT_RIGHT, at);
        svg_text(d->out, "tick", "end", PLOT_LEFT - 8, at + 8, strbuf_str(&text));
    }
}

/* Titles and the sample of each curve's line; where they do not fit, only the first ones. */
static void add_legend(const struct drawing *d, const struct panel *panel, int y) {
    svg_text(d->out, "label", "start", PLOT_LEFT, y, panel->title);
    int x = PLOT_LEFT + 40 + 14 * (int)str_width(panel->title);
    for (size_t i = 0; i < panel->count; i++) {
        int width = 66 + 11 * (int)str_width(panel->curves[i].name);
        if (x + width > PLOT_WIDTH && i > 0) {
            AUTO_FREE char *rest = mem_printf(_("and %zu more"), panel->count - i);
            svg_text(d->out, "note", "start", x, y, rest);
            return;
        }
        strbuf_printf(d->out, "<path class=\"curve curve-%zu\" d=\"M%d %dh36\"/>\n", i % STYLES, x,
                      y - 8);
        svg_text(d->out, "note", "start", x + 44, y, panel->curves[i].name);
        x += width;
    }
}

static void draw_panel(const struct drawing *d, const struct panel *panel, int y) {
    double top = 0.0, ticks[PLOT_TICKS_MAX];
    for (size_t i = 0; i < panel->count; i++)
        top = fmax(top, decimate_curve(d, &panel->curves[i], &d->columns[i * PLOT_COLUMNS]));
    if (panel->unit == PLOT_SHARE)
        top = 1.0;
    size_t count = plot_ticks(top, panel->unit, 4, ticks);
    if (count == 0) { /* all of it 0: the line at the bottom */
        ticks[0] = 0.0;
        count = 1;
    }
    add_legend(d, panel, y + HEAD - 12);
    y += HEAD;
    add_unread(d, panel, y);
    add_values(d, ticks, count, panel->unit, y);
    for (size_t i = 0; i < panel->count; i++)
        add_path(d, &d->columns[i * PLOT_COLUMNS], ticks[count - 1], y, i);
}

static void draw_phases(const struct drawing *d) {
    for (size_t i = 0; i < d->run->phase_count; i++) {
        const struct run_phase *phase = &d->run->phases[i];
        if (!(phase->end_s > phase->start_s))
            continue;
        int from = svg_x(phase->start_s, d->end_s), to = svg_x(phase->end_s, d->end_s);
        AUTO_FREE char *kind = mem_printf("phase phase-%s", phase_name(phase->phase));
        svg_box(d->out, kind, from, 0, to > from ? to - from : 1, BAND - 8);
        const char *name = phase->phase == PHASE_UNATTRIBUTED ? _("no phase known") : phase->name;
        if (name && to - from > 16 * (int)str_width(name))
            svg_text(d->out, "phase-name", "middle", (from + to) / 2, 26, name);
    }
}

static void draw_axis(const struct drawing *d, int y) {
    double ticks[PLOT_TICKS_MAX];
    size_t count = plot_ticks(d->end_s, PLOT_SECONDS, 8, ticks);
    for (size_t i = 0; i < count && ticks[i] <= d->end_s; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        int x = svg_x(ticks[i], d->end_s);
        plot_add_value(&text, ticks[i], PLOT_SECONDS);
        svg_line(d->out, "grid", x, BAND, x, y);
        svg_text(d->out, "tick", x + 60 > PLOT_WIDTH ? "end" : "middle", x, y + 32,
                 strbuf_str(&text));
    }
}

/* The peaks in words, for who does not see the curves. */
static void describe(const struct drawing *d, const struct panel *panels, size_t count,
                     struct strbuf *out) {
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < panels[p].count; i++) {
            AUTO_STRBUF struct strbuf text = STRBUF_INIT;
            double top = decimate_curve(d, &panels[p].curves[i], d->columns);
            strbuf_printf(&text, "%s, %s: ", panels[p].title, panels[p].curves[i].name);
            strbuf_add_str(&text, _("at most "));
            plot_add_value(&text, top, panels[p].unit);
            strbuf_add_next(out, "; ", strbuf_str(&text));
        }
}

/* Curves of which nothing was read are left out, and panels without one. */
static size_t keep_read(const struct drawing *d, struct panel *panels, size_t count) {
    size_t kept = 0;
    for (size_t p = 0; p < count; p++) {
        struct panel *panel = &panels[p];
        size_t curves = 0;
        for (size_t i = 0; i < panel->count; i++)
            if (!isnan(decimate_curve(d, &panel->curves[i], d->columns)))
                panel->curves[curves++] = panel->curves[i];
        panel->count = curves;
        if (curves > 0)
            panels[kept++] = *panel;
    }
    return kept;
}

static void say_none(struct strbuf *out) {
    strbuf_add_str(out, "<p>");
    html_add_text(out, _("no timeline: nothing was sampled"));
    strbuf_add_str(out, "</p>\n");
}

void plot_timeline(const struct run *run, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct panel *panels = arena_alloc(arena, PANELS * sizeof *panels);
    size_t count = make_panels(run, panels, arena);
    struct drawing d = {.out = out, .run = run, .end_s = facts_duration(run)};
    d.columns = arena_alloc(arena, CURVES_MAX * PLOT_COLUMNS * sizeof *d.columns);
    count = d.end_s > 0.0 ? keep_read(&d, panels, count) : 0;
    if (count == 0) {
        say_none(out);
        return;
    }
    AUTO_STRBUF struct strbuf words = STRBUF_INIT;
    describe(&d, panels, count, &words);
    int height = BAND + (int)count * (HEAD + PANEL + SPACE) + AXIS;
    svg_begin(out, "timeline", height, _("What the run did over its time"), strbuf_str(&words));
    draw_axis(&d, height - AXIS);
    draw_phases(&d);
    for (size_t i = 0; i < count; i++)
        draw_panel(&d, &panels[i], BAND + (int)i * (HEAD + PANEL + SPACE));
    svg_end(out, _("hatched: nothing was read; the topmost band: phases"));
}
