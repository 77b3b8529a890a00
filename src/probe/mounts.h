/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc/self/mountinfo, one mount at a time (proc(5)): what is mounted where, and which part of it.
 * Knows nothing about control groups or file systems.
 */
#pragma once

#include "probe/lines.h"

#include <stdbool.h>
#include <stddef.h>

struct mount {
    const char *root;    /* the part of the file system that is mounted; "/" the whole */
    const char *point;   /* where */
    const char *options; /* per mount: "rw,relatime" */
    const char *type;    /* "cgroup2", "tmpfs", "fuse.sshfs" */
    const char *source;  /* "/dev/vda1", "server:/home", "tmpfs" */
    const char *super;   /* per file system: "rw,memory", "rw,size=65536k"; may be cut */
};

struct mounts {
    struct lines lines;
};

int mounts_open(const struct root *root, struct mounts *ret);
/* 1 with the next mount (texts valid until the next call), 0 at the end, negative errno. Lines that
 * are no mountinfo are left out. */
int mounts_next(struct mounts *mounts, struct mount *ret);
void mounts_close(struct mounts *mounts);
#define AUTO_MOUNTS __attribute__((cleanup(mounts_close)))

/* Is `word` one of the comma-separated options? With a value ("size="), *ret_value points behind
 * the '='. */
bool mount_has_option(const char *options, const char *word);
const char *mount_option_value(const char *options,
                               const char *key); /* NULL when absent; ends at ',' or NUL */

/* Is `path` the folder `base` or inside it? Both absolute; returns the rest ("" or "/..."), or
 * NULL. */
const char *path_below(const char *path, const char *base);
