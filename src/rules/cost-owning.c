/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a machine of one's own costs (DESIGN section 8): a year of it, one GPU-hour that it really
 * delivers, and the utilisation at which renting costs the same. Every figure needs a value that
 * can be read and a source; else it is missing and there is no amount. Must never hold a purchase
 * price against the price of renting alone.
 */
#include "rules/cost-parts.h"

#include "base/clock.h"
#include "base/msg.h"

#include <string.h>

#define YEAR_NS    (365 * NS_PER_DAY)
#define YEAR_HOURS UINT64_C(8760)
#define MILLION    UINT64_C(1000000)

struct owning {
    const struct plan *plan;
    const struct plan_owning *said;
    struct arena *arena;
    struct cost_texts missing, beside, lacks, sources;
    bool is_money_missing; /* one of the figures that make the yearly cost */
    int64_t purchase, residual, lifetime_ns, electricity, lead_time_ns;
    uint64_t milliwatts, utilisation; /* millionths */
    bool has_purchase, has_utilisation, has_lead_time, has_gpus;
    struct cost_yearly administration, maintenance;
    int64_t depreciation, power, yearly, fixed;
};

/* ---- reading ---- */

static void miss(struct owning *own, const struct plan_sourced *figure, const char *name,
                 const char *why) {
    cost_texts_add(&own->missing,
                   figure->at.line > 0
                       ? arena_printf(own->arena, "%s (%s): %s", name,
                                      plan_source(own->plan, figure->at, own->arena), why)
                       : arena_printf(own->arena, "%s: %s", name, why),
                   own->arena);
}

/* Has the figure a value and a source? The value is judged by who reads it. */
static bool has_figure(struct owning *own, const struct plan_sourced *figure, const char *name) {
    if (!figure->value || !figure->value[0]) {
        miss(own, figure, name, _("not entered"));
        return false;
    }
    if (!figure->source || !figure->source[0]) {
        miss(own, figure, name, _("no source"));
        return false;
    }
    return true;
}

/* What a figure says that cannot be used; example: what can be read. NULL: nothing. */
static const char *why_not(const struct owning *own, const struct plan_sourced *figure,
                           enum cost_reading reading, const char *example) {
    switch (reading) {
    case COST_READ:
        return NULL;
    case COST_UNREADABLE:
        return arena_printf(own->arena, _("'%s' cannot be read; write it like '%s'"), figure->value,
                            example);
    case COST_AMBIGUOUS:
        return arena_printf(own->arena,
                            _("'%s' is ambiguous: thousands, or a fraction? Write thousands "
                              "without a point"),
                            figure->value);
    case COST_OTHER_CURRENCY:
        return arena_printf(own->arena, _("'%s' is not in %s; nothing is converted"), figure->value,
                            own->said->currency);
    case COST_IMPLAUSIBLE:
        return arena_printf(own->arena, _("'%s' is more hours than there are in that time"),
                            figure->value);
    }
    return NULL;
}

static bool take(struct owning *own, const struct plan_sourced *figure, const char *name,
                 enum cost_reading reading, const char *example) {
    if (!has_figure(own, figure, name))
        return false;
    const char *why = why_not(own, figure, reading, example);
    if (why) {
        miss(own, figure, name, why);
        return false;
    }
    cost_texts_add(&own->sources, plan_source(own->plan, figure->at, own->arena), own->arena);
    return true;
}

static enum cost_reading if_read(bool is_read) {
    return is_read ? COST_READ : COST_UNREADABLE;
}

static void read_money_figures(struct owning *own) {
    const struct plan_owning *said = own->said;
    const char *currency = said->currency;
    bool purchase = take(own, &said->purchase, _("purchase price"),
                         cost_read_money(said->purchase.value, currency, &own->purchase), "18000");
    own->has_purchase = purchase;
    bool residual = take(own, &said->residual, _("value after that"),
                         cost_read_money(said->residual.value, currency, &own->residual), "2000");
    bool lifetime = take(
        own, &said->lifetime, _("years of use"),
        if_read(cost_read_span(said->lifetime.value, &own->lifetime_ns) && own->lifetime_ns > 0),
        "4 years");
    bool power = take(own, &said->power, _("power drawn"),
                      cost_read_power(said->power.value, &own->milliwatts), "900 W");
    bool electricity = take(own, &said->electricity, _("price of electricity"),
                            cost_read_per_kwh(said->electricity.value, currency, &own->electricity),
                            "0.31 per kWh");
    bool administration =
        take(own, &said->administration, _("administration"),
             cost_read_yearly(said->administration.value, currency, &own->administration),
             "2 h a week at 45");
    bool maintenance =
        take(own, &said->maintenance, _("maintenance"),
             cost_read_yearly(said->maintenance.value, currency, &own->maintenance), "900 a year");
    if (purchase && residual && own->residual > own->purchase) {
        miss(own, &said->residual, _("value after that"), _("more than the purchase price"));
        residual = false;
    }
    own->is_money_missing = !(purchase && residual && lifetime && power && electricity &&
                              administration && maintenance);
}

