/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the blocks and claims of a plan show only together: references, circles of needs, backing
 * without a source, places that nothing fills, claims that nothing can decide. Must not change the
 * plan.
 */
#include "plan/check.h"

#include "base/str.h"
#include "plan/conditions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- backing (C3) ---- */

static void check_backing(struct check *check, const struct plan_block *block) {
    if (block->state == PLAN_CONFIRMED && block->source == NULL)
        plan_complain(check->reading, block->at, "plan-source",
                      "a confirmed block needs 'source'; without one it is chosen or undetermined");
    for (size_t i = 0; i < block->axis_count; i++) {
        const struct plan_axis *axis = &block->axes[i];
        if (axis->state == PLAN_CONFIRMED && axis->source == NULL) {
            plan_complain(
                check->reading, axis->at, "plan-source",
                "a confirmed axis needs 'source'; without one it is chosen or undetermined");
            continue;
        }
        for (size_t j = 0; j < axis->value_count; j++)
            if (axis->values[j].state == PLAN_CONFIRMED && axis->values[j].source == NULL)
                plan_complain(
                    check->reading, axis->values[j].at, "plan-source",
                    "a confirmed value needs 'source'; without one it is chosen or undetermined");
    }
}

/* ---- references and circles ---- */

static void refer_all(struct check *check, const struct check_ids *ids,
                      const struct plan_texts *texts) {
    for (size_t i = 0; i < texts->count; i++)
        (void)check_refer(check, ids, texts->items[i].text, texts->items[i].at);
}

/* The number of the block that an entry of `needs` names; SIZE_MAX: none. */
static size_t needed(const struct check *check, const struct plan_text_item *item) {
    const struct check_id *id = check_id_find(&check->blocks, item->text);
    return id != NULL ? id->number : SIZE_MAX;
}

/* Marks what can be done in some order, as often as something new can be: in the end only blocks of
 * circles, and those that wait for them, are left. Kahn, Topological sorting of large networks,
 * CACM 5(11), 1962. */
static void mark_doable(const struct check *check, bool *doable) {
    const struct plan *plan = check->plan;
    size_t edges = 0;
    for (size_t i = 0; i < plan->block_count; i++)
        edges += plan->blocks[i].needs.count;
    AUTO_FREE size_t *waits = mem_alloc((plan->block_count + 1) * sizeof *waits);
    AUTO_FREE size_t *first = mem_alloc((plan->block_count + 2) * sizeof *first);
    AUTO_FREE size_t *later = mem_alloc((edges + 1) * sizeof *later);
    AUTO_FREE size_t *ready = mem_alloc((plan->block_count + 1) * sizeof *ready);
    for (size_t i = 0; i < plan->block_count; i++)
        for (size_t j = 0; j < plan->blocks[i].needs.count; j++) {
            size_t other = needed(check, &plan->blocks[i].needs.items[j]);
            if (other != SIZE_MAX) {
                waits[i]++;
                first[other + 1]++;
            }
        }
    for (size_t i = 0; i < plan->block_count; i++)
        first[i + 1] += first[i];
    AUTO_FREE size_t *used = mem_alloc((plan->block_count + 1) * sizeof *used);
    size_t done = 0, count = 0;
    for (size_t i = 0; i < plan->block_count; i++) {
        for (size_t j = 0; j < plan->blocks[i].needs.count; j++) {
            size_t other = needed(check, &plan->blocks[i].needs.items[j]);
            if (other != SIZE_MAX)
                later[first[other] + used[other]++] = i;
        }
        if (waits[i] == 0)
            ready[count++] = i;
    }
    while (done < count) {
        size_t one = ready[done++];
        doable[one] = true;
        for (size_t i = first[one]; i < first[one] + used[one]; i++)
            if (--waits[later[i]] == 0)
                ready[count++] = later[i];
    }
}

/* The first need of a block that is left over, and is a left-over block itself. */
static size_t next_in_circle(const struct check *check, const bool *doable, size_t block) {
    const struct plan_texts *needs = &check->plan->blocks[block].needs;
    for (size_t i = 0; i < needs->count; i++) {
        size_t other = needed(check, &needs->items[i]);
        if (other != SIZE_MAX && !doable[other])
            return other;
    }
    return SIZE_MAX;
}

