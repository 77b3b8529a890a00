/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the review share; internal to rules/. One block at a time: what the kept
 * estimate said of it (kept), the runs that it rested on and those made since, condition by
 * condition (pairs), and the lines that come of them.
 */
#pragma once

#include "rules/estimate.h"
#include "rules/review.h"

/* ---- review-kept.c: a kept estimate, read ---- */

struct kept_item {
    const char *name; /* label of a condition, "step install", "sessions", … */
    struct quantity count, unit, time;
};
struct kept_component {
    struct quantity time;
    struct kept_item *items;
    size_t item_count;
};
struct kept_memory {
    const char *name; /* which quantity; "": not said */
    struct quantity need;
};
struct kept_block {
    const struct review_kept *kept;
    bool has_remaining;
    uint64_t remaining;
    struct kept_component components[COMPONENT_COUNT_];
    struct quantity reserved;
    struct kept_memory host, gpu;
};
/* false: the estimate has no such block, or nothing of it was left. */
bool review_kept_read(const struct review_kept *kept, const char *block, struct arena *arena,
                      struct kept_block *ret);
/* Of this environment (NULL: of none)? Estimates of others are never looked at. */
bool review_kept_is_of(const struct review_kept *kept, const char *environment);

/* review.c: the kept estimate that a block is held against; false: none. */
bool review_choose(const struct review_input *input, const struct study_block *block,
                   struct arena *arena, struct kept_block *ret, const char **ret_why);

/* ---- one block ---- */

struct review_pair { /* one condition */
    const struct study_condition *condition;
    uint64_t planned;           /* runs that the estimate held; only with has_planned */
    bool has_planned;           /* it stands in the estimate, with a number */
    struct quantity unit;       /* one of them, as planned */
    const struct run **sources; /* that the estimate rests on and that are still there */
    size_t source_count;
    bool sources_missing;           /* some of those it names are not in the records any more */
    const struct study_run **since; /* counting runs made since, newest first */
    size_t since_count;
};

struct review_work {
    const struct review_input *input;
    const struct study *study;
    struct arena *arena;
    const struct study_block *block;
    struct kept_block kept;
    int64_t since_utc_ns;
    struct review_pair *pairs;
    size_t pair_count;
    const struct study_run **attempts; /* all of the block since, newest first; steps included */
    size_t attempt_count;
    bool is_whole; /* made as often as planned: what was planned can be compared as it stands */
    uint64_t made, planned; /* runs, over all conditions */
    struct review_block *ret;
    size_t line_room;
};

/* ---- review-actual.c: what happened ---- */

/* The block that a run belongs to: its own, or the one that a step was made for. */
const struct plan_block *review_block_of(const struct study *study, size_t index);
bool review_is_since(const struct study *study, const struct study_run *run, int64_t since_utc_ns);
void review_find_pairs(struct review_work *work);
/* The run that ended a gap, of which notes may have made several; NULL: the session's end. */
const char *review_gap_before(const struct session *session, size_t gap);
/* Ended well, and is no evidence. */
bool review_is_uncounted(const struct study_run *run);
/* Failed, or declared invalid: its time was effort. */
bool review_is_lost(const struct study_run *run);
struct quantity review_uncounted(const struct review_work *work);
/* Idle time of the block's gaps since, by reason; seconds. */
void review_idle_reasons(const struct review_work *work, double ret_seconds[SESSION_REASON_COUNT_]);

/* One figure of runs on both sides: the mean of those that the estimate rests on, for as many runs
 * as were made since, and their sum. Open where a run does not tell. */
typedef struct quantity (*review_metric)(const struct run *run, int which);
void review_both(const struct review_work *work, review_metric get, int which, const char *unit,
                 struct quantity *ret_planned, struct quantity *ret_actual);
struct quantity review_metric_phase(const struct run *run, int which); /* enum phase */
struct quantity review_metric_idle(const struct run *run, int which);  /* enum gpu_idle */
struct quantity review_metric_cpu(const struct run *run, int which);
struct quantity review_metric_wall(const struct run *run, int which);
struct quantity review_metric_read(const struct run *run, int which); /* from storage, bytes */
struct quantity review_metric_loaded(const struct run *run, int which);

/* ---- review-lines.c ---- */

void review_lines(struct review_work *work);
struct review_line *review_line_find(const struct review_block *block, const char *name);
struct quantity review_difference(const struct quantity *planned, const struct quantity *actual);

/* ---- review-cause.c ---- */

void review_causes(struct review_work *work);
/* Sums up what was said: of several answers to a part the last holds. */
const struct review_answer *review_answer_find(const struct review_input *input, const char *block,
                                               const char *part);

/* ---- review-checks.c ---- */

/* What differs between the runs that were planned from and those made since: "batch 4 -> 8"; NULL:
 * nothing that is known. inputs: of inputs and work alone, not of software. */
const char *review_what_differs(const struct review_work *work, bool inputs);
/* Steps that one side has and the other lacks, NULL: none that is known. */
const char *review_missing_steps(const struct review_work *work);
void review_checks(struct review_work *work);
void review_repeats(struct review_work *work);

/* ---- review-next.c ---- */

void review_consequences(struct review_work *work);

/* ---- review-attempts.c ---- */

void review_attempts(const struct review_input *input, struct arena *arena, struct review *ret);
