/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One value out of the text of a result file; see extract.h. The text comes from a program that may
 * have died while it wrote, so nothing of it is trusted: what is cut off, ambiguous or no number is
 * said, never guessed.
 */
#include "text/extract.h"

#include "base/json.h"
#include "base/msg.h"
#include "base/str.h"
#include "text/pattern.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <string.h>

#define VALUE_MAX 4096u
#define ROW_MAX   UINT64_C(1000000000)

/* ---- values ---- */

/* Cut between characters, not inside one. */
static const char *keep(struct arena *arena, const char *bytes, size_t length) {
    if (length > VALUE_MAX) {
        length = VALUE_MAX;
        while (length > VALUE_MAX - 4 && ((unsigned char)bytes[length] & 0xc0) == 0x80)
            length--;
    }
    return arena_strndup(arena, bytes, length);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static void trim(const char **bytes, size_t *length) {
    while (*length > 0 && is_blank((*bytes)[*length - 1]))
        (*length)--;
    for (; *length > 0 && is_blank(**bytes); (*length)--)
        (*bytes)++;
}

/* A text that may be a number: blanks around it are not part of it. */
static void take_text(const char *bytes, size_t length, struct arena *arena,
                      struct extract_value *ret_value) {
    trim(&bytes, &length);
    struct extract_value value = {.text = keep(arena, bytes, length)};
    value.is_number = length <= VALUE_MAX && str_is_kept_whole(value.text) &&
                      str_to_double(value.text, &value.number) == 0;
    *ret_value = value;
}

/* Some editors and spreadsheets put a byte order mark before UTF-8. */
static void skip_mark(const char **text, size_t *length) {
    if (*length >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
        *text += 3;
        *length -= 3;
    }
}

/* ---- JSON pointer ---- */

static int check_pointer(const char *pointer, struct err *err) {
    if (pointer[0] != '\0' && pointer[0] != '/')
        return err_set(err, -EINVAL, "extract-spec",
                       "the JSON pointer '%s' does not begin with '/', for example /summary/loss",
                       pointer);
    for (const char *at = pointer; (at = strchr(at, '~')) != NULL; at++)
        if (at[1] != '0' && at[1] != '1')
            return err_set(err, -EINVAL, "extract-spec",
                           "in the JSON pointer '%s' a '~' is written '~0', and '~1' means '/'",
                           pointer);
    return 0;
}

/* The next part of a pointer without its escapes; *pointer stands behind it. */
static void next_part(const char **pointer, struct strbuf *part) {
    strbuf_clear(part);
    for ((*pointer)++; **pointer != '\0' && **pointer != '/'; (*pointer)++) {
        char c = **pointer;
        if (c == '~')
            c = *++(*pointer) == '0' ? '~' : '/';
        strbuf_add_char(part, c);
    }
}

/* RFC 6901: digits without leading zeros. "-", behind the last one, is never there. */
static json_t *element(const json_t *array, const char *part) {
    uint64_t index;
    if ((part[0] == '0' && part[1] != '\0') || str_to_u64(part, &index) < 0)
        return NULL;
    return index < json_array_size(array) ? json_array_get(array, (size_t)index) : NULL;
}

static const json_t *walk(const json_t *at, const char *pointer) {
    AUTO_STRBUF struct strbuf part = STRBUF_INIT;
    while (at != NULL && *pointer != '\0') {
        next_part(&pointer, &part);
        if (json_is_object(at))
            at = json_object_get(at, strbuf_str(&part));
        else
            at = json_is_array(at) ? element(at, strbuf_str(&part)) : NULL;
    }
    return at;
}

/* The last line that is not blank, if every such line is a document of its own. */
static json_t *parse_lines(const char *text, size_t length) {
    json_t *last = NULL;
    char why[160];
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end != NULL ? (size_t)(end - text) - at : length - at;
        const char *line = text + at;
        at += size + 1;
        while (size > 0 && (is_blank(line[size - 1]) || line[size - 1] == '\r'))
            size--;
        if (size == 0)
            continue;
        json_decref(last);
        last = json_parse(line, size, why);
        if (last == NULL)
            return NULL;
    }
    return last;
}

