/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of JSON documents about a study that several of them hold: blocks, estimate, report.
 * Internal to report/. Each returns a new reference.
 */
#pragma once

#include "base/json.h"
#include "rules/estimate.h"
#include "rules/study.h"

#include <stddef.h>

json_t *study_json_texts(const char *const *texts, size_t count);
json_t *study_json_count(bool known, uint64_t count); /* null where it is open */
json_t *study_json_answer(enum plan_answer answer);
json_t *study_json_pairs(const struct plan_pair *pairs, size_t count);
json_t *study_json_named(const char *name); /* null for "" */
/* "probelauf.yaml:31"; null for what stands nowhere. */
json_t *study_json_source(const struct plan *plan, struct plan_at at);
json_t *study_json_study(const struct study *study); /* id, title, paper, environment, plan, code */
json_t *study_json_blocks(const struct study *study);
json_t *study_json_claims(const struct study *study);
json_t *study_json_repeat_checks(const struct study *study);
json_t *study_json_unplanned(const struct study *study);
/* What was measured of a run leads to it, also where it does not stand in the run's own document.
 */
void study_json_put_of_run(json_t *object, const char *key, const struct quantity *q,
                           const struct run *run);
json_t *study_json_figures(const struct estimate_figures *figures);
