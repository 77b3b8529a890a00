/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reading commands begin with: the place, the open view on ledger and live journals, the plan.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "plan/plan.h"
#include "work/place.h"
#include "work/runs.h"

/* Ledger and journal folders by option, variable, configuration file, built-in. -EINVAL: broken
 * configuration. */
int cli_place(struct arena *arena, struct place *ret_place, struct err *err);

/* Opens and says the view's warning, if any, on standard error. */
int view_open(struct arena *arena, struct runs **ret_runs, struct err *err);

/* Finds the plan by option, variable, folder; reads it and says on standard error, one line each,
 * all that is wrong with it (warnings only with -v). *ret_plan: owned by the caller. Without a plan
 * NULL, or "plan-missing" if it is required. *ret_warnings: those of the plan, in its arena; may be
 * NULL. After complaints the return is -EINVAL and err has an empty text: cli_error() adds nothing
 * to them. */
int view_plan(struct arena *arena, bool required, struct plan **ret_plan,
              struct plan_complaints *ret_warnings, struct err *err);

/* Only for what is nice to know: says nothing, and fails where there is no plan, or a broken one.
 */
int view_plan_quietly(struct arena *arena, struct plan **ret_plan, struct err *err);

/* The complaints of a plan, one line each, on standard error. */
void view_complain(const char *path, const struct plan_complaints *complaints, bool with_warnings);
