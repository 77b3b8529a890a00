/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of a block's review: each component, the phases of its runs, memory; planned beside
 * actual, with the difference and whether the planned interval held. Names no cause.
 */
#include "rules/review-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "rules/estimate-parts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define METHOD_PLANNED_PART "kept estimate, for as many runs as were made"
#define WORTH_SHARE         0.1 /* of what was planned, where no interval says more */
#define WORTH_SECONDS       1.0

static const char *const component_labels[COMPONENT_COUNT_] = {
    N_("preparation"), N_("data"),     N_("transfer"), N_("runs"), N_("retries"),
    N_("fixing"),      N_("checking"), N_("clean-up"), N_("idle"),
};

static struct review_line *line_add(struct review_work *work, const char *name, const char *label) {
    struct review_block *ret = work->ret;
    if (ret->line_count == work->line_room) {
        size_t room = work->line_room ? 2 * work->line_room : 24;
        struct review_line *lines = arena_alloc(work->arena, room * sizeof *lines);
        if (ret->line_count > 0)
            memcpy(lines, ret->lines, ret->line_count * sizeof *lines);
        ret->lines = lines;
        work->line_room = room;
    }
    struct review_line *line = &ret->lines[ret->line_count++];
    *line = (struct review_line){.name = name, .label = label};
    return line;
}

struct review_line *review_line_find(const struct review_block *block, const char *name) {
    for (size_t i = 0; i < block->line_count; i++)
        if (strcmp(block->lines[i].name, name) == 0)
            return &block->lines[i];
    return NULL;
}

/* ---- the difference ---- */

static const char *why_no_difference(const struct quantity *planned,
                                     const struct quantity *actual) {
    if (!quantity_is_known(planned))
        return _("what was planned is open");
    return quantity_is_known(actual) ? _("neither a bound of it is known")
                                     : _("what happened is open");
}

/* A lower bound of what was planned is an upper one of the difference, and the other way round. */
struct quantity review_difference(const struct quantity *planned, const struct quantity *actual) {
    static const enum quantity_bound opposite[QUANTITY_BOUND_COUNT_] = {
        [QUANTITY_EXACT] = QUANTITY_EXACT,
        [QUANTITY_AT_LEAST] = QUANTITY_AT_MOST,
        [QUANTITY_AT_MOST] = QUANTITY_AT_LEAST,
    };
    const char *unit = planned->unit ? planned->unit : actual->unit;
    if (!quantity_is_known(planned) || !quantity_is_known(actual))
        return quantity_open(unit, quantity_is_known(planned) ? actual->reason : planned->reason,
                             why_no_difference(planned, actual));
    enum quantity_bound minus = opposite[planned->bound];
    if (actual->bound != QUANTITY_EXACT && minus != QUANTITY_EXACT && actual->bound != minus)
        return quantity_open(unit, QUANTITY_NOT_SEPARATED, why_no_difference(planned, actual));
    return (struct quantity){
        .state = planned->state < actual->state ? planned->state : actual->state,
        .bound = actual->bound != QUANTITY_EXACT ? actual->bound : minus,
        .value = actual->value - planned->value,
        .unit = unit,
        .method = "actual - planned",
    };
}

bool review_is_worth(const struct review_line *line) {
    const struct quantity *planned = &line->planned;
    const struct quantity *difference = &line->difference;
    if (!quantity_is_known(difference) || line->hit == REVIEW_HIT)
        return false;
    if (line->hit == REVIEW_MISS)
        return true;
    double size = fabs(difference->value);
    bool is_time = planned->unit && strcmp(planned->unit, UNIT_SECOND) == 0;
    /* what the bound allows is no deviation */
    if ((difference->bound == QUANTITY_AT_MOST && difference->value > 0.0) ||
        (difference->bound == QUANTITY_AT_LEAST && difference->value < 0.0))
        return false;
    return size > WORTH_SHARE * fabs(planned->value) && (!is_time || size >= WORTH_SECONDS);
}

