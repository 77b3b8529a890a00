/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What monitor and command left for the recorder: messages, ticks, marks, counters. Each entry
 * becomes a record once, also when the recorder dies in between. */
#include "exec/recorder-parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/agents.h"
#include "exec/gpu-watch.h"
#include "journal/marks.h"
#include "model/gpu-series.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define CHUNK_TICKS 10u

/* ---- messages ---- */

static json_t *child_payload(const struct shared_child *child) {
    json_t *json = json_object();
    json_put_int(json, "pid", child->pid);
    if (child->has_start)
        json_put_int(json, "start", (int64_t)child->start);
    json_put_text(json, "role", child->is_command ? "command" : "descendant");
    if (child->comm[0] != '\0')
        json_put(json, "comm", json_text_n(child->comm, strnlen(child->comm, sizeof child->comm)));
    if (child->has_exit_code)
        json_put_int(json, "exit_code", child->exit_code);
    else if (child->signal != 0)
        json_put_int(json, "signal", child->signal);
    json_put_int(json, "maxrss_bytes", child->maxrss_bytes);
    json_put_int(json, "utime_ns", child->utime_ns);
    json_put_int(json, "stime_ns", child->stime_ns);
    json_put_int(json, "t_ns", child->t_ns);
    if (child->ignored_sigchld)
        json_put_bool(json, "ignored_sigchld", true);
    return json;
}

static void write_gap_message(struct recorder *recorder, const struct shared_gap *gap) {
    static const struct {
        const char *what, *reason;
    } gaps[] = {
        [GAP_SAMPLES] = {"samples", N_("the recorder stood still for too long")},
        [GAP_CHILDREN] = {"children",
                          N_("not every descendant that ended has a record of its own")},
        [GAP_RECORDER] = {"recorder", N_("the recorder had ended and was replaced")},
        [GAP_STREAM] = {"stream", N_("a copier had ended and was replaced")},
        [GAP_STOPPED] = {"samples", N_("the watching was stopped meanwhile (job control)")},
    };
    recorder_write_gap(recorder, gaps[gap->what].what, gap->from_t_ns, gap->to_t_ns,
                       gaps[gap->what].reason, gap->count);
}

/* A worker that somebody killed, with no word of the kernel: told at the end, when it is known
 * whether the kernel said something (evidence.c reads the CHILD messages' sum from here). */
static void write_message(struct recorder *recorder, const struct shared_message *message) {
    switch (message->kind) {
    case MESSAGE_CHILD:
        if (message->of.child.signal == SIGKILL && !message->of.child.ended_by_us) {
            recorder->killed++;
            recorder->killed_workers += !message->of.child.is_command;
            recorder->killed_pid = message->of.child.pid;
        }
        recorder_write(recorder, JOURNAL_CHILD, child_payload(&message->of.child), false);
        break;
    case MESSAGE_GAP:
        write_gap_message(recorder, &message->of.gap);
        break;
    }
}

void recorder_take_messages(struct recorder *recorder) {
    struct shared *shared = recorder->shared;
    uint64_t at = atomic_load(&shared->message_recorded);
    /* Was the one that our predecessor was writing written? Then the journal is longer than it was
     * before. */
    if (atomic_load(&shared->pending_message) == at + 1 &&
        recorder->writer.end > atomic_load(&shared->pending_end))
        atomic_store(&shared->message_recorded, ++at);
    atomic_store(&shared->pending_message, 0);
    while (at < atomic_load(&shared->message_written)) {
        struct shared_message message = shared->messages[at % SHARED_MESSAGES];
        atomic_store(&shared->pending_end, recorder->writer.end);
        atomic_store(&shared->pending_message, at + 1);
        write_message(recorder, &message);
        atomic_store(&shared->message_recorded, ++at);
        atomic_store(&shared->pending_message, 0);
    }
}

/* ---- series ---- */

struct series {
    const char *name, *unit, *kind, *method;
    int64_t interval_ns, per_unit;
};

