/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See doctor.h. The verdict first; nothing here judges. */
#include "report/doctor.h"

#include "base/mem.h"
#include "base/msg.h"
#include "report/layout.h"

#include <string.h>

static size_t count_of(const struct doctor_findings *findings, enum doctor_state state) {
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].state == state;
    return count;
}

/* ---- JSON ---- */

static json_t *finding_json(const struct doctor_finding *finding) {
    json_t *json = json_object();
    json_put_text(json, "topic", doctor_topic_name(finding->topic));
    json_put_text(json, "id", finding->id);
    json_put_text(json, "state", doctor_state_name(finding->state));
    json_put_text(json, "text", finding->text);
    json_put_text(json, "advice", finding->advice);
    json_put(json, "figure",
             finding->has_quantity ? quantity_to_json(&finding->quantity) : json_null());
    json_t *sources = json_array();
    for (size_t i = 0; i < finding->source_count; i++)
        json_array_append_new(sources, json_text(finding->sources[i]));
    json_put(json, "sources", sources);
    json_put_text(json, "environment", finding->environment);
    return json;
}

static json_t *fact_json(const struct doctor_fact *fact) {
    json_t *json = json_object();
    json_put_text(json, "id", fact->id);
    json_put_text(json, "about", fact->about);
    json_put_text(json, "state", fact->known ? "known" : "open");
    json_put_text(json, "value", fact->value);
    json_put_text(json, "question", fact->question);
    json_put_text(json, "source", fact->source);
    json_put_text(json, "stops", fact->stops);
    json_put_text(json, "answers", fact->answers);
    return json;
}

json_t *report_doctor_json(const struct doctor_findings *findings) {
    json_t *list = json_array(), *counts = json_object(), *json = json_object();
    for (size_t i = 0; i < findings->count; i++)
        json_array_append_new(list, finding_json(&findings->items[i]));
    for (enum doctor_state state = 0; state < DOCTOR_STATE_COUNT_; state++)
        json_put_int(counts, doctor_state_name(state), (int64_t)count_of(findings, state));
    json_put_text(json, "schema", "probelauf.doctor/1");
    json_put(json, "counts", counts);
    json_put(json, "findings", list);
    json_t *facts = json_array();
    for (size_t i = 0; i < findings->fact_count; i++)
        json_array_append_new(facts, fact_json(&findings->facts[i]));
    json_put(json, "facts", facts);
    json_put_text(json, "snippet", findings->snippet);
    return json;
}

/* ---- text ---- */

#define CLONE_MAX 4u /* findings of a state on the clone, without -v */

static bool is_of_clone(const struct doctor_finding *finding) {
    return finding->topic >= DOCTOR_REPOSITORY;
}

static void add_verdict(const struct doctor_findings *findings, struct report_style style,
                        struct strbuf *out) {
    size_t problems = count_of(findings, DOCTOR_PROBLEM);
    size_t warnings = count_of(findings, DOCTOR_WARNING), open = count_of(findings, DOCTOR_OPEN);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (problems > 0)
        strbuf_printf(
            &text,
            msg_plural(problems, "%zu thing here will not work", "%zu things here will not work"),
            problems);
    else
        strbuf_add_str(&text, _("nothing was found here that will not work"));
    if (warnings > 0)
        strbuf_printf(&text, msg_plural(warnings, ", %zu warning", ", %zu warnings"), warnings);
    if (open > 0)
        strbuf_printf(&text, msg_plural(open, ", %zu point open", ", %zu points open"), open);
    layout_add_colored(out, style, problems > 0 ? LAYOUT_BAD : LAYOUT_GOOD, strbuf_str(&text));
    strbuf_add_char(out, '\n');
}

/* " (a.py:3, b.py:7, …)" */
static void add_sources(const struct doctor_finding *finding, bool all, struct report_style style,
                        struct strbuf *text) {
    size_t shown = all ? finding->source_count : 2;
    for (size_t i = 0; i < finding->source_count && i < shown; i++) {
        strbuf_add_str(text, i == 0 ? " (" : ", ");
        layout_add_plain(text, finding->sources[i], style.ascii);
    }
    if (finding->source_count > shown)
        strbuf_add_str(text, style.ascii ? ", ..." : ", …");
    if (finding->source_count > 0)
        strbuf_add_char(text, ')');
}

