/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The advice for people on a terminal (report/next.h): what to run, what it would buy, the others
 * in their order. Must not print a total without what is not in it.
 */
#include "report/next.h"

#include "base/msg.h"
#include "report/estimate-open.h"
#include "report/layout.h"
#include "report/study-words.h"

#include <math.h>
#include <string.h>

static const char *verdict_text(const struct next_advice *advice) {
    switch (advice->verdict) {
    case NEXT_RUN:
        return advice->trials[0].name;
    case NEXT_WITHIN_TARGET:
        return _("none: narrow enough");
    case NEXT_NOT_WORTH:
        return _("none: no trial is worth its time");
    case NEXT_BLOCKED:
        return _("none can be run now");
    case NEXT_NOTHING_LEFT:
    case NEXT_VERDICT_COUNT_:
        break;
    }
    return _("nothing is left to do");
}

static void header(const struct next_advice *advice, struct report_style style,
                   struct strbuf *out) {
    const struct plan_study *plan = &advice->estimate->study->input->plan->study;
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    AUTO_STRBUF struct strbuf wrapped = STRBUF_INIT;
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    strbuf_add_str(&title, _("Next trial"));
    if (plan->title) {
        strbuf_add_str(&title, ": ");
        layout_add_plain(&title, plan->title, style.ascii);
    }
    layout_wrap(&wrapped, strbuf_str(&title), 0, 2, layout_columns(style));
    layout_add_colored(out, style, LAYOUT_BOLD, strbuf_str(&wrapped));
    strbuf_add_char(out, '\n');
    layout_add_plain(&value, verdict_text(advice), style.ascii);
    bool run = advice->verdict == NEXT_RUN;
    layout_row(out, style, _("run next"), strbuf_str(&value), run ? LAYOUT_BOLD : LAYOUT_GOOD,
               NULL);
    layout_line(out, style, 2, advice->why);
    if (run)
        layout_line(out, style, 4, advice->trials[0].command);
}

static void total(const struct next_advice *advice, struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    layout_quantity(out, style, _("runs and steps left"), &advice->total);
    if (advice->unknown == 0)
        return;
    strbuf_printf(&note,
                  msg_plural((unsigned long)advice->unknown,
                             "%zu part of it is not known and is not in it",
                             "%zu parts of it are not known and are not in it"),
                  advice->unknown);
    layout_line(out, style, 2, strbuf_str(&note));
}

/* By how much of what it is now the logarithm of p95/p05 is expected to fall: "-31 %". */
static void add_narrowing(struct strbuf *out, const struct next_advice *advice,
                          const struct next_trial *trial) {
    const struct quantity *total = &advice->total;
    bool known = quantity_is_known(&trial->narrowing) && total->has_interval && total->p05 > 0.0 &&
                 total->p95 > total->p05;
    if (known)
        strbuf_printf(out, "%+.0f %%",
                      -100.0 * trial->narrowing.value / log(total->p95 / total->p05));
    else
        strbuf_add_str(out, trial->kind == NEXT_NARROW ? "?" : _("gives one"));
}

static void add_time(struct strbuf *out, const struct quantity *q) {
    if (quantity_is_known(q))
        quantity_format_value(q->value, q->unit, out);
    else
        strbuf_add_str(out, "?");
}

