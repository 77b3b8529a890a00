/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact money (money.h): integers all the way, rounded up where a division leaves a rest. Must not
 * add two currencies, and must not show an amount that nobody can rest on.
 */
#include "model/money.h"

#include "base/msg.h"
#include "base/str.h"
#include "model/quantity-read.h"

#include <ctype.h>
#include <string.h>

#define DIGITS 6 /* of the micro-unit behind the point */

/* ---- integers ---- */

bool money_add(int64_t a, int64_t b, int64_t *ret) {
    return !__builtin_add_overflow(a, b, ret);
}

__extension__ typedef unsigned __int128 wide;

/* false: it does not fit. */
static bool divide_up(wide product, wide divisor, int64_t *ret) {
    wide result = product / divisor + (product % divisor != 0);
    *ret = result <= INT64_MAX ? (int64_t)result : 0;
    return result <= INT64_MAX;
}

bool money_scale_up(int64_t micros, uint64_t numerator, uint64_t denominator, int64_t *ret) {
    /* 63 and 64 bits fit into 127 */
    return micros >= 0 && denominator > 0 &&
           divide_up((wide)(uint64_t)micros * numerator, denominator, ret);
}

bool money_scale_twice(int64_t micros, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                       int64_t *ret) {
    wide product = (wide)a * b;
    return micros >= 0 && c > 0 && d > 0 &&
           !__builtin_mul_overflow(product, (wide)(uint64_t)micros, &product) &&
           divide_up(product, (wide)c * d, ret);
}

bool money_take(const char **text, int64_t *ret_micros) {
    const char *at = *text;
    int64_t value = 0, unit = MONEY_MICROS;
    if (!isdigit((unsigned char)*at))
        return false;
    for (; isdigit((unsigned char)*at); at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *at - '0', &value))
            return false;
    if (__builtin_mul_overflow(value, MONEY_MICROS, &value))
        return false;
    if (*at == '.') {
        if (!isdigit((unsigned char)*++at))
            return false;
        for (; isdigit((unsigned char)*at); at++) {
            unit /= 10;
            if (unit == 0 || __builtin_add_overflow(value, (*at - '0') * unit, &value))
                return false;
        }
    }
    *text = at;
    *ret_micros = value;
    return true;
}

/* "-12.345600" with at least `least` digits behind the point, those behind them only where they are
 * not all 0. */
static void add_digits(struct strbuf *out, int64_t micros, int least) {
    uint64_t size = micros < 0 ? 0 - (uint64_t)micros : (uint64_t)micros;
    AUTO_FREE char *text =
        mem_printf("%s%llu.%06llu", micros < 0 ? "-" : "", (unsigned long long)(size / 1000000u),
                   (unsigned long long)(size % 1000000u));
    size_t length = strlen(text);
    for (int digits = DIGITS; digits > least && text[length - 1] == '0'; digits--)
        length--;
    if (text[length - 1] == '.')
        length--;
    strbuf_add(out, text, length);
}

void money_add_exact(struct strbuf *out, int64_t micros) {
    add_digits(out, micros, DIGITS);
}

/* As the language writes it. */
static void add_local(struct strbuf *out, int64_t micros, int least) {
    AUTO_STRBUF struct strbuf digits = STRBUF_INIT;
    add_digits(&digits, micros, least);
    msg_add_decimal(out, strbuf_str(&digits));
}

static void add_number(struct strbuf *out, int64_t micros) {
    add_local(out, micros, 2);
}

void money_add_shortest(struct strbuf *out, int64_t micros) {
    add_local(out, micros, 0);
}

void money_add_text(struct strbuf *out, int64_t micros, const char *currency) {
    add_number(out, micros);
    if (!currency || !*currency)
        return;
    strbuf_add_char(out, ' ');
    str_add_printable(out, currency, strlen(currency)); /* a service unit is any text of a plan */
}

/* ---- amounts ---- */

struct amount amount_open(enum quantity_reason reason, const char *detail) {
    return (struct amount){.reason = reason == QUANTITY_NO_REASON ? QUANTITY_NO_OFFER : reason,
                           .detail = detail};
}

bool amount_is_known(const struct amount *amount) {
    return amount->state != QUANTITY_OPEN;
}

static bool is_of_one_currency(const struct amount *a, const struct amount *b) {
    return a->is_service_unit == b->is_service_unit &&
           strcmp(a->currency ? a->currency : "", b->currency ? b->currency : "") == 0;
}

static void add_texts(const char *const **list, size_t *count, const char *const *more,
                      size_t more_count, struct arena *arena) {
    const char **all = arena_alloc(arena, (*count + more_count + 1) * sizeof *all);
    size_t used = *count;
    for (size_t i = 0; i < used; i++)
        all[i] = (*list)[i];
    for (size_t i = 0; i < more_count; i++) {
        bool is_there = false;
        for (size_t k = 0; k < used && !is_there; k++)
            is_there = strcmp(all[k], more[i]) == 0;
        if (!is_there)
            all[used++] = more[i];
    }
    *list = (const char *const *)all;
    *count = used;
}

