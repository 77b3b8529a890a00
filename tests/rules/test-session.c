/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sessions out of records and runs made by hand: restarts, clocks that were set, machines that are
 * gone, two at once, notes that split gaps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rules/session.h"

#include "build.h"

#define S         INT64_C(1000000000)
#define UTC0      (INT64_C(1796000000) * S)
#define RUNS_MOST 16u

#define BOOT_A "aaaaaaaa-0000-4000-8000-000000000001"
#define BOOT_B "bbbbbbbb-0000-4000-8000-000000000002"

struct scene {
    struct arena *arena;
    json_t *events;
    struct run *runs[RUNS_MOST];
    const struct run *looked_at[RUNS_MOST];
    size_t run_count;
    struct session_input input;
    struct session_list list;
};

static int setup(void **state) {
    struct scene *s = mem_alloc(sizeof *s);
    s->arena = arena_new();
    s->events = json_array();
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct scene *s = *state;
    for (size_t i = 0; i < s->run_count; i++)
        run_free(s->runs[i]);
    json_decref(s->events);
    arena_free(s->arena);
    mem_free_ptr(&s);
    return 0;
}

/* boot_s, utc_s: seconds on the two clocks; utc_s from UTC0 on. */
static json_t *event(struct scene *s, const char *type, const char *id, const char *boot,
                     double boot_s, double utc_s) {
    json_t *json = json_object(), *clock = json_object();
    json_put_text(json, "type", type);
    json_put_text(json, "id", id);
    json_put_int(json, "utc_ns", UTC0 + (int64_t)(utc_s * 1e9));
    json_put_text(json, "host", "node");
    json_put_text(json, "machine", "0123456789abcdef");
    json_put_text(clock, "boot_id", boot);
    json_put_int(clock, "boottime_ns", (int64_t)(boot_s * 1e9));
    json_put_int(clock, "utc_ns", UTC0 + (int64_t)(utc_s * 1e9));
    json_put(json, "clock", clock);
    json_array_append_new(s->events, json);
    return json;
}

static json_t *start(struct scene *s, const char *id, double boot_s, double utc_s) {
    return event(s, "session-start", id, BOOT_A, boot_s, utc_s);
}

static json_t *about(json_t *event_json, const char *id) {
    json_put_text(event_json, "about", id);
    return event_json;
}

static json_t *note(struct scene *s, const char *id, const char *reason, const char *boot,
                    double boot_s, double utc_s) {
    json_t *json = about(event(s, "session-note", id, boot, boot_s, utc_s), "s1");
    json_put_text(json, "reason", reason);
    return json;
}

static void span(json_t *event_json, double from_s, double to_s) {
    json_put_int(event_json, "from_t_ns", (int64_t)(from_s * 1e9));
    if (to_s > 0)
        json_put_int(event_json, "to_t_ns", (int64_t)(to_s * 1e9));
}

static struct run *run_at(struct scene *s, const char *boot, double boot_s, double utc_s,
                          double length_s) {
    struct run *run = build_run((int)s->run_count + 1, length_s);
    json_t *clock = json_object();
    json_put_text(run->start, "host", "node");
    json_put_text(clock, "boot_id", boot);
    json_put_int(clock, "start_boottime_ns", (int64_t)(boot_s * 1e9));
    json_put_int(clock, "start_utc_ns", UTC0 + (int64_t)(utc_s * 1e9));
    json_put(run->start, "clock", clock);
    json_put_int(run->end, "end_boottime_ns", (int64_t)((boot_s + length_s) * 1e9));
    s->looked_at[s->run_count] = run;
    s->runs[s->run_count++] = run;
    return run;
}

