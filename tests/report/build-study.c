/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build-study.h"

#include "build-run.h"

#include <stdio.h>
#include <string.h>

#define UTC_NS INT64_C(1796041696123000000) /* 2026-11-30T12:28:16.123Z */

const char *const build_study_names[BUILD_STUDY_COUNT_] = {"empty", "four", "hostile", "ten"};

/* ---- texts: tame or hostile ---- */

struct builder {
    struct built_study *built;
    bool hostile;
};

static const char *text(const struct builder *builder, const char *tame, const char *hostile) {
    return builder->hostile ? hostile : tame;
}

#define PAIRS(...)                                                                     \
    {                                                                                  \
        .items = (struct plan_pair[]){__VA_ARGS__},                                    \
        .count = sizeof((struct plan_pair[]){__VA_ARGS__}) / sizeof(struct plan_pair), \
    }

static void *make(const struct builder *builder, size_t count, size_t size) {
    return arena_alloc(builder->built->arena, (count + 1) * size);
}

static struct plan_at at(uint32_t line) {
    return (struct plan_at){.line = line, .column = 3};
}

static struct plan_texts texts(const struct builder *builder, const char *const *list) {
    struct plan_texts result = {.items = make(builder, 8, sizeof(*result.items))};
    for (; *list; list++)
        result.items[result.count++] = (struct plan_text_item){.text = *list, .at = at(1)};
    return result;
}

static struct plan_pairs pairs(const struct builder *builder, const char *name, const char *value) {
    struct plan_pairs result = {.items = make(builder, 1, sizeof(*result.items)), .count = 1};
    result.items[0] = (struct plan_pair){.name = name, .value = value, .at = at(20)};
    return result;
}

/* ---- figures ---- */

static struct quantity estimated(double p50, double p05, double p95) {
    static const char *const sources[] = {"019d0c5a-7e3b-7a41-9c2e-1f60a1b2c3d4",
                                          "probelauf.yaml:78"};
    return (struct quantity){.state = QUANTITY_ESTIMATED,
                             .unit = UNIT_SECOND,
                             .value = p50,
                             .has_interval = p95 > p05,
                             .level = 0.9,
                             .p05 = p05,
                             .p95 = p95,
                             .basis = "own-runs",
                             .method = ESTIMATE_METHOD,
                             .n = 3,
                             .sources = sources,
                             .source_count = ARRAY_LENGTH(sources)};
}

static struct quantity at_least(struct quantity q) {
    if (quantity_is_known(&q))
        q.bound = QUANTITY_AT_LEAST;
    return q;
}

static struct quantity none(const char *detail) {
    return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, detail);
}

static struct quantity nothing_left(void) {
    return (struct quantity){.state = QUANTITY_ESTIMATED,
                             .unit = UNIT_SECOND,
                             .value = 0,
                             .method = "nothing left to run"};
}

static struct quantity assumed(double seconds) {
    static const char *const sources[] = {"probelauf.yaml:140"};
    return (struct quantity){.state = QUANTITY_ASSUMED,
                             .unit = UNIT_SECOND,
                             .value = seconds,
                             .method = "assumption",
                             .sources = sources,
                             .source_count = 1};
}

static struct quantity count_of(double count) {
    return (struct quantity){
        .state = QUANTITY_MEASURED, .unit = UNIT_COUNT, .value = count, .method = "plan"};
}

/* ---- the plan ---- */

static void build_facts(const struct builder *builder, struct plan *plan) {
    plan->facts = make(builder, 3, sizeof(*plan->facts));
    plan->fact_count = 3;
    plan->facts[0] = (struct plan_fact){.at = at(44),
                                        .id = "code.available",
                                        .state = PLAN_FACT_KNOWN,
                                        .about = "code",
                                        .value = text(builder, "generate.py in this folder",
                                                      "<script>alert(1)</script> | `x` \033[2J"),
                                        .source = text(builder, "this repository", "a|b\nc"),
                                        .source_kind = "repository",
                                        .seen = {.given = true, .text = "2026-11-30"},
                                        .stops = PLAN_STOPS_VALIDATE};
    plan->facts[1] = (struct plan_fact){
        .at = at(60),
        .id = "resource.gpu-memory",
        .state = PLAN_FACT_OPEN,
        .about = "resource",
        .question =
            text(builder, "what does the largest prompt take on the GPU?",
                 "가장 긴 프롬프트는 GPU 메모리를 얼마나 쓰는가? größe | [x](javascript:1)"),
        .stops = PLAN_STOPS_SCALE | PLAN_STOPS_BOOKING};
    plan->facts[2] = (struct plan_fact){.at = at(66),
                                        .id = "data.personal",
                                        .state = PLAN_FACT_NOT_APPLICABLE,
                                        .source = "own assessment"};
}

