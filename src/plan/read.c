/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tree of a plan against the table of schema.c: what fits goes into the structs of
 * model/plan.h, everything else is complained of, and reading goes on. Must not know any key by
 * name but `shell`, which says how the command beside it is written.
 */
#include "plan/reading.h"
#include "plan/schema.h"
#include "plan/value.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "model/run.h"
#include "text/extract.h"
#include "text/pattern.h"

#include <errno.h>
#include <string.h>

/* Of any list or map: what a person writes is far below, and nothing behind it is slow. */
#define ENTRIES_MAX 10000u

struct reader {
    struct plan_reading *reading;
    struct arena *arena;
    const struct yaml_node *map; /* of the part that is being read */
    bool is_entry;               /* the part is one of a list */
};

static struct plan_at place(const struct yaml_node *node) {
    return (struct plan_at){.line = node->line, .column = node->column};
}

static const struct yaml_node *said(const struct yaml_node *map, const char *key) {
    const struct yaml_node *node = yaml_get(map, key);
    return yaml_is_unsaid(node) ? NULL : node;
}

/* ---- complaints ---- */

/* "'runs' takes ..." */
static const char *const takes[SCHEMA_TYPE_COUNT_] = {
    [SCHEMA_VERSION] = N_("the format's version, 1"),
    [SCHEMA_TEXT] = N_("a text"),
    [SCHEMA_ID] = N_("an id of at most 64 small letters, digits, '.', '_' and '-', a letter or "
                     "digit first"),
    [SCHEMA_UUID] = N_("a UUID as 'probelauf init' writes it"),
    [SCHEMA_PHASE] = N_("a phase (setup, transfer, data, load, preprocess, compute, write, "
                        "evaluate, fix, teardown), with a detail behind '/' if need be"),
    [SCHEMA_REGEX] = N_("an extended regular expression"),
    [SCHEMA_PATTERN] = N_("an extended regular expression"),
    [SCHEMA_POINTER] = N_("a JSON pointer such as /metrics/accuracy"),
    [SCHEMA_ROW] = N_("first, last or a number from 1"),
    [SCHEMA_CURRENCY] = N_("a currency by its three letters, such as EUR"),
    [SCHEMA_CHOICE] = N_("one word"),
    [SCHEMA_WORD] = N_("one word"),
    [SCHEMA_WORDS] = N_("words"),
    [SCHEMA_FLAG] = N_("true or false"),
    [SCHEMA_WHOLE] = N_("a whole number"),
    [SCHEMA_NUMBER] = N_("a number with a decimal point"),
    [SCHEMA_DURATION] = N_("a duration such as 2h, 90 min or 1d 4h"),
    [SCHEMA_BYTES] = N_("a size such as 80 GiB, 24 GB or a number of bytes"),
    [SCHEMA_AMOUNT] = N_("an amount such as 2.49: digits, and at most six behind the point"),
    [SCHEMA_DATE] = N_("a date such as 2026-11-30"),
    [SCHEMA_TOLERANCE] = N_("a deviation such as 0.02 or 2%"),
    [SCHEMA_THRESHOLD] = N_("a relation and a number, such as '>= 0.9'"),
    [SCHEMA_TEXTS] = N_("a text or a list of texts"),
    [SCHEMA_IDS] = N_("an id or a list of ids"),
    [SCHEMA_MATCH] = N_("package names, and parts of the machine: machine.cpu_model, "
                        "machine.cpus, machine.memory, machine.distribution, machine.interpreter"),
    [SCHEMA_COMMAND] = N_("a command, as one text or a list of words"),
    [SCHEMA_PAIRS] = N_("a mapping of names to texts"),
    [SCHEMA_PHASES] = N_("a mapping of names to phases"),
    [SCHEMA_PARAMETERS] = N_("a mapping of parameters to values"),
    [SCHEMA_CONDITIONS] = N_("a list, each entry a mapping of parameters to values"),
    [SCHEMA_PART] = N_("a mapping (lines 'key: value')"),
    [SCHEMA_PARTS] = N_("a list, each entry a mapping that begins with '- '"),
    [SCHEMA_NAMED_PARTS] = N_("a mapping of names to mappings"),
    [SCHEMA_VALUES] = N_("a list of values"),
    [SCHEMA_SOURCED] = N_("a text, or a mapping with value and source"),
};

