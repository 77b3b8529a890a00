/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules about how steady computing is needed (E3a-c, E4, E11) and how it is rented (E9). They stand
 * on what the plan says of the demand and on what offers cost; a rental price is never compared
 * with a purchase price alone.
 */
#include "rules/decide-parts.h"

#include "base/clock.h"
#include "base/msg.h"

#include <string.h>

#define DAY_NS (INT64_C(86400) * NS_PER_S)

static const char *demand_source(const struct ruling *ruling) {
    return ruling_source(ruling, ruling->plan->demand.at);
}

/* false: nothing is said, which the ruling then holds. */
static bool has_pattern(struct ruling *ruling) {
    const struct plan_demand *demand = &ruling->plan->demand;
    if (demand->pattern == NULL) {
        ruling_ground(ruling, demand_source(ruling), _("how steady the demand is, is open"));
        ruling->rule->change = _("how steady and how long computing is needed (demand)");
        ruling->rule->command = "probelauf check";
        ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
        return false;
    }
    if (demand->source != NULL)
        ruling_ground(ruling, demand_source(ruling), _("the demand is '%s' (%s)"), demand->pattern,
                      demand->source);
    else
        ruling_ground(ruling, demand_source(ruling), _("the demand is '%s'"), demand->pattern);
    return true;
}

static bool is_pattern(const struct ruling *ruling, const char *pattern) {
    return strcmp(ruling->plan->demand.pattern, pattern) == 0;
}

void decide_e3a(struct ruling *ruling) {
    const struct plan_duration *lasts = &ruling->plan->demand.lasts;
    if (!has_pattern(ruling))
        return;
    if (!is_pattern(ruling, "campaign")) {
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
        return;
    }
    if (!lasts->given) {
        ruling_ground(ruling, demand_source(ruling), _("how long it lasts is open"));
        ruling->rule->change = _("how long the demand lasts (demand.lasts)");
        ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
        return;
    }
    struct quantity time = {.state = QUANTITY_ASSUMED,
                            .value = (double)lasts->ns / 1e9,
                            .unit = UNIT_SECOND,
                            .method = "stated in the plan"};
    ruling_figure(ruling, ruling_source(ruling, lasts->at), "lasts", &time, _("it lasts %s"),
                  ruling_quantity(&time, ruling->arena));
    if (lasts->ns > DECIDE_CAMPAIGN_DAYS * DAY_NS) {
        ruling_ground(ruling, NULL, _("that is longer than what is called short here: %u days"),
                      (unsigned)DECIDE_CAMPAIGN_DAYS);
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
        return;
    }
    ruling_answer(ruling, DECIDE_YES, true, DECIDE_RENT_STAGED);
}

/* ---- owning ---- */

static const char *amount_text(const struct amount *amount, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    amount_format(amount, (struct quantity_style){.ascii = true, .mark = true}, &text);
    return arena_strdup(arena, strbuf_str(&text));
}

/* What an own system would really cost, or what is missing to say it. */
static void owning_grounds(struct ruling *ruling) {
    const struct plan_owning *plan = &ruling->plan->owning;
    const char *source = ruling_source(ruling, plan->at);
    if (ruling->cost == NULL || !ruling->cost->owning.entered) {
        ruling_open(ruling, source, "probelauf check",
                    _("the true cost of an own system, each figure with its source (owning)"));
        ruling_key(ruling, "purchase", "owning", NULL);
        return;
    }
    const struct cost_owning *owning = &ruling->cost->owning;
    if (amount_is_known(&owning->per_gpu_hour))
        ruling_ground(ruling, source, _("owning would cost %s per GPU-hour that is delivered"),
                      amount_text(&owning->per_gpu_hour, ruling->arena));
    if (quantity_is_known(&owning->break_even))
        ruling_figure(ruling, source, "break_even", &owning->break_even,
                      _("renting costs the same at a utilisation of %s"),
                      ruling_quantity(&owning->break_even, ruling->arena));
    if (amount_is_known(&owning->initial_outlay))
        ruling_ground(ruling, source, _("%s would be paid at the beginning"),
                      amount_text(&owning->initial_outlay, ruling->arena));
    if (quantity_is_known(&owning->lead_time))
        ruling_figure(ruling, source, "lead_time", &owning->lead_time,
                      _("it takes %s until it can be used"),
                      ruling_quantity(&owning->lead_time, ruling->arena));
    for (size_t i = 0; i < owning->missing_count; i++)
        ruling_open(ruling, source, "probelauf check", _("for the cost of owning: %s"),
                    owning->missing[i]);
    if (plan->can_administer == PLAN_NO)
        ruling_ground(ruling, source, _("the team cannot take administration and maintenance on"));
    else if (plan->can_administer == PLAN_UNSAID) {
        ruling_open(ruling, source, "probelauf check",
                    _("can the team take administration and maintenance on "
                      "(owning.can_administer)?"));
        ruling_key(ruling, "can_administer", "owning", NULL);
    }
}

static void fire_comparison(struct ruling *ruling) {
    owning_grounds(ruling);
    ruling->rule->compare_owning = true;
    ruling->rule->command = "probelauf estimate";
    ruling_answer(ruling, DECIDE_YES, true, DECIDE_NONE);
}

void decide_e3b(struct ruling *ruling) {
    if (!has_pattern(ruling))
        return;
    if (is_pattern(ruling, "peaks"))
        fire_comparison(ruling);
    else
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
}

