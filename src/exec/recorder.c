/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorder's way: a place for the journal, START, a second's rhythm, END, the environment where
 * there was no time before, and, once the monitor has gone, the hand-over to intake. See
 * recorder.h.
 */
#include "exec/recorder.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/agents.h"
#include "exec/gpu-watch.h"
#include "exec/helper.h"
#include "exec/ready.h"
#include "exec/recorder-parts.h"
#include "text/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES         500 /* of 20 ms: a reader may be looking at the lock */
#define COUNTERS_OFTEN_NS  (120 * NS_PER_S)
#define FIRST_EXTRA_NS     NS_PER_S /* slow reader and environment: not in the way of short runs */
#define LAUNCH_WAIT_NS     (300 * NS_PER_MS)
#define MARKS_PAUSE_NS     (5 * NS_PER_MS) /* however many come */
#define ENVIRONMENT_MAX_NS (120 * NS_PER_S)

int64_t recorder_t_ns(const struct recorder *recorder) {
    return clock_mono_ns() - recorder->shared->start.mono_ns;
}

/* ---- writing ---- */

static void note_loss(struct recorder *recorder) {
    if (recorder->lost_records++ == 0)
        recorder->lost_from_t_ns = recorder_t_ns(recorder);
}

static bool append(struct recorder *recorder, enum journal_kind kind, const json_t *payload,
                   bool last) {
    struct err err = ERR_INIT;
    if (journal_append_json(&recorder->writer, kind, payload, last, &err) == 0)
        return true;
    snprintf(recorder->shared->trouble, sizeof recorder->shared->trouble, "%s", err.text);
    return false;
}

void recorder_write_gap(struct recorder *recorder, const char *what, int64_t from_t_ns,
                        int64_t to_t_ns, const char *reason, uint64_t count) {
    /* What is noticed late lies within the run all the same. */
    if (atomic_load(&recorder->shared->ended) && to_t_ns > recorder->shared->end.t_ns)
        to_t_ns = recorder->shared->end.t_ns;
    if (from_t_ns > to_t_ns)
        from_t_ns = to_t_ns;
    if (from_t_ns < 0)
        from_t_ns = 0;
    AUTO_JSON json_t *gap = json_object();
    json_put_text(gap, "what", what);
    json_put_int(gap, "from_t_ns", from_t_ns);
    json_put_int(gap, "to_t_ns", to_t_ns < from_t_ns ? from_t_ns : to_t_ns);
    json_put_text(gap, "reason", reason);
    if (count > 0)
        json_put_int(gap, "count", (int64_t)count);
    append(recorder, JOURNAL_GAP, gap, true);
}

/* A hole in the record says so as soon as something can be written again; `last` records can nearly
 * always. */
static void tell_loss(struct recorder *recorder) {
    if (recorder->lost_records == 0)
        return;
    uint64_t lost = recorder->lost_records;
    recorder->lost_records = 0;
    recorder_write_gap(recorder, "records", recorder->lost_from_t_ns, recorder_t_ns(recorder),
                       N_("records could not be written"), lost);
}

bool recorder_write(struct recorder *recorder, enum journal_kind kind, json_t *take_payload,
                    bool last) {
    AUTO_JSON json_t *payload = take_payload;
    if (!append(recorder, kind, payload, last)) {
        note_loss(recorder);
        return false;
    }
    tell_loss(recorder);
    return true;
}

void recorder_write_incident(struct recorder *recorder, const char *name, const char *source,
                             const char *line, json_t *take_figures, bool survived) {
    AUTO_JSON json_t *figures = take_figures;
    AUTO_FREE char *key = mem_printf("%s %s %s", name, source, line != NULL ? line : "");
    if (json_object_get(recorder->past.incidents, key) != NULL)
        return;
    json_put_bool(recorder->past.incidents, key, true);
    json_t *incident = json_object();
    json_put_text(incident, "name", name);
    if (line != NULL) {
        AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
        secret_mask(line, strlen(line), &masked);
        json_put_text(incident, "line", strbuf_str(&masked));
    }
    json_put(incident, "figures", figures != NULL ? json_incref(figures) : json_object());
    json_put_bool(incident, "survived", survived);
    json_put_text(incident, "source", source);
    recorder_write(recorder, JOURNAL_INCIDENT, incident, true);
}

