/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a plan leaves open: its open facts, and what its part about data protection does not settle
 * (REQUIREMENTS A8), which stops booking like a fact does. Judges no answer: "may not be moved" is
 * one, too.
 */
#include "plan/plan.h"

#include "base/msg.h"

#include <string.h>

#define PRIVACY_QUESTIONS 7u
#define DIRECT_QUESTIONS  3u /* the first of them: what their fact says is what the key holds */

/* The plan asks already: the facts of plan_starter. */
static bool asks(const struct plan *plan, const char *fact) {
    for (size_t i = 0; i < plan->fact_count; i++)
        if (plan->facts[i].state == PLAN_FACT_OPEN && plan->facts[i].id != NULL &&
            strcmp(plan->facts[i].id, fact) == 0)
            return true;
    return false;
}

/* It was asked and is answered, but the part `privacy` does not say so. */
static bool is_answered(const struct plan *plan, const char *fact) {
    for (size_t i = 0; i < plan->fact_count; i++)
        if (plan->facts[i].state == PLAN_FACT_KNOWN && plan->facts[i].id != NULL &&
            strcmp(plan->facts[i].id, fact) == 0)
            return true;
    return false;
}

bool plan_fact_is_privacy(const struct plan_fact *fact) {
    return fact->about != NULL && strcmp(fact->about, "privacy") == 0;
}

static bool is_sensitive(const struct plan_privacy *privacy) {
    return privacy->data_class != NULL && strcmp(privacy->data_class, "none") != 0;
}

/* Only what is sensitive, and leaves the house, is in a provider's hands. */
static bool needs_provider(const struct plan_privacy *privacy) {
    return is_sensitive(privacy) && privacy->may_transfer != PLAN_NO;
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
        {is_sensitive(privacy) && privacy->storage == NULL, "privacy/storage", "privacy.storage",
         N_("where do data and logs lie?")},
        {is_sensitive(privacy) && privacy->readers == NULL, "privacy/readers", "privacy.transfer",
         N_("who can read data and logs?")},
        {is_sensitive(privacy) && privacy->retention == NULL, "privacy/retention",
         "privacy.transfer", N_("how long are data and logs kept?")},
    };
    size_t count = 0;
    for (size_t i = 0; i < PRIVACY_QUESTIONS; i++) {
        if (!questions[i].open || asks(plan, questions[i].fact) ||
            asks(plan, arena_printf(arena, "privacy.%s", questions[i].id + strlen("privacy/"))))
            continue;
        struct plan_fact *fact = arena_alloc(arena, sizeof *fact);
        *fact = (struct plan_fact){
            .at = privacy->at,
            .id = questions[i].id,
            .state = PLAN_FACT_OPEN,
            .about = "privacy",
            .question = i < DIRECT_QUESTIONS && is_answered(plan, questions[i].fact)
                            ? arena_printf(arena,
                                           _("the fact '%s' is answered: enter it "
                                             "under privacy: %s"),
                                           questions[i].fact, questions[i].id + strlen("privacy/"))
                            : _(questions[i].question),
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

/* Results, failures and clean-up come behind the runs, whoever deals with them. */
static bool is_preparatory(const struct plan_task *task) {
    if (!task->has_component)
        return true;
    switch (task->component) {
    case COMPONENT_PREPARE:
    case COMPONENT_DATA:
    case COMPONENT_TRANSFER:
        return true;
    case COMPONENT_RUNS:
    case COMPONENT_RETRIES:
    case COMPONENT_FIXING:
    case COMPONENT_CHECKING:
    case COMPONENT_TEARDOWN:
    case COMPONENT_IDLE:
    case COMPONENT_COUNT_:
        break;
    }
    return false;
}

size_t plan_before_booking(const struct plan *plan, struct arena *arena,
                           const struct plan_task ***ret_tasks) {
    const struct plan_task **tasks = arena_alloc(arena, (plan->task_count + 1) * sizeof *tasks);
    size_t count = 0;
    for (size_t i = 0; i < plan->task_count; i++)
        if (plan->tasks[i].needs_machine == PLAN_NO && plan->tasks[i].done != PLAN_YES &&
            is_preparatory(&plan->tasks[i]))
            tasks[count++] = &plan->tasks[i];
    *ret_tasks = tasks;
    return count;
}
