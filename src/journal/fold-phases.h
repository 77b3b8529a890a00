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

/* Lines that the user names are one sequence of their own, beside the processes of the others. */
#define PHASES_USER_PID INT64_MAX
/* Of lines that came at one time that of the user counts: drops the begins of others, events in
 * order of time. Returns how many are left. */
size_t fold_phases_yield_to_user(struct phases_event *events, size_t count);
/* Output that is buffered comes in blocks, whose lines share the time at which they were read. */
bool fold_phases_came_together(const struct phases_event *events, size_t count);
/* A begin ends what was begun before, whether the user named the line or a known program printed
 * it: tells the ends that follow from it. Events in order of time; `each` may move them. */
void fold_phases_end_each_other(const struct phases_event *events, size_t count,
                                phases_event_fn each, void *context);

/* What --ready waits for came, or did not, where nobody looked: it is not known to have loaded. */
bool fold_phases_ready_is_unseen(const struct fold *fold);

/* Sets what the record shows of why there are none: apart_why, apart_remedy of the run. */
void fold_phases_find_why(struct fold *fold);

/* Why a phase that nobody began is open, translated, in the run's arena or static. */
const char *fold_phases_why(const struct fold *fold, enum phases_source source);