static void read_figures(struct owning *own) {
    const struct plan_owning *said = own->said;
    if (!said->currency || !said->currency[0]) {
        cost_texts_add(&own->missing, _("currency: not entered"), own->arena);
        own->is_money_missing = true;
    }
    own->has_gpus = said->gpus.given && said->gpus.value > 0;
    if (!own->has_gpus)
        cost_texts_add(&own->missing, _("number of GPUs: not entered"), own->arena);
    own->has_lead_time =
        take(own, &said->lead_time, _("time until it can be used"),
             if_read(cost_read_span(said->lead_time.value, &own->lead_time_ns)), "10 weeks");
    own->has_utilisation =
        take(own, &said->utilisation, _("share of the time in use"),
             if_read(cost_read_share(said->utilisation.value, &own->utilisation) &&
                     own->utilisation > 0),
             "30%");
}

/* ---- a year ---- */

/* Micros of electricity in a year at a share of the time; rounded up. */
static bool power_cost(const struct owning *own, uint64_t share, int64_t *ret_micros) {
    uint64_t product = 0;
    return !__builtin_mul_overflow(own->milliwatts, YEAR_HOURS, &product) &&
           !__builtin_mul_overflow(product, share, &product) &&
           /* mW to kW, millionths to one */
           money_scale_up(own->electricity, product, MILLION * MILLION, ret_micros);
}

static bool add_up(struct owning *own) {
    return money_scale_up(own->purchase - own->residual, (uint64_t)YEAR_NS,
                          (uint64_t)own->lifetime_ns, &own->depreciation) &&
           power_cost(own, own->utilisation, &own->power) &&
           money_add(own->depreciation, own->administration.micros, &own->fixed) &&
           money_add(own->fixed, own->maintenance.micros, &own->fixed) &&
           money_add(own->fixed, own->power, &own->yearly);
}

