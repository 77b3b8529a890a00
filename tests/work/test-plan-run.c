/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan adds to a run, and that what it cannot use is a warning and never a stop. */
#include "../base/testing.h"

#include "base/fd.h"
#include "text/extract.h"
#include "work/plan-run.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#define STUDY "01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21"

static const char plan_text[] =
    "probelauf: 1\n"
    "study: {id: " STUDY ", title: T, paper: {title: P, version: v1}}\n"
    "code: {paths: [src, ':(exclude)src/*.txt']}\n"
    "phases:\n"
    "  patterns:\n"
    "    - {phase: load, regex: '^Loading'}\n"
    "environments: [{id: here, kind: own, gpus: 0}]\n"
    "steps:\n"
    "  - {name: fetch, component: data, run: [sh, fetch.sh], needs_machine: no, repeats: once}\n"
    "  - {name: by-hand, component: prepare, needs_machine: no, repeats: once}\n"
    "blocks:\n"
    "  - id: one\n"
    "    kind: validate\n"
    "    question: q\n"
    "    fixed: {n: 1}\n"
    "    matrix: {m: {values: [x, y], state: chosen}}\n"
    "    runs: 1\n"
    "    command: train --m {m} --n {n}\n"
    "    folder: src\n"
    "    inputs: ['../data/{m}.txt', '/abs/{m}']\n"
    "    outputs: ['out/{m}.json']\n"
    "    expect: ['file=out/{m}.json', 'marker=done {m}']\n"
    "    results:\n"
    "      - {name: a, unit: '1', file: 'out/{m}.json', json: /a}\n"
    "      - {name: b, unit: '1'}\n"
    "      - {name: c, unit: s, file: /abs/c.csv, csv: c, row: first}\n"
    "  - id: two\n"
    "    kind: compare\n"
    "    question: q\n"
    "    fixed: {n: 2}\n"
    "    matrix: {m: {values: [x], state: chosen}}\n"
    "    runs: 1\n"
    "  - id: three\n"
    "    kind: compare\n"
    "    question: q\n"
    "    fixed: {n: 2}\n"
    "    matrix: {m: {values: [x], state: chosen}}\n"
    "    runs: 1\n";

static char start_folder[PATH_MAX]; /* where the tests were started */

/* A folder of its own, with a plan, as the current one. */
static int setup(void **state) {
    if (folder_setup(state) != 0 || getcwd(start_folder, sizeof start_folder) == NULL ||
        chdir(*state) != 0)
        return 1;
    setenv("HOME", *state, 1); /* no plan above is ever found */
    unsetenv("PROBELAUF_PLAN");
    struct err err = ERR_INIT;
    return mkdir("sub", 0700) < 0 ||
           file_write_atomic("probelauf.yaml", plan_text, strlen(plan_text), 0600, &err) < 0;
}

static int teardown(void **state) {
    return chdir(start_folder) != 0 || folder_teardown(state) != 0;
}

static const char *const train_x[] = {"train", "--m", "x", "--n", "1", NULL};

static void find(const struct plan_run_request *request, struct plan_run *ret) {
    struct err err = ERR_INIT;
    if (plan_run_find(request, ret, &err) < 0)
        fail_msg("%s: %s", err.id, err.text);
}

