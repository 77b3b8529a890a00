/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks and estimates of a plan as people read them: golden pages, and rules that hold on every
 * page. */
#include "base/str.h"
#include "build-study.h"
#include "checks.h"
#include "report/decide.h"
#include "report/estimate-open.h"
#include "report/study-words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    struct report_style style;
} pages[] = {
    {"80", {.width = 80}},
    {"80-ascii", {.width = 80, .ascii = true}},
    {"40", {.width = 40}},
    {"120-verbose", {.width = 120, .verbose = true}},
};

/* No line is wider than the page, no control character, ASCII where it was asked for. */
static void check_page(const char *text, struct report_style style) {
    const char *line = text;
    while (*line) {
        size_t length = strcspn(line, "\n");
        AUTO_FREE char *one = mem_strndup(line, length);
        if (str_width(one) > (size_t)style.width)
            fail_msg("wider than %d: '%s'", style.width, one);
        if (length > 0 && line[length - 1] == ' ')
            fail_msg("blanks at the end: '%s'", one);
        for (const unsigned char *c = (const unsigned char *)one; *c; c++)
            if (*c < 32 || *c == 127 || (style.ascii && *c > 126))
                fail_msg("byte %u in '%s'", *c, one);
        line += length + (line[length] == '\n');
    }
}

static void pages_of(void (*render)(const struct built_study *, struct report_style,
                                    struct strbuf *),
                     const char *what) {
    for (int kind = 0; kind < BUILD_STUDY_COUNT_; kind++) {
        AUTO_BUILT_STUDY struct built_study built;
        build_study((enum build_study)kind, &built);
        for (size_t i = 0; i < ARRAY_LENGTH(pages); i++) {
            AUTO_STRBUF struct strbuf page = STRBUF_INIT;
            render(&built, pages[i].style, &page);
            check_page(strbuf_str(&page), pages[i].style);
            AUTO_FREE char *name =
                mem_printf("%s-%s-%s.txt", what, build_study_names[kind], pages[i].name);
            check_golden(name, &page);
        }
    }
}

static void render_blocks(const struct built_study *built, struct report_style style,
                          struct strbuf *out) {
    report_blocks_text(&built->study, style, out);
}

static void render_estimate(const struct built_study *built, struct report_style style,
                            struct strbuf *out) {
    report_estimate_text(&built->estimate, &built->cost, built->frozen,
                         built->document.frozen_count, style, out);
}

static void render_decide(const struct built_study *built, struct report_style style,
                          struct strbuf *out) {
    report_decide_text(&built->decision, NULL, 0, false, style, out);
}

static void decide_pages(void **state) {
    (void)state;
    pages_of(render_decide, "decide");
}

static void blocks_pages(void **state) {
    (void)state;
    pages_of(render_blocks, "blocks");
}

static void estimate_pages(void **state) {
    (void)state;
    pages_of(render_estimate, "estimate");
}

static bool is_figure_line(const char *line, const char *name) {
    return strncmp(line, name, strlen(name)) == 0 && strstr(line, "[e]") != NULL;
}

/* Widest durations in all columns: the table stays one on a page of 80 columns. */
static void the_table_fits_its_page(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    struct estimate_figures *total = &built.estimate.total;
    struct quantity *wide[] = {&total->computing, &total->reserved, &total->calendar};
    for (size_t i = 0; i < ARRAY_LENGTH(wide); i++) {
        wide[i]->value = 59 * 60 + 58; /* "59 min 58 s" */
        wide[i]->has_interval = false;
    }
    for (int ascii = 0; ascii < 2; ascii++) {
        AUTO_STRBUF struct strbuf page = STRBUF_INIT;
        report_estimate_text(&built.estimate, &built.cost, NULL, 0,
                             (struct report_style){.width = 80, .ascii = ascii == 1}, &page);
        bool found = false;
        for (const char *line = strbuf_str(&page); line; line = strchr(line, '\n')) {
            line += *line == '\n';
            found = found || is_figure_line(line, "in all  ");
        }
        assert_true(found);
    }
}

