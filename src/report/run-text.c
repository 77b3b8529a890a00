/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `probelauf show`: one run in full for people. Verdict and notes first, figures below, how they
 * were obtained beside them. Every figure carries the mark of its state. Must not leave out what is
 * open.
 */
#include "report/run-text.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/notes.h"
#include "report/run-text-gpu.h"
#include "report/words.h"
#include "text/incident.h"

#include <string.h>

void run_text_row(struct strbuf *out, struct report_style style, const char *label,
                  const char *foreign) {
    if (!foreign || !*foreign)
        return;
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, foreign, style.ascii);
    layout_row(out, style, label, strbuf_str(&plain), LAYOUT_PLAIN, NULL);
}

void run_text_add_date(struct strbuf *out, int64_t utc_ns) {
    msg_add_time(out, utc_ns);
}

enum layout_color run_text_outcome_color(enum outcome_class outcome) {
    if (outcome == OUTCOME_OK || outcome == OUTCOME_ENDED)
        return LAYOUT_GOOD;
    return outcome == OUTCOME_RUNNING ? LAYOUT_WARN : LAYOUT_BAD;
}

const struct run_incident *run_text_cause(const struct run *run) {
    if (run->outcome == OUTCOME_OK || run->outcome == OUTCOME_RUNNING)
        return NULL;
    const struct run_incident *other = NULL;
    for (size_t i = 0; i < run->incident_count; i++) {
        const struct run_incident *incident = &run->incidents[i];
        if (incident->survived || !incident->name)
            continue;
        const struct incident_info *info = incident_info(incident->name);
        if (info && info->outcome == run->outcome)
            return incident;
        if (!other)
            other = incident;
    }
    return other;
}

void run_text_add_unmet(struct strbuf *out, const struct run *run) {
    size_t count = 0, unmet = facts_unmet(run, &count);
    if (unmet == 0)
        return;
    strbuf_add_str(out, run->outcome == OUTCOME_OK ? _(", but ") : ", ");
    strbuf_printf(out,
                  msg_plural((unsigned long)count, "%zu of %zu check of the result was not met",
                             "%zu of %zu checks of the result were not met"),
                  unmet, count);
}

/* "disk_full: exit code 1". */
static void add_outcome(struct strbuf *out, const struct run *run) {
    if (!facts_goes_on(run))
        strbuf_printf(out, "%s: ", words_shown(outcome_name(run->outcome)));
    facts_ending(run, out);
    const char *verified = run->verified ? run->verified : "";
    run_text_add_unmet(out, run);
    if (run->outcome == OUTCOME_OK && strcmp(verified, "yes") != 0 && strcmp(verified, "no") != 0)
        strbuf_printf(out, "; %s", _("what it wrote is not verified"));
    if (run->validity == RUN_INVALID)
        strbuf_printf(out, "; %s", _("declared invalid"));
}

static void add_when(struct strbuf *out, const struct run *run) {
    if (run->started_utc_ns == 0) {
        strbuf_add_str(out, _("start not in the record"));
        return;
    }
    run_text_add_date(out, run->started_utc_ns);
    if (run->ended_utc_ns != 0) {
        AUTO_STRBUF struct strbuf end = STRBUF_INIT;
        if (run->started_utc_ns / NS_PER_DAY == run->ended_utc_ns / NS_PER_DAY)
            msg_add_clock(&end, run->ended_utc_ns);
        else
            run_text_add_date(&end, run->ended_utc_ns);
        strbuf_printf(out, _(" to %s"), strbuf_str(&end));
    }
    strbuf_add_str(out, " UTC");
}

void run_text_add_result(struct strbuf *out, const struct quantity *q, bool ascii, bool mark) {
    if (q->state != QUANTITY_MEASURED || q->bound != QUANTITY_EXACT) {
        layout_add_quantity(out, q, ascii, mark);
        return;
    }
    const char *unit = q->unit ? q->unit : UNIT_RATIO;
    char value[MSG_DECIMAL_SIZE];
    strbuf_printf(out, "%s%s", mark ? "[m] " : "", msg_decimal(value, "%.15g", q->value));
    if (strcmp(unit, UNIT_RATIO) == 0 || strcmp(unit, UNIT_COUNT) == 0)
        return;
    strbuf_add_char(out, ' ');
    layout_add_plain(out, unit, ascii);
}

static void add_purpose(struct strbuf *out, const struct run *run) {
    strbuf_add_str(out, words_shown(json_get_text(run->start, "purpose", _("not entered"))));
    int64_t attempt = json_get_int(run->start, "attempt", 0);
    if (attempt > 0)
        strbuf_printf(out, _(", attempt %lld"), (long long)attempt);
    const char *retry_of = json_get_text(run->start, "retry_of", NULL);
    if (retry_of)
        strbuf_printf(out, _(" (repeats %s)"), uuid_tail(retry_of));
}

void run_text_add_condition(struct strbuf *out, const struct run *run) {
    json_t *condition = json_get_object(run->start, "condition");
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (condition, key, value) {
        if (!json_is_string(value))
            continue;
        if (out->length > 0)
            strbuf_add_char(out, ' ');
        strbuf_printf(out, "%s=%s", key, json_string_value(value));
    }
}

