/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A libnvidia-ml.so.1 that has no GPU: it plays the script named by PROBELAUF_STANDIN_TRACE
 * (README.md) through the same entry points, so that the real way of opening and asking runs on
 * machines without one. GENERATION (340, 418, 470, 550) is the driver whose set of functions it
 * has. Every device's name says that it is a stand-in. Loaded into one process with one thread.
 */
#include "trace.h"

#include "gpu/nvml-abi.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define DECLARE(name, arguments) int nvml##name arguments;
NVML_FUNCTIONS(DECLARE)

enum { EVENTS_MAX = 256, WINDOWS_KEPT = 100 };

/* The library's state: what else could a library keep it in. */
static struct {
    struct trace *trace;
    double epoch_s;      /* CLOCK_MONOTONIC at which the script's time is 0 */
    double epoch_real_s; /* the same moment of CLOCK_REALTIME; kept, so that a window keeps its
                            stamp */
    double epoch_boot_s; /* and of CLOCK_BOOTTIME */
    double speed;
    double opened_s; /* script time of nvmlInit */
    bool initialized;
    bool delivered[EVENTS_MAX];
    bool registered[DEVICES_MAX];
} lib;

static double monotonic_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The start of this process, so that a library that is opened a second time goes on. */
static double process_start_s(void) {
    char text[1024];
    FILE *stat = fopen("/proc/self/stat", "re");
    size_t read = stat == NULL ? 0 : fread(text, 1, sizeof text - 1, stat);
    if (stat != NULL) {
        fclose(stat);
    }
    text[read] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    struct timespec boot;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    double since_boot = (double)boot.tv_sec + (double)boot.tv_nsec / 1e9;
    double started = at == NULL ? since_boot : strtod(at, NULL) / (double)sysconf(_SC_CLK_TCK);
    return monotonic_s() - (since_boot - started);
}

static double script_s(void) {
    return (monotonic_s() - lib.epoch_s) * lib.speed;
}

static void sleep_script(double seconds) {
    double left = seconds / lib.speed;
    struct timespec time = {.tv_sec = (time_t)left};
    time.tv_nsec = (long)((left - (double)time.tv_sec) * 1e9);
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {
    }
}

static int load(void) {
    const char *path = getenv("PROBELAUF_STANDIN_TRACE");
    const char *speed = getenv("PROBELAUF_STANDIN_SPEED");
    const char *epoch = getenv("PROBELAUF_STANDIN_EPOCH_NS");
    if (path == NULL) {
        return NVML_DRIVER_NOT_LOADED;
    }
    lib.speed = speed != NULL && strtod(speed, NULL) > 0 ? strtod(speed, NULL) : 1;
    if (lib.trace == NULL) {
        lib.epoch_s = epoch != NULL ? strtod(epoch, NULL) / 1e9 : process_start_s();
    }
    if (lib.epoch_real_s <= 0) {
        struct timespec real, boot;
        clock_gettime(CLOCK_REALTIME, &real);
        clock_gettime(CLOCK_BOOTTIME, &boot);
        double since_s = monotonic_s() - lib.epoch_s;
        lib.epoch_boot_s = (double)boot.tv_sec + (double)boot.tv_nsec / 1e9 - since_s;
        lib.epoch_real_s = (double)real.tv_sec + (double)real.tv_nsec / 1e9 - since_s;
    }
    lib.trace = lib.trace != NULL ? lib.trace : trace_read(path);
    return lib.trace == NULL ? NVML_UNKNOWN : NVML_SUCCESS;
}

/* The number of a device in the script; -1: none of ours. */
static int number_of(nvml_device handle) {
    uintptr_t at = (uintptr_t)handle, first = (uintptr_t)lib.trace->device;
    size_t size = sizeof lib.trace->device[0];
    bool ours = at >= first && at < first + (size_t)lib.trace->devices * size;
    return ours && (at - first) % size == 0 ? (int)((at - first) / size) : -1;
}

static nvml_device handle_of(int number) {
    return (nvml_device)(uintptr_t)&lib.trace->device[number];
}

