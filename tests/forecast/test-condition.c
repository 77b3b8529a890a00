/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a condition takes from others and what it never does: spread, cold first runs, rare slow
 * runs, cut-off runs; its value is its own. Histories are drawn here, with known truth.
 */
#include "forecast/condition.h"

#include "base/mem.h"
#include "forecast/interval.h"
#include "forecast/simulate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#define MOST 64u
#define RUNS 6u

struct drawn {
    struct history_condition conditions[MOST];
    double seconds[MOST][RUNS];
    char names[MOST][16];
    struct history history;
};

/* How a drawn history behaves. */
struct nature {
    size_t count, runs;
    double centre;                 /* seconds */
    double spread, spread_between; /* log deviation of runs; of that deviation between conditions */
    double first;                  /* factor of first runs */
    double slow, slow_by;          /* chance and factor of a slow run */
};

static void draw_runs(gsl_rng *random, const struct nature *nature, double *seconds, size_t count) {
    double spread = nature->spread * exp(nature->spread_between * gsl_ran_gaussian(random, 1.0));
    for (size_t i = 0; i < count; i++) {
        seconds[i] = nature->centre * exp(spread * gsl_ran_gaussian(random, 1.0));
        if (i == 0)
            seconds[i] *= nature->first;
        if (nature->slow > 0.0 && gsl_rng_uniform(random) < nature->slow)
            seconds[i] *= nature->slow_by;
    }
}

static struct drawn *draw(uint64_t seed, const struct nature *nature) {
    struct drawn *drawn = mem_alloc(sizeof *drawn);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd1);
    gsl_rng_set(random, seed);
    for (size_t c = 0; c < nature->count; c++) {
        draw_runs(random, nature, drawn->seconds[c], nature->runs);
        snprintf(drawn->names[c], sizeof drawn->names[c], "c%zu", c);
        drawn->conditions[c] = (struct history_condition){.name = drawn->names[c],
                                                          .family = c % 2 ? "odd" : "even",
                                                          .seconds = drawn->seconds[c],
                                                          .count = nature->runs};
    }
    gsl_rng_free(random);
    drawn->history = (struct history){drawn->conditions, nature->count};
    return drawn;
}

static struct condition_forecast forecast_of(const struct history *history, const double *seconds,
                                             size_t count, uint64_t repeats, struct arena *arena) {
    const struct condition_model *model = condition_model_new(history, arena);
    struct condition_own own = {
        .family = "even", .itself = SPREAD_NOBODY, .seconds = seconds, .count = count};
    struct condition_forecast forecast;
    assert_non_null(model);
    condition_forecast_make(model, &own, repeats, arena, &forecast);
    return forecast;
}

static double at(const struct condition_forecast *forecast, double u) {
    return exp(condition_quantile(forecast, u));
}

static double width(const struct condition_forecast *forecast) {
    return condition_quantile(forecast, 0.95) - condition_quantile(forecast, 0.05);
}

/* ---- the spread ---- */

static void test_nothing_to_borrow(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const double one = 3.0;
    const struct history_condition single = {
        .name = "a", .family = "f", .seconds = &one, .count = 1};
    assert_null(condition_model_new(&(struct history){NULL, 0}, arena));
    assert_null(condition_model_new(&(struct history){&single, 1}, arena));
}

static double typical(const struct spread_model *model, size_t itself, const double *own,
                      size_t count) {
    struct spread_weights w;
    double sum = 0.0;
    spread_posterior(model, spread_family(model, "even"), itself, own, count, &w);
    for (size_t i = 0; i < SPREAD_GRID; i++) {
        assert_true(w.of[i] >= 0.0);
        sum += w.of[i];
    }
    assert_true(fabs(sum - 1.0) < 1e-9);
    return exp(spread_typical_log(&w));
}

static void test_spread_is_found(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {.count = 40, .runs = 5, .centre = 100.0, .spread = 0.02, .first = 1.0};
    AUTO_FREE struct drawn *drawn = draw(7, &nature);
    const struct spread_model *model = spread_model_new(&drawn->history, arena);
    const double wide[] = {100.0, 130.0, 80.0, 115.0, 92.0, 140.0};

    double family = typical(model, SPREAD_NOBODY, NULL, 0);
    assert_true(family > 0.013 && family < 0.03);
    /* own runs that lie far apart count for more than the family */
    assert_true(typical(model, SPREAD_NOBODY, wide, 6) > 3.0 * family);
    /* with two of them the family still pulls */
    assert_true(typical(model, SPREAD_NOBODY, wide, 2) < typical(model, SPREAD_NOBODY, wide, 6));
    assert_int_equal(spread_family(model, "elsewhere"), SPREAD_NOBODY);
    /* times far below every step that is looked for are not readings of zero steps */
    const double short_ones[] = {1.01e-8, 1.04e-8, 0.99e-8};
    assert_true(typical(model, SPREAD_NOBODY, short_ones, 3) < 2.0 * family);
}

