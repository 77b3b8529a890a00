/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Futures of failed attempts (retries.h). Must not make a loss of what was not seen, and must not
 * let the work of a future grow with the number of runs.
 */
#include "forecast/retries.h"

#include "base/mem.h"
#include "forecast/simulate-parts.h"

#include <gsl/gsl_randist.h>
#include <math.h>

#define LARGEST_COUNT 1e15 /* failures: beyond, a double does not count */
#define LARGEST_DRAWN 1e7  /* events: beyond, their number varies by less than a thousandth */
#define REPEATS_DRAWN 100  /* of one run, one after the other; the rest by their mean */
#define LEAST_CHANCE  1e-12

/* ---- what was seen ---- */

static void count_attempt(struct retries_share *share, bool failed) {
    share->attempts++;
    share->failures += failed;
}

void retries_see(struct retries_seen *seen, const enum retries_end *ends, size_t count) {
    bool after_failure = false;
    for (size_t i = 0; i < count; i++) {
        bool failed = ends[i] == RETRIES_FAILED;
        count_attempt(after_failure ? &seen->after_failure : &seen->after_success, failed);
        if (!failed)
            count_attempt(&seen->missed, ends[i] == RETRIES_MISSED);
        after_failure = failed;
    }
}

static void add_share(struct retries_share *share, struct retries_share more) {
    share->failures += more.failures;
    share->attempts += more.attempts;
}

/* Never below nothing, and never more failures than attempts. */
static void take_share(struct retries_share *share, struct retries_share part) {
    uint64_t others = share->attempts - share->failures;
    uint64_t part_others = part.attempts - part.failures;
    share->failures -= part.failures < share->failures ? part.failures : share->failures;
    others -= part_others < others ? part_others : others;
    share->attempts = share->failures + others;
}

void retries_add(struct retries_seen *seen, const struct retries_seen *more) {
    add_share(&seen->after_success, more->after_success);
    add_share(&seen->after_failure, more->after_failure);
    add_share(&seen->missed, more->missed);
}

void retries_take_away(struct retries_seen *seen, const struct retries_seen *part) {
    take_share(&seen->after_success, part->after_success);
    take_share(&seen->after_failure, part->after_failure);
    take_share(&seen->missed, part->missed);
}

bool retries_has_attempt(const struct retries_seen *seen) {
    return seen->after_success.attempts > 0; /* the first one is among these */
}

/* ---- chances ---- */

struct chance_posterior {
    double failures, others;
};

static struct chance_posterior posterior_of(struct retries_share own,
                                            struct retries_share borrowed) {
    double all = (double)borrowed.attempts;
    double weight = all > RETRIES_BORROW_MOST ? RETRIES_BORROW_MOST / all : 1.0;
    double failed = (double)borrowed.failures;
    return (struct chance_posterior){.failures = 0.5 + (double)own.failures + weight * failed,
                                     .others = 0.5 + (double)(own.attempts - own.failures) +
                                               weight * (all - failed)};
}

static double draw_chance(gsl_rng *random, struct chance_posterior posterior) {
    double chance = gsl_ran_beta(random, posterior.failures, posterior.others);
    return fmin(fmax(chance, LEAST_CHANCE), 1.0 - LEAST_CHANCE);
}

/* ---- failures of one future ---- */

struct chances { /* of one future */
    double after_success, after_failure, missed;
};
struct outcome { /* of one future, counts */
    double failures, missed, hit_runs, unfinished;
};

static double draw_binomial(gsl_rng *random, double chance, double count) {
    if (chance <= 0.0 || count <= 0.0)
        return 0.0;
    if (count > LARGEST_DRAWN)
        return nearbyint(chance * count);
    return (double)gsl_ran_binomial(random, chance, (unsigned)count);
}

/* Events of that chance before so many others: negative binomial, drawn as a Poisson number with a
 * gamma mean. */
static double draw_before(gsl_rng *random, double chance, double others) {
    if (chance <= 0.0 || others <= 0.0)
        return 0.0;
    double mean = gsl_ran_gamma(random, others, chance / fmax(1.0 - chance, LEAST_CHANCE));
    if (mean > LARGEST_DRAWN)
        return fmin(nearbyint(mean), LARGEST_COUNT);
    return (double)gsl_ran_poisson(random, mean);
}

/* Without a limit each run is repeated until it is good. fails_now: the first of them begins after
 * a failure. */
