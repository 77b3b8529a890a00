/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an estimate costs: which offers are usable and why not, one rental against separate ones,
 * what has no price, currencies, changed offers, one offer for one run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build-cost.h"

#include <stdlib.h>

static void a_complete_offer_gives_an_amount(void **state) {
    (void)state;
    struct built *b = hours(1, false);
    struct plan_offer offer = complete_offer();
    struct cost cost;
    cost_of(b, &offer, 1, NULL, &cost);
    assert_ptr_equal(cost.chosen, &cost.offers[0]);
    assert_int_equal(cost.missing_count, 0);
    assert_amount(&cost.amount, 2400000);
    assert_int_equal(cost.amount.state, QUANTITY_ASSUMED); /* the time is */
    assert_int_equal(cost.amount.bound, QUANTITY_EXACT);
    assert_int_equal(cost.amount.lack_count, 0);
    assert_string_equal(cost.amount.currency, "EUR");
    assert_string_equal(cost.amount.sources[0], "probelauf.yaml:70");
    assert_amount(&cost.by_block[0], 2400000);
    assert_false(cost.chosen->separate.has);
    assert_says(cost.chosen->separate.why, "one block is left");
    /* two GPUs in units of one: two units */
    b->environment.gpus.value = 2;
    cost_of(b, &offer, 1, NULL, &cost);
    assert_amount(&cost.amount, 4800000);
    offer.gpus_per_unit.value = 8;
    cost_of(b, &offer, 1, NULL, &cost);
    assert_amount(&cost.amount, 2400000);
    built_free(b);
}

/* ---- each reason of refusal ---- */

static void break_offer(struct plan_offer *o, int how) {
    switch (how) {
    case 0:
        o->environment = NULL;
        break;
    case 1:
        o->source = NULL;
        break;
    case 2:
        o->seen.given = false;
        break;
    case 3:
        o->valid_until.given = false;
        break;
    case 4:
        o->rate.given = false;
        break;
    case 5:
        o->currency = NULL;
        break;
    case 6:
        o->per = NULL;
        break;
    case 7:
        o->increment.given = false;
        break;
    case 8:
        o->minimum.given = false;
        break;
    case 9:
        o->device = NULL;
        break;
    case 10:
        o->gpus_per_unit.given = false;
        break;
    case 11:
        o->service_unit = "SU";
        break;
    case 12:
        o->valid_until = day(-1, "2026-11-29");
        break;
    case 13:
        o->seen = day(3, "2026-12-03");
        break;
    case 14:
        o->device = "NVIDIA A100";
        break;
    case 15:
        o->units_available = (struct plan_whole){.given = true, .value = 0};
        break;
    case 16:
        o->rate = price(-1);
        break;
    case 17:
        o->valid_until = day(-40, "2026-10-21");
        break;
    case 18:
        o->minimum = (struct plan_duration){.given = true, .ns = 2 * NS_PER_DAY};
        o->maximum = (struct plan_duration){.given = true, .ns = NS_PER_DAY};
        break;
    case 19:
        o->increment = (struct plan_duration){.given = true, .ns = 2 * NS_PER_DAY};
        o->maximum = (struct plan_duration){.given = true, .ns = NS_PER_DAY};
        break;
    case 20:
        o->maximum = (struct plan_duration){.given = true, .ns = 0};
        break;
    default:
        o->per = "fortnight";
        break;
    }
}

