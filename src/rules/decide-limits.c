/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules about what was measured: does it go beyond the device (E10), does it vary between runs of
 * one condition (E6). Must not add a margin, nor hold figures of different quantities or methods
 * against each other (B11).
 */
#include "rules/decide-parts.h"

#include "base/msg.h"
#include "model/outcome.h"

#include <math.h>
#include <string.h>

/* ---- E10 ---- */

static bool is_oom(const struct run *run, bool *ret_gpu) {
    *ret_gpu = run->outcome == OUTCOME_GPU_OOM;
    if (run->outcome == OUTCOME_GPU_OOM || run->outcome == OUTCOME_HOST_OOM)
        return true;
    if (run->outcome == OUTCOME_OK)
        return false;
    for (size_t i = 0; i < run->incident_count; i++) {
        const struct run_incident *incident = &run->incidents[i];
        if (incident->survived || incident->name == NULL)
            continue;
        *ret_gpu = strcmp(incident->name, "gpu_oom") == 0;
        if (*ret_gpu || strcmp(incident->name, "host_oom") == 0)
            return true;
    }
    return false;
}

/* Somebody else had memory of a device meanwhile: then it says nothing about the work alone. */
static bool is_shared(const struct run *run) {
    for (size_t i = 0; i < run->gpu_count; i++)
        if (run_gpu_counts(run, &run->gpus[i]) && run->gpus[i].others == RUN_YES)
            return true;
    return false;
}

/* The newest attempt of the condition that ran out of memory, if none that counts came after it. */
static const struct study_run *uncured_oom(const struct study_condition *condition) {
    const struct study_run *newest = NULL;
    bool is_gpu = false;
    for (size_t i = 0; i < condition->run_count; i++) {
        const struct study_run *run = condition->runs[i];
        bool counts = run->evidence.level == EVIDENCE_MEASURED;
        if (!counts && (!run->is_attempt || !is_oom(run->run, &is_gpu)))
            continue;
        if (newest == NULL || run->run->started_utc_ns > newest->run->started_utc_ns)
            newest = run;
    }
    return newest != NULL && newest->evidence.level != EVIDENCE_MEASURED ? newest : NULL;
}

static bool exceeds(const struct estimate_memory *memory) {
    return quantity_is_known(&memory->need) && quantity_is_known(&memory->capacity) &&
           memory->need.bound != QUANTITY_AT_MOST && memory->need.value > memory->capacity.value;
}

static bool fits(const struct estimate_memory *memory) {
    return quantity_is_known(&memory->need) && quantity_is_known(&memory->capacity) &&
           memory->need.value <= memory->capacity.value;
}

static bool is_needed(const struct estimate_memory *memory) {
    return quantity_is_known(&memory->need) || memory->need.reason != QUANTITY_NOT_APPLICABLE;
}

static void memory_ground(struct ruling *ruling, const char *name,
                          const struct estimate_memory *memory) {
    if (!quantity_is_known(&memory->need))
        return;
    ruling_figure(ruling, memory->need.source_count > 0 ? memory->need.sources[0] : NULL, name,
                  &memory->need, _("the largest measured peak (%s): %s; there is: %s"),
                  memory->quantity_name, ruling_quantity(&memory->need, ruling->arena),
                  ruling_quantity(&memory->capacity, ruling->arena));
}

static void oom_ground(struct ruling *ruling, const struct study_run *run) {
    bool is_gpu = false;
    (void)is_oom(run->run, &is_gpu);
    if (is_gpu && is_shared(run->run))
        ruling_ground(ruling, run->run->id,
                      _("%s ran out of GPU memory while others used the device, too"),
                      run->condition->label);
    else if (is_gpu)
        ruling_ground(ruling, run->run->id, _("%s ran out of GPU memory, and no later run worked"),
                      run->condition->label);
    else
        ruling_ground(ruling, run->run->id,
                      _("%s ran out of the machine's memory, and no later run worked"),
                      run->condition->label);
}

void decide_e10(struct ruling *ruling) {
    size_t ooms = 0, shared = 0, unmeasured = 0;
    if (ruling->block == NULL) {
        ruling_ground(ruling, NULL, _("the plan has no blocks"));
        ruling->rule->change = _("a block with its first run");
        ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
        return;
    }
    for (size_t i = 0; i < ruling->block->condition_count; i++) {
        const struct study_condition *condition = &ruling->block->conditions[i];
        const struct study_run *oom = uncured_oom(condition);
        unmeasured += condition->level != EVIDENCE_MEASURED;
        if (oom == NULL)
            continue;
        oom_ground(ruling, oom);
        if (is_shared(oom->run))
            shared++;
        else
            ooms++;
    }
    const struct estimate_memory *gpu = &ruling->left->gpu_memory;
    const struct estimate_memory *host = &ruling->left->host_memory;
    memory_ground(ruling, "gpu_memory", gpu);
    memory_ground(ruling, "host_memory", host);
    if (ooms > 0 || exceeds(gpu) || exceeds(host)) {
        ruling->rule->change = _("a narrower block, or an environment with more memory");
        ruling_open(ruling, ruling_source(ruling, ruling->block->block->at), NULL,
                    _("block '%s' needs more memory than there is: a narrower block, or an "
                      "environment with more"),
                    ruling->block->block->id);
        ruling_answer(ruling, DECIDE_YES, true, DECIDE_NOT_YET);
        return;
    }
    bool knows_gpu = !is_needed(gpu) || fits(gpu);
    bool knows_host = fits(host) || (is_needed(gpu) && fits(gpu));
    if (shared == 0 && knows_gpu && knows_host) {
        if (unmeasured > 0)
            ruling_ground(ruling, NULL,
                          msg_plural((unsigned long)unmeasured, "%zu condition was not measured",
                                     "%zu conditions were not measured"),
                          unmeasured);
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
        return;
    }
    if (!quantity_is_known(&gpu->need) && !quantity_is_known(&host->need))
        ruling_ground(ruling, NULL, _("no peak was measured"));
    ruling->rule->change =
        _("a measured peak, and the capacity of the environment with its source");
    ruling->rule->command = ruling_run_command(ruling);
    ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
}

