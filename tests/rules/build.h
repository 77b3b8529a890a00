/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs for the tests of rules/, made in code: an ordinary finished trial, changed as each test
 * needs. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "model/run.h"

#include <string.h>

#define PIN "11111111-2222-7333-8444-"

static inline json_t *build_object(const char *text) {
    char why[160];
    json_t *json = json_parse(text, strlen(text), why);
    if (!json)
        fail_msg("%s: %s", why, text);
    return json;
}

static inline void build_put(json_t *object, const char *key, const char *text) {
    json_put(object, key, build_object(text));
}

/* `number` tells the runs of a test apart. */
static inline struct run *build_run(int number, double wall_s) {
    struct run *run = run_new();
    run->id = arena_printf(run->arena, PIN "%012d", number);
    run->part = run->id;
    run->started_utc_ns = 1000 + number;
    run->ended_utc_ns = 2000 + number;
    run->outcome = OUTCOME_OK;
    run->has_exit_code = true;
    run->wall = quantity_measured(UNIT_SECOND, wall_s, "CLOCK_MONOTONIC");
    json_decref(run->start);
    run->start = build_object(
        "{\"command\":[\"python\",\"x.py\"],\"cwd\":\"/x\",\"purpose\":\"trial\","
        "\"condition\":{\"b\":\"2\",\"a\":\"1\"},\"inputs\":[{\"path\":\"in\",\"kind\":\"file\","
        "\"bytes\":10,\"mtime_ns\":5,\"inode\":7}]}");
    json_decref(run->environment);
    run->environment = build_object(
        "{\"code\":{\"commit\":\"c1\",\"dirty\":false,\"digest\":\"d1\"},"
        "\"fingerprint\":\"f1\",\"fingerprint_parts\":{\"cpus\":\"8\",\"packages\":\"p1\"}}");
    return run;
}

static inline void build_phases(struct run *run, double load_s, double compute_s) {
    run->phase[PHASE_LOAD] = quantity_measured(UNIT_SECOND, load_s, "mark");
    run->phase[PHASE_COMPUTE] = quantity_measured(UNIT_SECOND, compute_s, "mark");
    run->phase[PHASE_UNATTRIBUTED] = quantity_measured(
        UNIT_SECOND, run->wall.value - load_s - compute_s, "wall time that no phase explains");
}
