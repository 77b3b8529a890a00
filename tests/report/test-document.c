/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report in its forms: golden documents, hostile texts, rules that hold on every document. */
#include "build-run.h"
#include "build-study.h"
#include "checks.h"
#include "report/decide.h"
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

/* ---- Markdown ---- */

static void add(const char *text, char **ret) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    markdown_add(&out, text);
    *ret = strbuf_take(&out);
}

static void texts_are_no_markup(void **state) {
    (void)state;
    static const struct {
        const char *text, *markdown;
    } cases[] = {
        {"a|b", "a\\|b"},
        {"a\\|b", "a\\\\\\|b"},
        {"`rm`", "\\`rm\\`"},
        {"<script>&amp;", "&lt;script>&amp;amp;"},
        {"[x](javascript:1)", "\\[x\\](javascript:1)"},
        {"![x][m]", "!\\[x\\]\\[m\\]"},
        {"*a* _b_ __c__ d_e", "\\*a\\* \\_b\\_ \\_\\_c\\_\\_ d_e"},
        {"~~a~~ $x$ #1", "\\~\\~a\\~\\~ \\$x\\$ \\#1"},
        {"line\nfeed\ttab\033[31m\xff", "line\\\\nfeed\\\\ttab\\\\x1b\\[31m\\\\xff"},
        {"\xe2\x80\xae", "\\\\xe2\\\\x80\\\\xae"}, /* reverses what follows */
        {"한국어 größe", "한국어 größe"},
        {"see https://example.org/a_b", "see https\\://example.org/a_b"},
        {"HTTP://x ftp://y", "HTTP\\://x ftp\\://y"},
        {"www.example.org WWW.x", "www\\.example.org WWW\\.x"},
        {"someone@example.org", "someone@<!-- -->example.org"},
        {"mailto:a.b@c.d", "mailto:a.b@<!-- -->c.d"},
        {"at probelauf.yaml:3, 5 @ 3, v1.0", "at probelauf.yaml:3, 5 @ 3, v1.0"},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_FREE char *markdown = NULL;
        add(cases[i].text, &markdown);
        assert_string_equal(markdown, cases[i].markdown);
    }
}

static void nothing_begins_a_block(void **state) {
    (void)state;
    static const struct {
        const char *text, *markdown;
    } cases[] = {
        {"- a", "- \\- a\n"},     {"+ a", "- \\+ a\n"},     {"1. a", "- 1\\. a\n"},
        {"12) a", "- 12\\) a\n"}, {"> a", "- \\> a\n"},     {"=== a", "- \\=== a\n"},
        {"# a", "- \\# a\n"},     {"0.9 a", "- 0\\.9 a\n"}, {"a - b", "- a - b\n"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        markdown_bullet(&out, cases[i].text);
        assert_string_equal(strbuf_str(&out), cases[i].markdown);
    }
}

static void code_ends_where_it_should(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool table;
        const char *markdown;
    } cases[] = {
        {"run -- x", false, "`run -- x`"},
        {"a `b` c", false, "``a `b` c``"},
        {"`b`", false, "`` `b` ``"},
        {"a ``b`", false, "``` a ``b` ```"},
        {"a|b", true, "a\\|b"},
        {"a|b", false, "`a|b`"},
        {"a\n<b>", true, "`a\\n<b>`"},
        {"", false, ""},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        markdown_add_code(&out, cases[i].text, cases[i].table);
        assert_string_equal(strbuf_str(&out), cases[i].markdown);
    }
}

/* Bars that end a cell: those without a backslash before them. */
static size_t count_bars(const char *line, size_t length) {
    size_t bars = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\\')
            i++;
        else
            bars += line[i] == '|';
    }
    return bars;
}

/* Each row has as many cells as its table's head; no HTML outside code; no control characters; no
 * two empty lines. */
