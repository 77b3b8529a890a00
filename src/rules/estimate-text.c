/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How good the base of an estimate is, in words: what weakens a block's, and why the whole is
 * provisional. Judges nothing else.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"

#include <stdarg.h>
#include <string.h>

/* ---- how good the base is (D4) ---- */

struct base {
    size_t none, function_tests, single, outliers, different, not_separated, counted;
    size_t unsupported, ran_unsupported;
    size_t
        incurable[OUTCOME_COUNT_]; /* attempts that ended in a way that repeating does not cure */
};

/* Attempts that a repeat of would only fail again. */
static void count_incurable(const struct condition_work *c, struct base *base) {
    for (size_t i = 0; i < c->study->run_count; i++)
        if (estimate_is_incurable(c->study->runs[i]))
            base->incurable[c->study->runs[i]->run->outcome]++;
}

/* Did the runs of the condition process the same amount, as far as they say? */
static bool is_work_different(const struct condition_work *c) {
    for (size_t i = 1; i < c->count_used; i++) {
        const struct run *a = c->runs[0];
        const struct run *b = c->runs[i];
        const struct quantity *pairs[][2] = {{&a->work_items, &b->work_items},
                                             {&a->work_length, &b->work_length},
                                             {&a->work_batch, &b->work_batch}};
        for (size_t p = 0; p < ARRAY_LENGTH(pairs); p++)
            if (quantity_is_known(pairs[p][0]) && quantity_is_known(pairs[p][1]) &&
                pairs[p][0]->value != pairs[p][1]->value)
                return true;
    }
    return false;
}

static struct base look_at_base(const struct block_work *work) {
    struct base base = {0};
    for (size_t i = 0; i < work->condition_count; i++) {
        const struct condition_work *c = &work->conditions[i];
        AUTO_FREE bool *outlier = mem_alloc((c->count_used + 1) * sizeof *outlier);
        bool separated = false;
        base.counted += c->count_used > 0;
        base.single += c->count_used == 1;
        base.function_tests +=
            c->count_used == 0 && c->study->level == EVIDENCE_FUNCTION_TEST && !c->is_unsupported;
        base.none +=
            c->count_used == 0 && c->study->level != EVIDENCE_FUNCTION_TEST && !c->is_unsupported;
        base.unsupported += c->is_unsupported;
        base.ran_unsupported += c->study->condition->supported == PLAN_NO && !c->is_unsupported;
        count_incurable(c, &base);
        base.different += is_work_different(c);
        predict_mark_outliers(c->walls, c->count_used, outlier);
        for (size_t r = 0; r < c->count_used; r++) {
            base.outliers += outlier[r];
            separated |= estimate_is_separated(c->runs[r]);
        }
        base.not_separated += c->count_used > 0 && !separated;
    }
    return base;
}

/* fmt prints the count. */
__attribute__((format(printf, 4, 5))) static void
add_finding(struct block_work *work, const char **text, size_t count, const char *fmt, ...) {
    va_list args;
    if (count == 0)
        return;
    va_start(args, fmt);
    AUTO_FREE char *finding = mem_vprintf(fmt, args);
    va_end(args);
    struct arena *arena = work->maker->arena;
    *text = piece_join(arena, *text, arena_strdup(arena, finding));
}

void estimate_block_weakness(struct block_work *work) {
    struct base base = look_at_base(work);
    const char *text = NULL;
    size_t n = base.none;

    add_finding(work, &text, n,
                msg_plural((unsigned long)n, "%zu condition has no run that counts",
                           "%zu conditions have no run that counts"),
                n);
    n = base.function_tests;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n, "%zu condition has only function tests",
                           "%zu conditions have only function tests"),
                n);
    n = base.single;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n, "%zu condition rests on a single run",
                           "%zu conditions rest on a single run each"),
                n);
    n = base.different;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n,
                           "the runs of %zu condition processed different amounts",
                           "the runs of %zu conditions processed different amounts"),
                n);
    n = base.outliers;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n,
                           "%zu run stands apart from the others of its condition",
                           "%zu runs stand apart from the others of their condition"),
                n);
    n = base.not_separated;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n, "no run of %zu condition tells its phases apart",
                           "no run of %zu conditions tells its phases apart"),
                n);
    n = base.unsupported;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n,
                           "the plan says that the code does not support %zu condition",
                           "the plan says that the code does not support %zu conditions"),
                n);
    n = base.ran_unsupported;
    add_finding(work, &text, n,
                msg_plural((unsigned long)n,
                           "%zu condition ran, although the plan says that the code does not "
                           "support it",
                           "%zu conditions ran, although the plan says that the code does not "
                           "support them"),
                n);
    for (enum outcome_class k = 0; k < OUTCOME_COUNT_; k++)
        add_finding(work, &text, base.incurable[k],
                    msg_plural((unsigned long)base.incurable[k],
                               "%zu attempt ended with %s, which repeating does not cure",
                               "%zu attempts ended with %s, which repeating does not cure"),
                    base.incurable[k], outcome_name(k));
    work->ret->weakness = text;
}

