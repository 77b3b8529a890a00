/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as CSV: one line per figure, so that a spreadsheet can filter and add up what it
 * likes. Columns say where a figure belongs, its state, bound, interval and what it rests on; an
 * open one has a reason and an empty value. Names are those of the JSON, never translated.
 */
#include "report/document-parts.h"

#include "report/csv-cells.h"
#include "report/measures.h"
#include "report/study-words.h"

#include <string.h>

static const char *const columns[] = {"section", "block", "condition", "name",   "state", "value",
                                      "unit",    "bound", "p05",       "p95",    "level", "n",
                                      "method",  "basis", "reason",    "sources"};

/* Where the figures of a group belong. */
struct place {
    const char *section, *block, *condition;
};

static void sources_cell(struct strbuf *out, const struct quantity *q) {
    AUTO_STRBUF struct strbuf joined = STRBUF_INIT;
    for (size_t i = 0; i < q->source_count; i++)
        strbuf_printf(&joined, "%s%s", i > 0 ? " " : "", q->sources[i]);
    csv_add_text(out, strbuf_str(&joined));
}

static const char *reason_of(const struct quantity *q) {
    if (quantity_is_known(q))
        return NULL;
    return quantity_reason_name(q->reason == QUANTITY_NO_REASON ? QUANTITY_NOT_SAMPLED : q->reason);
}

static void line(struct strbuf *out, const struct place *place, const char *name,
                 const struct quantity *q) {
    bool known = quantity_is_known(q);
    csv_add_text(out, place->section);
    csv_add_text(out, place->block);
    csv_add_text(out, place->condition);
    csv_add_text(out, name);
    csv_add_text(out, quantity_state_name(q->state));
    csv_add_number(out, known, q->value);
    csv_add_text(out, q->unit && *q->unit ? q->unit : UNIT_RATIO);
    csv_add_text(out, known ? quantity_bound_name(q->bound) : NULL);
    csv_add_number(out, q->has_interval, q->p05);
    csv_add_number(out, q->has_interval, q->p95);
    csv_add_number(out, q->has_interval, q->level);
    csv_add_integer(out, q->n > 0, (long long)q->n);
    csv_add_text(out, q->method);
    csv_add_text(out, q->basis);
    csv_add_text(out, reason_of(q));
    sources_cell(out, q);
    csv_end_line(out);
}

static void figures(struct strbuf *out, const struct place *place,
                    const struct estimate_figures *of) {
    struct study_figure rows[STUDY_FIGURES];
    study_words_figures(of, rows);
    for (size_t i = 0; i < STUDY_FIGURES; i++)
        line(out, place, rows[i].name, rows[i].quantity);
}

static void memory(struct strbuf *out, const struct place *place, const char *what,
                   const struct estimate_memory *of) {
    AUTO_FREE char *need = mem_printf("%s.need", what);
    AUTO_FREE char *capacity = mem_printf("%s.capacity", what);
    line(out, place, need, &of->need);
    line(out, place, capacity, &of->capacity);
}

static void components(struct strbuf *out, const struct place *place,
                       const struct estimate_component all[COMPONENT_COUNT_]) {
    for (int i = 0; i < COMPONENT_COUNT_; i++) {
        AUTO_FREE char *name = mem_printf("component.%s", component_name((enum component)i));
        line(out, place, name, &all[i].time);
        for (size_t k = 0; k < all[i].item_count; k++) {
            AUTO_FREE char *item = mem_printf("%s.item", name);
            struct place of = {"item", place->block, all[i].items[k].name};
            line(out, &of, item, &all[i].items[k].time);
        }
    }
}

