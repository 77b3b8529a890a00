/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a machine of one's own costs, by figures that were computed by hand; what is unreadable or
 * without a source is missing, and then there is no amount. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rules/cost-parts.h"

#define HOUR_NS INT64_C(3600000000000)

#define READ(reading) ((reading) == COST_READ)

/* ---- reading ---- */

static void money_is_read_whole(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t micros; /* -1: not readable */
    } cases[] = {
        {"18000", INT64_C(18000000000)},
        {"18000 EUR", INT64_C(18000000000)},
        {"0.000001", 1},
        {" 12.5 ", 12500000},
        {"0.0000001", -1},
        {"18,000", -1},
        {"18000 euros", -1},
        {"about 18000", -1},
        {"-5", -1},
        {"", -1},
        {".", -1},
        {"1e5", -1},
        {"99999999999999999999", -1},
        {"9223372036855", -1},
        {"18000 USD", -1},
        {"18.000", -1},
        {"999.999 EUR", -1},
        {"1.0000", 1000000},
        {"0.125", 125000},
        {"1234.500", 1234500000},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        int64_t micros = 0;
        bool is_read = cost_read_money(cases[i].text, "EUR", &micros) == COST_READ;
        if (is_read != (cases[i].micros >= 0) || (is_read && micros != cases[i].micros))
            fail_msg("'%s': %d, %lld", cases[i].text, is_read, (long long)micros);
    }
    assert_int_equal(cost_read_money(NULL, "EUR", &(int64_t){0}), COST_UNREADABLE);
}

static void other_figures(void **state) {
    (void)state;
    int64_t value = 0;
    uint64_t size = 0;
    assert_true(cost_read_span("4 years", &value) && value == INT64_C(4) * 8760 * HOUR_NS);
    assert_true(cost_read_span("10 weeks", &value) && value == INT64_C(1680) * HOUR_NS);
    assert_true(cost_read_span("1.5 days", &value) && value == 36 * HOUR_NS);
    assert_true(cost_read_span("6 months", &value) && value == INT64_C(4380) * HOUR_NS);
    assert_false(cost_read_span("4", &value) || cost_read_span("4 yearss", &value) ||
                 cost_read_span("soon", &value) || cost_read_span("4 years or so", &value));
    assert_true(READ(cost_read_power("900 W", &size)) && size == 900000);
    assert_true(READ(cost_read_power("1.2 kW", &size)) && size == 1200000);
    assert_false(READ(cost_read_power("900", &size)) || READ(cost_read_power("900 Wh", &size)));
    assert_true(READ(cost_read_per_kwh("0.31 per kWh", "EUR", &value)) && value == 310000);
    assert_true(READ(cost_read_per_kwh("0.31 EUR/kWh", "EUR", &value)) && value == 310000);
    assert_false(READ(cost_read_per_kwh("0.31", "EUR", &value)) ||
                 READ(cost_read_per_kwh("0.31 per MWh", "EUR", &value)));
    assert_true(cost_read_share("30%", &size) && size == 300000);
    assert_true(cost_read_share("0.3", &size) && size == 300000);
    assert_true(cost_read_share("12.5 %", &size) && size == 125000);
    assert_false(cost_read_share("130%", &size) || cost_read_share("30", &size) ||
                 cost_read_share("a third", &size));
}

static void yearly_figures(void **state) {
    (void)state;
    struct cost_yearly y;
    assert_true(READ(cost_read_yearly("900 a year", "EUR", &y)) && y.has_money &&
                y.micros == 900000000);
    assert_true(READ(cost_read_yearly("75 per month", "EUR", &y)) && y.micros == 900000000);
    assert_true(READ(cost_read_yearly("0", "EUR", &y)) && y.has_money && y.micros == 0);
    assert_true(READ(cost_read_yearly("2 h a week", "EUR", &y)) && y.has_hours && !y.has_money);
    assert_true(y.hours_ns == INT64_C(375428571428572)); /* 2 h x 365 / 7, rounded up */
    assert_true(READ(cost_read_yearly("10 h a year at 45", "EUR", &y)) && y.has_money &&
                y.micros == 450000000);
    assert_true(READ(cost_read_yearly("1 h a month at 40.50 EUR per hour", "EUR", &y)) &&
                y.micros == 486000000);
    assert_false(READ(cost_read_yearly("900", "EUR", &y)) ||
                 READ(cost_read_yearly("some", "EUR", &y)) ||
                 READ(cost_read_yearly("2 h", "EUR", &y)) ||
                 READ(cost_read_yearly("2 h a week at lunch", "EUR", &y)) ||
                 READ(cost_read_yearly(NULL, "EUR", &y)));
}

