/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file system a path lies on: type, size, room. May hang on a dead network mount: never in the
 * monitor. */
#pragma once

#include "base/root.h"
#include "model/quantity.h"

#include <stdbool.h>

struct file_system {
    char point[512]; /* mount point; "" when not found */
    char type[64];   /* as in mountinfo: "ext4", "fuse.sshfs"; "" when not found */
    bool is_network; /* by its type; meaningful only with a type */
    struct quantity size, free, inodes_free;
};
/* Always fills *ret; what could not be read is open with its reason. `path` is absolute. On a
 * recorded machine the size is known only from a tmpfs's options. */
void file_system_read(const struct root *root, const char *path, struct file_system *ret);
