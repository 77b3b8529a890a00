/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results held against claims: which values count, and what they say together. All of them inside
 * is reproduced, all outside is not, and whatever is mixed or missing stays open, with what would
 * settle it. Must not average away a repeat that disagrees.
 */
#include "rules/claims.h"
#include "rules/evidence-parts.h"

#include "base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Decimal figures of a plan are not exact in binary: 0.92 lies within 0.9 plus or minus 0.02. */
#define ROUNDING 1e-12

/* ---- values ---- */

struct value {
    const struct run *run;
    double value;
    const char *unit, *method; /* unit never NULL */
};

/* What one group of conditions gave for one result. */
struct values {
    const char *result;
    struct value *items; /* newest first within a condition, each run once */
    size_t count, room;
    const char *skipped;                    /* why a run that counts gave none: the first reason */
    const struct plan_condition *condition; /* the first that is meant; NULL: none is */
};

static const char *unit_or_ratio(const char *unit) {
    return unit && *unit ? unit : UNIT_RATIO;
}

static const char *shown_value(double value, const char *unit, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    quantity_format_value(value, unit, &text);
    return evidence_shown(strbuf_str(&text), arena);
}

/* The unit that the plan gives to the result in this block; NULL: none. */
static const char *planned_unit(const struct plan_block *block, const char *result) {
    for (size_t i = 0; i < block->result_count; i++)
        if (block->results[i].name && strcmp(block->results[i].name, result) == 0)
            return block->results[i].unit;
    return NULL;
}

static const struct quantity *result_of(const struct run *run, const char *name) {
    for (size_t i = 0; i < run->result_count; i++)
        if (run->results[i].name && strcmp(run->results[i].name, name) == 0)
            return &run->results[i].quantity;
    return NULL;
}

static bool has_run(const struct values *values, const struct run *run) {
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i].run == run)
            return true;
    return false;
}

/* Why the run's result cannot stand beside the others; NULL: it can. unit: the plan's, or NULL. */
static const char *why_no_value(const struct values *values, const struct run *run,
                                const struct quantity *q, const char *unit, struct arena *arena) {
    const char *id = run->id ? run->id : "?";
    const char *result = evidence_shown(values->result, arena);

    if (!q)
        return arena_printf(arena, _("run %s has no result '%s'"), id, result);
    if (!quantity_is_known(q) || q->bound != QUANTITY_EXACT || !isfinite(q->value))
        return arena_printf(arena, _("the result '%s' of run %s is not known%s%s"), result, id,
                            q->detail ? ": " : "", q->detail ? q->detail : "");
    const char *own = unit_or_ratio(q->unit);
    if (unit && strcmp(own, unit) != 0)
        return arena_printf(arena, _("run %s gives '%s' in '%s', the plan in '%s'"), id, result,
                            evidence_shown(own, arena), evidence_shown(unit, arena));
    if (values->count > 0 && strcmp(values->items[0].unit, own) != 0)
        return arena_printf(arena, _("run %s gives '%s' in '%s', another one in '%s'"), id, result,
                            evidence_shown(own, arena),
                            evidence_shown(values->items[0].unit, arena));
    return NULL;
}

/* own: only runs that are done or shown in this block itself, not in one that shares the condition.
 */
static void add_condition(struct values *values, const struct study_condition *condition, bool own,
                          struct arena *arena) {
    const char *unit = planned_unit(condition->condition->block, values->result);

    if (!values->condition)
        values->condition = condition->condition;
    for (size_t i = 0; i < condition->run_count; i++) {
        const struct study_run *study_run = condition->runs[i];
        const struct run *run = study_run->run;
        if (study_run->evidence.level != EVIDENCE_MEASURED || (own && study_run->is_elsewhere) ||
            has_run(values, run))
            continue;
        const struct quantity *q = result_of(run, values->result);
        const char *why = why_no_value(values, run, q, unit, arena);
        if (why)
            values->skipped = values->skipped ? values->skipped : why;
        else if (q && values->count < values->room)
            values->items[values->count++] =
                (struct value){run, q->value, unit_or_ratio(q->unit), q->method};
    }
}

