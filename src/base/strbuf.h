/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growing byte string; always NUL-terminated behind `length` bytes once something was added. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *data; /* owned; NULL while nothing was added */
    size_t length;
    size_t capacity;
};

#define STRBUF_INIT ((struct strbuf){0})

void strbuf_add(struct strbuf *buf, const void *bytes, size_t length);
void strbuf_add_str(struct strbuf *buf, const char *text);
void strbuf_add_char(struct strbuf *buf, char c);
void strbuf_printf(struct strbuf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The next one of a list: behind the separator, unless it is the first. */
void strbuf_add_next(struct strbuf *buf, const char *separator, const char *text);
void strbuf_clear(struct strbuf *buf); /* keeps the memory for reuse */
void strbuf_done(struct strbuf *buf);  /* frees */
char *strbuf_take(struct strbuf *buf); /* caller owns the text ("" at least); buf is empty after */
const char *strbuf_str(const struct strbuf *buf); /* "" when empty; borrowed */
#define AUTO_STRBUF __attribute__((cleanup(strbuf_done)))
