/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The price of one rental: its bill with the lines, how it is known, what is not in it and what it
 * rests on. Must not fill a gap, and must not be more certain than the time behind it.
 */
#include "rules/cost-parts.h"

#include "base/msg.h"

#include <math.h>

struct pricing {
    const struct plan *plan;
    const struct cost_offer *offer;
    const struct cost_volume *volume;
    struct cost_use use;
    struct cost_texts lacks;
    struct arena *arena;
    enum quantity_state state;
};

/* Bytes that have a price; what of them is not known is not in the amount. */
static uint64_t volume_of(struct pricing *pricing, const struct quantity *bytes,
                          const struct plan_amount *price, const char *unknown,
                          const char *partly) {
    if (!price->given || price->micros <= 0)
        return 0;
    if (!quantity_is_known(bytes) || !isfinite(bytes->value) || bytes->value < 0 ||
        bytes->value > 9e18) {
        cost_texts_add(&pricing->lacks, unknown, pricing->arena);
        return 0;
    }
    if (bytes->bound == QUANTITY_AT_LEAST)
        cost_texts_add(&pricing->lacks, partly, pricing->arena);
    if (bytes->value > 0 && bytes->state < pricing->state)
        pricing->state = bytes->state;
    return (uint64_t)ceil(bytes->value);
}

static void find_use(struct pricing *pricing, int64_t stopped_ns) {
    const struct plan_offer *offer = pricing->offer->offer;
    const struct plan_rental *rental = &pricing->plan->rental;
    pricing->use.units = pricing->offer->units;
    pricing->use.storage_bytes = rental->storage.given ? rental->storage.bytes : 0;
    pricing->use.stopped_ns = stopped_ns > 0 ? stopped_ns : 0;
    if (stopped_ns < 0 && offer->storage_stopped.given && offer->storage_stopped.micros > 0)
        cost_texts_add(&pricing->lacks, _("storage between the rentals: how long is not said"),
                       pricing->arena);
    pricing->use.in_bytes = volume_of(pricing, &pricing->volume->in, &offer->transfer_in,
                                      _("transfer in: the volume is not known"),
                                      _("transfer in: a part of the volume is not known"));
    pricing->use.out_bytes = volume_of(pricing, &pricing->volume->out, &offer->transfer_out,
                                       _("transfer out: the volume is not known"),
                                       _("transfer out: a part of the volume is not known"));
}

/* ---- numbers ---- */

/* The times that are billed: those of the futures, else the quantity's own. */
struct spans {
    int64_t p05, p50, p95;
};

static struct spans spans_of(const struct quantity *time, const struct cost_futures *times) {
    if (times)
        return (struct spans){times->p05.above, times->p50.above, times->p95.above};
    struct spans spans = {.p50 = cost_ns(time->value)};
    spans.p05 = time->has_interval ? cost_ns(time->p05) : 0;
    spans.p95 = time->has_interval ? cost_ns(time->p95) : 0;
    return spans;
}

static bool bill_at(const struct pricing *pricing, int64_t ns, int64_t *ret_micros) {
    struct cost_use use = pricing->use;
    use.reserved_ns = ns;
    return ns < COST_BEYOND && cost_bill(pricing->offer->offer, &use, NULL, ret_micros, NULL, NULL);
}

/* The bill with its lines. */
static bool bill_in_full(const struct pricing *pricing, int64_t ns, struct amount *amount) {
    struct amount_line *lines = NULL;
    struct cost_use use = pricing->use;
    use.reserved_ns = ns;
    if (ns == COST_BEYOND || !cost_bill(pricing->offer->offer, &use, pricing->arena,
                                        &amount->micros, &lines, &amount->line_count))
        return false;
    const char *source = plan_source(pricing->plan, pricing->offer->offer->at, pricing->arena);
    for (size_t i = 0; i < amount->line_count; i++)
        lines[i].source = source;
    amount->lines = lines;
    return true;
}

