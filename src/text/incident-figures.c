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

static void put_bytes(json_t *figures, const char *name, const char *text, bool binary) {
    char number[32];
    size_t length = strspn(text, "0123456789.");
    double value;

    if (length == 0 || length >= sizeof number || text[length] == ',')
        return; /* "1,234" is undecidable: refused */
    memcpy(number, text, length);
    number[length] = '\0';
    if (str_to_double(number, &value) != 0)
        return;
    const char *unit = text + length;
    if (*unit == ' ')
        unit++;
    size_t unit_length = 0;
    while (isalpha((unsigned char)unit[unit_length]))
        unit_length++;
    double bytes = value * unit_bytes(unit, unit_length, binary);
    if (bytes > 0.0 && bytes < 9007199254740992.0) /* 2^53: exact in every reader of JSON */
        json_put_int(figures, name, (int64_t)(bytes + 0.5));
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
    case INCIDENT_INTEGER_BEFORE:
    case INCIDENT_SEGMENT_BEFORE:
    case INCIDENT_IS_TEXT:
    case INCIDENT_IS_NUMBER:
        break;
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
    const char *at = strstr(line, figure->at);
    if (!at)
        return;
    if (figure->kind == INCIDENT_INTEGER_BEFORE) {
        const char *from = at;
        while (from > line && isdigit((unsigned char)from[-1]))
            from--;
        put_integer(figures, figure->name, from, (size_t)(at - from));
    } else if (figure->kind == INCIDENT_SEGMENT_BEFORE) {
        put_segment_before(figures, figure->name, line, at);
    } else {
        put_behind(figure, at + strlen(figure->at), figures);
    }
}

void incident_read_figures(const struct incident_rule *rule, const char *line, json_t *figures) {
    for (size_t i = 0; i < INCIDENT_FIGURES_MAX && rule->figures[i].kind; i++)
        if (!json_object_get(figures, rule->figures[i].name))
            read_figure(&rule->figures[i], line, figures);
}
