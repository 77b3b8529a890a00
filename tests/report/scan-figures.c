/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan-figures.h"

#include "base/mem.h"
#include "base/msg.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * What is exempt, and why. Counts, ids, dates, versions, exit codes, shares and parameters of
 * conditions are no figures to begin with: they have no unit of this list behind them. Nor is what
 * stands right behind '=', '-', '.', ':', '/', '_' or a letter: it is part of a key=value as the
 * plan writes it, of a name, a date or a path.
 */
static const struct {
    const char *begins, *ends; /* of the stretch that is not looked at */
    const char *why;
} exempt[] = {
    {"`", "`", "code: a command to type or a text as it was recorded"},
    {"1초", "당", "per second: Korean writes the 1 of a rate"},
};

/* Lines that quote: our own texts around what stands in the plan or on a bill, whole. */
static const struct {
    const char *text, *why;
} quoting[] = {
    {N_("%s; the offer says: %s"), "a term of an offer, as its source has it"},
    {N_("offer '%s' (%s): %s, seen %s, valid until %s, source: %s"),
     "a rate, as its source has it"},
    {N_("%llu unit x %s, billed, at %s"), "factors of a bill; its amount has the mark"},
    {N_("%llu unit x %s, billed, in %lld rentals, at %s"), "the same"},
    {N_("storage of %s for %s, running"), "the same"},
    {N_("storage of %s for %s, stopped"), "the same"},
    {N_("transfer in of %s"), "the same"},
    {N_("transfer out of %s"), "the same"},
};
/* What stands behind a number and makes it a figure; N_ texts are looked up. The words that no
 * renderer uses today are what one that prints by itself would use. */
static const char *const units[] = {
    N_("B"),
    N_("KiB"),
    N_("MiB"),
    N_("GiB"),
    N_("TiB"),
    N_("PiB"),
    N_("J"),
    N_("kJ"),
    N_("MJ"),
    N_("GJ"),
    N_("core ms"),
    N_("core s"),
    N_("core min"),
    N_("core h"),
    N_("GPU-hours"),
    N_("wall hours"),
    "GPU-hours",
    "wall hours",
    "GB",
    "MB",
    "kB",
    "byte",
    "bytes",
    "token/s",
    "hours",
    "hour",
    "minutes",
    "minute",
    "seconds",
    "second",
    "days",
    "Stunden",
    "Stunde",
    "Minuten",
    "Sekunden",
    "Tage",
    "heures",
    "heure",
    "secondes",
    "jours",
    "시간",
    "분",
    "초",
    "일",
    "EUR",
    "CHF",
    "NAIRR SU",
};
/* The formats of a duration: what stands between and behind their numbers is a unit, too. */
static const char *const formats[] = {
    N_("%s ns"),         N_("%s ms"),       N_("%s s"), N_("%d min %02d s"),
    N_("%d h %02d min"), N_("%d d %02d h"), N_("%s d"),
};
static const char *const currencies[] = {"EUR", "NAIRR SU", "CHF"};
#define OFFERED                                                                       \
    2u /* the first ones, in which offers are; people enter other amounts in the rest \
        */

/* Units and formats, in the language that is set and in English. */
#define WORDS_MOST 256u
struct words {
    struct word {
        const char *text;
        size_t length;
        bool joins; /* letters may follow: Hangul */
    } items[WORDS_MOST];
    size_t count;
};

/* The longest piece between two conversions; it knows the text again. */
static size_t longest_piece(const char *format, const char **ret_piece) {
    size_t longest = 0;
    while (*format) {
        size_t length = strcspn(format, "%");
        if (length > longest) {
            longest = length;
            *ret_piece = format;
        }
        format += length;
        if (*format == '%')
            format += strcspn(format, "sud") + (format[strcspn(format, "sud")] != 0);
    }
    return longest;
}