static void build_claims(const struct builder *builder, struct plan *plan) {
    plan->claims = make(builder, 2, sizeof(*plan->claims));
    plan->claim_count = 2;
    plan->claims[0] =
        (struct plan_claim){.at = at(14),
                            .id = "half-is-enough",
                            .text = text(builder, "with half of the cache the text stays as it was",
                                         "=cmd|' /C calc'!A0 *bold* _it_ #1 ~x~"),
                            .result = "agreement",
                            .where = pairs(builder, "policy", "evict"),
                            .threshold = {.given = true, .relation = PLAN_AT_LEAST, .value = 0.9},
                            .source = "README"};
    struct plan_pairs *ordering = make(builder, 2, sizeof(*ordering));
    ordering[0] = pairs(builder, "policy", "evict");
    ordering[1] = pairs(builder, "policy", "recent");
    plan->claims[1] = (struct plan_claim){.at = at(20),
                                          .id = "attention-beats-recency",
                                          .text = "attention is better than recency",
                                          .result = "agreement",
                                          .ordering = ordering,
                                          .ordering_count = 2,
                                          .better = PLAN_HIGHER};
}

static void build_parts(const struct builder *builder, struct plan *plan) {
    plan->paper_parts = make(builder, 2, sizeof(*plan->paper_parts));
    plan->paper_part_count = 2;
    plan->paper_parts[0] = (struct plan_paper_part){.at = at(30),
                                                    .part = "cache shortened to 50 %",
                                                    .role = "central",
                                                    .included = PLAN_YES,
                                                    .source = "Table 2"};
    plan->paper_parts[1] = (struct plan_paper_part){
        .at = at(36),
        .part = text(builder, "sampling at other temperatures", "| a | b |\n|---|---|"),
        .role = "ablation",
        .included = PLAN_NO,
        .why = "greedy decoding makes every difference the cache's",
        .source = "own choice"};
    plan->deviations = make(builder, 1, sizeof(*plan->deviations));
    plan->deviation_count = 1;
    plan->deviations[0] = (struct plan_deviation){
        .at = at(40), .what = "float32 instead of float16", .why = "no GPU here"};
    plan->assumptions = make(builder, 1, sizeof(*plan->assumptions));
    plan->assumption_count = 1;
    plan->assumptions[0] = (struct plan_assumption){.at = at(140),
                                                    .key = "compare.checking",
                                                    .value = "1h",
                                                    .who = text(builder, "D. Muster", "-2+3\"x\""),
                                                    .why = "four texts to read",
                                                    .when = {.given = true, .text = "2026-11-29"}};
}

static void build_people(const struct builder *builder, struct plan *plan) {
    plan->tasks = make(builder, 2, sizeof(*plan->tasks));
    plan->task_count = 2;
    plan->tasks[0] = (struct plan_task){.at = at(80),
                                        .id = "read-the-texts",
                                        .what = text(builder, "look at the texts", "a|b `c` <d>"),
                                        .has_component = true,
                                        .component = COMPONENT_CHECKING,
                                        .needs_machine = PLAN_NO,
                                        .done = PLAN_NO,
                                        .time = {.given = true, .ns = INT64_C(3600000000000)},
                                        .who = text(builder, "D. Muster", "| [x](y)"),
                                        .why = "four texts",
                                        .when = {.given = true, .text = "2026-11-29"}};
    plan->tasks[1] = (struct plan_task){.at = at(84), .id = "ask-the-authors"};
    plan->privacy = (struct plan_privacy){
        .data_class = text(builder, "none", "<none>|"),
        .may_transfer = PLAN_YES,
        .provider_statement = {.value = text(builder, "logs are kept 30 days", "*kept*"),
                               .source = "terms",
                               .seen = {.given = true, .text = "2026-11-20"}},
        .assessment = "prompts are public"};
}

static void build_environments(const struct builder *builder, struct plan *plan, bool gpu) {
    plan->environments = make(builder, 2, sizeof(*plan->environments));
    plan->environment_count = 2;
    plan->environments[0] = (struct plan_environment){.at = at(70),
                                                      .id = text(builder, "here", "여기|<b>"),
                                                      .kind = gpu ? PLAN_RENTED : PLAN_OWN,
                                                      .gpu = gpu ? "NVIDIA H200" : NULL,
                                                      .gpus = {.given = true, .value = gpu ? 2 : 0},
                                                      .driver = gpu ? "550.54.15" : NULL};
    plan->environments[1] =
        (struct plan_environment){.at = at(76), .id = "cluster", .kind = PLAN_INSTITUTE};
}