/* A condition of the history is judged as if it were not in it. */
static void test_nobody_is_its_own_example(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {.count = 9, .runs = 4, .centre = 100.0, .spread = 0.01, .first = 1.0};
    AUTO_FREE struct drawn *drawn = draw(8, &nature);
    const double own[] = {50.0, 150.0, 90.0, 40.0};
    drawn->conditions[4].seconds = own; /* far apart, in the family "even" */
    const struct spread_model *model = spread_model_new(&drawn->history, arena);
    assert_true(typical(model, 4, NULL, 0) < 0.8 * typical(model, SPREAD_NOBODY, NULL, 0));

    const struct condition_model *all = condition_model_new(&drawn->history, arena);
    struct condition_own with = {.family = "even", .itself = 4, .seconds = own, .count = 1};
    struct condition_own without = with;
    struct condition_forecast a, b;
    without.itself = SPREAD_NOBODY;
    condition_forecast_make(all, &with, 3, arena, &a);
    condition_forecast_make(all, &without, 3, arena, &b);
    assert_true(width(&a) < width(&b));
}

/* ---- the forecast ---- */

static void test_value_is_its_own(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {.count = 30, .runs = 5, .centre = 1000.0, .spread = 0.01, .first = 1.0};
    AUTO_FREE struct drawn *slow = draw(9, &nature);
    nature.centre = 10.0;
    AUTO_FREE struct drawn *fast = draw(9, &nature);
    const double own[] = {100.0, 101.0};

    struct condition_forecast a = forecast_of(&slow->history, own, 2, 4, arena);
    struct condition_forecast b = forecast_of(&fast->history, own, 2, 4, arena);
    assert_true(fabs(at(&a, 0.5) / 402.0 - 1.0) < 0.02);
    /* the same ratios, a hundred times faster: nothing of it reaches the value */
    for (double u = 0.05; u < 1.0; u += 0.15)
        assert_true(fabs(at(&a, u) / at(&b, u) - 1.0) < 1e-3);
}

static void test_quantiles_rise(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {.count = 12, .runs = 4, .centre = 60.0, .spread = 0.1, .first = 1.0};
    AUTO_FREE struct drawn *drawn = draw(10, &nature);
    const double own = 50.0;
    struct condition_forecast forecast = forecast_of(&drawn->history, &own, 1, 7, arena);
    double last = 0.0;
    for (double u = 0.0; u <= 1.0; u += 0.01) {
        assert_true(at(&forecast, u) >= last);
        last = at(&forecast, u);
    }
    assert_true(forecast.likes > 5.0 && forecast.likes <= 12.0);
}

/* More own runs narrow it, and the order of the history says nothing. */
static void test_own_runs_narrow(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {.count = 30, .runs = 6, .centre = 60.0, .spread = 0.1, .first = 1.0};
    AUTO_FREE struct drawn *drawn = draw(11, &nature);
    const double own[] = {60.0, 60.3, 59.8, 60.1, 60.2, 59.9, 60.0, 60.1};
    struct condition_forecast one = forecast_of(&drawn->history, own, 1, 10, arena);
    struct condition_forecast three = forecast_of(&drawn->history, own, 3, 10, arena);
    struct condition_forecast eight = forecast_of(&drawn->history, own, 8, 10, arena);
    assert_true(width(&three) < 0.8 * width(&one));
    assert_true(width(&eight) < width(&three));

    AUTO_FREE struct drawn *turned = draw(11, &nature);
    for (size_t i = 0; i < 30; i++)
        turned->conditions[i] = drawn->conditions[29 - i];
    struct condition_forecast again = forecast_of(&turned->history, own, 3, 10, arena);
    for (double u = 0.1; u < 1.0; u += 0.2)
        assert_true(fabs(at(&again, u) - at(&three, u)) < 1e-6);
}

