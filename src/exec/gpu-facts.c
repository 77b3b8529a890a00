/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the GPU helper told as JSON of the record (DEVICE, docs/journal-format.md), for the watch of
 * a run and for a single look. A fact that was not told has no key; `reasons` says why.
 */
#include "exec/gpu-facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *gpu_why_reason(int32_t why) {
    static const char *const reasons[GPU_WHY_COUNT_] = {
        [GPU_READ] = NULL,
        [GPU_NOT_SUPPORTED] = "not-supported",
        [GPU_NOT_PERMITTED] = "not-permitted",
        [GPU_NOT_VISIBLE] = "not-visible",
        [GPU_NOT_IN_LIBRARY] = "not-supported",
        [GPU_SENTINEL] = "failed",
        [GPU_UNIFIED] = "not-supported",
        [GPU_LOST] = "failed",
        [GPU_DRIVER_MISMATCH] = "failed",
        [GPU_FAILED] = "failed",
    };
    return why < 0 || why >= GPU_WHY_COUNT_ ? "failed" : reasons[why];
}

static void put_told(json_t *json, const char *key, const char *text) {
    if (text[0] != '\0')
        json_put_text(json, key, text);
}

static void put_read(json_t *json, const char *key, int64_t value) {
    if (value != GPU_ABSENT)
        json_put_int(json, key, value);
}

static void put_switch(json_t *json, const char *key, int64_t value) {
    if (value == 0 || value == 1)
        json_put_bool(json, key, value == 1);
}

static void put_virtual(json_t *json, int32_t mode) {
    switch ((enum gpu_virtual)mode) {
    case GPU_VIRTUAL_PASSTHROUGH:
        json_put_text(json, "virtual", "passthrough");
        break;
    case GPU_VIRTUAL_VGPU:
        json_put_text(json, "virtual", "vgpu");
        break;
    case GPU_VIRTUAL_WSL:
        json_put_text(json, "virtual", "wsl");
        break;
    case GPU_VIRTUAL_UNKNOWN:
    case GPU_VIRTUAL_NONE:
        break;
    }
}

void gpu_facts_reasons(json_t *json, const int32_t why[GPU_ITEM_COUNT_],
                       const int32_t later[GPU_ITEM_COUNT_]) {
    static const char *const names[GPU_ITEM_COUNT_] = {
        [GPU_ITEM_MEMORY] = "memory",
        [GPU_ITEM_PROCESSES] = "processes",
        [GPU_ITEM_UTILIZATION] = "utilization",
        [GPU_ITEM_POWER] = "power",
        [GPU_ITEM_ENERGY] = "energy",
        [GPU_ITEM_CLOCKS] = "clocks",
        [GPU_ITEM_EVENTS] = "events",
        [GPU_ITEM_ECC] = "ecc",
        [GPU_ITEM_ACCOUNTING] = "accounting",
        [GPU_ITEM_NAME] = "name",
        [GPU_ITEM_UUID] = "uuid",
    };
    json_t *reasons = json_object();
    for (size_t i = 0; i < GPU_ITEM_COUNT_; i++) {
        const char *reason = gpu_why_reason(why[i]);
        if (reason != NULL)
            json_put_text(reasons, names[i], reason);
    }
    if (later != NULL && why[GPU_ITEM_PROCESSES] == GPU_READ &&
        later[GPU_ITEM_PROCESSES] != GPU_READ)
        json_put_text(reasons, names[GPU_ITEM_PROCESSES],
                      gpu_why_reason(later[GPU_ITEM_PROCESSES]));
    if (json_object_size(reasons) > 0)
        json_put(json, "reasons", reasons);
    else
        json_decref(reasons);
}

static void put_identity(json_t *json, const struct gpu_device_message *message,
                         const char *parent) {
    bool slice = message->kind == GPU_KIND_MIG;
    json_put_text(json, "kind", slice ? "mig" : "gpu");
    put_told(json, "uuid", message->uuid);
    put_read(json, "index", message->index);
    put_read(json, "minor", message->minor);
    put_told(json, "bus_id", message->bus_id);
    put_told(json, "name", message->name);
    put_told(json, "parent", parent);
    if (slice) {
        put_read(json, "gpu_instance", message->gpu_instance);
        put_read(json, "compute_instance", message->compute_instance);
    }
}

static void put_facts(json_t *json, const struct gpu_device_message *message,
                      int64_t baseline_bytes) {
    put_read(json, "total_bytes", message->total_bytes);
    put_read(json, "reserved_bytes", message->reserved_bytes);
    put_read(json, "baseline_bytes", baseline_bytes);
    if (message->total_bytes != GPU_ABSENT) /* also of a board that is lost by now */
        json_put_text(json, "memory_method",
                      message->memory_api >= 2 ? "nvmlDeviceGetMemoryInfo_v2"
                                               : "nvmlDeviceGetMemoryInfo");
    put_switch(json, "unified", message->unified);
    put_virtual(json, message->virtual_mode);
    put_switch(json, "mig", message->mig_mode);
    if (message->capability_major != GPU_ABSENT && message->capability_minor != GPU_ABSENT) {
        char capability[48];
        snprintf(capability, sizeof capability, "%" PRId64 ".%" PRId64, message->capability_major,
                 message->capability_minor);
        json_put_text(json, "compute_capability", capability);
    }
    if (message->power_limit_mw != GPU_ABSENT)
        json_put_real(json, "power_limit_w", (double)message->power_limit_mw / 1000);
    put_switch(json, "ecc", message->ecc_enabled);
    put_switch(json, "persistence", message->persistence);
    if (message->lost == 1)
        json_put_bool(json, "lost", true);
    if (strcasestr(message->name, "stand-in") != NULL)
        json_put_bool(json, "stand_in", true);
    put_told(json, "detail", message->detail);
}

void gpu_facts_device(json_t *json, const struct gpu_device_message *message, const char *parent,
                      int64_t baseline_bytes) {
    put_identity(json, message, parent);
    put_facts(json, message, baseline_bytes);
}

const char *gpu_facts_state(int32_t state) {
    static const char *const names[GPU_LIBRARY_COUNT_] = {
        [GPU_LIBRARY_READY] = "ready",
        [GPU_LIBRARY_ABSENT] = "absent",
        [GPU_LIBRARY_NO_DRIVER] = "no-driver",
        [GPU_LIBRARY_MISMATCH] = "mismatch",
        [GPU_LIBRARY_NO_PERMISSION] = "no-permission",
        [GPU_LIBRARY_UNUSABLE] = "unusable",
    };
    return state < 0 || state >= GPU_LIBRARY_COUNT_ ? "unusable" : names[state];
}

void gpu_facts_library(json_t *json, const struct gpu_library_message *library, bool none_shown) {
    json_put_text(json, "state", gpu_facts_state(library->state));
    if (library->state == GPU_LIBRARY_READY)
        json_put_int(json, "count", library->device_count);
    else if (library->state == GPU_LIBRARY_ABSENT && none_shown)
        json_put_int(json, "count", 0);
    if (library->state == GPU_LIBRARY_READY && library->unwatched > 0)
        json_put_int(json, "unwatched", library->unwatched);
    put_told(json, "driver", library->driver);
    put_told(json, "library", library->library);
    if (library->cuda != GPU_ABSENT && library->cuda > 0) {
        char cuda[48];
        snprintf(cuda, sizeof cuda, "%" PRId64 ".%" PRId64, library->cuda / 1000,
                 library->cuda % 1000 / 10);
        json_put_text(json, "cuda", cuda);
    }
    put_told(json, "path", library->path);
    put_told(json, "detail", library->detail);
}
