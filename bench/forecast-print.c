/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renders; every number comes from forecast-table or forecast-verdict. */
#include "forecast-print.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

/* ---- text ---- */

static void add_number(struct strbuf *out, int width, int digits, double value) {
    if (isnan(value))
        strbuf_printf(out, " %*s", width, "-");
    else
        strbuf_printf(out, " %*.*f", width, digits, value);
}

static void add_cell_name(struct strbuf *out, const struct forecast_table *table, size_t source,
                          size_t k) {
    strbuf_printf(out, "%-18s %zu %7zu", forecast_table_source(table, source), k,
                  forecast_table_cases(table, source, k));
}

static double score_of(const struct forecast_table *table, size_t source, size_t k, size_t method) {
    return forecast_table_score(table, source, k, method).score;
}
static double mdape_of(const struct forecast_table *table, size_t source, size_t k, size_t method) {
    return 100.0 * forecast_table_score(table, source, k, method).mdape;
}
static double coverage_of(const struct forecast_table *table, size_t source, size_t k,
                          size_t method) {
    return 100.0 * forecast_table_score(table, source, k, method).coverage;
}
static double width_of(const struct forecast_table *table, size_t source, size_t k, size_t method) {
    return forecast_table_score(table, source, k, method).width;
}
static double summary_score(const struct forecast_summary *sum) {
    return sum->score;
}
static double summary_mdape(const struct forecast_summary *sum) {
    return 100.0 * sum->mdape;
}
static double summary_coverage(const struct forecast_summary *sum) {
    return 100.0 * sum->coverage;
}
static double summary_width(const struct forecast_summary *sum) {
    return sum->width;
}

/* What a table shows, of each cell and of all of them. */
struct measure {
    const char *title;
    const char *last; /* what the last lines are */
    int digits;
    double (*of_cell)(const struct forecast_table *table, size_t source, size_t k, size_t method);
    double (*of_all)(const struct forecast_summary *summary);
};
static const struct measure scores = {"Interval score", "geo.mean", 3, score_of, summary_score};
static const struct measure coverages = {"Coverage, %", "mean", 1, coverage_of, summary_coverage};
static const struct measure widths = {"Width to the actual, mean where there is an interval",
                                      "geo.mean", 3, width_of, summary_width};
static const struct measure mdapes = {"MdAPE, %", "geo.mean", 2, mdape_of, summary_mdape};

/* Which methods are shown beside ours, and how they are called. */
struct view {
    const struct forecast_table *table;
    const struct forecast_table *counted; /* whose cases decide about the last lines */
    const char *(*name)(size_t method);
    size_t from, to; /* methods [from, to) */
    size_t least;    /* cases that a source needs for the last lines */
};

static void add_cell(struct strbuf *out, const struct view *view, const struct measure *measure,
                     size_t source, size_t k) {
    add_cell_name(out, view->table, source, k);
    add_number(out, 9, measure->digits,
               measure->of_cell(view->table, source, k, FORECAST_METHOD_OURS));
    for (size_t method = view->from; method < view->to; method++)
        add_number(out, 16, measure->digits, measure->of_cell(view->table, source, k, method));
    strbuf_add_char(out, '\n');
}

static void add_all(struct strbuf *out, const struct view *view, const struct measure *measure,
                    size_t k) {
    struct forecast_summary ours =
        forecast_table_summary(view->table, view->counted, k, FORECAST_METHOD_OURS, view->least);
    strbuf_printf(out, "%-18s %zu %7zu", measure->last, k, ours.sources);
    add_number(out, 9, measure->digits, measure->of_all(&ours));
    for (size_t method = view->from; method < view->to; method++) {
        struct forecast_summary one =
            forecast_table_summary(view->table, view->counted, k, method, view->least);
        add_number(out, 16, measure->digits, measure->of_all(&one));
    }
    strbuf_add_char(out, '\n');
}

static void add_measure(struct strbuf *out, const struct view *view,
                        const struct measure *measure) {
    strbuf_printf(out, "\n%s\n%-18s k  groups  forecast", measure->title, "source");
    for (size_t method = view->from; method < view->to; method++)
        strbuf_printf(out, " %16s", view->name(method));
    strbuf_add_char(out, '\n');
    for (size_t s = 0; s < forecast_table_sources(view->table); s++)
        for (size_t k = 1; k <= FORECAST_K_MAX; k++)
            if (forecast_table_cases(view->table, s, k) > 0)
                add_cell(out, view, measure, s, k);
    for (size_t k = 1; k <= FORECAST_K_MAX; k++)
        add_all(out, view, measure, k);
}