static bool is_quoting(const char *line, size_t line_length) {
    for (size_t i = 0; i < ARRAY_LENGTH(quoting); i++) {
        const char *piece = "";
        const char *text = msg_get(quoting[i].text);
        size_t length = longest_piece(text, &piece);
        if (length > 3 && memmem(line, line_length, piece, length))
            return true;
    }
    return false;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(const char *at) {
    unsigned char c = (unsigned char)*at;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0xc3;
}

/* Blanks: plain, no-break, narrow no-break. */
static size_t blank(const char *at) {
    if (*at == ' ')
        return 1;
    if (strncmp(at, "\xc2\xa0", 2) == 0)
        return 2;
    return strncmp(at, "\xe2\x80\xaf", 3) == 0 ? 3 : 0;
}

/* Digits with what stands between groups and before decimals in some language. */
static size_t number(const char *at) {
    size_t length = 0;
    while (is_digit(at[length])) {
        while (is_digit(at[length]))
            length++;
        size_t gap = blank(at + length) > 1 ? blank(at + length) : 0; /* no plain one */
        if (gap > 0 && is_digit(at[length + gap]))
            length += gap;
        else if ((at[length] == '.' || at[length] == ',') && is_digit(at[length + 1]))
            length++;
    }
    return length;
}

static void add_word(struct words *words, const char *text, size_t length) {
    for (size_t i = 0; i < words->count; i++)
        if (words->items[i].length == length && strncmp(words->items[i].text, text, length) == 0)
            return;
    if (length == 0 || words->count == WORDS_MOST)
        return;
    words->items[words->count++] =
        (struct word){.text = text, .length = length, .joins = (unsigned char)*text >= 0xe0};
}

/* The literal pieces of a format, blanks around them taken away. */
static void add_format(struct words *words, const char *format) {
    while (*format) {
        if (*format == '%') {
            format += strcspn(format, "sd") + 1;
            continue;
        }
        size_t skip = blank(format), length = 0;
        if (skip == 0) {
            while (format[length] && format[length] != '%' && blank(format + length) == 0)
                length++;
            add_word(words, format, length);
        }
        format += skip + length;
    }
}

static void find_words(struct words *words) {
    words->count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
        add_word(words, units[i], strlen(units[i]));
        add_word(words, msg_get(units[i]), strlen(msg_get(units[i])));
    }
    for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) {
        add_format(words, formats[i]);
        add_format(words, msg_get(formats[i]));
    }
}

/* The length of the unit at this place; 0: there is none. */
static size_t any_unit(const struct words *words, const char *at) {
    size_t found = 0;
    for (size_t i = 0; i < words->count; i++) {
        const struct word *word = &words->items[i];
        if (word->length > found && strncmp(at, word->text, word->length) == 0 &&
            (word->joins || !is_letter(at + word->length)))
            found = word->length;
    }
    return found;
}

/* "1 h 02 min", "2.49 EUR", "EUR 2.49": its length; 0: no figure begins here. */
static size_t figure(const struct words *words, const char *at, bool *ret_money) {
    size_t all = 0;
    *ret_money = false;
    for (size_t i = 0; i < ARRAY_LENGTH(currencies); i++) {
        size_t length = strlen(currencies[i]);
        size_t gap = strncmp(at, currencies[i], length) == 0 ? blank(at + length) : 0;
        size_t digits = gap > 0 ? number(at + length + gap) : 0;
        if (digits > 0) {
            *ret_money = i < OFFERED;
            return length + gap + digits;
        }
    }
    for (;;) {
        size_t gap = all > 0 ? blank(at + all) : 0;
        size_t digits = number(at + all + gap);
        if (digits == 0)
            return all;
        const char *behind = at + all + gap + digits;
        size_t between = blank(behind);
        /* a plain number right before a letter is a name ("80GB", "7b") but in Hangul */
        size_t unit =
            between > 0 || (unsigned char)*behind >= 0xea ? any_unit(words, behind + between) : 0;
        if (unit == 0)
            return all;
        for (size_t i = 0; i < OFFERED; i++)
            *ret_money |= strncmp(behind + between, currencies[i], strlen(currencies[i])) == 0;
        all += gap + digits + between + unit;
    }
}

