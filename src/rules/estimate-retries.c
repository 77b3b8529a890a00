/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What failed attempts will cost, from attempts really seen or from what people assume. Open where
 * no attempt was seen, and where what a failure costs is not known: seeing none is no proof.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"

#include <math.h>

struct losses {
    double *values;
    const char **sources;
    size_t count;
    bool at_least, unknown;
    const char **attempts; /* run ids of the attempts that say how often a repeat is needed */
    size_t attempt_count, failures;
    size_t incurable; /* others, which a repeat would not have cured */
};

bool estimate_is_incurable(const struct study_run *run) {
    return run->is_attempt && run->run->outcome != OUTCOME_OK &&
           !outcome_can_retry(run->run->outcome);
}

static struct losses find_losses(const struct block_work *work, const struct condition_work *c) {
    struct arena *arena = work->maker->arena;
    size_t most = c->study->run_count + 1;
    struct losses losses = {.values = arena_alloc(arena, most * sizeof(double)),
                            .attempts = arena_alloc(arena, most * sizeof(char *))};

    for (size_t i = 0; i < c->study->run_count; i++) {
        const struct study_run *seen = c->study->runs[i];
        if (!seen->is_attempt)
            continue;
        if (estimate_is_incurable(seen)) {
            losses.incurable++;
            continue;
        }
        losses.attempts[losses.attempt_count++] =
            arena_strdup(arena, seen->run->id ? seen->run->id : "");
        const struct quantity *wall = &seen->run->wall;
        if (seen->run->outcome == OUTCOME_OK)
            continue;
        losses.failures++;
        if (wall->state != QUANTITY_MEASURED || wall->bound == QUANTITY_AT_MOST ||
            !isfinite(wall->value) || wall->value < 0.0) {
            losses.unknown = true;
            continue;
        }
        losses.at_least |= wall->bound == QUANTITY_AT_LEAST;
        losses.values[losses.count++] = wall->value;
    }
    losses.at_least |= losses.unknown && losses.count > 0;
    return losses;
}

/* What one failed attempt costs, for people. */
static struct quantity loss_unit(const struct losses *losses) {
    if (losses->count == 0)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE,
                             _("what a failed attempt costs was not seen"));
    struct quantity q = {.state = QUANTITY_ESTIMATED,
                         .bound = losses->at_least ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                         .value = predict_median(losses->values, losses->count),
                         .unit = UNIT_SECOND,
                         .method = "median of the failed attempts",
                         .n = losses->count,
                         .basis = "own-runs"};
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
    const char *said = arena_printf(
        arena,
        msg_plural((unsigned long)most,
                   "with a chance of %.2g %% some run is not finished after %lld repeat",
                   "with a chance of %.2g %% some run is not finished after %lld repeats"),
        100.0 * share, (long long)most);
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

static const char *no_attempt_text(const struct losses *losses) {
    return losses->incurable > 0 ? _("no attempt was seen but such as repeating does not cure")
                                 : _("no attempt was seen");
}

static const char *attempts_text(const struct losses *losses, struct arena *arena) {
    size_t attempts = losses->attempt_count;
    if (attempts == 0)
        return no_attempt_text(losses);
    if (losses->failures == 0)
        return arena_printf(arena,
                            msg_plural((unsigned long)attempts,
                                       "%zu attempt was seen and none failed",
                                       "%zu attempts were seen and none failed"),
                            attempts);
    return arena_printf(arena,
                        msg_plural((unsigned long)attempts, "%zu of %zu attempt failed",
                                   "%zu of %zu attempts failed"),
                        losses->failures, attempts);
}

