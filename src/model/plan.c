/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words of the plan and finding its parts by id. Must not know how a plan is written down or what
 * it means (plan/, rules/).
 */
#include "model/plan.h"

#include <assert.h>
#include <string.h>

/* The words of one enum, by its values. */
#define WORD_OF(words, value) \
    (assert((size_t)(value) < ARRAY_LENGTH(words)), (words)[(size_t)(value)])

const char *plan_kind_name(enum plan_kind kind) {
    static const char *const words[PLAN_KIND_COUNT_] = {
        [PLAN_KIND_UNSAID] = "", [PLAN_VALIDATE] = "validate", [PLAN_COMPARE] = "compare",
        [PLAN_SCALE] = "scale",  [PLAN_VERIFY] = "verify",
    };
    return WORD_OF(words, kind);
}

const char *plan_extent_name(enum plan_extent extent) {
    static const char *const words[PLAN_EXTENT_COUNT_] = {
        [PLAN_EXTENT_UNSAID] = "", [PLAN_VALIDATION] = "validation", [PLAN_FULL] = "full"};
    return WORD_OF(words, extent);
}

const char *plan_recurrence_name(enum plan_recurrence recurrence) {
    static const char *const words[PLAN_RECURRENCE_COUNT_] = {
        [PLAN_RECURRENCE_UNSAID] = "", [PLAN_ONE_OFF] = "one-off", [PLAN_RECURRING] = "recurring"};
    return WORD_OF(words, recurrence);
}

const char *plan_backing_name(enum plan_backing backing) {
    static const char *const words[] = {[PLAN_UNDETERMINED] = "undetermined",
                                        [PLAN_CHOSEN] = "chosen",
                                        [PLAN_CONFIRMED] = "confirmed"};
    return WORD_OF(words, backing);
}

const char *plan_fact_state_name(enum plan_fact_state state) {
    static const char *const words[] = {[PLAN_FACT_OPEN] = "open",
                                        [PLAN_FACT_KNOWN] = "known",
                                        [PLAN_FACT_NOT_APPLICABLE] = "not-applicable"};
    return WORD_OF(words, state);
}

const char *plan_answer_name(enum plan_answer answer) {
    static const char *const words[] = {
        [PLAN_UNSAID] = "open", [PLAN_YES] = "yes", [PLAN_NO] = "no"};
    return WORD_OF(words, answer);
}

const char *plan_scope_name(enum plan_scope scope) {
    static const char *const words[] = {[PLAN_SCOPE_OPEN] = "open",
                                        [PLAN_SCOPE_FUNCTION_TEST] = "function-test",
                                        [PLAN_SCOPE_MAIN_RESULT] = "main-result",
                                        [PLAN_SCOPE_FULL_BENCHMARK] = "full-benchmark"};
    return WORD_OF(words, scope);
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

const char *plan_environment_kind_name(enum plan_environment_kind kind) {
    switch (kind) {
    case PLAN_ENVIRONMENT_UNSAID:
        return NULL;
    case PLAN_RENTED:
        return "rented";
    case PLAN_OWN:
        return "own";
    case PLAN_INSTITUTE:
        return "institute";
    case PLAN_MACOS:
        return "macos";
    }
    return NULL;
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

const struct plan_offer *plan_offer_find(const struct plan *plan, const char *id) {
    for (size_t i = 0; i < plan->offer_count; i++)
        if (is_id(plan->offers[i].id, id))
            return &plan->offers[i];
    return NULL;
}

const char *plan_accelerator(const struct plan_environment *environment) {
    const char *gpu = environment->gpu;
    if (environment->accelerator != NULL)
        return environment->accelerator;
    if (environment->kind == PLAN_MACOS)
        return "metal";
    if (environment->gpus.given && environment->gpus.value == 0)
        return "cpu";
    if (gpu != NULL && strncmp(gpu, "NVIDIA ", 7) == 0)
        return "cuda";
    if (gpu != NULL && strncmp(gpu, "AMD ", 4) == 0)
        return "rocm";
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
