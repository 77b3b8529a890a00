/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparing versions of packages. Numbers beyond nine digits, more than eight parts and words that
 * are not Python's are not read. Must not guess: "unknown" is an answer.
 */
#include "model/version.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PARTS_MAX 8u
#define LOCAL_MAX 31u

struct version {
    uint32_t epoch, parts[PARTS_MAX];
    size_t count; /* parts that are written */
    /* in the order in which they come out: a development version first, a later correction last */
    enum { STAGE_DEV = 0, STAGE_ALPHA, STAGE_BETA, STAGE_CANDIDATE, STAGE_FINAL, STAGE_POST } stage;
    uint32_t stage_number;
    bool is_dev; /* of a pre-release */
    char local[LOCAL_MAX + 1];
    bool any_after; /* "2.7.*" */
};

static bool take_number(const char **at, uint32_t *ret) {
    uint32_t value = 0;
    size_t digits = 0;
    while (isdigit((unsigned char)**at)) {
        if (++digits > 9)
            return false;
        value = value * 10 + (uint32_t)(*(*at)++ - '0');
    }
    *ret = value;
    return digits > 0;
}

static bool take_word(const char **at, const char *word) {
    size_t length = strlen(word);
    if (strncasecmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static void skip_separator(const char **at) {
    if (**at == '.' || **at == '-' || **at == '_')
        (*at)++;
}

/* "rc1", ".post2", ".dev0": any number of them, as far as they have a meaning together. */
static bool take_stages(const char **at, struct version *version) {
    static const struct {
        const char *word;
        int stage;
    } words[] = {
        {"alpha", STAGE_ALPHA},   {"beta", STAGE_BETA},    {"preview", STAGE_CANDIDATE},
        {"pre", STAGE_CANDIDATE}, {"post", STAGE_POST},    {"rev", STAGE_POST},
        {"dev", STAGE_DEV},       {"rc", STAGE_CANDIDATE}, {"a", STAGE_ALPHA},
        {"b", STAGE_BETA},        {"c", STAGE_CANDIDATE},  {"r", STAGE_POST},
    };
    version->stage = STAGE_FINAL;
    while (**at != '\0' && **at != '+' && !(at[0][0] == '.' && at[0][1] == '*')) {
        size_t i = 0;
        skip_separator(at);
        while (i < ARRAY_LENGTH(words) && !take_word(at, words[i].word))
            i++;
        if (i == ARRAY_LENGTH(words))
            return false;
        uint32_t number = 0;
        skip_separator(at);
        if (isdigit((unsigned char)**at) && !take_number(at, &number))
            return false;
        if (words[i].stage == STAGE_DEV && version->stage != STAGE_FINAL) {
            version->is_dev = true;
            continue;
        }
        if (version->stage != STAGE_FINAL)
            return false;
        version->stage = (__typeof__(version->stage))words[i].stage;
        version->stage_number = number;
    }
    return true;
}

static bool read_version(const char *text, size_t length, struct version *ret) {
    char copy[96];
    *ret = (struct version){0};
    while (length > 0 && isspace((unsigned char)*text)) {
        text++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (length == 0 || length >= sizeof copy || memchr(text, '\0', length) != NULL)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    const char *at = copy;
    if (*at == 'v' || *at == 'V')
        at++;
    do {
        if (ret->count == PARTS_MAX || !take_number(&at, &ret->parts[ret->count]))
            return false;
        ret->count++;
        if (*at == '!' && ret->count == 1 && ret->epoch == 0) {
            ret->epoch = ret->parts[0];
            ret->count = 0;
            at++;
        } else if (at[0] == '.' && isdigit((unsigned char)at[1])) {
            at++;
        } else {
            break;
        }
    } while (true);
    if (!take_stages(&at, ret))
        return false;
    if (at[0] == '.' && at[1] == '*' && at[2] == '\0' && ret->stage == STAGE_FINAL) {
        ret->any_after = true;
        return true;
    }
    if (*at == '+') {
        size_t rest = strlen(++at);
        if (rest == 0 || rest > LOCAL_MAX)
            return false;
        memcpy(ret->local, at, rest + 1);
        at += rest;
    }
    return *at == '\0';
}

/* Without local parts. */
static int compare(const struct version *a, const struct version *b) {
    if (a->epoch != b->epoch)
        return a->epoch < b->epoch ? -1 : 1;
    for (size_t i = 0; i < PARTS_MAX; i++)
        if (a->parts[i] != b->parts[i])
            return a->parts[i] < b->parts[i] ? -1 : 1;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->stage_number != b->stage_number)
        return a->stage_number < b->stage_number ? -1 : 1;
    return (int)b->is_dev - (int)a->is_dev;
}

/* The first `count` parts are equal; *ret_short: the version does not say all of them. */
static bool begins(const struct version *version, const struct version *wanted, size_t count,
                   bool *ret_short) {
    *ret_short = false;
    if (version->epoch != wanted->epoch)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (i >= version->count && wanted->parts[i] != 0) {
            *ret_short = true;
            return false;
        }
        if (version->parts[i] != wanted->parts[i])
            return false;
    }
    return true;
}

static enum version_fit answer(bool fits) {
    return fits ? VERSION_FITS : VERSION_DIFFERS;
}

static bool local_fits(const struct version *version, const struct version *wanted) {
    return wanted->local[0] == '\0' || strcasecmp(version->local, wanted->local) == 0;
}

static enum version_fit begins_fits(const struct version *version, const struct version *wanted) {
    bool is_short = false;
    bool fits = begins(version, wanted, wanted->count, &is_short);
    return is_short ? VERSION_UNKNOWN : answer(fits && local_fits(version, wanted));
}

static enum version_fit equals(const struct version *version, const struct version *wanted) {
    bool is_short = false;
    if (wanted->any_after)
        return begins_fits(version, wanted);
    (void)begins(version, wanted, wanted->count, &is_short);
    if (is_short && version->stage == STAGE_FINAL)
        return VERSION_UNKNOWN;
    return answer(compare(version, wanted) == 0 && local_fits(version, wanted));
}

/* "~= 2.1": 2.1 or later, but still 2. */
static enum version_fit compatible(const struct version *version, const struct version *wanted) {
    bool is_short = false;
    if (wanted->count < 2 || wanted->any_after)
        return VERSION_UNKNOWN;
    bool same = begins(version, wanted, wanted->count - 1, &is_short);
    if (is_short)
        return VERSION_UNKNOWN;
    return answer(same && compare(version, wanted) >= 0);
}

static enum version_fit opposite(enum version_fit fit) {
    switch (fit) {
    case VERSION_FITS:
        return VERSION_DIFFERS;
    case VERSION_DIFFERS:
        return VERSION_FITS;
    case VERSION_UNKNOWN:
        break;
    }
    return VERSION_UNKNOWN;
}

static enum version_fit clause(const char *text, size_t length, const struct version *version) {
    static const char *const operators[] = {"===", "==", "~=", "!=", ">=", "<=", ">", "<", "="};
    const char *sign = "";
    struct version wanted;
    while (length > 0 && isspace((unsigned char)*text)) {
        text++;
        length--;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(operators); i++) {
        size_t width = strlen(operators[i]);
        if (length >= width && strncmp(text, operators[i], width) == 0) {
            sign = operators[i];
            text += width;
            length -= width;
            break;
        }
    }
    if (!read_version(text, length, &wanted))
        return VERSION_UNKNOWN;
    if (*sign == '\0' || strcmp(sign, "=") == 0)
        return begins_fits(version, &wanted);
    if (strcmp(sign, "==") == 0 || strcmp(sign, "===") == 0)
        return equals(version, &wanted);
    if (strcmp(sign, "!=") == 0)
        return opposite(equals(version, &wanted));
    if (strcmp(sign, "~=") == 0)
        return compatible(version, &wanted);
    if (wanted.any_after)
        return VERSION_UNKNOWN;
    int order = compare(version, &wanted);
    bool is_short = false;
    (void)begins(version, &wanted, wanted.count, &is_short);
    if (is_short) /* "2" may be any 2.x */
        return VERSION_UNKNOWN;
    if (strcmp(sign, ">=") == 0)
        return answer(order >= 0);
    if (strcmp(sign, "<=") == 0)
        return answer(order <= 0);
    return answer(strcmp(sign, ">") == 0 ? order > 0 : order < 0);
}

enum version_fit version_fits(const char *wanted, const char *version) {
    struct version is;
    enum version_fit all = VERSION_FITS;
    if (!read_version(version, strlen(version), &is) || is.any_after)
        return VERSION_UNKNOWN;
    for (const char *at = wanted;; at++) {
        size_t length = strcspn(at, ",");
        switch (clause(at, length, &is)) {
        case VERSION_DIFFERS:
            return VERSION_DIFFERS;
        case VERSION_UNKNOWN:
            all = VERSION_UNKNOWN;
            break;
        case VERSION_FITS:
            break;
        }
        at += length;
        if (*at == '\0')
            return all;
    }
}
