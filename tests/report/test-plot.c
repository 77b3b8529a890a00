/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots: peaks survive, what was not read is no 0, ticks are round, a day of eight GPUs stays
 * small. */
#include "base/str.h"
#include "build-run.h"
#include "model/gpu-series.h"
#include "report/html/html.h"
#include "report/plot/plot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB 1048576.0

static void peaks_are_kept(void **state) {
    (void)state;
    enum { COUNT = 20000, COLUMNS = 37 };
    AUTO_FREE double *time_s = mem_alloc(COUNT * sizeof *time_s),
                     *value = mem_alloc(COUNT * sizeof *value);
    double least = HUGE_VAL, most = -HUGE_VAL;
    srand(7);
    for (size_t i = 0; i < COUNT; i++) {
        time_s[i] = 0.1 * (double)i;
        value[i] = (double)(rand() % 1000000);
        least = fmin(least, value[i]);
        most = fmax(most, value[i]);
    }
    const struct run_series series = {.time_s = time_s, .value = value, .count = COUNT};
    struct plot_column columns[COLUMNS];
    assert_true(plot_decimate(&series, 2000.0, COLUMNS, columns));
    double lowest = HUGE_VAL, highest = -HUGE_VAL;
    for (size_t c = 0; c < COLUMNS; c++) {
        lowest = fmin(lowest, columns[c].min);
        highest = fmax(highest, columns[c].max);
        assert_true(columns[c].min <= columns[c].max);
    }
    assert_true(lowest == least && highest == most);
}

static void what_was_not_read_is_open(void **state) {
    (void)state;
    double time_s[] = {0.5, 1.5, 2.5, 7.5, 8.5}, value[] = {1, 2, NAN, 4, 5};
    const struct run_series series = {.time_s = time_s, .value = value, .count = 5};
    struct plot_column columns[10];
    plot_decimate(&series, 10.0, 10, columns);
    assert_true(columns[0].max == 1.0 && columns[1].max == 2.0);
    for (size_t c = 2; c < 7; c++) /* no value, and then far too long without one */
        assert_true(isnan(columns[c].max));
    assert_true(columns[7].max == 4.0 && columns[8].max == 5.0 && isnan(columns[9].max));
    const struct run_series none = {.time_s = time_s, .value = value, .count = 0};
    assert_false(plot_decimate(&none, 10.0, 10, columns));
}

static void a_counter_becomes_a_rate(void **state) {
    (void)state;
    double time_s[] = {0, 2, 4, 6, 8}, value[] = {0, 10, 10, 3, 7}; /* it begins anew at 6 s */
    const struct run_series series = {
        .time_s = time_s, .value = value, .count = 5, .is_counter = true};
    struct plot_column columns[8];
    plot_decimate(&series, 8.0, 8, columns);
    assert_true(columns[0].max == 5.0 && columns[1].min == 5.0);
    assert_true(columns[1].max == 5.0 && columns[2].max == 0.0 && columns[3].max == 0.0);
    assert_true(isnan(columns[4].max) && isnan(columns[5].max));
    assert_true(columns[7].max == 2.0);
}

static void busy_is_of_the_window_before(void **state) {
    (void)state;
    double time_s[] = {1, 2, 3, 6, 7}, value[] = {0.9, 0.25, 0.5, 0.75, 1}; /* 3 to 6 s: unseen */
    const struct run_series series = {
        .name = GPU_SERIES_BUSY, .time_s = time_s, .value = value, .count = 5};
    struct plot_column columns[8];
    assert_true(plot_decimate(&series, 8.0, 8, columns));
    assert_true(isnan(columns[0].max) && columns[1].max == 0.25 && columns[2].max == 0.5);
    for (size_t c = 3; c < 6; c++)
        assert_true(isnan(columns[c].max));
    assert_true(columns[6].max == 1.0 && columns[6].min == 1.0 && isnan(columns[7].max));
}

static void ticks_are_round(void **state) {
    (void)state;
    double ticks[PLOT_TICKS_MAX];
    assert_int_equal(plot_ticks(0.0, PLOT_BYTES, 4, ticks), 0);
    assert_int_equal(plot_ticks(NAN, PLOT_NUMBER, 4, ticks), 0);
    size_t count = plot_ticks(3.0 * 1024 * MIB, PLOT_BYTES, 4, ticks);
    assert_true(ticks[1] == 1024 * MIB && ticks[count - 1] >= 3.0 * 1024 * MIB);
    count = plot_ticks(5400.0, PLOT_SECONDS, 4, ticks);
    assert_true(ticks[1] == 1800.0 && ticks[count - 1] == 5400.0);
    count = plot_ticks(0.7, PLOT_NUMBER, 8, ticks);
    assert_true(fabs(ticks[1] - 0.1) < 1e-12 && count == 8);
    for (double high = 1e-9; high < 1e18; high *= 3.7)
        for (int unit = PLOT_NUMBER; unit <= PLOT_RATE; unit++) {
            count = plot_ticks(high, (enum plot_unit)unit, 6, ticks);
            assert_in_range(count, 2, 7);
            assert_true(ticks[0] == 0.0 && ticks[count - 1] >= high * 0.999999);
        }
}

