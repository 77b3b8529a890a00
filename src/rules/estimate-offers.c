/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why there is no amount of money: what each offer of the plan lacks or where it does not fit (D5).
 * Must not compute an amount.
 */
#include "rules/estimate-parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "rules/amount.h"

#include <string.h>

struct lines { /* growing, in the arena */
    const char **items;
    size_t count, room;
};

static void lines_add(struct lines *lines, const char *text, struct arena *arena) {
    if (lines->count == lines->room) {
        size_t room = lines->room ? 2 * lines->room : 16;
        const char **items = arena_alloc(arena, room * sizeof *items);
        if (lines->count > 0)
            memcpy(items, lines->items, lines->count * sizeof *items);
        lines->items = items;
        lines->room = room;
    }
    lines->items[lines->count++] = text;
}

#define NS_PER_DAY (INT64_C(86400) * NS_PER_S)

/* What the plan leaves out of an offer; NULL-terminated by count. */
static size_t list_missing(const struct plan_offer *offer, const char *ret_texts[16]) {
    size_t count = 0;
    const struct {
        bool given;
        const char *text;
    } wanted[] = {
        {offer->source && offer->source[0], N_("its source")},
        {offer->seen.given, N_("the date on which it was seen")},
        {offer->valid_until.given, N_("the date until which it is valid")},
        {offer->rate.given, N_("the rate")},
        {offer->currency && offer->currency[0], N_("the currency")},
        {offer->per && offer->per[0], N_("the billing unit")},
        {offer->increment.given, N_("the billing increment")},
        {offer->minimum.given, N_("the minimum term")},
        {offer->device && offer->device[0], N_("the offered device")},
        {offer->gpus_per_unit.given, N_("the GPUs per unit")},
        {offer->setup_fee.given, N_("the set-up fee")},
        {offer->storage_running.given && offer->storage_stopped.given,
         N_("the price of storage while running and while stopped")},
        {offer->transfer_in.given && offer->transfer_out.given,
         N_("the price of transfer in and out")},
        {offer->taxes && offer->taxes[0], N_("taxes")},
        {offer->interruptible != PLAN_UNSAID, N_("whether the machine may be interrupted")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++)
        if (!wanted[i].given)
            ret_texts[count++] = _(wanted[i].text);
    return count;
}

/* The last day on which the plan wants to run a block; false: no date is planned. */
static bool last_planned(const struct plan *plan, const struct plan_date **ret_date) {
    bool found = false;
    for (size_t i = 0; i < plan->calendar_count; i++) {
        const struct plan_date *dates[] = {&plan->calendar[i].start, &plan->calendar[i].end};
        for (size_t d = 0; d < ARRAY_LENGTH(dates); d++)
            if (dates[d]->given && (!found || dates[d]->utc_ns > (*ret_date)->utc_ns)) {
                *ret_date = dates[d];
                found = true;
            }
    }
    return found;
}

static void check_dates(const struct estimate_maker *maker, const struct plan_offer *offer,
                        const char *name, struct lines *lines) {
    const struct plan_date *planned = NULL;
    const struct plan_date *until = &offer->valid_until;

    if (!until->given)
        return;
    /* a date is its whole day */
    if (maker->study->input->now_utc_ns - NS_PER_DAY >= until->utc_ns)
        lines_add(lines,
                  arena_printf(maker->arena, _("%s: it was valid until %s: expired"), name,
                               until->text ? until->text : ""),
                  maker->arena);
    else if (last_planned(maker->plan, &planned) && planned->utc_ns > until->utc_ns)
        lines_add(lines,
                  arena_printf(maker->arena,
                               _("%s: it is valid until %s, but runs are planned on %s"), name,
                               until->text ? until->text : "", planned->text ? planned->text : ""),
                  maker->arena);
}

static void check_offer(const struct estimate_maker *maker, const struct plan_offer *offer,
                        struct lines *lines) {
    struct arena *arena = maker->arena;
    const struct plan_environment *environment = maker->environment;
    const char *missing[16];
    size_t before = lines->count;
    const char *name = arena_printf(arena, _("offer '%s' (%s)"), offer->id ? offer->id : "",
                                    plan_source(maker->plan, offer->at, arena));

    if (!offer->environment)
        lines_add(lines, arena_printf(arena, _("%s: which environment it is for is missing"), name),
                  arena);
    size_t count = list_missing(offer, missing);
    for (size_t i = 0; i < count; i++)
        lines_add(lines, arena_printf(arena, _("%s: missing: %s"), name, missing[i]), arena);
    check_dates(maker, offer, name, lines);
    if (environment && environment->gpu && offer->device &&
        strcmp(environment->gpu, offer->device) != 0)
        lines_add(lines,
                  arena_printf(arena, _("%s: its device '%s' is not the '%s' of environment '%s'"),
                               name, offer->device, environment->gpu, environment->id),
                  arena);
    if (lines->count == before)
        lines_add(lines,
                  arena_printf(arena,
                               _("%s: nothing is missing; this version does not compute "
                                 "amounts yet"),
                               name),
                  arena);
}

void estimate_amount(struct estimate_maker *maker) {
    const struct plan *plan = maker->plan;
    struct lines lines = {NULL, 0, 0};
    size_t offers = 0;

    for (size_t i = 0; i < plan->offer_count; i++) {
        const struct plan_offer *offer = &plan->offers[i];
        if (maker->environment && offer->environment &&
            strcmp(offer->environment, maker->environment->id) != 0)
            continue; /* nothing crosses from one environment to another */
        offers++;
        check_offer(maker, offer, &lines);
    }
    for (size_t i = 0; i < amount_need_count() && offers == 0; i++)
        lines_add(&lines, amount_need(i), maker->arena);
    maker->ret->missing = lines.items;
    maker->ret->missing_count = lines.count;
    maker->ret->amount = quantity_open(
        NULL, QUANTITY_NO_OFFER,
        offers > 0 ? _("this version gives no amounts yet; what each offer lacks is listed")
                   : _("no offer was entered for this environment; what one must say is listed"));
}
