/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each reason why a run is no evidence for a condition, and what does not keep it from being one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "rules/evidence.h"

#include "base/str.h"

#include "build-records.h"

struct fixture {
    struct build_study s;
    struct plan_condition *condition;
    struct run *run, *other; /* other: newer, the reference */
    struct evidence_target target;
};

static int begin(void **state) {
    struct fixture *f = mem_alloc(sizeof *f);
    build_study_start(&f->s);
    f->condition = build_condition(&f->s, build_block(&f->s, "compare", 3, "tokens=96"),
                                   "policy=evict keep=0.5");
    f->run = build_study_run(&f->s, f->condition, 10.0);
    f->other = build_study_run(&f->s, f->condition, 11.0);
    f->target = (struct evidence_target){.plan = &f->s.plan,
                                         .environment = &f->s.plan.environments[0],
                                         .code_digest = "d1",
                                         .reference = f->other};
    *state = f;
    return 0;
}

static int end(void **state) {
    struct fixture *f = *state;
    build_study_end(&f->s);
    mem_free_ptr(&f);
    return 0;
}

static struct evidence judge(struct fixture *f) {
    struct evidence evidence = {.level = EVIDENCE_LEVEL_COUNT_};
    evidence_judge(f->run, f->condition, &f->target, f->s.arena, &evidence);
    return evidence;
}

static void assert_is(struct fixture *f, enum evidence_level level, const char *why) {
    struct evidence evidence = judge(f);
    if (evidence.level != level)
        fail_msg("level %s, not %s: %s", evidence_level_name(evidence.level),
                 evidence_level_name(level), evidence.why ? evidence.why : "(no reason)");
    if ((why == NULL) != (evidence.why == NULL) || (why && !strstr(evidence.why, why)))
        fail_msg("'%s' does not say '%s'", evidence.why ? evidence.why : "(null)", why ? why : "");
}

static void assert_counts(struct fixture *f) {
    assert_is(f, EVIDENCE_MEASURED, NULL);
}

static void assert_none(struct fixture *f, const char *why) {
    assert_is(f, EVIDENCE_NONE, why);
}

static void assert_function_test(struct fixture *f, const char *why) {
    assert_is(f, EVIDENCE_FUNCTION_TEST, why);
}

/* ---- belongs ---- */

static void test_fits(void **state) {
    struct fixture *f = *state;
    assert_counts(f);
    assert_true(judge(f).verified);
    f->run->verified = "not-checked";
    assert_counts(f);
    assert_false(judge(f).verified);
    f->run->validity = RUN_VALID;
    assert_true(judge(f).verified);
    f->target.reference = NULL;
    assert_counts(f);
    f->target.reference = f->run;
    assert_counts(f);
    json_put_text(f->run->start, "purpose", "work");
    assert_counts(f);
}

static void test_other_study(void **state) {
    struct fixture *f = *state;
    f->run->study = "study-2";
    assert_none(f, "it belongs to another study (study-2)");
    f->run->study = NULL;
    json_put_text(f->run->start, "study", "study-3");
    assert_none(f, "study-3");
}

static void test_paper_version(void **state) {
    struct fixture *f = *state;
    json_put_text(f->run->start, "paper_version", "v1");
    assert_none(f, "the paper version was 'v1', the plan says 'v2'");
    json_object_del(f->run->start, "paper_version");
    assert_none(f, "was not said when it ran, the plan says 'v2'");
    /* a record is masked, so what looks like a secret in the plan is no other version */
    f->s.plan.study.paper_version = "v2, https://example.org/p?token=abcdef123456";
    json_put_text(f->run->start, "paper_version", "v1, https://example.org/p?token=[masked]");
    assert_none(f, "the paper version was 'v1, ");
    json_put_text(f->run->start, "paper_version", "v2, https://example.org/p?token=[masked]");
    json_put_text(f->other->start, "paper_version", "v2, https://example.org/p?token=[masked]");
    assert_counts(f);
    json_put_text(f->run->start, "paper_version", "v2");
    f->s.plan.study.paper_version = NULL;
    assert_none(f, "the paper version was 'v2'");
    json_object_del(f->run->start, "paper_version");
    assert_counts(f);
}

static void test_parameters(void **state) {
    struct fixture *f = *state;
    json_t *parameters = json_get_object(f->run->start, "parameters");

    json_put_text(f->run->start, "condition_id", "of an earlier plan");
    json_put_text(parameters, "tokens", "128");
    assert_none(f, "tokens was 128, the plan says 96");
    json_object_del(parameters, "tokens");
    assert_none(f, "tokens was not set, the plan says 96");
    json_put_text(parameters, "tokens", "96");
    json_put_text(parameters, "seed", "7");
    assert_none(f, "seed was 7, the plan does not have it any more");
    json_object_del(parameters, "seed");
    assert_none(f, "another command template");
    json_object_del(f->run->start, "condition_id");
    assert_none(f, "without a condition of the plan");
}