static const struct session *derive(struct scene *s, const char *boot, double boot_s,
                                    double utc_s) {
    s->input = (struct session_input){
        .events = s->events,
        .runs = s->looked_at,
        .run_count = s->run_count,
        .now = {.boot_id = boot,
                .host = boot ? "node" : "laptop",
                .machine = boot ? "0123456789abcdef" : "fedcba9876543210",
                .boot_ns = (int64_t)(boot_s * 1e9),
                .utc_ns = UTC0 + (int64_t)(utc_s * 1e9)},
    };
    session_derive(&s->input, s->arena, &s->list);
    assert_true(s->list.count > 0);
    for (size_t i = 0; i < s->list.count; i++) { /* what holds for every session */
        const struct session *one = &s->list.items[i];
        double gaps = 0.0, reasons = 0.0;
        bool open = false;
        for (size_t g = 0; g < one->gap_count; g++) {
            gaps += one->gaps[g].end_s - one->gaps[g].start_s;
            assert_int_equal(one->gaps[g].number, g + 1);
            assert_true(one->gaps[g].end_s > one->gaps[g].start_s);
        }
        assert_true(fabs(one->reserved.value - one->busy.value - gaps) < 1e-6);
        for (enum session_reason r = SESSION_UNKNOWN; r < SESSION_REASON_COUNT_; r++)
            if (quantity_is_known(&one->by_reason[r]))
                reasons += one->by_reason[r].value;
            else
                open = true;
        if (quantity_is_known(&one->idle))
            assert_true(fabs(one->idle.value - gaps) < 1e-6 &&
                        (open || fabs(reasons - gaps) < 1e-6));
        assert_true(quantity_is_valid(&one->reserved) && quantity_is_valid(&one->idle) &&
                    quantity_is_valid(&one->busy) && quantity_is_valid(&one->idle_share) &&
                    quantity_is_valid(&one->gpu_idle_in_runs) && quantity_is_valid(&one->paid) &&
                    quantity_is_valid(&one->gpu_reserved));
    }
    return &s->list.items[0];
}

static void near(double value, double wanted) {
    if (fabs(value - wanted) > 1e-6)
        fail_msg("%.9g instead of %.9g", value, wanted);
}

static void gap_is(const struct session *session, size_t at, double from_s, double to_s,
                   enum session_reason reason) {
    assert_true(at < session->gap_count);
    near(session->gaps[at].start_s, from_s);
    near(session->gaps[at].end_s, to_s);
    assert_string_equal(session_reason_name(session->gaps[at].reason), session_reason_name(reason));
}

/* ---- one boot ---- */

static void test_runs_and_gaps(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 110, 10, 20); /* 10 … 30 */
    run_at(s, BOOT_A, 120, 20, 30); /* overlaps: … 50 */
    run_at(s, BOOT_A, 125, 25, 5);  /* within both */
    run_at(s, BOOT_A, 140, 40, 5);  /* and one more */
    run_at(s, BOOT_A, 170, 70, 10); /* 70 … 80 */
    about(event(s, "session-stop", "e1", BOOT_A, 200, 100), "s1");
    const struct session *one = derive(s, BOOT_A, 900, 800);
    assert_int_equal(one->state, SESSION_STOPPED);
    near(one->reserved.value, 100);
    near(one->busy.value, 50);
    near(one->idle.value, 50);
    near(one->idle_share.value, 0.5);
    assert_int_equal(one->gap_count, 3);
    gap_is(one, 0, 0, 10, SESSION_UNKNOWN);
    gap_is(one, 1, 50, 70, SESSION_UNKNOWN);
    gap_is(one, 2, 80, 100, SESSION_UNKNOWN);
    assert_null(one->gaps[0].after_run);
    assert_string_equal(one->gaps[1].after_run, s->runs[1]->id);
    assert_string_equal(one->gaps[1].before_run, s->runs[4]->id);
    assert_false(one->gaps[1].has_suggestion); /* the runs ended well */
    assert_null(one->gaps[2].before_run);
    assert_string_equal(one->reserved.sources[0], "s1");
    assert_int_equal(one->reserved.bound, QUANTITY_EXACT);
}

