/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers at gates, and what stands in the way of running a block. Pure. */
#pragma once

#include "base/mem.h"
#include "model/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gate_answer {
    GATE_NONE = 0,
    GATE_GO_ON,
    GATE_CHANGE_ENVIRONMENT,
    GATE_LIMIT,
    GATE_ANSWER_COUNT_
};
const char *gate_answer_name(enum gate_answer answer); /* "go-on", "change-environment", "limit" */
bool gate_answer_from_name(const char *name, enum gate_answer *ret_answer);

struct gate {
    const char *id, *block, *why, *who, *criteria; /* criteria: the plan's words then; NULL: none */
    enum gate_answer answer;
    int64_t utc_ns;
    uint64_t done, planned; /* of the block then */
    bool has_planned;       /* false: the plan left the number open then */
};

/* The last answer of the block, or NULL. gates: newest first. */
const struct gate *gate_of(const struct gate *gates, size_t count, const char *block);

/* Why the block may not be run: open facts that stop its kind, data protection that is not settled
 * (E5), a block that it needs and whose gate is not answered with go-on. Translated lines with the
 * place in the plan and what to do. */
struct study;
size_t gate_obstacles(const struct study *study, const struct plan_block *block,
                      struct arena *arena, const char *const **ret_lines);
