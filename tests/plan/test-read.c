/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What becomes of a sound plan: every key of good/all-keys.yaml in its field, with its place; short
 * forms, values at their limits, and what is left absent. What is refused: test-broken.c.
 */
#include "with-plan.h"

#include "base/clock.h"
#include "plan/schema.h"
#include "plan/value.h"

static const struct plan *all_keys(void **state) {
    return *state;
}

static int setup_all_keys(void **state) {
    const char *fixtures = getenv("PROBELAUF_TEST_FIXTURES");
    if (fixtures == NULL)
        return 0;
    AUTO_FREE char *path = mem_printf("%s/../plan/good/all-keys.yaml", fixtures);
    struct plan *plan = NULL;
    struct plan_complaints complaints;
    struct err err = ERR_INIT;
    if (plan_read(path, &plan, &complaints, &err) < 0 || complaints.count != 0) {
        print_error("%s\n", complaints.count > 0 ? complaints.items[0].text : err.text);
        return -1;
    }
    *state = plan;
    return 0;
}

static int teardown_all_keys(void **state) {
    plan_free(*state);
    return 0;
}

#define NEED_PLAN(plan)                        \
    const struct plan *plan = all_keys(state); \
    if (plan == NULL)                          \
    skip()

static void assert_at(struct plan_at at, uint32_t line, uint32_t column) {
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, column);
}

static void assert_pair(const struct plan_pair *pair, const char *name, const char *value) {
    assert_string_equal(pair->name, name);
    assert_string_equal(pair->value, value);
    assert_true(pair->at.line > 0);
}

static void test_file(void **state) {
    NEED_PLAN(plan);
    assert_string_equal(plan->name, "all-keys.yaml");
    assert_int_equal(plan->folder[0], '/');
    assert_string_equal(strrchr(plan->folder, '/'), "/good");
    assert_int_equal(strlen(plan->digest), 64);
}

static void test_study(void **state) {
    NEED_PLAN(plan);
    const struct plan_study *study = &plan->study;
    assert_at(study->at, 4, 3);
    assert_string_equal(study->id, "01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21");
    assert_string_equal(study->title, "Every key");
    assert_string_equal(study->paper_title, "A paper, of course");
    assert_string_equal(study->paper_version, "arXiv v2");
    assert_string_equal(study->paper_url, "https://arxiv.org/abs/2601.00000v2");
    assert_int_equal(study->scope, PLAN_SCOPE_FULL_BENCHMARK);
    assert_string_equal(study->scope_note, "two models and eight prompts");
}

static void test_claims(void **state) {
    NEED_PLAN(plan);
    assert_int_equal(plan->claim_count, 3);
    const struct plan_claim *value = &plan->claims[0], *order = &plan->claims[1],
                            *bound = &plan->claims[2];
    assert_at(value->at, 12, 5);
    assert_string_equal(value->id, "value");
    assert_string_equal(value->text, "the value of the paper");
    assert_string_equal(value->result, "accuracy");
    assert_int_equal(value->where.count, 2);
    assert_pair(&value->where.items[0], "policy", "evict");
    assert_pair(&value->where.items[1], "keep", "0.5");
    assert_at(value->where.at, 15, 12);
    assert_true(value->paper_value.given);
    assert_float_equal(value->paper_value.value, 0.93, 0);
    assert_string_equal(value->paper_value.text, "0.93");
    assert_at(value->paper_value.at, 16, 18);
    assert_true(value->tolerance.given && value->tolerance.relative);
    assert_float_equal(value->tolerance.value, 0.02, 0);
    assert_false(value->threshold.given);
    assert_int_equal(value->better, PLAN_BETTER_UNSAID);
    assert_string_equal(value->source, "table 2");
    assert_int_equal(order->ordering_count, 2);
    assert_pair(&order->ordering[1].items[0], "policy", "recent");
    assert_int_equal(order->better, PLAN_HIGHER);
    assert_null(order->source);
    assert_true(bound->threshold.given);
    assert_int_equal(bound->threshold.relation, PLAN_AT_MOST);
    assert_float_equal(bound->threshold.value, 12.5, 0);
    assert_false(bound->tolerance.relative);
    assert_float_equal(bound->tolerance.value, 0.02, 0);
}

