/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the session rules share; internal to rules/. A frame is one boot of a machine:
 * within it BOOTTIME counts, and one moment of it ties it to the session's axis. */
#pragma once

#include "rules/session.h"

struct session_frame {
    const char *boot_id;
    int64_t boot_ns; /* the earliest moment that is known of it */
    int64_t utc_ns;  /* of that moment */
    double axis_s;   /* and where it lies on the axis */
    bool is_certain; /* the session's own records, or now, lie in it */
};

struct session_work { /* one session while it is made */
    struct session *session;
    const json_t *start, *stop;  /* events; stop NULL: none */
    struct session_moment began; /* the record of the start */
    const json_t **notes;        /* by time */
    size_t note_count;
    struct session_frame *frames; /* [0]: that of the start */
    size_t frame_count, frame_room;
    double seen_s; /* the latest moment of its own records */
    bool length_is_at_least;
};

/* session-time.c */
bool session_run_moment(const struct run *run, struct session_moment *ret_moment);
void session_find_frames(struct session_work *work, const struct session_input *input,
                         struct arena *arena);
double session_at(const struct session_work *work, const struct session_moment *moment);
void session_find_length(struct session_work *work, const struct session_input *input);
/* The run on the session's axis, not cut; false: it does not say when it began. */
bool session_place_run(const struct session_work *work, const struct run *run,
                       const struct session_moment *now, struct session_run *ret_run);

/* session-gaps.c: from the runs that were found to its figures. */
void session_find_gaps(struct session_work *work, struct arena *arena);
void session_find_restarts(struct session_work *work, const struct session_input *input,
                           struct arena *arena);
void session_sum(struct session_work *work, const struct session_input *input, struct arena *arena);
