/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two halves of work/session.h share; internal to work/. */
#pragma once

#include "work/session.h"

/* Whatever can be read, of a ledger that is only half there, too: what is found is so, what is not
 * found may still be. Without runs. */
int work_sessions_glimpse(struct runs *runs, struct work_sessions *ret, struct err *err);

/* The last characters of its id, by which people name it. */
const char *work_session_tail(const char *id);

/* This machine, now; texts in arena. */
struct session_moment work_session_now(struct arena *arena);
