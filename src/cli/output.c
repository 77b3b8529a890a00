/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Export files: written beside their place, synced, renamed. A cut export never looks like a whole
 * one. */
#include "cli/output.h"
#include "cli/cli.h"

#include "base/fd.h"
#include "base/mem.h"
#include "model/plan.h"
#include "work/find-plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name_of(const struct output *output) {
    return output->path != NULL ? output->path : "-";
}

static int open_failed(const char *path, struct err *err) {
    return err_set(err, -errno, "output-write", "cannot write '%s': %s", path, strerror(errno));
}

static int open_temporary(const char *path, mode_t mode, struct output *output, struct err *err) {
    output->temporary = mem_printf("%s.XXXXXX", path);
    output->fd = mkostemp(output->temporary, O_CLOEXEC);
    if (output->fd < 0) {
        int rc = open_failed(path, err);
        mem_free_ptr(&output->temporary);
        return rc;
    }
    mode_t mask = umask(0);
    (void)umask(mask);
    if (fchmod(output->fd, mode & ~mask) < 0) {
        return open_failed(path, err);
    }
    return 0;
}

/* Whatever else is exported: the plan is written by people. */
static bool is_plan(const char *path, const struct stat *status) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *slash = strrchr(path, '/'), *plan = NULL;
    struct err err = ERR_INIT;
    struct stat of_plan;
    if (strcmp(slash != NULL ? slash + 1 : path, PLAN_FILE_NAME) == 0) {
        return true;
    }
    return work_find_plan(opt_common.plan, arena, &plan, &err) == 0 && plan != NULL &&
           stat(plan, &of_plan) == 0 && of_plan.st_dev == status->st_dev &&
           of_plan.st_ino == status->st_ino;
}

int output_open(const char *path, bool binary, mode_t mode, struct output *ret_output,
                struct err *err) {
    struct output output = {.fd = -1};
    int rc = 0;
    if (path == NULL || strcmp(path, "-") == 0) {
        (void)fflush(stdout);
        output.fd = STDOUT_FILENO;
    } else {
        struct stat status;
        output.path = path;
        bool is_there = stat(path, &status) == 0;
        if (is_there && S_ISREG(status.st_mode) && is_plan(path, &status)) {
            rc = err_set(err, -EEXIST, "output-plan",
                         "'%s' is a plan, and a plan is never replaced; name another file", path);
        } else if (is_there && !S_ISREG(status.st_mode)) {
            output.fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
            rc = output.fd < 0 ? open_failed(path, err) : 0;
        } else {
            rc = open_temporary(path, mode, &output, err);
        }
    }
    if (rc == 0 && binary && isatty(output.fd)) {
        rc = err_set(err, -EINVAL, "output-terminal",
                     "journals are no text for a terminal: add '-o FILE', '--text' or a pipe");
    }
    if (rc < 0) {
        output_done(&output);
        return rc;
    }
    *ret_output = output;
    return 0;
}

int output_write(struct output *output, const void *bytes, size_t length, struct err *err) {
    int rc = fd_write_full(output->fd, bytes, length);
    if (rc < 0) {
        return err_set(err, rc, "output-write", "cannot write '%s': %s", name_of(output),
                       strerror(-rc));
    }
    return 0;
}

int output_commit(struct output *output, struct err *err) {
    if (output->temporary == NULL) {
        return 0;
    }
    if (fsync(output->fd) < 0 || rename(output->temporary, output->path) < 0) {
        return open_failed(output->path, err);
    }
    mem_free_ptr(&output->temporary);
    return 0;
}

/* A second name for the file, which fails where the name is taken; file systems without second
 * names can rename so. */
static int give_new_name(const char *temporary, const char *path) {
    if (link(temporary, path) == 0) {
        (void)unlink(temporary);
        return 0;
    }
    if (errno == EEXIST) {
        return -EEXIST;
    }
    return renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) < 0 ? -errno : 0;
}

int output_commit_new(struct output *output, struct err *err) {
    if (fsync(output->fd) < 0) {
        return open_failed(output->path, err);
    }
    int rc = give_new_name(output->temporary, output->path);
    if (rc == -EEXIST) {
        return err_set(err, rc, "output-exists", "'%s' is there already", output->path);
    }
    if (rc < 0) {
        errno = -rc;
        return open_failed(output->path, err);
    }
    mem_free_ptr(&output->temporary);
    return 0;
}

void output_done(struct output *output) {
    if (output->path != NULL) {
        fd_close_ptr(&output->fd);
    }
    output->fd = -1;
    if (output->temporary != NULL) {
        (void)unlink(output->temporary);
        mem_free_ptr(&output->temporary);
    }
}