/* What could be taken for another figure is not read as one. */
static void figures_that_mean_something_else(void **state) {
    (void)state;
    int64_t micros = 0;
    uint64_t size = 0;
    struct cost_yearly y;
    assert_int_equal(cost_read_money("18000 USD", "EUR", &micros), COST_OTHER_CURRENCY);
    assert_int_equal(cost_read_money("18000 USD", NULL, &micros), COST_READ);
    assert_int_equal(cost_read_money("18.000 EUR", "EUR", &micros), COST_AMBIGUOUS);
    assert_int_equal(cost_read_per_kwh("0.31 USD per kWh", "EUR", &micros), COST_OTHER_CURRENCY);
    assert_int_equal(cost_read_yearly("900 USD a year", "EUR", &y), COST_OTHER_CURRENCY);
    assert_int_equal(cost_read_yearly("2 h a week at 45 USD", "EUR", &y), COST_OTHER_CURRENCY);
    assert_int_equal(cost_read_yearly("2 h a week at 45.000", "EUR", &y), COST_AMBIGUOUS);
    assert_int_equal(cost_read_yearly("1.200 a year", "EUR", &y), COST_AMBIGUOUS);
    assert_int_equal(cost_read_yearly("200 h a week", "EUR", &y), COST_IMPLAUSIBLE);
    assert_int_equal(cost_read_yearly("168 h a week at 45", "EUR", &y), COST_READ);
    assert_int_equal(cost_read_yearly("25 h a day at 45", "EUR", &y), COST_IMPLAUSIBLE);
    assert_int_equal(cost_read_power("1.200 W", &size), COST_AMBIGUOUS);
    assert_true(READ(cost_read_power("1.200 kW", &size)) && size == 1200000);
}

/* ---- the whole ---- */

static struct plan_sourced figure(const char *value, const char *source) {
    static uint32_t line;
    return (struct plan_sourced){.at = {100 + ++line, 5}, .value = value, .source = source};
}

static struct plan machine(struct arena *arena) {
    struct plan plan = {.arena = arena, .name = "probelauf.yaml"};
    plan.owning = (struct plan_owning){
        .at = {100, 3},
        .currency = "EUR",
        .device = "NVIDIA RTX 6000 Ada",
        .gpus = {.given = true, .value = 2},
        .purchase = figure("18000", "quote 12"),
        .lifetime = figure("4 years", "rule of the institute"),
        .residual = figure("2000", "own choice"),
        .power = figure("900 W", "own measurement"),
        .electricity = figure("0.31 per kWh", "contract"),
        .administration = figure("10 h a year at 45", "IT"),
        .lead_time = figure("10 weeks", "quote 12"),
        .utilisation = figure("30%", "log of last year"),
        .maintenance = figure("900 a year", "quote 12"),
        .can_administer = PLAN_YES,
    };
    return plan;
}

static struct plan_offer rent(void) {
    return (struct plan_offer){
        .at = {70, 3},
        .id = "a",
        .rate = {.given = true, .micros = 4000000},
        .per = "hour",
        .currency = "EUR",
        .gpus_per_unit = {.given = true, .value = 2},
        .tax_included = PLAN_YES,
    };
}

static bool has(const char *const *lines, size_t count, const char *part) {
    for (size_t i = 0; i < count; i++)
        if (strstr(lines[i], part))
            return true;
    return false;
}