static void test_inventory(void **state) {
    NEED_PLAN(plan);
    assert_int_equal(plan->paper_part_count, 2);
    assert_string_equal(plan->paper_parts[0].part, "table 2");
    assert_string_equal(plan->paper_parts[0].role, "central");
    assert_int_equal(plan->paper_parts[0].included, PLAN_YES);
    assert_int_equal(plan->paper_parts[1].included, PLAN_NO);
    assert_string_equal(plan->paper_parts[1].why, "not needed for the claim");
    assert_int_equal(plan->deviation_count, 1);
    assert_string_equal(plan->deviations[0].what, "another version");
    assert_string_equal(plan->deviations[0].source, "requirements.txt");
    assert_int_equal(plan->fact_count, 3);
    const struct plan_fact *fact = &plan->facts[0];
    assert_string_equal(fact->id, "code.available");
    assert_string_equal(fact->about, "code");
    assert_int_equal(fact->state, PLAN_FACT_KNOWN);
    assert_string_equal(fact->value, "generate.py");
    assert_string_equal(fact->source, "this repository");
    assert_string_equal(fact->source_kind, "repository");
    assert_true(fact->seen.given);
    assert_string_equal(fact->seen.text, "2026-11-30");
    assert_int_equal(fact->seen.utc_ns, INT64_C(1795996800) * NS_PER_S);
    assert_int_equal(fact->stops, PLAN_STOPS_BOOKING);
    assert_null(fact->environment);
    assert_string_equal(plan->facts[1].environment, "rented-a");
    assert_string_equal(plan->facts[1].question, "may they be moved");
    assert_int_equal(plan->facts[1].stops, 31);
    assert_int_equal(plan->facts[2].state, PLAN_FACT_NOT_APPLICABLE);
    assert_int_equal(plan->facts[2].stops, 0);
}

static void test_environments(void **state) {
    NEED_PLAN(plan);
    assert_int_equal(plan->environment_count, 2);
    const struct plan_environment *rented = &plan->environments[0], *mac = &plan->environments[1];
    assert_string_equal(rented->id, "rented-a");
    assert_int_equal(rented->kind, PLAN_RENTED);
    assert_string_equal(rented->gpu, "NVIDIA A100-SXM4-80GB");
    assert_true(rented->gpus.given);
    assert_int_equal(rented->gpus.value, 2);
    assert_string_equal(rented->driver, "550.54.15");
    assert_int_equal(rented->stack.count, 1); /* numpy has no version */
    assert_pair(&rented->stack.items[0], "torch", "2.5.1");
    assert_int_equal(rented->match.count, 2);
    assert_string_equal(rented->match.items[1].text, "machine.cpu_model");
    assert_int_equal(rented->physical_access, PLAN_NO);
    assert_int_equal(rented->gpu_memory.bytes, UINT64_C(80) << 30);
    assert_int_equal(rented->host_memory.bytes, UINT64_C(256000000000));
    assert_string_equal(rented->capacity_source, "nvidia-smi there");
    assert_int_equal(mac->kind, PLAN_MACOS);
    assert_true(mac->gpus.given);
    assert_int_equal(mac->gpus.value, 0);
    assert_int_equal(mac->match.count, 1);
    assert_int_equal(mac->physical_access, PLAN_UNSAID);
    assert_false(mac->gpu_memory.given);
    assert_null(mac->gpu);
    assert_string_equal(plan->code.repo, "https://example.org/code.git");
    assert_int_equal(plan->code.paths.count, 2);
    assert_string_equal(plan->code.paths.items[1].text, "*.py");
}