#define CIRCLE_SHOWN 10u

static void check_circles(struct check *check) {
    const struct plan *plan = check->plan;
    AUTO_FREE bool *doable = mem_alloc(plan->block_count + 1);
    AUTO_FREE bool *passed = mem_alloc(plan->block_count + 1);
    mark_doable(check, doable);
    size_t one = 0;
    while (one < plan->block_count && doable[one])
        one++;
    if (one == plan->block_count)
        return;
    while (!passed[one]) { /* from a left-over block every way leads into a circle */
        passed[one] = true;
        one = next_in_circle(check, doable, one);
        if (one == SIZE_MAX)
            return;
    }
    AUTO_STRBUF struct strbuf way = STRBUF_INIT;
    strbuf_add_str(&way, plan->blocks[one].id);
    size_t shown = 0, at = one;
    do {
        at = next_in_circle(check, doable, at);
        if (++shown <= CIRCLE_SHOWN)
            strbuf_printf(&way, " -> %s", plan->blocks[at].id);
        else if (shown == CIRCLE_SHOWN + 1)
            strbuf_add_str(&way, " -> ...");
    } while (at != one);
    plan_complain(check->reading, plan->blocks[one].needs.items[0].at, "plan-circle",
                  "these blocks need one another in a circle: %s", strbuf_str(&way));
}

/* ---- places ---- */

/* A parameter of a block, and how many of its conditions have it. */
struct known {
    const char *name;
    size_t count;
};
struct known_names {     /* sorted by name, each once */
    struct known *items; /* owned */
    size_t count;
};

static int compare_known(const void *a, const void *b) {
    const struct known *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static struct known_names known_names(const struct plan_block *block) {
    size_t most = block->fixed.count + block->axis_count, count = 0;
    for (size_t i = 0; i < block->condition_count; i++) /* names that only `include` brings */
        most += block->conditions[i].axis_count - block->axis_count;
    struct known_names names = {.items = mem_alloc((most + 1) * sizeof *names.items)};
    for (size_t i = 0; i < block->fixed.count; i++)
        names.items[count++] = (struct known){block->fixed.items[i].name, block->condition_count};
    for (size_t i = 0; i < block->axis_count; i++)
        names.items[count++] = (struct known){block->axes[i].name, block->condition_count};
    for (size_t i = 0; i < block->condition_count; i++)
        for (size_t j = block->axis_count; j < block->conditions[i].axis_count; j++)
            names.items[count++] = (struct known){block->conditions[i].axes[j].name, 1};
    if (count > 0)
        qsort(names.items, count, sizeof *names.items, compare_known);
    for (size_t i = 0; i < count; i++) {
        bool is_new = i == 0 || strcmp(names.items[names.count - 1].name, names.items[i].name) != 0;
        if (is_new)
            names.items[names.count++] = names.items[i];
        else
            names.items[names.count - 1].count += names.items[i].count;
    }
    return names;
}

static const struct known *known_find(const struct known_names *names, const char *name) {
    const struct known wanted = {.name = name};
    return names->count == 0
               ? NULL
               : bsearch(&wanted, names->items, names->count, sizeof *names->items, compare_known);
}

struct places { /* what the checks of a block's places have in common */
    struct check *check;
    const struct plan_block *block;
    struct known_names names;
};

static void complain_place(struct places *places, struct plan_at at, const char *name) {
    struct plan_reading *reading = places->check->reading;
    if (reading->complaint_count >= PLAN_COMPLAINTS_MAX)
        return; /* looking for what was meant costs */
    AUTO_FREE const char **names = mem_alloc((places->names.count + 1) * sizeof(const char *));
    for (size_t i = 0; i < places->names.count; i++)
        names[i] = places->names.items[i].name;
    const char *near = str_nearest(name, names, places->names.count);
    const char *quoted = plan_quote(reading, name);
    if (near != NULL)
        plan_complain(reading, at, "plan-place",
                      "'{%s}' is no parameter of block '%s'; did you mean '{%s}'?", quoted,
                      places->block->id, near);
    else
        plan_complain(
            reading, at, "plan-place",
            "'{%s}' is no parameter of block '%s'; write '{{%s}}' if the braces are meant", quoted,
            places->block->id, quoted);
}

static void check_place(struct places *places, struct plan_at at, const char *name) {
    const struct known *known = known_find(&places->names, name);
    if (known == NULL)
        complain_place(places, at, name);
    else if (known->count < places->block->condition_count)
        plan_complain(places->check->reading, at, "plan-place",
                      "only some conditions of block '%s' have '{%s}'; make it an axis",
                      places->block->id, name);
}

/* What the shell makes of quotes so far: 0, '\'' or '"'. */
static char quote_after(char quote, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\' && quote != '\'')
            i++;
        else if (quote == 0 && (text[i] == '\'' || text[i] == '"'))
            quote = text[i];
        else if (text[i] == quote)
            quote = 0;
    }
    return quote;
}

