/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See lines.h. Nothing here allocates: the monitor's loop stands on it. */
#include "probe/lines.h"

#include "base/fd.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int lines_open(const struct root *root, const char *path, size_t limit, struct lines *ret) {
    ret->begin = ret->end = 0;
    ret->left = limit;
    ret->skipping = ret->at_end = false;
    ret->fd = root_open(root, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
    return ret->fd < 0 ? ret->fd : 0;
}

void lines_close(struct lines *lines) {
    if (lines->fd >= 0) {
        (void)close(lines->fd);
        lines->fd = -1;
    }
}

/* Moves what is unread to the front and reads behind it. */
static int fill(struct lines *lines) {
    if (lines->begin > 0) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    size_t want =
        sizeof lines->buffer - 1 - lines->end; /* one byte stays for the terminating NUL */
    if (want > lines->left) {
        want = lines->left;
    }
    if (want == 0) {
        lines->at_end = true;
        return 0;
    }
    ssize_t got;
    do {
        got = read(lines->fd, lines->buffer + lines->end, want);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return -errno;
    }
    lines->at_end = got == 0;
    lines->end += (size_t)got;
    lines->left -= (size_t)got;
    return 0;
}

int lines_next(struct lines *lines, char **ret_line) {
    for (;;) {
        char *start = lines->buffer + lines->begin;
        size_t length = lines->end - lines->begin;
        char *newline = length > 0 ? memchr(start, '\n', length) : NULL;
        bool full = lines->begin == 0 && lines->end == sizeof lines->buffer - 1;
        if (newline == NULL && !full && !lines->at_end) {
            int rc = fill(lines);
            if (rc < 0) {
                return rc;
            }
            continue;
        }
        if (newline == NULL && length == 0) {
            return 0;
        }
        bool skipped = lines->skipping;
        lines->skipping = newline == NULL && !lines->at_end;
        size_t taken = newline != NULL ? (size_t)(newline - start) : length;
        start[taken] = '\0';
        lines->begin += newline != NULL ? taken + 1 : taken;
        if (skipped) {
            continue;
        }
        *ret_line = start;
        return 1;
    }
}

bool field_u64(const char **cursor, uint64_t *ret_value) {
    const char *at = *cursor;
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    if (!isdigit((unsigned char)*at)) {
        return false;
    }
    uint64_t value = 0;
    for (; isdigit((unsigned char)*at); at++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value)) {
            return false;
        }
    }
    *cursor = at;
    *ret_value = value;
    return true;
}

bool line_value(const char *line, const char *key, uint64_t *ret_value) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0 || (line[length] != ' ' && line[length] != '\t')) {
        return false;
    }
    const char *at = line + length;
    uint64_t value;
    if (!field_u64(&at, &value)) {
        return false;
    }
    if (strcmp(at, " kB") == 0) {
        if (__builtin_mul_overflow(value, 1024u, &value)) {
            return false;
        }
    } else if (*at != '\0') {
        return false;
    }
    *ret_value = value;
    return true;
}

int file_value(const struct root *root, const char *path, uint64_t *ret_value) {
    char text[64];
    ssize_t length = root_read_buf(root, path, text, sizeof text);
    if (length < 0) {
        return (int)length;
    }
    if (strcmp(text, "max\n") == 0 || strcmp(text, "max") == 0) {
        *ret_value = UINT64_MAX;
        return 0;
    }
    const char *at = text;
    uint64_t value;
    if (!field_u64(&at, &value) || (strcmp(at, "\n") != 0 && *at != '\0')) {
        return -EBADMSG;
    }
    *ret_value = value;
    return 0;
}
