/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Durations that are shown and added (estimate-parts.h). Must not add medians: the value of a sum
 * is the median of the futures' sums; what is open stays named and makes the sum a lower bound.
 */
#include "rules/estimate-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "rules/estimate-class.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BASIS_OWN      "own-runs"
#define BASIS_BORROWED "borrowed-spread"

struct piece piece_open(enum quantity_reason reason, const char *detail) {
    return (struct piece){.quantity = quantity_open(UNIT_SECOND, reason, detail)};
}

struct piece piece_nothing(struct arena *arena, const char *source) {
    struct piece piece = {.quantity = quantity_measured(UNIT_SECOND, 0.0, "nothing left to run"),
                          .futures = simulate_value(0.0)};
    if (source)
        piece_add_sources(&piece.quantity, &source, 1, arena);
    return piece;
}

const char *piece_join(struct arena *arena, const char *a, const char *b) {
    if (!a || !b)
        return a ? a : b;
    return arena_printf(arena, "%s; %s", a, b);
}

void piece_take_futures(struct piece *piece) {
    struct quantity *q = &piece->quantity;
    assert(piece->futures.kind != FUTURES_OPEN && quantity_is_known(q));
    q->value = piece->futures.value;
    q->has_interval = q->state != QUANTITY_MEASURED &&
                      simulate_interval(&piece->futures, &q->p05, &q->value, &q->p95);
    if (q->state == QUANTITY_ASSUMED && !q->has_interval)
        q->basis = NULL; /* there is no spread that could rest on anything */
    if (q->has_interval) {
        q->level = PREDICT_LEVEL;
    } else {
        q->level = q->p05 = q->p95 = 0.0;
    }
}

struct piece piece_scale(const struct piece *piece, double factor, struct arena *scratch) {
    struct piece scaled = *piece;
    if (piece->futures.kind == FUTURES_OPEN)
        return scaled;
    scaled.futures = simulate_scale(piece->futures, factor, scratch);
    scaled.quantity.parts = NULL; /* they are not scaled */
    scaled.quantity.part_count = 0;
    piece_take_futures(&scaled);
    return scaled;
}

/* ---- sources ---- */

struct placed_text {
    const char *text;
    size_t place;
};

