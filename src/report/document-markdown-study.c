/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sections of a Markdown report that come from the plan: what the study is, its claims, scope
 * with what is left out, facts, environments. Says nothing that the plan does not say.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "report/markdown.h"
#include "report/study-words.h"

#include <string.h>

static void about(const struct plan *plan, struct strbuf *out) {
    markdown_heading(out, 2, _("The study"));
    AUTO_STRBUF struct strbuf paper = STRBUF_INIT;
    AUTO_STRBUF struct strbuf scope = STRBUF_INIT;
    strbuf_printf(&paper, "%s, %s",
                  plan->study.paper_title ? plan->study.paper_title : _("title open"),
                  plan->study.paper_version ? plan->study.paper_version : _("version open"));
    if (plan->study.paper_url)
        strbuf_printf(&paper, ", %s", plan->study.paper_url);
    const char *name = plan_scope_name(plan->study.scope);
    strbuf_add_str(&scope, name && *name ? name : _("open"));
    if (plan->study.scope_note)
        strbuf_printf(&scope, ": %s", plan->study.scope_note);
    markdown_paragraph(out, _("A study reproduces one version of one paper; results of different "
                              "versions are never mixed."));
    markdown_item(out, _("paper"), strbuf_str(&paper));
    markdown_item(out, _("scope"), strbuf_str(&scope));
    markdown_item(out, _("code"), plan->code.repo);
    markdown_item(out, _("study id"), plan->study.id);
}

/* "policy=evict keep=0.5: agreement >= 0.9": what the claim asks for. */
static void add_asked(struct strbuf *out, const struct plan_claim *claim) {
    if (claim->result)
        strbuf_add_str(out, claim->result);
    if (claim->where.count > 0) {
        strbuf_add_str(out, _(" of "));
        study_words_add_pairs(out, &claim->where);
    }
    if (claim->threshold.given) {
        strbuf_add_char(out, ' ');
        study_words_add_threshold(out, &claim->threshold);
    }
    if (claim->paper_value.given)
        strbuf_printf(out, _("; the paper says %s"),
                      claim->paper_value.text ? claim->paper_value.text : "?");
    char tolerance[MSG_DECIMAL_SIZE];
    if (claim->tolerance.given)
        strbuf_printf(out, _(", tolerance %s%s"),
                      msg_decimal(tolerance, "%.6g",
                                  claim->tolerance.relative ? claim->tolerance.value * 100
                                                            : claim->tolerance.value),
                      claim->tolerance.relative ? " %" : "");
    for (size_t i = 0; i < claim->ordering_count; i++) {
        strbuf_add_str(out, i > 0 ? _(" better than ") : ": ");
        study_words_add_pairs(out, &claim->ordering[i]);
    }
}

static void observed_cell(const struct study_claim *claim, struct strbuf *out) {
    strbuf_add_str(out, "| ");
    for (size_t i = 0; i < claim->observed_count; i++) {
        const struct study_observed *group = &claim->observed[i];
        AUTO_STRBUF struct strbuf where = STRBUF_INIT;
        if (i > 0)
            strbuf_add_str(out, "; ");
        if (claim->observed_count > 1) {
            study_words_add_pairs(&where, group->where);
            strbuf_add_str(&where, ": ");
            markdown_add(out, strbuf_str(&where));
        }
        markdown_add_quantity(out, &group->value, true);
        if (quantity_is_known(&group->value) && group->value.n > 1) {
            AUTO_STRBUF struct strbuf range = STRBUF_INIT;
            char least[MSG_DECIMAL_SIZE], most[MSG_DECIMAL_SIZE];
            strbuf_printf(
                &range, _(" (%s to %s in %llu runs)"), msg_decimal(least, "%.6g", group->least),
                msg_decimal(most, "%.6g", group->most), (unsigned long long)group->value.n);
            markdown_add(out, strbuf_str(&range));
        }
    }
    strbuf_add_char(out, ' ');
}

static void verdict_cell(enum study_verdict verdict, struct strbuf *out) {
    strbuf_add_str(out, verdict == STUDY_OPEN ? "| [?] " : "| ");
    markdown_add(out, study_words_verdict(verdict));
    strbuf_add_char(out, ' ');
}