/* ---- E6 ---- */

struct span { /* of one figure over the runs of one condition */
    const struct study_run *least_run, *most_run;
    struct quantity least, most;
    size_t count;
};

static void span_add(struct span *span, const struct quantity *q, const struct study_run *run) {
    if (q->state != QUANTITY_MEASURED || !isfinite(q->value) || q->value < 0)
        return;
    if (span->count > 0 && strcmp(q->method != NULL ? q->method : "",
                                  span->least.method != NULL ? span->least.method : "") != 0)
        return; /* obtained otherwise: another figure */
    if (span->count == 0 || q->value < span->least.value) {
        span->least = *q;
        span->least_run = run;
    }
    if (span->count == 0 || q->value > span->most.value) {
        span->most = *q;
        span->most_run = run;
    }
    span->count++;
}

static bool varies(const struct span *span, double ratio, double least) {
    return span->count > 1 && span->most.value >= ratio * span->least.value &&
           span->most.value - span->least.value >= least;
}

/* The quantity that is there for the most runs decides; of several the first, as in the estimate.
 * An allowance from the start is no need. */
static struct span memory_span(const struct study_condition *condition) {
    static const size_t offsets[] = {
        offsetof(struct run_gpu, process_used), offsetof(struct run_gpu, reserved),
        offsetof(struct run_gpu, allocated), offsetof(struct run_gpu, device_used)};
    struct span best = {0};
    for (size_t k = 0; k <= ARRAY_LENGTH(offsets); k++) {
        struct span span = {0};
        for (size_t i = 0; i < condition->run_count; i++) {
            const struct study_run *run = condition->runs[i];
            struct quantity largest = {0};
            if (run->evidence.level != EVIDENCE_MEASURED)
                continue;
            for (size_t g = 0; k < ARRAY_LENGTH(offsets) && g < run->run->gpu_count; g++) {
                const struct run_gpu *gpu = &run->run->gpus[g];
                const struct quantity *q =
                    (const struct quantity *)((const char *)gpu + offsets[k]);
                if (run_gpu_counts(run->run, gpu) && gpu->preallocated != RUN_YES &&
                    quantity_is_known(q) &&
                    (!quantity_is_known(&largest) || q->value > largest.value))
                    largest = *q;
            }
            if (k == ARRAY_LENGTH(offsets)) /* the host's, where no GPU told anything */
                largest = run->run->largest_process_rss;
            span_add(&span, &largest, run);
        }
        if (span.count > best.count)
            best = span;
        if (best.count > 0 && k + 1 >= ARRAY_LENGTH(offsets))
            break;
    }
    return best;
}

static struct span time_span(const struct study_condition *condition) {
    struct span span = {0};
    for (size_t i = 0; i < condition->run_count; i++)
        if (condition->runs[i]->evidence.level == EVIDENCE_MEASURED)
            span_add(&span, &condition->runs[i]->run->wall, condition->runs[i]);
    return span;
}

static void span_ground(struct ruling *ruling, const struct study_condition *condition,
                        const struct span *span, const char *name) {
    ruling_figure(ruling, span->most_run->run->id, name, &span->most,
                  _("%s: %zu runs: from %s to %s"), condition->condition->label, span->count,
                  ruling_quantity(&span->least, ruling->arena),
                  ruling_quantity(&span->most, ruling->arena));
}

void decide_e6(struct ruling *ruling) {
    size_t told = 0, varying = 0;
    for (size_t i = 0; ruling->block != NULL && i < ruling->block->condition_count; i++) {
        const struct study_condition *condition = &ruling->block->conditions[i];
        struct span time = time_span(condition), memory = memory_span(condition);
        bool time_varies = varies(&time, DECIDE_TIME_RATIO, DECIDE_TIME_LEAST_S);
        bool memory_varies = varies(&memory, DECIDE_MEMORY_RATIO, (double)DECIDE_MEMORY_LEAST);
        told += time.count > 1;
        varying += time_varies || memory_varies;
        if (time_varies)
            span_ground(ruling, condition, &time, "wall");
        if (memory_varies)
            span_ground(ruling, condition, &memory, "memory");
    }
    if (varying > 0) {
        ruling->rule->change =
            _("runs of the condition that agree, or conditions that tell apart what varies");
        ruling_open(ruling, ruling_source(ruling, ruling->block->block->at),
                    ruling_run_command(ruling), _("why runs of one condition of '%s' differ"),
                    ruling->block->block->id);
        ruling->rule->command = ruling_run_command(ruling);
        ruling_answer(ruling, DECIDE_YES, true, DECIDE_RENT_STAGED);
        return;
    }
    if (told > 0) {
        ruling_ground(ruling, NULL,
                      msg_plural((unsigned long)told,
                                 "%zu condition has several runs, and they agree",
                                 "%zu conditions have several runs, and they agree"),
                      told);
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
        return;
    }
    ruling_ground(ruling, NULL, _("no condition has two runs that count"));
    ruling->rule->change = _("a second run of one condition");
    ruling->rule->command = ruling_run_command(ruling);
    ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
}
