/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The notes of a run (notes.h). One table holds what is said; a note stands only on what the record
 * shows. Must not judge what a run is worth: that is rules/.
 */
#include "report/notes.h"

#include "base/msg.h"
#include "report/facts.h"
#include "report/layout.h"

#include <string.h>

struct note_text {
    const char *finding, *remedy, *command;
};

static const struct note_text note_texts[NOTE_COUNT_] = {
    [NOTE_MONITOR_LOST] =
        {N_("the record ends early: its writer died, the command may have gone on"),
         N_("figures end where the record ends; repeat the run"), NULL},
    [NOTE_ATTACHED_LOST] = {N_("the record ends early: its writer died; the process may go on"),
                            N_("figures end where the record ends; attach again"),
                            "probelauf run --attach PID"},
    [NOTE_EXPECTATION] = {N_("a check of the result was not met"),
                          N_("this run is no base of an estimate; look at its output"), NULL},
    [NOTE_RESULT_ABSENT] = {N_("a result that was to be read out of a file is not there"),
                            N_("look at what the command writes, and at 'results' of the plan"),
                            NULL},
    [NOTE_ADDRESS_TAKEN] =
        {N_("the address answered before the command started: something else serves it"),
         N_("end it or use another port"), NULL},
    [NOTE_NEVER_READY] =
        {N_("never ready"),
         N_("loading counts to the end, as at least that long; wait for what comes "
            "once it is ready"),
         NULL},
    [NOTE_BLIND_SPOT] = {N_("part of the work may lie outside what was measured"), NULL, NULL},
    [NOTE_SURVIVORS] = {N_("processes of the run were still there when we stopped looking"),
                        N_("wait longer for them"), "probelauf run --linger 5m -- ..."},
    [NOTE_TERMINAL_MODES] = {N_("the command draws on the terminal"), N_("leave it its terminal"),
                             "probelauf run --tee none -- ..."},
    [NOTE_INCIDENT_SURVIVED] = {N_("the run met with an incident and went on"),
                                N_("`probelauf explain` tells more about it"), NULL},
    [NOTE_STOPPED] = {N_("the run was stopped for a while by job control"),
                      N_("this time is in the wall time; repeat the run to plan with it"), NULL},
    [NOTE_SUSPENDED] = {N_("the machine was suspended during the run"),
                        N_("this time is not in the figures"), NULL},
    [NOTE_UNACCOUNTED] = {N_("a process vanished without being accounted for"),
                          N_("CPU time and I/O are lower bounds"), NULL},
    [NOTE_ATTACHED_END_UNSEEN] = {N_("the process ended unseen"),
                                  N_("CPU time and I/O are as last read, so at least"), NULL},
    [NOTE_BUFFERED] =
        {N_("the lines that tell the phases apart came together, because the output is buffered"),
         N_("let the command print line by line, with `python3 -u`, PYTHONUNBUFFERED=1 or "
            "`stdbuf -oL`"),
         NULL},
    [NOTE_NOT_SEPARATED] =
        {N_("loading and computing are not separated"),
         N_("put `probelauf mark load` and `probelauf mark compute` into the command, or name "
            "the line of output that ends loading"),
         "probelauf run --pattern compute=REGEX -- ..."},
    [NOTE_ATTACHED_NOT_SEPARATED] =
        {N_("loading and computing of a process that ran already cannot be told apart from "
            "outside"),
         N_("start it under probelauf, or say what all of it is; of a server that answers http:// "
            "once it is ready, --ready tells"),
         "probelauf run --attach PID --phase compute"},
    [NOTE_MOSTLY_UNATTRIBUTED] = {N_("most of the time belongs to no known phase"),
                                  N_("mark where the other phases begin"), "probelauf mark PHASE"},
    [NOTE_GAPS] = {N_("there are gaps in the record"), NULL, NULL},
    [NOTE_FUNCTION_TEST] = {N_("a function test is never the base of an estimate"),
                            N_("measure a representative run"),
                            "probelauf run --purpose trial -- ..."},
    [NOTE_CODE_DIRTY] = {N_("the code had changes that are in no commit"),
                         N_("commit them, so that the run can be repeated"), NULL},
};

static bool find_unmet(const struct run *run, struct arena *arena, struct strbuf *evidence) {
    struct facts_expectation *expectations = NULL;
    size_t count = facts_expectations(run, arena, &expectations);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(expectations[i].met, "no") != 0)
            continue;
        strbuf_printf(evidence, "%s%s", any ? "; " : "", expectations[i].what);
        if (expectations[i].detail)
            strbuf_printf(evidence, ": %s", msg_get(expectations[i].detail));
        any = true;
    }
    return any;
}

