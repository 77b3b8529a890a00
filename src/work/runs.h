/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding and loading runs: from the ledger and, while they run, from their journals. Does the
 * intake first. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "model/run.h"
#include "store/store.h"
#include "work/place.h"

#include <stdbool.h>
#include <stddef.h>

struct runs; /* an open view on ledger + live journals */

/* A ledger that cannot be opened is not fatal while journals can be read: warning (translated) is
 * set and reading goes on from the journals alone. */
int runs_open(const struct place *place, struct runs **ret_runs, struct err *err);
const char *runs_warning(const struct runs *runs); /* "" or one line */
struct store *runs_store(struct runs *runs);       /* NULL when unavailable */
/* 0 if all that was recorded can be seen: the ledger is open, or there is none yet. Else why it is
 * not ("ledger-damaged", "ledger-unavailable", …): who says what has been done so far must not go
 * on, since runs that cannot be read would count as never made. */
int runs_need_ledger(const struct runs *runs, struct err *err);
struct runs *runs_close(struct runs *runs);
void runs_close_ptr(struct runs **runs);
#define AUTO_RUNS __attribute__((cleanup(runs_close_ptr)))

/* Entries newest first, live ones included (outcome "running"). query->after may be any ref. Texts
 * live in arena or in runs. */
int runs_list(struct runs *runs, const struct store_query *query, struct arena *arena,
              struct store_entry **ret_entries, size_t *ret_count, struct err *err);

/* The entry of a run by ref (below); of several parts the one that began first. Texts live in arena
 * or in runs. */
int runs_resolve(struct runs *runs, const char *ref, struct arena *arena,
                 struct store_entry *ret_entry, struct err *err);

/* ref: UUID, any unique tail, "@1" (latest), "@2", …; "run-not-found", "run-ambiguous". */
int runs_load(struct runs *runs, const char *ref, bool with_series, struct run **ret_run,
              struct err *err);
int runs_load_entry(struct runs *runs, const struct store_entry *entry, bool with_series,
                    struct run **ret_run, struct err *err);
/* Journal bytes as they are; caller frees. */
int runs_journal(struct runs *runs, const char *ref, void **ret_bytes, size_t *ret_length,
                 struct err *err);

/* The EVENT records of these entries, in their order, as runs_events gives them. */
int runs_load_events(struct runs *runs, const struct store_entry *const *entries, size_t count,
                     json_t **ret_events, struct err *err);
/* The events that the query chooses (type "event" is meant), oldest first: a new array of their
 * EVENT records, each with its id as `id`. Those that hold no sound record are left out. */
int runs_events(struct runs *runs, const struct store_query *query, json_t **ret_events,
                struct err *err);
