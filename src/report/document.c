/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the forms of a report share (document-parts.h), and the verdict line: until `decide` exists,
 * what one would need. Must not sound like a verdict.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "report/facts.h"
#include "report/run-text.h"

#include <string.h>

#define NAMES_SHOWN 4u

const struct study_run *document_study_run(const struct report_document *document,
                                           const struct run *run) {
    for (size_t i = 0; document->study && i < document->study->run_count; i++)
        if (document->study->runs[i].run == run)
            return &document->study->runs[i];
    return NULL;
}

bool document_is_failure(const struct run *run) {
    return run->outcome != OUTCOME_OK && run->outcome != OUTCOME_ENDED &&
           run->outcome != OUTCOME_RUNNING;
}

const char *document_cause_name(const struct run *run) {
    const struct run_incident *incident = run_text_cause(run);
    return incident && incident->name ? incident->name : outcome_name(run->outcome);
}

void document_add_cause(struct strbuf *out, const struct run *run) {
    const struct run_incident *incident = run_text_cause(run);
    const char *text = incident ? incident->line : json_get_text(run->end, "start_error", NULL);
    if (!text && !incident)
        text = facts_run_meaning(run);
    strbuf_add_str(out, document_cause_name(run));
    if (text)
        strbuf_printf(out, ": %s", text);
}

const char *document_standing(const struct report_document *document, const struct run *run,
                              struct arena *arena) {
    const struct study_run *of = document_study_run(document, run);
    if (!of)
        return NULL;
    if (!of->planned)
        return of->unplanned_why ? arena_printf(arena, _("unplanned: %s"), of->unplanned_why)
                                 : _("unplanned");
    if (!of->condition)
        return _("a step of the plan");
    switch (of->evidence.level) {
    case EVIDENCE_MEASURED:
        return of->evidence.verified ? _("evidence") : _("evidence for time; not verified");
    case EVIDENCE_FUNCTION_TEST:
        return arena_printf(arena, _("function test: %s"),
                            of->evidence.why ? of->evidence.why : "");
    case EVIDENCE_NONE:
        return arena_printf(arena, _("not evidence: %s"), of->evidence.why ? of->evidence.why : "");
    case EVIDENCE_LEVEL_COUNT_:
        break;
    }
    return NULL;
}

void document_add_changes(struct strbuf *out, const struct run *run) {
    const json_t *changes =
        json_is_array(run->changes) ? run->changes : json_get_array(run->start, "changes");
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const char *text = json_string_value(json_array_get(changes, i));
        if (text)
            strbuf_add_next(out, "; ", text);
    }
}

void document_add_place(struct strbuf *out, const struct report_document *document,
                        const struct run *run) {
    const struct study_run *of = document_study_run(document, run);
    const char *step = json_get_text(run->start, "step", NULL);
    if (of && of->condition) {
        const struct plan_block *block = of->block ? of->block : of->condition->block;
        strbuf_printf(out, "%s: %s", block->id, of->condition->label);
    } else if (step) {
        strbuf_printf(out, _("step %s"), step);
    } else {
        run_text_add_condition(out, run);
    }
}

size_t document_run_total(const struct report_document *document) {
    return document->run_total > document->run_count ? document->run_total : document->run_count;
}

const char *document_runs_text(const struct report_document *document, struct arena *arena) {
    size_t count = document->run_count, total = document_run_total(document);
    if (count < total)
        return arena_printf(arena, _("the %zu newest of %zu runs of the ledger"), count, total);
    if (document->study)
        return arena_printf(arena,
                            msg_plural((unsigned long)count, "%zu run, all of the study",
                                       "%zu runs, all of the study"),
                            count);
    return arena_printf(arena,
                        msg_plural((unsigned long)count, "%zu run, all of the ledger",
                                   "%zu runs, all of the ledger"),
                        count);
}

/* ---- the verdict line ---- */

struct missing {
    struct strbuf text;
    size_t count;
};

