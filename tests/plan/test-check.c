/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several parts of a plan show only together: each complaint with its place. */
#include "with-plan.h"

static void test_repeated_ids(void **state) {
    assert_complaints(
        state,
        "claims:\n"
        "  - {id: a, text: t}\n"
        "  - {id: a, text: t}\n"
        "facts:\n"
        "  - {id: a, state: not-applicable}\n"
        "  - {id: b, state: not-applicable}\n"
        "  - {id: a, state: not-applicable}\n"
        "  - {id: a, state: not-applicable}\n"
        "environments: [{id: e}, {id: e}]\n"
        "tasks:\n"
        "  - {id: t, what: w}\n"
        "  - {id: t, what: w}\n"
        "steps:\n"
        "  - {name: s, component: prepare}\n"
        "  - {name: s, component: data}\n"
        "blocks:\n"
        "  - id: a\n"
        "    kind: validate\n"
        "    claims: a\n"
        "    results: [{name: r}, {name: q}, {name: r}]\n"
        "  - {id: a, kind: validate}\n"
        "offers:\n"
        "  - {id: o}\n"
        "  - {id: o}\n",
        "5:5 error[plan-duplicate-id] 'a' names a second entry of 'claims'; the first is in line "
        "4\n"
        "9:5 error[plan-duplicate-id] 'a' names a second entry of 'facts'; the first is in line 7\n"
        "10:5 error[plan-duplicate-id] 'a' names a second entry of 'facts'; the first is in line "
        "7\n"
        "11:25 error[plan-duplicate-id] 'e' names a second entry of 'environments'; the first is "
        "in line 11\n"
        "14:5 error[plan-duplicate-id] 't' names a second entry of 'tasks'; the first is in line "
        "13\n"
        "17:5 error[plan-duplicate-id] 's' names a second entry of 'steps'; the first is in line "
        "16\n"
        "22:37 error[plan-duplicate-id] 'r' names a second entry of 'results'; the first is in "
        "line 22\n"
        "23:5 error[plan-duplicate-id] 'a' names a second entry of 'blocks'; the first is in line "
        "19\n"
        "26:5 error[plan-duplicate-id] 'o' names a second entry of 'offers'; the first is in line "
        "25\n");
}

static void test_references(void **state) {
    assert_complaints(
        state,
        "claims: [{id: central, text: t}]\n"
        "facts: [{id: f, state: not-applicable, environment: her}]\n"
        "environments: [{id: here}]\n"
        "blocks:\n"
        "  - id: one\n"
        "    kind: validate\n"
        "    claims: [centrl, central]\n"
        "    needs: [tow, zzz]\n"
        "    steps: install\n"
        "  - id: two\n"
        "    kind: verify\n"
        "    verify: {of: on, result: r}\n"
        "calendar: {ones: {start: 2026-12-01}}\n"
        "offers: [{id: o, environment: there}]\n",
        "4:9 error[plan-reference] there is no 'her' under 'environments'; did you mean 'here'?\n"
        "9:14 error[plan-reference] there is no 'centrl' under 'claims'; did you mean 'central'?\n"
        "10:13 error[plan-reference] there is no 'tow' under 'blocks'; did you mean 'two'?\n"
        "10:18 error[plan-reference] there is no 'zzz' under 'blocks'\n"
        "11:12 error[plan-reference] there is no 'install' under 'steps'\n"
        "12:5 error[plan-reference] there is no 'on' under 'blocks'\n"
        "15:12 error[plan-reference] there is no 'ones' under 'blocks'; did you mean 'one'?\n"
        "16:10 error[plan-reference] there is no 'there' under 'environments'; did you mean "
        "'here'?\n");
}

static void test_circles(void **state) {
    assert_complaints(state,
                      "blocks:\n"
                      "  - {id: free, kind: validate}\n"
                      "  - {id: after, kind: validate, needs: [free]}\n"
                      "  - {id: waits, kind: validate, needs: [b]}\n"
                      "  - {id: a, kind: validate, needs: [free, b]}\n"
                      "  - {id: b, kind: validate, needs: [c, c]}\n"
                      "  - {id: c, kind: validate, needs: [free, a]}\n",
                      "8:37 error[plan-circle] these blocks need one another in a circle: b -> c "
                      "-> a -> b\n");
    assert_complaints(state, "blocks: [{id: a, kind: validate, needs: a}]\n",
                      "3:41 error[plan-circle] these blocks need one another in a circle: a -> "
                      "a\n");
    assert_complaints(state,
                      "blocks:\n" /* a rhombus is no circle */
                      "  - {id: a, kind: validate}\n"
                      "  - {id: b, kind: validate, needs: a}\n"
                      "  - {id: c, kind: validate, needs: a}\n"
                      "  - {id: d, kind: validate, needs: [b, c]}\n",
                      "");
}