static void test_clock_set_back(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 120, -3600, 10); /* UTC an hour back meanwhile */
    about(event(s, "session-stop", "e1", BOOT_A, 200, -3530), "s1");
    const struct session *one = derive(s, BOOT_A, 900, -2000);
    near(one->reserved.value, 100);
    gap_is(one, 0, 0, 20, SESSION_UNKNOWN);
    gap_is(one, 1, 30, 100, SESSION_UNKNOWN);
}

static void test_cut_to_the_session(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 50, -50, 70);  /* begins before: 20 s of it */
    run_at(s, BOOT_A, 180, 80, 100); /* ends after */
    run_at(s, BOOT_A, 10, -90, 20);  /* before */
    run_at(s, BOOT_A, 500, 400, 20); /* after */
    about(event(s, "session-stop", "e1", BOOT_A, 200, 100), "s1");
    const struct session *one = derive(s, BOOT_A, 900, 800);
    assert_int_equal(one->run_count, 2);
    near(one->busy.value, 40);
    near(one->runs[0].start_s, 0);
    near(one->runs[1].end_s, 100);
    assert_ptr_equal(session_of_run(&s->list, s->runs[0]->id), one);
    assert_null(session_of_run(&s->list, s->runs[2]->id));
}

static void test_given_times(void **state) {
    struct scene *s = *state;
    json_put_int(start(s, "s1", 100, 0), "began_utc_ns", UTC0 - 60 * S);
    run_at(s, BOOT_A, 110, 10, 20);
    json_put_int(about(event(s, "session-stop", "e1", BOOT_A, 300, 200), "s1"), "at_utc_ns",
                 UTC0 + 100 * S);
    const struct session *one = derive(s, BOOT_A, 900, 800);
    assert_true(one->began_is_given && one->ended_is_given);
    near(one->reserved.value, 160);
    near(one->runs[0].start_s, 70);
    assert_int_equal(one->started_utc_ns, UTC0 - 60 * S);
    assert_int_equal(one->ended_utc_ns, UTC0 + 100 * S);
}

static void test_running(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    struct run *run = run_at(s, BOOT_A, 150, 50, 0);
    run->running = true;
    run->outcome = OUTCOME_RUNNING;
    run->wall = quantity_open(UNIT_SECOND, QUANTITY_RUNNING, NULL);
    json_object_clear(run->end);
    const struct session *one = derive(s, BOOT_A, 180, 80);
    assert_int_equal(one->state, SESSION_RUNNING);
    near(one->busy.value, 30);
    assert_null(session_running_gap(one));
    near(session_idle_since_run(one), 0);
    assert_ptr_equal(session_running(&s->list), one);
    run->running = false;
    run->outcome = OUTCOME_LOST;
    run->wall = quantity_bounded(UNIT_SECOND, 10, QUANTITY_AT_LEAST, "last record");
    one = derive(s, BOOT_A, 180, 80); /* lost: it may have gone on */
    near(one->busy.value, 10);
    assert_int_equal(one->busy.bound, QUANTITY_AT_LEAST);
    assert_int_equal(one->idle.bound, QUANTITY_AT_MOST);
    assert_int_equal(session_running_gap(one)->length.bound, QUANTITY_AT_MOST);
    assert_true(one->gaps[1].has_suggestion);
    assert_int_equal(one->gaps[1].suggestion, SESSION_FAILURE_HANDLING);
    assert_int_equal(one->gaps[1].reason, SESSION_UNKNOWN);
    assert_false(one->gaps[0].has_suggestion);
    note(s, "n1", "decision", BOOT_A, 175, 75); /* maybe shorter, and maybe not all of it */
    one = derive(s, BOOT_A, 180, 80);
    assert_int_equal(one->gaps[1].reason, SESSION_DECISION);
    assert_int_equal(one->by_reason[SESSION_DECISION].state, QUANTITY_OPEN);
    assert_int_equal(one->by_reason[SESSION_DECISION].reason, QUANTITY_NOT_SEPARATED);
    near(session_idle_since_run(one), 20);
    near(session_axis(one, UTC0 + 70 * S, UTC0 + 80 * S), 70);
}