static const struct {
    const char *id;
    enum plan_kind kind;
    enum plan_extent extent;
    size_t conditions;
    int64_t runs;
} block_shapes[] = {
    {"validate", PLAN_VALIDATE, PLAN_VALIDATION, 1, 1},
    {"compare", PLAN_COMPARE, PLAN_FULL, 5, 3},
    {"scale", PLAN_SCALE, PLAN_FULL, 6, 2},
    {"verify", PLAN_VERIFY, PLAN_EXTENT_UNSAID, 1, 0},
};

static void build_block(const struct builder *builder, struct plan_block *block, size_t index,
                        size_t conditions) {
    size_t shape = index % ARRAY_LENGTH(block_shapes);
    *block = (struct plan_block){
        .at = at((uint32_t)(90 + 10 * index)),
        .id = index < ARRAY_LENGTH(block_shapes)
                  ? block_shapes[shape].id
                  : arena_printf(builder->built->arena, "%s-%zu", block_shapes[shape].id, index),
        .kind = block_shapes[shape].kind,
        .extent = block_shapes[shape].extent,
        .recurrence = PLAN_ONE_OFF,
        .state = shape == 1 ? PLAN_CONFIRMED : PLAN_CHOSEN,
        .question = text(builder, "how much of the text survives a shorter cache?",
                         "# heading?\n- list <img src=x onerror=alert(1)> ```"),
        .runs = {.given = block_shapes[shape].runs > 0, .value = block_shapes[shape].runs},
        .gate = shape == 0 ? "a second run writes the same" : NULL,
        .condition_count = conditions,
        .conditions = make(builder, conditions, sizeof(*block->conditions)),
    };
    if (shape == 1) {
        block->results = make(builder, 2, sizeof(*block->results));
        block->result_count = 2;
        block->results[0] = (struct plan_result){.name = "agreement", .unit = UNIT_RATIO};
        block->results[1] = (struct plan_result){.name = text(builder, "cache_bytes", "=cache|<b>"),
                                                 .unit = UNIT_BYTE};
    }
    static const char *const claims[] = {"half-is-enough", "attention-beats-recency", NULL};
    static const char *const nothing[] = {NULL};
    block->claims = texts(builder, shape == 1 ? claims : nothing);
    for (size_t i = 0; i < conditions; i++) {
        struct plan_condition *condition = &block->conditions[i];
        condition->at = at((uint32_t)(95 + 10 * index));
        (void)snprintf(condition->id, sizeof(condition->id), "%064zx", 1000 * index + i);
        condition->block = block;
        condition->axes = make(builder, 2, sizeof(*condition->axes));
        condition->axis_count = 2;
        const char *policy = i % 2 ? "evict" : "full";
        const char *keep = arena_printf(builder->built->arena, "0.%zu", i + 1);
        condition->axes[0] = (struct plan_pair){.name = "policy", .value = policy};
        condition->axes[1] = (struct plan_pair){.name = "keep", .value = keep};
        condition->parameters = condition->axes;
        condition->parameter_count = 2;
        condition->state = PLAN_CHOSEN;
        condition->supported = i == 4 ? PLAN_NO : PLAN_UNSAID;
        condition->label =
            builder->hostile && i == 0
                ? "정책=축출 keep=0.5|`rm -rf`"
                : arena_printf(builder->built->arena, "policy=%s keep=%s", policy, keep);
    }
}

static void build_plan(const struct builder *builder, size_t blocks) {
    struct plan *plan = &builder->built->plan;
    plan->arena = builder->built->arena;
    plan->path = plan->name = "probelauf.yaml";
    plan->folder = "/study";
    (void)snprintf(plan->digest, sizeof(plan->digest), "%064x", 0xabcu);
    plan->study = (struct plan_study){.at = at(1), .id = "01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21"};
    if (blocks == 0)
        return;
    plan->study.title = text(builder, "How much of a key-value cache can go?",
                             "캐시는 얼마나 줄일 수 있는가 </title><b>\xff\033]0;x\007");
    plan->study.paper_title = "A KV cache experiment in miniature";
    plan->study.paper_version =
        text(builder, "arXiv 2601.01234v2", "v2 | <!-- --> [a](b) \\| &lt;");
    plan->study.scope = PLAN_SCOPE_MAIN_RESULT;
    plan->study.scope_note = "one model, eight prompts";
    build_facts(builder, plan);
    build_claims(builder, plan);
    build_parts(builder, plan);
    build_people(builder, plan);
    build_environments(builder, plan, blocks > 4);
    plan->blocks = make(builder, blocks, sizeof(*plan->blocks));
    plan->block_count = blocks;
    for (size_t i = 0; i < blocks; i++)
        build_block(builder, &plan->blocks[i], i,
                    i == 5 ? 30 : block_shapes[i % ARRAY_LENGTH(block_shapes)].conditions);
}