/* Texts are escaped where foreign ones could stand, which reads the same. */
static size_t mark(const char *at) {
    if (at[0] == '\\' && at[1] == '[' && at[2] && strchr("mea?", at[2]) && at[3] == '\\' &&
        at[4] == ']')
        return 5;
    return at[0] == '[' && at[1] && strchr("mea?", at[1]) && at[2] == ']' ? 3 : 0;
}

/* "from 2 s to 3 s" is one figure: the length of the word between them. */
static size_t range_word(const char *at) {
    const char *word = msg_get(" to ");
    if (strncmp(at, word, strlen(word)) == 0)
        return strlen(word);
    return strncmp(at, " \\~ ", 4) == 0 ? 4 : 0;
}

struct scan {
    const char *line;
    size_t line_length;
    struct words words;
    struct scanned found;
    struct strbuf *out;
};

static size_t exempt_stretch(const char *at, const char *end) {
    for (size_t i = 0; i < ARRAY_LENGTH(exempt); i++) {
        size_t length = strlen(exempt[i].begins);
        if (strncmp(at, exempt[i].begins, length) != 0)
            continue;
        const char *until = strstr(at + length, exempt[i].ends);
        if (until && until < end)
            return (size_t)(until - at) + strlen(exempt[i].ends);
    }
    return 0;
}

/* One cell or line. */
static void scan_stretch(struct scan *scan, const char *at, const char *end) {
    char marked = 0; /* the letter of the mark that the next figure stands behind */
    bool interval = false, inside = false; /* right behind a figure; in the brackets there */
    const char *before = at;
    while (at < end) {
        size_t length = exempt_stretch(at, end);
        if (length == 0 && *at == '\\' && mark(at) == 0)
            length = 2;
        bool is_signed = at > before + 1 && strchr("+-", at[-1]) && blank(at - 2) > 0;
        bool is_word = at > before && !is_signed &&
                       (is_letter(at - 1) || is_digit(at[-1]) || strchr("-.,:/_=", at[-1]) ||
                        (unsigned char)at[-1] >= 0x80);
        if (length > 0) {
            at += length;
            continue;
        }
        if (mark(at) > 0) {
            marked = at[mark(at) == 3 ? 1 : 2];
            at += mark(at);
            interval = inside = false;
            continue;
        }
        bool money = false;
        size_t found = is_word && !blank(at - 1) ? 0 : figure(&scan->words, at, &money);
        if (found > 0) {
            scan->found.figures++;
            if (!marked && !inside) {
                strbuf_printf(scan->out, "no mark before '%.*s' in: %.*s\n", (int)found, at,
                              (int)scan->line_length, scan->line);
            } else if (money && marked && marked != '?') {
                scan->found.money++;
            }
            if (!inside)
                interval = true;
            at += found;
            size_t to = range_word(at);
            if (to == 0)
                marked = 0; /* it spoke for this one */
            at += to;
            continue;
        }
        if (*at == '(' && interval)
            inside = true;
        if (*at == ')')
            inside = false;
        if (*at != ' ' && !inside)
            interval = false;
        if (*at == ';' || (*at == '.' && at + 1 < end && at[1] == ' '))
            marked = 0; /* the sentence is over */
        at++;
    }
}

static void scan_line(struct scan *scan) {
    const char *end = scan->line + scan->line_length;
    const char *from = scan->line;
    if (is_quoting(scan->line, scan->line_length))
        return;
    if (*from != '|') {
        scan_stretch(scan, from, end);
        return;
    }
    for (const char *at = from; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == '|') {
            scan_stretch(scan, from, at);
            from = at + 1;
        }
    }
}

struct scanned scan_figures(const char *markdown, struct strbuf *out) {
    struct scan scan = {.out = out};
    find_words(&scan.words);
    for (const char *line = markdown; *line;) {
        scan.line = line;
        scan.line_length = strcspn(line, "\n");
        scan_line(&scan);
        line += scan.line_length + (line[scan.line_length] == '\n');
    }
    return scan.found;
}