static void test_command(void **state) {
    struct fixture *f = *state;
    build_put(f->run->start, "command",
              "[\"python\",\"gen.py\",\"--keep\",\"0.50\",\"--tokens\",\"96\"]");
    assert_none(f, "its command differs from the plan's: '0.50' instead of '0.5'");
    build_put(f->run->start, "command", "[\"python\",\"gen.py\",\"--keep\",\"0.5\"]");
    assert_none(f, "it ends before '--tokens'");
    build_put(f->run->start, "command",
              "[\"python\",\"gen.py\",\"--keep\",\"0.5\",\"--tokens\",\"96\",\"-v\"]");
    assert_none(f, "it goes on with '-v'");
    build_put(f->run->start, "command",
              "[\"python\",\"gen.py\",\"--keep\",\"0.5\",\"--tokens\",\"96\"]");
    assert_counts(f);
    json_put_text(f->run->start, "command_base64", "x");
    assert_none(f, "no UTF-8");
    json_object_del(f->run->start, "command_base64");
    json_put_text(f->run->start, "command", "a text");
    assert_none(f, "it ends before 'python'");
    f->condition->block = &(struct plan_block){.id = "no command"};
    assert_counts(f);
}

/* The same words run another program where they find other files. */
static void test_folder(void **state) {
    struct fixture *f = *state;
    struct plan_block block = *f->condition->block;
    json_put_text(f->run->start, "plan_folder", "../other");
    assert_none(f, "it ran in folder '../other', the plan says '.'");
    block.folder = "./src/";
    f->condition->block = &block;
    json_put_text(f->run->start, "plan_folder", ".");
    assert_none(f, "it ran in folder '.', the plan says 'src'");
    json_put_text(f->run->start, "plan_folder", "src");
    assert_counts(f);
    block.folder = "src/x/..";
    assert_counts(f);
    block.folder = "/data/src";
    assert_none(f, "it ran in folder 'src', the plan says '/data/src'");
    json_put_text(f->run->start, "plan_folder", "/data/src");
    assert_counts(f);
}

/* Older records say only the folder on the machine of then. */
static void test_folder_not_recorded(void **state) {
    struct fixture *f = *state;
    struct plan_block block = *f->condition->block;
    f->s.plan.folder = "/home/kim/paper";
    f->condition->block = &block;
    json_object_del(f->run->start, "plan_folder");
    json_object_del(f->run->start, "cwd");
    assert_none(f, "where it ran beside its plan is not known");
    json_put_text(f->run->start, "cwd", "/home/kim/paper/src");
    assert_none(f, "where it ran beside its plan is not known");
    block.folder = "src";
    assert_counts(f);
    block.folder = "/home/kim/paper/src";
    assert_counts(f);
    block.folder = "/data";
    assert_none(f, "where it ran beside its plan is not known");
    json_put_text(f->run->start, "cwd", "/data");
    assert_counts(f);
    block.command.count = 0; /* whoever started it by hand knew where */
    json_object_del(f->run->start, "cwd");
    assert_counts(f);
}

/* What a secret was is not recorded; that keeps no run from being what it was. */
static void test_masked_parameter(void **state) {
    struct fixture *f = *state;
    json_t *parameters = json_get_object(f->run->start, "parameters");
    struct plan_condition condition = *f->condition;
    struct plan_pair *pairs =
        arena_alloc(f->s.arena, (condition.parameter_count + 1) * sizeof *pairs);

    memcpy(pairs, condition.parameters, condition.parameter_count * sizeof *pairs);
    pairs[condition.parameter_count++] = (struct plan_pair){.name = "password", .value = "hunter2"};
    condition.parameters = pairs;
    f->condition = &condition;
    json_put_text(parameters, "password", "[masked]");
    assert_counts(f); /* the ids are the same */
    json_put_text(f->run->start, "condition_id", "of an earlier plan");
    assert_none(f, "another command template");
    json_put_text(parameters, "password", "0");
    assert_none(f, "password was 0, the plan says hunter2");
    json_put_text(parameters, "password", "[masked]");
    json_put_text(parameters, "tokens", "128");
    assert_none(f, "tokens was 128, the plan says 96");
}

