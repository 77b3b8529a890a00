/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is an offer usable for an environment on a day (DESIGN section 8)? What is missing or does not
 * fit takes the amount away; what has no price is not in the amount and is named; what may have
 * changed is verified again at booking. Must not compute an amount, and must not fill a gap.
 */
#include "rules/cost-parts.h"

#include "base/clock.h"
#include "base/msg.h"
#include "rules/evidence-parts.h"

#include <string.h>

const char *cost_offer_name(const struct plan *plan, const struct plan_offer *offer,
                            struct arena *arena) {
    return arena_printf(arena, _("offer '%s' (%s)"), offer->id ? offer->id : "",
                        plan_source(plan, offer->at, arena));
}

static bool is_said(const char *text) {
    return text && text[0] != '\0';
}

struct judge {
    const struct plan *plan;
    const struct plan_offer *offer;
    const struct plan_environment *environment;
    const char *measured_gpu;
    int64_t now_utc_ns;
    bool past;
    struct arena *arena;
    struct cost_texts wrong, unpriced, verify;
};

static void wrong(struct judge *judge, const char *text) {
    cost_texts_add(&judge->wrong, text, judge->arena);
}

/* ---- missing ---- */

static bool has_no_gpu(const struct judge *judge) {
    const struct plan_environment *environment = judge->environment;
    return environment && environment->gpus.given && environment->gpus.value == 0;
}