static void add_missing(struct missing *missing, const char *text) {
    strbuf_printf(&missing->text, "%s%s", missing->count++ > 0 ? "; " : "", text);
}

/* "a, b, c and 2 more" */
static void add_name(struct strbuf *names, size_t *count, const char *name) {
    if (*count < NAMES_SHOWN)
        strbuf_printf(names, "%s%s", *count > 0 ? ", " : "", name);
    (*count)++;
}

static void end_names(struct strbuf *names, size_t count) {
    if (count > NAMES_SHOWN)
        strbuf_printf(names, _(" and %zu more"), count - NAMES_SHOWN);
}

/* The verdict asks for it by name: without an answer the machine may be one that must not be used.
 */
bool document_is_privacy(const struct plan_fact *fact) {
    return fact->about && strcmp(fact->about, "privacy") == 0;
}

static void miss_facts(struct missing *missing, const struct study *study, bool privacy,
                       struct arena *arena) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    size_t count = 0;
    for (size_t i = 0; i < study->open_fact_count; i++)
        if (document_is_privacy(study->open_facts[i]) == privacy)
            add_name(&names, &count, study->open_facts[i]->id);
    end_names(&names, count);
    if (count > 0 && privacy)
        add_missing(missing,
                    arena_printf(arena, _("settled data protection (%s)"), strbuf_str(&names)));
    else if (count > 0)
        add_missing(missing,
                    arena_printf(arena,
                                 msg_plural((unsigned long)count, "an answer to the open fact %s",
                                            "answers to the open facts %s"),
                                 strbuf_str(&names)));
}

static void miss_evidence(struct missing *missing, const struct study *study, struct arena *arena) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    size_t count = 0;
    for (size_t i = 0; i < study->block_count; i++)
        if (study->blocks[i].level != EVIDENCE_MEASURED)
            add_name(&names, &count, study->blocks[i].block->id);
    end_names(&names, count);
    if (count > 0)
        add_missing(missing, arena_printf(arena, _("measured evidence for the whole of %s"),
                                          strbuf_str(&names)));
}

static bool is_unmeasured(const struct estimate_memory *memory) {
    return !quantity_is_known(&memory->need) && memory->need.reason != QUANTITY_NOT_APPLICABLE;
}

static void miss_memory(struct missing *missing, const struct estimate *estimate,
                        struct arena *arena) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    size_t count = 0;
    for (size_t i = 0; i < estimate->block_count; i++)
        if (is_unmeasured(&estimate->blocks[i].host_memory) ||
            is_unmeasured(&estimate->blocks[i].gpu_memory))
            add_name(&names, &count, estimate->blocks[i].block->block->id);
    end_names(&names, count);
    if (count > 0)
        add_missing(missing, arena_printf(arena, _("the memory peak of %s"), strbuf_str(&names)));
}

const char *report_document_verdict(const struct report_document *document, struct arena *arena) {
    if (!document->study)
        return _("There is no verdict: no plan was found, so nothing says what the runs are for. "
                 "'probelauf init' writes one.");
    struct missing missing = {0};
    const struct study *study = document->study;
    if (study->block_count == 0)
        add_missing(&missing, _("blocks in the plan"));
    if (!study->input->environment)
        add_missing(&missing, _("an environment in the plan"));
    miss_facts(&missing, study, false, arena);
    miss_facts(&missing, study, true, arena);
    miss_evidence(&missing, study, arena);
    if (document->estimate) {
        miss_memory(&missing, document->estimate, arena);
        if (!quantity_is_known(&document->estimate->amount))
            add_missing(&missing, _("an offer with source and date"));
    }
    const char *verdict =
        missing.count == 0
            ? _("There is no verdict yet: this version does not decide whether to rent. The plan "
                "lacks nothing that it knows of for one.")
            : arena_printf(arena,
                           _("There is no verdict yet: this version does not decide whether to "
                             "rent. Missing for one: %s."),
                           strbuf_str(&missing.text));
    strbuf_done(&missing.text);
    return verdict;
}
