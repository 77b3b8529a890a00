/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Money for people: the amount with what it is made of and what is not in it, both ways of renting,
 * what to verify at booking, changed offers, owning; or the list of what is missing. Must not show
 * a price of an offer that is not usable.
 */
#include "report/cost.h"

#include "base/msg.h"
#include "report/layout.h"
#include "report/markdown.h"

#include <string.h>

#define MISSING_SHOWN 3u

/* ---- lines that both forms share ---- */

void cost_add_lacks(struct strbuf *out, const struct amount *amount) {
    if (amount->lack_count == 0)
        return;
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    for (size_t i = 0; i < amount->lack_count; i++)
        strbuf_add_next(&names, "; ", msg_get(amount->lacks[i])); /* kept in English */
    strbuf_printf(out, _("not in it: %s"), strbuf_str(&names));
}

static const char *amount_text(const struct amount *amount, bool ascii, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    amount_format(amount, (struct quantity_style){.ascii = ascii, .mark = true}, &text);
    return arena_strdup(arena, strbuf_str(&text));
}

/* Of the lines of a bill. */
static const char *exact_text(const struct amount *amount, bool ascii, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    amount_format_exact(amount, (struct quantity_style){.ascii = ascii, .mark = true}, &text);
    return arena_strdup(arena, strbuf_str(&text));
}

static const char *quantity_text(const struct quantity *q, bool ascii, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct quantity alone = *q;
    alone.parts = NULL;
    alone.part_count = 0;
    layout_add_quantity(&text, &alone, ascii, true);
    return arena_strdup(arena, strbuf_str(&text));
}

const char *cost_offer_line(const struct cost *cost, const struct cost_offer *offer,
                            struct arena *arena) {
    const struct plan *plan = cost->estimate->study->input->plan;
    const char *rate = cost_rate_text(offer->offer, arena);
    char seen[MSG_DATE_SIZE], until[MSG_DATE_SIZE];
    return arena_printf(
        arena, _("offer '%s' (%s): %s, seen %s, valid until %s, source: %s"),
        offer->offer->id ? offer->offer->id : "", plan_source(plan, offer->offer->at, arena),
        rate ? rate : "?", offer->offer->seen.text ? msg_date(seen, offer->offer->seen.text) : "?",
        offer->offer->valid_until.text ? msg_date(until, offer->offer->valid_until.text) : "?",
        offer->offer->source ? offer->offer->source : "?");
}

const char *cost_way_line(const struct cost_way *way, bool separate, bool ascii,
                          struct arena *arena) {
    if (!way->has)
        return separate ? arena_printf(arena, _("separate rentals: %s"), way->why ? way->why : "")
                        : arena_printf(arena, _("one rental: %s"), way->why ? way->why : "");
    const char *amount = amount_text(&way->amount, ascii, arena);
    const char *reserved = quantity_text(&way->reserved, ascii, arena);
    const char *billed = quantity_text(&way->billed, ascii, arena);
    if (separate && way->rentals == 0)
        return arena_printf(arena, _("separate rentals: %s"), amount);
    if (separate)
        return arena_printf(arena,
                            msg_plural((unsigned long)way->rentals,
                                       "%zu separate rental: %s; reserved %s, billed %s",
                                       "%zu separate rentals: %s; reserved %s, billed %s"),
                            way->rentals, amount, reserved, billed);
    if (way->rentals > 1)
        return arena_printf(arena,
                            _("one after the other, %zu rentals because of the longest term: %s; "
                              "reserved %s, billed %s"),
                            way->rentals, amount, reserved, billed);
    if (way->rentals == 0)
        return arena_printf(arena, _("one rental: %s"), amount);
    return arena_printf(arena, _("one rental: %s; reserved %s, billed %s"), amount, reserved,
                        billed);
}

const char *cost_change_line(const struct cost_change *change, struct arena *arena) {
    return arena_printf(arena, _("%s: %s, before: %s"), change->what,
                        change->after ? change->after : _("not said"),
                        change->before ? change->before : _("not said"));
}

/* Every line of a page about money, in order; a heading begins a part. */
struct line {
    const char *text;
    bool is_heading;
};
struct lines {
    struct line *items;
    size_t count, room;
    struct arena *arena;
    bool ascii;
};

static void add(struct lines *lines, bool is_heading, const char *text) {
    if (lines->count == lines->room) {
        size_t room = lines->room > 0 ? 2 * lines->room : 16;
        struct line *items = arena_alloc(lines->arena, room * sizeof *items);
        for (size_t i = 0; i < lines->count; i++)
            items[i] = lines->items[i];
        lines->items = items;
        lines->room = room;
    }
    lines->items[lines->count++] = (struct line){.text = text, .is_heading = is_heading};
}

static void add_bill(struct lines *lines, const struct amount *amount) {
    for (size_t i = 0; i < amount->line_count; i++) {
        struct amount line = {.state = amount->state,
                              .micros = amount->lines[i].micros,
                              .currency = amount->currency};
        add(lines, false,
            arena_printf(lines->arena, "%s: %s", amount->lines[i].text,
                         exact_text(&line, lines->ascii, lines->arena)));
    }
    if (amount_is_known(amount) && money_shown(amount->micros) != amount->micros)
        add(lines, false,
            arena_printf(lines->arena, _("exactly, before it was rounded up: %s"),
                         exact_text(amount, lines->ascii, lines->arena)));
    if (amount->lack_count > 0) {
        AUTO_STRBUF struct strbuf lacks = STRBUF_INIT;
        cost_add_lacks(&lacks, amount);
        add(lines, false, arena_strdup(lines->arena, strbuf_str(&lacks)));
    }
}

