/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From records to sessions (session.h): which of them count, which runs belong to which. The parts
 * are in session-*.c. A record that cannot be read as what it says it is, is left out.
 */
#include "rules/session.h"

#include "base/clock.h"
#include "rules/session-parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_type(const json_t *event, const char *type) {
    return strcmp(json_get_text(event, "type", ""), type) == 0;
}

/* By the moment of recording; of several at once the id decides. */
static int compare_events(const json_t *a, const json_t *b) {
    int64_t x = json_get_int(a, "utc_ns", 0), y = json_get_int(b, "utc_ns", 0);
    if (x != y)
        return x < y ? -1 : 1;
    return strcmp(json_get_text(a, "id", ""), json_get_text(b, "id", ""));
}

static int by_record(const void *a, const void *b) {
    return compare_events(*(const json_t *const *)a, *(const json_t *const *)b);
}

/* An event about a session: kept with what it is about, so that each session finds its own. */
struct about {
    const char *session;
    const json_t *event;
};

static int by_session(const void *a, const void *b) {
    const struct about *x = a, *y = b;
    int order = strcmp(x->session, y->session);
    return order ? order : compare_events(x->event, y->event);
}

struct events {
    const json_t **starts; /* the first recorded first */
    size_t start_count;
    struct about *rest; /* notes and stops, by session, the first recorded first */
    size_t rest_count;
};

static void sort_out(const struct session_input *input, struct arena *arena,
                     struct events *events) {
    size_t most = json_array_size(input->events);
    struct session_moment moment;
    *events = (struct events){.starts = arena_alloc(arena, (most + 1) * sizeof(*events->starts)),
                              .rest = arena_alloc(arena, (most + 1) * sizeof(*events->rest))};
    for (size_t i = 0; i < most; i++) {
        const json_t *event = json_array_get(input->events, i);
        if (is_type(event, "session-start") && session_moment_of_event(event, &moment))
            events->starts[events->start_count++] = event;
        else if ((is_type(event, "session-note") || is_type(event, "session-stop")) &&
                 session_moment_of_event(event, &moment))
            events->rest[events->rest_count++] =
                (struct about){json_get_text(event, "about", ""), event};
    }
    if (events->start_count > 1)
        qsort(events->starts, events->start_count, sizeof(*events->starts), by_record);
    if (events->rest_count > 1)
        qsort(events->rest, events->rest_count, sizeof(*events->rest), by_session);
}

/* Where those about the session begin. */
static size_t find_about(const struct events *events, const char *session) {
    size_t low = 0, high = events->rest_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(events->rest[middle].session, session) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- one session, without its runs ---- */

static void read_start(struct session_work *work) {
    struct session *session = work->session;
    const json_t *event = work->start;
    int64_t began = json_get_int(event, "began_utc_ns", 0), gpus = json_get_int(event, "gpus", -1);
    (void)session_moment_of_event(event, &work->began);
    *session = (struct session){
        .id = json_get_text(event, "id", ""),
        .study = json_get_text(event, "study", NULL),
        .environment = json_get_text(event, "environment", NULL),
        .offer = json_get_text(event, "offer", NULL),
        .note = json_get_text(event, "note", NULL),
        .who = json_get_text(event, "who", NULL),
        .host = work->began.host,
        .machine = work->began.machine,
        .has_gpus = gpus >= 0,
        .gpus = gpus >= 0 ? (uint64_t)gpus : 0,
        .began_is_given = began > 0 && began < work->began.utc_ns,
        .started_utc_ns = work->began.utc_ns,
    };
    if (session->began_is_given)
        session->started_utc_ns = began;
}

/* Of several stops the first holds: a session that was over cannot end later. Only one that says
 * that it corrects an earlier one takes its place. */
static void read_stop(struct session_work *work, const json_t *event) {
    if (!work->stop || json_get_bool(event, "again", 0) == 1)
        work->stop = event;
}

static void read_session(struct session_work *work, const struct session_input *input,
                         const struct events *events, struct arena *arena) {
    read_start(work);
    const char *id = work->session->id;
    size_t first = find_about(events, id), end = first;
    while (end < events->rest_count && strcmp(events->rest[end].session, id) == 0)
        end++;
    work->notes = arena_alloc(arena, (end - first + 1) * sizeof(*work->notes));
    for (size_t i = first; i < end; i++)
        if (is_type(events->rest[i].event, "session-note"))
            work->notes[work->note_count++] = events->rest[i].event;
        else
            read_stop(work, events->rest[i].event);
    session_find_frames(work, input, arena);
    session_find_length(work, input);
}

/* ---- two at once ---- */

/* Where `later`, which was recorded later, begins and ends on the axis of `first`. */
static bool overlap(struct session_work *first, const struct session_work *later) {
    double recorded = session_at(first, &later->began);
    double start = recorded - (double)(later->began.utc_ns - later->session->started_utc_ns) / 1e9;
    if (start + later->session->length_s <= 0.0)
        return false;
    /* where no end is recorded, the next one's start is what is known of it */
    if (first->session->state == SESSION_UNENDED) {
        first->session->length_s = fmin(first->session->length_s, fmax(start, 0.0));
        return start <= 0.0;
    }
    return start < first->session->length_s || first->session->state == SESSION_RUNNING;
}

static void find_superseded(struct session_work *works, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i && !works[i].session->superseded_by; k++)
            if (!works[k].session->superseded_by &&
                session_is_same_machine(&works[k].began, &works[i].began) &&
                overlap(&works[k], &works[i]))
                works[i].session->superseded_by = works[k].session->id;
}

