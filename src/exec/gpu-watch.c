/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The life of the GPU helper and the way of its messages; see gpu-watch.h. Nothing here waits but
 * gpu_watch_finish, a second at most, and what a message holds is checked before it is used: the
 * helper may be in any state.
 */
#include "exec/gpu-watch.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/gpu-watch-parts.h"
#include "exec/helper.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STARTS_MAX     4u /* the first one and three more */
#define RETRY_NS       NS_PER_S
#define SILENT_NS      (5 * NS_PER_S)
#define GAP_MIN_NS     NS_PER_S
#define LATE_TOGETHER  (2 * NS_PER_S)
#define FLUSH_NS       (10 * NS_PER_S)
#define LEFT_WAIT_NS   NS_PER_S
#define ROUND_WAIT_NS  (150 * NS_PER_MS) /* for the last round of a helper that answers */
#define ANSWERS_NS     (500 * NS_PER_MS) /* ... as one does that has just sent a sample */
#define ORPHANS_NS     NS_PER_S
#define XID_CLEANED_UP 45 /* of a program that was ended: a consequence, no cause */

/* ---- start ---- */

static bool is_none(const char *const *gpus) {
    return gpus != NULL && gpus[0] != NULL && gpus[1] == NULL && strcmp(gpus[0], "none") == 0;
}

static void forget_devices(struct gpu_watch *watch) {
    for (size_t i = 0; i < GPU_DEVICES_MAX; i++)
        watch->slot_of[i] = -1;
    for (size_t i = 0; i < atomic_load(&watch->shared->gpu_count); i++)
        watch->device[i].told = false;
    watch->stream.held = 0;
}

static void start_helper(struct gpu_watch *watch) {
    forget_devices(watch);
    watch->starts++;
    watch->exit_status = -1;
    watch->arrival_ns = clock_mono_ns();
    pid_t pid =
        gpu_start_helper(watch->shared, watch->shared->journal_path, &watch->fd, &watch->hurry_fd);
    if (pid > 0)
        watch->helper = pid;
    else
        watch->retry_ns = clock_mono_ns() + RETRY_NS;
}

struct gpu_watch *gpu_watch_start(struct recorder *recorder) {
    struct gpu_watch *watch = mem_alloc(sizeof *watch);
    watch->recorder = recorder;
    watch->shared = recorder->shared;
    watch->fd = watch->hurry_fd = watch->exit_status = -1;
    watch->sample_t_ns = watch->late_from_t_ns = SHARED_ABSENT;
    watch->probe_written = recorder->past.has_gpu_probe;
    for (size_t i = 0; i < GPU_DEVICES_MAX; i++)
        watch->slot_of[i] = -1;
    /* From the beginning, or from where the recorder before us had come. */
    watch->unseen_t_ns = recorder->shared->gpu_recorded_t_ns;
    watch->unseen_reason = watch->unseen_t_ns > 0 ? N_("the recorder had ended and was replaced")
                                                  : N_("the GPU driver had not answered yet");
    watch->excluded = is_none(recorder->options->gpus);
    if (watch->excluded)
        return watch;
    watch->shown = gpu_devices_look(&root_real);
    gpu_processes_begin(watch);
    if (gpu_start_is_worth_it(watch->shown)) {
        gpu_orphans_adopt();
        start_helper(watch);
    }
    return watch;
}

struct gpu_watch *gpu_watch_free(struct gpu_watch *watch) {
    if (watch == NULL)
        return NULL;
    fd_close_ptr(&watch->fd);
    fd_close_ptr(&watch->hurry_fd);
    gpu_orphans_end(watch, ORPHANS_NS);
    gpu_series_done(watch);
    free(watch);
    return NULL;
}

/* ---- what was not seen ---- */

static void write_gap(struct gpu_watch *watch, int device, int64_t from_t_ns, int64_t to_t_ns,
                      const char *reason, uint64_t count) {
    char what[32] = "gpu";
    if (device >= 0)
        snprintf(what, sizeof what, "gpu %d", device);
    recorder_write_gap(watch->recorder, what, from_t_ns, to_t_ns, reason, count);
}

