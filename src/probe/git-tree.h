/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The identity of the code in a working tree: a digest over the tracked files as they are on disk,
 * so that the same content has the same digest whether it is committed yet or not, on whatever
 * branch.
 *
 * digest = SHA-256 over, for each tracked file in the order of git's index: mode, blank, git's
 * object id of the content, tab, path, NUL. Deleted files are left out; so is what does not run:
 * *.md, LICENSE*, docs/, probelauf.yaml. Untracked files are not part of it. A submodule counts by
 * the commit the index names; its own changes are not looked at.
 */
#pragma once

#include "base/digest.h"
#include "probe/git-run.h"

#include <stdbool.h>
#include <stddef.h>

struct git_tree {
    bool dirty;        /* a tracked file or the index differs from the commit */
    size_t file_count; /* tracked files, all of them */
    size_t submodule_count;
    char digest[SHA256_HEX_SIZE];
};

/* git->folder is the top of the working tree and git_run_disarm() was called. Negative errno as
 * git_run; -EPROTO: git answered with an error or something that is no answer; -EIO: a file could
 * not be read. */
int git_tree_read(struct git_run *git, struct git_tree *ret);

bool git_path_is_code(const char *path); /* part of the digest by its name? */