static void test_cold_first_runs(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {.count = 40, .runs = 5, .centre = 60.0, .spread = 0.01, .first = 1.5};
    AUTO_FREE struct drawn *drawn = draw(12, &nature);
    const double own[] = {90.0, 60.0, 60.2, 59.9, 60.1, 60.0};

    struct condition_forecast one = forecast_of(&drawn->history, own, 1, 1, arena);
    assert_true(fabs(one.first_ratio - 1.5) < 0.05);
    assert_true(at(&one, 0.5) > 58.0 && at(&one, 0.5) < 63.0); /* not 90 */
    assert_false(one.first_left_out);
    struct condition_forecast six = forecast_of(&drawn->history, own, 6, 1, arena);
    assert_true(six.first_left_out);
    assert_true(fabs(exp(six.centre) - 60.0) < 0.2);

    nature.first = 1.0; /* where first runs are like the others, none is dropped */
    AUTO_FREE struct drawn *warm = draw(12, &nature);
    struct condition_forecast kept = forecast_of(&warm->history, own, 6, 1, arena);
    assert_false(kept.first_left_out);
    struct condition_forecast warm_one = forecast_of(&warm->history, own, 1, 1, arena);
    assert_true(at(&warm_one, 0.5) > 88.0);
}

static void test_rare_slow_runs_stay(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {.count = 60,
                            .runs = 6,
                            .centre = 60.0,
                            .spread = 0.002,
                            .first = 1.0,
                            .slow = 0.06,
                            .slow_by = 4.0};
    AUTO_FREE struct drawn *drawn = draw(13, &nature);
    const double own[] = {60.0, 60.1}; /* two that agree prove little */
    struct condition_forecast forecast = forecast_of(&drawn->history, own, 2, 2, arena);
    assert_true(at(&forecast, 0.5) < 122.0);
    assert_true(at(&forecast, 0.97) > 150.0);
}

static void test_cut_off_run(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {
        .count = 40, .runs = 5, .centre = 60.0, .spread = 0.2, .spread_between = 0.3, .first = 1.0};
    AUTO_FREE struct drawn *drawn = draw(14, &nature);
    const struct condition_model *model = condition_model_new(&drawn->history, arena);
    const double seen = 60.0;
    const double stopped[] = {75.0, 80.0};
    struct condition_own own = {
        .family = "even", .itself = SPREAD_NOBODY, .seconds = &seen, .count = 1};
    struct condition_forecast free, cut;
    condition_forecast_make(model, &own, 1, arena, &free);
    own.at_least = stopped;
    own.at_least_count = 2;
    condition_forecast_make(model, &own, 1, arena, &cut);
    assert_true(at(&cut, 0.5) > 1.05 * at(&free, 0.5));
    assert_true(at(&cut, 0.95) >= at(&free, 0.95));
}

/* ---- does it hold what it says? ---- */

static double share_inside(const struct nature *nature, size_t own, uint64_t seed) {
    size_t inside = 0;
    size_t tried = 0;
    for (uint64_t h = 0; h < 12; h++) {
        AUTO_ARENA struct arena *arena = arena_new();
        AUTO_FREE struct drawn *drawn = draw(seed + h, nature);
        const struct condition_model *model = condition_model_new(&drawn->history, arena);
        gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd1);
        gsl_rng_set(random, 1000 + seed + h);
        for (size_t i = 0; i < 60; i++) {
            double seconds[RUNS];
            struct condition_forecast forecast;
            double later = 0.0;
            draw_runs(random, nature, seconds, RUNS);
            for (size_t r = own; r < RUNS; r++)
                later += seconds[r];
            condition_forecast_make(
                model,
                &(struct condition_own){
                    .family = "even", .itself = SPREAD_NOBODY, .seconds = seconds, .count = own},
                RUNS - own, arena, &forecast);
            inside += later >= at(&forecast, 0.05) && later <= at(&forecast, 0.95);
            tried++;
        }
        gsl_rng_free(random);
    }
    return (double)inside / (double)tried;
}

