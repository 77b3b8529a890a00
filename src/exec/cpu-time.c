/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conversions of the kernel's CPU times. */
#include "exec/cpu-time.h"

#include "base/clock.h"

#include <time.h>

int64_t cpu_time_thread_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec;
}

static int64_t timeval_ns(const struct timeval *time) {
    return (int64_t)time->tv_sec * NS_PER_S + (int64_t)time->tv_usec * 1000;
}

int64_t cpu_time_user_ns(const struct rusage *usage) {
    return timeval_ns(&usage->ru_utime);
}

int64_t cpu_time_system_ns(const struct rusage *usage) {
    return timeval_ns(&usage->ru_stime);
}

int64_t cpu_time_usage_ns(const struct rusage *usage) {
    return cpu_time_user_ns(usage) + cpu_time_system_ns(usage);
}
