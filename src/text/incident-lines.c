/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the rules of incidents need to know of a line beyond fixed words: what others put before it,
 * whether it only quotes a message, which word it consists of. Must know nothing of incidents.
 */
#include "text/incident-rules.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* ---- what stands before a line ---- */

static size_t
prefix_rank(const char *line) { /* "[rank0]: ", "12: " (srun -l), "(train pid=12) " (ray) */
    if (str_starts_with(line, "[rank")) {
        size_t length = 5 + strspn(line + 5, "0123456789");
        return length > 5 && strncmp(line + length, "]: ", 3) == 0 ? length + 3 : 0;
    }
    if (*line == '(') {
        const char *close = strchr(line, ')');
        const char *pid = strstr(line, "pid=");
        return close && pid && pid < close && close[1] == ' ' ? (size_t)(close - line) + 2 : 0;
    }
    size_t digits = strspn(line, "0123456789");
    return digits > 0 && digits < 7 && line[digits] == ':' && line[digits + 1] == ' ' ? digits + 2
                                                                                      : 0;
}

static size_t prefix_compose(const char *line) { /* "trainer-1  | " */
    size_t name = 0;
    while (isalnum((unsigned char)line[name]) ||
           (name > 0 && line[name] && strchr("-_.", line[name])))
        name++;
    size_t blanks = strspn(line + name, " ");
    if (name == 0 || blanks == 0 || line[name + blanks] != '|' || line[name + blanks + 1] != ' ')
        return 0;
    return name + blanks + 2;
}

static size_t prefix_time(const char *line) { /* "2025-10-28T14:35:36.1Z stderr F " (docker, CRI) */
    size_t length = strspn(line, "0123456789-:.,TZ+");
    if (length < 19 || line[4] != '-' || line[10] != 'T' || line[length] != ' ')
        return 0;
    length++;
    if (str_starts_with(line + length, "stdout ") || str_starts_with(line + length, "stderr "))
        length += 7;
    if ((line[length] == 'F' || line[length] == 'P') && line[length + 1] == ' ')
        length += 2;
    return length;
}

static size_t prefix_syslog(const char *line) { /* "Oct 28 14:35:36 host python[12]: " */
    if (!isupper((unsigned char)line[0]) || !isalpha((unsigned char)line[1]) ||
        !isalpha((unsigned char)line[2]) || line[3] != ' ')
        return 0;
    size_t length = 4 + strspn(line + 4, " 0123456789:");
    if (length < 16)
        return 0;
    length += strcspn(line + length, " ");
    const char *end = strstr(line + length, ": ");
    return end && !memchr(line + length + 1, ' ', (size_t)(end - line) - length - 1)
               ? (size_t)(end - line) + 2
               : 0;
}

static size_t prefix_kernel(const char *line) { /* "[2059991.491436] ", "kern  :err   : " */
    if (*line == '[') {
        size_t blanks = 1 + strspn(line + 1, " ");
        size_t length = blanks + strspn(line + blanks, "0123456789.");
        bool has_point =
            memchr(line + blanks, '.', length - blanks) != NULL; /* not "[1]  Killed" */
        return has_point && line[length] == ']' && line[length + 1] == ' ' ? length + 2 : 0;
    }
    if (!str_starts_with(line, "kern ") && !str_starts_with(line, "daemon "))
        return 0;
    const char *level = strchr(line, ':');
    const char *end = level ? strstr(level + 1, ": ") : NULL;
    return end && end - line < 24 ? (size_t)(end - line) + 2 : 0;
}

static size_t prefix_tee(const char *line) { /* "[default3]:" (torchrun --tee) */
    if (!str_starts_with(line, "[default"))
        return 0;
    size_t length = 8 + strspn(line + 8, "0123456789");
    return length > 8 && line[length] == ']' && line[length + 1] == ':' ? length + 2 : 0;
}

static size_t prefix_level(const char *line) { /* "ERROR 04-23 14:42:53 [engine.py:238] " */
    static const char *const levels[] = {"ERROR ", "CRITICAL ", "WARNING ", "INFO "};

    for (size_t i = 0; i < ARRAY_LENGTH(levels); i++) {
        if (!str_starts_with(line, levels[i]))
            continue;
        size_t length = strlen(levels[i]);
        size_t date = strspn(line + length, "0123456789-:. ");
        if (date < 8)
            return 0;
        length += date;
        const char *close = line[length] == '[' ? strstr(line + length, "] ") : NULL;
        return close ? (size_t)(close - line) + 2 : 0;
    }
    return 0;
}

const char *incident_skip_prefix(const char *line) {
    static size_t (*const prefixes[])(const char *) = {prefix_time, prefix_syslog, prefix_compose,
                                                       prefix_rank, prefix_kernel, prefix_tee,
                                                       prefix_level};

    line += strspn(line, " \t");
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
            line += prefixes[i](line);
    return line + strspn(line, " \t");
}

/* ---- conditions that several groups of rules need ---- */

