/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The copier of one channel: a process that moves bytes from the command to the user's stream, so
 * that none is ever only in its memory (splice), and lays copies into the text ring (tee). It lives
 * to end of file, also when everybody else is gone.
 */
#pragma once

#include "exec/shared.h"
#include "exec/streams.h"

#include <sys/types.h>

enum copier_exit {
    COPIER_END_OF_FILE = 0,
    COPIER_READER_GONE = 3, /* the user's stream takes no more: every read end must be closed */
    COPIER_FAILED = 4,
};

/* Starts one for channel `index`; returns its pid or a negative errno. */
pid_t copier_start(struct shared *shared, const struct streams *streams, size_t index);
