/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of for.h that rest on runs: trial evidence, formula with overhead, scaling, what was
 * spent. Only runs that count are evidence; the others are told by number and time. Nothing is
 * averaged here.
 */
#include "report/for.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/document-parts.h"
#include "report/facts.h"
#include "report/markdown.h"
#include "report/study-words.h"

#include <string.h>

#define ITEMS_SHOWN    30u /* of one component */
#define MACHINES_SHOWN 20u

/* ---- evidence ---- */

typedef bool wanted(const struct study_run *run);

static bool any_kind(const struct study_run *run) {
    return for_counts(run);
}

static bool is_scaling(const struct study_run *run) {
    return for_counts(run) && run->block && run->block->kind == PLAN_SCALE;
}

static struct quantity gpu_figure(const struct run *run, bool allocated) {
    const struct run_gpu *gpu = for_gpu(run);
    if (!gpu)
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_APPLICABLE, NULL);
    return allocated ? gpu->allocated : gpu->device_used;
}

static void evidence_row(const struct study_run *run, bool has_gpu, struct strbuf *out) {
    struct quantity used = gpu_figure(run->run, false), allocated = gpu_figure(run->run, true);
    markdown_cell(out, uuid_tail(run->run->id));
    markdown_cell(out, run->block ? run->block->id : run->condition->block->id);
    markdown_cell(out, run->condition->label);
    markdown_cell_quantity(out, &run->run->wall, true);
    if (has_gpu) {
        markdown_cell_quantity(out, &used, true);
        markdown_cell_quantity(out, &allocated, true);
    }
    markdown_cell_quantity(out, &run->run->largest_process_rss, true);
    markdown_cell(out, run->evidence.verified ? _("yes") : _("no"));
    markdown_end_row(out);
}

/* Returns how many there are. */
static size_t evidence_table(const struct for_view *view, wanted *wants, struct strbuf *out) {
    const struct study *study = view->study;
    size_t count = 0, shown = 0;
    bool has_gpu = false, plateau = false;
    for (size_t i = 0; i < study->run_count; i++) {
        if (!wants(&study->runs[i]))
            continue;
        const struct run_gpu *gpu = for_gpu(study->runs[i].run);
        has_gpu = has_gpu || gpu;
        plateau = plateau || (gpu && gpu->preallocated == RUN_YES);
        count++;
    }
    if (count == 0)
        return 0;
    const char *titles[8] = {_("run"), _("block"), _("condition"), _("run time")};
    size_t columns = 4;
    if (has_gpu) {
        titles[columns++] = _("GPU memory, all of the device in use");
        titles[columns++] = _("GPU memory, allocated by tensors");
    }
    titles[columns++] = _("host memory, largest process");
    titles[columns++] = _("result checked");
    markdown_table(out, titles, columns);
    for (size_t i = 0; i < study->run_count && shown < DOCUMENT_RUNS_SHOWN; i++) {
        if (!wants(&study->runs[i]))
            continue;
        evidence_row(&study->runs[i], has_gpu, out);
        shown++;
    }
    strbuf_add_char(out, '\n');
    if (shown < count)
        markdown_paragraph(out, arena_printf(view->arena,
                                             _("These are the %zu newest of %zu runs that count; "
                                               "--json has all of them."),
                                             shown, count));
    if (plateau)
        markdown_paragraph(out, _("Where a program takes its memory from the start, the figure is "
                                  "what it allows itself, not what it needs."));
    return count;
}