/* Does a number that is none stand in the document as 0 (1e-400)? The tree does not tell. */
static bool has_lost_number(const char *text, size_t length) {
    bool in_string = false;
    for (size_t i = 0; i < length; i++) {
        char number[VALUE_MAX + 1];
        size_t size = 0;
        double value;
        if (text[i] == '"')
            in_string = !in_string;
        i += in_string && text[i] == '\\';
        if (in_string || (text[i] != '-' && (text[i] < '0' || text[i] > '9')))
            continue;
        for (; i < length && memchr("0123456789+-.eE", text[i], 15) != NULL; i++)
            if (size < sizeof number - 1)
                number[size++] = text[i];
        number[size] = '\0';
        if (str_to_double(number, &value) == -ERANGE)
            return true;
        i--;
    }
    return false;
}

static int extract_json(const char *pointer, const char *text, size_t length, struct arena *arena,
                        struct extract_value *ret_value, struct err *err) {
    char why[160];
    skip_mark(&text, &length);
    AUTO_JSON json_t *document = json_parse(text, length, why);
    if (document == NULL)
        document = parse_lines(text, length);
    if (document == NULL)
        return err_set(err, -EINVAL, "extract-syntax", "the text is no JSON: %s", why);
    const json_t *found = walk(document, pointer);
    if (found == NULL)
        return err_set(err, -ENOENT, "extract-absent", "nothing stands at '%s'", pointer);
    if (json_is_object(found) || json_is_array(found))
        return err_set(err, -ENOENT, "extract-absent", "what stands at '%s' is no single value",
                       pointer);
    if (json_is_string(found)) {
        const char *bytes = json_string_value(found);
        *ret_value = (struct extract_value){.text = keep(arena, bytes, json_string_length(found))};
        return 0;
    }
    if (json_is_real(found) && fpclassify(json_real_value(found)) == FP_ZERO &&
        has_lost_number(text, length))
        return err_set(err, -EINVAL, "extract-syntax",
                       "what stands at '%s' is so small that it would read as 0", pointer);
    AUTO_STRBUF struct strbuf shown = STRBUF_INIT;
    json_add_compact(&shown, found);
    *ret_value = (struct extract_value){.is_number = json_is_number(found) &&
                                                     str_is_kept_whole(strbuf_str(&shown)),
                                        .number = json_number_value(found),
                                        .text = arena_strdup(arena, strbuf_str(&shown))};
    return 0;
}

/* ---- CSV (RFC 4180) ---- */

struct csv {
    const char *at, *end;
    char separator;
    bool damaged; /* a quote that ends nowhere, or text behind one */
};

enum csv_end {
    CSV_FIELD = 0,
    CSV_ROW,
    CSV_TEXT
}; /* what stands behind a field: another, a row, nothing */

/* The end of a field that began with a quote; what is doubled inside stands for one. */
static void quoted_field(struct csv *csv, struct strbuf *field) {
    for (csv->at++; csv->at < csv->end; csv->at++) {
        if (*csv->at == '"') {
            csv->at++;
            if (csv->at == csv->end || *csv->at != '"')
                return;
        }
        if (field != NULL)
            strbuf_add_char(field, *csv->at);
    }
    csv->damaged = true;
}

static void plain_field(struct csv *csv, struct strbuf *field) {
    const char *from = csv->at;
    while (csv->at < csv->end && *csv->at != csv->separator && *csv->at != '\n' && *csv->at != '\r')
        csv->at++;
    if (field != NULL)
        strbuf_add(field, from, (size_t)(csv->at - from));
}

/* field: NULL where nobody wants it. */
static enum csv_end next_field(struct csv *csv, struct strbuf *field) {
    if (field != NULL)
        strbuf_clear(field);
    if (csv->at < csv->end && *csv->at == '"') {
        quoted_field(csv, field);
        for (; csv->at < csv->end && is_blank(*csv->at) && *csv->at != csv->separator; csv->at++)
            ;
    } else {
        plain_field(csv, field);
    }
    if (csv->at == csv->end)
        return CSV_TEXT;
    char c = *csv->at++;
    if (c == csv->separator)
        return CSV_FIELD;
    csv->damaged = csv->damaged || (c != '\n' && c != '\r');
    csv->at += c == '\r' && csv->at < csv->end && *csv->at == '\n';
    return CSV_ROW;
}

