/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digests of what files and folders hold. Only `block freeze` reads inputs to their end, never a
 * run. */
#pragma once

#include "base/digest.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define CONTENT_FILES_MAX 200000u /* in one folder, with all below it */
#define CONTENT_DEPTH_MAX 64u

struct content_progress {
    void (*read)(uint64_t bytes, void *context); /* bytes so far, over all inputs; may be NULL */
    void *context;
    uint64_t bytes;
    size_t files;
};

/*
 * A file: SHA-256 of its bytes. A folder: SHA-256 over one line for each file below it, sorted by
 * name: the file's SHA-256, two blanks, its path within the folder, NUL. Links to files count as
 * the files (caches of weights are made so); links to folders and what is neither file nor folder
 * refuse the whole: its content could not be told. "input-unreadable".
 */
int content_digest(const char *path, struct content_progress *progress,
                   char ret_hex[SHA256_HEX_SIZE], struct err *err);
