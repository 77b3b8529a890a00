/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a block needs beside time: memory, as the largest measured peak against what there is, and
 * the volume that goes in and out. No margin is added; what was not measured is open.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "model/quantity-read.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define HOST_QUANTITY N_("largest process, peak resident set")

static void add_run_source(struct quantity *q, const struct run *run, struct arena *arena) {
    const char *id = arena_strdup(arena, run->id ? run->id : "");
    piece_add_sources(q, &id, 1, arena);
}

/* Conditions of the block without a run that counts. */
static size_t unmeasured(const struct block_work *work) {
    size_t count = 0;
    for (size_t i = 0; i < work->condition_count; i++)
        count += work->conditions[i].count_used == 0;
    return count;
}

/* ---- need ---- */

/* The larger of both; a peak is a lower bound of the need whatever the method. */
static void take_larger(struct quantity *largest, const struct quantity *q, const struct run *run,
                        uint64_t *known, struct arena *arena) {
    if (q->state != QUANTITY_MEASURED || q->bound == QUANTITY_AT_MOST || !isfinite(q->value))
        return;
    ++*known;
    if (quantity_is_known(largest) && largest->value >= q->value)
        return;
    *largest = *q;
    largest->bound = QUANTITY_AT_LEAST;
    largest->sources = NULL;
    largest->source_count = 0;
    largest->detail = _("the largest measured peak; no margin is added");
    add_run_source(largest, run, arena);
}

static struct quantity host_need(const struct block_work *work) {
    struct quantity need = quantity_open(UNIT_BYTE, QUANTITY_NO_EVIDENCE, _("no run counts"));
    uint64_t known = 0;

    for (size_t i = 0; i < work->condition_count; i++) {
        const struct condition_work *c = &work->conditions[i];
        for (size_t r = 0; r < c->count_used; r++) {
            const struct quantity *peak = &c->runs[r]->largest_process_rss;
            if (!quantity_is_known(&need) && !quantity_is_known(peak))
                need = quantity_open(UNIT_BYTE, peak->reason ? peak->reason : QUANTITY_NOT_SAMPLED,
                                     peak->detail);
            take_larger(&need, peak, c->runs[r], &known, work->maker->arena);
        }
    }
    need.n = known;
    return need;
}

static const struct {
    const char *name;
    size_t offset;
} gpu_quantities[] = {
    {N_("GPU memory of the run's processes"), offsetof(struct run_gpu, process_used)},
    {N_("GPU memory reserved by the framework"), offsetof(struct run_gpu, reserved)},
    {N_("GPU memory allocated by tensors"), offsetof(struct run_gpu, allocated)},
    {N_("GPU memory of the device, all processes"), offsetof(struct run_gpu, device_used)},
};

const char *estimate_gpu_quantity_name(size_t index) {
    return gpu_quantities[index].name;
}

const struct quantity *estimate_gpu_quantity(const struct run_gpu *gpu, size_t index) {
    return (const struct quantity *)((const char *)gpu + gpu_quantities[index].offset);
}

/* What a program takes from the start, whatever it needs, is no need: such devices are passed over,
 * and ret_allowance holds the largest of them. */
static struct quantity gpu_largest(const struct block_work *work, size_t index,
                                   struct quantity *ret_allowance) {
    struct quantity largest = {.unit = UNIT_BYTE};
    uint64_t known = 0, allowances = 0;

    for (size_t i = 0; i < work->condition_count; i++)
        for (size_t r = 0; r < work->conditions[i].count_used; r++) {
            const struct run *run = work->conditions[i].runs[r];
            for (size_t g = 0; g < run->gpu_count; g++) {
                if (!run_gpu_counts(run, &run->gpus[g]))
                    continue;
                bool is_allowance = run->gpus[g].preallocated == RUN_YES;
                take_larger(is_allowance ? ret_allowance : &largest,
                            estimate_gpu_quantity(&run->gpus[g], index), run,
                            is_allowance ? &allowances : &known, work->maker->arena);
            }
        }
    largest.n = known;
    return largest;
}

static struct quantity allowance_need(const struct block_work *work,
                                      const struct quantity *allowance) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;

    quantity_format_value(allowance->value, UNIT_BYTE, &bytes);
    struct quantity need = quantity_open(
        UNIT_BYTE, QUANTITY_NOT_SEPARATED,
        arena_printf(work->maker->arena,
                     _("the peak of %s is an allowance that the program took from the start, not "
                       "a need"),
                     strbuf_str(&bytes)));
    need.sources = allowance->sources;
    need.source_count = allowance->source_count;
    return need;
}

static struct quantity gpu_need(const struct block_work *work, const char **ret_name) {
    const struct plan_environment *environment = work->maker->environment;