#define HOST_ID 1u
static const struct series host_series[TICK_COUNT_] = {
    [TICK_CPU_NS] = {"tree.cpu", "core.s", "counter", "wait4 and /proc/PID/stat", NS_PER_S,
                     NS_PER_S},
    [TICK_RSS_MAX_BYTES] = {"tree.rss_max", "byte", "gauge", "largest VmRSS of /proc/PID/status",
                            NS_PER_S, 1},
    [TICK_PROCESSES] = {"tree.processes", "count", "gauge", "/proc/PID/task/TID/children", NS_PER_S,
                        1},
    [TICK_DISK_SLEEP] = {"tree.disk_sleep", "count", "gauge",
                         "processes in state D of /proc/PID/stat", NS_PER_S, 1},
    [TICK_IO_READ] = {"io.read", "byte", "counter", "read_bytes of /proc/PID/io", NS_PER_S, 1},
    [TICK_IO_WRITTEN] = {"io.written", "byte", "counter", "write_bytes of /proc/PID/io", NS_PER_S,
                         1},
    [TICK_IO_READ_CHARS] = {"io.read_chars", "byte", "counter", "rchar of /proc/PID/io", NS_PER_S,
                            1},
    [TICK_IO_WRITTEN_CHARS] = {"io.written_chars", "byte", "counter", "wchar of /proc/PID/io",
                               NS_PER_S, 1},
    [TICK_DISK_WAIT_NS] = {"tree.disk_wait", "s", "counter", "field 42 of /proc/PID/stat", NS_PER_S,
                           NS_PER_S},
};
#define SLOW_ID (HOST_ID + TICK_COUNT_)
static_assert(SLOW_ID + SLOW_COUNT_ <= RECORDER_GPU_ID, "ids of GPUs are above");
const unsigned recorder_slow_id = SLOW_ID;
static const struct series slow_series[SLOW_COUNT_] = {
    [SLOW_PSS] = {"tree.pss", "byte", "gauge", "Pss of /proc/PID/smaps_rollup", 2 * NS_PER_S, 1},
    [SLOW_PSS_ANON] = {"tree.pss_anon", "byte", "gauge", "Pss_Anon of /proc/PID/smaps_rollup",
                       2 * NS_PER_S, 1},
    [SLOW_PSS_FILE] = {"tree.pss_file", "byte", "gauge", "Pss_File of /proc/PID/smaps_rollup",
                       2 * NS_PER_S, 1},
    [SLOW_PSS_SHMEM] = {"tree.pss_shmem", "byte", "gauge", "Pss_Shmem of /proc/PID/smaps_rollup",
                        2 * NS_PER_S, 1},
    [SLOW_CHARGED] = {"cgroup.charged", "byte", "gauge", "memory.current or memory.usage_in_bytes",
                      2 * NS_PER_S, 1},
    [SLOW_RECEIVED] = {NET_SERIES_RECEIVED, "byte", "counter", "/proc/PID/net/dev without lo",
                       NS_PER_S, 1},
    [SLOW_SENT] = {NET_SERIES_SENT, "byte", "counter", "/proc/PID/net/dev without lo", NS_PER_S, 1},
};

static bool define(struct recorder *recorder, const struct series *list, size_t count,
                   unsigned first_id) {
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object();
        json_put_int(json, "id", (int64_t)(first_id + i));
        json_put_text(json, "name", list[i].name);
        json_put_text(json, "unit", list[i].unit);
        json_put_text(json, "kind", list[i].kind);
        json_put_int(json, "interval_ns", list[i].interval_ns);
        json_put_text(json, "method", list[i].method);
        if (list[i].per_unit != 1)
            json_put_int(json, "per_unit", list[i].per_unit);
        if (!recorder_write(recorder, JOURNAL_SERIES, json, false))
            return false;
    }
    return true;
}

/* Series are named when the first of their values is about to be written. */
static bool define_once(struct recorder *recorder, unsigned first_id) {
    struct recorder_past *past = &recorder->past;
    if (first_id == HOST_ID && !past->has_host_series)
        past->has_host_series = define(recorder, host_series, TICK_COUNT_, HOST_ID);
    if (first_id == SLOW_ID && !past->has_slow_series)
        past->has_slow_series = define(recorder, slow_series, SLOW_COUNT_, SLOW_ID);
    return first_id == HOST_ID ? past->has_host_series : past->has_slow_series;
}

bool recorder_write_chunk(struct recorder *recorder, const struct chunk *chunk) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct err err = ERR_INIT;
    chunk_encode_next(&recorder->coder, chunk, &bytes);
    if (journal_append(&recorder->writer, JOURNAL_CHUNK, JOURNAL_VERSION, bytes.data, bytes.length,
                       false, &err) == 0)
        return true;
    chunk_coder_done(&recorder->coder); /* the next one stands alone */
    return false;
}

