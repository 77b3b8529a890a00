/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The results of a report: per condition what its runs that count gave for each metric, and what
 * the plan names and none of them gave. Figures of different units or ways to obtain them never
 * share a line. Must take nothing from a run that does not count.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "report/markdown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values of one metric of one condition, all of one unit and method. */
struct values {
    const char *name, *unit, *method;
    double *items;
    const char **sources;
    size_t count;
    struct quantity unknown; /* with count 0: why it is open */
};

struct collecting {
    struct arena *arena;
    const struct study *study;
    const char *id; /* of the condition */
    const struct run **runs;
    size_t run_count;
    struct values *values;
    size_t count, room;
};

/* One condition of one block; `order` among all. */
struct place {
    const char *id;
    size_t order;
    const struct study_block *block;
    const struct study_condition *condition;
};

static int compare_places(const void *a, const void *b) {
    const struct place *left = a, *right = b;
    int by_id = strcmp(left->id, right->id);
    return by_id != 0 ? by_id : (left->order > right->order) - (left->order < right->order);
}

/* Sorted by id, so that what blocks share stands together: plans have thousands of conditions. */
static size_t find_places(const struct study *study, struct arena *arena,
                          struct place **ret_places) {
    size_t room = 0, count = 0;
    for (size_t b = 0; b < study->block_count; b++)
        room += study->blocks[b].condition_count;
    struct place *places = arena_alloc(arena, (room + 1) * sizeof(*places));
    for (size_t b = 0; b < study->block_count; b++)
        for (size_t c = 0; c < study->blocks[b].condition_count; c++) {
            const struct study_condition *condition = &study->blocks[b].conditions[c];
            places[count] = (struct place){.id = condition->condition->id,
                                           .order = count,
                                           .block = &study->blocks[b],
                                           .condition = condition};
            count++;
        }
    if (count > 0)
        qsort(places, count, sizeof(*places), compare_places);
    *ret_places = places;
    return count;
}

static bool is_first(const struct place *places, size_t index) {
    return index == 0 || strcmp(places[index - 1].id, places[index].id) != 0;
}

const bool *document_firsts(const struct study *study, struct arena *arena) {
    struct place *places = NULL;
    size_t count = find_places(study, arena, &places);
    bool *firsts = arena_alloc(arena, count + 1);
    for (size_t i = 0; i < count; i++)
        firsts[places[i].order] = is_first(places, i);
    return firsts;
}

static void add_run(struct collecting *all, const struct study_run *run) {
    if (run->evidence.level != EVIDENCE_MEASURED)
        return;
    for (size_t i = 0; i < all->run_count; i++)
        if (all->runs[i] == run->run)
            return;
    all->runs[all->run_count++] = run->run;
}

static const char *unit_of(const struct quantity *q) {
    return q->unit && *q->unit ? q->unit : UNIT_RATIO;
}

static struct values *values_of(struct collecting *all, const char *name, const char *unit,
                                const char *method) {
    for (size_t i = 0; i < all->count; i++) {
        struct values *values = &all->values[i];
        if (strcmp(values->name, name) == 0 &&
            (values->count == 0 ||
             (strcmp(values->unit, unit) == 0 && strcmp(values->method, method) == 0)))
            return values;
    }
    if (all->count == all->room)
        return NULL;
    struct values *values = &all->values[all->count++];
    *values = (struct values){.name = name, .unit = unit, .method = method};
    values->items = arena_alloc(all->arena, (all->run_count + 1) * sizeof(double));
    values->sources = arena_alloc(all->arena, (all->run_count + 1) * sizeof(char *));
    return values;
}

/* Names the plan's metrics first, in its order. */
static void expect(struct collecting *all, const struct plan_block *block) {
    for (size_t i = 0; i < block->result_count; i++) {
        const struct plan_result *result = &block->results[i];
        bool is_new = result->name != NULL;
        for (size_t k = 0; is_new && k < all->count; k++)
            is_new = strcmp(all->values[k].name, result->name) != 0;
        struct values *values =
            is_new ? values_of(all, result->name, result->unit ? result->unit : UNIT_RATIO, "")
                   : NULL;
        if (values)
            values->unknown =
                quantity_open(values->unit, QUANTITY_NO_EVIDENCE,
                              all->run_count == 0 ? _("no run that counts yet")
                                                  : _("no run that counts reported it"));
    }
}

