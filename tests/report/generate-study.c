/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan and what the program makes of it; the records are in generate-records.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate-parts.h"

#include "base/fd.h"

#include <string.h>

uint64_t generate_next(struct generated *g) { /* splitmix64 */
    g->random += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = g->random;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

size_t generate_below(struct generated *g, size_t bound) {
    return (size_t)(generate_next(g) % bound);
}

bool generate_chance(struct generated *g, unsigned percent) {
    return generate_below(g, 100) < percent;
}

const char *generate_of(struct generated *g, const char *const *words, size_t count) {
    return words[generate_below(g, count)];
}
#define ONE_OF(g, ...)                                   \
    generate_of((g), (const char *const[]){__VA_ARGS__}, \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* What people write: sound, foreign, hostile. None of it reads like a figure. */
const char *generate_text(struct generated *g) {
    static const char *const texts[] = {
        "does half of it do",
        "größer als zuvor, mit Umlauten",
        "계산 결과가 같은가",
        "d'après le tableau",
        "a | b <script>alert(x)</script>",
        "[link](javascript:x) `rm -rf` **bold** # head",
        "=HYPERLINK(x;y)",
        "@SUM(A) + -x",
        "back\\slash and \"quotes\", a comma, and a text that goes on without saying anything",
        "- a list; 'single' ~ null",
    };
    return texts[generate_below(g, ARRAY_LENGTH(texts))];
}

static void add_quoted(struct strbuf *out, const char *text) {
    strbuf_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *text);
    }
    strbuf_add_char(out, '"');
}

/* ", key: value", or nothing, by chance. */
static void maybe(struct generated *g, struct strbuf *out, unsigned percent, const char *key,
                  const char *value) {
    if (generate_chance(g, percent))
        strbuf_printf(out, ", %s: %s", key, value);
}

static void maybe_text(struct generated *g, struct strbuf *out, unsigned percent, const char *key) {
    const char *text = generate_text(g);
    if (!generate_chance(g, percent))
        return;
    strbuf_printf(out, ", %s: ", key);
    add_quoted(out, text);
}

static const char *duration(struct generated *g) {
    return ONE_OF(g, "90s", "10 min", "1.5h", "2h", "1d 4h", "45 min", "30s");
}

/* ---- environments ---- */

static const char *const environments[GENERATED_ENVIRONMENTS] = {"alpha", "beta", "gamma"};
const char *const generate_gpus[GENERATED_ENVIRONMENTS] = {"NVIDIA H100 80GB HBM3",
                                                           "NVIDIA A100-SXM4-80GB", NULL};

static void add_environments(struct generated *g, struct strbuf *out) {
    static const char *const kinds[GENERATED_ENVIRONMENTS] = {"rented", "institute", "own"};
    g->environment_count = generate_below(g, 8) == 0 ? 0 : 1 + generate_below(g, 3);
    if (g->environment_count > 0)
        strbuf_add_str(out, "environments:\n");
    for (size_t i = 0; i < g->environment_count; i++) {
        strbuf_printf(out, "  - {id: %s, kind: %s", environments[i], kinds[i]);
        if (generate_gpus[i]) {
            strbuf_printf(out, ", gpu: %s", generate_gpus[i]);
            maybe(g, out, 85, "gpus", "1");
            maybe(g, out, 60, "driver", "550.54.15");
            maybe(g, out, 50, "accelerator", "cuda");
        } else {
            strbuf_add_str(out, ", gpus: 0");
        }
        maybe(g, out, 50, "stack", "{torch: 2.3.1}");
        maybe(g, out, 50, "match", "[torch]");
        maybe(g, out, 60, "capacity",
              generate_chance(g, 50) ? "{gpu_memory: 80 GiB, host_memory: 256 GiB}"
                                     : "{host_memory: 2 GiB, source: seen there}");
        strbuf_add_str(out, "}\n");
    }
}

/* ---- facts and the rest that is not counted ---- */

