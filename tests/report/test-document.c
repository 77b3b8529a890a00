/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report in its forms: golden documents, hostile texts, rules that hold on every document. */
#include "build-run.h"
#include "build-study.h"
#include "checks.h"
#include "report/markdown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void documents(void **state) {
    (void)state;
    for (int kind = 0; kind < BUILD_STUDY_COUNT_; kind++) {
        AUTO_BUILT_STUDY struct built_study built;
        build_study((enum build_study)kind, &built);
        AUTO_STRBUF struct strbuf markdown = STRBUF_INIT;
        AUTO_STRBUF struct strbuf csv = STRBUF_INIT;
        report_document_markdown(&built.document, &markdown);
        report_document_csv(&built.document, &csv);
        AUTO_FREE char *markdown_name = mem_printf("report-%s.md", build_study_names[kind]);
        AUTO_FREE char *csv_name = mem_printf("report-%s.csv", build_study_names[kind]);
        check_golden(markdown_name, &markdown);
        check_golden(csv_name, &csv);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