static void check_markdown(const char *text) {
    size_t bars = 0;
    assert_null(strstr(text, "\n\n\n"));
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        size_t here = line[0] == '|' ? count_bars(line, length) : 0;
        if (here > 0 && bars > 0 && here != bars)
            fail_msg("%zu bars instead of %zu: %.*s", here, bars, (int)length, line);
        bars = here;
        bool code = false;
        for (size_t i = 0; i < length; i++) {
            unsigned char c = (unsigned char)line[i];
            if (c < 32 || c == 127)
                fail_msg("byte %u in: %.*s", c, (int)length, line);
            code ^= c == '`' && (i == 0 || line[i - 1] != '\\');
            if (c == '<' && !code)
                fail_msg("HTML in: %.*s", (int)length, line);
        }
        line += length + (line[length] == '\n');
    }
}

static void no_document_is_broken_by_its_texts(void **state) {
    (void)state;
    for (int kind = 0; kind < BUILD_STUDY_COUNT_; kind++) {
        AUTO_BUILT_STUDY struct built_study built;
        build_study((enum build_study)kind, &built);
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        report_document_markdown(&built.document, &out);
        check_markdown(strbuf_str(&out));
        strbuf_clear(&out);
        built.document.study = NULL; /* the same runs without a plan: commands stand in cells */
        built.document.estimate = NULL;
        report_document_markdown(&built.document, &out);
        check_markdown(strbuf_str(&out));
        assert_non_null(strstr(strbuf_str(&out), "## What a plan would add"));
    }
}

static void older_runs_are_counted(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    built.document.runs_shown = 1;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    report_document_markdown(&built.document, &out);
    assert_non_null(strstr(strbuf_str(&out), "These are the 1 newest of 3 runs; the figures of "
                                             "this report rest on all of them."));
    assert_non_null(strstr(strbuf_str(&out), "| a1b2c3d4 |"));
    assert_null(strstr(strbuf_str(&out), "| 00000011 |"));
}

static void assert_has(const struct strbuf *text, const char *part) {
    if (!strstr(strbuf_str(text), part))
        fail_msg("lacks '%s'", part);
}

static void assert_lacks(const struct strbuf *text, const char *part) {
    if (strstr(strbuf_str(text), part))
        fail_msg("holds '%s'", part);
}

static void markdown_of(const struct built_study *built, struct strbuf *out) {
    strbuf_clear(out);
    report_document_markdown(&built->document, out);
}

/* A second run that counts, and results of all kinds: the one that failed reports one, too. */
static void give_results(struct built_study *built) {
    struct run *failed = built->runs[1], *plain = built->runs[2];
    failed->results = arena_alloc(failed->arena, sizeof(*failed->results));
    failed->results[0] = (struct run_result){"agreement", quantity_measured("1", 0.111, "mark")};
    failed->result_count = 1;
    plain->results = arena_alloc(plain->arena, 2 * sizeof(*plain->results));
    plain->results[0] = (struct run_result){"agreement", quantity_measured("1", 0.94, "mark")};
    plain->results[1] =
        (struct run_result){"tokens_per_s", quantity_measured("token/s", 700, "json /t of out")};
    plain->result_count = 2;
    struct study_condition *condition = &built->study.blocks[1].conditions[0];
    const struct study_run **runs = arena_alloc(built->arena, 3 * sizeof(*runs));
    for (size_t i = 0; i < 3; i++)
        runs[i] = &built->study.runs[i];
    built->study.runs[2].evidence.level = EVIDENCE_MEASURED;
    condition->runs = runs;
    condition->run_count = 3;
}

