/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lies between the runs of a session: gaps, their reasons by notes, sums. A reason is only
 * what somebody said; what a failed run suggests stays a suggestion.
 */
#include "rules/session-parts.h"

#include "base/clock.h"
#include "base/msg.h"
#include "model/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLIVER_S 1e-3 /* what a note leaves of a gap below that belongs to the note */

/* Below lies what sums of seconds are rounded by: a run that runs ends now, no moment before. */
#define NOTHING_S 1e-7

struct gaps { /* growing, in the arena */
    struct session_gap *items;
    size_t count, room;
};

static struct session_gap *gap_insert(struct gaps *gaps, size_t at, struct arena *arena) {
    if (gaps->count == gaps->room) {
        gaps->room = gaps->room ? gaps->room * 2 : 16;
        struct session_gap *grown = arena_alloc(arena, gaps->room * sizeof(*grown));
        if (gaps->count > 0)
            memcpy(grown, gaps->items, gaps->count * sizeof(*grown));
        gaps->items = grown;
    }
    memmove(&gaps->items[at + 1], &gaps->items[at], (gaps->count - at) * sizeof(*gaps->items));
    gaps->count++;
    return &gaps->items[at];
}

static void gap_add(struct gaps *gaps, struct session_gap gap, struct arena *arena) {
    if (gap.end_s - gap.start_s > NOTHING_S)
        *gap_insert(gaps, gaps->count, arena) = gap;
}

/* ---- between the runs ---- */

static struct gaps find_between(const struct session *session, struct arena *arena) {
    struct gaps gaps = {NULL, 0, 0};
    double covered = 0.0;
    const struct session_run *last = NULL; /* that ended latest so far */
    for (size_t i = 0; i < session->run_count; i++) {
        const struct session_run *run = &session->runs[i];
        gap_add(&gaps,
                (struct session_gap){.start_s = covered,
                                     .end_s = run->start_s,
                                     .after_run = last ? last->run : NULL,
                                     .before_run = run->run},
                arena);
        if (!last || run->end_s >= covered) {
            covered = fmax(covered, run->end_s);
            last = run;
        }
    }
    bool open_end = session->state == SESSION_RUNNING;
    gap_add(&gaps,
            (struct session_gap){.start_s = covered,
                                 .end_s = session->length_s,
                                 .after_run = last ? last->run : NULL,
                                 .running = open_end},
            arena);
    return gaps;
}

/* ---- notes ---- */

static void say(struct session_gap *gap, const struct session_note *note) {
    gap->reason = note->reason;
    gap->text = note->text;
    gap->who = note->who;
    gap->note = note->id;
}

/* A gap that ends in two pieces has its ends at what is left: after_run and before_run only say
 * what stands at an end. */
static void split(struct gaps *gaps, size_t at, double where_s, struct arena *arena) {
    struct session_gap *second = gap_insert(gaps, at + 1, arena);
    struct session_gap *first = &gaps->items[at];
    *second = *first;
    second->start_s = where_s;
    first->end_s = where_s;
    first->running = false;
    first->before_run = NULL;
    second->after_run = NULL;
}

static void apply_span(struct gaps *gaps, struct session_note *note, struct arena *arena) {
    for (size_t i = 0; i < gaps->count; i++) {
        if (note->end_s <= gaps->items[i].start_s + SLIVER_S ||
            note->start_s >= gaps->items[i].end_s - SLIVER_S)
            continue;
        if (note->start_s > gaps->items[i].start_s + SLIVER_S) {
            split(gaps, i, note->start_s, arena);
            continue; /* the second piece comes next */
        }
        if (note->end_s < gaps->items[i].end_s - SLIVER_S)
            split(gaps, i, note->end_s, arena);
        say(&gaps->items[i], note);
        note->applies = true;
    }
}

/* The whole gap in which it was given, whatever notes have split it into. */
static void apply_moment(struct gaps *gaps, struct session_note *note, double base_start_s,
                         double base_end_s) {
    for (size_t i = 0; i < gaps->count; i++) {
        struct session_gap *gap = &gaps->items[i];
        if (gap->start_s < base_start_s || gap->end_s > base_end_s)
            continue;
        say(gap, note);
        note->applies = true;
    }
}

