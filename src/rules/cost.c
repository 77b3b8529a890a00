/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of an estimate (cost.h): every offer of its environment judged and priced, the cheapest
 * usable one, amounts of the whole, of each block and of the subtotals, and what is missing where
 * there is none. Must not compare or add two currencies, and must not fill a gap.
 */
#include "rules/cost.h"

#include "base/msg.h"
#include "rules/cost-parts.h"
#include "rules/evidence-parts.h"

#include <string.h>

/* ---- what an amount needs ---- */

static const char *const needs[] = {
    N_("a rate and its currency, or its service unit"),
    N_("the billing unit and its increment (per second, per started hour …)"),
    N_("the minimum term"),
    N_("the source of the offer and the date on which it was seen"),
    N_("the date until which it is valid, and the planned date of the runs"),
    N_("the offered device, which must be the one that the runs were measured on"),
    N_("the set-up fee"),
    N_("the price of storage while running and while stopped, and how much is needed"),
    N_("the price of transfer in and out, and the volume"),
    N_("taxes"),
    N_("whether the machine may be interrupted, and on what terms"),
};

size_t cost_need_count(void) {
    return ARRAY_LENGTH(needs);
}

const char *cost_need(size_t index) {
    return _(needs[index]);
}

const char *cost_measured_gpu(const struct study *study, struct arena *arena) {
    const struct plan_environment *environment = study->input->environment;
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *run = &study->runs[i];
        if (run->evidence.level != EVIDENCE_MEASURED || run->environment != environment)
            continue;
        const char *gpu = evidence_gpu_model(run->run, arena);
        if (gpu)
            return gpu;
    }
    return NULL;
}

/* ---- which offers are looked at ---- */

/* Nothing crosses from one environment to another; an offer that names none is looked at, since
 * that is what it lacks. */
static bool is_of(const struct plan_offer *offer, const struct plan_environment *environment) {
    return !environment || !offer->environment || strcmp(offer->environment, environment->id) == 0;
}

struct maker {
    struct cost *ret;
    const struct plan *plan;
    const char *wanted; /* id, or NULL */
    struct arena *arena;
    struct arena *scratch;       /* of the futures */
    struct cost_rentals rentals; /* the same for every offer */
    struct cost_texts missing;
    struct rental { /* of each block as a rental of its own, by the chosen offer */
        struct cost_futures times;
        struct cost_use use;
    } * blocks;
};

static void list_wrong(struct maker *maker, const struct cost_offer *offer) {
    const char *name = cost_offer_name(maker->plan, offer->offer, maker->arena);
    for (size_t i = 0; i < offer->wrong_count; i++)
        cost_texts_add(&maker->missing, arena_printf(maker->arena, "%s: %s", name, offer->wrong[i]),
                       maker->arena);
}

static void judge_offers(struct maker *maker) {
    struct cost *ret = maker->ret;
    const struct study *study = ret->estimate->study;
    const struct plan_environment *environment = study->input->environment;
    const char *measured = cost_measured_gpu(study, maker->arena);
    ret->offers = arena_alloc(maker->arena, (maker->plan->offer_count + 1) * sizeof *ret->offers);
    for (size_t i = 0; i < maker->plan->offer_count; i++) {
        const struct plan_offer *plan_offer = &maker->plan->offers[i];
        if (!is_of(plan_offer, environment))
            continue;
        struct cost_offer *offer = &ret->offers[ret->offer_count++];
        cost_judge_offer(maker->plan, plan_offer, environment, measured, study->input->now_utc_ns,
                         maker->arena, offer);
        if (offer->usable)
            cost_find_ways(&maker->rentals, maker->arena, offer);
        list_wrong(maker, offer);
    }
    for (size_t i = 0; i < cost_need_count() && ret->offer_count == 0; i++)
        cost_texts_add(&maker->missing, cost_need(i), maker->arena);
}

/* ---- the cheapest ---- */

static bool is_wanted(const struct maker *maker, const struct cost_offer *offer) {
    return offer->usable &&
           (!maker->wanted || (offer->offer->id && strcmp(offer->offer->id, maker->wanted) == 0));
}

static bool is_same_currency(const struct plan_offer *a, const struct plan_offer *b) {
    bool a_unit = a->service_unit && a->service_unit[0];
    bool b_unit = b->service_unit && b->service_unit[0];
    return a_unit == b_unit && strcmp(cost_offer_currency(a), cost_offer_currency(b)) == 0;
}