/* A driver that shows no device is silent because there is nothing to tell. */
static bool is_empty(const struct gpu_watch *watch) {
    return watch->has_library && watch->library.state == GPU_LIBRARY_READY &&
           watch->library.device_count == 0;
}

static void not_seen(struct gpu_watch *watch, const char *reason) {
    if (watch->unseen_t_ns != SHARED_ABSENT || is_empty(watch))
        return;
    watch->unseen_t_ns = watch->sample_t_ns != SHARED_ABSENT ? watch->sample_t_ns : 0;
    watch->unseen_reason = reason;
}

static void seen(struct gpu_watch *watch, int64_t t_ns) {
    if (watch->unseen_t_ns != SHARED_ABSENT && t_ns - watch->unseen_t_ns >= GAP_MIN_NS)
        write_gap(watch, -1, watch->unseen_t_ns, t_ns, watch->unseen_reason, 0);
    watch->unseen_t_ns = SHARED_ABSENT;
}

static void write_late(struct gpu_watch *watch) {
    if (watch->late_from_t_ns == SHARED_ABSENT)
        return;
    write_gap(watch, watch->late_device, watch->late_from_t_ns, watch->late_to_t_ns,
              N_("a question to the GPU driver took long"), watch->late_count);
    watch->late_from_t_ns = SHARED_ABSENT;
}

static void take_late(struct gpu_watch *watch, const struct gpu_late_message *message) {
    int64_t from_t_ns = message->from_ns - watch->shared->start.mono_ns;
    int64_t to_t_ns = message->to_ns - watch->shared->start.mono_ns;
    const struct gpu_device *device =
        message->device >= 0 ? gpu_device_find(watch, (uint32_t)message->device) : NULL;
    int slot = device != NULL ? (int)gpu_device_slot(watch, device) : -1;
    if (to_t_ns <= 0 || to_t_ns < from_t_ns)
        return;
    from_t_ns = from_t_ns < 0 ? 0 : from_t_ns;
    /* This says of the silence what it was. */
    if (watch->unseen_t_ns != SHARED_ABSENT && from_t_ns - watch->unseen_t_ns < GAP_MIN_NS)
        watch->unseen_t_ns = SHARED_ABSENT;
    if (watch->late_from_t_ns != SHARED_ABSENT &&
        (watch->late_device != slot || from_t_ns - watch->late_to_t_ns > LATE_TOGETHER))
        write_late(watch);
    if (watch->late_from_t_ns == SHARED_ABSENT) {
        watch->late_from_t_ns = from_t_ns;
        watch->late_device = slot;
        watch->late_count = 0;
    }
    watch->late_to_t_ns = to_t_ns;
    watch->late_count++;
}

/* ---- messages ---- */

static void take_library(struct gpu_watch *watch, const struct gpu_library_message *message) {
    if (message->state < 0 || message->state >= GPU_LIBRARY_COUNT_)
        return;
    bool changed = !watch->has_library || watch->library.state != message->state ||
                   watch->library.device_count != message->device_count ||
                   watch->library.unwatched != message->unwatched;
    watch->library = *message;
    watch->has_library = true;
    watch->probe_written = watch->probe_written && !changed;
    if (message->state == GPU_LIBRARY_READY) {
        watch->was_ready = true;
        if (is_empty(watch))
            seen(watch, message->t_ns - watch->shared->start.mono_ns);
    } else if (!watch->was_ready) {
        watch->unseen_t_ns = SHARED_ABSENT; /* nothing was there to be seen */
    } else {
        not_seen(watch, message->state == GPU_LIBRARY_MISMATCH
                            ? N_("the GPU driver was exchanged during the run")
                            : N_("the GPU driver could not be used"));
    }
}

static bool differs(const struct gpu_device_message *a, const struct gpu_device_message *b) {
    struct gpu_device_message x = *a, y = *b;
    x.t_ns = y.t_ns = 0;
    x.used_bytes = y.used_bytes = 0;
    return memcmp(&x, &y, sizeof x) != 0;
}

