/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sessions from their records and from the runs of the same machine: which run belongs to which,
 * what lies between them and why. Pure: no files, no clock; who reads says what now is.
 *
 * Durations come from CLOCK_BOOTTIME within one boot of the machine; from one boot to the next only
 * UTC is left, and the method says so. Of two sessions that would run on one machine at once the
 * one that began first counts; the other is superseded by it. docs/sessions.md.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "model/plan.h"
#include "model/run.h"
#include "model/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A moment on a machine, or the machine alone. */
struct session_moment {
    const char *boot_id, *host, *machine; /* NULL: not known */
    int64_t boot_ns, utc_ns;
};
/* One name, and nothing that tells two machines of that name apart: the boot, or the digest of the
 * machine id. A container of a machine has another name: what runs in it belongs to the machine's
 * session all the same, but only where it has none of its own. */
bool session_is_same_machine(const struct session_moment *a, const struct session_moment *b);

/* The same machine, or a container of it: the same boot. */
bool session_is_here(const struct session_moment *a, const struct session_moment *b);
/* Of a record; false: it has none that can be used. */
bool session_moment_of_event(const json_t *event, struct session_moment *ret_moment);

struct session_input {
    const json_t *events; /* array of EVENT records with their `id`; others are left out */
    const struct run *const *runs;
    size_t run_count;
    struct session_moment now; /* of who reads */
};

struct session_list {
    struct session *items; /* by start */
    size_t count;
};

/* Everything lives in arena and points into input. */
void session_derive(const struct session_input *input, struct arena *arena,
                    struct session_list *ret_list);

/* Paid time of those sessions whose offer stands in the plan (NULL: none is at hand). */
void session_find_paid(struct session_list *list, const struct plan *plan, struct arena *arena);
/* "2.49 EUR per hour", in arena; NULL where the offer cannot be relied on: *ret_why says why. */
const char *session_rate(const struct session *session, const struct plan *plan, int64_t now_utc_ns,
                         struct arena *arena, const char **ret_why);

/* The session that runs on this machine, or NULL. */
const struct session *session_running(const struct session_list *list);
/* The one that the run belongs to, or NULL. */
const struct session *session_of_run(const struct session_list *list, const char *run);
/* The gap that goes on now, or NULL. */
const struct session_gap *session_running_gap(const struct session *session);
/* Seconds since the session's start of a moment told in UTC; may lie outside the session. A running
 * session counts back from now, so that a clock that was set meanwhile does no harm. */
double session_axis(const struct session *session, int64_t utc_ns, int64_t now_utc_ns);
/* The other way round: as the session's clock tells it, never beyond what 64 bits hold. */
int64_t session_utc(const struct session *session, double at_s);
/* What has been idle since the last run, notes apart: seconds; 0 while a run runs. */
double session_idle_since_run(const struct session *session);
