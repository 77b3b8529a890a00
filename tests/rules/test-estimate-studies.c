/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds for every estimate, over 500 generated studies: open parts are never lost, figures
 * agree with one another, sources exist, and a setting changes nothing that does not depend on it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"

#include "../slow.h"
#include "build-study.h"

#define STUDIES (IS_SLOW ? 200u : 500u)
#define DRAWS   120u
#define VALUES  8192u

/* ---- generating ---- */

static uint64_t state_of_dice;

static uint64_t roll(uint64_t sides) { /* splitmix64; 0 … sides - 1 */
    uint64_t x = state_of_dice += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % sides;
}

static bool maybe(uint64_t percent) {
    return roll(100) < percent;
}

static double between(double low, double high) {
    return low + (high - low) * (double)roll(1000001) / 1e6;
}

static const char *const block_ids[] = {"validate", "compare", "scale", "verify"};
static const char *const step_names[] = {"install", "weights", "copy", "clean"};

static void make_phases(struct run *run) {
    double wall = run->wall.value;
    double setup_s = maybe(50) ? 0.1 * wall : 0.0;
    double data_s = maybe(30) ? 0.2 * wall : 0.0;
    double check_s = maybe(30) ? 0.05 * wall : 0.0;
    build_phases(run, 0.1 * wall, 0.5 * wall);
    run->phase[PHASE_SETUP] = quantity_measured(UNIT_SECOND, setup_s, "mark");
    run->phase[PHASE_DATA] = quantity_measured(UNIT_SECOND, data_s, "mark");
    run->phase[PHASE_EVALUATE] = quantity_measured(UNIT_SECOND, check_s, "mark");
    run->phase[PHASE_UNATTRIBUTED] =
        quantity_measured(UNIT_SECOND, wall - 0.6 * wall - setup_s - data_s - check_s, "the rest");
}

static void make_runs(struct built *b, struct study_condition *c) {
    double middle = exp(between(0.0, 9.0));
    double spread = maybe(80) ? between(0.0, 0.3) : between(0.5, 2.0);
    uint64_t count = maybe(30) ? 0 : 1 + roll(5);

    for (uint64_t i = 0; i < count; i++) {
        struct run *run = built_counts(b, c, middle * exp(spread * between(-1.0, 1.0)));
        if (maybe(40))
            make_phases(run);
        if (maybe(60))
            run->largest_process_rss =
                quantity_measured(UNIT_BYTE, floor(between(1e6, 1e11)), "wait4 ru_maxrss");
        if (maybe(30))
            build_put(run->end, "outputs", "[{\"path\":\"o\",\"bytes\":77}]");
        if (maybe(10)) { /* counts for time only */
            c->done -= c->done > 0;
            b->seen[b->study.run_count - 1].evidence.verified = false;
        }
    }
    for (uint64_t i = 0; i < (maybe(70) ? 0 : roll(4)); i++) {
        struct run *run = built_fails(b, c, middle * between(0.01, 1.0));
        if (maybe(30))
            run->outcome = maybe(50) ? OUTCOME_GPU_OOM : OUTCOME_ACCESS_DENIED;
        if (maybe(20))
            run->wall = quantity_open(UNIT_SECOND, QUANTITY_MONITOR_LOST, "lost");
        else if (maybe(20))
            run->wall.bound = QUANTITY_AT_LEAST;
    }
    if (count == 0 && maybe(40)) {
        struct study_run *seen = built_seen(b, 1.0);
        built_attempt(c, seen);
        seen->evidence = (struct evidence){.level = EVIDENCE_FUNCTION_TEST, .why = "smaller"};
        c->level = EVIDENCE_FUNCTION_TEST;
        c->why = "smaller";
    }
}