/* ---- the place ---- */

static int make_marks(struct recorder *recorder) {
    struct shared *shared = recorder->shared;
    size_t length = strlen(recorder->writer.path);
    size_t suffix = strlen(JOURNAL_SUFFIX);
    if (length < suffix ||
        length - suffix + sizeof JOURNAL_MARKS_SUFFIX > sizeof shared->marks_path)
        return -ENAMETOOLONG;
    char path[SHARED_PATH_SIZE];
    snprintf(path, sizeof path, "%.*s" JOURNAL_MARKS_SUFFIX, (int)(length - suffix),
             recorder->writer.path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_APPEND, 0600);
    if (fd < 0)
        return -errno;
    recorder->marks_fd = fd;
    /* A mark without a time counts when it is read: not up to a second later. */
    recorder->marks_watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (recorder->marks_watch >= 0 && inotify_add_watch(recorder->marks_watch, path, IN_MODIFY) < 0)
        fd_close_ptr(&recorder->marks_watch);
    memcpy(shared->marks_path, path, sizeof path);
    return 0;
}

/* A journal's path goes to the command in a variable: it must not depend on the current folder. */
static bool make_absolute(const char *dir, char *ret_path, size_t size) {
    char cwd[SHARED_PATH_SIZE];
    int length;
    if (dir[0] == '/')
        length = snprintf(ret_path, size, "%s", dir);
    else if (getcwd(cwd, sizeof cwd) != NULL)
        length = snprintf(ret_path, size, "%s/%s", cwd, dir);
    else
        return false;
    return length > 0 && (size_t)length < size;
}

static int create_in(struct recorder *recorder, const char *dir, struct err *err) {
    char path[SHARED_PATH_SIZE];
    if (!make_absolute(dir, path, sizeof path))
        return err_set(err, -ENAMETOOLONG, "journal-place",
                       "the name of the folder '%s' is too long", dir);
    int rc = dir_make_private(path, err);
    if (rc < 0)
        return rc;
    char name[2 * UUID_TEXT_SIZE];
    snprintf(name, sizeof name, "%s-%s", recorder->options->run, recorder->options->part);
    AUTO_JSON json_t *header = start_header(recorder->context);
    return journal_create(path, name, header, &recorder->writer, err);
}

bool recorder_find_place(struct recorder *recorder) {
    struct shared *shared = recorder->shared;
    bool found = false;
    struct err err = ERR_INIT, first = ERR_INIT;
    for (size_t i = 0; recorder->options->journal_dirs[i] != NULL; i++) {
        err_clear(&err);
        if (create_in(recorder, recorder->options->journal_dirs[i], &err) == 0) {
            snprintf(shared->journal_path, sizeof shared->journal_path, "%s",
                     recorder->writer.path);
            atomic_store(&shared->second_place, i > 0);
            found = true;
            break;
        }
        if (first.code == 0)
            first = err;
    }
    snprintf(shared->trouble, sizeof shared->trouble, "%s", first.text);
    return found;
}

/* ---- going on with a predecessor's journal ---- */

static void note_series(struct recorder_past *past, int64_t id) {
    int64_t of_gpus = id - (int64_t)RECORDER_GPU_ID;
    if (of_gpus >= (int64_t)(RECORDER_GPU_IDS * SHARED_GPUS))
        return;
    if (of_gpus >= 0)
        past->gpu_series[of_gpus / RECORDER_GPU_IDS] |= 1u << (of_gpus % RECORDER_GPU_IDS);
    else if (id >= (int64_t)recorder_slow_id)
        past->has_slow_series = true;
    else
        past->has_host_series = true;
}