static struct values no_values(const struct study *study, const char *result, struct arena *arena) {
    struct values values = {.result = result, .room = study->run_count};
    values.items = arena_alloc(arena, (values.room + 1) * sizeof *values.items);
    return values;
}

/* ---- values in words and as quantities ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

struct range {
    double least, median, most;
};

static struct range range_of(const struct values *values) {
    AUTO_FREE double *sorted = mem_alloc((values->count + 1) * sizeof *sorted);
    size_t n = values->count;

    if (n == 0)
        return (struct range){0};
    for (size_t i = 0; i < n; i++)
        sorted[i] = values->items[i].value;
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    return (struct range){
        .least = sorted[0],
        .median = n % 2 ? sorted[n / 2] : 0.5 * sorted[n / 2 - 1] + 0.5 * sorted[n / 2],
        .most = sorted[n - 1],
    };
}

/* "0.94 (1 run)", "0.93 to 0.95 (3 runs)". */
static const char *shown_range(const struct values *values, struct arena *arena) {
    struct range range = range_of(values);
    const char *least = shown_value(range.least, values->items[0].unit, arena);
    const char *most = shown_value(range.most, values->items[0].unit, arena);

    if (strcmp(least, most) == 0)
        return arena_printf(
            arena, msg_plural((unsigned long)values->count, "%s (%zu run)", "%s (%zu runs)"), least,
            values->count);
    return arena_printf(arena, _("%s to %s (%zu runs)"), least, most, values->count);
}

/* The condition as on a command line. */
static const char *how_to_run(const struct plan_condition *condition, struct arena *arena) {
    const char *text = arena_printf(arena, "probelauf run --block %s",
                                    evidence_shown(condition->block->id, arena));

    for (size_t i = 0; i < condition->axis_count; i++)
        text =
            arena_printf(arena, "%s -c %s=%s", text, evidence_shown(condition->axes[i].name, arena),
                         evidence_shown(condition->axes[i].value, arena));
    return text;
}

/* Why there is no value at all, and what would give one. */
static const char *why_none(const struct values *values, const char *where, struct arena *arena) {
    if (!values->condition)
        return *where ? arena_printf(arena, _("no condition of the plan has %s"), where)
                      : _("no block of the plan answers it");
    if (values->skipped)
        return arena_printf(arena, _("no run that counts gives it: %s"), values->skipped);
    return arena_printf(arena, _("no run counts yet for %s: %s"),
                        *where ? where : evidence_shown(values->condition->label, arena),
                        how_to_run(values->condition, arena));
}

static struct quantity median_of(const struct values *values, const char *why,
                                 struct arena *arena) {
    if (values->count == 0)
        return quantity_open(NULL, QUANTITY_NO_EVIDENCE, why);
    const char **sources = arena_alloc(arena, values->count * sizeof *sources);
    for (size_t i = 0; i < values->count; i++)
        sources[i] = values->items[i].run->id ? values->items[i].run->id : "";
    struct quantity q = quantity_measured(values->items[0].unit, range_of(values).median,
                                          values->count == 1 ? values->items[0].method
                                                             : "median of the runs' results");
    q.n = values->count;
    q.sources = sources;
    q.source_count = values->count;
    return q;
}

static const char *method_of(const struct value *value) {
    return value->method ? value->method : "?";
}

/* Figures obtained in different ways are not compared without saying so (B11). */
static const char *why_methods_differ(const struct values *groups, size_t count,
                                      struct arena *arena) {
    const char *first = NULL;

    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++) {
            const char *method = method_of(&groups[g].items[i]);
            if (first && strcmp(first, method) != 0)
                return arena_printf(arena,
                                    _("the results compared were obtained in different ways (%s; "
                                      "%s)"),
                                    evidence_shown(first, arena), evidence_shown(method, arena));
            first = first ? first : method;
        }
    return NULL;
}

/* ---- findings ---- */

struct finding {
    enum study_verdict verdict;
    const char *why; /* NULL: nothing was looked at */
};

