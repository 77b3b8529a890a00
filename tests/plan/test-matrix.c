/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrices to conditions: order, exclude, include, states, ids, and what is refused. */
#include "with-plan.h"

#include "base/digest.h"
#include "plan/conditions.h"

/* Labels of a block's conditions, one a line. */
static char *labels(const struct plan_block *block) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    for (size_t i = 0; i < block->condition_count; i++)
        strbuf_printf(&out, "%s\n", block->conditions[i].label);
    return strbuf_take(&out);
}

static void assert_labels(const struct plan *plan, const char *block, const char *expected) {
    AUTO_FREE char *got = labels(plan_block_find(plan, block));
    assert_string_equal(got, expected);
}

static void test_product_in_the_order_of_the_file(void **state) {
    AUTO_WITH_PLAN struct with_plan with =
        sound_plan(state, "blocks:\n"
                          "  - id: compare\n"
                          "    kind: compare\n"
                          "    fixed: {tokens: 96}\n"
                          "    matrix: {policy: [b, a], keep: [1, 0.5]}\n");
    assert_labels(with.plan, "compare",
                  "policy=b keep=1\npolicy=b keep=0.5\npolicy=a keep=1\npolicy=a keep=0.5\n");
    const struct plan_condition *first = &with.plan->blocks[0].conditions[0];
    assert_int_equal(first->axis_count, 2);
    assert_int_equal(first->parameter_count, 3); /* sorted by name, with the fixed one */
    assert_string_equal(first->parameters[0].name, "keep");
    assert_string_equal(first->parameters[1].name, "policy");
    assert_string_equal(first->parameters[2].name, "tokens");
    assert_string_equal(first->parameters[2].value, "96");
    assert_ptr_equal(first->block, &with.plan->blocks[0]);
    assert_int_equal(first->at.line, 7);
}

static void test_block_without_matrix(void **state) {
    AUTO_WITH_PLAN struct with_plan with =
        sound_plan(state, "blocks:\n  - {id: one, kind: validate, state: chosen}\n");
    assert_labels(with.plan, "one", "one\n");
    const struct plan_condition *only = &with.plan->blocks[0].conditions[0];
    assert_int_equal(only->parameter_count, 0);
    assert_int_equal(only->state, PLAN_CHOSEN); /* as its block */
    assert_int_equal(only->supported, PLAN_UNSAID);
}

static void test_exclude(void **state) {
    AUTO_WITH_PLAN struct with_plan with =
        sound_plan(state, "blocks:\n"
                          "  - id: b\n"
                          "    kind: compare\n"
                          "    matrix: {p: [x, y], q: [1, 2], r: [on, off]}\n"
                          "    exclude: [{p: x, q: 2}, {r: off, p: y}]\n");
    assert_labels(with.plan, "b", "p=x q=1 r=on\np=x q=1 r=off\np=y q=1 r=on\np=y q=2 r=on\n");
    assert_int_equal(with.complaints.count, 0);
}

static void test_exclude_complaints(void **state) {
    assert_complaints(
        state,
        "blocks:\n"
        "  - id: b\n"
        "    kind: compare\n"
        "    fixed: {f: 1}\n"
        "    matrix: {policy: [full, evict], q: [0.5, 2]}\n"
        "    exclude:\n"
        "      - {polcy: full}\n"
        "      - {policy: evic}\n"
        "      - {q: 0.50}\n"
        "      - {q: 77}\n"
        "      - {f: 1}\n"
        "      - {}\n"
        "      - {policy: full}\n"
        "      - {policy: full, q: 2}\n",
        "9:17 error[plan-exclude] block 'b' has no axis 'polcy'; did you mean 'policy'?\n"
        "10:18 error[plan-exclude] axis 'policy' has no value 'evic'; did you mean 'evict'? Values "
        "are compared as written\n"
        "11:13 error[plan-exclude] axis 'q' has no value '0.50'; did you mean '0.5'? Values are "
        "compared as written\n"
        "12:13 error[plan-exclude] axis 'q' has no value '77', so this excludes nothing\n"
        "13:13 error[plan-exclude] block 'b' has no axis 'f'\n"
        "14:9 error[plan-exclude] an entry of exclude that names no axis would exclude "
        "everything\n"
        "16:9 warning[plan-exclude] this excludes nothing that the entries before it have left\n");
}