static bool find_absent_result(const struct run *run, struct strbuf *evidence) {
    const json_t *list = json_get_array(run->end, "results_absent");
    size_t count = json_array_size(list);
    if (count == 0)
        return false;
    const json_t *first = json_array_get(list, 0);
    const char *detail = json_get_text(first, "detail", NULL);
    strbuf_printf(evidence, "%s: %s", json_get_text(first, "name", "?"),
                  msg_get(json_get_text(first, "reason", "?")));
    if (detail)
        strbuf_printf(evidence, ": %s", detail);
    if (count > 1)
        strbuf_printf(evidence, _("; %zu more"), count - 1);
    return true;
}

static void add_duration(struct strbuf *out, double seconds) {
    quantity_format_value(seconds, UNIT_SECOND, out);
}

/* Where the watching of a running process was ended, that it goes on is no surprise. */
static bool find_survivors(const struct run *run, struct strbuf *evidence) {
    const json_t *survivors = json_get_array(run->end, "survivors");
    size_t count = json_array_size(survivors);
    const char *watching = json_get_text(run->end, "watching", "process-ended");
    if (count == 0 || strcmp(watching, "process-ended") != 0)
        return false;
    strbuf_printf(
        evidence,
        msg_plural((unsigned long)count, "%zu process, first: ", "%zu processes, first: "), count);
    strbuf_add_str(evidence, json_get_text(json_array_get(survivors, 0), "comm", "?"));
    return true;
}

static bool find_blind_spot(const struct run *run, struct strbuf *evidence) {
    const json_t *spots = json_get_array(run->start, "blind_spots");
    const char *text = json_get_text(json_array_get(spots, 0), "text", NULL);
    if (!text)
        text = json_get_text(json_array_get(spots, 0), "id", NULL);
    if (text)
        strbuf_add_str(evidence, msg_get(text)); /* records keep the English sentence */
    return text != NULL;
}

static bool find_survived_incident(const struct run *run, struct strbuf *evidence) {
    for (size_t i = 0; i < run->incident_count; i++)
        if (run->incidents[i].survived && run->incidents[i].name) {
            strbuf_add_str(evidence, run->incidents[i].name);
            return true;
        }
    return false;
}

static bool terminal_modes_changed(const struct run *run) {
    const json_t *streams = json_get_object(run->end, "streams");
    return json_get_bool(json_get_object(streams, "stdout"), "modes_changed", 0) ||
           json_get_bool(json_get_object(streams, "stderr"), "modes_changed", 0);
}

static bool find_duration(const struct quantity *q, struct strbuf *evidence) {
    if (!quantity_is_known(q) || q->value < 0.001)
        return false;
    add_duration(evidence, q->value);
    return true;
}

static bool is_not_separated(const struct quantity *q) {
    return q->state == QUANTITY_OPEN && q->reason == QUANTITY_NOT_SEPARATED;
}

static bool find_unattributed(const struct run *run, struct strbuf *evidence) {
    const struct quantity *rest = &run->phase[PHASE_UNATTRIBUTED];
    if (!quantity_is_known(rest) || !quantity_is_known(&run->wall) || run->wall.value < 1.0 ||
        rest->value * 2.0 <= run->wall.value || is_not_separated(&run->phase[PHASE_COMPUTE]))
        return false;
    add_duration(evidence, rest->value);
    strbuf_add_str(evidence, _(" of "));
    add_duration(evidence, run->wall.value);
    return true;
}

static bool find_gaps(const struct run *run, struct strbuf *evidence) {
    if (run->gap_count == 0)
        return false;
    const struct run_gap *gap = &run->gaps[0];
    strbuf_printf(evidence, "%s: %s", gap->what ? gap->what : "?",
                  gap->reason ? msg_get(gap->reason) : "?");
    if (run->gap_count > 1)
        strbuf_printf(evidence, _("; %zu more"), run->gap_count - 1);
    return true;
}

static bool is_writer_lost(const struct run *run) {
    return !run->running && facts_open_reason(run) == QUANTITY_MONITOR_LOST;
}

/* Processes that were there and whose account nobody saw. */
static bool has_unaccounted(const struct run *run) {
    return quantity_is_known(&run->io_written) && run->io_written.bound == QUANTITY_AT_LEAST &&
           !run->running && facts_open_reason(run) != QUANTITY_MONITOR_LOST &&
           json_array_size(json_get_array(run->end, "survivors")) == 0;
}

/* What was waited for was not seen: was the address another's? */
static bool find_not_ready(const struct run *run, bool is_taken, struct strbuf *evidence) {
    AUTO_STRBUF struct strbuf why = STRBUF_INIT;
    if (!facts_why_not_ready(run, &why) || facts_address_taken(run) != is_taken ||
        facts_ready_is_unseen(run))
        return false;
    if (!is_taken)
        strbuf_add_str(evidence, strbuf_str(&why));
    return true;
}

