/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The joining of runs and conditions under study.c; internal to rules/. */
#pragma once

#include "rules/study.h"

/*
 * Fills study->runs (all but sums) and in every study_condition its runs, evidence and counts.
 * study->blocks and their conditions must be laid out, with `planned` and `freeze` set.
 */
void study_join(struct study *study, struct arena *arena);
