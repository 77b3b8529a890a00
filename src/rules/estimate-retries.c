/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What failed attempts will cost, from attempts really seen or from what people assume. Open where
 * no attempt was seen, and where what a failure costs is not known: seeing none is no proof.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "forecast/retries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BASIS_OWN   "own-runs"
#define LOSSES_MOST 64u /* of one kind, the newest: bounded work */

struct loss_kind {
    uint64_t seen;
    double *lost; /* the newest of the known ones */
    size_t count;
};

/* What the attempts of a condition say. Kinds are outcomes; one that a repeat does not cure is no
 * part of it. */
struct attempts {
    struct retries_seen seen;
    bool fails_now;
    uint64_t repeats_used;
    struct loss_kind kinds[OUTCOME_COUNT_]; /* OUTCOME_OK: results that missed their check */
    bool at_least, unknown;
    double *known; /* the losses of all kinds */
    size_t known_count;
    const char **sources; /* run ids: of all, and of those that losses are borrowed from */
    size_t source_count;
    size_t count, failures; /* such as say how often a repeat is needed */
    size_t incurable;       /* others, which a repeat would not have cured */
};

bool estimate_is_incurable(const struct study_run *run) {
    return run->is_attempt && run->run->outcome != OUTCOME_OK &&
           !outcome_can_retry(run->run->outcome);
}

static enum retries_end end_of(const struct run *run) {
    if (run->outcome != OUTCOME_OK)
        return RETRIES_FAILED;
    return run->verified && strcmp(run->verified, "no") == 0 ? RETRIES_MISSED : RETRIES_GOOD;
}

static bool has_loss(const struct run *run) {
    const struct quantity *wall = &run->wall;
    return wall->state == QUANTITY_MEASURED && wall->bound != QUANTITY_AT_MOST &&
           isfinite(wall->value) && wall->value >= 0.0;
}

static void add_loss(struct attempts *attempts, enum outcome_class outcome, double seconds,
                     struct arena *arena) {
    struct loss_kind *kind = &attempts->kinds[outcome];
    attempts->known[attempts->known_count++] = seconds;
    if (kind->count == LOSSES_MOST)
        return;
    if (!kind->lost)
        kind->lost = arena_alloc(arena, LOSSES_MOST * sizeof *kind->lost);
    kind->lost[kind->count++] = seconds;
}

static void add_failure(struct attempts *attempts, const struct run *run, struct arena *arena) {
    attempts->kinds[run->outcome].seen++;
    attempts->failures++;
    if (!has_loss(run)) {
        attempts->unknown = true;
        return;
    }
    attempts->at_least |= run->wall.bound == QUANTITY_AT_LEAST;
    add_loss(attempts, run->outcome, run->wall.value, arena);
}

/* Failures that it has just had, as `block run` counts them: lost machines are not its own. */
static void count_row(struct attempts *attempts, const struct run *run, bool *in_row) {
    *in_row = *in_row && end_of(run) == RETRIES_FAILED;
    if (!*in_row)
        return;
    attempts->fails_now = true;
    attempts->repeats_used += run->outcome != OUTCOME_LOST && run->outcome != OUTCOME_PREEMPTED;
}

static struct attempts find_attempts(const struct study_condition *condition, struct arena *arena) {
    size_t most = condition->run_count + 1;
    struct attempts attempts = {.known = arena_alloc(arena, most * sizeof(double)),
                                .sources = arena_alloc(arena, most * sizeof(char *))};
    enum retries_end *ends = arena_alloc(arena, most * sizeof *ends);
    size_t first = most; /* they are put in from the end: the newest one comes first */
    bool in_row = true;

