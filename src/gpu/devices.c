/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which boards and slices there are, and their facts. A device keeps its number within the run by
 * its UUID; one that fails is a device with a reason, and hides no other.
 */
#include "gpu/watch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { AGAIN_SECONDS = 60, LOST_SECONDS = 10, SLICES_MAX = GPU_DEVICES_MAX };

uint32_t device_number(const struct watch *watch, const struct device *device) {
    return (uint32_t)(device - watch->device);
}

bool item_due(const struct device *device, enum gpu_device_item item) {
    return device->item[item].ask_ns <= mono_ns();
}

enum gpu_why item_answered(struct device *device, enum gpu_device_item item, int code) {
    enum gpu_why why = gpu_why_of_code(code);
    /* A slice has no answers of its own for what its board is asked. */
    if (device->facts.kind == GPU_KIND_MIG && code == NVML_INVALID_ARGUMENT) {
        why = GPU_NOT_SUPPORTED;
    }
    device->item[item].why = why;
    device->item[item].ask_ns = gpu_why_is_lasting(why) ? mono_ns() + AGAIN_SECONDS * SECOND_NS : 0;
    return why;
}

/* Sent when anything differs from what was sent last; the time of the look is no difference. */
void device_tell(struct watch *watch, struct device *device) {
    struct gpu_device_message *facts = &device->facts;
    facts->head.kind = GPU_MESSAGE_DEVICE;
    facts->head.size = sizeof *facts;
    facts->device = device_number(watch, device);
    for (int i = 0; i < GPU_ITEM_COUNT_; i++) {
        facts->why[i] = (int32_t)device->item[i].why;
    }
    facts->t_ns = device->sent.t_ns;
    if (!device->told || memcmp(facts, &device->sent, sizeof *facts) != 0) {
        facts->t_ns = mono_ns();
        device->sent = *facts;
        device->told = true;
        out_send(&watch->out, &device->sent, sizeof device->sent);
    }
}

void device_is_lost(struct watch *watch, struct device *device, int code) {
    device->memory_ns = mono_ns() + LOST_SECONDS * SECOND_NS;
    for (int i = 0; i < GPU_ITEM_COUNT_; i++) {
        bool kept = (i == GPU_ITEM_NAME && device->facts.name[0] != '\0') ||
                    (i == GPU_ITEM_UUID && device->facts.uuid[0] != '\0');
        device->item[i] = (struct item){.why = kept ? GPU_READ : GPU_LOST};
    }
    if (device->facts.lost == 1) {
        return;
    }
    device->facts.lost = 1;
    snprintf(device->facts.detail, sizeof device->facts.detail, "%s", nvml_code_name(code));
    event_tell(watch, device, GPU_EVENT_LOST, code, nvml_code_name(code));
}

void device_is_back(struct watch *watch, struct device *device) {
    device->facts.lost = 0;
    device->facts.detail[0] = '\0';
    device->slow_ns = 0; /* everything is asked again at once */
    device->window_us = 0;
    device->windows_ns = 0;
    event_tell(watch, device, GPU_EVENT_BACK, 0, "");
}

/* NULL: there is no room for it, which is counted. */
static struct device *device_add(struct watch *watch, int kind, int parent) {
    if (watch->count >= GPU_DEVICES_MAX) {
        watch->unwatched++;
        return NULL;
    }
    struct device *device = &watch->device[watch->count++];
    memset(device, 0, sizeof *device);
    device->facts = (struct gpu_device_message){
        .kind = kind,
        .parent = parent,
        .unified = -1,
        .mig_mode = -1,
        .persistence = -1,
        .index = GPU_ABSENT,
        .minor = GPU_ABSENT,
        .gpu_instance = GPU_ABSENT,
        .compute_instance = GPU_ABSENT,
        .total_bytes = GPU_ABSENT,
        .reserved_bytes = GPU_ABSENT,
        .used_bytes = GPU_ABSENT,
        .power_limit_mw = GPU_ABSENT,
        .capability_major = GPU_ABSENT,
        .capability_minor = GPU_ABSENT,
        .ecc_enabled = GPU_ABSENT,
    };
    return device;
}