static void add_facts(struct generated *g, struct strbuf *out) {
    static const char *const about[] = {"code",    "weights", "data",  "environment", "resource",
                                        "privacy", "licence", "offer", "other"};
    size_t count = generate_below(g, 6);
    if (count > 0)
        strbuf_add_str(out, "facts:\n");
    for (size_t i = 0; i < count; i++) {
        size_t state = generate_below(g, 3);
        strbuf_printf(out, "  - {id: fact.%zu, state: %s", i,
                      state == 0   ? "open"
                      : state == 1 ? "known"
                                   : "not-applicable");
        maybe(g, out, 80, "about", generate_of(g, about, ARRAY_LENGTH(about)));
        if (state == 1) {
            strbuf_add_str(out, ", value: ");
            add_quoted(out, generate_text(g));
            strbuf_add_str(out, ", source: \"README, section x\", source_kind: repository, "
                                "seen: 2026-11-20");
        } else {
            maybe_text(g, out, 80, "question");
        }
        maybe(g, out, 60, "stops",
              ONE_OF(g, "[booking]", "[validate, booking]", "[compare, scale]"));
        if (g->environment_count > 0)
            maybe(g, out, 20, "environment", environments[generate_below(g, g->environment_count)]);
        strbuf_add_str(out, "}\n");
    }
}

static void add_study(struct generated *g, struct strbuf *out) {
    strbuf_add_str(out, "probelauf: 1\nstudy: {id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21");
    maybe_text(g, out, 80, "title");
    maybe(g, out, 80, "paper", "{title: A paper, version: \"arXiv v2\"}");
    maybe(g, out, 50, "scope", ONE_OF(g, "function-test", "main-result", "full-benchmark"));
    maybe_text(g, out, 50, "scope_note");
    strbuf_add_str(out, "}\n");
    if (generate_chance(g, 50))
        strbuf_add_str(out,
                       "matrix_of_paper:\n  - {part: table two, role: central, included: yes}\n"
                       "  - {part: table three, role: ablation, included: no, why: not needed}\n");
    if (generate_chance(g, 60))
        strbuf_add_str(out, "code: {repo: \"https://example.org/code.git\", requires: "
                            "{accelerators: [cuda], source: \"build.py:12\"}}\n");
}

static void add_demand(struct generated *g, struct strbuf *out) {
    if (generate_chance(g, 60)) {
        strbuf_printf(out, "demand: {pattern: %s", ONE_OF(g, "campaign", "peaks", "continuous"));
        maybe(g, out, 50, "lasts", "60d");
        maybe(g, out, 40, "needs", "[full-control]");
        maybe(g, out, 30, "own", "{value: two of the group, source: inventory}");
        maybe(g, out, 30, "exceeds_own", ONE_OF(g, "yes", "no", "open"));
        strbuf_add_str(out, "}\n");
    }
    if (generate_chance(g, 50)) {
        strbuf_add_str(out, "validation: {max_time: 4h");
        if (generate_chance(g, 50))
            strbuf_add_str(out, ", max_cost: 20, currency: CHF");
        maybe_text(g, out, 60, "stop_condition");
        maybe_text(g, out, 60, "result");
        strbuf_add_str(out, "}\n");
    }
    if (generate_chance(g, 40))
        strbuf_printf(out,
                      "rental: {storage: 200 GB, between: %s, wait_between: 1d, who: Kim, "
                      "when: 2026-11-20, why: the meeting}\n",
                      ONE_OF(g, "stopped", "deleted"));
    if (generate_chance(g, 30))
        strbuf_add_str(out,
                       "owning: {currency: CHF, device: NVIDIA H100 80GB HBM3, gpus: 2, purchase: "
                       "{value: 18000, source: quote, seen: 2026-11-02}, lifetime: {value: 4 "
                       "years, source: rule}, utilisation: {value: 30%, source: log}}\n");
}

static void add_privacy(struct generated *g, struct strbuf *out) {
    if (generate_chance(g, 30))
        return;
    strbuf_printf(out, "privacy: {class: %s", ONE_OF(g, "none", "personal", "sensitive"));
    maybe(g, out, 70, "may_transfer", ONE_OF(g, "yes", "no", "open"));
    maybe(g, out, 40, "provider_statement",
          "{value: data stay where they are, source: DPA, seen: 2026-11-20}");
    maybe_text(g, out, 60, "assessment");
    maybe_text(g, out, 30, "retention");
    strbuf_add_str(out, "}\n");
}

/* ---- work ---- */

