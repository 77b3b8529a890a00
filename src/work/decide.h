/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The use case of `probelauf decide`: one study, estimate and cost for each candidate environment
 * of the plan, each derived for it alone, handed to rules/decide.h; and decisions that were kept
 * (event "decision"). Decides nothing itself.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "rules/decide.h"
#include "work/runs.h"
#include "work/study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* only_target: the study's own environment alone, else all of the plan; a plan without any is
 * walked once. Everything lives in arena and points into the study. Errors of estimate_make. */
int work_decide_make(const struct work_study *study, bool only_target, struct arena *arena,
                     struct decision *ret, struct err *err);

/* Keeps a decision (probelauf.decide/1) under a name: "decision-name" for a bad or taken one. */
int work_decide_keep(struct work_study *study, const struct place *place, struct runs *runs,
                     const char *name, const json_t *document, struct err *err);

struct work_kept_decision {
    const char *event, *name, *who;
    const char *verdict; /* NULL: its record does not tell */
    int64_t utc_ns;
};
/* Newest first, in study->arena. */
size_t work_decide_kept(const struct work_study *study, struct work_kept_decision **ret);
