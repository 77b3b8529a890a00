/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table as JSON Schema (draft 2020-12), so that editors complete a plan and mark mistakes while
 * it is written. It says what a key can hold; what only several keys together show is said by
 * `probelauf check`. Every scalar may also come as a text, since that is what YAML leaves open.
 */
#include "plan/plan.h"

#include "plan/schema.h"

#include <string.h>

/* Texts that stand for a scalar of the type; NULL: any. */
static const char *const patterns[SCHEMA_TYPE_COUNT_] = {
    [SCHEMA_ID] = "^[a-z0-9][a-z0-9._-]{0,63}$",
    [SCHEMA_UUID] = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    [SCHEMA_PHASE] = "^(setup|transfer|data|load|preprocess|compute|write|evaluate|fix|teardown)"
                     "(/.+)?$",
    [SCHEMA_POINTER] = "^(/([^~]|~[01])*)?$",
    [SCHEMA_ROW] = "^(first|last|0*[1-9][0-9]*)$",
    [SCHEMA_CURRENCY] = "^[A-Z]{3}$",
    [SCHEMA_WHOLE] = "^[+-]?[0-9]+$",
    [SCHEMA_NUMBER] = "^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?$",
    [SCHEMA_DURATION] = "^([0-9]+(\\.[0-9]+)? *(d|h|min|m|s|ms|us|ns) *)*([0-9]+(\\.[0-9]+)?)?$",
    [SCHEMA_BYTES] = "^[0-9]+(\\.[0-9]+)? *(B|[kKMGTP]B|[KMGTP]iB)?$",
    [SCHEMA_AMOUNT] = "^[0-9]+(\\.[0-9]{1,6})?$",
    [SCHEMA_DATE] = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    [SCHEMA_TOLERANCE] = "^[+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)? *%?$",
    [SCHEMA_THRESHOLD] = "^[<>]=? *[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?$",
    [SCHEMA_MATCH] = "^(machine\\.(cpu_model|cpus|memory|distribution|interpreter)|"
                     "(?!machine\\.)\\S+)$",
};

static json_t *list_of(json_t *items) {
    json_t *list = json_object();
    json_put_text(list, "type", "array");
    json_put(list, "items", items);
    return list;
}

/* The first, or a list of it. */
static json_t *one_or_list(json_t *one) {
    json_t *either = json_object(), *forms = json_array();
    json_array_append_new(forms, json_deep_copy(one));
    json_array_append_new(forms, list_of(one));
    json_put(either, "anyOf", forms);
    return either;
}

static json_t *either(json_t *first, json_t *second) {
    json_t *both = json_object(), *forms = json_array();
    json_array_append_new(forms, first);
    json_array_append_new(forms, second);
    json_put(both, "anyOf", forms);
    return both;
}

/* A text, or what a YAML reader makes of a text that looks like a number or a truth. */
static json_t *scalar(enum schema_type type) {
    json_t *text = json_object();
    bool is_number = type == SCHEMA_TEXT || type == SCHEMA_NUMBER || type == SCHEMA_DURATION ||
                     type == SCHEMA_BYTES || type == SCHEMA_AMOUNT || type == SCHEMA_TOLERANCE ||
                     type == SCHEMA_ROW || type == SCHEMA_ID;
    if (type == SCHEMA_TEXT)
        json_put(text, "type", json_pack("[s,s,s]", "string", "number", "boolean"));
    else if (is_number)
        json_put(text, "type", json_pack("[s,s]", "string", "number"));
    else
        json_put_text(text, "type", "string");
    if (patterns[type] != NULL)
        json_put_text(text, "pattern", patterns[type]);
    return text;
}

static json_t *whole(const struct schema_key *key) {
    json_t *number = json_object();
    json_put(number, "type", json_pack("[s,s]", "integer", "string"));
    json_put_text(number, "pattern", patterns[SCHEMA_WHOLE]);
    json_put_int(number, "minimum", key->minimum);
    json_put_int(number, "maximum", key->maximum);
    return number;
}

