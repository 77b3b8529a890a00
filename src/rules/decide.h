/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decision: the branches of REQUIREMENTS E in their order, for each candidate environment and
 * each block (DESIGN section 9, docs/decide.md). Every rule answers yes, no or cannot tell, says on
 * what, and what would change that. Nothing is scored and nothing is weighed: the first, most
 * cautious rule that fires stands. Pure.
 */
#pragma once

#include "base/mem.h"
#include "model/plan.h"
#include "model/quantity.h"
#include "rules/cost.h"
#include "rules/estimate.h"
#include "rules/study.h"

#include <stdbool.h>
#include <stddef.h>

enum decide_answer { DECIDE_CANNOT_TELL = 0, DECIDE_YES, DECIDE_NO, DECIDE_ANSWER_COUNT_ };
const char *decide_answer_name(enum decide_answer answer); /* "cannot-tell", "yes", "no" */

/* From cautious to bold. NONE: no rule of this environment or block fires. */
enum decide_verdict {
    DECIDE_NONE = 0,
    DECIDE_NOT_YET,
    DECIDE_VALIDATE_FIRST,
    DECIDE_RENT_STAGED,
    DECIDE_RENT_BLOCKS,
    DECIDE_VERDICT_COUNT_
};
const char *decide_verdict_name(enum decide_verdict verdict); /* "none", "not-yet", … */

/* In the order in which they are walked. */
enum decide_id {
    DECIDE_E5 = 0,
    DECIDE_E7,
    DECIDE_E7B,
    DECIDE_E1,
    DECIDE_E8,
    DECIDE_E10,
    DECIDE_E6,
    DECIDE_E2,
    DECIDE_E3A,
    DECIDE_E3B,
    DECIDE_E3C,
    DECIDE_E9,
    DECIDE_E4,
    DECIDE_E11,
    DECIDE_ID_COUNT_
};
const char *decide_id_name(enum decide_id id); /* "E5", "E7b", … */
/* Its answer is another one for each block; that of all others is about the place or the demand. */
bool decide_is_of_block(enum decide_id id);

struct decide_ground {  /* what the answer rests on */
    const char *text;   /* translated, one sentence with its figures */
    const char *source; /* plan line, run id, offer; NULL: none */
    const char *name;   /* of the figure, as in JSON; NULL: the ground has none */
    struct quantity figure;
};

/* An open fact or figure that would change the answer. */
struct decide_change {
    const char *what;             /* translated */
    const char *rules;            /* "E1, E8" */
    const char *source, *command; /* NULL: none */
    /* What has to be written in the plan for it: the key, the part it stands under and whose it is
     * there ("runs", "blocks", "compare"); of a fact "facts", NULL and its id. NULL: nothing */
    const char *key, *part, *name;
};

struct decide_rule {
    enum decide_id id;
    enum decide_answer answer;
    bool fires;                  /* E1 and E5 also where they cannot tell; E2 only on yes */
    enum decide_verdict verdict; /* where it fires; NONE: it adds something beside */
    bool compare_owning;         /* where it fires */
    const char *when, *then;     /* translated: the condition, the consequence */
    const struct decide_ground *grounds;
    size_t ground_count;
    const struct decide_change *opens; /* what is open at it, or has to be changed */
    size_t open_count;
    const char *change;  /* translated: what would change the answer; NULL: nothing */
    const char *command; /* to type; NULL: none */
};

struct decide_block {
    const struct study_block *block;
    struct decide_rule
        rules[DECIDE_ID_COUNT_]; /* each, in order; those of the environment copied */
    bool nothing_left;           /* all its runs are done: nothing is decided about it */
    enum decide_verdict verdict;
    const struct decide_rule *by; /* the rule whose verdict it is; NULL: none fires */
    bool compare_owning;
};

struct decide_environment {
    const struct plan_environment *environment; /* NULL: the plan names none */
    const struct study *study;
    const struct estimate *estimate;
    const struct cost *cost;
    struct decide_block *blocks; /* as the plan's; of a plan without blocks one with block NULL */
    size_t block_count;
    bool nothing_left;           /* of none of its blocks */
    enum decide_verdict verdict; /* of its most cautious block */
    const struct decide_rule *by;
    bool compare_owning;
    const char *option; /* translated: E7b, what it may be used for; NULL */
};

struct decision {
    struct decide_environment *environments;
    size_t environment_count;
    /* of the boldest environment: the others are no worse an option; a Mac is none of them where
     * there is another, since what works there proves nothing for other machines */
    enum decide_verdict verdict;
    const struct decide_environment *best;
    bool compare_owning;
    /* of validate-first: what the team has set (E1); lacks: what of it is not set, translated */
    const struct plan_validation *validation;
    const char *const *validation_lacks;
    size_t validation_lack_count;
    /* the open facts and figures that would change the verdict, most cautious rule first */
    const struct decide_change *changes;
    size_t change_count;
    const char *const *before_booking; /* translated: tasks that need no rented machine and are not
                                          done, with their plan line */
    size_t before_booking_count;
};

struct decide_input { /* one candidate environment; a plan without any has one */
    const struct study *study;
    const struct estimate *estimate;
    const struct cost *cost;
};
void decide_make(const struct decide_input *inputs, size_t count, struct arena *arena,
                 struct decision *ret);
/* Nothing beyond validation may be booked yet: exit code 4. */
bool decide_is_not_yet(const struct decision *decision);
/* Where nothing is left to do, or a machine that is there already is meant, nothing is rented. */
bool decide_is_rented(const struct plan_environment *environment);

/* Thresholds of E6 and E3a; their reasons stand in docs/decide.md. */
#define DECIDE_TIME_RATIO    1.5       /* longest run to shortest, of one condition */
#define DECIDE_TIME_LEAST_S  1.0       /* and so much longer */
#define DECIDE_MEMORY_RATIO  1.25      /* largest peak to smallest, of one condition */
#define DECIDE_MEMORY_LEAST  268435456 /* and so many bytes more: 256 MiB */
#define DECIDE_CAMPAIGN_DAYS 180       /* what is called a short campaign lasts no longer */
