/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The class of a run from the facts of its end and from its incidents; the order of precedence is
 * written at outcome_classify in text/incident.h. It decides from evidence only: a bare status
 * never names a cause.
 */
#include "text/incident.h"

#include "base/mem.h"

#include <signal.h>
#include <string.h>

/* Causes before consequences: a kernel kill explains the crash of the other ranks, not the other
 * way round. */
static const enum outcome_class order[] = {
    OUTCOME_PREEMPTED,     OUTCOME_HOST_OOM,  OUTCOME_GPU_OOM,       OUTCOME_GPU_FAULT,
    OUTCOME_SHM_EXHAUSTED, OUTCOME_DISK_FULL, OUTCOME_ACCESS_DENIED, OUTCOME_DEPENDENCY,
    OUTCOME_LOST,          OUTCOME_KILLED,    OUTCOME_FAILED,
};

static size_t rank_of(enum outcome_class outcome) {
    size_t rank = 0;
    while (rank < ARRAY_LENGTH(order) && order[rank] != outcome)
        rank++;
    return rank;
}

static bool is_own_fault(int signal_number) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
    for (size_t i = 0; i < ARRAY_LENGTH(faults); i++)
        if (faults[i] == signal_number)
            return true;
    return false;
}

static enum outcome_class by_status(const struct outcome_facts *facts) {
    if (facts->signal)
        return is_own_fault(facts->signal) ? OUTCOME_FAILED : OUTCOME_KILLED;
    if (facts->exit_code == 128 + SIGKILL || facts->exit_code == 128 + SIGTERM)
        return OUTCOME_KILLED;
    return OUTCOME_FAILED;
}

enum outcome_class outcome_classify(const struct outcome_facts *facts,
                                    const char *const *incident_names, const bool *survived,
                                    size_t count) {
    if (facts->running)
        return OUTCOME_RUNNING;
    if (!facts->ended || facts->monitor_lost)
        return OUTCOME_LOST;
    if (facts->start_failed)
        return OUTCOME_START_FAILED;
    if (facts->budget)
        return OUTCOME_BUDGET;
    if (facts->interrupted || facts->signal == SIGINT ||
        (facts->has_exit_code && facts->exit_code == 128 + SIGINT))
        return OUTCOME_INTERRUPTED;
    if (!facts->has_exit_code && !facts->signal)
        return OUTCOME_ENDED;
    if (!facts->signal && facts->exit_code == 0)
        return OUTCOME_OK;

    size_t best = rank_of(by_status(facts));
    for (size_t i = 0; i < count; i++) {
        const struct incident_info *info = incident_info(incident_names[i]);
        if (!info || (survived && survived[i]))
            continue;
        size_t rank = rank_of(info->outcome);
        best = rank < best ? rank : best;
    }
    return order[best];
}