static void set_lost(struct gpu_device *device, int64_t t_ns) {
    if (device->lost_t_ns == SHARED_ABSENT)
        device->lost_t_ns = t_ns;
    if (device->message.lost != 1) {
        device->message.lost = 1;
        gpu_device_changed(device);
    }
}

static void set_back(struct gpu_watch *watch, struct gpu_device *device, int64_t t_ns) {
    if (device->lost_t_ns != SHARED_ABSENT)
        write_gap(watch, (int)gpu_device_slot(watch, device), device->lost_t_ns, t_ns,
                  N_("the GPU does not answer any more"), 0);
    device->lost_t_ns = SHARED_ABSENT;
    if (device->message.lost == 1) {
        device->message.lost = 0;
        gpu_device_changed(device);
    }
}

static void take_device(struct gpu_watch *watch, const struct gpu_device_message *message) {
    int64_t t_ns = message->t_ns - watch->shared->start.mono_ns;
    struct gpu_device *device = gpu_device_take(watch, message);
    if (device == NULL)
        return;
    struct shared_gpu *gpu = &watch->shared->gpu[gpu_device_slot(watch, device)];
    if (!device->told || differs(&device->message, message)) {
        gpu_device_changed(device);
        watch->decide = true;
    }
    if (!device->told)
        device->lists = 0;
    device->told = true;
    device->message = *message;
    memcpy(device->why, message->why, sizeof device->why);
    if (t_ns <= 0 && gpu->baseline_bytes == SHARED_ABSENT && message->used_bytes != GPU_ABSENT)
        gpu->baseline_bytes = message->used_bytes;
    if (message->lost == 1)
        set_lost(device, t_ns > 0 ? t_ns : 0);
}

static void count_energy(struct shared_gpu *gpu, int64_t energy_mj) {
    if (energy_mj == GPU_ABSENT)
        return;
    if (gpu->energy_last_mj != SHARED_ABSENT) {
        int64_t so_far_mj = gpu->energy_mj != SHARED_ABSENT ? gpu->energy_mj : 0;
        /* A smaller count: the driver was loaded anew and began at 0. */
        int64_t more_mj =
            energy_mj >= gpu->energy_last_mj ? energy_mj - gpu->energy_last_mj : energy_mj;
        gpu->energy_mj = more_mj > INT64_MAX - so_far_mj ? INT64_MAX : so_far_mj + more_mj;
    }
    gpu->energy_last_mj = energy_mj;
}

/* GPU_ABSENT with GPU_READ: not asked in this round. */
static void note_why(struct gpu_device *device, enum gpu_device_item item, int32_t why,
                     int64_t value) {
    if (why != GPU_READ || value != GPU_ABSENT)
        device->why[item] = why;
}

static void take_sample(struct gpu_watch *watch, const struct gpu_sample_message *message) {
    struct gpu_device *device = gpu_device_find(watch, message->device);
    int64_t t_ns = message->answered_ns - watch->shared->start.mono_ns;
    if (device == NULL)
        return;
    size_t slot = gpu_device_slot(watch, device);
    struct shared_gpu *gpu = &watch->shared->gpu[slot];
    note_why(device, GPU_ITEM_MEMORY, message->memory_why, message->used_bytes);
    note_why(device, GPU_ITEM_POWER, message->power_why, message->power_mw);
    note_why(device, GPU_ITEM_ENERGY, message->energy_why, message->energy_mj);
    note_why(device, GPU_ITEM_CLOCKS, message->clock_why, message->clock_sm_mhz);
    note_why(device, GPU_ITEM_EVENTS, message->events_why, message->event_reasons);
    note_why(device, GPU_ITEM_ECC, message->ecc_why, message->ecc_uncorrected);
    if (message->ecc_uncorrected != GPU_ABSENT) {
        device->ecc_first =
            device->ecc_first == GPU_ABSENT ? message->ecc_uncorrected : device->ecc_first;
        device->ecc_last = message->ecc_uncorrected;
    }
    if (t_ns < 0 || (atomic_load(&watch->shared->ended) && t_ns > watch->shared->end.t_ns))
        return;
    if (watch->unseen_t_ns != SHARED_ABSENT)
        seen(watch, t_ns);
    watch->sample_t_ns = t_ns;
    if (message->memory_why == GPU_READ && message->used_bytes >= 0) {
        gpu->used_samples++;
        if (message->used_bytes > gpu->used_peak_bytes)
            gpu->used_peak_bytes = message->used_bytes;
        gpu_series_used(watch, slot, t_ns, message->used_bytes);
    }
    count_energy(gpu, message->energy_mj);
    int64_t values[] = {message->power_mw,      message->energy_mj,
                        message->clock_sm_mhz,  message->clock_memory_mhz,
                        message->event_reasons, message->ecc_uncorrected};
    gpu_rows_add(watch, GPU_ROWS_SECOND, slot, t_ns, values);
}

