/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the records of sessions: begun, stopped, a reason said. What a record says is looked at
 * once more while nobody else can write to the ledger, so that of many starts at once one remains;
 * where the ledger cannot be had, the rule by which sessions are read sees to that.
 */
#include "work/session.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "work/event.h"
#include "work/session-here.h"
#include "work/session-parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A clock that is read a moment later than the one that said "now". */
#define FUTURE_NS (5 * NS_PER_S)

static json_t *session_event(const char *type, const char *study, const char *about,
                             const struct session_moment *now) {
    json_t *event = event_begin(type, now->utc_ns);
    json_t *clock = json_object();
    if (study)
        json_put_text(event, "study", study);
    if (about)
        json_put_text(event, "about", about);
    if (now->host)
        json_put_text(event, "host", now->host);
    if (now->machine)
        json_put_text(event, "machine", now->machine);
    if (now->boot_id)
        json_put_text(clock, "boot_id", now->boot_id);
    json_put_int(clock, "boottime_ns", now->boot_ns);
    json_put_int(clock, "utc_ns", now->utc_ns);
    json_put(event, "clock", clock);
    return event;
}

static int check_past(int64_t utc_ns, const char *option, struct err *err) {
    if (utc_ns <= clock_utc_ns() + FUTURE_NS)
        return 0;
    return err_set(err, -EINVAL, "session-future",
                   "'%s' lies in the future by this machine's clock: give a time that has passed",
                   option);
}

static void add_time(struct strbuf *out, int64_t utc_ns) {
    clock_format_utc(utc_ns, out);
}

/* ---- start ---- */

static const char *nearest_environment(const struct plan *plan, const char *id) {
    AUTO_FREE const char **ids = mem_alloc((plan->environment_count + 1) * sizeof(*ids));
    size_t count = 0;
    for (size_t i = 0; i < plan->environment_count; i++)
        if (plan->environments[i].id)
            ids[count++] = plan->environments[i].id;
    return str_nearest(id, ids, count);
}

static int check_environment(const struct plan *plan, const char *id, struct err *err) {
    if (!id || plan_environment_find(plan, id))
        return 0;
    const char *near = nearest_environment(plan, id);
    if (near)
        return err_set(err, -EINVAL, "environment-unknown",
                       "the plan has no environment '%s'; did you mean '%s'?", id, near);
    return err_set(err, -EINVAL, "environment-unknown",
                   "the plan has no environment '%s': add it under 'environments:'", id);
}

static int find_offer(const struct plan *plan, const char *id, const struct plan_offer **ret_offer,
                      struct err *err) {
    AUTO_FREE const char **ids = mem_alloc((plan->offer_count + 1) * sizeof(*ids));
    size_t count = 0;
    for (size_t i = 0; i < plan->offer_count; i++) {
        if (!plan->offers[i].id)
            continue;
        if (strcmp(plan->offers[i].id, id) == 0) {
            *ret_offer = &plan->offers[i];
            return 0;
        }
        ids[count++] = plan->offers[i].id;
    }
    const char *near = str_nearest(id, ids, count);
    if (near)
        return err_set(err, -EINVAL, "offer-unknown",
                       "the plan has no offer '%s'; did you mean '%s'?", id, near);
    return err_set(err, -EINVAL, "offer-unknown",
                   "the plan has no offer '%s': add it under 'offers:'", id);
}

/* What was said, and what the plan makes of it. */
struct start_facts {
    const char *study, *environment, *offer;
    bool has_gpus;
    int64_t gpus;
};

