/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several studies together (D10): of each the newest estimate that was kept, added up by extent and
 * recurrence. Pure. Sums name their parts and have no interval, since medians do not add up;
 * calendar time is not added: studies may run side by side.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "model/money.h"
#include "model/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum studies_state {
    STUDIES_NOT_CHECKED = 0, /* its plan is not at hand */
    STUDIES_CURRENT,
    STUDIES_OUTDATED,
    STUDIES_STATE_COUNT_
};
const char *studies_state_name(enum studies_state state); /* "not-checked", "current", "outdated" */

struct studies_input {
    const char *study;       /* id */
    const char *title;       /* NULL: none */
    const char *name;        /* of the kept estimate */
    const char *event;       /* its id */
    const char *environment; /* NULL: none */
    int64_t utc_ns;
    enum studies_state state;
    const char *outdated;   /* translated: what changed since; only with that state */
    const json_t *estimate; /* probelauf.estimate/1 as it was kept; borrowed */
};

enum studies_figure {
    STUDIES_COMPUTING = 0,
    STUDIES_RESERVED,
    STUDIES_EFFORT,
    STUDIES_GPU,
    STUDIES_FIGURE_COUNT_
};
const char *studies_figure_name(enum studies_figure figure); /* "computing", ... as in estimate/1 */

/* Amounts of one currency or service unit added up; those of others are never added to it. */
struct studies_money {
    const char *currency;
    bool is_service_unit;
    struct amount amount; /* its lines: the studies */
};

struct studies_row {
    const struct studies_input *input;
    struct amount amount;
    const char *label; /* the title, else the end of the id */
    struct quantity figures[STUDIES_FIGURE_COUNT_];
};

struct studies_subtotal {
    const char *name;   /* "validation", "full", "one-off", "recurring", "not said" */
    size_t study_count; /* studies that have such blocks */
    uint64_t block_count;
    struct quantity figures[STUDIES_FIGURE_COUNT_];
    struct studies_money *money; /* one per currency */
    size_t money_count;
    size_t without_amount; /* studies whose amount is open: in no sum */
};

struct studies {
    struct studies_row *rows;
    size_t row_count;
    struct quantity total[STUDIES_FIGURE_COUNT_];
    struct studies_money *money;
    size_t money_count, without_amount;
    struct studies_subtotal *by_extent, *by_recurrence;
    size_t by_extent_count, by_recurrence_count;
    size_t not_current; /* rows that are outdated or could not be checked */
};

/* inputs: one per study; everything lives in arena and points to them. */
void studies_sum(const struct studies_input *inputs, size_t count, struct arena *arena,
                 struct studies *ret_studies);