static void each_reason_of_refusal(void **state) {
    (void)state;
    static const char *const says[] = {"the environment that it is for",
                                       "its source",
                                       "the date on which it was seen",
                                       "the date until which it is valid",
                                       "the rate",
                                       "the currency",
                                       "the billing unit",
                                       "the billing increment",
                                       "the minimum term",
                                       "the offered device",
                                       "the GPUs per unit",
                                       "a currency and a service unit",
                                       "expired",
                                       "in the future",
                                       "'NVIDIA A100' is not the 'H100' of environment 'here'",
                                       "0 units can be had",
                                       "below 0",
                                       "before it was seen",
                                       "its shortest term is longer than its longest term",
                                       "its billing increment is longer than its longest term",
                                       "its longest term is 0",
                                       "the billing unit"};
    for (int how = 0; how < (int)ARRAY_LENGTH(says); how++) {
        struct built *b = hours(1, false);
        struct plan_offer offer = complete_offer();
        struct cost cost;
        break_offer(&offer, how);
        cost_of(b, &offer, 1, NULL, &cost);
        assert_false(cost.offers[0].usable);
        assert_null(cost.chosen);
        assert_int_equal(cost.offers[0].wrong_count, 1); /* that, and nothing else */
        assert_line(cost.missing, cost.missing_count, says[how]);
        assert_line(cost.missing, cost.missing_count, "offer 'a' (probelauf.yaml:70)");
        assert_int_equal(cost.amount.reason, QUANTITY_NO_OFFER);
        assert_int_equal(cost.by_block[0].state, QUANTITY_OPEN);
        built_free(b);
    }
}

static void refused_for_the_environment(void **state) {
    (void)state;
    struct built *b = hours(1, false);
    struct plan_offer offers[2] = {complete_offer(), complete_offer()};
    struct cost cost;
    /* nothing crosses: an offer for another environment is not even listed */
    offers[0].environment = "there";
    cost_of(b, offers, 1, NULL, &cost);
    assert_int_equal(cost.offer_count, 0);
    assert_says(cost.amount.detail, "no offer was entered");
    offers[0].environment = "here";
    b->environment.gpus.given = false;
    cost_of(b, offers, 1, NULL, &cost);
    assert_line(cost.missing, cost.missing_count, "the number of GPUs of environment 'here'");
    b->environment.gpus.given = true;
    /* measured on another device than the one that is offered */
    b->environment.gpu = NULL;
    struct run *run = built_counts(b, &b->study.blocks[0].conditions[0], 100.0);
    build_put(run->environment, "gpu",
              "{\"count\":1,\"devices\":[{\"name\":\"NVIDIA A100-SXM4-80GB\"}]}");
    cost_of(b, offers, 1, NULL, &cost);
    assert_line(cost.missing, cost.missing_count, "that runs were measured on");
    offers[0].device = "A100-SXM4-80GB";
    cost_of(b, offers, 1, NULL, &cost);
    assert_non_null(cost.chosen);
    /* replaced by a newer one */
    offers[1].id = "b";
    offers[1].device = "A100-SXM4-80GB";
    offers[1].replaces = "a";
    cost_of(b, offers, 2, NULL, &cost);
    assert_line(cost.missing, cost.missing_count, "it was replaced by offer 'b'");
    assert_string_equal(cost.chosen->offer->id, "b");
    built_free(b);
}

static void without_a_gpu(void **state) {
    (void)state;
    struct built *b = hours(1, false);
    struct plan_offer offer = complete_offer();
    struct cost cost;
    b->environment.gpus.value = 0;
    cost_of(b, &offer, 1, NULL, &cost);
    assert_line(cost.missing, cost.missing_count, "it counts GPUs");
    offer.device = NULL;
    offer.gpus_per_unit.given = false;
    cost_of(b, &offer, 1, NULL, &cost);
    assert_amount(&cost.amount, 2400000);
    built_free(b);
}

/* ---- what has no price ---- */

