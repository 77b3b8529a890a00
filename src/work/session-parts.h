/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two halves of work/session.h share; internal to work/. */
#pragma once

#include "work/session.h"

/* Whatever can be read, of a ledger that is only half there, too: what is found is so, what is not
 * found may still be. Without runs. since_utc_ns as below. */
int work_sessions_glimpse(struct runs *runs, int64_t since_utc_ns, struct work_sessions *ret,
                          struct err *err);

/* The same of one session. */
int work_sessions_glimpse_one(struct runs *runs, const char *id, struct work_sessions *ret,
                              struct err *err);

/* The records of the sessions that were not stopped, of those that ended since, and of those that
 * may have been running beside what runs here. 0: of all; INT64_MAX: only what concerns now. */
int work_session_events_since(struct runs *runs, int64_t since_utc_ns, json_t **ret_events,
                              struct err *err);
/* Of this session and those that may have been running beside it. */
int work_session_events_of(struct runs *runs, const char *id, json_t **ret_events, struct err *err);

/* This machine, now; texts in arena. */
struct session_moment work_session_now(struct arena *arena);
