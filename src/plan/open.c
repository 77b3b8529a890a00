/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a plan leaves open: its open facts, and what its part about data protection does not settle
 * (REQUIREMENTS A8), which stops booking like a fact does. Judges no answer: "may not be moved" is
 * one, too.
 */
#include "plan/plan.h"

#include "base/msg.h"

#include <string.h>

#define PRIVACY_QUESTIONS 4u

/* The plan asks already: the facts of plan_starter. */
static bool asks(const struct plan *plan, const char *fact) {
    for (size_t i = 0; i < plan->fact_count; i++)
        if (plan->facts[i].state == PLAN_FACT_OPEN && plan->facts[i].id != NULL &&
            strcmp(plan->facts[i].id, fact) == 0)
            return true;
    return false;
}

/* Only what is sensitive, and leaves the house, is in a provider's hands. */
static bool needs_provider(const struct plan_privacy *privacy) {
    return privacy->data_class != NULL && strcmp(privacy->data_class, "none") != 0 &&
           privacy->may_transfer != PLAN_NO;
}

static bool is_stated(const struct plan_sourced *said) {
    return said->value != NULL && said->source != NULL && said->seen.given;
}

static size_t add_privacy(const struct plan *plan, struct arena *arena,
                          const struct plan_fact **facts) {
    const struct plan_privacy *privacy = &plan->privacy;
    const struct {
        bool open;
        const char *id, *fact, *question;
    } questions[PRIVACY_QUESTIONS] = {
        {privacy->data_class == NULL, "privacy/class", "privacy.class",
         N_("which class are the data: none, personal or sensitive?")},
        {privacy->may_transfer == PLAN_UNSAID, "privacy/may_transfer", "privacy.transfer",
         N_("may data and models be moved to the machine that is rented?")},
        {needs_provider(privacy) && !is_stated(&privacy->provider_statement),
         "privacy/provider_statement", "privacy.provider",
         N_("what does the provider state about such data, with its source and date?")},
        {privacy->assessment == NULL, "privacy/assessment", "privacy.provider",
         N_("what is the team's own assessment?")},
    };
    size_t count = 0;
    for (size_t i = 0; i < PRIVACY_QUESTIONS; i++) {
        if (!questions[i].open || asks(plan, questions[i].fact))
            continue;
        struct plan_fact *fact = arena_alloc(arena, sizeof *fact);
        *fact = (struct plan_fact){.at = privacy->at,
                                   .id = questions[i].id,
                                   .state = PLAN_FACT_OPEN,
                                   .about = "privacy",
                                   .question = _(questions[i].question),
                                   .stops = PLAN_STOPS_BOOKING};
        facts[count++] = fact;
    }
    return count;
}

size_t plan_open_facts(const struct plan *plan, struct arena *arena,
                       const struct plan_fact ***ret_facts) {
    const struct plan_fact **facts =
        arena_alloc(arena, (plan->fact_count + PRIVACY_QUESTIONS) * sizeof *facts);
    size_t count = 0;
    for (size_t i = 0; i < plan->fact_count; i++)
        if (plan->facts[i].state == PLAN_FACT_OPEN)
            facts[count++] = &plan->facts[i];
    count += add_privacy(plan, arena, &facts[count]);
    *ret_facts = facts;
    return count;
}
