/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What holds of every report of whatever study, in every form and language: no total without its
 * assumptions and open parts, no amount of money without an offer that can be used, no figure
 * without the mark of its state, nothing of one environment under another. The studies come from
 * generate-study.h; one that fails prints its seed:
 *
 *     PROBELAUF_STUDY_SEED=17 test-report-properties      that study alone
 *     PROBELAUF_STUDIES=5000 test-report-properties       more of them
 */
#include "../base/testing.h"

#include "../slow.h"
#include "generate-study.h"
#include "report/decide.h"
#include "report/markdown.h"
#include "report/review.h"
#include "scan-figures.h"
#include "scan-json.h"

#include "base/json.h"
#include "base/msg.h"
#include "base/str.h"

#include <string.h>

#define STUDIES (IS_SLOW ? 50u : 500u)

#define FAILURES_SHOWN 3u /* in full */

static const char *const languages[] = {"en", "de", "fr", "ko"};

struct checking {
    const struct generated *g;
    const struct generated_view *view;
    const char *environment, *language, *form; /* what is looked at */
    struct strbuf wrong;
    size_t figures; /* that were looked at */
};

static void add_wrong(struct checking *c, const char *what, const char *detail) {
    if (c->wrong.length < 60000)
        strbuf_printf(&c->wrong, "[%s, %s, %s] %s: %s\n",
                      c->environment ? c->environment : "no environment", c->language, c->form,
                      what, detail);
}

/* ---- Markdown ---- */

static bool says(const char *document, const char *text) {
    AUTO_STRBUF struct strbuf escaped = STRBUF_INIT;
    markdown_add(&escaped, text);
    return strstr(document, strbuf_str(&escaped)) != NULL;
}

/* Totals never stand alone: what they rest on and what they lack is in the same document. */
static void check_company(struct checking *c, const char *document) {
    const struct estimate *estimate = &c->view->estimate;
    for (size_t i = 0; i < estimate->open_count; i++)
        if (!says(document, estimate->open[i].what))
            add_wrong(c, "an open part is not named", estimate->open[i].what);
    for (size_t i = 0; i < c->g->plan->assumption_count; i++)
        if (!says(document, c->g->plan->assumptions[i].key))
            add_wrong(c, "an assumption is not named", c->g->plan->assumptions[i].key);
    for (size_t i = 0; estimate->provisional && i < estimate->provisional_count; i++)
        if (!says(document, estimate->provisional_reasons[i]))
            add_wrong(c, "not said why it is provisional", estimate->provisional_reasons[i]);
}

static void check_figures(struct checking *c, const char *document) {
    AUTO_STRBUF struct strbuf wrong = STRBUF_INIT;
    struct scanned found = scan_figures(document, &wrong);
    c->figures += found.figures;
    if (wrong.length > 0)
        add_wrong(c, "a figure without its mark", strbuf_str(&wrong));
    if (!generated_has_usable(c->g, c->environment) && found.money > 0)
        add_wrong(c, "an amount", "no offer of this environment can be used");
}

static void check_markdown(struct checking *c) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    c->form = "report, Markdown";
    report_document_markdown(&c->view->document, &out);
    check_figures(c, strbuf_str(&out));
    check_company(c, strbuf_str(&out));
}

/* The same in a terminal so wide that no line is broken. */
static void check_text(struct checking *c) {
    const struct report_style style = {.width = 4000, .verbose = true};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    c->form = "estimate, text";
    report_estimate_text(&c->view->estimate, c->view->document.cost, NULL, 0, style, &out);
    check_figures(c, strbuf_str(&out));
    strbuf_clear(&out);
    c->form = "decision, text";
    report_decide_text(&c->view->decision, NULL, 0, true, style, &out);
    check_figures(c, strbuf_str(&out));
    strbuf_clear(&out);
    c->form = "review, text";
    report_review_text(&c->view->review, style, &out);
    check_figures(c, strbuf_str(&out));
    strbuf_clear(&out);
    c->form = "experiment log, Markdown";
    report_review_log_markdown(&c->view->review, &out);
    check_figures(c, strbuf_str(&out));
}

/* What is handed to those who decide about machines. */
static void check_for(struct checking *c) {
    for (size_t i = 0; report_for_name(i); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        AUTO_FREE char *form = mem_printf("report --for %s", report_for_name(i));
        if (c->g->seed % 8 != i % 8)
            continue;
        c->form = form;
        report_for_markdown(&c->view->document, report_for_name(i), &out);
        check_figures(c, strbuf_str(&out));
    }
}

/* ---- CSV ---- */

/* Cells of a line (quotes doubled within quotes); returns behind it, NULL at the end. */
#define CELLS_MOST 24u
static const char *csv_line(const char *at, struct arena *arena, const char **cells,
                            size_t *ret_count) {
    *ret_count = 0;
    if (!*at)
        return NULL;
    for (;;) {
        AUTO_STRBUF struct strbuf cell = STRBUF_INIT;
        bool quoted = *at == '"';
        for (at += quoted; *at; at++) {
            if (quoted && at[0] == '"' && at[1] == '"')
                at++;
            else if (quoted ? *at == '"' : (*at == ',' || *at == '\r' || *at == '\n'))
                break;
            strbuf_add_char(&cell, *at);
        }
        at += quoted && *at == '"';
        if (*ret_count < CELLS_MOST)
            cells[(*ret_count)++] = arena_strdup(arena, strbuf_str(&cell));
        if (*at != ',')
            break;
        at++;
    }
    return at + strspn(at, "\r\n");
}

