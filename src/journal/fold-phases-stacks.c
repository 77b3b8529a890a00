/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines that known programs print (text/phase-patterns.h), as events of their processes. The lines
 * of one program come from several ranks, with and without a name, over two streams; some tell only
 * afterwards how long it took. Must not make a begin out of a line that does not say when it was.
 */
#include "journal/fold-phases.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1e8
#define STATES_MAX  512u /* what further ranks say is left out */

enum said { SAID_BEGIN, SAID_END, SAID_TOLD };

struct said_line {
    struct phases_event event;
    enum said said;
    bool tentative;
    int64_t length_ns; /* -1: not told */
};

/* What one rank said of one phase so far. */
struct state {
    const struct phases_event *of; /* name, stack and rank */
    bool is_open, was_said;
    bool has_tentative;
    int64_t begin_ns; /* of the tentative begin */
};

struct lines {
    struct said_line *items;
    size_t count;
    struct state states[STATES_MAX];
    size_t state_count;
    bool told;
    phases_event_fn each;
    void *context;
};

static void lines_done(struct lines *lines) {
    mem_free_ptr(&lines->items);
}
#define AUTO_LINES __attribute__((cleanup(lines_done)))

/* ---- reading ---- */

/* Ranks that name themselves are followed one by one, as processes are; 0: no name. */
static int64_t rank_number(json_t *ranks, const char *rank) {
    if (rank == NULL) {
        return 0;
    }
    if (json_object_get(ranks, rank) == NULL) {
        json_put_int(ranks, rank, -1 - (int64_t)json_object_size(ranks));
    }
    return json_get_int(ranks, rank, 0);
}

static bool read_line(const json_t *record, json_t *ranks, struct said_line *ret) {
    static const char *const words[] = {"begin", "end", "told"};
    const char *word = json_get_text(record, "event", "");
    size_t said = 0;
    while (said < ARRAY_LENGTH(words) && strcmp(words[said], word) != 0) {
        said++;
    }
    *ret = (struct said_line){
        .said = (enum said)said,
        .tentative = json_get_bool(record, "tentative", false) == 1,
        .length_ns = -1,
        .event =
            {
                .kind = said == SAID_BEGIN ? PHASES_BEGIN : PHASES_END,
                .name = json_get_text(record, "name", NULL),
                .stack = json_get_text(record, "stack", NULL),
                .goes_on = json_get_bool(record, "goes_on", false) == 1,
                .pid = rank_number(ranks, json_get_text(record, "rank", NULL)),
            },
    };
    double seconds = json_get_real(record, "seconds", -1);
    if (seconds >= 0 && seconds < SECONDS_MAX) {
        ret->length_ns = (int64_t)(seconds * 1e9);
    }
    return said < ARRAY_LENGTH(words) && ret->event.name != NULL && ret->event.stack != NULL &&
           phase_from_name(ret->event.name, &ret->event.phase) &&
           fold_get_i64(record, "t_ns", &ret->event.t_ns);
}

static int by_time(const void *a, const void *b) {
    const struct said_line *x = a, *y = b;
    if (x->event.t_ns != y->event.t_ns) {
        return x->event.t_ns < y->event.t_ns ? -1 : 1;
    }
    return x->event.order < y->event.order ? -1 : x->event.order > y->event.order;
}

static void read_lines(struct lines *lines, const json_t *records) {
    AUTO_JSON json_t *ranks = json_object();
    lines->items = mem_alloc((json_array_size(records) + 1) * sizeof *lines->items);
    for (size_t i = 0; i < json_array_size(records); i++) {
        const json_t *record = json_array_get(records, i);
        struct said_line *line = &lines->items[lines->count];
        if (json_get_text(record, "stack", NULL) != NULL && read_line(record, ranks, line)) {
            line->event.order = lines->count++;
        }
    }
    qsort(lines->items, lines->count, sizeof *lines->items, by_time);
}

/* ---- events ---- */

static bool is_about_same(const struct phases_event *a, const struct phases_event *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->stack, b->stack) == 0;
}

static struct state *state_of(struct lines *lines, const struct phases_event *event, int64_t pid) {
    for (size_t i = 0; i < lines->state_count; i++) {
        struct state *state = &lines->states[i];
        if (state->of->pid == pid && is_about_same(state->of, event)) {
            return state;
        }
    }
    if (event->pid != pid || lines->state_count == STATES_MAX) {
        return NULL;
    }
    struct state *state = &lines->states[lines->state_count++];
    *state = (struct state){.of = event};
    return state;
}

/* Ranks with a name that are in it. */
static size_t count_named(const struct lines *lines, const struct phases_event *event) {
    size_t named = 0;
    for (size_t i = 0; i < lines->state_count; i++) {
        const struct state *state = &lines->states[i];
        named += state->of->pid != 0 && state->is_open && is_about_same(state->of, event);
    }
    return named;
}

static void emit(struct lines *lines, struct phases_event event, int64_t t_ns,
                 enum phases_event_kind kind) {
    event.t_ns = t_ns;
    event.kind = kind;
    lines->each(&event, lines->context);
}

static void add_begin(struct lines *lines, const struct said_line *line, struct state *state) {
    const struct phases_event *event = &line->event;
    if (line->tentative) {
        state->begin_ns = state->has_tentative ? state->begin_ns : event->t_ns;
        state->has_tentative = true;
    } else {
        emit(lines, *event, event->t_ns, PHASES_BEGIN);
        state->is_open = state->was_said = true;
    }
}

