/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Candidates that stand in the plan or in the ledger. The ledger is opened for reading only,
 * nothing is taken in, and what cannot be read offers nothing.
 */
#include "cli/complete.h"

#include "cli/cli.h"
#include "cli/view.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "model/plan.h"
#include "plan/plan.h"
#include "report/words.h"
#include "store/store.h"

#include <string.h>

#define RUNS_OFFERED 20u

static void add_plan(const struct complete *complete, const struct plan *plan, const char *kind) {
    if (strcmp(kind, "block") == 0) {
        for (size_t i = 0; i < plan->block_count; i++) {
            complete_add(complete, plan->blocks[i].id, plan->blocks[i].title);
        }
    } else if (strcmp(kind, "env") == 0) {
        for (size_t i = 0; i < plan->environment_count; i++) {
            complete_add(complete, plan->environments[i].id, plan->environments[i].gpu);
        }
    } else if (strcmp(kind, "step") == 0) {
        for (size_t i = 0; i < plan->step_count; i++) {
            complete_add(complete, plan->steps[i].name, NULL);
        }
    } else if (strcmp(kind, "offer") == 0) {
        for (size_t i = 0; i < plan->offer_count; i++) {
            complete_add(complete, plan->offers[i].id, plan->offers[i].provider);
        }
    }
}

/* What could be read of a broken plan is good enough to be offered. */
static void add_from_plan(const struct complete *complete, const char *kind) {
    AUTO_PLAN struct plan *plan = NULL;
    struct err ignored = ERR_INIT;
    (void)view_plan_quietly(complete->arena, &plan, &ignored);
    if (plan != NULL) {
        add_plan(complete, plan, kind);
    }
}

static int list(struct arena *arena, const struct store_query *query,
                struct store_entry **ret_entries, size_t *ret_count) {
    struct err ignored = ERR_INIT;
    struct place place;
    AUTO_STORE struct store *store = NULL;
    int rc = cli_place(arena, &place, &ignored);
    rc = rc < 0 ? rc : store_open(place.ledger_url, STORE_LOOK, &store, &ignored);
    return rc < 0 ? rc : store_list(store, query, arena, ret_entries, ret_count, &ignored);
}

static const char *describe(const struct complete *complete, const struct store_entry *entry) {
    return arena_printf(complete->arena, "%s: %s",
                        words_shown(entry->outcome != NULL ? entry->outcome : ""),
                        entry->command != NULL ? entry->command : "");
}

/* "@1", "@2", …, and once something else is typed ids: short ones as the lists show them, whole
 * ones where the typed text is longer. */
static void add_runs(const struct complete *complete) {
    const struct store_query query = {.type = "run", .limit = RUNS_OFFERED};
    struct store_entry *entries = NULL;
    size_t count = 0;
    if (list(complete->arena, &query, &entries, &count) < 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *what = describe(complete, &entries[i]);
        if (complete->typed[0] == '\0' || complete->typed[0] == '@') {
            complete_add(complete, arena_printf(complete->arena, "@%zu", i + 1), what);
        } else if (str_starts_with(entries[i].run, complete->typed)) {
            complete_add(complete, entries[i].run, what);
        } else {
            complete_add(complete, uuid_tail(entries[i].run), what);
        }
    }
}

static void add_sessions(const struct complete *complete) {
    const struct store_query query = {
        .type = "event", .purpose = "session-start", .limit = RUNS_OFFERED};
    struct store_entry *entries = NULL;
    size_t count = 0;
    if (list(complete->arena, &query, &entries, &count) < 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        complete_add(complete, uuid_tail(entries[i].run), NULL);
    }
}

void complete_add_stored(const struct complete *complete, const char *kind) {
    if (strcmp(kind, "run") == 0) {
        add_runs(complete);
    } else if (strcmp(kind, "session") == 0) {
        add_sessions(complete);
    } else if (*kind != '\0') {
        add_from_plan(complete, kind);
    }
}
