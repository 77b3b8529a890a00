/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks and estimates of a plan as people read them: golden pages, and rules that hold on every
 * page. */
#include "base/str.h"
#include "build-study.h"
#include "checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    struct report_style style;
} pages[] = {
    {"80", {.width = 80}},
    {"80-ascii", {.width = 80, .ascii = true}},
    {"40", {.width = 40}},
    {"120-verbose", {.width = 120, .verbose = true}},
};

/* No line is wider than the page, no control character, ASCII where it was asked for. */
static void check_page(const char *text, struct report_style style) {
    const char *line = text;
    while (*line) {
        size_t length = strcspn(line, "\n");
        AUTO_FREE char *one = mem_strndup(line, length);
        if (str_width(one) > (size_t)style.width)
            fail_msg("wider than %d: '%s'", style.width, one);
        if (length > 0 && line[length - 1] == ' ')
            fail_msg("blanks at the end: '%s'", one);
        for (const unsigned char *c = (const unsigned char *)one; *c; c++)
            if (*c < 32 || *c == 127 || (style.ascii && *c > 126))
                fail_msg("byte %u in '%s'", *c, one);
        line += length + (line[length] == '\n');
    }
}

static void pages_of(void (*render)(const struct built_study *, struct report_style,
                                    struct strbuf *),
                     const char *what) {
    for (int kind = 0; kind < BUILD_STUDY_COUNT_; kind++) {
        AUTO_BUILT_STUDY struct built_study built;
        build_study((enum build_study)kind, &built);
        for (size_t i = 0; i < ARRAY_LENGTH(pages); i++) {
            AUTO_STRBUF struct strbuf page = STRBUF_INIT;
            render(&built, pages[i].style, &page);
            check_page(strbuf_str(&page), pages[i].style);
            AUTO_FREE char *name =
                mem_printf("%s-%s-%s.txt", what, build_study_names[kind], pages[i].name);
            check_golden(name, &page);
        }
    }
}

static void render_blocks(const struct built_study *built, struct report_style style,
                          struct strbuf *out) {
    report_blocks_text(&built->study, style, out);
}

static void render_estimate(const struct built_study *built, struct report_style style,
                            struct strbuf *out) {
    report_estimate_text(&built->estimate, built->frozen, built->document.frozen_count, style, out);
}

static void blocks_pages(void **state) {
    (void)state;
    pages_of(render_blocks, "blocks");
}

static void estimate_pages(void **state) {
    (void)state;
    pages_of(render_estimate, "estimate");
}

static bool is_figure_line(const char *line, const char *name) {
    return strncmp(line, name, strlen(name)) == 0 && strstr(line, "[e]") != NULL;
}

/* Widest durations in all columns: the table stays one on a page of 80 columns. */
static void the_table_fits_its_page(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    struct estimate_figures *total = &built.estimate.total;
    struct quantity *wide[] = {&total->computing, &total->reserved, &total->calendar};
    for (size_t i = 0; i < ARRAY_LENGTH(wide); i++) {
        wide[i]->value = 59 * 60 + 58; /* "59 min 58 s" */
        wide[i]->has_interval = false;
    }
    for (int ascii = 0; ascii < 2; ascii++) {
        AUTO_STRBUF struct strbuf page = STRBUF_INIT;
        report_estimate_text(&built.estimate, NULL, 0,
                             (struct report_style){.width = 80, .ascii = ascii == 1}, &page);
        bool found = false;
        for (const char *line = strbuf_str(&page); line; line = strchr(line, '\n')) {
            line += *line == '\n';
            found = found || is_figure_line(line, "in all  ");
        }
        assert_true(found);
    }
}

/* A total never stands without what is not in it (D7). */
static void a_total_names_its_open_parts(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_TEN, &built);
    AUTO_STRBUF struct strbuf page = STRBUF_INIT;
    report_estimate_text(&built.estimate, NULL, 0, (struct report_style){.width = 200}, &page);
    assert_non_null(strstr(strbuf_str(&page), "27 parts of blocks are not in these figures"));
    for (size_t i = 0; i < built.estimate.block_count; i++)
        for (size_t j = 0; j < built.estimate.blocks[i].open_count; j++)
            assert_non_null(strstr(strbuf_str(&page), built.estimate.blocks[i].open[j]));
    assert_null(strstr(strbuf_str(&page), " hours ("));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_fits_its_page),
        cmocka_unit_test(a_total_names_its_open_parts),
        cmocka_unit_test(blocks_pages),
        cmocka_unit_test(estimate_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