static void test_a_long_circle_is_cut(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "blocks:\n");
    for (int i = 0; i < 3000; i++)
        strbuf_printf(&text, "  - {id: b%d, kind: validate, needs: b%d}\n", i, (i + 1) % 3000);
    assert_complaints(state, strbuf_str(&text),
                      "4:37 error[plan-circle] these blocks need one another in a circle: b0 -> b1 "
                      "-> b2 -> b3 -> b4 -> b5 -> b6 -> b7 -> b8 -> b9 -> b10 -> ...\n");
}

static void test_backing(void **state) {
    assert_complaints(
        state,
        "blocks:\n"
        "  - id: a\n"
        "    kind: compare\n"
        "    state: confirmed\n"
        "    matrix:\n"
        "      p: {values: [1, 2], state: confirmed}\n"
        "      q: {values: [1, {value: 2, state: confirmed}], state: chosen}\n"
        "      r: {values: [1, {value: 2, source: table 2, state: confirmed}], state: chosen}\n"
        "      s: {values: [1, {value: 2, state: confirmed}], source: table 2}\n",
        "4:5 error[plan-source] a confirmed block needs 'source'; without one it is chosen or "
        "undetermined\n"
        "8:7 error[plan-source] a confirmed axis needs 'source'; without one it is chosen or "
        "undetermined\n"
        "9:23 error[plan-source] a confirmed value needs 'source'; without one it is chosen or "
        "undetermined\n");
}

static void test_facts(void **state) {
    assert_complaints(
        state,
        "facts:\n"
        "  - {id: bare, state: known}\n"
        "  - {id: full, state: known, value: v, source: s, source_kind: listing, seen: "
        "2026-11-30}\n"
        "  - {id: open, state: open, question: q}\n"
        "  - {id: silent, state: open}\n"
        "  - {id: guess, state: open, value: 80 GB}\n"
        "  - {id: none, state: not-applicable}\n"
        "  - {id: old, state: known, about: code, value: v, source: s, source_kind: listing, seen: "
        "2026-11-30}\n",
        "4:5 error[plan-fact] fact 'bare' is known and needs 'value'; without it the fact is open\n"
        "4:5 error[plan-fact] fact 'bare' is known and needs 'source'; without it the fact is "
        "open\n"
        "4:5 error[plan-fact] fact 'bare' is known and needs 'source_kind', one of: paper, "
        "repository, own-trial, authors, provider, third-party, own-choice, title, abstract, "
        "listing, policy, device-documentation, similar-work, other; without it the fact is open\n"
        "4:5 error[plan-fact] fact 'bare' is known and needs 'seen'; without it the fact is open\n"
        "7:5 warning[plan-fact] fact 'silent': an open fact without 'question' does not say what "
        "is to be found out\n"
        "8:5 warning[plan-fact] fact 'guess' is open, so its value counts for nothing; with a "
        "source it can be known\n");
}

/* REQUIREMENTS A9: of every kind of source, which is none for what the work needs. */
static void test_resource_facts(void **state) {
    static const struct {
        const char *kind;
        bool allowed;
    } cases[] = {{"paper", true},        {"repository", true}, {"own-trial", true},
                 {"title", false},       {"abstract", false},  {"listing", false},
                 {"policy", false},      {"authors", false},   {"device-documentation", false},
                 {"other", false},       {"provider", false},  {"third-party", false},
                 {"similar-work", false}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_FREE char *text =
            mem_printf("facts: [{id: f, about: resource, state: known, value: v, source: s, "
                       "source_kind: %s, seen: 2026-11-30}]\n",
                       cases[i].kind);
        AUTO_FREE char *expected =
            mem_printf("3:9 error[plan-fact] fact 'f': what the work needs is not known from '%s'; "
                       "only from its body (paper), the repository or an own trial (own-trial); "
                       "what the authors' own runs took is about: paper\n",
                       cases[i].kind);
        assert_complaints(state, text, cases[i].allowed ? "" : expected);
    }
    /* what the paper's values were measured on its authors know */
    assert_complaints(state,
                      "facts: [{id: f, about: paper, state: known, value: v, source: s, "
                      "source_kind: authors, seen: 2026-11-30}]\n",
                      "");
    assert_complaints(state,
                      "facts: [{id: f, about: resource, state: known, value: v, source: s, "
                      "seen: 2026-11-30}]\n",
                      "3:9 error[plan-fact] fact 'f' is known and needs 'source_kind', one of: "
                      "paper, repository, own-trial; without it the fact is open\n");
}

