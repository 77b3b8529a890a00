/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of what a session knows. Nothing is computed here. */
#include "model/session.h"

#include <assert.h>
#include <string.h>

static const char *const reasons[SESSION_REASON_COUNT_] = {
    [SESSION_UNKNOWN] = "unknown",
    [SESSION_APPROVAL] = "approval",
    [SESSION_DECISION] = "decision",
    [SESSION_CORRECTION] = "correction",
    [SESSION_DATA_MISSING] = "data-missing",
    [SESSION_FILE_MISSING] = "file-missing",
    [SESSION_WAITING_FOR_AUTHORS] = "waiting-for-authors",
    [SESSION_MANUAL_ACTION] = "manual-action",
    [SESSION_PREPARING_NEXT] = "preparing-next",
    [SESSION_FAILURE_HANDLING] = "failure-handling",
};

static const char *const states[SESSION_STATE_COUNT_] = {
    [SESSION_RUNNING] = "running",
    [SESSION_STOPPED] = "stopped",
    [SESSION_UNENDED] = "unended",
};

const char *session_reason_name(enum session_reason reason) {
    assert(reason < SESSION_REASON_COUNT_);
    return reasons[reason];
}

bool session_reason_from_name(const char *name, enum session_reason *ret_reason) {
    for (enum session_reason reason = SESSION_UNKNOWN; reason < SESSION_REASON_COUNT_; reason++)
        if (strcmp(reasons[reason], name) == 0) {
            *ret_reason = reason;
            return true;
        }
    return false;
}

const char *session_state_name(enum session_state state) {
    assert(state < SESSION_STATE_COUNT_);
    return states[state];
}
