/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded into the program under test: the date is FIXED_UTC (seconds since 1970), and stands
 * still. All other clocks run on. For documents that are compared byte by byte. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *ret_time) {
    const char *fixed = getenv("FIXED_UTC");
    if (fixed == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return (int)syscall(SYS_clock_gettime, clock, ret_time);
    ret_time->tv_sec = strtol(fixed, NULL, 10);
    ret_time->tv_nsec = 0;
    return 0;
}
