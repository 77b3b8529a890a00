/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One rental that waits between the blocks, or one rental per block with the environment restored
 * (REQUIREMENTS D6, E9): what each takes and what each costs under one offer, future by future.
 * Both rest on the same futures, those of the estimate. Must not add or share out quantiles.
 */
#include "rules/cost-parts.h"

#include "base/msg.h"

#include <string.h>

struct ways {
    const struct cost_rentals *rentals;
    struct cost_offer *offer;
    struct arena *arena;   /* of what is returned */
    struct arena *scratch; /* of the futures */
};

/* How many rentals a time is, restoring included, none longer than the longest term. */
static size_t rentals_of(const struct plan_offer *offer, int64_t ns) {
    int64_t maximum = cost_given_ns(&offer->maximum);
    if (ns <= 0 || ns == COST_BEYOND)
        return 0;
    if (maximum == 0)
        return 1;
    return (size_t)(ns / maximum + (ns % maximum > 0));
}

static struct cost_volume volume_of_all(const struct ways *ways) {
    const struct estimate *estimate = ways->rentals->estimate;
    size_t count = estimate->block_count;
    struct quantity_part *in = arena_alloc(ways->arena, (count + 1) * sizeof *in);
    struct quantity_part *out = arena_alloc(ways->arena, (count + 1) * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        in[i].name = out[i].name = estimate->blocks[i].block->block->id;
        in[i].quantity = estimate->blocks[i].bytes_in;
        out[i].quantity = estimate->blocks[i].bytes_out;
    }
    return (struct cost_volume){.in = quantity_sum(ways->arena, UNIT_BYTE, in, count),
                                .out = quantity_sum(ways->arena, UNIT_BYTE, out, count)};
}

static void lack_more(struct amount *amount, const char *lack, struct arena *arena) {
    struct cost_texts lacks = {0};
    if (!amount_is_known(amount))
        return;
    bool is_there = false;
    for (size_t i = 0; i < amount->lack_count; i++) {
        cost_texts_add(&lacks, amount->lacks[i], arena);
        is_there = is_there || strcmp(amount->lacks[i], lack) == 0;
    }
    if (!is_there)
        cost_texts_add(&lacks, lack, arena);
    amount->lacks = lacks.items;
    amount->lack_count = lacks.count;
    if (amount->bound == QUANTITY_AT_MOST)
        *amount = amount_open(QUANTITY_NOT_SEPARATED,
                              _("the time is at most what is known, and something has no price"));
    else
        amount->bound = QUANTITY_AT_LEAST;
}

/* ---- one rental ---- */

static const char *waiting_text(const struct ways *ways) {
    AUTO_STRBUF struct strbuf wait = STRBUF_INIT;
    quantity_format_value(ways->rentals->wait_s, UNIT_SECOND, &wait);
    return arena_printf(ways->arena, _("with %s of waiting between the blocks (%s)"),
                        strbuf_str(&wait), ways->rentals->wait_source);
}

static void make_continuous(struct ways *ways, struct cost_futures *micros) {
    const struct cost_rentals *rentals = ways->rentals;
    const struct plan_offer *offer = ways->offer->offer;
    struct cost_way *way = &ways->offer->continuous;
    struct cost_volume volume = volume_of_all(ways);
    const struct cost_futures times =
        cost_in_terms(&rentals->whole, &rentals->whole_restore, offer, ways->scratch);

    way->reserved = rentals->estimate->total.reserved;
    way->reserved.parts = NULL;
    way->reserved.part_count = 0;
    if (quantity_is_known(&way->reserved)) {
        if (times.p50.above == COST_BEYOND && rentals->whole.p50.above < COST_BEYOND) {
            way->why = cost_why_too_short();
            return;
        }
        cost_futures_take(&times, &way->reserved);
        way->rentals = rentals_of(offer, times.p50.above);
        if (rentals->wait_s > 0.0)
            way->reserved.detail = waiting_text(ways);
        if (rentals->wait_s > 0.0 && rentals->is_wait_assumed)
            way->reserved.state = QUANTITY_ASSUMED;
    }
    way->has = true;
    const struct cost_price price =
        cost_price(rentals->plan, ways->offer, &way->reserved, &times, 0, &volume, ways->arena);
    way->amount = price.amount;
    way->billed = price.billed;
    if (amount_is_known(&way->amount))
        cost_futures_bill(&times, offer, &price.use, micros, NULL);
    if (!rentals->is_wait_known)
        lack_more(&way->amount,
                  _("waiting between the blocks: the plan says neither 'calendar' nor "
                    "rental.wait_between"),
                  ways->arena);
}

/* ---- one rental per block ---- */

struct separate {
    struct amount *amounts;
    const struct amount **list;
    struct quantity_part *reserved, *billed;
    const char **names;
    size_t count;
    struct cost_futures *micros, reserved_sum, billed_sum; /* of all, in each future */
};