static void lacks_make_it_at_least(void **state) {
    (void)state;
    struct built *b = hours(1, false);
    struct plan_offer offer = complete_offer();
    struct cost cost;
    offer.setup_fee.given = offer.transfer_in.given = offer.transfer_out.given = false;
    offer.storage_running.given = false;
    offer.tax_included = PLAN_NO;
    offer.interruptible = PLAN_YES;
    cost_of(b, &offer, 1, NULL, &cost);
    assert_amount(&cost.amount, 2400000);
    assert_int_equal(cost.amount.bound, QUANTITY_AT_LEAST);
    static const char *const says[] = {"set-up fee",   "transfer in",
                                       "transfer out", "storage while the machine runs",
                                       "their rate",   "interrupts"};
    for (size_t i = 0; i < ARRAY_LENGTH(says); i++)
        assert_line(cost.amount.lacks, cost.amount.lack_count, says[i]);
    /* a price is there, but nothing says how much */
    offer = complete_offer();
    offer.storage_running = price(80000);
    offer.transfer_out = price(90000);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_int_equal(cost.amount.bound, QUANTITY_AT_LEAST);
    assert_line(cost.amount.lacks, cost.amount.lack_count, "rental.storage");
    assert_line(cost.amount.lacks, cost.amount.lack_count, "the volume is not known");
    b->plan.rental.storage = (struct plan_bytes){.given = true, .bytes = UINT64_C(720000000000)};
    offer.transfer_out = price(0);
    cost_of(b, &offer, 1, NULL, &cost);
    /* 720 GB for an hour of 720 in a month at 0.08: 0.08 */
    assert_amount(&cost.amount, 2480000);
    assert_int_equal(cost.amount.bound, QUANTITY_EXACT);
    built_free(b);
}

static void open_time_is_no_amount(void **state) {
    (void)state;
    struct built *b = built_new();
    struct plan_offer offer = complete_offer();
    struct cost cost;
    b->line = 200;
    built_room(b, 1);
    b->environment.gpus.value = 1;
    built_block(b, "one", 1, 1);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_ptr_equal(cost.chosen, &cost.offers[0]);
    assert_int_equal(cost.amount.state, QUANTITY_OPEN);
    assert_int_equal(cost.missing_count, 0); /* the offer is fine */
    built_assume(b, "one.run-time", "1h");
    cost_of(b, &offer, 1, NULL, &cost);
    assert_amount(&cost.amount, 2400000);
    assert_int_equal(cost.amount.bound, QUANTITY_AT_LEAST);
    assert_line(cost.amount.lacks, cost.amount.lack_count, "open parts of the time");
    built_free(b);
}

/* The quantiles of the time are billed, and in order. */
static void intervals_are_bills_of_quantiles(void **state) {
    (void)state;
    struct built *b = built_new();
    struct plan_offer offer = complete_offer();
    struct cost cost;
    int64_t micros = 0;
    b->line = 200;
    built_room(b, 1);
    b->environment.gpus.value = 1;
    struct study_block *one = built_block(b, "one", 1, 9);
    three_runs(b, &one->conditions[0]);
    cost_of(b, &offer, 1, NULL, &cost);
    const struct quantity *reserved = &b->estimate.total.reserved;
    assert_true(reserved->has_interval && cost.amount.has_interval);
    assert_near(cost.amount.level, reserved->level);
    assert_true(cost.amount.p05 <= cost.amount.micros && cost.amount.micros <= cost.amount.p95);
    assert_int_equal(cost.amount.state, QUANTITY_ESTIMATED);
    /* of one rental: the bills of the time's quantiles, or of the future that is just above */
    const struct {
        double seconds;
        int64_t micros;
    } ends[] = {{reserved->p05, cost.amount.p05},
                {reserved->value, cost.amount.micros},
                {reserved->p95, cost.amount.p95}};
    for (size_t i = 0; i < ARRAY_LENGTH(ends); i++) {
        struct cost_use use = {.units = 1, .reserved_ns = (int64_t)ceil(ends[i].seconds * 1e9)};
        assert_true(cost_bill(&offer, &use, NULL, &micros, NULL, NULL));
        assert_true(ends[i].micros == micros || ends[i].micros == micros + 2400000 / 60);
    }
    /* whole minutes are billed, at both ends */
    const struct quantity *billed = &cost.chosen->continuous.billed;
    assert_true(billed->has_interval && billed->p05 >= reserved->p05);
    assert_true(billed->p95 >= reserved->p95 && billed->p95 < reserved->p95 + 120.0);
    assert_near(billed->p95 / 60.0, round(billed->p95 / 60.0));
    /* its lines are a bill that adds up */
    int64_t sum = 0;
    for (size_t i = 0; i < cost.amount.line_count; i++)
        sum += cost.amount.lines[i].micros;
    assert_true(sum == cost.amount.micros);
    built_free(b);
}