    for (size_t i = 0; i < condition->run_count; i++) {
        const struct study_run *seen = condition->runs[i];
        if (!seen->is_attempt)
            continue;
        if (estimate_is_incurable(seen)) {
            attempts.incurable++;
            continue;
        }
        ends[--first] = end_of(seen->run);
        attempts.sources[attempts.source_count++] =
            arena_strdup(arena, seen->run->id ? seen->run->id : "");
        attempts.count++;
        count_row(&attempts, seen->run, &in_row);
        if (ends[first] != RETRIES_GOOD)
            add_failure(&attempts, seen->run, arena);
    }
    retries_see(&attempts.seen, &ends[first], most - first);
    attempts.at_least |= attempts.unknown && attempts.known_count > 0;
    return attempts;
}

/* ---- what other conditions say ---- */

struct pooled_loss { /* of a failed attempt, as a share of a good run of its own condition */
    const struct run *run;
    double share;
};
struct estimate_retry_pool {
    struct retries_seen seen; /* of all conditions of the study */
    struct pooled_loss *losses;
    size_t loss_count;
    bool at_least;
};

static int compare_newest(const void *a, const void *b) {
    const struct run *x = ((const struct pooled_loss *)a)->run;
    const struct run *y = ((const struct pooled_loss *)b)->run;
    if (x->started_utc_ns != y->started_utc_ns)
        return x->started_utc_ns > y->started_utc_ns ? -1 : 1;
    return strcmp(x->id ? x->id : "", y->id ? y->id : "");
}

static void pool_losses(struct estimate_retry_pool *pool, const struct study_condition *condition,
                        double good_s) {
    for (size_t i = 0; i < condition->run_count && good_s > 0.0; i++) {
        const struct study_run *seen = condition->runs[i];
        if (!seen->is_attempt || estimate_is_incurable(seen) || end_of(seen->run) == RETRIES_GOOD ||
            !has_loss(seen->run))
            continue;
        pool->losses[pool->loss_count++] =
            (struct pooled_loss){seen->run, seen->run->wall.value / good_s};
    }
}

static double median_good(const struct study_condition *condition, struct arena *arena) {
    const struct run **runs;
    double *walls;
    size_t count = estimate_counting_runs(condition, arena, &runs, &walls);
    return count > 0 ? predict_median(walls, count) : 0.0;
}

/* One condition in two blocks is one. */
static bool is_pooled(const struct plan_condition *const *pooled, size_t count,
                      const struct plan_condition *condition) {
    for (size_t i = 0; i < count && condition->id[0]; i++)
        if (strcmp(pooled[i]->id, condition->id) == 0)
            return true;
    return false;
}

static const struct estimate_retry_pool *find_pool(struct estimate_maker *maker) {
    const struct study *study = maker->study;
    if (maker->retry_pool)
        return maker->retry_pool;
    struct estimate_retry_pool *pool = arena_alloc(maker->arena, sizeof *pool);
    AUTO_ARENA struct arena *scratch = arena_new();
    size_t most = 0;
    size_t pooled_count = 0;
    for (size_t b = 0; b < study->block_count; b++)
        most += study->blocks[b].condition_count;
    const struct plan_condition **pooled = arena_alloc(scratch, (most + 1) * sizeof *pooled);
    pool->losses = arena_alloc(maker->arena, (study->run_count + 1) * sizeof *pool->losses);
    for (size_t b = 0; b < study->block_count; b++)
        for (size_t c = 0; c < study->blocks[b].condition_count; c++) {
            const struct study_condition *condition = &study->blocks[b].conditions[c];
            const struct attempts attempts = find_attempts(condition, scratch);
            if (attempts.count == 0 || is_pooled(pooled, pooled_count, condition->condition))
                continue;
            pooled[pooled_count++] = condition->condition;
            retries_add(&pool->seen, &attempts.seen);
            if (attempts.failures > 0)
                pool_losses(pool, condition, median_good(condition, scratch));
        }
    if (pool->loss_count > 0)
        qsort(pool->losses, pool->loss_count, sizeof *pool->losses, compare_newest);
    if (pool->loss_count > LOSSES_MOST)
        pool->loss_count = LOSSES_MOST;
    for (size_t i = 0; i < pool->loss_count; i++)
        pool->at_least |= pool->losses[i].run->wall.bound == QUANTITY_AT_LEAST;
    maker->retry_pool = pool;
    return pool;
}