static void test_coverage(void **state) {
    (void)state;
    const struct nature natures[] = {
        {.count = 40, .runs = 5, .centre = 60.0, .spread = 0.03, .first = 1.0},
        {.count = 40,
         .runs = 5,
         .centre = 60.0,
         .spread = 0.03,
         .spread_between = 0.8,
         .first = 1.3},
        {.count = 6, .runs = 3, .centre = 60.0, .spread = 0.1, .spread_between = 0.5, .first = 1.0},
        {.count = 40,
         .runs = 5,
         .centre = 60.0,
         .spread = 0.005,
         .spread_between = 0.5,
         .first = 1.0,
         .slow = 0.03,
         .slow_by = 2.0},
    };
    for (size_t n = 0; n < ARRAY_LENGTH(natures); n++)
        for (size_t own = 1; own <= 3; own++) {
            double share = share_inside(&natures[n], own, 100 * (n + 1));
            print_message("nature %zu, %zu own: %.1f %%\n", n, own, 100.0 * share);
            /* slow first runs make two own runs look far apart: wide, never too narrow */
            assert_true(share > 0.85 && share < (natures[n].first > 1.0 ? 0.99 : 0.97));
        }
}

static void test_interval(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {
        .count = 50, .runs = 5, .centre = 60.0, .spread = 0.3, .spread_between = 0.5, .first = 1.0};
    AUTO_FREE struct drawn *drawn = draw(15, &nature);
    const struct condition_model *model = condition_model_new(&drawn->history, arena);
    const double own = 60.0;
    struct condition_forecast forecast = forecast_of(&drawn->history, &own, 1, 4, arena);
    struct interval plain, leaned;
    interval_of(&forecast, 0.45, 0.0, &plain);
    interval_of(&forecast, 0.45, INTERVAL_LEAN, &leaned);
    assert_true(fabs(plain.lo - condition_quantile(&forecast, 0.05)) < 1e-9);
    assert_true(fabs(plain.hi - condition_quantile(&forecast, 0.95)) < 1e-9);
    assert_true(leaned.lo < plain.lo && leaned.hi < plain.hi && leaned.middle == plain.middle);
    double half = interval_half(model, 1, 0.0);
    assert_true(half > 0.40 && half < 0.495);
    assert_true(fabs(interval_half(NULL, 1, 0.0) - 0.45) < 1e-12);
    assert_true(fabs(interval_half(model, 4, 0.0) - 0.45) < 1e-12);
}

/* Conditions of one study neither vary together nor each for itself. */
static void test_common_terms(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct nature nature = {.count = 30, .runs = 5, .centre = 60.0, .spread = 0.1, .first = 1.0};
    AUTO_FREE struct drawn *drawn = draw(16, &nature);
    const double own = 60.0;
    struct condition_forecast f = forecast_of(&drawn->history, &own, 1, 4, arena);
    struct futures one = {.kind = FUTURES_OPEN}, sum = {.kind = FUTURES_OPEN};
    double plain = 0.0;
    for (size_t i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "c%zu", i);
        struct simulate_stream stream = {.seed = 1, .shared = name, .own = "b"};
        one = simulate_condition(&f, "even", stream, 4000, arena);
        simulate_add(&sum, &one, arena);
        plain += one.p95 - one.p05;
    }
    simulate_settle(&sum);
    double wide = sum.p95 - sum.p05;
    assert_true(wide < 0.85 * plain);            /* they partly cancel */
    assert_true(wide > 1.2 * plain / sqrt(6.0)); /* not as if they had nothing in common */
    struct simulate_stream stream = {.seed = 1, .shared = "c5", .own = "b"};
    struct futures again = simulate_condition(&f, "even", stream, 4000, arena);
    assert_true(again.p95 == one.p95 && again.draws[17] == one.draws[17]);
    /* what is kept for all of them changes nothing, be it of the same seed and draws or not */
    stream.common = simulate_common_new(1, 4000, arena);
    struct futures odd = simulate_condition(&f, "odd", stream, 4000, arena);
    for (size_t i = 0; i < 3; i++) {
        again = simulate_condition(&f, "even", stream, 4000, arena);
        assert_memory_equal(again.draws, one.draws, 4000 * sizeof *one.draws);
        stream.common = i == 0 ? stream.common : simulate_common_new(2, 40, arena);
    }
    assert_true(odd.draws[17] != one.draws[17]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_borrow),
        cmocka_unit_test(test_spread_is_found),
        cmocka_unit_test(test_nobody_is_its_own_example),
        cmocka_unit_test(test_value_is_its_own),
        cmocka_unit_test(test_quantiles_rise),
        cmocka_unit_test(test_own_runs_narrow),
        cmocka_unit_test(test_cold_first_runs),
        cmocka_unit_test(test_rare_slow_runs_stay),
        cmocka_unit_test(test_cut_off_run),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_common_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
