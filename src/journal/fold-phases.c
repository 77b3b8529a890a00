/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which phase holds when. The highest source that tells of any phase is taken alone; of several
 * processes the one that is furthest behind decides; what no rule explains is unattributed. Works
 * in nanoseconds, so that the parts add up to the wall time. Rules: docs/measurement.md, "Phases".
 */
#include "journal/fold-phases.h"

#include "base/mem.h"
#include "base/msg.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const source_names[PHASES_SOURCE_COUNT_] = {
    "none", "option", "pattern", "pattern", "python-hook", "nvtx", "ready", "mark",
};
static const char *const source_methods[PHASES_SOURCE_COUNT_] = {
    "no phase is known",
    "the whole run, by --phase",
    "a line of output that a known program prints, when it was read",
    "a line of output, when it was read",
    "calls that the Python hook saw",
    "an NVTX range that the plan maps",
    "what --ready waits for",
    "mark",
};
/* A length that the program itself printed. */
static const char *const told_method = "a line of output that a known program prints, when it was "
                                       "read, and the length that it printed";

/* A phase of one process, [from, to). */
struct stretch {
    int64_t from_ns, to_ns;
    enum phase phase;
    const char *name;
    bool by_end;    /* ended by `end`, so a later `end` of the same phase may still move it */
    bool was_ended; /* by a mark, not by the end of process or run */
};

struct timeline {
    struct fold *fold;
    enum phases_source source;
    struct phases_event *events;
    size_t event_count;
    struct stretch *stretches;
    size_t stretch_count;
    int64_t sum_ns[PHASE_COUNT_];
    bool begun[PHASE_COUNT_];
    bool by_stack[PHASE_COUNT_]; /* lines of known programs tell it */
    size_t phase_capacity;
    size_t unplaced; /* marks of phases without a time */
    bool together;   /* lines of several phases came at once: nobody read when each was printed */
    bool told;       /* a length is the program's own */
    bool limited;    /* an agent told no more from some time on */
};

static void timeline_done(struct timeline *timeline) {
    mem_free_ptr(&timeline->events);
    mem_free_ptr(&timeline->stretches);
}
#define AUTO_TIMELINE __attribute__((cleanup(timeline_done)))

/* ---- events of the source that wins ---- */

static void add_event(struct timeline *timeline, struct phases_event event) {
    event.order = timeline->event_count;
    size_t count = timeline->event_count;
    if ((count & (count - 1)) == 0) /* full at every power of two: doubled */
        timeline->events = mem_realloc(timeline->events, count == 0 ? 1 : 2 * count, sizeof event);
    timeline->events[timeline->event_count++] = event;
}

static void add_phase_event(struct timeline *timeline, const json_t *record,
                            enum phases_event_kind kind) {
    const char *name = json_get_text(record, "name", NULL);
    struct phases_event event = {.kind = kind, .pid = json_get_int(record, "pid", 0)};
    if (name == NULL ? kind == PHASES_BEGIN : !phase_from_name(name, &event.phase)) {
        return;
    }
    if (!fold_get_i64(record, "t_ns", &event.t_ns)) {
        timeline->unplaced++;
        return;
    }
    event.name = name;
    add_event(timeline, event);
}

/* A process that we reaped is in no phase any more. */
static void add_gone(struct timeline *timeline) {
    const json_t *children = timeline->fold->children;
    for (size_t i = 0; i < json_array_size(children) && timeline->event_count > 0; i++) {
        const json_t *child = json_array_get(children, i);
        struct phases_event event = {.kind = PHASES_GONE, .pid = json_get_int(child, "pid", 0)};
        if (event.pid > 0 && fold_get_i64(child, "t_ns", &event.t_ns)) {
            add_event(timeline, event);
        }
    }
}

static void add_marks(struct timeline *timeline) {
    const json_t *marks = timeline->fold->marks;
    for (size_t i = 0; i < json_array_size(marks); i++) {
        const json_t *mark = json_array_get(marks, i);
        const char *verb = json_get_text(mark, "verb", "");
        if (strcmp(verb, "phase") == 0) {
            add_phase_event(timeline, mark, PHASES_BEGIN);
        } else if (strcmp(verb, "end") == 0) {
            add_phase_event(timeline, mark, PHASES_END);
        }
    }
    add_gone(timeline);
}