static double end_of_gap(const struct gaps *base, double at_s) {
    for (size_t i = 0; i < base->count; i++)
        if (base->items[i].start_s <= at_s + SLIVER_S && at_s < base->items[i].end_s)
            return base->items[i].end_s;
    return at_s;
}

static void read_note(struct session_work *work, const json_t *event, const struct gaps *base,
                      struct session_note *note, double *ret_at_s) {
    struct session_moment moment;
    int64_t from = json_get_int(event, "from_t_ns", -1), to = json_get_int(event, "to_t_ns", -1);
    *note = (struct session_note){.id = json_get_text(event, "id", ""),
                                  .text = json_get_text(event, "text", NULL),
                                  .who = json_get_text(event, "who", NULL),
                                  .utc_ns = json_get_int(event, "utc_ns", 0)};
    *ret_at_s = -1.0;
    if (!session_reason_from_name(json_get_text(event, "reason", ""), &note->reason))
        note->reason = SESSION_UNKNOWN;
    if (session_moment_of_event(event, &moment))
        *ret_at_s = session_at(work, &moment);
    if (from < 0)
        return;
    note->has_span = true;
    note->start_s = (double)from / (double)NS_PER_S;
    /* Without an end it reaches to the end of the gap that went on when it was given. */
    note->end_s = to >= 0 ? (double)to / (double)NS_PER_S
                          : fmax(end_of_gap(base, note->start_s), end_of_gap(base, *ret_at_s));
}

static struct gaps apply_notes(struct session_work *work, struct arena *arena) {
    struct session *session = work->session;
    const struct gaps base = find_between(session, arena);
    struct gaps gaps = {.items = arena_alloc(arena, (base.count + 1) * sizeof(*gaps.items)),
                        .count = base.count,
                        .room = base.count};
    if (base.count > 0)
        memcpy(gaps.items, base.items, base.count * sizeof(*gaps.items));
    session->notes = arena_alloc(arena, (work->note_count + 1) * sizeof(*session->notes));
    session->note_count = work->note_count;
    for (size_t i = 0; i < work->note_count; i++) {
        struct session_note *note = &session->notes[i];
        double at_s;
        read_note(work, work->notes[i], &base, note, &at_s);
        if (note->has_span)
            apply_span(&gaps, note, arena);
        for (size_t k = 0; k < base.count && !note->has_span; k++)
            if (at_s >= base.items[k].start_s && at_s <= base.items[k].end_s)
                apply_moment(&gaps, note, base.items[k].start_s, base.items[k].end_s);
    }
    return gaps;
}

/* ---- one stretch, one reason: one gap ---- */

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_continued(const struct session_gap *gap, const struct session_gap *next) {
    return !gap->before_run && !next->after_run && gap->end_s >= next->start_s &&
           gap->reason == next->reason && same_text(gap->text, next->text) &&
           (gap->reason == SESSION_UNKNOWN || same_text(gap->who, next->who));
}

static void merge_equal(struct gaps *gaps) {
    size_t kept = 0;
    for (size_t i = 1; i < gaps->count; i++) {
        struct session_gap *last = &gaps->items[kept];
        const struct session_gap *next = &gaps->items[i];
        if (!is_continued(last, next)) {
            gaps->items[++kept] = *next;
            continue;
        }
        last->end_s = next->end_s;
        last->running = next->running;
        last->before_run = next->before_run;
        last->note = next->note;
        last->who = next->who;
    }
    if (gaps->count > 0)
        gaps->count = kept + 1;
}

/* ---- finishing the gaps ---- */

static const struct session_run *find_run(const struct session *session, const char *id) {
    for (size_t i = 0; i < session->run_count && id; i++)
        if (strcmp(session->runs[i].run, id) == 0)
            return &session->runs[i];
    return NULL;
}

