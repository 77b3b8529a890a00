/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of a machine below a prefix. Collectors read /proc, /sys and /etc only through this, so
 * that recorded trees of other machines can be read in tests; the prefix is a run-time argument, ""
 * on the real machine.
 */
#pragma once

#include "strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct root {
    const char *prefix; /* borrowed; "" or a folder without trailing slash */
};

extern const struct root root_real; /* prefix "" */

/* path begins with '/'. Returns bytes read (NUL-terminated in buf, cut at size - 1) or a negative
 * errno. */
ssize_t root_read_buf(const struct root *root, const char *path, char *buf, size_t size);
int root_read(const struct root *root, const char *path, size_t limit, struct strbuf *out);
bool root_exists(const struct root *root, const char *path);
ssize_t root_readlink(const struct root *root, const char *path, char *buf, size_t size);
int root_open(const struct root *root, const char *path,
              int flags); /* close-on-exec; negative errno */
