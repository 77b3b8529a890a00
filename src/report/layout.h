/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text on a terminal of a given width: cutting, wrapping, rows, tables. Internal to report/.
 * Everything that came from outside passes layout_add_plain or layout_cut, so that no control
 * character reaches a terminal; columns are counted by str_width, never by bytes. Knows nothing
 * about runs.
 */
#pragma once

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/quantity.h"
#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>

enum layout_color {
    LAYOUT_PLAIN = 0,
    LAYOUT_BOLD,
    LAYOUT_DIM,
    LAYOUT_GOOD,
    LAYOUT_WARN,
    LAYOUT_BAD,
    LAYOUT_COLOR_COUNT_
};

/* Columns that a style means: 80 where none is given, at least 20, at most 1000. */
size_t layout_columns(struct report_style style);

/* Foreign text on one line: printable, and in ASCII style every other character is '?'. NULL adds
 * nothing. */
void layout_add_plain(struct strbuf *out, const char *text, bool ascii);
/* The same, at most `columns` wide; what is cut is replaced by "…" ("..."). Never breaks a
 * character. */
void layout_cut(struct strbuf *out, const char *text, size_t columns, bool ascii);
/* Text of our own with a colour around it (none where the style has no colour). */
void layout_add_colored(struct strbuf *out, struct report_style style, enum layout_color color,
                        const char *text);
void layout_add_blanks(struct strbuf *out, size_t count);
void layout_trim(struct strbuf *out); /* takes blanks off the end */

/*
 * Adds text that is already printable, wrapped at blanks: the first line begins in column `column`,
 * the following ones are indented by `indent`. A word longer than a line is broken between
 * characters. Ends without a line feed.
 */
void layout_wrap(struct strbuf *out, const char *text, size_t column, size_t indent,
                 size_t columns);

/* ---- a page of labelled rows ---- */

/* "Time" with a line of its own, an empty line before it. */
void layout_heading(struct strbuf *out, struct report_style style, const char *heading);
/* Label, value and a note that wraps in the third column (below the value where the page is
 * narrow). note may be NULL. */
void layout_row(struct strbuf *out, struct report_style style, const char *label, const char *value,
                enum layout_color color, const char *note);
/* A paragraph indented by two, wrapped. */
void layout_paragraph(struct strbuf *out, struct report_style style, const char *text);
/* Foreign text on lines of its own, indented, wrapped; what goes on is indented by two more. */
void layout_line(struct strbuf *out, struct report_style style, size_t indent, const char *text);
/* "  - text": foreign text as an entry of a list, wrapped. */
void layout_bullet(struct strbuf *out, struct report_style style, const char *text);
/* Value and bound, with the mark of the state in front where asked for; printable. */
void layout_add_quantity(struct strbuf *out, const struct quantity *q, bool ascii, bool mark);
/* A row for a quantity: mark and value; as note how it is known and the detail. */
void layout_quantity(struct strbuf *out, struct report_style style, const char *label,
                     const struct quantity *q);
/* The note of that row alone (may be empty). */
void layout_quantity_note(struct strbuf *out, const struct quantity *q, bool ascii);
enum layout_color layout_state_color(enum quantity_state state);
/* "[m] measured  [e] estimated  …": the legend of the marks. */
void layout_legend(struct strbuf *out, struct report_style style);

/* ---- tables ---- */

/*
 * elastic: 0: as wide as its cells; otherwise it takes what is left, so many columns at least (one
 * of a table). wraps: the last column only: goes on below instead of being cut. optional: 0: always
 * shown; otherwise hidden on pages narrower than this.
 */
struct layout_column {
    const char *title;
    bool right; /* numbers */
    bool wraps;
    size_t elastic;
    size_t optional;
};

struct layout_table;
/* The columns array is borrowed for the life of the table. */
struct layout_table *layout_table_new(struct report_style style,
                                      const struct layout_column *columns, size_t count);
/* The next cell, row by row. Foreign text is made printable here. */
void layout_table_cell(struct layout_table *table, const char *text, enum layout_color color);
void layout_table_print(const struct layout_table *table, size_t indent, struct strbuf *out);
struct layout_table *layout_table_free(struct layout_table *table); /* accepts NULL, returns NULL */
void layout_table_free_ptr(struct layout_table **table);
#define AUTO_TABLE __attribute__((cleanup(layout_table_free_ptr)))