/* A bar does not say whose it is: with the last rank that has a name it is over, too. */
static void add_end(struct lines *lines, const struct said_line *line, struct state *state) {
    const struct phases_event *event = &line->event;
    struct state *nameless = state_of(lines, event, 0);
    bool is_alone = nameless == NULL || !nameless->is_open;
    if (!state->was_said && is_alone && line->length_ns >= 0 && line->length_ns <= event->t_ns) {
        emit(lines, *event, event->t_ns - line->length_ns, PHASES_BEGIN);
        lines->told = true;
    }
    emit(lines, *event, event->t_ns, PHASES_END);
    state->is_open = false;
    state->was_said = true;
    if (event->pid != 0 && !is_alone && count_named(lines, event) == 0) {
        emit(lines, *nameless->of, event->t_ns, PHASES_END);
        nameless->is_open = false;
    }
}

/* The program says afterwards how long it took: with the begin that is the end. Without, nothing is
 * known; and a begin of such a program alone would hold to the end of the run. */
static void add_told(struct lines *lines, const struct said_line *line, struct state *state) {
    if (line->length_ns < 0 || !state->has_tentative ||
        state->begin_ns > line->event.t_ns - line->length_ns) {
        return;
    }
    emit(lines, line->event, state->begin_ns, PHASES_BEGIN);
    emit(lines, line->event, state->begin_ns + line->length_ns, PHASES_END);
    state->has_tentative = false;
    lines->told = true;
}

void fold_phases_add_stacks(const struct fold *fold, phases_event_fn each, void *context,
                            bool *ret_told) {
    AUTO_LINES struct lines lines = {.each = each, .context = context};
    read_lines(&lines, fold->phases);
    for (size_t i = 0; i < lines.count; i++) {
        const struct said_line *line = &lines.items[i];
        struct state *state = state_of(&lines, &line->event, line->event.pid);
        if (state == NULL) {
            continue;
        }
        switch (line->said) {
        case SAID_BEGIN:
            add_begin(&lines, line, state);
            break;
        case SAID_END:
            add_end(&lines, line, state);
            break;
        case SAID_TOLD:
            add_told(&lines, line, state);
            break;
        }
    }
    *ret_told = lines.told;
}

/* ---- lines that come at one time ---- */

static bool is_same_event(const struct phases_event *a, const struct phases_event *b) {
    return a->kind == b->kind && a->name != NULL && b->name != NULL &&
           strcmp(a->name, b->name) == 0;
}

/* Events at one time, [from, to). */
static size_t end_of_moment(const struct phases_event *events, size_t count, size_t from,
                            bool *ret_users_begin) {
    size_t to = from;
    *ret_users_begin = false;
    for (; to < count; to++) {
        const struct phases_event *event = &events[to];
        if (event->t_ns != events[from].t_ns) {
            break;
        }
        *ret_users_begin |= event->pid == PHASES_USER_PID && event->kind == PHASES_BEGIN;
    }
    return to;
}

size_t fold_phases_yield_to_user(struct phases_event *events, size_t count) {
    size_t kept = 0;
    bool users_begin;
    for (size_t i = 0, to; i < count; i = to) {
        to = end_of_moment(events, count, i, &users_begin);
        for (size_t k = i; k < to; k++) {
            const struct phases_event event = events[k];
            if (!users_begin || event.pid == PHASES_USER_PID || event.kind != PHASES_BEGIN) {
                events[kept++] = event;
            }
        }
    }
    return kept;
}

/* Their order is known, their times are not. A line that says again what the one before said is
 * harmless, and so is one of a known program that ends what a line of the user ends as well. */
bool fold_phases_came_together(const struct phases_event *events, size_t count) {
    bool users_begin;
    for (size_t i = 0, to; i < count; i = to) {
        const struct phases_event *last = NULL;
        to = end_of_moment(events, count, i, &users_begin);
        for (size_t k = i; k < to; k++) {
            const struct phases_event *event = &events[k];
            if (users_begin && event->pid != PHASES_USER_PID) {
                continue;
            }
            if (last != NULL && !is_same_event(event, last)) {
                return true;
            }
            last = event;
        }
    }
    return false;
}

/* ---- beside the lines that the user names ---- */

static int by_pid(const void *a, const void *b) {
    const struct phases_event *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void fold_phases_end_each_other(const struct phases_event *events, size_t count,
                                phases_event_fn each, void *context) {
    /* of known programs since the last begin of the user's, and what follows from all of them */
    AUTO_FREE struct phases_event *known = mem_alloc((count + 1) * sizeof *known);
    AUTO_FREE struct phases_event *gone = mem_alloc((2 * count + 1) * sizeof *gone);
    size_t known_count = 0, gone_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct phases_event *event = &events[i];
        bool is_begin = event->kind == PHASES_BEGIN;
        struct phases_event end = {
            .kind = PHASES_GONE, .t_ns = event->t_ns, .pid = PHASES_USER_PID};
        if (event->pid != PHASES_USER_PID) {
            known[known_count++] = *event;
            if (is_begin) {
                gone[gone_count++] = end;
            }
            continue;
        }
        if (known_count > 1) {
            qsort(known, known_count, sizeof *known, by_pid);
        }
        for (size_t k = 0; k < known_count && is_begin; k++) {
            end.pid = known[k].pid;
            if (k == 0 || known[k - 1].pid != end.pid) {
                gone[gone_count++] = end;
            }
        }
        known_count = is_begin ? 0 : known_count;
    }
    for (size_t i = 0; i < gone_count; i++) {
        each(&gone[i], context);
    }
}