/* What stands there does not fit: as a form (a list for a text), or as a value. */
static void complain_takes(struct reader *reader, const struct yaml_node *node, const char *key,
                           enum schema_type type) {
    switch (node->kind) {
    case YAML_SCALAR:
        plan_complain(reader->reading, place(node), "plan-value", "'%s' takes %s, not '%s'",
                      plan_quote(reader->reading, key), _(takes[type]),
                      plan_quote(reader->reading, node->text));
        return;
    case YAML_MAP:
        plan_complain(reader->reading, place(node), "plan-type", "'%s' takes %s, not a mapping",
                      plan_quote(reader->reading, key), _(takes[type]));
        return;
    case YAML_LIST:
        plan_complain(reader->reading, place(node), "plan-type", "'%s' takes %s, not a list",
                      plan_quote(reader->reading, key), _(takes[type]));
        return;
    }
}

static void complain_too_large(struct reader *reader, const struct yaml_node *node,
                               const char *key) {
    plan_complain(reader->reading, place(node), "plan-range", "'%s': '%s' is too large", key,
                  plan_quote(reader->reading, node->text));
}

static void complain_word(struct reader *reader, const struct yaml_node *node, const char *key,
                          const struct schema_words *words) {
    AUTO_STRBUF struct strbuf list = STRBUF_INIT;
    for (size_t i = 0; i < words->count; i++)
        if (!schema_is_spelling(&words->items[i]))
            strbuf_printf(&list, "%s%s", i > 0 ? ", " : "", words->items[i].name);
    plan_complain(reader->reading, place(node), "plan-word", "'%s' is one of %s, not '%s'", key,
                  strbuf_str(&list), plan_quote(reader->reading, node->text));
}

static void complain_empty_entry(struct reader *reader, const struct yaml_node *node,
                                 const char *key) {
    plan_complain(reader->reading, place(node), "plan-missing",
                  "an entry of '%s' is empty; remove it or fill it", key);
}

/* A list or map with more entries than anybody writes. */
static bool is_short_enough(struct reader *reader, const struct yaml_node *node, const char *key) {
    if (node->count <= ENTRIES_MAX)
        return true;
    plan_complain(reader->reading, place(node), "plan-range", "'%s' has more than %u entries", key,
                  ENTRIES_MAX);
    return false;
}

/* ---- single texts ---- */

static bool is_phase(const char *text) {
    enum phase phase;
    return phase_from_name(text, &phase);
}

static bool is_row(const char *text) {
    uint64_t number;
    return strcmp(text, "first") == 0 || strcmp(text, "last") == 0 ||
           (str_to_u64(text, &number) == 0 && number > 0);
}

