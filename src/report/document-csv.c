/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as CSV: one line per figure, so that a spreadsheet can filter and add up what it
 * likes. Columns say where a figure belongs, its state, bound, interval and what it rests on; an
 * open one has a reason and an empty value. Names are those of the JSON, never translated.
 */
#include "report/document-parts.h"

#include "report/cost.h"
#include "report/csv-cells.h"
#include "report/measures.h"
#include "report/study-words.h"

#include <string.h>

static const char *const columns[] = {"section", "block",       "condition", "name",  "state",
                                      "value",   "unit",        "bound",     "p05",   "p95",
                                      "level",   "n",           "method",    "basis", "reason",
                                      "sources", "environment", "standing"};

/* Where the figures of a group belong. */
struct place {
    const char *section, *block, *condition;
    const char *environment, *standing; /* of a run of a study; NULL: not known, or none */
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
    csv_add_text(out, place->environment);
    csv_add_text(out, place->standing);
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
            struct place of = {
                .section = "item", .block = place->block, .condition = all[i].items[k].name};
            line(out, &of, item, &all[i].items[k].time);
        }
    }
}

/* In whole units, six digits: as exact as the amount. */
static void money_cell(struct strbuf *out, bool known, int64_t micros) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (known)
        money_add_exact(&text, micros);
    strbuf_add_str(out, strbuf_str(&text));
    csv_end_cell(out);
}

static void money(struct strbuf *out, const struct place *place, const struct amount *amount) {
    bool known = amount_is_known(amount);
    AUTO_STRBUF struct strbuf sources = STRBUF_INIT;
    for (size_t i = 0; i < amount->source_count; i++)
        strbuf_add_next(&sources, " ", amount->sources[i]);
    csv_add_text(out, place->section);
    csv_add_text(out, place->block);
    csv_add_text(out, place->condition);
    csv_add_text(out, "amount");
    csv_add_text(out, quantity_state_name(amount->state));
    money_cell(out, known, amount->micros);
    csv_add_text(out, amount->currency);
    csv_add_text(out, known ? quantity_bound_name(amount->bound) : NULL);
    money_cell(out, known && amount->has_interval, amount->p05);
    money_cell(out, known && amount->has_interval, amount->p95);
    csv_add_number(out, known && amount->has_interval, amount->level);
    csv_add_integer(out, false, 0);
    csv_add_text(out, known ? "reserved time by the offer's terms" : NULL);
    csv_add_text(out, NULL);
    csv_add_text(out, known ? NULL : quantity_reason_name(amount->reason));
    csv_add_text(out, strbuf_str(&sources));
    csv_add_text(out, place->environment);
    csv_add_text(out, place->standing);
    csv_end_line(out);
}

static void estimate(struct strbuf *out, const struct estimate *of, const struct cost *cost) {
    for (size_t i = 0; i < of->block_count; i++) {
        const struct estimate_block *block = &of->blocks[i];
        struct place place = {.section = "block", .block = block->block->block->id};
        components(out, &place, block->components);
        figures(out, &place, &block->figures);
        memory(out, &place, "host_memory", &block->host_memory);
        memory(out, &place, "gpu_memory", &block->gpu_memory);
        line(out, &place, "bytes_in", &block->bytes_in);
        line(out, &place, "bytes_out", &block->bytes_out);
        struct amount amount = cost_block_amount(cost, i);
        money(out, &place, &amount);
    }
    for (size_t i = 0; i < of->by_extent_count; i++) {
        struct place place = {.section = "extent", .block = of->by_extent[i].name};
        figures(out, &place, &of->by_extent[i].figures);
        struct amount amount = cost_subtotal_amount(cost, true, i);
        money(out, &place, &amount);
    }
    for (size_t i = 0; i < of->by_recurrence_count; i++) {
        struct place place = {.section = "recurrence", .block = of->by_recurrence[i].name};
        figures(out, &place, &of->by_recurrence[i].figures);
        struct amount amount = cost_subtotal_amount(cost, false, i);
        money(out, &place, &amount);
    }
    struct place total = {.section = "total"};
    figures(out, &total, &of->total);
    struct amount amount = cost_amount(cost);
    money(out, &total, &amount);
}

static void study(struct strbuf *out, const struct study *of) {
    struct place place = {.section = "study"};
    line(out, &place, "spent", &of->here.spent);
    line(out, &place, "failed_time", &of->here.failed_time);
    line(out, &place, "spent_elsewhere", &of->elsewhere.spent);
    line(out, &place, "failed_time_elsewhere", &of->elsewhere.failed_time);
    line(out, &place, "unplanned_time", &of->unplanned_time);
    line(out, &place, "first_success", &of->first_success);
    for (size_t i = 0; i < of->claim_count; i++)
        for (size_t k = 0; k < of->claims[i].observed_count; k++) {
            AUTO_STRBUF struct strbuf where = STRBUF_INIT;
            study_words_add_pairs(&where, of->claims[i].observed[k].where);
            struct place claim = {.section = "claim",
                                  .block = of->claims[i].claim->id,
                                  .condition = strbuf_str(&where)};
            line(out, &claim, of->claims[i].claim->result, &of->claims[i].observed[k].value);
        }
}

/* Least and most are figures, too: lines of their own. */
static void results(struct strbuf *out, const struct study *of) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct document_result *list = NULL;
    size_t count = document_results(of, arena, &list);
    for (size_t i = 0; i < count; i++) {
        struct place place = {
            .section = "result", .block = list[i].blocks, .condition = list[i].condition->label};
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

/* In words of the JSON: what it is for the target environment. */
static const char *standing_of(const struct study_run *of) {
    if (!of)
        return NULL;
    if (!of->planned)
        return "unplanned";
    return of->condition ? evidence_level_name(of->evidence.level) : "step";
}

static void runs(struct strbuf *out, const struct report_document *document) {
    for (size_t i = 0; i < document->run_count; i++) {
        const struct run *run = document->runs[i];
        const struct study_run *of = document_study_run(document, run);
        struct place place = {.section = "run",
                              .block = of && of->block ? of->block->id : NULL,
                              .condition = of && of->condition ? of->condition->label : NULL,
                              .environment = of && of->environment ? of->environment->id : NULL,
                              .standing = standing_of(of)};
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
    struct place place = {.section = "document"};
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
        estimate(out, document->estimate, document->cost);
    runs(out, document);
}
