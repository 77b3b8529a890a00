/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Descriptors and files. Everything opened here is close-on-exec from birth. Must not leave a
 * half-written file under its final name, and must not trust a folder that somebody else prepared.
 */
#include "base/fd.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

void fd_close_ptr(int *fd) {
    if (*fd < 0)
        return;
    int saved = errno; /* a cleanup at the end of a scope must not change what it reports */
    close(*fd);
    errno = saved;
    *fd = -1;
}

int fd_write_full(int fd, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t written = write(fd, at, length);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (written == 0)
            return -EIO; /* no progress and no reason: do not spin */
        at += written;
        length -= (size_t)written;
    }
    return 0;
}

ssize_t fd_read_full(int fd, void *bytes, size_t length) {
    char *at = bytes;
    size_t done = 0;
    while (done < length) {
        ssize_t got = read(fd, at + done, length - done);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int fd_read_all(int fd, size_t limit, struct strbuf *out) {
    char piece[16384];
    size_t taken = 0;
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (got == 0)
            return 0;
        size_t fits = (size_t)got < limit - taken ? (size_t)got : limit - taken;
        strbuf_add(out, piece, fits);
        taken += fits;
        if (fits < (size_t)got)
            return -EFBIG;
    }
}

int file_read(const char *path, size_t limit, struct strbuf *out) {
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    return fd_read_all(fd, limit, out);
}

/* ---- atomic write ---- */

/* The folder of path: "a/b" → "a", "/b" → "/", "b" → ".". */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return mem_strdup(".");
    if (slash == path)
        return mem_strdup("/");
    return mem_strndup(path, (size_t)(slash - path));
}

/* A renamed file is only safe once its folder is on disk (fsync(2)). Some file systems cannot: not
 * an error. */
static int sync_folder(const char *path) {
    AUTO_FREE char *folder = folder_of(path);
    AUTO_CLOSE int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? 0 : -errno; /* a folder one may write but not read */
    if (fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
        return -errno;
    return 0;
}

static int write_and_close(int take_fd, const void *bytes, size_t length, mode_t mode) {
    AUTO_CLOSE int fd = take_fd;
    if (fchmod(fd, mode) < 0)
        return -errno;
    int rc = fd_write_full(fd, bytes, length);
    if (rc < 0)
        return rc;
    if (fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP)
        return -errno;
    int closing = fd;
    fd = -1;
    return close(closing) < 0 && errno != EINTR ? -errno : 0;
}

int file_write_atomic(const char *path, const void *bytes, size_t length, mode_t mode,
                      struct err *err) {
    AUTO_FREE char *temporary = mem_printf("%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return err_set(err, -errno, "file-write", "cannot create a file beside '%s': %s", path,
                       strerror(errno));
    int rc = write_and_close(fd, bytes, length, mode);
    if (rc == 0 && rename(temporary, path) < 0)
        rc = -errno;
    if (rc < 0) {
        unlink(temporary);
        return err_set(err, rc, "file-write", "cannot write '%s': %s", path, strerror(-rc));
    }
    rc = sync_folder(path);
    if (rc < 0)
        return err_set(err, rc, "file-write", "cannot sync the folder of '%s': %s", path,
                       strerror(-rc));
    return 0;
}

/* ---- folders ---- */

/* Creates what is missing of path, 0700. mkdir may answer EEXIST, EROFS or EACCES for what is
 * there. */
static int make_folders(const char *path, struct err *err) {
    AUTO_FREE char *copy = mem_strdup(path);
    for (char *at = copy + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        bool last = *at == '\0';
        *at = '\0';
        struct stat status;
        int error = mkdir(copy, 0700) < 0 ? errno : 0;
        /* mkdir of what exists may also say EROFS or EACCES; only a folder that is missing is an
         * error. */
        if (error != 0 && error != EEXIST && stat(copy, &status) < 0)
            return err_set(err, -error, "folder-create", "cannot create the folder '%s': %s", copy,
                           strerror(error));
        if (last)
            return 0;
        *at = '/';
    }
}

int dir_make_private(const char *path, struct err *err) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0)
        return err_set(err, -EINVAL, "folder-create", "the name of a folder is empty");
    AUTO_FREE char *folder = mem_strndup(path, length);
    int rc = make_folders(folder, err);
    if (rc < 0)
        return rc;
    AUTO_CLOSE int fd = open(folder, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return err_set(err, -errno, "folder-create", "cannot look at the folder '%s': %s", folder,
                       strerror(errno));
    if (S_ISLNK(status.st_mode))
        return err_set(err, -EPERM, "folder-link",
                       "'%s' is a symbolic link; name the folder it points to instead", folder);
    if (!S_ISDIR(status.st_mode))
        return err_set(err, -ENOTDIR, "folder-create", "'%s' is not a folder", folder);
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return err_set(err, -EPERM, "folder-foreign",
                       "the folder '%s' belongs to user %u; name one of your own", folder,
                       (unsigned)status.st_uid);
    return 0;
}