static bool is_currency(const char *text) {
    return strlen(text) == 3 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static bool is_match(const char *text) {
    static const char *const parts[] = {"cpu_model", "cpus", "memory", "distribution",
                                        "interpreter"};
    if (!str_starts_with(text, "machine."))
        return strpbrk(text, " \t\n") == NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        if (strcmp(text + strlen("machine."), parts[i]) == 0)
            return true;
    return false;
}

static bool is_text_of(enum schema_type type, const char *text) {
    if (type == SCHEMA_ID || type == SCHEMA_IDS)
        return value_is_id(text);
    if (type == SCHEMA_UUID)
        return uuid_is_valid(text);
    if (type == SCHEMA_PHASE || type == SCHEMA_PHASES)
        return is_phase(text);
    if (type == SCHEMA_ROW)
        return is_row(text);
    if (type == SCHEMA_CURRENCY)
        return is_currency(text);
    return type != SCHEMA_MATCH || is_match(text);
}

/* Asks those who will use the expression. */
static int check_expression(enum schema_type type, const char *text, struct err *err) {
    if (type == SCHEMA_PATTERN) {
        struct pattern_set *set = pattern_set_new();
        int rc = pattern_set_add(set, phase_name(PHASE_LOAD), "begin", text, err);
        pattern_set_free(set);
        return rc;
    }
    if (type == SCHEMA_REGEX)
        return extract_check(&(struct extract_spec){.kind = EXTRACT_REGEX, .what = text}, err);
    if (type == SCHEMA_POINTER)
        return extract_check(&(struct extract_spec){.kind = EXTRACT_JSON, .what = text}, err);
    return 0;
}

/* Without the line end that '|' and '>' leave behind the last line. */
static const char *without_line_end(struct reader *reader, const char *text) {
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        length--;
    return text[length] == '\0' ? text : arena_strndup(reader->arena, text, length);
}

/* NULL, and a complaint: it is none. */
static const char *read_text(struct reader *reader, const struct yaml_node *node, const char *key,
                             enum schema_type type) {
    if (node->kind != YAML_SCALAR || !is_text_of(type, node->text)) {
        complain_takes(reader, node, key, type);
        return NULL;
    }
    struct err err = ERR_INIT;
    if (check_expression(type, node->text, &err) < 0) {
        plan_complain(reader->reading, place(node), "plan-expression", "%s", err.text);
        return NULL;
    }
    return type == SCHEMA_TEXT ? without_line_end(reader, node->text) : node->text;
}

/* ---- words ---- */

static const struct schema_word *read_word(struct reader *reader, const struct yaml_node *node,
                                           const struct schema_key *key) {
    if (node->kind != YAML_SCALAR) {
        complain_takes(reader, node, key->name, key->type);
        return NULL;
    }
    for (size_t i = 0; i < key->words->count; i++)
        if (strcmp(key->words->items[i].name, node->text) == 0)
            return &key->words->items[i];
    complain_word(reader, node, key->name, key->words);
    return NULL;
}

static void read_enum(struct reader *reader, const struct yaml_node *node,
                      const struct schema_key *key, char *base) {
    const struct schema_word *word = read_word(reader, node, key);
    if (word == NULL)
        return;
    /* all enums of model/plan.h are unsigned ints to the compilers that build this */
    memcpy(base + key->offset, &word->value, sizeof word->value);
    if (key->flag > 0)
        *(bool *)(base + key->flag) = true;
}

static void read_bits(struct reader *reader, const struct yaml_node *node,
                      const struct schema_key *key, unsigned *bits) {
    if (node->kind == YAML_SCALAR) {
        const struct schema_word *word = read_word(reader, node, key);
        *bits |= word != NULL ? (unsigned)word->value : 0;
        return;
    }
    if (node->kind != YAML_LIST) {
        complain_takes(reader, node, key->name, key->type);
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct schema_word *word = read_word(reader, node->items[i], key);
        *bits |= word != NULL ? (unsigned)word->value : 0;
    }
}

static bool read_flag(struct reader *reader, const struct yaml_node *node, const char *key) {
    if (node->kind == YAML_SCALAR) {
        if (strcmp(node->text, "true") == 0 || strcmp(node->text, "yes") == 0)
            return true;
        if (strcmp(node->text, "false") == 0 || strcmp(node->text, "no") == 0)
            return false;
    }
    complain_takes(reader, node, key, SCHEMA_FLAG);
    return false;
}

/* ---- numbers ---- */

static void read_whole(struct reader *reader, const struct yaml_node *node,
                       const struct schema_key *key, struct plan_whole *ret_whole) {
    int64_t value;
    int rc = node->kind == YAML_SCALAR ? str_to_i64(node->text, &value) : -EINVAL;
    if (rc == -EINVAL) {
        complain_takes(reader, node, key->name, key->type);
        return;
    }
    if (rc < 0 || value < key->minimum || value > key->maximum) {
        plan_complain(reader->reading, place(node), "plan-range",
                      "'%s' takes a whole number from %lld to %lld, not '%s'", key->name,
                      (long long)key->minimum, (long long)key->maximum,
                      plan_quote(reader->reading, node->text));
        return;
    }
    *ret_whole = (struct plan_whole){.given = true, .value = value, .at = place(node)};
}

/* Fills the struct of a scalar type; 0, -EINVAL or -ERANGE. */
static int fill_scalar(const struct yaml_node *node, enum schema_type type, void *to) {
    struct plan_at at = place(node);
    const char *text = node->text;
    int rc = -EINVAL;
    if (type == SCHEMA_NUMBER) {
        struct plan_number value = {.given = true, .text = text, .at = at};
        rc = str_to_double(text, &value.value);
        if (rc == 0)
            *(struct plan_number *)to = value;
    } else if (type == SCHEMA_DURATION) {
        struct plan_duration value = {.given = true, .at = at};
        rc = value_duration_ns(text, &value.ns);
        if (rc == 0)
            *(struct plan_duration *)to = value;
    } else if (type == SCHEMA_BYTES) {
        struct plan_bytes value = {.given = true, .at = at};
        rc = value_bytes(text, &value.bytes);
        if (rc == 0)
            *(struct plan_bytes *)to = value;
    } else if (type == SCHEMA_AMOUNT) {
        struct plan_amount value = {.given = true, .at = at};
        rc = value_micros(text, &value.micros);
        if (rc == 0)
            *(struct plan_amount *)to = value;
    } else if (type == SCHEMA_DATE) {
        struct plan_date value = {.given = true, .text = text, .at = at};
        rc = value_date_ns(text, &value.utc_ns);
        value.given = rc == 0; /* a text alone was said and refused */
        *(struct plan_date *)to = value;
    } else if (type == SCHEMA_TOLERANCE) {
        struct plan_tolerance value = {.given = true, .at = at};
        rc = value_tolerance(text, &value.value, &value.relative);
        if (rc == 0)
            *(struct plan_tolerance *)to = value;
    } else if (type == SCHEMA_THRESHOLD) {
        struct plan_threshold value = {.given = true, .at = at};
        rc = value_threshold(text, &value.relation, &value.value);
        if (rc == 0)
            *(struct plan_threshold *)to = value;
    }
    return rc;
}

static void read_scalar(struct reader *reader, const struct yaml_node *node,
                        const struct schema_key *key, void *to) {
    int rc = node->kind == YAML_SCALAR ? fill_scalar(node, key->type, to) : -EINVAL;
    if (rc == -ERANGE)
        complain_too_large(reader, node, key->name);
    else if (rc < 0)
        complain_takes(reader, node, key->name, key->type);
}

/* ---- texts and pairs ---- */

/* One text, or a list of them. Empty words are words of a command, but no text otherwise. */
static void read_texts(struct reader *reader, const struct yaml_node *node,
                       const struct schema_key *key, struct plan_texts *ret_texts) {
    const struct yaml_node *one[] = {node};
    const struct yaml_node *const *items = one;
    size_t count = 1;
    if (node->kind == YAML_MAP) {
        complain_takes(reader, node, key->name, key->type);
        return;
    }
    if (node->kind == YAML_LIST) {
        if (!is_short_enough(reader, node, key->name))
            return;
        items = (const struct yaml_node *const *)node->items;
        count = node->count;
    }
    struct plan_texts texts = {
        .items = arena_alloc(reader->arena, count * sizeof(struct plan_text_item))};
    for (size_t i = 0; i < count; i++) {
        bool quoted = items[i]->kind == YAML_SCALAR && !items[i]->plain;
        if (yaml_is_unsaid(items[i]) && !(key->type == SCHEMA_COMMAND && quoted)) {
            complain_empty_entry(reader, items[i], key->name);
            continue;
        }
        const char *text = read_text(reader, items[i], key->name, key->type);
        if (text != NULL)
            texts.items[texts.count++] = (struct plan_text_item){text, place(items[i])};
    }
    *ret_texts = texts;
}

static void read_command(struct reader *reader, const struct yaml_node *node,
                         const struct schema_key *key, struct plan_texts *ret_texts) {
    const struct yaml_node *shell = said(reader->map, "shell");
    bool in_shell = shell != NULL && shell->kind == YAML_SCALAR &&
                    (strcmp(shell->text, "true") == 0 || strcmp(shell->text, "yes") == 0);
    if (in_shell && node->kind == YAML_LIST) {
        plan_complain(reader->reading, place(node), "plan-command",
                      "with 'shell: true' the command in '%s' is one text, not a list", key->name);
        return;
    }
    if (in_shell || node->kind != YAML_SCALAR) {
        read_texts(reader, node, key, ret_texts);
        return;
    }
    const char *why = NULL;
    if (!value_command_words(node->text, place(node), reader->arena, ret_texts, &why))
        plan_complain(reader->reading, place(node), "plan-command", "%s", why);
}

static bool check_name(struct reader *reader, const struct yaml_node *name, bool is_parameter) {
    if (is_parameter ? value_is_parameter(name->text) : *name->text != '\0')
        return true;
    if (is_parameter)
        plan_complain(reader->reading, place(name), "plan-name",
                      "'%s' is no name of a parameter: at most 64 characters without blanks, '=', "
                      "'{' and '}', since it is said as -c NAME=VALUE and filled in for {NAME}",
                      plan_quote(reader->reading, name->text));
    else
        plan_complain(reader->reading, place(name), "plan-name", "a name is missing before ':'");
    return false;
}

static void read_pairs(struct reader *reader, const struct yaml_node *node,
                       const struct schema_key *key, struct plan_pairs *ret_pairs) {
    bool parameters = key->type == SCHEMA_PARAMETERS || key->type == SCHEMA_CONDITIONS;
    if (node->kind != YAML_MAP) {
        complain_takes(reader, node, key->name, key->type);
        return;
    }
    if (!is_short_enough(reader, node, key->name))
        return;
    struct plan_pairs pairs = {
        .items = arena_alloc(reader->arena, node->count * sizeof(struct plan_pair)),
        .at = place(node)};
    for (size_t i = 0; i < node->count; i++) {
        const struct yaml_node *name = node->entries[i].key, *value = node->entries[i].value;
        bool quoted = value->kind == YAML_SCALAR && !value->plain;
        if (!check_name(reader, name, parameters))
            continue;
        if (yaml_is_unsaid(value) && !(parameters && quoted)) {
            if (parameters)
                plan_complain(reader->reading, place(name), "plan-missing",
                              "'%s' has no value; an empty text is written \"\"",
                              plan_quote(reader->reading, name->text));
            continue;
        }
        enum schema_type type = key->type == SCHEMA_PHASES ? SCHEMA_PHASE : SCHEMA_TEXT;
        const char *text = read_text(reader, value, name->text, type);
        if (text != NULL)
            pairs.items[pairs.count++] =
                (struct plan_pair){.name = name->text, .value = text, .at = place(value)};
    }
    *ret_pairs = pairs;
}

static void read_conditions(struct reader *reader, const struct yaml_node *node,
                            const struct schema_key *key, char *base) {
    if (node->kind != YAML_LIST) {
        complain_takes(reader, node, key->name, key->type);
        return;
    }
    if (!is_short_enough(reader, node, key->name))
        return;
    struct plan_pairs *list = arena_alloc(reader->arena, node->count * sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < node->count; i++) {
        struct plan_pairs pairs = {0};
        read_pairs(reader, node->items[i], key, &pairs);
        if (pairs.at.line > 0)
            list[count++] = pairs;
    }
    *(struct plan_pairs **)(void *)(base + key->offset) = list;
    *(size_t *)(void *)(base + key->count) = count;
}

/* ---- parts ---- */

static void read_part(struct plan_reading *reading, const struct schema_part *part,
                      const struct yaml_node *node, const char *name, bool is_entry, char *base);

/* A part where a text or a list may stand for its one key. */
static void read_short(struct reader *reader, const struct schema_part *part,
                       const struct yaml_node *node, const char *name, char *base);

static void read_parts(struct reader *reader, const struct yaml_node *node,
                       const struct schema_key *key, char *base) {
    const struct schema_part *part = key->part;
    if (node->kind != YAML_LIST && !(key->type == SCHEMA_VALUES && node->kind == YAML_SCALAR)) {
        complain_takes(reader, node, key->name, key->type);
        return;
    }
    struct yaml_node one = *node, *only = &one;
    struct yaml_node list = *node;
    if (node->kind == YAML_SCALAR && node->plain && strchr(node->text, ',') != NULL)
        plan_warn(reader->reading, place(node), "plan-axis",
                  "this is one value, '%s'; several stand in brackets: [%s]",
                  plan_quote(reader->reading, node->text), plan_quote(reader->reading, node->text));
    if (node->kind == YAML_SCALAR)
        list = (struct yaml_node){.kind = YAML_LIST, .items = &only, .count = 1};
    if (!is_short_enough(reader, &list, key->name))
        return;
    char *items = arena_alloc(reader->arena, list.count * part->size);
    size_t count = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct yaml_node *item = list.items[i];
        char *to = items + count * part->size;
        if (part->short_key != NULL) {
            read_short(reader, part, item, key->name, to);
            if (key->type == SCHEMA_VALUES && ((struct plan_value *)(void *)to)->text == NULL)
                continue;
        } else if (item->kind != YAML_MAP) {
            if (yaml_is_unsaid(item))
                complain_empty_entry(reader, item, key->name);
            else
                complain_takes(reader, item, key->name, key->type);
            continue;
        } else {
            read_part(reader->reading, part, item, key->name, true, to);
        }
        count++;
    }
    *(void **)(void *)(base + key->offset) = items;
    *(size_t *)(void *)(base + key->count) = count;
}

