/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last records: what is still in the rings, text, evidence, outputs, checks, counters, END;
 * then the disk. */
#include "exec/recorder-parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/exec.h"
#include "exec/gpu-watch.h"
#include "exec/paths.h"
#include "exec/ready.h"
#include "journal/marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CLOCK_TOLERANCE_NS (NS_PER_S)
#define LATE_SAMPLE_NS     (30 * NS_PER_S)
#define FULL_BYTES         ((uint64_t)64 << 10) /* one block of a program's output */

/* ---- items for count=N ---- */

#define ITEM_PROCESSES_MAX 256

struct items {
    size_t count;
    struct {
        int64_t pid;
        double value;
    } of[ITEM_PROCESSES_MAX];
};

/* Each process says what it has done so far: its last word counts, and the processes add up (as
 * journal/fold does). */
static void take_items(json_t *take_mark, void *context) {
    AUTO_JSON json_t *mark = take_mark;
    struct items *items = context;
    if (strcmp(json_get_text(mark, "verb", ""), "items") != 0 ||
        !json_is_number(json_object_get(mark, "value")))
        return;
    int64_t pid = json_get_int(mark, "pid", 0);
    size_t i = 0;
    while (i < items->count && items->of[i].pid != pid)
        i++;
    if (i == ITEM_PROCESSES_MAX)
        return;
    items->of[i].pid = pid;
    items->of[i].value = json_get_real(mark, "value", 0);
    items->count = i == items->count ? i + 1 : items->count;
}

static void find_items(const struct recorder *recorder, struct expect_facts *facts) {
    struct items items = {0};
    if (recorder->marks_fd < 0 || marks_read(recorder->marks_fd, 0, take_items, &items) < 0)
        return;
    facts->has_items = items.count > 0;
    for (size_t i = 0; i < items.count; i++)
        facts->items += items.of[i].value;
}

/* ---- parts of END ---- */

static void put_expectations(json_t *end, const struct recorder *recorder) {
    struct expect_facts facts = {.markers_seen = atomic_load(&recorder->shared->markers_seen),
                                 .output_complete = true,
                                 .start_utc_ns = recorder->shared->start.utc_ns};
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        const struct stream_facts *stream = &recorder->shared->streams[i + 1];
        if (recorder->channel[i] != NULL)
            facts.output_complete =
                facts.output_complete && text_channel_unseen(recorder->channel[i]) == 0;
        else if (stream->tee == TEE_INHERITED && stream->was != STREAM_CLOSED)
            facts.no_output =
                i == 0 ? N_("standard output was not read") : N_("standard error was not read");
    }
    find_items(recorder, &facts);
    json_put(end, "expectations", expectations_to_end(recorder->expectations, &facts));
}

/* The UTC of files on our clock: only where UTC was not set meanwhile, and only what lies within
 * the run. */
static void put_result_complete(json_t *end, const struct shared *shared, int64_t newest_mtime_ns) {
    struct clock_stamp now = clock_now();
    int64_t drift_ns = (now.utc_ns - shared->start.utc_ns) - (now.mono_ns - shared->start.mono_ns);
    int64_t t_ns = newest_mtime_ns - shared->start.utc_ns;
    if (drift_ns > CLOCK_TOLERANCE_NS || drift_ns < -CLOCK_TOLERANCE_NS || t_ns < 0 ||
        t_ns > shared->end.t_ns)
        return;
    json_put_int(end, "result_complete_t_ns", t_ns);
}

static void put_outputs(json_t *end, const struct recorder *recorder) {
    json_t *outputs = json_array();
    bool complete = true;
    int64_t newest_ns = 0;
    const char *const *paths = recorder->options->outputs;
    for (size_t i = 0; paths != NULL && paths[i] != NULL; i++) {
        struct path_facts facts;
        json_array_append_new(outputs, path_describe(paths[i], &facts));
        complete = complete && facts.exists && facts.complete;
        if (facts.newest_mtime_ns > newest_ns)
            newest_ns = facts.newest_mtime_ns;
    }
    if (complete && json_array_size(outputs) > 0)
        put_result_complete(end, recorder->shared, newest_ns);
    json_put(end, "outputs", outputs);
}

