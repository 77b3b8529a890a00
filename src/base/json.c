/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Glue over jansson: the one place where JSON is built, printed and parsed. Must not let a number
 * appear that is none (nan, inf), and must not let a document exhaust the stack.
 */
#include "base/json.h"

#include "base/msg.h"
#include "base/str.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define JSON_DEPTH_LIMIT 64

void json_decref_ptr(json_t **json) {
    json_decref(*json);
    *json = NULL;
}

void json_put(json_t *object, const char *key, json_t *take_value) {
    assert(json_is_object(object) && take_value != NULL);
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    size_t length = strlen(key);
    if (!str_is_utf8(key, length)) { /* a key may be a name that a user's program gave */
        str_add_utf8(&safe, key, length);
        key = strbuf_str(&safe);
    }
    int rc = json_object_set_new(object, key, take_value);
    assert(rc == 0); /* no memory */
}

void json_put_text(json_t *object, const char *key, const char *text) {
    json_put(object, key, json_text(text));
}

void json_put_int(json_t *object, const char *key, int64_t value) {
    json_put(object, key, json_integer(value));
}

void json_put_real(json_t *object, const char *key, double value) {
    assert(isfinite(value));
    json_put(object, key, json_real(value));
}

void json_put_bool(json_t *object, const char *key, int value) {
    json_put(object, key, json_boolean(value));
}

json_t *json_text(const char *text) {
    return text != NULL ? json_text_n(text, strlen(text)) : json_null();
}

json_t *json_text_n(const char *bytes, size_t length) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    if (!str_is_utf8(bytes, length) || memchr(bytes, '\0', length) != NULL) {
        str_add_utf8(&safe, bytes, length);
        bytes = strbuf_str(&safe);
        length = safe.length;
    }
    json_t *text = json_stringn(bytes, length);
    assert(text != NULL);
    return text;
}

const char *json_get_text(const json_t *object, const char *key, const char *fallback) {
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : fallback;
}

int64_t json_get_int(const json_t *object, const char *key, int64_t fallback) {
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

double json_get_real(const json_t *object, const char *key, double fallback) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

int json_get_bool(const json_t *object, const char *key, int fallback) {
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

json_t *json_get_object(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    return json_is_object(value) ? value : NULL;
}

json_t *json_get_array(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    return json_is_array(value) ? value : NULL;
}

static int add_piece(const char *bytes, size_t length, void *out) {
    strbuf_add(out, bytes, length);
    return 0;
}

static void add(struct strbuf *out, const json_t *json, size_t flags) {
    /* jansson keeps the order of insertion and replaces a locale's decimal point by itself. */
    int rc =
        json_dump_callback(json, add_piece, out, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    assert(rc == 0);
}

void json_add_compact(struct strbuf *out, const json_t *json) {
    add(out, json, JSON_COMPACT);
}

void json_add_pretty(struct strbuf *out, const json_t *json) {
    add(out, json, JSON_INDENT(2));
    strbuf_add_char(out, '\n');
}

/* ---- parsing ---- */

static void say_why(char ret_why[160], int line, int column, const char *text) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    strbuf_printf(&safe, "%d:%d: ", line, column);
    str_add_printable(&safe, text, strlen(text)); /* jansson quotes the document */
    size_t length = safe.length < 159 ? safe.length : 159;
    while (length > 0 && !str_is_utf8(safe.data, length))
        length--;
    memcpy(ret_why, safe.data, length);
    ret_why[length] = '\0';
}

/* Levels are counted before parsing: jansson allows 2048, each of them stack (its own limit, 64
 * here). */
static bool is_too_deep(const char *bytes, size_t length, int *ret_line, int *ret_column) {
    int depth = 0;
    bool in_string = false;
    *ret_line = 1;
    *ret_column = 0;
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        (*ret_column)++;
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > JSON_DEPTH_LIMIT)
                return true;
        } else if (c == ']' || c == '}') {
            depth--;
        }
        if (c == '\n') {
            (*ret_line)++;
            *ret_column = 0;
        }
    }
    return false;
}

json_t *json_parse(const void *bytes, size_t length, char ret_why[160]) {
    int line, column;
    ret_why[0] = '\0';
    if (is_too_deep(bytes, length, &line, &column)) {
        say_why(ret_why, line, column, _("more than 64 levels"));
        return NULL;
    }
    json_error_t error;
    json_t *json = json_loadb(bytes, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (json == NULL)
        say_why(ret_why, error.line, error.column, error.text);
    return json;
}