void for_evidence(const struct for_view *view, struct strbuf *out) {
    const struct study *study = view->study;
    size_t count = evidence_table(view, any_kind, out), others = 0;
    if (count == 0)
        for_open_item(out, _("no run counts yet in this environment; nothing below rests on a "
                             "measurement"));
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < study->run_count; i++)
        others += !for_counts(&study->runs[i]);
    if (others > 0)
        markdown_paragraph(
            out, arena_printf(view->arena,
                              msg_plural((unsigned long)others,
                                         "%zu further run is no evidence here: a function test, a "
                                         "step, a failure, or made elsewhere or otherwise.",
                                         "%zu further runs are no evidence here: function tests, "
                                         "steps, failures, or made elsewhere or otherwise."),
                              others));
    markdown_paragraph(out, _("Run time is from the start of the command to the end of its last "
                              "process. Memory is a peak; which quantity it is stands above it."));
}

void for_scaling(const struct for_view *view, struct strbuf *out) {
    bool has_block = false;
    for (size_t i = 0; i < view->plan->block_count; i++)
        has_block = has_block || view->plan->blocks[i].kind == PLAN_SCALE;
    if (evidence_table(view, is_scaling, out) > 0)
        markdown_paragraph(out,
                           _("Measured points only; nothing is drawn between or beyond them."));
    else if (has_block)
        for_open_item(out, _("no run of a block of kind 'scale' counts yet"));
    else
        for_open_item(out, _("the plan has no block of kind 'scale'"));
}

/* ---- formula ---- */

static void formula_row(const char *block, enum component component, const char *name,
                        const struct quantity *count, const struct quantity *unit,
                        const struct quantity *time, struct strbuf *out) {
    AUTO_STRBUF struct strbuf rests = STRBUF_INIT;
    AUTO_STRBUF struct strbuf sources = STRBUF_INIT;
    struct quantity alone = study_words_alone(time);
    markdown_cell(out, block);
    markdown_cell(out, study_words_component(component));
    markdown_cell(out, name);
    if (count)
        markdown_cell_quantity(out, count, true);
    else
        markdown_cell(out, NULL);
    if (unit)
        markdown_cell_quantity(out, unit, true);
    else
        markdown_cell(out, NULL);
    markdown_cell_quantity(out, &alone, false);
    study_words_add_rests(&rests, time);
    for_add_sources(&sources, time);
    if (sources.length > 0)
        strbuf_add_next(&rests, "; ", strbuf_str(&sources));
    markdown_cell(out, strbuf_str(&rests));
    markdown_end_row(out);
}

static void formula_component(const struct for_view *view, const struct estimate_block *block,
                              enum component k, struct strbuf *out) {
    const struct estimate_component *component = &block->components[k];
    const char *id = block->block->block->id;
    size_t shown = component->item_count < ITEMS_SHOWN ? component->item_count : ITEMS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const struct estimate_item *item = &component->items[i];
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        study_words_add_item(&name, item->name);
        formula_row(id, k, strbuf_str(&name), &item->count, &item->unit, &item->time, out);
    }
    if (shown == 0)
        formula_row(id, k, NULL, NULL, NULL, &component->time, out);
    else if (shown < component->item_count)
        formula_row(id, k,
                    arena_printf(view->arena, _("all %zu of them, the first %zu above"),
                                 component->item_count, shown),
                    NULL, NULL, &component->time, out);
}

/* The parts that share one row: what is wholly open stands under the open points, with its items.
 */
static void formula_block(const struct for_view *view, const struct estimate_block *block,
                          struct strbuf *out) {
    AUTO_STRBUF struct strbuf open = STRBUF_INIT;
    for (int k = 0; k < COMPONENT_COUNT_; k++) {
        const struct estimate_component *component = &block->components[k];
        if (!quantity_is_known(&component->time))
            strbuf_add_next(&open, ", ", study_words_component((enum component)k));
        else if (!estimate_is_nothing_left(component))
            formula_component(view, block, (enum component)k, out);
    }
    if (open.length == 0)
        return;
    markdown_cell(out, block->block->block->id);
    markdown_cell(out, strbuf_str(&open));
    for (int i = 0; i < 3; i++)
        markdown_cell(out, NULL);
    strbuf_add_str(out, "| [?] ");
    markdown_add(out, _("open"));
    strbuf_add_char(out, ' ');
    markdown_cell(out, _("see the open points"));
    markdown_end_row(out);
}