static void note_past(struct recorder *recorder, const struct journal_record *record) {
    struct recorder_past *past = &recorder->past;
    AUTO_JSON json_t *json = journal_record_json(record);
    switch (record->kind) {
    case JOURNAL_START:
        past->has_start = true;
        break;
    case JOURNAL_ENVIRONMENT:
        past->has_environment = true;
        break;
    case JOURNAL_SERIES:
        note_series(past, json_get_int(json, "id", 0));
        break;
    case JOURNAL_DEVICE:
        past->has_gpu_probe = past->has_gpu_probe || json_object_get(json, "probe") != NULL;
        break;
    case JOURNAL_END:
        past->has_end = true;
        break;
    case JOURNAL_PHASE:
        if (strcmp(json_get_text(json, "source", ""), "ready") == 0) {
            bool is_load = strcmp(json_get_text(json, "name", ""), "load") == 0;
            past->has_ready_load = past->has_ready_load || is_load;
            past->has_ready_compute = past->has_ready_compute || !is_load;
        }
        break;
    case JOURNAL_MARK:
        past->marks_offset = (long)json_get_int(json, "file_offset", past->marks_offset);
        break;
    case JOURNAL_CHILD:
        if (json_get_int(json, "signal", 0) == SIGKILL) {
            recorder->killed++;
            recorder->killed_workers += strcmp(json_get_text(json, "role", ""), "descendant") == 0;
            recorder->killed_pid = (pid_t)json_get_int(json, "pid", 0);
        }
        break;
    case JOURNAL_INCIDENT: {
        AUTO_FREE char *key =
            mem_printf("%s %s %s", json_get_text(json, "name", ""),
                       json_get_text(json, "source", ""), json_get_text(json, "line", ""));
        json_put_bool(past->incidents, key, true);
        break;
    }
    default:
        break;
    }
}

static bool read_past(struct recorder *recorder) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct err err = ERR_INIT;
    struct journal_reader reader;
    struct journal_record record;
    if (file_read(recorder->shared->journal_path, SIZE_MAX, &bytes) < 0 ||
        journal_reader_init(&reader, bytes.data, bytes.length, &err) < 0)
        return false;
    while (journal_reader_next(&reader, &record) > 0)
        note_past(recorder, &record);
    return true;
}

/* The journal of the recorder before us. Its lock goes with it; a reader that tries the lock may be
 * in between. */
static bool reopen(struct recorder *recorder) {
    struct err err = ERR_INIT;
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        err_clear(&err);
        int rc = journal_open_append(recorder->shared->journal_path, &recorder->writer, &err);
        if (rc == 0)
            return read_past(recorder);
        if (rc != -EWOULDBLOCK && rc != -EBUSY)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 20 * NS_PER_MS}, NULL);
    }
    snprintf(recorder->shared->trouble, sizeof recorder->shared->trouble, "%s", err.text);
    return false;
}

/* False: no place, or none any more. */
static bool begin(struct recorder *recorder) {
    struct shared *shared = recorder->shared;
    bool resumed = shared->journal_path[0] != '\0';
    /* A journal that was removed under a running monitor is begun anew: START and all that is still
     * to come. */
    if (!resumed || !reopen(recorder)) {
        resumed = false;
        shared->journal_path[0] = '\0';
        if (!recorder_find_place(recorder)) {
            atomic_store(&shared->recorder_state, RECORDER_NO_PLACE);
            return false;
        }
    }
    if (recorder->options->attach == 0) /* it knows of none */
        make_marks(recorder);
    evidence_begin(recorder, resumed);
    results_begin(recorder, resumed);
    agents_prepare(recorder);
    recorder->ready = ready_start(recorder);
    int starting = RECORDER_STARTING;
    atomic_compare_exchange_strong(&shared->recorder_state, &starting, RECORDER_READY);
    return true;
}

