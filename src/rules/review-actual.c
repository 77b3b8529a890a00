/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a block has really taken since an estimate was kept: its runs, the steps made for it, failed
 * attempts, idle time of sessions; each second in one component, as the estimate counts it. What
 * nothing recorded is open. Names no cause.
 */
#include "rules/review-parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "base/uuid.h"
#include "rules/estimate-parts.h"

#include <math.h>
#include <string.h>

/* ---- which runs ---- */

static bool names_step(const struct plan_block *block, const char *step) {
    for (size_t i = 0; i < block->steps.count; i++)
        if (strcmp(block->steps.items[i].text, step) == 0)
            return true;
    return false;
}

/* The block whose run comes next after the step, else the one that came last before it, else the
 * first that names it. Runs stand newest first. */
static const struct plan_block *block_of_step(const struct study *study, size_t index) {
    const char *step = study->runs[index].step->name;
    const struct plan *plan = study->input->plan;
    for (size_t i = index; i-- > 0;)
        if (study->runs[i].block && names_step(study->runs[i].block, step))
            return study->runs[i].block;
    for (size_t i = index + 1; i < study->run_count; i++)
        if (study->runs[i].block && names_step(study->runs[i].block, step))
            return study->runs[i].block;
    for (size_t i = 0; i < plan->block_count; i++)
        if (names_step(&plan->blocks[i], step))
            return &plan->blocks[i];
    return NULL;
}

const struct plan_block *review_block_of(const struct study *study, size_t index) {
    const struct study_run *seen = &study->runs[index];
    if (seen->block)
        return seen->block;
    return seen->step ? block_of_step(study, index) : NULL;
}

bool review_is_since(const struct study *study, const struct study_run *seen,
                     int64_t since_utc_ns) {
    return seen->run->started_utc_ns >= since_utc_ns &&
           seen->environment == study->input->environment && !seen->run->running;
}

bool review_is_lost(const struct study_run *seen) {
    return seen->run->outcome != OUTCOME_OK || seen->run->validity == RUN_INVALID;
}

static bool counts(const struct study_run *seen) {
    return seen->evidence.level == EVIDENCE_MEASURED;
}

bool review_is_uncounted(const struct study_run *seen) {
    return !counts(seen) && !review_is_lost(seen) && !seen->step;
}

/* ---- pairs ---- */

static const struct kept_item *find_item(const struct kept_component *component, const char *name) {
    for (size_t i = 0; i < component->item_count; i++)
        if (strcmp(component->items[i].name, name) == 0)
            return &component->items[i];
    return NULL;
}

static const struct run *find_run(const struct study *study, const char *id) {
    for (size_t i = 0; i < study->run_count; i++)
        if (study->runs[i].run->id && strcmp(study->runs[i].run->id, id) == 0)
            return study->runs[i].run;
    return NULL;
}

/* Sources are ids of runs and lines of the plan. */
static void find_sources(const struct review_work *work, struct review_pair *pair) {
    pair->sources = arena_alloc(work->arena, (pair->unit.source_count + 1) * sizeof *pair->sources);
    for (size_t i = 0; i < pair->unit.source_count; i++) {
        if (!uuid_is_valid(pair->unit.sources[i]))
            continue;
        const struct run *run = find_run(work->study, pair->unit.sources[i]);
        if (run)
            pair->sources[pair->source_count++] = run;
        else
            pair->sources_missing = true;
    }
}

static void find_since(const struct review_work *work, struct review_pair *pair) {
    const struct study_condition *c = pair->condition;
    pair->since = arena_alloc(work->arena, (c->run_count + 1) * sizeof *pair->since);
    for (size_t i = 0; i < c->run_count; i++)
        if (!c->runs[i]->is_elsewhere && counts(c->runs[i]) &&
            review_is_since(work->study, c->runs[i], work->since_utc_ns))
            pair->since[pair->since_count++] = c->runs[i];
}

static void find_attempts(struct review_work *work) {
    const struct study *study = work->study;
    work->attempts = arena_alloc(work->arena, (study->run_count + 1) * sizeof *work->attempts);
    for (size_t i = 0; i < study->run_count; i++)
        if (review_is_since(study, &study->runs[i], work->since_utc_ns) &&
            review_block_of(study, i) == work->block->block)
            work->attempts[work->attempt_count++] = &study->runs[i];
}

