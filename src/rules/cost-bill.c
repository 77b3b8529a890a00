/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a provider writes on a bill (docs/cost.md): rate, increment, minimum and maximum term,
 * set-up fee, storage, transfer, taxes. Integers all the way, every line rounded up; so a bill is
 * never below rate x time, and never falls when time grows. Must not judge an offer.
 */
#include "rules/cost-parts.h"

#include "base/clock.h"
#include "base/msg.h"

#include <string.h>

#define LINES_MOST 8u
/* Longer than anybody rents; shorter than 64 bits of nanoseconds, so that nothing overflows. */
#define LONGEST_NS (INT64_C(100) * 366 * NS_PER_DAY)

void cost_texts_add(struct cost_texts *list, const char *text, struct arena *arena) {
    if (list->count == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : 8;
        const char **items = arena_alloc(arena, room * sizeof *items);
        for (size_t i = 0; i < list->count; i++)
            items[i] = list->items[i];
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = text;
}

/* ---- units and rates ---- */

enum per { PER_SECOND = 0, PER_MINUTE, PER_HOUR, PER_DAY, PER_WEEK, PER_MONTH, PER_COUNT_ };

static const struct {
    const char *name;
    int64_t ns;
} pers[PER_COUNT_] = {
    [PER_SECOND] = {"second", NS_PER_S},    [PER_MINUTE] = {"minute", 60 * NS_PER_S},
    [PER_HOUR] = {"hour", 3600 * NS_PER_S}, [PER_DAY] = {"day", NS_PER_DAY},
    [PER_WEEK] = {"week", 7 * NS_PER_DAY},  [PER_MONTH] = {"month", NS_PER_MONTH},
};

static enum per find_per(const char *name) {
    enum per per = PER_SECOND;
    while (per < PER_COUNT_ && (!name || strcmp(pers[per].name, name) != 0))
        per++;
    return per;
}

int64_t cost_per_ns(const char *per) {
    enum per found = find_per(per);
    return found < PER_COUNT_ ? pers[found].ns : 0;
}

const char *cost_offer_currency(const struct plan_offer *offer) {
    if (offer->service_unit && offer->service_unit[0])
        return offer->service_unit;
    return offer->currency && offer->currency[0] ? offer->currency : NULL;
}

const char *cost_rate_text(const struct plan_offer *offer, struct arena *arena) {
    const char *currency = cost_offer_currency(offer);
    if (!currency || !offer->rate.given || offer->rate.micros < 0)
        return NULL;
    AUTO_STRBUF struct strbuf money = STRBUF_INIT;
    money_add_text(&money, offer->rate.micros, currency);
    switch (find_per(offer->per)) {
    case PER_SECOND:
        return arena_printf(arena, _("%s per second"), strbuf_str(&money));
    case PER_MINUTE:
        return arena_printf(arena, _("%s per minute"), strbuf_str(&money));
    case PER_HOUR:
        return arena_printf(arena, _("%s per hour"), strbuf_str(&money));
    case PER_DAY:
        return arena_printf(arena, _("%s per day"), strbuf_str(&money));
    case PER_WEEK:
        return arena_printf(arena, _("%s per week"), strbuf_str(&money));
    case PER_MONTH:
        return arena_printf(arena, _("%s per month"), strbuf_str(&money));
    case PER_COUNT_:
        break;
    }
    return NULL;
}

/* ---- time ---- */

int64_t cost_given_ns(const struct plan_duration *duration) {
    return duration->given && duration->ns > 0 ? duration->ns : 0;
}

/* Of one rental that no term limits: up to the increment, at least the minimum. */
static bool billed_once(const struct plan_offer *offer, int64_t reserved_ns, int64_t *ret_ns) {
    int64_t increment = cost_given_ns(&offer->increment), minimum = cost_given_ns(&offer->minimum);
    int64_t billed = reserved_ns;
    if (increment > 0) {
        int64_t rest = reserved_ns % increment;
        if (rest > 0 && __builtin_add_overflow(billed, increment - rest, &billed))
            return false;
    }
    *ret_ns = billed > minimum ? billed : minimum;
    return true;
}

/* A longer time than the maximum term is several rentals, one after the other. */
struct terms {
    int64_t full_count, full_ns, rest_ns; /* reserved: count x full + rest; rest 0: none */
    int64_t full_billed_ns, rest_billed_ns;
};

static bool split_terms(const struct plan_offer *offer, int64_t reserved_ns, struct terms *ret) {
    int64_t maximum = cost_given_ns(&offer->maximum);
    *ret = (struct terms){.rest_ns = reserved_ns > 0 ? reserved_ns : 0};
    if (maximum > 0 && ret->rest_ns > maximum) {
        ret->full_ns = maximum;
        ret->full_count = ret->rest_ns / maximum;
        ret->rest_ns %= maximum;
    }
    return (ret->full_count == 0 || billed_once(offer, ret->full_ns, &ret->full_billed_ns)) &&
           (ret->rest_ns == 0 || billed_once(offer, ret->rest_ns, &ret->rest_billed_ns));
}

static bool billed_in_all(const struct terms *terms, int64_t *ret_ns) {
    return !__builtin_mul_overflow(terms->full_count, terms->full_billed_ns, ret_ns) &&
           !__builtin_add_overflow(*ret_ns, terms->rest_billed_ns, ret_ns);
}

int64_t cost_billed_ns(const struct plan_offer *offer, int64_t reserved_ns) {
    struct terms terms;
    int64_t billed = 0;
    return split_terms(offer, reserved_ns, &terms) && billed_in_all(&terms, &billed) ? billed
                                                                                     : INT64_MAX;
}

/* ---- the lines of a bill ---- */

struct bill {
    const struct plan_offer *offer;
    const struct cost_use *use;
    const char *currency;
    struct arena *arena; /* NULL: no lines are wanted */
    struct amount_line *lines;
    size_t count;
    int64_t micros;
};

/* text: in the bill's arena, NULL where no lines are wanted. */
static bool add_line(struct bill *bill, int64_t micros, const char *text) {
    if (text && bill->count < LINES_MOST)
        bill->lines[bill->count++] = (struct amount_line){.text = text, .micros = micros};
    return money_add(bill->micros, micros, &bill->micros);
}

static const char *span(int64_t ns, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    quantity_format_value((double)ns / (double)NS_PER_S, UNIT_SECOND, &text);
    return arena_strdup(arena, strbuf_str(&text));
}

static const char *rent_text(const struct bill *bill, const struct terms *terms, uint64_t units) {
    if (!bill->arena)
        return NULL;
    struct arena *arena = bill->arena;
    int64_t billed = 0, rentals = terms->full_count + (terms->rest_ns > 0);
    const char *rate = cost_rate_text(bill->offer, arena);
    (void)billed_in_all(terms, &billed);
    const char *time = span(billed, arena);
    if (rentals > 1)
        return arena_printf(arena,
                            msg_plural((unsigned long)units,
                                       "%llu unit x %s, billed, in %lld rentals, at %s",
                                       "%llu units x %s, billed, in %lld rentals, at %s"),
                            (unsigned long long)units, time, (long long)rentals, rate ? rate : "?");
    return arena_printf(arena,
                        msg_plural((unsigned long)units, "%llu unit x %s, billed, at %s",
                                   "%llu units x %s, billed, at %s"),
                        (unsigned long long)units, time, rate ? rate : "?");
}

static bool add_rent(struct bill *bill, const struct terms *terms) {
    const struct plan_offer *offer = bill->offer;
    uint64_t units = bill->use->units > 0 ? bill->use->units : 1;
    uint64_t per = (uint64_t)cost_per_ns(offer->per);
    int64_t rate = 0, full = 0, rest = 0, rent = 0;
    if (!money_scale_up(offer->rate.micros, units, 1, &rate) ||
        !money_scale_up(rate, (uint64_t)terms->full_billed_ns, per, &full) ||
        !money_scale_up(full, (uint64_t)terms->full_count, 1, &full) ||
        !money_scale_up(rate, (uint64_t)terms->rest_billed_ns, per, &rest) ||
        !money_add(full, rest, &rent))
        return false;
    if (terms->full_count == 0 && terms->rest_ns == 0)
        return true; /* nothing is rented */
    return add_line(bill, rent, rent_text(bill, terms, units));
}

static bool add_fees(struct bill *bill, const struct terms *terms) {
    int64_t rentals = terms->full_count + (terms->rest_ns > 0), fees = 0;
    const struct plan_amount *fee = &bill->offer->setup_fee;
    if (!fee->given || fee->micros <= 0 || rentals == 0)
        return true;
    if (!money_scale_up(fee->micros, (uint64_t)rentals, 1, &fees))
        return false;
    return add_line(
        bill, fees,
        bill->arena ? arena_printf(bill->arena,
                                   msg_plural((unsigned long)rentals, "set-up fee of %lld rental",
                                              "set-up fees of %lld rentals"),
                                   (long long)rentals)
                    : NULL);
}

static bool add_storage(struct bill *bill, bool running, int64_t ns) {
    const struct plan_amount *price =
        running ? &bill->offer->storage_running : &bill->offer->storage_stopped;
    int64_t micros = 0;
    if (!price->given || price->micros <= 0 || ns <= 0 || bill->use->storage_bytes == 0)
        return true;
    if (!money_scale_twice(price->micros, bill->use->storage_bytes, (uint64_t)ns, COST_GB,
                           (uint64_t)NS_PER_MONTH, &micros))
        return false;
    if (!bill->arena)
        return add_line(bill, micros, NULL);
    AUTO_STRBUF struct strbuf size = STRBUF_INIT;
    quantity_format_value((double)bill->use->storage_bytes, UNIT_BYTE, &size);
    return add_line(bill, micros,
                    arena_printf(bill->arena,
                                 running ? _("storage of %s for %s, running")
                                         : _("storage of %s for %s, stopped"),
                                 strbuf_str(&size), span(ns, bill->arena)));
}

static bool add_transfer(struct bill *bill, bool in, uint64_t bytes) {
    const struct plan_amount *price = in ? &bill->offer->transfer_in : &bill->offer->transfer_out;
    int64_t micros = 0;
    if (!price->given || price->micros <= 0 || bytes == 0)
        return true;
    if (!money_scale_up(price->micros, bytes, COST_GB, &micros))
        return false;
    if (!bill->arena)
        return add_line(bill, micros, NULL);
    AUTO_STRBUF struct strbuf size = STRBUF_INIT;
    quantity_format_value((double)bytes, UNIT_BYTE, &size);
    return add_line(bill, micros,
                    arena_printf(bill->arena, in ? _("transfer in of %s") : _("transfer out of %s"),
                                 strbuf_str(&size)));
}

bool cost_taxes_are_open(const struct plan_offer *offer) {
    return !(offer->service_unit && offer->service_unit[0]) &&
           (offer->tax_included == PLAN_UNSAID ||
            (offer->tax_included == PLAN_NO && !offer->tax_percent.given));
}

static bool add_taxes(struct bill *bill) {
    const struct plan_offer *offer = bill->offer;
    int64_t taxes = 0;
    if (offer->tax_included != PLAN_NO || !offer->tax_percent.given ||
        offer->tax_percent.micros <= 0 || bill->micros == 0)
        return true;
    if (!money_scale_up(bill->micros, (uint64_t)offer->tax_percent.micros, COST_MICRO_PERCENT,
                        &taxes))
        return false;
    if (!bill->arena)
        return add_line(bill, taxes, NULL);
    AUTO_STRBUF struct strbuf percent = STRBUF_INIT;
    money_add_shortest(&percent, offer->tax_percent.micros);
    return add_line(bill, taxes,
                    arena_printf(bill->arena, _("taxes, %s %%"), strbuf_str(&percent)));
}

bool cost_bill(const struct plan_offer *offer, const struct cost_use *use, struct arena *arena,
               int64_t *ret_micros, struct amount_line **ret_lines, size_t *ret_line_count) {
    struct bill bill = {.offer = offer, .use = use, .arena = arena};
    struct terms terms;
    if (!offer->rate.given || cost_per_ns(offer->per) == 0)
        return false;
    if (arena)
        bill.lines = arena_alloc(arena, LINES_MOST * sizeof *bill.lines);
    bool fits = split_terms(offer, use->reserved_ns, &terms) && add_rent(&bill, &terms) &&
                add_fees(&bill, &terms) && add_storage(&bill, true, use->reserved_ns) &&
                add_storage(&bill, false, use->stopped_ns) &&
                add_transfer(&bill, true, use->in_bytes) &&
                add_transfer(&bill, false, use->out_bytes) && add_taxes(&bill);
    *ret_micros = fits ? bill.micros : 0;
    if (ret_lines)
        *ret_lines = bill.lines;
    if (ret_line_count)
        *ret_line_count = bill.count;
    return fits;
}

int64_t cost_time_for(const struct plan_offer *offer, uint64_t units, int64_t micros) {
    int64_t fits = 0, beyond = LONGEST_NS, bill = 0;
    while (beyond - fits > 1) {
        int64_t middle = fits + (beyond - fits) / 2;
        struct cost_use use = {.reserved_ns = middle, .units = units};
        if (cost_bill(offer, &use, NULL, &bill, NULL, NULL) && bill <= micros)
            fits = middle;
        else
            beyond = middle;
    }
    return fits;
}

bool cost_hourly(const struct plan_offer *offer, bool by_gpu, int64_t *ret_micros) {
    struct bill bill = {.offer = offer, .use = &(struct cost_use){.units = 1}};
    int64_t per = cost_per_ns(offer->per);
    uint64_t gpus = by_gpu && offer->gpus_per_unit.given && offer->gpus_per_unit.value > 0
                        ? (uint64_t)offer->gpus_per_unit.value
                        : 1;
    if (!offer->rate.given || per == 0 ||
        !money_scale_up(offer->rate.micros, 3600u * (uint64_t)NS_PER_S, (uint64_t)per,
                        &bill.micros) ||
        !add_taxes(&bill))
        return false;
    return money_scale_up(bill.micros, 1, gpus, ret_micros);
}
