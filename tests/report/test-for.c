/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Justifications, rental brief, checklist: a golden document of each body from one study, hostile
 * texts, and what holds of every one of them. */
#include "build-study.h"
#include "checks.h"
#include "report/for.h"

#include "base/msg.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void write_for(const struct built_study *built, const char *name, struct strbuf *out) {
    report_for_markdown(&built->document, name, out);
}

static void golden(enum build_study kind, const char *name) {
    AUTO_BUILT_STUDY struct built_study built;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    build_study(kind, &built);
    write_for(&built, name, &out);
    AUTO_FREE char *file = mem_printf("for-%s-%s.md", name, build_study_names[kind]);
    check_golden(file, &out);
}

static void each_body_of_one_study(void **state) {
    (void)state;
    const char *name;
    for (size_t i = 0; (name = report_for_name(i)) != NULL; i++)
        golden(BUILD_STUDY_FOUR, name);
}

/* With a GPU, an interval and measured memory. */
static void what_can_be_known(void **state) {
    (void)state;
    golden(BUILD_STUDY_TEN, "generic");
    golden(BUILD_STUDY_TEN, "neurips");
}

/* ---- what holds of every document ---- */

static size_t columns(const char *line, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        if (line[i] == '\\')
            i++;
        else
            count += line[i] == '|';
    return count;
}

/* Every row of a table has as many cells as its head, whatever texts are in it. */
static void check_tables(const char *text, const char *what) {
    size_t head = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n"), count = *line == '|' ? columns(line, length) : 0;
        if (head > 0 && count > 0 && count != head)
            fail_msg("%s: %zu cells instead of %zu: %.*s", what, count, head, (int)length, line);
        head = count;
    }
}

/* The open parts of the estimate, its assumptions and why it is provisional are in each document
 * with a total; nothing of the text is a control character. */
static void check_document(const struct built_study *built, const char *name) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    write_for(built, name, &out);
    const char *text = strbuf_str(&out);
    check_tables(text, name);
    for (const char *p = text; *p; p++)
        assert_true(*p == '\n' || (unsigned char)*p >= ' ');
    assert_int_equal(*text, '#');
    if (built->estimate.provisional)
        assert_non_null(strstr(text, "provisional"));
    if (built->estimate.open_count > 0)
        assert_non_null(strstr(text, "To close what follows"));
    for (size_t i = 0; i < built->study.open_fact_count; i++)
        if (built->study.open_facts[i]->id &&
            strspn(built->study.open_facts[i]->id, "abcdefghijklmnopqrstuvwxyz.-") ==
                strlen(built->study.open_facts[i]->id))
            assert_non_null(strstr(text, built->study.open_facts[i]->id));
}

static void every_document(void **state) {
    (void)state;
    const char *name;
    for (int kind = 0; kind < BUILD_STUDY_COUNT_; kind++) {
        AUTO_BUILT_STUDY struct built_study built;
        build_study((enum build_study)kind, &built);
        for (size_t i = 0; (name = report_for_name(i)) != NULL; i++)
            check_document(&built, name);
    }
}

/* Without a unit of account in the offers there is none in the document, for no body. */
static void no_service_units_are_invented(void **state) {
    (void)state;
    static const char *const bodies[] = {"nairr", "access", "genci", "nhr", "generic"};
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_TEN, &built);
    for (size_t i = 0; i < built.plan.offer_count; i++)
        built.plan.offers[i].service_unit = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        write_for(&built, bodies[i], &out);
        assert_non_null(strstr(strbuf_str(&out), "[?] open: service units"));
    }
}

/* The brief asks for every key that an offer of the plan can have, in its order. */
static void the_table_has_every_key(void **state) {
    (void)state;
    AUTO_JSON json_t *schema = plan_json_schema();
    json_t *offer = json_get_object(json_get_object(schema, "$defs"), "offers");
    json_t *keys = json_get_object(offer, "properties");
    const char *key;
    json_t *unused;
    size_t count = 0;
    assert_non_null(keys);
    json_object_foreach (keys, key, unused) {
        bool found = false;
        for (size_t i = 0; report_for_offer_key(i); i++)
            found = found || strcmp(report_for_offer_key(i), key) == 0;
        if (!found)
            fail_msg("nobody asks for: %s", key);
        count++;
    }
    assert_null(report_for_offer_key(count));
    assert_non_null(report_for_offer_key(count - 1));
}

static void schema(void **state) {
    (void)state;
    const char *name;
    if (!schema_can_check())
        skip();
    for (int kind = 0; kind < BUILD_STUDY_COUNT_; kind++) {
        AUTO_BUILT_STUDY struct built_study built;
        build_study((enum build_study)kind, &built);
        for (size_t i = 0; (name = report_for_name(i)) != NULL; i++) {
            AUTO_FREE char *file = mem_printf("%s-%s", name, build_study_names[kind]);
            schema_put(file, report_for_json(&built.document, name));
        }
    }
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    json_t *bad = report_for_json(&built.document, "generic");
    json_put_int(json_get_object(bad, "request"), "gpu", 0);
    schema_put("bad-bare-number", bad);
    bad = report_for_json(&built.document, "somebody");
    schema_put("bad-body", bad);
    assert_int_equal(schema_check(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_body_of_one_study),
        cmocka_unit_test(what_can_be_known),
        cmocka_unit_test(every_document),
        cmocka_unit_test(schema),
        cmocka_unit_test(no_service_units_are_invented),
        cmocka_unit_test(the_table_has_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