void review_find_pairs(struct review_work *work) {
    const struct study_block *block = work->block;
    work->pairs = arena_alloc(work->arena, (block->condition_count + 1) * sizeof *work->pairs);
    work->is_whole = work->kept.has_remaining;
    for (size_t i = 0; i < block->condition_count; i++) {
        struct review_pair *pair = &work->pairs[work->pair_count++];
        const char *label = block->conditions[i].condition->label;
        const struct kept_item *item =
            find_item(&work->kept.components[COMPONENT_RUNS], label ? label : "");
        *pair = (struct review_pair){
            .condition = &block->conditions[i],
            .unit = quantity_open(UNIT_SECOND, QUANTITY_NOT_IN_RECORD,
                                  _("the kept estimate does not have this condition"))};
        if (item) {
            pair->unit = item->unit;
            pair->has_planned = quantity_is_known(&item->count) && item->count.value >= 0.0;
            pair->planned = pair->has_planned ? (uint64_t)llround(item->count.value) : 0;
        }
        find_sources(work, pair);
        find_since(work, pair);
        work->made += pair->since_count;
        work->planned += pair->planned;
        work->is_whole &= pair->has_planned && pair->planned == pair->since_count;
    }
    find_attempts(work);
}

/* ---- components ---- */

struct sums {
    struct quantity_part *parts[COMPONENT_COUNT_];
    size_t count[COMPONENT_COUNT_];
    size_t attempts;
    size_t room;
};

static void add(struct sums *sums, enum component k, const struct run *run,
                const struct quantity *q, struct arena *arena) {
    if (!sums->parts[k])
        sums->parts[k] = arena_alloc(arena, sums->room * sizeof *sums->parts[k]);
    struct quantity_part *part = &sums->parts[k][sums->count[k]++];
    const char **source = arena_alloc(arena, sizeof *source);
    *source = run->id ? run->id : "";
    *part = (struct quantity_part){*source, *q};
    part->quantity.detail = NULL;
    part->quantity.sources = source;
    part->quantity.source_count = 1;
}

/* The rest of a run whose phases are told apart belongs to the runs. */
static void add_counting(struct sums *sums, const struct run *run, struct arena *arena) {
    if (!estimate_is_separated(run)) {
        add(sums, COMPONENT_RUNS, run, &run->wall, arena);
        return;
    }
    for (enum phase phase = PHASE_SETUP; phase < PHASE_COUNT_; phase++)
        if (quantity_is_known(&run->phase[phase]) && run->phase[phase].value > 0.0)
            add(sums, estimate_component_of(phase), run, &run->phase[phase], arena);
}

static void add_run(struct sums *sums, const struct study_run *seen, struct arena *arena) {
    if (review_is_lost(seen))
        add(sums, COMPONENT_RETRIES, seen->run, &seen->run->wall, arena);
    else if (seen->step)
        add(sums, seen->step->component, seen->run, &seen->run->wall, arena);
    else if (counts(seen))
        add_counting(sums, seen->run, arena);
    sums->attempts += !seen->step;
}

/* Without its parts, of which there may be many: their sources stand in it. */
static struct quantity sum_of(const struct sums *sums, enum component k, struct arena *arena) {
    if (sums->count[k] == 0 && k == COMPONENT_RETRIES && sums->attempts > 0) {
        struct quantity none = quantity_measured(UNIT_SECOND, 0.0, "attempts since: none failed");
        none.n = sums->attempts;
        return none;
    }
    if (sums->count[k] == 0)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, _("nothing of it was recorded"));
    struct quantity sum = quantity_sum(arena, UNIT_SECOND, sums->parts[k], sums->count[k]);
    sum.parts = NULL;
    sum.part_count = 0;
    sum.n = sums->count[k];
    sum.method = "sum over the records since";
    return sum;
}

/* ---- idle ---- */

static bool is_of_target(const struct study *study, const struct session *session) {
    const struct plan_environment *target = study->input->environment;
    if (session->superseded_by)
        return false;
    if (!target)
        return !session->environment;
    if (!session->environment)
        return study->input->plan->environment_count == 1;
    return strcmp(session->environment, target->id) == 0;
}

static const struct plan_block *block_of_id(const struct study *study, const char *id) {
    for (size_t i = 0; id && i < study->run_count; i++)
        if (study->runs[i].run->id && strcmp(study->runs[i].run->id, id) == 0)
            return review_block_of(study, i);
    return NULL;
}

/* A note splits a gap: its pieces touch, and belong together. */
static bool touch(const struct session_gap *gap, const struct session_gap *next) {
    return !gap->before_run && !next->after_run && gap->end_s >= next->start_s;
}

const char *review_gap_before(const struct session *session, size_t gap) {
    while (gap + 1 < session->gap_count && touch(&session->gaps[gap], &session->gaps[gap + 1]))
        gap++;
    return session->gaps[gap].before_run;
}

static const char *gap_after(const struct session *session, size_t gap) {
    while (gap > 0 && touch(&session->gaps[gap - 1], &session->gaps[gap]))
        gap--;
    return session->gaps[gap].after_run;
}