static void make_steps(struct built *b) {
    size_t count = roll(ARRAY_LENGTH(step_names) + 1);
    static const enum component components[] = {COMPONENT_PREPARE,  COMPONENT_DATA,
                                                COMPONENT_TRANSFER, COMPONENT_FIXING,
                                                COMPONENT_CHECKING, COMPONENT_TEARDOWN};
    for (size_t i = 0; i < count; i++) {
        struct plan_step *step =
            built_step(b, step_names[i], components[roll(ARRAY_LENGTH(components))],
                       (enum plan_repeats)roll(4), (enum plan_answer)roll(3));
        for (uint64_t seen = roll(4); seen > 0; seen--)
            built_step_run(b, step, between(1.0, 500.0));
        for (size_t block = 0; block < b->study.block_count; block++)
            if (maybe(60))
                built_needs(b, &b->study.blocks[block], step->name);
    }
}

static void make_block(struct built *b, size_t at) {
    struct study_block *block =
        built_block(b, block_ids[at], 1 + (size_t)roll(5), maybe(15) ? -1 : (int64_t)roll(12));
    struct plan_block *plan = built_plan_block(b, block);

    plan->extent = (enum plan_extent)roll(PLAN_EXTENT_COUNT_);
    plan->recurrence = (enum plan_recurrence)roll(PLAN_RECURRENCE_COUNT_);
    plan->kind = (enum plan_kind)roll(PLAN_KIND_COUNT_);
    if (maybe(30))
        plan->lanes = (struct plan_whole){.given = true, .value = 1 + (int64_t)roll(4)};
    if (maybe(40))
        plan->retry_max = (struct plan_whole){.given = true, .value = (int64_t)roll(4)};
    if (at > 0 && maybe(30)) /* a condition of an earlier block */
        memcpy(plan->conditions[0].id, b->plan.blocks[0].conditions[0].id, SHA256_HEX_SIZE);
    for (size_t c = 0; c < block->condition_count; c++) {
        if (maybe(15))
            plan->conditions[c].supported = PLAN_NO;
        make_runs(b, &block->conditions[c]);
    }
}

static void make_assumptions(struct built *b) {
    static const char *const keys[][2] = {{"*.idle", "1h"},          {"validate.checking", "10m"},
                                          {"*.run-time", "90"},      {"*.lost-time", "30"},
                                          {"*.failure-rate", "0.2"}, {"*.runs", "4"},
                                          {"validate.fixing", "5"}};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (maybe(15))
            built_assume(b, keys[i][0], keys[i][1]);
}

static struct built *make_study(uint64_t seed) {
    struct built *b = built_new();

    state_of_dice = seed;
    size_t blocks = 1 + (size_t)roll(ARRAY_LENGTH(block_ids));
    b->seed = seed;
    b->draws = DRAWS;
    built_room(b, blocks);
    b->environment.gpus.given = maybe(80);
    b->environment.gpus.value = maybe(40) ? 0 : (int64_t)roll(9);
    for (size_t i = 0; i < blocks; i++)
        make_block(b, i);
    make_steps(b);
    make_assumptions(b);
    if (maybe(30)) {
        struct plan_task *task = arena_alloc(b->arena, sizeof *task);
        *task = (struct plan_task){.at = built_at(b),
                                   .id = "read",
                                   .has_component = maybe(80),
                                   .component = COMPONENT_CHECKING,
                                   .needs_machine = (enum plan_answer)roll(3)};
        if (maybe(60))
            task->time = (struct plan_duration){
                .given = true, .ns = (int64_t)roll(100) * 1000000000, .at = built_at(b)};
        b->plan.tasks = task;
        b->plan.task_count = 1;
    }
    return b;
}

/* ---- what holds ---- */

static bool is_exact(const struct quantity *q) {
    return quantity_is_known(q) && q->bound == QUANTITY_EXACT;
}

