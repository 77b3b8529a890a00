/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON about a study: against schema/ where Python's jsonschema is there (exit status 77 where it
 * is not), and the rules that no schema can say. Documents that break a rule must be refused.
 */
#include "build-run.h"
#include "build-study.h"
#include "checks.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static json_t *make(const struct built_study *built, int what) {
    switch (what) {
    case 0:
        return report_blocks_json(&built->study);
    case 1:
        return report_estimate_json(&built->estimate, &built->cost);
    case 2:
        return report_document_json(&built->document);
    default: {
        AUTO_JSON json_t *estimate = report_estimate_json(&built->estimate, &built->cost);
        return report_estimate_compare_json(estimate, estimate, NULL);
    }
    }
}

static void every_study(void **state) {
    (void)state;
    for (int kind = 0; kind < BUILD_STUDY_COUNT_; kind++) {
        AUTO_BUILT_STUDY struct built_study built;
        build_study((enum build_study)kind, &built);
        for (int what = 0; what < 4; what++) {
            AUTO_FREE char *name = mem_printf("%s-%d", build_study_names[kind], what);
            schema_put(name, make(&built, what));
        }
    }
    struct report_document none = {.program = "probelauf"};
    schema_put("without-plan", report_document_json(&none));
    assert_int_equal(schema_check(), 0);
}

static void broken_documents_are_refused(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    for (int what = 0; what < 4; what++) {
        AUTO_JSON json_t *good = make(&built, what);
        json_t *extra = json_deep_copy(good), *missing = json_deep_copy(good);
        json_object_set_new(extra, "surprise", json_integer(1));
        json_object_del(missing, what == 0   ? "blocks"
                                 : what == 1 ? "open"
                                 : what == 2 ? "verdict"
                                             : "unchanged");
        AUTO_FREE char *extra_name = mem_printf("bad-extra-%d", what);
        AUTO_FREE char *missing_name = mem_printf("bad-missing-%d", what);
        schema_put(extra_name, extra);
        schema_put(missing_name, missing);
    }
    AUTO_JSON json_t *estimate = make(&built, 1);
    json_t *bad = json_deep_copy(estimate);
    json_t *total = json_object_get(bad, "total");
    json_object_set_new(total, "computing", json_real(12.5)); /* a bare number */
    schema_put("bad-bare-number", bad);
    bad = json_deep_copy(estimate);
    json_object_del(
        json_object_get(json_array_get(json_object_get(bad, "blocks"), 0), "components"), "idle");
    schema_put("bad-component", bad);
    bad = json_deep_copy(estimate);
    json_object_set_new(json_object_get(bad, "snapshot"), "seed", json_integer(1));
    schema_put("bad-seed", bad);
    assert_int_equal(schema_check(), 0);
}

/* An estimate with a setting and other figures: what changed is named, with its cause. */
static void a_setting_is_named_as_the_cause(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    AUTO_JSON json_t *before = report_estimate_json(&built.estimate, &built.cost);
    built.estimate.assumed[1].value = "5";
    built.estimate.blocks[2].components[COMPONENT_RUNS].time.value *= 2.5;
    built.estimate.blocks[2].components[COMPONENT_RUNS].time.p95 *= 2.5;
    built.estimate.blocks[2].components[COMPONENT_RUNS].time.sources = NULL;
    built.estimate.blocks[2].components[COMPONENT_RUNS].time.source_count = 0;
    built.input.code_digest = "0123456789abcdef";
    built.estimate.blocks[1].components[COMPONENT_CHECKING].time.value += 1;
    AUTO_JSON json_t *after = report_estimate_json(&built.estimate, &built.cost);
    AUTO_JSON json_t *same = report_estimate_compare_json(before, before, NULL);
    assert_int_equal(json_array_size(json_object_get(same, "changed")), 0);
    assert_int_equal(json_array_size(json_object_get(same, "reasons")), 0);
    AUTO_JSON json_t *compare = report_estimate_compare_json(before, after, NULL);
    const json_t *changed = json_object_get(compare, "changed");
    assert_int_equal(json_array_size(changed), 2);
    const json_t *other = json_array_get(changed, 0); /* the setting is not this block's */
    assert_string_equal(json_get_text(other, "block", ""), "compare");
    assert_int_equal(json_array_size(json_object_get(other, "why")), 1);
    const json_t *figure = json_array_get(changed, 1);
    assert_string_equal(json_get_text(figure, "block", ""), "scale");
    assert_string_equal(json_get_text(figure, "figure", ""), "runs");
    AUTO_STRBUF struct strbuf why = STRBUF_INIT;
    json_add_compact(&why, json_object_get(figure, "why"));
    assert_string_equal(strbuf_str(&why), "[\"scale.runs\",\"code\"]");
    assert_int_equal(json_get_int(same, "unchanged", 0), json_get_int(compare, "unchanged", 0) + 2);
    built.estimate.blocks[0].bytes_in = quantity_measured(UNIT_BYTE, 4711, "test");
    AUTO_JSON json_t *larger = report_estimate_json(&built.estimate, &built.cost);
    AUTO_JSON json_t *volumes = report_estimate_compare_json(after, larger, NULL);
    assert_int_equal(json_array_size(json_object_get(volumes, "changed")), 1);
    assert_string_equal(
        json_get_text(json_array_get(json_object_get(volumes, "changed"), 0), "section", ""),
        "volume");
    schema_put("compare", json_incref(volumes));
    assert_int_equal(schema_check(), 0);
    schema_put("compare", json_incref(compare));
    assert_int_equal(schema_check(), 0);
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_estimate_compare_text(compare, (struct report_style){.width = 80}, &page);
    check_golden("estimate-compare-80.txt", &page);
    strbuf_clear(&page);
    report_estimate_compare_text(same, (struct report_style){.width = 80}, &page);
    assert_non_null(strstr(strbuf_str(&page), "0 figures changed"));
}