static void results_are_those_of_runs_that_count(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    build_study(BUILD_STUDY_FOUR, &built);
    give_results(&built);
    built.study.claim_count = 0; /* they need no claim */
    markdown_of(&built, &out);
    assert_has(&out, "\n## Results\n");
    assert_has(&out,
               "| compare | policy=full keep=0.1 | agreement | [m] 0.96 | [m] 0.94 to 0.98 | 2 | "
               "a mark that the run set |\n");
    assert_has(&out, "| tokens_per_s | [m] 812.5 token/s | - | 1 | a mark that the run set |\n");
    assert_has(&out, "| tokens_per_s | [m] 700 token/s | - | 1 | json /t of out |\n");
    assert_has(&out, "- [?] compare: cache_bytes: no run that counts reported it (policy=full "
                     "keep=0.1)\n");
    assert_has(&out, "- [?] compare: agreement, cache_bytes: no run that counts yet (policy=evict "
                     "keep=0.2; policy=full keep=0.3;");
    assert_lacks(&out, "0.111");
    strbuf_clear(&out);
    report_document_csv(&built.document, &out);
    assert_has(&out, "result,compare,policy=full keep=0.1,agreement,measured,0.96,1,exact,,,,2,"
                     "median of the runs' results (mark),,,"
                     "019d0c5a-7e3b-7a41-9c2e-1f60a1b2c3d4 ");
    assert_has(&out, "result,compare,policy=full keep=0.1,agreement.least,measured,0.94,");
    assert_has(&out, "result,compare,policy=evict keep=0.2,agreement,open,,1,,");
    assert_lacks(&out, "0.111");
    AUTO_JSON json_t *json = report_document_json(&built.document);
    const json_t *first = json_array_get(json_get_array(json, "results"), 0);
    assert_string_equal(json_get_text(first, "name", ""), "agreement");
    assert_string_equal(json_get_text(first, "obtained", ""), "mark");
    assert_true(json_real_value(json_object_get(first, "least")) == 0.94);
}

/* A condition that two blocks share is one, with the runs of both, each once. */
static void a_shared_condition_has_one_result(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    build_study(BUILD_STUDY_FOUR, &built);
    give_results(&built);
    struct study_condition *other = &built.study.blocks[3].conditions[0];
    const struct study_condition *own = &built.study.blocks[1].conditions[0];
    memcpy(built.plan.blocks[3].conditions[0].id, own->condition->id, sizeof(own->condition->id));
    other->runs = own->runs;
    other->run_count = own->run_count;
    markdown_of(&built, &out);
    assert_has(&out,
               "| compare, verify | policy=full keep=0.1 | agreement | [m] 0.96 | [m] 0.94 to "
               "0.98 | 2 |");
    assert_lacks(&out, "| verify | policy=full keep=0.1 | agreement");
    assert_has(&out, "; 2 of 12 conditions have a run that counts; ");
}

static void what_was_not_seen_is_said(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    build_study(BUILD_STUDY_FOUR, &built);
    for (size_t i = 0; i < 3; i++) {
        built.runs[i]->tree_pss = quantity_open(UNIT_BYTE, QUANTITY_NOT_SAMPLED, "too short");
        json_object_del(built.runs[i]->start, "blind_spots");
        for (size_t k = 0; k < built.runs[i]->gpu_count; k++)
            built.runs[i]->gpus[k].device_used =
                quantity_open(UNIT_BYTE, QUANTITY_NOT_SUPPORTED, "GPU probing not built in");
    }
    built.runs[2]->tree_pss = quantity_measured(UNIT_BYTE, 1, "sampled");
    markdown_of(&built, &out);
    assert_has(&out, "No run here holds a figure of a GPU");
    assert_has(&out, "| memory of all processes | 2 of 3 | open (not sampled): too short |");
    assert_has(&out, "| GPU: memory, load, energy | ");
    assert_lacks(&out, "No run named a blind spot");
    built.runs[0]->gpus[0].device_used = quantity_measured(UNIT_BYTE, 1, "NVML");
    markdown_of(&built, &out);
    assert_lacks(&out, "No run here holds a figure of a GPU");
}

/* What a total rests on that somebody assumed stands directly under it. */
static void assumptions_stand_beside_the_totals(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    build_study(BUILD_STUDY_FOUR, &built);
    markdown_of(&built, &out);
    const char *heading = strstr(strbuf_str(&out), "### Assumptions in these figures");
    const char *parts = strstr(strbuf_str(&out), "### What the figures are made of");
    assert_true(heading && parts && heading < parts);
    assert_has(&out, "| task read-the-texts | [a] 1 h 00 min | D. Muster | 2026-11-29 | four texts "
                     "| probelauf.yaml:80 |");
    built.plan.tasks[0].done = PLAN_YES; /* counts no more */
    markdown_of(&built, &out);
    assert_lacks(&out, "| task read-the-texts |");
    assert_has(&out, "With ≥, the interval is that of the parts that are in it.");
}

