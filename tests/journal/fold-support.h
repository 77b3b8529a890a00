/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A journal in, a run out, and quantities compared as one line of text. */
#pragma once

#include "support.h"

#include "journal/fold.h"

#include <math.h>

static inline struct run *fold_bytes(const struct strbuf *bytes, bool live, bool with_series) {
    struct fold_input input = {.bytes = bytes->data, .length = bytes->length, .live = live};
    struct run *run = NULL;
    struct err err = ERR_INIT;
    must(fold_run(&input, with_series, &run, &err), &err);
    return run;
}

/* Records as (kind, JSON) pairs up to kind 0. */
struct line {
    uint32_t kind;
    const char *json;
};

static inline struct run *fold_lines(const char *start_more, const struct line *lines, bool live) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, start_more);
    for (; lines->kind != 0; lines++) {
        add(&bytes, lines->kind, lines->json);
    }
    return fold_bytes(&bytes, live, false);
}

/* "= 3 s", ">= 3 s", "<= 3 s", "open running s" */
static inline void quantity_line(const struct quantity *q, char ret[96]) {
    static const char *const bounds[] = {"=", ">=", "<="};
    assert_true(quantity_is_valid(q));
    const char *unit = q->unit != NULL ? q->unit : "1";
    if (q->state == QUANTITY_OPEN) {
        snprintf(ret, 96, "open %s %s", quantity_reason_name(q->reason), unit);
    } else {
        assert_int_equal(q->state, QUANTITY_MEASURED);
        assert_non_null(q->method);
        snprintf(ret, 96, "%s %.12g %s", bounds[q->bound], q->value, unit);
    }
}

#define assert_quantity(q, expected)          \
    do {                                      \
        char line_[96];                       \
        quantity_line(&(q), line_);           \
        assert_string_equal(line_, expected); \
    } while (0)

/* "0-2 load, 2-5 unattributed" */
static inline void phase_line(const struct run *run, struct strbuf *out) {
    for (size_t i = 0; i < run->phase_count; i++) {
        strbuf_printf(out, "%s%.10g-%.10g %s", i > 0 ? ", " : "", run->phases[i].start_s,
                      run->phases[i].end_s, run->phases[i].name);
    }
}

#define assert_phases(run, expected)                         \
    do {                                                     \
        AUTO_STRBUF struct strbuf phases_ = STRBUF_INIT;     \
        phase_line(run, &phases_);                           \
        assert_string_equal(strbuf_str(&phases_), expected); \
    } while (0)

/* Phases follow one another from 0 on, and the known sums add up to the wall time. */
static inline void assert_adds_up(const struct run *run) {
    double at = 0, sum = 0;
    for (size_t i = 0; i < run->phase_count; i++) {
        assert_true(run->phases[i].start_s == at);
        assert_true(run->phases[i].end_s > at);
        at = run->phases[i].end_s;
    }
    for (enum phase phase = 0; phase < PHASE_COUNT_; phase++) {
        sum += quantity_is_known(&run->phase[phase]) ? run->phase[phase].value : 0;
    }
    if (quantity_is_known(&run->wall)) {
        assert_true(at == run->wall.value);
        assert_true(fabs(sum - run->wall.value) <= 1e-12 * run->wall.value);
    }
}