static void find_lacks(struct owning *own) {
    const struct {
        const struct cost_yearly *figure;
        const char *name;
    } works[] = {
        {&own->administration, _("administration")},
        {&own->maintenance, _("maintenance")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(works); i++) {
        AUTO_STRBUF struct strbuf time = STRBUF_INIT;
        if (!works[i].figure->has_hours || works[i].figure->has_money)
            continue;
        quantity_format_value((double)works[i].figure->hours_ns / 1e9, UNIT_SECOND, &time);
        cost_texts_add(&own->lacks,
                       arena_printf(own->arena, _("%s: %s of work a year have no price"),
                                    works[i].name, strbuf_str(&time)),
                       own->arena);
    }
    if (own->milliwatts > 0 && own->electricity > 0 && own->utilisation < MILLION)
        cost_texts_add(&own->lacks, _("electricity while the machine idles"), own->arena);
}

static struct amount amount_of(const struct owning *own, int64_t micros) {
    return (struct amount){
        .state = QUANTITY_ASSUMED,
        .bound = own->lacks.count > 0 ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
        .micros = micros,
        .currency = own->said->currency,
        .detail = _("from figures of the plan, each with its source"),
        .lacks = own->lacks.items,
        .lack_count = own->lacks.count,
        .sources = own->sources.items,
        .source_count = own->sources.count,
    };
}

static void add_lines(const struct owning *own, struct amount *amount) {
    struct amount_line *lines = arena_alloc(own->arena, 4 * sizeof *lines);
    const struct plan_owning *said = own->said;
    const struct {
        const char *text;
        int64_t micros;
        struct plan_at at;
        bool is_there; /* what is only told in hours has no price: it is among the lacks */
    } parts[] = {
        {_("purchase price less the value after that, by years of use"), own->depreciation,
         said->purchase.at, true},
        {_("electricity while it is in use"), own->power, said->power.at, true},
        {_("administration"), own->administration.micros, said->administration.at,
         own->administration.has_money},
        {_("maintenance"), own->maintenance.micros, said->maintenance.at,
         own->maintenance.has_money},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        if (parts[i].is_there)
            lines[amount->line_count++] =
                (struct amount_line){.text = parts[i].text,
                                     .micros = parts[i].micros,
                                     .source = plan_source(own->plan, parts[i].at, own->arena)};
    amount->lines = lines;
}

/* ---- against renting ---- */

/* What is compared: the hourly price of a GPU. */
struct rent {
    const struct plan_offer *offer; /* NULL: none */
    int64_t hourly;
    bool in_currency; /* some offer is usable and of the currency, with GPUs or without */
};

/* Of the cheapest usable offer of the currency, with the taxes that are known. Where those of the
 * cheapest one are open, every offer costs at least that much. */
static struct rent cheapest(const struct owning *own, const struct cost_offer *offers,
                            size_t count) {
    struct rent best = {0};
    for (size_t i = 0; i < count; i++) {
        const struct plan_offer *offer = offers[i].offer;
        int64_t hourly = 0;
        if (!offers[i].usable || (offer->service_unit && offer->service_unit[0]) ||
            strcmp(cost_offer_currency(offer), own->said->currency) != 0)
            continue;
        best.in_currency = true;
        if (!offer->gpus_per_unit.given || offer->gpus_per_unit.value <= 0 ||
            !cost_hourly(offer, true, &hourly))
            continue;
        bool is_less = !best.offer || hourly < best.hourly ||
                       (hourly == best.hourly && cost_taxes_are_open(best.offer));
        if (!is_less)
            continue;
        best.offer = offer;
        best.hourly = hourly;
    }
    return best;
}

static struct quantity taxes_leave_open(const struct owning *own, const struct rent *rent) {
    return quantity_open(UNIT_RATIO, QUANTITY_NOT_ENTERED,
                         arena_printf(own->arena,
                                      _("the taxes of offer '%s' are not said: they make renting "
                                        "dearer, and the share lower"),
                                      rent->offer->id ? rent->offer->id : ""));
}

static const char *break_even_text(const struct owning *own, const struct plan_offer *offer,
                                   double share) {
    const char *id = offer->id ? offer->id : "";
    return share > 1.0
               ? arena_printf(own->arena,
                              _("above 1: renting under offer '%s' costs less even if the machine "
                                "were in use all the time"),
                              id)
               : arena_printf(own->arena,
                              _("share of the year in use at which renting under offer '%s' costs "
                                "the same; below it renting costs less"),
                              id);
}

/*
 * The share of the year u at which fixed + u x electricity = u x 8760 x GPUs x hourly price.
 * What the lacks hold raises it: work without a price as long as anything; electricity while idle
 * (fixed + i) / (rent - electricity + i) only below 1, and above 1 it draws the share towards 1.
 * Taxes that are not said raise the rent, so they lower it.
 */
static struct quantity break_even(const struct owning *own, const struct cost_offer *offers,
                                  size_t count) {
    int64_t full_power = 0;
    const struct rent rented = cheapest(own, offers, count);
    if (!rented.offer)
        return quantity_open(UNIT_RATIO, QUANTITY_NO_OFFER,
                             rented.in_currency
                                 ? _("no usable offer in the currency of owning is for GPUs")
                                 : _("no offer in the currency of owning is usable"));
    if (!power_cost(own, MILLION, &full_power))
        return quantity_open(UNIT_RATIO, QUANTITY_NOT_SUPPORTED, NULL);
    double rent = (double)rented.hourly * (double)own->said->gpus.value * (double)YEAR_HOURS;
    bool is_taxed = cost_taxes_are_open(rented.offer);
    if (is_taxed && (own->lacks.count > 0 || rent <= (double)full_power))
        return taxes_leave_open(own, &rented);
    if (rent <= (double)full_power)
        return quantity_open(UNIT_RATIO, QUANTITY_NOT_APPLICABLE,
                             _("renting costs less than the electricity alone"));
    const char **sources = arena_alloc(own->arena, (own->sources.count + 2) * sizeof(*sources));
    for (size_t i = 0; i < own->sources.count; i++)
        sources[i] = own->sources.items[i];
    sources[own->sources.count] = plan_source(own->plan, rented.offer->at, own->arena);
    double share = (double)own->fixed / (rent - (double)full_power);
    if (is_taxed && share > 1.0) /* at most that, so that 1 may be above it or below */
        return taxes_leave_open(own, &rented);
    bool is_capped = share > 1.0 && own->lacks.count > 0;
    return (struct quantity){
        .state = QUANTITY_ASSUMED,
        .bound = is_taxed               ? QUANTITY_AT_MOST
                 : own->lacks.count > 0 ? QUANTITY_AT_LEAST
                                        : QUANTITY_EXACT,
        .value = is_capped ? 1.0 : share,
        .unit = UNIT_RATIO,
        .method = "yearly cost without electricity / (yearly rent - yearly electricity), both at "
                  "full use",
        .detail = break_even_text(own, rented.offer, share),
        .sources = sources,
        .source_count = own->sources.count + 1,
    };
}

static void find_beside(struct owning *own) {
    struct arena *arena = own->arena;
    const char *texts[] = {
        _("capital that lies idle while the machine does"),
        _("the outlay before the protocol is validated"),
        _("room, cooling, network, and taxes that the figures do not hold"),
        _("what renting costs beside its hourly price: set-up, storage, transfer, shortest terms, "
          "interruptions"),
    };
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        cost_texts_add(&own->beside, texts[i], arena);
    switch (own->said->can_administer) {
    case PLAN_UNSAID:
        cost_texts_add(&own->beside,
                       _("whether the team can take administration and maintenance on: not said "
                         "(can_administer)"),
                       arena);
        break;
    case PLAN_NO:
        cost_texts_add(&own->beside,
                       _("the team cannot take administration and maintenance on, as the plan "
                         "says: somebody else has to be paid for it"),
                       arena);
        break;
    case PLAN_YES:
        break;
    }
}

static bool is_entered(const struct plan_owning *said) {
    const struct plan_sourced *figures[] = {
        &said->purchase,  &said->lifetime,    &said->residual,
        &said->power,     &said->electricity, &said->administration,
        &said->lead_time, &said->utilisation, &said->maintenance,
    };
    bool is_there = said->at.line > 0 || said->currency || said->device || said->gpus.given ||
                    said->can_administer != PLAN_UNSAID;
    for (size_t i = 0; i < ARRAY_LENGTH(figures); i++)
        is_there = is_there || figures[i]->value || figures[i]->source;
    return is_there;
}

/* All amounts open for the same reason. */
static void leave_open(struct cost_owning *ret, enum quantity_reason reason, const char *why) {
    ret->yearly = amount_open(reason, why);
    ret->per_gpu_hour = amount_open(reason, why);
    ret->initial_outlay = amount_open(reason, why);
    ret->break_even = quantity_open(UNIT_RATIO, reason, why);
    ret->lead_time = quantity_open(UNIT_SECOND, reason, why);
}

static void make_amounts(struct owning *own, const struct cost_offer *offers, size_t count,
                         struct cost_owning *ret) {
    int64_t hour = 0;
    uint64_t hours = 0;
    if (own->is_money_missing || !own->has_utilisation)
        return;
    find_lacks(own);
    if (!add_up(own)) {
        ret->yearly = ret->per_gpu_hour =
            amount_open(QUANTITY_NOT_SUPPORTED, _("the amount is beyond what can be counted"));
        return;
    }
    ret->yearly = amount_of(own, own->yearly);
    add_lines(own, &ret->yearly);
    if (!own->has_gpus ||
        __builtin_mul_overflow(YEAR_HOURS * own->utilisation, (uint64_t)own->said->gpus.value,
                               &hours) ||
        !money_scale_up(own->yearly, MILLION, hours, &hour))
        return;
    ret->per_gpu_hour = amount_of(own, hour);
    own->fixed = own->yearly - own->power;
    ret->break_even = break_even(own, offers, count);
}

void cost_owning_make(const struct plan *plan, const struct cost_offer *offers, size_t count,
                      struct arena *arena, struct cost_owning *ret) {
    struct owning own = {.plan = plan, .said = &plan->owning, .arena = arena};
    *ret = (struct cost_owning){.entered = is_entered(&plan->owning)};
    if (!ret->entered) {
        leave_open(ret, QUANTITY_NOT_ENTERED, _("the plan says nothing of owning a machine"));
        return;
    }
    leave_open(ret, QUANTITY_NOT_ENTERED,
               _("figures are missing, or have no source; they are listed"));
    read_money_figures(&own);
    read_figures(&own);
    find_beside(&own);
    make_amounts(&own, offers, count, ret);
    if (own.has_purchase && own.said->currency && own.said->currency[0]) {
        struct owning outlay = own;
        outlay.lacks.count = 0;
        ret->initial_outlay = amount_of(&outlay, own.purchase);
    }
    if (own.has_lead_time) {
        const char **source = arena_alloc(arena, sizeof *source);
        source[0] = plan_source(plan, plan->owning.lead_time.at, arena);
        ret->lead_time = (struct quantity){.state = QUANTITY_ASSUMED,
                                           .value = (double)own.lead_time_ns / 1e9,
                                           .unit = UNIT_SECOND,
                                           .method = "figure of the plan",
                                           .sources = source,
                                           .source_count = 1};
    }
    ret->missing = own.missing.items;
    ret->missing_count = own.missing.count;
    ret->beside = own.beside.items;
    ret->beside_count = own.beside.count;
}