static int compare_texts(const void *a, const void *b) {
    const struct placed_text *x = a;
    const struct placed_text *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int compare_places(const void *a, const void *b) {
    const struct placed_text *x = a;
    const struct placed_text *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Each text once, in the order of its first appearance; returns how many are left. */
static size_t keep_first(struct placed_text *texts, size_t count) {
    size_t kept = 0;
    qsort(texts, count, sizeof *texts, compare_texts);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(texts[kept - 1].text, texts[i].text) != 0)
            texts[kept++] = texts[i];
    qsort(texts, kept, sizeof *texts, compare_places);
    return kept;
}

static void set_sources(struct quantity *q, struct placed_text *texts, size_t count,
                        struct arena *arena) {
    size_t kept = keep_first(texts, count);
    const char **sources = arena_alloc(arena, (kept + 1) * sizeof *sources);
    for (size_t i = 0; i < kept; i++)
        sources[i] = texts[i].text;
    q->sources = sources;
    q->source_count = kept;
}

void piece_add_sources(struct quantity *q, const char *const *sources, size_t count,
                       struct arena *arena) {
    size_t all = q->source_count + count;
    if (count == 0)
        return;
    AUTO_FREE struct placed_text *texts = mem_alloc(all * sizeof *texts);
    for (size_t i = 0; i < all; i++)
        texts[i] = (struct placed_text){
            i < q->source_count ? q->sources[i] : sources[i - q->source_count], i};
    set_sources(q, texts, all, arena);
}

static bool rests_on_sessions(const struct quantity *q) {
    return q->basis && strcmp(q->basis, ESTIMATE_BASIS_SESSIONS) == 0;
}

static bool is_session(const struct estimate_maker *maker, const char *source) {
    const struct study_input *input = maker->study->input;
    for (size_t i = 0; i < input->session_count; i++)
        if (strcmp(input->sessions[i].id, source) == 0)
            return true;
    return false;
}

/* How many of the sources are runs; of parts that rest on sessions alone: how many are sessions. */
static void count_runs(struct quantity *sum, const struct estimate_maker *maker, bool sessions) {
    const char *name = maker->plan->name ? maker->plan->name : "";
    size_t length = strlen(name);
    for (size_t i = 0; i < sum->source_count; i++)
        if (length == 0 || strncmp(sum->sources[i], name, length) != 0)
            sum->n += is_session(maker, sum->sources[i]) == sessions;
}

/* The sources of all parts. */
static void unite_sources(struct quantity *sum, const struct estimate_maker *maker, bool sessions) {
    size_t all = 0;
    size_t used = 0;
    for (size_t i = 0; i < sum->part_count; i++)
        all += sum->parts[i].quantity.source_count;
    if (all == 0)
        return;
    AUTO_FREE struct placed_text *texts = mem_alloc(all * sizeof *texts);
    for (size_t i = 0; i < sum->part_count; i++) {
        const struct quantity *part = &sum->parts[i].quantity;
        for (size_t k = 0; k < part->source_count; k++, used++)
            texts[used] = (struct placed_text){part->sources[k], used};
    }
    set_sources(sum, texts, used, maker->arena);
    count_runs(sum, maker, sessions);
}

/* ---- sums ---- */

void tally_add_named(struct tally *tally, const char *name, const struct piece *piece,
                     struct arena *arena) {
    assert(quantity_is_valid(&piece->quantity));
    assert(quantity_is_known(&piece->quantity) == (piece->futures.kind != FUTURES_OPEN));
    if (tally->count == tally->room) {
        size_t room = tally->room ? 2 * tally->room : 8;
        struct quantity_part *parts = arena_alloc(arena, room * sizeof *parts);
        if (tally->count > 0)
            memcpy(parts, tally->parts, tally->count * sizeof *parts);
        tally->parts = parts;
        tally->room = room;
    }
    tally->parts[tally->count++] = (struct quantity_part){name, piece->quantity};
}

void tally_add(struct tally *tally, const char *name, const struct piece *piece,
               struct arena *arena, struct arena *scratch) {
    tally_add_named(tally, name, piece, arena);
    simulate_add(&tally->sum, &piece->futures, scratch);
}

/* Why a sum has no interval. */
static const char *sum_detail(const struct futures *sum, const struct quantity *q) {
    if (sum->kind == FUTURES_VALUE && sum->is_fixed)
        return NULL; /* measured, or assumptions alone */
    if (q->has_interval)
        return q->state == QUANTITY_ASSUMED ? _("what is assumed in it is taken as it is") : NULL;
    if (sum->too_wide)
        return _("the interval is open (too-few-runs): runs of a part lie too far apart to say how "
                 "long further ones may take");
    return _("it has no interval, because a part of it has none");
}

/* No part with a time of its own is known: "at least 0 s" would say nothing. */
static struct piece sum_open(const struct tally *tally, struct arena *arena) {
    const struct quantity *first = &tally->parts[0].quantity;
    for (size_t i = 0; i < tally->count && quantity_is_known(first); i++)
        first = &tally->parts[i].quantity;
    struct piece sum = piece_open(first->reason, first->detail);
    sum.quantity.parts = tally->parts;
    sum.quantity.part_count = tally->count;
    quantity_name_open_parts(&sum.quantity, arena);
    return sum;
}

struct piece tally_piece(struct tally *tally, const struct piece *empty,
                         const struct estimate_maker *maker) {
    struct arena *arena = maker->arena;
    struct piece sum = {.futures = tally->sum};
    struct quantity *q = &sum.quantity;
    bool own = false;
    bool borrowed = false;
    bool failures = false;
    bool sessions = false;
    bool by_class = false;
    bool from_below = false;
    bool is_nothing = true; /* all that is known of it: that nothing is left */
    size_t known = 0;

    if (tally->count == 0)
        return *empty;
    *q = (struct quantity){.state = QUANTITY_MEASURED,
                           .unit = UNIT_SECOND,
                           .method = ESTIMATE_METHOD,
                           .parts = tally->parts,
                           .part_count = tally->count};
    for (size_t i = 0; i < tally->count; i++) {
        const struct quantity *part = &tally->parts[i].quantity;
        from_below |= !quantity_is_known(part) || part->bound == QUANTITY_AT_LEAST;
        if (!quantity_is_known(part))
            continue;
        known++;
        is_nothing &= part->state == QUANTITY_MEASURED;
        if (part->state < q->state)
            q->state = part->state;
        borrowed |= part->basis && strcmp(part->basis, BASIS_BORROWED) == 0;
        failures |= part->basis && strcmp(part->basis, ESTIMATE_BASIS_FAILURES) == 0;
        own |= part->basis && strcmp(part->basis, BASIS_OWN) == 0;
        sessions |= rests_on_sessions(part);
        by_class |= part->basis && strcmp(part->basis, ESTIMATE_BASIS_CLASS) == 0;
    }
    if (is_nothing && known < tally->count)
        return sum_open(tally, arena);
    simulate_settle(&sum.futures);
    if (!isfinite(sum.futures.value)) { /* no plan means that */
        sum.futures = (struct futures){.kind = FUTURES_OPEN};
        *q =
            quantity_open(UNIT_SECOND, QUANTITY_FAILED, _("the sum is beyond what a number holds"));
        return sum;
    }
    q->bound = from_below ? QUANTITY_AT_LEAST : QUANTITY_EXACT;
    quantity_name_open_parts(q, arena);
    if (q->state != QUANTITY_MEASURED && (own || borrowed || failures || sessions || by_class))
        q->basis = by_class   ? ESTIMATE_BASIS_CLASS
                   : borrowed ? BASIS_BORROWED
                   : failures ? ESTIMATE_BASIS_FAILURES
                   : own      ? BASIS_OWN
                              : ESTIMATE_BASIS_SESSIONS;
    if (q->state == QUANTITY_MEASURED)
        q->method = "nothing left to run";
    unite_sources(q, maker, sessions && !own && !borrowed && !failures && !by_class);
    piece_take_futures(&sum);
    q->detail = tally->count > 1 ? sum_detail(&sum.futures, q) : tally->parts[0].quantity.detail;
    return sum;
}

bool estimate_is_nothing_left(const struct estimate_component *component) {
    return component->time.state == QUANTITY_MEASURED; /* nothing that is still to come is */
}
