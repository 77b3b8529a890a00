/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An amount of money as a limit of time, for `run --max-cost` and `block run --max-cost`: the
 * longest rental of its own whose bill stays within it, under the one usable offer that is meant.
 * Refused, before anything starts, where no offer can be relied on.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/plan.h"

#include <stdint.h>

struct cost_limit_request {
    const struct plan *plan;   /* NULL: none is at hand */
    const char *amount;        /* "20EUR", "12.50 NAIRR SU" */
    const char *offer;         /* --offer; NULL: not said */
    const char *session_offer; /* of the session that runs here; NULL: none */
    const char *environment;   /* id; NULL: not said */
    int64_t grace_ns;          /* between TERM and KILL: it is paid, too */
    int64_t now_utc_ns;
};

struct cost_limit {
    const struct plan_offer *offer;
    int64_t micros, max_time_ns;
    const char *text; /* translated: "20.00 EUR under offer 'a' (2.49 EUR per hour)" */
};

/* Is it an amount with a currency? "usage-bad-value". */
int work_cost_limit_check(const char *amount, struct err *err);
/* "max-cost-offer", "max-cost-currency", "max-cost-short". Texts in arena. */
int work_cost_limit(const struct cost_limit_request *request, struct arena *arena,
                    struct cost_limit *ret, struct err *err);
/* What START keeps of it (docs/journal-format.md). */
json_t *work_cost_limit_json(const struct cost_limit *limit);
