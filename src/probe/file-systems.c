/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See file-systems.h. The type comes from mountinfo, since statfs gives one number for all of FUSE.
 */
#include "probe/file-systems.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "probe/mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

static bool type_is_network(const char *type) {
    static const char *const names[] = {"nfs",    "nfs4",  "cifs",     "smb3",     "smbfs",
                                        "lustre", "9p",    "ceph",     "afs",      "gpfs",
                                        "beegfs", "pvfs2", "orangefs", "glusterfs"};
    if (str_starts_with(type, "fuse.")) {
        /* sshfs, s3fs, rclone, gcsfuse, glusterfs: what is local among them is rare enough to be
         * named */
        return strcmp(type, "fuse.fuse-overlayfs") != 0 && strcmp(type, "fuse.squashfuse") != 0 &&
               strcmp(type, "fuse.lxcfs") != 0 && strcmp(type, "fuse.ntfs-3g") != 0;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (strcmp(type, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* tmpfs: "size=65536k" or "size=50%" of memory (the latter needs the total and is left open). */
static bool tmpfs_size(const char *options, double *ret_bytes) {
    const char *at = mount_option_value(options, "size=");
    uint64_t value;
    if (at == NULL || !field_u64(&at, &value)) {
        return false;
    }
    if (*at == 'k') {
        *ret_bytes = (double)value * 1024.0;
        at++;
    } else {
        *ret_bytes = (double)value;
    }
    return *at == ',' || *at == '\0';
}

/* The mount that shows the path: the longest mount point, and of equal ones the last, which covers
 * the others. */
static bool find_mount(const struct root *root, const char *path, struct file_system *ret,
                       double *ret_size) {
    struct mounts mounts AUTO_MOUNTS;
    struct mount mount;
    bool has_size = false;
    size_t best = 0;
    int rc = mounts_open(root, &mounts);
    while (rc == 0 && mounts_next(&mounts, &mount) == 1) {
        size_t length = strlen(mount.point);
        if (path_below(path, mount.point) == NULL || length < best || length >= sizeof ret->point ||
            strlen(mount.type) >= sizeof ret->type) {
            continue;
        }
        best = length;
        memcpy(ret->point, mount.point, length + 1);
        (void)snprintf(ret->type, sizeof ret->type, "%s", mount.type);
        has_size = strcmp(mount.type, "tmpfs") == 0 && tmpfs_size(mount.super, ret_size);
    }
    ret->is_network = type_is_network(ret->type);
    return has_size;
}

static enum quantity_reason reason_of(int code) {
    return code == -EACCES || code == -EPERM ? QUANTITY_NOT_PERMITTED
           : code == -ENOENT                 ? QUANTITY_NOT_VISIBLE
                                             : QUANTITY_FAILED;
}

static void all_open(struct file_system *ret, enum quantity_reason reason, const char *detail) {
    ret->size = quantity_open(UNIT_BYTE, reason, detail);
    ret->free = quantity_open(UNIT_BYTE, reason, detail);
    ret->inodes_free = quantity_open(UNIT_COUNT, reason, detail);
}

static void ask_kernel(const char *path, struct file_system *ret) {
    struct statfs info;
    int rc;
    do {
        rc = statfs(path, &info);
    } while (rc < 0 && errno == EINTR);
    if (rc < 0) {
        all_open(ret, reason_of(-errno), NULL);
        return;
    }
    if (info.f_blocks == 0) { /* tmpfs without a limit, some FUSE file systems */
        all_open(ret, QUANTITY_NOT_SUPPORTED, N_("the file system reports no size"));
        return;
    }
    double block = (double)(info.f_frsize > 0 ? info.f_frsize : info.f_bsize);
    ret->size = quantity_measured(UNIT_BYTE, (double)info.f_blocks * block, "statfs f_blocks");
    ret->free = quantity_measured(UNIT_BYTE, (double)info.f_bavail * block, "statfs f_bavail");
    /* btrfs and others make inodes as needed and report none at all */
    ret->inodes_free = info.f_files > 0
                           ? quantity_measured(UNIT_COUNT, (double)info.f_ffree, "statfs f_ffree")
                           : quantity_open(UNIT_COUNT, QUANTITY_NOT_APPLICABLE,
                                           N_("the file system has no fixed number of inodes"));
}

void file_system_read(const struct root *root, const char *path, struct file_system *ret) {
    *ret = (struct file_system){0};
    double size_bytes;
    bool is_real = root->prefix[0] == '\0';
    AUTO_FREE char *canonical = is_real ? realpath(path, NULL) : mem_strdup(path);
    bool has_size = canonical != NULL && find_mount(root, canonical, ret, &size_bytes);
    if (is_real) {
        ask_kernel(path, ret);
        return;
    }
    all_open(ret, QUANTITY_NOT_IN_RECORD, NULL);
    if (has_size) {
        ret->size = quantity_measured(UNIT_BYTE, size_bytes, "mountinfo size=");
    }
}