/* In every future a sum is at least each of its parts, and so are its quantiles. */
static void check_parts(const struct quantity *sum) {
    for (size_t i = 0; i < sum->part_count; i++) {
        const struct quantity *part = &sum->parts[i].quantity;
        double slack = 1e-9 * sum->value;
        if (!quantity_is_known(part))
            continue;
        if (part->state == QUANTITY_MEASURED && !quantity_is_known(sum))
            continue; /* nothing is left of it, and the others are open */
        assert_true(quantity_is_known(sum));
        assert_true(sum->value >= part->value - slack);
        assert_true(sum->state <= part->state);
        if (sum->has_interval && part->has_interval)
            assert_true(sum->p05 >= part->p05 - slack && sum->p95 >= part->p95 - slack);
        /* a part without interval, but for an exact 0 or what is assumed, leaves the sum without */
        if (!part->has_interval && part->value > 0.0 && part->state != QUANTITY_ASSUMED)
            assert_false(sum->has_interval);
    }
}

static void check_figures(const struct built *b, const struct estimate_figures *f,
                          uint64_t lanes_most) {
    check_parts(&f->computing);
    check_parts(&f->reserved);
    check_parts(&f->calendar);
    check_parts(&f->effort);
    double slack = 1e-9 * (1.0 + f->reserved.value);
    if (quantity_is_known(&f->computing) && f->computing.state != QUANTITY_MEASURED) {
        assert_true(quantity_is_known(&f->reserved) && quantity_is_known(&f->calendar));
        assert_true(f->reserved.value >= f->computing.value - slack);
    }
    if (is_exact(&f->reserved))
        assert_true(is_exact(&f->computing) || !quantity_is_known(&f->computing));
    if (quantity_is_known(&f->reserved) && lanes_most == 1)
        assert_true(f->calendar.value >= f->reserved.value - slack);
    if (!b->environment.gpus.given)
        assert_int_equal(f->gpu.reason, QUANTITY_NOT_ENTERED);
    else if (b->environment.gpus.value == 0)
        assert_int_equal(f->gpu.reason, QUANTITY_NOT_APPLICABLE);
    else if (quantity_is_known(&f->reserved))
        assert_true(fabs(f->gpu.value - f->reserved.value * (double)b->environment.gpus.value) <=
                    1e-6 * (1.0 + f->gpu.value));
    else
        assert_int_equal(f->gpu.state, QUANTITY_OPEN);
}

/* Named as open, with what closes it; every part that is named says both. */
static bool is_named_open(const struct estimate *e, const struct plan_block *block,
                          enum component component) {
    bool found = false;
    for (size_t i = 0; i < e->open_count; i++) {
        const struct estimate_open *part = &e->open[i];
        assert_true(part->what && *part->what && part->remedy && *part->remedy);
        found |= part->block == block && part->has_component && part->component == component;
    }
    return found;
}

static void check_component(const struct built *b, const struct estimate_block *block,
                            const struct estimate_component *c) {
    const struct estimate *e = &b->estimate;
    bool open = c->item_count == 0;

    check_parts(&c->time);
    for (size_t i = 0; i < c->item_count; i++)
        open |= !is_exact(&c->items[i].time);
    if (block->has_remaining && block->remaining == 0) {
        assert_true(is_exact(&c->time) && c->time.value == 0.0);
        return;
    }
    if (open) {
        assert_false(is_exact(&c->time));
        if (!is_named_open(e, block->block->block, c->component))
            fail_msg("open, but not named: %s of %s", component_name(c->component),
                     block->block->block->id);
    }
    if (!quantity_is_known(&c->time))
        return;
    if (b->setting_count == 0)
        assert_true(c->time.source_count > 0);
    /* 0 is a count that was read, an assumption, or the median of losses; never what nobody saw */
    if (c->time.value == 0.0)
        assert_true(c->time.state != QUANTITY_ESTIMATED || c->component == COMPONENT_RETRIES);
}

