/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle time to come, from sessions of the study in the target environment. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forecast/predict.h"

#include "estimate-asserts.h"

#define SESSIONS_MOST 8u

struct idle_scene {
    struct built *b;
    struct session sessions[SESSIONS_MOST];
};

static int setup(void **state) {
    struct idle_scene *s = mem_alloc(sizeof *s);
    s->b = built_new();
    built_room(s->b, 4);
    s->b->input.sessions = s->sessions;
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct idle_scene *s = *state;
    built_free(s->b);
    mem_free_ptr(&s);
    return 0;
}

/* A session that is over. Its id is that of a run, so that it is a source that exists. */
static struct session *session(struct idle_scene *s, double busy_s, double idle_s) {
    struct built *b = s->b;
    size_t at = b->input.session_count++;
    struct study_run *seen = built_seen(b, 1.0);
    s->sessions[at] = (struct session){
        .id = seen->run->id,
        .environment = "here",
        .state = SESSION_STOPPED,
        .reserved = quantity_measured(UNIT_SECOND, busy_s + idle_s, "test"),
        .busy = quantity_measured(UNIT_SECOND, busy_s, "test"),
        .idle = quantity_measured(UNIT_SECOND, idle_s, "test"),
    };
    return &s->sessions[at];
}

static const struct quantity *idle_of(struct idle_scene *s) {
    built_estimate(s->b);
    return time_of(s->b, 0, COMPONENT_IDLE);
}

static struct study_condition *three_left(struct idle_scene *s) {
    struct study_block *block = built_block(s->b, "compare", 1, 4);
    built_counts(s->b, &block->conditions[0], 100.0);
    return &block->conditions[0];
}

static bool rests_on(const struct quantity *q, const char *id) {
    for (size_t i = 0; i < q->source_count; i++)
        if (strcmp(q->sources[i], id) == 0)
            return true;
    return false;
}

static void test_one_session(void **state) {
    struct idle_scene *s = *state;
    three_left(s);
    session(s, 1000.0, 500.0);
    const struct quantity *idle = idle_of(s);
    assert_int_equal(idle->state, QUANTITY_ESTIMATED);
    assert_true(fabs(idle->value - 150.0) < 1e-6); /* half of three times 100 s */
    assert_false(idle->has_interval);
    assert_true(rests_on(idle, s->sessions[0].id));
    assert_true(rests_on(idle, s->b->runs[0]->id));
    const struct estimate *e = &s->b->estimate;
    assert_int_equal(idle->n, 1);
    assert_string_equal(idle->basis, ESTIMATE_BASIS_SESSIONS);
    assert_int_equal(e->total.reserved.n, 1); /* runs; the session is a source beside it */
    assert_int_equal(e->total.reserved.source_count, e->total.computing.source_count + 1);
    assert_true(fabs(e->blocks[0].figures.computing.value - 300.0) < 1e-6);
    assert_true(fabs(e->blocks[0].figures.reserved.value - 450.0) < 1e-6); /* it is paid */
    assert_null(find_open(e, "compare", COMPONENT_IDLE, "no session"));
}

static void test_fixing_is_idle_already(void **state) {
    struct idle_scene *s = *state;
    three_left(s);
    struct plan_step *fixing =
        built_step(s->b, "repair", COMPONENT_FIXING, PLAN_PER_RENTAL, PLAN_YES);
    struct plan_step *install =
        built_step(s->b, "install", COMPONENT_PREPARE, PLAN_PER_RENTAL, PLAN_YES);
    built_needs(s->b, &s->b->study.blocks[0], "repair");
    built_needs(s->b, &s->b->study.blocks[0], "install");
    built_step_run(s->b, fixing, 1000.0);
    built_step_run(s->b, install, 50.0);
    session(s, 1000.0, 500.0);
    assert_true(fabs(idle_of(s)->value - 175.0) < 1e-6); /* half of 300 s and 50 s */
}

static void test_several_sessions(void **state) {
    struct idle_scene *s = *state;
    struct study_condition *c = three_left(s);
    built_counts(s->b, c, 104.0); /* two left */
    session(s, 1000.0, 500.0);
    session(s, 1000.0, 550.0);
    session(s, 1000.0, 450.0);
    const struct quantity *idle = idle_of(s);
    assert_true(idle->has_interval);
    assert_true(idle->p05 < 100.0 && idle->p95 > 103.0);
    assert_true(idle->value > 85.0 && idle->value < 120.0);
    assert_true(idle->p05 >= 0.0);
}

static void test_no_waiting_at_all(void **state) {
    struct idle_scene *s = *state;
    three_left(s);
    session(s, 1000.0, 0.0);
    session(s, 1000.0, 0.0);
    const struct quantity *idle = idle_of(s);
    assert_int_equal(idle->state, QUANTITY_ESTIMATED);
    assert_true(idle->value >= 0.0 && idle->value < 1.0);
}

static void test_what_cannot_be_used(void **state) {
    struct idle_scene *s = *state;
    three_left(s);
    session(s, 1000.0, 500.0)->state = SESSION_RUNNING;
    session(s, 1000.0, 500.0)->superseded_by = "x";
    session(s, 1000.0, 500.0)->environment = "there";
    session(s, 0.0, 500.0);
    session(s, 1000.0, 500.0)->idle.bound = QUANTITY_AT_MOST;
    assert_open(idle_of(s), QUANTITY_NO_EVIDENCE, "no session of the study");
    assert_remedy(&s->b->estimate, "compare", COMPONENT_IDLE, "no session was recorded",
                  "record sessions ('probelauf session start'), or assume it with --set "
                  "compare.idle=TIME");
    session(s, 1000.0, 100.0);
    const struct quantity *idle = idle_of(s);
    assert_true(fabs(idle->value - 30.0) < 1e-6);
    assert_says(idle->detail, "cannot be used");
}

static void test_nothing_to_go_with(void **state) {
    struct idle_scene *s = *state;
    built_block(s->b, "compare", 1, 3);
    session(s, 1000.0, 500.0);
    assert_open(idle_of(s), QUANTITY_NO_EVIDENCE, "how long the machine will run is open");
}

static void test_assumptions(void **state) {
    struct idle_scene *s = *state;
    three_left(s);
    built_assume(s->b, "compare.idle", "7s"); /* never before what was seen */
    assert_int_equal(idle_of(s)->state, QUANTITY_ASSUMED);
    session(s, 1000.0, 500.0);
    assert_int_equal(idle_of(s)->state, QUANTITY_ESTIMATED);
    built_set(s->b, "compare.idle", "9s");
    assert_true(fabs(idle_of(s)->value - 9.0) < 1e-9);
}

static void test_done(void **state) {
    struct idle_scene *s = *state;
    struct study_block *block = built_block(s->b, "compare", 1, 1);
    built_counts(s->b, &block->conditions[0], 100.0);
    session(s, 1000.0, 500.0);
    const struct quantity *idle = idle_of(s);
    assert_int_equal(idle->state, QUANTITY_MEASURED);
    assert_true(fabs(idle->value) < 1e-9);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_one_session),         TEST(test_fixing_is_idle_already),
        TEST(test_several_sessions),    TEST(test_no_waiting_at_all),
        TEST(test_what_cannot_be_used), TEST(test_nothing_to_go_with),
        TEST(test_assumptions),         TEST(test_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
