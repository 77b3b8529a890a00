/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts from a run's records, types checked (facts.h). Must not print and must not invent a number.
 */
#include "report/facts.h"

#include "base/clock.h"
#include "base/msg.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static const struct {
    const char *part;      /* of the ENVIRONMENT record */
    const char *method;    /* of plain numbers, which early records may hold */
    const char *always[5]; /* figures that are at least named, NULL-terminated */
} machine_parts[] = {
    [FACTS_LIMITS] = {"limits", "cgroup", {"memory", "swap", "cpu", "pids"}},
    [FACTS_TOTALS] = {"totals", "procfs", {"memory", "swap", "cpu"}},
};

enum quantity_reason facts_open_reason(const struct run *run) {
    if (run->running)
        return QUANTITY_RUNNING;
    if (run->outcome == OUTCOME_LOST || json_is_true(json_object_get(run->end, "monitor_lost")))
        return QUANTITY_MONITOR_LOST;
    return QUANTITY_NOT_IN_RECORD;
}

struct quantity facts_number(const json_t *object, const char *key, const char *unit,
                             const char *method, enum quantity_reason reason) {
    const json_t *value = json_is_object(object) ? json_object_get(object, key) : NULL;
    double number = json_is_number(value) ? json_number_value(value) : -1.0;
    if (!isfinite(number) || number < 0.0)
        return quantity_open(unit, reason, NULL);
    return quantity_measured(unit, number, method);
}

static bool bound_from_name(const char *name, enum quantity_bound *ret_bound) {
    for (int i = 0; i < QUANTITY_BOUND_COUNT_; i++)
        if (strcmp(name, quantity_bound_name((enum quantity_bound)i)) == 0) {
            *ret_bound = (enum quantity_bound)i;
            return true;
        }
    return false;
}

static struct quantity quantity_from_object(const json_t *json, const char *unit,
                                            const char *method, enum quantity_reason reason,
                                            const char *detail) {
    const char *state = json_get_text(json, "state", "");
    const char *own_unit = json_get_text(json, "unit", unit);
    if (strcmp(state, quantity_state_name(QUANTITY_MEASURED)) == 0) {
        enum quantity_bound bound = QUANTITY_EXACT;
        const char *bound_name = json_get_text(json, "bound", quantity_bound_name(bound));
        struct quantity q = facts_number(json, "value", own_unit,
                                         json_get_text(json, "method", method), QUANTITY_FAILED);
        if (!bound_from_name(bound_name, &bound))
            return quantity_open(unit, QUANTITY_FAILED, detail);
        if (quantity_is_known(&q)) {
            q.bound = bound;
            q.detail = json_get_text(json, "detail", NULL);
        }
        return q;
    }
    enum quantity_reason own = reason;
    (void)quantity_reason_from_name(json_get_text(json, "reason", ""), &own);
    return quantity_open(own_unit, own, json_get_text(json, "detail", detail));
}

struct quantity facts_quantity(const json_t *json, const char *unit, const char *method,
                               enum quantity_reason reason, const char *detail) {
    if (json_is_object(json))
        return quantity_from_object(json, unit, method, reason, detail);
    double number = json_is_number(json) ? json_number_value(json) : -1.0;
    if (isfinite(number) && number >= 0.0)
        return quantity_measured(unit, number, method);
    return quantity_open(unit, reason, detail);
}

static bool get_integer(const json_t *object, const char *key, int64_t *ret_value) {
    const json_t *value = json_is_object(object) ? json_object_get(object, key) : NULL;
    if (!json_is_integer(value))
        return false;
    *ret_value = json_integer_value(value);
    return true;
}

static double later(double end_s, double time_s) {
    return isfinite(time_s) && time_s > end_s ? time_s : end_s;
}

double facts_duration(const struct run *run) {
    double end_s = quantity_is_known(&run->wall) ? later(0.0, run->wall.value) : 0.0;
    for (size_t i = 0; i < run->series_count; i++) {
        const struct run_series *series = &run->series[i];
        if (series->count > 0)
            end_s = later(end_s, series->time_s[series->count - 1]);
    }
    for (size_t i = 0; i < run->phase_count; i++)
        end_s = later(end_s, run->phases[i].end_s);
    return end_s;
}

