/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules about a place as a whole: may the work go there at all (E5), does the code fit it (E7), is
 * it of use beside (E7b). Must not take a device's name for a proof of what runs on it.
 */
#include "rules/decide-parts.h"

#include "base/msg.h"
#include "plan/fit.h"
#include "plan/plan.h"

#include <string.h>

/* ---- E5: data protection ---- */

static bool is_stated(const struct plan_sourced *said) {
    return said->value != NULL && said->source != NULL && said->seen.given;
}

/* A provider has a say only where the machine is not the team's own. */
static void provider_open(struct ruling *ruling, const struct plan_privacy *privacy) {
    const struct plan_sourced *said = &privacy->provider_statement;
    const char *source = ruling_source(ruling, privacy->at);
    if (is_stated(said))
        return;
    ruling_open(
        ruling, source, "probelauf check",
        said->value == NULL
            ? _("the provider's statement on such data (privacy.provider_statement)")
            : _("source and date of the provider's statement (privacy.provider_statement)"));
    ruling_key(ruling, "provider_statement", "privacy", NULL);
}

/* The plan's own; what its part about data protection leaves open is said apart. */
static void privacy_facts(struct ruling *ruling) {
    for (size_t i = 0; i < ruling->study->open_fact_count; i++) {
        const struct plan_fact *fact = ruling->study->open_facts[i];
        if (!ruling_is_privacy(fact) || strncmp(fact->id, "privacy/", 8) == 0 ||
            !ruling_stops(ruling, fact))
            continue;
        ruling_fact(ruling, fact);
    }
}

/* Of such data it is said, on a machine of one's own, too. */
static void keeping_open(struct ruling *ruling, const struct plan_privacy *privacy) {
    const char *source = ruling_source(ruling, privacy->at);
    if (privacy->storage == NULL) {
        ruling_open(ruling, source, "probelauf check",
                    _("where data and logs lie (privacy.storage)"));
        ruling_key(ruling, "storage", "privacy", NULL);
    }
    if (privacy->readers == NULL) {
        ruling_open(ruling, source, "probelauf check",
                    _("who can read data and logs (privacy.readers)"));
        ruling_key(ruling, "readers", "privacy", NULL);
    }
    if (privacy->retention == NULL) {
        ruling_open(ruling, source, "probelauf check",
                    _("how long data and logs are kept (privacy.retention)"));
        ruling_key(ruling, "retention", "privacy", NULL);
    }
}

/* What is open about personal or sensitive data. */
static void sensitive_open(struct ruling *ruling, const struct plan_privacy *privacy) {
    const char *source = ruling_source(ruling, privacy->at);
    bool is_rented = decide_is_rented(ruling->environment);
    if (is_rented && privacy->may_transfer == PLAN_UNSAID) {
        ruling_open(ruling, source, "probelauf check",
                    _("may data and models be moved to the machine that is rented "
                      "(privacy.may_transfer)?"));
        ruling_key(ruling, "may_transfer", "privacy", NULL);
    }
    if (is_rented)
        provider_open(ruling, privacy);
    if (privacy->assessment == NULL) {
        ruling_open(ruling, source, "probelauf check",
                    _("the team's own assessment (privacy.assessment)"));
        ruling_key(ruling, "assessment", "privacy", NULL);
    }
    keeping_open(ruling, privacy);
    privacy_facts(ruling);
}