/* ---- restarts ---- */

static void test_restart(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 110, 10, 20); /* 10 … 30 */
    run_at(s, BOOT_B, 5, 90, 10);   /* 90 … 100, after the restart */
    run_at(s, BOOT_B, 35, 500, 10); /* 120 … 130 by BOOTTIME, whatever UTC was set to */
    const struct session *one = derive(s, BOOT_B, 60, 600);
    assert_int_equal(one->state, SESSION_RUNNING);
    near(one->reserved.value, 145);
    assert_int_equal(one->restarts, 1);
    assert_int_equal(one->gap_count, 4);
    gap_is(one, 0, 0, 10, SESSION_UNKNOWN);
    gap_is(one, 1, 30, 90, SESSION_UNKNOWN);
    gap_is(one, 2, 100, 120, SESSION_UNKNOWN);
    assert_true(one->gaps[1].restarted);
    assert_false(one->gaps[0].restarted || one->gaps[2].restarted || one->gaps[3].restarted);
    assert_non_null(strstr(one->gaps[1].length.method, "UTC across a restart"));
    assert_non_null(one->gaps[1].length.detail);
}

static void test_restart_with_nothing_since(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    const struct session *one = derive(s, BOOT_B, 60, 600);
    assert_int_equal(one->state, SESSION_RUNNING);
    near(one->reserved.value, 600);
    assert_int_equal(one->restarts, 1);
    assert_int_equal(one->gap_count, 1);
    assert_true(one->gaps[0].restarted && one->gaps[0].running);
}

static void test_clock_set_back_across_a_restart(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 150, 50, 20); /* … 70 */
    about(event(s, "session-stop", "e1", BOOT_B, 30, -1000), "s1");
    const struct session *one = derive(s, BOOT_B, 900, 0);
    near(one->reserved.value, 70); /* it ended no earlier than what was seen before */
    assert_int_equal(one->reserved.bound, QUANTITY_AT_LEAST);
    near(one->unsure_s, 1070);
    assert_non_null(one->reserved.detail);
}

/* ---- machines ---- */

static void test_unended_elsewhere(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 110, 10, 20);
    const struct session *one = derive(s, NULL, 5000, 100000);
    assert_int_equal(one->state, SESSION_UNENDED);
    near(one->reserved.value, 30);
    assert_int_equal(one->reserved.bound, QUANTITY_AT_LEAST);
    assert_int_equal(one->ended_utc_ns, 0);
    assert_null(session_running(&s->list));
    assert_null(session_running_gap(one));
    /* told from another machine, by UTC alone */
    json_t *stop = about(event(s, "session-stop", "e1", "cccc", 7, 90000), "s1");
    json_put_text(stop, "host", "laptop");
    json_put_text(stop, "machine", "fedcba9876543210");
    json_put_int(stop, "at_utc_ns", UTC0 + 50 * S);
    run_at(s, "cccc", 1, 40, 10); /* of the laptop: not of the session */
    json_put_text(s->runs[1]->start, "host", "laptop");
    one = derive(s, NULL, 5000, 100000);
    assert_int_equal(one->state, SESSION_STOPPED);
    near(one->reserved.value, 50);
    assert_int_equal(one->run_count, 1);
    assert_int_equal(one->restarts, 0);
}

static void test_same_at_home(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 110, 10, 20);
    about(event(s, "session-stop", "e1", BOOT_A, 200, 100), "s1");
    double there = derive(s, BOOT_A, 900, 800)->idle.value;
    near(derive(s, NULL, 5, 900000)->idle.value, there);
}

