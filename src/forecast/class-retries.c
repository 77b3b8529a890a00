/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Futures of failed attempts after a reference class (class-retries.h). */
#include "forecast/class-retries.h"

#include "base/mem.h"
#include "forecast/predict-parts.h"
#include "forecast/simulate-parts.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#define MOST_REPEATS 1000 /* of one run; after them nearly nothing still fails */
#define LARGEST_RUNS 1e9  /* beyond, the binomial draw does not count */

bool class_retries_known(const struct class_failures *failures) {
    return failures->after_success.attempts > 0 && failures->after_failure.attempts > 0 &&
           failures->cost_count > 0;
}

static double draw_chance(gsl_rng *random, const struct class_share *share) {
    return gsl_ran_beta(random, 0.5 + (double)share->failures,
                        0.5 + (double)(share->attempts - share->failures));
}

static unsigned draw_failing(gsl_rng *random, double chance, unsigned attempts) {
    return attempts > 0 ? gsl_ran_binomial(random, chance, attempts) : 0;
}

/* Failures on the way to all runs; *ret_left: runs that no repeat finished. */
static double draw_failures(gsl_rng *random, double first, double again, unsigned runs,
                            int64_t retry_max, unsigned *ret_left) {
    int64_t repeats = retry_max >= 0 && retry_max < MOST_REPEATS ? retry_max : MOST_REPEATS;
    unsigned failing = draw_failing(random, first, runs);
    double failures = failing;
    for (int64_t i = 0; i < repeats && failing > 0; i++) {
        failing = draw_failing(random, again, failing);
        failures += failing;
    }
    *ret_left = failing;
    return failures;
}

/* The lognormal deviation with that median and p90. */
static double cost_spread(const struct class_failures *failures) {
    if (!(failures->cost_median > 0.0) || failures->cost_p90 <= failures->cost_median)
        return 0.0;
    return log(failures->cost_p90 / failures->cost_median) / gsl_cdf_ugaussian_Pinv(0.9);
}

struct futures class_retries(const struct class_failures *failures, double run_seconds,
                             uint64_t successes, int64_t retry_max, struct simulate_stream stream,
                             size_t draws, struct arena *arena, double *ret_unfinished,
                             double *ret_failures) {
    double without_end = 0.0;
    if (ret_unfinished)
        *ret_unfinished = 0.0;
    if (ret_failures)
        *ret_failures = 0.0;
    if (successes == 0)
        return simulate_value(0.0);
    if (!class_retries_known(failures) || !isfinite(run_seconds) || run_seconds <= 0.0)
        return (struct futures){.kind = FUTURES_OPEN};

    struct futures futures = simulate_drawn(draws, arena);
    AUTO_FREE double *counts = mem_alloc(draws * sizeof *counts);
    unsigned runs = (unsigned)fmin((double)successes, LARGEST_RUNS);
    double more = (double)successes / (double)runs; /* 1 but for absurd numbers */
    double spread = cost_spread(failures);
    gsl_rng *shared = simulate_stream_new(stream.seed, stream.shared, NULL);
    gsl_rng *random = simulate_stream_new(stream.seed, stream.shared, stream.own);
    for (size_t i = 0; i < draws; i++) {
        double first = draw_chance(shared, &failures->after_success);
        double again = draw_chance(shared, &failures->after_failure);
        double cost = failures->cost_median * exp(spread * gsl_ran_gaussian(shared, 1.0));
        unsigned left = 0;
        counts[i] = more * draw_failures(random, first, again, runs, retry_max, &left);
        without_end += left > 0;
        futures.draws[i] = counts[i] * cost * run_seconds;
    }
    gsl_rng_free(shared);
    gsl_rng_free(random);
    simulate_settle(&futures);
    predict_sort(counts, draws);
    if (ret_unfinished)
        *ret_unfinished = without_end / (double)draws;
    if (ret_failures)
        *ret_failures = predict_quantile(counts, draws, 0.5);
    return futures;
}
