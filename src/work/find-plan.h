/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the plan is. Looks at names only; reads no plan. */
#pragma once

#include "base/err.h"
#include "base/mem.h"

/* "none" from either of them means no plan. --plan, else PROBELAUF_PLAN, else the first
 * probelauf.yaml from the current folder upwards (not above the home folder or the file system's
 * top). NULL in *ret_path when there is none; a named one that is not there is an error
 * ("plan-unreadable"), and so is what has that name and is no file. */
int work_find_plan(const char *flag, struct arena *arena, const char **ret_path, struct err *err);
