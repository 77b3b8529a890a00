/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of generated studies: what ends well and what does not, in every environment, with figures
 * that are there, that are lower bounds and that are open; freezes and sessions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate-parts.h"

#include "../rules/build-records.h"

#include <math.h>

#define RUNS_MOST BUILD_RUNS
#define S         INT64_C(1000000000)

static double figure(struct generated *g, double least, double most) {
    return least + (most - least) * ((double)generate_below(g, 100000) / 100000.0);
}

static struct quantity bytes(struct generated *g, bool sampled) {
    static const enum quantity_reason reasons[] = {QUANTITY_NOT_SAMPLED, QUANTITY_NOT_VISIBLE,
                                                   QUANTITY_NOT_SUPPORTED, QUANTITY_NOT_PERMITTED};
    if (generate_chance(g, 25))
        return quantity_open(UNIT_BYTE, reasons[generate_below(g, ARRAY_LENGTH(reasons))], NULL);
    return quantity_bounded(UNIT_BYTE, floor(figure(g, 1e8, 9e10)),
                            sampled ? QUANTITY_AT_LEAST : QUANTITY_EXACT, "for the test");
}

static void add_gpu(struct generated *g, struct run *run, size_t environment) {
    struct quantity none = quantity_open(UNIT_SECOND, QUANTITY_NOT_SUPPORTED, "no GPU here");
    struct quantity no_bytes = quantity_open(UNIT_BYTE, QUANTITY_NOT_SUPPORTED, "no GPU here");
    run->gpus = arena_alloc(run->arena, sizeof *run->gpus);
    run->gpu_count = 1;
    run->gpus[0] =
        (struct run_gpu){.index = -1,
                         .total = no_bytes,
                         .device_used = no_bytes,
                         .process_used = no_bytes,
                         .allocated = no_bytes,
                         .reserved = no_bytes,
                         .busy = none,
                         .idle = none,
                         .energy = quantity_open(UNIT_JOULE, QUANTITY_NOT_SUPPORTED, NULL)};
    if (!generate_gpus[environment])
        return;
    struct run_gpu *gpu = &run->gpus[0];
    gpu->uuid = "GPU-11111111-2222-3333-4444-555555555555";
    gpu->name = generate_gpus[environment];
    gpu->index = 0;
    gpu->kind = "gpu";
    gpu->mine = RUN_YES;
    gpu->total = quantity_measured(UNIT_BYTE, 0x1p30 * 80, "driver");
    gpu->device_used = bytes(g, true);
    gpu->process_used = bytes(g, true);
    gpu->allocated = bytes(g, false);
    gpu->reserved = bytes(g, false);
    if (generate_chance(g, 50)) {
        gpu->busy = quantity_measured(UNIT_SECOND, run->wall.value * 0.5, "driver");
        gpu->idle = quantity_measured(UNIT_SECOND, run->wall.value * 0.5, "driver");
    }
}

static void put_gpu_facts(struct run *run, size_t environment) {
    AUTO_FREE char *text =
        generate_gpus[environment]
            ? mem_printf("{\"count\":1,\"devices\":[{\"name\":\"%s\"}],\"driver\":\"550.90.07\"}",
                         generate_gpus[environment])
            : mem_strdup("{\"count\":0,\"devices\":[]}");
    build_put(run->environment, "gpu", text);
}

/* How it ended; the most are well. */
static void end_run(struct generated *g, struct run *run) {
    static const enum outcome_class classes[] = {
        OUTCOME_FAILED,    OUTCOME_START_FAILED, OUTCOME_GPU_OOM,     OUTCOME_HOST_OOM,
        OUTCOME_DISK_FULL, OUTCOME_KILLED,       OUTCOME_INTERRUPTED, OUTCOME_DEPENDENCY};
    if (generate_chance(g, 70)) {
        run->verified = generate_chance(g, 70) ? "yes" : "not-checked";
        if (generate_chance(g, 8)) {
            run->validity = RUN_INVALID;
            run->validity_who = "Kim";
            run->validity_why = generate_text(g);
        }
        return;
    }
    run->verified = "not-checked";
    if (generate_chance(g, 10)) {
        run->outcome = OUTCOME_LOST;
        run->has_exit_code = false;
        run->wall.bound = QUANTITY_AT_LEAST;
        return;
    }
    run->outcome = classes[generate_below(g, ARRAY_LENGTH(classes))];
    run->exit_code = 1;
    if (run->outcome == OUTCOME_KILLED || run->outcome == OUTCOME_INTERRUPTED)
        run->wall.bound = QUANTITY_AT_LEAST;
    run->disposition = generate_chance(g, 40) ? generate_text(g) : NULL;
    if (run->outcome != OUTCOME_GPU_OOM)
        return;
    run->incidents = arena_alloc(run->arena, sizeof *run->incidents);
    run->incidents[0] = (struct run_incident){.name = "gpu_oom", .line = "CUDA out of memory"};
    run->incident_count = 1;
}