/* ---- one rental that waits, or separate ones ---- */

static void separate_or_continuous(void **state) {
    (void)state;
    struct built *b = hours(2, true);
    struct plan_offer offer = complete_offer();
    struct cost cost;
    const struct plan_step *step =
        built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_step_run(b, step, 1800.0);
    built_needs(b, &b->study.blocks[0], "install");
    built_needs(b, &b->study.blocks[1], "install");
    /* nothing says how long it waits: a lower bound, and no comparison */
    cost_of(b, &offer, 1, NULL, &cost);
    assert_null(cost.chosen->cheaper);
    assert_int_equal(cost.chosen->continuous.amount.bound, QUANTITY_AT_LEAST);
    assert_line(cost.chosen->continuous.amount.lacks, cost.chosen->continuous.amount.lack_count,
                "rental.wait_between");
    assert_ptr_equal(cost.chosen->way, &cost.chosen->separate); /* of which all is known */
    /* 2 x (1 h + 30 min) against 2 h + 30 min + 24 h */
    b->plan.rental.wait_between = span(DAY_NS);
    b->plan.rental.at = built_at(b);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_amount(&cost.chosen->separate.amount, 7200000);
    assert_amount(&cost.chosen->continuous.amount, 63600000);
    assert_int_equal(cost.chosen->separate.rentals, 2);
    assert_int_equal(cost.chosen->continuous.amount.state, QUANTITY_ASSUMED);
    assert_ptr_equal(cost.chosen->way, &cost.chosen->separate);
    assert_amount(&cost.amount, 7200000);
    assert_says(cost.chosen->cheaper, "separate rentals are cheaper by [a] 56.40 EUR");
    assert_says(cost.chosen->cheaper, "30 min");
    /* hardly any waiting: the restoring costs more */
    b->plan.rental.wait_between = span(HOUR_NS / 60);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_amount(&cost.amount, 6040000); /* 2 h + 30 min + 1 min */
    assert_says(cost.chosen->cheaper, "one rental is cheaper by [a] 1.16 EUR");
    assert_near(cost.chosen->continuous.reserved.value, 2.5 * 3600 + 60);
    /* each block as a rental of its own, whatever is cheaper */
    assert_amount(&cost.by_block[1], 3600000);
    /* stopped in between, its disks stay: nothing is restored, storage costs */
    b->plan.rental.between = "stopped";
    b->plan.rental.storage = (struct plan_bytes){.given = true, .bytes = UINT64_C(30000000000)};
    b->plan.rental.wait_between = span(DAY_NS);
    offer.storage_stopped = price(1000000);
    cost_of(b, &offer, 1, NULL, &cost);
    /* 2 h + 30 min, and 30 GB for a day of 30 */
    assert_amount(&cost.chosen->separate.amount, 6000000 + 1000000);
    built_free(b);
}

