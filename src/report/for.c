/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the documents of for.h are put together by: title, marks, sections of the body, and what
 * parts and JSON share. Must add no figure that is not the study's, the estimate's or the plan's.
 */
#include "report/for.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/document-parts.h"
#include "report/estimate-open.h"
#include "report/markdown.h"
#include "report/run-text.h"
#include "report/study-words.h"

#include <string.h>

#define SOURCES_SHOWN 2u

const char *report_for_name(size_t index) {
    return for_bodies[index].name;
}

static const struct for_body *body_of(const char *name) {
    const struct for_body *body = for_bodies;
    while (body->name && strcmp(body->name, name) != 0)
        body++;
    return body->name ? body : for_bodies; /* generic */
}

/* ---- shared ---- */

struct quantity for_storage_need(const struct for_view *view) {
    const struct plan_bytes *storage = &view->plan->rental.storage;
    if (!storage->given)
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_ENTERED,
                             _("enter 'storage' under 'rental' in the plan"));
    const char **sources = arena_alloc(view->arena, sizeof(*sources));
    sources[0] = plan_source(view->plan, storage->at, view->arena);
    return (struct quantity){.state = QUANTITY_ASSUMED,
                             .unit = UNIT_BYTE,
                             .value = (double)storage->bytes,
                             .method = "plan",
                             .sources = sources,
                             .source_count = 1};
}

struct quantity for_bytes(const struct for_view *view, bool in) {
    const struct estimate *estimate = view->estimate;
    struct quantity_part *parts =
        arena_alloc(view->arena, (estimate->block_count + 1) * sizeof(*parts));
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        parts[i] = (struct quantity_part){block->block->block->id,
                                          in ? block->bytes_in : block->bytes_out};
    }
    return quantity_sum(view->arena, UNIT_BYTE, parts, estimate->block_count);
}

struct quantity for_node_hours(const struct quantity *reserved) {
    struct quantity hours = study_words_hours(reserved, false);
    if (strcmp(hours.unit, "wall hours") == 0)
        hours.unit = "node-hours";
    return hours;
}

const struct run_gpu *for_gpu(const struct run *run) {
    const struct run_gpu *best = NULL;
    for (size_t i = 0; i < run->gpu_count; i++) {
        const struct run_gpu *gpu = &run->gpus[i];
        if (!gpu->kind || !run_gpu_counts(run, gpu))
            continue;
        bool is_more = best && quantity_is_known(&gpu->device_used) &&
                       (!quantity_is_known(&best->device_used) ||
                        gpu->device_used.value > best->device_used.value);
        if (!best || is_more)
            best = gpu;
    }
    return best;
}

bool for_counts(const struct study_run *run) {
    return run->condition && run->evidence.level == EVIDENCE_MEASURED;
}

bool for_is_service(const struct plan_offer *offer) {
    return offer->service_unit && *offer->service_unit;
}

void for_item(struct strbuf *out, const char *label, const struct quantity *q, const char *more) {
    struct quantity alone = study_words_alone(q);
    strbuf_add_str(out, "- **");
    markdown_add(out, label);
    strbuf_add_str(out, ":** ");
    markdown_add_quantity(out, &alone, false);
    if (more && *more) {
        strbuf_add_str(out, ", ");
        markdown_add(out, more);
    }
    strbuf_add_char(out, '\n');
}

void for_open_item(struct strbuf *out, const char *text) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, _("open: %s"), text);
    strbuf_add_str(out, "- [?] ");
    markdown_add(out, strbuf_str(&line));
    strbuf_add_char(out, '\n');
}

void for_add_sources(struct strbuf *out, const struct quantity *q) {
    for (size_t i = 0; i < q->source_count && i < SOURCES_SHOWN; i++)
        strbuf_add_next(out, ", ",
                        uuid_is_valid(q->sources[i]) ? uuid_tail(q->sources[i]) : q->sources[i]);
    if (q->source_count > SOURCES_SHOWN)
        strbuf_printf(out, _(" and %zu more"), q->source_count - SOURCES_SHOWN);
}

/* ---- the document ---- */

static void title(const struct for_view *view, const struct for_body *body, struct strbuf *out) {
    strbuf_add_str(out, "# ");
    markdown_add(out, msg_get(body->title));
    if (view->plan->study.title) {
        strbuf_add_str(out, ": ");
        markdown_add(out, view->plan->study.title);
    }
    strbuf_add_str(out, "\n\n");
}

static void made(const struct for_view *view, struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf when = STRBUF_INIT;
    const struct plan *plan = view->plan;
    run_text_add_date(&when, view->document->now_utc_ns);
    strbuf_printf(
        &text, _("Made by %s on %s UTC from %s; plan %s (SHA-256 %.12s); environment %s."),
        view->document->program ? view->document->program : "probelauf", strbuf_str(&when),
        document_runs_text(view->document, view->arena), plan->name ? plan->name : "?",
        plan->digest, view->environment ? view->environment->id : _("open"));
    markdown_paragraph(out, strbuf_str(&text));
    /* its brackets are ours: no link is meant */
    strbuf_add_str(out, _("Every figure carries the mark of how it is known: [m] measured, [e] "
                          "estimated, [a] assumed, [?] open. Open is never 0; ≥ is at least."));
    strbuf_add_str(out, "\n\n");
}

static void provisional(const struct for_view *view, struct strbuf *out) {
    if (!view->estimate->provisional)
        return;
    strbuf_add_str(out, "**");
    markdown_add(out,
                 arena_printf(view->arena,
                              _("This estimate is provisional: %s. Rent only to clear this up, and "
                                "book no full block."),
                              open_provisional(view->estimate, view->arena)));
    strbuf_add_str(out, "**\n\n");
}

struct for_view for_view_of(const struct report_document *document, struct arena *arena) {
    return (struct for_view){.document = document,
                             .study = document->study,
                             .plan = document->study->input->plan,
                             .estimate = document->estimate,
                             .cost = document->cost,
                             .environment = document->study->input->environment,
                             .arena = arena};
}

void report_for_markdown(const struct report_document *document, const char *name,
                         struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf raw = STRBUF_INIT;
    const struct for_body *body = body_of(name);
    const struct for_view view = for_view_of(document, arena);
    title(&view, body, &raw);
    made(&view, &raw);
    provisional(&view, &raw);
    for (size_t i = 0; i < body->count; i++) {
        const struct for_section *section = &body->sections[i];
        markdown_heading(&raw, 2, msg_get(section->heading));
        if (section->lead)
            markdown_paragraph(&raw, msg_get(section->lead));
        if (section->part)
            section->part(&view, &raw);
    }
    markdown_finish(&raw, out);
}