/* The name of an input may hold a secret that was filled in. */
static void test_masked_input(void **state) {
    struct fixture *f = *state;
    struct plan_block block = *f->condition->block;
    block.inputs = build_texts(f->s.arena, "in/token=abcdefabcdef1");
    f->condition->block = &block;
    f->target.reference = NULL;
    build_put(f->run->start, "inputs", "[{\"path\":\"in/token=[masked]\",\"kind\":\"file\"}]");
    assert_counts(f);
    build_put(f->run->start, "inputs", "[{\"path\":\"in/token=abcdefabcdef1\",\"kind\":\"file\"}]");
    assert_counts(f); /* an older record */
    build_put(f->run->start, "inputs", "[{\"path\":\"in/other\",\"kind\":\"file\"}]");
    assert_none(f, "its inputs do not include");
}

/* A secret in the plan's command is masked in the record; that does not keep them apart. */
static void test_masked_command(void **state) {
    struct fixture *f = *state;
    struct plan_block block = *f->condition->block;
    block.command = build_texts(f->s.arena, "python --token abcdefabcdef --keep {keep}");
    f->condition->block = &block;
    build_put(f->run->start, "command", "[\"python\",\"--token\",\"[masked]\",\"--keep\",\"0.5\"]");
    assert_counts(f);
}

/* What a record holds does not reach a sentence as it is. */
static void test_hostile_texts(void **state) {
    struct fixture *f = *state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "a\nb\033[31m.");
    for (size_t i = 0; i < 500; i++)
        strbuf_add_str(&text, "\xed\x95\x9c");
    json_t *command = json_array();
    json_array_append_new(command, json_text(strbuf_str(&text)));
    json_put(f->run->start, "command", command);
    assert_none(f, "'a\\nb\\x1b[31m");
    assert_true(strlen(judge(f).why) < 250);
    assert_null(strstr(judge(f).why, "\\xed")); /* cut between characters */
    assert_true(str_is_utf8(judge(f).why, strlen(judge(f).why)));
    assert_null(strchr(judge(f).why, '\n'));
}

/* ---- ended well, and what for ---- */

static void test_usable(void **state) {
    struct fixture *f = *state;
    f->run->outcome = OUTCOME_FAILED;
    assert_none(f, "it failed");
    f->run->validity = RUN_INVALID;
    f->run->validity_why = "wrong prompt";
    assert_none(f, "it failed");
    f->run->outcome = OUTCOME_OK;
    assert_none(f, "it was declared invalid (wrong prompt)");
    f->run->validity = RUN_UNCHECKED;
    f->run->verified = "no";
    assert_none(f, "a check of its result was not met");
    assert_false(judge(f).verified);
    f->run->verified = "yes";
    struct run_gpu gpu = {.stand_in = true};
    f->run->gpus = &gpu;
    f->run->gpu_count = 1;
    assert_none(f, "the GPU was a stand-in");
    f->run->gpu_count = 0;
    f->run->wall = quantity_bounded(UNIT_SECOND, 5.0, QUANTITY_AT_LEAST, "clock");
    assert_none(f, "cut off");
    f->run->running = true;
    assert_none(f, "still running");
}

static void test_purpose(void **state) {
    struct fixture *f = *state;
    json_put_text(f->run->start, "purpose", "function-test");
    assert_function_test(f, "it is a function test");
    /* smaller inputs, another machine: that is what function tests are for */
    build_put(f->run->start, "inputs", "[]");
    build_put(f->run->environment, "gpu", "{\"count\":0,\"devices\":[]}");
    assert_function_test(f, "it is a function test");
    f->run->outcome = OUTCOME_GPU_OOM;
    assert_none(f, "out of GPU memory");
    f->run->outcome = OUTCOME_OK;
    build_put(f->run->environment, "code", "{\"digest\":\"d0\"}");
    assert_none(f, "it is a function test, never the base of an estimate; the code changed");
    json_put_text(f->run->start, "purpose", "play");
    assert_none(f, "its purpose is 'play'");
}

/* Checked is what the plan expects now, not what it expected when it ran. */
static void test_expected_since(void **state) {
    struct fixture *f = *state;
    struct plan_block *block = (struct plan_block *)(uintptr_t)f->condition->block;
    f->run->verified = "yes";
    build_put(f->run->start, "expect",
              "[{\"marker\":\"done\",\"text\":\"marker=done\"},"
              "{\"file\":\"/x/out/0.5.json\",\"text\":\"file=/x/out/0.5.json\"}]");
    assert_true(judge(f).verified);
    block->expect = build_texts(f->s.arena, "marker=done file=./out/{keep}.json");
    assert_true(judge(f).verified);
    block->expect = build_texts(f->s.arena, "marker=done file=put/{keep}.json");
    assert_false(judge(f).verified);
    block->expect = build_texts(f->s.arena, "marker=done marker=checksum");
    assert_false(judge(f).verified);
    assert_counts(f);
    f->run->validity = RUN_VALID; /* somebody looked */
    assert_true(judge(f).verified);
}