struct quantity facts_suspended(const struct run *run) {
    int64_t start_ns = 0, end_ns = 0, mono_ns = 0, slept_ns = 0;
    const json_t *clock = json_get_object(run->start, "clock");
    if (!get_integer(clock, "start_boottime_ns", &start_ns) ||
        !get_integer(run->end, "end_boottime_ns", &end_ns) ||
        !get_integer(run->end, "t_ns", &mono_ns) ||
        __builtin_sub_overflow(end_ns, start_ns, &slept_ns) ||
        __builtin_sub_overflow(slept_ns, mono_ns, &slept_ns))
        return quantity_open(UNIT_SECOND, facts_open_reason(run), NULL);
    /* the two clocks are read one after the other: below a millisecond there is nothing to tell */
    if (slept_ns < -NS_PER_MS)
        return quantity_open(UNIT_SECOND, QUANTITY_FAILED,
                             _("the clocks of the record contradict each other"));
    double seconds = slept_ns > 0 ? (double)(slept_ns / NS_PER_MS) / 1e3 : 0.0;
    return quantity_measured(UNIT_SECOND, seconds, "CLOCK_BOOTTIME - CLOCK_MONOTONIC");
}

struct quantity facts_stopped(const struct run *run) {
    if (facts_is_attached(run))
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_VISIBLE,
                             _("stops of a process that ran already are not told to us"));
    struct quantity q = facts_number(run->end, "stopped_ns", UNIT_SECOND, "waitid WSTOPPED",
                                     facts_open_reason(run));
    if (quantity_is_known(&q))
        q.value /= 1e9;
    return q;
}

static bool was_inherited(const struct run *run, const char *stream) {
    const json_t *started = json_get_object(json_get_object(run->start, "streams"), stream);
    return strcmp(json_get_text(started, "tee", ""), "inherited") == 0;
}

/* Nobody looked to the end: the monitor was lost, or descendants were left that may still write. */
static bool stream_went_on(const struct run *run) {
    return run->outcome == OUTCOME_LOST || json_get_bool(run->end, "monitor_lost", 0) ||
           json_array_size(json_get_array(run->end, "survivors")) > 0;
}

struct quantity facts_stream_bytes(const struct run *run, const char *stream, const char *key) {
    const json_t *ended = json_get_object(json_get_object(run->end, "streams"), stream);
    enum quantity_reason reason = facts_open_reason(run);
    const char *detail = NULL;
    if (was_inherited(run, stream)) {
        reason = QUANTITY_NOT_VISIBLE;
        detail = _("the stream was inherited: its bytes do not pass here");
    }
    struct quantity q = facts_number(ended, key, UNIT_BYTE, "output as it was read", reason);
    if (!quantity_is_known(&q))
        q.detail = detail;
    else if (stream_went_on(run))
        q.bound = QUANTITY_AT_LEAST;
    return q;
}

const char *facts_environment_reason(const struct run *run, const char *part) {
    const char *english = json_get_text(json_get_object(run->environment, "reasons"), part, NULL);
    return english ? msg_get(english) : NULL; /* records keep the English sentence */
}

static const char *machine_unit(const char *name) {
    if (strcmp(name, "memory") == 0 || strcmp(name, "swap") == 0)
        return UNIT_BYTE;
    return strcmp(name, "cpu") == 0 ? "core" : UNIT_COUNT;
}

struct quantity facts_machine_figure(const struct run *run, enum facts_machine which,
                                     const char *name) {
    const char *part = machine_parts[which].part;
    const json_t *figures = json_get_object(run->environment, part);
    enum quantity_reason reason =
        json_object_size(run->environment) > 0 ? QUANTITY_NOT_IN_RECORD : facts_open_reason(run);
    struct quantity q =
        facts_quantity(figures ? json_object_get(figures, name) : NULL, machine_unit(name),
                       machine_parts[which].method, reason, facts_environment_reason(run, part));
    if (which == FACTS_LIMITS && q.reason == QUANTITY_NOT_APPLICABLE && !q.detail)
        q.detail = _("none is set");
    return q;
}

static bool is_always_named(enum facts_machine which, const char *name) {
    for (const char *const *always = machine_parts[which].always; *always; always++)
        if (strcmp(*always, name) == 0)
            return true;
    return false;
}

size_t facts_machine(const struct run *run, enum facts_machine which, struct arena *arena,
                     struct facts_figure **ret_figures) {
    json_t *figures = json_get_object(run->environment, machine_parts[which].part);
    size_t most = ARRAY_LENGTH(machine_parts[which].always) + json_object_size(figures);
    *ret_figures = arena_alloc(arena, most * sizeof(**ret_figures));
    size_t count = 0;
    for (const char *const *name = machine_parts[which].always; *name; name++)
        (*ret_figures)[count++] =
            (struct facts_figure){*name, facts_machine_figure(run, which, *name)};
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (figures, key, value)
        if (!is_always_named(which, key) && json_get_text(value, "state", NULL))
            (*ret_figures)[count++] =
                (struct facts_figure){key, facts_machine_figure(run, which, key)};
    return count;
}