/* The known device of this UUID; without one, the one of this index whose UUID was never read. One
 * that was met in this look already is another device, whatever it calls itself. */
static struct device *device_known(struct watch *watch, int kind, const char *uuid, int64_t index) {
    for (uint32_t i = 0; i < watch->count; i++) {
        struct device *device = &watch->device[i];
        bool same = uuid[0] != '\0' && strcmp(device->facts.uuid, uuid) == 0;
        bool unnamed = kind == GPU_KIND_BOARD && device->facts.index == index &&
                       (uuid[0] == '\0' || device->facts.uuid[0] == '\0');
        if (device->facts.kind == kind && !device->seen && (same || unnamed)) {
            return device;
        }
    }
    return NULL;
}

/* Facts that no driver changes while it runs. */
static void ask_identity(struct watch *watch, struct device *device) {
    struct gpu_device_message *facts = &device->facts;
    nvml_device handle = device->handle;
    item_answered(device, GPU_ITEM_NAME,
                  ASK(watch, device, DeviceGetName, handle, facts->name, NVML_TEXT));
    facts->name[GPU_TEXT - 1] = '\0';
    int major = 0, minor = 0;
    if (ASK(watch, device, DeviceGetCudaComputeCapability, handle, &major, &minor) ==
            NVML_SUCCESS &&
        major > 0 && major < 100 && minor >= 0 && minor < 100) {
        facts->capability_major = major;
        facts->capability_minor = minor;
    }
    unsigned id = 0;
    if (facts->kind == GPU_KIND_MIG) {
        if (ASK(watch, device, DeviceGetGpuInstanceId, handle, &id) == NVML_SUCCESS) {
            facts->gpu_instance = id;
        }
        if (ASK(watch, device, DeviceGetComputeInstanceId, handle, &id) == NVML_SUCCESS) {
            facts->compute_instance = id;
        }
        return;
    }
    enum gpu_why why = gpu_why_of_code(ASK(watch, device, DeviceGetMinorNumber, handle, &id));
    facts->minor = gpu_checked(id, GPU_PID_BELIEVED, &why);
    struct {
        struct nvml_pci pci;
        char more[256]; /* calls of another generation may write a longer struct */
    } place = {0};
    if (ASK(watch, device, DeviceGetPciInfo_v3, handle, &place.pci) == NVML_SUCCESS) {
        snprintf(facts->bus_id, sizeof facts->bus_id, "%.31s", place.pci.bus_id);
    } else if (ASK(watch, device, DeviceGetPciInfo_v2, handle, &place.pci) == NVML_SUCCESS ||
               ASK(watch, device, DeviceGetPciInfo, handle, &place.pci) == NVML_SUCCESS) {
        snprintf(facts->bus_id, sizeof facts->bus_id, "%.15s", place.pci.bus_id_legacy);
    }
}

static enum gpu_virtual virtual_mode(struct watch *watch, struct device *device) {
    unsigned mode = 0;
    if (watch->around == GPU_VIRTUAL_WSL) {
        return GPU_VIRTUAL_WSL;
    }
    if (ASK(watch, device, DeviceGetVirtualizationMode, device->handle, &mode) != NVML_SUCCESS) {
        return GPU_VIRTUAL_UNKNOWN;
    }
    switch (mode) {
    case NVML_VIRTUALIZATION_NONE:
        return GPU_VIRTUAL_NONE;
    case NVML_VIRTUALIZATION_PASSTHROUGH:
        return GPU_VIRTUAL_PASSTHROUGH;
    case NVML_VIRTUALIZATION_VGPU:
        return GPU_VIRTUAL_VGPU;
    default:
        return GPU_VIRTUAL_UNKNOWN; /* a host that lends its board */
    }
}

