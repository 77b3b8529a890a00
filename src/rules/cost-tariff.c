/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bills of very many times under one offer: what every future of an estimate would cost. Made
 * ready once, then a few divisions of 64 bits each, without lines. Must give the very number of
 * cost_bill, to the millionth; where 64 bits in between would not do, it asks cost_bill itself.
 */
#include "rules/cost-parts.h"

#include "base/clock.h"

/* ---- x times a fraction, rounded up ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void reduce(uint64_t *a, uint64_t *b) {
    uint64_t common = common_divisor(*a, *b);
    if (common > 1) {
        *a /= common;
        *b /= common;
    }
}

static struct cost_divisor divisor_of(uint64_t value) {
    return (struct cost_divisor){.value = value, .inverse = 1.0 / (double)value};
}

/* a x b / (c x d), reduced, c and d above 0; false: it does not fit. A product with the reduced
 * fraction, rounded up, is that with the other one. */
static bool make_fraction(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                          struct cost_fraction *ret) {
    reduce(&a, &c);
    reduce(&a, &d);
    reduce(&b, &c);
    reduce(&b, &d);
    uint64_t below = 0;
    if (__builtin_mul_overflow(a, b, &ret->above) || __builtin_mul_overflow(c, d, &below))
        return false;
    ret->below = divisor_of(below);
    return true;
}

#define EXACT_MOST (UINT64_C(1) << 52)

/* Rounded up. Below EXACT_MOST the product with the inverse is wrong by less than the smallest rest
 * that there can be, so that it is the quotient, or just below a whole one, which the rest shows.
 */
static uint64_t divide_up(uint64_t value, const struct cost_divisor *divisor) {
    if (value >= EXACT_MOST || divisor->value >= EXACT_MOST)
        return value / divisor->value + (value % divisor->value > 0);
    int64_t whole = (int64_t)((double)(int64_t)value * divisor->inverse);
    int64_t rest = (int64_t)value - whole * (int64_t)divisor->value;
    return (uint64_t)(whole + (rest > 0));
}

/* value >= 0. false: it does not fit. */
static bool times_fraction(int64_t value, const struct cost_fraction *fraction, int64_t *ret) {
    uint64_t product = 0;
    if (__builtin_mul_overflow((uint64_t)value, fraction->above, &product))
        return money_scale_up(value, fraction->above, fraction->below.value, ret);
    uint64_t whole = divide_up(product, &fraction->below);
    *ret = (int64_t)whole;
    return whole <= INT64_MAX;
}

/* ---- made ready ---- */

static uint64_t price_of(const struct plan_amount *price) {
    return price->given && price->micros > 0 ? (uint64_t)price->micros : 0;
}

/* What is billed whatever the time: transfer and what is stored while it is stopped. */
static bool find_fixed(struct cost_tariff *tariff) {
    struct plan_offer untaxed = *tariff->offer;
    struct cost_use nothing = tariff->use;
    untaxed.tax_included = PLAN_YES;
    nothing.reserved_ns = 0;
    return cost_bill(&untaxed, &nothing, NULL, &tariff->fixed, NULL, NULL);
}

static bool find_rent(struct cost_tariff *tariff) {
    const struct plan_offer *offer = tariff->offer;
    uint64_t per = (uint64_t)cost_per_ns(offer->per);
    uint64_t units = tariff->use.units > 0 ? tariff->use.units : 1;
    int64_t increment = cost_given_ns(&offer->increment), rate = 0;
    if (increment == 0)
        increment = 1; /* a nanosecond is all there is */
    tariff->increment_ns = divisor_of((uint64_t)increment);
    tariff->minimum_ns = cost_given_ns(&offer->minimum);
    tariff->maximum_ns = cost_given_ns(&offer->maximum);
    if (!offer->rate.given || per == 0 || !money_scale_up(offer->rate.micros, units, 1, &rate) ||
        !money_scale_up(rate, (uint64_t)tariff->minimum_ns, per, &tariff->minimum_rent))
        return false;
    if (tariff->maximum_ns > 0) {
        tariff->full_ns = cost_billed_ns(offer, tariff->maximum_ns);
        if (!money_scale_up(rate, (uint64_t)tariff->full_ns, per, &tariff->full_rent))
            return false;
    }
    return make_fraction((uint64_t)rate, (uint64_t)increment, per, 1, &tariff->rent);
}

