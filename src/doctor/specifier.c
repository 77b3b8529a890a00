/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two requirements of one package against each other. What a single version meets is told by
 * model/version.h; here only the bounds of one are held against the bounds of the other. Must not
 * guess: what cannot be read agrees with nothing and contradicts nothing.
 */
#include "doctor/parts.h"

#include "model/version.h"

#include <ctype.h>
#include <string.h>

#define CLAUSES_MAX 16u
#define CLAUSE_SIZE 96u

struct clause {
    char text[CLAUSE_SIZE]; /* with its sign, without blanks */
    const char *version;    /* behind the sign */
    enum { IS = 0, IS_NOT, PREFIX, COMPATIBLE, FROM, ABOVE, UP_TO, BELOW } kind;
};

static bool read_clause(const char *text, size_t length, struct clause *ret) {
    static const struct {
        const char *sign;
        int kind;
    } signs[] = {{"===", IS},  {"==", IS},    {"~=", COMPATIBLE}, {"!=", IS_NOT},
                 {">=", FROM}, {"<=", UP_TO}, {">", ABOVE},       {"<", BELOW}};
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ' || text[i] == '\t')
            continue;
        if (count + 1 == sizeof ret->text)
            return false;
        ret->text[count++] = text[i];
    }
    ret->text[count] = '\0';
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++) {
        size_t width = strlen(signs[i].sign);
        if (strncmp(ret->text, signs[i].sign, width) != 0)
            continue;
        bool prefix = count > width + 2 && strcmp(ret->text + count - 2, ".*") == 0;
        ret->version = ret->text + width;
        ret->kind = prefix && signs[i].kind == IS ? PREFIX : (__typeof__(ret->kind))signs[i].kind;
        return *ret->version != '\0';
    }
    return false;
}

/* false: something in it cannot be read. */
static bool read_clauses(const char *specifiers, struct clause clauses[CLAUSES_MAX],
                         size_t *ret_count) {
    *ret_count = 0;
    for (const char *at = specifiers; *at != '\0';) {
        size_t length = strcspn(at, ",");
        if (strspn(at, " \t") < length) {
            if (*ret_count == CLAUSES_MAX || !read_clause(at, length, &clauses[*ret_count]))
                return false;
            ++*ret_count;
        }
        at += length + (at[length] == ',');
    }
    return true;
}

static bool fits(const char *sign, const char *wanted, const char *version, enum version_fit fit) {
    AUTO_FREE char *specifier = mem_printf("%s%s", sign, wanted);
    return version_fits(specifier, version) == fit;
}

/* The version without "+local" and ".*". */
static char *plain_version(const struct clause *clause) {
    size_t length = strcspn(clause->version, "+*");
    if (length > 0 && clause->version[length] == '*' && clause->version[length - 1] == '.')
        length--;
    return mem_strndup(clause->version, length);
}

/* A pinned version that the other clause does not take. */
static bool pin_differs(const struct clause *pin, const struct clause *other) {
    bool has_tag = strchr(pin->version, '+') != NULL;
    if (other->kind == IS && !has_tag) { /* a version without a tag is met by one with a tag */
        AUTO_FREE char *version = plain_version(other);
        return fits("==", pin->version, version, VERSION_DIFFERS);
    }
    return version_fits(other->text, pin->version) == VERSION_DIFFERS;
}

/* Is everything from `low` on above all that `high` takes? */
static bool lies_above(const struct clause *low, const struct clause *high) {
    AUTO_FREE char *version = plain_version(low);
    AUTO_FREE char *bound = plain_version(high);
    if (low->kind != FROM && low->kind != ABOVE && low->kind != COMPATIBLE && low->kind != PREFIX)
        return false;
    if (high->kind == BELOW || (high->kind == UP_TO && low->kind == ABOVE))
        return fits("<", bound, version, VERSION_DIFFERS);
    if (high->kind == UP_TO)
        return fits("<=", bound, version, VERSION_DIFFERS);
    if (high->kind == COMPATIBLE || high->kind == PREFIX)
        return fits(">=", bound, version, VERSION_FITS) &&
               version_fits(high->text, version) == VERSION_DIFFERS;
    return false;
}

static bool contradict(const struct clause *a, const struct clause *b) {
    if (a->kind == IS)
        return pin_differs(a, b);
    if (b->kind == IS)
        return pin_differs(b, a);
    return lies_above(a, b) || lies_above(b, a);
}

enum doctor_agreement doctor_agree(const char *specifiers_a, const char *specifiers_b) {
    struct clause a[CLAUSES_MAX], b[CLAUSES_MAX];
    size_t count_a, count_b;
    if (!read_clauses(specifiers_a, a, &count_a) || !read_clauses(specifiers_b, b, &count_b))
        return AGREE_UNKNOWN;
    for (size_t i = 0; i < count_a; i++)
        for (size_t k = 0; k < count_b; k++)
            if (contradict(&a[i], &b[k]))
                return AGREE_NO;
    return AGREE_YES;
}

const char *doctor_pin(struct judging *judging, const char *specifiers) {
    struct clause clauses[CLAUSES_MAX];
    size_t count;
    if (!read_clauses(specifiers, clauses, &count) || count != 1 || clauses[0].kind != IS)
        return NULL;
    return arena_strdup(judging->arena, clauses[0].version);
}

const char *doctor_package_name(struct judging *judging, const char *name) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    for (; *name != '\0'; name++) {
        bool mark = strchr("-_.", *name) != NULL;
        if (mark && out.length > 0 && out.data[out.length - 1] == '-')
            continue;
        strbuf_add_char(&out, mark ? '-' : (char)tolower((unsigned char)*name));
    }
    if (strcmp(strbuf_str(&out), "pytorch") == 0)
        return "torch";
    return arena_strdup(judging->arena, strbuf_str(&out));
}
