/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the forms of a report share (document-parts.h), and the verdict that each begins with. Must
 * not decide anything itself.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "report/decide.h"
#include "report/facts.h"
#include "report/run-text.h"

#include <string.h>

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

bool document_is_privacy(const struct plan_fact *fact) {
    return fact->about && strcmp(fact->about, "privacy") == 0;
}

/* ---- the verdict line ---- */

const char *report_document_verdict(const struct report_document *document, struct arena *arena) {
    if (!document->study)
        return _("There is no verdict: no plan was found, so nothing says what the runs are for. "
                 "'probelauf init' writes one.");
    if (!document->decision)
        return _("There is no verdict: 'probelauf decide' says what may be booked.");
    return report_decide_sentence(document->decision, arena);
}