/* Both ways rest on the total: what is between them is waiting against restoring, and no more. */
static void both_ways_rest_on_the_total(void **state) {
    (void)state;
    struct built *b = scattered();
    struct plan_offer offer = complete_offer();
    struct cost cost;
    offer.increment = offer.minimum = span(NS_PER_S);
    built_assume(b, "*.prepare", "0s");
    b->plan.rental.wait_between = span(0);
    cost_of(b, &offer, 1, NULL, &cost);
    const struct quantity *total = &b->estimate.total.reserved;
    double one = b->estimate.blocks[0].figures.reserved.value;
    double two = b->estimate.blocks[1].figures.reserved.value;
    assert_true(fabs(one + two - total->value) > 60.0); /* else this shows nothing */
    const struct cost_way *way = &cost.chosen->separate;
    assert_near(cost.chosen->continuous.reserved.value, total->value);
    assert_near(way->reserved.value, total->value);
    assert_near(way->reserved.parts[0].quantity.value, one); /* its own, whatever the sum */
    assert_near(way->reserved.parts[1].quantity.value, two);
    assert_true(total->has_interval);
    assert_true(way->reserved.has_interval);
    assert_near(way->reserved.p05, total->p05);
    assert_near(way->reserved.p95, total->p95);
    assert_near(way->reserved.level, total->level);
    /* two are rounded up to the second, each; its lines to the millionth */
    int64_t apart = way->amount.micros - cost.chosen->continuous.amount.micros;
    assert_true(apart >= 0 && apart <= 2400000 / 3600 + 3);
    assert_true(way->amount.has_interval && way->amount.p05 <= way->amount.micros &&
                way->amount.micros <= way->amount.p95);
    apart = way->amount.p95 - cost.chosen->continuous.amount.p95;
    assert_true(apart >= 0 && apart <= 2400000 / 3600 + 3);
    /* an hour of waiting is paid by the one alone */
    b->plan.rental.wait_between = span(HOUR_NS);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_near(cost.chosen->continuous.reserved.value, total->value + 3600.0);
    assert_near(cost.chosen->separate.reserved.value, total->value);
    apart = cost.chosen->continuous.amount.micros - cost.chosen->separate.amount.micros;
    assert_true(apart <= 2400000 && apart >= 2400000 - 2400000 / 3600 - 3);
    assert_says(cost.chosen->cheaper, "the machine is not paid for [a] 1 h 00 min of waiting");
    built_free(b);
}

/* A second of waiting does not outweigh seven minutes of restoring, however the blocks scatter. */
static void restoring_outweighs_a_second(void **state) {
    (void)state;
    struct built *b = scattered();
    struct plan_offer offer = complete_offer();
    struct cost cost;
    const struct plan_step *step =
        built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_step_run(b, step, 420.0);
    built_needs(b, &b->study.blocks[0], "install");
    built_needs(b, &b->study.blocks[1], "install");
    b->plan.rental.wait_between = span(NS_PER_S);
    offer.increment = offer.minimum = span(NS_PER_S);
    cost_of(b, &offer, 1, NULL, &cost);
    double total = b->estimate.total.reserved.value;
    assert_near(cost.chosen->continuous.reserved.value, total - 420.0 + 1.0);
    assert_near(cost.chosen->separate.reserved.value, total);
    assert_ptr_equal(cost.chosen->way, &cost.chosen->continuous);
    int64_t apart = cost.chosen->separate.amount.micros - cost.chosen->continuous.amount.micros;
    int64_t time = INT64_C(419) * 2400000 / 3600;
    assert_true(apart >= time - 3 && apart <= time + 2400000 / 3600 + 3);
    assert_says(cost.chosen->cheaper, "one rental is cheaper by [a] 0.2"); /* it waits: assumed */
    /* the step was seen to run: no assumption, as the second of waiting is */
    assert_says(cost.chosen->cheaper, "restoring the environment takes [e] 7 min");
    assert_says(cost.chosen->cheaper, "waits for [a] 1 s");
    /* the rentals differ by their fees alone: said so */
    offer.setup_fee = price(5000000);
    b->plan.rental.wait_between = span(HOUR_NS);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_says(cost.chosen->cheaper, "although the machine waits for [a] 1 h 00 min: increments");
    b->plan.rental.between = "stopped";
    b->plan.rental.storage = (struct plan_bytes){.given = true, .bytes = UINT64_C(30000000000)};
    offer.storage_stopped = price(1000000);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_near(cost.chosen->separate.reserved.value, total - 420.0);
    assert_says(cost.chosen->cheaper, "what is stored while it is stopped is paid");
    built_free(b);
}

/* ---- every future has its bill ---- */