static void take_event(struct gpu_watch *watch, const struct gpu_event_message *message) {
    struct gpu_device *device = gpu_device_find(watch, message->device);
    int64_t t_ns = message->t_ns - watch->shared->start.mono_ns;
    if (device == NULL)
        return;
    if (message->event == GPU_EVENT_LOST)
        set_lost(device, t_ns > 0 ? t_ns : 0);
    else if (message->event == GPU_EVENT_BACK)
        set_back(watch, device, t_ns);
    bool is_incident = message->event == GPU_EVENT_XID || message->event == GPU_EVENT_ECC_DOUBLE ||
                       message->event == GPU_EVENT_LOST;
    if (!is_incident || watch->event_count == GPU_EVENTS_MAX)
        return;
    struct gpu_seen_event *event = &watch->events[watch->event_count++];
    *event = (struct gpu_seen_event){.device = (uint32_t)gpu_device_slot(watch, device),
                                     .event = message->event,
                                     .t_ns = t_ns,
                                     .data = message->data};
    memcpy(event->detail, message->detail, sizeof event->detail);
}

static void take_accounting(struct gpu_watch *watch, const struct gpu_accounting_message *message) {
    const struct gpu_device *device = gpu_device_find(watch, message->device);
    if (device == NULL || message->peak_bytes == GPU_ABSENT || watch->pids != GPU_PIDS_OURS ||
        !gpu_process_is_ours(watch, message->pid))
        return;
    struct shared_gpu *gpu = &watch->shared->gpu[gpu_device_slot(watch, device)];
    if (message->peak_bytes > gpu->accounted_peak_bytes)
        gpu->accounted_peak_bytes = message->peak_bytes;
}

static void take_windows(struct gpu_watch *watch, const struct gpu_windows_message *message) {
    struct gpu_device *device = gpu_device_find(watch, message->device);
    if (device == NULL)
        return;
    device->why[GPU_ITEM_UTILIZATION] = message->why;
    gpu_series_windows(watch, gpu_device_slot(watch, device), message);
}

static void take(const union gpu_message *any, void *context) {
    struct gpu_watch *watch = context;
    switch ((enum gpu_message_kind)any->head.kind) {
    case GPU_MESSAGE_LIBRARY:
        take_library(watch, &any->library);
        return;
    case GPU_MESSAGE_DEVICE:
        take_device(watch, &any->device);
        return;
    case GPU_MESSAGE_SAMPLE:
        take_sample(watch, &any->sample);
        return;
    case GPU_MESSAGE_PROCESSES: {
        struct gpu_device *device = gpu_device_find(watch, any->processes.device);
        if (device != NULL)
            gpu_processes_take(watch, device, &any->processes);
        return;
    }
    case GPU_MESSAGE_WINDOWS:
        take_windows(watch, &any->windows);
        return;
    case GPU_MESSAGE_EVENT:
        take_event(watch, &any->event);
        return;
    case GPU_MESSAGE_ACCOUNTING:
        take_accounting(watch, &any->accounting);
        return;
    case GPU_MESSAGE_LATE:
        take_late(watch, &any->late);
        return;
    case GPU_MESSAGE_DONE:
        watch->done = true;
        return;
    }
}

static void end_helper(struct gpu_watch *watch) {
    if (watch->helper != 0)
        kill(watch->helper, SIGKILL); /* it may hang in the driver: nobody waits */
}