static void claims(const struct study *study, struct strbuf *out) {
    if (study->claim_count == 0)
        return;
    markdown_heading(out, 3, _("Claims"));
    markdown_paragraph(out, _("A claim is reproduced or not only if runs that count decide it; "
                              "otherwise it is open."));
    const char *const titles[] = {_("claim"), _("it says"), _("asked for"), _("observed"),
                                  _("verdict")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < study->claim_count; i++) {
        const struct study_claim *claim = &study->claims[i];
        AUTO_STRBUF struct strbuf asked = STRBUF_INIT;
        add_asked(&asked, claim->claim);
        markdown_cell(out, claim->claim->id);
        markdown_cell(out, claim->claim->text);
        markdown_cell(out, strbuf_str(&asked));
        observed_cell(claim, out);
        verdict_cell(claim->verdict, out);
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < study->claim_count; i++)
        markdown_item(out, study->claims[i].claim->id, study->claims[i].why);
}

static void repeats(const struct study *study, struct strbuf *out) {
    if (study->repeat_check_count == 0)
        return;
    markdown_heading(out, 3, _("Repetitions"));
    const char *const titles[] = {_("block"), _("condition"), _("first"), _("repeat"),
                                  _("verdict")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < study->repeat_check_count; i++) {
        const struct study_repeat_check *check = &study->repeat_checks[i];
        markdown_cell(out, check->block->id);
        markdown_cell(out, check->condition->label);
        markdown_cell_quantity(out, &check->first, true);
        markdown_cell_quantity(out, &check->repeat, true);
        verdict_cell(check->verdict, out);
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < study->repeat_check_count; i++) {
        const struct study_repeat_check *check = &study->repeat_checks[i];
        AUTO_STRBUF struct strbuf label = STRBUF_INIT;
        strbuf_printf(&label, "%s, %s", check->block->id, check->condition->label);
        markdown_item(out, strbuf_str(&label), check->why);
    }
}

static void scope(const struct plan *plan, struct strbuf *out) {
    markdown_heading(out, 2, _("Scope: what is done, and what is left out"));
    if (plan->paper_part_count == 0)
        markdown_paragraph(out, _("The plan does not record the experiments of the paper, so what "
                                  "is left out is open."));
    const char *const titles[] = {_("experiment of the paper"), _("role"), _("here"), _("why"),
                                  _("source")};
    if (plan->paper_part_count > 0)
        markdown_table(out, titles, ARRAY_LENGTH(titles));
    static const enum plan_answer order[] = {PLAN_YES, PLAN_NO, PLAN_UNSAID};
    for (size_t o = 0; o < ARRAY_LENGTH(order); o++)
        for (size_t i = 0; i < plan->paper_part_count; i++) {
            const struct plan_paper_part *part = &plan->paper_parts[i];
            if (part->included != order[o])
                continue;
            markdown_cell(out, part->part);
            markdown_cell(out, part->role ? part->role : _("not said"));
            markdown_cell(out, study_words_included(part->included));
            markdown_cell(out, part->why);
            markdown_cell(out, part->source);
            markdown_end_row(out);
        }
    if (plan->deviation_count == 0)
        return;
    strbuf_add_char(out, '\n');
    markdown_paragraph(out, _("What is done differently from the paper:"));
    for (size_t i = 0; i < plan->deviation_count; i++) {
        const struct plan_deviation *deviation = &plan->deviations[i];
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_add_str(&text, deviation->what ? deviation->what : "");
        if (deviation->why)
            strbuf_printf(&text, ": %s", deviation->why);
        if (deviation->source)
            strbuf_printf(&text, " (%s)", deviation->source);
        markdown_bullet(out, strbuf_str(&text));
    }
}

static void fact_row(const struct plan_fact *fact, struct strbuf *out) {
    AUTO_STRBUF struct strbuf source = STRBUF_INIT;
    AUTO_STRBUF struct strbuf stops = STRBUF_INIT;
    char seen[MSG_DATE_SIZE];
    if (fact->source)
        strbuf_add_str(&source, fact->source);
    if (fact->source_kind)
        strbuf_add_next(&source, ", ", fact->source_kind);
    if (fact->seen.given && fact->seen.text)
        strbuf_add_next(&source, ", ", msg_date(seen, fact->seen.text));
    if (fact->state == PLAN_FACT_OPEN && fact->stops != 0)
        plan_stops_text(fact->stops, &stops);
    markdown_cell(out, fact->id);
    strbuf_add_str(out, fact->state == PLAN_FACT_OPEN ? "| [?] " : "| ");
    markdown_add(out, study_words_fact(fact->state));
    strbuf_add_char(out, ' ');
    markdown_cell(out, fact->state == PLAN_FACT_OPEN ? fact->question : fact->value);
    markdown_cell(out, strbuf_str(&source));
    markdown_cell(out, strbuf_str(&stops));
    markdown_end_row(out);
}

