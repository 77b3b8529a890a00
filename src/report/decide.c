/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A decision for people on a terminal: verdict, what would change it, then environment by
 * environment the rules that it rests on. Must not print an answer without its grounds.
 */
#include "report/decide.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "report/layout.h"
#include "report/run-text.h"

#include <string.h>

#define CHANGES_SHOWN 8u
#define GROUNDS_SHOWN 4u

const char *report_verdict_text(enum decide_verdict verdict, bool nothing_left) {
    switch (verdict) {
    case DECIDE_NONE:
        return nothing_left ? _("nothing is left to do") : _("open");
    case DECIDE_NOT_YET:
        return _("not yet");
    case DECIDE_VALIDATE_FIRST:
        return _("validate first");
    case DECIDE_RENT_STAGED:
        return _("rent in stages");
    case DECIDE_RENT_BLOCKS:
        return _("rent by blocks");
    case DECIDE_VERDICT_COUNT_:
        break;
    }
    return _("open");
}

static enum layout_color verdict_color(enum decide_verdict verdict) {
    switch (verdict) {
    case DECIDE_NOT_YET:
        return LAYOUT_BAD;
    case DECIDE_VALIDATE_FIRST:
    case DECIDE_RENT_STAGED:
        return LAYOUT_WARN;
    case DECIDE_RENT_BLOCKS:
        return LAYOUT_GOOD;
    case DECIDE_NONE:
    case DECIDE_VERDICT_COUNT_:
        break;
    }
    return LAYOUT_PLAIN;
}

/* What there is to do stands on a machine of the team's own: then nothing is rented. */
const char *report_environment_verdict(const struct decide_environment *environment) {
    bool rents =
        environment->verdict == DECIDE_RENT_STAGED || environment->verdict == DECIDE_RENT_BLOCKS;
    if (rents && !decide_is_rented(environment->environment))
        return environment->verdict == DECIDE_RENT_BLOCKS ? _("go on by blocks, without renting")
                                                          : _("go on in stages, without renting");
    return report_verdict_text(environment->verdict, environment->nothing_left);
}

const char *report_answer_text(enum decide_answer answer) {
    switch (answer) {
    case DECIDE_YES:
        return _("yes");
    case DECIDE_NO:
        return _("no");
    case DECIDE_CANNOT_TELL:
    case DECIDE_ANSWER_COUNT_:
        break;
    }
    return _("cannot tell");
}

/* The first ground of the rule that decides; of a rule without one its condition. */
static const char *why_of(const struct decide_rule *rule) {
    return rule->ground_count > 0 ? rule->grounds[0].text : rule->when;
}

const char *report_decide_sentence(const struct decision *decision, struct arena *arena) {
    const struct decide_environment *best = decision->best;
    const char *verdict = report_environment_verdict(best);
    const char *beside =
        decision->compare_owning ? _(" Beside that, compare with the true cost of owning.") : "";
    if (best->by == NULL && best->environment != NULL)
        return arena_printf(arena, _("Verdict for '%s': %s."), best->environment->id, verdict);
    if (best->by == NULL)
        return arena_printf(arena, _("Verdict: %s."), verdict);
    const char *id = decide_id_name(best->by->id);
    if (best->environment == NULL)
        return arena_printf(arena, _("Verdict: %s (rule %s). What to do: %s. Why: %s.%s"), verdict,
                            id, best->by->then, why_of(best->by), beside);
    return arena_printf(arena, _("Verdict for '%s': %s (rule %s). What to do: %s. Why: %s.%s"),
                        best->environment->id, verdict, id, best->by->then, why_of(best->by),
                        beside);
}

const char *report_validation_cap(const struct plan_validation *validation, struct arena *arena) {
    const struct quantity_style style = {.ascii = true, .mark = true};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    if (validation->max_time.given) {
        const struct quantity time = {.state = QUANTITY_ASSUMED,
                                      .value = (double)validation->max_time.ns / 1e9,
                                      .unit = UNIT_SECOND};
        quantity_format(&time, style, &out);
    }
    if (validation->max_cost.given && validation->currency != NULL) {
        const struct amount cost = {.state = QUANTITY_ASSUMED,
                                    .micros = validation->max_cost.micros,
                                    .currency = validation->currency};
        AUTO_STRBUF struct strbuf money = STRBUF_INIT;
        amount_format_exact(&cost, style, &money);
        strbuf_add_next(&out, ", ", strbuf_str(&money));
    }
    return out.length > 0 ? arena_strdup(arena, strbuf_str(&out)) : NULL;
}