/* Writes columns [series][tick] of the group of series that begins with first_id, from its
 * `skip`-th on; those without any value are left out. */
static bool write_chunk(struct recorder *recorder, unsigned first_id, size_t skip,
                        size_t series_count, const int64_t *time_ns, const int64_t *values,
                        size_t ticks) {
    uint32_t ids[TICK_COUNT_ + SLOW_COUNT_];
    int64_t kept[(TICK_COUNT_ + SLOW_COUNT_) * SLOW_SAMPLES_MAX];
    int64_t times[SLOW_SAMPLES_MAX];
    size_t count = 0;
    for (size_t s = 0; s < series_count; s++) {
        bool any = false;
        for (size_t t = 0; t < ticks; t++) {
            kept[count * ticks + t] = values[s * ticks + t];
            any = any || values[s * ticks + t] != CHUNK_ABSENT;
        }
        if (any)
            ids[count++] = (uint32_t)(first_id + skip + s);
    }
    if (count == 0 || !define_once(recorder, first_id))
        return count == 0;
    memcpy(times, time_ns, ticks * sizeof times[0]);
    struct chunk chunk = {
        .series = ids, .series_count = count, .time_ns = times, .tick_count = ticks, .value = kept};
    return recorder_write_chunk(recorder, &chunk);
}
static void lost_chunk(struct recorder *recorder, int64_t from_t_ns, int64_t to_t_ns) {
    recorder_write_gap(recorder, "samples", from_t_ns, to_t_ns,
                       N_("the samples could not be written"), 0);
}

void recorder_take_ticks(struct recorder *recorder, bool all) {
    struct shared *shared = recorder->shared;
    for (;;) {
        uint64_t at = atomic_load(&shared->tick_recorded);
        uint64_t waiting = atomic_load(&shared->tick_written) - at;
        if (waiting == 0 || (waiting < CHUNK_TICKS && !all))
            return;
        size_t ticks = waiting < CHUNK_TICKS ? (size_t)waiting : CHUNK_TICKS;
        int64_t times[CHUNK_TICKS], values[TICK_COUNT_ * CHUNK_TICKS];
        for (size_t t = 0; t < ticks; t++) {
            const struct shared_tick *tick = &shared->ticks[(at + t) % SHARED_TICKS];
            times[t] = tick->t_ns;
            for (size_t s = 0; s < TICK_COUNT_; s++)
                values[s * ticks + t] = tick->value[s];
        }
        if (!write_chunk(recorder, HOST_ID, 0, TICK_COUNT_, times, values, ticks))
            lost_chunk(recorder, times[0], times[ticks - 1]);
        atomic_store(&shared->tick_recorded, at + ticks);
    }
}

/* Series from first to end, of the samples that hold them: memory is read more rarely than the
 * network, and a tick without a value is a hole. */
static void write_some(struct recorder *recorder, const struct slow_samples *samples,
                       enum slow_value first, enum slow_value end, bool only_looked) {
    int64_t values[SLOW_COUNT_ * SLOW_SAMPLES_MAX], times[SLOW_SAMPLES_MAX];
    size_t rows[SLOW_SAMPLES_MAX], count = 0;
    for (size_t t = 0; t < samples->count; t++)
        if (samples->looked[t] || !only_looked)
            rows[count++] = t;
    for (size_t t = 0; t < count; t++) {
        times[t] = samples->time_ns[rows[t]];
        for (size_t s = first; s < end; s++)
            values[(s - first) * count + t] = samples->value[s][rows[t]];
    }
    if (count > 0 && !write_chunk(recorder, SLOW_ID, first, end - first, times, values, count))
        lost_chunk(recorder, times[0], times[count - 1]);
}

void recorder_write_samples(struct recorder *recorder, const struct slow_samples *samples) {
    write_some(recorder, samples, SLOW_PSS, SLOW_RECEIVED, true);
    write_some(recorder, samples, SLOW_RECEIVED, SLOW_COUNT_, false);
}

/* ---- marks ---- */

struct marks_target {
    struct recorder *recorder;
    int64_t now_ns;
};