static void test_include(void **state) {
    AUTO_WITH_PLAN struct with_plan with =
        sound_plan(state, "blocks:\n"
                          "  - id: b\n"
                          "    kind: compare\n"
                          "    state: chosen\n"
                          "    fixed: {f: 1}\n"
                          "    matrix:\n"
                          "      p: {values: [x], state: confirmed, source: s}\n"
                          "      q: {values: [1, 2], state: confirmed, source: s}\n"
                          "    exclude: [{q: 2}]\n"
                          "    include:\n"
                          "      - {q: 2}\n"            /* back again; p has one value */
                          "      - {p: z, q: 1}\n"      /* outside the axes */
                          "      - {q: 1, seed: 7}\n"); /* a name of its own */
    assert_labels(with.plan, "b", "p=x q=1\np=x q=2\np=z q=1\np=x q=1 seed=7\n");
    const struct plan_condition *all = with.plan->blocks[0].conditions;
    assert_int_equal(all[1].state, PLAN_CONFIRMED);
    assert_int_equal(all[1].at.line, 13);
    assert_int_equal(all[2].state, PLAN_CHOSEN); /* as the block */
    assert_int_equal(all[3].axis_count, 3);
    assert_int_equal(all[3].parameter_count, 4);
    assert_int_equal(with.complaints.count, 0);
}

static void test_include_alone_is_a_list(void **state) {
    AUTO_WITH_PLAN struct with_plan with = sound_plan(
        state, "blocks:\n  - {id: b, kind: scale, include: [{n: 1, m: 2}, {n: 3, m: 4}]}\n");
    assert_labels(with.plan, "b", "n=1 m=2\nn=3 m=4\n");
}

static void test_include_complaints(void **state) {
    assert_complaints(
        state,
        "blocks:\n"
        "  - id: b\n"
        "    kind: compare\n"
        "    fixed: {f: 1}\n"
        "    matrix: {p: [x, y], q: [1]}\n"
        "    include:\n"
        "      - {q: 3}\n"
        "      - {p: z, f: 2}\n"
        "      - {p: x}\n"
        "      - {}\n",
        "9:9 error[plan-include] this entry of include does not say 'p', which has several "
        "values\n"
        "10:19 error[plan-include] 'f' is fixed for the whole block in line 6; make it an axis if "
        "it varies\n"
        "11:9 warning[plan-include] condition 'p=x q=1' is there already (line 7); this entry adds "
        "nothing\n"
        "12:9 error[plan-include] this entry of include says nothing\n");
}

static void test_states_and_support(void **state) {
    AUTO_WITH_PLAN struct with_plan with = sound_plan(
        state, "blocks:\n"
               "  - id: b\n"
               "    kind: compare\n"
               "    matrix:\n"
               "      p:\n"
               "        values: [x, {value: y, state: undetermined, supported: no}, {value: z, "
               "state: chosen, supported: open}]\n"
               "        state: confirmed\n"
               "        source: table 2\n"
               "        supported: yes\n"
               "        supported_source: main.py:3\n"
               "      q: {values: [1], state: chosen, supported: yes}\n");
    const struct plan_condition *all = with.plan->blocks[0].conditions;
    assert_int_equal(all[0].state, PLAN_CHOSEN); /* the weakest of confirmed and chosen */
    assert_int_equal(all[1].state, PLAN_UNDETERMINED);
    assert_int_equal(all[2].state, PLAN_CHOSEN);
    assert_int_equal(all[0].supported, PLAN_YES);
    assert_int_equal(all[1].supported, PLAN_NO);
    assert_int_equal(all[2].supported, PLAN_UNSAID);
    const struct plan_value *values = with.plan->blocks[0].axes[0].values;
    assert_string_equal(values[0].source, "table 2");
    assert_string_equal(values[0].supported_source, "main.py:3");
    assert_int_equal(values[0].state, PLAN_CONFIRMED);
    assert_null(values[2].supported_source); /* not what the axis' line shows */
}

static void test_names_and_values(void **state) {
    assert_complaints(state,
                      "blocks:\n"
                      "  - id: b\n"
                      "    kind: compare\n"
                      "    fixed: {p: 1}\n"
                      "    matrix:\n"
                      "      p: [x]\n"
                      "      q: [b, a, b]\n",
                      "8:7 error[plan-axis] 'p' is an axis here and fixed in line 6 of the same "
                      "block; keep one of them\n"
                      "9:17 error[plan-axis] value 'b' of axis 'q' stands here a second time; the "
                      "first is in line 9\n");
}