/* An assumption stands under the total it is in; an interval of a lower bound is explained. */
static void a_total_names_its_assumptions(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_estimate_text(&built.estimate, &built.cost, NULL, 0, (struct report_style){.width = 200},
                         &page);
    const char *text = strbuf_str(&page);
    const char *heading = strstr(text, "\nAssumptions in these figures\n");
    const char *blocks = strstr(text, "\nBlocks\n");
    assert_true(heading && blocks && heading < blocks);
    assert_non_null(strstr(text,
                           "  - task read-the-texts = [a] 1 h 00 min, by D. Muster, 2026-11-29: "
                           "four texts (probelauf.yaml:80)\n"));
    assert_non_null(strstr(text, "With ≥, the interval is that of the parts that are in it."));
    struct quantity exact = quantity_measured(UNIT_SECOND, 1, "test");
    built.estimate.total =
        (struct estimate_figures){exact, exact, exact, exact, built.estimate.total.gpu};
    for (size_t i = 0; i < built.estimate.block_count; i++)
        built.estimate.blocks[i].figures = built.estimate.total;
    strbuf_clear(&page);
    report_estimate_text(&built.estimate, &built.cost, NULL, 0, (struct report_style){.width = 200},
                         &page);
    assert_null(strstr(strbuf_str(&page), "With ≥"));
}

/* A total never stands without what is not in it (D7). */
static void a_total_names_its_open_parts(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_TEN, &built);
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_estimate_text(&built.estimate, &built.cost, NULL, 0, (struct report_style){.width = 200},
                         &page);
    AUTO_FREE char *count =
        mem_printf("%zu parts are not in these figures", built.estimate.open_count);
    assert_non_null(strstr(strbuf_str(&page), count));
    const char *list = strstr(strbuf_str(&page), "Open: not in these figures");
    assert_non_null(list);
    for (size_t i = 0; i < built.estimate.open_count; i++) {
        assert_non_null(strstr(list, built.estimate.open[i].what));
        assert_non_null(strstr(list, study_words_component(built.estimate.open[i].component)));
    }
    assert_null(strstr(strbuf_str(&page), " hours ("));
}

static bool has_open_line(const struct open_line *lines, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i].text, text) == 0)
            return true;
    for (size_t i = 0; i < count; i++)
        print_message("  %s\n", lines[i].text);
    return false;
}

/* Components of the same blocks, and blocks with the same components, stand on one line. */
static void open_parts_are_said_once(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    struct open_line *lines;
    size_t count = open_lines(&built.estimate, OPEN_BRIEF, built.arena, &lines);
    assert_true(has_open_line(lines, count, "all blocks: data, fixing: not seen"));
    assert_true(has_open_line(lines, count, "all blocks: idle: not recorded yet"));
    assert_true(has_open_line(lines, count,
                              "compare: preparation: step install: counted as if it needed the "
                              "rented machine, which is not said"));
    assert_true(has_open_line(lines, count,
                              "checking: task read-the-texts: the plan does not say how long it "
                              "takes"));
    for (size_t i = 0; i < count; i++) {
        bool is_new = i == 0 || lines[i].remedy != lines[i - 1].remedy;
        for (size_t k = 0; k < i && is_new; k++) /* what is closed alike stands together */
            assert_ptr_not_equal(lines[k].remedy, lines[i].remedy);
        if (strstr(lines[i].text, "data, fixing"))
            assert_non_null(strstr(lines[i].remedy, "--set '*.data=TIME', '*.fixing=TIME'"));
        if (strstr(lines[i].text, "idle"))
            assert_string_equal(lines[i].remedy, "assume it with --set '*.idle=TIME'");
    }
}

/* A freeze that a wrong clock dated is not left out silently. */
static void an_ignored_freeze_is_said(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    const struct evidence_freeze freeze = {.id = "019d0c5a-7e3b-7a41-9c2e-1f60f00dcafe",
                                           .utc_ns = INT64_C(4102444800) * 1000000000};
    built.study.blocks[0].freeze_ignored = &freeze;
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_blocks_text(&built.study, (struct report_style){.width = 200}, &page);
    AUTO_FREE char *line = mem_printf(
        "warning: 2100-01-01 00:00:00 UTC (f00dcafe) is after now, so this freeze is ignored: the "
        "clock was wrong then, or is now; 'probelauf block freeze %s' replaces it",
        built.study.blocks[0].block->id);
    assert_non_null(strstr(strbuf_str(&page), line));
    AUTO_JSON json_t *json = report_blocks_json(&built.study);
    const json_t *ignored =
        json_object_get(json_array_get(json_get_array(json, "blocks"), 0), "freeze_ignored");
    assert_string_equal(json_get_text(ignored, "event", ""), freeze.id);
    assert_string_equal(json_get_text(ignored, "utc", ""), "2100-01-01T00:00:00.000Z");
}