/* What cannot run is open with that reason, whatever is assumed; a known time has a known count. */
static void check_items(const struct estimate_block *block) {
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        for (size_t i = 0; i < block->components[k].item_count; i++) {
            const struct estimate_item *item = &block->components[k].items[i];
            if (quantity_is_known(&item->time))
                assert_true(quantity_is_known(&item->count));
            if (k != COMPONENT_RUNS || !item->condition)
                continue;
            const struct study_condition *c = NULL;
            for (size_t n = 0; n < block->block->condition_count; n++)
                if (block->block->conditions[n].condition == item->condition)
                    c = &block->block->conditions[n];
            assert_non_null(c);
            if (item->condition->supported != PLAN_NO || c->level == EVIDENCE_MEASURED)
                assert_true(item->time.reason != QUANTITY_NOT_SUPPORTED);
            else if (quantity_is_known(&item->count) && item->count.value > 0.0)
                assert_int_equal(item->time.reason, QUANTITY_NOT_SUPPORTED);
        }
}

static void check_nothing_is_lost(const struct estimate_block *block) {
    const struct estimate_figures *f = &block->figures;
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        const struct estimate_component *c = &block->components[k];
        if (c->item_count == 0 && !quantity_is_known(&c->time)) {
            assert_false(is_exact(&f->reserved));
            assert_false(is_exact(&f->calendar));
        }
        for (size_t i = 0; i < c->item_count; i++) {
            if (is_exact(&c->items[i].time))
                continue;
            assert_false(is_exact(&f->calendar));
            assert_false(
                is_exact(c->items[i].needs_machine == PLAN_NO ? &f->effort : &f->reserved));
        }
    }
}

/* ---- what is open below is named above, and nothing else is ---- */

static bool is_named(const struct quantity *q, const char *path) {
    size_t found = 0;
    for (size_t i = 0; i < q->open_part_count; i++)
        found += strcmp(q->open_parts[i], path) == 0;
    if (found > 1)
        fail_msg("'%s' is named %zu times", path, found);
    return found == 1;
}

static void need_name(const struct quantity *q, const char *path, const char *of) {
    if (!is_named(q, path))
        fail_msg("%s lacks '%s' and does not name it (%zu others)", of, path, q->open_part_count);
}

/* Every name leads to an open quantity. name: "a/b/c", part by part. */
static bool leads_to_open(const struct quantity *q, const char *name) {
    for (size_t i = 0; i < q->part_count; i++) {
        const struct quantity_part *part = &q->parts[i];
        size_t length = strlen(part->name);
        if (strcmp(part->name, name) == 0 && !quantity_is_known(&part->quantity))
            return true;
        if (strncmp(part->name, name, length) == 0 && name[length] == '/' &&
            leads_to_open(&part->quantity, name + length + 1))
            return true;
    }
    return false;
}

static void check_names(const struct quantity *q) {
    bool lacks = false;
    for (size_t i = 0; i < q->open_part_count; i++)
        if (!leads_to_open(q, q->open_parts[i]))
            fail_msg("'%s' is named and not open", q->open_parts[i]);
    for (size_t i = 0; i < q->part_count; i++)
        lacks |=
            !quantity_is_known(&q->parts[i].quantity) || q->parts[i].quantity.open_part_count > 0;
    assert_int_equal(lacks, q->open_part_count > 0);
    if (quantity_is_known(q) && lacks)
        assert_int_equal(q->bound, QUANTITY_AT_LEAST);
    if (quantity_is_known(q) && q->state == QUANTITY_MEASURED) /* nothing left, and nothing open */
        assert_true(!lacks && is_exact(q));
}

static void check_names_of_figures(const struct estimate_figures *f) {
    check_names(&f->computing);
    check_names(&f->reserved);
    check_names(&f->calendar);
    check_names(&f->effort);
    if (quantity_is_known(&f->gpu) || f->gpu.open_part_count > 0)
        assert_int_equal(f->gpu.open_part_count, f->reserved.open_part_count);
}

