/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of costs share: offers that lack nothing, and studies whose hours are known. */
#pragma once

#include "base/clock.h"
#include "rules/cost.h"

#include "estimate-asserts.h"

#define HOUR_NS INT64_C(3600000000000)
#define DAY_NS  (24 * HOUR_NS)
#define NOW     INT64_C(1796000000000000000) /* as built_new says it: 2026-11-30 */

__attribute__((unused)) static struct plan_amount price(int64_t micros) {
    return (struct plan_amount){.given = true, .micros = micros};
}

__attribute__((unused)) static struct plan_duration span(int64_t ns) {
    return (struct plan_duration){.given = true, .ns = ns};
}

__attribute__((unused)) static struct plan_date day(int64_t days, const char *text) {
    return (struct plan_date){
        .given = true, .utc_ns = (NOW / DAY_NS + days) * DAY_NS, .text = text};
}

/* Complete: 2.40 an hour, by the minute, at least a minute, nothing else. */
__attribute__((unused)) static struct plan_offer complete_offer(void) {
    return (struct plan_offer){
        .at = {70, 3},
        .id = "a",
        .environment = "here",
        .device = "NVIDIA H100",
        .gpus_per_unit = {.given = true, .value = 1},
        .rate = price(2400000),
        .currency = "EUR",
        .per = "hour",
        .increment = span(HOUR_NS / 60),
        .minimum = span(HOUR_NS / 60),
        .setup_fee = price(0),
        .storage_running = price(0),
        .storage_stopped = price(0),
        .transfer_in = price(0),
        .transfer_out = price(0),
        .interruptible = PLAN_NO,
        .tax_included = PLAN_YES,
        .source = "quote 1",
        .seen = day(-1, "2026-11-29"),
        .valid_until = day(30, "2026-12-30"),
    };
}

/* Blocks of one run of one hour each, everything else assumed to be 0; a GPU. */
__attribute__((unused)) static struct built *hours(size_t blocks, bool with_steps) {
    __attribute__((unused)) static const char *const names[] = {"one", "two", "three"};
    __attribute__((unused)) static const char *const zero[] = {
        "*.data", "*.transfer", "*.retries", "*.fixing", "*.checking", "*.teardown", "*.idle"};
    struct built *b = built_new();
    b->line = 200;
    built_room(b, blocks);
    b->environment.gpu = "H100";
    b->environment.gpus.value = 1;
    for (size_t i = 0; i < blocks; i++)
        built_block(b, names[i], 1, 1);
    for (size_t i = 0; i < ARRAY_LENGTH(zero); i++)
        built_assume(b, zero[i], "0s");
    built_assume(b, "*.run-time", "1h");
    if (!with_steps)
        built_assume(b, "*.prepare", "0s");
    return b;
}

__attribute__((unused)) static void cost_of(struct built *b, struct plan_offer *offers,
                                            size_t count, const char *id, struct cost *ret) {
    b->plan.offers = offers;
    b->plan.offer_count = count;
    cost_make(built_estimate(b), id, b->arena, ret);
}

__attribute__((unused)) static void assert_amount(const struct amount *amount, int64_t micros) {
    if (!amount_is_known(amount))
        fail_msg("open: %s", amount->detail ? amount->detail : "");
    if (amount->micros != micros)
        fail_msg("%lld instead of %lld", (long long)amount->micros, (long long)micros);
}

/* The runs of both blocks scatter widely: the medians of the blocks do not add up. */
__attribute__((unused)) static struct built *scattered(void) {
    static const char *const zero[] = {"*.data",     "*.transfer", "*.retries", "*.fixing",
                                       "*.checking", "*.teardown", "*.idle"};
    static const double seconds[] = {600.0, 700.0, 1500.0};
    struct built *b = built_new();
    b->line = 200;
    built_room(b, 2);
    b->environment.gpu = "H100";
    b->environment.gpus.value = 1;
    struct study_block *blocks[] = {built_block(b, "one", 1, 4), built_block(b, "two", 1, 5)};
    for (size_t i = 0; i < ARRAY_LENGTH(zero); i++)
        built_assume(b, zero[i], "0s");
    for (size_t i = 0; i < 2; i++)
        for (size_t r = 0; r < ARRAY_LENGTH(seconds); r++)
            built_counts(b, &blocks[i]->conditions[0], seconds[r]);
    b->plan.rental.at = built_at(b);
    return b;
}
