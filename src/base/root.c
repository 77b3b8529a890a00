/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading below a prefix. Opens without waiting (a name may be a FIFO) and must not write anything.
 */
#include "base/root.h"

#include "base/fd.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

const struct root root_real = {""};

static int full_path(const struct root *root, const char *path, char ret_path[PATH_MAX]) {
    assert(path[0] == '/');
    int length = snprintf(ret_path, PATH_MAX, "%s%s", root->prefix, path);
    return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int root_open(const struct root *root, const char *path, int flags) {
    char full[PATH_MAX];
    int rc = full_path(root, path, full);
    if (rc < 0)
        return rc;
    int fd = open(full, flags | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? -errno : fd;
}

ssize_t root_read_buf(const struct root *root, const char *path, char *buf, size_t size) {
    assert(size > 0);
    buf[0] = '\0';
    AUTO_CLOSE int fd = root_open(root, path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return fd;
    ssize_t length = fd_read_full(fd, buf, size - 1);
    buf[length < 0 ? 0 : length] = '\0';
    return length;
}

int root_read(const struct root *root, const char *path, size_t limit, struct strbuf *out) {
    AUTO_CLOSE int fd = root_open(root, path, O_RDONLY | O_NONBLOCK);
    return fd < 0 ? fd : fd_read_all(fd, limit, out);
}

bool root_exists(const struct root *root, const char *path) {
    char full[PATH_MAX];
    return full_path(root, path, full) == 0 && access(full, F_OK) == 0;
}

ssize_t root_readlink(const struct root *root, const char *path, char *buf, size_t size) {
    assert(size > 0);
    buf[0] = '\0';
    char full[PATH_MAX];
    int rc = full_path(root, path, full);
    if (rc < 0)
        return rc;
    ssize_t length = readlink(full, buf, size - 1);
    int code = errno;
    buf[length < 0 ? 0 : length] = '\0';
    return length < 0 ? -code : length;
}
