/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The review for people at a terminal: each block as a table of planned and actual, then causes,
 * what to check, what to make again, and what becomes of later blocks. Judges nothing.
 */
#include "report/review.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/calibration.h"
#include "report/layout.h"
#include "report/run-text.h"
#include "report/study-words.h"

#include <math.h>
#include <string.h>

/* ---- words ---- */

const char *report_review_cause(enum review_cause cause) {
    switch (cause) {
    case REVIEW_OPEN:
        return _("open");
    case REVIEW_NONE:
        return _("nothing to explain");
    case REVIEW_PREPARATION:
        return _("preparation underestimated");
    case REVIEW_DEPENDENCY:
        return _("dependency error");
    case REVIEW_DATA_ACCESS:
        return _("data access");
    case REVIEW_LOADING:
        return _("model loading");
    case REVIEW_STORAGE:
        return _("speed of storage");
    case REVIEW_OTHER_INPUT:
        return _("other model, input or setting");
    case REVIEW_WAITING:
        return _("waiting for people");
    case REVIEW_FAILURES:
        return _("failures");
    case REVIEW_COMPUTING:
        return _("computing itself");
    case REVIEW_FEWER_STEPS:
        return _("not the same steps");
    case REVIEW_CAUSE_COUNT_:
        break;
    }
    return "";
}

const char *report_review_hit(enum review_hit hit) {
    switch (hit) {
    case REVIEW_CANNOT_TELL:
        return _("cannot be told");
    case REVIEW_HIT:
        return _("within");
    case REVIEW_MISS:
        return _("outside");
    case REVIEW_NO_INTERVAL:
        return _("none");
    case REVIEW_HIT_COUNT_:
        break;
    }
    return "";
}

const char *report_review_lead(const struct review_block *block, struct arena *arena) {
    AUTO_STRBUF struct strbuf when = STRBUF_INIT;
    run_text_add_date(&when, block->kept_utc_ns);
    return arena_printf(
        arena,
        block->finished
            ? _("finished; held against '%s' of %s UTC (%s): %llu of %llu planned runs since")
            : _("not finished, so the figures go on growing; held against '%s' of %s UTC (%s): "
                "%llu of %llu planned runs since"),
        block->kept, strbuf_str(&when), block->kept_why, (unsigned long long)block->made,
        (unsigned long long)block->planned);
}

const char *report_review_hits(const struct review *review, struct arena *arena) {
    size_t n = review->hits.hit + review->hits.missed;
    const struct calibration *calibration = review->calibration;
    if (calibration && (calibration->study.count > 0 || review->hits.without > 0))
        return arena_printf(arena, _("%s; figures planned without an interval: %zu"),
                            report_calibration_share(&calibration->study, arena),
                            review->hits.without);
    if (n == 0 && review->hits.without == 0)
        return _("no planned interval of a finished block can be checked yet");
    return arena_printf(arena,
                        _("planned intervals that held: %zu of %zu, in finished blocks; figures "
                          "planned without an interval: %zu"),
                        review->hits.hit, n, review->hits.without);
}

const char *report_review_lacks(const struct review_block *block, struct arena *arena) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    for (size_t i = 0; i < block->line_count; i++) {
        const struct quantity *planned = &block->lines[i].planned;
        if (strcmp(block->lines[i].name, "reserved") != 0 || !quantity_is_known(planned))
            continue;
        for (size_t k = 0; k < planned->open_part_count; k++) {
            strbuf_add_str(&names, k > 0 ? ", " : "");
            quantity_add_part(&names, planned->open_parts[k]);
        }
    }
    return names.length > 0
               ? arena_printf(arena, _("what was planned in all lacks what was open then: %s"),
                              strbuf_str(&names))
               : NULL;
}

const char *report_review_next(const struct review_next *next, struct arena *arena) {
    AUTO_STRBUF struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
    AUTO_STRBUF struct strbuf part = STRBUF_INIT;
    const struct quantity_style style = {.mark = true};
    quantity_add_part(&part, next->part);
    quantity_format(&next->before, style, &before);
    quantity_format(&next->after, style, &after);
    if (next->changed)
        return arena_printf(arena, _("block '%s', %s: %s becomes %s; %s"), next->block->id,
                            strbuf_str(&part), strbuf_str(&before), strbuf_str(&after), next->why);
    return arena_printf(arena, _("block '%s', %s: %s; %s"), next->block->id, strbuf_str(&part),
                        strbuf_str(&before), next->why);
}

/* ---- the table ---- */

