/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the GPU helper writes into its pipe becomes records: every sample counts for the peak, holes
 * have a name, nonsense ends the helper and nothing else, and a recorder that goes on knows what
 * was before it. */
#include "recorder-fixture.h"

#include "exec/gpu-watch-parts.h"
#include "gpu/wire.h"
#include "model/gpu-series.h"

#define BOARD "GPU-00000000-5d1a-0000-0000-000000000000"

struct watched {
    struct fixture *fixture;
    struct gpu_watch *watch;
    int write_fd;
};

static const char *const none[] = {"none", NULL};

/* As after gpu_watch_start, with the test in the helper's place. */
static void begin(struct watched *watched) {
    struct recorder *recorder = &watched->fixture->recorder;
    int ends[2];
    watched->fixture->options.gpus = none;
    watched->watch = recorder->gpu = gpu_watch_start(recorder);
    watched->fixture->options.gpus = NULL;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    watched->watch->excluded = false;
    watched->watch->given_up = true;
    watched->watch->starts = 1;
    watched->watch->pids = GPU_PIDS_OURS;
    watched->watch->fd = ends[0];
    watched->write_fd = ends[1];
}

/* The runs of these tests began so long ago: nothing is believed that is still to come. */
#define BEGAN_NS (2000 * NS_PER_S)
static int64_t start_ns;

static int setup(void **state) {
    void *fixture;
    if (recorder_setup(&fixture) != 0)
        return 1;
    start_ns = clock_mono_ns() - BEGAN_NS;
    struct watched *watched = mem_alloc(sizeof *watched);
    watched->fixture = fixture;
    watched->fixture->recorder.shared->start.mono_ns = start_ns;
    begin(watched);
    *state = watched;
    return 0;
}

static int teardown(void **state) {
    struct watched *watched = *state;
    close(watched->write_fd);
    gpu_watch_free(watched->watch);
    void *fixture = watched->fixture;
    free(watched);
    return recorder_teardown(&fixture);
}

static int64_t at(double seconds) {
    return start_ns + (int64_t)(seconds * 1e9);
}

static void tell(const struct watched *watched, void *message, uint32_t kind, size_t size) {
    struct gpu_head *head = message;
    head->kind = kind;
    head->size = (uint32_t)size;
    assert_int_equal(write(watched->write_fd, message, size), (ssize_t)size);
}

static void tell_library(const struct watched *watched, int state, double seconds) {
    struct gpu_library_message message = {.version = GPU_WIRE_VERSION,
                                          .state = state,
                                          .device_count = 1,
                                          .t_ns = at(seconds),
                                          .cuda = 12040,
                                          .driver = "550.54.15"};
    tell(watched, &message, GPU_MESSAGE_LIBRARY, sizeof message);
}

static void tell_device(const struct watched *watched, uint32_t number, const char *uuid,
                        double seconds) {
    struct gpu_device_message message = {.device = number,
                                         .parent = -1,
                                         .mig_mode = -1,
                                         .unified = -1,
                                         .memory_api = 2,
                                         .persistence = -1,
                                         .t_ns = at(seconds),
                                         .index = number,
                                         .minor = GPU_ABSENT,
                                         .gpu_instance = GPU_ABSENT,
                                         .compute_instance = GPU_ABSENT,
                                         .total_bytes = 80 << 20,
                                         .reserved_bytes = GPU_ABSENT,
                                         .used_bytes = 5,
                                         .power_limit_mw = GPU_ABSENT,
                                         .capability_major = GPU_ABSENT,
                                         .capability_minor = GPU_ABSENT,
                                         .ecc_enabled = GPU_ABSENT,
                                         .name = "stand-in"};
    snprintf(message.uuid, sizeof message.uuid, "%s", uuid);
    tell(watched, &message, GPU_MESSAGE_DEVICE, sizeof message);
}

