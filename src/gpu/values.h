/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the driver's answers mean: codes become reasons, blanks and impossible values become "not
 * read". Pure; the rule for all of it is that an unknown value never becomes a number.
 */
#pragma once

#include "gpu/wire.h"

#include <stdbool.h>
#include <stddef.h>

/* The reason of a code; GPU_READ for success. */
enum gpu_why gpu_why_of_code(int code);
/* True: asking again within seconds would tell nothing new, and may fill the kernel's log. */
bool gpu_why_is_lasting(enum gpu_why why);

/* A blank: all ones, or the tops of the signed ranges that tools of the vendor use (0x7ffffff0 …),
 * in 32 or 64 bits. */
bool gpu_is_blank(uint64_t value);
/* The value, or GPU_ABSENT and *why = GPU_SENTINEL where it is blank or above max. */
int64_t gpu_checked(uint64_t value, uint64_t max, enum gpu_why *why);

/* Upper bounds of what is believed. */
#define GPU_BYTES_BELIEVED   ((uint64_t)1 << 46) /* 64 TiB on one board */
#define GPU_POWER_BELIEVED   3000000u            /* mW */
#define GPU_ENERGY_BELIEVED  ((uint64_t)1 << 50) /* mJ: 3 kW for 11 years */
#define GPU_CLOCK_BELIEVED   20000u              /* MHz */
#define GPU_PID_BELIEVED     4194304u            /* PID_MAX_LIMIT of Linux */
#define GPU_PERCENT_BELIEVED 100u

/* Total and used of a device together: GPU_READ, or GPU_SENTINEL where they cannot be. */
enum gpu_why gpu_memory_check(uint64_t total, uint64_t used);

/* True: a part of a chip whose memory is the host's, by its name (Jetson, GB10). */
bool gpu_name_is_integrated(const char *name);

/* How long an entry of a list of processes is (16, 24 or 32 bytes), by how far a library wrote into
 * room that was filled with GPU_ROOM_FILL. 0: it cannot be told. */
unsigned gpu_entry_bytes(const unsigned char *room, size_t room_bytes, unsigned count);
#define GPU_ROOM_FILL 0xa5

/* One moment in the clocks that drivers take for their time stamps. */
struct gpu_now {
    int64_t real_ns, boot_ns, mono_ns;
};
/* A driver's time stamp in CLOCK_MONOTONIC. Drivers differ: microseconds since 1970, or since the
 * boot with or without suspension; it is taken for the one that puts it nearest to now. False: it
 * cannot be a time of the last hour in any of them. */
bool gpu_window_end(uint64_t stamp_us, const struct gpu_now *now, int64_t *ret_ns);