static void waiting_by_the_calendar(void **state) {
    (void)state;
    struct built *b = hours(2, false);
    struct plan_offer offer = complete_offer();
    struct cost cost;
    struct plan_planned_date dates[] = {
        {.at = {90, 3}, .block = "two", .start = day(10, "d"), .end = day(11, "d")},
        {.at = {91, 3}, .block = "one", .start = day(2, "d"), .end = day(3, "d")},
    };
    b->plan.calendar = dates;
    b->plan.calendar_count = 2;
    b->plan.rental.wait_between = span(HOUR_NS); /* the calendar goes before it */
    cost_of(b, &offer, 1, NULL, &cost);
    /* day 4 to 9: six days */
    assert_near(cost.chosen->continuous.reserved.value, 2 * 3600 + 6 * 86400.0);
    assert_amount(&cost.amount, 4800000);
    dates[0].start = day(3, "d"); /* they overlap: no waiting */
    cost_of(b, &offer, 1, NULL, &cost);
    assert_near(cost.chosen->continuous.reserved.value, 2 * 3600);
    assert_says(cost.chosen->cheaper, "cost the same");
    dates[0].end = day(31, "2026-12-31"); /* behind the offer's last day */
    cost_of(b, &offer, 1, NULL, &cost);
    assert_line(cost.missing, cost.missing_count, "runs are planned on 2026-12-31");
    built_free(b);
}