/* What an agent says of one process; its pid and time stand in the mark. */
static void add_agent_event(struct timeline *timeline, const json_t *mark) {
    const json_t *data = json_get_object(mark, "data");
    const char *word = json_get_text(data, "event", ""), *name = json_get_text(data, "phase", "");
    struct phases_event event = {.pid = json_get_int(mark, "pid", 0), .name = name};
    bool is_limit = strcmp(word, "limit") == 0;
    if (strcmp(word, "begin") == 0) {
        event.kind = PHASES_BEGIN;
    } else if (strcmp(word, "end") == 0) {
        event.kind = PHASES_END;
    } else if (is_limit) {
        event.kind = PHASES_GONE;
    } else {
        return;
    }
    if (!is_limit && !phase_from_name(name, &event.phase)) {
        return;
    }
    if (!fold_get_i64(mark, "t_ns", &event.t_ns)) {
        timeline->unplaced++;
        return;
    }
    timeline->limited = timeline->limited || is_limit;
    add_event(timeline, event);
}

static void add_agent(struct timeline *timeline, const char *agent) {
    const json_t *marks = timeline->fold->marks;
    timeline->limited = false;
    for (size_t i = 0; i < json_array_size(marks); i++) {
        const json_t *mark = json_array_get(marks, i);
        if (strcmp(json_get_text(mark, "verb", ""), "agent") == 0 &&
            strcmp(json_get_text(mark, "name", ""), agent) == 0) {
            add_agent_event(timeline, mark);
        }
    }
    add_gone(timeline);
}

static void add_records(struct timeline *timeline, const char *source) {
    const json_t *phases = timeline->fold->phases;
    for (size_t i = 0; i < json_array_size(phases); i++) {
        const json_t *record = json_array_get(phases, i);
        bool is_end = strcmp(json_get_text(record, "event", ""), "end") == 0;
        if (strcmp(json_get_text(record, "source", ""), source) == 0 &&
            json_object_get(record, "stack") == NULL) {
            add_phase_event(timeline, record, is_end ? PHASES_END : PHASES_BEGIN);
        }
    }
}

static bool has_begin(const struct timeline *timeline) {
    for (size_t i = 0; i < timeline->event_count; i++) {
        if (timeline->events[i].kind == PHASES_BEGIN) {
            return true;
        }
    }
    return false;
}

/* ---- the source ---- */

static void add_any_event(const struct phases_event *event, void *timeline) {
    add_event(timeline, *event);
}

static void add_stack_event(const struct phases_event *event, void *context) {
    struct timeline *timeline = context;
    timeline->by_stack[event->phase] = true;
    add_event(timeline, *event);
}

/* Lines of known programs beside those of the user: of a phase that the user's lines begin those
 * alone tell. */
struct lines_of_both {
    struct timeline *timeline;
    bool is_users[PHASE_COUNT_];
};

static void add_beside_user(const struct phases_event *event, void *context) {
    struct lines_of_both *both = context;
    if (!both->is_users[event->phase]) {
        add_stack_event(event, both->timeline);
    }
}

