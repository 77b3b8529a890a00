/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as Markdown: what one hands over. Verdict line first, then notes, then what was found,
 * method and the meaning of the marks last. Somebody who does not know probelauf must understand
 * it alone: a term is explained where it first stands. Texts from outside pass markdown.h.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "report/markdown.h"
#include "report/review.h"
#include "report/run-text.h"

static void title(const struct report_document *document, struct strbuf *out) {
    const struct plan *plan = document->study ? document->study->input->plan : NULL;
    strbuf_add_str(out, "# ");
    markdown_add(out, _("Report"));
    if (plan && plan->study.title) {
        strbuf_add_str(out, ": ");
        markdown_add(out, plan->study.title);
    } else if (!plan) {
        markdown_add(out, _(" on the runs of a ledger"));
    }
    strbuf_add_str(out, "\n\n");
}

static void made(const struct report_document *document, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, _("Made by %s"), document->program ? document->program : "probelauf");
    if (document->now_utc_ns != 0) {
        strbuf_add_str(&text, _(" on "));
        run_text_add_date(&text, document->now_utc_ns);
        strbuf_add_str(&text, " UTC");
    }
    strbuf_printf(&text, _(" from %s"), document_runs_text(document, arena));
    if (document->study && document->study->input->plan->name) {
        const struct plan *plan = document->study->input->plan;
        strbuf_printf(&text, _("; plan %s (SHA-256 %.12s)"), plan->name, plan->digest);
    }
    strbuf_add_char(&text, '.');
    markdown_paragraph(out, strbuf_str(&text));
    strbuf_add_str(out, _("Every figure carries the mark of how it is known: [m] measured, [e] "
                          "estimated, [a] assumed, [?] open. Open is never 0; ≥ is at least."));
    strbuf_add_char(out, '\n');
}

static void notes(const struct report_document *document, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct report_note list[REPORT_NOTES_MAX];
    size_t count = report_document_notes(document, arena, list);
    if (count == 0)
        return;
    markdown_heading(out, 2, _("What to do next"));
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "%zu. **", i + 1);
        markdown_add(out, list[i].finding);
        strbuf_add_str(out, "**");
        if (list[i].evidence) {
            strbuf_add_str(out, " (");
            markdown_add(out, list[i].evidence);
            strbuf_add_char(out, ')');
        }
        strbuf_add_str(out, ". ");
        markdown_add(out, _("To do: "));
        markdown_add(out, list[i].todo);
        if (list[i].command) {
            strbuf_add_str(out, ": ");
            markdown_add_code(out, list[i].command, false);
        }
        strbuf_add_char(out, '\n');
    }
}

static void without_plan(struct strbuf *out) {
    markdown_heading(out, 2, _("What a plan would add"));
    markdown_bullet(out, _("which runs count as evidence for what, and why the others do not"));
    markdown_bullet(out, _("what is still open before anything is rented, and what it stops"));
    markdown_bullet(out, _("an estimate of all that is still to do, with what is not in it"));
    markdown_bullet(out, _("verdicts on the claims of the paper"));
    strbuf_add_char(out, '\n');
    strbuf_add_str(out, _("A plan is a file that people write; "));
    markdown_add_code(out, "probelauf init", false);
    strbuf_add_str(out, _(" begins one."));
    strbuf_add_char(out, '\n');
}

static void legend(struct strbuf *out) {
    markdown_heading(out, 2, _("The marks"));
    static const char *const rows[][2] = {
        {"[m]", N_("measured: read by the program, or a sum of such values")},
        {"[e]", N_("estimated: follows from measurements; a median, in brackets the range in which "
                   "the value lies with the probability named")},
        {"[a]", N_("assumed: entered by a person on purpose, with a name and a reason")},
        {"[?]", N_("open: not known, with the reason; never 0")},
        {"≥", N_("at least: the true value is no smaller (a sampled peak, a sum with an open "
                 "part)")},
        {"≤", N_("at most: the true value is no larger")},
    };
    const char *const titles[] = {_("sign"), _("meaning")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        strbuf_printf(out, "| %s ", rows[i][0]);
        markdown_cell(out, msg_get(rows[i][1]));
        markdown_end_row(out);
    }
}

void document_markdown_front(const struct report_document *document, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    title(document, out);
    strbuf_add_str(out, "**");
    markdown_add(out, report_document_verdict(document, arena));
    strbuf_add_str(out, "**\n\n");
    made(document, out);
    if (document->study)
        document_markdown_short(document, out);
    notes(document, out);
    document_markdown_decision(document, out);
    if (!document->study)
        return;
    document_markdown_study(document, out);
    document_markdown_blocks(document, out);
}

void document_markdown_review(const struct report_document *document, struct strbuf *out) {
    if (document->review)
        report_review_markdown(document->review, out);
}

void document_markdown_middle(const struct report_document *document, struct strbuf *out) {
    if (document->study) {
        document_markdown_sessions(document, out);
        document_markdown_ground(document, out);
    }
    document_markdown_rules(document, out);
}

void document_markdown_back(const struct report_document *document, struct strbuf *out) {
    document_markdown_method(document, out);
    if (!document->study)
        without_plan(out);
    legend(out);
}

void report_document_markdown(const struct report_document *document, struct strbuf *ret_out) {
    AUTO_STRBUF struct strbuf raw = STRBUF_INIT;
    document_markdown_front(document, &raw);
    if (document->estimate)
        document_markdown_estimate(document, &raw);
    document_markdown_review(document, &raw);
    document_markdown_middle(document, &raw);
    document_markdown_runs(document, &raw);
    document_markdown_back(document, &raw);
    markdown_finish(&raw, ret_out);
}