/* What stands most often in the header outside quotes; of equals the first of these. */
static char find_separator(const char *text, size_t length) {
    static const char candidates[] = ",;\t";
    size_t counts[sizeof candidates - 1] = {0}, best = 0;
    bool quoted = false;
    for (size_t i = 0; i < length && (quoted || (text[i] != '\n' && text[i] != '\r')); i++) {
        const char *found = text[i] != '\0' ? strchr(candidates, text[i]) : NULL;
        if (text[i] == '"')
            quoted = !quoted;
        else if (found != NULL && !quoted)
            counts[found - candidates]++;
    }
    for (size_t i = 1; i < sizeof candidates - 1; i++)
        best = counts[i] > counts[best] ? i : best;
    return candidates[best];
}

static int find_column(struct csv *csv, const char *name, size_t *ret_column, struct err *err) {
    AUTO_STRBUF struct strbuf field = STRBUF_INIT;
    size_t column = 0, found = 0;
    enum csv_end end;
    do {
        end = next_field(csv, &field);
        const char *title = strbuf_str(&field);
        size_t length = field.length;
        trim(&title, &length);
        if (length == strlen(name) && memcmp(title, name, length) == 0) {
            *ret_column = column;
            found++;
        }
        column++;
    } while (end == CSV_FIELD);
    if (csv->damaged)
        return err_set(err, -EINVAL, "extract-syntax",
                       "a quoted field of the header does not end where it should");
    if (found > 1)
        return err_set(err, -ENOENT, "extract-absent", "%zu columns are named '%s'", found, name);
    if (found == 0)
        return err_set(err, -ENOENT, "extract-absent", "no column is named '%s'", name);
    return 0;
}

/* One row: the field of the column, if it has one. False: a blank line, which is no row. */
static bool read_row(struct csv *csv, size_t column, struct strbuf *field, bool *ret_has_field) {
    const char *begin = csv->at;
    size_t at = 0;
    enum csv_end end;
    *ret_has_field = false;
    do {
        *ret_has_field = *ret_has_field || at == column;
        end = next_field(csv, at == column ? field : NULL);
        at++;
    } while (end == CSV_FIELD);
    return csv->at > begin && *begin != '\n' && *begin != '\r';
}

/* "last" is 0. */
static int row_number(const char *row, uint64_t *ret_number) {
    *ret_number = 0;
    if (row == NULL || strcmp(row, "last") == 0)
        return 0;
    if (strcmp(row, "first") == 0) {
        *ret_number = 1;
        return 0;
    }
    bool sound = str_to_u64(row, ret_number) == 0 && *ret_number > 0 && *ret_number <= ROW_MAX;
    return sound ? 0 : -EINVAL;
}

static int extract_csv(const struct extract_spec *spec, const char *text, size_t length,
                       struct arena *arena, struct extract_value *ret_value, struct err *err) {
    AUTO_STRBUF struct strbuf field = STRBUF_INIT;
    size_t column = 0;
    uint64_t wanted = 0, rows = 0;
    bool has_field = false;
    skip_mark(&text, &length);
    if (memchr(text, '\0', length) != NULL)
        return err_set(err, -EINVAL, "extract-syntax",
                       "the text holds a NUL byte, so it is no CSV");
    struct csv csv = {.at = text, .end = text + length};
    csv.separator = find_separator(text, length);
    int rc = row_number(spec->row, &wanted);
    rc = rc < 0 ? rc : find_column(&csv, spec->what, &column, err);
    if (rc < 0)
        return rc;
    while (csv.at < csv.end && (wanted == 0 || rows < wanted)) {
        AUTO_STRBUF struct strbuf this_field = STRBUF_INIT;
        bool has_this = false;
        if (!read_row(&csv, column, &this_field, &has_this))
            continue;
        rows++;
        has_field = has_this;
        struct strbuf other = field;
        field = this_field;
        this_field = other;
    }
    if (csv.damaged)
        return err_set(err, -EINVAL, "extract-syntax",
                       "a quoted field does not end where it should");
    if (rows == 0 || rows < wanted)
        return err_set(err, -ENOENT, "extract-absent", "there are only %llu rows below the header",
                       (unsigned long long)rows);
    struct extract_value value = {.text = ""};
    if (has_field)
        take_text(strbuf_str(&field), field.length, arena, &value);
    if (value.text[0] == '\0')
        return err_set(err, -ENOENT, "extract-absent", "the field is empty");
    *ret_value = value;
    return 0;
}

/* ---- regular expression ---- */

