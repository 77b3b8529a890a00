/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the cost share; internal to rules/. */
#pragma once

#include "rules/cost.h"

#define COST_GB            UINT64_C(1000000000) /* the GB of offers; 1 GiB is 1.073741824 of them */
#define NS_PER_MONTH       (30 * NS_PER_DAY)
#define COST_MICRO_PERCENT UINT64_C(100000000) /* 100 %, in micros of a percent */

/* ---- lists of texts, growing in an arena ---- */

struct cost_texts {
    const char **items;
    size_t count, room;
};
void cost_texts_add(struct cost_texts *list, const char *text, struct arena *arena);

/* ---- cost-bill.c ---- */

/* Of a term; 0: not given. */
int64_t cost_given_ns(const struct plan_duration *duration);
/* Nanoseconds of one "hour", …; 0: not a unit that is known. */
int64_t cost_per_ns(const char *per);
/* What one GPU (of an offer that counts none: one unit) costs for an hour, taxes included; false:
 * it cannot be told. */
bool cost_hourly(const struct plan_offer *offer, bool by_gpu, int64_t *ret_micros);
/* Taxes come on top of the prices, or may: how much is not said, so that no bill holds them. */
bool cost_taxes_are_open(const struct plan_offer *offer);

/* ---- cost-offer.c ---- */

/* "offer 'a' (probelauf.yaml:80)" */
const char *cost_offer_name(const struct plan *plan, const struct plan_offer *offer,
                            struct arena *arena);
/* As cost_judge_offer; past: of time that is over, so that neither planned dates nor what can still
 * be had matter. */
void cost_judge(const struct plan *plan, const struct plan_offer *offer,
                const struct plan_environment *environment, const char *measured_gpu,
                int64_t now_utc_ns, bool past, struct arena *arena, struct cost_offer *ret);

/* ---- cost-tariff.c: many bills without their lines ---- */

struct cost_divisor {
    uint64_t value;
    double inverse; /* nearly */
};
struct cost_fraction {
    uint64_t above;
    struct cost_divisor below;
};
/* An offer made ready; borrows it. What cost_bill says of a time, this says, too. */
struct cost_tariff {
    const struct plan_offer *offer;
    struct cost_use use; /* but for the time */
    bool is_ready;       /* else every bill is one of cost_bill */
    struct cost_divisor increment_ns;
    int64_t minimum_ns, maximum_ns /* 0: none */, full_ns; /* billed for maximum_ns */
    int64_t minimum_rent, full_rent, fee, fixed;           /* micros, before taxes */
    struct cost_fraction rent;                             /* micros for each increment */
    struct cost_fraction storage;                          /* for each nanosecond, running */
    struct cost_fraction taxes;                            /* of the rest */
};
struct cost_billed {
    int64_t micros, ns;
};
struct cost_tariff cost_tariff_of(const struct plan_offer *offer, const struct cost_use *use);
/* false: beyond 64 bits. */
bool cost_tariff_bill(const struct cost_tariff *tariff, int64_t reserved_ns,
                      struct cost_billed *ret);

/* ---- cost-futures.c: times and amounts that have a value in each future ---- */

#define COST_BEYOND INT64_MAX /* more than can be counted, or a time that cannot be rented */

/* A quantile lies between two of the futures. A time is shown in between; money and what is billed
 * is that of the upper one, which is a bill that would be written, and never below the time's. */
struct cost_quantile {
    int64_t below, above;
    double share; /* of the way from the one to the other */
};
struct cost_futures { /* nanoseconds or micros, borrowed from an arena */
    int64_t *values;  /* not sorted: future i here is future i of everything else */
    size_t count;     /* 1: the same in every future */
    struct cost_quantile p05, p50, p95; /* once settled */
};
struct cost_futures cost_futures_new(size_t count, struct arena *arena);
int64_t cost_futures_at(const struct cost_futures *futures, size_t i);
void cost_futures_settle(struct cost_futures *futures);
/* Seconds, rounded up to the nanosecond; COST_BEYOND: more than is counted. */
int64_t cost_ns(double seconds);
/* Value and ends of the interval, where the quantity has one, in seconds. */
void cost_futures_take(const struct cost_futures *times, struct quantity *q);
/* Adds to each future the bill of its time, and to `billed` (NULL: not wanted) the billed time.
 * More than can be counted stays that. */
void cost_futures_bill(const struct cost_futures *times, const struct plan_offer *offer,
                       const struct cost_use *use, struct cost_futures *micros,
                       struct cost_futures *billed);
void cost_futures_add(struct cost_futures *sum, const struct cost_futures *part);
/* Puts the futures of a sum into it: amount is the sum of the medians (amount_sum), with a line for
 * what they lack to the median of the sum. like: has the sum an interval, and of which level? */
