/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The records of the forecast's benches: what is read, what is refused and where, halves, matrices.
 */
#include "forecast-data.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "near.h"

#define HEADER FORECAST_DATA_HEADER "\n"

static char *folder; /* of the test that runs */

static int make_folder(void **state) {
    (void)state;
    folder =
        mem_printf("%s/bench-data.XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) == NULL;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at) {
    (void)status, (void)kind, (void)at;
    return remove(path);
}

static int remove_folder(void **state) {
    (void)state;
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    mem_free_ptr(&folder);
    return 0;
}

static void put_file(const char *name, const char *text, size_t length) {
    struct err err = ERR_INIT;
    AUTO_FREE char *path = mem_printf("%s/%s", folder, name);
    assert_int_equal(file_write_atomic(path, text, length, 0600, &err), 0);
}

static struct forecast_data *read_folder(void) {
    struct forecast_data *data = NULL;
    struct err err = ERR_INIT;
    if (forecast_data_read(folder, &data, &err) != 0)
        fail_msg("%s", err.text);
    return data;
}

/* `groups` groups of three ok runs, four to a family. */
static struct forecast_data *many_groups(const char *source, size_t groups) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_FREE char *name = mem_printf("%s.csv", source);
    strbuf_add_str(&text, HEADER);
    for (size_t g = 0; g < groups; g++)
        for (int run = 0; run < 3; run++)
            strbuf_printf(&text, "%s,g%02zu,%d,%zu.5,ok,,,,f%zu\n", source, g, run, g + 1, g / 4);
    put_file(name, text.data, text.length);
    return read_folder();
}

static void test_reads_attempts_in_order(void **state) {
    (void)state;
    static const char text[] = HEADER "s,g b,7,3.5,ok,1e3,512,workers=3;init_s=2.5;work=40,f/x\n"
                                      "s,g b,2,,fail,,,nothing measured,f/x\n"
                                      "s,g b,0,1.25,ok,,,a;steps=9,f/x\n"
                                      "s,g b,9,8,timeout,,,,f/x\n"
                                      "s,g b,10,,ok,,,work=none,f/x\n"
                                      "r,a,0,1,ok,,,,\n";
    put_file("one.csv", text, sizeof text - 1);
    put_file("README.md", "no records", 10);
    AUTO_FORECAST_DATA struct forecast_data *data = read_folder();

    assert_int_equal(data->source_count, 2);
    assert_string_equal(data->sources[0].name, "r");
    assert_null(forecast_data_source(data, "t"));
    const struct forecast_source *source = forecast_data_source(data, "s");
    assert_null(forecast_source_group(source, "g"));
    const struct forecast_group *group = forecast_source_group(source, "g b");
    assert_string_equal(group->family, "f/x");
    assert_int_equal(group->attempt_count, 5);
    assert_int_equal(group->attempts[1].outcome, FORECAST_FAIL);
    assert_true(isnan(group->attempts[1].seconds));
    assert_int_equal(group->attempts[3].outcome, FORECAST_TIMEOUT);
    assert_near(group->attempts[3].seconds, 8.0, 0.0);
    assert_true(isnan(group->attempts[4].work));
    assert_string_equal(group->attempts[1].record, "s,g b,2,,fail,,,nothing measured,f/x");
    /* an ok run whose time nobody knows is none to forecast, a cut-off one neither */
    assert_int_equal(group->ok_count, 2);
    assert_near(group->ok_seconds[0], 1.25, 0.0);
    assert_int_equal(group->ok_attempt[1], 2);
    const struct forecast_attempt *last = &group->attempts[2];
    assert_near(last->work, 40.0, 0.0);
    assert_near(last->init_s, 2.5, 0.0);
    assert_near(last->size, 1000.0, 0.0);
    assert_near(last->peak_gpu_mem_mib, 512.0, 0.0);
    assert_near(group->attempts[0].work, 9.0, 0.0);
    assert_true(isnan(group->attempts[0].init_s));
}

