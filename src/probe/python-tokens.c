/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See python-tokens.h; the lexical rules are those of Python's reference, chapter 2. */
#include "probe/python-tokens.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <string.h>

struct reading {
    const char *at;
    unsigned line, depth; /* of open brackets */
    size_t limit, room;
    struct arena *arena;
    struct tokens *tokens;
};

static const struct token no_token = {.text = ""};

const struct token *token_at(const struct tokens *tokens, size_t index) {
    return index < tokens->count ? &tokens->items[index] : &no_token;
}

bool token_is(const struct tokens *tokens, size_t index, const char *text) {
    const struct token *token = token_at(tokens, index);
    return (token->kind == TOKEN_NAME || token->kind == TOKEN_SIGN) &&
           strcmp(token->text, text) == 0;
}

static void add(struct reading *reading, enum token_kind kind, const char *text, size_t length,
                unsigned line) {
    struct tokens *tokens = reading->tokens;
    if (tokens->count == reading->limit) {
        tokens->complete = false;
        return;
    }
    if (tokens->count == reading->room) {
        size_t room = 2 * reading->room + 256;
        struct token *items = arena_alloc(reading->arena, room * sizeof *items);
        if (tokens->count > 0)
            memcpy(items, tokens->items, tokens->count * sizeof *items);
        tokens->items = items;
        reading->room = room;
    }
    tokens->items[tokens->count++] = (struct token){
        .kind = kind, .text = arena_strndup(reading->arena, text, length), .line = line};
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* What is filled in at run time becomes "*": {x} of an f-string, "{}" and "%s" of any. */
static void add_filled(struct strbuf *out, const struct strbuf *raw, bool is_format) {
    for (const char *at = strbuf_str(raw); *at != '\0'; at++) {
        size_t length = at[0] == '{' ? strcspn(at, "}") : 0;
        bool fills = at[0] == '{' && at[length] == '}' && (is_format || length == 1);
        bool percent = at[0] == '%' && (at[1] == 's' || at[1] == 'd');
        if (at[0] == '{' && at[1] == '{')
            fills = false;
        if (!fills && !percent) {
            strbuf_add_char(out, *at);
            continue;
        }
        if (out->length == 0 || out->data[out->length - 1] != '*')
            strbuf_add_char(out, '*');
        at += percent ? 1 : length;
    }
}

static void take_string(struct reading *reading, bool is_raw, bool is_format) {
    const char quote = *reading->at;
    unsigned line = reading->line;
    bool is_long = reading->at[1] == quote && reading->at[2] == quote;
    AUTO_STRBUF struct strbuf raw = STRBUF_INIT;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    reading->at += is_long ? 3 : 1;
    for (; *reading->at != '\0'; reading->at++) {
        const char *at = reading->at;
        if (*at == quote && (!is_long || (at[1] == quote && at[2] == quote))) {
            reading->at += is_long ? 3 : 1;
            break;
        }
        if (*at == '\n') {
            if (!is_long)
                break; /* not closed: the line ends it */
            reading->line++;
        }
        if (*at == '\\' && at[1] != '\0') {
            reading->at++;
            reading->line += at[1] == '\n';
            if (!is_raw && (at[1] == quote || at[1] == '\\')) {
                strbuf_add_char(&raw, at[1]);
                continue;
            }
            strbuf_add_char(&raw, '\\');
        }
        strbuf_add_char(&raw, *reading->at);
    }
    add_filled(&text, &raw, is_format);
    add(reading, TOKEN_STRING, strbuf_str(&text), text.length, line);
}

/* r"", f"", rb"" …: at most two letters and then a quote. */
static bool take_prefixed(struct reading *reading) {
    size_t length = strspn(reading->at, "rRbBuUfF");
    char quote = reading->at[length];
    if (length > 2 || (quote != '"' && quote != '\''))
        return false;
    bool is_raw = false, is_format = false;
    for (size_t i = 0; i < length; i++) {
        is_raw = is_raw || tolower((unsigned char)reading->at[i]) == 'r';
        is_format = is_format || tolower((unsigned char)reading->at[i]) == 'f';
    }
    reading->at += length;
    take_string(reading, is_raw, is_format);
    return true;
}

static void take_newline(struct reading *reading) {
    const struct tokens *tokens = reading->tokens;
    if (reading->depth == 0 && tokens->count > 0 &&
        tokens->items[tokens->count - 1].kind != TOKEN_NEWLINE)
        add(reading, TOKEN_NEWLINE, "", 0, reading->line);
    reading->line++;
    reading->at++;
}

static void take_sign(struct reading *reading) {
    if (strchr("([{", *reading->at) != NULL)
        reading->depth++;
    if (strchr(")]}", *reading->at) != NULL && reading->depth > 0)
        reading->depth--;
    add(reading, TOKEN_SIGN, reading->at, 1, reading->line);
    reading->at++;
}

static void mark_documents(struct tokens *tokens) {
    for (size_t i = 0; i < tokens->count; i++) {
        bool begins = i == 0 || tokens->items[i - 1].kind == TOKEN_NEWLINE;
        bool ends = i + 1 == tokens->count || tokens->items[i + 1].kind == TOKEN_NEWLINE;
        tokens->items[i].documents = tokens->items[i].kind == TOKEN_STRING && begins && ends;
    }
}

void tokens_read(const char *text, size_t limit, struct arena *arena, struct tokens *ret) {
    *ret = (struct tokens){.complete = true};
    struct reading reading = {.at = text, .line = 1, .limit = limit, .arena = arena, .tokens = ret};
    while (*reading.at != '\0' && ret->complete) {
        char c = *reading.at;
        if (c == '#')
            reading.at += strcspn(reading.at, "\n");
        else if (c == '\n')
            take_newline(&reading);
        else if (c == '\\' && reading.at[1] == '\n') {
            reading.at += 2;
            reading.line++;
        } else if (isspace((unsigned char)c))
            reading.at++;
        else if (take_prefixed(&reading))
            continue;
        else if (is_word(c)) {
            size_t length = 1;
            while (is_word(reading.at[length]) ||
                   (isdigit((unsigned char)c) && reading.at[length] == '.'))
                length++;
            add(&reading, TOKEN_NAME, reading.at, length, reading.line);
            reading.at += length;
        } else
            take_sign(&reading);
    }
    mark_documents(ret);
}

size_t token_behind_bracket(const struct tokens *tokens, size_t index) {
    size_t depth = 0;
    for (size_t i = index; i < tokens->count; i++) {
        if (tokens->items[i].kind != TOKEN_SIGN)
            continue;
        if (strchr("([{", tokens->items[i].text[0]) != NULL)
            depth++;
        else if (strchr(")]}", tokens->items[i].text[0]) != NULL && --depth == 0)
            return i + 1;
    }
    return tokens->count;
}