static int check_plan(const struct work_session_start *start, struct start_facts *ret,
                      struct err *err) {
    const struct plan *plan = start->plan;
    const struct plan_offer *offer = NULL;
    *ret = (struct start_facts){.environment = start->environment,
                                .offer = start->offer,
                                .has_gpus = start->has_gpus,
                                .gpus = start->gpus};
    if (!plan)
        return 0;
    ret->study = plan->study.id;
    int rc = check_environment(plan, start->environment, err);
    if (rc == 0 && start->offer)
        rc = find_offer(plan, start->offer, &offer, err);
    if (rc < 0)
        return rc;
    if (offer && offer->environment && !ret->environment)
        ret->environment = offer->environment;
    if (offer && offer->environment && strcmp(offer->environment, ret->environment) != 0)
        return err_set(err, -EINVAL, "offer-environment",
                       "offer '%s' is for environment '%s', not for '%s': leave out '--env', or "
                       "name an offer for '%s'",
                       start->offer, offer->environment, ret->environment, ret->environment);
    if (!ret->environment && plan->environment_count == 1)
        ret->environment = plan->environments[0].id;
    const struct plan_environment *environment =
        ret->environment ? plan_environment_find(plan, ret->environment) : NULL;
    if (!ret->has_gpus && environment && environment->gpus.given && environment->gpus.value >= 0) {
        ret->has_gpus = true;
        ret->gpus = environment->gpus.value;
    }
    return 0;
}

static json_t *start_event(const struct work_session_start *start, const struct start_facts *facts,
                           const struct session_moment *now) {
    json_t *event = session_event("session-start", facts->study, NULL, now);
    event_put_text(event, "environment", facts->environment);
    event_put_text(event, "offer", facts->offer);
    event_put_text(event, "note", start->note);
    if (facts->has_gpus)
        json_put_int(event, "gpus", facts->gpus);
    if (start->began_utc_ns > 0)
        json_put_int(event, "began_utc_ns", start->began_utc_ns);
    return event;
}

static bool is_same_host(const struct session *session, const struct session_moment *now) {
    return session->host && now->host && strcmp(session->host, now->host) == 0;
}

static int refuse_running(const struct session *session, const struct session_moment *now,
                          struct err *err) {
    AUTO_STRBUF struct strbuf since = STRBUF_INIT;
    add_time(&since, session->started_utc_ns);
    if (!is_same_host(session, now))
        return err_set(err, -EBUSY, "session-running",
                       "a session runs on this machine since %s, begun under the name '%s': "
                       "'probelauf session status' shows it, 'probelauf session stop' ends it",
                       strbuf_str(&since), session->host ? session->host : "");
    return err_set(err, -EBUSY, "session-running",
                   "a session runs on this machine since %s: 'probelauf session status' shows it, "
                   "'probelauf session stop' ends it (with '--at TIME' where it was over earlier)",
                   strbuf_str(&since));
}

struct start_check {
    struct runs *runs;
    const struct session_moment *now;
    int64_t began_utc_ns;
};

static bool is_of_here(const struct session *session, const struct session_moment *now) {
    const struct session_moment there = {.host = session->host, .machine = session->machine};
    return session_is_same_machine(&there, now);
}

/* Asked while nobody else can write. What cannot be read may well be a session that runs. */
static int may_start(void *context, struct err *err) {
    const struct start_check *check = context;
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    int rc = work_sessions_glimpse(
        check->runs, check->began_utc_ns > 0 ? check->began_utc_ns : INT64_MAX, &sessions, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < sessions.list.count; i++) {
        const struct session *session = &sessions.list.items[i];
        if (session->superseded_by)
            continue;
        if (session->state == SESSION_RUNNING) /* of a container of this machine, too */
            return refuse_running(session, check->now, err);
        if (!is_of_here(session, check->now))
            continue;
        if (check->began_utc_ns > 0 && check->began_utc_ns < session->ended_utc_ns) {
            AUTO_STRBUF struct strbuf ended = STRBUF_INIT;
            add_time(&ended, session->ended_utc_ns);
            return err_set(err, -EINVAL, "session-overlap",
                           "a session of this machine ended at %s: one that began before would "
                           "count that time twice; give '--began' a later time",
                           strbuf_str(&ended));
        }
    }
    return runs_need_ledger(check->runs, err);
}