static void read_named_parts(struct reader *reader, const struct yaml_node *node,
                             const struct schema_key *key, char *base) {
    const struct schema_part *part = key->part;
    if (node->kind != YAML_MAP) {
        complain_takes(reader, node, key->name, key->type);
        return;
    }
    if (!is_short_enough(reader, node, key->name))
        return;
    char *items = arena_alloc(reader->arena, node->count * part->size);
    size_t count = 0;
    for (size_t i = 0; i < node->count; i++) {
        const struct yaml_node *name = node->entries[i].key, *value = node->entries[i].value;
        if (!check_name(reader, name, part->name_is_parameter))
            continue;
        char *to = items + count++ * part->size;
        if (part->short_key != NULL)
            read_short(reader, part, value, name->text, to);
        else
            read_part(reader->reading, part, value, name->text, false, to);
        *(const char **)(void *)(to + part->name_offset) = name->text;
        *(struct plan_at *)(void *)to = place(name);
    }
    *(void **)(void *)(base + key->offset) = items;
    *(size_t *)(void *)(base + key->count) = count;
}

static void read_key(struct reader *reader, const struct yaml_node *node,
                     const struct schema_key *key, char *base) {
    void *to = base + key->offset;
    switch (key->type) {
    case SCHEMA_VERSION:
        if (node->kind != YAML_SCALAR || strcmp(node->text, "1") != 0)
            complain_takes(reader, node, key->name, key->type);
        return;
    case SCHEMA_TEXT:
    case SCHEMA_ID:
    case SCHEMA_UUID:
    case SCHEMA_PHASE:
    case SCHEMA_REGEX:
    case SCHEMA_PATTERN:
    case SCHEMA_POINTER:
    case SCHEMA_ROW:
    case SCHEMA_CURRENCY:
        *(const char **)to = read_text(reader, node, key->name, key->type);
        return;
    case SCHEMA_CHOICE: {
        /* "" for one that was refused: it was said, and need not be missed, too */
        const struct schema_word *word = read_word(reader, node, key);
        *(const char **)to = word != NULL ? word->name : "";
        return;
    }
    case SCHEMA_WORD:
        read_enum(reader, node, key, base);
        return;
    case SCHEMA_WORDS:
        read_bits(reader, node, key, to);
        return;
    case SCHEMA_FLAG:
        *(bool *)to = read_flag(reader, node, key->name);
        return;
    case SCHEMA_WHOLE:
        read_whole(reader, node, key, to);
        return;
    case SCHEMA_NUMBER:
    case SCHEMA_DURATION:
    case SCHEMA_BYTES:
    case SCHEMA_AMOUNT:
    case SCHEMA_DATE:
    case SCHEMA_TOLERANCE:
    case SCHEMA_THRESHOLD:
        read_scalar(reader, node, key, to);
        return;
    case SCHEMA_TEXTS:
    case SCHEMA_IDS:
    case SCHEMA_MATCH:
        read_texts(reader, node, key, to);
        return;
    case SCHEMA_COMMAND:
        read_command(reader, node, key, to);
        return;
    case SCHEMA_PAIRS:
    case SCHEMA_PHASES:
    case SCHEMA_PARAMETERS:
        read_pairs(reader, node, key, to);
        return;
    case SCHEMA_CONDITIONS:
        read_conditions(reader, node, key, base);
        return;
    case SCHEMA_PART:
        read_part(reader->reading, key->part, node, key->name, false, to);
        return;
    case SCHEMA_PARTS:
    case SCHEMA_VALUES:
        read_parts(reader, node, key, base);
        return;
    case SCHEMA_NAMED_PARTS:
        read_named_parts(reader, node, key, base);
        return;
    case SCHEMA_SOURCED:
        read_short(reader, key->part, node, key->name, to);
        return;
    case SCHEMA_TYPE_COUNT_:
        return;
    }
}

