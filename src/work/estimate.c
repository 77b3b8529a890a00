/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads the runs that an estimate rests on and hands them to the rule. Which of them count is not
 * decided here; a run that is named twice, or has several parts, is one observation.
 */
#include "work/estimate.h"

#include "base/msg.h"
#include "model/outcome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How far back the latest finished run is looked for among running ones. */
#define LATEST_LOOKED_AT 1000u

void work_estimate_done(struct work_estimate *estimate) {
    for (size_t i = 0; i < estimate->run_count; i++)
        estimate->runs[i] = run_free(estimate->runs[i]);
    mem_free_ptr(&estimate->runs);
    estimate->arena = arena_free(estimate->arena);
    *estimate = (struct work_estimate){0};
}

static bool has_run(const struct work_estimate *estimate, const char *id) {
    for (size_t i = 0; i < estimate->run_count; i++)
        if (strcmp(estimate->runs[i]->id, id) == 0)
            return true;
    return false;
}

static int add_entry(struct runs *runs, const struct store_entry *entry,
                     struct work_estimate *estimate, struct err *err) {
    struct run *run = NULL;
    int rc;

    if (has_run(estimate, entry->run))
        return 0;
    rc = runs_load_entry(runs, entry, false, &run, err);
    if (rc < 0)
        return rc;
    estimate->runs = mem_room(estimate->runs, estimate->run_count, sizeof *estimate->runs);
    estimate->runs[estimate->run_count++] = run;
    return 0;
}

static int add_named(struct runs *runs, const char *const *refs, size_t ref_count,
                     struct work_estimate *estimate, struct err *err) {
    for (size_t i = 0; i < ref_count; i++) {
        struct store_entry entry;
        int rc = runs_resolve(runs, refs[i], estimate->arena, &entry, err);
        if (rc < 0)
            return rc;
        rc = add_entry(runs, &entry, estimate, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int find_latest(struct runs *runs, struct arena *arena, const char **ret_group,
                       struct err *err) {
    const struct store_query query = {.type = "run", .limit = LATEST_LOOKED_AT};
    const char *running = outcome_name(OUTCOME_RUNNING);
    struct store_entry *entries = NULL;
    size_t count = 0;

    int rc = runs_list(runs, &query, arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].group_key || !entries[i].outcome ||
            strcmp(entries[i].outcome, running) == 0)
            continue;
        *ret_group = entries[i].group_key;
        return 0;
    }
    return err_set(err, -ENOENT, "run-not-found",
                   "no finished run is recorded; make one with 'probelauf run -- COMMAND'");
}

static int add_group(struct runs *runs, struct work_estimate *estimate, struct err *err) {
    struct store_query query = {.type = "run", .limit = WORK_ESTIMATE_RUNS_MAX + 1};
    struct store_entry *entries = NULL;
    size_t count = 0;
    size_t unreadable = 0;

    int rc = find_latest(runs, estimate->arena, &query.group_key, err);
    if (rc == 0)
        rc = runs_list(runs, &query, estimate->arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    if (count > WORK_ESTIMATE_RUNS_MAX) {
        estimate->older = true;
        count = WORK_ESTIMATE_RUNS_MAX;
    }
    for (size_t i = 0; i < count; i++) {
        struct err one = ERR_INIT;
        unreadable += add_entry(runs, &entries[i], estimate, &one) < 0;
    }
    if (unreadable > 0)
        estimate->unreadable = arena_printf(
            estimate->arena,
            msg_plural((unsigned long)unreadable,
                       "%zu record of this group cannot be read; see 'probelauf ledger check'",
                       "%zu records of this group cannot be read; see 'probelauf ledger check'"),
            unreadable);
    return 0;
}

static int compare_newest_first(const void *a, const void *b) {
    const struct run *x = *(struct run *const *)a;
    const struct run *y = *(struct run *const *)b;
    if (x->started_utc_ns != y->started_utc_ns)
        return x->started_utc_ns < y->started_utc_ns ? 1 : -1;
    return strcmp(y->id, x->id);
}

int work_estimate_make(struct runs *runs, const char *const *refs, size_t ref_count,
                       uint64_t repeats, uint64_t seed, struct work_estimate *ret,
                       struct err *err) {
    *ret = (struct work_estimate){.arena = arena_new(), .unreadable = ""};
    if (repeats < 1 || repeats > REPEAT_MAX)
        return err_set(err, -EINVAL, "estimate-repeats",
                       "the number of further runs must lie between 1 and %llu",
                       (unsigned long long)REPEAT_MAX);
    int rc = ref_count > 0 ? add_named(runs, refs, ref_count, ret, err) : add_group(runs, ret, err);
    if (rc < 0)
        return rc;
    if (ret->run_count > 1)
        qsort(ret->runs, ret->run_count, sizeof *ret->runs, compare_newest_first);

    const struct run **looked_at =
        arena_alloc(ret->arena, (ret->run_count + 1) * sizeof *looked_at);
    for (size_t i = 0; i < ret->run_count; i++)
        looked_at[i] = ret->runs[i];
    repeat_estimate(looked_at, ret->run_count, repeats, seed, ret->arena, &ret->repeat);
    return 0;
}
