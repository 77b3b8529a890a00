/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The devices that the helper tells of, whose they are, and their DEVICE records. A device is known
 * again by its UUID, whatever number a new helper gives it. Must not write a fact that was not
 * told: its key is absent and `reasons` says why.
 */
#include "exec/gpu-watch-parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_FOR_LIST_NS (2 * NS_PER_S) /* of processes, before a device is written */
/* So many lists without one of the run's, and so far apart: it did not use it. A list comes every
 * second, so three of them span two; half a second less shall not decide. */
#define LISTS_FOR_NONE 3u
#define BY_PROCESSES   "processes"
#define LOOKED_FOR_NS  (1500 * NS_PER_MS)
#define LAST_LIST_NS   (2500 * NS_PER_MS)

/* ---- which is which ---- */

static struct shared_gpu new_entry(const struct gpu_device_message *message) {
    struct shared_gpu gpu = {.known = true,
                             .baseline_bytes = SHARED_ABSENT,
                             .used_peak_bytes = SHARED_ABSENT,
                             .used_samples = 0,
                             .process_peak_bytes = SHARED_ABSENT,
                             .process_samples = SHARED_ABSENT,
                             .accounted_peak_bytes = SHARED_ABSENT,
                             .energy_mj = SHARED_ABSENT,
                             .energy_last_mj = SHARED_ABSENT,
                             .left_bytes = SHARED_ABSENT};
    static_assert(sizeof gpu.uuid == sizeof message->uuid, "one size");
    memcpy(gpu.uuid, message->uuid, sizeof gpu.uuid);
    return gpu;
}

/* Two devices of one helper are two, even where they have one UUID. */
static bool is_anothers(const struct gpu_watch *watch, int slot, uint32_t number) {
    for (uint32_t i = 0; i < GPU_DEVICES_MAX; i++)
        if (i != number && watch->slot_of[i] == slot)
            return true;
    return false;
}

/* By UUID; a device that tells none by its number. */
static int find_slot(const struct gpu_watch *watch, const struct gpu_device_message *message) {
    const struct shared *shared = watch->shared;
    uint32_t count = atomic_load(&shared->gpu_count);
    for (uint32_t i = 0; i < count && message->uuid[0] != '\0'; i++)
        if (strcmp(shared->gpu[i].uuid, message->uuid) == 0 &&
            !is_anothers(watch, (int)i, message->device))
            return (int)i;
    if (message->uuid[0] == '\0' && message->device < count &&
        (shared->gpu[message->device].uuid[0] == '\0' ||
         watch->slot_of[message->device] == (int)message->device))
        return (int)message->device;
    return -1;
}

struct gpu_device *gpu_device_take(struct gpu_watch *watch,
                                   const struct gpu_device_message *message) {
    struct shared *shared = watch->shared;
    if (message->device >= GPU_DEVICES_MAX)
        return NULL;
    int slot = find_slot(watch, message);
    if (slot < 0) {
        uint32_t count = atomic_load(&shared->gpu_count);
        if (count >= SHARED_GPUS)
            return NULL;
        slot = (int)count;
        shared->gpu[slot] = new_entry(message);
        atomic_store(&shared->gpu_count, count + 1);
    }
    watch->slot_of[message->device] = slot;
    struct gpu_device *device = &watch->device[slot];
    if (!device->begun)
        *device = (struct gpu_device){.list.t_ns = SHARED_ABSENT,
                                      .lost_t_ns = SHARED_ABSENT,
                                      .ecc_first = GPU_ABSENT,
                                      .ecc_last = GPU_ABSENT};
    device->begun = true;
    return device;
}

struct gpu_device *gpu_device_find(struct gpu_watch *watch, uint32_t number) {
    if (number >= GPU_DEVICES_MAX || watch->slot_of[number] < 0)
        return NULL;
    return &watch->device[watch->slot_of[number]];
}

size_t gpu_device_slot(const struct gpu_watch *watch, const struct gpu_device *device) {
    return (size_t)(device - watch->device);
}

const char *gpu_device_name(const struct gpu_watch *watch, size_t slot, char ret_text[24]) {
    const char *uuid = watch->shared->gpu[slot].uuid;
    bool is_first = true;
    for (size_t i = 0; i < slot && uuid[0] != '\0'; i++)
        is_first = is_first && strcmp(watch->shared->gpu[i].uuid, uuid) != 0;
    if (uuid[0] != '\0' && is_first)
        return uuid;
    snprintf(ret_text, 24, "%zu", slot);
    return ret_text;
}

void gpu_device_changed(struct gpu_device *device) {
    if (!device->dirty)
        device->dirty_since_ns = clock_mono_ns();
    device->dirty = true;
}

/* ---- whose ---- */

static int64_t known_or_none(int64_t value) {
    return value == GPU_ABSENT ? -1 : value;
}

