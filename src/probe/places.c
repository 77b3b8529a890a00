/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See places.h. Leaves nothing behind. On a recorded machine nothing is tried. */
#include "probe/places.h"

#include "base/fd.h"
#include "base/mem.h"
#include "probe/mounts.h"
#include "probe/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* What mkdir -p would begin from. */
static void nearest_folder(const struct root *root, const char *path, struct place_facts *ret) {
    (void)snprintf(ret->tried, sizeof ret->tried, "%s", path);
    ret->exists = path_is_folder(root, ret->tried);
    while (!path_is_folder(root, ret->tried) && strcmp(ret->tried, "/") != 0) {
        char parent[PATH_MAX];
        path_parent(ret->tried, parent);
        memcpy(ret->tried, parent, sizeof parent);
    }
}

static int try_named(const char *folder) {
    AUTO_FREE char *name = mem_printf("%s/.probelauf-XXXXXX", folder);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = write(fd, "", 1) == 1 ? 0 : errno;
    unlink(name);
    close(fd);
    return error;
}

static int try_write(const char *folder) {
    AUTO_CLOSE int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        return write(fd, "", 1) == 1 ? 0 : errno;
    /* Not every file system has files without names (open(2)): NFS, overlay of old kernels, FUSE.
     */
    return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT
               ? try_named(folder)
               : errno;
}

void place_look(const struct root *root, const char *path, struct place_facts *ret) {
    *ret = (struct place_facts){0};
    nearest_folder(root, path, ret);
    file_system_read(root, ret->tried, &ret->system);
    if (root->prefix[0] != '\0') {
        ret->write_error = ENOTSUP;
        return;
    }
    ret->write_error = try_write(ret->tried);
    struct statvfs system;
    ret->no_exec = statvfs(ret->tried, &system) == 0 && (system.f_flag & ST_NOEXEC) != 0;
}