/* Three rentals by the longest term, each restored; what is too short to restore is no way. */
static void the_longest_term(void **state) {
    (void)state;
    struct built *b = hours(1, true);
    struct plan_offer offer = complete_offer();
    struct cost cost;
    const struct plan_step *step =
        built_step(b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_step_run(b, step, 600.0);
    built_needs(b, &b->study.blocks[0], "install");
    built_set(b, "one.run-time", "5h");
    offer.maximum = span(2 * HOUR_NS);
    offer.setup_fee = price(1000000);
    cost_of(b, &offer, 1, NULL, &cost);
    /* 5 h 10 min = 2 h + (10 min + 1 h 50) + (10 min + 1 h 20): 5 h 30 min and three fees */
    assert_int_equal(cost.chosen->continuous.rentals, 3);
    assert_near(cost.chosen->continuous.reserved.value, 5.5 * 3600);
    assert_amount(&cost.amount, 13200000 + 3000000);
    offer.maximum = span(HOUR_NS / 10);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_false(cost.chosen->continuous.has);
    assert_int_equal(cost.amount.state, QUANTITY_OPEN);
    assert_says(cost.amount.detail, "shorter than restoring");
    built_free(b);
}

/* ---- several offers ---- */

static void the_cheapest_of_one_currency(void **state) {
    (void)state;
    struct built *b = hours(1, false);
    struct plan_offer offers[] = {complete_offer(), complete_offer(), complete_offer()};
    struct cost cost;
    offers[1].id = "b";
    offers[1].rate = price(2399999);
    offers[2].id = "broken";
    offers[2].rate = price(1);
    offers[2].source = NULL;
    cost_of(b, offers, 3, NULL, &cost);
    assert_string_equal(cost.chosen->offer->id, "b");
    assert_amount(&cost.amount, 2399999);
    assert_int_equal(cost.missing_count, 1);
    cost_of(b, offers, 3, "a", &cost);
    assert_amount(&cost.amount, 2400000);
    cost_of(b, offers, 3, "broken", &cost);
    assert_null(cost.chosen);
    assert_says(cost.amount.detail, "'broken' is not usable");
    /* currencies are not compared, and a service unit is one of its own */
    offers[1].currency = "USD";
    cost_of(b, offers, 2, NULL, &cost);
    assert_null(cost.chosen);
    assert_int_equal(cost.amount.reason, QUANTITY_NOT_SEPARATED);
    assert_says(cost.amount.detail, "different currencies");
    offers[1].currency = NULL;
    offers[1].service_unit = "EUR";
    cost_of(b, offers, 2, NULL, &cost);
    assert_null(cost.chosen);
    cost_of(b, offers, 2, "b", &cost);
    assert_true(cost.amount.is_service_unit);
    assert_amount(&cost.amount, 2399999);
    built_free(b);
}

static void a_changed_offer_is_shown(void **state) {
    (void)state;
    struct built *b = hours(1, false);
    struct plan_offer offers[] = {complete_offer(), complete_offer()};
    struct cost cost;
    offers[1].id = "b";
    offers[1].replaces = "a";
    offers[1].rate = price(2600000);
    offers[1].region = "eu";
    cost_of(b, offers, 2, NULL, &cost);
    const struct cost_offer *new = &cost.offers[1];
    assert_int_equal(new->change_count, 2);
    assert_string_equal(new->changes[0].key, "rate");
    assert_string_equal(new->changes[0].before, "2.400000");
    assert_string_equal(new->changes[0].after, "2.600000");
    assert_string_equal(new->changes[1].key, "region");
    assert_null(new->changes[1].before);
    built_free(b);
}

/* ---- subtotals, verification, one offer ---- */

static void subtotals_of_blocks(void **state) {
    (void)state;
    struct built *b = hours(3, false);
    struct plan_offer offer = complete_offer();
    struct cost cost;
    b->plan.blocks[0].extent = PLAN_VALIDATION;
    b->plan.blocks[1].extent = b->plan.blocks[2].extent = PLAN_FULL;
    b->plan.blocks[0].recurrence = b->plan.blocks[1].recurrence = PLAN_ONE_OFF;
    offer.setup_fee = price(1000000);
    cost_of(b, &offer, 1, NULL, &cost);
    assert_string_equal(cost.by_extent[0].name, "validation");
    assert_amount(&cost.by_extent[0].amount, 3400000);
    assert_amount(&cost.by_extent[1].amount, 6800000);
    assert_amount(&cost.by_recurrence[0].amount, 6800000);
    assert_string_equal(cost.by_recurrence[1].name, "not said");
    assert_amount(&cost.by_recurrence[1].amount, 3400000);
    assert_line(cost.chosen->verify, cost.chosen->verify_count, "availability");
    assert_line(cost.chosen->verify, cost.chosen->verify_count, "interruption");
    built_free(b);
}

static void one_offer_for_one_run(void **state) {
    (void)state;
    struct built *b = hours(1, false);
    struct plan_offer offers[] = {complete_offer(), complete_offer()};
    const char *why = NULL;
    offers[1].id = "b";
    b->plan.offers = offers;
    b->plan.offer_count = 1;
    assert_ptr_equal(cost_only_offer(&b->plan, NULL, &b->environment, NULL, NOW, b->arena, &why),
                     &offers[0]);
    assert_null(why);
    b->plan.offer_count = 2;
    assert_null(cost_only_offer(&b->plan, NULL, &b->environment, NULL, NOW, b->arena, &why));
    assert_says(why, "2 offers are usable");
    assert_ptr_equal(cost_only_offer(&b->plan, "b", &b->environment, NULL, NOW, b->arena, &why),
                     &offers[1]);
    assert_null(cost_only_offer(&b->plan, "c", &b->environment, NULL, NOW, b->arena, &why));
    assert_says(why, "no offer 'c'");
    offers[1].source = NULL;
    assert_ptr_equal(cost_only_offer(&b->plan, NULL, &b->environment, NULL, NOW, b->arena, &why),
                     &offers[0]);
    assert_null(cost_only_offer(&b->plan, "b", &b->environment, NULL, NOW, b->arena, &why));
    assert_says(why, "its source");
    built_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_complete_offer_gives_an_amount),
        cmocka_unit_test(each_reason_of_refusal),
        cmocka_unit_test(refused_for_the_environment),
        cmocka_unit_test(without_a_gpu),
        cmocka_unit_test(lacks_make_it_at_least),
        cmocka_unit_test(open_time_is_no_amount),
        cmocka_unit_test(intervals_are_bills_of_quantiles),
        cmocka_unit_test(separate_or_continuous),
        cmocka_unit_test(both_ways_rest_on_the_total),
        cmocka_unit_test(restoring_outweighs_a_second),
        cmocka_unit_test(waiting_by_the_calendar),
        cmocka_unit_test(the_longest_term),
        cmocka_unit_test(the_cheapest_of_one_currency),
        cmocka_unit_test(a_changed_offer_is_shown),
        cmocka_unit_test(subtotals_of_blocks),
        cmocka_unit_test(one_offer_for_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
