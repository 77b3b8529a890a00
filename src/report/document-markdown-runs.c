/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sections of a Markdown report that come from runs: the runs themselves, failures with cause
 * and what was done about them, and how everything was measured, with what could not be seen.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/facts.h"
#include "report/markdown.h"
#include "report/measures.h"
#include "report/run-text.h"
#include "report/study-words.h"
#include "report/words.h"

#include <string.h>

#define FINDINGS_SHOWN 20u
#define UNSEEN_KINDS   200u /* figure and reason */

static size_t shown_runs(const struct report_document *document) {
    size_t most = document->runs_shown > 0 ? document->runs_shown : DOCUMENT_RUNS_SHOWN;
    return document->run_count < most ? document->run_count : most;
}

static void date_cell(struct strbuf *out, int64_t utc_ns) {
    AUTO_STRBUF struct strbuf date = STRBUF_INIT;
    run_text_add_date(&date, utc_ns);
    markdown_cell(out, strbuf_str(&date));
}

/* Its figures say nothing of the environment that the report is about. */
static void add_elsewhere(struct strbuf *out, const struct report_document *document,
                          const struct run *run) {
    const struct study_run *of = document_study_run(document, run);
    const struct plan_environment *target = document->study->input->environment;
    if (!of || !target || of->environment == target)
        return;
    if (!of->environment || !of->environment->id)
        strbuf_add_next(out, "; ", _("in which environment it was made is not known"));
    else {
        AUTO_FREE char *text = mem_printf(_("made in '%s'"), of->environment->id);
        strbuf_add_next(out, "; ", text);
    }
}

static void runs_table(const struct report_document *document, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *const titles[] = {_("run"),
                                  _("started (UTC)"),
                                  _("for"),
                                  _("how it ended"),
                                  _("wall time"),
                                  _("largest process"),
                                  document->study ? _("counts as") : _("command")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < shown_runs(document); i++) {
        const struct run *run = document->runs[i];
        AUTO_STRBUF struct strbuf place = STRBUF_INIT;
        AUTO_STRBUF struct strbuf ending = STRBUF_INIT;
        document_add_place(&place, document, run);
        strbuf_add_str(&ending, words_shown(outcome_name(run->outcome)));
        run_text_add_unmet(&ending, run);
        markdown_cell(out, uuid_tail(run->id));
        date_cell(out, run->started_utc_ns);
        markdown_cell(out, strbuf_str(&place));
        markdown_cell(out, strbuf_str(&ending));
        markdown_cell_quantity(out, &run->wall, true);
        markdown_cell_quantity(out, &run->largest_process_rss, true);
        if (document->study) {
            AUTO_STRBUF struct strbuf standing = STRBUF_INIT;
            const char *text = document_standing(document, run, arena);
            strbuf_add_str(&standing, text ? text : "");
            add_elsewhere(&standing, document, run);
            markdown_cell(out, strbuf_str(&standing));
        } else {
            AUTO_STRBUF struct strbuf command = STRBUF_INIT;
            facts_command_line(run, &command);
            strbuf_add_str(out, "| ");
            markdown_add_code(out, strbuf_str(&command), true);
            strbuf_add_char(out, ' ');
        }
        markdown_end_row(out);
    }
    if (shown_runs(document) == document->run_count)
        return;
    AUTO_STRBUF struct strbuf rest = STRBUF_INIT;
    strbuf_printf(&rest,
                  _("These are the %zu newest of %zu runs; the figures of this report rest on all "
                    "of them."),
                  shown_runs(document), document->run_count);
    strbuf_add_char(out, '\n');
    markdown_paragraph(out, strbuf_str(&rest));
}

static void quantity_item(struct strbuf *out, const char *label, const struct quantity *q) {
    strbuf_add_str(out, "- **");
    markdown_add(out, label);
    strbuf_add_str(out, ":** ");
    if (study_words_is_nothing(q))
        markdown_add(out, _("nothing yet: no run"));
    else
        markdown_add_quantity(out, q, false);
    if (q->detail) {
        strbuf_add_str(out, ", ");
        markdown_add(out, q->detail);
    }
    strbuf_add_char(out, '\n');
}

