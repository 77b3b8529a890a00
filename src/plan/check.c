/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What only several parts of a plan together show: ids that stand twice or name nothing, statements
 * without the source or reason that they need. What one key alone shows is the table's
 * (schema.c). Must not change the plan.
 */
#include "plan/check.h"

#include "base/str.h"
#include "plan/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- ids ---- */

static int compare_ids(const void *a, const void *b) {
    const struct check_id *left = a, *right = b;
    int order = strcmp(left->text, right->text);
    if (order != 0)
        return order;
    return left->number < right->number ? -1 : left->number > right->number;
}

struct check_ids check_ids_of(struct plan_reading *reading, const char *key, const void *parts,
                              size_t count, size_t size, size_t id_offset) {
    struct check_ids ids = {.key = key, .items = mem_alloc((count + 1) * sizeof *ids.items)};
    for (size_t i = 0; i < count; i++) {
        const char *part = (const char *)parts + i * size;
        struct check_id id = {.number = i};
        memcpy(&id.at, part, sizeof id.at);
        memcpy(&id.text, part + id_offset, sizeof id.text);
        if (id.text != NULL)
            ids.items[ids.count++] = id;
    }
    if (ids.count > 0)
        qsort(ids.items, ids.count, sizeof *ids.items, compare_ids);
    size_t first = 0;
    for (size_t i = 1; i < ids.count; i++) {
        if (strcmp(ids.items[i].text, ids.items[first].text) == 0)
            plan_complain(reading, ids.items[i].at, "plan-duplicate-id",
                          "'%s' names a second entry of '%s'; the first is in line %u",
                          ids.items[i].text, key, (unsigned)ids.items[first].at.line);
        else
            first = i;
    }
    return ids;
}

/* An element of an array of the plan. */
#define IDS_OF(reading, plan, list, count, member)                                  \
    check_ids_of(reading, #list, (plan)->list, (plan)->count, sizeof *(plan)->list, \
                 offsetof(__typeof__(*(plan)->list), member))

