/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pl-gpu FD INTERVAL_MS [HURRY_FD]: asks the vendor's library and writes messages of gpu/wire.h
 * into FD until nobody reads them, or something comes at HURRY_FD: then one last round. A program
 * of its own because the library may hang, print or crash: nobody waits for it. It reads no file of
 * the user, prints nothing and leaves nothing behind.
 */
#include "gpu/start.h"
#include "gpu/watch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { RETRY_SECONDS = 10, LATE_NS = 200000000, INTERVAL_MIN_MS = 10, INTERVAL_MAX_MS = 60000 };

/* Digits only; -1: something else, or more than an int holds. */
static int number_of(const char *text) {
    int number = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || number > (INT32_MAX - 9) / 10) {
            return -1;
        }
        number = number * 10 + (*c - '0');
    }
    return text[0] == '\0' ? -1 : number;
}

/* 0-2 are /dev/null whatever they were, so that neither the library's words nor a file that it
 * opens as number 1 reach anybody. */
static void quiet(int keep, int keep_too) {
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3 && null >= 0; fd++) {
        if (fd != keep && fd != keep_too && fd != null) {
            dup2(null, fd);
        }
    }
    if (null > 2) {
        close(null);
    }
}

/* Tells of a query that took so long that nothing was seen meanwhile. */
static void late_tell(struct watch *watch, const struct device *device, const char *what,
                      int64_t to_ns) {
    if (to_ns - watch->asked_ns <= LATE_NS) {
        return;
    }
    struct gpu_late_message message = {
        .head.kind = GPU_MESSAGE_LATE,
        .device = device == NULL ? -1 : (int32_t)device_number(watch, device),
        .from_ns = watch->asked_ns,
        .to_ns = to_ns,
    };
    snprintf(message.what, sizeof message.what, "%s", what);
    out_send(&watch->out, &message, sizeof message);
}

static void library_tell(struct watch *watch) {
    struct nvml *nvml = &watch->nvml;
    unsigned boards = 0;
    int cuda = 0;
    struct gpu_library_message message = {
        .head.kind = GPU_MESSAGE_LIBRARY,
        .version = GPU_WIRE_VERSION,
        .state = (int32_t)nvml->state,
        .code = nvml->code,
        .t_ns = mono_ns(),
        .helper_pid = getpid(),
        .cuda = GPU_ABSENT,
    };
    if (nvml->state == GPU_LIBRARY_READY) {
        (void)ASK(watch, NULL, SystemGetDriverVersion, message.driver, GPU_TEXT);
        (void)ASK(watch, NULL, SystemGetNVMLVersion, message.library, GPU_TEXT);
        int code = nvml->call.DeviceGetCount_v2 != NULL
                       ? ASK(watch, NULL, DeviceGetCount_v2, &boards)
                       : ASK(watch, NULL, DeviceGetCount, &boards);
        message.device_count = code == NVML_SUCCESS ? boards : 0;
        message.unwatched = watch->unwatched_told = watch->unwatched;
        code = nvml->call.SystemGetCudaDriverVersion_v2 != NULL
                   ? ASK(watch, NULL, SystemGetCudaDriverVersion_v2, &cuda)
                   : ASK(watch, NULL, SystemGetCudaDriverVersion, &cuda);
        message.cuda = code == NVML_SUCCESS && cuda > 0 ? cuda : GPU_ABSENT;
        message.driver[GPU_TEXT - 1] = message.library[GPU_TEXT - 1] = '\0';
    }
    memcpy(message.path, nvml->path, sizeof message.path);
    memcpy(message.detail, nvml->detail, sizeof message.detail);
    out_send(&watch->out, &message, sizeof message);
}

/* What there is; told where it is more than can be watched. */
static void look_for_devices(struct watch *watch, bool again) {
    devices_find(watch, again);
    if (watch->unwatched != watch->unwatched_told && watch->lost == GPU_LIBRARY_READY) {
        library_tell(watch);
    }
}

/* Opens the library and finds its devices; tells its state unless it is what was told before. */
static void library_open(struct watch *watch, bool again) {
    int before = (int)watch->nvml.state, code = watch->nvml.code;
    int64_t from_ns = mono_ns();
    nvml_open(&watch->nvml);
    int64_t to_ns = mono_ns();
    watch->lost = GPU_LIBRARY_READY;
    if (!again || (int)watch->nvml.state != before || watch->nvml.code != code) {
        library_tell(watch);
    }
    watch->asked_ns = from_ns;
    late_tell(watch, NULL, "nvmlInit", to_ns);
    if (watch->nvml.state != GPU_LIBRARY_READY) {
        watch->refresh_ns = mono_ns() + RETRY_SECONDS * SECOND_NS;
        return;
    }
    bool wsl = access("/dev/dxg", F_OK) == 0 || strstr(watch->nvml.path, "/wsl/lib/") != NULL;
    watch->around = wsl ? GPU_VIRTUAL_WSL : GPU_VIRTUAL_UNKNOWN;
    events_open(watch);
    look_for_devices(watch, true);
}