static json_t *figure_with(double value, const char *bound, const char *const *sources) {
    struct quantity q = quantity_measured(UNIT_SECOND, value, "own runs");
    json_t *list = json_array();
    q.bound = strcmp(bound, "exact") == 0 ? QUANTITY_EXACT : QUANTITY_AT_LEAST;
    json_t *json = quantity_to_json(&q);
    for (size_t i = 0; sources[i]; i++)
        json_array_append_new(list, json_text(sources[i]));
    json_put(json, "sources", list);
    return json;
}

/* A document with nothing but the time of the runs of one block. */
static json_t *document_with(double value, const char *bound, const char *const *sources) {
    json_t *document = json_object(), *blocks = json_array(), *block = json_object();
    json_t *components = json_object(), *runs = json_object();
    json_put(runs, "time", figure_with(value, bound, sources));
    json_put(components, "runs", runs);
    json_put_text(block, "id", "compare");
    json_put(block, "components", components);
    json_array_append_new(blocks, block);
    json_put(document, "blocks", blocks);
    return document;
}

static void runs_that_came_and_went_are_named(void **state) {
    (void)state;
    static const char *const was[] = {"0192-00000001",
                                      "0192-00000002",
                                      "0192-00000003",
                                      "0192-00000004",
                                      "0192-00000005",
                                      "probelauf.yaml:7",
                                      NULL};
    static const char *const is[] = {"0192-00000001", "0192-00000009", NULL};
    AUTO_JSON json_t *before = document_with(10, "exact", was);
    AUTO_JSON json_t *after = document_with(20, "exact", is);
    struct run invalid = {.id = "0192-00000005", .validity = RUN_INVALID};
    struct run old = {.id = "0192-00000004"};
    struct study_run runs[] = {{.run = &invalid, .evidence = {.why = "not this"}},
                               {.run = &old, .evidence = {.why = "the code changed"}}};
    const struct study study = {.runs = runs, .run_count = 2};
    AUTO_JSON json_t *compare = report_estimate_compare_json(before, after, &study);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, json_object_get(compare, "runs"));
    assert_string_equal(
        strbuf_str(&text),
        "{\"gone\":[{\"run\":\"0192-00000005\",\"why\":\"it was declared invalid\"},"
        "{\"run\":\"0192-00000004\",\"why\":\"the code changed\"},"
        "{\"run\":\"0192-00000003\",\"why\":\"it is not among the runs of the study any more\"},"
        "{\"run\":\"0192-00000002\",\"why\":\"it is not among the runs of the study any more\"}],"
        "\"added\":[{\"run\":\"0192-00000009\",\"why\":null}]}");
    strbuf_clear(&text);
    json_add_compact(
        &text, json_object_get(json_array_get(json_object_get(compare, "changed"), 0), "gone"));
    assert_non_null(strstr(strbuf_str(&text), "\"0192-00000002\",\"probelauf.yaml:7\"]"));
    strbuf_clear(&text);
    report_estimate_compare_text(compare, (struct report_style){.width = 200}, &text);
    assert_non_null(strstr(strbuf_str(&text),
                           "no figure rests any more on run 00000005 (it was declared invalid), "
                           "run 00000004 (the code changed), run 00000003 (it is not among the "
                           "runs of the study any more) and 1 more"));
    assert_non_null(strstr(strbuf_str(&text), "figures rest now also on run 00000009"));
    assert_non_null(strstr(strbuf_str(&text), "without run 00000005, run 00000004, run 00000003 "
                                              "and 2 more; with run 00000009"));
    AUTO_JSON json_t *unknown = report_estimate_compare_json(before, after, NULL);
    strbuf_clear(&text);
    report_estimate_compare_text(unknown, (struct report_style){.width = 200}, &text);
    assert_null(strstr(strbuf_str(&text), "("));
}

