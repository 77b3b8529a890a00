/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moments of a session on one axis: seconds since it began. BOOTTIME within a boot; where the
 * machine was restarted, UTC ties the boots together. Never trusts a record: a clock that
 * contradicts the order of events is overruled by that order, and it is said.
 */
#include "rules/session-parts.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

static bool same_text(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static bool is_same_boot(const struct session_moment *a, const char *boot_id) {
    return same_text(a->boot_id, boot_id);
}

bool session_is_same_machine(const struct session_moment *a, const struct session_moment *b) {
    if (!same_text(a->host, b->host))
        return false;
    return is_same_boot(a, b->boot_id) || !a->machine || !b->machine ||
           strcmp(a->machine, b->machine) == 0;
}

bool session_is_here(const struct session_moment *a, const struct session_moment *b) {
    return session_is_same_machine(a, b) || is_same_boot(a, b->boot_id);
}

/* The year 2223: sums of what lies below stay within 64 bits. */
#define LATEST_NS INT64_C(8000000000000000000)

static bool read_clock(const json_t *clock, const char *boot_key, const char *utc_key,
                       struct session_moment *moment) {
    static const int64_t missing = INT64_MIN;
    moment->boot_id = json_get_text(clock, "boot_id", NULL);
    moment->boot_ns = json_get_int(clock, boot_key, missing);
    moment->utc_ns = json_get_int(clock, utc_key, missing);
    if (moment->boot_ns < 0 ||
        moment->boot_ns > LATEST_NS) { /* no time since a boot: UTC has to do */
        moment->boot_id = NULL;
        moment->boot_ns = 0;
    }
    return moment->utc_ns > 0 && moment->utc_ns <= LATEST_NS;
}

bool session_moment_of_event(const json_t *event, struct session_moment *ret_moment) {
    *ret_moment = (struct session_moment){.host = json_get_text(event, "host", NULL),
                                          .machine = json_get_text(event, "machine", NULL)};
    return read_clock(json_get_object(event, "clock"), "boottime_ns", "utc_ns", ret_moment);
}

bool session_run_moment(const struct run *run, struct session_moment *ret_moment) {
    *ret_moment = (struct session_moment){
        .host = json_get_text(run->start, "host", NULL),
        .machine = json_get_text(run->start, "machine", NULL),
    };
    return read_clock(json_get_object(run->start, "clock"), "start_boottime_ns", "start_utc_ns",
                      ret_moment);
}

/* Differences of any two records: they may hold anything, so not in int64_t. */
static double seconds_between(int64_t from_ns, int64_t to_ns) {
    return ((double)to_ns - (double)from_ns) / (double)NS_PER_S;
}

static double exact_seconds(int64_t from_ns, int64_t to_ns) {
    int64_t difference;
    return __builtin_sub_overflow(to_ns, from_ns, &difference)
               ? seconds_between(from_ns, to_ns)
               : (double)difference / (double)NS_PER_S;
}

int64_t session_utc(const struct session *session, double at_s) {
    double ns = at_s * (double)NS_PER_S;
    int64_t utc_ns;
    if (!(ns > -(double)LATEST_NS) ||
        __builtin_add_overflow(session->started_utc_ns,
                               ns < (double)LATEST_NS ? (int64_t)llround(ns) : LATEST_NS, &utc_ns))
        return LATEST_NS;
    return utc_ns < LATEST_NS ? utc_ns : LATEST_NS;
}

/* ---- frames ---- */

static struct session_frame *find_frame(const struct session_work *work, const char *boot_id) {
    for (size_t i = 0; i < work->frame_count && boot_id; i++)
        if (same_text(work->frames[i].boot_id, boot_id))
            return &work->frames[i];
    return NULL;
}

static double by_utc(const struct session_work *work, int64_t utc_ns) {
    return exact_seconds(work->session->started_utc_ns, utc_ns);
}

double session_at(const struct session_work *work, const struct session_moment *moment) {
    const struct session_frame *frame = find_frame(work, moment->boot_id);
    if (!frame)
        return by_utc(work, moment->utc_ns);
    return frame->axis_s + exact_seconds(frame->boot_ns, moment->boot_ns);
}

static void note_moment(struct session_work *work, const struct session_moment *moment,
                        bool is_own) {
    struct session_frame *frame = find_frame(work, moment->boot_id);
    if (!moment->boot_id)
        return;
    if (!frame) {
        if (work->frame_count == work->frame_room)
            return; /* as many as there are moments: cannot be */
        frame = &work->frames[work->frame_count++];
        *frame = (struct session_frame){
            .boot_id = moment->boot_id, .boot_ns = moment->boot_ns, .utc_ns = moment->utc_ns};
    } else if (frame != &work->frames[0] && moment->boot_ns < frame->boot_ns) {
        frame->boot_ns = moment->boot_ns;
        frame->utc_ns = moment->utc_ns;
    }
    frame->is_certain |= is_own;
}

/* Of its machine: what tells how the boots of that machine lie. */
static bool is_of_machine(const struct session_work *work, const struct session_moment *moment) {
    return session_is_same_machine(&work->began, moment) ||
           is_same_boot(&work->began, moment->boot_id);
}

static void sort_frames(struct session_work *work) {
    for (size_t i = 2; i < work->frame_count; i++)
        for (size_t k = i; k > 1 && work->frames[k].utc_ns < work->frames[k - 1].utc_ns; k--) {
            struct session_frame swap = work->frames[k];
            work->frames[k] = work->frames[k - 1];
            work->frames[k - 1] = swap;
        }
}

/* The latest of the session's own records in a boot, and of the runs that it has there. */
static double latest_in(const struct session_work *work, const struct session_input *input,
                        const struct session_frame *frame) {
    double latest = frame->axis_s;
    struct session_moment moment;
    for (size_t i = 0; i <= work->note_count; i++) {
        const json_t *event = i < work->note_count ? work->notes[i] : work->stop;
        if (event && session_moment_of_event(event, &moment) &&
            is_same_boot(&moment, frame->boot_id))
            latest = fmax(latest, session_at(work, &moment));
    }
    for (size_t i = 0; i < input->run_count; i++) {
        struct session_run placed;
        if (!session_run_moment(input->runs[i], &moment) ||
            !is_same_boot(&moment, frame->boot_id) ||
            !session_place_run(work, input->runs[i], &input->now, &placed))
            continue;
        latest = fmax(latest, placed.end_s);
    }
    return latest;
}

/* A later boot cannot begin before what was seen in an earlier one. */
static void tie_frames(struct session_work *work, const struct session_input *input) {
    double latest = latest_in(work, input, &work->frames[0]);
    for (size_t i = 1; i < work->frame_count; i++) {
        struct session_frame *frame = &work->frames[i];
        frame->axis_s = by_utc(work, frame->utc_ns);
        if (!frame->is_certain)
            continue;
        if (frame->axis_s < latest) {
            work->session->unsure_s += latest - frame->axis_s;
            frame->axis_s = latest;
        }
        latest = latest_in(work, input, frame);
    }
}

void session_find_frames(struct session_work *work, const struct session_input *input,
                         struct arena *arena) {
    struct session_moment moment;
    work->frame_room = work->note_count + input->run_count + 3;
    work->frames = arena_alloc(arena, work->frame_room * sizeof(*work->frames));
    work->frames[0] = (struct session_frame){
        .boot_id = work->began.boot_id,
        .boot_ns = work->began.boot_ns,
        .utc_ns = work->began.utc_ns,
        .axis_s = exact_seconds(work->session->started_utc_ns, work->began.utc_ns),
        .is_certain = true,
    };
    work->frame_count = 1;
    for (size_t i = 0; i <= work->note_count; i++) {
        const json_t *event = i < work->note_count ? work->notes[i] : work->stop;
        if (event && session_moment_of_event(event, &moment) && is_of_machine(work, &moment))
            note_moment(work, &moment, true); /* of another machine: only its UTC counts */
    }
    if (!work->stop && is_of_machine(work, &input->now))
        note_moment(work, &input->now, true);
    for (size_t i = 0; i < input->run_count; i++)
        if (session_run_moment(input->runs[i], &moment) && is_of_machine(work, &moment))
            note_moment(work, &moment, false);
    sort_frames(work);
    tie_frames(work, input);
}

/* ---- how long it lasted ---- */

static bool is_here(const struct session_work *work, const struct session_moment *now) {
    return session_is_same_machine(&work->began, now) || find_frame(work, now->boot_id) != NULL;
}

/* The latest that is known of a session whose end is not: of its records and of its machine's
 * runs. */
static double find_seen(const struct session_work *work, const struct session_input *input) {
    double seen = work->frames[0].axis_s;
    for (size_t i = 0; i < work->frame_count; i++)
        if (work->frames[i].is_certain)
            seen = fmax(seen, latest_in(work, input, &work->frames[i]));
    for (size_t i = 0; i < input->run_count; i++) {
        struct session_moment moment;
        struct session_run placed;
        if (session_run_moment(input->runs[i], &moment) &&
            session_is_same_machine(&work->began, &moment) &&
            session_place_run(work, input->runs[i], &input->now, &placed))
            seen = fmax(seen, placed.end_s);
    }
    return fmax(seen, 0.0);
}

/* Within one boot UTC and BOOTTIME pass alike, unless the clock was set, or one of two records was
 * written in a time namespace, whose BOOTTIME is another. Nobody can tell which: it is said. */
#define APART_S 600.0

static void find_apart(struct session_work *work, const struct session_moment *end) {
    const struct session_moment *began = &work->began;
    if (!is_same_boot(began, end->boot_id))
        return;
    double apart =
        seconds_between(began->utc_ns, end->utc_ns) - seconds_between(began->boot_ns, end->boot_ns);
    if (fabs(apart) > APART_S)
        work->session->clocks_apart_s = apart;
}

static void end_at(struct session *session, double length_s) {
    session->length_s = length_s > 0.0 && isfinite(length_s) ? length_s : 0.0;
}

void session_find_length(struct session_work *work, const struct session_input *input) {
    struct session *session = work->session;
    struct session_moment stop;
    if (work->stop && session_moment_of_event(work->stop, &stop)) {
        int64_t given = json_get_int(work->stop, "at_utc_ns", 0);
        double end = session_at(work, &stop);
        session->state = SESSION_STOPPED;
        find_apart(work, &stop);
        session->ended_is_given = given > 0;
        end_at(session, given > 0 ? end - exact_seconds(given, stop.utc_ns) : end);
        session->ended_utc_ns = session_utc(session, session->length_s);
        return;
    }
    if (is_here(work, &input->now)) {
        session->state = SESSION_RUNNING;
        find_apart(work, &input->now);
        end_at(session, session_at(work, &input->now));
        return;
    }
    session->state = SESSION_UNENDED;
    work->length_is_at_least = true;
    end_at(session, find_seen(work, input));
}

/* ---- runs ---- */

/* By BOOTTIME, which goes on while the machine sleeps; a run that was lost: as far as it is seen.
 */
static double run_length(const struct run *run, const struct session_moment *start,
                         bool *ret_at_least) {
    bool lost = json_get_bool(run->end, "monitor_lost", 0) == 1;
    int64_t end_ns = json_get_int(run->end, "end_boottime_ns", -1);
    *ret_at_least = lost || end_ns < 0 || json_get_bool(run->end, "wall_is_at_least", 0) == 1;
    double wall = quantity_is_known(&run->wall) && run->wall.value > 0.0 ? run->wall.value : 0.0;
    if (start->boot_id && end_ns >= start->boot_ns && !lost)
        return exact_seconds(start->boot_ns, end_ns);
    return isfinite(wall) ? wall : 0.0;
}

bool session_place_run(const struct session_work *work, const struct run *run,
                       const struct session_moment *now, struct session_run *ret_run) {
    struct session_moment start;
    bool at_least = false;
    if (!session_run_moment(run, &start))
        return false;
    double begin = session_at(work, &start), length;
    if (run->running && is_same_boot(now, start.boot_id))
        length = fmax(0.0, exact_seconds(start.boot_ns, now->boot_ns));
    else
        length = run_length(run, &start, &at_least);
    if (!isfinite(begin))
        return false;
    *ret_run = (struct session_run){.run = run->id,
                                    .outcome = outcome_name(run->outcome),
                                    .start_s = begin,
                                    .end_s = begin + length,
                                    .running = run->running,
                                    .end_is_at_least = at_least && !run->running};
    return true;
}

double session_axis(const struct session *session, int64_t utc_ns, int64_t now_utc_ns) {
    if (session->state == SESSION_RUNNING)
        return session->length_s - exact_seconds(utc_ns, now_utc_ns);
    return exact_seconds(session->started_utc_ns, utc_ns);
}