/* Gives a condition with attempts, of which none failed, the losses of other conditions' failures:
 * as shares of a good run, never as durations. */
static bool borrow_losses(const struct block_work *work, const struct condition_work *c,
                          struct attempts *attempts) {
    struct arena *arena = work->maker->arena;
    const struct estimate_retry_pool *pool = find_pool(work->maker);
    if (attempts->count == 0 || attempts->failures > 0 || c->count_used == 0 ||
        pool->loss_count == 0)
        return false;
    double good_s = predict_median(c->walls, c->count_used);
    size_t own = attempts->count;
    const char **sources = arena_alloc(arena, (own + pool->loss_count) * sizeof *sources);
    if (own > 0)
        memcpy(sources, attempts->sources, own * sizeof *sources);
    attempts->known = arena_alloc(arena, pool->loss_count * sizeof *attempts->known);
    for (size_t i = 0; i < pool->loss_count; i++) {
        const struct run *run = pool->losses[i].run;
        attempts->kinds[run->outcome].seen++;
        add_loss(attempts, run->outcome, pool->losses[i].share * good_s, arena);
        sources[own + i] = arena_strdup(arena, run->id ? run->id : "");
    }
    attempts->sources = sources;
    attempts->source_count = own + pool->loss_count;
    attempts->at_least |= pool->at_least;
    return true;
}

/* What one failed attempt costs, for people. */
static struct quantity loss_unit(const struct attempts *attempts, bool borrowed) {
    if (attempts->known_count == 0)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE,
                             _("what a failed attempt costs was not seen"));
    struct quantity q = {.state = QUANTITY_ESTIMATED,
                         .bound = attempts->at_least ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                         .value = predict_median(attempts->known, attempts->known_count),
                         .unit = UNIT_SECOND,
                         .method = "median of the failed attempts",
                         .n = attempts->known_count,
                         .basis = BASIS_OWN};
    if (borrowed) {
        q.method = "median share of a good run";
        q.detail = _("the share of a good run that failed attempts of other conditions took");
        q.basis = ESTIMATE_BASIS_FAILURES;
    }
    return q;
}

struct retry_limit {
    int64_t most; /* -1: no limit is said */
    struct estimate_rule *rule;
};

static struct retry_limit find_limit(const struct block_work *work) {
    const struct plan_block *block = work->study->block;
    bool given = block->retry_max.given && block->retry_max.value >= 0;
    struct estimate_rule *rule =
        estimate_rule_find(work->maker, block->id, ESTIMATE_RETRY_MAX, COMPONENT_RETRIES, given);
    if (rule)
        return (struct retry_limit){(int64_t)rule->number, rule};
    return (struct retry_limit){given ? block->retry_max.value : -1, NULL};
}

/* Failures on the way to one success, expected, when the share that fails is assumed; *ret_left:
 * the share of runs that the limit leaves unfinished. */
static double expected_failures(double chance, int64_t most, double *ret_left) {
    *ret_left = 0.0;
    if (most < 0)
        return chance / (1.0 - chance);
    double attempts = (double)most + 1.0;
    *ret_left = pow(chance, attempts);
    return chance < 1.0 ? chance * (1.0 - *ret_left) / (1.0 - chance) : attempts;
}

static void say_unfinished(struct piece *piece, double share, int64_t most, struct arena *arena) {
    if (!(share > 0.0))
        return;
    piece->quantity.bound = QUANTITY_AT_LEAST;
    char percent[MSG_DECIMAL_SIZE];
    const char *said = arena_printf(
        arena,
        msg_plural((unsigned long)most,
                   "with a chance of %s %% some run is not finished after %lld repeat",
                   "with a chance of %s %% some run is not finished after %lld repeats"),
        msg_decimal(percent, "%.2g", 100.0 * share), (long long)most);
    piece->quantity.detail = piece_join(arena, piece->quantity.detail, said);
}