/* A name of --gpu that stands for no device, or for several: known when all boards were told. */
static void note_names(struct gpu_watch *watch, const struct gpu_visible_device *devices,
                       size_t count) {
    const char *const *names = watch->recorder->options->gpus;
    size_t boards = 0;
    for (size_t i = 0; i < count; i++)
        boards += !devices[i].is_slice;
    if (!watch->was_ready || boards < watch->library.device_count)
        return;
    for (size_t i = 0; names != NULL && names[i] != NULL && i < GPU_NAMES_KEPT; i++) {
        enum gpu_named named = gpu_visible_named(devices, count, names[i]);
        enum gpu_named before = watch->names_known ? watch->named[i] : GPU_NAMED_ONE;
        bool changed = named != before; /* the library's record has to say so */
        watch->probe_written = watch->probe_written && !changed;
        watch->named[i] = named;
    }
    watch->names_known = names != NULL;
}

static void decide(struct gpu_watch *watch) {
    struct gpu_visible_device devices[GPU_DEVICES_MAX];
    struct gpu_visible_verdict verdicts[GPU_DEVICES_MAX];
    size_t place[GPU_DEVICES_MAX], count = 0;
    AUTO_STRBUF struct strbuf group = STRBUF_INIT;
    /* Rules for device files decide only where the driver has such files (not so in WSL). */
    bool has_group = access(GPU_CONTROL_FILE, F_OK) == 0 &&
                     gpu_visible_read_group(&root_real, &group) >= 0 && group.length > 0;
    size_t slots = atomic_load(&watch->shared->gpu_count);
    for (size_t s = 0; s < slots; s++) {
        const struct gpu_device_message *message = &watch->device[s].message;
        if (!watch->device[s].told)
            continue;
        devices[count] = (struct gpu_visible_device){
            .is_slice = message->kind == GPU_KIND_MIG,
            .is_divided = message->kind == GPU_KIND_BOARD && message->mig_mode == 1,
            .parent = -1,
            .index = known_or_none(message->index),
            .minor = known_or_none(message->minor),
            .gpu_instance = known_or_none(message->gpu_instance),
            .compute_instance = known_or_none(message->compute_instance),
            .uuid = message->uuid,
            .name = message->name,
            .allowed = -1};
        if (has_group && devices[count].minor >= 0)
            devices[count].allowed =
                gpu_visible_allows(strbuf_str(&group), devices[count].minor) ? 1 : 0;
        place[count++] = s;
    }
    for (size_t i = 0; i < count; i++) {
        const struct gpu_device_message *message = &watch->device[place[i]].message;
        const struct gpu_device *parent =
            message->parent >= 0 ? gpu_device_find(watch, (uint32_t)message->parent) : NULL;
        for (size_t b = 0; b < count && devices[i].is_slice && parent != NULL; b++)
            if (place[b] == gpu_device_slot(watch, parent))
                devices[i].parent = (int)b;
    }
    const struct recorder *recorder = watch->recorder;
    const struct gpu_visible_variables variables = {
        .cuda_visible = recorder_variable(recorder, "CUDA_VISIBLE_DEVICES"),
        .cuda_order = recorder_variable(recorder, "CUDA_DEVICE_ORDER"),
        .nvidia_visible = recorder_variable(recorder, "NVIDIA_VISIBLE_DEVICES"),
        .rocr_visible = recorder_variable(recorder, "ROCR_VISIBLE_DEVICES"),
        .hip_visible = recorder_variable(recorder, "HIP_VISIBLE_DEVICES"),
        .slurm_step = recorder_variable(recorder, "SLURM_STEP_GPUS"),
        .slurm_job = recorder_variable(recorder, "SLURM_JOB_GPUS")};
    gpu_visible(devices, count, &variables, recorder->options->gpus, verdicts);
    note_names(watch, devices, count);
    for (size_t i = 0; i < count; i++) {
        struct gpu_device *device = &watch->device[place[i]];
        device->said = verdicts[i];
    }
    watch->decide = false;
}

/* What the driver showed goes before what was said. That it never showed a process of the run says
 * something only where it could have, and where nothing else is known. */
struct gpu_visible_verdict gpu_device_mine(const struct gpu_watch *watch, size_t slot) {
    const struct gpu_device *device = &watch->device[slot];
    const struct shared *shared = watch->shared;
    bool is_divided = device->message.kind == GPU_KIND_BOARD && device->message.mig_mode == 1;
    if (shared->gpu[slot].used_by_run && !is_divided)
        return (struct gpu_visible_verdict){GPU_MINE_YES, BY_PROCESSES};
    if (device->said.mine == GPU_MINE_UNKNOWN && device->said.by == NULL &&
        atomic_load(&shared->ended) && watch->pids == GPU_PIDS_OURS &&
        device->lists >= LISTS_FOR_NONE && !shared->gpu[slot].list_cut &&
        device->list.t_ns - device->first_list_t_ns >= LOOKED_FOR_NS &&
        shared->end.t_ns - device->list.t_ns < LAST_LIST_NS)
        return (struct gpu_visible_verdict){GPU_MINE_NO, BY_PROCESSES};
    return device->said;
}

/* ---- the record of a device ---- */