static int by_time_read(const void *a, const void *b) {
    const struct phases_event *x = a, *y = b;
    if (x->t_ns != y->t_ns) {
        return x->t_ns < y->t_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static void add_lines(struct timeline *timeline) {
    struct lines_of_both both = {.timeline = timeline};
    add_records(timeline, "pattern");
    if (!has_begin(timeline)) {
        return;
    }
    for (size_t i = 0; i < timeline->event_count; i++) {
        timeline->events[i].pid = PHASES_USER_PID;
        both.is_users[timeline->events[i].phase] |= timeline->events[i].kind == PHASES_BEGIN;
    }
    fold_phases_add_stacks(timeline->fold, add_beside_user, &both, &timeline->told);
}

/* Adds the events of one source; false: it began no phase. */
static bool take_source(struct timeline *timeline, enum phases_source source) {
    const char *option = json_get_text(timeline->fold->run->start, "phase", NULL);
    enum phase phase;
    timeline->event_count = 0;
    timeline->told = false;
    memset(timeline->by_stack, 0, sizeof timeline->by_stack);
    switch (source) {
    case PHASES_MARK:
        add_marks(timeline);
        break;
    case PHASES_READY:
        if (!fold_phases_ready_is_unseen(timeline->fold)) {
            add_records(timeline, "ready");
        }
        break;
    case PHASES_NVTX:
        add_agent(timeline, "nvtx");
        break;
    case PHASES_PYTHON_HOOK:
        add_agent(timeline, "python-hook");
        break;
    case PHASES_PATTERN:
        add_lines(timeline);
        break;
    case PHASES_STACK:
        fold_phases_add_stacks(timeline->fold, add_stack_event, timeline, &timeline->told);
        break;
    case PHASES_OPTION:
        if (option != NULL && phase_from_name(option, &phase)) {
            add_event(timeline,
                      (struct phases_event){.kind = PHASES_BEGIN, .phase = phase, .name = option});
        }
        break;
    case PHASES_NONE:
    case PHASES_SOURCE_COUNT_:
        break;
    }
    return has_begin(timeline);
}

static void find_source(struct timeline *timeline) {
    enum phases_source source = PHASES_SOURCE_COUNT_;
    while (source > PHASES_NONE && !take_source(timeline, --source)) {
    }
    if (source == PHASES_PATTERN && timeline->event_count > 0) {
        qsort(timeline->events, timeline->event_count, sizeof *timeline->events, by_time_read);
        timeline->event_count = fold_phases_yield_to_user(timeline->events, timeline->event_count);
    }
    if (source == PHASES_PATTERN || source == PHASES_STACK) {
        timeline->together = fold_phases_came_together(timeline->events, timeline->event_count);
    }
    if (source == PHASES_PATTERN && !timeline->together) {
        fold_phases_end_each_other(timeline->events, timeline->event_count, add_any_event,
                                   timeline);
    }
    timeline->source = timeline->together ? PHASES_NONE : source;
    timeline->event_count = timeline->source == PHASES_NONE ? 0 : timeline->event_count;
    bool is_agent = source == PHASES_NVTX || source == PHASES_PYTHON_HOOK;
    timeline->limited = timeline->limited && is_agent;
}

/* ---- stretches of single processes ---- */

static int by_process(const void *a, const void *b) {
    const struct phases_event *x = a, *y = b;
    if (x->pid != y->pid) {
        return x->pid < y->pid ? -1 : 1;
    }
    if (x->t_ns != y->t_ns) {
        return x->t_ns < y->t_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

/* `end load` ends load and load/weights; `end load/weights` only the latter. */
static bool ends(const struct phases_event *event, const struct stretch *stretch) {
    if (event->name == NULL || event->kind == PHASES_GONE) {
        return true;
    }
    bool has_detail = strchr(event->name, '/') != NULL;
    return event->phase == stretch->phase &&
           (!has_detail || strcmp(event->name, stretch->name) == 0);
}

static void begin_stretch(struct timeline *timeline, const struct phases_event *event) {
    const struct stretch stretch = {
        .from_ns = event->t_ns,
        .to_ns = INT64_MAX,
        .phase = event->phase,
        .name = event->name,
    };
    timeline->stretches = mem_room(timeline->stretches, timeline->stretch_count, sizeof stretch);
    timeline->stretches[timeline->stretch_count++] = stretch;
    timeline->begun[event->phase] = true;
}

/* The events of one process in order of time. */
static void add_process(struct timeline *timeline, const struct phases_event *events,
                        size_t count) {
    bool holds = false;
    size_t first = timeline->stretch_count;
    for (size_t i = 0; i < count; i++) {
        const struct phases_event *event = &events[i];
        struct stretch *last = timeline->stretch_count > first
                                   ? &timeline->stretches[timeline->stretch_count - 1]
                                   : NULL;
        if (event->kind == PHASES_BEGIN) {
            if (holds && last != NULL) {
                last->to_ns = event->t_ns;
                last->was_ended = true;
            }
            begin_stretch(timeline, event);
            holds = true;
        } else if (last != NULL && holds && ends(event, last)) {
            last->to_ns = event->t_ns;
            last->by_end = last->was_ended = event->kind == PHASES_END;
            holds = false;
        } else if (last != NULL && !holds && last->by_end && event->kind == PHASES_END &&
                   event->name != NULL && ends(event, last)) {
            last->to_ns = event->t_ns; /* several processes, one sequence: the last end counts */
        }
    }
}

#define NESTED_MAX 1024u /* what begins deeper is left out: nobody nests so, but a file may */

/* What one process has open: ranges and calls lie within one another, and the innermost holds. */
struct open_events {
    const struct phases_event **items;
    size_t count;
};

static void open_events_done(struct open_events *open) {
    mem_free_ptr(&open->items);
}
#define AUTO_OPEN_EVENTS __attribute__((cleanup(open_events_done)))

static bool is_counterpart(const struct phases_event *begin, const struct phases_event *end) {
    return strcmp(begin->name, end->name) == 0 &&
           (begin->stack == NULL || strcmp(begin->stack, end->stack) == 0);
}

/* Place of the newest open one that the event is about; -1: none. */
static long find_open(const struct open_events *open, const struct phases_event *event) {
    for (size_t i = open->count; i-- > 0;) {
        if (is_counterpart(open->items[i], event)) {
            return (long)i;
        }
    }
    return -1;
}

static void close_stretch(struct timeline *timeline, int64_t t_ns) {
    struct stretch *last = &timeline->stretches[timeline->stretch_count - 1];
    last->to_ns = t_ns;
    last->was_ended = true;
}

static void take_begin(struct timeline *timeline, struct open_events *open,
                       const struct phases_event *event, const struct phases_event *closed) {
    /* a bar says many times that it goes on */
    if (open->count == NESTED_MAX || (event->stack != NULL && find_open(open, event) >= 0)) {
        return;
    }
    if (open->count > 0) {
        close_stretch(timeline, event->t_ns);
    }
    struct phases_event since = *event;
    if (event->goes_on && closed != NULL && open->count == 0 && is_counterpart(closed, event)) {
        since.t_ns = closed->t_ns; /* another rank was done, this one was not */
    }
    begin_stretch(timeline, &since);
    open->items[open->count++] = event;
}

static void take_end(struct timeline *timeline, struct open_events *open,
                     const struct phases_event *event, const struct phases_event *closed) {
    long place = find_open(open, event);
    if (place < 0) {
        bool is_later = event->stack != NULL && closed != NULL && open->count == 0 &&
                        is_counterpart(closed, event);
        if (is_later) {
            close_stretch(timeline, event->t_ns); /* of several ends the last counts */
        }
        return;
    }
    bool was_innermost = (size_t)place + 1 == open->count;
    memmove(open->items + place, open->items + place + 1,
            (open->count - (size_t)place - 1) * sizeof *open->items);
    open->count--;
    if (!was_innermost) {
        return;
    }
    close_stretch(timeline, event->t_ns);
    if (open->count > 0) {
        struct phases_event outer = *open->items[open->count - 1];
        outer.t_ns = event->t_ns;
        begin_stretch(timeline, &outer);
    }
}

/* The events of one process that lie within one another, in order of time. */
static void add_nested(struct timeline *timeline, const struct phases_event *events, size_t count) {
    AUTO_OPEN_EVENTS struct open_events open = {.items =
                                                    mem_alloc((count + 1) * sizeof *open.items)};
    const struct phases_event *closed = NULL; /* the end behind which nothing is open */
    for (size_t i = 0; i < count; i++) {
        const struct phases_event *event = &events[i];
        if (event->kind == PHASES_BEGIN) {
            take_begin(timeline, &open, event, closed);
        } else if (event->kind == PHASES_END) {
            take_end(timeline, &open, event, closed);
        } else if (open.count > 0) {
            close_stretch(timeline, event->t_ns);
            open.count = 0;
        }
        bool is_end = event->kind == PHASES_END && open.count == 0;
        if (open.count > 0 || event->kind == PHASES_GONE) {
            closed = NULL;
        } else if (is_end && timeline->stretch_count > 0) {
            closed = event;
        }
    }
}

static bool is_nested(enum phases_source source, int64_t pid) {
    return source == PHASES_NVTX || source == PHASES_PYTHON_HOOK || source == PHASES_STACK ||
           (source == PHASES_PATTERN && pid != PHASES_USER_PID);
}

static void clip(struct stretch *stretch, int64_t horizon_ns) {
    if (stretch->from_ns > horizon_ns) {
        stretch->from_ns = horizon_ns;
    }
    if (stretch->to_ns > horizon_ns) {
        stretch->to_ns = horizon_ns;
    }
}

static void find_stretches(struct timeline *timeline) {
    if (timeline->event_count > 0) {
        qsort(timeline->events, timeline->event_count, sizeof *timeline->events, by_process);
    }
    for (size_t i = 0; i < timeline->event_count;) {
        size_t count = 1;
        while (i + count < timeline->event_count &&
               timeline->events[i + count].pid == timeline->events[i].pid) {
            count++;
        }
        if (is_nested(timeline->source, timeline->events[i].pid)) {
            add_nested(timeline, timeline->events + i, count);
        } else {
            add_process(timeline, timeline->events + i, count);
        }
        i += count;
    }
    for (size_t i = 0; i < timeline->stretch_count; i++) {
        clip(&timeline->stretches[i], timeline->fold->horizon_ns);
    }
}

/* ---- one phase at each instant ---- */

struct edge {
    int64_t t_ns;
    size_t stretch;
    bool is_begin;
};

static int by_time(const void *a, const void *b) {
    const struct edge *x = a, *y = b;
    if (x->t_ns != y->t_ns) {
        return x->t_ns < y->t_ns ? -1 : 1;
    }
    return x->stretch < y->stretch ? -1 : x->stretch > y->stretch;
}

/* Stretches that hold now: per phase a stack, of which those that are over are dropped when they
 * come to the top. */
struct holding {
    size_t *stack[PHASE_COUNT_];
    size_t depth[PHASE_COUNT_];
    bool *over; /* by stretch */
};

static void holding_done(struct holding *holding) {
    for (size_t phase = 0; phase < PHASE_COUNT_; phase++) {
        mem_free_ptr(&holding->stack[phase]);
    }
    mem_free_ptr(&holding->over);
}
#define AUTO_HOLDING __attribute__((cleanup(holding_done)))

/* The earliest phase in which any process still is, and of that the stretch that began last; NULL:
 * none. */
static const struct stretch *find_holder(const struct timeline *timeline, struct holding *holding) {
    for (size_t phase = 0; phase < PHASE_UNATTRIBUTED; phase++) {
        size_t *depth = &holding->depth[phase];
        while (*depth > 0 && holding->over[holding->stack[phase][*depth - 1]]) {
            (*depth)--;
        }
        if (*depth > 0) {
            return &timeline->stretches[holding->stack[phase][*depth - 1]];
        }
    }
    return NULL;
}

static void emit(struct timeline *timeline, int64_t from_ns, int64_t to_ns,
                 const struct stretch *holder) {
    struct run *run = timeline->fold->run;
    enum phase phase = holder != NULL ? holder->phase : PHASE_UNATTRIBUTED;
    const char *name = holder != NULL ? holder->name : phase_name(PHASE_UNATTRIBUTED);
    timeline->sum_ns[phase] += to_ns - from_ns;
    struct run_phase *last = run->phase_count > 0 ? &run->phases[run->phase_count - 1] : NULL;
    if (last != NULL && strcmp(last->name, name) == 0) {
        last->end_s = fold_seconds(to_ns);
        return;
    }
    assert(run->phase_count < timeline->phase_capacity);
    run->phases[run->phase_count++] = (struct run_phase){
        .phase = phase,
        .name = arena_strdup(run->arena, name),
        .source = source_names[holder != NULL ? timeline->source : PHASES_NONE],
        .start_s = fold_seconds(from_ns),
        .end_s = fold_seconds(to_ns),
    };
}

static void apply(const struct timeline *timeline, struct holding *holding,
                  const struct edge *edge) {
    size_t phase = timeline->stretches[edge->stretch].phase;
    if (edge->is_begin) {
        size_t **stack = &holding->stack[phase];
        *stack = mem_room(*stack, holding->depth[phase], sizeof **stack);
        (*stack)[holding->depth[phase]++] = edge->stretch;
    } else {
        holding->over[edge->stretch] = true;
    }
}

static void sweep(struct timeline *timeline) {
    size_t count = timeline->stretch_count, edge_count = 0;
    AUTO_FREE struct edge *edges = mem_alloc((2 * count + 1) * sizeof *edges);
    AUTO_HOLDING struct holding holding = {.over = mem_alloc(count + 1)};
    for (size_t i = 0; i < count; i++) {
        const struct stretch *stretch = &timeline->stretches[i];
        edges[edge_count++] = (struct edge){stretch->from_ns, i, true};
        edges[edge_count++] = (struct edge){stretch->to_ns, i, false};
    }
    qsort(edges, edge_count, sizeof *edges, by_time);
    int64_t at_ns = 0;
    timeline->phase_capacity = edge_count + 1;
    struct run *run = timeline->fold->run;
    run->phases = arena_alloc(run->arena, timeline->phase_capacity * sizeof *run->phases);
    for (size_t i = 0; i < edge_count; i++) {
        if (edges[i].t_ns > at_ns) {
            emit(timeline, at_ns, edges[i].t_ns, find_holder(timeline, &holding));
            at_ns = edges[i].t_ns;
        }
        apply(timeline, &holding, &edges[i]);
    }
    if (timeline->fold->horizon_ns > at_ns) {
        emit(timeline, at_ns, timeline->fold->horizon_ns, NULL);
    }
}

/* ---- quantities ---- */

static const char *const lines_came_together =
    N_("the lines that tell the phases apart came together: the output is buffered; with "
       "'python3 -u', PYTHONUNBUFFERED=1 or 'stdbuf -oL' they come when they are printed");

/* Why a phase that nobody began is not a figure. */
static struct quantity not_begun(const struct timeline *timeline) {
    if (timeline->fold->run->running) {
        return quantity_open(UNIT_SECOND, QUANTITY_RUNNING, NULL);
    }
    if (timeline->together) {
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_SEPARATED, _(lines_came_together));
    }
    return quantity_open(UNIT_SECOND, QUANTITY_NOT_SEPARATED,
                         fold_phases_why(timeline->fold, timeline->source));
}

/* The line may have come before, where nobody looked. */
static bool is_maybe_late(const struct timeline *timeline) {
    const json_t *phases = timeline->fold->phases;
    for (size_t i = 0; i < json_array_size(phases) && timeline->source == PHASES_READY; i++) {
        const json_t *record = json_array_get(phases, i);
        if (strcmp(json_get_text(record, "source", ""), "ready") == 0 &&
            json_get_bool(record, "unseen", false) == 1) {
            return true;
        }
    }
    return false;
}

/* What was waited for never came: loading went on to the end, and beyond. */
static bool never_ready(const struct timeline *timeline) {
    return timeline->source == PHASES_READY &&
           json_get_text(json_get_object(timeline->fold->run->end, "ready"), "reason", NULL) !=
               NULL;
}

/* The phase that held at the end went on where the end was cut off; of a process that ran before
 * it was attached to, only what began behind what --ready waits for began while we looked. */
static bool is_at_least(const struct timeline *timeline, enum phase phase) {
    const struct fold *fold = timeline->fold;
    const struct run *run = fold->run;
    enum phase last =
        run->phase_count > 0 ? run->phases[run->phase_count - 1].phase : PHASE_UNATTRIBUTED;
    bool began_here =
        timeline->source == PHASES_READY && phase == PHASE_COMPUTE && timeline->begun[PHASE_LOAD];
    return run->running || (fold->end_is_at_least && phase == last) ||
           (timeline->limited && phase != PHASE_UNATTRIBUTED) ||
           (never_ready(timeline) && phase == PHASE_LOAD) || (fold->is_attached && !began_here);
}

static struct quantity phase_quantity(const struct timeline *timeline, enum phase phase) {
    const struct run *run = timeline->fold->run;
    bool is_rest = phase == PHASE_UNATTRIBUTED;
    bool is_late = is_maybe_late(timeline) && !is_rest;
    bool at_least = is_at_least(timeline, phase);
    enum quantity_bound bound = at_least ? QUANTITY_AT_LEAST : QUANTITY_EXACT;
    const char *method = source_methods[timeline->source];
    if (timeline->limited && is_rest) {
        bound = QUANTITY_AT_MOST;
    } else if (is_rest && timeline->source != PHASES_NONE) {
        method = "wall time that no phase explains";
    } else if (timeline->by_stack[phase]) {
        method = timeline->told ? told_method : source_methods[PHASES_STACK];
    }
    if (is_late) {
        bound = phase == PHASE_LOAD ? QUANTITY_AT_MOST : QUANTITY_AT_LEAST;
    }
    struct quantity q =
        quantity_bounded(UNIT_SECOND, fold_seconds(timeline->sum_ns[phase]), bound, method);
    if (never_ready(timeline) && phase == PHASE_LOAD) {
        q.detail =
            arena_printf(run->arena, _("never ready: %s"),
                         msg_get(json_get_text(json_get_object(run->end, "ready"), "reason", "")));
    } else if (is_late) {
        q.detail = _("the line may have come before, in output that was not read");
    } else if (timeline->fold->is_attached && at_least && timeline->source != PHASES_NONE) {
        q.detail = _(fold_since_attached);
    }
    return q;
}

static void set_quantities(struct timeline *timeline) {
    struct fold *fold = timeline->fold;
    struct run *run = fold->run;
    for (enum phase phase = 0; phase < PHASE_COUNT_; phase++) {
        bool is_rest = phase == PHASE_UNATTRIBUTED;
        bool is_known = is_rest ? fold->has_wall : timeline->begun[phase];
        bool is_line = timeline->source == PHASES_PATTERN || timeline->source == PHASES_STACK;
        if (!fold->has_wall && !run->running) {
            run->phase[phase] = quantity_open(UNIT_SECOND, fold_absence(fold), NULL);
        } else if (!is_known) {
            run->phase[phase] = not_begun(timeline);
        } else if (!is_rest && is_line && timeline->sum_ns[phase] == 0) {
            /* its line was read when all was over: it came late, and no time was seen */
            run->phase[phase] =
                quantity_open(UNIT_SECOND, run->running ? QUANTITY_RUNNING : QUANTITY_NOT_SEPARATED,
                              _(lines_came_together));
        } else {
            run->phase[phase] = phase_quantity(timeline, phase);
        }
    }
}

/* Output as declared and seen by the monitor; else the end of `write` that a mark tells. */
static void set_result_complete(const struct timeline *timeline) {
    struct fold *fold = timeline->fold;
    struct run *run = fold->run;
    int64_t t_ns = -1;
    if (!run->running && run->outcome == OUTCOME_LOST) {
        run->result_complete = quantity_open(UNIT_SECOND, QUANTITY_MONITOR_LOST, NULL);
        return;
    }
    if (!run->running && run->outcome != OUTCOME_OK && run->outcome != OUTCOME_ENDED) {
        run->result_complete = quantity_open(UNIT_SECOND, QUANTITY_FAILED,
                                             _("the run did not end well: what it wrote may be "
                                               "part of a result only"));
        return;
    }
    if (fold_get_i64(run->end, "result_complete_t_ns", &t_ns)) {
        run->result_complete = quantity_measured(
            UNIT_SECOND, fold_seconds(t_ns), "start to the last change of the declared outputs");
        return;
    }
    for (size_t i = 0; i < timeline->stretch_count && timeline->source == PHASES_MARK; i++) {
        const struct stretch *stretch = &timeline->stretches[i];
        if (stretch->phase == PHASE_WRITE && stretch->was_ended && stretch->to_ns > t_ns) {
            t_ns = stretch->to_ns;
        }
    }
    if (t_ns >= 0) {
        run->result_complete =
            quantity_measured(UNIT_SECOND, fold_seconds(t_ns), "start to the end mark of write");
        return;
    }
    bool can_mark = json_object_get(run->start, "attach") == NULL;
    run->result_complete = quantity_open(
        UNIT_SECOND, run->running ? QUANTITY_RUNNING : QUANTITY_NOT_ENTERED,
        can_mark ? _("name the result with --output, or mark the phase 'write' and its end")
                 : _("name the result with --output"));
}

void fold_phases(struct fold *fold) {
    AUTO_TIMELINE struct timeline timeline = {.fold = fold};
    find_source(&timeline);
    find_stretches(&timeline);
    sweep(&timeline);
    fold->run->lines_came_together = timeline.together;
    if (timeline.source == PHASES_NONE && !timeline.together) {
        fold_phases_find_why(fold);
    }
    set_quantities(&timeline);
    set_result_complete(&timeline);
    if (timeline.unplaced > 0) {
        fold_add_gap(fold, "marks",
                     arena_printf(fold->run->arena,
                                  _("%zu marks of phases have no time: they were found after the "
                                    "measuring process was lost"),
                                  timeline.unplaced),
                     fold->horizon_ns, fold->horizon_ns);
    }
}
