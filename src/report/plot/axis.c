/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ticks, and values as they stand at them (plot.h). */
#include "report/plot/plot.h"

#include "model/quantity.h"

#include <math.h>

static double decimal_step(double least) {
    double power = pow(10.0, floor(log10(least)));
    static const double steps[] = {1.0, 2.0, 5.0};
    for (size_t i = 0; i < ARRAY_LENGTH(steps); i++)
        if (steps[i] * power >= least * (1.0 - 1e-9))
            return steps[i] * power;
    return 10.0 * power;
}

static double time_step(double least) {
    static const double steps[] = {1,   2,    5,    10,   15,    30,    60,    120,  300,
                                   600, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    if (least < 1.0)
        return decimal_step(least);
    for (size_t i = 0; i < ARRAY_LENGTH(steps); i++)
        if (steps[i] >= least * (1.0 - 1e-9))
            return steps[i];
    return 86400.0 * decimal_step(least / 86400.0);
}

static double step_of(double least, enum plot_unit unit) {
    switch (unit) {
    case PLOT_BYTES:
    case PLOT_RATE:
        return exp2(ceil(log2(least) - 1e-9));
    case PLOT_SECONDS:
        return time_step(least);
    case PLOT_NUMBER:
    case PLOT_SHARE:
        break;
    }
    return decimal_step(least);
}

size_t plot_ticks(double high, enum plot_unit unit, size_t most, double ret[PLOT_TICKS_MAX]) {
    if (!(high > 0.0) || !isfinite(high) || most == 0)
        return 0;
    most = most < PLOT_TICKS_MAX ? most : PLOT_TICKS_MAX - 1;
    double step = step_of(high / (double)most, unit);
    size_t count = 0;
    while (count <= most) {
        ret[count] = step * (double)count;
        if (ret[count++] >= high * (1.0 - 1e-9))
            break;
    }
    return count;
}

void plot_add_value(struct strbuf *out, double value, enum plot_unit unit) {
    switch (unit) {
    case PLOT_BYTES:
    case PLOT_RATE:
        quantity_format_value(value, UNIT_BYTE, out);
        if (unit == PLOT_RATE)
            strbuf_add_str(out, "/s");
        return;
    case PLOT_SECONDS:
        quantity_format_value(value, UNIT_SECOND, out);
        return;
    case PLOT_SHARE:
        strbuf_printf(out, "%.0f %%", 100.0 * value);
        return;
    case PLOT_NUMBER:
        strbuf_printf(out, "%.3g", value);
        return;
    }
}