/* Without a ledger two processes may both have seen none: the one that began first counts. */
static int check_won(const struct place *place, const char *id, struct err *err) {
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    struct err ignored = ERR_INIT;
    const struct session *own = NULL, *other = NULL;
    if (runs_open(place, &runs, &ignored) < 0 ||
        work_sessions_open(runs, WORK_SESSIONS_TIMES, NULL, &sessions, &ignored) < 0 ||
        work_session_find(&sessions, id, &own, &ignored) < 0 || !own->superseded_by ||
        work_session_find(&sessions, own->superseded_by, &other, &ignored) < 0)
        return 0;
    return refuse_running(other, &sessions.input.now, err);
}

int work_session_start(const struct place *place, struct runs *runs,
                       const struct work_session_start *start, char ret_id[UUID_TEXT_SIZE],
                       struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct start_facts facts;
    int rc = check_past(start->began_utc_ns, "--began", err);
    rc = rc < 0 ? rc : check_plan(start, &facts, err);
    if (rc < 0)
        return rc;
    const struct session_moment now = work_session_now(arena);
    struct start_check check = {.runs = runs, .now = &now, .began_utc_ns = start->began_utc_ns};
    AUTO_JSON json_t *event = start_event(start, &facts, &now);
    rc =
        event_write_if(place, runs_store(runs), facts.study, event, may_start, &check, ret_id, err);
    rc = rc < 0 || runs_store(runs) ? rc : check_won(place, ret_id, err);
    const struct session_here here = {.id = ret_id,
                                      .environment = json_get_text(event, "environment", NULL),
                                      .offer = json_get_text(event, "offer", NULL)};
    if (rc == 0)
        session_here_put(place, &here, &now);
    return rc;
}

/* ---- which session is meant ---- */

static int find_session(const struct work_sessions *sessions, const char *ref,
                        const struct session **ret_session, struct err *err) {
    return ref ? work_session_find(sessions, ref, ret_session, err)
               : work_session_find_running(sessions, ret_session, err);
}

/* ---- stop ---- */

struct stop_check {
    struct runs *runs;
    bool again;
    const char *id;
};

static int refuse_stopped(const struct session *session, struct err *err) {
    AUTO_STRBUF struct strbuf when = STRBUF_INIT;
    add_time(&when, session->ended_utc_ns);
    return err_set(
        err, -EALREADY, "session-stopped",
        "the session was stopped already, at %s: 'probelauf session stop %s --again --at "
        "TIME' corrects that time",
        strbuf_str(&when), uuid_tail(session->id));
}

static int may_stop(void *context, struct err *err) {
    const struct stop_check *check = context;
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    struct err ignored = ERR_INIT;
    const struct session *session = NULL;
    if (work_sessions_glimpse_one(check->runs, check->id, &sessions, &ignored) < 0 ||
        work_session_find(&sessions, check->id, &session, &ignored) < 0)
        return 0;
    return session->state == SESSION_STOPPED && !check->again ? refuse_stopped(session, err) : 0;
}

/* A later end must not reach into the session that came next on that machine. */
static int check_next(const struct work_sessions *sessions, const struct session *session,
                      int64_t at_utc_ns, struct err *err) {
    const struct session_moment here = {.host = session->host, .machine = session->machine};
    for (size_t i = 0; i < sessions->list.count; i++) {
        const struct session *next = &sessions->list.items[i];
        if (next->superseded_by || next->started_utc_ns <= session->started_utc_ns ||
            next->started_utc_ns >= at_utc_ns || !is_of_here(next, &here))
            continue;
        AUTO_STRBUF struct strbuf began = STRBUF_INIT;
        add_time(&began, next->started_utc_ns);
        return err_set(err, -EINVAL, "session-overlap",
                       "the next session of this machine began at %s: give '--at' an earlier time",
                       strbuf_str(&began));
    }
    return 0;
}

static int check_again(const struct work_sessions *sessions, const struct session *session,
                       int64_t at_utc_ns, struct err *err) {
    if (session->state != SESSION_STOPPED)
        return err_set(err, -EINVAL, "session-not-stopped",
                       "the session has not been stopped yet: leave out '--again'");
    return check_next(sessions, session, at_utc_ns, err);
}