static void tell_sample(const struct watched *watched, double seconds, int64_t bytes) {
    struct gpu_sample_message message = {.memory_why = bytes == GPU_ABSENT ? GPU_FAILED : GPU_READ,
                                         .asked_ns = at(seconds),
                                         .answered_ns = at(seconds),
                                         .used_bytes = bytes,
                                         .total_bytes = GPU_ABSENT,
                                         .power_mw = GPU_ABSENT,
                                         .energy_mj = GPU_ABSENT,
                                         .clock_sm_mhz = GPU_ABSENT,
                                         .clock_memory_mhz = GPU_ABSENT,
                                         .event_reasons = GPU_ABSENT,
                                         .ecc_uncorrected = GPU_ABSENT};
    tell(watched, &message, GPU_MESSAGE_SAMPLE, sizeof message);
}

static void tell_late(const struct watched *watched, double from, double to) {
    struct gpu_late_message message = {
        .device = -1, .from_ns = at(from), .to_ns = at(to), .what = "nvmlDeviceGetMemoryInfo"};
    tell(watched, &message, GPU_MESSAGE_LATE, sizeof message);
}

static void tell_process(const struct watched *watched, double seconds, int64_t pid,
                         int64_t bytes) {
    struct gpu_processes_message message = {.count = 1,
                                            .total = 1,
                                            .api = 3,
                                            .t_ns = at(seconds),
                                            .process = {{pid, bytes, GPU_ABSENT}}};
    tell(watched, &message, GPU_MESSAGE_PROCESSES,
         offsetof(struct gpu_processes_message, process) + sizeof message.process[0]);
}

/* The run ended after so many seconds. */
static void finish(struct watched *watched, double seconds, int exit_code) {
    struct shared *shared = watched->fixture->recorder.shared;
    shared->end = (struct shared_end){.t_ns = at(seconds) - shared->start.mono_ns,
                                      .command_t_ns = at(seconds) - shared->start.mono_ns,
                                      .has_exit_code = true,
                                      .exit_code = exit_code};
    atomic_store(&shared->ended, true);
    gpu_watch_finish(watched->watch);
}

/* All JSON records of a kind as one array. */
static json_t *records(const struct watched *watched, uint32_t kind) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    json_t *list = json_array();
    assert_int_equal(file_read(watched->fixture->recorder.writer.path, SIZE_MAX, &bytes), 0);
    assert_int_equal(journal_reader_init(&reader, bytes.data, bytes.length, &err), 0);
    while (journal_reader_next(&reader, &record) > 0)
        if (record.kind == kind)
            json_array_append_new(list, kind == JOURNAL_CHUNK ? json_null()
                                                              : journal_record_json(&record));
    assert_string_equal(reader.damage, "");
    return list;
}

static size_t series_named(const struct watched *watched, const char *name) {
    AUTO_JSON json_t *series = records(watched, JOURNAL_SERIES);
    size_t found = 0;
    for (size_t i = 0; i < json_array_size(series); i++)
        found += strcmp(json_get_text(json_array_get(series, i), "name", ""), name) == 0;
    return found;
}

static void every_sample_counts_for_the_peak(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    /* After ten minutes a second is three values; its one high sample is still the peak. */
    for (int i = 0; i < 40; i++)
        tell_sample(watched, 601 + i * 0.1, i == 17 ? 9000 : 100 + i);
    finish(watched, 605.2, 0);
    AUTO_JSON json_t *counters = gpu_watch_counters(watched->watch);
    const json_t *gpu = json_array_get(counters, 0);
    assert_int_equal(json_get_int(gpu, "used_peak_bytes", -1), 9000);
    assert_int_equal(json_get_int(gpu, "used_samples", -1), 40);
    assert_int_equal(series_named(watched, GPU_SERIES_USED), 0);
    assert_int_equal(series_named(watched, GPU_SERIES_USED_MIN), 1);
    assert_int_equal(series_named(watched, GPU_SERIES_USED_MEAN), 1);
    assert_int_equal(series_named(watched, GPU_SERIES_USED_MAX), 1);
}

static void the_first_ten_minutes_are_kept_whole(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    for (int i = 0; i < 300; i++)
        tell_sample(watched, 1 + i * 0.1, i);
    gpu_watch_tick(watched->watch);
    finish(watched, 31, 0);
    AUTO_JSON json_t *chunks = records(watched, JOURNAL_CHUNK);
    assert_true(json_array_size(chunks) >= 2);
    assert_int_equal(series_named(watched, GPU_SERIES_USED), 1);
    assert_int_equal(series_named(watched, GPU_SERIES_USED_MAX), 0);
}

