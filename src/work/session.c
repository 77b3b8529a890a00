/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the records of sessions and the runs that may lie in them. Which do, and what is between
 * them, is decided in rules/session.h. Writes nothing.
 */
#include "work/session.h"

#include "base/root.h"
#include "base/str.h"
#include "base/uuid.h"
#include "probe/machine-key.h"
#include "work/session-parts.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#ifndef HOST_NAME_MAX
#define HOST_NAME_MAX 64
#endif

/* Lists are ordered by UTC, which may have been set meanwhile: so far around a session its runs
 * are looked for. A run that began earlier still is found as long as it lasted no longer. */
#define MARGIN_NS      (INT64_C(2) * 86400 * NS_PER_S)
#define LONGEST_RUN_NS (INT64_C(60) * 86400 * NS_PER_S)

void work_sessions_done(struct work_sessions *sessions) {
    for (size_t i = 0; i < sessions->run_count; i++)
        sessions->runs[i] = run_free(sessions->runs[i]);
    mem_free_ptr(&sessions->runs);
    json_decref_ptr(&sessions->events);
    sessions->arena = arena_free(sessions->arena);
    *sessions = (struct work_sessions){0};
}

struct session_moment work_session_now(struct arena *arena) {
    char boot_id[CLOCK_BOOT_ID_SIZE], key[MACHINE_KEY_SIZE], host[HOST_NAME_MAX + 1] = "";
    struct clock_stamp stamp = clock_now();
    struct session_moment now = {.boot_ns = stamp.boot_ns, .utc_ns = stamp.utc_ns};
    if (clock_boot_id(boot_id) == 0)
        now.boot_id = arena_strdup(arena, boot_id);
    if (gethostname(host, sizeof host - 1) == 0 && host[0])
        now.host = arena_strdup(arena, host);
    if (machine_key(&root_real, key))
        now.machine = arena_strdup(arena, key);
    return now;
}

/* ---- the runs ---- */

/* Around the session where it runs or nobody knows its end: to the latest. */
static bool may_lie_in(const struct session *session, const struct store_entry *entry) {
    int64_t start = entry->started_utc_ns, end = entry->ended_utc_ns;
    if (end <= 0)
        end = INT64_MAX; /* runs, or was lost */
    if (end < session->started_utc_ns - MARGIN_NS)
        return false;
    return session->state != SESSION_STOPPED || start <= session->ended_utc_ns + MARGIN_NS;
}

static bool is_wanted(const struct work_sessions *sessions, const struct session *session,
                      enum work_sessions_what what) {
    switch (what) {
    case WORK_SESSIONS_ONE:
        return !session->superseded_by && strcmp(session->id, sessions->only) == 0;
    case WORK_SESSIONS_ALL:
        return !session->superseded_by;
    case WORK_SESSIONS_RUNNING:
        return session->state == SESSION_RUNNING && !session->superseded_by;
    case WORK_SESSIONS_TIMES:
        break;
    }
    return false;
}

static bool may_lie_in_any(const struct work_sessions *sessions, enum work_sessions_what what,
                           const struct store_entry *entry) {
    const struct session_list *list = &sessions->list;
    for (size_t i = 0; i < list->count; i++)
        if (is_wanted(sessions, &list->items[i], what) && may_lie_in(&list->items[i], entry))
            return true;
    return false;
}

static int64_t earliest(const struct work_sessions *sessions, enum work_sessions_what what) {
    const struct session_list *list = &sessions->list;
    int64_t since = INT64_MAX;
    for (size_t i = 0; i < list->count; i++)
        if (is_wanted(sessions, &list->items[i], what) && list->items[i].started_utc_ns < since)
            since = list->items[i].started_utc_ns;
    return since;
}