static void a_year_and_a_delivered_hour(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct plan plan = machine(arena);
    struct plan_offer offer = rent();
    struct cost_offer judged = {.offer = &offer, .usable = true};
    struct cost_owning own;
    cost_owning_make(&plan, &judged, 1, arena, &own);
    assert_true(own.entered);
    assert_int_equal(own.missing_count, 0);
    /* (18000 - 2000) / 4 = 4000; 0.9 kW x 8760 h x 0.3 x 0.31 = 733.212; 450; 900 */
    assert_true(own.yearly.micros == INT64_C(6083212000));
    assert_int_equal(own.yearly.line_count, 4);
    /* 6083.212 / (2 x 8760 x 0.3) = 1.157384…, rounded up */
    assert_true(own.per_gpu_hour.micros == 1157385);
    assert_true(own.initial_outlay.micros == INT64_C(18000000000));
    assert_int_equal(own.initial_outlay.bound, QUANTITY_EXACT);
    /* what the machine draws while it idles is not known: a lower bound, and said */
    assert_int_equal(own.yearly.bound, QUANTITY_AT_LEAST);
    assert_true(has(own.yearly.lacks, own.yearly.lack_count, "idles"));
    /* rent 2 per GPU-hour: 5350 / (2 x 2 x 8760 - 0.9 x 0.31 x 8760) */
    double expected = 5350.0 / (35040.0 - 2444.04);
    assert_true(own.break_even.value > expected - 1e-9 && own.break_even.value < expected + 1e-9);
    assert_int_equal(own.break_even.bound, QUANTITY_AT_LEAST);
    assert_true(own.lead_time.value > 6047999.0 && own.lead_time.value < 6048001.0);
    assert_true(has(own.beside, own.beside_count, "capital"));
    assert_false(has(own.beside, own.beside_count, "can_administer"));
    assert_true(quantity_is_valid(&own.break_even) && quantity_is_valid(&own.lead_time));
}

static void break_even_needs_a_rent(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct plan plan = machine(arena);
    struct plan_offer offers[] = {rent(), rent(), rent()};
    struct cost_offer judged[3] = {{.offer = &offers[0]},
                                   {.offer = &offers[1], .usable = true},
                                   {.offer = &offers[2], .usable = true}};
    struct cost_owning own;
    offers[1].currency = "USD"; /* another currency is no comparison */
    offers[2].currency = NULL;
    offers[2].service_unit = "EUR";
    cost_owning_make(&plan, judged, 3, arena, &own);
    assert_int_equal(own.break_even.reason, QUANTITY_NO_OFFER);
    assert_true(amount_is_known(&own.per_gpu_hour));
    judged[0].usable = true;
    offers[0].rate.micros = 200000; /* 0.1 a GPU-hour, less than the electricity */
    cost_owning_make(&plan, judged, 1, arena, &own);
    assert_int_equal(own.break_even.reason, QUANTITY_NOT_APPLICABLE);
    offers[0].rate.micros = 800000; /* 0.4: never, even if it were in use all the time */
    cost_owning_make(&plan, judged, 1, arena, &own);
    assert_non_null(strstr(own.break_even.detail, "all the time"));
}

