/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plan and records of one study joined: what every block, condition, claim and open fact has come
 * to. Derived whenever it is read; pure. The input of estimate and reports.
 */
#pragma once

#include "forecast/history.h"
#include "model/plan.h"
#include "model/quantity.h"
#include "model/run.h"
#include "model/session.h"
#include "rules/evidence.h"
#include "rules/gate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A condition of an earlier study, as its records name it. */
struct study_past {
    const char *study, *block; /* ids */
    const char *condition;     /* "policy=evict" */
    const char *environment;   /* id; NULL: none was named */
};

struct study_input {
    const struct plan *plan;
    const struct plan_environment *environment; /* the target; NULL: the plan names none */
    const struct run *const *runs;              /* of the study, newest first */
    size_t run_count;
    const char *code_digest; /* as in struct evidence_target */
    const char *code_why;    /* translated: why it is not known */
    json_t *code_paths;
    const struct evidence_freeze *freezes; /* newest first */
    size_t freeze_count;
    const struct session *sessions; /* of the study, by start; their runs may be of other studies */
    size_t session_count;
    const struct gate *gates; /* answers at gates, newest first */
    size_t gate_count;
    /* Conditions of earlier studies in the ledger: from them only the spread is borrowed. */
    const struct history_condition *past;
    const struct study_past *past_of; /* who each of them is */
    size_t past_count;
    int64_t now_utc_ns;
};

/* One run as the study sees it. */
struct study_run {
    const struct run *run;
    const struct plan_block *block;         /* NULL: none */
    const struct plan_condition *condition; /* NULL: none */
    const struct plan_step *step;           /* NULL: none */
    const struct plan_environment *environment;
    struct evidence evidence;  /* level none where it belongs to no condition */
    bool planned;              /* belongs to a condition or a step of the plan */
    const char *unplanned_why; /* translated; NULL when planned (C9) */
    bool is_attempt; /* at its condition with the condition's command in the target environment, and
                        ended not on purpose: it says something about failing */
    bool is_elsewhere; /* in study_condition.runs: shown in this block too, but its own (where it
                          may be done) is another block that shares the condition */
};

struct study_condition {
    const struct plan_condition *condition;
    enum evidence_level level;
    const char *why;             /* why there is no better evidence; NULL at level measured */
    uint64_t planned;            /* runs; only with has_planned */
    bool has_planned;            /* false: the plan leaves the number open */
    uint64_t done;               /* counting and verified, at most `planned` where that is known */
    uint64_t valid;              /* counting: evidence */
    uint64_t uncounted;          /* ended well and do not count, though nobody took them out */
    const char *uncounted_why;   /* of the newest of them; NULL: there is none */
    uint64_t attempts, failures; /* of runs with is_attempt */
    const struct study_run **runs; /* all that belong to it, newest first, each as this block sees
                                      it; also those of an earlier plan that were meant for it
                                      (evidence none, not planned) */
    size_t run_count;
};

enum study_state {
    STUDY_PLANNED = 0, /* no run yet */
    STUDY_TRIED,       /* runs, but none counts as done */
    STUDY_UNDERWAY,    /* some are done */
    STUDY_DONE,        /* all planned ones are */
    STUDY_STATE_COUNT_
};
const char *study_state_name(enum study_state state); /* "planned", "tried", "underway", "done" */

struct study_block {
    const struct plan_block *block;
    enum study_state state;
    enum evidence_level level; /* the weakest of its conditions' */
    const char *why;
    uint64_t planned, done, valid;
    bool has_planned;
    struct study_condition *conditions;
    size_t condition_count;
    const struct evidence_freeze *freeze;         /* NULL: not frozen */
    const struct evidence_freeze *freeze_ignored; /* dated after now, and no other replaces it: the
                                                     newest of them; NULL: none */
    const char *freeze_outdated;         /* what changed since, translated; NULL: nothing known */
    const struct plan_fact **stopped_by; /* open facts that stop its kind */
    size_t stopped_by_count;
};

enum study_verdict { STUDY_OPEN = 0, STUDY_REPRODUCED, STUDY_NOT_REPRODUCED, STUDY_VERDICT_COUNT_ };
const char *
study_verdict_name(enum study_verdict verdict); /* "open", "reproduced", "not-reproduced" */

/* One group of values that a claim looks at (two and more for an ordering). */
struct study_observed {
    const struct plan_pairs *where; /* of the claim */
    struct quantity value; /* median over the counting runs, n and sources set; open with reason */
    double least, most;    /* only when value is known */
};
struct study_claim {
    const struct plan_claim *claim;
    enum study_verdict verdict;
    const char *why; /* translated: what was held against what, or what is missing */
    struct study_observed *observed;
    size_t observed_count;
};

/* Repeats within a verify block (verify{of, result, tolerance}). */
struct study_repeat_check {
    const struct plan_block *block;
    const struct plan_condition *condition; /* of the block that it repeats; the block's own where
                                               that has none like it */
    enum study_verdict verdict;             /* reproduced: within the tolerance */
    const char *why;
    struct quantity first, repeat; /* medians of the result in both blocks' runs */
};

struct study {
    const struct study_input *input;
    struct study_run *runs; /* as input->runs */
    size_t run_count;
    struct study_block *blocks; /* as plan->blocks */
    size_t block_count;
    struct study_claim *claims; /* as plan->claims */
    size_t claim_count;
    struct study_repeat_check *repeat_checks;
    size_t repeat_check_count;
    const struct plan_fact **open_facts; /* with what data protection leaves open
                                            (plan_open_facts) */
    size_t open_fact_count;
    struct quantity
        unplanned_time;    /* wall time of the unplanned runs, with parts; 0 runs: 0 s, n = 0 */
    struct quantity spent; /* wall time of all runs of the study so far */
    struct quantity failed_time; /* of the failed attempts */
    /* the same two of the runs in the target environment, and of those made in no or another one */
    struct study_times {
        struct quantity spent, failed_time;
    } here, elsewhere;
    struct quantity first_success; /* time from the start of the first run to the end of the first
                                      one that counts (F5); open: none yet */
};

/* Everything lives in arena and points into input. */
void study_derive(const struct study_input *input, struct arena *arena, struct study *ret_study);
/* For `run`: what one run has become, in one translated sentence ("evidence for …", "not evidence:
 * the code changed …"). */
const char *study_run_sentence(const struct study *study, const struct study_run *run,
                               struct arena *arena);
