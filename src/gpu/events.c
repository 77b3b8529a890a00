/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the driver reports by itself: Xid numbers and double-bit ECC errors. Asked without waiting;
 * a machine that has no such events (WSL, vGPU) is silent about them.
 */
#include "gpu/watch.h"

#include <stdio.h>
#include <string.h>

enum { EVENTS_AT_ONCE = 32 };

void event_tell(struct watch *watch, struct device *device, enum gpu_event event, int64_t data,
                const char *detail) {
    if (!device->told) {
        return; /* what DEVICE will say is all there is to know */
    }
    struct gpu_event_message message = {
        .head.kind = GPU_MESSAGE_EVENT,
        .device = device_number(watch, device),
        .event = (int32_t)event,
        .t_ns = mono_ns(),
        .data = data,
    };
    snprintf(message.detail, sizeof message.detail, "%s", detail);
    out_send(&watch->out, &message, sizeof message);
}

void events_open(struct watch *watch) {
    watch->events = NULL;
    if (ASK(watch, NULL, EventSetCreate, &watch->events) != NVML_SUCCESS) {
        watch->events = NULL;
    }
}

void events_forget(struct watch *watch) {
    if (watch->events != NULL) {
        (void)ASK(watch, NULL, EventSetFree, watch->events);
    }
    watch->events = NULL;
}

void events_register(struct watch *watch, struct device *device) {
    unsigned long long types = 0;
    if (watch->events == NULL ||
        ASK(watch, device, DeviceGetSupportedEventTypes, device->handle, &types) != NVML_SUCCESS) {
        return;
    }
    types &= NVML_EVENT_XID | NVML_EVENT_DOUBLE_BIT_ECC;
    device->has_events = types != 0 && ASK(watch, device, DeviceRegisterEvents, device->handle,
                                           types, watch->events) == NVML_SUCCESS;
}

/* The slice that the event names, else the board; NULL: neither is known. */
static struct device *device_of(struct watch *watch, const struct nvml_event *event) {
    struct device *board = NULL;
    for (uint32_t i = 0; i < watch->count; i++) {
        if (watch->device[i].handle == event->device && event->device != NULL) {
            board = &watch->device[i];
        }
    }
    for (uint32_t i = 0; board != NULL && i < watch->count; i++) {
        const struct gpu_device_message *facts = &watch->device[i].facts;
        if (facts->kind == GPU_KIND_MIG && facts->parent == (int)device_number(watch, board) &&
            facts->gpu_instance == (int64_t)event->gpu_instance) {
            return &watch->device[i];
        }
    }
    return board;
}

void events_take(struct watch *watch) {
    if (watch->events == NULL || watch->events_ns > mono_ns()) {
        return;
    }
    watch->events_ns = mono_ns() + SECOND_NS - watch->interval_ns / 2;
    for (int i = 0; i < EVENTS_AT_ONCE; i++) {
        struct nvml_event event = {.gpu_instance = NVML_INSTANCE_NONE,
                                   .compute_instance = NVML_INSTANCE_NONE};
        int code = watch->nvml.call.EventSetWait_v2 != NULL
                       ? ASK(watch, NULL, EventSetWait_v2, watch->events, &event, 0)
                       : ASK(watch, NULL, EventSetWait, watch->events, &event, 0);
        struct device *device = code == NVML_SUCCESS ? device_of(watch, &event) : NULL;
        if (code != NVML_SUCCESS) {
            return;
        }
        if (device != NULL && event.type == NVML_EVENT_XID) {
            event_tell(watch, device, GPU_EVENT_XID, (int64_t)event.data, "");
        } else if (device != NULL && event.type == NVML_EVENT_DOUBLE_BIT_ECC) {
            event_tell(watch, device, GPU_EVENT_ECC_DOUBLE, (int64_t)event.data, "");
        }
    }
}
