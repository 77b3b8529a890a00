/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first screen of a Markdown report: what was to be shown, what was found, what is left and how
 * long it takes, what is open. Names nothing that the sections below do not explain.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "report/markdown.h"
#include "report/study-words.h"

#define NAMED 5u

static void label(struct strbuf *out, const char *text) {
    strbuf_add_str(out, "- **");
    markdown_add(out, text);
    strbuf_add_str(out, ":** ");
}

/* "with half of the cache the text stays: not reproduced (agreement was …)" */
static void claim_item(const struct study_claim *claim, struct strbuf *out) {
    label(out, _("to be shown"));
    markdown_add(out, claim->claim->text ? claim->claim->text : claim->claim->id);
    strbuf_add_str(out, claim->verdict == STUDY_OPEN ? ": [?] **" : ": **");
    markdown_add(out, study_words_verdict(claim->verdict));
    strbuf_add_str(out, "**");
    if (claim->why) {
        strbuf_add_str(out, " (");
        markdown_add(out, claim->why);
        strbuf_add_char(out, ')');
    }
    strbuf_add_char(out, '\n');
}

/* Without claims the questions of the blocks are what there is. */
static void aims(const struct study *study, struct strbuf *out) {
    for (size_t i = 0; i < study->claim_count && i < NAMED; i++)
        claim_item(&study->claims[i], out);
    if (study->claim_count > NAMED) {
        AUTO_STRBUF struct strbuf more = STRBUF_INIT;
        strbuf_printf(&more,
                      msg_plural((unsigned long)(study->claim_count - NAMED),
                                 "%zu more claim stands below", "%zu more claims stand below"),
                      study->claim_count - NAMED);
        markdown_bullet(out, strbuf_str(&more));
    }
    if (study->claim_count > 0)
        return;
    AUTO_STRBUF struct strbuf questions = STRBUF_INIT;
    size_t count = 0;
    for (size_t i = 0; i < study->block_count && count < NAMED; i++)
        if (study->blocks[i].block->question)
            strbuf_printf(&questions, "%s%s", count++ > 0 ? " " : "",
                          study->blocks[i].block->question);
    label(out, _("to be shown"));
    strbuf_add_str(out, "[?] ");
    markdown_add(out, _("the plan names no claim"));
    if (count > 0) {
        markdown_add(out, _("; it asks: "));
        markdown_add(out, strbuf_str(&questions));
    }
    strbuf_add_char(out, '\n');
}

static void found(const struct report_document *document, struct strbuf *out) {
    const struct study *study = document->study;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    uint64_t done = 0, planned = 0;
    AUTO_ARENA struct arena *arena = arena_new();
    const bool *firsts = document_firsts(study, arena);
    size_t measured = 0, conditions = 0, at = 0;
    bool known = study->block_count > 0;
    for (size_t i = 0; i < study->block_count; i++) {
        const struct study_block *block = &study->blocks[i];
        known = known && block->has_planned;
        done += block->done;
        planned += block->planned;
        for (size_t c = 0; c < block->condition_count; c++) {
            if (!firsts[at++])
                continue;
            conditions++;
            measured += block->conditions[c].level == EVIDENCE_MEASURED;
        }
    }
    label(out, _("done so far"));
    strbuf_printf(
        &text,
        msg_plural((unsigned long)document->run_count, "%zu run was made", "%zu runs were made"),
        document->run_count);
    markdown_add(out, strbuf_str(&text));
    if (quantity_is_known(&study->spent) && !study_words_is_nothing(&study->spent)) {
        struct quantity spent = study_words_alone(&study->spent);
        strbuf_add_str(out, " (");
        markdown_add_quantity(out, &spent, true);
        strbuf_add_char(out, ')');
    }
    strbuf_clear(&text);
    if (study->block_count == 0) {
        markdown_add(out, _("; the plan has no blocks yet, for which they could count"));
        strbuf_add_char(out, '\n');
        return;
    }
    strbuf_printf(&text,
                  _("; %zu of %zu conditions have a run that counts; runs that count and "
                    "whose result was checked: %llu"),
                  measured, conditions, (unsigned long long)done);
    if (known)
        strbuf_printf(&text, _(" of %llu planned"), (unsigned long long)planned);
    else
        strbuf_add_str(&text, _("; how many are planned is open"));
    markdown_add(out, strbuf_str(&text));
    strbuf_add_char(out, '\n');
}

static void add_figure(const char *before, const struct quantity *q, struct strbuf *out) {
    struct quantity alone = study_words_alone(q);
    markdown_add(out, before);
    markdown_add_quantity(out, &alone, false);
}

static void left(const struct estimate *estimate, struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    uint64_t runs = 0;
    bool known = estimate->block_count > 0;
    for (size_t i = 0; i < estimate->block_count; i++) {
        known = known && estimate->blocks[i].has_remaining;
        runs += estimate->blocks[i].remaining;
    }
    label(out, estimate->provisional ? _("left to do, provisional") : _("left to do"));
    markdown_add(out, _("runs: "));
    if (known)
        strbuf_printf(&text, "%llu", (unsigned long long)runs);
    else
        strbuf_printf(&text, _("≥ %llu, open in some blocks"), (unsigned long long)runs);
    markdown_add(out, strbuf_str(&text));
    add_figure(_("; reserved (paid) machine time "), &estimate->total.reserved, out);
    add_figure(_("; from start to end "), &estimate->total.calendar, out);
    if (estimate->open_count > 0) {
        strbuf_clear(&text);
        strbuf_printf(&text,
                      msg_plural((unsigned long)estimate->open_count,
                                 "; %zu part is open and not in these times",
                                 "; %zu parts are open and not in these times"),
                      estimate->open_count);
        markdown_add(out, strbuf_str(&text));
    }
    strbuf_add_char(out, '\n');
}

static void open_facts(const struct study *study, struct strbuf *out) {
    if (study->open_fact_count == 0)
        return;
    label(out, _("open"));
    strbuf_add_str(out, "[?] ");
    for (size_t i = 0; i < study->open_fact_count && i < NAMED; i++) {
        const struct plan_fact *fact = study->open_facts[i];
        strbuf_add_str(out, i > 0 ? " " : "");
        markdown_add(out, fact->question ? fact->question : fact->id);
    }
    if (study->open_fact_count > NAMED) {
        AUTO_STRBUF struct strbuf more = STRBUF_INIT;
        strbuf_printf(&more, _(" and %zu more"), study->open_fact_count - NAMED);
        markdown_add(out, strbuf_str(&more));
    }
    strbuf_add_char(out, '\n');
}

void document_markdown_short(const struct report_document *document, struct strbuf *out) {
    markdown_heading(out, 2, _("In short"));
    aims(document->study, out);
    found(document, out);
    if (document->estimate && document->estimate->block_count > 0)
        left(document->estimate, out);
    open_facts(document->study, out);
}
