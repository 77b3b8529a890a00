/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rental brief: what a provider has to be told, what has to be asked of him, and the table in
 * which his answers are compared. It asks; it must not answer for him, and names no price.
 */
#include "report/for.h"

#include "base/msg.h"
#include "report/markdown.h"
#include "report/study-words.h"

#include <string.h>

#define OFFERS_BLANK 3u

void for_needs(const struct for_view *view, struct strbuf *out) {
    const struct estimate *estimate = view->estimate;
    struct quantity storage = for_storage_need(view);
    struct quantity in = for_bytes(view, true), written = for_bytes(view, false);
    for_software(view, out);
    strbuf_add_char(out, '\n');
    for_memory(view, out);
    strbuf_add_char(out, '\n');
    for_item(out, _("storage on the machine"), &storage, NULL);
    for_item(out, _("read in, of the runs left"), &in, NULL);
    for_item(out, _("written out, of the runs left"), &written, NULL);
    strbuf_add_char(out, '\n');
    const char *const titles[] = {_("block"), _("runs left"), _("reserved (paid)"), _("computing")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        struct quantity reserved = study_words_alone(&block->figures.reserved);
        struct quantity computing = study_words_alone(&block->figures.computing);
        markdown_cell(out, block->block->block->id);
        markdown_cell_count(out, block->has_remaining, block->remaining);
        markdown_cell_quantity(out, &reserved, false);
        markdown_cell_quantity(out, &computing, false);
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
    struct quantity gpu = study_words_hours(&estimate->total.gpu, true);
    for_item(out, _("reserved (paid), in all"), &estimate->total.reserved, NULL);
    for_item(out, _("GPU-hours, in all"), &gpu, NULL);
}

void for_period(const struct for_view *view, struct strbuf *out) {
    for_calendar(view, out);
    if (view->plan->calendar_count == 0)
        for_open_item(out, _("the desired period; 'calendar' of the plan has it, block by block"));
    struct quantity wait = quantity_open(UNIT_SECOND, QUANTITY_NOT_ENTERED, NULL);
    const struct plan_rental *rental = &view->plan->rental;
    if (rental->wait_between.given)
        wait = (struct quantity){.state = QUANTITY_ASSUMED,
                                 .unit = UNIT_SECOND,
                                 .value = (double)rental->wait_between.ns / 1e9,
                                 .method = "plan"};
    for_item(out, _("waiting for people between two blocks"), &wait, rental->why);
    markdown_item(out, _("the machine between two rentals"),
                  rental->between ? rental->between : _("open"));
}

/* ---- questions ---- */

static const char *const questions[] = {
    N_("Which device exactly (model, memory, form), how many on one machine, and are they shared "
       "or "
       "cut into slices?"),
    N_("Which driver and which CUDA or ROCm does the machine have, and who may change them?"),
    N_("How much memory of the device and of the host is really free for us?"),
    N_("Is it to be had in the period named above, in which number, and how long from the order to "
       "the first login?"),
    N_("What does one unit cost for which time, in which currency, and what is a unit?"),
    N_("What is billing rounded up to, is there a shortest or a longest term, a fee for setting it "
       "up?"),
    N_("What does storage cost while the machine runs, and while it is stopped? What becomes of it "
       "at the end?"),
    N_("What does transfer in and out cost?"),
    N_("May the machine be taken away, with which notice, and what is paid then?"),
    N_("Are taxes in the prices? Which rate?"),
    N_("Where does the machine stand, who can read data and logs, and on which terms are data "
       "processed?"),
    N_("Until when do these statements hold, and in which document do they stand?"),
};

static void by_offer(const struct for_view *view, const struct cost_offer *offer,
                     struct strbuf *out) {
    if (offer->wrong_count + offer->unpriced_count + offer->verify_count == 0)
        return;
    markdown_heading(out, 3, arena_printf(view->arena, _("To offer %s"), offer->offer->id));
    for (size_t i = 0; i < offer->wrong_count; i++)
        markdown_bullet(
            out, arena_printf(view->arena, _("missing or not fitting: %s"), offer->wrong[i]));
    for (size_t i = 0; i < offer->unpriced_count; i++)
        markdown_bullet(
            out, arena_printf(view->arena, _("named without a price: %s"), offer->unpriced[i]));
    for (size_t i = 0; i < offer->verify_count; i++)
        markdown_bullet(out, arena_printf(view->arena, _("to be verified again at booking: %s"),
                                          offer->verify[i]));
}

void for_questions(const struct for_view *view, struct strbuf *out) {
    for (size_t i = 0; i < ARRAY_LENGTH(questions); i++) {
        strbuf_printf(out, "%zu. ", i + 1);
        markdown_add(out, msg_get(questions[i]));
        strbuf_add_char(out, '\n');
    }
    for (size_t i = 0; view->cost && i < view->cost->offer_count; i++)
        by_offer(view, &view->cost->offers[i], out);
}

/* ---- the table ---- */

/* The keys of offers[] in the plan, in its order; a test holds them against the plan's table. */
static const struct {
    const char *key, *meaning;
} offer_keys[] = {
    {"id", N_("name of the offer")},
    {"environment", N_("environment of the plan that it is for")},
    {"device", N_("device, as its vendor names it")},
    {"provider", N_("who offers")},
    {"gpus_per_unit", N_("GPUs in one billed unit")},
    {"rate", N_("price of one unit")},
    {"currency", N_("currency")},
    {"service_unit", N_("or unit of account in place of a currency")},
    {"per", N_("time that the price is for")},
    {"increment", N_("what billing rounds up to")},
    {"minimum", N_("shortest term that is billed")},
    {"maximum", N_("longest term")},
    {"units_available", N_("units that can be had")},
    {"provisioning", N_("from the order to the first login")},
    {"setup_fee", N_("fee once per rental")},
    {"storage_running", N_("storage per GB and month while the machine runs")},
    {"storage_stopped", N_("storage per GB and month while it does not")},
    {"transfer_in", N_("transfer in, per GB")},
    {"transfer_out", N_("transfer out, per GB")},
    {"interruptible", N_("may the machine be taken away")},
    {"interruption_terms", N_("how, with what notice")},
    {"taxes", N_("what the offer says of taxes")},
    {"tax_included", N_("are they in the prices")},
    {"tax_percent", N_("their rate in percent")},
    {"region", N_("where the machine stands")},
    {"data_terms", N_("terms of data processing")},
    {"availability", N_("how many, when")},
    {"source", N_("the document; without it there is no amount")},
    {"seen", N_("day of the document")},
    {"valid_until", N_("its last day")},
    {"replaces", N_("earlier offer that it is a new version of")},
};

const char *report_for_offer_key(size_t index) {
    return index < ARRAY_LENGTH(offer_keys) ? offer_keys[index].key : NULL;
}

void for_table(const struct for_view *view, struct strbuf *out) {
    (void)view;
    const char *titles[2 + OFFERS_BLANK] = {_("key in the plan"), _("meaning")};
    const char *const names[OFFERS_BLANK] = {_("offer A"), _("offer B"), _("offer C")};
    memcpy(&titles[2], names, sizeof(names));
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < ARRAY_LENGTH(offer_keys); i++) {
        strbuf_add_str(out, "| ");
        markdown_add_code(out, offer_keys[i].key, true);
        strbuf_add_char(out, ' ');
        markdown_cell(out, msg_get(offer_keys[i].meaning));
        for (size_t k = 0; k < OFFERS_BLANK; k++)
            markdown_cell(out, NULL);
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
    markdown_paragraph(out, _("Each column becomes an entry under 'offers' of the plan; 'probelauf "
                              "estimate' then says what it comes to, or what it lacks."));
}