static void estimate(struct strbuf *out, const struct estimate *of) {
    for (size_t i = 0; i < of->block_count; i++) {
        const struct estimate_block *block = &of->blocks[i];
        struct place place = {"block", block->block->block->id, NULL};
        components(out, &place, block->components);
        figures(out, &place, &block->figures);
        memory(out, &place, "host_memory", &block->host_memory);
        memory(out, &place, "gpu_memory", &block->gpu_memory);
        line(out, &place, "bytes_in", &block->bytes_in);
        line(out, &place, "bytes_out", &block->bytes_out);
    }
    for (size_t i = 0; i < of->by_extent_count; i++) {
        struct place place = {"extent", of->by_extent[i].name, NULL};
        figures(out, &place, &of->by_extent[i].figures);
    }
    for (size_t i = 0; i < of->by_recurrence_count; i++) {
        struct place place = {"recurrence", of->by_recurrence[i].name, NULL};
        figures(out, &place, &of->by_recurrence[i].figures);
    }
    struct place total = {"total", NULL, NULL};
    figures(out, &total, &of->total);
    line(out, &total, "amount", &of->amount);
}

static void study(struct strbuf *out, const struct study *of) {
    struct place place = {"study", NULL, NULL};
    line(out, &place, "spent", &of->spent);
    line(out, &place, "failed_time", &of->failed_time);
    line(out, &place, "unplanned_time", &of->unplanned_time);
    line(out, &place, "first_success", &of->first_success);
    for (size_t i = 0; i < of->claim_count; i++)
        for (size_t k = 0; k < of->claims[i].observed_count; k++) {
            AUTO_STRBUF struct strbuf where = STRBUF_INIT;
            study_words_add_pairs(&where, of->claims[i].observed[k].where);
            struct place claim = {"claim", of->claims[i].claim->id, strbuf_str(&where)};
            line(out, &claim, of->claims[i].claim->result, &of->claims[i].observed[k].value);
        }
}

/* Least and most are figures, too: lines of their own. */
static void results(struct strbuf *out, const struct study *of) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct document_result *list = NULL;
    size_t count = document_results(of, arena, &list);
    for (size_t i = 0; i < count; i++) {
        struct place place = {"result", list[i].blocks, list[i].condition->label};
        line(out, &place, list[i].name, &list[i].value);
        if (!quantity_is_known(&list[i].value) || list[i].value.n < 2)
            continue;
        struct quantity bound = list[i].value;
        bound.method = list[i].obtained;
        bound.value = list[i].least;
        line(out, &place, arena_printf(arena, "%s.least", list[i].name), &bound);
        bound.value = list[i].most;
        line(out, &place, arena_printf(arena, "%s.most", list[i].name), &bound);
    }
}

static void runs(struct strbuf *out, const struct report_document *document) {
    for (size_t i = 0; i < document->run_count; i++) {
        const struct run *run = document->runs[i];
        const struct study_run *of = document_study_run(document, run);
        struct place place = {"run", of && of->block ? of->block->id : NULL,
                              of && of->condition ? of->condition->label : NULL};
        const char *sources[] = {run->id};
        for (size_t k = 0; k < measures_count(); k++) {
            struct quantity q = measures_get(run, k);
            /* of a run's many figures those that it has */
            if (!quantity_is_known(&q) && strcmp(measures_at(k)->name, "wall") != 0)
                continue;
            if (run->id && q.source_count == 0) {
                q.sources = sources;
                q.source_count = 1;
            }
            line(out, &place, measures_at(k)->name, &q);
        }
    }
}

/* Which of how many runs the lines below rest on. */
static void which_runs(struct strbuf *out, const struct report_document *document) {
    struct place place = {"document", NULL, NULL};
    const char *method = document->study ? "runs of the study" : "newest runs of the ledger";
    struct quantity in = quantity_measured(UNIT_COUNT, (double)document->run_count, method);
    struct quantity total =
        quantity_measured(UNIT_COUNT, (double)document_run_total(document), method);
    line(out, &place, "runs_in", &in);
    line(out, &place, "runs_total", &total);
}

void report_document_csv(const struct report_document *document, struct strbuf *out) {
    for (size_t i = 0; i < ARRAY_LENGTH(columns); i++)
        csv_add_text(out, columns[i]);
    csv_end_line(out);
    which_runs(out, document);
    if (document->study) {
        study(out, document->study);
        results(out, document->study);
    }
    if (document->estimate)
        estimate(out, document->estimate);
    runs(out, document);
}