static void what_was_not_read_is_no_figure(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    tell_sample(watched, 1, GPU_ABSENT);
    finish(watched, 2, 0);
    AUTO_JSON json_t *counters = gpu_watch_counters(watched->watch);
    const json_t *gpu = json_array_get(counters, 0);
    assert_null(json_object_get(gpu, "used_peak_bytes"));
    assert_null(json_object_get(gpu, "process_peak_bytes"));
    assert_null(json_object_get(gpu, "energy_j"));
    assert_null(json_object_get(gpu, "others"));
    assert_null(json_object_get(gpu, "left_bytes"));
    const json_t *reasons = json_get_object(gpu, "reasons");
    assert_string_equal(json_get_text(reasons, "used_peak_bytes", ""), "failed");
    assert_string_equal(json_get_text(reasons, "process_peak_bytes", ""), "not-sampled");
}

static void samples_of_before_and_after_are_not_the_runs(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, -0.2);
    tell_device(watched, 0, BOARD, -0.2);
    tell_sample(watched, -0.1, 7000);
    tell_sample(watched, 0.5, 10);
    tell_sample(watched, 1.5, 8000);
    finish(watched, 1, 0);
    AUTO_JSON json_t *counters = gpu_watch_counters(watched->watch);
    assert_int_equal(json_get_int(json_array_get(counters, 0), "used_peak_bytes", -1), 10);
    AUTO_JSON json_t *devices = records(watched, JOURNAL_DEVICE);
    /* … and what was in use before the start is the baseline */
    assert_int_equal(json_get_int(json_array_get(devices, 1), "baseline_bytes", -1), 5);
}

static void late_questions_in_a_row_are_one_gap(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    tell_sample(watched, 0.2, 1);
    tell_late(watched, 1, 3);
    tell_late(watched, 3.1, 5);
    tell_late(watched, 5.5, 7);
    tell_late(watched, 20, 22);
    tell_sample(watched, 22, 1);
    finish(watched, 22.5, 0);
    AUTO_JSON json_t *gaps = records(watched, JOURNAL_GAP);
    assert_int_equal(json_array_size(gaps), 2);
    const json_t *first = json_array_get(gaps, 0);
    assert_string_equal(json_get_text(first, "what", ""), "gpu");
    assert_int_equal(json_get_int(first, "from_t_ns", -1), 1 * NS_PER_S);
    assert_int_equal(json_get_int(first, "to_t_ns", -1), 7 * NS_PER_S);
    assert_int_equal(json_get_int(first, "count", -1), 3);
}

static void a_driver_that_was_exchanged_is_a_gap_until_it_is_back(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    tell_sample(watched, 0.5, 1);
    tell_sample(watched, 2, 1);
    tell_library(watched, GPU_LIBRARY_MISMATCH, 2.5);
    tell_library(watched, GPU_LIBRARY_READY, 11);
    tell_sample(watched, 12, 3);
    finish(watched, 12.2, 0);
    AUTO_JSON json_t *gaps = records(watched, JOURNAL_GAP);
    assert_int_equal(json_array_size(gaps), 1);
    assert_int_equal(json_get_int(json_array_get(gaps, 0), "from_t_ns", -1), 2 * NS_PER_S);
    assert_int_equal(json_get_int(json_array_get(gaps, 0), "to_t_ns", -1), 12 * NS_PER_S);
}

/* Bytes that are no messages: the pipe is closed, what was taken stays. */
static void nonsense_ends_the_pipe(void **state) {
    struct watched *watched = *state;
    static const struct gpu_head bad[] = {{0, 8},
                                          {99, 16},
                                          {GPU_MESSAGE_SAMPLE, 16},
                                          {GPU_MESSAGE_SAMPLE, 5000},
                                          {GPU_MESSAGE_LATE, 3}};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        char rest[64] = {0};
        tell_library(watched, GPU_LIBRARY_READY, 0.1);
        tell_device(watched, 0, BOARD, 0.1);
        tell_sample(watched, 1 + (double)i, 40);
        assert_int_equal(write(watched->write_fd, &bad[i], sizeof bad[i]), sizeof bad[i]);
        assert_int_equal(write(watched->write_fd, rest, sizeof rest), sizeof rest);
        gpu_watch_tick(watched->watch);
        assert_int_equal(watched->watch->fd, -1);
        assert_int_equal(watched->fixture->recorder.shared->gpu[0].used_samples, (int64_t)i + 1);
        close(watched->write_fd);
        gpu_watch_free(watched->watch);
        begin(watched);
    }
}

