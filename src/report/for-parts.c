/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of for.h about what is asked for and what it stands on: request, scope, software,
 * workloads, memory, units, storage, calendar, limits, data protection, open points. What the plan
 * does not say is open here, too.
 */
#include "report/for.h"

#include "base/msg.h"
#include "report/document-parts.h"
#include "report/estimate-open.h"
#include "report/markdown.h"
#include "report/study-words.h"
#include "report/words.h"

#include <string.h>

static const char *date(const struct for_view *view, const struct plan_date *day) {
    char text[MSG_DATE_SIZE];
    return day->given ? arena_strdup(view->arena, msg_date(text, day->text)) : NULL;
}

/* ---- request ---- */

void for_request(const struct for_view *view, struct strbuf *out) {
    const struct estimate_figures *total = &view->estimate->total;
    struct quantity gpu = study_words_hours(&total->gpu, true);
    struct quantity node = for_node_hours(&total->reserved);
    struct quantity storage = for_storage_need(view);
    markdown_paragraph(out, report_document_verdict(view->document, view->arena));
    for_item(out, _("GPU-hours"), &gpu, NULL);
    for_item(out, _("node-hours"), &node, _("one node for the reserved time"));
    for_item(out, _("reserved (paid)"), &total->reserved, NULL);
    for_item(out, _("computing"), &total->computing, NULL);
    for_item(out, _("calendar"), &total->calendar, NULL);
    for_item(out, _("storage"), &storage, NULL);
    strbuf_add_char(out, '\n');
    if (study_words_has_partial_interval(view->estimate))
        markdown_paragraph(out, _("With ≥, the interval is that of the parts that are in it."));
    if (view->estimate->open_count > 0)
        markdown_paragraph(
            out, arena_printf(view->arena,
                              msg_plural((unsigned long)view->estimate->open_count,
                                         "%zu part is open and not in these figures; it stands "
                                         "under the open points.",
                                         "%zu parts are open and not in these figures; they stand "
                                         "under the open points."),
                              view->estimate->open_count));
}

/* ---- what is to be shown ---- */

void for_scope(const struct for_view *view, struct strbuf *out) {
    const struct plan *plan = view->plan;
    markdown_item(out, _("paper"), plan->study.paper_title ? plan->study.paper_title : _("open"));
    markdown_item(out, _("version"),
                  plan->study.paper_version ? plan->study.paper_version : _("open"));
    markdown_item(out, _("scope"),
                  plan->study.scope == PLAN_SCOPE_OPEN
                      ? _("open")
                      : words_shown(plan_scope_name(plan->study.scope)));
    markdown_item(out, _("scope in words"), plan->study.scope_note);
    for (size_t i = 0; i < plan->claim_count; i++)
        markdown_item(out, _("claim"), plan->claims[i].text);
    if (plan->claim_count == 0)
        for_open_item(out, _("the plan names no claim that is to be checked"));
    strbuf_add_char(out, '\n');
    if (plan->paper_part_count == 0) {
        for_open_item(out, _("the plan does not say which experiments of the paper are left out"));
        return;
    }
    const char *const titles[] = {_("part of the paper"), _("role"), _("in this study"), _("why"),
                                  _("source")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < plan->paper_part_count; i++) {
        const struct plan_paper_part *part = &plan->paper_parts[i];
        markdown_cell(out, part->part);
        markdown_cell(out, part->role);
        markdown_cell(out, study_words_included(part->included));
        markdown_cell(out, part->why);
        markdown_cell(out, part->source);
        markdown_end_row(out);
    }
}

/* ---- software and machine ---- */

static void add_pairs_item(struct strbuf *out, const char *label, const struct plan_pairs *pairs) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    study_words_add_pairs(&text, pairs);
    markdown_item(out, label, text.length > 0 ? strbuf_str(&text) : _("open"));
}

static void add_texts_item(struct strbuf *out, const char *label, const struct plan_texts *texts) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < texts->count; i++)
        strbuf_add_next(&text, ", ", texts->items[i].text);
    markdown_item(out, label, text.length > 0 ? strbuf_str(&text) : _("open"));
}

void for_software(const struct for_view *view, struct strbuf *out) {
    const struct plan_code *code = &view->plan->code;
    const struct plan_environment *environment = view->environment;
    markdown_item(out, _("code"), code->repo ? code->repo : _("open"));
    add_texts_item(out, _("runs on"), &code->accelerators);
    add_texts_item(out, _("built for the compute capabilities"), &code->architectures);
    add_pairs_item(out, _("needs the packages"), &code->requires_stack);
    markdown_item(out, _("source"), code->requires_source);
    if (!environment) {
        for_open_item(out, _("the plan names no environment"));
        return;
    }
    markdown_item(out, _("environment meant"), environment->id);
    markdown_item(out, _("GPU model"), environment->gpu ? environment->gpu : _("open"));
    markdown_item(out, _("GPUs reserved"),
                  environment->gpus.given
                      ? arena_printf(view->arena, "%lld", (long long)environment->gpus.value)
                      : _("open"));
    markdown_item(out, _("GPU driver"), environment->driver ? environment->driver : _("open"));
    add_pairs_item(out, _("packages there"), &environment->stack);
}