void decide_e5(struct ruling *ruling) {
    const struct plan_privacy *privacy = &ruling->plan->privacy;
    const char *source = ruling_source(ruling, privacy->at);
    bool is_rented = decide_is_rented(ruling->environment);
    ruling->rule->command = "probelauf check";
    if (is_rented && privacy->may_transfer == PLAN_NO) {
        ruling_ground(ruling, source,
                      _("data or models may not be moved to a machine that is rented"));
        ruling_open(ruling, source, NULL,
                    _("data and models may not be moved (privacy.may_transfer: no)"));
        ruling->rule->change = _("an environment of one's own, or an answer that they may be "
                                 "moved, with its source");
        ruling_answer(ruling, DECIDE_YES, true, DECIDE_NOT_YET);
        return;
    }
    if (privacy->data_class == NULL) {
        ruling_ground(ruling, source, _("the class of the data is open"));
        ruling_open(ruling, source, "probelauf check",
                    _("the class of the data: none, personal or sensitive (privacy.class)"));
        ruling_key(ruling, "class", "privacy", NULL);
        privacy_facts(ruling);
        ruling->rule->change = _("the class of the data, entered in the plan");
        ruling_answer(ruling, DECIDE_CANNOT_TELL, true, DECIDE_NOT_YET);
        return;
    }
    ruling_ground(ruling, source, _("the class of the data is '%s'"), privacy->data_class);
    if (strcmp(privacy->data_class, "none") == 0) {
        if (is_rented && privacy->may_transfer == PLAN_YES)
            ruling_ground(ruling, source, _("data and models may be moved"));
        ruling->rule->command = NULL;
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
        return;
    }
    if (!is_rented)
        ruling_ground(ruling, ruling_source(ruling, ruling->environment->at),
                      _("the machine is the team's own: nothing is moved to a provider"));
    if (is_rented && is_stated(&privacy->provider_statement))
        ruling_ground(ruling, privacy->provider_statement.source, _("the provider states: %s"),
                      privacy->provider_statement.value);
    if (privacy->assessment != NULL)
        ruling_ground(ruling, source, _("the team's assessment: %s"), privacy->assessment);
    sensitive_open(ruling, privacy);
    if (ruling->rule->open_count > 0) {
        ruling->rule->change = _("what is open about the data, settled in the plan");
        ruling_answer(ruling, DECIDE_CANNOT_TELL, true, DECIDE_NOT_YET);
        return;
    }
    ruling->rule->command = NULL;
    ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
}

/* ---- E7: does the code fit? ---- */

static void fit_ground(struct ruling *ruling, const struct fit_part *part) {
    const char *source = part->at.line > 0 ? ruling_source(ruling, part->at) : NULL;
    const char *id = ruling->environment->id;
    const char *has = part->has != NULL ? part->has : _("open");
    switch (part->what) {
    case FIT_ACCELERATOR:
        ruling_ground(ruling, source, _("the code runs on %s; '%s' has: %s"), part->wanted, id,
                      has);
        break;
    case FIT_ARCHITECTURE:
        ruling_ground(ruling, source,
                      _("the code is built for compute capability %s; '%s' has: %s"), part->wanted,
                      id, has);
        break;
    case FIT_PACKAGE:
        ruling_ground(ruling, source, _("the code needs %s %s; '%s' has: %s"), part->name,
                      part->wanted, id, has);
        break;
    }
}

static void fit_open(struct ruling *ruling, const struct fit_part *part) {
    const char *environment = ruling_source(ruling, ruling->environment->at);
    const char *id = ruling->environment->id;
    switch (part->what) {
    case FIT_ACCELERATOR:
        if (part->wanted == NULL) {
            ruling_open(ruling, ruling_source(ruling, ruling->plan->code.at), "probelauf doctor",
                        _("what the code runs on (code.requires.accelerators)"));
            ruling_key(ruling, "accelerators", "code.requires", NULL);
        } else {
            ruling_open(ruling, environment, "probelauf doctor",
                        _("the accelerator of '%s' (environments, accelerator)"), id);
            ruling_key(ruling, "accelerator", "environments", id);
        }
        break;
    case FIT_ARCHITECTURE:
        ruling_open(ruling, environment, "probelauf doctor",
                    _("the compute capability of '%s'; the code is built for %s"), id,
                    part->wanted);
        ruling_key(ruling, "compute_capability", "environments", id);
        break;
    case FIT_PACKAGE:
        ruling_open(ruling, environment, "probelauf doctor",
                    _("the version of %s in '%s'; the code needs %s"), part->name, id,
                    part->wanted);
        ruling_key(ruling, arena_printf(ruling->arena, "stack: %s", part->name), "environments",
                   id);
        break;
    }
}