static void add_steps(struct generated *g, struct strbuf *out) {
    static const char *const tasks[] = {"yes", "no", "open"};
    strbuf_printf(out,
                  "steps:\n"
                  "  - {name: install, component: prepare, run: pip install -r requirements.txt, "
                  "needs_machine: %s, repeats: %s}\n"
                  "  - {name: fetch, component: transfer, run: fetch weights, needs_machine: yes, "
                  "repeats: once}\n",
                  ONE_OF(g, "yes", "no", "open"), ONE_OF(g, "once", "per-rental", "per-run"));
    size_t count = generate_below(g, 3);
    if (count > 0)
        strbuf_add_str(out, "tasks:\n");
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "  - {id: task-%zu, what: ", i);
        add_quoted(out, generate_text(g));
        maybe(g, out, 80, "component", ONE_OF(g, "checking", "prepare", "data", "fixing"));
        maybe(g, out, 80, "needs_machine", generate_of(g, tasks, 3));
        maybe(g, out, 80, "done", generate_of(g, tasks, 3));
        if (generate_chance(g, 60))
            strbuf_printf(out, ", time: %s, who: Kim, when: 2026-11-20, why: as last time",
                          duration(g));
        strbuf_add_str(out, "}\n");
    }
}

static const char *const kinds[] = {"validate", "compare", "scale", "verify"};

static void add_block(struct generated *g, struct strbuf *out, size_t number) {
    const char *kind = number == 0 ? "validate" : kinds[1 + generate_below(g, 2)];
    strbuf_printf(out, "  - {id: block-%zu, kind: %s", number, kind);
    maybe_text(g, out, 70, "question");
    maybe(g, out, 80, "extent", number == 0 ? "validation" : "full");
    maybe(g, out, 80, "recurrence", ONE_OF(g, "one-off", "recurring"));
    maybe(g, out, 60, "state", ONE_OF(g, "chosen", "undetermined"));
    maybe(g, out, 80, "runs", ONE_OF(g, "1", "2", "3", "5"));
    maybe(g, out, 60, "steps", ONE_OF(g, "[install]", "[install, fetch]"));
    maybe(g, out, 40, "retry", "{max: 2}");
    maybe(g, out, 20, "lanes", "2");
    maybe_text(g, out, 40, "gate");
    if (number > 0)
        maybe(g, out, 50, "needs", "[block-0]");
    maybe(g, out, 60, "claims", "[claim-0]");
    strbuf_printf(out, ", fixed: {tokens: %zu}", 64 + number);
    static const char *const axes[] = {
        "{keep: {values: [1], state: chosen}}", "{keep: {values: [1, 0.5], state: chosen}}",
        "{keep: {values: [1, 0.5, 0.25], state: undetermined}}",
        "{policy: {values: [evict, {value: recent, supported: no}]}, keep: [1, 0.5]}"};
    strbuf_printf(out, ", matrix: %s", generate_of(g, axes, ARRAY_LENGTH(axes)));
    strbuf_add_str(out, ", command: \"python gen.py --keep {keep} --tokens {tokens}\"");
    if (generate_chance(g, 60)) /* one without a unit, one with */
        strbuf_add_str(out, ", results: [{name: agreement}, {name: speed, unit: token/s}, "
                            "{name: first-token, unit: s}]");
    strbuf_add_str(out, "}\n");
}

static void add_blocks(struct generated *g, struct strbuf *out) {
    size_t count = generate_below(g, 10) == 0 ? 0 : 1 + generate_below(g, 5);
    strbuf_add_str(out, "claims:\n  - {id: claim-0, result: agreement, text: ");
    add_quoted(out, generate_text(g));
    strbuf_printf(out, ", %s}\n",
                  ONE_OF(g, "threshold: \">= 0.9\"",
                         "paper_value: 0.93, tolerance: 2%, source: table two",
                         "better: higher, ordering: [{keep: \"1\"}, {keep: \"0.5\"}]"));
    if (count > 0)
        strbuf_add_str(out, "blocks:\n");
    for (size_t i = 0; i < count; i++)
        add_block(g, out, i);
    size_t assumptions = count > 0 ? generate_below(g, 5) : 0;
    if (assumptions > 0)
        strbuf_add_str(out, "assumptions:\n");
    for (size_t i = 0; i < assumptions; i++) {
        static const char *const words[] = {"checking", "idle",      "fixing",       "run-time",
                                            "data",     "lost-time", "failure-rate", "teardown"};
        const char *word = generate_of(g, words, ARRAY_LENGTH(words));
        bool share = strcmp(word, "failure-rate") == 0;
        if (generate_chance(g, 20))
            strbuf_add_str(out, "  - {key: \"*.");
        else
            strbuf_printf(out, "  - {key: \"block-%zu.", generate_below(g, count));
        strbuf_printf(out, "%s\", value: %s, who: Kim, when: 2026-11-20, why: ", word,
                      share ? "0.1" : duration(g));
        add_quoted(out, generate_text(g));
        strbuf_add_str(out, "}\n");
    }
}

