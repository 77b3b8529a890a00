/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV: RFC 4180, one line per run, open cells empty, no formula for a spreadsheet. */
#include "build-run.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CELLS_MAX 400

struct csv {
    char *cells[8][CELLS_MAX]; /* owned */
    size_t count[8], lines;
};

/* A strict reader of RFC 4180. */
static void csv_read(struct csv *csv, const char *text) {
    *csv = (struct csv){0};
    while (*text) {
        AUTO_STRBUF struct strbuf cell = STRBUF_INIT;
        if (*text == '"') {
            for (text++; *text != '"' || text[1] == '"'; text++) {
                assert_true(*text != '\0');
                text += *text == '"';
                strbuf_add_char(&cell, *text);
            }
            text++;
        } else {
            for (; *text != ',' && *text != '\r'; text++) {
                assert_true(*text != '\0' && *text != '"' && *text != '\n');
                strbuf_add_char(&cell, *text);
            }
        }
        assert_true(csv->lines < 8 && csv->count[csv->lines] < CELLS_MAX);
        csv->cells[csv->lines][csv->count[csv->lines]++] = strbuf_take(&cell);
        if (*text == ',') {
            text++;
            continue;
        }
        assert_true(text[0] == '\r' && text[1] == '\n');
        text += 2;
        csv->lines++;
    }
}

static void csv_done(struct csv *csv) {
    for (size_t l = 0; l < csv->lines; l++)
        for (size_t c = 0; c < csv->count[l]; c++)
            mem_free_ptr(&csv->cells[l][c]);
}

static const char *cell(const struct csv *csv, size_t line, const char *title) {
    for (size_t c = 0; c < csv->count[0]; c++)
        if (strcmp(csv->cells[0][c], title) == 0)
            return csv->cells[line][c];
    fail_msg("no column '%s'", title);
    return "";
}

static void cells_and_states(void **state) {
    (void)state;
    AUTO_RUN struct run *ok = build_ok();
    AUTO_RUN struct run *failed = build_failed();
    AUTO_RUN struct run *running = build_running();
    AUTO_RUN struct run *empty = build_empty();
    const struct run *runs[] = {ok, failed, running, empty};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    report_run_csv(runs, 4, &out);
    struct csv csv;
    csv_read(&csv, strbuf_str(&out));
    assert_int_equal(csv.lines, 5);
    for (size_t l = 1; l < csv.lines; l++)
        assert_int_equal(csv.count[l], csv.count[0]);
    assert_string_equal(cell(&csv, 1, "wall"), "252.4");
    assert_string_equal(cell(&csv, 1, "wall.state"), "measured");
    assert_string_equal(cell(&csv, 1, "memory.largest_process_rss"), "1460288880");
    assert_string_equal(cell(&csv, 1, "memory.tree_pss.state"), "measured at-least");
    assert_string_equal(cell(&csv, 1, "gpu.device_used"), "");
    assert_string_equal(cell(&csv, 1, "gpu.device_used.state"), "open not-supported");
    assert_string_equal(cell(&csv, 1, "result.tokens_per_s"), "812.5");
    assert_string_equal(cell(&csv, 1, "result.tokens_per_s.unit"), "token/s");
    assert_string_equal(cell(&csv, 1, "exit_code"), "0");
    assert_string_equal(cell(&csv, 2, "result.tokens_per_s"), "");
    assert_string_equal(cell(&csv, 2, "result.tokens_per_s.state"), "open not-in-record");
    assert_string_equal(cell(&csv, 2, "wall.state"), "measured at-least");
    assert_string_equal(cell(&csv, 3, "exit_code"), "");
    assert_string_equal(cell(&csv, 3, "wall"), "");
    assert_string_equal(cell(&csv, 3, "wall.state"), "open running");
    assert_string_equal(cell(&csv, 4, "cpu"), "");
    assert_string_equal(cell(&csv, 4, "cpu.state"), "open not-sampled");
    assert_string_equal(cell(&csv, 4, "outcome"), "lost");
    csv_done(&csv);
}

static void no_cell_is_a_formula(void **state) {
    (void)state;
    static const char *const evil[] = {
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0,\"x\""};
    for (size_t i = 0; i < ARRAY_LENGTH(evil); i++) {
        AUTO_RUN struct run *run = build_plain();
        json_object_set_new(run->start, "note", json_string(evil[i]));
        json_t *condition = json_object();
        json_object_set_new(condition, evil[i], json_string(evil[i]));
        json_object_set_new(run->start, "condition", condition);
        json_t *command = json_array();
        json_array_append_new(command, json_string(evil[i]));
        json_object_set_new(run->start, "command", command);
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        report_run_csv((const struct run *const[]){run}, 1, &out);
        struct csv csv;
        csv_read(&csv, strbuf_str(&out));
        for (size_t c = 0; c < csv.count[1]; c++)
            assert_null(strchr("=+-@\t\r", *csv.cells[1][c] ? *csv.cells[1][c] : 'x'));
        assert_true(*cell(&csv, 1, "note") == '\'');
        csv_done(&csv);
    }
}

static void numbers_are_not_guarded(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_ok();
    run->results[0].quantity.value = -2.5;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    report_run_csv((const struct run *const[]){run}, 1, &out);
    struct csv csv;
    csv_read(&csv, strbuf_str(&out));
    assert_string_equal(cell(&csv, 1, "result.tokens_per_s"), "-2.5");
    csv_done(&csv);
}

static void header_alone_without_runs(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    report_run_csv(NULL, 0, &out);
    struct csv csv;
    csv_read(&csv, strbuf_str(&out));
    assert_int_equal(csv.lines, 1);
    csv_done(&csv);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_and_states),
        cmocka_unit_test(no_cell_is_a_formula),
        cmocka_unit_test(numbers_are_not_guarded),
        cmocka_unit_test(header_alone_without_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