/* The share that fails is assumed: what is expected, without an interval. */
static struct piece retries_assumed(struct block_work *work, const struct condition_work *c,
                                    struct estimate_rule *rate, const struct quantity *loss,
                                    struct quantity *ret_count) {
    struct retry_limit limit = find_limit(work);
    double left = 0.0;

    if (!quantity_is_known(loss))
        return piece_open(QUANTITY_NO_EVIDENCE, loss->detail);
    if (rate->number >= 1.0 && limit.most < 0) {
        estimate_rule_note(rate, true, NULL); /* it is why they are open */
        return piece_open(QUANTITY_FAILED,
                          _("where every attempt fails and no limit is set, no run is ever done"));
    }
    double failures = expected_failures(rate->number, limit.most, &left) * (double)c->remaining;
    struct piece piece = estimate_rule_piece(work->maker, rate, failures * loss->value);
    *ret_count = estimate_rule_quantity(work->maker, rate, UNIT_COUNT, failures);
    piece_add_sources(&piece.quantity, loss->sources, loss->source_count, work->maker->arena);
    piece.quantity.bound = loss->bound;
    if (loss->state == QUANTITY_ASSUMED)
        piece.quantity.detail = piece_join(work->maker->arena, piece.quantity.detail, loss->detail);
    double some = -expm1((double)c->remaining * log1p(-fmin(left, 1.0 - 1e-15)));
    say_unfinished(&piece, some, limit.most, work->maker->arena);
    return piece;
}

static const char *no_attempt_text(const struct attempts *attempts) {
    return attempts->incurable > 0 ? _("no attempt was seen but such as repeating does not cure")
                                   : _("no attempt was seen");
}

static const char *attempts_text(const struct attempts *attempts, struct arena *arena) {
    size_t count = attempts->count;
    if (count == 0)
        return no_attempt_text(attempts);
    if (attempts->failures == 0)
        return arena_printf(arena,
                            msg_plural((unsigned long)count, "%zu attempt was seen and none failed",
                                       "%zu attempts were seen and none failed"),
                            count);
    return arena_printf(
        arena,
        msg_plural((unsigned long)count, "%zu of %zu attempt failed", "%zu of %zu attempts failed"),
        attempts->failures, count);
}

/* What is borrowed of the study's other conditions; NULL: nothing. */
static const char *borrowed_text(const struct retries_seen *others, bool borrowed_loss,
                                 struct arena *arena) {
    uint64_t failed = others->after_success.failures + others->after_failure.failures;
    uint64_t all = others->after_success.attempts + others->after_failure.attempts;
    if (all == 0)
        return NULL;
    return arena_printf(
        arena,
        borrowed_loss
            ? _("of other conditions %llu of %llu attempts failed: they count a little for how "
                "often this one fails, and what a failure costs is their share of a good run")
            : _("of other conditions %llu of %llu attempts failed: they count a little, too"),
        (unsigned long long)failed, (unsigned long long)all);
}

/* Kinds of failures as the simulation takes them; a rule says what each one costs. */
static size_t list_kinds(const struct attempts *attempts, const struct estimate_rule *loss_rule,
                         struct retries_kind *kinds, struct retries_kind *ret_missed) {
    size_t count = 0;
    for (enum outcome_class k = 0; k < OUTCOME_COUNT_; k++) {
        const struct loss_kind *of = &attempts->kinds[k];
        struct retries_kind kind = {.seen = of->seen, .lost = of->lost, .count = of->count};
        if (of->seen > 0 && loss_rule) {
            kind.lost = &loss_rule->number;
            kind.count = 1;
        }
        if (k == OUTCOME_OK)
            *ret_missed = kind;
        else if (of->seen > 0)
            kinds[count++] = kind;
    }
    if (count == 0 && loss_rule)
        kinds[count++] = (struct retries_kind){1, &loss_rule->number, 1};
    return count;
}

