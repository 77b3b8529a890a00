/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the figures of an incident from its line, as its rule describes them. A figure that is not
 * there, is cut off or does not parse is left out: what was not read is never a number.
 */
#include "text/incident-rules.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "text/secret.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE_TEXT_MAX 512u

static void put_text(json_t *figures, const char *name, const char *text, size_t length) {
    if (length == 0 || length > FIGURE_TEXT_MAX)
        return;
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT; /* an address may carry a password */
    AUTO_STRBUF struct strbuf printable = STRBUF_INIT;
    secret_mask(text, length, &masked);
    str_add_printable(&printable, strbuf_str(&masked), masked.length);
    json_put_text(figures, name, strbuf_str(&printable));
}

static void put_integer(json_t *figures, const char *name, const char *digits, size_t length) {
    char text[24];
    int64_t value;

    if (length == 0 || length >= sizeof text)
        return;
    memcpy(text, digits, length);
    text[length] = '\0';
    if (str_to_i64(text, &value) == 0)
        json_put_int(figures, name, value);
}

/* Bytes per unit, 0 for a word that is none. In messages about disks MB is decimal (RECORDS 1.4).
 */
static double unit_bytes(const char *unit, size_t length, bool binary) {
    static const char letters[] = "KMGTP";
    double kilo = binary ? 1024.0 : 1000.0;
    double bytes = 1.0;

    if (length == 0 || (length == 5 && strncmp(unit, "bytes", 5) == 0) ||
        (length == 1 && *unit == 'B'))
        return 1.0;
    const char *letter = strchr(letters, toupper((unsigned char)*unit));
    if (!letter || !*letter)
        return 0.0;
    if (length == 3 && unit[1] == 'i' && (unit[2] == 'B' || unit[2] == 'b'))
        kilo = 1024.0;
    else if (length == 1)
        kilo = 1024.0; /* "64M": how tools that leave out the B count */
    else if (length != 2 || (unit[1] != 'B' && unit[1] != 'b'))
        return 0.0;
    for (const char *l = letters; l <= letter; l++)
        bytes *= kilo;
    return bytes;
}

/* The unit that stands there, not one that a word only begins with. */
static double unit_at(const char *text) {
    size_t length = 0;
    while (isalpha((unsigned char)text[length]))
        length++;
    return length > 1 ? unit_bytes(text, length, true) : 0.0;
}

struct size {
    double number, unit; /* unit 0: none stands there */
    size_t length;       /* of both in the text */
};

/* "3,221,225,472": two groups of three and more can only be thousands. Copies the digits. */
static size_t read_grouped(const char *text, char *to, size_t size, size_t *ret_digits) {
    size_t at = strspn(text, "0123456789");
    size_t groups = 0, count = 0;

    if (at == 0 || at > 3)
        return 0;
    for (size_t i = 0; i < at; i++)
        to[count++] = text[i];
    while (text[at] == ',' && strspn(text + at + 1, "0123456789") == 3 && count + 4 < size) {
        memcpy(to + count, text + at + 1, 3);
        count += 3;
        at += 4;
        groups++;
    }
    *ret_digits = count;
    return groups >= 2 ? at : 0;
}

/* "1,234" is undecidable and refused; so is a size that is cut ("12.50 Mi"). */
static bool read_size(const char *text, bool binary, struct size *ret_size) {
    char number[32];
    size_t length = strspn(text, "0123456789.");
    size_t digits = length;
    double value;
    size_t grouped_digits = 0;
    size_t grouped = read_grouped(text, number, sizeof number, &grouped_digits);

    while (digits > 0 && text[digits - 1] == '.')
        digits--; /* end of a sentence */
    if (grouped > 0) {
        length = grouped;
        digits = grouped;
        number[grouped_digits] = '\0';
    } else {
        if (digits == 0 || digits >= sizeof number ||
            (text[length] == ',' && isdigit((unsigned char)text[length + 1])))
            return false;
        memcpy(number, text, digits);
        number[digits] = '\0';
    }
    if (str_to_double(number, &value) != 0)
        return false;
    *ret_size = (struct size){.number = value, .length = digits};
    if (digits < length && (text[length] != ' ' || unit_at(text + length + 1) == 0.0))
        return true;
    const char *unit = text + length;
    if (*unit == ' ')
        unit++;
    size_t unit_length = 0;
    while (isalpha((unsigned char)unit[unit_length]))
        unit_length++;
    if (unit_length == 0)
        return true;
    ret_size->unit = unit_bytes(unit, unit_length, binary);
    if (ret_size->unit > 0.0)
        ret_size->length = (size_t)(unit - text) + unit_length;
    return true;
}