/* JSON keeps what is smaller than what is printed. */
static void what_prints_the_same_is_no_change_for_a_reader(void **state) {
    (void)state;
    static const char *const none[] = {NULL};
    AUTO_JSON json_t *before = document_with(100.001, "exact", none);
    AUTO_JSON json_t *after = document_with(100.002, "exact", none);
    AUTO_JSON json_t *bound = document_with(100.001, "at-least", none);
    AUTO_JSON json_t *small = report_estimate_compare_json(before, after, NULL);
    AUTO_JSON json_t *other = report_estimate_compare_json(before, bound, NULL);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    assert_int_equal(json_array_size(json_object_get(small, "changed")), 1);
    assert_int_equal(json_get_int(small, "unchanged", -1), 0);
    report_estimate_compare_text(small, (struct report_style){.width = 80}, &text);
    assert_string_equal(strbuf_str(&text), "0 figures changed, 1 is the same\n");
    strbuf_clear(&text);
    report_estimate_compare_text(other, (struct report_style){.width = 80}, &text);
    assert_non_null(strstr(strbuf_str(&text), "1 figure changed, 0 are the same\n"));
    assert_non_null(strstr(strbuf_str(&text), "compare, runs"));
}

/* A frozen document may hold anything; it is compared all the same. */
static void nonsense_is_compared(void **state) {
    (void)state;
    static const char blocks[] =
        "{\"total\":3,\"blocks\":[1,{\"id\":7},{\"id\":\"a\",\"figures\":[],\"components\":{"
        "\"runs\":{\"time\":{\"state\":\"estimated\",\"value\":\"x\"}}}}],\"assumed\":[null,{}],"
        "\"snapshot\":{\"runs\":[1,null],\"draws\":\"x\"}}";
    static const char unit[] = "{\"total\":{\"computing\":{\"state\":\"estimated\",\"value\":1e300,"
                               "\"unit\":\"\\u0007\"}}}";
    static const char *const nonsense[] = {"null", "[]", blocks, unit};
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_TEN, &built);
    AUTO_JSON json_t *good = report_estimate_json(&built.estimate, &built.cost);
    for (size_t i = 0; i < ARRAY_LENGTH(nonsense); i++) {
        char why[160];
        AUTO_JSON json_t *bad = json_parse(nonsense[i], strlen(nonsense[i]), why);
        assert_true(bad || strcmp(nonsense[i], "null") == 0);
        for (int side = 0; side < 2; side++) {
            AUTO_JSON json_t *compare = side ? report_estimate_compare_json(bad, good, NULL)
                                             : report_estimate_compare_json(good, bad, NULL);
            AUTO_STRBUF struct strbuf page = STRBUF_INIT;
            report_estimate_compare_text(compare, (struct report_style){.width = 40}, &page);
            assert_null(strchr(strbuf_str(&page), '\007'));
            assert_true(json_array_size(json_object_get(compare, "changed")) > 10);
        }
    }
}

static char *whole(int what) {
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_TEN, &built);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    if (what < 4) {
        AUTO_JSON json_t *json = make(&built, what);
        json_add_pretty(&out, json);
    } else if (what == 4) {
        report_document_csv(&built.document, &out);
    } else {
        report_document_markdown(&built.document, &out);
    }
    return strbuf_take(&out);
}

/* A decimal comma of the surroundings changes no byte. */
static void a_locale_changes_nothing(void **state) {
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ko_KR.UTF-8", "C.UTF-8"};
    for (int what = 0; what < 6; what++) {
        (void)setlocale(LC_ALL, "C");
        AUTO_FREE char *plain = whole(what);
        for (size_t i = 0; i < ARRAY_LENGTH(locales); i++) {
            if (!setlocale(LC_ALL, locales[i]))
                continue;
            AUTO_FREE char *other = whole(what);
            (void)setlocale(LC_ALL, "C");
            assert_string_equal(plain, other);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_study),
        cmocka_unit_test(broken_documents_are_refused),
        cmocka_unit_test(a_setting_is_named_as_the_cause),
        cmocka_unit_test(runs_that_came_and_went_are_named),
        cmocka_unit_test(what_prints_the_same_is_no_change_for_a_reader),
        cmocka_unit_test(nonsense_is_compared),
        cmocka_unit_test(a_locale_changes_nothing),
    };
    if (!schema_can_check()) /* no Python, or one without jsonschema */
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