static struct piece retries_drawn(struct block_work *work, const struct condition_work *c,
                                  const struct attempts *attempts, bool borrowed_loss,
                                  struct estimate_rule *loss_rule, struct quantity *ret_count) {
    struct arena *arena = work->maker->arena;
    struct retry_limit limit = find_limit(work);
    struct retries_kind kinds[OUTCOME_COUNT_];
    struct retries_input input = {.own = attempts->seen,
                                  .others = find_pool(work->maker)->seen,
                                  .fails_now = attempts->fails_now,
                                  .repeats_used = attempts->repeats_used,
                                  .kinds = kinds,
                                  .successes = c->remaining,
                                  .retry_max = limit.most};
    struct retries_result result;

    if (!loss_rule && attempts->known_count == 0)
        return piece_open(
            QUANTITY_NO_EVIDENCE,
            piece_join(arena, attempts_text(attempts, arena),
                       attempts->failures == 0
                           ? _("that is no proof that none will, and what one costs is not known")
                           : _("how long they took is not known")));
    retries_take_away(&input.others, &attempts->seen);
    input.kind_count = list_kinds(attempts, loss_rule, kinds, &input.missed);
    bool borrowed = retries_has_attempt(&input.others);
    const char *seen = piece_join(arena, attempts_text(attempts, arena),
                                  borrowed_text(&input.others, borrowed_loss, arena));
    struct piece piece = {
        .futures = retries_simulate(
            &input,
            estimate_stream(
                work,
                arena_printf(arena, "retries %s", estimate_condition_key(c->study->condition)),
                work->study->block->id),
            work->maker->draws, work->draws, &result)};
    if (piece.futures.kind == FUTURES_OPEN)
        return piece_open(QUANTITY_NO_EVIDENCE, seen);
    if (result.hit_runs)
        estimate_lanes_hits(work, c, result.hit_runs);
    bool from_below = !loss_rule && (attempts->at_least || input.kind_count == 0);
    piece.quantity = (struct quantity){.state = QUANTITY_ESTIMATED,
                                       .bound = from_below ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                                       .unit = UNIT_SECOND,
                                       .method = RETRIES_METHOD,
                                       .detail = seen,
                                       .n = attempts->count,
                                       .basis = borrowed ? ESTIMATE_BASIS_FAILURES : BASIS_OWN};
    piece_add_sources(&piece.quantity, attempts->sources, attempts->source_count, arena);
    *ret_count = (struct quantity){.state = limit.rule ? QUANTITY_ASSUMED : QUANTITY_ESTIMATED,
                                   .value = result.failures,
                                   .unit = UNIT_COUNT,
                                   .method = RETRIES_METHOD,
                                   .detail = seen,
                                   .n = attempts->count,
                                   .sources = piece.quantity.sources,
                                   .source_count = piece.quantity.source_count};
    struct estimate_rule *used[] = {loss_rule, limit.rule};
    for (size_t i = 0; i < ARRAY_LENGTH(used); i++) {
        if (!used[i])
            continue;
        struct quantity assumed =
            estimate_rule_quantity(work->maker, used[i], UNIT_SECOND, used[i]->number);
        estimate_take_count(work, &piece, &assumed);
        piece.quantity.detail = piece_join(arena, seen, assumed.detail);
    }
    piece_take_futures(&piece);
    if (piece.futures.too_wide && piece.quantity.state == QUANTITY_ESTIMATED)
        piece.quantity.detail = piece_join(
            arena, seen,
            _("so few attempts allow nearly any share of failures: there is no interval"));
    say_unfinished(&piece, result.unfinished, limit.most, arena);
    return piece;
}