/* What the gap was waited for: the run that came next, else the one before it. */
static const struct plan_block *block_of_gap(const struct study *study,
                                             const struct session *session, size_t gap) {
    const char *before = review_gap_before(session, gap);
    return block_of_id(study, before ? before : gap_after(session, gap));
}

/* Seconds of the gap since then; 0: none. */
static double gap_since(const struct session_gap *gap, int64_t since_utc_ns) {
    if (!quantity_is_known(&gap->length) || gap->end_utc_ns <= since_utc_ns)
        return 0.0;
    double before = gap->start_utc_ns < since_utc_ns
                        ? (double)(since_utc_ns - gap->start_utc_ns) / (double)NS_PER_S
                        : 0.0;
    return fmax(gap->length.value - before, 0.0);
}

static bool ended_before(const struct session *session, int64_t since_utc_ns) {
    return session->ended_utc_ns != 0 && session->ended_utc_ns <= since_utc_ns;
}

/* Sums the block's gaps; by_reason may be NULL. */
static struct quantity idle_of(const struct study *study, const struct plan_block *block,
                               int64_t since_utc_ns, double *by_reason, struct arena *arena) {
    const struct study_input *input = study->input;
    const char **sources = arena_alloc(arena, (input->session_count + 1) * sizeof *sources);
    struct quantity sum = quantity_measured(UNIT_SECOND, 0.0, "gaps of the sessions since");
    size_t used = 0;

    for (size_t i = 0; i < input->session_count; i++) {
        const struct session *session = &input->sessions[i];
        bool is_used = false;
        if (!is_of_target(study, session) || ended_before(session, since_utc_ns))
            continue;
        for (size_t g = 0; g < session->gap_count; g++) {
            const struct session_gap *gap = &session->gaps[g];
            if (block_of_gap(study, session, g) != block)
                continue;
            double seconds = gap_since(gap, since_utc_ns);
            sum.value += seconds;
            is_used = true;
            if (gap->running || gap->length.bound != QUANTITY_EXACT)
                sum.bound = QUANTITY_AT_LEAST;
            if (by_reason)
                by_reason[gap->reason] += seconds;
        }
        if (is_used)
            sources[used++] = session->id;
    }
    sum.sources = sources;
    sum.source_count = used;
    sum.n = used;
    return used > 0 ? sum
                    : quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE,
                                    _("no session with runs of it was recorded since"));
}

void review_idle_reasons(const struct review_work *work,
                         double ret_seconds[SESSION_REASON_COUNT_]) {
    for (int i = 0; i < SESSION_REASON_COUNT_; i++)
        ret_seconds[i] = 0.0;
    (void)idle_of(work->study, work->block->block, work->since_utc_ns, ret_seconds, work->arena);
}

void review_actual(const struct study *study, const struct study_block *block, int64_t since_utc_ns,
                   struct arena *arena, struct quantity ret_components[COMPONENT_COUNT_]) {
    struct sums sums = {.room = study->run_count * PHASE_COUNT_ + 1};
    for (size_t i = 0; i < study->run_count; i++)
        if (review_is_since(study, &study->runs[i], since_utc_ns) &&
            review_block_of(study, i) == block->block)
            add_run(&sums, &study->runs[i], arena);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        ret_components[k] = k == COMPONENT_IDLE
                                ? idle_of(study, block->block, since_utc_ns, NULL, arena)
                                : sum_of(&sums, k, arena);
}

struct quantity review_uncounted(const struct review_work *work) {
    struct quantity_part *parts =
        arena_alloc(work->arena, (work->attempt_count + 1) * sizeof *parts);
    size_t count = 0;
    for (size_t i = 0; i < work->attempt_count; i++)
        if (review_is_uncounted(work->attempts[i]))
            parts[count++] =
                (struct quantity_part){work->attempts[i]->run->id ? work->attempts[i]->run->id : "",
                                       work->attempts[i]->run->wall};
    struct quantity sum = quantity_sum(work->arena, UNIT_SECOND, parts, count);
    if (count == 0)
        sum = quantity_measured(UNIT_SECOND, 0.0, "attempts since: each counts or failed");
    sum.parts = NULL;
    sum.part_count = 0;
    sum.n = count;
    return sum;
}

/* ---- one figure on both sides ---- */

struct quantity review_metric_phase(const struct run *run, int which) {
    return run->phase[which];
}

