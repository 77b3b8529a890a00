/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `check`: what a plan is, which facts are open and what they stop, what is undetermined; for
 * machines also the complaints. Knows no records: what the runs have come to is `block list`.
 */
#include "report/study.h"

#include "base/msg.h"
#include "report/check-parts.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/study-words.h"
#include "report/words.h"

/* ---- what there is ---- */

/* Conditions by whether the code supports them. */
struct support {
    size_t yes, no, open;
};

static struct support support_of(const struct plan_block *block) {
    struct support support = {0};
    for (size_t i = 0; i < block->condition_count; i++) {
        switch (block->conditions[i].supported) {
        case PLAN_UNSAID:
            support.open++;
            break;
        case PLAN_YES:
            support.yes++;
            break;
        case PLAN_NO:
            support.no++;
            break;
        }
    }
    return support;
}

/* Everything that is open, with data protection. */
struct open_facts {
    const struct plan_fact **items;
    size_t count;
    unsigned stops;
};

static struct open_facts open_facts_of(const struct plan *plan, struct arena *arena) {
    struct open_facts open = {0};
    open.count = plan_open_facts(plan, arena, &open.items);
    for (size_t i = 0; i < open.count; i++)
        open.stops |= open.items[i]->stops;
    return open;
}

bool report_check_is_stopped(const struct plan *plan) {
    AUTO_ARENA struct arena *arena = arena_new();
    return open_facts_of(plan, arena).stops != 0;
}

/* Values of the axis that nobody has confirmed or chosen. */
static size_t count_undetermined(const struct plan_axis *axis) {
    size_t count = 0;
    for (size_t i = 0; i < axis->value_count; i++)
        count += axis->values[i].state == PLAN_UNDETERMINED;
    return count;
}

/* ---- JSON ---- */

static json_t *word_json(const char *word) {
    return json_text(*word != '\0' ? word : NULL);
}

static json_t *stops_json(unsigned stops) {
    json_t *json = json_array();
    for (unsigned bit = PLAN_STOPS_VALIDATE; bit <= PLAN_STOPS_BOOKING; bit <<= 1) {
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        if ((stops & bit) == 0)
            continue;
        plan_stops_text(bit, &name);
        json_array_append_new(json, json_text(strbuf_str(&name)));
    }
    return json;
}

static void put_source(json_t *json, const struct plan *plan, struct plan_at at) {
    AUTO_ARENA struct arena *arena = arena_new();
    json_put_text(json, "source", plan_source(plan, at, arena));
}