static struct outcome draw_unlimited(gsl_rng *random, const struct chances *chances, double runs,
                                     bool fails_now) {
    struct outcome outcome = {.missed = draw_before(random, chances->missed, runs)};
    double endings = runs + outcome.missed;
    double first = draw_binomial(random, chances->after_success, endings - fails_now);
    if (fails_now)
        first += draw_binomial(random, chances->after_failure, 1.0);
    outcome.hit_runs = fmin(first, runs);
    outcome.failures = first + draw_before(random, chances->after_failure, first);
    return outcome;
}

/* With a limit, attempt by attempt: how many of the runs that are not done fail, miss, or end. The
 * rest of very many attempts by their mean. */
static struct outcome draw_limited(gsl_rng *random, const struct chances *chances, double runs,
                                   int64_t attempts, bool fails_now) {
    struct outcome outcome = {0};
    double failing = fails_now ? runs : 0.0; /* runs whose last attempt failed */
    double other = runs - failing;           /* whose last one missed, or which have none */
    int64_t drawn_ones = attempts < REPEATS_DRAWN ? attempts : REPEATS_DRAWN;

    for (int64_t i = 0; i < drawn_ones && failing + other > 0.0; i++) {
        double failed = draw_binomial(random, chances->after_success, other) +
                        draw_binomial(random, chances->after_failure, failing);
        double missed = draw_binomial(random, chances->missed, failing + other - failed);
        if (i == 0)
            outcome.hit_runs = failed;
        outcome.failures += failed;
        outcome.missed += missed;
        failing = failed;
        other = missed;
    }
    if (attempts > drawn_ones && failing + other > 0.0) {
        double rest = (double)(attempts - drawn_ones);
        double again = exp(rest * log(chances->after_failure));
        outcome.failures += failing * chances->after_failure * (1.0 - again) /
                            fmax(1.0 - chances->after_failure, LEAST_CHANCE);
        failing *= again;
        other = 0.0;
    }
    outcome.unfinished = failing + other;
    return outcome;
}

static struct outcome draw_outcome(gsl_rng *random, const struct chances *chances,
                                   const struct retries_input *input) {
    double runs = (double)input->successes;
    if (input->retry_max < 0)
        return draw_unlimited(random, chances, runs, input->fails_now);
    int64_t attempts = input->retry_max < INT64_MAX ? input->retry_max + 1 : input->retry_max;
    if (!input->fails_now)
        return draw_limited(random, chances, runs, attempts, false);
    /* the run that fails now has had a part of its attempts */
    int64_t left =
        input->repeats_used < (uint64_t)attempts ? attempts - (int64_t)input->repeats_used : 0;
    struct outcome first = draw_limited(random, chances, 1.0, left, true);
    struct outcome later = draw_limited(random, chances, runs - 1.0, attempts, false);
    later.failures += first.failures;
    later.missed += first.missed;
    later.hit_runs += first.hit_runs;
    later.unfinished += first.unfinished;
    return later;
}

/* ---- what they cost ---- */

/* All known losses in one list, each with the share that it has in one future. */
struct losses {
    const struct retries_kind *kinds;
    size_t kind_count;
    double *shares; /* of the kinds, one after the other; of a kind without a known loss: one */
    size_t count;
};

static size_t entries_of(const struct retries_kind *kind) {
    return kind->count > 0 ? kind->count : 1;
}

/* Weights of the Bayesian bootstrap: of a kind a gamma variable of its number, within it
 * exponentials; so of a kind whose losses are all known an exponential each, whose sum is that
 * gamma variable. */
static void draw_shares(gsl_rng *random, struct losses *losses) {
    double sum = 0.0;
    double *share = losses->shares;
    if (losses->count == 1) { /* nothing to share */
        share[0] = 1.0;
        return;
    }
    for (size_t k = 0; k < losses->kind_count; k++) {
        const struct retries_kind *kind = &losses->kinds[k];
        size_t entries = entries_of(kind);
        double within = 0.0;
        for (size_t i = 0; i < entries; i++)
            within += share[i] = gsl_ran_exponential(random, 1.0);
        double weight =
            entries == kind->seen ? within : gsl_ran_gamma(random, (double)kind->seen, 1.0);
        for (size_t i = 0; i < entries && entries != kind->seen; i++)
            share[i] = within > 0.0 ? share[i] * weight / within : weight / (double)entries;
        share += entries;
        sum += weight;
    }
    for (size_t i = 0; i < losses->count; i++)
        losses->shares[i] = sum > 0.0 ? losses->shares[i] / sum : 1.0 / (double)losses->count;
}

