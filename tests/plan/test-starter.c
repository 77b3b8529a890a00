/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan that `init` writes: sound, all of it open, and nothing in it that nobody found out. */
#include "with-plan.h"

#define ID "01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21"

static struct with_plan starter(void **state, const char *title) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    plan_starter(ID, title, &text);
    return plan_of(state, strbuf_str(&text));
}

static void test_sound_and_open(void **state) {
    AUTO_WITH_PLAN struct with_plan with = starter(state, NULL);
    AUTO_FREE char *complaints = complaints_text(&with);
    assert_string_equal(complaints, "");
    const struct plan *plan = with.plan;
    assert_string_equal(plan->study.id, ID);
    assert_null(plan->study.title);
    assert_int_equal(plan->study.scope, PLAN_SCOPE_OPEN);
    unsigned stops = 0;
    for (size_t i = 0; i < plan->fact_count; i++) {
        assert_int_equal(plan->facts[i].state, PLAN_FACT_OPEN);
        assert_null(plan->facts[i].value);
        assert_non_null(plan->facts[i].question);
        assert_non_null(plan->facts[i].about);
        assert_int_not_equal(plan->facts[i].stops, 0);
        stops |= plan->facts[i].stops;
    }
    assert_int_equal(stops, PLAN_STOPS_VALIDATE | PLAN_STOPS_COMPARE | PLAN_STOPS_SCALE |
                                PLAN_STOPS_VERIFY | PLAN_STOPS_BOOKING);
    assert_int_equal(plan->environment_count, 1);
    assert_null(plan->environments[0].gpu);
    assert_false(plan->environments[0].gpus.given);
    assert_int_equal(plan->block_count, 1);
    assert_false(plan->blocks[0].runs.given);
    assert_int_equal(plan->blocks[0].command.count, 0);
    assert_int_equal(plan->assumption_count + plan->offer_count + plan->claim_count, 0);
}

/* REQUIREMENTS A1 to A8: nothing that must be found out is forgotten. */
static void test_asks_for_everything(void **state) {
    static const char *const about[] = {"paper",       "code",     "weights", "data",
                                        "environment", "resource", "privacy"};
    static const char *const words[] = {"version of the paper",
                                        "commit",
                                        "install",
                                        "command",
                                        "file and line",
                                        "gated",
                                        "licence",
                                        "input length",
                                        "batch",
                                        "generation",
                                        "libraries",
                                        "CUDA",
                                        "pins, patches",
                                        "memory",
                                        "personal",
                                        "provider"};
    AUTO_WITH_PLAN struct with_plan with = starter(state, NULL);
    AUTO_STRBUF struct strbuf all = STRBUF_INIT;
    for (size_t i = 0; i < with.plan->fact_count; i++)
        strbuf_printf(&all, "%s\n", with.plan->facts[i].question);
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (strstr(strbuf_str(&all), words[i]) == NULL)
            fail_msg("nobody asks about: %s", words[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(about); i++) {
        bool found = false;
        for (size_t j = 0; j < with.plan->fact_count; j++)
            found |= strcmp(with.plan->facts[j].about, about[i]) == 0;
        if (!found)
            fail_msg("no fact is about: %s", about[i]);
    }
}

static void test_titles(void **state) {
    static const struct {
        const char *title, *read;
    } cases[] = {
        {"plain", "plain"},
        {"a: b # c", "a: b # c"},
        {"\"quoted\" \\ and 'so'", "\"quoted\" \\ and 'so'"},
        {"{a}, [b], *c, &d, !e, %f, @g", "{a}, [b], *c, &d, !e, %f, @g"},
        {"two\nlines", "two\\nlines"},
        {"bad \xff byte", "bad \\xff byte"},
        {"\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4", "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4"},
        {"", NULL},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_WITH_PLAN struct with_plan with = starter(state, cases[i].title);
        AUTO_FREE char *complaints = complaints_text(&with);
        assert_string_equal(complaints, "");
        if (cases[i].read != NULL)
            assert_string_equal(with.plan->study.title, cases[i].read);
    }
}

/* Lines that fit a terminal, no tab, no character beyond ASCII. */
static void test_form(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    plan_starter(ID, NULL, &text);
    size_t lines = 0, width = 0;
    for (const char *p = strbuf_str(&text); *p != '\0'; p++) {
        assert_true(*p == '\n' || (*p >= ' ' && *p <= '~'));
        lines += *p == '\n';
        width = *p == '\n' ? 0 : width + 1;
        if (width > 108)
            fail_msg("line %zu is too long", lines + 1);
    }
    assert_in_range(lines, 100, 230);
    assert_int_equal(text.data[text.length - 1], '\n');
}

/* Who begins with it is told what makes a run done, and what counts as code. */
static void test_says_what_matters(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    plan_starter(ID, NULL, &text);
    static const char *const words[] = {"# expect: [\"marker=done\"", "is never done, unless",
                                        "--valid", "assessment:", "Name them where data lie"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (strstr(text.data, words[i]) == NULL)
            fail_msg("nothing is said of: %s", words[i]);
}

/* What is commented out is good YAML for the plan, too, once the points are filled in. */
static void test_comments_can_be_used(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf used = STRBUF_INIT;
    plan_starter(ID, NULL, &text);
    char *save = NULL;
    for (char *line = strtok_r(text.data, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        const char *mark = strstr(line, "# ");
        size_t blanks = strspn(line, " ");
        bool is_code = mark == line + blanks && (strchr(mark, ':') != NULL) &&
                       (blanks > 0 || strchr(" -abcdefghijklmnopqrstuvwxyz", mark[2]) != NULL) &&
                       strchr(mark, '.') == NULL;
        if (mark == NULL) {
            strbuf_printf(&used, "%s\n", line);
        } else if (is_code && blanks > 0 && strstr(mark, ": {of:") == NULL) {
            strbuf_printf(&used, "%.*s%s\n", (int)blanks, line, mark + 2);
        }
    }
    AUTO_WITH_PLAN struct with_plan with = plan_of(state, strbuf_str(&used));
    AUTO_FREE char *complaints = complaints_text(&with);
    for (size_t i = 0; i < with.complaints.count; i++)
        if (strcmp(with.complaints.items[i].id, "plan-yaml") == 0 ||
            strcmp(with.complaints.items[i].id, "plan-unknown-key") == 0)
            fail_msg("%s\n%s", complaints, strbuf_str(&used));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_sound_and_open),
        IN_FOLDER(test_asks_for_everything),
        IN_FOLDER(test_titles),
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_says_what_matters),
        IN_FOLDER(test_comments_can_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
