/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build-estimate.h"

#include <string.h>

#define UTC_NS INT64_C(1796041696123000000)

const struct store_entry build_entries[] = {
    {.run = "019d0c5a-7e3b-7a41-9c2e-1f6000000c0c",
     .part = "p",
     .type = "run",
     .started_utc_ns = UTC_NS + 5,
     .outcome = "running",
     .purpose = "trial",
     .command = "python3 train.py --epochs 3"},
    {.run = "019d0c5a-7e3b-7a41-9c2e-1f60a1b2c3d4",
     .part = "p",
     .type = "run",
     .study = "kv",
     .started_utc_ns = UTC_NS,
     .ended_utc_ns = UTC_NS + 5,
     .outcome = "ok",
     .purpose = "trial",
     .command = "python3 generate.py --cache 'full cache' --prompts examples/kv-cache/prompts.txt "
                "--tokens 512 --seed 20261130",
     .has_wall = true,
     .wall_s = 252.4,
     .wall_bound = "exact"},
    {.run = "019d0c5a-7e3b-7a41-9c2e-1f60ffffffff",
     .type = "event",
     .about = "x",
     .started_utc_ns = UTC_NS},
    {.run = "019d0c5a-7e3b-7a41-9c2e-1f60deadbeef",
     .part = "p",
     .type = "run",
     .started_utc_ns = UTC_NS - 86400000000000,
     .outcome = "disk_full",
     .purpose = "function-test",
     .command = "größe\033[2J --모델 '재현 연구 🚀 실험 조건 하나 둘 셋 넷 다섯 여섯 일곱 여덟'",
     .has_wall = true,
     .wall_s = 12.3,
     .wall_bound = "at-least"},
    {.run = "019d0c5a-7e3b-7a41-9c2e-1f600000105f",
     .part = "p",
     .type = "run",
     .outcome = "lost",
     .purpose = "work",
     .command = "./long"},
};
const size_t build_entry_count = ARRAY_LENGTH(build_entries);

static struct quantity estimated(double p50, double p05, double p95) {
    return (struct quantity){.state = QUANTITY_ESTIMATED,
                             .unit = UNIT_SECOND,
                             .value = p50,
                             .has_interval = true,
                             .level = 0.9,
                             .p05 = p05,
                             .p95 = p95,
                             .basis = "own-runs",
                             .method = "lognormal-shared/1",
                             .n = 3};
}

static struct quantity value_only(double seconds) {
    return (struct quantity){.state = QUANTITY_ESTIMATED,
                             .unit = UNIT_SECOND,
                             .value = seconds,
                             .basis = "own-runs",
                             .method = "observed value",
                             .n = 1,
                             .detail = "repeat once to get an interval"};
}

/* What is open makes the total a lower bound. */
static void whole(struct repeat_estimate *e, struct arena *arena) {
    struct quantity_part *parts = arena_alloc(arena, 2 * sizeof(*parts));
    parts[0] = (struct quantity_part){"runs", e->runs};
    parts[1] = (struct quantity_part){"retries", e->retries};
    e->total = e->runs;
    e->total.bound = QUANTITY_AT_LEAST;
    e->total.parts = parts;
    e->total.part_count = 2;
}

static void three_runs(struct repeat_estimate *e, struct arena *arena) {
    struct quantity_part *parts = arena_alloc(arena, 3 * sizeof(*parts));
    e->load = estimated(295.2, 280.1, 310.0);
    e->compute = estimated(5650.0, 5500.0, 5900.0);
    e->other = estimated(112.0, 90.0, 140.0);
    parts[0] = (struct quantity_part){"load", e->load};
    parts[1] = (struct quantity_part){"compute", e->compute};
    parts[2] = (struct quantity_part){"other", e->other};
    e->runs = estimated(6060.0, 5900.0, 6300.0);
    e->runs.parts = parts;
    e->runs.part_count = 3;
    e->runs.detail = "medians of parts do not add up to it";
    e->lost = quantity_measured(UNIT_SECOND, 12.3, "sum of parts");
    whole(e, arena);
    bool *outlier = arena_alloc(arena, 3 * sizeof(*outlier));
    outlier[1] = true;
    e->outlier = outlier;
    e->per_run = estimated(252.4, 246.0, 262.0);
    e->attempts = 4;
    e->failures = 1;
}

static void one_run(struct repeat_estimate *e, struct arena *arena) {
    e->runs = value_only(6057.6);
    e->per_run = value_only(252.4);
    e->load = e->compute = e->other =
        quantity_open(UNIT_SECOND, QUANTITY_NOT_SEPARATED, "no phase was marked");
    e->lost = quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, "no failed attempt was seen");
    e->attempts = 1;
    whole(e, arena);
}

struct repeat_estimate build_estimate(enum build_estimate kind, const struct run *used,
                                      const struct run *excluded, struct arena *arena) {
    static const char *const missing[] = {"a rate with its unit, source and date",
                                          "the minimum billing period", "the price of storage"};
    static const char *const open[] = {"setting up the machine", "transfer of data",
                                       "waiting between runs"};
    struct repeat_estimate e = {
        .repeats = 24,
        .seed = 20261130,
        .retries = quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, "no attempt failed so far"),
        .memory = quantity_measured(UNIT_BYTE, 1460288880.0, "larger of VmHWM and ru_maxrss"),
        .amount = quantity_open(NULL, QUANTITY_NO_OFFER, NULL),
        .missing = missing,
        .missing_count = ARRAY_LENGTH(missing),
        .open = open,
        .open_count = ARRAY_LENGTH(open),
    };
    struct repeat_excluded *not_used = arena_alloc(arena, sizeof(*not_used));
    *not_used = (struct repeat_excluded){excluded, "failed: disk_full"};
    e.excluded = not_used;
    e.excluded_count = 1;
    const struct run **runs = arena_alloc(arena, 3 * sizeof(*runs));
    runs[0] = runs[1] = runs[2] = used;
    e.used = runs;
    switch (kind) {
    case BUILD_ESTIMATE_THREE_RUNS:
        e.used_count = 3;
        three_runs(&e, arena);
        break;
    case BUILD_ESTIMATE_ONE_RUN:
        e.used_count = 1;
        one_run(&e, arena);
        break;
    case BUILD_ESTIMATE_NONE:
    case BUILD_ESTIMATE_COUNT_:
        e.total = e.runs = e.per_run = e.lost = e.load = e.compute = e.other =
            quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, NULL);
        e.memory = quantity_open(UNIT_BYTE, QUANTITY_NO_EVIDENCE, NULL);
        e.attempts = e.failures = 1;
        break;
    }
    return e;
}
