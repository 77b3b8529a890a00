/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and properties of outcome classes (DESIGN section 3). Must not decide which class a run has
 * (exec does). */
#include "model/outcome.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name;
    bool can_retry;
} classes[OUTCOME_COUNT_] = {
    [OUTCOME_RUNNING] = {"running", false},
    [OUTCOME_OK] = {"ok", false},
    [OUTCOME_FAILED] = {"failed", true},
    [OUTCOME_START_FAILED] = {"start_failed", false},
    [OUTCOME_GPU_OOM] = {"gpu_oom", false},
    [OUTCOME_HOST_OOM] = {"host_oom", false},
    /* full /dev/shm and full disks stay full: a repeat meets them again */
    [OUTCOME_SHM_EXHAUSTED] = {"shm_exhausted", false},
    [OUTCOME_DISK_FULL] = {"disk_full", false},
    [OUTCOME_ACCESS_DENIED] = {"access_denied", false},
    [OUTCOME_DEPENDENCY] = {"dependency", false},
    [OUTCOME_GPU_FAULT] = {"gpu_fault", true},
    [OUTCOME_BUDGET] = {"budget", false},
    [OUTCOME_INTERRUPTED] = {"interrupted", false},
    [OUTCOME_KILLED] = {"killed", true},
    [OUTCOME_PREEMPTED] = {"preempted", true},
    [OUTCOME_ENDED] = {"ended", false}, /* how it went is not known */
    [OUTCOME_LOST] = {"lost", true},
};

const char *outcome_name(enum outcome_class outcome) {
    assert(outcome < OUTCOME_COUNT_);
    return classes[outcome].name;
}

bool outcome_from_name(const char *name, enum outcome_class *ret_outcome) {
    for (enum outcome_class i = 0; i < OUTCOME_COUNT_; i++) {
        if (strcmp(classes[i].name, name) == 0) {
            *ret_outcome = i;
            return true;
        }
    }
    return false;
}

bool outcome_is_stopped(enum outcome_class outcome) {
    return outcome == OUTCOME_INTERRUPTED || outcome == OUTCOME_BUDGET;
}

bool outcome_can_retry(enum outcome_class outcome) {
    assert(outcome < OUTCOME_COUNT_);
    return classes[outcome].can_retry;
}
