/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the command is given of the agents, and why not: variables that are set, folders that cannot
 * be used, runs around this one, what their reports are worth. With the shipped program:
 * tests/cli/phases.bats. */
#include "exec/agents-files.h"
#include "exec/agents.h"
#include "recorder-fixture.h"

#include "base/mem.h"

/* A recorder that has its journal and its marks file, and has unpacked the agents. */
static struct recorder *prepared(void **state) {
    struct fixture *fixture = *state;
    struct shared *shared = fixture->recorder.shared;
    snprintf(shared->journal_path, sizeof shared->journal_path, "%s",
             fixture->recorder.writer.path);
    snprintf(shared->marks_path, sizeof shared->marks_path, "%s/marks", fixture->folder);
    agents_prepare(&fixture->recorder);
    atomic_store(&shared->recorder_state, RECORDER_READY);
    return &fixture->recorder;
}

/* The variables on one line, our folder as @. */
static void assert_variables(struct recorder *recorder, char *const *environment,
                             const char *expected) {
    AUTO_STRBUF struct strbuf got = STRBUF_INIT;
    char **list = agents_variables(recorder->options, recorder->shared, environment);
    size_t folder = strlen(recorder->shared->agent_folder);
    for (size_t i = 0; list[i] != NULL; i++) {
        const char *at = folder > 0 ? strstr(list[i], recorder->shared->agent_folder) : NULL;
        strbuf_add_str(&got, i > 0 ? " " : "");
        strbuf_add(&got, list[i], at != NULL ? (size_t)(at - list[i]) : strlen(list[i]));
        if (at != NULL)
            strbuf_printf(&got, "@%s", at + folder);
    }
    agents_variables_free(list);
    assert_string_equal(strbuf_str(&got), expected);
}

static void assert_reason(const struct recorder *recorder, const char *agent,
                          const char *expected) {
    AUTO_JSON json_t *start = agents_to_start(recorder);
    const json_t *said = json_get_object(start, agent);
    assert_int_equal(json_get_bool(said, "on", -1), expected == NULL);
    if (expected != NULL)
        assert_non_null(strstr(json_get_text(said, "reason", ""), expected));
}

#define ALL "PYTHONPATH=@/python NVTX_INJECTION64_PATH=@/nvtx.so PROBELAUF_NVTX="

static void offers_both(void **state) {
    struct recorder *recorder = prepared(state);
    static const struct exec_nvtx ranges[] = {{"weights", "load"}, {"a=b;c%d", "compute/x"}};
    assert_variables(recorder, (char *[]){NULL}, ALL);
    assert_variables(recorder, NULL, ALL);
    struct fixture *fixture = *state;
    fixture->options.nvtx = ranges;
    fixture->options.nvtx_count = 2;
    assert_variables(recorder, (char *[]){(char[]){"PYTHONPATH="}, NULL},
                     ALL "weights=load;a%3Db%3Bc%25d=compute/x");
    assert_reason(recorder, "python-hook", NULL);
    assert_reason(recorder, "nvtx", NULL);
    AUTO_JSON json_t *start = agents_to_start(recorder);
    assert_int_equal(json_get_int(json_get_object(start, "nvtx"), "mapped", -1), 2);
}

static void keeps_what_is_set(void **state) {
    struct recorder *recorder = prepared(state);
    static const struct {
        const char *set[3];
        const char *expected;
    } cases[] = {
        {{"PYTHONPATH=/a:/b"},
         "PYTHONPATH=@/python:/a:/b NVTX_INJECTION64_PATH=@/nvtx.so "
         "PROBELAUF_NVTX="},
        {{"PYTHONPATH=:/a:"},
         "PYTHONPATH=@/python::/a: NVTX_INJECTION64_PATH=@/nvtx.so "
         "PROBELAUF_NVTX="},
        {{"NVTX_INJECTION64_PATH=/opt/x.so"}, "PYTHONPATH=@/python"},
        {{"NVTX_INJECTION64_PATH="}, "PYTHONPATH=@/python"},
        {{"PROBELAUF_NVTX=0"}, "PYTHONPATH=@/python"},
        {{"PROBELAUF_NVTX=a=load"}, ALL}, /* of a run around this one */
        {{"PROBELAUF_PYTHON=0", "PROBELAUF_NVTX=0"}, ""},
        {{"PROBELAUF_PYTHON=1"}, ALL},
        /* runs around this one, with the same files or others */
        {{"PYTHONPATH=/j/agents-0123456789abcdef/python:/a",
          "NVTX_INJECTION64_PATH=/j/agents-0123456789abcdef/nvtx.so"},
         "PYTHONPATH=@/python:/a NVTX_INJECTION64_PATH=@/nvtx.so PROBELAUF_NVTX="},
        {{"PYTHONPATH=/j/agents-0123456789abcdef/python:/j/agents-0123456789abcde/python"},
         "PYTHONPATH=@/python:/j/agents-0123456789abcde/python NVTX_INJECTION64_PATH=@/nvtx.so "
         "PROBELAUF_NVTX="},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char *environment[4] = {NULL};
        for (size_t k = 0; k < 3 && cases[i].set[k] != NULL; k++)
            environment[k] = mem_strdup(cases[i].set[k]);
        assert_variables(recorder, environment, cases[i].expected);
        for (size_t k = 0; k < 3; k++)
            mem_free_ptr(&environment[k]);
    }
    /* what is told is what was offered last */
    setenv("NVTX_INJECTION64_PATH", "/opt/x.so", 1);
    assert_variables(recorder, environ, "PYTHONPATH=@/python");
    assert_reason(recorder, "nvtx", "NVTX_INJECTION64_PATH is already set");
    unsetenv("NVTX_INJECTION64_PATH");
    assert_reason(recorder, "nvtx", "no place for the record");
}