static void take(struct collecting *all, const struct run *run) {
    for (size_t i = 0; i < run->result_count; i++) {
        const struct quantity *q = &run->results[i].quantity;
        const char *method = q->method ? q->method : "";
        struct values *values =
            run->results[i].name ? values_of(all, run->results[i].name, unit_of(q), method) : NULL;
        if (!values || values->count == all->run_count)
            continue;
        if (!quantity_is_known(q) || q->bound != QUANTITY_EXACT || !isfinite(q->value)) {
            if (values->count == 0 && !quantity_is_known(q))
                values->unknown = *q;
            else if (values->count == 0)
                values->unknown =
                    quantity_open(unit_of(q), QUANTITY_NOT_IN_RECORD, _("only a bound is known"));
            continue;
        }
        values->unit = unit_of(q);
        values->method = method;
        values->sources[values->count] = run->id ? run->id : "";
        values->items[values->count++] = q->value;
    }
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct document_result result_of(const struct collecting *all, const struct values *values,
                                        const struct study_condition *condition,
                                        const char *blocks) {
    struct document_result result = {.condition = condition->condition,
                                     .blocks = blocks,
                                     .name = values->name,
                                     .value = values->unknown};
    size_t n = values->count;
    if (n == 0)
        return result;
    double *sorted = arena_alloc(all->arena, n * sizeof(*sorted));
    memcpy(sorted, values->items, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), compare_doubles);
    double median = n % 2 ? sorted[n / 2] : 0.5 * sorted[n / 2 - 1] + 0.5 * sorted[n / 2];
    result.obtained = *values->method ? values->method : NULL;
    result.value = quantity_measured(
        values->unit, median,
        n == 1 || !result.obtained
            ? result.obtained
            : arena_printf(all->arena, _("median of the runs' results (%s)"), result.obtained));
    result.value.n = n;
    result.value.sources = values->sources;
    result.value.source_count = n;
    result.least = sorted[0];
    result.most = sorted[n - 1];
    return result;
}

/* Everything about the condition, whichever blocks have it. */
static const char *collect(struct collecting *all, const struct place *places, size_t count) {
    AUTO_STRBUF struct strbuf blocks = STRBUF_INIT;
    size_t runs = 0;
    for (size_t i = 0; i < count; i++)
        runs += places[i].condition->run_count;
    all->runs = arena_alloc(all->arena, (runs + 1) * sizeof(*all->runs));
    for (size_t i = 0; i < count; i++) {
        const struct study_condition *condition = places[i].condition;
        strbuf_add_next(&blocks, ", ", places[i].block->block->id);
        for (size_t r = 0; r < condition->run_count; r++)
            add_run(all, condition->runs[r]);
        all->room += places[i].block->block->result_count;
    }
    for (size_t i = 0; i < all->run_count; i++)
        all->room += all->runs[i]->result_count;
    all->values = arena_alloc(all->arena, (all->room + 1) * sizeof(*all->values));
    for (size_t i = 0; i < count; i++)
        expect(all, places[i].block->block);
    for (size_t i = 0; i < all->run_count; i++)
        take(all, all->runs[i]);
    return arena_strdup(all->arena, strbuf_str(&blocks));
}

size_t document_results(const struct study *study, struct arena *arena,
                        struct document_result **ret_results) {
    struct place *places = NULL;
    size_t conditions = find_places(study, arena, &places), count = 0, room = 0;
    /* by the order of the first place; without an id: another block's */
    struct collecting *all = arena_alloc(arena, (conditions + 1) * sizeof(*all));
    const char **blocks = arena_alloc(arena, (conditions + 1) * sizeof(*blocks));
    const struct study_condition **firsts = arena_alloc(arena, (conditions + 1) * sizeof(*firsts));
    for (size_t i = 0, next; i < conditions; i = next) {
        for (next = i + 1; next < conditions && !is_first(places, next);)
            next++;
        size_t at = places[i].order;
        all[at] = (struct collecting){.arena = arena, .study = study, .id = places[i].id};
        firsts[at] = places[i].condition;
        blocks[at] = collect(&all[at], places + i, next - i);
        room += all[at].count;
    }
    *ret_results = arena_alloc(arena, (room + 1) * sizeof(**ret_results));
    for (size_t at = 0; at < conditions; at++)
        for (size_t i = 0; all[at].id && i < all[at].count; i++)
            (*ret_results)[count++] =
                result_of(&all[at], &all[at].values[i], firsts[at], blocks[at]);
    return count;
}

/* ---- Markdown ---- */

/* How all of them were obtained, or NULL where that differs. */
static const char *same_way(const struct document_result *results, size_t count) {
    const char *way = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!quantity_is_known(&results[i].value))
            continue;
        const char *own = results[i].obtained ? results[i].obtained : "";
        if (way && strcmp(way, own) != 0)
            return NULL;
        way = own;
    }
    return way && *way ? way : NULL;
}