static int check_stop(const struct session *session, int64_t at_utc_ns, bool again,
                      int64_t now_utc_ns, struct err *err) {
    if (session->state == SESSION_STOPPED && !again)
        return refuse_stopped(session, err);
    if (session->state == SESSION_UNENDED && at_utc_ns == 0)
        return err_set(err, -EINVAL, "session-elsewhere",
                       "the session is of machine '%s', not of this one: say when it ended with "
                       "'probelauf session stop %s --at TIME'",
                       session->host ? session->host : "", uuid_tail(session->id));
    if (at_utc_ns > 0 && session_axis(session, at_utc_ns, now_utc_ns) < 0.0) {
        AUTO_STRBUF struct strbuf began = STRBUF_INIT;
        add_time(&began, session->started_utc_ns);
        return err_set(err, -EINVAL, "session-stop-before-start",
                       "the session began at %s: it cannot have ended before; give '--at' a "
                       "later time",
                       strbuf_str(&began));
    }
    return check_past(at_utc_ns, "--at", err);
}

int work_session_stop(const struct place *place, struct runs *runs, const char *ref,
                      int64_t at_utc_ns, bool again, char ret_id[UUID_TEXT_SIZE], struct err *err) {
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    const struct session *session = NULL;
    char event_id[UUID_TEXT_SIZE];
    int rc = work_sessions_glimpse(runs, ref ? 0 : INT64_MAX, &sessions, err);
    rc = rc < 0 ? rc : find_session(&sessions, ref, &session, err);
    if (rc < 0 && runs_need_ledger(runs, err) < 0)
        return err->code; /* it may be in what cannot be read */
    const struct session_moment now = work_session_now(sessions.arena);
    rc = rc < 0 ? rc : check_stop(session, at_utc_ns, again, now.utc_ns, err);
    rc = rc == 0 && again ? check_again(&sessions, session, at_utc_ns, err) : rc;
    if (rc < 0)
        return rc;
    struct stop_check check = {.runs = runs, .again = again, .id = session->id};
    AUTO_JSON json_t *event = session_event("session-stop", session->study, session->id, &now);
    if (at_utc_ns > 0)
        json_put_int(event, "at_utc_ns", at_utc_ns);
    if (again)
        json_put_bool(event, "again", true);
    rc = event_write_if(place, runs_store(runs), session->study, event, may_stop, &check, event_id,
                        err);
    if (rc == 0) {
        session_here_drop(place, session->id);
        memcpy(ret_id, session->id, UUID_TEXT_SIZE);
    }
    return rc;
}

/* ---- note ---- */

struct span {
    double from_s, to_s;
};

static int no_gap(const struct session *session, struct err *err) {
    if (session->state == SESSION_RUNNING)
        return err_set(err, -EINVAL, "session-no-gap",
                       "a run is running, so no gap goes on: name one with '--gap N' "
                       "('probelauf session status' numbers them)");
    return err_set(err, -EINVAL, "session-no-gap",
                   "the session is over: name a gap of it with '--gap N' ('probelauf session "
                   "status %s' numbers them)",
                   session->id);
}

static int find_gap(const struct session *session, int64_t number, struct span *ret,
                    struct err *err) {
    for (size_t i = 0; i < session->gap_count; i++)
        if ((int64_t)session->gaps[i].number == number) {
            *ret = (struct span){session->gaps[i].start_s, session->gaps[i].end_s};
            return 0;
        }
    return err_set(err, -ENOENT, "session-gap-unknown",
                   "there is no gap %lld: the session has %zu ('probelauf session status' numbers "
                   "them)",
                   (long long)number, session->gap_count);
}

static const struct session_gap *gap_at(const struct session *session, double at_s) {
    for (size_t i = 0; i < session->gap_count; i++)
        if (session->gaps[i].start_s <= at_s && at_s <= session->gaps[i].end_s)
            return &session->gaps[i];
    return NULL;
}

static bool touches_gap(const struct session *session, const struct span *span) {
    for (size_t i = 0; i < session->gap_count; i++)
        if (span->from_s < session->gaps[i].end_s && session->gaps[i].start_s < span->to_s)
            return true;
    return false;
}

