/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run on a page: what it was, its curves, why it failed, every figure (html.h). */
#include "report/html/html.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/facts.h"
#include "report/measures.h"
#include "report/plot/plot.h"
#include "report/run-text.h"
#include "report/words.h"

static void add_element(struct strbuf *out, const char *name, const char *text) {
    if (!text || !*text)
        return;
    strbuf_printf(out, "<%s>", name);
    html_add_marked(out, text);
    strbuf_printf(out, "</%s>\n", name);
}

static void quantity_text(const struct quantity *q, struct strbuf *out) {
    quantity_format(q, (struct quantity_style){.mark = true}, out);
}

static void add_head(const struct run *run, const char *place, struct html_contents *contents,
                     struct strbuf *out) {
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    strbuf_printf(&title, _("Run %s"), uuid_tail(run->id));
    if (place && *place)
        strbuf_printf(&title, ": %s", place);
    const char *id = html_contents_add(contents, 3, strbuf_str(&title));
    strbuf_printf(out, "<article class=\"run\" aria-labelledby=\"%s\">\n<h3 id=\"%s\">", id, id);
    html_add_text_most(out, strbuf_str(&title), 300);
    strbuf_add_str(out, "</h3>\n");
}

static void add_line(const struct run *run, struct strbuf *out) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT, command = STRBUF_INIT;
    run_text_add_date(&line, run->started_utc_ns);
    strbuf_printf(&line, " UTC; %s", words_shown(outcome_name(run->outcome)));
    run_text_add_unmet(&line, run);
    strbuf_add_str(&line, "; ");
    strbuf_add_str(&line, _("wall time"));
    strbuf_add_char(&line, ' ');
    quantity_text(&run->wall, &line);
    add_element(out, "p", strbuf_str(&line));
    facts_command_line(run, &command);
    strbuf_add_str(out, "<p class=\"command\"><code>");
    html_add_text_most(out, strbuf_str(&command), 1000);
    strbuf_add_str(out, "</code></p>\n");
}

static void add_timeline(const struct run *run, const struct report_html_options *options,
                         struct strbuf *out) {
    struct err err = ERR_INIT;
    struct run *full = NULL;
    if (!options->series) {
        plot_timeline(run, out);
        return;
    }
    if (options->series(options->context, run, &full, &err) < 0) {
        AUTO_FREE char *why = mem_printf(_("no timeline: %s"), err.text);
        add_element(out, "p", why);
        err_clear(&err);
        return;
    }
    plot_timeline(full, out);
    run_free(full);
}

static void add_incidents(const struct run *run, struct strbuf *out) {
    const char *meaning = facts_run_meaning(run);
    if (run->outcome != OUTCOME_OK && meaning)
        add_element(out, "p", meaning);
    if (run->incident_count == 0)
        return;
    strbuf_add_str(out, "<ul>\n");
    for (size_t i = 0; i < run->incident_count; i++) {
        strbuf_add_str(out, "<li>");
        html_add_text(out, words_shown(run->incidents[i].name));
        if (run->incidents[i].survived)
            html_add_text(out, _(" (the run went on)"));
        if (run->incidents[i].line) {
            strbuf_add_str(out, ": <code>");
            html_add_text_most(out, run->incidents[i].line, 300);
            strbuf_add_str(out, "</code>");
        }
        strbuf_add_str(out, "</li>\n");
    }
    strbuf_add_str(out, "</ul>\n");
}

static void add_gaps(const struct run *run, struct strbuf *out) {
    if (run->gap_count == 0)
        return;
    add_element(out, "p", _("Gaps in the record:"));
    strbuf_add_str(out, "<ul>\n");
    for (size_t i = 0; i < run->gap_count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        quantity_format_value(run->gaps[i].start_s, UNIT_SECOND, &text);
        strbuf_add_str(&text, " – ");
        quantity_format_value(run->gaps[i].end_s, UNIT_SECOND, &text);
        strbuf_printf(&text, ": %s",
                      run->gaps[i].reason ? msg_get(run->gaps[i].reason) : run->gaps[i].what);
        add_element(out, "li", strbuf_str(&text));
    }
    strbuf_add_str(out, "</ul>\n");
}

/* Every figure that runs have; what does not apply to this one is left out. */
static void add_figures(const struct run *run, struct strbuf *out) {
    strbuf_add_str(out, "<details>\n<summary>");
    html_add_text(out, _("All figures of this run"));
    strbuf_add_str(out,
                   "</summary>\n<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"");
    html_add_text(out, _("All figures of this run"));
    strbuf_add_str(out, "\">\n<table>\n<thead>\n<tr><th scope=\"col\">");
    html_add_text(out, _("figure"));
    strbuf_add_str(out, "</th><th scope=\"col\">");
    html_add_text(out, _("value"));
    strbuf_add_str(out, "</th><th scope=\"col\">");
    html_add_text(out, _("obtained by"));
    strbuf_add_str(out, "</th></tr>\n</thead>\n<tbody>\n");
    for (size_t i = 0; i < measures_count(); i++) {
        struct quantity q = measures_get(run, i);
        if (!quantity_is_known(&q) && q.reason == QUANTITY_NOT_APPLICABLE)
            continue;
        AUTO_STRBUF struct strbuf value = STRBUF_INIT, method = STRBUF_INIT;
        quantity_text(&q, &value);
        if (quantity_is_known(&q))
            quantity_add_method(&method, q.method);
        else
            strbuf_add_str(&method, q.detail ? q.detail : "");
        strbuf_add_str(out, "<tr><th scope=\"row\">");
        html_add_text(out, msg_get(measures_at(i)->label));
        strbuf_add_str(out, "</th><td>");
        html_add_marked(out, strbuf_str(&value));
        strbuf_add_str(out, "</td><td>");
        html_add_text(out, strbuf_str(&method));
        strbuf_add_str(out, "</td></tr>\n");
    }
    strbuf_add_str(out, "</tbody>\n</table></div>\n</details>\n");
}

void html_add_run(const struct run *run, const char *place, struct html_contents *contents,
                  const struct report_html_options *options, struct strbuf *out) {
    add_head(run, place, contents, out);
    add_line(run, out);
    add_timeline(run, options, out);
    add_incidents(run, out);
    add_gaps(run, out);
    add_figures(run, out);
    strbuf_add_str(out, "</article>\n");
}
