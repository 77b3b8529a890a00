/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declared inputs and outputs as the file system shows them. Nothing is ever opened for reading but
 * a folder's list. */
#pragma once

#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct path_facts {
    bool exists;
    int64_t newest_mtime_ns; /* of the file, or of everything in the folder; UTC */
    bool complete;           /* the folder's list was read to its end */
};

/* {path, kind file/folder/absent, bytes?, items?, mtime_ns?, inode?, identity?, reason?}. Folders
 * are walked to their ends within a limit of entries and time. */
json_t *path_describe(const char *path, struct path_facts *ret_facts);
