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
/* The statistics of an allocator may list every chunk of memory before the error comes. */
#define STATISTICS_LINES 4096u
#define BESIDE_MAX       8u
#define WRAPPED_LINES    4u

#define RULES_MAX 1024u

/* A rule, or one of several that it stands for. */
struct rule_keys {
    const struct incident_rule *rule;
    const char *first; /* the key that a quoted message would begin with */
    uint16_t all[INCIDENT_KEYS_MAX + 1], none[INCIDENT_KEYS_MAX];
    uint8_t all_count, none_count;
    uint16_t next_of_leading; /* next rule with the same leading key + 1, 0: none */
};

/* Figures of a rule that is no incident alone, until its incident comes. */
struct beside {
    const char *name;
    json_t *figures; /* owned */
    uint64_t line_number;
};

/* A message that a terminal or a paste broke into lines: the rest follows. */
struct unfinished {
    const struct incident_rule *rule; /* NULL: none */
    size_t incident;
    unsigned lines;
    size_t length;
    char text[LINE_MAX_BYTES + 1];
};

struct incident_scanner {
    struct line_splitter *splitter;
    struct keys *keys;
    struct rule_keys *rule_keys;
    size_t rule_count;
    /* The longest key of each rule leads: a rule is only asked when its own was seen. */
    struct keys_seen leading;
    uint16_t first_of_leading[KEYS_MAX]; /* per key: first such rule + 1, 0: none */
    struct incident incidents[INCIDENT_COUNT_MAX];
    json_t *exact[INCIDENT_COUNT_MAX]; /* owned: their figures that were counted, not rounded */
    bool warns[INCIDENT_COUNT_MAX];    /* each of its lines only warns */
    size_t count;
    struct beside beside[BESIDE_MAX]; /* a ring */
    size_t beside_next;
    struct unfinished unfinished;
    uint64_t dropped, lines;
};

static void take_line(const char *line, size_t length, uint64_t offset, void *context);

/* `word`: the one of rule->any that this entry stands for, or NULL. */
static void add_rule_keys(struct incident_scanner *scanner, const struct incident_rule *rule,
                          const char *word) {
    size_t index = scanner->rule_count++;
    struct rule_keys *to = &scanner->rule_keys[index];
    size_t leading = 0, longest = 0;

    assert(index < RULES_MAX && (rule->all[0] || word));
    to->rule = rule;
    to->first = rule->all[0] ? rule->all[0] : word;
    for (size_t k = 0; k <= INCIDENT_KEYS_MAX; k++) {
        const char *text = k < INCIDENT_KEYS_MAX && rule->all[k] ? rule->all[k] : word;
        if (!text)
            break;
        size_t key = keys_add(scanner->keys, text);
        to->all[to->all_count++] = (uint16_t)key;
        if (strlen(text) > longest) {
            longest = strlen(text);
            leading = key;
        }
        if (text == word)
            break;
    }
    for (size_t k = 0; k < INCIDENT_KEYS_MAX && rule->none[k]; k++)
        to->none[to->none_count++] = (uint16_t)keys_add(scanner->keys, rule->none[k]);
    scanner->leading.word[leading / 64] |= UINT64_C(1) << (leading % 64);
    to->next_of_leading = scanner->first_of_leading[leading];
    scanner->first_of_leading[leading] = (uint16_t)(index + 1);
}

struct incident_scanner *incident_scanner_new(void) {
    struct incident_scanner *scanner = mem_alloc(sizeof *scanner);
    scanner->splitter = line_splitter_new(take_line, scanner);
    scanner->keys = keys_new();
    scanner->rule_keys = mem_alloc(RULES_MAX * sizeof *scanner->rule_keys);
    for (size_t i = 0; i < incident_rule_count(); i++) {
        const struct incident_rule *rule = incident_rule_at(i);
        for (size_t w = 0; rule->any && rule->any[w]; w++)
            add_rule_keys(scanner, rule, rule->any[w]);
        if (!rule->any)
            add_rule_keys(scanner, rule, NULL);
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
        json_decref(scanner->exact[i]);
    }
    for (size_t i = 0; i < BESIDE_MAX; i++)
        json_decref(scanner->beside[i].figures);
    scanner->splitter = line_splitter_free(scanner->splitter);
    scanner->keys = keys_free(scanner->keys);
    mem_free_ptr(&scanner->rule_keys);
    mem_free_ptr(&scanner);
    return NULL;
}

