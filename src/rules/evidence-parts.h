/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What evidence.c, study.c and claims.c share; internal to rules/. Every sentence is translated and
 * lives in the arena; values out of records and plans are shortened and made printable, since both
 * may hold anything.
 */
#pragma once

#include "rules/evidence.h"

/* A text of a record or plan as it stands in a sentence: one printable line of limited length; ""
 * for NULL. */
const char *evidence_shown(const char *text, struct arena *arena);
/* "policy=evict keep=0.5"; "" without pairs. */
const char *evidence_pairs_text(const struct plan_pairs *pairs, struct arena *arena);
/* Two sentences as one; either may be NULL. */
const char *evidence_joined(const char *a, const char *b, struct arena *arena);

/* Is that what a record says of the planned value? Secrets are masked in records. */
bool evidence_is_recorded_value(const char *name, const char *planned, const char *recorded);

/* Why the run does not belong to the condition as the plan has it now: another study, paper
 * version, parameter, command. NULL: it does. */
const char *evidence_why_other_condition(const struct run *run, const struct plan *plan,
                                         const struct plan_condition *condition,
                                         struct arena *arena);

/* The same model of GPU, vendor and blanks apart? */
bool evidence_is_same_gpu(const char *run, const char *target);
/* The model of all GPUs of the run; where they differ, all of them in one text. NULL: not known of
 * every device. */
const char *evidence_gpu_model(const struct run *run, struct arena *arena);

/*
 * What the record says against the run having been made in `environment` (GPU, driver, packages and
 * parts of the machine in `match`); NULL: nothing. strict: what the environment states and the
 * record does not know counts as well, and what the environment leaves open must be as in the
 * reference (NULL: none).
 */
const char *evidence_why_not_environment(const struct run *run,
                                         const struct plan_environment *environment,
                                         const struct run *reference, bool strict,
                                         struct arena *arena);
