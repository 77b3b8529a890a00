/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantities as people read them, translated. Values are rounded to what a reader can use; the
 * exact ones are in the JSON. Must not print an open quantity as a number, nor a bound or an open
 * part as a bare total.
 */
#include "model/quantity.h"

#include "base/msg.h"
#include "base/str.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rounded to three significant digits, so that the choice of a unit and the printed text cannot
 * differ. */
static double round_to_3(double value) {
    if (fpclassify(value) == FP_ZERO)
        return 0;
    double scale = pow(10, floor(log10(fabs(value))) - 2);
    return scale > 0 && isfinite(value / scale) ? round(value / scale) * scale : value;
}

/* Three digits, four for 1000 to 1023 (KiB), never an exponent below 1e15. */
static void add_3_digits(double value, struct strbuf *out) {
    double size = fabs(value);
    if (size >= 999.5 && size < 1e15)
        strbuf_printf(out, "%.0f", value);
    else
        strbuf_add_str(out, msg_decimal((char[MSG_DECIMAL_SIZE]){0}, "%.3g", value));
}

/* Four digits and more where they stand before the point. */
static void add_number(double value, struct strbuf *out) {
    double size = fabs(value);
    if (size >= 999.95 && size < 1e15)
        strbuf_printf(out, "%.0f", value);
    else
        strbuf_add_str(out, msg_decimal((char[MSG_DECIMAL_SIZE]){0}, "%.4g", value));
}

#define MINUTE_S 60.0
#define HOUR_S   3600.0
#define DAY_S    86400.0

/* value is not negative. Each unit is left as soon as rounding would fill it up ("60 s"). */
static void add_seconds(double value, struct strbuf *out) {
    if (fpclassify(value) == FP_ZERO) {
        strbuf_printf(out, _("%s s"), "0");
    } else if (round_to_3(value) < 1e-6) {
        AUTO_STRBUF struct strbuf number = STRBUF_INIT;
        add_3_digits(value * 1e9, &number);
        strbuf_printf(out, _("%s ns"), strbuf_str(&number));
    } else if (round_to_3(value) < 1) {
        AUTO_STRBUF struct strbuf number = STRBUF_INIT;
        add_3_digits(value * 1e3, &number);
        strbuf_printf(out, _("%s ms"), strbuf_str(&number));
    } else if (round_to_3(value) < MINUTE_S) {
        AUTO_STRBUF struct strbuf number = STRBUF_INIT;
        add_3_digits(value, &number);
        strbuf_printf(out, _("%s s"), strbuf_str(&number));
    } else if (round(value) < HOUR_S) {
        int seconds = (int)round(value);
        strbuf_printf(out, _("%d min %02d s"), seconds / 60, seconds % 60);
    } else if (round(value / MINUTE_S) < 24 * 60) {
        int minutes = (int)round(value / MINUTE_S);
        strbuf_printf(out, _("%d h %02d min"), minutes / 60, minutes % 60);
    } else if (value < 1e5 * DAY_S) {
        int hours = (int)round(value / HOUR_S);
        strbuf_printf(out, _("%d d %02d h"), hours / 24, hours % 24);
    } else {
        AUTO_STRBUF struct strbuf number = STRBUF_INIT;
        add_3_digits(value / DAY_S, &number);
        strbuf_printf(out, _("%s d"), strbuf_str(&number));
    }
}

/* value is not negative; the first scale whose rounded number is below its limit. */
struct scale {
    double factor;
    double below; /* in units of this scale; the last one takes the rest */
    const char *name;
};

static void add_scaled(double value, const struct scale *scales, size_t count, struct strbuf *out) {
    size_t i = 0;
    for (; i + 1 < count; i++) {
        double number = value / scales[i].factor;
        double shown = number < 999.5 ? round_to_3(number) : round(number);
        if (shown < scales[i].below)
            break;
    }
    add_3_digits(value / scales[i].factor, out);
    strbuf_printf(out, " %s", _(scales[i].name));
}

static const struct scale byte_scales[] = {
    {1, 1024, N_("B")},        {0x1p10, 1024, N_("KiB")}, {0x1p20, 1024, N_("MiB")},
    {0x1p30, 1024, N_("GiB")}, {0x1p40, 1024, N_("TiB")}, {0x1p50, 1024, N_("PiB")},
};
static const struct scale joule_scales[] = {
    {1, 1000, N_("J")},
    {1e3, 1000, N_("kJ")},
    {1e6, 1000, N_("MJ")},
    {1e9, 1000, N_("GJ")},
};
/* CPU time is no clock time: the word core stays in every unit. */
static const struct scale core_scales[] = {
    {1e-3, 1000, N_("core ms")},
    {1, 120, N_("core s")},
    {60, 120, N_("core min")},
    {3600, 1000, N_("core h")},
};

static bool is_unit(const char *unit, const char *known) {
    return strcmp(unit, known) == 0;
}

