/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of intervals over one axis (plot.h). */
#include "report/plot/svg.h"

#include "base/msg.h"

#include <math.h>

#define ROW      74
#define BAR      22
#define AXIS     56
#define TICKS    8u
#define ROW_TEXT 26 /* base line of label and note within the row */

static double highest(const struct plot_interval *rows, size_t count) {
    double high = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double values[] = {rows[i].mid, rows[i].high, rows[i].actual};
        for (size_t k = 0; k < ARRAY_LENGTH(values); k++)
            if ((k == 2 || !rows[i].is_open) && isfinite(values[k]) && values[k] > high)
                high = values[k];
    }
    return high;
}

static void axis(struct strbuf *out, double high, enum plot_unit unit, int height) {
    double ticks[PLOT_TICKS_MAX];
    size_t count = plot_ticks(high, unit, TICKS, ticks);
    double end = ticks[count - 1];
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        plot_add_value(&text, ticks[i], unit);
        int x = svg_x(ticks[i], end);
        svg_line(out, "grid", x, 0, x, height - AXIS);
        const char *anchor = i == 0 ? "start" : i + 1 == count ? "end" : "middle";
        svg_text(out, "tick", anchor, x, height - AXIS + 32, strbuf_str(&text));
    }
}

static void row(struct strbuf *out, const struct plot_interval *r, double end, int y) {
    int bar = y + ROW - BAR - 12;
    svg_text(out, "label", "start", PLOT_LEFT + 6, y + ROW_TEXT, r->label);
    svg_text(out, "note", "end", PLOT_WIDTH - PLOT_RIGHT, y + ROW_TEXT, r->note);
    if (r->is_open)
        svg_hatch(out, PLOT_LEFT, bar, PLOT_ACROSS, BAR);
    else if (isfinite(r->low) && isfinite(r->high)) {
        int from = svg_x(r->low, end), to = svg_x(r->high, end);
        svg_box(out, "range", from, bar, to > from ? to - from : 1, BAR);
    }
    if (!r->is_open && isfinite(r->mid))
        svg_box(out, "mid", svg_x(r->mid, end) - 2, bar - 5, 5, BAR + 10);
    if (isfinite(r->actual)) {
        int x = svg_x(r->actual, end), middle = bar + BAR / 2;
        strbuf_printf(out, "<path class=\"actual\" d=\"M%d %dl12 14l-12 14l-12 -14z\"/>\n", x,
                      middle - 14);
    }
}

void plot_intervals(const char *title, enum plot_unit unit, const struct plot_interval *rows,
                    size_t count, struct strbuf *out) {
    double high = highest(rows, count), ticks[PLOT_TICKS_MAX];
    size_t tick_count = plot_ticks(high, unit, TICKS, ticks);
    if (tick_count == 0)
        return;
    AUTO_STRBUF struct strbuf words = STRBUF_INIT;
    bool has_actual = false;
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *text = mem_printf("%s: %s", rows[i].label, rows[i].note);
        strbuf_add_next(&words, "; ", text);
        has_actual = has_actual || isfinite(rows[i].actual);
    }
    int height = (int)count * ROW + AXIS;
    svg_begin(out, "intervals", height, title, strbuf_str(&words));
    axis(out, high, unit, height);
    for (size_t i = 0; i < count; i++)
        row(out, &rows[i], ticks[tick_count - 1], (int)i * ROW);
    svg_end(
        out,
        has_actual
            ? _("bar: the stated range, line: its median, diamond: what happened; hatched: open")
            : _("bar: the range, line: the median; hatched: open"));
}
