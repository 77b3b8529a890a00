/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What changes: memory at each tick; power, energy, clocks, event reasons, ECC, processes and
 * utilization once a second, the boards spread over the second so that no query waits for all
 * others.
 */
#include "gpu/watch.h"

#include <string.h>
#include <time.h>

enum { SAMPLES_MAX = 512 };

static int ask_memory_v2(struct watch *watch, struct device *device, struct memory *memory) {
    struct nvml_memory_v2 answer = {.version = NVML_STRUCT_VERSION(struct nvml_memory_v2, 2)};
    int code = ASK(watch, device, DeviceGetMemoryInfo_v2, device->handle, &answer);
    if (code == NVML_SUCCESS) {
        device->facts.memory_api = 2;
        memory->why = gpu_memory_check(answer.total, answer.used);
        memory->total_bytes = gpu_checked(answer.total, GPU_BYTES_BELIEVED, &memory->why);
        memory->used_bytes = gpu_checked(answer.used, GPU_BYTES_BELIEVED, &memory->why);
        enum gpu_why why = memory->why;
        memory->reserved_bytes = gpu_checked(answer.reserved, answer.total, &why);
    }
    return code;
}

static int ask_memory_v1(struct watch *watch, struct device *device, struct memory *memory) {
    struct nvml_memory_v1 answer = {0};
    int code = ASK(watch, device, DeviceGetMemoryInfo, device->handle, &answer);
    if (code == NVML_SUCCESS) {
        device->facts.memory_api = 1;
        memory->why = gpu_memory_check(answer.total, answer.used);
        memory->total_bytes = gpu_checked(answer.total, GPU_BYTES_BELIEVED, &memory->why);
        memory->used_bytes = gpu_checked(answer.used, GPU_BYTES_BELIEVED, &memory->why);
    }
    return code;
}

/* Why a board of its own kind has no memory to tell of: the memory is the host's. */
static enum gpu_why unified_or(const struct device *device, enum gpu_why why) {
    const struct gpu_device_message *facts = &device->facts;
    bool plain = facts->kind == GPU_KIND_BOARD && facts->virtual_mode != GPU_VIRTUAL_VGPU &&
                 facts->virtual_mode != GPU_VIRTUAL_WSL;
    bool integrated = gpu_name_is_integrated(facts->name);
    if ((why == GPU_NOT_SUPPORTED && plain) || (why == GPU_READ && integrated)) {
        return GPU_UNIFIED;
    }
    return why;
}

void memory_read(struct watch *watch, struct device *device, struct memory *ret) {
    *ret = (struct memory){
        .total_bytes = GPU_ABSENT, .used_bytes = GPU_ABSENT, .reserved_bytes = GPU_ABSENT};
    ret->asked_ns = mono_ns();
    ret->code =
        device->facts.memory_api == 1 ? NVML_FUNCTION_NOT_FOUND : ask_memory_v2(watch, device, ret);
    if (ret->code == NVML_FUNCTION_NOT_FOUND || ret->code == NVML_ARGUMENT_VERSION_MISMATCH ||
        ret->code == NVML_INVALID_ARGUMENT || ret->code == NVML_NOT_SUPPORTED) {
        ret->code = ask_memory_v1(watch, device, ret);
    }
    ret->answered_ns = mono_ns();
    if (ret->code != NVML_SUCCESS) {
        ret->why = gpu_why_of_code(ret->code);
    }
    ret->why = unified_or(device, ret->why);
    if (ret->why != GPU_READ) {
        ret->total_bytes = ret->used_bytes = ret->reserved_bytes = GPU_ABSENT;
    }
    struct item *item = &device->item[GPU_ITEM_MEMORY];
    item->why = ret->why;
    item->ask_ns = gpu_why_is_lasting(ret->why) ? ret->answered_ns + SECOND_NS : 0;
}

static void sample_memory(struct watch *watch, struct device *device,
                          struct gpu_sample_message *sample) {
    struct memory memory;
    memory_read(watch, device, &memory);
    sample->memory_why = (int32_t)memory.why;
    sample->asked_ns = memory.asked_ns;
    sample->answered_ns = memory.answered_ns;
    sample->used_bytes = memory.used_bytes;
    sample->total_bytes = memory.total_bytes;
    if (memory.why == GPU_LOST) {
        device_is_lost(watch, device, memory.code);
    } else if (device->facts.lost == 1) {
        device_is_back(watch, device);
    }
}

