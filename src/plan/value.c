/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts to values: the whole text or nothing, the same in every locale, money without a float.
 * Must not guess what a text that is almost a value could mean.
 */
#include "plan/value.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define ID_MAX  64u

static bool is_one_of(char c, const char *set) {
    return c != '\0' && strchr(set, c) != NULL;
}

int value_duration_ns(const char *text, int64_t *ret_ns) {
    AUTO_STRBUF struct strbuf tight = STRBUF_INIT;
    for (const char *at = text; *at != '\0';) {
        size_t blanks = strspn(at, " ");
        if (blanks == 0) {
            strbuf_add_char(&tight, *at++);
            continue;
        }
        char before = at > text ? at[-1] : '\0', after = at[blanks];
        if (!(is_one_of(before, DIGITS) && is_one_of(after, LETTERS)) &&
            !(is_one_of(before, LETTERS) && is_one_of(after, DIGITS)))
            return -EINVAL;
        at += blanks;
    }
    struct err err = ERR_INIT;
    return str_to_duration_ns(strbuf_str(&tight), ret_ns, &err);
}

int value_bytes(const char *text, uint64_t *ret_bytes) {
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"kB", UINT64_C(1000)},
        {"KB", UINT64_C(1000)},
        {"MB", UINT64_C(1000000)},
        {"GB", UINT64_C(1000000000)},
        {"TB", UINT64_C(1000000000000)},
        {"PB", UINT64_C(1000000000000000)},
        {"KiB", UINT64_C(1) << 10},
        {"MiB", UINT64_C(1) << 20},
        {"GiB", UINT64_C(1) << 30},
        {"TiB", UINT64_C(1) << 40},
        {"PiB", UINT64_C(1) << 50},
    };
    struct str_decimal decimal;
    if (!str_take_decimal(&text, &decimal))
        return -EINVAL;
    const char *unit = text + strspn(text, " ");
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].bytes == 1 && decimal.fraction_length > 0
                       ? -EINVAL
                       : str_scale_decimal(&decimal, units[i].bytes, ret_bytes);
    return -EINVAL;
}

int value_micros(const char *text, int64_t *ret_micros) {
    struct str_decimal decimal;
    uint64_t micros;
    if (!str_take_decimal(&text, &decimal) || *text != '\0' || decimal.fraction_length > 6)
        return -EINVAL;
    int rc = str_scale_decimal(&decimal, 1000000, &micros);
    if (rc < 0 || micros > INT64_MAX)
        return -ERANGE;
    *ret_micros = (int64_t)micros;
    return 0;
}

int value_date_ns(const char *text, int64_t *ret_utc_ns) {
    if (strlen(text) != strlen("2026-11-30"))
        return -EINVAL;
    char moment[32];
    memcpy(moment, text, 10);
    memcpy(moment + 10, "T00:00:00Z", sizeof "T00:00:00Z");
    int64_t utc_ns;
    int rc = clock_parse_utc(moment, &utc_ns);
    if (rc == -ERANGE && strcmp(text, "1970") < 0)
        return -EINVAL; /* too early, which nobody would call too large */
    if (rc < 0)
        return rc;
    if (utc_ns < 0)
        return -EINVAL;
    *ret_utc_ns = utc_ns;
    return 0;
}

int value_tolerance(const char *text, double *ret_value, bool *ret_relative) {
    size_t length = strlen(text);
    bool relative = length > 0 && text[length - 1] == '%';
    if (relative)
        length--;
    while (length > 0 && relative && text[length - 1] == ' ')
        length--;
    char *number AUTO_FREE = mem_strndup(text, length);
    double value;
    int rc = str_to_double(number, &value);
    if (rc < 0)
        return rc;
    if (value < 0)
        return -EINVAL;
    *ret_value = relative ? value / 100 : value;
    *ret_relative = relative;
    return 0;
}

