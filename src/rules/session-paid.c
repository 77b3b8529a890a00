/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What of a session is paid, by the offer that it names: the time, and the amount where the offer
 * was usable when the session began. By people's terms, which no bill has confirmed: never
 * measured.
 */
#include "rules/session.h"

#include "base/clock.h"
#include "base/msg.h"
#include "rules/cost-parts.h"

#include <math.h>
#include <string.h>

static const struct plan_offer *find_offer(const struct plan *plan, const char *id) {
    for (size_t i = 0; plan && id && i < plan->offer_count; i++)
        if (plan->offers[i].id && strcmp(plan->offers[i].id, id) == 0)
            return &plan->offers[i];
    return NULL;
}

static double seconds(const struct plan_duration *duration) {
    return duration->given && duration->ns > 0 ? (double)duration->ns / (double)NS_PER_S : 0.0;
}

static struct quantity paid_time(const struct session *session, const struct plan *plan,
                                 struct arena *arena) {
    const struct plan_offer *offer = find_offer(plan, session->offer);
    if (!session->offer)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_OFFER,
                             _("the session names no offer: start with --offer NAME"));
    if (!offer)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_OFFER,
                             arena_printf(arena,
                                          plan ? _("the plan has no offer '%s'")
                                               : _("the plan with offer '%s' is not at hand"),
                                          session->offer));
    struct quantity paid = session->reserved;
    double increment = seconds(&offer->increment), minimum = seconds(&offer->minimum);
    const char **sources = arena_alloc(arena, 2 * sizeof(*sources));
    /* By people's terms, which no bill has confirmed: measured is only the reserved time. */
    paid.state = QUANTITY_ASSUMED;
    const char *terms = increment > 0.0 ? _("by the offer's terms, no bill")
                                        : _("by the offer, which says no billing increment");
    paid.detail = paid.detail ? arena_printf(arena, "%s; %s", terms, paid.detail) : terms;
    paid.method = "reserved time";
    if (increment > 0.0) {
        paid.value = ceil(paid.value / increment - 1e-9) * increment;
        paid.method = "reserved time, rounded up to the offer's billing increment";
    }
    if (paid.value < minimum) {
        paid.value = minimum;
        paid.method = "the offer's minimum term: the reserved time is below it";
    }
    sources[0] = session->id;
    sources[1] = plan_source(plan, offer->at, arena);
    paid.sources = sources;
    paid.source_count = 2;
    return paid;
}

/* GPUs of the session in units of the offer; what the plan's environment says where it has none. */
static void count_units(const struct session *session, struct cost_offer *offer) {
    const struct plan_whole *each = &offer->offer->gpus_per_unit;
    if (!session->has_gpus || session->gpus == 0 || !each->given || each->value <= 0)
        return;
    offer->units =
        session->gpus / (uint64_t)each->value + (session->gpus % (uint64_t)each->value != 0);
}

static struct amount paid_amount(const struct session *session, const struct plan *plan,
                                 struct arena *arena) {
    const struct plan_offer *offer = find_offer(plan, session->offer);
    struct cost_offer judged;
    if (!offer || !quantity_is_known(&session->paid))
        return amount_open(QUANTITY_NO_OFFER, session->paid.detail);
    const char *id = session->environment ? session->environment : offer->environment;
    cost_judge(plan, offer, id ? plan_environment_find(plan, id) : NULL, NULL,
               session->started_utc_ns, true, arena, &judged);
    if (!judged.usable)
        return amount_open(
            QUANTITY_NO_OFFER,
            arena_printf(arena, "%s: %s", cost_offer_name(plan, offer, arena), judged.wrong[0]));
    count_units(session, &judged);
    const struct cost_volume volume = {.in = quantity_open(UNIT_BYTE, QUANTITY_NOT_IN_RECORD, NULL),
                                       .out =
                                           quantity_open(UNIT_BYTE, QUANTITY_NOT_IN_RECORD, NULL)};
    struct quantity time = session->reserved;
    time.state = QUANTITY_ASSUMED;
    struct amount amount = cost_price(plan, &judged, &time, NULL, 0, &volume, arena).amount;
    amount.detail = _("by the offer's terms, no bill");
    return amount;
}

void session_find_paid(struct session_list *list, const struct plan *plan, struct arena *arena) {
    for (size_t i = 0; i < list->count; i++) {
        list->items[i].paid = paid_time(&list->items[i], plan, arena);
        list->items[i].amount = paid_amount(&list->items[i], plan, arena);
    }
}

/* Why nobody can rely on it; NULL: one can. */
static const char *why_no_rate(const struct plan_offer *offer, int64_t now_utc_ns) {
    if (!offer->rate.given || !offer->currency || !offer->per)
        return _("the offer names no rate");
    if (!offer->source || !offer->seen.given)
        return _("the offer does not say where and when it was seen");
    if (offer->valid_until.given && now_utc_ns - NS_PER_DAY >= offer->valid_until.utc_ns)
        return _("the offer has expired");
    return NULL;
}

/* At least two digits behind the point, no more than there are. */
static const char *rate_text(const struct plan_offer *offer, struct arena *arena) {
    int64_t micros = offer->rate.micros;
    char *text = arena_printf(arena, "%lld.%06lld", (long long)(micros / 1000000),
                              (long long)(micros % 1000000));
    size_t length = strlen(text);
    for (int i = 0; i < 4 && text[length - 1] == '0'; i++)
        text[--length] = '\0';
    return arena_printf(arena, _("%s %s per %s"), text, offer->currency, offer->per);
}

const char *session_rate(const struct session *session, const struct plan *plan, int64_t now_utc_ns,
                         struct arena *arena, const char **ret_why) {
    const struct plan_offer *offer = find_offer(plan, session->offer);
    *ret_why =
        session->offer ? _("the offer is in no plan at hand") : _("the session names no offer");
    if (!offer)
        return NULL;
    *ret_why = why_no_rate(offer, now_utc_ns);
    return *ret_why || offer->rate.micros < 0 ? NULL : rate_text(offer, arena);
}