/* ---- offers ---- */

/* What makes an offer useless, each alone. */
static const char *const flaws[] = {"no source", "not seen",    "expired",   "other device",
                                    "no rate",   "no currency", "no device", "not valid until"};

static void add_offer(struct generated *g, struct strbuf *out, size_t number) {
    struct generated_offer *offer = &g->offers[g->offer_count++];
    size_t environment = generate_below(g, g->environment_count);
    size_t flaw =
        generate_chance(g, 45) ? ARRAY_LENGTH(flaws) : generate_below(g, ARRAY_LENGTH(flaws));
    const char *is = flaw < ARRAY_LENGTH(flaws) ? flaws[flaw] : "";
    bool units = generate_chance(g, 15);

    *offer = (struct generated_offer){
        .id = arena_printf(g->arena, "offer-%zu", number),
        .environment = environments[environment],
        .flaw = flaw < ARRAY_LENGTH(flaws)    ? flaws[flaw]
                : !generate_gpus[environment] ? "a machine without a GPU"
                                              : NULL,
    };
    strbuf_printf(out, "  - {id: %s, environment: %s, gpus_per_unit: 1, per: hour", offer->id,
                  offer->environment);
    if (strcmp(is, "no device") != 0)
        strbuf_printf(out, ", device: %s",
                      strcmp(is, "other device") == 0 || !generate_gpus[environment]
                          ? "NVIDIA L4"
                          : generate_gpus[environment]);
    if (strcmp(is, "no rate") != 0)
        strbuf_printf(out, ", rate: %s", ONE_OF(g, "2.49", "0.375", "11", "0.000001"));
    if (strcmp(is, "no currency") != 0)
        strbuf_add_str(out, units ? ", service_unit: NAIRR SU" : ", currency: EUR");
    if (strcmp(is, "no source") != 0)
        strbuf_add_str(out, ", source: quote of the provider");
    if (strcmp(is, "not seen") != 0)
        strbuf_add_str(out, ", seen: 2026-11-20");
    if (strcmp(is, "not valid until") != 0)
        strbuf_printf(out, ", valid_until: %s",
                      strcmp(is, "expired") == 0 ? "2026-11-21" : "2099-12-31");
    strbuf_printf(out, ", increment: %s", ONE_OF(g, "1min", "1h", "1s"));
    strbuf_printf(out, ", minimum: %s", ONE_OF(g, "1h", "1min", "1d"));
    strbuf_printf(out, ", setup_fee: %s", ONE_OF(g, "0", "5", "12.5"));
    maybe(g, out, 50, "transfer_out", "0.09");
    maybe(g, out, 50, "transfer_in", "0");
    maybe(g, out, 50, "storage_running", "0.08");
    maybe(g, out, 50, "storage_stopped", "0.04");
    maybe(g, out, 50, "interruptible", "no");
    strbuf_printf(out, ", %s", ONE_OF(g, "tax_included: yes", "tax_included: no, tax_percent: 19"));
    strbuf_add_str(out, "}\n");
}

static void add_offers(struct generated *g, struct strbuf *out) {
    size_t count = g->environment_count == 0 ? 0 : generate_below(g, 5);
    if (count > 0)
        strbuf_add_str(out, "offers:\n");
    for (size_t i = 0; i < count; i++)
        add_offer(g, out, i);
}

bool generated_has_usable(const struct generated *g, const char *environment) {
    for (size_t i = 0; environment && i < g->offer_count; i++)
        if (!g->offers[i].flaw && strcmp(g->offers[i].environment, environment) == 0)
            return true;
    return false;
}