static void test_work(void **state) {
    NEED_PLAN(plan);
    assert_int_equal(plan->nvtx.count, 2);
    assert_pair(&plan->nvtx.items[0], "prefill", "compute/prefill");
    assert_pair(&plan->nvtx.items[1], "load weights", "load");
    assert_int_equal(plan->pattern_count, 1);
    assert_string_equal(plan->patterns[0].phase, "load");
    assert_string_equal(plan->patterns[0].regex, "^Loading (weights|model)");
    assert_int_equal(plan->task_count, 1);
    const struct plan_task *task = &plan->tasks[0];
    assert_true(task->has_component);
    assert_int_equal(task->component, COMPONENT_CHECKING);
    assert_int_equal(task->needs_machine, PLAN_NO);
    assert_int_equal(task->done, PLAN_NO);
    assert_int_equal(task->time.ns, INT64_C(7200) * NS_PER_S);
    assert_string_equal(task->who, "Kim");
    assert_string_equal(task->when.text, "2026-11-30");
    assert_string_equal(task->why, "eight texts");
    assert_int_equal(plan->step_count, 2);
    assert_string_equal(plan->steps[0].name, "install");
    assert_int_equal(plan->steps[0].component, COMPONENT_PREPARE);
    assert_int_equal(plan->steps[0].run.count, 2);
    assert_int_equal(plan->steps[0].repeats, PLAN_PER_RENTAL);
    assert_false(plan->steps[0].shell);
    assert_true(plan->steps[1].shell);
    assert_int_equal(plan->steps[1].run.count, 1); /* as it is */
    assert_string_equal(plan->steps[1].run.items[0].text,
                        "curl -sSf https://example.org/w | tar x");
}

static void test_blocks(void **state) {
    NEED_PLAN(plan);
    assert_int_equal(plan->block_count, 3);
    const struct plan_block *first = &plan->blocks[0], *block = &plan->blocks[1];
    assert_string_equal(first->title, "The smallest run");
    assert_int_equal(first->kind, PLAN_VALIDATE);
    assert_int_equal(first->extent, PLAN_VALIDATION);
    assert_int_equal(first->recurrence, PLAN_ONE_OFF);
    assert_int_equal(first->state, PLAN_CHOSEN);
    assert_int_equal(first->steps.count, 1); /* one id without a list */
    assert_int_equal(first->command.count, 9);
    assert_string_equal(first->command.items[8].text, "");
    assert_int_equal(first->axis_count, 2);
    assert_int_equal(first->axes[1].value_count, 1); /* keep: 1 */
    assert_string_equal(first->axes[1].values[0].text, "1");
    assert_int_equal(first->axes[0].state, PLAN_UNDETERMINED);
    assert_string_equal(first->gate, "it writes a text");
    assert_int_equal(block->recurrence, PLAN_RECURRING);
    assert_string_equal(block->source, "section 4");
    assert_int_equal(block->claims.count, 3);
    assert_string_equal(block->needs.items[0].text, "validate");
    assert_pair(&block->fixed.items[1], "note", "");
    const struct plan_axis *policy = &block->axes[0];
    assert_string_equal(policy->name, "policy");
    assert_at(policy->at, 79, 7);
    assert_int_equal(policy->state, PLAN_CONFIRMED);
    assert_int_equal(policy->supported, PLAN_YES);
    assert_string_equal(policy->supported_source, "generate.py:10");
    assert_string_equal(policy->values[0].text, "evict");
    assert_string_equal(policy->values[1].text, "recent");
    assert_int_equal(policy->values[1].state, PLAN_CHOSEN);
    assert_int_equal(policy->values[1].supported, PLAN_NO);
    assert_int_equal(block->include_count, 1);
    assert_pair(&block->include[0].items[0], "policy", "none");
    assert_int_equal(block->exclude_count, 1);
    assert_int_equal(block->runs.value, 3);
    static const char *const words[] = {"python3",  "generate all.py", "--policy",
                                        "{policy}", "--keep",          "{keep}",
                                        "--tokens", "{tokens} * 2",    "a b"};
    assert_int_equal(block->command.count, ARRAY_LENGTH(words));
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        assert_string_equal(block->command.items[i].text, words[i]);
    assert_string_equal(block->template_id, "generate-1");
    assert_string_equal(block->folder, "experiments");
    assert_int_equal(block->inputs.count, 2);
    assert_string_equal(block->outputs.items[0].text, "out/{policy}.json");
    assert_string_equal(block->expect.items[0].text, "marker=done");
    assert_int_equal(block->result_count, 4);
    assert_string_equal(block->results[0].json, "/metrics/accuracy");
    assert_string_equal(block->results[1].csv, "seconds");
    assert_string_equal(block->results[1].row, "2");
    assert_string_equal(block->results[2].regex, "loss=([0-9.]+)");
    assert_null(block->results[3].file);
    assert_int_equal(block->lanes.value, 2);
    assert_true(block->retry_max.given);
    assert_int_equal(block->retry_max.value, 1);
    assert_false(first->retry_max.given);
    assert_false(first->lanes.given);
    assert_string_equal(plan->blocks[2].verify_of, "compare");
    assert_string_equal(plan->blocks[2].verify_result, "accuracy");
    assert_true(plan->blocks[2].verify_tolerance.given);
    assert_int_equal(block->condition_count, 4); /* 2 x 2 - 1 + 1: expanded */
}