static void sample_power(struct watch *watch, struct device *device,
                         struct gpu_sample_message *sample) {
    struct item *power_item = &device->item[GPU_ITEM_POWER];
    struct item *energy_item = &device->item[GPU_ITEM_ENERGY];
    if (item_due(device, GPU_ITEM_POWER)) {
        unsigned power = 0;
        item_answered(device, GPU_ITEM_POWER,
                      ASK(watch, device, DeviceGetPowerUsage, device->handle, &power));
        sample->power_mw = gpu_checked(power, GPU_POWER_BELIEVED, &power_item->why);
    }
    if (item_due(device, GPU_ITEM_ENERGY)) {
        unsigned long long energy = 0;
        item_answered(device, GPU_ITEM_ENERGY,
                      ASK(watch, device, DeviceGetTotalEnergyConsumption, device->handle, &energy));
        /* A counter that stands at 0 while the board draws power counts nothing. */
        if (energy_item->why == GPU_READ && energy == 0 && sample->power_mw > 0) {
            energy_item->why = GPU_SENTINEL;
        }
        sample->energy_mj = gpu_checked(energy, GPU_ENERGY_BELIEVED, &energy_item->why);
    }
    sample->power_why = (int32_t)power_item->why;
    sample->energy_why = (int32_t)energy_item->why;
}

static void sample_clocks(struct watch *watch, struct device *device,
                          struct gpu_sample_message *sample) {
    struct item *item = &device->item[GPU_ITEM_CLOCKS];
    if (item_due(device, GPU_ITEM_CLOCKS)) {
        unsigned sm = 0, memory = 0;
        item_answered(device, GPU_ITEM_CLOCKS,
                      ASK(watch, device, DeviceGetClockInfo, device->handle, NVML_CLOCK_SM, &sm));
        sample->clock_sm_mhz = gpu_checked(sm, GPU_CLOCK_BELIEVED, &item->why);
        enum gpu_why why = gpu_why_of_code(item->why != GPU_READ
                                               ? NVML_NOT_SUPPORTED
                                               : ASK(watch, device, DeviceGetClockInfo,
                                                     device->handle, NVML_CLOCK_MEMORY, &memory));
        sample->clock_memory_mhz = gpu_checked(memory, GPU_CLOCK_BELIEVED, &why);
    }
    sample->clock_why = (int32_t)item->why;
}

static void sample_events(struct watch *watch, struct device *device,
                          struct gpu_sample_message *sample) {
    const struct nvml_functions *call = &watch->nvml.call;
    if (item_due(device, GPU_ITEM_EVENTS)) {
        unsigned long long bits = 0;
        int code =
            call->DeviceGetCurrentClocksEventReasons != NULL
                ? ASK(watch, device, DeviceGetCurrentClocksEventReasons, device->handle, &bits)
                : ASK(watch, device, DeviceGetCurrentClocksThrottleReasons, device->handle, &bits);
        enum gpu_why *why = &device->item[GPU_ITEM_EVENTS].why;
        item_answered(device, GPU_ITEM_EVENTS, code);
        *why = *why == GPU_READ && gpu_is_blank(bits) ? GPU_SENTINEL : *why;
        sample->event_reasons = gpu_checked(bits, INT64_MAX, why);
    }
    sample->events_why = (int32_t)device->item[GPU_ITEM_EVENTS].why;
}

static void sample_ecc(struct watch *watch, struct device *device,
                       struct gpu_sample_message *sample) {
    if (item_due(device, GPU_ITEM_ECC)) {
        unsigned long long errors = 0;
        enum gpu_why *why = &device->item[GPU_ITEM_ECC].why;
        item_answered(device, GPU_ITEM_ECC,
                      ASK(watch, device, DeviceGetTotalEccErrors, device->handle,
                          NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE, &errors));
        *why = *why == GPU_READ && gpu_is_blank(errors) ? GPU_SENTINEL : *why;
        sample->ecc_uncorrected = gpu_checked(errors, INT64_MAX, why);
    }
    sample->ecc_why = (int32_t)device->item[GPU_ITEM_ECC].why;
}

