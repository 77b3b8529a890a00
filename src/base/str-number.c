/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers and durations from text: the whole text or nothing, the same in every locale. Must not
 * guess. */
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

int str_to_u64(const char *text, uint64_t *ret_value) {
    uint64_t value = 0;
    if (*text == '\0')
        return -EINVAL;
    int rc = 0;
    for (; *text != '\0'; text++) {
        if (!is_digit(*text))
            return -EINVAL;
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            rc = -ERANGE; /* still look at the rest: "99…9x" is no number at all */
    }
    if (rc == 0)
        *ret_value = value;
    return rc;
}

int str_to_i64(const char *text, int64_t *ret_value) {
    bool negative = *text == '-';
    uint64_t magnitude;
    int rc = str_to_u64(*text == '-' || *text == '+' ? text + 1 : text, &magnitude);
    if (rc < 0)
        return rc;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return -ERANGE;
    *ret_value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}

static const char *skip_digits(const char *at) {
    while (is_digit(*at))
        at++;
    return at;
}

/* [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent. */
static bool is_decimal(const char *text) {
    const char *at = text + (*text == '-' || *text == '+');
    const char *end = skip_digits(at);
    size_t digits = (size_t)(end - at);
    at = end;
    if (*at == '.') {
        end = skip_digits(at + 1);
        digits += (size_t)(end - at) - 1;
        at = end;
    }
    if (digits == 0)
        return false;
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '-' || *at == '+';
        if (!is_digit(*at))
            return false;
        at = skip_digits(at);
    }
    return *at == '\0';
}

/* A zero by its digits, not by rounding: "0.000e5". */
static bool is_written_zero(const char *text) {
    for (; *text != '\0' && *text != 'e' && *text != 'E'; text++)
        if (*text >= '1' && *text <= '9')
            return false;
    return true;
}

int str_to_double(const char *text, double *ret_value) {
    if (!is_decimal(text))
        return -EINVAL;
    /* strtod() follows LC_NUMERIC only after setlocale(), which this program never calls. */
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0')
        return -EINVAL;
    if (!isfinite(value) || (fpclassify(value) == FP_ZERO && !is_written_zero(text)))
        return -ERANGE; /* too large, or so small that it would read as 0 */
    *ret_value = value;
    return 0;
}

bool str_is_kept_whole(const char *number) {
    number += *number == '-' || *number == '+';
    number += strspn(number, "0");
    size_t digits = strspn(number, "0123456789");
    if (number[digits] != '\0')
        return true;
    while (digits > 0 && number[digits - 1] == '0')
        digits--;
    return digits <= 15;
}

/* ---- decimals ---- */

bool str_take_decimal(const char **at, struct str_decimal *ret_decimal) {
    const char *end = skip_digits(*at);
    struct str_decimal decimal = {.whole = *at, .whole_length = (size_t)(end - *at)};
    if (decimal.whole_length == 0)
        return false;
    if (*end == '.') {
        decimal.fraction = end + 1;
        end = skip_digits(end + 1);
        decimal.fraction_length = (size_t)(end - decimal.fraction);
        if (decimal.fraction_length == 0)
            return false;
    }
    *at = end;
    *ret_decimal = decimal;
    return true;
}

int str_scale_decimal(const struct str_decimal *decimal, uint64_t unit, uint64_t *ret_value) {
    uint64_t whole = 0, value;
    for (size_t i = 0; i < decimal->whole_length; i++)
        if (__builtin_mul_overflow(whole, 10u, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(decimal->whole[i] - '0'), &whole))
            return -ERANGE;
    if (__builtin_mul_overflow(whole, unit, &value))
        return -ERANGE;
    /* 18 digits: fraction x unit stays below 2^128, and later digits of units below 10^18 change
     * nothing */
    __extension__ unsigned __int128 fraction = 0, divisor = 1;
    for (size_t i = 0; i < decimal->fraction_length && i < 18; i++) {
        fraction = fraction * 10 + (unsigned)(decimal->fraction[i] - '0');
        divisor *= 10;
    }
    if (__builtin_add_overflow(value, (uint64_t)(fraction * unit / divisor), &value))
        return -ERANGE;
    *ret_value = value;
    return 0;
}

/* ---- durations ---- */

static const struct {
    const char *name;
    int64_t ns;
} duration_units[] = {
    /* largest first: the parts of "2h30m" come in this order, each once */
    {"d", INT64_C(86400000000000)}, {"h", INT64_C(3600000000000)},
    {"min", INT64_C(60000000000)},  {"m", INT64_C(60000000000)},
    {"s", INT64_C(1000000000)},     {"ms", INT64_C(1000000)},
    {"us", INT64_C(1000)},          {"ns", 1},
};

/* The unit at *at (letters up to the next digit or the end); no letters: seconds. 0: unknown. */
static int64_t take_unit_ns(const char **at) {
    size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyz");
    const char *name = *at;
    *at += length;
    if (length == 0)
        return INT64_C(1000000000);
    for (size_t i = 0; i < sizeof duration_units / sizeof duration_units[0]; i++)
        if (strlen(duration_units[i].name) == length &&
            memcmp(duration_units[i].name, name, length) == 0)
            return duration_units[i].ns;
    return 0;
}

static int parse_duration(const char *text, int64_t *ret_ns) {
    int64_t total_ns = 0, last_unit_ns = INT64_MAX;
    bool done = false;
    int too_large = 0;
    const char *at = text;
    while (*at != '\0') {
        struct str_decimal part;
        bool first = at == text;
        uint64_t ns = 0;
        if (!str_take_decimal(&at, &part) || done)
            return -EINVAL;
        bool bare = *at == '\0';
        int64_t unit_ns = take_unit_ns(&at);
        if (unit_ns == 0 || unit_ns >= last_unit_ns || (bare && !first))
            return -EINVAL; /* "2h30": minutes or seconds? */
        last_unit_ns = unit_ns;
        done = bare || part.fraction_length > 0; /* only the last part may have a fraction */
        if (str_scale_decimal(&part, (uint64_t)unit_ns, &ns) < 0 ||
            __builtin_add_overflow(total_ns, ns, &total_ns))
            too_large = 1;
    }
    if (last_unit_ns == INT64_MAX)
        return -EINVAL;
    if (too_large)
        return -ERANGE;
    *ret_ns = total_ns;
    return 0;
}

int str_to_duration_ns(const char *text, int64_t *ret_ns, struct err *err) {
    int rc = parse_duration(text, ret_ns);
    if (rc == -ERANGE)
        return err_set(err, rc, "duration-too-long", "the duration '%s' is too long", text);
    if (rc < 0)
        return err_set(err, rc, "duration-syntax",
                       "'%s' is not a duration; write for example 90s, 1.5h, 2h30m, 250ms or 3d "
                       "(a plain number is seconds)",
                       text);
    return 0;
}
