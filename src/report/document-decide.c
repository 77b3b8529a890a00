/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decision in a Markdown report: what it is for each environment and block, what would change
 * it, the validation, and what can be done before anything is booked; further below every rule with
 * its answer and what it rests on. Decides nothing.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/decide.h"
#include "report/markdown.h"

#define CHANGES_SHOWN 20u

/* "text (source)"; a run is called by the tail of its id. */
static void add_sourced(struct strbuf *out, const char *text, const char *source) {
    strbuf_add_str(out, text);
    if (source != NULL)
        strbuf_printf(out, " (%s)", uuid_is_valid(source) ? uuid_tail(source) : source);
}

static void rule_row(const struct decide_rule *rule, const char *block, struct strbuf *out) {
    AUTO_STRBUF struct strbuf grounds = STRBUF_INIT;
    for (size_t i = 0; i < rule->ground_count; i++) {
        strbuf_add_str(&grounds, i > 0 ? "; " : "");
        add_sourced(&grounds, rule->grounds[i].text, rule->grounds[i].source);
    }
    markdown_cell(out, decide_id_name(rule->id));
    markdown_cell(out, block);
    markdown_cell(out, rule->when);
    markdown_cell(out, report_answer_text(rule->answer));
    markdown_cell(out, strbuf_str(&grounds));
    markdown_cell(out, rule->fires ? rule->then : rule->change);
    markdown_end_row(out);
}

static void environment_section(const struct decide_environment *environment, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *verdict = report_environment_verdict(environment);
    const char *const titles[] = {_("rule"),   _("block"),    _("when"),
                                  _("answer"), _("rests on"), _("then, or what would change it")};
    markdown_heading(
        out, 3,
        environment->environment != NULL
            ? arena_printf(arena, _("Environment '%s': %s"), environment->environment->id, verdict)
            : arena_printf(arena, _("No environment in the plan: %s"), verdict));
    if (environment->option != NULL)
        markdown_item(out, _("beside"), environment->option);
    if (environment->nothing_left)
        return;
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (enum decide_id id = DECIDE_E5; id < DECIDE_ID_COUNT_; id++)
        for (size_t i = 0; i < environment->block_count; i++) {
            const struct decide_block *block = &environment->blocks[i];
            bool is_of_block = decide_is_of_block(id) && block->block != NULL;
            if (is_of_block ? block->nothing_left : i > 0)
                continue;
            rule_row(&block->rules[id], is_of_block ? block->block->block->id : _("all"), out);
        }
    strbuf_add_char(out, '\n');
}

static void changes(const struct decision *decision, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct report_change *list = NULL;
    size_t count = report_decide_changes(decision, arena, &list);
    if (count == 0)
        return;
    markdown_heading(out, 3, _("What would change the decision"));
    for (size_t i = 0; i < count && i < CHANGES_SHOWN; i++)
        markdown_item(out, list[i].rules,
                      list[i].todo != NULL
                          ? arena_printf(arena, "%s: %s", list[i].what, list[i].todo)
                          : list[i].what);
    if (count > CHANGES_SHOWN)
        markdown_bullet(out,
                        arena_printf(arena, _("and %zu more: 'probelauf decide -v' lists them"),
                                     (size_t)(count - CHANGES_SHOWN)));
    strbuf_add_char(out, '\n');
}

static void validation(const struct decision *decision, struct strbuf *out) {
    const struct plan_validation *set = decision->validation;
    AUTO_ARENA struct arena *arena = arena_new();
    const char *cap = report_validation_cap(set, arena);
    if (decision->verdict != DECIDE_VALIDATE_FIRST)
        return;
    markdown_heading(out, 3, _("The validation (set by the team; no estimate)"));
    markdown_item(out, _("at most"), cap != NULL ? cap : _("open"));
    markdown_item(out, _("given up when"),
                  set->stop_condition != NULL ? set->stop_condition : _("open"));
    markdown_item(out, _("has to show"), set->result != NULL ? set->result : _("open"));
    for (size_t i = 0; i < decision->validation_lack_count; i++)
        markdown_item(out, _("not set"), decision->validation_lacks[i]);
    strbuf_add_char(out, '\n');
}

/* Blocks with the same verdict for the same reason in one row. */
static void verdict_rows(const struct decide_environment *environment, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct report_decide_row *rows = NULL;
    const char *id = environment->environment != NULL ? environment->environment->id : _("none");
    size_t count = report_decide_rows(environment, true, arena, &rows);
    for (size_t i = 0; i < count; i++) {
        const struct decide_block *block = rows[i].block;
        AUTO_STRBUF struct strbuf why = STRBUF_INIT;
        if (block->by != NULL && block->by->ground_count > 0)
            add_sourced(&why, block->by->grounds[0].text, block->by->grounds[0].source);
        markdown_cell(out, id);
        markdown_cell(out, rows[i].blocks);
        markdown_cell(out, report_verdict_text(block->verdict, block->nothing_left));
        markdown_cell(out, block->by != NULL ? decide_id_name(block->by->id) : "");
        markdown_cell(out, strbuf_str(&why));
        markdown_end_row(out);
    }
}

void document_markdown_decision(const struct report_document *document, struct strbuf *out) {
    const struct decision *decision = document->decision;
    const char *const titles[] = {_("environment"), _("block"), _("verdict"), _("rule"), _("why")};
    if (decision == NULL)
        return;
    markdown_heading(out, 2, _("Decision"));
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < decision->environment_count; i++)
        verdict_rows(&decision->environments[i], out);
    strbuf_add_char(out, '\n');
    changes(decision, out);
    validation(decision, out);
    if (decision->before_booking_count == 0)
        return;
    markdown_heading(out, 3, _("To do before booking"));
    markdown_paragraph(out, _("What needs no rented machine is done before one is paid for."));
    for (size_t i = 0; i < decision->before_booking_count; i++)
        markdown_bullet(out, decision->before_booking[i]);
    strbuf_add_char(out, '\n');
}

void document_markdown_rules(const struct report_document *document, struct strbuf *out) {
    const struct decision *decision = document->decision;
    if (decision == NULL)
        return;
    markdown_heading(out, 2, _("Rules of the decision"));
    markdown_paragraph(out, _("Asked in this order; the most cautious one that applies stands. Of "
                              "an open question the cautious side holds."));
    for (size_t i = 0; i < decision->environment_count; i++)
        environment_section(&decision->environments[i], out);
}