/* Of a block that is not finished only what cannot come back into the interval is known. */
static enum review_hit hit_of(const struct review_work *work, const struct review_line *line) {
    const struct quantity *planned = &line->planned;
    const struct quantity *actual = &line->actual;
    if (!quantity_is_known(planned) || !quantity_is_known(actual))
        return REVIEW_CANNOT_TELL;
    if (!planned->has_interval)
        return REVIEW_NO_INTERVAL;
    bool is_above = actual->value > planned->p95 && actual->bound != QUANTITY_AT_MOST;
    bool is_below = actual->value < planned->p05 && actual->bound != QUANTITY_AT_LEAST;
    if (is_above && planned->bound == QUANTITY_EXACT)
        return REVIEW_MISS;
    if (!work->ret->finished || planned->bound != QUANTITY_EXACT)
        return REVIEW_CANNOT_TELL;
    if (is_below)
        return REVIEW_MISS;
    return actual->bound == QUANTITY_EXACT ? REVIEW_HIT : REVIEW_CANNOT_TELL;
}

static void line_finish(const struct review_work *work, struct review_line *line) {
    line->difference = review_difference(&line->planned, &line->actual);
    line->hit = hit_of(work, line);
}

/* ---- what was planned, for what was made ---- */

static const struct review_pair *pair_of(const struct review_work *work, const char *name) {
    for (size_t i = 0; i < work->pair_count; i++) {
        const char *label = work->pairs[i].condition->condition->label;
        if (label && strcmp(label, name) == 0)
            return &work->pairs[i];
    }
    return NULL;
}

static struct quantity scaled(const struct quantity *q, double factor) {
    struct quantity part = *q;
    part.value *= factor;
    part.has_interval = false;
    part.parts = NULL;
    part.part_count = 0;
    return part;
}

/* A step is made as often as it is made; what goes with runs is taken for those that were made. */
static struct quantity item_part(const struct review_work *work, enum component k,
                                 const struct kept_item *item) {
    const struct review_pair *pair = pair_of(work, item->name);
    if (!pair && k == COMPONENT_IDLE && work->planned > 0)
        return scaled(&item->time, (double)work->made / (double)work->planned);
    if (!pair)
        return item->time;
    if (k != COMPONENT_RETRIES)
        return scaled(&item->unit, (double)pair->since_count);
    if (pair->planned == 0)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, NULL);
    return scaled(&item->time, (double)pair->since_count / (double)pair->planned);
}

static struct quantity idle_without_runs(const struct review_work *work,
                                         const struct kept_component *kept) {
    AUTO_STRBUF struct strbuf all = STRBUF_INIT;
    quantity_format(&kept->time, (struct quantity_style){.mark = true}, &all);
    return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE,
                         arena_printf(work->arena,
                                      _("no run that counts was made since; for all %llu: %s"),
                                      (unsigned long long)work->planned, strbuf_str(&all)));
}

static struct quantity planned_time(const struct review_work *work, enum component k) {
    const struct kept_component *kept = &work->kept.components[k];
    if (work->is_whole || kept->item_count == 0)
        return kept->time;
    if (k == COMPONENT_IDLE && work->made == 0) /* a share for no runs is no 0 s that was planned */
        return idle_without_runs(work, kept);
    struct quantity_part *parts = arena_alloc(work->arena, kept->item_count * sizeof *parts);
    size_t count = 0;
    for (size_t i = 0; i < kept->item_count; i++) {
        const struct review_pair *pair = pair_of(work, kept->items[i].name);
        if (pair && pair->since_count == 0)
            continue; /* nothing of it was made */
        parts[count++] =
            (struct quantity_part){kept->items[i].name, item_part(work, k, &kept->items[i])};
    }
    if (count == 0)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE,
                             _("no run of what was planned was made since"));
    struct quantity sum = quantity_sum(work->arena, UNIT_SECOND, parts, count);
    sum.parts = NULL;
    sum.part_count = 0;
    sum.detail = arena_printf(work->arena, _("of %llu planned runs, for the %llu that were made"),
                              (unsigned long long)work->planned, (unsigned long long)work->made);
    if (quantity_is_known(&sum))
        sum.method = METHOD_PLANNED_PART;
    return sum;
}

/* ---- phases beside ---- */

static const struct {
    enum phase phase;
    const char *name, *label;
} phases[] = {
    {PHASE_LOAD, "runs/load", N_("loading")},
    {PHASE_PREPROCESS, "runs/preprocess", N_("preprocessing")},
    {PHASE_COMPUTE, "runs/compute", N_("computing")},
    {PHASE_WRITE, "runs/write", N_("writing")},
    {PHASE_UNATTRIBUTED, "runs/unattributed", N_("no phase known")},
};