/* Has the plan itself said otherwise by a run that counts there? */
static void contradiction(struct ruling *ruling) {
    for (size_t i = 0; i < ruling->study->block_count; i++) {
        const struct study_run *run = ruling_counting(&ruling->study->blocks[i], true);
        if (run == NULL)
            continue;
        ruling_ground(ruling, run->run->id,
                      _("a run that counts was made there all the same: what the code needs, or "
                        "what the environment has, is not entered right"));
        return;
    }
}

void decide_e7(struct ruling *ruling) {
    struct fit_part *parts = NULL;
    size_t open = 0, wrong = 0;
    if (ruling->environment == NULL) {
        ruling_ground(ruling, NULL, _("the plan names no environment"));
        ruling_open(ruling, NULL, "probelauf check", _("an environment in the plan"));
        ruling_key(ruling, "id, kind", "environments", NULL);
        ruling->rule->change = _("an environment in the plan");
        ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
        return;
    }
    size_t count = plan_fit(ruling->plan, ruling->environment, ruling->arena, &parts);
    for (size_t i = 0; i < count; i++) {
        open += parts[i].answer == FIT_OPEN;
        wrong += parts[i].answer == FIT_NO;
    }
    for (size_t i = 0; i < count; i++) {
        if (parts[i].answer == FIT_NO || (wrong == 0 && parts[i].answer == FIT_YES))
            fit_ground(ruling, &parts[i]);
        if (parts[i].answer == FIT_NO)
            ruling_open(ruling, ruling_source(ruling, ruling->environment->at), NULL,
                        _("an environment that the code fits: '%s' does not match"),
                        ruling->environment->id);
        else if (wrong == 0 && parts[i].answer == FIT_OPEN)
            fit_open(ruling, &parts[i]);
    }
    if (wrong > 0) {
        contradiction(ruling);
        ruling->rule->change = _("another environment, or a version of the code that runs there");
        ruling_answer(ruling, DECIDE_YES, true, DECIDE_NOT_YET);
        return;
    }
    if (open > 0) {
        ruling_ground(ruling, NULL, _("no mismatch is known, and not everything is said"));
        ruling->rule->change =
            _("what the code needs and what the environment has, entered in the plan");
        ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
        return;
    }
    ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
}

/* ---- E7b: an option beside ---- */

void decide_e7b(struct ruling *ruling) {
    const struct plan_environment *environment = ruling->environment;
    struct fit_part *parts = NULL;
    size_t open = 0, wrong = 0;
    bool is_there = environment != NULL && environment->kind != PLAN_RENTED &&
                    environment->kind != PLAN_ENVIRONMENT_UNSAID;
    if (!is_there) {
        if (environment != NULL && environment->kind == PLAN_RENTED)
            ruling_ground(ruling, ruling_source(ruling, environment->at),
                          _("the machine would be rented"));
        else
            ruling_ground(ruling, NULL, _("it is not said whose machine it is"));
        ruling->rule->change = _("a machine that is there already (environments, kind)");
        ruling_answer(ruling,
                      environment != NULL && environment->kind == PLAN_RENTED ? DECIDE_NO
                                                                              : DECIDE_CANNOT_TELL,
                      false, DECIDE_NONE);
        return;
    }
    size_t count = plan_fit(ruling->plan, environment, ruling->arena, &parts);
    for (size_t i = 0; i < count; i++) {
        open += parts[i].answer == FIT_OPEN;
        wrong += parts[i].answer == FIT_NO;
        if (parts[i].answer != FIT_OPEN)
            fit_ground(ruling, &parts[i]);
        else
            fit_open(ruling, &parts[i]);
    }
    if (wrong > 0) {
        ruling->rule->change = _("a version of the code that runs there");
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
    } else if (open > 0) {
        ruling_ground(ruling, ruling_source(ruling, environment->at),
                      _("not everything is said of what the code needs and what is there"));
        ruling->rule->change = _("the versions that are installed there, entered in the plan");
        ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
    } else {
        ruling_answer(ruling, DECIDE_YES, true, DECIDE_NONE);
    }
}