static int64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static uint64_t percent_of(int type, union nvml_value value) {
    switch (type) {
    case NVML_VALUE_DOUBLE:
        return value.d >= 0 && value.d <= 100 ? (uint64_t)(value.d + 0.5) : UINT64_MAX;
    case NVML_VALUE_UNSIGNED_INT:
        return value.ui;
    case NVML_VALUE_UNSIGNED_LONG:
    case NVML_VALUE_UNSIGNED_LONG_LONG:
        return value.ull;
    default:
        return UINT64_MAX;
    }
}

/* One reading instead of the buffer: a window that ends now. */
static int windows_of_rates(struct watch *watch, struct device *device,
                            struct gpu_windows_message *windows) {
    struct nvml_utilization rates = {0};
    int code = ASK(watch, device, DeviceGetUtilizationRates, device->handle, &rates);
    windows->from_rates = 1;
    if (code == NVML_SUCCESS && rates.gpu <= GPU_PERCENT_BELIEVED) {
        windows->count = 1;
        windows->window[0] =
            (struct gpu_window){.end_ns = mono_ns(), .percent = (int32_t)rates.gpu};
    }
    return code;
}

/* The driver's buffer since the last look. Asked with more room than it has, some may refuse. */
static int ask_samples(struct watch *watch, struct device *device, int *type, unsigned *count,
                       struct nvml_sample *sample) {
    int code = ASK(watch, device, DeviceGetSamples, device->handle, NVML_SAMPLES_GPU_UTILIZATION,
                   device->window_us, type, count, sample);
    if (code == NVML_INVALID_ARGUMENT || code == NVML_INSUFFICIENT_SIZE) {
        code = ASK(watch, device, DeviceGetSamples, device->handle, NVML_SAMPLES_GPU_UTILIZATION,
                   device->window_us, type, count, NULL);
        *count = *count > SAMPLES_MAX ? SAMPLES_MAX : *count;
        if (code == NVML_SUCCESS) {
            code = ASK(watch, device, DeviceGetSamples, device->handle,
                       NVML_SAMPLES_GPU_UTILIZATION, device->window_us, type, count, sample);
        }
    }
    return code;
}

static void add_window(struct gpu_windows_message *windows, int64_t end_ns, uint64_t percent) {
    if (windows->count == GPU_WINDOWS_MAX) { /* the oldest gives way */
        memmove(&windows->window[0], &windows->window[1],
                sizeof windows->window - sizeof windows->window[0]);
        windows->count--;
    }
    windows->window[windows->count++] =
        (struct gpu_window){.end_ns = end_ns, .percent = (int32_t)percent};
}

/* The windows that the driver has finished since the last look. Of a first look, those that ended
 * before it are left out. *ret_impossible: some were no windows. */
static int windows_of_buffer(struct watch *watch, struct device *device,
                             struct gpu_windows_message *windows, bool *ret_impossible) {
    struct nvml_sample sample[SAMPLES_MAX];
    unsigned count = SAMPLES_MAX;
    int type = -1;
    memset(sample, 0, sizeof sample);
    int code = ask_samples(watch, device, &type, &count, sample);
    if (code != NVML_SUCCESS) {
        return code == NVML_NOT_FOUND || code == NVML_NO_DATA ? NVML_SUCCESS : code;
    }
    struct gpu_now now = {.real_ns = clock_ns(CLOCK_REALTIME),
                          .boot_ns = clock_ns(CLOCK_BOOTTIME),
                          .mono_ns = clock_ns(CLOCK_MONOTONIC)};
    count = count > SAMPLES_MAX ? SAMPLES_MAX : count;
    uint64_t seen_us = device->window_us, newest_us = seen_us;
    for (unsigned i = 0; i < count; i++) {
        uint64_t stamp = sample[i].time_us, percent = percent_of(type, sample[i].value);
        int64_t end_ns = 0;
        if (stamp <= seen_us && stamp != 0) {
            continue; /* some drivers send the whole buffer whatever they are asked */
        }
        if (!gpu_window_end(stamp, &now, &end_ns)) {
            *ret_impossible = true;
            continue;
        }
        newest_us = stamp > newest_us ? stamp : newest_us;
        if (percent > GPU_PERCENT_BELIEVED) {
            *ret_impossible = true;
        } else if (end_ns > device->windows_ns || seen_us != 0) {
            add_window(windows, end_ns, percent);
        }
    }
    device->window_us = newest_us;
    return NVML_SUCCESS;
}

