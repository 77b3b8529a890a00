/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of an estimate say over and over. Needs cmocka before it. */
#pragma once

#include "build-study.h"

#include <math.h>

static inline const struct quantity *time_of(const struct built *b, size_t block,
                                             enum component k) {
    return &b->estimate.blocks[block].components[k].time;
}

static inline void assert_open(const struct quantity *q, enum quantity_reason reason,
                               const char *detail) {
    assert_int_equal(q->state, QUANTITY_OPEN);
    if (q->reason != reason)
        fail_msg("open (%s): %s", quantity_reason_name(q->reason), q->detail ? q->detail : "");
    if (!q->detail || !strstr(q->detail, detail))
        fail_msg("'%s' does not say '%s'", q->detail ? q->detail : "(null)", detail);
}

static inline void assert_says(const char *text, const char *part) {
    if (!text || !strstr(text, part))
        fail_msg("'%s' does not say '%s'", text ? text : "(null)", part);
}

static inline void assert_near(double a, double b) {
    if (!(fabs(a - b) <= 1e-9 * fmax(1.0, fabs(b))))
        fail_msg("%.12g is not %.12g", a, b);
}

static inline bool has_line(const char *const *lines, size_t count, const char *part) {
    for (size_t i = 0; i < count; i++)
        if (strstr(lines[i], part))
            return true;
    return false;
}

static inline void assert_line(const char *const *lines, size_t count, const char *part) {
    if (!has_line(lines, count, part)) {
        for (size_t i = 0; i < count; i++)
            print_message("  %s\n", lines[i]);
        fail_msg("no line says '%s'", part);
    }
}

/* The open part that says so; NULL: there is none. block NULL: of no block. */
static inline const struct estimate_open *find_open(const struct estimate *e, const char *block,
                                                    enum component k, const char *what) {
    for (size_t i = 0; i < e->open_count; i++) {
        const struct estimate_open *part = &e->open[i];
        bool here = block ? part->block && strcmp(part->block->id, block) == 0 : !part->block;
        if (here && (!part->has_component || part->component == k) && strstr(part->what, what))
            return part;
    }
    return NULL;
}

/* It is open, and this is what closes it. */
static inline const struct estimate_open *assert_remedy(const struct estimate *e, const char *block,
                                                        enum component k, const char *what,
                                                        const char *remedy) {
    const struct estimate_open *part = find_open(e, block, k, what);
    if (!part) {
        for (size_t i = 0; i < e->open_count; i++)
            print_message("  %s: %s\n", e->open[i].block ? e->open[i].block->id : "-",
                          e->open[i].what);
        fail_msg("no part of %s says '%s'", block ? block : "no block", what);
        return NULL;
    }
    if (!strstr(part->remedy, remedy))
        fail_msg("'%s' does not say '%s'", part->remedy, remedy);
    return part;
}

static inline void three_runs(struct built *b, struct study_condition *c) {
    built_counts(b, c, 100.0);
    built_counts(b, c, 104.0);
    built_counts(b, c, 97.0);
}