static void lists_that_say_more_than_they_hold_are_nonsense(void **state) {
    struct watched *watched = *state;
    struct gpu_processes_message message = {.count = 150, .total = 150, .t_ns = at(1)};
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    tell(watched, &message, GPU_MESSAGE_PROCESSES,
         offsetof(struct gpu_processes_message, process) + 48);
    gpu_watch_tick(watched->watch);
    assert_int_equal(watched->watch->fd, -1);
}

static void unknown_devices_are_skipped(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_sample(watched, 1, 40);
    tell_device(watched, 64, BOARD, 0.1);
    tell_process(watched, 1, getpid(), 5);
    gpu_watch_tick(watched->watch);
    assert_true(watched->watch->fd >= 0);
    assert_int_equal(atomic_load(&watched->fixture->recorder.shared->gpu_count), 0);
    assert_null(gpu_watch_counters(watched->watch));
}

/* The numbers of a new helper need not be those of the old one: a board has gone. */
static void a_device_is_known_by_its_uuid(void **state) {
    struct watched *watched = *state;
    struct recorder *recorder = &watched->fixture->recorder;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, "GPU-a", 0.1);
    tell_device(watched, 1, BOARD, 0.1);
    gpu_watch_tick(watched->watch);
    for (int i = 0; i < 5; i++)
        tell_sample(watched, 1 + i, 70);
    gpu_watch_tick(watched->watch);
    gpu_series_write(watched->watch, true);
    close(watched->write_fd);
    gpu_watch_free(watched->watch);
    /* a new recorder reads what series there are out of the journal */
    uint32_t before = recorder->past.gpu_series[0];
    assert_true(before != 0);
    begin(watched);
    tell_library(watched, GPU_LIBRARY_READY, 8);
    tell_device(watched, 0, BOARD, 8);
    tell_sample(watched, 9, 900);
    finish(watched, 9.5, 0);
    AUTO_JSON json_t *counters = gpu_watch_counters(watched->watch);
    assert_int_equal(json_array_size(counters), 2);
    assert_int_equal(json_get_int(json_array_get(counters, 0), "used_peak_bytes", -1), 70);
    assert_int_equal(json_get_int(json_array_get(counters, 1), "used_peak_bytes", -1), 900);
    assert_int_equal(series_named(watched, GPU_SERIES_USED), 2);
}

static void processes_of_the_run_and_others(void **state) {
    struct watched *watched = *state;
    struct shared *shared = watched->fixture->recorder.shared;
    atomic_store(&shared->command_pid, getpid());
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    tell_process(watched, 1, getpid(), 500);
    tell_process(watched, 2, getpid(), GPU_ABSENT); /* not told: no 0 */
    tell_process(watched, 3, 1, 70);
    finish(watched, 3, 0);
    AUTO_JSON json_t *counters = gpu_watch_counters(watched->watch);
    const json_t *gpu = json_array_get(counters, 0);
    assert_int_equal(json_get_int(gpu, "process_peak_bytes", -1), 500);
    assert_int_equal(json_get_int(gpu, "process_samples", -1), 2);
    assert_int_equal(json_get_bool(gpu, "others", 0), 1);
    assert_int_equal(json_get_int(gpu, "left_bytes", -1), 0);
    AUTO_JSON json_t *devices = records(watched, JOURNAL_DEVICE);
    const json_t *last = json_array_get(devices, json_array_size(devices) - 1);
    assert_string_equal(json_get_text(last, "mine", ""), "yes");
    assert_string_equal(json_get_text(last, "mine_by", ""), "processes");
}

