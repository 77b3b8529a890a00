/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run as JSON: schema probelauf.run/1, frozen in schema/run.schema.json. Every key is always
 * there; plain facts are null where a record does not hold them, whatever can be measured is a
 * quantity object. Must never depend on language or locale beyond a quantity's detail, and never
 * print the kept diff.
 */
#include "report/run-json.h"

#include "base/clock.h"
#include "report/facts.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

#define SCHEMA "probelauf.run/1"

void run_json_put_quantity(json_t *object, const char *key, const struct quantity *q) {
    json_put(object, key, quantity_to_json(q));
}

void run_json_put_utc(json_t *object, const char *key, int64_t utc_ns) {
    if (utc_ns == 0) {
        json_put(object, key, json_null());
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    clock_format_utc(utc_ns, &text);
    json_put_text(object, key, strbuf_str(&text));
}

static json_t *copy_if(const json_t *object, const char *key, bool (*fits)(const json_t *)) {
    json_t *value = json_is_object(object) ? json_object_get(object, key) : NULL;
    return value && fits(value) ? json_incref(value) : json_null();
}

static bool is_text(const json_t *value) {
    return json_is_string(value);
}

static bool is_integer(const json_t *value) {
    return json_is_integer(value);
}

static bool is_bool(const json_t *value) {
    return json_is_boolean(value);
}

json_t *run_json_plain_text(const json_t *object, const char *key) {
    return copy_if(object, key, is_text);
}

json_t *run_json_plain_int(const json_t *object, const char *key) {
    return copy_if(object, key, is_integer);
}

json_t *run_json_plain_bool(const json_t *object, const char *key) {
    return copy_if(object, key, is_bool);
}

json_t *run_json_texts(const json_t *array) {
    json_t *texts = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *text = json_array_get(array, i);
        if (json_is_string(text))
            json_array_append(texts, text);
    }
    return texts;
}

json_t *run_json_text_object(const json_t *object) {
    json_t *texts = json_object();
    const char *key = NULL;
    json_t *value = NULL;
    /* jansson's iteration takes no const object, but does not change it */
    json_object_foreach ((json_t *)(uintptr_t)object, key, value)
        if (json_is_string(value))
            json_object_set(texts, key, value);
    return texts;
}

json_t *run_json_copy_object(const json_t *object) {
    return json_is_object(object) ? json_deep_copy(object) : json_object();
}

static void put_number_list_entry(json_t *object, const char *key, double seconds) {
    if (isfinite(seconds))
        json_put_real(object, key, seconds);
    else
        json_put(object, key, json_null());
}

static json_t *changes_json(const struct run *run) {
    return run_json_texts(json_is_array(run->changes) ? run->changes
                                                      : json_get_array(run->start, "changes"));
}

/* Enums are closed: what a record holds beyond them is not passed on. */
static json_t *purpose_json(const struct run *run) {
    static const char *const purposes[] = {"trial", "function-test", "work"};
    const char *purpose = json_get_text(run->start, "purpose", "");
    for (size_t i = 0; i < ARRAY_LENGTH(purposes); i++)
        if (strcmp(purpose, purposes[i]) == 0)
            return json_text(purposes[i]);
    return json_null();
}

static json_t *attempt_json(const struct run *run) {
    const json_t *attempt = json_object_get(run->start, "attempt");
    return json_is_integer(attempt) && json_integer_value(attempt) >= 1
               ? json_integer(json_integer_value(attempt))
               : json_null();
}

/* Who, what, when: the plain facts of the START record. */
static void put_identity(json_t *json, const struct run *run) {
    json_put_text(json, "run", run->id);
    json_put_text(json, "part", run->part);
    json_put_text(json, "study", run->study);
    json_put(json, "environment_id", run_json_plain_text(run->start, "environment_id"));
    json_put(json, "block", run_json_plain_text(run->start, "block"));
    json_put(json, "condition", run_json_text_object(json_get_object(run->start, "condition")));
    json_put(json, "step", run_json_plain_text(run->start, "step"));
    json_put(json, "purpose", purpose_json(run));
    json_put(json, "attempt", attempt_json(run));
    json_put(json, "retry_of", run_json_plain_text(run->start, "retry_of"));
    json_put(json, "command", run_json_texts(json_get_array(run->start, "command")));
    json_put_text(json, "note", run->note ? run->note : json_get_text(run->start, "note", NULL));
    json_put(json, "changes", changes_json(run));
    json_put_text(json, "disposition", run->disposition);
    run_json_put_utc(json, "started_utc", run->started_utc_ns);
    run_json_put_utc(json, "ended_utc", run->ended_utc_ns);
    json_put(json, "session", run_json_plain_text(run->start, "session"));
}

