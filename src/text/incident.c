/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scanner over the table of incidents. It joins lines that speak of the same event (the kernel
 * writes three about one kill, a Python library two about one refusal) and never guesses: what no
 * rule knows is no incident.
 */
#include "text/incident.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "text/incident-rules.h"
#include "text/keys.h"
#include "text/pattern.h"

#include <assert.h>
#include <string.h>

/* Lines about one event stand at most so far apart (a traceback lies between them). */
#define SAME_EVENT_LINES 12u

struct rule_keys {
    uint16_t all[INCIDENT_KEYS_MAX], none[INCIDENT_KEYS_MAX];
    uint8_t all_count, none_count;
};

struct incident_scanner {
    struct line_splitter *splitter;
    struct keys *keys;
    struct rule_keys *rule_keys;
    struct incident incidents[INCIDENT_COUNT_MAX];
    size_t count;
    uint64_t dropped, lines;
};

static void scan_line(const char *line, size_t length, uint64_t offset, void *context);

struct incident_scanner *incident_scanner_new(void) {
    struct incident_scanner *scanner = mem_alloc(sizeof *scanner);
    scanner->splitter = line_splitter_new(scan_line, scanner);
    scanner->keys = keys_new();
    scanner->rule_keys = mem_alloc(incident_rule_count() * sizeof *scanner->rule_keys);
    for (size_t i = 0; i < incident_rule_count(); i++) {
        const struct incident_rule *rule = incident_rule_at(i);
        struct rule_keys *to = &scanner->rule_keys[i];
        assert(rule->all[0]);
        for (size_t k = 0; k < INCIDENT_KEYS_MAX && rule->all[k]; k++)
            to->all[to->all_count++] = (uint16_t)keys_add(scanner->keys, rule->all[k]);
        for (size_t k = 0; k < INCIDENT_KEYS_MAX && rule->none[k]; k++)
            to->none[to->none_count++] = (uint16_t)keys_add(scanner->keys, rule->none[k]);
    }
    keys_build(scanner->keys);
    return scanner;
}

struct incident_scanner *incident_scanner_free(struct incident_scanner *scanner) {
    if (!scanner)
        return NULL;
    for (size_t i = 0; i < scanner->count; i++) {
        mem_free_ptr(&scanner->incidents[i].line);
        json_decref(scanner->incidents[i].figures);
    }
    scanner->splitter = line_splitter_free(scanner->splitter);
    scanner->keys = keys_free(scanner->keys);
    mem_free_ptr(&scanner->rule_keys);
    mem_free_ptr(&scanner);
    return NULL;
}

static const struct incident_rule *find_rule(const struct incident_scanner *scanner,
                                             const struct keys_seen *seen, const char *line) {
    for (size_t i = 0; i < incident_rule_count(); i++) {
        const struct rule_keys *keys = &scanner->rule_keys[i];
        bool fits = true;
        for (size_t k = 0; fits && k < keys->all_count; k++)
            fits = keys_has(seen, keys->all[k]);
        for (size_t k = 0; fits && k < keys->none_count; k++)
            fits = !keys_has(seen, keys->none[k]);
        const struct incident_rule *rule = incident_rule_at(i);
        if (fits && (!rule->also || rule->also(line)))
            return rule;
    }
    return NULL;
}

/* ---- lines about the same event ---- */

static bool figures_agree(json_t *a, json_t *b) {
    const char *key;
    json_t *value;

    json_object_foreach (a, key, value) {
        const json_t *other = json_object_get(b, key);
        if (other && !json_equal(value, other))
            return false;
    }
    return true;
}

static bool same_pid(json_t *a, json_t *b) {
    const json_t *pid = json_object_get(a, "pid");
    const json_t *other = json_object_get(b, "pid");
    return pid && other && json_equal(pid, other);
}

static bool one_refines_other(const char *a, const char *b) {
    const struct incident_info *info_a = incident_info(a);
    const struct incident_info *info_b = incident_info(b);
    return (info_a->refines && strcmp(info_a->refines, b) == 0) ||
           (info_b->refines && strcmp(info_b->refines, a) == 0);
}

