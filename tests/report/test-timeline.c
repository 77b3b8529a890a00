/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline: shapes, gaps, one sample, very many samples, series that make no sense. */
#include "base/str.h"
#include "build-run.h"
#include "report/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char *draw(const struct run *run, int width, bool ascii) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    report_timeline(run, (struct report_style){.width = width, .ascii = ascii}, &out);
    return strbuf_take(&out);
}

/* The n-th line (from 0) of a text; "" beyond. Caller frees. */
static char *line_of(const char *text, size_t n) {
    while (n-- > 0) {
        text = strchr(text, '\n');
        if (!text)
            return mem_strdup("");
        text++;
    }
    return mem_strndup(text, strcspn(text, "\n"));
}

static struct run *run_of(double wall_s) {
    struct run *run = build_empty();
    run->wall = quantity_measured(UNIT_SECOND, wall_s, "test");
    return run;
}

static void nothing_sampled_says_so(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_empty();
    AUTO_FREE char *text = draw(run, 80, false);
    assert_non_null(strstr(text, "nothing was sampled"));
    AUTO_RUN struct run *timed = run_of(5.0);
    AUTO_FREE char *only_time = draw(timed, 80, false);
    assert_string_equal(only_time, "  memory and CPU: no sample was taken\n");
}

static void a_gauge_is_drawn_to_scale(void **state) {
    (void)state;
    double time_s[20], value[20];
    for (size_t i = 0; i < 20; i++) {
        time_s[i] = (double)i + 0.5;
        value[i] = (double)(i + 1) * 1048576.0;
    }
    AUTO_RUN struct run *run = run_of(20.0);
    build_series(run, "tree.pss", UNIT_BYTE, false, time_s, value, 20);
    AUTO_FREE char *text = draw(run, 33, false); /* 20 columns, one per sample */
    AUTO_FREE char *top = line_of(text, 0);
    AUTO_FREE char *bottom = line_of(text, 3);
    assert_non_null(strstr(top, "█"));
    assert_int_equal(str_width(top), 33);
    assert_int_equal(str_width(bottom), 33);
    AUTO_FREE char *second = line_of(text, 1);
    assert_non_null(strstr(top, "20 MiB"));
    assert_non_null(strstr(second, "tree, PSS"));
    assert_null(strstr(text, "no reading"));
}

static void a_gap_is_a_gap_and_zero_is_not(void **state) {
    (void)state;
    double time_s[10], value[10];
    for (size_t i = 0; i < 10; i++) {
        time_s[i] = (double)i + 0.5;
        value[i] = i == 3 || i == 4 ? (double)NAN : i == 7 ? 0.0 : 8.0;
    }
    AUTO_RUN struct run *run = run_of(10.0);
    build_series(run, "tree.pss", UNIT_BYTE, false, time_s, value, 10);
    AUTO_FREE char *text = draw(run, 23, true); /* 10 columns */
    AUTO_FREE char *bottom = line_of(text, 3);
    assert_string_equal(bottom, "           0 ###??##_##");
    assert_non_null(strstr(text, "? no reading"));
}

static void a_long_silence_is_a_gap(void **state) {
    (void)state;
    static const double time_s[] = {0.5, 1.5, 2.5, 17.5, 18.5, 19.5};
    static const double value[] = {4, 4, 4, 4, 4, 4};
    AUTO_RUN struct run *run = run_of(20.0);
    build_series(run, "tree.pss", UNIT_BYTE, false, time_s, value, 6);
    AUTO_FREE char *text =
        draw(run, 33, true); /* mean distance 3.8 s: held for 15.2 s, 15 s is near */
    AUTO_FREE char *bottom = line_of(text, 3);
    assert_null(strchr(bottom, '?'));
    static const double far_s[] = {0.5, 1.5, 2.5, 3.5, 4.5, 19.5};
    AUTO_RUN struct run *other = run_of(20.0);
    build_series(other, "tree.pss", UNIT_BYTE, false, far_s, value, 6);
    other->series[0].count = 6;
    double many_s[15], many[15];
    for (size_t i = 0; i < 15; i++) {
        many_s[i] = i < 14 ? 0.25 * (double)i : 19.5;
        many[i] = 4;
    }
    AUTO_RUN struct run *third = run_of(20.0);
    build_series(third, "tree.pss", UNIT_BYTE, false, many_s, many, 15);
    AUTO_FREE char *gap = draw(third, 33, true);
    AUTO_FREE char *gap_bottom = line_of(gap, 3);
    assert_string_equal(gap_bottom, "           0 ####???????????????#");
}