static void table(const struct next_advice *advice, size_t shown, struct report_style style,
                  struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = "", .right = true},
        {.title = _("trial"), .elastic = 16},
        {.title = _("seen"), .right = true},
        {.title = _("left"), .right = true},
        {.title = _("time"), .right = true},
        {.title = _("interval"), .right = true},
        {.title = _("share"), .right = true, .optional = 70},
        {.title = advice->has_gpus ? _("per GPU-minute") : _("per minute"),
         .right = true,
         .optional = 80},
    };
    AUTO_TABLE struct layout_table *lines = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < shown; i++) {
        const struct next_trial *trial = &advice->trials[i];
        enum layout_color color = trial->pays ? LAYOUT_PLAIN : LAYOUT_DIM;
        AUTO_FREE char *rank = mem_printf("%zu", i + 1);
        AUTO_FREE char *seen = mem_printf("%llu", (unsigned long long)trial->seen);
        AUTO_FREE char *left = mem_printf("%llu", (unsigned long long)trial->left);
        AUTO_FREE char *share =
            isfinite(trial->share) ? mem_printf("%.0f %%", 100.0 * trial->share) : mem_strdup("");
        AUTO_FREE char *rate =
            isfinite(trial->rate) ? mem_printf("%.2g", trial->rate) : mem_strdup("");
        AUTO_STRBUF struct strbuf time = STRBUF_INIT;
        AUTO_STRBUF struct strbuf width = STRBUF_INIT;
        add_time(&time, &trial->time);
        add_narrowing(&width, advice, trial);
        layout_table_cell(lines, rank, color);
        layout_table_cell(lines, trial->name, color);
        layout_table_cell(lines, seen, color);
        layout_table_cell(lines, left, color);
        layout_table_cell(lines, strbuf_str(&time), color);
        layout_table_cell(lines, strbuf_str(&width), color);
        layout_table_cell(lines, share, color);
        layout_table_cell(lines, rate, color);
    }
    layout_table_print(lines, 2, out);
}

static void trials(const struct next_advice *advice, size_t limit, struct report_style style,
                   struct strbuf *out) {
    size_t shown = limit > 0 && limit < advice->trial_count ? limit : advice->trial_count;
    if (shown == 0)
        return;
    layout_heading(out, style, _("Trials that can be run now, the best first"));
    table(advice, shown, style, out);
    for (size_t i = 0; style.verbose && i < shown; i++) {
        AUTO_FREE char *line = mem_printf("%zu: %s", i + 1, advice->trials[i].reason);
        layout_line(out, style, 2, line);
        layout_line(out, style, 6, advice->trials[i].command);
    }
    if (shown == advice->trial_count)
        return;
    size_t more = advice->trial_count - shown;
    AUTO_FREE char *line = mem_printf(
        msg_plural((unsigned long)more, "and %zu more (--limit 0)", "and %zu more (--limit 0)"),
        more);
    layout_line(out, style, 2, line);
}

static void not_offered(const struct next_advice *advice, struct report_style style,
                        struct strbuf *out) {
    if (advice->refused_count == 0)
        return;
    layout_heading(out, style, _("Not offered"));
    for (size_t i = 0; i < advice->refused_count; i++) {
        const struct next_refused *refused = &advice->refused[i];
        if (refused->why_count == 1) {
            AUTO_FREE char *line = mem_printf("%s: %s", refused->name, refused->why[0]);
            layout_line(out, style, 2, line);
            continue;
        }
        AUTO_FREE char *head = mem_printf("%s:", refused->name);
        layout_line(out, style, 2, head);
        for (size_t k = 0; k < refused->why_count; k++)
            layout_line(out, style, 4, refused->why[k]);
    }
}

/* What is the same in several blocks is one line. */
static bool was_said(const struct next_advice *advice, size_t at) {
    const struct estimate_open *open = advice->not_counted[at];
    for (size_t i = 0; i < at; i++) {
        const struct estimate_open *before = advice->not_counted[i];
        if (before->has_component == open->has_component &&
            (!open->has_component || before->component == open->component) &&
            strcmp(before->what, open->what) == 0)
            return true;
    }
    return false;
}

static void not_counted(const struct next_advice *advice, struct report_style style,
                        struct strbuf *out) {
    if (advice->not_counted_count == 0)
        return;
    layout_heading(out, style, _("In no figure here: no trial run closes it"));
    for (size_t i = 0; i < advice->not_counted_count; i++) {
        const struct estimate_open *open = advice->not_counted[i];
        if (was_said(advice, i))
            continue;
        AUTO_FREE char *line =
            open->has_component
                ? mem_printf("%s: %s", study_words_component(open->component), open->what)
                : mem_strdup(open->what);
        layout_line(out, style, 2, line);
    }
    layout_line(out, style, 2, _("'probelauf estimate' says what does"));
}

void report_next_text(const struct next_advice *advice, size_t limit, struct report_style style,
                      struct strbuf *out) {
    header(advice, style, out);
    total(advice, style, out);
    trials(advice, limit, style, out);
    not_offered(advice, style, out);
    not_counted(advice, style, out);
}