/* An answer said that the library is of no use any more: it is closed, and tried again later. */
static void library_drop(struct watch *watch) {
    enum gpu_library state = watch->lost;
    int code = watch->lost_code;
    events_forget(watch);
    nvml_close(&watch->nvml);
    for (uint32_t i = 0; i < watch->count; i++) {
        watch->device[i].handle = NULL;
    }
    watch->nvml.state = state;
    watch->nvml.code = code;
    snprintf(watch->nvml.detail, sizeof watch->nvml.detail, "%s", nvml_code_name(code));
    watch->lost = GPU_LIBRARY_READY;
    watch->refresh_ns = mono_ns() + RETRY_SECONDS * SECOND_NS;
    library_tell(watch);
}

static void tick(struct watch *watch) {
    if (watch->nvml.state != GPU_LIBRARY_READY) {
        if (watch->refresh_ns <= mono_ns()) {
            library_open(watch, true);
        }
        return;
    }
    if (watch->refresh_ns <= mono_ns()) {
        look_for_devices(watch, false);
    }
    for (uint32_t i = 0; i < watch->count && !watch->out.closed; i++) {
        if (watch->lost == GPU_LIBRARY_READY) {
            device_sample(watch, &watch->device[i]);
        }
    }
    if (watch->lost == GPU_LIBRARY_READY) {
        events_take(watch);
    }
    if (watch->lost != GPU_LIBRARY_READY) {
        library_drop(watch);
    }
}

void watch_asking(struct watch *watch) {
    watch->asked_ns = mono_ns();
}

int watch_answered(struct watch *watch, const struct device *device, const char *what, int code) {
    int64_t now_ns = mono_ns();
    if (nvml_state_of(code) != GPU_LIBRARY_READY && watch->lost == GPU_LIBRARY_READY) {
        watch->lost = nvml_state_of(code);
        watch->lost_code = code;
    }
    late_tell(watch, device, what, now_ns);
    return code;
}

/* Everything once more, for what has happened since the last round; says when it is over. */
static void last_round(struct watch *watch) {
    struct gpu_done_message done = {.head.kind = GPU_MESSAGE_DONE};
    for (uint32_t i = 0; i < watch->count; i++) {
        watch->device[i].slow_ns = 0;
    }
    watch->events_ns = 0;
    watch->refresh_ns = INT64_MAX;
    tick(watch);
    out_send(&watch->out, &done, sizeof done);
}

int gpu_main(int argc, char **argv) {
    bool is_call = argc == 3 || argc == 4;
    int fd = is_call ? number_of(argv[1]) : -1;
    int interval_ms = is_call ? number_of(argv[2]) : -1;
    int hurry_fd = argc == 4 ? number_of(argv[3]) : -1;
    if (fd < 0 || interval_ms < INTERVAL_MIN_MS || interval_ms > INTERVAL_MAX_MS ||
        (argc == 4 && hurry_fd < 0)) {
        return 2;
    }
    /* The library would write its own log where the user's environment says. */
    unsetenv("__NVML_DBG_FILE");
    unsetenv("__NVML_DBG_LVL");
    quiet(fd, hurry_fd);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, "pl-gpu");
    prctl(PR_SET_TIMERSLACK, 1000000); /* 1 ms: the kernel may join our wake-ups with others */
    struct watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        return 1;
    }
    out_begin(&watch->out, fd, hurry_fd);
    watch->interval_ns = (int64_t)interval_ms * 1000000;
    library_open(watch, false);
    int64_t next_ns = mono_ns();
    while (!watch->out.closed) {
        tick(watch);
        bool idle = watch->nvml.state != GPU_LIBRARY_READY || watch->count == 0;
        int64_t now_ns = mono_ns();
        next_ns += idle ? SECOND_NS : watch->interval_ns;
        next_ns = next_ns < now_ns ? now_ns : next_ns; /* what was missed is not made up for */
        out_wait_until(&watch->out, next_ns);
        if (watch->out.hurried && !watch->out.closed) {
            last_round(watch);
            break;
        }
    }
    /* The library stays as it is: its own way out may hang. */
    free(watch->processes);
    free(watch);
    return 0;
}
