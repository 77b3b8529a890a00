/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The consequence for what is still to come (F4): only the part that deviated, only for the same
 * condition (model, inputs and every setting) in the same environment. Everything else stays as it
 * was planned, and says so. Preparation that was made again is listed with its total.
 */
#include "rules/review-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "rules/estimate-parts.h"

#include <string.h>

/* ---- repeated preparation ---- */

static bool is_preparing(const struct study_run *seen) {
    return seen->step && !review_is_lost(seen) &&
           (seen->step->component == COMPONENT_PREPARE || seen->step->component == COMPONENT_DATA);
}

/* Was the step made before it, at any time, in this environment? */
static bool was_made_before(const struct study *study, const struct study_run *seen) {
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *other = &study->runs[i];
        if (other != seen && other->step == seen->step && !review_is_lost(other) &&
            other->environment == seen->environment &&
            other->run->started_utc_ns < seen->run->started_utc_ns)
            return true;
    }
    return false;
}

static void find_repeated(struct review_work *work) {
    struct quantity_part *parts =
        arena_alloc(work->arena, (work->attempt_count + 1) * sizeof *parts);
    size_t count = 0;
    for (size_t i = 0; i < work->attempt_count; i++) {
        const struct study_run *seen = work->attempts[i];
        if (is_preparing(seen) && was_made_before(work->study, seen))
            parts[count++] = (struct quantity_part){seen->step->name, seen->run->wall};
    }
    work->ret->repeated_count = count;
    work->ret->repeated_preparation = quantity_sum(work->arena, UNIT_SECOND, parts, count);
    if (count == 0)
        work->ret->repeated_preparation =
            quantity_measured(UNIT_SECOND, 0.0, "no step of it was made again");
    work->ret->repeated_preparation.n = count;
}

/* ---- later blocks ---- */

static const struct {
    enum phase phase;
    const char *name, *line;
} parts[] = {
    {PHASE_LOAD, "load", "runs/load"},
    {PHASE_PREPROCESS, "preprocess", "runs/preprocess"},
    {PHASE_COMPUTE, "compute", "runs/compute"},
    {PHASE_WRITE, "write", "runs/write"},
};

/* A condition that was run in the reviewed block and is still to be run in another. */
struct shared {
    const struct review_pair *pair;
    double left; /* runs */
};

static const struct review_pair *pair_of(const struct review_work *work, const char *id) {
    for (size_t i = 0; i < work->pair_count; i++)
        if (work->pairs[i].since_count > 0 &&
            strcmp(work->pairs[i].condition->condition->id, id) == 0)
            return &work->pairs[i];
    return NULL;
}

static uint64_t left_of(const struct study_condition *c) {
    return c->has_planned && c->planned > c->done ? c->planned - c->done : 0;
}

static size_t find_shared(const struct review_work *work, const struct study_block *block,
                          struct shared *ret, size_t *ret_others) {
    size_t count = 0;
    *ret_others = 0;
    for (size_t i = 0; i < block->condition_count; i++) {
        const struct study_condition *c = &block->conditions[i];
        const struct review_pair *pair = pair_of(work, c->condition->id);
        if (left_of(c) == 0)
            continue;
        if (pair)
            ret[count++] = (struct shared){pair, (double)left_of(c)};
        else
            ++*ret_others;
    }
    return count;
}

static bool mean_phase(const struct run *const *runs, size_t count, enum phase phase,
                       double *ret_mean) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        const struct quantity *q = &runs[i]->phase[phase];
        if (!quantity_is_known(q) || q->bound == QUANTITY_AT_MOST)
            return false;
        sum += q->value;
    }
    if (count == 0)
        return false;
    *ret_mean = sum / (double)count;
    return true;
}