static const char *file_identity(const json_t *entry, struct arena *arena) {
    const char *identity = json_get_text(entry, "identity", NULL);
    int64_t mtime_ns = 0, inode = 0;
    if (identity || !get_integer(entry, "mtime_ns", &mtime_ns))
        return identity;
    if (!get_integer(entry, "inode", &inode))
        return arena_printf(arena, "mtime:%lld", (long long)mtime_ns);
    return arena_printf(arena, "mtime:%lld,inode:%lld", (long long)mtime_ns, (long long)inode);
}

static struct facts_file file_from(const struct run *run, const json_t *entry,
                                   struct arena *arena) {
    enum quantity_reason reason = facts_open_reason(run);
    struct facts_file file = {.path = json_is_string(entry) ? json_string_value(entry)
                                                            : json_get_text(entry, "path", "")};
    const char *detail = NULL;
    if (json_is_object(entry)) {
        reason = QUANTITY_NOT_IN_RECORD;
        detail = json_get_text(entry, "reason", NULL);
        file.kind = json_get_text(entry, "kind", NULL);
        file.identity = file_identity(entry, arena);
        if (file.kind && strcmp(file.kind, "absent") == 0) {
            reason = QUANTITY_FAILED;
            detail = _("there is no such file");
        }
        if (!detail && file.kind && strcmp(file.kind, "folder") == 0)
            detail = _("folders are not added up");
    }
    file.bytes = facts_number(entry, "bytes", UNIT_BYTE, "stat st_size", reason);
    if (!quantity_is_known(&file.bytes))
        file.bytes.detail = detail;
    file.items = facts_number(entry, "items", UNIT_COUNT, "counted", QUANTITY_NOT_IN_RECORD);
    return file;
}

static size_t files_from(const struct run *run, const json_t *list, struct arena *arena,
                         struct facts_file **ret_files) {
    size_t count = json_array_size(list), used = 0;
    *ret_files = arena_alloc(arena, (count + 1) * sizeof(**ret_files));
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        if (json_is_string(entry) || json_is_object(entry))
            (*ret_files)[used++] = file_from(run, entry, arena);
    }
    return used;
}

size_t facts_inputs(const struct run *run, struct arena *arena, struct facts_file **ret_files) {
    return files_from(run, json_get_array(run->start, "inputs"), arena, ret_files);
}

size_t facts_outputs(const struct run *run, struct arena *arena, struct facts_file **ret_files) {
    const json_t *ended = json_get_array(run->end, "outputs");
    return files_from(run, ended ? ended : json_get_array(run->start, "outputs"), arena, ret_files);
}

static const char *met_name(const char *met) {
    static const char *const names[] = {"yes", "no"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (strcmp(met, names[i]) == 0)
            return names[i];
    return "not-checked";
}

/* START names an expectation {"marker": "text"}, {"marker": true, "text": …} or as text. */
static const char *expected_text(const json_t *entry, struct arena *arena) {
    static const char *const kinds[] = {"marker", "file", "count"};
    if (json_is_string(entry))
        return json_string_value(entry);
    const char *what = json_get_text(entry, "what", NULL);
    if (what)
        return what;
    const char *kind = json_get_text(entry, "kind", NULL);
    if (kind)
        return arena_printf(arena, "%s=%s", kind, json_get_text(entry, "text", ""));
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
        if (!json_is_object(entry) || !json_object_get(entry, kinds[i]))
            continue;
        const char *text = json_get_text(entry, kinds[i], json_get_text(entry, "text", ""));
        return arena_printf(arena, "%s=%s", kinds[i], text);
    }
    return json_get_text(entry, "text", "");
}

size_t facts_expectations(const struct run *run, struct arena *arena,
                          struct facts_expectation **ret_expectations) {
    const json_t *ended = json_get_array(run->end, "expectations");
    const json_t *list = ended ? ended : json_get_array(run->start, "expect");
    size_t count = json_array_size(list), used = 0;
    *ret_expectations = arena_alloc(arena, (count + 1) * sizeof(**ret_expectations));
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        if (!json_is_string(entry) && !json_is_object(entry))
            continue;
        (*ret_expectations)[used++] = (struct facts_expectation){
            .what = expected_text(entry, arena),
            .met = ended ? met_name(json_get_text(entry, "met", "")) : "not-checked",
            .detail = json_is_object(entry) ? json_get_text(entry, "detail", NULL) : NULL,
        };
    }
    return used;
}

