/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data that counts as code: without code.paths every tracked file does, also an input or output of
 * a block, and then a change of the data makes every run count no more. Asks git; changes nothing.
 */
#pragma once

#include "base/mem.h"
#include "model/plan.h"

#include <stddef.h>

struct plan_data {
    const char *path; /* relative to the plan's folder */
    const struct plan_block *block;
    struct plan_at at;
    bool is_output;
};

/* In the order of the plan, each path once; at most WORK_PLAN_DATA_MAX are looked at. None where
 * the plan names code.paths, or git does not tell. */
#define WORK_PLAN_DATA_MAX 16u
size_t work_plan_data(const struct plan *plan, struct arena *arena, struct plan_data **ret_data);
