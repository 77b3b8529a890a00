/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lower half of `show`: work, files, code, environment, incidents, changes, the record itself.
 * Foreign text everywhere. */
#include "report/run-text.h"

#include "base/msg.h"
#include "base/str.h"
#include "report/facts.h"
#include "report/run-json.h"
#include "report/words.h"
#include "text/incident.h"

#include <string.h>

#define LIST_SHORT 8 /* entries shown without --verbose */

static size_t shown(struct report_style style, size_t count) {
    return style.verbose || count <= LIST_SHORT ? count : LIST_SHORT;
}

static void more(struct strbuf *out, struct report_style style, size_t all, size_t printed) {
    if (printed >= all)
        return;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, _("... and %zu more (--verbose shows all)"), all - printed);
    layout_paragraph(out, style, strbuf_str(&text));
}

void run_text_phase_list(struct strbuf *out, struct report_style style, const struct run *run) {
    const struct layout_column columns[] = {
        {.title = _("phase")},
        {.title = _("from"), .right = true},
        {.title = _("to"), .right = true},
        {.title = _("known by"), .elastic = 6},
    };
    size_t count = shown(style, run->phase_count);
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < count; i++) {
        const struct run_phase *phase = &run->phases[i];
        AUTO_STRBUF struct strbuf from = STRBUF_INIT;
        AUTO_STRBUF struct strbuf to = STRBUF_INIT;
        quantity_format_value(phase->start_s, UNIT_SECOND, &from);
        quantity_format_value(phase->end_s, UNIT_SECOND, &to);
        layout_table_cell(table, words_shown(phase->name ? phase->name : phase_name(phase->phase)),
                          LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&from), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&to), LAYOUT_PLAIN);
        layout_table_cell(table, phase->source ? words_shown(phase->source) : NULL, LAYOUT_PLAIN);
    }
    layout_table_print(table, 2, out);
    more(out, style, run->phase_count, count);
}

/* The method names a file as its plan does, with places that every run fills in another way; a
 * reader of one run wants to know which file it was. */
static const char *result_method(const struct run *run, const struct run_result *result,
                                 struct arena *arena) {
    static const char *const kinds[] = {"json", "csv", "regex"};
    const char *method = result->quantity.method, *cwd = json_get_text(run->start, "cwd", "");
    const json_t *list = json_get_array(run->start, "results");
    for (size_t i = 0; method && i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *file = json_get_text(entry, "file", NULL);
        if (!file || strcmp(json_get_text(entry, "name", ""), result->name) != 0)
            continue;
        if (*cwd && str_starts_with(file, cwd) && file[strlen(cwd)] == '/')
            file += strlen(cwd) + 1;
        for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++) {
            const char *what = json_get_text(entry, kinds[k], NULL);
            const char *row = json_get_text(entry, "row", NULL);
            const char *how = what ? arena_printf(arena, "%s %s", kinds[k], what) : NULL;
            if (how && row)
                how = arena_printf(arena, "%s (row %s)", how, row);
            if (how && str_starts_with(method, how))
                return arena_printf(arena, "%s of %s", how, file);
        }
    }
    return method;
}

void run_text_work(struct strbuf *out, struct report_style style, const struct run *run) {
    layout_heading(out, style, _("Work and results"));
    layout_quantity(out, style, _("items"), &run->work_items);
    layout_quantity(out, style, _("length"), &run->work_length);
    layout_quantity(out, style, _("batch"), &run->work_batch);
    run_text_row(out, style, _("shape"), run->work_shape);
    AUTO_ARENA struct arena *arena = arena_new();
    for (size_t i = 0; i < run->result_count; i++) {
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        layout_cut(&name, run->results[i].name, 40, style.ascii);
        AUTO_STRBUF struct strbuf value = STRBUF_INIT;
        AUTO_STRBUF struct strbuf note = STRBUF_INIT;
        struct quantity q = run->results[i].quantity;
        q.method = result_method(run, &run->results[i], arena);
        run_text_add_result(&value, &q, style.ascii, true);
        layout_quantity_note(&note, &q, style.ascii);
        layout_row(out, style, strbuf_str(&name), strbuf_str(&value), layout_state_color(q.state),
                   strbuf_str(&note));
    }
    if (run->result_count == 0)
        layout_paragraph(out, style,
                         facts_is_attached(run)
                             ? _("no result was reported")
                             : _("no result was reported (`probelauf mark --result NAME=VALUE`)"));
}

