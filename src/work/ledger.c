/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeping the ledger: what the store cannot do alone because it does not know what a journal means.
 * Checks and rebuilds derive index rows by the same function as the intake, so that they cannot
 * disagree with it.
 */
#include "work/ledger.h"

#include "base/msg.h"
#include "journal/journal.h"
#include "work/intake.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- check ---- */

struct checking {
    struct store *store;
    store_problem_fn each;
    void *context;
    size_t problems;
    bool other_rules; /* the rows were derived by other rules: they need not be compared */
};

static void found(struct checking *checking, const char *run, const char *part, const char *what) {
    checking->each(run, part, what, checking->context);
    checking->problems++;
}

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Doubles are stored as they are, so they come back the same. */
static bool same_number(double a, double b) {
    return !(a < b) && !(a > b);
}

static bool same_entry(const struct store_entry *a, const struct store_entry *b) {
    return same_text(a->run, b->run) && same_text(a->part, b->part) &&
           same_text(a->type, b->type) && same_text(a->about, b->about) &&
           same_text(a->study, b->study) && a->started_utc_ns == b->started_utc_ns &&
           a->ended_utc_ns == b->ended_utc_ns && same_text(a->outcome, b->outcome) &&
           same_text(a->purpose, b->purpose) && same_text(a->command, b->command) &&
           same_text(a->group_key, b->group_key) && a->has_wall == b->has_wall &&
           (!a->has_wall ||
            (same_number(a->wall_s, b->wall_s) && same_text(a->wall_bound, b->wall_bound)));
}

/* The row of one (run, part); NULL when there is none. */
static int find_row(struct store *store, const char *run, const char *part, struct arena *arena,
                    const struct store_entry **ret_row, struct err *err) {
    struct store_query query = {.id_tail = run};
    struct store_entry *entries;
    size_t count;
    int rc = store_list(store, &query, arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    *ret_row = NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i].run, run) == 0 && strcmp(entries[i].part, part) == 0)
            *ret_row = &entries[i];
    return 0;
}

static int check_one(const char *run, const char *part, const void *bytes, size_t length,
                     void *context, struct err *err) {
    struct checking *checking = context;
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry entry;
    size_t sound = 0;
    struct err why = ERR_INIT;
    if (intake_entry(bytes, length, false, arena, &entry, &sound, &why) < 0) {
        found(checking, run, part, why.text);
        return 0;
    }
    if (sound != length)
        found(checking, run, part, _("the journal is not sound to its end"));
    if (strcmp(entry.run, run) != 0 || strcmp(entry.part, part) != 0) {
        found(checking, run, part, _("the journal belongs to another run"));
        return 0;
    }
    const struct store_entry *row;
    int rc = find_row(checking->store, run, part, arena, &row, err);
    if (rc < 0)
        return rc;
    /* A missing row is store_check's to tell. */
    if (row && !checking->other_rules && !same_entry(row, &entry))
        found(checking, run, part,
              _("the index row differs from its journal: run 'probelauf ledger rebuild'"));
    return 0;
}

static void pass_on(const char *run, const char *part, const char *what, void *context) {
    const struct checking *checking = context;
    checking->each(run, part, what, checking->context);
}

int ledger_check(struct store *store, store_problem_fn each, void *context, size_t *ret_problems,
                 struct err *err) {
    struct checking checking = {.store = store, .each = each, .context = context};
    size_t problems = 0;
    int derivation = 0;
    struct err unknown = ERR_INIT; /* a damaged table is store_check's to tell */
    int known = store_get_derivation(store, &derivation, &unknown);
    checking.other_rules = derivation != STORE_DERIVATION;
    if (known == 0 && derivation < STORE_DERIVATION)
        found(&checking, NULL, NULL,
              _("the index was derived by an older version: run 'probelauf ledger rebuild'"));
    int rc = store_check(store, pass_on, check_one, &checking, &problems, err);
    if (rc < 0)
        return rc;
    *ret_problems = problems + checking.problems;
    return 0;
}

