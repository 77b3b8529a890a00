/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The identity of the code in a working tree: a digest over the tracked files as they are on disk,
 * so that the same content has the same digest whether it is committed yet or not, on whatever
 * branch.
 *
 * digest = SHA-256 over, for each tracked file in the order of git's index: mode, blank, git's
 * object id of the content, tab, path, NUL. Deleted files are left out; so is what does not run:
 * *.md, LICENSE*, docs/ and the plan. Untracked files are not part of it. A submodule counts by
 * the commit the index names; its own changes are not looked at. Where a plan names the paths that
 * are the code, all files under them count but the plan, whatever their names.
 */
#pragma once

#include "base/digest.h"
#include "probe/git-run.h"

#include <stdbool.h>
#include <stddef.h>

/* Which files are looked at. */
struct git_scope {
    const char *folder; /* that the paths are relative to, inside the working tree; NULL: its top */
    const char *const *paths; /* git path specs, NULL-terminated; NULL: all but what does not run */
    const char *except; /* relative to the top: a file that is no code in any case; NULL: none */
};

struct git_tree {
    bool dirty;        /* a tracked file or the index differs from the commit; within the scope */
    bool code_dirty;   /* one that is part of the digest */
    size_t file_count; /* tracked files of the scope */
    size_t submodule_count;
    char digest[SHA256_HEX_SIZE];
};

/* git->folder is the top of the working tree and git_run_disarm() was called. Negative errno as
 * git_run; -EPROTO: git answered with an error or something that is no answer; -EIO: a file could
 * not be read; -EINVAL: git does not take the paths; -ENODATA: no tracked file lies under them. */
int git_tree_read(struct git_run *git, const struct git_scope *scope, struct git_tree *ret);

/* Runs git with these arguments on the scope: in its folder, its paths behind "--". */
int git_scope_run(struct git_run *git, const struct git_scope *scope, const char *const args[],
                  size_t limit, struct strbuf *out);

bool git_path_is_code(const char *path); /* part of the digest by its name? */