static double billed_seconds(const struct plan_offer *offer, int64_t ns) {
    int64_t billed = ns < COST_BEYOND ? cost_billed_ns(offer, ns) : COST_BEYOND;
    return billed < COST_BEYOND ? (double)billed / 1e9 : INFINITY;
}

static struct quantity billed_time(const struct plan_offer *offer, const struct quantity *time,
                                   const struct spans *spans) {
    struct quantity billed = *time;
    if (!quantity_is_known(time))
        return billed;
    billed.value = billed_seconds(offer, spans->p50);
    if (!isfinite(billed.value))
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_SUPPORTED, NULL);
    billed.p05 = time->has_interval ? billed_seconds(offer, spans->p05) : 0.0;
    billed.p95 = time->has_interval ? billed_seconds(offer, spans->p95) : 0.0;
    billed.has_interval = time->has_interval && isfinite(billed.p95);
    if (!billed.has_interval)
        billed.level = billed.p05 = billed.p95 = 0.0;
    billed.method = "reserved time by the offer's increment and terms";
    billed.parts = NULL;
    billed.part_count = 0;
    return billed;
}

/* ---- the amount ---- */

static void add_sources(struct amount *amount, const struct pricing *pricing,
                        const struct quantity *time) {
    const char **sources = arena_alloc(pricing->arena, (time->source_count + 1) * sizeof *sources);
    sources[0] = plan_source(pricing->plan, pricing->offer->offer->at, pricing->arena);
    for (size_t i = 0; i < time->source_count; i++)
        sources[i + 1] = time->sources[i];
    amount->sources = sources;
    amount->source_count = time->source_count + 1;
}

static struct amount amount_of(struct pricing *pricing, const struct quantity *time,
                               const struct spans *spans) {
    const struct plan_offer *offer = pricing->offer->offer;
    struct amount amount = {0};
    if (!bill_in_full(pricing, spans->p50, &amount))
        return amount_open(QUANTITY_NOT_SUPPORTED, _("the amount is beyond what can be counted"));
    if (time->bound == QUANTITY_AT_MOST && pricing->lacks.count > 0)
        return amount_open(QUANTITY_NOT_SEPARATED,
                           _("the time is at most what is known, and something has no price"));
    amount.state = pricing->state;
    amount.bound = pricing->lacks.count > 0 ? QUANTITY_AT_LEAST : time->bound;
    amount.currency = cost_offer_currency(offer);
    amount.is_service_unit = offer->service_unit && offer->service_unit[0];
    amount.has_interval = time->has_interval && bill_at(pricing, spans->p05, &amount.p05) &&
                          bill_at(pricing, spans->p95, &amount.p95);
    amount.level = amount.has_interval ? time->level : 0.0;
    amount.lacks = pricing->lacks.items;
    amount.lack_count = pricing->lacks.count;
    add_sources(&amount, pricing, time);
    return amount;
}

struct cost_price cost_price(const struct plan *plan, const struct cost_offer *offer,
                             const struct quantity *time, const struct cost_futures *times,
                             int64_t stopped_ns, const struct cost_volume *volume,
                             struct arena *arena) {
    struct pricing pricing = {
        .plan = plan, .offer = offer, .volume = volume, .arena = arena, .state = time->state};
    struct cost_price price = {.billed = *time};
    if (!quantity_is_known(time)) {
        price.amount =
            amount_open(time->reason == QUANTITY_NO_REASON ? QUANTITY_NO_EVIDENCE : time->reason,
                        _("the time that would be paid is open"));
        return price;
    }
    const struct spans spans = spans_of(time, times);
    for (size_t i = 0; i < offer->unpriced_count && time->value > 0; i++)
        cost_texts_add(&pricing.lacks, offer->unpriced[i], arena);
    if (time->bound == QUANTITY_AT_LEAST)
        cost_texts_add(&pricing.lacks, _("open parts of the time"), arena);
    find_use(&pricing, stopped_ns);
    price.use = pricing.use;
    price.billed = billed_time(offer->offer, time, &spans);
    price.amount = amount_of(&pricing, time, &spans);
    return price;
}