size_t facts_unmet(const struct run *run, size_t *ret_count) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct facts_expectation *expectations = NULL;
    size_t unmet = 0;
    *ret_count = facts_expectations(run, arena, &expectations);
    for (size_t i = 0; i < *ret_count; i++)
        unmet += strcmp(expectations[i].met, "no") == 0;
    return unmet;
}

static bool needs_quotes(const char *argument) {
    return *argument == '\0' || strpbrk(argument, " \t\n\"'\\$`*?[]{}()<>|&;#~!") != NULL;
}

void facts_command_line(const struct run *run, struct strbuf *out) {
    const json_t *command = json_get_array(run->start, "command");
    for (size_t i = 0; i < json_array_size(command); i++) {
        const char *argument = json_string_value(json_array_get(command, i));
        if (!argument)
            continue;
        if (out->length > 0)
            strbuf_add_char(out, ' ');
        if (!needs_quotes(argument)) {
            strbuf_add_str(out, argument);
            continue;
        }
        strbuf_add_char(out, '\'');
        for (const char *p = argument; *p; p++)
            if (*p == '\'')
                strbuf_add_str(out, "'\\''");
            else
                strbuf_add_char(out, *p);
        strbuf_add_char(out, '\'');
    }
}

bool facts_is_attached(const struct run *run) {
    return json_is_integer(json_object_get(run->start, "attach"));
}

static const char *watching_of(const struct run *run) {
    return facts_is_attached(run) ? json_get_text(run->end, "watching", "") : "";
}

bool facts_goes_on(const struct run *run) {
    const char *watching = watching_of(run);
    return strcmp(watching, "max-time") == 0 || strcmp(watching, "stopped") == 0;
}

/* "watched for 2 s (--max-time); the process goes on" */
static void add_watching(const struct run *run, struct strbuf *out) {
    strbuf_add_str(out, _("watched"));
    if (quantity_is_known(&run->wall)) {
        strbuf_add_str(out, _(" for "));
        quantity_format_value(run->wall.value, UNIT_SECOND, out);
    }
    strbuf_printf(out, " (%s)",
                  strcmp(watching_of(run), "max-time") == 0 ? "--max-time" : _("then stopped"));
    strbuf_printf(out, "; %s", _("the process goes on"));
}

void facts_ending(const struct run *run, struct strbuf *out) {
    if (facts_goes_on(run)) {
        add_watching(run, out);
    } else if (run->signal > 0) {
        const char *name = sigabbrev_np(run->signal);
        strbuf_printf(out, _("signal %d"), run->signal);
        if (name)
            strbuf_printf(out, " (SIG%s)", name);
    } else if (json_object_get(run->end, "start_errno")) {
        strbuf_add_str(out, _("not started"));
    } else if (run->has_exit_code) {
        strbuf_printf(out, _("exit code %d"), run->exit_code);
    } else if (run->running) {
        strbuf_add_str(out, _("still running"));
    } else {
        strbuf_add_str(out, _("its status was not seen"));
    }
}

struct quantity facts_ready_after(const struct run *run) {
    const json_t *ready = json_get_object(run->end, "ready");
    const char *reason = json_get_text(ready, "reason", NULL);
    if (json_get_bool(ready, "before", 0) == 1)
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_VISIBLE,
                             _("it was ready before it was attached to"));
    if (reason != NULL)
        return quantity_open(UNIT_SECOND,
                             facts_ready_is_unseen(run) ? QUANTITY_NOT_VISIBLE : QUANTITY_FAILED,
                             msg_get(reason));
    struct quantity q =
        facts_number(ready, "t_ns", UNIT_SECOND, "what --ready waits for", facts_open_reason(run));
    if (!quantity_is_known(&q))
        return q;
    q.value /= 1e9;
    if (facts_ready_is_unseen(run))
        q.bound = QUANTITY_AT_MOST;
    else if (facts_is_attached(run))
        q.bound = QUANTITY_AT_LEAST; /* it had loaded before */
    return q;
}