static void the_first_screen_says_it_all(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    build_study(BUILD_STUDY_FOUR, &built);
    markdown_of(&built, &out);
    assert_has(&out, "- **to be shown:** with half of the cache the text stays as it was: "
                     "**reproduced** (");
    assert_has(&out, "; 2 of 13 conditions have a run that counts; runs that count and whose "
                     "result was checked: 4; how many are planned is open\n");
    assert_has(&out, "- **left to do, provisional:** runs: ≥ 24, open in some blocks; reserved "
                     "(paid) machine time [e] ≥ ");
    assert_has(&out, "- **open:** [?] what does the largest prompt take on the GPU?\n");
    built.study.claim_count = 0;
    markdown_of(&built, &out);
    assert_has(&out, "- **to be shown:** [?] the plan names no claim; it asks: how much");
}

/* No table without rows, no count of nothing. */
static void a_plan_without_blocks_has_no_empty_tables(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    build_study(BUILD_STUDY_EMPTY, &built);
    markdown_of(&built, &out);
    assert_has(&out, "- **done so far:** 0 runs were made; the plan has no blocks yet");
    assert_lacks(&out, "|\n\n## Cost");
    assert_lacks(&out, "0 of 0");
    assert_lacks(&out, "What the figures are made of");
    assert_lacks(&out, "## Memory");
}

static void times_of_other_environments_are_named(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    build_study(BUILD_STUDY_FOUR, &built);
    for (size_t i = 0; i < built.study.run_count; i++)
        built.study.runs[i].environment = built.input.environment;
    markdown_of(&built, &out);
    assert_has(&out, "- **time spent so far:** [m] ≥ 8 min 21 s");
    assert_lacks(&out, "made in '");
    assert_lacks(&out, "in other environments");
    built.study.runs[1].environment = &built.plan.environments[1];
    markdown_of(&built, &out);
    assert_has(&out, "- **time spent so far in this environment:** [m] ≥ 8 min 21 s");
    assert_has(&out, "- **time spent so far in other environments:** [m] 1 min 40 s");
    AUTO_FREE char *made = mem_printf("; made in '%s'", built.plan.environments[1].id);
    assert_has(&out, made);
    built.study.runs[1].environment = NULL;
    markdown_of(&built, &out);
    assert_has(&out, "; in which environment it was made is not known");
}

static void every_form_says_which_runs_are_in(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    build_study(BUILD_STUDY_FOUR, &built);
    markdown_of(&built, &out);
    assert_has(&out, " from 3 runs, all of the study; plan ");
    built.document.study = NULL;
    built.document.estimate = NULL;
    built.document.run_total = 8;
    markdown_of(&built, &out);
    assert_has(&out, " from the 3 newest of 8 runs of the ledger.");
    strbuf_clear(&out);
    report_document_csv(&built.document, &out);
    assert_has(&out, "document,,,runs_in,measured,3,count,");
    assert_has(&out, "document,,,runs_total,measured,8,count,");
    AUTO_JSON json_t *json = report_document_json(&built.document);
    const json_t *in = json_object_get(json, "runs_in");
    assert_string_equal(json_get_text(in, "of", ""), "ledger");
    assert_int_equal(json_get_int(in, "count", 0), 3);
    assert_int_equal(json_get_int(in, "total", 0), 8);
    assert_true(json_is_false(json_object_get(in, "all")));
}

/* ---- CSV ---- */

/* Cells of one line by RFC 4180; fails where a cell is a formula or the line is not well formed. */
static size_t check_line(const char **at) {
    size_t cells = 0;
    const char *p = *at;
    for (;;) {
        bool quoted = *p == '"';
        const char *begin = p + quoted;
        if (strchr("=+@\t\r", *begin) && *begin != '\0' && *begin != '\r')
            fail_msg("formula: %.40s", p);
        if (*begin == '-')
            fail_msg("formula or negative number: %.40s", p);
        if (quoted) {
            for (p++; *p && (*p != '"' || p[1] == '"'); p++)
                p += *p == '"';
            assert_int_equal(*p, '"');
            p++;
        } else {
            p += strcspn(p, ",\r\n\"");
        }
        cells++;
        if (*p != ',')
            break;
        p++;
    }
    if (p[0] != '\r' || p[1] != '\n')
        fail_msg("line does not end: %.40s", p);
    *at = p + 2;
    return cells;
}

