/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A git repository read from its files, without the git program and without running anything: which
 * commit is checked out, which branch, which remote (gitrepository-layout(5)). Says nothing about
 * the working tree.
 */
#pragma once

#include "base/root.h"
#include "base/strbuf.h"

#include <limits.h>
#include <stdbool.h>

struct git_files {
    char top[PATH_MAX];     /* folder that holds .git */
    char git_dir[PATH_MAX]; /* of this working tree */
    char common[PATH_MAX];  /* where refs and config are; another folder in a linked working tree */
};

#define GIT_COMMIT_SIZE 65
#define GIT_BRANCH_SIZE 256

/* Walks up from the absolute folder cwd; false when there is no repository. */
bool git_files_find(const struct root *root, const char *cwd, struct git_files *ret);
/* False when HEAD leads to no commit (a new repository, a ref format that is not files). branch is
 * "" when detached. */
bool git_files_head(const struct root *root, const struct git_files *files,
                    char ret_commit[GIT_COMMIT_SIZE], char ret_branch[GIT_BRANCH_SIZE]);
/* The URL of "origin", else of the first remote, as written (not masked). False when there is none.
 */
bool git_files_remote(const struct root *root, const struct git_files *files,
                      struct strbuf *ret_url);

bool git_is_commit(const char *text); /* 40 or 64 lower-case hex digits and nothing else */
