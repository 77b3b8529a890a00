/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Absolute paths below the root prefix, and programs found as a shell finds them. Lexical where the
 * kernel need not be asked. */
#pragma once

#include "base/root.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

/* folder + "/" + name; an absolute name replaces the folder. False when it does not fit. */
bool path_join(char ret_path[PATH_MAX], const char *folder, const char *name);
/* The folder that holds path ("/" for the top). */
void path_parent(const char *path, char ret_path[PATH_MAX]);
const char *path_name(const char *path); /* behind the last slash */
/* Follows the links that path's last part is, at most 40; the result has no "." or "..". False when
 * it leads nowhere. */
bool path_follow(const struct root *root, const char *path, char ret_path[PATH_MAX]);
DIR *path_open_folder(const struct root *root,
                      const char *path); /* for readdir; NULL when it cannot be read */
bool path_is_folder(const struct root *root, const char *path);

/* The file that NAME runs: as it stands when it has a slash (relative to cwd), else the first in
 * the list of folders. */
bool path_find_program(const struct root *root, const char *name, const char *path_variable,
                       const char *cwd, char ret_path[PATH_MAX]);

/* Variables: a list as of execve, or the NUL-separated block of /proc/PID/environ. */
struct variables {
    char *const *list; /* NULL-terminated or NULL */
    const char *block; /* used when list is NULL; ends with a NUL behind the last */
    size_t block_length;
};
const char *variable_get(const struct variables *variables,
                         const char *name); /* NULL when not set */