static int compile(const char *expression, regex_t *ret_regex, struct err *err) {
    const char *why = pattern_why_refused(expression);
    char text[160];
    if (why != NULL)
        return err_set(err, -EINVAL, "extract-spec",
                       "the regular expression '%s' cannot be used: %s", expression, _(why));
    int rc = regcomp(ret_regex, expression, REG_EXTENDED); /* positive on error: regcomp(3) */
    if (rc != 0) {
        regerror(rc, ret_regex, text, sizeof text);
        return err_set(err, -EINVAL, "extract-spec",
                       "the regular expression '%s' cannot be used: %s", expression, text);
    }
    if (ret_regex->re_nsub > 1) {
        regfree(ret_regex);
        return err_set(err, -EINVAL, "extract-spec",
                       "the regular expression '%s' has %zu groups; put one pair of parentheses "
                       "around the value",
                       expression, ret_regex->re_nsub);
    }
    return 0;
}

static bool is_line_end(char c) {
    return c == '\n' || c == '\r'; /* progress bars write over their own line */
}

/* From the end, so that of a long log only as much is looked at as it takes. */
static int extract_regex(const char *expression, const char *text, size_t length,
                         struct arena *arena, struct extract_value *ret_value, struct err *err) {
    regex_t regex;
    int rc = compile(expression, &regex, err);
    if (rc < 0)
        return rc;
    size_t group = regex.re_nsub > 0 ? 1 : 0;
    bool any_cut = false;
    rc = -ENOENT;
    for (size_t end = length; end > 0 && rc < 0;) {
        while (end > 0 && is_line_end(text[end - 1]))
            end--;
        size_t begin = end;
        while (begin > 0 && !is_line_end(text[begin - 1]))
            begin--;
        char line[LINE_MAX_BYTES + 1];
        size_t size = end - begin < LINE_MAX_BYTES ? end - begin : LINE_MAX_BYTES;
        memcpy(line, text + begin, size);
        line[size] = '\0';
        regmatch_t at[2];
        bool is_cut = end - begin > size;
        any_cut |= is_cut;
        bool matches = size > 0 && regexec(&regex, line, 2, at, is_cut ? REG_NOTEOL : 0) == 0 &&
                       at[group].rm_so >= 0;
        if (matches && is_cut && (size_t)at[0].rm_eo == size) {
            regfree(&regex);
            return err_set(err, -EINVAL, "extract-syntax",
                           "what matches '%s' goes on behind the first %u bytes of its line",
                           expression, LINE_MAX_BYTES);
        }
        if (matches) {
            take_text(line + at[group].rm_so, (size_t)(at[group].rm_eo - at[group].rm_so), arena,
                      ret_value);
            rc = 0;
        }
        end = begin;
    }
    regfree(&regex);
    if (rc < 0 && any_cut)
        return err_set(err, rc, "extract-absent",
                       "no line matches '%s' (of long lines the first %u bytes were looked at)",
                       expression, LINE_MAX_BYTES);
    return rc < 0 ? err_set(err, rc, "extract-absent", "no line matches '%s'", expression) : 0;
}

/* ---- all ---- */

int extract_check(const struct extract_spec *spec, struct err *err) {
    regex_t regex;
    uint64_t row;
    int rc = 0;
    switch (spec->kind) {
    case EXTRACT_JSON:
        return check_pointer(spec->what, err);
    case EXTRACT_CSV:
        if (spec->what[0] == '\0')
            return err_set(err, -EINVAL, "extract-spec", "the name of the CSV column is empty");
        if (row_number(spec->row, &row) < 0)
            return err_set(err, -EINVAL, "extract-spec",
                           "a row is 'last', 'first' or a number from 1, not '%s'", spec->row);
        return 0;
    case EXTRACT_REGEX:
        rc = compile(spec->what, &regex, err);
        if (rc == 0)
            regfree(&regex);
        return rc;
    }
    return -EINVAL;
}

int extract_value(const struct extract_spec *spec, const char *text, size_t length,
                  struct arena *arena, struct extract_value *ret_value, struct err *err) {
    int rc = extract_check(spec, err);
    if (rc < 0)
        return rc;
    switch (spec->kind) {
    case EXTRACT_JSON:
        return extract_json(spec->what, text, length, arena, ret_value, err);
    case EXTRACT_CSV:
        return extract_csv(spec, text, length, arena, ret_value, err);
    case EXTRACT_REGEX:
        return extract_regex(spec->what, text, length, arena, ret_value, err);
    }
    return -EINVAL;
}
