/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records → struct run. One pass gathers, then each part makes its quantities; docs/measurement.md
 * has the rules. Must not ask a clock or a file, and must not turn a missing key into a number.
 */
#include "journal/fold.h"

#include "base/mem.h"
#include "base/msg.h"
#include "journal/fold-parts.h"
#include "text/incident.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool fold_get_i64(const json_t *object, const char *key, int64_t *ret_value) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > FOLD_T_LIMIT_NS) {
        return false;
    }
    *ret_value = json_integer_value(value);
    return true;
}

double fold_seconds(int64_t ns) {
    return (double)ns / 1e9;
}

const char *fold_text(struct fold *fold, const json_t *object, const char *key) {
    const char *text = json_get_text(object, key, NULL);
    return text == NULL ? NULL : arena_strdup(fold->run->arena, text);
}

bool fold_has_survivors(const struct fold *fold) {
    return json_array_size(json_get_array(fold->run->end, "survivors")) > 0;
}

enum quantity_reason fold_absence(const struct fold *fold) {
    if (fold->ended) {
        return QUANTITY_NOT_IN_RECORD;
    }
    return fold->live && !fold->has_end ? QUANTITY_RUNNING : QUANTITY_MONITOR_LOST;
}

/* Arrays of a run grow in its arena by doubling: the old halves stay until the run goes. */
static void *grown(struct arena *arena, const void *items, size_t count, size_t size) {
    if (count > 0 && (count & (count - 1)) != 0) {
        return NULL; /* there is room */
    }
    void *larger = arena_alloc(arena, (count > 0 ? 2 * count : 1) * size);
    if (count > 0) {
        memcpy(larger, items, count * size);
    }
    return larger;
}

void fold_add_gap(struct fold *fold, const char *what, const char *reason, int64_t from_ns,
                  int64_t to_ns) {
    struct run *run = fold->run;
    void *larger = grown(run->arena, run->gaps, run->gap_count, sizeof *run->gaps);
    run->gaps = larger != NULL ? larger : run->gaps;
    run->gaps[run->gap_count++] = (struct run_gap){
        .what = what,
        .reason = reason,
        .start_s = fold_seconds(from_ns),
        .end_s = fold_seconds(to_ns),
    };
}

/* ---- one pass over the records ---- */

#define TAIL_LINES 10u

static void see_time(struct fold *fold, const json_t *record, const char *key) {
    int64_t t_ns;
    if (fold_get_i64(record, key, &t_ns) && t_ns > fold->last_t_ns) {
        fold->last_t_ns = t_ns;
    }
}

static void take_incident(struct fold *fold, json_t *record) {
    struct run *run = fold->run;
    const char *name = json_get_text(record, "name", NULL);
    if (name == NULL) {
        return;
    }
    if (run->kept == NULL) {
        run->kept = json_array();
    }
    json_array_append(run->kept, record); /* figures borrow from it */
    void *larger = grown(run->arena, run->incidents, run->incident_count, sizeof *run->incidents);
    run->incidents = larger != NULL ? larger : run->incidents;
    run->incidents[run->incident_count++] = (struct run_incident){
        .name = arena_strdup(run->arena, name),
        .line = fold_text(fold, record, "line"),
        .figures = json_get_object(record, "figures"),
        .survived = json_get_bool(record, "survived", false) == 1,
    };
}

static void take_gap(struct fold *fold, const json_t *record) {
    int64_t from_ns, to_ns;
    const char *what = fold_text(fold, record, "what");
    const char *reason = fold_text(fold, record, "reason");
    if (what == NULL || !fold_get_i64(record, "from_t_ns", &from_ns) ||
        !fold_get_i64(record, "to_t_ns", &to_ns) || to_ns < from_ns) {
        return;
    }
    fold_add_gap(fold, what, reason != NULL ? reason : "", from_ns, to_ns);
}

/* The last lines of the kept output; standard error is the better witness. */
static void take_text(struct fold *fold, const json_t *record) {
    struct run *run = fold->run;
    const char *text = json_get_text(record, "text", "");
    bool is_error = strcmp(json_get_text(record, "channel", ""), "stdout") != 0;
    size_t end = strlen(text), count = 0;
    if (strcmp(json_get_text(record, "why", ""), "tail") != 0 ||
        text[strspn(text, " \t\r\n")] == '\0' || (fold->has_error_tail && !is_error)) {
        return;
    }
    const char **lines = arena_alloc(run->arena, TAIL_LINES * sizeof *lines);
    while (end > 0 && count < TAIL_LINES) { /* from the last line on; empty ones say nothing */
        size_t begin = end;
        while (begin > 0 && text[begin - 1] != '\n') {
            begin--;
        }
        if (end > begin) {
            lines[count++] = arena_printf(run->arena, "%.*s", (int)(end - begin), text + begin);
        }
        end = begin > 0 ? begin - 1 : 0;
    }
    for (size_t i = 0; i < count / 2; i++) {
        const char *line = lines[i];
        lines[i] = lines[count - 1 - i];
        lines[count - 1 - i] = line;
    }
    run->tail = lines;
    run->tail_count = count;
    fold->has_error_tail = is_error;
}

