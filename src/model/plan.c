/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words of the plan and finding its parts by id. Must not know how a plan is written down or what
 * it means (plan/, rules/).
 */
#include "model/plan.h"

#include <assert.h>
#include <string.h>

const char *plan_kind_name(enum plan_kind kind) {
    switch (kind) {
    case PLAN_KIND_UNSAID:
        return "";
    case PLAN_VALIDATE:
        return "validate";
    case PLAN_COMPARE:
        return "compare";
    case PLAN_SCALE:
        return "scale";
    case PLAN_VERIFY:
        return "verify";
    case PLAN_KIND_COUNT_:
        break;
    }
    assert(!"kind of block");
    return "";
}

const char *plan_extent_name(enum plan_extent extent) {
    switch (extent) {
    case PLAN_EXTENT_UNSAID:
        return "";
    case PLAN_VALIDATION:
        return "validation";
    case PLAN_FULL:
        return "full";
    case PLAN_EXTENT_COUNT_:
        break;
    }
    assert(!"extent");
    return "";
}

const char *plan_recurrence_name(enum plan_recurrence recurrence) {
    switch (recurrence) {
    case PLAN_RECURRENCE_UNSAID:
        return "";
    case PLAN_ONE_OFF:
        return "one-off";
    case PLAN_RECURRING:
        return "recurring";
    case PLAN_RECURRENCE_COUNT_:
        break;
    }
    assert(!"recurrence");
    return "";
}

const char *plan_backing_name(enum plan_backing backing) {
    switch (backing) {
    case PLAN_UNDETERMINED:
        return "undetermined";
    case PLAN_CHOSEN:
        return "chosen";
    case PLAN_CONFIRMED:
        return "confirmed";
    }
    assert(!"backing");
    return "";
}

const char *plan_fact_state_name(enum plan_fact_state state) {
    switch (state) {
    case PLAN_FACT_OPEN:
        return "open";
    case PLAN_FACT_KNOWN:
        return "known";
    case PLAN_FACT_NOT_APPLICABLE:
        return "not-applicable";
    }
    assert(!"state of a fact");
    return "";
}

const char *plan_answer_name(enum plan_answer answer) {
    switch (answer) {
    case PLAN_UNSAID:
        return "open";
    case PLAN_YES:
        return "yes";
    case PLAN_NO:
        return "no";
    }
    assert(!"answer");
    return "";
}

const char *plan_scope_name(enum plan_scope scope) {
    switch (scope) {
    case PLAN_SCOPE_OPEN:
        return "open";
    case PLAN_SCOPE_FUNCTION_TEST:
        return "function-test";
    case PLAN_SCOPE_MAIN_RESULT:
        return "main-result";
    case PLAN_SCOPE_FULL_BENCHMARK:
        return "full-benchmark";
    }
    assert(!"scope");
    return "";
}

static const char *const components[COMPONENT_COUNT_] = {
    [COMPONENT_PREPARE] = "prepare",   [COMPONENT_DATA] = "data",
    [COMPONENT_TRANSFER] = "transfer", [COMPONENT_RUNS] = "runs",
    [COMPONENT_RETRIES] = "retries",   [COMPONENT_FIXING] = "fixing",
    [COMPONENT_CHECKING] = "checking", [COMPONENT_TEARDOWN] = "teardown",
    [COMPONENT_IDLE] = "idle",
};

const char *component_name(enum component component) {
    assert(component < COMPONENT_COUNT_);
    return components[component];
}

bool component_from_name(const char *name, enum component *ret_component) {
    for (enum component i = 0; i < COMPONENT_COUNT_; i++) {
        if (strcmp(components[i], name) == 0) {
            *ret_component = i;
            return true;
        }
    }
    return false;
}

/* Ids may be absent in a plan that is still being read. */
static bool is_id(const char *id, const char *wanted) {
    return id != NULL && strcmp(id, wanted) == 0;
}

const struct plan_block *plan_block_find(const struct plan *plan, const char *id) {
    for (size_t i = 0; i < plan->block_count; i++)
        if (is_id(plan->blocks[i].id, id))
            return &plan->blocks[i];
    return NULL;
}

const struct plan_environment *plan_environment_find(const struct plan *plan, const char *id) {
    for (size_t i = 0; i < plan->environment_count; i++)
        if (is_id(plan->environments[i].id, id))
            return &plan->environments[i];
    return NULL;
}

const struct plan_step *plan_step_find(const struct plan *plan, const char *name) {
    for (size_t i = 0; i < plan->step_count; i++)
        if (is_id(plan->steps[i].name, name))
            return &plan->steps[i];
    return NULL;
}

const struct plan_claim *plan_claim_find(const struct plan *plan, const char *id) {
    for (size_t i = 0; i < plan->claim_count; i++)
        if (is_id(plan->claims[i].id, id))
            return &plan->claims[i];
    return NULL;
}

const char *plan_source(const struct plan *plan, struct plan_at at, struct arena *arena) {
    if (at.line == 0)
        return arena_strdup(arena, plan->name);
    return arena_printf(arena, "%s:%u", plan->name, (unsigned)at.line);
}

static bool has_pair(const struct plan_condition *condition, const struct plan_pair *pair) {
    for (size_t i = 0; i < condition->parameter_count; i++) {
        const struct plan_pair *own = &condition->parameters[i];
        if (strcmp(own->name, pair->name) == 0)
            return strcmp(own->value, pair->value) == 0;
    }
    return false;
}

bool plan_condition_has(const struct plan_condition *condition, const struct plan_pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++)
        if (!has_pair(condition, &pairs->items[i]))
            return false;
    return true;
}
