/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines that common programs print when they begin and end to load (and, where they say so, to
 * compute): what a run is told apart by when neither its author nor its user says anything. Lines
 * of the user and the plan come first (pattern.h); a line that does not come means nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum phase_line_event {
    PHASE_LINE_BEGIN = 0,
    PHASE_LINE_END,
    PHASE_LINE_TOLD, /* afterwards: how long it took; not when it ended */
};

struct phase_line {
    const char *stack; /* whose line it is: "vllm"; static */
    const char *phase; /* static */
    enum phase_line_event event;
    bool goes_on;   /* a begin that says that it has been going on: a bar in its middle */
    bool tentative; /* a begin that is nothing without the TOLD that may follow */
    size_t at;      /* bytes of the line before it: lines stick together */
    double seconds; /* as the program printed it; -1: it did not */
    char rank[24];  /* which of several processes says so ("TP0", "pid=77"); "": not told */
};

/* What follows a stream, so that a bar of a thousand states is told as its begin and its end. */
struct phase_lines;
struct phase_lines *phase_lines_new(void);
struct phase_lines *phase_lines_free(struct phase_lines *lines); /* accepts NULL */
typedef void (*phase_line_fn)(const struct phase_line *found, void *context);
/* One line without its end, as line_splitter gives it. Calls back for each event in it that is new,
 * in the order in which they stand there. */
void phase_lines_take(struct phase_lines *lines, const char *line, phase_line_fn each,
                      void *context);

/* Bytes without which no line of the table is: a piece of a stream that has none of them needs no
 * look at its lines. */
bool phase_lines_may_have(const char *bytes, size_t length);

/* The table, for docs and tests. */
struct phase_pattern {
    const char *stack, *phase, *event; /* "begin", "end", "bar", "told" */
    const char *text;                  /* what stands in the line */
    const char *more;                  /* and behind it; NULL: nothing */
};
extern const struct phase_pattern phase_patterns[];
extern const size_t phase_pattern_count;
