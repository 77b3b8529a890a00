/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One clock per purpose: CLOCK_MONOTONIC for intervals, CLOCK_BOOTTIME to see suspension, UTC as a
 * label only. */
#pragma once

#include "strbuf.h"

#include <stdint.h>

#define NS_PER_S   INT64_C(1000000000)
#define NS_PER_DAY (INT64_C(86400) * NS_PER_S)
#define NS_PER_MS  INT64_C(1000000)

struct clock_stamp {
    int64_t mono_ns; /* CLOCK_MONOTONIC: stops while the machine is suspended */
    int64_t boot_ns; /* CLOCK_BOOTTIME: goes on while suspended */
    int64_t utc_ns;  /* CLOCK_REALTIME since 1970; may step; never used for a difference within one
                        boot */
};

struct clock_stamp clock_now(void);
int64_t clock_mono_ns(void);
int64_t clock_utc_ns(void);
int64_t clock_process_cpu_ns(void); /* CPU time of this process, all threads */

#define CLOCK_BOOT_ID_SIZE 37
/* /proc/sys/kernel/random/boot_id; returns 0 or a negative errno (then ret is ""). */
int clock_boot_id(char ret_id[CLOCK_BOOT_ID_SIZE]);

/* "2026-11-30T12:34:56.789Z" (milliseconds). clock_parse_utc takes 0-9 fraction digits and requires
 * 'Z'. */
void clock_format_utc(int64_t utc_ns, struct strbuf *out);
int clock_parse_utc(const char *text, int64_t *ret_utc_ns);