/* Slurm and its like number their jobs, but a job may also be named "12_3": both forms are kept as
 * they stand. */
static json_t *text_or_int(const json_t *object, const char *key) {
    json_t *value = json_is_object(object) ? json_object_get(object, key) : NULL;
    return json_is_string(value) || json_is_integer(value) ? json_incref(value) : json_null();
}

static json_t *launch_json(const struct run *run) {
    static const char *const ids[] = {"job", "step", "array"};
    static const char *const numbers[] = {"restart", "node", "rank", "ranks"};
    const json_t *launch = json_get_object(run->start, "launch");
    json_t *json = json_object();
    json_put(json, "scheduler", run_json_plain_text(launch, "scheduler"));
    for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
        json_put(json, ids[i], text_or_int(launch, ids[i]));
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        json_put(json, numbers[i], text_or_int(launch, numbers[i]));
    return json;
}

static json_t *clock_json(const struct run *run) {
    const json_t *clock = json_get_object(run->start, "clock");
    struct quantity suspended = facts_suspended(run);
    json_t *json = json_object();
    json_put(json, "boot_id", run_json_plain_text(clock, "boot_id"));
    json_put(json, "start_boottime_ns", run_json_plain_int(clock, "start_boottime_ns"));
    json_put(json, "end_boottime_ns", run_json_plain_int(run->end, "end_boottime_ns"));
    run_json_put_quantity(json, "suspended", &suspended);
    return json;
}

static json_t *stream_json(const struct run *run, const char *name, bool output) {
    const json_t *started = json_get_object(json_get_object(run->start, "streams"), name);
    const json_t *ended = json_get_object(json_get_object(run->end, "streams"), name);
    json_t *json = json_object();
    json_put(json, "was", run_json_plain_text(started, "was"));
    json_put(json, "tee", run_json_plain_text(started, "tee"));
    json_put(json, "shared_with", run_json_plain_text(started, "shared_with"));
    if (!output)
        return json;
    struct quantity bytes = facts_stream_bytes(run, name, "bytes");
    struct quantity unseen = facts_stream_bytes(run, name, "unseen_bytes");
    run_json_put_quantity(json, "bytes", &bytes);
    run_json_put_quantity(json, "unseen_bytes", &unseen);
    json_put(json, "modes_changed", run_json_plain_bool(ended, "modes_changed"));
    json_put(json, "copier_restarts", run_json_plain_int(ended, "copier_restarts"));
    return json;
}

static json_t *streams_json(const struct run *run) {
    json_t *json = json_object();
    json_put(json, "stdin", stream_json(run, "stdin", false));
    json_put(json, "stdout", stream_json(run, "stdout", true));
    json_put(json, "stderr", stream_json(run, "stderr", true));
    return json;
}