static void test_money(void **state) {
    NEED_PLAN(plan);
    assert_int_equal(plan->offer_count, 1);
    const struct plan_offer *offer = &plan->offers[0];
    assert_int_equal(offer->rate.micros, 2490001); /* exact */
    assert_string_equal(offer->currency, "EUR");
    assert_string_equal(offer->per, "hour");
    assert_int_equal(offer->gpus_per_unit.value, 1);
    assert_int_equal(offer->increment.ns, 60 * NS_PER_S);
    assert_int_equal(offer->minimum.ns, 3600 * NS_PER_S);
    assert_int_equal(offer->provisioning.ns, 600 * NS_PER_S);
    assert_true(offer->setup_fee.given);
    assert_int_equal(offer->setup_fee.micros, 0);
    assert_int_equal(offer->storage_running.micros, 80000);
    assert_int_equal(offer->storage_stopped.micros, 40000);
    assert_int_equal(offer->transfer_out.micros, 90000);
    assert_int_equal(offer->interruptible, PLAN_NO);
    assert_string_equal(offer->availability, "two in January");
    assert_string_equal(offer->valid_until.text, "2027-01-31");
    const struct plan_owning *owning = &plan->owning;
    assert_int_equal(owning->gpus.value, 2);
    assert_string_equal(owning->purchase.value, "18000");
    assert_string_equal(owning->purchase.source, "quote 12");
    assert_true(owning->purchase.seen.given);
    assert_string_equal(owning->lifetime.value, "4 years"); /* the short form */
    assert_null(owning->lifetime.source);
    assert_string_equal(owning->utilisation.value, "30%");
}

static void test_rest(void **state) {
    NEED_PLAN(plan);
    assert_string_equal(plan->demand.pattern, "campaign");
    assert_int_equal(plan->demand.lasts.ns, INT64_C(60) * 86400 * NS_PER_S);
    assert_string_equal(plan->demand.needs.items[0].text, "full-control");
    assert_int_equal(plan->calendar_count, 1);
    assert_string_equal(plan->calendar[0].block, "compare");
    assert_string_equal(plan->calendar[0].start.text, "2027-01-11");
    assert_string_equal(plan->calendar[0].end.text, "2027-01-22");
    assert_string_equal(plan->privacy.data_class, "none");
    assert_int_equal(plan->privacy.may_transfer, PLAN_YES);
    assert_string_equal(plan->privacy.provider_statement.source, "DPA 4.1");
    assert_string_equal(plan->privacy.readers, "the team");
    assert_string_equal(plan->privacy.storage, "eu-central");
    assert_int_equal(plan->assumption_count, 1);
    assert_string_equal(plan->assumptions[0].key, "compare.failure-rate");
    assert_string_equal(plan->assumptions[0].value, "0.1");
    assert_string_equal(plan->assumptions[0].who, "Kim");
    assert_int_equal(plan->slurm.count, 1);
    assert_pair(&plan->slurm.items[0], "partition", "gpu");
}