void decide_e3c(struct ruling *ruling) {
    const struct plan_demand *demand = &ruling->plan->demand;
    const struct plan_sourced *own = &demand->own;
    if (own->value != NULL)
        ruling_ground(ruling, own->source != NULL ? own->source : demand_source(ruling),
                      _("there is already: %s"), own->value);
    switch (demand->exceeds_own) {
    case PLAN_NO:
        ruling_ground(ruling, demand_source(ruling), _("that is enough"));
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
        return;
    case PLAN_YES:
        if (own->value != NULL && own->source != NULL) {
            ruling_ground(ruling, demand_source(ruling),
                          _("that is too little for a limited time"));
            ruling_answer(ruling, DECIDE_YES, true, DECIDE_RENT_BLOCKS);
            return;
        }
        break;
    case PLAN_UNSAID:
        break;
    }
    if (own->value == NULL)
        ruling_ground(ruling, demand_source(ruling), _("what the team has already is open"));
    else if (own->source == NULL)
        ruling_ground(ruling, demand_source(ruling), _("that has no source"));
    else
        ruling_ground(ruling, demand_source(ruling), _("whether that is too little is open"));
    ruling->rule->change =
        _("what the team has, with its source, and whether that is too little (demand.own, "
          "demand.exceeds_own)");
    ruling->rule->command = "probelauf check";
    ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
}

void decide_e4(struct ruling *ruling) {
    if (!has_pattern(ruling))
        return;
    if (!is_pattern(ruling, "continuous")) {
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
        return;
    }
    if (ruling->estimate->provisional)
        ruling_ground(ruling, NULL,
                      _("nothing is validated yet: what is bought now is paid before "
                        "the protocol is known to work"));
    fire_comparison(ruling);
}

void decide_e11(struct ruling *ruling) {
    const struct plan_demand *demand = &ruling->plan->demand;
    if (demand->needs.count == 0) {
        bool is_said = demand->at.line > 0;
        ruling_ground(ruling, demand_source(ruling),
                      is_said ? _("the plan names no such need")
                              : _("the plan says nothing about the demand"));
        if (!is_said) {
            ruling->rule->change = _("what only an own machine may give (demand.needs)");
            ruling->rule->command = "probelauf check";
        }
        ruling_answer(ruling, is_said ? DECIDE_NO : DECIDE_CANNOT_TELL, false, DECIDE_NONE);
        return;
    }
    for (size_t i = 0; i < demand->needs.count; i++)
        ruling_ground(ruling, ruling_source(ruling, demand->needs.items[i].at), _("needed: %s"),
                      demand->needs.items[i].text);
    if (ruling->environment != NULL && ruling->environment->physical_access == PLAN_NO)
        ruling_ground(ruling, ruling_source(ruling, ruling->environment->at),
                      _("nobody can touch the machine '%s'"), ruling->environment->id);
    fire_comparison(ruling);
}

/* ---- E9 ---- */

/* Of the offer that is meant, else of the first that says both. */
static const struct cost_offer *both_ways(const struct cost *cost) {
    if (cost->chosen != NULL && cost->chosen->continuous.has && cost->chosen->separate.has)
        return cost->chosen;
    for (size_t i = 0; i < cost->offer_count; i++)
        if (cost->offers[i].usable && cost->offers[i].continuous.has &&
            cost->offers[i].separate.has)
            return &cost->offers[i];
    return NULL;
}

static const char *why_not_both(const struct cost *cost) {
    for (size_t i = 0; i < cost->offer_count; i++) {
        const struct cost_offer *offer = &cost->offers[i];
        if (offer->usable && offer->separate.why != NULL)
            return offer->separate.why;
        if (offer->usable && offer->continuous.why != NULL)
            return offer->continuous.why;
    }
    return cost->missing_count > 0 ? cost->missing[0] : NULL;
}

void decide_e9(struct ruling *ruling) {
    const struct cost *cost = ruling->cost;
    const struct cost_offer *offer = cost != NULL ? both_ways(cost) : NULL;
    if (offer == NULL || !amount_is_known(&offer->continuous.amount) ||
        !amount_is_known(&offer->separate.amount)) {
        const char *why = cost != NULL ? why_not_both(cost) : NULL;
        ruling_ground(ruling, NULL, _("the two ways cannot be compared: %s"),
                      why != NULL ? why : _("no usable offer"));
        ruling->rule->change =
            _("a usable offer, and what is between two rentals (offers, rental)");
        ruling->rule->command = "probelauf estimate";
        ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
        return;
    }
    const char *source = ruling_source(ruling, offer->offer->at);
    ruling_figure(ruling, source, "continuous_reserved", &offer->continuous.reserved,
                  _("one rental that waits: %s reserved, %s"),
                  ruling_quantity(&offer->continuous.reserved, ruling->arena),
                  amount_text(&offer->continuous.amount, ruling->arena));
    ruling_figure(ruling, source, "separate_reserved", &offer->separate.reserved,
                  _("separate rentals, restoring included: %s reserved, %s"),
                  ruling_quantity(&offer->separate.reserved, ruling->arena),
                  amount_text(&offer->separate.amount, ruling->arena));
    if (offer->cheaper)
        ruling_ground(ruling, source, "%s", offer->cheaper);
    ruling->rule->command = "probelauf estimate";
    if (offer->separate.amount.micros < offer->continuous.amount.micros)
        ruling_answer(ruling, DECIDE_YES, true, DECIDE_NONE);
    else
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
}