static const struct schema_key *find_key(const struct schema_part *part, const char *name) {
    for (size_t i = 0; i < part->key_count; i++)
        if (strcmp(part->keys[i].name, name) == 0)
            return &part->keys[i];
    return NULL;
}

static void complain_unknown(struct reader *reader, const struct schema_part *part,
                             const struct yaml_node *name) {
    if (reader->reading->complaint_count >= PLAN_COMPLAINTS_MAX)
        return; /* nobody would read it, and a file may hold 10^5 of them */
    const char *names[64];
    size_t count = 0;
    AUTO_STRBUF struct strbuf list = STRBUF_INIT;
    for (; count < part->key_count && count < ARRAY_LENGTH(names); count++) {
        names[count] = part->keys[count].name;
        strbuf_printf(&list, "%s%s", count > 0 ? ", " : "", names[count]);
    }
    const char *near = str_nearest(name->text, names, count);
    const char *quoted = plan_quote(reader->reading, name->text);
    if (near != NULL)
        plan_complain(reader->reading, place(name), "plan-unknown-key",
                      "unknown key '%s'; did you mean '%s'?", quoted, near);
    else
        plan_complain(reader->reading, place(name), "plan-unknown-key",
                      "unknown key '%s'; here the keys are %s", quoted, strbuf_str(&list));
}