/* An end that is not given is that of the gap that the other lies in. */
static int find_span(const struct session *session, const struct work_session_note *note,
                     int64_t now_utc_ns, struct span *ret, struct err *err) {
    const struct session_gap *gap;
    int rc = check_past(note->from_utc_ns, "--from", err);
    rc = rc < 0 ? rc : check_past(note->to_utc_ns, "--to", err);
    if (rc < 0)
        return rc;
    ret->from_s = session_axis(session, note->from_utc_ns, now_utc_ns);
    ret->to_s = session_axis(session, note->to_utc_ns, now_utc_ns);
    if (note->from_utc_ns == 0) {
        gap = gap_at(session, ret->to_s);
        ret->from_s = gap ? gap->start_s : 0.0;
    }
    if (note->to_utc_ns == 0) {
        gap = gap_at(session, ret->from_s);
        ret->to_s = gap ? gap->end_s : session->length_s;
    }
    ret->from_s = fmax(ret->from_s, 0.0);
    ret->to_s = fmin(ret->to_s, session->length_s);
    if (note->from_utc_ns > 0 && note->to_utc_ns > 0 && note->from_utc_ns > note->to_utc_ns)
        return err_set(err, -EINVAL, "session-span",
                       "'--from' is later than '--to': '--from' is the earlier one ('--from 30m "
                       "--to 20m')");
    if (!(ret->from_s < ret->to_s)) {
        AUTO_STRBUF struct strbuf began = STRBUF_INIT;
        add_time(&began, session->started_utc_ns);
        return err_set(err, -EINVAL, "session-span",
                       "between '--from' and '--to' lies no time of the session: it began at %s; "
                       "'--from' is the earlier one",
                       strbuf_str(&began));
    }
    if (!touches_gap(session, ret))
        return err_set(err, -EINVAL, "session-no-gap",
                       "runs were running all that time: there is no gap to explain");
    return 0;
}

static int find_about(const struct session *session, const struct work_session_note *note,
                      int64_t now_utc_ns, struct span *ret, struct err *err) {
    if (note->gap > 0)
        return find_gap(session, note->gap, ret, err);
    if (note->from_utc_ns > 0 || note->to_utc_ns > 0)
        return find_span(session, note, now_utc_ns, ret, err);
    const struct session_gap *gap = session_running_gap(session);
    if (!gap)
        return no_gap(session, err);
    *ret = (struct span){gap->start_s, gap->end_s};
    return 0;
}

#define LONGEST_S 8e9

static int64_t nanoseconds(double seconds) {
    return llround(fmin(seconds, LONGEST_S) * (double)NS_PER_S);
}

/* What reaches to now in a gap that goes on means its end, too. */
static bool reaches_now(const struct session *session, const struct work_session_note *note,
                        const struct span *span) {
    const struct session_gap *running = session_running_gap(session);
    return running && note->to_utc_ns == 0 && span->to_s >= running->end_s;
}

int work_session_note(const struct place *place, struct runs *runs,
                      const struct work_session_note *note, struct work_session_noted *ret,
                      struct err *err) {
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    const struct session *session = NULL;
    struct span span = {0};
    char event_id[UUID_TEXT_SIZE];
    int rc = work_sessions_open_ref(runs, note->ref, &sessions, &session, err);
    if (rc < 0)
        return rc;
    struct session_moment now = sessions.input.now; /* the moment that the gaps were seen at */
    rc = find_about(session, note, now.utc_ns, &span, err);
    if (rc < 0)
        return rc;
    AUTO_JSON json_t *event = session_event("session-note", session->study, session->id, &now);
    json_put_text(event, "reason", session_reason_name(note->reason));
    event_put_text(event, "text", note->text);
    json_put_int(event, "from_t_ns", nanoseconds(span.from_s));
    if (!reaches_now(session, note, &span))
        json_put_int(event, "to_t_ns", nanoseconds(span.to_s));
    rc = event_write(place, runs_store(runs), session->study, event, event_id, err);
    if (rc == 0) {
        *ret = (struct work_session_noted){.from_s = span.from_s, .to_s = span.to_s};
        memcpy(ret->session, session->id, UUID_TEXT_SIZE);
    }
    return rc;
}