static void facts(const struct plan *plan, struct strbuf *out) {
    markdown_heading(out, 2, _("Facts"));
    if (plan->fact_count == 0) {
        markdown_paragraph(out, _("The plan names none: whether code, weights and data can be used "
                                  "is open."));
        return;
    }
    markdown_paragraph(out,
                       _("What has to be known before anything is rented. A fact is known with "
                         "a source and a date, open with the question that is to be answered, "
                         "or not applicable."));
    const char *const titles[] = {_("fact"), _("state"), _("value or question"), _("source, date"),
                                  _("it stops")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    static const enum plan_fact_state order[] = {PLAN_FACT_OPEN, PLAN_FACT_KNOWN,
                                                 PLAN_FACT_NOT_APPLICABLE};
    for (size_t o = 0; o < ARRAY_LENGTH(order); o++)
        for (size_t i = 0; i < plan->fact_count; i++)
            if (plan->facts[i].state == order[o])
                fact_row(&plan->facts[i], out);
}

static const char *answer_word(enum plan_answer answer) {
    switch (answer) {
    case PLAN_YES:
        return _("yes");
    case PLAN_NO:
        return _("no");
    case PLAN_UNSAID:
        return _("[?] open");
    }
    return "";
}

/* Without escaping: "[?]" is a mark. */
static void answer_cell(enum plan_answer answer, struct strbuf *out) {
    strbuf_printf(out, "| %s ", answer_word(answer));
}

static void tasks(const struct plan *plan, struct strbuf *out) {
    if (plan->task_count == 0)
        return;
    markdown_heading(out, 2, _("Tasks for people"));
    markdown_paragraph(out, _("What needs no rented machine is to be done before it is booked."));
    const char *const titles[] = {_("task"), _("what"), _("needs the rented machine"), _("done"),
                                  _("time assumed")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < plan->task_count; i++) {
        const struct plan_task *task = &plan->tasks[i];
        AUTO_STRBUF struct strbuf time = STRBUF_INIT;
        markdown_cell(out, task->id);
        markdown_cell(out, task->what);
        answer_cell(task->needs_machine, out);
        answer_cell(task->done, out);
        if (task->time.given) {
            char when[MSG_DATE_SIZE];
            quantity_format_value((double)task->time.ns / 1e9, UNIT_SECOND, &time);
            if (task->who)
                strbuf_printf(&time, _(", by %s"), task->who);
            if (task->when.given && task->when.text)
                strbuf_printf(&time, ", %s", msg_date(when, task->when.text));
            strbuf_add_str(out, "| [a] ");
            markdown_add(out, strbuf_str(&time));
            strbuf_add_char(out, ' ');
        } else {
            strbuf_add_str(out, "| [?] ");
            markdown_add(out, _("open"));
            strbuf_add_char(out, ' ');
        }
        markdown_end_row(out);
    }
}

static void privacy(const struct study *study, struct strbuf *out) {
    const struct plan_privacy *privacy = &study->input->plan->privacy;
    markdown_heading(out, 2, _("Data protection"));
    strbuf_printf(out, "- **%s:** ", _("class of the data"));
    if (privacy->data_class)
        markdown_add(out, privacy->data_class);
    else
        strbuf_add_str(out, answer_word(PLAN_UNSAID));
    strbuf_printf(out, "\n- **%s:** %s\n", _("may data and models be moved to the machine"),
                  answer_word(privacy->may_transfer));
    AUTO_STRBUF struct strbuf statement = STRBUF_INIT;
    const struct plan_sourced *said = &privacy->provider_statement;
    char seen[MSG_DATE_SIZE];
    if (said->value)
        strbuf_add_str(&statement, said->value);
    if (said->value && said->source)
        strbuf_printf(&statement, " (%s%s%s)", said->source, said->seen.given ? ", " : "",
                      said->seen.given ? msg_date(seen, said->seen.text) : "");
    markdown_item(out, _("statement of the provider"), strbuf_str(&statement));
    markdown_item(out, _("own assessment"), privacy->assessment);
    markdown_item(out, _("kept for"), privacy->retention);
    markdown_item(out, _("who can read it"), privacy->readers);
    markdown_item(out, _("stored at"), privacy->storage);
    for (size_t i = 0; i < study->open_fact_count; i++) {
        const struct plan_fact *fact = study->open_facts[i];
        if (!document_is_privacy(fact))
            continue;
        strbuf_add_str(out, "- [?] ");
        markdown_add(out, _("not settled, which stops booking: "));
        markdown_add(out, fact->question ? fact->question : fact->id);
        strbuf_add_char(out, '\n');
    }
}

/* "own machine, 0 GPUs, must match: torch; open: driver, memory": a table would be empty in most
 * of its cells. */
static void environment_item(const struct plan_environment *environment, bool is_target,
                             struct strbuf *out) {
    AUTO_STRBUF struct strbuf label = STRBUF_INIT;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf open = STRBUF_INIT;
    bool no_gpu = environment->gpus.given && environment->gpus.value == 0;
    strbuf_printf(&label, is_target ? _("%s (the target)") : "%s", environment->id);
    strbuf_add_next(environment->kind == PLAN_ENVIRONMENT_UNSAID ? &open : &text, ", ",
                    environment->kind == PLAN_ENVIRONMENT_UNSAID
                        ? _("what kind of machine")
                        : study_words_environment(environment->kind));
    if (no_gpu)
        strbuf_add_next(&text, ", ", _("no GPU"));
    else if (environment->gpus.given)
        strbuf_printf(
            &text, msg_plural((unsigned long)environment->gpus.value, "%s%lld GPU", "%s%lld GPUs"),
            text.length > 0 ? ", " : "", (long long)environment->gpus.value);
    else
        strbuf_add_next(&open, ", ", _("number of GPUs"));
    if (!no_gpu) {
        strbuf_add_next(environment->gpu ? &text : &open, ", ",
                        environment->gpu ? environment->gpu : _("GPU model"));
        strbuf_add_next(environment->driver ? &text : &open, ", ", _("driver"));
        if (environment->driver)
            strbuf_printf(&text, " %s", environment->driver);
        strbuf_add_next(environment->gpu_memory.given ? &text : &open, ", ", _("GPU memory"));
        if (environment->gpu_memory.given) {
            strbuf_add_str(&text, " [a] "); /* as under Memory: the plan says so */
            quantity_format_value((double)environment->gpu_memory.bytes, UNIT_BYTE, &text);
        }
    }
    strbuf_add_next(environment->host_memory.given ? &text : &open, ", ", _("memory"));
    if (environment->host_memory.given) {
        strbuf_add_str(&text, " [a] ");
        quantity_format_value((double)environment->host_memory.bytes, UNIT_BYTE, &text);
    }
    for (size_t k = 0; k < environment->match.count; k++)
        strbuf_printf(&text, "%s%s", k > 0 ? ", " : _("; must match in "),
                      environment->match.items[k].text);
    strbuf_add_str(out, "- **");
    markdown_add(out, strbuf_str(&label));
    strbuf_add_str(out, ":** ");
    markdown_add(out, strbuf_str(&text));
    if (open.length > 0) {
        strbuf_add_str(out, text.length > 0 ? "; [?] " : "[?] ");
        markdown_add(out, _("open: "));
        markdown_add(out, strbuf_str(&open));
    }
    strbuf_add_char(out, '\n');
}

static void environments(const struct study *study, struct strbuf *out) {
    const struct plan *plan = study->input->plan;
    markdown_heading(out, 2, _("Environments"));
    if (plan->environment_count == 0) {
        markdown_paragraph(out, _("The plan names none: where the work is to be done is open."));
        return;
    }
    markdown_paragraph(out, _("Machines that the work may be done on. Evidence, estimate and offer "
                              "belong to one of them and never to another; this report is about "
                              "the one that is the target."));
    for (size_t i = 0; i < plan->environment_count; i++)
        environment_item(&plan->environments[i],
                         &plan->environments[i] == study->input->environment, out);
}

void document_markdown_study(const struct report_document *document, struct strbuf *out) {
    about(document->study->input->plan, out);
    claims(document->study, out);
    document_markdown_results(document, out);
    repeats(document->study, out);
}

void document_markdown_ground(const struct report_document *document, struct strbuf *out) {
    const struct plan *plan = document->study->input->plan;
    facts(plan, out);
    privacy(document->study, out);
    tasks(plan, out);
    scope(plan, out);
    environments(document->study, out);
}