static const char *length_method(const struct session_work *work) {
    const struct session *session = work->session;
    if (session->began_is_given || session->ended_is_given)
        return "boottime clock; start or end as given";
    return session->restarts > 0 ? "boottime clock, UTC across a restart" : "boottime clock";
}

static void finish_gap(struct session_work *work, struct session_gap *gap, unsigned number) {
    const struct session *session = work->session;
    const struct session_run *after = find_run(session, gap->after_run);
    enum outcome_class outcome;
    gap->number = number;
    gap->start_utc_ns = session_utc(session, gap->start_s);
    gap->end_utc_ns = session_utc(session, gap->end_s);
    bool at_most = after && after->end_is_at_least;
    gap->length =
        quantity_bounded(UNIT_SECOND, gap->end_s - gap->start_s,
                         at_most ? QUANTITY_AT_MOST : QUANTITY_EXACT, length_method(work));
    if (at_most)
        gap->length.detail = _("the run before it may have gone on");
    else if (gap->restarted)
        gap->length.detail = _("the machine was restarted in it");
    if (gap->reason == SESSION_UNKNOWN && after && outcome_from_name(after->outcome, &outcome) &&
        outcome != OUTCOME_OK && outcome != OUTCOME_RUNNING) {
        gap->has_suggestion = true;
        gap->suggestion = SESSION_FAILURE_HANDLING;
    }
}

void session_find_gaps(struct session_work *work, struct arena *arena) {
    struct session *session = work->session;
    struct gaps gaps = apply_notes(work, arena);
    merge_equal(&gaps);
    session->gaps = gaps.items;
    session->gap_count = gaps.count;
}

/* ---- restarts ---- */

struct boot { /* what is seen of one boot within the session */
    double first_s, last_s;
    bool used;
};

static void see(struct boot *boot, double from_s, double to_s) {
    boot->first_s = boot->used ? fmin(boot->first_s, from_s) : from_s;
    boot->last_s = boot->used ? fmax(boot->last_s, to_s) : to_s;
    boot->used = true;
}

static void see_moment(const struct session_work *work, struct boot *boots,
                       const struct session_moment *moment, double length_s) {
    for (size_t i = 0; i < work->frame_count && moment->boot_id; i++) {
        const char *id = work->frames[i].boot_id;
        double at = session_at(work, moment);
        if (id && strcmp(id, moment->boot_id) == 0 && at <= work->session->length_s + SLIVER_S)
            see(&boots[i], fmax(at, 0.0), fmin(at + length_s, work->session->length_s));
    }
}

static void see_all(const struct session_work *work, const struct session_input *input,
                    struct boot *boots) {
    const struct session *session = work->session;
    struct session_moment moment;
    see_moment(work, boots, &work->began, 0.0);
    for (size_t i = 0; i <= work->note_count; i++) {
        const json_t *event = i < work->note_count ? work->notes[i] : work->stop;
        if (event && session_moment_of_event(event, &moment))
            see_moment(work, boots, &moment, 0.0);
    }
    if (session->state == SESSION_RUNNING)
        see_moment(work, boots, &input->now, 0.0);
    for (size_t i = 0; i < input->run_count; i++) {
        const struct session_run *run = find_run(session, input->runs[i]->id);
        if (run && session_run_moment(input->runs[i], &moment))
            see_moment(work, boots, &moment, run->end_s - run->start_s);
    }
}

static void mark_restart(struct session *session, double from_s, double to_s) {
    for (size_t i = 0; i < session->gap_count; i++) {
        struct session_gap *gap = &session->gaps[i];
        if (gap->start_s <= to_s && gap->end_s >= from_s && gap->end_s > gap->start_s)
            gap->restarted |= from_s < to_s ? gap->start_s < to_s && gap->end_s > from_s : true;
    }
}

void session_find_restarts(struct session_work *work, const struct session_input *input,
                           struct arena *arena) {
    struct boot *boots = arena_alloc(arena, (work->frame_count + 1) * sizeof(*boots));
    see_all(work, input, boots);
    double last_s = 0.0;
    bool any = false;
    /* the frames stand in order of time */
    for (size_t i = 0; i < work->frame_count; i++) {
        if (!boots[i].used)
            continue;
        if (any) {
            work->session->restarts++;
            mark_restart(work->session, last_s, boots[i].first_s);
        }
        last_s = any ? fmax(last_s, boots[i].last_s) : boots[i].last_s;
        any = true;
    }
}