static const char *cell(const char *const *titles, const char *const *cells, size_t count,
                        const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(titles[i], name) == 0)
            return cells[i];
    return "";
}

static void check_csv(struct checking *c) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    const char *titles[CELLS_MOST], *cells[CELLS_MOST];
    size_t title_count = 0, count = 0;
    c->form = "report, CSV";
    report_document_csv(&c->view->document, &out);
    const char *at = csv_line(strbuf_str(&out), arena, titles, &title_count);
    while (at && (at = csv_line(at, arena, cells, &count)) != NULL) {
        if (count != title_count) {
            add_wrong(c, "a line with other cells than the head", cells[0]);
            continue;
        }
        const char *state = cell(titles, cells, count, "state");
        const char *value = cell(titles, cells, count, "value");
        const char *unit = cell(titles, cells, count, "unit");
        bool is_open = strcmp(state, "open") == 0;
        AUTO_FREE char *place = mem_printf("%s,%s,%s", cells[0], cells[1], cells[3]);
        c->figures++;
        if (*value && (!*state || is_open || !*unit))
            add_wrong(c, "a value without state and unit", place);
        if (is_open && !*cell(titles, cells, count, "reason"))
            add_wrong(c, "open without a reason", place);
        if (!is_open && *state && !*value)
            add_wrong(c, "known without a value", place);
        if (*value && scan_json_is_money(unit) && !generated_has_usable(c->g, c->environment))
            add_wrong(c, "an amount and no offer", place);
    }
}

/* ---- JSON ---- */

/* Nothing that is wrong in it may be in two documents: the report holds the estimate as `estimate`.
 */
static void check_json_document(struct checking *c, const char *form, const json_t *json,
                                const char *only_here) {
    struct scan_json scan = {
        .generated = c->g, .environment = c->environment, .only_here = only_here};
    c->form = form;
    scan_json(&scan, json);
    c->figures += scan.figures;
    if (scan.wrong.length > 0)
        add_wrong(c, "JSON", strbuf_str(&scan.wrong));
    strbuf_done(&scan.wrong);
}

static void check_totals(struct checking *c, const json_t *estimate) {
    AUTO_STRBUF struct strbuf wrong = STRBUF_INIT;
    c->form = "estimate, totals";
    scan_totals(estimate, &wrong);
    if (wrong.length > 0)
        add_wrong(c, "a total", strbuf_str(&wrong));
    for (size_t i = 0; i < c->g->plan->assumption_count; i++) {
        const char *key = c->g->plan->assumptions[i].key;
        if (!scan_has_setting(estimate, "assumed", key) &&
            !scan_has_setting(estimate, "without_effect", key))
            add_wrong(c, "an assumption is not listed", key);
    }
}

static void check_json(struct checking *c) {
    AUTO_JSON json_t *report = report_document_json(&c->view->document);
    AUTO_JSON json_t *blocks = report_blocks_json(&c->view->study);
    AUTO_JSON json_t *decision = report_decide_json(&c->view->decision);
    AUTO_JSON json_t *review = report_review_json(&c->view->review);
    AUTO_JSON json_t *request = report_for_json(&c->view->document, report_for_name(0));
    check_json_document(c, "report, JSON", report, "estimate");
    check_json_document(c, "decision, JSON", decision, "environments");
    check_json_document(c, "review, JSON", review, "blocks");
    check_json_document(c, "request, JSON", request, NULL);
    check_json_document(c, "block list, JSON", blocks, NULL);
    check_totals(c, json_get_object(report, "estimate"));
}

/* ---- environments ---- */