void cost_futures_sum(struct amount *amount, const struct cost_futures *micros,
                      const struct quantity *like, struct arena *arena);

/* ---- cost-rentals.c: what a plan and an estimate say of renting, whatever the offer ---- */

struct cost_rentals {
    const struct estimate *estimate;
    const struct plan *plan;
    size_t count;       /* futures; 1: nothing is drawn */
    size_t left;        /* blocks with something to do */
    bool is_stopped;    /* between two rentals: its disks stay, nothing is restored */
    bool is_task_open;  /* a task that needs the machine has no time */
    size_t tasks_block; /* whose rental holds those that have one: the first with a time; or none */
    bool is_restore_open;               /* a part of what a rental restores */
    enum quantity_state repeated_state; /* the weakest in it; without any: what the plan says */
    bool is_wait_known, is_wait_assumed;
    double wait_s;
    const char *wait_source;
    /* of each block, settled: as a rental of its own; the same as one of the separate rentals; what
     * each further rental of it restores */
    struct cost_futures *own, *separate, *restore;
    /* of one rental for all, waiting included; what each further one restores; what separate
     * rentals restore that the one does not */
    struct cost_futures whole, whole_restore, repeated;
};
/* Texts live in arena, futures in scratch. */
struct cost_rentals cost_rentals_of(const struct estimate *estimate, struct arena *arena,
                                    struct arena *scratch);
bool cost_is_left(const struct estimate_block *block); /* is there anything to do in it? */
/* The times in rentals no longer than the offer's longest term, each further one with what is
 * restored; COST_BEYOND where restoring alone takes longer. Settled. */
struct cost_futures cost_in_terms(const struct cost_futures *times,
                                  const struct cost_futures *restore,
                                  const struct plan_offer *offer, struct arena *scratch);
const char *cost_why_too_short(void); /* translated */

/* ---- cost-price.c ---- */

struct cost_volume { /* of what is rented for */
    struct quantity in, out;
};
struct cost_price {
    struct amount amount;
    struct quantity billed; /* time */
    struct cost_use use;    /* but for the time */
};
/* The price of one rental. time: reserved, seconds. times: its futures, settled; NULL: its value
 * alone. stopped_ns: between rentals; negative: not known. */
struct cost_price cost_price(const struct plan *plan, const struct cost_offer *offer,
                             const struct quantity *time, const struct cost_futures *times,
                             int64_t stopped_ns, const struct cost_volume *volume,
                             struct arena *arena);

/* ---- cost-ways.c, cost-cheaper.c ---- */

void cost_find_ways(const struct cost_rentals *rentals, struct arena *arena,
                    struct cost_offer *offer);
/* Which of both; their futures, unsettled or settled, count of both being that of the rentals. */
void cost_find_cheaper(const struct cost_rentals *rentals, const struct cost_futures *continuous,
                       const struct cost_futures *separate, struct arena *arena,
                       struct cost_offer *offer);

/* ---- cost-read.c: figures of owning{} ---- */

enum cost_reading {
    COST_READ = 0,
    COST_UNREADABLE,
    COST_AMBIGUOUS,      /* "18.000": a point before thousands, or before a fraction? */
    COST_OTHER_CURRENCY, /* than owning's; nothing is converted */
    COST_IMPLAUSIBLE,    /* more hours of work than a year has */
};
/* currency: owning's; NULL: none is entered, and any three capitals are taken */
enum cost_reading cost_read_money(const char *text, const char *currency, int64_t *ret_micros);
bool cost_read_span(const char *text, int64_t *ret_ns); /* "4 years", "10 weeks" */
enum cost_reading cost_read_power(const char *text, uint64_t *ret_milliwatts); /* "900 W" */
/* "0.31 per kWh" */
enum cost_reading cost_read_per_kwh(const char *text, const char *currency, int64_t *ret_micros);
bool cost_read_share(const char *text, uint64_t *ret_millionths); /* "30%", "0.3" */
/* "900 a year", "75 a month" as micros a year; "2 h a week at 45" as micros with the hours; "2 h a
 * week" as hours alone (*ret_has_money false). */
struct cost_yearly {
    bool has_money, has_hours;
    int64_t micros;   /* a year */
    int64_t hours_ns; /* of work, a year */
};
enum cost_reading cost_read_yearly(const char *text, const char *currency, struct cost_yearly *ret);

/* ---- cost-owning.c ---- */

/* offers: those of the environment, judged; currency and price of the cheapest usable one count. */
void cost_owning_make(const struct plan *plan, const struct cost_offer *offers, size_t count,
                      struct arena *arena, struct cost_owning *ret);
