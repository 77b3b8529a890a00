/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Idle time to come: what the sessions of the study in the target environment were idle for each
 * hour in which a run ran, times the machine time that is still to come. Open where no session was
 * recorded to its end: nobody waits for nothing.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"

#include <math.h>
#include <string.h>

#define METHOD_IDLE "session-idle/1"

/* Of the environment: what a session says for another one stays there. A session that names none is
 * of the plan's only one. */
static bool is_of_target(const struct estimate_maker *maker, const struct session *session) {
    if (!maker->environment)
        return session->environment == NULL;
    if (!session->environment)
        return maker->plan->environment_count == 1;
    return strcmp(session->environment, maker->environment->id) == 0;
}

/* Over, and its idle and run times are told exactly. */
static bool is_usable(const struct session *session) {
    return !session->superseded_by && session->state == SESSION_STOPPED &&
           session->idle.state == QUANTITY_MEASURED && session->idle.bound == QUANTITY_EXACT &&
           session->busy.state == QUANTITY_MEASURED && session->busy.bound == QUANTITY_EXACT &&
           isfinite(session->idle.value) && session->idle.value >= 0.0 &&
           isfinite(session->busy.value) && session->busy.value > 0.0;
}

struct seen_idle {
    double *factors; /* reserved time / run time of each session: at least 1 */
    const char **sources;
    size_t count;
    size_t others; /* of the target, but cannot be used */
};

static struct seen_idle find_seen(const struct estimate_maker *maker) {
    const struct study_input *input = maker->study->input;
    struct seen_idle seen = {
        .factors = arena_alloc(maker->arena, (input->session_count + 1) * sizeof(double)),
        .sources = arena_alloc(maker->arena, (input->session_count + 1) * sizeof(char *))};
    for (size_t i = 0; i < input->session_count; i++) {
        const struct session *session = &input->sessions[i];
        if (!is_of_target(maker, session) || session->superseded_by)
            continue;
        if (!is_usable(session)) {
            seen.others++;
            continue;
        }
        seen.sources[seen.count] = arena_strdup(maker->arena, session->id);
        seen.factors[seen.count++] = 1.0 + session->idle.value / session->busy.value;
    }
    return seen;
}

/* What needs the machine and is made of runs. Work by hand is what sessions show as idle. */
static struct piece machine_time(struct block_work *work) {
    struct estimate_maker *maker = work->maker;
    struct tally tally = {.count = 0};
    const struct piece none = piece_open(QUANTITY_NO_EVIDENCE, NULL);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        if (k == COMPONENT_IDLE || k == COMPONENT_FIXING || work->tally[VIEW_MACHINE][k].count == 0)
            continue;
        struct piece piece = tally_piece(&work->tally[VIEW_MACHINE][k], &none, maker);
        tally_add(&tally, component_name(k), &piece, maker->arena, work->scratch);
    }
    return tally_piece(&tally, &none, maker);
}

static const char *idle_detail(const struct seen_idle *seen, const struct futures *futures,
                               struct arena *arena) {
    char idle_s[MSG_DECIMAL_SIZE];
    double median = predict_median(seen->factors, seen->count) - 1.0; /* of recorded sessions */
    const char *marked = arena_printf(arena, "[m] %s", msg_decimal(idle_s, "%.2f", median));
    const char *rests = arena_printf(
        arena,
        msg_plural((unsigned long)seen->count, "by %zu session: %s s idle for each second of runs",
                   "by %zu sessions: median %s s idle for each second of runs"),
        seen->count, marked);
    if (seen->others > 0)
        rests = piece_join(
            arena, rests,
            arena_printf(arena,
                         msg_plural((unsigned long)seen->others,
                                    "%zu more session cannot be used (it is not over, or has no "
                                    "run, or its runs have no certain end)",
                                    "%zu more sessions cannot be used (they are not over, or have "
                                    "no run, or their runs have no certain end)"),
                         seen->others));
    if (seen->count == 1)
        return piece_join(arena, rests, _("one more gives an interval"));
    return futures->too_wide ? piece_join(arena, rests, _("they lie too far apart")) : rests;
}

static struct piece idle_piece(struct block_work *work, const struct seen_idle *seen) {
    struct estimate_maker *maker = work->maker;
    const struct piece base = machine_time(work);
    if (!quantity_is_known(&base.quantity))
        return piece_open(QUANTITY_NO_EVIDENCE, _("how long the machine will run is open"));
    struct futures factor = simulate_runs(
        seen->factors, seen->count, 1, (struct simulate_spread){0.0, 0.0},
        estimate_stream(work, "idle", work->study->block->id), maker->draws, work->draws, NULL);
    struct piece piece = {.futures = simulate_surplus(&base.futures, &factor, work->draws)};
    if (piece.futures.kind == FUTURES_OPEN || !isfinite(piece.futures.value))
        return piece_open(QUANTITY_FAILED, _("the sum is beyond what a number holds"));
    piece.quantity = (struct quantity){
        .state = base.quantity.state == QUANTITY_ASSUMED ? QUANTITY_ASSUMED : QUANTITY_ESTIMATED,
        .bound = base.quantity.bound,
        .unit = UNIT_SECOND,
        .method = METHOD_IDLE,
        .detail = piece_join(maker->arena,
                             base.quantity.bound == QUANTITY_AT_LEAST
                                 ? _("so is the machine time that it goes with")
                                 : NULL,
                             idle_detail(seen, &piece.futures, maker->arena)),
        .n = seen->count,
        .basis = ESTIMATE_BASIS_SESSIONS,
    };
    piece_take_futures(&piece);
    piece_add_sources(&piece.quantity, seen->sources, seen->count, maker->arena);
    piece_add_sources(&piece.quantity, base.quantity.sources, base.quantity.source_count,
                      maker->arena);
    return piece;
}

void estimate_add_idle(struct block_work *work) {
    struct estimate_maker *maker = work->maker;
    struct seen_idle seen = find_seen(maker);
    if (seen.count == 0)
        return;
    const struct piece piece = idle_piece(work, &seen);
    const char *source = estimate_block_source(work, work->study->block->runs.at);
    struct estimate_item item = {
        .name = "sessions",
        .why = _("how long the machine will run is open"),
        .remedy = ESTIMATE_ASSUME,
        .count = quantity_measured(UNIT_COUNT, 1.0, "the block's share of its sessions"),
        .unit = piece.quantity,
        .needs_machine = PLAN_YES,
    };
    piece_add_sources(&item.count, &source, 1, maker->arena);
    estimate_work_add(work, COMPONENT_IDLE, item, &piece, true);
}
