/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of output patterns. The program never calls setlocale, so the regular expressions work on
 * bytes; they come from a user or a plan, therefore what would make matching explode is refused
 * before it is compiled.
 */
#include "text/pattern.h"

#include "base/mem.h"
#include "base/msg.h"
#include "model/run.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_MAX_BYTES   1024u
#define PATTERN_MAX_REPEATS 1000u
#define PATTERN_MAX_COUNT   256u

struct pattern {
    char *phase; /* owned */
    const char *event;
    regex_t regex;
};

struct pattern_set {
    struct pattern *patterns;
    size_t count;
};

struct pattern_set *pattern_set_new(void) {
    return mem_alloc(sizeof(struct pattern_set));
}

struct pattern_set *pattern_set_free(struct pattern_set *set) {
    if (!set)
        return NULL;
    for (size_t i = 0; i < set->count; i++) {
        regfree(&set->patterns[i].regex);
        mem_free_ptr(&set->patterns[i].phase);
    }
    mem_free_ptr(&set->patterns);
    mem_free_ptr(&set);
    return NULL;
}

/* The largest count of one {m,n} at text, 0 where there is none; *ret_end is behind it. */
static unsigned long bound_at(const char *text, const char **ret_end) {
    unsigned long most = 0;
    const char *c = text + 1;

    *ret_end = text + 1;
    if (!isdigit((unsigned char)*c))
        return 0;
    for (; *c && *c != '}'; c++) {
        if (isdigit((unsigned char)*c)) {
            char *end = NULL;
            unsigned long value = strtoul(c, &end, 10);
            most = value > most ? value : most;
            c = end - 1;
        } else if (*c != ',') {
            return 0;
        }
    }
    *ret_end = *c ? c + 1 : c;
    return most;
}

/* What makes glibc's matcher or compiler take long: back-references and multiplied bounds. */
const char *pattern_why_refused(const char *regex) {
    unsigned long product = 1;

    if (*regex == '\0')
        return N_("it is empty");
    if (strlen(regex) > PATTERN_MAX_BYTES)
        return N_("it is longer than 1 KiB");
    for (const char *c = regex; *c;) {
        if (*c == '\\' && c[1]) {
            if (isdigit((unsigned char)c[1]))
                return N_("back-references are not supported");
            c += 2;
        } else if (*c == '{') {
            unsigned long most = bound_at(c, &c);
            if (most > PATTERN_MAX_REPEATS || (most > 1 && (product *= most) > PATTERN_MAX_REPEATS))
                return N_("its counted repetitions multiply to more than 1000");
        } else {
            c++;
        }
    }
    return NULL;
}

int pattern_set_add(struct pattern_set *set, const char *phase, const char *event,
                    const char *regex, struct err *err) {
    enum phase known;
    const char *static_event = strcmp(event, "begin") == 0 ? "begin"
                               : strcmp(event, "end") == 0 ? "end"
                                                           : NULL;

    if (!phase_from_name(phase, &known))
        return err_set(err, -EINVAL, "pattern-invalid",
                       "'%s' is no phase; see 'probelauf help run'", phase);
    if (!static_event)
        return err_set(err, -EINVAL, "pattern-invalid",
                       "'%s' is no event of a phase; use begin or end", event);
    if (set->count >= PATTERN_MAX_COUNT)
        return err_set(err, -EINVAL, "pattern-invalid", "more than %u patterns", PATTERN_MAX_COUNT);
    const char *why = pattern_why_refused(regex);
    if (why)
        return err_set(err, -EINVAL, "pattern-invalid", "the pattern cannot be used: %s: '%s'",
                       _(why), regex);

    struct pattern added = {.event = static_event};
    int rc = regcomp(&added.regex, regex, REG_EXTENDED | REG_NOSUB);
    if (rc != 0) { /* positive on error: regcomp(3) */
        char text[160];
        regerror(rc, &added.regex, text, sizeof text);
        return err_set(err, -EINVAL, "pattern-invalid", "the pattern cannot be used: %s: '%s'",
                       text, regex);
    }
    added.phase = mem_strdup(phase);
    set->patterns = mem_room(set->patterns, set->count, sizeof *set->patterns);
    set->patterns[set->count++] = added;
    return 0;
}

bool pattern_set_match(const struct pattern_set *set, const char *line, const char **ret_phase,
                       const char **ret_event) {
    for (size_t i = 0; i < set->count; i++) {
        if (regexec(&set->patterns[i].regex, line, 0, NULL, 0) != 0)
            continue;
        *ret_phase = set->patterns[i].phase;
        *ret_event = set->patterns[i].event;
        return true;
    }
    return false;
}
