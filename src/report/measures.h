/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of a run's quantities by name, for renderers that walk over all of them (compare, csv).
 * Internal to report/: one table, so that a new figure appears in each of them.
 */
#pragma once

#include "model/run.h"

#include <stddef.h>

struct measure {
    const char *name;  /* as in a CSV header and in JSON: "wall", "phase.load", "io.read" */
    const char *label; /* for people; look up with msg_get */
};

size_t measures_count(void);
const struct measure *measures_at(size_t index);
/* The quantity of that measure in the run. GPU figures are those of the first device. */
struct quantity measures_get(const struct run *run, size_t index);
