/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The growing byte string. Doubles its room, so that n additions cost O(n); must not shrink on
 * clear. */
#include "base/strbuf.h"

#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and the final NUL. */
static void reserve(struct strbuf *buf, size_t more) {
    size_t needed;
    if (__builtin_add_overflow(buf->length, more, &needed) || needed == SIZE_MAX)
        needed = SIZE_MAX - 1; /* mem_realloc ends the program: no machine has this */
    needed += 1;
    if (needed <= buf->capacity)
        return;
    size_t capacity = buf->capacity < 64 ? 64 : buf->capacity;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    buf->data = mem_realloc(buf->data, capacity, 1);
    buf->capacity = capacity;
}

void strbuf_add(struct strbuf *buf, const void *bytes, size_t length) {
    reserve(buf, length);
    if (length > 0)
        memcpy(buf->data + buf->length, bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void strbuf_add_str(struct strbuf *buf, const char *text) {
    strbuf_add(buf, text, strlen(text));
}

void strbuf_add_char(struct strbuf *buf, char c) {
    strbuf_add(buf, &c, 1);
}

void strbuf_printf(struct strbuf *buf, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    assert(length >= 0);
    reserve(buf, (size_t)length);
    int written = vsnprintf(buf->data + buf->length, (size_t)length + 1, fmt, again);
    va_end(again);
    assert(written == length);
    buf->length += (size_t)length;
}

void strbuf_add_next(struct strbuf *buf, const char *separator, const char *text) {
    if (buf->length > 0)
        strbuf_add_str(buf, separator);
    strbuf_add_str(buf, text);
}

void strbuf_clear(struct strbuf *buf) {
    buf->length = 0;
    if (buf->data != NULL)
        buf->data[0] = '\0';
}

void strbuf_done(struct strbuf *buf) {
    free(buf->data);
    *buf = STRBUF_INIT;
}

char *strbuf_take(struct strbuf *buf) {
    reserve(buf, 0);
    buf->data[buf->length] = '\0';
    char *text = steal(buf->data);
    *buf = STRBUF_INIT;
    return text;
}

const char *strbuf_str(const struct strbuf *buf) {
    return buf->data != NULL ? buf->data : "";
}
