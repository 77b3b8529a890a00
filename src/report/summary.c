/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The paragraph after `run`: what it took, how it was spent, the peaks and how they were obtained,
 * what to know, what to do next. A few lines on standard error for somebody who is tired;
 * everything else is `show`.
 */
#include "report/report.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/notes.h"
#include "report/run-text-gpu.h"
#include "report/run-text.h"
#include "report/words.h"
#include "text/incident.h"

#include <errno.h>
#include <string.h>

#define LABEL_COLUMN    2
#define TEXT_COLUMN     10
#define SUMMARY_NOTES   3 /* the gravest ones; all stand in `show` */
#define SUMMARY_RESULTS 6
#define NAME_COLUMNS    40

static void line(struct strbuf *out, struct report_style style, const char *label,
                 const char *text) {
    layout_add_blanks(out, LABEL_COLUMN);
    strbuf_add_str(out, label);
    size_t column = LABEL_COLUMN + str_width(label);
    do {
        strbuf_add_char(out, ' ');
        column++;
    } while (column < TEXT_COLUMN);
    layout_wrap(out, text, column, TEXT_COLUMN, layout_columns(style));
    strbuf_add_char(out, '\n');
}

static void add_quantity(struct strbuf *out, struct report_style style, const struct quantity *q) {
    layout_add_quantity(out, q, style.ascii, false);
}

/* "probelauf: ok after 4 min 12 s; run a1b2c3d4" */
static void headline(struct strbuf *out, struct report_style style, const struct run *run) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(out, "probelauf: ");
    if (facts_goes_on(run)) { /* the class would name an end that there was not */
        facts_ending(run, &text);
        strbuf_add_str(&text, _("; run "));
        layout_add_plain(&text, uuid_tail(run->id), style.ascii);
        layout_wrap(out, strbuf_str(&text), strlen("probelauf: "), TEXT_COLUMN,
                    layout_columns(style));
        strbuf_add_char(out, '\n');
        return;
    }
    const char *outcome = words_shown(outcome_name(run->outcome));
    layout_add_colored(out, style, run_text_outcome_color(run->outcome), outcome);
    if (run->outcome != OUTCOME_OK) {
        strbuf_add_str(&text, ", ");
        facts_ending(run, &text);
    }
    run_text_add_unmet(&text, run);
    strbuf_add_str(&text, _(", wall "));
    add_quantity(&text, style, &run->wall);
    if (quantity_is_known(&run->result_complete)) {
        strbuf_add_str(&text, _(", result complete after "));
        add_quantity(&text, style, &run->result_complete);
    }
    strbuf_add_str(&text, _("; run "));
    layout_add_plain(&text, uuid_tail(run->id), style.ascii);
    size_t column = strlen("probelauf: ") + str_width(outcome);
    layout_wrap(out, strbuf_str(&text), column, TEXT_COLUMN, layout_columns(style));
    strbuf_add_char(out, '\n');
}

/* Of a process that was attached to nobody is told how it ended: no cause is missing. */
static bool is_end_unseen(const struct run *run) {
    return facts_is_attached(run) && run->outcome == OUTCOME_ENDED && !run_text_cause(run);
}

/* "No such file" alone is nobody's: which one, and where it was looked for. */
static void add_start_error(const struct run *run, const char *error, struct report_style style,
                            struct strbuf *out) {
    const json_t *command = json_get_array(run->start, "command");
    const char *name = json_string_value(json_array_get(command, 0));
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (name == NULL)
        strbuf_add_str(&text, error);
    else if (json_get_int(run->end, "start_errno", 0) == ENOENT && strchr(name, '/') == NULL)
        strbuf_printf(&text, _("cannot run '%s': not found in PATH"), name);
    else
        strbuf_printf(&text, _("cannot run '%s': %s"), name, error);
    layout_add_plain(out, strbuf_str(&text), style.ascii);
}

/* What ended it, the line that shows it, what to do. */
static void cause(struct strbuf *out, struct report_style style, const struct run *run) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    const char *start_error = json_get_text(run->end, "start_error", NULL);
    if (start_error) {
        add_start_error(run, start_error, style, &text);
        line(out, style, _("cause"), strbuf_str(&text));
        return;
    }
    const struct run_incident *incident = run_text_cause(run);
    const char *meaning = facts_run_meaning(run);
    bool is_told =
        run->outcome == OUTCOME_LOST || is_end_unseen(run); /* by a note; by the ending */
    if (!incident && meaning && !is_told)
        line(out, style, _("cause"), meaning);
    if (!incident)
        return;
    layout_add_plain(&text, incident->name, style.ascii);
    if (incident->line) {
        strbuf_add_str(&text, ": ");
        layout_cut(&text, incident->line, 2 * layout_columns(style), style.ascii);
    }
    line(out, style, _("cause"), strbuf_str(&text));
    const struct incident_info *info = incident_info(incident->name);
    if (info && info->advice)
        line(out, style, _("advice"), msg_get(info->advice));
}

static void phases(struct strbuf *out, struct report_style style, const struct run *run) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (int i = 0; i < PHASE_UNATTRIBUTED; i++) {
        const struct quantity *q = &run->phase[i];
        if (!quantity_is_known(q) || !(q->value > 0.0))
            continue;
        if (text.length > 0)
            strbuf_add_str(&text, ", ");
        strbuf_printf(&text, "%s ", phase_name((enum phase)i));
        add_quantity(&text, style, q);
    }
    if (text.length == 0)
        return; /* a note says that phases are not separated, and how to separate them */
    const struct quantity *rest = &run->phase[PHASE_UNATTRIBUTED];
    if (!quantity_is_known(rest) || rest->value > 0.0) {
        strbuf_add_str(&text, _(", no phase known "));
        add_quantity(&text, style, rest);
    }
    line(out, style, _("phases"), strbuf_str(&text));
}

