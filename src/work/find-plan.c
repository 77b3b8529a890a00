/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the plan is: named, or found by walking up from the current folder. What lies in a folder
 * that anybody may write to counts only if it is ours or root's: a plan holds commands.
 */
#include "work/find-plan.h"

#include "base/str.h"
#include "model/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_trusted(const char *folder, const struct stat *file) {
    struct stat status;
    if (stat(folder, &status) < 0)
        return false;
    return (status.st_mode & S_IWOTH) == 0 || file->st_uid == geteuid() || file->st_uid == 0;
}

/* The plan in this folder, or NULL. */
static const char *plan_in(const char *folder, struct arena *arena) {
    const char *path =
        arena_printf(arena, "%s/" PLAN_FILE_NAME, strcmp(folder, "/") == 0 ? "" : folder);
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
        return NULL;
    return is_trusted(folder, &status) ? path : NULL;
}

static const char *walk_up(struct arena *arena) {
    AUTO_FREE char *start = getcwd(NULL, 0);
    const char *home_name = getenv("HOME");
    AUTO_FREE char *home = home_name && *home_name ? realpath(home_name, NULL) : NULL;
    if (!start || start[0] != '/')
        return NULL; /* removed, or not reachable from the root */
    char *folder = arena_strdup(arena, start);
    for (;;) {
        const char *path = plan_in(folder, arena);
        if (path)
            return strcmp(folder, start) == 0 ? PLAN_FILE_NAME : path;
        if (strcmp(folder, "/") == 0 || (home && strcmp(folder, home) == 0))
            return NULL;
        char *slash = strrchr(folder, '/');
        slash[slash == folder ? 1 : 0] = '\0';
    }
}

int work_find_plan(const char *flag, struct arena *arena, const char **ret_path, struct err *err) {
    const char *variable = getenv("PROBELAUF_PLAN");
    const char *named = flag ? flag : variable && *variable ? variable : NULL;
    if (!named) {
        *ret_path = walk_up(arena);
        return 0;
    }
    if (strcmp(named, "none") == 0) {
        *ret_path = NULL; /* a file of that name is "./none" */
        return 0;
    }
    struct stat status;
    int rc = stat(named, &status) < 0 ? -errno : S_ISDIR(status.st_mode) ? -EISDIR : 0;
    if (rc < 0)
        return err_set(err, rc, "plan-unreadable", "cannot read the plan '%s' (%s): %s", named,
                       flag ? "--plan" : "PROBELAUF_PLAN", strerror(-rc));
    *ret_path = arena_strdup(arena, named);
    return 0;
}
