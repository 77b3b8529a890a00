/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of a stream of journals (docs/journal-format.md): begin, any number of journals, end.
 */
#pragma once

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Errors: "stream-write". journal: not empty. */
int stream_begin(int fd, struct err *err);
int stream_add(int fd, const void *journal, size_t length, struct err *err);
int stream_end(int fd, uint64_t journals, struct err *err);
