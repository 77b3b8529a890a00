/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only writer of struct err. Cuts at whole UTF-8 characters; must not allocate and must not
 * print. */
#include "base/err.h"

#include "base/msg.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text cut by its buffer must not end in half a character. */
static void cut_at_character(char *text, size_t length) {
    size_t start = length;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t needed = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length - (start - 1) < needed)
        text[start - 1] = '\0';
}

static void format(char *out, size_t size, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));
static void format(char *out, size_t size, const char *fmt, va_list args) {
    int length = vsnprintf(out, size, fmt, args);
    if (length < 0)
        out[0] = '\0';
    else if ((size_t)length >= size)
        cut_at_character(out, size - 1);
}

int err_set(struct err *err, int code, const char *id, const char *fmt, ...) {
    assert(code < 0);
    assert(strlen(id) < sizeof err->id);
    char text[sizeof err->text]; /* arguments may point into the old text */
    va_list args;
    va_start(args, fmt);
    format(text, sizeof text, msg_get(fmt), args);
    va_end(args);
    err->code = code;
    memmove(err->id, id, strlen(id) + 1);
    memcpy(err->text, text, sizeof text);
    return code;
}

int err_add(struct err *err, int code, const char *fmt, ...) {
    assert(code < 0);
    char text[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    format(text, sizeof text, msg_get(fmt), args);
    va_end(args);
    size_t length = strlen(text);
    int more = snprintf(text + length, sizeof text - length, ": %s", err->text);
    if (more >= 0 && (size_t)more >= sizeof text - length)
        cut_at_character(text, sizeof text - 1);
    memcpy(err->text, text, sizeof text);
    err->code = code;
    return code;
}

void err_clear(struct err *err) {
    *err = ERR_INIT;
}