/* Part of a list of others' processes, 1 byte each, of which the one at `ours` is this one. */
static void tell_part(const struct watched *watched, double seconds, uint32_t first, uint32_t count,
                      uint32_t total, uint32_t ours) {
    struct gpu_processes_message message = {
        .count = count, .total = total, .first = first, .api = 3, .t_ns = at(seconds)};
    for (uint32_t i = 0; i < count; i++)
        message.process[i] = (struct gpu_process){
            first + i == ours ? getpid() : INT32_MAX - (int64_t)(first + i), 1, GPU_ABSENT};
    tell(watched, &message, GPU_MESSAGE_PROCESSES,
         offsetof(struct gpu_processes_message, process) + count * sizeof message.process[0]);
}

static void a_long_list_comes_in_parts(void **state) {
    struct watched *watched = *state;
    atomic_store(&watched->fixture->recorder.shared->command_pid, getpid());
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    for (uint32_t first = 0; first < 400; first += 150)
        tell_part(watched, 1, first, first < 300 ? 150 : 100, 400, 390);
    tell_part(watched, 2, 0, 150, 400, UINT32_MAX);
    tell_part(watched, 2, 300, 100, 400, 300); /* a part is missing: no look */
    finish(watched, 3, 0);
    AUTO_JSON json_t *counters = gpu_watch_counters(watched->watch);
    const json_t *gpu = json_array_get(counters, 0);
    assert_int_equal(json_get_int(gpu, "process_peak_bytes", -1), 1);
    assert_int_equal(json_get_int(gpu, "process_samples", -1), 1);
    assert_int_equal(json_get_bool(gpu, "others", 0), 1);
    assert_null(json_object_get(gpu, "list_cut"));
    AUTO_JSON json_t *devices = records(watched, JOURNAL_DEVICE);
    const json_t *last = json_array_get(devices, json_array_size(devices) - 1);
    assert_string_equal(json_get_text(last, "mine", ""), "yes");
    assert_int_equal(json_get_int(last, "baseline_bytes", -1), -1);
}

/* Neither that nobody else was there, nor that the run was not, nor what was in use before it. */
static void a_list_that_was_cut_proves_nothing(void **state) {
    struct watched *watched = *state;
    struct shared *shared = watched->fixture->recorder.shared;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    for (uint32_t number = 0; number < 2; number++)
        tell_device(watched, number, number == 0 ? BOARD : "GPU-b", 0.1);
    for (int i = 0; i < 5; i++) {
        tell_part(watched, 0.5 + i, 0, 0, 5000, 0);
        struct gpu_processes_message whole = {.device = 1, .api = 3, .t_ns = at(0.5 + i)};
        tell(watched, &whole, GPU_MESSAGE_PROCESSES,
             offsetof(struct gpu_processes_message, process));
    }
    finish(watched, 5, 0);
    AUTO_JSON json_t *counters = gpu_watch_counters(watched->watch);
    const json_t *gpu = json_array_get(counters, 0);
    assert_null(json_object_get(gpu, "others"));
    assert_null(json_object_get(gpu, "process_peak_bytes"));
    assert_null(json_object_get(gpu, "left_bytes"));
    assert_int_equal(json_get_bool(gpu, "list_cut", -1), 1);
    assert_int_equal(gpu_device_mine(watched->watch, 0).mine, GPU_MINE_UNKNOWN);
    assert_int_equal(shared->gpu[0].baseline_bytes, SHARED_ABSENT);
    /* … as a whole one does */
    assert_int_equal(json_get_bool(json_array_get(counters, 1), "others", -1), 0);
    assert_int_equal(gpu_device_mine(watched->watch, 1).mine, GPU_MINE_NO);
    assert_int_equal(shared->gpu[1].baseline_bytes, 5);
}

/* ---- what cannot be ---- */

