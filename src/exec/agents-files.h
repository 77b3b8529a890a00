/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of the agents: unpacked beside the journal into a folder that is named by their
 * content, private, and looked at before each use. */
#pragma once

#include "exec/shared.h"

#include <stdbool.h>
#include <stddef.h>

#define AGENTS_PYTHON_FOLDER "python"
#define AGENTS_NVTX_FILE     "nvtx.so"

/* Fills agent_folder and agent_trouble of `shared`. */
void agents_unpack(struct shared *shared);
/* The text names what some run of ours has put there for that agent. */
bool agents_is_own_path(const char *path, size_t length, enum agent agent);