/* Facts that an administrator may change. */
static void ask_modes(struct watch *watch, struct device *device) {
    struct gpu_device_message *facts = &device->facts;
    nvml_device handle = device->handle;
    unsigned now = 0, later = 0;
    if (facts->kind == GPU_KIND_MIG) {
        const struct gpu_device_message *board = &watch->device[facts->parent].facts;
        facts->virtual_mode = board->virtual_mode;
        facts->index = board->index;
        facts->minor = board->minor;
        memcpy(facts->bus_id, board->bus_id, sizeof facts->bus_id);
        return;
    }
    facts->virtual_mode = (int32_t)virtual_mode(watch, device);
    int code = ASK(watch, device, DeviceGetMigMode, handle, &now, &later);
    facts->mig_mode = code == NVML_SUCCESS ? now == 1 : code == NVML_NOT_SUPPORTED ? 0 : -1;
    code = ASK(watch, device, DeviceGetPersistenceMode, handle, &now);
    facts->persistence = code == NVML_SUCCESS ? now == 1 : -1;
    code = ASK(watch, device, DeviceGetEccMode, handle, &now, &later);
    facts->ecc_enabled = code == NVML_SUCCESS ? now == 1 : GPU_ABSENT;
    enum gpu_why why =
        gpu_why_of_code(ASK(watch, device, DeviceGetEnforcedPowerLimit, handle, &now));
    facts->power_limit_mw = gpu_checked(now, GPU_POWER_BELIEVED, &why);
}

/* Memory at this moment: size, and what is in use before anything of the run is seen. */
static void ask_memory(struct watch *watch, struct device *device, bool first) {
    struct gpu_device_message *facts = &device->facts;
    struct memory memory;
    memory_read(watch, device, &memory);
    if (memory.why == GPU_READ) {
        facts->total_bytes = memory.total_bytes;
        facts->reserved_bytes = memory.reserved_bytes;
        facts->used_bytes = first ? memory.used_bytes : facts->used_bytes;
        facts->unified = 0;
    } else if (memory.why == GPU_UNIFIED) {
        facts->unified = 1;
    }
    if (memory.why == GPU_LOST) {
        device_is_lost(watch, device, memory.code);
    } else if (facts->lost == 1) {
        device_is_back(watch, device);
    }
}

/* Reads the facts of a device that has a handle. */
static void device_ask(struct watch *watch, struct device *device, bool again) {
    bool first = !device->asked;
    if (first || again) {
        ask_identity(watch, device);
    }
    ask_modes(watch, device);
    if (first || again || device->facts.lost == 1) {
        ask_memory(watch, device, first);
    }
    device->asked = true;
    if (device->facts.kind == GPU_KIND_MIG) { /* kept for boards only */
        device->item[GPU_ITEM_ACCOUNTING].why = GPU_NOT_SUPPORTED;
    }
    if (first || again) {
        device->window_us = 0;
        device->windows_ns = 0;
        device->has_events = false;
        device->slow_ns = 0;
    }
    if (!device->has_events && device->facts.kind == GPU_KIND_BOARD) {
        events_register(watch, device);
    }
}

static void slices_find(struct watch *watch, struct device *board, bool again) {
    unsigned max = 0;
    if (board->facts.mig_mode != 1 || board->handle == NULL ||
        ASK(watch, board, DeviceGetMaxMigDeviceCount, board->handle, &max) != NVML_SUCCESS) {
        return;
    }
    for (unsigned i = 0; i < max && i < SLICES_MAX; i++) {
        nvml_device handle = NULL;
        char uuid[GPU_TEXT] = "";
        if (ASK(watch, board, DeviceGetMigDeviceHandleByIndex, board->handle, i, &handle) !=
                NVML_SUCCESS ||
            ASK(watch, board, DeviceGetUUID, handle, uuid, NVML_TEXT) != NVML_SUCCESS) {
            continue;
        }
        struct device *slice = device_known(watch, GPU_KIND_MIG, uuid, GPU_ABSENT);
        if (slice == NULL) {
            slice = device_add(watch, GPU_KIND_MIG, (int)device_number(watch, board));
        }
        if (slice != NULL) {
            bool new_handle = again || slice->handle != handle;
            slice->handle = handle;
            slice->seen = true;
            snprintf(slice->facts.uuid, sizeof slice->facts.uuid, "%s", uuid);
            device_ask(watch, slice, new_handle);
        }
    }
}