static void check_required(struct reader *reader, const struct schema_part *part,
                           const char *name) {
    for (size_t i = 0; i < part->key_count; i++) {
        const struct schema_key *key = &part->keys[i];
        const struct yaml_node *node = yaml_get(reader->map, key->name);
        bool empty = node != NULL && node->kind != YAML_SCALAR && node->count == 0 &&
                     key->type != SCHEMA_PART;
        if (!key->required || key->type == SCHEMA_VALUES || (!yaml_is_unsaid(node) && !empty))
            continue; /* an axis without values: matrix.c */
        struct plan_at at = place(node != NULL ? node : reader->map);
        const char *example = key->example != NULL ? key->example : key->name;
        if (reader->is_entry)
            plan_complain(reader->reading, at, "plan-missing",
                          "an entry of '%s' needs '%s'; write for example '%s'", name, key->name,
                          example);
        else
            plan_complain(reader->reading, at, "plan-missing",
                          "'%s' needs '%s'; write for example '%s'",
                          plan_quote(reader->reading, name), key->name, example);
    }
}

static void check_rule(struct reader *reader, const struct schema_rule *rule) {
    const struct yaml_node *node = said(reader->map, rule->key);
    if (node == NULL)
        return;
    size_t given = 0;
    AUTO_STRBUF struct strbuf list = STRBUF_INIT;
    for (size_t i = 0; i < ARRAY_LENGTH(rule->needs) && rule->needs[i] != NULL; i++) {
        bool is_given = said(reader->map, rule->needs[i]) != NULL;
        given += is_given;
        if (rule->one_of || !is_given)
            strbuf_add_next(&list, ", ", rule->needs[i]);
    }
    if (rule->one_of && given != 1)
        plan_complain(reader->reading, place(node), "plan-missing",
                      "'%s' needs exactly one of these beside it: %s", rule->key,
                      strbuf_str(&list));
    else if (!rule->one_of && list.length > 0)
        plan_complain(reader->reading, place(node), "plan-missing", "'%s' also needs: %s",
                      rule->key, strbuf_str(&list));
}