static void put_byte_count(json_t *figures, const char *name, double bytes, double most) {
    if (bytes >= 0.0 && bytes < most)
        json_put_int(figures, name, (int64_t)(bytes + 0.5));
}

/* A number without a unit counts bytes, one with an unknown word nothing. */
static void put_bytes(json_t *figures, const char *name, const char *text, bool binary) {
    struct size size;
    if (!read_size(text, binary, &size))
        return;
    size_t behind = size.length;
    if (size.unit <= 0.0 && text[behind] == ' ')
        behind++;
    if (size.unit <= 0.0 && isalpha((unsigned char)text[behind]))
        return;
    double bytes = size.number * (size.unit > 0.0 ? size.unit : 1.0);
    if (bytes > 0.0) /* 2^53: exact in every reader of JSON */
        put_byte_count(figures, name, bytes, 9007199254740992.0);
}

/* Number and unit, both. What a library prints for "not available" (2^64 - 1 and the like) is no
 * size of any memory: 2^50 and above is left out (RECORDS 1.3). */
static void put_size(json_t *figures, const char *name, const char *text) {
    struct size size;
    if (read_size(text, true, &size) && size.unit > 0.0)
        put_byte_count(figures, name, size.number * size.unit, 1125899906842624.0);
}

static void put_size_before(json_t *figures, const char *name, const char *line, const char *at) {
    const char *from = at;
    struct size size;

    while (from > line && isalpha((unsigned char)from[-1]))
        from--;
    if (from > line && from[-1] == ' ')
        from--;
    while (from > line && (isdigit((unsigned char)from[-1]) || from[-1] == '.'))
        from--;
    if (read_size(from, true, &size) && from + size.length == at)
        put_size(figures, name, from);
}

/* "67.24/79.25 GiB", "29.60GB / 31.00GB": a unit that stands once is that of both. */
static void put_pair(json_t *figures, const char *name, const char *text, bool second) {
    struct size first, last;

    if (!read_size(text, true, &first))
        return;
    const char *slash = text + first.length;
    slash += strspn(slash, " ");
    if (*slash != '/')
        return;
    slash++;
    slash += strspn(slash, " ");
    if (!read_size(slash, true, &last) || last.unit <= 0.0)
        return;
    double bytes = second ? last.number * last.unit
                          : first.number * (first.unit > 0.0 ? first.unit : last.unit);
    put_byte_count(figures, name, bytes, 1125899906842624.0);
}

static void put_hex(json_t *figures, const char *name, const char *text) {
    int64_t value = 0;
    size_t digits = 0;

    if (text[0] != '0' || text[1] != 'x')
        return;
    for (const char *c = text + 2; isxdigit((unsigned char)*c) && digits < 12; c++, digits++) {
        int digit = isdigit((unsigned char)*c) ? *c - '0' : tolower((unsigned char)*c) - 'a' + 10;
        value = value * 16 + digit;
    }
    if (digits > 0 && digits < 12)
        json_put_int(figures, name, value);
}

static void put_milliseconds(json_t *figures, const char *name, const char *text) {
    char digits[20];
    size_t length = strspn(text, "0123456789");
    int64_t value;

    if (length == 0 || length >= sizeof digits)
        return;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (str_to_i64(digits, &value) == 0)
        json_put_real(figures, name, (double)value / 1000.0);
}

/* Bytes of an element of a TensorFlow type, 0 for an unknown one. */
static double element_bytes(const char *type, size_t length) {
    static const struct {
        const char *name;
        double bytes;
    } types[] = {{"float", 4},    {"float32", 4}, {"half", 2},      {"float16", 2},
                 {"bfloat16", 2}, {"double", 8},  {"float64", 8},   {"int64", 8},
                 {"uint64", 8},   {"int32", 4},   {"uint32", 4},    {"int16", 2},
                 {"uint16", 2},   {"int8", 1},    {"uint8", 1},     {"bool", 1},
                 {"qint8", 1},    {"quint8", 1},  {"complex64", 8}, {"complex128", 16}};
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
        if (strlen(types[i].name) == length && strncmp(types[i].name, type, length) == 0)
            return types[i].bytes;
    return 0.0;
}