static void test_paper_parts_and_dates(void **state) {
    assert_complaints(
        state,
        "matrix_of_paper:\n"
        "  - {part: a, included: no, source: table 1}\n"
        "  - {part: b, included: yes}\n"
        "  - {part: c}\n"
        "blocks: [{id: a, kind: validate}, {id: b, kind: validate}]\n"
        "calendar: {a: {start: 2026-12-02, end: 2026-12-01}, b: {start: 2026-12-01, end: "
        "2026-12-01}}\n",
        "4:5 error[plan-missing] a part of the paper that is left out needs 'why'\n"
        "5:5 warning[plan-source] say under 'source' where in the paper this part stands, or that "
        "it is your own choice\n"
        "8:40 error[plan-calendar] the end 2026-12-01 is before the start 2026-12-02\n");
}

static void test_environments(void **state) {
    assert_complaints(
        state,
        "environments:\n"
        "  - {id: a, gpu: NVIDIA H200, gpus: 0}\n"
        "  - {id: b, gpus: 0, capacity: {host_memory: 8 GiB}}\n"
        "  - {id: c, capacity: {gpu_memory: 80 GiB, source: s}}\n",
        "4:37 warning[plan-environment] 'gpu' names a GPU and 'gpus' says that there is none\n"
        "5:46 warning[plan-source] say under 'source' where this capacity is known from\n");
}

static void test_claims(void **state) {
    assert_complaints(
        state,
        "claims:\n"
        "  - {id: free, text: t}\n"
        "  - {id: two, text: t, result: r, threshold: \">= 1\", paper_value: 2, tolerance: 1%, "
        "source: s}\n"
        "  - {id: bare, text: t, result: r, paper_value: 2}\n"
        "  - {id: short, text: t, result: r, better: lower, ordering: [{p: x}]}\n"
        "  - {id: nowhere, text: t, result: r, threshold: \"> 1\", where: {p: z}}\n"
        "  - {id: order, text: t, result: r, better: higher, ordering: [{p: x}, {p: y, f: 2}]}\n"
        "  - {id: unknown, text: t, result: rr, threshold: \"> 1\"}\n"
        "blocks:\n"
        "  - id: b\n"
        "    kind: compare\n"
        "    claims: [free, two, bare, short, nowhere, order]\n"
        "    fixed: {f: 1}\n"
        "    matrix: {p: [x, y]}\n"
        "    results: [{name: r}]\n",
        "5:5 error[plan-claim] a claim is held against one of 'paper_value', 'threshold' and "
        "'ordering', not several; make it several claims\n"
        "5:67 warning[plan-paper] of which version of the paper is this value? 'version' under "
        "'study', 'paper' does not say\n"
        "6:49 error[plan-claim] 'paper_value' needs 'tolerance': which deviation does the team "
        "accept?\n"
        "6:49 error[plan-claim] 'paper_value' needs 'source': where in the paper does it stand?\n"
        "7:63 error[plan-claim] an ordering needs at least two conditions\n"
        "8:64 warning[plan-claim] no condition of the plan has all these values; they are compared "
        "as written\n"
        "9:72 warning[plan-claim] no condition of the plan has all these values; they are compared "
        "as written\n"
        "10:5 warning[plan-claim] no block has 'rr' among its 'results'\n"
        "10:5 warning[plan-claim] no block names this claim under 'claims', so no run answers "
        "it\n");
}

/* Said once, and not at all where the version is said. */
static void test_value_of_a_version(void **state) {
    static const char text[] = "probelauf: 1\n"
                               "study: {id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21, paper: {%s}}\n"
                               "claims:\n"
                               "  - {id: a, text: t, result: r, paper_value: 2, tolerance: 1%%, "
                               "source: s}\n"
                               "  - {id: b, text: t, result: r, paper_value: 2, tolerance: 1%%, "
                               "source: s}\n";
    AUTO_FREE char *without = mem_printf(text, "title: t"), *with = mem_printf(text, "version: v2");
    AUTO_WITH_PLAN struct with_plan first = plan_of(state, without);
    AUTO_WITH_PLAN struct with_plan second = plan_of(state, with);
    assert_int_equal(first.complaints.count, 1);
    assert_string_equal(first.complaints.items[0].id, "plan-paper");
    assert_int_equal(first.complaints.items[0].at.line, 4);
    assert_int_equal(second.complaints.count, 0);
}

