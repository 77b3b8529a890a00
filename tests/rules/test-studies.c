/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kept estimates of several studies added up; documents that hold something else. */
#include "../base/testing.h"

#include "model/quantity-read.h"
#include "rules/studies.h"

static json_t *parse(const char *single_quoted) {
    AUTO_FREE char *text = mem_strdup(single_quoted);
    for (char *at = text; *at != '\0'; at++)
        *at = *at == '\'' ? '"' : *at;
    char why[160];
    json_t *json = json_parse(text, strlen(text), why);
    assert_non_null(json);
    return json;
}

#define KNOWN(value) "{'state':'estimated','unit':'s','value':" value ",'n':3}"
#define OPEN         "{'state':'open','unit':'s','value':null,'reason':'no-evidence'}"
#define NO_GPU       "{'state':'open','unit':'s','value':null,'reason':'not-applicable'}"
#define FIGURES(computing, reserved, gpu) \
    "{'computing':" computing ",'reserved':" reserved ",'effort':" OPEN ",'gpu':" gpu "}"

static void adds_by_name(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_JSON json_t *a = parse("{'total':" FIGURES(
        KNOWN("30"), KNOWN("40.5"),
        NO_GPU) ",'by_extent':["
                "{'name':'validation','blocks':1,'figures':" FIGURES(
                    KNOWN("10"), KNOWN("15"),
                    NO_GPU) "},"
                            "{'name':'full','blocks':2,'figures':" FIGURES(
                                KNOWN("20"), KNOWN("25.5"),
                                NO_GPU) "},"
                                        "{'name':'not said','blocks':0,'figures':" FIGURES(
                                            OPEN, OPEN, OPEN) "}],"
                                                              "'by_recurrence':[]}");
    AUTO_JSON json_t *b = parse("{'total':" FIGURES(
        KNOWN("5"), OPEN,
        KNOWN(
            "7")) ",'by_extent':["
                  "{'name':'full','blocks':3,'figures':" FIGURES(
                      KNOWN("5"), OPEN,
                      KNOWN(
                          "7")) "}],"
                                "'by_recurrence':[{'name':'one-off','blocks':3,'figures':" FIGURES(
                                    KNOWN("5"), OPEN, KNOWN("7")) "}]}");
    const struct studies_input inputs[] = {
        {.study = "01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21",
         .title = "A",
         .state = STUDIES_CURRENT,
         .estimate = a},
        {.study = "01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f22",
         .state = STUDIES_NOT_CHECKED,
         .estimate = b},
    };
    struct studies studies;
    studies_sum(inputs, 2, arena, &studies);
    assert_int_equal(studies.row_count, 2);
    assert_int_equal(studies.not_current, 1);
    assert_string_equal(studies.rows[0].label, "A");
    assert_string_equal(studies.rows[1].label, "5d0c3a7e8f22");

    const struct quantity *computing = &studies.total[STUDIES_COMPUTING];
    assert_int_equal(computing->state, QUANTITY_ESTIMATED);
    assert_true(computing->value == 35);
    assert_int_equal(computing->bound, QUANTITY_EXACT);
    assert_false(computing->has_interval);
    const struct quantity *reserved = &studies.total[STUDIES_RESERVED];
    assert_true(reserved->value == 40.5);
    assert_int_equal(reserved->bound, QUANTITY_AT_LEAST); /* one is open: it stays named */
    assert_int_equal(reserved->part_count, 2);
    assert_string_equal(reserved->parts[1].name, "5d0c3a7e8f22");
    assert_int_equal(studies.total[STUDIES_EFFORT].state, QUANTITY_OPEN);
    const struct quantity *gpu = &studies.total[STUDIES_GPU];
    assert_true(gpu->value == 7); /* no GPU in A: nothing open about it */
    assert_int_equal(gpu->bound, QUANTITY_EXACT);

    assert_int_equal(studies.by_extent_count, 2); /* a name without blocks is none */
    assert_string_equal(studies.by_extent[0].name, "validation");
    assert_int_equal(studies.by_extent[0].study_count, 1);
    assert_int_equal(studies.by_extent[0].figures[STUDIES_GPU].reason, QUANTITY_NOT_APPLICABLE);
    assert_string_equal(studies.by_extent[1].name, "full");
    assert_int_equal(studies.by_extent[1].study_count, 2);
    assert_int_equal(studies.by_extent[1].block_count, 5);
    assert_true(studies.by_extent[1].figures[STUDIES_COMPUTING].value == 25);
    assert_int_equal(studies.by_extent[1].figures[STUDIES_RESERVED].bound, QUANTITY_AT_LEAST);
    assert_int_equal(studies.by_recurrence_count, 1);
}

