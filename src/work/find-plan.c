/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the plan is: named, or found by walking up from the current folder. What lies in a folder
 * that anybody may write to counts only if it is ours or root's: a plan holds commands.
 */
#include "work/find-plan.h"

#include "base/msg.h"
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

/* What has the name of a plan and cannot be one is no reason to take another from further up. */
static int complain(const char *path, int code, const char *what, struct err *err) {
    return err_set(err, code, "plan-unreadable",
                   "'%s' is not a plan: %s; remove it, or name a plan by --plan", path, what);
}

/* The plan in this folder; NULL: none. */
static int plan_in(const char *folder, struct arena *arena, const char **ret_path,
                   struct err *err) {
    const char *path =
        arena_printf(arena, "%s/" PLAN_FILE_NAME, strcmp(folder, "/") == 0 ? "" : folder);
    struct stat status, link;
    *ret_path = NULL;
    if (lstat(path, &link) < 0)
        return 0;
    int rc = stat(path, &status) < 0 ? -errno : 0;
    if (!is_trusted(folder, rc < 0 ? &link : &status))
        return 0;
    if (rc < 0)
        return complain(path, rc,
                        rc == -ENOENT ? _("it is a link that leads nowhere") : strerror(-rc), err);
    if (S_ISDIR(status.st_mode))
        return complain(path, -EISDIR, _("it is a folder"), err);
    if (!S_ISREG(status.st_mode))
        return complain(path, -EINVAL, _("it is no file (a pipe, a socket or a device)"), err);
    *ret_path = path;
    return 0;
}

static int walk_up(struct arena *arena, const char **ret_path, struct err *err) {
    AUTO_FREE char *start = getcwd(NULL, 0);
    const char *home_name = getenv("HOME");
    AUTO_FREE char *home = home_name && *home_name ? realpath(home_name, NULL) : NULL;
    *ret_path = NULL;
    if (!start || start[0] != '/')
        return 0; /* removed, or not reachable from the root */
    char *folder = arena_strdup(arena, start);
    for (;;) {
        int rc = plan_in(folder, arena, ret_path, err);
        if (rc == 0 && *ret_path && strcmp(folder, start) == 0)
            *ret_path = PLAN_FILE_NAME;
        if (rc < 0 || *ret_path || strcmp(folder, "/") == 0 || (home && strcmp(folder, home) == 0))
            return rc;
        char *slash = strrchr(folder, '/');
        slash[slash == folder ? 1 : 0] = '\0';
    }
}

int work_find_plan(const char *flag, struct arena *arena, const char **ret_path, struct err *err) {
    const char *variable = getenv("PROBELAUF_PLAN");
    const char *named = flag ? flag : variable && *variable ? variable : NULL;
    if (!named)
        return walk_up(arena, ret_path, err);
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