/* ---- runs ---- */

enum belonging { BELONGS_NOT = 0, BY_HOST, BY_BOOT, BY_BOTH, BY_WORD };

static bool has_boot(const struct session_work *work, const char *boot_id) {
    for (size_t i = 0; i < work->frame_count && boot_id; i++)
        if (work->frames[i].is_certain && work->frames[i].boot_id &&
            strcmp(work->frames[i].boot_id, boot_id) == 0)
            return true;
    return false;
}

static enum belonging belonging_of(const struct session_work *work, const struct run *run,
                                   const struct session_input *input, struct session_run *ret) {
    struct session_moment moment;
    const struct session *session = work->session;
    if (session->superseded_by || !session_run_moment(run, &moment) ||
        !session_place_run(work, run, &input->now, ret) || ret->end_s < 0.0 ||
        ret->start_s > session->length_s)
        return BELONGS_NOT;
    bool host = session_is_same_machine(&work->began, &moment);
    bool boot = has_boot(work, moment.boot_id);
    if (strcmp(json_get_text(run->start, "session", ""), session->id) == 0)
        return BY_WORD;
    return host && boot ? BY_BOTH : boot ? BY_BOOT : host ? BY_HOST : BELONGS_NOT;
}

static int by_start(const void *a, const void *b) {
    const struct session_run *x = a, *y = b;
    if (x->start_s < y->start_s || x->start_s > y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    return strcmp(x->run, y->run);
}

static bool has_run(const struct session *session, const char *id) {
    for (size_t i = 0; i < session->run_count; i++)
        if (strcmp(session->runs[i].run, id) == 0)
            return true;
    return false;
}

/* To the sessions that it belongs to best: more than one where it ran on beyond the end of one. */
static void assign_run(struct session_work *works, size_t count, const struct run *run,
                       const struct session_input *input) {
    enum belonging best = BELONGS_NOT;
    struct session_run placed;
    for (size_t i = 0; i < count; i++) {
        enum belonging one = belonging_of(&works[i], run, input, &placed);
        best = one > best ? one : best;
    }
    for (size_t i = 0; i < count && best != BELONGS_NOT; i++) {
        struct session *session = works[i].session;
        if (belonging_of(&works[i], run, input, &placed) != best || has_run(session, run->id))
            continue;
        placed.start_s = fmax(placed.start_s, 0.0);
        placed.end_s = fmin(placed.end_s, session->length_s);
        session->runs[session->run_count++] = placed;
    }
}

static void assign_runs(struct session_work *works, size_t count, const struct session_input *input,
                        struct arena *arena) {
    for (size_t i = 0; i < count; i++)
        works[i].session->runs =
            arena_alloc(arena, (input->run_count + 1) * sizeof(*works[i].session->runs));
    for (size_t i = 0; i < input->run_count; i++)
        assign_run(works, count, input->runs[i], input);
    for (size_t i = 0; i < count; i++)
        if (works[i].session->run_count > 1)
            qsort(works[i].session->runs, works[i].session->run_count,
                  sizeof(*works[i].session->runs), by_start);
}

/* ---- the whole ---- */

void session_derive(const struct session_input *input, struct arena *arena,
                    struct session_list *ret_list) {
    struct events events;
    sort_out(input, arena, &events);
    size_t count = events.start_count;
    struct session *sessions = arena_alloc(arena, (count + 1) * sizeof(*sessions));
    struct session_work *works = arena_alloc(arena, (count + 1) * sizeof(*works));
    for (size_t i = 0; i < count; i++) {
        works[i] = (struct session_work){.session = &sessions[i], .start = events.starts[i]};
        read_session(&works[i], input, &events, arena);
    }
    find_superseded(works, count);
    assign_runs(works, count, input, arena);
    for (size_t i = 0; i < count; i++) {
        session_find_gaps(&works[i], arena);
        session_find_restarts(&works[i], input, arena);
        session_sum(&works[i], input, arena);
    }
    *ret_list = (struct session_list){sessions, count};
    session_find_paid(ret_list, NULL, arena);
}

/* ---- questions ---- */

const struct session *session_running(const struct session_list *list) {
    const struct session *found = NULL;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].state == SESSION_RUNNING && !list->items[i].superseded_by && !found)
            found = &list->items[i];
    return found;
}

const struct session *session_of_run(const struct session_list *list, const char *run) {
    for (size_t i = 0; i < list->count; i++)
        if (has_run(&list->items[i], run))
            return &list->items[i];
    return NULL;
}

const struct session_gap *session_running_gap(const struct session *session) {
    for (size_t i = 0; i < session->gap_count; i++)
        if (session->gaps[i].running)
            return &session->gaps[i];
    return NULL;
}

double session_idle_since_run(const struct session *session) {
    double covered = 0.0;
    for (size_t i = 0; i < session->run_count; i++) {
        if (session->runs[i].running)
            return 0.0;
        covered = fmax(covered, session->runs[i].end_s);
    }
    return session->length_s - covered;
}
