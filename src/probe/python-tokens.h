/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Python source as a list of tokens with their lines: names, strings without their quotes, single
 * signs, line ends of statements. Comments are gone. For looking, not for compiling: what is no
 * Python gives tokens all the same.
 */
#pragma once

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
    TOKEN_END = 0, /* of the text; every index beyond it gives this one */
    TOKEN_NAME,    /* also keywords and numbers */
    TOKEN_STRING,  /* {…} of an f-string, %s and {} are "*" in text */
    TOKEN_SIGN,    /* one character */
    TOKEN_NEWLINE, /* outside of brackets only */
};

struct token {
    enum token_kind kind;
    const char *text; /* in the arena; of a sign its character */
    unsigned line;
    bool documents; /* a string that is a statement of its own */
};

struct tokens {
    struct token *items;
    size_t count;
    bool complete;
};

void tokens_read(const char *text, size_t limit, struct arena *arena, struct tokens *ret);
const struct token *token_at(const struct tokens *tokens, size_t index);
bool token_is(const struct tokens *tokens, size_t index, const char *text); /* name or sign */
/* The index behind the bracket that closes the one at index; count at most. */
size_t token_behind_bracket(const struct tokens *tokens, size_t index);