static void check_open_item(const struct built *b, const struct estimate_block *block,
                            const struct estimate_component *c, const struct estimate_item *item) {
    const struct estimate_figures *figures[] = {&b->estimate.total, NULL, NULL};
    const char *id = block->block->block->id, *of = component_name(c->component);
    bool no_machine = item && item->needs_machine == PLAN_NO;
    const char *below = item ? arena_printf(b->arena, "%s/%s", of, item->name) : of;
    const char *above = arena_printf(b->arena, "%s/%s", id, below);
    const struct estimate *e = &b->estimate;

    if (item)
        need_name(&c->time, item->name, of);
    need_name(no_machine ? &block->figures.effort : &block->figures.reserved, below, id);
    need_name(&block->figures.calendar, below, id);
    if (c->component == COMPONENT_RUNS && item)
        need_name(&block->figures.computing, item->name, id);
    for (size_t i = 0; i < e->by_extent_count; i++)
        for (size_t p = 0; p < e->by_extent[i].figures.calendar.part_count; p++)
            if (strcmp(e->by_extent[i].figures.calendar.parts[p].name, id) == 0)
                figures[1] = &e->by_extent[i].figures;
    for (size_t i = 0; i < e->by_recurrence_count; i++)
        for (size_t p = 0; p < e->by_recurrence[i].figures.calendar.part_count; p++)
            if (strcmp(e->by_recurrence[i].figures.calendar.parts[p].name, id) == 0)
                figures[2] = &e->by_recurrence[i].figures;
    for (size_t i = 0; i < ARRAY_LENGTH(figures); i++) {
        assert_non_null(figures[i]);
        need_name(no_machine ? &figures[i]->effort : &figures[i]->reserved, above, "a total");
        need_name(&figures[i]->calendar, above, "a total");
    }
}

static void check_open_parts(const struct built *b) {
    const struct estimate *e = &b->estimate;

    for (size_t i = 0; i < e->block_count; i++) {
        check_names_of_figures(&e->blocks[i].figures);
        for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
            const struct estimate_component *c = &e->blocks[i].components[k];
            check_names(&c->time);
            if (c->item_count == 0 && !quantity_is_known(&c->time))
                check_open_item(b, &e->blocks[i], c, NULL);
            for (size_t n = 0; n < c->item_count; n++)
                if (!quantity_is_known(&c->items[n].time))
                    check_open_item(b, &e->blocks[i], c, &c->items[n]);
        }
    }
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        check_names(&e->components[k].time);
    check_names_of_figures(&e->total);
    for (size_t i = 0; i < e->by_extent_count; i++)
        check_names_of_figures(&e->by_extent[i].figures);
    for (size_t i = 0; i < e->by_recurrence_count; i++)
        check_names_of_figures(&e->by_recurrence[i].figures);
}

/* ---- every known figure has a source, but for what --set alone says ---- */

static void need_source(const struct built *b, const struct quantity *q, const char *of) {
    if (!quantity_is_known(q) || q->source_count > 0)
        return;
    if (q->state != QUANTITY_ASSUMED || b->setting_count == 0)
        fail_msg("%s has no source: %s, %s", of, quantity_state_name(q->state),
                 q->method ? q->method : "");
}

static void need_sources(const struct built *b, const struct estimate_figures *f) {
    need_source(b, &f->computing, "computing");
    need_source(b, &f->reserved, "reserved");
    need_source(b, &f->calendar, "calendar");
    need_source(b, &f->effort, "effort");
    need_source(b, &f->gpu, "gpu");
}

static void need_sources_of(const struct built *b, const struct estimate_component *components) {
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++) {
        need_source(b, &components[k].time, component_name(k));
        for (size_t i = 0; i < components[k].item_count; i++) {
            const struct estimate_item *item = &components[k].items[i];
            need_source(b, &item->count, "the count of an item");
            need_source(b, &item->unit, "the unit of an item");
            need_source(b, &item->time, item->name);
        }
    }
}