/* ---- provisional (A10) ---- */

static bool is_about_base(const struct plan_fact *fact) {
    static const char *const about[] = {"weights", "data", "code"};
    for (size_t i = 0; i < ARRAY_LENGTH(about); i++)
        if (fact->about && strcmp(fact->about, about[i]) == 0)
            return true;
    return false;
}

/* A fact about another environment leaves this one's estimate as it is (A11). */
static bool is_of_target(const struct study *study, const struct plan_fact *fact) {
    const struct plan_environment *target = study->input->environment;
    return !fact->environment || !target || strcmp(fact->environment, target->id) == 0;
}

static bool has_no_evidence(const struct study_block *block) {
    for (size_t i = 0; i < block->condition_count; i++)
        if (block->conditions[i].level == EVIDENCE_MEASURED)
            return false;
    return true;
}

/* Conditions with something left that the code cannot run, as far as the plan knows. */
static size_t count_unsupported(const struct estimate_block *block) {
    const struct estimate_component *runs = &block->components[COMPONENT_RUNS];
    size_t count = 0;
    for (size_t i = 0; i < runs->item_count; i++)
        count +=
            !quantity_is_known(&runs->items[i].time) && runs->items[i].remedy == ESTIMATE_SUPPORT;
    return count;
}

/* "facts 'a', 'b' are open"; NULL: none about weights, data or code. */
static const char *open_base_facts(const struct study *study, struct arena *arena) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    size_t count = 0;

    for (size_t i = 0; i < study->open_fact_count; i++) {
        const char *id = study->open_facts[i]->id;
        if (!is_about_base(study->open_facts[i]) || !is_of_target(study, study->open_facts[i]))
            continue;
        strbuf_printf(&names, "%s'%s'", count++ > 0 ? ", " : "", id ? id : "");
    }
    if (count == 0)
        return NULL;
    return arena_printf(arena,
                        msg_plural((unsigned long)count, "fact %s is open", "facts %s are open"),
                        strbuf_str(&names));
}

void estimate_provisional(struct estimate_maker *maker) {
    const struct study *study = maker->study;
    struct arena *arena = maker->arena;
    size_t most = 1 + 2 * study->block_count;
    const char **reasons = arena_alloc(arena, (most + 1) * sizeof *reasons);
    size_t count = 0;

    const char *facts = open_base_facts(study, arena);
    if (facts)
        reasons[count++] = facts;
    for (size_t i = 0; i < study->block_count; i++) {
        const struct study_block *block = &study->blocks[i];
        if (block->block->kind == PLAN_VALIDATE && has_no_evidence(block))
            reasons[count++] =
                arena_printf(arena, _("no run counts for block '%s' yet"), block->block->id);
        size_t unsupported = count_unsupported(&maker->ret->blocks[i]);
        if (unsupported > 0 &&
            (block->block->kind == PLAN_VALIDATE || block->block->kind == PLAN_COMPARE))
            reasons[count++] = arena_printf(
                arena,
                msg_plural((unsigned long)unsupported,
                           "the plan says that the code does not support %zu condition of block "
                           "'%s'",
                           "the plan says that the code does not support %zu conditions of block "
                           "'%s'"),
                unsupported, block->block->id);
    }
    maker->ret->provisional = count > 0;
    maker->ret->provisional_reasons = reasons;
    maker->ret->provisional_count = count;
}