/* "[25088,4096] and type float" → 411041792, and where it is from; without a type the elements. */
static void put_tensor(json_t *figures, const char *name, const char *text) {
    double elements = 1.0;
    const char *c = text;
    char *end = NULL;

    if (*c != '[')
        return;
    do {
        c++;
        if (!isdigit((unsigned char)*c))
            return; /* a scalar, or a dimension that is not known */
        elements *= (double)strtoul(c, &end, 10);
        c = end;
    } while (*c == ',');
    if (*c != ']' || elements <= 0.0 || elements > 1e15)
        return;
    json_put_int(figures, "elements", (int64_t)elements);
    const char *type = strstr(c, "type ");
    if (!type)
        return;
    type += strlen("type ");
    double bytes = element_bytes(type, strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789"));
    if (bytes > 0.0) {
        put_byte_count(figures, name, elements * bytes, 1125899906842624.0);
        json_put_text(figures, "requested_from", "shape");
    }
}

/* "Process 12 has 2.27 GiB memory in use." for each process that the driver lists. Without a "this
 * process" it is not known whose they are. More than the device holds are those of the whole board
 * beside a slice (W07): their ids are kept, their memory is not added up. */
static void put_neighbours(json_t *figures, const char *line) {
    static const char key[] = "Process ";
    AUTO_JSON json_t *pids = json_array();
    double sum = 0.0;
    bool is_whole = true;

    for (const char *at = line; (at = strstr(at, key)) != NULL;) {
        at += strlen(key);
        size_t length = strspn(at, "0123456789");
        struct size size;
        if (length == 0 || length > 18 || strncmp(at + length, " has ", 5) != 0)
            continue;
        json_array_append_new(pids, json_integer(strtoll(at, NULL, 10)));
        if (read_size(at + length + 5, true, &size) && size.unit > 0.0 &&
            size.number * size.unit < 1125899906842624.0)
            sum += size.number * size.unit;
        else
            is_whole = false;
    }
    if (json_array_size(pids) == 0)
        return;
    bool own_is_told = strstr(line, "this process has ") != NULL;
    const json_t *capacity = json_object_get(figures, "capacity_bytes");
    if (capacity && sum > json_number_value(capacity))
        is_whole = false;
    if (is_whole)
        put_byte_count(figures, own_is_told ? "other_processes_bytes" : "listed_processes_bytes",
                       sum, 1125899906842624.0);
    json_object_set(figures, own_is_told ? "other_pids" : "listed_pids", pids);
}

/* "0000:b3:00.0", "00000009:01:00": domain, bus, device and perhaps function. */
static void put_bus(json_t *figures, const char *name, const char *text) {
    for (const char *c = text; *c; c++) {
        size_t domain = strspn(c, "0123456789abcdefABCDEF");
        if (domain == 0)
            continue;
        const char *bus = c + domain;
        if (domain >= 4 && domain <= 8 && bus[0] == ':' && isxdigit((unsigned char)bus[1]) &&
            isxdigit((unsigned char)bus[2]) && bus[3] == ':' && isxdigit((unsigned char)bus[4]) &&
            isxdigit((unsigned char)bus[5])) {
            size_t length = domain + 6;
            if (bus[6] == '.' && isdigit((unsigned char)bus[7]))
                length += 2;
            put_text(figures, name, c, length);
            return;
        }
        c += domain - 1;
    }
}

/* The first status above 128 or below 0: a 0 or 1 beside it is another process's. */
static void put_status(json_t *figures, const char *name, const char *line, bool negative) {
    for (const char *at = line; (at = incident_find_status(at)) != NULL;) {
        char *end = NULL;
        long status = strtol(at, &end, 10);
        if (negative ? status < 0 : status > 128) {
            json_put_int(figures, name, negative ? -status : status);
            return;
        }
        at = end;
    }
}

static void put_phrase(json_t *figures, const char *name, const char *text) {
    size_t length = strcspn(text, ",(;`");
    const char *stop = strstr(text, ". ");
    if (stop && (size_t)(stop - text) < length)
        length = (size_t)(stop - text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '.'))
        length--;
    put_text(figures, name, text, length);
}