int value_threshold(const char *text, enum plan_relation *ret_relation, double *ret_value) {
    static const struct {
        const char *sign;
        enum plan_relation relation;
    } signs[] = {
        /* longer ones first */
        {"<=", PLAN_AT_MOST},
        {">=", PLAN_AT_LEAST},
        {"<", PLAN_LESS},
        {">", PLAN_GREATER},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++) {
        if (!str_starts_with(text, signs[i].sign))
            continue;
        text += strlen(signs[i].sign);
        *ret_relation = signs[i].relation;
        return str_to_double(text + strspn(text, " "), ret_value);
    }
    return -EINVAL;
}

bool value_is_id(const char *text) {
    size_t length = strlen(text);
    return length > 0 && length <= ID_MAX && is_one_of(*text, LETTERS DIGITS) &&
           strspn(text, LETTERS DIGITS "._-") == length;
}

bool value_is_parameter(const char *text) {
    size_t length = strlen(text);
    return length > 0 && length <= ID_MAX && strpbrk(text, " \t\n={}") == NULL;
}

/* ---- commands ---- */

struct words {
    struct plan_text_item *items; /* owned */
    size_t count, room;
};

static void add_word(struct words *words, const struct strbuf *word, struct plan_at at,
                     struct arena *arena) {
    if (words->count == words->room) {
        words->room = words->room > 0 ? words->room * 2 : 16;
        words->items = mem_realloc(words->items, words->room, sizeof *words->items);
    }
    words->items[words->count++] =
        (struct plan_text_item){.text = arena_strdup(arena, strbuf_str(word)), .at = at};
}

/* What follows the opening quote at *at, up to behind the closing one. Inside double quotes a
 * backslash escapes only what would else mean something there. */
static bool take_quoted(const char **at, struct strbuf *word, char *ret_expansion) {
    char quote = *(*at)++;
    for (; **at != '\0'; (*at)++) {
        char c = **at;
        if (c == quote) {
            (*at)++;
            return true;
        }
        if (quote == '"' && c == '\\' && is_one_of((*at)[1], "\"\\$`"))
            c = *++*at;
        else if (quote == '"' && is_one_of(c, "$`"))
            *ret_expansion = c;
        strbuf_add_char(word, c);
    }
    return false;
}

/* One word at *at; false with *ret_wrong: the character that needs a shell, or the open quote. */
static bool take_word(const char **at, struct strbuf *word, char *ret_wrong) {
    while (**at != '\0' && !is_one_of(**at, " \t\n")) {
        if (is_one_of(**at, "'\"")) {
            char quote = **at, expansion = '\0';
            bool closed = take_quoted(at, word, &expansion);
            *ret_wrong = closed ? expansion : quote;
            if (!closed || expansion != '\0')
                return false;
        } else if (is_one_of(**at, "|><&;$`*?()")) {
            *ret_wrong = **at;
            return false;
        } else {
            if (**at == '\\' && (*at)[1] != '\0')
                (*at)++;
            strbuf_add_char(word, *(*at)++);
        }
    }
    return true;
}

bool value_command_words(const char *text, struct plan_at at, struct arena *arena,
                         struct plan_texts *ret_words, const char **ret_why) {
    struct words words = {0};
    AUTO_STRBUF struct strbuf word = STRBUF_INIT;
    char wrong = '\0';
    bool right = true;
    for (text += strspn(text, " \t\n"); right && *text != '\0'; text += strspn(text, " \t\n")) {
        strbuf_clear(&word);
        right = take_word(&text, &word, &wrong);
        if (right)
            add_word(&words, &word, at, arena);
    }
    if (!right && is_one_of(wrong, "'\""))
        *ret_why = arena_printf(arena, _("the quote %c in the command is never closed"), wrong);
    else if (!right)
        *ret_why = arena_printf(arena,
                                _("'%c' in the command needs a shell: put it in single quotes, or "
                                  "add 'shell: true'"),
                                wrong);
    if (right) {
        ret_words->count = words.count;
        ret_words->items = arena_alloc(arena, words.count * sizeof *words.items);
        if (words.count > 0)
            memcpy(ret_words->items, words.items, words.count * sizeof *words.items);
    }
    free(words.items);
    return right;
}
