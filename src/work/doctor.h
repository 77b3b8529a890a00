/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The use case of `probelauf doctor`: reads this machine and a clone of the code, and hands what it
 * saw to doctor/. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "doctor/doctor.h"
#include "model/plan.h"
#include "work/place.h"

#include <stdbool.h>
#include <stdint.h>

struct doctor_wishes {
    const struct plan *plan; /* NULL: none */
    const char *environment; /* --env, of the plan; NULL: the plan's first */
    bool has_weights;
    double weights_bytes;
    const struct place *place;
    const char *repository; /* --repo; NULL: the plan's folder, where there is a plan */
    bool without_machine;
    bool without_repository;
};

/* Takes seconds (installed packages, the GPU library); nothing is left behind. JSON of the input is
 * kept in the findings' texts only. "environment-unknown" when the plan does not have it;
 * "repository-unreadable". */
int work_doctor(const struct doctor_wishes *wishes, struct arena *arena,
                struct doctor_findings *ret_findings, struct err *err);
