/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The places where the library is looked for, and the loader's calls. The calls are bound to the
 * oldest symbol versions of glibc, so that a helper built here starts on systems from 2014 on; that
 * is why sscanf, strtol and stat are not used in this folder (newer headers give them new names).
 */
#include "gpu/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#endif
#ifdef OLDEST
__asm__(".symver dlopen, dlopen@" OLDEST);
__asm__(".symver dlsym, dlsym@" OLDEST);
__asm__(".symver dlclose, dlclose@" OLDEST);
__asm__(".symver dlerror, dlerror@" OLDEST);
__asm__(".symver dladdr, dladdr@" OLDEST);
#endif

/* The loader's own search first (LD_LIBRARY_PATH, cache); then where WSL, NixOS and the vendor's
 * container runtime of some clouds put it without telling the loader. */
static const char *const places[] = {
    "libnvidia-ml.so.1",
    "libnvidia-ml.so",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
};
enum { PLACES = sizeof places / sizeof places[0] };

#define NVML_SLOT(name, arguments) {"nvml" #name, offsetof(struct nvml_functions, name)},
static const struct slot {
    const char *name;
    size_t offset;
} slots[] = {NVML_FUNCTIONS(NVML_SLOT)};
enum { SLOTS = sizeof slots / sizeof slots[0] };

enum gpu_library nvml_state_of(int code) {
    switch (code) {
    case NVML_DRIVER_NOT_LOADED:
        return GPU_LIBRARY_NO_DRIVER;
    case NVML_LIB_RM_VERSION_MISMATCH:
        return GPU_LIBRARY_MISMATCH;
    default:
        return GPU_LIBRARY_READY;
    }
}

const char *nvml_code_name(int code) {
    switch (code) {
    case NVML_SUCCESS:
        return "success";
    case NVML_UNINITIALIZED:
        return "not initialized";
    case NVML_INVALID_ARGUMENT:
        return "invalid argument";
    case NVML_NOT_SUPPORTED:
        return "not supported";
    case NVML_NO_PERMISSION:
        return "no permission";
    case NVML_ALREADY_INITIALIZED:
        return "already initialized";
    case NVML_NOT_FOUND:
        return "not found";
    case NVML_INSUFFICIENT_SIZE:
        return "insufficient size";
    case NVML_INSUFFICIENT_POWER:
        return "insufficient external power";
    case NVML_DRIVER_NOT_LOADED:
        return "driver not loaded";
    case NVML_TIMEOUT:
        return "timeout";
    case NVML_IRQ_ISSUE:
        return "interrupt request issue";
    case NVML_LIBRARY_NOT_FOUND:
        return "a library that it needs was not found";
    case NVML_FUNCTION_NOT_FOUND:
        return "function not found";
    case NVML_CORRUPTED_INFOROM:
        return "corrupted infoROM";
    case NVML_GPU_IS_LOST:
        return "GPU is lost";
    case NVML_RESET_REQUIRED:
        return "GPU requires reset";
    case NVML_OPERATING_SYSTEM:
        return "blocked by the operating system";
    case NVML_LIB_RM_VERSION_MISMATCH:
        return "driver/library version mismatch";
    case NVML_IN_USE:
        return "in use";
    case NVML_MEMORY:
        return "insufficient memory";
    case NVML_NO_DATA:
        return "no data";
    case NVML_ARGUMENT_VERSION_MISMATCH:
        return "argument version mismatch";
    case NVML_DEPRECATED:
        return "deprecated";
    case NVML_NOT_READY:
        return "not ready";
    case NVML_GPU_NOT_FOUND:
        return "GPU not found";
    case NVML_INVALID_STATE:
        return "invalid state";
    case NVML_UNKNOWN:
        return "unknown error";
    default:
        return "an error without a name";
    }
}

/* True: the loader says no more than that there is no such file. */
static bool says_no_such_file(const char *text) {
    return strstr(text, "No such file or directory") != NULL;
}

