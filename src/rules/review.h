/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Planned and actual held together (REQUIREMENTS F, docs/review.md): a kept estimate against what
 * happened since, block by block and component by component, by the same recording method. A cause
 * is named only where data show it; longer computing only after data access, loading, storage and
 * failures are excluded; else it is asked for. Pure.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "model/plan.h"
#include "model/quantity.h"
#include "rules/estimate.h"
#include "rules/study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum review_cause {
    REVIEW_OPEN = 0, /* data cannot tell: a question */
    REVIEW_NONE,     /* within the interval: nothing to explain */
    REVIEW_PREPARATION,
    REVIEW_DEPENDENCY,
    REVIEW_DATA_ACCESS,
    REVIEW_LOADING,
    REVIEW_STORAGE,
    REVIEW_OTHER_INPUT, /* another model, input, batch or setting */
    REVIEW_WAITING,     /* for an approval, a decision, … */
    REVIEW_FAILURES,
    REVIEW_COMPUTING,
    REVIEW_FEWER_STEPS, /* faster: the trial held steps that these runs did not, or the other way */
    REVIEW_CAUSE_COUNT_
};
const char *review_cause_name(enum review_cause cause); /* "open", "loading", … */
bool review_cause_from_name(const char *name, enum review_cause *ret_cause);

/* What people answered (event "review-answer"): of several the last holds. */
struct review_answer {
    const char *block, *part, *why, *who; /* part: a component, a phase, or "memory" */
    enum review_cause cause;
    int64_t utc_ns;
};

enum review_hit {
    REVIEW_CANNOT_TELL = 0,
    REVIEW_HIT, /* within the planned interval */
    REVIEW_MISS,
    REVIEW_NO_INTERVAL, /* planned without one: neither */
    REVIEW_HIT_COUNT_
};
const char *review_hit_name(enum review_hit hit); /* "cannot-tell", "hit", "miss", "no-interval" */

struct review_line {
    const char *name;     /* "runs", "runs/load", "memory/gpu": as in JSON */
    const char *label;    /* translated */
    const char *quantity; /* of memory: which quantity it is (B11); NULL: a time, a count */
    struct quantity planned, actual;
    struct quantity difference; /* actual - planned, may be below 0; open: one of them is */
    enum review_hit hit;
    enum review_cause cause;
    const char *why; /* translated: what shows the cause, or what was looked at and cannot tell */
    const char *question;               /* translated: what to ask people; NULL: nothing */
    const struct review_answer *answer; /* NULL: none */
};

/* Is the difference worth an explanation: outside the interval, or without one at least a tenth of
 * what was planned, and a second? */
bool review_is_worth(const struct review_line *line);

struct review_repeat { /* a run that should be made again (C7) */
    const struct study_run *run;
    const char *why, *command; /* translated; as typed */
};

struct review_next { /* the consequence for a later block: only the part concerned */
    const struct plan_block *block;
    const char *part;              /* "load", "prepare", …: as in the lines */
    bool changed;                  /* else: stays as planned, `why` says so */
    struct quantity before, after; /* of what is left there, seconds */
    const char *why;               /* translated */
};

struct review_block {
    const struct study_block *block;
    const char *kept; /* name of the estimate that it is held against; NULL: none */
    int64_t kept_utc_ns;
    const char *kept_why;   /* translated: why that one */
    const char *outdated;   /* translated: what changed since it was kept; NULL: nothing known */
    uint64_t made, planned; /* runs that count, since; those that the estimate held */
    bool finished;          /* all planned runs are done; else the figures go on growing */
    const char
        *skipped; /* translated: why it cannot be reviewed (no kept estimate of it, …); NULL */
    struct review_line *lines;
    size_t line_count;
    const char *const
        *checks; /* translated: more memory or faster than planned, what to check (F3) */
    size_t check_count;
    struct quantity repeated_preparation; /* time of preparation that was done again (F4) */
    size_t repeated_count;
    struct review_repeat *repeats;
    size_t repeat_count;
    struct review_next *next;
    size_t next_count;
};

/* One attempt as the experiment log has it (F5): what is not of the run alone. */
struct review_attempt {
    const struct study_run *run;
    const struct plan_block *block; /* its own, or the one that a step was made for; NULL: none */
    struct quantity planned;   /* one run of its condition, or of the step, in the kept estimate */
    struct quantity deviation; /* its wall time less that */
    struct quantity waited;    /* idle time of the session just before it */
    enum session_reason waited_for;
    struct quantity first_success; /* of the first run of its condition that counts: since the
                                      start of the condition's first attempt; else open */
};

struct review_hits { /* of intervals that were kept, over all finished blocks (F, H2) */
    size_t hit, missed, without;
};

struct calibration;
struct calibration_record; /* rules/calibration.h */

struct review {
    const struct study *study;
    const char *name; /* of the kept estimate */
    int64_t utc_ns;
    const char *outdated; /* translated: plan, code or environment changed since; NULL */
    struct review_block *blocks;
    size_t block_count;
    struct review_attempt *attempts; /* of these blocks, or of all and of none; oldest first */
    size_t attempt_count;
    struct review_hits hits;
    /* what is to be kept of every block, whichever is shown; none where an estimate was named: of
     * one block there is one outcome, the one held against its own */
    struct calibration_record *outcomes;
    size_t outcome_count;
    const struct calibration *calibration; /* with what was kept before; NULL: not looked at */
};

struct review_kept { /* an estimate that was kept, oldest first */
    const char *name;
    int64_t utc_ns;
    const json_t *estimate; /* probelauf.estimate/1; borrowed */
    const char *outdated;
};
struct review_input {
    const struct study *study;       /* as it is now */
    const struct estimate *estimate; /* of now: what is left */
    const struct review_kept *kept;
    size_t kept_count;
    const char *name;  /* the kept estimate that is meant; NULL: of each block the newest that was
                          made before its first counting run */
    const char *block; /* id; NULL: all */
    const struct review_answer *answers;
    size_t answer_count;
};
void review_make(const struct review_input *input, struct arena *arena, struct review *ret);

/* What a block has really taken since then, by component, as the estimate counts it. */
void review_actual(const struct study *study, const struct study_block *block, int64_t since_utc_ns,
                   struct arena *arena, struct quantity ret_components[COMPONENT_COUNT_]);