/* Nobody said what the run is, and nothing in it told where its phases begin. */
static bool lacks_phases(const struct run *run) {
    return !run->lines_came_together &&
           (run->outcome == OUTCOME_OK || run->outcome == OUTCOME_ENDED) &&
           !facts_address_taken(run) && !json_get_text(run->start, "phase", NULL) &&
           !json_get_text(run->start, "step", NULL) && is_not_separated(&run->phase[PHASE_LOAD]) &&
           is_not_separated(&run->phase[PHASE_COMPUTE]);
}

static bool add_why(const struct run *run, struct strbuf *evidence) {
    strbuf_add_str(evidence, run->apart_why != NULL ? run->apart_why : "");
    return true;
}

/* Does the note apply? Adds its evidence (foreign text: not yet printable). */
static bool applies(const struct run *run, enum note_kind kind, struct arena *arena,
                    struct strbuf *evidence) {
    struct quantity q;
    switch (kind) {
    case NOTE_MONITOR_LOST:
        return is_writer_lost(run) && !facts_is_attached(run);
    case NOTE_ATTACHED_LOST:
        return is_writer_lost(run) && facts_is_attached(run);
    case NOTE_ADDRESS_TAKEN:
        return find_not_ready(run, true, evidence);
    case NOTE_NEVER_READY:
        return find_not_ready(run, false, evidence);
    case NOTE_EXPECTATION:
        return find_unmet(run, arena, evidence);
    case NOTE_RESULT_ABSENT:
        return find_absent_result(run, evidence);
    case NOTE_BLIND_SPOT:
        return find_blind_spot(run, evidence);
    case NOTE_SURVIVORS:
        return find_survivors(run, evidence);
    case NOTE_TERMINAL_MODES:
        return terminal_modes_changed(run);
    case NOTE_INCIDENT_SURVIVED:
        return find_survived_incident(run, evidence);
    case NOTE_STOPPED:
        q = facts_stopped(run);
        return find_duration(&q, evidence);
    case NOTE_SUSPENDED:
        q = facts_suspended(run);
        return find_duration(&q, evidence);
    case NOTE_UNACCOUNTED:
        return has_unaccounted(run) && !facts_is_attached(run);
    case NOTE_ATTACHED_END_UNSEEN:
        return has_unaccounted(run) && facts_is_attached(run);
    case NOTE_BUFFERED:
        return run->lines_came_together;
    case NOTE_NOT_SEPARATED:
        return !facts_is_attached(run) && lacks_phases(run) && add_why(run, evidence);
    case NOTE_ATTACHED_NOT_SEPARATED:
        return facts_is_attached(run) && lacks_phases(run);
    case NOTE_MOSTLY_UNATTRIBUTED:
        return find_unattributed(run, evidence);
    case NOTE_GAPS:
        return find_gaps(run, evidence);
    case NOTE_FUNCTION_TEST:
        return strcmp(json_get_text(run->start, "purpose", ""), "function-test") == 0;
    case NOTE_CODE_DIRTY:
        return json_get_bool(json_get_object(run->environment, "code"), "dirty", 0) != 0;
    case NOTE_COUNT_:
        break;
    }
    return false;
}

size_t notes_collect(const struct run *run, bool ascii, struct note ret_notes[NOTES_MAX]) {
    AUTO_ARENA struct arena *arena = arena_new();
    size_t count = 0;
    for (int kind = 0; kind < NOTE_COUNT_ && count < NOTES_MAX; kind++) {
        AUTO_STRBUF struct strbuf evidence = STRBUF_INIT;
        if (!applies(run, (enum note_kind)kind, arena, &evidence))
            continue;
        const struct note_text *text = &note_texts[kind];
        struct note *note = &ret_notes[count++];
        *note = (struct note){.kind = (enum note_kind)kind,
                              .finding = msg_get(text->finding),
                              .remedy = text->remedy ? msg_get(text->remedy) : NULL,
                              .command = text->command};
        if (kind == NOTE_NOT_SEPARATED && run->apart_remedy != NULL) {
            note->remedy = run->apart_remedy;
            note->command = NULL;
        }
        if (evidence.length > 0) {
            AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
            layout_add_plain(&plain, strbuf_str(&evidence), ascii);
            note->evidence = strbuf_take(&plain);
        }
    }
    return count;
}

void notes_clear(struct note *notes, size_t count) {
    for (size_t i = 0; i < count; i++)
        mem_free_ptr(&notes[i].evidence);
}

void notes_format(const struct note *note, struct strbuf *out) {
    strbuf_add_str(out, note->finding);
    if (note->evidence && note->kind == NOTE_NEVER_READY)
        strbuf_printf(out, ": %s", note->evidence);
    else if (note->evidence)
        strbuf_printf(out, " (%s)", note->evidence);
    if (note->remedy)
        strbuf_printf(out, "; %s", note->remedy);
    if (note->command)
        strbuf_printf(out, ": `%s`", note->command);
}