/* In a few words; with the same reason as the runs of the condition where none was ever made. */
static const char *why_open(const struct condition_work *c, const struct attempts *attempts,
                            const struct estimate_rule *rate, bool has_loss) {
    if (!c->has_remaining)
        return c->count.detail;
    if (c->is_unsupported)
        return estimate_why_unsupported();
    if (rate && has_loss)
        return NULL; /* every attempt fails */
    if (rate || attempts->failures > 0)
        return _("what a failed attempt costs is not known");
    if (c->study->run_count == 0 && c->study->why)
        return c->study->why;
    return attempts->count == 0 ? no_attempt_text(attempts)
                                : _("no failure was seen, which is no proof");
}

static enum estimate_remedy remedy_of(const struct condition_work *c,
                                      const struct attempts *attempts,
                                      const struct estimate_rule *rate, bool has_loss) {
    if (!c->has_remaining)
        return ESTIMATE_ENTER;
    if (c->is_unsupported)
        return ESTIMATE_SUPPORT;
    if (rate && has_loss)
        return ESTIMATE_LIMIT_REPEATS;
    return rate || attempts->count > 0 ? ESTIMATE_SEE_ATTEMPTS : ESTIMATE_MAKE_RUN;
}

void estimate_add_retries(struct block_work *work, const struct condition_work *c) {
    struct estimate_maker *maker = work->maker;
    const char *id = work->study->block->id;
    struct attempts attempts = find_attempts(c->study, maker->arena);
    struct estimate_rule *rate =
        estimate_rule_find(maker, id, ESTIMATE_FAILURE_RATE, COMPONENT_RETRIES, attempts.count > 0);
    struct estimate_rule *loss = estimate_rule_find(maker, id, ESTIMATE_LOST_TIME,
                                                    COMPONENT_RETRIES, attempts.known_count > 0);
    bool borrowed = !loss && !rate && borrow_losses(work, c, &attempts);
    bool costs = loss || attempts.known_count > 0;
    struct estimate_item item = {
        .name = estimate_condition_name(c),
        .condition = c->study->condition,
        .why = why_open(c, &attempts, rate, costs),
        .remedy = remedy_of(c, &attempts, rate, costs),
        .count =
            quantity_open(UNIT_COUNT, QUANTITY_NO_EVIDENCE, attempts_text(&attempts, maker->arena)),
        .unit = loss_unit(&attempts, borrowed),
        .needs_machine = PLAN_YES,
    };
    struct piece piece;

    if (c->has_remaining && c->remaining == 0)
        return;
    if (loss && (rate || attempts.count > 0))
        item.unit = estimate_rule_quantity(maker, loss, UNIT_SECOND, loss->number);
    else
        piece_add_sources(&item.unit, attempts.sources,
                          attempts.known_count > 0 ? attempts.source_count : 0, maker->arena);
    if (!c->has_remaining)
        piece = piece_open(QUANTITY_NOT_ENTERED, c->count.detail);
    else if (c->is_unsupported)
        piece = piece_open(QUANTITY_NOT_SUPPORTED, estimate_why_unsupported());
    else if (rate)
        piece = retries_assumed(work, c, rate, &item.unit, &item.count);
    else if (attempts.count == 0)
        piece = piece_open(QUANTITY_NO_EVIDENCE, no_attempt_text(&attempts));
    else
        piece = retries_drawn(work, c, &attempts, borrowed, loss, &item.count);
    estimate_class_retries(work, c, find_limit(work).most, &item.count, &piece);
    struct estimate_rule *rules[] = {rate, loss, find_limit(work).rule};
    const char *why_not = arena_printf(maker->arena, _("retries are open: %s"),
                                       item.why                ? item.why
                                       : piece.quantity.detail ? piece.quantity.detail
                                                               : "");
    for (size_t i = 0; i < ARRAY_LENGTH(rules); i++)
        estimate_rule_note(rules[i], quantity_is_known(&piece.quantity), why_not);
    estimate_take_count(work, &piece, &c->count);
    estimate_work_add(work, COMPONENT_RETRIES, item, &piece, true);
}
