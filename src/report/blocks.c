/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `block list` for people: one table of all blocks, then each block with its conditions, what it
 * answers and which open facts stand in its way (with -v every run and every question), at the end
 * the runs that nobody planned (C9). Judges nothing: states
 * and reasons come from rules/study.h.
 */
#include "report/study.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/block-run.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/run-text.h"
#include "report/study-words.h"
#include "report/words.h"

#include <string.h>

#define CONDITIONS_SHOWN 20u
#define UNPLANNED_SHOWN  10u
#define FACTS_NAMED      3u

static void cell(struct layout_table *table, const char *text) {
    layout_table_cell(table, text, LAYOUT_PLAIN);
}

static void count_cell(struct layout_table *table, uint64_t count) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    study_words_add_count(&text, true, count);
    cell(table, strbuf_str(&text));
}

/* "3/15": done of planned. */
static void done_cell(struct layout_table *table, uint64_t done, bool known, uint64_t planned) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "%llu/", (unsigned long long)done);
    study_words_add_count(&text, known, planned);
    layout_table_cell(table, strbuf_str(&text), known ? LAYOUT_PLAIN : LAYOUT_BAD);
}

/* "2 claims: 1 reproduced, 1 open"; which ones stands in the block's own section. */
static void claims_cell(struct layout_table *table, const struct study *study,
                        const struct plan_block *block) {
    static const enum study_verdict order[] = {STUDY_REPRODUCED, STUDY_NOT_REPRODUCED, STUDY_OPEN};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t v = 0; v < ARRAY_LENGTH(order); v++) {
        size_t count = 0;
        for (size_t i = 0; i < block->claims.count; i++) {
            const struct study_claim *claim = study_words_claim(study, block->claims.items[i].text);
            count += claim && claim->verdict == order[v];
        }
        if (count > 0)
            strbuf_printf(&text, "%s%zu %s", text.length > 0 ? ", " : "", count,
                          study_words_verdict(order[v]));
    }
    cell(table, text.length > 0 ? strbuf_str(&text) : "-");
}

static void overview(const struct study *study, struct report_style style, struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("block")},
        {.title = _("kind")},
        {.title = _("state")},
        {.title = _("done"), .right = true},
        {.title = _("valid"), .right = true},
        {.title = _("evidence")},
        {.title = _("claims"), .elastic = 12, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < study->block_count; i++) {
        const struct study_block *block = &study->blocks[i];
        const char *kind = plan_kind_name(block->block->kind);
        layout_table_cell(table, block->block->id, LAYOUT_BOLD);
        cell(table, kind && *kind ? kind : _("open"));
        layout_table_cell(table, study_words_state(block->state),
                          study_words_state_color(block->state));
        done_cell(table, block->done, block->has_planned, block->planned);
        count_cell(table, block->valid);
        layout_table_cell(table, study_words_level(block->level),
                          study_words_level_color(block->level));
        claims_cell(table, study, block->block);
    }
    layout_table_print(table, 0, out);
}

static void labelled(struct strbuf *out, struct report_style style, const char *label,
                     const char *text) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, "%s: ", label);
    layout_add_plain(&line, text, style.ascii);
    strbuf_add_str(out, "  ");
    layout_wrap(out, strbuf_str(&line), 2, 4, layout_columns(style));
    strbuf_add_char(out, '\n');
}

static bool has_problem(const struct study_condition *condition) {
    return condition->level != EVIDENCE_MEASURED || condition->uncounted > 0 ||
           !condition->has_planned || condition->done < condition->planned ||
           condition->condition->supported == PLAN_NO;
}

