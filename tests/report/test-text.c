/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden texts of every renderer for people. PROBELAUF_GOLDEN_WRITE=1 writes them anew (read the
 * difference before it is committed); without it a missing or different file is a failure.
 */
#include "base/msg.h"
#include "build-estimate.h"
#include "build-run.h"
#include "checks.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef void (*render_fn)(const struct run *run, struct report_style style, struct strbuf *out);
typedef struct run *(*build_fn)(void);

static const struct {
    const char *name;
    build_fn build;
    bool telling;
} runs[] = {
    {"empty", build_empty, false},  {"ok", build_ok, true},      {"plain", build_plain, false},
    {"failed", build_failed, true}, {"lost", build_lost, false}, {"running", build_running, false},
    {"wide", build_wide, true},
};

static const struct {
    const char *name;
    struct report_style style;
    bool telling;
} styles[] = {
    {"80", {.width = 80}, true},
    {"80-ascii", {.width = 80, .ascii = true}, true},
    {"40", {.width = 40}, true},
    {"120-verbose", {.width = 120, .verbose = true}, false},
    {"200-color", {.width = 200, .color = true}, false},
};

/* all: every run in every style; otherwise the telling ones. */
static void check_renderer(const char *what, render_fn render, bool all) {
    for (size_t r = 0; r < ARRAY_LENGTH(runs); r++)
        for (size_t s = 0; s < ARRAY_LENGTH(styles); s++) {
            if (!all && (!runs[r].telling || !styles[s].telling))
                continue;
            AUTO_RUN struct run *run = runs[r].build();
            AUTO_STRBUF struct strbuf out = STRBUF_INIT;
            AUTO_FREE char *name = mem_printf("%s-%s-%s.txt", what, runs[r].name, styles[s].name);
            render(run, styles[s].style, &out);
            check_golden(name, &out);
        }
}

static void show(void **state) {
    (void)state;
    check_renderer("show", report_run_text, true);
}

static void summary(void **state) {
    (void)state;
    check_renderer("summary", report_run_summary, true);
}

static void explain(void **state) {
    (void)state;
    check_renderer("explain", report_run_explain_text, false);
}

static void compare_with_ok(const struct run *run, struct report_style style, struct strbuf *out) {
    AUTO_RUN struct run *ok = build_ok();
    report_compare_text(ok, run, style, out);
}

static void compare(void **state) {
    (void)state;
    check_renderer("compare", compare_with_ok, false);
}

static void log_table(void **state) {
    (void)state;
    for (size_t s = 0; s < ARRAY_LENGTH(styles); s++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        AUTO_FREE char *name = mem_printf("log-%s.txt", styles[s].name);
        report_log_text(build_entries, build_entry_count, styles[s].style, &out);
        check_golden(name, &out);
    }
    AUTO_STRBUF struct strbuf none = STRBUF_INIT;
    report_log_text(NULL, 0, (struct report_style){0}, &none);
    check_golden("log-none.txt", &none);
}

static void repeat(void **state) {
    (void)state;
    for (int kind = 0; kind < BUILD_ESTIMATE_COUNT_; kind++)
        for (size_t s = 0; s < ARRAY_LENGTH(styles); s++) {
            AUTO_ARENA struct arena *arena = arena_new();
            AUTO_RUN struct run *a = build_ok();
            AUTO_RUN struct run *b = build_failed();
            struct repeat_estimate estimate =
                build_estimate((enum build_estimate)kind, a, b, arena);
            AUTO_STRBUF struct strbuf out = STRBUF_INIT;
            AUTO_FREE char *name = mem_printf("repeat-%d-%s.txt", kind, styles[s].name);
            report_repeat_text(&estimate, styles[s].style, &out);
            check_golden(name, &out);
        }
}

static void csv(void **state) {
    (void)state;
    AUTO_RUN struct run *ok = build_ok();
    AUTO_RUN struct run *wide = build_wide();
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    report_run_csv((const struct run *const[]){ok, wide}, 2, &out);
    check_golden("runs.csv", &out);
}

/* JSON is for machines: the same bytes in every language. */
static void json_does_not_depend_on_the_language(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf english = STRBUF_INIT;
    AUTO_RUN struct run *run = build_failed();
    AUTO_JSON json_t *json = report_run_json(run);
    json_add_pretty(&english, json);
    check_golden("run-failed.json", &english);
    static const char *const languages[] = {"de", "fr", "ko", "xx"};
    for (size_t i = 0; i < ARRAY_LENGTH(languages); i++) {
        (void)msg_set_language(languages[i]);
        AUTO_JSON json_t *again = report_run_json(run);
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        json_add_pretty(&text, again);
        assert_string_equal(strbuf_str(&text), strbuf_str(&english));
    }
    (void)msg_set_language("en");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(show),      cmocka_unit_test(summary),
        cmocka_unit_test(explain),   cmocka_unit_test(compare),
        cmocka_unit_test(log_table), cmocka_unit_test(repeat),
        cmocka_unit_test(csv),       cmocka_unit_test(json_does_not_depend_on_the_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