static void test_scores_what_lies_behind_k(void **state) {
    (void)state;
    static const char text[] = HEADER "s,g,0,10,ok,,,,f\ns,g,1,11,ok,,,,f\ns,g,2,12.5,ok,,,,f\n";
    put_file("one.csv", text, sizeof text - 1);
    AUTO_FORECAST_DATA struct forecast_data *data = read_folder();
    const struct forecast_group *group = &data->sources[0].groups[0];

    assert_true(forecast_group_is_scored(group, 2));
    assert_false(forecast_group_is_scored(group, 3));
    assert_int_equal(forecast_group_later_count(group, 1), 2);
    assert_near(forecast_group_later_sum(group, 1), 23.5, 1e-12);
    assert_int_equal(forecast_source_scored(&data->sources[0], 3), 0);
}

static void test_empty_folder_is_no_source(void **state) {
    (void)state;
    AUTO_FORECAST_DATA struct forecast_data *data = read_folder();
    assert_int_equal(data->source_count, 0);
}

static void test_refuses_with_the_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *why;
    } cases[] = {
        {"source,group\n", ":1:1: ", "the header must be"},
        {"", ":1:1: ", "the header must be"},
        {HEADER "s,g,0,1,ok,,,,f\n\ns,g,1,-1,ok,,,,f\n", ":4:7: ", "above 0, found '-1'"},
        {HEADER "s,g,0,0,ok,,,,f\n", ":2:7: ", "above 0"},
        {HEADER "s,g,0,nan,ok,,,,f\n", ":2:7: ", "above 0"},
        {HEADER "s,g,0,1e999,ok,,,,f\n", ":2:7: ", "above 0"},
        {HEADER "s,g,-1,1,ok,,,,f\n", ":2:5: ", "whole number"},
        {HEADER "s,g,99999999999999999999,1,ok,,,,f\n", ":2:5: ", "whole number"},
        {HEADER "s,g,0,1,okay,,,,f\n", ":2:9: ", "found 'okay'"},
        {HEADER "s,g,0,1,ok,,lots,,f\n", ":2:13: ", "found 'lots'"},
        {HEADER "../x,g,0,1,ok,,,,f\n", ":2:1: ", "expected a source"},
        {HEADER "s,,0,1,ok,,,,f\n", ":2:3: ", "expected a group"},
        {HEADER "s,g,0,1,ok,,,f\n", ":2:15: ", "fewer fields"},
        {HEADER "s,g,0,1,ok,,,,f,x\n", ":2:17: ", "more fields"},
        {HEADER "s,\"g\",0,1,ok,,,,f\n", ":2:3: ", "quoted"},
        {HEADER "s,g\033[31m,0,1,ok,,,,f\n", ":2:4: ", "control"},
        {HEADER "s,g,0,1,ok,,,,f\ns,g,0,2,ok,,,,f\n", ":3:1: ", "run_index 0 twice"},
        {HEADER "s,g,0,1,ok,,,,f\ns,g,1,2,ok,,,,e\n", ":3:1: ", "another family"},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct forecast_data *data = NULL;
        struct err err = ERR_INIT;
        put_file("bad.csv", cases[i].text, strlen(cases[i].text));
        assert_true(forecast_data_read(folder, &data, &err) < 0);
        assert_null(data);
        AUTO_FREE char *place = mem_printf("/bad.csv%s", cases[i].place);
        if (strstr(err.text, place) == NULL || strstr(err.text, cases[i].why) == NULL)
            fail_msg("case %zu: %s", i, err.text);
    }
}

static void test_long_and_binary_lines(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct forecast_data *data = NULL;
    struct err err = ERR_INIT;

    strbuf_add_str(&text, HEADER "s,");
    for (int i = 0; i < 70000; i++)
        strbuf_add_char(&text, 'g');
    put_file("bad.csv", text.data, text.length);
    assert_true(forecast_data_read(folder, &data, &err) < 0);
    assert_non_null(strstr(err.text, "too long"));
    put_file("bad.csv", HEADER "s,g\0,0,1,ok,,,,f\n", sizeof HEADER "s,g\0,0,1,ok,,,,f\n" - 1);
    assert_true(forecast_data_read(folder, &data, &err) < 0);
    assert_non_null(strstr(err.text, ":2:4: a control character"));
    /* a last line without its end, and lines of another system */
    static const char fine[] = HEADER "s,g,0,1,ok,,,,f\r\ns,g,1,2,ok,,,,f";
    put_file("bad.csv", fine, sizeof fine - 1);
    AUTO_FORECAST_DATA struct forecast_data *good = read_folder();
    assert_int_equal(good->sources[0].groups[0].ok_count, 2);
    assert_string_equal(good->sources[0].groups[0].family, "f");
}