/* ---- code ---- */

static void test_code(void **state) {
    struct fixture *f = *state;
    build_put(f->run->environment, "code", "{\"commit\":\"c9\",\"dirty\":true,\"digest\":\"d1\"}");
    assert_counts(f); /* a README was changed: the digest of the code is the same */
    build_put(f->run->environment, "code", "{\"commit\":\"c1\",\"digest\":\"d2\"}");
    assert_none(f, "the code changed since (any tracked file but");
    f->s.plan.code.paths = build_texts(f->s.arena, "gen.py");
    f->target.code_paths = json_array();
    json_array_append_new(f->target.code_paths, json_text("gen.py"));
    assert_none(f, "the plan's code.paths changed, so the code states cannot be compared");
    build_put(f->run->environment, "code", "{\"digest\":\"d2\",\"paths\":[\"gen.py\"]}");
    assert_none(f, "the code under code.paths changed since");
    build_put(f->run->environment, "code", "{\"digest\":\"d1\",\"paths\":[\"other.py\"]}");
    assert_counts(f); /* equal digests are equal content */
    build_put(f->run->environment, "code", "{\"reason\":\"git took too long\"}");
    assert_none(f, "its code state is not known");
    json_decref_ptr(&f->target.code_paths);
}

static void test_code_of_reference(void **state) {
    struct fixture *f = *state;
    f->target.code_digest = NULL; /* not known now */
    assert_counts(f);
    build_put(f->run->environment, "code", "{\"digest\":\"d2\"}");
    assert_none(f, "its code differs from that of the newest run that fits");
    build_put(f->run->environment, "code", "{\"digest\":\"d2\",\"paths\":[\"x\"]}");
    assert_none(f, "code.paths changed");
    json_object_del(f->run->environment, "code");
    assert_none(f, "code state of only one of them");
    json_object_del(f->other->environment, "code");
    assert_counts(f);
    f->target.reference = NULL;
    assert_counts(f);
    /* The plan names the code, so "both not known" is no reason to count: nobody would see an
     * edit. */
    f->s.plan.code.paths = build_texts(f->s.arena, "no-such.py");
    assert_none(f, "the code under code.paths is not known now");
    build_put(f->run->environment, "code", "{\"digest\":\"d2\",\"paths\":[\"no-such.py\"]}");
    assert_none(f, "the code under code.paths is not known now");
}

static void test_frozen_code(void **state) {
    struct fixture *f = *state;
    struct evidence_freeze freeze = {.id = "e1", .block = "compare", .code_digest = "d0"};
    f->target.freeze = &freeze;
    assert_none(f, "its code is not the one that was frozen for block 'compare'");
    build_put(f->run->environment, "code", "{\"digest\":\"d0\"}");
    assert_counts(f); /* although the code now is another one */
    freeze.code_digest = NULL;
    assert_none(f, "the code changed since");
}

/* ---- inputs ---- */

#define INPUT(bytes, more) \
    "[{\"path\":\"prompts.txt\",\"kind\":\"file\",\"bytes\":" bytes ",\"mtime_ns\":5" more "}]"

static void test_inputs(void **state) {
    struct fixture *f = *state;
    build_put(f->other->start, "inputs", INPUT("1310", ""));
    build_put(f->run->start, "inputs", INPUT("1310", ",\"inode\":9"));
    assert_counts(f);
    build_put(f->run->start, "inputs", INPUT("2000", ""));
    assert_none(f, "an input changed: prompts.txt (size in bytes was 2000, is 1310)");
    build_put(f->run->start, "inputs", INPUT("1203", "")); /* B9 */
    assert_function_test(f, "an input changed: prompts.txt (size in bytes was 1203, is 1310)");
    build_put(f->run->start, "inputs",
              "[{\"path\":\"prompts.txt\",\"kind\":\"file\",\"mtime_ns\":5}]");
    assert_none(f, "size in bytes was not known, is 1310");
    build_put(f->run->start, "inputs",
              "[{\"path\":\"prompts.txt\",\"kind\":\"file\",\"bytes\":1310,\"mtime_ns\":6}]");
    assert_none(f, "prompts.txt (same size, written at another time)");
    build_put(f->run->start, "inputs", "[{\"path\":\"prompts.txt\",\"kind\":\"absent\"}]");
    assert_none(f, "prompts.txt (was: absent, is: file)");
    build_put(f->run->start, "inputs", "[]");
    assert_none(f, "its inputs do not include prompts.txt");
    build_put(f->other->start, "inputs", "[]");
    build_put(f->run->start, "inputs", INPUT("1310", ""));
    assert_none(f, "it has the input prompts.txt");
}

