/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What reviews teach (REQUIREMENTS H2, docs/review.md, "What is kept"): of each finished block what
 * was planned and what became of it, kept in the ledger once for a block of an environment and a
 * paper version, however often it is reviewed. From these outcomes: how many stated intervals held,
 * a corrected interval beside the stated one (forecast/conformal.h), and planned against actual as
 * an outside view. No stated figure is changed. Pure.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "model/quantity.h"
#include "rules/review.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fewer intervals than this are counted, but nothing is said of their share. */
#define CALIBRATION_SHARE_LEAST 5u
/* Level of the interval of a share (Jeffreys). */
#define CALIBRATION_SHARE_LEVEL 0.95
/* Closed blocks that make a reference class (FIELD 5.10). */
#define CALIBRATION_RATIO_LEAST 9u

/* ---- one outcome ---- */

struct calibration_part {
    const char *part;          /* a component ("runs"), or "reserved" for the block's sum */
    enum quantity_state state; /* of what was planned: estimated, assumed */
    double planned;            /* p50, seconds */
    bool has_interval;
    double level, p05, p95;    /* only with an interval; seconds */
    const char *basis;         /* "own-runs" …; NULL: none given */
    uint64_t n;                /* observations behind what was planned; 0: not given */
    double actual;             /* seconds */
    enum quantity_bound bound; /* of actual */
    enum review_hit hit;       /* hit, miss or no-interval */
};

/* A finished block. Texts are English names and ids, in the arena or borrowed from plan and kept
 * estimate. No part: what was kept of the block before does not hold any more. */
struct calibration_record {
    const char *study, *block;
    const char *environment, *version; /* of the target, of the paper; NULL: none */
    const char *kind, *extent;         /* of the block, as in the plan; NULL: not said */
    const char *estimate;              /* name of the kept estimate */
    const char *method;                /* that it was made by; NULL: not said */
    int64_t kept_utc_ns;
    int64_t reviewed_utc_ns; /* of the event; of one that is just made INT64_MAX */
    uint64_t conditions;     /* of the block */
    uint64_t made;           /* runs that count, since */
    const struct calibration_part *parts;
    size_t part_count;
};

/* What the review of a block says of it; false: nothing is to be kept and nothing withdrawn (it was
 * not reviewed). A block that is not finished has no part. kept: the estimate it was held against;
 * NULL: not at hand. */
bool calibration_of_block(const struct study *study, const struct review_block *block,
                          const struct review_kept *kept, struct arena *arena,
                          struct calibration_record *ret);

/* The object `outcome` of an event "review-outcome" (docs/journal-format.md): all but whose it
 * is. */
json_t *calibration_to_json(const struct calibration_record *record);
/* Reads such an event; false: it does not say whose outcome it is. Never trusts the document: a
 * part whose figures do not hold together, or contradict its `interval`, is left out. */
bool calibration_from_json(const json_t *event, struct arena *arena,
                           struct calibration_record *ret);
/* Of the same block, environment, paper version and study? Then the later replaces the earlier. */
bool calibration_is_same(const struct calibration_record *a, const struct calibration_record *b);

/* ---- what they say together ---- */

struct calibration_share { /* of stated intervals of components; what rests on assumptions not */
    size_t held, count;
    bool is_told;            /* enough of them: share, low and high are set */
    double share, low, high; /* 0 … 1, Jeffreys interval of CALIBRATION_SHARE_LEVEL */
};
struct calibration_basis {
    const char *basis; /* "own-runs", …; "" where none was given */
    struct calibration_share share;
};
struct calibration {
    const struct calibration_record *records; /* one a block, those that hold, oldest first */
    size_t count;
    size_t studies; /* that these are of */
    struct calibration_share study, ledger;
    const struct calibration_basis *bases; /* over the ledger */
    size_t basis_count;
};

/* events: of the ledger, oldest first. now: records of the review that is just made, which go
 * before those of the same block. study: id of the one at hand. */
void calibration_make(const struct calibration_record *events, size_t event_count,
                      const struct calibration_record *now, size_t now_count, const char *study,
                      struct arena *arena, struct calibration *ret);

/* ---- beside an estimate ---- */

struct calibrated_ratio { /* actual / planned p50 of closed blocks: the outside view */
    size_t count;
    bool is_told; /* at least CALIBRATION_RATIO_LEAST */
    double median, least, most;
};
struct calibrated_figure {
    size_t outcomes;  /* kept ones that can teach this figure */
    const char *why;  /* translated: why nothing is corrected; NULL: it is */
    double factor;    /* corrected / stated half-width of the logarithm; only without why */
    double p05, p95;  /* corrected, 90 %, seconds; likewise */
    bool has_bounds;  /* one-sided ones at 95 % */
    double low, high; /* of which each holds by itself, seconds */
    struct calibrated_ratio ratio;
};
struct calibrated { /* of the figures of a block, or of all */
    struct calibrated_figure computing, reserved;
};

/* Sets `calibrated` of the estimate and its blocks. Only outcomes that were kept before the
 * estimate was made teach it, and none of a block that is not finished (any more). */
void calibration_apply(const struct calibration *calibration, struct estimate *estimate,
                       struct arena *arena);