static size_t count_second(const bool *second, size_t count) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += second[i];
    return sum;
}

static void test_halves_are_halves_whatever_else_is_there(void **state) {
    (void)state;
    enum { GROUPS = 21 };
    bool first[GROUPS], again[GROUPS], other_seed[GROUPS], beside[GROUPS];
    AUTO_FORECAST_DATA struct forecast_data *data = many_groups("s", GROUPS);

    forecast_source_halves(&data->sources[0], 1, first);
    forecast_source_halves(&data->sources[0], 1, again);
    forecast_source_halves(&data->sources[0], 2, other_seed);
    assert_int_equal(count_second(first, GROUPS), 11);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other_seed, sizeof first);
    AUTO_FORECAST_DATA struct forecast_data *more = many_groups("r", GROUPS);
    assert_int_equal(more->source_count, 2);
    forecast_source_halves(&more->sources[1], 1, beside);
    assert_memory_equal(first, beside, sizeof first);
    forecast_source_halves(&more->sources[0], 1, beside);
    assert_memory_not_equal(first, beside, sizeof first);
}

static void test_matrices(void **state) {
    (void)state;
    static struct forecast_matrix matrices[FORECAST_MATRICES], again[FORECAST_MATRICES];
    AUTO_FORECAST_DATA struct forecast_data *data = many_groups("s", 30);
    size_t of_family = 0, seen[FORECAST_MATRIX_MOST + 1] = {0};

    assert_int_equal(forecast_data_matrices(&data->sources[0], 2, 5, matrices), FORECAST_MATRICES);
    forecast_data_matrices(&data->sources[0], 2, 5, again);
    assert_memory_equal(matrices, again, sizeof matrices);
    for (size_t i = 0; i < FORECAST_MATRICES; i++) {
        const struct forecast_matrix *matrix = &matrices[i];
        uint64_t seed = 0;
        size_t number = 0, family = 0;
        double sum = 0.0;

        assert_in_range(matrix->count, FORECAST_MATRIX_LEAST, FORECAST_MATRIX_MOST);
        seen[matrix->count]++;
        for (size_t a = 0; a < matrix->count; a++) {
            for (size_t b = 0; b < a; b++)
                assert_ptr_not_equal(matrix->groups[a], matrix->groups[b]);
            family += strcmp(matrix->groups[a]->family, matrix->groups[0]->family) == 0;
            sum += forecast_group_later_sum(matrix->groups[a], 2);
        }
        /* families have four groups, the last one two */
        if (i % 2 == 0)
            assert_true(family == 4 ||
                        (strcmp(matrix->groups[0]->family, "f7") == 0 && family == 2));
        else
            of_family += family == 4;
        assert_near(forecast_matrix_later_sum(matrix), sum, 1e-9);
        assert_true(forecast_matrix_parse_name(matrix->name, &seed, &number));
        assert_int_equal(seed, 5);
        assert_int_equal(number, i);
    }
    assert_true(of_family < 10);
    for (size_t count = FORECAST_MATRIX_LEAST; count <= FORECAST_MATRIX_MOST; count++)
        assert_true(seen[count] > 0);
    assert_int_equal(forecast_data_matrices(&data->sources[0], 3, 5, matrices), 0);
}

static void test_names_of_matrices(void **state) {
    (void)state;
    static const char *const bad[] = {"", "5", "5-", "-5", "5-100", "5-1x", "x-1", "5-1-1"};
    uint64_t seed = 0;
    size_t number = 0;

    assert_true(forecast_matrix_parse_name("7-99", &seed, &number));
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        assert_false(forecast_matrix_parse_name(bad[i], &seed, &number));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_reads_attempts_in_order),
        TEST(test_scores_what_lies_behind_k),
        TEST(test_empty_folder_is_no_source),
        TEST(test_refuses_with_the_place),
        TEST(test_long_and_binary_lines),
        TEST(test_halves_are_halves_whatever_else_is_there),
        TEST(test_matrices),
        TEST(test_names_of_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