/* What is not reproduced in one respect is not; then what is open in one is open. */
static struct finding both(struct finding a, struct finding b, struct arena *arena) {
    if (!a.why || !b.why)
        return a.why ? a : b;
    struct finding all = {.verdict = STUDY_REPRODUCED, .why = evidence_joined(a.why, b.why, arena)};
    if (a.verdict == STUDY_NOT_REPRODUCED || b.verdict == STUDY_NOT_REPRODUCED)
        all.verdict = STUDY_NOT_REPRODUCED;
    else if (a.verdict == STUDY_OPEN || b.verdict == STUDY_OPEN)
        all.verdict = STUDY_OPEN;
    return all;
}

static struct finding by_count(size_t inside, const struct values *values, const char *text,
                               struct arena *arena) {
    const char *result = evidence_shown(values->result, arena);
    const char *range = shown_range(values, arena);

    if (inside > 0 && inside < values->count)
        return (struct finding){
            STUDY_OPEN,
            arena_printf(arena, _("the repeats disagree: %s was %s, and %zu of these %zu fit: %s"),
                         result, range, inside, values->count, text)};
    return (struct finding){inside > 0 ? STUDY_REPRODUCED : STUDY_NOT_REPRODUCED,
                            arena_printf(arena, _("%s was %s; %s"), result, range, text)};
}

static double allowed(const struct plan_tolerance *tolerance, double around) {
    return tolerance->relative ? tolerance->value * fabs(around) : tolerance->value;
}

static bool is_within(double value, double around, double tolerance) {
    double rounding = ROUNDING * fmax(fabs(value), fabs(around));
    return fabs(value - around) <= tolerance + rounding;
}

static const char *shown_tolerance(const struct plan_tolerance *tolerance, const char *unit,
                                   struct arena *arena) {
    char percent[MSG_DECIMAL_SIZE];
    msg_decimal(percent, "%.6g", tolerance->value * 100.0);
    return tolerance->relative ? arena_printf(arena, "%s %%", percent)
                               : shown_value(tolerance->value, unit, arena);
}

static struct finding hold_against_paper(const struct plan_claim *claim,
                                         const struct values *values, struct arena *arena) {
    double paper = claim->paper_value.value;
    const char *unit = values->items[0].unit;
    size_t inside = 0;

    if (!claim->tolerance.given)
        return (struct finding){
            STUDY_OPEN,
            arena_printf(arena, _("%s was %s, the paper says %s; the claim gives no tolerance"),
                         evidence_shown(claim->result, arena), shown_range(values, arena),
                         shown_value(paper, unit, arena))};
    for (size_t i = 0; i < values->count; i++)
        inside += is_within(values->items[i].value, paper, allowed(&claim->tolerance, paper));
    return by_count(inside, values,
                    arena_printf(arena, _("the paper says %s, %s more or less is allowed"),
                                 shown_value(paper, unit, arena),
                                 shown_tolerance(&claim->tolerance, unit, arena)),
                    arena);
}

static bool is_beyond(double value, const struct plan_threshold *threshold) {
    switch (threshold->relation) {
    case PLAN_LESS:
        return value < threshold->value;
    case PLAN_AT_MOST:
        return value <= threshold->value;
    case PLAN_AT_LEAST:
        return value >= threshold->value;
    case PLAN_GREATER:
        return value > threshold->value;
    }
    return false;
}

static const char *threshold_text(enum plan_relation relation) {
    switch (relation) {
    case PLAN_LESS:
        return N_("less than %s was asked for");
    case PLAN_AT_MOST:
        return N_("at most %s was asked for");
    case PLAN_AT_LEAST:
        return N_("at least %s was asked for");
    case PLAN_GREATER:
        break;
    }
    return N_("more than %s was asked for");
}

static struct finding hold_against_threshold(const struct plan_claim *claim,
                                             const struct values *values, struct arena *arena) {
    const char *limit = shown_value(claim->threshold.value, values->items[0].unit, arena);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    size_t inside = 0;

    for (size_t i = 0; i < values->count; i++)
        inside += is_beyond(values->items[i].value, &claim->threshold);
    const char *format = _(threshold_text(claim->threshold.relation));
    const char *place = strstr(format, "%s");
    strbuf_add(&text, format, place ? (size_t)(place - format) : strlen(format));
    strbuf_add_str(&text, place ? limit : "");
    strbuf_add_str(&text, place ? place + 2 : "");
    return by_count(inside, values, arena_strdup(arena, strbuf_str(&text)), arena);
}