static void failures(const struct report_document *document, struct strbuf *out) {
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < document->run_count; i++)
        count += document_is_failure(document->runs[i]);
    if (count == 0)
        return;
    markdown_heading(out, 3, _("Attempts that did not end well"));
    markdown_paragraph(out, _("Their time counts as effort. A figure of a failed run is never "
                              "projected."));
    const char *const titles[] = {_("run"),       _("started (UTC)"),     _("cause"),
                                  _("wall time"), _("changed before it"), _("disposition"),
                                  _("declared")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < document->run_count && shown < shown_runs(document); i++) {
        const struct run *run = document->runs[i];
        if (!document_is_failure(run))
            continue;
        AUTO_STRBUF struct strbuf cause = STRBUF_INIT;
        AUTO_STRBUF struct strbuf changes = STRBUF_INIT;
        AUTO_STRBUF struct strbuf declared = STRBUF_INIT;
        document_add_cause(&cause, run);
        document_add_changes(&changes, run);
        if (run->validity != RUN_UNCHECKED)
            strbuf_add_str(&declared, words_shown(facts_validity_name(run->validity)));
        if (run->validity != RUN_UNCHECKED && run->validity_why)
            strbuf_printf(&declared, ": %s", run->validity_why);
        markdown_cell(out, uuid_tail(run->id));
        date_cell(out, run->started_utc_ns);
        markdown_cell(out, strbuf_str(&cause));
        markdown_cell_quantity(out, &run->wall, true);
        markdown_cell(out, strbuf_str(&changes));
        markdown_cell(out, run->disposition ? run->disposition : _("open"));
        markdown_cell(out, strbuf_str(&declared));
        markdown_end_row(out);
        shown++;
    }
    if (shown < count) {
        AUTO_STRBUF struct strbuf rest = STRBUF_INIT;
        strbuf_printf(&rest, _("These are the %zu newest of %zu."), shown, count);
        strbuf_add_char(out, '\n');
        markdown_paragraph(out, strbuf_str(&rest));
    }
}

void document_markdown_runs(const struct report_document *document, struct strbuf *out) {
    markdown_heading(out, 2, _("Runs"));
    if (document->run_count == 0) {
        markdown_paragraph(out, _("None was recorded yet."));
        return;
    }
    markdown_paragraph(out,
                       _("A run is one start of one command; a repeat after a failure is a new "
                         "one. Wall time is from the start to the end of the last process "
                         "that belongs to it. Not verified: nothing has checked its result yet, "
                         "so it is not done."));
    runs_table(document, out);
    const struct study *study = document->study;
    if (study) {
        strbuf_add_char(out, '\n');
        bool several = study_words_is_of_several(study);
        quantity_item(out,
                      several ? _("time spent so far in this environment") : _("time spent so far"),
                      &study->here.spent);
        quantity_item(out, _("of it in failed attempts"), &study->here.failed_time);
        if (several) {
            quantity_item(out, _("time spent so far in other environments"),
                          &study->elsewhere.spent);
            quantity_item(out, _("of it in failed attempts"), &study->elsewhere.failed_time);
        }
        quantity_item(out,
                      several ? _("in runs that nobody planned, in all environments")
                              : _("of it in runs that nobody planned"),
                      &study->unplanned_time);
        quantity_item(out, _("time to the first run that counts"), &study->first_success);
    }
    failures(document, out);
}

/* ---- method and blind spots ---- */

/* Texts with the number of runs that hold each. Borrowed. */
struct findings {
    struct finding {
        const char *text;
        size_t runs;
        const struct run *last;
    } items[FINDINGS_SHOWN];
    size_t count, beyond;
};

static void find(struct findings *findings, const struct run *run, const char *text) {
    if (!text)
        return;
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *item = &findings->items[i];
        if (strcmp(item->text, text) != 0)
            continue;
        item->runs += item->last != run;
        item->last = run;
        return;
    }
    if (findings->count == FINDINGS_SHOWN)
        findings->beyond++;
    else
        findings->items[findings->count++] = (struct finding){text, 1, run};
}

static void print_findings(const struct findings *findings, struct strbuf *out) {
    for (size_t i = 0; i < findings->count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_printf(
            &text,
            msg_plural((unsigned long)findings->items[i].runs, "%s (%zu run)", "%s (%zu runs)"),
            msg_get(findings->items[i].text), findings->items[i].runs);
        markdown_bullet(out, strbuf_str(&text));
    }
    if (findings->beyond > 0)
        markdown_bullet(out, _("and others, in the runs' records"));
}

