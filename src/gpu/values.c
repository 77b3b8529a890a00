/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which answers of a driver are values, and what the others mean. Pure. */
#include "gpu/values.h"

#include "gpu/nvml-abi.h"

#include <string.h>

enum gpu_why gpu_why_of_code(int code) {
    switch (code) {
    case NVML_SUCCESS:
        return GPU_READ;
    case NVML_NOT_SUPPORTED:
        return GPU_NOT_SUPPORTED;
    case NVML_NO_PERMISSION:
    case NVML_OPERATING_SYSTEM:
        return GPU_NOT_PERMITTED;
    case NVML_FUNCTION_NOT_FOUND:
        return GPU_NOT_IN_LIBRARY;
    case NVML_GPU_IS_LOST:
    case NVML_RESET_REQUIRED:
    case NVML_GPU_NOT_FOUND:
        return GPU_LOST;
    case NVML_LIB_RM_VERSION_MISMATCH:
        return GPU_DRIVER_MISMATCH;
    default:
        return GPU_FAILED;
    }
}

bool gpu_why_is_lasting(enum gpu_why why) {
    switch (why) {
    case GPU_NOT_SUPPORTED:
    case GPU_NOT_PERMITTED:
    case GPU_NOT_VISIBLE:
    case GPU_NOT_IN_LIBRARY:
    case GPU_UNIFIED:
        return true;
    case GPU_READ:
    case GPU_SENTINEL:
    case GPU_LOST:
    case GPU_DRIVER_MISMATCH:
    case GPU_FAILED:
    case GPU_WHY_COUNT_:
        return false;
    }
    return false;
}

bool gpu_is_blank(uint64_t value) {
    static const uint64_t tops[] = {0x7fffffffu, 0xffffffffu, (uint64_t)INT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++) {
        if (value <= tops[i] && value >= tops[i] - 15) {
            return true;
        }
    }
    return false;
}

int64_t gpu_checked(uint64_t value, uint64_t max, enum gpu_why *why) {
    if (*why == GPU_READ && value > max) {
        *why = GPU_SENTINEL;
    }
    return *why == GPU_READ ? (int64_t)value : GPU_ABSENT;
}

enum gpu_why gpu_memory_check(uint64_t total, uint64_t used) {
    return total == 0 || total > GPU_BYTES_BELIEVED || used > total ? GPU_SENTINEL : GPU_READ;
}

bool gpu_name_is_integrated(const char *name) {
    static const char *const parts[] = {"GB10",   "Orin",  "Xavier", "Thor",
                                        "nvgpu)", "Tegra", "Jetson"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *found = strstr(name, parts[i]);
        const char after = found == NULL ? '\0' : found[strlen(parts[i])];
        /* GB10, but not GB100 */
        if (found != NULL && (after < '0' || after > '9')) {
            return true;
        }
    }
    return false;
}

unsigned gpu_entry_bytes(const unsigned char *room, size_t room_bytes, unsigned count) {
    static const unsigned layouts[] = {sizeof(struct nvml_process_v1),
                                       sizeof(struct nvml_process_v2),
                                       sizeof(struct nvml_process_long)};
    size_t written = room_bytes;
    while (written > 0 && room[written - 1] == GPU_ROOM_FILL) {
        written--;
    }
    /* Every layout ends with a number whose last byte is 0 or all ones: it shows. */
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (written == (size_t)count * layouts[i]) {
            return layouts[i];
        }
    }
    return 0;
}

bool gpu_window_end(uint64_t stamp_us, const struct gpu_now *now, int64_t *ret_ns) {
    const int64_t hour_ns = (int64_t)3600 * 1000000000, ahead_ns = 1000000000;
    const int64_t clocks[] = {now->real_ns, now->boot_ns, now->mono_ns};
    if (stamp_us == 0 || stamp_us > (uint64_t)INT64_MAX / 1000) {
        return false;
    }
    int64_t best_ns = hour_ns + 1;
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        int64_t age_ns = clocks[i] - (int64_t)stamp_us * 1000;
        if (age_ns >= -ahead_ns && age_ns < best_ns) {
            best_ns = age_ns;
        }
    }
    if (best_ns > hour_ns) {
        return false;
    }
    *ret_ns = now->mono_ns - best_ns;
    return true;
}