static void test_input_content(void **state) {
    struct fixture *f = *state;
    build_put(f->other->start, "inputs", INPUT("10", ",\"identity\":\"aa\""));
    build_put(f->run->start, "inputs", INPUT("10", ",\"identity\":\"bb\""));
    assert_none(f, "same size, other content");
    build_put(f->run->start, "inputs", INPUT("10", ""));
    assert_none(f, "known of one only");
    build_put(f->other->start, "inputs",
              "[{\"path\":\"d\",\"kind\":\"folder\",\"bytes\":7,\"items\":3}]");
    build_put(f->run->start, "inputs",
              "[{\"path\":\"d\",\"kind\":\"folder\",\"bytes\":7,\"items\":2}]");
    assert_none(f, "d (number of files was 2, is 3)");
}

/* What the plan names now must be in the record, whatever the newest run or a freeze has. */
static void test_input_of_the_plan(void **state) {
    struct fixture *f = *state;
    struct plan_block *block = (struct plan_block *)(uintptr_t)f->condition->block;
    AUTO_JSON json_t *inputs =
        json_loads("[{\"path\":\"prompts.txt\",\"kind\":\"file\",\"bytes\":10,\"mtime_ns\":5},"
                   "{\"path\":\"0.5.bin\",\"kind\":\"file\",\"bytes\":7,\"mtime_ns\":5}]",
                   0, NULL);
    struct evidence_freeze freeze = {.block = "compare", .code_digest = "d1", .inputs = inputs};
    build_put(f->other->start, "inputs", INPUT("10", ""));
    build_put(f->run->start, "inputs", INPUT("10", ""));
    assert_counts(f);
    block->inputs = build_texts(f->s.arena, "prompts.txt {keep}.bin");
    assert_none(f, "its inputs do not include 0.5.bin, which the plan names");
    f->target.freeze = &freeze;
    assert_none(f, "its inputs do not include 0.5.bin, which the plan names");
    json_object_set(f->run->start, "inputs", inputs);
    assert_counts(f);
}

/* Smaller in one input and changed in another is no function test. */
static void test_input_partly_smaller(void **state) {
    struct fixture *f = *state;
    static const char form[] = "[{\"path\":\"a\",\"kind\":\"file\",\"bytes\":%d,\"mtime_ns\":%d},"
                               "{\"path\":\"b\",\"kind\":\"file\",\"bytes\":%d,\"mtime_ns\":%d}]";
    build_put(f->other->start, "inputs", arena_printf(f->s.arena, form, 10, 1, 20, 1));
    build_put(f->run->start, "inputs", arena_printf(f->s.arena, form, 9, 1, 19, 1));
    assert_function_test(f, "an input changed: a");
    build_put(f->run->start, "inputs", arena_printf(f->s.arena, form, 9, 1, 20, 2));
    assert_none(f, "an input changed: a");
    build_put(f->run->start, "inputs", arena_printf(f->s.arena, form, 10, 2, 19, 1));
    assert_none(f, "an input changed: a");
    build_put(f->run->start, "inputs", arena_printf(f->s.arena, form, 10, 1, 19, 1));
    assert_function_test(f, "an input changed: b");
}

static void test_frozen_inputs(void **state) {
    struct fixture *f = *state;
    AUTO_JSON json_t *inputs = build_object(
        "[{\"path\":\"prompts.txt\",\"kind\":\"file\",\"bytes\":1310,\"mtime_ns\":5,"
        "\"identity\":\"aa\"},{\"path\":\"of-another-condition\",\"kind\":\"file\",\"bytes\":1}]");
    struct evidence_freeze freeze = {.block = "compare", .code_digest = "d1", .inputs = inputs};
    f->target.freeze = &freeze;
    build_put(f->run->start, "inputs", INPUT("1310", ""));
    assert_counts(f);
    build_put(f->run->start, "inputs",
              "[{\"path\":\"prompts.txt\",\"kind\":\"file\",\"bytes\":1310,\"mtime_ns\":6}]");
    assert_none(f, "written at another time");
    build_put(f->run->start, "inputs", INPUT("1310", ",\"identity\":\"bb\""));
    assert_none(f, "other content");
    build_put(f->run->start, "inputs", "[{\"path\":\"more\",\"kind\":\"file\",\"bytes\":1}]");
    assert_none(f, "its input more is not among those that were frozen");
    build_put(f->run->start, "inputs", "[]");
    assert_none(f, "its inputs are not recorded");
}