static void fill_run(struct generated *g, struct run *run, size_t environment) {
    put_gpu_facts(run, environment);
    json_put_text(run->start, "environment_id",
                  g->environment_count > 0 ? g->plan->environments[environment].id : NULL);
    run->largest_process_rss = bytes(g, false);
    run->tree_pss = bytes(g, true);
    run->io_read = bytes(g, false);
    run->io_written = bytes(g, false);
    add_gpu(g, run, environment);
    end_run(g, run);
    if (generate_chance(g, 60))
        build_phases(run, run->wall.value * 0.2, run->wall.value * 0.7);
    if (generate_chance(g, 6)) {
        run->running = true;
        run->outcome = OUTCOME_RUNNING;
        run->has_exit_code = false;
        run->ended_utc_ns = 0;
        run->wall = quantity_open(UNIT_SECOND, QUANTITY_RUNNING, NULL);
    }
    if (generate_chance(g, 12))
        build_put(run->environment, "code", "{\"commit\":\"c0\",\"dirty\":true,\"digest\":\"d0\"}");
    if (generate_chance(g, 15))
        json_put_text(run->start, "purpose", "function-test");
    if (generate_chance(g, 20))
        run->note = generate_text(g);
    if (generate_chance(g, 70)) {
        build_result(run, "agreement", figure(g, 0.85, 1.0), NULL);
        if (generate_chance(g, 60))
            build_result(run, "speed", figure(g, 10, 900), "token/s");
        if (generate_chance(g, 60))
            build_result(run, "first-token", figure(g, 0.01, 90), UNIT_SECOND);
    }
}

static void note_run(struct generated *g, struct run *run, size_t environment) {
    g->made_in[g->run_count] = environment;
    g->runs[g->run_count++] = run;
}

static void add_condition_runs(struct generated *g, struct build_study *s) {
    size_t environments = g->environment_count > 0 ? g->environment_count : 1;
    for (size_t b = 0; b < g->plan->block_count; b++)
        for (size_t c = 0; c < g->plan->blocks[b].condition_count; c++)
            for (size_t e = 0; e < environments; e++) {
                size_t count = generate_chance(g, 45) ? 0 : generate_below(g, 4);
                double usual = figure(g, 0.5, 20000);
                for (size_t i = 0; i < count && s->run_count < RUNS_MOST; i++) {
                    struct run *run =
                        build_study_run(s, &g->plan->blocks[b].conditions[c],
                                        floor(usual * figure(g, 0.8, 1.3) * 1000) / 1000 + 0.001);
                    json_put_text(run->start, "block", g->plan->blocks[b].id);
                    fill_run(g, run, e);
                    note_run(g, run, e);
                }
            }
}

/* Of steps, and of nothing that the plan knows. */
static void add_other_runs(struct generated *g, struct build_study *s) {
    static const char *const steps[] = {"install", "fetch", NULL};
    size_t environments = g->environment_count > 0 ? g->environment_count : 1;
    size_t count = generate_below(g, 5);
    for (size_t i = 0; i < count && s->run_count < RUNS_MOST; i++) {
        struct run *run = build_run((int)s->run_count + 1, floor(figure(g, 5, 900)));
        size_t environment = generate_below(g, environments);
        run->study = g->plan->study.id;
        run->started_utc_ns = (int64_t)(s->run_count + 1) * 100 * S;
        run->ended_utc_ns = run->started_utc_ns + 50 * S;
        const char *step = steps[generate_below(g, ARRAY_LENGTH(steps))];
        if (step)
            json_put_text(run->start, "step", step);
        json_put_text(run->start, "plan_folder", ".");
        fill_run(g, run, environment);
        s->runs[s->run_count++] = run;
        note_run(g, run, environment);
    }
}

static void add_runs(struct generated *g) {
    struct build_study s = {.arena = g->arena, .plan = *g->plan};
    g->runs = arena_alloc(g->arena, RUNS_MOST * sizeof(*g->runs));
    g->newest = arena_alloc(g->arena, RUNS_MOST * sizeof(*g->newest));
    g->made_in = arena_alloc(g->arena, RUNS_MOST * sizeof *g->made_in);
    add_condition_runs(g, &s);
    add_other_runs(g, &s);
    for (size_t i = 0; i < g->run_count; i++) {
        struct run *run = g->runs[i];
        int64_t length = run->ended_utc_ns - run->started_utc_ns;
        run->study = g->plan->study.id;
        run->started_utc_ns = GENERATED_NOW_NS - (int64_t)(g->run_count - i) * 40000 * S;
        if (run->ended_utc_ns > 0)
            run->ended_utc_ns = run->started_utc_ns + length;
        g->newest[g->run_count - 1 - i] = run;
    }
}

static void add_freezes(struct generated *g) {
    for (size_t b = 0; b < g->plan->block_count && g->freeze_count < GENERATED_FREEZES; b++)
        if (generate_chance(g, 15))
            g->freezes[g->freeze_count++] = (struct evidence_freeze){
                .id = arena_printf(g->arena, "019d0c5a-7e3b-7a41-9c2e-1f60f00dba%02zx", b),
                .block = g->plan->blocks[b].id,
                .utc_ns = GENERATED_NOW_NS - 100 * S,
                .code_digest = generate_chance(g, 70) ? "d1" : "d9"};
}