static void test_other_machines(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 110, 10, 5); /* a container of the machine: another name */
    json_put_text(s->runs[0]->start, "host", "container");
    run_at(s, "other", 110, 20, 5); /* another machine */
    json_put_text(s->runs[1]->start, "host", "elsewhere");
    run_at(s, "other", 110, 30, 5); /* another machine of the same name */
    json_put_text(s->runs[2]->start, "machine", "fedcba9876543210");
    const struct session *one = derive(s, BOOT_A, 200, 100);
    assert_int_equal(one->run_count, 1);
    assert_string_equal(one->runs[0].run, s->runs[0]->id);
    json_put_text(s->runs[1]->start, "session", "s1"); /* it says so itself */
    one = derive(s, BOOT_A, 200, 100);
    assert_int_equal(one->run_count, 2);
}

/* ---- two at once ---- */

static void test_two_at_once(void **state) {
    struct scene *s = *state;
    start(s, "s2", 100.5, 0.5);
    start(s, "s1", 100, 0);
    json_put_text(start(s, "s0", 101, 1), "machine", "fedcba9876543210"); /* one boot: the same */
    run_at(s, BOOT_A, 110, 10, 20);
    derive(s, BOOT_A, 200, 100);
    assert_string_equal(s->list.items[0].id, "s1"); /* by the moment of recording */
    assert_null(s->list.items[0].superseded_by);
    assert_string_equal(s->list.items[1].superseded_by, "s1");
    assert_string_equal(s->list.items[2].superseded_by, "s1");
    assert_int_equal(s->list.items[1].run_count, 0);
    assert_string_equal(session_running(&s->list)->id, "s1");
    about(event(s, "session-stop", "e1", BOOT_A, 200, 100), "s1");
    start(s, "s3", 210, 110); /* one after the other */
    derive(s, BOOT_A, 300, 200);
    assert_null(s->list.items[3].superseded_by);
    assert_string_equal(session_running(&s->list)->id, "s3");
}

static void test_missing_stop_elsewhere(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    start(s, "s2", 5000, 4900); /* the stop between them never came here */
    run_at(s, BOOT_A, 5010, 4910, 10);
    derive(s, NULL, 1, 100000);
    assert_null(s->list.items[1].superseded_by);
    assert_true(s->list.items[0].reserved.value <= 4900);
    assert_int_equal(s->list.items[0].run_count, 0);
    assert_int_equal(s->list.items[1].run_count, 1);
}

static void test_first_stop_holds(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    about(event(s, "session-stop", "e2", BOOT_A, 300, 200), "s1");
    about(event(s, "session-stop", "e1", BOOT_A, 200, 100), "s1");
    near(derive(s, BOOT_A, 900, 800)->reserved.value, 100);
}

/* ---- notes ---- */

static void test_notes(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 120, 20, 10);                  /* gaps: 0 … 20, 30 … 100 */
    note(s, "n1", "approval", BOOT_A, 105, 5);       /* in the first gap */
    note(s, "n2", "decision", BOOT_A, 110, 10);      /* the last one holds */
    note(s, "n3", "manual-action", BOOT_A, 125, 25); /* while a run ran: about no gap */
    span(note(s, "n4", "data-missing", BOOT_A, 190, 90), 40, 60);
    span(note(s, "n5", "correction", BOOT_A, 191, 91), 80, -1); /* to the end of that gap */
    span(note(s, "n6", "nonsense", BOOT_A, 192, 92), 0, 5);     /* no reason that we know */
    about(event(s, "session-stop", "e1", BOOT_A, 200, 100), "s1");
    const struct session *one = derive(s, BOOT_A, 900, 800);
    assert_int_equal(one->gap_count, 6);
    gap_is(one, 0, 0, 5, SESSION_UNKNOWN);
    gap_is(one, 1, 5, 20, SESSION_DECISION);
    gap_is(one, 2, 30, 40, SESSION_UNKNOWN);
    gap_is(one, 3, 40, 60, SESSION_DATA_MISSING);
    gap_is(one, 4, 60, 80, SESSION_UNKNOWN);
    gap_is(one, 5, 80, 100, SESSION_CORRECTION);
    assert_string_equal(one->gaps[1].note, "n2");
    assert_false(one->notes[2].applies);
    assert_true(one->notes[0].applies); /* until a later one */
    near(one->by_reason[SESSION_DECISION].value, 15);
    near(one->by_reason[SESSION_APPROVAL].value, 0);
    for (enum session_reason r = SESSION_UNKNOWN; r < SESSION_REASON_COUNT_; r++)
        assert_int_equal(one->by_reason[r].bound,
                         r == SESSION_UNKNOWN ? QUANTITY_EXACT : QUANTITY_AT_LEAST);
}