static int load_runs(struct work_sessions *sessions, struct runs *runs,
                     enum work_sessions_what what, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries = NULL;
    size_t count = 0;
    int64_t since = earliest(sessions, what);
    if (since == INT64_MAX)
        return 0;
    struct store_query query = {.type = "run"};
    if (since > LONGEST_RUN_NS)
        query.since_utc_ns = since - LONGEST_RUN_NS;
    int rc = runs_list(runs, &query, arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    sessions->runs = mem_alloc((count + 1) * sizeof(*sessions->runs));
    for (size_t i = 0; i < count; i++) {
        struct err one = ERR_INIT;
        if (!may_lie_in_any(sessions, what, &entries[i]))
            continue;
        if (runs_load_entry(runs, &entries[i], false, &sessions->runs[sessions->run_count], &one) <
            0)
            sessions->unreadable++;
        else
            sessions->run_count++;
    }
    return 0;
}

static void derive(struct work_sessions *sessions) {
    const struct run **looked_at =
        arena_alloc(sessions->arena, (sessions->run_count + 1) * sizeof(*looked_at));
    for (size_t i = 0; i < sessions->run_count; i++)
        looked_at[i] = sessions->runs[i];
    sessions->input.events = sessions->events;
    sessions->input.runs = looked_at;
    sessions->input.run_count = sessions->run_count;
    sessions->input.now = work_session_now(sessions->arena); /* after all that was read */
    session_derive(&sessions->input, sessions->arena, &sessions->list);
}

/* Begin and end first: they say which runs are to be read. */
static int derive_all(struct work_sessions *sessions, struct runs *runs,
                      enum work_sessions_what what, struct err *err) {
    derive(sessions);
    int rc = what == WORK_SESSIONS_TIMES ? 0 : load_runs(sessions, runs, what, err);
    if (rc == 0 && what != WORK_SESSIONS_TIMES)
        derive(sessions);
    return rc;
}

int work_sessions_open(struct runs *runs, enum work_sessions_what what, const char *study,
                       struct work_sessions *ret, struct err *err) {
    *ret = (struct work_sessions){.arena = arena_new()};
    int rc = runs_need_ledger(runs, err);
    if (rc == 0 && what == WORK_SESSIONS_RUNNING && !study)
        rc = work_session_events_since(runs, INT64_MAX, &ret->events, err);
    else if (rc == 0)
        rc = runs_events(runs, &(struct store_query){.study = study}, &ret->events, err);
    return rc < 0 ? rc : derive_all(ret, runs, what, err);
}

int work_sessions_open_one(struct runs *runs, const char *id, struct work_sessions *ret,
                           struct err *err) {
    *ret = (struct work_sessions){.arena = arena_new()};
    ret->only = arena_strdup(ret->arena, id);
    int rc = runs_need_ledger(runs, err);
    rc = rc < 0 ? rc : work_session_events_of(runs, id, &ret->events, err);
    return rc < 0 ? rc : derive_all(ret, runs, WORK_SESSIONS_ONE, err);
}

int work_sessions_glimpse(struct runs *runs, int64_t since_utc_ns, struct work_sessions *ret,
                          struct err *err) {
    *ret = (struct work_sessions){.arena = arena_new()};
    int rc = since_utc_ns == 0 ? runs_events(runs, &(struct store_query){0}, &ret->events, err)
                               : work_session_events_since(runs, since_utc_ns, &ret->events, err);
    return rc < 0 ? rc : derive_all(ret, runs, WORK_SESSIONS_TIMES, err);
}

int work_sessions_of_events(struct runs *runs, json_t *events, struct work_sessions *ret,
                            struct err *err) {
    *ret = (struct work_sessions){.arena = arena_new(), .events = json_incref(events)};
    return derive_all(ret, runs, WORK_SESSIONS_ALL, err);
}

int work_sessions_glimpse_one(struct runs *runs, const char *id, struct work_sessions *ret,
                              struct err *err) {
    *ret = (struct work_sessions){.arena = arena_new()};
    int rc = work_session_events_of(runs, id, &ret->events, err);
    return rc < 0 ? rc : derive_all(ret, runs, WORK_SESSIONS_TIMES, err);
}

/* ---- finding one ---- */

int work_session_find_running(const struct work_sessions *sessions,
                              const struct session **ret_session, struct err *err) {
    const struct session *first = session_running(&sessions->list);
    if (!first)
        return err_set(err, -ENOENT, "session-none",
                       "no session runs on this machine: 'probelauf session start' begins one, "
                       "'probelauf session list' shows those that are over");
    for (const struct session *other = first + 1;
         other < sessions->list.items + sessions->list.count; other++)
        if (other->state == SESSION_RUNNING && !other->superseded_by)
            return err_set(err, -EEXIST, "session-ambiguous",
                           "two sessions run on this machine, %s of '%s' and %s of '%s': say which "
                           "one ('--session SESSION' with note, 'session stop SESSION')",
                           uuid_tail(first->id), first->host ? first->host : "",
                           uuid_tail(other->id), other->host ? other->host : "");
    *ret_session = first;
    return 0;
}

static int find_number(const struct work_sessions *sessions, const char *ref,
                       const struct session **ret_session, struct err *err) {
    uint64_t number = 0;
    size_t count = sessions->list.count;
    if (str_to_u64(ref + 1, &number) < 0 || number == 0 || number > count)
        return err_set(err, -ENOENT, "session-not-found",
                       "there is no session '%s': 'probelauf session list' shows them", ref);
    *ret_session = &sessions->list.items[count - number];
    return 0;
}

int work_session_find(const struct work_sessions *sessions, const char *ref,
                      const struct session **ret_session, struct err *err) {
    const struct session *found = NULL;
    if (ref[0] == '@')
        return find_number(sessions, ref, ret_session, err);
    for (size_t i = 0; i < sessions->list.count && ref[0]; i++) {
        const struct session *session = &sessions->list.items[i];
        if (!str_ends_with(session->id, ref))
            continue;
        if (found)
            return err_set(err, -EEXIST, "session-ambiguous",
                           "several sessions end with '%s': write more characters", ref);
        found = session;
    }
    if (!found)
        return err_set(err, -ENOENT, "session-not-found",
                       "there is no session '%s': 'probelauf session list' shows them", ref);
    *ret_session = found;
    return 0;
}

static int find_id(struct runs *runs, const char *ref, char ret_id[UUID_TEXT_SIZE],
                   struct err *err) {
    AUTO_WORK_SESSIONS struct work_sessions all = {0};
    const struct session *session = NULL;
    int rc = runs_need_ledger(runs, err);
    rc = rc < 0 ? rc : work_sessions_glimpse(runs, 0, &all, err);
    rc = rc < 0 ? rc : work_session_find(&all, ref, &session, err);
    if (session != NULL)
        memcpy(ret_id, session->id, UUID_TEXT_SIZE);
    return rc;
}

int work_sessions_open_ref(struct runs *runs, const char *ref, struct work_sessions *ret,
                           const struct session **ret_session, struct err *err) {
    char id[UUID_TEXT_SIZE];
    int rc;
    if (!ref) {
        rc = work_sessions_open(runs, WORK_SESSIONS_RUNNING, NULL, ret, err);
        return rc < 0 ? rc : work_session_find_running(ret, ret_session, err);
    }
    rc = find_id(runs, ref, id, err);
    rc = rc < 0 ? rc : work_sessions_open_one(runs, id, ret, err);
    return rc < 0 ? rc : work_session_find(ret, id, ret_session, err);
}

void work_session_tell_run(struct runs *runs, struct run *run) {
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    struct err ignored = ERR_INIT; /* then it is not said */
    if (runs_need_ledger(runs, &ignored) < 0 ||
        work_sessions_glimpse(runs, run->started_utc_ns > 0 ? run->started_utc_ns : 1, &sessions,
                              &ignored) < 0)
        return;
    const struct run *one[] = {run};
    sessions.input.runs = one;
    sessions.input.run_count = 1;
    session_derive(&sessions.input, sessions.arena, &sessions.list);
    const struct session *session = session_of_run(&sessions.list, run->id);
    if (session)
        json_put_text(run->start, "session", session->id);
}