static bool is_same_text(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

/* Runs that ended well and do not count: nobody should have to miss them. */
static void add_uncounted(struct strbuf *text, const struct study_condition *condition,
                          const struct study_condition *above) {
    const char *why = condition->uncounted_why;
    bool is_said = condition->why && why && strstr(condition->why, why);
    if (condition->uncounted == 0 || (is_said && condition->uncounted == 1))
        return;
    strbuf_printf(text,
                  msg_plural((unsigned long)condition->uncounted,
                             "; %llu that ended well does not count",
                             "; %llu that ended well do not count"),
                  (unsigned long long)condition->uncounted);
    if (is_said || !why)
        return;
    if (above && is_same_text(above->uncounted_why, why))
        why = _("as above");
    strbuf_printf(text, condition->uncounted > 1 ? _(", the newest: %s") : ": %s", why);
}

/* Level, why there is no better one, and whether the code can do it at all. A sentence that stands
 * in the line above is not repeated. */
static void evidence_cell(struct layout_table *table, const struct study_condition *condition,
                          const struct study_condition *above) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, study_words_level(condition->level));
    if (condition->why && above && is_same_text(above->why, condition->why) &&
        above->level == condition->level && strlen(condition->why) > 20)
        strbuf_printf(&text, ": %s", _("as above"));
    else if (condition->why)
        strbuf_printf(&text, ": %s", condition->why);
    add_uncounted(&text, condition, above);
    if (condition->condition->supported == PLAN_NO)
        strbuf_printf(&text, "; %s", _("the code does not support it"));
    if (condition->failures > 0)
        strbuf_printf(&text,
                      msg_plural((unsigned long)condition->failures, "; %llu attempt failed",
                                 "; %llu attempts failed"),
                      (unsigned long long)condition->failures);
    layout_table_cell(table, strbuf_str(&text), study_words_level_color(condition->level));
}

static void conditions(const struct study_block *block, struct report_style style,
                       struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("condition")},
        {.title = _("done"), .right = true},
        {.title = _("valid"), .right = true},
        {.title = _("evidence"), .elastic = 16, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    bool all = style.verbose || block->condition_count <= CONDITIONS_SHOWN;
    size_t shown = 0, with_problem = 0;
    const struct study_condition *last = NULL;
    for (size_t i = 0; i < block->condition_count; i++) {
        const struct study_condition *condition = &block->conditions[i];
        with_problem += has_problem(condition);
        if (!all && (!has_problem(condition) || shown == CONDITIONS_SHOWN))
            continue;
        shown++;
        cell(table, condition->condition->label);
        done_cell(table, condition->done, condition->has_planned, condition->planned);
        count_cell(table, condition->valid);
        evidence_cell(table, condition, last);
        last = condition;
    }
    if (shown > 0)
        layout_table_print(table, 2, out);
    if (shown == block->condition_count)
        return;
    AUTO_STRBUF struct strbuf rest = STRBUF_INIT;
    strbuf_printf(&rest, _("%zu of %zu conditions are shown, %zu still need runs; -v shows all"),
                  shown, block->condition_count, with_problem);
    layout_paragraph(out, style, strbuf_str(&rest));
}

static void answers(const struct study *study, const struct plan_block *block,
                    struct report_style style, struct strbuf *out) {
    for (size_t i = 0; i < block->claims.count; i++) {
        const struct study_claim *claim = study_words_claim(study, block->claims.items[i].text);
        if (!claim)
            continue;
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text, "%s, %s", claim->claim->id, study_words_verdict(claim->verdict));
        if (claim->why)
            strbuf_printf(&text, ": %s", claim->why);
        labelled(out, style, _("answers"), strbuf_str(&text));
    }
}

static void repeat_checks(const struct study *study, const struct plan_block *block,
                          struct report_style style, struct strbuf *out) {
    for (size_t i = 0; i < study->repeat_check_count; i++) {
        const struct study_repeat_check *check = &study->repeat_checks[i];
        if (check->block != block)
            continue;
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text, "%s, %s", check->condition->label,
                      study_words_verdict(check->verdict));
        if (check->why)
            strbuf_printf(&text, ": %s", check->why);
        labelled(out, style, _("repeats"), strbuf_str(&text));
    }
}