static void check_places(struct places *places, const struct plan_text_item *item, bool shell) {
    const char *rest = item->text, *start = NULL;
    size_t length = 0;
    char quote = 0;
    enum plan_piece piece = PLAN_PIECE_END;
    while ((piece = plan_piece_next(&rest, &start, &length)) != PLAN_PIECE_END) {
        if (piece == PLAN_PIECE_BRACE) {
            plan_complain(places->check->reading, item->at, "plan-place",
                          "a single '%c' is neither {name} nor text; write it twice for a brace",
                          *start);
            return;
        }
        if (piece == PLAN_PIECE_TEXT) {
            quote = quote_after(quote, start, length);
            continue;
        }
        AUTO_FREE char *name = mem_strndup(start, length);
        check_place(places, item->at, name);
        if (shell && quote != 0)
            plan_complain(places->check->reading, item->at, "plan-place",
                          "'{%s}' stands inside quotes; take them away, since what is filled in is "
                          "quoted for the shell where it must be",
                          plan_quote(places->check->reading, name));
    }
}

static void check_all_places(struct check *check, const struct plan_block *block) {
    const struct plan_texts *const lists[] = {&block->inputs, &block->outputs, &block->expect};
    struct places places = {.check = check, .block = block, .names = known_names(block)};
    for (size_t i = 0; i < block->command.count; i++)
        check_places(&places, &block->command.items[i], block->shell);
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            check_places(&places, &lists[i]->items[j], false);
    for (size_t i = 0; i < block->result_count; i++) {
        const struct plan_result *result = &block->results[i];
        struct plan_text_item file = {.text = result->file, .at = result->at};
        if (file.text != NULL)
            check_places(&places, &file, false);
    }
    mem_free_ptr(&places.names.items);
}

/* ---- results and verification ---- */

static bool has_result(const struct plan_block *block, const char *name) {
    for (size_t i = 0; i < block->result_count; i++)
        if (block->results[i].name != NULL && strcmp(block->results[i].name, name) == 0)
            return true;
    return false;
}

static void check_results(struct check *check, const struct plan_block *block) {
    struct check_ids names =
        check_ids_of(check->reading, "results", block->results, block->result_count,
                     sizeof *block->results, offsetof(struct plan_result, name));
    mem_free_ptr(&names.items); /* it was about those that stand twice */
}

static bool has_condition(const struct plan_block *block, const char *id) {
    for (size_t i = 0; i < block->condition_count; i++)
        if (strcmp(block->conditions[i].id, id) == 0)
            return true;
    return false;
}

static bool shares_condition(const struct plan_block *block, const struct plan_block *of) {
    for (size_t i = 0; i < block->condition_count; i++)
        if (has_condition(of, block->conditions[i].id))
            return true;
    return block->condition_count == 0 || of->condition_count == 0; /* was complained of */
}

