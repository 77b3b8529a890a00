/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Claims and verify blocks held against the results of the runs that count (C7). Internal to
 * rules/; called by study_derive when blocks and runs are joined. Pure. */
#pragma once

#include "rules/study.h"

/* Fills study->claims and study->repeat_checks. */
void claims_derive(struct study *study, struct arena *arena);