/* Taxes that are not said lower the share, idle power raises it: no bound is left. */
static void break_even_with_open_taxes(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct plan plan = machine(arena);
    struct plan_offer offer = rent(), dear = rent();
    struct cost_offer judged[2] = {{.offer = &offer, .usable = true},
                                   {.offer = &dear, .usable = true}};
    struct cost_owning own;
    const enum plan_answer answers[] = {PLAN_NO, PLAN_UNSAID};
    for (size_t i = 0; i < ARRAY_LENGTH(answers); i++) {
        offer.tax_included = answers[i];
        plan.owning.utilisation.value = "30%";
        cost_owning_make(&plan, judged, 1, arena, &own);
        assert_false(quantity_is_known(&own.break_even));
        assert_non_null(strstr(own.break_even.detail, "the taxes of offer 'a' are not said"));
        /* nothing of the machine is open: only the taxes, so at most that */
        plan.owning.utilisation.value = "100%";
        cost_owning_make(&plan, judged, 1, arena, &own);
        double expected = 5350.0 / (35040.0 - 2444.04);
        assert_true(own.break_even.value > expected - 1e-9);
        assert_true(own.break_even.value < expected + 1e-9);
        assert_int_equal(own.break_even.bound, QUANTITY_AT_MOST);
        offer.rate.micros = 200000; /* less than the electricity, without the taxes */
        cost_owning_make(&plan, judged, 1, arena, &own);
        assert_int_equal(own.break_even.reason, QUANTITY_NOT_ENTERED);
        offer.rate.micros = 800000; /* above 1, at most */
        cost_owning_make(&plan, judged, 1, arena, &own);
        assert_int_equal(own.break_even.reason, QUANTITY_NOT_ENTERED);
        offer.rate.micros = 4000000;
    }
    plan.owning.utilisation.value = "30%";
    offer.tax_included = PLAN_NO;
    offer.tax_percent = (struct plan_amount){.given = true, .micros = 19000000};
    cost_owning_make(&plan, judged, 1, arena, &own);
    double taxed = 5350.0 / (35040.0 * 1.19 - 2444.04);
    assert_true(own.break_even.value > taxed - 1e-9 && own.break_even.value < taxed + 1e-9);
    /* one that is dearer even without its taxes takes nothing away */
    dear.rate.micros = 5000000;
    dear.tax_included = PLAN_UNSAID;
    cost_owning_make(&plan, judged, 2, arena, &own);
    assert_true(own.break_even.value > taxed - 1e-9 && own.break_even.value < taxed + 1e-9);
}

/* Above 1 the electricity of an idle machine draws the share towards 1: only that it is above 1 is
 * certain. Without any idling it is exact. */
static void break_even_above_one(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct plan plan = machine(arena);
    struct plan_offer offer = rent();
    struct cost_offer judged = {.offer = &offer, .usable = true};
    struct cost_owning own;
    offer.rate.micros = 800000;
    cost_owning_make(&plan, &judged, 1, arena, &own);
    assert_true(own.break_even.value > 0.9999 && own.break_even.value < 1.0001);
    assert_int_equal(own.break_even.bound, QUANTITY_AT_LEAST);
    assert_non_null(strstr(own.break_even.detail, "all the time"));
    plan.owning.utilisation.value = "100%";
    cost_owning_make(&plan, &judged, 1, arena, &own);
    double expected = 5350.0 / (0.8 * 8760.0 - 2444.04);
    assert_true(own.break_even.value > expected - 1e-9 && own.break_even.value < expected + 1e-9);
    assert_int_equal(own.break_even.bound, QUANTITY_EXACT);
}

/* The price of a machine without GPUs is none of a GPU. */
static void break_even_needs_gpus(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct plan plan = machine(arena);
    struct plan_offer offers[] = {rent(), rent()};
    struct cost_offer judged[2] = {{.offer = &offers[0], .usable = true},
                                   {.offer = &offers[1], .usable = true}};
    struct cost_owning own;
    offers[0].rate.micros = 100000;
    offers[0].gpus_per_unit.given = false;
    cost_owning_make(&plan, judged, 1, arena, &own);
    assert_int_equal(own.break_even.reason, QUANTITY_NO_OFFER);
    assert_non_null(strstr(own.break_even.detail, "for GPUs"));
    offers[0].gpus_per_unit = (struct plan_whole){.given = true, .value = 0};
    cost_owning_make(&plan, judged, 1, arena, &own);
    assert_int_equal(own.break_even.reason, QUANTITY_NO_OFFER);
    cost_owning_make(&plan, judged, 2, arena, &own);
    assert_true(own.break_even.value > 0.16 && own.break_even.value < 0.17);
}

