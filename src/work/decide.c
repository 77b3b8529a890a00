/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Candidate environments one after the other: what counts in one says nothing about another, so
 * that each has a study of its own. Keeps a decision as a record; the plan is never touched.
 */
#include "work/decide.h"

#include "base/clock.h"
#include "forecast/predict.h"
#include "work/event.h"

#include <errno.h>
#include <string.h>

/* ---- making ---- */

struct candidate {
    struct study_input input;
    struct study study;
    struct estimate estimate;
    struct cost cost;
};

static int look_at(const struct work_study *study, const struct plan_environment *environment,
                   struct arena *arena, struct decide_input *ret, struct err *err) {
    const struct estimate_options how = {.seed = PREDICT_SEED};
    struct candidate *candidate = arena_alloc(arena, sizeof *candidate);
    candidate->input = study->input;
    candidate->input.environment = environment;
    study_derive(&candidate->input, arena, &candidate->study);
    int rc = estimate_make(&candidate->study, &how, arena, &candidate->estimate, err);
    if (rc < 0)
        return rc;
    cost_make(&candidate->estimate, NULL, arena, &candidate->cost);
    *ret = (struct decide_input){
        .study = &candidate->study, .estimate = &candidate->estimate, .cost = &candidate->cost};
    return 0;
}

int work_decide_make(const struct work_study *study, bool only_target, struct arena *arena,
                     struct decision *ret, struct err *err) {
    const struct plan *plan = study->plan;
    bool one = only_target || plan->environment_count == 0;
    size_t count = one ? 1 : plan->environment_count;
    struct decide_input *inputs = arena_alloc(arena, count * sizeof *inputs);
    for (size_t i = 0; i < count; i++) {
        int rc = look_at(study, one ? study->input.environment : &plan->environments[i], arena,
                         &inputs[i], err);
        if (rc < 0)
            return rc;
    }
    decide_make(inputs, count, arena, ret);
    return 0;
}

/* ---- keeping ---- */

static bool is_decision(const json_t *event) {
    return strcmp(json_get_text(event, "type", ""), "decision") == 0;
}

static int check_is_free(const json_t *events, const char *name, struct err *err) {
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (is_decision(event) && strcmp(json_get_text(event, "name", ""), name) == 0)
            return err_set(err, -EEXIST, "decision-name",
                           "there is already a decision '%s'; a kept one stays as it is: choose "
                           "another name",
                           name);
    }
    return 0;
}

int work_decide_keep(struct work_study *study, const struct place *place, struct runs *runs,
                     const char *name, const json_t *document, struct err *err) {
    if (!work_is_name(name))
        return err_set(err, -EINVAL, "decision-name",
                       "'%s' cannot be the name of a decision: use up to %u letters, digits, '.', "
                       "'_' and '-'",
                       name, WORK_FROZEN_NAME_MAX);
    AUTO_JSON json_t *event = event_begin("decision", clock_utc_ns());
    AUTO_JSON json_t *masked = event_masked_copy(document);
    json_put_text(event, "study", study->plan->study.id);
    json_put_text(event, "name", name);
    json_put_text(event, "verdict", json_get_text(document, "verdict", NULL));
    json_put_text(event, "plan_digest", study->plan->digest);
    if (study->input.code_digest != NULL)
        json_put_text(event, "code_digest", study->input.code_digest);
    event_put_document(event, "decision", masked);
    return work_study_keep(study, place, runs, event, name, check_is_free, err);
}

size_t work_decide_kept(const struct work_study *study, struct work_kept_decision **ret) {
    size_t count = json_array_size(study->events), found = 0;
    struct work_kept_decision *kept = arena_alloc(study->arena, (count + 1) * sizeof *kept);
    for (size_t i = count; i > 0; i--) { /* events stand oldest first */
        const json_t *event = json_array_get(study->events, i - 1);
        if (!is_decision(event))
            continue;
        kept[found++] =
            (struct work_kept_decision){.event = json_get_text(event, "id", ""),
                                        .name = json_get_text(event, "name", ""),
                                        .who = json_get_text(event, "who", ""),
                                        .verdict = json_get_text(event, "verdict", NULL),
                                        .utc_ns = json_get_int(event, "utc_ns", 0)};
    }
    *ret = kept;
    return found;
}
