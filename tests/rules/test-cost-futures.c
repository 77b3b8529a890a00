/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Costs future by future, against the same sums made here by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build-cost.h"

#include <math.h>
#include <stdlib.h>

static int compare_micros(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The future of that rank, the upper one where the quantile lies between two. */
static void assert_ends(const struct amount *amount, int64_t *micros, size_t count) {
    qsort(micros, count, sizeof *micros, compare_micros);
    assert_true(amount->has_interval);
    assert_true(amount->p05 == micros[((count - 1) * 5 + 99) / 100]);
    assert_true(amount->micros == micros[((count - 1) * 50 + 99) / 100]);
    assert_true(amount->p95 == micros[((count - 1) * 95 + 99) / 100]);
}

static double future_of(const struct futures *futures, size_t i) {
    return futures->kind == FUTURES_DRAWN   ? futures->draws[i]
           : futures->kind == FUTURES_VALUE ? futures->value
                                            : 0.0;
}

/* A time in rentals of at most maximum_s, each but the first with what it restores. */
static double by_terms(double seconds, double restore_s, double maximum_s) {
    if (maximum_s <= 0.0 || seconds <= maximum_s)
        return seconds;
    if (restore_s >= maximum_s)
        return INFINITY; /* it cannot be rented so */
    return seconds + (ceil((seconds - restore_s) / (maximum_s - restore_s)) - 1.0) * restore_s;
}

static int64_t bill_for(const struct plan_offer *offer, double seconds, int64_t stopped_ns,
                        uint64_t bytes) {
    int64_t micros = 0;
    struct cost_use use = {.units = 1,
                           .reserved_ns = isinf(seconds) ? 0 : (int64_t)ceil(seconds * 1e9 - 1e-3),
                           .stopped_ns = stopped_ns,
                           .storage_bytes = bytes};
    if (isinf(seconds))
        return INT64_MAX;
    assert_true(cost_bill(offer, &use, NULL, &micros, NULL, NULL));
    return micros;
}

/* Both ways, block by block and future by future, as a person would add it up. */
static void assert_by_hand(struct built *b, const struct plan_offer *offer,
                           const struct cost *cost) {
    const struct estimate *e = &b->estimate;
    const struct plan_rental *rental = &b->plan.rental;
    bool is_stopped = rental->between != NULL;
    double wait_s = (double)rental->wait_between.ns / 1e9 * (double)(e->block_count - 1);
    double maximum_s = offer->maximum.given ? (double)offer->maximum.ns / 1e9 : 0.0;
    uint64_t bytes = rental->storage.given ? rental->storage.bytes : 0;
    size_t count = e->blocks[0].rented.reserved.count, cheaper = 0;
    int64_t *one = arena_alloc(b->arena, count * sizeof *one);
    int64_t *many = arena_alloc(b->arena, count * sizeof *many);
    int64_t *second = arena_alloc(b->arena, count * sizeof *second);
    assert_true(count >= 400);
    for (size_t i = 0; i < count; i++) {
        double whole = wait_s, restored = 0.0;
        for (size_t k = 0; k < e->block_count; k++) {
            const struct estimate_rented *rented = &e->blocks[k].rented;
            double reserved = future_of(&rented->reserved, i);
            double all = future_of(&rented->per_rental, i);
            double repeated = future_of(&rented->repeated, i);
            whole += reserved - repeated;
            restored += all - repeated;
            double own = is_stopped ? reserved - repeated : by_terms(reserved, all, maximum_s);
            int64_t bill =
                bill_for(offer, own, is_stopped && k == 0 ? (int64_t)(wait_s * 1e9) : 0, bytes);
            many[i] = bill == INT64_MAX || many[i] == INT64_MAX ? INT64_MAX : many[i] + bill;
            if (k == 1)
                second[i] = bill_for(offer, by_terms(reserved, all, maximum_s), 0, bytes);
        }
        one[i] = bill_for(offer, by_terms(whole, restored, is_stopped ? 0.0 : maximum_s), 0, bytes);
    }
    for (size_t i = 0; i < count; i++)
        cheaper +=
            cost->chosen->way == &cost->chosen->separate ? many[i] < one[i] : one[i] < many[i];
    assert_true(quantity_is_known(&cost->chosen->cheaper_share));
    assert_near(cost->chosen->cheaper_share.value, (double)cheaper / (double)count);
    assert_ends(&cost->chosen->continuous.amount, one, count);
    assert_ends(&cost->chosen->separate.amount, many, count);
    if (!is_stopped)
        assert_ends(&cost->by_block[1], second, count);
}

static struct built *restored(void) {
    static const double seconds[] = {500.0, 900.0, 620.0};
    struct built *b = scattered();
    const struct plan_step *step =
        built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    for (size_t i = 0; i < ARRAY_LENGTH(seconds); i++)
        built_step_run(b, step, seconds[i]);
    built_needs(b, &b->study.blocks[0], "install");
    built_needs(b, &b->study.blocks[1], "install");
    return b;
}

static void every_future_is_billed(void **state) {
    (void)state;
    struct built *b = restored();
    struct plan_offer offer = complete_offer();
    struct cost cost;
    int64_t sum = 0;
    /* whole half hours, one at least, fees, taxes, storage: nothing is in proportion to time */
    offer.increment = span(HOUR_NS / 2);
    offer.minimum = span(HOUR_NS);
    offer.setup_fee = price(700000);
    offer.tax_included = PLAN_NO;
    offer.tax_percent = price(19000000);
    offer.storage_running = price(80000);
    b->plan.rental.storage = (struct plan_bytes){.given = true, .bytes = UINT64_C(720000000000)};
    b->plan.rental.wait_between = span(HOUR_NS);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_by_hand(b, &offer, &cost);
    /* quantiles of the parts are no quantiles of the sum, and the lines say so where they differ */
    const struct amount *all = &cost.chosen->separate.amount;
    assert_true(cost.by_block[0].p95 + cost.by_block[1].p95 != all->p95);
    for (size_t i = 0; i < all->line_count; i++)
        sum += all->lines[i].micros;
    assert_true(sum == all->micros);
    /* neither way is the cheaper one in each future, and the sentence says in how many */
    assert_true(cost.chosen->cheaper_share.value > 0.02 && cost.chosen->cheaper_share.value < 0.98);
    AUTO_ARENA struct arena *arena = arena_new();
    assert_says(cost.chosen->cheaper,
                arena_printf(arena, "(in %d %% of the futures)",
                             (int)(cost.chosen->cheaper_share.value * 100.0)));
    /* subtotals are sums of the blocks' futures: of one block its own, of both the separate ones */
    b->plan.blocks[0].extent = b->plan.blocks[1].extent = PLAN_FULL;
    b->plan.blocks[0].recurrence = PLAN_ONE_OFF;
    b->plan.blocks[1].recurrence = PLAN_RECURRING;
    cost_of(b, &offer, 1, NULL, &cost);
    assert_true(cost.by_extent[0].amount.p05 == cost.chosen->separate.amount.p05);
    assert_true(cost.by_extent[0].amount.micros == cost.chosen->separate.amount.micros);
    assert_true(cost.by_extent[0].amount.p95 == cost.chosen->separate.amount.p95);
    assert_true(cost.by_recurrence[1].amount.micros == cost.by_block[1].micros);
    assert_true(cost.by_recurrence[1].amount.p95 == cost.by_block[1].p95);
    built_free(b);
}

static void terms_cut_each_future(void **state) {
    (void)state;
    struct built *b = restored();
    struct plan_offer offer = complete_offer();
    struct cost cost;
    offer.maximum = span(HOUR_NS);
    offer.setup_fee = price(300000);
    b->plan.rental.wait_between = span(HOUR_NS / 6);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_by_hand(b, &offer, &cost);
    assert_true(cost.chosen->continuous.rentals >= 2);
    /* stopped: nothing is restored, what is stored meanwhile is paid once */
    offer.maximum.given = false;
    offer.storage_stopped = price(1000000);
    b->plan.rental.between = "stopped";
    b->plan.rental.storage = (struct plan_bytes){.given = true, .bytes = UINT64_C(30000000000)};
    cost_of(b, &offer, 1, NULL, &cost);
    assert_by_hand(b, &offer, &cost);
    built_free(b);
}

/* Beyond 64 bits there is no number: not at the end, and not in the middle. */
static void what_cannot_be_counted(void **state) {
    (void)state;
    struct built *b = scattered();
    struct plan_offer offer = complete_offer();
    struct cost cost;
    built_assume(b, "*.prepare", "0s");
    b->plan.rental.wait_between = span(0);
    cost_of(b, &offer, 1, NULL, &cost);
    const struct quantity *total = &b->estimate.total.reserved;
    offer.increment = offer.minimum = span(0);
    offer.per = "second";
    offer.rate = price((int64_t)(9.2e18 / ((total->value + total->p95) / 2.0)));
    cost_of(b, &offer, 1, NULL, &cost);
    assert_true(amount_is_known(&cost.chosen->continuous.amount));
    assert_true(amount_is_known(&cost.chosen->separate.amount));
    assert_false(cost.chosen->continuous.amount.has_interval);
    assert_false(cost.chosen->separate.amount.has_interval);
    assert_false(quantity_is_known(&cost.chosen->cheaper_share));
    offer.rate = price((int64_t)(9.2e18 / (total->value * 0.9)));
    cost_of(b, &offer, 1, NULL, &cost);
    assert_int_equal(cost.chosen->continuous.amount.reason, QUANTITY_NOT_SUPPORTED);
    assert_int_equal(cost.chosen->separate.amount.state, QUANTITY_OPEN);
    built_free(b);
}

/* What was only assumed, or seen once, has an amount, no interval and no probability. */
static void without_an_interval(void **state) {
    (void)state;
    struct built *b = hours(2, false);
    struct plan_offer offer = complete_offer();
    struct cost cost;
    b->plan.rental.wait_between = span(DAY_NS);
    b->plan.rental.at = built_at(b);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_amount(&cost.amount, 4800000);
    assert_false(cost.amount.has_interval);
    assert_false(cost.chosen->separate.billed.has_interval);
    assert_false(quantity_is_known(&cost.chosen->cheaper_share));
    assert_null(strstr(cost.chosen->cheaper, "futures"));
    built_free(b);
    /* one block is drawn, the other holds a step that was seen once */
    b = scattered();
    const struct plan_step *step =
        built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_step_run(b, step, 420.0);
    built_needs(b, &b->study.blocks[1], "install");
    built_assume(b, "one.prepare", "0s");
    b->plan.rental.wait_between = span(DAY_NS);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_true(b->estimate.blocks[1].rented.reserved.kind == FUTURES_DRAWN);
    assert_true(cost.by_block[0].has_interval);
    assert_true(amount_is_known(&cost.by_block[1]) && !cost.by_block[1].has_interval);
    assert_true(amount_is_known(&cost.amount) && !cost.amount.has_interval);
    assert_false(quantity_is_known(&cost.chosen->cheaper_share));
    assert_non_null(cost.chosen->cheaper);
    built_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_future_is_billed),
        cmocka_unit_test(terms_cut_each_future),
        cmocka_unit_test(what_cannot_be_counted),
        cmocka_unit_test(without_an_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