static void take_counters(struct fold *fold, json_t *record) {
    int64_t t_ns;
    if (fold_get_i64(record, "t_ns", &t_ns)) {
        fold->counters_t_ns = t_ns;
    }
    fold->unreaped |= json_get_bool(record, "unreaped", false) == 1;
    json_object_update(fold->counters, record);
    json_decref(fold->last_counters);
    fold->last_counters = json_incref(record);
}

static void take_end(struct fold *fold, json_t *record) {
    bool monitor_lost = json_get_bool(record, "monitor_lost", false) == 1;
    if (fold->ended && monitor_lost) {
        return; /* the monitor's own word stands */
    }
    fold->has_end = true;
    fold->ended = !monitor_lost;
    json_object_clear(fold->run->end);
    json_object_update(fold->run->end, record);
}

#define DEVICES_MAX 4096u

/* The last of a device holds, at the place of its first. */
static void take_device(struct fold *fold, json_t *record) {
    int64_t number, other;
    if (json_get_text(record, "probe", NULL) != NULL) {
        json_decref(fold->probe);
        fold->probe = json_incref(record);
        return;
    }
    if (!fold_get_i64(record, "device", &number)) {
        return;
    }
    for (size_t i = 0; i < json_array_size(fold->devices); i++) {
        if (fold_get_i64(json_array_get(fold->devices, i), "device", &other) && other == number) {
            json_array_set(fold->devices, i, record);
            return;
        }
    }
    if (json_array_size(fold->devices) < DEVICES_MAX) {
        json_array_append(fold->devices, record);
    }
}

/* Objects of the run are filled once; what stands again is not believed. */
static void take_once(json_t *target, json_t *record) {
    if (json_object_size(target) == 0) {
        json_object_update(target, record);
    }
}

static void take_record(struct fold *fold, const struct journal_record *record) {
    AUTO_JSON json_t *json = fold_shared_json(fold->shared, record);
    if (json == NULL) {
        return;
    }
    see_time(fold, json, record->kind == JOURNAL_GAP ? "to_t_ns" : "t_ns");
    switch (record->kind) {
    case JOURNAL_HEADER:
        take_once(fold->run->header, json);
        break;
    case JOURNAL_START:
        take_once(fold->run->start, json);
        break;
    case JOURNAL_ENVIRONMENT:
        json_object_clear(fold->run->environment);
        json_object_update(fold->run->environment, json);
        break;
    case JOURNAL_MARK:
        json_array_append(fold->marks, json);
        break;
    case JOURNAL_PHASE:
        json_array_append(fold->phases, json);
        break;
    case JOURNAL_INCIDENT:
        take_incident(fold, json);
        break;
    case JOURNAL_GAP:
        take_gap(fold, json);
        break;
    case JOURNAL_CHILD:
        json_array_append(fold->children, json);
        break;
    case JOURNAL_COUNTERS:
        take_counters(fold, json);
        break;
    case JOURNAL_END:
        take_end(fold, json);
        break;
    case JOURNAL_TEXT:
        take_text(fold, json);
        break;
    case JOURNAL_DEVICE:
        take_device(fold, json);
        break;
    default: /* kinds of later versions, and those that are no figure (SERIES) */
        break;
    }
}

/* ---- what is made of them ---- */

static void fold_identity(struct fold *fold) {
    struct run *run = fold->run;
    const json_t *clock = json_get_object(run->start, "clock");
    const char *id = fold_text(fold, run->header, "run");
    const char *part = fold_text(fold, run->header, "part");
    run->id = id != NULL ? id : "";
    run->part = part != NULL ? part : "";
    run->study = fold_text(fold, run->header, "study");
    if (!fold_get_i64(clock, "start_utc_ns", &run->started_utc_ns)) {
        fold_get_i64(run->header, "utc_ns", &run->started_utc_ns);
    }
    fold_get_i64(run->end, "end_utc_ns", &run->ended_utc_ns);
    run->running = fold->live && !fold->has_end;
    run->note = fold_text(fold, run->start, "note");
    json_t *changes = json_get_array(run->start, "changes");
    for (size_t i = 0; i < json_array_size(changes); i++) {
        json_t *change = json_array_get(changes, i);
        if (json_is_string(change)) {
            json_array_append(run->changes, change);
        }
    }
}

/* An INCIDENT whose `survived` is not there counts as not survived: it then takes part in the
 * class. */
static void fold_outcome(struct fold *fold) {
    struct run *run = fold->run;
    int64_t number;
    if (fold_get_i64(run->end, "exit_code", &number) && number <= 255) {
        run->has_exit_code = true;
        run->exit_code = (int)number;
    }
    if (fold_get_i64(run->end, "signal", &number) && number <= 127) {
        run->signal = (int)number;
    }
    struct outcome_facts facts = {
        .ended = fold->ended,
        .start_failed = json_is_integer(json_object_get(run->end, "start_errno")),
        .has_exit_code = run->has_exit_code,
        .exit_code = run->exit_code,
        .signal = run->signal,
        .budget = json_get_bool(run->end, "budget", false) == 1,
        .interrupted = json_get_bool(run->end, "interrupted", false) == 1,
        .monitor_lost = fold->has_end && !fold->ended,
        .running = run->running,
    };
    const char **names = arena_alloc(run->arena, (run->incident_count + 1) * sizeof *names);
    bool *survived = arena_alloc(run->arena, (run->incident_count + 1) * sizeof *survived);
    for (size_t i = 0; i < run->incident_count; i++) {
        names[i] = run->incidents[i].name;
        survived[i] = run->incidents[i].survived;
    }
    run->outcome = outcome_classify(&facts, names, survived, run->incident_count);
}