/* ---- what it has come to ---- */

static void build_runs(const struct builder *builder) {
    struct built_study *built = builder->built;
    struct study *study = &built->study;
    built->runs[built->run_count++] = build_ok();
    built->runs[built->run_count++] = build_failed();
    built->runs[built->run_count++] = build_plain();
    if (builder->hostile)
        built->runs[built->run_count++] = build_wide();
    study->runs = make(builder, built->run_count, sizeof(*study->runs));
    study->run_count = built->run_count;
    for (size_t i = 0; i < built->run_count; i++) {
        built->run_list[i] = built->runs[i];
        study->runs[i].run = built->runs[i];
    }
    const struct plan_block *compare = &built->plan.blocks[1];
    study->runs[0].block = study->runs[1].block = compare;
    study->runs[0].condition = study->runs[1].condition = &compare->conditions[0];
    study->runs[0].planned = study->runs[1].planned = true;
    study->runs[0].evidence = (struct evidence){.level = EVIDENCE_MEASURED, .verified = true};
    study->runs[1].evidence = (struct evidence){
        .level = EVIDENCE_NONE, .why = text(builder, "it failed", "it `failed` | \033[31m<i>")};
    for (size_t i = 2; i < built->run_count; i++)
        study->runs[i].unplanned_why = "it names no condition of the plan";
}

static void build_study_block(const struct builder *builder, struct study_block *block,
                              const struct plan_block *plan, size_t index) {
    static const enum study_state states[] = {STUDY_DONE, STUDY_UNDERWAY, STUDY_TRIED,
                                              STUDY_PLANNED};
    static const enum evidence_level levels[] = {EVIDENCE_MEASURED, EVIDENCE_NONE,
                                                 EVIDENCE_FUNCTION_TEST, EVIDENCE_NONE};
    size_t shape = index % 4;
    *block = (struct study_block){.block = plan,
                                  .state = states[shape],
                                  .level = levels[shape],
                                  .has_planned = plan->runs.given,
                                  .condition_count = plan->condition_count};
    block->why = shape == 0 ? NULL : "4 of 5 conditions have no run that counts";
    block->conditions = make(builder, block->condition_count, sizeof(*block->conditions));
    for (size_t i = 0; i < block->condition_count; i++) {
        struct study_condition *condition = &block->conditions[i];
        bool measured = shape == 0 || (shape == 1 && i == 0) || i > 24;
        *condition = (struct study_condition){
            .condition = &plan->conditions[i],
            .level = measured ? EVIDENCE_MEASURED : levels[shape],
            .why = measured     ? NULL
                   : shape == 2 ? "made in another environment: its GPU count is not known"
                                : text(builder, "no run yet", "no run yet | <u>\n```"),
            .planned = plan->runs.given ? (uint64_t)plan->runs.value : 0,
            .has_planned = plan->runs.given,
            .done = measured && plan->runs.given ? (uint64_t)plan->runs.value : 0,
            .valid = measured ? 3 : 0,
            .uncounted = shape == 1 && i == 0 ? 2 : 0,
            .uncounted_why =
                shape == 1 && i == 0
                    ? text(builder, "an input changed: data.txt (written at another time)",
                           "an input changed: <b>|\033[31m")
                    : NULL,
            .attempts = measured ? 4 : 0,
            .failures = shape == 1 && i == 0,
        };
        if (shape == 1 && i == 0 && index == 1) {
            condition->runs = make(builder, 2, sizeof(const struct study_run *));
            condition->runs[0] = &builder->built->study.runs[0];
            condition->runs[1] = &builder->built->study.runs[1];
            condition->run_count = 2;
        }
        block->planned += condition->planned;
        block->done += condition->done;
        block->valid += condition->valid;
    }
}

