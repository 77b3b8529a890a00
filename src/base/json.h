/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Glue over jansson: ownership by scope, strings that may not be UTF-8, one way to print. */
#pragma once

#include "strbuf.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

void json_decref_ptr(json_t **json);
#define AUTO_JSON __attribute__((cleanup(json_decref_ptr)))

/* New objects abort on lack of memory. Setters take nothing over but the json_t of
 * json_put; keys that are no UTF-8 are escaped like texts. NULL
 * text: key is set to null. */
void json_put(json_t *object, const char *key, json_t *take_value);
void json_put_text(json_t *object, const char *key,
                   const char *text); /* bytes that are no UTF-8 are written as \xNN */
void json_put_int(json_t *object, const char *key, int64_t value);
void json_put_real(json_t *object, const char *key,
                   double value); /* nan and inf are programming errors */
void json_put_bool(json_t *object, const char *key, int value);
json_t *json_text(const char *text); /* new string, escaped as above; NULL gives json null */
json_t *json_text_n(const char *bytes, size_t length);

/* Getters that never trust the document: a missing key or another type gives the fallback. */
const char *json_get_text(const json_t *object, const char *key, const char *fallback);
int64_t json_get_int(const json_t *object, const char *key, int64_t fallback);
double json_get_real(const json_t *object, const char *key, double fallback); /* integers too */
int json_get_bool(const json_t *object, const char *key, int fallback);
json_t *json_get_object(const json_t *object, const char *key); /* borrowed or NULL */
json_t *json_get_array(const json_t *object, const char *key);  /* borrowed or NULL */

/* Compact (records) and indented with two blanks (output for users): keys in order of insertion, C
 * locale, 15 digits. */
void json_add_compact(struct strbuf *out, const json_t *json);
void json_add_pretty(struct strbuf *out, const json_t *json);

/* Parses one document with limits: 64 levels, no duplicate keys. NULL on error with a line:column
 * text in `ret_why`. */
json_t *json_parse(const void *bytes, size_t length, char ret_why[160]);