static json_t *complaints_json(const struct plan_complaints *complaints) {
    json_t *list = json_array();
    for (size_t i = 0; i < complaints->count; i++) {
        const struct plan_complaint *complaint = &complaints->items[i];
        bool has_place = complaint->at.line > 0;
        json_t *json = json_object();
        json_put_text(json, "level", complaint->warning ? "warning" : "error");
        json_put_text(json, "id", complaint->id);
        json_put(json, "line", has_place ? json_integer(complaint->at.line) : json_null());
        json_put(json, "column", has_place ? json_integer(complaint->at.column) : json_null());
        json_put_text(json, "text", complaint->text);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *study_json(const struct plan *plan) {
    const struct plan_study *study = &plan->study;
    json_t *paper = json_object(), *json = json_object();
    json_put_text(paper, "title", study->paper_title);
    json_put_text(paper, "version", study->paper_version);
    json_put_text(paper, "url", study->paper_url);
    json_put_text(json, "id", study->id);
    json_put_text(json, "title", study->title);
    json_put(json, "paper", paper);
    json_put_text(json, "scope", plan_scope_name(study->scope));
    json_put_text(json, "scope_note", study->scope_note);
    json_t *environments = json_array();
    for (size_t i = 0; i < plan->environment_count; i++)
        json_array_append_new(environments, json_text(plan->environments[i].id));
    json_put(json, "environments", environments);
    return json;
}

static json_t *block_json(const struct plan *plan, const struct plan_block *block) {
    struct support support = support_of(block);
    json_t *supported = json_object(), *json = json_object();
    json_put_int(supported, "yes", (int64_t)support.yes);
    json_put_int(supported, "no", (int64_t)support.no);
    json_put_int(supported, "open", (int64_t)support.open);
    json_put_text(json, "id", block->id);
    json_put_text(json, "title", block->title);
    json_put_text(json, "kind", plan_kind_name(block->kind));
    json_put(json, "extent", word_json(plan_extent_name(block->extent)));
    json_put(json, "recurrence", word_json(plan_recurrence_name(block->recurrence)));
    json_put_text(json, "state", plan_backing_name(block->state));
    json_put_text(json, "question", block->question);
    json_put_int(json, "conditions", (int64_t)block->condition_count);
    json_put(json, "runs_per_condition",
             block->runs.given ? json_integer(block->runs.value) : json_null());
    json_put(json, "runs",
             block->runs.given ? json_integer(block->runs.value * (int64_t)block->condition_count)
                               : json_null());
    json_put(json, "supported", supported);
    put_source(json, plan, block->at);
    return json;
}

static json_t *fact_json(const struct plan *plan, const struct plan_fact *fact) {
    json_t *json = json_object();
    json_put_text(json, "id", fact->id);
    json_put_text(json, "about", fact->about);
    json_put_text(json, "environment", fact->environment);
    json_put_text(json, "question", fact->question);
    json_put(json, "stops", stops_json(fact->stops));
    if (fact->at.line > 0)
        put_source(json, plan, fact->at);
    else
        json_put(json, "source", json_null());
    return json;
}

static json_t *undetermined_json(const struct plan *plan) {
    json_t *list = json_array();
    for (size_t b = 0; b < plan->block_count; b++)
        for (size_t a = 0; a < plan->blocks[b].axis_count; a++) {
            const struct plan_axis *axis = &plan->blocks[b].axes[a];
            json_t *values = json_array(), *json = NULL;
            for (size_t i = 0; i < axis->value_count; i++)
                if (axis->values[i].state == PLAN_UNDETERMINED)
                    json_array_append_new(values, json_text(axis->values[i].text));
            if (json_array_size(values) == 0) {
                json_decref(values);
                continue;
            }
            json = json_object();
            json_put_text(json, "block", plan->blocks[b].id);
            json_put_text(json, "axis", axis->name);
            json_put(json, "values", values);
            put_source(json, plan, axis->at);
            json_array_append_new(list, json);
        }
    return list;
}

json_t *report_check_json(const struct plan *plan, const struct plan_complaints *complaints) {
    bool broken = complaints->errors > 0; /* then nothing else of it can be relied on */
    AUTO_ARENA struct arena *arena = arena_new();
    struct open_facts open = broken ? (struct open_facts){0} : open_facts_of(plan, arena);
    json_t *blocks = broken ? NULL : json_array(), *facts = broken ? NULL : json_array();
    for (size_t i = 0; !broken && i < plan->block_count; i++)
        json_array_append_new(blocks, block_json(plan, &plan->blocks[i]));
    for (size_t i = 0; i < open.count; i++)
        json_array_append_new(facts, fact_json(plan, open.items[i]));
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.check/1");
    json_put_text(json, "plan", plan->path);
    json_put_int(json, "errors", (int64_t)complaints->errors);
    json_put_int(json, "warnings", (int64_t)(complaints->count - complaints->errors));
    json_put(json, "complaints", complaints_json(complaints));
    json_put(json, "study", broken ? json_null() : study_json(plan));
    json_put(json, "blocks", broken ? json_null() : blocks);
    json_put(json, "open_facts", broken ? json_null() : facts);
    json_put(json, "undetermined", broken ? json_null() : undetermined_json(plan));
    json_put(json, "environments", broken ? json_null() : check_environments_json(plan));
    json_put(json, "before_booking", broken ? json_null() : check_before_booking_json(plan));
    json_put(json, "stopped", broken ? json_null() : stops_json(open.stops));
    return json;
}

/* ---- text ---- */

static void add_with_comma(struct strbuf *out, const char *text) {
    if (text == NULL || *text == '\0')
        return;
    if (out->length > 0)
        strbuf_add_str(out, ", ");
    strbuf_add_str(out, text);
}

/* label, and in the second column foreign text that may be long; "open" for none. */
static void text_row_at(struct strbuf *out, struct report_style style, size_t indent,
                        const char *label, const char *text) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    bool is_said = text != NULL && *text != '\0';
    strbuf_printf(&line, "%s: ", label);
    layout_add_plain(&line, is_said ? text : _("open"), style.ascii);
    layout_add_blanks(out, indent);
    layout_wrap(out, strbuf_str(&line), indent, indent + 2, layout_columns(style));
    strbuf_add_char(out, '\n');
}

static void text_row(struct strbuf *out, struct report_style style, const char *label,
                     const char *text) {
    text_row_at(out, style, 2, label, text);
}

static void add_title(const struct plan *plan, struct report_style style, struct strbuf *out) {
    const struct plan_study *study = &plan->study;
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    layout_cut(&title, study->title != NULL ? study->title : _("a study without a title"),
               layout_columns(style), style.ascii);
    layout_add_colored(out, style, LAYOUT_BOLD, strbuf_str(&title));
    strbuf_add_char(out, '\n');
}

static void add_study(const struct plan *plan, struct report_style style, struct strbuf *out) {
    const struct plan_study *study = &plan->study;
    AUTO_STRBUF struct strbuf paper = STRBUF_INIT;
    AUTO_STRBUF struct strbuf scope = STRBUF_INIT;
    AUTO_STRBUF struct strbuf environments = STRBUF_INIT;
    strbuf_add_char(out, '\n');
    add_with_comma(&paper, study->paper_title);
    add_with_comma(&paper, study->paper_version != NULL ? study->paper_version : _("version open"));
    strbuf_add_str(&scope, words_shown(plan_scope_name(study->scope)));
    add_with_comma(&scope, study->scope_note);
    for (size_t i = 0; i < plan->environment_count; i++)
        add_with_comma(&environments, plan->environments[i].id);
    text_row(out, style, _("plan"), plan->path);
    text_row(out, style, _("paper"), strbuf_str(&paper));
    text_row(out, style, _("scope"), strbuf_str(&scope));
    text_row(out, style, _("environments"), strbuf_str(&environments));
}

static void count_cell(struct layout_table *table, size_t count) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    study_words_add_count(&text, true, count);
    layout_table_cell(table, strbuf_str(&text), LAYOUT_PLAIN);
}