static void build_claims_and_checks(const struct builder *builder) {
    struct study *study = &builder->built->study;
    const struct plan *plan = &builder->built->plan;
    study->claims = make(builder, 2, sizeof(*study->claims));
    study->claim_count = 2;
    struct study_observed *observed = make(builder, 1, sizeof(*observed));
    observed[0] = (struct study_observed){.where = &plan->claims[0].where,
                                          .value = quantity_measured(UNIT_RATIO, 0.937, "mark"),
                                          .least = 0.91,
                                          .most = 0.95};
    observed[0].value.n = 3;
    study->claims[0] = (struct study_claim){.claim = &plan->claims[0],
                                            .verdict = STUDY_REPRODUCED,
                                            .why = "0.937 is >= 0.9",
                                            .observed = observed,
                                            .observed_count = 1};
    struct study_observed *open = make(builder, 1, sizeof(*open));
    open[0] = (struct study_observed){
        .where = &plan->claims[1].ordering[1],
        .value = quantity_open(UNIT_RATIO, QUANTITY_NO_EVIDENCE, "no run that counts")};
    study->claims[1] = (struct study_claim){
        .claim = &plan->claims[1],
        .verdict = builder->hostile ? STUDY_NOT_REPRODUCED : STUDY_OPEN,
        .why = text(builder, "no run with policy=recent counts", "<x>|`\n\t\v"),
        .observed = open,
        .observed_count = 1};
    study->repeat_checks = make(builder, 1, sizeof(*study->repeat_checks));
    study->repeat_check_count = 1;
    study->repeat_checks[0] = (struct study_repeat_check){
        .block = &plan->blocks[3],
        .condition = &plan->blocks[1].conditions[0],
        .why = "no repetition yet",
        .first = quantity_measured(UNIT_RATIO, 0.937, "mark"),
        .repeat = quantity_open(UNIT_RATIO, QUANTITY_NO_EVIDENCE, NULL)};
}

static void build_times(struct study *study) {
    study->unplanned_time = quantity_measured(UNIT_SECOND, 12.3, "monotonic clock");
    study->unplanned_time.n = 1;
    study->spent = quantity_bounded(UNIT_SECOND, 600.5, QUANTITY_AT_LEAST, "monotonic clock");
    study->failed_time = quantity_measured(UNIT_SECOND, 61.2, "monotonic clock");
    study->first_success = quantity_measured(UNIT_SECOND, 3600, "UTC");
    study->here.spent = quantity_bounded(UNIT_SECOND, 500.5, QUANTITY_AT_LEAST, "monotonic clock");
    study->here.failed_time = study->failed_time;
    study->elsewhere.spent = quantity_measured(UNIT_SECOND, 100, "monotonic clock");
    study->elsewhere.failed_time = quantity_measured(UNIT_SECOND, 0, "there is no such run");
}

static void build_joined(const struct builder *builder) {
    struct built_study *built = builder->built;
    struct plan *plan = &built->plan;
    struct study *study = &built->study;
    built->input = (struct study_input){
        .plan = plan,
        .environment = plan->environment_count > 0 ? &plan->environments[0] : NULL,
        .code_why = "no repository here",
        .now_utc_ns = UTC_NS};
    study->input = &built->input;
    study->unplanned_time = quantity_measured(UNIT_SECOND, 0, "no unplanned run");
    study->spent = quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, "no run yet");
    study->failed_time = study->first_success = study->spent;
    study->here.spent = study->here.failed_time = study->spent;
    study->elsewhere = study->here;
    if (plan->block_count == 0)
        return;
    build_runs(builder);
    built->input.runs = built->run_list;
    built->input.run_count = built->run_count;
    built->input.code_digest = built->plan.block_count > 4 ? "0123abcd" : NULL;
    study->blocks = make(builder, plan->block_count, sizeof(*study->blocks));
    study->block_count = plan->block_count;
    for (size_t i = 0; i < plan->block_count; i++)
        build_study_block(builder, &study->blocks[i], &plan->blocks[i], i);
    struct evidence_freeze *freeze = make(builder, 1, sizeof(*freeze));
    *freeze = (struct evidence_freeze){.id = "019d0c5a-7e3b-7a41-9c2e-1f60f00dbabe",
                                       .block = "compare",
                                       .utc_ns = UTC_NS,
                                       .code_digest = "0123abcd"};
    study->blocks[1].freeze = freeze;
    study->blocks[1].freeze_outdated = "the code changed";
    const struct plan_fact **open = make(builder, 1, sizeof(const struct plan_fact *));
    open[0] = &plan->facts[1];
    study->open_facts = study->blocks[2].stopped_by = open;
    study->open_fact_count = study->blocks[2].stopped_by_count = 1;
    build_claims_and_checks(builder);
    build_times(study);
}

/* ---- the estimate ---- */