/* ---- the rhythm ---- */

static void write_start(struct recorder *recorder) {
    if (!recorder->past.has_start &&
        recorder_write(recorder, JOURNAL_START, start_payload(recorder), false))
        recorder->past.has_start = true;
    int ready = RECORDER_READY;
    atomic_compare_exchange_strong(&recorder->shared->recorder_state, &ready, RECORDER_STARTED);
}

static void publish_cpu(struct recorder *recorder) {
    atomic_store(&recorder->shared->cpu_live_ns[ROLE_RECORDER][0],
                 clock_process_cpu_ns() + recorder->children_cpu_ns);
}

static void read_text(struct recorder *recorder, bool last) {
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        if (recorder->channel[i] != NULL)
            text_channel_read(recorder->channel[i], recorder, last);
}

static void sync_quietly(struct recorder *recorder) {
    struct err err = ERR_INIT;
    journal_sync(&recorder->writer, &err); /* the next one, or the last, tells whether it works */
}

/* Totals are for the case that the whole machine goes: what a killed process had found is in the
 * shared memory. Over hours they would weigh more than the samples. */
static int64_t counters_interval_ns(int64_t since_ns) {
    return since_ns < COUNTERS_OFTEN_NS ? 10 * NS_PER_S : 60 * NS_PER_S;
}

static void each_second(struct recorder *recorder) {
    int64_t now_ns = clock_mono_ns();
    int64_t since_ns = now_ns - recorder->shared->start.mono_ns;
    recorder_take_messages(recorder);
    recorder_take_ticks(recorder, false);
    recorder_take_marks(recorder, false);
    read_text(recorder, false);
    ready_tick(recorder, recorder->ready);
    if (since_ns >= FIRST_EXTRA_NS) {
        recorder_start_slow_reader(recorder);
        recorder_start_environment(recorder);
    }
    gpu_watch_tick(recorder->gpu);
    if (now_ns >= recorder->next_ten_ns) {
        recorder->next_ten_ns = now_ns + 10 * NS_PER_S;
        if (now_ns >= recorder->next_counters_ns) {
            recorder_write_counters(recorder, false);
            recorder->next_counters_ns = now_ns + counters_interval_ns(since_ns);
        }
        sync_quietly(recorder);
    } else if (since_ns < 2 * FIRST_EXTRA_NS) {
        sync_quietly(recorder); /* START of a run that lasts is on disk early */
    }
    publish_cpu(recorder);
    recorder->next_second_ns = now_ns + NS_PER_S;
}

static int milliseconds_until(int64_t time_ns) {
    int64_t rest_ns = time_ns - clock_mono_ns();
    return rest_ns <= 0 ? 0 : (int)(rest_ns / NS_PER_MS + 1);
}

/* What the events say does not matter, only that there were some. */
static void read_new_marks(struct recorder *recorder) {
    char events[4096];
    while (read(recorder->marks_watch, events, sizeof events) > 0)
        ;
    recorder_take_marks(recorder, false);
    recorder->marks_wait_ns = clock_mono_ns() + MARKS_PAUSE_NS;
}

/* Waits for bells, samples, text and the next second. False: the monitor is gone. */
static bool wait_and_read(struct recorder *recorder, int wait_ms) {
    struct pollfd watched[] = {{recorder->context->bell, POLLIN, 0},
                               {recorder->context->streams->bell, POLLIN, 0},
                               {recorder->slow_fd, POLLIN, 0},
                               {recorder->environment_fd, POLLIN, 0},
                               {recorder->marks_watch, POLLIN, 0}};
    int marks_ms = milliseconds_until(recorder->marks_wait_ns);
    if (marks_ms > 0)
        watched[4].fd = -1;
    if (marks_ms > 0 && marks_ms < wait_ms)
        wait_ms = marks_ms;
    /* A stream that is over its share of our time waits for the next second. */
    if (text_channels_are_busy(recorder->channel, SHARED_CHANNELS))
        watched[1].fd = -1;
    if (poll(watched, sizeof watched / sizeof watched[0], wait_ms) < 0 && errno != EINTR)
        return true;
    if (watched[1].revents != 0) {
        eventfd_t count;
        eventfd_read(recorder->context->streams->bell, &count);
        read_text(recorder, false);
    }
    if (watched[2].revents != 0)
        recorder_read_samples(recorder, false);
    if (watched[3].revents != 0)
        recorder_read_environment(recorder);
    if (watched[4].revents != 0)
        read_new_marks(recorder);
    recorder_reap(recorder);
    return watched[0].revents == 0 || helper_take_bells(recorder->context->bell);
}

