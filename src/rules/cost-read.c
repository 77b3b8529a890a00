/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the figures of owning{}, which people write as texts with their unit: "4 years", "900 W",
 * "0.31 per kWh", "2 h a week", "30%". Exact decimals, English units, nothing else: what does not
 * read from the first to the last character is not read at all.
 */
#include "rules/cost-parts.h"

#include "base/clock.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define YEAR_NS (365 * NS_PER_DAY) /* 8760 hours */
#define DIGITS  "0123456789"

static const char *skip_blanks(const char *text) {
    return text + strspn(text, " \t");
}

static bool take_decimal(const char **text, int64_t *ret_micros) {
    *text = skip_blanks(*text);
    return money_take(text, ret_micros);
}

/* "18.000" is 18 to one reader and 18000 to another: which of them is meant nobody can tell. */
static bool is_ambiguous(const char *text) {
    size_t whole = strspn(text, DIGITS);
    return whole >= 1 && whole <= 3 && *text != '0' && text[whole] == '.' &&
           strspn(text + whole + 1, DIGITS) == 3;
}

static bool has_ambiguous(const char *text) {
    for (text += strcspn(text, DIGITS); *text != '\0'; text += strcspn(text, DIGITS)) {
        if (is_ambiguous(text))
            return true;
        text += strspn(text, DIGITS ".");
    }
    return false;
}

/* Takes the word if it stands here, whole. */
static bool take_word(const char **text, const char *word) {
    const char *at = skip_blanks(*text);
    size_t length = strlen(word);
    if (strncasecmp(at, word, length) != 0 ||
        (isalpha((unsigned char)word[length - 1]) && isalpha((unsigned char)at[length])))
        return false;
    *text = at + length;
    return true;
}

static bool take_any(const char **text, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (take_word(text, words[i]))
            return true;
    return false;
}

static bool is_over(const char *text) {
    return *skip_blanks(text) == '\0';
}

/* "EUR" behind a figure: owning's own currency, or any three capitals, of which the caller hears
 * in *ret_other where they are not. */
static void take_currency(const char **text, const char *own, bool *ret_other) {
    const char *at = skip_blanks(*text);
    size_t length = own ? strlen(own) : 0, capitals = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (length > 0 && strncmp(at, own, length) == 0 && !isalpha((unsigned char)at[length])) {
        *text = at + length;
        return;
    }
    if (capitals != 3 || isalpha((unsigned char)at[3]))
        return;
    *text = at + 3;
    *ret_other = *ret_other || length > 0;
}

static const struct unit {
    const char *name;
    int64_t ns;
} units[] = {
    {"hours", 3600 * NS_PER_S}, {"hour", 3600 * NS_PER_S},
    {"h", 3600 * NS_PER_S},     {"days", NS_PER_DAY},
    {"day", NS_PER_DAY},        {"d", NS_PER_DAY},
    {"weeks", 7 * NS_PER_DAY},  {"week", 7 * NS_PER_DAY},
    {"w", 7 * NS_PER_DAY},      {"months", YEAR_NS / 12},
    {"month", YEAR_NS / 12},    {"years", YEAR_NS},
    {"year", YEAR_NS},          {"y", YEAR_NS},
};

static bool take_unit(const char **text, int64_t *ret_ns) {
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
        if (take_word(text, units[i].name)) {
            *ret_ns = units[i].ns;
            return true;
        }
    return false;
}

/* millionths x unit, in nanoseconds. */
static bool scale_ns(int64_t micros, int64_t unit_ns, int64_t *ret_ns) {
    return money_scale_up(micros, (uint64_t)unit_ns, (uint64_t)MONEY_MICROS, ret_ns);
}

/* What comes of a text with money in it. */
static enum cost_reading judge_money(const char *text, bool is_read, bool is_other) {
    if (!is_read)
        return COST_UNREADABLE;
    if (has_ambiguous(text))
        return COST_AMBIGUOUS;
    return is_other ? COST_OTHER_CURRENCY : COST_READ;
}

enum cost_reading cost_read_money(const char *text, const char *currency, int64_t *ret_micros) {
    const char *at = text;
    bool is_other = false;
    if (!text || !take_decimal(&at, ret_micros))
        return COST_UNREADABLE;
    take_currency(&at, currency, &is_other);
    return judge_money(text, is_over(at), is_other);
}