/* True: some drivers fill no buffer while the board is idle, which must not look like blindness. */
static bool is_dry(struct device *device, const struct gpu_windows_message *windows,
                   bool impossible) {
    if (windows->count > 0 || impossible) {
        device->windows_ns = windows->asked_ns;
        return false;
    }
    return windows->asked_ns - device->windows_ns > SECOND_NS * 3 / 2;
}

/* False: nothing to tell. */
static bool windows_read(struct watch *watch, struct device *device,
                         struct gpu_windows_message *windows) {
    memset(windows, 0, sizeof *windows);
    windows->head.kind = GPU_MESSAGE_WINDOWS;
    windows->device = device_number(watch, device);
    windows->asked_ns = mono_ns();
    if (!item_due(device, GPU_ITEM_UTILIZATION)) {
        return false;
    }
    bool impossible = false;
    device->windows_ns = device->windows_ns == 0 ? windows->asked_ns : device->windows_ns;
    int code =
        device->rates ? NVML_NOT_SUPPORTED : windows_of_buffer(watch, device, windows, &impossible);
    if (code == NVML_NOT_SUPPORTED || code == NVML_FUNCTION_NOT_FOUND) {
        device->rates = true;
    }
    if (device->rates || (code == NVML_SUCCESS && is_dry(device, windows, impossible))) {
        code = windows_of_rates(watch, device, windows);
        impossible = code == NVML_SUCCESS && windows->count == 0;
    }
    enum gpu_why why = item_answered(device, GPU_ITEM_UTILIZATION, code);
    if (why == GPU_READ && impossible && windows->count == 0) {
        why = device->item[GPU_ITEM_UTILIZATION].why = GPU_SENTINEL;
    }
    windows->why = (int32_t)why;
    return true;
}

/* Everything that is read once a second, then told in an order in which DEVICE comes first. */
static void sample_slow(struct watch *watch, struct device *device,
                        struct gpu_sample_message *sample) {
    struct processes processes;
    struct gpu_windows_message windows;
    sample_power(watch, device, sample);
    sample_clocks(watch, device, sample);
    sample_events(watch, device, sample);
    sample_ecc(watch, device, sample);
    bool has_processes = item_due(device, GPU_ITEM_PROCESSES);
    if (has_processes) {
        processes_read(watch, device, &processes);
    }
    bool has_windows = windows_read(watch, device, &windows);
    accounting_sample(watch, device);
    if (watch->lost != GPU_LIBRARY_READY) {
        return; /* LIBRARY will say it for all devices */
    }
    device_tell(watch, device);
    out_send(&watch->out, sample, sizeof *sample);
    if (has_processes) {
        processes_tell(watch, device, &processes);
    }
    if (has_windows) {
        out_send(&watch->out, &windows, sizeof windows);
    }
}

void device_sample(struct watch *watch, struct device *device) {
    int64_t now_ns = mono_ns();
    bool slow = device->slow_ns <= now_ns;
    if (device->handle == NULL || (device->facts.lost == 1 && device->memory_ns > now_ns)) {
        device_tell(watch, device);
        return;
    }
    if (!slow && !item_due(device, GPU_ITEM_MEMORY)) {
        return;
    }
    struct gpu_sample_message sample = {
        .head.kind = GPU_MESSAGE_SAMPLE,
        .device = device_number(watch, device),
        .power_mw = GPU_ABSENT,
        .energy_mj = GPU_ABSENT,
        .clock_sm_mhz = GPU_ABSENT,
        .clock_memory_mhz = GPU_ABSENT,
        .event_reasons = GPU_ABSENT,
        .ecc_uncorrected = GPU_ABSENT,
    };
    sample_memory(watch, device, &sample);
    slow = device->slow_ns <= now_ns;
    if (slow && device->facts.lost != 1) {
        /* The first one at once, the next ones each at its own moment within the second. */
        int64_t shift_ns = device->slow_ns == 0
                               ? SECOND_NS * (int64_t)device_number(watch, device) / watch->count
                               : 0;
        device->slow_ns = now_ns + SECOND_NS - watch->interval_ns / 2 - shift_ns;
        sample_slow(watch, device, &sample);
        return;
    }
    if (watch->lost == GPU_LIBRARY_READY) {
        device_tell(watch, device);
        out_send(&watch->out, &sample, sizeof sample);
    }
}
