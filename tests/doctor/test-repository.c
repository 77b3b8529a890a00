/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judgements on clones whose facts are written down here: when two requirements contradict each
 * other, what is suggested, what the plan knows already, what an environment lacks. */
#include "doctor/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void requirements_that_contradict(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        enum doctor_agreement answer;
    } cases[] = {
        {"==1.26.4", ">=2.2.2", AGREE_NO},
        {"==4.51.3", "==4.51.3", AGREE_YES},
        {"==4.51.3", "==4.51.4", AGREE_NO},
        {"==2.9.0", "==2.9.0+cu128", AGREE_YES},
        {"==2.9.0+cu126", "==2.9.0+cu128", AGREE_NO},
        {"==2.9.1", "==2.9.0+cu128", AGREE_NO},
        {">=2", "<2", AGREE_NO},
        {">=2", "<=2", AGREE_YES},
        {">2", "<=2", AGREE_NO},
        {">=2,<3", ">=3", AGREE_NO},
        {">=1", "<3", AGREE_YES},
        {"~=1.4", ">=2", AGREE_NO},
        {"~=1.4", ">=1.9", AGREE_YES},
        {"~=1.4", "~=2.0", AGREE_NO},
        {"==1.2.*", ">=1.3", AGREE_NO},
        {"==1.2.*", "==1.3.*", AGREE_NO},
        {"==1.2.*", "==1.2.7", AGREE_YES},
        {"!=1.0", "==1.0", AGREE_NO},
        {"!=1.0", ">=1.0", AGREE_YES},
        {"", "==1.0", AGREE_YES},
        {"==nightly", "==1.0", AGREE_YES}, /* cannot be read: no contradiction is claimed */
        {"^1.0", "==2.0", AGREE_UNKNOWN},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        if (doctor_agree(cases[i].a, cases[i].b) != cases[i].answer ||
            doctor_agree(cases[i].b, cases[i].a) != cases[i].answer)
            fail_msg("%s against %s", cases[i].a, cases[i].b);
}

struct clone {
    struct arena *arena;
    json_t *json;
    struct plan plan;
    struct doctor_findings findings;
};

static void clone_done(struct clone *clone) {
    json_decref(clone->json);
    clone->arena = arena_free(clone->arena);
}
#define AUTO_CLONE __attribute__((cleanup(clone_done)))

static struct clone clone_of(const char *text) {
    char why[160];
    struct clone clone = {.arena = arena_new(), .json = json_parse(text, strlen(text), why)};
    clone.plan = (struct plan){.name = "probelauf.yaml"};
    assert_non_null(clone.json);
    return clone;
}

static void judge(struct clone *clone) {
    const struct doctor_input input = {
        .plan = &clone->plan, .repository = clone->json, .without_machine = true};
    doctor_judge(&input, clone->arena, &clone->findings);
}

static const struct doctor_finding *find(const struct clone *clone, const char *id,
                                         const char *environment) {
    for (size_t i = 0; i < clone->findings.count; i++) {
        const struct doctor_finding *finding = &clone->findings.items[i];
        if (strcmp(finding->id, id) == 0 &&
            (environment == NULL ||
             (finding->environment != NULL && strcmp(finding->environment, environment) == 0)))
            return finding;
    }
    return NULL;
}

static const struct doctor_fact *find_fact(const struct clone *clone, const char *id) {
    for (size_t i = 0; i < clone->findings.fact_count; i++)
        if (strcmp(clone->findings.facts[i].id, id) == 0)
            return &clone->findings.facts[i];
    return NULL;
}

#define PIN(name, specifier, file, line)                                                          \
    "{\"name\":\"" name "\",\"specifier\":\"" specifier "\",\"file\":\"" file "\",\"at\":\"" file \
    ":" line "\",\"kind\":\"requirements\"}"

static void within_one_file_it_is_a_problem(void **state) {
    (void)state;
    AUTO_CLONE struct clone one = clone_of("{\"complete\":true,\"requirements\":[" PIN(
        "Torch", "==2.7.0", "a.txt", "1") "," PIN("torch", ">=2.8", "a.txt", "2") "]}");
    judge(&one);
    assert_int_equal(find(&one, "pins-contradict", NULL)->state, DOCTOR_PROBLEM);
    AUTO_CLONE struct clone two = clone_of("{\"complete\":true,\"requirements\":[" PIN(
        "Torch", "==2.7.0", "a.txt", "1") "," PIN("torch", ">=2.8", "b.txt", "2") "]}");
    judge(&two);
    assert_int_equal(find(&two, "pins-contradict", NULL)->state, DOCTOR_WARNING);
    assert_string_equal(find_fact(&two, "environment.pins-contradict")->source, "a.txt:1");
    AUTO_CLONE struct clone three = clone_of("{\"complete\":true,\"requirements\":[" PIN(
        "torch", "==2.7.0", "a.txt",
        "1") ",{\"name\":"
             "\"torch\",\"specifier\":\">=2.8\",\"marker\":\"python_version > '3'\",\"file\":\"b\","
             "\"at\":\"b:1\"}]}");
    judge(&three);
    assert_null(find(&three, "pins-contradict", NULL));
}

