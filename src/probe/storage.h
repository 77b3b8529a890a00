/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kind of storage a file lies on: "ext4 on nvme", "xfs on rotational disk", "nfs4", "tmpfs".
 * May hang on a dead network mount. */
#pragma once

#include "base/root.h"

#include <stddef.h>
#include <sys/types.h>

#define STORAGE_SIZE 64

/* device: st_dev of the file. "" where the kind of file system is not told. */
void storage_name(const struct root *root, const char *path, dev_t device, char ret[STORAGE_SIZE]);