static void take_mark(json_t *take_mark_payload, void *context) {
    struct marks_target *target = context;
    marks_place(take_mark_payload, target->recorder->shared->start.mono_ns, target->now_ns);
    agents_take(target->recorder, take_mark_payload);
    recorder_write(target->recorder, JOURNAL_MARK, take_mark_payload, true);
}

void recorder_take_marks(struct recorder *recorder, bool rest) {
    if (recorder->marks_fd < 0)
        return;
    struct marks_target target = {recorder, clock_mono_ns()};
    long offset =
        rest ? marks_read_rest(recorder->marks_fd, recorder->past.marks_offset, take_mark, &target)
             : marks_read(recorder->marks_fd, recorder->past.marks_offset, take_mark, &target);
    if (offset >= 0)
        recorder->past.marks_offset = offset;
}

/* ---- counters ---- */

static void put_read(json_t *json, const char *key, int64_t value) {
    if (value != SHARED_ABSENT)
        json_put_int(json, key, value);
}

static void put_io(json_t *json, const struct shared_counters *counters, json_t *reasons) {
    if (counters->io.read_chars == SHARED_ABSENT) {
        json_put_text(reasons, "io", counters->io_denied ? "not-permitted" : "not-supported");
        return;
    }
    json_t *io = json_object();
    put_read(io, "read", counters->io.read);
    put_read(io, "written", counters->io.written);
    put_read(io, "read_chars", counters->io.read_chars);
    put_read(io, "written_chars", counters->io.written_chars);
    json_put(json, "io", io);
}

static void put_tree(json_t *json, const struct shared_counters *counters, json_t *reasons) {
    json_put_int(json, "t_ns", counters->t_ns);
    put_read(json, "cpu_ns", counters->cpu_ns);
    put_io(json, counters, reasons);
    if (counters->vmhwm_bytes != SHARED_ABSENT) {
        json_put_int(json, "vmhwm_bytes", counters->vmhwm_bytes);
        json_put_int(json, "vmhwm_pid", counters->vmhwm_pid);
    }
    put_read(json, "maxrss_bytes", counters->maxrss_bytes);
    json_put_int(json, "processes_seen", (int64_t)counters->processes_seen);
    /* Sums are a lower bound when somebody was not accounted, not readable, or did not fit into the
     * table. */
    json_put_bool(json, "unreaped",
                  counters->unreaped || counters->io_partial || counters->truncated);
}

static void put_pss(json_t *json, const struct recorder *recorder, json_t *reasons) {
    uint64_t samples = atomic_load(&recorder->shared->pss_samples);
    if (samples > 0) {
        json_put_int(json, "pss_peak_bytes", atomic_load(&recorder->shared->pss_peak_bytes));
        json_put_int(json, "pss_samples", (int64_t)samples);
    } else if (recorder->pss_denied) {
        json_put_text(reasons, "pss_peak_bytes", "not-permitted");
    }
}

static void put_own_cpu(json_t *json, const struct recorder *recorder) {
    static const char *const names[ROLE_COUNT_] = {"monitor", "recorder", "copier", "slow_reader",
                                                   "gpu"};
    json_t *cpu = json_object();
    atomic_store(&recorder->shared->cpu_live_ns[ROLE_RECORDER][0],
                 clock_process_cpu_ns() + recorder->children_cpu_ns);
    for (size_t i = 0; i < ROLE_COUNT_; i++)
        json_put_int(cpu, names[i], shared_cpu_ns(recorder->shared, (enum shared_role)i));
    json_put(json, "monitor_cpu_ns", cpu);
}

void recorder_write_counters(struct recorder *recorder, bool last) {
    struct shared_counters counters;
    if (!shared_get_counters(recorder->shared, &counters))
        return;
    json_t *json = json_object();
    json_t *reasons = json_object();
    put_tree(json, &counters, reasons);
    put_pss(json, recorder, reasons);
    evidence_cgroup_now(recorder, json);
    json_t *gpus = gpu_watch_counters(recorder->gpu);
    if (gpus != NULL)
        json_put(json, "gpu", gpus);
    put_own_cpu(json, recorder);
    if (json_object_size(reasons) > 0)
        json_put(json, "reasons", reasons);
    else
        json_decref(reasons);
    recorder_write(recorder, JOURNAL_COUNTERS, json, last);
}
