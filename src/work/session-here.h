/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which session runs on this machine, for a run that is about to start: small files beside the
 * ledger, so that no start waits for a ledger. They only help: what counts are the records
 * (work/session.h), and without such a file a run belongs to its session by its time.
 */
#pragma once

#include "base/mem.h"
#include "rules/session.h"
#include "work/place.h"

#include <stdbool.h>

struct session_here {
    const char *id;
    const char *environment; /* NULL: not said */
    const char *offer;       /* NULL: not said */
};
/* False: none, or several, or it could not be known within some milliseconds. Texts in arena. */
bool session_here_find(const struct place *place, struct arena *arena, struct session_here *ret);

/* Kept from the start of a session to its stop. What fails here is no failure of theirs. */
void session_here_put(const struct place *place, const struct session_here *session,
                      const struct session_moment *machine);
void session_here_drop(const struct place *place, const char *id);
/* Drops the files of sessions that are over, or that the list, which is all there is, lacks. */
void session_here_tidy(const struct place *place, const struct session_list *list);
