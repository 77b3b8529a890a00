/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of a plan: what the plan says of the command that is about to be measured, and what the run
 * has become when it has ended. Measuring comes first: a plan that is broken, or does not know what
 * was said, is a warning, unless there is no command without it.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "exec/exec.h"
#include "plan/plan.h"
#include "work/place.h"
#include "work/session-here.h"

#include <stdbool.h>
#include <stddef.h>

/* What the user said; borrowed. */
struct plan_run_request {
    const char *plan;              /* --plan or NULL */
    const char *block;             /* --block or NULL */
    const char *step;              /* --step or NULL */
    const char *environment;       /* --env or PROBELAUF_ENV; NULL: not said */
    struct session_here session;   /* that runs on this machine; all NULL: none is known */
    const struct plan_pair *given; /* -c */
    size_t given_count;
    const char *const *argv; /* NULL: the command is the plan's */
    const char *cwd;         /* where it runs already (--attach); NULL: it will run here */
};

struct plan_run {
    struct arena *arena;
    struct plan *plan;                      /* owned; NULL: none, or none that can be used */
    const struct plan_block *block;         /* said, or the only one with the condition */
    const struct plan_condition *condition; /* NULL: none that is known */
    const struct plan_step *step;
    const char *environment; /* said, else the session's where the plan has it */
    const char *session;     /* id; NULL: none is known */
    const char *const *argv; /* what to run, NULL-terminated */
    const char *cwd;         /* as in the request */
    const char *folder;      /* absolute: where the plan's command runs; NULL: here */
    const char **warnings;   /* translated, to be said before the start */
    size_t warning_count;
};

/* Finds and reads the plan. Fails only where nothing can be run: "plan-unreadable" for a named plan
 * that is not there; without a command "plan-missing", "plan-broken", "plan-condition",
 * "plan-command", "step-unknown". Call plan_run_done also after a failure. */
int plan_run_find(const struct plan_run_request *request, struct plan_run *ret, struct err *err);
void plan_run_done(struct plan_run *run);
#define AUTO_PLAN_RUN __attribute__((cleanup(plan_run_done)))

/* Adds what belongs to START (docs/journal-format.md, "A run of a plan"). To be called in the
 * folder that the command starts in. */
void plan_run_put_start(const struct plan_run *run, json_t *start);
/* Adds the plan's inputs, outputs, checks, results, patterns and code paths behind what is there.
 * Paths that were given relative to here are made absolute where the command runs elsewhere. What
 * cannot be used is one more warning. */
void plan_run_fill(struct plan_run *run, struct exec_options *exec);

/* One sentence (translated) about what the run has become, if it can be told within a second;
 * otherwise where it can be read. Reads the ledger in a process of its own. Call before the
 * recorder is released. */
void plan_run_sentence(const struct plan_run *run, const struct place *place, const char *run_id,
                       const char *journal_path, struct strbuf *out);