static void frozen(const struct study_block *block, struct report_style style, struct strbuf *out) {
    if (block->freeze_ignored) {
        AUTO_STRBUF struct strbuf date = STRBUF_INIT;
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;
        run_text_add_date(&date, block->freeze_ignored->utc_ns);
        strbuf_printf(&line,
                      _("%s UTC (%s) is after now, so this freeze is ignored: the clock was wrong "
                        "then, or is now; 'probelauf block freeze %s' replaces it"),
                      strbuf_str(&date), uuid_tail(block->freeze_ignored->id), block->block->id);
        labelled(out, style, _("warning"), strbuf_str(&line));
    }
    if (!block->freeze)
        return;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    run_text_add_date(&text, block->freeze->utc_ns);
    strbuf_printf(&text, " UTC (%s)", uuid_tail(block->freeze->id));
    if (block->freeze_outdated)
        strbuf_printf(&text, _("; outdated: %s"), block->freeze_outdated);
    labelled(out, style, _("frozen"), strbuf_str(&text));
}

static void gate(const struct study *study, const struct study_block *block,
                 struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (report_gate_line(study, block->block, &text))
        labelled(out, style, _("gate"), strbuf_str(&text));
}

/* With -v each of them, with its question; else how many and which, in one line. */
static void open_facts(const struct study_block *block, struct report_style style,
                       struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < block->stopped_by_count; i++) {
        const struct plan_fact *fact = block->stopped_by[i];
        const char *id = fact->id ? fact->id : "";
        if (style.verbose) {
            AUTO_STRBUF struct strbuf one = STRBUF_INIT;
            strbuf_printf(&one, _("%s stands in the way"), id);
            if (fact->question)
                strbuf_printf(&one, ": %s", fact->question);
            labelled(out, style, _("open"), strbuf_str(&one));
        } else if (i < FACTS_NAMED) {
            strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", id);
        }
    }
    if (style.verbose || block->stopped_by_count == 0)
        return;
    size_t count = block->stopped_by_count;
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line,
                  msg_plural((unsigned long)count,
                             "stands in the way of this block: %zu fact (%s%s), see 'probelauf "
                             "check'",
                             "stands in the way of this block: %zu facts (%s%s), see 'probelauf "
                             "check'"),
                  count, strbuf_str(&text), count > FACTS_NAMED ? ", ..." : "");
    labelled(out, style, _("open"), strbuf_str(&line));
}

/* What one run is here: "measured, verified", or its level and the reason. */
static void counts_cell(struct layout_table *table, const struct study_run *run) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    const struct evidence *evidence = &run->evidence;
    strbuf_add_str(&text, study_words_level(evidence->level));
    if (evidence->level == EVIDENCE_MEASURED)
        strbuf_printf(&text, ", %s", evidence->verified ? _("verified") : _("not verified"));
    else if (evidence->why)
        strbuf_printf(&text, ": %s", evidence->why);
    if (run->is_elsewhere)
        strbuf_printf(&text, "; %s", _("at another block"));
    layout_table_cell(table, strbuf_str(&text), study_words_level_color(evidence->level));
}

/* With -v: every run of the block as it is seen here. */
static void runs(const struct study_block *block, struct report_style style, struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("run")},
        {.title = _("condition"), .optional = 100},
        {.title = _("started (UTC)"), .optional = 64},
        {.title = _("outcome")},
        {.title = _("wall"), .right = true},
        {.title = _("counts as"), .elastic = 16, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    size_t count = 0;
    for (size_t c = 0; c < block->condition_count; c++)
        for (size_t i = 0; i < block->conditions[c].run_count; i++, count++) {
            const struct study_run *run = block->conditions[c].runs[i];
            AUTO_STRBUF struct strbuf date = STRBUF_INIT;
            AUTO_STRBUF struct strbuf wall = STRBUF_INIT;
            run_text_add_date(&date, run->run->started_utc_ns);
            layout_add_quantity(&wall, &run->run->wall, style.ascii, true);
            cell(table, uuid_tail(run->run->id));
            cell(table, block->conditions[c].condition->label);
            cell(table, strbuf_str(&date));
            layout_table_cell(table, words_shown(outcome_name(run->run->outcome)),
                              run_text_outcome_color(run->run->outcome));
            cell(table, strbuf_str(&wall));
            counts_cell(table, run);
        }
    if (count > 0)
        layout_table_print(table, 2, out);
}