static json_t *words(const struct schema_words *words) {
    json_t *node = json_object(), *names = json_array();
    for (size_t i = 0; i < words->count; i++) {
        const char *name = words->items[i].name;
        json_array_append_new(names, json_text(name));
        if (schema_is_spelling(&words->items[i]))
            json_array_append_new(names, json_boolean(*name == 't'));
    }
    json_put(node, "enum", names);
    return node;
}

static json_t *flag(void) {
    return json_pack("{s:[b,b,s,s,s,s]}", "enum", 1, 0, "yes", "no", "true", "false");
}

static json_t *pairs(json_t *values, const char *names) {
    json_t *map = json_object();
    json_put_text(map, "type", "object");
    json_put(map, "additionalProperties", values);
    if (names != NULL)
        json_put(map, "propertyNames", json_pack("{s:s}", "pattern", names));
    return map;
}

static json_t *parameters(void) {
    return pairs(scalar(SCHEMA_TEXT), "^[^\\s={}]+$");
}

/* "blocks[].matrix.AXIS" is found under "$defs" as "blocks.matrix.axis". */
static json_t *reference(const struct schema_part *part) {
    char name[64];
    size_t length = 0;
    for (const char *at = part->name; *at != '\0' && length + 1 < sizeof name; at++)
        if (strchr("[] ", *at) == NULL)
            name[length++] = *at;
    name[length] = '\0';
    return json_pack("{s:o}", "$ref", json_sprintf("#/$defs/%s", name));
}

/* A part, or its one value in place of it. */
static json_t *or_short(const struct schema_part *part, json_t *value) {
    return either(value, reference(part));
}

static json_t *named_parts(const struct schema_part *part) {
    json_t *each = part->short_key != NULL ? or_short(part, one_or_list(scalar(SCHEMA_TEXT)))
                                           : reference(part);
    return pairs(each, part->name_is_parameter ? "^[^\\s={}]+$" : patterns[SCHEMA_ID]);
}

static json_t *of_type(const struct schema_key *key) {
    switch (key->type) {
    case SCHEMA_VERSION:
        return json_pack("{s:[i,s]}", "enum", PLAN_FORMAT, "1");
    case SCHEMA_TEXT:
    case SCHEMA_ID:
    case SCHEMA_UUID:
    case SCHEMA_PHASE:
    case SCHEMA_REGEX:
    case SCHEMA_PATTERN:
    case SCHEMA_POINTER:
    case SCHEMA_ROW:
    case SCHEMA_CURRENCY:
    case SCHEMA_NUMBER:
    case SCHEMA_DURATION:
    case SCHEMA_BYTES:
    case SCHEMA_AMOUNT:
    case SCHEMA_DATE:
    case SCHEMA_TOLERANCE:
    case SCHEMA_THRESHOLD:
        return scalar(key->type);
    case SCHEMA_CHOICE:
    case SCHEMA_WORD:
        return words(key->words);
    case SCHEMA_WORDS:
        return one_or_list(words(key->words));
    case SCHEMA_FLAG:
        return flag();
    case SCHEMA_WHOLE:
        return whole(key);
    case SCHEMA_TEXTS:
    case SCHEMA_COMMAND:
        return one_or_list(scalar(SCHEMA_TEXT));
    case SCHEMA_IDS:
        return one_or_list(scalar(SCHEMA_ID));
    case SCHEMA_MATCH:
        return one_or_list(scalar(SCHEMA_MATCH));
    case SCHEMA_PAIRS: {
        json_t *value = json_object(); /* nothing written: the pair is left out */
        json_put(value, "type", json_pack("[s,s,s,s]", "string", "number", "boolean", "null"));
        return pairs(value, NULL);
    }
    case SCHEMA_PHASES:
        return pairs(scalar(SCHEMA_PHASE), NULL);
    case SCHEMA_PARAMETERS:
        return parameters();
    case SCHEMA_CONDITIONS:
        return list_of(parameters());
    case SCHEMA_PART:
        return reference(key->part);
    case SCHEMA_PARTS:
        return list_of(reference(key->part));
    case SCHEMA_NAMED_PARTS:
        return named_parts(key->part);
    case SCHEMA_VALUES:
        return one_or_list(or_short(key->part, scalar(SCHEMA_TEXT)));
    case SCHEMA_SOURCED:
        return or_short(key->part, scalar(SCHEMA_TEXT));
    case SCHEMA_TYPE_COUNT_:
        break;
    }
    return json_object();
}