static const char *way_text(const char *obtained) {
    if (!obtained)
        return _("not said");
    return strcmp(obtained, "mark") == 0 ? _("a mark that the run set") : obtained;
}

static void range_cell(const struct document_result *result, struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (result->value.n < 2) {
        markdown_cell(out, "-");
        return;
    }
    quantity_format_value(result->least, result->value.unit, &text);
    strbuf_add_str(&text, _(" to "));
    quantity_format_value(result->most, result->value.unit, &text);
    strbuf_add_str(out, "| [m] "); /* both were read in runs */
    markdown_add(out, strbuf_str(&text));
    strbuf_add_char(out, ' ');
}

static void known(const struct document_result *results, size_t count, struct strbuf *out) {
    const char *way = same_way(results, count);
    const char *const titles[] = {_("block"),      _("condition"),          _("result"),
                                  _("median"),     _("from least to most"), _("runs"),
                                  _("obtained by")};
    AUTO_STRBUF struct strbuf intro = STRBUF_INIT;
    strbuf_add_str(&intro, _("What the runs that count reported: per condition the median of its "
                             "runs, the least and the most. "));
    if (way)
        strbuf_printf(&intro, _("All of it was obtained by %s."), way_text(way));
    else
        strbuf_add_str(&intro, _("What was obtained in different ways stands in rows of its own."));
    markdown_paragraph(out, strbuf_str(&intro));
    markdown_table(out, titles, ARRAY_LENGTH(titles) - (way ? 1 : 0));
    for (size_t i = 0; i < count; i++) {
        const struct document_result *result = &results[i];
        if (!quantity_is_known(&result->value))
            continue;
        markdown_cell(out, result->blocks);
        markdown_cell(out, result->condition->label);
        markdown_cell(out, result->name);
        markdown_cell_quantity(out, &result->value, true);
        range_cell(result, out);
        markdown_cell_count(out, true, result->value.n);
        if (!way)
            markdown_cell(out, way_text(result->obtained));
        markdown_end_row(out);
    }
    strbuf_add_char(out, '\n');
}

static const char *why_open(const struct document_result *result) {
    return result->value.detail ? result->value.detail : quantity_reason_name(result->value.reason);
}

/* The names that are open for this condition and reason. */
static const char *open_names(const struct document_result *results, size_t count, size_t first,
                              struct arena *arena) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    for (size_t i = first; i < count && results[i].condition == results[first].condition; i++)
        if (!quantity_is_known(&results[i].value) &&
            strcmp(why_open(&results[i]), why_open(&results[first])) == 0)
            strbuf_add_next(&names, ", ", results[i].name);
    return arena_strdup(arena, strbuf_str(&names));
}

/* One line for all conditions in which the same is open for the same reason. */
static void open_ones(const struct document_result *results, size_t count, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    bool *told = arena_alloc(arena, count + 1);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (told[i] || quantity_is_known(&results[i].value))
            continue;
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        const char *names = open_names(results, count, i, arena);
        size_t conditions = 0;
        for (size_t k = i; k < count; k++) {
            if (quantity_is_known(&results[k].value) || told[k] ||
                strcmp(results[k].blocks, results[i].blocks) != 0 ||
                strcmp(why_open(&results[k]), why_open(&results[i])) != 0 ||
                strcmp(open_names(results, count, k, arena), names) != 0)
                continue;
            strbuf_printf(&text, "%s%s", conditions++ > 0 ? "; " : "", results[k].condition->label);
            for (size_t n = k; n < count && results[n].condition == results[k].condition; n++)
                told[n] = told[n] || (!quantity_is_known(&results[n].value) &&
                                      strcmp(why_open(&results[n]), why_open(&results[k])) == 0);
        }
        if (!any)
            markdown_paragraph(out, _("Open is what the plan names and none of them gave:"));
        any = true;
        strbuf_add_str(out, "- [?] ");
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;
        strbuf_printf(&line, "%s: %s: %s (%s)", results[i].blocks, names, why_open(&results[i]),
                      strbuf_str(&text));
        markdown_add(out, strbuf_str(&line));
        strbuf_add_char(out, '\n');
    }
}

void document_markdown_results(const struct report_document *document, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct document_result *results = NULL;
    size_t count = document_results(document->study, arena, &results);
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = any || quantity_is_known(&results[i].value);
    markdown_heading(out, 2, _("Results"));
    if (any)
        known(results, count, out);
    else
        markdown_paragraph(out, _("No run that counts reported a result yet."));
    open_ones(results, count, out);
}
