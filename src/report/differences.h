/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * In what two runs differ besides their figures: command, condition, code, environment, inputs.
 * Internal to report/. Only names and shows; whether a difference matters is decided in rules/.
 */
#pragma once

#include "base/mem.h"
#include "model/run.h"

#include <stddef.h>

struct difference {
    const char *what;  /* "command", "condition.cache", "package.torch", … */
    const char *a, *b; /* NULL: not in that record */
};

/* In a fixed order; texts live in arena or in the runs. */
size_t differences_collect(const struct run *a, const struct run *b, struct arena *arena,
                           struct difference **ret_differences);