/* ---- rebuild ---- */

struct rebuilding {
    struct store *store;
    size_t journals, unreadable;
};

static int rebuild_row(const char *run, const char *part, const void *bytes, size_t length,
                       void *context, struct err *err) {
    struct rebuilding *rebuilding = context;
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry entry;
    int rc = intake_entry(bytes, length, false, arena, &entry, NULL, err);
    if (rc < 0)
        return err_add(err, rc, "run %s (part %s)", run, part);
    rebuilding->journals++;
    return store_replace_entry(rebuilding->store, &entry, err);
}

int ledger_rebuild_rows(struct store *store, size_t *ret_journals, struct err *err) {
    struct rebuilding rebuilding = {.store = store};
    int rc = store_begin(store, err);
    if (rc < 0)
        return rc;
    rc = store_clear_entries(store, err);
    if (rc == 0)
        rc = store_each_journal(store, rebuild_row, &rebuilding, err);
    if (rc == 0)
        rc = store_set_derivation(store, err);
    if (rc == 0)
        rc = store_commit(store, err);
    if (rc < 0) {
        store_rollback(store);
        return rc;
    }
    *ret_journals = rebuilding.journals;
    return 0;
}

static void ignore_problem(const char *run, const char *part, const char *what, void *context) {
    (void)run;
    (void)part;
    (void)what;
    (void)context;
}

/* 0 and *ret_sound: the ledger is as it should be. Damage is no error here, anything else is. */
static int rebuild_in_place(const char *url, bool *ret_sound, size_t *ret_journals,
                            struct err *err) {
    AUTO_STORE struct store *store = NULL;
    size_t problems = 0;
    *ret_sound = false;
    int rc = store_open(url, STORE_READ_WRITE, &store, err);
    if (rc == 0)
        rc = ledger_rebuild_rows(store, ret_journals, err);
    if (rc == 0)
        rc = ledger_check(store, ignore_problem, NULL, &problems, err);
    if (rc == -EBADMSG || rc == -ENOENT || rc == -EEXIST) { /* by its schema or its journals */
        err_clear(err);
        return 0;
    }
    if (rc < 0)
        return rc;
    *ret_sound = problems == 0;
    return 0;
}

/* The journal's own header says whose it is, not the damaged row. */
static int save_journal(const char *run, const char *part, const void *bytes, size_t length,
                        void *context, struct err *err) {
    struct rebuilding *rebuilding = context;
    bool changed = false;
    struct err why = ERR_INIT;
    (void)run;
    (void)part;
    int rc = intake_bytes(rebuilding->store, bytes, length, &changed, &why);
    if (rc == -EBADMSG || rc == -EEXIST) {
        rebuilding->unreadable++;
        return 0;
    }
    if (rc < 0) {
        *err = why;
        return rc;
    }
    rebuilding->journals += changed;
    return 0;
}

static int save_into(const char *url, const char *new_url, struct ledger_rebuilt *rebuilt,
                     struct err *err) {
    AUTO_STORE struct store *store = NULL;
    size_t unreadable = 0;
    int rc = store_open(new_url, STORE_READ_WRITE, &store, err);
    if (rc < 0)
        return rc;
    struct rebuilding rebuilding = {.store = store};
    rc = store_begin(store, err);
    if (rc == 0)
        rc = store_salvage(url, save_journal, &rebuilding, &unreadable, err);
    if (rc == 0)
        rc = store_commit(store, err);
    if (rc < 0)
        return rc; /* closing rolls back */
    rebuilt->journals = rebuilding.journals;
    rebuilt->unreadable = unreadable == STORE_UNKNOWN_COUNT ? STORE_UNKNOWN_COUNT
                                                            : unreadable + rebuilding.unreadable;
    return 0;
}

/* Nobody may write into the old file any more: it would be in none of the two. One that cannot even
 * be opened cannot be written either. */