/* UUID of a slice's board; "": a board, or not told. */
static const char *parent_of(const struct gpu_watch *watch,
                             const struct gpu_device_message *message) {
    bool has_parent = message->kind == GPU_KIND_MIG && message->parent >= 0 &&
                      message->parent < (int32_t)GPU_DEVICES_MAX &&
                      watch->slot_of[message->parent] >= 0;
    return has_parent ? watch->shared->gpu[watch->slot_of[message->parent]].uuid : "";
}

static void write_device(struct gpu_watch *watch, size_t slot) {
    static const char *const mine_names[] = {
        [GPU_MINE_UNKNOWN] = "unknown", [GPU_MINE_YES] = "yes", [GPU_MINE_NO] = "no"};
    struct gpu_device *device = &watch->device[slot];
    struct gpu_visible_verdict mine = gpu_device_mine(watch, slot);
    json_t *json = json_object();
    json_put_int(json, "device", (int64_t)slot);
    json_put_int(json, "t_ns", device->message.t_ns - watch->shared->start.mono_ns);
    gpu_facts_device(json, &device->message, parent_of(watch, &device->message),
                     watch->shared->gpu[slot].baseline_bytes);
    json_put_text(json, "mine", mine_names[mine.mine]);
    if (mine.by != NULL)
        json_put_text(json, "mine_by", mine.by);
    gpu_facts_reasons(json, device->message.why, device->why);
    if (!recorder_write(watch->recorder, JOURNAL_DEVICE, json, false))
        return;
    device->dirty = false;
    device->written = mine;
}

/* The first list of processes says more of a device than the device itself: it is waited for, a
 * while. */
void gpu_device_write(struct gpu_watch *watch, bool all) {
    size_t slots = atomic_load(&watch->shared->gpu_count);
    int64_t now_ns = clock_mono_ns();
    if (watch->decide)
        decide(watch);
    for (size_t s = 0; s < slots; s++) {
        struct gpu_device *device = &watch->device[s];
        struct gpu_visible_verdict mine = gpu_device_mine(watch, s);
        if (device->told && (mine.mine != device->written.mine || mine.by != device->written.by))
            gpu_device_changed(device);
        bool due = device->lists > 0 || device->message.why[GPU_ITEM_PROCESSES] != GPU_READ ||
                   now_ns - device->dirty_since_ns >= WAIT_FOR_LIST_NS;
        if (device->told && device->dirty && (due || all))
            write_device(watch, s);
    }
}

/* ---- the record of the library ---- */

/* Where no helper was started, what says that there is nothing to ask. */
static void put_not_asked(json_t *json, const struct gpu_watch *watch) {
    if (watch->excluded) {
        json_put_text(json, "reason", "not-applicable");
        json_put_text(json, "detail", "--gpu none");
    } else if (watch->starts == 0) {
        json_put_text(json, "state", gpu_facts_state(GPU_LIBRARY_ABSENT));
        if (watch->shown == GPU_DEVICES_NONE)
            json_put_int(json, "count", 0);
        else
            json_put_text(json, "detail", N_("only AMD devices are shown; they are not measured"));
    } else if (watch->exit_status == GPU_EXIT_NOT_STARTED) {
        json_put_text(json, "state", gpu_facts_state(GPU_LIBRARY_UNUSABLE));
        json_put_text(json, "detail", N_("the GPU helper cannot be executed here"));
    } else {
        json_put_text(json, "reason", "not-sampled");
        json_put_text(json, "detail",
                      watch->exit_status >= 0
                          ? N_("the GPU helper ended without an answer")
                          : N_("the run was over before the GPU driver had answered"));
    }
}

static void put_names(json_t *json, const struct gpu_watch *watch, const char *key,
                      enum gpu_named named) {
    const char *const *names = watch->recorder->options->gpus;
    json_t *list = json_array();
    for (size_t i = 0; names != NULL && names[i] != NULL && i < GPU_NAMES_KEPT; i++)
        if (watch->named[i] == named)
            json_array_append_new(list, json_text(names[i]));
    if (json_array_size(list) > 0)
        json_put(json, key, list);
    else
        json_decref(list);
}

void gpu_device_write_probe(struct gpu_watch *watch, bool last) {
    if (watch->decide) /* names of the option may turn out to be nobody's */
        decide(watch);
    bool is_final = watch->excluded || watch->starts == 0 || watch->has_library;
    if (watch->probe_written || (!is_final && !last))
        return;
    json_t *json = json_object();
    json_put_text(json, "probe", "nvml");
    json_put_int(json, "t_ns",
                 watch->has_library ? watch->library.t_ns - watch->shared->start.mono_ns
                                    : recorder_t_ns(watch->recorder));
    if (watch->has_library)
        gpu_facts_library(json, &watch->library, watch->shown == GPU_DEVICES_NONE);
    else
        put_not_asked(json, watch);
    if (watch->names_known) {
        put_names(json, watch, "not_found", GPU_NAMED_NONE);
        put_names(json, watch, "ambiguous", GPU_NAMED_SEVERAL);
    }
    watch->probe_written = recorder_write(watch->recorder, JOURNAL_DEVICE, json, false);
}