/* ---- environment ---- */

static void test_gpu(void **state) {
    struct fixture *f = *state;
    struct plan_environment *here = &f->s.plan.environments[0];

    build_put(f->run->environment, "gpu",
              "{\"count\":2,\"devices\":[{\"name\":\"NVIDIA H100 80GB HBM3\"},"
              "{\"name\":\"NVIDIA H100 80GB HBM3\"}],\"driver\":\"550.1\"}");
    assert_function_test(f, "it ran on 2 GPUs, the plan says 1");
    here->gpus.value = 2;
    assert_counts(f);
    here->gpu = "h100  80gb hbm3"; /* neither case nor the vendor's name */
    assert_counts(f);
    here->gpu = "NVIDIA A100-SXM4-80GB";
    assert_function_test(f,
                         "its GPU model was NVIDIA H100 80GB HBM3, the plan says NVIDIA A100-SXM4");
    here->gpu = "H100 80GB HBM3";
    build_put(f->run->environment, "gpu",
              "{\"count\":2,\"devices\":[{\"name\":\"NVIDIA H100 80GB HBM3\"},"
              "{\"name\":\"NVIDIA A100\"}],\"driver\":\"550.1\"}");
    assert_function_test(f, "was NVIDIA H100 80GB HBM3 + NVIDIA A100");
    build_put(f->run->environment, "gpu",
              "{\"count\":2,\"devices\":[{\"name\":\"NVIDIA H100 80GB HBM3\"},{}]}");
    assert_function_test(f, "its GPU model is not known, the plan says H100 80GB HBM3");
    build_put(f->run->environment, "gpu",
              "{\"count\":2,\"devices\":[{\"name\":\"H100 80GB HBM3\"}],\"driver\":\"535.1\"}");
    assert_function_test(f, "the major version of its GPU driver was 535, the plan says 550");
    build_put(f->run->environment, "gpu",
              "{\"count\":2,\"devices\":[{\"name\":\"H100 80GB HBM3\"}]}");
    assert_function_test(f, "the version of its GPU driver is not known, the plan says 550");
    json_object_del(f->run->environment, "gpu");
    assert_function_test(f, "its GPU count is not known, the plan says 2");
    build_put(f->run->environment, "gpu", "{\"count\":0,\"devices\":[]}");
    assert_function_test(f, "it ran without a GPU, the plan says 2");
    here->gpus.value = 0; /* then model and driver are nobody's */
    assert_counts(f);
    build_put(f->run->environment, "gpu", "{\"count\":1,\"devices\":[]}");
    assert_function_test(f, "it ran on 1 GPU, the plan says 0");
}

/* What the plan leaves open is compared with the newest run that fits. */
static void test_gpu_of_reference(void **state) {
    struct fixture *f = *state;
    struct plan_environment *here = &f->s.plan.environments[0];

    here->gpus.given = false;
    here->gpu = here->driver = NULL;
    assert_counts(f);
    build_put(f->run->environment, "gpu", "{\"count\":2,\"devices\":[]}");
    assert_function_test(f, "it ran on 2 GPUs, the newest run that fits on 1");
    build_put(f->run->environment, "gpu", "{\"count\":1,\"devices\":[{\"name\":\"L4\"}]}");
    assert_function_test(f, "its GPU model was L4, in the newest run that fits it is NVIDIA H100");
    build_put(f->run->environment, "gpu", "{\"count\":1,\"devices\":[]}");
    assert_function_test(f, "its GPU model is not known, in the newest run that fits");
    build_put(f->run->environment, "gpu",
              "{\"count\":1,\"devices\":[{\"name\":\"H100 80GB HBM3\"}],\"driver\":\"535.2\"}");
    assert_function_test(f, "driver was 535, in the newest run that fits it is 550");
    build_put(f->other->environment, "gpu", "{\"count\":1,\"devices\":[]}");
    assert_function_test(f, "its GPU model was H100 80GB HBM3, in the newest run that fits it is "
                            "not known");
    json_object_del(f->run->environment, "gpu");
    assert_function_test(f, "its GPU count is not known, the newest run that fits ran on 1");
    json_object_del(f->other->environment, "gpu");
    assert_counts(f); /* neither knows */
    build_put(f->run->environment, "gpu", "{\"count\":0,\"devices\":[]}");
    assert_function_test(f, "its GPU count was 0, in the newest run that fits it is not known");
    f->target.reference = f->run;
    assert_counts(f);
}

