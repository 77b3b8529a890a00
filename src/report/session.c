/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sessions for people: how much of the reserved time was used, where the rest went, and the
 * question for each gap that nobody explained yet. Decides nothing.
 */
#include "report/session.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/uuid.h"
#include "model/outcome.h"
#include "report/cost.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/run-text.h"

#include <string.h>

#define NARROW   60  /* columns: reason and note of a gap share one below */
#define NOTE_MAX 200 /* columns of a remark: the whole is in --json */
#define SHORT_S  1.0 /* gaps below are counted, but not listed one by one */

const char *report_session_reason(enum session_reason reason) {
    switch (reason) {
    case SESSION_UNKNOWN:
        return _("no reason given");
    case SESSION_APPROVAL:
        return _("approval");
    case SESSION_DECISION:
        return _("decision");
    case SESSION_CORRECTION:
        return _("correction");
    case SESSION_DATA_MISSING:
        return _("data missing");
    case SESSION_FILE_MISSING:
        return _("file missing");
    case SESSION_WAITING_FOR_AUTHORS:
        return _("waiting for the authors");
    case SESSION_MANUAL_ACTION:
        return _("manual action");
    case SESSION_PREPARING_NEXT:
        return _("preparing the next run");
    case SESSION_FAILURE_HANDLING:
        return _("handling a failure");
    case SESSION_REASON_COUNT_:
        break;
    }
    return "";
}

const char *report_session_state(const struct session *session) {
    if (session->superseded_by)
        return _("does not count");
    switch (session->state) {
    case SESSION_RUNNING:
        return _("running");
    case SESSION_STOPPED:
        return _("has ended");
    case SESSION_UNENDED:
        return _("no end recorded");
    case SESSION_STATE_COUNT_:
        break;
    }
    return "";
}

static void add_share(struct strbuf *out, const struct quantity *share, bool ascii) {
    if (!quantity_is_known(share)) {
        strbuf_add_str(out, _("open"));
        return;
    }
    if (share->bound == QUANTITY_AT_LEAST)
        strbuf_add_str(out, ascii ? _("at least ") : "≥ ");
    else if (share->bound == QUANTITY_AT_MOST)
        strbuf_add_str(out, ascii ? _("at most ") : "≤ ");
    strbuf_printf(out, "%.0f %%", share->value * 100.0);
}

/* ---- one session ---- */

static void add_head(const struct session *session, struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf when = STRBUF_INIT;
    AUTO_FREE char *gpus = session->has_gpus ? mem_printf("%llu", (unsigned long long)session->gpus)
                                             : mem_strdup(_("open (not said)"));
    AUTO_FREE char *heading =
        mem_printf(_("Session %s: %s"), style.verbose ? session->id : uuid_tail(session->id),
                   report_session_state(session));
    layout_heading(out, style, heading);
    run_text_add_date(&when, session->started_utc_ns);
    strbuf_add_str(&when, session->began_is_given ? _(" UTC, as given") : " UTC");
    layout_row(out, style, _("began"), strbuf_str(&when), LAYOUT_PLAIN, NULL);
    if (session->ended_utc_ns != 0) {
        AUTO_STRBUF struct strbuf end = STRBUF_INIT;
        run_text_add_date(&end, session->ended_utc_ns);
        strbuf_add_str(&end, session->ended_is_given ? _(" UTC, as given") : " UTC");
        layout_row(out, style, _("ended"), strbuf_str(&end), LAYOUT_PLAIN, NULL);
    }
    run_text_row(out, style, _("machine"), session->host);
    run_text_row(out, style, _("environment"), session->environment);
    run_text_row(out, style, _("offer"), session->offer);
    layout_row(out, style, _("GPUs"), gpus, LAYOUT_PLAIN, NULL);
    if (session->note && *session->note) {
        AUTO_STRBUF struct strbuf note = STRBUF_INIT;
        layout_cut(&note, session->note, NOTE_MAX, style.ascii);
        layout_row(out, style, _("note"), strbuf_str(&note), LAYOUT_PLAIN, NULL);
    }
    if (session->restarts > 0) {
        AUTO_FREE char *restarts =
            mem_printf(msg_plural((unsigned long)session->restarts, "%zu restart of the machine",
                                  "%zu restarts of the machine"),
                       session->restarts);
        layout_row(out, style, _("restarts"), restarts, LAYOUT_WARN,
                   _("from one boot to the next only UTC tells how long it took"));
    }
    if (session->superseded_by) {
        AUTO_FREE char *text =
            mem_printf(_("session %s was running on this machine already: this one counts for "
                         "nothing"),
                       uuid_tail(session->superseded_by));
        layout_paragraph(out, style, text);
    }
}