/* Of what is left there, from the runs that were planned from, or from those made since. */
static struct quantity phase_left(const struct review_work *work, const struct shared *shared,
                                  size_t count, enum phase phase, bool since) {
    const char **ids;
    struct quantity sum = {.state = QUANTITY_ESTIMATED,
                           .unit = UNIT_SECOND,
                           .method = since ? "mean of the runs since x runs left"
                                           : "mean of the runs planned from x runs left"};
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room += since ? shared[i].pair->since_count : shared[i].pair->source_count;
    ids = arena_alloc(work->arena, (room + 1) * sizeof *ids);
    for (size_t i = 0; i < count; i++) {
        const struct review_pair *pair = shared[i].pair;
        size_t runs = since ? pair->since_count : pair->source_count;
        const struct run **list = arena_alloc(work->arena, (runs + 1) * sizeof *list);
        double mean;
        for (size_t r = 0; r < runs; r++)
            list[r] = since ? pair->since[r]->run : pair->sources[r];
        if (!mean_phase(list, runs, phase, &mean))
            return quantity_open(UNIT_SECOND, QUANTITY_NOT_SEPARATED,
                                 _("not every run tells this phase apart"));
        sum.value += mean * shared[i].left;
        for (size_t r = 0; r < runs; r++)
            ids[sum.source_count++] = list[r]->id ? list[r]->id : "";
    }
    sum.sources = ids;
    sum.n = sum.source_count;
    return sum;
}

/* A cause that says the same will happen again; nothing is cut where steps were missing, and
 * another input says nothing of this one. */
static bool recurs(enum review_cause cause) {
    switch (cause) {
    case REVIEW_PREPARATION:
    case REVIEW_DATA_ACCESS:
    case REVIEW_LOADING:
    case REVIEW_STORAGE:
    case REVIEW_COMPUTING:
        return true;
    case REVIEW_OPEN:
    case REVIEW_NONE:
    case REVIEW_DEPENDENCY:
    case REVIEW_OTHER_INPUT:
    case REVIEW_WAITING:
    case REVIEW_FAILURES:
    case REVIEW_FEWER_STEPS:
    case REVIEW_CAUSE_COUNT_:
        break;
    }
    return false;
}

static const char *why_stays(const struct review_line *line) {
    switch (line->cause) {
    case REVIEW_NONE:
        return _("no deviation: it stays as planned");
    case REVIEW_OPEN:
        return _("the cause of the deviation is open: it stays as planned");
    case REVIEW_FEWER_STEPS:
        return _("not the same steps were made: it stays as planned");
    case REVIEW_OTHER_INPUT:
        return _("something else was run than was planned: it stays as planned");
    case REVIEW_DEPENDENCY:
    case REVIEW_WAITING:
    case REVIEW_FAILURES:
        return _("the cause is no property of the work: it stays as planned");
    case REVIEW_PREPARATION:
    case REVIEW_DATA_ACCESS:
    case REVIEW_LOADING:
    case REVIEW_STORAGE:
    case REVIEW_COMPUTING:
    case REVIEW_CAUSE_COUNT_:
        break;
    }
    return _("it stays as planned");
}

static void add_next(struct review_work *work, size_t *room, struct review_next next) {
    struct review_block *ret = work->ret;
    if (ret->next_count == *room) {
        size_t more = *room ? 2 * *room : 16;
        struct review_next *list = arena_alloc(work->arena, more * sizeof *list);
        if (ret->next_count > 0)
            memcpy(list, ret->next, ret->next_count * sizeof *list);
        ret->next = list;
        *room = more;
    }
    ret->next[ret->next_count++] = next;
}

/* A shorter part is taken only where a cause is named: the cautious figure stays otherwise. */
static void add_part(struct review_work *work, size_t *room, const struct study_block *block,
                     const char *name, const struct review_line *line, struct quantity before,
                     struct quantity after) {
    struct review_next next = {.block = block->block, .part = name, .before = before};
    next.changed = review_is_worth(line) && recurs(line->cause) && quantity_is_known(&before) &&
                   quantity_is_known(&after);
    next.after = next.changed ? after : before;
    next.why = next.changed ? line->why : why_stays(line);
    add_next(work, room, next);
}