/* ---- pieces ---- */

static void row(struct strbuf *out, struct report_style style, const char *label, const char *value,
                enum layout_color color, const char *note) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    AUTO_STRBUF struct strbuf plain_note = STRBUF_INIT;
    layout_add_plain(&plain, value, style.ascii);
    layout_add_plain(&plain_note, note, style.ascii);
    layout_row(out, style, label, strbuf_str(&plain), color, strbuf_str(&plain_note));
}

static void heading(struct strbuf *out, struct report_style style, const char *text) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    AUTO_STRBUF struct strbuf wrapped = STRBUF_INIT;
    layout_add_plain(&plain, text, style.ascii);
    layout_wrap(&wrapped, strbuf_str(&plain), 0, 2, layout_columns(style));
    layout_heading(out, style, strbuf_str(&wrapped));
}

/* A run is called by the tail of its id. */
static const char *short_source(const char *source) {
    return uuid_is_valid(source) ? uuid_tail(source) : source;
}

static void ground_line(struct strbuf *out, struct report_style style, size_t indent,
                        const struct decide_ground *ground) {
    AUTO_FREE char *text = ground->source != NULL
                               ? mem_printf("%s (%s)", ground->text, short_source(ground->source))
                               : mem_strdup(ground->text);
    layout_line(out, style, indent, text);
}

static void change_lines(struct strbuf *out, struct report_style style,
                         const struct decide_change *change) {
    AUTO_FREE char *text =
        change->source != NULL
            ? mem_printf("%s: %s (%s)", change->rules, change->what, short_source(change->source))
            : mem_printf("%s: %s", change->rules, change->what);
    layout_line(out, style, 2, text);
    AUTO_ARENA struct arena *arena = arena_new();
    const char *todo = report_change_todo(change, arena);
    if (todo != NULL)
        layout_line(out, style, 6, todo);
}

/* ---- the whole ---- */

static void header(const struct decision *decision, struct report_style style, struct strbuf *out) {
    const struct decide_environment *best = decision->best;
    const struct plan *plan = best->study->input->plan;
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    AUTO_STRBUF struct strbuf wrapped = STRBUF_INIT;
    strbuf_add_str(&title, _("Decision"));
    if (plan->study.title != NULL) {
        strbuf_add_str(&title, ": ");
        layout_add_plain(&title, plan->study.title, style.ascii);
    }
    layout_wrap(&wrapped, strbuf_str(&title), 0, 2, layout_columns(style));
    layout_add_colored(out, style, LAYOUT_BOLD, strbuf_str(&wrapped));
    strbuf_add_char(out, '\n');
    AUTO_STRBUF struct strbuf by = STRBUF_INIT;
    if (best->by != NULL)
        strbuf_printf(&by, _("rule %s"), decide_id_name(best->by->id));
    if (best->environment != NULL) {
        strbuf_add_str(&by, by.length > 0 ? ", " : "");
        strbuf_printf(&by, _("environment '%s'"), best->environment->id);
    }
    row(out, style, _("verdict"), report_environment_verdict(best), verdict_color(best->verdict),
        strbuf_str(&by));
    if (best->by != NULL) {
        layout_line(out, style, 2, best->by->then);
        for (size_t i = 0; i < best->by->ground_count && i < GROUNDS_SHOWN; i++)
            ground_line(out, style, 4, &best->by->grounds[i]);
    }
    if (decision->compare_owning)
        layout_line(out, style, 2, _("beside that: compare with the true cost of owning"));
}

/* One line each, of what is settled together; verbose: each for itself. */
static void changes(const struct decision *decision, struct report_style style,
                    struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct report_change *list = NULL;
    size_t count = report_decide_changes(decision, arena, &list);
    if (count == 0)
        return;
    heading(out, style, _("What would change it"));
    for (size_t i = 0; style.verbose && i < decision->change_count; i++)
        change_lines(out, style, &decision->changes[i]);
    for (size_t i = 0; !style.verbose && i < count && i < CHANGES_SHOWN; i++) {
        layout_line(out, style, 2, arena_printf(arena, "%s: %s", list[i].rules, list[i].what));
        if (list[i].todo != NULL)
            layout_line(out, style, 6, list[i].todo);
    }
    if (style.verbose || count <= CHANGES_SHOWN)
        return;
    size_t left = count - CHANGES_SHOWN;
    layout_line(
        out, style, 2,
        arena_printf(arena,
                     msg_plural((unsigned long)left, "and %zu more (-v)", "and %zu more (-v)"),
                     left));
}