/* ---- orderings ---- */

/* All runs of the better side beyond all of the other; none of them beyond any is the opposite. */
static struct finding hold_two(const struct plan_claim *claim, const struct values *better,
                               const struct plan_pairs *better_where, const struct values *other,
                               const struct plan_pairs *other_where, struct arena *arena) {
    struct range a = range_of(better);
    struct range b = range_of(other);
    bool higher = claim->better == PLAN_HIGHER;

    if (strcmp(better->items[0].unit, other->items[0].unit) != 0)
        return (struct finding){STUDY_OPEN,
                                arena_printf(arena, _("'%s' cannot be compared with '%s'"),
                                             evidence_shown(better->items[0].unit, arena),
                                             evidence_shown(other->items[0].unit, arena))};
    bool is_so = higher ? a.least > b.most : a.most < b.least;
    bool is_opposite = higher ? a.most <= b.least : a.least >= b.most;
    const char *text =
        arena_printf(arena,
                     higher ? _("%s was %s with %s and %s with %s; higher is better")
                            : _("%s was %s with %s and %s with %s; lower is better"),
                     evidence_shown(claim->result, arena), shown_range(better, arena),
                     evidence_pairs_text(better_where, arena), shown_range(other, arena),
                     evidence_pairs_text(other_where, arena));
    if (!is_so && !is_opposite)
        return (struct finding){STUDY_OPEN,
                                arena_printf(arena, _("the repeats overlap: %s"), text)};
    return (struct finding){is_so ? STUDY_REPRODUCED : STUDY_NOT_REPRODUCED, text};
}

static struct finding hold_ordering(const struct plan_claim *claim, const struct values *groups,
                                    struct arena *arena) {
    struct finding all = {0};

    if (claim->better == PLAN_BETTER_UNSAID)
        return (struct finding){STUDY_OPEN,
                                _("the claim does not say whether higher or lower is better")};
    if (claim->ordering_count < 2)
        return (struct finding){STUDY_OPEN, _("an ordering needs two conditions and more")};
    for (size_t i = 0; i + 1 < claim->ordering_count; i++)
        if (groups[i].count > 0 && groups[i + 1].count > 0)
            all = both(all,
                       hold_two(claim, &groups[i], &claim->ordering[i], &groups[i + 1],
                                &claim->ordering[i + 1], arena),
                       arena);
    for (size_t i = 0; i < claim->ordering_count; i++)
        if (groups[i].count == 0)
            all = both(
                all,
                (struct finding){
                    STUDY_OPEN,
                    why_none(&groups[i], evidence_pairs_text(&claim->ordering[i], arena), arena)},
                arena);
    return all;
}

/* ---- claims ---- */

static bool names_claim(const struct plan_block *block, const struct plan_claim *claim) {
    for (size_t i = 0; claim->id && i < block->claims.count; i++)
        if (strcmp(block->claims.items[i].text, claim->id) == 0)
            return true;
    return false;
}

/* Where blocks say that they answer the claim, only their conditions are looked at. */
static struct values gather(const struct study *study, const struct plan_claim *claim,
                            const struct plan_pairs *where, struct arena *arena) {
    struct values values = no_values(study, claim->result, arena);
    bool is_named = false;

    for (size_t b = 0; b < study->block_count; b++)
        is_named = is_named || names_claim(study->blocks[b].block, claim);
    for (size_t b = 0; b < study->block_count; b++) {
        const struct study_block *block = &study->blocks[b];
        if (is_named && !names_claim(block->block, claim))
            continue;
        for (size_t i = 0; i < block->condition_count; i++)
            if (plan_condition_has(block->conditions[i].condition, where) &&
                plan_condition_has(block->conditions[i].condition, &claim->where))
                add_condition(&values, &block->conditions[i], false, arena);
    }
    return values;
}