/* ---- sums ---- */

static struct quantity sum_gaps(const struct session_work *work, bool all,
                                enum session_reason reason, struct arena *arena) {
    const struct session *session = work->session;
    struct quantity_part *parts = arena_alloc(arena, (session->gap_count + 1) * sizeof(*parts));
    size_t count = 0;
    for (size_t i = 0; i < session->gap_count; i++)
        if (all || session->gaps[i].reason == reason)
            parts[count++] = (struct quantity_part){.name = session_reason_name(reason),
                                                    .quantity = session->gaps[i].length};
    if (count == 0)
        return quantity_measured(UNIT_SECOND, 0.0, length_method(work));
    struct quantity sum = quantity_sum(arena, UNIT_SECOND, parts, count);
    sum.method = length_method(work);
    sum.n = count;
    sum.parts = NULL; /* the gaps stand beside it */
    sum.part_count = 0;
    sum.open_parts = NULL;
    sum.open_part_count = 0;
    return sum;
}

static bool has_unexplained(const struct session *session) {
    for (size_t i = 0; i < session->gap_count; i++)
        if (session->gaps[i].reason == SESSION_UNKNOWN)
            return true;
    return false;
}

/* What nobody explained may have been any of the reasons. */
static struct quantity sum_reason(const struct session_work *work, enum session_reason reason,
                                  struct arena *arena) {
    struct quantity sum = sum_gaps(work, false, reason, arena);
    if (reason == SESSION_UNKNOWN || !quantity_is_known(&sum) || !has_unexplained(work->session))
        return sum;
    if (sum.bound == QUANTITY_AT_MOST)
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_SEPARATED,
                             _("a gap of this reason may have been shorter, and a gap without a "
                               "reason may belong to it"));
    sum.bound = QUANTITY_AT_LEAST;
    sum.detail = _("gaps without a reason may belong to it");
    return sum;
}

static double sum_runs(const struct session *session, bool *ret_at_least) {
    double total = 0.0, covered = 0.0;
    *ret_at_least = false;
    for (size_t i = 0; i < session->run_count; i++) {
        const struct session_run *run = &session->runs[i];
        total += fmax(0.0, run->end_s - fmax(run->start_s, covered));
        covered = fmax(covered, run->end_s);
        *ret_at_least |= run->end_is_at_least && run->end_s < session->length_s;
    }
    return total;
}

static void sum_gpus(struct session *session, const struct session_input *input,
                     struct arena *arena) {
    struct quantity_part *parts = arena_alloc(arena, (session->run_count + 1) * sizeof(*parts));
    size_t count = 0;
    for (size_t i = 0; i < input->run_count; i++) {
        const struct run *run = input->runs[i];
        if (!find_run(session, run->id) || run->gpu_count == 0)
            continue;
        struct quantity_part *gpus = arena_alloc(arena, run->gpu_count * sizeof(*gpus));
        size_t own = 0;
        for (size_t g = 0; g < run->gpu_count; g++)
            if (run_gpu_counts(run, &run->gpus[g]))
                gpus[own++] = (struct quantity_part){.name = "gpu", .quantity = run->gpus[g].idle};
        parts[count++] = (struct quantity_part){
            .name = run->id,
            .quantity = own > 0 ? quantity_sum(arena, UNIT_SECOND, gpus, own)
                                : quantity_open(UNIT_SECOND, QUANTITY_NOT_VISIBLE,
                                                _("which GPUs are the run's was not told"))};
    }
    if (count == 0) {
        session->gpu_idle_in_runs =
            quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, _("there is no run in it"));
        return;
    }
    struct quantity sum = quantity_sum(arena, UNIT_SECOND, parts, count);
    sum.n = count;
    sum.parts = NULL;
    sum.part_count = 0;
    session->gpu_idle_in_runs = sum;
}