static void add_offer(struct lines *lines, const struct cost *cost,
                      const struct cost_offer *offer) {
    add(lines, false, cost_offer_line(cost, offer, lines->arena));
    add(lines, false, cost_way_line(&offer->continuous, false, lines->ascii, lines->arena));
    add(lines, false, cost_way_line(&offer->separate, true, lines->ascii, lines->arena));
    if (offer->cheaper)
        add(lines, false, offer->cheaper);
}

static void add_verify(struct lines *lines, const struct cost_offer *offer) {
    add(lines, true, _("To verify again at booking"));
    for (size_t i = 0; i < offer->verify_count; i++)
        add(lines, false, offer->verify[i]);
}

static void add_changes(struct lines *lines, const struct cost *cost) {
    for (size_t i = 0; i < cost->offer_count; i++) {
        const struct cost_offer *offer = &cost->offers[i];
        if (offer->change_count == 0)
            continue;
        add(lines, true,
            arena_printf(lines->arena, _("Offer '%s' against '%s', which it replaces"),
                         offer->offer->id ? offer->offer->id : "", offer->offer->replaces));
        for (size_t k = 0; k < offer->change_count; k++)
            add(lines, false, cost_change_line(&offer->changes[k], lines->arena));
    }
}

static void add_usable(struct lines *lines, const struct cost *cost) {
    const struct cost_offer *chosen = cost->chosen;
    if (chosen) {
        add(lines, true, _("Cost of what is left"));
        add(lines, false, amount_text(&cost->amount, lines->ascii, lines->arena));
        if (!amount_is_known(&cost->amount) && cost->amount.detail)
            add(lines, false, cost->amount.detail);
        if (cost->amount.state == QUANTITY_ASSUMED)
            add(lines, false, _("an assumption is in it: see above"));
        add_bill(lines, &cost->amount);
        add_offer(lines, cost, chosen);
    }
    size_t others = 0;
    for (size_t i = 0; i < cost->offer_count; i++) {
        if (!cost->offers[i].usable || &cost->offers[i] == chosen)
            continue;
        if (others++ == 0)
            add(lines, true, _("Other offers that are usable"));
        add_offer(lines, cost, &cost->offers[i]);
    }
    if (chosen)
        add_verify(lines, chosen);
}

static void add_missing(struct lines *lines, const struct cost *cost, bool all) {
    size_t count = cost->missing_count;
    size_t shown = all || count <= MISSING_SHOWN + 1 ? count : MISSING_SHOWN;
    if (count == 0 && cost->chosen)
        return;
    add(lines, true,
        cost->chosen ? _("Offers that are not usable") : _("No amount of money. Missing for one:"));
    if (count == 0 && cost->amount.detail)
        add(lines, false, cost->amount.detail);
    for (size_t i = 0; i < shown; i++)
        add(lines, false, cost->missing[i]);
    if (shown < count)
        add(lines, false,
            arena_printf(lines->arena, _("and %zu more; -v shows all"), count - shown));
}

static void add_owning(struct lines *lines, const struct cost_owning *owning) {
    if (!owning->entered)
        return;
    add(lines, true, _("A machine of one's own"));
    const struct {
        const char *label;
        const struct amount *amount;
    } amounts[] = {
        {_("a year"), &owning->yearly},
        {_("a GPU-hour that it delivers"), &owning->per_gpu_hour},
        {_("initial outlay"), &owning->initial_outlay},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(amounts); i++)
        add(lines, false,
            arena_printf(lines->arena, "%s: %s", amounts[i].label,
                         amount_text(amounts[i].amount, lines->ascii, lines->arena)));
    add_bill(lines, &owning->yearly);
    add(lines, false,
        arena_printf(lines->arena, _("break-even utilisation (1: always in use): %s"),
                     quantity_text(&owning->break_even, lines->ascii, lines->arena)));
    if (owning->break_even.detail)
        add(lines, false, owning->break_even.detail);
    add(lines, false,
        arena_printf(lines->arena, _("time until it can be used: %s"),
                     quantity_text(&owning->lead_time, lines->ascii, lines->arena)));
    for (size_t i = 0; i < owning->missing_count; i++)
        add(lines, false, arena_printf(lines->arena, _("missing: %s"), owning->missing[i]));
    for (size_t i = 0; i < owning->beside_count; i++)
        add(lines, false,
            arena_printf(lines->arena, _("not in the figures: %s"), owning->beside[i]));
}

static struct lines all_lines(const struct cost *cost, bool ascii, bool all, struct arena *arena) {
    struct lines lines = {.arena = arena, .ascii = ascii};
    add_usable(&lines, cost);
    add_missing(&lines, cost, all);
    add_changes(&lines, cost);
    add_owning(&lines, &cost->owning);
    return lines;
}

/* ---- the forms ---- */

void cost_text(const struct cost *cost, struct report_style style, struct strbuf *out) {
    if (!cost)
        return;
    AUTO_ARENA struct arena *arena = arena_new();
    struct lines lines = all_lines(cost, style.ascii, style.verbose, arena);
    for (size_t i = 0; i < lines.count; i++) {
        if (lines.items[i].is_heading)
            layout_heading(out, style, lines.items[i].text);
        else
            layout_bullet(out, style, lines.items[i].text);
    }
}

void cost_markdown(const struct cost *cost, struct strbuf *out) {
    if (!cost)
        return;
    AUTO_ARENA struct arena *arena = arena_new();
    struct lines lines = all_lines(cost, false, true, arena);
    for (size_t i = 0; i < lines.count; i++) {
        if (lines.items[i].is_heading)
            markdown_heading(out, 3, lines.items[i].text);
        else
            markdown_bullet(out, lines.items[i].text);
    }
}
