/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What plots are drawn with. Internal to report/plot. Units of a drawing: whole ones, PLOT_WIDTH
 * of them across; a page makes it as wide as it is. */
#pragma once

#include "report/plot/plot.h"

#define PLOT_WIDTH   1440
#define PLOT_LEFT    150 /* what stands left of the drawing: values at the ticks */
#define PLOT_RIGHT   20
#define PLOT_COLUMNS 400u
#define PLOT_ACROSS  (PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT)

/* <figure><svg …><title>…</title><desc>…</desc> and the end of both. caption may be NULL. */
void svg_begin(struct strbuf *out, const char *kind, int height, const char *title,
               const char *description);
void svg_end(struct strbuf *out, const char *caption);
void svg_line(struct strbuf *out, const char *class_, int x1, int y1, int x2, int y2);
void svg_box(struct strbuf *out, const char *class_, int x, int y, int width, int height);
/* Hatched: nothing was read, or is known. */
void svg_hatch(struct strbuf *out, int x, int y, int width, int height);
/* anchor: "start", "middle", "end". text may be anything. */
void svg_text(struct strbuf *out, const char *class_, const char *anchor, int x, int y,
              const char *text);
int svg_x(double value, double high); /* of a value between 0 and high */
