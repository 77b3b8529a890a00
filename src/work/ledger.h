/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeping the ledger: check, rebuild, purge, and journals as a stream from one machine to another.
 * What needs both the store and the meaning of journals; printing is the caller's.
 */
#pragma once

#include "base/err.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that store_check finds, and: journals that are not sound to their end, journals that belong
 * to other ids, index rows that are not what their journal says. One callback per problem (run and
 * part NULL where the problem is not one journal's). */
int ledger_check(struct store *store, store_problem_fn each, void *context, size_t *ret_problems,
                 struct err *err);

/* Derives every index row again where it is, in one step; *ret_journals were read. */
int ledger_rebuild_rows(struct store *store, size_t *ret_journals, struct err *err);

struct ledger_rebuilt {
    size_t journals;   /* whose index rows were derived anew */
    size_t unreadable; /* journals that were lost with the damaged file; STORE_UNKNOWN_COUNT */
    char *aside; /* owned: where the damaged file is kept; NULL: the file was good enough to be
                    rebuilt in place */
};
/* Derives every index row again, in one step. A damaged ledger, or one with damaged journals, is
 * read as far as possible into a new file, which takes its place; the old file is kept. */
int ledger_rebuild(const char *url, struct ledger_rebuilt *ret_rebuilt, struct err *err);

struct ledger_purge {
    const char *const *runs; /* full run ids; NULL with run_count 0: chosen by the other two */
    size_t run_count;
    const char *study;         /* NULL: any */
    int64_t older_than_utc_ns; /* started before; 0: any */
};
/* The runs (newest first) that a purge would delete; nothing is deleted. An empty choice chooses
 * nothing. Several conditions must all hold. Delete with store_purge(runs). */
int ledger_purge_choose(struct store *store, const struct ledger_purge *what, struct arena *arena,
                        const char *const **ret_runs, size_t *ret_count, struct err *err);

/* The events about the study itself (freezes, estimates) that such a purge deletes as well: chosen
 * by study, not by runs. */
int ledger_purge_events(struct store *store, const struct ledger_purge *what, struct arena *arena,
                        const char *const **ret_events, size_t *ret_count, struct err *err);

/* All journals as one stream (docs/journal-format.md, "Streams of journals"). */
int ledger_export(struct store *store, int fd, size_t *ret_journals, struct err *err);

struct ledger_imported {
    size_t taken, unchanged,
        damaged; /* damaged: not taken in; the first one's reason is in first_problem */
    char first_problem[1024];
};
/* A stream, several in a row, or one journal file, from any kind of descriptor. What came whole
 * before a cut is taken in; then "stream-cut" (-EPIPE). "not-a-journal" for anything else.
 * ret_imported is filled in either way. */
int ledger_import(struct store *store, int fd, struct ledger_imported *ret_imported,
                  struct err *err);
