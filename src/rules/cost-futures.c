/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times and amounts with a value in each future: their quantiles, the bills of them, and sums. A
 * bill never falls when the time grows, so that of one rental the quantiles of the bills are the
 * bills of the time's; of several the bills are added in each future first. Must not add quantiles,
 * nor share them out.
 */
#include "rules/cost-parts.h"

#include "base/mem.h"
#include "base/msg.h"

#include <math.h>
#include <string.h>

#define NS_MOST 9.0e18
/* What the arithmetic of doubles adds to a sum of times: not a time, and not rounded up as one. */
#define NOT_A_TIME 1e-15

int64_t cost_ns(double seconds) {
    double ns = ceil(seconds * 1e9 * (1.0 - NOT_A_TIME));
    if (!isfinite(ns) || ns > NS_MOST)
        return COST_BEYOND;
    return ns > 0 ? (int64_t)ns : 0;
}

struct cost_futures cost_futures_new(size_t count, struct arena *arena) {
    return (struct cost_futures){.values = arena_alloc(arena, count * sizeof(int64_t)),
                                 .count = count};
}

int64_t cost_futures_at(const struct cost_futures *futures, size_t i) {
    return futures->values[futures->count == 1 ? 0 : i];
}

/* ---- quantiles ---- */

static void swap(int64_t *a, int64_t *b) {
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts the value of that rank in its place: no larger one before it, no smaller one behind it. */
static void put_rank(int64_t *values, size_t count, size_t rank) {
    ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, at = (ptrdiff_t)rank;
    while (low < high) {
        int64_t pivot = values[at];
        ptrdiff_t i = low, k = high;
        while (i <= k) {
            while (values[i] < pivot)
                i++;
            while (values[k] > pivot)
                k--;
            if (i <= k)
                swap(&values[i++], &values[k--]);
        }
        low = k < at ? i : low;
        high = at < i ? k : high;
    }
}

static struct cost_quantile find_quantile(int64_t *values, size_t count, size_t percent) {
    size_t rank = (count - 1) * percent / 100, rest = (count - 1) * percent % 100;
    put_rank(values, count, rank);
    struct cost_quantile quantile = {.below = values[rank], .above = values[rank]};
    if (rest == 0)
        return quantile;
    quantile.above = values[rank + 1];
    for (size_t i = rank + 2; i < count; i++)
        if (values[i] < quantile.above)
            quantile.above = values[i];
    quantile.share = (double)rest / 100.0;
    return quantile;
}

void cost_futures_settle(struct cost_futures *futures) {
    AUTO_FREE int64_t *values = mem_alloc(futures->count * sizeof *values);
    memcpy(values, futures->values, futures->count * sizeof *values);
    futures->p05 = find_quantile(values, futures->count, 5);
    futures->p50 = find_quantile(values, futures->count, 50);
    futures->p95 = find_quantile(values, futures->count, 95);
}

static double seconds_of(const struct cost_quantile *quantile) {
    double below = (double)quantile->below / 1e9, above = (double)quantile->above / 1e9;
    return below + quantile->share * (above - below);
}

void cost_futures_take(const struct cost_futures *times, struct quantity *q) {
    if (!quantity_is_known(q))
        return;
    q->value = seconds_of(&times->p50);
    q->has_interval = q->has_interval && times->p95.above < COST_BEYOND;
    q->p05 = q->has_interval ? seconds_of(&times->p05) : 0.0;
    q->p95 = q->has_interval ? seconds_of(&times->p95) : 0.0;
    q->level = q->has_interval ? q->level : 0.0;
}

/* ---- bills and sums ---- */

static void add_to(int64_t *sum, int64_t more) {
    if (*sum == COST_BEYOND || more == COST_BEYOND || __builtin_add_overflow(*sum, more, sum))
        *sum = COST_BEYOND;
}

static struct cost_billed bill_of(const struct cost_tariff *tariff, int64_t ns) {
    struct cost_billed bill;
    if (ns == COST_BEYOND || !cost_tariff_bill(tariff, ns, &bill))
        return (struct cost_billed){COST_BEYOND, COST_BEYOND};
    return bill;
}

void cost_futures_bill(const struct cost_futures *times, const struct plan_offer *offer,
                       const struct cost_use *use, struct cost_futures *micros,
                       struct cost_futures *billed) {
    const struct cost_tariff tariff = cost_tariff_of(offer, use);
    struct cost_billed bill = bill_of(&tariff, times->values[0]);
    for (size_t i = 0; i < micros->count; i++) {
        if (i > 0 && times->count > 1)
            bill = bill_of(&tariff, times->values[i]);
        add_to(&micros->values[i], bill.micros);
        if (billed)
            add_to(&billed->values[i], bill.ns);
    }
}

void cost_futures_add(struct cost_futures *sum, const struct cost_futures *part) {
    for (size_t i = 0; i < sum->count; i++)
        add_to(&sum->values[i], cost_futures_at(part, i));
}

static void add_line(struct amount *amount, int64_t micros, struct arena *arena) {
    struct amount_line *lines = arena_alloc(arena, (amount->line_count + 1) * sizeof *lines);
    for (size_t i = 0; i < amount->line_count; i++)
        lines[i] = amount->lines[i];
    lines[amount->line_count] = (struct amount_line){
        .text = _("medians do not add up: the sum is made in each future, not of these lines"),
        .micros = micros,
        .source = amount->source_count > 0 ? amount->sources[0] : NULL,
    };
    amount->lines = lines;
    amount->line_count++;
}

void cost_futures_sum(struct amount *amount, const struct cost_futures *micros,
                      const struct quantity *like, struct arena *arena) {
    if (!amount_is_known(amount))
        return;
    if (micros->p50.above == COST_BEYOND) {
        *amount =
            amount_open(QUANTITY_NOT_SUPPORTED, _("the amount is beyond what can be counted"));
        return;
    }
    if (micros->p50.above != amount->micros)
        add_line(amount, micros->p50.above - amount->micros, arena);
    amount->micros = micros->p50.above;
    amount->has_interval =
        quantity_is_known(like) && like->has_interval && micros->p95.above < COST_BEYOND;
    amount->level = amount->has_interval ? like->level : 0.0;
    amount->p05 = amount->has_interval ? micros->p05.above : 0;
    amount->p95 = amount->has_interval ? micros->p95.above : 0;
}