static void add_phases(struct review_work *work) {
    for (size_t i = 0; i < ARRAY_LENGTH(phases); i++) {
        struct quantity planned, actual;
        review_both(work, review_metric_phase, (int)phases[i].phase, UNIT_SECOND, &planned,
                    &actual);
        if (!quantity_is_known(&planned) && !quantity_is_known(&actual))
            continue;
        if (phases[i].phase == PHASE_UNATTRIBUTED && planned.value + actual.value < WORTH_SECONDS)
            continue; /* the rest of what was told apart */
        struct review_line *line = line_add(work, phases[i].name, msg_get(phases[i].label));
        line->planned = planned;
        line->actual = actual;
        line_finish(work, line);
    }
}

/* ---- retries, counted ---- */

static void add_retry_count(struct review_work *work) {
    const struct kept_component *kept = &work->kept.components[COMPONENT_RETRIES];
    struct quantity_part *parts = arena_alloc(work->arena, (kept->item_count + 1) * sizeof *parts);
    struct review_line *line = line_add(work, "retries/count", _("failures"));
    size_t failures = 0, stopped = 0;
    for (size_t i = 0; i < kept->item_count; i++)
        parts[i] = (struct quantity_part){kept->items[i].name, kept->items[i].count};
    line->planned = quantity_sum(work->arena, UNIT_COUNT, parts, kept->item_count);
    if (kept->item_count == 0)
        line->planned =
            quantity_open(UNIT_COUNT, QUANTITY_NO_EVIDENCE, _("no failure was expected or seen"));
    line->planned.parts = NULL;
    line->planned.part_count = 0;
    for (size_t i = 0; i < work->attempt_count; i++)
        if (outcome_is_stopped(work->attempts[i]->run->outcome))
            stopped++;
        else
            failures += work->attempts[i]->run->outcome != OUTCOME_OK;
    line->actual = quantity_measured(UNIT_COUNT, (double)failures, "attempts since that failed");
    line->actual.n = work->attempt_count;
    if (stopped > 0)
        line->actual.detail =
            arena_printf(work->arena,
                         msg_plural((unsigned long)stopped,
                                    "%zu more attempt was stopped by the user or the budget; its "
                                    "time counts",
                                    "%zu more attempts were stopped by the user or the budget; "
                                    "their time counts"),
                         stopped);
    if (work->attempt_count == 0)
        line->actual =
            quantity_open(UNIT_COUNT, QUANTITY_NO_EVIDENCE, _("no attempt was made since"));
    line_finish(work, line);
}

/* ---- memory ---- */

static void take_larger(struct quantity *largest, const struct quantity *q, const struct run *run,
                        struct arena *arena) {
    if (q->state != QUANTITY_MEASURED || q->bound == QUANTITY_AT_MOST || !isfinite(q->value))
        return;
    uint64_t n = largest->n + 1;
    if (!quantity_is_known(largest) || q->value > largest->value) {
        const char **source = arena_alloc(arena, sizeof *source);
        *source = run->id ? run->id : "";
        *largest = *q;
        largest->bound = QUANTITY_AT_LEAST;
        largest->sources = source;
        largest->source_count = 1;
        largest->detail = NULL;
    }
    largest->n = n;
}

static void gpu_peak(const struct run *run, const char *name, struct quantity *largest,
                     struct arena *arena) {
    for (size_t i = 0; i < ESTIMATE_GPU_QUANTITIES; i++) {
        const char *known = estimate_gpu_quantity_name(i);
        if (strcmp(name, known) != 0 && strcmp(name, msg_get(known)) != 0)
            continue;
        for (size_t g = 0; g < run->gpu_count; g++) {
            const struct run_gpu *gpu = &run->gpus[g];
            if (run_gpu_counts(run, gpu) && gpu->preallocated != RUN_YES)
                take_larger(largest, estimate_gpu_quantity(gpu, i), run, arena);
        }
    }
}

static bool is_same_method(const struct quantity *a, const struct quantity *b) {
    return a->method && b->method && strcmp(a->method, b->method) == 0;
}