/* What it lacks, or why there is none, stands beside it. */
static void add_amount(const struct amount *amount, struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf value = STRBUF_INIT, note = STRBUF_INIT, plain = STRBUF_INIT;
    amount_format(amount, (struct quantity_style){.ascii = style.ascii, .mark = true}, &value);
    if (amount_is_known(amount))
        cost_add_lacks(&note, amount);
    else if (amount->detail)
        strbuf_add_str(&note, amount->detail);
    layout_add_plain(&plain, strbuf_str(&note), style.ascii);
    layout_row(out, style, _("amount"), strbuf_str(&value), layout_state_color(amount->state),
               strbuf_str(&plain));
}

static void add_time(const struct session *session, struct report_style style, struct strbuf *out) {
    layout_heading(out, style, _("Time"));
    layout_quantity(out, style, _("reserved"), &session->reserved);
    if (session->offer)
        layout_quantity(out, style, _("paid"), &session->paid);
    if (session->offer)
        add_amount(&session->amount, style, out);
    if (session->has_gpus && session->gpus > 0)
        layout_quantity(out, style, _("GPU time"), &session->gpu_reserved);
    layout_quantity(out, style, _("runs"), &session->busy);
    layout_quantity(out, style, _("idle"), &session->idle);
    AUTO_STRBUF struct strbuf share = STRBUF_INIT;
    add_share(&share, &session->idle_share, style.ascii);
    layout_row(out, style, _("idle share"), strbuf_str(&share), LAYOUT_PLAIN,
               _("of the reserved time"));
    if (quantity_is_known(&session->gpu_idle_in_runs))
        layout_quantity(out, style, _("GPU idle in runs"), &session->gpu_idle_in_runs);
}

/* A table: the names are longer than the labels of a page. */
static void add_reasons(const struct session *session, struct report_style style,
                        struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("idle"), .right = true},
        {.title = _("reason"), .elastic = 8, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    size_t rows = 0;
    for (enum session_reason r = SESSION_UNKNOWN; r < SESSION_REASON_COUNT_; r++) {
        const struct quantity *q = &session->by_reason[r];
        AUTO_STRBUF struct strbuf length = STRBUF_INIT;
        if (q->n == 0)
            continue;
        layout_add_quantity(&length, q, style.ascii, true);
        layout_table_cell(table, strbuf_str(&length), LAYOUT_PLAIN);
        layout_table_cell(table, report_session_reason(r),
                          r == SESSION_UNKNOWN ? LAYOUT_WARN : LAYOUT_PLAIN);
        rows++;
    }
    if (rows == 0)
        return;
    layout_heading(out, style, _("Idle time by reason"));
    layout_table_print(table, 2, out);
}

void report_session_clock(int64_t utc_ns, struct strbuf *out) {
    msg_add_clock(out, utc_ns);
}

/* What stands beside the reason: the note, else what suggests itself. */
static void add_gap_words(const struct session_gap *gap, struct report_style style,
                          struct strbuf *out) {
    if (out->length > 0 && (gap->text || gap->has_suggestion))
        strbuf_add_str(out, "; ");
    if (gap->text)
        layout_cut(out, gap->text, NOTE_MAX, style.ascii);
    else if (gap->has_suggestion)
        strbuf_printf(out, _("the run before it failed: %s?"),
                      report_session_reason(gap->suggestion));
    if (gap->restarted)
        strbuf_printf(out, "%s%s", out->length > 0 ? "; " : "", _("the machine restarted"));
    if (gap->running)
        strbuf_printf(out, "%s%s", out->length > 0 ? "; " : "", _("goes on"));
}

static void add_gaps(const struct session *session, struct report_style style, struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("gap"), .right = true},
        {.title = _("from, UTC"), .optional = 60},
        {.title = _("length"), .right = true},
        {.title = _("reason"), .optional = NARROW},
        {.title = layout_columns(style) < NARROW ? _("reason") : _("note"),
         .elastic = 8,
         .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    size_t rows = 0, hidden = 0;
    double hidden_s = 0.0;
    for (size_t i = 0; i < session->gap_count; i++) {
        const struct session_gap *gap = &session->gaps[i];
        AUTO_FREE char *number = mem_printf("%u", gap->number);
        AUTO_STRBUF struct strbuf when = STRBUF_INIT, length = STRBUF_INIT, words = STRBUF_INIT;
        if (gap->end_s - gap->start_s < SHORT_S && !gap->note && !gap->running) {
            hidden++;
            hidden_s += gap->end_s - gap->start_s;
            continue;
        }
        run_text_add_date(&when, gap->start_utc_ns);
        layout_add_quantity(&length, &gap->length, style.ascii, true);
        if (layout_columns(style) < NARROW)
            strbuf_add_str(&words, report_session_reason(gap->reason));
        add_gap_words(gap, style, &words);
        layout_table_cell(table, number, LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&when), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&length), LAYOUT_PLAIN);
        layout_table_cell(table, report_session_reason(gap->reason),
                          gap->reason == SESSION_UNKNOWN ? LAYOUT_WARN : LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&words), LAYOUT_PLAIN);
        rows++;
    }
    if (rows == 0 && hidden == 0)
        return;
    layout_heading(out, style, _("Gaps between the runs"));
    if (rows > 0)
        layout_table_print(table, 2, out);
    if (hidden > 0) {
        AUTO_STRBUF struct strbuf length = STRBUF_INIT;
        quantity_format_value(hidden_s, UNIT_SECOND, &length);
        AUTO_FREE char *text = mem_printf(
            msg_plural((unsigned long)hidden, "%zu gap below one second is not listed (%s)",
                       "%zu gaps below one second are not listed (%s together)"),
            hidden, strbuf_str(&length));
        layout_paragraph(out, style, text);
    }
}