static void put_streams(json_t *end, const struct recorder *recorder) {
    json_t *streams = json_object();
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        const struct text_channel *channel = recorder->channel[i];
        const struct text_ring *ring = &recorder->shared->text[i];
        if (channel == NULL)
            continue;
        json_t *stream = json_object();
        json_put_int(stream, "bytes", (int64_t)text_channel_bytes(channel));
        json_put_int(stream, "unseen_bytes", (int64_t)text_channel_unseen(channel));
        if (atomic_load(&ring->modes_changed))
            json_put_bool(stream, "modes_changed", true);
        if (atomic_load(&ring->copied))
            json_put_bool(stream, "copied", true);
        json_put_int(stream, "copier_restarts", atomic_load(&ring->restarts));
        json_put(streams, i == 0 ? "stdout" : "stderr", stream);
    }
    json_put(end, "streams", streams);
}

static void put_survivors(json_t *end, const struct shared_end *facts) {
    json_t *survivors = json_array();
    for (uint32_t i = 0; i < facts->survivor_count && i < SHARED_SURVIVORS; i++) {
        const struct shared_survivor *one = &facts->survivors[i];
        json_t *survivor = json_object();
        json_put_int(survivor, "pid", one->pid);
        json_put_int(survivor, "start", (int64_t)one->start);
        json_put(survivor, "comm", json_text_n(one->comm, strnlen(one->comm, sizeof one->comm)));
        json_array_append_new(survivors, survivor);
    }
    json_put(end, "survivors", survivors);
    if (facts->survivor_count > SHARED_SURVIVORS)
        json_put_int(end, "survivor_count", facts->survivor_count);
}

static void put_status(json_t *end, const struct shared_end *facts) {
    static const char *const watching[] = {[WATCHING_NONE] = "",
                                           [WATCHING_PROCESS_ENDED] = "process-ended",
                                           [WATCHING_OUT_OF_TIME] = "max-time",
                                           [WATCHING_STOPPED] = "stopped"};
    if (facts->command_t_ns != SHARED_ABSENT)
        json_put_int(end, "command_t_ns", facts->command_t_ns);
    if (facts->has_exit_code)
        json_put_int(end, "exit_code", facts->exit_code);
    else if (facts->signal != 0)
        json_put_int(end, "signal", facts->signal);
    if (facts->start_errno != 0) {
        json_put_int(end, "start_errno", facts->start_errno);
        json_put_text(end, "start_error", strerrordesc_np(facts->start_errno));
    }
    json_put_bool(end, "budget", facts->budget);
    if (facts->interrupted)
        json_put_bool(end, "interrupted", true);
    json_put_int(end, "stopped_ns", facts->stopped_ns);
    if (facts->watching != WATCHING_NONE)
        json_put_text(end, "watching", watching[facts->watching]);
}

static json_t *end_payload(struct recorder *recorder, bool lost, json_t *take_absent) {
    const struct shared_end *facts = &recorder->shared->end;
    json_t *end = json_object();
    json_put_int(end, "t_ns", facts->t_ns);
    json_put_int(end, "end_boottime_ns", facts->boot_ns);
    json_put_int(end, "end_utc_ns", facts->utc_ns);
    if (lost)
        json_put_bool(end, "monitor_lost", true);
    else
        put_status(end, facts);
    put_survivors(end, facts);
    json_put_bool(end, "wall_is_at_least", facts->wall_is_at_least);
    put_outputs(end, recorder);
    put_expectations(end, recorder);
    put_streams(end, recorder);
    if (take_absent != NULL)
        json_put(end, "results_absent", take_absent);
    json_t *ready = ready_finish(recorder, recorder->ready);
    if (ready != NULL)
        json_put(end, "ready", ready);
    return end;
}