const struct check_id *check_id_find(const struct check_ids *ids, const char *text) {
    size_t low = 0, high = ids->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(ids->items[middle].text, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_it = low < ids->count && strcmp(ids->items[low].text, text) == 0;
    return is_it ? &ids->items[low] : NULL;
}

const struct check_id *check_refer(struct check *check, const struct check_ids *ids,
                                   const char *text, struct plan_at at) {
    if (text == NULL)
        return NULL;
    const struct check_id *found = check_id_find(ids, text);
    /* Nobody reads more complaints, and looking for what was meant costs. */
    if (found != NULL || check->reading->complaint_count >= PLAN_COMPLAINTS_MAX)
        return found;
    AUTO_FREE const char **texts = mem_alloc((ids->count + 1) * sizeof(const char *));
    for (size_t i = 0; i < ids->count; i++)
        texts[i] = ids->items[i].text;
    const char *near = str_nearest(text, texts, ids->count);
    if (near != NULL)
        plan_complain(check->reading, at, "plan-reference",
                      "there is no '%s' under '%s'; did you mean '%s'?", text, ids->key, near);
    else
        plan_complain(check->reading, at, "plan-reference", "there is no '%s' under '%s'", text,
                      ids->key);
    return NULL;
}

/* ---- facts ---- */

/* REQUIREMENTS A9: what else is written about a paper is no source for what its work needs. */
static bool is_resource_source(const char *kind) {
    static const char *const kinds[] = {"paper", "repository", "own-trial"};
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
        if (strcmp(kinds[i], kind) == 0)
            return true;
    return false;
}

/* The words that the key takes; of them for a resource those that it may have. */
static void add_source_kinds(bool is_resource, struct strbuf *out) {
    const struct schema_part *part;
    for (size_t i = 0; out->length == 0 && (part = schema_part_at(i)) != NULL; i++)
        for (size_t k = 0; k < part->key_count; k++) {
            const struct schema_words *words = part->keys[k].words;
            if (strcmp(part->keys[k].name, "source_kind") != 0 || words == NULL)
                continue;
            for (size_t w = 0; w < words->count; w++)
                if (!is_resource || is_resource_source(words->items[w].name))
                    strbuf_add_next(out, ", ", words->items[w].name);
        }
}

static const char *id_of(const struct plan_fact *fact) {
    return fact->id != NULL ? fact->id : "";
}

static void need(struct plan_reading *reading, const struct plan_fact *fact, const char *key) {
    plan_complain(reading, fact->at, "plan-fact",
                  "fact '%s' is known and needs '%s'; without it the fact is open", id_of(fact),
                  key);
}

static void check_known_fact(struct plan_reading *reading, const struct plan_fact *fact) {
    const char *id = id_of(fact);
    bool is_resource = fact->about != NULL && strcmp(fact->about, "resource") == 0;
    AUTO_STRBUF struct strbuf kinds = STRBUF_INIT;
    add_source_kinds(is_resource, &kinds);
    if (fact->value == NULL)
        need(reading, fact, "value");
    if (fact->source == NULL)
        need(reading, fact, "source");
    if (fact->source_kind == NULL)
        plan_complain(reading, fact->at, "plan-fact",
                      "fact '%s' is known and needs 'source_kind', one of: %s; without it the fact "
                      "is open",
                      id, strbuf_str(&kinds));
    if (!fact->seen.given && fact->seen.text == NULL)
        need(reading, fact, "seen");
    if (is_resource && fact->source_kind != NULL && *fact->source_kind != '\0' &&
        !is_resource_source(fact->source_kind))
        plan_complain(reading, fact->at, "plan-fact",
                      "fact '%s': what the work needs is not known from '%s'; only from its body "
                      "(paper), the repository or an own trial (own-trial); what the authors' own "
                      "runs took is about: paper",
                      id, fact->source_kind);
}

static void check_facts(struct check *check) {
    for (size_t i = 0; i < check->plan->fact_count; i++) {
        const struct plan_fact *fact = &check->plan->facts[i];
        (void)check_refer(check, &check->environments, fact->environment, fact->at);
        if (fact->state == PLAN_FACT_KNOWN)
            check_known_fact(check->reading, fact);
        if (fact->state == PLAN_FACT_OPEN && fact->value != NULL)
            plan_warn(check->reading, fact->at, "plan-fact",
                      "fact '%s' is open, so its value counts for nothing; with a source it can be "
                      "known",
                      id_of(fact));
        if (fact->state == PLAN_FACT_OPEN && fact->value == NULL && fact->question == NULL)
            plan_warn(check->reading, fact->at, "plan-fact",
                      "fact '%s': an open fact without 'question' does not say what is to be found "
                      "out",
                      id_of(fact));
    }
}

/* ---- the paper, dates, environments ---- */

/* A1: a value of the paper is a value of one version of it. */
static void check_version(struct check *check) {
    const struct plan *plan = check->plan;
    for (size_t i = 0; i < plan->claim_count && plan->study.paper_version == NULL; i++) {
        if (!plan->claims[i].paper_value.given)
            continue;
        plan_warn(check->reading, plan->claims[i].paper_value.at, "plan-paper",
                  "of which version of the paper is this value? 'version' under 'study', 'paper' "
                  "does not say");
        return;
    }
}

static void check_paper_parts(struct check *check) {
    for (size_t i = 0; i < check->plan->paper_part_count; i++) {
        const struct plan_paper_part *part = &check->plan->paper_parts[i];
        if (part->included == PLAN_NO && part->why == NULL)
            plan_complain(check->reading, part->at, "plan-missing",
                          "a part of the paper that is left out needs 'why'");
        if (part->included != PLAN_UNSAID && part->source == NULL)
            plan_warn(check->reading, part->at, "plan-source",
                      "say under 'source' where in the paper this part stands, or that it is your "
                      "own choice");
    }
}

static void check_calendar(struct check *check) {
    for (size_t i = 0; i < check->plan->calendar_count; i++) {
        const struct plan_planned_date *date = &check->plan->calendar[i];
        (void)check_refer(check, &check->blocks, date->block, date->at);
        if (date->start.given && date->end.given && date->end.utc_ns < date->start.utc_ns)
            plan_complain(check->reading, date->end.at, "plan-calendar",
                          "the end %s is before the start %s", date->end.text, date->start.text);
    }
}

void plan_check(struct plan_reading *reading) {
    struct plan *plan = reading->plan;
    struct check check = {
        .reading = reading,
        .plan = plan,
        .looks_left = PLAN_COMPLAINTS_MAX * PLAN_CONDITIONS_MAX,
        .claims = IDS_OF(reading, plan, claims, claim_count, id),
        .environments = IDS_OF(reading, plan, environments, environment_count, id),
        .blocks = IDS_OF(reading, plan, blocks, block_count, id),
        .steps = IDS_OF(reading, plan, steps, step_count, name),
    };
    struct check_ids others[] = {
        IDS_OF(reading, plan, facts, fact_count, id),
        IDS_OF(reading, plan, tasks, task_count, id),
        IDS_OF(reading, plan, offers, offer_count, id),
    };
    check_facts(&check);
    check_version(&check);
    check_paper_parts(&check);
    check_needs(&check);
    check_calendar(&check);
    check_offers(&check, &others[2]);
    check_blocks(&check);
    check_claims(&check);
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        mem_free_ptr(&others[i].items);
    mem_free_ptr(&check.claims.items);
    mem_free_ptr(&check.environments.items);
    mem_free_ptr(&check.blocks.items);
    mem_free_ptr(&check.steps.items);
}

/* ---- what an open fact stops ---- */

enum plan_stop plan_stop_of(enum plan_kind kind) {
    switch (kind) {
    case PLAN_VALIDATE:
        return PLAN_STOPS_VALIDATE;
    case PLAN_COMPARE:
        return PLAN_STOPS_COMPARE;
    case PLAN_SCALE:
        return PLAN_STOPS_SCALE;
    case PLAN_VERIFY:
        return PLAN_STOPS_VERIFY;
    case PLAN_KIND_UNSAID:
    case PLAN_KIND_COUNT_:
        break;
    }
    return 0; /* nothing can be said to stop it */
}

void plan_stops_text(unsigned stops, struct strbuf *out) {
    static const struct {
        enum plan_stop stop;
        const char *name;
    } names[] = {
        {PLAN_STOPS_VALIDATE, "validate"}, {PLAN_STOPS_COMPARE, "compare"},
        {PLAN_STOPS_SCALE, "scale"},       {PLAN_STOPS_VERIFY, "verify"},
        {PLAN_STOPS_BOOKING, "booking"},
    };
    bool is_first = true;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if ((stops & names[i].stop) == 0)
            continue;
        strbuf_printf(out, "%s%s", is_first ? "" : ", ", names[i].name);
        is_first = false;
    }
}