/* The longest gap that nobody explained, asked about. */
static void add_question(const struct session *session, struct report_style style,
                         struct strbuf *out) {
    const struct session_gap *worst = NULL;
    size_t unknown = 0;
    for (size_t i = 0; i < session->gap_count; i++) {
        const struct session_gap *gap = &session->gaps[i];
        double length = gap->end_s - gap->start_s;
        if (gap->reason != SESSION_UNKNOWN || length < SHORT_S)
            continue;
        unknown++;
        if (!worst || length > worst->end_s - worst->start_s)
            worst = gap;
    }
    if (!worst || session->superseded_by)
        return;
    AUTO_STRBUF struct strbuf which = STRBUF_INIT;
    if (session->state != SESSION_RUNNING)
        strbuf_printf(&which, "--session %s ", uuid_tail(session->id));
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text,
                  msg_plural((unsigned long)unknown, "%zu gap has no reason yet",
                             "%zu gaps have no reason yet"),
                  unknown);
    strbuf_printf(&text,
                  _("; why was nothing running in gap %u? 'probelauf session note %s--gap %u "
                    "--reason REASON \"...\"' keeps the answer"),
                  worst->number, strbuf_str(&which), worst->number);
    strbuf_add_char(out, '\n');
    layout_paragraph(out, style, strbuf_str(&text));
}

void report_session_text(const struct session *session, struct report_style style,
                         struct strbuf *out) {
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    add_head(session, style, &page);
    add_time(session, style, &page);
    add_reasons(session, style, &page);
    add_gaps(session, style, &page);
    add_question(session, style, &page);
    layout_legend(&page, style);
    /* nothing stands above its first heading: no empty line either */
    strbuf_add_str(out, strbuf_str(&page) + (page.length > 0 && page.data[0] == '\n' ? 1 : 0));
}

/* ---- many ---- */

void report_session_list_text(const struct session *const *sessions, size_t count,
                              struct report_style style, struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("session")},
        {.title = _("began, UTC"), .optional = 60},
        {.title = _("reserved"), .right = true},
        {.title = _("runs"), .right = true, .optional = 70},
        {.title = _("idle"), .right = true},
        {.title = _("idle share"), .right = true, .optional = 90},
        {.title = _("state")},
        {.title = _("environment"), .optional = 90},
        {.title = _("machine"), .elastic = 6},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < count; i++) {
        const struct session *session = sessions[i];
        AUTO_STRBUF struct strbuf when = STRBUF_INIT, reserved = STRBUF_INIT, idle = STRBUF_INIT,
                                  share = STRBUF_INIT;
        AUTO_FREE char *runs = mem_printf("%zu", session->run_count);
        run_text_add_date(&when, session->started_utc_ns);
        layout_add_quantity(&reserved, &session->reserved, style.ascii, true);
        layout_add_quantity(&idle, &session->idle, style.ascii, true);
        add_share(&share, &session->idle_share, style.ascii);
        layout_table_cell(table, style.verbose ? session->id : uuid_tail(session->id),
                          LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&when), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&reserved), LAYOUT_PLAIN);
        layout_table_cell(table, runs, LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&idle), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&share), LAYOUT_PLAIN);
        layout_table_cell(table, report_session_state(session),
                          session->state == SESSION_RUNNING ? LAYOUT_GOOD : LAYOUT_PLAIN);
        layout_table_cell(table, session->environment, LAYOUT_PLAIN);
        layout_table_cell(table, session->host, LAYOUT_PLAIN);
    }
    if (count == 0)
        layout_paragraph(out, style,
                         _("no session is recorded here yet (`probelauf session start`)"));
    else
        layout_table_print(table, 0, out);
}