static struct finding hold_claim(const struct plan_claim *claim, const struct values *groups,
                                 size_t count, struct arena *arena) {
    bool has_value = claim->paper_value.given || claim->threshold.given;
    struct finding found = {0};
    const char *skipped = NULL;

    if (!claim->result)
        return (struct finding){STUDY_OPEN,
                                _("the claim does not name the result that decides it")};
    if (!has_value && claim->ordering_count == 0)
        return (struct finding){
            STUDY_OPEN, _("the claim has no value, threshold or ordering to hold it against")};
    const struct values *all = &groups[claim->ordering_count]; /* the whole of `where` */
    if (has_value && all->count == 0)
        found = (struct finding){STUDY_OPEN,
                                 why_none(all, evidence_pairs_text(&claim->where, arena), arena)};
    if (claim->paper_value.given && all->count > 0)
        found = both(found, hold_against_paper(claim, all, arena), arena);
    if (claim->threshold.given && all->count > 0)
        found = both(found, hold_against_threshold(claim, all, arena), arena);
    if (claim->ordering_count > 0)
        found = both(found, hold_ordering(claim, groups, arena), arena);
    for (size_t i = 0; i < count && !skipped; i++)
        skipped = groups[i].count > 0 ? groups[i].skipped : NULL;
    found.why = evidence_joined(found.why, skipped, arena);
    found.why = evidence_joined(found.why, why_methods_differ(groups, count, arena), arena);
    return found;
}

static void derive_claim(const struct study *study, const struct plan_claim *claim,
                         struct study_claim *ret, struct arena *arena) {
    bool has_value = claim->paper_value.given || claim->threshold.given;
    size_t count = claim->ordering_count + (has_value || claim->ordering_count == 0);
    struct values *groups = arena_alloc(arena, (claim->ordering_count + 1) * sizeof *groups);

    *ret = (struct study_claim){.claim = claim, .observed_count = claim->result ? count : 0};
    ret->observed = arena_alloc(arena, (count + 1) * sizeof *ret->observed);
    for (size_t i = 0; claim->result && i < count; i++) {
        const struct plan_pairs *where =
            i < claim->ordering_count ? &claim->ordering[i] : &claim->where;
        groups[i] = gather(study, claim, where, arena);
        struct range range = range_of(&groups[i]);
        ret->observed[i] = (struct study_observed){
            .where = where,
            .value = median_of(
                &groups[i], why_none(&groups[i], evidence_pairs_text(where, arena), arena), arena),
            .least = range.least,
            .most = range.most,
        };
    }
    struct finding found = hold_claim(claim, groups, ret->observed_count, arena);
    ret->verdict = found.verdict;
    ret->why = found.why;
}

/* ---- verify blocks ---- */

static bool has_axes_of(const struct plan_condition *condition,
                        const struct plan_condition *other) {
    const struct plan_pairs pairs = {.items = other->axes, .count = other->axis_count};
    return plan_condition_has(condition, &pairs);
}

/* The condition of the repeated block that this one repeats: the same one, else the one that
 * differs in nothing that varies. */
static const struct study_condition *repeated_condition(const struct study_block *of,
                                                        const struct plan_condition *condition) {
    for (size_t i = 0; of && i < of->condition_count; i++)
        if (strcmp(of->conditions[i].condition->id, condition->id) == 0)
            return &of->conditions[i];
    for (size_t i = 0; of && i < of->condition_count; i++)
        if (has_axes_of(of->conditions[i].condition, condition) &&
            has_axes_of(condition, of->conditions[i].condition))
            return &of->conditions[i];
    return NULL;
}

