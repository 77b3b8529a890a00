/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cells of CSV (RFC 4180: CRLF, quotes doubled). Text that a spreadsheet would take for a formula
 * gets an apostrophe in front; numbers never depend on a locale. Internal to report/.
 */
#pragma once

#include "base/strbuf.h"
#include "model/quantity.h"

#include <stdint.h>

/* Each ends its cell. NULL and "": an empty one. */
void csv_add_text(struct strbuf *out, const char *text);
void csv_add_number(struct strbuf *out, bool known, double value); /* empty unless known */
void csv_add_utc(struct strbuf *out, int64_t utc_ns);              /* empty for 0 */
void csv_add_integer(struct strbuf *out, bool known, long long value);
void csv_end_cell(struct strbuf *out);
void csv_end_line(struct strbuf *out);