static void add_ours(struct strbuf *out, const struct forecast_result *result) {
    strbuf_printf(out,
                  "Forecast\n%-18s k  groups   MdAPE%% coverage%% +-2.6SE    width    score "
                  "no-interval\n",
                  "source");
    for (size_t s = 0; s < forecast_table_sources(result->groups); s++)
        for (size_t k = 1; k <= FORECAST_K_MAX; k++) {
            struct forecast_score score =
                forecast_table_score(result->groups, s, k, FORECAST_METHOD_OURS);
            if (forecast_table_cases(result->groups, s, k) == 0)
                continue;
            add_cell_name(out, result->groups, s, k);
            add_number(out, 8, 2, 100.0 * score.mdape);
            add_number(out, 9, 1, 100.0 * score.coverage);
            add_number(out, 7, 1,
                       score.cases > 0 ? 100.0 * forecast_coverage_error(score.cases) : NAN);
            add_number(out, 8, 3, score.width);
            add_number(out, 8, 3, score.score);
            strbuf_printf(out, " %11zu%s\n", score.no_interval,
                          score.cases > 0 && !forecast_cell_is_near(result, s, k) ? "  off 90 %"
                                                                                  : "");
        }
}

static void add_groups(struct strbuf *out, const struct forecast_result *result) {
    struct view intervals = {
        result->groups, result->groups, forecast_method_name, 1, 1 + FORECAST_BASELINE_FIRST_NAIVE,
        result->least};
    struct view naive = {result->groups,
                         result->groups,
                         forecast_method_name,
                         1 + FORECAST_BASELINE_FIRST_NAIVE,
                         2 + FORECAST_BASELINE_LAST_NAIVE,
                         result->least};

    if (result->has_ours)
        add_ours(out, result);
    strbuf_printf(out,
                  "\nThe last lines of each table are over the sources with %zu groups and more; "
                  "\"groups\" counts them.\n",
                  result->least);
    add_measure(out, &intervals, &scores);
    add_measure(out, &intervals, &coverages);
    add_measure(out, &intervals, &widths);
    add_measure(out, &naive, &mdapes);
    strbuf_printf(out, "%-18s - %7s", "all k", "-");
    add_number(out, 9, 2, 100.0 * forecast_mean_mdape(result, FORECAST_METHOD_OURS));
    for (size_t method = naive.from; method < naive.to; method++)
        add_number(out, 16, 2, 100.0 * forecast_mean_mdape(result, method));
    strbuf_add_char(out, '\n');
}

static void add_matrices(struct strbuf *out, const struct forecast_result *result) {
    struct view view = {result->matrices,
                        result->groups,
                        forecast_matrix_method_name,
                        1,
                        FORECAST_MATRIX_METHOD_COUNT,
                        result->least};

    if (forecast_table_sources(result->matrices) == 0)
        return;
    strbuf_add_str(
        out, "\nMatrices of 4 to 8 conditions (\"groups\" counts matrices, of 100 a direction)\n");
    add_measure(out, &view, &scores);
    add_measure(out, &view, &coverages);
    add_measure(out, &view, &widths);
}

static void add_verdicts(struct strbuf *out, const struct forecast_result *result) {
    struct forecast_verdict verdicts[FORECAST_VERDICTS_MAX];
    size_t count = forecast_verdicts(result, verdicts);

    for (size_t i = 0; i < count; i++) {
        strbuf_add_str(out, i == 0 ? "\nVerdicts\n" : "");
        add_number(out, 8, 3, verdicts[i].value);
        strbuf_printf(out, "  %s (%g to %g): %s\n", verdicts[i].ok ? "ok    " : "not ok",
                      verdicts[i].least, verdicts[i].most, verdicts[i].text);
    }
}

void forecast_print_text(const struct forecast_result *result, struct strbuf *out) {
    add_groups(out, result);
    add_matrices(out, result);
    add_verdicts(out, result);
}