static void put_torch(struct run *run, const char *version) {
    char text[200];
    (void)snprintf(text, sizeof text,
                   "[{\"name\":\"Torch\",\"version\":\"9\",\"interpreter\":\"/other\"},"
                   "{\"name\":\"torch\",\"version\":\"%s\",\"interpreter\":\"/venv\"}]",
                   version);
    build_put(run->environment, "packages", text);
}

static void test_packages(void **state) {
    struct fixture *f = *state;
    struct plan_environment *here = &f->s.plan.environments[0];

    put_torch(f->run, "2.1.0");
    assert_function_test(f, "torch was 2.1.0, the plan says 2.3.1");
    put_torch(f->run, "2.3.10");
    assert_function_test(f, "torch was 2.3.10, the plan says 2.3.1");
    put_torch(f->run, "2.3.1+cpu"); /* any build, since the plan names none */
    assert_counts(f);
    here->stack = build_pairs(f->s.arena, "torch=2.3.1+cu121");
    assert_function_test(f, "torch was 2.3.1+cpu, the plan says 2.3.1+cu121");
    here->stack.count = 0; /* open: as in the newest run that fits */
    assert_function_test(f, "torch was 2.3.1+cpu, in the newest run that fits it is 2.3.1+cu121");
    put_torch(f->other, "2.3.1");
    assert_function_test(f, "torch was 2.3.1+cpu, in the newest run that fits it is 2.3.1");
    put_torch(f->other, "2.3.1+cu121");
    put_torch(f->run, "2.3.1+cu121");
    assert_counts(f);
    build_put(f->run->environment, "packages", "[]");
    assert_function_test(f, "torch was not among its packages, in the newest run that fits");
    build_put(f->run->environment, "reasons", "{\"packages\":\"took too long\"}");
    assert_function_test(f, "its version of torch is not known, in the newest run that fits");
    here->stack = build_pairs(f->s.arena, "torch=2.3.1");
    assert_function_test(f, "its version of torch is not known, the plan says 2.3.1");
    build_put(f->run->environment, "packages",
              "[{\"name\":\"flash_attn\",\"version\":\"2\",\"interpreter\":\"/venv\"}]");
    here->match = build_texts(f->s.arena, "Flash-Attn");
    here->stack = build_pairs(f->s.arena, "flash.attn=2");
    assert_counts(f);                                     /* spelled as PEP 503 compares */
    here->stack = build_pairs(f->s.arena, "flashattn=3"); /* another package */
    assert_function_test(f, "Flash-Attn was 2, in the newest run that fits it is not among its");
    here->match = build_texts(f->s.arena, "");
    put_torch(f->run, "1.0");
    assert_counts(f); /* not in match: ignored */
    here->match = build_texts(f->s.arena, "python");
    here->stack = build_pairs(f->s.arena, "python=3.12.1");
    assert_function_test(f, "python was 3.11.2, the plan says 3.12.1");
}

static void test_machine(void **state) {
    struct fixture *f = *state;
    struct plan_environment *here = &f->s.plan.environments[0];
    static const char parts[] = "{\"cpus\":\"8\",\"memory\":\"%s\",\"cpu_model\":%s}";

    here->match = build_texts(f->s.arena, "machine.memory machine.cpu_model");
    build_put(f->other->environment, "fingerprint_parts",
              arena_printf(f->s.arena, parts, "17179869184", "\"EPYC\""));
    build_put(f->run->environment, "fingerprint_parts",
              arena_printf(f->s.arena, parts, "17179869184", "\"EPYC\""));
    assert_counts(f);
    build_put(f->run->environment, "fingerprint_parts",
              arena_printf(f->s.arena, parts, "8589934592", "\"EPYC\""));
    assert_function_test(f, "machine.memory was 8 GiB, in the newest run that fits it is 16 GiB");
    build_put(f->run->environment, "fingerprint_parts",
              arena_printf(f->s.arena, parts, "17179869184", "null"));
    assert_function_test(f, "machine.cpu_model is not known, in the newest run that fits");
    here->match = build_texts(f->s.arena, "machine.memory");
    assert_counts(f);
}