static void finish_memory(const struct review_work *work, struct review_line *line) {
    line_finish(work, line);
    line->hit = quantity_is_known(&line->difference) ? REVIEW_NO_INTERVAL : REVIEW_CANNOT_TELL;
    if (!quantity_is_known(&line->planned) || !quantity_is_known(&line->actual))
        return;
    if (!is_same_method(&line->planned, &line->actual)) { /* B11 */
        line->difference = quantity_open(
            UNIT_BYTE, QUANTITY_NOT_APPLICABLE,
            arena_printf(work->arena, _("not compared: planned by '%s', measured by '%s'"),
                         line->planned.method ? line->planned.method : _("not said"),
                         line->actual.method ? line->actual.method : _("not said")));
        line->hit = REVIEW_CANNOT_TELL;
        return;
    }
    /* both are peaks that were seen, and seen in the same way: they are compared as they are */
    line->difference.state = QUANTITY_MEASURED;
    line->difference.bound = QUANTITY_EXACT;
    line->difference.reason = QUANTITY_NO_REASON;
    line->difference.value = line->actual.value - line->planned.value;
    line->difference.detail = NULL;
    line->difference.method = "difference of the peaks seen";
    line->hit = REVIEW_NO_INTERVAL;
}

static void add_memory(struct review_work *work, const char *name, const struct kept_memory *kept,
                       bool is_gpu) {
    struct quantity largest =
        quantity_open(UNIT_BYTE, QUANTITY_NO_EVIDENCE, _("no run since tells the same quantity"));
    for (size_t i = 0; i < work->pair_count; i++)
        for (size_t r = 0; r < work->pairs[i].since_count; r++) {
            const struct run *run = work->pairs[i].since[r]->run;
            if (is_gpu)
                gpu_peak(run, kept->name, &largest, work->arena);
            else
                take_larger(&largest, &run->largest_process_rss, run, work->arena);
        }
    if (!quantity_is_known(&kept->need) && !quantity_is_known(&largest))
        return;
    struct review_line *line = line_add(work, name, is_gpu ? _("GPU memory") : _("host memory"));
    line->quantity = kept->name;
    line->planned = kept->need;
    line->actual = largest;
    finish_memory(work, line);
}

/* ---- all of them ---- */

/* Everything that was recorded of the machine's time, against the estimate's own sum. */
static void add_reserved(struct review_work *work, const struct quantity *actual,
                         const struct quantity *uncounted) {
    struct quantity_part *parts = arena_alloc(work->arena, (COMPONENT_COUNT_ + 1) * sizeof *parts);
    size_t count = 0;
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        if (quantity_is_known(&actual[k]))
            parts[count++] = (struct quantity_part){component_name(k), actual[k]};
    if (uncounted->value > 0.0)
        parts[count++] = (struct quantity_part){"uncounted", *uncounted};
    struct review_line *line = line_add(work, "reserved", _("in all"));
    line->actual = quantity_sum(work->arena, UNIT_SECOND, parts, count);
    line->actual.parts = NULL;
    line->actual.part_count = 0;
    if (count == 0)
        line->actual =
            quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, _("nothing was recorded since"));
    line->planned = work->kept.reserved;
    if (!work->is_whole)
        line->planned =
            quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE,
                          _("the sum was made for all planned runs; others were made, or fewer"));
    line_finish(work, line);
}

static void add_component(struct review_work *work, enum component k,
                          const struct quantity *actual) {
    struct quantity planned = planned_time(work, k);
    bool is_kept = k == COMPONENT_IDLE && quantity_is_known(&work->kept.components[k].time);
    if (!quantity_is_known(&planned) && !quantity_is_known(actual) && k != COMPONENT_RUNS &&
        !is_kept)
        return;
    struct review_line *line = line_add(work, component_name(k), msg_get(component_labels[k]));
    line->planned = planned;
    line->actual = *actual;
    line_finish(work, line);
}

void review_lines(struct review_work *work) {
    struct quantity actual[COMPONENT_COUNT_];
    struct quantity uncounted = review_uncounted(work);
    review_actual(work->study, work->block, work->since_utc_ns, work->arena, actual);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        add_component(work, k, &actual[k]);
        if (k == COMPONENT_RUNS)
            add_phases(work);
        if (k == COMPONENT_RETRIES)
            add_retry_count(work);
    }
    if (uncounted.value > 0.0) {
        struct review_line *line = line_add(work, "uncounted", _("runs that do not count"));
        line->planned = quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE, _("nobody plans them"));
        line->actual = uncounted;
        line_finish(work, line);
    }
    add_reserved(work, actual, &uncounted);
    add_memory(work, "memory/host", &work->kept.host, false);
    add_memory(work, "memory/gpu", &work->kept.gpu, true);
}
