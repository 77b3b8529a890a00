/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The use case of `probelauf block run BLOCK`: what is left of a block, one `probelauf run` after
 * the other in lanes, steps first. What was done is found in the records each time anew, so that it
 * can be killed at any moment and started again: a run that goes on occupies its lane and counts as
 * in progress. docs/block-run.md.
 *
 * A lane is a file beside the ledger, lanes/STUDY-BLOCK-N.lane: it names what is being run and is
 * locked (OFD lock, inherited) by the child for as long as that lives; so a killed runner's child
 * is seen even before its record is.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "rules/block-run.h"
#include "work/place.h"
#include "work/study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block_run_options {
    const char *block;
    const struct place *place;
    const char *session; /* id of the one that runs on this machine; NULL: none is known */
    size_t lanes;        /* 0: as many as `gpus` has sets, else the plan's, else 1 */
    const char *gpus;    /* "0,1": shared evenly; "0,1;2,3": a set a lane; NULL: those that this
                            process sees, shared evenly among several lanes; "": nothing is set
                          */
    int64_t max_time_ns; /* budget of the whole call; 0: none */
    const char *max_time_why; /* translated: where max_time_ns is from, if not from --max-time */
    int64_t grace_ns; /* after SIGTERM: runs are ended after it, and left after it once more */
    bool has_retry;
    uint64_t retry;          /* --retry, else the plan's retry.max, else none */
    const char *program;     /* our own executable */
    const char *const *pass; /* --ledger, --journal-dir, --plan, …: for each child */
    size_t pass_count;
};

struct block_run_lane { /* for the overview */
    size_t number;
    const char *what;   /* "policy=evict keep=0.5" */
    const char *output; /* file; NULL: not known */
    int64_t since_utc_ns;
    bool inherited; /* of a killed runner */
};
enum block_run_news { /* why show is called */
                      BLOCK_RUN_TICK = 0,
                      BLOCK_RUN_STARTED, /* lane */
                      BLOCK_RUN_ENDED,   /* lane; status */
                      BLOCK_RUN_FOUND,   /* lane: of a killed runner */
                      BLOCK_RUN_NOTE,    /* text */
};
struct block_run_view {
    enum block_run_news news;
    const struct block_run_lane *lane;
    int status;       /* of the child, as waitpid tells it */
    const char *text; /* translated */
    const struct block_run_plan *plan;
    const struct block_run_lane *lanes; /* that run something */
    size_t lane_count;
};

/* What would be run. "block-unknown", "block-lanes", "usage-bad-value" (--gpus). */
int work_block_plan(struct work_study *study, const struct block_run_options *options,
                    struct arena *arena, struct block_run_plan *ret, struct err *err);
/* Runs it; show is called at each change and once a second, may be NULL. reopen: reads study and
 * ledger anew and closes what it gave before (the caller knows how). "block-running", "block-lanes"
 * and those of work_block_plan; in *ret the reason why nothing more is started. */
int work_block_run(const struct block_run_options *options,
                   int (*reopen)(void *context, struct work_study **ret_study, struct err *err),
                   void (*show)(const struct block_run_view *view, void *context), void *context,
                   struct arena *arena, struct block_run_result *ret, struct err *err);