/* By the amount of what is left; where the time is open by the hourly price of one GPU. */
static bool is_cheaper(const struct cost_offer *a, const struct cost_offer *b) {
    int64_t hourly_a = 0, hourly_b = 0;
    bool a_known = a->way && amount_is_known(&a->way->amount);
    bool b_known = b->way && amount_is_known(&b->way->amount);
    if (a_known && b_known)
        return a->way->amount.micros < b->way->amount.micros;
    if (a_known != b_known)
        return a_known;
    return cost_hourly(a->offer, true, &hourly_a) && cost_hourly(b->offer, true, &hourly_b) &&
           hourly_a < hourly_b;
}

/* false: the usable ones are of several currencies. */
static bool choose(struct maker *maker) {
    struct cost *ret = maker->ret;
    const struct cost_offer *best = NULL;
    for (size_t i = 0; i < ret->offer_count; i++) {
        const struct cost_offer *offer = &ret->offers[i];
        if (!is_wanted(maker, offer))
            continue;
        if (best && !is_same_currency(best->offer, offer->offer))
            return false;
        if (!best || is_cheaper(offer, best))
            best = offer;
    }
    ret->chosen = best;
    return true;
}

static struct amount no_amount(struct maker *maker, bool one_currency) {
    const struct cost *ret = maker->ret;
    if (!one_currency)
        return amount_open(QUANTITY_NOT_SEPARATED,
                           _("usable offers are in different currencies, which are not compared: "
                             "choose one with --offer"));
    if (maker->wanted)
        return amount_open(QUANTITY_NO_OFFER,
                           arena_printf(maker->arena,
                                        _("offer '%s' is not usable, or is no offer for this "
                                          "environment"),
                                        maker->wanted));
    return amount_open(
        QUANTITY_NO_OFFER,
        ret->offer_count > 0
            ? _("no offer is usable; what each lacks is listed")
            : _("no offer was entered for this environment; what one must say is listed"));
}

/* ---- blocks and subtotals ---- */

static struct amount price_block(struct maker *maker, size_t index) {
    const struct cost_offer *chosen = maker->ret->chosen;
    const struct estimate_block *block = &maker->ret->estimate->blocks[index];
    const struct cost_volume volume = {.in = block->bytes_in, .out = block->bytes_out};
    const struct cost_futures *own = &maker->rentals.own[index];
    struct quantity reserved = block->figures.reserved;
    struct rental *rental = &maker->blocks[index];

    rental->times =
        cost_in_terms(own, &maker->rentals.restore[index], chosen->offer, maker->scratch);
    if (quantity_is_known(&reserved) && rental->times.p50.above == COST_BEYOND &&
        own->p50.above < COST_BEYOND)
        return amount_open(QUANTITY_NOT_APPLICABLE, cost_why_too_short());
    cost_futures_take(&rental->times, &reserved);
    const struct cost_price price =
        cost_price(maker->plan, chosen, &reserved, &rental->times, 0, &volume, maker->arena);
    rental->use = price.use;
    return price.amount;
}

static void price_blocks(struct maker *maker) {
    struct cost *ret = maker->ret;
    size_t count = ret->estimate->block_count;
    ret->by_block = arena_alloc(maker->arena, (count + 1) * sizeof *ret->by_block);
    maker->blocks = arena_alloc(maker->scratch, (count + 1) * sizeof *maker->blocks);
    for (size_t i = 0; i < count; i++)
        ret->by_block[i] = ret->chosen ? price_block(maker, i)
                                       : amount_open(ret->amount.reason, ret->amount.detail);
}

static bool is_in(const struct plan_block *block, const char *name, bool by_extent) {
    const char *own =
        by_extent ? plan_extent_name(block->extent) : plan_recurrence_name(block->recurrence);
    return strcmp(*own ? own : "not said", name) == 0;
}