struct cost_tariff cost_tariff_of(const struct plan_offer *offer, const struct cost_use *use) {
    struct cost_tariff tariff = {
        .offer = offer, .use = *use, .fee = (int64_t)price_of(&offer->setup_fee)};
    uint64_t taxes = offer->tax_included == PLAN_NO ? price_of(&offer->tax_percent) : 0;
    tariff.is_ready = find_rent(&tariff) && find_fixed(&tariff) &&
                      make_fraction(taxes, 1, COST_MICRO_PERCENT, 1, &tariff.taxes) &&
                      make_fraction(price_of(&offer->storage_running), use->storage_bytes, COST_GB,
                                    (uint64_t)NS_PER_MONTH, &tariff.storage);
    return tariff;
}

/* ---- one bill ---- */

/* Of one rental no longer than the longest term, time above 0. */
static bool rent_once(const struct cost_tariff *tariff, int64_t ns, struct cost_billed *ret) {
    int64_t count = (int64_t)divide_up((uint64_t)ns, &tariff->increment_ns);
    if (__builtin_mul_overflow(count, (int64_t)tariff->increment_ns.value, &ret->ns))
        return false;
    if (ret->ns >= tariff->minimum_ns)
        return times_fraction(count, &tariff->rent, &ret->micros);
    *ret = (struct cost_billed){.ns = tariff->minimum_ns, .micros = tariff->minimum_rent};
    return true;
}

/* Rent and fees, in as many rentals as the longest term makes of it. */
static bool rent_all(const struct cost_tariff *tariff, int64_t ns, struct cost_billed *ret) {
    int64_t full = tariff->maximum_ns > 0 && ns > tariff->maximum_ns ? ns / tariff->maximum_ns : 0;
    int64_t rest = full > 0 ? ns % tariff->maximum_ns : ns, more_ns = 0, more = 0;
    *ret = (struct cost_billed){0};
    if (rest > 0 && (!rent_once(tariff, rest, ret) ||
                     __builtin_add_overflow(ret->micros, tariff->fee, &ret->micros)))
        return false;
    if (full == 0)
        return true;
    return !__builtin_mul_overflow(full, tariff->full_ns, &more_ns) &&
           !__builtin_add_overflow(ret->ns, more_ns, &ret->ns) &&
           !__builtin_add_overflow(tariff->full_rent, tariff->fee, &more) &&
           !__builtin_mul_overflow(full, more, &more) &&
           !__builtin_add_overflow(ret->micros, more, &ret->micros);
}

static bool bill_ready(const struct cost_tariff *tariff, int64_t ns, struct cost_billed *ret) {
    int64_t more = 0;
    if (!rent_all(tariff, ns, ret) || !money_add(ret->micros, tariff->fixed, &ret->micros))
        return false;
    if (tariff->storage.above > 0 && (!times_fraction(ns, &tariff->storage, &more) ||
                                      !money_add(ret->micros, more, &ret->micros)))
        return false;
    return tariff->taxes.above == 0 || (times_fraction(ret->micros, &tariff->taxes, &more) &&
                                        money_add(ret->micros, more, &ret->micros));
}

bool cost_tariff_bill(const struct cost_tariff *tariff, int64_t reserved_ns,
                      struct cost_billed *ret) {
    int64_t ns = reserved_ns > 0 ? reserved_ns : 0;
    if (tariff->is_ready)
        return bill_ready(tariff, ns, ret);
    struct cost_use use = tariff->use;
    use.reserved_ns = ns;
    ret->ns = cost_billed_ns(tariff->offer, ns);
    return ret->ns < INT64_MAX && cost_bill(tariff->offer, &use, NULL, &ret->micros, NULL, NULL);
}
