/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sessions as probelauf.session/1 (schema/session.schema.json). Seconds count from the session's
 * start. */
#include "report/session.h"

#include "report/run-json.h"

static void put_count(json_t *object, const char *key, bool known, uint64_t value) {
    json_put(object, key, known ? json_integer((json_int_t)value) : json_null());
}

static json_t *runs_json(const struct session *session) {
    json_t *runs = json_array();
    for (size_t i = 0; i < session->run_count; i++) {
        const struct session_run *run = &session->runs[i];
        json_t *item = json_object();
        json_put_text(item, "run", run->run);
        json_put_text(item, "outcome", run->outcome);
        json_put_real(item, "start_s", run->start_s);
        json_put_real(item, "end_s", run->end_s);
        json_put_bool(item, "running", run->running);
        json_put_text(
            item, "end_bound",
            quantity_bound_name(run->end_is_at_least ? QUANTITY_AT_LEAST : QUANTITY_EXACT));
        json_array_append_new(runs, item);
    }
    return runs;
}

static json_t *gaps_json(const struct session *session) {
    json_t *gaps = json_array();
    for (size_t i = 0; i < session->gap_count; i++) {
        const struct session_gap *gap = &session->gaps[i];
        json_t *item = json_object();
        json_put_int(item, "number", gap->number);
        run_json_put_utc(item, "started_utc", gap->start_utc_ns);
        run_json_put_utc(item, "ended_utc", gap->running ? 0 : gap->end_utc_ns);
        json_put_real(item, "start_s", gap->start_s);
        json_put_real(item, "end_s", gap->end_s);
        json_put_bool(item, "running", gap->running);
        run_json_put_quantity(item, "length", &gap->length);
        json_put_text(item, "reason", session_reason_name(gap->reason));
        json_put_text(item, "text", gap->text);
        json_put_text(item, "who", gap->who);
        json_put_text(item, "note", gap->note);
        json_put_text(item, "suggestion",
                      gap->has_suggestion ? session_reason_name(gap->suggestion) : NULL);
        json_put_text(item, "after_run", gap->after_run);
        json_put_text(item, "before_run", gap->before_run);
        json_put_bool(item, "restarted", gap->restarted);
        json_array_append_new(gaps, item);
    }
    return gaps;
}

static json_t *notes_json(const struct session *session) {
    json_t *notes = json_array();
    for (size_t i = 0; i < session->note_count; i++) {
        const struct session_note *note = &session->notes[i];
        json_t *item = json_object();
        json_put_text(item, "note", note->id);
        json_put_text(item, "reason", session_reason_name(note->reason));
        json_put_text(item, "text", note->text);
        json_put_text(item, "who", note->who);
        run_json_put_utc(item, "noted_utc", note->utc_ns);
        json_put(item, "start_s", note->has_span ? json_real(note->start_s) : json_null());
        json_put(item, "end_s", note->has_span ? json_real(note->end_s) : json_null());
        json_put_bool(item, "applies", note->applies);
        json_array_append_new(notes, item);
    }
    return notes;
}

static void put_figures(json_t *json, const struct session *session) {
    json_t *reasons = json_object();
    for (enum session_reason r = SESSION_UNKNOWN; r < SESSION_REASON_COUNT_; r++)
        run_json_put_quantity(reasons, session_reason_name(r), &session->by_reason[r]);
    run_json_put_quantity(json, "reserved", &session->reserved);
    run_json_put_quantity(json, "busy", &session->busy);
    run_json_put_quantity(json, "idle", &session->idle);
    run_json_put_quantity(json, "idle_share", &session->idle_share);
    json_put(json, "idle_by_reason", reasons);
    run_json_put_quantity(json, "gpu_reserved", &session->gpu_reserved);
    run_json_put_quantity(json, "gpu_idle_in_runs", &session->gpu_idle_in_runs);
    run_json_put_quantity(json, "paid", &session->paid);
    json_put(json, "amount", amount_to_json(&session->amount));
}

json_t *report_session_object(const struct session *session, bool whole) {
    json_t *json = json_object();
    json_put_text(json, "session", session->id);
    json_put_text(json, "study", session->study);
    json_put_text(json, "environment", session->environment);
    json_put_text(json, "offer", session->offer);
    put_count(json, "gpus", session->has_gpus, session->gpus);
    json_put_text(json, "note", session->note);
    json_put_text(json, "who", session->who);
    json_put_text(json, "host", session->host);
    json_put_text(json, "machine", session->machine);
    json_put_text(json, "state", session_state_name(session->state));
    json_put_text(json, "superseded_by", session->superseded_by);
    run_json_put_utc(json, "started_utc", session->started_utc_ns);
    run_json_put_utc(json, "ended_utc", session->ended_utc_ns);
    json_put_bool(json, "began_given", session->began_is_given);
    json_put_bool(json, "ended_given", session->ended_is_given);
    put_count(json, "restarts", true, session->restarts);
    put_figures(json, session);
    if (!whole)
        return json;
    json_put(json, "runs", runs_json(session));
    json_put(json, "gaps", gaps_json(session));
    json_put(json, "notes", notes_json(session));
    return json;
}

json_t *report_session_json(const struct session *session) {
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.session/1");
    json_put(json, "session", session ? report_session_object(session, true) : json_null());
    return json;
}

json_t *report_session_list_json(const struct session *const *sessions, size_t count,
                                 const char *next) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, report_session_object(sessions[i], true));
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.session/1");
    json_put(json, "sessions", list);
    json_put_text(json, "next", next);
    return json;
}