/* "state: open" as {"state": "open"} is what editors insert; what is a flow map or list is left. */
static void put_example(json_t *node, const struct schema_key *key) {
    if (key->example == NULL)
        return;
    const char *value = key->example + strlen(key->name) + 2;
    if (strpbrk(value, "[{\"") == NULL)
        json_put(node, "examples", json_pack("[s]", value));
}

static json_t *of_key(const struct schema_key *key) {
    json_t *node = json_object(), *form = of_type(key);
    json_put(node, "description",
             key->unsaid != NULL ? json_sprintf("%s (without it: %s)", key->help, key->unsaid)
                                 : json_text(key->help));
    put_example(node, key);
    if (!key->required) /* a key with nothing behind it is as if it were not there */
        form = either(form, json_pack("{s:s}", "type", "null"));
    json_object_update(node, form);
    json_decref(form);
    return node;
}

/* The rules between keys of a part. */
static void put_rules(json_t *node, const struct schema_part *part) {
    json_t *dependent = json_object();
    for (size_t i = 0; i < part->rule_count; i++) {
        const struct schema_rule *rule = &part->rules[i];
        json_t *needs = json_array();
        for (size_t k = 0; k < sizeof rule->needs / sizeof *rule->needs && rule->needs[k]; k++)
            json_array_append_new(needs, rule->one_of
                                             ? json_pack("{s:[s]}", "required", rule->needs[k])
                                             : json_text(rule->needs[k]));
        if (rule->one_of)
            json_put(node, "dependentSchemas", json_pack("{s:{s:o}}", rule->key, "oneOf", needs));
        else
            json_put(dependent, rule->key, needs);
    }
    if (json_object_size(dependent) > 0)
        json_put(node, "dependentRequired", dependent);
    else
        json_decref(dependent);
}

static json_t *of_part(const struct schema_part *part) {
    json_t *node = json_object(), *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < part->key_count; i++) {
        json_put(properties, part->keys[i].name, of_key(&part->keys[i]));
        if (part->keys[i].required)
            json_array_append_new(required, json_text(part->keys[i].name));
    }
    json_put_text(node, "description", part->help);
    json_put_text(node, "type", "object");
    json_put(node, "properties", properties);
    if (json_array_size(required) > 0)
        json_put(node, "required", required);
    else
        json_decref(required);
    put_rules(node, part);
    json_put_bool(node, "additionalProperties", 0);
    return node;
}

json_t *plan_json_schema(void) {
    json_t *schema = json_object(), *definitions = json_object();
    json_put_text(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_text(schema, "$id", "plan.schema.json");
    json_put_text(schema, "title", "probelauf.yaml, format 1");
    json_t *file = of_part(&schema_plan);
    json_object_update(schema, file);
    json_decref(file);
    const struct schema_part *part;
    for (size_t i = 0; (part = schema_part_at(i)) != NULL; i++) {
        if (part == &schema_plan)
            continue;
        json_t *link = reference(part);
        const char *name = json_get_text(link, "$ref", "") + strlen("#/$defs/");
        json_put(definitions, name, of_part(part));
        json_decref(link);
    }
    json_put(schema, "$defs", definitions);
    return schema;
}