/* Bounds of two parts together; false: none is left. */
static bool join_bounds(enum quantity_bound *bound, enum quantity_bound other) {
    if (other == QUANTITY_EXACT)
        return true;
    if (*bound != QUANTITY_EXACT && *bound != other)
        return false;
    *bound = other;
    return true;
}

static const char *lack_of(const struct amount *part, const char *name, struct arena *arena) {
    return part->detail ? arena_printf(arena, "%s: %s", name, part->detail) : name;
}

struct sum {
    struct amount amount;
    struct amount_line *lines;
    const struct amount *first; /* the first one that is known */
    size_t open;
    bool has_bound;
};

/* false: the currencies differ, or it does not fit. */
static bool sum_known(struct sum *sum, const struct amount *part, const char *name,
                      struct arena *arena) {
    struct amount *all = &sum->amount;
    if (sum->first && !is_of_one_currency(sum->first, part))
        return false;
    if (!money_add(all->micros, part->micros, &all->micros))
        return false;
    if (!sum->first || part->state < all->state)
        all->state = part->state;
    if (!sum->first) {
        sum->first = part;
        all->currency = part->currency;
        all->is_service_unit = part->is_service_unit;
    }
    sum->has_bound = sum->has_bound && join_bounds(&all->bound, part->bound);
    sum->lines[all->line_count++] =
        (struct amount_line){.text = name,
                             .micros = part->micros,
                             .source = part->source_count > 0 ? part->sources[0] : NULL};
    add_texts(&all->lacks, &all->lack_count, part->lacks, part->lack_count, arena);
    add_texts(&all->sources, &all->source_count, part->sources, part->source_count, arena);
    return true;
}

struct amount amount_sum(const struct amount *const *amounts, const char *const *names,
                         size_t count, struct arena *arena) {
    struct sum sum = {.has_bound = true,
                      .lines = arena_alloc(arena, (count + 1) * sizeof *sum.lines)};
    for (size_t i = 0; i < count; i++) {
        if (amount_is_known(amounts[i])) {
            if (!sum_known(&sum, amounts[i], names[i], arena))
                return amount_open(QUANTITY_NOT_SEPARATED,
                                   _("amounts of different currencies, or too large ones, are not "
                                     "added"));
            continue;
        }
        const char *lack = lack_of(amounts[i], names[i], arena);
        sum.open++;
        add_texts(&sum.amount.lacks, &sum.amount.lack_count, &lack, 1, arena);
    }
    if (!sum.first)
        return count > 0 ? amount_open(amounts[0]->reason, amounts[0]->detail)
                         : amount_open(QUANTITY_NOT_APPLICABLE, NULL);
    if (sum.open > 0)
        sum.has_bound = sum.has_bound && join_bounds(&sum.amount.bound, QUANTITY_AT_LEAST);
    if (!sum.has_bound)
        return amount_open(QUANTITY_NOT_SEPARATED,
                           _("some parts are at most, others at least what is known"));
    if (count == 1) {
        sum.amount.has_interval = sum.first->has_interval;
        sum.amount.level = sum.first->level;
        sum.amount.p05 = sum.first->p05;
        sum.amount.p95 = sum.first->p95;
    }
    sum.amount.lines = sum.lines;
    return sum.amount;
}

/* ---- for programs ---- */

static json_t *texts_json(const char *const *texts, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_text(texts[i]));
    return list;
}

static void put_micros(json_t *json, const char *key, const char *text_key, int64_t micros) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    money_add_exact(&text, micros);
    json_put_int(json, key, micros);
    json_put_text(json, text_key, strbuf_str(&text));
}

/* A line is an amount of its own: its state is that of the whole. */
static json_t *lines_json(const struct amount *amount) {
    json_t *list = json_array();
    for (size_t i = 0; i < amount->line_count; i++) {
        json_t *json = json_object();
        json_put_text(json, "what", amount->lines[i].text);
        json_put_text(json, "state", quantity_state_name(amount->state));
        put_micros(json, "micros", "text", amount->lines[i].micros);
        json_put(json, "sources",
                 texts_json(&amount->lines[i].source, amount->lines[i].source ? 1 : 0));
        json_array_append_new(list, json);
    }
    return list;
}