/* A kind of figure that is open in some runs, for one reason. */
struct unseen {
    const char *label, *why;
    size_t runs;
    const struct run *last;
};

struct unseen_list {
    struct arena *arena;
    struct unseen *items;
    size_t count, room;
};

static void miss(struct unseen_list *list, const struct run *run, const char *label,
                 const struct quantity *q) {
    if (quantity_is_known(q) || q->reason == QUANTITY_NOT_APPLICABLE)
        return;
    AUTO_STRBUF struct strbuf why = STRBUF_INIT;
    quantity_format(q, (struct quantity_style){0}, &why);
    if (q->detail)
        strbuf_printf(&why, ": %s", q->detail);
    struct unseen *at = NULL;
    for (size_t i = 0; i < list->count && !at; i++)
        if (strcmp(list->items[i].label, label) == 0 &&
            strcmp(list->items[i].why, strbuf_str(&why)) == 0)
            at = &list->items[i];
    if (!at && list->count == list->room)
        return;
    if (!at) {
        at = &list->items[list->count++];
        *at = (struct unseen){.label = arena_strdup(list->arena, label),
                              .why = arena_strdup(list->arena, strbuf_str(&why))};
    }
    at->runs += at->last != run;
    at->last = run;
}

static bool is_kind(const char *name, const char *kind) {
    return strncmp(name, kind, strlen(kind)) == 0;
}