static void put_quoted(json_t *figures, const char *name, const char *text) {
    static const struct {
        const char *open, *close;
    } quotes[] = {{"'", "'"}, {"\"", "\""}, {"`", "'"}, {"\xe2\x80\x98", "\xe2\x80\x99"}};
    const char *best = NULL;
    const char *best_close = NULL;

    for (size_t i = 0; i < ARRAY_LENGTH(quotes); i++) {
        const char *open = strstr(text, quotes[i].open);
        if (!open || (best && open >= best))
            continue;
        /* An apostrophe inside a word ("can't") opens nothing. */
        if (*open == '\'' && open > text && isalpha((unsigned char)open[-1]))
            continue;
        const char *close = strstr(open + strlen(quotes[i].open), quotes[i].close);
        if (!close)
            continue;
        best = open + strlen(quotes[i].open);
        best_close = close;
    }
    if (best)
        put_text(figures, name, best, (size_t)(best_close - best));
}

/* Two path components behind the host: "datasets/" and "api/models/" do not count. */
static void put_repository(json_t *figures, const char *name, const char *text) {
    static const char *const folders[] = {"api/", "models/", "datasets/", "spaces/"};

    for (size_t i = 0; i < ARRAY_LENGTH(folders); i++)
        if (str_starts_with(text, folders[i]))
            text += strlen(folders[i]);
    size_t owner = strcspn(text, "/ \t?#'\"");
    if (owner == 0 || text[owner] != '/')
        return;
    size_t repository = strcspn(text + owner + 1, "/ \t?#'\",");
    if (repository > 0 && text[owner + repository] == '.')
        repository--; /* end of a sentence */
    if (repository > 0)
        put_text(figures, name, text, owner + 1 + repository);
}

static void put_segment_before(json_t *figures, const char *name, const char *line,
                               const char *at) {
    const char *from = at;
    while (from > line && !(from - line >= 2 && from[-1] == ' ' && from[-2] == ':'))
        from--;
    put_text(figures, name, from, (size_t)(at - from));
}

static void put_behind(const struct incident_figure *figure, const char *text, json_t *figures) {
    size_t length;

    if (figure->kind == INCIDENT_INTEGER || figure->kind == INCIDENT_SIZE)
        text += strspn(text, " "); /* columns of a table */
    switch (figure->kind) {
    case INCIDENT_INTEGER:
        put_integer(figures, figure->name, text, strspn(text, "0123456789"));
        break;
    case INCIDENT_BYTES:
        put_bytes(figures, figure->name, text, false);
        break;
    case INCIDENT_BYTES_BINARY:
        put_bytes(figures, figure->name, text, true);
        break;
    case INCIDENT_SIZE:
        put_size(figures, figure->name, text);
        break;
    case INCIDENT_PAIR_FIRST:
    case INCIDENT_PAIR_SECOND:
        put_pair(figures, figure->name, text, figure->kind == INCIDENT_PAIR_SECOND);
        break;
    case INCIDENT_HEX:
        put_hex(figures, figure->name, text);
        break;
    case INCIDENT_MILLISECONDS:
        put_milliseconds(figures, figure->name, text);
        break;
    case INCIDENT_TENSOR:
        put_tensor(figures, figure->name, text);
        break;
    case INCIDENT_BUS:
        put_bus(figures, figure->name, text);
        break;
    case INCIDENT_PHRASE:
        put_phrase(figures, figure->name, text);
        break;
    case INCIDENT_KIB:
        length = strspn(text, "0123456789");
        if (strncmp(text + length, "kB", 2) == 0 || strncmp(text + length, "kb", 2) == 0)
            put_bytes(figures, figure->name, text, true);
        break;
    case INCIDENT_WORD:
        length = strcspn(text, " \t,;:)");
        while (length > 0 && text[length - 1] == '.')
            length--;
        put_text(figures, figure->name, text, length);
        break;
    case INCIDENT_NAME: /* task names may hold blanks and even commas: up to ",pid=" and the like */
        for (length = 0; text[length]; length++)
            if (text[length] == ',' && text[length + 1 + strcspn(text + length + 1, ",=")] == '=')
                break;
        put_text(figures, figure->name, text, length);
        break;
    case INCIDENT_QUOTED:
        put_quoted(figures, figure->name, text);
        break;
    case INCIDENT_PARENTHESES: {
        const char *open = strchr(text, '(');
        const char *close = open ? strchr(open, ')') : NULL;
        if (close)
            put_text(figures, figure->name, open + 1, (size_t)(close - open - 1));
        break;
    }
    case INCIDENT_REPOSITORY:
        put_repository(figures, figure->name, text);
        break;
    case INCIDENT_FIGURE_END_:
    case INCIDENT_NEIGHBOURS:
    case INCIDENT_SIZE_BEFORE:
    case INCIDENT_WORD_WITH:
    case INCIDENT_INTEGER_BEFORE:
    case INCIDENT_SEGMENT_BEFORE:
    case INCIDENT_STATUS:
    case INCIDENT_STATUS_SIGNAL:
    case INCIDENT_IS_TEXT:
    case INCIDENT_IS_NUMBER:
        break;
    }
}