static void build_component(const struct builder *builder, struct estimate_block *block,
                            enum component which, struct quantity time, const char *name) {
    struct estimate_component *component = &block->components[which];
    component->component = which;
    component->time = time;
    if (!name)
        return;
    component->items = make(builder, 1, sizeof(*component->items));
    component->item_count = 1;
    component->items[0] = (struct estimate_item){
        .name = name,
        .condition = which == COMPONENT_RUNS ? block->block->block->conditions : NULL,
        .count = count_of(2),
        .unit = quantity_is_known(&time) ? estimated(time.value / 2, 0, 0) : time,
        .time = time,
        .needs_machine = which == COMPONENT_CHECKING ? PLAN_NO : PLAN_YES};
}

static struct estimate_figures figures_of(struct quantity time, bool gpu) {
    struct quantity none_here =
        quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE, "no GPU in the target");
    struct estimate_figures figures = {.computing = time,
                                       .reserved = at_least(time),
                                       .calendar = at_least(time),
                                       .effort = assumed(3600),
                                       .gpu = none_here};
    if (gpu) {
        figures.gpu = at_least(time); /* two of them */
        figures.gpu.value *= 2;
        figures.gpu.p05 *= 2;
        figures.gpu.p95 *= 2;
    }
    return figures;
}

#define FUTURES 21 /* so that the ends of the interval are futures themselves */

/* Futures between the ends of a time, as money is made of them. */
static struct futures futures_of(const struct builder *builder, const struct quantity *time) {
    struct futures futures = {.kind = FUTURES_VALUE, .value = time->value};
    if (!quantity_is_known(time))
        return (struct futures){.kind = FUTURES_OPEN};
    if (!time->has_interval)
        return futures;
    futures.kind = FUTURES_DRAWN;
    futures.count = FUTURES;
    futures.draws = make(builder, FUTURES, sizeof(*futures.draws));
    for (size_t i = 0; i < FUTURES; i++)
        futures.draws[i] = i < 2 ? time->p05 : i < FUTURES - 2 ? time->value : time->p95;
    return futures;
}

/* Runs that were never made, components that nobody saw, retries, idle; of one block a step. */
static void build_block_open(const struct builder *builder, struct estimate_block *block,
                             const struct study_block *of) {
    struct estimate_open *open = make(builder, 6, sizeof(*open));
    struct estimate_component *prepare = &block->components[COMPONENT_PREPARE];
    const struct estimate_open part = {.block = of->block, .has_component = true};
    size_t count = 0;
    for (size_t i = 0; i < 5; i++)
        open[i] = part;
    open[count].component = COMPONENT_DATA;
    open[count].kind = ESTIMATE_LET_SEE;
    open[count++].what = "not seen";
    open[count].component = COMPONENT_FIXING;
    open[count].kind = ESTIMATE_LET_SEE;
    open[count++].what = "not seen";
    open[count].component = COMPONENT_IDLE;
    open[count].kind = ESTIMATE_ASSUME;
    open[count++].what = "not recorded yet";
    if (of->state != STUDY_DONE) {
        struct estimate_component *runs = &block->components[COMPONENT_RUNS];
        open[count].component = COMPONENT_RETRIES;
        open[count].kind = ESTIMATE_MAKE_RUN;
        open[count].what = text(builder, "no run yet", "none\033[2J | <b> yet");
        open[count].items = make(builder, 1, sizeof(*open->items));
        open[count].item_count = runs->item_count;
        if (runs->item_count > 0)
            open[count].items[0] = &runs->items[0];
        count++;
    }
    if (of->state == STUDY_UNDERWAY) {
        open[count].component = COMPONENT_PREPARE;
        open[count].kind = ESTIMATE_ENTER;
        open[count].what = "counted as if it needed the rented machine, which is not said";
        open[count].enter = "needs_machine of step 'install'";
        open[count].items = make(builder, 1, sizeof(*open->items));
        open[count].item_count = 1;
        open[count++].items[0] = &prepare->items[0];
    }
    block->open = open;
    block->open_count = count;
}

