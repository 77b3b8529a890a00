/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which way of renting is cheaper, by how much, in how many of the futures, and why. Must not name
 * one where an open part could change the answer.
 */
#include "rules/cost-parts.h"

#include "base/msg.h"

struct comparison {
    const struct cost_rentals *rentals;
    const struct cost_futures *continuous, *separate; /* micros */
    struct cost_offer *offer;
    struct arena *arena;
};

/* ---- in how many futures ---- */

/* Of futures in which both amounts can be counted. */
struct shares {
    bool has;
    double continuous, separate; /* of all futures: it is the cheaper one */
};

static struct shares shares_of(const struct comparison *of) {
    struct shares shares = {.has = of->offer->continuous.amount.has_interval &&
                                   of->offer->separate.amount.has_interval};
    size_t count = of->continuous->count, one = 0, many = 0;
    for (size_t i = 0; i < count && shares.has; i++) {
        one += of->continuous->values[i] < of->separate->values[i];
        many += of->separate->values[i] < of->continuous->values[i];
    }
    shares.continuous = (double)one / (double)count;
    shares.separate = (double)many / (double)count;
    return shares;
}

/* Whole percent, rounded down: 100 are all. */
static int percent(double share) {
    return (int)(share * 100.0 + 1e-9);
}

/* The sentence with its probability. is_bound: the other way costs at least what is known of it. */
static const char *with_share(const char *text, double share, bool is_bound, struct arena *arena) {
    if (share >= 1.0)
        return arena_printf(arena, _("%s (in all of the futures)"), text);
    if (is_bound)
        return arena_printf(arena, _("%s (in at least %d %% of the futures)"), text,
                            percent(share));
    return arena_printf(arena, _("%s (in %d %% of the futures)"), text, percent(share));
}

/* The same in the middle is not the same in each future. */
static const char *with_both(const char *text, const struct shares *shares, struct arena *arena) {
    if (!shares->has || (shares->continuous <= 0.0 && shares->separate <= 0.0))
        return text;
    return arena_printf(arena,
                        _("%s (in the middle; one rental is cheaper in %d %% of the futures, "
                          "separate rentals in %d %%)"),
                        text, percent(shares->continuous), percent(shares->separate));
}

/* ---- why ---- */

static const char *span(double seconds, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    quantity_format_value(seconds, UNIT_SECOND, &text);
    return arena_strdup(arena, strbuf_str(&text));
}

static const char *money_text(int64_t micros, const char *currency, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    money_add_text(&text, micros, currency);
    return arena_strdup(arena, strbuf_str(&text));
}

static const char *mark_of(enum quantity_state state) {
    static const char *const marks[QUANTITY_STATE_COUNT_] = {"[?]", "[a]", "[e]", "[m]"};
    return marks[state];
}

/* Of what follows from both. */
static const char *weaker_mark(const struct amount *a, const struct amount *b) {
    return mark_of(a->state < b->state ? a->state : b->state);
}

struct difference {
    const char *less, *wait, *restore;      /* with their state */
    bool is_wait_longer, is_restore_longer; /* than the other */
    bool is_billed; /* several rentals: more is billed than reserved, or fees come again */
    bool is_stored; /* what is stopped costs */
};

static double rounding_of(const struct cost_way *way) {
    return quantity_is_known(&way->billed) && quantity_is_known(&way->reserved)
               ? way->billed.value - way->reserved.value
               : 0.0;
}

static struct difference difference_of(const struct comparison *of) {
    const struct cost_way *one = &of->offer->continuous, *many = &of->offer->separate;
    const struct plan_offer *offer = of->offer->offer;
    struct arena *arena = of->arena;
    const struct cost_rentals *rentals = of->rentals;
    int64_t a = one->amount.micros, b = many->amount.micros;
    struct quantity restore = quantity_measured(UNIT_SECOND, 0.0, NULL);
    cost_futures_take(&rentals->repeated, &restore);
    double restore_s = restore.value;
    return (struct difference){
        .less = arena_printf(arena, "%s %s", weaker_mark(&one->amount, &many->amount),
                             money_text(a < b ? b - a : a - b, one->amount.currency, arena)),
        .wait = arena_printf(arena, "[a] %s", span(rentals->wait_s, arena)), /* of the plan */
        .restore =
            arena_printf(arena, "%s %s", mark_of(rentals->repeated_state), span(restore_s, arena)),
        .is_wait_longer = rentals->wait_s > restore_s,
        .is_restore_longer = restore_s > rentals->wait_s,
        .is_billed =
            rounding_of(many) > rounding_of(one) ||
            (offer->setup_fee.given && offer->setup_fee.micros > 0 && many->rentals > one->rentals),
        .is_stored = rentals->is_stopped && offer->storage_stopped.given &&
                     offer->storage_stopped.micros > 0,
    };
}