/* The rules whose leading key was seen, a bit for each. */
static bool find_candidates(const struct incident_scanner *scanner, const struct keys_seen *seen,
                            uint64_t candidates[static RULES_MAX / 64]) {
    bool any = false;

    for (size_t i = 0; i < ARRAY_LENGTH(seen->word); i++) {
        uint64_t keys = seen->word[i] & scanner->leading.word[i];
        for (; keys != 0; keys &= keys - 1) {
            if (!any)
                memset(candidates, 0, RULES_MAX / 8);
            any = true;
            size_t key = i * 64 + (size_t)__builtin_ctzll(keys);
            for (size_t rule = scanner->first_of_leading[key]; rule != 0;
                 rule = scanner->rule_keys[rule - 1].next_of_leading)
                candidates[(rule - 1) / 64] |= UINT64_C(1) << ((rule - 1) % 64);
        }
    }
    return any;
}

static bool rule_fits(const struct incident_scanner *scanner, size_t index,
                      const struct keys_seen *seen, const char *line) {
    const struct rule_keys *keys = &scanner->rule_keys[index];
    bool fits = true;

    for (size_t k = 0; fits && k < keys->all_count; k++)
        fits = keys_has(seen, keys->all[k]);
    for (size_t k = 0; fits && k < keys->none_count; k++)
        fits = !keys_has(seen, keys->none[k]);
    return fits && (!keys->rule->also || keys->rule->also(line));
}

static const struct incident_rule *find_rule(const struct incident_scanner *scanner,
                                             const struct keys_seen *seen, const char *line) {
    uint64_t candidates[RULES_MAX / 64];

    if (!find_candidates(scanner, seen, candidates))
        return NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(candidates); i++) {
        for (uint64_t rules = candidates[i]; rules != 0; rules &= rules - 1) {
            size_t index = i * 64 + (size_t)__builtin_ctzll(rules);
            if (!rule_fits(scanner, index, seen, line))
                continue;
            const struct rule_keys *keys = &scanner->rule_keys[index];
            const char *at = strstr(line, keys->first);
            /* A text about the message, or the source that prints it: nothing happened here. */
            return at && incident_is_quoted(line, at) ? NULL : keys->rule;
        }
    }
    return NULL;
}

/* ---- lines about the same event ---- */

/* One line rounds what the next one counts. */
static bool values_agree(const json_t *a, const json_t *b) {
    if (!json_is_number(a) || !json_is_number(b))
        return json_equal(a, b) != 0;
    double first = json_number_value(a), second = json_number_value(b);
    double difference = first > second ? first - second : second - first;
    return difference <= 0.0 || (first > 1e6 && second > 1e6 && difference < first / 100.0);
}