static void build_estimate_block(const struct builder *builder, struct estimate_block *block,
                                 const struct study_block *of, bool gpu) {
    *block = (struct estimate_block){
        .block = of, .has_remaining = of->has_planned, .remaining = of->planned - of->done};
    for (int i = 0; i < COMPONENT_COUNT_; i++)
        build_component(builder, block, (enum component)i,
                        none("no step, task or assumption of the plan is for it"), NULL);
    struct quantity runs = of->state == STUDY_DONE      ? nothing_left()
                           : of->state == STUDY_PLANNED ? none("no run of this block yet")
                                                        : estimated(252.4, 240, 270.25);
    build_component(builder, block, COMPONENT_RUNS, runs,
                    of->block->condition_count > 0 ? of->block->conditions[0].label : NULL);
    build_component(builder, block, COMPONENT_PREPARE, estimated(41.5, 0, 0), "step install");
    if (of->state == STUDY_UNDERWAY) {
        build_component(builder, block, COMPONENT_CHECKING, assumed(3600), "task read-the-texts");
        block->weakness = "one run only: repeat it once to get an interval";
    }
    block->figures = figures_of(runs, gpu);
    block->rented.reserved = futures_of(builder, &block->figures.reserved);
    build_block_open(builder, block, of);
    block->bytes_in = quantity_open(UNIT_BYTE, QUANTITY_NO_EVIDENCE, NULL);
    block->bytes_out = quantity_bounded(UNIT_BYTE, 1 << 20, QUANTITY_AT_LEAST, "/proc/self/io");
    block->host_memory = (struct estimate_memory){
        .quantity_name = "largest process, resident",
        .need = of->state == STUDY_PLANNED
                    ? quantity_open(UNIT_BYTE, QUANTITY_NO_EVIDENCE, NULL)
                    : quantity_bounded(UNIT_BYTE, 1460288880, QUANTITY_AT_LEAST, "VmHWM"),
        .capacity = quantity_measured(UNIT_BYTE, 0x1p30 * 1.5, "/proc/meminfo"),
        .verdict = of->state == STUDY_PLANNED ? "cannot be told" : "fits"};
    block->gpu_memory = (struct estimate_memory){
        .quantity_name = "GPU memory, device used",
        .need = quantity_open(UNIT_BYTE, gpu ? QUANTITY_NOT_SUPPORTED : QUANTITY_NOT_APPLICABLE,
                              "GPU probing not built in"),
        .capacity =
            quantity_open(UNIT_BYTE, gpu ? QUANTITY_NOT_ENTERED : QUANTITY_NOT_APPLICABLE, NULL),
        .verdict = "cannot be told"};
}

static void build_subtotals(const struct builder *builder, struct estimate *estimate, bool gpu) {
    static const char *const extents[] = {"validation", "full", "not said"};
    estimate->by_extent = make(builder, 3, sizeof(*estimate->by_extent));
    estimate->by_extent_count = 3;
    for (size_t i = 0; i < 3; i++)
        estimate->by_extent[i] =
            (struct estimate_subtotal){.name = extents[i],
                                       .block_count = i == 1 ? 2 : 1,
                                       .figures = figures_of(estimated(252.4, 240, 270), gpu)};
    estimate->by_recurrence = make(builder, 1, sizeof(*estimate->by_recurrence));
    estimate->by_recurrence_count = 1;
    estimate->by_recurrence[0] =
        (struct estimate_subtotal){.name = "one-off",
                                   .block_count = estimate->block_count,
                                   .figures = figures_of(estimated(504.8, 480, 540.5), gpu)};
}

static void build_settings(const struct builder *builder, struct estimate *estimate) {
    estimate->assumed = make(builder, 2, sizeof(*estimate->assumed));
    estimate->assumed_count = 2;
    estimate->assumed[0] =
        (struct estimate_setting){.key = "compare.checking",
                                  .value = "1h",
                                  .who = text(builder, "D. Muster", "-2+3\"x\""),
                                  .why = text(builder, "four texts to read", "@SUM(A1) | <br>"),
                                  .source = "probelauf.yaml:140"};
    estimate->assumed[1] = (struct estimate_setting){
        .key = "scale.runs", .value = "2", .source = "--set", .is_set = true};
    estimate->without_effect = make(builder, 1, sizeof(*estimate->without_effect));
    estimate->without_effect_count = 1;
    estimate->without_effect[0] =
        (struct estimate_setting){.key = "scale.retry-max",
                                  .value = "3",
                                  .source = "--set",
                                  .is_set = true,
                                  .no_effect = "retries are open: no attempt was seen"};
}