/* The table stands alone: a label says more than beside the figures of one run. */
static const char *kind_label(const struct measure *measure) {
    static const struct {
        const char *kind, *label;
    } labels[] = {
        {"gpu.", N_("GPU: memory, load, energy")},
        {"phase.", N_("time of phases")},
        {"result_complete", N_("when the result was complete")},
        {"memory.tree_pss", N_("memory of all processes")},
        {"memory.cgroup_charged", N_("memory charged to the control group")},
        {"io.", N_("bytes read and written")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(labels); i++)
        if (is_kind(measure->name, labels[i].kind))
            return msg_get(labels[i].label);
    return msg_get(measure->label);
}

/* Figures of GPUs and phases are one kind each; what a mark alone tells was not looked for. */
static void look_through(struct unseen_list *list, const struct run *run) {
    for (size_t i = 0; i < measures_count(); i++) {
        const struct measure *measure = measures_at(i);
        struct quantity q = measures_get(run, i);
        if (is_kind(measure->name, "work.") || is_kind(measure->name, "monitor."))
            continue;
        miss(list, run, kind_label(measure), &q);
    }
    struct facts_figure *limits = NULL;
    size_t count = facts_machine(run, FACTS_LIMITS, list->arena, &limits);
    for (size_t i = 0; i < count; i++)
        miss(list, run, arena_printf(list->arena, _("limit: %s"), limits[i].name),
             &limits[i].quantity);
}

/* Does any run hold a figure of a GPU? */
static bool reads_gpus(const struct report_document *document) {
    for (size_t i = 0; i < document->run_count; i++)
        for (size_t k = 0; k < measures_count(); k++) {
            struct quantity q = measures_get(document->runs[i], k);
            if (is_kind(measures_at(k)->name, "gpu.") && quantity_is_known(&q))
                return true;
        }
    return false;
}

/* What is open for the same reason in as many runs is one row. */
static void unseen_rows(const struct unseen_list *list, size_t run_count, struct strbuf *out) {
    const char *const titles[] = {_("figure"), _("open in runs"), _("why")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t i = 0; i < list->count; i++) {
        const struct unseen *item = &list->items[i];
        AUTO_STRBUF struct strbuf labels = STRBUF_INIT;
        AUTO_STRBUF struct strbuf runs = STRBUF_INIT;
        bool told = false;
        for (size_t k = 0; k < list->count; k++) {
            if (list->items[k].runs != item->runs || strcmp(list->items[k].why, item->why) != 0)
                continue;
            told = told || k < i;
            strbuf_add_next(&labels, ", ", list->items[k].label);
        }
        if (told)
            continue;
        strbuf_printf(&runs, _("%zu of %zu"), item->runs, run_count);
        markdown_cell(out, strbuf_str(&labels));
        markdown_cell(out, strbuf_str(&runs));
        markdown_cell(out, item->why);
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
}

static void blind_spots(const struct report_document *document, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct findings findings = {0};
    struct unseen_list list = {.arena = arena, .room = UNSEEN_KINDS};
    list.items = arena_alloc(arena, list.room * sizeof(*list.items));
    for (size_t i = 0; i < document->run_count; i++) {
        const json_t *spots = json_get_array(document->runs[i]->start, "blind_spots");
        look_through(&list, document->runs[i]);
        for (size_t k = 0; k < json_array_size(spots); k++) {
            const json_t *spot = json_array_get(spots, k);
            find(&findings, document->runs[i],
                 json_get_text(spot, "text", json_get_text(spot, "id", NULL)));
        }
    }
    markdown_heading(out, 3, _("What could not be seen"));
    if (!reads_gpus(document))
        markdown_paragraph(
            out, _("No run here holds a figure of a GPU: their memory, use and energy are "
                   "open in every run."));
    if (list.count > 0)
        unseen_rows(&list, document->run_count, out);
    if (findings.count == 0)
        return;
    markdown_paragraph(out, _("Blind spots that the runs named when they began:"));
    print_findings(&findings, out);
}

static void gaps(const struct report_document *document, struct strbuf *out) {
    struct findings findings = {0};
    for (size_t i = 0; i < document->run_count; i++)
        for (size_t k = 0; k < document->runs[i]->gap_count; k++)
            find(&findings, document->runs[i],
                 document->runs[i]->gaps[k].reason ? msg_get(document->runs[i]->gaps[k].reason)
                                                   : document->runs[i]->gaps[k].what);
    markdown_heading(out, 3, _("Gaps in the records"));
    if (findings.count == 0)
        markdown_paragraph(out, _("None."));
    else
        print_findings(&findings, out);
}

/* Figure, and by what it was read in these runs: one row per method, since figures of different
 * methods are not compared without saying so (B11). */
static void methods(const struct report_document *document, struct strbuf *out) {
    struct {
        const char *label;
        struct findings findings;
    } figures[] = {{.label = _("wall time")},
                   {.label = _("largest process")},
                   {.label = _("memory of all processes")},
                   {.label = _("CPU time")}};
    for (size_t i = 0; i < document->run_count; i++) {
        const struct run *run = document->runs[i];
        const struct quantity *of[] = {&run->wall, &run->largest_process_rss, &run->tree_pss,
                                       &run->cpu};
        for (size_t k = 0; k < ARRAY_LENGTH(of); k++)
            if (quantity_is_known(of[k]))
                find(&figures[k].findings, run, of[k]->method);
    }
    const char *const titles[] = {_("figure"), _("obtained by"), _("runs")};
    markdown_table(out, titles, ARRAY_LENGTH(titles));
    for (size_t k = 0; k < ARRAY_LENGTH(figures); k++)
        for (size_t i = 0; i < figures[k].findings.count; i++) {
            markdown_cell(out, figures[k].label);
            AUTO_STRBUF struct strbuf method = STRBUF_INIT;
            quantity_add_method(&method, figures[k].findings.items[i].text);
            markdown_cell(out, strbuf_str(&method));
            markdown_cell_count(out, true, figures[k].findings.items[i].runs);
            markdown_end_row(out);
        }
    strbuf_add_char(out, '\n');
}

void document_markdown_method(const struct report_document *document, struct strbuf *out) {
    markdown_heading(out, 2, _("How it was measured"));
    markdown_paragraph(out, _("The program starts the command and watches it and its descendants "
                              "from outside. A peak that was sampled is a lower bound, because "
                              "what lay between two samples was not seen. A duration that was cut "
                              "off is a lower bound too."));
    if (document->run_count > 0) {
        methods(document, out);
        blind_spots(document, out);
        gaps(document, out);
    }
    if (!document->estimate)
        return;
    markdown_heading(out, 3, _("How it was estimated"));
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(
        &text,
        _("Durations are drawn %zu times from what was measured, on a logarithmic scale; unknown "
          "means and spreads are drawn with them, and totals are made draw by draw. Method %s, "
          "seed %llu: the same records give the same figures. Medians of parts do not add up to "
          "the median of their sum."),
        document->estimate->draws, ESTIMATE_METHOD, (unsigned long long)document->estimate->seed);
    markdown_paragraph(out, strbuf_str(&text));
}
