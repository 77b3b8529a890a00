/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of NVML's binary interface that the helper uses, in our own words: codes, structs with
 * checked sizes, and one table of functions. No vendor header is needed to build, and every
 * function is optional: a driver that lacks one costs that figure and nothing else.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum nvml_code {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_ALREADY_INITIALIZED = 5,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_INSUFFICIENT_POWER = 8,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_IRQ_ISSUE = 11,
    NVML_LIBRARY_NOT_FOUND = 12,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_CORRUPTED_INFOROM = 14,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_OPERATING_SYSTEM = 17,
    NVML_LIB_RM_VERSION_MISMATCH = 18,
    NVML_IN_USE = 19,
    NVML_MEMORY = 20,
    NVML_NO_DATA = 21,
    NVML_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_DEPRECATED = 26,
    NVML_NOT_READY = 27,
    NVML_GPU_NOT_FOUND = 28,
    NVML_INVALID_STATE = 29,
    NVML_UNKNOWN = 999,
};

/* "Not there" within a struct or a list. */
#define NVML_VALUE_NOT_AVAILABLE UINT64_MAX
#define NVML_INSTANCE_NONE       UINT32_MAX

typedef struct nvml_handle *nvml_device; /* opaque; boards and slices alike */
typedef struct nvml_events *nvml_event_set;

struct nvml_memory_v1 {
    uint64_t total, free, used; /* used holds the driver's own reserve, too */
};
struct nvml_memory_v2 {
    uint32_t version;
    uint64_t total, reserved, free, used;
};
struct nvml_process_v1 {
    uint32_t pid;
    uint64_t used;
};
struct nvml_process_v2 { /* of the calls with suffix _v2 and _v3 */
    uint32_t pid;
    uint64_t used;
    uint32_t gpu_instance, compute_instance;
};
struct nvml_process_long { /* of _v3 in drivers 535, which was taken back without a new suffix */
    uint32_t pid;
    uint64_t used;
    uint32_t gpu_instance, compute_instance;
    uint64_t protected_bytes;
};
struct nvml_utilization {
    uint32_t gpu, memory;
};
union nvml_value {
    double d;
    uint32_t ui;
    uint64_t ull;
};
struct nvml_sample {
    uint64_t time_us; /* of CLOCK_REALTIME */
    union nvml_value value;
};
struct nvml_pci {
    char bus_id_legacy[16]; /* all that the calls before _v3 have */
    uint32_t domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct nvml_event { /* nvmlEventSetWait writes the first 24 bytes, _v2 all */
    nvml_device device;
    uint64_t type, data;
    uint32_t gpu_instance, compute_instance;
};
struct nvml_accounting {
    uint32_t gpu_percent, memory_percent;
    uint64_t peak_bytes, time_ms, start_us;
    uint32_t running, reserved[5];
};

/* The version word of a versioned struct: its size and its number in one. */
#define NVML_STRUCT_VERSION(type, number) ((uint32_t)(sizeof(type) | ((uint32_t)(number) << 24)))

_Static_assert(sizeof(struct nvml_memory_v1) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(NVML_STRUCT_VERSION(struct nvml_memory_v2, 2) == 0x02000028, "nvmlMemory_v2");
_Static_assert(sizeof(struct nvml_process_v1) == 16, "nvmlProcessInfo_v1_t");
_Static_assert(sizeof(struct nvml_process_v2) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(struct nvml_process_long) == 32, "nvmlProcessInfo_t of 535");
_Static_assert(offsetof(struct nvml_process_v2, used) == offsetof(struct nvml_process_v1, used) &&
                   offsetof(struct nvml_process_v2, gpu_instance) == 16,
               "an entry begins alike in every layout");
_Static_assert(sizeof(struct nvml_utilization) == 8, "nvmlUtilization_t");
_Static_assert(sizeof(struct nvml_sample) == 16, "nvmlSample_t");
_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct nvml_event) == 32, "nvmlEventData_t");
_Static_assert(offsetof(struct nvml_event, gpu_instance) == 24, "nvmlEventData_t of old drivers");
_Static_assert(sizeof(struct nvml_accounting) == 56, "nvmlAccountingStats_t");

enum nvml_constant {
    NVML_SAMPLES_GPU_UTILIZATION = 1,
    NVML_VALUE_DOUBLE = 0,
    NVML_VALUE_UNSIGNED_INT = 1,
    NVML_VALUE_UNSIGNED_LONG = 2,
    NVML_VALUE_UNSIGNED_LONG_LONG = 3,
    NVML_CLOCK_SM = 1,
    NVML_CLOCK_MEMORY = 2,
    NVML_ECC_UNCORRECTED = 1,
    NVML_ECC_VOLATILE = 0,
    NVML_EVENT_DOUBLE_BIT_ECC = 2,
    NVML_EVENT_XID = 8,
    NVML_VIRTUALIZATION_NONE = 0,
    NVML_VIRTUALIZATION_PASSTHROUGH = 1,
    NVML_VIRTUALIZATION_VGPU = 2,
    NVML_TEXT = 96,
};

/*
 * Every function that is asked for, by the name that the library exports without "nvml", and its
 * arguments; all return an enum nvml_code. Suffixes of one function stand newest first.
 */