static void load(struct nvml *nvml) {
    nvml->state = GPU_LIBRARY_ABSENT;
    for (size_t i = 0; i < PLACES && nvml->opened == NULL; i++) {
        nvml->opened = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
        const char *said = nvml->opened == NULL ? dlerror() : NULL;
        /* A file that is there but cannot be loaded says more than the next one's absence. */
        if (said != NULL && !says_no_such_file(said) && nvml->state == GPU_LIBRARY_ABSENT) {
            nvml->state = GPU_LIBRARY_UNUSABLE;
            snprintf(nvml->detail, sizeof nvml->detail, "%s", said);
        }
    }
    if (nvml->opened == NULL && nvml->state == GPU_LIBRARY_ABSENT) {
        snprintf(nvml->detail, sizeof nvml->detail, "%s was not found", places[0]);
    }
    if (nvml->opened == NULL) {
        return;
    }
    nvml->detail[0] = '\0';
    for (size_t i = 0; i < SLOTS; i++) {
        void *symbol = dlsym(nvml->opened, slots[i].name);
        memcpy((char *)&nvml->call + slots[i].offset, &symbol, sizeof symbol);
        Dl_info place;
        if (symbol != NULL && nvml->path[0] == '\0' && dladdr(symbol, &place) != 0 &&
            place.dli_fname != NULL) {
            snprintf(nvml->path, sizeof nvml->path, "%s", place.dli_fname);
        }
    }
    nvml->state = GPU_LIBRARY_READY;
}

static enum gpu_library state_of_init(int code) {
    switch (code) {
    case NVML_SUCCESS:
    case NVML_ALREADY_INITIALIZED:
        return GPU_LIBRARY_READY;
    case NVML_NO_PERMISSION:
    case NVML_OPERATING_SYSTEM:
        return GPU_LIBRARY_NO_PERMISSION;
    default: {
        enum gpu_library state = nvml_state_of(code);
        return state == GPU_LIBRARY_READY ? GPU_LIBRARY_UNUSABLE : state;
    }
    }
}

static void initialize(struct nvml *nvml) {
    const struct nvml_functions *call = &nvml->call;
    int (*const init)(void) = call->Init_v2 != NULL ? call->Init_v2 : call->Init;
    if (init == NULL || (call->DeviceGetCount_v2 == NULL && call->DeviceGetCount == NULL) ||
        (call->DeviceGetHandleByIndex_v2 == NULL && call->DeviceGetHandleByIndex == NULL)) {
        nvml->state = GPU_LIBRARY_UNUSABLE;
        snprintf(nvml->detail, sizeof nvml->detail, "it lacks %s",
                 init == NULL ? "nvmlInit" : "nvmlDeviceGetCount or nvmlDeviceGetHandleByIndex");
        return;
    }
    nvml->code = init();
    nvml->state = state_of_init(nvml->code);
    nvml->initialized = nvml->state == GPU_LIBRARY_READY;
    if (nvml->state != GPU_LIBRARY_READY) {
        snprintf(nvml->detail, sizeof nvml->detail, "nvmlInit: %s", nvml_code_name(nvml->code));
    }
}

void nvml_open(struct nvml *nvml) {
    memset(nvml, 0, sizeof *nvml);
    load(nvml);
    if (nvml->state == GPU_LIBRARY_READY) {
        initialize(nvml);
    }
    if (nvml->state != GPU_LIBRARY_READY) {
        enum gpu_library state = nvml->state;
        nvml_close(nvml);
        nvml->state = state;
    }
}

void nvml_close(struct nvml *nvml) {
    if (nvml->initialized && nvml->call.Shutdown != NULL) {
        nvml->call.Shutdown();
    }
    if (nvml->opened != NULL) {
        dlclose(nvml->opened);
    }
    nvml->opened = NULL;
    nvml->initialized = false;
    memset(&nvml->call, 0, sizeof nvml->call);
    nvml->state = GPU_LIBRARY_ABSENT;
}