static void every_line_of_csv_has_all_cells(void **state) {
    (void)state;
    for (int kind = 0; kind < BUILD_STUDY_COUNT_; kind++) {
        AUTO_BUILT_STUDY struct built_study built;
        build_study((enum build_study)kind, &built);
        if (kind == BUILD_STUDY_HOSTILE) {
            built.plan.blocks[0].id = "=HYPERLINK(\"http://x\")";
            built.plan.blocks[1].id = "-2+3,\"x\"";
            built.plan.blocks[2].id = "@SUM(A1)";
            built.plan.blocks[3].id = "\t=1\r\n+1";
        }
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        report_document_csv(&built.document, &out);
        size_t lines = 0;
        for (const char *at = strbuf_str(&out); *at; lines++)
            assert_int_equal(check_line(&at), 18);
        assert_true(lines > 10);
    }
}

/* ---- notes and verdict ---- */

static bool has_note(const struct report_document *document, const char *finding,
                     const char *evidence) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct report_note notes[REPORT_NOTES_MAX];
    size_t count = report_document_notes(document, arena, notes);
    assert_true(count <= REPORT_NOTES_MAX);
    for (size_t i = 0; i < count; i++)
        if (strstr(notes[i].finding, finding))
            return !evidence || (notes[i].evidence && strstr(notes[i].evidence, evidence));
    return false;
}

/* The note's command names what the rule found. */
static void assert_command(const struct report_document *document, const char *finding,
                           const char *command) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct report_note notes[REPORT_NOTES_MAX];
    size_t count = report_document_notes(document, arena, notes);
    for (size_t i = 0; i < count; i++)
        if (strstr(notes[i].finding, finding)) {
            assert_string_equal(notes[i].command, command);
            return;
        }
    fail_msg("no note says '%s'", finding);
}

/* Each rule alone: what is before it in the table is settled first. */
static void each_note_stands_on_the_model(void **state) {
    (void)state;
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_FOUR, &built);
    struct report_document *document = &built.document;
    assert_true(has_note(document, "provisional", "resource.gpu-memory is open"));
    built.estimate.provisional = false;
    assert_false(has_note(document, "provisional", NULL));
    assert_true(has_note(document, "open fact", "it stops scale, booking"));
    built.study.open_fact_count = 0;
    assert_false(has_note(document, "open fact", NULL));
    assert_false(has_note(document, "claim is not", NULL));
    built.study.claims[1].verdict = STUDY_NOT_REPRODUCED;
    assert_true(has_note(document, "claim is not", "attention-beats-recency"));
    built.study.repeat_checks[0].verdict = STUDY_NOT_REPRODUCED;
    assert_true(has_note(document, "another result", "verify"));
    assert_command(document, "another result", "probelauf block list"); /* no run of it counts */
    built.study.claims[1].verdict = STUDY_OPEN;
    built.study.repeat_checks[0].verdict = STUDY_OPEN;
    assert_true(has_note(document, "memory peak", "1.36 GiB of [m] 1.5 GiB"));
    for (size_t i = 0; i < 4; i++)
        built.estimate.blocks[i].host_memory.capacity.value *= 2;
    assert_false(has_note(document, "memory peak", NULL));
    assert_true(has_note(document, "not every block", "2 more blocks"));
    assert_command(
        document, "not every block",
        "probelauf run --env here --block compare -c policy=evict -c keep=0.2 -- COMMAND");
    for (size_t i = 0; i < 4; i++)
        built.study.blocks[i].level = EVIDENCE_MEASURED;
    assert_false(has_note(document, "not every block", NULL));
    assert_true(has_note(document, "too little", "one run only"));
    assert_false(has_note(document, "same cause", NULL));
    built.runs[2]->outcome = OUTCOME_DISK_FULL;
    assert_true(has_note(document, "same cause", "2 times disk_full"));
    assert_command(document, "same cause", "probelauf explain deadbeef");
    assert_true(has_note(document, "block was frozen", "the code changed"));
    assert_command(document, "block was frozen", "probelauf block freeze compare");
    assert_false(has_note(document, "nobody planned", NULL));
    built.study.unplanned_time.value = 300;
    assert_true(has_note(document, "nobody planned", "5 min 00 s of [m] "));
    assert_true(has_note(document, "frozen estimate is outdated", "before: the plan changed"));
    built.document.frozen_count = 1; /* the one that holds */
    built.study.blocks[1].freeze_outdated = NULL;
    assert_true(has_note(document, "plan has a warning", "probelauf.yaml:33"));
    built.study.unplanned_time.value = 0;
    built.document.complaints = NULL;
    assert_true(has_note(document, "validation that comes first", "a cap in time or money"));
    assert_command(document, "validation that comes first", "probelauf decide");
    built.decision.validation_lack_count = 0;
    assert_false(has_note(document, "validation that comes first", NULL));
    static const char *const tasks[] = {"ask the authors (probelauf.yaml:60)", "read"};
    assert_false(has_note(document, "before a machine is booked", NULL));
    built.decision.before_booking = tasks;
    built.decision.before_booking_count = 2;
    assert_true(has_note(document, "before a machine is booked", "probelauf.yaml:60); 1 more"));
    built.decision.before_booking_count = 0;
    assert_true(has_note(document, "no amount", "10 more"));
}

