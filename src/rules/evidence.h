/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which run counts for what (DESIGN section 6). Derived whenever it is read, never stored. A run is
 * evidence for a condition in an environment only if all of it fits; otherwise it is shown with the
 * first reason why it does not. Pure. docs/evidence.md.
 */
#pragma once

#include "base/mem.h"
#include "model/plan.h"
#include "model/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum evidence_level {
    EVIDENCE_NONE = 0,
    EVIDENCE_FUNCTION_TEST, /* fits but for its purpose, its environment or smaller inputs */
    EVIDENCE_MEASURED,
    EVIDENCE_LEVEL_COUNT_
};
const char *
evidence_level_name(enum evidence_level level); /* "none", "function-test", "measured" */

/* Inputs and code that were frozen for a block (`block freeze`); folded from an event record. */
struct evidence_freeze {
    const char *id; /* of the event */
    const char *block;
    int64_t utc_ns;
    const char *code_digest, *plan_digest; /* NULL: was not known */
    json_t *inputs; /* array as in a run's START record (path, kind, bytes, items, identity, …),
                       borrowed; NULL: none were named */
    json_t *conditions; /* array of condition ids, borrowed */
    json_t *replaces; /* array of the ids of freezes of the block that were there when it was made,
                         borrowed; NULL: not said */
};

/* What a run is held against. */
struct evidence_target {
    const struct plan *plan;
    const struct plan_environment *environment; /* NULL: the plan names none */
    const char *code_digest; /* of the tracked files under code.paths as they are now; NULL: not
                                known */
    json_t *code_paths;      /* array of the path specs that the digest covers, borrowed; NULL: the
                                usual ones */
    const struct evidence_freeze *freeze; /* of the block, takes the place of the code now; NULL:
                                             not frozen */
    const struct run *reference; /* newest run of the condition that fits all that the target
                                    states: what the plan leaves open (inputs, versions of `match`
                                    packages) is compared with it; may be the run itself; NULL:
                                    none, then that is not compared */
};

struct evidence {
    enum evidence_level level;
    const char *why; /* translated, in arena; NULL when it counts (level measured) */
    bool verified;   /* its result was checked: by its expectations, or declared valid */
};

/* condition: what the run belongs to. */
void evidence_judge(const struct run *run, const struct plan_condition *condition,
                    const struct evidence_target *target, struct arena *arena,
                    struct evidence *ret_evidence);

/* The environment that a run was made in: the one it names, the plan's only one, or the only one
 * that its record does not contradict; NULL with a translated reason otherwise. */
const struct plan_environment *evidence_environment(const struct plan *plan, const struct run *run,
                                                    struct arena *arena, const char **ret_why);