static void check_verification(struct check *check, const struct plan_block *block) {
    if (block->verify_of == NULL) {
        if (block->kind == PLAN_VERIFY)
            plan_warn(check->reading, block->at, "plan-verify",
                      "block '%s' verifies, but 'verify' does not say which block's runs it "
                      "repeats",
                      block->id);
        return;
    }
    const struct check_id *id = check_refer(check, &check->blocks, block->verify_of, block->at);
    if (id == NULL)
        return;
    const struct plan_block *of = &check->plan->blocks[id->number];
    if (of == block) {
        plan_complain(check->reading, block->at, "plan-verify", "block '%s' verifies itself",
                      block->id);
        return;
    }
    if (!shares_condition(block, of))
        plan_warn(check->reading, block->at, "plan-verify",
                  "block '%s' repeats no condition of block '%s': parameters and command must be "
                  "the same",
                  block->id, of->id);
    if (block->verify_result != NULL && of->result_count > 0 &&
        !has_result(of, block->verify_result))
        plan_warn(check->reading, block->at, "plan-verify",
                  "'%s' is none of the results of block '%s'",
                  plan_quote(check->reading, block->verify_result), of->id);
}

static void check_block(struct check *check, const struct plan_block *block) {
    refer_all(check, &check->claims, &block->claims);
    refer_all(check, &check->blocks, &block->needs);
    refer_all(check, &check->steps, &block->steps);
    check_backing(check, block);
    if (block->id == NULL)
        return; /* the rest names it; that it has none was complained of */
    check_all_places(check, block);
    check_results(check, block);
    check_verification(check, block);
    bool is_settled = block->state != PLAN_UNDETERMINED && block->runs.given;
    if (is_settled && block->command.count == 0) /* else it is not planned that far yet */
        plan_warn(check->reading, block->at, "plan-command",
                  "block '%s' has no 'command': 'probelauf block run' cannot run it", block->id);
}

void check_blocks(struct check *check) {
    for (size_t i = 0; i < check->plan->block_count; i++)
        check_block(check, &check->plan->blocks[i]);
    check_circles(check);
}

/* ---- claims ---- */

static bool fits_a_condition(struct check *check, const struct plan_pairs *pairs) {
    const struct plan *plan = check->plan;
    for (size_t b = 0; b < plan->block_count; b++) {
        const struct plan_block *block = &plan->blocks[b];
        if (block->condition_count == 0 || check->looks_left < block->condition_count)
            return true; /* could not be expanded, which was complained of; or enough was looked */
        check->looks_left -= block->condition_count;
        for (size_t c = 0; c < block->condition_count; c++)
            if (plan_condition_has(&block->conditions[c], pairs))
                return true;
    }
    return plan->block_count == 0; /* nothing is planned yet */
}

/* Names that stand in lists of the blocks, to look many up. */
static int compare_texts(const void *a, const void *b) {
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}
struct names {
    const char **items; /* owned; sorted */
    size_t count;
};

static bool names_have(const struct names *names, const char *name) {
    return names->count > 0 &&
           bsearch(&name, names->items, names->count, sizeof *names->items, compare_texts) != NULL;
}

static void names_sort(struct names *names) {
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, compare_texts);
}

static struct names names_of_results(const struct plan *plan) {
    size_t most = 0;
    for (size_t b = 0; b < plan->block_count; b++)
        most += plan->blocks[b].result_count;
    struct names names = {.items = mem_alloc((most + 1) * sizeof(const char *))};
    for (size_t b = 0; b < plan->block_count; b++)
        for (size_t i = 0; i < plan->blocks[b].result_count; i++)
            if (plan->blocks[b].results[i].name != NULL)
                names.items[names.count++] = plan->blocks[b].results[i].name;
    names_sort(&names);
    return names;
}

static struct names names_of_answers(const struct plan *plan) {
    size_t most = 0;
    for (size_t b = 0; b < plan->block_count; b++)
        most += plan->blocks[b].claims.count;
    struct names names = {.items = mem_alloc((most + 1) * sizeof(const char *))};
    for (size_t b = 0; b < plan->block_count; b++)
        for (size_t i = 0; i < plan->blocks[b].claims.count; i++)
            names.items[names.count++] = plan->blocks[b].claims.items[i].text;
    names_sort(&names);
    return names;
}