/* Over the run's own devices, while it computed; open where one of them does not tell. */
struct quantity review_metric_idle(const struct run *run, int which) {
    struct quantity sum = quantity_open(UNIT_SECOND, QUANTITY_NOT_SAMPLED, NULL);
    for (size_t i = 0; i < run->gpu_count; i++) {
        const struct run_gpu *gpu = &run->gpus[i];
        if (!gpu->uuid || !run_gpu_counts(run, gpu) || !gpu->by_phase[PHASE_COMPUTE].entered)
            continue;
        const struct quantity *q = &gpu->by_phase[PHASE_COMPUTE].idle_by[which];
        if (!quantity_is_known(q))
            return *q;
        double before = quantity_is_known(&sum) ? sum.value : 0.0;
        sum = *q;
        sum.value = fmax(before, q->value); /* devices wait side by side */
    }
    return sum;
}

struct quantity review_metric_cpu(const struct run *run, int which) {
    (void)which;
    return run->cpu;
}

struct quantity review_metric_wall(const struct run *run, int which) {
    (void)which;
    return run->wall;
}

struct quantity review_metric_read(const struct run *run, int which) {
    (void)which;
    return run->io_read;
}

struct quantity review_metric_loaded(const struct run *run, int which) {
    (void)which;
    return run->cache.loaded;
}

static bool is_usable(const struct quantity *q) {
    return quantity_is_known(q) && q->bound != QUANTITY_AT_MOST && isfinite(q->value);
}

static bool mean_of_sources(const struct review_pair *pair, review_metric get, int which,
                            double *ret_mean) {
    double sum = 0.0;
    if (pair->source_count == 0 || pair->sources_missing)
        return false;
    for (size_t i = 0; i < pair->source_count; i++) {
        struct quantity q = get(pair->sources[i], which);
        if (!is_usable(&q))
            return false;
        sum += q.value;
    }
    *ret_mean = sum / (double)pair->source_count;
    return true;
}

static const char *why_not_planned(const struct review_work *work) {
    for (size_t i = 0; i < work->pair_count; i++)
        if (work->pairs[i].since_count > 0 && work->pairs[i].sources_missing)
            return _("a run that the estimate rests on is not in the records any more");
    for (size_t i = 0; i < work->pair_count; i++)
        if (work->pairs[i].since_count > 0 && work->pairs[i].source_count == 0)
            return _("the estimate rests on no run of this condition");
    return _("the runs that the estimate rests on do not tell it");
}

static void planned_side(const struct review_work *work, review_metric get, int which,
                         struct quantity *ret) {
    size_t sources = 0, used = 0;
    for (size_t i = 0; i < work->pair_count; i++)
        sources += work->pairs[i].source_count;
    const char **ids = arena_alloc(work->arena, (sources + 1) * sizeof *ids);
    double sum = 0.0, mean;
    for (size_t i = 0; i < work->pair_count; i++) {
        const struct review_pair *pair = &work->pairs[i];
        if (pair->since_count == 0)
            continue;
        if (!mean_of_sources(pair, get, which, &mean)) {
            *ret = quantity_open(ret->unit, QUANTITY_NOT_IN_RECORD, why_not_planned(work));
            return;
        }
        sum += mean * (double)pair->since_count;
        for (size_t s = 0; s < pair->source_count; s++)
            ids[used++] = pair->sources[s]->id ? pair->sources[s]->id : "";
    }
    *ret = (struct quantity){.state = QUANTITY_ESTIMATED,
                             .value = sum,
                             .unit = ret->unit,
                             .method = "mean of the runs that the estimate rests on",
                             .n = used,
                             .sources = ids,
                             .source_count = used};
}

static void actual_side(const struct review_work *work, review_metric get, int which,
                        struct quantity *ret) {
    const char **ids = arena_alloc(work->arena, (work->made + 1) * sizeof *ids);
    size_t used = 0;
    struct quantity sum = {.state = QUANTITY_MEASURED,
                           .unit = ret->unit,
                           .method = "sum over the records since",
                           .sources = ids};
    for (size_t i = 0; i < work->pair_count; i++)
        for (size_t r = 0; r < work->pairs[i].since_count; r++) {
            const struct run *run = work->pairs[i].since[r]->run;
            struct quantity q = get(run, which);
            if (!is_usable(&q)) {
                *ret = quantity_open(ret->unit, q.reason ? q.reason : QUANTITY_NOT_SEPARATED,
                                     _("not every run since tells it"));
                return;
            }
            if (q.bound == QUANTITY_AT_LEAST)
                sum.bound = QUANTITY_AT_LEAST;
            sum.value += q.value;
            ids[used++] = run->id ? run->id : "";
        }
    sum.n = used;
    sum.source_count = used;
    *ret = sum;
}

void review_both(const struct review_work *work, review_metric get, int which, const char *unit,
                 struct quantity *ret_planned, struct quantity *ret_actual) {
    *ret_planned = *ret_actual = quantity_open(unit, QUANTITY_NO_EVIDENCE, NULL);
    if (work->made == 0)
        return;
    planned_side(work, get, which, ret_planned);
    actual_side(work, get, which, ret_actual);
}
