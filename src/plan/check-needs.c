/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the plan says of environments and of what the code needs there: words that mean nothing,
 * statements without the source they need, answers that contradict one another. Whether the code
 * fits is not checked here (fit.c). Must not change the plan.
 */
#include "plan/check.h"

#include "base/str.h"
#include "plan/fit.h"

#include <string.h>
#include <strings.h>

static void check_accelerators(struct check *check) {
    static const char *const words[] = {"cuda", "rocm", "metal", "cpu"};
    const struct plan_texts *texts = &check->plan->code.accelerators;
    for (size_t i = 0; i < texts->count; i++) {
        const struct plan_text_item *item = &texts->items[i];
        bool is_known = false;
        for (size_t k = 0; k < ARRAY_LENGTH(words); k++)
            is_known |= strcmp(words[k], item->text) == 0;
        if (is_known)
            continue;
        const char *near = str_nearest(item->text, words, ARRAY_LENGTH(words));
        for (size_t k = 0; k < ARRAY_LENGTH(words); k++)
            near = strcasecmp(words[k], item->text) == 0 ? words[k] : near;
        const char *quoted = plan_quote(check->reading, item->text);
        if (near != NULL)
            plan_complain(check->reading, item->at, "plan-word",
                          "'accelerators' holds cuda, rocm, metal and cpu, not '%s'; did you mean "
                          "'%s'?",
                          quoted, near);
        else
            plan_complain(check->reading, item->at, "plan-word",
                          "'accelerators' holds cuda, rocm, metal and cpu, not '%s'", quoted);
    }
}

/* A text that cannot be read is compared with nothing: the question stays open for ever. */
static bool is_capability(const char *text) {
    struct plan_text_item item = {.text = text};
    const struct plan_texts one = {.items = &item, .count = 1};
    return fit_architecture(&one, "1000.0") != FIT_OPEN;
}

static bool is_plain_capability(const char *text) {
    struct plan_text_item any = {.text = "1.0"};
    const struct plan_texts one = {.items = &any, .count = 1};
    return fit_architecture(&one, text) != FIT_OPEN;
}

static void check_code(struct check *check) {
    const struct plan_code *code = &check->plan->code;
    check_accelerators(check);
    for (size_t i = 0; i < code->architectures.count; i++)
        if (!is_capability(code->architectures.items[i].text))
            plan_warn(check->reading, code->architectures.items[i].at, "plan-environment",
                      "'%s' is no compute capability as 8.0, 9.0a, 9.0+PTX or sm_90; it is "
                      "compared with nothing",
                      plan_quote(check->reading, code->architectures.items[i].text));
    bool requires_any = code->accelerators.count > 0 || code->architectures.count > 0 ||
                        code->requires_stack.count > 0;
    if (requires_any && code->requires_source == NULL)
        plan_warn(check->reading,
                  code->accelerators.count > 0    ? code->accelerators.items[0].at
                  : code->architectures.count > 0 ? code->architectures.items[0].at
                                                  : code->requires_stack.items[0].at,
                  "plan-source", "say under 'source' which file and line show what the code needs");
}

static void check_environment(struct check *check, const struct plan_environment *environment) {
    if (environment->gpu != NULL && environment->gpus.given && environment->gpus.value == 0)
        plan_warn(check->reading, environment->gpus.at, "plan-environment",
                  "'gpu' names a GPU and 'gpus' says that there is none");
    bool has_capacity = environment->gpu_memory.given || environment->host_memory.given;
    if (has_capacity && environment->capacity_source == NULL)
        plan_warn(check->reading,
                  environment->gpu_memory.given ? environment->gpu_memory.at
                                                : environment->host_memory.at,
                  "plan-source", "say under 'source' where this capacity is known from");
    if (environment->compute_capability != NULL &&
        !is_plain_capability(environment->compute_capability))
        plan_warn(check->reading, environment->at, "plan-environment",
                  "'%s' is no compute capability as 9.0; it is compared with nothing",
                  plan_quote(check->reading, environment->compute_capability));
    if (environment->kind == PLAN_MACOS && environment->accelerator != NULL &&
        strcmp(environment->accelerator, "metal") != 0 &&
        strcmp(environment->accelerator, "cpu") != 0)
        plan_warn(check->reading, environment->at, "plan-environment",
                  "a Mac has no '%s'; code for it does not run there",
                  plan_quote(check->reading, environment->accelerator));
}