void for_formula(const struct for_view *view, struct strbuf *out) {
    const struct estimate *estimate = view->estimate;
    const char *const titles[] = {_("block"),     _("part"),     _("of what"),    _("how many"),
                                  _("one takes"), _("together"), _("it rests on")};
    markdown_paragraph(out, _("For each block: runs left x time of one run, plus what is needed "
                              "besides (preparation, data, transfer, repeats, corrections, checks, "
                              "clean-up, waiting), each from what was seen. What was never seen is "
                              "open, not 0; parts of which nothing is left are not listed."));
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < estimate->block_count; i++)
        formula_block(view, &estimate->blocks[i], out);
    strbuf_add_char(out, '\n');
    struct quantity gpu = study_words_hours(&estimate->total.gpu, true);
    for_item(out, _("computing, in all"), &estimate->total.computing, NULL);
    for_item(out, _("reserved (paid), in all"), &estimate->total.reserved, NULL);
    for_item(out, _("effort without the machine, in all"), &estimate->total.effort, NULL);
    for_item(out, _("GPU-hours, in all"), &gpu, _("reserved time x GPUs of the machine"));
    strbuf_add_char(out, '\n');
    markdown_paragraph(out, _("Figures are medians; medians of parts do not add up to the median "
                              "of a total, which was simulated as a whole."));
    for (size_t i = 0; i < estimate->block_count; i++)
        if (estimate->blocks[i].weakness)
            markdown_bullet(out, arena_printf(view->arena, _("weak base of %s: %s"),
                                              estimate->blocks[i].block->block->id,
                                              estimate->blocks[i].weakness));
}

/* ---- of the records: for a checklist ---- */

static bool is_here(const struct for_view *view, const struct study_run *run) {
    return for_counts(run) || run->environment == view->environment;
}