static void impossible_figures_were_not_read(void **state) {
    struct watched *watched = *state;
    static const int64_t extremes[] = {INT64_MIN + 1, INT64_MIN, -1, INT64_C(1) << 51, INT64_MAX};
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    for (size_t i = 0; i < ARRAY_LENGTH(extremes); i++) {
        int64_t odd = extremes[i];
        struct gpu_sample_message sample = {.asked_ns = at(1),
                                            .answered_ns = at(1),
                                            .used_bytes = odd,
                                            .total_bytes = odd,
                                            .power_mw = odd,
                                            .energy_mj = odd,
                                            .clock_sm_mhz = odd,
                                            .clock_memory_mhz = odd,
                                            .event_reasons = odd < 0 ? odd : GPU_ABSENT,
                                            .ecc_uncorrected = odd < 0 ? odd : GPU_ABSENT};
        tell(watched, &sample, GPU_MESSAGE_SAMPLE, sizeof sample);
        tell_process(watched, 1, odd, 70);
        tell_process(watched, 1, getpid(), odd);
        struct gpu_accounting_message accounting = {.pid = odd, .peak_bytes = odd};
        tell(watched, &accounting, GPU_MESSAGE_ACCOUNTING, sizeof accounting);
    }
    finish(watched, 2, 0);
    AUTO_JSON json_t *counters = gpu_watch_counters(watched->watch);
    const json_t *gpu = json_array_get(counters, 0);
    assert_null(json_object_get(gpu, "used_peak_bytes"));
    assert_null(json_object_get(gpu, "energy_j"));
    assert_null(json_object_get(gpu, "accounted_peak_bytes"));
    AUTO_JSON json_t *series = records(watched, JOURNAL_SERIES);
    for (size_t i = 0; i < json_array_size(series); i++)
        assert_null(strstr(json_get_text(json_array_get(series, i), "name", ""), "power"));
}

static void impossible_times_are_of_another_run(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    const int64_t times[] = {INT64_MIN, INT64_MIN + 1,           0,
                             at(-4000), at(BEGAN_NS / 1e9 + 60), INT64_MAX};
    for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
        int64_t t_ns = times[i];
        if (t_ns == 0 && start_ns < 3600 * NS_PER_S)
            continue; /* a machine that has just started: it may be a time of the hour before */
        struct gpu_sample_message sample = {
            .asked_ns = t_ns, .answered_ns = t_ns, .used_bytes = 7, .energy_mj = GPU_ABSENT};
        tell(watched, &sample, GPU_MESSAGE_SAMPLE, sizeof sample);
        struct gpu_processes_message processes = {.t_ns = t_ns};
        tell(watched, &processes, GPU_MESSAGE_PROCESSES, sizeof processes);
        struct gpu_windows_message windows = {
            .count = 1, .asked_ns = at(1), .window = {{t_ns, 50, 0}}};
        tell(watched, &windows, GPU_MESSAGE_WINDOWS, sizeof windows);
        struct gpu_event_message event = {.event = GPU_EVENT_LOST, .t_ns = t_ns};
        tell(watched, &event, GPU_MESSAGE_EVENT, sizeof event);
        event = (struct gpu_event_message){.event = 9, .t_ns = at(1)}; /* there is no such event */
        tell(watched, &event, GPU_MESSAGE_EVENT, sizeof event);
        struct gpu_late_message late = {.device = -1, .from_ns = t_ns, .to_ns = at(1)};
        tell(watched, &late, GPU_MESSAGE_LATE, sizeof late);
        late = (struct gpu_late_message){.device = -1, .from_ns = at(0), .to_ns = t_ns};
        tell(watched, &late, GPU_MESSAGE_LATE, sizeof late);
        struct gpu_library_message library = {.version = GPU_WIRE_VERSION, .t_ns = t_ns};
        tell(watched, &library, GPU_MESSAGE_LIBRARY, sizeof library);
        gpu_watch_tick(watched->watch);
    }
    assert_true(watched->watch->fd >= 0);
    tell_sample(watched, 1.9, 40);
    finish(watched, 2, 1);
    const struct shared_gpu *gpu = &watched->fixture->recorder.shared->gpu[0];
    assert_int_equal(gpu->used_samples, 1);
    assert_int_equal(gpu->used_peak_bytes, 40);
    assert_int_equal(gpu->others, OTHERS_NOT_SEEN);
    assert_int_equal(series_named(watched, GPU_SERIES_BUSY), 0);
    AUTO_JSON json_t *incidents = records(watched, JOURNAL_INCIDENT);
    assert_int_equal(json_array_size(incidents), 0);
}

/* ---- which devices ---- */