static json_t *incidents_json(const struct run *run) {
    json_t *list = json_array();
    for (size_t i = 0; i < run->incident_count; i++) {
        const struct run_incident *incident = &run->incidents[i];
        json_t *json = json_object();
        json_put_text(json, "name", incident->name);
        json_put_text(json, "line", incident->line);
        json_put(json, "figures", run_json_copy_object(incident->figures));
        json_put_bool(json, "survived", incident->survived);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *survivors_json(const struct run *run) {
    const json_t *survivors = json_get_array(run->end, "survivors");
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(survivors); i++) {
        const json_t *survivor = json_array_get(survivors, i);
        if (!json_is_object(survivor))
            continue;
        json_t *json = json_object();
        json_put(json, "pid", run_json_plain_int(survivor, "pid"));
        json_put(json, "start", run_json_plain_int(survivor, "start"));
        json_put(json, "comm", run_json_plain_text(survivor, "comm"));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *outcome_json(const struct run *run) {
    json_t *json = json_object();
    json_put_text(json, "class", outcome_name(run->outcome));
    json_put(json, "exit_code", run->has_exit_code ? json_integer(run->exit_code) : json_null());
    json_put(json, "signal", run->signal > 0 ? json_integer(run->signal) : json_null());
    json_put(json, "start_error", run_json_plain_text(run->end, "start_error"));
    json_put(json, "incidents", incidents_json(run));
    json_put(json, "survivors", survivors_json(run));
    return json;
}

static json_t *validity_json(const struct run *run) {
    json_t *json = json_object();
    json_put_text(json, "state", facts_validity_name(run->validity));
    json_put_text(json, "who", run->validity_who);
    json_put_text(json, "why", run->validity_why);
    return json;
}

static json_t *phase_list_json(const struct run *run) {
    json_t *list = json_array();
    for (size_t i = 0; i < run->phase_count; i++) {
        const struct run_phase *phase = &run->phases[i];
        json_t *json = json_object();
        json_put_text(json, "name", phase->name ? phase->name : phase_name(phase->phase));
        put_number_list_entry(json, "start_s", phase->start_s);
        put_number_list_entry(json, "end_s", phase->end_s);
        json_put_text(json, "source", phase->source);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *time_json(const struct run *run) {
    struct quantity stopped = facts_stopped(run);
    json_t *json = json_object();
    run_json_put_quantity(json, "wall", &run->wall);
    run_json_put_quantity(json, "command", &run->command);
    run_json_put_quantity(json, "result_complete", &run->result_complete);
    run_json_put_quantity(json, "stopped", &stopped);
    json_t *phases = json_object();
    for (int i = 0; i < PHASE_COUNT_; i++)
        run_json_put_quantity(phases, phase_name((enum phase)i), &run->phase[i]);
    json_put(json, "phases", phases);
    json_put(json, "phase_list", phase_list_json(run));
    return json;
}

static json_t *machine_json(const struct run *run, enum facts_machine which) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct facts_figure *figures = NULL;
    size_t count = facts_machine(run, which, arena, &figures);
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++)
        run_json_put_quantity(json, figures[i].name, &figures[i].quantity);
    return json;
}

static json_t *host_json(const struct run *run) {
    json_t *json = json_object();
    run_json_put_quantity(json, "cpu", &run->cpu);
    json_t *memory = json_object();
    run_json_put_quantity(memory, "largest_process_rss", &run->largest_process_rss);
    run_json_put_quantity(memory, "tree_pss", &run->tree_pss);
    run_json_put_quantity(memory, "cgroup_charged", &run->cgroup_charged);
    json_put(json, "memory", memory);
    json_t *io = json_object();
    run_json_put_quantity(io, "read", &run->io_read);
    run_json_put_quantity(io, "written", &run->io_written);
    run_json_put_quantity(io, "read_chars", &run->io_read_chars);
    run_json_put_quantity(io, "written_chars", &run->io_written_chars);
    json_put(json, "io", io);
    run_json_put_quantity(json, "processes", &run->processes);
    json_put(json, "limits", machine_json(run, FACTS_LIMITS));
    json_put(json, "totals", machine_json(run, FACTS_TOTALS));
    return json;
}

json_t *report_run_json(const struct run *run) {
    json_t *json = json_object();
    json_put_text(json, "schema", SCHEMA);
    put_identity(json, run);
    run_json_put_target(json, run);
    json_put(json, "launch", launch_json(run));
    json_put(json, "clock", clock_json(run));
    json_put(json, "streams", streams_json(run));
    json_put(json, "outcome", outcome_json(run));
    json_put(json, "validity", validity_json(run));
    json_put_text(json, "verified", run->verified ? run->verified : "not-checked");
    json_put(json, "expectations", run_json_expectations(run));
    json_put(json, "time", time_json(run));
    json_put(json, "host", host_json(run));
    run_json_put_gpus(json, run);
    json_put(json, "input", run_json_files(run, true));
    json_put(json, "output", run_json_files(run, false));
    json_put(json, "work", run_json_work(run));
    json_put(json, "results", run_json_results(run));
    json_put(json, "code", run_json_code(run));
    json_put(json, "environment", run_json_environment(run));
    json_put(json, "cache", run_json_cache(run));
    json_put(json, "monitor", run_json_monitor(run));
    return json;
}