/* "yes" only if something was expected and all of it was met. */
static void fold_verified(struct fold *fold) {
    const json_t *list = json_get_array(fold->run->end, "expectations");
    size_t met = 0;
    fold->run->verified = "not-checked";
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *answer = json_get_text(json_array_get(list, i), "met", "not-checked");
        if (strcmp(answer, "no") == 0) {
            fold->run->verified = "no";
            return;
        }
        met += strcmp(answer, "yes") == 0;
    }
    if (met > 0 && met == json_array_size(list)) {
        fold->run->verified = "yes";
    }
}

/* Events come oldest first; of what can only hold once the latest holds. */
static void fold_event(struct fold *fold, const json_t *event) {
    struct run *run = fold->run;
    const char *about = json_get_text(event, "about", "");
    if (!json_is_object(event) || strcmp(about, run->id) != 0) {
        return;
    }
    const json_t *invalid = json_object_get(event, "invalid");
    if (json_is_boolean(invalid)) {
        run->validity = json_is_true(invalid) ? RUN_INVALID : RUN_VALID;
        run->validity_who = fold_text(fold, event, "who");
        run->validity_why = fold_text(fold, event, "why");
    }
    const char *disposition = fold_text(fold, event, "disposition");
    const char *note = fold_text(fold, event, "note");
    const char *change = json_get_text(event, "change", NULL);
    run->disposition = disposition != NULL ? disposition : run->disposition;
    run->note = note != NULL ? note : run->note;
    if (change != NULL) {
        json_array_append_new(run->changes, json_text(change));
    }
}

static int check_header(const struct journal_reader *reader, const json_t *header,
                        struct err *err) {
    if (json_get_text(header, "run", NULL) == NULL) {
        return err_set(err, -EBADMSG, "journal-damaged", "the journal has no sound header%s%s",
                       reader->damage[0] != '\0' ? ": " : "", reader->damage);
    }
    if (json_get_int(header, "format", 0) != 1) {
        return err_set(err, -EBADMSG, "journal-newer",
                       "the journal was written by a newer version; update probelauf");
    }
    if (strcmp(json_get_text(header, "type", ""), "run") != 0) {
        return err_set(err, -EBADMSG, "journal-no-run", "the journal is not one of a run");
    }
    return 0;
}

static void fold_done(struct fold *fold) {
    json_decref(fold->marks);
    json_decref(fold->phases);
    json_decref(fold->children);
    json_decref(fold->devices);
    json_decref(fold->probe);
    json_decref(fold->counters);
    json_decref(fold->last_counters);
}
#define AUTO_FOLD __attribute__((cleanup(fold_done)))

int fold_run(const struct fold_input *input, bool with_series, struct run **ret_run,
             struct err *err) {
    struct journal_reader reader;
    int rc = journal_reader_init(&reader, input->bytes, input->length, err);
    if (rc < 0) {
        return rc;
    }
    AUTO_RUN struct run *run = run_new();
    AUTO_FOLD struct fold fold = {
        .run = run,
        .live = input->live,
        .shared = input->shared,
        .last_t_ns = -1,
        .counters_t_ns = -1,
        .marks = json_array(),
        .phases = json_array(),
        .children = json_array(),
        .devices = json_array(),
        .counters = json_object(),
    };
    struct journal_record record;
    while (journal_reader_next(&reader, &record)) {
        take_record(&fold, &record);
    }
    rc = check_header(&reader, run->header, err);
    if (rc < 0) {
        return rc;
    }
    if (!fold.has_end) { /* then the ticks may know more of the time than the other records */
        int64_t tick_ns = fold_last_tick(input->bytes, input->length);
        fold.last_t_ns = tick_ns > fold.last_t_ns ? tick_ns : fold.last_t_ns;
    }
    if (reader.damage[0] != '\0') {
        int64_t from_ns = fold.last_t_ns > 0 ? fold.last_t_ns : 0;
        fold_add_gap(&fold, "journal", arena_strdup(run->arena, reader.damage), from_ns, from_ns);
    }
    fold_identity(&fold);
    fold_outcome(&fold);
    fold_verified(&fold);
    fold_time(&fold);
    fold_phases(&fold);
    fold_host(&fold);
    fold_work(&fold);
    fold_gpus(&fold, input->bytes, input->length);
    fold_cache(&fold, input->bytes, input->length);
    if (with_series) {
        fold_series(&fold, input->bytes, input->length);
    }
    for (size_t i = 0; i < input->event_count; i++) {
        fold_event(&fold, input->events[i].payload);
    }
    *ret_run = steal(run);
    return 0;
}