static void quantity_cell(struct layout_table *table, const struct quantity *q,
                          struct report_style style) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct quantity brief = study_words_alone(q);
    brief.has_interval = false;
    if (!quantity_is_known(&brief)) {
        layout_table_cell(table, "[?]", layout_state_color(brief.state));
        return;
    }
    layout_add_quantity(&text, &brief, style.ascii, true);
    layout_table_cell(table, strbuf_str(&text), layout_state_color(brief.state));
}

void report_review_add_sign(const struct quantity *difference, struct strbuf *out) {
    static const char *const marks[QUANTITY_STATE_COUNT_] = {"[?]", "[a]", "[e]", "[m]"};
    strbuf_printf(out, "%s %s", marks[difference->state],
                  difference->value > 0.0   ? "+"
                  : difference->value < 0.0 ? "-"
                                            : "");
}

static void difference_cell(struct layout_table *table, const struct review_line *line,
                            struct report_style style) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct quantity size = line->difference;
    if (!quantity_is_known(&size)) {
        layout_table_cell(table, "-", LAYOUT_DIM);
        return;
    }
    report_review_add_sign(&size, &text);
    size.value = fabs(size.value);
    size.bound = QUANTITY_EXACT; /* the marks of both sides say it */
    layout_add_quantity(&text, &size, style.ascii, false);
    layout_table_cell(table, strbuf_str(&text), review_is_worth(line) ? LAYOUT_WARN : LAYOUT_PLAIN);
}

static void label_cell(struct layout_table *table, const struct review_line *line) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (strncmp(line->name, "runs/", strlen("runs/")) == 0)
        strbuf_add_str(&text, "  ");
    strbuf_add_str(&text, line->label);
    layout_table_cell(table, strbuf_str(&text), LAYOUT_PLAIN);
}

static void lines_table(const struct review_block *block, struct report_style style,
                        struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("part")},
        {.title = _("planned")},
        {.title = _("actual")},
        {.title = _("difference"), .right = true},
        {.title = _("interval"), .optional = 100},
        {.title = _("cause"), .elastic = 8, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < block->line_count; i++) {
        const struct review_line *line = &block->lines[i];
        label_cell(table, line);
        quantity_cell(table, &line->planned, style);
        quantity_cell(table, &line->actual, style);
        difference_cell(table, line, style);
        layout_table_cell(table, report_review_hit(line->hit),
                          line->hit == REVIEW_MISS ? LAYOUT_WARN : LAYOUT_PLAIN);
        layout_table_cell(table,
                          line->cause == REVIEW_NONE ? "-" : report_review_cause(line->cause),
                          LAYOUT_PLAIN);
    }
    layout_table_print(table, 2, out);
}

/* ---- below it ---- */

static void item(struct strbuf *out, struct report_style style, const char *mark,
                 const char *text) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, "%s ", mark);
    layout_add_plain(&line, text, style.ascii);
    layout_add_blanks(out, 2);
    layout_wrap(out, strbuf_str(&line), 2, 4, layout_columns(style));
    strbuf_add_char(out, '\n');
}

static void explain(const struct review_block *block, struct report_style style,
                    struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    for (size_t i = 0; i < block->line_count; i++) {
        const struct review_line *line = &block->lines[i];
        bool is_said = review_is_worth(line) ||
                       (line->cause != REVIEW_OPEN && line->cause != REVIEW_NONE) || line->question;
        if (!line->why || (!is_said && !style.verbose))
            continue;
        item(out, style, "-",
             arena_printf(arena, "%s: %s: %s", line->label, report_review_cause(line->cause),
                          line->why));
        if (line->answer)
            item(
                out, style, " ",
                arena_printf(arena, _("answered by %s: %s"), line->answer->who, line->answer->why));
        if (line->question) {
            item(out, style, "?", line->question);
            item(out, style, ">",
                 arena_printf(arena, "probelauf review %s --part %s --cause CAUSE --why TEXT",
                              block->block->block->id, line->name));
        }
    }
}

static void list_checks(const struct review_block *block, struct report_style style,
                        struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    for (size_t i = 0; i < block->line_count; i++)
        if (block->lines[i].quantity)
            item(out, style, "-",
                 arena_printf(arena, _("%s is: %s"), block->lines[i].label,
                              msg_get(block->lines[i].quantity)));
    const char *lacks = report_review_lacks(block, arena);
    if (lacks)
        item(out, style, "-", lacks);
    for (size_t i = 0; i < block->check_count; i++)
        item(out, style, "!", block->checks[i]);
}