static void what_the_plan_knows(void **state) {
    (void)state;
    static const char text[] = "{\"complete\":true,\"python\":[{\"file\":\"a.py\"}],\"licences\":["
                               "{\"file\":\"LICENSE\",\"licence\":\"MIT\",\"top\":true,\"at\":"
                               "\"LICENSE:1\"}]}";
    static const struct {
        enum plan_fact_state state;
        const char *value;
        bool suggested, contradicts;
    } cases[] = {
        {PLAN_FACT_KNOWN, "MIT license", false, false},
        {PLAN_FACT_KNOWN, "GPL-3.0", false, true},
        {PLAN_FACT_NOT_APPLICABLE, NULL, false, false},
        {PLAN_FACT_OPEN, NULL, true, false},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_CLONE struct clone clone = clone_of(text);
        struct plan_fact fact = {.id = "code.licence",
                                 .at = {.line = 31},
                                 .state = cases[i].state,
                                 .value = cases[i].value};
        clone.plan.facts = &fact;
        clone.plan.fact_count = 1;
        judge(&clone);
        assert_null(find_fact(&clone, "code.licence"));
        const struct doctor_fact *other = find_fact(&clone, "code.licence-2");
        assert_int_equal(other != NULL, cases[i].suggested);
        if (other != NULL)
            assert_string_equal(other->answers, "probelauf.yaml:31");
        assert_int_equal(find(&clone, "plan-contradicts", NULL) != NULL, cases[i].contradicts);
    }
}

/* A package with builds for others rules out a Mac, not AMD; one for NVIDIA only rules out both;
 * and where nothing is known it is open, never "agrees". */
static void environments(void **state) {
    (void)state;
    static const struct {
        const char *package, *mac, *amd;
    } cases[] = {
        {"flash-attn", "environment-unfit", "environment-open"},
        {"cupy-cuda12x", "environment-unfit", "environment-unfit"},
        {"numpy", "environment-open", "environment-open"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_FREE char *text =
            mem_printf("{\"complete\":true,\"requirements\":[{\"name\":\"%s\",\"specifier\":"
                       "\"==1\",\"file\":\"r\",\"at\":\"r:1\"}]}",
                       cases[i].package);
        AUTO_CLONE struct clone clone = clone_of(text);
        struct plan_environment environments[] = {
            {.id = "mac", .kind = PLAN_MACOS},
            {.id = "amd", .accelerator = "rocm"},
            {.id = "said-nothing"},
        };
        clone.plan.environments = environments;
        clone.plan.environment_count = ARRAY_LENGTH(environments);
        judge(&clone);
        assert_non_null(find(&clone, cases[i].mac, "mac"));
        assert_non_null(find(&clone, cases[i].amd, "amd"));
        assert_non_null(find(&clone, "environment-open", "said-nothing"));
        assert_null(find(&clone, "environment-agrees", NULL));
    }
}

static void a_document_of_other_shape(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{}",
        "{\"requirements\":[1,null,[]],\"python\":[{}],\"models\":[{\"id\":null}]}",
        "{\"commands\":[{\"found\":false}],\"data\":[{}],\"paths\":[{}],\"licences\":[{}]}",
        "{\"architectures\":[{\"arch\":\"x\"}],\"compilers\":[{}],\"code\":[],\"above\":[{}]}",
        "{\"python\":[{\"imports\":[\"a.py\"],\"file\":\"a.py\",\"works\":[{}],\"main\":true}]}",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        AUTO_CLONE struct clone clone = clone_of(texts[i]);
        judge(&clone);
        assert_true(clone.findings.count > 0);
        assert_non_null(clone.findings.snippet);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requirements_that_contradict),
        cmocka_unit_test(within_one_file_it_is_a_problem),
        cmocka_unit_test(what_the_plan_knows),
        cmocka_unit_test(environments),
        cmocka_unit_test(a_document_of_other_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
