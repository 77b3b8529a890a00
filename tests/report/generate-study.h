/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole studies by chance, for properties that hold of every report: a plan written as text and
 * read as any plan, records of runs in its environments, sessions, freezes. One seed gives one
 * study, whatever the machine. It knows of itself what a renderer must not be asked: which offers
 * can be used, which run was made where.
 */
#pragma once

#include "plan/plan.h"
#include "report/study.h"
#include "rules/cost.h"
#include "rules/decide.h"
#include "rules/estimate.h"
#include "rules/review.h"
#include "rules/session.h"
#include "rules/study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GENERATED_ENVIRONMENTS 3u
#define GENERATED_OFFERS       8u
#define GENERATED_FREEZES      4u
#define GENERATED_NOW_NS       INT64_C(1796000000000000000) /* 2026-11-30 00:53:20 UTC */

struct generated_offer {
    const char *id, *environment;
    const char *flaw; /* why it cannot be used; NULL: it can */
};

struct generated {
    struct arena *arena;
    uint64_t seed, random;
    char *text; /* of the plan */
    struct plan *plan;
    struct plan_complaints complaints;
    size_t environment_count;
    struct generated_offer offers[GENERATED_OFFERS];
    size_t offer_count;
    struct run **runs; /* oldest first */
    const struct run **newest;
    size_t *made_in; /* of each run, oldest first: the environment's number */
    size_t run_count;
    struct evidence_freeze freezes[GENERATED_FREEZES];
    size_t freeze_count;
    json_t *events;
    struct session_list sessions;
};

/* folder: where the plan is written. */
void generate_study(uint64_t seed, const char *folder, struct generated *ret);
void generated_done(struct generated *generated);
#define AUTO_GENERATED __attribute__((cleanup(generated_done)))

/* Of the offers for the environment, is there one that can be used? */
bool generated_has_usable(const struct generated *generated, const char *environment);
const struct generated_offer *generated_offer(const struct generated *generated, const char *id);

/* What the program makes of it for one environment. */
struct generated_view {
    struct arena *arena;
    const char *environment; /* NULL: the plan names none */
    struct study_input input;
    struct study study;
    struct estimate estimate;
    struct cost cost;
    struct decide_input decide;
    struct decision decision; /* about this environment alone */
    json_t *kept_estimate;    /* owned */
    struct review_kept kept;
    struct review_input review_input;
    struct review review;
    struct report_frozen frozen;
    struct report_document document;
};
void generated_look(const struct generated *generated, size_t environment,
                    struct generated_view *ret);
void generated_view_done(struct generated_view *view);
#define AUTO_GENERATED_VIEW __attribute__((cleanup(generated_view_done)))

/* Makes every figure of the runs of all other environments another one. */
void generated_change_elsewhere(struct generated *generated, size_t environment);