static void nothing_kept_is_open_not_0(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct studies studies;
    studies_sum(NULL, 0, arena, &studies);
    assert_int_equal(studies.row_count, 0);
    for (int i = 0; i < STUDIES_FIGURE_COUNT_; i++)
        assert_false(quantity_is_known(&studies.total[i]));
}

/* A document that came with a journal from elsewhere may hold anything. */
static void what_does_not_hold_together_is_open(void **state) {
    (void)state;
    static const char *const bad[] = {
        "{}",
        "{'total':7,'by_extent':{},'by_recurrence':'x'}",
        "{'total':{'computing':[]},'by_extent':[1,'x',{},{'name':7},{'name':'full'},"
        "{'name':'full','blocks':-3}]}",
        "{'total':{'computing':{'state':'measured','unit':'byte','value':3}}}",
        "{'total':{'computing':{'state':'measured','value':3}}}",
        "{'total':{'computing':{'state':'measured','unit':'s','value':'3'}}}",
        "{'total':{'computing':{'state':'sure','unit':'s','value':3}}}",
        "{'total':{'computing':{'state':'estimated','unit':'s','value':3,'p05':9,'p95':1,'level':0."
        "9}}}",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        AUTO_ARENA struct arena *arena = arena_new();
        AUTO_JSON json_t *estimate = parse(bad[i]);
        const struct studies_input input = {.study = "s", .estimate = estimate};
        struct studies studies;
        studies_sum(&input, 1, arena, &studies);
        assert_int_equal(studies.by_extent_count, 0);
        for (int k = 0; k < STUDIES_FIGURE_COUNT_; k++) {
            assert_true(quantity_is_valid(&studies.total[k]));
            if (i != 4) /* seconds are meant where no unit is named */
                assert_false(quantity_is_known(&studies.total[k]));
        }
    }
}

static void reads_what_was_written(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    static const char *const sources[] = {"run", "probelauf.yaml:3"};
    const struct quantity_part parts[] = {
        {.name = "one", .quantity = quantity_measured(UNIT_SECOND, 1.5, "clock")},
        {.name = "two", .quantity = quantity_open(UNIT_SECOND, QUANTITY_RUNNING, NULL)},
    };
    static const char *const lacks[] = {"compare/runs/a=1", "compare/idle"};
    /* a total that was kept without the parts of its parts */
    struct quantity total = quantity_bounded(UNIT_SECOND, 4, QUANTITY_AT_LEAST, "z");
    total.open_parts = lacks;
    total.open_part_count = 2;
    const struct quantity_part of_total[] = {{"study", total}};
    struct quantity samples[] = {
        total,
        quantity_sum(arena, UNIT_SECOND, of_total, 1),
        quantity_measured(UNIT_BYTE, 1024, "x"),
        quantity_bounded(UNIT_SECOND, 2.5, QUANTITY_AT_LEAST, "y"),
        quantity_open(UNIT_SECOND, QUANTITY_TOO_FEW_RUNS, NULL),
        quantity_sum(arena, UNIT_SECOND, parts, 2),
        {.state = QUANTITY_ESTIMATED,
         .value = 5,
         .unit = UNIT_SECOND,
         .has_interval = true,
         .level = 0.9,
         .p05 = 4,
         .p95 = 9,
         .basis = "own-runs",
         .n = 4,
         .sources = sources,
         .source_count = 2},
        {.state = QUANTITY_ASSUMED,
         .value = 5,
         .unit = UNIT_SECOND,
         .has_interval = true,
         .level = 0.9,
         .p05 = 4,
         .p95 = 9,
         .basis = "borrowed-spread"},
        {.state = QUANTITY_ASSUMED,
         .value = 0,
         .unit = UNIT_SECOND,
         .sources = sources,
         .source_count = 1},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(samples); i++) {
        AUTO_JSON json_t *written = quantity_to_json(&samples[i]);
        struct quantity read = quantity_from_json(written, samples[i].unit, arena);
        AUTO_JSON json_t *again = quantity_to_json(&read);
        assert_true(json_equal(written, again));
    }
    assert_string_equal(samples[1].open_parts[1], "study/compare/idle");
    /* what is exact lacks nothing, whatever a document says */
    AUTO_JSON json_t *exact =
        parse("{'state':'measured','unit':'s','value':1,'open_parts':['compare/idle', 3]}");
    assert_int_equal(quantity_from_json(exact, UNIT_SECOND, arena).open_part_count, 0);
}

