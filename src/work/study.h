/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A study as a command works with it: the plan found and read, the study's runs loaded, the code
 * looked at as it is now, all joined by rules/study.h. And the small records about a study: freezes
 * of blocks, frozen estimates.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "plan/plan.h"
#include "rules/study.h"
#include "work/find-plan.h"
#include "work/runs.h"
#include "work/session.h"

#include <stdbool.h>
#include <stddef.h>

struct work_study {
    struct arena *arena;
    struct plan *plan; /* owned */
    struct run **runs; /* owned, newest first: `input` and `study` point to them */
    size_t run_count;
    bool more; /* there are older runs of the study, beyond WORK_STUDY_RUNS_MAX: not looked at */
    const char *unreadable; /* "" or one translated line about records that could not be read */
    json_t *code;           /* what the probe says of the code now; owned */
    json_t *events;         /* the study's events, oldest first, each with its `id`; owned */
    json_t *code_paths;     /* of the plan; NULL: the usual ones; owned */
    struct work_sessions sessions; /* of the study: `input` points to them */
    struct study_input input;
    struct study study;
};
#define WORK_STUDY_RUNS_MAX 2000u

struct work_study_options {
    const char *environment; /* --env: id; NULL: PROBELAUF_ENV, else the plan's first */
    bool look_at_code;       /* false: the code now is not known (fast commands) */
    bool look_at_past;       /* what other studies did is looked at, too: for an estimate */
};

/* Takes the plan over (also on failure). "environment-unknown"; errors of runs. Call
 * work_study_done also after a failure. */
int work_study_open(struct plan *take_plan, const struct work_study_options *options,
                    struct runs *runs, struct work_study *ret, struct err *err);
void work_study_done(struct work_study *study);
/* Joins the parts again, after something in `input` or `events` was changed. */
void work_study_derive(struct work_study *study);
#define AUTO_WORK_STUDY __attribute__((cleanup(work_study_done)))

/* The block of that id, or NULL with "block-unknown". */
const struct study_block *work_study_block(const struct work_study *study, const char *id,
                                           struct err *err);
/* Takes an event that was just written in among those that were read. */
void work_study_remember(struct work_study *study, const json_t *event, const char *id);

/* ---- block freeze (C8) ---- */

struct work_freeze {
    char event[UUID_TEXT_SIZE]; /* id */
    size_t inputs;              /* that the block names */
    size_t files;               /* whose content was digested */
    uint64_t bytes;
};
/* Records conditions, code and inputs (with their SHA-256; progress is called with bytes read so
 * far, may be NULL) of the block. "block-unknown"; "block-stopped" (-EBUSY: open facts, the caller
 * lists study->blocks[].stopped_by); "code-unknown", "code-dirty" (uncommitted changes under
 * code.paths), "input-unreadable". */
int work_block_freeze(struct work_study *study, const struct place *place, struct store *store,
                      const char *block, void (*progress)(uint64_t bytes, void *context),
                      void *context, struct work_freeze *ret, struct err *err);

/* ---- what is kept under a name ---- */

/* Writes an event that holds `name`, unless is_free refuses it: it is asked with the study's
 * events as they are, and once more while nobody else can write to the ledger, since another
 * process may have used the name meanwhile. */
int work_study_keep(struct work_study *study, const struct place *place, struct runs *runs,
                    const json_t *event, const char *name,
                    int (*is_free)(const json_t *events, const char *name, struct err *err),
                    struct err *err);

/* ---- frozen estimates ---- */

#define WORK_FROZEN_NAME_MAX 64u
/* Letters, digits, '.', '_' and '-', not beginning like an option or a hidden file. */
bool work_is_name(const char *name);
struct work_frozen {
    const char *event, *name, *who;
    const char *environment; /* NULL: the plan named none */
    int64_t utc_ns;
    json_t *estimate;     /* borrowed: probelauf.estimate/1 as it was; NULL: another document, which
                             `outdated` says */
    const char *outdated; /* translated: what changed since (plan, code, environment, method); NULL:
                             nothing */
};
/* Keeps an estimate under a name; "estimate-name" for a bad or taken one. Of several processes that
 * want the same name at once one gets it, as long as the ledger can be written. */
int work_estimate_freeze(struct work_study *study, const struct place *place, struct runs *runs,
                         const char *name, const json_t *estimate, struct err *err);
/* All frozen estimates of the study, newest first, in study->arena. */
size_t work_estimate_frozen(const struct work_study *study, struct work_frozen **ret);
