/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bills to the micro-unit: a table of offers and times whose amounts were computed apart from this
 * program, with exact fractions; and what holds of every bill: never below rate x time, never
 * falling when time grows, and the longest time that an amount buys is the longest one.
 */
#include "rules/cost-parts.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct row {
    const char *what;
    int64_t rate; /* micros */
    const char *per;
    int64_t increment_s, minimum_s, maximum_s;                                /* maximum 0: none */
    int64_t fee, storage_running, storage_stopped, transfer_in, transfer_out; /* micros */
    int64_t tax; /* micros of a percent; -1: in the prices */
    uint64_t units;
    int64_t reserved_ns, stopped_ns;
    uint64_t storage_bytes, in_bytes, out_bytes;
    int64_t micros; /* the bill */
};

/* clang-format off */
static const struct row rows[] = {
    {"per hour, no increment", 2490000, "hour", 0, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(111600000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(77190000)},
    {"a started minute", 2490000, "hour", 60, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(61000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(83000)},
    {"just a whole minute", 2490000, "hour", 60, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(60000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(41500)},
    {"a nanosecond more", 2490000, "hour", 60, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(60000000001), INT64_C(0), 0U, 0U, 0U, INT64_C(83000)},
    {"minimum of an hour", 2490000, "hour", 60, 3600, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(300000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(2490000)},
    {"just the minimum", 2490000, "hour", 60, 3600, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(3600000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(2490000)},
    {"behind the minimum", 2490000, "hour", 60, 3600, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(3601000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(2531500)},
    {"minimum that is no multiple of the increment", 1000000, "hour", 420, 3600, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(600000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(1000000)},
    {"increment above the minimum", 1000000, "hour", 7200, 3600, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(10000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(2000000)},
    {"per second", 700, "second", 1, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(1234500000000), INT64_C(0), 0U, 0U, 0U, INT64_C(864500)},
    {"per second, a fraction of a micro-unit is rounded up", 1, "second", 0, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(333333334), INT64_C(0), 0U, 0U, 0U, INT64_C(1)},
    {"per minute", 41500, "minute", 60, 60, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(3601000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(2531500)},
    {"per day", 59760000, "day", 86400, 86400, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(90000000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(119520000)},
    {"per day by the minute", 59760000, "day", 60, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(90001000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(62291500)},
    {"per week", 350000000, "week", 3600, 86400, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(864007000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(502083334)},
    {"per month of 30 days", 1200000000, "month", 86400, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(2678400000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(1240000000)},
    {"a third of a cent", 3333333, "hour", 0, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(1000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(926)},
    {"four units", 1990000, "hour", 60, 0, 0, 0, 0, 0, 0, 0, -1, 4, INT64_C(5430000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(12072667)},
    {"eight units for a month", 2100000, "hour", 3600, 0, 0, 0, 0, 0, 0, 0, -1, 8, INT64_C(2592000000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(12096000000)},
    {"set-up fee", 2490000, "hour", 60, 0, 0, 5500000, 0, 0, 0, 0, -1, 1, INT64_C(7200000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(10480000)},
    {"set-up fee of three rentals", 2490000, "hour", 3600, 0, 86400, 5500000, 0, 0, 0, 0, -1, 1, INT64_C(176400000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(138510000)},
    {"just the longest term", 2490000, "hour", 3600, 0, 86400, 5500000, 0, 0, 0, 0, -1, 1, INT64_C(86400000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(65260000)},
    {"a second beyond the longest term", 2490000, "hour", 3600, 0, 86400, 5500000, 0, 0, 0, 0, -1, 1, INT64_C(86401000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(73250000)},
    {"minimum in each rental", 2490000, "hour", 60, 7200, 36000, 0, 0, 0, 0, 0, -1, 1, INT64_C(72600000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(54780000)},
    {"longest term that is no multiple of the increment", 1000000, "hour", 2400, 0, 3600, 0, 0, 0, 0, 0, -1, 2, INT64_C(9000000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(6666668)},
    {"storage while it runs", 2490000, "hour", 60, 0, 0, 0, 80000, 0, 0, 0, -1, 1, INT64_C(172800000000000), INT64_C(0), 200000000000U, 0U, 0U, INT64_C(120586667)},
    {"storage of GiB, priced per GB", 2490000, "hour", 60, 0, 0, 0, 80000, 0, 0, 0, -1, 1, INT64_C(172800000000000), INT64_C(0), 214748364800U, 0U, 0U, INT64_C(120665325)},
    {"storage while it is stopped", 2490000, "hour", 60, 0, 0, 0, 80000, 40000, 0, 0, -1, 1, INT64_C(36000000000000), INT64_C(1209600000000000), 200000000000U, 0U, 0U, INT64_C(28855557)},
    {"stopped alone", 2490000, "hour", 60, 3600, 0, 1000000, 80000, 40000, 0, 0, -1, 1, INT64_C(0), INT64_C(1209600000000000), 500000000000U, 0U, 0U, INT64_C(9333334)},
    {"a byte of storage for a second", 2490000, "hour", 0, 0, 0, 0, 80000, 0, 0, 0, -1, 1, INT64_C(1000000000), INT64_C(0), 1U, 0U, 0U, INT64_C(693)},
    {"transfer in and out", 2490000, "hour", 60, 0, 0, 0, 0, 0, 10000, 90000, -1, 1, INT64_C(10800000000000), INT64_C(0), 0U, 123456789012U, 9876543210U, INT64_C(9593457)},
    {"a byte out", 2490000, "hour", 60, 0, 0, 0, 0, 0, 0, 90000, -1, 1, INT64_C(10800000000000), INT64_C(0), 0U, 0U, 1U, INT64_C(7470001)},
    {"taxes of 19 percent", 2490000, "hour", 60, 0, 0, 0, 0, 0, 0, 0, 19000000, 1, INT64_C(111600000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(91856100)},
    {"taxes of 7.7 percent on everything", 2490000, "hour", 60, 3600, 0, 4000000, 80000, 40000, 10000, 90000, 7700000, 2, INT64_C(111617000000000), INT64_C(259200000000000), 320000000000U, 55000000000U, 7000000001U, INT64_C(174501348)},
    {"taxes of a micro-unit are rounded up", 1, "second", 0, 0, 0, 0, 0, 0, 0, 0, 19000000, 1, INT64_C(1000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(2)},
    {"everything, in four rentals", 3170000, "hour", 300, 3600, 604800, 2500000, 73000, 31000, 0, 87000, 20000000, 3, INT64_C(1940401000000000), INT64_C(432003000000000), 1500000000000U, 1000000000000U, 200000000003U, INT64_C(6292566617)},
    {"free", 0, "hour", 60, 3600, 0, 0, 0, 0, 0, 0, 19000000, 1, INT64_C(360000000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(0)},
    {"no time at all", 2490000, "hour", 60, 3600, 0, 5000000, 80000, 0, 0, 0, -1, 1, INT64_C(0), INT64_C(0), 1000000000U, 0U, 0U, INT64_C(0)},
    {"service units, one for an hour of a GPU", 1000000, "hour", 3600, 0, 0, 0, 0, 0, 0, 0, -1, 4, INT64_C(61201000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(72000000)},
    {"service units, normalised: two for an hour", 2000000, "hour", 1, 0, 0, 0, 0, 0, 0, 0, -1, 8, INT64_C(14285714286), INT64_C(0), 0U, 0U, 0U, INT64_C(66667)},
    {"a large rate for ten years", 999999999999, "hour", 60, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(315360000000000000), INT64_C(0), 0U, 0U, 0U, INT64_C(87599999999912400)},
    {"a nanosecond", 2490000, "hour", 0, 0, 0, 0, 0, 0, 0, 0, -1, 1, INT64_C(1), INT64_C(0), 0U, 0U, 0U, INT64_C(1)},
};
/* clang-format on */

static struct plan_amount price(int64_t micros) {
    return (struct plan_amount){.given = true, .micros = micros};
}

static struct plan_duration span(int64_t seconds) {
    return (struct plan_duration){.given = true, .ns = seconds * NS_PER_S};
}

static struct plan_offer offer_of(const struct row *row) {
    struct plan_offer offer = {
        .id = "a",
        .rate = price(row->rate),
        .currency = "EUR",
        .per = row->per,
        .increment = span(row->increment_s),
        .minimum = span(row->minimum_s),
        .setup_fee = price(row->fee),
        .storage_running = price(row->storage_running),
        .storage_stopped = price(row->storage_stopped),
        .transfer_in = price(row->transfer_in),
        .transfer_out = price(row->transfer_out),
        .tax_included = row->tax < 0 ? PLAN_YES : PLAN_NO,
    };
    if (row->maximum_s > 0)
        offer.maximum = span(row->maximum_s);
    if (row->tax >= 0)
        offer.tax_percent = price(row->tax);
    return offer;
}

static struct cost_use use_of(const struct row *row) {
    return (struct cost_use){.reserved_ns = row->reserved_ns,
                             .units = row->units,
                             .stopped_ns = row->stopped_ns,
                             .storage_bytes = row->storage_bytes,
                             .in_bytes = row->in_bytes,
                             .out_bytes = row->out_bytes};
}

static void bills_to_the_micro_unit(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    assert_true(ARRAY_LENGTH(rows) >= 40);
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct plan_offer offer = offer_of(&rows[i]);
        struct cost_use use = use_of(&rows[i]);
        struct amount_line *lines = NULL;
        size_t count = 0;
        int64_t micros = -1, again = -1, sum = 0;
        assert_true(cost_bill(&offer, &use, arena, &micros, &lines, &count));
        if (micros != rows[i].micros)
            fail_msg("%s: %lld instead of %lld", rows[i].what, (long long)micros,
                     (long long)rows[i].micros);
        for (size_t k = 0; k < count; k++) {
            assert_true(lines[k].text && lines[k].text[0]);
            sum += lines[k].micros;
        }
        assert_true(sum == micros); /* the lines are the bill */
        assert_true(cost_bill(&offer, &use, NULL, &again, NULL, NULL));
        assert_true(again == micros);
    }
}

static void what_cannot_be_billed(void **state) {
    (void)state;
    struct plan_offer offer = offer_of(&rows[0]);
    struct cost_use use = use_of(&rows[0]);
    int64_t micros = 0;
    offer.per = "fortnight";
    assert_false(cost_bill(&offer, &use, NULL, &micros, NULL, NULL));
    offer.per = NULL;
    assert_false(cost_bill(&offer, &use, NULL, &micros, NULL, NULL));
    offer.per = "hour";
    offer.rate.given = false;
    assert_false(cost_bill(&offer, &use, NULL, &micros, NULL, NULL));
    offer.rate = price(INT64_MAX); /* beyond 64 bits, and not a wrapped number */
    assert_false(cost_bill(&offer, &use, NULL, &micros, NULL, NULL));
    offer.rate = price(-1);
    assert_false(cost_bill(&offer, &use, NULL, &micros, NULL, NULL));
    offer.rate = price(1);
    offer.increment = (struct plan_duration){.given = true, .ns = INT64_MAX};
    use.reserved_ns = INT64_MAX;
    use.units = UINT64_MAX;
    assert_false(cost_bill(&offer, &use, NULL, &micros, NULL, NULL));
}

/* ---- what holds of every bill ---- */

static uint64_t random_next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

static int64_t below(uint64_t *state, int64_t limit) {
    return (int64_t)(random_next(state) % (uint64_t)limit);
}

static bool one_of(uint64_t *state, int64_t n) {
    return below(state, n) == 0;
}

static struct row random_row(uint64_t *state) {
    static const char *const pers[] = {"second", "minute", "hour", "day", "week", "month"};
    struct row row = {
        .what = "generated",
        .rate = below(state, one_of(state, 2) ? 100 : 50000000),
        .per = pers[below(state, (int64_t)ARRAY_LENGTH(pers))],
        .increment_s = one_of(state, 3) ? 0 : 1 + below(state, 7200),
        .minimum_s = one_of(state, 2) ? 0 : below(state, 90000),
        .maximum_s = one_of(state, 2) ? 0 : 1 + below(state, 400000),
        .fee = one_of(state, 2) ? 0 : below(state, 9000000),
        .storage_running = one_of(state, 2) ? 0 : below(state, 200000),
        .storage_stopped = one_of(state, 2) ? 0 : below(state, 100000),
        .transfer_in = one_of(state, 2) ? 0 : below(state, 100000),
        .transfer_out = one_of(state, 2) ? 0 : below(state, 100000),
        .tax = one_of(state, 2) ? -1 : below(state, 30000000),
        .units = 1 + (uint64_t)below(state, 16),
        .reserved_ns = below(state, INT64_C(3000000000000000)),
        .stopped_ns = one_of(state, 2) ? 0 : below(state, INT64_C(2000000000000000)),
        .storage_bytes = one_of(state, 2) ? 0 : (uint64_t)below(state, INT64_C(4000000000000)),
        .in_bytes = (uint64_t)below(state, INT64_C(900000000000)),
        .out_bytes = (uint64_t)below(state, INT64_C(900000000000)),
    };
    return row;
}

static int64_t per_s(const char *per) {
    return per[0] == 's'                    ? 1
           : per[0] == 'h'                  ? 3600
           : per[0] == 'd'                  ? 86400
           : per[0] == 'w'                  ? 604800
           : per[0] == 'm' && per[1] == 'i' ? 60
                                            : 2592000;
}

__extension__ typedef unsigned __int128 wide;

static void never_cheaper_and_monotone(void **state) {
    (void)state;
    uint64_t seed = 20261130;
    for (int i = 0; i < 20000; i++) {
        struct row row = random_row(&seed);
        struct plan_offer offer = offer_of(&row);
        struct cost_use use = use_of(&row);
        int64_t micros = 0, longer = 0;
        assert_true(cost_bill(&offer, &use, NULL, &micros, NULL, NULL));
        /* bill x per >= rate x units x time, without a division */
        wide paid = (wide)(uint64_t)micros * (uint64_t)per_s(row.per) * (uint64_t)NS_PER_S;
        wide owed = (wide)(uint64_t)row.rate * row.units * (uint64_t)row.reserved_ns;
        if (paid < owed)
            fail_msg("cheaper than rate x time: %d", i);
        assert_true(cost_billed_ns(&offer, row.reserved_ns) >= row.reserved_ns);
        use.reserved_ns += 1 + below(&seed, one_of(&seed, 2) ? 1000 : INT64_C(200000000000000));
        assert_true(cost_bill(&offer, &use, NULL, &longer, NULL, NULL));
        if (longer < micros)
            fail_msg("a longer time costs less: %d: %lld, then %lld", i, (long long)micros,
                     (long long)longer);
    }
}

/* Many bills of one offer, each that of cost_bill, to the micro-unit. */
static void a_tariff_is_the_bill(void **state) {
    (void)state;
    uint64_t seed = 20261201;
    size_t ready = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(rows) + 20000; i++) {
        struct row row = i < ARRAY_LENGTH(rows) ? rows[i] : random_row(&seed);
        if (i % 7 == 6) { /* products beyond 64 bits */
            row.rate *= 1000003;
            row.storage_bytes *= 4096;
        }
        struct plan_offer offer = offer_of(&row);
        struct cost_use use = use_of(&row);
        const struct cost_tariff tariff = cost_tariff_of(&offer, &use);
        struct cost_billed bill = {-1, -1};
        int64_t micros = 0;
        ready += tariff.is_ready;
        for (int k = 0; k < 4; k++) { /* also at the edges of increment and longest term */
            int64_t whole = row.increment_s * NS_PER_S, most = row.maximum_s * NS_PER_S;
            use.reserved_ns = k == 1 && whole > 0  ? use.reserved_ns / whole * whole
                              : k == 2 && most > 0 ? most * (1 + below(&seed, 3))
                              : k == 3             ? below(&seed, 100)
                                                   : use.reserved_ns;
            bool fits = cost_bill(&offer, &use, NULL, &micros, NULL, NULL);
            assert_int_equal(cost_tariff_bill(&tariff, use.reserved_ns, &bill), fits);
            if (fits && bill.micros != micros)
                fail_msg("%zu.%d (%s): %lld instead of %lld", i, k, row.what,
                         (long long)bill.micros, (long long)micros);
            if (fits)
                assert_true(bill.ns == cost_billed_ns(&offer, use.reserved_ns));
        }
    }
    assert_true(ready > 10000 && ready < ARRAY_LENGTH(rows) + 20000); /* both ways were seen */
}

static void a_tariff_beyond_64_bits(void **state) {
    (void)state;
    struct plan_offer offer = offer_of(&rows[0]);
    struct cost_use use = use_of(&rows[0]);
    struct cost_billed bill = {0};
    offer.rate = price(INT64_MAX);
    const struct cost_tariff large = cost_tariff_of(&offer, &use);
    assert_false(cost_tariff_bill(&large, use.reserved_ns, &bill));
    assert_true(cost_tariff_bill(&large, NS_PER_S, &bill)); /* a second of it can be counted */
    assert_true(bill.micros == INT64_MAX / 3600 + 1);
    offer.rate = price(1);
    offer.setup_fee = price(INT64_MAX);
    const struct cost_tariff fee = cost_tariff_of(&offer, &use);
    assert_false(cost_tariff_bill(&fee, use.reserved_ns, &bill));
    offer.per = "fortnight";
    const struct cost_tariff none = cost_tariff_of(&offer, &use);
    assert_false(cost_tariff_bill(&none, 0, &bill));
}

/* As the plan has it, not as a float does. */
static void a_percentage_is_shown_as_it_is(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    static const struct {
        int64_t percent;
        const char *text;
    } cases[] = {
        {1, "taxes, 0.000001 %"},
        {19000000, "taxes, 19 %"},
        {8100000, "taxes, 8.1 %"},
        {20000000, "taxes, 20 %"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct plan_offer offer = offer_of(&rows[0]);
        struct amount_line *lines = NULL;
        size_t count = 0;
        int64_t micros = 0;
        offer.tax_included = PLAN_NO;
        offer.tax_percent = price(cases[i].percent);
        const struct cost_use use = {.reserved_ns = 3600 * NS_PER_S, .units = 1};
        assert_true(cost_bill(&offer, &use, arena, &micros, &lines, &count));
        assert_int_equal(count, 2);
        assert_string_equal(lines[1].text, cases[i].text);
    }
}

/* Neither a nanosecond more nor less than the amount buys. */
static void the_longest_time_for_an_amount(void **state) {
    (void)state;
    uint64_t seed = 4711;
    for (int i = 0; i < 300; i++) {
        struct row row = random_row(&seed);
        struct plan_offer offer = offer_of(&row);
        int64_t amount = below(&seed, INT64_C(900000000)), bill = 0;
        offer.rate = price(1 + row.rate);
        int64_t ns = cost_time_for(&offer, row.units, amount);
        struct cost_use use = {.reserved_ns = ns, .units = row.units};
        assert_true(cost_bill(&offer, &use, NULL, &bill, NULL, NULL) && bill <= amount);
        if (ns > INT64_C(3000000000) * NS_PER_S)
            continue; /* longer than anybody rents */
        use.reserved_ns = ns + 1;
        assert_true(!cost_bill(&offer, &use, NULL, &bill, NULL, NULL) || bill > amount);
    }
    struct plan_offer hourly = offer_of(&rows[20]); /* 5.50 once a rental, hours, at most 24 */
    assert_true(cost_time_for(&hourly, 1, 7989999) == 0);
    assert_true(cost_time_for(&hourly, 1, 7990000) == 3600 * NS_PER_S);
    assert_true(cost_time_for(&hourly, 1, 20000000) == 5 * 3600 * NS_PER_S);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bills_to_the_micro_unit),
        cmocka_unit_test(what_cannot_be_billed),
        cmocka_unit_test(a_tariff_is_the_bill),
        cmocka_unit_test(a_tariff_beyond_64_bits),
        cmocka_unit_test(a_percentage_is_shown_as_it_is),
        cmocka_unit_test(never_cheaper_and_monotone),
        cmocka_unit_test(the_longest_time_for_an_amount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
