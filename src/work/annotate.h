/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What people say about a run afterwards. Each statement is a small record (EVENT journal) of its
 * own: nothing that was recorded is ever changed, and a later statement of the same kind overrides
 * an earlier one when the run is read.
 */
#pragma once

#include "base/err.h"
#include "base/uuid.h"
#include "store/store.h"
#include "work/place.h"

#include <stdbool.h>

struct annotation {      /* what is NULL or false is not said */
    bool invalid, valid; /* at most one of them */
    const char *why, *change, *disposition, *note;
};

/* run: full run id. store: takes the record in at once; NULL: it waits in the journal folder. The
 * record is durable when this returns 0, even if the ledger could not be had then.
 * "annotation-empty", "annotation-contradiction", "journal-no-place". */
int annotate_run(const struct place *place, struct store *store, const char *run,
                 const struct annotation *annotation, char ret_event[UUID_TEXT_SIZE],
                 struct err *err);