static void two_devices_with_one_uuid_are_two(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    tell_device(watched, 1, BOARD, 0.1);
    struct gpu_sample_message sample = {.device = 1,
                                        .asked_ns = at(1),
                                        .answered_ns = at(1),
                                        .used_bytes = 9,
                                        .total_bytes = 10,
                                        .power_mw = GPU_ABSENT,
                                        .energy_mj = GPU_ABSENT};
    tell_sample(watched, 1, 4);
    tell(watched, &sample, GPU_MESSAGE_SAMPLE, sizeof sample);
    finish(watched, 2, 0);
    AUTO_JSON json_t *counters = gpu_watch_counters(watched->watch);
    assert_int_equal(json_array_size(counters), 2);
    assert_int_equal(json_get_int(json_array_get(counters, 0), "used_peak_bytes", -1), 4);
    assert_int_equal(json_get_int(json_array_get(counters, 1), "used_peak_bytes", -1), 9);
    AUTO_JSON json_t *series = records(watched, JOURNAL_SERIES);
    const char *first = json_get_text(json_array_get(series, 0), "device", "");
    const char *second =
        json_get_text(json_array_get(series, json_array_size(series) - 1), "device", "");
    assert_string_not_equal(first, second);
}

static const json_t *last_gap(const json_t *gaps) {
    return json_array_get(gaps, json_array_size(gaps) - 1);
}

static void devices_that_are_counted_but_not_shown_are_a_gap_of_their_own(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    finish(watched, 6, 0);
    AUTO_JSON json_t *gaps = records(watched, JOURNAL_GAP);
    assert_string_equal(json_get_text(last_gap(gaps), "reason", ""),
                        "the GPU driver counts GPUs, but shows none of them");
}

/* It has nothing to tell, and its helper ends when the run does: neither is a hole. */
static void a_driver_without_a_device_is_no_gap(void **state) {
    struct watched *watched = *state;
    struct gpu_library_message library = {.version = GPU_WIRE_VERSION,
                                          .state = GPU_LIBRARY_READY,
                                          .t_ns = at(0.1),
                                          .cuda = 12040,
                                          .driver = "550.54.15"};
    tell(watched, &library, GPU_MESSAGE_LIBRARY, sizeof library);
    gpu_watch_tick(watched->watch);
    watched->watch->helper = 0;
    finish(watched, 6, 0);
    AUTO_JSON json_t *gaps = records(watched, JOURNAL_GAP);
    assert_int_equal(json_array_size(gaps), 0);
}

static void more_than_can_be_watched_are_named(void **state) {
    struct watched *watched = *state;
    struct gpu_library_message library = {.version = GPU_WIRE_VERSION,
                                          .state = GPU_LIBRARY_READY,
                                          .device_count = 70,
                                          .t_ns = at(0.1)};
    tell(watched, &library, GPU_MESSAGE_LIBRARY, sizeof library);
    tell_device(watched, 0, BOARD, 0.1);
    gpu_watch_tick(watched->watch);
    library.unwatched = 6;
    tell(watched, &library, GPU_MESSAGE_LIBRARY, sizeof library);
    tell_sample(watched, 0.5, 4);
    finish(watched, 1, 0);
    AUTO_JSON json_t *gaps = records(watched, JOURNAL_GAP);
    assert_string_equal(json_get_text(last_gap(gaps), "reason", ""),
                        "there are more GPUs than can be watched");
    assert_int_equal(json_get_int(last_gap(gaps), "count", -1), 6);
    AUTO_JSON json_t *devices = records(watched, JOURNAL_DEVICE);
    int64_t unwatched = -1;
    for (size_t i = 0; i < json_array_size(devices); i++)
        unwatched = json_get_int(json_array_get(devices, i), "unwatched", unwatched);
    assert_int_equal(unwatched, 6);
}

/* ---- the last round ---- */

/* A process in the helper's place that is asked for its last round; answers: it has one. */
static void be_asked(struct watched *watched, bool answers) {
    int hurry[2];
    assert_int_equal(pipe2(hurry, O_CLOEXEC), 0);
    watched->watch->hurry_fd = hurry[1];
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char asked = 0;
        close(hurry[1]);
        close(watched->watch->fd);
        if (read(hurry[0], &asked, 1) != 1 || asked == 0)
            _exit(1);
        struct gpu_windows_message windows = {
            .count = 1, .asked_ns = at(1.9), .window = {{at(1.9), 50, 0}}};
        struct gpu_done_message done = {0};
        if (answers) {
            tell(watched, &windows, GPU_MESSAGE_WINDOWS, sizeof windows);
            tell(watched, &done, GPU_MESSAGE_DONE, sizeof done);
        }
        pause();
        _exit(0);
    }
    close(hurry[0]);
    watched->watch->helper = pid;
}

