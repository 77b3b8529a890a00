/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who writes a journal, by its bytes: for writer and recovery only; everybody else asks
 * journal_is_live. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* HEADER's boot id is this boot's and its pid with that start time is a living process. */
bool journal_process_lives(const void *bytes, size_t length);

/* HEADER's pid is this process or its parent (a recorder that takes over from a dead one). */
bool journal_process_is_ours(const void *bytes, size_t length);
