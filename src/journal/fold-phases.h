/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between fold-phases.c, which finds the phases, fold-phases-stacks.c, which reads the lines of
 * known programs, and fold-phases-why.c, which says why there are none. */
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

enum phases_event_kind { PHASES_BEGIN, PHASES_END, PHASES_GONE };

struct phases_event {
    int64_t t_ns, pid; /* pid 0: marks without one are one sequence */
    size_t order;
    enum phases_event_kind kind;
    enum phase phase;
    const char *name;  /* NULL: an end of whatever holds */
    const char *stack; /* the program whose line it is; NULL: none of the known ones */
    bool goes_on;      /* a begin that says: it has been going on */
};

/* What known programs printed, in order of time; *ret_told: a length is the program's own. */
typedef void (*phases_event_fn)(const struct phases_event *event, void *context);
void fold_phases_add_stacks(const struct fold *fold, phases_event_fn each, void *context,
                            bool *ret_told);

/* Why a phase that nobody began is open, translated, in the run's arena or static. */
const char *fold_phases_why(const struct fold *fold, enum phases_source source);