    *ret_name = _(gpu_quantities[0].name);
    if (environment && environment->gpus.given && environment->gpus.value <= 0)
        return quantity_open(
            UNIT_BYTE, QUANTITY_NOT_APPLICABLE,
            arena_printf(work->maker->arena, _("environment '%s' has no GPU"), environment->id));
    for (size_t i = 0; i < ARRAY_LENGTH(gpu_quantities); i++) {
        struct quantity allowance = {.unit = UNIT_BYTE};
        struct quantity largest = gpu_largest(work, i, &allowance);
        if (!quantity_is_known(&largest) && quantity_is_known(&allowance))
            return allowance_need(work, &allowance);
        if (!quantity_is_known(&largest))
            continue;
        *ret_name = _(gpu_quantities[i].name);
        return largest;
    }
    size_t used = 0;
    for (size_t i = 0; i < work->condition_count; i++)
        for (size_t r = 0; r < work->conditions[i].count_used; r++, used++)
            if (work->conditions[i].runs[r]->gpu_count > 0) {
                const struct quantity *q = &work->conditions[i].runs[r]->gpus[0].process_used;
                return quantity_open(UNIT_BYTE, q->reason ? q->reason : QUANTITY_NOT_SUPPORTED,
                                     q->detail ? q->detail : _("no run told of GPUs"));
            }
    if (used == 0)
        return quantity_open(UNIT_BYTE, QUANTITY_NO_EVIDENCE, _("no run yet"));
    return quantity_open(UNIT_BYTE, QUANTITY_NOT_SUPPORTED, _("no run told of GPUs"));
}

/* ---- capacity ---- */

static struct quantity stated(const struct block_work *work, struct plan_bytes bytes) {
    struct estimate_maker *maker = work->maker;
    const char *source = plan_source(maker->plan, bytes.at, maker->arena);
    struct quantity q = {.state = QUANTITY_ASSUMED,
                         .value = (double)bytes.bytes,
                         .unit = UNIT_BYTE,
                         .method = "stated in the plan",
                         .detail = maker->environment->capacity_source};
    piece_add_sources(&q, &source, 1, maker->arena);
    return q;
}

/* A figure of the machine's record. */
static struct quantity machine_figure(const struct run *run, const char *part, const char *name,
                                      struct arena *arena) {
    struct quantity q = quantity_from_json(
        json_object_get(json_get_object(run->environment, part), name), UNIT_BYTE, arena);
    if (q.state == QUANTITY_MEASURED && q.value < 0.0)
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_IN_RECORD, NULL);
    return q;
}

static void take_smaller(struct quantity *smallest, const struct quantity *q, const struct run *run,
                         struct arena *arena) {
    if (q->state != QUANTITY_MEASURED || !isfinite(q->value) ||
        (quantity_is_known(smallest) && smallest->value <= q->value))
        return;
    *smallest = *q;
    smallest->sources = NULL;
    smallest->source_count = 0;
    add_run_source(smallest, run, arena);
}

/* What the plan states, else the smallest that the runs were given: their limit, or without one the
 * machine's memory. */
static struct quantity host_capacity(const struct block_work *work) {
    const struct plan_environment *environment = work->maker->environment;
    struct quantity capacity = quantity_open(UNIT_BYTE, QUANTITY_NOT_IN_RECORD,
                                             _("neither the plan nor a run that counts says it"));

    if (environment && environment->host_memory.given)
        return stated(work, environment->host_memory);
    for (size_t i = 0; i < work->condition_count; i++)
        for (size_t r = 0; r < work->conditions[i].count_used; r++) {
            const struct run *run = work->conditions[i].runs[r];
            struct quantity limit = machine_figure(run, "limits", "memory", work->maker->arena);
            struct quantity total = machine_figure(run, "totals", "memory", work->maker->arena);
            take_smaller(&capacity, &limit, run, work->maker->arena);
            take_smaller(&capacity, &total, run, work->maker->arena);
        }
    return capacity;
}

static struct quantity gpu_capacity(const struct block_work *work) {
    const struct plan_environment *environment = work->maker->environment;
    struct quantity capacity = quantity_open(UNIT_BYTE, QUANTITY_NOT_IN_RECORD,
                                             _("neither the plan nor a run that counts says it"));

    if (environment && environment->gpus.given && environment->gpus.value <= 0)
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_APPLICABLE, NULL);
    if (environment && environment->gpu_memory.given)
        return stated(work, environment->gpu_memory);
    for (size_t i = 0; i < work->condition_count; i++)
        for (size_t r = 0; r < work->conditions[i].count_used; r++) {
            const struct run *run = work->conditions[i].runs[r];
            for (size_t g = 0; g < run->gpu_count; g++)
                take_smaller(&capacity, &run->gpus[g].total, run, work->maker->arena);
        }
    return capacity;
}

