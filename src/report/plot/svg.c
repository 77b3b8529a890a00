/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elements of a drawing (svg.h). */
#include "report/plot/svg.h"

#include "report/html/html.h"

#include <math.h>

#define DESC_MOST 8000u /* of a description: the words for three curves of each of sixteen GPUs */
#define HATCH     12
#define TEXT_MOST 110u /* characters that stand beside one another in a drawing */

void svg_begin(struct strbuf *out, const char *kind, int height, const char *title,
               const char *description) {
    strbuf_printf(out,
                  "<figure class=\"plot %s\">\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
                  kind, PLOT_WIDTH, height);
    html_add_text(out, title);
    strbuf_add_str(out, "</title>\n<desc>");
    html_add_text_most(out, description, DESC_MOST);
    strbuf_add_str(out, "</desc>\n");
}

void svg_end(struct strbuf *out, const char *caption) {
    strbuf_add_str(out, "</svg>\n");
    if (caption && *caption) {
        strbuf_add_str(out, "<figcaption>");
        html_add_marked(out, caption);
        strbuf_add_str(out, "</figcaption>\n");
    }
    strbuf_add_str(out, "</figure>\n");
}

void svg_line(struct strbuf *out, const char *class_, int x1, int y1, int x2, int y2) {
    strbuf_printf(out, "<path class=\"%s\" d=\"M%d %dL%d %d\"/>\n", class_, x1, y1, x2, y2);
}

void svg_box(struct strbuf *out, const char *class_, int x, int y, int width, int height) {
    strbuf_printf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                  class_, x, y, width, height);
}

void svg_hatch(struct strbuf *out, int x, int y, int width, int height) {
    svg_box(out, "unread", x, y, width, height);
    strbuf_add_str(out, "<path class=\"unread\" d=\"");
    for (int at = HATCH / 2; at < height; at += HATCH)
        strbuf_printf(out, "M%d %dh%d", x, y + at, width);
    strbuf_add_str(out, "\"/>\n");
}

void svg_text(struct strbuf *out, const char *class_, const char *anchor, int x, int y,
              const char *text) {
    strbuf_printf(out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%d\" y=\"%d\">", class_, anchor,
                  x, y);
    html_add_text_most(out, text, TEXT_MOST);
    strbuf_add_str(out, "</text>\n");
}

int svg_x(double value, double high) {
    double share = high > 0.0 ? value / high : 0.0;
    return PLOT_LEFT + (int)lround(fmin(fmax(share, 0.0), 1.0) * PLOT_ACROSS);
}