static void the_last_second_is_asked_for(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    tell_sample(watched, BEGAN_NS / 1e9, 4); /* just now */
    be_asked(watched, true);
    finish(watched, BEGAN_NS / 1e9, 0);
    assert_true(watched->watch->done);
    assert_int_equal(series_named(watched, GPU_SERIES_BUSY), 1);
}

/* Nobody waits long for one that does not answer, and not at all for one that has not lately. */
static void a_helper_that_hangs_has_no_last_round(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    tell_sample(watched, BEGAN_NS / 1e9 - 1, 4);
    be_asked(watched, false);
    int64_t before_ns = clock_mono_ns();
    finish(watched, BEGAN_NS / 1e9, 0);
    assert_true(clock_mono_ns() - before_ns < 1500 * NS_PER_MS);
    assert_false(watched->watch->done);
}

static void tell_event(const struct watched *watched, int event, double seconds, int64_t data) {
    struct gpu_event_message message = {.event = event, .t_ns = at(seconds), .data = data};
    tell(watched, &message, GPU_MESSAGE_EVENT, sizeof message);
}

static void an_xid_of_a_run_that_failed_is_a_cause(void **state) {
    struct watched *watched = *state;
    tell_library(watched, GPU_LIBRARY_READY, 0.1);
    tell_device(watched, 0, BOARD, 0.1);
    tell_event(watched, GPU_EVENT_XID, 1, 31);
    tell_event(watched, GPU_EVENT_XID, 1, 45);
    tell_event(watched, GPU_EVENT_LOST, 2, GPU_ABSENT);
    finish(watched, 5, 1);
    AUTO_JSON json_t *incidents = records(watched, JOURNAL_INCIDENT);
    assert_int_equal(json_array_size(incidents), 3);
    const json_t *first = json_array_get(incidents, 0);
    assert_string_equal(json_get_text(first, "name", ""), "gpu_xid");
    assert_int_equal(json_get_int(json_get_object(first, "figures"), "xid", -1), 31);
    assert_int_equal(json_get_bool(first, "survived", -1), 0);
    /* 45 is what the driver says when it cleans up after a program */
    assert_int_equal(json_get_bool(json_array_get(incidents, 1), "survived", -1), 1);
    assert_string_equal(json_get_text(json_array_get(incidents, 2), "name", ""), "gpu_lost");
    AUTO_JSON json_t *gaps = records(watched, JOURNAL_GAP);
    const json_t *gap = json_array_get(gaps, json_array_size(gaps) - 1);
    assert_string_equal(json_get_text(gap, "what", ""), "gpu 0");
    assert_int_equal(json_get_int(gap, "from_t_ns", -1), 2 * NS_PER_S);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_sample_counts_for_the_peak),
        TEST(the_first_ten_minutes_are_kept_whole),
        TEST(what_was_not_read_is_no_figure),
        TEST(samples_of_before_and_after_are_not_the_runs),
        TEST(late_questions_in_a_row_are_one_gap),
        TEST(a_driver_that_was_exchanged_is_a_gap_until_it_is_back),
        TEST(nonsense_ends_the_pipe),
        TEST(lists_that_say_more_than_they_hold_are_nonsense),
        TEST(unknown_devices_are_skipped),
        TEST(a_device_is_known_by_its_uuid),
        TEST(processes_of_the_run_and_others),
        TEST(a_long_list_comes_in_parts),
        TEST(a_list_that_was_cut_proves_nothing),
        TEST(impossible_figures_were_not_read),
        TEST(impossible_times_are_of_another_run),
        TEST(two_devices_with_one_uuid_are_two),
        TEST(devices_that_are_counted_but_not_shown_are_a_gap_of_their_own),
        TEST(a_driver_without_a_device_is_no_gap),
        TEST(more_than_can_be_watched_are_named),
        TEST(the_last_second_is_asked_for),
        TEST(a_helper_that_hangs_has_no_last_round),
        TEST(an_xid_of_a_run_that_failed_is_a_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
