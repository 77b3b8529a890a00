/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ledger: verbatim journals plus an index that can be rebuilt from them. One interface,
 * backends as const ops structs (SQLite now, PostgreSQL later). Schema: docs/ledger-schema.md. All
 * statements bound; no caller sees SQL.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger journals are refused ("journal-too-large"): SQLite holds at most 10^9 bytes in one value.
 */
#define STORE_UNKNOWN_COUNT SIZE_MAX /* some, but nobody knows how many */
#define STORE_JOURNAL_MAX   (UINT64_C(960) << 20)

/* Number of the rules by which index rows are derived from journals (work/entry.c, journal/fold.h,
 * rules/comparable.h). Whoever changes what a row says raises it: ledgers whose rows are older are
 * then derived anew. */
#define STORE_DERIVATION 2

/* One row of the index: what lists and filters need. Derived from the journal by work/intake;
 * rebuildable. */
struct store_entry {
    const char *run, *part;               /* ids; for events: run = the event's own id */
    const char *type;                     /* "run" or "event" */
    const char *about;                    /* run id an event is about, else NULL */
    const char *study;                    /* NULL: none */
    int64_t started_utc_ns, ended_utc_ns; /* ended 0: not known */
    const char *outcome;                  /* outcome_name, NULL for events */
    const char *purpose;                  /* for events their type ("session-stop") */
    const char *command;                  /* one printable line, masked; NULL for events */
    const char
        *group_key; /* digest of what makes runs comparable (rules/comparable.h); NULL for events */
    bool has_wall;
    double wall_s;
    const char *wall_bound; /* "exact", "at-least" */
};

struct store;

enum store_mode {
    STORE_READ_WRITE = 0,
    STORE_READ_ONLY, /* may leave an empty log beside a ledger that is kept with one */
    STORE_LOOK, /* read-only and without a trace, hardly waiting: for what may as well not be found
                 */
};

/*
 * url: "sqlite:PATH" (a plain path that begins with '/' or '.' is one too). Read-write creates
 * folder (0700) and file (0600) and migrates; it never falls back to reading: the caller decides.
 * Read-only never creates ("ledger-missing", -ENOENT). Errors: "ledger-unavailable" (locked beyond
 * the retries, read-only, no space), "ledger-damaged", "ledger-foreign" (a database of another
 * program), "ledger-newer" (written by a newer version), "ledger-unsupported", "ledger-url". One
 * connection belongs to one process: open after fork, never before.
 */
int store_open(const char *url, enum store_mode mode, struct store **ret_store, struct err *err);
/* Whether the URL names a ledger that this build can open at all; looks at nothing but the text. */
int store_check_url(const char *url, struct err *err);
struct store *store_close(struct store *store); /* accepts NULL; returns NULL */
void store_close_ptr(struct store **store);
#define AUTO_STORE __attribute__((cleanup(store_close_ptr)))

/* How long a locked ledger is waited for (10 s unless said otherwise). Reading commands are more
 * impatient. */
void store_set_patience(struct store *store, int64_t patience_ns);

/* Several changes as one durable step: nothing of a batch is kept until store_commit returns 0.
 * store_rollback is allowed after any failure and without a batch. */
int store_begin(struct store *store, struct err *err);
int store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);

/* Takes a journal in, durably (committed and synced when it returns 0). The same (run, part) again:
 * the same or a shorter prefix changes nothing, a longer one replaces it (a journal that was taken
 * in while its writer was thought dead). Neither a prefix of the other: what is stored stays,
 * "journal-conflict" (-EEXIST). Bytes are stored verbatim (compressed) with their SHA-256.
 * *ret_changed tells. */
int store_put(struct store *store, const struct store_entry *entry, const void *journal,
              size_t length, bool *ret_changed, struct err *err);

/* Journal bytes of one (run, part); -ENOENT. Caller frees. */
int store_get(struct store *store, const char *run, const char *part, void **ret_bytes,
              size_t *ret_length, struct err *err);

/* Index rows, newest first (started_utc, run). Strings live in arena. */
struct store_query {
    const char *type;                                  /* NULL: any */
    const char *about;                                 /* events about this run */
    const char *id_tail;                               /* ids that end so */
    const char *study, *outcome, *purpose, *group_key; /* NULL: any */
    const char *text;                                  /* substring of the command */
    int64_t since_utc_ns, until_utc_ns;                /* 0: open */
    const char *after;      /* continue behind this run id ("next" of the page before); unknown:
                               "run-not-found" */
    const char *after_part; /* NULL: behind every part of `after` */
    int64_t after_utc_ns; /* start of `after` where the caller knows it (a running one is not in the
                             ledger); 0: looked up */
    size_t limit;         /* 0: all */
};
int store_list(struct store *store, const struct store_query *query, struct arena *arena,
               struct store_entry **ret_entries, size_t *ret_count, struct err *err);

struct store_info {
    int schema_version;
    uint64_t runs, events, journal_bytes, stored_bytes, file_bytes;
    const char *backend, *place; /* in arena */
    const char *journal_mode;    /* "wal", "delete" */
    bool network_file_system;
};
int store_info(struct store *store, struct arena *arena, struct store_info *ret_info,
               struct err *err);

/* Iterates all journals in the order they were taken in (rebuild, export); no lock is held while
 * `each` runs, so it may be slow and may use the store. Stops at the first negative return of each.
 * A journal whose digest does not fit ends it with "ledger-damaged". */
typedef int (*store_journal_fn)(const char *run, const char *part, const void *bytes, size_t length,
                                void *context, struct err *err);
int store_each_journal(struct store *store, store_journal_fn each, void *context, struct err *err);

/* Verifies: database integrity, schema, digest of every journal, index against journal presence.
 * `each` is called for every problem, `sound` (may be NULL) for every journal whose digest fits:
 * what only readers of journals can see is the caller's part. 0 with *ret_problems counted. */
typedef void (*store_problem_fn)(const char *run, const char *part, const char *what,
                                 void *context);
int store_check(struct store *store, store_problem_fn each, store_journal_fn sound, void *context,
                size_t *ret_problems, struct err *err);

/* By which rules the rows were derived: STORE_DERIVATION, or what an older or newer program left.
 * Rows of a batch that rebuilds all of them are declared to be of this program. */
int store_get_derivation(struct store *store, int *ret_derivation, struct err *err);
int store_set_derivation(struct store *store, struct err *err);

/* Rebuilding the index inside a batch: empty it, then write the row of each journal anew. */
int store_clear_entries(struct store *store, struct err *err);
int store_replace_entry(struct store *store, const struct store_entry *entry, struct err *err);

/* Deletes the journals and rows of these runs and the events about them. */
int store_purge(struct store *store, const char *const *runs, size_t count, size_t *ret_deleted,
                struct err *err);

/* Reads what can still be read of a ledger that store_open refuses as damaged, or that has damaged
 * journals: only journals whose digest fits. The file is opened for reading only. *ret_unreadable:
 * journals known to be there that could not be read. */
int store_salvage(const char *url, store_journal_fn each, void *context, size_t *ret_unreadable,
                  struct err *err);

/* Puts the closed ledger `new_url` into the place of `url`, whose files are kept under the name
 * that *ret_aside (caller frees) tells. Nothing is overwritten. A process that has the old one open
 * notices at its next commit. */
int store_replace_file(const char *url, const char *new_url, char **ret_aside, struct err *err);
/* A name beside the ledger that is free for `new_url` above; caller frees. store_discard_spare
 * deletes what was begun there. */
int store_spare_url(const char *url, char **ret_url, struct err *err);
void store_discard_spare(const char *spare_url);