/* Nothing but what is needed: all the rest is absent. */
static void test_little(void **state) {
    AUTO_WITH_PLAN struct with_plan with = plan_of(
        state, HEAD "claims:\nfacts: ~\nblocks:\ndemand: null\ncode: {repo: , paths: ''}\n");
    assert_int_equal(with.rc, 0);
    assert_int_equal(with.complaints.count, 0);
    const struct plan *plan = with.plan;
    assert_null(plan->study.title);
    assert_int_equal(plan->study.scope, PLAN_SCOPE_OPEN);
    assert_int_equal(plan->claim_count + plan->fact_count + plan->block_count, 0);
    assert_int_equal(plan->demand.at.line, 0);
    assert_int_equal(plan->privacy.at.line, 0);
    assert_null(plan->code.repo);
    assert_int_equal(plan->code.paths.count, 0);
    assert_int_equal(plan->code.at.line, 7);
}

/* The words of the table are those of model/plan.h. */
static void test_words(void **state) {
    (void)state;
    const struct schema_part *part;
    size_t compared = 0;
    for (size_t i = 0; (part = schema_part_at(i)) != NULL; i++)
        for (size_t k = 0; k < part->key_count; k++) {
            const struct schema_key *key = &part->keys[k];
            const char *of = NULL;
            for (size_t w = 0; key->words != NULL && w < key->words->count; w++) {
                int value = key->words->items[w].value;
                if (strcmp(key->name, "kind") == 0 && strcmp(part->name, "blocks[]") == 0)
                    of = plan_kind_name((enum plan_kind)value);
                else if (strcmp(key->name, "extent") == 0)
                    of = plan_extent_name((enum plan_extent)value);
                else if (strcmp(key->name, "recurrence") == 0)
                    of = plan_recurrence_name((enum plan_recurrence)value);
                else if (strcmp(key->name, "scope") == 0)
                    of = plan_scope_name((enum plan_scope)value);
                else if (strcmp(key->name, "component") == 0)
                    of = component_name((enum component)value);
                else if (strcmp(key->name, "state") == 0 && strcmp(part->name, "facts[]") == 0)
                    of = plan_fact_state_name((enum plan_fact_state)value);
                else if (strcmp(key->name, "state") == 0)
                    of = plan_backing_name((enum plan_backing)value);
                else
                    continue;
                assert_string_equal(of, key->words->items[w].name);
                compared++;
            }
        }
    assert_true(compared > 30);
}

static void test_durations(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int rc;
        int64_t seconds;
    } cases[] = {
        {"2h", 0, 7200},
        {"90 min", 0, 5400},
        {"1d 4h", 0, 100800},
        {"1d4h", 0, 100800},
        {"1.5h", 0, 5400},
        {"90", 0, 90},
        {"0s", 0, 0},
        {"1 4h", -EINVAL, 0},
        {"2h 30", -EINVAL, 0},
        {" 2h", -EINVAL, 0},
        {"2h ", -EINVAL, 0},
        {"2 hours", -EINVAL, 0},
        {"-2h", -EINVAL, 0},
        {"2,5h", -EINVAL, 0},
        {"", -EINVAL, 0},
        {"h", -EINVAL, 0},
        {"106752d", -ERANGE, 0},
        {"4h 1d", -EINVAL, 0},
        {"9999999999999999999999h", -ERANGE, 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        int64_t ns = -1;
        assert_int_equal(value_duration_ns(cases[i].text, &ns), cases[i].rc);
        assert_int_equal(ns, cases[i].rc == 0 ? cases[i].seconds * NS_PER_S : -1);
    }
}

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int rc;
        uint64_t bytes;
    } cases[] = {
        {"80 GiB", 0, UINT64_C(80) << 30},
        {"80GiB", 0, UINT64_C(80) << 30},
        {"24 GB", 0, UINT64_C(24000000000)},
        {"1.5 TiB", 0, UINT64_C(1649267441664)},
        {"0.1 KiB", 0, 102},
        {"4096", 0, 4096},
        {"4096 B", 0, 4096},
        {"0", 0, 0},
        {"18446744073709551615", 0, UINT64_MAX},
        {"18446744073709551616", -ERANGE, 0},
        {"16384 PiB", -ERANGE, 0},
        {"80G", -EINVAL, 0},
        {"80 gib", -EINVAL, 0},
        {"1.5", -EINVAL, 0},
        {"1.5 B", -EINVAL, 0},
        {".5 GB", -EINVAL, 0},
        {"5. GB", -EINVAL, 0},
        {"-1", -EINVAL, 0},
        {"GB", -EINVAL, 0},
        {"", -EINVAL, 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        uint64_t bytes = 77;
        assert_int_equal(value_bytes(cases[i].text, &bytes), cases[i].rc);
        assert_true(bytes == (cases[i].rc == 0 ? cases[i].bytes : 77));
    }
}