static void find_missing(struct judge *judge) {
    const struct plan_offer *offer = judge->offer;
    bool has_money = is_said(offer->currency) || is_said(offer->service_unit);
    const struct {
        bool is_there;
        const char *text;
    } wanted[] = {
        {is_said(offer->environment), N_("missing: the environment that it is for")},
        {is_said(offer->source), N_("missing: its source")},
        {offer->seen.given, N_("missing: the date on which it was seen")},
        {offer->valid_until.given, N_("missing: the date until which it is valid")},
        {offer->rate.given, N_("missing: the rate")},
        {has_money, N_("missing: the currency, or the service unit in its place")},
        {cost_per_ns(offer->per) > 0, N_("missing: the billing unit (per)")},
        {offer->increment.given, N_("missing: the billing increment")},
        {offer->minimum.given, N_("missing: the minimum term")},
        {is_said(offer->device) || has_no_gpu(judge), N_("missing: the offered device")},
        {offer->gpus_per_unit.given || has_no_gpu(judge), N_("missing: the GPUs per unit")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++)
        if (!wanted[i].is_there)
            wrong(judge, _(wanted[i].text));
    if (is_said(offer->currency) && is_said(offer->service_unit))
        wrong(judge, _("it names a currency and a service unit: which of them is the rate in?"));
    if (offer->rate.given && offer->rate.micros < 0)
        wrong(judge, _("its rate is below 0"));
}

/* ---- terms that contradict one another ---- */

static void check_terms(struct judge *judge) {
    const struct plan_offer *offer = judge->offer;
    const struct plan_duration *increment = &offer->increment, *minimum = &offer->minimum;
    const struct plan_duration *maximum = &offer->maximum;
    if (maximum->given && maximum->ns <= 0) {
        wrong(judge, _("its longest term is 0"));
        return;
    }
    if (maximum->given && minimum->given && minimum->ns > maximum->ns)
        wrong(judge, _("its shortest term is longer than its longest term"));
    if (maximum->given && increment->given && increment->ns > maximum->ns)
        wrong(judge, _("its billing increment is longer than its longest term"));
}

/* ---- dates: a date is its whole day ---- */

/* As the reader's language writes it. */
static const char *date_text(const struct judge *judge, const struct plan_date *date) {
    char text[MSG_DATE_SIZE];
    return arena_strdup(judge->arena, msg_date(text, date->text ? date->text : ""));
}

/* The last day on which the plan wants to run a block; NULL: no date is planned. */
static const struct plan_date *last_planned(const struct plan *plan) {
    const struct plan_date *last = NULL;
    for (size_t i = 0; i < plan->calendar_count; i++) {
        const struct plan_date *dates[] = {&plan->calendar[i].start, &plan->calendar[i].end};
        for (size_t d = 0; d < ARRAY_LENGTH(dates); d++)
            if (dates[d]->given && (!last || dates[d]->utc_ns > last->utc_ns))
                last = dates[d];
    }
    return last;
}

static void check_dates(struct judge *judge) {
    const struct plan_offer *offer = judge->offer;
    const struct plan_date *until = &offer->valid_until;
    const struct plan_date *planned = judge->past ? NULL : last_planned(judge->plan);
    if (offer->seen.given && offer->seen.utc_ns > judge->now_utc_ns + NS_PER_DAY)
        wrong(judge, arena_printf(judge->arena, _("it was seen on %s, which is in the future"),
                                  date_text(judge, &offer->seen)));
    if (offer->seen.given && until->given && until->utc_ns < offer->seen.utc_ns)
        wrong(judge, arena_printf(judge->arena, _("it was valid until %s, before it was seen"),
                                  date_text(judge, until)));
    else if (until->given && judge->now_utc_ns - NS_PER_DAY >= until->utc_ns)
        wrong(judge, arena_printf(judge->arena, _("it was valid until %s: expired"),
                                  date_text(judge, until)));
    else if (until->given && planned && planned->utc_ns > until->utc_ns)
        wrong(judge,
              arena_printf(judge->arena, _("it is valid until %s, but runs are planned on %s"),
                           date_text(judge, until), date_text(judge, planned)));
}

/* ---- machine ---- */

static void check_device(struct judge *judge) {
    const struct plan_offer *offer = judge->offer;
    const struct plan_environment *environment = judge->environment;
    if (has_no_gpu(judge) && offer->gpus_per_unit.given && offer->gpus_per_unit.value > 0)
        wrong(judge, arena_printf(judge->arena, _("it counts GPUs, and environment '%s' has none"),
                                  environment->id));
    if (!is_said(offer->device) || has_no_gpu(judge))
        return;
    if (judge->measured_gpu && !evidence_is_same_gpu(judge->measured_gpu, offer->device))
        wrong(judge, arena_printf(judge->arena,
                                  _("its device '%s' is not the '%s' that runs were measured on"),
                                  offer->device, judge->measured_gpu));
    else if (environment && environment->gpu &&
             !evidence_is_same_gpu(environment->gpu, offer->device))
        wrong(judge,
              arena_printf(judge->arena, _("its device '%s' is not the '%s' of environment '%s'"),
                           offer->device, environment->gpu, environment->id));
}

/* Units side by side; 0: not known. */
static uint64_t units_of(const struct judge *judge) {
    const struct plan_environment *environment = judge->environment;
    const struct plan_whole *per_unit = &judge->offer->gpus_per_unit;
    if (!environment || !environment->gpus.given || environment->gpus.value < 0)
        return 0;
    if (environment->gpus.value == 0)
        return 1;
    if (!per_unit->given || per_unit->value <= 0)
        return 0;
    uint64_t gpus = (uint64_t)environment->gpus.value, each = (uint64_t)per_unit->value;
    return gpus / each + (gpus % each != 0);
}

static void check_environment(struct judge *judge, uint64_t units) {
    const struct plan_offer *offer = judge->offer;
    const struct plan_environment *environment = judge->environment;
    if (!environment) {
        wrong(judge, _("the plan names no environment that it could be for"));
        return;
    }
    if (is_said(offer->environment) && strcmp(offer->environment, environment->id) != 0)
        wrong(judge, arena_printf(judge->arena, _("it is for environment '%s', not for '%s'"),
                                  offer->environment, environment->id));
    if (!environment->gpus.given || environment->gpus.value < 0)
        wrong(judge, arena_printf(judge->arena, _("the number of GPUs of environment '%s' is open"),
                                  environment->id));
    if (!judge->past && units > 0 && offer->units_available.given &&
        offer->units_available.value >= 0 && (uint64_t)offer->units_available.value < units)
        wrong(judge,
              arena_printf(judge->arena, _("%lld units can be had of it, and %llu are needed"),
                           (long long)offer->units_available.value, (unsigned long long)units));
}

static void check_replaced(struct judge *judge) {
    const struct plan *plan = judge->plan;
    for (size_t i = 0; i < plan->offer_count && !judge->past; i++)
        if (plan->offers[i].replaces && judge->offer->id &&
            strcmp(plan->offers[i].replaces, judge->offer->id) == 0 &&
            &plan->offers[i] != judge->offer)
            wrong(judge, arena_printf(judge->arena, _("it was replaced by offer '%s'"),
                                      plan->offers[i].id ? plan->offers[i].id : ""));
}

/* ---- no price ---- */

static bool is_free(const struct plan_amount *price) {
    return price->given && price->micros <= 0;
}

static void find_unpriced_storage(struct judge *judge) {
    const struct plan_offer *offer = judge->offer;
    const struct plan_rental *rental = &judge->plan->rental;
    bool may_stop = !rental->between || strcmp(rental->between, "stopped") == 0;
    bool needs_stopped = may_stop && !is_free(&offer->storage_stopped);
    if (rental->storage.given && rental->storage.bytes == 0)
        return;
    if (!offer->storage_running.given)
        cost_texts_add(&judge->unpriced, _("the price of storage while the machine runs"),
                       judge->arena);
    if (needs_stopped && rental->between && !offer->storage_stopped.given)
        cost_texts_add(&judge->unpriced, _("the price of storage while the machine is stopped"),
                       judge->arena);
    if (!rental->storage.given && offer->storage_running.given && !is_free(&offer->storage_running))
        cost_texts_add(&judge->unpriced,
                       _("storage: the plan does not say how much is kept (rental.storage)"),
                       judge->arena);
}

static void find_unpriced(struct judge *judge) {
    const struct plan_offer *offer = judge->offer;
    bool has_taxes = !is_said(offer->service_unit);
    const struct {
        bool is_lacking;
        const char *text;
    } prices[] = {
        {!offer->setup_fee.given, N_("the set-up fee")},
        {!offer->transfer_in.given, N_("the price of transfer in")},
        {!offer->transfer_out.given, N_("the price of transfer out")},
        {has_taxes && offer->tax_included == PLAN_UNSAID,
         N_("taxes: the offer does not say whether they are in the prices")},
        {has_taxes && offer->tax_included == PLAN_NO && !offer->tax_percent.given,
         N_("taxes: the offer does not say their rate")},
        {offer->interruptible == PLAN_YES, N_("what is lost when the provider interrupts")},
        {offer->interruptible == PLAN_UNSAID, N_("what may be lost when the provider interrupts: "
                                                 "the offer does not say whether it may")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(prices); i++)
        if (prices[i].is_lacking)
            cost_texts_add(&judge->unpriced, _(prices[i].text), judge->arena);
    find_unpriced_storage(judge);
}

/* ---- to verify at booking (D5) ---- */

static void verify(struct judge *judge, bool is_there, const char *what, const char *said) {
    cost_texts_add(&judge->verify,
                   is_there ? arena_printf(judge->arena, _("%s; the offer says: %s"), what, said)
                            : arena_printf(judge->arena, _("%s; the offer does not say it"), what),
                   judge->arena);
}

static const char *span_text(const struct plan_duration *duration, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (!duration->given)
        return NULL;
    quantity_format_value((double)duration->ns / 1e9, UNIT_SECOND, &text);
    return arena_strdup(arena, strbuf_str(&text));
}

static void find_verify(struct judge *judge, uint64_t units) {
    const struct plan_offer *offer = judge->offer;
    struct arena *arena = judge->arena;
    const char *count = offer->units_available.given
                            ? arena_printf(arena, "%lld", (long long)offer->units_available.value)
                            : NULL;
    const char *provisioning = span_text(&offer->provisioning, arena);
    const char *minimum = span_text(&offer->minimum, arena);
    const char *maximum = span_text(&offer->maximum, arena);
    verify(judge, is_said(offer->availability), _("availability"), offer->availability);
    verify(judge, count != NULL,
           units > 0 ? arena_printf(arena, _("number of units, of which %llu are needed"),
                                    (unsigned long long)units)
                     : _("number of units"),
           count);
    verify(judge, provisioning != NULL, _("time from the order to the first login"), provisioning);
    verify(judge, minimum != NULL, _("shortest term"), minimum);
    verify(judge, maximum != NULL, _("longest term"), maximum);
    if (offer->interruptible == PLAN_NO)
        verify(judge, true, _("interruption by the provider"), _("not allowed"));
    else
        verify(judge, is_said(offer->interruption_terms), _("interruption by the provider"),
               offer->interruption_terms);
}

/* ---- terms side by side ---- */

#define TERMS_MOST 32u

struct terms {
    struct cost_term *items;
    size_t count;
    struct arena *arena;
};

static void add_term(struct terms *terms, const char *key, const char *label, const char *text) {
    terms->items[terms->count++] =
        (struct cost_term){.key = key, .label = label, .text = is_said(text) ? text : NULL};
}

static void add_money(struct terms *terms, const char *key, const char *label,
                      const struct plan_amount *price) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    money_add_exact(&text, price->micros);
    add_term(terms, key, label,
             price->given ? arena_strdup(terms->arena, strbuf_str(&text)) : NULL);
}

static void add_span(struct terms *terms, const char *key, const char *label,
                     const struct plan_duration *span) {
    long long ns = (long long)span->ns;
    add_term(terms, key, label,
             !span->given ? NULL
             : ns % NS_PER_S
                 ? arena_printf(terms->arena, "%lld.%09lld s", ns / NS_PER_S, ns % NS_PER_S)
                 : arena_printf(terms->arena, "%lld s", ns / NS_PER_S));
}

static void add_whole(struct terms *terms, const char *key, const char *label,
                      const struct plan_whole *whole) {
    add_term(terms, key, label,
             whole->given ? arena_printf(terms->arena, "%lld", (long long)whole->value) : NULL);
}

static void add_answer(struct terms *terms, const char *key, const char *label,
                       enum plan_answer answer) {
    add_term(terms, key, label, answer == PLAN_UNSAID ? NULL : plan_answer_name(answer));
}

size_t cost_offer_terms(const struct plan_offer *offer, struct arena *arena,
                        struct cost_term **ret_terms) {
    struct terms terms = {.items = arena_alloc(arena, TERMS_MOST * sizeof *terms.items),
                          .arena = arena};
    add_term(&terms, "device", _("device"), offer->device);
    add_term(&terms, "provider", _("provider"), offer->provider);
    add_whole(&terms, "gpus_per_unit", _("GPUs per unit"), &offer->gpus_per_unit);
    add_money(&terms, "rate", _("rate"), &offer->rate);
    add_term(&terms, "currency", _("currency"), offer->currency);
    add_term(&terms, "service_unit", _("service unit"), offer->service_unit);
    add_term(&terms, "per", _("billing unit"), offer->per);
    add_span(&terms, "increment", _("billing increment"), &offer->increment);
    add_span(&terms, "minimum", _("shortest term"), &offer->minimum);
    add_span(&terms, "maximum", _("longest term"), &offer->maximum);
    add_whole(&terms, "units_available", _("units that can be had"), &offer->units_available);
    add_span(&terms, "provisioning", _("time from the order to the first login"),
             &offer->provisioning);
    add_money(&terms, "setup_fee", _("set-up fee"), &offer->setup_fee);
    add_money(&terms, "storage_running", _("storage, running"), &offer->storage_running);
    add_money(&terms, "storage_stopped", _("storage, stopped"), &offer->storage_stopped);
    add_money(&terms, "transfer_in", _("transfer in"), &offer->transfer_in);
    add_money(&terms, "transfer_out", _("transfer out"), &offer->transfer_out);
    add_answer(&terms, "interruptible", _("interruptible"), offer->interruptible);
    add_term(&terms, "interruption_terms", _("interruption terms"), offer->interruption_terms);
    add_term(&terms, "taxes", _("taxes"), offer->taxes);
    add_answer(&terms, "tax_included", _("taxes included"), offer->tax_included);
    add_money(&terms, "tax_percent", _("taxes, percent"), &offer->tax_percent);
    add_term(&terms, "region", _("region"), offer->region);
    add_term(&terms, "data_terms", _("terms of data processing"), offer->data_terms);
    add_term(&terms, "availability", _("availability"), offer->availability);
    add_term(&terms, "source", _("source"), offer->source);
    add_term(&terms, "seen", _("seen"), offer->seen.given ? offer->seen.text : NULL);
    add_term(&terms, "valid_until", _("valid until"),
             offer->valid_until.given ? offer->valid_until.text : NULL);
    *ret_terms = terms.items;
    return terms.count;
}

static void find_changes(const struct judge *judge, struct cost_offer *ret) {
    const struct plan_offer *old =
        judge->offer->replaces ? plan_offer_find(judge->plan, judge->offer->replaces) : NULL;
    struct cost_term *before, *after;
    if (!old || old == judge->offer)
        return;
    size_t count = cost_offer_terms(old, judge->arena, &before);
    (void)cost_offer_terms(judge->offer, judge->arena, &after);
    ret->changes = arena_alloc(judge->arena, (count + 1) * sizeof *ret->changes);
    for (size_t i = 0; i < count; i++)
        if (strcmp(before[i].text ? before[i].text : "", after[i].text ? after[i].text : "") != 0)
            ret->changes[ret->change_count++] = (struct cost_change){.key = after[i].key,
                                                                     .what = after[i].label,
                                                                     .before = before[i].text,
                                                                     .after = after[i].text};
}

/* ---- the whole ---- */

void cost_judge(const struct plan *plan, const struct plan_offer *offer,
                const struct plan_environment *environment, const char *measured_gpu,
                int64_t now_utc_ns, bool past, struct arena *arena, struct cost_offer *ret) {
    struct judge judge = {.plan = plan,
                          .offer = offer,
                          .environment = environment,
                          .measured_gpu = measured_gpu,
                          .now_utc_ns = now_utc_ns,
                          .past = past,
                          .arena = arena};
    uint64_t units = units_of(&judge);
    check_environment(&judge, units);
    find_missing(&judge);
    check_device(&judge);
    check_terms(&judge);
    check_dates(&judge);
    check_replaced(&judge);
    find_unpriced(&judge);
    find_verify(&judge, units);
    *ret = (struct cost_offer){
        .offer = offer,
        .usable = judge.wrong.count == 0,
        .wrong = judge.wrong.items,
        .wrong_count = judge.wrong.count,
        .unpriced = judge.unpriced.items,
        .unpriced_count = judge.unpriced.count,
        .verify = judge.verify.items,
        .verify_count = judge.verify.count,
        .units = units,
    };
    find_changes(&judge, ret);
}

void cost_judge_offer(const struct plan *plan, const struct plan_offer *offer,
                      const struct plan_environment *environment, const char *measured_gpu,
                      int64_t now_utc_ns, struct arena *arena, struct cost_offer *ret) {
    cost_judge(plan, offer, environment, measured_gpu, now_utc_ns, false, arena, ret);
}