/* Faults that hold for a function, and for a device (-1: it concerns none). */
static int faults(const char *function, int device, double t) {
    int code = NVML_SUCCESS;
    for (int i = 0; i < lib.trace->faults; i++) {
        const struct trace_fault *fault = &lib.trace->fault[i];
        if (strncmp(function, fault->function, strlen(fault->function)) != 0 || t < fault->from ||
            t >= fault->to || (fault->device >= 0 && fault->device != device)) {
            continue;
        }
        if (fault->delay_s > 0) {
            sleep_script(fault->delay_s);
        } else {
            code = fault->code;
        }
    }
    return code;
}

static int enter(const char *function, int device) {
    if (!lib.initialized) {
        return NVML_UNINITIALIZED;
    }
    double t = script_s();
    if (t >= lib.trace->exchange_from && lib.opened_s < lib.trace->exchange_to) {
        return NVML_LIB_RM_VERSION_MISMATCH;
    }
    return faults(function, device, t);
}

#define ENTER(device)                            \
    do {                                         \
        int entered = enter(__func__, (device)); \
        if (entered != NVML_SUCCESS) {           \
            return entered;                      \
        }                                        \
    } while (0)
#define ENTER_DEVICE(handle, ret_number)                       \
    int ret_number = lib.initialized ? number_of(handle) : -1; \
    if (lib.initialized && ret_number < 0) {                   \
        return NVML_INVALID_ARGUMENT;                          \
    }                                                          \
    ENTER(ret_number)

static int text(char *to, unsigned size, const char *from) {
    if (from[0] == '\0') {
        return NVML_NOT_SUPPORTED;
    }
    if (strlen(from) >= size) {
        return NVML_INSUFFICIENT_SIZE;
    }
    memcpy(to, from, strlen(from) + 1);
    return NVML_SUCCESS;
}

int nvmlShutdown(void) {
    lib.initialized = false;
    lib.trace = trace_free(lib.trace);
    return NVML_SUCCESS;
}

/* As libraries do that start a service of their own: a process without parent and session. */
static void leave_daemon(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            prctl(PR_SET_NAME, "stand-in-daemon");
            signal(SIGTERM, SIG_IGN);
            sleep(60);
        }
        _exit(0);
    }
}

int nvmlInit(void) {
    int code = load();
    if (code != NVML_SUCCESS) {
        return code;
    }
    if (getenv("PROBELAUF_STANDIN_DAEMON") != NULL) {
        leave_daemon();
    }
    double t = script_s();
    bool exchanging = t >= lib.trace->exchange_from && t < lib.trace->exchange_to;
    code = exchanging ? NVML_LIB_RM_VERSION_MISMATCH : faults(__func__, -1, t);
    if (code == NVML_SUCCESS) {
        lib.initialized = true;
        lib.opened_s = t;
    } else {
        nvmlShutdown();
    }
    return code;
}

int nvmlSystemGetDriverVersion(char *version, unsigned size) {
    ENTER(-1);
    bool exchanged = lib.opened_s >= lib.trace->exchange_to;
    return text(version, size, exchanged ? lib.trace->exchanged : lib.trace->driver);
}

int nvmlSystemGetNVMLVersion(char *version, unsigned size) {
    ENTER(-1);
    return text(version, size, lib.trace->nvml);
}