static void add_phases(struct review_work *work, size_t *room, const struct study_block *block,
                       const struct shared *shared, size_t count) {
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        const struct review_line *line = review_line_find(work->ret, parts[i].line);
        if (line)
            add_part(work, room, block, parts[i].name, line,
                     phase_left(work, shared, count, parts[i].phase, false),
                     phase_left(work, shared, count, parts[i].phase, true));
    }
}

/* Runs of a step since, in this block: their mean. */
static struct quantity step_now(const struct review_work *work, const struct plan_step *step) {
    double sum = 0.0;
    size_t count = 0;
    const char **ids = arena_alloc(work->arena, (work->attempt_count + 1) * sizeof *ids);
    for (size_t i = 0; i < work->attempt_count; i++) {
        const struct study_run *seen = work->attempts[i];
        if (seen->step != step || review_is_lost(seen) || !quantity_is_known(&seen->run->wall))
            continue;
        sum += seen->run->wall.value;
        ids[count++] = seen->run->id ? seen->run->id : "";
    }
    if (count == 0)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, NULL);
    return (struct quantity){.state = QUANTITY_ESTIMATED,
                             .value = sum / (double)count,
                             .unit = UNIT_SECOND,
                             .method = "mean of the runs of the step since",
                             .n = count,
                             .sources = ids,
                             .source_count = count};
}

static struct quantity step_then(const struct review_work *work, const struct plan_step *step) {
    const struct kept_component *kept = &work->kept.components[step->component];
    AUTO_FREE char *name = mem_printf("step %s", step->name);
    for (size_t i = 0; i < kept->item_count; i++)
        if (strcmp(kept->items[i].name, name) == 0)
            return kept->items[i].unit;
    return quantity_open(UNIT_SECOND, QUANTITY_NOT_IN_RECORD, NULL);
}

static void add_steps(struct review_work *work, size_t *room, const struct study_block *block) {
    const struct plan_block *of = block->block;
    for (size_t i = 0; i < of->steps.count; i++) {
        const struct plan_step *step =
            plan_step_find(work->study->input->plan, of->steps.items[i].text);
        if (!step || (step->repeats != PLAN_PER_RENTAL && step->repeats != PLAN_PER_RUN))
            continue;
        const struct review_line *line =
            review_line_find(work->ret, component_name(step->component));
        struct quantity after = step_now(work, step);
        if (line && quantity_is_known(&after))
            add_part(work, room, block, component_name(step->component), line,
                     step_then(work, step), after);
    }
}

static void add_others(struct review_work *work, size_t *room, const struct study_block *block) {
    const struct estimate *estimate = work->input->estimate;
    struct quantity runs = quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, NULL);
    for (size_t i = 0; estimate && i < estimate->block_count; i++)
        if (estimate->blocks[i].block == block)
            runs = estimate->blocks[i].components[COMPONENT_RUNS].time;
    runs.parts = NULL;
    runs.part_count = 0;
    add_next(
        work, room,
        (struct review_next){
            .block = block->block,
            .part = "runs",
            .before = runs,
            .after = runs,
            .why = _("other conditions than the reviewed ones: nothing that was seen holds for "
                     "them, and they stay as cautious as they are"),
        });
}

static bool is_left(const struct study_block *block) {
    for (size_t i = 0; i < block->condition_count; i++)
        if (left_of(&block->conditions[i]) > 0)
            return true;
    return false;
}

void review_consequences(struct review_work *work) {
    const struct study *study = work->study;
    size_t room = 0;
    find_repeated(work);
    for (size_t i = 0; i < study->block_count && work->made > 0; i++) {
        const struct study_block *block = &study->blocks[i];
        if (!is_left(block))
            continue;
        struct shared *shared =
            arena_alloc(work->arena, (block->condition_count + 1) * sizeof *shared);
        size_t others = 0, count = find_shared(work, block, shared, &others);
        if (count > 0)
            add_phases(work, &room, block, shared, count);
        add_steps(work, &room, block);
        if (others > 0)
            add_others(work, &room, block);
    }
}
