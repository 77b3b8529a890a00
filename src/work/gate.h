/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gates (C6): after each block people say whether to go on, change the environment or limit the
 * reproduction, by which criteria and why. The answer is a record (event "gate": block, answer,
 * criteria, why, what the block had come to, plan and code digests); of several the last holds. A
 * block that needs another one waits for the answer go-on.
 */
#pragma once

#include "base/err.h"
#include "base/uuid.h"
#include "rules/gate.h"
#include "work/study.h"

/* "block-unknown", "gate-why" (without a reason). */
int work_gate_answer(struct work_study *study, const struct place *place, struct store *store,
                     const char *block, enum gate_answer answer, const char *why,
                     char ret_event[UUID_TEXT_SIZE], struct err *err);
/* All answers of the study, newest first, in study->arena; study.c puts them into study->input. */
size_t work_gates(const struct work_study *study, struct gate **ret_gates);