#define AMOUNT(micros, currency)                                                                \
    "{'state':'estimated','currency':'" currency "','micros':" micros ",'text':'x','lines':[]," \
    "'lacks':[],'sources':[]}"
#define UNITS(micros)                                                                      \
    "{'state':'estimated','service_unit':'EUR','micros':" micros ",'text':'x','lines':[]," \
    "'lacks':[],'sources':[]}"

/* A sum per currency, a service unit for itself whatever it is called; the open ones are counted.
 */
static void amounts_per_currency(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    static const char *const texts[] = {
        "{'amount':" AMOUNT("1000001",
                            "EUR") ",'by_extent':[{'name':'full','blocks':1,'figures':{},"
                                   "'amount':" AMOUNT("900000", "EUR") "}]}",
        "{'amount':" AMOUNT("5", "USD") "}",
        "{'amount':" AMOUNT("2000002",
                            "EUR") ",'by_extent':[{'name':'full','blocks':2,'figures':{},"
                                   "'amount':" UNITS("7") "}]}",
        "{'amount':" UNITS("3") "}",
        "{'amount':{'state':'open','micros':null,'reason':'no-offer'}}",
        "{'amount':{'state':'open','unit':'1','value':null,'reason':'no-offer'}}", /* an older one
                                                                                    */
        "{'amount':{'state':'measured','micros':1.5,'currency':'EUR'}}",
        "{'amount':{'state':'measured','micros':1}}",
        "{}",
    };
    struct studies_input inputs[ARRAY_LENGTH(texts)];
    json_t *documents[ARRAY_LENGTH(texts)];
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        documents[i] = parse(texts[i]);
        inputs[i] = (struct studies_input){.study = "s", .estimate = documents[i]};
    }
    struct studies studies;
    studies_sum(inputs, ARRAY_LENGTH(texts), arena, &studies);
    assert_int_equal(studies.money_count, 3);
    assert_int_equal(studies.without_amount, 5);
    assert_string_equal(studies.money[0].currency, "EUR");
    assert_true(studies.money[0].amount.micros == 3000003);
    assert_int_equal(studies.money[0].amount.line_count, 2);
    assert_true(studies.money[1].amount.micros == 5);
    assert_true(studies.money[2].is_service_unit && studies.money[2].amount.micros == 3);
    assert_int_equal(studies.by_extent[0].money_count, 2);
    assert_true(studies.by_extent[0].money[0].amount.micros == 900000);
    assert_true(studies.by_extent[0].money[1].is_service_unit);
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        json_decref(documents[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_per_currency),
        cmocka_unit_test(adds_by_name),
        cmocka_unit_test(nothing_kept_is_open_not_0),
        cmocka_unit_test(what_does_not_hold_together_is_open),
        cmocka_unit_test(reads_what_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
