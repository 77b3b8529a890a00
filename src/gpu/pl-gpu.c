/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pl-gpu FD INTERVAL_MS: asks the vendor's library and writes messages of gpu/wire.h into FD until
 * nobody reads them. A program of its own because the library may hang, print or crash: nobody
 * waits for it. It reads no file of the user, prints nothing and leaves nothing behind.
 */
#include "gpu/library.h"
#include "gpu/out.h"
#include "gpu/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { RETRY_NS_SECONDS = 10, INTERVAL_MIN_MS = 10, INTERVAL_MAX_MS = 60000 };

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
static void quiet(int keep) {
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3 && null >= 0; fd++) {
        if (fd != keep && fd != null) {
            dup2(null, fd);
        }
    }
    if (null > 2) {
        close(null);
    }
}

static void send_library(struct out *out, const struct nvml *nvml) {
    struct gpu_library_message message = {
        .head.kind = GPU_MESSAGE_LIBRARY,
        .version = GPU_WIRE_VERSION,
        .state = nvml->state,
        .code = nvml->code,
        .t_ns = mono_ns(),
        .helper_pid = getpid(),
        .cuda = GPU_ABSENT,
    };
    snprintf(message.path, sizeof message.path, "%s", nvml->path);
    snprintf(message.detail, sizeof message.detail, "%s", nvml->detail);
    out_send(out, &message, sizeof message);
}

int gpu_main(int argc, char **argv) {
    int fd = argc == 3 ? number_of(argv[1]) : -1;
    int interval_ms = argc == 3 ? number_of(argv[2]) : -1;
    if (fd < 0 || interval_ms < INTERVAL_MIN_MS || interval_ms > INTERVAL_MAX_MS) {
        return 2;
    }
    quiet(fd);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, "pl-gpu");
    struct out out = {.fd = fd};
    struct nvml nvml;
    nvml_open(&nvml);
    send_library(&out, &nvml);
    nvml_close(&nvml);
    return 0;
}