static void test_reasons_are_exact_where_every_gap_has_one(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 120, 20, 80);
    span(note(s, "n1", "approval", BOOT_A, 190, 90), 0, 20);
    about(event(s, "session-stop", "e1", BOOT_A, 200, 100), "s1");
    const struct session *one = derive(s, BOOT_A, 900, 800);
    assert_int_equal(one->gap_count, 1);
    near(one->by_reason[SESSION_APPROVAL].value, 20);
    for (enum session_reason r = SESSION_UNKNOWN; r < SESSION_REASON_COUNT_; r++)
        assert_int_equal(one->by_reason[r].bound, QUANTITY_EXACT);
}

static void test_note_over_several_gaps(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    run_at(s, BOOT_A, 120, 20, 10);
    run_at(s, BOOT_A, 150, 50, 10);
    span(note(s, "n1", "waiting-for-authors", BOOT_A, 190, 90), 10, 70);
    const struct session *one = derive(s, BOOT_A, 200, 100);
    assert_int_equal(one->gap_count, 5);
    gap_is(one, 1, 10, 20, SESSION_WAITING_FOR_AUTHORS);
    gap_is(one, 2, 30, 50, SESSION_WAITING_FOR_AUTHORS);
    gap_is(one, 3, 60, 70, SESSION_WAITING_FOR_AUTHORS);
    gap_is(one, 4, 70, 100, SESSION_UNKNOWN);
    assert_true(one->gaps[4].running);
    assert_false(one->gaps[3].running);
}

/* ---- records that say anything ---- */

static void test_hostile_records(void **state) {
    struct scene *s = *state;
    start(s, "s1", 100, 0);
    json_t *bad = start(s, "s2", 100, 0);
    json_object_del(bad, "clock");
    bad = start(s, "s3", 0, 0);
    json_put_int(json_get_object(bad, "clock"), "boottime_ns", INT64_MIN);
    json_put_int(json_get_object(bad, "clock"), "utc_ns", INT64_C(7999999999999999999));
    json_put_int(bad, "utc_ns", INT64_MIN);
    json_put_int(bad, "began_utc_ns", 1);
    json_put_text(bad, "host", "x");
    bad = about(event(s, "session-stop", "e1", BOOT_A, 50, 100), "s1"); /* before its start */
    json_put_text(bad, "host", "node");
    span(note(s, "n1", "approval", BOOT_A, 105, 5), 9e9, 1);
    json_array_append_new(s->events, json_null());
    bad = start(s, "s4", 0, 0);
    json_put_int(json_get_object(bad, "clock"), "utc_ns", INT64_MAX);
    struct run *run = run_at(s, BOOT_A, 110, 10, 5);
    json_put_int(run->end, "end_boottime_ns", INT64_MAX);
    derive(s, BOOT_A, 900, 800);
    assert_int_equal(s->list.count, 2); /* without a clock, or with an impossible one: none */
    near(s->list.items[1].reserved.value, 0);
}

/* ---- what is paid ---- */