/* statfs(2) f_type of file systems whose locks or shared memory cannot be relied on. From
 * linux/magic.h where it has them; the others from their vendors: Lustre (LL_SUPER_MAGIC,
 * lustre_user.h), GPFS ("GPFS"), BeeGFS (BEEGFS_MAGIC, its client module), PanFS, GFS2, OrangeFS
 * and VirtualBox/VMware shared folders (as listed by stat(1) of GNU coreutils). FUSE names no
 * driver: sshfs, GlusterFS, s3fs and virtiofs are seen as FUSE. */
static const uint32_t network_types[] = {
    NFS_SUPER_MAGIC,
    SMB_SUPER_MAGIC,
    CIFS_SUPER_MAGIC,
    SMB2_SUPER_MAGIC,
    V9FS_MAGIC,
    FUSE_SUPER_MAGIC,
    CEPH_SUPER_MAGIC,
    AFS_SUPER_MAGIC,
    AFS_FS_MAGIC,
    CODA_SUPER_MAGIC,
    NCP_SUPER_MAGIC,
    OCFS2_SUPER_MAGIC,
    0x0BD00BD0u /* Lustre */,
    0x47504653u /* GPFS */,
    0x19830326u /* BeeGFS */,
    0xAAD7AAEAu /* PanFS */,
    0x01161970u /* GFS2 */,
    0x20030528u /* OrangeFS */,
    0x786F4256u /* vboxsf */,
    0xBACBACBCu /* VMware hgfs */,
};

bool fs_type_is_network(uint32_t type) {
    for (size_t i = 0; i < ARRAY_LENGTH(network_types); i++)
        if (type == network_types[i])
            return true;
    return false;
}

bool path_is_on_network(const char *path) {
    AUTO_FREE char *at = mem_strdup(path);
    struct statfs system;
    /* What is not there yet will be on the file system of the nearest folder that is. */
    while (statfs(at, &system) < 0) {
        if ((errno != ENOENT && errno != ENOTDIR) || strcmp(at, "/") == 0 || strcmp(at, ".") == 0)
            return false;
        char *parent = folder_of(at);
        free(at);
        at = parent;
    }
    return fs_type_is_network((uint32_t)system.f_type);
}

int stdout_finish(int earlier_errno, struct err *err) {
    int rc = 0;
    bool failed = ferror(stdout) != 0;
    if (fflush(stdout) != 0)
        rc = -errno;
    else if (failed)
        rc = earlier_errno != 0 ? -earlier_errno : -EIO; /* an earlier write failed */
    /* Network file systems report lost data at close; closing a copy asks them without losing
     * stdout. */
    int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0 && close(copy) < 0 && rc == 0 && errno != EINTR)
        rc = -errno;
    if (rc < 0)
        return err_set(err, rc, "output-write", "cannot write to standard output: %s",
                       strerror(-rc));
    return 0;
}
