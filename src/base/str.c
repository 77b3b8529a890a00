/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text helpers: UTF-8, escaping, nearest word, base64. Must not depend on any locale. */
#include "base/str.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

bool str_starts_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends_with(const char *text, const char *suffix) {
    size_t length = strlen(text), end = strlen(suffix);
    return length >= end && memcmp(text + length - end, suffix, end) == 0;
}

size_t str_decode_utf8(const void *bytes, size_t length, uint32_t *ret_code) {
    const unsigned char *at = bytes;
    if (length == 0)
        return 0;
    if (at[0] < 0x80) {
        *ret_code = at[0];
        return 1;
    }
    size_t size = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || length < size)
        return 0;
    uint32_t code = at[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3Fu);
    }
    /* overlong forms and surrogates (RFC 3629 section 3) */
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < smallest[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    *ret_code = code;
    return size;
}

bool str_is_utf8(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        uint32_t code;
        size_t size = str_decode_utf8(at, length, &code);
        if (size == 0)
            return false;
        at += size;
        length -= size;
    }
    return true;
}

/* Characters that move the cursor, start an escape sequence, or reorder what is shown around them.
 */
static bool is_unprintable(uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

static void add_hex(struct strbuf *buf, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        strbuf_printf(buf, "\\x%02x", (unsigned)(unsigned char)bytes[i]);
}

void str_add_printable(struct strbuf *buf, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        uint32_t code = 0;
        size_t size = str_decode_utf8(at, length, &code);
        if (size == 0)
            add_hex(buf, at, size = 1);
        else if (code == '\n' || code == '\t')
            strbuf_add_str(buf, code == '\n' ? "\\n" : "\\t");
        else if (is_unprintable(code))
            add_hex(buf, at, size);
        else
            strbuf_add(buf, at, size);
        at += size;
        length -= size;
    }
}

void str_add_utf8(struct strbuf *buf, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        uint32_t code = 0;
        size_t size = str_decode_utf8(at, length, &code);
        if (size == 0 || code == 0)
            add_hex(buf, at, size = 1);
        else
            strbuf_add(buf, at, size);
        at += size;
        length -= size;
    }
}

/* Optimal string alignment: insert, delete, replace, or swap of neighbours cost 1. Words longer
 * than WORD_LIMIT are no option names; they have no neighbour. */
#define WORD_LIMIT ((size_t)64)

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t rows[3][WORD_LIMIT + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        above[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[b_length];
}

const char *str_nearest(const char *word, const char *const *words, size_t count) {
    size_t length = strlen(word);
    if (length == 0 || length > WORD_LIMIT)
        return NULL;
    const char *nearest = NULL;
    size_t best = length / 3 + 1; /* one above what is accepted */
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(words[i]);
        if (other > WORD_LIMIT)
            continue;
        size_t distance = edit_distance(word, length, words[i], other);
        if (distance < best) {
            best = distance;
            nearest = words[i];
        }
    }
    return nearest;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void str_add_base64(struct strbuf *buf, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t group = (uint32_t)at[i] << 16;
        if (left > 1)
            group |= (uint32_t)at[i + 1] << 8;
        if (left > 2)
            group |= at[i + 2];
        char four[4] = {digits[group >> 18], digits[group >> 12 & 63],
                        left > 1 ? digits[group >> 6 & 63] : '=',
                        left > 2 ? digits[group & 63] : '='};
        strbuf_add(buf, four, sizeof four);
    }
}

int str_from_base64(const char *text, size_t length, struct strbuf *out) {
    if (length % 4 != 0)
        return -EINVAL;
    size_t padding = length > 0 && text[length - 1] == '=';
    padding += padding > 0 && text[length - 2] == '=';
    for (size_t i = 0; i < length; i += 4) {
        size_t missing = i + 4 == length ? padding : 0;
        uint32_t group = 0;
        for (size_t k = 0; k < 4; k++) {
            char c = text[i + k];
            const char *digit = c != '\0' ? strchr(digits, c) : NULL;
            if (k + missing < 4 && digit == NULL)
                return -EINVAL;
            group = group << 6 | (k + missing < 4 ? (uint32_t)(digit - digits) : 0);
        }
        if ((group & (missing == 2 ? 0xFFFFu : missing == 1 ? 0xFFu : 0u)) != 0)
            return -EINVAL; /* bits that belong to no byte */
        const char three[3] = {(char)(group >> 16), (char)(group >> 8), (char)group};
        strbuf_add(out, three, 3 - missing);
    }
    return 0;
}