/* Before there are blocks nothing is missing of a claim. */
static void test_claims_without_blocks(void **state) {
    assert_complaints(
        state, "claims: [{id: a, text: t, result: r, threshold: \"> 1\", where: {p: z}}]\n", "");
}

static void test_verification(void **state) {
    assert_complaints(
        state,
        "blocks:\n"
        "  - id: of\n"
        "    kind: compare\n"
        "    command: main {p}\n"
        "    matrix: {p: [1, 2]}\n"
        "    results: [{name: r}]\n"
        "  - {id: silent, kind: verify}\n"
        "  - {id: itself, kind: verify, verify: {of: itself, result: r}}\n"
        "  - id: good\n"
        "    kind: verify\n"
        "    command: main {p}\n"
        "    matrix: {p: [2]}\n"
        "    verify: {of: of, result: r}\n"
        "  - id: wrong-result\n"
        "    kind: verify\n"
        "    command: main {p}\n"
        "    fixed: {p: 1}\n"
        "    verify: {of: of, result: q}\n"
        "  - id: other-command\n"
        "    kind: verify\n"
        "    command: main --again {p}\n"
        "    matrix: {p: [2]}\n"
        "    verify: {of: of, result: r}\n",
        "9:5 warning[plan-verify] block 'silent' verifies, but 'verify' does not say which block's "
        "runs it repeats\n"
        "10:5 error[plan-verify] block 'itself' verifies itself\n"
        "16:5 warning[plan-verify] 'q' is none of the results of block 'of'\n"
        "21:5 warning[plan-verify] block 'other-command' repeats no condition of block 'of': "
        "parameters and command must be the same\n");
}

static void test_places(void **state) {
    assert_complaints(
        state,
        "blocks:\n"
        "  - id: b\n"
        "    kind: compare\n"
        "    fixed: {f: 1}\n"
        "    matrix: {policy: [x, y]}\n"
        "    include: [{policy: z, seed: 3}]\n"
        "    command: [main, \"{policy}{f}\", \"{polcy}\", \"{seed}\", \"{HOME}\", \"{{ok}}\"]\n"
        "    inputs: [\"in/{policy}\", \"in/{q}\"]\n"
        "    outputs: \"out/{f\"\n"
        "    expect: [\"marker=}\"]\n"
        "    results: [{name: r, file: \"o/{z}.json\", json: /r}]\n",
        "9:36 error[plan-place] '{polcy}' is no parameter of block 'b'; did you mean "
        "'{policy}'?\n"
        "9:47 error[plan-place] only some conditions of block 'b' have '{seed}'; make it an axis\n"
        "9:57 error[plan-place] '{HOME}' is no parameter of block 'b'; write '{{HOME}}' if the "
        "braces are meant\n"
        "10:29 error[plan-place] '{q}' is no parameter of block 'b'; write '{{q}}' if the braces "
        "are meant\n"
        "11:14 error[plan-place] a single '{' is neither {name} nor text; write it twice for a "
        "brace\n"
        "12:14 error[plan-place] a single '}' is neither {name} nor text; write it twice for a "
        "brace\n"
        "13:15 error[plan-place] '{z}' is no parameter of block 'b'; write '{{z}}' if the braces "
        "are meant\n");
}

/* What is filled into a shell's text is quoted where it must be, so not within other quotes. */
static void test_places_in_quotes(void **state) {
    static const struct {
        const char *command;
        bool quoted;
    } cases[] = {
        {"echo {p}", false},           {"echo '{p}'", true},        {"echo \"x {p}\"", true},
        {"echo 'a' {p} \"b\"", false}, {"echo \\' {p}", false},     {"echo \"\\\"\" {p}", false},
        {"echo '\"' {p}", false},      {"echo \"'\" {p} '", false}, {"echo '\\' {p}", false},
        {"echo \"$X\"/{p}", false},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_FREE char *text =
            mem_printf("blocks:\n  - id: b\n    kind: compare\n    matrix: {p: [x]}\n    shell: "
                       "yes\n    command: |-\n      %s\n",
                       cases[i].command);
        assert_complaints(state, text,
                          cases[i].quoted
                              ? "8:14 error[plan-place] '{p}' stands inside quotes; take them "
                                "away, since what is filled in is quoted for the shell where it "
                                "must be\n"
                              : "");
    }
}