static struct piece retries_drawn(struct block_work *work, const struct condition_work *c,
                                  const struct losses *losses, struct estimate_rule *loss_rule,
                                  struct quantity *ret_count) {
    struct arena *arena = work->maker->arena;
    struct retry_limit limit = find_limit(work);
    double unfinished = 0.0;
    double failures = 0.0;
    const char *seen = attempts_text(losses, arena);

    if (!loss_rule && losses->count == 0)
        return piece_open(
            QUANTITY_NO_EVIDENCE,
            piece_join(arena, seen,
                       losses->failures == 0
                           ? _("that is no proof that none will, and what one costs is not known")
                           : _("how long they took is not known")));
    const double *values = loss_rule ? &loss_rule->number : losses->values;
    struct piece piece = {
        .futures = simulate_retries(
            losses->attempt_count, losses->failures, values, loss_rule ? 1 : losses->count,
            c->remaining, limit.most,
            estimate_stream(work, arena_printf(arena, "retries %s", estimate_condition_key(c)),
                            work->study->block->id),
            work->maker->draws, work->draws, &unfinished, &failures)};
    if (piece.futures.kind == FUTURES_OPEN)
        return piece_open(QUANTITY_NO_EVIDENCE, seen);
    piece.quantity = (struct quantity){.state = QUANTITY_ESTIMATED,
                                       .bound = losses->at_least && !loss_rule ? QUANTITY_AT_LEAST
                                                                               : QUANTITY_EXACT,
                                       .unit = UNIT_SECOND,
                                       .method = "beta-geometric/1",
                                       .detail = seen,
                                       .n = losses->attempt_count,
                                       .basis = "own-runs"};
    piece_add_sources(&piece.quantity, losses->attempts, losses->attempt_count, arena);
    *ret_count = (struct quantity){.state = limit.rule ? QUANTITY_ASSUMED : QUANTITY_ESTIMATED,
                                   .value = failures,
                                   .unit = UNIT_COUNT,
                                   .method = "beta-geometric/1",
                                   .detail = seen,
                                   .n = losses->attempt_count,
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
    say_unfinished(&piece, unfinished, limit.most, arena);
    return piece;
}

/* In a few words; with the same reason as the runs of the condition where none was ever made. */
static const char *why_open(const struct condition_work *c, const struct losses *losses,
                            const struct estimate_rule *rate, bool has_loss) {
    if (!c->has_remaining)
        return c->count.detail;
    if (c->is_unsupported)
        return estimate_why_unsupported();
    if (rate && has_loss)
        return NULL; /* every attempt fails */
    if (rate || losses->failures > 0)
        return _("what a failed attempt costs is not known");
    if (c->study->run_count == 0 && c->study->why)
        return c->study->why;
    return losses->attempt_count == 0 ? no_attempt_text(losses)
                                      : _("no failure was seen, which is no proof");
}

static enum estimate_remedy remedy_of(const struct condition_work *c, const struct losses *losses,
                                      const struct estimate_rule *rate, bool has_loss) {
    if (!c->has_remaining)
        return ESTIMATE_ENTER;
    if (c->is_unsupported)
        return ESTIMATE_SUPPORT;
    if (rate && has_loss)
        return ESTIMATE_LIMIT_REPEATS;
    return rate || losses->attempt_count > 0 ? ESTIMATE_SEE_ATTEMPTS : ESTIMATE_MAKE_RUN;
}

void estimate_add_retries(struct block_work *work, const struct condition_work *c) {
    struct estimate_maker *maker = work->maker;
    const char *id = work->study->block->id;
    struct losses losses = find_losses(work, c);
    struct estimate_rule *rate = estimate_rule_find(maker, id, ESTIMATE_FAILURE_RATE,
                                                    COMPONENT_RETRIES, losses.attempt_count > 0);
    struct estimate_rule *loss =
        estimate_rule_find(maker, id, ESTIMATE_LOST_TIME, COMPONENT_RETRIES, losses.count > 0);
    struct estimate_item item = {
        .name = estimate_condition_name(c),
        .condition = c->study->condition,
        .why = why_open(c, &losses, rate, loss || losses.count > 0),
        .remedy = remedy_of(c, &losses, rate, loss || losses.count > 0),
        .count =
            quantity_open(UNIT_COUNT, QUANTITY_NO_EVIDENCE, attempts_text(&losses, maker->arena)),
        .unit = loss_unit(&losses),
        .needs_machine = PLAN_YES,
    };
    struct piece piece;

    if (c->has_remaining && c->remaining == 0)
        return;
    if (loss && (rate || losses.attempt_count > 0))
        item.unit = estimate_rule_quantity(maker, loss, UNIT_SECOND, loss->number);
    else
        piece_add_sources(&item.unit, losses.attempts, losses.count ? losses.attempt_count : 0,
                          maker->arena);
    if (!c->has_remaining)
        piece = piece_open(QUANTITY_NOT_ENTERED, c->count.detail);
    else if (c->is_unsupported)
        piece = piece_open(QUANTITY_NOT_SUPPORTED, estimate_why_unsupported());
    else if (rate)
        piece = retries_assumed(work, c, rate, &item.unit, &item.count);
    else if (losses.attempt_count == 0)
        piece = piece_open(QUANTITY_NO_EVIDENCE, no_attempt_text(&losses));
    else
        piece = retries_drawn(work, c, &losses, loss, &item.count);
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
