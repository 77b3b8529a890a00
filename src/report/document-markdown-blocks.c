/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sections of a Markdown report about blocks and their conditions: what is planned, what is
 * done, and why evidence is missing.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "report/block-run.h"
#include "report/markdown.h"
#include "report/run-text.h"
#include "report/study-words.h"

#include <string.h>

static void add_done(struct strbuf *out, uint64_t done, bool known, uint64_t planned) {
    strbuf_printf(out, "%llu/", (unsigned long long)done);
    study_words_add_count(out, known, planned);
}

static void done_cell(struct strbuf *out, uint64_t done, bool known, uint64_t planned) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    add_done(&text, done, known, planned);
    markdown_cell(out, strbuf_str(&text));
}

static void level_cell(struct strbuf *out, enum evidence_level level, const char *why) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, study_words_level(level));
    if (why)
        strbuf_printf(&text, ": %s", why);
    strbuf_add_str(out, level == EVIDENCE_MEASURED ? "| [m] " : "| [?] ");
    markdown_add(out, strbuf_str(&text));
    strbuf_add_char(out, ' ');
}

static void overview(const struct study *study, struct strbuf *out) {
    const char *const titles[] = {_("block"), _("kind"),  _("backed"),  _("state"),
                                  _("done"),  _("valid"), _("evidence")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < study->block_count; i++) {
        const struct study_block *block = &study->blocks[i];
        AUTO_STRBUF struct strbuf nature = STRBUF_INIT;
        study_words_add_nature(&nature, block->block);
        markdown_cell(out, block->block->id);
        markdown_cell(out, nature.length > 0 ? strbuf_str(&nature) : _("not said"));
        markdown_cell(out, study_words_backing(block->block->state));
        markdown_cell(out, study_words_state(block->state));
        done_cell(out, block->done, block->has_planned, block->planned);
        markdown_cell_count(out, true, block->valid);
        level_cell(out, block->level, NULL); /* why stands with its conditions */
        markdown_end_row(out);
    }
}

static const char *supported_word(enum plan_answer answer) {
    switch (answer) {
    case PLAN_YES:
        return _("yes");
    case PLAN_NO:
        return _("no");
    case PLAN_UNSAID:
        return _("open");
    }
    return "";
}

/* Nothing happened to it: it needs no row of its own, only its name beside the others. */
static bool is_untouched(const struct study_condition *condition) {
    return condition->attempts == 0 && condition->valid == 0 && condition->done == 0 &&
           condition->level != EVIDENCE_MEASURED && condition->condition->supported != PLAN_NO;
}

static void touched(const struct study_block *block, bool supported, bool failed,
                    struct strbuf *out) {
    const char *titles[7] = {_("condition"), _("done"), _("valid")};
    size_t count = 3, shown = 0, rows = 0;
    if (supported)
        titles[count++] = _("the code can");
    if (failed) {
        titles[count++] = _("attempts");
        titles[count++] = _("failed");
    }
    titles[count++] = _("evidence");
    for (size_t i = 0; i < block->condition_count; i++)
        rows += !is_untouched(&block->conditions[i]);
    if (rows > 0)
        markdown_table(out, titles, count);
    for (size_t i = 0; i < block->condition_count && shown < DOCUMENT_CONDITIONS_SHOWN; i++) {
        const struct study_condition *condition = &block->conditions[i];
        if (is_untouched(condition))
            continue;
        markdown_cell(out, condition->condition->label);
        done_cell(out, condition->done, condition->has_planned, condition->planned);
        markdown_cell_count(out, true, condition->valid);
        if (supported)
            markdown_cell(out, supported_word(condition->condition->supported));
        if (failed) {
            markdown_cell_count(out, true, condition->attempts);
            markdown_cell_count(out, true, condition->failures);
        }
        level_cell(out, condition->level, condition->why);
        markdown_end_row(out);
        shown++;
    }
    strbuf_add_char(out, '\n');
    if (shown < rows) {
        AUTO_STRBUF struct strbuf rest = STRBUF_INIT;
        strbuf_printf(&rest, _("%zu more conditions are in the JSON report."), rows - shown);
        markdown_paragraph(out, strbuf_str(&rest));
    }
}

static bool is_alike(const struct study_condition *a, const struct study_condition *b) {
    return is_untouched(a) && is_untouched(b) && a->level == b->level &&
           a->has_planned == b->has_planned && a->planned == b->planned &&
           strcmp(a->why ? a->why : "", b->why ? b->why : "") == 0;
}

