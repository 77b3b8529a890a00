/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Can something be written and executed in a folder? Tried, not guessed from modes: a file without
 * a name is made where the file system can (O_TMPFILE), else one with a name that is taken away at
 * once. May hang on a dead network mount.
 */
#pragma once

#include "probe/file-systems.h"

struct place_facts {
    bool exists;      /* the folder itself; else its nearest existing parent was tried */
    int write_error;  /* 0: a file could be made; else an errno (EROFS, EACCES, ENOSPC, EDQUOT) */
    bool no_exec;     /* mounted noexec: libraries that are built when first used do not load */
    char tried[4096]; /* the folder that was tried */
    struct file_system system;
};
/* `path` is absolute. */
void place_look(const struct root *root, const char *path, struct place_facts *ret);