/* Where nothing was run, nothing took 0 s. */
static void nothing_spent_is_no_time(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    built.study.spent = built.study.failed_time = built.study.unplanned_time =
        quantity_measured(UNIT_SECOND, 0, "there is no such run");
    built.study.here.spent = built.study.here.failed_time = built.study.spent;
    built.study.elsewhere = built.study.here;
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_estimate_text(&built.estimate, &built.cost, NULL, 0, (struct report_style){.width = 80},
                         &page);
    assert_non_null(strstr(strbuf_str(&page), "nothing yet: no run"));
    AUTO_STRBUF struct strbuf markdown = STRBUF_INIT;
    report_document_markdown(&built.document, &markdown);
    static const char *const labels[] = {"time spent so far", "of it in failed attempts",
                                         "of it in runs that nobody planned"};
    for (size_t i = 0; i < ARRAY_LENGTH(labels); i++) {
        AUTO_FREE char *line = mem_printf("- **%s:** nothing yet: no run\n", labels[i]);
        assert_non_null(strstr(strbuf_str(&markdown), line));
    }
}

/* A block that is done is one line, not nine of 0 s. */
static void what_is_done_is_one_line(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    for (size_t i = 0; i < COMPONENT_COUNT_; i++)
        built.estimate.blocks[0].components[i] = (struct estimate_component){
            .component = (enum component)i,
            .time = quantity_measured(UNIT_SECOND, 0, "nothing left to run")};
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_estimate_text(&built.estimate, &built.cost, NULL, 0, (struct report_style){.width = 80},
                         &page);
    assert_non_null(strstr(strbuf_str(&page), "nothing left      [m] of all nine parts"));
    AUTO_STRBUF struct strbuf markdown = STRBUF_INIT;
    report_document_markdown(&built.document, &markdown);
    const char *row = strstr(strbuf_str(&markdown), "| preparation, data, transfer, runs, ");
    assert_non_null(row);
    assert_non_null(strstr(row, "| [m] 0 s | nothing left to run |"));
}

static void check_hours(struct quantity seconds, bool of_gpus, const char *expected) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct quantity hours = study_words_hours(&seconds, of_gpus);
    quantity_format(&hours, (struct quantity_style){0}, &text);
    assert_string_equal(strbuf_str(&text), expected);
}

/* Hours for people: never more digits than they mean, never whose hours they are left out. */
static void hours_are_short(void **state) {
    (void)state;
    check_hours(quantity_measured(UNIT_SECOND, 357.23, NULL), false, "0.1 wall hours");
    check_hours(quantity_measured(UNIT_SECOND, 44444, NULL), true, "12.35 GPU-hours");
    check_hours(quantity_measured(UNIT_SECOND, 36, NULL), false, "0.01 wall hours");
    check_hours(quantity_measured(UNIT_SECOND, 0.00379, NULL), false, "3.79 ms");
    check_hours(quantity_bounded(UNIT_SECOND, 35.9, QUANTITY_AT_LEAST, NULL), true, "≥ 35.9 s");
    check_hours(quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, NULL), true, "open (no evidence)");
}

/* A change of a total is shown with its interval, for which the table has no room. */
static void changed_totals_have_intervals(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    AUTO_JSON json_t *before = report_estimate_json(&built.estimate, &built.cost);
    built.estimate.total.computing.state = QUANTITY_ASSUMED;
    built.estimate.total.computing.p95 += 60;
    AUTO_JSON json_t *after = report_estimate_json(&built.estimate, &built.cost);
    AUTO_JSON json_t *compare = report_estimate_compare_json(before, after, NULL);
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_estimate_compare_text(compare, (struct report_style){.width = 80}, &page);
    const char *totals = strstr(strbuf_str(&page), "Changed totals, with their intervals\n");
    assert_non_null(totals);
    assert_non_null(strstr(totals, "in all, computing [a] ≥ 8 min 25 s (8 min 00 s to 10 min 01 s, "
                                   "90 %)"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hours_are_short),
        cmocka_unit_test(changed_totals_have_intervals),
        cmocka_unit_test(open_parts_are_said_once),
        cmocka_unit_test(an_ignored_freeze_is_said),
        cmocka_unit_test(nothing_spent_is_no_time),
        cmocka_unit_test(what_is_done_is_one_line),
        cmocka_unit_test(the_table_fits_its_page),
        cmocka_unit_test(a_total_names_its_assumptions),
        cmocka_unit_test(a_total_names_its_open_parts),
        cmocka_unit_test(blocks_pages),
        cmocka_unit_test(decide_pages),
        cmocka_unit_test(estimate_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
