/* SPDX-License-Identifier: GPL-3.0-or-later */
/* File descriptors and files: close-on-exec from birth, EINTR handled, whole reads and writes,
 * modes 0600/0700. */
#pragma once

#include "err.h"
#include "strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

void fd_close_ptr(int *fd);
#define AUTO_CLOSE __attribute__((cleanup(fd_close_ptr)))

/* Whole buffer or a negative errno. fd_read_full returns the bytes read (short at end of file). */
int fd_write_full(int fd, const void *bytes, size_t length);
ssize_t fd_read_full(int fd, void *bytes, size_t length);

/* Appends the rest of fd / the file to out, at most limit bytes (-EFBIG beyond: out holds the first
 * limit bytes). */
int fd_read_all(int fd, size_t limit, struct strbuf *out);
int file_read(const char *path, size_t limit,
              struct strbuf *out); /* negative errno; no message: callers know the context */

/* Writes path atomically: temporary file beside it, fsync, rename. Mode as given. */
int file_write_atomic(const char *path, const void *bytes, size_t length, mode_t mode,
                      struct err *err);

/* mkdir -p with the mode for what is created. An existing last folder must belong to us or root
 * (else -EPERM): a folder in /var/tmp that somebody else prepared is refused. */
int dir_make_private(const char *path, struct err *err);

/* The same question for a statfs(2) f_type. */
bool fs_type_is_network(uint32_t type);

/* True for NFS, Lustre, CIFS/SMB, 9p, FUSE-sshfs, BeeGFS, GPFS, Ceph, AFS (statfs f_type): locks
 * may not work there. */
bool path_is_on_network(const char *path);

/* Folds stdout's pending data and its close status: a failed write to stdout is an error
 * (closestream). */
int stdout_finish(int earlier_errno, struct err *err);
