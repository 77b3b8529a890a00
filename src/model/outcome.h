/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a run ended: the class (one per run) and the incidents behind it. */
#pragma once

#include <stdbool.h>

enum outcome_class {
    OUTCOME_RUNNING = 0, /* no end known yet and the writer is alive */
    OUTCOME_OK,
    OUTCOME_FAILED,
    OUTCOME_START_FAILED,
    OUTCOME_GPU_OOM,
    OUTCOME_HOST_OOM,
    OUTCOME_SHM_EXHAUSTED,
    OUTCOME_DISK_FULL,
    OUTCOME_ACCESS_DENIED,
    OUTCOME_DEPENDENCY,
    OUTCOME_GPU_FAULT,
    OUTCOME_BUDGET,
    OUTCOME_INTERRUPTED, /* SIGINT */
    OUTCOME_KILLED,      /* SIGKILL, SIGTERM and others; cause open */
    OUTCOME_PREEMPTED,
    OUTCOME_ENDED, /* ended, status not visible */
    OUTCOME_LOST,  /* monitor or machine died */
    OUTCOME_COUNT_
};

const char *outcome_name(enum outcome_class outcome); /* "ok", "start_failed", ... */
bool outcome_from_name(const char *name, enum outcome_class *ret_outcome);
/* The user or the budget stopped it: nothing failed, though its time counts. */
bool outcome_is_stopped(enum outcome_class outcome);
/* A repeat can cure it: never OOM, access, dependency, start_failed, budget, interrupted. */
bool outcome_can_retry(enum outcome_class outcome);