static void runs_cell(struct layout_table *table, const struct plan_block *block) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    uint64_t runs = block->runs.given ? (uint64_t)block->runs.value * block->condition_count : 0;
    study_words_add_count(&text, block->runs.given, runs);
    layout_table_cell(table, strbuf_str(&text), block->runs.given ? LAYOUT_PLAIN : LAYOUT_BAD);
}

/* "9 yes, 1 no, 2 open": does the code support the conditions? */
static void support_cell(struct layout_table *table, const struct plan_block *block) {
    struct support support = support_of(block);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    const struct {
        size_t count;
        const char *word;
    } parts[] = {{support.yes, _("yes")}, {support.no, _("no")}, {support.open, _("open")}};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        if (parts[i].count > 0 && parts[i].count == block->condition_count)
            strbuf_add_str(&text, parts[i].word);
        else if (parts[i].count > 0)
            strbuf_printf(&text, "%s%zu %s", text.length > 0 ? ", " : "", parts[i].count,
                          parts[i].word);
    layout_table_cell(table, strbuf_str(&text), support.no > 0 ? LAYOUT_BAD : LAYOUT_PLAIN);
}

/* Where nothing is said about it, a column of "open" would say nothing more. */
static bool says_support(const struct plan *plan) {
    for (size_t i = 0; i < plan->block_count; i++)
        if (support_of(&plan->blocks[i]).open < plan->blocks[i].condition_count)
            return true;
    return false;
}