static void test_nothing_left(void **state) {
    assert_complaints(state,
                      "blocks:\n"
                      "  - id: b\n"
                      "    kind: compare\n"
                      "    matrix: {p: [x, y]}\n"
                      "    exclude: [{p: x}, {p: y}]\n",
                      "6:14 error[plan-matrix-empty] block 'b' excludes all of its conditions\n");
}

static void test_spellings(void **state) {
    assert_complaints(
        state,
        "blocks:\n"
        "  - id: a\n"
        "    kind: compare\n"
        "    matrix:\n"
        "      keep: [0.5, 0.50, 1, \"5e-1\"]\n"
        "      name: [x, X]\n"
        "  - id: b\n"
        "    kind: scale\n"
        "    fixed: {keep: 1.0}\n"
        "    matrix: {other: [0.50]}\n",
        "7:19 warning[plan-spelling] 'keep' is '0.50' here and '0.5' in line 7: the same number, "
        "but two conditions, since texts are compared as written\n"
        "7:28 warning[plan-spelling] 'keep' is '5e-1' here and '0.5' in line 7: the same number, "
        "but two conditions, since texts are compared as written\n"
        "11:19 warning[plan-spelling] 'keep' is '1.0' here and '1' in line 7: the same number, but "
        "two conditions, since texts are compared as written\n");
}

/* 10^9 and more conditions are refused before anything is expanded, once, with a place. */
static void test_huge(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "blocks:\n  - id: fits\n    kind: scale\n    matrix: {n: [");
    for (int i = 0; i < 100; i++)
        strbuf_printf(&text, "%s%d", i > 0 ? ", " : "", i);
    strbuf_add_str(&text, "]}\n  - id: big\n    kind: scale\n    matrix:\n");
    for (int axis = 0; axis < 40; axis++)
        strbuf_printf(&text, "      a%d: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n", axis);
    strbuf_add_str(&text, "  - id: bigger\n    kind: scale\n    matrix:\n");
    for (int axis = 0; axis < 40; axis++)
        strbuf_printf(&text, "      a%d: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n", axis);
    assert_complaints(state, strbuf_str(&text),
                      "10:7 error[plan-matrix-huge] with block 'big' the plan has more than 10000 "
                      "conditions; take values out, or split the plan\n");
}

static void test_limit_is_over_the_whole_plan(void **state) {
    static const char block[] = "    kind: scale\n"
                                "    matrix:\n"
                                "      a: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
                                "      b: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
                                "      c: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
                                "      d: [0, 1, 2, 3, 4]\n";
    AUTO_FREE char *fits = mem_printf("blocks:\n  - id: one\n%s  - id: two\n%s", block, block);
    {
        AUTO_WITH_PLAN struct with_plan with = sound_plan(state, fits);
        assert_int_equal(with.plan->blocks[1].condition_count, 5000);
        assert_string_equal(with.plan->blocks[1].conditions[4999].label, "a=9 b=9 c=9 d=4");
    }
    AUTO_FREE char *too_many = mem_printf("%s  - {id: three, kind: verify}\n", fits);
    assert_complaints(state, too_many,
                      "18:5 error[plan-matrix-huge] with block 'three' the plan has more than "
                      "10000 conditions; take values out, or split the plan\n"
                      "18:5 warning[plan-verify] block 'three' verifies, but 'verify' does not say "
                      "which block's runs it repeats\n");
}

/* Many parameters of many conditions are as large as many conditions. */
static void test_wide_blocks(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "blocks:\n  - id: wide\n    kind: scale\n    fixed:\n");
    for (int i = 0; i < 1000; i++)
        strbuf_printf(&text, "      f%d: %d\n", i, i);
    strbuf_add_str(&text, "    matrix: {a: [");
    for (int i = 0; i < 1000; i++)
        strbuf_printf(&text, "%s%d", i > 0 ? ", " : "", i);
    strbuf_add_str(&text, "]}\n");
    assert_complaints(state, strbuf_str(&text),
                      "1007:14 error[plan-matrix-huge] with block 'wide' the plan has more than "
                      "10000 conditions; take values out, or split the plan\n");
}

/* ---- ids ---- */

static void id_of(const char *text, char ret_id[SHA256_HEX_SIZE]) {
    digest_sha256(text, strlen(text), ret_id);
}