/* Of fixed parameters, axes and what `include` brings. */
static struct names names_of_parameters(const struct plan *plan) {
    size_t most = 0;
    for (size_t b = 0; b < plan->block_count; b++) {
        const struct plan_block *block = &plan->blocks[b];
        most += block->fixed.count + block->axis_count;
        for (size_t i = 0; i < block->include_count; i++)
            most += block->include[i].count;
    }
    struct names names = {.items = mem_alloc((most + 1) * sizeof(const char *))};
    for (size_t b = 0; b < plan->block_count; b++) {
        const struct plan_block *block = &plan->blocks[b];
        for (size_t i = 0; i < block->fixed.count; i++)
            names.items[names.count++] = block->fixed.items[i].name;
        for (size_t i = 0; i < block->axis_count; i++)
            names.items[names.count++] = block->axes[i].name;
        for (size_t i = 0; i < block->include_count; i++)
            for (size_t j = 0; j < block->include[i].count; j++)
                names.items[names.count++] = block->include[i].items[j].name;
    }
    names_sort(&names);
    return names;
}

static void warn_no_parameter(struct check *check, const struct plan_pair *pair,
                              const struct names *names) {
    const char *near = str_nearest(pair->name, names->items, names->count);
    if (near != NULL)
        plan_warn(check->reading, pair->at, "plan-claim",
                  "no block has a parameter '%s'; did you mean '%s'?",
                  plan_quote(check->reading, pair->name), near);
    else
        plan_warn(check->reading, pair->at, "plan-claim", "no block has a parameter '%s'",
                  plan_quote(check->reading, pair->name));
}

static void check_where(struct check *check, const struct plan_pairs *pairs) {
    /* More warnings are not kept, and looking for what was meant costs. */
    if (fits_a_condition(check, pairs) || check->reading->warning_count >= PLAN_WARNINGS_MAX)
        return;
    struct names names = names_of_parameters(check->plan);
    bool all_known = true;
    for (size_t i = 0; i < pairs->count; i++) {
        if (names_have(&names, pairs->items[i].name))
            continue;
        all_known = false;
        warn_no_parameter(check, &pairs->items[i], &names);
    }
    if (all_known)
        plan_warn(check->reading, pairs->at, "plan-claim",
                  "no condition of the plan has all these values; they are compared as written");
    mem_free_ptr(&names.items);
}

static void check_yardstick(struct check *check, const struct plan_claim *claim) {
    int kinds =
        claim->paper_value.given + claim->threshold.given + (claim->ordering_count > 0 ? 1 : 0);
    if (kinds > 1)
        plan_complain(check->reading, claim->at, "plan-claim",
                      "a claim is held against one of 'paper_value', 'threshold' and 'ordering', "
                      "not several; make it several claims");
    if (claim->paper_value.given && !claim->tolerance.given)
        plan_complain(check->reading, claim->paper_value.at, "plan-claim",
                      "'paper_value' needs 'tolerance': which deviation does the team accept?");
    if (claim->paper_value.given && claim->source == NULL)
        plan_complain(check->reading, claim->paper_value.at, "plan-claim",
                      "'paper_value' needs 'source': where in the paper does it stand?");
    if (claim->ordering_count == 1)
        plan_complain(check->reading, claim->ordering[0].at, "plan-claim",
                      "an ordering needs at least two conditions");
}

void check_claims(struct check *check) {
    const struct plan *plan = check->plan;
    struct names results = names_of_results(plan), answers = names_of_answers(plan);
    for (size_t i = 0; i < plan->claim_count; i++) {
        const struct plan_claim *claim = &plan->claims[i];
        check_yardstick(check, claim);
        if (claim->where.count > 0)
            check_where(check, &claim->where);
        for (size_t j = 0; j < claim->ordering_count; j++)
            check_where(check, &claim->ordering[j]);
        if (plan->block_count == 0)
            continue;
        if (claim->result != NULL && !names_have(&results, claim->result))
            plan_warn(check->reading, claim->at, "plan-claim",
                      "no block has '%s' among its 'results'",
                      plan_quote(check->reading, claim->result));
        if (claim->id != NULL && !names_have(&answers, claim->id))
            plan_warn(check->reading, claim->at, "plan-claim",
                      "no block names this claim under 'claims', so no run answers it");
    }
    mem_free_ptr(&results.items);
    mem_free_ptr(&answers.items);
}
