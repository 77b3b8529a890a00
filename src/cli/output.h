/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where an export goes: standard output, or a file that appears under its name only when it is
 * whole.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct output {
    int fd;           /* -1: closed */
    const char *path; /* NULL: standard output; borrowed */
    char *temporary;  /* owned; NULL: fd is the thing itself */
};

/* path NULL or "-": standard output. What exists and is no regular file (a FIFO, a device) is
 * written to directly. binary: refuses a terminal ("output-terminal"). mode is cut by the umask. */
int output_open(const char *path, bool binary, mode_t mode, struct output *ret_output,
                struct err *err);
int output_write(struct output *output, const void *bytes, size_t length, struct err *err);
/* Makes the file durable and gives it its name. */
int output_commit(struct output *output, struct err *err);
/* The same, but replaces nothing: -EEXIST ("output-exists") if something has that name by now. */
int output_commit_new(struct output *output, struct err *err);
/* Without a commit before, nothing stays behind. */
void output_done(struct output *output);
#define AUTO_OUTPUT __attribute__((cleanup(output_done)))
