/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A decision as JSON and in a report: against its schema where Python's jsonschema is there (exit
 * status 77 where it is not), documents that break it are refused; the verdict comes first. */
#include "build-study.h"
#include "checks.h"
#include "report/decide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_study(void **state) {
    (void)state;
    for (int kind = 0; kind < BUILD_STUDY_COUNT_; kind++) {
        AUTO_BUILT_STUDY struct built_study built;
        build_study((enum build_study)kind, &built);
        schema_put(build_study_names[kind], report_decide_json(&built.decision));
    }
    assert_int_equal(schema_check(), 0);
}

static json_t *first_rule(json_t *document) {
    json_t *environment = json_array_get(json_object_get(document, "environments"), 0);
    json_t *block = json_array_get(json_object_get(environment, "blocks"), 0);
    return json_array_get(json_object_get(block, "rules"), 0);
}

static void broken_documents_are_refused(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    AUTO_JSON json_t *good = report_decide_json(&built.decision);
    json_t *bad = json_deep_copy(good);
    json_object_del(bad, "changes");
    schema_put("bad-missing", bad);
    bad = json_deep_copy(good);
    json_put_text(bad, "verdict", "rent-everything");
    schema_put("bad-verdict", bad);
    bad = json_deep_copy(good);
    json_put_real(json_object_get(bad, "validation"), "max_time", 7200.0); /* a bare number */
    schema_put("bad-bare-number", bad);
    bad = json_deep_copy(good);
    json_put(first_rule(bad), "grounds", json_array()); /* an answer without grounds */
    schema_put("bad-no-ground", bad);
    bad = json_deep_copy(good);
    json_put_text(first_rule(bad), "answer", "maybe");
    schema_put("bad-answer", bad);
    assert_int_equal(schema_check(), 0);
}

/* The first line after the title is the decision, in words and as a document. */
static void the_report_begins_with_it(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_document_markdown(&built.document, &page);
    const char *first = strstr(strbuf_str(&page), "\n\n**");
    assert_non_null(first);
    assert_ptr_equal(first, strchr(strbuf_str(&page), '\n'));
    assert_int_equal(strncmp(first + 4, "Verdict for ", 12), 0);
    assert_non_null(strstr(strbuf_str(&page), "\n## Decision\n"));
    AUTO_JSON json_t *json = report_document_json(&built.document);
    const json_t *decision = json_get_object(json, "decision");
    assert_string_equal(json_get_text(decision, "verdict", ""),
                        decide_verdict_name(built.decision.verdict));
    built.document.decision = NULL;
    AUTO_JSON json_t *without = report_document_json(&built.document);
    assert_true(json_is_null(json_object_get(without, "decision")));
}

/* Every rule that fires stands with its grounds, and each ground with its source. */
static void grounds_stand_on_the_page(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_decide_text(&built.decision, NULL, 0, false,
                       (struct report_style){.width = 1000, .verbose = true}, &page);
    for (size_t b = 0; b < built.decision.environments[0].block_count; b++)
        for (enum decide_id id = DECIDE_E5; id < DECIDE_ID_COUNT_; id++) {
            const struct decide_rule *rule = &built.decision.environments[0].blocks[b].rules[id];
            for (size_t i = 0; i < rule->ground_count; i++)
                if (strstr(strbuf_str(&page), rule->grounds[i].text) == NULL)
                    fail_msg("%s: '%s' is not on the page", decide_id_name(id),
                             rule->grounds[i].text);
        }
}

static void kept_ones_are_listed(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_EMPTY, &built);
    const struct report_kept_decision kept[] = {
        {.name = "second", .verdict = "rent-blocks", .utc_ns = INT64_C(1796000000000000000)},
        {.name = "first", .utc_ns = INT64_C(1795000000000000000)},
    };
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_decide_text(&built.decision, kept, 2, false, (struct report_style){.width = 80}, &page);
    assert_non_null(strstr(strbuf_str(&page), "  second: rent by blocks, 2026-11-"));
    assert_non_null(strstr(strbuf_str(&page), "  first: open, 2026-11-"));
}

int main(void) {
    if (!schema_can_check())
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_study),
        cmocka_unit_test(broken_documents_are_refused),
        cmocka_unit_test(the_report_begins_with_it),
        cmocka_unit_test(grounds_stand_on_the_page),
        cmocka_unit_test(kept_ones_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