bool facts_why_not_ready(const struct run *run, struct strbuf *out) {
    const json_t *ready = json_get_object(run->end, "ready");
    const char *reason = json_get_text(ready, "reason", NULL);
    int64_t status = json_get_int(ready, "status", 0);
    if (reason == NULL)
        return false;
    if (status > 0)
        strbuf_printf(out, _("the last answer was %lld"), (long long)status);
    else
        strbuf_add_str(out, msg_get(reason)); /* records keep the English sentence */
    return true;
}

bool facts_ready_is_unseen(const struct run *run) {
    return json_get_bool(json_get_object(run->end, "ready"), "unseen", 0) == 1;
}

bool facts_address_taken(const struct run *run) {
    return json_get_bool(json_get_object(run->end, "ready"), "taken", 0) == 1;
}

const char *facts_weights_name(enum run_weights weights) {
    switch (weights) {
    case RUN_WEIGHTS_COLD:
        return "cold";
    case RUN_WEIGHTS_WARM:
        return "warm";
    case RUN_WEIGHTS_UNKNOWN:
        break;
    }
    return "unknown";
}

const char *facts_validity_name(enum run_validity validity) {
    switch (validity) {
    case RUN_UNCHECKED:
        return "unchecked";
    case RUN_VALID:
        return "valid";
    case RUN_INVALID:
        return "invalid";
    }
    return "unchecked";
}

/* Of --max-time and --max-cost the shorter one. */
static bool was_limited_by_cost(const struct run *run) {
    const json_t *cost = json_get_object(run->start, "max_cost");
    const json_t *budget = json_get_object(run->start, "budget");
    int64_t time_ns = json_get_int(cost, "max_time_ns", -1);
    return time_ns >= 0 && time_ns == json_get_int(budget, "max_time_ns", -2);
}

const char *facts_run_meaning(const struct run *run) {
    bool is_unread = was_inherited(run, "stdout") || was_inherited(run, "stderr");
    if (run->outcome == OUTCOME_FAILED && is_unread)
        return _("the command says so; not all of its output was read");
    if (run->outcome == OUTCOME_BUDGET && was_limited_by_cost(run))
        return _("stopped when the time that --max-cost allows was used up");
    return facts_outcome_meaning(run->outcome);
}

const char *facts_outcome_meaning(enum outcome_class outcome) {
    switch (outcome) {
    case OUTCOME_FAILED:
        return _("the command says so; its output shows no cause that a rule knows");
    case OUTCOME_START_FAILED:
        return _("the command could not be started");
    case OUTCOME_BUDGET:
        return _("stopped when the time of --max-time was used up");
    case OUTCOME_INTERRUPTED:
        return _("interrupted from the keyboard");
    case OUTCOME_KILLED:
        return _("ended by a signal; who sent it and why is open");
    case OUTCOME_ENDED:
        return _("ended where its status could not be seen");
    case OUTCOME_LOST:
        return _("the measuring process or the machine died before the end was recorded");
    case OUTCOME_RUNNING:
    case OUTCOME_OK:
    case OUTCOME_GPU_OOM:
    case OUTCOME_HOST_OOM:
    case OUTCOME_SHM_EXHAUSTED:
    case OUTCOME_DISK_FULL:
    case OUTCOME_ACCESS_DENIED:
    case OUTCOME_DEPENDENCY:
    case OUTCOME_GPU_FAULT:
    case OUTCOME_PREEMPTED:
    case OUTCOME_COUNT_:
        break;
    }
    return NULL;
}

/* ---- GPUs of the machine ---- */

static const json_t *gpu_devices(const struct run *run) {
    return json_get_array(json_get_object(run->environment, "gpu"), "devices");
}

static const char *device_name(const json_t *devices, size_t index) {
    return json_get_text(json_array_get(devices, index), "name", "?");
}

const char *facts_gpus(const struct run *run, struct arena *arena) {
    const json_t *devices = gpu_devices(run);
    size_t count = json_array_size(devices);
    if (!devices)
        return NULL;
    if (count == 0)
        return _("none");
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0, before = 0;
        for (size_t j = 0; j < count; j++) {
            bool equal = strcmp(device_name(devices, i), device_name(devices, j)) == 0;
            same += equal;
            before += equal && j < i;
        }
        if (before == 0)
            strbuf_printf(&text, "%s%zu %s", text.length > 0 ? "; " : "", same,
                          device_name(devices, i));
    }
    return arena_strdup(arena, strbuf_str(&text));
}

const char *facts_gpu_driver(const struct run *run) {
    const char *text = json_get_text(json_get_object(run->environment, "gpu"), "driver", NULL);
    return text ? text : json_get_text(run->environment, "driver", NULL);
}