bool incident_is_word(const char *line, const char *word) {
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    size_t word_length = strlen(word);
    if (length < word_length || strncmp(line + length - word_length, word, word_length) != 0)
        return false;
    const char *at = line + length - word_length;
    return at == incident_skip_prefix(line) || (at > line && at[-1] == ']' && strstr(line, "%|"));
}

/* "numpy.core._exceptions._ArrayMemoryError: …" */
bool incident_begins_with(const char *line, const char *ending) {
    const char *name = incident_skip_prefix(line);
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_' || name[length] == '.')
        length++;
    size_t ending_length = strlen(ending);
    return length >= ending_length &&
           strncmp(name + length - ending_length, ending, ending_length) == 0 &&
           (name[length] == '\0' || name[length] == ':' || name[length] == '(');
}

/* The text before `end` ends with the word. */
static bool ends_before(const char *line, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - line) >= length && strncmp(end - length, word, length) == 0;
}

const char *incident_find_status(const char *line) {
    /* The first letter is left out: it may be a capital. */
    static const char *const words[] = {
        "xit code", "xitcode",    "xitCode",    "xit Code",  "xit_code", "xit status", "xit value",
        "xited",    "xited with", "eturn code", "eturncode", "ith code", "tatus"};

    for (const char *at = line; (at = strpbrk(at, "0123456789")) != NULL;) {
        size_t digits = strspn(at, "0123456789");
        const char *number = at > line && at[-1] == '-' ? at - 1 : at;
        const char *end = number;
        while (end > line && strchr(" \t\"':=(", end[-1]))
            end--;
        bool may_be = end < number && end > line && digits <= 4 && strchr("edhs", end[-1]);
        for (size_t i = 0; may_be && i < ARRAY_LENGTH(words); i++)
            if (ends_before(line, end, words[i]))
                return number;
        at += digits;
    }
    return NULL;
}

/* A token, or the beginning of one that a table cut ("OUT_OF_ME+"). */
static bool has_state(const char *line, const char *state) {
    for (const char *at = line; (at = strstr(at, state)) != NULL; at += strlen(state)) {
        const char *behind = at + strlen(state);
        bool begins = at > line && (at[-1] == ' ' || at[-1] == '|' || at[-1] == '\t');
        if (begins && (*behind == '\0' || strchr(" |+\t,", *behind)))
            return true;
    }
    return false;
}

bool incident_is_job_row(const char *line, const char *state) {
    line = incident_skip_prefix(line);
    if (!isdigit((unsigned char)*line) || !has_state(line, state))
        return false;
    for (const char *at = line; (at = strchr(at, ':')) != NULL; at++) { /* "0:125" */
        const char *from = at;
        while (from > line && isdigit((unsigned char)from[-1]))
            from--;
        size_t digits = strspn(at + 1, "0123456789");
        if (from < at && from > line && (from[-1] == ' ' || from[-1] == '|') && digits > 0 &&
            digits <= 3 && (at[1 + digits] == '\0' || strchr(" |", at[1 + digits])))
            return true;
    }
    return false;
}

bool incident_has_number(const char *line, const char *behind) {
    const char *at = strstr(line, behind);
    return at && isdigit((unsigned char)at[strlen(behind)]);
}

/* One of the words lies between line and at. */
static bool stands_before(const char *line, const char *at, const char *word) {
    const char *found = strstr(line, word);
    return found && found + strlen(word) <= at;
}

bool incident_is_quoted(const char *line, const char *at) {
    static const char *const prose[] = {
        "If you",      "if you",         "when you",   "When you",     "you get",
        "you see",     "you may",        "you might",  "you can",      "e.g.",
        "such as",     "for example",    "error like", "How to",       "how to",
        "errors like", "known issue",    "FAQ",        "troubleshoot", "Troubleshoot",
        "means that",  "looks like this"};
    static const char *const source[] = {
        "raise ",      "print(", "logger.", "logging.info(", "logging.warn", "logging.err",
        "logging.exc", "warn(",  "except ", "if '",          "if \"",        "assert ",
        "grep ",       "echo ",  "in str(", "// ",           " # "};
    const char *text = incident_skip_prefix(line);
    const char *from = *text == '`' ? text + 1 : text; /* the whole line was quoted and pasted */
    size_t ticks = 0;

    for (const char *c = from; c < at; c++)
        ticks = *c == '`' ? ticks + 1 : *c == '\'' && ticks % 2 == 1 ? ticks + 1 : ticks;
    if (ticks % 2 == 1)
        return true;
    if (text < at && (str_starts_with(text, "# ") || str_starts_with(text, "## ") ||
                      str_starts_with(text, "> ") || str_starts_with(text, "### ")))
        return true;
    for (size_t i = 0; i < ARRAY_LENGTH(prose); i++)
        if (stands_before(line, at, prose[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LENGTH(source); i++)
        if (stands_before(line, at, source[i]))
            return true;
    return false;
}