static void the_verdict_is_the_decision(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_BUILT_STUDY struct built_study built;
    build_study(BUILD_STUDY_TEN, &built);
    const char *verdict = report_document_verdict(&built.document, arena);
    assert_string_equal(verdict, report_decide_sentence(&built.decision, arena));
    assert_non_null(strstr(verdict, built.decision.best->by->then));
    const struct plan_fact open[] = {{.id = "privacy/class", .about = "privacy"},
                                     {.id = "code.available", .about = "code"}};
    const struct plan_fact *facts[] = {&open[0], &open[1]};
    built.study.open_facts = facts;
    built.study.open_fact_count = 2;
    AUTO_JSON json_t *json = report_document_json(&built.document);
    const json_t *unsettled = json_get_array(json_object_get(json, "privacy"), "open");
    assert_int_equal(json_array_size(unsettled), 1);
    assert_string_equal(json_string_value(json_array_get(unsettled, 0)), "privacy/class");
    AUTO_STRBUF struct strbuf markdown = STRBUF_INIT;
    report_document_markdown(&built.document, &markdown);
    assert_has(&markdown, "- [?] not settled, which stops booking: privacy/class\n");
    struct report_document none = {0};
    assert_non_null(strstr(report_document_verdict(&none, arena), "no plan was found"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),
        cmocka_unit_test(texts_are_no_markup),
        cmocka_unit_test(nothing_begins_a_block),
        cmocka_unit_test(code_ends_where_it_should),
        cmocka_unit_test(no_document_is_broken_by_its_texts),
        cmocka_unit_test(older_runs_are_counted),
        cmocka_unit_test(results_are_those_of_runs_that_count),
        cmocka_unit_test(a_shared_condition_has_one_result),
        cmocka_unit_test(what_was_not_seen_is_said),
        cmocka_unit_test(assumptions_stand_beside_the_totals),
        cmocka_unit_test(the_first_screen_says_it_all),
        cmocka_unit_test(a_plan_without_blocks_has_no_empty_tables),
        cmocka_unit_test(times_of_other_environments_are_named),
        cmocka_unit_test(every_form_says_which_runs_are_in),
        cmocka_unit_test(every_line_of_csv_has_all_cells),
        cmocka_unit_test(each_note_stands_on_the_model),
        cmocka_unit_test(the_verdict_is_the_decision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