static struct separate separate_new(const struct ways *ways, struct cost_futures *micros) {
    size_t room = ways->rentals->left + 1;
    return (struct separate){
        .amounts = arena_alloc(ways->arena, room * sizeof(struct amount)),
        .list = arena_alloc(ways->arena, room * sizeof(const struct amount *)),
        .reserved = arena_alloc(ways->arena, room * sizeof(struct quantity_part)),
        .billed = arena_alloc(ways->arena, room * sizeof(struct quantity_part)),
        .names = arena_alloc(ways->arena, room * sizeof(const char *)),
        .micros = micros,
        .reserved_sum = cost_futures_new(ways->rentals->count, ways->scratch),
        .billed_sum = cost_futures_new(ways->rentals->count, ways->scratch),
    };
}

/* What is stopped waits once in all: with the first rental. Negative: how long is not known. */
static int64_t stopped_of(const struct ways *ways, bool is_first) {
    const struct cost_rentals *rentals = ways->rentals;
    if (!rentals->is_stopped || !is_first)
        return 0;
    int64_t ns = rentals->is_wait_known ? cost_ns(rentals->wait_s) : COST_BEYOND;
    return ns < COST_BEYOND ? ns : -1;
}

static bool add_rental(struct ways *ways, struct separate *of, size_t index) {
    const struct cost_rentals *rentals = ways->rentals;
    const struct plan_offer *offer = ways->offer->offer;
    const struct estimate_block *block = &rentals->estimate->blocks[index];
    const struct cost_volume volume = {.in = block->bytes_in, .out = block->bytes_out};
    const struct cost_futures times =
        cost_in_terms(&rentals->separate[index], &rentals->restore[index], offer, ways->scratch);
    struct quantity reserved = block->figures.reserved;
    size_t at = of->count++;

    if (quantity_is_known(&reserved)) {
        if (times.p50.above == COST_BEYOND && rentals->separate[index].p50.above < COST_BEYOND)
            return false;
        cost_futures_take(&times, &reserved);
        ways->offer->separate.rentals += rentals_of(offer, times.p50.above);
        if (index == rentals->tasks_block)
            reserved.state = QUANTITY_ASSUMED; /* the time of a task is */
    }
    const struct cost_price price = cost_price(rentals->plan, ways->offer, &reserved, &times,
                                               stopped_of(ways, at == 0), &volume, ways->arena);
    of->amounts[at] = price.amount;
    of->list[at] = &of->amounts[at];
    of->names[at] = of->reserved[at].name = of->billed[at].name = block->block->block->id;
    of->reserved[at].quantity = reserved;
    of->billed[at].quantity = price.billed;
    if (amount_is_known(&price.amount)) {
        cost_futures_bill(&times, offer, &price.use, of->micros, &of->billed_sum);
        cost_futures_add(&of->reserved_sum, &times);
    }
    return true;
}

/* The sum of times as its futures have it, with their interval where the total has one. */
static void take_sum(const struct ways *ways, struct cost_futures *times, bool is_billed,
                     struct quantity *sum) {
    const struct quantity *total = &ways->rentals->estimate->total.reserved;
    if (!quantity_is_known(sum))
        return;
    cost_futures_settle(times);
    if (is_billed) /* whole increments, as they are billed */
        times->p05.share = times->p50.share = times->p95.share = 1.0;
    sum->detail = NULL;
    sum->has_interval = quantity_is_known(total) && total->has_interval;
    sum->level = sum->has_interval ? total->level : 0.0;
    cost_futures_take(times, sum);
}

static void make_separate(struct ways *ways, struct cost_futures *micros) {
    const struct cost_rentals *rentals = ways->rentals;
    struct cost_way *way = &ways->offer->separate;
    if (rentals->left < 2) {
        way->why = rentals->left == 1 ? _("one block is left: there is nothing to separate")
                                      : _("no block is left");
        return;
    }
    struct separate of = separate_new(ways, micros);
    for (size_t b = 0; b < rentals->estimate->block_count; b++)
        if (cost_is_left(&rentals->estimate->blocks[b]) && !add_rental(ways, &of, b)) {
            way->rentals = 0;
            way->why = cost_why_too_short();
            return;
        }
    way->has = true;
    way->reserved = quantity_sum(ways->arena, UNIT_SECOND, of.reserved, of.count);
    way->billed = quantity_sum(ways->arena, UNIT_SECOND, of.billed, of.count);
    way->amount = amount_sum(of.list, of.names, of.count, ways->arena);
    take_sum(ways, &of.reserved_sum, false, &way->reserved);
    take_sum(ways, &of.billed_sum, true, &way->billed);
    if (quantity_is_known(&way->reserved))
        way->reserved.method = ESTIMATE_METHOD;
    cost_futures_settle(micros);
    cost_futures_sum(&way->amount, micros, &rentals->estimate->total.reserved, ways->arena);
    if (rentals->is_task_open)
        lack_more(&way->amount, _("open parts of the time"), ways->arena);
}

void cost_find_ways(const struct cost_rentals *rentals, struct arena *arena,
                    struct cost_offer *offer) {
    AUTO_ARENA struct arena *scratch = arena_new();
    struct ways ways = {.rentals = rentals, .offer = offer, .arena = arena, .scratch = scratch};
    struct cost_futures one = cost_futures_new(rentals->count, scratch);
    struct cost_futures many = cost_futures_new(rentals->count, scratch);
    make_continuous(&ways, &one);
    make_separate(&ways, &many);
    cost_find_cheaper(rentals, &one, &many, arena, offer);
}
