/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Money: integer micro-units of one currency (or one service unit), exact, never a float. Amounts
 * of different currencies are never added. An amount is to money what a quantity is to measured
 * values: it says how it is known, what it lacks, and is open with the reason where there is none.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MONEY_MICROS INT64_C(1000000) /* of one unit of a currency */

struct amount_line {    /* one line of a bill */
    const char *text;   /* translated: "2 units x 31 h at 2.49 EUR per hour" */
    int64_t micros;     /* at the amount's own value (p50) */
    const char *source; /* "probelauf.yaml:80"; NULL: none */
};

struct amount {
    enum quantity_state state; /* of the time behind it; open: nothing else but reason and detail */
    enum quantity_bound bound; /* at-least: something is not in it, `lacks` names it */
    enum quantity_reason reason; /* only when open: usually no-offer */
    int64_t micros;
    const char *currency; /* ISO 4217, or a service unit as the offer writes it */
    bool is_service_unit;
    bool has_interval;
    double level;
    int64_t p05, p95;   /* micros */
    const char *detail; /* translated; may be NULL */
    const struct amount_line *lines;
    size_t line_count;
    const char *const *lacks; /* translated: "the price of transfer out" */
    size_t lack_count;
    const char *const *sources; /* offer and what the time rests on */
    size_t source_count;
};

struct amount amount_open(enum quantity_reason reason, const char *detail);
bool amount_is_known(const struct amount *amount);
/* The sum of amounts of one currency; open (not-separated) where they differ in it or overflow. An
 * open part makes it at-least, or open where none is known; an interval is lost (medians do not add
 * up). names: of the parts, translated. */
struct amount amount_sum(const struct amount *const *amounts, const char *const *names,
                         size_t count, struct arena *arena);

/* false: it does not fit into 64 bits. */
bool money_add(int64_t a, int64_t b, int64_t *ret);
/* value x numerator / denominator, rounded up; all of them >= 0, denominator > 0. */
bool money_scale_up(int64_t micros, uint64_t numerator, uint64_t denominator, int64_t *ret);
/* value x a x b / (c x d), rounded up, likewise; false also where the product needs more than 128
 * bits. */
bool money_scale_twice(int64_t micros, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                       int64_t *ret);

/* Takes an exact decimal, "12" or "12.5", without a sign and with at most six digits behind the
 * point; *text is then behind it. */
bool money_take(const char **text, int64_t *ret_micros);

/* "12.345600": all six digits, '.', for machines. */
void money_add_exact(struct strbuf *out, int64_t micros);
/* "19", "0.000001" (by the language's rules): the same without trailing zeros. */
void money_add_shortest(struct strbuf *out, int64_t micros);
/* "12.35 EUR" (by the language's rules), at least two digits, never less exact than the plan writes
 * it: trailing zeros are cut. */
void money_add_text(struct strbuf *out, int64_t micros, const char *currency);

/* {state, currency or service_unit, micros, text, bound?, level?, p05_micros?, p95_micros?, lines,
 * lacks, sources, reason?, detail?} : schema/amount.schema.json */
json_t *amount_to_json(const struct amount *amount);
/* The reverse, for documents that were kept; without the lines. Never trusts the document: what
 * does not hold together is open. */
struct amount amount_from_json(const json_t *json, struct arena *arena);
/* Rounded up to a hundredth, as tables, totals and sentences show it: never less than it is. */
int64_t money_shown(int64_t micros);
/* "[e] ≥ 12.35 EUR (11.80 … 15.20)", rounded so; "[?] open (no offer)". */
void amount_format(const struct amount *amount, struct quantity_style style, struct strbuf *out);
/* The same, not rounded: lines of a bill, limits that a person set, two amounts side by side. */
void amount_format_exact(const struct amount *amount, struct quantity_style style,
                         struct strbuf *out);