static void file_list(struct strbuf *out, struct report_style style, const char *label,
                      const struct facts_file *files, size_t count) {
    size_t printed = shown(style, count);
    for (size_t i = 0; i < printed; i++) {
        AUTO_STRBUF struct strbuf value = STRBUF_INIT;
        AUTO_STRBUF struct strbuf note = STRBUF_INIT;
        AUTO_STRBUF struct strbuf path = STRBUF_INIT;
        layout_add_quantity(&value, &files[i].bytes, style.ascii, true);
        layout_add_plain(&path, files[i].path, style.ascii);
        strbuf_add_str(&note, strbuf_str(&path));
        if (!quantity_is_known(&files[i].bytes) && files[i].bytes.detail) {
            strbuf_add_str(&note, "; ");
            layout_add_plain(&note, files[i].bytes.detail, style.ascii);
        }
        layout_row(out, style, label, strbuf_str(&value), layout_state_color(files[i].bytes.state),
                   strbuf_str(&note));
    }
    more(out, style, count, printed);
}

void run_text_files(struct strbuf *out, struct report_style style, const struct run *run) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct facts_file *inputs = NULL, *outputs = NULL;
    size_t input_count = facts_inputs(run, arena, &inputs);
    size_t output_count = facts_outputs(run, arena, &outputs);
    struct facts_expectation *expectations = NULL;
    size_t expectation_count = facts_expectations(run, arena, &expectations);
    layout_heading(out, style, _("Input and output"));
    if (input_count + output_count == 0)
        layout_paragraph(out, style,
                         _("none was named (`probelauf run --input PATH --output PATH`)"));
    file_list(out, style, _("input"), inputs, input_count);
    file_list(out, style, _("output"), outputs, output_count);
    for (size_t i = 0; i < expectation_count; i++) {
        AUTO_STRBUF struct strbuf what = STRBUF_INIT;
        layout_add_plain(&what, expectations[i].what, style.ascii);
        if (expectations[i].detail) {
            strbuf_add_str(&what, "; ");
            layout_add_plain(&what, msg_get(expectations[i].detail),
                             style.ascii); /* kept in English */
        }
        bool unmet = strcmp(expectations[i].met, "no") == 0;
        layout_row(out, style, _("expected"), expectations[i].met,
                   unmet ? LAYOUT_BAD : LAYOUT_PLAIN, strbuf_str(&what));
    }
}

void run_text_code(struct strbuf *out, struct report_style style, const struct run *run) {
    const json_t *code = json_get_object(run->environment, "code");
    layout_heading(out, style, _("Code"));
    const char *reason = json_get_text(code, "reason", NULL);
    reason = reason ? msg_get(reason) : facts_environment_reason(run, "code");
    const char *commit = json_get_text(code, "commit", NULL);
    if (!commit) {
        AUTO_STRBUF struct strbuf open = STRBUF_INIT;
        AUTO_STRBUF struct strbuf why = STRBUF_INIT;
        struct quantity none = quantity_open(NULL, facts_open_reason(run), NULL);
        if (reason) { /* which says more than where it is not */
            strbuf_printf(&open, "[?] %s", _("open"));
            layout_add_plain(&why, reason, style.ascii);
        } else {
            layout_add_quantity(&open, &none, style.ascii, true);
        }
        layout_row(out, style, _("state"), strbuf_str(&open), layout_state_color(QUANTITY_OPEN),
                   strbuf_str(&why));
        return;
    }
    AUTO_STRBUF struct strbuf state = STRBUF_INIT;
    strbuf_add(&state, commit, strlen(commit) > 12 ? 12 : strlen(commit));
    const json_t *dirty = json_object_get(code, "dirty");
    if (json_is_true(dirty))
        strbuf_add_str(&state, _(", with uncommitted changes"));
    else if (json_is_false(dirty))
        strbuf_add_str(&state, _(", no uncommitted changes"));
    else
        strbuf_add_str(&state, _(", uncommitted changes: open"));
    run_text_row(out, style, _("commit"), strbuf_str(&state));
    run_text_row(out, style, _("branch"), json_get_text(code, "branch", NULL));
    run_text_row(out, style, _("repository"), json_get_text(code, "repo", NULL));
    run_text_row(out, style, _("digest"), json_get_text(code, "digest", NULL));
    run_text_row(out, style, _("open"), reason);
}