static int lock_out_writers(const char *url, struct store **ret_guard, struct err *err) {
    int rc = store_open(url, STORE_READ_WRITE, ret_guard, err);
    if (rc == 0)
        rc = store_begin(*ret_guard, err);
    if (rc == -EBADMSG) {
        err_clear(err);
        return 0;
    }
    return rc;
}

int ledger_rebuild(const char *url, struct ledger_rebuilt *ret_rebuilt, struct err *err) {
    struct ledger_rebuilt rebuilt = {0};
    bool sound;
    int rc = rebuild_in_place(url, &sound, &rebuilt.journals, err);
    if (rc < 0)
        return rc;
    if (!sound) {
        AUTO_FREE char *new_url = NULL;
        AUTO_STORE struct store *guard = NULL;
        rc = lock_out_writers(url, &guard, err);
        if (rc == 0)
            rc = store_spare_url(url, &new_url, err);
        if (rc == 0)
            rc = save_into(url, new_url, &rebuilt, err);
        if (rc == 0)
            rc = store_replace_file(url, new_url, &rebuilt.aside, err);
        if (rc < 0) {
            if (new_url)
                store_discard_spare(new_url);
            return rc;
        }
    }
    *ret_rebuilt = rebuilt;
    return 0;
}

/* ---- purge ---- */

static bool is_chosen(const char *const *runs, size_t count, const char *run) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(runs[i], run) == 0)
            return true;
    return false;
}

static int choose(struct store *store, const struct ledger_purge *what, const char *run,
                  struct arena *arena, struct store_entry **ret_entries, size_t *ret_count,
                  struct err *err) {
    struct store_query query = {
        .type = "run",
        .id_tail = run,
        .study = what->study,
        .until_utc_ns = what->older_than_utc_ns,
    };
    return store_list(store, &query, arena, ret_entries, ret_count, err);
}

int ledger_purge_choose(struct store *store, const struct ledger_purge *what, struct arena *arena,
                        const char *const **ret_runs, size_t *ret_count, struct err *err) {
    bool all = what->run_count == 0;
    struct store_entry *entries = NULL;
    const char **runs = NULL;
    size_t chosen = 0, room = 0, count = 0;
    if (all && !what->study && what->older_than_utc_ns == 0) {
        *ret_count = 0;
        return 0;
    }
    for (size_t i = 0; i < (all ? 1 : what->run_count); i++) {
        int rc = choose(store, what, all ? NULL : what->runs[i], arena, &entries, &count, err);
        if (rc < 0)
            return rc;
        if (chosen + count > room) {
            const char **larger = arena_alloc(arena, 2 * (chosen + count) * sizeof(*larger));
            if (chosen > 0)
                memcpy(larger, runs, chosen * sizeof(*larger));
            runs = larger;
            room = 2 * (chosen + count);
        }
        /* Parts of a run mostly stand together; the few others cost a look through all. */
        for (size_t k = 0; k < count; k++)
            if (!is_chosen(runs, chosen, entries[k].run))
                runs[chosen++] = entries[k].run;
    }
    *ret_runs = (const char *const *)runs;
    *ret_count = chosen;
    return 0;
}

int ledger_purge_events(struct store *store, const struct ledger_purge *what, struct arena *arena,
                        const char *const **ret_events, size_t *ret_count, struct err *err) {
    struct store_entry *entries = NULL;
    size_t count = 0;
    const struct store_query query = {
        .type = "event", .study = what->study, .until_utc_ns = what->older_than_utc_ns};
    if (what->study && what->run_count == 0) {
        int rc = store_list(store, &query, arena, &entries, &count, err);
        if (rc < 0)
            return rc;
    }
    const char **events = arena_alloc(arena, (count + 1) * sizeof(*events));
    for (size_t i = 0; i < count; i++)
        events[i] = entries[i].run;
    *ret_events = (const char *const *)events;
    *ret_count = count;
    return 0;
}