/* One rental is. */
static const char *explain_one(const struct difference *of, struct arena *arena) {
    if (of->is_restore_longer && !of->is_billed)
        return arena_printf(arena,
                            _("one rental is cheaper by %s: restoring the environment takes %s, "
                              "and the machine waits for %s"),
                            of->less, of->restore, of->wait);
    if (of->is_restore_longer)
        return arena_printf(arena,
                            _("one rental is cheaper by %s: restoring the environment takes %s, "
                              "increments, minimum terms and fees come again with each rental, "
                              "and the machine waits for %s"),
                            of->less, of->restore, of->wait);
    if (of->is_stored)
        return arena_printf(arena,
                            _("one rental is cheaper by %s, although the machine waits for %s: "
                              "what is stored while it is stopped is paid, and increments, minimum "
                              "terms and fees come again with each rental"),
                            of->less, of->wait);
    return arena_printf(arena,
                        _("one rental is cheaper by %s, although the machine waits for %s: "
                          "increments, minimum terms and fees come again with each rental, and "
                          "restoring the environment takes %s"),
                        of->less, of->wait, of->restore);
}

static const char *explain(const struct comparison *comparison, int64_t continuous,
                           int64_t separate) {
    struct arena *arena = comparison->arena;
    const struct difference of = difference_of(comparison);
    if (continuous == separate)
        return arena_printf(arena,
                            _("one rental and separate rentals cost the same: %s of waiting, %s of "
                              "restoring the environment"),
                            of.wait, of.restore);
    if (separate > continuous)
        return explain_one(&of, arena);
    if (of.is_wait_longer)
        return arena_printf(arena,
                            _("separate rentals are cheaper by %s: the machine is not paid for %s "
                              "of waiting, and restoring the environment takes %s"),
                            of.less, of.wait, of.restore);
    return arena_printf(arena,
                        _("separate rentals are cheaper by %s by the terms of the offer alone "
                          "(increment, minimum, longest rental): %s of waiting, %s of restoring "
                          "the environment"),
                        of.less, of.wait, of.restore);
}

/* ---- the choice ---- */

/* A share of the simulated futures is as sure as the amounts that it compares. */
static struct quantity share_of(const struct cost_offer *offer, double share, bool is_bound) {
    const struct amount *one = &offer->continuous.amount, *many = &offer->separate.amount;
    return (struct quantity){.state = one->state < many->state ? one->state : many->state,
                             .bound = is_bound ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                             .value = share,
                             .unit = UNIT_RATIO,
                             .method = ESTIMATE_METHOD,
                             .sources = many->sources,
                             .source_count = many->source_count};
}

static void tell(const struct comparison *of, bool is_bound) {
    struct cost_offer *offer = of->offer;
    int64_t one = offer->continuous.amount.micros, many = offer->separate.amount.micros;
    const struct shares shares = shares_of(of);
    offer->cheaper = explain(of, one, many);
    if (one == many) {
        offer->cheaper = with_both(offer->cheaper, &shares, of->arena);
        return;
    }
    if (!shares.has)
        return;
    double share = one < many ? shares.continuous : shares.separate;
    offer->cheaper_share = share_of(offer, share, is_bound);
    offer->cheaper = with_share(offer->cheaper, share, is_bound, of->arena);
}

/* A lack of one way alone makes it a lower bound: then the other is only cheaper where it is below
 * that bound. What both lack does not decide. */
static void choose(const struct comparison *of) {
    struct cost_offer *offer = of->offer;
    struct cost_way *one = &offer->continuous, *many = &offer->separate;
    if (!one->has || !many->has) {
        offer->way = one->has ? one : many->has ? many : NULL;
        return;
    }
    if (!amount_is_known(&one->amount) || !amount_is_known(&many->amount)) {
        offer->way = amount_is_known(&many->amount) ? many : one;
        return;
    }
    bool one_lacks = !of->rentals->is_wait_known;
    bool many_lacks = of->rentals->is_restore_open && !of->rentals->is_stopped;
    int64_t a = one->amount.micros, b = many->amount.micros;
    bool can_tell = (!one_lacks && !many_lacks) || (one_lacks && !many_lacks && a >= b) ||
                    (many_lacks && !one_lacks && b >= a);
    if (can_tell)
        tell(of, one_lacks || many_lacks);
    if (can_tell)
        offer->way = b < a ? many : one;
    else
        offer->way = one_lacks && !many_lacks ? many : one;
}

void cost_find_cheaper(const struct cost_rentals *rentals, const struct cost_futures *continuous,
                       const struct cost_futures *separate, struct arena *arena,
                       struct cost_offer *offer) {
    offer->cheaper_share = quantity_open(UNIT_RATIO, QUANTITY_NOT_APPLICABLE, NULL);
    const struct comparison of = {.rentals = rentals,
                                  .continuous = continuous,
                                  .separate = separate,
                                  .offer = offer,
                                  .arena = arena};
    choose(&of);
}