static void build_open(const struct builder *builder, struct estimate *estimate) {
    struct estimate_open *open = make(builder, 6 * estimate->block_count + 1, sizeof(*open));
    struct estimate_item *item = make(builder, 1, sizeof(*item));
    for (size_t i = 0; i < estimate->block_count; i++)
        for (size_t j = 0; j < estimate->blocks[i].open_count; j++)
            open[estimate->open_count++] = estimate->blocks[i].open[j];
    item->name = "task read-the-texts";
    open[estimate->open_count] = (struct estimate_open){
        .has_component = true,
        .component = COMPONENT_CHECKING,
        .items = make(builder, 1, sizeof(*open->items)),
        .item_count = 1,
        .kind = ESTIMATE_ENTER,
        .enter = "time of task 'read-the-texts' (with who, when and why)",
        .what = "the plan does not say how long it takes",
    };
    open[estimate->open_count++].items[0] = item;
    for (size_t i = 0; i < estimate->open_count; i++) {
        const struct estimate_open *part = &open[i];
        open[i].remedy = estimate_remedy_text(estimate, &part, 1, false, builder->built->arena);
    }
    size_t first = 0;
    for (size_t i = 0; i < estimate->block_count; i++) {
        estimate->blocks[i].open = open + first;
        first += estimate->blocks[i].open_count;
    }
    estimate->open = open;
}

static void build_plan_estimate(const struct builder *builder) {
    struct estimate *estimate = &builder->built->estimate;
    const struct study *study = &builder->built->study;
    bool gpu = study->block_count > 4;
    *estimate = (struct estimate){.study = study,
                                  .seed = 20261130,
                                  .draws = 20000,
                                  .block_count = study->block_count,
                                  .has_gpus = study->block_count > 0,
                                  .reserved_gpus = gpu ? 2 : 0};
    estimate->blocks = make(builder, study->block_count, sizeof(*estimate->blocks));
    for (size_t i = 0; i < study->block_count; i++)
        build_estimate_block(builder, &estimate->blocks[i], &study->blocks[i], gpu);
    struct quantity time =
        study->block_count == 0 ? none("the plan has no blocks") : estimated(504.8, 480, 540.5);
    for (int i = 0; i < COMPONENT_COUNT_; i++)
        estimate->components[i] =
            (struct estimate_component){.component = (enum component)i,
                                        .time = i == COMPONENT_RUNS ? at_least(time) : none(NULL)};
    estimate->total = figures_of(time, gpu);
    if (study->block_count == 0) {
        estimate->total.effort = time;
        estimate->total.gpu = time;
        return;
    }
    estimate->total.computing = at_least(time);
    estimate->provisional = builder->hostile || study->block_count == 4;
    const char **reasons = make(builder, 2, sizeof(*reasons));
    reasons[0] = text(builder, "resource.gpu-memory is open", "open: <b>|`x`");
    reasons[1] = "no run counts for block 'validate' yet";
    estimate->provisional_reasons = reasons;
    estimate->provisional_count = estimate->provisional ? 2 : 0;
    build_subtotals(builder, estimate, gpu);
    build_settings(builder, estimate);
    build_open(builder, estimate);
}

void build_study(enum build_study kind, struct built_study *ret) {
    *ret = (struct built_study){.arena = arena_new()};
    struct builder builder = {.built = ret, .hostile = kind == BUILD_STUDY_HOSTILE};
    static const size_t blocks[BUILD_STUDY_COUNT_] = {0, 4, 4, 10};
    build_plan(&builder, blocks[kind]);
    build_joined(&builder);
    build_plan_estimate(&builder);
    cost_make(&ret->estimate, NULL, ret->arena, &ret->cost);
    const struct decide_input candidate = {&ret->study, &ret->estimate, &ret->cost};
    decide_make(&candidate, 1, ret->arena, &ret->decision);
    ret->frozen[0] = (struct report_frozen){.name = "first", .utc_ns = UTC_NS};
    ret->frozen[1] = (struct report_frozen){
        .name = "before", .utc_ns = UTC_NS - 86400000000000, .outdated = "the plan changed"};
    ret->complaint = (struct plan_complaint){.at = at(33),
                                             .warning = true,
                                             .id = "plan-equal-spellings",
                                             .text = "0.5 and 0.50 are the same number"};
    ret->complaints = (struct plan_complaints){.items = &ret->complaint, .count = 1};
    ret->document = (struct report_document){.study = &ret->study,
                                             .estimate = &ret->estimate,
                                             .cost = &ret->cost,
                                             .decision = &ret->decision,
                                             .complaints = &ret->complaints,
                                             .frozen = ret->frozen,
                                             .frozen_count = blocks[kind] > 0 ? 2 : 0,
                                             .runs = ret->run_list,
                                             .run_count = ret->run_count,
                                             .now_utc_ns = UTC_NS,
                                             .program = "probelauf 0.1.0"};
}

void built_study_done(struct built_study *built) {
    for (size_t i = 0; i < built->run_count; i++)
        built->runs[i] = run_free(built->runs[i]);
    built->run_count = 0;
    built->arena = arena_free(built->arena);
}