static void details(const struct study *study, const struct study_block *block,
                    struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    AUTO_STRBUF struct strbuf heading = STRBUF_INIT;
    strbuf_printf(&title, "%s: ", block->block->id);
    size_t before = title.length;
    study_words_add_nature(&title, block->block);
    if (block->block->state != PLAN_UNDETERMINED)
        strbuf_printf(&title, "%s%s", title.length > before ? ", " : "",
                      words_shown(plan_backing_name(block->block->state)));
    if (block->block->title)
        strbuf_printf(&title, " - %s", block->block->title);
    layout_cut(&heading, strbuf_str(&title), layout_columns(style), style.ascii);
    layout_heading(out, style, strbuf_str(&heading));
    if (block->block->question)
        labelled(out, style, _("question"), block->block->question);
    if (block->why && block->condition_count != 1) /* with one condition it stands in its line */
        labelled(out, style, _("evidence"), block->why);
    conditions(block, style, out);
    if (style.verbose)
        runs(block, style, out);
    answers(study, block->block, style, out);
    repeat_checks(study, block->block, style, out);
    frozen(block, style, out);
    gate(study, block, style, out);
    open_facts(block, style, out);
}

static void unplanned(const struct study *study, struct report_style style, struct strbuf *out) {
    size_t count = 0;
    for (size_t i = 0; i < study->run_count; i++)
        count += !study->runs[i].planned;
    if (count == 0)
        return;
    AUTO_STRBUF struct strbuf heading = STRBUF_INIT;
    strbuf_printf(&heading, _("Unplanned runs: %zu, "), count);
    layout_add_quantity(&heading, &study->unplanned_time, style.ascii, true);
    layout_heading(out, style, strbuf_str(&heading));
    const struct layout_column columns[] = {
        {.title = _("run")},
        {.title = _("started (UTC)"), .optional = 64},
        {.title = _("outcome")},
        {.title = _("wall"), .right = true},
        {.title = _("why"), .elastic = 16, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    size_t shown = 0;
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *run = &study->runs[i];
        if (run->planned || (!style.verbose && shown == UNPLANNED_SHOWN))
            continue;
        AUTO_STRBUF struct strbuf date = STRBUF_INIT;
        AUTO_STRBUF struct strbuf wall = STRBUF_INIT;
        run_text_add_date(&date, run->run->started_utc_ns);
        layout_add_quantity(&wall, &run->run->wall, style.ascii, true);
        cell(table, uuid_tail(run->run->id));
        cell(table, strbuf_str(&date));
        layout_table_cell(table, words_shown(outcome_name(run->run->outcome)),
                          run_text_outcome_color(run->run->outcome));
        cell(table, strbuf_str(&wall));
        cell(table, run->unplanned_why ? run->unplanned_why : "");
        shown++;
    }
    layout_table_print(table, 2, out);
    if (shown < count) {
        AUTO_STRBUF struct strbuf rest = STRBUF_INIT;
        strbuf_printf(&rest, _("the %zu newest of %zu are shown; -v shows all"), shown, count);
        layout_paragraph(out, style, strbuf_str(&rest));
    }
}

void report_blocks_text(const struct study *study, struct report_style style, struct strbuf *out) {
    if (study->block_count == 0)
        layout_paragraph(out, style, _("the plan has no blocks yet"));
    else
        overview(study, style, out);
    if (study->block_count > 0)
        layout_paragraph(out, style,
                         _("done: runs that count and are verified, of those planned; valid: runs "
                           "that count as evidence"));
    for (size_t i = 0; i < study->block_count; i++)
        details(study, &study->blocks[i], style, out);
    unplanned(study, style, out);
}