/* ---- the order ---- */

/* The monitor died without a word: what is known is that it was there until now. */
static void end_without_monitor(struct recorder *recorder) {
    struct clock_stamp now = clock_now();
    recorder->shared->end =
        (struct shared_end){.t_ns = now.mono_ns - recorder->shared->start.mono_ns,
                            .command_t_ns = SHARED_ABSENT,
                            .boot_ns = now.boot_ns,
                            .utc_ns = now.utc_ns,
                            .wall_is_at_least = true};
}

static void finish_text(struct recorder *recorder) {
    const struct shared_end *end = &recorder->shared->end;
    bool ended_ok = end->has_exit_code && end->exit_code == 0 && !end->budget;
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        if (recorder->channel[i] == NULL)
            continue;
        text_channel_read(recorder->channel[i], recorder, true);
        text_channel_finish(recorder->channel[i], recorder, ended_ok);
    }
}

/* The output file that `block run` made is ours, and so is its full disk: that is what made the
 * command fail, though it can no longer say so there. */
static void find_full_output(struct recorder *recorder) {
    const struct shared_end *end = &recorder->shared->end;
    const char *path = getenv(EXEC_LANE_OUTPUT_VARIABLE);
    struct statvfs disk;
    if (path == NULL || path[0] == '\0' || statvfs(path, &disk) < 0)
        return;
    uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (free_bytes >= FULL_BYTES)
        return;
    json_t *figures = json_object();
    json_put_text(figures, "kind", EXEC_LANE_OUTPUT_KIND);
    json_put_text(figures, "path", path);
    json_put_int(figures, "free_bytes", (int64_t)free_bytes);
    recorder_write_incident(recorder, "disk_full", "statfs", NULL, figures,
                            end->has_exit_code && end->exit_code == 0 && !end->budget);
}

static void finish_samples(struct recorder *recorder) {
    recorder_read_samples(recorder, true);
    int64_t end_t_ns = recorder->shared->end.t_ns;
    if (recorder->slow_starts > 0 && recorder->slow_last_ns >= 0 &&
        end_t_ns - recorder->slow_last_ns > LATE_SAMPLE_NS)
        recorder_write_gap(recorder, "tree memory", recorder->slow_last_ns, end_t_ns,
                           N_("the slow reader stood still, or looking costs too much"), 0);
    recorder_stop_slow_reader(recorder);
}

/* A full disk has 64 KiB left for this. */
static void write_end(struct recorder *recorder, bool lost, json_t *take_absent) {
    struct shared *shared = recorder->shared;
    struct err err = ERR_INIT;
    bool kept = recorder_keep_place(recorder);
    bool written =
        recorder->past.has_end ||
        recorder_write(recorder, JOURNAL_END, end_payload(recorder, lost, take_absent), true);
    bool synced = written && journal_sync(&recorder->writer, &err) == 0;
    if (synced && !kept)
        err_set(&err, -ENOENT, "journal-gone", "the file '%s' was removed", shared->journal_path);
    synced = synced && kept;
    if (!synced && err.code != 0)
        snprintf(shared->trouble, sizeof shared->trouble, "%s", err.text);
    atomic_store(&shared->recorder_state, synced ? RECORDER_ENDED : RECORDER_UNSYNCED);
}

void finish_write(struct recorder *recorder, bool lost) {
    json_t *absent = NULL;
    if (lost)
        end_without_monitor(recorder);
    gpu_watch_hurry(recorder->gpu);
    recorder_take_messages(recorder);
    if (!recorder->past.has_end) {
        recorder_take_ticks(recorder, true);
        recorder_take_marks(recorder, false);
        finish_samples(recorder);
        finish_text(recorder);
        find_full_output(recorder);
        gpu_watch_finish(recorder->gpu);
        evidence_finish(recorder);
        absent = results_take(recorder);
        recorder_write_counters(recorder, true);
    }
    write_end(recorder, lost, absent);
}