/* ---- workloads ---- */

void for_workloads(const struct for_view *view, struct strbuf *out) {
    const char *const titles[] = {_("block"),      _("what it is"),   _("what its runs answer"),
                                  _("conditions"), _("runs planned"), _("done"),
                                  _("left"),       _("backed")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < view->study->block_count; i++) {
        const struct study_block *block = &view->study->blocks[i];
        const struct estimate_block *left = &view->estimate->blocks[i];
        AUTO_STRBUF struct strbuf nature = STRBUF_INIT;
        study_words_add_nature(&nature, block->block);
        markdown_cell(out, block->block->id);
        markdown_cell(out, strbuf_str(&nature));
        markdown_cell(out, block->block->question ? block->block->question : _("open"));
        markdown_cell_count(out, true, block->condition_count);
        markdown_cell_count(out, block->has_planned, block->planned);
        markdown_cell_count(out, true, block->done);
        markdown_cell_count(out, left->has_remaining, left->remaining);
        markdown_cell(out, study_words_backing(block->block->state));
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
    markdown_paragraph(out, _("A run is one process; one that serves several conditions of the "
                              "paper counts once. Numbers of runs are the plan's."));
}

/* ---- memory ---- */

void for_memory(const struct for_view *view, struct strbuf *out) {
    const char *const titles[] = {_("block"), _("which quantity"), _("largest measured peak"),
                                  _("capacity"), _("verdict")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < view->estimate->block_count; i++) {
        const struct estimate_block *block = &view->estimate->blocks[i];
        document_markdown_memory(block->block->block->id, &block->gpu_memory, out);
        document_markdown_memory(block->block->block->id, &block->host_memory, out);
    }
    strbuf_add_char(out, '\n');
    markdown_paragraph(out, _("The need of a block is the largest peak that was measured, without "
                              "any margin; what was not measured is open."));
}

/* ---- units ---- */

static void service(const struct cost_offer *offer, struct arena *arena, struct strbuf *out) {
    char seen[MSG_DATE_SIZE];
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(out, "- **");
    markdown_add(out, offer->offer->service_unit);
    strbuf_add_str(out, ":** ");
    if (offer->usable && offer->way && amount_is_known(&offer->way->amount)) {
        amount_format(&offer->way->amount, (struct quantity_style){.mark = true}, &text);
        const size_t mark = strlen("[m] ");
        strbuf_add(out, strbuf_str(&text), mark);
        markdown_add(out, strbuf_str(&text) + mark);
        markdown_add(
            out,
            arena_printf(arena, _(", by offer %s (%s, seen %s)"), offer->offer->id,
                         offer->offer->source ? offer->offer->source : "?",
                         offer->offer->seen.given ? msg_date(seen, offer->offer->seen.text) : "?"));
        for (size_t i = 0; i < offer->way->amount.lack_count; i++)
            markdown_add(out, arena_printf(arena, _("; not in it: %s"),
                                           msg_get(offer->way->amount.lacks[i])));
    } else {
        strbuf_add_str(out, "[?] ");
        for (size_t i = 0; i < offer->wrong_count; i++)
            strbuf_add_next(&text, "; ", offer->wrong[i]);
        if (text.length == 0 && offer->way && offer->way->amount.detail)
            strbuf_add_str(&text, offer->way->amount.detail);
        markdown_add(out,
                     arena_printf(arena, _("open; offer %s gives no amount: %s"), offer->offer->id,
                                  text.length > 0 ? strbuf_str(&text) : _("the time is open")));
    }
    strbuf_add_char(out, '\n');
}

void for_units(const struct for_view *view, struct strbuf *out) {
    const struct estimate_figures *total = &view->estimate->total;
    struct quantity gpu = study_words_hours(&total->gpu, true);
    struct quantity node = for_node_hours(&total->reserved);
    for_item(out, _("GPU-hours"), &gpu, _("reserved time x GPUs of the machine"));
    for_item(out, _("node-hours"), &node, _("one node for the reserved time"));
    bool has_service = false;
    for (size_t i = 0; view->cost && i < view->cost->offer_count; i++) {
        if (!for_is_service(view->cost->offers[i].offer))
            continue;
        service(&view->cost->offers[i], view->arena, out);
        has_service = true;
    }
    if (!has_service)
        for_open_item(out, _("service units; they need an entry under 'offers' with service_unit, "
                             "rate, per, source and seen: the body's current rate with its date"));
}

/* ---- storage and transfer ---- */

void for_storage(const struct for_view *view, struct strbuf *out) {
    struct quantity storage = for_storage_need(view);
    struct quantity in = for_bytes(view, true), written = for_bytes(view, false);
    for_item(out, _("storage on the machine"), &storage, NULL);
    for_item(out, _("read in, of the runs left"), &in, NULL);
    for_item(out, _("written out, of the runs left"), &written, NULL);
    for_open_item(out, _("how it is split into project, scratch and archive, and for how long: the "
                         "plan has no entry for that"));
    markdown_item(out, _("where data lie"), view->plan->privacy.storage);
    markdown_item(out, _("how long they are kept"), view->plan->privacy.retention);
}

/* ---- calendar ---- */

static const struct plan_planned_date *planned(const struct plan *plan, const char *block) {
    for (size_t i = 0; i < plan->calendar_count; i++)
        if (strcmp(plan->calendar[i].block, block) == 0)
            return &plan->calendar[i];
    return NULL;
}

void for_calendar(const struct for_view *view, struct strbuf *out) {
    const char *const titles[] = {_("block"), _("calendar time"), _("side by side"),
                                  _("planned from"), _("planned to")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < view->estimate->block_count; i++) {
        const struct estimate_block *of = &view->estimate->blocks[i];
        const struct plan_block *block = of->block->block;
        const struct plan_planned_date *dates = planned(view->plan, block->id);
        struct quantity calendar = study_words_alone(&of->figures.calendar);
        const char *from = dates ? date(view, &dates->start) : NULL;
        const char *to = dates ? date(view, &dates->end) : NULL;
        markdown_cell(out, block->id);
        markdown_cell_quantity(out, &calendar, false);
        markdown_cell(out, block->lanes.given
                               ? arena_printf(view->arena, "%lld", (long long)block->lanes.value)
                               : _("one after the other"));
        markdown_cell(out, from ? from : _("open"));
        markdown_cell(out, to ? to : _("open"));
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
    for_item(out, _("calendar, in all"), &view->estimate->total.calendar, NULL);
}

/* ---- limits ---- */

static void limit(const struct for_view *view, const struct plan_offer *offer, struct strbuf *out) {
    struct quantity longest = quantity_open(UNIT_SECOND, QUANTITY_NOT_ENTERED, NULL);
    if (offer->maximum.given)
        longest = (struct quantity){.state = QUANTITY_ASSUMED,
                                    .unit = UNIT_SECOND,
                                    .value = (double)offer->maximum.ns / 1e9,
                                    .method = "plan"};
    for_item(out, arena_printf(view->arena, _("longest term of offer %s"), offer->id), &longest,
             NULL);
    markdown_item(out, arena_printf(view->arena, _("units to be had of offer %s"), offer->id),
                  offer->units_available.given
                      ? arena_printf(view->arena, "%lld", (long long)offer->units_available.value)
                      : _("open"));
}

void for_limits(const struct for_view *view, struct strbuf *out) {
    size_t count = 0;
    for (size_t i = 0; view->environment && i < view->plan->offer_count; i++) {
        const struct plan_offer *offer = &view->plan->offers[i];
        if (!offer->id || !offer->environment ||
            strcmp(offer->environment, view->environment->id) != 0)
            continue;
        limit(view, offer, out);
        count++;
    }
    if (view->plan->slurm.count > 0)
        add_pairs_item(out, _("entries for Slurm"), &view->plan->slurm);
    if (count == 0)
        for_open_item(out, _("the limits of the site: longest job, jobs at once, GPUs of one job, "
                             "end of the period"));
}

/* ---- data protection ---- */

void for_privacy(const struct for_view *view, struct strbuf *out) {
    const struct plan_privacy *privacy = &view->plan->privacy;
    markdown_item(out, _("class of the data"),
                  privacy->data_class ? privacy->data_class : _("open"));
    markdown_item(out, _("may be moved there"),
                  privacy->may_transfer == PLAN_YES  ? _("yes")
                  : privacy->may_transfer == PLAN_NO ? _("no")
                                                     : _("open"));
    markdown_item(out, _("what the provider states"),
                  privacy->provider_statement.value ? privacy->provider_statement.value
                                                    : _("open"));
    markdown_item(out, _("own assessment"), privacy->assessment ? privacy->assessment : _("open"));
    markdown_item(out, _("who reads data and logs"), privacy->readers);
}

void for_cloud(const struct for_view *view, struct strbuf *out) {
    (void)view;
    for_open_item(out, _("where a commercial cloud is asked for, the budget is the share link of "
                         "that cloud's own calculator; it has to be made there, from the hours, "
                         "storage and transfer above"));
}

/* ---- assumptions and open points ---- */

struct assumed {
    const char *what, *value, *who, *when, *why, *source;
    const char *no_effect; /* NULL: it is in the figures */
};

static void assumed_row(const struct assumed *assumed, struct strbuf *out) {
    markdown_cell(out, assumed->what);
    strbuf_add_str(out, "| [a] ");
    markdown_add(out, assumed->value);
    strbuf_add_char(out, ' ');
    markdown_cell(out, assumed->who);
    markdown_cell(out, assumed->when);
    markdown_cell(out, assumed->why);
    markdown_cell(out, assumed->source);
    markdown_cell(out, assumed->no_effect ? assumed->no_effect : _("yes"));
    markdown_end_row(out);
}

static void assumed_task(const struct for_view *view, const struct plan_task *task,
                         struct strbuf *out) {
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    quantity_format_value((double)task->time.ns / 1e9, UNIT_SECOND, &value);
    const struct assumed row = {
        .what = arena_printf(view->arena, _("task %s"), task->id ? task->id : "?"),
        .value = strbuf_str(&value),
        .who = task->who,
        .when = date(view, &task->when),
        .why = task->why,
        .source = plan_source(view->plan, task->time.at.line > 0 ? task->time.at : task->at,
                              view->arena)};
    assumed_row(&row, out);
}

static void assumed_setting(const struct for_view *view, const struct estimate_setting *setting,
                            struct strbuf *out) {
    const struct plan_assumption *of = study_words_assumption(view->plan, setting);
    const struct assumed row = {.what = setting->key,
                                .value = setting->value,
                                .who = setting->who,
                                .when = of ? date(view, &of->when) : NULL,
                                .why = setting->why,
                                .source = setting->source,
                                .no_effect = setting->no_effect};
    assumed_row(&row, out);
}

static void assumptions(const struct for_view *view, struct strbuf *out) {
    const struct estimate *estimate = view->estimate;
    size_t tasks = 0;
    for (size_t i = 0; i < view->plan->task_count; i++)
        tasks += study_words_is_assumed(&view->plan->tasks[i]);
    if (estimate->assumed_count + estimate->without_effect_count + tasks == 0)
        return;
    markdown_heading(out, 3, _("Assumptions"));
    const char *const titles[] = {_("what"), _("value"),  _("who"),           _("when"),
                                  _("why"),  _("source"), _("in the figures")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < view->plan->task_count; i++)
        if (study_words_is_assumed(&view->plan->tasks[i]))
            assumed_task(view, &view->plan->tasks[i], out);
    for (size_t i = 0; i < estimate->assumed_count; i++)
        assumed_setting(view, &estimate->assumed[i], out);
    for (size_t i = 0; i < estimate->without_effect_count; i++)
        assumed_setting(view, &estimate->without_effect[i], out);
}

static void facts(const struct for_view *view, struct strbuf *out) {
    if (view->study->open_fact_count == 0)
        return;
    markdown_heading(out, 3, _("Open facts"));
    for (size_t i = 0; i < view->study->open_fact_count; i++) {
        const struct plan_fact *fact = view->study->open_facts[i];
        AUTO_STRBUF struct strbuf stops = STRBUF_INIT;
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        plan_stops_text(fact->stops, &stops);
        if (stops.length > 0)
            strbuf_printf(&text, _("%s: %s (stops %s)"), fact->id ? fact->id : "?",
                          fact->question ? fact->question : "?", strbuf_str(&stops));
        else
            strbuf_printf(&text, "%s: %s", fact->id ? fact->id : "?",
                          fact->question ? fact->question : "?");
        strbuf_add_str(out, "- [?] ");
        markdown_add(out, strbuf_str(&text));
        strbuf_add_char(out, '\n');
    }
}

void for_open(const struct for_view *view, struct strbuf *out) {
    struct open_line *lines = NULL;
    size_t count = open_lines(view->estimate, OPEN_ITEMS, view->arena, &lines);
    if (count + view->study->open_fact_count == 0)
        markdown_paragraph(out, _("Nothing that the plan or the estimate knows of is open."));
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || lines[i].remedy != lines[i - 1].remedy) {
            if (i > 0)
                strbuf_add_char(out, '\n');
            markdown_paragraph(
                out, arena_printf(view->arena, _("To close what follows: %s"), lines[i].remedy));
        }
        strbuf_add_str(out, "- [?] ");
        markdown_add(out, lines[i].text);
        strbuf_add_char(out, '\n');
    }
    facts(view, out);
    assumptions(view, out);
}
