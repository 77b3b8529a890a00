/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens the vendor's library at run time and tells what state it is in. A library that is not there
 * is a normal state. Nothing here waits or retries; the calls may hang in the driver, though.
 */
#pragma once

#include "gpu/nvml-abi.h"
#include "gpu/wire.h"

#include <stdbool.h>

struct nvml {
    struct nvml_functions call; /* a null pointer: this library has no such function */
    void *opened;
    bool initialized;
    enum gpu_library state;
    int code;         /* the library's own, of what state says */
    char path[256];   /* of the file; "": not told */
    char detail[256]; /* what the loader or the library said; "" with READY */
};

/* Opens and initializes. The result is in nvml->state; only READY leaves anything open. */
void nvml_open(struct nvml *nvml);
void nvml_close(struct nvml *nvml);
/* The state of the library that an error of one of its calls speaks of; READY: of none. */
enum gpu_library nvml_state_of(int code);
/* English name of a code, for details. Never NULL. */
const char *nvml_code_name(int code);