int nvmlSystemGetCudaDriverVersion(int *version) {
    ENTER(-1);
    *version = lib.trace->cuda;
    return lib.trace->cuda > 0 ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetCount(unsigned *count) {
    ENTER(-1);
    *count = 0;
    for (int i = 0; i < lib.trace->devices; i++) {
        *count += lib.trace->device[i].parent < 0;
    }
    return NVML_SUCCESS;
}

static int child_of(int parent, unsigned index) {
    for (int i = 0; i < lib.trace->devices; i++) {
        const struct trace_device *device = &lib.trace->device[i];
        if (device->parent == parent && device->position == (int)index) {
            return i;
        }
    }
    return -1;
}

int nvmlDeviceGetHandleByIndex(unsigned index, nvml_device *handle) {
    int number = lib.initialized ? child_of(-1, index) : -1;
    ENTER(number);
    if (number < 0) {
        return NVML_INVALID_ARGUMENT;
    }
    *handle = handle_of(number);
    return NVML_SUCCESS;
}

int nvmlDeviceGetName(nvml_device handle, char *name, unsigned size) {
    ENTER_DEVICE(handle, number);
    return text(name, size, lib.trace->device[number].name);
}

int nvmlDeviceGetUUID(nvml_device handle, char *uuid, unsigned size) {
    ENTER_DEVICE(handle, number);
    return text(uuid, size, lib.trace->device[number].uuid);
}

int nvmlDeviceGetMinorNumber(nvml_device handle, unsigned *minor) {
    ENTER_DEVICE(handle, number);
    *minor = (unsigned)lib.trace->device[number].minor;
    return lib.trace->device[number].minor >= 0 ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetCudaComputeCapability(nvml_device handle, int *major, int *minor) {
    ENTER_DEVICE(handle, number);
    *major = lib.trace->device[number].major_capability;
    *minor = lib.trace->device[number].minor_capability;
    return *major > 0 ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
}

static int switched(int mode, unsigned *ret) {
    if (mode < 0) {
        return NVML_NOT_SUPPORTED;
    }
    *ret = (unsigned)mode;
    return NVML_SUCCESS;
}

int nvmlDeviceGetPersistenceMode(nvml_device handle, unsigned *mode) {
    ENTER_DEVICE(handle, number);
    return switched(lib.trace->device[number].persistence, mode);
}

int nvmlDeviceGetVirtualizationMode(nvml_device handle, unsigned *mode) {
    ENTER_DEVICE(handle, number);
    return switched(lib.trace->device[number].virtual_mode, mode);
}

int nvmlDeviceGetEccMode(nvml_device handle, unsigned *now, unsigned *later) {
    ENTER_DEVICE(handle, number);
    *later = lib.trace->device[number].ecc == 1;
    return switched(lib.trace->device[number].ecc, now);
}

int nvmlDeviceGetEnforcedPowerLimit(nvml_device handle, unsigned *limit) {
    ENTER_DEVICE(handle, number);
    *limit = lib.trace->device[number].power_limit_mw;
    return *limit > 0 ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
}

/* The process that an entry stands for; 0: it is not there (any more). */
static int64_t process_pid(const struct trace_process *process) {
    const char *path = getenv("PROBELAUF_STANDIN_PIDS");
    if (process->pid >= 0) {
        return process->pid;
    }
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    long long pid = 0;
    bool found = file != NULL;
    for (int64_t line = 0; found && line < -process->pid; line++) {
        found = fscanf(file, "%lld", &pid) == 1;
    }
    if (file != NULL) {
        fclose(file);
    }
    return found && pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM) ? pid : 0;
}

static bool process_is_there(const struct trace_process *process, int device, double t) {
    return process->device == device && process->from <= t && t < process->to &&
           (process->pid >= 0 || process_pid(process) != 0);
}

static uint64_t processes_bytes(int device, double t) {
    uint64_t sum = 0;
    for (int i = 0; i < lib.trace->processes; i++) {
        const struct trace_process *process = &lib.trace->process[i];
        if (process_is_there(process, device, t) && process->used != UINT64_MAX) {
            sum += process->used;
        }
    }
    return sum;
}

static bool used_bytes(int number, uint64_t *ret) {
    bool plus = false;
    double t = script_s();
    if (!trace_value(lib.trace, number, ITEM_USED, t, ret, &plus)) {
        return false;
    }
    *ret += plus ? processes_bytes(number, t) : 0;
    return true;
}

int nvmlDeviceGetMemoryInfo(nvml_device handle, struct nvml_memory_v1 *memory) {
    ENTER_DEVICE(handle, number);
    const struct trace_device *device = &lib.trace->device[number];
    uint64_t used = 0;
    if (!used_bytes(number, &used)) {
        return NVML_NOT_SUPPORTED;
    }
    memory->total = device->total;
    memory->used = used > UINT64_MAX - device->reserved ? used : used + device->reserved;
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

int nvmlDeviceGetSamples(nvml_device handle, int type, unsigned long long last_us, int *value_type,
                         unsigned *count, struct nvml_sample *sample) {
    ENTER_DEVICE(handle, number);
    const struct trace_device *device = &lib.trace->device[number];
    uint64_t percent = 0;
    bool plus = false;
    if (type != NVML_SAMPLES_GPU_UTILIZATION || device->rates_only ||
        !trace_value(lib.trace, number, ITEM_UTIL, HUGE_VAL, &percent, &plus)) {
        return NVML_NOT_SUPPORTED;
    }
    double now_s = monotonic_s();
    double window_s = device->window_s / lib.speed;
    long newest = (long)floor((now_s - lib.epoch_s) / window_s);
    long oldest = newest > WINDOWS_KEPT ? newest - WINDOWS_KEPT : 0;
    unsigned room = *count;
    *count = 0;
    *value_type = NVML_VALUE_UNSIGNED_INT;
    for (long i = oldest; i <= newest && *count < room; i++) {
        double end_s = (double)i * window_s;
        double zero_s = device->boot_stamps ? lib.epoch_boot_s : lib.epoch_real_s;
        uint64_t stamp = (uint64_t)((zero_s + end_s) * 1e6);
        /* The middle of the window: at its edges the script may just be changing. */
        if (stamp > last_us && i > 0 &&
            trace_value(lib.trace, number, ITEM_UTIL, (end_s - window_s / 2) * lib.speed, &percent,
                        &plus) &&
            (percent > 0 || !device->dry)) {
            sample[(*count)++] =
                (struct nvml_sample){.time_us = stamp, .value.ui = (uint32_t)percent};
        }
    }
    return *count > 0 ? NVML_SUCCESS : NVML_NOT_FOUND;
}

/* The value of an item now; NVML_NOT_SUPPORTED where the script does not have it. */
static int value_now(int number, enum trace_item item, uint64_t *ret) {
    bool plus = false;
    return trace_value(lib.trace, number, item, script_s(), ret, &plus) ? NVML_SUCCESS
                                                                        : NVML_NOT_SUPPORTED;
}

static int value_now_32(int number, enum trace_item item, unsigned *ret) {
    uint64_t value = 0;
    int code = value_now(number, item, &value);
    *ret = (unsigned)value;
    return code;
}

static int value_now_64(int number, enum trace_item item, unsigned long long *ret) {
    uint64_t value = 0;
    int code = value_now(number, item, &value);
    *ret = value;
    return code;
}

int nvmlDeviceGetUtilizationRates(nvml_device handle, struct nvml_utilization *rates) {
    ENTER_DEVICE(handle, number);
    rates->memory = 0;
    return value_now_32(number, ITEM_UTIL, &rates->gpu);
}

int nvmlDeviceGetPowerUsage(nvml_device handle, unsigned *power) {
    ENTER_DEVICE(handle, number);
    return value_now_32(number, ITEM_POWER, power);
}

int nvmlDeviceGetClockInfo(nvml_device handle, int type, unsigned *clock) {
    ENTER_DEVICE(handle, number);
    return value_now_32(number, type == NVML_CLOCK_SM ? ITEM_SM_CLOCK : ITEM_MEMORY_CLOCK, clock);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device handle, unsigned long long *reasons) {
    ENTER_DEVICE(handle, number);
    return value_now_64(number, ITEM_REASONS, reasons);
}

int nvmlDeviceGetTotalEccErrors(nvml_device handle, int type, int counter,
                                unsigned long long *errors) {
    ENTER_DEVICE(handle, number);
    if (type != NVML_ECC_UNCORRECTED || counter != NVML_ECC_VOLATILE) {
        return NVML_INVALID_ARGUMENT;
    }
    return value_now_64(number, ITEM_ECC, errors);
}

/* One list in the layout of one version. */
static int list(int number, enum process_kind kind, unsigned *count, void *infos, int version) {
    unsigned room = *count;
    double t = script_s();
    size_t length = version == 1 ? sizeof(struct nvml_process_v1) : sizeof(struct nvml_process_v2);
    if (version == 3 && lib.trace->entry_bytes != 0) {
        length = (size_t)lib.trace->entry_bytes;
    }
    *count = 0;
    for (int i = 0; i < lib.trace->processes; i++) {
        const struct trace_process *process = &lib.trace->process[i];
        if (process->kind != kind || !process_is_there(process, number, t)) {
            continue;
        }
        struct nvml_process_long entry = {.pid = (uint32_t)process_pid(process),
                                          .used = process->used,
                                          .gpu_instance = process->gpu_instance,
                                          .compute_instance = NVML_INSTANCE_NONE};
        if (*count < room) {
            memcpy((char *)infos + *count * length, &entry, length);
        }
        (*count)++;
    }
    return *count > room ? NVML_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

#define LIST(function, kind, version)                                      \
    int nvml##function(nvml_device handle, unsigned *count, void *infos) { \
        ENTER_DEVICE(handle, number);                                      \
        return list(number, kind, count, infos, version);                  \
    }

LIST(DeviceGetComputeRunningProcesses, PROCESS_COMPUTE, 1)
LIST(DeviceGetGraphicsRunningProcesses, PROCESS_GRAPHICS, 1)

int nvmlDeviceGetPciInfo(nvml_device handle, struct nvml_pci *pci) {
    ENTER_DEVICE(handle, number);
    const char *bus = lib.trace->device[number].bus;
    if (bus[0] == '\0') {
        return NVML_NOT_SUPPORTED;
    }
    /* The old form has four digits of the domain; the new one eight. */
    snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "%.15s",
             strlen(bus) > 12 ? bus + 4 : bus);
    return NVML_SUCCESS;
}

int nvmlEventSetCreate(nvml_event_set *set) {
    ENTER(-1);
    *set = (nvml_event_set)(uintptr_t)&lib;
    return NVML_SUCCESS;
}

int nvmlEventSetFree(nvml_event_set set) {
    (void)set;
    return NVML_SUCCESS;
}

int nvmlDeviceGetSupportedEventTypes(nvml_device handle, unsigned long long *types) {
    ENTER_DEVICE(handle, number);
    *types = lib.trace->device[number].parent < 0 ? NVML_EVENT_XID | NVML_EVENT_DOUBLE_BIT_ECC : 0;
    return NVML_SUCCESS;
}

int nvmlDeviceRegisterEvents(nvml_device handle, unsigned long long types, nvml_event_set set) {
    ENTER_DEVICE(handle, number);
    (void)set;
    lib.registered[number] = types != 0;
    return NVML_SUCCESS;
}

static int next_event(struct nvml_event *event, uint32_t *instance) {
    double t = script_s();
    for (int i = 0; i < lib.trace->events && i < EVENTS_MAX; i++) {
        const struct trace_event *known = &lib.trace->event[i];
        const struct trace_device *device = &lib.trace->device[known->device];
        int board = device->parent < 0 ? known->device : device->parent;
        if (!lib.delivered[i] && known->at <= t && known->at >= lib.opened_s &&
            lib.registered[board]) {
            lib.delivered[i] = true;
            event->device = handle_of(board);
            event->type = known->type;
            event->data = known->data;
            *instance = device->gpu_instance;
            return NVML_SUCCESS;
        }
    }
    return NVML_TIMEOUT;
}

int nvmlEventSetWait(nvml_event_set set, struct nvml_event *event, unsigned timeout_ms) {
    ENTER(-1);
    (void)set;
    (void)timeout_ms; /* nobody here waits */
    uint32_t instance = 0;
    return next_event(event, &instance);
}

#if GENERATION >= 418
int nvmlInit_v2(void) {
    return nvmlInit();
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    return nvmlDeviceGetCount(count);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *handle) {
    return nvmlDeviceGetHandleByIndex(index, handle);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    return nvmlSystemGetCudaDriverVersion(version);
}

int nvmlDeviceGetPciInfo_v2(nvml_device handle, struct nvml_pci *pci) {
    return nvmlDeviceGetPciInfo(handle, pci);
}

int nvmlDeviceGetPciInfo_v3(nvml_device handle, struct nvml_pci *pci) {
    int code = nvmlDeviceGetPciInfo(handle, pci);
    if (code == NVML_SUCCESS) {
        memcpy(pci->bus_id, lib.trace->device[number_of(handle)].bus, sizeof pci->bus_id);
    }
    return code;
}

int nvmlDeviceGetTotalEnergyConsumption(nvml_device handle, unsigned long long *energy) {
    ENTER_DEVICE(handle, number);
    return value_now_64(number, ITEM_ENERGY, energy);
}

int nvmlDeviceGetAccountingMode(nvml_device handle, unsigned *mode) {
    ENTER_DEVICE(handle, number);
    return switched(lib.trace->device[number].accounting, mode);
}

/* The newest word of the script about each pid. */
static const struct trace_accounted *accounted_now(int number, int64_t pid) {
    const struct trace_accounted *newest = NULL;
    double t = script_s();
    for (int i = 0; i < lib.trace->accounteds; i++) {
        const struct trace_accounted *known = &lib.trace->accounted[i];
        if (known->device == number && known->from <= t && known->pid == pid) {
            newest = known;
        }
    }
    return newest;
}

int nvmlDeviceGetAccountingPids(nvml_device handle, unsigned *count, unsigned *pids) {
    ENTER_DEVICE(handle, number);
    unsigned room = *count;
    *count = 0;
    for (int i = 0; i < lib.trace->accounteds; i++) {
        const struct trace_accounted *known = &lib.trace->accounted[i];
        if (accounted_now(number, known->pid) == known && *count < room) {
            pids[(*count)++] = (unsigned)known->pid;
        }
    }
    return NVML_SUCCESS;
}

int nvmlDeviceGetAccountingStats(nvml_device handle, unsigned pid, struct nvml_accounting *stats) {
    ENTER_DEVICE(handle, number);
    const struct trace_accounted *known = accounted_now(number, pid);
    if (known == NULL) {
        return NVML_NOT_FOUND;
    }
    *stats = (struct nvml_accounting){.gpu_percent = known->percent,
                                      .memory_percent = UINT32_MAX,
                                      .peak_bytes = known->peak,
                                      .time_ms = known->time_ms,
                                      .running = known->running};
    return NVML_SUCCESS;
}
#endif

#if GENERATION >= 470
LIST(DeviceGetComputeRunningProcesses_v2, PROCESS_COMPUTE, 2)
LIST(DeviceGetGraphicsRunningProcesses_v2, PROCESS_GRAPHICS, 2)
LIST(DeviceGetMPSComputeRunningProcesses, PROCESS_MPS, 1)

int nvmlDeviceGetMigMode(nvml_device handle, unsigned *now, unsigned *later) {
    ENTER_DEVICE(handle, number);
    *later = lib.trace->device[number].mig == 1;
    return switched(lib.trace->device[number].mig, now);
}

int nvmlDeviceGetMaxMigDeviceCount(nvml_device handle, unsigned *count) {
    ENTER_DEVICE(handle, number);
    *count = lib.trace->device[number].mig >= 0 ? 7 : 0;
    return NVML_SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device handle, unsigned index, nvml_device *slice) {
    ENTER_DEVICE(handle, number);
    int found = child_of(number, index);
    if (found < 0) {
        return NVML_NOT_FOUND;
    }
    *slice = handle_of(found);
    return NVML_SUCCESS;
}

int nvmlDeviceGetGpuInstanceId(nvml_device handle, unsigned *id) {
    ENTER_DEVICE(handle, number);
    *id = lib.trace->device[number].gpu_instance;
    return lib.trace->device[number].parent >= 0 ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetComputeInstanceId(nvml_device handle, unsigned *id) {
    ENTER_DEVICE(handle, number);
    *id = lib.trace->device[number].compute_instance;
    return lib.trace->device[number].parent >= 0 ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
}

int nvmlEventSetWait_v2(nvml_event_set set, struct nvml_event *event, unsigned timeout_ms) {
    ENTER(-1);
    (void)set;
    (void)timeout_ms;
    event->compute_instance = NVML_INSTANCE_NONE;
    return next_event(event, &event->gpu_instance);
}
#endif

#if GENERATION >= 550
LIST(DeviceGetComputeRunningProcesses_v3, PROCESS_COMPUTE, 3)
LIST(DeviceGetGraphicsRunningProcesses_v3, PROCESS_GRAPHICS, 3)
LIST(DeviceGetMPSComputeRunningProcesses_v2, PROCESS_MPS, 2)
LIST(DeviceGetMPSComputeRunningProcesses_v3, PROCESS_MPS, 3)

int nvmlDeviceGetMemoryInfo_v2(nvml_device handle, struct nvml_memory_v2 *memory) {
    ENTER_DEVICE(handle, number);
    const struct trace_device *device = &lib.trace->device[number];
    uint64_t used = 0;
    if (memory->version != NVML_STRUCT_VERSION(struct nvml_memory_v2, 2)) {
        return NVML_ARGUMENT_VERSION_MISMATCH;
    }
    if (!used_bytes(number, &used)) {
        return NVML_NOT_SUPPORTED;
    }
    memory->total = device->total;
    memory->reserved = device->reserved;
    memory->used = used;
    memory->free = device->total - device->reserved - used;
    return NVML_SUCCESS;
}

int nvmlDeviceGetCurrentClocksEventReasons(nvml_device handle, unsigned long long *reasons) {
    ENTER_DEVICE(handle, number);
    return value_now_64(number, ITEM_REASONS, reasons);
}
#endif