static void add_blocks(const struct plan *plan, struct report_style style, struct strbuf *out) {
    layout_heading(out, style, _("Blocks"));
    if (plan->block_count == 0) {
        layout_paragraph(out, style, _("the plan has no blocks yet"));
        return;
    }
    const struct layout_column columns[] = {
        {.title = _("block")},
        {.title = _("what"), .elastic = 10},
        {.title = _("conditions"), .right = true},
        {.title = _("runs"), .right = true},
        {.title = _("backed"), .optional = 100},
        {.title = _("supported"), .optional = 76},
    };
    bool has_support = says_support(plan);
    AUTO_TABLE struct layout_table *table =
        layout_table_new(style, columns, ARRAY_LENGTH(columns) - !has_support);
    for (size_t i = 0; i < plan->block_count; i++) {
        const struct plan_block *block = &plan->blocks[i];
        AUTO_STRBUF struct strbuf nature = STRBUF_INIT;
        study_words_add_nature(&nature, block);
        layout_table_cell(table, block->id, LAYOUT_BOLD);
        layout_table_cell(table, strbuf_str(&nature), LAYOUT_PLAIN);
        count_cell(table, block->condition_count);
        runs_cell(table, block);
        layout_table_cell(table, words_shown(plan_backing_name(block->state)), LAYOUT_PLAIN);
        if (has_support)
            support_cell(table, block);
    }
    layout_table_print(table, 2, out);
}

/* The plan's own facts, and those that it should have. */
static size_t count_facts(const struct plan *plan, const struct open_facts *open) {
    size_t count = open->count;
    for (size_t i = 0; i < plan->fact_count; i++)
        count += plan->facts[i].state != PLAN_FACT_OPEN;
    return count;
}

static void add_fact(const struct plan_fact *fact, struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf label = STRBUF_INIT;
    strbuf_add_str(&text, fact->question != NULL ? fact->question : _("no question is given"));
    if (fact->at.line > 0)
        strbuf_printf(&text, _(" (line %u)"), (unsigned)fact->at.line);
    else
        strbuf_add_str(&text, _(" (the plan has no part 'privacy')"));
    layout_add_plain(&label, fact->id, style.ascii);
    if (fact->environment != NULL) {
        strbuf_add_char(&label, '@');
        layout_add_plain(&label, fact->environment, style.ascii);
    }
    text_row_at(out, style, 4, strbuf_str(&label), strbuf_str(&text));
}

/* Those that stop the same under one line. */
static void add_fact_group(const struct open_facts *open, unsigned stops, struct report_style style,
                           struct strbuf *out) {
    AUTO_STRBUF struct strbuf what = STRBUF_INIT;
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    plan_stops_text(stops, &what);
    if (stops != 0)
        strbuf_printf(&line, _("these stop %s:"), strbuf_str(&what));
    else
        strbuf_add_str(&line, _("these stop nothing:"));
    layout_paragraph(out, style, strbuf_str(&line));
    for (size_t i = 0; i < open->count; i++)
        if (open->items[i]->stops == stops)
            add_fact(open->items[i], style, out);
}

/* What `block run` wants settled whatever the facts are said to stop (rules/gate.h). */
static void add_protection(const struct open_facts *open, struct report_style style,
                           struct strbuf *out) {
    AUTO_STRBUF struct strbuf ids = STRBUF_INIT;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < open->count; i++)
        if (plan_fact_is_privacy(open->items[i]))
            strbuf_add_next(&ids, ", ", open->items[i]->id);
    if (ids.length == 0)
        return;
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, strbuf_str(&ids), style.ascii);
    strbuf_printf(&text,
                  _("'block run' wants data protection settled, too: %s (on a machine of one's own "
                    "nothing about transfer and provider)"),
                  strbuf_str(&plain));
    layout_paragraph(out, style, strbuf_str(&text));
}

