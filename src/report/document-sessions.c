/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of the report about reserved time: what of it was used, and what the rest was waited
 * for. Sessions that count for nothing are named, and in no sum.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/facts.h"
#include "report/markdown.h"
#include "report/run-text.h"
#include "report/session.h"

json_t *document_sessions_json(const struct study *study) {
    json_t *list = json_array();
    for (size_t i = 0; i < study->input->session_count; i++)
        json_array_append_new(list, report_session_object(&study->input->sessions[i], false));
    return list;
}

/* One figure over all sessions that count. */
static struct quantity sum(const struct study *study,
                           const struct quantity *(*of)(const struct session *, unsigned),
                           unsigned which, struct arena *arena) {
    const struct study_input *input = study->input;
    struct quantity_part *parts = arena_alloc(arena, (input->session_count + 1) * sizeof(*parts));
    size_t count = 0;
    for (size_t i = 0; i < input->session_count; i++)
        if (!input->sessions[i].superseded_by)
            parts[count++] = (struct quantity_part){uuid_tail(input->sessions[i].id),
                                                    *of(&input->sessions[i], which)};
    struct quantity total = quantity_sum(arena, UNIT_SECOND, parts, count);
    total.parts = NULL; /* the table holds them */
    total.part_count = 0;
    return total;
}

static const struct quantity *reserved(const struct session *session, unsigned which) {
    (void)which;
    return &session->reserved;
}

static const struct quantity *idle(const struct session *session, unsigned which) {
    (void)which;
    return &session->idle;
}

static const struct quantity *by_reason(const struct session *session, unsigned which) {
    return &session->by_reason[which];
}

static void lead(const struct study *study, struct arena *arena, struct strbuf *out) {
    struct quantity all = sum(study, reserved, 0, arena), waited = sum(study, idle, 0, arena);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf length = STRBUF_INIT, rest = STRBUF_INIT;
    const struct quantity_style style = {.mark = true};
    quantity_format(&all, style, &length);
    quantity_format(&waited, style, &rest);
    strbuf_printf(&text,
                  _("A session is the time in which a machine is reserved, whatever runs on it. "
                    "Reserved in all: %s; idle, with no run running: %s"),
                  strbuf_str(&length), strbuf_str(&rest));
    if (quantity_is_known(&all) && quantity_is_known(&waited) && all.value > 0.0)
        strbuf_printf(&text,
                      waited.bound == QUANTITY_AT_MOST ? _(", at most %.0f %% of it")
                                                       : _(", %.0f %% of it"),
                      100.0 * waited.value / all.value);
    strbuf_add_char(&text, '.');
    markdown_paragraph(out, strbuf_str(&text));
}

static void table(const struct study *study, struct strbuf *out) {
    const char *const titles[] = {_("session"),  _("began, UTC"), _("environment"), _("machine"),
                                  _("reserved"), _("runs"),       _("idle"),        _("state")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < study->input->session_count; i++) {
        const struct session *session = &study->input->sessions[i];
        AUTO_STRBUF struct strbuf when = STRBUF_INIT;
        run_text_add_date(&when, session->started_utc_ns);
        markdown_cell(out, uuid_tail(session->id));
        markdown_cell(out, strbuf_str(&when));
        markdown_cell(out, session->environment);
        markdown_cell(out, session->host);
        markdown_cell_quantity(out, &session->reserved, true);
        markdown_cell_count(out, true, session->run_count);
        markdown_cell_quantity(out, &session->idle, true);
        markdown_cell(out, report_session_state(session));
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
}

static void reasons(const struct study *study, struct arena *arena, struct strbuf *out) {
    const char *const titles[] = {_("waited for"), _("idle time")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (enum session_reason r = SESSION_UNKNOWN; r < SESSION_REASON_COUNT_; r++) {
        struct quantity q = sum(study, by_reason, (unsigned)r, arena);
        if (quantity_is_known(&q) && !(q.value > 0.0))
            continue;
        markdown_cell(out, report_session_reason(r));
        markdown_cell_quantity(out, &q, true);
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
}

static bool any_counts(const struct study *study) {
    for (size_t i = 0; i < study->input->session_count; i++)
        if (!study->input->sessions[i].superseded_by)
            return true;
    return false;
}

void document_markdown_sessions(const struct report_document *document, struct strbuf *out) {
    const struct study *study = document->study;
    AUTO_ARENA struct arena *arena = arena_new();
    if (study->input->session_count == 0)
        return;
    markdown_heading(out, 2, _("Reserved time"));
    if (any_counts(study))
        lead(study, arena, out);
    table(study, out);
    if (any_counts(study))
        reasons(study, arena, out);
}