static void read_helper(struct gpu_watch *watch) {
    while (watch->fd >= 0) {
        ssize_t got = gpu_stream_read(&watch->stream, watch->fd);
        if (got == -EAGAIN)
            return;
        if (got > 0) {
            watch->arrival_ns = clock_mono_ns();
            if (gpu_stream_take(&watch->stream, watch->shared->start.mono_ns, take, watch))
                continue;
            end_helper(watch);
        }
        fd_close_ptr(&watch->fd);
    }
}

/* ---- the helper's life ---- */

bool gpu_watch_ended(struct gpu_watch *watch, pid_t pid, int status, int64_t cpu_ns) {
    if (watch == NULL || pid != watch->helper)
        return false;
    watch->helper = 0;
    watch->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    watch->retry_ns = clock_mono_ns() + RETRY_NS;
    atomic_fetch_add(&watch->shared->cpu_reaped_ns[ROLE_GPU], cpu_ns);
    atomic_store(&watch->shared->cpu_live_ns[ROLE_GPU][0], 0);
    shared_remove_helper(watch->shared, pid);
    return true;
}

/* It cannot tell its own time: what we share is not shared with another program. */
static void publish_cpu(const struct gpu_watch *watch) {
    clockid_t clock;
    struct timespec used;
    if (watch->helper != 0 && clock_getcpuclockid(watch->helper, &clock) == 0 &&
        clock_gettime(clock, &used) == 0)
        atomic_store(&watch->shared->cpu_live_ns[ROLE_GPU][0],
                     (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec);
}

/* One that ended by itself with a word of why has nothing more to say. */
static void keep_helper(struct gpu_watch *watch) {
    if (watch->starts == 0 || watch->helper != 0 || watch->given_up)
        return;
    if (watch->exit_status == 0 || watch->exit_status == GPU_EXIT_NOT_STARTED ||
        watch->starts >= STARTS_MAX)
        watch->given_up = true;
    if (watch->was_ready)
        not_seen(watch, watch->given_up ? N_("the GPU helper had ended")
                                        : N_("the GPU helper had ended and was replaced"));
    if (!watch->given_up && clock_mono_ns() >= watch->retry_ns) {
        fd_close_ptr(&watch->fd);
        fd_close_ptr(&watch->hurry_fd);
        start_helper(watch);
    }
}

static void look_for_silence(struct gpu_watch *watch) {
    if (watch->helper != 0 && watch->was_ready && clock_mono_ns() - watch->arrival_ns >= SILENT_NS)
        not_seen(watch, N_("the GPU driver has not answered"));
    if (watch->late_from_t_ns != SHARED_ABSENT &&
        recorder_t_ns(watch->recorder) - watch->late_to_t_ns > FLUSH_NS)
        write_late(watch);
}

void gpu_watch_tick(struct gpu_watch *watch) {
    if (watch == NULL)
        return;
    read_helper(watch);
    keep_helper(watch);
    look_for_silence(watch);
    gpu_device_write_probe(watch, false);
    gpu_device_write(watch, false);
    publish_cpu(watch);
    if (clock_mono_ns() >= watch->flush_ns) {
        gpu_series_write(watch, false);
        watch->flush_ns = clock_mono_ns() + FLUSH_NS;
    }
}

/* ---- counters ---- */

static void put_read(json_t *json, const char *key, int64_t value, json_t *reasons, int32_t why) {
    if (value != SHARED_ABSENT) {
        json_put_int(json, key, value);
        return;
    }
    const char *reason = gpu_why_reason(why);
    json_put_text(reasons, key, reason != NULL ? reason : "not-sampled");
}

static json_t *counters_of(const struct gpu_watch *watch, size_t slot) {
    const struct shared_gpu *gpu = &watch->shared->gpu[slot];
    const int32_t *why = watch->device[slot].why;
    json_t *json = json_object(), *reasons = json_object();
    json_put_int(json, "device", (int64_t)slot);
    put_read(json, "used_peak_bytes", gpu->used_peak_bytes, reasons, why[GPU_ITEM_MEMORY]);
    if (gpu->used_samples > 0)
        json_put_int(json, "used_samples", gpu->used_samples);
    put_read(json, "process_peak_bytes", gpu->process_peak_bytes, reasons, why[GPU_ITEM_PROCESSES]);
    if (gpu->process_samples != SHARED_ABSENT)
        json_put_int(json, "process_samples", gpu->process_samples);
    if (gpu->accounted_peak_bytes != SHARED_ABSENT)
        json_put_int(json, "accounted_peak_bytes", gpu->accounted_peak_bytes);
    if (gpu->energy_mj > 0)
        json_put_real(json, "energy_j", (double)gpu->energy_mj / 1000);
    else if (gpu->energy_mj == 0) /* a board that answers uses some: the counter stands still */
        json_put_text(reasons, "energy_j", gpu_why_reason(GPU_FAILED));
    else
        put_read(json, "energy_j", SHARED_ABSENT, reasons, why[GPU_ITEM_ENERGY]);
    if (gpu->list_cut)
        json_put_bool(json, "list_cut", true);
    if (gpu->others == OTHERS_PRESENT || (gpu->others == OTHERS_NONE && !gpu->list_cut))
        json_put_bool(json, "others", gpu->others == OTHERS_PRESENT);
    if (gpu->left_bytes != SHARED_ABSENT)
        json_put_int(json, "left_bytes", gpu->left_bytes);
    if (gpu->left_count > 0) {
        json_t *pids = json_array();
        for (uint32_t i = 0; i < gpu->left_count && i < SHARED_LEFT_PIDS; i++)
            json_array_append_new(pids, json_integer(gpu->left_pids[i]));
        json_put(json, "left_pids", pids);
    }
    if (json_object_size(reasons) > 0)
        json_put(json, "reasons", reasons);
    else
        json_decref(reasons);
    return json;
}

json_t *gpu_watch_counters(const struct gpu_watch *watch) {
    size_t count = watch != NULL ? atomic_load(&watch->shared->gpu_count) : 0;
    if (count == 0)
        return NULL;
    json_t *list = json_array();
    for (size_t s = 0; s < count; s++)
        json_array_append_new(list, counters_of(watch, s));
    return list;
}

/* ---- the end ---- */

/* Where the driver tells an Xid it tells the number; of memory errors it only says that there was
 * one: how many the counter says, if it was read before and behind. */
static char *incident_words(const struct gpu_watch *watch, const struct gpu_seen_event *event,
                            json_t *figures) {
    const struct gpu_device *device = &watch->device[event->device];
    switch ((enum gpu_event)event->event) {
    case GPU_EVENT_XID:
        json_put_int(figures, "xid", event->data);
        return mem_printf("Xid %" PRId64, event->data);
    case GPU_EVENT_ECC_DOUBLE:
        if (device->ecc_first != GPU_ABSENT && device->ecc_last > device->ecc_first)
            json_put_int(figures, "ecc_uncorrected", device->ecc_last - device->ecc_first);
        return mem_strdup("uncorrectable ECC error of its memory");
    case GPU_EVENT_LOST:
    case GPU_EVENT_BACK:
        break;
    }
    return mem_strdup("lost");
}

static void write_incident(struct gpu_watch *watch, const struct gpu_seen_event *event) {
    const struct shared_end *end = &watch->shared->end;
    bool ended_ok = end->has_exit_code && end->exit_code == 0 && !end->budget;
    bool is_xid = event->event == GPU_EVENT_XID;
    char name[24];
    if (gpu_device_mine(watch, event->device).mine == GPU_MINE_NO)
        return;
    const char *device = gpu_device_name(watch, event->device, name);
    json_t *figures = json_object();
    json_put_text(figures, "device", device);
    json_put_int(figures, "t_ns", event->t_ns);
    AUTO_FREE char *what = incident_words(watch, event, figures);
    AUTO_FREE char *line =
        mem_printf("%s: %s%s%s", device, what, event->detail[0] != '\0' ? ": " : "", event->detail);
    recorder_write_incident(watch->recorder,
                            event->event == GPU_EVENT_LOST ? "gpu_lost" : "gpu_xid", "nvml", line,
                            figures, ended_ok || (is_xid && event->data == XID_CLEANED_UP));
}

/* False: nothing came in time, or nothing comes any more. */
static bool read_until(struct gpu_watch *watch, int64_t deadline_ns) {
    int64_t rest_ns = deadline_ns - clock_mono_ns();
    struct pollfd watched = {watch->fd, POLLIN, 0};
    if (watch->fd < 0 || watch->done || rest_ns <= 0)
        return false;
    poll(&watched, 1, (int)(rest_ns / NS_PER_MS) + 1);
    read_helper(watch);
    return true;
}

static void wait_for_lists(struct gpu_watch *watch) {
    int64_t deadline_ns = clock_mono_ns() + LEFT_WAIT_NS;
    while (gpu_processes_are_left(watch) && read_until(watch, deadline_ns))
        ;
}

/* A helper that hangs, or has nothing to look at, is not waited for at all. */
static void wait_for_round(struct gpu_watch *watch) {
    int64_t now_t_ns = recorder_t_ns(watch->recorder);
    bool answers = watch->helper != 0 && watch->sample_t_ns != SHARED_ABSENT &&
                   now_t_ns - watch->sample_t_ns <= ANSWERS_NS;
    while (answers && watch->hurried_ns != 0 &&
           read_until(watch, watch->hurried_ns + ROUND_WAIT_NS))
        ;
}

void gpu_watch_hurry(struct gpu_watch *watch) {
    if (watch == NULL || watch->hurry_fd < 0)
        return;
    ssize_t written = write(watch->hurry_fd, "!", 1);
    fd_close_ptr(&watch->hurry_fd); /* that alone would say it, too */
    (void)written;
    watch->hurried_ns = clock_mono_ns();
}

static const char *why_unseen(const struct gpu_watch *watch) {
    bool any = false;
    for (size_t i = 0; i < GPU_DEVICES_MAX; i++)
        any = any || watch->slot_of[i] >= 0;
    if (!watch->was_ready)
        return N_("the GPU driver has not answered");
    if (watch->sample_t_ns != SHARED_ABSENT || watch->unseen_t_ns > 0)
        return watch->unseen_reason;
    return any ? N_("none of the GPUs answered")
               : N_("the GPU driver counts GPUs, but shows none of them");
}

void gpu_watch_finish(struct gpu_watch *watch) {
    if (watch == NULL)
        return;
    int64_t end_t_ns = watch->shared->end.t_ns;
    gpu_watch_hurry(watch);
    read_helper(watch);
    wait_for_round(watch);
    wait_for_lists(watch);
    gpu_processes_finish(watch);
    if (watch->helper == 0 && watch->was_ready)
        not_seen(watch, N_("the GPU helper had ended"));
    if (watch->was_ready && watch->sample_t_ns != SHARED_ABSENT &&
        end_t_ns - watch->sample_t_ns >= GAP_MIN_NS)
        not_seen(watch, N_("the GPU driver has not answered"));
    write_late(watch);
    if (watch->starts > 0 && watch->unseen_t_ns != SHARED_ABSENT &&
        end_t_ns - watch->unseen_t_ns >= (watch->was_ready ? GAP_MIN_NS : SILENT_NS))
        write_gap(watch, -1, watch->unseen_t_ns, end_t_ns, why_unseen(watch), 0);
    if (watch->was_ready && watch->library.unwatched > 0)
        write_gap(watch, -1, 0, end_t_ns, N_("there are more GPUs than can be watched"),
                  watch->library.unwatched);
    for (size_t s = 0; s < atomic_load(&watch->shared->gpu_count); s++)
        if (watch->device[s].begun && watch->device[s].lost_t_ns != SHARED_ABSENT)
            write_gap(watch, (int)s, watch->device[s].lost_t_ns, end_t_ns,
                      N_("the GPU does not answer any more"), 0);
    gpu_device_write_probe(watch, true);
    gpu_device_write(watch, true);
    gpu_series_write(watch, true);
    for (size_t i = 0; i < watch->event_count; i++)
        write_incident(watch, &watch->events[i]);
    publish_cpu(watch);
    end_helper(watch);
    watch->given_up = true;
    recorder_reap(watch->recorder);
}
