/* SPDX-License-Identifier: GPL-3.0-or-later */
/* {name} places, commands, and finding the condition that -c NAME=VALUE means. */
#include "with-plan.h"

#include "plan/conditions.h"

#include <spawn.h>

extern char **environ;

/* ---- places ---- */

/* "T:text N:name B:{ …" */
static char *pieces(const char *text) {
    static const char letters[] = {
        [PLAN_PIECE_TEXT] = 'T', [PLAN_PIECE_NAME] = 'N', [PLAN_PIECE_BRACE] = 'B'};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    const char *start = NULL;
    size_t length = 0;
    enum plan_piece piece = PLAN_PIECE_END;
    while ((piece = plan_piece_next(&text, &start, &length)) != PLAN_PIECE_END) {
        strbuf_printf(&out, "%s%c:", out.length > 0 ? " " : "", letters[piece]);
        strbuf_add(&out, start, length);
    }
    return strbuf_take(&out);
}

static void test_pieces(void **state) {
    (void)state;
    static const struct {
        const char *text, *pieces;
    } cases[] = {
        {"", ""},
        {"plain", "T:plain"},
        {"a{b}c", "T:a N:b T:c"},
        {"{b}", "N:b"},
        {"{a}{b}", "N:a N:b"},
        {"{{b}}", "T:{ T:b T:}"},
        {"{{{b}}}", "T:{ N:b T:}"},
        {"{", "B:{"},
        {"}", "B:}"},
        {"{}", "B:{ B:}"},
        {"a{b", "T:a B:{ T:b"},
        {"{a{b}", "B:{ T:a N:b"},
        {"{a b}", "N:a b"},
        {"{{", "T:{"},
        {"}}", "T:}"},
        {"{b}}", "N:b B:}"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_FREE char *got = pieces(cases[i].text);
        assert_string_equal(got, cases[i].pieces);
    }
}

/* ---- filling ---- */

static const char fill_plan[] =
    "blocks:\n"
    "  - id: b\n"
    "    kind: compare\n"
    "    command: [main, \"--keep={keep}\", \"{{x}}\", \"{word}\", \"\"]\n"
    "    matrix: {keep: [1, 0.5], word: [\"it's $HOME; rm *\"]}\n"
    "  - id: sh\n"
    "    kind: compare\n"
    "    command: printf '%s|' {word} {keep} \"$1\" {empty} {plain}\n"
    "    shell: yes\n"
    "    fixed: {empty: \"\", plain: a-b_c.d/e}\n"
    "    matrix: {keep: [0.5], word: [\"it's $HOME; rm *\"]}\n"
    "  - {id: none, kind: validate}\n";

static void test_argv(void **state) {
    AUTO_WITH_PLAN struct with_plan with = sound_plan(state, fill_plan);
    AUTO_ARENA struct arena *arena = arena_new();
    const struct plan_block *block = plan_block_find(with.plan, "b");
    const char *const *argv = plan_command(&block->conditions[1], arena);
    assert_string_equal(argv[0], "main");
    assert_string_equal(argv[1], "--keep=0.5");
    assert_string_equal(argv[2], "{x}");
    assert_string_equal(argv[3], "it's $HOME; rm *"); /* one word, whatever is in it */
    assert_string_equal(argv[4], "");
    assert_null(argv[5]);
    assert_null(plan_command(&plan_block_find(with.plan, "none")->conditions[0], arena));
    assert_string_equal(plan_fill(&block->conditions[0], "o/{keep}-{other}.{{json}}", arena),
                        "o/1-{other}.{json}");
}

static void test_shell_takes_values_as_text(void **state) {
    AUTO_WITH_PLAN struct with_plan with = sound_plan(state, fill_plan);
    AUTO_ARENA struct arena *arena = arena_new();
    const struct plan_block *block = plan_block_find(with.plan, "sh");
    const char *const *argv = plan_command(&block->conditions[0], arena);
    assert_string_equal(argv[0], "sh");
    assert_string_equal(argv[1], "-c");
    assert_string_equal(argv[2], "printf '%s|' 'it'\\''s $HOME; rm *' 0.5 \"$1\" '' a-b_c.d/e");
    assert_null(argv[3]);
    /* and a real shell agrees */
    int fds[2];
    pid_t pid;
    char said[256] = "";
    posix_spawn_file_actions_t actions;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO), 0);
    union { /* posix_spawn takes char *const * and changes nothing */
        const char *const *words;
        char *const *argv;
    } as = {argv};
    assert_int_equal(posix_spawn(&pid, "/bin/sh", &actions, NULL, as.argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    size_t length = 0;
    ssize_t got;
    while (length < sizeof said - 1 &&
           (got = read(fds[0], said + length, sizeof said - 1 - length)) > 0)
        length += (size_t)got;
    close(fds[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(said, "it's $HOME; rm *|0.5|||a-b_c.d/e|");
}

/* ---- matching ---- */

static const char match_plan[] = "blocks:\n"
                                 "  - id: validate\n"
                                 "    kind: validate\n"
                                 "    command: main {policy} {keep} {context}\n"
                                 "    fixed: {context: 160}\n"
                                 "    matrix: {policy: [full], keep: [1]}\n"
                                 "  - id: compare\n"
                                 "    kind: compare\n"
                                 "    command: main {policy} {keep} {context}\n"
                                 "    fixed: {context: 160}\n"
                                 "    matrix: {policy: [full, evict], keep: [1, 0.5]}\n"
                                 "    exclude: [{policy: full, keep: 0.5}]\n"
                                 "    include: [{policy: evict, keep: 0.5, seed: 7}]\n"
                                 "  - id: scale\n"
                                 "    kind: scale\n"
                                 "    command: main {policy} {keep} {context}\n"
                                 "    fixed: {policy: evict}\n"
                                 "    matrix: {keep: [0.5, 0.25], context: [64, 96]}\n"
                                 "  - id: other\n"
                                 "    kind: compare\n"
                                 "    command: other {keep} {mode}\n"
                                 "    matrix: {keep: [0.1], mode: [x, y]}\n"
                                 "  - id: another\n"
                                 "    kind: compare\n"
                                 "    command: another {keep}\n"
                                 "    matrix: {keep: [0.1]}\n";

struct match_case {
    const char *block, *given; /* "a=1 b=2" */
    enum plan_match match;
    const char *expected; /* "BLOCK: LABEL", or the reason */
};

static size_t split(struct arena *arena, const char *text, struct plan_pair pairs[8]) {
    size_t count = 0;
    char *rest = arena_strdup(arena, text), *save = NULL;
    for (char *word = strtok_r(rest, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        pairs[count++] = (struct plan_pair){.name = word, .value = equals + 1};
    }
    return count;
}

static void assert_match(const struct plan *plan, const struct match_case *one) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct plan_pair pairs[8];
    size_t count = split(arena, one->given, pairs);
    const struct plan_condition *condition = NULL;
    const char *why = NULL;
    enum plan_match match = plan_match(plan, one->block, pairs, count, arena, &condition, &why);
    if (match == PLAN_MATCH_ONE) {
        assert_null(why);
        why = arena_printf(arena, "%s: %s", condition->block->id, condition->label);
    } else {
        assert_null(condition);
    }
    assert_string_equal(why, one->expected);
    assert_int_equal(match, one->match);
}

static void test_match(void **state) {
    AUTO_WITH_PLAN struct with_plan with = sound_plan(state, match_plan);
    static const struct match_case cases[] = {
        /* the same condition in two blocks: the first */
        {NULL, "policy=full keep=1", PLAN_MATCH_ONE, "validate: policy=full keep=1"},
        {NULL, "keep=1 policy=full context=160", PLAN_MATCH_ONE, "validate: policy=full keep=1"},
        {"compare", "policy=full keep=1", PLAN_MATCH_ONE, "compare: policy=full keep=1"},
        /* an axis with one value need not be said, nor a fixed parameter */
        {"validate", "", PLAN_MATCH_ONE, "validate: policy=full keep=1"},
        {"validate", "context=160", PLAN_MATCH_ONE, "validate: policy=full keep=1"},
        {NULL, "keep=0.25 context=64", PLAN_MATCH_ONE, "scale: keep=0.25 context=64"},
        /* a name of an included condition must be said */
        {NULL, "policy=evict keep=0.5", PLAN_MATCH_ONE, "compare: policy=evict keep=0.5"},
        {NULL, "policy=evict keep=0.5 seed=7", PLAN_MATCH_ONE,
         "compare: policy=evict keep=0.5 seed=7"},
        {NULL, "seed=7", PLAN_MATCH_SEVERAL,
         "block 'compare' also varies 'policy': say which "
         "(evict)"},
        /* too little */
        {NULL, "policy=evict", PLAN_MATCH_SEVERAL,
         "block 'compare' also varies 'keep': say which (1, 0.5)"},
        {"scale", "keep=0.5", PLAN_MATCH_SEVERAL,
         "block 'scale' also varies 'context': say which (64, 96)"},
        {"compare", "", PLAN_MATCH_SEVERAL,
         "block 'compare' also varies 'policy': say which (full, evict)"},
        {NULL, "", PLAN_MATCH_NONE,
         "nothing was said about the condition; name it by -c NAME=VALUE or --block"},
        /* nothing */
        {"compar", "keep=1", PLAN_MATCH_NONE,
         "the plan has no block 'compar'; did you mean 'compare'?"},
        {"zzz", "keep=1", PLAN_MATCH_NONE,
         "the plan has no block 'zzz'; it has: validate, compare, scale, other, another"},
        {NULL, "keep=1 keep=0.5", PLAN_MATCH_NONE, "'keep' was said twice, with different values"},
        {NULL, "polcy=full keep=1", PLAN_MATCH_NONE,
         "the plan has no parameter 'polcy'; did you mean 'policy'?"},
        {"validate", "mode=x", PLAN_MATCH_NONE,
         "block 'validate' has no parameter 'mode'; it has: context, keep, policy"},
        {NULL, "policy=evct keep=1", PLAN_MATCH_NONE,
         "'policy' is never 'evct' in the plan; did you mean 'evict'?"},
        {NULL, "policy=none", PLAN_MATCH_NONE,
         "'policy' is never 'none' in the plan; it is one of: full, evict"},
        {NULL, "policy=evict keep=0.50", PLAN_MATCH_NONE,
         "'keep' is written '0.5' in the plan, not '0.50'; values are compared as written"},
        {NULL, "policy=full keep=0.5", PLAN_MATCH_NONE,
         "no condition of the plan is 'policy=full keep=0.5'; with the rest as said, 'keep' is: "
         "1"},
        {NULL, "policy=full seed=7 mode=x", PLAN_MATCH_NONE,
         "no condition of the plan is 'policy=full seed=7 mode=x'; see 'probelauf block list'"},
        /* the same twice is no contradiction */
        {NULL, "keep=1 policy=full keep=1", PLAN_MATCH_ONE, "validate: policy=full keep=1"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_match(with.plan, &cases[i]);
}

/* Two blocks with all that was said: a parameter tells them apart, or only the block does. */
static void test_match_several(void **state) {
    AUTO_WITH_PLAN struct with_plan with =
        sound_plan(state, "blocks:\n"
                          "  - {id: a, kind: compare, command: main, fixed: {n: 1, m: 2}}\n"
                          "  - {id: b, kind: compare, command: main, fixed: {n: 1, m: 3}}\n"
                          "  - {id: c, kind: compare, command: x, fixed: {k: 1}}\n"
                          "  - {id: d, kind: compare, command: y, fixed: {k: 1}}\n");
    static const struct match_case cases[] = {
        {NULL, "n=1", PLAN_MATCH_SEVERAL,
         "it could be block 'a' (m=2) or block 'b' (m=3): say 'm', or the block"},
        {NULL, "n=1 m=3", PLAN_MATCH_ONE, "b: b"},
        {NULL, "k=1", PLAN_MATCH_SEVERAL,
         "it could be 'c' of block 'c' or 'd' of block 'd': say which block"},
        {"d", "k=1", PLAN_MATCH_ONE, "d: d"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_match(with.plan, &cases[i]);
}

static void test_match_without_blocks(void **state) {
    AUTO_WITH_PLAN struct with_plan with = sound_plan(state, "");
    static const struct match_case cases[] = {
        {NULL, "n=1", PLAN_MATCH_NONE, "the plan has no parameter 'n', and no other"},
        {"a", "", PLAN_MATCH_NONE, "the plan has no block 'a', and no other yet"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_match(with.plan, &cases[i]);
}

/* Every condition is found by its own axes: the largest plan there may be. */
static void test_match_in_a_large_plan(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "blocks:\n  - id: b\n    kind: scale\n    matrix:\n      x: [");
    for (int i = 0; i < 100; i++)
        strbuf_printf(&text, "%s%d", i > 0 ? ", " : "", i);
    strbuf_add_str(&text, "]\n      y: [");
    for (int i = 0; i < 100; i++)
        strbuf_printf(&text, "%s%d", i > 0 ? ", " : "", i);
    strbuf_add_str(&text, "]\n");
    AUTO_WITH_PLAN struct with_plan with = sound_plan(state, strbuf_str(&text));
    AUTO_ARENA struct arena *arena = arena_new();
    const struct plan_block *block = &with.plan->blocks[0];
    assert_int_equal(block->condition_count, 10000);
    for (size_t i = 0; i < block->condition_count; i += 97) {
        const struct plan_condition *found = NULL;
        const char *why = NULL;
        assert_int_equal(
            plan_match(with.plan, NULL, block->conditions[i].axes, 2, arena, &found, &why),
            PLAN_MATCH_ONE);
        assert_ptr_equal(found, &block->conditions[i]);
    }
    const struct match_case many = {NULL, "x=3", PLAN_MATCH_SEVERAL,
                                    "block 'b' also varies 'y': say which (0, 1, 2, 3, 4, 5, 6, "
                                    "7, …)"};
    assert_match(with.plan, &many);
}

/* ---- in an environment ---- */

static void test_command_in(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    struct plan_environment environments[] = {{.id = "here"}, {.id = "rented"}};
    struct plan plan = {.environments = environments, .environment_count = 2};
    static const char line[] = "probelauf run --block b -- COMMAND";
    assert_string_equal(plan_command_in(line, &plan, &environments[0], arena),
                        "probelauf run --env here --block b -- COMMAND");
    assert_string_equal(plan_command_in("probelauf run --step s", &plan, &environments[1], arena),
                        "probelauf run --env rented --step s");
    assert_string_equal(plan_command_in("probelauf check", &plan, &environments[1], arena),
                        "probelauf check");
    assert_string_equal(plan_command_in(line, &plan, NULL, arena), line);
    plan.environment_count = 1;
    assert_string_equal(plan_command_in(line, &plan, &environments[0], arena), line);
}

/* ---- stops ---- */

static void test_stops(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    plan_stops_text(0, &out);
    assert_string_equal(strbuf_str(&out), "");
    plan_stops_text(PLAN_STOPS_BOOKING | PLAN_STOPS_VALIDATE | PLAN_STOPS_SCALE, &out);
    assert_string_equal(strbuf_str(&out), "validate, scale, booking");
    assert_int_equal(plan_stop_of(PLAN_VALIDATE), PLAN_STOPS_VALIDATE);
    assert_int_equal(plan_stop_of(PLAN_COMPARE), PLAN_STOPS_COMPARE);
    assert_int_equal(plan_stop_of(PLAN_SCALE), PLAN_STOPS_SCALE);
    assert_int_equal(plan_stop_of(PLAN_VERIFY), PLAN_STOPS_VERIFY);
    assert_int_equal(plan_stop_of(PLAN_KIND_UNSAID), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        IN_FOLDER(test_argv),
        IN_FOLDER(test_shell_takes_values_as_text),
        IN_FOLDER(test_match),
        IN_FOLDER(test_match_several),
        IN_FOLDER(test_match_without_blocks),
        IN_FOLDER(test_match_in_a_large_plan),
        cmocka_unit_test(test_command_in),
        cmocka_unit_test(test_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
