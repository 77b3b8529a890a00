/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the code needs (code.requires) against what a candidate environment says it has (A6): part
 * by part, as the plan writes both. What one of them does not say is open, never "fits". Pure.
 */
#pragma once

#include "base/mem.h"
#include "model/plan.h"

#include <stddef.h>

enum fit_answer { FIT_OPEN = 0, FIT_YES, FIT_NO };

struct fit_part {
    enum { FIT_ACCELERATOR = 0, FIT_ARCHITECTURE, FIT_PACKAGE } what;
    const char *name;   /* of the package; NULL: none */
    const char *wanted; /* "cuda, rocm", "8.0, 9.0", ">=2.4"; NULL: the plan does not say it */
    const char *has;    /* NULL: the environment does not say it */
    enum fit_answer answer;
    struct plan_at at; /* of what is wanted; line 0: nowhere */
};

/* The accelerator always; compute capabilities where the code names any and runs there on CUDA;
 * each package that it requires. In arena. */
size_t plan_fit(const struct plan *plan, const struct plan_environment *environment,
                struct arena *arena, struct fit_part **ret_parts);

/* Machine code for one of them runs on the device: the same major number and no greater minor one;
 * "9.0a" on that device alone; PTX ("9.0+PTX", "compute_90") on every later one (CUDA C++
 * Programming Guide, "Binary Compatibility", "PTX Compatibility"). Open: a text that is none. */
enum fit_answer fit_architecture(const struct plan_texts *wanted, const char *capability);