static int text_wait_ms(const struct recorder *recorder) {
    int wait_ms = milliseconds_until(recorder->next_second_ns);
    int text_ms = text_channels_wait_ms(recorder->channel, SHARED_CHANNELS);
    return text_ms >= 0 && text_ms < wait_ms ? text_ms : wait_ms;
}

/* Until the run ended or the monitor is gone. True: it said how the run ended. */
static bool record(struct recorder *recorder) {
    struct shared *shared = recorder->shared;
    recorder->next_second_ns = shared->start.mono_ns + NS_PER_S;
    if (recorder->next_second_ns < clock_mono_ns())
        recorder->next_second_ns = clock_mono_ns();
    recorder->next_ten_ns = recorder->next_counters_ns = shared->start.mono_ns + 10 * NS_PER_S;
    bool monitor_lives = true;
    while (!atomic_load(&shared->ended)) {
        if (!monitor_lives)
            return atomic_load(&shared->ended); /* it may have said so just before it went */
        monitor_lives = wait_and_read(recorder, text_wait_ms(recorder));
        if (clock_mono_ns() >= recorder->next_second_ns)
            each_second(recorder);
        else if (text_channels_wait_ms(recorder->channel, SHARED_CHANNELS) >= 0)
            read_text(recorder, false);
    }
    return true;
}

/* After END: the environment of short runs, and whatever its reader has not brought yet. Nobody
 * waits for it. */
static void finish_environment(struct recorder *recorder) {
    int64_t deadline_ns = clock_mono_ns() + ENVIRONMENT_MAX_NS;
    recorder_start_environment(recorder);
    while (recorder->environment_fd >= 0 && clock_mono_ns() < deadline_ns) {
        struct pollfd watched = {recorder->environment_fd, POLLIN, 0};
        poll(&watched, 1, 1000);
        recorder_read_environment(recorder);
    }
}

static void wait_for_release(const struct recorder *recorder) {
    struct pollfd watched = {recorder->context->bell, POLLIN, 0};
    while (helper_take_bells(recorder->context->bell))
        poll(&watched, 1, -1);
}

static void close_up(struct recorder *recorder) {
    recorder_take_marks(recorder, true);
    if (recorder->marks_fd >= 0 && recorder->lost_records == 0)
        unlink(recorder->shared->marks_path);
    fd_close_ptr(&recorder->marks_fd);
    fd_close_ptr(&recorder->marks_watch);
    recorder->gpu = gpu_watch_free(recorder->gpu);
    evidence_done(recorder);
    if (recorder->diff != NULL)
        recorder_write(recorder, JOURNAL_DIFF, steal(recorder->diff), false);
    sync_quietly(recorder);
    chunk_coder_done(&recorder->coder);
    results_done(recorder);
    recorder->ready = ready_free(recorder->ready);
    journal_close(&recorder->writer);
}

/* Nothing was started: nothing is to be recorded. */
static void discard(struct recorder *recorder) {
    unlink(recorder->shared->marks_path);
    unlink(recorder->shared->journal_path);
    evidence_done(recorder);
    journal_close(&recorder->writer);
}

static void open_channels(struct recorder *recorder) {
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        recorder->channel[i] = text_channel_new(recorder->context, i, recorder->expectations);
}