static struct quantity gpu_reserved(const struct session *session) {
    if (!session->has_gpus)
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_ENTERED,
                             _("how many GPUs are reserved is not said: start with --gpus N"));
    if (session->gpus == 0)
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE, _("no GPU is reserved"));
    struct quantity q = session->reserved;
    q.value *= (double)session->gpus;
    q.method = "reserved time x reserved GPUs";
    return q;
}

static struct quantity idle_share(const struct session *session) {
    if (!quantity_is_known(&session->idle))
        return quantity_open(UNIT_RATIO, session->idle.reason, session->idle.detail);
    if (!(session->reserved.value > 0.0))
        return quantity_open(UNIT_RATIO, QUANTITY_NO_EVIDENCE, _("it has no length"));
    struct quantity q = quantity_bounded(UNIT_RATIO, session->idle.value / session->reserved.value,
                                         session->idle.bound, "idle time / reserved time");
    if (session->state == SESSION_UNENDED)
        q.detail = _("of the time that was seen");
    return q;
}

static const char *length_detail(const struct session *session, struct arena *arena) {
    if (session->clocks_apart_s != 0.0) {
        AUTO_STRBUF struct strbuf apart = STRBUF_INIT;
        quantity_format_value(fabs(session->clocks_apart_s), UNIT_SECOND, &apart);
        return arena_printf(arena,
                            session->clocks_apart_s > 0.0
                                ? _("UTC says %s more: the clock was set, or a container had a "
                                    "time of its own; what counts is the time since boot")
                                : _("UTC says %s less: the clock was set, or a container had a "
                                    "time of its own; what counts is the time since boot"),
                            strbuf_str(&apart));
    }
    if (session->unsure_s > 0.0)
        return _("the clock was set back across a restart: what passed there is not known");
    switch (session->state) {
    case SESSION_RUNNING:
        return _("so far: it goes on");
    case SESSION_UNENDED:
        return _("its end is not recorded: up to the latest record of it");
    case SESSION_STOPPED:
    case SESSION_STATE_COUNT_:
        break;
    }
    return NULL;
}

/* The session's own id: its records say what they rest on. */
static void name_source(struct session *session, struct arena *arena) {
    const char **source = arena_alloc(arena, sizeof(*source));
    source[0] = session->id;
    struct quantity *const all[] = {&session->reserved,     &session->busy,
                                    &session->idle,         &session->idle_share,
                                    &session->gpu_reserved, &session->gpu_idle_in_runs};
    for (size_t i = 0; i < ARRAY_LENGTH(all) + SESSION_REASON_COUNT_; i++) {
        struct quantity *q =
            i < ARRAY_LENGTH(all) ? all[i] : &session->by_reason[i - ARRAY_LENGTH(all)];
        if (!quantity_is_known(q))
            continue;
        q->sources = source;
        q->source_count = 1;
    }
}

void session_sum(struct session_work *work, const struct session_input *input,
                 struct arena *arena) {
    struct session *session = work->session;
    bool at_least = false;
    for (size_t i = 0; i < session->gap_count; i++)
        finish_gap(work, &session->gaps[i], (unsigned)(i + 1));
    session->reserved = quantity_bounded(
        UNIT_SECOND, session->length_s,
        work->length_is_at_least || session->unsure_s > 0.0 ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
        length_method(work));
    session->reserved.detail = length_detail(session, arena);
    double busy = sum_runs(session, &at_least);
    session->busy = quantity_bounded(
        UNIT_SECOND, busy, at_least ? QUANTITY_AT_LEAST : QUANTITY_EXACT, "union of its runs");
    session->busy.n = session->run_count;
    session->idle = sum_gaps(work, true, SESSION_UNKNOWN, arena);
    for (enum session_reason r = SESSION_UNKNOWN; r < SESSION_REASON_COUNT_; r++)
        session->by_reason[r] = sum_reason(work, r, arena);
    session->idle_share = idle_share(session);
    session->gpu_reserved = gpu_reserved(session);
    sum_gpus(session, input, arena);
    name_source(session, arena);
}
