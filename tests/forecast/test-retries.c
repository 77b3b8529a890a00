/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Failed attempts on the way to the runs that are left: chained, bounded, and never of a kind that
 * was not seen. */
#include "base/mem.h"
#include "forecast/retries.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#define DRAWS 4000u
#define MANY  UINT64_C(1000000) /* attempts: the chance is as good as known */

static struct arena *arena;

static int setup(void **state) {
    (void)state;
    arena = arena_new();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena = arena_free(arena);
    return 0;
}

static struct futures simulate(const struct retries_input *input, struct retries_result *ret) {
    const struct simulate_stream stream = {.seed = 7, .shared = "r", .own = "b"};
    return retries_simulate(input, stream, DRAWS, arena, ret);
}

static double mean_of(const struct futures *f) {
    double mean = 0.0;
    for (size_t i = 0; i < f->count; i++)
        mean += f->draws[i] / (double)f->count;
    return mean;
}

static struct retries_share share(double chance) {
    return (struct retries_share){(uint64_t)(chance * (double)MANY), MANY};
}

/* Chances as good as known; no misses. */
static struct retries_input known(double after_success, double after_failure,
                                  const struct retries_kind *kinds, size_t kind_count) {
    return (struct retries_input){
        .own = {.after_success = share(after_success), .after_failure = share(after_failure)},
        .kinds = kinds,
        .kind_count = kind_count,
        .successes = 40,
        .retry_max = -1};
}

static const double tens[] = {10.0, 30.0};
static const struct retries_kind crash = {2, tens, 2};

/* ---- counting ---- */

static void test_see(void **state) {
    const enum retries_end ends[] = {RETRIES_GOOD,   RETRIES_FAILED, RETRIES_FAILED,
                                     RETRIES_MISSED, RETRIES_GOOD,   RETRIES_FAILED};
    struct retries_seen seen = {0}, all = {0};
    (void)state;
    assert_false(retries_has_attempt(&seen));
    retries_see(&seen, ends, 6);
    assert_int_equal(seen.after_success.attempts, 4); /* the first one, too */
    assert_int_equal(seen.after_success.failures, 2);
    assert_int_equal(seen.after_failure.attempts, 2);
    assert_int_equal(seen.after_failure.failures, 1);
    assert_int_equal(seen.missed.attempts, 3);
    assert_int_equal(seen.missed.failures, 1);
    assert_true(retries_has_attempt(&seen));
    retries_add(&all, &seen);
    retries_add(&all, &seen);
    retries_take_away(&all, &seen);
    assert_memory_equal(&all, &seen, sizeof seen);
}

/* ---- open ---- */

static void test_open(void **state) {
    const double bad[] = {-1.0};
    const struct retries_kind negative = {1, bad, 1}, too_few = {1, tens, 2},
                              unknown = {3, NULL, 0};
    struct retries_input input = known(0.1, 0.1, &crash, 1);
    (void)state;
    assert_int_equal(simulate(&input, NULL).kind, FUTURES_DRAWN);
    input.own = (struct retries_seen){0}; /* no attempt of its own, however many of others */
    input.others = known(0.1, 0.1, NULL, 0).own;
    assert_int_equal(simulate(&input, NULL).kind, FUTURES_OPEN);
    const struct retries_kind *wrong[] = {&negative, &too_few, &unknown};
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        input = known(0.1, 0.1, wrong[i], 1);
        assert_int_equal(simulate(&input, NULL).kind, FUTURES_OPEN);
    }
    input = known(0.1, 0.1, NULL, 0);
    assert_int_equal(simulate(&input, NULL).kind, FUTURES_OPEN);
    input.successes = 0;
    struct futures none = simulate(&input, NULL);
    assert_true(none.kind == FUTURES_VALUE && none.value == 0.0);
}

/* ---- how many ---- */

static void test_rate(void **state) {
    struct retries_result result;
    struct retries_input input = known(0.2, 0.2, &crash, 1);
    (void)state;
    /* without clustering failures are geometric; a loss is 20 in the mean */
    struct futures f = simulate(&input, &result);
    assert_true(fabs(mean_of(&f) / (40.0 * 0.25 * 20.0) - 1.0) < 0.05);
    assert_true(result.unfinished == 0.0 && fabs(result.failures - 10.0) <= 1.0);
    /* at most one repeat: 0.2 + 0.04 failures per run; some run is unfinished with 1 - 0.96^40 */
    input.retry_max = 1;
    struct futures limited = simulate(&input, &result);
    assert_true(fabs(mean_of(&limited) / (40.0 * 0.24 * 20.0) - 1.0) < 0.05);
    assert_true(fabs(result.unfinished - (1.0 - pow(0.96, 40.0))) < 0.03);
    for (size_t i = 0; i < limited.count; i++)
        assert_true(limited.draws[i] <= 2.0 * 40.0 * 30.0);
}

