/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See repository-toml.h. */
#include "probe/repository-toml.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define DEPTH_MAX 16u

struct toml {
    const char *at;
    unsigned line, began;
    toml_visit *visit;
    void *context;
    struct strbuf path; /* of the value that is being read */
};

static void skip_blanks(struct toml *toml) {
    while (*toml->at == ' ' || *toml->at == '\t' || *toml->at == '\r')
        toml->at++;
}

static void skip_line(struct toml *toml) {
    toml->at += strcspn(toml->at, "\n");
}

/* Blanks, line ends and comments. */
static void skip_space(struct toml *toml) {
    for (;;) {
        skip_blanks(toml);
        if (*toml->at == '#')
            skip_line(toml);
        if (*toml->at != '\n')
            return;
        toml->line++;
        toml->at++;
    }
}

/* A string with one or three quotes, its escapes left as they are but \" and \\. */
static void take_string(struct toml *toml, struct strbuf *out) {
    char quote = *toml->at;
    bool is_long = toml->at[1] == quote && toml->at[2] == quote;
    toml->at += is_long ? 3 : 1;
    while (*toml->at != '\0') {
        bool ends =
            *toml->at == quote && (!is_long || (toml->at[1] == quote && toml->at[2] == quote));
        if (ends) {
            toml->at += is_long ? 3 : 1;
            return;
        }
        if (*toml->at == '\n') {
            if (!is_long)
                return;
            toml->line++;
        }
        if (*toml->at == '\\' && quote == '"' && (toml->at[1] == '"' || toml->at[1] == '\\'))
            toml->at++;
        strbuf_add_char(out, *toml->at++);
    }
}

static bool is_bare(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* "a", "a.b", "\"a b\".c" is added to the path; false: no key stands there. */
static bool take_key(struct toml *toml) {
    for (;;) {
        size_t before = toml->path.length;
        skip_blanks(toml);
        if (toml->path.length > 0)
            strbuf_add_char(&toml->path, '.');
        size_t begin = toml->path.length;
        if (*toml->at == '"' || *toml->at == '\'')
            take_string(toml, &toml->path);
        else
            while (is_bare(*toml->at))
                strbuf_add_char(&toml->path, *toml->at++);
        if (toml->path.length == begin) {
            toml->path.length = before;
            return false;
        }
        skip_blanks(toml);
        if (*toml->at != '.')
            return true;
        toml->at++;
    }
}

static void cut_path(struct toml *toml, size_t length) {
    if (toml->path.data != NULL) {
        toml->path.length = length;
        toml->path.data[length] = '\0';
    }
}

static bool take_value(struct toml *toml, unsigned depth);

static bool take_pair(struct toml *toml, unsigned depth) {
    size_t length = toml->path.length;
    bool is_pair = take_key(toml);
    skip_blanks(toml);
    is_pair = is_pair && *toml->at == '=';
    if (is_pair) {
        toml->at++;
        skip_blanks(toml);
        is_pair = take_value(toml, depth);
    }
    cut_path(toml, length);
    return is_pair;
}

static bool take_list(struct toml *toml, char end, unsigned depth) {
    toml->at++;
    for (;;) {
        skip_space(toml);
        if (*toml->at == end) {
            toml->at++;
            return true;
        }
        if (*toml->at == '\0' || depth == DEPTH_MAX)
            return false;
        if (!(end == '}' ? take_pair(toml, depth + 1) : take_value(toml, depth + 1)))
            return false;
        skip_space(toml);
        if (*toml->at == ',')
            toml->at++;
        else if (*toml->at != end)
            return false;
    }
}

static bool take_value(struct toml *toml, unsigned depth) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    unsigned line = toml->line;
    switch (*toml->at) {
    case '[':
        return take_list(toml, ']', depth);
    case '{':
        return take_list(toml, '}', depth);
    case '"':
    case '\'':
        take_string(toml, &text);
        break;
    default:
        strbuf_add(&text, toml->at, strcspn(toml->at, ",]}# \t\r\n"));
        toml->at += text.length;
        if (text.length == 0)
            return false;
    }
    toml->visit(toml->context, strbuf_str(&toml->path), strbuf_str(&text), line, toml->began);
    return true;
}

void toml_read(const char *text, toml_visit *visit, void *context) {
    struct toml toml = {.at = text, .line = 1, .visit = visit, .context = context};
    size_t table = 0;
    for (;;) {
        skip_space(&toml);
        if (*toml.at == '\0')
            break;
        if (*toml.at == '[') {
            bool is_array = toml.at[1] == '[';
            toml.at += is_array ? 2 : 1;
            toml.began += is_array;
            cut_path(&toml, 0);
            if (!take_key(&toml))
                cut_path(&toml, 0);
            table = toml.path.length;
        } else {
            (void)take_pair(&toml, 0);
            cut_path(&toml, table);
        }
        skip_line(&toml);
    }
    strbuf_done(&toml.path);
}