static void test_amounts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int rc;
        int64_t micros;
    } cases[] = {
        {"2.49", 0, 2490000},
        {"0", 0, 0},
        {"0.000001", 0, 1},
        {"0.1", 0, 100000},
        {"9223372036854.775807", 0, INT64_MAX},
        {"9223372036854.775808", -ERANGE, 0},
        {"99999999999999999999", -ERANGE, 0},
        {"0.0000001", -EINVAL, 0},
        {"2,49", -EINVAL, 0},
        {"-1", -EINVAL, 0},
        {"+1", -EINVAL, 0},
        {"1e3", -EINVAL, 0},
        {"1.", -EINVAL, 0},
        {".5", -EINVAL, 0},
        {"2.49 EUR", -EINVAL, 0},
        {"", -EINVAL, 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        int64_t micros = -7;
        assert_int_equal(value_micros(cases[i].text, &micros), cases[i].rc);
        assert_int_equal(micros, cases[i].rc == 0 ? cases[i].micros : -7);
    }
}

static void test_dates(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int rc;
    } cases[] = {
        {"2026-11-30", 0},       {"1970-01-01", 0},        {"2024-02-29", 0},
        {"2026-02-29", -EINVAL}, {"2026-13-01", -EINVAL},  {"2026-11-31", -EINVAL},
        {"1969-12-31", -EINVAL}, {"2026-1-01", -EINVAL},   {"2026-11-3 ", -EINVAL},
        {"26-11-30", -EINVAL},   {"2026/11/30", -EINVAL},  {"9999-12-31", -ERANGE},
        {"", -EINVAL},           {"2026-11-30T", -EINVAL},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        int64_t ns = -7;
        assert_int_equal(value_date_ns(cases[i].text, &ns), cases[i].rc);
        assert_true(cases[i].rc == 0 ? ns >= 0 : ns == -7);
    }
}

static void test_deviations_and_relations(void **state) {
    (void)state;
    double value = 0;
    bool relative = true;
    enum plan_relation relation = PLAN_GREATER;
    assert_int_equal(value_tolerance("0", &value, &relative), 0);
    assert_false(relative);
    assert_int_equal(value_tolerance("12.5 %", &value, &relative), 0);
    assert_true(relative);
    assert_float_equal(value, 0.125, 0);
    assert_int_equal(value_tolerance("%", &value, &relative), -EINVAL);
    assert_int_equal(value_tolerance("-1", &value, &relative), -EINVAL);
    assert_int_equal(value_tolerance("5 percent", &value, &relative), -EINVAL);
    assert_int_equal(value_tolerance("nan", &value, &relative), -EINVAL);
    assert_int_equal(value_threshold(">=0.9", &relation, &value), 0);
    assert_int_equal(relation, PLAN_AT_LEAST);
    assert_int_equal(value_threshold("< -3", &relation, &value), 0);
    assert_int_equal(relation, PLAN_LESS);
    assert_float_equal(value, -3, 0);
    assert_int_equal(value_threshold("> 1e2", &relation, &value), 0);
    assert_int_equal(relation, PLAN_GREATER);
    assert_int_equal(value_threshold("= 1", &relation, &value), -EINVAL);
    assert_int_equal(value_threshold(">=", &relation, &value), -EINVAL);
    assert_int_equal(value_threshold("> = 1", &relation, &value), -EINVAL);
}