static void test_clustered(void **state) {
    struct retries_result result;
    struct retries_input input = known(0.1, 0.8, &crash, 1);
    (void)state;
    /* a tenth of the runs fails at first, and then four more times in the mean */
    struct futures f = simulate(&input, &result);
    assert_true(fabs(mean_of(&f) / (40.0 * 0.1 * 5.0 * 20.0) - 1.0) < 0.06);
    double hit = 0.0;
    for (size_t i = 0; i < DRAWS; i++)
        hit += result.hit_runs[i] / DRAWS;
    assert_true(fabs(hit / 4.0 - 1.0) < 0.03);
    /* what limits repeats makes most of these unfinished: 1 - (1 - 0.1 x 0.8^2)^40 */
    input.retry_max = 2;
    simulate(&input, &result);
    assert_true(fabs(result.unfinished - (1.0 - pow(1.0 - 0.064, 40.0))) < 0.03);
}

/* The run that fails now goes on as one after a failure, with what is left of its repeats. */
static void test_fails_now(void **state) {
    struct retries_result result;
    struct retries_input input = known(0.0, 0.5, &crash, 1);
    (void)state;
    input.successes = 10;
    struct futures none = simulate(&input, NULL);
    assert_true(mean_of(&none) < 0.1);
    input.fails_now = true;
    struct futures f = simulate(&input, NULL);
    assert_true(fabs(mean_of(&f) / 20.0 - 1.0) < 0.1); /* one more failure in the mean */
    input.retry_max = 3;
    input.repeats_used = 2; /* of four attempts two are left */
    simulate(&input, &result);
    assert_true(fabs(result.unfinished - 0.25) < 0.03);
    input.repeats_used = 4;
    simulate(&input, &result);
    assert_true(result.unfinished == 1.0);
}

static void test_few(void **state) {
    const double lost[] = {12.0};
    const struct retries_kind kind = {1, lost, 1};
    struct retries_result result;
    struct retries_input input = {.own = {.after_success = {1, 4}, .after_failure = {0, 1}},
                                  .kinds = &kind,
                                  .kind_count = 1,
                                  .successes = 1,
                                  .retry_max = 0};
    (void)state;
    /* Beta(1.5, 3.5): the share that fails is 0.3 in the mean */
    struct futures f = simulate(&input, &result);
    assert_true(fabs(result.unfinished - 0.3) < 0.03 && fabs(mean_of(&f) / 12.0 - 0.3) < 0.03);
    /* no failure seen is no proof: some futures have one */
    input.own = (struct retries_seen){.after_success = {0, 3}};
    input.successes = 10;
    input.retry_max = -1;
    struct futures clean = simulate(&input, NULL);
    assert_true(clean.kind == FUTURES_DRAWN && mean_of(&clean) > 0.0);
}

static void test_misses_are_independent(void **state) {
    const double whole[] = {100.0};
    struct retries_input input = known(0.0, 0.9, &crash, 1);
    (void)state;
    input.own.missed = share(0.2);
    struct futures none = simulate(&input, NULL);
    assert_true(mean_of(&none) < 1.0); /* a kind that was not seen is not in it */
    input.missed = (struct retries_kind){1, whole, 1};
    struct futures f = simulate(&input, NULL);
    assert_true(fabs(mean_of(&f) / (40.0 * 0.25 * 100.0) - 1.0) < 0.05);
    input.retry_max = 1;
    struct retries_result result;
    simulate(&input, &result);
    assert_true(fabs(result.unfinished - (1.0 - pow(0.96, 40.0))) < 0.03);
}

/* ---- borrowed ---- */

static double chance_after_success(const struct retries_input *of) {
    struct retries_input input = *of;
    struct retries_result result;
    input.successes = 1;
    input.retry_max = 0;
    simulate(&input, &result);
    return result.unfinished;
}

static void test_borrowed_counts_little(void **state) {
    struct retries_input input = {
        .own = {.after_success = {0, 2}}, .kinds = &crash, .kind_count = 1};
    (void)state;
    assert_true(fabs(chance_after_success(&input) - 0.5 / 3.0) < 0.03);
    input.others.after_success = (struct retries_share){800, 1000}; /* counts as 2.4 of 3 */
    double borrowed = chance_after_success(&input);
    assert_true(fabs(borrowed - (0.5 + 2.4) / (3.0 + RETRIES_BORROW_MOST)) < 0.03);
    input.others.after_success = (struct retries_share){1, 1}; /* no more than there are */
    assert_true(fabs(chance_after_success(&input) - 1.5 / 4.0) < 0.03);
    input.own.after_success = (struct retries_share){0, 1000}; /* own ones prevail */
    assert_true(chance_after_success(&input) < 0.01);
}

/* ---- what they cost ---- */