void quantity_format_value(double value, const char *unit, struct strbuf *out) {
    assert(isfinite(value));
    if (unit == NULL || unit[0] == '\0')
        unit = UNIT_RATIO;
    bool scaled = true;
    double size = fabs(value);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (is_unit(unit, UNIT_SECOND))
        add_seconds(size, &text);
    else if (is_unit(unit, UNIT_BYTE))
        add_scaled(size, byte_scales, ARRAY_LENGTH(byte_scales), &text);
    else if (is_unit(unit, UNIT_JOULE))
        add_scaled(size, joule_scales, ARRAY_LENGTH(joule_scales), &text);
    else if (is_unit(unit, UNIT_CORE_SECOND))
        add_scaled(size, core_scales + !(size > 0), ARRAY_LENGTH(core_scales) - !(size > 0), &text);
    else
        scaled = false;
    if (scaled) {
        if (value < 0)
            strbuf_add_char(out, '-');
        strbuf_add(out, text.data, text.length);
        return;
    }
    add_number(fpclassify(value) == FP_ZERO ? 0 : value, out);
    if (is_unit(unit, UNIT_RATIO) || is_unit(unit, UNIT_COUNT))
        return;
    strbuf_add_char(out, ' ');
    quantity_add_unit(out, unit);
}

/* People's words for a reason; the names are for machines. */
static const char *reason_words(enum quantity_reason reason) {
    switch (reason) {
    case QUANTITY_NO_REASON:
    case QUANTITY_NOT_SAMPLED:
        return _("not sampled");
    case QUANTITY_NOT_SUPPORTED:
        return _("not supported");
    case QUANTITY_NOT_PERMITTED:
        return _("not permitted");
    case QUANTITY_NOT_VISIBLE:
        return _("not visible");
    case QUANTITY_NOT_SEPARATED:
        return _("not separated");
    case QUANTITY_STALE:
        return _("out of date");
    case QUANTITY_FAILED:
        return _("reading failed");
    case QUANTITY_MONITOR_LOST:
        return _("monitor lost");
    case QUANTITY_RUNNING:
        return _("still running");
    case QUANTITY_NOT_ENTERED:
        return _("not entered");
    case QUANTITY_NOT_IN_RECORD:
        return _("not in the record");
    case QUANTITY_NO_OFFER:
        return _("no offer");
    case QUANTITY_NO_EVIDENCE:
        return _("no evidence");
    case QUANTITY_TOO_FEW_RUNS:
        return _("too few runs");
    case QUANTITY_NOT_APPLICABLE:
        return _("not applicable");
    case QUANTITY_REASON_COUNT_:
        break;
    }
    return "";
}

static const char *state_mark(enum quantity_state state) {
    switch (state) {
    case QUANTITY_OPEN:
        return "[?] ";
    case QUANTITY_ASSUMED:
        return "[a] ";
    case QUANTITY_ESTIMATED:
        return "[e] ";
    case QUANTITY_MEASURED:
        return "[m] ";
    case QUANTITY_STATE_COUNT_:
        break;
    }
    return "";
}

static size_t count_open_parts(const struct quantity *q) {
    size_t open = 0;
    for (size_t i = 0; i < q->part_count; i++)
        open += !quantity_is_known(&q->parts[i].quantity);
    return open;
}

void quantity_add_bounded(enum quantity_bound bound, bool in_words, const char *value,
                          struct strbuf *out) {
    switch (bound) {
    case QUANTITY_EXACT:
        strbuf_add_str(out, value);
        break;
    case QUANTITY_AT_LEAST:
        strbuf_printf(out, in_words ? _("at least %s") : "≥ %s", value);
        break;
    case QUANTITY_AT_MOST:
        strbuf_printf(out, in_words ? _("at most %s") : "≤ %s", value);
        break;
    case QUANTITY_BOUND_COUNT_:
        break;
    }
}

static void add_interval(const struct quantity *q, struct strbuf *out) {
    AUTO_STRBUF struct strbuf low = STRBUF_INIT;
    AUTO_STRBUF struct strbuf high = STRBUF_INIT;
    quantity_format_value(q->p05, q->unit, &low);
    quantity_format_value(q->p95, q->unit, &high);
    char level[MSG_DECIMAL_SIZE];
    strbuf_printf(out, _(" (%s to %s, %s %%)"), strbuf_str(&low), strbuf_str(&high),
                  msg_decimal(level, "%.3g", q->level * 100));
}

static void add_open_parts(const struct quantity *q, struct strbuf *out) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    for (size_t i = 0; i < q->part_count; i++) {
        if (quantity_is_known(&q->parts[i].quantity))
            continue;
        if (names.length > 0)
            strbuf_add_str(&names, ", ");
        quantity_add_part(&names, q->parts[i].name);
    }
    strbuf_printf(out, _(" + open: %s"), strbuf_str(&names));
}

void quantity_format(const struct quantity *q, struct quantity_style style, struct strbuf *out) {
    assert(quantity_is_valid(q));
    if (style.mark)
        strbuf_add_str(out, state_mark(q->state));
    if (!quantity_is_known(q)) {
        strbuf_printf(out, _("open (%s)"), reason_words(q->reason));
        return;
    }
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    quantity_format_value(q->value, q->unit, &value);
    bool has_open_parts = count_open_parts(q) > 0;
    /* in words where the style is ASCII or the sentence goes on with the open parts */
    quantity_add_bounded(q->bound, style.ascii || has_open_parts, strbuf_str(&value), out);
    if (q->has_interval)
        add_interval(q, out);
    if (has_open_parts)
        add_open_parts(q, out);
}
