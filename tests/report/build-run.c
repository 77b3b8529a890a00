/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build-run.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_UTC_NS INT64_C(1796041696123000000) /* 2026-11-30T12:28:16.123Z */

json_t *build_json(const char *text) {
    char why[160];
    json_t *json = json_parse(text, strlen(text), why);
    if (!json) {
        fprintf(stderr, "bad JSON in the test: %s\n", why);
        abort();
    }
    return json;
}

static void replace(json_t **member, const char *text) {
    json_decref(*member);
    *member = build_json(text);
}

void build_series(struct run *run, const char *name, const char *unit, bool is_counter,
                  const double *time_s, const double *value, size_t count) {
    struct run_series *all = arena_alloc(run->arena, (run->series_count + 1) * sizeof(*all));
    if (run->series_count > 0)
        memcpy(all, run->series, run->series_count * sizeof(*all));
    double *times = arena_alloc(run->arena, (count + 1) * sizeof(*times));
    double *values = arena_alloc(run->arena, (count + 1) * sizeof(*values));
    for (size_t i = 0; i < count; i++) {
        times[i] = time_s[i];
        values[i] = value ? value[i] : (double)NAN;
    }
    all[run->series_count] = (struct run_series){.name = name,
                                                 .unit = unit,
                                                 .is_counter = is_counter,
                                                 .time_s = times,
                                                 .value = values,
                                                 .count = count};
    run->series = all;
    run->series_count++;
}

static void add_phases(struct run *run, const struct run_phase *phases, size_t count) {
    run->phases = arena_alloc(run->arena, count * sizeof(*phases));
    memcpy(run->phases, phases, count * sizeof(*phases));
    run->phase_count = count;
}

static void add_open_gpu(struct run *run) {
    static const char why[] = "GPU probing not built in";
    run->gpus = arena_alloc(run->arena, sizeof(*run->gpus));
    run->gpu_count = 1;
    struct quantity bytes = quantity_open(UNIT_BYTE, QUANTITY_NOT_SUPPORTED, why);
    struct quantity seconds = quantity_open(UNIT_SECOND, QUANTITY_NOT_SUPPORTED, why);
    run->gpus[0] = (struct run_gpu){
        .total = bytes,
        .device_used = bytes,
        .process_used = bytes,
        .allocated = bytes,
        .reserved = bytes,
        .busy = seconds,
        .idle = seconds,
        .energy = quantity_open(UNIT_JOULE, QUANTITY_NOT_SUPPORTED, why),
    };
}

static void open_phases(struct run *run, enum quantity_reason reason) {
    for (int i = 0; i < PHASE_COUNT_; i++)
        run->phase[i] = quantity_open(UNIT_SECOND, reason, NULL);
}

/* What every run but the empty one has. */
static struct run *build_common(const char *tail) {
    struct run *run = run_new();
    run->id = arena_printf(run->arena, "019d0c5a-7e3b-7a41-9c2e-1f60%s", tail);
    run->part = run->id;
    run->started_utc_ns = START_UTC_NS;
    run->verified = "not-checked";
    replace(&run->header, "{\"format\":1,\"type\":\"run\"}");
    replace(&run->start,
            "{\"command\":[\"python3\",\"generate.py\",\"--cache\",\"full cache\"],"
            "\"cwd\":\"/home/kim/paper\",\"host\":\"gpu-3\",\"purpose\":\"trial\",\"attempt\":1,"
            "\"condition\":{\"cache\":\"full\"},\"changes\":[],\"inputs\":[],\"outputs\":[],"
            "\"expect\":[],\"streams\":{\"stdin\":{\"was\":\"terminal\",\"tee\":\"inherited\"},"
            "\"stdout\":{\"was\":\"terminal\",\"tee\":\"pty\"},"
            "\"stderr\":{\"was\":\"terminal\",\"tee\":\"pty\",\"shared_with\":\"stdout\"}},"
            "\"launch\":{},\"clock\":{\"boot_id\":\"5f0c8a5e-0000-4000-8000-000000000001\","
            "\"start_mono_ns\":1000000000,\"start_boottime_ns\":2000000000,"
            "\"start_utc_ns\":1796041696123000000},\"variables\":{\"OMP_NUM_THREADS\":\"4\"},"
            "\"blind_spots\":[]}");
    open_phases(run, QUANTITY_NOT_SEPARATED);
    add_open_gpu(run);
    run->result_complete = quantity_open(UNIT_SECOND, QUANTITY_NOT_ENTERED, NULL);
    run->tree_pss =
        quantity_open(UNIT_BYTE, QUANTITY_NOT_SAMPLED, "the run ended before the first sample");
    run->cgroup_charged = quantity_open(UNIT_BYTE, QUANTITY_NOT_VISIBLE,
                                        "the enclosing group's peak did not rise during the run");
    run->work_items = quantity_open(UNIT_COUNT, QUANTITY_NOT_ENTERED, NULL);
    run->work_length = quantity_open(UNIT_COUNT, QUANTITY_NOT_ENTERED, NULL);
    run->work_batch = quantity_open(UNIT_COUNT, QUANTITY_NOT_ENTERED, NULL);
    return run;
}