static void add_with_method(struct strbuf *out, struct report_style style, const char *name,
                            const struct quantity *q) {
    if (out->length > 0)
        strbuf_add_str(out, ", ");
    strbuf_printf(out, "%s ", name);
    add_quantity(out, style, q);
    if (quantity_is_known(q) && q->method) {
        strbuf_add_str(out, " (");
        AUTO_STRBUF struct strbuf method = STRBUF_INIT;
        quantity_add_method(&method, q->method);
        layout_add_plain(out, strbuf_str(&method), style.ascii);
        if (q->n > 0 && q->detail) { /* why a sampled peak may be far too low */
            strbuf_add_str(out, "; ");
            layout_add_plain(out, q->detail, style.ascii);
        }
        strbuf_add_char(out, ')');
    }
}

static void peaks(struct strbuf *out, struct report_style style, const struct run *run) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    add_with_method(&text, style, _("largest process"), &run->largest_process_rss);
    add_with_method(&text, style, _("whole tree"), &run->tree_pss);
    line(out, style, _("memory"), strbuf_str(&text));
    AUTO_STRBUF struct strbuf use = STRBUF_INIT;
    strbuf_add_str(&use, "CPU ");
    add_quantity(&use, style, &run->cpu);
    strbuf_add_str(&use, _(", read "));
    add_quantity(&use, style, &run->io_read);
    strbuf_add_str(&use, _(", written "));
    add_quantity(&use, style, &run->io_written);
    bool no_gpu = run->gpu_count > 0 && run->gpus[0].total.reason == QUANTITY_NOT_APPLICABLE;
    AUTO_STRBUF struct strbuf gpu = STRBUF_INIT;
    bool has_line = run_text_add_gpu_line(&gpu, style, run);
    if (run->gpu_count > 0 && !has_line && !no_gpu)
        strbuf_printf(&use, ", GPU %s", _("open")); /* `show` says why */
    line(out, style, _("used"), strbuf_str(&use));
    if (has_line)
        line(out, style, "GPU", strbuf_str(&gpu));
}

/* "accuracy 0.91, speed 21.5 token/s": what the run was made for. */
static void results(struct strbuf *out, struct report_style style, const struct run *run) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    size_t count = run->result_count;
    size_t shown = count > SUMMARY_RESULTS && !style.verbose ? SUMMARY_RESULTS : count;
    for (size_t i = 0; i < shown; i++) {
        strbuf_add_str(&text, i > 0 ? ", " : "");
        layout_cut(&text, run->results[i].name, NAME_COLUMNS, style.ascii);
        strbuf_add_char(&text, ' ');
        run_text_add_result(&text, &run->results[i].quantity, style.ascii, false);
    }
    if (shown < count)
        strbuf_printf(&text, _("; %zu more in `probelauf show`"), count - shown);
    if (count > 0)
        line(out, style, _("results"), strbuf_str(&text));
}

static void notes(struct strbuf *out, struct report_style style, const struct run *run) {
    struct note list[NOTES_MAX];
    size_t count = notes_collect(run, style.ascii, list);
    size_t shown = count > SUMMARY_NOTES && !style.verbose ? SUMMARY_NOTES : count;
    for (size_t i = 0; i < shown; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        notes_format(&list[i], &text);
        if (i + 1 == shown && shown < count)
            strbuf_printf(&text, _("; %zu more in `probelauf show`"), count - shown);
        line(out, style, _("note"), strbuf_str(&text));
    }
    notes_clear(list, count);
}

/* Set-up and the like happen once: "24 further runs like these" is not the next question. */
static bool is_preparation(const struct run *run) {
    enum phase phase;
    return phase_from_name(json_get_text(run->start, "phase", ""), &phase) &&
           (phase == PHASE_SETUP || phase == PHASE_TRANSFER || phase == PHASE_DATA ||
            phase == PHASE_FIX || phase == PHASE_TEARDOWN);
}

static bool can_be_base(const struct run *run) {
    size_t checks;
    return run->outcome == OUTCOME_OK && run->validity != RUN_INVALID &&
           facts_unmet(run, &checks) == 0 && !is_preparation(run) &&
           strcmp(json_get_text(run->start, "purpose", ""), "function-test") != 0;
}

/* Names the run by its id: when several end at once "@1" may be another one. */
static void next_step(struct strbuf *out, struct report_style style, const struct run *run) {
    const char *tail = uuid_tail(run->id);
    bool explained = run->outcome == OUTCOME_OK || run->outcome == OUTCOME_BUDGET ||
                     run->outcome == OUTCOME_INTERRUPTED || is_end_unseen(run);
    bool of_plan = json_get_text(run->start, "study", NULL) != NULL;
    AUTO_FREE char *text =
        can_be_base(run) && of_plan
            ? mem_printf("probelauf show %s, probelauf block list, probelauf estimate", tail)
        : can_be_base(run) ? mem_printf("probelauf show %s, probelauf estimate --repeat 24", tail)
        : explained        ? mem_printf("probelauf show %s", tail)
                           : mem_printf("probelauf explain %s, probelauf show %s", tail, tail);
    line(out, style, _("next"), text);
}

void report_run_summary(const struct run *run, struct report_style style, struct strbuf *out) {
    headline(out, style, run);
    cause(out, style, run);
    phases(out, style, run);
    if (run->outcome != OUTCOME_START_FAILED)
        peaks(out, style, run);
    results(out, style, run);
    notes(out, style, run);
    next_step(out, style, run);
}