static void test_paid(void **state) {
    struct scene *s = *state;
    struct plan_offer offer = {.at = {.line = 7},
                               .id = "lambda",
                               .currency = "EUR",
                               .per = "hour",
                               .rate = {.given = true, .micros = 2490000},
                               .increment = {.given = true, .ns = 60 * S},
                               .minimum = {.given = true, .ns = 300 * S}};
    const struct plan plan = {.name = "probelauf.yaml", .offers = &offer, .offer_count = 1};
    const char *why = NULL;
    json_put_text(start(s, "s1", 100, 0), "offer", "lambda");
    about(event(s, "session-stop", "e1", BOOT_A, 450, 350), "s1");
    const struct session *one = derive(s, BOOT_A, 900, 800);
    assert_int_equal(one->paid.reason, QUANTITY_NO_OFFER);
    session_find_paid(&s->list, &plan, s->arena);
    near(one->paid.value, 360);
    assert_string_equal(one->paid.sources[1], "probelauf.yaml:7");
    offer.minimum.ns = 3600 * S;
    session_find_paid(&s->list, &plan, s->arena);
    near(one->paid.value, 3600);
    assert_int_equal(one->amount.state, QUANTITY_OPEN);
    assert_null(session_rate(one, &plan, UTC0, s->arena, &why));
    assert_non_null(why);
    offer.source = "mail";
    offer.seen = (struct plan_date){.given = true, .utc_ns = UTC0};
    assert_string_equal(session_rate(one, &plan, UTC0, s->arena, &why), "2.49 EUR per hour");
    /* an amount needs all that an offer must say, when the session began */
    struct plan_environment environment = {.id = "here", .gpus = {.given = true, .value = 4}};
    struct plan all = plan;
    all.environments = &environment;
    all.environment_count = 1;
    offer.environment = "here";
    offer.device = "H100";
    offer.gpus_per_unit = (struct plan_whole){.given = true, .value = 2};
    offer.valid_until = (struct plan_date){.given = true, .utc_ns = UTC0 + 86400 * S};
    offer.setup_fee = (struct plan_amount){.given = true, .micros = 1000000};
    session_find_paid(&s->list, &all, s->arena);
    assert_true(one->amount.micros == 2 * 2490000 + 1000000); /* an hour of two units, a fee */
    assert_int_equal(one->amount.state, QUANTITY_ASSUMED);    /* no bill has confirmed it */
    assert_int_equal(one->amount.bound, QUANTITY_AT_LEAST);
    assert_true(one->amount.lack_count > 0);
    offer.valid_until.utc_ns = UTC0 - 2 * 86400 * S;
    offer.seen.utc_ns = UTC0 - 3 * 86400 * S;
    session_find_paid(&s->list, &all, s->arena);
    assert_int_equal(one->amount.state, QUANTITY_OPEN);
    assert_non_null(strstr(one->amount.detail, "expired"));
    offer.seen.utc_ns = UTC0;
    offer.valid_until.given = false;
    offer.valid_until = (struct plan_date){.given = true, .utc_ns = UTC0 - 10 * 86400 * S};
    assert_null(session_rate(one, &plan, UTC0, s->arena, &why));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A time namespace, or a clock that was set: within one boot both clocks pass alike. */
static void test_clocks_apart(void **state) {
    struct scene *s = *state;
    start(s, "s1", 1000, 0);
    about(event(s, "session-stop", "e1", BOOT_A, 1100, 4 * 3600), "s1");
    const struct session *one = derive(s, BOOT_A, 1200, 4 * 3600 + 100);
    assert_true(fabs(one->reserved.value - 100) < 1e-6);
    assert_true(fabs(one->clocks_apart_s - (4 * 3600 - 100)) < 1e-6);
    assert_non_null(strstr(one->reserved.detail, "UTC says"));
}

static void test_clocks_together(void **state) {
    struct scene *s = *state;
    start(s, "s1", 1000, 0);
    about(event(s, "session-stop", "e1", BOOT_A, 1100, 160), "s1");
    const struct session *one = derive(s, BOOT_A, 1200, 260);
    assert_true(one->clocks_apart_s == 0.0);
    assert_null(one->reserved.detail);
}

/* Of several stops the first holds, unless a later one corrects it. */
static void test_stop_again(void **state) {
    struct scene *s = *state;
    start(s, "s1", 1000, 0);
    about(event(s, "session-stop", "e1", BOOT_A, 1100, 100), "s1");
    about(event(s, "session-stop", "e2", BOOT_A, 1200, 200), "s1");
    assert_true(fabs(derive(s, BOOT_A, 1300, 300)->length_s - 100) < 1e-6);
    json_t *again = about(event(s, "session-stop", "e3", BOOT_A, 1300, 300), "s1");
    json_put_bool(again, "again", true);
    json_put_int(again, "at_utc_ns", UTC0 + 50 * S);
    const struct session *one = derive(s, BOOT_A, 1400, 400);
    assert_true(one->ended_is_given);
    assert_true(fabs(one->length_s - 50) < 1e-6);
}

/* Neighbours with one reason and text are one gap; another text is another gap. */
static void test_equal_neighbours(void **state) {
    struct scene *s = *state;
    start(s, "s1", 1000, 0);
    span(note(s, "n1", "decision", BOOT_A, 1100, 100), 0, 40);
    span(note(s, "n2", "decision", BOOT_A, 1100, 100), 40, 80);
    json_t *other = note(s, "n3", "decision", BOOT_A, 1100, 100);
    json_put_text(other, "text", "which");
    span(other, 80, 100);
    const struct session *one = derive(s, BOOT_A, 1200, 200);
    assert_int_equal(one->gap_count, 3);
    assert_true(fabs(one->gaps[0].end_s - 80) < 1e-6);
    assert_string_equal(one->gaps[1].text, "which");
    assert_int_equal(one->gaps[2].reason, SESSION_UNKNOWN);
    assert_true(one->gaps[2].running);
}

/* However its moments are rounded: while a run runs no gap goes on. */
static void test_no_gap_beside_a_running_run(void **state) {
    struct scene *s = *state;
    start(s, "s1", 1000.123456789, 0);
    struct run *run = run_at(s, BOOT_A, 1000.223456789, 0.1, 1);
    run->running = true;
    for (int i = 0; i < 2000; i++) {
        double at = 1001.0 + 0.317 * i;
        const struct session *one = derive(s, BOOT_A, at, at - 1000);
        assert_null(session_running_gap(one));
        assert_int_equal(one->gap_count, 1);
    }
}

/* A note without an end is about the gap in which it was given, though its start has moved. */
static void test_note_that_goes_on(void **state) {
    struct scene *s = *state;
    start(s, "s1", 1000, 0);
    run_at(s, BOOT_A, 1010, 10, 20);
    span(note(s, "n1", "decision", BOOT_A, 1050, 50), 29.5, 0); /* the run took longer than it */
    run_at(s, BOOT_A, 1100, 100, 20);
    const struct session *one = derive(s, BOOT_A, 1200, 200);
    assert_int_equal(one->gap_count, 3);
    assert_int_equal(one->gaps[1].reason, SESSION_DECISION);
    assert_int_equal(one->gaps[2].reason, SESSION_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_runs_and_gaps),
        TEST(test_clocks_apart),
        TEST(test_clocks_together),
        TEST(test_stop_again),
        TEST(test_equal_neighbours),
        TEST(test_note_that_goes_on),
        TEST(test_no_gap_beside_a_running_run),
        TEST(test_clock_set_back),
        TEST(test_cut_to_the_session),
        TEST(test_given_times),
        TEST(test_running),
        TEST(test_restart),
        TEST(test_restart_with_nothing_since),
        TEST(test_clock_set_back_across_a_restart),
        TEST(test_unended_elsewhere),
        TEST(test_same_at_home),
        TEST(test_other_machines),
        TEST(test_two_at_once),
        TEST(test_missing_stop_elsewhere),
        TEST(test_first_stop_holds),
        TEST(test_notes),
        TEST(test_reasons_are_exact_where_every_gap_has_one),
        TEST(test_note_over_several_gaps),
        TEST(test_hostile_records),
        TEST(test_paid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
