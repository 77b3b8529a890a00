/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of CSV (csv-cells.h). */
#include "report/csv-cells.h"

#include "base/clock.h"
#include "base/mem.h"
#include "report/layout.h"

#include <math.h>
#include <string.h>

void csv_end_cell(struct strbuf *out) {
    strbuf_add_char(out, ',');
}

void csv_end_line(struct strbuf *out) {
    if (out->length > 0 && out->data[out->length - 1] == ',')
        out->data[--out->length] = '\0';
    strbuf_add_str(out, "\r\n");
}

/* OWASP's list of characters that make a cell a formula; the guard is part of the text, hence
 * inside the quotes. */
static bool begins_like_formula(const char *text) {
    return *text != '\0' && strchr("=+-@\t\r", *text) != NULL;
}

void csv_add_text(struct strbuf *out, const char *text) {
    if (text && *text) {
        AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
        layout_add_plain(&plain, text, false);
        bool quoted = strpbrk(strbuf_str(&plain), ",\"\r\n") != NULL;
        if (quoted)
            strbuf_add_char(out, '"');
        if (begins_like_formula(text))
            strbuf_add_char(out, '\'');
        for (const char *p = strbuf_str(&plain); *p; p++) {
            if (*p == '"')
                strbuf_add_char(out, '"');
            strbuf_add_char(out, *p);
        }
        if (quoted)
            strbuf_add_char(out, '"');
    }
    csv_end_cell(out);
}

void csv_add_number(struct strbuf *out, bool known, double value) {
    if (known && isfinite(value)) {
        if (value == floor(value) &&
            fabs(value) < 9007199254740992.0) /* 2^53: whole beyond doubt */
            strbuf_printf(out, "%.0f", value);
        else
            strbuf_printf(out, "%.15g", value);
    }
    csv_end_cell(out);
}

void csv_add_utc(struct strbuf *out, int64_t utc_ns) {
    if (utc_ns != 0)
        clock_format_utc(utc_ns, out);
    csv_end_cell(out);
}

void csv_add_integer(struct strbuf *out, bool known, long long value) {
    if (known)
        strbuf_printf(out, "%lld", value);
    csv_end_cell(out);
}