static void test_id_is_as_documented(void **state) {
    (void)state;
    const struct plan_pair pairs[] = {{.name = "keep", .value = "0.5"},
                                      {.name = "policy", .value = ""}};
    char got[SHA256_HEX_SIZE], expected[SHA256_HEX_SIZE];
    plan_condition_id(pairs, 2, "v2", "t", got);
    id_of("probelauf.condition/1\n2\n4:keep\n3:0.5\n6:policy\n0:\n2:v2\n1:t\n", expected);
    assert_string_equal(got, expected);
    plan_condition_id(NULL, 0, NULL, NULL, got);
    id_of("probelauf.condition/1\n0\n-\n-\n", expected);
    assert_string_equal(got, expected);
    plan_condition_id(NULL, 0, "", "-", got); /* empty is not absent */
    id_of("probelauf.condition/1\n0\n0:\n1:-\n", expected);
    assert_string_equal(got, expected);
}

static void test_template_id(void **state) {
    AUTO_WITH_PLAN struct with_plan with =
        sound_plan(state, "blocks:\n"
                          "  - {id: a, kind: validate, command: [echo, a b]}\n"
                          "  - {id: b, kind: validate, command: echo a b}\n"
                          "  - {id: c, kind: validate, command: echo a b, shell: true}\n"
                          "  - {id: d, kind: validate, command: echo a b, template_id: mine}\n"
                          "  - {id: e, kind: validate}\n");
    char expected[SHA256_HEX_SIZE];
    const struct plan_block *blocks = with.plan->blocks;
    id_of("probelauf.template/1\nargv\n4:echo\n3:a b\n", expected);
    assert_string_equal(blocks[0].template_id, expected);
    id_of("probelauf.template/1\nargv\n4:echo\n1:a\n1:b\n", expected);
    assert_string_equal(blocks[1].template_id, expected);
    id_of("probelauf.template/1\nshell\n8:echo a b\n", expected);
    assert_string_equal(blocks[2].template_id, expected);
    assert_string_equal(blocks[3].template_id, "mine");
    assert_null(blocks[4].template_id);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(blocks[i].conditions[0].id, blocks[j].conditions[0].id);
}

/* The same condition in two blocks is one; a fixed parameter is one as an axis is. */
static void test_id_leaves_the_block_out(void **state) {
    AUTO_WITH_PLAN struct with_plan with = sound_plan(state, "blocks:\n"
                                                             "  - id: a\n"
                                                             "    kind: compare\n"
                                                             "    command: main {p} {q}\n"
                                                             "    matrix: {q: [1, 2], p: [x]}\n"
                                                             "  - id: b\n"
                                                             "    kind: scale\n"
                                                             "    command: main {p} {q}\n"
                                                             "    fixed: {p: x}\n"
                                                             "    matrix: {q: [2]}\n");
    const struct plan_block *blocks = with.plan->blocks;
    assert_string_equal(blocks[1].conditions[0].id, blocks[0].conditions[1].id);
    assert_string_not_equal(blocks[1].conditions[0].id, blocks[0].conditions[0].id);
}

static void test_id_depends_on_the_paper_version(void **state) {
    static const char text[] = "probelauf: 1\n"
                               "study: {id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21, paper: "
                               "{version: %s}}\n"
                               "blocks: [{id: a, kind: validate}]\n";
    AUTO_FREE char *first = mem_printf(text, "v1"), *second = mem_printf(text, "v2");
    AUTO_WITH_PLAN struct with_plan one = plan_of(state, first);
    AUTO_WITH_PLAN struct with_plan two = plan_of(state, second);
    assert_string_not_equal(one.plan->blocks[0].conditions[0].id,
                            two.plan->blocks[0].conditions[0].id);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_product_in_the_order_of_the_file),
        IN_FOLDER(test_block_without_matrix),
        IN_FOLDER(test_exclude),
        IN_FOLDER(test_exclude_complaints),
        IN_FOLDER(test_include),
        IN_FOLDER(test_include_alone_is_a_list),
        IN_FOLDER(test_include_complaints),
        IN_FOLDER(test_states_and_support),
        IN_FOLDER(test_names_and_values),
        IN_FOLDER(test_nothing_left),
        IN_FOLDER(test_spellings),
        IN_FOLDER(test_huge),
        IN_FOLDER(test_limit_is_over_the_whole_plan),
        IN_FOLDER(test_wide_blocks),
        cmocka_unit_test(test_id_is_as_documented),
        IN_FOLDER(test_template_id),
        IN_FOLDER(test_id_leaves_the_block_out),
        IN_FOLDER(test_id_depends_on_the_paper_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