static void check_sources(const struct built *b) {
    const struct estimate *e = &b->estimate;
    for (size_t i = 0; i < e->block_count; i++) {
        need_sources_of(b, e->blocks[i].components);
        need_sources(b, &e->blocks[i].figures);
        need_source(b, &e->blocks[i].host_memory.need, "host memory");
        need_source(b, &e->blocks[i].gpu_memory.need, "GPU memory");
        need_source(b, &e->blocks[i].bytes_in, "bytes in");
        need_source(b, &e->blocks[i].bytes_out, "bytes out");
    }
    need_sources_of(b, e->components);
    need_sources(b, &e->total);
    for (size_t i = 0; i < e->by_extent_count; i++)
        need_sources(b, &e->by_extent[i].figures);
    for (size_t i = 0; i < e->by_recurrence_count; i++)
        need_sources(b, &e->by_recurrence[i].figures);
}

static void check_study(const struct built *b) {
    const struct estimate *e = &b->estimate;
    uint64_t lanes_most = 1;

    for (size_t i = 0; i < e->block_count; i++) {
        const struct estimate_block *block = &e->blocks[i];
        const struct plan_block *plan = block->block->block;
        uint64_t lanes = plan->lanes.given ? (uint64_t)plan->lanes.value : 1;
        lanes_most = lanes > lanes_most ? lanes : lanes_most;
        if (b->setting_count == 0)
            check_figures(b, &block->figures, lanes);
        for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
            check_component(b, block, &block->components[k]);
        check_nothing_is_lost(block);
        check_items(block);
    }
    if (b->setting_count == 0)
        check_figures(b, &e->total, lanes_most);
    check_open_parts(b);
    check_sources(b);
    size_t extents = 0, recurrences = 0;
    for (size_t i = 0; i < e->by_extent_count; i++) {
        extents += e->by_extent[i].block_count;
        assert_true(e->total.reserved.value >=
                    e->by_extent[i].figures.reserved.value - 1e-9 * e->total.reserved.value);
        if (!is_exact(&e->by_extent[i].figures.calendar))
            assert_false(is_exact(&e->total.calendar));
    }
    for (size_t i = 0; i < e->by_recurrence_count; i++)
        recurrences += e->by_recurrence[i].block_count;
    assert_int_equal(extents, e->block_count);
    assert_int_equal(recurrences, e->block_count);
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        check_parts(&e->components[k].time);
}

/* ---- all numbers of an estimate in a row ---- */

struct numbers {
    double values[VALUES];
    size_t count;
};

static void take(struct numbers *n, const struct quantity *q) {
    const double values[] = {q->state,        q->bound,     q->reason,
                             q->value,        (double)q->n, q->p05,
                             q->has_interval, q->p95,       (double)q->source_count};
    assert_true(n->count + ARRAY_LENGTH(values) <= VALUES);
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
        n->values[n->count++] = values[i];
}

static void take_figures(struct numbers *n, const struct estimate_figures *f) {
    take(n, &f->computing);
    take(n, &f->reserved);
    take(n, &f->calendar);
    take(n, &f->effort);
    take(n, &f->gpu);
}

static void take_all(struct numbers *n, const struct estimate *e) {
    n->count = 0;
    for (size_t i = 0; i < e->block_count; i++) {
        for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
            take(n, &e->blocks[i].components[k].time);
        take_figures(n, &e->blocks[i].figures);
        take(n, &e->blocks[i].host_memory.need);
        take(n, &e->blocks[i].bytes_in);
        take(n, &e->blocks[i].bytes_out);
    }
    take_figures(n, &e->total);
    for (size_t i = 0; i < e->by_extent_count; i++)
        take_figures(n, &e->by_extent[i].figures);
}

/* ---- settings ---- */

struct changed {
    bool component[ARRAY_LENGTH(block_ids)][COMPONENT_COUNT_]; /* may change */
};

static void may_change(struct changed *c, size_t block, enum component k) {
    c->component[block][k] = true;
}

static void may_change_all(struct changed *c, size_t block) {
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        may_change(c, block, k);
}