static void read_at(const struct incident_figure *figure, const char *line, const char *at,
                    json_t *figures) {
    if (figure->kind == INCIDENT_INTEGER_BEFORE) {
        const char *from = at;
        while (from > line && isdigit((unsigned char)from[-1]))
            from--;
        put_integer(figures, figure->name, from, (size_t)(at - from));
    } else if (figure->kind == INCIDENT_SIZE_BEFORE) {
        put_size_before(figures, figure->name, line, at);
    } else if (figure->kind == INCIDENT_SEGMENT_BEFORE) {
        put_segment_before(figures, figure->name, line, at);
    } else if (figure->kind == INCIDENT_WORD_WITH) {
        put_text(figures, figure->name, at, strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
    } else {
        put_behind(figure, at + strlen(figure->at), figures);
    }
}

static void read_figure(const struct incident_figure *figure, const char *line, json_t *figures) {
    if (figure->kind == INCIDENT_IS_TEXT) {
        json_put_text(figures, figure->name, figure->at);
        return;
    }
    if (figure->kind == INCIDENT_IS_NUMBER) {
        put_integer(figures, figure->name, figure->at, strlen(figure->at));
        return;
    }
    if (figure->kind == INCIDENT_STATUS || figure->kind == INCIDENT_STATUS_SIGNAL) {
        put_status(figures, figure->name, line, figure->kind == INCIDENT_STATUS_SIGNAL);
        return;
    }
    if (figure->kind == INCIDENT_NEIGHBOURS) {
        put_neighbours(figures, line);
        return;
    }
    /* The words may stand there several times; the first that a value can be read at counts. */
    for (const char *at = line; (at = strstr(at, figure->at)) != NULL; at++) {
        read_at(figure, line, at, figures);
        if (json_object_get(figures, figure->name) || *at == '\0' || *figure->at == '\0')
            return;
    }
}

static void read_all(const struct incident_figure *list, size_t most, const char *line,
                     json_t *figures) {
    for (size_t i = 0; i < most && list[i].kind; i++)
        if (!json_object_get(figures, list[i].name))
            read_figure(&list[i], line, figures);
}

void incident_read_figures(const struct incident_rule *rule, const char *line, json_t *figures) {
    read_all(rule->figures, INCIDENT_FIGURES_MAX, line, figures);
    if (rule->more)
        read_all(rule->more, SIZE_MAX, line, figures);
}

static void read_exact(const struct incident_figure *list, size_t most, const char *line,
                       json_t *figures) {
    for (size_t i = 0; i < most && list[i].kind; i++) {
        bool counts = list[i].kind == INCIDENT_INTEGER || list[i].kind == INCIDENT_INTEGER_BEFORE;
        if (counts && str_ends_with(list[i].name, "_bytes") &&
            !json_object_get(figures, list[i].name))
            read_figure(&list[i], line, figures);
    }
}

void incident_read_exact(const struct incident_rule *rule, const char *line, json_t *figures) {
    read_exact(rule->figures, INCIDENT_FIGURES_MAX, line, figures);
    if (rule->more)
        read_exact(rule->more, SIZE_MAX, line, figures);
}
