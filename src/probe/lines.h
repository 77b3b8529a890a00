/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of a file below the root prefix without allocation: what the readers of /proc and of
 * control groups share. Bounded: a line longer than the buffer is cut (its rest is skipped) and no
 * more than `limit` bytes are read, so a file that is no file of the kernel's cannot hold the
 * caller up.
 */
#pragma once

#include "base/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
    int fd;
    size_t begin, end; /* unread bytes of the buffer */
    size_t left;       /* bytes that may still be read */
    bool skipping;     /* inside the rest of a line that was cut */
    bool at_end;
    char buffer[8192];
};

int lines_open(const struct root *root, const char *path, size_t limit, struct lines *ret);
/* 1: *ret_line is the next line, NUL-terminated and without its newline, valid until the next call;
 * 0: end of file or of the limit; negative errno (-ESRCH: the process of a /proc file is gone). */
int lines_next(struct lines *lines, char **ret_line);
void lines_close(struct lines *lines);
#define AUTO_LINES __attribute__((cleanup(lines_close)))

/* Parses decimal digits at *cursor (blanks and tabs before them are skipped) and moves it behind
 * them. False, and nothing moved, when there is no number or it does not fit. */
bool field_u64(const char **cursor, uint64_t *ret_value);

/* "Key:   123 kB" or "key 123": true when the line begins with key (colon included where there is
 * one), followed by a number and nothing but an optional "kB" (then the value is in bytes). */
bool line_value(const char *line, const char *key, uint64_t *ret_value);

/* One number is the whole file, as in cgroup files. -EBADMSG for anything else. "max" gives
 * UINT64_MAX. */
int file_value(const struct root *root, const char *path, uint64_t *ret_value);
