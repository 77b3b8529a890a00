/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between fold-phases.c, which finds the phases, and fold-phases-why.c, which says why there are
 * none. */
#pragma once

#include "journal/fold-parts.h"

/* Lowest first: the highest that began any phase is taken alone. */
enum phases_source {
    PHASES_NONE = 0,
    PHASES_OPTION,
    PHASES_STACK,   /* lines that known programs print (text/phase-patterns.h) */
    PHASES_PATTERN, /* lines that the user or the plan names */
    PHASES_PYTHON_HOOK,
    PHASES_NVTX,
    PHASES_READY,
    PHASES_MARK,
    PHASES_SOURCE_COUNT_,
};

/* Why a phase that nobody began is open, translated, in the run's arena or static. */
const char *fold_phases_why(const struct fold *fold, enum phases_source source);