bool cost_read_span(const char *text, int64_t *ret_ns) {
    int64_t micros = 0, unit = 0;
    return text && take_decimal(&text, &micros) && take_unit(&text, &unit) && is_over(text) &&
           scale_ns(micros, unit, ret_ns);
}

enum cost_reading cost_read_power(const char *text, uint64_t *ret_milliwatts) {
    const char *at = text;
    int64_t micros = 0;
    if (!text || !take_decimal(&at, &micros))
        return COST_UNREADABLE;
    bool kilo = take_word(&at, "kW");
    if ((!kilo && !take_word(&at, "W")) || !is_over(at))
        return COST_UNREADABLE;
    *ret_milliwatts = (uint64_t)micros / (kilo ? 1u : 1000u);
    return !kilo && has_ambiguous(text) ? COST_AMBIGUOUS : COST_READ;
}

/* "per" or "a" or "/" */
static bool take_per(const char **text) {
    static const char *const words[] = {"per", "an", "a", "/"};
    return take_any(text, words, ARRAY_LENGTH(words));
}

enum cost_reading cost_read_per_kwh(const char *text, const char *currency, int64_t *ret_micros) {
    const char *at = text;
    bool is_other = false;
    if (!text || !take_decimal(&at, ret_micros))
        return COST_UNREADABLE;
    take_currency(&at, currency, &is_other);
    return judge_money(text, take_per(&at) && take_word(&at, "kWh") && is_over(at), is_other);
}

bool cost_read_share(const char *text, uint64_t *ret_millionths) {
    int64_t micros = 0;
    if (!text || !take_decimal(&text, &micros))
        return false;
    bool percent = take_word(&text, "%");
    uint64_t share = percent ? (uint64_t)micros / 100u : (uint64_t)micros;
    *ret_millionths = share;
    return is_over(text) && share <= 1000000u && (!percent || micros % 100 == 0);
}

/* What comes once in `unit_ns`, for a year; rounded up. */
static bool a_year(int64_t value, int64_t unit_ns, int64_t *ret) {
    return money_scale_up(value, (uint64_t)YEAR_NS, (uint64_t)unit_ns, ret);
}

/* "2 h a week", "2 h a week at 45", "2 h a week at 45 EUR per hour" */
static bool read_hours(const char *text, const char *currency, bool *ret_other,
                       struct cost_yearly *ret) {
    static const char *const hours[] = {"hours", "hour", "h"};
    int64_t micros = 0, unit = 0, ns = 0, wage = 0;
    if (!take_decimal(&text, &micros) || !take_any(&text, hours, ARRAY_LENGTH(hours)) ||
        !take_per(&text) || !take_unit(&text, &unit) || !scale_ns(micros, 3600 * NS_PER_S, &ns) ||
        !a_year(ns, unit, &ret->hours_ns))
        return false;
    ret->has_hours = true;
    if (is_over(text))
        return true;
    if (!take_word(&text, "at") || !take_decimal(&text, &wage))
        return false;
    take_currency(&text, currency, ret_other);
    if (!is_over(text) && (!take_per(&text) || !take_any(&text, hours, ARRAY_LENGTH(hours))))
        return false;
    ret->has_money =
        money_scale_up(wage, (uint64_t)ret->hours_ns, 3600u * (uint64_t)NS_PER_S, &ret->micros);
    return ret->has_money && is_over(text);
}

static bool read_sum(const char *text, const char *currency, bool *ret_other,
                     struct cost_yearly *ret) {
    int64_t unit = 0, micros = 0;
    if (!take_decimal(&text, &micros))
        return false;
    take_currency(&text, currency, ret_other);
    /* 0 is 0 in whatever time */
    ret->has_money = is_over(text) ? micros == 0
                                   : take_per(&text) && take_unit(&text, &unit) && is_over(text) &&
                                         a_year(micros, unit, &ret->micros);
    return ret->has_money;
}

enum cost_reading cost_read_yearly(const char *text, const char *currency,
                                   struct cost_yearly *ret) {
    bool is_other = false;
    *ret = (struct cost_yearly){0};
    if (!text)
        return COST_UNREADABLE;
    if (read_hours(text, currency, &is_other, ret))
        return ret->hours_ns > YEAR_NS ? COST_IMPLAUSIBLE : judge_money(text, true, is_other);
    *ret = (struct cost_yearly){0};
    is_other = false;
    bool is_read = read_sum(text, currency, &is_other, ret);
    return judge_money(text, is_read, is_other);
}