static void test_names(void **state) {
    (void)state;
    AUTO_FREE char *longest = mem_alloc(66);
    memset(longest, 'a', 64);
    assert_true(value_is_id(longest));
    assert_true(value_is_parameter(longest));
    longest[64] = 'a';
    assert_false(value_is_id(longest));
    assert_false(value_is_parameter(longest));
    assert_true(value_is_id("0.a_b-c"));
    static const char *const no_ids[] = {"", "A", "-a", ".a", "_a", "a b", "a/b", "ä"};
    for (size_t i = 0; i < ARRAY_LENGTH(no_ids); i++)
        assert_false(value_is_id(no_ids[i]));
    assert_true(value_is_parameter("max-length/2"));
    static const char *const no_names[] = {"", "a b", "a=b", "{a", "a}", "a\tb"};
    for (size_t i = 0; i < ARRAY_LENGTH(no_names); i++)
        assert_false(value_is_parameter(no_names[i]));
}

/* WORDS joined by |, or the character that is complained of. */
static void assert_words(const char *text, const char *expected) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct plan_texts words = {0};
    const char *why = NULL;
    AUTO_STRBUF struct strbuf got = STRBUF_INIT;
    if (!value_command_words(text, (struct plan_at){7, 3}, arena, &words, &why)) {
        strbuf_add_str(&got, why);
        assert_int_equal(words.count, 0);
        assert_non_null(strstr(strbuf_str(&got), expected));
        return;
    }
    for (size_t i = 0; i < words.count; i++) {
        strbuf_printf(&got, "%s|", words.items[i].text);
        assert_at(words.items[i].at, 7, 3);
    }
    assert_string_equal(strbuf_str(&got), expected);
}

static void test_command_words(void **state) {
    (void)state;
    assert_words("a  b\tc\nd ", "a|b|c|d|");
    assert_words("", "");
    assert_words("a '' \"\"", "a|||");
    assert_words("a 'b c'\"d e\"f", "a|b cd ef|");
    assert_words("'$HOME | \\ \"'", "$HOME | \\ \"|");
    assert_words("\"a \\\" \\\\ \\$ \\` \\n '\"", "a \" \\ $ ` \\n '|");
    assert_words("a\\ b \\$c \\\\ \\|", "a b|$c|\\||"
                                        "|");
    assert_words("--a={b} --c=[d] ~ # !", "--a={b}|--c=[d]|~|#|!|");
    static const char special[] = "|><&;$`*?()";
    for (const char *at = special; *at != '\0'; at++) {
        char text[] = {'a', ' ', 'b', *at, 'c', '\0'}, what[] = {'\'', *at, '\'', '\0'};
        assert_words(text, what);
        char quoted[] = {'a', ' ', '\'', *at, '\'', '\0'}, whole[] = {'a', '|', *at, '|', '\0'};
        assert_words(quoted, whole);
    }
    assert_words("a \"$b\"", "'$'");
    assert_words("a \"`b`\"", "'`'");
    assert_words("a 'b", "the quote '");
    assert_words("a \"b\\\"", "the quote \"");
    assert_words("a \\", "a|\\|");
}

int main(void) {
    const struct CMUnitTest on_all_keys[] = {
        cmocka_unit_test(test_file),         cmocka_unit_test(test_study),
        cmocka_unit_test(test_claims),       cmocka_unit_test(test_inventory),
        cmocka_unit_test(test_environments), cmocka_unit_test(test_work),
        cmocka_unit_test(test_blocks),       cmocka_unit_test(test_money),
        cmocka_unit_test(test_rest),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test_setup_teardown(test_little, folder_setup, folder_teardown),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_amounts),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_deviations_and_relations),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_command_words),
    };
    int failed = cmocka_run_group_tests(on_all_keys, setup_all_keys, teardown_all_keys);
    return failed + cmocka_run_group_tests(others, NULL, NULL);
}