/* Every text and number of a free object as "key value"; deeper levels are for --json. */
static void add_plain_members(struct strbuf *out, json_t *object) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (object, key, value) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        if (json_is_string(value))
            strbuf_add_str(&text, json_string_value(value));
        else if (json_is_number(value) || json_is_boolean(value))
            json_add_compact(&text, value);
        else
            continue;
        strbuf_printf(out, "%s%s %s", out->length > 0 ? ", " : "", words_shown(key),
                      strbuf_str(&text));
    }
}

static void add_member(struct strbuf *out, const json_t *object, const char *key,
                       const char *separator) {
    const char *text = json_get_text(object, key, NULL);
    if (text)
        strbuf_printf(out, "%s%s", separator, text);
}

static void interpreters(struct strbuf *out, struct report_style style, const struct run *run) {
    const json_t *list = json_get_array(run->environment, "interpreters");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_add_str(&text, json_get_text(entry, "path", "?"));
        add_member(&text, entry, "version", " ");
        const char *kind = json_get_text(entry, "kind", NULL);
        if (kind)
            strbuf_printf(&text, ", %s", words_shown(kind));
        int64_t packages = json_get_int(entry, "package_count", -1);
        if (packages >= 0)
            strbuf_printf(&text, _(", %lld packages"), (long long)packages);
        run_text_row(out, style, _("interpreter"), strbuf_str(&text));
    }
    const json_t *packages = json_get_array(run->environment, "packages");
    if (!packages || json_array_size(list) == 0)
        return;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, _("%zu (--json lists them)"), json_array_size(packages));
    run_text_row(out, style, _("packages"), strbuf_str(&text));
}

