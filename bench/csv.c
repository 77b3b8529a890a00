/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and fields of the benches' CSV files. The text is cut in place; nothing is copied. */
#include "csv.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SHOWN_BYTES = 40 };

static int fail_at(const struct csv *csv, size_t line, size_t byte, struct err *err,
                   const char *why) {
    AUTO_STRBUF struct strbuf path = STRBUF_INIT;
    str_add_printable(&path, csv->path, strlen(csv->path));
    return err_set(err, -EINVAL, "csv-bad", "%s:%zu:%zu: %s", strbuf_str(&path), line, byte, why);
}

int csv_fail(const struct csv *csv, const struct csv_row *row, size_t column, struct err *err,
             const char *why) {
    const char *field = row->field[column];
    size_t length = strnlen(field, SHOWN_BYTES + 1);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;

    strbuf_printf(&text, "%s, found '", why);
    str_add_printable(&text, field, length > SHOWN_BYTES ? SHOWN_BYTES : length);
    strbuf_add_str(&text, length > SHOWN_BYTES ? "…'" : "'");
    return fail_at(csv, row->line, row->column_of_byte[column], err, strbuf_str(&text));
}

/* Cuts the next line off; NULL at the end. A last line without its end is one, too. */
static char *take_line(struct csv *csv, size_t *ret_length) {
    if (csv->at >= csv->text.length)
        return NULL;
    char *line = csv->text.data + csv->at;
    size_t rest = csv->text.length - csv->at;
    char *end = memchr(line, '\n', rest);
    size_t length = end != NULL ? (size_t)(end - line) : rest;

    csv->at += length + (end != NULL);
    csv->line++;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0'; /* a strbuf has room for one more */
    *ret_length = length;
    return line;
}

static int check_line(const struct csv *csv, const char *line, size_t length, struct err *err) {
    if (length > CSV_LINE_MAX)
        return fail_at(csv, csv->line, CSV_LINE_MAX + 1, err, "the line is too long");
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            return fail_at(csv, csv->line, i + 1, err, "a control character");
        if (line[i] == '"' && (i == 0 || line[i - 1] == ','))
            return fail_at(csv, csv->line, i + 1, err, "quoted fields are not read");
    }
    return 0;
}

int csv_next(struct csv *csv, struct csv_row *ret_row, struct err *err) {
    size_t length = 0;
    char *line = take_line(csv, &length);

    while (line != NULL && length == 0)
        line = take_line(csv, &length);
    if (line == NULL)
        return 0;
    int rc = check_line(csv, line, length, err);
    if (rc < 0)
        return rc;

    *ret_row = (struct csv_row){.line = csv->line};
    for (char *at = line; at != NULL;) {
        char *comma = strchr(at, ',');
        size_t byte = (size_t)(at - line) + 1;
        if (ret_row->count == csv->columns)
            return fail_at(csv, csv->line, byte, err, "more fields than the header has columns");
        ret_row->field[ret_row->count] = at;
        ret_row->column_of_byte[ret_row->count++] = byte;
        if (comma != NULL)
            *comma++ = '\0';
        at = comma;
    }
    if (ret_row->count < csv->columns)
        return fail_at(csv, csv->line, length + 1, err, "fewer fields than the header has columns");
    return 1;
}

static int read_header(struct csv *csv, const char *header, struct err *err) {
    AUTO_STRBUF struct strbuf why = STRBUF_INIT;
    size_t length = 0;
    const char *line = take_line(csv, &length);

    csv->columns = 1;
    for (const char *at = header; *at != '\0'; at++)
        csv->columns += *at == ',';
    if (line != NULL && strlen(line) == length && strcmp(line, header) == 0)
        return 0;
    strbuf_printf(&why, "the header must be '%s'", header);
    return fail_at(csv, 1, 1, err, strbuf_str(&why));
}

int csv_open(struct csv *csv, const char *path, const char *header, struct err *err) {
    *csv = (struct csv){.path = mem_strdup(path)};
    int rc = file_read(path, CSV_FILE_MAX, &csv->text);
    if (rc == -EFBIG)
        return err_set(err, rc, "csv-too-large", "'%s' is too large", path);
    if (rc < 0)
        return err_set(err, rc, "csv-unreadable", "cannot read '%s': %s", path, strerror(-rc));
    return read_header(csv, header, err);
}

void csv_done(struct csv *csv) {
    strbuf_done(&csv->text);
    mem_free_ptr(&csv->path);
}

int csv_number(const struct csv *csv, const struct csv_row *row, size_t column, double least,
               bool may_be_empty, double *ret_value, struct err *err) {
    const char *field = row->field[column];
    double value = NAN;

    if (*field == '\0' && may_be_empty) {
        *ret_value = NAN;
        return 0;
    }
    if (str_to_double(field, &value) < 0 || !(value >= least) || !isfinite(value))
        return csv_fail(csv, row, column, err,
                        least > 0.0 ? "expected a number above 0" : "expected a number, 0 or more");
    *ret_value = value;
    return 0;
}

int csv_count(const struct csv *csv, const struct csv_row *row, size_t column, size_t least,
              size_t most, size_t *ret_value, struct err *err) {
    AUTO_STRBUF struct strbuf why = STRBUF_INIT;
    uint64_t value = 0;

    if (str_to_u64(row->field[column], &value) == 0 && value >= least && value <= most) {
        *ret_value = (size_t)value;
        return 0;
    }
    strbuf_printf(&why, "expected a whole number from %zu to %zu", least, most);
    return csv_fail(csv, row, column, err, strbuf_str(&why));
}