void check_needs(struct check *check) {
    const struct plan_demand *demand = &check->plan->demand;
    check_code(check);
    for (size_t i = 0; i < check->plan->environment_count; i++)
        check_environment(check, &check->plan->environments[i]);
    if (demand->exceeds_own == PLAN_YES &&
        (demand->own.value == NULL || demand->own.source == NULL))
        plan_warn(check->reading, demand->at, "plan-source",
                  "'exceeds_own' needs 'own' with value and source: what is there is a fact");
}

/* What the offer's own terms show to be wrong; cost-offer.c takes no such offer. */
static void check_terms(struct check *check, const struct plan_offer *offer) {
    const struct plan_duration *increment = &offer->increment, *minimum = &offer->minimum;
    const struct plan_duration *maximum = &offer->maximum;
    bool is_none = maximum->given && maximum->ns <= 0;
    if (is_none)
        plan_warn(check->reading, maximum->at, "plan-offer",
                  "the longest term is 0: nothing can be rented, and the offer is not used");
    if (maximum->given && !is_none && minimum->given && minimum->ns > maximum->ns)
        plan_warn(check->reading, minimum->at, "plan-offer",
                  "'minimum' is longer than 'maximum': the offer is not used");
    if (maximum->given && !is_none && increment->given && increment->ns > maximum->ns)
        plan_warn(check->reading, increment->at, "plan-offer",
                  "'increment' is longer than 'maximum': the offer is not used");
    if (offer->seen.given && offer->valid_until.given &&
        offer->valid_until.utc_ns < offer->seen.utc_ns)
        plan_warn(check->reading, offer->valid_until.at, "plan-offer",
                  "'valid_until' is before 'seen': the offer is not used");
}

/* The offer that this one replaces, by its number; count: none. */
static size_t replaced_by(const struct check *check, const struct check_ids *offers, size_t i) {
    const char *text = check->plan->offers[i].replaces;
    const struct check_id *id = text ? check_id_find(offers, text) : NULL;
    return id ? id->number : check->plan->offer_count;
}

/* Offers that replace one another in a ring: no one of them is the newest, and all would vanish.
 * Each is walked from once; a ring is told at its first offer. */
static void check_rings(struct check *check, const struct check_ids *offers) {
    size_t count = check->plan->offer_count;
    AUTO_FREE size_t *walk = mem_alloc((count + 1) * sizeof(size_t)); /* 1 + where it began */
    for (size_t i = 0; i <= count; i++)
        walk[i] = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at < count && walk[at] == 0; at = replaced_by(check, offers, at))
            walk[at] = i + 1;
        if (at >= count || walk[at] != i + 1 || replaced_by(check, offers, at) == at)
            continue;
        const struct plan_offer *offer = &check->plan->offers[at];
        plan_complain(check->reading, offer->at, "plan-reference",
                      "offer '%s' replaces '%s', and is itself replaced by it or by one that is: "
                      "which of them is the newest?",
                      offer->id, offer->replaces);
    }
}

void check_offers(struct check *check, const struct check_ids *offers) {
    for (size_t i = 0; i < check->plan->offer_count; i++) {
        const struct plan_offer *offer = &check->plan->offers[i];
        (void)check_refer(check, &check->environments, offer->environment, offer->at);
        const struct check_id *id = check_refer(check, offers, offer->replaces, offer->at);
        if (id != NULL && id->number == i)
            plan_complain(check->reading, offer->at, "plan-reference", "offer '%s' replaces itself",
                          offer->id);
        check_terms(check, offer);
    }
    check_rings(check, offers);
}
