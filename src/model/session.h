/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session: the time in which one machine is reserved, with the runs in it and the gaps between
 * them (DESIGN sections 1 and 5). Derived from small records whenever it is read (rules/session.h);
 * nothing here is stored. Every figure is a quantity.
 */
#pragma once

#include "model/money.h"
#include "model/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why reserved time passes without a run. */
enum session_reason {
    SESSION_UNKNOWN = 0, /* nobody said it: never guessed */
    SESSION_APPROVAL,
    SESSION_DECISION,
    SESSION_CORRECTION,
    SESSION_DATA_MISSING,
    SESSION_FILE_MISSING,
    SESSION_WAITING_FOR_AUTHORS,
    SESSION_MANUAL_ACTION,
    SESSION_PREPARING_NEXT,
    SESSION_FAILURE_HANDLING,
    SESSION_REASON_COUNT_
};
const char *session_reason_name(enum session_reason reason); /* "approval", … */
bool session_reason_from_name(const char *name, enum session_reason *ret_reason);

enum session_state {
    SESSION_RUNNING = 0, /* begun, not stopped, on the machine that reads */
    SESSION_STOPPED,
    SESSION_UNENDED, /* of another machine, and no stop is recorded: at least until what is seen */
    SESSION_STATE_COUNT_
};
const char *session_state_name(enum session_state state); /* "running", … */

/* A run in the session; seconds since the session's start, cut to the session. */
struct session_run {
    const char *run, *outcome; /* id; outcome_name */
    double start_s, end_s;
    bool running;
    bool end_is_at_least; /* lost, or processes went on: it may have ended later */
};

/* A stretch without a run, or a part of one that a note split off. */
struct session_gap {
    unsigned number; /* from 1, in order of time */
    double start_s, end_s;
    int64_t start_utc_ns, end_utc_ns;
    bool running; /* goes on now */
    struct quantity length;
    enum session_reason reason;
    const char *text, *who, *note; /* of the note that says the reason; note: its id. NULL: none */
    bool has_suggestion;           /* only where the reason is unknown: never a fact */
    enum session_reason suggestion;
    const char *after_run, *before_run; /* ids; NULL: the session's own start or end */
    bool restarted;                     /* the machine was restarted in it */
};

/* A note as it was recorded. */
struct session_note {
    const char *id, *text, *who;
    enum session_reason reason;
    int64_t utc_ns;
    double start_s, end_s; /* what it is about; only with has_span, else the gap it was given in */
    bool has_span;
    bool applies; /* some gap has it, or had it until a later note */
};

struct session {
    const char *id;             /* of its start record */
    const char *study;          /* NULL: none */
    const char *environment;    /* id of the plan; NULL: not said */
    const char *offer, *note;   /* NULL: not said */
    const char *host, *machine; /* machine: short digest; NULL: not known */
    const char *who;
    const char *superseded_by; /* another session of the machine was already running then: this one
                                  counts for nothing. NULL: it counts */
    enum session_state state;
    bool has_gpus;
    uint64_t gpus;                        /* reserved */
    bool began_is_given, ended_is_given;  /* by people, not by the clock */
    int64_t started_utc_ns, ended_utc_ns; /* ended 0: not ended, or not known */
    double length_s;                      /* up to now where it runs */
    size_t restarts;                      /* of the machine within it */
    double clocks_apart_s; /* UTC less time since boot, within one boot; 0: nothing to speak of */
    double unsure_s; /* up to so much lies between restarts whose clocks contradict: not counted */

    struct session_run *runs; /* by start */
    size_t run_count;
    struct session_gap *gaps; /* by start */
    size_t gap_count;
    struct session_note *notes;
    size_t note_count;

    struct quantity reserved;                         /* its length */
    struct quantity busy;                             /* the union of its runs */
    struct quantity idle;                             /* reserved less busy: the gaps, summed */
    struct quantity by_reason[SESSION_REASON_COUNT_]; /* sums of gaps; 0 s where no gap has it */
    struct quantity idle_share;                       /* of the reserved time */
    struct quantity gpu_reserved;                     /* reserved x GPUs */
    struct quantity paid; /* reserved, by the offer's increment and minimum; open: no offer */
    struct amount amount; /* of the reserved time under the offer; open: no usable offer */
    struct quantity gpu_idle_in_runs; /* shown beside, in no sum: idle of the GPUs while runs ran */
};
