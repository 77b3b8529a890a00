/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folds the records of one run into struct run: phases, quantities, outcome. Pure: no clock, no
 * files. */
#pragma once

#include "base/err.h"
#include "model/run.h"

#include <stdbool.h>
#include <stddef.h>

/* One journal's bytes. Annotations (EVENT journals about this run) are folded after it, oldest
 * first. */
struct fold_input {
    const void *bytes;
    size_t length;
    bool live; /* a writer is alive: no END means running; otherwise lost */
    const struct fold_event *events;
    size_t event_count;
    struct fold_shared
        *shared; /* between the runs that are folded one after the other; NULL: not */
};
struct fold_event {
    const json_t *payload; /* of the EVENT record */
};

/* What many runs say in the same bytes is parsed and kept once: what is shared must not be changed.
 * Zeroed: empty. Runs that were folded with it may outlive it. */
struct fold_shared {
    char *text; /* of the packages */
    size_t length;
    json_t *packages;
};
void fold_shared_done(struct fold_shared *shared);

/* with_series: decode CHUNKs as well (show, timeline); else series_count is 0. */
int fold_run(const struct fold_input *input, bool with_series, struct run **ret_run,
             struct err *err);