static void validation(const struct decision *decision, struct report_style style,
                       struct strbuf *out) {
    const struct plan_validation *set = decision->validation;
    AUTO_ARENA struct arena *arena = arena_new();
    if (decision->verdict != DECIDE_VALIDATE_FIRST)
        return;
    heading(out, style, _("The validation (set by the team; no estimate)"));
    const char *cap = report_validation_cap(set, arena);
    row(out, style, _("at most"), cap != NULL ? cap : _("open"), LAYOUT_PLAIN, NULL);
    row(out, style, _("given up when"),
        set->stop_condition != NULL ? set->stop_condition : _("open"), LAYOUT_PLAIN, NULL);
    row(out, style, _("has to show"), set->result != NULL ? set->result : _("open"), LAYOUT_PLAIN,
        NULL);
    for (size_t i = 0; i < decision->validation_lack_count; i++) {
        AUTO_FREE char *text = mem_printf(_("not set under 'validation:' of the plan: %s"),
                                          decision->validation_lacks[i]);
        layout_line(out, style, 2, text);
    }
}

static void before_booking(const struct decision *decision, struct report_style style,
                           struct strbuf *out) {
    if (decision->before_booking_count == 0)
        return;
    heading(out, style, _("To do before booking (needs no rented machine)"));
    for (size_t i = 0; i < decision->before_booking_count; i++)
        layout_line(out, style, 2, decision->before_booking[i]);
}

static void rule_lines(const struct decide_rule *rule, struct report_style style,
                       struct strbuf *out) {
    AUTO_STRBUF struct strbuf head = STRBUF_INIT;
    strbuf_printf(&head, "%s: %s", decide_id_name(rule->id), report_answer_text(rule->answer));
    layout_add_blanks(out, 4);
    enum layout_color color = !rule->fires                   ? LAYOUT_DIM
                              : rule->verdict != DECIDE_NONE ? verdict_color(rule->verdict)
                                                             : LAYOUT_BOLD;
    layout_add_colored(out, style, color, strbuf_str(&head));
    strbuf_add_char(out, '\n');
    AUTO_FREE char *when = mem_printf(_("when: %s"), rule->when);
    layout_line(out, style, 6, when);
    size_t shown =
        style.verbose || rule->ground_count <= GROUNDS_SHOWN ? rule->ground_count : GROUNDS_SHOWN;
    for (size_t i = 0; i < shown; i++)
        ground_line(out, style, 6, &rule->grounds[i]);
    if (shown < rule->ground_count) {
        AUTO_FREE char *more = mem_printf(_("and %zu more (-v)"), rule->ground_count - shown);
        layout_line(out, style, 6, more);
    }
    if (rule->fires) {
        AUTO_FREE char *then = mem_printf(_("then: %s"), rule->then);
        layout_line(out, style, 6, then);
    }
    if (rule->change != NULL) {
        AUTO_FREE char *change = mem_printf(_("what would change it: %s"), rule->change);
        layout_line(out, style, 6, change);
    }
    if (rule->command != NULL && style.verbose)
        layout_line(out, style, 6, rule->command);
}

/* "no: E7, E10" */
static void others(const struct decide_block *block, enum decide_answer answer, bool of_block,
                   struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    for (enum decide_id id = DECIDE_E5; id < DECIDE_ID_COUNT_; id++)
        if (!block->rules[id].fires && block->rules[id].answer == answer &&
            decide_is_of_block(id) == of_block)
            strbuf_add_next(&names, ", ", decide_id_name(id));
    if (names.length == 0)
        return;
    AUTO_FREE char *text = mem_printf("%s: %s", report_answer_text(answer), strbuf_str(&names));
    layout_line(out, style, 4, text);
}

/* from, up to and with to. */
static void rules_lines(const struct decide_block *block, enum decide_id from, enum decide_id to,
                        struct report_style style, struct strbuf *out) {
    for (enum decide_id id = from; id <= to; id++)
        if (style.verbose || block->rules[id].fires)
            rule_lines(&block->rules[id], style, out);
}

