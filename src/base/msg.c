/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The message lookup. Holds the one piece of program-wide state there is, the language of messages,
 * because a text is looked up everywhere; it is set once at the start. Must not read the
 * environment (cli does).
 */
#include "base/msg.h"

#include "base/clock.h"
#include "base/msg-catalog.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct msg_catalog *current = &msg_catalogs[0];

size_t msg_plural_form(enum msg_plural_rule rule, unsigned long n) {
    switch (rule) {
    case MSG_PLURAL_NOT_ONE:
        return n != 1;
    case MSG_PLURAL_ABOVE_ONE:
        return n > 1;
    case MSG_PLURAL_NONE:
        return 0;
    }
    return 0;
}

const struct msg_entry *msg_catalog_find(const struct msg_catalog *catalog, const char *english) {
    size_t low = 0, high = catalog->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(english, catalog->entries[middle].english);
        if (order == 0)
            return &catalog->entries[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct msg_catalog *msg_catalog_of(const char *language) {
    for (size_t i = 0; i < msg_catalog_count; i++) {
        size_t length = strlen(msg_catalogs[i].language);
        /* "de" begins "de_DE.UTF-8", "de-AT", "de@euro", but not "den". */
        if (strncmp(language, msg_catalogs[i].language, length) == 0 &&
            (language[length] == '\0' || strchr("_-.@", language[length]) != NULL))
            return &msg_catalogs[i];
    }
    return NULL;
}

const char *msg_get(const char *english) {
    const struct msg_entry *entry = msg_catalog_find(current, english);
    return entry != NULL ? entry->forms[0] : english;
}

const char *msg_plural(unsigned long n, const char *one, const char *many) {
    const struct msg_entry *entry = msg_catalog_find(current, one);
    if (entry == NULL) /* an English text follows the English rule, whatever the language */
        return msg_plural_form(MSG_PLURAL_NOT_ONE, n) == 0 ? one : many;
    if (msg_plural_form(current->plural, n) == 0 || entry->forms[1] == NULL)
        return entry->forms[0];
    return entry->forms[1];
}

const char *msg_set_language(const char *language) {
    const struct msg_catalog *found = msg_catalog_of(language);
    current = found != NULL && found->count > 0 ? found : &msg_catalogs[0];
    return current->language;
}

const char *msg_language(void) {
    return current->language;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void replace_points(char *text, size_t length) {
    for (size_t i = 1; i + 1 < length; i++)
        if (text[i] == '.' && is_digit(text[i - 1]) && is_digit(text[i + 1]))
            text[i] = current->decimal;
}

const char *msg_decimal(char out[MSG_DECIMAL_SIZE], const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(out, MSG_DECIMAL_SIZE, fmt, args);
    va_end(args);
    if (length < 0)
        out[0] = '\0';
    replace_points(out, strlen(out));
    return out;
}

void msg_add_decimal(struct strbuf *out, const char *number) {
    size_t start = out->length;
    strbuf_add_str(out, number);
    if (out->length > start)
        replace_points(out->data + start, out->length - start);
}

/* Digits and hyphens of "2026-11-30", and no digit behind them. */
static bool begins_with_date(const char *text) {
    static const char shape[] = "dddd-dd-dd";
    for (size_t i = 0; shape[i] != '\0'; i++)
        if (shape[i] == 'd' ? !is_digit(text[i]) : text[i] != '-')
            return false;
    return !is_digit(text[sizeof shape - 1]);
}

void msg_add_date(struct strbuf *out, const char *iso) {
    if (!begins_with_date(iso)) {
        strbuf_add_str(out, iso);
        return;
    }
    for (const char *part = current->date; *part != '\0'; part++) {
        if (*part == 'y')
            strbuf_add(out, iso, 4);
        else if (*part == 'm')
            strbuf_add(out, iso + 5, 2);
        else if (*part == 'd')
            strbuf_add(out, iso + 8, 2);
        else
            strbuf_add_char(out, *part);
    }
    strbuf_add_str(out, iso + 10);
}

const char *msg_date(char out[MSG_DATE_SIZE], const char *iso) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    msg_add_date(&text, iso);
    (void)snprintf(out, MSG_DATE_SIZE, "%s", strbuf_str(&text));
    return out;
}

/* "2026-11-30 12:34:56" */
static void format_time(struct strbuf *text, int64_t utc_ns) {
    clock_format_utc(utc_ns, text);
    char *dot = strrchr(text->data, '.'), *between = strchr(text->data, 'T');
    if (dot != NULL)
        *dot = '\0';
    if (between != NULL)
        *between = ' ';
}

void msg_add_time(struct strbuf *out, int64_t utc_ns) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    format_time(&text, utc_ns);
    msg_add_date(out, text.data);
}

void msg_add_clock(struct strbuf *out, int64_t utc_ns) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    format_time(&text, utc_ns);
    const char *between = strchr(text.data, ' ');
    strbuf_add_str(out, between != NULL ? between + 1 : text.data);
}