static void measure_host(struct run *run) {
    run->cpu = quantity_measured(UNIT_CORE_SECOND, 371.25, "rusage of reaped processes");
    run->largest_process_rss =
        quantity_measured(UNIT_BYTE, 1460288880.0, "larger of VmHWM and ru_maxrss");
    run->io_read = quantity_measured(UNIT_BYTE, 3670016.0, "/proc/self/io");
    run->io_written = quantity_measured(UNIT_BYTE, 12288.0, "/proc/self/io");
    run->io_read_chars = quantity_measured(UNIT_BYTE, 94371840.0, "/proc/self/io");
    run->io_written_chars = quantity_measured(UNIT_BYTE, 20480.0, "/proc/self/io");
    run->processes = quantity_bounded(UNIT_COUNT, 3.0, QUANTITY_AT_LEAST, "seen by the sampler");
    run->monitor_cpu = quantity_measured(UNIT_CORE_SECOND, 0.84, "getrusage of all helpers");
}

static void measure_environment(struct run *run) {
    replace(
        &run->environment,
        "{\"code\":{\"repo\":\"https://git.example/kv.git\",\"branch\":\"main\","
        "\"commit\":\"0123456789abcdef0123456789abcdef01234567\",\"dirty\":true,"
        "\"digest\":\"aa11\",\"diff_digest\":\"bb22\",\"diff_zstd_base64\":\"KLUv/SECRETDIFF\"},"
        "\"machine\":{\"kernel\":\"6.1.0\",\"cpu_model\":\"Example CPU\",\"arch\":\"x86_64\"},"
        "\"limits\":{\"memory\":{\"state\":\"measured\",\"value\":8589934592,\"unit\":\"byte\","
        "\"method\":\"memory.max\"},\"pids\":{\"state\":\"open\",\"value\":null,"
        "\"unit\":\"count\",\"reason\":\"not-applicable\"},\"shm\":{\"state\":\"measured\","
        "\"value\":67108864,\"unit\":\"byte\",\"bound\":\"at-most\"},\"comment\":\"none\"},"
        "\"totals\":{\"memory\":25769803776,\"cpu\":4},"
        "\"interpreters\":[{\"path\":\"/usr/bin/python3\",\"version\":\"3.11.2\"}],"
        "\"packages\":[{\"name\":\"torch\",\"version\":\"1.13.1\","
        "\"interpreter\":\"/usr/bin/python3\"}],"
        "\"fingerprint\":\"f1e2d3c4b5a69788\",\"taken_t_ns\":5000000,"
        "\"reasons\":{\"container\":\"no sign of one\"}}");
}

static void sample(struct run *run) {
    double time_s[252], pss[252], cpu[252];
    for (size_t i = 0; i < ARRAY_LENGTH(time_s); i++) {
        double t = (double)i;
        time_s[i] = t;
        pss[i] = t < 12.0 ? 1.0e8 * (t + 1.0) : 1.25e9 + 2.0e8 * sin(t / 15.0);
        cpu[i] = t < 12.0 ? t * 0.9 : 10.8 + (t - 12.0) * 1.5;
        if (i >= 100 && i < 115)
            pss[i] = (double)NAN;
    }
    build_series(run, "tree.pss", UNIT_BYTE, false, time_s, pss, ARRAY_LENGTH(time_s));
    build_series(run, "tree.cpu", UNIT_CORE_SECOND, true, time_s, cpu, ARRAY_LENGTH(time_s));
}