static void header(struct strbuf *out, struct report_style style, const struct run *run) {
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    layout_add_plain(&title, uuid_tail(run->id), style.ascii);
    strbuf_add_str(out, _("run "));
    layout_add_colored(out, style, LAYOUT_BOLD, strbuf_str(&title));
    strbuf_add_str(out, "  ");
    layout_add_colored(out, style, run_text_outcome_color(run->outcome),
                       facts_goes_on(run) ? _("watched") : words_shown(outcome_name(run->outcome)));
    strbuf_add_char(out, '\n');
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    facts_command_line(run, &text);
    run_text_row(out, style, _("command"), strbuf_str(&text));
    strbuf_clear(&text);
    if (json_is_integer(json_object_get(run->start, "attach"))) {
        strbuf_printf(&text, _("process %lld, which ran before"),
                      (long long)json_get_int(run->start, "attach", 0));
        run_text_row(out, style, _("attached to"), strbuf_str(&text));
        strbuf_clear(&text);
    }
    add_when(&text, run);
    run_text_row(out, style, _("when"), strbuf_str(&text));
    strbuf_clear(&text);
    strbuf_add_str(&text, json_get_text(run->start, "host", ""));
    if (json_get_text(run->start, "cwd", NULL))
        strbuf_add_next(&text, ":", json_get_text(run->start, "cwd", ""));
    run_text_row(out, style, _("where"), strbuf_str(&text));
}

static void header_outcome(struct strbuf *out, struct report_style style, const struct run *run) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    add_outcome(&text, run);
    run_text_row(out, style, _("outcome"), strbuf_str(&text));
    run_text_row(out, style, _("not started"), json_get_text(run->end, "start_error", NULL));
    const struct run_incident *cause = run_text_cause(run);
    if (!cause && !json_get_text(run->end, "start_error", NULL) &&
        !(facts_is_attached(run) && run->outcome == OUTCOME_ENDED))
        run_text_row(out, style, "", facts_run_meaning(run));
    if (cause && cause->line)
        run_text_row(out, style, _("shown by"), cause->line);
    const struct incident_info *info = cause ? incident_info(cause->name) : NULL;
    if (info && info->advice)
        run_text_row(out, style, _("what to do"), msg_get(info->advice));
    strbuf_clear(&text);
    add_purpose(&text, run);
    run_text_row(out, style, _("purpose"), strbuf_str(&text));
    strbuf_clear(&text);
    run_text_add_condition(&text, run);
    run_text_row(out, style, _("condition"), strbuf_str(&text));
    run_text_row(out, style, _("block"), json_get_text(run->start, "block", NULL));
    run_text_row(out, style, _("step"), json_get_text(run->start, "step", NULL));
    const char *session = json_get_text(run->start, "session", NULL);
    run_text_row(out, style, _("session"), style.verbose ? session : uuid_tail(session));
    run_text_row(out, style, _("note"),
                 run->note ? run->note : json_get_text(run->start, "note", NULL));
    run_text_row(out, style, _("run id"), run->id);
    if (style.verbose && run->part && run->id && strcmp(run->part, run->id) != 0)
        run_text_row(out, style, _("part"), run->part);
}

static void notes(struct strbuf *out, struct report_style style, const struct run *run) {
    struct note list[NOTES_MAX];
    size_t count = notes_collect(run, style.ascii, list);
    if (count > 0)
        layout_heading(out, style, _("Notes"));
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        notes_format(&list[i], &text);
        strbuf_add_str(out, "  - ");
        layout_wrap(out, strbuf_str(&text), 4, 4, layout_columns(style));
        strbuf_add_char(out, '\n');
    }
    notes_clear(list, count);
}

static void add_share(struct strbuf *out, double share) {
    if (share > 0.0 && share < 0.005)
        strbuf_add_str(out, _("less than 1 % of wall; "));
    else
        strbuf_printf(out, _("%.0f %% of wall; "), share * 100.0);
}

/* A row for a phase, with its share of the wall time where both are known. */
static void phase_row(struct strbuf *out, struct report_style style, const struct run *run,
                      enum phase phase) {
    const struct quantity *q = &run->phase[phase];
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    layout_add_quantity(&value, q, style.ascii, true);
    if (quantity_is_known(q) && quantity_is_known(&run->wall) && run->wall.value > 0.0)
        add_share(&note, q->value / run->wall.value);
    layout_quantity_note(&note, q, style.ascii);
    if (str_ends_with(strbuf_str(&note), "; "))
        note.data[note.length -= 2] = '\0';
    layout_row(out, style, phase == PHASE_UNATTRIBUTED ? _("no phase known") : phase_name(phase),
               strbuf_str(&value), layout_state_color(q->state), strbuf_str(&note));
}

/* Nothing told the phases apart: one line says it. */
static bool is_one_heap(const struct run *run) {
    const struct quantity *load = &run->phase[PHASE_LOAD];
    for (int i = 0; i < PHASE_UNATTRIBUTED; i++)
        if (quantity_is_known(&run->phase[i]) || run->phase[i].reason != load->reason)
            return false;
    return true;
}