static void other_money_is_missing(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    static const struct {
        const char *value, *why;
    } cases[] = {
        {"18000 USD", "is not in EUR"},
        {"18.000", "is ambiguous"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct plan plan = machine(arena);
        struct cost_owning own;
        plan.owning.purchase.value = cases[i].value;
        cost_owning_make(&plan, NULL, 0, arena, &own);
        assert_int_equal(own.missing_count, 1);
        assert_true(has(own.missing, 1, cases[i].why));
        assert_false(amount_is_known(&own.yearly) || amount_is_known(&own.initial_outlay));
    }
    struct plan plan = machine(arena);
    struct cost_owning own;
    plan.owning.administration.value = "200 h a week at 45";
    cost_owning_make(&plan, NULL, 0, arena, &own);
    assert_true(has(own.missing, own.missing_count, "more hours than there are"));
    assert_false(amount_is_known(&own.yearly));
}

static void what_is_missing_gives_no_amount(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    for (size_t i = 0; i < 9; i++)
        for (int how = 0; how < 3; how++) {
            struct plan plan = machine(arena);
            struct plan_sourced *figures[] = {
                &plan.owning.purchase,    &plan.owning.lifetime,    &plan.owning.residual,
                &plan.owning.power,       &plan.owning.electricity, &plan.owning.administration,
                &plan.owning.maintenance, &plan.owning.utilisation, &plan.owning.lead_time};
            struct cost_owning own;
            if (how == 0)
                figures[i]->value = NULL;
            else if (how == 1)
                figures[i]->source = NULL;
            else
                figures[i]->value = i == 0 ? "18000 euros" : "a lot";
            cost_owning_make(&plan, NULL, 0, arena, &own);
            assert_int_equal(own.missing_count, 1);
            assert_true(has(own.missing, 1,
                            how == 0   ? "not entered"
                            : how == 1 ? "no source"
                                       : "cannot be read"));
            assert_int_equal(amount_is_known(&own.yearly), i == 8); /* only the time is open */
            assert_int_equal(quantity_is_known(&own.lead_time), i != 8);
            if (i == 0) /* never the purchase price alone, without its value or source */
                assert_false(amount_is_known(&own.initial_outlay));
        }
    struct plan plan = machine(arena);
    struct cost_owning own;
    plan.owning.gpus.given = false;
    cost_owning_make(&plan, NULL, 0, arena, &own);
    assert_true(amount_is_known(&own.yearly) && !amount_is_known(&own.per_gpu_hour));
    plan = machine(arena);
    plan.owning.currency = NULL;
    cost_owning_make(&plan, NULL, 0, arena, &own);
    assert_false(amount_is_known(&own.yearly) || amount_is_known(&own.initial_outlay));
    plan = machine(arena);
    plan.owning.residual.value = "20000";
    cost_owning_make(&plan, NULL, 0, arena, &own);
    assert_true(has(own.missing, own.missing_count, "more than the purchase price"));
    plan = (struct plan){.arena = arena, .name = "probelauf.yaml"};
    cost_owning_make(&plan, NULL, 0, arena, &own);
    assert_false(own.entered);
    assert_int_equal(own.missing_count, 0);
    assert_int_equal(own.yearly.reason, QUANTITY_NOT_ENTERED);
}

static void hours_without_a_wage_are_no_money(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct plan plan = machine(arena);
    struct cost_owning own;
    plan.owning.administration.value = "2 h a week";
    plan.owning.can_administer = PLAN_NO;
    cost_owning_make(&plan, NULL, 0, arena, &own);
    assert_true(own.yearly.micros == INT64_C(5633212000));
    assert_int_equal(own.yearly.line_count, 3);
    assert_true(has(own.yearly.lacks, own.yearly.lack_count, "have no price"));
    assert_true(has(own.beside, own.beside_count, "somebody else has to be paid"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(money_is_read_whole),
        cmocka_unit_test(other_figures),
        cmocka_unit_test(yearly_figures),
        cmocka_unit_test(a_year_and_a_delivered_hour),
        cmocka_unit_test(break_even_needs_a_rent),
        cmocka_unit_test(figures_that_mean_something_else),
        cmocka_unit_test(break_even_with_open_taxes),
        cmocka_unit_test(break_even_above_one),
        cmocka_unit_test(break_even_needs_gpus),
        cmocka_unit_test(other_money_is_missing),
        cmocka_unit_test(what_is_missing_gives_no_amount),
        cmocka_unit_test(hours_without_a_wage_are_no_money),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