#define NVML_FUNCTIONS(X)                                                              \
    X(Init_v2, (void))                                                                 \
    X(Init, (void))                                                                    \
    X(Shutdown, (void))                                                                \
    X(SystemGetDriverVersion, (char *, unsigned))                                      \
    X(SystemGetNVMLVersion, (char *, unsigned))                                        \
    X(SystemGetCudaDriverVersion_v2, (int *))                                          \
    X(SystemGetCudaDriverVersion, (int *))                                             \
    X(DeviceGetCount_v2, (unsigned *))                                                 \
    X(DeviceGetCount, (unsigned *))                                                    \
    X(DeviceGetHandleByIndex_v2, (unsigned, nvml_device *))                            \
    X(DeviceGetHandleByIndex, (unsigned, nvml_device *))                               \
    X(DeviceGetName, (nvml_device, char *, unsigned))                                  \
    X(DeviceGetUUID, (nvml_device, char *, unsigned))                                  \
    X(DeviceGetMinorNumber, (nvml_device, unsigned *))                                 \
    X(DeviceGetPciInfo_v3, (nvml_device, struct nvml_pci *))                           \
    X(DeviceGetPciInfo_v2, (nvml_device, struct nvml_pci *))                           \
    X(DeviceGetPciInfo, (nvml_device, struct nvml_pci *))                              \
    X(DeviceGetCudaComputeCapability, (nvml_device, int *, int *))                     \
    X(DeviceGetPersistenceMode, (nvml_device, unsigned *))                             \
    X(DeviceGetVirtualizationMode, (nvml_device, unsigned *))                          \
    X(DeviceGetMemoryInfo_v2, (nvml_device, struct nvml_memory_v2 *))                  \
    X(DeviceGetMemoryInfo, (nvml_device, struct nvml_memory_v1 *))                     \
    X(DeviceGetComputeRunningProcesses_v3, (nvml_device, unsigned *, void *))          \
    X(DeviceGetComputeRunningProcesses_v2, (nvml_device, unsigned *, void *))          \
    X(DeviceGetComputeRunningProcesses, (nvml_device, unsigned *, void *))             \
    X(DeviceGetGraphicsRunningProcesses_v3, (nvml_device, unsigned *, void *))         \
    X(DeviceGetGraphicsRunningProcesses_v2, (nvml_device, unsigned *, void *))         \
    X(DeviceGetGraphicsRunningProcesses, (nvml_device, unsigned *, void *))            \
    X(DeviceGetMPSComputeRunningProcesses_v3, (nvml_device, unsigned *, void *))       \
    X(DeviceGetMPSComputeRunningProcesses_v2, (nvml_device, unsigned *, void *))       \
    X(DeviceGetMPSComputeRunningProcesses, (nvml_device, unsigned *, void *))          \
    X(DeviceGetSamples,                                                                \
      (nvml_device, int, unsigned long long, int *, unsigned *, struct nvml_sample *)) \
    X(DeviceGetUtilizationRates, (nvml_device, struct nvml_utilization *))             \
    X(DeviceGetPowerUsage, (nvml_device, unsigned *))                                  \
    X(DeviceGetTotalEnergyConsumption, (nvml_device, unsigned long long *))            \
    X(DeviceGetEnforcedPowerLimit, (nvml_device, unsigned *))                          \
    X(DeviceGetClockInfo, (nvml_device, int, unsigned *))                              \
    X(DeviceGetCurrentClocksEventReasons, (nvml_device, unsigned long long *))         \
    X(DeviceGetCurrentClocksThrottleReasons, (nvml_device, unsigned long long *))      \
    X(DeviceGetEccMode, (nvml_device, unsigned *, unsigned *))                         \
    X(DeviceGetTotalEccErrors, (nvml_device, int, int, unsigned long long *))          \
    X(DeviceGetMigMode, (nvml_device, unsigned *, unsigned *))                         \
    X(DeviceGetMaxMigDeviceCount, (nvml_device, unsigned *))                           \
    X(DeviceGetMigDeviceHandleByIndex, (nvml_device, unsigned, nvml_device *))         \
    X(DeviceGetGpuInstanceId, (nvml_device, unsigned *))                               \
    X(DeviceGetComputeInstanceId, (nvml_device, unsigned *))                           \
    X(DeviceGetAccountingMode, (nvml_device, unsigned *))                              \
    X(DeviceGetAccountingPids, (nvml_device, unsigned *, unsigned *))                  \
    X(DeviceGetAccountingStats, (nvml_device, unsigned, struct nvml_accounting *))     \
    X(EventSetCreate, (nvml_event_set *))                                              \
    X(EventSetFree, (nvml_event_set))                                                  \
    X(EventSetWait_v2, (nvml_event_set, struct nvml_event *, unsigned))                \
    X(EventSetWait, (nvml_event_set, struct nvml_event *, unsigned))                   \
    X(DeviceGetSupportedEventTypes, (nvml_device, unsigned long long *))               \
    X(DeviceRegisterEvents, (nvml_device, unsigned long long, nvml_event_set))

#define NVML_POINTER(name, arguments) int(*name) arguments;
struct nvml_functions {
    NVML_FUNCTIONS(NVML_POINTER)
};
#undef NVML_POINTER