static void test_other_environment(void **state) {
    struct fixture *f = *state;
    build_environment(&f->s, "b");

    json_put_text(f->run->start, "environment_id", "b");
    assert_function_test(f, "it was measured in environment 'b', not in 'here'");
    json_put_text(f->run->start, "environment_id", "c");
    assert_function_test(f, "it was made in environment 'c', which the plan does not have");
    json_object_del(f->run->start, "environment_id");
    assert_function_test(f, "fits 'here', 'b'; say --env");
    /* what Linux's kernel told is no Mac's */
    f->s.plan.environments[1].kind = PLAN_MACOS;
    json_t *machine = json_object();
    json_object_set_new(f->run->environment, "machine", machine);
    json_put_text(machine, "kernel", "6.1.0");
    assert_counts(f);
    json_object_del(machine, "kernel"); /* of which system is not known */
    assert_function_test(f, "fits 'here', 'b'; say --env");
    f->s.plan.environments[1].kind = PLAN_RENTED;
    f->s.plan.environments[1].gpus.value = 8;
    assert_counts(f); /* the record contradicts 'b' */
    f->s.plan.environments[0].driver = "535";
    assert_function_test(f, "it fits none of the plan's environments ('here': the major version");
    json_put_text(f->run->start, "environment_id", "here");
    assert_function_test(f, "the major version of its GPU driver was 550, the plan says 535");
}

static void test_environment_found(void **state) {
    struct fixture *f = *state;
    const struct plan *plan = &f->s.plan;
    const char *why = "unset";

    json_object_del(f->run->environment, "gpu");
    assert_ptr_equal(evidence_environment(plan, f->run, f->s.arena, &why), &plan->environments[0]);
    assert_null(why);
    build_environment(&f->s, "b")->stack = build_pairs(f->s.arena, "torch=1");
    /* what is not known contradicts nothing, another version of torch does */
    assert_ptr_equal(evidence_environment(plan, f->run, f->s.arena, &why), &plan->environments[0]);
    f->s.plan.environment_count = 0;
    assert_null(evidence_environment(plan, f->run, f->s.arena, &why));
    assert_non_null(strstr(why, "names no environment"));
}

/* A plan without environments: the fingerprints decide. */
static void test_no_environment(void **state) {
    struct fixture *f = *state;
    f->s.plan.environment_count = 0;
    f->target.environment = NULL;
    assert_counts(f);
    json_put_text(f->run->environment, "fingerprint", "f2");
    build_put(f->run->environment, "fingerprint_parts", "{\"cpus\":\"16\"}");
    assert_function_test(f, "another number of processors");
    json_object_del(f->run->environment, "fingerprint");
    assert_function_test(f, "the environment of only one of them");
    f->target.reference = NULL;
    assert_counts(f);
}

/* The first thing that does not fit is said. */
static void test_order(void **state) {
    struct fixture *f = *state;
    build_put(f->run->environment, "gpu", "{\"count\":2,\"devices\":[]}");
    assert_function_test(f, "2 GPUs");
    build_put(f->run->start, "inputs", "[]");
    assert_none(f, "inputs do not include");
    build_put(f->run->environment, "code", "{\"digest\":\"d2\"}");
    assert_none(f, "the code changed");
    f->run->outcome = OUTCOME_FAILED;
    assert_none(f, "it failed");
    build_put(f->run->start, "command", "[\"x\"]");
    assert_none(f, "its command differs");
    f->run->study = "other";
    assert_none(f, "another study");
}

/* A record with nothing in it is no evidence and breaks nothing. */
static void test_empty_record(void **state) {
    struct fixture *f = *state;
    AUTO_RUN struct run *empty = run_new();
    struct evidence evidence;
    evidence_judge(empty, f->condition, &f->target, f->s.arena, &evidence);
    assert_int_equal(evidence.level, EVIDENCE_NONE);
    assert_non_null(evidence.why);
    f->target.reference = empty;
    build_put(f->run->start, "inputs", "[]");
    assert_counts(f);
    for (enum evidence_level level = 0; level < EVIDENCE_LEVEL_COUNT_; level++)
        assert_true(strlen(evidence_level_name(level)) > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_fits),
        TEST(test_other_study),
        TEST(test_paper_version),
        TEST(test_input_of_the_plan),
        TEST(test_expected_since),
        TEST(test_parameters),
        TEST(test_command),
        TEST(test_masked_command),
        TEST(test_masked_parameter),
        TEST(test_masked_input),
        TEST(test_folder),
        TEST(test_folder_not_recorded),
        TEST(test_hostile_texts),
        TEST(test_usable),
        TEST(test_purpose),
        TEST(test_code),
        TEST(test_code_of_reference),
        TEST(test_frozen_code),
        TEST(test_inputs),
        TEST(test_input_content),
        TEST(test_input_partly_smaller),
        TEST(test_frozen_inputs),
        TEST(test_gpu),
        TEST(test_gpu_of_reference),
        TEST(test_packages),
        TEST(test_machine),
        TEST(test_other_environment),
        TEST(test_environment_found),
        TEST(test_no_environment),
        TEST(test_order),
        TEST(test_empty_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
