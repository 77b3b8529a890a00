/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks and UTC text. Own calendar arithmetic: gmtime() opens the time zone files, which an empty
 * root does not have. Must not turn one clock's value into another's.
 */
#include "base/clock.h"

#include "base/fd.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t read_clock(clockid_t id) {
    struct timespec now;
    int rc = clock_gettime(id, &now);
    assert(rc == 0); /* the four clocks used here exist since Linux 2.6.39 (clock_gettime(2)) */
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

struct clock_stamp clock_now(void) {
    return (struct clock_stamp){
        .mono_ns = read_clock(CLOCK_MONOTONIC),
        .boot_ns = read_clock(CLOCK_BOOTTIME),
        .utc_ns = read_clock(CLOCK_REALTIME),
    };
}

int64_t clock_mono_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_utc_ns(void) {
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_process_cpu_ns(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int clock_boot_id(char ret_id[CLOCK_BOOT_ID_SIZE]) {
    ret_id[0] = '\0';
    AUTO_CLOSE int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    char text[CLOCK_BOOT_ID_SIZE];
    ssize_t length = fd_read_full(fd, text, sizeof text);
    if (length < 0)
        return (int)length;
    if (length < CLOCK_BOOT_ID_SIZE - 1)
        return -EIO;
    memcpy(ret_id, text, CLOCK_BOOT_ID_SIZE - 1);
    ret_id[CLOCK_BOOT_ID_SIZE - 1] = '\0';
    return 0;
}

/* ---- calendar: proleptic Gregorian, a year that begins in March so that the leap day is its last
 * ---- */

#define DAY_S         INT64_C(86400)
#define DAYS_400Y     INT64_C(146097)
#define DAYS_TO_EPOCH INT64_C(719468) /* from 0000-03-01 to 1970-01-01 */

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

static int64_t days_from_date(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = floor_div(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_400Y + day_of_era - DAYS_TO_EPOCH;
}

static void date_from_days(int64_t days, int64_t *ret_year, int64_t *ret_month, int64_t *ret_day) {
    days += DAYS_TO_EPOCH;
    int64_t era = floor_div(days, DAYS_400Y);
    int64_t day_of_era = days - era * DAYS_400Y;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / (DAYS_400Y - 1)) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    *ret_day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    *ret_month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    *ret_year = year_of_era + era * 400 + (*ret_month <= 2);
}

void clock_format_utc(int64_t utc_ns, struct strbuf *out) {
    int64_t seconds = floor_div(utc_ns, NS_PER_S);
    int64_t below_s =
        utc_ns % NS_PER_S; /* not utc_ns - seconds * NS_PER_S: that overflows at the low end */
    int64_t millis = (below_s < 0 ? below_s + NS_PER_S : below_s) / NS_PER_MS;
    int64_t days = floor_div(seconds, DAY_S);
    int64_t of_day = seconds - days * DAY_S;
    int64_t year, month, day;
    date_from_days(days, &year, &month, &day);
    strbuf_printf(out, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lld.%03lldZ", (long long)year,
                  (long long)month, (long long)day, (long long)(of_day / 3600),
                  (long long)(of_day / 60 % 60), (long long)(of_day % 60), (long long)millis);
}

/* `digits` decimal digits at *at; moves on. -1: something else is there. */
static int64_t take_digits(const char **at, int digits) {
    int64_t value = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return -1;
        value = value * 10 + (**at - '0');
    }
    return value;
}

static bool take_char(const char **at, char c) {
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

/* ".123456789" of 1 to 9 digits, or nothing. */
static bool take_fraction_ns(const char **at, int64_t *ret_ns) {
    *ret_ns = 0;
    if (!take_char(at, '.'))
        return true;
    int64_t scale = NS_PER_S;
    int digits = 0;
    for (; **at >= '0' && **at <= '9' && digits < 9; (*at)++, digits++) {
        scale /= 10;
        *ret_ns += (**at - '0') * scale;
    }
    return digits > 0;
}

static int64_t days_in_month(int64_t year, int64_t month) {
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

int clock_parse_utc(const char *text, int64_t *ret_utc_ns) {
    const char *at = text;
    int64_t year, month, day, hour, minute, second, fraction_ns;
    if ((year = take_digits(&at, 4)) < 0 || !take_char(&at, '-') ||
        (month = take_digits(&at, 2)) < 1 || month > 12 || !take_char(&at, '-') ||
        (day = take_digits(&at, 2)) < 1 || day > days_in_month(year, month) ||
        !take_char(&at, 'T') || (hour = take_digits(&at, 2)) < 0 || hour > 23 ||
        !take_char(&at, ':') || (minute = take_digits(&at, 2)) < 0 || minute > 59 ||
        !take_char(&at, ':') || (second = take_digits(&at, 2)) < 0 || second > 59 ||
        !take_fraction_ns(&at, &fraction_ns) || !take_char(&at, 'Z') || *at != '\0')
        return -EINVAL;
    int64_t seconds = days_from_date(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
    int64_t utc_ns;
    if (__builtin_mul_overflow(seconds, NS_PER_S, &utc_ns) ||
        __builtin_add_overflow(utc_ns, fraction_ns, &utc_ns))
        return -ERANGE;
    *ret_utc_ns = utc_ns;
    return 0;
}
