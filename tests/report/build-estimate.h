/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Index rows and estimates built by hand for the tests of report/. */
#pragma once

#include "rules/repeat.h"
#include "store/store.h"

extern const struct store_entry build_entries[];
extern const size_t build_entry_count;

enum build_estimate {
    BUILD_ESTIMATE_THREE_RUNS = 0, /* an interval, load and compute apart */
    BUILD_ESTIMATE_ONE_RUN,        /* a value and no interval, an open part */
    BUILD_ESTIMATE_NONE,           /* nothing counts */
    BUILD_ESTIMATE_COUNT_
};
struct repeat_estimate build_estimate(enum build_estimate kind, const struct run *used,
                                      const struct run *excluded, struct arena *arena);
