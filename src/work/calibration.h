/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What reviews taught (rules/calibration.h), kept in the ledger as events "review-outcome" and read
 * back. Of two events about the same block the later holds; nothing that was recorded is changed.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "rules/calibration.h"
#include "work/runs.h"
#include "work/study.h"

#include <stddef.h>

/* Outcomes of all studies of the ledger, oldest first, in arena. Errors of runs_events. */
int work_calibration_read(struct runs *runs, struct arena *arena,
                          struct calibration_record **ret_records, size_t *ret_count,
                          struct err *err);

/* Sets review->calibration from what was kept and what the review itself says, in arena; it stays
 * NULL where the ledger cannot be read. */
void work_calibration_of_review(struct runs *runs, const struct work_study *study,
                                struct arena *arena, struct review *review);

/* Sets `calibrated` of the estimate and its blocks, in arena; it stays NULL where the ledger cannot
 * be read. */
void work_calibration_of_estimate(struct runs *runs, const struct work_study *study,
                                  struct arena *arena, struct estimate *estimate);

/* Keeps the outcomes of a review: an event a block, but none where the last one about it says the
 * same. Errors of work_study_keep. */
int work_calibration_keep(struct work_study *study, const struct place *place, struct runs *runs,
                          const struct review *review, struct err *err);