json_t *amount_to_json(const struct amount *amount) {
    json_t *json = json_object();
    json_put_text(json, "state", quantity_state_name(amount->state));
    if (!amount_is_known(amount)) {
        json_put(json, "micros", json_null());
        json_put_text(json, "reason",
                      quantity_reason_name(amount->reason == QUANTITY_NO_REASON ? QUANTITY_NO_OFFER
                                                                                : amount->reason));
        if (amount->detail)
            json_put_text(json, "detail", amount->detail);
        return json;
    }
    json_put_text(json, amount->is_service_unit ? "service_unit" : "currency",
                  amount->currency ? amount->currency : "");
    put_micros(json, "micros", "text", amount->micros);
    if (amount->bound != QUANTITY_EXACT)
        json_put_text(json, "bound", quantity_bound_name(amount->bound));
    if (amount->has_interval) {
        json_put_real(json, "level", amount->level);
        put_micros(json, "p05_micros", "p05_text", amount->p05);
        put_micros(json, "p95_micros", "p95_text", amount->p95);
    }
    if (amount->detail)
        json_put_text(json, "detail", amount->detail);
    json_put(json, "lines", lines_json(amount));
    json_put(json, "lacks", texts_json(amount->lacks, amount->lack_count));
    json_put(json, "sources", texts_json(amount->sources, amount->source_count));
    return json;
}

/* ---- out of a document that was kept ---- */

static bool micros_of(const json_t *json, const char *key, int64_t *ret_micros) {
    const json_t *value = json_object_get(json, key);
    if (!json_is_integer(value))
        return false;
    *ret_micros = json_integer_value(value);
    return true;
}

struct amount amount_from_json(const json_t *json, struct arena *arena) {
    struct amount amount = {.state = quantity_state_of_json(json)};
    const char *detail = json_get_text(json, "detail", NULL);
    const char *currency = json_get_text(json, "currency", NULL);
    const char *unit = json_get_text(json, "service_unit", NULL);
    enum quantity_reason reason = QUANTITY_NOT_IN_RECORD;
    if (detail)
        detail = arena_strdup(arena, detail);
    if (!quantity_reason_from_name(json_get_text(json, "reason", ""), &reason) ||
        reason == QUANTITY_NO_REASON)
        reason = QUANTITY_NOT_IN_RECORD;
    if (!amount_is_known(&amount) || !micros_of(json, "micros", &amount.micros) ||
        (!currency && !unit))
        return amount_open(reason, detail);
    amount.is_service_unit = !currency;
    amount.currency = arena_strdup(arena, currency ? currency : unit);
    amount.detail = detail;
    amount.bound = quantity_bound_of_json(json);
    amount.level = json_get_real(json, "level", 0.0);
    amount.has_interval = amount.level > 0.0 && micros_of(json, "p05_micros", &amount.p05) &&
                          micros_of(json, "p95_micros", &amount.p95) && amount.p05 <= amount.p95;
    amount.lacks = quantity_texts_of_json(json, "lacks", arena, &amount.lack_count);
    amount.sources = quantity_texts_of_json(json, "sources", arena, &amount.source_count);
    return amount;
}

/* ---- for people ---- */

#define HUNDREDTH 10000 /* micro-units */

int64_t money_shown(int64_t micros) {
    int64_t over = micros % HUNDREDTH, more = 0;
    if (over < 0)
        return micros - over; /* towards 0 is up */
    if (over > 0 && __builtin_add_overflow(micros, HUNDREDTH - over, &more))
        return micros;
    return over > 0 ? more : micros;
}

void amount_format(const struct amount *amount, struct quantity_style style, struct strbuf *out) {
    struct amount shown = *amount;
    shown.micros = money_shown(amount->micros);
    shown.p05 = money_shown(amount->p05);
    shown.p95 = money_shown(amount->p95);
    amount_format_exact(&shown, style, out);
}

void amount_format_exact(const struct amount *amount, struct quantity_style style,
                         struct strbuf *out) {
    struct quantity marked = quantity_open(NULL, amount->reason, NULL);
    if (!amount_is_known(amount)) {
        if (marked.reason == QUANTITY_NO_REASON)
            marked.reason = QUANTITY_NO_OFFER;
        quantity_format(&marked, style, out);
        return;
    }
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    if (style.mark)
        strbuf_add_str(out, amount->state == QUANTITY_MEASURED    ? "[m] "
                            : amount->state == QUANTITY_ESTIMATED ? "[e] "
                                                                  : "[a] ");
    money_add_text(&value, amount->micros, amount->currency);
    quantity_add_bounded(amount->bound, style.ascii, strbuf_str(&value), out);
    if (amount->has_interval) {
        AUTO_STRBUF struct strbuf low = STRBUF_INIT;
        AUTO_STRBUF struct strbuf high = STRBUF_INIT;
        add_number(&low, amount->p05);
        add_number(&high, amount->p95);
        char level[MSG_DECIMAL_SIZE];
        strbuf_printf(out, _(" (%s to %s, %s %%)"), strbuf_str(&low), strbuf_str(&high),
                      msg_decimal(level, "%.3g", amount->level * 100));
    }
}
