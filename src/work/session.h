/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reservation clock: small records of when a machine was reserved and why it idled, read and
 * written (rules/session.h says what they mean). No process runs between the commands: a session is
 * nothing but its records, so that neither kill -9 nor a restart can hurt it.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "plan/plan.h"
#include "rules/session.h"
#include "work/place.h"
#include "work/runs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct work_sessions {
    struct arena *arena;
    json_t *events;    /* owned: what `list` was read from */
    struct run **runs; /* owned: those that may lie in a session that was asked for */
    size_t run_count;
    size_t unreadable; /* runs that could not be read: they count as never made */
    const char *only;  /* id, for WORK_SESSIONS_ONE */
    struct session_input input;
    struct session_list list; /* complete only where all were asked for */
};

enum work_sessions_what {
    WORK_SESSIONS_ALL = 0,
    WORK_SESSIONS_RUNNING, /* only the running one gets its runs */
    WORK_SESSIONS_TIMES,   /* none gets its runs: begin and end alone */
    WORK_SESSIONS_ONE,     /* only the one that was asked for */
};
/* study: only of it; NULL: all. Call work_sessions_done also after a failure. A ledger that cannot
 * be read is an error (runs_need_ledger): sessions that were not read would count as never begun.
 */
int work_sessions_open(struct runs *runs, enum work_sessions_what what, const char *study,
                       struct work_sessions *ret, struct err *err);
/* The session with this full id, with its runs; others only as far as they matter for it. */
int work_sessions_open_one(struct runs *runs, const char *id, struct work_sessions *ret,
                           struct err *err);
/* By a reference as below; NULL: the one that runs here. */
int work_sessions_open_ref(struct runs *runs, const char *ref, struct work_sessions *ret,
                           const struct session **ret_session, struct err *err);
/* The same from events that were read already (a study's); they are kept alive. */
int work_sessions_of_events(struct runs *runs, json_t *events, struct work_sessions *ret,
                            struct err *err);
void work_sessions_done(struct work_sessions *sessions);
#define AUTO_WORK_SESSIONS __attribute__((cleanup(work_sessions_done)))

/* The one that runs on this machine: "session-none", "session-ambiguous" (two that match it). */
int work_session_find_running(const struct work_sessions *sessions,
                              const struct session **ret_session, struct err *err);
/* By id, a unique tail of it, or "@1" for the latest: "session-not-found", "session-ambiguous". */
int work_session_find(const struct work_sessions *sessions, const char *ref,
                      const struct session **ret_session, struct err *err);

/* Writes the id of the session that the run belongs to into run->start, where the command that it
 * is shown by looks for it; nothing where it belongs to none. */
void work_session_tell_run(struct runs *runs, struct run *run);

struct work_session_start {
    const struct plan *plan; /* NULL: none; else environment and offer must stand in it */
    const char *environment, *offer, *note; /* NULL: not said */
    bool has_gpus;
    int64_t gpus;
    int64_t began_utc_ns; /* 0: now */
};
/* "session-running", "session-overlap", "session-future", "environment-unknown", "offer-unknown",
 * "offer-environment". Of several processes that start one at once, one gets it. */
int work_session_start(const struct place *place, struct runs *runs,
                       const struct work_session_start *start, char ret_id[UUID_TEXT_SIZE],
                       struct err *err);

/* ref NULL: the running one. at_utc_ns 0: now. again: corrects the time of a session that was
 * stopped. "session-none", "session-stopped", "session-not-stopped", "session-stop-before-start",
 * "session-overlap", "session-future", "session-elsewhere". */
int work_session_stop(const struct place *place, struct runs *runs, const char *ref,
                      int64_t at_utc_ns, bool again, char ret_id[UUID_TEXT_SIZE], struct err *err);

struct work_session_note {
    const char *ref; /* NULL: the running session */
    enum session_reason reason;
    const char *text;               /* NULL: none */
    int64_t gap;                    /* number; 0: not given */
    int64_t from_utc_ns, to_utc_ns; /* 0: not given */
};
struct work_session_noted {
    char session[UUID_TEXT_SIZE];
    double from_s, to_s; /* what it is about, on the session's axis as it is now */
};
/* Without a gap and a span about the numbered gap that goes on now, and no earlier part of that
 * stretch. "session-none", "session-ambiguous", "session-no-gap", "session-gap-unknown",
 * "session-span". */
int work_session_note(const struct place *place, struct runs *runs,
                      const struct work_session_note *note, struct work_session_noted *ret,
                      struct err *err);