void for_workers(const struct for_view *view, struct strbuf *out) {
    const char *seen[MACHINES_SHOWN];
    size_t runs[MACHINES_SHOWN] = {0}, count = 0, beyond = 0;
    for (size_t i = 0; i < view->study->run_count; i++) {
        const struct run *run = view->study->runs[i].run;
        if (!is_here(view, &view->study->runs[i]))
            continue;
        const char *gpus = facts_gpus(run, view->arena);
        const char *text = !gpus                       ? _("open: GPUs not told")
                           : strcmp(gpus, "none") == 0 ? _("CPU only, no GPU on the machine")
                                                       : gpus;
        size_t at = 0;
        while (at < count && strcmp(seen[at], text) != 0)
            at++;
        if (at == MACHINES_SHOWN) {
            beyond++;
            continue;
        }
        if (at == count)
            seen[count++] = text;
        runs[at]++;
    }
    if (count == 0) {
        for_open_item(out, _("no run was recorded in this environment"));
        return;
    }
    const char *const titles[] = {_("type of workers"), _("runs")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < count; i++) {
        markdown_cell(out, seen[i]);
        markdown_cell_count(out, true, runs[i]);
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
    if (beyond > 0)
        markdown_paragraph(
            out, arena_printf(view->arena,
                              msg_plural((unsigned long)beyond, "%zu run on other machines.",
                                         "%zu runs on other machines."),
                              beyond));
    markdown_item(out, _("whose machine"),
                  view->environment && view->environment->kind != PLAN_ENVIRONMENT_UNSAID
                      ? view->environment->id
                      : _("open"));
}

void for_run_times(const struct for_view *view, struct strbuf *out) {
    if (evidence_table(view, any_kind, out) == 0)
        for_open_item(out, _("no run counts yet in this environment"));
}

/* What a run was for the project. */
enum spent {
    SPENT_COUNTS = 0,
    SPENT_FAILED,
    SPENT_FUNCTION_TEST,
    SPENT_STEP,
    SPENT_OTHER,
    SPENT_COUNT_
};

static enum spent spent_of(const struct study_run *run) {
    if (for_counts(run))
        return SPENT_COUNTS;
    if (document_is_failure(run->run))
        return SPENT_FAILED;
    if (run->step)
        return SPENT_STEP;
    if (run->evidence.level == EVIDENCE_FUNCTION_TEST)
        return SPENT_FUNCTION_TEST;
    return SPENT_OTHER;
}

/* GPUs of the run x its time. Where the devices are not told, nor is this. */
static struct quantity gpu_time(const struct run *run) {
    size_t gpus = 0;
    for (size_t i = 0; i < run->gpu_count; i++)
        gpus += run->gpus[i].kind && run_gpu_counts(run, &run->gpus[i]);
    struct quantity time = run->wall;
    if (gpus == 0) {
        const struct quantity *why = run->gpu_count > 0 ? &run->gpus[0].device_used : NULL;
        return quantity_open(UNIT_SECOND,
                             why && !quantity_is_known(why) ? why->reason : QUANTITY_NOT_IN_RECORD,
                             NULL);
    }
    time.value *= (double)gpus;
    return time;
}

static void spent_row(const struct for_view *view, const char *label, bool here, int which,
                      struct strbuf *out) {
    const struct study *study = view->study;
    struct quantity_part *walls = arena_alloc(view->arena, (study->run_count + 1) * sizeof(*walls));
    struct quantity_part *gpus = arena_alloc(view->arena, (study->run_count + 1) * sizeof(*gpus));
    size_t count = 0;
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *run = &study->runs[i];
        if (is_here(view, run) != here || (which >= 0 && (int)spent_of(run) != which))
            continue;
        const char *name = uuid_tail(run->run->id);
        walls[count] = (struct quantity_part){name, run->run->wall};
        gpus[count++] = (struct quantity_part){name, gpu_time(run->run)};
    }
    if (count == 0)
        return;
    struct quantity wall = quantity_sum(view->arena, UNIT_SECOND, walls, count);
    struct quantity gpu = quantity_sum(view->arena, UNIT_SECOND, gpus, count);
    struct quantity hours = study_words_hours(&gpu, true);
    wall = study_words_alone(&wall);
    markdown_cell(out, label);
    markdown_cell_count(out, true, count);
    markdown_cell_quantity(out, &wall, true);
    markdown_cell_quantity(out, &hours, true);
    markdown_end_row(out);
}

void for_spent(const struct for_view *view, struct strbuf *out) {
    static const char *const labels[SPENT_COUNT_] = {
        [SPENT_COUNTS] = N_("runs whose results count"),
        [SPENT_FAILED] = N_("attempts that failed"),
        [SPENT_FUNCTION_TEST] = N_("function tests, preliminary"),
        [SPENT_STEP] = N_("steps: preparation, data, transfer"),
        [SPENT_OTHER] = N_("other runs, preliminary or unplanned"),
    };
    if (view->study->run_count == 0) {
        for_open_item(out, _("nothing was recorded yet"));
        return;
    }
    const char *const titles[] = {_("what"), _("runs"), _("time"), _("GPU time")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (int i = 0; i < SPENT_COUNT_; i++)
        spent_row(view, msg_get(labels[i]), true, i, out);
    spent_row(view, _("in all, in this environment"), true, -1, out);
    spent_row(view, _("in all, in other environments"), false, -1, out);
    strbuf_add_char(out, '\n');
    struct quantity left = study_words_hours(&view->estimate->total.gpu, true);
    for_item(out, _("still to come, by the estimate"), &left, _("not in the table"));
    strbuf_add_char(out, '\n');
    markdown_paragraph(out, _("Recorded is what ran under probelauf; work without it is in no "
                              "figure here. Time in which a machine was reserved and nothing ran "
                              "stands in the report, under reserved time."));
}