static json_t *figures_of(struct generated *g, size_t environment) {
    AUTO_GENERATED_VIEW struct generated_view view;
    generated_look(g, environment, &view);
    json_t *all = json_object(), *report = report_document_json(&view.document);
    static const char *const keys[] = {"claims", "results", "repeat_checks"};
    json_put(all, "estimate", report_estimate_json(&view.estimate, view.document.cost));
    json_put(all, "decision", report_decide_json(&view.decision));
    for (size_t i = 0; i < SCAN_JSON_PAST; i++)
        json_object_del(json_object_get(all, "estimate"), scan_json_past[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        json_put(all, keys[i], json_incref(json_object_get(report, keys[i])));
    json_decref(report);
    return all;
}

/* What was measured elsewhere can be anything: no figure of this environment changes. */
static void check_crossing(struct checking *c, uint64_t seed, const char *folder,
                           size_t environment) {
    AUTO_GENERATED struct generated other;
    AUTO_STRBUF struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
    generate_study(seed, folder, &other);
    AUTO_JSON json_t *before = figures_of(&other, environment);
    generated_change_elsewhere(&other, environment);
    AUTO_JSON json_t *after = figures_of(&other, environment);
    c->form = "estimate, claims, results";
    c->environment = other.plan->environments[environment].id;
    if (json_equal(before, after))
        return;
    json_add_pretty(&a, before);
    json_add_pretty(&b, after);
    const char *x = strbuf_str(&a), *y = strbuf_str(&b);
    size_t at = 0;
    while (x[at] && x[at] == y[at])
        at++;
    AUTO_FREE char *detail = mem_printf("…%.300s\n… became …%.300s", x + (at > 200 ? at - 200 : 0),
                                        y + (at > 200 ? at - 200 : 0));
    add_wrong(c, "a figure of this one changed with them", detail);
}

/* ---- all of it ---- */

struct tally {
    size_t figures, studies, failed;
};

static void check_study(uint64_t seed, const char *folder, struct tally *tally) {
    AUTO_GENERATED struct generated g;
    struct checking c = {.g = &g};
    generate_study(seed, folder, &g);
    size_t environments = g.environment_count > 0 ? g.environment_count : 1;
    for (size_t e = 0; e < environments; e++) {
        for (size_t l = 0; l < ARRAY_LENGTH(languages); l++) {
            if (l > 0 && e != seed % environments)
                continue; /* each study in each language, but not each of its environments */
            c.language = msg_set_language(languages[l]);
            AUTO_GENERATED_VIEW struct generated_view view;
            generated_look(&g, e, &view);
            c.view = &view;
            c.environment = view.environment;
            check_markdown(&c);
            if (e != seed % environments || seed % ARRAY_LENGTH(languages) != l)
                continue; /* what machines read is, but for texts, the same in every language */
            check_text(&c);
            check_for(&c);
            check_csv(&c);
            check_json(&c);
        }
    }
    c.language = msg_set_language("en");
    if (environments > 1)
        check_crossing(&c, seed, folder, seed % environments);
    tally->studies++;
    tally->figures += c.figures;
    tally->failed += c.wrong.length > 0;
    if (c.wrong.length > 0 && tally->failed <= FAILURES_SHOWN)
        fprintf(stderr, "%s\nPROBELAUF_STUDY_SEED=%llu shows it alone. Its plan:\n%s\n",
                strbuf_str(&c.wrong), (unsigned long long)seed, g.text);
    strbuf_done(&c.wrong);
}

static uint64_t number_from(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    uint64_t value = 0;
    if (!text || !*text)
        return otherwise;
    if (str_to_u64(text, &value) < 0)
        fail_msg("%s is no number", name);
    return value;
}

static void hold_of_every_study(void **state) {
    uint64_t alone = number_from("PROBELAUF_STUDY_SEED", 0);
    uint64_t studies = number_from("PROBELAUF_STUDIES", STUDIES);
    uint64_t from = alone > 0 ? alone : 1, to = alone > 0 ? alone : studies;
    struct tally tally = {0};
    for (uint64_t seed = from; seed <= to; seed++)
        check_study(seed, *state, &tally);
    print_message("seeds %llu to %llu: %zu figures, %zu of %zu studies failed\n",
                  (unsigned long long)from, (unsigned long long)to, tally.figures, tally.failed,
                  tally.studies);
    assert_true(tally.figures > 0);
    assert_int_equal(tally.failed, 0);
}

/* ---- the scanner itself ---- */

static void scanner_sees(void **state) {
    (void)state;
    static const struct {
        const char *line;
        size_t figures;
        bool wrong;
    } cases[] = {
        {"| [m] 12.3 s |", 1, false},
        {"| 12.3 s |", 1, true},
        {"| [e] \xe2\x89\xa5 1 h 02 min (50 min 10 s to 1 h 10 min, 90 %) |", 3, false},
        {"| [m] 1 GiB | 2 GiB |", 2, true},
        {"- reserved [e] 2 h 00 min, calendar 3 h 00 min", 2, true},
        {"- reserved [e] 2 h 00 min. It takes 3 h 00 min.", 2, true},
        {"- [a] 12.35 EUR; at least EUR 2.50", 2, true},
        {"- [?] open, of 3 GPU-hours", 1, false},
        {"- [m] 2 s to 3 s", 2, false},
        {"- [m] 2 s or 3 s", 2, true},
        {"- 3.5 hours of nothing", 1, true},
        {"- on 2026-11-30 in 7 runs with keep=30 min of H100 80GB, v2 see line 12", 0, false},
        {"- `probelauf run --max-time 2 h`", 0, false},
        {"- type \\`x 4 s\\` now", 1, true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        struct scanned found = scan_figures(cases[i].line, &out);
        if (found.figures != cases[i].figures || (out.length > 0) != cases[i].wrong)
            fail_msg("%zu figures, '%s' in: %s", found.figures, strbuf_str(&out), cases[i].line);
    }
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    struct scanned found =
        scan_figures("| [e] 12.35 EUR | 3 EUR | [?] 1 EUR | [m] NAIRR SU 7 |", &out);
    assert_int_equal(found.money, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scanner_sees),
        cmocka_unit_test_setup_teardown(hold_of_every_study, folder_setup, folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