/* Until the command runs: its size at exec belongs to START. An exec that takes long (a slow file
 * system) is not waited for. False: nothing was started. */
static bool wait_for_start(const struct recorder *recorder) {
    struct shared *shared = recorder->shared;
    struct pollfd watched = {recorder->context->bell, POLLIN, 0};
    bool monitor_lives = true;
    while (monitor_lives && !atomic_load(&shared->started)) {
        poll(&watched, 1, -1);
        monitor_lives = helper_take_bells(recorder->context->bell);
    }
    int64_t deadline_ns = clock_mono_ns() + LAUNCH_WAIT_NS;
    while (monitor_lives && !atomic_load(&shared->launched) && clock_mono_ns() < deadline_ns) {
        poll(&watched, 1, milliseconds_until(deadline_ns));
        monitor_lives = helper_take_bells(recorder->context->bell);
    }
    return atomic_load(&shared->started);
}

/* What is still to do takes a while: it must not keep the user's files open. */
static void close_streams(const struct recorder *recorder) {
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        struct in_place place = recorder->context->streams->in_place[i];
        fd_close_ptr(&place.read_fd);
        fd_close_ptr(&place.position_fd);
    }
}

static int recorder_main(void *context) {
    struct recorder recorder = {.context = context,
                                .options = ((const struct recorder_context *)context)->options,
                                .shared = ((const struct recorder_context *)context)->shared,
                                .expectations =
                                    ((const struct recorder_context *)context)->expectations,
                                .writer = JOURNAL_WRITER_INIT,
                                .past.incidents = json_object(),
                                .marks_fd = -1,
                                .marks_watch = -1,
                                .kernel_log_fd = -1,
                                .slow_fd = -1,
                                .slow_last_ns = -1,
                                .environment_fd = -1};
    int bell = recorder.context->bell;
    bool has_place = begin(&recorder);
    helper_ring(bell);
    if (!has_place)
        return 1;
    recorder.gpu = gpu_watch_start(&recorder);
    open_channels(&recorder);
    if (!wait_for_start(&recorder)) {
        discard(&recorder);
        return 1;
    }
    write_start(&recorder);
    ready_begin(&recorder, recorder.ready);
    bool told = record(&recorder);
    finish_write(&recorder, !told);
    helper_ring(bell);
    close_streams(&recorder);
    finish_environment(&recorder);
    wait_for_release(&recorder);
    close_up(&recorder);
    if (recorder.options->recorded != NULL)
        recorder.options->recorded(recorder.shared->journal_path, recorder.options->context);
    return 0;
}

pid_t recorder_start(const struct recorder_context *context, int *ret_bell) {
    int ends[2];
    int rc = helper_pair(ends);
    if (rc < 0)
        return rc;
    struct recorder_context own = *context;
    own.bell = ends[1];
    const struct in_place *place = context->streams->in_place;
    /* The user's own open files tell how far an output file has been written: copies of descriptors
     * 1 and 2. */
    int position[SHARED_CHANNELS];
    struct streams streams = *context->streams;
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        position[i] = place[i].read_fd >= 0 ? fcntl(place[i].position_fd, F_DUPFD_CLOEXEC, 3) : -1;
        streams.in_place[i].position_fd = position[i];
    }
    own.streams = &streams;
    int keep[] = {ends[1],          streams.bell, place[0].read_fd,
                  place[1].read_fd, position[0],  position[1]};
    struct helper_spec spec = {.name = "pl-recorder",
                               .keep = keep,
                               .keep_count = sizeof keep / sizeof keep[0],
                               .own_session = true,
                               .main = recorder_main,
                               .context = &own};
    pid_t pid = helper_start(context->shared, &spec);
    close(ends[1]);
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        fd_close_ptr(&position[i]);
    if (pid < 0) {
        close(ends[0]);
        return pid;
    }
    *ret_bell = ends[0];
    return pid;
}