/* What `failures` of them cost: each is one of the seen losses. */
static double draw_cost(gsl_rng *random, const struct losses *losses, double failures) {
    double left = failures;
    double share_left = 1.0;
    double cost = 0.0;
    size_t at = 0;

    for (size_t k = 0; k < losses->kind_count && left > 0.0; k++) {
        const struct retries_kind *kind = &losses->kinds[k];
        for (size_t i = 0; i < entries_of(kind) && left > 0.0; i++, at++) {
            double share = losses->shares[at];
            double chance = share_left > 0.0 ? fmin(share / share_left, 1.0) : 1.0;
            double here = at + 1 < losses->count ? draw_binomial(random, chance, left) : left;
            cost += kind->count > 0 ? here * kind->lost[i] : 0.0;
            left -= here;
            share_left -= share;
        }
    }
    return cost;
}

static bool is_sound(const struct retries_kind *kind) {
    if (kind->count > kind->seen)
        return false;
    for (size_t i = 0; i < kind->count; i++)
        if (!isfinite(kind->lost[i]) || kind->lost[i] < 0.0)
            return false;
    return true;
}

static bool is_known(const struct retries_input *input) {
    size_t known = input->missed.count;
    if (!retries_has_attempt(&input->own) || !is_sound(&input->missed))
        return false;
    for (size_t k = 0; k < input->kind_count; k++) {
        if (!is_sound(&input->kinds[k]))
            return false;
        known += input->kinds[k].count;
    }
    return known > 0;
}

static struct losses losses_of(const struct retries_kind *kinds, size_t count) {
    struct losses losses = {.kinds = kinds};
    for (; losses.kind_count < count; losses.kind_count++)
        losses.count += entries_of(&kinds[losses.kind_count]);
    losses.shares = mem_alloc((losses.count + 1) * sizeof *losses.shares);
    return losses;
}

struct futures retries_simulate(const struct retries_input *input, struct simulate_stream stream,
                                size_t draws, struct arena *arena, struct retries_result *ret) {
    double unfinished = 0.0;

    if (ret)
        *ret = (struct retries_result){0};
    if (input->successes == 0)
        return simulate_value(0.0);
    if (!is_known(input))
        return (struct futures){.kind = FUTURES_OPEN};

    const struct retries_seen *own = &input->own;
    const struct retries_seen *others = &input->others;
    const struct chance_posterior after_success =
        posterior_of(own->after_success, others->after_success);
    const struct chance_posterior after_failure =
        posterior_of(own->after_failure, others->after_failure);
    const struct chance_posterior misses = posterior_of(own->missed, others->missed);
    bool can_miss = input->missed.seen > 0;
    struct futures futures = simulate_drawn(draws, arena);
    double *hit_runs = arena_alloc(arena, draws * sizeof *hit_runs);
    AUTO_FREE double *counts = mem_alloc(draws * sizeof *counts);
    struct losses failed = losses_of(input->kinds, input->kind_count);
    struct losses missed = losses_of(&input->missed, can_miss);
    gsl_rng *shared = simulate_stream_new(stream.seed, stream.shared, NULL);
    gsl_rng *random = simulate_stream_new(stream.seed, stream.shared, stream.own);
    for (size_t i = 0; i < draws; i++) {
        struct chances chances = {.after_success = draw_chance(shared, after_success),
                                  .after_failure = draw_chance(shared, after_failure)};
        if (can_miss)
            chances.missed = draw_chance(shared, misses);
        draw_shares(shared, &failed);
        draw_shares(shared, &missed);
        struct outcome outcome = draw_outcome(random, &chances, input);
        unfinished += outcome.unfinished >= 0.5;
        counts[i] = fmin(outcome.failures, LARGEST_COUNT) + outcome.missed;
        hit_runs[i] = outcome.hit_runs;
        futures.draws[i] = draw_cost(random, &failed, fmin(outcome.failures, LARGEST_COUNT)) +
                           draw_cost(random, &missed, outcome.missed);
    }
    gsl_rng_free(shared);
    gsl_rng_free(random);
    mem_free_ptr(&failed.shares);
    mem_free_ptr(&missed.shares);
    simulate_settle(&futures);
    if (ret) {
        *ret = (struct retries_result){.unfinished = unfinished / (double)draws,
                                       .failures = predict_select(counts, draws, 0.50),
                                       .hit_runs = hit_runs};
    }
    return futures;
}