static void one_sample(void **state) {
    (void)state;
    static const double time_s[] = {1.0};
    static const double value[] = {4096};
    AUTO_RUN struct run *run = run_of(2.0);
    build_series(run, "tree.pss", UNIT_BYTE, false, time_s, value, 1);
    build_series(run, "tree.cpu", UNIT_CORE_SECOND, true, time_s, value, 1);
    AUTO_FREE char *text = draw(run, 23, true);
    AUTO_FREE char *bottom = line_of(text, 3);
    assert_string_equal(bottom, "           0 ?????#????");
    AUTO_FREE char *cpu = line_of(text, 6); /* a counter needs two ticks for a rate */
    assert_string_equal(cpu, "           0 ??????????");
}

static void a_counter_is_drawn_as_its_rate(void **state) {
    (void)state;
    static const double time_s[] = {0, 5, 10, 10.5, 20};
    static const double value[] = {0, 5, 20, 1, 10.5}; /* 1 core, 3 cores, fell, 1 core */
    AUTO_RUN struct run *run = run_of(20.0);
    build_series(run, "tree.cpu", UNIT_CORE_SECOND, true, time_s, value, 5);
    AUTO_FREE char *text = draw(run, 33, true);
    AUTO_FREE char *top = line_of(text, 0);
    AUTO_FREE char *label = line_of(text, 1);
    AUTO_FREE char *bottom = line_of(text, 2);
    assert_string_equal(top, "         3.0      #####");
    assert_non_null(strstr(label, "CPU cores"));
    assert_string_equal(bottom, "           0 ####################");
}

static void phases_band(void **state) {
    (void)state;
    static struct run_phase phases[] = {
        {PHASE_LOAD, "load", "mark", 0, 5},
        {PHASE_COMPUTE, "compute", "mark", 5, 15},
        {PHASE_TEARDOWN, "teardown", "mark", 18, 20},
    };
    AUTO_RUN struct run *run = run_of(20.0);
    run->phases = phases;
    run->phase_count = 3;
    AUTO_FREE char *text = draw(run, 33, true);
    assert_non_null(strstr(text, "       phase lllllcccccccccc---xx\n"));
    assert_non_null(strstr(text, "l load  c compute"));
}

static void a_million_samples(void **state) {
    (void)state;
    size_t count = 1000000;
    double *time_s = mem_realloc(NULL, count, sizeof(*time_s));
    double *value = mem_realloc(NULL, count, sizeof(*value));
    for (size_t i = 0; i < count; i++) {
        time_s[i] = (double)i * 0.1;
        value[i] = i == 777777 ? 64.0 : 1.0; /* one spike of a tenth of a second */
    }
    AUTO_RUN struct run *run = run_of(100000.0);
    build_series(run, "tree.pss", UNIT_BYTE, false, time_s, value, count);
    build_series(run, "tree.cpu", UNIT_CORE_SECOND, true, time_s, time_s, count);
    AUTO_FREE char *text = draw(run, 80, true);
    AUTO_FREE char *top = line_of(text, 0);
    assert_int_equal(strlen(top),
                     13 + 67 * 777777 / 1000000 + 1); /* the spike, and nothing behind */
    assert_true(top[strlen(top) - 1] == '#');
    assert_non_null(strstr(text, "1 d 04 h"));
    mem_free_ptr(&time_s);
    mem_free_ptr(&value);
}

static void senseless_series_are_survived(void **state) {
    (void)state;
    static const double time_s[] = {-5, (double)NAN, 1e300, 3, 2, (double)INFINITY, 3};
    static const double value[] = {1, 2, 3, (double)INFINITY, -7, 5, 6};
    AUTO_RUN struct run *run = run_of(10.0);
    build_series(run, "tree.pss", UNIT_BYTE, false, time_s, value, 7);
    build_series(run, "tree.cpu", UNIT_CORE_SECOND, true, time_s, value, 7);
    AUTO_FREE char *text = draw(run, 80, false);
    assert_true(strlen(text) > 0);
    AUTO_RUN struct run *zero = run_of(0.0);
    build_series(zero, "tree.pss", UNIT_BYTE, false, value, value, 0);
    AUTO_FREE char *none = draw(zero, 80, false);
    assert_non_null(strstr(none, "nothing was sampled"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_sampled_says_so),
        cmocka_unit_test(a_gauge_is_drawn_to_scale),
        cmocka_unit_test(a_gap_is_a_gap_and_zero_is_not),
        cmocka_unit_test(a_long_silence_is_a_gap),
        cmocka_unit_test(one_sample),
        cmocka_unit_test(a_counter_is_drawn_as_its_rate),
        cmocka_unit_test(phases_band),
        cmocka_unit_test(a_million_samples),
        cmocka_unit_test(senseless_series_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
