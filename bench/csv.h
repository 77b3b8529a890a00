/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simple CSV files of the benches: a fixed header, no quoted fields, one record a line. The input
 * is not trusted: every complaint is one line "FILE:LINE:COLUMN: what" (column: byte of the line,
 * from 1), id "csv-bad", code -EINVAL. It knows nothing of what the columns mean.
 */
#pragma once

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum { CSV_COLUMNS_MAX = 12, CSV_LINE_MAX = 65536 };
#define CSV_FILE_MAX (256u * 1024 * 1024) /* bytes */

struct csv {
    char *path;         /* owned */
    struct strbuf text; /* the file; fields point into it, commas and line ends become NUL */
    size_t at;          /* where the next line begins */
    size_t line;        /* number of the current line, from 1 */
    size_t columns;     /* of the header */
};

struct csv_row {
    size_t line;
    size_t count;                           /* == csv.columns */
    const char *field[CSV_COLUMNS_MAX];     /* borrowed from the csv, until csv_done */
    size_t column_of_byte[CSV_COLUMNS_MAX]; /* where the field begins, from 1 */
};

/* Reads the file and its first line, which must be `header` ("a,b,c"). */
int csv_open(struct csv *csv, const char *path, const char *header, struct err *err);
void csv_done(struct csv *csv);
#define AUTO_CSV __attribute__((cleanup(csv_done)))

/* 1: a row; 0: the end; negative: the line is not one of this file. Empty lines are none. */
int csv_next(struct csv *csv, struct csv_row *ret_row, struct err *err);

/* A complaint about field number `column` of the row; shows the field's beginning, printable. */
int csv_fail(const struct csv *csv, const struct csv_row *row, size_t column, struct err *err,
             const char *why);

/* Finite number >= least. An empty field is NAN where allowed (open), else an error. */
int csv_number(const struct csv *csv, const struct csv_row *row, size_t column, double least,
               bool may_be_empty, double *ret_value, struct err *err);
/* Whole number from least to most. */
int csv_count(const struct csv *csv, const struct csv_row *row, size_t column, size_t least,
              size_t most, size_t *ret_value, struct err *err);