static void add_finding(const struct doctor_finding *finding, bool all, struct report_style style,
                        struct strbuf *out) {
    static const enum layout_color colors[DOCTOR_STATE_COUNT_] = {
        [DOCTOR_KNOWN] = LAYOUT_PLAIN,
        [DOCTOR_OPEN] = LAYOUT_DIM,
        [DOCTOR_WARNING] = LAYOUT_WARN,
        [DOCTOR_PROBLEM] = LAYOUT_BAD,
    };
    static const char *const marks[DOCTOR_STATE_COUNT_] = {"[m]", "[?]", "[!]", "[X]"};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(out, "  ");
    layout_add_colored(out, style, colors[finding->state], marks[finding->state]);
    strbuf_add_char(out, ' ');
    layout_add_plain(&text, finding->text, style.ascii);
    add_sources(finding, all, style, &text);
    bool advised = all || !is_of_clone(finding) || finding->state == DOCTOR_PROBLEM;
    if (finding->advice != NULL && finding->state != DOCTOR_KNOWN && advised) {
        strbuf_add_str(&text, style.ascii ? " -> " : " → ");
        layout_add_plain(&text, finding->advice, style.ascii);
    }
    layout_wrap(out, strbuf_str(&text), 6, 6, layout_columns(style));
    strbuf_add_char(out, '\n');
}

static bool is_writable(const struct doctor_finding *finding) {
    return strcmp(finding->id, "place-writable") == 0 && finding->place != NULL;
}

/* All places that take files, in one line. */
static void add_writable(const struct doctor_findings *findings, struct report_style style,
                         struct strbuf *out) {
    AUTO_STRBUF struct strbuf places = STRBUF_INIT;
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        if (is_writable(&findings->items[i]))
            strbuf_printf(&places, "%s%s", count++ > 0 ? ", " : "", findings->items[i].place);
    AUTO_FREE char *text =
        count == 1 ? NULL : mem_printf(_("files can be written to: %s"), strbuf_str(&places));
    struct doctor_finding joined = {.state = DOCTOR_KNOWN, .text = text};
    for (size_t i = 0; i < findings->count && text == NULL; i++)
        if (is_writable(&findings->items[i]))
            joined = findings->items[i];
    add_finding(&joined, true, style, out);
}

/* What there is room for; the rest is counted. What is known of a clone is only counted. */
static bool has_room(const struct doctor_finding *finding, bool all, size_t shown) {
    return all || !is_of_clone(finding) || (finding->state != DOCTOR_KNOWN && shown < CLONE_MAX);
}

static void add_state(const struct doctor_findings *findings, enum doctor_state state,
                      const char *heading, bool all, struct report_style style,
                      struct strbuf *out) {
    if (count_of(findings, state) == 0)
        return;
    layout_heading(out, style, heading);
    bool has_writable = false;
    size_t shown = 0, hidden = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct doctor_finding *finding = &findings->items[i];
        if (finding->state != state)
            continue;
        if (!has_room(finding, all, shown)) {
            hidden++;
            continue;
        }
        shown += is_of_clone(finding);
        if (is_writable(finding) && has_writable)
            continue;
        if (is_writable(finding))
            add_writable(findings, style, out);
        else
            add_finding(finding, all, style, out);
        has_writable = has_writable || is_writable(finding);
    }
    if (hidden == 0)
        return;
    AUTO_FREE char *rest = mem_printf(
        msg_plural(hidden, "%zu more of the code: with -v", "%zu more of the code: with -v"),
        hidden);
    strbuf_add_str(out, "      ");
    layout_add_colored(out, style, LAYOUT_DIM, rest);
    strbuf_add_char(out, '\n');
}

static bool has_clone(const struct doctor_findings *findings) {
    for (size_t i = 0; i < findings->count; i++)
        if (is_of_clone(&findings->items[i]))
            return true;
    return false;
}

void report_doctor_text(const struct doctor_findings *findings, bool all, struct report_style style,
                        struct strbuf *out) {
    add_verdict(findings, style, out);
    add_state(findings, DOCTOR_PROBLEM, _("Will not work"), all, style, out);
    add_state(findings, DOCTOR_WARNING, _("May cost time or a run"), all, style, out);
    add_state(findings, DOCTOR_OPEN, _("Open"), all, style, out);
    add_state(findings, DOCTOR_KNOWN, _("Seen"), all, style, out);
    if (findings->snippet[0] == '\0')
        return;
    layout_heading(out, style, _("For the plan"));
    if (all || !has_clone(findings)) {
        strbuf_add_str(out, findings->snippet);
        return;
    }
    if (findings->fact_count == 0) {
        layout_paragraph(out, style, _("no fact was found to paste into the plan"));
        return;
    }
    AUTO_FREE char *facts = mem_printf(
        msg_plural(findings->fact_count,
                   "%zu fact to paste into the plan: 'probelauf doctor --snippet' prints it",
                   "%zu facts to paste into the plan: 'probelauf doctor --snippet' prints them"),
        findings->fact_count);
    layout_paragraph(out, style, facts);
}