static void names_are_no_markup(void **state) {
    (void)state;
    const struct plot_interval rows[] = {
        {"<script>alert(1)</script>", false, 1.0, 2.0, 3.0, 4.0, "\"'&\033[31m\xe2\x80\xae"},
        {"open", true, 0.0, 0.0, 0.0, NAN, "[?] open"}};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    plot_intervals("<b>", PLOT_SECONDS, rows, 2, &out);
    assert_null(strstr(strbuf_str(&out), "<script"));
    assert_null(strstr(strbuf_str(&out), "<b>"));
    assert_null(strchr(strbuf_str(&out), '\033'));
    assert_null(strstr(strbuf_str(&out), "\xe2\x80\xae"));
    assert_non_null(strstr(strbuf_str(&out), "class=\"unread\""));
    assert_non_null(strstr(strbuf_str(&out), "class=\"actual\""));
    strbuf_clear(&out);
    plot_intervals("nothing", PLOT_SECONDS, rows + 1, 1, &out);
    assert_int_equal(out.length, 0);
}

/* As a journal keeps it: ten minutes at 10 Hz, then least, mean and largest of each second. */
static void a_day_of_eight_gpus_is_small(void **state) {
    (void)state;
    enum { SECONDS = 86400, FINE = 6000, GPUS = 8 };
    static const char *const coarse[] = {GPU_SERIES_USED_MIN, GPU_SERIES_USED_MEAN,
                                         GPU_SERIES_USED_MAX, GPU_SERIES_PROCESS_USED,
                                         GPU_SERIES_BUSY};
    AUTO_RUN struct run *run = build_empty();
    run->wall = quantity_measured(UNIT_SECOND, SECONDS, "test");
    double *fine_s = arena_alloc(run->arena, FINE * sizeof *fine_s),
           *second_s = arena_alloc(run->arena, SECONDS * sizeof *second_s),
           *value = arena_alloc(run->arena, SECONDS * sizeof *value);
    srand(3);
    for (size_t i = 0; i < SECONDS; i++) {
        second_s[i] = (double)i;
        value[i] = 1e9 * (double)(rand() % 80);
    }
    for (size_t i = 0; i < FINE; i++)
        fine_s[i] = 0.1 * (double)i;
    value[70000] = 141e9; /* one peak of one second */
    run->series_count = GPUS * (ARRAY_LENGTH(coarse) + 1);
    run->series = arena_alloc(run->arena, run->series_count * sizeof *run->series);
    struct run_series *at = run->series;
    for (size_t g = 0; g < GPUS; g++) {
        const char *device = arena_printf(run->arena, "GPU-%zu", g);
        *at++ = (struct run_series){GPU_SERIES_USED, UNIT_BYTE, device, false, fine_s, value, FINE};
        for (size_t k = 0; k < ARRAY_LENGTH(coarse); k++)
            *at++ =
                (struct run_series){coarse[k], UNIT_BYTE, device, false, second_s, value, SECONDS};
    }
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    const struct report_html_options options = {0};
    AUTO_ARENA struct arena *arena = arena_new();
    html_add_run(run, NULL, html_contents_new(arena), &options, &out);
    assert_in_range(out.length, 20000, 2000000);
    assert_non_null(strstr(strbuf_str(&out), "at most 131 GiB")); /* the peak, in words */
}

/* Three series of each, two quantities: none of the last one's is left out. */
static void every_gpu_of_sixteen_is_drawn(void **state) {
    (void)state;
    static const char *const names[] = {GPU_SERIES_USED, GPU_SERIES_USED_MAX,
                                        GPU_SERIES_PROCESS_USED};
    enum { GPUS = 16, NAMES = 3 };
    double time_s[] = {0, 1, 2}, value[] = {MIB, 2 * MIB, 3 * MIB};
    AUTO_RUN struct run *run = build_empty();
    run->wall = quantity_measured(UNIT_SECOND, 3, "test");
    run->series_count = GPUS * NAMES;
    run->series = arena_alloc(run->arena, run->series_count * sizeof *run->series);
    for (size_t i = 0; i < run->series_count; i++)
        run->series[i] = (struct run_series){names[i % NAMES],
                                             UNIT_BYTE,
                                             arena_printf(run->arena, "GPU-%zu", i / NAMES),
                                             false,
                                             time_s,
                                             value,
                                             3};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    plot_timeline(run, &out);
    size_t said = 0;
    for (const char *at = strbuf_str(&out); (at = strstr(at, ": at most ")); at++)
        said++;
    assert_int_equal(said, GPUS * 2); /* in use, and the run's: two quantities */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_kept),
        cmocka_unit_test(what_was_not_read_is_open),
        cmocka_unit_test(a_counter_becomes_a_rate),
        cmocka_unit_test(busy_is_of_the_window_before),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(names_are_no_markup),
        cmocka_unit_test(a_day_of_eight_gpus_is_small),
        cmocka_unit_test(every_gpu_of_sixteen_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