/* What --ready waits for and what came of it. */
static void ready_row(struct strbuf *out, struct report_style style, const struct run *run) {
    const char *waits_for = json_get_text(run->start, "ready", NULL);
    if (waits_for == NULL)
        return;
    AUTO_STRBUF struct strbuf why = STRBUF_INIT;
    struct quantity after = facts_ready_after(run);
    if (facts_why_not_ready(run, &why)) /* waited for in vain: no reading has failed */
        layout_row(out, style, _("ready"), _("[?] open"), layout_state_color(QUANTITY_OPEN),
                   strbuf_str(&why));
    else
        layout_quantity(out, style, _("ready"), &after);
    run_text_row(out, style, _("waits for"), waits_for);
}

static void phases(struct strbuf *out, struct report_style style, const struct run *run) {
    layout_heading(out, style, _("Phases"));
    ready_row(out, style, run);
    if (is_one_heap(run) && !style.verbose) {
        layout_quantity(out, style, _("all phases"), &run->phase[PHASE_LOAD]);
        run_text_weights(out, style, run);
        return;
    }
    for (int i = 0; i < PHASE_COUNT_; i++) {
        const struct quantity *q = &run->phase[i];
        bool always = i == PHASE_LOAD || i == PHASE_COMPUTE || i == PHASE_UNATTRIBUTED;
        if (always || style.verbose || (quantity_is_known(q) && q->value > 0.0))
            phase_row(out, style, run, (enum phase)i);
        if (i == PHASE_LOAD)
            run_text_weights(out, style, run);
    }
    bool details = false;
    for (size_t i = 0; i < run->phase_count; i++)
        details = details || (run->phases[i].name && strchr(run->phases[i].name, '/'));
    if (details || style.verbose)
        run_text_phase_list(out, style, run);
}

static void times(struct strbuf *out, struct report_style style, const struct run *run) {
    layout_heading(out, style, _("Time"));
    layout_quantity(out, style, _("wall"), &run->wall);
    layout_quantity(out, style, _("command"), &run->command);
    layout_quantity(out, style, _("result complete"), &run->result_complete);
    struct quantity stopped = facts_stopped(run), suspended = facts_suspended(run);
    if (style.verbose || (quantity_is_known(&stopped) && stopped.value > 0.0))
        layout_quantity(out, style, _("stopped"), &stopped);
    if (style.verbose || (quantity_is_known(&suspended) && suspended.value > 0.0))
        layout_quantity(out, style, _("suspended"), &suspended);
}

static void memory(struct strbuf *out, struct report_style style, const struct run *run) {
    layout_heading(out, style, _("Host memory, peak"));
    layout_quantity(out, style, _("largest process"), &run->largest_process_rss);
    layout_quantity(out, style, _("tree, PSS"), &run->tree_pss);
    layout_quantity(out, style, _("cgroup charged"), &run->cgroup_charged);
    struct quantity limit = facts_machine_figure(run, FACTS_LIMITS, "memory"),
                    total = facts_machine_figure(run, FACTS_TOTALS, "memory");
    layout_quantity(out, style, _("memory limit"), &limit);
    layout_quantity(out, style, _("machine has"), &total);
}

static void processor_and_io(struct strbuf *out, struct report_style style, const struct run *run) {
    layout_heading(out, style, _("CPU and I/O"));
    layout_quantity(out, style, _("CPU time"), &run->cpu);
    layout_quantity(out, style, _("processes"), &run->processes);
    layout_quantity(out, style, _("read"), &run->io_read);
    layout_quantity(out, style, _("written"), &run->io_written);
    layout_quantity(out, style, _("read, any source"), &run->io_read_chars);
    layout_quantity(out, style, _("written, any"), &run->io_written_chars);
    struct quantity limit = facts_machine_figure(run, FACTS_LIMITS, "cpu"),
                    total = facts_machine_figure(run, FACTS_TOTALS, "cpu");
    layout_quantity(out, style, _("CPU limit"), &limit);
    layout_quantity(out, style, _("CPUs of machine"), &total);
}

void report_run_text(const struct run *run, struct report_style style, struct strbuf *out) {
    header(out, style, run);
    header_outcome(out, style, run);
    notes(out, style, run);
    if (run->outcome == OUTCOME_START_FAILED && !style.verbose) { /* nothing ran */
        run_text_environment(out, style, run);
        run_text_changes(out, style, run);
        return;
    }
    times(out, style, run);
    phases(out, style, run);
    layout_heading(out, style, _("Timeline"));
    report_timeline(run, style, out);
    memory(out, style, run);
    processor_and_io(out, style, run);
    run_text_gpus(out, style, run);
    run_text_work(out, style, run);
    run_text_files(out, style, run);
    run_text_code(out, style, run);
    run_text_environment(out, style, run);
    run_text_incidents(out, style, run);
    run_text_changes(out, style, run);
    run_text_monitor(out, style, run);
    layout_legend(out, style);
}
