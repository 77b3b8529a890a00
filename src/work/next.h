/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The use case of `probelauf next`: the estimate of the study's target environment, and the advice
 * that follows from it (rules/next.h). Decides nothing itself. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "rules/next.h"
#include "work/study.h"

/* Everything lives in arena and points into the study. Errors of estimate_make. */
int work_next_make(const struct work_study *study, const struct next_options *options,
                   struct arena *arena, struct next_advice *ret, struct err *err);
