/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What commands that work with a whole study begin with: place, plan, records, all joined. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "report/study.h"
#include "work/place.h"
#include "work/runs.h"
#include "work/study.h"

struct view_study {
    struct arena *arena;
    struct place place;
    struct runs *runs;
    struct work_study work;
};

/* The plan must be there ("plan-missing"). Says on standard error what could not be looked at.
 * Errors as view_plan and work_study_open; call view_study_done also after a failure. */
int view_study_open(const struct work_study_options *options, struct view_study *ret,
                    struct err *err);
void view_study_done(struct view_study *study);
#define AUTO_VIEW_STUDY __attribute__((cleanup(view_study_done)))

/* The same once more, in English whatever the language: records and what is held against them do
 * not depend on who wrote them. The language stays English until the caller sets it back. */
int view_study_open_again(const struct work_study_options *options, struct view_study *ret,
                          struct err *err);