static void test_kinds(void **state) {
    const double dear[] = {1000.0};
    const struct retries_kind kinds[] = {{99, tens, 2}, {1, dear, 1}};
    const struct retries_kind half[] = {{50, tens, 2}, {50, NULL, 0}};
    struct retries_input input = known(0.2, 0.2, kinds, 2);
    (void)state;
    /* by how often each kind was seen, not by how many losses are known */
    struct futures f = simulate(&input, NULL);
    assert_true(fabs(mean_of(&f) / (40.0 * 0.25 * (0.99 * 20.0 + 0.01 * 1000.0)) - 1.0) < 0.1);
    /* what nobody knows adds nothing */
    input.kinds = half;
    struct futures known_half = simulate(&input, NULL);
    assert_true(fabs(mean_of(&known_half) / (40.0 * 0.25 * 0.5 * 20.0) - 1.0) < 0.1);
}

static void test_bounded(void **state) {
    const double lost[] = {1e6, 1e-3};
    const struct retries_kind kind = {2, lost, 2};
    const int64_t limits[] = {-1, 0, 99, 100, 5000, INT64_MAX};
    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LENGTH(limits); i++) {
        struct retries_result result;
        const struct retries_input input = {
            .own = {.after_success = {2, 2}, .after_failure = {1, 1}, .missed = {1, 2}},
            .fails_now = i % 2,
            .kinds = &kind,
            .kind_count = 1,
            .missed = kind,
            .successes = UINT64_C(1000000000000),
            .retry_max = limits[i / 2]};
        struct futures f = simulate(&input, &result);
        assert_int_equal(f.kind, FUTURES_DRAWN);
        for (size_t d = 0; d < f.count; d++)
            assert_true(isfinite(f.draws[d]) && f.draws[d] >= 0.0);
        assert_true(result.unfinished >= 0.0 && result.unfinished <= 1.0);
    }
}

static void test_deterministic(void **state) {
    struct retries_input input = known(0.3, 0.6, &crash, 1);
    (void)state;
    struct futures a = simulate(&input, NULL), b = simulate(&input, NULL);
    assert_memory_equal(a.draws, b.draws, DRAWS * sizeof *a.draws);
    input.retry_max = 1;
    struct futures c = simulate(&input, NULL);
    assert_memory_not_equal(a.draws, c.draws, DRAWS * sizeof *a.draws);
}

/* ---- does it hold? ---- */

/* Studies whose conditions fail in clusters: a few attempts of each of five, then the failures
 * before ten good runs of the fifth. Share of the real losses that lie inside the interval, of
 * those that have one. */
static double coverage(double alike) {
    gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd1); /* not the generator of the forecast */
    const double one[] = {1.0};
    size_t inside = 0, given = 0;
    gsl_rng_set(random, 20261130);
    for (uint64_t study = 0; study < 3000; study++) {
        AUTO_ARENA struct arena *own = arena_new();
        struct retries_input input = {.successes = 10, .retry_max = -1};
        double mean = gsl_ran_flat(random, 0.02, 0.3), again = 0.0, first = 0.0;
        for (size_t c = 0; c < 5; c++) {
            struct retries_seen seen = {0};
            enum retries_end ends[8];
            first = gsl_ran_beta(random, alike * mean, alike * (1.0 - mean));
            again = gsl_ran_beta(random, alike * 0.6, alike * 0.4);
            for (size_t i = 0; i < 8; i++) {
                bool fails = i > 0 && ends[i - 1] == RETRIES_FAILED;
                fails = gsl_rng_uniform(random) < (fails ? again : first);
                ends[i] = fails ? RETRIES_FAILED : RETRIES_GOOD;
            }
            retries_see(&seen, ends, 8);
            if (c == 4) {
                input.own = seen;
                input.fails_now = ends[7] == RETRIES_FAILED;
            } else {
                retries_add(&input.others, &seen);
            }
        }
        uint64_t failed = input.own.after_success.failures + input.own.after_failure.failures;
        const struct retries_kind kind = {failed > 0 ? failed : 1, one, 1};
        input.kinds = &kind;
        input.kind_count = 1;
        struct futures f = retries_simulate(&input, (struct simulate_stream){study, "r", "b", NULL},
                                            500, own, NULL);
        double p05, p50, p95, lost = 0.0;
        bool fails = input.fails_now;
        for (size_t good = 0; good < 10 && lost < 1e6;) {
            fails = gsl_rng_uniform(random) < (fails ? again : first);
            lost += fails;
            good += !fails;
        }
        if (!simulate_interval(&f, &p05, &p50, &p95))
            continue;
        given++;
        inside += lost >= p05 && lost <= p95;
    }
    gsl_rng_free(random);
    print_message("retries, conditions alike by %.0f: %.1f %% inside of %zu\n", alike,
                  100.0 * (double)inside / (double)given, given);
    assert_true(given > 500);
    return (double)inside / (double)given;
}

static void test_coverage(void **state) {
    (void)state;
    assert_true(coverage(3.0) >= 0.88);
    assert_true(coverage(30.0) >= 0.88);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_see),
        TEST(test_open),
        TEST(test_rate),
        TEST(test_clustered),
        TEST(test_fails_now),
        TEST(test_few),
        TEST(test_misses_are_independent),
        TEST(test_borrowed_counts_little),
        TEST(test_kinds),
        TEST(test_bounded),
        TEST(test_deterministic),
        TEST(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
