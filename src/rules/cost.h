/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What time costs under the offers of a plan, and what a machine of one's own would cost (DESIGN
 * section 8, docs/cost.md). Pure and exact: integers all the way, rounded up to the micro-unit, so
 * that a bill is never less than rate x time and never falls when time grows. An offer that says
 * too little, has run out, or is for another device gives no amount but the list of what is wrong.
 */
#pragma once

#include "base/mem.h"
#include "model/money.h"
#include "model/plan.h"
#include "model/quantity.h"
#include "rules/estimate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- one bill ---- */

struct cost_use {           /* of one rental */
    int64_t reserved_ns;    /* from login to return */
    uint64_t units;         /* of the offer, side by side */
    int64_t stopped_ns;     /* kept, stopped, with its storage; 0: not */
    uint64_t storage_bytes; /* 0: none known */
    uint64_t in_bytes, out_bytes;
};
/* What the provider would write on the bill of one rental, before anything is known of its
 * likelihood. The offer must be usable. false: beyond 64 bits. ret_lines: in arena, may be NULL. */
bool cost_bill(const struct plan_offer *offer, const struct cost_use *use, struct arena *arena,
               int64_t *ret_micros, struct amount_line **ret_lines, size_t *ret_line_count);
/* The time that is billed for it: minimum term and increment. */
int64_t cost_billed_ns(const struct plan_offer *offer, int64_t reserved_ns);
/* The longest time whose bill (set-up fee and taxes included) stays within the micros; 0: none. */
int64_t cost_time_for(const struct plan_offer *offer, uint64_t units, int64_t micros);

/* "2.49 EUR per hour", translated, of one unit; NULL: the offer names no rate. */
const char *cost_rate_text(const struct plan_offer *offer, struct arena *arena);
/* Currency, or the service unit in its place; NULL: none. */
const char *cost_offer_currency(const struct plan_offer *offer);

/* ---- is an offer usable? ---- */

/* A term of an offer as a text of the plan's own language, the same in every language. */
struct cost_term {
    const char *key, *label; /* as in the plan; translated */
    const char *text;        /* NULL: not said */
};
size_t cost_offer_terms(const struct plan_offer *offer, struct arena *arena,
                        struct cost_term **ret_terms);

struct cost_offer {
    const struct plan_offer *offer;
    bool usable;
    const char *const *wrong; /* translated, each what is missing or does not fit: no amount */
    size_t wrong_count;
    const char *const *unpriced; /* translated: what it names no price for, not in the amounts */
    size_t unpriced_count;
    const char *const *verify; /* translated: what to verify again at booking */
    size_t verify_count;
    struct cost_change {                         /* against the offer that it replaces */
        const char *key, *what, *before, *after; /* before, after: NULL: not said */
    } * changes;
    size_t change_count;
    uint64_t units;
    struct cost_way {
        bool has;
        const char *why; /* translated: why it cannot be told; NULL with has */
        size_t rentals;
        struct quantity reserved; /* what is rented, waiting or restoring included */
        struct quantity billed;
        struct amount amount;
    } continuous, separate; /* one rental that waits; one per block, with restoring (D6, E9) */
    const char *cheaper;    /* translated: which way, by how much, and why; NULL: cannot be told */
    struct quantity cheaper_share; /* ratio: of the futures in which it is; open without an interval
                                      of both, or where they cost the same */
    /* the cheaper one, or the only one; where that cannot be told the one whose own parts are
     * known; NULL: none */
    const struct cost_way *way;
};

/* What the offer lacks for this environment on this day (or on the planned dates), whatever it
 * would cost. measured_gpu: the device that runs were measured on, NULL: none yet. */
void cost_judge_offer(const struct plan *plan, const struct plan_offer *offer,
                      const struct plan_environment *environment, const char *measured_gpu,
                      int64_t now_utc_ns, struct arena *arena, struct cost_offer *ret);

/* ---- owning ---- */

struct cost_owning {
    bool entered;               /* the plan says something about it */
    const char *const *missing; /* translated: figures without value or source, or not readable */
    size_t missing_count;
    struct amount yearly; /* purchase less residual over lifetime, power, administration, … */
    struct amount per_gpu_hour; /* delivered: yearly / (GPUs x 8760 h x utilisation) */
    struct quantity break_even; /* utilisation (ratio) at which renting costs the same, against the
                                   cheapest usable offer of the same currency; open: none */
    struct amount initial_outlay;
    struct quantity lead_time; /* seconds */
    const char *const *beside; /* translated: what the figures leave out: idle capital, … */
    size_t beside_count;
};

struct cost_subtotal {
    const char *name;     /* as in the estimate */
    struct amount amount; /* of its blocks, each as a rental of its own */
};

struct cost {
    const struct estimate *estimate;
    struct cost_offer *offers; /* of this environment, in the order of the plan */
    size_t offer_count;
    const struct cost_offer *chosen; /* the cheapest usable one, of one currency; NULL: none */
    struct amount amount;            /* of all that is left, by it; open: what is missing */
    struct amount *by_block;         /* as estimate->blocks; each as a rental of its own */
    struct cost_subtotal *by_extent, *by_recurrence; /* as in the estimate */
    const char *const *missing; /* translated lines: what an amount lacks, over all offers */
    size_t missing_count;
    struct cost_owning owning;
};

/* What an offer must say before there is an amount: translated, one line each. */
size_t cost_need_count(void);
const char *cost_need(size_t index);

/* The devices that the counting runs of the study were measured on, as they name themselves; NULL:
 * there is no such run, or it had no GPU. */
const char *cost_measured_gpu(const struct study *study, struct arena *arena);

/* The one usable offer for this environment: `id`, or the only one where that is NULL. NULL:
 * *ret_why (translated) says what is missing, or that there are several. */
const struct plan_offer *cost_only_offer(const struct plan *plan, const char *id,
                                         const struct plan_environment *environment,
                                         const char *measured_gpu, int64_t now_utc_ns,
                                         struct arena *arena, const char **ret_why);

/* offer: id of the one that is meant, or NULL. Everything lives in arena. */
void cost_make(const struct estimate *estimate, const char *offer, struct arena *arena,
               struct cost *ret);