/* A random setting, and what depends on its key. */
static void set_something(struct built *b, struct changed *ret) {
    size_t block = roll(b->study.block_count);
    const char *id = b->plan.blocks[block].id;
    enum component k = (enum component)roll(COMPONENT_COUNT_);

    *ret = (struct changed){0};
    switch (roll(6)) {
    case 0:
        if (k == COMPONENT_RUNS)
            k = COMPONENT_IDLE;
        built_set(b, arena_printf(b->arena, "%s.%s", id, component_name(k)), "33");
        may_change(ret, block, k);
        break;
    case 1: /* also what its phases feed */
        built_set(b, arena_printf(b->arena, "%s.run-time", id), "33");
        may_change_all(ret, block);
        ret->component[block][COMPONENT_RETRIES] = ret->component[block][COMPONENT_IDLE] = false;
        break;
    case 2:
        built_set(b, arena_printf(b->arena, "%s.lost-time", id), "33");
        may_change(ret, block, COMPONENT_RETRIES);
        break;
    case 3:
        built_set(b, arena_printf(b->arena, "%s.lanes", id), "5");
        break;
    case 4: /* a block that is done, or no longer is, moves the steps that are done once */
        built_set(b, arena_printf(b->arena, "%s.runs", id), "44");
        may_change_all(ret, block);
        for (size_t s = 0; s < b->plan.step_count; s++)
            for (size_t i = 0; i < b->study.block_count; i++)
                if (b->plan.steps[s].repeats == PLAN_ONCE)
                    may_change(ret, i, b->plan.steps[s].component);
        break;
    default:
        if (b->plan.step_count == 0)
            break;
        const struct plan_step *step = &b->plan.steps[roll(b->plan.step_count)];
        built_set(b, arena_printf(b->arena, "step.%s", step->name), "33");
        for (size_t i = 0; i < b->study.block_count; i++)
            may_change(ret, i, step->component);
        break;
    }
}

static bool is_same(const struct quantity *a, const struct quantity *b) {
    struct numbers one = {.count = 0}, two = {.count = 0};
    take(&one, a);
    take(&two, b);
    return memcmp(one.values, two.values, one.count * sizeof *one.values) == 0;
}

static void check_setting(struct built *b) {
    struct estimate before = b->estimate;
    struct changed changed;

    set_something(b, &changed);
    const struct estimate *after = built_estimate(b);
    check_study(b);
    for (size_t i = 0; i < after->block_count; i++)
        for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
            if (!changed.component[i][k] && !is_same(&before.blocks[i].components[k].time,
                                                     &after->blocks[i].components[k].time))
                fail_msg("%s changes %s of %s", b->settings[0].key, component_name(k),
                         b->plan.blocks[i].id);
    b->setting_count = 0;
}

static void test_studies(void **state) {
    struct numbers *first = mem_alloc(sizeof *first), *again = mem_alloc(sizeof *again);
    size_t known = 0, with_interval = 0, at_least = 0, exact = 0;
    (void)state;

    for (uint64_t i = 0; i < STUDIES; i++) {
        struct built *b = make_study(UINT64_C(20261130) + i * UINT64_C(7919));
        const struct estimate *e = built_estimate(b);
        check_study(b);
        take_all(first, e);
        known += quantity_is_known(&e->total.reserved);
        with_interval += e->total.computing.has_interval;
        at_least += e->total.reserved.bound == QUANTITY_AT_LEAST;
        exact += is_exact(&e->total.reserved);
        take_all(again, built_estimate(b));
        assert_int_equal(first->count, again->count);
        assert_memory_equal(first->values, again->values, first->count * sizeof(double));
        for (size_t s = 0; s < 3; s++) {
            built_estimate(b);
            check_setting(b);
        }
        built_free(b);
    }
    print_message("%zu of %u totals known, %zu with an interval of computing, %zu at least, %zu "
                  "exact\n",
                  known, STUDIES, with_interval, at_least, exact);
    /* the studies are not all of one kind */
    assert_true(known > STUDIES * 6 / 10 && with_interval > STUDIES / 25 &&
                at_least > STUDIES / 2 && exact > 0 && exact < STUDIES / 5);
    mem_free_ptr(&first);
    mem_free_ptr(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_studies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