/* ---- JSON ---- */

static void put_number(json_t *object, const char *key, double value) {
    if (isnan(value) || isinf(value))
        json_put(object, key, json_null());
    else
        json_put_real(object, key, value);
}

static json_t *score_json(const struct forecast_score *score) {
    json_t *object = json_object();
    json_put_int(object, "no_interval", (int64_t)score->no_interval);
    put_number(object, "mdape", score->mdape);
    put_number(object, "coverage", score->coverage);
    put_number(object, "width", score->width);
    put_number(object, "score", score->score);
    return object;
}

static json_t *table_json(const struct forecast_table *table, size_t methods,
                          const char *(*name)(size_t)) {
    json_t *cells = json_array();
    for (size_t s = 0; s < forecast_table_sources(table); s++)
        for (size_t k = 1; k <= FORECAST_K_MAX; k++) {
            if (forecast_table_cases(table, s, k) == 0)
                continue;
            json_t *cell = json_object(), *methods_json = json_object();
            json_put_text(cell, "source", forecast_table_source(table, s));
            json_put_int(cell, "k", (int64_t)k);
            json_put_int(cell, "cases", (int64_t)forecast_table_cases(table, s, k));
            for (size_t method = 0; method < methods; method++) {
                struct forecast_score score = forecast_table_score(table, s, k, method);
                if (score.cases > 0)
                    json_put(methods_json, name(method), score_json(&score));
            }
            json_put(cell, "methods", methods_json);
            json_array_append_new(cells, cell);
        }
    return cells;
}

static json_t *summaries_json(const struct forecast_table *table,
                              const struct forecast_table *counted, size_t methods,
                              const char *(*name)(size_t), size_t least) {
    json_t *list = json_array();
    for (size_t k = 1; k <= FORECAST_K_MAX; k++)
        for (size_t method = 0; method < methods; method++) {
            struct forecast_summary sum = forecast_table_summary(table, counted, k, method, least);
            json_t *one = json_object();
            if (isnan(sum.score)) {
                json_decref(one);
                continue;
            }
            json_put_int(one, "k", (int64_t)k);
            json_put_text(one, "method", name(method));
            json_put_int(one, "sources", (int64_t)sum.sources);
            put_number(one, "coverage", sum.coverage);
            put_number(one, "score", sum.score);
            put_number(one, "width", sum.width);
            put_number(one, "mdape", sum.mdape);
            json_array_append_new(list, one);
        }
    return list;
}

static json_t *verdicts_json(const struct forecast_result *result) {
    struct forecast_verdict verdicts[FORECAST_VERDICTS_MAX];
    size_t count = forecast_verdicts(result, verdicts);
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *one = json_object();
        json_put_text(one, "text", verdicts[i].text);
        put_number(one, "value", verdicts[i].value);
        json_put_real(one, "least", verdicts[i].least);
        json_put_real(one, "most", verdicts[i].most);
        json_put_bool(one, "ok", verdicts[i].ok);
        json_array_append_new(list, one);
    }
    return list;
}

void forecast_print_json(const struct forecast_result *result, struct strbuf *out) {
    AUTO_JSON json_t *document = json_object();

    json_put_text(document, "bench", "forecast-score");
    json_put_int(document, "min_groups", (int64_t)result->least);
    if (result->has_ours)
        json_put_int(document, "missing", (int64_t)result->missing);
    if (result->has_matrices)
        json_put_int(document, "missing_matrices", (int64_t)result->missing_matrices);
    json_put(document, "cells",
             table_json(result->groups, FORECAST_METHOD_COUNT, forecast_method_name));
    json_put(document, "summary",
             summaries_json(result->groups, result->groups, FORECAST_METHOD_COUNT,
                            forecast_method_name, result->least));
    json_put(
        document, "matrices",
        table_json(result->matrices, FORECAST_MATRIX_METHOD_COUNT, forecast_matrix_method_name));
    json_put(document, "matrices_summary",
             summaries_json(result->matrices, result->groups, FORECAST_MATRIX_METHOD_COUNT,
                            forecast_matrix_method_name, result->least));
    json_put(document, "verdicts", verdicts_json(result));
    json_add_compact(out, document);
    strbuf_add_char(out, '\n');
}