static void refused(const struct plan_run_request *request, const char *id, const char *says) {
    struct plan_run run AUTO_PLAN_RUN = {0};
    struct err err = ERR_INIT;
    assert_true(plan_run_find(request, &run, &err) < 0);
    assert_string_equal(err.id, id);
    if (strstr(err.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, says);
}

static void warns(const struct plan_run *run, const char *says) {
    assert_int_equal(run->warning_count, 1);
    if (strstr(run->warnings[0], says) == NULL)
        fail_msg("'%s' does not say '%s'", run->warnings[0], says);
}

static char *in_folder(const char *name) {
    char *here = getcwd(NULL, 0);
    char *path = mem_printf("%s/%s", here, name);
    free(here);
    return path;
}

static size_t length_of(const char *const *list) {
    size_t count = 0;
    while (list[count] != NULL)
        count++;
    return count;
}

/* ---- find ---- */

static void the_condition_is_found(void **state) {
    (void)state;
    struct plan_run run AUTO_PLAN_RUN = {0};
    const struct plan_pair given[] = {{.name = "m", .value = "x"}, {.name = "n", .value = "1"}};
    find(&(struct plan_run_request){.given = given, .given_count = 2, .argv = train_x}, &run);
    warns(&run, "does not run where the plan says for m=x of block 'one': in folder '.' instead "
                "of 'src'");
    assert_string_equal(run.block->id, "one");
    assert_ptr_equal(run.argv, train_x);
    assert_null(run.folder);
    AUTO_JSON json_t *start = json_object();
    plan_run_put_start(&run, start);
    assert_string_equal(json_get_text(start, "study", ""), STUDY);
    assert_string_equal(json_get_text(start, "block", ""), "one");
    assert_string_equal(json_get_text(start, "paper_version", ""), "v1");
    assert_string_equal(json_get_text(start, "condition_id", ""), run.condition->id);
    assert_non_null(json_get_text(start, "template_id", NULL));
    const json_t *parameters = json_get_object(start, "parameters");
    assert_int_equal(json_object_size(parameters), 2);
    assert_string_equal(json_get_text(parameters, "n", ""), "1");
    assert_null(json_object_get(start, "environment_id"));
    assert_string_equal(json_get_text(start, "plan_folder", ""), ".");
}

static void expect_folder(const char *folder, size_t warning_count) {
    struct plan_run run AUTO_PLAN_RUN = {0};
    const struct plan_pair given[] = {{.name = "m", .value = "x"}, {.name = "n", .value = "1"}};
    find(&(struct plan_run_request){.given = given, .given_count = 2, .argv = train_x}, &run);
    AUTO_JSON json_t *start = json_object();
    plan_run_put_start(&run, start);
    assert_string_equal(json_get_text(start, "plan_folder", ""), folder);
    assert_int_equal(run.warning_count, warning_count);
}

/* As the plan calls it, by whatever name one came there; else from the plan's folder. */
static void the_folder_is_told_from_the_plan(void **state) {
    (void)state;
    char *plan AUTO_FREE = in_folder("probelauf.yaml");
    setenv("PROBELAUF_PLAN", plan, 1);
    assert_int_equal(chdir("sub"), 0);
    expect_folder("sub", 1);
    assert_int_equal(symlink("sub", "../src"), 0);
    expect_folder("src", 0);
    assert_int_equal(unlink("../src"), 0);
    assert_int_equal(mkdir("../src", 0700) || chdir("../src"), 0);
    expect_folder("src", 0);
    assert_int_equal(chdir("/"), 0);
    struct plan_run run AUTO_PLAN_RUN = {0};
    const struct plan_pair given[] = {{.name = "m", .value = "x"}, {.name = "n", .value = "1"}};
    find(&(struct plan_run_request){.given = given, .given_count = 2, .argv = train_x}, &run);
    warns(&run, "in folder '..");
    unsetenv("PROBELAUF_PLAN");
}

/* The blocks two and three have the same condition: it is one, and neither block was said. */
static void a_shared_condition_has_no_block(void **state) {
    (void)state;
    const struct plan_pair given[] = {{.name = "m", .value = "x"}, {.name = "n", .value = "2"}};
    struct plan_run_request request = {
        .given = given, .given_count = 2, .argv = train_x, .environment = "here"};
    struct plan_run any AUTO_PLAN_RUN = {0}, said AUTO_PLAN_RUN = {0};
    find(&request, &any);
    assert_non_null(any.condition);
    assert_null(any.block);
    request.block = "three";
    find(&request, &said);
    assert_string_equal(said.block->id, "three");
    assert_string_equal(said.condition->id, any.condition->id);
    AUTO_JSON json_t *start = json_object();
    plan_run_put_start(&any, start);
    assert_null(json_object_get(start, "block"));
    assert_null(json_object_get(start, "template_id")); /* there is no command */
    assert_string_equal(json_get_text(start, "environment_id", ""), "here");
}

static void what_is_not_known_is_a_warning(void **state) {
    (void)state;
    const struct {
        struct plan_run_request request;
        const char *says;
    } cases[] = {
        {{.block = "threee"}, "did you mean 'three'?"},
        {{.block = "one"}, "'m'"},
        {{.step = "fetsch"}, "did you mean 'fetch'?"},
        {{.environment = "hera"}, "did you mean 'here'?"},
        {{.given = (const struct plan_pair[]){{.name = "m", .value = "z"}}, .given_count = 1},
         "'z'"},
        {{.given = (const struct plan_pair[]){{.name = "m", .value = "y"}}, .given_count = 1},
         "the command is not the plan's"},
        {{.step = "fetch"},
         "the command is not the plan's for step 'fetch': 'train' instead of 'sh'"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct plan_run run AUTO_PLAN_RUN = {0};
        struct plan_run_request request = cases[i].request;
        request.argv = train_x;
        find(&request, &run);
        warns(&run, cases[i].says);
        assert_ptr_equal(run.argv, train_x);
        assert_non_null(run.plan);
    }
}

static void nothing_said_is_no_warning(void **state) {
    (void)state;
    struct plan_run run AUTO_PLAN_RUN = {0};
    find(&(struct plan_run_request){.argv = train_x}, &run);
    assert_int_equal(run.warning_count, 0);
    assert_null(run.condition);
    struct plan_run step AUTO_PLAN_RUN = {0}, fetch AUTO_PLAN_RUN = {0};
    const struct plan_pair given[] = {{.name = "mirror", .value = "a"}}; /* the step's own */
    static const char *const as_planned[] = {"sh", "fetch.sh", NULL};
    find(
        &(struct plan_run_request){
            .argv = train_x, .step = "by-hand", .given = given, .given_count = 1},
        &step);
    assert_int_equal(step.warning_count, 0); /* the plan has no command for it */
    assert_string_equal(step.step->name, "by-hand");
    find(
        &(struct plan_run_request){
            .argv = as_planned, .step = "fetch", .given = given, .given_count = 1},
        &fetch);
    assert_int_equal(fetch.warning_count, 0);
}

static void the_plans_own_command(void **state) {
    (void)state;
    struct plan_run run AUTO_PLAN_RUN = {0}, step AUTO_PLAN_RUN = {0};
    AUTO_FREE char *src = in_folder("src");
    AUTO_FREE char *here = in_folder("");
    const struct plan_pair given[] = {{.name = "m", .value = "x"}};
    find(&(struct plan_run_request){.block = "one", .given = given, .given_count = 1}, &run);
    assert_int_equal(length_of(run.argv), 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(run.argv[i], train_x[i]);
    assert_string_equal(run.folder, src);
    find(&(struct plan_run_request){.step = "fetch"}, &step);
    assert_string_equal(step.argv[1], "fetch.sh");
    here[strlen(here) - 1] = '\0';
    assert_string_equal(step.folder, here);
}

static void without_any_command_there_is_nothing_to_run(void **state) {
    (void)state;
    const struct plan_pair given[] = {{.name = "m", .value = "x"}};
    refused(&(struct plan_run_request){.step = "by-hand"}, "plan-command", "'by-hand'");
    refused(&(struct plan_run_request){.step = "fetsch"}, "step-unknown", "'fetch'");
    refused(&(struct plan_run_request){.block = "one"}, "plan-condition", "x, y");
    refused(&(struct plan_run_request){.block = "two", .given = given, .given_count = 1},
            "plan-command", "'two'");
    refused(&(struct plan_run_request){.block = "one", .plan = "none"}, "plan-missing", "no plan");
    refused(&(struct plan_run_request){.argv = train_x, .plan = "nowhere"}, "plan-unreadable",
            "nowhere");
}

static void a_broken_plan_is_a_warning(void **state) {
    (void)state;
    static const char *const texts[] = {"", "probelauf: 2\n", "a: [", "\t", "\xff", "study: {}\n"};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        struct plan_run run AUTO_PLAN_RUN = {0};
        struct err err = ERR_INIT;
        assert_int_equal(
            file_write_atomic("probelauf.yaml", texts[i], strlen(texts[i]), 0600, &err), 0);
        find(&(struct plan_run_request){.argv = train_x, .block = "one", .environment = "e"}, &run);
        warns(&run, "recorded without its plan");
        warns(&run, "probelauf.yaml");
        assert_null(run.plan);
        struct exec_options exec = {0};
        plan_run_fill(&run, &exec);
        assert_ptr_equal(exec.argv, train_x);
        assert_null(exec.study);
        assert_null(exec.code.folder);
        AUTO_JSON json_t *start = json_object();
        plan_run_put_start(&run, start);
        assert_int_equal(json_object_size(start), 1); /* the environment, as it was said */
    }
}

/* ---- fill ---- */

static const char *const given_inputs[] = {"more.txt", "./data/x.txt", NULL};
static const char *const given_outputs[] = {"log", NULL};
static const char *const given_checks[] = {"file=log", "count=3", NULL};
static const struct exec_pattern given_patterns[] = {{"compute", "^Step"}};

static struct exec_options given_options(void) {
    return (struct exec_options){.inputs = given_inputs,
                                 .outputs = given_outputs,
                                 .expect = given_checks,
                                 .patterns = given_patterns,
                                 .pattern_count = 1};
}

static void is_path(const char *path, const char *name) {
    AUTO_FREE char *expected = in_folder(name);
    assert_string_equal(path, expected);
}

static void the_plan_adds_to_what_was_given(void **state) {
    (void)state;
    struct plan_run run AUTO_PLAN_RUN = {0};
    const struct plan_pair given[] = {{.name = "m", .value = "x"}};
    find(
        &(struct plan_run_request){
            .block = "one", .given = given, .given_count = 1, .argv = train_x},
        &run);
    struct exec_options exec = given_options();
    plan_run_fill(&run, &exec);
    assert_string_equal(exec.study, STUDY);
    /* "./data/x.txt" from here is another spelling of the plan's, but not its text: both stay */
    assert_int_equal(length_of(exec.inputs), 4);
    is_path(exec.inputs[0], "src/../data/x.txt");
    assert_string_equal(exec.input_names[0], "../data/x.txt");
    assert_string_equal(exec.inputs[1], "/abs/x");
    assert_string_equal(exec.inputs[2], "more.txt");
    assert_string_equal(exec.input_names[2], "more.txt");
    assert_int_equal(length_of(exec.outputs), 2);
    assert_string_equal(exec.outputs[0], "log");
    is_path(exec.outputs[1], "src/out/x.json");
    assert_int_equal(length_of(exec.expect), 4);
    assert_string_equal(exec.expect[0], "file=log");
    assert_true(strncmp(exec.expect[2], "file=/", 6) == 0);
    is_path(exec.expect[2] + 5, "src/out/x.json");
    assert_string_equal(exec.expect[3], "marker=done x");
    assert_int_equal(exec.pattern_count, 2);
    assert_string_equal(exec.patterns[0].regex, "^Step");
    assert_string_equal(exec.patterns[1].phase, "load");
    assert_int_equal(exec.result_count, 2); /* b is reported by the command itself */
    is_path(exec.results[0].file, "src/out/x.json");
    assert_string_equal(exec.results[0].label, "out/{m}.json");
    assert_int_equal(exec.results[0].spec.kind, EXTRACT_JSON);
    assert_string_equal(exec.results[1].file, "/abs/c.csv");
    assert_string_equal(exec.results[1].spec.row, "first");
    assert_string_equal(exec.code.paths[1], ":(exclude)src/*.txt");
    assert_null(exec.code.paths[2]);
    assert_string_equal(exec.code.except, "probelauf.yaml");
    warns(&run, "does not run where the plan says"); /* and of nothing else */
}

/* The command runs in the plan's folder: what was given from here must still be found. */
static void given_paths_keep_their_meaning(void **state) {
    (void)state;
    struct plan_run run AUTO_PLAN_RUN = {0};
    const struct plan_pair given[] = {{.name = "m", .value = "x"}};
    assert_int_equal(chdir("sub"), 0);
    find(&(struct plan_run_request){.block = "one", .given = given, .given_count = 1}, &run);
    struct exec_options exec = given_options();
    plan_run_fill(&run, &exec);
    is_path(exec.inputs[2], "more.txt");
    assert_string_equal(exec.input_names[2], "more.txt");
    is_path(exec.inputs[3], "data/x.txt");
    is_path(exec.outputs[0], "log");
    is_path(exec.expect[0] + 5, "log");
    assert_string_equal(exec.expect[1], "count=3");
    assert_ptr_equal(exec.argv, run.argv);
}

static void without_a_condition_only_what_holds_for_the_study(void **state) {
    (void)state;
    struct plan_run run AUTO_PLAN_RUN = {0};
    find(&(struct plan_run_request){.argv = train_x}, &run);
    struct exec_options exec = given_options();
    plan_run_fill(&run, &exec);
    assert_string_equal(exec.study, STUDY);
    assert_int_equal(length_of(exec.inputs), 2);
    assert_int_equal(length_of(exec.outputs), 1);
    assert_int_equal(length_of(exec.expect), 2);
    assert_int_equal(exec.result_count, 0);
    assert_int_equal(exec.pattern_count, 2);
    assert_non_null(exec.code.folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_condition_is_found),
        TEST(the_folder_is_told_from_the_plan),
        TEST(a_shared_condition_has_no_block),
        TEST(what_is_not_known_is_a_warning),
        TEST(nothing_said_is_no_warning),
        TEST(the_plans_own_command),
        TEST(without_any_command_there_is_nothing_to_run),
        TEST(a_broken_plan_is_a_warning),
        TEST(the_plan_adds_to_what_was_given),
        TEST(given_paths_keep_their_meaning),
        TEST(without_a_condition_only_what_holds_for_the_study),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