static struct amount price_subtotal(struct maker *maker, const struct estimate_subtotal *subtotal,
                                    bool by_extent) {
    const struct cost *ret = maker->ret;
    const struct estimate *estimate = ret->estimate;
    size_t room = estimate->block_count + 1, used = 0;
    AUTO_ARENA struct arena *scratch = arena_new();
    const struct amount **parts = arena_alloc(scratch, room * sizeof(*parts));
    const char **names = arena_alloc(scratch, room * sizeof(*names));
    struct cost_futures micros = cost_futures_new(maker->rentals.count, scratch);

    for (size_t b = 0; b < estimate->block_count; b++) {
        const struct plan_block *block = estimate->blocks[b].block->block;
        if (!is_in(block, subtotal->name, by_extent))
            continue;
        parts[used] = &ret->by_block[b];
        names[used++] = block->id;
        if (amount_is_known(&ret->by_block[b]))
            cost_futures_bill(&maker->blocks[b].times, ret->chosen->offer, &maker->blocks[b].use,
                              &micros, NULL);
    }
    struct amount amount = amount_sum(parts, names, used, maker->arena);
    cost_futures_settle(&micros);
    cost_futures_sum(&amount, &micros, &subtotal->figures.reserved, maker->arena);
    return amount;
}

static struct cost_subtotal *subtotals(struct maker *maker, bool by_extent) {
    const struct estimate *estimate = maker->ret->estimate;
    const struct estimate_subtotal *of = by_extent ? estimate->by_extent : estimate->by_recurrence;
    size_t count = by_extent ? estimate->by_extent_count : estimate->by_recurrence_count;
    struct cost_subtotal *list = arena_alloc(maker->arena, (count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct cost_subtotal){.name = of[i].name,
                                         .amount = price_subtotal(maker, &of[i], by_extent)};
    return list;
}

void cost_make(const struct estimate *estimate, const char *offer, struct arena *arena,
               struct cost *ret) {
    AUTO_ARENA struct arena *scratch = arena_new();
    struct maker maker = {.ret = ret,
                          .plan = estimate->study->input->plan,
                          .wanted = offer,
                          .arena = arena,
                          .scratch = scratch,
                          .rentals = cost_rentals_of(estimate, arena, scratch)};
    *ret = (struct cost){.estimate = estimate};
    judge_offers(&maker);
    bool one_currency = choose(&maker);
    if (ret->chosen)
        ret->amount = ret->chosen->way
                          ? ret->chosen->way->amount
                          : amount_open(QUANTITY_NOT_APPLICABLE, ret->chosen->continuous.why);
    else
        ret->amount = no_amount(&maker, one_currency);
    if (!ret->chosen && maker.missing.count == 0) /* all are usable, and yet none is meant */
        cost_texts_add(&maker.missing, ret->amount.detail, arena);
    price_blocks(&maker);
    ret->by_extent = subtotals(&maker, true);
    ret->by_recurrence = subtotals(&maker, false);
    ret->missing = maker.missing.items;
    ret->missing_count = maker.missing.count;
    cost_owning_make(maker.plan, ret->offers, ret->offer_count, arena, &ret->owning);
}

/* ---- one offer for one run ---- */

/* The ids of offers that could be meant, for a complaint. */
static const char *why_none(const struct plan *plan, const char *id, size_t usable,
                            const struct cost_texts *wrong, struct arena *arena) {
    if (usable > 1)
        return arena_printf(arena, _("%zu offers are usable; choose one with --offer ID"), usable);
    if (id && !plan_offer_find(plan, id))
        return arena_printf(arena, _("the plan has no offer '%s'"), id);
    if (wrong->count == 0)
        return _("the plan has no offer for this environment");
    return wrong->items[0];
}

const struct plan_offer *cost_only_offer(const struct plan *plan, const char *id,
                                         const struct plan_environment *environment,
                                         const char *measured_gpu, int64_t now_utc_ns,
                                         struct arena *arena, const char **ret_why) {
    const struct plan_offer *only = NULL;
    struct cost_texts wrong = {0};
    size_t usable = 0;
    for (size_t i = 0; i < plan->offer_count; i++) {
        const struct plan_offer *offer = &plan->offers[i];
        struct cost_offer judged;
        if (id ? !offer->id || strcmp(offer->id, id) != 0 : !is_of(offer, environment))
            continue;
        cost_judge_offer(plan, offer, environment, measured_gpu, now_utc_ns, arena, &judged);
        usable += judged.usable;
        only = judged.usable ? offer : only;
        if (judged.wrong_count > 0)
            cost_texts_add(
                &wrong,
                arena_printf(arena, "%s: %s", cost_offer_name(plan, offer, arena), judged.wrong[0]),
                arena);
    }
    *ret_why = usable == 1 ? NULL : why_none(plan, id, usable, &wrong, arena);
    return usable == 1 ? only : NULL;
}