static void read_part(struct plan_reading *reading, const struct schema_part *part,
                      const struct yaml_node *node, const char *name, bool is_entry, char *base) {
    struct reader reader = {
        .reading = reading, .arena = reading->plan->arena, .map = node, .is_entry = is_entry};
    if (part->has_at)
        *(struct plan_at *)(void *)base = place(node);
    if (node->kind != YAML_MAP) {
        if (!yaml_is_unsaid(node))
            complain_takes(&reader, node, name, SCHEMA_PART);
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct schema_key *key = find_key(part, node->entries[i].key->text);
        if (key == NULL)
            complain_unknown(&reader, part, node->entries[i].key);
        else if (!yaml_is_unsaid(node->entries[i].value))
            read_key(&reader, node->entries[i].value, key, base);
    }
    check_required(&reader, part, name);
    for (size_t i = 0; i < part->rule_count; i++)
        check_rule(&reader, &part->rules[i]);
}

static void read_short(struct reader *reader, const struct schema_part *part,
                       const struct yaml_node *node, const char *name, char *base) {
    if (node->kind == YAML_MAP) {
        read_part(reader->reading, part, node, name, false, base);
        return;
    }
    if (part->has_at)
        *(struct plan_at *)(void *)base = place(node);
    const struct schema_key *key = find_key(part, part->short_key);
    struct schema_key named = *key; /* complaints speak of what people wrote */
    named.name = name;
    bool quoted_value = node->kind == YAML_SCALAR && !node->plain && key->type == SCHEMA_TEXT;
    if (yaml_is_unsaid(node) && key->type == SCHEMA_VALUES)
        return; /* an axis without values: matrix.c */
    if (yaml_is_unsaid(node) && !quoted_value)
        plan_complain(reader->reading, place(node), "plan-missing",
                      "'%s' has no value; an empty text is written \"\"",
                      plan_quote(reader->reading, name));
    else
        read_key(reader, node, &named, base);
}

void plan_fill_from(struct plan_reading *reading, const struct yaml_node *root) {
    read_part(reading, &schema_plan, root, plan_quote(reading, reading->plan->name), false,
              (char *)reading->plan);
}