/* Hundreds of thousands of lines in which nothing fits: bounded, and the last complaint says so. */
static void test_many_complaints(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, HEAD "blocks:\n");
    for (int i = 0; i < 9000; i++)
        strbuf_printf(&text, "  - {id: b%d, kind: validate, needs: [c%d, d%d]}\n", i, i, i);
    AUTO_WITH_PLAN struct with_plan with = plan_of(state, strbuf_str(&text));
    assert_int_equal(with.complaints.count, 200);
    assert_string_equal(with.complaints.items[0].id, "plan-reference");
    assert_string_equal(with.complaints.items[199].id, "plan-more");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

/* What was said and refused is complained of once, not missed as well. */
static void test_refused_is_not_missing(void **state) {
    assert_complaints(
        state,
        "facts:\n"
        "  - {id: f, state: known, about: resource, value: v, source: s,\n"
        "     source_kind: repo, seen: 2026-13-01}\n"
        "  - {id: g, state: known, value: v, source: s}\n",
        "5:19 error[plan-word] 'source_kind' is one of paper, repository, own-trial, authors, "
        "provider, third-party, own-choice, title, abstract, listing, policy, "
        "device-documentation, similar-work, other, not 'repo'\n"
        "5:31 error[plan-value] 'seen' takes a date such as 2026-11-30, not '2026-13-01'\n"
        "6:5 error[plan-fact] fact 'g' is known and needs 'source_kind', one of: paper, "
        "repository, own-trial, authors, provider, third-party, own-choice, title, abstract, "
        "listing, policy, device-documentation, similar-work, other; without it the fact is open\n"
        "6:5 error[plan-fact] fact 'g' is known and needs 'seen'; without it the fact is open\n");
}

static void test_values_without_brackets(void **state) {
    assert_complaints(
        state,
        "blocks:\n"
        "  - id: a\n"
        "    kind: compare\n"
        "    matrix:\n"
        "      size: 1, 2, 4\n"
        "      other: {values: 1, state: chosen}\n"
        "      third: \"1, 2\"\n"
        "      fourth: [\"a, b\"]\n"
        "      fifth:\n"
        "        values: x,y\n",
        "7:13 warning[plan-axis] this is one value, '1, 2, 4'; several stand in "
        "brackets: [1, 2, 4]\n"
        "12:17 warning[plan-axis] this is one value, 'x,y'; several stand in brackets: "
        "[x,y]\n");
}

static void test_parameters_of_claims(void **state) {
    assert_complaints(
        state,
        "claims:\n"
        "  - {id: a, text: t, where: {siz: 4, size: 1, keep: 1}}\n"
        "  - {id: b, text: t, where: {size: 3}}\n"
        "  - {id: c, text: t, where: {size: 1, seed: 7, more: yes}}\n"
        "blocks:\n"
        "  - id: a\n"
        "    kind: compare\n"
        "    claims: [a, b, c]\n"
        "    fixed: {seed: 7}\n"
        "    matrix: {size: {values: [1, 2]}}\n"
        "    include: [{size: 1, more: yes}]\n",
        "4:35 warning[plan-claim] no block has a parameter 'siz'; did you mean 'size'?\n"
        "4:53 warning[plan-claim] no block has a parameter 'keep'\n"
        "5:29 warning[plan-claim] no condition of the plan has all these values; they "
        "are compared as written\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_repeated_ids),
        IN_FOLDER(test_references),
        IN_FOLDER(test_circles),
        IN_FOLDER(test_a_long_circle_is_cut),
        IN_FOLDER(test_backing),
        IN_FOLDER(test_facts),
        IN_FOLDER(test_resource_facts),
        IN_FOLDER(test_paper_parts_and_dates),
        IN_FOLDER(test_environments),
        IN_FOLDER(test_claims),
        IN_FOLDER(test_value_of_a_version),
        IN_FOLDER(test_claims_without_blocks),
        IN_FOLDER(test_verification),
        IN_FOLDER(test_places),
        IN_FOLDER(test_places_in_quotes),
        IN_FOLDER(test_many_complaints),
        IN_FOLDER(test_refused_is_not_missing),
        IN_FOLDER(test_values_without_brackets),
        IN_FOLDER(test_parameters_of_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