static void add_facts(const struct plan *plan, const struct open_facts *open,
                      struct report_style style, struct strbuf *out) {
    if (open->count == 0)
        return;
    AUTO_STRBUF struct strbuf heading = STRBUF_INIT;
    strbuf_printf(&heading, _("Open facts: %zu of %zu"), open->count, count_facts(plan, open));
    layout_heading(out, style, strbuf_str(&heading));
    for (size_t i = 0; i < open->count; i++) {
        unsigned stops = open->items[i]->stops;
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = open->items[k]->stops != stops;
        if (is_first && stops != 0)
            add_fact_group(open, stops, style, out);
    }
    for (size_t i = 0; i < open->count; i++)
        if (open->items[i]->stops == 0) {
            add_fact_group(open, 0, style, out);
            break;
        }
    add_protection(open, style, out);
}

static void add_undetermined(const struct plan *plan, struct report_style style,
                             struct strbuf *out) {
    bool is_first = true;
    for (size_t b = 0; b < plan->block_count; b++)
        for (size_t a = 0; a < plan->blocks[b].axis_count; a++) {
            const struct plan_axis *axis = &plan->blocks[b].axes[a];
            size_t count = count_undetermined(axis);
            if (count == 0)
                continue;
            if (is_first)
                layout_heading(out, style, _("Undetermined"));
            is_first = false;
            AUTO_STRBUF struct strbuf text = STRBUF_INIT;
            AUTO_STRBUF struct strbuf label = STRBUF_INIT;
            strbuf_printf(&text, _("%zu of %zu values are neither confirmed nor chosen (line %u)"),
                          count, axis->value_count, (unsigned)axis->at.line);
            layout_add_plain(&label, plan->blocks[b].id, style.ascii);
            strbuf_add_str(&label, ", ");
            layout_add_plain(&label, axis->name, style.ascii);
            text_row(out, style, strbuf_str(&label), strbuf_str(&text));
        }
}

/* The block to begin with: the first validation, else the first that has conditions. */
static const struct plan_block *first_block(const struct plan *plan) {
    const struct plan_block *first = NULL;
    for (size_t i = 0; i < plan->block_count; i++) {
        const struct plan_block *block = &plan->blocks[i];
        if (block->condition_count > 0 && block->kind == PLAN_VALIDATE)
            return block;
        if (block->condition_count > 0 && first == NULL)
            first = block;
    }
    return first;
}

/* Knows no records: it is the way in, not what is left. */
static void add_next(const struct plan *plan, unsigned stops, struct report_style style,
                     struct strbuf *out) {
    const struct plan_block *block = first_block(plan);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (block == NULL) {
        strbuf_add_str(&text, _("next: write the first block, with its command"));
    } else if ((stops & (unsigned)plan_stop_of(block->kind)) != 0) {
        strbuf_printf(&text,
                      _("next: answer the open facts that stop '%s', each with value, source, "
                        "source_kind and seen"),
                      plan_kind_name(block->kind));
    } else {
        AUTO_ARENA struct arena *arena = arena_new();
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;
        layout_add_plain(&line,
                         plan_command_in(plan_run_line(&block->conditions[0], arena), plan,
                                         plan->environments, arena),
                         style.ascii);
        strbuf_printf(&text, _("first, if it was not done yet, measure a run: %s"),
                      strbuf_str(&line));
    }
    layout_paragraph(out, style, strbuf_str(&text));
}

void report_check_text(const struct plan *plan, const struct plan_complaints *complaints,
                       struct report_style style, struct strbuf *out) {
    if (complaints->errors > 0)
        return; /* the plan is not what it was meant to be: nothing is said of it */
    AUTO_ARENA struct arena *arena = arena_new();
    struct open_facts open = open_facts_of(plan, arena);
    AUTO_STRBUF struct strbuf verdict = STRBUF_INIT;
    if (open.stops != 0) {
        strbuf_add_str(&verdict, _("open facts stand in the way of: "));
        plan_stops_text(open.stops, &verdict);
    } else {
        strbuf_add_str(&verdict, _("no open fact stands in the way"));
    }
    add_title(plan, style, out);
    layout_paragraph(out, style, strbuf_str(&verdict));
    add_next(plan, open.stops, style, out);
    add_study(plan, style, out);
    add_facts(plan, &open, style, out);
    add_blocks(plan, style, out);
    add_undetermined(plan, style, out);
    check_add_environments(plan, style, out);
    check_add_before_booking(plan, style, out);
}