static struct finding hold_repeat(const struct plan_block *block, const struct values groups[2],
                                  struct arena *arena) {
    const struct values *first = &groups[0];
    const struct values *repeat = &groups[1];
    double middle = range_of(first).median;
    size_t inside = 0;

    if (first->count == 0 || repeat->count == 0)
        return (struct finding){
            STUDY_OPEN,
            why_none(first->count == 0 ? first : repeat,
                     evidence_shown((first->count == 0 ? first : repeat)->condition->label, arena),
                     arena)};
    const char *unit = first->items[0].unit;
    if (strcmp(unit, repeat->items[0].unit) != 0)
        return (struct finding){STUDY_OPEN,
                                arena_printf(arena, _("'%s' cannot be compared with '%s'"),
                                             evidence_shown(repeat->items[0].unit, arena),
                                             evidence_shown(unit, arena))};
    if (!block->verify_tolerance.given)
        return (struct finding){
            STUDY_OPEN,
            arena_printf(arena, _("%s was %s, and %s when it was repeated; no tolerance is given"),
                         evidence_shown(first->result, arena), shown_range(first, arena),
                         shown_range(repeat, arena))};
    for (size_t i = 0; i < repeat->count; i++)
        inside +=
            is_within(repeat->items[i].value, middle, allowed(&block->verify_tolerance, middle));
    return by_count(inside, repeat,
                    arena_printf(arena,
                                 _("before, the median was %s (%s), %s more or less is allowed"),
                                 shown_value(middle, unit, arena), shown_range(first, arena),
                                 shown_tolerance(&block->verify_tolerance, unit, arena)),
                    arena);
}

static void derive_repeat(const struct study *study, const struct study_block *of,
                          const struct plan_block *block, const struct study_condition *condition,
                          struct study_repeat_check *ret, struct arena *arena) {
    const struct study_condition *repeated = repeated_condition(of, condition->condition);
    const char *result = block->verify_result;
    struct finding found = {0};

    *ret = (struct study_repeat_check){
        .block = block, .condition = repeated ? repeated->condition : condition->condition};
    if (!result || !of || !repeated) {
        found.why = !of         ? arena_printf(arena, _("the plan has no block '%s'"),
                                               evidence_shown(block->verify_of, arena))
                    : !repeated ? arena_printf(arena, _("block '%s' has no condition %s"),
                                               evidence_shown(block->verify_of, arena),
                                               evidence_shown(condition->condition->label, arena))
                                : _("'verify' does not name the result that is compared");
        ret->first = ret->repeat = quantity_open(NULL, QUANTITY_NO_EVIDENCE, found.why);
    } else {
        struct values groups[2] = {no_values(study, result, arena),
                                   no_values(study, result, arena)};
        add_condition(&groups[0], repeated, true, arena);
        add_condition(&groups[1], condition, true, arena);
        found = hold_repeat(block, groups, arena);
        const char *skipped = groups[0].skipped ? groups[0].skipped : groups[1].skipped;
        if (groups[0].count > 0 && groups[1].count > 0)
            found.why = evidence_joined(found.why, skipped, arena);
        found.why = evidence_joined(found.why, why_methods_differ(groups, 2, arena), arena);
        ret->first = median_of(&groups[0], found.why, arena);
        ret->repeat = median_of(&groups[1], found.why, arena);
    }
    ret->verdict = found.verdict;
    ret->why = found.why;
}

static void derive_repeats(struct study *study, struct arena *arena) {
    size_t count = 0;

    for (size_t b = 0; b < study->block_count; b++)
        if (study->blocks[b].block->verify_of)
            count += study->blocks[b].condition_count;
    study->repeat_checks = arena_alloc(arena, (count + 1) * sizeof *study->repeat_checks);
    for (size_t b = 0; b < study->block_count; b++) {
        const struct study_block *block = &study->blocks[b];
        const struct study_block *of = NULL;
        for (size_t i = 0; block->block->verify_of && i < study->block_count; i++)
            if (strcmp(study->blocks[i].block->id, block->block->verify_of) == 0)
                of = &study->blocks[i];
        for (size_t i = 0; block->block->verify_of && i < block->condition_count; i++)
            derive_repeat(study, of, block->block, &block->conditions[i],
                          &study->repeat_checks[study->repeat_check_count++], arena);
    }
}

void claims_derive(struct study *study, struct arena *arena) {
    const struct plan *plan = study->input->plan;

    study->claims = arena_alloc(arena, (plan->claim_count + 1) * sizeof *study->claims);
    study->claim_count = plan->claim_count;
    for (size_t i = 0; i < plan->claim_count; i++)
        derive_claim(study, &plan->claims[i], &study->claims[i], arena);
    derive_repeats(study, arena);
}
