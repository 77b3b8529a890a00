/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of storage, see storage.h: the file system out of mountinfo, the block device out of
 * /sys/dev/block. Must not open the file. */
#include "probe/storage.h"

#include "base/str.h"
#include "probe/file-systems.h"
#include "probe/lines.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

/* "/sys/dev/block/259:2" → "../../devices/pci…/nvme0n1/nvme0n1p2" */
static const char *device_kind(const struct root *root, dev_t device) {
    static const struct {
        const char *prefix, *kind;
    } kinds[] = {
        {"nvme", "nvme"},   {"vd", "virtual disk"}, {"xvd", "virtual disk"},
        {"loop", "a file"}, {"zram", "memory"},     {"ram", "memory"},
        {"nbd", "network"}, {"rbd", "network"},     {"mmcblk", "flash card"},
    };
    char path[PATH_MAX], target[PATH_MAX];
    uint64_t rotational;
    (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(device), minor(device));
    ssize_t length = root_readlink(root, path, target, sizeof target);
    const char *slash = length > 0 ? strrchr(target, '/') : NULL;
    if (slash == NULL) {
        return NULL; /* no block device: btrfs, overlay, networks, memory */
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (str_starts_with(slash + 1, kinds[i].prefix)) {
            return kinds[i].kind;
        }
    }
    /* of a disk, else of the disk that a partition belongs to */
    (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u/queue/rotational", major(device),
                   minor(device));
    if (file_value(root, path, &rotational) < 0) {
        (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u/../queue/rotational", major(device),
                       minor(device));
        if (file_value(root, path, &rotational) < 0) {
            return NULL;
        }
    }
    return rotational == 0 ? "ssd" : "rotational disk";
}

void storage_name(const struct root *root, const char *path, dev_t device, char ret[STORAGE_SIZE]) {
    struct file_system system;
    file_system_read(root, path, &system);
    const char *kind = system.type[0] != '\0' ? device_kind(root, device) : NULL;
    (void)snprintf(ret, STORAGE_SIZE, "%.30s%s%s", system.type, kind != NULL ? " on " : "",
                   kind != NULL ? kind : "");
}