static void block_lines(const struct decide_block *block, struct report_style style,
                        struct strbuf *out) {
    AUTO_STRBUF struct strbuf head = STRBUF_INIT;
    if (block->block != NULL)
        strbuf_printf(&head, _("block '%s': %s"), block->block->block->id,
                      report_verdict_text(block->verdict, block->nothing_left));
    else
        strbuf_add_str(&head, _("the plan has no blocks"));
    layout_line(out, style, 2, strbuf_str(&head));
    if (block->nothing_left && !style.verbose)
        return;
    rules_lines(block, DECIDE_E1, DECIDE_E2, style, out);
    if (style.verbose)
        return;
    others(block, DECIDE_NO, true, style, out);
    others(block, DECIDE_CANNOT_TELL, true, style, out);
}

static void environment_lines(const struct decide_environment *environment,
                              struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf head = STRBUF_INIT;
    const struct decide_block *first = &environment->blocks[0];
    if (environment->environment != NULL)
        strbuf_printf(&head, _("Environment '%s': %s"), environment->environment->id,
                      report_environment_verdict(environment));
    else
        strbuf_printf(&head, _("No environment in the plan: %s"),
                      report_environment_verdict(environment));
    heading(out, style, strbuf_str(&head));
    rules_lines(first, DECIDE_E5, DECIDE_E7B, style, out);
    for (size_t i = 0; i < environment->block_count; i++)
        block_lines(&environment->blocks[i], style, out);
    layout_line(out, style, 2, _("the demand, and all else about the place"));
    rules_lines(first, DECIDE_E3A, DECIDE_E11, style, out);
    if (style.verbose)
        return;
    others(first, DECIDE_NO, false, style, out);
    others(first, DECIDE_CANNOT_TELL, false, style, out);
}

static void verdict_row(const struct decide_environment *environment,
                        const struct report_decide_row *of, struct layout_table *table) {
    const struct decide_block *block = of->block;
    layout_table_cell(table,
                      environment->environment != NULL ? environment->environment->id : _("none"),
                      LAYOUT_PLAIN);
    layout_table_cell(table, report_verdict_text(block->verdict, block->nothing_left),
                      verdict_color(block->verdict));
    layout_table_cell(table, block->by != NULL ? decide_id_name(block->by->id) : "-", LAYOUT_PLAIN);
    layout_table_cell(table, of->blocks, LAYOUT_PLAIN);
}

/* Environment and blocks with their verdict, equal ones in one row. */
static void verdict_table(const struct decision *decision, struct report_style style,
                          struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const struct layout_column columns[] = {{.title = _("environment")},
                                            {.title = _("verdict")},
                                            {.title = _("rule")},
                                            {.title = _("block"), .elastic = 10, .wraps = true}};
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < decision->environment_count; i++) {
        struct report_decide_row *rows = NULL;
        size_t count = report_decide_rows(&decision->environments[i], false, arena, &rows);
        for (size_t k = 0; k < count; k++)
            verdict_row(&decision->environments[i], &rows[k], table);
    }
    heading(out, style, _("Environments"));
    layout_table_print(table, 2, out);
    layout_line(out, style, 2,
                _("every rule with what it rests on: probelauf decide -v, or --env ID"));
}

/* Of a record: the name of a verdict; another one is shown as it is. */
static const char *kept_verdict(const char *name) {
    for (int i = 0; name != NULL && i < DECIDE_VERDICT_COUNT_; i++)
        if (strcmp(name, decide_verdict_name((enum decide_verdict)i)) == 0)
            return report_verdict_text((enum decide_verdict)i, false);
    return name != NULL ? name : _("open");
}

void report_decide_text(const struct decision *decision, const struct report_kept_decision *kept,
                        size_t kept_count, bool by_block, struct report_style style,
                        struct strbuf *out) {
    bool in_full = by_block || style.verbose;
    header(decision, style, out);
    changes(decision, style, out);
    validation(decision, style, out);
    before_booking(decision, style, out);
    if (!in_full)
        verdict_table(decision, style, out);
    for (size_t i = 0; in_full && i < decision->environment_count; i++)
        environment_lines(&decision->environments[i], style, out);
    if (kept_count > 0)
        heading(out, style, _("Kept decisions"));
    for (size_t i = 0; i < kept_count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text, "%s: %s, ", kept[i].name, kept_verdict(kept[i].verdict));
        run_text_add_date(&text, kept[i].utc_ns);
        layout_line(out, style, 2, strbuf_str(&text));
    }
    strbuf_add_char(out, '\n');
    layout_legend(out, style);
}