static bool figures_agree(json_t *a, json_t *b) {
    const char *key;
    json_t *value;

    json_object_foreach (a, key, value) {
        const json_t *other = json_object_get(b, key);
        if (other && !values_agree(value, other) && strcmp(key, "backend") != 0)
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

static bool is_statistics(const char *name) {
    return strcmp(name, "gpu_oom_detail") == 0;
}

static bool is_same_event(const struct incident *old, const char *name, json_t *figures,
                          uint64_t line_number) {
    bool same_name = strcmp(old->name, name) == 0;
    uint64_t distance = line_number - old->last_line_number;
    bool close = distance <= (is_statistics(name) || is_statistics(old->name) ? STATISTICS_LINES
                                                                              : SAME_EVENT_LINES);

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

/* What is counted takes the place of what was rounded; of two counts the first stays. */
static void add_exact(json_t *figures, json_t *known, json_t *exact) {
    const char *key;
    json_t *value;

    json_object_foreach (exact, key, value) {
        if (!json_object_get(known, key))
            json_object_set(figures, key, value);
    }
    json_object_update_missing(known, exact);
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

/* ---- figures that stand on lines of their own ---- */

static void keep_beside(struct incident_scanner *scanner, const char *name, json_t *figures) {
    struct beside *to = &scanner->beside[scanner->beside_next++ % BESIDE_MAX];
    json_decref(to->figures);
    *to = (struct beside){
        .name = name, .figures = json_incref(figures), .line_number = scanner->lines};
}

static void add_kept(struct incident_scanner *scanner, const char *name, json_t *figures) {
    for (size_t i = 0; i < BESIDE_MAX; i++) {
        struct beside *from = &scanner->beside[i];
        if (!from->figures || strcmp(from->name, name) != 0 ||
            scanner->lines - from->line_number > INCIDENT_BESIDE_LINES)
            continue;
        json_object_update_missing(figures, from->figures);
        json_decref(from->figures);
        *from = (struct beside){0};
    }
}

static void take_beside(struct incident_scanner *scanner, const char *name, json_t *figures) {
    for (size_t i = scanner->count; i > 0; i--) {
        struct incident *old = &scanner->incidents[i - 1];
        if (strcmp(old->name, name) != 0 && !one_refines_other(old->name, name))
            continue;
        if (scanner->lines - old->last_line_number > INCIDENT_BESIDE_LINES)
            continue;
        json_object_update_missing(old->figures, figures);
        old->last_line_number = scanner->lines;
        return;
    }
    keep_beside(scanner, name, figures);
}

/* ---- messages that were broken into lines ---- */

static bool is_complete(const char *text) {
    static const char *const ends[] = {"PyTorch)", "but unallocated", "cached)", "allocated: "};
    for (size_t i = 0; i < ARRAY_LENGTH(ends); i++)
        if (strstr(text, ends[i]))
            return true;
    return false;
}

static void begin_unfinished(struct incident_scanner *scanner, const struct incident_rule *rule,
                             size_t incident, const char *line, size_t length) {
    struct unfinished *unfinished = &scanner->unfinished;

    unfinished->rule = NULL;
    if (!rule->wraps || is_complete(line))
        return;
    unfinished->rule = rule;
    unfinished->incident = incident;
    unfinished->lines = 0;
    unfinished->length = length;
    memcpy(unfinished->text, line, length + 1);
}

/* Adds the line to the message and reads its figures anew. A number that the break may have cut in
 * two is not put together. */
static void continue_unfinished(struct incident_scanner *scanner, const char *line, size_t length) {
    struct unfinished *unfinished = &scanner->unfinished;
    const char *text = incident_skip_prefix(line);
    length -= (size_t)(text - line);
    char last = unfinished->text[unfinished->length - 1];

    if (unfinished->lines++ >= WRAPPED_LINES || length == 0 ||
        unfinished->length + length + 2 > sizeof unfinished->text ||
        (strchr("0123456789.", last) && strchr("0123456789.", *text)) ||
        strstr(text, "Traceback")) {
        unfinished->rule = NULL;
        return;
    }
    unfinished->text[unfinished->length++] = ' ';
    memcpy(unfinished->text + unfinished->length, text, length + 1);
    unfinished->length += length;
    AUTO_JSON json_t *figures = json_object();
    incident_read_figures(unfinished->rule, unfinished->text, figures);
    json_object_update_missing(scanner->incidents[unfinished->incident].figures, figures);
    if (is_complete(unfinished->text))
        unfinished->rule = NULL;
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

static void take_incident(struct incident_scanner *scanner, const struct incident_rule *rule,
                          const char *line, size_t length) {
    const struct incident_info *info = incident_info(rule->name);
    assert(info);

    AUTO_JSON json_t *figures = json_object();
    AUTO_JSON json_t *exact = json_object();
    incident_read_figures(rule, line, figures);
    incident_read_exact(rule, line, exact);
    if (rule->beside) {
        take_beside(scanner, info->name, figures);
        return;
    }
    for (size_t i = scanner->count; i > 0; i--) {
        struct incident *old = &scanner->incidents[i - 1];
        if (is_same_event(old, info->name, figures, scanner->lines)) {
            join(old, info, figures, scanner->lines);
            add_exact(old->figures, scanner->exact[i - 1], exact);
            scanner->warns[i - 1] = scanner->warns[i - 1] && rule->warns;
            begin_unfinished(scanner, rule, i - 1, line, length);
            return;
        }
    }
    if (scanner->count == INCIDENT_COUNT_MAX) {
        scanner->dropped++;
        return;
    }
    add_kept(scanner, info->name, figures);
    scanner->exact[scanner->count] = steal(exact);
    scanner->warns[scanner->count] = rule->warns;
    scanner->incidents[scanner->count++] = (struct incident){
        .name = info->name,
        .outcome = info->outcome,
        .line = printable_line(line, length),
        .figures = steal(figures),
        .count = 1,
        .line_number = scanner->lines,
        .last_line_number = scanner->lines,
    };
    begin_unfinished(scanner, rule, scanner->count - 1, line, length);
}

static void scan_line(struct incident_scanner *scanner, const char *line, size_t length) {
    struct keys_seen seen;

    if (scanner->unfinished.rule)
        continue_unfinished(scanner, line, length);
    if (!keys_scan(scanner->keys, line, length, &seen))
        return;
    const struct incident_rule *rule = find_rule(scanner, &seen, line);
    if (rule)
        take_incident(scanner, rule, line, length);
}

/* ---- lines that a logger wrapped in JSON ---- */

/* The text of {"log":"…\n","stream":…} (Docker), "MESSAGE" (journalctl -o json), "message", "msg";
 * NULL: none. */
static const char *json_message(const char *line, size_t length) {
    static const char *const keys[] = {"\"log\":\"", "\"MESSAGE\":\"",  "\"message\":\"",
                                       "\"msg\":\"", "\"message\": \"", "\"msg\": \""};
    if (*line != '{' && line[length - 1] != '}')
        return NULL;
    line = incident_skip_prefix(line);
    if (*line != '{')
        return NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        const char *at = strstr(line, keys[i]);
        if (at)
            return at + strlen(keys[i]);
    }
    return NULL;
}

/* Up to four hex digits → UTF-8; what is no character becomes a question mark. */
static const char *put_unicode(const char *digits, char *to, size_t *length) {
    unsigned code = 0;
    int count = 0;
    for (; count < 4 && strchr("0123456789abcdefABCDEF", digits[count]) && digits[count]; count++) {
        unsigned char c = (unsigned char)digits[count];
        code = code * 16u + (c <= '9' ? c - 48u : (c | 0x20u) - 87u);
    }
    if (code >= 0xd800 && code <= 0xdfff)
        code = '?';
    if (code < 0x80) {
        if (code >= 0x20)
            to[(*length)++] = (char)code;
    } else if (code < 0x800) {
        to[(*length)++] = (char)(0xc0u | code >> 6);
        to[(*length)++] = (char)(0x80u | (code & 0x3fu));
    } else {
        to[(*length)++] = (char)(0xe0u | code >> 12);
        to[(*length)++] = (char)(0x80u | (code >> 6 & 0x3fu));
        to[(*length)++] = (char)(0x80u | (code & 0x3fu));
    }
    return digits + count;
}

/* The lines of a JSON string whose text begins at `from`; it may be cut off. */
static void scan_json_text(struct incident_scanner *scanner, const char *from) {
    char line[LINE_MAX_BYTES + 4];
    size_t length = 0;

    for (const char *c = from; *c && *c != '"' && length < LINE_MAX_BYTES;) {
        if (*c != '\\') {
            line[length++] = *c++;
            continue;
        }
        c++;
        if (*c == 'u') {
            c = put_unicode(c + 1, line, &length);
            continue;
        }
        if (*c == 'n' || *c == 'r') {
            line[length] = '\0';
            scan_line(scanner, line, length);
            length = 0;
        } else if (*c) {
            line[length++] = *c == 't' ? '\t' : *c;
        }
        c += *c != '\0';
    }
    line[length] = '\0';
    scan_line(scanner, line, length);
}

static void take_line(const char *line, size_t length, uint64_t offset, void *context) {
    struct incident_scanner *scanner = context;

    (void)offset;
    scanner->lines++;
    const char *message = json_message(line, length);
    if (message)
        scan_json_text(scanner, message);
    else
        scan_line(scanner, line, length);
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
        incident->survived = scanner->warns[i] ||
                             scanner->lines - incident->last_line_number > INCIDENT_AFTERMATH_LINES;
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