static void board_failed(struct watch *watch, struct device *board, int code) {
    enum gpu_why why = gpu_why_of_code(code);
    board->handle = NULL;
    if (why == GPU_LOST || board->asked) { /* one that has answered before */
        device_is_lost(watch, board, code);
        return;
    }
    for (int i = 0; i < GPU_ITEM_COUNT_; i++) {
        board->item[i].why = why;
    }
    snprintf(board->facts.detail, sizeof board->facts.detail, "%s", nvml_code_name(code));
}

static void board_find(struct watch *watch, unsigned index, bool again) {
    nvml_device handle = NULL;
    char uuid[GPU_TEXT] = "";
    int code = watch->nvml.call.DeviceGetHandleByIndex_v2 != NULL
                   ? ASK(watch, NULL, DeviceGetHandleByIndex_v2, index, &handle)
                   : ASK(watch, NULL, DeviceGetHandleByIndex, index, &handle);
    int uuid_code =
        code == NVML_SUCCESS ? ASK(watch, NULL, DeviceGetUUID, handle, uuid, NVML_TEXT) : code;
    uuid[GPU_TEXT - 1] = '\0';
    struct device *board =
        device_known(watch, GPU_KIND_BOARD, uuid_code == NVML_SUCCESS ? uuid : "", index);
    if (board == NULL && (board = device_add(watch, GPU_KIND_BOARD, -1)) == NULL) {
        return;
    }
    board->seen = true;
    board->facts.index = index;
    item_answered(board, GPU_ITEM_UUID, uuid_code);
    if (code != NVML_SUCCESS || handle == NULL) {
        board_failed(watch, board, code != NVML_SUCCESS ? code : NVML_NOT_FOUND);
        return;
    }
    bool new_handle = again || board->handle != handle;
    board->handle = handle;
    if (uuid_code == NVML_SUCCESS) {
        snprintf(board->facts.uuid, sizeof board->facts.uuid, "%s", uuid);
    }
    device_ask(watch, board, new_handle);
}

void devices_find(struct watch *watch, bool again) {
    unsigned count = 0;
    int code = watch->nvml.call.DeviceGetCount_v2 != NULL
                   ? ASK(watch, NULL, DeviceGetCount_v2, &count)
                   : ASK(watch, NULL, DeviceGetCount, &count);
    watch->refresh_ns = mono_ns() + LOST_SECONDS * SECOND_NS;
    if (code != NVML_SUCCESS) {
        return;
    }
    for (uint32_t i = 0; i < watch->count; i++) {
        watch->device[i].seen = false;
    }
    watch->unwatched = count > GPU_DEVICES_MAX ? count - GPU_DEVICES_MAX : 0;
    for (unsigned i = 0; i < count && i < GPU_DEVICES_MAX && watch->lost == GPU_LIBRARY_READY;
         i++) {
        board_find(watch, i, again);
    }
    /* Only then, so that slices take no board's place. */
    uint32_t boards = watch->count;
    for (uint32_t i = 0; i < boards && watch->lost == GPU_LIBRARY_READY; i++) {
        if (watch->device[i].facts.kind == GPU_KIND_BOARD && watch->device[i].seen) {
            slices_find(watch, &watch->device[i], again);
        }
    }
    for (uint32_t i = 0; i < watch->count && watch->lost == GPU_LIBRARY_READY; i++) {
        if (!watch->device[i].seen) {
            watch->device[i].handle = NULL;
            device_is_lost(watch, &watch->device[i], NVML_GPU_NOT_FOUND);
        }
    }
}