const struct generated_offer *generated_offer(const struct generated *g, const char *id) {
    for (size_t i = 0; i < g->offer_count; i++)
        if (strcmp(g->offers[i].id, id) == 0)
            return &g->offers[i];
    return NULL;
}

/* ---- all of it ---- */

void generate_study(uint64_t seed, const char *folder, struct generated *ret) {
    *ret = (struct generated){.arena = arena_new(), .seed = seed, .random = seed * 1000003};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    AUTO_FREE char *path = mem_printf("%s/probelauf.yaml", folder);
    struct err err = ERR_INIT;

    add_study(ret, &out);
    add_environments(ret, &out);
    add_facts(ret, &out);
    add_steps(ret, &out);
    add_blocks(ret, &out);
    add_offers(ret, &out);
    add_demand(ret, &out);
    add_privacy(ret, &out);
    ret->text = arena_strdup(ret->arena, strbuf_str(&out));
    if (file_write_atomic(path, out.data, out.length, 0600, &err) < 0 ||
        plan_read(path, &ret->plan, &ret->complaints, &err) < 0)
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, err.text, ret->text);
    generate_records(ret);
}

void generated_done(struct generated *generated) {
    for (size_t i = 0; i < generated->run_count; i++)
        run_free(generated->runs[i]);
    json_decref(generated->events);
    generated->plan = plan_free(generated->plan);
    generated->arena = arena_free(generated->arena);
}

/* The estimate of now, as if it had been kept before the last runs. */
static void look_back(struct generated_view *view) {
    view->kept_estimate = report_estimate_json(&view->estimate, &view->cost);
    view->kept = (struct review_kept){.name = "first",
                                      .utc_ns = GENERATED_NOW_NS - INT64_C(400000) * 1000000000,
                                      .estimate = view->kept_estimate};
    view->review_input = (struct review_input){
        .study = &view->study, .estimate = &view->estimate, .kept = &view->kept, .kept_count = 1};
    review_make(&view->review_input, view->arena, &view->review);
}

void generated_look(const struct generated *g, size_t environment, struct generated_view *ret) {
    const struct estimate_options options = {.seed = 7, .draws = 60};
    struct err err = ERR_INIT;
    *ret = (struct generated_view){.arena = arena_new()};
    ret->input = (struct study_input){
        .plan = g->plan,
        .environment =
            environment < g->plan->environment_count ? &g->plan->environments[environment] : NULL,
        .runs = g->newest,
        .run_count = g->run_count,
        .code_digest = "d1",
        .freezes = g->freezes,
        .freeze_count = g->freeze_count,
        .sessions = g->sessions.items,
        .session_count = g->sessions.count,
        .now_utc_ns = GENERATED_NOW_NS,
    };
    ret->environment = ret->input.environment ? ret->input.environment->id : NULL;
    study_derive(&ret->input, ret->arena, &ret->study);
    if (estimate_make(&ret->study, &options, ret->arena, &ret->estimate, &err) < 0)
        fail_msg("seed %llu: %s\n%s", (unsigned long long)g->seed, err.text, g->text);
    cost_make(&ret->estimate, NULL, ret->arena, &ret->cost);
    ret->decide =
        (struct decide_input){.study = &ret->study, .estimate = &ret->estimate, .cost = &ret->cost};
    decide_make(&ret->decide, 1, ret->arena, &ret->decision);
    look_back(ret);
    ret->frozen = (struct report_frozen){.name = "first", .utc_ns = GENERATED_NOW_NS};
    ret->document = (struct report_document){
        .study = &ret->study,
        .estimate = &ret->estimate,
        .cost = &ret->cost,
        .decision = &ret->decision,
        .review = &ret->review,
        .complaints = &g->complaints,
        .frozen = &ret->frozen,
        .frozen_count = g->freeze_count > 0,
        .runs = g->newest,
        .run_count = g->run_count,
        .now_utc_ns = GENERATED_NOW_NS,
        .program = "probelauf",
    };
}

void generated_view_done(struct generated_view *view) {
    json_decref(view->kept_estimate);
    view->arena = arena_free(view->arena);
}