void run_text_environment(struct strbuf *out, struct report_style style, const struct run *run) {
    layout_heading(out, style, _("Environment"));
    if (json_object_size(run->environment) == 0) {
        struct quantity none = quantity_open(NULL, facts_open_reason(run), NULL);
        layout_quantity(out, style, _("all of it"), &none);
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    add_plain_members(&text, json_get_object(run->environment, "machine"));
    run_text_row(out, style, _("machine"), strbuf_str(&text));
    run_text_row(out, style, _("container"), json_get_text(run->environment, "container", NULL));
    AUTO_ARENA struct arena *arena = arena_new();
    run_text_row(out, style, _("GPUs"), facts_gpus(run, arena));
    run_text_row(out, style, _("GPU driver"), facts_gpu_driver(run));
    interpreters(out, style, run);
    const char *fingerprint = json_get_text(run->environment, "fingerprint", NULL);
    if (fingerprint) {
        strbuf_clear(&text);
        strbuf_add(&text, fingerprint, strlen(fingerprint) > 12 ? 12 : strlen(fingerprint));
        run_text_row(out, style, _("fingerprint"), strbuf_str(&text));
    }
    const char *part = NULL;
    json_t *why = NULL;
    json_object_foreach (json_get_object(run->environment, "reasons"), part, why) {
        if (!json_is_string(why) || strcmp(part, "code") == 0) /* which has a section of its own */
            continue;
        strbuf_clear(&text);
        strbuf_printf(&text, "%s: %s", words_shown(part), msg_get(json_string_value(why)));
        run_text_row(out, style, _("open"), strbuf_str(&text));
    }
}

/* What an incident's figures are to a person: its time is told apart, of the run's clock. */
static void add_figures(struct strbuf *out, json_t *figures) {
    AUTO_JSON json_t *rest = run_json_copy_object(figures);
    if (json_is_integer(json_object_get(figures, "t_ns"))) {
        AUTO_STRBUF struct strbuf at = STRBUF_INIT;
        quantity_format_value((double)json_get_int(figures, "t_ns", 0) / 1e9, UNIT_SECOND, &at);
        strbuf_printf(out, _("at %s"), strbuf_str(&at));
        json_object_del(rest, "t_ns");
    }
    add_plain_members(out, rest);
}

void run_text_incidents(struct strbuf *out, struct report_style style, const struct run *run) {
    if (run->incident_count == 0)
        return;
    layout_heading(out, style, _("Incidents"));
    size_t count = shown(style, run->incident_count);
    for (size_t i = 0; i < count; i++) {
        const struct run_incident *incident = &run->incidents[i];
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        AUTO_STRBUF struct strbuf note = STRBUF_INIT;
        layout_add_plain(&name, incident->name, style.ascii);
        layout_add_plain(&note, incident->line, style.ascii);
        layout_row(out, style, strbuf_str(&name),
                   incident->survived ? _("survived") : _("not survived"),
                   incident->survived ? LAYOUT_WARN : LAYOUT_BAD, strbuf_str(&note));
        AUTO_STRBUF struct strbuf figures = STRBUF_INIT;
        add_figures(&figures, incident->figures);
        run_text_row(out, style, "", strbuf_str(&figures));
    }
    more(out, style, run->incident_count, count);
}

void run_text_changes(struct strbuf *out, struct report_style style, const struct run *run) {
    const json_t *changes =
        json_is_array(run->changes) ? run->changes : json_get_array(run->start, "changes");
    size_t count = json_array_size(changes);
    if (count == 0 && !run->disposition && run->validity == RUN_UNCHECKED)
        return;
    layout_heading(out, style, _("Changes and annotations"));
    for (size_t i = 0; i < count; i++)
        run_text_row(out, style, _("change"), json_string_value(json_array_get(changes, i)));
    run_text_row(out, style, _("disposition"), run->disposition);
    if (run->validity == RUN_UNCHECKED)
        return;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, run->validity == RUN_VALID ? _("valid") : _("invalid"));
    if (run->validity_who)
        strbuf_printf(&text, _(", says %s"), run->validity_who);
    if (run->validity_why)
        strbuf_printf(&text, ": %s", run->validity_why);
    run_text_row(out, style, _("declared"), strbuf_str(&text));
}

static void gaps(struct strbuf *out, struct report_style style, const struct run *run) {
    size_t count = shown(style, run->gap_count);
    for (size_t i = 0; i < count; i++) {
        const struct run_gap *gap = &run->gaps[i];
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        quantity_format_value(gap->start_s, UNIT_SECOND, &text);
        strbuf_add_str(&text, _(" to "));
        quantity_format_value(gap->end_s, UNIT_SECOND, &text);
        strbuf_printf(&text, ", %s: %s", gap->what ? gap->what : "?",
                      gap->reason ? msg_get(gap->reason) : "?");
        run_text_row(out, style, _("gap"), strbuf_str(&text));
    }
    more(out, style, run->gap_count, count);
}

static void streams(struct strbuf *out, struct report_style style, const struct run *run) {
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const json_t *stream = json_get_object(json_get_object(run->start, "streams"), names[i]);
        const char *was = json_get_text(stream, "was", NULL);
        if (!was)
            continue;
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text, "%s, %s", words_shown(was),
                      words_shown(json_get_text(stream, "tee", "?")));
        if (json_get_text(stream, "shared_with", NULL))
            strbuf_printf(&text, _(", one channel with %s"),
                          json_get_text(stream, "shared_with", NULL));
        run_text_row(out, style, names[i], strbuf_str(&text));
    }
}

void run_text_monitor(struct strbuf *out, struct report_style style, const struct run *run) {
    layout_heading(out, style, _("The record"));
    layout_quantity(out, style, _("own CPU time"), &run->monitor_cpu);
    gaps(out, style, run);
    const json_t *spots = json_get_array(run->start, "blind_spots");
    for (size_t i = 0; i < json_array_size(spots); i++) {
        const json_t *spot = json_array_get(spots, i);
        const char *english = json_get_text(spot, "text", json_get_text(spot, "id", NULL));
        run_text_row(out, style, _("blind spot"), english ? msg_get(english) : NULL);
    }
    streams(out, style, run);
}