/* Runs with the same cause in one line, with the command of the first. */
static void list_repeats(const struct review_block *block, struct report_style style,
                         struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    if (block->repeat_count == 0)
        return;
    strbuf_printf(out, "  %s\n", _("To be made again, because it changes what the block says:"));
    for (size_t i = 0; i < block->repeat_count; i++) {
        const struct review_repeat *first = &block->repeats[i];
        AUTO_STRBUF struct strbuf ids = STRBUF_INIT;
        size_t count = 0;
        bool is_listed = false;
        for (size_t k = 0; k < i && !is_listed; k++)
            is_listed = strcmp(block->repeats[k].why, first->why) == 0;
        for (size_t k = i; !is_listed && k < block->repeat_count; k++) {
            if (strcmp(block->repeats[k].why, first->why) != 0)
                continue;
            strbuf_add_next(&ids, ", ", uuid_tail(block->repeats[k].run->run->id));
            count++;
        }
        if (is_listed)
            continue;
        if (count == 1)
            item(out, style, "-",
                 arena_printf(arena, _("run %s: %s"), strbuf_str(&ids), first->why));
        else
            item(out, style, "-",
                 arena_printf(
                     arena,
                     msg_plural((unsigned long)count, "%zu run (%s): %s", "%zu runs (%s): %s"),
                     count, strbuf_str(&ids), first->why));
        item(out, style, ">", first->command);
    }
}

const char *report_review_next_note(const struct review_block *block) {
    for (size_t i = 0; i < block->next_count; i++)
        if (block->next[i].changed)
            return _("this rests on the runs made since alone; 'probelauf estimate' takes all runs "
                     "that count, the earlier ones too, so that its figures may differ");
    return NULL;
}

static void list_next(const struct review_block *block, struct report_style style,
                      struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    if (block->repeated_count > 0) {
        AUTO_STRBUF struct strbuf total = STRBUF_INIT;
        layout_add_quantity(&total, &block->repeated_preparation, style.ascii, true);
        item(out, style, "-",
             arena_printf(arena,
                          msg_plural((unsigned long)block->repeated_count,
                                     "preparation was made again %zu time: %s in all",
                                     "preparation was made again %zu times: %s in all"),
                          block->repeated_count, strbuf_str(&total)));
    }
    if (block->next_count == 0)
        return;
    strbuf_printf(out, "  %s\n", _("What is still to come:"));
    for (size_t i = 0; i < block->next_count; i++)
        item(out, style, block->next[i].changed ? "*" : "-",
             report_review_next(&block->next[i], arena));
    const char *note = report_review_next_note(block);
    if (note)
        item(out, style, "-", note);
}

/* With names and reasons that people wrote in it. */
static void plain_paragraph(struct strbuf *out, struct report_style style, const char *text) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, style.ascii);
    layout_paragraph(out, style, strbuf_str(&plain));
}

static void one_block(const struct review_block *block, struct report_style style,
                      struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf heading = STRBUF_INIT, wrapped = STRBUF_INIT;
    const struct plan_block *of = block->block->block;
    layout_add_plain(&heading, of->id, style.ascii);
    if (of->title) {
        strbuf_add_str(&heading, ": ");
        layout_add_plain(&heading, of->title, style.ascii);
    }
    layout_wrap(&wrapped, strbuf_str(&heading), 0, 2, layout_columns(style));
    layout_heading(out, style, strbuf_str(&wrapped));
    if (block->kept && !block->skipped)
        plain_paragraph(out, style, report_review_lead(block, arena));
    if (block->outdated && !block->skipped)
        plain_paragraph(out, style,
                        arena_printf(arena, _("since it was kept: %s"), block->outdated));
    if (block->skipped) {
        plain_paragraph(out, style, block->skipped);
        return;
    }
    lines_table(block, style, out);
    explain(block, style, out);
    list_checks(block, style, out);
    list_repeats(block, style, out);
    list_next(block, style, out);
}

static void calibration_lines(const struct review *review, struct report_style style,
                              struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *const *lines = NULL;
    size_t count =
        review->calibration ? report_calibration_lines(review->calibration, arena, &lines) : 0;
    for (size_t i = 0; i < count; i++)
        layout_bullet(out, style, lines[i]);
}

void report_review_text(const struct review *review, struct report_style style,
                        struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const struct plan *plan = review->study->input->plan;
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    strbuf_add_str(&title, _("Planned and actual"));
    if (plan->study.title) {
        strbuf_add_str(&title, ": ");
        layout_add_plain(&title, plan->study.title, style.ascii);
    }
    AUTO_STRBUF struct strbuf wrapped = STRBUF_INIT;
    layout_wrap(&wrapped, strbuf_str(&title), 0, 2, layout_columns(style));
    layout_add_colored(out, style, LAYOUT_BOLD, strbuf_str(&wrapped));
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < review->block_count; i++)
        one_block(&review->blocks[i], style, out);
    strbuf_add_char(out, '\n');
    layout_paragraph(out, style, report_review_hits(review, arena));
    calibration_lines(review, style, out);
    layout_legend(out, style);
}