static void set_results(struct run *run) {
    run->results = arena_alloc(run->arena, 2 * sizeof(*run->results));
    run->results[0] =
        (struct run_result){"tokens_per_s", quantity_measured("token/s", 812.5, "mark")};
    run->results[1] = (struct run_result){"agreement", quantity_measured(UNIT_RATIO, 0.98, "mark")};
    run->result_count = 2;
    run->work_items = quantity_measured(UNIT_COUNT, 64.0, "mark");
    run->work_length = quantity_measured(UNIT_COUNT, 512.0, "mark");
    run->work_shape = "64x512";
}

struct run *build_empty(void) {
    struct run *run = run_new();
    run->id = run->part = "019d0c5a-7e3b-7a41-9c2e-1f60000000e0";
    run->outcome = OUTCOME_LOST;
    return run;
}

struct run *build_ok(void) {
    static const struct run_phase phases[] = {
        {PHASE_LOAD, "load", "mark", 0.5, 12.8},
        {PHASE_COMPUTE, "compute/prefill", "mark", 12.8, 40.0},
        {PHASE_COMPUTE, "compute/decode", "mark", 40.0, 248.0},
        {PHASE_WRITE, "write", "mark", 248.0, 249.5},
    };
    struct run *run = build_common("a1b2c3d4");
    run->outcome = OUTCOME_OK;
    run->has_exit_code = true;
    run->ended_utc_ns = START_UTC_NS + INT64_C(252400000000);
    run->wall = quantity_measured(UNIT_SECOND, 252.4, "CLOCK_MONOTONIC");
    run->command = quantity_measured(UNIT_SECOND, 251.0, "CLOCK_MONOTONIC");
    run->result_complete = quantity_measured(UNIT_SECOND, 249.4, "mtime of the last output");
    add_phases(run, phases, ARRAY_LENGTH(phases));
    for (int i = 0; i < PHASE_COUNT_; i++)
        run->phase[i] = quantity_measured(UNIT_SECOND, 0.0, "mark");
    run->phase[PHASE_LOAD].value = 12.3;
    run->phase[PHASE_COMPUTE].value = 235.2;
    run->phase[PHASE_WRITE].value = 1.5;
    run->phase[PHASE_UNATTRIBUTED].value = 3.4;
    measure_host(run);
    measure_environment(run);
    run->tree_pss = quantity_bounded(UNIT_BYTE, 1.45e9, QUANTITY_AT_LEAST, "PSS, sampled 1 Hz");
    run->tree_pss.n = 237;
    sample(run);
    set_results(run);
    json_t *inputs = build_json(
        "[{\"path\":\"weights.bin\",\"bytes\":3491712,\"mtime_ns\":1790000000000000000,"
        "\"inode\":77,\"kind\":\"file\"},{\"path\":\"missing.txt\",\"kind\":\"absent\"}]");
    json_object_set_new(run->start, "inputs", inputs);
    json_object_set_new(run->start, "changes", build_json("[\"pinned torch to 1.13.1\"]"));
    json_array_append_new(run->changes, json_string("pinned torch to 1.13.1"));
    run->disposition = "fixed";
    replace(&run->end,
            "{\"t_ns\":252400000000,\"command_t_ns\":251000000000,\"end_boottime_ns\":254400000000,"
            "\"end_utc_ns\":1796041948523000000,\"exit_code\":0,\"survivors\":[],"
            "\"wall_is_at_least\":false,\"outputs\":[{\"path\":\"out.txt\",\"bytes\":20480,"
            "\"kind\":\"file\",\"mtime_ns\":1796041945523000000}],"
            "\"expectations\":[{\"what\":\"marker=done\",\"met\":\"yes\",\"detail\":null}],"
            "\"streams\":{\"stdout\":{\"bytes\":20480,\"unseen_bytes\":0,\"copier_restarts\":0},"
            "\"stderr\":{\"bytes\":0,\"unseen_bytes\":0,\"copier_restarts\":0}},\"stopped_ns\":0}");
    run->verified = "yes";
    return run;
}

struct run *build_plain(void) {
    struct run *run = build_common("00000011");
    run->outcome = OUTCOME_OK;
    run->has_exit_code = true;
    run->ended_utc_ns = START_UTC_NS + INT64_C(41000000);
    run->wall = quantity_measured(UNIT_SECOND, 0.041, "CLOCK_MONOTONIC");
    run->command = quantity_measured(UNIT_SECOND, 0.0406, "CLOCK_MONOTONIC");
    run->phase[PHASE_UNATTRIBUTED] = quantity_measured(UNIT_SECOND, 0.041, "no rule");
    measure_host(run);
    replace(&run->end, "{\"t_ns\":41000000,\"end_boottime_ns\":2041000200,\"exit_code\":0,"
                       "\"stopped_ns\":0}");
    return run;
}