static bool is_same_event(const struct incident *old, const char *name, json_t *figures,
                          uint64_t line_number) {
    bool same_name = strcmp(old->name, name) == 0;
    bool close = line_number - old->last_line_number <= SAME_EVENT_LINES;

    if (same_name && same_pid(old->figures, figures))
        return true;
    if (!figures_agree(old->figures, figures))
        return false;
    if (!same_name)
        return close && one_refines_other(old->name, name);
    if (json_object_size(old->figures) == json_object_size(figures) &&
        json_equal(old->figures, figures))
        return true;
    /* An allocation that failed and a kill by the kernel are two events, however close. */
    return close && !json_object_get(old->figures, "scope") == !json_object_get(figures, "scope");
}

static void join(struct incident *old, const struct incident_info *info, json_t *figures,
                 uint64_t line_number) {
    if (info->refines && strcmp(info->refines, old->name) == 0) {
        old->name = info->name;
        old->outcome = info->outcome;
    }
    json_object_update_missing(old->figures, figures);
    old->count++;
    old->last_line_number = line_number;
}

static char *printable_line(const char *line, size_t length) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    str_add_printable(&text, line, length);
    size_t kept = text.length;
    if (kept > INCIDENT_LINE_MAX) {
        kept = INCIDENT_LINE_MAX;
        while (kept > 0 &&
               ((unsigned char)text.data[kept] & 0xc0u) == 0x80u) /* inside a UTF-8 character */
            kept--;
    }
    return mem_strndup(strbuf_str(&text), kept);
}

static void scan_line(const char *line, size_t length, uint64_t offset, void *context) {
    struct incident_scanner *scanner = context;
    struct keys_seen seen;

    (void)offset;
    scanner->lines++;
    if (!keys_scan(scanner->keys, line, length, &seen))
        return;
    const struct incident_rule *rule = find_rule(scanner, &seen, line);
    if (!rule)
        return;
    const struct incident_info *info = incident_info(rule->name);
    assert(info);

    AUTO_JSON json_t *figures = json_object();
    incident_read_figures(rule, line, figures);
    for (size_t i = scanner->count; i > 0; i--) {
        struct incident *old = &scanner->incidents[i - 1];
        if (is_same_event(old, info->name, figures, scanner->lines)) {
            join(old, info, figures, scanner->lines);
            return;
        }
    }
    if (scanner->count == INCIDENT_COUNT_MAX) {
        scanner->dropped++;
        return;
    }
    scanner->incidents[scanner->count++] = (struct incident){
        .name = info->name,
        .outcome = info->outcome,
        .line = printable_line(line, length),
        .figures = steal(figures),
        .count = 1,
        .line_number = scanner->lines,
        .last_line_number = scanner->lines,
    };
}

/* ---- the scanner's surface ---- */

void incident_scanner_feed(struct incident_scanner *scanner, const void *bytes, size_t length) {
    line_splitter_feed(scanner->splitter, bytes, length);
}

void incident_scanner_skip(struct incident_scanner *scanner, uint64_t bytes) {
    line_splitter_skip(scanner->splitter, bytes);
}

void incident_scanner_finish(struct incident_scanner *scanner) {
    line_splitter_finish(scanner->splitter);
    for (size_t i = 0; i < scanner->count; i++) {
        struct incident *incident = &scanner->incidents[i];
        incident->survived = scanner->lines - incident->last_line_number > INCIDENT_AFTERMATH_LINES;
    }
}

size_t incident_scanner_count(const struct incident_scanner *scanner) {
    return scanner->count;
}

const struct incident *incident_scanner_get(const struct incident_scanner *scanner, size_t index) {
    return index < scanner->count ? &scanner->incidents[index] : NULL;
}

uint64_t incident_scanner_dropped(const struct incident_scanner *scanner) {
    return scanner->dropped;
}

uint64_t incident_scanner_lines(const struct incident_scanner *scanner) {
    return scanner->lines;
}