static const char *verdict(const struct block_work *work, const struct estimate_memory *memory) {
    size_t missing = unmeasured(work);

    if (memory->need.reason == QUANTITY_NOT_APPLICABLE)
        return _("not applicable");
    if (!quantity_is_known(&memory->need) && memory->need.source_count > 0)
        return _("cannot be told: an allowance is no need");
    if (!quantity_is_known(&memory->need))
        return _("cannot be told: no peak was measured");
    if (!quantity_is_known(&memory->capacity))
        return _("cannot be told: the capacity is not known");
    if (memory->need.value > memory->capacity.value)
        return _("exceeds: the measured peak is more than there is");
    if (missing > 0)
        return arena_printf(work->maker->arena,
                            msg_plural((unsigned long)missing,
                                       "what was measured fits; %zu condition was not measured",
                                       "what was measured fits; %zu conditions were not measured"),
                            missing);
    return _("fits, as measured");
}

void estimate_block_memory(struct block_work *work) {
    struct estimate_block *ret = work->ret;

    ret->host_memory.quantity_name = _(HOST_QUANTITY);
    ret->host_memory.need = host_need(work);
    ret->host_memory.capacity = host_capacity(work);
    ret->host_memory.verdict = verdict(work, &ret->host_memory);
    ret->gpu_memory.need = gpu_need(work, &ret->gpu_memory.quantity_name);
    ret->gpu_memory.capacity = gpu_capacity(work);
    ret->gpu_memory.verdict = verdict(work, &ret->gpu_memory);
}

/* ---- volume ---- */

/* Bytes of the files of one record; open where none was named. */
static struct quantity files_volume(const json_t *files) {
    struct quantity sum = quantity_open(UNIT_BYTE, QUANTITY_NOT_IN_RECORD, NULL);
    size_t unknown = 0;
    double bytes = 0.0;
    size_t known = 0;

    for (size_t i = 0; i < json_array_size(files); i++) {
        double size = json_get_real(json_array_get(files, i), "bytes", -1.0);
        bool is_known = isfinite(size) && size >= 0.0;
        known += is_known;
        unknown += !is_known;
        bytes += is_known ? size : 0.0;
    }
    if (known == 0)
        return sum;
    return quantity_bounded(UNIT_BYTE, bytes, unknown > 0 ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                            "stat st_size");
}

static const json_t *inputs_of(const struct run *run) {
    return json_get_array(run->start, "inputs");
}

static const json_t *outputs_of(const struct run *run) {
    const json_t *ended = json_get_array(run->end, "outputs");
    return ended ? ended : json_get_array(run->start, "outputs");
}

/* What the newest run that knows it moved, for each remaining run. */
static struct quantity condition_volume(const struct block_work *work,
                                        const struct condition_work *c,
                                        const json_t *(*files_of)(const struct run *),
                                        const char *none) {
    struct arena *arena = work->maker->arena;

    if (!c->has_remaining)
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_ENTERED, c->count.detail);
    for (size_t r = 0; r < c->count_used; r++) {
        struct quantity volume = files_volume(files_of(c->runs[r]));
        if (!quantity_is_known(&volume))
            continue;
        volume.state = c->count.state == QUANTITY_ASSUMED ? QUANTITY_ASSUMED : QUANTITY_ESTIMATED;
        volume.value *= (double)c->remaining;
        volume.n = 1;
        add_run_source(&volume, c->runs[r], arena);
        piece_add_sources(&volume, c->count.sources, c->count.source_count, arena);
        return volume;
    }
    return c->count_used > 0 ? quantity_open(UNIT_BYTE, QUANTITY_NOT_IN_RECORD, none)
                             : quantity_open(UNIT_BYTE, QUANTITY_NO_EVIDENCE, _("no run counts"));
}

static struct quantity block_volume(const struct block_work *work,
                                    const json_t *(*files_of)(const struct run *),
                                    const char *none) {
    struct arena *arena = work->maker->arena;
    struct quantity_part *parts = arena_alloc(arena, (work->condition_count + 1) * sizeof *parts);
    size_t count = 0;

    if (work->nothing_left) {
        struct quantity zero = quantity_measured(UNIT_BYTE, 0.0, "nothing left to run");
        const struct quantity *runs = &work->ret->components[COMPONENT_RUNS].time;
        piece_add_sources(&zero, runs->sources, runs->source_count, arena);
        return zero;
    }
    for (size_t i = 0; i < work->condition_count; i++) {
        const struct condition_work *c = &work->conditions[i];
        if (c->has_remaining && c->remaining == 0)
            continue;
        parts[count].name = c->study->condition->label ? c->study->condition->label : "";
        parts[count++].quantity = condition_volume(work, c, files_of, none);
    }
    struct quantity sum = quantity_sum(arena, UNIT_BYTE, parts, count);
    if (quantity_is_known(&sum)) {
        sum.method = "files of one run x runs left";
        sum.detail = _("what stays on the machine between the runs is moved only once");
    } else if (count > 0) {
        sum.detail = parts[0].quantity.detail;
    }
    return sum;
}

void estimate_block_volume(struct block_work *work) {
    work->ret->bytes_in =
        block_volume(work, inputs_of,
                     _("its runs name no input whose size is known (--input, or inputs of the "
                       "block)"));
    work->ret->bytes_out =
        block_volume(work, outputs_of,
                     _("its runs name no output whose size is known (--output, or outputs of "
                       "the block)"));
}