struct run *build_failed(void) {
    struct run *run = build_common("deadbeef");
    run->outcome = OUTCOME_DISK_FULL;
    run->has_exit_code = true;
    run->exit_code = 1;
    run->ended_utc_ns = START_UTC_NS + INT64_C(12300000000);
    run->wall = quantity_bounded(UNIT_SECOND, 12.3, QUANTITY_AT_LEAST, "CLOCK_MONOTONIC");
    run->command = quantity_measured(UNIT_SECOND, 2.3, "CLOCK_MONOTONIC");
    measure_host(run);
    run->io_read.bound = QUANTITY_AT_LEAST;
    run->io_written.bound = QUANTITY_AT_LEAST;
    run->incidents = arena_alloc(run->arena, 2 * sizeof(*run->incidents));
    run->kept = build_json("[{\"path\":\"/scratch\",\"free_bytes\":4096}]");
    run->incidents[0] = (struct run_incident){
        .name = "disk_low", .line = "warning: only 4 KiB left", .survived = true};
    run->incidents[1] = (struct run_incident){
        .name = "disk_full",
        .line =
            "\033[31mOSError\033[0m: [Errno 28] No space left on device: '\a/scratch/\033]0;x\007'",
        .figures = json_array_get(run->kept, 0)};
    run->incident_count = 2;
    json_object_set_new(run->start, "note",
                        json_string("second try\n\033[2J\xe2\x80\xae"
                                    "evil"));
    json_object_set_new(run->start, "attempt", json_integer(2));
    json_object_set_new(run->start, "retry_of",
                        json_string("019d0c5a-7e3b-7a41-9c2e-1f6000000007"));
    json_object_set_new(
        run->start, "blind_spots",
        build_json("[{\"id\":\"docker\",\"text\":\"docker: the work runs outside this tree; "
                   "measure inside: docker run IMAGE probelauf run -- COMMAND\"}]"));
    replace(
        &run->end,
        "{\"t_ns\":12300000000,\"command_t_ns\":2300000000,\"end_boottime_ns\":74300000000,"
        "\"exit_code\":1,\"survivors\":[{\"pid\":4711,\"start\":99,\"comm\":\"wor\\u001bker\"}],"
        "\"wall_is_at_least\":true,\"stopped_ns\":4000000000,"
        "\"expectations\":[{\"what\":\"file=out.txt\",\"met\":\"no\",\"detail\":\"absent\"}]}");
    run->validity = RUN_INVALID;
    run->validity_who = "kim";
    run->validity_why = "disk was full";
    return run;
}

struct run *build_lost(void) {
    struct run *run = build_common("0000105f");
    run->outcome = OUTCOME_LOST;
    run->wall = quantity_bounded(UNIT_SECOND, 20.0, QUANTITY_AT_LEAST, "last record");
    run->command = quantity_open(UNIT_SECOND, QUANTITY_MONITOR_LOST, NULL);
    run->cpu = quantity_bounded(UNIT_CORE_SECOND, 18.5, QUANTITY_AT_LEAST, "last checkpoint");
    run->largest_process_rss =
        quantity_bounded(UNIT_BYTE, 1.2e8, QUANTITY_AT_LEAST, "last checkpoint");
    open_phases(run, QUANTITY_MONITOR_LOST);
    run->gaps = arena_alloc(run->arena, sizeof(*run->gaps));
    run->gaps[0] = (struct run_gap){"samples", "the slow reader was late", 4.0, 9.5};
    run->gap_count = 1;
    return run;
}

struct run *build_running(void) {
    struct run *run = build_common("00000c0c");
    run->running = true;
    run->outcome = OUTCOME_RUNNING;
    open_phases(run, QUANTITY_RUNNING);
    run->wall = quantity_open(UNIT_SECOND, QUANTITY_RUNNING, NULL);
    run->command = quantity_open(UNIT_SECOND, QUANTITY_RUNNING, NULL);
    return run;
}

struct run *build_wide(void) {
    struct run *run = build_plain();
    json_object_set_new(run->start, "command",
                        build_json("[\"python3\",\"größenprüfung.py\",\"--모델\","
                                   "\"재현 연구 🚀\",\"--Übergang=für alle\"]"));
    json_object_set_new(run->start, "condition",
                        build_json("{\"Größe\":\"süß\",\"실험\":\"조건 하나\"}"));
    return run;
}