/* "no run yet (3 conditions, runs planned of each: 2): policy=full keep=1; …" */
static void untouched(const struct study_block *block, struct strbuf *out) {
    for (size_t i = 0; i < block->condition_count; i++) {
        const struct study_condition *first = &block->conditions[i];
        AUTO_STRBUF struct strbuf names = STRBUF_INIT;
        AUTO_STRBUF struct strbuf planned = STRBUF_INIT;
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        bool told = !is_untouched(first);
        size_t count = 0;
        for (size_t k = 0; k < i && !told; k++)
            told = is_alike(&block->conditions[k], first);
        for (size_t k = i; k < block->condition_count && !told; k++) {
            if (!is_alike(first, &block->conditions[k]))
                continue;
            if (count < DOCUMENT_CONDITIONS_SHOWN)
                strbuf_printf(&names, "%s%s", count > 0 ? "; " : "",
                              block->conditions[k].condition->label);
            count++;
        }
        if (told)
            continue;
        if (count > DOCUMENT_CONDITIONS_SHOWN)
            strbuf_printf(&names, _(" and %zu more"), count - DOCUMENT_CONDITIONS_SHOWN);
        study_words_add_count(&planned, first->has_planned, first->planned);
        if (first->level != EVIDENCE_NONE)
            strbuf_printf(&text, "%s: ", study_words_level(first->level));
        strbuf_add_str(&text, first->why ? first->why : _("no run yet"));
        strbuf_printf(&text,
                      msg_plural((unsigned long)count, " (%zu condition, runs planned of it: %s): ",
                                 " (%zu conditions, runs planned of each: %s): "),
                      count, strbuf_str(&planned));
        strbuf_add_str(&text, strbuf_str(&names));
        strbuf_add_str(out, "- [?] ");
        markdown_add(out, strbuf_str(&text));
        strbuf_add_char(out, '\n');
    }
}

static void conditions(const struct study_block *block, struct strbuf *out) {
    bool supported = false, failed = false;
    for (size_t i = 0; i < block->condition_count; i++) {
        const struct study_condition *condition = &block->conditions[i];
        supported = supported ||
                    (!is_untouched(condition) && condition->condition->supported != PLAN_UNSAID);
        failed = failed || condition->failures > 0;
    }
    touched(block, supported, failed, out);
    untouched(block, out);
}

static void texts_item(struct strbuf *out, const char *label, const struct plan_texts *texts) {
    AUTO_STRBUF struct strbuf joined = STRBUF_INIT;
    for (size_t i = 0; i < texts->count; i++)
        strbuf_printf(&joined, "%s%s", i > 0 ? ", " : "", texts->items[i].text);
    markdown_item(out, label, strbuf_str(&joined));
}

static void block(const struct study *study, const struct study_block *of, struct strbuf *out) {
    const struct plan_block *plan = of->block;
    AUTO_STRBUF struct strbuf heading = STRBUF_INIT;
    strbuf_printf(&heading, _("Block %s"), plan->id);
    if (plan->title)
        strbuf_printf(&heading, ": %s", plan->title);
    markdown_heading(out, 3, strbuf_str(&heading));
    markdown_item(out, _("question"), plan->question);
    texts_item(out, _("answers"), &plan->claims);
    texts_item(out, _("needs first"), &plan->needs);
    markdown_item(out, _("one goes on if"), plan->gate);
    if (of->condition_count == 0)
        markdown_item(out, _("why it has no evidence"), of->why);
    if (of->freeze) {
        AUTO_STRBUF struct strbuf frozen = STRBUF_INIT;
        run_text_add_date(&frozen, of->freeze->utc_ns);
        strbuf_add_str(&frozen, " UTC");
        if (of->freeze_outdated)
            strbuf_printf(&frozen, _("; outdated: %s"), of->freeze_outdated);
        markdown_item(out, _("inputs and code frozen"), strbuf_str(&frozen));
    }
    AUTO_STRBUF struct strbuf gate = STRBUF_INIT;
    if (report_gate_line(study, plan, &gate))
        markdown_item(out, _("answer at its gate"), strbuf_str(&gate));
    for (size_t i = 0; i < of->stopped_by_count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_add_str(&text, of->stopped_by[i]->id);
        if (of->stopped_by[i]->question)
            strbuf_printf(&text, ": %s", of->stopped_by[i]->question);
        markdown_item(out, _("stopped by the open fact"), strbuf_str(&text));
    }
    strbuf_add_char(out, '\n');
    conditions(of, out);
}

void document_markdown_blocks(const struct report_document *document, struct strbuf *out) {
    const struct study *study = document->study;
    markdown_heading(out, 2, _("Blocks"));
    if (study->block_count == 0) {
        markdown_paragraph(out, _("The plan has no blocks yet."));
        return;
    }
    markdown_paragraph(
        out,
        _("A block is a part of the work with a result that can be checked. A condition is one "
          "setting of all its parameters. A run is evidence for a condition only if it ended "
          "well, with the same parameters, code, inputs and environment; a function test "
          "differs in purpose or environment and is never the base of an estimate. Done: runs "
          "that count and whose result was checked, of those planned. Valid: runs that "
          "count."));
    overview(study, out);
    for (size_t i = 0; i < study->block_count; i++)
        block(study, &study->blocks[i], out);
}