static void add_event(struct generated *g, const char *type, size_t number, size_t environment,
                      int64_t utc_ns) {
    json_t *event = json_object(), *clock = json_object();
    AUTO_FREE char *id = mem_printf("019d0c5a-7e3b-7a41-9c2e-1f60e0e0%02zx%02zx", environment,
                                    number + (strcmp(type, "session-stop") == 0 ? 128 : 0));
    AUTO_FREE char *about =
        mem_printf("019d0c5a-7e3b-7a41-9c2e-1f60e0e0%02zx%02zx", environment, number);
    AUTO_FREE char *host = mem_printf("node-%zu", environment);
    AUTO_FREE char *boot = mem_printf("aaaaaaaa-0000-4000-8000-00000000000%zu", environment);
    json_put_text(event, "type", type);
    json_put_text(event, "id", id);
    if (strcmp(type, "session-start") != 0)
        json_put_text(event, "about", about);
    json_put_text(event, "study", g->plan->study.id);
    if (g->environment_count > 0)
        json_put_text(event, "environment", g->plan->environments[environment].id);
    json_put_int(event, "gpus", generate_gpus[environment] ? 1 : 0);
    if (g->offer_count > 0)
        json_put_text(event, "offer", g->offers[0].id);
    json_put_int(event, "utc_ns", utc_ns);
    json_put_text(event, "host", host);
    json_put_text(event, "machine", host);
    json_put_text(clock, "boot_id", boot);
    json_put_int(clock, "boottime_ns", utc_ns - GENERATED_NOW_NS + 4000000 * S);
    json_put_int(clock, "utc_ns", utc_ns);
    json_put(event, "clock", clock);
    json_array_append_new(g->events, event);
}

/* One after the other on the machine of each environment, with or without runs in them. */
static void add_sessions(struct generated *g) {
    size_t environments = g->environment_count > 0 ? g->environment_count : 1;
    g->events = json_array();
    for (size_t e = 0; e < environments; e++) {
        size_t count = generate_chance(g, 50) ? 0 : generate_below(g, 3);
        for (size_t i = 0; i < count; i++) {
            int64_t from = GENERATED_NOW_NS - (int64_t)(900000 - 200000 * i) * S;
            add_event(g, "session-start", i, e, from);
            if (generate_chance(g, 85))
                add_event(g, "session-stop", i, e, from + 100000 * S);
        }
    }
    for (size_t i = 0; i < g->run_count; i++) { /* on the clock of its machine */
        struct run *run = g->runs[i];
        json_t *clock = json_object();
        AUTO_FREE char *boot = mem_printf("aaaaaaaa-0000-4000-8000-00000000000%zu", g->made_in[i]);
        AUTO_FREE char *host = mem_printf("node-%zu", g->made_in[i]);
        int64_t at = run->started_utc_ns - GENERATED_NOW_NS + 4000000 * S;
        json_put_text(run->start, "host", host);
        json_put_text(clock, "boot_id", boot);
        json_put_int(clock, "start_boottime_ns", at);
        json_put_int(clock, "start_utc_ns", run->started_utc_ns);
        json_put(run->start, "clock", clock);
        if (run->ended_utc_ns > 0)
            json_put_int(run->end, "end_boottime_ns", at + run->ended_utc_ns - run->started_utc_ns);
    }
    struct session_input *input = arena_alloc(g->arena, sizeof *input);
    *input = (struct session_input){.events = g->events,
                                    .runs = g->newest,
                                    .run_count = g->run_count,
                                    .now = {.boot_id = "ffffffff-0000-4000-8000-000000000001",
                                            .host = "laptop",
                                            .machine = "laptop",
                                            .boot_ns = S,
                                            .utc_ns = GENERATED_NOW_NS}};
    session_derive(input, g->arena, &g->sessions);
    session_find_paid(&g->sessions, g->plan, g->arena);
}

void generate_records(struct generated *g) {
    add_runs(g);
    add_freezes(g);
    add_sessions(g);
}

static void change(struct quantity *q) {
    if (quantity_is_known(q))
        q->value = q->value * 3 + 1;
}

void generated_change_elsewhere(struct generated *g, size_t environment) {
    for (size_t i = 0; i < g->run_count; i++) {
        struct run *run = g->runs[i];
        if (g->made_in[i] == environment)
            continue;
        change(&run->wall);
        for (int p = 0; p < PHASE_COUNT_; p++)
            change(&run->phase[p]);
        change(&run->largest_process_rss);
        change(&run->tree_pss);
        change(&run->io_read);
        change(&run->io_written);
        change(&run->gpus[0].device_used);
        change(&run->gpus[0].process_used);
        change(&run->gpus[0].allocated);
        change(&run->gpus[0].reserved);
        for (size_t r = 0; r < run->result_count; r++)
            change(&run->results[r].quantity);
    }
}
