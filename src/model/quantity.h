/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The central type: everything a reader may take for a fact. A quantity says its value and how it
 * is known; zeroed memory is an open quantity, so what nobody read can never be 0 by accident. A
 * number is written only by the code that read it; what was not read is open, never 0.
 *
 * Quantities are plain values. All pointers are borrowed: from static text or from the arena of the
 * run, estimate or report they belong to.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum quantity_state {
    QUANTITY_OPEN = 0,
    QUANTITY_ASSUMED,
    QUANTITY_ESTIMATED,
    QUANTITY_MEASURED,
    QUANTITY_STATE_COUNT_
};

enum quantity_bound {
    QUANTITY_EXACT = 0,
    QUANTITY_AT_LEAST, /* sampled peaks, cut-off durations */
    QUANTITY_AT_MOST,
    QUANTITY_BOUND_COUNT_
};

/* Why an open quantity is open (DESIGN section 2). NONE only together with another state. */
enum quantity_reason {
    QUANTITY_NO_REASON = 0,
    QUANTITY_NOT_SUPPORTED,
    QUANTITY_NOT_PERMITTED,
    QUANTITY_NOT_VISIBLE,
    QUANTITY_NOT_SAMPLED,
    QUANTITY_NOT_SEPARATED,
    QUANTITY_STALE,
    QUANTITY_FAILED,
    QUANTITY_MONITOR_LOST,
    QUANTITY_RUNNING,
    QUANTITY_NOT_ENTERED,
    QUANTITY_NOT_IN_RECORD,
    QUANTITY_NO_OFFER,
    QUANTITY_NO_EVIDENCE,
    QUANTITY_TOO_FEW_RUNS,
    QUANTITY_NOT_APPLICABLE,
    QUANTITY_REASON_COUNT_
};

/* Units are texts because results bring their own ("token/s"). The common ones: */
#define UNIT_SECOND      "s"
#define UNIT_BYTE        "byte"
#define UNIT_JOULE       "J"
#define UNIT_WATT        "W"
#define UNIT_RATIO       "1"
#define UNIT_COUNT       "count"
#define UNIT_CORE_SECOND "core.s" /* CPU time: one core for one second */

struct quantity_part; /* a named part of a sum */

struct quantity {
    enum quantity_state state;
    enum quantity_bound bound;
    enum quantity_reason
        reason;   /* set exactly when state is open (NOT_SAMPLED is what zeroed memory reads as) */
    double value; /* meaningful unless open; for an estimate the p50 */
    const char *unit; /* NULL and "" read as "1" */
    const char
        *method; /* how it was obtained: "wait4 ru_maxrss", "sampled 1 Hz"; NULL: none given */
    const char *detail;         /* one more sentence for people, translated; may be NULL */
    int64_t at_utc_ns;          /* 0: no time given */
    uint64_t n;                 /* observations behind it; 0: not given */
    const char *const *sources; /* run ids, plan lines, offers */
    size_t source_count;
    /* estimates with an interval; assumptions with that of the estimates in them */
    bool has_interval;
    double level, p05, p95; /* p50 is value */
    const char *basis;      /* "own-runs", "borrowed-spread", "assumed-class"; NULL: none */
    const struct quantity_part *parts;
    size_t part_count;
    /* what the value lacks, by name through all parts below ("compare/runs/policy=evict"); kept
     * where the parts themselves are not; NULL with parts: told from them */
    const char *const *open_parts;
    size_t open_part_count;
};

struct quantity_part {
    const char *name;
    struct quantity quantity;
};

struct quantity quantity_open(const char *unit, enum quantity_reason reason, const char *detail);
struct quantity quantity_measured(const char *unit, double value, const char *method);
struct quantity quantity_bounded(const char *unit, double value, enum quantity_bound bound,
                                 const char *method); /* measured */

bool quantity_is_known(const struct quantity *q); /* any state but open */
bool quantity_is_valid(const struct quantity *q); /* the invariants above hold */
/* Sets open_parts from the parts: the open ones, and in place of one that says what it lacks itself
 * those, behind its name and "/". */
void quantity_name_open_parts(struct quantity *q, struct arena *arena);

/*
 * Sum of parts with the same unit. State: the weakest of the known parts. An open part makes the
 * sum "at least": bound AT_LEAST over the known parts, and the open ones stay named among the
 * parts. Without any known part the sum is open (reason of the first part). at-least and at-most
 * parts together leave no known bound: the sum is then open (not-separated) with its parts named;
 * so do an open part and an at-most one (parts are amounts: none is negative). A part with an
 * interval leaves the sum without one, because medians do not add up; the detail says so. Sources
 * are united. Allocates from arena.
 */
struct quantity quantity_sum(struct arena *arena, const char *unit,
                             const struct quantity_part *parts, size_t count);

const char *quantity_state_name(enum quantity_state state);    /* "open", ... */
const char *quantity_bound_name(enum quantity_bound bound);    /* "exact", "at-least", "at-most" */
const char *quantity_reason_name(enum quantity_reason reason); /* "not-supported", ... */
bool quantity_reason_from_name(const char *name, enum quantity_reason *ret_reason);

/* The formatter for machines: the object of schema/quantity.schema.json. Byte and count values that
 * are whole are integers. */
json_t *quantity_to_json(const struct quantity *q);

/* The formatter for people, translated: "1.36 GiB", "≥ 12.3 s", "open (not separated)"; state mark
 * first where asked for. ascii: no character beyond ASCII ("at least 12.3 s"). */
struct quantity_style {
    bool ascii;
    bool mark; /* prefix of the state: m / e / a / ? in brackets, the same in every output */
};
void quantity_format(const struct quantity *q, struct quantity_style style, struct strbuf *out);

/* How it was obtained (quantity.method), translated where the text is one of ours. */
void quantity_add_method(struct strbuf *out, const char *method);
/* Its unit ("GPU-hours"), what it rests on (quantity.basis) and the name of a part of it
 * ("retries/keep=1"), likewise. */
void quantity_add_unit(struct strbuf *out, const char *unit);
void quantity_add_basis(struct strbuf *out, const char *basis);
void quantity_add_part(struct strbuf *out, const char *name);

/* A value with its bound: "≥ X", or "at least X" in words. */
void quantity_add_bounded(enum quantity_bound bound, bool in_words, const char *value,
                          struct strbuf *out);
/* The value part alone: seconds as "1 h 02 min", "12.3 s", "41 ms"; bytes as IEC units; others with
 * 3-4 digits. */
void quantity_format_value(double value, const char *unit, struct strbuf *out);
