/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The packages of an interpreter are most of an ENVIRONMENT record, and the runs of a study have
 * the same ones. They are parsed once for all runs that say them in the same bytes. The result is
 * what parsing the whole record gives; whatever is not plainly so is parsed as a whole.
 */
#include "journal/fold-parts.h"

#include "base/strbuf.h"

#include <string.h>

#define KEY "\"packages\":"
/* Stands in the place of the packages while the rest is parsed; a record that says it itself is
 * parsed as a whole. */
#define PLACE "packages of a neighbour"

/* Behind the bracket that closes the array at `at`; NULL: it does not end. */
static const char *end_of_array(const char *at, const char *end) {
    size_t depth = 0;
    bool in_string = false;
    for (; at < end; at++) {
        if (in_string) {
            if (*at == '\\') {
                at += at + 1 < end;
            } else if (*at == '"') {
                in_string = false;
            }
        } else if (*at == '"') {
            in_string = true;
        } else if (*at == '[' || *at == '{') {
            depth++;
        } else if ((*at == ']' || *at == '}') && --depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

/* The value of these bytes, borrowed from `shared`; NULL: they are no JSON. */
static json_t *value_of(struct fold_shared *shared, const char *text, size_t length) {
    char why[160];
    if (shared->packages != NULL && shared->length == length &&
        memcmp(shared->text, text, length) == 0) {
        return shared->packages;
    }
    fold_shared_done(shared);
    shared->packages = json_parse(text, length, why);
    if (shared->packages != NULL) {
        shared->text = mem_strndup(text, length);
        shared->length = length;
    }
    return shared->packages;
}

/* NULL: nothing can be shared. */
static json_t *parse_in_parts(struct fold_shared *shared, const char *text, size_t length) {
    const char *end = text + length;
    const char *key = memmem(text, length, KEY, strlen(KEY));
    const char *from = key != NULL ? key + strlen(KEY) : end;
    const char *to = from < end && *from == '[' ? end_of_array(from, end) : NULL;
    if (to == NULL || memmem(text, length, PLACE, strlen(PLACE)) != NULL) {
        return NULL;
    }
    AUTO_STRBUF struct strbuf rest = STRBUF_INIT;
    char why[160];
    strbuf_add(&rest, text, (size_t)(from - text));
    strbuf_add_str(&rest, "\"" PLACE "\"");
    strbuf_add(&rest, to, (size_t)(end - to));
    AUTO_JSON json_t *json = json_parse(strbuf_str(&rest), rest.length, why);
    /* Only where the key is the record's own. */
    if (strcmp(json_get_text(json, "packages", ""), PLACE) != 0) {
        return NULL;
    }
    json_t *packages = value_of(shared, from, (size_t)(to - from));
    if (packages == NULL || json_object_set(json, "packages", packages) < 0) {
        return NULL;
    }
    return steal(json);
}

json_t *fold_shared_json(struct fold_shared *shared, const struct journal_record *record) {
    bool plain = record->version == JOURNAL_VERSION && record->flags == 0;
    json_t *json = shared != NULL && plain && record->kind == JOURNAL_ENVIRONMENT
                       ? parse_in_parts(shared, (const char *)record->payload, record->length)
                       : NULL;
    return json != NULL ? json : journal_record_json(record);
}

void fold_shared_done(struct fold_shared *shared) {
    mem_free_ptr(&shared->text);
    json_decref_ptr(&shared->packages);
    shared->length = 0;
}