/* An outer run's agents do not report to a record that says that there are none. */
static void switches_off_what_is_around(void **state) {
    struct fixture *fixture = *state;
    char *around[] = {(char[]){"PYTHONPATH=/a:/j/agents-0123456789abcdef/python"},
                      (char[]){"NVTX_INJECTION64_PATH=/j/agents-0123456789abcdef/nvtx.so"}, NULL};
    char *python[] = {(char[]){"PYTHONPATH=/a"}, NULL};
    assert_variables(&fixture->recorder, around, "PROBELAUF_PYTHON=0 PROBELAUF_NVTX=0");
    assert_variables(&fixture->recorder, python, "");
    assert_variables(&fixture->recorder, NULL, "");
    assert_reason(&fixture->recorder, "python-hook", "no place for the record");
}

static void says_what_is_wrong_with_the_folder(void **state) {
    struct fixture *fixture = *state;
    struct recorder *recorder = prepared(state);
    struct shared *shared = recorder->shared;
    AUTO_FREE char *folder = mem_strdup(shared->agent_folder);
    AUTO_FREE char *python = mem_printf("%s/python", folder);
    /* the one agent does not fall with the other */
    assert_int_equal(chmod(python, 0770), 0);
    prepared(state);
    assert_variables(recorder, NULL, "NVTX_INJECTION64_PATH=@/nvtx.so PROBELAUF_NVTX=");
    assert_reason(recorder, "python-hook", "not this user's alone");
    assert_reason(recorder, "nvtx", NULL);
    assert_int_equal(chmod(python, 0700), 0);
    assert_int_equal(chmod(folder, 0701), 0);
    prepared(state);
    assert_variables(recorder, NULL, "");
    assert_reason(recorder, "nvtx", "not this user's alone");
    assert_int_equal(chmod(folder, 0700), 0);
    prepared(state);
    assert_variables(recorder, NULL, ALL);
    /* a folder that is none */
    AUTO_FREE char *moved = mem_printf("%s/moved", fixture->folder);
    assert_int_equal(rename(folder, moved), 0);
    assert_int_equal(close(open(folder, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
    prepared(state);
    assert_variables(recorder, NULL, "");
    assert_reason(recorder, "python-hook", "could not be unpacked");
    assert_int_equal(unlink(folder), 0);
    assert_int_equal(symlink(moved, folder), 0);
    prepared(state);
    assert_variables(recorder, NULL, "");
}

static void leaves_attached_processes_alone(void **state) {
    struct fixture *fixture = *state;
    fixture->options.attach = 1;
    struct recorder *recorder = prepared(state);
    assert_string_equal(recorder->shared->agent_folder, "");
    assert_reason(recorder, "python-hook", "was there before");
    assert_reason(recorder, "nvtx", "was there before");
}

static size_t incidents(const struct recorder *recorder) {
    return json_object_size(recorder->past.incidents);
}

static void makes_an_incident_of_what_was_caught(void **state) {
    struct recorder *recorder = prepared(state);
    static const char *const none[] = {
        "{}",
        "{\"verb\":\"phase\",\"name\":\"load\"}",
        "{\"verb\":\"agent\",\"data\":{\"event\":\"memory\",\"moment\":\"phase-end\",\"ooms\":0}}",
        "{\"verb\":\"agent\",\"data\":{\"event\":\"memory\",\"moment\":\"exit\",\"ooms\":2}}",
        "{\"verb\":\"agent\",\"data\":{\"event\":\"file\",\"moment\":\"reset\",\"ooms\":2}}",
        "{\"verb\":\"agent\",\"data\":7}",
    };
    char why[160];
    for (size_t i = 0; i < ARRAY_LENGTH(none); i++) {
        AUTO_JSON json_t *mark = json_parse(none[i], strlen(none[i]), why);
        agents_take(recorder, mark);
        assert_int_equal(incidents(recorder), 0);
    }
    static const char caught[] =
        "{\"verb\":\"agent\",\"data\":{\"event\":\"memory\",\"moment\":\"phase-end\",\"ooms\":2}}";
    AUTO_JSON json_t *mark = json_parse(caught, strlen(caught), why);
    agents_take(recorder, mark);
    agents_take(recorder, mark);
    assert_int_equal(incidents(recorder), 1);
}

#define WITH_RECORDER(test) cmocka_unit_test_setup_teardown(test, recorder_setup, recorder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_RECORDER(offers_both),
        WITH_RECORDER(keeps_what_is_set),
        WITH_RECORDER(switches_off_what_is_around),
        WITH_RECORDER(says_what_is_wrong_with_the_folder),
        WITH_RECORDER(leaves_attached_processes_alone),
        WITH_RECORDER(makes_an_incident_of_what_was_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
